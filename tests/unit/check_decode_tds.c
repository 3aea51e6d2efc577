/* TDS through the real stream. */
#include "tests/support/byte-rows.h"
#include "tests/support/suite.h"

/* A packet of a type whose payload follows, and ")": the last of its message, or not. */
#define PACKET(type) "b:" type " b:1 (h+4 h:0 b:1 b:0 "
#define PART(type)   "b:" type " b:0 (h+4 h:0 b:1 b:0 "
#define HEADERS      "W:22 W:18 H:2 Q:7 W:1 "
/* "SELECT [a] FROM [t]" in UTF-16 */
#define QUERY                                                                                      \
	"x:530045004c004500430054002000 x:5b0061005d002000 x:460052004f004d002000 x:5b0074005d00 "
#define DONE(token, flags) "b:" token " H:" flags " H:193 Q:0 "
#define PRELOGIN           "C " PACKET("0x12") "b:0 h:6 h:6 b:0xff 0:6 )"
#define ANSWER             "S " PACKET("4") "b:0 h:6 h:6 b:0xff 0:6 )"
#define LOGIN              "C " PACKET("0x10") "W:40 W:0x74000004 0:32 )"
#define ACK                "S " PACKET("4") "b:0xad H:1 b:0 " DONE("0xfd", "0") ")"

static const WpByteRow calls[] = {
	{ "prelogin, login, a batch, one that fails",
	  { PRELOGIN, ANSWER, LOGIN, ACK, "C " PACKET("1") HEADERS QUERY ")",
	    "S " PACKET("4") "b:0x81 0:30 " DONE("0xfd", "0x10") ")",
	    "C " PACKET("1") HEADERS QUERY ")",
	    "S " PACKET("4") "b:0xaa 0:30 " DONE("0xfd", "2") ")" },
	  "C1 [1,1] tds 20 (prelogin) setup\n"
	  "R1 [2,2] tds 20 (prelogin) ok setup\n"
	  "C2 [3,3] tds 48 (login) setup\n"
	  "R2 [4,4] tds 25 (login) ok setup\n"
	  "C3 [5,5] tds 68 SELECT t (a)\n"
	  "R3 [6,6] tds 52 SELECT t (a) ok\n"
	  "C4 [7,7] tds 68 SELECT t (a)\n"
	  "R4 [8,8] tds 52 SELECT t (a) error\n" },
	{ "a batch and a response of several packets; an old client",
	  { "mid", "C " PART("1") HEADERS QUERY ")" PART("1") "0:100 )", "C " PACKET("1") "0:50 )",
	    "S " PART("4") "b:0x81 0:200 )", "S " PACKET("4") "0:30 " DONE("0xfd", "0") ")",
	    "C " PACKET("1") QUERY ")", "S " PACKET("4") DONE("0xfd", "0") ")" },
	  "C1 [1,2] tds 234 SELECT t (a)\n"
	  "R1 [3,4] tds 260 SELECT t (a) ok\n"
	  "C2 [5,5] tds 46 SELECT t (a)\n"
	  "R2 [6,6] tds 21 SELECT t (a) ok\n" },
	{ "procedures: by name, by number, with a statement, prepared",
	  { "mid", "C " PACKET("3") HEADERS "H:3 x:640062006f00 H:0 )",
	    "S " PACKET("4") "b:0x79 W:0 " DONE("0xfe", "0") ")",
	    "C " PACKET("3") HEADERS "H:-1 H:10 H:0 b:0 b:0 b:0xe7 H:8000 0:5 H:38 " QUERY ")",
	    "S " PACKET("4") DONE("0xfe", "0") ")",
	    "C " PACKET("3") HEADERS "H:-1 H:13 H:0 b:0 b:1 b:0x26 b:4 b:0 "
				     "b:0 b:0 b:0xe7 H:8000 0:5 H:2 x:4000 "
				     "b:0 b:0 b:0xe7 H:-1 0:5 Q:38 W:38 " QUERY "W:0 )",
	    "S " PACKET("4") DONE("0xfe", "0") ")", "C " PACKET("3") HEADERS "H:-1 H:12 H:0 )",
	    "S " PACKET("4") DONE("0xfe", "2") ")" },
	  "C1 [1,1] tds 40 EXEC dbo\n"
	  "R1 [2,2] tds 26 EXEC dbo ok\n"
	  "C2 [3,3] tds 86 SELECT t (a)\n"
	  "R2 [4,4] tds 21 SELECT t (a) ok\n"
	  "C3 [5,5] tds 119 SELECT t (a)\n"
	  "R3 [6,6] tds 21 SELECT t (a) ok\n"
	  "C4 [7,7] tds 36 EXEC sp_execute\n"
	  "R4 [8,8] tds 21 EXEC sp_execute error\n" },
	{ "transactions, and a bulk load",
	  { "mid", "C " PACKET("14") HEADERS "H:5 b:0 b:0 )",
	    "S " PACKET("4") DONE("0xfd", "0") ")", "C " PACKET("7") "0:100 )",
	    "S " PACKET("4") DONE("0xfd", "0") ")", "C " PACKET("14") HEADERS "H:7 b:0 b:0 )",
	    "S " PACKET("4") DONE("0xfd", "0") ")" },
	  "C1 [1,1] tds 34 BEGIN\n"
	  "R1 [2,2] tds 21 BEGIN ok\n"
	  "C2 [3,3] tds 108 bulk load\n"
	  "R2 [4,4] tds 21 bulk load ok\n"
	  "C3 [5,5] tds 34 COMMIT\n"
	  "R3 [6,6] tds 21 COMMIT ok\n" },
	{ "attention: it ends a response, or comes too late",
	  { "mid", "C " PACKET("1") HEADERS QUERY ")", "S " PART("4") "b:0x81 0:20 )",
	    "C " PACKET("6") ")", "S " PACKET("4") DONE("0xfd", "0x20") ")",
	    "C " PACKET("1") HEADERS QUERY ")", "S " PACKET("4") DONE("0xfd", "0") ")",
	    "C " PACKET("6") ")", "S " PACKET("4") DONE("0xfd", "0x20") ")" },
	  "C1 [1,1] tds 68 SELECT t (a)\n"
	  "R1 [2,4] tds 50 SELECT t (a) ok\n"
	  "M2 [3,3] tds 8 attention unknown\n"
	  "C3 [5,5] tds 68 SELECT t (a)\n"
	  "R3 [6,6] tds 21 SELECT t (a) ok\n"
	  "M4 [7,7] tds 8 attention unknown\n"
	  "m5 [8,8] tds 21 attention ok\n" },
	{ "the response is lost, and attention came too late for it",
	  { "mid", "C " PACKET("1") HEADERS QUERY ")", "C " PACKET("6") ")", "s 21",
	    "S " PACKET("4") DONE("0xfd", "0x20") ")", "C " PACKET("1") HEADERS QUERY ")",
	    "S " PACKET("4") DONE("0xfd", "0") ")" },
	  "C1 [1,1] tds 68 SELECT t (a)\n"
	  "M2 [2,2] tds 8 attention unknown\n"
	  "m3 [4,4] tds 21 attention ok\n"
	  "C4 [5,5] tds 68 SELECT t (a)\n"
	  "R4 [6,6] tds 21 SELECT t (a) ok\n"
	  "calls-unanswered 1\n"
	  "resyncs 1\n" },
};

START_TEST(requests)
{
	wp_byte_rows_check(NULL, calls, G_N_ELEMENTS(calls));
}
END_TEST

/* Packets inside those of SMP: opened; two queries; the second is answered, the first in two pieces; closed. */
static const WpByteRow sessions[] = {
	{ "two conversations, answered in another order",
	  { "mid", "C x:5301000010000000010000000400000053010100100000000100000004000000",
	    "C "
	    "x:"
	    "530800004c00000001000000040000000101003c0000010016000000120000000200070000000000000001"
	    "000000530045004c00450043005400200061002000460052004f004d0020007400",
	    "C "
	    "x:"
	    "530801004c00000001000000040000000101003c0000010016000000120000000200070000000000000001"
	    "000000530045004c00450043005400200062002000460052004f004d0020007500",
	    "S "
	    "x:"
	    "53020000100000000100000004000000530801002500000001000000040000000401001500000100fd0000"
	    "c1000000000000000000",
	    "S "
	    "x:"
	    "530800002e0000000100000004000000040100520000010081000000000000000000000000000000000000"
	    "000000",
	    "S "
	    "x:"
	    "53080000440000000100000004000000000000000000000000000000000000000000000000000000000000"
	    "000000000000000000000000fd0000c1000000000000000000",
	    "C x:53040100100000000100000004000000" },
	  "C1 [2,2] tds 76 SELECT t (a)\n"
	  "C2 [3,3] tds 76 SELECT u (b)\n"
	  "R2 [4,4] tds 37 SELECT u (b) ok\n"
	  "R1 [5,6] tds 114 SELECT t (a) ok\n" },
};

START_TEST(side_by_side)
{
	wp_byte_rows_check(NULL, sessions, G_N_ELEMENTS(sessions));
}
END_TEST

static const WpByteRow secrets[] = {
	{ "the login alone is encrypted",
	  { PRELOGIN, ANSWER, "C " PACKET("0x12") "x:160303 h:50 0:50 )",
	    "S " PACKET("0x12") "x:160303 h:90 0:90 )", "C x:170303 h:60 0:60", ACK,
	    "C " PACKET("1") HEADERS QUERY ")", "S " PACKET("4") DONE("0xfd", "0") ")" },
	  "C1 [1,1] tds 20 (prelogin) setup\n"
	  "R1 [2,2] tds 20 (prelogin) ok setup\n"
	  "C2 [3,3] tds 63 (prelogin) setup\n"
	  "R2 [4,4] tds 103 (prelogin) ok setup\n"
	  "C3 [5,5] tds 65 (login) setup\n"
	  "R3 [6,6] tds 25 (login) unknown setup\n"
	  "C4 [7,7] tds 68 SELECT t (a)\n"
	  "R4 [8,8] tds 21 SELECT t (a) ok\n" },
	{ "everything is",
	  { PRELOGIN, ANSWER, "C " PACKET("0x12") "x:160303 h:50 0:50 )",
	    "S " PACKET("0x12") "x:160303 h:90 0:90 )", "C x:170303 h:60 0:60",
	    "S x:170303 h:40 0:40 x:170303 h:9 0:9", "C x:170303 h:60 0:30", "C 0:30",
	    "S x:170303 h:40 0:40", "F", "G" },
	  "C1 [1,1] tds 20 (prelogin) setup\n"
	  "R1 [2,2] tds 20 (prelogin) ok setup\n"
	  "C2 [3,3] tds 63 (prelogin) setup\n"
	  "R2 [4,4] tds 103 (prelogin) ok setup\n"
	  "C3 [5,5] tds 65 (login) setup\n"
	  "R3 [6,6] tds 59 (login) unknown setup\n"
	  "C4 [7,8] tds 65\n"
	  "R4 [9,9] tds 45 unknown\n" },
};

START_TEST(encrypted)
{
	wp_byte_rows_check(NULL, secrets, G_N_ELEMENTS(secrets));
}
END_TEST

static const WpByteRow holes[] = {
	{ "in a response, over a response, over a request",
	  { PRELOGIN, ANSWER, "C " PACKET("1") HEADERS QUERY ")", "S " PART("4") "b:0x81 0:20 )",
	    "s 100", "S " PACKET("4") "0:20 )", "C " PACKET("1") HEADERS QUERY ")", "s 40",
	    "C " PACKET("1") HEADERS QUERY ")", "S " PACKET("4") DONE("0xfd", "0") ")", "c 68",
	    "S " PACKET("4") DONE("0xfd", "0") ")", "C " PACKET("1") HEADERS QUERY ")",
	    "S " PACKET("4") DONE("0xfd", "0") ")" },
	  "C1 [1,1] tds 20 (prelogin) setup\n"
	  "R1 [2,2] tds 20 (prelogin) ok setup\n"
	  "C2 [3,3] tds 68 SELECT t (a)\n"
	  "C3 [7,7] tds 68 SELECT t (a)\n"
	  "C4 [9,9] tds 68 SELECT t (a)\n"
	  "R4 [10,10] tds 21 SELECT t (a) ok\n"
	  "C5 [13,13] tds 68 SELECT t (a)\n"
	  "R5 [14,14] tds 21 SELECT t (a) ok\n"
	  "returns-orphan 1\n"
	  "calls-unanswered 2\n"
	  "resyncs 2\n"
	  "bytes-skipped 28\n" },
	{ "cut by the snap length",
	  { PRELOGIN, ANSWER, "C b:1 b:1 h:500 h:0 b:1 b:0 " HEADERS QUERY, "x 432",
	    "S b:4 b:1 h:600 h:0 b:1 b:0 b:0x81 0:20", "y 571", "C " PACKET("1") HEADERS QUERY ")",
	    "S " PACKET("4") DONE("0xfd", "0") ")" },
	  "C1 [1,1] tds 20 (prelogin) setup\n"
	  "R1 [2,2] tds 20 (prelogin) ok setup\n"
	  "C2 [3,3] tds 500 SELECT t (a)\n"
	  "R2 [4,4] tds 600 SELECT t (a) unknown\n"
	  "C3 [5,5] tds 68 SELECT t (a)\n"
	  "R3 [6,6] tds 21 SELECT t (a) ok\n" },
	{ "bytes that are none",
	  { PRELOGIN, ANSWER, "C x:ffff", "C " PACKET("1") HEADERS QUERY ")",
	    "S " PACKET("4") DONE("0xfd", "0") ")" },
	  "C1 [1,1] tds 20 (prelogin) setup\n"
	  "R1 [2,2] tds 20 (prelogin) ok setup\n"
	  "C2 [4,4] tds 68 SELECT t (a)\n"
	  "R2 [5,5] tds 21 SELECT t (a) ok\n"
	  "resyncs 1\n"
	  "bytes-skipped 2\n" },
};

START_TEST(what_is_missing)
{
	wp_byte_rows_check(NULL, holes, G_N_ELEMENTS(holes));
}
END_TEST

WP_SUITE("decode-tds", requests, side_by_side, encrypted, what_is_missing)
