/* Self-check: what comes out of a deal beside what went in, or what that has told of each link. */
#include "infer/self-check.h"

#include <math.h>

#include "infer/deal.h"
#include "infer/path.h"

static void
compare(const WpDeal *deal, WpSelfCheck *check)
{
	const WpLinks *requests = wp_deal_truth(deal);
	const WpLinks *again = wp_deal_links(deal);
	const guint32 *root_of = wp_deal_roots(deal);
	g_autofree guint8 *is_wrong = wp_deal_find_wrong(deal);

	for (guint32 i = 0; i < again->n; i++) {
		guint32 span = wp_deal_former(deal, i);
		if (!wp_deal_counts(deal, span))
			continue;
		guint32 truth = requests->links[span].parent;
		check->n_links += truth != WP_NO_SPAN;
		check->n_links_right += truth != WP_NO_SPAN &&
					wp_deal_former(deal, again->links[i].parent) == truth;
	}
	for (guint32 i = 0; i < requests->n; i++) {
		if (root_of[i] != i || !wp_deal_counts(deal, i))
			continue;
		check->n_requests++;
		check->n_requests_right += !is_wrong[i];
	}
}

/* As many as the probabilities of LINKS, which are calibrated, promise. */
static void
expect(const WpSpans *spans, const WpLinks *links, WpSelfCheck *check)
{
	g_autoptr(WpPaths) paths = wp_paths_new(spans, links, NULL, NULL);
	g_autofree guint32 *order = wp_paths_by_depth(paths);
	g_autofree guint32 *root_of = wp_links_roots(links);
	g_autofree double *odds = g_new(double, (gsize)paths->n + 1);
	double right = 0, whole = 0;

	for (guint32 i = 0; i < paths->n_on_paths; i++) {
		guint32 span = order[i];
		const WpLink *link = &links->links[span];
		double p = CLAMP((double)link->probability, 0, 1);
		gboolean is_root = i < paths->n_roots;
		if (is_root)
			odds[span] = 1;
		if (is_root || spans->spans[span].marks & WP_MARK_ANSWERED)
			continue;
		odds[root_of[span]] *= pow(p, links->whole_power);
		right += p;
		check->n_links++;
	}
	for (guint32 i = 0; i < paths->n_roots; i++) {
		if (spans->spans[paths->roots[i]].marks & WP_MARK_ANSWERED)
			continue;
		whole += odds[paths->roots[i]];
		check->n_requests++;
	}
	check->n_links_right = (guint64)(right + 0.5);
	check->n_requests_right = (guint64)(whole + 0.5);
}

gboolean
wp_self_check(const WpResolved *resolved, const WpLinks *links, const WpResolveOptions *resolve,
	      const WpEngine *engine, const void *options, WpStopFunc stop, WpSelfCheck *out_check,
	      GError **error)
{
	const WpDealMethod method = { resolve, engine, options, stop };

	*out_check = (WpSelfCheck){ 0 };
	if (links->is_calibrated) {
		expect(wp_resolved_spans(resolved), links, out_check);
		return TRUE;
	}
	g_autoptr(WpDeal) deal = wp_deal_new(resolved, links, WP_DEAL_ALL, &method, error);
	if (!deal)
		return FALSE;
	compare(deal, out_check);
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
