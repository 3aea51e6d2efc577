/*
 * Cross-correlation: what chance makes of it, and what it costs.
 *
 *     bench_xcorr trials [N [FIRST]]  false edges, and true ones found, in N trials of each kind of traffic,
 *                                     of the seeds from FIRST on; those that are not as they should be by name
 *     bench_xcorr cost           against one transform over the whole duration, the paper's own way
 *     bench_xcorr long           10^9 quanta, 10^7 messages: time and memory of the whole inference
 *
 * A trial is 10^5 quanta of 1 ms with 5,000 messages an edge, of two systems that share node 2, and a third
 * whose node 6 sends of its own accord, at rates that go up and down with what it receives:
 *
 *     0 -> 2 -> 3      1 -> 2 -> 4      5 -> 6, 6 -> 7
 *
 * True: (0,2,3) after 20 +- 4 ms, (1,2,4) after 50 +- 10 ms. All else that is found is false.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "infer/random.h"
#include "infer/xcorr-model.h"
#include "infer/xcorr.h"

#define MS         1e6
#define TRIAL_NS   100e9
#define N_MESSAGES 5000

typedef enum {
	STEADY,
	DRIFTING, /* from 1 to 3 times the rate and back, in a sine */
	DOUBLING, /* twice the rate every other 10 s */
	STOPPING, /* on and off, some seconds each */
	BURSTS,   /* ten messages at a time */
	PERIODIC, /* all of them clocks of 20 ms, that stray by 1 ms */
	N_KINDS
} Kind;

static const char *const kind_names[] = { "steady",   "drifting", "doubling",
					  "stopping", "bursts",   "periodic" };

static double
normal(WpRandom64 *random)
{
	double r = sqrt(-2 * log(wp_random64_share(random)));
	return r * cos(2 * G_PI * wp_random64_share(random));
}

/* Relative rate at a time, at most 1. */
static double
rate(Kind kind, double time, double phase)
{
	double s = time / 1e9 + phase;
	switch (kind) {
	case DRIFTING:
		return (2 + sin(2 * G_PI * s / 40)) / 3;
	case DOUBLING:
		return fmod(s, 20) < 10 ? 1 : 0.5;
	case STOPPING:
		return fmod(s, 7) < 3 ? 1 : 0;
	default:
		return 1;
	}
}

static void
send(WpMessages *messages, guint32 sender, guint32 receiver, double time)
{
	WpEdge edge = { .sender = sender,
			.receiver = receiver,
			.sender_host = sender,
			.receiver_host = receiver };
	wp_messages_add(messages, &edge, (gint64)time);
}

/* N times of KIND, in no order. PHASE: where its rate stands at the beginning. */
static void
make_times(WpRandom64 *random, Kind kind, double phase, double *times)
{
	double begin = wp_random64_share(random) * 20 * MS;
	for (int i = 0; i < N_MESSAGES; i++) {
		if (kind == PERIODIC) {
			times[i] = begin + i * 20 * MS + normal(random) * MS;
			continue;
		}
		if (kind == BURSTS && i % 10) {
			times[i] = times[i - 1] + wp_random64_share(random) * MS;
			continue;
		}
		do
			times[i] = wp_random64_share(random) * TRIAL_NS;
		while (wp_random64_share(random) > rate(kind, times[i], phase));
	}
}

static WpMessages *
make_trial(Kind kind, guint64 seed)
{
	WpRandom64 random = { WP_RANDOM64_SEED ^ (seed + 1) * 0x9e3779b97f4a7c15u };
	WpMessages *messages = wp_messages_new();
	double times[N_MESSAGES];
	double phase = wp_random64_share(&random) * 40;
	make_times(&random, kind, phase, times);
	for (int i = 0; i < N_MESSAGES; i++) {
		send(messages, 0, 2, times[i]);
		send(messages, 2, 3, times[i] + fabs(20 + 4 * normal(&random)) * MS);
	}
	/* A clock whose effects stray by half its period leaves nothing to be seen. */
	make_times(&random, kind == PERIODIC ? STEADY : kind, wp_random64_share(&random) * 40,
		   times);
	for (int i = 0; i < N_MESSAGES; i++) {
		send(messages, 1, 2, times[i]);
		send(messages, 2, 4, times[i] + fabs(50 + 10 * normal(&random)) * MS);
	}
	make_times(&random, kind, phase, times);
	for (int i = 0; i < N_MESSAGES; i++)
		send(messages, 5, 6, times[i]);
	make_times(&random, kind, seed % 2 ? phase : phase + 3, times);
	for (int i = 0; i < N_MESSAGES; i++)
		send(messages, 6, 7, times[i]);
	wp_messages_freeze(messages);
	return messages;
}

/* Counts of one trial. */
typedef struct {
	int false_edges;
	int found;
} Outcome;

static Outcome
run_trial(Kind kind, guint64 seed)
{
	Outcome outcome = { 0, 0 };
	g_autoptr(WpMessages) messages = make_trial(kind, seed);
	guint8 roots[8] = { 1, 1, 0, 0, 0, 1, 0, 0 };
	g_autoptr(WpSpectra) spectra = wp_xcorr_spectra(messages, roots, NULL, NULL);
	for (guint32 k = 0; k < spectra->vertices->len; k++) {
		const WpVertex *v = wp_spectra_vertex(spectra, k);
		if (v->parent == WP_NO_VERTEX)
			continue;
		guint32 from = wp_spectra_vertex(spectra, v->parent)->sender;
		if ((from == 0 && v->receiver == 3) || (from == 1 && v->receiver == 4)) {
			outcome.found++;
			continue;
		}
		outcome.false_edges++;
		printf("%s, seed %" G_GUINT64_FORMAT ": %u -> %u -> %u is false, %.0f messages\n",
		       kind_names[kind], seed, from, v->sender, v->receiver, v->messages);
	}
	if (outcome.found != 2)
		printf("%s, seed %" G_GUINT64_FORMAT ": %d true edges of 2 found\n",
		       kind_names[kind], seed, outcome.found);
	return outcome;
}

static void
run_trials(int n, int first)
{
	for (int kind = 0; kind < N_KINDS; kind++) {
		Outcome all = { 0, 0 };
		for (int i = first; i < first + n; i++) {
			Outcome one = run_trial((Kind)kind, (guint64)i);
			all.false_edges += one.false_edges;
			all.found += one.found;
		}
		printf("%-10s %5d trials: %d false edges, %d of %d true ones found\n",
		       kind_names[kind], n, all.false_edges, all.found, 2 * n);
		fflush(stdout);
	}
}

static double
seconds(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* N messages at random over QUANTA, and as many 20 +- 4 quanta later. */
static void
make_pair(gsize n, gint64 quanta, WpSignal **out_first, WpSignal **out_second)
{
	WpRandom64 random = { WP_RANDOM64_SEED };
	g_autoptr(WpMessages) messages = wp_messages_new();
	for (gsize i = 0; i < n; i++) {
		double time = wp_random64_share(&random) * (double)quanta;
		send(messages, 0, 1, time);
		send(messages, 1, 2, time + fabs(20 + 4 * normal(&random)));
	}
	wp_messages_freeze(messages);
	*out_first = wp_signal_new(messages->edges[0].times_ns, n, 0, 1);
	*out_second = wp_signal_new(messages->edges[1].times_ns, n, 0, 1);
}

/* An edge of the multi-tier trace: 5,700 messages in 500 s; largest lag 10 s. */
static void
run_cost(void)
{
	static const struct {
		gint64 quanta;
		gsize n;
	} rows[] = { { 100000, 5700 },    { 1000000, 5700 },   { 1000000, 34000 },
		     { 1000000, 500000 }, { 10000000, 57000 }, { 10000000, 5000000 } };
	g_autoptr(WpXcorr) xcorr = wp_xcorr_new();
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		WpLags lags = { 0, rows[i].quanta / 50 };
		WpSignal *a, *b;
		double times[WP_XCORR_N_METHODS] = { 0 };
		g_autofree double *out = g_new(double, (gsize)lags.max + 1);
		make_pair(rows[i].n, rows[i].quanta, &a, &b);
		WpXcorrCost cost = wp_xcorr_cost(a, b, lags);
		for (int m = WP_XCORR_SPARSE; m < WP_XCORR_N_METHODS; m++) {
			double best = (double)NAN;
			for (int k = 0; k < 3 && cost.operations[m] < 1e9; k++) {
				double begin = seconds();
				wp_xcorr_run(xcorr, (WpXcorrMethod)m, a, b, WP_SIGNAL_ROOT, lags,
					     out);
				best = fmin(best, seconds() - begin);
			}
			times[m] = best; /* never: would take for ever */
		}
		double whole = times[WP_XCORR_WHOLE];
		printf("%8" G_GINT64_FORMAT " quanta %7zu messages, %6" G_GINT64_FORMAT
		       " lags: whole %.4f s, segmented %.4f s (%.1f times less), sparse %.4f s "
		       "(%.1f); chosen %s: %.1f times less\n",
		       rows[i].quanta, rows[i].n, lags.max, whole, times[WP_XCORR_SEGMENTED],
		       whole / times[WP_XCORR_SEGMENTED], times[WP_XCORR_SPARSE],
		       whole / times[WP_XCORR_SPARSE], wp_xcorr_method_names[cost.best],
		       whole / times[cost.best]);
		fflush(stdout);
		wp_signal_free(a);
		wp_signal_free(b);
	}
}

/* Four edges of a chain, N messages in all, in DAYS days. */
static void
run_long(double n, double duration_ns)
{
	WpRandom64 random = { WP_RANDOM64_SEED };
	g_autoptr(WpMessages) messages = wp_messages_new();
	double begin = seconds();
	for (gsize i = 0; i < (gsize)(n / 4); i++) {
		double time = wp_random64_share(&random) * duration_ns;
		for (guint32 k = 0; k < 4; k++) {
			send(messages, k, k + 1, time);
			time += fabs(50 + 10 * normal(&random)) * MS;
		}
	}
	wp_messages_freeze(messages);
	double made = seconds();
	g_autoptr(WpSpectra) spectra = wp_xcorr_spectra(messages, NULL, NULL, NULL);
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	printf("%.0e messages in %.1e quanta of 1 ms: made in %.1f s, inferred in %.1f s, %ld MB; "
	       "%u "
	       "edges of paths\n",
	       n, duration_ns / MS, made - begin, seconds() - made, usage.ru_maxrss / 1024,
	       spectra->vertices->len);
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "cost";
	if (strcmp(what, "trials") == 0) {
		run_trials(argc > 2 ? (int)strtol(argv[2], NULL, 10) : 170,
			   argc > 3 ? (int)strtol(argv[3], NULL, 10) : 0);
	} else if (strcmp(what, "long") == 0) {
		run_long(1e6, 1e14);
		run_long(1e7, 1e15);
	} else {
		run_cost();
	}
	return 0;
}
