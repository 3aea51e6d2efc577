/*
 * Spikes of a correlation, as published (the paper's section 5.2): local maxima at least N standard
 * deviations above the mean; between two of them the correlation falls below S standard deviations above
 * it, else they are one, which stands at the greater.
 *
 *        N ------------*-----------------*----------
 *                     * *    *          * *
 *        S --------- *-- *--* *--------*---*-------      two spikes: the second maximum of the first
 *                   *     **   *      *     *            is not parted from it
 *        mean *****             ******       *****
 */
#ifndef WP_INFER_SPIKE_H
#define WP_INFER_SPIKE_H

#include <glib.h>

typedef struct {
	gsize at;      /* index of the greatest value */
	double height; /* that value */
	double sds;    /* standard deviations above the mean */
} WpSpike;

/* (transfer full) WpSpike, by index. None where all values are equal. N_SDS > S_SDS. */
GArray *wp_spikes_find(const double *values, gsize n, double n_sds, double s_sds);

#endif
