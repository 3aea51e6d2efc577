/* PostgreSQL conversations through the stream: what is a call, where its return ends, its label. */
#include <string.h>

#include "capture/decoders.h"
#include "tests/support/decode-run.h"
#include "tests/support/suite.h"

/* --- messages of the client: type, length (4), body --- */

#define STARTUP     "\0\0\0\x12\0\3\0\0user\0app\0\0"
#define SSL_REQUEST "\0\0\0\x08\x04\xd2\x16\x2f"
#define GSS_REQUEST "\0\0\0\x08\x04\xd2\x16\x30"
#define CANCEL      "\0\0\0\x10\x04\xd2\x16\x2e\0\0\0\1\0\0\0\2"
#define PASSWORD    "p\0\0\0\x0bsecret\0"
#define SELECT_T    "Q\0\0\0\x14SELECT a FROM t\0"
#define BEGIN                                                                                      \
	"Q\0\0\0\x0a"                                                                              \
	"BEGIN\0"
#define COPY_T                                                                                     \
	"Q\0\0\0\x16"                                                                              \
	"COPY t FROM STDIN\0"
#define PARSE_T     "P\0\0\0\x23s1\0SELECT a FROM t WHERE b=1\0\0\0"
#define PARSE_BEGIN "P\0\0\0\x0d\0BEGIN\0\0\0"
#define PARSE_U     "P\0\0\0\x17\0SELECT 1 FROM u\0\0\0"
#define BIND_T      "B\0\0\0\x0e\0s1\0\0\0\0\0\0\0"
#define BIND        "B\0\0\0\x0c\0\0\0\0\0\0\0\0"
#define BIND_CUT    "B\0\0\0\x42\0s1\0\0\0\0\1\0\0\0\x30xyz" /* 47 bytes of it are missing */
#define BIND_TOKENS                                                                                \
	"B\0\0\0\x39\0s1\0\0\0\0\4"                                                                \
	"\0\0\0\7abc1234"                                                                          \
	"\0\0\0\4\0\x12\xd6\x87"                                                                   \
	"\xff\xff\xff\xff"                                                                         \
	"\0\0\0\x10\1\2\3\4\5\6\7\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10"                             \
	"\0\0"
#define DESCRIBE "D\0\0\0\6P\0"
#define EXECUTE  "E\0\0\0\x09\0\0\0\0\0"
#define CLOSE_T  "C\0\0\0\x08Ss1\0"
#define SYNC     "S\0\0\0\4"
#define FLUSH    "H\0\0\0\4"
#define FUNCTION "F\0\0\0\x0e\0\0\0\1\0\0\0\0\0\0"
#define DATA     "d\0\0\0\6x\n"
#define DONE     "c\0\0\0\4"
#define BYE      "X\0\0\0\4"

/* --- messages of the server --- */

#define AUTH_MD5  "R\0\0\0\x0c\0\0\0\5salt"
#define AUTH_OK   "R\0\0\0\x08\0\0\0\0"
#define KEY       "K\0\0\0\x0c\0\0\0\1\0\0\0\2"
#define PARAMETER "S\0\0\0\x11TimeZone\0UTC\0"
#define READY     "Z\0\0\0\5I"
#define COLUMNS                                                                                    \
	"T\0\0\0\x1a\0\1"                                                                          \
	"a\0\0\0\0\0\0\0\0\0\0\x17\0\4\xff\xff\xff\xff\0\0"
#define ROW                                                                                        \
	"D\0\0\0\x0b\0\1\0\0\0\1"                                                                  \
	"7"
#define SELECT_1 "C\0\0\0\x0dSELECT 1\0"
#define DONE_TAG                                                                                   \
	"C\0\0\0\x0a"                                                                              \
	"BEGIN\0"
#define COPY_1                                                                                     \
	"C\0\0\0\x0b"                                                                              \
	"COPY 1\0"
#define PARSED   "1\0\0\0\4"
#define BOUND    "2\0\0\0\4"
#define CLOSED   "3\0\0\0\4"
#define NO_DATA  "n\0\0\0\4"
#define COPY_IN  "G\0\0\0\x09\0\0\1\0\0"
#define ERROR    "E\0\0\0\x1aSERROR\0VERROR\0C42P01\0\0"
#define FATAL    "E\0\0\0\x1aSFATAL\0VFATAL\0C57P01\0\0"
#define NOTICE   "N\0\0\0\x15SNOTICE\0VNOTICE\0\0"
#define NOTIFIED "A\0\0\0\x13\0\0\0\x09jobs\0id-77\0"
#define RESULT   COLUMNS ROW SELECT_1

/* Start-up as most clients do it, for rows about what follows. */
#define OPENING WP_C(STARTUP), WP_S(AUTH_OK PARAMETER KEY READY)
#define OPENED  "C1 [1,1] pgsql 18 (startup) setup\nR1 [2,2] pgsql 46 (startup) ok setup\n"

static const WpDecodeRow startup[] = {
	{ "without password", { 0 }, { OPENING }, OPENED },
	{ "encryption refused, password",
	  { 0 },
	  { WP_C(GSS_REQUEST), WP_S("N"), WP_C(SSL_REQUEST), WP_S("N"), WP_C(STARTUP),
	    WP_S(AUTH_MD5), WP_C(PASSWORD), WP_S(AUTH_OK PARAMETER), WP_S(KEY READY),
	    WP_C(SELECT_T), WP_S(RESULT READY), WP_C(BYE) },
	  "C1 [1,1] pgsql 8 (gss) setup\nR1 [2,2] pgsql 1 (gss) ok setup\n"
	  "C2 [3,3] pgsql 8 (ssl) setup\nR2 [4,4] pgsql 1 (ssl) ok setup\n"
	  "C3 [5,5] pgsql 18 (startup) setup\nR3 [6,9] pgsql 59 (startup) ok setup\n"
	  "C4 [10,10] pgsql 21 SELECT t (a)\nR4 [11,11] pgsql 59 SELECT t (a) ok\n"
	  "M5 [12,12] pgsql 5 (terminate) unknown setup\n" },
	{ "refused",
	  { 0 },
	  { WP_C(STARTUP), WP_S(FATAL), WP_S_FIN },
	  "C1 [1,1] pgsql 18 (startup) setup\nR1 [2,2] pgsql 27 (startup) error setup\n" },
	{ "a cancel request has no answer",
	  { 0 },
	  { WP_C(CANCEL), WP_C_FIN, WP_S_FIN },
	  "M1 [1,1] pgsql 16 CANCEL unknown\n" },
	{ "encryption accepted",
	  { 0 },
	  { WP_C(SSL_REQUEST), WP_S("S"), WP_C("\x16\x03\x03\0\5hello") },
	  "C1 [1,1] pgsql 8 (ssl) setup\nR1 [2,2] pgsql 1 (ssl) ok setup\n"
	  "M2 [3,3] tls 10 unknown setup\n" },
};

static const WpDecodeRow calls[] = {
	{ "simple queries",
	  { 0 },
	  { OPENING, WP_C(SELECT_T), WP_S(COLUMNS), WP_S(ROW SELECT_1), WP_S(READY), WP_C(BEGIN),
	    WP_S(DONE_TAG READY), WP_C(SELECT_T), WP_S(ERROR READY) },
	  OPENED "C2 [3,3] pgsql 21 SELECT t (a)\nR2 [4,6] pgsql 59 SELECT t (a) ok\n"
		 "C3 [7,7] pgsql 11 BEGIN\nR3 [8,8] pgsql 17 BEGIN ok\n"
		 "C4 [9,9] pgsql 21 SELECT t (a)\nR4 [10,10] pgsql 33 SELECT t (a) error\n" },
	{ "prepare, execute by name, close",
	  { 0 },
	  { OPENING, WP_C(PARSE_T DESCRIBE SYNC), WP_S(PARSED NO_DATA READY),
	    WP_C(BIND_T EXECUTE SYNC), WP_S(BOUND ROW SELECT_1 READY), WP_C(CLOSE_T SYNC),
	    WP_S(CLOSED READY), WP_C(BIND_T EXECUTE SYNC), WP_S(ERROR READY) },
	  OPENED
	  "C2 [3,3] pgsql 48 PREPARE SELECT t (a) WHERE b\n"
	  "R2 [4,4] pgsql 16 PREPARE SELECT t (a) WHERE b ok\n"
	  "C3 [5,5] pgsql 30 SELECT t (a) WHERE b\nR3 [6,6] pgsql 37 SELECT t (a) WHERE b ok\n"
	  "C4 [7,7] pgsql 14 CLOSE\nR4 [8,8] pgsql 11 CLOSE ok\n"
	  "C5 [9,9] pgsql 30 EXECUTE\nR5 [10,10] pgsql 33 EXECUTE error\n" },
	{ "BEGIN before a statement says nothing of it",
	  { 0 },
	  { OPENING, WP_C(PARSE_BEGIN BIND EXECUTE PARSE_U BIND DESCRIBE EXECUTE SYNC),
	    WP_S(PARSED BOUND DONE_TAG PARSED BOUND COLUMNS ROW SELECT_1 READY) },
	  OPENED "C2 [3,3] pgsql 96 SELECT u\nR2 [4,4] pgsql 90 SELECT u ok\n" },
	{ "a call in parts begins with its first byte and ends with Sync",
	  { 0 },
	  { OPENING, WP_C(PARSE_U FLUSH), WP_S(PARSED), WP_C(BIND EXECUTE), WP_C(SYNC),
	    WP_S(BOUND ROW SELECT_1), WP_S(READY) },
	  OPENED "C2 [3,6] pgsql 57 SELECT u\nR2 [4,8] pgsql 42 SELECT u ok\n" },
	{ "what a Flush had answered before a pause is a call of its own",
	  { 0 },
	  { OPENING, WP_C(PARSE_U FLUSH), WP_S(PARSED), WP_PAUSE(10000), WP_C(BIND EXECUTE SYNC),
	    WP_S(BOUND ROW SELECT_1 READY) },
	  OPENED "C2 [3,3] pgsql 29 PREPARE SELECT u\nR2 [4,4] pgsql 5 PREPARE SELECT u ok\n"
		 "C3 [10006,10006] pgsql 28 SELECT u\nR3 [10007,10007] pgsql 37 SELECT u ok\n" },
	{ "but not a long COPY",
	  { 0 },
	  { OPENING, WP_C(PARSE_T BIND_T EXECUTE FLUSH), WP_S(PARSED BOUND COPY_IN), WP_C(DATA),
	    WP_PAUSE(10000), WP_C(DATA DONE SYNC), WP_S(COPY_1 READY) },
	  OPENED "C2 [3,10007] pgsql 90 SELECT t (a) WHERE b\n"
		 "R2 [4,10008] pgsql 38 SELECT t (a) WHERE b ok\n" },
	{ "a pipeline: several Syncs before the first answer",
	  { 0 },
	  { OPENING, WP_C(PARSE_U BIND EXECUTE SYNC), WP_C(PARSE_BEGIN BIND EXECUTE SYNC SYNC),
	    WP_S(PARSED BOUND ROW SELECT_1 READY PARSED), WP_S(BOUND ERROR READY), WP_S(READY) },
	  OPENED "C2 [3,3] pgsql 52 SELECT u\nC3 [4,4] pgsql 42 BEGIN\nC4 [4,4] pgsql 5 SYNC\n"
		 "R2 [5,5] pgsql 42 SELECT u ok\nR3 [5,6] pgsql 43 BEGIN error\n"
		 "R4 [7,7] pgsql 6 SYNC ok\n" },
	{ "COPY in by a query",
	  { 0 },
	  { OPENING, WP_C(COPY_T), WP_S(COPY_IN), WP_C(DATA DATA), WP_C(DATA DONE),
	    WP_S(COPY_1 READY), WP_C(SELECT_T), WP_S(RESULT READY) },
	  OPENED "C2 [3,3] pgsql 23 COPY t\nR2 [4,7] pgsql 28 COPY t ok\n"
		 "C3 [8,8] pgsql 21 SELECT t (a)\nR3 [9,9] pgsql 59 SELECT t (a) ok\n" },
	{ "COPY in by a statement: the Sync that ends it asks for nothing",
	  { 0 },
	  { OPENING, WP_C(PARSE_T BIND_T EXECUTE SYNC), WP_S(PARSED BOUND COPY_IN),
	    WP_C(DATA DONE SYNC), WP_S(COPY_1 READY), WP_C(SYNC), WP_S(READY) },
	  OPENED
	  "C2 [3,3] pgsql 66 SELECT t (a) WHERE b\nR2 [4,6] pgsql 38 SELECT t (a) WHERE b ok\n"
	  "C3 [7,7] pgsql 5 SYNC\nR3 [8,8] pgsql 6 SYNC ok\n" },
	{ "a function call",
	  { 0 },
	  { OPENING, WP_C(FUNCTION), WP_S("V\0\0\0\x08\xff\xff\xff\xff" READY) },
	  OPENED "C2 [3,3] pgsql 15 FUNCTION\nR2 [4,4] pgsql 15 FUNCTION ok\n" },
	{ "what nobody asked for belongs to no call",
	  { 0 },
	  { OPENING, WP_S(PARAMETER NOTICE), WP_S(NOTIFIED), WP_C(SELECT_T), WP_S(NOTICE RESULT),
	    WP_S(NOTIFIED READY), WP_S(FATAL) },
	  OPENED "m2 [4,4] pgsql 20 NOTIFY jobs unknown\n"
		 "C3 [5,5] pgsql 21 SELECT t (a)\nR3 [6,7] pgsql 101 SELECT t (a) ok\n" },
	{ "the server goes down while it works",
	  { 0 },
	  { OPENING, WP_C(SELECT_T), WP_S(FATAL), WP_S_FIN },
	  OPENED "C2 [3,3] pgsql 21 SELECT t (a)\nR2 [4,4] pgsql 27 SELECT t (a) error\n" },
	{ "a standby waits for changes",
	  { 0 },
	  { OPENING, WP_C("Q\0\0\0\x23START_REPLICATION SLOT s 0/4567\0"),
	    WP_S("W\0\0\0\7\0\0\0" DATA) },
	  OPENED "C2 [3,3] pgsql 36 START_REPLICATION wait\ncalls-open 1\n" },
};

/* The connection was open when the capture began. */
static const WpDecodeRow midstream[] = {
	{ "queries",
	  { .is_midstream = TRUE },
	  { WP_C(SELECT_T), WP_S(RESULT READY), WP_C(SELECT_T), WP_S(RESULT READY) },
	  "C1 [1,1] pgsql 21 SELECT t (a)\nR1 [2,2] pgsql 59 SELECT t (a) ok\n"
	  "C2 [3,3] pgsql 21 SELECT t (a)\nR2 [4,4] pgsql 59 SELECT t (a) ok\n" },
	{ "a statement that was prepared before",
	  { .is_midstream = TRUE },
	  { WP_C(BIND_T EXECUTE SYNC), WP_S(BOUND ROW SELECT_1 READY) },
	  "C1 [1,1] pgsql 30 EXECUTE\nR1 [2,2] pgsql 37 EXECUTE ok\n" },
	{ "every packet is cut: of a call the end, of a return the last two bytes",
	  { .is_midstream = TRUE },
	  { WP_C(BIND_CUT), WP_C_CUT(62), WP_S(BOUND SELECT_1 "Z\0\0\0"), WP_S_CUT(2),
	    WP_C(BIND_CUT), WP_C_CUT(62), WP_S(BOUND SELECT_1 "Z\0\0\0"), WP_S_CUT(2),
	    WP_C(BIND_CUT), WP_C_CUT(62), WP_S(BOUND SELECT_1 "Z\0\0\0"), WP_S_CUT(2) },
	  "C1 [3,3] pgsql 67\nR1 [4,4] pgsql 25 unknown\nC2 [5,5] pgsql 67\n"
	  "returns-unread 1\ncalls-unanswered 1\nresyncs 3\nbytes-skipped 32\n" },
	{ "and the client was taken for the server",
	  { .is_midstream = TRUE, .is_swapped = TRUE, .port = 50000 },
	  { WP_C(SELECT_T), WP_S(RESULT READY) },
	  "c1 [1,1] pgsql 21 SELECT t (a)\nr1 [2,2] pgsql 59 SELECT t (a) ok\n" },
};

/* Bytes are missing: nothing is paired across the hole. */
static const WpDecodeRow holes[] = {
	{ "a lost call",
	  { 0 },
	  { OPENING, WP_C_HOLE(21), WP_S(RESULT READY), WP_C(SELECT_T), WP_S(RESULT READY) },
	  OPENED "C2 [5,5] pgsql 21 SELECT t (a)\nR2 [6,6] pgsql 59 SELECT t (a) ok\n"
		 "returns-orphan 1\nresyncs 1\n" },
	{ "a lost return",
	  { 0 },
	  { OPENING, WP_C(SELECT_T), WP_S_HOLE(59), WP_C(SELECT_T), WP_S(RESULT READY) },
	  OPENED "C2 [3,3] pgsql 21 SELECT t (a)\nC3 [5,5] pgsql 21 SELECT t (a)\n"
		 "R3 [6,6] pgsql 59 SELECT t (a) ok\n"
		 "calls-unanswered 1\nresyncs 1\n" },
	{ "a hole in rows whose length is known is none to the decoder",
	  { 0 },
	  { OPENING, WP_C(SELECT_T), WP_S(COLUMNS "D\0\0\0\x6a\0\1\0\0\0\x60"), WP_S_HOLE(96),
	    WP_S(SELECT_1 READY) },
	  OPENED "C2 [3,3] pgsql 21 SELECT t (a)\nR2 [4,6] pgsql 154 SELECT t (a) ok\n" },
	{ "what follows a hole in a call is of that call until it is answered",
	  { 0 },
	  { OPENING, WP_C(PARSE_T "B\0\0"), WP_C_HOLE(40), WP_C(BIND_T EXECUTE SYNC),
	    WP_S(PARSED BOUND RESULT READY), WP_C(SELECT_T), WP_S(RESULT READY) },
	  OPENED "C2 [3,3] pgsql 36 SELECT t (a) WHERE b\n"
		 "R2 [6,6] pgsql 69 SELECT t (a) WHERE b ok\n"
		 "C3 [7,7] pgsql 21 SELECT t (a)\nR3 [8,8] pgsql 59 SELECT t (a) ok\n"
		 "resyncs 1\nbytes-skipped 33\n" },
	{ "the end of a statement",
	  { 0 },
	  { OPENING, WP_C("Q\0\0\0\x28SELECT a FROM t WHERE "), WP_C_HOLE(14), WP_S(RESULT READY),
	    WP_C(SELECT_T), WP_S(RESULT READY) },
	  OPENED "C2 [3,3] pgsql 41 SELECT t (a)\nR2 [5,5] pgsql 59 SELECT t (a) ok\n"
		 "C3 [6,6] pgsql 21 SELECT t (a)\nR3 [7,7] pgsql 59 SELECT t (a) ok\n" },
};

/* Not PostgreSQL, or no longer: whatever comes of it, it ends, and reads nothing that is not there. */
static const WpDecodeRow hostile[] = {
	{ "lengths over any message",
	  { .is_midstream = TRUE },
	  { WP_C("Q\x7f\xff\xff\xffSELECT 1\0"), WP_S("Z\0\0\0\5I") },
	  NULL },
	{ "a length under its own four bytes", { 0 }, { OPENING, WP_C("Q\0\0\0\3") }, NULL },
	{ "an unknown type", { 0 }, { OPENING, WP_C("?\0\0\0\4") }, NULL },
	{ "a Bind that counts more than it has",
	  { 0 },
	  { OPENING, WP_C("B\0\0\0\x0e\0s1\0\xff\xff\xff\xff\0\0" SYNC), WP_S(READY) },
	  NULL },
	{ "an error without end",
	  { 0 },
	  { OPENING, WP_C(SELECT_T), WP_S("E\0\0\0\x09SERRO" READY) },
	  NULL },
	{ "texts without NUL",
	  { 0 },
	  { OPENING,
	    WP_C("P\0\0\0\x08"
		 "abcd"
		 "C\0\0\0\x06Sx"
		 "E\0\0\0\x09"
		 "abcde" SYNC),
	    WP_S("A\0\0\0\x0a"
		 "123456"
		 "S\0\0\0\6ab" READY) },
	  NULL },
};

START_TEST(start_up)
{
	wp_decode_rows_check(startup, G_N_ELEMENTS(startup));
}
END_TEST

START_TEST(calls_and_returns)
{
	wp_decode_rows_check(calls, G_N_ELEMENTS(calls));
}
END_TEST

START_TEST(in_midstream)
{
	wp_decode_rows_check(midstream, G_N_ELEMENTS(midstream));
}
END_TEST

START_TEST(around_holes)
{
	wp_decode_rows_check(holes, G_N_ELEMENTS(holes));
}
END_TEST

START_TEST(hostile_bytes)
{
	for (gsize i = 0; i < G_N_ELEMENTS(hostile); i++)
		for (gsize cut = 0; cut < 64; cut++) {
			WpRunOptions options = hostile[i].options;
			options.cut = cut;
			g_autofree char *got = wp_decode_run(&options, hostile[i].steps,
							     wp_decode_row_n_steps(&hostile[i]));
			ck_assert_msg(!strstr(got, "SELECT ok"), "%s:\n%s", hostile[i].name, got);
		}
}
END_TEST

/* Text, a number of 4 bytes, a NULL, a UUID; and literals and comments in SQL. */
START_TEST(tokens)
{
	static const WpDecodeRow rows[] = {
		{ "of parameters",
		  { .show_tokens = TRUE },
		  { OPENING, WP_C(BIND_TOKENS EXECUTE SYNC), WP_S(BOUND SELECT_1 READY) },
		  "C1 [1,1] pgsql 18 (startup) setup tokens=0\n"
		  "R1 [2,2] pgsql 46 (startup) ok setup tokens=0\n"
		  "C2 [3,3] pgsql 73 EXECUTE tokens=3\nR2 [4,4] pgsql 25 EXECUTE ok tokens=0\n" },
		{ "of SQL",
		  { .show_tokens = TRUE },
		  { OPENING, WP_C("Q\0\0\0\x34SELECT a2345 FROM t WHERE b = 12345 /* x-789 */\0"),
		    WP_S(RESULT READY) },
		  "C1 [1,1] pgsql 18 (startup) setup tokens=0\n"
		  "R1 [2,2] pgsql 46 (startup) ok setup tokens=0\n"
		  "C2 [3,3] pgsql 53 SELECT t (a{}) WHERE b tokens=2\n"
		  "R2 [4,4] pgsql 59 SELECT t (a{}) WHERE b ok tokens=0\n" },
		{ "of sqlcommenter: the trace alone, as an identifier",
		  { .show_tokens = TRUE },
		  { OPENING,
		    WP_C("Q\0\0\0\x57"
			 "SELECT 1 /*traceparent='00-4bf92f3577b34da6a3ce929d0e0e4736-"
			 "00f067aa0ba902b7-01'*/\0"),
		    WP_S(RESULT READY) },
		  "C1 [1,1] pgsql 18 (startup) setup tokens=0\n"
		  "R1 [2,2] pgsql 46 (startup) ok setup tokens=0\n"
		  "C2 [3,3] pgsql 88 SELECT trace=4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"
		  " ids=1 tokens=2\n"
		  "R2 [4,4] pgsql 59 SELECT ok tokens=0\n" },
	};
	wp_decode_rows_check(rows, G_N_ELEMENTS(rows));
}
END_TEST

/* A \ in a literal is one where the server says that it is; then 'x\' = y' is one literal. */
START_TEST(backslashes)
{
	static const WpDecodeRow row = {
		"standard_conforming_strings off",
		{ 0 },
		{ WP_C(STARTUP),
		  WP_S(AUTH_OK "S\0\0\0\x24standard_conforming_strings\0off\0" KEY READY),
		  WP_C("Q\0\0\0\x28SELECT a FROM t WHERE 'x\\' = y' = b\0") },
		"C1 [1,1] pgsql 18 (startup) setup\nR1 [2,2] pgsql 65 (startup) ok setup\n"
		"C2 [3,3] pgsql 41 SELECT t (a)\ncalls-open 1\n",
	};
	wp_decode_rows_check(&row, 1);
}
END_TEST

/* What else may be taken for PostgreSQL is not. */
START_TEST(not_pgsql)
{
	static const char *const texts[] = {
		"GET / HTTP/1.1\r\n\r\n", "EHLO me\r\n", "SSH-2.0-x\r\n",           "PING\r\n",
		"*1\r\n$4\r\nPING\r\n",   "get a\r\n",   "\x16\x03\x01\x01\5hello",
	};
	for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
		WpProbe probe = { .client = wp_bytes((const guint8 *)texts[i], strlen(texts[i])),
				  .server = wp_bytes((const guint8 *)"", 0) };
		ck_assert_msg(wp_decoder_pgsql.probe(&probe) == WP_PROBE_NO, "%s", texts[i]);
		probe.from_start = TRUE;
		ck_assert_msg(wp_decoder_pgsql.probe(&probe) == WP_PROBE_NO, "%s", texts[i]);
	}
}
END_TEST

WP_SUITE("decode-pgsql", start_up, calls_and_returns, in_midstream, around_holes, hostile_bytes,
	 tokens, backslashes, not_pgsql)
