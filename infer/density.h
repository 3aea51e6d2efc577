/*
 * WpDensity: how gaps are spread, learned by counting, over the logarithm of the gap.
 *
 * Counts are smoothed by a triangle; its width is the one at which each gap is foretold best by all the
 * others (leave-one-out likelihood), as some delays are all but constant and others spread over decades.
 * What lies in a bin does not speak for itself there: a gap that has no like is as unlikely as it would be
 * if it had never been seen. Without that, every answer would find itself likely.
 *
 * Sums are of whole numbers, so their order does not matter.
 */
#ifndef WP_INFER_DENSITY_H
#define WP_INFER_DENSITY_H

#include <glib.h>

#include "infer/quicklog.h"

#define WP_DENSITY_BINS           888 /* 37 octaves over the grain: hours */
#define WP_DENSITY_BINS_AN_OCTAVE 24
#define WP_DENSITY_FLOOR          1e-3 /* share of a flat density: no gap is impossible */

typedef struct {
	gint32 counts[WP_DENSITY_BINS];
	gint32 n;
	gint32 first; /* no bin before it and none from END on has counts */
	gint32 end;
	gint32 n_chosen; /* N when the width was chosen; 0 = never */
	gint32 half;     /* of the box, of which two make the triangle */
	gboolean is_stale;
	guint32 version; /* counts how often the shares were set */
	/* Of the others, smoothed; before FIRST_SHARE and from END_SHARE on 0, which is not written. */
	gint32 first_share;
	gint32 end_share;
	double shares[WP_DENSITY_BINS];
} WpDensity;

/* (transfer full) */
WpDensity *wp_density_new(void);
void wp_density_free(WpDensity *density);

static inline gint
wp_density_bin(double octaves)
{
	return MIN((gint)(octaves * WP_DENSITY_BINS_AN_OCTAVE), WP_DENSITY_BINS - 1);
}

/* SIGN 1: a gap more, -1: one less. */
static inline void
wp_density_count(WpDensity *density, gint bin, gint sign)
{
	density->counts[bin] += sign;
	density->n += sign;
	density->first = MIN(density->first, bin);
	density->end = MAX(density->end, bin + 1);
	density->is_stale = TRUE;
}

/* Sets the shares anew where counts have changed. */
void wp_density_smooth(WpDensity *density, const WpQuickLog *quick);

#endif
