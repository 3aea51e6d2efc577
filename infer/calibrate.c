/* How sure links are, against how often such links are right. */
#include "infer/calibrate.h"

#include <math.h>

#define MAX_CALLS  10000 /* dealt: enough to see how sure is too sure */
#define MIN_LINKS  200   /* with a choice: with fewer nothing is learned */
#define MIN_DOUBT  0.005 /* wrong links expected, of all: below it there is little to mend */
#define CLOSEST    1e-4  /* to 0 and 1 */
#define PRIOR      10.0  /* links that say nothing is to be changed, or what all hosts say */
#define MAX_STEPS  50
#define MAX_STEP   1.0
#define CLOSE_STEP 1e-6

#define MIN_REQUESTS 50  /* to see how often a whole one is right */
#define MAX_POWER    4.0 /* of the product of probabilities */
#define HALVINGS     30

/* logit(holds) = OFFSET + SLOPE logit(said) */
typedef struct {
	double offset;
	double slope;
} Curve;

/* What was said of a link, and whether it is right. */
typedef struct {
	double said; /* logit */
	guint32 host;
	gboolean is_right;
} Bet;

static double
logit(double p)
{
	p = CLAMP(p, CLOSEST, 1 - CLOSEST);
	return log(p / (1 - p));
}

static double
value_at(const Curve *curve, double said)
{
	return 1 / (1 + exp(-(curve->offset + curve->slope * said)));
}

/*
 * The likeliest curve for N BETS, beside PRIOR that it is as BEFORE says: Newton's method on a concave
 * function, steps bounded. Where IS_FLAT the slope stays 0.
 */
static Curve
fit_curve(const Bet *bets, guint n, const Curve *before, gboolean is_flat)
{
	Curve curve = *before;

	if (is_flat)
		curve.slope = 0;
	for (int step = 0; step < MAX_STEPS; step++) {
		double up_offset = PRIOR * (before->offset - curve.offset);
		double up_slope = PRIOR * (before->slope - curve.slope);
		double bend_offset = PRIOR, bend_slope = PRIOR, bend_both = 0;
		for (guint i = 0; i < n; i++) {
			double holds = value_at(&curve, bets[i].said);
			double miss = (bets[i].is_right ? 1 : 0) - holds;
			double weight = holds * (1 - holds);
			up_offset += miss;
			up_slope += miss * bets[i].said;
			bend_offset += weight;
			bend_both += weight * bets[i].said;
			bend_slope += weight * bets[i].said * bets[i].said;
		}
		double area = bend_offset * bend_slope - bend_both * bend_both;
		double offset = (bend_slope * up_offset - bend_both * up_slope) / area;
		double slope = (bend_offset * up_slope - bend_both * up_offset) / area;
		if (is_flat) {
			offset = up_offset / bend_offset;
			slope = 0;
		}
		double longest = MAX(fabs(offset), fabs(slope));
		double share = longest > MAX_STEP ? MAX_STEP / longest : 1;
		curve.offset += offset * share;
		curve.slope += slope * share;
		if (longest < CLOSE_STEP)
			break;
	}
	return curve;
}

/* Surer is never less likely. */
static Curve
fit(const Bet *bets, guint n, const Curve *before)
{
	Curve curve = fit_curve(bets, n, before, FALSE);

	return curve.slope >= 0 ? curve : fit_curve(bets, n, before, TRUE);
}

/* Whether LINK was chosen from several parents, and its probability comes from that alone. */
static gboolean
has_choice(const WpLink *link, const WpSpan *span)
{
	return link->parent != WP_NO_SPAN && link->n_candidates > 1 && link->probability >= 0 &&
	       !(link->evidence & WP_EVIDENCE_MEASURED) && !(span->marks & WP_MARK_ANSWERED);
}

static gboolean
is_in_doubt(const WpLinks *links, const WpSpan *spans)
{
	double wrong = 0;
	guint32 n = 0, n_open = 0;

	for (guint32 i = 0; i < links->n; i++) {
		n += links->links[i].parent != WP_NO_SPAN;
		if (!has_choice(&links->links[i], &spans[i]))
			continue;
		n_open++;
		wrong += 1 - (double)links->links[i].probability;
	}
	return n_open >= MIN_LINKS && wrong >= MIN_DOUBT * n;
}

static int
compare_hosts(gconstpointer a, gconstpointer b)
{
	const Bet *x = a, *y = b;
	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	return (x->said > y->said) - (x->said < y->said);
}

/* (transfer full) Bet: the links of DEAL that had a choice, by host. */
static GArray *
find_bets(const WpDeal *deal, const WpSpan *spans)
{
	const WpLinks *requests = wp_deal_truth(deal), *again = wp_deal_links(deal);
	const guint32 *root_of = wp_deal_roots(deal);
	GArray *bets = g_array_new(FALSE, FALSE, sizeof(Bet));

	for (guint32 i = 0; i < again->n; i++) {
		const WpLink *link = &again->links[i];
		guint32 span = wp_deal_former(deal, i);
		if (span == WP_NO_SPAN || root_of[span] == WP_NO_SPAN ||
		    requests->links[span].parent == WP_NO_SPAN || !has_choice(link, &spans[span]))
			continue;
		gboolean is_right =
			wp_deal_former(deal, link->parent) == requests->links[span].parent;
		Bet bet = { logit((double)link->probability), spans[span].caller_host, is_right };
		g_array_append_val(bets, bet);
	}
	g_array_sort(bets, compare_hosts);
	return bets;
}

/* (transfer full) The curve of each of N_HOSTS; where little is known of a host, that of all. */
static Curve *
fit_hosts(const GArray *bets, guint32 n_hosts)
{
	static const Curve unchanged = { 0, 1 };
	const Bet *first = (const Bet *)(const void *)bets->data;
	Curve *curves = g_new(Curve, MAX(n_hosts, 1));
	Curve all = fit(first, bets->len, &unchanged);

	for (guint32 host = 0; host < n_hosts; host++)
		curves[host] = all;
	for (guint begin = 0, end; begin < bets->len; begin = end) {
		for (end = begin; end < bets->len && first[end].host == first[begin].host; end++)
			;
		curves[first[begin].host] = fit(first + begin, end - begin, &all);
	}
	return curves;
}

static void
set_probabilities(WpLinks *links, const WpSpan *spans, const Curve *curves)
{
	for (guint32 i = 0; i < links->n; i++) {
		WpLink *link = &links->links[i];
		if (has_choice(link, &spans[i]))
			link->probability = (float)value_at(&curves[spans[i].caller_host],
							    logit((double)link->probability));
	}
}

/* (transfer full) double: of each request of DEAL the logarithm of the product of what is said of its links. */
static GArray *
find_products(const WpDeal *deal, const WpSpan *spans, guint32 n_spans, const Curve *curves)
{
	const WpLinks *again = wp_deal_links(deal);
	const guint32 *root_of = wp_deal_roots(deal);
	g_autofree double *products = g_new0(double, (gsize)n_spans + 1);
	GArray *all = g_array_new(FALSE, FALSE, sizeof(double));

	for (guint32 i = 0; i < again->n; i++) {
		const WpLink *link = &again->links[i];
		guint32 span = wp_deal_former(deal, i);
		if (span == WP_NO_SPAN || root_of[span] == WP_NO_SPAN ||
		    !has_choice(link, &spans[span]))
			continue;
		products[root_of[span]] += log(value_at(&curves[spans[span].caller_host],
							logit((double)link->probability)));
	}
	for (guint32 i = 0; i < n_spans; i++)
		if (root_of[i] == i)
			g_array_append_val(all, products[i]);
	return all;
}

/* The power of PRODUCTS (logarithms) with which N_RIGHT of them are expected to be right. */
static double
find_power(const GArray *products, guint32 n_right)
{
	double low = 0, high = MAX_POWER;

	for (int i = 0; i < HALVINGS; i++) {
		double power = (low + high) / 2, sum = 0;
		for (guint k = 0; k < products->len; k++)
			sum += exp(power * g_array_index(products, double, k));
		*(sum > n_right ? &low : &high) = power;
	}
	return (low + high) / 2;
}

static double
learn_power(const WpDeal *deal, const WpSpan *spans, guint32 n_spans, const Curve *curves)
{
	g_autofree guint8 *is_wrong = wp_deal_find_wrong(deal);
	g_autoptr(GArray) products = find_products(deal, spans, n_spans, curves);
	guint32 n_right = 0;

	if (products->len < MIN_REQUESTS)
		return 1;
	for (guint32 i = 0; i < n_spans; i++)
		n_right += wp_deal_roots(deal)[i] == i && !is_wrong[i];
	return find_power(products, n_right);
}

gboolean
wp_links_calibrate(WpLinks *links, const WpResolved *resolved, const WpDealMethod *method,
		   GError **error)
{
	const WpSpan *spans = wp_resolved_spans(resolved)->spans;
	guint32 n_hosts = 0;

	if (!links->has_odds || !is_in_doubt(links, spans))
		return TRUE;
	g_autoptr(WpDeal) deal = wp_deal_new(resolved, links, MAX_CALLS, method, error);
	if (!deal)
		return FALSE;
	if (method->stop && method->stop())
		return TRUE;
	g_autoptr(GArray) bets = find_bets(deal, spans);
	for (guint32 i = 0; i < links->n; i++)
		n_hosts = MAX(n_hosts, spans[i].caller_host + 1);
	g_autofree Curve *curves = fit_hosts(bets, n_hosts);
	links->whole_power = learn_power(deal, spans, links->n, curves);
	set_probabilities(links, spans, curves);
	links->is_calibrated = TRUE;
	return TRUE;
}
