/* What is missing: counted, what the nesting engine makes of calls whose parent was lost, and holes in paths. */
#include "infer/missing.h"

#include <math.h>

#include "infer/engine-nesting.h"
#include "infer/holes.h"
#include "infer/pattern.h"
#include "infer/random.h"
#include "tests/support/suite.h"
#include "tests/support/tree.h"
#include "traces/degrade.h"

#define N_REQUESTS 600

/* (transfer full) A trace of N_REQUESTS: web calls auth, then db twice. */
static WpTrace *
make_trace(int between_us, GArray *parents)
{
	g_autoptr(GString) text = g_string_new(NULL);
	WpRandom64 random = { 4711 };
	double at_us = 1000;

	g_array_set_size(parents, 1);
	for (guint64 i = 0; i < N_REQUESTS; i++) {
		int t = (int)at_us;
		int jitter[4];
		for (int k = 0; k < 4; k++)
			jitter[k] = (int)wp_random64_below(&random, 30);
		g_string_append_printf(text, "client>web[%d-%d](auth[%d-%d],db[%d-%d],db[%d-%d]) ",
				       t, t + 960 + jitter[3], t + 100 + jitter[0], t + 300,
				       t + 340 + jitter[1], t + 550, t + 600 + jitter[2],
				       t + 850 + jitter[0]);
		for (guint64 k = 0; k < 4; k++) {
			guint64 parent = k ? 4 * i + 1 : 0;
			g_array_append_val(parents, parent);
		}
		at_us -= between_us * log(wp_random64_share(&random));
	}
	return wp_tree_trace(text->str);
}

/* (transfer full) TRACE without so many of its records. */
static WpTrace *
lose(const WpTrace *trace, double share)
{
	WpTrace *lossy = wp_trace_new(wp_trace_nodes(trace));
	g_auto(WpDegradeOptions) options;

	wp_degrade_options_init(&options);
	options.loss = share;
	g_autoptr(WpDegrade) degrade = wp_degrade_new(&options, wp_trace_sink(lossy));
	WpRecordSink *sink = wp_degrade_sink(degrade);
	ck_assert(wp_sink_begin(sink, wp_trace_nodes(trace), NULL));
	for (gsize i = 0; i < wp_trace_n_records(trace); i++)
		ck_assert(wp_sink_record(sink, &wp_trace_records(trace)[i], NULL, NULL));
	ck_assert(wp_sink_counters(sink, wp_trace_counters(trace), NULL));
	ck_assert(wp_sink_end(sink, NULL));
	return lossy;
}

static WpResolved *
resolve(const WpTrace *trace)
{
	WpResolveOptions options;
	wp_resolve_options_init(&options);
	return wp_resolve(trace, &options, NULL);
}

/* What is missing is found from what is left: within a quarter of the truth, and what may be open. */
START_TEST(share)
{
	static const double rows[] = { 0, .01, .05, .1, .2 };
	g_autoptr(GArray) parents = g_array_new(FALSE, TRUE, sizeof(guint64));
	g_autoptr(WpTrace) whole = make_trace(2000, parents);

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpTrace) trace = lose(whole, rows[i]);
		g_autoptr(WpResolved) resolved = resolve(trace);
		g_autoptr(WpMissing) missing = wp_missing_new(resolved);
		double n = (parents->len - 1) - (double)wp_resolved_spans(resolved)->n;
		ck_assert_msg(fabs(missing->all.n - n) <= n / 4 + 6, "%g: %g of %g", rows[i],
			      missing->all.n, n);
		ck_assert_double_eq_tol(missing->all.share, rows[i], .01 + rows[i] / 4);
		ck_assert_double_eq(wp_missing_of(missing, 1000).n, 0);
	}
}
END_TEST

/* Ends without the other where nothing was lost: what was open when the capture began or ended. */
START_TEST(cut)
{
	static const char *const rows[] = {
		"a>b[0-10]",     "a>b[0-10] a>b[20-]",   "a>b[0-] a>b[20-]",
		"a>b[5] a>b[7]", "a>b[0-10]^ a>b[20-]^",
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpTree) tree = wp_tree_new(rows[i]);
		g_autoptr(WpMissing) missing = wp_missing_new(tree->resolved);
		ck_assert_msg(missing->all.n == 0 && missing->all.share == 0, "%s", rows[i]);
	}
}
END_TEST

typedef struct {
	guint n_found;
	guint n_parents; /* calls that got a parent */
	guint n_right;
	double believed; /* ... of these */
} Judged;

static Judged
judge(const WpTrace *trace, const GArray *parents)
{
	g_autoptr(WpResolved) resolved = resolve(trace);
	const WpSpans *spans = wp_resolved_spans(resolved);
	g_autoptr(WpLinks) links = wp_engine_nesting.run(resolved, NULL, NULL, NULL);
	Judged judged = { 0 };

	for (guint32 i = 0; i < spans->n; i++) {
		const WpLink *link = &links->links[i];
		guint64 truth = g_array_index(parents, guint64, spans->spans[i].id);
		judged.n_found += truth != 0;
		if (link->parent == WP_NO_SPAN)
			continue;
		judged.n_parents++;
		judged.n_right += spans->spans[link->parent].id == truth;
		judged.believed += (double)link->probability;
	}
	return judged;
}

/*
 * A call whose parent was lost is not given to another; one whose parent lost its return keeps it; and what
 * is believed of links is true.
 */
START_TEST(lost_parents)
{
	static const struct {
		int between_us;
		double loss;
		double precision; /* at least */
	} rows[] = {
		{ 2000, 0, .98 }, { 2000, .01, .975 }, { 2000, .05, .965 }, { 2000, .1, .965 },
		{ 400, 0, .945 }, { 400, .01, .945 },  { 400, .05, .93 },   { 400, .1, .91 },
	};
	g_autoptr(GArray) parents = g_array_new(FALSE, TRUE, sizeof(guint64));

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i += (gsize)wp_test_number(1, 5)) {
		g_autoptr(WpTrace) whole = make_trace(rows[i].between_us, parents);
		g_autoptr(WpTrace) trace = lose(whole, rows[i].loss);
		Judged judged = judge(trace, parents);
		double precision = (double)judged.n_right / judged.n_parents;
		double surprise = judged.believed / judged.n_parents - precision;
		ck_assert_msg(precision >= rows[i].precision, "row %zu: %.4f", i, precision);
		ck_assert_msg(fabs(surprise) <= .03, "row %zu: believed %+.4f", i, surprise);
		ck_assert_msg(judged.n_right >= judged.n_found * (1 - 1.4 * rows[i].loss) * .95,
			      "row %zu: %u of %u", i, judged.n_right, judged.n_found);
	}
}
END_TEST

/*
 * Requests that lack a call are those of the one pattern that there is, and the self time of its root is what
 * it was.
 */
START_TEST(holes)
{
	static const double rows[] = { 0, .01, .05, .1 };
	g_autoptr(GArray) parents = g_array_new(FALSE, TRUE, sizeof(guint64));
	g_autoptr(WpTrace) whole = make_trace(5000, parents);

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i += (gsize)wp_test_number(1, 3)) {
		g_autoptr(WpTrace) trace = lose(whole, rows[i]);
		g_autoptr(WpResolved) resolved = resolve(trace);
		g_autoptr(WpLinks) links = wp_engine_nesting.run(resolved, NULL, NULL, NULL);
		g_autoptr(WpPatternSet) set = wp_patterns_new(resolved, links, NULL);
		const WpPattern *first = &set->patterns[0];
		double lost = 0, certain = 0;
		for (guint32 k = 0; k < first->n_nodes; k++)
			lost += (double)first->nodes[k].n_lost;
		for (guint32 k = 0; k < set->n_patterns; k++)
			certain += set->patterns[k].is_uncertain ? 0 : set->patterns[k].count;
		ck_assert_uint_eq(first->n_nodes, 4);
		ck_assert_uint_eq(first->nodes[0].n_lost, 0);
		ck_assert_double_ge(certain, .95 * set->n_roots);
		ck_assert_double_ge(first->count, .95 * set->n_roots);
		ck_assert_double_ge(lost, 1.5 * rows[i] * first->count);
		ck_assert_double_le(lost, 4.5 * rows[i] * first->count);
		ck_assert_double_eq_tol(wp_delay_mean_ns(first->nodes[0].self_time), 343e3, 12e3);
		ck_assert((set->n_estimated > 0) == (rows[i] > 0));
	}
}
END_TEST

/* What a path is without some of its calls. */
START_TEST(parts)
{
	static const struct {
		const char *part, *whole;
		const char *places; /* NULL: it is none */
	} rows[] = {
		{ "a>b[0-10]", "a>b[0-10]", "0" },
		{ "a>b[0-10]", "a>b[0-10](c[1-2])", "0" },
		{ "a>b[0-10](d[3-4])", "a>b[0-10](c[1-2],d[3-4])", "02" },
		{ "a>b[0-10](d[3-4])", "a>b[0-10](c[1-3](d[2-3]))", NULL },
		{ "a>b[0-10](c[1-2])", "a>b[0-10](d[3-4])", NULL },
		{ "a>b[0-10](c/x[1-2])", "a>b[0-10](c/y[1-2])", NULL },
		{ "a>b[0-10](c[1-2],c[3-4])", "a>b[0-10](c[1-2])", NULL },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *text = g_strdup_printf("%s %s", rows[i].part, rows[i].whole);
		g_autoptr(WpTree) tree = wp_tree_new(text);
		const WpSpans *spans = wp_resolved_spans(tree->resolved);
		g_autoptr(WpLinks) links = wp_tree_links(tree);
		g_autoptr(WpPaths) paths = wp_paths_new(spans, links, NULL, NULL);
		g_autoptr(GArray) part = g_array_new(FALSE, FALSE, sizeof(WpPathStep));
		g_autoptr(GArray) whole = g_array_new(FALSE, FALSE, sizeof(WpPathStep));
		guint32 places[8];
		wp_paths_walk(paths, paths->roots[0], part);
		wp_paths_walk(paths, paths->roots[1], whole);
		gboolean is_part = wp_holes_match(spans, part, whole, places);
		ck_assert_msg(is_part == (rows[i].places != NULL), "%s", text);
		for (guint k = 0; is_part && k < part->len; k++)
			ck_assert_uint_eq(places[k], (guint32)(rows[i].places[k] - '0'));
	}
}
END_TEST

WP_SUITE("missing", share, cut, lost_parents, holes, parts)
