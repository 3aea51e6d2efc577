/* Arrival processes: a const WpArrivalKind each, one line in kinds[]. */
#include "traces/arrivals.h"

#include <math.h>
#include <string.h>

#include "traces/value.h"

/* Between two arrivals: these are not gone through one by one. */
#define MANY_BURSTS 10000

struct WpArrivalKind {
	const char *name;
	gboolean is_bursty; /* takes the two lengths */
	double (*next)(const WpArrivals *arrivals, double *burst_ns, WpRandom *random);
};

static double
next_regular(const WpArrivals *arrivals, double *burst_ns, WpRandom *random)
{
	return arrivals->gap_ns;
}

static double
next_poisson(const WpArrivals *arrivals, double *burst_ns, WpRandom *random)
{
	return arrivals->gap_ns * wp_random_exponential(random);
}

/* The sum of N exponential lengths, N many: normal. */
static double
sum_of_many(double n, WpRandom *random)
{
	return MAX(n + sqrt(n) * wp_random_normal(random), 0);
}

/*
 * Over a time of so many bursts their number is Poisson distributed, which is all but normal; and what is left of
 * the burst that is then on is as long as any.
 */
static double
pass_bursts(const WpArrivals *arrivals, double rest, double *burst_ns, WpRandom *random)
{
	double n_ends = 1 + sum_of_many(rest / arrivals->on_ns, random);

	*burst_ns = arrivals->on_ns * wp_random_exponential(random);
	return arrivals->off_ns * sum_of_many(n_ends, random);
}

/* Time in bursts runs on; pauses are put in where it comes to the end of one. */
static double
next_in_bursts(const WpArrivals *arrivals, double *burst_ns, WpRandom *random)
{
	double gap = arrivals->gap_ns * wp_random_exponential(random), pauses = 0;
	double rest = gap;

	if (rest - *burst_ns > MANY_BURSTS * arrivals->on_ns)
		return gap + pass_bursts(arrivals, rest - *burst_ns, burst_ns, random);
	while (rest > *burst_ns) {
		rest -= *burst_ns;
		pauses += arrivals->off_ns * wp_random_exponential(random);
		*burst_ns = arrivals->on_ns * wp_random_exponential(random);
	}
	*burst_ns -= rest;
	return gap + pauses;
}

static const WpArrivalKind kinds[] = {
	{ "regular", FALSE, next_regular },
	{ "poisson", FALSE, next_poisson },
	{ "bursts", TRUE, next_in_bursts },
};

static const WpArrivalKind *
find_kind(const char *name)
{
	for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

static gboolean
read_lengths(const char **at, WpArrivals *arrivals)
{
	return wp_value_take(at, ',') && wp_value_duration(at, &arrivals->on_ns) &&
	       arrivals->on_ns >= 1 && wp_value_take(at, ',') &&
	       wp_value_duration(at, &arrivals->off_ns);
}

gboolean
wp_arrivals_read(const char **at, WpArrivals *out_arrivals, char **out_problem)
{
	const char *begin = *at;
	g_autofree char *name = wp_value_word(at);
	WpArrivals arrivals = { name ? find_kind(name) : NULL, 0, 0, 0 };
	double rate;

	if (!arrivals.kind || !wp_value_take(at, '(') || !wp_value_rate(at, &rate) ||
	    (arrivals.kind->is_bursty && !read_lengths(at, &arrivals)) || !wp_value_take(at, ')')) {
		*out_problem =
			g_strdup_printf("\"%.40s\" is none of regular(100/s), poisson(100/s), "
					"bursts(500/s, 200ms, 800ms)",
					begin);
		return FALSE;
	}
	arrivals.gap_ns = 1e9 / rate;
	*out_arrivals = arrivals;
	return TRUE;
}

gint64
wp_arrivals_next(const WpArrivals *arrivals, double *burst_ns, WpRandom *random)
{
	double gap = arrivals->kind->next(arrivals, burst_ns, random);

	return (gint64)(MIN(gap, 1e17) + 0.5);
}
