/*
 * Evidence: the table of kinds, lists of them, and what they say together of one host. To add a kind: its
 * file, and a line here. (A kind that works where bundles are made, in nesting-problem.c, stands there.)
 */
#include "infer/evidence.h"

#include <math.h>
#include <string.h>

#include "infer/evidence-kind.h"
#include "infer/map.h"
#include "infer/pattern.h"

/* A kind's word stands at a link whose parent it makes so much likelier than the mean of the others. */
#define TELLING_NATS 0.7

const WpEvidenceKind *const wp_evidence_kinds[] = {
	&wp_evidence_connections,
	&wp_evidence_hints,
	&wp_evidence_holds,
	&wp_evidence_ids,
	&wp_evidence_labels,
	&wp_evidence_packets,
	&wp_evidence_pools,
	&wp_evidence_sizes,
	&wp_evidence_spans,
	&wp_evidence_sticky,
	&wp_evidence_tokens,
	&wp_evidence_transactions,
	NULL,
};

#define N_KINDS (G_N_ELEMENTS(wp_evidence_kinds) - 1)

G_STATIC_ASSERT(N_KINDS <= 32);

/* --- lists --- */

guint32
wp_evidence_defaults(void)
{
	guint32 set = 0;
	for (guint i = 0; wp_evidence_kinds[i]; i++)
		set |= wp_evidence_kinds[i]->is_default ? 1u << i : 0;
	return set;
}

guint32
wp_evidence_only(guint32 set, const WpEvidenceKind *kind)
{
	guint i = 0;
	while (wp_evidence_kinds[i] && wp_evidence_kinds[i] != kind)
		i++;
	return set & 1u << i;
}

gboolean
wp_evidence_has(guint32 set, const WpEvidenceKind *kind)
{
	return wp_evidence_only(set, kind) != 0;
}

static gboolean
add_name(const char *name, guint32 *set)
{
	if (strcmp(name, "all") == 0)
		*set = G_MAXUINT32;
	for (guint i = 0; wp_evidence_kinds[i]; i++)
		if (strcmp(wp_evidence_kinds[i]->name, name) == 0) {
			*set |= 1u << i;
			return TRUE;
		}
	return strcmp(name, "all") == 0 || strcmp(name, "none") == 0;
}

gboolean
wp_evidence_parse(const char *list, const char *option, guint32 *out_set, GError **error)
{
	g_auto(GStrv) names = g_strsplit(list, ",", -1);
	guint32 set = 0;
	for (guint i = 0; names[i]; i++)
		if (!add_name(g_strstrip(names[i]), &set)) {
			g_autoptr(GString) known = g_string_new("all, none");
			for (guint k = 0; wp_evidence_kinds[k]; k++)
				g_string_append_printf(known, ", %s", wp_evidence_kinds[k]->name);
			g_set_error(error, WP_INFER_ERROR, WP_INFER_ERROR_OPTION,
				    "--%s: there is no evidence \"%s\"; expected %s", option,
				    names[i], known->str);
			return FALSE;
		}
	*out_set = set;
	return TRUE;
}

/* --- one host --- */

struct WpEvidence {
	WpEvidenceHost host;
	WpNestProblem *problem;
	gpointer states[N_KINDS]; /* NULL: silent */
	guint32 *bundles;
	guint32 *parents;
	guint32 *first_pair;
	guint32 *edges;
	double *weights; /* by pair */
};

/* The edge of each of N pairs; returns how many edges there are. */
static guint32
number_edges(WpEvidence *evidence, guint32 n)
{
	const WpNestProblem *problem = evidence->problem;
	g_autoptr(WpMap) numbers = wp_map_new();
	guint64 last = 0;

	evidence->edges = g_new(guint32, (gsize)n + 1);
	for (guint32 i = 0; i < n; i++) {
		guint64 key = wp_map_key(problem->parents[evidence->parents[i]].class,
					 problem->bundles[evidence->bundles[i]].kind);
		evidence->edges[i] =
			i && key == last ? evidence->edges[i - 1] : wp_map_number(numbers, key);
		last = key;
	}
	return wp_map_count(numbers);
}

/* Pairs of all candidates, then of accidents, of which none is ever right. */
static void
number_pairs(WpEvidence *evidence)
{
	WpNestProblem *problem = evidence->problem;
	gsize n_all = (gsize)problem->n_candidates + problem->n_accidents;
	guint32 n = 0;

	evidence->bundles = g_new(guint32, n_all + 1);
	evidence->parents = g_new(guint32, n_all + 1);
	evidence->first_pair = g_new(guint32, (gsize)problem->n_bundles + 1);
	evidence->weights = g_new(double, n_all + 1);
	for (guint32 b = 0; b < problem->n_bundles; b++) {
		const WpNestBundle *bundle = &problem->bundles[b];
		evidence->first_pair[b] = n;
		for (guint32 i = 0; i < bundle->n_candidates; i++) {
			WpNestCandidate *candidate =
				&problem->candidates[bundle->first_candidate + i];
			evidence->bundles[n] = b;
			evidence->parents[n] = candidate->parent;
			candidate->pair = n++;
		}
	}
	evidence->first_pair[problem->n_bundles] = n;
	for (guint32 i = 0; i < problem->n_accidents; i++, n++) {
		evidence->bundles[n] = problem->accidents[i].bundle;
		evidence->parents[n] = problem->accidents[i].parent;
	}
	guint32 n_edges = number_edges(evidence, n);
	evidence->host = (WpEvidenceHost){
		.resolved = problem->resolved,
		.problem = problem,
		.hints = problem->options->hints,
		.bundles = evidence->bundles,
		.parents = evidence->parents,
		.first_pair = evidence->first_pair,
		.edges = evidence->edges,
		.n_pairs = n,
		.n_edges = n_edges,
		.n_candidates = problem->n_candidates,
	};
}

/* The kinds that might say something: bit i is wp_evidence_kinds[i]. To see that takes a look at every call. */
static guint32
find_speakers(const WpNestProblem *problem)
{
	const WpEvidenceHost host = { .resolved = problem->resolved,
				      .problem = problem,
				      .hints = problem->options->hints };
	guint32 set = 0;

	for (guint i = 0; i < N_KINDS; i++) {
		const WpEvidenceKind *kind = wp_evidence_kinds[i];
		if ((problem->options->evidence & 1u << i) && kind->begin &&
		    (!kind->may_speak || kind->may_speak(&host)))
			set |= 1u << i;
	}
	return set;
}

static guint32
get_speakers(WpNestProblem *problem, gboolean only_first)
{
	guint32 set = 0;

	if (!problem->has_speakers)
		problem->speakers = find_speakers(problem);
	problem->has_speakers = TRUE;
	for (guint i = 0; i < N_KINDS; i++)
		if (wp_evidence_kinds[i]->tells_first || !only_first)
			set |= problem->speakers & 1u << i;
	return set;
}

gboolean
wp_evidence_may_speak(WpNestProblem *problem, gboolean only_first)
{
	return get_speakers(problem, only_first) != 0;
}

WpEvidence *
wp_evidence_new(WpNestProblem *problem, gboolean only_first)
{
	guint32 set = get_speakers(problem, only_first);
	gboolean speaks = FALSE;

	if (!set)
		return NULL;
	WpEvidence *evidence = g_new0(WpEvidence, 1);
	evidence->problem = problem;
	number_pairs(evidence);
	for (guint i = 0; i < N_KINDS; i++)
		if (set & 1u << i) {
			evidence->states[i] = wp_evidence_kinds[i]->begin(&evidence->host);
			speaks |= evidence->states[i] != NULL;
		}
	if (!speaks)
		g_clear_pointer(&evidence, wp_evidence_free);
	return evidence;
}

void
wp_evidence_free(WpEvidence *evidence)
{
	if (!evidence)
		return;
	for (guint i = 0; i < N_KINDS; i++)
		if (evidence->states[i])
			wp_evidence_kinds[i]->end(evidence->states[i]);
	g_free(evidence->bundles);
	g_free(evidence->parents);
	g_free(evidence->first_pair);
	g_free(evidence->edges);
	g_free(evidence->weights);
	g_free(evidence);
}

/* The weight of each pair; 0 where it is no candidate any more. */
static void
spread_weights(WpEvidence *evidence, const double *weights)
{
	const WpNestProblem *problem = evidence->problem;

	memset(evidence->weights, 0, evidence->host.n_pairs * sizeof evidence->weights[0]);
	for (guint32 b = 0; b < problem->n_bundles; b++) {
		const WpNestBundle *bundle = &problem->bundles[b];
		for (guint32 i = 0; i < bundle->n_candidates; i++) {
			guint32 at = bundle->first_candidate + i;
			const WpNestCandidate *candidate = &problem->candidates[at];
			if (candidate->pair == WP_NO_PAIR)
				continue;
			evidence->weights[candidate->pair] =
				weights ? weights[at] : candidate->parent == bundle->parent;
		}
	}
}

static double
odds_of(const WpEvidence *evidence, guint32 pair)
{
	double odds = 0;
	for (guint k = 0; k < N_KINDS; k++)
		if (evidence->states[k])
			odds += wp_evidence_kinds[k]->score(evidence->states[k], pair);
	return odds;
}

/* Sets the odds of candidates; FROM_SEVERAL: only where a bundle has more than one. */
static void
learn(WpEvidence *evidence, const double *weights, gboolean from_several)
{
	WpNestProblem *problem = evidence->problem;

	for (guint k = 0; k < N_KINDS; k++)
		if (evidence->states[k] && wp_evidence_kinds[k]->learn)
			wp_evidence_kinds[k]->learn(evidence->states[k], weights);
	for (guint32 b = 0; b < problem->n_bundles; b++) {
		const WpNestBundle *bundle = &problem->bundles[b];
		if (from_several && bundle->n_candidates == 1)
			continue;
		for (guint32 i = 0; i < bundle->n_candidates; i++) {
			WpNestCandidate *candidate =
				&problem->candidates[bundle->first_candidate + i];
			if (candidate->pair != WP_NO_PAIR)
				candidate->odds = (float)odds_of(evidence, candidate->pair);
		}
	}
}

void
wp_evidence_restart(WpEvidence *evidence)
{
	learn(evidence, NULL, FALSE);
}

void
wp_evidence_weigh(WpEvidence *evidence, const double *weights)
{
	spread_weights(evidence, weights);
	learn(evidence, evidence->weights, TRUE);
}

guint32
wp_evidence_words(const WpEvidence *evidence, guint32 bundle)
{
	guint32 parent = evidence->problem->bundles[bundle].parent, words = 0;
	guint32 first = evidence->first_pair[bundle], behind = evidence->first_pair[bundle + 1];

	for (guint k = 0; k < N_KINDS && behind - first > 1; k++) {
		const WpEvidenceKind *kind = wp_evidence_kinds[k];
		double own = 0, others = 0;
		if (!evidence->states[k])
			continue;
		for (guint32 pair = first; pair < behind; pair++) {
			double odds = kind->score(evidence->states[k], pair);
			if (evidence->parents[pair] == parent)
				own = odds;
			else
				others += odds / (behind - first - 1);
		}
		words |= own - others > TELLING_NATS ? kind->word : 0;
	}
	return words;
}
