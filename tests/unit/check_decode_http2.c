/* HTTP/2 and gRPC: frames, HPACK, streams side by side, ends, holes, starts in mid-stream. */
#include "capture/decoders.h"

#include <string.h>

#include "capture/hpack.h"
#include "capture/http2-frame.h"
#include "capture/http2-streams.h"
#include "tests/support/decode-run.h"
#include "tests/support/http2-build.h"
#include "tests/support/suite.h"

/*
 * Steps are a letter (see decode-run.h: 'C', 'S', 'c', 's', 'F', 'G', 'R', 'P'), a blank, and words of
 * http2-build.h, or a number: bytes of a hole, microseconds of a pause. "-" after the letter: these
 * words were sent, but not seen (before the capture began), and "x N": a hole in which N bytes of what
 * follows in the same step are lost.
 */
typedef struct {
	const char *name;
	const char *steps[20];
	const char *expected;
} Row;

typedef struct {
	WpHttp2Build *builds[2];
	GPtrArray *owner;
	WpStep steps[24];
	gsize n;
} Script;

static void
script_clear(Script *script)
{
	wp_http2_build_free(script->builds[0]);
	wp_http2_build_free(script->builds[1]);
	g_ptr_array_unref(script->owner);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Script, script_clear)

/* Bytes that were sent and not seen build up the sender's table all the same. */
static void
add_bytes(Script *script, const char *text)
{
	gboolean is_server = text[0] == 'S';
	gboolean is_unseen = text[1] == '-', is_lost = text[1] == 'x';
	GByteArray *bytes =
		wp_http2_build(script->builds[is_server], text + 2 + (is_unseen || is_lost));
	g_ptr_array_add(script->owner, bytes);
	if (is_unseen)
		return;
	script->steps[script->n++] = is_lost ? (WpStep){ is_server ? 's' : 'c', NULL, bytes->len }
					     : (WpStep){ text[0], (char *)bytes->data, bytes->len };
}

static Script
make_script(const char *const *steps, gsize max)
{
	Script script = { .owner = g_ptr_array_new_with_free_func(
				  (GDestroyNotify)g_byte_array_unref) };
	for (int i = 0; i < 2; i++)
		script.builds[i] = wp_http2_build_new();
	for (gsize i = 0; i < max && steps[i]; i++) {
		if (strchr("CS", steps[i][0]))
			add_bytes(&script, steps[i]);
		else
			script.steps[script.n++] = (WpStep){
				steps[i][0], NULL,
				steps[i][1] ? (gsize)g_ascii_strtoull(steps[i] + 2, NULL, 10) : 0
			};
	}
	return script;
}

static void
check_rows(const Row *rows, gsize n_rows, const WpRunOptions *options, gboolean cut)
{
	GString *wrong = g_string_new(NULL);
	for (gsize i = 0; i < n_rows; i++) {
		g_auto(Script) script = make_script(rows[i].steps, G_N_ELEMENTS(rows[i].steps));
		g_autofree char *got = wp_decode_run(options, script.steps, script.n);
		gboolean is_right = strcmp(got, rows[i].expected) == 0;
		if (!is_right)
			g_string_append_printf(wrong, "%s:\n%s", rows[i].name, got);
		if (cut && is_right)
			wp_decode_check(options, script.steps, script.n, rows[i].expected);
	}
	ck_assert_msg(wrong->len == 0, "\n%s", wrong->str);
	g_string_free(wrong, TRUE);
}

#define JSON ";content-type=application/json"
#define GRPC ";te=trailers;content-type=application/grpc"
#define DONE ";grpc-status=0"

static const Row plain[] = {
	{ "a request and its answer",
	  { "C P T H!1:GET/item/7?u=1", "S T A H1:200" JSON " D!1:hello", "C A" },
	  "C1 [1,1] http2 34 GET /item/{}\n"
	  "R1 [2,2] http2 42 GET /item/{} ok\n" },
	{ "a body in parts, other frames between them",
	  { "C P T H1:PUT/a D1:abc", "C Q W0 W1 D!1:def", "S T A Q H1:404 D1:x", "S D!1:y" },
	  "C1 [1,2] http2 53 PUT /a\n"
	  "R1 [3,4] http2 30 PUT /a error\n" },
	{ "streams side by side, answered in another order",
	  { "C P T H1:POST/a H!3:GET/b D1:x", "C H!5:GET/c D!1:y", "S T H!5:204 H3:200", "S H1:200",
	    "S D!1:1 D!3:2" },
	  "C1 [1,1] http2 16 GET /b\n"
	  "C2 [1,2] http2 45 POST /a\n"
	  "C3 [2,2] http2 16 GET /c\n"
	  "R3 [3,3] http2 10 GET /c ok\n"
	  "R1 [3,5] http2 20 GET /b ok\n"
	  "R2 [4,5] http2 20 POST /a ok\n" },
	{ "blocks over several frames, padding, priority",
	  { "C P Y3 H+1:POST/upload Dp!1:body", "S Hp+1:500;server=x Dp!1:no" },
	  "C1 [1,1] http2 65 POST /upload\n"
	  "R1 [2,2] http2 57 POST /upload error\n" },
	{ "priority and padding in one",
	  { "C P Hpy!1:GET/a", "S H!1:304" },
	  "C1 [1,1] http2 34 GET /a\nR1 [2,2] http2 10 GET /a ok\n" },
	{ "fields behind the body",
	  { "C P H1:POST/a D1:x H!1:;digest=y", "S H1:200 D1:x H!1:;digest=z" },
	  "C1 [1,1] http2 54 POST /a\n"
	  "R1 [2,2] http2 39 POST /a ok\n" },
	{ "1xx are no answers",
	  { "C P H1:POST/a", "S H1:100", "C D!1:x", "S H+1:103;link=x", "S H!1:200" },
	  "C1 [1,3] http2 35 POST /a\n"
	  "R1 [5,5] http2 10 POST /a ok\n" },
	{ "answered before the request has ended",
	  { "C P H1:POST/a D1:x", "S H1:413 D!1:no", "C D1:y D!1:z", "C H!3:GET/a", "S H!3:200" },
	  "C1 [1,1] http2 35 POST /a\n"
	  "R1 [2,2] http2 25 POST /a error\n"
	  "C2 [4,4] http2 13 GET /a\n"
	  "R2 [5,5] http2 10 GET /a ok\n" },
	{ "the server's settings first",
	  { "S T", "C P T H!1:GET/a", "S A H!1:200" },
	  "C1 [2,2] http2 25 GET /a\n"
	  "R1 [3,3] http2 10 GET /a ok\n" },
	{ "frames of types to come",
	  { "C P F16:u=1 H!1:GET/a", "S F12: H!1:200" },
	  "C1 [1,1] http2 25 GET /a\n"
	  "R1 [2,2] http2 10 GET /a ok\n" },
	{ "out of time",
	  { "C P H!1:GET/a", "S H!1:504" },
	  "C1 [1,1] http2 25 GET /a\n"
	  "R1 [2,2] http2 14 GET /a timeout\n" },
	{ "events",
	  { "C P H!1:GET/a", "S H1:200;content-type=text/event-stream", "S D!1:x" },
	  "C1 [1,1] http2 25 GET /a\n"
	  "R1 [2,3] http2 39 GET /a ok wait\n" },
	{ "going away is no message; what is left out has no return",
	  { "C P H!1:GET/a H!3:GET/b", "S H!1:200 N", "G" },
	  "C1 [1,1] http2 25 GET /a\n"
	  "C2 [1,1] http2 16 GET /b\n"
	  "R1 [2,2] http2 10 GET /a ok\n"
	  "calls-open 1\n" },
};

START_TEST(plain_requests)
{
	check_rows(plain, G_N_ELEMENTS(plain), NULL, TRUE);
}
END_TEST

static const Row grpc[] = {
	{ "unary",
	  { "C P H1:POST/shop.Cart/Add" GRPC " D!1:$item-7",
	    "S H1:200;content-type=application/grpc D1:$ok H!1:" DONE },
	  "C1 [1,1] grpc 90 shop.Cart/Add\n"
	  "R1 [2,2] grpc 70 shop.Cart/Add ok\n" },
	{ "an error in trailers, an error alone, out of time",
	  { "C P H1:POST/a.B/C" GRPC " D!1:$x", "S H1:200 D1:$ok H!1:;grpc-status=13",
	    "C H3:POST/a.B/C" GRPC " D!3:$x", "S H!3:200;grpc-status=5",
	    "C H5:POST/a.B/C" GRPC " D!5:$x", "S H!5:200;grpc-status=4" },
	  "C1 [1,1] grpc 77 a.B/C\n"
	  "R1 [2,2] grpc 53 a.B/C error\n"
	  "C2 [3,3] grpc 32 a.B/C\n"
	  "R2 [4,4] grpc 25 a.B/C error\n"
	  "C3 [5,5] grpc 32 a.B/C\n"
	  "R3 [6,6] grpc 25 a.B/C timeout\n" },
	{ "both in one connection",
	  { "C P H1:POST/a.B/C" GRPC " D!1:$x H!3:GET/healthz",
	    "S H!3:200 H1:200 D1:$ok H!1:" DONE },
	  "C1 [1,1] grpc 77 a.B/C\n"
	  "C2 [1,1] http2 22 GET /healthz\n"
	  "R2 [2,2] http2 10 GET /healthz ok\n"
	  "R1 [2,2] grpc 52 a.B/C ok\n" },
	{ "the server streams",
	  { "C P H1:POST/a.B/List" GRPC " D!1:$x", "S H1:200 D1:$1", "S D1:$2", "P 999",
	    "S D1:$3 H!1:" DONE },
	  "C1 [1,1] grpc 80 a.B/List\n"
	  "R1 [2,1004] grpc 85 a.B/List ok\n" },
	{ "the server streams, with pauses: it waits by design",
	  { "C P H1:POST/a.B/List" GRPC " D!1:$x", "S H1:200 D1:$1", "P 1000000",
	    "S D1:$2 H!1:" DONE },
	  "C1 [1,1] grpc 80 a.B/List\n"
	  "R1 [2,1000004] grpc 68 a.B/List ok wait\n" },
	{ "the server thinks before its only message",
	  { "C P H1:POST/a.B/List" GRPC " D!1:$x", "S H1:200", "P 1000000", "S D1:$2 H!1:" DONE },
	  "C1 [1,1] grpc 80 a.B/List\n"
	  "R1 [2,1000004] grpc 51 a.B/List ok\n" },
	{ "the client streams",
	  { "C P H1:POST/a.B/Put" GRPC " D1:$1", "S H1:200", "C D1:$2", "C D!1:$3",
	    "S D1:$6 H!1:" DONE },
	  "C1 [1,4] grpc 113 a.B/Put\n"
	  "R1 [2,5] grpc 51 a.B/Put ok\n" },
	{ "both talk",
	  { "C P H1:POST/a.B/Talk" GRPC " D1:$1", "S H1:200 D1:$1", "C D1:$2", "S D1:$2",
	    "C D!1:", "S H!1:" DONE },
	  "C1 [1,1] grpc 80 a.B/Talk\n"
	  "R1 [2,6] grpc 68 a.B/Talk ok wait\n" },
	{ "a path that is no method's",
	  { "C P H!1:POST/a-b/17" GRPC, "S H!1:200;grpc-status=12" },
	  "C1 [1,1] grpc 61 POST /a-b/{}\n"
	  "R1 [2,2] grpc 26 POST /a-b/{} error\n" },
};

START_TEST(grpc_calls)
{
	check_rows(grpc, G_N_ELEMENTS(grpc), NULL, TRUE);
}
END_TEST

static const Row resets[] = {
	{ "by the client while it waits",
	  { "C P H!1:GET/a", "C R1:8", "S H1:200 D!1:late", "C H!3:GET/a", "S H!3:200" },
	  "C1 [1,1] http2 25 GET /a\n"
	  "R1 [2,2] http2 0 GET /a reset\n"
	  "C2 [4,4] http2 13 GET /a\n"
	  "R2 [5,5] http2 10 GET /a ok\n" },
	{ "by the client in the middle of the answer, and of its own request",
	  { "C P H1:POST/a D1:x", "S H1:200 D1:abc", "C R1:8", "S D!1:late" },
	  "C1 [1,1] http2 35 POST /a\n"
	  "R1 [2,3] http2 22 POST /a reset\n" },
	{ "by the server: not taken",
	  { "C P H1:POST/a", "S R1:7", "C D!1:x" },
	  "C1 [1,1] http2 25 POST /a\n"
	  "R1 [2,2] http2 13 POST /a reset\n" },
	{ "by the server: failed",
	  { "C P H!1:GET/a", "S H1:200 D1:x", "S R1:2" },
	  "C1 [1,1] http2 25 GET /a\n"
	  "R1 [2,3] http2 33 GET /a error\n" },
	{ "by the server after all of the answer",
	  { "C P H1:POST/a", "S H!1:200 R1:0", "C D!1:x" },
	  "C1 [1,1] http2 25 POST /a\n"
	  "R1 [2,2] http2 10 POST /a ok\n" },
	{ "by the client after all of the answer",
	  { "C P H!1:GET/a", "S H!1:200", "C R1:8" },
	  "C1 [1,1] http2 25 GET /a\n"
	  "R1 [2,2] http2 10 GET /a ok\n" },
	{ "the server closes in the middle of an answer",
	  { "C P H!1:GET/a H3:POST/b", "S H1:200 D1:x H3:200", "G" },
	  "C1 [1,1] http2 25 GET /a\n"
	  "C2 [1,1] http2 16 POST /b\n"
	  "R1 [2,2] http2 20 GET /a reset\n"
	  "R2 [2,2] http2 10 POST /b reset\n" },
	{ "the connection is reset",
	  { "C P H!1:GET/a H!3:GET/b", "S H1:200", "R" },
	  "C1 [1,1] http2 25 GET /a\n"
	  "C2 [1,1] http2 16 GET /b\n"
	  "R1 [2,2] http2 10 GET /a reset\n"
	  "R2 [3,3] http2 0 GET /b reset\n"
	  "calls-reset 1\n" },
	{ "the capture ends in the middle",
	  { "C P H!1:GET/a H3:POST/b", "S H1:200 D1:x" },
	  "C1 [1,1] http2 25 GET /a\n"
	  "C2 [1,1] http2 16 POST /b\n"
	  "calls-open 2\n" },
};

START_TEST(resets_and_ends)
{
	check_rows(resets, G_N_ELEMENTS(resets), NULL, TRUE);
}
END_TEST

static const Row special[] = {
	{ "a tunnel ends the call when it is open",
	  { "C P H1:CONNECT;:authority=db.lan:22", "S H1:200", "C D1:SSH", "S D1:SSH", "C D!1:x",
	    "S D!1:y", "C H!3:GET/a", "S H!3:200" },
	  "C1 [1,1] http2 29 CONNECT db.lan:22\n"
	  "R1 [2,2] http2 10 CONNECT db.lan:22 ok\n"
	  "C2 [7,7] http2 25 GET /a\n"
	  "R2 [8,8] http2 10 GET /a ok\n" },
	{ "a WebSocket",
	  { "C P H1:CONNECT/chat;:protocol=websocket", "S H1:200", "C D1:hi", "S D1:ho" },
	  "C1 [1,1] http2 57 CONNECT /chat\n"
	  "R1 [2,2] http2 10 CONNECT /chat ok\n" },
	{ "a tunnel refused",
	  { "C P H1:CONNECT;:authority=db.lan:22", "S H1:403 D!1:no" },
	  "C1 [1,1] http2 29 CONNECT db.lan:22\n"
	  "R1 [2,2] http2 25 CONNECT db.lan:22 error\n" },
	{ "pushed: one-way, named by the promise",
	  { "C P H!1:GET/a", "S U1:2:GET/style.css H!1:200", "S H2:200", "S D!2:css" },
	  "C1 [1,1] http2 25 GET /a\n"
	  "R1 [2,2] http2 10 GET /a ok\n"
	  "m2 [3,4] http2 22 GET /style.css ok\n" },
	{ "pushed and not wanted",
	  { "C P H!1:GET/a", "S U+1:2:GET/style.css H2:200 H!1:200", "C R2:8", "S D!2:css" },
	  "C1 [1,1] http2 25 GET /a\n"
	  "R1 [2,2] http2 10 GET /a ok\n" },
};

START_TEST(special_streams)
{
	check_rows(special, G_N_ELEMENTS(special), NULL, TRUE);
}
END_TEST

/* An upgrade from HTTP/1.1: stream 1 is the answer (RFC 7540 section 3.2). */
START_TEST(upgrade)
{
	g_autoptr(WpHttp2Build) client = wp_http2_build_new();
	g_autoptr(WpHttp2Build) server = wp_http2_build_new();
	g_autoptr(GByteArray) first = wp_http2_build(server, "T H1:200 D!1:x");
	g_autoptr(GByteArray) ask = wp_http2_build(client, "P T H!3:GET/b");
	g_autoptr(GByteArray) answer = wp_http2_build(server, "H!3:200");
	WpStep steps[] = { WP_C("GET /a HTTP/1.1\r\nUpgrade: h2c\r\n\r\n"),
			   WP_S("HTTP/1.1 101 -\r\nUpgrade: h2c\r\n\r\n"),
			   WP_S_BYTES(first->data, first->len), WP_C_BYTES(ask->data, ask->len),
			   WP_S_BYTES(answer->data, answer->len) };
	wp_decode_check(NULL, steps, G_N_ELEMENTS(steps),
			"C1 [1,1] http 33 GET /a\nR1 [3,3] http 20 GET /a ok\n"
			"C2 [4,4] http2 25 GET /b\nR2 [5,5] http2 10 GET /b ok\n");
}
END_TEST

/*
 * Holes. "Sx words" were sent and lost. Ids still pair; a call whose begin, a return whose end is in
 * the hole is none; fields that refer to what was lost are unknown, those sent again are known.
 */
static const Row holes[] = {
	{ "in the answer: its end still answers",
	  { "C P H!1:GET/a", "S H1:200 D1:x", "Sx D1:lost", "S D1:x D!1:y" },
	  "C1 [1,1] http2 25 GET /a\n"
	  "R1 [2,4] http2 40 GET /a ok\n"
	  "resyncs 1\n" },
	{ "the end of the answer lost; others go on",
	  { "C P H!1:GET/a H!3:GET/b", "S H1:200", "Sx D!1:lost", "S H3:200 D!3:y" },
	  "C1 [1,1] http2 25 GET /a\n"
	  "C2 [1,1] http2 16 GET /b\n"
	  "R2 [4,4] http2 20 GET /b ok\n"
	  "calls-unanswered 1\n"
	  "resyncs 1\n" },
	{ "the head of the answer lost",
	  { "C P H!1:GET/a", "Sx H1:200", "S D1:x D!1:y" },
	  "C1 [1,1] http2 25 GET /a\n"
	  "R1 [3,3] http2 20 GET /a unknown\n"
	  "resyncs 1\n" },
	{ "the end of an answer may be lost: closing tells nothing",
	  { "C P H!1:GET/a H!3:GET/b", "S H1:200 H3:200", "Sx D!1:x", "S D3:x", "G" },
	  "C1 [1,1] http2 25 GET /a\n"
	  "C2 [1,1] http2 16 GET /b\n"
	  "R2 [2,4] http2 20 GET /b reset\n"
	  "calls-unanswered 1\n"
	  "resyncs 1\n" },
	{ "nor does giving up",
	  { "C P H!1:GET/a H!3:GET/b", "S H1:200 H3:200", "Sx D!1:x", "S D3:x", "C R1:8 R3:8" },
	  "C1 [1,1] http2 25 GET /a\nC2 [1,1] http2 16 GET /b\n"
	  "R2 [2,5] http2 20 GET /b reset\ncalls-unanswered 1\nresyncs 1\n" },
	{ "a request lost: its answer is nobody's",
	  { "C P H!1:GET/a", "Cx H!3:GET/b", "C H!5:GET/a", "S H!3:200 H!5:200 H!1:200" },
	  "C1 [1,1] http2 25 GET /a\n"
	  "C2 [3,3] http2 13 GET /a\n"
	  "R2 [4,4] http2 10 GET /a ok\n"
	  "R1 [4,4] http2 10 GET /a ok\n"
	  "returns-orphan 1\n"
	  "resyncs 1\n" },
	{ "the rest of a request lost: what came is the call",
	  { "C P H1:POST/a D1:x", "Cx D!1:lost", "C H!3:GET/b", "S H!1:200 H!3:200" },
	  "C1 [1,1] http2 35 POST /a\n"
	  "C2 [3,3] http2 16 GET /b\n"
	  "R1 [4,4] http2 10 POST /a ok\n"
	  "R2 [4,4] http2 10 GET /b ok\n"
	  "resyncs 1\n" },
	{ "fields that were lost are unknown until they are sent again",
	  { "C P H!1:GET/a", "Cx H!3:GET/b", "C H!5:GET/b", "C H!7:GET/b/c", "C H!9:GET/b/c",
	    "S H!9:200 H!7:200 H!5:200 H!1:200" },
	  "C1 [1,1] http2 25 GET /a\n"
	  "C2 [3,3] http2 13 GET (unknown)\n"
	  "C3 [4,4] http2 18 GET /b/c\n"
	  "C4 [5,5] http2 13 GET /b/c\n"
	  "R4 [6,6] http2 10 GET /b/c ok\n"
	  "R3 [6,6] http2 10 GET /b/c ok\n"
	  "R2 [6,6] http2 10 GET (unknown) ok\n"
	  "R1 [6,6] http2 10 GET /a ok\n"
	  "resyncs 1\n" },
	{ "a status that is unknown",
	  { "C P H1:POST/a.B/C" GRPC " D!1:$x H3:POST/a.B/C" GRPC " D!3:$x",
	    "Sx H1:200 D1:$ok H!1:" DONE, "S H3:200 D3:$ok H!3:" DONE },
	  "C1 [1,1] grpc 77 a.B/C\n"
	  "C2 [1,1] grpc 32 a.B/C\n"
	  "R2 [3,3] grpc 38 a.B/C unknown\n"
	  "calls-unanswered 1\n"
	  "resyncs 1\n" },
	{ "behind a packet that begins inside of a frame",
	  { "C P H!1:GET/a H!3:GET/b", "S H1:200", "s 40", "S D1:ab D!1:cd H3:200 D!3:x" },
	  "C1 [1,1] http2 25 GET /a\n"
	  "C2 [1,1] http2 16 GET /b\n"
	  "R1 [2,4] http2 32 GET /a ok\n"
	  "R2 [4,4] http2 20 GET /b ok\n"
	  "resyncs 1\n" },
	{ "calls in what the snap length hid of a packet",
	  { "C P H!1:GET/a", "S H!1:200", "C H!3:GET/b", "x 60", "S H!7:200", "C H!11:GET/c",
	    "S H!3:200 H!5:200 H!9:200 H!11:200" },
	  "C1 [1,1] http2 25 GET /a\n"
	  "R1 [2,2] http2 10 GET /a ok\n"
	  "C2 [3,3] http2 16 GET /b\n"
	  "C3 [3,3] http2 0\n"
	  "C4 [3,3] http2 0\n"
	  "C5 [3,3] http2 0\n"
	  "R4 [4,4] http2 10 ok\n"
	  "C6 [5,5] http2 16 GET /c\n"
	  "R2 [6,6] http2 10 GET /b ok\n"
	  "R3 [6,6] http2 10 ok\n"
	  "R5 [6,6] http2 10 ok\n"
	  "R6 [6,6] http2 10 GET /c ok\n"
	  "calls-unread 3\n"
	  "resyncs 1\n" },

	{ "calls in a packet that was lost, and in several that are far apart: nobody knows when",
	  { "C P H!1:GET/a", "S H!1:200", "c 60", "S H!5:200", "C H!7:GET/b", "x 60", "P 1000",
	    "C W7", "x 60", "S H!11:200", "C H!13:GET/c", "S H!13:200" },
	  "C1 [1,1] http2 25 GET /a\n"
	  "R1 [2,2] http2 10 GET /a ok\n"
	  "C2 [5,5] http2 16 GET /b\n"
	  "C3 [1009,1009] http2 16 GET /c\n"
	  "R3 [1010,1010] http2 10 GET /c ok\n"
	  "returns-orphan 2\n"
	  "calls-open 1\n"
	  "resyncs 3\n" },

};

START_TEST(holes_are_survived)
{
	check_rows(holes, G_N_ELEMENTS(holes), NULL, FALSE);
}
END_TEST

/* Begun before the capture: "C- words" were sent before. */
static const Row midstream[] = {
	{ "found by an exchange; old names are unknown",
	  { "C- P H1:POST/a.B/C" GRPC " D!1:$x", "S- H1:200 D1:$ok H!1:" DONE,
	    "C H3:POST/a.B/C" GRPC " D!3:$x", "S H3:200 D3:$ok H!3:" DONE,
	    "C H5:POST/a.B/D" GRPC " D!5:$x", "S H5:200 D5:$ok H!5:;grpc-status=7" },
	  "C1 [1,1] grpc 32 (unknown)\n"
	  "R1 [2,2] grpc 38 (unknown) unknown\n"
	  "C2 [3,3] grpc 39 a.B/D\n"
	  "R2 [4,4] grpc 52 a.B/D error\n" },
	{ "the first two that are seen begin before their bodies",
	  { "C- P H1:POST/a.B/C" GRPC " D!1:$x", "S- H1:200 D1:$ok H!1:" DONE,
	    "C H5:POST/a.B/E" GRPC " H7:POST/a.B/F" GRPC " D!5:$x D!7:$x",
	    "S H5:200 D5:$ok H!5:" DONE " H7:200 D7:$ok H!7:;grpc-status=9" },
	  "C1 [1,1] grpc 39 a.B/E\n"
	  "C2 [1,1] grpc 39 a.B/F\n"
	  "R1 [2,2] grpc 38 a.B/E unknown\n"
	  "R2 [2,2] grpc 52 a.B/F error\n" },
	{ "two calls begin before their bodies: the type of the first is not in its own body",
	  { "C- P H1:POST/a.B/C" GRPC " D!1:$x", "S- H1:200 D1:$ok H!1:" DONE,
	    "C H3:POST/a.B/D" GRPC " D!3:$x", "S H3:200 D3:$ok H!3:" DONE,
	    "C H5:POST/a.B/E" GRPC " H7:POST/a.B/F" GRPC " D!5:$x D!7:$x",
	    "S H5:200 D5:$ok H!5:" DONE " H7:200 D7:$ok H!7:;grpc-status=9" },
	  "C1 [1,1] grpc 39 a.B/D\n"
	  "R1 [2,2] grpc 38 a.B/D unknown\n"
	  "C2 [3,3] grpc 39 a.B/E\n"
	  "C3 [3,3] grpc 39 a.B/F\n"
	  "R2 [4,4] grpc 38 a.B/E unknown\n"
	  "R3 [4,4] grpc 52 a.B/F error\n" },
	{ "plain requests, without bodies",
	  { "C- P H!1:GET/a;accept=*/*", "S- H!1:200", "C H!3:GET/a;accept=*/*", "S H!3:200",
	    "C H!5:GET/b;accept=*/*", "S H5:200 D!5:x" },
	  "C1 [1,1] http2 14 GET (unknown)\n"
	  "R1 [2,2] http2 10 GET (unknown) ok\n"
	  "C2 [3,3] http2 17 GET /b\n"
	  "R2 [4,4] http2 20 GET /b ok\n" },
	{ "in a stream of messages in both directions, which lasts",
	  { "C- P H1:POST/a.B/Chat" GRPC " D1:$x", "S- H1:200 D1:$ok", "C D1:$a", "S D1:$c",
	    "C D1:$a", "S D1:$c", "C D1:$a", "S D1:$c", "C D1:$a", "S D1:$c", "C D1:$a", "S D1:$c",
	    "C D1:$a", "S D1:$c", "C D1:$a", "S D1:$c", "C H3:POST/a.B/D" GRPC " D!3:$x",
	    "S H3:200 D3:$ok H!3:;grpc-status=0" },
	  "C1 [15,15] grpc 39 a.B/D\n"
	  "R1 [16,16] grpc 52 a.B/D ok\n"
	  "bytes-skipped 170\n" },
	{ "answers to what was asked before",
	  { "C- P H!1:GET/a H!3:GET/a", "S H1:200 D!1:x", "C W1 H!5:GET/b", "S H3:200 D!3:x",
	    "S H5:200 D!5:x" },
	  "C1 [2,2] http2 16 GET /b\n"
	  "R1 [4,4] http2 20 GET /b ok\n"
	  "returns-orphan 1\n"
	  "bytes-skipped 20\n" },
};

START_TEST(midstream_is_found)
{
	WpRunOptions options = { .is_midstream = TRUE };
	check_rows(midstream, G_N_ELEMENTS(midstream), &options, FALSE);
	options.is_swapped = TRUE;
	check_rows(midstream, G_N_ELEMENTS(midstream), &options, FALSE);
}
END_TEST

/* Each packet cut to its first bytes: steps of a part that is there and a hole for the rest of it. */
START_TEST(snap_length)
{
	g_autoptr(WpHttp2Build) client = wp_http2_build_new();
	g_autoptr(WpHttp2Build) server = wp_http2_build_new();
	g_autoptr(GByteArray) start = wp_http2_build(client, "P T");
	g_autoptr(GByteArray) hello = wp_http2_build(server, "T");
	static const gsize kept = 30;
	WpStep steps[64] = { WP_C_BYTES(start->data, start->len),
			     WP_S_BYTES(hello->data, hello->len) };
	g_autoptr(GPtrArray) owner =
		g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
	gsize n = 2;
	for (int i = 0; i < 10; i++) {
		g_autofree char *ask = g_strdup_printf("Hn%d:POST/shop.Cart/Add" GRPC " D!%d:$x",
						       2 * i + 1, 2 * i + 1);
		g_autofree char *answer =
			g_strdup_printf("Hn%d:200;content-type=application/grpc D%d:$y H!%d:" DONE,
					2 * i + 1, 2 * i + 1, 2 * i + 1);
		for (int k = 0; k < 2; k++) {
			GByteArray *bytes = wp_http2_build(k ? server : client, k ? answer : ask);
			g_ptr_array_add(owner, bytes);
			steps[n++] = (WpStep){ k ? 'S' : 'C', (char *)bytes->data, kept };
			gsize rest = bytes->len - kept;
			steps[n++] = k ? (WpStep)WP_S_CUT(rest) : (WpStep)WP_C_CUT(rest);
		}
	}
	g_autofree char *got = wp_decode_run(NULL, steps, n);
	int n_returns = 0;
	for (const char *at = got; (at = strstr(at, " http2 41 POST /shop.Cart/Add ok")); at++)
		n_returns++;
	/* Behind the last one there is no packet that begins with a frame. */
	ck_assert_msg(n_returns == 10 &&
			      strstr(got, "\nR10 [22,22] http2 41 POST /shop.Cart/Add ok cut\n"
					  "returns-unread 9\nreturns-cut 1\n"),
		      "%s", got);
}
END_TEST

/* More at a time than are kept: the newest are right, the others are calls without a return. */
START_TEST(many_at_a_time)
{
	GString *asks = g_string_new("C P"), *rest = g_string_new("C "),
		*answers = g_string_new("S");
	const guint n = WP_HTTP2_MAX_STREAMS + 20;
	for (guint i = 0; i < n; i++)
		g_string_append_printf(asks, " H%u:POST/a", 2 * i + 1);
	for (guint i = n; i-- > 0;)
		g_string_append_printf(rest, "%sD!%u:x", i + 1 < n ? " " : "", 2 * i + 1);
	for (guint i = 0; i < n; i++)
		g_string_append_printf(answers, " H!%u:200", 2 * i + 1);
	g_string_erase(answers, 1, 1);
	g_string_insert_c(answers, 1, ' ');
	const char *steps[] = { asks->str, rest->str, answers->str };
	g_auto(Script) script = make_script(steps, G_N_ELEMENTS(steps));
	g_autofree char *got = wp_decode_run(NULL, script.steps, script.n);
	guint n_returns = 0;
	for (const char *at = got; (at = strstr(at, " http2 10 POST /a ok\n")); at++)
		n_returns++;
	ck_assert_uint_eq(n_returns, n);
	ck_assert_msg(strstr(got, "streams-evicted 20\n") != NULL, "no count");
	g_string_free(asks, TRUE);
	g_string_free(rest, TRUE);
	g_string_free(answers, TRUE);
}
END_TEST

/* A HEADERS over what is waited for; a block that never ends. Both are calls, without a name. */
START_TEST(blocks_too_long)
{
	static const guint8 long_head[] = { 0, 0xfc, 0x58, 1, 5, 0, 0, 0, 1 };
	static const guint8 open_head[] = { 0, 0, 1, 1, 1, 0, 0, 0, 3, 0x82 };
	static const guint8 more_head[] = { 0, 0x40, 0, 9, 0, 0, 0, 0, 3 };
	static const guint8 last_head[] = { 0, 0, 0, 9, 4, 0, 0, 0, 3 };
	g_autoptr(WpHttp2Build) client = wp_http2_build_new();
	g_autoptr(WpHttp2Build) server = wp_http2_build_new();
	g_autoptr(GByteArray) asks = wp_http2_build(client, "P T");
	g_autoptr(GByteArray) last = wp_http2_build(client, "H!5:GET/c");
	g_autoptr(GByteArray) answers = wp_http2_build(server, "T H!1:200 H!3:200 H!5:200");
	g_autofree guint8 *filling = g_malloc(0xfc58);

	memset(filling, 0x84, 0xfc58); /* ":path: /", again and again */
	g_byte_array_append(asks, long_head, sizeof long_head);
	g_byte_array_append(asks, filling, 0xfc58);
	g_byte_array_append(asks, open_head, sizeof open_head);
	for (int i = 0; i < 20; i++) {
		g_byte_array_append(asks, more_head, sizeof more_head);
		g_byte_array_append(asks, filling, 0x4000);
	}
	g_byte_array_append(asks, last_head, sizeof last_head);
	g_byte_array_append(asks, last->data, last->len);
	WpStep steps[] = { WP_C_BYTES(asks->data, asks->len),
			   WP_S_BYTES(answers->data, answers->len) };
	for (gsize cut = 0; cut < 5000; cut += 999) {
		WpRunOptions options = { .cut = cut };
		g_autofree char *got = wp_decode_run(&options, steps, G_N_ELEMENTS(steps));
		ck_assert_str_eq(got, "C1 [1,1] http2 64609 (unknown)\n"
				      "C2 [1,1] http2 327879 GET /\nC3 [1,1] http2 25 GET /c\n"
				      "R1 [2,2] http2 10 (unknown) ok\nR2 [2,2] http2 10 GET / ok\n"
				      "R3 [2,2] http2 10 GET /c ok\nmessages-too-long 3\n");
	}
}
END_TEST

START_TEST(tokens)
{
	static const struct {
		const char *call;
		int n;
	} rows[] = {
		{ "C P H!1:GET/item/ord-77?u=cust9", 2 },
		{ "C P H!1:GET/a;x-request-id=req-88;user-agent=curl7;cookie=sid12345", 2 },
		{ "C P H1:POST/a" JSON " D!1:{\"order\":\"ord-77\"}", 1 },
		{ "C P H1:POST/a;content-type=image/png D!1:ord-77", 0 },
		{ "C P H1:POST/a.B/C" GRPC ";x-order-id=ord-78 D!1:$ord-77", 2 },
		{ "C P H1:POST/a.B/C" GRPC " Dp!1:$ord-77", 1 },
	};
	WpRunOptions options = { .show_tokens = TRUE, .no_counters = TRUE };
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_auto(Script) script = make_script(&rows[i].call, 1);
		g_autofree char *got = wp_decode_run(&options, script.steps, script.n);
		g_autofree char *end = g_strdup_printf(" tokens=%d\n", rows[i].n);
		ck_assert_msg(g_str_has_suffix(got, end), "row %d: %s", (int)i, got);
		wp_decode_check(&options, script.steps, script.n, got);
	}
}
END_TEST

START_TEST(server_names)
{
	const char *steps[] = { "C P H!1:GET/a" };
	g_auto(Script) script = make_script(steps, 1);
	g_autofree char *got = wp_decode_run_names(NULL, script.steps, script.n);
	ck_assert_str_eq(got, "10.0.0.2=shop.lan http-host\n");
}
END_TEST

/* --- HPACK --- */

static void
append_text(gpointer data, const char *name, gsize name_length, const char *value, gsize length)
{
	g_string_append_printf(data, "%s=%s;", name ? name : "?", name ? value : "");
}

static void
append_value(gpointer data, const char *name, gsize name_length, const char *value, gsize length)
{
	g_string_append_printf(data, "%s;", name ? value : "?");
}

/* The requests of RFC 7541 appendix C.4, all or from the second on. */
START_TEST(hpack_examples)
{
	static const struct {
		const char *bytes;
		gsize n;
		const char *whole;
		const char *late;
	} rows[] = {
		{ "\x82\x86\x84\x41\x8c\xf1\xe3\xc2\xe5\xf2\x3a\x6b\xa0\xab\x90\xf4\xff", 17,
		  ":method=GET;:scheme=http;:path=/;:authority=www.example.com;", NULL },
		{ "\x82\x86\x84\xbe\x58\x86\xa8\xeb\x10\x64\x9c\xbf", 12,
		  ":method=GET;:scheme=http;:path=/;:authority=www.example.com;"
		  "cache-control=no-cache;",
		  ":method=GET;:scheme=http;:path=/;?=;cache-control=no-cache;" },
		{ "\x82\x87\x85\xbf\x40\x88\x25\xa8\x49\xe9\x5b\xa9\x7d\x7f\x89\x25\xa8\x49\xe9"
		  "\x5b\xb8\xe8\xb4\xbf",
		  24,
		  ":method=GET;:scheme=https;:path=/index.html;:authority=www.example.com;"
		  "custom-key=custom-value;",
		  ":method=GET;:scheme=https;:path=/index.html;?=;custom-key=custom-value;" },
	};
	for (int late = 0; late < 2; late++) {
		WpHpack *hpack = wp_hpack_new(!late);
		for (gsize i = (gsize)late; i < G_N_ELEMENTS(rows); i++) {
			GString *got = g_string_new(NULL);
			ck_assert(wp_hpack_read(hpack, (const guint8 *)rows[i].bytes, rows[i].n,
						WP_HPACK_WHOLE, append_text, got));
			ck_assert_str_eq(got->str, late ? rows[i].late : rows[i].whole);
			g_string_free(got, TRUE);
		}
		wp_hpack_free(hpack);
	}
}
END_TEST

/* An old name with a new value takes its place in the table; sizes are let pass. */
START_TEST(hpack_late)
{
	static const char block[] = "\x3f\xe1\x1f"               /* size 4096 */
				    "\x7f\x01\x01v"              /* added: index 64, "v" */
				    "\x40\x01n\x01w"             /* added: "n", "w" */
				    "\x0f\x2f\x01u"              /* not added: index 62, "u" */
				    "\xbf\xbe\xc0\x1f\x32\x01z"; /* 63, 62, 64; never: 65, "z" */
	GString *got = g_string_new(NULL);
	WpHpack *hpack = wp_hpack_new(FALSE);
	ck_assert(wp_hpack_read(hpack, (const guint8 *)block, sizeof block - 1, WP_HPACK_WHOLE,
				append_text, got));
	ck_assert_str_eq(got->str, "?=;n=w;n=u;?=;n=w;?=;?=;");
	g_string_free(got, TRUE);
	wp_hpack_free(hpack);
}
END_TEST

/*
 * Behind a hole: the names of the next block tell how many entries were added in it. Blocks are those of
 * HEADERS, "x" before one that was lost; "-" is a hole in which nothing was.
 */
START_TEST(hpack_behind_holes)
{
	static const struct {
		const char *blocks[5];
		const char *last;
	} rows[] = {
		{ { "H1:GET/a", "-", "H1:GET/a" }, "GET;http;/a;shop.lan;" },
		{ { "H1:GET/a", "xH1:GET/b", "H1:GET/a" }, "GET;http;/a;shop.lan;" },
		{ { "H1:GET/a", "xH1:GET/b;x-y=1;x-z=2", "H1:GET/a" }, "GET;http;/a;shop.lan;" },
		/* What was added in the hole is unknown, what came before is known again. */
		{ { "H1:GET/a", "xH1:GET/b", "H1:GET/a", "H1:GET/b" }, "GET;http;?;shop.lan;" },
		{ { "H1:GET/a", "xH1:GET/b", "H1:GET/a;c=d", "H1:GET/a;c=d" },
		  "GET;http;/a;shop.lan;d;" },
		/* Nothing but what is in the static table tells nothing, and loses nothing. */
		{ { "H1:GET/a", "xH1:GET/b", "H1:200", "H1:GET/a" }, "GET;http;/a;shop.lan;" },
		/* One name of the table is not enough. */
		{ { "H1:;a=1", "-", "H1:;a=1" }, "?;" },
		/* Two numbers fit: none or two. */
		{ { "H1:;a=1;b=1", "H1:;a=2;b=2", "-", "H1:;a=1;b=1" }, "?;?;" },
		/* A list of names that was never seen. */
		{ { "H1:GET/a;a=1", "-", "H1:;a=1;:authority=shop.lan" }, "?;?;" },
		/* So, and with entries of its own: all begins anew. */
		{ { "H1:GET/a;a=1", "-", "H1:;a=1;b=2", "H1:GET/a;b=2" }, "GET;http;?;?;2;" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpHttp2Build) build = wp_http2_build_new();
		WpHpack *hpack = wp_hpack_new(TRUE);
		g_autoptr(GString) got = g_string_new(NULL);
		for (int k = 0; k < 5 && rows[i].blocks[k]; k++) {
			const char *word = rows[i].blocks[k];
			g_autoptr(GByteArray) frame =
				wp_http2_build(build, *word == '-' ? "" : word + (*word == 'x'));
			g_string_truncate(got, 0);
			if (*word == 'x' || *word == '-')
				wp_hpack_lose(hpack);
			else
				wp_hpack_read(hpack, frame->data + 9, frame->len - 9,
					      WP_HPACK_WHOLE, append_value, got);
		}
		ck_assert_msg(strcmp(got->str, rows[i].last) == 0, "row %d: %s", (int)i, got->str);
		wp_hpack_free(hpack);
	}
}
END_TEST

/* Blocks that are none: refused, and the next one is read as far as it can be. */
START_TEST(hpack_hostile)
{
	static const struct {
		const char *bytes;
		gsize n;
	} rows[] = {
		{ "\x80", 1 },                              /* index 0 */
		{ "\xff\xff\xff\xff\xff\xff\x7f", 7 },      /* an endless index */
		{ "\xbe", 1 },                              /* an index that is not there */
		{ "\x40\x01n\x7f\xff\xff\xff\xff\x7f", 9 }, /* a string of 2^35 */
		{ "\x40\x05n", 3 },                         /* cut */
		{ "\x00\x81\xff\x00", 4 },                  /* Huffman: padding of 8 bits */
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		GString *got = g_string_new(NULL);
		WpHpack *hpack = wp_hpack_new(TRUE);
		ck_assert(!wp_hpack_read(hpack, (const guint8 *)rows[i].bytes, rows[i].n,
					 WP_HPACK_WHOLE, append_text, got));
		ck_assert(wp_hpack_read(hpack, (const guint8 *)"\x82\xbe", 2, WP_HPACK_WHOLE,
					append_text, got));
		ck_assert_str_eq(got->str, ":method=GET;?=;");
		g_string_free(got, TRUE);
		wp_hpack_free(hpack);
	}
}
END_TEST

/* --- recognising --- */

static WpProbeVerdict
probe_words(const char *client_words, const char *server_words, gboolean from_start, gsize most)
{
	g_autoptr(WpHttp2Build) client_build = wp_http2_build_new();
	g_autoptr(WpHttp2Build) server_build = wp_http2_build_new();
	g_autoptr(GByteArray) client = wp_http2_build(client_build, client_words);
	g_autoptr(GByteArray) server = wp_http2_build(server_build, server_words);
	WpProbe probe = { .client = wp_bytes(client->data, MIN(most, client->len)),
			  .server = wp_bytes(server->data, MIN(most, server->len)),
			  .from_start = from_start };
	return wp_decoder_http2.probe(&probe);
}

/* In the middle of bodies; a frame as large as gRPC agrees on, behind another one only. */
START_TEST(probes_of_bodies)
{
	static const struct {
		const char *client;
		gsize client_length;
		const char *server;
		gsize server_length;
		WpProbeVerdict expected;
	} rows[] = {
#define BODY       "\0\0\4\0\0\0\0\0\25body"
#define MORE_ROOM  "\0\0\4\10\0\0\0\0\25\0\0\20\0"
#define HEADERS    "\0\0\1\1\4\0\0\0\25\210"
#define LARGE_BODY "\3\0\0\0\0\0\0\0\25xxxx"
#define ROW(client, server, verdict)                                                               \
	{ client, sizeof(client) - 1, server, sizeof(server) - 1, verdict }
		ROW(BODY BODY, MORE_ROOM, WP_PROBE_MORE),
		ROW(MORE_ROOM MORE_ROOM, BODY BODY, WP_PROBE_MORE),
		ROW(BODY, MORE_ROOM, WP_PROBE_NO),
		ROW(BODY BODY, MORE_ROOM "\0", WP_PROBE_NO),
		ROW(MORE_ROOM, HEADERS LARGE_BODY, WP_PROBE_LIKELY),
		ROW(MORE_ROOM, LARGE_BODY, WP_PROBE_NO),
#undef ROW
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		WpProbe probe = {
			.client = wp_bytes((const guint8 *)rows[i].client, rows[i].client_length),
			.server = wp_bytes((const guint8 *)rows[i].server, rows[i].server_length),
			.server_port = 9999,
		};
		ck_assert_msg(wp_decoder_http2.probe(&probe) == rows[i].expected, "row %d", (int)i);
		/* What Kafka reads there is no request of its own. */
		ck_assert_msg(wp_decoder_by_name("kafka")->probe(&probe) < WP_PROBE_LIKELY,
			      "row %d, Kafka", (int)i);
		probe.server.length = 0;
		ck_assert_msg(wp_decoder_by_name("kafka")->probe(&probe) < WP_PROBE_LIKELY,
			      "row %d, Kafka, one side", (int)i);
	}
}
END_TEST

START_TEST(probes)
{
	static const struct {
		const char *client;
		const char *server;
		gboolean from_start;
		gsize most;
		WpProbeVerdict expected;
	} rows[] = {
		{ "P", "", TRUE, 1, WP_PROBE_MORE },
		{ "P", "", TRUE, 23, WP_PROBE_MORE },
		{ "P", "", TRUE, 24, WP_PROBE_SURE },
		{ "P", "T", FALSE, 99, WP_PROBE_SURE },
		{ "", "T", TRUE, 3, WP_PROBE_NO },
		{ "", "T", TRUE, 4, WP_PROBE_MORE },
		{ "", "T", TRUE, 99, WP_PROBE_MORE },
		{ "", "Q", TRUE, 99, WP_PROBE_NO },
		{ "H!1:GET/a", "T", TRUE, 99, WP_PROBE_NO },
		{ "H!1:GET/a", "", FALSE, 99, WP_PROBE_NO },
		{ "H!1:GET/a", "", FALSE, 14, WP_PROBE_LIKELY },
		{ "H1:PUT/a W1", "", FALSE, 99, WP_PROBE_LIKELY },
		{ "H1:;a=b W1", "", FALSE, 99, WP_PROBE_NO },
		{ "H!1:GET/a", "H!1:200", FALSE, 99, WP_PROBE_SURE },
		{ "H!3:GET/a", "H!1:200", FALSE, 99, WP_PROBE_NO },
		{ "H!3:GET/a", "H1:200 D!1:x", FALSE, 99, WP_PROBE_LIKELY },
		{ "W0 W1", "H1:200 D!1:x", FALSE, 99, WP_PROBE_LIKELY },
		{ "W0 W1 W3", "W0 W1", FALSE, 99, WP_PROBE_MORE },
		{ "W0 W1 W3", "W0 W1", FALSE, 30, WP_PROBE_NO },
		{ "H1:200 D!1:x", "H!1:GET/a", FALSE, 99, WP_PROBE_NO },
		{ "H!1:GET/a", "F99:x H1:200 D1:x", FALSE, 99, WP_PROBE_NO },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
		ck_assert_msg(probe_words(rows[i].client, rows[i].server, rows[i].from_start,
					  rows[i].most) == rows[i].expected,
			      "row %d", (int)i);
}
END_TEST

/* Random bytes, and bytes with many zeros and ones as binary protocols have, are no frames. */
START_TEST(noise_is_not_taken)
{
	g_autoptr(GRand) random = g_rand_new_with_seed(9113);
	guint n_taken = 0;
	for (int i = 0; i < 200000; i++) {
		guint8 bytes[2][64];
		for (int k = 0; k < 2 * 64; k++) {
			guint32 r = g_rand_int(random);
			guint8 small = r >> 8 & 7 ? 0 : (guint8)(r >> 16 & 7);
			bytes[k / 64][k % 64] = i & 1 ? (guint8)(r >> 24) : small;
		}
		WpProbe probe = { .client = wp_bytes(bytes[0], 64),
				  .server = wp_bytes(bytes[1], i & 2 ? 64 : 0) };
		n_taken += wp_decoder_http2.probe(&probe) != WP_PROBE_NO;
	}
	ck_assert_uint_eq(n_taken, 0);
}
END_TEST

/* Damaged frames: nothing but what is right comes out, and the next call is found. */
START_TEST(hostile)
{
	static const struct {
		const char *bytes;
		gsize n;
	} rows[] = {
		{ "\0\0\1\4\0\0\0\0\0x", 10 },         /* SETTINGS of 1 byte */
		{ "\0\0\10\6\0\0\0\0\1PINGPONG", 17 }, /* PING on a stream */
		{ "\0\0\1\0\0\0\0\0\0x", 10 },         /* DATA of the connection */
		{ "\0\0\1\1\54\0\0\0\7\377", 10 },     /* HEADERS: padding over its length */
		{ "\0\0\1\11\4\0\0\0\7x", 10 },        /* CONTINUATION of nothing */
		{ "\377\377\377\143\0\0\0\0\7x", 10 }, /* a long frame of an unknown type */
		{ "\0\0\1\1\0\0\0\0\7\202\0\0\0\0\0\0\0\0\1", 19 },       /* a block, then DATA */
		{ "\0\0\7\1\5\0\0\0\7\377\377\377\377\377\377\177", 16 }, /* no HPACK */
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		const char *steps[] = { "C P T H!1:GET/a", "S T H!1:200 H3:200", "C H!9:GET/a",
					"S H!9:200" };
		g_auto(Script) script = make_script(steps, G_N_ELEMENTS(steps));
		WpStep all[] = { script.steps[0], script.steps[1],
				 WP_C_BYTES(rows[i].bytes, rows[i].n), script.steps[2],
				 script.steps[3] };
		g_autofree char *got = wp_decode_run(NULL, all, G_N_ELEMENTS(all));
		ck_assert_msg(strstr(got, "[4,4] http2 13 GET ") != NULL &&
				      strstr(got, "[5,5] http2 10 GET ") != NULL,
			      "row %d:\n%s", (int)i, got);
	}
}
END_TEST

/* Packets behind a hole that could be frames at many places cost no more than others. */
START_TEST(no_frames_at_many_places)
{
	static const guint8 empty[] = { 0, 0, 0, 1, 4, 0, 0, 0, 1 };
	const char *steps[] = { "C P T H!1:GET/a", "S T H!1:200", "C H!9:GET/b", "S H!9:200" };
	g_auto(Script) script = make_script(steps, G_N_ELEMENTS(steps));
	g_autoptr(GByteArray) noise = g_byte_array_new();
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(WpStep));
	const WpStep hole = WP_C_HOLE(8);
	const int n = wp_test_number(2000, 50), last = 2 * n + 5;
	g_autofree char *call = g_strdup_printf("R2 [%d,%d] http2 10 GET /b ok\n", last, last);

	while (noise->len < 60000)
		g_byte_array_append(noise, empty, sizeof empty);
	g_byte_array_append(noise, empty, 4);
	g_array_append_vals(all, script.steps, 2);
	for (int i = 0; i < n; i++) {
		WpStep step = WP_C_BYTES(noise->data, noise->len);
		g_array_append_val(all, hole);
		g_array_append_val(all, step);
	}
	g_array_append_val(all, hole);
	g_array_append_vals(all, script.steps + 2, 2);
	g_autofree char *got = wp_decode_run(NULL, (WpStep *)(void *)all->data, all->len);
	ck_assert_msg(strstr(got, call) != NULL, "%s", got);
}
END_TEST

/* Every prefix of a call and of an answer waits. */
START_TEST(prefixes)
{
	const char *steps[] = { "C P T H1:POST/a.B/C" GRPC " D!1:$x", "S H1:200 D1:$ok H!1:" DONE };
	g_auto(Script) script = make_script(steps, 2);
	WpRunOptions options = { .no_counters = TRUE };
	for (gsize n = 0; n <= script.steps[1].length; n++) {
		WpStep two[] = { script.steps[0], { 'S', script.steps[1].data, n } };
		g_autofree char *got = wp_decode_run(&options, two, 2);
		ck_assert_int_eq(strstr(got, "R1") != NULL, n == script.steps[1].length);
	}
	/* Without the preface and SETTINGS. */
	g_autofree char *whole =
		g_strdup_printf(" grpc %d a.B/C\n", (int)script.steps[0].length - 24 - 21);
	for (gsize n = 1; n <= script.steps[0].length; n++) {
		WpStep one[] = { { 'C', script.steps[0].data, n } };
		g_autofree char *got = wp_decode_run(&options, one, 1);
		ck_assert_int_eq(strstr(got, whole) != NULL, n == script.steps[0].length);
	}
}
END_TEST

WP_SUITE("decode-http2", plain_requests, grpc_calls, resets_and_ends, special_streams, upgrade,
	 holes_are_survived, midstream_is_found, probes_of_bodies, snap_length, many_at_a_time,
	 blocks_too_long, tokens, server_names, hpack_examples, hpack_late, hpack_behind_holes,
	 hpack_hostile, probes, noise_is_not_taken, hostile, no_frames_at_many_places, prefixes)
