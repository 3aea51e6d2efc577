/*
 * Trace: records in one array, their tokens in another, sorted once at the end. The key of the sort
 * is the time and the place in the order of arrival, so that any sort is a stable one.
 */
#include "capture/trace.h"

#include <string.h>

#define FIRST_RECORDS 1024

/* Over 25 GB of records: more is a mistake, and the text form still streams. */
#define MAX_RECORDS ((gsize)1 << 28)

typedef struct {
	char *key;
	char *value;
} Setting;

struct WpTrace {
	WpRecordSink sink; /* first, so that a sink is its trace */
	WpNodes *nodes;
	WpCounters *counters;
	WpCounters *counted; /* NULL: all of these */
	WpRecord *records;
	gsize n_records, records_allocated;
	guint32 *tokens;
	gsize n_tokens, tokens_allocated;
	GArray *settings; /* Setting */
	guint has;        /* WpTraceWhat: what any record tells */
	gboolean is_frozen;
	gboolean is_continued;
};

typedef struct {
	gint64 begin_ns;
	gsize from; /* index before sorting */
} SortKey;

G_DEFINE_QUARK(wp - capture - error - quark, wp_capture_error)

static void
clear_setting(gpointer data)
{
	Setting *setting = data;
	g_free(setting->key);
	g_free(setting->value);
}

/* The array ITEMS with room for N more, growing by half. */
static gpointer
ensure_room(gpointer items, gsize n_used, gsize n, gsize item_size, gsize *allocated)
{
	if (n_used + n <= *allocated)
		return items;
	*allocated = MAX(*allocated + *allocated / 2, n_used + n);
	*allocated = MAX(*allocated, FIRST_RECORDS);
	return g_realloc_n(items, *allocated, item_size);
}

static gboolean
trace_begin(WpRecordSink *sink, WpNodes *nodes, GError **error)
{
	WpTrace *trace = (WpTrace *)sink;
	g_return_val_if_fail(nodes == trace->nodes, FALSE);
	trace->is_frozen = FALSE;
	return TRUE;
}

static gboolean
trace_setting(WpRecordSink *sink, const char *key, const char *value, GError **error)
{
	Setting setting = { g_strdup(key), g_strdup(value) };
	g_array_append_val(((WpTrace *)sink)->settings, setting);
	return TRUE;
}

static guint
what_of(const WpRecord *record)
{
	return (record->n_tokens > 0 ? WP_TRACE_TOKENS : 0) | (record->flow ? WP_TRACE_FLOWS : 0) |
	       (record->bytes != WP_NO_SIZE ? WP_TRACE_SIZES : 0) |
	       (record->label ? WP_TRACE_LABELS : 0) |
	       (record->marks & WP_MARK_CAUSED ? WP_TRACE_CAUSES : 0);
}

static gboolean
trace_record(WpRecordSink *sink, const WpRecord *record, const guint32 *tokens, GError **error)
{
	WpTrace *trace = (WpTrace *)sink;

	g_assert(!trace->is_frozen && record->n_tokens <= WP_RECORD_MAX_TOKENS &&
		 record->n_transports <= WP_RECORD_MAX_TRANSPORTS);
	if (trace->n_records >= MAX_RECORDS ||
	    trace->n_tokens > G_MAXUINT32 - WP_RECORD_MAX_WORDS) {
		g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_LIMIT,
			    "cannot keep more than %" G_GSIZE_FORMAT
			    " records in memory; take a part with --from and --to",
			    trace->n_records);
		return FALSE;
	}
	trace->records = ensure_room(trace->records, trace->n_records, 1, sizeof(WpRecord),
				     &trace->records_allocated);
	WpRecord *copy = &trace->records[trace->n_records++];
	*copy = *record;
	copy->tokens_at = (guint32)trace->n_tokens;
	trace->has |= what_of(record);
	guint n_words = wp_record_words(record);
	if (n_words > 0) {
		trace->tokens = ensure_room(trace->tokens, trace->n_tokens, n_words,
					    sizeof(guint32), &trace->tokens_allocated);
		memcpy(trace->tokens + trace->n_tokens, tokens, n_words * sizeof *tokens);
		trace->n_tokens += n_words;
	}
	return TRUE;
}

static gboolean
trace_counters(WpRecordSink *sink, const WpCounters *counters, GError **error)
{
	wp_counters_merge(((WpTrace *)sink)->counters, counters);
	return TRUE;
}

static gboolean
trace_end(WpRecordSink *sink, GError **error)
{
	wp_trace_freeze((WpTrace *)sink);
	return TRUE;
}

static const WpRecordSinkOps trace_ops = { trace_begin,    trace_setting, trace_record,
					   trace_counters, trace_end,     NULL };

WpTrace *
wp_trace_new(WpNodes *nodes)
{
	WpTrace *trace = g_new0(WpTrace, 1);
	trace->sink.ops = &trace_ops;
	trace->nodes = wp_nodes_ref(nodes);
	trace->counters = wp_counters_new();
	trace->settings = g_array_new(FALSE, FALSE, sizeof(Setting));
	g_array_set_clear_func(trace->settings, clear_setting);
	return trace;
}

void
wp_trace_free(WpTrace *trace)
{
	if (!trace)
		return;
	wp_nodes_unref(trace->nodes);
	wp_counters_free(trace->counters);
	wp_counters_free(trace->counted);
	g_array_unref(trace->settings);
	g_free(trace->records);
	g_free(trace->tokens);
	g_free(trace);
}

WpRecordSink *
wp_trace_sink(WpTrace *trace)
{
	return &trace->sink;
}

static gboolean
is_sorted(const WpTrace *trace)
{
	for (gsize i = 1; i < trace->n_records; i++)
		if (trace->records[i].begin_ns < trace->records[i - 1].begin_ns)
			return FALSE;
	return TRUE;
}

static int
compare_keys(gconstpointer a, gconstpointer b)
{
	const SortKey *x = a, *y = b;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

/*
 * Puts each record where KEYS want it, in place: place I takes the record that was at keys[I].from;
 * each cycle of such moves is followed once around.
 */
static void
permute(WpRecord *records, SortKey *keys, gsize n)
{
	for (gsize i = 0; i < n; i++) {
		if (keys[i].from == i)
			continue;
		WpRecord first = records[i];
		gsize at = i;
		while (keys[at].from != i) {
			gsize from = keys[at].from;
			records[at] = records[from];
			keys[at].from = at;
			at = from;
		}
		records[at] = first;
		keys[at].from = at;
	}
}

void
wp_trace_freeze(WpTrace *trace)
{
	if (!trace->is_frozen && !is_sorted(trace)) {
		g_autofree SortKey *keys = g_new(SortKey, trace->n_records);
		for (gsize i = 0; i < trace->n_records; i++)
			keys[i] = (SortKey){ trace->records[i].begin_ns, i };
		qsort(keys, trace->n_records, sizeof *keys, compare_keys);
		permute(trace->records, keys, trace->n_records);
	}
	trace->is_frozen = TRUE;
}

void
wp_trace_set_counted(WpTrace *trace, const WpCounters *counted)
{
	wp_counters_free(trace->counted);
	trace->counted = wp_counters_new();
	wp_counters_merge(trace->counted, counted);
}

const WpCounters *
wp_trace_counted(const WpTrace *trace)
{
	return trace->counted ? trace->counted : trace->counters;
}

void
wp_trace_set_continued(WpTrace *trace)
{
	trace->is_continued = TRUE;
}

gboolean
wp_trace_is_continued(const WpTrace *trace)
{
	return trace->is_continued;
}

gsize
wp_trace_n_records(const WpTrace *trace)
{
	return trace->n_records;
}

gboolean
wp_trace_has(const WpTrace *trace, WpTraceWhat what)
{
	return (trace->has & what) != 0;
}

const WpRecord *
wp_trace_records(const WpTrace *trace)
{
	return trace->records;
}

const guint32 *
wp_trace_tokens(const WpTrace *trace, const WpRecord *record)
{
	return trace->tokens ? trace->tokens + record->tokens_at : NULL;
}

gboolean
wp_trace_transport(const WpTrace *trace, const WpRecord *record, guint i,
		   WpTransport *out_transport)
{
	if (i >= record->n_transports)
		return FALSE; /* there need be no words at all */
	gsize at = (gsize)record->tokens_at + record->n_tokens + (gsize)i * WP_TRANSPORT_WORDS;
	return wp_transport_unpack(trace->tokens + at, out_transport);
}

gboolean
wp_trace_context(const WpTrace *trace, const WpRecord *record, WpTraceContext *out_context)
{
	if (!(record->marks & WP_MARK_TRACED))
		return FALSE;
	wp_trace_context_unpack(trace->tokens + record->tokens_at + wp_record_context_at(record),
				out_context);
	return TRUE;
}

gboolean
wp_trace_cause(const WpTrace *trace, const WpRecord *record, guint64 *out_id)
{
	if (!(record->marks & WP_MARK_CAUSED))
		return FALSE;
	*out_id = wp_record_cause(record, trace->tokens + record->tokens_at);
	return TRUE;
}

/* The words of a record stand together: those of RECORD move to the end, where there is room for more. */
static gboolean
move_words(WpTrace *trace, WpRecord *record)
{
	guint n = wp_record_words(record);
	if (trace->n_tokens > G_MAXUINT32 - WP_RECORD_MAX_WORDS)
		return FALSE;
	trace->tokens = ensure_room(trace->tokens, trace->n_tokens, n + WP_CAUSE_WORDS,
				    sizeof(guint32), &trace->tokens_allocated);
	memcpy(trace->tokens + trace->n_tokens, trace->tokens + record->tokens_at,
	       n * sizeof(guint32));
	record->tokens_at = (guint32)trace->n_tokens;
	trace->n_tokens += n + WP_CAUSE_WORDS;
	return TRUE;
}

gboolean
wp_trace_set_cause(WpTrace *trace, gsize number, guint64 id)
{
	WpRecord *record = &trace->records[number];
	if (!(record->marks & WP_MARK_CAUSED) && !move_words(trace, record))
		return FALSE;
	record->marks |= WP_MARK_CAUSED;
	trace->has |= WP_TRACE_CAUSES;
	wp_record_put_cause(record, id, trace->tokens + record->tokens_at);
	return TRUE;
}

WpNodes *
wp_trace_nodes(const WpTrace *trace)
{
	return trace->nodes;
}

const WpCounters *
wp_trace_counters(const WpTrace *trace)
{
	return trace->counters;
}

gsize
wp_trace_n_settings(const WpTrace *trace)
{
	return trace->settings->len;
}

const char *
wp_trace_setting_key(const WpTrace *trace, gsize i)
{
	return g_array_index(trace->settings, Setting, i).key;
}

const char *
wp_trace_setting_value(const WpTrace *trace, gsize i)
{
	return g_array_index(trace->settings, Setting, i).value;
}

const char *
wp_record_id_text(const WpNodes *nodes, guint64 id, char *buffer)
{
	if (id >= WP_ID_TEXT)
		return wp_nodes_text(nodes, (guint32)(id - WP_ID_TEXT));
	char *at = buffer + WP_ID_TEXT_MAX - 1;
	*at = '\0';
	do
		*--at = (char)('0' + id % 10);
	while (id /= 10);
	return at;
}

/*
 * A number in the one spelling that wp_record_id_text() gives back: no sign, no leading zero. Nineteen
 * digits cannot overflow 64 bits.
 */
static gboolean
parse_id_number(const char *text, gsize length, guint64 *out_id)
{
	guint64 id = 0;

	if (length == 0 || length > 19 || (text[0] == '0' && length > 1))
		return FALSE;
	for (gsize i = 0; i < length; i++) {
		if (!g_ascii_isdigit(text[i]))
			return FALSE;
		id = id * 10 + (guint64)(text[i] - '0');
	}
	*out_id = id;
	return id < WP_ID_TEXT;
}

guint64
wp_record_id_from_text(WpNodes *nodes, const char *text, gsize length)
{
	guint64 id;
	if (parse_id_number(text, length, &id))
		return id;
	return WP_ID_TEXT + wp_strings_intern(wp_nodes_strings(nodes), text, (gssize)length);
}
