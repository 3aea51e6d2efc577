/*
 * Evidence of kind "spans": what spans of a tracing system tell of the cause of a call (capture/span-join.h). Where
 * the call that they name is a possible parent, it is the one.
 */
#include "infer/evidence-kind.h"
#include "infer/links.h"

typedef struct {
	const WpEvidenceHost *host;
	guint8 *is_told; /* by bundle: a candidate is its cause */
} Spans;

static gboolean
has_causes(const WpEvidenceHost *host)
{
	const WpSpan *spans = wp_resolved_spans(host->resolved)->spans;

	if (!wp_trace_has(wp_resolved_trace(host->resolved), WP_TRACE_CAUSES))
		return FALSE;
	for (guint32 c = 0; c < host->problem->n_children; c++) {
		guint32 span = host->problem->children[c].span;
		if (span != WP_NO_SPAN && spans[span].marks & WP_MARK_CAUSED)
			return TRUE;
	}
	return FALSE;
}

/* How many calls of the bundle of PAIR its parent has caused. */
static guint
count_caused(const WpEvidenceHost *host, guint32 pair)
{
	const WpNestProblem *problem = host->problem;
	const WpTrace *trace = wp_resolved_trace(host->resolved);
	const WpSpan *spans = wp_resolved_spans(host->resolved)->spans;
	const WpSpan *parent = &spans[problem->parents[host->parents[pair]].span];
	const WpNestBundle *bundle = &problem->bundles[host->bundles[pair]];
	guint n = 0;

	for (guint32 i = 0; i < bundle->n; i++) {
		guint32 span = problem->children[problem->bundle_children[bundle->first + i]].span;
		guint64 id;
		if (span != WP_NO_SPAN &&
		    wp_trace_cause(trace, &wp_trace_records(trace)[spans[span].call_record], &id))
			n += id == parent->id;
	}
	return n;
}

static gpointer
begin(const WpEvidenceHost *host)
{
	Spans *self = g_new0(Spans, 1);
	self->host = host;
	self->is_told = g_new0(guint8, MAX(host->problem->n_bundles, 1));
	for (guint32 pair = 0; pair < host->n_candidates; pair++)
		if (count_caused(host, pair))
			self->is_told[host->bundles[pair]] = 1;
	return self;
}

/* Others are ruled out, whatever else speaks for them. */
static double
score(gpointer data, guint32 pair)
{
	const Spans *self = data;
	if (!self->is_told[self->host->bundles[pair]])
		return 0;
	return count_caused(self->host, pair) ? WP_HINTS_SURE : -10 * WP_HINTS_SURE;
}

static void
end(gpointer data)
{
	Spans *self = data;
	g_free(self->is_told);
	g_free(self);
}

const WpEvidenceKind wp_evidence_spans = {
	.name = "spans",
	.summary = "what spans, read beside packets, tell of causes",
	.is_default = TRUE,
	.tells_first = TRUE,
	.word = WP_EVIDENCE_MEASURED,
	.may_speak = has_causes,
	.begin = begin,
	.score = score,
	.end = end,
};
