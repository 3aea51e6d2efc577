/*
 * Distances between chains. Rows with numbers for frames are the examples of Lambert's thesis: its table 3.5
 * (page 59), and its stacks of figure 3-12 (page 55) computed by hand.
 */
#include "infer/chain-metric.h"

#include <string.h>

#include "tests/support/suite.h"

#define MAX_FRAMES 16

/* "fgh": a frame a letter, which differs from others in its operation. */
static guint
frames(const char *text, WpChainFrame *out)
{
	guint n = (guint)strlen(text);
	memset(out, 0, n * sizeof *out);
	for (guint i = 0; i < n; i++)
		out[i].levels[WP_FRAME_OPERATION] = (guint32)text[i];
	return n;
}

static double
distance(const char *metric, const char *a, const char *b)
{
	WpChainFrame left[MAX_FRAMES], right[MAX_FRAMES];
	guint n_left = frames(a, left), n_right = frames(b, right);
	return wp_chain_distance(wp_chain_metric_by_name(metric), left, n_left, right, n_right);
}

START_TEST(examples_have_their_distances)
{
	static const char *const names[] = { "lev", "end", "end2", "begin", "begin2", "gap" };
	static const struct {
		const char *a, *b;
		double distances[6];
	} rows[] = {
		{ "12345", "62345", { 1, 6, 26, 1, 1, 1 } },
		{ "12345", "12346", { 1, 2, 2, 5, 17, 1 } },
		{ "12345", "712345", { 1, 7, 37, 1, 1, 3 } },
		{ "fghi", "fghj", { 1, 2, 2, 4, 10, 1 } },
		{ "fghi", "kjhgf", { 4, 14.5, 39.75, 11.5, 23.25, 6 } },
		{ "fghj", "kjhgf", { 4, 14.5, 39.75, 11.5, 23.25, 6 } },
		{ "fghi", "fghfgh", { 3, 8, 12, 10, 18, 5 } },
		{ "kjhgf", "fghfgh", { 4, 18, 64.5, 12.5, 34, 6 } },
		/* What is missing whole: 3 frames; the ways to the end are 3, 2, 1, those to the root 0, 1, 2. */
		{ "abc", "", { 3, 9, 17, 6, 8, 5 } },
		{ "", "", { 0, 0, 0, 0, 0, 0 } },
		{ "abc", "abc", { 0, 0, 0, 0, 0, 0 } },
		/* Two gaps of one frame, and one of two. Where it is dear to miss a frame, a change is cheaper:
		   begin2: a, b missing, c to b, d to c: 1 + 2 + 2 + 5; a, b missing, c to a: 1 + 2 + 2;
		   end2: b to d, c, d missing: 5 + 5 + 2. All rows are the least of all alignments, each priced by itself. */
		{ "abcd", "bc", { 2, 7, 19, 5, 10, 6 } },
		{ "abcd", "ad", { 2, 7, 12, 5, 5, 4 } },
	};

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
		for (gsize j = 0; j < G_N_ELEMENTS(names); j++) {
			double there = distance(names[j], rows[i].a, rows[i].b);
			ck_assert_msg(there == rows[i].distances[j], "%s: %s %s: %g, not %g",
				      names[j], rows[i].a, rows[i].b, there, rows[i].distances[j]);
			ck_assert_double_eq(distance(names[j], rows[i].b, rows[i].a), there);
		}
}
END_TEST

/* Chains of frames "role.service.operation.time". */
START_TEST(levels_have_their_costs)
{
	static const struct {
		const char *why;
		guint n_a, n_b;
		WpChainFrame a[3], b[3];
		double begin, middle;
	} rows[] = {
		{ "another role",
		  1,
		  1,
		  { { { 1, 1, 1, 1 } } },
		  { { { 2, 2, 2, 2 } } },
		  1000,
		  1000 },
		{ "another service",
		  1,
		  1,
		  { { { 1, 1, 1, 1 } } },
		  { { { 1, 2, 2, 2 } } },
		  100,
		  100 },
		{ "another operation",
		  1,
		  1,
		  { { { 1, 1, 1, 1 } } },
		  { { { 1, 1, 2, 2 } } },
		  10,
		  10 },
		{ "another time", 1, 1, { { { 1, 1, 1, 1 } } }, { { { 1, 1, 1, 2 } } }, 1, 1 },
		/* At 1 of 2: 1 + 1 from the root; the peak of two frames is 1 there. */
		{ "a last operation",
		  2,
		  2,
		  { { { 1, 1, 1, 1 } }, { { 2, 1, 1, 1 } } },
		  { { { 1, 1, 1, 1 } }, { { 2, 1, 2, 1 } } },
		  20,
		  20 },
		/* At 1 of 3, which is 1 from the root, and whose peak is 1.5 - 0.5. */
		{ "one in the middle",
		  3,
		  3,
		  { { { 1, 1, 1, 1 } }, { { 2, 1, 1, 1 } }, { { 3, 1, 1, 1 } } },
		  { { { 1, 1, 1, 1 } }, { { 2, 1, 1, 2 } }, { { 3, 1, 1, 1 } } },
		  2,
		  2 },
		/* At 2 of 3: 1 + 2 from the root, the peak is 1.5 - 0.5. */
		{ "one at the end",
		  3,
		  3,
		  { { { 1, 1, 1, 1 } }, { { 2, 1, 1, 1 } }, { { 3, 1, 1, 1 } } },
		  { { { 1, 1, 1, 1 } }, { { 2, 1, 1, 1 } }, { { 3, 1, 1, 2 } } },
		  3,
		  2 },
		{ "one less at the end",
		  2,
		  1,
		  { { { 1, 1, 1, 1 } }, { { 2, 1, 1, 1 } } },
		  { { { 1, 1, 1, 1 } } },
		  2000,
		  2000 },
		{ "nothing there", 1, 0, { { { 1, 1, 1, 1 } } }, { { { 0 } } }, 1000, 1000 },
	};

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		double begin = wp_chain_distance(wp_chain_metric_by_name("hier-begin"), rows[i].a,
						 rows[i].n_a, rows[i].b, rows[i].n_b);
		double middle = wp_chain_distance(wp_chain_metric_by_name("hier-middle"), rows[i].a,
						  rows[i].n_a, rows[i].b, rows[i].n_b);
		ck_assert_msg(begin == rows[i].begin, "%s: %g", rows[i].why, begin);
		ck_assert_msg(middle == rows[i].middle, "%s: %g", rows[i].why, middle);
	}
}
END_TEST

START_TEST(names_are_known)
{
	for (guint i = 0; wp_chain_metrics[i]; i++)
		ck_assert_ptr_eq(wp_chain_metric_by_name(wp_chain_metrics[i]->name),
				 wp_chain_metrics[i]);
	ck_assert_ptr_null(wp_chain_metric_by_name("levenshtein"));
}
END_TEST

WP_SUITE("chain-metric", examples_have_their_distances, levels_have_their_costs, names_are_known)
