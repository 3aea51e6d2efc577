/* CQL through the real stream. */
#include "tests/support/byte-rows.h"
#include "tests/support/suite.h"

#define ASK(stream, opcode)    "b:4 b:0 h:" stream " b:" opcode " (w "
#define ANSWER(stream, opcode) "b:0x84 b:0 h:" stream " b:" opcode " (w "
#define QUERY(stream, text)    ASK(stream, "7") "(w '" text "' ) h:1 b:0 ) "
#define ROWS(stream)           ANSWER(stream, "8") "w:2 w:0 w:0 w:0 ) "
#define FAILURE(stream, code)  ANSWER(stream, "0") "w:" code " (h 'no' ) ) "
#define ID                     "(h '0123456789abcdef' ) "

static const WpByteRow rows[] = {
	{ "set-up, streams in any order, an event",
	  { "C " ASK("0", "5") ")", "S " ANSWER("0", "6") "h:0 )",
	    "C " ASK("1", "1") "h:1 (h 'CQL_VERSION' ) (h '3.0.0' ) )", "S " ANSWER("1", "2") ")",
	    "C " QUERY("2", "SELECT name FROM shop.users WHERE id = 12345")
		    QUERY("3", "SELECT now() FROM system.local"),
	    "S " ANSWER("-1", "12") "(h 'STATUS_CHANGE' ) )", "S " ROWS("3") ROWS("2") },
	  "C1 [1,1] cql 9 OPTIONS setup\n"
	  "R1 [2,2] cql 11 OPTIONS ok setup\n"
	  "C2 [3,3] cql 31 STARTUP setup\n"
	  "R2 [4,4] cql 9 STARTUP ok setup\n"
	  "C3 [5,5] cql 60 SELECT users (name) WHERE id\n"
	  "C4 [5,5] cql 46 SELECT local (now())\n"
	  "m5 [6,6] cql 24 EVENT ok\n"
	  "R4 [7,7] cql 25 SELECT local (now()) ok\n"
	  "R3 [7,7] cql 25 SELECT users (name) WHERE id ok\n" },
	{ "a driver asks for a version of DataStax, which the server does not have",
	  { "C b:0x42 b:0 h:1 b:1 (w h:1 (h 'CQL_VERSION' ) (h '3.0.0' ) )",
	    "S " ANSWER("1", "0") "w:10 (h 'unsupported version' ) )" },
	  "C1 [1,1] cql 31 STARTUP setup\n"
	  "R1 [2,2] cql 34 STARTUP error setup\n" },
	{ "prepared, executed, in a batch; one that is not known",
	  { "C " ASK("1", "9") "(w 'INSERT INTO orders (id) VALUES (?)' ) )",
	    "S " ANSWER("1", "8") "w:4 " ID "w:0 )", "C " ASK("1", "10") ID "h:1 b:0 )",
	    "S " ROWS("1"), "C " ASK("1", "10") "(h 'another' ) h:1 b:0 )", "S " ROWS("1"),
	    "C " ASK("1", "13") "b:0 h:1 b:0 (w 'DELETE FROM t WHERE k = 5' ) h:0 h:1 b:0 )",
	    "S " ROWS("1") },
	  "C1 [1,1] cql 47 PREPARE INSERT orders\n"
	  "R1 [2,2] cql 35 PREPARE INSERT orders ok\n"
	  "C2 [3,3] cql 30 INSERT orders\n"
	  "R2 [4,4] cql 25 INSERT orders ok\n"
	  "C3 [5,5] cql 21 EXECUTE\n"
	  "R3 [6,6] cql 25 EXECUTE ok\n"
	  "C4 [7,7] cql 47 BATCH DELETE t WHERE k\n"
	  "R4 [8,8] cql 25 BATCH DELETE t WHERE k ok\n" },
	{ "errors; streams are used again",
	  { "C " QUERY("1", "SELECT a FROM t"), "S " FAILURE("1", "0x2200"),
	    "C " QUERY("1", "SELECT a FROM t"), "S " FAILURE("1", "0x1200") },
	  "C1 [1,1] cql 31 SELECT t (a)\n"
	  "R1 [2,2] cql 17 SELECT t (a) error\n"
	  "C2 [3,3] cql 31 SELECT t (a)\n"
	  "R2 [4,4] cql 17 SELECT t (a) timeout\n" },
	{ "warnings, tracing, a payload before the body",
	  { "C b:4 b:4 h:1 b:7 (w h:1 (h 'k' ) (w 'v' ) (w 'SELECT a FROM t' ) h:1 b:0 )",
	    "S b:0x84 b:10 h:1 b:0 (w 0:16 h:1 (h 'careful' ) w:0x1100 (h 'no' ) )" },
	  "C1 [1,1] cql 41 SELECT t (a)\n"
	  "R1 [2,2] cql 44 SELECT t (a) timeout\n" },
	{ "compressed by LZ4 and by Snappy",
	  { "C " ASK("0", "5") ")", "S " ANSWER("0", "6") "h:0 )",
	    "C b:4 b:1 h:1 b:7 (w w:22 b:0xf0 b:7 (w 'SELECT a FROM t' ) h:1 b:0 )",
	    "S b:0x84 b:1 h:1 b:0 (w b:8 b:28 w:0x2200 (h 'no' ) )" },
	  "C1 [1,1] cql 9 OPTIONS setup\n"
	  "R1 [2,2] cql 11 OPTIONS ok setup\n"
	  "C2 [3,3] cql 37 SELECT t (a)\n"
	  "R2 [4,4] cql 19 SELECT t (a) error\n" },
	{ "version 5 without compression, frames behind the start",
	  { "C b:5 b:0 h:1 b:1 (w h:1 (h 'CQL_VERSION' ) (h '3.0.0' ) )",
	    "S b:0x85 b:0 h:1 b:2 (w )",
	    "C x:22000209c235 b:5 b:0 h:1 b:7 (w (w 'SELECT a FROM t' ) h:1 w:0 ) w:0",
	    "S x:19000208f51a b:0x85 b:0 h:1 b:8 (w w:2 w:0 w:0 w:0 ) w:0" },
	  "C1 [1,1] cql 31 STARTUP setup\n"
	  "R1 [2,2] cql 9 STARTUP ok setup\n"
	  "C2 [3,3] cql 34 SELECT t (a)\n"
	  "R2 [4,4] cql 25 SELECT t (a) ok\n" },
	{ "in mid-stream",
	  { "mid", "C " QUERY("7", "SELECT a FROM t"), "S " ROWS("7") },
	  "C1 [1,1] cql 31 SELECT t (a)\n"
	  "R1 [2,2] cql 25 SELECT t (a) ok\n" },
	{ "a hole in a long value, and one of a whole request",
	  { "C " QUERY("1", "SELECT a FROM t"), "S " ROWS("1"),
	    "C b:4 b:0 h:1 b:7 w:6019 (w 'SELECT a FROM t' ) 0:4500", "c 1000", "C 0:500",
	    "S " ROWS("1"), "c 30", "C " QUERY("2", "SELECT a FROM t"), "S " ROWS("1") ROWS("2") },
	  "C1 [1,1] cql 31 SELECT t (a)\n"
	  "R1 [2,2] cql 25 SELECT t (a) ok\n"
	  "C2 [3,5] cql 6028 SELECT t (a)\n"
	  "R2 [6,6] cql 25 SELECT t (a) ok\n"
	  "C3 [8,8] cql 31 SELECT t (a)\n"
	  "R3 [9,9] cql 25 SELECT t (a) ok\n"
	  "returns-orphan 1\n"
	  "resyncs 1\n" },
	{ "a statement longer than can be is none",
	  { "C b:4 b:0 h:1 b:7 w:6 w:0xfffffffe 'ab'", "S b:0x84 b:0 h:1 b:8 (w w:1 )" },
	  "C1 [1,1] unknown 15\n"
	  "R1 [2,2] unknown 13 unknown\n"
	  "flows-undecoded 1\n" },
};

START_TEST(conversations)
{
	wp_byte_rows_check(NULL, rows, G_N_ELEMENTS(rows));
}
END_TEST

START_TEST(tokens)
{
	static const WpByteRow values[] = {
		{ "literals and values",
		  { "C " ASK("1", "7") "(w 'SELECT a FROM t WHERE k = 12345' ) h:1 b:1 h:1 (w "
				       "'order-77' ) )" },
		  "C1 [1,1] cql 61 SELECT t (a) WHERE k tokens=2\n"
		  "calls-open 1\n" },
	};
	WpRunOptions options = { .show_tokens = TRUE };
	wp_byte_rows_check(&options, values, G_N_ELEMENTS(values));
}
END_TEST

WP_SUITE("decode-cql", conversations, tokens)
