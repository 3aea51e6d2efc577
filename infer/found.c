/* The calls that are judged: from links, or from a file that `wirepath calls` wrote. */
#include <string.h>

#include "infer/accuracy-private.h"
#include "infer/csv.h"
#include "infer/holes.h"
#include "infer/missing.h"

WpFound *
wp_found_start(void)
{
	WpFound *found = g_new0(WpFound, 1);
	found->strings = wp_strings_new();
	found->calls = g_array_new(FALSE, FALSE, sizeof(WpFoundCall));
	found->by_number = g_array_new(FALSE, FALSE, sizeof(guint32));
	return found;
}

void
wp_found_free(WpFound *found)
{
	if (!found)
		return;
	wp_strings_free(found->strings);
	g_array_unref(found->calls);
	g_array_unref(found->by_number);
	g_free(found);
}

/* The address of ENDPOINT as text, or "" where it has none; its port likewise. */
static void
endpoint_texts(const WpEndpoint *endpoint, char *address, gsize size, char port[6])
{
	address[0] = port[0] = '\0';
	if (wp_endpoint_is_known(endpoint)) {
		wp_address_text(endpoint->address, address, size);
		g_snprintf(port, 6, "%u", endpoint->port);
	}
}

static guint32
intern(WpFound *found, const char *text)
{
	return wp_strings_intern(found->strings, text, -1);
}

static WpFoundCall
call_of_span(WpFound *found, const WpResolved *resolved, const WpSpan *span)
{
	const WpTrace *trace = wp_resolved_trace(resolved);
	const WpRecord *record = &wp_trace_records(trace)[span->call_record];
	char src[WP_ENDPOINT_TEXT_MAX], dst[WP_ENDPOINT_TEXT_MAX], src_port[6], dst_port[6];
	char id[WP_ID_TEXT_MAX];
	const char *caller = wp_resolved_node_name(resolved, span->caller);
	const char *callee = wp_resolved_node_name(resolved, span->callee);

	endpoint_texts(&record->src, src, sizeof src, src_port);
	endpoint_texts(&record->dst, dst, sizeof dst, dst_port);
	return (WpFoundCall){
		.id = intern(found, wp_record_id_text(wp_trace_nodes(trace), span->id, id)),
		.parent = WP_NO_CALL,
		.call_ns = span->call_ns,
		.return_ns = span->return_ns,
		.flow = wp_accuracy_flow(found->strings, src, src_port, dst, dst_port),
		.caller = intern(found, caller),
		.callee = intern(found, callee),
		.caller_host = intern(found, *src ? src : caller),
		.callee_host = intern(found, *dst ? dst : callee),
	};
}

/* The calls of the spans of a part that were added before it. */
static void
recall(const WpFound *found, const WpWindowAnswer *answer, guint32 n, guint32 *call_of)
{
	for (guint32 i = 0; i < n; i++)
		if (answer->numbers[i] < found->by_number->len)
			call_of[i] = g_array_index(found->by_number, guint32, answer->numbers[i]);
}

static void
remember(WpFound *found, guint64 number, guint32 call)
{
	guint32 none = WP_NO_CALL;
	while (found->by_number->len <= number)
		g_array_append_val(found->by_number, none);
	g_array_index(found->by_number, guint32, number) = call;
}

void
wp_found_add(WpFound *found, const WpResolved *resolved, const WpLinks *links,
	     const WpWindowAnswer *answer)
{
	const WpSpans *spans = wp_resolved_spans(resolved);
	guint first = found->calls->len;
	g_autofree guint32 *call_of = g_new(guint32, spans->n + 1);
	g_autoptr(WpMissing) missing = wp_missing_new(resolved);
	g_autoptr(WpPaths) paths =
		missing->all.share > 0 ? wp_paths_new(spans, links, NULL, NULL) : NULL;
	g_autofree guint8 *holes = paths ? wp_holes_find(spans, paths, missing) : NULL;

	memset(call_of, 0xff, spans->n * sizeof *call_of);
	if (answer)
		recall(found, answer, spans->n, call_of);
	for (guint32 i = 0; i < spans->n; i++) {
		if (spans->spans[i].marks & WP_MARK_SETUP || (answer && !answer->takes[i]))
			continue;
		WpFoundCall call = call_of_span(found, resolved, &spans->spans[i]);
		call.confidence = links->links[i].probability;
		call.has_hole = holes && holes[i] != WP_HOLE_NONE;
		call.self_ns = call.has_hole ? paths->self_ns[i] : 0;
		call.is_unseen = (links->links[i].evidence & WP_EVIDENCE_UNSEEN) != 0;
		call.parent = links->links[i].parent; /* a span until all have their call */
		call_of[i] = found->calls->len;
		if (answer)
			remember(found, answer->numbers[i], call_of[i]);
		g_array_append_val(found->calls, call);
	}
	for (guint i = first; i < found->calls->len; i++) {
		WpFoundCall *call = &g_array_index(found->calls, WpFoundCall, i);
		if (call->parent != WP_NO_SPAN)
			call->parent = call_of[call->parent];
	}
}

WpFound *
wp_found_new(const WpResolved *resolved, const WpLinks *links)
{
	WpFound *found = wp_found_start();

	wp_found_add(found, resolved, links, NULL);
	return found;
}

gboolean
wp_found_is_calls(const guint8 *head, gsize length)
{
	static const char begin[] = "call_id,";
	return length >= sizeof begin - 1 && memcmp(head, begin, sizeof begin - 1) == 0;
}

typedef struct {
	int id, parent, call, returns, src_ip, src_port, dst_ip, dst_port, src, dst, confidence,
		evidence;
} Columns;

static gboolean
find_columns(const WpCsv *csv, Columns *columns, GError **error)
{
	columns->parent = wp_csv_column(csv, "parent_id");
	if (columns->parent < 0)
		columns->parent = wp_csv_column(csv, "parent_call_id"); /* other tools */
	columns->returns = wp_csv_column(csv, "t_return");
	columns->src_ip = wp_csv_column(csv, "src_ip");
	columns->src_port = wp_csv_column(csv, "src_port");
	columns->dst_ip = wp_csv_column(csv, "dst_ip");
	columns->dst_port = wp_csv_column(csv, "dst_port");
	columns->src = wp_csv_column(csv, "src");
	columns->dst = wp_csv_column(csv, "dst");
	columns->confidence = wp_csv_column(csv, "confidence");
	columns->evidence = wp_csv_column(csv, "evidence");
	if (columns->parent < 0)
		return wp_csv_fail(csv, error, "there is no column \"parent_id\"");
	return (columns->id = wp_csv_need_column(csv, "call_id", error)) >= 0 &&
	       (columns->call = wp_csv_need_column(csv, "t_call", error)) >= 0;
}

static gboolean
read_confidence(const WpCsv *csv, int column, float *out_confidence, GError **error)
{
	const char *text = wp_csv_field(csv, column);
	char *end = NULL;

	*out_confidence = -1;
	if (!*text)
		return TRUE;
	double value = g_ascii_strtod(text, &end);
	if (*end || !(value >= 0 && value <= 1))
		return wp_csv_fail(csv, error, "the confidence is no number from 0 to 1");
	*out_confidence = (float)value;
	return TRUE;
}

/* A row; its parent is a string until all are read. */
static gboolean
read_call(WpFound *found, const WpCsv *csv, const Columns *columns, GError **error)
{
	static const char *const no_parent[] = { "-1", "-", "NA", NULL };
	const char *parent = wp_csv_field(csv, columns->parent);
	const char *src_ip = wp_csv_field(csv, columns->src_ip);
	const char *dst_ip = wp_csv_field(csv, columns->dst_ip);
	const char *src = wp_csv_field(csv, columns->src), *dst = wp_csv_field(csv, columns->dst);
	WpFoundCall call = {
		.id = intern(found, wp_csv_field(csv, columns->id)),
		.parent = g_strv_contains(no_parent, parent) ? 0 : intern(found, parent),
		.flow = wp_accuracy_flow(found->strings, src_ip,
					 wp_csv_field(csv, columns->src_port), dst_ip,
					 wp_csv_field(csv, columns->dst_port)),
		.caller = intern(found, *src ? src : src_ip),
		.callee = intern(found, *dst ? dst : dst_ip),
		.caller_host = intern(found, *src_ip ? src_ip : src),
		.callee_host = intern(found, *dst_ip ? dst_ip : dst),
		.is_unseen = strcmp(wp_csv_field(csv, columns->evidence), "unseen") == 0,
	};

	if (call.id == 0)
		return wp_csv_fail(csv, error, "a call without an id");
	if (!wp_csv_decimal(csv, columns->call, 9, &call.call_ns, error) ||
	    !wp_csv_decimal(csv, columns->returns, 9, &call.return_ns, error) ||
	    !read_confidence(csv, columns->confidence, &call.confidence, error))
		return FALSE;
	if (call.call_ns == WP_NO_TIME)
		return wp_csv_fail(csv, error, "a call without a time");
	g_array_append_val(found->calls, call);
	return TRUE;
}

static gboolean
read_calls(WpFound *found, WpCsv *csv, const Columns *columns, GError **error)
{
	g_autoptr(GError) problem = NULL;
	g_autoptr(WpMap) calls_by_id = wp_map_new();

	while (wp_csv_next(csv, &problem)) {
		guint32 number = found->calls->len;
		if (!read_call(found, csv, columns, error))
			return FALSE;
		guint32 id = g_array_index(found->calls, WpFoundCall, number).id;
		if (*wp_map_at(calls_by_id, id, number) != number)
			return wp_csv_fail(csv, error, "call_id \"%s\" stands here twice",
					   wp_csv_field(csv, columns->id));
	}
	if (problem) {
		g_propagate_error(error, g_steal_pointer(&problem));
		return FALSE;
	}
	for (guint i = 0; i < found->calls->len; i++) {
		WpFoundCall *call = &g_array_index(found->calls, WpFoundCall, i);
		guint32 parent =
			call->parent ? wp_map_find(calls_by_id, call->parent) : WP_MAP_NONE;
		call->parent = parent == WP_MAP_NONE || parent == i ? WP_NO_CALL : parent;
	}
	return TRUE;
}

WpFound *
wp_found_read(const char *path, GError **error)
{
	g_autoptr(WpCsv) csv = wp_csv_open(path, "calls", error);
	g_autoptr(WpFound) found = wp_found_start();
	Columns columns = { 0 };

	if (!csv || !find_columns(csv, &columns, error) || !read_calls(found, csv, &columns, error))
		return NULL;
	return g_steal_pointer(&found);
}
