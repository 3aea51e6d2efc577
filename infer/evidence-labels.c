/*
 * Evidence of kind "labels": a proxy passes on what it was asked for, so the label comes out as it came in,
 * or with another verb before what it is about: a path (GET /a, POST /a), a subject (PUB a, MSG a). Frequent labels
 * are classes of their own, of which timelines know what they call; this tells for the rare ones as well.
 */
#include <string.h>

#include "infer/evidence-levels.h"
#include "infer/links.h"

enum {
	LEVEL_OTHER,
	LEVEL_ABOUT,
	LEVEL_LABEL,
	N_LEVELS
};

/* What the label is about: what stands behind its first word; NULL: it is one word. */
static const char *
object_of(const char *label)
{
	const char *blank = strchr(label, ' ');
	return blank && blank[1] ? blank + 1 : NULL;
}

/* As it was seen: a value that stands in both tells more than that both have one there. */
static guint32
label_of(const WpEvidenceHost *host, guint32 span)
{
	const WpSpan *one = &wp_resolved_spans(host->resolved)->spans[span];
	return one->label
		       ? wp_trace_records(wp_resolved_trace(host->resolved))[one->call_record].label
		       : 0;
}

static guint
level_of(gconstpointer data, guint32 number, guint32 parent)
{
	const WpEvidenceHost *host = data;
	const WpNestProblem *problem = host->problem;
	const WpNodes *nodes = wp_trace_nodes(wp_resolved_trace(host->resolved));
	const WpNestBundle *bundle = &problem->bundles[number];
	guint32 span = problem->children[problem->bundle_children[bundle->first]].span;
	guint32 in = label_of(host, problem->parents[parent].span);
	guint32 out = span == WP_NO_SPAN ? 0 : label_of(host, span);

	if (!in || !out)
		return LEVEL_OTHER;
	if (out == in)
		return LEVEL_LABEL;
	const char *other = object_of(wp_nodes_text(nodes, out));
	const char *object = other ? object_of(wp_nodes_text(nodes, in)) : NULL;
	return object && strcmp(object, other) == 0 ? LEVEL_ABOUT : LEVEL_OTHER;
}

static gboolean
has_labels(const WpEvidenceHost *host)
{
	const WpSpan *spans = wp_resolved_spans(host->resolved)->spans;

	if (!wp_trace_has(wp_resolved_trace(host->resolved), WP_TRACE_LABELS))
		return FALSE;
	for (guint32 p = 0; p < host->problem->n_parents; p++)
		if (spans[host->problem->parents[p].span].label)
			return TRUE;
	return FALSE;
}

static gpointer
begin(const WpEvidenceHost *host)
{
	return wp_levels_new(host, N_LEVELS, NULL, level_of, host);
}

const WpEvidenceKind wp_evidence_labels = {
	.name = "labels",
	.summary = "a label, or what it is about, that comes out as it came in",
	.is_default = TRUE,
	.tells_first = TRUE,
	.word = WP_EVIDENCE_LABELS,
	.may_speak = has_labels,
	.begin = begin,
	.learn = wp_levels_learn,
	.score = wp_levels_score,
	.end = wp_levels_free,
};
