/* A PROXY header in front of a flow: passed over, and the protocol behind it is found. */
#include "tests/support/byte-rows.h"
#include "tests/support/suite.h"

#define LINE  "'PROXY TCP4 192.0.2.7 192.0.2.8 56324 443' r"
#define MAGIC "x:0d0a0d0a000d0a515549540a "
#define GET   "'GET /a HTTP/1.1' r r"
#define OK    "S 'HTTP/1.1 200 OK' r 'Content-Length: 0' r r"

static const WpByteRow headers[] = {
	{ "version 1",
	  { "C " LINE GET, OK },
	  "C1 [1,1] http 19 GET /a\nR1 [2,2] http 38 GET /a ok\n" },
	{ "in a packet of its own; over IPv6; unknown",
	  { "C 'PROXY TCP6 2001:db8::1 2001:db8::2 4 5' r", "C " GET, OK },
	  "C1 [2,2] http 19 GET /a\nR1 [3,3] http 38 GET /a ok\n" },
	{ "unknown",
	  { "C 'PROXY UNKNOWN' r " GET, OK },
	  "C1 [1,1] http 19 GET /a\nR1 [2,2] http 38 GET /a ok\n" },
	{ "version 2, with more than addresses",
	  { "C " MAGIC "b:0x21 b:0x11 (h 0:12 b:2 (h 'shop.lan' ) ) '*1' r '$4' r 'PING' r",
	    "S '+PONG' r" },
	  "C1 [1,1] redis 14 PING\nR1 [2,2] redis 7 PING ok\n" },
	{ "version 2 of a health check; then the server speaks first",
	  { "C " MAGIC "b:0x20 b:0 h:0", "S 'INFO {\"server_id\":\"x\",\"proto\":1}' r",
	    "C 'CONNECT {}' r" },
	  "m1 [2,2] nats 34 INFO unknown setup\nM2 [3,3] nats 12 CONNECT unknown setup\n" },
	{ "nothing behind it", { "C " LINE, "F", "G" }, "" },
	{ "what nobody knows behind it",
	  { "C " LINE "'hello'", "S 'world'" },
	  "C1 [1,1] unknown 5\nR1 [2,2] unknown 5 unknown\nflows-undecoded 1\n" },
};

START_TEST(passed_over)
{
	wp_byte_rows_check(NULL, headers, G_N_ELEMENTS(headers));
}
END_TEST

static const WpByteRow others[] = {
	{ "no such family",
	  { "C 'PROXY TCP5 192.0.2.7 192.0.2.8 56324 443' r", "S 'x'" },
	  "C1 [1,1] unknown 42\nR1 [2,2] unknown 1 unknown\nflows-undecoded 1\n" },
	{ "without an end",
	  { "C 'PROXY TCP4 ' 0:200", "S 'x'" },
	  "C1 [1,1] unknown 211\nR1 [2,2] unknown 1 unknown\nflows-undecoded 1\n" },
	{ "addresses that are too short",
	  { "C " MAGIC "b:0x21 b:0x11 h:4 w:0", "S 'x'" },
	  "C1 [1,1] unknown 20\nR1 [2,2] unknown 1 unknown\nflows-undecoded 1\n" },
	{ "cut",
	  { "C 'PROXY TC'", "S 'x'" },
	  "C1 [1,1] unknown 8\nR1 [2,2] unknown 1 unknown\nflows-undecoded 1\n" },
};

START_TEST(not_such)
{
	wp_byte_rows_check(NULL, others, G_N_ELEMENTS(others));
}
END_TEST

/* In mid-stream nothing is a header; a protocol that the user names may have one in front. */
START_TEST(named_by_the_user)
{
	static const WpByteRow named[] = {
		{ "one that none would guess",
		  { "C " LINE "'PING' r", "S '+PONG' r" },
		  "C1 [1,1] redis 6 PING\nR1 [2,2] redis 7 PING ok\n" },
		{ "without a header",
		  { "C 'PING' r", "S '+PONG' r" },
		  "C1 [1,1] redis 6 PING\nR1 [2,2] redis 7 PING ok\n" },
	};
	WpRunOptions options = { .forced = wp_decoder_by_name("redis") };
	wp_byte_rows_check(&options, named, G_N_ELEMENTS(named));
}
END_TEST

WP_SUITE("proxy-header", passed_over, not_such, named_by_the_user)
