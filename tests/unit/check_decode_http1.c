/* HTTP/1.x: framing of bodies, pairing, marks, names; and bytes that mean harm. */
#include "capture/decoders.h"

#include <string.h>

#include "capture/http-fields.h"
#include "tests/support/decode-run.h"
#include "tests/support/suite.h"

/* How a response's body ends: RFC 9112 section 6.3. */
static const WpDecodeRow bodies[] = {
	{ "bytes behind a hole that was filled late",
	  { 0 },
	  { WP_C("GET / HTTP/1.1\r\n\r\n"), WP_S("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"),
	    WP_S("abc"), WP_EARLIER(2), WP_S("def"), WP_EARLIER(5), WP_S("ghi") },
	  "C1 [1,1] http 18 GET /\nR1 [2,3] http 47 GET / ok\n" },
	{ "blanks where one is enough",
	  { 0 },
	  { WP_C("GET   /a   HTTP/1.1\r\n\r\n"),
	    WP_S("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") },
	  "C1 [1,1] http 23 GET /a\nR1 [2,2] http 38 GET /a ok\n" },
	{ "Content-Length",
	  { 0 },
	  { WP_C("GET /item/7?q=1 HTTP/1.1\r\nHost: a\r\n\r\n"),
	    WP_S("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), WP_S("hello") },
	  "C1 [1,1] http 37 GET /item/{}\nR1 [2,3] http 43 GET /item/{} ok\n" },
	{ "chunks, an extension, trailers",
	  { 0 },
	  { WP_C("GET / HTTP/1.1\r\n\r\n"),
	    WP_S("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, "
		 "Chunked\r\n\r\n5;x=\"y\"\r\nhello\r\n"),
	    WP_S("1 \r\n!\r\n0\r\nDigest: 1\r\nContent-Length: 9\r\n"), WP_S("\r\n") },
	  "C1 [1,1] http 18 GET /\nR1 [2,4] http 111 GET / ok\n" },
	{ "until the server closes",
	  { 0 },
	  { WP_C("GET / HTTP/1.0\r\n\r\n"), WP_S("HTTP/1.0 200 OK\r\n\r\nhel"), WP_S("lo"),
	    WP_S_FIN },
	  "C1 [1,1] http 18 GET /\nR1 [2,3] http 24 GET / ok\n" },
	{ "HEAD has no body whatever its length",
	  { 0 },
	  { WP_C("HEAD /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\n"),
	    WP_S("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
		 "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nb") },
	  "C1 [1,1] http 20 HEAD /a\nC2 [1,1] http 19 GET /b\n"
	  "R1 [2,2] http 38 HEAD /a ok\nR2 [2,2] http 39 GET /b ok\n" },
	{ "204 and 304 have none",
	  { 0 },
	  { WP_C("GET /a HTTP/1.1\r\n\r\n"),
	    WP_S("HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n"),
	    WP_C("GET /b HTTP/1.1\r\n\r\n"),
	    WP_S("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n") },
	  "C1 [1,1] http 19 GET /a\nR1 [2,2] http 55 GET /a ok\n"
	  "C2 [3,3] http 19 GET /b\nR2 [4,4] http 48 GET /b ok\n" },
	{ "chunked wins over a length",
	  { 0 },
	  { WP_C("GET / HTTP/1.1\r\n\r\n"),
	    WP_S("HTTP/1.1 200 OK\r\nContent-Length: 90\r\nTransfer-Encoding: chunked\r\n\r\n"
		 "2\r\nab\r\n0\r\n\r\n") },
	  "C1 [1,1] http 18 GET /\nR1 [2,2] http 79 GET / ok\n" },
	{ "equal lengths are one",
	  { 0 },
	  { WP_C("GET / HTTP/1.1\r\n\r\n"),
	    WP_S("HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\nContent-Length:2\r\n\r\nab") },
	  "C1 [1,1] http 18 GET /\nR1 [2,2] http 61 GET / ok\n" },
	{ "a length that is none: until the server closes",
	  { 0 },
	  { WP_C("GET / HTTP/1.1\r\n\r\n"), WP_S("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nab"),
	    WP_S_FIN },
	  "C1 [1,1] http 18 GET /\nR1 [2,2] http 41 GET / ok\n" },
	{ "another coding last: until the server closes",
	  { 0 },
	  { WP_C("GET / HTTP/1.1\r\n\r\n"),
	    WP_S("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\nab"), WP_S_FIN },
	  "C1 [1,1] http 18 GET /\nR1 [2,2] http 55 GET / ok\n" },
	{ "LF alone, folded fields, blanks before the colon, empty lines in front",
	  { 0 },
	  { WP_C("\r\n\nGET / HTTP/1.1\nX: 1\n\n"),
	    WP_S("HTTP/1.1 200 OK\nX: 1\n  2\nTransfer-Encoding:\n chunked\nY : 2\n\n"
		 "2\nab\n0\n\n") },
	  "C1 [1,1] http 21 GET /\nR1 [2,2] http 68 GET / ok\n" },
	{ "the server closes in the middle",
	  { 0 },
	  { WP_C("GET / HTTP/1.1\r\n\r\n"), WP_S("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nab"),
	    WP_S_FIN },
	  "C1 [1,1] http 18 GET /\nR1 [2,2] http 40 GET / reset\n" },
	{ "the capture ends in the middle",
	  { 0 },
	  { WP_C("GET / HTTP/1.1\r\n\r\n"), WP_S("HTTP/1.0 200 OK\r\n\r\nhel") },
	  "C1 [1,1] http 18 GET /\ncalls-open 1\n" },
};

START_TEST(bodies_end)
{
	wp_decode_rows_check(bodies, G_N_ELEMENTS(bodies));
}
END_TEST

/* Bodies of requests, and answers that do not wait for their end. */
static const WpDecodeRow requests[] = {
	{ "a body in another packet",
	  { 0 },
	  { WP_C("POST /x HTTP/1.1\r\nContent-Length: 5\r\n\r\n"), WP_C("hello"),
	    WP_S("HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n") },
	  "C1 [1,2] http 44 POST /x\nR1 [3,3] http 43 POST /x ok\n" },
	{ "a body in chunks, then another request",
	  { 0 },
	  { WP_C("PUT /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"), WP_C("5\r\nhello\r\n"),
	    WP_C("0\r\n\r\nGET /y HTTP/1.1\r\n\r\n"),
	    WP_S("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
		 "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") },
	  "C1 [1,3] http 62 PUT /x\nC2 [3,3] http 19 GET /y\n"
	  "R1 [4,4] http 38 PUT /x ok\nR2 [4,4] http 38 GET /y ok\n" },
	{ "100 Continue is not the answer",
	  { 0 },
	  { WP_C("POST /x HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n"),
	    WP_S("HTTP/1.1 100 Continue\r\n\r\n"), WP_C("ab"),
	    WP_S("HTTP/1.1 103 Early Hints\r\nLink: <a>\r\nContent-Type: text/event-stream\r\n"),
	    WP_S("\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") },
	  "C1 [1,3] http 63 POST /x\nR1 [5,5] http 38 POST /x ok\n" },
	{ "refused instead: the body is left out",
	  { 0 },
	  { WP_C("POST /x HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 9000\r\n\r\n"),
	    WP_S("HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n"), WP_C("GET /y HTTP/1.1\r\n\r\n"),
	    WP_S("HTTP/1.1 204 -\r\n\r\n") },
	  "C1 [1,1] http 64 POST /x\nR1 [2,2] http 38 POST /x error\n"
	  "C2 [3,3] http 19 GET /y\nR2 [4,4] http 18 GET /y ok\n" },
	{ "refused instead: the body comes all the same",
	  { 0 },
	  { WP_C("POST /x HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n"),
	    WP_S("HTTP/1.1 401 No\r\nContent-Length: 0\r\n\r\n"),
	    WP_C("abcGET /y HTTP/1.1\r\n\r\n"), WP_S("HTTP/1.1 204 -\r\n\r\n") },
	  "C1 [1,1] http 61 POST /x\nR1 [2,2] http 38 POST /x error\n"
	  "C2 [3,3] http 19 GET /y\nR2 [4,4] http 18 GET /y ok\n" },
	{ "the answer comes before the body has ended",
	  { 0 },
	  { WP_C("POST /x HTTP/1.1\r\nContent-Length: 900\r\n\r\nabc"), WP_C("def"),
	    WP_S("HTTP/1.1 413 Too large\r\nContent-Length: 2\r\n\r\nno"), WP_C("ghi"), WP_S_FIN,
	    WP_C_FIN },
	  "C1 [1,1] http 41 POST /x\nR1 [3,3] http 47 POST /x error\n" },
	{ "the same with chunks, and the body does end",
	  { 0 },
	  { WP_C("POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"),
	    WP_S("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), WP_C("0\r\n\r\n"),
	    WP_C("GET /y HTTP/1.1\r\n\r\n"), WP_S("HTTP/1.1 204 -\r\n\r\n") },
	  "C1 [1,1] http 56 POST /x\nR1 [2,2] http 40 POST /x ok\n"
	  "C2 [4,4] http 19 GET /y\nR2 [5,5] http 18 GET /y ok\n" },
	{ "lengths that differ: the server closes, the rest is not looked at",
	  { 0 },
	  { WP_C("POST /x HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 30\r\n\r\n"
		 "aGET /smuggled HTTP/1.1\r\n\r\n"),
	    WP_S("HTTP/1.1 400 Bad\r\n\r\n"), WP_S_FIN },
	  "C1 [1,1] http 59 POST /x\nR1 [2,2] http 20 POST /x error\n" },
	{ "pipelining, answered in one packet",
	  { 0 },
	  { WP_C("GET /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\n"), WP_C("GET /c HTTP/1.1\r\n\r\n"),
	    WP_S("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na"
		 "HTTP/1.1 404 No\r\nContent-Length: 1\r\n\r\nb"
		 "HTTP/1.1 504 -\r\nContent-Length: 1\r\n\r\nc") },
	  "C1 [1,1] http 19 GET /a\nC2 [1,1] http 19 GET /b\nC3 [2,2] http 19 GET /c\n"
	  "R1 [3,3] http 39 GET /a ok\nR2 [3,3] http 39 GET /b error\n"
	  "R3 [3,3] http 38 GET /c timeout\n" },
	{ "a reset before the answer",
	  { 0 },
	  { WP_C("GET /a HTTP/1.1\r\n\r\n"), WP_RESET },
	  "C1 [1,1] http 19 GET /a\nR1 [2,2] http 0 GET /a reset\ncalls-reset 1\n" },
};

START_TEST(requests_end)
{
	wp_decode_rows_check(requests, G_N_ELEMENTS(requests));
}
END_TEST

/* Forms of targets and methods. */
static const WpDecodeRow targets[] = {
	{ "absolute form",
	  { 0 },
	  { WP_C("GET http://a.lan:8080/x/1?y HTTP/1.1\r\n\r\n") },
	  "C1 [1,1] http 40 GET /x/{}\ncalls-open 1\n" },
	{ "asterisk form",
	  { 0 },
	  { WP_C("OPTIONS * HTTP/1.1\r\n\r\n") },
	  "C1 [1,1] http 22 OPTIONS *\ncalls-open 1\n" },
	{ "any method",
	  { 0 },
	  { WP_C("VERSION-CONTROL /x HTTP/1.1\r\n\r\n"), WP_C("M-x! /y z HTTP/1.1\r\n\r\n") },
	  "C1 [1,1] http 31 VERSION-CONTROL /x\nC2 [2,2] http 22 M-x! /{}\ncalls-open 2\n" },
	{ "authority form",
	  { 0 },
	  { WP_C("CONNECT a1b2c3d4e5f60718.lan:8443 HTTP/1.1\r\n\r\n"),
	    WP_C("CONNECT [fe80::1]:123456 HTTP/1.1\r\n\r\n") },
	  "C1 [1,1] http 46 CONNECT {}.lan:8443\nC2 [2,2] http 37 CONNECT {}\ncalls-open 2\n" },
	{ "HTTP/2 is another protocol",
	  { .no_counters = TRUE },
	  { WP_C("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") },
	  "" },
};

START_TEST(targets_are_labels)
{
	wp_decode_rows_check(targets, G_N_ELEMENTS(targets));
}
END_TEST

/* What waits by design is marked. */
static const WpDecodeRow waits[] = {
	{ "server-sent events",
	  { 0 },
	  { WP_C("GET /events HTTP/1.1\r\nAccept: text/event-stream\r\n\r\n"),
	    WP_S("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\n"),
	    WP_S("data: 1\n\n"), WP_S_FIN },
	  "C1 [1,1] http 51 GET /events wait\nR1 [2,2] http 67 GET /events ok wait\n"
	  "m2 [3,3] sse 9 event message unknown\n" },
	{ "only the answer tells",
	  { 0 },
	  { WP_C("GET /e HTTP/1.1\r\n\r\n"),
	    WP_S("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"), WP_S_FIN },
	  "C1 [1,1] http 19 GET /e\nR1 [2,2] http 52 GET /e ok wait\n" },
	{ "long polls that say so",
	  { 0 },
	  { WP_C("GET /pods?x=1&watch=true HTTP/1.1\r\n\r\n"),
	    WP_C("GET /db?feed=longpoll HTTP/1.1\r\n\r\n"), WP_C("GET /watch=1 HTTP/1.1\r\n\r\n") },
	  "C1 [1,1] http 37 GET /pods wait\nC2 [2,2] http 34 GET /db wait\n"
	  "C3 [3,3] http 25 GET /watch={}\ncalls-open 3\n" },
};

START_TEST(waits_are_marked)
{
	wp_decode_rows_check(waits, G_N_ELEMENTS(waits));
}
END_TEST

/* After an upgrade the flow is another protocol's. */
static const WpDecodeRow upgrades[] = {
	{ "WebSocket",
	  { .no_counters = TRUE },
	  { WP_C("GET /ws HTTP/1.1\r\nUpgrade: websocket\r\n\r\n"),
	    WP_S("HTTP/1.1 101 -\r\nUpgrade: websocket\r\n\r\n"), WP_C("\x81\x81\0\0\0\0x"),
	    WP_S("\x81\x01y") },
	  "C1 [1,1] http 40 GET /ws\nR1 [2,2] http 38 GET /ws ok\n"
	  "M2 [3,3] websocket 7 text unknown\nm3 [4,4] websocket 3 text unknown\n" },
	{ "a tunnel",
	  { .no_counters = TRUE },
	  { WP_C("CONNECT db.lan:22 HTTP/1.1\r\n\r\n"),
	    WP_S("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), WP_C("a"), WP_S("b") },
	  "C1 [1,1] http 30 CONNECT db.lan:22\nR1 [2,2] http 47 CONNECT db.lan:22 ok\n"
	  "C2 [3,3] unknown 1\nR2 [4,4] unknown 1 unknown\n" },
	{ "a tunnel refused",
	  { .no_counters = TRUE },
	  { WP_C("CONNECT db.lan:22 HTTP/1.1\r\n\r\n"),
	    WP_S("HTTP/1.1 407 No\r\nContent-Length: 1\r\n\r\nx"),
	    WP_C("GET /b HTTP/1.1\r\n\r\n") },
	  "C1 [1,1] http 30 CONNECT db.lan:22\nR1 [2,2] http 39 CONNECT db.lan:22 error\nC2 [3,3] "
	  "http 19 GET /b\n" },
	{ "HTTP/2: the answer is one of its streams",
	  { 0 },
	  { WP_C("GET /a HTTP/1.1\r\nUpgrade: h2c\r\n\r\n"),
	    WP_S("HTTP/1.1 101 -\r\nUpgrade: h2c\r\n\r\n"),
	    WP_C("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") },
	  "C1 [1,1] http 33 GET /a\ncalls-open 1\n" },
};

START_TEST(upgrades_switch)
{
	wp_decode_rows_check(upgrades, G_N_ELEMENTS(upgrades));
}
END_TEST

/* Found in mid-stream, behind holes, with the sides the wrong way round. */
static const WpDecodeRow starts[] = {
	{ "in the middle of a reply",
	  { .is_midstream = TRUE },
	  { WP_S("<p>old reply</p>"), WP_C("GET /b HTTP/1.1\r\n\r\n"),
	    WP_S("HTTP/1.1 204 -\r\n\r\n") },
	  "C1 [2,2] http 19 GET /b\nR1 [3,3] http 18 GET /b ok\nbytes-skipped 16\n" },
	{ "a reply first: its request was not seen",
	  { .is_midstream = TRUE },
	  { WP_S("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), WP_C("GET /b HTTP/1.1\r\n\r\n"),
	    WP_S("HTTP/1.1 204 -\r\n\r\n") },
	  "C1 [2,2] http 19 GET /b\nR1 [3,3] http 18 GET /b ok\nreturns-orphan 1\n" },
	{ "the wrong side taken for the client",
	  { .is_midstream = TRUE, .is_swapped = TRUE },
	  { WP_C("GET /b HTTP/1.1\r\n\r\n"), WP_S("HTTP/1.1 204 -\r\n\r\n") },
	  "C1 [1,1] http 19 GET /b\nR1 [2,2] http 18 GET /b ok\n" },
	{ "a hole in a known body",
	  { 0 },
	  { WP_C("GET /a HTTP/1.1\r\n\r\n"),
	    WP_S("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), WP_S_HOLE(4), WP_S("hi"),
	    WP_C("GET /b HTTP/1.1\r\n\r\n"), WP_S("HTTP/1.1 204 -\r\n\r\n") },
	  "C1 [1,1] http 19 GET /a\nR1 [2,4] http 47 GET /a ok\n"
	  "C2 [5,5] http 19 GET /b\nR2 [6,6] http 18 GET /b ok\n" },
};

START_TEST(starts_anywhere)
{
	wp_decode_rows_check(starts, G_N_ELEMENTS(starts));
}
END_TEST

/* Holes in what cannot be followed: pairs only where the positions prove them. (Pieces would move the holes.) */
static const WpDecodeRow holes[] = {
	{ "in a chunk's head",
	  { 0 },
	  { WP_C("GET /a HTTP/1.1\r\n\r\n"),
	    WP_S("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n"), WP_S_HOLE(4),
	    WP_S("b\r\n0\r\n\r\n"), WP_C("GET /b HTTP/1.1\r\n\r\n"),
	    WP_S("HTTP/1.1 204 -\r\n\r\n") },
	  "C1 [1,1] http 19 GET /a\nR1 [2,4] http 65 GET /a ok\n"
	  "C2 [5,5] http 19 GET /b\nR2 [6,6] http 18 GET /b ok\n" },
	{ "at a chunk's head, to the end",
	  { 0 },
	  { WP_C("GET /a HTTP/1.1\r\n\r\n"),
	    WP_S("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n"), WP_S_HOLE(11),
	    WP_C("GET /b HTTP/1.1\r\n\r\n"), WP_S("HTTP/1.1 204 -\r\n\r\n") },
	  "C1 [1,1] http 19 GET /a\nC2 [4,4] http 19 GET /b\nR2 [5,5] http 18 GET /b ok\n" },
	{ "the answer to a HEAD lost, that of a GET seen",
	  { 0 },
	  { WP_C("HEAD /a HTTP/1.1\r\n\r\n"), WP_S_HOLE(18), WP_C("GET /b HTTP/1.1\r\n\r\n"),
	    WP_S("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"), WP_S("abc"),
	    WP_C("GET /c HTTP/1.1\r\n\r\n"), WP_S("HTTP/1.1 204 -\r\n\r\n") },
	  "C1 [1,1] http 20 HEAD /a\nC2 [3,3] http 19 GET /b\nR2 [4,5] http 41 GET /b ok\n"
	  "C3 [6,6] http 19 GET /c\nR3 [7,7] http 18 GET /c ok\n" },
	{ "a request lost, its answer seen",
	  { 0 },
	  { WP_C("GET /a HTTP/1.1\r\n\r\n"), WP_S("HTTP/1.1 204 -\r\n\r\n"), WP_C_HOLE(19),
	    WP_S("HTTP/1.1 204 -\r\n\r\n"), WP_C("GET /c HTTP/1.1\r\n\r\n"),
	    WP_S("HTTP/1.1 204 -\r\n\r\n") },
	  "C1 [1,1] http 19 GET /a\nR1 [2,2] http 18 GET /a ok\n"
	  "C2 [5,5] http 19 GET /c\nR2 [6,6] http 18 GET /c ok\n" },
	{ "a request line cut by the snap length",
	  { 0 },
	  { WP_C("GET /a HTTP/1.1\r\n\r\n"), WP_S("HTTP/1.1 204 -\r\n\r\n"), WP_C("GET /item/12"),
	    WP_C_HOLE(40), WP_S("HTTP/1.1 204 -\r\n\r\n"), WP_C("GET /item/x?y="), WP_C_HOLE(40),
	    WP_S("HTTP/1.1 204 -\r\n\r\n") },
	  "C1 [1,1] http 19 GET /a\nR1 [2,2] http 18 GET /a ok\n"
	  "C2 [3,3] http 12 GET /item/...\nR2 [5,5] http 18 GET /item/... ok\n"
	  "C3 [6,6] http 14 GET /item/x\nR3 [8,8] http 18 GET /item/x ok\n" },
	{ "fields cut",
	  { 0 },
	  { WP_C("GET /a HTTP/1.1\r\nHost: x\r\nUser-Ag"), WP_C_HOLE(20),
	    WP_S("HTTP/1.1 204 -\r\n\r\n") },
	  "C1 [1,1] http 26 GET /a\nR1 [3,3] http 18 GET /a ok\n" },
};

START_TEST(holes_break_pairs)
{
	for (gsize i = 0; i < G_N_ELEMENTS(holes); i++) {
		WpRunOptions options = { .no_counters = TRUE };
		g_autofree char *got =
			wp_decode_run(&options, holes[i].steps, wp_decode_row_n_steps(&holes[i]));
		ck_assert_msg(strcmp(got, holes[i].expected) == 0, "%s:\n%s", holes[i].name, got);
	}
}
END_TEST

/* Tokens of target, identifying fields and body, as many on any cut. */
START_TEST(tokens)
{
	static const struct {
		const char *request;
		int n;
		int n_ids;
	} rows[] = {
		{ "GET /item/ord-1001?user=cust77 HTTP/1.1\r\n\r\n", 2, 0 },
		{ "GET /a HTTP/1.1\r\nCookie: sid=abc123; x=12\r\nUser-Agent: curl7\r\n\r\n", 2,
		  0 },
		{ "GET /a HTTP/1.1\r\nX-Request-ID: req-42\r\nX-B3-SpanId: 1234\r\n\r\n", 1, 1 },
		{ "GET /a HTTP/1.1\r\nb3: 80f198ee56343ba8-e457b5a2e4d86bd1-1\r\n\r\n", 1, 1 },
		{ "GET /a HTTP/1.1\r\nsw8: 1-YTE2Yg==-YjI=-3-c-d-e-f\r\n\r\n", 1, 1 },
		{ "GET /a HTTP/1.1\r\nuber-trace-id: 3a7f:1b2c:0:1\r\n\r\n", 2, 2 },
		{ "POST /a HTTP/1.1\r\nContent-Length: 18\r\n\r\n{\"order\":\"A-1234\"}", 1, 0 },
		{ "POST /a HTTP/1.1\r\nContent-Type: image/png\r\nContent-Length: 6\r\n\r\nA-1234",
		  0, 0 },
		{ "POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nA-1234\r\n6\r\nB-5678"
		  "\r\n0\r\n\r\n",
		  1, 0 },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		WpStep steps[] = { WP_C_BYTES(rows[i].request, strlen(rows[i].request)) };
		WpRunOptions options = { .show_tokens = TRUE, .no_counters = TRUE };
		g_autofree char *got = wp_decode_run(&options, steps, 1);
		g_autofree char *ids = g_strdup_printf(" ids=%d", rows[i].n_ids);
		g_autofree char *end =
			g_strdup_printf("%s tokens=%d\n", rows[i].n_ids ? ids : "", rows[i].n);
		ck_assert_msg(g_str_has_suffix(got, end), "row %d: %s", (int)i, got);
		wp_decode_check(&options, steps, 1, got);
	}
}
END_TEST

/* A trace goes on from hop to hop under new parents: its tokens must be equal. */
START_TEST(traces_have_equal_tokens)
{
	static const char one[] =
		"GET /a HTTP/1.1\r\n"
		"traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n\r\n";
	static const char other[] =
		"GET /a HTTP/1.1\r\n"
		"traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-b7ad6b7169203331-01\r\n"
		"X-Request-Id: 4bf92f3577b34da6a3ce929d0e0e4736\r\n\r\n";
	WpStep steps[] = { WP_C(one), WP_C(other) };
	WpRunOptions options = { .show_tokens = TRUE, .no_counters = TRUE };
	g_autofree char *got = wp_decode_run(&options, steps, 2);
	/* The second has one token too, so the trace is one and the same as the request's id. */
	ck_assert_str_eq(
		got, "C1 [1,1] http 89 GET /a"
		     " trace=4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7 ids=1 tokens=1\n"
		     "C2 [2,2] http 137 GET /a"
		     " trace=4bf92f3577b34da6a3ce929d0e0e4736-b7ad6b7169203331 ids=1 tokens=1\n");
}
END_TEST

/* The server's name is the host, unless that is an address or another server's. */
START_TEST(names)
{
	static const struct {
		const char *request;
		const char *names;
	} rows[] = {
		{ "GET / HTTP/1.1\r\nHost: shop.lan:8080\r\n\r\n",
		  "10.0.0.2=shop.lan http-host\n" },
		{ "GET / HTTP/1.1\r\nhost:shop\r\n\r\n", "10.0.0.2=shop http-host\n" },
		{ "GET / HTTP/1.1\r\nHost: 10.0.0.2:80\r\n\r\n", "" },
		{ "GET / HTTP/1.1\r\nHost: [fe80::1]:80\r\n\r\n", "" },
		{ "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "" },
		{ "GET / HTTP/1.1\r\nHost: a b<c>\r\n\r\n", "" },
		{ "GET http://far.lan/ HTTP/1.1\r\nHost: far.lan\r\n\r\n", "" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		WpStep steps[] = { WP_C_BYTES(rows[i].request, strlen(rows[i].request)) };
		g_autofree char *got = wp_decode_run_names(NULL, steps, 1);
		ck_assert_str_eq(got, rows[i].names);
	}
}
END_TEST

static WpProbeVerdict
probe_text(const char *client, const char *server, gboolean from_start)
{
	WpProbe probe = { .client = wp_bytes((const guint8 *)client, strlen(client)),
			  .server = wp_bytes((const guint8 *)server, strlen(server)),
			  .from_start = from_start };
	return wp_decoder_http1.probe(&probe);
}

START_TEST(probes)
{
	static const struct {
		const char *client;
		const char *server;
		WpProbeVerdict verdict;
	} rows[] = {
		{ "GET / HTTP/1.1\r\n", "", WP_PROBE_SURE },
		{ "POST http://a/ HTTP/1.0\n", "", WP_PROBE_SURE },
		{ "CONNECT a:1 HTTP/1.1\r\n", "", WP_PROBE_SURE },
		{ "GET /long", "", WP_PROBE_MORE },
		{ "GE", "", WP_PROBE_MORE },
		{ "GET /index.php?p=post&i=1", "", WP_PROBE_LIKELY }, /* cut by the snap length */
		{ "LOCK /index.php?p=post&i=1", "", WP_PROBE_MORE },
		{ "", "HTTP/1.1 200 OK\r\n", WP_PROBE_LIKELY },
		{ "", "HTTP/1.", WP_PROBE_MORE },
		{ "GET key\r\n", "", WP_PROBE_NO },
		{ "GET /key\r\n", "", WP_PROBE_NO },
		{ "get /key HTTP/1.1\r\n", "", WP_PROBE_NO },
		{ "PING\r\n", "", WP_PROBE_NO },
		{ "EHLO a.lan\r\n", "", WP_PROBE_NO },
		{ "PRI * HTTP/2.0\r\n\r\n", "", WP_PROBE_NO },
		{ "OPTIONS rtsp://a/ RTSP/1.0\r\n", "", WP_PROBE_NO },
		{ "GET / HTTP/1.1x\r\n", "", WP_PROBE_NO },
		{ "\x16\x03\x01", "HTTP/1.1 400 Bad\r\n", WP_PROBE_NO },
		{ "GET /\x01", "", WP_PROBE_NO },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
		ck_assert_msg(probe_text(rows[i].client, rows[i].server, TRUE) == rows[i].verdict,
			      "%s|%s", rows[i].client, rows[i].server);
	ck_assert_int_eq(probe_text("tail of a body", "HTTP/1.1 200 OK\r\n", FALSE),
			 WP_PROBE_LIKELY);
	g_autofree char *line = g_strnfill(2000, 'x');
	memcpy(line, "GET /", 5);
	ck_assert_int_eq(probe_text(line, "", TRUE), WP_PROBE_LIKELY);
}
END_TEST

/* A prefix of a message is none. */
START_TEST(prefixes)
{
	static const char call[] = "POST /x HTTP/1.1\r\nA: b\r\nContent-Length: 2\r\n\r\nab";
	static const char answer[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
				     "3;a=b\r\nabc\r\n0\r\nT: x\r\n\r\n";
	WpRunOptions options = { .forced = &wp_decoder_http1, .no_counters = TRUE };
	for (gsize n = 0; n < sizeof answer; n++) {
		WpStep steps[] = { WP_C(call), WP_S_BYTES(answer, n) };
		g_autofree char *got = wp_decode_run(&options, steps, 2);
		ck_assert_int_eq(strstr(got, "R1") != NULL, n == sizeof answer - 1);
	}
	/* The call stands from its first line on, and has all its bytes only at the end. */
	for (gsize n = 1; n < sizeof call; n++) {
		WpStep steps[] = { WP_C_BYTES(call, n) };
		g_autofree char *got = wp_decode_run(&options, steps, 1);
		ck_assert_int_eq(strstr(got, " 47 ") != NULL, n == sizeof call - 1);
	}
}
END_TEST

/* Lengths at and over every limit: no overflow, no false call. */
START_TEST(lengths)
{
	static const struct {
		const char *length;
		gboolean is_length;
	} rows[] = {
		{ "4611686018427387903", TRUE },
		{ "9223372036854775807", FALSE },
		{ "18446744073709551615", FALSE },
		{ "18446744073709551617", FALSE },
		{ "99999999999999999999999999999999999999", FALSE },
		{ "-5", FALSE },
		{ "+5", FALSE },
		{ "0x5", FALSE },
		{ "5 5", FALSE },
		{ "", FALSE },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *head = g_strdup_printf(
			"HTTP/1.1 200 OK\r\nContent-Length: %s\r\n\r\nab", rows[i].length);
		WpStep steps[] = { WP_C("GET / HTTP/1.1\r\n\r\n"), WP_S_BYTES(head, strlen(head)),
				   WP_S_FIN };
		g_autofree char *got = wp_decode_run(NULL, steps, 3);
		ck_assert_msg(strstr(got, rows[i].is_length ? "reset\n" : "ok\n") != NULL, "%s: %s",
			      rows[i].length, got);
	}
}
END_TEST

/* A body of 6 GB, most of which passes in holes and large pieces. */
START_TEST(huge_body)
{
	WpStep steps[] = { WP_C("GET / HTTP/1.1\r\n\r\n"),
			   WP_S("HTTP/1.1 200 OK\r\nContent-Length: 6442450944\r\n\r\n"),
			   WP_S_HOLE(G_GUINT64_CONSTANT(6442450943)),
			   WP_S("x"),
			   WP_C("GET / HTTP/1.1\r\n\r\n"),
			   WP_S("HTTP/1.1 204 -\r\n\r\n") };
	g_autofree char *got = wp_decode_run(NULL, steps, G_N_ELEMENTS(steps));
	ck_assert_ptr_nonnull(strstr(got, "R1 [2,4]"));
	ck_assert_ptr_nonnull(strstr(got, "R2 [6,6]"));
}
END_TEST

static char *
repeat(const char *before, const char *text, int n, const char *after)
{
	GString *all = g_string_new(before);
	for (int i = 0; i < n; i++)
		g_string_append(all, text);
	g_string_append(all, after);
	return g_string_free(all, FALSE);
}

/* Bytes that break a rule end the thread; the next message is found again. */
START_TEST(hostile)
{
	g_autofree char *many = repeat("GET /x HTTP/1.1\r\n", "a: b\r\n", 5000, "\r\n");
	g_autofree char *trailers = repeat("PUT /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
					   "0\r\n",
					   "a: b\r\n", 5000, "\r\n");
	g_autofree char *line = repeat("GET /", "x", 100000, " HTTP/1.1\r\n\r\n");
	g_autofree char *field = repeat("GET / HTTP/1.1\r\nX: ", "y", 600000, "\r\n\r\n");
	const char *const rows[] = {
		many,
		trailers,
		line,
		field,
		"GET / HTTP/1.1\r\nno colon\r\n\r\n",
		"GET / HTTP/1.1\r\nbad name: x\r\n\r\n",
		"GET / HTTP/1.1\r\n: x\r\n\r\n",
		"GET /\r\n\r\n",
		"GET / HTTP/3.0\r\n\r\n",
		" / HTTP/1.1\r\n\r\n",
		"GET  HTTP/1.1\r\n\r\n",
		"\rGET / HTTP/1.1\r\n\r\n",
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ / HTTP/1.1\r\n\r\n",
		"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
		"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n",
		"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n;x\r\n",
		"PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		WpStep steps[] = { WP_C("GET /first HTTP/1.1\r\n\r\n"),
				   WP_S("HTTP/1.1 204 -\r\n\r\n"),
				   WP_C_BYTES(rows[i], strlen(rows[i])),
				   WP_S("HTTP/1.1 400 Bad\r\nContent-Length: 0\r\n\r\n"),
				   WP_C("GET /last HTTP/1.1\r\n\r\n"),
				   WP_S("HTTP/1.1 204 -\r\n\r\n") };
		for (gsize cut = 0; cut < 2000; cut += 1460) {
			WpRunOptions options = { .cut = cut };
			g_autofree char *got = wp_decode_run(&options, steps, G_N_ELEMENTS(steps));
			ck_assert_msg(strstr(got, "GET /last ok\n") != NULL, "row %d:\n%s", (int)i,
				      got);
			ck_assert_msg(strstr(got, "resyncs 1\n") != NULL, "row %d:\n%s", (int)i,
				      got);
		}
	}
}
END_TEST

/* Heads that trickle in byte by byte cost no more than their length. */
START_TEST(slow_heads)
{
	g_autofree char *many = repeat("GET /x HTTP/1.1\r\n", "a: b\r\n", 900, "\r\n");
	g_autofree char *chunks = repeat("PUT /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
					 "1\r\na\r\n", 20000, "0\r\n\r\n");
	const char *const rows[] = { many, chunks };
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		WpStep steps[] = { WP_C_BYTES(rows[i], strlen(rows[i])) };
		WpRunOptions options = { .cut = 1, .no_counters = TRUE };
		g_autofree char *got = wp_decode_run(&options, steps, 1);
		g_autofree char *bytes = g_strdup_printf(" %d ", (int)strlen(rows[i]));
		ck_assert_msg(strstr(got, bytes) != NULL, "%s", got);
	}
}
END_TEST

/* In letters of any size; what only looks like a letter's other size is none. */
START_TEST(types_of_bodies)
{
	static const struct {
		const char *type;
		gboolean is_binary;
	} rows[] = {
		{ "application/json", FALSE },
		{ "application/octet-stream", TRUE },
		{ "Application/ZIP", TRUE },
		{ "APPLICATION/pdf; q=1", TRUE },
		{ "application/gzi", FALSE },
		{ "application/", FALSE },
		{ "app", FALSE },
		{ "application\x0fzip", FALSE },
		{ "IMAGE/png", TRUE },
		{ "text/html", FALSE },
		{ "", FALSE },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
		ck_assert_int_eq(wp_http_is_binary_type(rows[i].type, strlen(rows[i].type)),
				 rows[i].is_binary);
}
END_TEST

WP_SUITE("decode-http1", bodies_end, requests_end, targets_are_labels, waits_are_marked,
	 upgrades_switch, starts_anywhere, holes_break_pairs, tokens, traces_have_equal_tokens,
	 names, probes, prefixes, lengths, huge_body, hostile, slow_heads, types_of_bodies)
