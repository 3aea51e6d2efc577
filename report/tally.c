/* Counting spans: each stands in one place of the page, so that its numbers add up. */
#include "report/tally.h"

#include <math.h>

#define DOUBTFUL 0.9 /* links less probable than this */

typedef struct {
	WpTally *tally;
	const WpSpan *spans;
	const WpLink *links;
	guint32 n;
	const guint8 *keep;   /* NULL = all */
	const guint32 *roots; /* by span: the first of its path; itself where it has no parent */
	double *odds;         /* by root: all links of its path are right */
	guint8 *is_clear;     /* by root: they have no alternative */
	double lost_share;
	double whole_power; /* of the links */
} Counter;

/* 1, 2, 3-4, 5-8, 9-16, over 16 */
static guint
load_class(guint32 n_candidates)
{
	guint class = 0;
	while (class < WP_VIEW_N_CLASSES - 1 && n_candidates > 1u << class)
		class ++;
	return class;
}

static void
count_link(Counter *counter, guint32 number)
{
	WpViewLinks *links = &counter->tally->links;
	const WpLink *link = &counter->links[number];
	guint32 root = counter->roots[number];
	if (link->n_candidates)
		links->classes[load_class(link->n_candidates)]++;
	if (link->parent == WP_NO_SPAN) {
		/* On a shared address a service may have been taken for a client. */
		counter->odds[root] *= 1 - counter->spans[number].owner_doubt;
		return;
	}
	links->n_linked++;
	links->n_certain += link->n_candidates == 1;
	links->n_measured += (link->evidence & WP_EVIDENCE_MEASURED) != 0;
	links->n_right += CLAMP(link->probability, 0, 1);
	links->n_doubtful += link->probability < DOUBTFUL;
	/* Of an engine that was stopped. */
	links->has_odds &= link->probability >= 0;
	/* For each call that was seen, another may not have been. */
	counter->odds[root] *= pow(CLAMP((double)link->probability, 0, 1), counter->whole_power) *
			       (1 - counter->lost_share);
	counter->is_clear[root] &= link->n_candidates == 1;
}

/* Why a span is on no path, or that it is. */
static WpViewLot
lot_of(const Counter *counter, guint32 number)
{
	guint32 evidence = counter->links[counter->roots[number]].evidence;
	WpViewLot reason = evidence & WP_EVIDENCE_UNPAIRED  ? WP_VIEW_UNPAIRED
			   : evidence & WP_EVIDENCE_UNSEEN  ? WP_VIEW_UNSEEN
			   : evidence & WP_EVIDENCE_STOPPED ? WP_VIEW_STOPPED
							    : WP_VIEW_IN_REQUESTS;
	if (reason != WP_VIEW_IN_REQUESTS && counter->roots[number] != number)
		return WP_VIEW_BELOW;
	return reason;
}

static void
count_span(Counter *counter, guint32 number)
{
	WpTally *tally = counter->tally;
	gboolean is_message = counter->spans[number].kind == WP_KIND_MESSAGE;
	WpViewCount *place = &tally->lots[lot_of(counter, number)];
	*(is_message ? &tally->n_messages : &tally->n_calls) += 1;
	*(is_message ? &place->messages : &place->calls) += 1;
	count_link(counter, number);
}

static void
count_requests(const Counter *counter)
{
	WpViewLinks *links = &counter->tally->links;
	for (guint32 i = 0; i < counter->n; i++) {
		if ((counter->keep && !counter->keep[i]) || counter->roots[i] != i ||
		    lot_of(counter, i) != WP_VIEW_IN_REQUESTS)
			continue;
		links->n_roots++;
		links->whole_powers += counter->whole_power;
		links->n_whole += counter->odds[i];
		links->n_clear += counter->is_clear[i];
	}
}

/* Set-up exchanges have no spans here. */
static void
count_records(WpTally *tally, const WpTrace *trace)
{
	const WpRecord *records = wp_trace_records(trace);
	for (gsize i = 0; i < wp_trace_n_records(trace); i++) {
		const WpRecord *record = &records[i];
		if (record->marks & WP_MARK_CARRIED)
			continue;
		if (record->marks & WP_MARK_SETUP) {
			tally->setup.calls += record->kind == WP_KIND_CALL;
			tally->setup.messages += record->kind == WP_KIND_MESSAGE;
		}
		if (!tally->n_records++)
			tally->begin_ns = tally->end_ns = record->begin_ns;
		tally->begin_ns = MIN(tally->begin_ns, record->begin_ns);
		tally->end_ns = MAX(tally->end_ns, record->end_ns);
	}
}

static void
see(WpTally *tally, guint32 node, guint8 how)
{
	if (node >= tally->seen->len)
		g_array_set_size(tally->seen, node + 1);
	g_array_index(tally->seen, guint8, node) |= how;
}

void
wp_tally_add(WpTally *tally, const WpResolved *resolved, const WpLinks *links, const guint8 *keep,
	     double lost_share)
{
	const WpSpans *spans = wp_resolved_spans(resolved);
	guint32 n = MAX(spans->n, 1);
	g_autofree guint32 *roots = wp_links_roots(links);
	g_autofree double *odds = g_new(double, n);
	g_autofree guint8 *is_clear = g_malloc(n);
	Counter counter = { tally, spans->spans, links->links, spans->n,   keep,
			    roots, odds,         is_clear,     lost_share, links->whole_power };

	for (guint32 i = 0; i < n; i++) {
		odds[i] = 1;
		is_clear[i] = 1;
	}
	for (guint32 i = 0; i < spans->n; i++) {
		if (keep && !keep[i])
			continue;
		see(tally, spans->spans[i].caller, 1);
		see(tally, spans->spans[i].callee, 2);
		count_span(&counter, i);
	}
	count_requests(&counter);
	wp_edge_times_add(tally->edges, resolved, keep);
	wp_queues_add(tally->queues, resolved, links, keep);
	wp_pools_add(tally->pools, resolved, links, keep);
	count_records(tally, wp_resolved_trace(resolved));
}

void
wp_tally_move(WpTally *tally, const WpResolved *resolved)
{
	g_autoptr(GArray) old = g_steal_pointer(&tally->seen);
	wp_edge_times_move(tally->edges, resolved);
	wp_queues_move(tally->queues, resolved);
	wp_pools_move(tally->pools, resolved);
	tally->seen = g_array_new(FALSE, TRUE, sizeof(guint8));
	for (guint32 i = 0; i < old->len; i++) {
		guint8 how = g_array_index(old, guint8, i);
		if (how & 1)
			see(tally, wp_resolved_caller_now(resolved, i), 1);
		if (how & 2)
			see(tally, wp_resolved_callee_now(resolved, i), 2);
	}
}

void
wp_tally_init(WpTally *tally)
{
	*tally = (WpTally){ .links = { .has_odds = TRUE },
			    .edges = wp_edge_times_new(),
			    .queues = wp_queues_new(),
			    .pools = wp_pools_new(),
			    .seen = g_array_new(FALSE, TRUE, sizeof(guint8)) };
}

void
wp_tally_clear(WpTally *tally)
{
	g_clear_pointer(&tally->seen, g_array_unref);
	g_clear_pointer(&tally->edges, wp_edge_times_free);
	g_clear_pointer(&tally->queues, wp_queues_free);
	g_clear_pointer(&tally->pools, wp_pools_free);
}
