/*
 * What was counted becomes part of the page: each call stands in one place of it, so that its numbers add
 * up; and each request is as likely to be right as all of its links together.
 */
#include "report/view-links.h"

#include <string.h>

const char *const wp_view_class_names[WP_VIEW_N_CLASSES] = { "1",   "2",    "3-4",
							     "5-8", "9-16", "over 16" };

const char *const wp_view_trust_names[] = { "none", "high", "mixed", "low", "stopped" };

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

/* A self-check that promises so much less of links, or of whole requests, than the odds do is right. */
#define CHECK_LINKS    0.05
#define CHECK_REQUESTS 0.1

static double
share_of(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

/* What waits, and what is uncertain, is known by its patterns alone. */
static void
move_patterns(WpView *view, const WpPatternSet *set, gboolean unfolds)
{
	WpViewCount *from = &view->lots[WP_VIEW_IN_REQUESTS];
	for (guint32 i = 0; i < set->n_patterns; i++) {
		const WpPattern *pattern = &set->patterns[i];
		gboolean is_folded = pattern->n_rest || (pattern->is_uncertain && !unfolds);
		if (!pattern->is_background && !is_folded)
			continue;
		WpViewCount *to =
			&view->lots[is_folded ? WP_VIEW_IN_UNCERTAIN : WP_VIEW_IN_BACKGROUND];
		to->messages += pattern->n_rest_messages;
		from->messages -= pattern->n_rest_messages;
		to->calls += pattern->n_rest_calls;
		from->calls -= pattern->n_rest_calls;
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

/* What the self-check says counts where it promises less than the odds do. */
static void
fill_check(WpViewLinks *links, const WpSelfCheck *check, gboolean is_asked)
{
	links->right_share = share_of(links->n_right, (double)links->n_linked);
	links->whole_share = share_of(links->n_whole, (double)links->n_roots);
	if (!check || !check->n_links || !check->n_requests)
		return;
	double right = share_of((double)check->n_links_right, (double)check->n_links);
	double whole = share_of((double)check->n_requests_right, (double)check->n_requests);
	links->is_check_lower = links->has_odds && (links->right_share - right > CHECK_LINKS ||
						    links->whole_share - whole > CHECK_REQUESTS);
	if (!is_asked && !links->is_check_lower)
		return;
	links->n_check_links = check->n_links;
	links->n_check_links_right = check->n_links_right;
	links->n_check_requests = check->n_requests;
	links->n_check_requests_right = check->n_requests_right;
	if (!links->is_check_lower)
		return;
	links->right_share = MIN(links->right_share, right);
	links->whole_share = MIN(links->whole_share, whole);
}

static WpViewTrust
judge(const WpViewLinks *links)
{
	double whole = links->has_odds ? links->whole_share
				       : share_of((double)links->n_clear, (double)links->n_roots);
	double right = links->has_odds
			       ? links->right_share
			       : share_of((double)links->n_certain, (double)links->n_linked);
	if (links->n_linked == 0)
		return WP_VIEW_TRUST_NONE;
	if (links->lost_share >= WP_VIEW_MUCH_LOST)
		return WP_VIEW_TRUST_LOW;
	/* Without odds nothing tells that the only possible parent is not the true one, which was lost. */
	if (whole >= WHOLE_REQUESTS && (links->has_odds || links->lost_share < WP_VIEW_MIN_LOSS))
		return WP_VIEW_TRUST_HIGH;
	if (right >= (links->has_odds ? LINKS_BY_ODDS : LINKS_ALONE))
		return WP_VIEW_TRUST_MIXED;
	return WP_VIEW_TRUST_LOW;
}

void
wp_view_links_fill(WpView *view, const WpAnalysis *analysis, const WpViewOptions *options)
{
	const WpTally *tally = &analysis->tally;

	view->links = tally->links;
	view->links.engine = analysis->engine->name;
	view->links.has_odds &= analysis->engine->has_odds;
	view->links.parallelism = analysis->patterns->parallelism;
	memcpy(view->lots, tally->lots, sizeof view->lots);
	view->setup = tally->setup;
	view->n_calls = tally->n_calls;
	view->n_messages = tally->n_messages;
	for (guint32 i = 0; i < tally->seen->len; i++)
		view->n_nodes += g_array_index(tally->seen, guint8, i) != 0;
	view->links.lost_share = MAX(analysis->patterns->lost_share, view->quality.loss_share);
	view->links.n_holed = analysis->patterns->n_holed;
	view->links.n_estimated = analysis->patterns->n_estimated;
	move_patterns(view, analysis->patterns, options->unfolds);
	fill_check(&view->links, options->check, options->shows_check);
	view->links.trust = judge(&view->links);
}
