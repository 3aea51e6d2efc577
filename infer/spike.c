/* Spikes by thresholds over mean and standard deviation; see spike.h. */
#include "infer/spike.h"

#include <math.h>

static void
moments(const double *values, gsize n, double *out_mean, double *out_sd)
{
	double sum = 0, squares = 0;
	for (gsize i = 0; i < n; i++)
		sum += values[i];
	double mean = n ? sum / (double)n : 0;
	for (gsize i = 0; i < n; i++)
		squares += (values[i] - mean) * (values[i] - mean);
	*out_mean = mean;
	*out_sd = n ? sqrt(squares / (double)n) : 0;
}

GArray *
wp_spikes_find(const double *values, gsize n, double n_sds, double s_sds)
{
	GArray *spikes = g_array_new(FALSE, FALSE, sizeof(WpSpike));
	gboolean is_open = FALSE; /* no dip since the last spike */
	double mean, sd;

	moments(values, n, &mean, &sd);
	if (sd <= 0)
		return spikes;
	for (gsize i = 0; i < n; i++) {
		double sds = (values[i] - mean) / sd;
		if (sds < s_sds)
			is_open = FALSE;
		if (sds < n_sds)
			continue;
		WpSpike spike = { .at = i, .height = values[i], .sds = sds };
		WpSpike *last = is_open ? &g_array_index(spikes, WpSpike, spikes->len - 1) : NULL;
		if (!last)
			g_array_append_val(spikes, spike);
		else if (spike.height > last->height)
			*last = spike;
		is_open = TRUE;
	}
	return spikes;
}
