/* Problems of the nesting engine, with their true answer. */
#include "tests/support/problem.h"

#include <check.h>
#include <string.h>

WpNestProblem *
wp_test_problem(const WpTree *tree, const char *node, const WpNestOptions *options)
{
	const WpSpans *spans = wp_resolved_spans(tree->resolved);
	g_autoptr(GArray) incoming = g_array_new(FALSE, FALSE, sizeof(guint32));
	g_autoptr(GArray) outgoing = g_array_new(FALSE, FALSE, sizeof(guint32));
	g_autoptr(WpLinks) truth = wp_tree_links(tree);
	g_autofree guint32 *number_of = g_new0(guint32, spans->n);

	for (guint32 i = 0; i < spans->n; i++) {
		const WpSpan *span = &spans->spans[i];
		if (strcmp(wp_resolved_node_name(tree->resolved, span->callee), node) == 0)
			g_array_append_val(incoming, i);
		if (strcmp(wp_resolved_node_name(tree->resolved, span->caller), node) == 0)
			g_array_append_val(outgoing, i);
	}
	const WpNestHost host = { .incoming = (const guint32 *)(const void *)incoming->data,
				  .n_incoming = incoming->len,
				  .outgoing = (const guint32 *)(const void *)outgoing->data,
				  .n_outgoing = outgoing->len };
	WpNestProblem *problem = wp_nest_problem_new(tree->resolved, &host, options);
	for (guint32 p = 0; p < problem->n_parents; p++)
		number_of[problem->parents[p].span] = p;
	for (guint32 c = 0; c < problem->n_children; c++) {
		const WpNestChild *child = &problem->children[c];
		guint32 parent = truth->links[child->span].parent;
		ck_assert_uint_ne(parent, WP_NO_SPAN);
		problem->bundles[child->bundle].parent = number_of[parent];
	}
	wp_nest_hang_children(problem, 0, problem->n_parents);
	return problem;
}

char *
wp_test_children_text(const guint32 *children, guint32 n)
{
	GString *text = g_string_new(NULL);

	for (guint32 i = 0; i < n; i++)
		g_string_append_printf(text, "%s%u", i ? " " : "", children[i]);
	return g_string_free(text, FALSE);
}
