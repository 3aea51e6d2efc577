/*
 * Inside of evidence (evidence*.c) and of the nesting engine: the pairs of one host that are weighed, and
 * how the kinds together weigh them. Nobody else includes this.
 *
 * A pair is a bundle of children with one of its possible parents, when evidence is first asked for; behind
 * these stand pairs that cannot be, which show what chance is like.
 * Later the engine drops pairs that are hopeless; their numbers stay.
 */
#ifndef WP_INFER_EVIDENCE_KIND_H
#define WP_INFER_EVIDENCE_KIND_H

#include "infer/evidence.h"
#include "infer/hints.h"
#include "infer/nesting.h"

struct WpEvidenceHost {
	const WpResolved *resolved;
	const WpNestProblem *problem;
	const WpHints *hints;      /* NULL = none */
	const guint32 *bundles;    /* by pair */
	const guint32 *parents;    /* by pair */
	const guint32 *first_pair; /* by bundle, n_bundles + 1 */
	const guint32 *edges;      /* by pair: number of (class of parent, kind of bundle) */
	guint32 n_pairs;
	guint32 n_edges;
	guint32 n_candidates; /* the first pairs; the others are accidents, of weight 0 */
};

extern const WpEvidenceKind wp_evidence_connections;
extern const WpEvidenceKind wp_evidence_hints;
extern const WpEvidenceKind wp_evidence_holds;
extern const WpEvidenceKind wp_evidence_ids;
extern const WpEvidenceKind wp_evidence_labels;
extern const WpEvidenceKind wp_evidence_packets;
extern const WpEvidenceKind wp_evidence_pools;
extern const WpEvidenceKind wp_evidence_sizes;
extern const WpEvidenceKind wp_evidence_spans;
extern const WpEvidenceKind wp_evidence_sticky;
extern const WpEvidenceKind wp_evidence_tokens;
extern const WpEvidenceKind wp_evidence_transactions;

/* FALSE: wp_evidence_new() would give NULL, whatever the candidates. */
gboolean wp_evidence_may_speak(WpNestProblem *problem, gboolean only_first);

/*
 * (transfer full) What the kinds of PROBLEM's options know; NULL where that is nothing. ONLY_FIRST: those that
 * know something before anything is learned.
 */
WpEvidence *wp_evidence_new(WpNestProblem *problem, gboolean only_first);
void wp_evidence_free(WpEvidence *evidence);

/* Forgets what was learned and sets the odds of each candidate. */
void wp_evidence_restart(WpEvidence *evidence);

/*
 * Learns from the present weights of the candidates (NULL: from the present parents) and sets the odds of
 * each candidate.
 */
void wp_evidence_weigh(WpEvidence *evidence, const double *weights);

/* The words of the kinds that spoke for the parent that BUNDLE has. */
guint32 wp_evidence_words(const WpEvidence *evidence, guint32 bundle);

#endif
