/* Delays in bins of a thousandth; see xcorr-spread.h. */
#include "infer/xcorr-spread.h"

/* 1024 bins an octave. */
#define BITS 10

struct WpSpread {
	guint32 begin;
	guint32 n;
	double *weights;
	double sum;
};

static guint32
bin_of(gint64 delay_ns)
{
	if (delay_ns < (gint64)2 << BITS)
		return (guint32)MAX(delay_ns, 0);
	guint32 shift = 63 - (guint32)__builtin_clzll((guint64)delay_ns) - BITS;
	return (shift << BITS) + (guint32)(delay_ns >> shift);
}

/* Where BIN begins. */
static double
delay_of(guint32 bin)
{
	if (bin < 2u << BITS)
		return bin;
	return (double)((gint64)((bin & ((1u << BITS) - 1)) + (1u << BITS)) << ((bin >> BITS) - 1));
}

WpSpread *
wp_spread_new(gint64 min_ns, gint64 max_ns)
{
	WpSpread *spread = g_new0(WpSpread, 1);
	spread->begin = bin_of(min_ns);
	spread->n = bin_of(MAX(min_ns, max_ns)) - spread->begin + 1;
	spread->weights = g_new0(double, spread->n);
	return spread;
}

void
wp_spread_free(WpSpread *spread)
{
	if (!spread)
		return;
	g_free(spread->weights);
	g_free(spread);
}

void
wp_spread_add(WpSpread *spread, gint64 delay_ns, double weight)
{
	guint32 bin = bin_of(delay_ns);
	bin = CLAMP(bin, spread->begin, spread->begin + spread->n - 1) - spread->begin;
	spread->weights[bin] += weight;
	spread->sum += weight;
}

double
wp_spread_quantile(const WpSpread *spread, double share)
{
	double wanted = share * spread->sum, before = 0;
	for (guint32 i = 0; i < spread->n; i++) {
		double weight = spread->weights[i];
		if (weight > 0 && before + weight >= wanted) {
			double from = delay_of(spread->begin + i);
			double to = delay_of(spread->begin + i + 1);
			/* Whole ns: a bin of one ns is that ns. */
			return to - from <= 1 ? from
					      : from + (to - from) * (wanted - before) / weight;
		}
		before += weight;
	}
	return 0;
}

WpSpectrumSpike *
wp_spread_spikes(const WpSpread *spread, double messages, guint32 *out_n)
{
	WpSpectrumSpike *spikes = g_new0(WpSpectrumSpike, 1);
	*out_n = 1;
	spikes[0].messages = messages;
	if (!spread || spread->sum <= 0)
		return spikes;
	spikes[0].delay_ns = wp_spread_quantile(spread, 0.5);
	/* A Gaussian has 68.3 % of its weight within one standard deviation. */
	spikes[0].spread_ns =
		(wp_spread_quantile(spread, 0.8413) - wp_spread_quantile(spread, 0.1587)) / 2;
	return spikes;
}
