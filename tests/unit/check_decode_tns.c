/* TNS through the real stream. */
#include "tests/support/byte-rows.h"
#include "tests/support/suite.h"

/* A packet of a type whose payload follows, and ")": with two bytes of length, and with four. */
#define SHORT(type) "(h+2 h:0 b:" type " b:0 h:0 "
#define LONG(type)  "(w+4 b:" type " b:0 h:0 "

#define CONNECT "C " SHORT("1") "h:318 h:300 0:46 '(DESCRIPTION=(..))' )"
#define ACCEPT  "S " SHORT("2") "h:318 0:22 )"
#define OPENED                                                                                     \
	"C1 [1,1] tns 76 (connect) setup\n"                                                        \
	"R1 [2,2] tns 32 (connect) ok setup\n"

static const WpByteRow calls[] = {
	{ "connected, services, protocol, login; then calls, the last of several packets",
	  { CONNECT, ACCEPT, "C " LONG("6") "h:0 x:deadbeef 0:20 )", "S " LONG("6") "h:0 0:30 )",
	    "C " LONG("6") "h:0 b:1 b:6 )", "S " LONG("6") "h:0 b:1 0:9 )",
	    "C " LONG("6") "h:0 b:3 b:0x76 0:40 )", "S " LONG("6") "h:0 b:8 0:9 )",
	    "C " LONG("6") "h:0 b:3 b:0x5e 0:2000 )", "C " LONG("6") "h:0 0:300 )",
	    "S " LONG("6") "h:0 b:0x10 0:3000 )", "S " LONG("6") "h:0 0:70000 )",
	    "C " LONG("6") "h:0 b:3 b:0x0e b:9 )", "S " LONG("6") "h:0 b:4 0:9 )",
	    "C " LONG("6") "h:0x40 )", "F", "G" },
	  "C1 [1,1] tns 76 (connect) setup\n"
	  "R1 [2,2] tns 32 (connect) ok setup\n"
	  "C2 [3,3] tns 34 (services) setup\n"
	  "R2 [4,4] tns 40 (services) unknown setup\n"
	  "C3 [5,5] tns 12 (protocol) setup\n"
	  "R3 [6,6] tns 20 (protocol) unknown setup\n"
	  "C4 [7,7] tns 52 (login) setup\n"
	  "R4 [8,8] tns 20 (login) unknown setup\n"
	  "C5 [9,10] tns 2322 execute\n"
	  "R5 [11,12] tns 73021 execute unknown\n"
	  "C6 [13,13] tns 13 commit\n"
	  "R6 [14,14] tns 20 commit unknown\n" },
	{ "two bytes of length; more of the connect comes as data; refused",
	  { "C " SHORT("1") "h:314 h:300 0:46 )", "C " SHORT("6") "h:0 '(DESCRIPTION=(..))' )",
	    "S " SHORT("4") "b:1 b:0 h:0 )", "G" },
	  "C1 [1,1] tns 58 (connect) setup\n"
	  "R1 [3,3] tns 12 (connect) error setup\n" },
	{ "sent again, then accepted; another address",
	  { CONNECT, "S " SHORT("11") ")", CONNECT, ACCEPT, "C " SHORT("6") "h:0 b:3 b:0x93 )",
	    "S " SHORT("6") "h:0 b:4 )", "F", "G" },
	  "C1 [1,1] tns 76 (connect) setup\n"
	  "R1 [2,2] tns 8 (connect) ok setup\n"
	  "C2 [3,3] tns 76 (connect) setup\n"
	  "R2 [4,4] tns 32 (connect) ok setup\n"
	  "C3 [5,5] tns 12 ping setup\n"
	  "R3 [6,6] tns 11 ping unknown setup\n" },
	{ "an error: markers, then what it is",
	  { CONNECT, ACCEPT, "C " LONG("6") "h:0 b:3 b:0x5e 0:20 )",
	    "S " LONG("12") "b:1 b:0 b:1 )", "S " LONG("12") "b:1 b:0 b:2 )",
	    "C " LONG("12") "b:1 b:0 b:2 )", "S " LONG("6") "h:0 b:4 0:90 )",
	    "C " LONG("6") "h:0 b:3 b:5 0:9 )", "S " LONG("6") "h:0 b:6 0:9 )",
	    "C " LONG("6") "h:0 b:0x11 b:0x69 )", "G" },
	  "C1 [1,1] tns 76 (connect) setup\n"
	  "R1 [2,2] tns 32 (connect) ok setup\n"
	  "C2 [3,3] tns 32 execute\n"
	  "R2 [7,7] tns 101 execute error\n"
	  "C3 [8,8] tns 21 fetch\n"
	  "R3 [9,9] tns 20 fetch unknown\n"
	  "C4 [10,10] tns 12 call\n"
	  "calls-open 1\n" },
};

START_TEST(conversations)
{
	wp_byte_rows_check(NULL, calls, G_N_ELEMENTS(calls));
}
END_TEST

static const WpByteRow holes[] = {
	{ "in mid-stream",
	  { "mid", "C " LONG("6") "h:0 b:3 b:0x5e 0:20 )", "S " LONG("6") "h:0 b:4 0:9 )",
	    "C " LONG("6") "h:0 b:3 b:0x5e 0:20 )", "S " LONG("6") "h:0 b:4 0:9 )", "F", "G" },
	  "C1 [1,1] tns 32 execute\n"
	  "R1 [2,2] tns 20 execute unknown\n"
	  "C2 [3,3] tns 32 execute\n"
	  "R2 [4,4] tns 20 execute unknown\n" },
	{ "in a call and in a return that are skipped; over a call; over a return",
	  { CONNECT, ACCEPT, "C w:1000 b:6 b:0 h:0 h:0 b:3 b:0x5e 0:88", "c 800", "C 0:100",
	    "S w:1000 b:6 b:0 h:0 h:0 b:4 0:89", "s 900", "C " LONG("6") "h:0 b:3 b:5 )",
	    "S " LONG("6") "h:0 b:4 )", "c 12", "S " LONG("6") "h:0 b:4 )",
	    "C " LONG("6") "h:0 b:3 b:5 )", "s 11", "C " LONG("6") "h:0 b:3 b:0x0f )",
	    "S " LONG("6") "h:0 b:4 )", "F", "G" },
	  "C1 [1,1] tns 76 (connect) setup\n"
	  "R1 [2,2] tns 32 (connect) ok setup\n"
	  "C2 [3,5] tns 1000 execute\n"
	  "R2 [6,6] tns 1000 execute unknown cut\n"
	  "C3 [8,8] tns 12 fetch\n"
	  "R3 [9,9] tns 11 fetch unknown\n"
	  "C4 [12,12] tns 12 fetch\n"
	  "C5 [14,14] tns 12 rollback\n"
	  "R5 [15,15] tns 11 rollback unknown\n"
	  "returns-orphan 1\n"
	  "returns-cut 1\n"
	  "calls-unanswered 1\n"
	  "resyncs 2\n" },
	{ "bytes that are none",
	  { CONNECT, ACCEPT, "C x:ffffffffffffffff", "C " LONG("6") "h:0 b:3 b:5 )",
	    "S " LONG("6") "h:0 b:4 )", "F", "G" },
	  "C1 [1,1] tns 76 (connect) setup\n"
	  "R1 [2,2] tns 32 (connect) ok setup\n"
	  "returns-orphan 1\n"
	  "resyncs 1\n"
	  "bytes-skipped 8\n" },
	{ "a version that is none",
	  { "C " SHORT("1") "h:18 h:3 0:46 )", "S 'x'" },
	  "C1 [1,1] unknown 58\n"
	  "R1 [2,2] unknown 1 unknown\n"
	  "flows-undecoded 1\n" },
};

START_TEST(what_is_missing)
{
	wp_byte_rows_check(NULL, holes, G_N_ELEMENTS(holes));
}
END_TEST

WP_SUITE("decode-tns", conversations, what_is_missing)
