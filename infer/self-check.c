/* Self-check: requests found are dealt anew among their arrivals, and inferred again. */
#include "infer/self-check.h"

#include <string.h>

#include "infer/map.h"
#include "infer/path.h"
#include "infer/random.h"
#include "infer/redraw.h"

typedef struct {
	const WpResolved *resolved;
	const WpTrace *trace;
	const WpSpans *spans;
	const WpLinks *links;
	WpPaths *paths;
	guint32 *root_of; /* by span: WP_NO_SPAN = on no path */
	gint64 *shift_ns; /* by span: of its call */
	gint64 *return_shift_ns;
	guint32 *dealt_to; /* by root: what begins in its place */
	guint32 *span_of;  /* by record: the span that it belongs to, or WP_NO_SPAN */
	WpRandom64 random;
} Draw;

static void
find_roots(Draw *draw)
{
	const WpPaths *paths = draw->paths;
	g_autofree guint32 *order = wp_paths_by_depth(paths);

	for (guint32 i = 0; i < paths->n; i++)
		draw->root_of[i] = WP_NO_SPAN;
	for (guint32 i = 0; i < paths->n_on_paths; i++) {
		guint32 span = order[i], parent = draw->links->links[span].parent;
		draw->root_of[span] = i < paths->n_roots ? span : draw->root_of[parent];
	}
}

/* Deals the requests of each path among their arrivals: the shift of every root. */
static void
deal(Draw *draw)
{
	const WpPaths *paths = draw->paths;
	const WpSpan *spans = draw->spans->spans;
	g_autoptr(WpMap) numbers = wp_map_new();
	g_autoptr(GPtrArray) lists = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);

	for (guint32 i = 0; i < paths->n_roots; i++) {
		guint32 root = paths->roots[i];
		guint32 number =
			wp_map_number(numbers, wp_map_key(spans[root].caller, paths->forms[root]));
		if (number == lists->len)
			g_ptr_array_add(lists, g_array_new(FALSE, FALSE, sizeof(guint32)));
		g_array_append_val((GArray *)lists->pdata[number], root);
	}
	for (guint i = 0; i < lists->len; i++) {
		const GArray *list = lists->pdata[i];
		g_autofree guint32 *dealt = g_memdup2(list->data, list->len * sizeof(guint32));
		for (guint32 k = list->len; k > 1; k--) {
			guint32 other = wp_random64_below(&draw->random, k), kept = dealt[k - 1];
			dealt[k - 1] = dealt[other];
			dealt[other] = kept;
		}
		for (guint k = 0; k < list->len; k++) {
			guint32 place = g_array_index(list, guint32, k);
			draw->shift_ns[dealt[k]] = spans[place].call_ns - spans[dealt[k]].call_ns;
			draw->dealt_to[place] = dealt[k];
		}
	}
}

/*
 * Over a connection that has had one request at a time so far, the next one comes as long after the reply to the one
 * before as it did.
 */
static void
follow_connections(const Draw *draw, guint32 *next, gint64 *pause_ns)
{
	const WpRecord *records = wp_trace_records(draw->trace);
	const WpSpan *spans = draw->spans->spans;
	g_autoptr(WpMap) last = wp_map_new();

	for (guint32 i = 0; i < draw->spans->n; i++) {
		next[i] = WP_NO_SPAN;
		pause_ns[i] = -1;
	}
	for (guint32 i = 0; i < draw->paths->n_roots; i++) {
		guint32 place = draw->paths->roots[i], own = draw->dealt_to[place];
		guint32 flow = records[spans[place].call_record].flow;
		if (!flow)
			continue;
		guint32 *before = wp_map_at(last, flow, place);
		const WpSpan *other = &spans[*before];
		if (*before != place && wp_span_is_paired(other) &&
		    other->return_ns <= spans[place].call_ns) {
			next[draw->dealt_to[*before]] = own;
			pause_ns[own] = spans[place].call_ns - other->return_ns;
		}
		*before = place;
	}
}

/* Requests beside other ones, at hosts that work slower the more they have in hand. */
static void
redraw(Draw *draw)
{
	g_autofree guint32 *next = g_new(guint32, MAX(draw->spans->n, 1));
	g_autofree gint64 *pause_ns = g_new(gint64, MAX(draw->spans->n, 1));
	const WpRedrawPlan plan = { draw->root_of, next, pause_ns };

	if (!draw->links->paces)
		return;
	follow_connections(draw, next, pause_ns);
	wp_redraw(draw->resolved, draw->links, &plan, draw->shift_ns, draw->return_shift_ns);
}

/* Calls move with their request; what is on no path with the first call on its connection that is. */
static void
spread_shifts(Draw *draw, WpMap *span_of_flow)
{
	const WpRecord *records = wp_trace_records(draw->trace);

	for (guint32 i = 0; i < draw->spans->n; i++) {
		if (draw->root_of[i] == WP_NO_SPAN)
			continue;
		draw->shift_ns[i] = draw->shift_ns[draw->root_of[i]];
		wp_map_at(span_of_flow, records[draw->spans->spans[i].call_record].flow, i);
	}
	for (guint32 i = 0; i < draw->spans->n; i++) {
		guint32 flow = records[draw->spans->spans[i].call_record].flow;
		guint32 first = flow ? wp_map_find(span_of_flow, flow) : WP_MAP_NONE;
		if (draw->root_of[i] == WP_NO_SPAN && first != WP_MAP_NONE)
			draw->shift_ns[i] = draw->shift_ns[first];
		draw->return_shift_ns[i] = draw->shift_ns[i];
	}
}

static gint64
shift_of_record(const Draw *draw, const WpMap *span_of_flow, gsize number)
{
	const WpRecord *record = &wp_trace_records(draw->trace)[number];
	guint32 span = draw->span_of[number];

	if (span == WP_NO_SPAN)
		span = record->flow ? wp_map_find(span_of_flow, record->flow) : WP_MAP_NONE;
	if (span == WP_MAP_NONE)
		return 0;
	return record->kind == WP_KIND_RETURN ? draw->return_shift_ns[span] : draw->shift_ns[span];
}

static void
find_spans_of_records(Draw *draw)
{
	for (gsize i = 0; i < wp_trace_n_records(draw->trace); i++)
		draw->span_of[i] = WP_NO_SPAN;
	for (guint32 i = 0; i < draw->spans->n; i++) {
		const WpSpan *span = &draw->spans->spans[i];
		draw->span_of[span->call_record] = i;
		if (span->return_record != G_MAXUINT32)
			draw->span_of[span->return_record] = i;
	}
}

/* (transfer full) The capture as drawn. The packet of a record is the number of its span, from 1. */
static WpTrace *
make_trace(Draw *draw)
{
	const WpRecord *records = wp_trace_records(draw->trace);
	WpTrace *made = wp_trace_new(wp_trace_nodes(draw->trace));
	WpRecordSink *sink = wp_trace_sink(made);
	g_autoptr(WpMap) span_of_flow = wp_map_new();

	spread_shifts(draw, span_of_flow);
	redraw(draw);
	wp_sink_begin(sink, wp_trace_nodes(draw->trace), NULL);
	for (gsize i = 0; i < wp_trace_n_records(draw->trace); i++) {
		WpRecord record = records[i];
		guint32 span = draw->span_of[i];
		gint64 shift = shift_of_record(draw, span_of_flow, i);
		record.begin_ns += shift;
		record.end_ns += shift;
		record.id = span == WP_NO_SPAN ? draw->spans->n + i : span;
		record.marks &=
			(guint8) ~(WP_MARK_CARRIED | WP_MARK_ANSWERED); /* a whole of its own */
		record.packet = span == WP_NO_SPAN ? 0 : (guint64)span + 1;
		wp_sink_record(sink, &record, wp_trace_tokens(draw->trace, &records[i]), NULL);
	}
	wp_sink_counters(sink, wp_trace_counters(draw->trace), NULL);
	wp_sink_end(sink, NULL);
	return made;
}

/* The number that a drawn span had, or WP_NO_SPAN. */
static guint32
former(const WpResolved *drawn, guint32 number)
{
	if (number == WP_NO_SPAN)
		return WP_NO_SPAN;
	const WpSpan *span = &wp_resolved_spans(drawn)->spans[number];
	const WpRecord *record = &wp_trace_records(wp_resolved_trace(drawn))[span->call_record];
	return record->packet ? (guint32)(record->packet - 1) : WP_NO_SPAN;
}

/* Of the window before, where it was checked. */
static gboolean
is_context(const Draw *draw, guint32 span)
{
	return (draw->spans->spans[span].marks & WP_MARK_ANSWERED) != 0;
}

static void
compare(const Draw *draw, const WpResolved *drawn, const WpLinks *again, WpSelfCheck *check)
{
	g_autofree guint8 *is_wrong = g_new0(guint8, (gsize)draw->spans->n + 1);

	for (guint32 i = 0; i < again->n; i++) {
		guint32 span = former(drawn, i);
		guint32 parent = former(drawn, again->links[i].parent);
		if (span == WP_NO_SPAN || draw->root_of[span] == WP_NO_SPAN ||
		    is_context(draw, span))
			continue;
		guint32 truth = draw->links->links[span].parent;
		check->n_links += truth != WP_NO_SPAN;
		check->n_links_right += truth != WP_NO_SPAN && parent == truth;
		if (parent == truth)
			continue;
		is_wrong[draw->root_of[span]] = TRUE;
		if (parent != WP_NO_SPAN && draw->root_of[parent] != WP_NO_SPAN)
			is_wrong[draw->root_of[parent]] = TRUE;
	}
	for (guint32 i = 0; i < draw->paths->n_roots; i++) {
		if (is_context(draw, draw->paths->roots[i]))
			continue;
		check->n_requests++;
		check->n_requests_right += !is_wrong[draw->paths->roots[i]];
	}
}

gboolean
wp_self_check(const WpResolved *resolved, const WpLinks *links, const WpResolveOptions *resolve,
	      const WpEngine *engine, const void *options, WpStopFunc stop, WpSelfCheck *out_check,
	      GError **error)
{
	const WpSpans *spans = wp_resolved_spans(resolved);
	g_autofree guint32 *root_of = g_new(guint32, (gsize)spans->n + 1);
	g_autofree gint64 *shift_ns = g_new0(gint64, (gsize)spans->n + 1);
	g_autofree guint32 *dealt_to = g_new0(guint32, (gsize)spans->n + 1);
	g_autofree gint64 *return_shift_ns = g_new0(gint64, (gsize)spans->n + 1);
	const WpTrace *given = wp_resolved_trace(resolved);
	g_autofree guint32 *span_of = g_new(guint32, wp_trace_n_records(given) + 1);
	g_autoptr(WpPaths) paths = wp_paths_new(spans, links, NULL, NULL);
	Draw draw = { .resolved = resolved,
		      .trace = given,
		      .spans = spans,
		      .links = links,
		      .paths = paths,
		      .root_of = root_of,
		      .span_of = span_of,
		      .shift_ns = shift_ns,
		      .return_shift_ns = return_shift_ns,
		      .dealt_to = dealt_to,
		      .random = { WP_RANDOM64_SEED } };

	find_roots(&draw);
	find_spans_of_records(&draw);
	deal(&draw);
	g_autoptr(WpTrace) trace = make_trace(&draw);
	g_autoptr(WpResolved) drawn = wp_resolve(trace, resolve, error);
	g_autoptr(WpLinks) again = drawn ? engine->run(drawn, options, stop, error) : NULL;
	if (!again)
		return FALSE;
	*out_check = (WpSelfCheck){ 0 };
	compare(&draw, drawn, again, out_check);
	return TRUE;
}

void
wp_self_check_add(WpSelfCheck *check, const WpSelfCheck *other)
{
	check->n_links += other->n_links;
	check->n_links_right += other->n_links_right;
	check->n_requests += other->n_requests;
	check->n_requests_right += other->n_requests_right;
}
