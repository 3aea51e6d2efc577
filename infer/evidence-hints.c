/*
 * Evidence of kind "hints": what the user says. Hints speak of nodes and labels, so each pair of a (node,
 * label) of parents and one of children is asked about once.
 */
#include <math.h>

#include "infer/evidence-kind.h"
#include "infer/links.h"
#include "infer/map.h"

typedef struct {
	const WpEvidenceHost *host;
	WpMap *callers; /* (node, label) of parents -> number */
	WpMap *called;  /* of children */
	WpMap *answers; /* (number, number) -> index into odds */
	GArray *odds;   /* double */
} Hints;

static gboolean
has_hints(const WpEvidenceHost *host)
{
	return host->hints && wp_hints_count(host->hints) > 0;
}

static gpointer
begin(const WpEvidenceHost *host)
{
	Hints *self = g_new0(Hints, 1);
	self->host = host;
	self->callers = wp_map_new();
	self->called = wp_map_new();
	self->answers = wp_map_new();
	self->odds = g_array_new(FALSE, FALSE, sizeof(double));
	return self;
}

static WpHintsCall
describe(const Hints *self, const WpSpan *span)
{
	const WpResolved *resolved = self->host->resolved;
	const WpNodes *nodes = wp_trace_nodes(wp_resolved_trace(resolved));
	return (WpHintsCall){ wp_resolved_node_name(resolved, span->callee),
			      wp_nodes_text(nodes, span->label) };
}

static double
ask(Hints *self, const WpSpan *parent, const WpSpan *child)
{
	guint32 caller = wp_map_number(self->callers, wp_map_key(parent->callee, parent->label));
	guint32 called = wp_map_number(self->called, wp_map_key(child->callee, child->label));
	guint32 number = wp_map_number(self->answers, wp_map_key(caller, called));
	if (number == self->odds->len) {
		WpHintsCall of_parent = describe(self, parent), of_child = describe(self, child);
		double odds = wp_hints_odds(self->host->hints, &of_parent, &of_child);
		if (odds <= -WP_HINTS_SURE)
			odds *= 10; /* ruled out, whatever other evidence says */
		g_array_append_val(self->odds, odds);
	}
	return g_array_index(self->odds, double, number);
}

/* Of all calls of a bundle the one on which hints are surest. */
static double
score(gpointer data, guint32 pair)
{
	Hints *self = data;
	const WpNestProblem *problem = self->host->problem;
	const WpSpan *spans = wp_resolved_spans(self->host->resolved)->spans;
	const WpSpan *parent = &spans[problem->parents[self->host->parents[pair]].span];
	const WpNestBundle *bundle = &problem->bundles[self->host->bundles[pair]];
	double surest = 0;

	for (guint32 i = 0; i < bundle->n; i++) {
		guint32 span = problem->children[problem->bundle_children[bundle->first + i]].span;
		double odds = span == WP_NO_SPAN ? 0 : ask(self, parent, &spans[span]);
		if (fabs(odds) > fabs(surest))
			surest = odds;
	}
	return surest;
}

static void
end(gpointer data)
{
	Hints *self = data;
	wp_map_free(self->callers);
	wp_map_free(self->called);
	wp_map_free(self->answers);
	g_array_unref(self->odds);
	g_free(self);
}

const WpEvidenceKind wp_evidence_hints = {
	.name = "hints",
	.summary = "what --hints FILE says of causes",
	.is_default = TRUE,
	.tells_first = TRUE,
	.word = WP_EVIDENCE_HINTS,
	.may_speak = has_hints,
	.begin = begin,
	.score = score,
	.end = end,
};
