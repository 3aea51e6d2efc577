/* Renumbering between two sinks; see join.h. The first input passes unchanged. */
#include "report/join.h"

#include <string.h>

struct WpJoin {
	WpRecordSink sink;
	WpRecordSink *next;
	gboolean is_usable;
	const char *input_name; /* of the input that comes next, unless it tells its own */
	gboolean has_name;

	/* Where the numbers of the present input begin, and the first that is free after it. */
	gboolean is_later; /* one of them is not 0 */
	guint64 id_base, id_next;
	guint32 flow_base, flow_next;
	guint8 tap_base, tap_next;
};

static gboolean
on_begin(WpRecordSink *sink, WpNodes *nodes, GError **error)
{
	WpJoin *join = (WpJoin *)sink;
	join->id_base = join->id_next;
	join->flow_base = join->flow_next;
	join->tap_base = join->tap_next;
	join->has_name = FALSE;
	join->is_later = join->id_base || join->flow_base || join->tap_base;
	return wp_sink_begin(join->next, nodes, error);
}

static gboolean
on_setting(WpRecordSink *sink, const char *key, const char *value, GError **error)
{
	WpJoin *join = (WpJoin *)sink;
	join->has_name |= strcmp(key, "input") == 0;
	return wp_sink_setting(join->next, key, value, error);
}

static gboolean
on_record(WpRecordSink *sink, const WpRecord *record, const guint32 *tokens, GError **error)
{
	WpJoin *join = (WpJoin *)sink;
	if (!join->is_later) {
		if (record->id < WP_ID_TEXT)
			join->id_next = MAX(join->id_next, record->id + 1);
		join->flow_next = MAX(join->flow_next, record->flow);
		join->tap_next = (guint8)MAX(join->tap_next, MIN(record->tap + 1, G_MAXUINT8));
		return wp_sink_record(join->next, record, tokens, error);
	}
	WpRecord copy = *record;
	if (copy.id < WP_ID_TEXT - join->id_base) {
		copy.id += join->id_base;
		join->id_next = MAX(join->id_next, copy.id + 1);
	}
	if (copy.flow) {
		copy.flow += join->flow_base;
		join->flow_next = MAX(join->flow_next, copy.flow);
	}
	copy.tap = (guint8)MIN(copy.tap + join->tap_base, G_MAXUINT8);
	join->tap_next = (guint8)MAX(join->tap_next, MIN(copy.tap + 1, G_MAXUINT8));
	return wp_sink_record(join->next, &copy, tokens, error);
}

static gboolean
on_counters(WpRecordSink *sink, const WpCounters *counters, GError **error)
{
	WpJoin *join = (WpJoin *)sink;
	join->is_usable = TRUE;
	if (!join->has_name && join->input_name &&
	    !wp_sink_setting(join->next, "input", join->input_name, error))
		return FALSE;
	return wp_sink_counters(join->next, counters, error);
}

static gboolean
on_counted(WpRecordSink *sink, const WpCounters *counters, GError **error)
{
	return wp_sink_counted(((WpJoin *)sink)->next, counters, error);
}

static gboolean
on_end(WpRecordSink *sink, GError **error)
{
	return wp_sink_end(((WpJoin *)sink)->next, error);
}

static const WpRecordSinkOps join_ops = { on_begin,    on_setting, on_record,
					  on_counters, on_end,     on_counted };

WpJoin *
wp_join_new(WpRecordSink *sink)
{
	WpJoin *join = g_new0(WpJoin, 1);
	join->sink.ops = &join_ops;
	join->next = sink;
	return join;
}

void
wp_join_free(WpJoin *join)
{
	g_free(join);
}

WpRecordSink *
wp_join_sink(WpJoin *join)
{
	return &join->sink;
}

void
wp_join_set_name(WpJoin *join, const char *name)
{
	join->input_name = name;
}

gboolean
wp_join_is_usable(const WpJoin *join)
{
	return join->is_usable;
}

gboolean
wp_trace_push(const WpTrace *trace, WpRecordSink *sink, GError **error)
{
	if (!wp_sink_begin(sink, wp_trace_nodes(trace), error))
		return FALSE;
	for (gsize i = 0; i < wp_trace_n_settings(trace); i++)
		if (!wp_sink_setting(sink, wp_trace_setting_key(trace, i),
				     wp_trace_setting_value(trace, i), error))
			return FALSE;
	const WpRecord *records = wp_trace_records(trace);
	for (gsize i = 0; i < wp_trace_n_records(trace); i++)
		if (!wp_sink_record(sink, &records[i], wp_trace_tokens(trace, &records[i]), error))
			return FALSE;
	return wp_sink_counters(sink, wp_trace_counters(trace), error) && wp_sink_end(sink, error);
}
