/* Degrading: what each fault does to a few records, and to many. */
#include "traces/degrade.h"

#include <math.h>
#include <string.h>

#include "tests/support/suite.h"
#include "tests/support/tree.h"

/* Gathers what comes as "10C u>a 1; ", times in us. */
typedef struct {
	WpRecordSink sink;
	WpNodes *nodes;
	GString *text;
	gint64 last_ns;
	guint64 n;
	guint64 n_late;
	guint64 counted;
	WpCounter counter;
} Probe;

static gboolean
probe_begin(WpRecordSink *sink, WpNodes *nodes, GError **error)
{
	((Probe *)sink)->nodes = nodes;
	return TRUE;
}

static gboolean
probe_record(WpRecordSink *sink, const WpRecord *record, const guint32 *tokens, GError **error)
{
	static const char kinds[] = "CRM";
	Probe *probe = (Probe *)sink;

	/* Check writes a file at each of its asserts: too much for each record. */
	if (record->end_ns < record->begin_ns)
		ck_abort_msg("record %u ends before it begins", (guint)probe->n);
	probe->n_late += record->begin_ns < probe->last_ns;
	probe->last_ns = MAX(probe->last_ns, record->begin_ns);
	probe->n++;
	g_string_append_printf(probe->text, "%g%c %s>%s %" G_GUINT64_FORMAT "; ",
			       (double)record->begin_ns / 1e3, kinds[record->kind],
			       wp_nodes_key(probe->nodes, record->sender),
			       wp_nodes_key(probe->nodes, record->receiver), record->id);
	return TRUE;
}

static gboolean
probe_counters(WpRecordSink *sink, const WpCounters *counters, GError **error)
{
	Probe *probe = (Probe *)sink;

	probe->counted = wp_counters_get(counters, probe->counter);
	return TRUE;
}

static const WpRecordSinkOps probe_ops = { probe_begin,    NULL, probe_record,
					   probe_counters, NULL, NULL };

static void
probe_init(Probe *probe, WpCounter counter)
{
	*probe = (Probe){ .sink = { &probe_ops }, .last_ns = G_MININT64, .counter = counter };
	probe->text = g_string_new(NULL);
}

static void
probe_clear(Probe *probe)
{
	g_string_free(probe->text, TRUE);
}

static gboolean
push(const WpTrace *trace, const WpDegradeOptions *options, Probe *probe, GError **error)
{
	g_autoptr(WpDegrade) degrade = wp_degrade_new(options, &probe->sink);
	WpRecordSink *sink = wp_degrade_sink(degrade);
	const WpRecord *records = wp_trace_records(trace);

	if (!wp_sink_begin(sink, wp_trace_nodes(trace), error))
		return FALSE;
	for (gsize i = 0; i < wp_trace_n_records(trace); i++)
		if (!wp_sink_record(sink, &records[i], wp_trace_tokens(trace, &records[i]), error))
			return FALSE;
	return wp_sink_counters(sink, wp_trace_counters(trace), error) && wp_sink_end(sink, error);
}

/*
 *     u   |0-------------100|
 *     a      |10----80|
 *     b        |20-60|
 */
#define NESTED "u>a[10-80](b[20-60])"

START_TEST(clocks_are_wrong)
{
	static const struct {
		const char *skews[3];
		gboolean is_caller_tap;
		const char *records;
	} rows[] = {
		{ { NULL }, FALSE, "10C u>a 1; 20C a>b 2; 60R b>a 2; 80R a>u 1; " },
		/* a is fast: the calls into it come late, and end late. */
		{ { "a=15us", NULL }, FALSE, "20C a>b 2; 25C u>a 1; 60R b>a 2; 95R a>u 1; " },
		{ { "a=-25us", NULL }, FALSE, "-15C u>a 1; 20C a>b 2; 55R a>u 1; 60R b>a 2; " },
		/* Seen at the callers the calls out of it move. */
		{ { "a=15us", NULL }, TRUE, "10C u>a 1; 35C a>b 2; 75R b>a 2; 80R a>u 1; " },
		{ { "b=-5us", "a=5us", NULL },
		  FALSE,
		  "15C u>a 1; 15C a>b 2; 55R b>a 2; 85R a>u 1; " },
		/* 10 % from the first record on: 10 us in 100. */
		{ { "b=0,100000", NULL }, FALSE, "10C u>a 1; 21C a>b 2; 65R b>a 2; 80R a>u 1; " },
		{ { "u=1s", NULL }, FALSE, "10C u>a 1; 20C a>b 2; 60R b>a 2; 80R a>u 1; " },
	};
	g_autoptr(WpTrace) trace = wp_tree_trace(NESTED);

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_auto(WpDegradeOptions) options;
		Probe probe;
		wp_degrade_options_init(&options);
		options.is_caller_tap = rows[i].is_caller_tap;
		for (guint j = 0; rows[i].skews[j]; j++)
			ck_assert(wp_degrade_add_skew(&options, rows[i].skews[j], NULL));
		probe_init(&probe, WP_COUNT_RECORDS_LATE);
		ck_assert(push(trace, &options, &probe, NULL));
		ck_assert_str_eq(probe.text->str, rows[i].records);
		ck_assert_uint_eq(probe.n_late, 0);
		probe_clear(&probe);
	}
}
END_TEST

/*
 * One record each 10 us; the sniffer takes one each 40 us, with two places in line: those of 0, 10 and
 * 20 are taken at 0, 40 and 80; at 30 the line is full; at 40 it has a place again, ...
 */
START_TEST(a_sniffer_is_too_slow)
{
	static const struct {
		const char *rate;
		guint32 queue;
		const char *records;
		guint64 n_lost;
	} rows[] = {
		{ "25k/s", 2, "0M u>a 1; 10M u>a 2; 20M u>a 3; 40M u>a 5; 80M u>a 9; ", 4 },
		{ "25k/s", 0, "0M u>a 1; 40M u>a 5; 80M u>a 9; ", 6 },
		{ "100k/s", 0,
		  "0M u>a 1; 10M u>a 2; 20M u>a 3; 30M u>a 4; 40M u>a 5; 50M u>a 6; 60M u>a 7; "
		  "70M u>a 8; 80M u>a 9; ",
		  0 },
	};
	g_autoptr(WpTrace) trace = wp_tree_trace("u>a[0] u>a[10] u>a[20] u>a[30] u>a[40] u>a[50] "
						 "u>a[60] u>a[70] u>a[80]");

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_auto(WpDegradeOptions) options;
		Probe probe;
		wp_degrade_options_init(&options);
		ck_assert(wp_degrade_set_sniffer(&options, rows[i].rate, NULL));
		options.sniffer_queue = rows[i].queue;
		probe_init(&probe, WP_COUNT_KERNEL_DROPS);
		ck_assert(push(trace, &options, &probe, NULL));
		ck_assert_str_eq(probe.text->str, rows[i].records);
		ck_assert_uint_eq(probe.counted, rows[i].n_lost);
		probe_clear(&probe);
	}
}
END_TEST

/* N messages, 10 us apart. */
static WpTrace *
many(guint n)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (guint i = 0; i < n; i++)
		g_string_append_printf(text, "u>a[%u] ", i * 10);
	return wp_tree_trace(text->str);
}

static void
set_loss(WpDegradeOptions *options, double share)
{
	options->loss = share;
}

static void
set_duplicates(WpDegradeOptions *options, double share)
{
	options->duplicates = share;
}

START_TEST(shares_are_kept)
{
	static const struct {
		void (*set)(WpDegradeOptions *options, double share);
		double share;
		double rest; /* share that is there then */
		gboolean is_sure;
	} rows[] = {
		{ set_loss, 0, 1, TRUE },       { set_loss, 0.1, 0.9, FALSE },
		{ set_loss, 1, 0, TRUE },       { set_duplicates, 0.1, 1.1, FALSE },
		{ set_duplicates, 1, 2, TRUE },
	};
	const guint n = (guint)wp_test_number(20000, 5000);
	g_autoptr(WpTrace) trace = many(n);

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_auto(WpDegradeOptions) options;
		Probe probe;
		wp_degrade_options_init(&options);
		rows[i].set(&options, rows[i].share);
		probe_init(&probe, WP_COUNT_LOST_PACKETS);
		ck_assert(push(trace, &options, &probe, NULL));
		/* 150 of 20000, 3.5 times what chance makes of it */
		double tolerance = rows[i].is_sure ? 0 : 150 * sqrt(n / 20000.0);
		ck_assert_double_eq_tol((double)probe.n, rows[i].rest * n, tolerance + 1e-6);
		ck_assert_uint_eq(probe.counted, probe.n < n ? n - probe.n : 0);
		ck_assert_uint_eq(probe.n_late, 0);
		probe_clear(&probe);
	}
}
END_TEST

/* Jitter changes stamps and leaves them in order; reordering leaves stamps and changes the order. */
START_TEST(order_and_stamps)
{
	const guint n = (guint)wp_test_number(20000, 5000);
	g_autoptr(WpTrace) trace = many(n);
	g_auto(WpDegradeOptions) options;
	Probe plain, jitter, reorder, again;

	wp_degrade_options_init(&options);
	probe_init(&plain, WP_COUNT_RECORDS_LATE);
	ck_assert(push(trace, &options, &plain, NULL));
	options.jitter_ns = 50000;
	probe_init(&jitter, WP_COUNT_RECORDS_LATE);
	ck_assert(push(trace, &options, &jitter, NULL));
	options.jitter_ns = 0;
	options.reorder_ns = 50000;
	probe_init(&reorder, WP_COUNT_RECORDS_LATE);
	ck_assert(push(trace, &options, &reorder, NULL));
	probe_init(&again, WP_COUNT_RECORDS_LATE);
	ck_assert(push(trace, &options, &again, NULL));

	ck_assert_str_ne(plain.text->str, jitter.text->str);
	ck_assert_uint_eq(jitter.n, n);
	ck_assert_uint_eq(jitter.n_late, 0);
	ck_assert_uint_eq(reorder.n, n);
	ck_assert_uint_gt(reorder.n_late, n / 4);
	ck_assert_uint_eq(reorder.counted, reorder.n_late);
	ck_assert_int_eq(reorder.last_ns, plain.last_ns);
	ck_assert_str_eq(reorder.text->str, again.text->str);
	probe_clear(&plain);
	probe_clear(&jitter);
	probe_clear(&reorder);
	probe_clear(&again);
}
END_TEST

START_TEST(options_are_checked)
{
	static const char *const bad[] = {
		"",        "a",          "a=",      "=1ms",         "a=5",    "a=1ms,",
		"a=1ms,x", "a=2000000s", "a=--1ms", "a=1ms,200000", "a=1ms 5"
	};
	g_auto(WpDegradeOptions) options;
	g_autoptr(GError) unknown = NULL;
	g_autoptr(WpTrace) trace = wp_tree_trace(NESTED);
	Probe probe;

	wp_degrade_options_init(&options);
	for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autoptr(GError) error = NULL;
		ck_assert_msg(!wp_degrade_add_skew(&options, bad[i], &error), "%s", bad[i]);
		ck_assert(g_error_matches(error, WP_TRACES_ERROR, WP_TRACES_ERROR_OPTION));
	}
	ck_assert(!wp_degrade_set_sniffer(&options, "5", NULL));
	ck_assert(!wp_degrade_set_sniffer(&options, "0/s", NULL));
	ck_assert(wp_degrade_add_skew(&options, "nobody=1ms", NULL));
	probe_init(&probe, WP_COUNT_RECORDS_LATE);
	ck_assert(!push(trace, &options, &probe, &unknown));
	ck_assert_str_eq(unknown->message, "--skew: the trace has no node \"nobody\"");
	probe_clear(&probe);
}
END_TEST

WP_SUITE("degrade", clocks_are_wrong, a_sniffer_is_too_slow, shares_are_kept, order_and_stamps,
	 options_are_checked)
