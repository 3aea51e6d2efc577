/* Paths: nesting there and back, equal forms, self times. */
#include "infer/path.h"

#include "infer/engine-scoreboard.h"
#include "tests/support/suite.h"
#include "tests/support/tree.h"

/* Tree text -> records -> links -> the same tree, where nesting leaves no doubt. */
START_TEST(there_and_back)
{
	static const char *const trees[] = {
		"",
		"client>web[0-100]",
		"client>web[0-100](auth[10-20],db[30-90](disk[40-50]))",
		"client>web/GET[0-100](db/SELECT[10-20],db/UPDATE[15-90]) client>web/GET[200-300]",
		/* children at the very ends of their parent */
		"client>web[0-100](auth[0-50],db[50-100](disk[50-100](raid[50-100])))",
		/* a node that calls itself */
		"client>web[0-100](web[10-90](web[20-80]))",
		/* two at once, told apart by the node */
		"client>a[0-100](c[10-50]) client>b[1-101](d[12-52])",
	};
	WpScoreboardOptions options;
	wp_engine_scoreboard.options_init(&options);
	for (gsize i = 0; i < G_N_ELEMENTS(trees); i++) {
		g_autoptr(WpTree) tree = wp_tree_new(trees[i]);
		g_autoptr(WpLinks) links =
			wp_scoreboard_link(wp_resolved_spans(tree->resolved), &options, NULL);
		g_autofree char *text = wp_tree_text(tree->resolved, links);
		ck_assert_str_eq(text, trees[i]);
	}
}
END_TEST

/* Forms of the roots of each row, numbered from 'a' by first use. */
START_TEST(equal_paths_have_one_form)
{
	static const struct {
		const char *why;
		const char *tree;
		const char *forms;
	} rows[] = {
		{ "times do not matter", "c>w[0-9](d[1-2]) c>w[20-50](d[40-50])", "aa" },
		{ "nodes do", "c>w[0-9](d[1-2]) c>w[20-50](e[40-50])", "ab" },
		{ "labels do", "c>w/x[0-9] c>w/y[10-19] c>w/x[20-29] c>w[30-39]", "abac" },
		{ "order of calls one after another does",
		  "c>w[0-9](d[1-2],e[3-4]) c>w[10-19](e[11-12],d[13-14])", "ab" },
		{ "order of parallel calls does not",
		  "c>w[0-9](d[1-4],e[3-6]) c>w[10-19](e[11-14],d[13-16])", "aa" },
		{ "nor of calls at one instant",
		  "c>w[0-9](d[1-1],e[1-6]) c>w[10-19](e[11-14],d[11-11])", "aa" },
		{ "parallel through a third",
		  "c>w[0-9](d[1-4],f[3-8],e[5-6]) c>w[10-19](e[11-12],f[11-18],d[13-16])", "aa" },
		{ "equal siblings differ below",
		  "c>w[0-9](d[1-5](x[2-3]),d[2-5](y[3-4])) "
		  "c>w[10-19](d[11-15](y[12-13]),d[12-15](x[13-14]))",
		  "aa" },
		{ "what hangs where matters",
		  "c>w[0-9](d[1-5](x[2-3])) c>w[10-19](d[11-12],x[13-14])", "ab" },
		{ "how many matters", "c>w[0-9](d[1-2],d[3-4]) c>w[10-19](d[11-12])", "ab" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpTree) tree = wp_tree_new(rows[i].tree);
		g_autoptr(WpLinks) links = wp_tree_links(tree);
		g_autoptr(WpPaths) paths =
			wp_paths_new(wp_resolved_spans(tree->resolved), links, NULL, NULL);
		g_autoptr(GString) forms = g_string_new(NULL);
		g_autoptr(GArray) seen = g_array_new(FALSE, FALSE, sizeof(guint32));
		for (guint32 r = 0; r < paths->n_roots; r++) {
			guint32 form = paths->forms[paths->roots[r]];
			guint k = 0;
			while (k < seen->len && g_array_index(seen, guint32, k) != form)
				k++;
			if (k == seen->len)
				g_array_append_val(seen, form);
			g_string_append_c(forms, (char)('a' + k));
		}
		ck_assert_msg(g_str_equal(forms->str, rows[i].forms), "%s: %s, not %s", rows[i].why,
			      forms->str, rows[i].forms);
	}
}
END_TEST

/* Self time of the first call. */
START_TEST(self_time_is_what_no_child_covers)
{
	static const struct {
		const char *tree;
		gint64 self_us;
	} rows[] = {
		{ "c>w[0-100]", 100 },
		{ "c>w[0-100](d[10-20],e[30-60])", 60 },
		/*  0....10....20....30....40....50
		 *  |---------------- w ----------|
		 *        |--- d ---|
		 *              |--- e ---|         */
		{ "c>w[0-50](d[10-30],e[20-40])", 20 },
		{ "c>w[0-50](d[10-40],e[20-30])", 20 },
		{ "c>w[0-50](d[0-50])", 0 },
		{ "c>w[0-50](d[40-90])", 40 },           /* outlives its parent: clipped */
		{ "c>w[0-50](d[60-90])", 50 },           /* begins after it */
		{ "c>w[10-50](d[0-20])", 30 },           /* begins before it (skew) */
		{ "c>w[0-50](d[10-20](x[10-20]))", 40 }, /* grandchildren are the child's affair */
		{ "c>w[0-50](d[10-])", 50 },             /* without a return it covers nothing */
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpTree) tree = wp_tree_new(rows[i].tree);
		g_autoptr(WpLinks) links = wp_tree_links(tree);
		g_autoptr(WpPaths) paths =
			wp_paths_new(wp_resolved_spans(tree->resolved), links, NULL, NULL);
		ck_assert_int_eq(paths->self_ns[wp_tree_span(tree, 1)], rows[i].self_us * 1000);
	}
}
END_TEST

/* Set-up, unpaired and unseen roots begin no path; nothing below them is on one. */
START_TEST(what_is_on_a_path)
{
	g_autoptr(WpTree) tree =
		wp_tree_new("c>w[0-9](d[1-2]) c>w[10-](d[11-12]) c>w[20-29]^(d[21-22])"
			    " c>w[30] c>w[40-49](d[41-],e[42])");
	g_autoptr(WpLinks) links = wp_tree_links(tree);
	g_autoptr(WpPaths) paths =
		wp_paths_new(wp_resolved_spans(tree->resolved), links, NULL, NULL);
	static const guint64 on[] = { 1, 2, 8, 9, 10 };
	guint next = 0;

	ck_assert_uint_eq(paths->n_roots, 2);
	ck_assert_uint_eq(paths->n_on_paths, G_N_ELEMENTS(on));
	for (guint64 id = 1; id <= 10; id++) {
		gboolean expected = next < G_N_ELEMENTS(on) && on[next] == id;
		next += expected;
		ck_assert_int_eq(paths->forms[wp_tree_span(tree, id)] != WP_NO_FORM, expected);
	}
}
END_TEST

/* A chain of 200,000 spans, each inside the one before: no recursion, no stack. */
START_TEST(depth_is_no_danger)
{
	enum {
		N = 200000
	};
	g_autoptr(WpSpans) spans = g_new0(WpSpans, 1);
	g_autoptr(WpLinks) links = wp_links_new(N);
	g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(WpPathStep));

	spans->n = N;
	spans->spans = g_new0(WpSpan, N);
	for (guint32 i = 0; i < N; i++) {
		spans->spans[i].call_ns = i;
		spans->spans[i].return_ns = 2 * N - i;
		links->links[i].parent = i ? i - 1 : WP_NO_SPAN;
	}
	g_autoptr(WpPaths) paths = wp_paths_new(spans, links, NULL, NULL);
	ck_assert_uint_eq(paths->n_forms, N);
	wp_paths_walk(paths, 0, steps);
	ck_assert_uint_eq(steps->len, N);
	ck_assert_uint_eq(g_array_index(steps, WpPathStep, N - 1).depth, N - 1);
	ck_assert_int_eq(paths->self_ns[5], 2);
}
END_TEST

/* Many calls that make none themselves, and of which no two are alike. */
START_TEST(no_children_at_all)
{
	enum {
		N = 5000
	};
	g_autoptr(WpSpans) spans = g_new0(WpSpans, 1);
	g_autoptr(WpLinks) links = wp_links_new(N);

	spans->n = N;
	spans->spans = g_new0(WpSpan, N);
	for (guint32 i = 0; i < N; i++)
		spans->spans[i] = (WpSpan){ .callee = i, .call_ns = i, .return_ns = i + 1 };
	g_autoptr(WpPaths) paths = wp_paths_new(spans, links, NULL, NULL);
	ck_assert_uint_eq(paths->n_forms, N);
	ck_assert_uint_eq(paths->n_roots, N);
}
END_TEST

/* A cycle that slipped through: its spans are on no path, the rest is. */
START_TEST(cycles_are_not_followed)
{
	g_autoptr(WpTree) tree = wp_tree_new("a>b[0-9](a[0-9]) c>w[20-29]");
	g_autoptr(WpLinks) links = wp_tree_links(tree);
	links->links[0].parent = 1;
	g_autoptr(WpPaths) paths =
		wp_paths_new(wp_resolved_spans(tree->resolved), links, NULL, NULL);
	ck_assert_uint_eq(paths->n_roots, 1);
	ck_assert_uint_eq(paths->n_on_paths, 1);
}
END_TEST

WP_SUITE("path", there_and_back, equal_paths_have_one_form, self_time_is_what_no_child_covers,
	 what_is_on_a_path, depth_is_no_danger, no_children_at_all, cycles_are_not_followed)
