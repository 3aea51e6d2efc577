/* WebSocket through the real stream; and server-sent events, which HTTP/1 turns into messages as well. */
#include "tests/support/byte-rows.h"
#include "tests/support/suite.h"

#define ASK    "C 'GET /chat HTTP/1.1' r 'Upgrade: websocket' r r"
#define SWITCH "S 'HTTP/1.1 101 -' r 'Upgrade: WebSocket' r r"
#define OPENED                                                                                     \
	"C1 [1,1] http 42 GET /chat\n"                                                             \
	"R1 [2,2] http 38 GET /chat ok\n"

/* Masks are 0, so that the text can be read, but for one. */
static const WpByteRow messages[] = {
	{ "text and binary, two in a packet, and a long one",
	  { ASK, SWITCH, "C b:0x81 b:0x85 w:0 'hello'",
	    "S b:0x82 b:3 x:010203 b:0x81 b:0x7e h:300 0:100", "S 0:200",
	    "C b:0x82 b:0xff q:70000 w:0 0:10", "C 0:69990" },
	  OPENED "M2 [3,3] websocket 11 text unknown\n"
		 "m3 [4,4] websocket 5 binary unknown\n"
		 "m4 [4,5] websocket 304 text unknown\n"
		 "M5 [6,7] websocket 70014 binary unknown\n" },
	{ "fragments are joined; a ping between them is not part",
	  { ASK, SWITCH, "C b:1 b:0x82 w:0 'he'", "C b:0x89 b:0x80 w:0", "S b:0x8a b:0",
	    "C b:0 b:0x81 w:0 'l'", "C b:0x80 b:0x82 w:0 'lo'" },
	  OPENED "M2 [3,7] websocket 23 text unknown\n"
		 "M3 [4,4] websocket 6 ping unknown setup\n"
		 "m4 [5,5] websocket 2 pong unknown setup\n" },
	{ "compressed; closed",
	  { ASK, SWITCH, "C b:0xc1 b:0x82 w:1 x:f248", "S b:0xc1 b:2 x:f248", "S b:0x88 b:2 h:1000",
	    "C b:0x88 b:0x82 w:7 h:9", "F", "G" },
	  OPENED "M2 [3,3] websocket 8 text unknown\n"
		 "m3 [4,4] websocket 4 text unknown\n"
		 "m4 [5,5] websocket 4 close unknown setup\n"
		 "M5 [6,6] websocket 8 close unknown setup\n" },
	{ "the first message comes with the 101",
	  { ASK, "S 'HTTP/1.1 101 -' r 'Upgrade: websocket' r r b:0x81 b:2 'hi'" },
	  OPENED "m2 [2,2] websocket 4 text unknown\n" },
	{ "a message that does not end is none",
	  { ASK, SWITCH, "C b:1 b:0x82 w:0 'he'", "F" },
	  OPENED },
};

START_TEST(what_is_said)
{
	wp_byte_rows_check(NULL, messages, G_N_ELEMENTS(messages));
}
END_TEST

static const WpByteRow broken[] = {
	{ "no such opcode; a continuation of nothing",
	  { ASK, SWITCH, "S b:0x83 b:0x78 'x'", "S b:0x80 b:1 'x'", "S b:0x81 b:5 'hello'" },
	  OPENED "m2 [5,5] websocket 7 text unknown\nresyncs 1\nbytes-skipped 6\n" },
	{ "a length in a longer form than needed",
	  { ASK, SWITCH, "S b:0x82 b:0x7e h:3 'abc'", "S b:0x81 b:4 'abcd'" },
	  OPENED "m2 [4,4] websocket 6 text unknown\nresyncs 1\nbytes-skipped 7\n" },
	{ "a hole in a payload that is skipped",
	  { ASK, SWITCH, "S b:0x82 b:0x7e h:1000 0:100", "s 800", "S 0:100 b:0x82 b:1 'x'" },
	  OPENED "m2 [3,5] websocket 1004 binary unknown\n"
		 "m3 [5,5] websocket 3 binary unknown\n" },
	{ "a hole over an end: what follows begins with a frame, and not with the rest of one",
	  { ASK, SWITCH, "S b:1 b:5 'hello'", "s 10", "S b:0x80 b:1 'x'", "S 'lo'",
	    "S b:0x82 b:100 'x'", "S b:0x81 b:5 'hello'" },
	  OPENED "m2 [8,8] websocket 7 text unknown\nresyncs 1\nbytes-skipped 8\n" },
};

START_TEST(what_is_broken)
{
	wp_byte_rows_check(NULL, broken, G_N_ELEMENTS(broken));
}
END_TEST

static const WpByteRow joined[] = {
	{ "text, masked",
	  { "mid", "C b:0x81 b:0x85 x:01020304 x:6967 x:6f68 x:6e", "S b:0x81 b:5 'world'" },
	  "M1 [1,1] websocket 11 text unknown\nm2 [2,2] websocket 7 text unknown\n" },
	{ "packed, of both sides",
	  { "mid", "C b:0xc1 b:0x82 w:7 'ab'", "S b:0xc1 b:3 'abc'" },
	  "M1 [1,1] websocket 8 text unknown\nm2 [2,2] websocket 5 text unknown\n" },
	{ "the server alone, text",
	  { "mid", "S b:0x81 b:5 'hello'", "S b:0x81 b:5 'again'" },
	  "m1 [1,1] websocket 7 text unknown\nm2 [2,2] websocket 7 text unknown\n" },
};

START_TEST(from_the_middle)
{
	wp_byte_rows_check(NULL, joined, G_N_ELEMENTS(joined));
}
END_TEST

START_TEST(tokens)
{
	static const WpByteRow values[] = {
		{ "of text as it was before it was masked",
		  { "mid", "C b:0x81 b:0x8c x:20202020 x:4f524445520d17170d414243" },
		  "M1 [1,1] websocket 18 text unknown tokens=1\n" },
	};
	WpRunOptions options = { .show_tokens = TRUE };
	wp_byte_rows_check(&options, values, G_N_ELEMENTS(values));
}
END_TEST

/* --- server-sent events --- */

#define SUBSCRIBE "C 'GET /e HTTP/1.1' r r"
#define EVENTS    "'HTTP/1.1 200 OK' r 'Content-Type: text/event-stream' r"
#define CHUNKED   "S " EVENTS " 'Transfer-Encoding: chunked' r r"
#define HEADED(n)                                                                                  \
	"C1 [1,1] http 19 GET /e\n"                                                                \
	"R1 [2,2] http " #n " GET /e ok wait\n"

static const WpByteRow events[] = {
	{ "each an event, until the server closes; comments; names",
	  { SUBSCRIBE, "S " EVENTS " r", "S 'data: 1' x:0a0a", "S ': alive' x:0a0a",
	    "S 'event: price 42' x:0a 'data: 7' x:0a0a 'id: 3' x:0a", "S 'data: 8' r r r 'data: x'",
	    "G" },
	  HEADED(52) "m2 [3,3] sse 9 event message unknown\n"
		     "m3 [4,4] sse 9 event comment unknown setup\n"
		     "m4 [5,5] sse 25 event price {} unknown\n"
		     "m5 [5,6] sse 17 event message unknown\n" },
	{ "in chunks: two in one, one in two; then another request",
	  { SUBSCRIBE, CHUNKED, "S '12' r 'data: 1' x:0a0a 'data: 2' x:0a0a r",
	    "S '6' r 'event:' r", "S '8' r 'x' x:0a 'data:' x:0a r '1' r x:0a r", "S '0' r r",
	    "C 'GET /f HTTP/1.1' r r", "S 'HTTP/1.1 204 -' r r" },
	  HEADED(80) "m2 [3,3] sse 9 event message unknown\n"
		     "m3 [3,3] sse 11 event message unknown\n"
		     "m4 [4,5] sse 27 event x unknown\n"
		     "C5 [7,7] http 19 GET /f\nR5 [8,8] http 18 GET /f ok\n" },
	{ "of a known length; packed ones cannot be told apart",
	  { SUBSCRIBE, "S " EVENTS " 'Content-Length: 9' r r 'data: 1' x:0a0a",
	    "C 'GET /f HTTP/1.1' r r", "S " EVENTS " 'Content-Encoding: gzip' r r 'data'", "G" },
	  HEADED(71) "m2 [2,2] sse 9 event message unknown\n"
		     "C3 [3,3] http 19 GET /f\nR3 [4,4] http 80 GET /f ok wait\n" },
	{ "a hole: the event that follows may have begun in it",
	  { SUBSCRIBE, CHUNKED, "S '9' r 'data: 1' x:0a0a r", "s 14", "S '9' r 'data: 3' x:0a0a r",
	    "S '9' r 'data: 4' x:0a0a r" },
	  HEADED(80) "m2 [3,3] sse 11 event message unknown\n"
		     "m3 [6,6] sse 11 event message unknown\nresyncs 1\n" },
	{ "from the middle",
	  { "mid", "S '9' r 'data: 3' x:0a0a r", "S '9' r 'data: 4' x:0a0a r" },
	  "m1 [2,2] sse 11 event message unknown\n" },
};

START_TEST(server_sent_events)
{
	wp_byte_rows_check(NULL, events, G_N_ELEMENTS(events));
}
END_TEST

WP_SUITE("decode-websocket", what_is_said, what_is_broken, from_the_middle, tokens,
	 server_sent_events)
