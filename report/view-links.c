/*
 * Counting spans: each stands in one place of the page, so that its numbers add up; and each request is
 * as likely to be right as all of its links together.
 */
#include "report/view-links.h"

const char *const wp_view_class_names[WP_VIEW_N_CLASSES] = { "1",   "2",    "3-4",
							     "5-8", "9-16", "over 16" };

const char *const wp_view_lot_names[WP_VIEW_N_LOTS] = { "in_requests",   "in_background",
							"in_uncertain",  "unpaired",
							"parent_unseen", "parent_not_found",
							"below_these" };

const char *const wp_view_lot_texts[WP_VIEW_N_LOTS] = {
	"in the patterns of requests",
	"waiting by design, and health checks",
	"of requests whose paths are uncertain: folded into no pattern",
	"in no pattern: without return, or one-way, and without a parent",
	"in no pattern: their parent may lie outside the capture",
	"in no pattern: their parent was not found before the interruption",
	"in no pattern: caused by one of these",
};

/*
 * When to rely on what. A single request: where nineteen of twenty are right from first call to last.
 * Totals and shares: on the scenarios and traces of traces/ and on public request traces, self time by
 * node was off by less than 4 % of itself where at least 85 % of the links were expected to be right,
 * however bad single requests were, as calls that change places take equally long; below, by up to a
 * quarter.
 *
 * Of an engine without odds, what counts is calls that have no alternative; as the likeliest of several is
 * often right too, fewer are enough for totals.
 */
#define WHOLE_REQUESTS 0.95
#define LINKS_BY_ODDS  0.85
#define LINKS_ALONE    0.6
#define DOUBTFUL       0.9 /* links less probable than this */

typedef struct {
	WpView *view;
	const WpAnalysis *analysis;
	const WpSpan *spans;
	const WpLink *links;
	guint32 n;
	const guint8 *keep; /* NULL = all */
	guint32 *roots;     /* by span: the first of its path; itself where it has no parent */
	double *odds;       /* by root: all links of its path are right */
	guint8 *is_clear;   /* by root: they have no alternative */
} Counter;

/* Spans are in time, but for skew, so most parents are known before their children. */
static void
find_roots(Counter *counter)
{
	for (guint32 i = 0; i < counter->n; i++)
		counter->roots[i] = WP_NO_SPAN;
	for (guint32 i = 0; i < counter->n; i++) {
		guint32 root = i;
		while (counter->roots[root] == WP_NO_SPAN &&
		       counter->links[root].parent != WP_NO_SPAN)
			root = counter->links[root].parent;
		if (counter->roots[root] != WP_NO_SPAN)
			root = counter->roots[root];
		for (guint32 at = i; at != root && counter->roots[at] == WP_NO_SPAN;
		     at = counter->links[at].parent)
			counter->roots[at] = root;
		counter->roots[root] = root;
	}
}

static double
share_of(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

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
	WpViewLinks *links = &counter->view->links;
	const WpLink *link = &counter->links[number];
	guint32 root = counter->roots[number];
	if (link->n_candidates)
		links->classes[load_class(link->n_candidates)]++;
	if (link->parent == WP_NO_SPAN)
		return;
	links->n_linked++;
	links->n_certain += link->n_candidates == 1;
	links->n_right += CLAMP(link->probability, 0, 1);
	links->n_doubtful += link->probability < DOUBTFUL;
	/* Of an engine that was stopped. */
	links->has_odds &= link->probability >= 0;
	/* For each call that was seen, another may not have been. */
	counter->odds[root] *= CLAMP(link->probability, 0, 1) * (1 - links->lost_share);
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
	WpView *view = counter->view;
	gboolean is_message = counter->spans[number].kind == WP_KIND_MESSAGE;
	WpViewCount *place = &view->lots[lot_of(counter, number)];
	*(is_message ? &view->n_messages : &view->n_calls) += 1;
	*(is_message ? &place->messages : &place->calls) += 1;
	count_link(counter, number);
}

/* What waits, and what is uncertain, is known by its patterns alone. */
static void
move_patterns(WpView *view, const WpPatternSet *set, gboolean unfolds)
{
	WpViewCount *from = &view->lots[WP_VIEW_IN_REQUESTS];
	for (guint32 i = 0; i < set->n_patterns; i++) {
		const WpPattern *pattern = &set->patterns[i];
		gboolean is_folded = pattern->is_uncertain && !unfolds;
		if (!pattern->is_background && !is_folded)
			continue;
		WpViewCount *to =
			&view->lots[is_folded ? WP_VIEW_IN_UNCERTAIN : WP_VIEW_IN_BACKGROUND];
		for (guint32 k = 0; k < pattern->n_nodes; k++) {
			guint64 n_messages = pattern->nodes[k].n_messages;
			to->messages += n_messages;
			from->messages -= n_messages;
			guint64 n_calls = pattern->count - n_messages - pattern->nodes[k].n_lost;
			to->calls += n_calls;
			from->calls -= n_calls;
		}
	}
}

/* Set-up exchanges have no spans here. */
static void
count_setup(WpView *view, const WpTrace *trace)
{
	const WpRecord *records = wp_trace_records(trace);
	for (gsize i = 0; i < wp_trace_n_records(trace); i++)
		if (records[i].marks & WP_MARK_SETUP) {
			view->setup.calls += records[i].kind == WP_KIND_CALL;
			view->setup.messages += records[i].kind == WP_KIND_MESSAGE;
		}
}

static void
count_requests(const Counter *counter)
{
	WpViewLinks *links = &counter->view->links;
	for (guint32 i = 0; i < counter->n; i++) {
		if ((counter->keep && !counter->keep[i]) || counter->roots[i] != i ||
		    lot_of(counter, i) != WP_VIEW_IN_REQUESTS)
			continue;
		links->n_roots++;
		links->n_whole += counter->odds[i];
		links->n_clear += counter->is_clear[i];
	}
}

static WpViewTrust
judge(const WpViewLinks *links)
{
	double whole = links->has_odds ? links->n_whole : (double)links->n_clear;
	double right = links->has_odds ? links->n_right : (double)links->n_certain;
	if (links->n_linked == 0)
		return WP_VIEW_TRUST_NONE;
	if (links->lost_share >= WP_VIEW_MUCH_LOST)
		return WP_VIEW_TRUST_LOW;
	/* Without odds nothing tells that the only possible parent is not the true one, which was lost. */
	if (share_of(whole, (double)links->n_roots) >= WHOLE_REQUESTS &&
	    (links->has_odds || links->lost_share < WP_VIEW_MIN_LOSS))
		return WP_VIEW_TRUST_HIGH;
	if (share_of(right, (double)links->n_linked) >=
	    (links->has_odds ? LINKS_BY_ODDS : LINKS_ALONE))
		return WP_VIEW_TRUST_MIXED;
	return WP_VIEW_TRUST_LOW;
}

void
wp_view_links_fill(WpView *view, const WpAnalysis *analysis, gboolean unfolds)
{
	const WpSpans *spans = wp_resolved_spans(analysis->resolved);
	guint32 n = MAX(spans->n, 1), n_nodes = wp_resolved_n_nodes(analysis->resolved);
	g_autofree guint32 *roots = g_new(guint32, n);
	g_autofree double *odds = g_new(double, n);
	g_autofree guint8 *is_clear = g_malloc(n);
	g_autofree guint8 *is_seen = g_malloc0(MAX(n_nodes, 1));
	Counter counter = { .view = view,
			    .analysis = analysis,
			    .spans = spans->spans,
			    .links = wp_analysis_links(analysis)->links,
			    .n = spans->n,
			    .keep = analysis->selection ? analysis->selection->keep : NULL,
			    .roots = roots,
			    .odds = odds,
			    .is_clear = is_clear };

	view->links.engine = analysis->engine->name;
	view->links.has_odds = analysis->engine->has_odds;
	view->links.parallelism = analysis->patterns->parallelism;
	view->links.lost_share = MAX(analysis->patterns->lost_share, view->quality.loss_share);
	view->links.n_holed = analysis->patterns->n_holed;
	view->links.n_estimated = analysis->patterns->n_estimated;
	for (guint32 i = 0; i < n; i++) {
		odds[i] = 1;
		is_clear[i] = 1;
	}
	find_roots(&counter);
	for (guint32 i = 0; i < spans->n; i++) {
		if (counter.keep && !counter.keep[i])
			continue;
		is_seen[spans->spans[i].caller] = is_seen[spans->spans[i].callee] = 1;
		count_span(&counter, i);
	}
	for (guint32 i = 0; i < n_nodes; i++)
		view->n_nodes += is_seen[i];
	count_requests(&counter);
	move_patterns(view, analysis->patterns, unfolds);
	count_setup(view, analysis->trace);
	view->links.trust = judge(&view->links);
}
