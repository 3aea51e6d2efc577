/* Redis through the real stream, whole and cut everywhere. */
#include <string.h>

#include "capture/redis-commands.h"
#include "tests/support/decode-run.h"
#include "tests/support/suite.h"

typedef struct {
	const char *name;
	WpStep steps[12];
	const char *expected;
} Row;

#define GET_USER "*2\r\n$3\r\nGET\r\n$7\r\nuser:42\r\n"
#define PING     "*1\r\n$4\r\nPING\r\n"

static const Row plain[] = {
	{ "call and return",
	  { WP_C(GET_USER), WP_S("$5\r\nAlice\r\n") },
	  "C1 [1,1] redis 26 GET user:{}\nR1 [2,2] redis 11 GET user:{} ok\n" },
	{ "a miss is ok, an error is not",
	  { WP_C(GET_USER), WP_S("$-1\r\n"), WP_C("*1\r\n$3\r\nFOO\r\n"),
	    WP_S("-ERR unknown command\r\n") },
	  "C1 [1,1] redis 26 GET user:{}\nR1 [2,2] redis 5 GET user:{} ok\n"
	  "C2 [3,3] redis 13 FOO\nR2 [4,4] redis 22 FOO error\n" },
	{ "pipelined: in order",
	  { WP_C(GET_USER PING GET_USER), WP_S("$1\r\na\r\n+PONG\r\n"), WP_S("$1\r\nb\r\n") },
	  "C1 [1,1] redis 26 GET user:{}\nC2 [1,1] redis 14 PING\nC3 [1,1] redis 26 GET user:{}\n"
	  "R1 [2,2] redis 7 GET user:{} ok\nR2 [2,2] redis 7 PING ok\n"
	  "R3 [3,3] redis 7 GET user:{} ok\n" },
	{ "nested arrays",
	  { WP_C("*3\r\n$6\r\nHGETAL\r\n$1\r\na\r\n$0\r\n\r\n"),
	    WP_S("*3\r\n*2\r\n:1\r\n*0\r\n$-1\r\n"), WP_S("*1\r\n*-1\r\n"), WP_C(PING),
	    WP_S("+PONG\r\n") },
	  "C1 [1,1] redis 29 HGETAL a\nR1 [2,3] redis 30 HGETAL a ok\n"
	  "C2 [4,4] redis 14 PING\nR2 [5,5] redis 7 PING ok\n" },
	{ "a transaction: QUEUED is a return",
	  { WP_C("*1\r\n$5\r\nMULTI\r\n" GET_USER "*1\r\n$4\r\nEXEC\r\n"),
	    WP_S("+OK\r\n+QUEUED\r\n*1\r\n$1\r\na\r\n") },
	  "C1 [1,1] redis 15 MULTI\nC2 [1,1] redis 26 GET user:{}\nC3 [1,1] redis 14 EXEC\n"
	  "R1 [2,2] redis 5 MULTI ok\nR2 [2,2] redis 9 GET user:{} ok\nR3 [2,2] redis 11 EXEC "
	  "ok\n" },
	{ "inline, empty lines and empty arrays",
	  { WP_C("\r\nPING\r\n*0\r\n*-1\r\nget  user:7\n"), WP_S("+PONG\r\n$-1\r\n") },
	  "C1 [1,1] redis 6 PING\nC2 [1,1] redis 12 GET user:{}\n"
	  "R1 [2,2] redis 7 PING ok\nR2 [2,2] redis 5 GET user:{} ok\n" },
	{ "set-up at the start only; what a login says is kept from the label",
	  { WP_C("*3\r\n$4\r\nAUTH\r\n$3\r\nbob\r\n$6\r\nsecret\r\n"), WP_S("+OK\r\n"),
	    WP_C("*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n"), WP_S("+OK\r\n"), WP_C(PING),
	    WP_S("+PONG\r\n"), WP_C("*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n"), WP_S("+OK\r\n") },
	  "C1 [1,1] redis 35 AUTH setup\nR1 [2,2] redis 5 AUTH ok setup\n"
	  "C2 [3,3] redis 23 SELECT setup\nR2 [4,4] redis 5 SELECT ok setup\n"
	  "C3 [5,5] redis 14 PING\nR3 [6,6] redis 7 PING ok\n"
	  "C4 [7,7] redis 23 SELECT\nR4 [8,8] redis 5 SELECT ok\n" },
};

static const Row resp3[] = {
	{ "every type",
	  { WP_C("*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n" PING PING PING PING PING PING PING PING),
	    WP_S("%1\r\n$6\r\nserver\r\n$5\r\nredis\r\n_\r\n#t\r\n,1.5e3\r\n("
		 "123456789012345678901\r\n"
		 "~2\r\n+a\r\n:-1\r\n=7\r\ntxt:abc\r\n!5\r\nE bad\r\n,inf\r\n") },
	  "C1 [1,1] redis 22 HELLO setup\n"
	  "C2 [1,1] redis 14 PING\nC3 [1,1] redis 14 PING\nC4 [1,1] redis 14 PING\n"
	  "C5 [1,1] redis 14 PING\nC6 [1,1] redis 14 PING\nC7 [1,1] redis 14 PING\n"
	  "C8 [1,1] redis 14 PING\nC9 [1,1] redis 14 PING\n"
	  "R1 [2,2] redis 27 HELLO ok setup\nR2 [2,2] redis 3 PING ok\nR3 [2,2] redis 4 PING ok\n"
	  "R4 [2,2] redis 8 PING ok\nR5 [2,2] redis 24 PING ok\nR6 [2,2] redis 13 PING ok\n"
	  "R7 [2,2] redis 13 PING ok\nR8 [2,2] redis 11 PING error\nR9 [2,2] redis 6 PING ok\n" },
	{ "an attribute belongs to the value behind it",
	  { WP_C(PING PING), WP_S("|1\r\n+ttl\r\n*2\r\n:1\r\n:2\r\n-ERR x\r\n+PONG\r\n") },
	  "C1 [1,1] redis 14 PING\nC2 [1,1] redis 14 PING\n"
	  "R1 [2,2] redis 30 PING error\nR2 [2,2] redis 7 PING ok\n" },
	{ "streamed types",
	  { WP_C(PING PING PING),
	    WP_S("$?\r\n;4\r\nHell\r\n;1\r\no\r\n;0\r\n*?\r\n:1\r\n*2\r\n:2\r\n:3\r\n%?\r\n+a\r\n"
		 "*0\r\n.\r\n.\r\n+PONG\r\n") },
	  "C1 [1,1] redis 14 PING\nC2 [1,1] redis 14 PING\nC3 [1,1] redis 14 PING\n"
	  "R1 [2,2] redis 25 PING ok\nR2 [2,2] redis 38 PING ok\nR3 [2,2] redis 7 PING ok\n" },
	{ "pushes are no returns",
	  { WP_C(GET_USER), WP_S(">2\r\n$10\r\ninvalidate\r\n*1\r\n$7\r\nuser:42\r\n"),
	    WP_S("$1\r\na\r\n") },
	  "C1 [1,1] redis 26 GET user:{}\nm2 [2,2] redis 38 INVALIDATE unknown\n"
	  "R1 [3,3] redis 7 GET user:{} ok\n" },
};

#define SUBSCRIBE_2 "*3\r\n$9\r\nSUBSCRIBE\r\n$4\r\nnews\r\n$7\r\nroom:42\r\n"
static const Row published[] = {
	{ "one return for all confirmations; messages are one way (RESP2)",
	  { WP_C(SUBSCRIBE_2), WP_S("*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n"),
	    WP_S("*3\r\n$9\r\nsubscribe\r\n$7\r\nroom:42\r\n:2\r\n"),
	    WP_S("*3\r\n$7\r\nmessage\r\n$7\r\nroom:42\r\n$2\r\nhi\r\n"), WP_C(PING),
	    WP_S("*4\r\n$8\r\npmessage\r\n$2\r\nr*\r\n$6\r\nroom:1\r\n$1\r\nx\r\n"
		 "*2\r\n$4\r\npong\r\n$0\r\n\r\n") },
	  "C1 [1,1] redis 42 SUBSCRIBE news\nR1 [2,3] redis 69 SUBSCRIBE news ok\n"
	  "m2 [4,4] redis 38 MESSAGE room:{} unknown\nC3 [5,5] redis 14 PING\n"
	  "m4 [6,6] redis 45 PMESSAGE r* unknown\nR3 [6,6] redis 20 PING ok\n" },
	{ "the same with pushes (RESP3), and commands between",
	  { WP_C(SUBSCRIBE_2 PING), WP_S(">3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n"),
	    WP_S(">3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$2\r\nhi\r\n"),
	    WP_S(">3\r\n$9\r\nsubscribe\r\n$7\r\nroom:42\r\n:2\r\n+PONG\r\n") },
	  "C1 [1,1] redis 42 SUBSCRIBE news\nC2 [1,1] redis 14 PING\n"
	  "R1 [2,4] redis 69 SUBSCRIBE news ok\nm3 [3,3] redis 35 MESSAGE news unknown\n"
	  "R2 [4,4] redis 7 PING ok\n" },
	{ "leaving all channels: as many confirmations as there are",
	  { WP_C(SUBSCRIBE_2),
	    WP_S("*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n"
		 "*3\r\n$9\r\nsubscribe\r\n$7\r\nroom:42\r\n:2\r\n"),
	    WP_C("*1\r\n$11\r\nUNSUBSCRIBE\r\n" PING),
	    WP_S("*3\r\n$11\r\nunsubscribe\r\n$4\r\nnews\r\n:1\r\n"),
	    WP_S("*3\r\n$11\r\nunsubscribe\r\n$7\r\nroom:42\r\n:0\r\n+PONG\r\n") },
	  "C1 [1,1] redis 42 SUBSCRIBE news\nR1 [2,2] redis 69 SUBSCRIBE news ok\n"
	  "C2 [3,3] redis 22 UNSUBSCRIBE\nC3 [3,3] redis 14 PING\n"
	  "R2 [4,5] redis 75 UNSUBSCRIBE ok\nR3 [5,5] redis 7 PING ok\n" },
	{ "an array that only looks published is a return",
	  { WP_C(GET_USER), WP_S("*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nb\r\n") },
	  "C1 [1,1] redis 26 GET user:{}\nR1 [2,2] redis 31 GET user:{} ok\n" },
	{ "monitor",
	  { WP_C("*1\r\n$7\r\nMONITOR\r\n"), WP_S("+OK\r\n"),
	    WP_S("+1339518083.107412 [0 127.0.0.1:60866] \"get\" \"x\"\r\n"),
	    WP_C("*1\r\n$4\r\nQUIT\r\n"), WP_S("+OK\r\n") },
	  "C1 [1,1] redis 17 MONITOR\nR1 [2,2] redis 5 MONITOR ok\n"
	  "m2 [3,3] redis 50 MONITORED unknown\nC3 [4,4] redis 14 QUIT\nR3 [5,5] redis 5 QUIT "
	  "ok\n" },
};

#define REPLY(mode, n) "*3\r\n$6\r\nCLIENT\r\n$5\r\nREPLY\r\n$" n "\r\n" mode "\r\n"
#define WORK           "*1\r\n$4\r\nINCR\r\n"
static const Row silent[] = {
	{ "CLIENT REPLY",
	  { WP_C(WORK REPLY("SKIP", "4") WORK WORK), WP_S(":1\r\n:2\r\n"),
	    WP_C(REPLY("OFF", "3") WORK REPLY("ON", "2")), WP_S("+OK\r\n") },
	  "C1 [1,1] redis 14 INCR\nM2 [1,1] redis 37 CLIENT REPLY unknown\n"
	  "M3 [1,1] redis 14 INCR unknown\nC4 [1,1] redis 14 INCR\n"
	  "R1 [2,2] redis 4 INCR ok\nR4 [2,2] redis 4 INCR ok\n"
	  "M5 [3,3] redis 36 CLIENT REPLY unknown\nM6 [3,3] redis 14 INCR unknown\n"
	  "C7 [3,3] redis 35 CLIENT REPLY\nR7 [4,4] redis 5 CLIENT REPLY ok\n" },
	{ "a replication link",
	  { WP_C("*3\r\n$8\r\nREPLCONF\r\n$4\r\nport\r\n$4\r\n6380\r\n"), WP_S("+OK\r\n"),
	    WP_C("*3\r\n$5\r\nPSYNC\r\n$1\r\n?\r\n$2\r\n-1\r\n"),
	    WP_S("\n+FULLRESYNC 8de1787ba490483314a4d30f1c628bc5025eb761 0\r\n"),
	    WP_S("\n$12\r\nREDIS\r\n*1\r\n-"),
	    WP_S("*1\r\n$4\r\nPING\r\n*3\r\n$3\r\nSET\r\n$7\r\nuser:42\r\n$1\r\nx\r\n"),
	    WP_C("*3\r\n$8\r\nREPLCONF\r\n$3\r\nACK\r\n$2\r\n14\r\n") },
	  "C1 [1,1] redis 38 REPLCONF PORT setup\nR1 [2,2] redis 5 REPLCONF PORT ok setup\n"
	  "C2 [3,3] redis 30 PSYNC\nR2 [4,4] redis 56 PSYNC ok\n"
	  "m3 [5,5] redis 17 SNAPSHOT unknown\n"
	  "m4 [6,6] redis 14 PING unknown\nm5 [6,6] redis 33 SET user:{} unknown\n"
	  "M6 [7,7] redis 35 REPLCONF ACK unknown\n" },
};

static void
check_rows(const Row *rows, gsize n)
{
	for (gsize i = 0; i < n; i++) {
		gsize n_steps = 0;
		while (n_steps < G_N_ELEMENTS(rows[i].steps) && rows[i].steps[n_steps].what)
			n_steps++;
		WpRunOptions options = { .forced = wp_decoder_by_name("redis") };
		g_test_message("%s", rows[i].name);
		wp_decode_check(&options, rows[i].steps, n_steps, rows[i].expected);
	}
}

START_TEST(pairs)
{
	check_rows(plain, G_N_ELEMENTS(plain));
}
END_TEST

START_TEST(types_of_resp3)
{
	check_rows(resp3, G_N_ELEMENTS(resp3));
}
END_TEST

START_TEST(publish_and_subscribe)
{
	check_rows(published, G_N_ELEMENTS(published));
}
END_TEST

START_TEST(silence)
{
	check_rows(silent, G_N_ELEMENTS(silent));
}
END_TEST

/* What the label says of a command, and whether it waits. Words are given with spaces. */
START_TEST(labels)
{
	static const struct {
		const char *words;
		const char *label;
	} rows[] = {
		{ "get user:42", "GET user:{}" },
		{ "GET", "GET" },
		{ "ping", "PING" },
		{ "mset a:1 x a:2 y", "MSET a:{}" },
		{ "JSON.GET doc:7 $", "JSON.GET doc:{}" },
		{ "client setinfo lib-name redis-py", "CLIENT SETINFO" },
		{ "config get maxmemory", "CONFIG GET" },
		{ "object encoding user:7", "OBJECT ENCODING user:{}" },
		{ "bitop and dest:1 a b", "BITOP dest:{}" },
		{ "EVALSHA 1B936E3FE509BCBC9CD0664897BBE8FD0CAC101B 1 user:7 x",
		  "EVALSHA 1b936e3f user:{}" },
		{ "EVALSHA 1b936e3fe509bcbc9cd0664897bbe8fd0cac101b 0 user:7", "EVALSHA 1b936e3f" },
		{ "EVAL return_1 1 user:7", "EVAL 0e827dba user:{}" },
		{ "FCALL MyFunction 1 user:7", "FCALL MyFunction user:{}" },
		{ "blpop queue:3 0", "BLPOP queue:{} wait" },
		{ "bzmpop 0 1 board:1 min", "BZMPOP board:{} wait" },
		{ "wait 1 100", "WAIT wait" },
		{ "xread count 5 streams log:7 0", "XREAD log:{}" },
		{ "xread block 0 streams log:7 $", "XREAD log:{} wait" },
		{ "xreadgroup group g c count 1 block 500 noack streams log:7 >",
		  "XREADGROUP log:{} wait" },
		{ "xread count", "XREAD" },
		{ "zunion 2 z:1 z:2", "ZUNION z:{}" },
		{ "set \xc3\xa4:1 x", "SET {}:{}" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_auto(GStrv) words = g_strsplit(rows[i].words, " ", -1);
		g_autoptr(GString) bytes = g_string_new(NULL);
		g_string_printf(bytes, "*%u\r\n", g_strv_length(words));
		for (char **word = words; *word; word++)
			g_string_append_printf(bytes, "$%d\r\n%s\r\n", (int)strlen(*word), *word);
		WpStep step = WP_C_BYTES(bytes->str, bytes->len);
		g_autofree char *expected =
			g_strdup_printf("C1 [1,1] redis %d %s\n", (int)bytes->len, rows[i].label);
		WpRunOptions options = { .no_counters = TRUE };
		g_autofree char *got = wp_decode_run(&options, &step, 1);
		if (strstr(got, " setup"))
			*strstr(got, " setup") = '\n';
		ck_assert_msg(strncmp(got, expected, strlen(expected)) == 0, "%s: %s",
			      rows[i].words, got);
	}
}
END_TEST

/* The table is searched by halves: every row is found, in any case. */
START_TEST(commands_are_sorted)
{
	static const char *const names[] = { "acl",      "auth",      "BLMPOP",  "client",
					     "EVAL",     "EVAL_RO",   "evalsha", "evalsha_ro",
					     "fcall_ro", "XINFO",     "xread",   "ZUNION",
					     "psync",    "PSUBSCRIBE" };
	for (gsize i = 0; i < G_N_ELEMENTS(names); i++)
		ck_assert_str_ne(wp_redis_command_find(names[i], strlen(names[i]))->name, "");
	ck_assert_str_eq(wp_redis_command_find("FOO", 3)->name, "");
	ck_assert_str_eq(wp_redis_command_find("EVALS", 5)->name, "");
	ck_assert_str_eq(wp_redis_command_find("XRE", 3)->name, "");
}
END_TEST

/* Tokens of keys and values, none of a login. */
START_TEST(tokens)
{
	WpRunOptions options = { .show_tokens = TRUE };
	static const WpStep steps[] = {
		WP_C("*3\r\n$3\r\nSET\r\n$12\r\nsession:a1b2\r\n$9\r\nuser-1234\r\n"),
		WP_C("*2\r\n$4\r\nAUTH\r\n$8\r\nhunter22\r\n"),
	};
	g_autofree char *got = wp_decode_run(&options, steps, 2);
	ck_assert_str_eq(got, "C1 [1,1] redis 47 SET session:{} tokens=2\n"
			      "C2 [2,2] redis 28 AUTH setup tokens=0\ncalls-open 2\n");
}
END_TEST

/* A value of any size is skipped by its length, with holes in it, and ends when its last byte came. */
START_TEST(long_values)
{
	g_autofree char *big = g_malloc(100000);
	memset(big, 'x', 100000);
	const WpStep steps[] = {
		WP_C("*3\r\n$3\r\nSET\r\n$3\r\ndoc\r\n$300000\r\n"),
		WP_C_BYTES(big, 100000),
		WP_C_HOLE(100000),
		WP_C_BYTES(big, 100000),
		WP_C("\r\n" GET_USER),
		WP_S("+OK\r\n$200000\r\n"),
		WP_S_BYTES(big, 100000),
		WP_S_HOLE(50000),
		WP_S_BYTES(big, 50000),
		WP_S("\r\n"),
	};
	g_autofree char *got = wp_decode_run(NULL, steps, G_N_ELEMENTS(steps));
	ck_assert_str_eq(got,
			 "C1 [1,5] redis 300033 SET doc\nC2 [5,5] redis 26 GET user:{}\n"
			 "R1 [6,6] redis 5 SET doc ok\nR2 [6,10] redis 200011 GET user:{} ok\n");
}
END_TEST

/* After a hole, and in mid-stream, the next command or reply at the start of a packet is found. */
START_TEST(finds_the_thread)
{
	static const WpStep lost[] = {
		WP_C(GET_USER), WP_S("$1\r\na\r\n"), WP_C("*2\r\n$3\r\nGE"),
		WP_C_HOLE(10),  WP_C("rest\r\n"),    WP_S("$1\r\nb\r\n"),
		WP_C(PING),     WP_S("+PONG\r\n"),
	};
	g_autofree char *got = wp_decode_run(NULL, lost, G_N_ELEMENTS(lost));
	ck_assert_str_eq(got, "C1 [1,1] redis 26 GET user:{}\nR1 [2,2] redis 7 GET user:{} ok\n"
			      "C2 [7,7] redis 14 PING\nR2 [8,8] redis 7 PING ok\n"
			      "returns-orphan 1\nresyncs 1\nbytes-skipped 16\n");

	static const WpStep middle[] = {
		WP_S("of a value\r\n"), WP_C(PING),          WP_S("+PONG\r\n"),
		WP_C(GET_USER),         WP_S("$1\r\na\r\n"),
	};
	WpRunOptions options = { .is_midstream = TRUE, .is_swapped = TRUE, .no_counters = TRUE };
	g_autofree char *found = wp_decode_run(&options, middle, G_N_ELEMENTS(middle));
	ck_assert_str_eq(found, "C1 [2,2] redis 14 PING\nR1 [3,3] redis 7 PING ok\n"
				"C2 [4,4] redis 26 GET user:{}\nR2 [5,5] redis 7 GET user:{} ok\n");
}
END_TEST

/* Hostile bytes: no length, count or depth that is believed, and none that is followed for ever. */
START_TEST(refuses)
{
	static const char *const replies[] = {
		"$99999999999\r\n", "*99999999999\r\n", "$-2\r\n", "$1a\r\n",  "#x\r\n",
		"_x\r\n",           "$3\r\nabcde\r\n",  ":1\n",    "@foo\r\n", ".\r\n",
		";3\r\nabc\r\n",    ">?\r\n",           "$\r\n",
	};
	for (gsize i = 0; i < G_N_ELEMENTS(replies); i++) {
		const WpStep steps[] = {
			WP_C(PING),
			WP_S("+PONG\r\n"),
			WP_C(PING),
			WP_S_BYTES(replies[i], strlen(replies[i])),
		};
		g_autofree char *got = wp_decode_run(NULL, steps, G_N_ELEMENTS(steps));
		ck_assert_msg(strstr(got, "bytes-skipped") != NULL, "%s:\n%s", replies[i], got);
	}
}
END_TEST

/* A name with a NUL in it is no name, and no prefix of one. */
START_TEST(names)
{
	static const WpStep steps[] = { WP_C(PING), WP_S("+PONG\r\n"),
					WP_C("*1\r\n$6\r\nEVAL\0\0\r\n") };
	g_autofree char *got = wp_decode_run(NULL, steps, G_N_ELEMENTS(steps));
	ck_assert_str_eq(got, "C1 [1,1] redis 14 PING\nR1 [2,2] redis 7 PING ok\n"
			      "bytes-skipped 16\n");
	ck_assert_str_eq(wp_redis_command_find("EVAL\0\0", 6)->name, "");
}
END_TEST

START_TEST(depth)
{
	g_autoptr(GString) nested = g_string_new(NULL);
	for (int i = 0; i < 5000; i++)
		g_string_append(nested, "*2\r\n");
	for (int i = 0; i < 5001; i++)
		g_string_append(nested, ":1\r\n");
	g_autoptr(GString) streamed = g_string_new(NULL);
	for (int i = 0; i < 5000; i++)
		g_string_append(streamed, "*?\r\n:1\r\n");
	const WpStep steps[] = {
		WP_C(PING PING),
		WP_S_BYTES(nested->str, nested->len),
		WP_S_BYTES(streamed->str, streamed->len),
	};
	g_autofree char *got = wp_decode_run(NULL, steps, G_N_ELEMENTS(steps));
	g_autofree char *expected = g_strdup_printf(
		"C1 [1,1] redis 14 PING\nC2 [1,1] redis 14 PING\nR1 [2,2] redis %d PING ok\n",
		(int)nested->len);
	ck_assert_msg(g_str_has_prefix(got, expected), "%s", got);
	ck_assert_ptr_nonnull(strstr(got, "bytes-skipped"));
}
END_TEST

/* Which first bytes are taken for Redis. */
START_TEST(detection)
{
	static const struct {
		const char *client;
		const char *server;
		guint16 port;
		WpProbeVerdict verdict;
	} rows[] = {
		{ GET_USER, "", 9999, WP_PROBE_SURE },
		{ GET_USER, "$1\r\na\r\n", 9999, WP_PROBE_SURE },
		{ GET_USER, "HTTP/1.1 400\r\n", 9999, WP_PROBE_NO },
		{ "*2\r\n$3\r\nGE", "", 9999, WP_PROBE_MORE },
		{ "*2\r\n$3\r\n\1\2\3", "", 9999, WP_PROBE_NO },
		{ "PING\r\n", "", 6379, WP_PROBE_MAYBE },
		{ "PING\r\n", "+PONG\r\n", 9999, WP_PROBE_LIKELY },
		{ "\r\n\r\nPING\r\n", "+PONG\r\n", 9999, WP_PROBE_LIKELY },
		{ "GET / HTTP/1.1\r\n", "", 9999, WP_PROBE_NO },
		{ "get user:1\r\n", "END\r\n", 9999, WP_PROBE_NO },
		{ "HELO x\r\n", "+OK POP3\r\n", 9999, WP_PROBE_NO },
		{ "", "$5\r\nhello\r\n", 9999, WP_PROBE_LIKELY },
		{ "", "+OK\r\n", 9999, WP_PROBE_MAYBE },
		{ "\x16\x03\x01", "", 6379, WP_PROBE_NO },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		WpProbe probe = {
			.client = wp_bytes((const guint8 *)rows[i].client, strlen(rows[i].client)),
			.server = wp_bytes((const guint8 *)rows[i].server, strlen(rows[i].server)),
			.server_port = rows[i].port,
			.from_start = TRUE,
		};
		ck_assert_msg(wp_decoder_by_name("redis")->probe(&probe) == rows[i].verdict,
			      "%s | %s", rows[i].client, rows[i].server);
	}
}
END_TEST

/*
 * In mid-stream the replies of a server that is taken for the client are no commands, though arrays of
 * strings are both; whoever sends commands is the client.
 */
START_TEST(detection_in_mid_stream)
{
	static const struct {
		const char *client;
		const char *server;
		WpProbeVerdict verdict;
	} rows[] = {
#define FIELDS "*4\r\n$4\r\ntype\r\n$3\r\ncat\r\n$4\r\nname\r\n$3\r\nTom\r\n"
		{ GET_USER, "", WP_PROBE_SURE },
		{ GET_USER, FIELDS, WP_PROBE_SURE },
		{ FIELDS, "", WP_PROBE_MAYBE },
		{ FIELDS, GET_USER, WP_PROBE_NO },
		{ "", FIELDS, WP_PROBE_MAYBE },
		{ "", GET_USER, WP_PROBE_NO },
		{ "", "*2\r\n:1\r\n:2\r\n", WP_PROBE_LIKELY },
		{ "*2\r\n$3\r\nget\r\n$1\r\na\r\n", "$1\r\nx\r\n", WP_PROBE_LIKELY },
		{ "*2\r\n$3\r\nget\r\n$1\r\na\r\n", FIELDS, WP_PROBE_MAYBE },
		{ "of a value", "+OK\r\n", WP_PROBE_MAYBE },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		WpProbe probe = {
			.client = wp_bytes((const guint8 *)rows[i].client, strlen(rows[i].client)),
			.server = wp_bytes((const guint8 *)rows[i].server, strlen(rows[i].server)),
			.server_port = 9999,
		};
		ck_assert_msg(wp_decoder_by_name("redis")->probe(&probe) == rows[i].verdict,
			      "%s | %s", rows[i].client, rows[i].server);
	}
}
END_TEST

/* In mid-stream, the sides taken for each other: no client begins with a value that only replies are. */
START_TEST(reply_is_no_request)
{
	static const char reply[] = "+OK\r\n$6\r\nname 1\r\n", request[] = "*1\r\n$5\r\nmulti\r\n";
	WpProbe probe = {
		.client = wp_bytes((const guint8 *)reply, sizeof reply - 1),
		.server = wp_bytes((const guint8 *)request, sizeof request - 1),
		.server_port = 9999,
	};
	ck_assert_int_eq(wp_decoder_by_name("redis")->probe(&probe), WP_PROBE_NO);
}
END_TEST

/* The snap length cuts them: a push after the reply is no part of it, and nobody knows which was which. */
START_TEST(cut_pushes)
{
	static const WpStep steps[] = {
		WP_C("*1\r\n$4\r\nPING\r\n"),
		WP_S("+PONG\r\n"),
		WP_C("*2\r\n$3\r\nGET\r\n$4\r\nnews\r\n"),
		WP_S("*2\r\n$90\r\nabc"),
		WP_S_CUT(96),
		WP_C("*2\r\n$9\r\nSUBSCRIBE\r\n$4\r\nnews\r\n"),
		WP_S("*3\r\n$9\r\nsubscribe\r\n"),
		WP_S_CUT(14),
		WP_S("*3\r\n$7\r\nmessage\r\n$4\r\nne"),
		WP_S_CUT(40),
		WP_C("*1\r\n$4\r\nPING\r\n"),
		WP_S("*2\r\n$4\r\npong\r\n$0\r\n\r\n"),
	};
	WpRunOptions options = { .no_counters = TRUE };
	g_autofree char *got = wp_decode_run(&options, steps, G_N_ELEMENTS(steps));
	ck_assert_str_eq(got, "C1 [1,1] redis 14 PING\nR1 [2,2] redis 7 PING ok\n"
			      "C2 [3,3] redis 23 GET news\nR2 [4,4] redis 108 GET news ok\n"
			      "C3 [5,5] redis 29 SUBSCRIBE news\n"
			      "C4 [8,8] redis 14 PING\nR4 [9,9] redis 20 PING ok\n");
}
END_TEST

WP_SUITE("decode-redis", cut_pushes, pairs, types_of_resp3, publish_and_subscribe, silence, labels,
	 commands_are_sorted, tokens, long_values, finds_the_thread, refuses, names, depth,
	 detection, detection_in_mid_stream, reply_is_no_request)
