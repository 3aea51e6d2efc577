/*
 * Faults: which call meets which, decided when it is sent, so that the truth tells it beside the call. The
 * numbers by chance are their own: a run with a fault and one without differ by what the fault does.
 */
#include "traces/simulate-private.h"

static gboolean
is_on(const Sim *sim, const WpSimFault *fault)
{
	double now_ns = (double)(sim->now_ns - SIM_START_NS);

	return fault->share > 0 && now_ns >= fault->since_ns && now_ns < fault->until_ns;
}

/* TRUE where FAULT is about calls to OPERATION that go to NODE. */
static gboolean
is_about(const Sim *sim, const WpSimFault *fault, guint32 operation, const Node *node)
{
	const GArray *operations = sim->scenario->operations;
	guint32 service = g_array_index(operations, WpSimOperation, operation).service;
	gboolean is_its_node = fault->node_service != WP_SIM_NONE &&
			       node == &sim->servers[fault->node_service].nodes[fault->replica];

	switch ((WpFaultKind)fault->kind) {
	case WP_FAULT_LEADER_CHANGE:
		return service == fault->node_service && !is_its_node;
	case WP_FAULT_SILENT_PEER:
		return is_its_node;
	case WP_FAULT_DROP:
	case WP_FAULT_DELAY:
	case WP_FAULT_ERROR:
	case WP_FAULT_WRONG_PEER:
	case WP_FAULT_EXTRA_CALL:
	case WP_FAULT_N_KINDS:
		break;
	}
	return service == fault->service && !is_its_node &&
	       (fault->operation == WP_SIM_NONE || fault->operation == operation);
}

const WpSimFault *
sim_fault_draw(Sim *sim, guint32 operation, Node **node)
{
	const GArray *faults = sim->scenario->faults;

	for (guint i = 0; i < faults->len; i++) {
		const WpSimFault *fault = &g_array_index(faults, WpSimFault, i);
		if (!is_on(sim, fault) || !is_about(sim, fault, operation, *node) ||
		    (fault->share < 1 && wp_random_share(&sim->fault_random) >= fault->share))
			continue;
		if (fault->kind == WP_FAULT_LEADER_CHANGE || fault->kind == WP_FAULT_WRONG_PEER)
			*node = &sim->servers[fault->node_service].nodes[fault->replica];
		sim->n_faults++;
		return fault;
	}
	return NULL;
}

gint64
sim_fault_delay(Sim *sim, const WpSimFault *fault)
{
	if (!fault)
		return 0;
	if (fault->kind == WP_FAULT_DROP || fault->kind == WP_FAULT_SILENT_PEER)
		return -1;
	return fault->kind == WP_FAULT_DELAY ? wp_law_draw(&fault->time, &sim->fault_random) : 0;
}

gboolean
sim_fault_refuses(const Sim *sim, const Visit *visit)
{
	const GArray *services = sim->scenario->services;

	if (!visit->fault)
		return FALSE;
	return visit->fault->kind == WP_FAULT_ERROR ||
	       visit->node->service !=
		       &g_array_index(services, WpSimService, visit->operation->service);
}
