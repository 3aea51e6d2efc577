/* Delays in bins of a thousandth; see xcorr-spread.h. */
#include "infer/xcorr-spread.h"

#include <math.h>

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

/* Where in BIN, of weight > 0, WANTED of it lies behind. */
static double
delay_within(const WpSpread *spread, guint32 bin, double wanted)
{
	double from = delay_of(spread->begin + bin), to = delay_of(spread->begin + bin + 1);
	/* Whole ns: a bin of one ns is that ns. */
	return to - from <= 1 ? from : from + (to - from) * wanted / spread->weights[bin];
}

/* SHARES are N, ascending. */
static void
find_quantiles(const WpSpread *spread, const double *shares, guint32 n, double *out_delays)
{
	double before = 0, last = 0;
	guint32 k = 0;
	for (guint32 i = 0; i < spread->n && k < n; i++) {
		double weight = spread->weights[i];
		if (weight <= 0)
			continue;
		for (; k < n && before + weight >= shares[k] * spread->sum; k++)
			out_delays[k] = delay_within(spread, i, shares[k] * spread->sum - before);
		before += weight;
		last = delay_of(spread->begin + i + 1);
	}
	/* Sums of many weights are not exact. */
	for (; k < n; k++)
		out_delays[k] = last;
}

double
wp_spread_quantile(const WpSpread *spread, double share)
{
	double delay;
	find_quantiles(spread, &share, 1, &delay);
	return delay;
}

/* --- delays apart from each other --- */

/*
 * The weight is cut into slices of the same weight: where delays are dense a slice is narrow. Two delays are apart
 * where a slice between them is so many times as wide as the narrowest on either side; of so few messages a slice,
 * its width strays by a fifth. An exponential tail only gets wider, and stays one.
 */
#define SLICE_MESSAGES 20
#define MOST_SLICES    64
#define VALLEY         4
/* And where nothing less than so much longer is between: what is nearer is better told as one that is spread. */
#define APART 2

/* What so small a share of a place's messages does is not told apart. */
#define LEAST_MODE 0.04

typedef struct {
	guint32 n;
	double begins[MOST_SLICES + 1];
	double tick_ns;
	gboolean is_cut[MOST_SLICES]; /* two delays part in this slice */
} Slices;

static void
slices_init(Slices *slices, const WpSpread *spread, double tick_ns)
{
	*slices = (Slices){ .tick_ns = tick_ns };
	slices->n = (guint32)CLAMP(spread->sum / SLICE_MESSAGES, 1, MOST_SLICES);
	double shares[MOST_SLICES + 1];
	for (guint32 i = 0; i <= slices->n; i++)
		shares[i] = (double)i / slices->n;
	find_quantiles(spread, shares, slices->n + 1, slices->begins);
}

/* What is closer than the clock, or a bin, can tell is not dense for that. */
static double
width_of(const Slices *slices, guint32 i)
{
	double bin = slices->begins[i + 1] / (1 << BITS);
	return slices->begins[i + 1] - slices->begins[i] + MAX(slices->tick_ns, bin);
}

static gboolean
is_apart(const Slices *slices, guint32 i, double quantum_ns)
{
	double before = slices->begins[i], after = slices->begins[i + 1];
	return after > APART * before && after - before >= quantum_ns;
}

/* Cuts slices BEGIN .. END - 1 where they part most clearly, and what is left on either side. */
static void
cut(Slices *slices, guint32 begin, guint32 end, double quantum_ns)
{
	guint32 least = MAX(1, (guint32)ceil(LEAST_MODE * slices->n - 0.5)), at = end;
	double right[MOST_SLICES + 1] = { 0 };
	right[end] = INFINITY;
	for (guint32 i = end; i-- > begin;)
		right[i] = MIN(right[i + 1], width_of(slices, i));
	double left = INFINITY, clearest = VALLEY;
	for (guint32 i = begin; i + least < end; i++) {
		double ratio = width_of(slices, i) / MAX(left, right[i + 1]);
		if (i >= begin + least && ratio > clearest && is_apart(slices, i, quantum_ns)) {
			clearest = ratio;
			at = i;
		}
		left = MIN(left, width_of(slices, i));
	}
	if (at == end)
		return;
	slices->is_cut[at] = TRUE;
	cut(slices, begin, at, quantum_ns);
	cut(slices, at + 1, end, quantum_ns);
}

/* The delay of the messages from share BEGIN to share END of all. */
static WpSpectrumSpike
spike_between(const WpSpread *spread, double begin, double end)
{
	double n = end - begin, delays[3];
	/* A Gaussian has 68.3 % of its weight within one standard deviation. */
	const double shares[] = { begin + 0.1587 * n, begin + 0.5 * n, begin + 0.8413 * n };
	find_quantiles(spread, shares, 3, delays);
	return (WpSpectrumSpike){ .messages = n,
				  .delay_ns = delays[1],
				  .spread_ns = (delays[2] - delays[0]) / 2 };
}

WpSpectrumSpike *
wp_spread_spikes(const WpSpread *spread, double messages, double tick_ns, double quantum_ns,
		 guint32 *out_n)
{
	*out_n = 1;
	if (!spread || spread->sum <= 0) {
		WpSpectrumSpike *none = g_new0(WpSpectrumSpike, 1);
		none->messages = messages;
		return none;
	}
	Slices slices;
	slices_init(&slices, spread, tick_ns);
	cut(&slices, 0, slices.n, quantum_ns);
	GArray *spikes = g_array_new(FALSE, FALSE, sizeof(WpSpectrumSpike));
	double begin = 0;
	for (guint32 i = 0; i <= slices.n; i++) {
		if (i < slices.n && !slices.is_cut[i])
			continue;
		double end = i < slices.n ? (i + 0.5) / slices.n : 1;
		WpSpectrumSpike spike = spike_between(spread, begin, end);
		spike.messages *= messages;
		g_array_append_val(spikes, spike);
		begin = end;
	}
	g_array_sort(spikes, wp_spectra_compare_spikes);
	*out_n = spikes->len;
	return (WpSpectrumSpike *)(gpointer)g_array_free(spikes, FALSE);
}
