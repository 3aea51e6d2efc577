/* DNS over UDP and TCP through the real stream. */
#include <string.h>

#include "capture/dns-message.h"
#include "tests/support/decode-run.h"
#include "tests/support/suite.h"

#define RUN(options, steps) wp_decode_run(options, steps, G_N_ELEMENTS(steps))

/* Headers: flags and counts. */
#define ASK     "\1\0\0\1\0\0\0\0\0\0"        /* recursion desired, one question */
#define OK(n)   "\x81\x80\0\1\0" n "\0\0\0\0" /* one question, n answers */
#define FAIL(r) "\x81" r "\0\1\0\0\0\0\0\0"

#define DB      "\2db\4blog\3lan\0"
#define A       "\0\1\0\1"
#define AAAA    "\0\x1c\0\1"
#define ADDRESS A "\0\0\0\x3c\0\4\x0a\0\0\5" /* type, class, time to live, 10.0.0.5 */
#define ME      "\xc0\x0c"                   /* pointer to the question */

static const WpRunOptions udp = { .is_udp = TRUE, .port = 53 };

START_TEST(pairs)
{
	static const WpStep steps[] = {
		WP_C("\0\7" ASK DB A),
		WP_C("\0\x08" ASK DB AAAA),
		WP_S("\0\x08" OK("\0") DB AAAA),
		WP_S("\0\7" OK("\1") DB A ME ADDRESS),
		WP_C("\0\7" ASK "\x10"
		     "e06cf6f08caab80d\4spam\3lan\0" A),
		WP_S("\0\7" FAIL(
			"\x83") "\x10"
				"e06cf6f08caab80d\4spam\3lan\0" A), /* no such name: an answer */
		WP_C("\0\x09" ASK DB A),
		WP_S("\0\x09" FAIL("\x82") DB A), /* SERVFAIL */
	};
	g_autofree char *got = RUN(&udp, steps);
	ck_assert_str_eq(got, "C1 [1,1] dns 29 A db.blog.lan\nC2 [2,2] dns 29 AAAA db.blog.lan\n"
			      "R2 [3,3] dns 29 AAAA db.blog.lan ok\n"
			      "R1 [4,4] dns 45 A db.blog.lan ok\nC3 [5,5] dns 43 A {}.spam.lan\n"
			      "R3 [6,6] dns 43 A {}.spam.lan ok\nC4 [7,7] dns 29 A db.blog.lan\n"
			      "R4 [8,8] dns 29 A db.blog.lan error\n");
}
END_TEST

/* The same 16 bits with another question are another call; the same question again is not. */
START_TEST(ids_used_again)
{
	static const WpStep steps[] = {
		WP_C("\0\7" ASK DB A),      WP_C("\0\7" ASK "\1x\0" A),
		WP_C("\0\7" ASK DB A),      WP_S("\0\7" OK("\0") "\1X\0" A), /* in other case */
		WP_S("\0\7" OK("\0") DB A),
	};
	g_autofree char *got = RUN(&udp, steps);
	ck_assert_str_eq(got, "C1 [1,1] dns 29 A db.blog.lan\nC2 [2,2] dns 19 A x\n"
			      "R2 [4,4] dns 19 A x ok\nR1 [5,5] dns 29 A db.blog.lan ok\n"
			      "calls-repeated 1\n");
}
END_TEST

/* An answer without the question (refused before it was read) goes to the latest with its id. */
START_TEST(answer_without_question)
{
	static const WpStep steps[] = {
		WP_C("\0\7" ASK DB A),
		WP_C("\0\x08" ASK DB A),
		WP_S("\0\7\x80\1\0\0\0\0\0\0\0\0"),
	};
	g_autofree char *got = RUN(&udp, steps);
	ck_assert_str_eq(got, "C1 [1,1] dns 29 A db.blog.lan\nC2 [2,2] dns 29 A db.blog.lan\n"
			      "R1 [3,3] dns 12 A db.blog.lan error\ncalls-open 1\n");
}
END_TEST

/* An address is called as it was asked for, whatever aliases lie between; others are not named. */
START_TEST(names_of_addresses)
{
	static const WpStep plain[] = {
		WP_C("\0\7" ASK DB A),
		WP_S("\0\7" OK("\1") DB A ME ADDRESS),
	};
	g_autofree char *direct = wp_decode_run_names(&udp, plain, G_N_ELEMENTS(plain));
	ck_assert_ptr_nonnull(strstr(direct, "10.0.0.5=db.blog.lan dns"));

	/* db.blog.lan is m.blog.lan, which is n.blog.lan; the address of another name is not its. */
	static const WpStep aliases[] = {
		WP_C("\0\7" ASK DB A),
		WP_S("\0\7" OK("\4") DB A "\1o\0" A "\0\0\0\0\0\4\x0a\0\0\6"
					  "\1n\xc0\x0f" ADDRESS
					  "\1m\xc0\x0f\0\5\0\1\0\0\0\0\0\4\1n\xc0\x0f" ME
					  "\0\5\0\1\0\0\0\0\0\4\1m\xc0\x0f"),
	};
	g_autofree char *alias = wp_decode_run_names(&udp, aliases, G_N_ELEMENTS(aliases));
	ck_assert_ptr_nonnull(strstr(alias, "10.0.0.5=db.blog.lan dns"));
	ck_assert_ptr_null(strstr(alias, "10.0.0.6"));

	/* A value in front is not the node's name. */
	static const WpStep nonce[] = {
		WP_S("\0\7" OK("\1") "\x10"
				     "e06cf6f08caab80d" DB A ME ADDRESS),
	};
	g_autofree char *rest = wp_decode_run_names(&udp, nonce, G_N_ELEMENTS(nonce));
	ck_assert_str_eq(rest, "10.0.0.5=db.blog.lan dns\n");
}
END_TEST

/* What else is asked, and what is not asked of one server alone. */
START_TEST(labels)
{
	static const struct {
		const char *bytes;
		gsize length;
		guint16 port;
		const char *label;
	} rows[] = {
#define ROW(bytes, port, label) { bytes, sizeof(bytes) - 1, port, label }
		ROW("\0\1" ASK "\0\0\2\0\1", 53, "C1 [1,1] dns 17 NS .\n"),
		ROW("\0\1" ASK "\1x\0\xff\xfe\0\1", 53, "C1 [1,1] dns 19 TYPE65534 x\n"),
		ROW("\0\1\x24\0\0\1\0\0\0\0\0\0\1x\0\0\6\0\1", 53, "C1 [1,1] dns 19 NOTIFY x\n"),
		/* EDNS: an OPT record behind the question */
		ROW("\0\1\1\0\0\1\0\0\0\0\0\1\1x\0\0\x41\0\1\0\0\x29\x10\0\0\0\0\0\0\0", 53,
		    "C1 [1,1] dns 30 HTTPS x\n"),
		ROW("\0\0" ASK "\1x\5local\0\0\1\x80\1", 5353,
		    "M1 [1,1] dns 25 A x.local unknown\n"),
		ROW("\0\0\x84\0\0\0\0\1\0\0\0\0\1x\5local\0\0\1\x80\1\0\0\0\0\0\4\x0a\0\0\5", 5353,
		    "M1 [1,1] dns 35 answer A x.local ok\n"),
#undef ROW
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		WpRunOptions options = { .is_udp = TRUE,
					 .port = rows[i].port,
					 .no_counters = TRUE };
		const WpStep steps[] = { WP_C_BYTES(rows[i].bytes, rows[i].length) };
		g_autofree char *got = RUN(&options, steps);
		ck_assert_str_eq(got, rows[i].label);
	}
}
END_TEST

/* TCP: a length before each message; answers in any order. */
START_TEST(over_tcp)
{
	static const WpStep steps[] = {
		WP_C("\0\x1d\0\7" ASK DB A "\0\x1d\0\x08" ASK DB AAAA),
		WP_S("\0\x1d\0\x08" OK("\0") DB AAAA "\0\x2d\0\7" OK("\1") DB A ME ADDRESS),
	};
	wp_decode_check(NULL, steps, G_N_ELEMENTS(steps),
			"C1 [1,1] dns 31 A db.blog.lan\nC2 [1,1] dns 31 AAAA db.blog.lan\n"
			"R2 [2,2] dns 31 AAAA db.blog.lan ok\nR1 [2,2] dns 47 A db.blog.lan ok\n");
}
END_TEST

/* A zone is one return, of however many messages; other answers may come between. */
START_TEST(transfer)
{
#define AXFR "\0\xfc\0\1"
	static const WpStep steps[] = {
		WP_C("\0\x1d\0\7" ASK DB AXFR),
		WP_S("\0\x1d\0\7" OK("\0") DB AXFR),
		WP_C("\0\x1d\0\x08" ASK DB A),
		WP_S("\0\x1d\0\x08" OK("\0") DB A),
		WP_S("\0\x1c\0\7\x80\0\0\0\0\1\0\0\0\0\0" ADDRESS "\0"),
		WP_S("\0\x1d\0\7" OK("\0") DB AXFR),
		WP_S_FIN,
	};
	wp_decode_check(NULL, steps, G_N_ELEMENTS(steps),
			"C1 [1,1] dns 31 AXFR db.blog.lan\nR1 [2,6] dns 92 AXFR db.blog.lan ok\n"
			"C2 [3,3] dns 31 A db.blog.lan\nR2 [4,4] dns 31 A db.blog.lan ok\n");
}
END_TEST

/* A long answer over TCP: its end is skipped by length. */
START_TEST(long_answer)
{
	g_autofree char *rest = g_malloc0(59955);
	const WpStep steps[] = {
		WP_C("\0\x1d\0\7" ASK DB A),
		WP_S("\xea\x60\0\7" OK("\1") DB A ME ADDRESS),
		WP_S_BYTES(rest, 59955),
		WP_C("\0\x1d\0\x08" ASK DB A),
	};
	g_autofree char *got = RUN(NULL, steps);
	ck_assert_str_eq(got, "C1 [1,1] dns 31 A db.blog.lan\nR1 [2,3] dns 60002 A db.blog.lan ok\n"
			      "C2 [4,4] dns 31 A db.blog.lan\ncalls-open 1\n");
}
END_TEST

/* Names that loop, point ahead, are too long or cut are no names. */
START_TEST(refuses)
{
	static const struct {
		const char *bytes;
		gsize length;
	} rows[] = {
#define ROW(text) { text, sizeof(text) - 1 }
		ROW("\0\7" ASK "\xc0\x0c" A),           /* points to itself */
		ROW("\0\7" ASK "\1a\xc0\x0c" A),        /* and over a label */
		ROW("\0\7" ASK "\xc0\x20" A),           /* ahead */
		ROW("\0\7" ASK "\x40x\0" A),            /* a label of 64 */
		ROW("\0\7" ASK "\5ab"),                 /* cut */
		ROW("\0\7" ASK "\2db\0\0\1"),           /* no class */
		ROW("\0\7" ASK "\2db\0\0\0\0\1"),       /* type 0 */
		ROW("\0\7" ASK "\2db\0\0\1\0\2"),       /* class 2 */
		ROW("\0\7\1\x40\0\1\0\0\0\0\0\0" DB A), /* the bit that is zero */
		ROW("\0\7\x48\0\0\1\0\0\0\0\0\0" DB A), /* opcode 9 */
		ROW("\0\7\1\0\xff\xff\0\0\0\0\0\0" DB A),
		ROW("\0\7\1\0\0\0\0\0\0\0\0\0"), /* a query of nothing */
		ROW("\0\7\1\0\0"),
#undef ROW
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		WpDnsMessage message;
		ck_assert_msg(!wp_dns_parse(wp_bytes((const guint8 *)rows[i].bytes, rows[i].length),
					    &message),
			      "row %d", (int)i);
	}
}
END_TEST

/* A name of 255 bytes and records without end are parsed in bounded time and room. */
START_TEST(limits)
{
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	g_byte_array_append(bytes, (const guint8 *)"\0\7" ASK, 12);
	for (int i = 0; i < 127; i++)
		g_byte_array_append(bytes, (const guint8 *)"\1a", 2);
	g_byte_array_append(bytes, (const guint8 *)"\0" A, 5);
	WpDnsMessage message;
	ck_assert(wp_dns_parse(wp_bytes(bytes->data, bytes->len), &message));
	ck_assert_uint_eq(message.question.length, 253);
	ck_assert(wp_dns_is_exact(&message));

	/* Each record's name is a chain of pointers, each CNAME the next name: no pass is worth much. */
	g_byte_array_set_size(bytes, 0);
	g_byte_array_append(bytes, (const guint8 *)"\0\7\x81\x80\0\1\x17\0\0\0\0\0\1a\0" A, 19);
	while (bytes->len < 65000)
		g_byte_array_append(bytes, (const guint8 *)"\xc0\x0c\0\5\0\1\0\0\0\0\0\2\xc0\x0c",
				    14);
	ck_assert(wp_dns_parse(wp_bytes(bytes->data, bytes->len), &message));
	WpDnsAddress addresses[4];
	ck_assert_uint_eq(wp_dns_addresses(&message, addresses, 4), 0);
}
END_TEST

START_TEST(detection)
{
	static const struct {
		const char *client;
		gsize client_length;
		const char *server;
		gsize server_length;
		gboolean is_udp;
		WpProbeVerdict verdict;
	} rows[] = {
#define ROW(client, server, ...)                                                                   \
	{ client, sizeof(client) - 1, server, sizeof(server) - 1, __VA_ARGS__ }
		ROW("\0\7" ASK DB A, "", TRUE, WP_PROBE_LIKELY),
		ROW("\0\7" ASK DB A, "\0\7" OK("\0") DB A, TRUE, WP_PROBE_SURE),
		ROW("\0\7" ASK DB A, "nonsense", TRUE, WP_PROBE_NO),
		ROW("\0\7" ASK DB A "x", "", TRUE, WP_PROBE_NO),
		ROW("\0\7" OK("\0") DB A, "", TRUE, WP_PROBE_NO),
		ROW("", "\0\7" OK("\1") DB A ME ADDRESS, TRUE, WP_PROBE_LIKELY),
		ROW("\0\x1d\0\7" ASK DB A, "", FALSE, WP_PROBE_LIKELY),
		ROW("\0\x1d\0\7" ASK DB, "", FALSE, WP_PROBE_MORE),
		ROW("\0\x1d\0\7\1", "", FALSE, WP_PROBE_MORE),
		ROW("\0\x1d\0\7\1\0\0", "", FALSE, WP_PROBE_MORE),
		ROW("GET / HTTP/1.1\r\n", "", FALSE, WP_PROBE_NO),
		ROW("\0\5\0\7\1", "", FALSE, WP_PROBE_NO),
#undef ROW
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		WpProbe probe = {
			.client = wp_bytes((const guint8 *)rows[i].client, rows[i].client_length),
			.server = wp_bytes((const guint8 *)rows[i].server, rows[i].server_length),
			.server_port = 9999,
			.from_start = TRUE,
			.is_udp = rows[i].is_udp,
		};
		ck_assert_msg(wp_decoder_by_name("dns")->probe(&probe) == rows[i].verdict, "row %d",
			      (int)i);
	}
}
END_TEST

/* A query is known by its question; what is cut off behind that does not matter. */
START_TEST(cut_datagram)
{
	static const char query[] = "\0\7" ASK DB A "x";
	for (int is_cut = 0; is_cut < 2; is_cut++) {
		WpProbe probe = {
			.client = wp_bytes((const guint8 *)query, sizeof query - 1),
			.server = wp_bytes((const guint8 *)"", 0),
			.server_port = 9999,
			.from_start = TRUE,
			.is_udp = TRUE,
			.is_cut = is_cut,
		};
		ck_assert_int_eq(wp_decoder_by_name("dns")->probe(&probe),
				 is_cut ? WP_PROBE_LIKELY : WP_PROBE_NO);
	}
}
END_TEST

/* Questions that the snap length cut: the number tells what answers what. */
START_TEST(cut_questions)
{
#define LONG                                                                                       \
	"\x20"                                                                                     \
	"abcdefghijklmnopqrstuvwxyz012345"
	static const WpStep steps[] = {
		WP_C("\0\7" ASK LONG),
		WP_C("\0\x08" ASK DB A),
		WP_S("\0\x08" OK("\1") DB A ME "\0\1\0\1\0"),
		WP_S("\0\7" OK("\1") LONG),
	};
	static const char expected[] = "C1 [1,1] dns 45\nC2 [2,2] dns 29 A db.blog.lan\n"
				       "R2 [3,3] dns 36 A db.blog.lan ok\nR1 [4,4] dns 45 ok\n";
	WpStep cut[G_N_ELEMENTS(steps)];
	for (gsize i = 0; i < G_N_ELEMENTS(steps); i++) {
		cut[i] = steps[i];
		cut[i].what = steps[i].what == 'C' ? 'D' : 'T';
	}
	WpRunOptions options = { .is_udp = TRUE, .port = 53, .no_counters = TRUE };
	g_autofree char *got = RUN(&options, cut);
	ck_assert_str_eq(got, expected);
}
END_TEST

/* The same over TCP, of a query or an answer or both, from the first message on. */
START_TEST(cut_over_tcp)
{
	static const WpStep steps[] = {
		WP_C("\0\x35\0\7" ASK "\x20"
		     "abcdef"),
		WP_C_CUT(34),
		WP_S("\0\x45\0\7" OK("\1") "\x20"
					   "abcdefghijklmnopqrstuvwxyz012345\0" A "\xc0"),
		WP_S_CUT(18),
		WP_C("\0\x1d\0\x08" ASK DB A),
		WP_S("\0\x2d\0\x08" OK("\1") "\2db\4bl"),
		WP_S_CUT(27),
		WP_S("\0\x2d\0\x08" OK("\1") "\2db\4bl"), /* as a zone may go on */
		WP_S_CUT(27),
		WP_S_FIN,
	};
	WpRunOptions options = { .port = 53, .no_counters = TRUE };
	g_autofree char *got = RUN(&options, steps);
	ck_assert_str_eq(got, "C1 [1,1] dns 55\nR1 [2,2] dns 71 ok\n"
			      "C2 [3,3] dns 31 A db.blog.lan\nR2 [4,5] dns 94 A db.blog.lan ok\n");
}
END_TEST

/* An answer to another question than was asked is to a call that was lost, whoever has its 16 bits now. */
START_TEST(question_changed)
{
	static const WpStep steps[] = {
		WP_C("\0\7" ASK DB A),           WP_S("\0\7" OK("\1") "\1x\0" A ME ADDRESS),
		WP_C("\0\x08" ASK DB A),         WP_S("\0\x08" OK("\1") DB A ME ADDRESS),
		WP_C("\0\x08" ASK DB AAAA),      WP_S("\0\x08" OK("\1") DB A ME ADDRESS),
		WP_S("\0\x08" OK("\0") DB AAAA),
	};
	g_autofree char *got = RUN(&udp, steps);
	ck_assert_str_eq(got, "C1 [1,1] dns 29 A db.blog.lan\n"
			      "C2 [3,3] dns 29 A db.blog.lan\nR2 [4,4] dns 45 A db.blog.lan ok\n"
			      "C3 [5,5] dns 29 AAAA db.blog.lan\n"
			      "R3 [7,7] dns 29 AAAA db.blog.lan ok\n"
			      "returns-orphan 2\ncalls-open 1\n");
}
END_TEST

/* Each copy of a call that was sent again may be answered; only one more is an orphan. */
START_TEST(answered_again)
{
	static const WpStep steps[] = {
		WP_C("\0\7" ASK DB A),      WP_C("\0\7" ASK DB A),      WP_S("\0\7" OK("\0") DB A),
		WP_S("\0\7" OK("\0") DB A), WP_S("\0\7" OK("\0") DB A),
	};
	g_autofree char *got = RUN(&udp, steps);
	ck_assert_str_eq(got, "C1 [1,1] dns 29 A db.blog.lan\nR1 [3,3] dns 29 A db.blog.lan ok\n"
			      "returns-orphan 1\nreturns-repeated 1\ncalls-repeated 1\n");
}
END_TEST

/* A second question that makes no sense does not hide the first. */
START_TEST(second_question)
{
	static const WpStep steps[] = {
		WP_C("\0\x08" ASK DB A),
		WP_S("\0\x08\x81\x80\0\2\0\1\0\0\0\0" DB A "\x22yyyy"),
	};
	g_autofree char *got = RUN(&udp, steps);
	ck_assert_str_eq(got, "C1 [1,1] dns 29 A db.blog.lan\nR1 [2,2] dns 34 A db.blog.lan ok\n");
}
END_TEST

/* Names of NetBIOS are no names of DNS. */
START_TEST(netbios)
{
	static const WpStep steps[] = {
		WP_C("\0\7\0\0\0\1\0\0\0\0\0\0\x20"
		     "CKAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\0\0\x21\0\1"),
		WP_S("\0\7\x84\0\0\0\0\1\0\0\0\0\x20"
		     "CKAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\0\0\x21\0\1\0\0\0\0\0\1\0"),
	};
	WpRunOptions options = { .is_udp = TRUE, .port = 137 };
	g_autofree char *got = RUN(&options, steps);
	ck_assert_str_eq(got, "C1 [1,1] unknown 50\nR1 [2,2] unknown 57 unknown\n"
			      "flows-undecoded 1\n");
}
END_TEST

WP_SUITE("decode-dns", cut_questions, cut_over_tcp, question_changed, second_question, netbios,
	 cut_datagram, answered_again, pairs, ids_used_again, answer_without_question,
	 names_of_addresses, labels, over_tcp, transfer, long_answer, refuses, limits, detection)
