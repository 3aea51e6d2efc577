/* What is measured: sums of blocks to shifts, shifts to verdicts. */
#include "report/compare-private.h"

#include <math.h>
#include <stdlib.h>

/* Time of a side with as much in hand as the other side had at some time: with less, work cannot be compared. */
#define MIN_COMMON 0.05

typedef struct {
	double rate
		[WP_DIGEST_LEVELS]; /* calls that end in a ns of self time; 0: not on both sides */
} Levels;

typedef void (*FillFunc)(const WpDigestOperation *operation, const WpDigestPart *part,
			 const Levels *levels, GArray *blocks);

static void
add_block(GArray *blocks, guint64 num, guint64 den)
{
	WpShiftBlock block = { (double)num, (double)den };
	g_array_append_val(blocks, block);
}

static void
fill_latency(const WpDigestOperation *operation, const WpDigestPart *part, const Levels *levels,
	     GArray *blocks)
{
	for (guint i = 0; i < operation->blocks->len; i++) {
		const WpDigestBlock *block = &g_array_index(operation->blocks, WpDigestBlock, i);
		add_block(blocks, block->latency_ns, block->requests);
	}
	(void)part;
	(void)levels;
}

static void
fill_calls(const WpDigestOperation *operation, const WpDigestPart *part, const Levels *levels,
	   GArray *blocks)
{
	for (guint i = 0; i < operation->blocks->len; i++) {
		guint64 made = part && i < part->sums->len
				       ? g_array_index(part->sums, WpDigestSums, i).made
				       : 0;
		add_block(blocks, made,
			  g_array_index(operation->blocks, WpDigestBlock, i).requests);
	}
	(void)levels;
}

static void
fill_self(const WpDigestOperation *operation, const WpDigestPart *part, const Levels *levels,
	  GArray *blocks)
{
	for (guint i = 0; part && i < part->sums->len; i++) {
		const WpDigestSums *sums = &g_array_index(part->sums, WpDigestSums, i);
		add_block(blocks, sums->self_ns, sums->calls);
	}
	(void)operation;
	(void)levels;
}

static void
fill_served(const WpDigestOperation *operation, const WpDigestPart *part, const Levels *levels,
	    GArray *blocks)
{
	for (guint i = 0; part && i < part->sums->len; i++) {
		const WpDigestSums *sums = &g_array_index(part->sums, WpDigestSums, i);
		add_block(blocks, sums->served_ns, sums->calls);
	}
	(void)operation;
	(void)levels;
}

static void
fill_network(const WpDigestOperation *operation, const WpDigestPart *part, const Levels *levels,
	     GArray *blocks)
{
	for (guint i = 0; part && i < part->sums->len; i++) {
		const WpDigestSums *sums = &g_array_index(part->sums, WpDigestSums, i);
		add_block(blocks, sums->network_ns, sums->n_network);
	}
	(void)operation;
	(void)levels;
}

/* Calls that would have ended by the rates of both sides against those that did: by this captures can be told apart. */
static void
fill_work(const WpDigestOperation *operation, const WpDigestPart *part, const Levels *levels,
	  GArray *blocks)
{
	guint n = part ? (operation->blocks->len + WP_DIGEST_GROUP - 1) / WP_DIGEST_GROUP : 0;
	for (guint i = 0; i < n; i++) {
		WpShiftBlock block = { 0, 0 };
		for (guint k = 0; k < WP_DIGEST_LEVELS; k++) {
			const WpDigestStratum *stratum = &part->strata[i * WP_DIGEST_LEVELS + k];
			if (!(levels->rate[k] > 0))
				continue;
			block.num += (double)stratum->self_ns * levels->rate[k];
			block.den += (double)stratum->ended;
		}
		g_array_append_val(blocks, block);
	}
}

/* Calls that ended, and self time, by how many others were in hand. */
typedef struct {
	double ended[WP_DIGEST_LEVELS];
	double self_ns[WP_DIGEST_LEVELS];
} Strata;

static void
add_group(Strata *strata, const WpDigestPart *part, guint group, double times)
{
	for (guint k = 0; k < WP_DIGEST_LEVELS; k++) {
		const WpDigestStratum *stratum = &part->strata[group * WP_DIGEST_LEVELS + k];
		strata->ended[k] += times * (double)stratum->ended;
		strata->self_ns[k] += times * (double)stratum->self_ns;
	}
}

/*
 * Logarithm of how much longer calls take after than before, with as much in hand: the ratio of the rates at which they
 * end, each level counted by what both sides have of it (Mantel and Haenszel, "Statistical aspects of the analysis of
 * data from retrospective studies of disease", 1959, in the form for rates: Rothman and Boice, 1979). NAN where no
 * level is on both.
 */
static double
common_change(const Strata *before, const Strata *after)
{
	double a = 0, b = 0;
	for (guint k = 0; k < WP_DIGEST_LEVELS; k++) {
		double both = before->self_ns[k] + after->self_ns[k];
		if (!(both > 0))
			continue;
		a += before->self_ns[k] * after->ended[k] / both;
		b += after->self_ns[k] * before->ended[k] / both;
	}
	return a > 0 && b > 0 ? log(b / a) : NAN;
}

static guint
n_groups(const WpCaptures *captures, guint i)
{
	if (!captures->operations[i] || !captures->parts[i])
		return 0;
	return (captures->operations[i]->blocks->len + WP_DIGEST_GROUP - 1) / WP_DIGEST_GROUP;
}

/* FALSE where a side hardly ever has as much in hand as the other at some time. */
static gboolean
sum_strata(const WpCaptures *captures, Strata sides[2])
{
	double all[2] = { 0, 0 }, common[2] = { 0, 0 };
	for (guint i = 0; i < captures->n; i++)
		for (guint k = 0; k < n_groups(captures, i); k++)
			add_group(&sides[i >= captures->n_before], captures->parts[i], k, 1);
	for (guint k = 0; k < WP_DIGEST_LEVELS; k++)
		for (guint side = 0; side < 2; side++) {
			all[side] += sides[side].self_ns[k];
			if (sides[!side].self_ns[k] > 0)
				common[side] += sides[side].self_ns[k];
		}
	return common[0] > MIN_COMMON * all[0] && common[1] > MIN_COMMON * all[1];
}

/* Calls a side from which on work is taken to be apart: what ties calls over a while is not seen in a short capture. */
#define MIN_APART 1000

static WpShiftBond
find_bond(const WpCaptures *captures, WpShiftBond bond)
{
	guint64 calls[2] = { 0, 0 };
	for (guint i = 0; captures->parts && i < captures->n; i++)
		if (captures->parts[i])
			calls[i >= captures->n_before] += captures->parts[i]->n_timed;
	return MIN(calls[0], calls[1]) < MIN_APART ? WP_SHIFT_TIED : bond;
}

/* By leaving out each block in turn (the jackknife). */
static WpShift
measure_work(const WpCaptures *captures, Strata sides[2])
{
	g_autoptr(GPtrArray) influences =
		g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
	double change = common_change(&sides[0], &sides[1]);
	for (guint i = 0; i < captures->n; i++) {
		Strata *own = &sides[i >= captures->n_before];
		if (!n_groups(captures, i))
			continue;
		GArray *list = g_array_new(FALSE, FALSE, sizeof(double));
		g_ptr_array_add(influences, list);
		for (guint k = 0; k < n_groups(captures, i); k++) {
			add_group(own, captures->parts[i], k, -1);
			double without = common_change(&sides[0], &sides[1]);
			add_group(own, captures->parts[i], k, 1);
			if (isnan(without))
				return (WpShift){ .doubt = WP_SHIFT_FEW, .df = 1 };
			double influence = change - without;
			g_array_append_val(list, influence);
		}
	}
	return wp_shift_by_influence(change, find_bond(captures, WP_SHIFT_APART),
				     (GArray *const *)(void *)influences->pdata, influences->len);
}

static const struct {
	WpShiftScale scale;
	WpShiftBond bond; /* where there are enough calls to see otherwise */
	FillFunc fill;
} kinds[WP_N_TESTS] = {
	[WP_TEST_LATENCY] = { WP_SHIFT_RATIO, WP_SHIFT_TIED, fill_latency },
	[WP_TEST_WORK] = { WP_SHIFT_RATIO, WP_SHIFT_APART, fill_work },
	[WP_TEST_SELF] = { WP_SHIFT_RATIO, WP_SHIFT_TIED, fill_self },
	[WP_TEST_CALLS] = { WP_SHIFT_DIFFERENCE, WP_SHIFT_TIED, fill_calls },
	[WP_TEST_NETWORK] = { WP_SHIFT_RATIO, WP_SHIFT_TIED, fill_network },
};

static WpShift
measure(const WpCaptures *captures, WpTestKind kind, FillFunc fill, const Levels *levels)
{
	g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
	g_autofree WpShiftSeries *series = g_new0(WpShiftSeries, captures->n + 1);
	WpShiftSide sides[2] = { { series, 0 }, { NULL, 0 } };
	guint n = 0;

	for (guint i = 0; i < captures->n; i++) {
		if (i == captures->n_before) {
			sides[0].n = n;
			sides[1].series = series + n;
		}
		if (!captures->operations[i])
			continue;
		GArray *blocks = g_array_new(FALSE, FALSE, sizeof(WpShiftBlock));
		g_ptr_array_add(all, blocks);
		fill(captures->operations[i], captures->parts ? captures->parts[i] : NULL, levels,
		     blocks);
		if (blocks->len)
			series[n++] = (WpShiftSeries){ (const WpShiftBlock *)(void *)blocks->data,
						       blocks->len };
	}
	sides[1].n = n - sides[0].n;
	return wp_shift_measure(kinds[kind].scale, find_bond(captures, kinds[kind].bond), &sides[0],
				&sides[1]);
}

/* How fast calls end on both sides, a mean for each level; 0: not on both. */
static Levels
find_levels(const Strata sides[2])
{
	Levels levels = { { 0 } };
	for (guint k = 0; k < WP_DIGEST_LEVELS; k++)
		if (sides[0].self_ns[k] > 0 && sides[1].self_ns[k] > 0)
			levels.rate[k] = (sides[0].ended[k] / sides[0].self_ns[k] +
					  sides[1].ended[k] / sides[1].self_ns[k]) /
					 2;
	return levels;
}

WpShift
wp_compare_measure(const WpCaptures *captures, WpTestKind kind, gboolean in_turn)
{
	Strata sides[2] = { { { 0 }, { 0 } }, { { 0 }, { 0 } } };
	if (kind != WP_TEST_WORK)
		return measure(captures, kind, kinds[kind].fill, NULL);
	if (in_turn)
		return measure(captures, kind, fill_served, NULL);
	if (!sum_strata(captures, sides))
		return (WpShift){ .doubt = WP_SHIFT_NOTHING, .df = 1 };
	/* Where a queue lasts as long as the capture, how many others a call met does not say all of what it met. */
	gboolean hangs = measure(captures, WP_TEST_SELF, fill_self, NULL).hangs;
	Levels levels = find_levels(sides);
	WpShift shift = measure(captures, kind, fill_work, &levels);
	if (!shift.by_captures)
		shift = measure_work(captures, sides);
	if (hangs && shift.doubt != WP_SHIFT_FEW && !wp_shift_is_manifest(&shift))
		return (WpShift){ .doubt = WP_SHIFT_HANGS, .df = 1 };
	return shift;
}

void
wp_compare_split(const WpCaptures *captures, WpComparedPart *part)
{
	WpShift self = wp_compare_measure(captures, WP_TEST_SELF, FALSE);
	WpShift work = wp_compare_measure(captures, WP_TEST_WORK, part->in_turn);

	part->self_ns[0] = self.before;
	part->self_ns[1] = self.after;
	if (!(self.before > 0) || !(self.after > 0) || work.doubt == WP_SHIFT_NOTHING)
		return;
	part->work_ns = part->in_turn ? work.after - work.before : self.before * expm1(work.change);
	part->wait_ns = self.after - self.before - part->work_ns;
}

/* --- verdicts --- */

/*
 * How much of the risk of a test is that of calling slower what is not. By logarithms a tenth less is further away
 * than a tenth more: so divided, both are found about as often where captures are just long enough for it.
 */
#define RISK_OF_SLOWER 0.75

static double
risk_of_more(WpTestKind kind)
{
	return kind == WP_TEST_CALLS ? 0.5 : RISK_OF_SLOWER;
}

static double
relative(WpTestKind kind, double change)
{
	return kind == WP_TEST_CALLS ? change : expm1(change);
}

void
wp_test_init(WpTest *test, WpTestKind kind, const WpShift *shift)
{
	*test = (WpTest){ .kind = kind, .is_tested = TRUE, .weight = 1, .shift = *shift };
	double risk = shift->change > 0 ? risk_of_more(kind) : 1 - risk_of_more(kind);
	test->chance = test->adjusted = MIN(wp_shift_chance(shift) / (2 * risk), 1);
	test->change = relative(kind, shift->change);
}

/* By how much of the risk a test has: the least first. */
static int
compare_chances(const void *a, const void *b)
{
	const WpTest *left = *(WpTest *const *)a, *right = *(WpTest *const *)b;
	double l = left->chance / left->weight, r = right->chance / right->weight;
	return l < r ? -1 : l > r;
}

/* Numbers that are the same in each block, on both sides, are no test. */
static gboolean
is_random(const WpTest *test)
{
	return test->shift.doubt == WP_SHIFT_CLEAR &&
	       (test->shift.error > 0 || test->shift.change != 0);
}

/* TRUE where the best estimate is as much as counts. CALLS: of those before, or where there were few, of requests. */
static gboolean
counts(const WpTest *test, const WpCompareOptions *options)
{
	double size = fabs(test->change);
	if (test->kind == WP_TEST_CALLS)
		return size >= options->min_change * CLAMP(test->shift.before, 0.1, 1e9);
	return MAX(test->change, -test->change / (1 + test->change)) >= options->min_change;
}

static void
judge(WpTest *test, double risk, const WpCompareOptions *options)
{
	static const WpWhy whys[] = { [WP_SHIFT_NOTHING] = WP_WHY_NOTHING,
				      [WP_SHIFT_FEW] = WP_WHY_FEW,
				      [WP_SHIFT_HANGS] = WP_WHY_HANGS };
	double low, high, unused, more = 2 * risk * risk_of_more(test->kind);
	wp_shift_interval(&test->shift, more, &low, &unused);
	wp_shift_interval(&test->shift, 2 * risk - more, &unused, &high);
	test->low = relative(test->kind, low);
	test->high = relative(test->kind, high);
	test->detectable = relative(test->kind, wp_shift_detectable(&test->shift, more));
	double scale = test->kind == WP_TEST_CALLS ? MAX(test->shift.before, 1) : 1;

	test->verdict = WP_VERDICT_INCONCLUSIVE;
	if (test->shift.doubt != WP_SHIFT_CLEAR)
		test->why = whys[test->shift.doubt];
	else if (test->adjusted <= options->risk && counts(test, options))
		test->verdict = WP_VERDICT_CHANGED;
	else if (test->chance <= options->risk && counts(test, options))
		test->why = WP_WHY_LIKELY;
	else if (isinf(test->shift.error))
		test->why = WP_WHY_NOTHING;
	else if (test->detectable > options->resolution * scale)
		test->why = WP_WHY_COARSE;
	else
		test->verdict = WP_VERDICT_SAME;
	if (test->verdict == WP_VERDICT_SAME && test->adjusted <= options->risk)
		test->why = WP_WHY_SMALL;
}

/* That nothing can be said is seen in what is tested: others do not gain by it. */
static gboolean
keeps_risk(const WpTest *test)
{
	return is_random(test) || test->shift.doubt == WP_SHIFT_HANGS;
}

void
wp_tests_judge(WpTest *const *tests, guint n, const WpCompareOptions *options)
{
	g_autofree WpTest **order = g_new(WpTest *, n + 1);
	guint n_random = 0;
	double least = 0, weights = 0;
	for (guint i = 0; i < n; i++) {
		if (is_random(tests[i]))
			order[n_random++] = tests[i];
		if (keeps_risk(tests[i]))
			weights += tests[i]->weight;
	}
	qsort(order, n_random, sizeof *order, compare_chances);
	double left = weights;
	for (guint i = 0; i < n_random; i++) {
		least = MAX(least, MIN(order[i]->chance * left / order[i]->weight, 1));
		order[i]->adjusted = least;
		left -= order[i]->weight;
	}
	for (guint i = 0; i < n; i++)
		judge(tests[i], options->risk * tests[i]->weight / MAX(weights, tests[i]->weight),
		      options);
}

gboolean
wp_test_is_worse(const WpTest *test)
{
	return test->verdict == WP_VERDICT_CHANGED && test->change > 0;
}
