/* Records leave by time, calls are numbered in that order, returns get the number of their call. */
#include <string.h>

#include "capture/order.h"
#include "tests/support/suite.h"

typedef struct {
	WpRecordSink base;
	GString *text;
	gsize fails_after; /* records; 0 = never */
	gsize n;
} Listing;

static gboolean
list_record(WpRecordSink *sink, const WpRecord *record, const guint32 *tokens, GError **error)
{
	Listing *listing = (Listing *)sink;
	if (listing->fails_after && listing->n++ >= listing->fails_after) {
		g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_NOSPC, "disk full");
		return FALSE;
	}
	g_string_append_printf(listing->text, "%c%d@%d ", "CRM"[record->kind], (int)record -> id,
			       (int)(record->begin_ns / 1000000));
	return TRUE;
}

static const WpRecordSinkOps list_ops = { .record = list_record };

/*
 * A row is a list of steps: "c5" a call that began at 5 ms, "r0@9" the return of the call made first,
 * begun at 9 ms, "f1" the second call will have none, "m7" a message, "p3000" a packet of 3,000 ms, "n3000"
 * the same with a pause behind it.
 */
static char *
run_steps(const char *steps, guint64 *out_late)
{
	g_autoptr(WpCounters) counters = wp_counters_new();
	Listing listing = { { &list_ops }, g_string_new(NULL), 0, 0 };
	g_autoptr(WpOrder) order = wp_order_new(&listing.base, counters);
	g_auto(GStrv) words = g_strsplit(steps, " ", -1);
	WpCallRef calls[16];
	int n_calls = 0;

	for (char **w = words; *w; w++) {
		const char *at = strchr(*w, '@');
		int number = (int)g_ascii_strtoll(*w + 1, NULL, 10);
		WpRecord record = { .begin_ns = number * 1000000L };
		switch (**w) {
		case 'c':
			calls[n_calls++] = wp_order_call(order, &record, NULL);
			break;
		case 'r':
			record.kind = WP_KIND_RETURN;
			record.begin_ns = g_ascii_strtoll(at + 1, NULL, 10) * 1000000;
			wp_order_return(order, calls[number], &record, NULL);
			break;
		case 'f':
			wp_order_forget(order, calls[number]);
			break;
		case 'm':
			record.kind = WP_KIND_MESSAGE;
			wp_order_message(order, &record, NULL);
			break;
		default:
			wp_order_advance(order, number * 1000000L, NULL);
			if (**w == 'p')
				break;
			wp_order_pass_due(order);
			g_string_append(listing.text, "| ");
		}
	}
	wp_order_flush(order, NULL);
	if (out_late)
		*out_late = wp_counters_get(counters, WP_COUNT_RECORDS_LATE);
	return g_string_free(listing.text, FALSE);
}

START_TEST(by_time)
{
	static const struct {
		const char *steps;
		const char *expected;
		guint64 late;
	} rows[] = {
		{ "c1 c2 r0@3", "C1@1 C2@2 R1@3 ", 0 },
		/* The call that began first has the smaller number, though it was complete later. */
		{ "c5 c2 r0@9 r1@8", "C1@2 C2@5 R1@8 R2@9 ", 0 },
		/* Equal times keep the order of arrival. */
		{ "c1 m1 c1", "C1@1 M2@1 C3@1 ", 0 },
		/* Held back for two seconds. */
		{ "c1 n1500 c1000 n2500 n3000", "| C1@1 | C2@1000 | ", 0 },
		/* Later than that: passed on at once, and counted. */
		{ "c2000 n5000 c1 n5001", "C1@2000 | C2@1 | ", 1 },
		/* The same in a run of packets, whose records are passed on together. */
		{ "c2000 p5000 c1 p5001 c4000", "C1@2000 C2@1 C3@4000 ", 1 },
		/* Those of one packet are in order, however late they are. */
		{ "c2000 p5000 m4 m3 p5001 m2", "C1@2000 M2@3 M3@4 M4@2 ", 3 },
		/* A return never leaves before its call. */
		{ "c5 r0@3", "C1@5 R1@3 ", 0 },
		/* What is forgotten makes room, and numbers go on. */
		{ "c1 f0 c2 f1 c3 r2@4", "C1@1 C2@2 C3@3 R3@4 ", 0 },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		guint64 late;
		g_autofree char *got = run_steps(rows[i].steps, &late);
		ck_assert_str_eq(got, rows[i].expected);
		ck_assert_uint_eq(late, rows[i].late);
	}
}
END_TEST

/* Far out of order (each 617 after the last, modulo 1000): sorted all the same. */
START_TEST(far_behind)
{
	g_autoptr(WpCounters) counters = wp_counters_new();
	Listing listing = { { &list_ops }, g_string_new(NULL), 0, 0 };
	g_autoptr(WpOrder) order = wp_order_new(&listing.base, counters);
	g_autoptr(GString) expected = g_string_new(NULL);
	for (int i = 0; i < 3000; i++) {
		WpRecord record = { .begin_ns = 1000000L * (i * 617 % 1000),
				    .kind = WP_KIND_MESSAGE };
		wp_order_message(order, &record, NULL);
		g_string_append_printf(expected, "M%d@%d ", i + 1, i / 3);
	}
	wp_order_flush(order, NULL);
	ck_assert_str_eq(listing.text->str, expected->str);
	g_string_free(listing.text, TRUE);
}
END_TEST

/* More records than the limit: the earliest leave, and the order holds. */
START_TEST(bounded)
{
	g_autoptr(WpCounters) counters = wp_counters_new();
	Listing listing = { { &list_ops }, g_string_new(NULL), 0, 0 };
	g_autoptr(WpOrder) order = wp_order_new(&listing.base, counters);
	for (int i = 0; i < WP_ORDER_MAX_RECORDS + 2; i++) {
		WpRecord record = { .begin_ns = 1000000L * (10 + (i ^ 3)),
				    .kind = WP_KIND_MESSAGE };
		wp_order_message(order, &record, NULL);
		wp_order_advance(order, 0, NULL);
	}
	ck_assert_str_eq(listing.text->str, "M1@10 M2@11 ");
	g_string_free(listing.text, TRUE);
}
END_TEST

/* The first error of the sink is kept, told each time, and nothing is passed on after it. */
START_TEST(error_of_the_sink)
{
	g_autoptr(WpCounters) counters = wp_counters_new();
	Listing listing = { { &list_ops }, g_string_new(NULL), 1, 0 };
	g_autoptr(WpOrder) order = wp_order_new(&listing.base, counters);
	for (int i = 0; i < 3; i++) {
		WpRecord record = { .begin_ns = i, .kind = WP_KIND_MESSAGE };
		wp_order_message(order, &record, NULL);
	}
	for (int i = 0; i < 2; i++) {
		g_autoptr(GError) error = NULL;
		ck_assert(!wp_order_flush(order, &error));
		ck_assert_str_eq(error->message, "disk full");
	}
	ck_assert_str_eq(listing.text->str, "M1@0 ");
	g_string_free(listing.text, TRUE);
}
END_TEST

static gboolean
sum_words(WpRecordSink *sink, const WpRecord *record, const guint32 *words, GError **error)
{
	guint64 sum = 0;
	for (guint i = 0; i < wp_record_words(record); i++)
		sum += (guint64)words[i] << i % 32;
	g_string_append_printf(((Listing *)sink)->text, "%d:%" G_GUINT64_FORMAT " ",
			       (int)record->flow, sum);
	return TRUE;
}

/* Whatever number of words a record has, it leaves with them, among others of other numbers. */
START_TEST(with_words)
{
	static const WpRecordSinkOps sum_ops = { .record = sum_words };
	g_autoptr(WpCounters) counters = wp_counters_new();
	Listing sent = { { &sum_ops }, g_string_new(NULL), 0, 0 };
	Listing listing = { { &sum_ops }, g_string_new(NULL), 0, 0 };
	g_autoptr(WpOrder) order = wp_order_new(&listing.base, counters);

	for (guint32 i = 1; i <= 5000; i++) {
		WpRecord record = { .begin_ns = i, .flow = i, .kind = WP_KIND_MESSAGE };
		guint32 words[WP_RECORD_MAX_WORDS];
		record.n_tokens = (guint8)(i % (WP_RECORD_MAX_TOKENS + 1));
		record.n_transports = (guint8)(i % 7 % (WP_RECORD_MAX_TRANSPORTS + 1));
		record.marks = i % 3 ? 0 : WP_MARK_TRACED;
		for (guint32 n = 0; n < G_N_ELEMENTS(words); n++)
			words[n] = i * 1000 + n;
		wp_order_message(order, &record, words);
		sum_words(&sent.base, &record, words, NULL);
		if (i % 1000 == 0)
			wp_order_flush(order, NULL);
	}
	ck_assert_str_eq(listing.text->str, sent.text->str);
	g_string_free(sent.text, TRUE);
	g_string_free(listing.text, TRUE);
}
END_TEST

WP_SUITE("order", by_time, far_behind, bounded, error_of_the_sink, with_words)
