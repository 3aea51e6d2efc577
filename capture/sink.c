/* The callbacks of a WpRecordSink, each optional. */
#include "capture/sink.h"

gboolean
wp_sink_begin(WpRecordSink *sink, WpNodes *nodes, GError **error)
{
	return !sink->ops->begin || sink->ops->begin(sink, nodes, error);
}

gboolean
wp_sink_setting(WpRecordSink *sink, const char *key, const char *value, GError **error)
{
	return !sink->ops->setting || sink->ops->setting(sink, key, value, error);
}

gboolean
wp_sink_record(WpRecordSink *sink, const WpRecord *record, const guint32 *tokens, GError **error)
{
	return !sink->ops->record || sink->ops->record(sink, record, tokens, error);
}

gboolean
wp_sink_counters(WpRecordSink *sink, const WpCounters *counters, GError **error)
{
	return !sink->ops->counters || sink->ops->counters(sink, counters, error);
}

gboolean
wp_sink_counted(WpRecordSink *sink, const WpCounters *counters, GError **error)
{
	return !sink->ops->counted || sink->ops->counted(sink, counters, error);
}

gboolean
wp_sink_end(WpRecordSink *sink, GError **error)
{
	return !sink->ops->end || sink->ops->end(sink, error);
}
