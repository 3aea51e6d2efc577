/* MongoDB through the real stream. */
#include "tests/support/byte-rows.h"
#include "tests/support/suite.h"

/* Documents: {find: "users", filter: {id: 12345}}, {ok: 1.0}, {ok: 0.0}. */
#define FIND                                                                                       \
	"(W+4 x:02 'find' b:0 (W 'users' b:0 ) x:03 'filter' b:0 (W+4 x:10 'id' b:0 W:12345 b:0 "  \
	") b:0 )"
#define OK    "(W+4 x:01 'ok' b:0 x:000000000000f03f b:0 )"
#define ERROR "(W+4 x:01 'ok' b:0 0:8 x:02 'errmsg' b:0 (W 'no' b:0 ) b:0 )"

/* Head and flags of OP_MSG, and the kind of the section; of the older operations. */
#define MSG(id, to, flags)  "(W+4 W:" id " W:" to " W:2013 W:" flags " b:0 "
#define OLD(id, to, opcode) "(W+4 W:" id " W:" to " W:" opcode " "
#define END                 " ) "
#define REPLY(id, to)       MSG(id, to, "0") OK END

static const WpByteRow rows[] = {
	{ "ids pair, in any order",
	  { "C " MSG("5", "0", "0")
		    FIND END MSG("6", "0", "0") "(W+4 x:12 'getMore' b:0 Q:7 x:02 'collection' b:0 "
						"(W 'orders' b:0 ) b:0 )" END,
	    "S " REPLY("90", "6") MSG("91", "5", "0") ERROR END },
	  "C1 [1,1] mongodb 63 find users\n"
	  "C2 [1,1] mongodb 66 getMore orders\n"
	  "R2 [2,2] mongodb 38 getMore orders ok\n"
	  "R1 [2,2] mongodb 53 find users error\n" },
	{ "set-up; names of users are no labels",
	  { "C " OLD("1", "0", "2004") "W:0 'admin.$cmd' b:0 W:0 W:-1 "
				       "(W+4 x:10 'isMaster' b:0 W:1 b:0 )" END,
	    "S " OLD("2", "1", "1") "W:8 Q:0 W:0 W:1 " OK END,
	    "C " MSG("2", "0", "0") "(W+4 x:10 'saslStart' b:0 W:1 b:0 )" END, "S " REPLY("3", "2"),
	    "C " MSG("3", "0", "0") "(W+4 x:02 'dropUser' b:0 (W 'alice' b:0 ) b:0 )" END,
	    "S " REPLY("4", "3") },
	  "C1 [1,1] mongodb 58 isMaster setup\nR1 [2,2] mongodb 53 isMaster ok setup\n"
	  "C2 [3,3] mongodb 41 saslStart setup\nR2 [4,4] mongodb 38 saslStart ok setup\n"
	  "C3 [5,5] mongodb 46 dropUser\nR3 [6,6] mongodb 38 dropUser ok\n" },
	{ "a hello that waits, and goes on",
	  { "C " MSG("1", "0", "0x10000") "(W+4 x:10 'hello' b:0 W:1 x:12 'maxAwaitTimeMS' b:0 "
					  "Q:10000 b:0 )" END,
	    "S " MSG("7", "1", "2") OK END, "S " MSG("8", "7", "2") OK END, "S " REPLY("9", "8"),
	    "S " REPLY("10", "9") },
	  "C1 [1,1] mongodb 61 hello setup wait\nR1 [2,2] mongodb 38 hello ok setup wait\n"
	  "m2 [3,3] mongodb 38 hello ok setup wait\nm3 [4,4] mongodb 38 hello ok setup wait\n"
	  "returns-orphan 1\n" },
	{ "a tailable cursor waits",
	  { "C " MSG("1", "0",
		     "0") "(W+4 x:12 'getMore' b:0 Q:7 x:02 'collection' b:0 (W 'log' b:0 ) "
			  "x:10 'maxTimeMS' b:0 W:1000 b:0 )" END,
	    "S " REPLY("2", "1") },
	  "C1 [1,1] mongodb 78 getMore log wait\n"
	  "R1 [2,2] mongodb 38 getMore log ok wait\n" },
	{ "nobody acknowledges",
	  { "C " MSG("1", "0", "2") "(W+4 x:02 'insert' b:0 (W 'log' b:0 ) b:0 )" END,
	    "C " MSG("2", "0", "0") FIND END, "S " REPLY("3", "2") },
	  "M1 [1,1] mongodb 42 insert log unknown\n"
	  "C2 [2,2] mongodb 63 find users\n"
	  "R2 [3,3] mongodb 38 find users ok\n" },
	{ "documents beside the command, before and behind it; an error of one write",
	  { "C (W+4 W:1 W:0 W:2013 W:1 b:1 (W+4 'documents' b:0 (W+4 x:10 'a' b:0 W:1 b:0 ) ) "
	    "b:0 (W+4 x:02 'insert' b:0 (W 'log' b:0 ) b:0 ) w:0 )",
	    "S " MSG("2", "1", "0") "(W+4 x:10 'n' b:0 W:0 x:04 'writeErrors' b:0 "
				    "(W+4 x:10 '0' b:0 W:1 b:0 ) x:01 'ok' b:0 x:000000000000f03f "
				    "b:0 )" END },
	  "C1 [1,1] mongodb 73 insert log\nR1 [2,2] mongodb 70 insert log error\n" },
	{ "answers cut by the snap length: before they say how it went, and behind that",
	  { "C " MSG("1", "0", "0") FIND END, "S W:90 W:2 W:1 W:2013 W:0 b:0 W:69 x:03 'cur'",
	    "y 61", "C " MSG("2", "0", "0") FIND END,
	    "S W:90 W:3 W:2 W:2013 W:0 b:0 W:69 x:01 'ok' b:0 x:000000000000f03f", "y 53" },
	  "C1 [1,1] mongodb 63 find users\nR1 [2,2] mongodb 90 find users unknown\n"
	  "C2 [3,3] mongodb 63 find users\nR2 [4,4] mongodb 90 find users ok\n" },
	{ "messages cut by the snap length behind their heads, the first ones as well",
	  { "C W:353 W:1 W:0 W:2004 W:0 'admin.$cmd'", "x 323", "S W:312 W:90 W:1 W:1 W:8 Q:0",
	    "y 284", "C W:59 W:2 W:0 W:2013 W:0 b:0 W:38 x:10 'slee'", "x 29",
	    "S " REPLY("91", "2") },
	  "C1 [1,1] mongodb 353 query\nR1 [2,2] mongodb 312 query unknown\n"
	  "C2 [3,3] mongodb 59\nR2 [4,4] mongodb 38 ok\n" },
	{ "the operations of old",
	  { "C " OLD("1", "0", "2004") "W:4 'shop.users' b:0 W:0 W:0 (W+4 b:0 )" END,
	    "S " OLD("9", "1", "1") "W:0 Q:7 W:0 W:1 " ERROR END,
	    "C " OLD("2", "0", "2005") "W:0 'shop.users' b:0 W:0 Q:7" END,
	    "S " OLD("10", "2", "1") "W:1 Q:0 W:0 W:0" END,
	    "C " OLD("3", "0", "2002") "W:0 'shop.x42' b:0 " OK END OLD(
		    "4", "0", "2006") "W:0 'shop.users' b:0 W:0 " OK END
		    OLD("5", "0", "2001") "W:0 'shop.users' b:0 W:0 " OK OK END OLD(
			    "6", "0", "2007") "W:0 W:1 Q:7" END },
	  "C1 [1,1] mongodb 44 query users\nR1 [2,2] mongodb 68 query users ok\n"
	  "C2 [3,3] mongodb 43 getMore users\nR2 [4,4] mongodb 36 getMore users error\n"
	  "M3 [5,5] mongodb 46 insert x{} unknown\nM4 [5,5] mongodb 52 delete users unknown\n"
	  "M5 [5,5] mongodb 69 update users unknown\nM6 [5,5] mongodb 32 killCursors unknown\n" },
	{ "compressed not at all, Snappy, and by a method that nobody knows",
	  { "C (W+4 W:1 W:0 W:2012 W:2013 W:51 b:0 W:0 b:0 " FIND " )",
	    "S (W+4 W:2 W:1 W:2012 W:2013 W:22 b:1 x:16 x:54 W:0 b:0 " OK " )",
	    "C (W+4 W:3 W:0 W:2012 W:2013 W:22 b:3 x:00 )" },
	  "C1 [1,1] mongodb 72 find users\n"
	  "R1 [2,2] mongodb 49 find users ok\n"
	  "C2 [3,3] mongodb 26\n"
	  "calls-open 1\n" },
	{ "in mid-stream a reply first, whose call was not seen",
	  { "mid", "S " REPLY("90", "6"), "C " MSG("7", "0", "0") FIND END, "S " REPLY("91", "7") },
	  "C1 [2,2] mongodb 63 find users\n"
	  "R1 [3,3] mongodb 38 find users ok\n"
	  "returns-orphan 1\n" },
	{ "a hole, then the next message",
	  { "C " MSG("1", "0", "0") FIND END, "S " REPLY("2", "1"), "c 50",
	    "C " MSG("3", "0", "0") FIND END, "S " REPLY("4", "3") },
	  "C1 [1,1] mongodb 63 find users\n"
	  "R1 [2,2] mongodb 38 find users ok\n"
	  "C2 [4,4] mongodb 63 find users\n"
	  "R2 [5,5] mongodb 38 find users ok\n"
	  "resyncs 1\n" },
};

START_TEST(conversations)
{
	wp_byte_rows_check(NULL, rows, G_N_ELEMENTS(rows));
}
END_TEST

/* Text, object ids and numbers are passed on; what sets up is not. */
START_TEST(tokens)
{
	static const WpByteRow values[] = {
		{ "values",
		  { "C " MSG("1", "0",
			     "0") "(W+4 x:02 'find' b:0 (W 'users' b:0 ) x:03 'filter' b:0 "
				  "(W+4 x:07 'o' b:0 x:0102030405060708090a0b0c x:12 'n' b:0 "
				  "Q:123456 x:10 'm' b:0 W:-7 x:02 't' b:0 (W 'order-77' b:0 ) "
				  "x:04 'in' b:0 (W+4 x:10 '0' b:0 W:98765 b:0 ) b:0 ) b:0 )" END,
		    "C " MSG("2", "0",
			     "0") "(W+4 x:02 'saslStart' b:0 (W 'order-77' b:0 ) b:0 )" END },
		  "C1 [1,1] mongodb 120 find users tokens=5\n"
		  "C2 [2,2] mongodb 50 saslStart setup tokens=0\n"
		  "calls-open 2\n" },
	};
	WpRunOptions options = { .show_tokens = TRUE };
	wp_byte_rows_check(&options, values, G_N_ELEMENTS(values));
}
END_TEST

WP_SUITE("decode-mongodb", conversations, tokens)
