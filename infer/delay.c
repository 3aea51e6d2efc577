/*
 * A log-linear histogram (the idea of HdrHistogram): each power of two is cut into 64 equal bins, so a
 * bin is at most 1/64 of its lower bound wide and its middle at most 0.8 % off. Below 64 ns each value
 * has its own bin. Negative times mirror the positive ones.
 *
 *   value   0 1 2 ... 63 | 64 65 ... 127 | 128-129 130-131 ... 254-255 | 256-259 ...
 *   bin     0 1 2 ... 63 | 64 65 ... 127 | 128     129     ... 191     | 192     ...
 *
 * Only bins with a count are kept, by bin. Sums are 128-bit integers: a sum of doubles would depend on
 * the order of merging. As long as all times are equal there are no bins at all: most delays of a rare
 * pattern hold one time only, and there can be as many of them as spans.
 */
#include "infer/delay.h"

#include <math.h>
#include <string.h>

#define SUB_BITS 6 /* 64 bins a power of two */
#define SUB      (1 << SUB_BITS)
#define TIME_MAX ((gint64)1 << 62) /* 146 years: longer times are taken as that */

/* Two's complement where signed. */
typedef struct {
	guint64 high;
	guint64 low;
} Wide;

typedef struct {
	gint32 bin;
	guint64 count;
} Bin;

struct WpDelay {
	guint64 count;
	Wide sum;
	Wide squares; /* saturates */
	gint64 min;
	gint64 max;
	Bin *bins; /* by bin; NULL while min == max */
	guint32 n_bins;
	guint32 room;
};

static Wide
wide_add(Wide a, Wide b)
{
	Wide sum = { a.high + b.high, a.low + b.low };
	if (sum.low < a.low)
		sum.high++;
	return sum;
}

/* Of numbers that are not negative: the greatest one where the sum does not fit. */
static Wide
wide_add_saturating(Wide a, Wide b)
{
	Wide sum = wide_add(a, b);
	gboolean over = sum.high < a.high || (sum.high == a.high && sum.low < a.low);
	return over ? (Wide){ G_MAXUINT64, G_MAXUINT64 } : sum;
}

static Wide
wide_from_signed(gint64 value)
{
	return (Wide){ value < 0 ? G_MAXUINT64 : 0, (guint64)value };
}

/* VALUE times N, by halves of 32 bits. */
static Wide
wide_multiply(guint64 value, guint64 n)
{
	guint64 value_low = value & G_MAXUINT32, value_high = value >> 32;
	guint64 n_low = n & G_MAXUINT32, n_high = n >> 32;
	guint64 cross = value_high * n_low, other = value_low * n_high;
	Wide product = { value_high * n_high + (cross >> 32) + (other >> 32), value_low * n_low };

	product = wide_add(product, (Wide){ 0, cross << 32 });
	return wide_add(product, (Wide){ 0, other << 32 });
}

static double
wide_to_double(Wide value)
{
	return ldexp((double)value.high, 64) + (double)value.low;
}

static double
wide_signed_to_double(Wide value)
{
	if (!(value.high >> 63))
		return wide_to_double(value);
	return -wide_to_double(wide_add((Wide){ ~value.high, ~value.low }, (Wide){ 0, 1 }));
}

/* Bin 0 holds 0; values below 0 have bins below 0. */
static gint32
bin_of(gint64 ns)
{
	guint64 size = ns < 0 ? (guint64)-ns : (guint64)ns;
	gint32 bin = (gint32)size;

	if (size >= SUB) {
		int shift = 63 - SUB_BITS - __builtin_clzll(size);
		bin = (gint32)((shift << SUB_BITS) + (gint32)(size >> shift));
	}
	return ns < 0 ? -bin : bin;
}

/* Smallest size of a value in the bin numbered BIN >= 0. */
static gint64
bin_low(gint32 bin)
{
	if (bin < SUB)
		return bin;
	int shift = (bin >> SUB_BITS) - 1;
	return (gint64)((bin & (SUB - 1)) + SUB) << shift;
}

/* The bounds [low, high) of BIN. */
static void
bin_bounds(gint32 bin, gint64 *out_low, gint64 *out_high)
{
	if (bin >= 0) {
		*out_low = bin_low(bin);
		*out_high = bin_low(bin + 1);
	} else {
		*out_low = 1 - bin_low(1 - bin);
		*out_high = 1 - bin_low(-bin);
	}
}

WpDelay *
wp_delay_new(void)
{
	return g_new0(WpDelay, 1);
}

void
wp_delay_free(WpDelay *delay)
{
	if (!delay)
		return;
	g_free(delay->bins);
	g_free(delay);
}

static void
add_to_bin(WpDelay *delay, gint32 bin, guint64 count)
{
	guint32 low = 0, high = delay->n_bins;

	while (low < high) {
		guint32 middle = (low + high) / 2;
		if (delay->bins[middle].bin < bin)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < delay->n_bins && delay->bins[low].bin == bin) {
		delay->bins[low].count += count;
		return;
	}
	if (delay->n_bins == delay->room) {
		delay->room = delay->room ? delay->room * 2 : 4;
		delay->bins = g_renew(Bin, delay->bins, delay->room);
	}
	memmove(&delay->bins[low + 1], &delay->bins[low],
		(delay->n_bins - low) * sizeof *delay->bins);
	delay->bins[low] = (Bin){ bin, count };
	delay->n_bins++;
}

/* Gives a delay whose times are all equal its bin. */
static void
make_bins(WpDelay *delay)
{
	if (!delay->bins && delay->count)
		add_to_bin(delay, bin_of(delay->min), delay->count);
}

static void
widen(WpDelay *delay, gint64 min, gint64 max)
{
	delay->min = delay->count ? MIN(delay->min, min) : min;
	delay->max = delay->count ? MAX(delay->max, max) : max;
}

void
wp_delay_add(WpDelay *delay, gint64 ns)
{
	gint64 time = CLAMP(ns, -TIME_MAX, TIME_MAX);
	guint64 size = (guint64)(time < 0 ? -time : time);

	if (delay->bins || (delay->count && time != delay->min)) {
		make_bins(delay);
		add_to_bin(delay, bin_of(time), 1);
	}
	widen(delay, time, time);
	delay->count++;
	delay->sum = wide_add(delay->sum, wide_from_signed(time));
	delay->squares = wide_add_saturating(delay->squares, wide_multiply(size, size));
}

void
wp_delay_merge(WpDelay *delay, const WpDelay *other)
{
	if (!other->count)
		return;
	if (delay->count && (delay->bins || other->bins || delay->min != other->min)) {
		make_bins(delay);
		if (!other->bins)
			add_to_bin(delay, bin_of(other->min), other->count);
	}
	for (guint32 i = 0; i < other->n_bins; i++)
		add_to_bin(delay, other->bins[i].bin, other->bins[i].count);
	widen(delay, other->min, other->max);
	delay->count += other->count;
	delay->sum = wide_add(delay->sum, other->sum);
	delay->squares = wide_add_saturating(delay->squares, other->squares);
}

guint64
wp_delay_count(const WpDelay *delay)
{
	return delay->count;
}

double
wp_delay_sum_ns(const WpDelay *delay)
{
	return wide_signed_to_double(delay->sum);
}

double
wp_delay_mean_ns(const WpDelay *delay)
{
	return delay->count ? wp_delay_sum_ns(delay) / (double)delay->count : 0;
}

double
wp_delay_sd_ns(const WpDelay *delay)
{
	double mean = wp_delay_mean_ns(delay);
	if (delay->min == delay->max)
		return 0; /* without rounding */
	double variance = wide_to_double(delay->squares) / (double)delay->count - mean * mean;
	return variance > 0 ? sqrt(variance) : 0;
}

gint64
wp_delay_min_ns(const WpDelay *delay)
{
	return delay->min;
}

gint64
wp_delay_max_ns(const WpDelay *delay)
{
	return delay->max;
}

/* The nearest rank: the smallest time that at least QUANTILE of all times do not exceed. */
gint64
wp_delay_quantile_ns(const WpDelay *delay, double quantile)
{
	double rank = ceil(quantile * (double)delay->count);
	guint64 seen = 0;

	if (rank <= 1 || !delay->bins)
		return delay->min;
	if (rank >= (double)delay->count)
		return delay->max;
	for (guint32 i = 0; i < delay->n_bins; i++) {
		seen += delay->bins[i].count;
		if ((double)seen >= rank) {
			gint64 low, high;
			bin_bounds(delay->bins[i].bin, &low, &high);
			return CLAMP(low + (high - 1 - low) / 2, delay->min, delay->max);
		}
	}
	return delay->max;
}

void
wp_delay_foreach_bin(const WpDelay *delay, WpDelayBinFunc func, gpointer data)
{
	Bin only = { bin_of(delay->min), delay->count };
	const Bin *bins = delay->bins ? delay->bins : &only;
	guint32 n = delay->bins ? delay->n_bins : delay->count ? 1 : 0;

	for (guint32 i = 0; i < n; i++) {
		gint64 low, high;
		bin_bounds(bins[i].bin, &low, &high);
		func(low, high, bins[i].count, data);
	}
}
