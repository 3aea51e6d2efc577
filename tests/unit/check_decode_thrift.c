/* Thrift through the real stream. */
#include "tests/support/byte-rows.h"
#include "tests/support/suite.h"

/* Binary: a message of TYPE with its number; then fields; 1: "order-77" text, 2: a list of structs, a map. */
#define BINARY(type, name, number) "x:800100 b:" type " (w '" name "' ) w:" number " "
#define TEXT                       "b:11 h:1 (w 'order-77' ) "
#define NESTED                                                                                     \
	"b:15 h:2 b:12 w:2 b:8 h:1 w:1234 b:0 b:0 "                                                \
	"b:13 h:3 b:11 b:10 w:1 (w 'k' ) q:7 "                                                     \
	"b:14 h:4 b:2 w:2 x:0001 b:6 h:5 h:9 b:4 h:6 0:8 b:13 h:7 b:11 b:11 w:0 "
#define STOP    "b:0 "
#define VOID    STOP
#define SUCCESS "b:8 h:0 w:5 b:0 "

/* The same in compact. */
#define COMPACT(type, name, number) "x:82" type " v:" number " (v '" name "' ) "
#define TEXT_C                      "x:18 (v 'order-77' ) "
#define NESTED_C                                                                                   \
	"x:19 x:2c x:15 v:2468 b:0 b:0 "                                                           \
	"x:1b v:1 x:86 (v 'k' ) v:14 "                                                             \
	"x:1a x:21 x:0102 x:14 v:18 x:17 0:8 x:1b v:0 x:11 x:02 v:40 "

static const WpByteRow rows[] = {
	{ "framed binary, returns in any order",
	  { "C (w " BINARY("1", "getUser", "1") TEXT NESTED STOP ")",
	    "C (w " BINARY("1", "Cart:add", "2") STOP ")",
	    "S (w " BINARY("2", "add", "2") VOID ") (w " BINARY("2", "getUser", "1") SUCCESS ")" },
	  "C1 [1,1] thrift 113 getUser\n"
	  "C2 [2,2] thrift 25 Cart:add\n"
	  "R2 [3,3] thrift 20 Cart:add ok\n"
	  "R1 [3,3] thrift 31 getUser ok\n" },
	{ "unframed binary",
	  { "C " BINARY("1", "getUser", "1") TEXT NESTED STOP,
	    "S " BINARY("2", "getUser", "1") SUCCESS, "C " BINARY("1", "ping", "2") STOP,
	    "S " BINARY("2", "ping", "2") VOID },
	  "C1 [1,1] thrift 109 getUser\n"
	  "R1 [2,2] thrift 27 getUser ok\n"
	  "C2 [3,3] thrift 17 ping\n"
	  "R2 [4,4] thrift 17 ping ok\n" },
	{ "unframed compact",
	  { "C " COMPACT("21", "getUser", "1") TEXT_C NESTED_C STOP,
	    "S " COMPACT("41", "getUser", "1") "x:05 v:0 v:10 b:0",
	    "C " COMPACT("21", "ping", "2") STOP, "S " COMPACT("41", "ping", "2") VOID },
	  "C1 [1,1] thrift 55 getUser\n"
	  "R1 [2,2] thrift 15 getUser ok\n"
	  "C2 [3,3] thrift 9 ping\n"
	  "R2 [4,4] thrift 9 ping ok\n" },
	{ "framed compact",
	  { "C (w " COMPACT("21", "getUser", "300") TEXT_C STOP ")",
	    "S (w " COMPACT("41", "getUser", "300") "x:08 v:0 (v 'x' ) b:0 )" },
	  "C1 [1,1] thrift 27 getUser\n"
	  "R1 [2,2] thrift 21 getUser ok\n" },
	{ "before there were versions, framed and not",
	  { "C (w (w 'ping' ) b:1 w:1 " STOP ")", "S (w (w 'ping' ) b:2 w:1 " STOP ")" },
	  "C1 [1,1] thrift 18 ping\n"
	  "R1 [2,2] thrift 18 ping ok\n" },
	{ "the same without frames",
	  { "C (w 'ping' ) b:1 w:1 " STOP, "S (w 'ping' ) b:2 w:1 " STOP },
	  "C1 [1,1] thrift 14 ping\n"
	  "R1 [2,2] thrift 14 ping ok\n" },
	{ "one way; a declared exception; one that is none of the service's",
	  { "C (w " BINARY("4", "log", "1") TEXT STOP ")", "C (w " BINARY("1", "get", "2") STOP ")",
	    "S (w " BINARY("2", "get", "2") "b:12 h:1 " TEXT "b:0 b:0 )",
	    "C (w " BINARY("1", "put", "3") STOP ")",
	    "S (w " BINARY("3", "put", "3") TEXT STOP ")" },
	  "M1 [1,1] thrift 35 log unknown\n"
	  "C2 [2,2] thrift 20 get\n"
	  "R2 [3,3] thrift 39 get error\n"
	  "C3 [4,4] thrift 20 put\n"
	  "R3 [5,5] thrift 35 put error\n" },
	{ "all are numbered 0, and sent ahead",
	  { "C (w " BINARY("1", "a", "0") STOP ") (w " BINARY("1", "b", "0") STOP ")",
	    "S (w " BINARY("2", "a", "0") VOID ")", "C (w " BINARY("1", "c", "0") STOP ")",
	    "S (w " BINARY("2", "b", "0") VOID ") (w " BINARY("3", "c", "0") VOID ")" },
	  "C1 [1,1] thrift 18 a\n"
	  "C2 [1,1] thrift 18 b\n"
	  "R1 [2,2] thrift 18 a ok\n"
	  "C3 [3,3] thrift 18 c\n"
	  "R2 [4,4] thrift 18 b ok\n"
	  "R3 [4,4] thrift 18 c error\n" },
	{ "all are numbered 0, and a call is missing",
	  { "C (w " BINARY("1", "a", "0") STOP ")", "S (w " BINARY("2", "a", "0") VOID ")", "c 30",
	    "C (w " BINARY("1", "c", "0") STOP ")",
	    "S (w " BINARY("2", "b", "0") VOID ") (w " BINARY("3", "c", "0") VOID ")",
	    "C (w " BINARY("1", "d", "0") STOP ")", "S (w " BINARY("2", "d", "0") VOID ")" },
	  "C1 [1,1] thrift 18 a\n"
	  "R1 [2,2] thrift 18 a ok\n"
	  "C2 [4,4] thrift 18 c\n"
	  "R2 [5,5] thrift 18 c error\n"
	  "C3 [6,6] thrift 18 d\n"
	  "R3 [7,7] thrift 18 d ok\n"
	  "returns-orphan 1\n"
	  "resyncs 1\n" },
	{ "in mid-stream",
	  { "mid", "S (w " BINARY("2", "get", "1") SUCCESS ")",
	    "C (w " BINARY("1", "get", "2") STOP ")", "S (w " BINARY("2", "get", "2") SUCCESS ")" },
	  "C1 [2,2] thrift 20 get\n"
	  "R1 [3,3] thrift 27 get ok\n"
	  "returns-orphan 1\n" },
	{ "a hole in an unframed struct",
	  { "C " BINARY("1", "a", "1") TEXT, "c 10", "C " BINARY("1", "b", "2") STOP,
	    "S " BINARY("2", "a", "1") VOID BINARY("2", "b", "2") VOID },
	  "C1 [1,1] thrift 28 a\n"
	  "C2 [3,3] thrift 14 b\n"
	  "R1 [4,4] thrift 14 a ok\n"
	  "R2 [4,4] thrift 14 b ok\n"
	  "resyncs 1\n" },
	{ "a text in which a hole lies",
	  { "C " BINARY("1", "a", "1") "b:11 h:1 w:1000 0:300", "c 700", "C " STOP,
	    "S " BINARY("2", "a", "1") VOID },
	  "C1 [1,3] thrift 1021 a\n"
	  "R1 [4,4] thrift 14 a ok\n" },
};

START_TEST(conversations)
{
	wp_byte_rows_check(NULL, rows, G_N_ELEMENTS(rows));
}
END_TEST

START_TEST(tokens)
{
	static const WpByteRow values[] = {
		{ "framed",
		  { "C (w " BINARY("1", "a", "1") TEXT NESTED STOP ")" },
		  "C1 [1,1] thrift 107 a tokens=2\n"
		  "calls-open 1\n" },
		{ "unframed",
		  { "C " BINARY("1", "a", "1") TEXT NESTED STOP },
		  "C1 [1,1] thrift 103 a tokens=2\n"
		  "calls-open 1\n" },
		{ "compact",
		  { "C " COMPACT("21", "a", "1") TEXT_C NESTED_C STOP },
		  "C1 [1,1] thrift 49 a tokens=2\n"
		  "calls-open 1\n" },
	};
	WpRunOptions options = { .show_tokens = TRUE };
	wp_byte_rows_check(&options, values, G_N_ELEMENTS(values));
}
END_TEST

/* Structs inside one another without end. */
START_TEST(depth)
{
	g_autoptr(GString) deep = g_string_new("C (w " BINARY("1", "a", "1") STOP ") ");
	g_string_append(deep, BINARY("1", "b", "2"));
	for (int i = 0; i < 100; i++)
		g_string_append(deep, "b:12 h:1 ");
	g_autoptr(GByteArray) bytes = wp_byte_words(deep->str + 2);
	WpStep step = WP_C_BYTES(bytes->data, bytes->len);
	g_autofree char *got = wp_decode_run(NULL, &step, 1);
	ck_assert_str_eq(got, "C1 [1,1] thrift 18 a\nC2 [1,1] thrift 202 b\ncalls-open 2\n"
			      "bytes-skipped 111\n");
}
END_TEST

WP_SUITE("decode-thrift", conversations, tokens, depth)
