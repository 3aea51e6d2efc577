/* Simulates scenarios for tests. */
#include "tests/support/simulated.h"

#include <check.h>

#include "infer/calibrate.h"
#include "infer/engine-nesting.h"
#include "traces/simulate.h"

static gboolean
take_truth(guint64 id, guint64 parent, const char *pattern, const char *fault, gpointer data,
	   GError **error)
{
	GArray *parents = data;
	(void)pattern;
	(void)fault;
	(void)error;
	if (id >= parents->len)
		g_array_set_size(parents, (guint)id + 1);
	g_array_index(parents, guint64, id) = parent;
	return TRUE;
}

WpTrace *
wp_test_simulate(const char *text, const char *name, GArray *out_parents)
{
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	WpTrace *trace = wp_trace_new(nodes);
	WpSimulateOptions options = { .truth = take_truth, .truth_data = out_parents };
	WpSimulateResult result;
	g_autoptr(GError) error = NULL;
	g_autoptr(WpScenario) scenario = wp_scenario_new(text, name, NULL, &error);

	ck_assert_msg(scenario != NULL, "%s", error ? error->message : "");
	ck_assert(wp_simulate(scenario, &options, nodes, wp_trace_sink(trace), &result, &error));
	wp_trace_freeze(trace);
	return trace;
}

double
wp_test_share_right(const WpResolved *resolved, const WpLinks *links, const GArray *parents)
{
	const WpSpans *spans = wp_resolved_spans(resolved);
	double n_true = 0, n_right = 0;

	for (guint32 i = 0; i < spans->n; i++) {
		guint64 parent = g_array_index(parents, guint64, spans->spans[i].id);
		guint32 linked = links->links[i].parent;
		n_true += parent != 0;
		n_right += parent != 0 && linked != WP_NO_SPAN && spans->spans[linked].id == parent;
	}
	return n_right / n_true;
}

WpTestInferred *
wp_test_inferred_new(const char *text, const char *name)
{
	WpTestInferred *inferred = g_new0(WpTestInferred, 1);

	wp_resolve_options_init(&inferred->options);
	inferred->parents = g_array_new(FALSE, TRUE, sizeof(guint64));
	inferred->trace = wp_test_simulate(text, name, inferred->parents);
	inferred->resolved = wp_resolve(inferred->trace, &inferred->options, NULL);
	inferred->links = wp_engine_nesting.run(inferred->resolved, NULL, NULL, NULL);
	return inferred;
}

void
wp_test_inferred_free(WpTestInferred *inferred)
{
	if (!inferred)
		return;
	wp_links_free(inferred->links);
	wp_resolved_free(inferred->resolved);
	wp_trace_free(inferred->trace);
	g_array_unref(inferred->parents);
	g_free(inferred);
}

void
wp_test_infer_simulated(const char *text, const char *name, double *out_right, double *out_said)
{
	g_autoptr(WpTestInferred) own = wp_test_inferred_new(text, name);
	const WpDealMethod method = { &own->options, &wp_engine_nesting, NULL, NULL };

	*out_right = wp_test_share_right(own->resolved, own->links, own->parents);
	ck_assert(wp_links_calibrate(own->links, own->resolved, &method, NULL));
	*out_said = wp_links_mean_probability(own->links);
}
