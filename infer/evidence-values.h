/*
 * Inside of kinds of evidence: what a pair is like as a value of which there may be any number, and what each
 * value is worth. A value that n true pairs of an edge (class of parents, kind of bundles) have, and that n'
 * would have if what is true made no difference, is worth
 *
 *     log((n + 2) / (n' + 2)),    the pair itself left out.
 *
 * A pair may be looked at in several ways, in groups of equally many. Of each group an edge takes the one
 * that is worth most to its true pairs on average, and none where that is next to nothing.
 */
#ifndef WP_INFER_EVIDENCE_VALUES_H
#define WP_INFER_EVIDENCE_VALUES_H

#include "infer/evidence-kind.h"

#define WP_VALUES_MAX_GROUPS 2
#define WP_VALUES_MAX_WAYS   6 /* of all groups together */

/*
 * Of a host with more pairs nothing is looked at: that many candidates are more than values could tell apart,
 * and each way takes 4 bytes of each.
 */
#define WP_VALUES_MAX_PAIRS (8 << 20)

/* There is nothing to look at. */
#define WP_NO_VALUE G_MAXUINT64

/* Sets the value of a pair in each way. */
typedef void (*WpValueFunc)(const WpEvidenceHost *host, guint32 bundle, guint32 parent,
			    guint64 out_values[WP_VALUES_MAX_WAYS]);

typedef struct {
	guint n_groups;
	guint n_ways;     /* of each group */
	double min_worth; /* nats a true pair, on average */
	double min_pairs; /* true ones of an edge */
	WpValueFunc func;
} WpValuesShape;

typedef struct WpValues WpValues;

/* (transfer full) NULL where no pair has a value, or there are too many. SHAPE is borrowed. */
WpValues *wp_values_new(const WpEvidenceHost *host, const WpValuesShape *shape);

/* The other functions of a WpEvidenceKind whose begin() gives a WpValues. */
void wp_values_learn(gpointer values, const double *weights);
double wp_values_score(gpointer values, guint32 pair);
void wp_values_free(gpointer values);

#endif
