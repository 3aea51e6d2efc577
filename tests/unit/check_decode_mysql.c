/* MySQL conversations through the stream: what is a call, where its return ends, its label. */
#include <string.h>
#include <zlib.h>

#include "capture/decoders.h"
#include "capture/statements.h"
#include "tests/support/decode-run.h"
#include "tests/support/suite.h"

#define ZEROS_10 "\0\0\0\0\0\0\0\0\0\0"
#define ZEROS_23 ZEROS_10 ZEROS_10 "\0\0\0"

/* --- length (3), sequence, payload --- */

#define GREETING                                                                                   \
	"\x51\0\0\0\x0a"                                                                           \
	"5.5.5-10.11.6\0\1\0\0\0saltsalt\0\xfe\xff\x2d\2\0\xff\x81\x15" ZEROS_10                   \
	"saltsaltsalt\0mysql_native_password\0"
#define LOGIN_AS(sequence, capabilities)                                                           \
	"\x25\0\0" sequence capabilities "\0\0\0\1\x2d" ZEROS_23 "app\0\0"
#define LOGIN        LOGIN_AS("\1", "\0\x82\0\0")
#define LOGIN_NEW    LOGIN_AS("\1", "\0\x82\0\1") /* no EOF */
#define LOGIN_PACKED LOGIN_AS("\1", "\x20\x82\0\0")
#define LOGIN_TLS    "\x20\0\0\1\0\x8a\0\0\0\0\0\1\x2d" ZEROS_23
#define SWITCH                                                                                     \
	"\x1c\0\0\2\xfe"                                                                           \
	"caching_sha2_password\0salt\0"
#define SCRAMBLE             "\4\0\0\3hash"
#define FAST_OK              "\2\0\0\4\1\3"
#define OK(sequence)         "\7\0\0" sequence "\0\0\0\2\0\0\0"
#define OK_MORE(sequence)    "\7\0\0" sequence "\0\0\0\x0a\0\0\0"
#define END(sequence)        "\5\0\0" sequence "\xfe\0\0\2\0"
#define END_MORE(sequence)   "\5\0\0" sequence "\xfe\0\0\x0a\0"
#define END_CURSOR(sequence) "\5\0\0" sequence "\xfe\0\0\x42\0"
#define END_OK(sequence)     "\7\0\0" sequence "\xfe\0\0\2\0\0\0"
#define ERROR(sequence)      "\x0b\0\0" sequence "\xff\x15\4#28000no"
#define PROGRESS(sequence)   "\x0c\0\0" sequence "\xff\xff\xff\1\1\2\0\0\0\2go"
#define COUNT                "\1\0\0\1\1"
#define COLUMN(sequence)     "\x17\0\0" sequence "\3def\0\0\0\1a\0\x0c\x3f\0\x0b\0\0\0\3\0\0\0\0\0"
#define VALUE(sequence)                                                                            \
	"\2\0\0" sequence "\1"                                                                     \
	"7"

#define SELECT_T      "\x10\0\0\0\3SELECT a FROM t"
#define ALTER_T       "\x18\0\0\0\3ALTER TABLE t ADD b int"
#define LOAD_T        "\x22\0\0\0\3LOAD DATA LOCAL INFILE 'x' INTO t"
#define PREPARE_T     "\x1a\0\0\0\x16SELECT a FROM t WHERE b=?"
#define PREPARED      "\x0c\0\0\1\0\5\0\0\0\1\0\1\0\0\0\0"
#define PREPARED_BARE "\x0c\0\0\1\0\5\0\0\0\0\0\0\0\0\0\0"
#define EXECUTE_TYPES "\x16\0\0\0\x17\5\0\0\0\0\1\0\0\0\0\1\x08\0\x87\xd6\x12\0\0\0\0\0"
#define EXECUTE       "\x14\0\0\0\x17\5\0\0\0\0\1\0\0\0\0\0\x88\xd6\x12\0\0\0\0\0"
#define EXECUTE_LAST  "\x0a\0\0\0\x17\xff\xff\xff\xff\0\1\0\0\0"
#define FETCH         "\x09\0\0\0\x1c\5\0\0\0\x64\0\0\0"
#define CLOSE         "\5\0\0\0\x19\5\0\0\0"
#define LONG_DATA     "\x0b\0\0\0\x18\5\0\0\0\0\0data"
#define PING          "\1\0\0\0\x0e"
#define QUIT          "\1\0\0\0\1"
#define FIELDS_T      "\3\0\0\0\4t\0"
#define STATISTICS    "\1\0\0\0\x09"
#define BINLOG        "\x0b\0\0\0\x12\4\0\0\0\0\0\1\0\0\0"

#define RESULT       COUNT COLUMN("\2") END("\3") VALUE("\4") END("\5")
#define RESULT_KNOWN "\2\0\0\1\1\0" END("\2") VALUE("\3") END("\4") /* no definitions (MariaDB) */
#define RESULT_NEW   COUNT COLUMN("\2") VALUE("\3") END_OK("\4")

#define OPENING     WP_S(GREETING), WP_C(LOGIN), WP_S(OK("\2"))
#define OPENING_NEW WP_S(GREETING), WP_C(LOGIN_NEW), WP_S(OK("\2"))
#define OPENED                                                                                     \
	"m1 [1,1] mysql 85 (greeting) ok setup\nC2 [2,2] mysql 41 (login) setup\n"                 \
	"R2 [3,3] mysql 11 (login) ok setup\n"

static const WpDecodeRow login[] = {
	{ "native password", { 0 }, { OPENING }, OPENED },
	{ "questions and answers belong to the login",
	  { 0 },
	  { WP_S(GREETING), WP_C(LOGIN), WP_S(SWITCH), WP_C(SCRAMBLE), WP_S(FAST_OK OK("\5")),
	    WP_C(QUIT), WP_C_FIN },
	  "m1 [1,1] mysql 85 (greeting) ok setup\nC2 [2,2] mysql 41 (login) setup\n"
	  "R2 [3,5] mysql 49 (login) ok setup\nM3 [6,6] mysql 5 (quit) unknown setup\n" },
	{ "wrong password",
	  { 0 },
	  { WP_S(GREETING), WP_C(LOGIN), WP_S(ERROR("\2")), WP_S_FIN },
	  "m1 [1,1] mysql 85 (greeting) ok setup\nC2 [2,2] mysql 41 (login) setup\n"
	  "R2 [3,3] mysql 15 (login) error setup\n" },
	{ "TLS",
	  { 0 },
	  { WP_S(GREETING), WP_C(LOGIN_TLS), WP_C("\x16\x03\x03\0\5hello") },
	  "m1 [1,1] mysql 85 (greeting) ok setup\nM2 [2,2] mysql 36 (ssl) unknown setup\n"
	  "M3 [3,3] tls 10 unknown setup\n" },
};

static const WpDecodeRow calls[] = {
	{ "queries: rows, nothing, an error",
	  { 0 },
	  { OPENING, WP_C(SELECT_T), WP_S(COUNT COLUMN("\2") END("\3")),
	    WP_S(VALUE("\4") END("\5")), WP_C(SELECT_T), WP_S(OK("\1")), WP_C(SELECT_T),
	    WP_S(ERROR("\1")) },
	  OPENED "C3 [4,4] mysql 20 SELECT t (a)\nR3 [5,6] mysql 56 SELECT t (a) ok\n"
		 "C4 [7,7] mysql 20 SELECT t (a)\nR4 [8,8] mysql 11 SELECT t (a) ok\n"
		 "C5 [9,9] mysql 20 SELECT t (a)\nR5 [10,10] mysql 15 SELECT t (a) error\n" },
	{ "a result set without EOF",
	  { 0 },
	  { OPENING_NEW, WP_C(SELECT_T), WP_S(RESULT_NEW), WP_C(SELECT_T),
	    WP_S(COUNT COLUMN("\2") END_OK("\3")) },
	  OPENED "C3 [4,4] mysql 20 SELECT t (a)\nR3 [5,5] mysql 49 SELECT t (a) ok\n"
		 "C4 [6,6] mysql 20 SELECT t (a)\nR4 [7,7] mysql 43 SELECT t (a) ok\n" },
	{ "several results are one return",
	  { 0 },
	  { OPENING, WP_C(SELECT_T),
	    WP_S(OK_MORE("\1") "\1\0\0\2\1" COLUMN("\3") END("\4") VALUE("\5") END_MORE("\6")),
	    WP_S(OK("\7")) },
	  OPENED "C3 [4,4] mysql 20 SELECT t (a)\nR3 [5,6] mysql 78 SELECT t (a) ok\n" },
	{ "an error among the rows",
	  { 0 },
	  { OPENING, WP_C(SELECT_T), WP_S(COUNT COLUMN("\2") END("\3") VALUE("\4") ERROR("\5")) },
	  OPENED "C3 [4,4] mysql 20 SELECT t (a)\nR3 [5,5] mysql 62 SELECT t (a) error\n" },
	{ "progress is no error",
	  { 0 },
	  { OPENING, WP_C(ALTER_T), WP_S(PROGRESS("\1")), WP_S(PROGRESS("\2") OK("\3")) },
	  OPENED "C3 [4,4] mysql 28 ALTER TABLE t\nR3 [5,6] mysql 43 ALTER TABLE t ok\n" },
	{ "prepare, execute, fetch, close",
	  { 0 },
	  { OPENING, WP_C(PREPARE_T), WP_S(PREPARED COLUMN("\2") END("\3") COLUMN("\4") END("\5")),
	    WP_C(EXECUTE_TYPES), WP_S(COUNT COLUMN("\2") END_CURSOR("\3")), WP_C(FETCH),
	    WP_S(VALUE("\1") END("\2")), WP_C(LONG_DATA), WP_C(CLOSE), WP_C(EXECUTE),
	    WP_S(ERROR("\1")) },
	  OPENED
	  "C3 [4,4] mysql 30 PREPARE SELECT t (a) WHERE b\n"
	  "R3 [5,5] mysql 88 PREPARE SELECT t (a) WHERE b ok\n"
	  "C4 [6,6] mysql 26 SELECT t (a) WHERE b\nR4 [7,7] mysql 41 SELECT t (a) WHERE b ok\n"
	  "C5 [8,8] mysql 13 SELECT t (a) WHERE b\nR5 [9,9] mysql 15 SELECT t (a) WHERE b ok\n"
	  "M6 [10,10] mysql 15 SEND_LONG_DATA unknown\nM7 [11,11] mysql 9 CLOSE unknown\n"
	  "C8 [12,12] mysql 24 EXECUTE\nR8 [13,13] mysql 15 EXECUTE error\n" },
	{ "prepare without EOF, without columns; execute what was prepared last, at once",
	  { 0 },
	  { OPENING_NEW, WP_C(PREPARE_T), WP_S(PREPARED COLUMN("\2") COLUMN("\3")),
	    WP_C(PREPARE_T EXECUTE_LAST), WP_S(PREPARED_BARE OK("\1")) },
	  OPENED
	  "C3 [4,4] mysql 30 PREPARE SELECT t (a) WHERE b\n"
	  "R3 [5,5] mysql 70 PREPARE SELECT t (a) WHERE b ok\n"
	  "C4 [6,6] mysql 30 PREPARE SELECT t (a) WHERE b\nC5 [6,6] mysql 14 SELECT t (a) WHERE b\n"
	  "R4 [7,7] mysql 16 PREPARE SELECT t (a) WHERE b ok\n"
	  "R5 [7,7] mysql 11 SELECT t (a) WHERE b ok\n" },
	{ "a file is sent in between",
	  { 0 },
	  { OPENING, WP_C(LOAD_T), WP_S("\2\0\0\1\xfbx"), WP_C("\5\0\0\2data\n"), WP_C("\0\0\0\3"),
	    WP_S(OK("\4")), WP_C(PING), WP_S(OK("\1")) },
	  OPENED "C3 [4,4] mysql 38 LOAD t\nR3 [5,8] mysql 17 LOAD t ok\n"
		 "C4 [9,9] mysql 5 PING\nR4 [10,10] mysql 11 PING ok\n" },
	{ "other commands",
	  { 0 },
	  { OPENING, WP_C(FIELDS_T), WP_S(COLUMN("\1") END("\2")), WP_C(STATISTICS),
	    WP_S("\7\0\0\1Uptime:"), WP_C(BINLOG), WP_S("\3\0\0\1\0ev"), WP_S("\3\0\0\2\0ev") },
	  OPENED "C3 [4,4] mysql 7 FIELD_LIST\nR3 [5,5] mysql 36 FIELD_LIST ok\n"
		 "C4 [6,6] mysql 5 STATISTICS\nR4 [7,7] mysql 11 STATISTICS ok\n"
		 "C5 [8,8] mysql 15 BINLOG_DUMP wait\ncalls-open 1\n" },
	{ "query attributes before the text",
	  { 0 },
	  { WP_S(GREETING), WP_C(LOGIN_AS("\1", "\0\x82\0\x08")), WP_S(OK("\2")),
	    WP_C("\x12\0\0\0\3\0\1SELECT a FROM t"), WP_S(OK("\1")),
	    WP_C("\x1d\0\0\0\3\1\1\0\1\xfd\0\2id\3"
		 "a42SELECT a FROM t"),
	    WP_S(OK("\1")) },
	  "m1 [1,1] mysql 85 (greeting) ok setup\nC2 [2,2] mysql 41 (login) setup\n"
	  "R2 [3,3] mysql 11 (login) ok setup\n"
	  "C3 [4,4] mysql 22 SELECT t (a)\nR3 [5,5] mysql 11 SELECT t (a) ok\n"
	  "C4 [6,6] mysql 33 SELECT t (a)\nR4 [7,7] mysql 11 SELECT t (a) ok\n" },
};

/* The connection was open when the capture began: what was agreed on is not known. */
static const WpDecodeRow midstream[] = {
	{ "queries",
	  { .is_midstream = TRUE },
	  { WP_C(SELECT_T), WP_S(RESULT), WP_C(SELECT_T), WP_S(RESULT_NEW) },
	  "C1 [1,1] mysql 20 SELECT t (a)\nR1 [2,2] mysql 56 SELECT t (a) ok\n"
	  "C2 [3,3] mysql 20 SELECT t (a)\nR2 [4,4] mysql 49 SELECT t (a) ok\n" },
	{ "definitions to an EOF, or to the next command",
	  { .is_midstream = TRUE },
	  { WP_C(PREPARE_T), WP_S(PREPARED COLUMN("\2") END("\3") COLUMN("\4")), WP_S(END("\5")),
	    WP_C(EXECUTE), WP_S(OK("\1")) },
	  "C1 [1,1] mysql 30 PREPARE SELECT t (a) WHERE b\n"
	  "R1 [2,3] mysql 88 PREPARE SELECT t (a) WHERE b ok\n"
	  "C2 [4,4] mysql 24 SELECT t (a) WHERE b\nR2 [5,5] mysql 11 SELECT t (a) WHERE b ok\n" },
	{ "the same without EOF",
	  { .is_midstream = TRUE },
	  { WP_C(PREPARE_T), WP_S(PREPARED COLUMN("\2") COLUMN("\3")), WP_C(EXECUTE),
	    WP_S(OK("\1")), WP_C(PREPARE_T), WP_S(PREPARED COLUMN("\2") COLUMN("\3")), WP_S_FIN },
	  "C1 [1,1] mysql 30 PREPARE SELECT t (a) WHERE b\n"
	  "R1 [2,2] mysql 70 PREPARE SELECT t (a) WHERE b ok\n"
	  "C2 [3,3] mysql 24 SELECT t (a) WHERE b\nR2 [4,4] mysql 11 SELECT t (a) WHERE b ok\n"
	  "C3 [5,5] mysql 30 PREPARE SELECT t (a) WHERE b\n"
	  "R3 [6,6] mysql 70 PREPARE SELECT t (a) WHERE b ok\n" },
};

static const WpDecodeRow holes[] = {
	{ "a lost call",
	  { 0 },
	  { OPENING, WP_C_HOLE(20), WP_S(RESULT), WP_C(SELECT_T), WP_S(RESULT) },
	  OPENED "C3 [6,6] mysql 20 SELECT t (a)\nR3 [7,7] mysql 56 SELECT t (a) ok\n"
		 "returns-orphan 1\nresyncs 1\n" },
	{ "a lost return",
	  { 0 },
	  { OPENING, WP_C(SELECT_T), WP_S_HOLE(56), WP_C(SELECT_T), WP_S(RESULT) },
	  OPENED "C3 [4,4] mysql 20 SELECT t (a)\nC4 [6,6] mysql 20 SELECT t (a)\n"
		 "R4 [7,7] mysql 56 SELECT t (a) ok\ncalls-unanswered 1\nresyncs 1\n" },
	{ "a lost return, and then one without definitions",
	  { 0 },
	  { OPENING, WP_C(SELECT_T), WP_S_HOLE(56), WP_C(SELECT_T), WP_S(RESULT_KNOWN) },
	  OPENED "C3 [4,4] mysql 20 SELECT t (a)\nC4 [6,6] mysql 20 SELECT t (a)\n"
		 "R4 [7,7] mysql 30 SELECT t (a) ok\ncalls-unanswered 1\nresyncs 1\n" },
	{ "the end of a statement",
	  { 0 },
	  { OPENING, WP_C("\x26\0\0\0\3SELECT a FROM t WHERE "), WP_C_HOLE(15), WP_S(RESULT),
	    WP_C(SELECT_T), WP_S(RESULT) },
	  OPENED "C3 [4,4] mysql 42 SELECT t (a)\nR3 [6,6] mysql 56 SELECT t (a) ok\n"
		 "C4 [7,7] mysql 20 SELECT t (a)\nR4 [8,8] mysql 56 SELECT t (a) ok\n" },
};

static const WpDecodeRow hostile[] = {
	{ "an unknown command", { 0 }, { OPENING, WP_C("\1\0\0\0\xee"), WP_S(OK("\1")) }, NULL },
	{ "an empty command", { 0 }, { OPENING, WP_C("\0\0\0\0"), WP_S(OK("\1")) }, NULL },
	{ "a command shorter than it must be",
	  { 0 },
	  { OPENING, WP_C("\3\0\0\0\x17\1\0"), WP_S(OK("\1")) },
	  NULL },
	{ "a reply that miscounts",
	  { 0 },
	  { OPENING, WP_C(SELECT_T), WP_S(COUNT COLUMN("\7") END("\3")) },
	  NULL },
	{ "a number without end",
	  { 0 },
	  { OPENING, WP_C(SELECT_T), WP_S("\1\0\0\1\xfe"), WP_C(SELECT_T), WP_S("\1\0\0\1\xfc") },
	  NULL },
	{ "numbers that are no numbers",
	  { 0 },
	  { OPENING, WP_C(SELECT_T), WP_S("\x0a\0\0\1\xfe\xff\xff\xff\xff\xff\xff\xff\xff\0") },
	  NULL },
	{ "parameters that are not there",
	  { 0 },
	  { OPENING, WP_C(PREPARE_T), WP_S("\x0c\0\0\1\0\5\0\0\0\0\0\xff\xff\0\0\0"),
	    WP_C(EXECUTE_TYPES), WP_S(OK("\1")) },
	  NULL },
	{ "a login of nothing", { 0 }, { WP_S(GREETING), WP_C("\0\0\0\1") }, NULL },
	{ "attributes that are not there",
	  { .is_midstream = TRUE },
	  { WP_C("\x06\0\0\0\3\x08\1\xff\1\2"), WP_S(OK("\1")) },
	  NULL },
};

START_TEST(logins)
{
	wp_decode_rows_check(login, G_N_ELEMENTS(login));
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

/* Whatever comes of it, it ends, and reads nothing that is not there. */
START_TEST(hostile_bytes)
{
	for (gsize i = 0; i < G_N_ELEMENTS(hostile); i++)
		for (gsize cut = 0; cut < 64; cut++) {
			WpRunOptions options = hostile[i].options;
			options.cut = cut;
			g_autofree char *got = wp_decode_run(&options, hostile[i].steps,
							     wp_decode_row_n_steps(&hostile[i]));
			ck_assert_msg(got[0], "%s", hostile[i].name);
		}
}
END_TEST

/* A command and a row over 16 MiB: each goes on in a second packet, and is one message. */
START_TEST(continued_packets)
{
	const gsize most = 0xffffff;
	g_autofree char *call = g_malloc(4 + most + 5);
	g_autofree char *row = g_malloc(4 + most + 5);
	memset(call, ' ', 4 + most);
	memset(row, 'x', 4 + most);
	memcpy(call, "\xff\xff\xff\0\3SELECT a FROM t", 20);
	memcpy(call + 4 + most, "\1\0\0\1 ", 5);
	memcpy(row, "\xff\xff\xff\5\xfe\xfe\xff\xff\0\0\0\0\0", 13);
	memcpy(row + 4 + most, "\1\0\0\6\xfe", 5);
	const WpStep steps[] = {
		OPENING,
		WP_C_BYTES(call, 4 + most + 5),
		WP_S("\1\0\0\2\1" COLUMN("\3") END("\4")),
		WP_S_BYTES(row, 4 + most + 5),
		WP_S(END("\7")),
		WP_C(PING),
		WP_S(OK("\1")),
	};
	g_autofree char *got = wp_decode_run(NULL, steps, G_N_ELEMENTS(steps));
	ck_assert_str_eq(got, OPENED "C3 [4,4] mysql 16777224 SELECT t (a)\n"
				     "R3 [5,7] mysql 16777274 SELECT t (a) ok\n"
				     "C4 [8,8] mysql 5 PING\nR4 [9,9] mysql 11 PING ok\n");
}
END_TEST

/* A frame: packed length (3), sequence, length (3; 0 = not packed), packets. */
static gsize
make_frame(char *frame, guint8 sequence, const char *packets, gsize length, gboolean pack)
{
	uLongf packed = 256;
	if (pack)
		compress((Bytef *)frame + 7, &packed, (const Bytef *)packets, length);
	else
		memcpy(frame + 7, packets, packed = length);
	memcpy(frame, (const char[]){ (char)packed, 0, 0, (char)sequence }, 4);
	memcpy(frame + 4, (const char[]){ pack ? (char)length : 0, 0, 0 }, 3);
	return 7 + packed;
}

/* Of the compressed protocol the begin of commands and replies is read; a reply ends by turn. */
START_TEST(compressed)
{
	static const char query[] = "\x4b\0\0\0\3SELECT a FROM t WHERE b = 'xxxxxxxxxxxxxxxxxxxxx"
				    "xxxxxxxxxxxxxxxxxxxxxxxxxx'";
	char prepare[512], prepared[512], execute[512], close[512], select[512], rows[512],
		rest[512];
	gsize n_prepare = make_frame(prepare, 0, PREPARE_T, sizeof PREPARE_T - 1, FALSE);
	gsize n_prepared = make_frame(prepared, 1, PREPARED_BARE, sizeof PREPARED_BARE - 1, FALSE);
	gsize n_execute = make_frame(execute, 0, EXECUTE, sizeof EXECUTE - 1, TRUE);
	gsize n_close = make_frame(close, 0, CLOSE, sizeof CLOSE - 1, FALSE);
	gsize n_select = make_frame(select, 0, query, sizeof query - 1, TRUE);
	gsize n_rows = make_frame(rows, 1, RESULT, sizeof RESULT - 1, TRUE);
	gsize n_rest = make_frame(rest, 2, RESULT, sizeof RESULT - 1, TRUE);
	const WpStep steps[] = {
		WP_S(GREETING),
		WP_C(LOGIN_PACKED),
		WP_S(OK("\2")),
		WP_C_BYTES(prepare, n_prepare),
		WP_S_BYTES(prepared, n_prepared),
		WP_C_BYTES(execute, n_execute),
		WP_S_BYTES(rows, n_rows),
		WP_S_BYTES(rest, n_rest),
		WP_C_BYTES(close, n_close),
		WP_C_BYTES(select, n_select),
		WP_S_BYTES(rows, n_rows),
	};
	g_autofree char *expected =
		g_strdup_printf(OPENED "C3 [4,4] mysql %d PREPARE SELECT t (a) WHERE b\n"
				       "R3 [5,5] mysql %d PREPARE SELECT t (a) WHERE b ok\n"
				       "C4 [6,6] mysql %d SELECT t (a) WHERE b\nR4 [7,8] mysql %d "
				       "SELECT t (a) WHERE b ok\n"
				       "M5 [9,9] mysql %d CLOSE unknown\n"
				       "C6 [10,10] mysql %d SELECT t (a) WHERE b\nR6 [11,11] mysql "
				       "%d SELECT t (a) WHERE b ok\n",
				(int)n_prepare, (int)n_prepared, (int)n_execute,
				(int)(n_rows + n_rest), (int)n_close, (int)n_select, (int)n_rows);
	wp_decode_check(NULL, steps, G_N_ELEMENTS(steps), expected);
}
END_TEST

/* The head of a frame is lost: what was inside looks like a frame of its own. Behind it, all is as before. */
START_TEST(compressed_lost)
{
	char prepare[512], prepared[512], execute[512], rows[512];
	gsize n_prepare = make_frame(prepare, 0, PREPARE_T, sizeof PREPARE_T - 1, FALSE);
	gsize n_prepared = make_frame(prepared, 1, PREPARED_BARE, sizeof PREPARED_BARE - 1, FALSE);
	gsize n_execute = make_frame(execute, 0, EXECUTE, sizeof EXECUTE - 1, TRUE);
	gsize n_rows = make_frame(rows, 1, RESULT, sizeof RESULT - 1, TRUE);
	const WpStep steps[] = {
		WP_S(GREETING),
		WP_C(LOGIN_PACKED),
		WP_S(OK("\2")),
		WP_C_HOLE(7),
		WP_C_BYTES(prepare + 7, n_prepare - 7),
		WP_S_BYTES(prepared, n_prepared),
		WP_C_BYTES(execute, n_execute),
		WP_S_HOLE(7),
		WP_S_BYTES(rows + 7, n_rows - 7),
		WP_C_BYTES(prepare, n_prepare),
		WP_S_BYTES(prepared, n_prepared),
	};
	g_autofree char *got = wp_decode_run(NULL, steps, G_N_ELEMENTS(steps));
	g_autofree char *expected = g_strdup_printf(
		OPENED "C3 [7,7] mysql %d EXECUTE\nR3 [9,9] mysql %d EXECUTE unknown\n"
		       "C4 [10,10] mysql %d PREPARE SELECT t (a) WHERE b\n"
		       "R4 [11,11] mysql %d PREPARE SELECT t (a) WHERE b ok\n"
		       "returns-orphan 1\nreturns-unread 1\nresyncs 2\n"
		       "bytes-skipped 80\n",
		(int)n_execute, (int)n_rows, (int)n_prepare, (int)n_prepared);
	ck_assert_str_eq(got, expected);
}
END_TEST

/* The snap length leaves the begins of greeting and login: that what follows is compressed is in them. */
START_TEST(cut_login)
{
	static const char packed[] = LOGIN_PACKED, greeting[] = GREETING;
	char frame[512], reply[512];
	gsize n_frame = make_frame(frame, 0, PREPARE_T, sizeof PREPARE_T - 1, FALSE);
	gsize n_reply = make_frame(reply, 1, PREPARED_BARE, sizeof PREPARED_BARE - 1, FALSE);
	const WpStep steps[] = {
		WP_S_BYTES(greeting, 16),
		WP_S_CUT(sizeof greeting - 1 - 16),
		WP_C_BYTES(packed, 30),
		WP_C_CUT(sizeof packed - 1 - 30),
		WP_S(OK("\2")),
		WP_C_BYTES(frame, 7), /* a packet of its own, as some clients send it */
		WP_C_BYTES(frame + 7, n_frame - 7),
		WP_S_BYTES(reply, n_reply),
	};
	g_autofree char *expected =
		g_strdup_printf(OPENED "C3 [4,5] mysql %d PREPARE SELECT t (a) WHERE b\n"
				       "R3 [6,6] mysql %d PREPARE SELECT t (a) WHERE b ok\n",
				(int)n_frame, (int)n_reply);
	g_autofree char *got = wp_decode_run(NULL, steps, G_N_ELEMENTS(steps));
	ck_assert_str_eq(got, expected);
}
END_TEST

/* More statements than are kept: the one used least lately goes, and is counted. */
START_TEST(many_statements)
{
	static char prepared[WP_STATEMENTS_MAX + 1][sizeof PREPARED_BARE];
	static WpStep steps[2 * G_N_ELEMENTS(prepared) + 1];
	WpRunOptions options = { .is_midstream = TRUE };
	for (gsize i = 0; i < G_N_ELEMENTS(prepared); i++) {
		memcpy(prepared[i], PREPARED_BARE, sizeof prepared[i]);
		prepared[i][5] = (char)(5 + i);
		prepared[i][6] = (char)((5 + i) >> 8);
		steps[2 * i] = (WpStep)WP_C(PREPARE_T);
		steps[2 * i + 1] = (WpStep)WP_S_BYTES(prepared[i], sizeof PREPARED_BARE - 1);
	}
	steps[2 * G_N_ELEMENTS(prepared)] = (WpStep)WP_C(EXECUTE);
	g_autofree char *got = wp_decode_run(&options, steps, G_N_ELEMENTS(steps));
	ck_assert_ptr_nonnull(strstr(got, "C514 [1027,1027] mysql 24 EXECUTE\n"));
	ck_assert_ptr_nonnull(strstr(got, "\nstatements-forgotten 1\n"));
}
END_TEST

/* Types come with the first execution and hold for the next; NULL, text and numbers. */
START_TEST(tokens)
{
	static const WpDecodeRow rows[] = {
		{ "of parameters",
		  { .show_tokens = TRUE, .is_midstream = TRUE },
		  { WP_C(PREPARE_T), WP_S(PREPARED COLUMN("\2") END("\3") COLUMN("\4") END("\5")),
		    WP_C(EXECUTE_TYPES), WP_S(OK("\1")), WP_C(EXECUTE), WP_S(OK("\1")) },
		  "C1 [1,1] mysql 30 PREPARE SELECT t (a) WHERE b tokens=0\n"
		  "R1 [2,2] mysql 88 PREPARE SELECT t (a) WHERE b ok tokens=0\n"
		  "C2 [3,3] mysql 26 SELECT t (a) WHERE b tokens=1\n"
		  "R2 [4,4] mysql 11 SELECT t (a) WHERE b ok tokens=0\n"
		  "C3 [5,5] mysql 24 SELECT t (a) WHERE b tokens=1\n"
		  "R3 [6,6] mysql 11 SELECT t (a) WHERE b ok tokens=0\n" },
		{ "of SQL",
		  { .show_tokens = TRUE, .is_midstream = TRUE },
		  { WP_C("\x2d\0\0\0\3INSERT INTO t9999 VALUES (\"ab12\", 'c\\'34', 5)") },
		  "C1 [1,1] mysql 49 INSERT t{} tokens=2\ncalls-unanswered 1\n" },
	};
	wp_decode_rows_check(rows, G_N_ELEMENTS(rows));
}
END_TEST

/* A name in "" is text, but where the server says ANSI_QUOTES; \ is an escape, but where it says not. */
START_TEST(sql_modes)
{
	static const WpDecodeRow row = {
		"status ANSI_QUOTES, NO_BACKSLASH_ESCAPES",
		{ 0 },
		{ OPENING, WP_C("\x19\0\0\0\3SELECT 1 FROM \"t\" -- '\\'"),
		  WP_S("\7\0\0\1\0\0\0\2\x82\0\0"),
		  WP_C("\x25\0\0\0\3SELECT 1 FROM \"t\" WHERE 'a\\' = b = 1") },
		OPENED "C3 [4,4] mysql 29 SELECT\nR3 [5,5] mysql 11 SELECT ok\n"
		       "C4 [6,6] mysql 41 SELECT t WHERE b\ncalls-open 1\n",
	};
	wp_decode_rows_check(&row, 1);
}
END_TEST

WP_SUITE("decode-mysql", logins, calls_and_returns, in_midstream, around_holes, hostile_bytes,
	 continued_packets, compressed, compressed_lost, cut_login, many_statements, tokens,
	 sql_modes)
