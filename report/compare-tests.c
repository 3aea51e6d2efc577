/* What is measured: sums of blocks to shifts, shifts to verdicts. */
#include "report/compare-private.h"

#include <math.h>
#include <stdlib.h>

/* Calls of a side that met as many others as some of the other side did: with fewer, work cannot be compared. */
#define MIN_COMMON 0.05

typedef struct {
	double mean[WP_DIGEST_LEVELS]; /* self time; 0: not on both sides */
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

/* Self time against what calls that met as many others take on both sides: by this captures can be told apart. */
static void
fill_work(const WpDigestOperation *operation, const WpDigestPart *part, const Levels *levels,
	  GArray *blocks)
{
	guint n = part ? (operation->blocks->len + WP_DIGEST_GROUP - 1) / WP_DIGEST_GROUP : 0;
	for (guint i = 0; i < n; i++) {
		WpShiftBlock block = { 0, 0 };
		for (guint k = 0; k < WP_DIGEST_LEVELS; k++) {
			const WpDigestStratum *stratum = &part->strata[i * WP_DIGEST_LEVELS + k];
			if (!(levels->mean[k] > 0))
				continue;
			block.num += (double)stratum->self_ns;
			block.den += (double)stratum->calls * levels->mean[k];
		}
		g_array_append_val(blocks, block);
	}
}

/* Calls and their self time, by how many others they met. */
typedef struct {
	double calls[WP_DIGEST_LEVELS];
	double self_ns[WP_DIGEST_LEVELS];
} Strata;

static void
add_group(Strata *strata, const WpDigestPart *part, guint group, double times)
{
	for (guint k = 0; k < WP_DIGEST_LEVELS; k++) {
		const WpDigestStratum *stratum = &part->strata[group * WP_DIGEST_LEVELS + k];
		strata->calls[k] += times * (double)stratum->calls;
		strata->self_ns[k] += times * (double)stratum->self_ns;
	}
}

/*
 * Logarithm of how much longer calls take after than before, as many others met: each level counts by what both sides
 * have of it (Mantel and Haenszel, "Statistical aspects of the analysis of data from retrospective studies of
 * disease", 1959, in the form for rates). NAN where no level is on both.
 */
static double
common_change(const Strata *before, const Strata *after)
{
	double a = 0, b = 0;
	for (guint k = 0; k < WP_DIGEST_LEVELS; k++) {
		double both = before->calls[k] + after->calls[k];
		if (!(both > 0))
			continue;
		a += before->self_ns[k] * after->calls[k] / both;
		b += after->self_ns[k] * before->calls[k] / both;
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

/* FALSE where hardly any calls of a side met as many others as some on the other. */
static gboolean
sum_strata(const WpCaptures *captures, Strata sides[2])
{
	double all[2] = { 0, 0 }, common[2] = { 0, 0 };
	for (guint i = 0; i < captures->n; i++)
		for (guint k = 0; k < n_groups(captures, i); k++)
			add_group(&sides[i >= captures->n_before], captures->parts[i], k, 1);
	for (guint k = 0; k < WP_DIGEST_LEVELS; k++)
		for (guint side = 0; side < 2; side++) {
			all[side] += sides[side].calls[k];
			if (sides[!side].calls[k] > 0)
				common[side] += sides[side].calls[k];
		}
	return common[0] > MIN_COMMON * all[0] && common[1] > MIN_COMMON * all[1];
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
	return wp_shift_by_influence(change, (GArray *const *)(void *)influences->pdata,
				     influences->len);
}

static const struct {
	WpShiftScale scale;
	FillFunc fill;
} kinds[WP_N_TESTS] = {
	[WP_TEST_LATENCY] = { WP_SHIFT_RATIO, fill_latency },
	[WP_TEST_WORK] = { WP_SHIFT_RATIO, fill_work },
	[WP_TEST_SELF] = { WP_SHIFT_RATIO, fill_self },
	[WP_TEST_CALLS] = { WP_SHIFT_DIFFERENCE, fill_calls },
	[WP_TEST_NETWORK] = { WP_SHIFT_RATIO, fill_network },
};

static WpShift
measure(const WpCaptures *captures, WpShiftScale scale, FillFunc fill, const Levels *levels)
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
	return wp_shift_measure(scale, &sides[0], &sides[1]);
}

/* What calls take on both sides, a mean for each number of others that they met; 0: not on both. */
static Levels
find_levels(const Strata sides[2])
{
	Levels levels = { { 0 } };
	for (guint k = 0; k < WP_DIGEST_LEVELS; k++)
		for (guint side = 0; side < 2; side++)
			if (sides[0].calls[k] > 0 && sides[1].calls[k] > 0)
				levels.mean[k] += sides[side].self_ns[k] / sides[side].calls[k] / 2;
	return levels;
}

WpShift
wp_compare_measure(const WpCaptures *captures, WpTestKind kind, gboolean in_turn)
{
	Strata sides[2] = { { { 0 }, { 0 } }, { { 0 }, { 0 } } };
	if (kind != WP_TEST_WORK)
		return measure(captures, kinds[kind].scale, kinds[kind].fill, NULL);
	if (in_turn)
		return measure(captures, WP_SHIFT_RATIO, fill_served, NULL);
	if (!sum_strata(captures, sides))
		return (WpShift){ .doubt = WP_SHIFT_NOTHING, .df = 1 };
	/* Where a queue lasts as long as the capture, how many others a call met does not say all of what it met. */
	if (measure(captures, WP_SHIFT_RATIO, fill_self, NULL).hangs)
		return (WpShift){ .doubt = WP_SHIFT_HANGS, .df = 1 };
	Levels levels = find_levels(sides);
	WpShift shift = measure(captures, WP_SHIFT_RATIO, fill_work, &levels);
	return shift.by_captures ? shift : measure_work(captures, sides);
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

static double
relative(WpTestKind kind, double change)
{
	return kind == WP_TEST_CALLS ? change : expm1(change);
}

void
wp_test_init(WpTest *test, WpTestKind kind, const WpShift *shift)
{
	*test = (WpTest){ .kind = kind, .is_tested = TRUE, .shift = *shift };
	test->chance = test->adjusted = wp_shift_chance(shift);
	test->change = relative(kind, shift->change);
}

static int
compare_chances(const void *a, const void *b)
{
	const WpTest *left = *(WpTest *const *)a, *right = *(WpTest *const *)b;
	return left->chance < right->chance ? -1 : left->chance > right->chance;
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
	double low, high;
	wp_shift_interval(&test->shift, risk, &low, &high);
	test->low = relative(test->kind, low);
	test->high = relative(test->kind, high);
	test->detectable = relative(test->kind, wp_shift_detectable(&test->shift, risk));
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

void
wp_tests_judge(WpTest *const *tests, guint n, const WpCompareOptions *options)
{
	g_autofree WpTest **order = g_new(WpTest *, n + 1);
	guint n_random = 0;
	double least = 0;
	for (guint i = 0; i < n; i++)
		if (is_random(tests[i]))
			order[n_random++] = tests[i];
	qsort(order, n_random, sizeof *order, compare_chances);
	for (guint i = 0; i < n_random; i++) {
		least = MAX(least, MIN(order[i]->chance * (n_random - i), 1));
		order[i]->adjusted = least;
	}
	for (guint i = 0; i < n; i++)
		judge(tests[i], options->risk / MAX(n_random, 1), options);
}

gboolean
wp_test_is_worse(const WpTest *test)
{
	return test->verdict == WP_VERDICT_CHANGED && test->change > 0;
}
