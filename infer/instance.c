/* Requests copied out of spans, records and links, which are gone when the next part of a trace comes. */
#include "infer/instance.h"

#include <string.h>

#include "infer/links.h"
#include "infer/spent.h"

#define AT_SPAN(steps, i) g_array_index(steps, WpPathStep, i)

/* What the record of one direction tells. */
static void
fill_record(WpInstanceCall *call, int way, const WpRecord *record)
{
	call->bytes[way] = record ? record->bytes : WP_NO_SIZE;
	call->packets[way] = record ? record->packet : 0;
	call->taps[way] = record ? record->tap : 0;
}

static void
fill_parts(WpInstanceCall *call, const WpSpan *span, gboolean is_seen_twice)
{
	call->network_ns = -1;
	if (!wp_span_is_paired(span))
		return;
	if (is_seen_twice)
		call->network_ns = MAX(span->way_in_ns + span->way_out_ns, 0);
}

static gint64
length_of(const WpTransport *what)
{
	return what->kind == WP_N_TRANSPORTS ? -1 : what->end_ns - what->begin_ns;
}

static void
fill_spent(WpInstanceCall *call, const WpTrace *trace, const WpSpan *span)
{
	WpSpent spent;

	wp_spent_read(trace, span, &spent);
	call->request_ns = spent.parts.request_ns;
	call->server_ns = spent.parts.server_ns;
	call->reply_ns = spent.parts.reply_ns;
	call->stall_ns = spent.stall_ns;
	call->connect_ns = length_of(&spent.connect);
	call->setup_ns = length_of(&spent.setup);
	for (guint i = 0; i < spent.n_stalls; i++) {
		const WpSpentStall *stall = &spent.stalls[i];
		call->n_stalls += stall->held_ns > 0;
		if (stall->held_ns <= call->longest_ns)
			continue;
		call->longest_ns = stall->held_ns;
		call->stall_kind = stall->what.kind;
		call->stall_first = stall->what.first;
		call->stall_last = stall->what.last;
	}
}

static void
fill_link(WpInstanceCall *call, const WpLink *link, const WpSpan *spans)
{
	call->probability = link->probability;
	call->n_candidates = link->n_candidates;
	call->evidence = link->evidence;
	call->runner_id = link->runner_up == WP_NO_SPAN ? WP_NO_ID : spans[link->runner_up].id;
}

static void
fill_call(WpInstanceCall *call, const WpInstanceSource *source, guint32 number)
{
	const WpSpan *spans = wp_resolved_spans(source->resolved)->spans;
	const WpRecord *records = wp_trace_records(wp_resolved_trace(source->resolved));
	const WpSpan *span = &spans[number];
	const WpRecord *asked = &records[span->call_record];
	const WpRecord *answered =
		span->return_record == G_MAXUINT32 ? NULL : &records[span->return_record];

	call->caller = span->caller;
	call->callee = span->callee;
	call->label = span->label;
	call->protocol = span->protocol;
	call->begin_ns = span->call_ns;
	call->end_ns = source->paths->end_ns[number];
	call->self_ns = source->paths->self_ns[number];
	call->overlaps = source->paths->overlaps[number];
	call->is_estimated = source->holes && source->holes[number] != 0;
	call->id = span->id;
	call->src = asked->src;
	call->dst = asked->dst;
	call->kind = span->kind;
	call->status = span->status;
	call->marks = span->marks;
	fill_record(call, 0, asked);
	fill_record(call, 1, answered);
	fill_parts(call, span,
		   answered && (asked->marks & answered->marks & WP_MARK_BOTH_ENDS) != 0);
	fill_spent(call, wp_resolved_trace(source->resolved), span);
	call->connecting_ns =
		wp_spent_connecting_ns(wp_resolved_trace(source->resolved),
				       wp_resolved_spans(source->resolved), source->paths, number);
	fill_link(call, &source->links->links[number], spans);
}

static void
clear(gpointer data)
{
	g_free(((WpInstance *)data)->calls);
}

WpInstance *
wp_instance_new(const WpInstanceSource *source, const GArray *steps, const guint32 *places)
{
	WpInstance *instance = g_rc_box_new0(WpInstance);

	instance->n_calls = MIN(steps->len, WP_INSTANCE_MAX_CALLS);
	instance->n_more = steps->len - instance->n_calls;
	instance->calls = g_new0(WpInstanceCall, MAX(instance->n_calls, 1));
	for (guint32 i = 0; i < instance->n_calls; i++) {
		const WpPathStep *step = &AT_SPAN(steps, i);
		WpInstanceCall *call = &instance->calls[i];
		call->place = places ? places[i] : i;
		call->parent = step->parent;
		call->depth = step->depth;
		fill_call(call, source, step->span);
	}
	instance->client = instance->calls[0].caller;
	return instance;
}

WpInstance *
wp_instance_ref(WpInstance *instance)
{
	return g_rc_box_acquire(instance);
}

void
wp_instance_unref(WpInstance *instance)
{
	if (instance)
		g_rc_box_release_full(instance, clear);
}

gint64
wp_instance_latency_ns(const WpInstance *instance)
{
	const WpInstanceCall *root = &instance->calls[0];
	return root->end_ns == WP_NO_TIME ? 0 : MAX(root->end_ns - root->begin_ns, 0);
}

void
wp_instance_move(WpInstance *instance, const WpResolved *resolved)
{
	instance->client = wp_resolved_caller_now(resolved, instance->client);
	for (guint32 i = 0; i < instance->n_calls; i++) {
		WpInstanceCall *call = &instance->calls[i];
		call->caller = wp_resolved_caller_now(resolved, call->caller);
		call->callee = wp_resolved_callee_now(resolved, call->callee);
		call->label = wp_resolved_label_now(resolved, call->callee, call->label);
	}
}

void
wp_instance_replace(WpInstance *instance, const guint32 *now)
{
	for (guint32 i = 0; i < instance->n_calls; i++)
		if (instance->calls[i].place != WP_NO_PLACE)
			instance->calls[i].place =
				now ? now[instance->calls[i].place] : WP_NO_PLACE;
}

/* --- which --- */

void
wp_keep_init_slowest(WpKeep *keep, guint n)
{
	*keep = (WpKeep){ .n_slowest = n, .latencies = g_array_new(FALSE, FALSE, sizeof(gint64)) };
}

void
wp_keep_clear(WpKeep *keep)
{
	g_clear_pointer(&keep->latencies, g_array_unref);
}

gboolean
wp_keep_offer(WpKeep *keep, gint64 latency_ns)
{
	GArray *latencies = keep->latencies;
	guint at = 0;

	if (keep->n_slowest == 0)
		return FALSE;
	if (latencies->len == keep->n_slowest) {
		/* Of equal ones the first stay, so that no more are kept than asked for. */
		if (latency_ns <= g_array_index(latencies, gint64, 0))
			return FALSE;
		g_array_remove_index(latencies, 0);
	}
	while (at < latencies->len && g_array_index(latencies, gint64, at) < latency_ns)
		at++;
	g_array_insert_val(latencies, at, latency_ns);
	return TRUE;
}

gboolean
wp_keep_still(const WpKeep *keep, gint64 latency_ns)
{
	return keep->n_slowest == 0 || keep->latencies->len < keep->n_slowest ||
	       latency_ns >= g_array_index(keep->latencies, gint64, 0);
}

/* "17"; where ids are not unique the place, from 1; "17#204": the place is said (`wirepath calls` does so). */
static void
begin_call(WpKeep *keep, const WpResolved *resolved)
{
	const char *mark = strrchr(keep->call, '#');
	const char *digits = mark ? mark + 1 : keep->call;
	guint64 place;

	keep->has_begun = TRUE;
	keep->by_number = mark || !wp_spans_have_unique_ids(wp_resolved_spans(resolved));
	if (!keep->by_number)
		keep->wanted = wp_record_id_from_text(wp_trace_nodes(wp_resolved_trace(resolved)),
						      keep->call, strlen(keep->call));
	else if (g_ascii_string_to_unsigned(digits, 10, 1, G_MAXUINT64, &place, NULL))
		keep->wanted = place - 1;
	else
		keep->wanted = G_MAXUINT64; /* no call is there */
}

static gboolean
is_call(const WpKeep *keep, const WpSpans *spans, guint32 i)
{
	if (keep->by_number)
		return (keep->numbers ? keep->numbers[i] : i) == keep->wanted;
	return spans->spans[i].id == keep->wanted;
}

guint8 *
wp_keep_roots(WpKeep *keep, const WpResolved *resolved, const WpLinks *links, const WpPaths *paths)
{
	const WpSpans *spans = wp_resolved_spans(resolved);
	g_autofree guint32 *roots = NULL;

	if (!keep->call)
		return NULL;
	if (!keep->has_begun)
		begin_call(keep, resolved);
	guint8 *is_kept = g_malloc0(MAX(spans->n, 1));
	for (guint32 i = 0; i < spans->n; i++) {
		if (!is_call(keep, spans, i))
			continue;
		if (!roots)
			roots = wp_links_roots(links);
		keep->n_found++;
		if (paths->forms[i] != WP_NO_FORM)
			is_kept[roots[i]] = 1;
		else if (!keep->evidence)
			keep->evidence = links->links[i].evidence;
	}
	return is_kept;
}
