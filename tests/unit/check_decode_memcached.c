/* memcached, text, meta, binary and over UDP, through the real stream. */
#include <string.h>

#include "tests/support/decode-run.h"
#include "tests/support/suite.h"

typedef struct {
	const char *name;
	WpStep steps[8];
	const char *expected;
} Row;

static const Row text[] = {
	{ "get: a hit, a miss, several at once",
	  { WP_C("get user:42\r\n"), WP_S("VALUE user:42 0 5\r\nAlice\r\nEND\r\n"),
	    WP_C("get user:43\r\n"), WP_S("END\r\n"), WP_C("gets a:1 b:2 c:3\r\n"),
	    WP_S("VALUE a:1 0 1 77\r\nx\r\n"), WP_S("VALUE c:3 32 4 78\r\nEND\r\r\nEND\r\n") },
	  "C1 [1,1] memcached 13 get user:{}\nR1 [2,2] memcached 31 get user:{} ok\n"
	  "C2 [3,3] memcached 13 get user:{}\nR2 [4,4] memcached 5 get user:{} ok\n"
	  "C3 [5,5] memcached 18 gets a:{}\nR3 [6,7] memcached 51 gets a:{} ok\n" },
	{ "stores, with data that looks like commands",
	  { WP_C("set user:42 0 60 11\r\nget user:1\n\r\nadd k 0 -1 0\r\n\r\n"),
	    WP_S("STORED\r\nNOT_STORED\r\n"), WP_C("cas k 1 0 1 99\r\nx\r\n"), WP_S("EXISTS\r\n"),
	    WP_C("set big 0 0 5\r\nxxxxx\r\n"), WP_S("SERVER_ERROR object too large\r\n") },
	  "C1 [1,1] memcached 34 set user:{}\nC2 [1,1] memcached 16 add k\n"
	  "R1 [2,2] memcached 8 set user:{} ok\nR2 [2,2] memcached 12 add k ok\n"
	  "C3 [3,3] memcached 19 cas k\nR3 [4,4] memcached 8 cas k ok\n"
	  "C4 [5,5] memcached 22 set big\nR4 [6,6] memcached 31 set big error\n" },
	{ "noreply is one way",
	  { WP_C("set k:1 0 0 1 noreply\r\nx\r\ndelete k:1 noreply\r\nincr n:7 1 noreply\r\n"
		 "get k:1\r\nflush_all noreply\r\nquit\r\n"),
	    WP_S("END\r\n") },
	  "M1 [1,1] memcached 26 set k:{} unknown\nM2 [1,1] memcached 20 delete k:{} unknown\n"
	  "M3 [1,1] memcached 20 incr n:{} unknown\nC4 [1,1] memcached 9 get k:{}\n"
	  "M5 [1,1] memcached 19 flush_all unknown\nM6 [1,1] memcached 6 quit unknown\n"
	  "R4 [2,2] memcached 5 get k:{} ok\n" },
	{ "numbers, touch, gat",
	  { WP_C("incr n 5\r\ndecr n 1\r\ntouch k 60\r\ngat 60 k:1 k:2\r\ndelete k\r\n"),
	    WP_S("12\r\nNOT_FOUND\r\nTOUCHED\r\nVALUE k:1 0 1\r\nx\r\nEND\r\nDELETED\r\n") },
	  "C1 [1,1] memcached 10 incr n\nC2 [1,1] memcached 10 decr n\nC3 [1,1] memcached 12 touch "
	  "k\n"
	  "C4 [1,1] memcached 16 gat k:{}\nC5 [1,1] memcached 10 delete k\n"
	  "R1 [2,2] memcached 4 incr n ok\nR2 [2,2] memcached 11 decr n ok\n"
	  "R3 [2,2] memcached 9 touch k ok\nR4 [2,2] memcached 23 gat k:{} ok\n"
	  "R5 [2,2] memcached 9 delete k ok\n" },
	{ "lists that END ends, and a log",
	  { WP_C("stats\r\nversion\r\nstats reset\r\n"),
	    WP_S("STAT pid 1\r\nSTAT version 1.6\r\nEND\r\nVERSION 1.6\r\nRESET\r\n"),
	    WP_C("lru_crawler metadump all\r\nwatch fetchers\r\n"),
	    WP_S("key=a exp=-1\r\nkey=b exp=1\r\nEND\r\nOK\r\n"), WP_S("ts=1.2 gid=1 type=x\r\n") },
	  "C1 [1,1] memcached 7 stats\nC2 [1,1] memcached 9 version\nC3 [1,1] memcached 13 stats\n"
	  "R1 [2,2] memcached 35 stats ok\nR2 [2,2] memcached 13 version ok\n"
	  "R3 [2,2] memcached 7 stats ok\nC4 [3,3] memcached 26 lru_crawler\n"
	  "C5 [3,3] memcached 16 watch\nR4 [4,4] memcached 32 lru_crawler ok\n"
	  "R5 [4,4] memcached 4 watch ok\nm6 [5,5] memcached 21 log ok\n" },
};

static const Row meta[] = {
	{ "one by one",
	  { WP_C("mg user:42 v t\r\nmg user:43 v\r\nmg k\r\nms k 2 T60\r\nhi\r\nmd k\r\nma n "
		 "N0\r\nme k\r\n"),
	    WP_S("VA 5 t60\r\nAlice\r\nEN\r\nHD\r\nHD\r\nNF\r\nHD\r\nME k exp=-1 la=1\r\n") },
	  "C1 [1,1] memcached 16 mg user:{}\nC2 [1,1] memcached 14 mg user:{}\n"
	  "C3 [1,1] memcached 6 mg k\nC4 [1,1] memcached 16 ms k\nC5 [1,1] memcached 6 md k\n"
	  "C6 [1,1] memcached 9 ma n\nC7 [1,1] memcached 6 me k\n"
	  "R1 [2,2] memcached 17 mg user:{} ok\nR2 [2,2] memcached 4 mg user:{} ok\n"
	  "R3 [2,2] memcached 4 mg k ok\nR4 [2,2] memcached 4 ms k ok\nR5 [2,2] memcached 4 md k "
	  "ok\n"
	  "R6 [2,2] memcached 4 ma n ok\nR7 [2,2] memcached 18 me k ok\n" },
	{ "a quiet run that mn ends is one call",
	  { WP_C("mg a:1 v q k\r\nmg a:2 v q k\r\n"), WP_C("mg a:3 v q k\r\nmn\r\nmg b v\r\n"),
	    WP_S("VA 1 ka:2\r\nx\r\n"), WP_S("MN\r\nEN\r\n") },
	  "C1 [1,2] memcached 46 mg a:{}\nC2 [2,2] memcached 8 mg b\n"
	  "R1 [3,4] memcached 18 mg a:{} ok\nR2 [4,4] memcached 4 mg b ok\n" },
	{ "hits that come before the end of the run is sent",
	  { WP_C("mg a:1 v q k\r\n"), WP_S("VA 1 ka:1\r\nx\r\n"), WP_C("mg a:2 v q k\r\nmn\r\n"),
	    WP_S("MN\r\n") },
	  "C1 [1,3] memcached 32 mg a:{}\nR1 [2,4] memcached 18 mg a:{} ok\n" },
	{ "a quiet run that a loud get ends: by the tag of that",
	  { WP_C("mg a:1 v q O1\r\nmg a:2 v q O2\r\nmg a:3 v O3\r\nmg b:1 v q k\r\nmg b:2 v k\r\n"),
	    WP_S("VA 1 O1\r\nx\r\nVA 1 O3\r\nx\r\nHD kb:1\r\nEN\r\n") },
	  "C1 [1,1] memcached 43 mg a:{}\nC2 [1,1] memcached 26 mg b:{}\n"
	  "R1 [2,2] memcached 24 mg a:{} ok\nR2 [2,2] memcached 13 mg b:{} ok\n" },
	{ "quiet stores are one way, and so are their refusals",
	  { WP_C("ms k:1 1 q\r\nx\r\nmd k:2 q\r\nms k:3 1 q ME\r\nx\r\nmn\r\n"), WP_S("NS\r\n"),
	    WP_S("MN\r\n") },
	  "M1 [1,1] memcached 15 ms k:{} unknown\nM2 [1,1] memcached 10 md k:{} unknown\n"
	  "M3 [1,1] memcached 18 ms k:{} unknown\nC4 [1,1] memcached 4 mn\n"
	  "m5 [2,2] memcached 4 refused error\nR4 [3,3] memcached 4 mn ok\n" },
};

/* Binary: magic, opcode, key length, extras length, type, status, body length, opaque, cas. */
#define HEAD(magic, opcode, key, extras, status, body)                                             \
	magic opcode "\0" key extras "\0" status "\0\0\0" body "opaq\0\0\0\0\0\0\0\1"
#define ASK(opcode, key, extras, body)          HEAD("\x80", opcode, key, extras, "\0\0", body)
#define GIVE(opcode, key, extras, status, body) HEAD("\x81", opcode, key, extras, status, body)

static const Row binary[] = {
	{ "get, miss, set, a wrong number",
	  { WP_C(ASK("\0", "\7", "\0", "\7") "user:42" ASK("\x0c", "\1", "\0", "\1") "k"),
	    WP_S(GIVE("\0", "\0", "\4", "\0\0", "\x09") "\0\0\0\0Alice" GIVE("\x0c", "\1", "\0",
									     "\0\1", "\1") "k"),
	    WP_C(ASK("\1", "\1", "\x08", "\x0b") "\0\0\0\0\0\0\0\0kxy" ASK(
		    "\5", "\1", "\x14", "\x15") "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0k"),
	    WP_S(GIVE("\1", "\0", "\0", "\0\0", "\0") GIVE("\5", "\0", "\0", "\0\6", "\0")) },
	  "C1 [1,1] memcached 31 get user:{}\nC2 [1,1] memcached 25 get k\n"
	  "R1 [2,2] memcached 33 get user:{} ok\nR2 [2,2] memcached 25 get k ok\n"
	  "C3 [3,3] memcached 35 set k\nC4 [3,3] memcached 45 incr k\n"
	  "R3 [4,4] memcached 24 set k ok\nR4 [4,4] memcached 24 incr k error\n" },
	{ "GETKQ GETKQ NOOP: one call",
	  { WP_C(ASK("\x0d", "\3", "\0", "\3") "a:1" ASK("\x0d", "\3", "\0", "\3") "a:2"),
	    WP_C(ASK("\x0a", "\0", "\0", "\0")),
	    WP_S(GIVE("\x0d", "\3", "\4", "\0\0", "\x08") "\0\0\0\0a:2x"),
	    WP_S(GIVE("\x0a", "\0", "\0", "\0\0", "\0")) },
	  "C1 [1,2] memcached 78 get a:{}\nR1 [3,4] memcached 56 get a:{} ok\n" },
	{ "SETQ is one way, its failure too",
	  { WP_C(ASK("\x11", "\1", "\x08", "\x09") "\0\0\0\0\0\0\0\0k" ASK("\0", "\1", "\0",
									   "\1") "k"),
	    WP_S(GIVE("\x11", "\0", "\0", "\0\3", "\0") GIVE("\0", "\0", "\0", "\0\1", "\0")) },
	  "M1 [1,1] memcached 33 set k unknown\nC2 [1,1] memcached 25 get k\n"
	  "m3 [2,2] memcached 24 refused error\nR2 [2,2] memcached 24 get k ok\n" },
	{ "statistics, a login",
	  { WP_C(ASK("\x21", "\5", "\0", "\x0b") "PLAIN\0a\0b\0\0" ASK("\x10", "\0", "\0", "\0")),
	    WP_S(GIVE("\x21", "\0", "\0", "\0\0", "\0")
			 GIVE("\x10", "\3", "\0", "\0\0", "\4") "pid1" GIVE("\x10", "\0", "\0",
									    "\0\0", "\0")) },
	  "C1 [1,1] memcached 35 sasl_auth setup\nC2 [1,1] memcached 24 stats\n"
	  "R1 [2,2] memcached 24 sasl_auth ok setup\nR2 [2,2] memcached 52 stats ok\n" },
};

static void
check_rows(const Row *rows, gsize n)
{
	for (gsize i = 0; i < n; i++) {
		gsize n_steps = 0;
		while (n_steps < G_N_ELEMENTS(rows[i].steps) && rows[i].steps[n_steps].what)
			n_steps++;
		WpRunOptions options = { .forced = wp_decoder_by_name("memcached") };
		g_test_message("%s", rows[i].name);
		wp_decode_check(&options, rows[i].steps, n_steps, rows[i].expected);
	}
}

START_TEST(text_protocol)
{
	check_rows(text, G_N_ELEMENTS(text));
}
END_TEST

START_TEST(meta_commands)
{
	check_rows(meta, G_N_ELEMENTS(meta));
}
END_TEST

START_TEST(binary_protocol)
{
	check_rows(binary, G_N_ELEMENTS(binary));
}
END_TEST

#define RUN(options, steps) wp_decode_run(options, steps, G_N_ELEMENTS(steps))

/* UDP: by the id in the frame; a reply may take several datagrams, in any order. */
START_TEST(datagrams)
{
	static const WpStep steps[] = {
		WP_C("\0\1\0\0\0\1\0\0get user:42\r\n"),
		WP_C("\0\2\0\0\0\1\0\0get user:43\r\n"),
		WP_S("\0\2\0\0\0\1\0\0END\r\n"),
		WP_S("\0\1\0\1\0\2\0\0lice\r\nEND\r\n"),
		WP_S("\0\1\0\0\0\2\0\0VALUE user:42 0 5\r\nA"),
		WP_C("\0\3\0\0\0\1\0\0delete k noreply\r\n"),
	};
	WpRunOptions options = { .is_udp = TRUE };
	g_autofree char *got = RUN(&options, steps);
	ck_assert_str_eq(got, "C1 [1,1] memcached-udp 21 get user:{}\n"
			      "C2 [2,2] memcached-udp 21 get user:{}\n"
			      "R2 [3,3] memcached-udp 13 get user:{} ok\n"
			      "R1 [4,5] memcached-udp 47 get user:{} ok\n"
			      "M3 [6,6] memcached-udp 26 delete k unknown\n");
}
END_TEST

/* Keys and the front of the data; nothing of a login. */
START_TEST(tokens)
{
	static const WpStep steps[] = {
		WP_C("get user-4711 cart-4711\r\n"),
		WP_C("set k 0 0 25\r\norder-99 and order-100 ok\r\n"),
	};
	WpRunOptions options = { .show_tokens = TRUE,
				 .no_counters = TRUE,
				 .forced = wp_decoder_by_name("memcached") };
	g_autofree char *got = RUN(&options, steps);
	ck_assert_str_eq(got, "C1 [1,1] memcached 25 get user-{} tokens=2\n"
			      "C2 [2,2] memcached 41 set k tokens=3\n"); /* and the 25 */
}
END_TEST

/* Data of any size is skipped by its length, with holes in it. */
START_TEST(long_data)
{
	g_autofree char *big = g_malloc(100000);
	memset(big, 'x', 100000);
	const WpStep steps[] = {
		WP_C("set doc 0 0 300000\r\n"),
		WP_C_BYTES(big, 100000),
		WP_C_HOLE(100000),
		WP_C_BYTES(big, 100000),
		WP_C("\r\nget doc\r\n"),
		WP_S("STORED\r\nVALUE doc 0 150000\r\n"),
		WP_S_BYTES(big, 100000),
		WP_S_HOLE(50000),
		WP_S("\r\nEND\r\n"),
	};
	g_autofree char *got = RUN(NULL, steps);
	ck_assert_str_eq(got, "C1 [1,5] memcached 300022 set doc\nC2 [5,5] memcached 9 get doc\n"
			      "R1 [6,6] memcached 8 set doc ok\n"
			      "R2 [6,9] memcached 150027 get doc ok\n");
}
END_TEST

START_TEST(finds_the_thread)
{
	static const WpStep steps[] = {
		WP_C("get a\r\n"), WP_S("END\r\n"),        WP_C("set b 0 0 5\r\nx"),
		WP_C_HOLE(6),      WP_S("STORED\r\n"),     WP_C("get cc"),
		WP_C_HOLE(6),      WP_C("rest of it\r\n"), WP_S("END\r\n"),
		WP_C("get d\r\n"), WP_S("END\r\n"),
	};
	g_autofree char *got = RUN(NULL, steps);
	ck_assert_str_eq(got, "C1 [1,1] memcached 7 get a\nR1 [2,2] memcached 5 get a ok\n"
			      "C2 [3,3] memcached 20 set b\nR2 [5,5] memcached 8 set b ok\n"
			      "C3 [6,6] memcached 6 get cc\nR3 [9,9] memcached 5 get cc ok\n"
			      "C4 [10,10] memcached 7 get d\nR4 [11,11] memcached 5 get d ok\n"
			      "resyncs 1\nbytes-skipped 12\n");
}
END_TEST

/* Lines cut by the snap length; one that may have said "noreply" expects nothing. */
START_TEST(cut_lines)
{
	static const WpStep steps[] = {
		WP_C("get a\r\n"),
		WP_S("END\r\n"),
		WP_C("get item:21 item:31"),
		WP_C_CUT(10),
		WP_S("VALUE item:21 0 5\r\n"),
		WP_S_CUT(12),
		WP_C("set item:31 0 300 17 nor"),
		WP_C_CUT(30),
		WP_C("gets item:3"),
		WP_C_CUT(3),
		WP_S("VALUE item"),
		WP_S_CUT(20),
		WP_C_FIN,
	};
	g_autofree char *got = RUN(NULL, steps);
	ck_assert_str_eq(got, "C1 [1,1] memcached 7 get a\nR1 [2,2] memcached 5 get a ok\n"
			      "C2 [3,3] memcached 19 get item:{}\n"
			      "R2 [4,4] memcached 31 get item:{} ok\n"
			      "M3 [5,5] memcached 24 set item:{} unknown\n"
			      "C4 [6,6] memcached 11 gets item:{}\n"
			      "R4 [7,7] memcached 30 gets item:{} unknown\n"
			      "returns-unread 2\nresyncs 2\nbytes-skipped 10\n");
}
END_TEST

/* The header of the binary protocol says all but the key, from the first request on. */
START_TEST(cut_binary)
{
	static const WpStep steps[] = {
		WP_C(ASK("\0", "\7", "\0", "\7") "user:"),           WP_C_CUT(2),
		WP_S(GIVE("\0", "\0", "\4", "\0\0", "\x09") "\0\0"), WP_S_CUT(7),
		WP_C(ASK("\1", "\1", "\x08", "\x0b") "\0\0\0\0\0"),  WP_C_CUT(6),
		WP_S(GIVE("\1", "\0", "\0", "\0\0", "\0")),
	};
	g_autofree char *got = RUN(NULL, steps);
	ck_assert_str_eq(got,
			 "C1 [1,1] memcached 31 get user:\nR1 [2,2] memcached 33 get user: ok\n"
			 "C2 [3,3] memcached 35 set\nR2 [4,4] memcached 24 set ok\n");
}
END_TEST

/* Bytes that are no memcached are refused as soon as they can be told. */
START_TEST(refuses)
{
	static const struct {
		const char *bytes;
		gsize length;
	} rows[] = {
#define ROW(bytes) { bytes, sizeof(bytes) - 1 }
		ROW("GET x\r\n"),
		ROW("fetch"),
		ROW("\r\n"),
		ROW("set k 0 0\r\n"),
		ROW("set k x 0 1\r\n"),
		ROW("set k 0 0 99999999999\r\n"),
		ROW("set k 0 0 1\r\nabcd"),
		ROW("get\r\n"),
		ROW("ms k x\r\n"),
		ROW("\x80\0\0\1\1\0\0\0\0\0\0\2opaq\0\0\0\0\0\0\0\0"), /* a get with extras */
		ROW("\x80\0\0\7\0\0\0\0\0\0\0\1"),                     /* key longer than body */
		ROW("\x80\0\0\1\0\x63"),                               /* no such type */
		ROW("\x80\0\0\1\0\0\0\0\xff\0\0\1"),                   /* 4 GiB */
		ROW("\x82"),
#undef ROW
	};
	WpRunOptions options = { .forced = wp_decoder_by_name("memcached") };
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		const WpStep steps[] = { WP_C_BYTES(rows[i].bytes, rows[i].length) };
		g_autofree char *got = RUN(&options, steps);
		ck_assert_msg(strstr(got, "bytes-skipped") != NULL, "row %d: %s", (int)i, got);
	}
}
END_TEST

START_TEST(detection)
{
	static const struct {
		const char *client;
		const char *server;
		WpProbeVerdict verdict;
	} rows[] = {
		{ "get a\r\n", "", WP_PROBE_MAYBE },
		{ "get a\r\n", "END\r\n", WP_PROBE_SURE },
		{ "get a\r\n", "$-1\r\n", WP_PROBE_NO },
		{ "set a 0 0 1\r\nx\r\n", "", WP_PROBE_LIKELY },
		{ "set a 0 0", "", WP_PROBE_MORE },
		{ "GET / HTTP/1.1\r\n", "", WP_PROBE_NO },
		{ "*1\r\n$4\r\nPING\r\n", "", WP_PROBE_NO },
		{ "version\r\n", "220 smtp\r\n", WP_PROBE_NO },
		{ "", "VALUE a 0 1\r\nx\r\nEND\r\n", WP_PROBE_LIKELY },
		{ "", "END\r\n", WP_PROBE_MAYBE },
		{ "", "", WP_PROBE_NO },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		WpProbe probe = {
			.client = wp_bytes((const guint8 *)rows[i].client, strlen(rows[i].client)),
			.server = wp_bytes((const guint8 *)rows[i].server, strlen(rows[i].server)),
			.server_port = 9999,
			.from_start = TRUE,
		};
		ck_assert_msg(wp_decoder_by_name("memcached")->probe(&probe) == rows[i].verdict,
			      "%s | %s", rows[i].client, rows[i].server);
	}
}
END_TEST

WP_SUITE("decode-memcached", text_protocol, meta_commands, binary_protocol, datagrams, tokens,
	 long_data, finds_the_thread, cut_lines, cut_binary, refuses, detection)
