/* Self-check: what comes out of a deal beside what went in. */
#include "infer/self-check.h"

#include "infer/deal.h"

static void
compare(const WpLinks *links, const WpDeal *deal, WpSelfCheck *check)
{
	const WpLinks *again = wp_deal_links(deal);
	const guint32 *root_of = wp_deal_roots(deal);
	g_autofree guint8 *is_wrong = wp_deal_find_wrong(deal);

	for (guint32 i = 0; i < again->n; i++) {
		guint32 span = wp_deal_former(deal, i);
		if (!wp_deal_counts(deal, span))
			continue;
		guint32 truth = links->links[span].parent;
		check->n_links += truth != WP_NO_SPAN;
		check->n_links_right += truth != WP_NO_SPAN &&
					wp_deal_former(deal, again->links[i].parent) == truth;
	}
	for (guint32 i = 0; i < links->n; i++) {
		if (root_of[i] != i || !wp_deal_counts(deal, i))
			continue;
		check->n_requests++;
		check->n_requests_right += !is_wrong[i];
	}
}

gboolean
wp_self_check(const WpResolved *resolved, const WpLinks *links, const WpResolveOptions *resolve,
	      const WpEngine *engine, const void *options, WpStopFunc stop, WpSelfCheck *out_check,
	      GError **error)
{
	const WpDealMethod method = { resolve, engine, options, stop };
	g_autoptr(WpDeal) deal = wp_deal_new(resolved, links, WP_DEAL_ALL, &method, error);

	if (!deal)
		return FALSE;
	*out_check = (WpSelfCheck){ 0 };
	compare(links, deal, out_check);
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
