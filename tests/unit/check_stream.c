/* Streams with the decoders that belong to them: by turns, TLS, opaque ones; and pairing by order. */
#include <string.h>

#include "capture/turns.h"
#include "tests/support/decode-run.h"
#include "tests/support/suite.h"

/* More than is a segment that is not full. */
#define HUNDRED                                                                                    \
	"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567" \
	"890123456789"
#define FULL                                                                                       \
	HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED    \
		HUNDRED

/* Pairs by turns; the return ends with the last byte before the next change of direction. */
static const WpDecodeRow turns[] = {
	{ "call, return",
	  { 0 },
	  { WP_C("ask"), WP_S("answer") },
	  "C1 [1,1] unknown 3\nR1 [2,2] unknown 6 unknown\nflows-undecoded 1\n" },
	{ "both in parts",
	  { 0 },
	  { WP_C("as"), WP_C("k"), WP_S("ans"), WP_S("wer"), WP_C("x"), WP_S("y") },
	  "C1 [1,2] unknown 3\nR1 [3,4] unknown 6 unknown\nC2 [5,5] unknown 1\n"
	  "R2 [6,6] unknown 1 unknown\nflows-undecoded 1\n" },
	{ "a banner is set-up",
	  { 0 },
	  { WP_S("hello!"), WP_C("ask"), WP_S("answer") },
	  "m1 [1,1] unknown 6 unknown setup\nC2 [2,2] unknown 3\nR2 [3,3] unknown 6 unknown\n"
	  "flows-undecoded 1\n" },
	{ "the client alone: one message a burst",
	  { 0 },
	  { WP_C("a"), WP_C("b"), WP_PAUSE(60000), WP_C("c"), WP_C_FIN },
	  "M1 [1,2] unknown 2 unknown\nM2 [60004,60004] unknown 1 unknown\nflows-undecoded 1\n" },
	{ "the client alone, often",
	  { 0 },
	  { WP_C("a"), WP_PAUSE(60000), WP_C("b"), WP_PAUSE(60000), WP_C("c"), WP_PAUSE(60000),
	    WP_C("d"), WP_PAUSE(60000), WP_C("e") },
	  "M1 [1,1] unknown 1 unknown\nM2 [60003,60003] unknown 1 unknown\n"
	  "M3 [120005,120005] unknown 1 unknown\nM4 [180007,180007] unknown 1 unknown\n"
	  "M5 [240009,240009] unknown 1 unknown\nflows-undecoded 1\n" },
	{ "the client alone, without a pause: segments that are not full end messages, but more at "
	  "once is one",
	  { 0 },
	  { WP_C("a"), WP_PAUSE(3000), WP_C("b"), WP_C("b"), WP_PAUSE(3000), WP_C("c"), WP_C_FIN },
	  "M1 [1,1] unknown 1 unknown\nM2 [3003,3004] unknown 2 unknown\n"
	  "M3 [6006,6006] unknown 1 unknown\nflows-undecoded 1\n" },
	{ "a full segment and its rest",
	  { 0 },
	  { WP_C(FULL), WP_PAUSE(3000), WP_C("a"), WP_PAUSE(3000), WP_C("b"), WP_C_FIN },
	  "M1 [1,3003] unknown 1201 unknown\nM2 [6005,6005] unknown 1 unknown\n"
	  "flows-undecoded 1\n" },
	{ "short segments are one call where there is an answer",
	  { 0 },
	  { WP_C("a"), WP_PAUSE(3000), WP_C("b"), WP_PAUSE(3000), WP_C("c"), WP_PAUSE(3000),
	    WP_C("d"), WP_PAUSE(3000), WP_C("e"), WP_S("r") },
	  "C1 [1,12009] unknown 5\nR1 [12010,12010] unknown 1 unknown\nflows-undecoded 1\n" },
	{ "datagrams without answer",
	  { .is_udp = TRUE },
	  { WP_C("a"), WP_C("b"), WP_C("c"), WP_C("d") },
	  "M1 [1,1] unknown 1 unknown\nM2 [2,2] unknown 1 unknown\nM3 [3,3] unknown 1 unknown\n"
	  "M4 [4,4] unknown 1 unknown\nflows-undecoded 1\n" },
	{ "a reset instead of an answer",
	  { 0 },
	  { WP_C("ask"), WP_S("answer"), WP_C("ask"), WP_RESET },
	  "C1 [1,1] unknown 3\nR1 [2,2] unknown 6 unknown\nC2 [3,3] unknown 3\n"
	  "R2 [4,4] unknown 0 reset\nflows-undecoded 1\ncalls-reset 1\n" },
	{ "a reset of an answer that was not seen: its receiver had closed",
	  { 0 },
	  { WP_C("ask"), WP_S("answer"), WP_C("ask"), WP_C_FIN, WP_RESET },
	  "C1 [1,1] unknown 3\nR1 [2,2] unknown 6 unknown\nC2 [3,3] unknown 3\n"
	  "flows-undecoded 1\ncalls-reset 1\n" },
};

/* Nothing is paired across a hole but what the positions prove. */
static const WpDecodeRow holes[] = {
	{ "a lost answer",
	  { 0 },
	  { WP_C("a1"), WP_S("r1"), WP_C("a2"), WP_S_HOLE(2), WP_C("a3"), WP_S("r3") },
	  "C1 [1,1] unknown 2\nR1 [2,2] unknown 2 unknown\nC2 [3,3] unknown 2\n"
	  "C3 [5,5] unknown 2\nR3 [6,6] unknown 2 unknown\n"
	  "flows-undecoded 1\ncalls-unanswered 1\nresyncs 1\n" },
	{ "a lost call, and perhaps some of the return before it",
	  { 0 },
	  { WP_C("a1"), WP_S("r1"), WP_C("a2"), WP_S("r2"), WP_C_HOLE(2), WP_S_HOLE(4), WP_S("r3"),
	    WP_C("a4"), WP_S("r4") },
	  "C1 [1,1] unknown 2\n"
	  "R1 [2,2] unknown 2 unknown\n"
	  "C2 [3,3] unknown 2\n"
	  "R2 [4,4] unknown 2 unknown cut\n"
	  "C3 [8,8] unknown 2\n"
	  "R3 [9,9] unknown 2 unknown\n"
	  "flows-undecoded 1\n"
	  "returns-cut 1\n"
	  "resyncs 2\n" },
	{ "a lost call",
	  { 0 },
	  { WP_C("a1"), WP_S("r1"), WP_C_HOLE(2), WP_S("r2"), WP_C("a3"), WP_S("r3") },
	  "C1 [1,1] unknown 2\nR1 [2,2] unknown 2 unknown\nC2 [5,5] unknown 2\n"
	  "R2 [6,6] unknown 2 unknown\nflows-undecoded 1\nreturns-orphan 1\nresyncs 1\n" },
};

#define ASK  "GET /a HTTP/1.1\r\n\r\n"
#define HEAD "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n"

/* The end of a return that was not seen is known where an acknowledgement soon tells that it passed. */
static const WpDecodeRow unseen_ends[] = {
	{ "acknowledged soon",
	  { .port = 80 },
	  { WP_C(ASK), WP_S(HEAD "1234"), WP_S_HOLE_ACKED(4), WP_C(ASK), WP_S(HEAD "12345678") },
	  "C1 [1,1] http 19 GET /a\nR1 [2,2] http 46 GET /a ok\n"
	  "C2 [4,4] http 19 GET /a\nR2 [5,5] http 46 GET /a ok\n" },
	{ "acknowledged late",
	  { .port = 80 },
	  { WP_C(ASK), WP_S(HEAD "1234"), WP_PAUSE(1000), WP_S_HOLE_ACKED(4), WP_C(ASK),
	    WP_S(HEAD "12345678") },
	  "C1 [1,1] http 19 GET /a\nR1 [2,2] http 46 GET /a ok cut\n"
	  "C2 [1005,1005] http 19 GET /a\nR2 [1006,1006] http 46 GET /a ok\nreturns-cut 1\n" },
	{ "not acknowledged",
	  { .port = 80 },
	  { WP_C(ASK), WP_S(HEAD "1234"), WP_S_HOLE(4), WP_C(ASK), WP_S(HEAD "12345678") },
	  "C1 [1,1] http 19 GET /a\nR1 [2,2] http 46 GET /a ok cut\n"
	  "C2 [4,4] http 19 GET /a\nR2 [5,5] http 46 GET /a ok\nreturns-cut 1\n" },
	{ "a return captured before its call",
	  { .port = 80 },
	  { WP_C(ASK), WP_PAUSE((gsize)-4), WP_S(HEAD "12345678") },
	  "C1 [1,1] http 19 GET /a\nR1 [1,1] http 46 GET /a ok\nreturns-early 1\n" },
	{ "bytes behind the hole",
	  { .port = 80 },
	  { WP_C(ASK), WP_S(HEAD "12"), WP_S_HOLE(4), WP_S("78") },
	  "C1 [1,1] http 19 GET /a\nR1 [2,4] http 46 GET /a ok\n" },
	{ "bytes behind the hole, which was filled late",
	  { .port = 80 },
	  { WP_C(ASK),
	    WP_S(HEAD "12"),
	    WP_PAUSE(10),
	    WP_S_HOLE_LATE(4),
	    { 'E', NULL, 10 },
	    WP_S("78"),
	    WP_C(ASK),
	    WP_S(HEAD "12345678") },
	  "C1 [1,1] http 19 GET /a\nR1 [2,2] http 46 GET /a ok cut\n"
	  "C2 [17,17] http 19 GET /a\nR2 [18,18] http 46 GET /a ok\nreturns-cut 1\n" },
	{ "a hole filled late, and more after that",
	  { .port = 80 },
	  { WP_C(ASK),
	    WP_S(HEAD "12"),
	    WP_PAUSE(10),
	    WP_S_HOLE_LATE(4),
	    { 'E', NULL, 10 },
	    WP_S("7"),
	    WP_S("8") },
	  "C1 [1,1] http 19 GET /a\nR1 [2,17] http 46 GET /a ok\n" },
};

#define HEAD_SEEN  "HTTP/1.1 200 OK\r\nSer"
#define ERROR_SEEN "HTTP/1.1 503 No\r\nSer"

/* Returns that cannot be read: their packets tell their times, where nothing else may be among them. */
static const WpDecodeRow unread[] = {
	{ "cut by the snap length",
	  { .port = 80 },
	  { WP_C(ASK), WP_S(HEAD_SEEN), WP_S_CUT(500), WP_S("12345678"), WP_S_CUT(9), WP_C(ASK),
	    WP_S(ERROR_SEEN), WP_S_CUT(10), WP_S_FIN },
	  "C1 [1,1] http 19 GET /a\nR1 [2,3] http 537 GET /a ok\n"
	  "C2 [4,4] http 19 GET /a\nR2 [5,5] http 30 GET /a error\nreturns-unread 2\nresyncs "
	  "1\nbytes-skipped 14\n" },
	{ "a packet overtook the one before: the return ends when all has come",
	  { .port = 80 },
	  { WP_C(ASK),
	    WP_S(HEAD_SEEN),
	    WP_S_CUT(500),
	    WP_S("12345678"),
	    { 'E', NULL, 3 },
	    WP_S("12345678"),
	    WP_C(ASK),
	    WP_S(ERROR_SEEN),
	    WP_S_CUT(10),
	    WP_S_FIN },
	  "C1 [1,1] http 19 GET /a\nR1 [2,3] http 536 GET /a ok\n"
	  "C2 [6,6] http 19 GET /a\nR2 [7,7] http 30 GET /a error\nreturns-unread 2\n"
	  "resyncs 1\nbytes-skipped 22\n" },
	{ "calls cut as well, the client ends",
	  { .port = 80 },
	  { WP_C("GET /bbbbbbbbbbbbbbbbbbb?x"), WP_C_CUT(99), WP_S(HEAD_SEEN), WP_S_CUT(500),
	    WP_C("GET /c?x"), WP_C_CUT(99), WP_S(HEAD_SEEN), WP_S_CUT(10), WP_C_FIN },
	  "C1 [1,1] http 26 GET /{}\nR1 [2,2] http 520 GET /{} ok\n"
	  "C2 [3,3] http 8 GET /c\nR2 [4,4] http 30 GET /c ok\n"
	  "returns-unread 2\nresyncs 2\nbytes-skipped 6\n" },
	{ "lost in the middle",
	  { .port = 80 },
	  { WP_C(ASK), WP_S(HEAD_SEEN), WP_S_HOLE(500), WP_S("12345678"), WP_C(ASK), WP_S_HOLE(20),
	    WP_S("12345678"), WP_C_FIN },
	  "C1 [1,1] http 19 GET /a\n"
	  "R1 [2,4] http 528 GET /a ok\n"
	  "C2 [5,5] http 19 GET /a\n"
	  "R2 [7,7] http 28 GET /a unknown\n"
	  "returns-unread 2\n"
	  "bytes-skipped 19\n" },
	{ "lost at the end",
	  { .port = 80 },
	  { WP_C(ASK), WP_S(HEAD_SEEN), WP_S_HOLE(500), WP_C(ASK), WP_S(HEAD_SEEN) },
	  "C1 [1,1] http 19 GET /a\n"
	  "C2 [4,4] http 19 GET /a\n"
	  "calls-unanswered 2\n"
	  "resyncs 1\n"
	  "bytes-skipped 3\n" },
	{ "a call between was lost",
	  { .port = 80 },
	  { WP_C(ASK), WP_S(HEAD_SEEN), WP_S_CUT(500), WP_C_HOLE(19), WP_S("12345678"), WP_C(ASK) },
	  "C1 [1,1] http 19 GET /a\n"
	  "C2 [5,5] http 19 GET /a\n"
	  "calls-unanswered 2\n"
	  "resyncs 1\n"
	  "bytes-skipped 11\n" },
	{ "calls ahead of returns",
	  { .port = 80 },
	  { WP_C(ASK), WP_C(ASK), WP_S(HEAD_SEEN), WP_S_CUT(500), WP_C(ASK), WP_S(HEAD_SEEN),
	    WP_S_CUT(500), WP_S_FIN },
	  "C1 [1,1] http 19 GET /a\n"
	  "C2 [2,2] http 19 GET /a\n"
	  "C3 [4,4] http 19 GET /a\n"
	  "calls-unanswered 3\n"
	  "resyncs 1\n"
	  "bytes-skipped 6\n" },
	{ "the next call came before the hole was known",
	  { .port = 80, .is_midstream = TRUE },
	  { WP_C(ASK), WP_C_AHEAD(99), WP_C(ASK), WP_S_HOLE(99), WP_S(HEAD_SEEN), WP_S_CUT(50),
	    WP_C(ASK) },
	  "C1 [1,1] http 19 GET /a\n"
	  "C2 [3,3] http 19 GET /a\n"
	  "C3 [6,6] http 19 GET /a\n"
	  "calls-unanswered 3\n"
	  "resyncs 1\n"
	  "bytes-skipped 3\n" },
	{ "a call cut off behind one that was read",
	  { .port = 80 },
	  { WP_C(ASK), WP_C_CUT(19), WP_S(HEAD_SEEN), WP_S_CUT(500), WP_S_FIN },
	  "C1 [1,1] http 19 GET /a\n"
	  "calls-unanswered 1\n"
	  "bytes-skipped 3\n" },
	{ "a call cut off behind one whose end was",
	  { .port = 80 },
	  { WP_C(ASK), WP_S(HEAD "12345678"),
	    WP_C("PUT /b HTTP/1.1\r\nContent-Length: 5\r\n\r\n12"), WP_C_CUT(22), WP_S(HEAD_SEEN),
	    WP_S_CUT(500), WP_S_FIN },
	  "C1 [1,1] http 19 GET /a\nR1 [2,2] http 46 GET /a ok\n"
	  "C2 [3,3] http 43 PUT /b\n"
	  "calls-unanswered 1\n"
	  "bytes-skipped 3\n" },
	{ "a body of known length goes on behind what was cut off",
	  { .port = 80 },
	  { WP_C("PUT /b HTTP/1.1\r\nContent-Length: 30\r\n\r\n"), WP_C("123"), WP_C_CUT(7),
	    WP_C("456"), WP_C_CUT(17), WP_S(HEAD "12345678"), WP_C(ASK) },
	  "C1 [1,3] http 69 PUT /b\nR1 [4,4] http 46 PUT /b ok\n"
	  "C2 [5,5] http 19 GET /a\ncalls-open 1\n" },
	{ "all could be read",
	  { .port = 80 },
	  { WP_C(ASK), WP_S(HEAD "1234"), WP_C(ASK), WP_S("5678"), WP_S(HEAD "12345678"),
	    WP_S_FIN },
	  "C1 [1,1] http 19 GET /a\nR1 [2,4] http 46 GET /a ok\n"
	  "C2 [3,3] http 19 GET /a\nR2 [5,5] http 46 GET /a ok\n" },
	{ "no protocol",
	  { 0 },
	  { WP_C("a1"), WP_S("r1"), WP_S_CUT(7), WP_C("a2"), WP_C_CUT(8), WP_S("r2"), WP_S_CUT(7),
	    WP_C("a3"), WP_S("r3") },
	  "C1 [1,1] unknown 2\n"
	  "R1 [2,2] unknown 9 unknown\n"
	  "C2 [3,3] unknown 2\n"
	  "R2 [4,4] unknown 9 unknown\n"
	  "C3 [5,5] unknown 2\n"
	  "R3 [6,6] unknown 2 unknown\n"
	  "flows-undecoded 1\n"
	  "returns-unread 2\n"
	  "resyncs 3\n" },
};

#define HELLO_1_2                                                                                  \
	"\x16\x03\x01\x00\x2d\x01\x00\x00\x29\x03\x03"                                             \
	"01234567890123456789012345678901\x00\x00\x02\x00\x2f\x01\x00"
#define SERVER_HELLO_1_2                                                                           \
	"\x16\x03\x03\x00\x2a\x02\x00\x00\x26\x03\x03"                                             \
	"01234567890123456789012345678901\x00\x00\x2f\x00"
#define DATA "\x17\x03\x03\x00\x05hello"

static const WpDecodeRow tls[] = {
	{ "set-up, then calls by turns",
	  { .port = 443 },
	  { WP_C(HELLO_1_2), WP_S(SERVER_HELLO_1_2), WP_C(DATA), WP_S(DATA DATA), WP_C(DATA),
	    WP_S(DATA) },
	  "C1 [1,1] tls 50 setup\nR1 [2,2] tls 47 unknown setup\nC2 [3,3] tls 10\n"
	  "R2 [4,4] tls 20 unknown\nC3 [5,5] tls 10\nR3 [6,6] tls 10 unknown\n" },
};

static const WpDecodeRow opaque[] = {
	{ "SSH",
	  { .port = 22 },
	  { WP_S("SSH-2.0-x\r\n"), WP_C("SSH-2.0-y\r\n"), WP_S("keys") },
	  "flows-multiplexed 1\n" },
};

/* Joined in the middle: what looked like one protocol, is not, and is found out; a body that is too long to hold. */
#define GET      "GET /a HTTP/1.1\r\n\r\n"
#define DONE     "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
#define METADATA "\0\0\0\x14\0\3\0\1\0\0\0\7\0\2me\0\0\0\0\0\0\0\0"

static const WpDecodeRow joined[] = {
	{ "Kafka, or so it seems",
	  { .is_midstream = TRUE },
	  { WP_C(METADATA), WP_S("nothing that Kafka says"), WP_C(GET), WP_S(DONE), WP_C(GET),
	    WP_S(DONE) },
	  "C1 [1,1] kafka 24 Metadata\nC2 [3,3] http 19 GET /a\nR2 [4,4] http 38 GET /a ok\n"
	  "C3 [5,5] http 19 GET /a\nR3 [6,6] http 38 GET /a ok\n"
	  "calls-unanswered 1\nbytes-skipped 23\n" },
	{ "the same with the client mistaken",
	  { .is_midstream = TRUE, .is_swapped = TRUE },
	  { WP_C(METADATA), WP_S("nothing that Kafka says"), WP_C(GET), WP_S(DONE), WP_C(GET),
	    WP_S(DONE) },
	  "C1 [1,1] kafka 24 Metadata\nC2 [3,3] http 19 GET /a\nR2 [4,4] http 38 GET /a ok\n"
	  "C3 [5,5] http 19 GET /a\nR3 [6,6] http 38 GET /a ok\n"
	  "calls-unanswered 1\nbytes-skipped 23\n" },
	{ "mistaken once more, and more often than it is looked for again",
	  { .is_midstream = TRUE },
	  { WP_C(METADATA), WP_S("nothing that Kafka says"), WP_C(METADATA), WP_S("nothing either"),
	    WP_C(METADATA), WP_S("nor now, it seems"), WP_C(METADATA), WP_S("and so it goes on"),
	    WP_C(METADATA), WP_S("until the end"), WP_C("by turns"), WP_S("then") },
	  "C1 [1,1] kafka 24 Metadata\nC2 [3,3] kafka 24 Metadata\nC3 [5,5] kafka 24 Metadata\n"
	  "C4 [7,7] kafka 24 Metadata\nC5 [9,9] kafka 24 Metadata\nC6 [11,11] unknown 8\n"
	  "R6 [12,12] unknown 4 unknown\nflows-undecoded 1\nflows-misnamed 1\n"
	  "calls-unanswered 5\nbytes-skipped 71\n" },
	{ "seen from its start, it is taken by turns",
	  { 0 },
	  { WP_C(METADATA), WP_S("nothing that Kafka says"), WP_C(GET), WP_S(DONE) },
	  "C1 [1,1] kafka 24 Metadata\nm2 [2,2] unknown 23 unknown setup\n"
	  "C3 [3,3] unknown 19\nR3 [4,4] unknown 38 unknown\nflows-undecoded 1\n"
	  "flows-misnamed 1\ncalls-unanswered 1\n" },
};

START_TEST(in_mid_stream)
{
	wp_decode_rows_run(joined, G_N_ELEMENTS(joined));
}
END_TEST

START_TEST(in_a_long_body)
{
	g_autofree char *body = g_strnfill(WP_STREAM_JOINED_MAX, 'b');
	const WpStep steps[] = { WP_S_BYTES(body, WP_STREAM_JOINED_MAX / 2),
				 WP_S_BYTES(body, WP_STREAM_JOINED_MAX / 2), WP_S_BYTES(body, 1000),
				 WP_C(GET), WP_S(DONE) };
	const WpRunOptions options = { .is_midstream = TRUE };
	g_autofree char *got = wp_decode_run(&options, steps, G_N_ELEMENTS(steps));
	ck_assert_str_eq(got, "C1 [4,4] http 19 GET /a\nR1 [5,5] http 38 GET /a ok\n"
			      "bytes-skipped 263144\n");
}
END_TEST

/* A client that says N short things, each behind a pause, before the server says anything. */
static const struct {
	gsize n;
	gsize pause_us;
	guint n_messages;
	guint n_calls;
} silences[] = {
	{ WP_TURNS_MANY, 40000, 0, 1 },
	{ WP_TURNS_MANY + 1, 20000, WP_TURNS_MANY, 1 }, /* the last one is answered */
	{ 40, 20000, 39, 1 },
	{ 40, 1000, 0, 1 },   /* much, but not for long */
	{ 300, 1000, 65, 1 }, /* of the first 250 no more than 16 were told apart */
	{ WP_TURNS_FEW + 1, 60000, WP_TURNS_FEW, 1 },
};

static void
run_silence(gsize row)
{
	gsize n = silences[row].n, n_calls = 0, n_messages = 0;
	g_autofree WpStep *steps = g_new(WpStep, 2 * n + 1);

	for (gsize i = 0; i < n; i++) {
		steps[2 * i] = (WpStep)WP_PAUSE(silences[row].pause_us);
		steps[2 * i + 1] = (WpStep)WP_C("a");
	}
	steps[2 * n] = (WpStep)WP_S("r");
	g_autofree char *got = wp_decode_run(NULL, steps, 2 * n + 1);
	g_auto(GStrv) lines = g_strsplit(got, "\n", -1);
	for (gsize i = 0; lines[i]; i++) {
		n_messages += lines[i][0] == 'M';
		n_calls += lines[i][0] == 'C';
	}
	ck_assert_uint_eq(n_messages, silences[row].n_messages);
	ck_assert_uint_eq(n_calls, silences[row].n_calls);
}

START_TEST(short_segments)
{
	for (gsize i = 0; i < G_N_ELEMENTS(silences); i++)
		run_silence(i);
}
END_TEST

START_TEST(by_turns)
{
	wp_decode_rows_run(turns, G_N_ELEMENTS(turns));
}
END_TEST

START_TEST(around_holes)
{
	wp_decode_rows_run(holes, G_N_ELEMENTS(holes));
}
END_TEST

START_TEST(around_ends)
{
	wp_decode_rows_run(unseen_ends, G_N_ELEMENTS(unseen_ends));
}
END_TEST

START_TEST(unread_returns)
{
	wp_decode_rows_run(unread, G_N_ELEMENTS(unread));
}
END_TEST

START_TEST(tls_records)
{
	wp_decode_rows_check(tls, G_N_ELEMENTS(tls));
}
END_TEST

START_TEST(opaque_protocols)
{
	wp_decode_rows_check(opaque, G_N_ELEMENTS(opaque));
}
END_TEST

WP_SUITE("stream", in_mid_stream, in_a_long_body, by_turns, short_segments, around_holes,
	 around_ends, unread_returns, tls_records, opaque_protocols)
