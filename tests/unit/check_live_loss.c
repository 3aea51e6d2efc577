/* Checks when packets were dropped: frames and ticks in, shares of windows out. */
#include <math.h>
#include <stdio.h>

#include "report/live-loss.h"
#include "tests/support/suite.h"

#define NS_PER_S  G_GINT64_CONSTANT(1000000000)
#define NS_PER_MS G_GINT64_CONSTANT(1000000)

/* TEXT: "f T N": N frames of the time T, in ms; "t T N": a tick at T, N dropped in all. */
static WpLiveLoss *
feed(const char *text, gint64 start_ns)
{
	WpLiveLoss *loss = wp_live_loss_new();
	g_auto(GStrv) steps = g_strsplit(text, ", ", -1);

	for (char **step = steps; *step && **step; step++) {
		char what;
		long long time_ms, n;
		ck_assert_int_eq(sscanf(*step, "%c %lld %lld", &what, &time_ms, &n), 3);
		gint64 time_ns = start_ns + time_ms * NS_PER_MS;
		if (what == 't')
			wp_live_loss_tick(loss, time_ns, (guint64)n);
		for (long long i = 0; what == 'f' && i < n; i++)
			wp_live_loss_frame(loss, time_ns);
	}
	return loss;
}

START_TEST(shares)
{
	static const struct {
		const char *why, *steps;
		gint64 begin_ms, end_ms;
		double share;
	} rows[] = {
		{ "nothing at all", "", 0, 10000, 0 },
		{ "nothing dropped", "t 0 0, f 100 50, t 1000 0", 0, 1000, 0 },
		{ "what was dropped before the first tick was at that", "f 100 60, t 500 40", 0,
		  1000, 0.4 },
		{ "within a second", "t 0 5, f 100 90, t 900 15", 0, 1000, 15 / 105.0 },
		{ "by seconds", "t 0 0, f 500 30, f 1500 10, t 2000 20", 0, 1000, 0.25 },
		{ "... the other", "t 0 0, f 500 30, f 1500 10, t 2000 20", 1000, 2000, 0.5 },
		{ "... both", "t 0 0, f 500 30, f 1500 10, t 2000 20", 0, 2000, 20 / 60.0 },
		{ "... what comes later counts for its own time",
		  "t 0 0, t 2000 20, f 500 30, f 1500 10", 0, 1000, 0.25 },
		{ "all of it", "t 0 0, f 500 30, t 9000 900", 4000, 6000, 1 },
		{ "nothing known of it", "t 0 0, f 500 30, t 9000 900", 20000, 30000, 0 },
		{ "part of seconds", "t 500 0, f 700 50, f 1100 50, t 1500 100", 0, 1000, 0.5 },
		{ "the clock was set back", "t 9000 0, f 3500 50, t 4000 50, f 4100 50", 4000, 5000,
		  0.5 },
		{ "counters that began anew", "t 0 100, f 100 10, t 900 3, f 950 10", 0, 1000,
		  1 / 1.2 },
		{ "long ago", "t 0 0, f 500 10, t 1000 10, f 4097500 10, t 4098000 10", 1000, 2000,
		  0 },
		{ "a gap longer than what is kept", "t 0 0, t 9000000 9000000", 8999000, 9000000,
		  1 },
	};
	static const gint64 starts[] = { 0, G_GINT64_CONSTANT(1795577101) * NS_PER_S,
					 -20 * NS_PER_S };
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
		for (gsize s = 0; s < G_N_ELEMENTS(starts); s++) {
			g_autoptr(WpLiveLoss) loss = feed(rows[i].steps, starts[s]);
			double share =
				wp_live_loss_share(loss, starts[s] + rows[i].begin_ms * NS_PER_MS,
						   starts[s] + rows[i].end_ms * NS_PER_MS);
			ck_assert_msg(fabs(share - rows[i].share) < 1e-9, "%s: %g", rows[i].why,
				      share);
		}
}
END_TEST

WP_SUITE("live loss", shares)
