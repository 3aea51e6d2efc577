/* WpTrace: order, tokens, counters, settings; ids as text. */
#include "capture/trace.h"

#include <string.h>

#include "tests/support/suite.h"

static void
push(WpTrace *trace, gint64 begin_ns, guint64 id, const guint32 *tokens, guint8 n_tokens)
{
	WpRecord record = { .begin_ns = begin_ns, .end_ns = begin_ns, .id = id };
	record.n_tokens = n_tokens;
	ck_assert(wp_sink_record(wp_trace_sink(trace), &record, tokens, NULL));
}

/*
 * Records of equal time keep their order; each keeps its tokens.
 *
 *   pushed   5a 1b 5c 3d 1e 9f 0g      sorted   0g 1b 1e 3d 5a 5c 9f
 */
START_TEST(stable_order)
{
	static const gint64 times[] = { 5, 1, 5, 3, 1, 9, 0 };
	static const guint64 expected[] = { 6, 1, 4, 3, 0, 2, 5 };
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	g_autoptr(WpTrace) trace = wp_trace_new(nodes);

	ck_assert(wp_sink_begin(wp_trace_sink(trace), nodes, NULL));
	for (guint i = 0; i < G_N_ELEMENTS(times); i++) {
		guint32 tokens[3] = { i * 10, i * 10 + 1, i * 10 + 2 };
		push(trace, times[i], i, tokens, (guint8)(i % 3));
	}
	ck_assert(wp_sink_end(wp_trace_sink(trace), NULL));
	ck_assert_uint_eq(wp_trace_n_records(trace), G_N_ELEMENTS(times));
	for (guint i = 0; i < G_N_ELEMENTS(times); i++) {
		const WpRecord *record = &wp_trace_records(trace)[i];
		ck_assert_uint_eq(record->id, expected[i]);
		ck_assert_uint_eq(record->n_tokens, expected[i] % 3);
		for (guint t = 0; t < record->n_tokens; t++)
			ck_assert_uint_eq(wp_trace_tokens(trace, record)[t], expected[i] * 10 + t);
	}
}
END_TEST

/* Many records in reverse, then more after the trace was opened again. */
START_TEST(many_and_again)
{
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	g_autoptr(WpTrace) trace = wp_trace_new(nodes);

	for (gint64 round = 0; round < 2; round++) {
		ck_assert(wp_sink_begin(wp_trace_sink(trace), nodes, NULL));
		for (gint64 i = 5000; i > 0; i--)
			push(trace, 2 * i + round, (guint64)(2 * i + round), NULL, 0);
		ck_assert(wp_sink_end(wp_trace_sink(trace), NULL));
	}
	ck_assert_uint_eq(wp_trace_n_records(trace), 10000);
	for (guint i = 0; i < 10000; i++)
		ck_assert_uint_eq(wp_trace_records(trace)[i].id, i + 2);
}
END_TEST

/* What records tell is known of all of them together. */
START_TEST(what_records_tell)
{
	static const struct {
		WpRecord record;
		guint tells;
	} rows[] = {
		{ { .bytes = WP_NO_SIZE }, 0 },
		{ { .bytes = 0 }, WP_TRACE_SIZES },
		{ { .bytes = WP_NO_SIZE, .flow = 1 }, WP_TRACE_FLOWS },
		{ { .bytes = WP_NO_SIZE, .label = 1 }, WP_TRACE_LABELS },
		{ { .bytes = WP_NO_SIZE, .n_tokens = 1 }, WP_TRACE_TOKENS },
		{ { .bytes = WP_NO_SIZE, .marks = WP_MARK_CAUSED }, WP_TRACE_CAUSES },
	};
	static const guint32 words[WP_RECORD_MAX_WORDS] = { 1 };

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpNodes) nodes = wp_nodes_new();
		g_autoptr(WpTrace) trace = wp_trace_new(nodes);
		const WpRecord nothing = { .bytes = WP_NO_SIZE };
		const WpRecord *pushed[] = { &nothing, &rows[i].record, &nothing };
		ck_assert(wp_sink_begin(wp_trace_sink(trace), nodes, NULL));
		for (gsize r = 0; r < G_N_ELEMENTS(pushed); r++)
			ck_assert(wp_sink_record(wp_trace_sink(trace), pushed[r], words, NULL));
		ck_assert(wp_sink_end(wp_trace_sink(trace), NULL));
		for (guint what = WP_TRACE_TOKENS; what <= WP_TRACE_CAUSES; what *= 2)
			ck_assert_int_eq(wp_trace_has(trace, what), (rows[i].tells & what) != 0);
		/* A cause may be told later. */
		ck_assert(wp_trace_set_cause(trace, 0, 7));
		ck_assert(wp_trace_has(trace, WP_TRACE_CAUSES));
	}
}
END_TEST

START_TEST(counters_and_settings)
{
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	g_autoptr(WpTrace) trace = wp_trace_new(nodes);
	g_autoptr(WpCounters) counters = wp_counters_new();
	WpRecordSink *sink = wp_trace_sink(trace);

	wp_counters_add(counters, WP_COUNT_GAPS, 3);
	ck_assert(wp_sink_begin(sink, nodes, NULL));
	ck_assert(wp_sink_setting(sink, "input", "b.pcap", NULL));
	ck_assert(wp_sink_setting(sink, "input", "a.pcap", NULL));
	ck_assert(wp_sink_counters(sink, counters, NULL));
	ck_assert(wp_sink_counters(sink, counters, NULL));
	ck_assert(wp_sink_end(sink, NULL));
	ck_assert_uint_eq(wp_trace_n_settings(trace), 2);
	ck_assert_str_eq(wp_trace_setting_key(trace, 0), "input");
	ck_assert_str_eq(wp_trace_setting_value(trace, 0), "b.pcap");
	ck_assert_str_eq(wp_trace_setting_value(trace, 1), "a.pcap");
	ck_assert_uint_eq(wp_counters_get(wp_trace_counters(trace), WP_COUNT_GAPS), 6);
}
END_TEST

/* Text -> id -> text gives the text; only what looks like a number as we write it is one. */
START_TEST(ids)
{
	static const struct {
		const char *text;
		gboolean is_number;
	} rows[] = {
		{ "0", TRUE },
		{ "7", TRUE },
		{ "9223372036854775807", TRUE }, /* 2^63 - 1 */
		{ "9223372036854775808", FALSE },
		{ "18446744073709551616", FALSE },
		{ "00", FALSE },
		{ "007", FALSE },
		{ "+1", FALSE },
		{ "-1", FALSE },
		{ "id37", FALSE },
		{ "1 2", FALSE },
		{ "", FALSE },
	};
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		char buffer[WP_ID_TEXT_MAX];
		guint64 id = wp_record_id_from_text(nodes, rows[i].text, strlen(rows[i].text));
		ck_assert_int_eq(id < WP_ID_TEXT, rows[i].is_number);
		ck_assert_str_eq(wp_record_id_text(nodes, id, buffer), rows[i].text);
	}
	ck_assert_uint_eq(wp_record_id_from_text(nodes, "", 0), WP_NO_ID);
}
END_TEST

WP_SUITE("trace", stable_order, many_and_again, what_records_tell, counters_and_settings, ids)
