/*
 * Evidence of kind "sticky": a program that gives each connection into it a worker, and each worker its own
 * connections out, uses them in pairs. Most programs take any that is free; then pairs occur as often as
 * chance has it and are worth nothing, which is what the gate is for.
 */
#include "infer/evidence-values.h"
#include "infer/links.h"
#include "infer/map.h"

/* Nats and true pairs: below, chance among few connections looks like habit. */
#define MIN_WORTH 0.2
#define MIN_PAIRS 50

static guint32
flow_of(const WpEvidenceHost *host, guint32 span)
{
	const WpRecord *records = wp_trace_records(wp_resolved_trace(host->resolved));
	return records[wp_resolved_spans(host->resolved)->spans[span].call_record].flow;
}

static void
set_flows(const WpEvidenceHost *host, guint32 number, guint32 parent,
	  guint64 out_values[WP_VALUES_MAX_WAYS])
{
	const WpNestProblem *problem = host->problem;
	const WpNestBundle *bundle = &problem->bundles[number];
	guint32 span = problem->children[problem->bundle_children[bundle->first]].span;
	guint32 in = flow_of(host, problem->parents[parent].span);
	guint32 out = span == WP_NO_SPAN ? 0 : flow_of(host, span);

	out_values[0] = in && out ? wp_map_key(in, out) : WP_NO_VALUE;
}

static gboolean
has_flows(const WpEvidenceHost *host)
{
	if (!wp_trace_has(wp_resolved_trace(host->resolved), WP_TRACE_FLOWS))
		return FALSE;
	for (guint32 p = 0; p < host->problem->n_parents; p++)
		if (flow_of(host, host->problem->parents[p].span))
			return TRUE;
	return FALSE;
}

static gpointer
begin(const WpEvidenceHost *host)
{
	static const WpValuesShape shape = { 1, 1, MIN_WORTH, MIN_PAIRS, set_flows };
	return wp_values_new(host, &shape);
}

const WpEvidenceKind wp_evidence_sticky = {
	.name = "sticky",
	.summary = "connections in and out that are used together",
	.is_default = TRUE,
	.word = WP_EVIDENCE_STICKY,
	.may_speak = has_flows,
	.begin = begin,
	.learn = wp_values_learn,
	.score = wp_values_score,
	.end = wp_values_free,
};
