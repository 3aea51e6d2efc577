/* Delays of a place: one where they only stray, a tail or not, several where they part. */
#include "infer/xcorr-spread.h"

#include <math.h>

#include "infer/random.h"
#include "tests/support/suite.h"

#define MS      1e6
#define S       1e9
#define N_PARTS 3

typedef struct {
	double messages;
	double from_ns; /* evenly to TO, or at least this, and exponentially of mean TO beyond it */
	double to_ns;
	gboolean is_exponential;
} Part;

/* Where there are several delays, most messages first. */
typedef struct {
	const char *what;
	Part parts[N_PARTS];
	double tick_ns;
	double quantum_ns;
	guint n; /* delays told */
	double delays_ns[N_PARTS];
	double messages[N_PARTS];
} Row;

static const Row rows[] = {
	{ "one", { { 1000, 1 * MS, 2 * MS, FALSE } }, 1, 0, 1, { 1.5 * MS }, { 1000 } },
	{ "a tail", { { 5000, 0, 3 * MS, TRUE } }, 1, 0, 1, { 2.079 * MS }, { 5000 } },
	{ "a tail behind a constant",
	  { { 5000, 1 * MS, 9 * MS, TRUE } },
	  1,
	  0,
	  1,
	  { 7.24 * MS },
	  { 5000 } },
	{ "always the same", { { 5000, 3 * MS, 3 * MS, FALSE } }, 1, 0, 1, { 3 * MS }, { 5000 } },
	{ "none", { { 0, 0, 0, FALSE } }, 1, 0, 1, { 0 }, { 0 } },
	{ "found in a cache or not",
	  { { 700, 0.05 * MS, 0.09 * MS, FALSE }, { 300, 4 * MS, 8 * MS, FALSE } },
	  1,
	  0,
	  2,
	  { 0.07 * MS, 6 * MS },
	  { 700, 300 } },
	{ "the longer one more often",
	  { { 300, 0.05 * MS, 0.09 * MS, FALSE }, { 700, 4 * MS, 8 * MS, FALSE } },
	  1,
	  0,
	  2,
	  { 6 * MS, 0.07 * MS },
	  { 700, 300 } },
	{ "in a tail, too",
	  { { 800, 0, 1 * MS, TRUE }, { 200, 200 * MS, 203 * MS, FALSE } },
	  1,
	  0,
	  2,
	  { 0.69 * MS, 201.5 * MS },
	  { 800, 200 } },
	{ "three of them",
	  { { 500, 1 * MS, 2 * MS, FALSE },
	    { 300, 20 * MS, 30 * MS, FALSE },
	    { 200, 500 * MS, 600 * MS, FALSE } },
	  1,
	  0,
	  3,
	  { 1.5 * MS, 25 * MS, 550 * MS },
	  { 500, 300, 200 } },
	{ "hardly twice as long",
	  { { 500, 1 * MS, 1.2 * MS, FALSE }, { 500, 2.2 * MS, 2.4 * MS, FALSE } },
	  1,
	  0,
	  1,
	  { 1.2 * MS },
	  { 1000 } },
	{ "too few of the other",
	  { { 980, 1 * MS, 2 * MS, FALSE }, { 20, 200 * MS, 210 * MS, FALSE } },
	  1,
	  0,
	  1,
	  { 1.51 * MS },
	  { 1000 } },
	{ "too few in all",
	  { { 20, 1 * MS, 2 * MS, FALSE }, { 20, 200 * MS, 210 * MS, FALSE } },
	  1,
	  0,
	  1,
	  { 2 * MS },
	  { 40 } },
	/* As mail has it, in whole seconds. */
	{ "ticks",
	  { { 400, 1 * S, 1 * S, FALSE },
	    { 300, 2 * S, 2 * S, FALSE },
	    { 300, 3 * S, 3 * S, FALSE } },
	  1 * S,
	  0,
	  1,
	  { 2 * S },
	  { 1000 } },
	{ "a pause of ten ticks",
	  { { 750, 2 * S, 2 * S, FALSE }, { 250, 12 * S, 12 * S, FALSE } },
	  1 * S,
	  0,
	  2,
	  { 2 * S, 12 * S },
	  { 750, 250 } },
	{ "the same, by a quantum nearly as long",
	  { { 750, 2 * S, 2 * S, FALSE }, { 250, 12 * S, 12 * S, FALSE } },
	  1 * S,
	  9 * S,
	  2,
	  { 2 * S, 12 * S },
	  { 750, 250 } },
	{ "the same, by a longer quantum",
	  { { 750, 2 * S, 2 * S, FALSE }, { 250, 12 * S, 12 * S, FALSE } },
	  1 * S,
	  11 * S,
	  1,
	  { 2 * S },
	  { 1000 } },
};

static WpSpread *
spread_of(const Row *row, guint64 seed)
{
	WpSpread *spread = wp_spread_new(0, (gint64)(1000 * S));
	WpRandom64 random = { WP_RANDOM64_SEED * (2 * seed + 1) };
	for (guint i = 0; i < N_PARTS; i++)
		for (guint k = 0; k < (guint)row->parts[i].messages; k++) {
			const Part *part = &row->parts[i];
			double u = wp_random64_share(&random);
			double delay = part->is_exponential
					       ? part->from_ns - part->to_ns * log(u)
					       : part->from_ns + (part->to_ns - part->from_ns) * u;
			/* In halves: a message may be here only likely. */
			wp_spread_add(spread, (gint64)delay, 0.5);
			wp_spread_add(spread, (gint64)delay, 0.5);
		}
	return spread;
}

/* Chance must not part them, nor join them: each row is dealt anew a number of times. */
START_TEST(parts)
{
	const Row *row = &rows[_i];
	double n = 0;
	for (guint i = 0; i < N_PARTS; i++)
		n += row->parts[i].messages;
	for (int seed = 1; seed <= wp_test_number(200, 20); seed++) {
		WpSpread *spread = spread_of(row, (guint64)seed);
		guint32 n_spikes;
		g_autofree WpSpectrumSpike *spikes =
			wp_spread_spikes(spread, n, row->tick_ns, row->quantum_ns, &n_spikes);
		ck_assert_msg(n_spikes == row->n, "%s: %u delays for %u, seed %d", row->what,
			      n_spikes, row->n, seed);
		for (guint i = 0; i < n_spikes; i++) {
			ck_assert_msg(fabs(spikes[i].delay_ns - row->delays_ns[i]) <=
					      0.2 * row->delays_ns[i],
				      "%s: %g ms", row->what, spikes[i].delay_ns / MS);
			ck_assert_msg(fabs(spikes[i].messages - row->messages[i]) <= 0.04 * n,
				      "%s: %g messages", row->what, spikes[i].messages);
		}
		wp_spread_free(spread);
	}
}
END_TEST

/* What is said where nothing was counted. */
START_TEST(without_counts)
{
	guint32 n;
	g_autofree WpSpectrumSpike *spikes = wp_spread_spikes(NULL, 7, 1, 0, &n);
	ck_assert_uint_eq(n, 1);
	ck_assert_double_eq(spikes[0].messages, 7);
	ck_assert_double_eq(spikes[0].delay_ns, 0);
}
END_TEST

WP_SUITE_OF_ROWS("spread", { parts, G_N_ELEMENTS(rows) }, { without_counts, 0 })
