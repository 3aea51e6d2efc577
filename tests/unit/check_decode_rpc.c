/* ONC RPC over TCP and UDP through the real stream. */
#include <string.h>

#include "capture/rpc-names.h"
#include "tests/support/decode-run.h"
#include "tests/support/suite.h"

/* Words of XDR. */
#define ZERO  "\0\0\0\0"
#define ONE   "\0\0\0\1"
#define TWO   "\0\0\0\2"
#define THREE "\0\0\0\3"
#define FOUR  "\0\0\0\4"
#define NONE  ZERO ZERO /* AUTH_NONE, no body */
#define NFS   "\0\1\x86\xa3"
#define X1    "\xaa\0\0\1"
#define X2    "\xaa\0\0\2"
#define X3    "\xaa\0\0\3"

/* Marks: a last fragment of so many bytes. */
#define MARK(n) "\x80\0\0" n

/* 44 bytes and more: mark, call header, no credentials. ARGS must be N - 40 bytes. */
#define CALL(n, xid, program, version, procedure)                                                  \
	MARK(n) xid ZERO TWO program version procedure NONE NONE
#define HANDLE        "\0\0\0\x08\1\2\3\4\5\6\7\x08"
#define GETATTR(xid)  CALL("\x34", xid, NFS, THREE, ONE) HANDLE
#define REPLY(n, xid) MARK(n) xid ONE ZERO NONE ZERO

#define RUN(options, steps) wp_decode_run(options, steps, G_N_ELEMENTS(steps))

/* Any order, many outstanding; the status of NFS is in its own result. */
START_TEST(pairs_by_id)
{
	static const WpStep steps[] = {
		WP_C(GETATTR(X1) GETATTR(X2)),
		WP_C(GETATTR(X3)),
		WP_S(REPLY("\x1c", X3) ZERO),                   /* NFS3_OK */
		WP_S(REPLY("\x1c", X1) "\0\0\0\2"               /* NFS3ERR_NOENT */
		     MARK("\x18") X2 ONE ZERO NONE "\0\0\0\5"), /* SYSTEM_ERR */
		WP_C(GETATTR(X1)),
		WP_S(MARK("\x14") X1 ONE ONE ONE "\0\0\0\1"), /* denied: authentication */
	};
	wp_decode_check(NULL, steps, G_N_ELEMENTS(steps),
			"C1 [1,1] rpc 56 nfs.GETATTR\nC2 [1,1] rpc 56 nfs.GETATTR\n"
			"C3 [2,2] rpc 56 nfs.GETATTR\nR3 [3,3] rpc 32 nfs.GETATTR ok\n"
			"R1 [4,4] rpc 32 nfs.GETATTR error\nR2 [4,4] rpc 28 nfs.GETATTR error\n"
			"C4 [5,5] rpc 56 nfs.GETATTR\nR4 [6,6] rpc 24 nfs.GETATTR error\n");
}
END_TEST

/* The server calls back on the same flow, with ids of its own that may be the same. */
START_TEST(calls_both_ways)
{
	static const WpStep steps[] = {
		WP_C(GETATTR(X1)),
		WP_S(CALL("\x28", X1, "\x40\0\0\0", ONE, ZERO)),
		WP_C(REPLY("\x18", X1)),
		WP_S(REPLY("\x1c", X1) ZERO),
	};
	wp_decode_check(NULL, steps, G_N_ELEMENTS(steps),
			"C1 [1,1] rpc 56 nfs.GETATTR\nc2 [2,2] rpc 44 nfs4cb.NULL setup\n"
			"r2 [3,3] rpc 28 nfs4cb.NULL ok setup\nR1 [4,4] rpc 32 nfs.GETATTR ok\n");
}
END_TEST

/* A message in fragments of any size is one message. */
START_TEST(fragments)
{
	static const char call[] = GETATTR(X1);
	const gsize length = sizeof call - 1 - 4;
	for (gsize size = 1; size <= length; size++) {
		g_autoptr(GByteArray) bytes = g_byte_array_new();
		for (gsize at = 0; at < length; at += size) {
			gsize n = MIN(size, length - at);
			guint8 mark[4] = { at + n == length ? 0x80 : 0, 0, 0, (guint8)n };
			g_byte_array_append(bytes, mark, 4);
			g_byte_array_append(bytes, (const guint8 *)call + 4 + at, (guint)n);
		}
		const WpStep steps[] = {
			WP_C(GETATTR(X2)),
			WP_C_BYTES(bytes->data, bytes->len),
			WP_S(REPLY("\x1c", X1) ZERO),
		};
		g_autofree char *expected =
			g_strdup_printf("C1 [1,1] rpc 56 nfs.GETATTR\nC2 [2,2] rpc %u nfs.GETATTR\n"
					"R2 [3,3] rpc 32 nfs.GETATTR ok\ncalls-open 1\n",
					bytes->len);
		wp_decode_check(NULL, steps, G_N_ELEMENTS(steps), expected);
	}
}
END_TEST

/* Data behind the head is skipped by length: not kept, and holes in it do no harm. */
START_TEST(long_messages)
{
	g_autofree char *data = g_malloc0(100000);
	const WpStep steps[] = {
		/* WRITE: handle, offset, count, stable, length of data */
		WP_C("\x80\1\x86\xe8" X1 ZERO TWO NFS THREE "\0\0\0\7" NONE NONE HANDLE
		     "\0\0\0\0\0\0\0\0\0\1\x86\xa0\0\0\0\0\0\1\x86\xa0"),
		WP_C_BYTES(data, 50000),
		WP_C_HOLE(40000),
		WP_C_BYTES(data, 10000),
		WP_C(GETATTR(X2)),
		WP_S(REPLY("\x1c", X1) ZERO REPLY("\x1c", X2) ZERO),
	};
	g_autofree char *got = RUN(NULL, steps);
	ck_assert_str_eq(got, "C1 [1,4] rpc 100076 nfs.WRITE\nC2 [5,5] rpc 56 nfs.GETATTR\n"
			      "R1 [6,6] rpc 32 nfs.WRITE ok\nR2 [6,6] rpc 32 nfs.GETATTR ok\n");
}
END_TEST

/* UDP: no marks. A call sent again is counted once; answers in any order. */
START_TEST(datagrams)
{
	WpRunOptions options = { .is_udp = TRUE };
	static const WpStep steps[] = {
		WP_C(X1 ZERO TWO "\0\1\x86\xa0" TWO THREE NONE NONE "\0\1\x86\xa3\0\0\0\3"
				 "\0\0\0\6\0\0\0\0"),
		WP_C(X2 ZERO TWO "\x20\0\0\x65" ONE TWO NONE NONE),
		WP_C(X2 ZERO TWO "\x20\0\0\x65" ONE TWO NONE NONE),
		WP_S(X2 ONE ZERO NONE ZERO ONE),
		WP_S(X1 ONE ZERO NONE ZERO "\0\0\x08\1"),
	};
	g_autofree char *got = RUN(&options, steps);
	ck_assert_str_eq(got, "C1 [1,1] rpc 56 portmap.GETPORT\n"
			      "C2 [2,2] rpc 40 rpc.536871013.v1.proc2\n"
			      "R2 [4,4] rpc 28 rpc.536871013.v1.proc2 ok\n"
			      "R1 [5,5] rpc 28 portmap.GETPORT ok\ncalls-repeated 1\n");
}
END_TEST

#define GETATTR_UDP(xid)   xid ZERO TWO NFS THREE ONE NONE NONE HANDLE
#define REPLY_UDP(xid, is) xid ONE ZERO NONE ZERO is

/* A mirror's skewed clock shows the reply first: it waits for its call, which also tells its status. */
START_TEST(reply_before_call)
{
	WpRunOptions options = { .is_udp = TRUE };
	static const WpStep steps[] = {
		WP_S(REPLY_UDP(X2, ZERO)),       /* its call was lost */
		WP_S(REPLY_UDP(X1, "\0\0\0\2")), /* NFS3ERR_NOENT */
		WP_PAUSE(900),
		WP_C(GETATTR_UDP(X1)),
		WP_PAUSE(30000),
		WP_C(GETATTR_UDP(X2)), /* so much later it asks anew */
		WP_S(REPLY_UDP(X3, ZERO)),
	};
	g_autofree char *got = RUN(&options, steps);
	ck_assert_str_eq(got, "C1 [904,904] rpc 52 nfs.GETATTR\n"
			      "R1 [904,904] rpc 28 nfs.GETATTR error\n"
			      "C2 [30906,30906] rpc 52 nfs.GETATTR\n"
			      "returns-orphan 2\nreturns-early 1\ncalls-open 1\n");
}
END_TEST

/* No more than so many replies wait, the latest ones. */
START_TEST(many_replies_before_calls)
{
	WpRunOptions options = { .is_udp = TRUE };
	WpStep steps[WP_STREAM_MAX_EARLY + 3];
	char replies[WP_STREAM_MAX_EARLY + 1][28];
	for (gsize i = 0; i < G_N_ELEMENTS(replies); i++) {
		memcpy(replies[i], REPLY_UDP(X1, ZERO), sizeof replies[i]);
		replies[i][3] = (char)i;
		steps[i] = (WpStep)WP_S_BYTES(replies[i], sizeof replies[i]);
	}
	steps[WP_STREAM_MAX_EARLY + 1] = (WpStep)WP_C(GETATTR_UDP("\xaa\0\0\0"));
	steps[WP_STREAM_MAX_EARLY + 2] = (WpStep)WP_C(GETATTR_UDP(X1));
	g_autofree char *got = RUN(&options, steps);
	g_autofree char *expected = g_strdup_printf(
		"C1 [%d,%d] rpc 52 nfs.GETATTR\nC2 [%d,%d] rpc 52 nfs.GETATTR\n"
		"R2 [%d,%d] rpc 28 nfs.GETATTR ok\n"
		"returns-orphan %d\nreturns-early 1\ncalls-open 1\n",
		WP_STREAM_MAX_EARLY + 2, WP_STREAM_MAX_EARLY + 2, WP_STREAM_MAX_EARLY + 3,
		WP_STREAM_MAX_EARLY + 3, WP_STREAM_MAX_EARLY + 3, WP_STREAM_MAX_EARLY + 3,
		WP_STREAM_MAX_EARLY);
	ck_assert_str_eq(got, expected);
}
END_TEST

/* Program, version, procedure and arguments (40 bytes of header are before them). */
START_TEST(labels)
{
#define SEQUENCE  "\0\0\0\x35" ZERO ZERO ZERO ZERO ZERO ZERO ZERO ZERO
#define PUTFH     "\0\0\0\x16\0\0\0\5abcde\0\0\0"
#define GETATTR_4 "\0\0\0\x09" TWO ONE ONE
#define TAG       "\0\0\0\3tag\0"
	static const struct {
		const char *words; /* program, version, procedure */
		const char *args;
		gsize n_args;
		const char *label;
	} rows[] = {
#define ROW(words, args, label) { words, args, sizeof(args) - 1, label }
		ROW(NFS TWO "\0\0\0\x04", "", "nfs.LOOKUP"),
		ROW(NFS THREE "\0\0\0\x15", "", "nfs.COMMIT"),
		ROW(NFS THREE "\0\0\0\x16", "", "nfs.proc22"),
		ROW(NFS THREE ZERO, "", "nfs.NULL setup"),
		ROW("\0\1\x86\xa5" THREE ONE, "", "mount.MNT"),
		ROW("\0\1\x86\xb5" FOUR TWO, "", "nlm.LOCK"),
		ROW("\0\1\x86\xb8" ONE "\0\0\0\6", "", "nsm.NOTIFY"),
		ROW("\0\1\x86\xa0" FOUR THREE, "", "rpcbind.GETADDR"),
		ROW("\0\1\x8a\x87" ONE THREE, "", "rpc.100999.v1.proc3"),
		/* SEQUENCE PUTFH READ GETATTR */
		ROW(NFS FOUR ONE,
		    TAG ONE FOUR SEQUENCE PUTFH
		    "\0\0\0\x19" ZERO ZERO ZERO ZERO ZERO ZERO ZERO GETATTR_4,
		    "nfs4.READ"),
		/* PUTFH LOOKUP GETFH GETATTR */
		ROW(NFS FOUR ONE,
		    ZERO ZERO FOUR PUTFH "\0\0\0\x0f\0\0\0\1a\0\0\0\0\0\0\x0a" GETATTR_4,
		    "nfs4.LOOKUP"),
		/* PUTFH ACCESS GETATTR */
		ROW(NFS FOUR ONE, ZERO ZERO THREE PUTFH "\0\0\0\3" ONE GETATTR_4, "nfs4.ACCESS"),
		/* PUTROOTFH GETFH GETATTR */
		ROW(NFS FOUR ONE, ZERO ZERO THREE "\0\0\0\x18\0\0\0\x0a" GETATTR_4, "nfs4.GETATTR"),
		/* EXCHANGE_ID */
		ROW(NFS FOUR ONE, ZERO ONE ONE "\0\0\0\x2a", "nfs4.EXCHANGE_ID setup"),
		ROW(NFS FOUR ONE, ZERO ONE ONE "\0\0\0\x4b", "nfs4.REMOVEXATTR"),
		ROW(NFS FOUR ONE, ZERO ONE ONE "\0\0\0\x4c", "nfs4.COMPOUND"),
		ROW(NFS FOUR ONE, ZERO ONE ZERO, "nfs4.COMPOUND"),
		ROW(NFS FOUR ONE, "\xff\xff\xff\xff", "nfs4.COMPOUND"),
		/* CB_SEQUENCE CB_RECALL */
		ROW("\x40\0\0\0" ONE ONE,
		    ZERO ONE ZERO TWO
		    "\0\0\0\x0b" ZERO ZERO ZERO ZERO ZERO ZERO ZERO ZERO ZERO FOUR,
		    "nfs4cb.CB_RECALL"),
#undef ROW
	};
	WpRunOptions options = { .is_udp = TRUE, .no_counters = TRUE };
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GByteArray) bytes = g_byte_array_new();
		g_byte_array_append(bytes, (const guint8 *)X1 ZERO TWO, 12);
		g_byte_array_append(bytes, (const guint8 *)rows[i].words, 12);
		g_byte_array_append(bytes, (const guint8 *)NONE NONE, 16);
		g_byte_array_append(bytes, (const guint8 *)rows[i].args, (guint)rows[i].n_args);
		const WpStep steps[] = { WP_C_BYTES(bytes->data, bytes->len) };
		g_autofree char *expected =
			g_strdup_printf("C1 [1,1] rpc %u %s\n", bytes->len, rows[i].label);
		g_autofree char *got = RUN(&options, steps);
		ck_assert_str_eq(got, expected);
	}
}
END_TEST

/* Numbers of operations that must not slip: from RFC 7530 and RFC 8881. */
START_TEST(operation_numbers)
{
	static const struct {
		guint8 number;
		const char *name;
	} rows[] = {
		{ 3, "ACCESS" },       { 18, "OPEN" },
		{ 25, "READ" },        { 35, "SETCLIENTID" },
		{ 38, "WRITE" },       { 43, "CREATE_SESSION" },
		{ 53, "SEQUENCE" },    { 58, "RECLAIM_COMPLETE" },
		{ 60, "COPY" },        { 71, "CLONE" },
		{ 75, "REMOVEXATTR" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		guint8 args[] = { 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, rows[i].number };
		gboolean setup;
		ck_assert_str_eq(wp_rpc_compound_name(WP_RPC_ARGS_COMPOUND,
						      wp_bytes(args, sizeof args), &setup),
				 rows[i].name);
	}
}
END_TEST

/* RPCSEC_GSS: setting up a context is set-up; what is wrapped is not looked into. */
START_TEST(gss)
{
#define GSS(procedure, service) "\0\0\0\6\0\0\0\x14" ONE procedure ONE service ZERO
#define INTEGRITY               TWO
#define PRIVACY                 THREE
	static const WpStep steps[] = {
		WP_C(X1 ZERO TWO NFS FOUR ZERO GSS(ONE, ONE) NONE),
		WP_C(X2 ZERO TWO NFS FOUR ONE GSS(ZERO, INTEGRITY) NONE
		     "\0\0\0\x20" ONE ZERO ONE ONE "\0\0\0\x26"),
		WP_C(X3 ZERO TWO NFS FOUR ONE GSS(ZERO, PRIVACY) NONE "\1\2\3\4\5\6\7\x08"),
		WP_S(X3 ONE ZERO NONE ZERO "\0\0\0\x99"),
	};
	WpRunOptions options = { .is_udp = TRUE, .no_counters = TRUE };
	g_autofree char *got = RUN(&options, steps);
	ck_assert_str_eq(got, "C1 [1,1] rpc 60 nfs4.NULL setup\nC2 [2,2] rpc 84 nfs4.WRITE\n"
			      "C3 [3,3] rpc 68 nfs4.COMPOUND\nR3 [4,4] rpc 28 nfs4.COMPOUND ok\n");
}
END_TEST

/* RPC with TLS: the server agrees in its verifier, then both speak TLS. */
START_TEST(upgrade)
{
	static const WpStep steps[] = {
		WP_C(MARK("\x28") X1 ZERO TWO NFS FOUR ZERO "\0\0\0\7" ZERO NONE),
		WP_S(MARK("\x20") X1 ONE ZERO ZERO "\0\0\0\x08STARTTLS" ZERO),
		WP_C("\x16\3\1\0\4\1\0\0\0"),
	};
	g_autofree char *got = RUN(NULL, steps);
	ck_assert_str_eq(got,
			 "C1 [1,1] rpc 44 nfs4.NULL setup\nR1 [2,2] rpc 36 nfs4.NULL ok setup\n"
			 "M2 [3,3] tls 9 unknown setup\n");
}
END_TEST

/* A lock that is not granted at once answers "blocked", which is no error; "denied" is. */
START_TEST(lock_results)
{
#define LOCK(xid) xid ZERO TWO "\0\1\x86\xb5" FOUR TWO NONE NONE
#define COOKIE    "\0\0\0\3abc\0"
	static const WpStep steps[] = {
		WP_C(LOCK(X1)),
		WP_C(LOCK(X2)),
		WP_S(X1 ONE ZERO NONE ZERO COOKIE THREE),
		WP_S(X2 ONE ZERO NONE ZERO COOKIE ONE),
	};
	WpRunOptions options = { .is_udp = TRUE };
	g_autofree char *got = RUN(&options, steps);
	ck_assert_str_eq(got, "C1 [1,1] rpc 40 nlm.LOCK\nC2 [2,2] rpc 40 nlm.LOCK\n"
			      "R1 [3,3] rpc 36 nlm.LOCK ok\nR2 [4,4] rpc 36 nlm.LOCK error\n");
}
END_TEST

/* Strings among the arguments are looked at for tokens, handles are not. */
START_TEST(tokens)
{
	static const WpStep steps[] = {
		WP_C(X1 ZERO TWO NFS THREE THREE NONE NONE "\0\0\0\x08"
							   "a1b2\1\2\3\4"
							   "\0\0\0\x0a"
							   "order-4711\0\0"),
	};
	WpRunOptions options = { .is_udp = TRUE, .no_counters = TRUE, .show_tokens = TRUE };
	g_autofree char *got = RUN(&options, steps);
	ck_assert_str_eq(got, "C1 [1,1] rpc 68 nfs.LOOKUP tokens=1\n");
}
END_TEST

/* After a hole the next packet that begins with a message is taken up; pairs by id need no more. */
START_TEST(finds_the_thread)
{
	static const WpStep steps[] = {
		WP_C(GETATTR(X1)),
		WP_C(GETATTR(X2)),
		WP_S(MARK("\x1c") X1 ONE),
		WP_S_HOLE(20),
		WP_S("\0\0\0\0\0\0\0\0\0\0\0\0"),
		WP_S(REPLY("\x1c", X2) ZERO),
	};
	g_autofree char *got = RUN(NULL, steps);
	ck_assert_str_eq(got, "C1 [1,1] rpc 56 nfs.GETATTR\nC2 [2,2] rpc 56 nfs.GETATTR\n"
			      "R2 [6,6] rpc 32 nfs.GETATTR ok\n"
			      "calls-unanswered 1\nresyncs 1\nbytes-skipped 24\n");

	static const WpStep middle[] = {
		WP_S("tail of a message"),
		WP_C(GETATTR(X1)),
		WP_S(REPLY("\x1c", X1) ZERO),
	};
	WpRunOptions options = { .is_midstream = TRUE, .is_swapped = TRUE, .no_counters = TRUE };
	g_autofree char *found = RUN(&options, middle);
	ck_assert_str_eq(found, "C1 [2,2] rpc 56 nfs.GETATTR\nR1 [3,3] rpc 32 nfs.GETATTR ok\n");
}
END_TEST

/* A call cut by the snap length is still that call. */
START_TEST(cut_calls)
{
	static const WpStep steps[] = {
		WP_C("\x80\0\0\x34" X1 ZERO TWO NFS THREE ONE "\0\0"),
		WP_C_HOLE(26),
		WP_C(GETATTR(X2)),
		WP_S(REPLY("\x1c", X1) ZERO),
	};
	WpRunOptions options = { .forced = wp_decoder_by_name("rpc") };
	g_autofree char *got = RUN(&options, steps);
	ck_assert_str_eq(got, "C1 [1,1] rpc 56 nfs.GETATTR\nC2 [3,3] rpc 56 nfs.GETATTR\n"
			      "R1 [4,4] rpc 32 nfs.GETATTR ok\ncalls-open 1\n");
}
END_TEST

/* Cut before its arguments a call is recognised, at the start of a flow and behind a hole. */
START_TEST(cut_calls_recognised)
{
	static const WpStep steps[] = {
		WP_C("\x80\0\0\x34" X1 ZERO TWO NFS THREE ONE "\0\0"),
		WP_C_CUT(26),
		WP_S(REPLY("\x1c", X1) "\0"),
		WP_S_CUT(3),
		WP_C_HOLE(56),
		WP_C("\x80\0\0\x34" X2 ZERO TWO NFS THREE ONE "\0\0"),
		WP_C_CUT(26),
		WP_S(REPLY("\x1c", X2) "\0"),
		WP_S_CUT(3),
	};
	g_autofree char *got = RUN(NULL, steps);
	ck_assert_str_eq(got, "C1 [1,1] rpc 56 nfs.GETATTR\nR1 [2,2] rpc 32 nfs.GETATTR ok\n"
			      "C2 [4,4] rpc 56 nfs.GETATTR\nR2 [5,5] rpc 32 nfs.GETATTR ok\n"
			      "resyncs 1\n");
}
END_TEST

/* What cannot be RPC is refused at once, whatever it claims of its length. */
START_TEST(refuses)
{
	static const struct {
		const char *bytes;
		gsize length;
	} rows[] = {
#define ROW(text) { text, sizeof(text) - 1 }
		ROW(ZERO),                                      /* an empty fragment */
		ROW("\xff\xff\xff\xff" X1 ZERO TWO),            /* 2 GiB */
		ROW(MARK("\x08") X1 ZERO),                      /* too short for any message */
		ROW(MARK("\x28") X1 TWO),                       /* neither call nor reply */
		ROW(MARK("\x28") X1 ZERO THREE),                /* RPC version 3 */
		ROW(MARK("\x18") X1 ZERO TWO NFS THREE ONE),    /* ends before its credentials */
		ROW(CALL("\x28", X1, NFS, THREE, ONE) "GET /"), /* trailing bytes */
		ROW(MARK("\xf0") X1 ZERO TWO NFS THREE ONE ONE "\0\0\1\x91"), /* 401 bytes */
		ROW(MARK("\x18") X1 ONE TWO NONE ZERO),                       /* reply_stat 2 */
		ROW(MARK("\x18") X1 ONE ZERO NONE "\0\0\0\6"),                /* accept_stat 6 */
		ROW(MARK("\x18") X1 ONE ZERO ONE "\xff\xff\xff\xff"),
#undef ROW
	};
	WpRunOptions options = { .forced = wp_decoder_by_name("rpc") };
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
		gsize client_length;
		const char *server;
		gsize server_length;
		gboolean is_midstream;
		WpProbeVerdict verdict;
	} rows[] = {
#define ROW(client, server, ...)                                                                   \
	{ client, sizeof(client) - 1, server, sizeof(server) - 1, __VA_ARGS__ }
		ROW(GETATTR(X1), "", FALSE, WP_PROBE_SURE),
		ROW("\x80\0\0\x34\1", "", FALSE, WP_PROBE_MORE),
		ROW("GET / HTTP/1.1\r\n\r\n", "", FALSE, WP_PROBE_NO),
		ROW("", REPLY("\x1c", X1) ZERO, TRUE, WP_PROBE_LIKELY),
		ROW("..data..", REPLY("\x1c", X1) ZERO, TRUE, WP_PROBE_LIKELY),
		ROW("..data..", REPLY("\x1c", X1) ZERO, FALSE, WP_PROBE_NO),
		ROW(REPLY("\x1c", X1) ZERO, GETATTR(X1), TRUE, WP_PROBE_NO),
#undef ROW
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		WpProbe probe = {
			.client = wp_bytes((const guint8 *)rows[i].client, rows[i].client_length),
			.server = wp_bytes((const guint8 *)rows[i].server, rows[i].server_length),
			.from_start = !rows[i].is_midstream,
		};
		ck_assert_msg(wp_decoder_by_name("rpc")->probe(&probe) == rows[i].verdict, "row %d",
			      (int)i);
	}
}
END_TEST

WP_SUITE("decode-rpc", pairs_by_id, calls_both_ways, fragments, long_messages, datagrams,
	 reply_before_call, many_replies_before_calls, labels, operation_numbers, gss, upgrade,
	 lock_results, tokens, finds_the_thread, cut_calls, cut_calls_recognised, refuses,
	 detection)
