/* Signals, cross-correlation by every way, spikes; the paper's algorithm on traces made by hand. */
#include <math.h>
#include <string.h>

#include "infer/engine-xcorr.h"
#include "infer/random.h"
#include "infer/signal.h"
#include "infer/spike.h"
#include "infer/xcorr-model.h"
#include "infer/xcorr.h"
#include "tests/support/suite.h"

#define TOLERANCE 1e-9 /* of the product of the norms */

static WpSignal *
signal_of(const gint64 *times, gsize n)
{
	return wp_signal_new(times, n, 0, 1);
}

START_TEST(bins)
{
	static const struct {
		gint64 time, origin, quantum, bin;
	} rows[] = {
		{ 0, 0, 10, 0 },    { 9, 0, 10, 0 },    { 10, 0, 10, 1 },   { -1, 0, 10, -1 },
		{ -10, 0, 10, -1 }, { -11, 0, 10, -2 }, { 107, 100, 5, 1 }, { 99, 100, 5, -1 },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
		ck_assert_int_eq(wp_signal_bin(rows[i].time, rows[i].origin, rows[i].quantum),
				 rows[i].bin);
}
END_TEST

START_TEST(signal_counts)
{
	static const gint64 times[] = { 0, 3, 9, 10, 35, 39, 39 };
	g_autoptr(WpSignal) signal = wp_signal_new(times, G_N_ELEMENTS(times), 0, 10);
	double out[5];
	ck_assert_uint_eq(signal->n, 3);
	ck_assert(wp_signal_fill(signal, WP_SIGNAL_COUNT, -1, 5, out));
	static const double counts[] = { 0, 3, 1, 0, 3 };
	for (int i = 0; i < 5; i++)
		ck_assert_double_eq(out[i], counts[i]);
	ck_assert(wp_signal_fill(signal, WP_SIGNAL_ROOT, 0, 2, out));
	ck_assert_double_eq(out[0], sqrt(3));
	ck_assert(!wp_signal_fill(signal, WP_SIGNAL_ROOT, 4, 5, out));
	ck_assert_double_eq_tol(wp_signal_norm(signal, WP_SIGNAL_COUNT), sqrt(19), 1e-12);
	ck_assert_uint_eq(wp_signal_find(signal, 2), 2);
	ck_assert_uint_eq(wp_signal_find(signal, 4), 3);
}
END_TEST

static gsize
lags_of(WpLags lags)
{
	return (gsize)(lags.max - lags.min + 1);
}

/* An impulse against an impulse: one value, at the lag between them, by every way. */
START_TEST(impulse)
{
	static const struct {
		gint64 first, second, at;
	} rows[] = {
		{ 0, 0, 0 },   { 0, 7, 7 },    { 7, 0, -7 },      { 1000000, 1000020, 20 },
		{ 3, 23, 20 }, { 23, 3, -20 }, { -40, -60, -20 },
	};
	const WpLags lags = { -20, 20 };
	g_autoptr(WpXcorr) xcorr = wp_xcorr_new();
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpSignal) a = signal_of(&rows[i].first, 1);
		g_autoptr(WpSignal) b = signal_of(&rows[i].second, 1);
		for (int m = 0; m < WP_XCORR_N_METHODS; m++) {
			double out[41];
			wp_xcorr_run(xcorr, (WpXcorrMethod)m, a, b, WP_SIGNAL_COUNT, lags, out);
			for (gint64 lag = -20; lag <= 20; lag++)
				ck_assert_double_eq_tol(out[lag + 20], lag == rows[i].at,
							TOLERANCE);
		}
	}
}
END_TEST

typedef enum {
	SPARSE,  /* few bins, far apart */
	DENSE,   /* most bins filled */
	BURSTS,  /* thousands in a bin, then nothing */
	REGULAR, /* every 16th bin */
	ENDS,    /* the first bin and the last */
	N_SHAPES
} Shape;

static WpSignal *
random_signal(WpRandom64 *random, Shape shape, gint64 duration)
{
	g_autoptr(GArray) times = g_array_new(FALSE, FALSE, sizeof(gint64));
	for (gint64 t = 0; t < duration; t++) {
		guint32 n = 0;
		switch (shape) {
		case SPARSE:
			n = wp_random64_below(random, 50) == 0;
			break;
		case DENSE:
			n = wp_random64_below(random, 5);
			break;
		case BURSTS:
			n = wp_random64_below(random, 200) == 0 ? 3000 : 0;
			break;
		case REGULAR:
			n = t % 16 == 0;
			break;
		default:
			n = t == 0 || t == duration - 1 ? 9 : 0;
		}
		for (guint32 i = 0; i < n; i++)
			g_array_append_val(times, t);
	}
	return signal_of((const gint64 *)(gconstpointer)times->data, times->len);
}

static void
agree(WpXcorr *xcorr, const WpSignal *a, const WpSignal *b, WpSignalValue value, WpLags lags)
{
	gsize n = lags_of(lags);
	g_autofree double *want = g_new(double, n);
	g_autofree double *got = g_new(double, n);
	double bound = TOLERANCE * wp_signal_norm(a, value) * wp_signal_norm(b, value);
	wp_xcorr_run(xcorr, WP_XCORR_DIRECT, a, b, value, lags, want);
	for (int m = WP_XCORR_SPARSE; m < WP_XCORR_N_METHODS; m++) {
		wp_xcorr_run(xcorr, (WpXcorrMethod)m, a, b, value, lags, got);
		/* Check writes a file at each of its asserts: too much for each lag. */
		for (gsize i = 0; i < n; i++)
			if (!(fabs(got[i] - want[i]) <= bound))
				ck_abort_msg("method %d, lag %zu: %g, not %g", m, i, got[i],
					     want[i]);
	}
	if (value != WP_SIGNAL_COUNT)
		return;
	g_autofree guint64 *counts = g_new(guint64, n);
	wp_xcorr_counts(a, b, lags, counts);
	for (gsize i = 0; i < n; i++)
		if (counts[i] != (guint64)want[i])
			ck_abort_msg("lag %zu: %" G_GUINT64_FORMAT ", not %g", i, counts[i],
				     want[i]);
}

/* Every way against the O(n^2) sum; lags within, beyond and on both sides of the signals. */
START_TEST(agreement)
{
	static const WpLags lags[] = { { 0, 0 },     { 0, 63 },       { -63, 63 },   { 100, 900 },
				       { -900, -1 }, { -3000, 3000 }, { 5000, 5100 } };
	WpRandom64 random = { WP_RANDOM64_SEED };
	g_autoptr(WpXcorr) xcorr = wp_xcorr_new();
	for (int shape = 0; shape < N_SHAPES * N_SHAPES; shape++) {
		gint64 duration = 1 + wp_random64_below(&random, 4000);
		g_autoptr(WpSignal) a = random_signal(&random, (Shape)(shape / N_SHAPES), duration);
		g_autoptr(WpSignal) b = random_signal(&random, (Shape)(shape % N_SHAPES),
						      1 + wp_random64_below(&random, 4000));
		int n = wp_test_number(G_N_ELEMENTS(lags), 2);
		for (int i = 0; i < n && a->n && b->n; i++) {
			agree(xcorr, a, b, WP_SIGNAL_ROOT, lags[i]);
			agree(xcorr, a, b, WP_SIGNAL_COUNT, lags[i]);
		}
	}
}
END_TEST

/* A signal against itself, later: C is its autocorrelation, moved by as much. */
START_TEST(shift)
{
	WpRandom64 random = { WP_RANDOM64_SEED };
	g_autoptr(WpXcorr) xcorr = wp_xcorr_new();
	g_autoptr(WpSignal) a = random_signal(&random, DENSE, 3000);
	g_autoptr(WpSignal) b = random_signal(&random, DENSE, 3000);
	double still[101], moved[101];
	double bound =
		TOLERANCE * wp_signal_norm(a, WP_SIGNAL_ROOT) * wp_signal_norm(b, WP_SIGNAL_ROOT);
	for (int m = 0; m < WP_XCORR_N_METHODS; m++) {
		wp_xcorr_run(xcorr, (WpXcorrMethod)m, a, b, WP_SIGNAL_ROOT, (WpLags){ -50, 50 },
			     still);
		for (gsize i = 0; i < b->n; i++)
			b->bins[i] += 13;
		wp_xcorr_run(xcorr, (WpXcorrMethod)m, a, b, WP_SIGNAL_ROOT, (WpLags){ -37, 63 },
			     moved);
		for (gsize i = 0; i < b->n; i++)
			b->bins[i] -= 13;
		for (int i = 0; i < 101; i++)
			ck_assert_double_eq_tol(moved[i], still[i], bound);
	}
}
END_TEST

/* C of a signal and two others that share no bin = the sum of its C with each. */
START_TEST(linearity)
{
	WpRandom64 random = { WP_RANDOM64_SEED };
	g_autoptr(WpXcorr) xcorr = wp_xcorr_new();
	g_autoptr(WpSignal) a = random_signal(&random, DENSE, 3000);
	g_autoptr(WpSignal) whole = random_signal(&random, DENSE, 3000);
	g_autoptr(WpSignal) even = signal_of(NULL, 0);
	g_autoptr(WpSignal) odd = signal_of(NULL, 0);
	even->bins = g_renew(gint64, even->bins, whole->n);
	even->counts = g_renew(guint32, even->counts, whole->n);
	odd->bins = g_renew(gint64, odd->bins, whole->n);
	odd->counts = g_renew(guint32, odd->counts, whole->n);
	for (gsize i = 0; i < whole->n; i++) {
		WpSignal *to = whole->bins[i] % 2 ? odd : even;
		to->bins[to->n] = whole->bins[i];
		to->counts[to->n++] = whole->counts[i];
	}
	const WpLags lags = { -100, 100 };
	double sum[201], first[201], second[201];
	double bound = TOLERANCE * wp_signal_norm(a, WP_SIGNAL_ROOT) *
		       wp_signal_norm(whole, WP_SIGNAL_ROOT);
	for (int m = 0; m < WP_XCORR_N_METHODS; m++) {
		wp_xcorr_run(xcorr, (WpXcorrMethod)m, a, whole, WP_SIGNAL_ROOT, lags, sum);
		wp_xcorr_run(xcorr, (WpXcorrMethod)m, a, even, WP_SIGNAL_ROOT, lags, first);
		wp_xcorr_run(xcorr, (WpXcorrMethod)m, a, odd, WP_SIGNAL_ROOT, lags, second);
		for (int i = 0; i < 201; i++)
			ck_assert_double_eq_tol(sum[i], first[i] + second[i], bound);
	}
}
END_TEST

/* The cheaper way is the one that has less to do. */
START_TEST(choice)
{
	WpRandom64 random = { WP_RANDOM64_SEED };
	g_autoptr(WpSignal) thin = random_signal(&random, SPARSE, 20000);
	g_autoptr(WpSignal) thick = random_signal(&random, DENSE, 20000);
	ck_assert_int_eq(wp_xcorr_cost(thin, thin, (WpLags){ 0, 1000 }).best, WP_XCORR_SPARSE);
	ck_assert_int_eq(wp_xcorr_cost(thick, thick, (WpLags){ 0, 1000 }).best, WP_XCORR_SEGMENTED);
	thin->n = 0;
	ck_assert_int_eq(wp_xcorr_cost(thin, thick, (WpLags){ 0, 1000 }).best, WP_XCORR_SPARSE);
}
END_TEST

/* N = 2 and S = 1 standard deviations; rows are drawn so that both are near whole numbers. */
START_TEST(spikes)
{
	static const struct {
		const char *heights; /* a digit a value */
		gsize at[3];
		guint n;
	} rows[] = {
		{ "0000000000", { 0 }, 0 },
		{ "5555555555", { 0 }, 0 },
		{ "0000009000000000", { 6 }, 1 },
		{ "9000000000000000", { 0 }, 1 },
		{ "0000000000000009", { 15 }, 1 },
		{ "000000090000000000090000000000", { 7, 19 }, 2 },
		/* no dip between them: one, at the greater, the first of equals */
		{ "00000000897900000000000000000000000", { 9 }, 1 },
		{ "00000000987900000000000000000000000", { 8 }, 1 },
		/* a dip parts them */
		{ "00000000902900000000000000000000000000", { 8, 11 }, 2 },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		double values[64];
		gsize n = strlen(rows[i].heights);
		for (gsize k = 0; k < n; k++)
			values[k] = rows[i].heights[k] - '0';
		g_autoptr(GArray) found = wp_spikes_find(values, n, 2, 1);
		ck_assert_msg(found->len == rows[i].n, "row %zu: %u spikes", i, found->len);
		for (guint k = 0; k < found->len; k++)
			ck_assert_uint_eq(g_array_index(found, WpSpike, k).at, rows[i].at[k]);
	}
}
END_TEST

#define MS G_GINT64_CONSTANT(1000000)

static void
send(WpMessages *messages, guint32 sender, guint32 receiver, gint64 time_ns)
{
	WpEdge edge = { .sender = sender,
			.receiver = receiver,
			.sender_host = sender,
			.receiver_host = receiver };
	wp_messages_add(messages, &edge, time_ns);
}

/* 0 -> 1, 20 ms later 1 -> 2, another 50 ms later 2 -> 3; N times, at random. */
static WpMessages *
chain(int n)
{
	WpRandom64 random = { WP_RANDOM64_SEED };
	WpMessages *messages = wp_messages_new();
	gint64 now = 0;
	for (int i = 0; i < n; i++) {
		now += wp_random64_below(&random, 400) * MS;
		send(messages, 2, 3, now + 70 * MS);
		send(messages, 0, 1, now);
		send(messages, 1, 2, now + 20 * MS);
	}
	wp_messages_freeze(messages);
	return messages;
}

START_TEST(published_chain)
{
	static const struct {
		guint32 sender, receiver;
		double delay_ms;
	} rows[] = { { 0, 1, 0 }, { 1, 2, 20 }, { 2, 3, 50 } };
	g_autoptr(WpMessages) messages = chain(2000);
	WpXcorrOptions options;
	wp_engine_xcorr.options_init(&options);
	options.as_published = TRUE;
	options.quantum_ns = 5 * MS;
	g_autoptr(WpSpectra) spectra = wp_xcorr_spectra(messages, NULL, &options, NULL);
	ck_assert_uint_eq(spectra->vertices->len, 3);
	for (guint32 i = 0; i < 3; i++) {
		const WpVertex *vertex = wp_spectra_vertex(spectra, i);
		ck_assert_uint_eq(vertex->sender, rows[i].sender);
		ck_assert_uint_eq(vertex->receiver, rows[i].receiver);
		ck_assert_uint_eq(vertex->depth, i + 1);
		ck_assert_double_ge(vertex->share, 0.99);
		ck_assert_int_eq(vertex->is_leaf, i == 2);
		ck_assert_uint_eq(vertex->n_spikes, i > 0);
		if (i)
			ck_assert_double_eq(vertex->spikes[0].delay_ns, rows[i].delay_ms * MS);
	}
}
END_TEST

/* Whatever the order and the parts in which messages come: the same edges and times. */
START_TEST(messages_in_any_order)
{
	g_autoptr(WpMessages) forth = wp_messages_new();
	g_autoptr(WpMessages) back = wp_messages_new();
	for (int i = 0; i < 100; i++) {
		send(forth, i % 3, i % 7, i * MS);
		send(back, (99 - i) % 3, (99 - i) % 7, (99 - i) * MS);
	}
	wp_messages_freeze(forth);
	wp_messages_freeze(back);
	ck_assert_uint_eq(forth->n, 21);
	ck_assert_uint_eq(back->n, forth->n);
	ck_assert_int_eq(back->begin_ns, 0);
	ck_assert_int_eq(back->end_ns, 99 * MS);
	for (guint32 i = 0; i < forth->n; i++) {
		ck_assert_uint_eq(forth->edges[i].sender, back->edges[i].sender);
		ck_assert_uint_eq(forth->edges[i].receiver, back->edges[i].receiver);
		ck_assert_uint_eq(forth->edges[i].n, back->edges[i].n);
		ck_assert_mem_eq(forth->edges[i].times_ns, back->edges[i].times_ns,
				 forth->edges[i].n * sizeof(gint64));
	}
}
END_TEST

/* Delays around 20 ms, so that no message stands on a beat. */
static gint64
later(WpRandom64 *random, gint64 time, gint64 delay)
{
	return time + delay * MS + (gint64)wp_random64_below(random, (guint32)(delay * MS / 2));
}

static void
check_paths(const WpSpectra *spectra, const char *want)
{
	g_autoptr(GString) got = g_string_new(NULL);
	for (guint32 i = 0; i < spectra->vertices->len; i++) {
		const WpVertex *v = wp_spectra_vertex(spectra, i);
		g_string_append_printf(got, "%*s%u>%u%s\n", (int)v->depth - 1, "", v->sender,
				       v->receiver, v->share < 0.9 ? " in part" : "");
	}
	ck_assert_str_eq(got->str, want);
}

/*
 * 0 asks 1, which asks 2, and answers: ten in flight at a time. 0>1>0 follows as surely as 0>1>2>1>0, and is
 * no path; nor is a longer one through several requests.
 */
START_TEST(no_derived_paths)
{
	WpRandom64 random = { WP_RANDOM64_SEED };
	g_autoptr(WpMessages) messages = wp_messages_new();
	gint64 now = 0;
	int n = wp_test_number(3000, 700);
	for (int i = 0; i < n; i++) {
		now += wp_random64_below(&random, 30) * MS;
		gint64 t = now;
		send(messages, 0, 1, t);
		send(messages, 1, 2, t = later(&random, t, 20));
		send(messages, 2, 1, t = later(&random, t, 50));
		send(messages, 1, 0, t = later(&random, t, 10));
	}
	wp_messages_freeze(messages);
	const guint8 is_root[] = { 1, 0, 0 };
	g_autoptr(WpSpectra) spectra = wp_xcorr_spectra(messages, is_root, NULL, NULL);
	check_paths(spectra, "0>1\n 1>2\n  2>1\n   1>0\n");
	ck_assert_double_eq_tol(wp_spectra_vertex(spectra, 2)->spikes[0].delay_ns, 62.5 * MS,
				1.0 * MS);
}
END_TEST

/* 0 and 3 both use 1 and 2: what comes back goes to who asked, not to the other. */
START_TEST(no_ghosts)
{
	WpRandom64 random = { WP_RANDOM64_SEED };
	g_autoptr(WpMessages) messages = wp_messages_new();
	gint64 now = 0;
	for (int i = 0; i < wp_test_number(3000, 600); i++) {
		now += wp_random64_below(&random, 50) * MS;
		guint32 who = wp_random64_below(&random, 2) ? 0 : 3;
		gint64 t = now;
		send(messages, who, 1, t);
		send(messages, 1, 2, t = later(&random, t, 20));
		send(messages, 2, 1, t = later(&random, t, 20));
		send(messages, 1, who, t = later(&random, t, 20));
	}
	wp_messages_freeze(messages);
	const guint8 is_root[] = { 1, 0, 0, 1 };
	g_autoptr(WpSpectra) spectra = wp_xcorr_spectra(messages, is_root, NULL, NULL);
	ck_assert_uint_eq(spectra->vertices->len, 8);
	for (guint32 i = 3; i < 8; i += 4)
		ck_assert_uint_eq(wp_spectra_vertex(spectra, i)->receiver,
				  wp_spectra_vertex(spectra, i - 3)->sender);
}
END_TEST

typedef enum {
	CLOCKS,  /* two of the same period, that stray by themselves */
	EXACT,   /* ... that do not stray at all */
	BURSTY,  /* ten messages together, either at its own times */
	STOPPED, /* rates that stop and go together */
	N_LAWS
} Law;

static gint64
time_by(WpRandom64 *random, Law law, int i, gint64 *burst)
{
	gint64 time = wp_random64_below(random, 80000) * MS;
	switch (law) {
	case CLOCKS:
		return i * 20 * MS + (gint64)wp_random64_below(random, (guint32)MS);
	case EXACT:
		return i * 20 * MS;
	case BURSTY:
		*burst = i % 10 ? *burst + MS / 10 : time;
		return *burst;
	default:
		return time % (8000 * MS) < 4000 * MS ? time : time - 4000 * MS;
	}
}

/* 1 gets messages and sends some, at times that only seem to go together: no edge. */
START_TEST(no_accidents)
{
	for (int law = 0; law < N_LAWS; law++) {
		WpRandom64 random = { WP_RANDOM64_SEED + (guint64)law };
		g_autoptr(WpMessages) messages = wp_messages_new();
		gint64 in = 0, out = 0;
		int n = wp_test_number(4000, 300);
		for (int i = 0; i < n; i++) {
			send(messages, 0, 1, time_by(&random, (Law)law, i, &in));
			send(messages, 1, 2, time_by(&random, (Law)law, i, &out) + 7 * MS);
		}
		wp_messages_freeze(messages);
		const guint8 is_root[] = { 1, 0, 0 };
		g_autoptr(WpSpectra) spectra = wp_xcorr_spectra(messages, is_root, NULL, NULL);
		ck_assert_msg(spectra->vertices->len == 1, "law %d: %u edges", law,
			      spectra->vertices->len);
	}
}
END_TEST

/* A clock that strays, and what it causes, which strays with it: an edge. */
START_TEST(caused_by_a_clock)
{
	WpRandom64 random = { WP_RANDOM64_SEED };
	g_autoptr(WpMessages) messages = wp_messages_new();
	gint64 burst;
	int n = wp_test_number(4000, 1000);
	for (int i = 0; i < n; i++) {
		gint64 t = time_by(&random, CLOCKS, i, &burst);
		send(messages, 0, 1, t);
		send(messages, 1, 2, later(&random, t, 2));
	}
	wp_messages_freeze(messages);
	g_autoptr(WpSpectra) spectra = wp_xcorr_spectra(messages, NULL, NULL, NULL);
	check_paths(spectra, "0>1\n 1>2\n");
}
END_TEST

/*
 * Rates that change together, to the moment: the correlation has a peak where neither is later. (That they do so again a
 * period later is another thing: longer lags are not looked at.)
 */
START_TEST(no_peak_at_nothing)
{
	static const struct {
		gint64 period_ms, on_ms; /* of both */
		int n;                   /* messages of each, in 100 s */
	} rows[] = {
		{ 7000, 3000, 5000 },
		{ 2000, 1000, 10000 },
		{ 1500, 500, 10000 },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		WpRandom64 random = { WP_RANDOM64_SEED + (guint64)i };
		g_autoptr(WpMessages) messages = wp_messages_new();
		for (int k = 0; k < 2 * wp_test_number(rows[i].n, 1000);) {
			gint64 time = wp_random64_below(&random, 1000000000) * (gint64)100;
			if (time % (rows[i].period_ms * MS) >= rows[i].on_ms * MS)
				continue;
			send(messages, (guint32)k % 2, 1 + (guint32)k % 2, time);
			k++;
		}
		wp_messages_freeze(messages);
		const guint8 is_root[] = { 1, 0, 0 };
		WpXcorrOptions options;
		wp_engine_xcorr.options_init(&options);
		options.max_lag_ns = rows[i].on_ms * MS / 2;
		g_autoptr(WpSpectra) spectra = wp_xcorr_spectra(messages, is_root, &options, NULL);
		ck_assert_msg(spectra->vertices->len == 1, "row %zu: %u edges", i,
			      spectra->vertices->len);
	}
}
END_TEST

/* Many beats apart, where what is not exact in the period adds up to half of it: two clocks are two clocks. */
START_TEST(clocks_far_apart)
{
	WpRandom64 random = { WP_RANDOM64_SEED + (guint64)_i };
	guint32 n = (guint32)wp_test_number(5000, 500);
	g_autofree gint64 *ins = g_new(gint64, n), *outs = g_new(gint64, n);
	const WpEdge in = { .times_ns = ins, .n = n }, out = { .times_ns = outs, .n = n };
	gint64 begin = wp_random64_below(&random, 20) * MS;
	for (guint32 i = 0; i < n; i++) {
		ins[i] = i * 20 * MS + (gint64)wp_random64_below(&random, 4 * (guint32)MS);
		outs[i] = begin + i * 20 * MS + (gint64)wp_random64_below(&random, 4 * (guint32)MS);
	}
	for (gint64 lag = 0; lag < 3000 * MS; lag += 100 * MS)
		ck_assert_msg(wp_xcorr_is_clockwork(&in, &out, lag, lag + 100 * MS), "after %d ms",
			      (int)(lag / MS));
	for (guint32 i = 0; i < n; i++)
		outs[i] = ins[i] + 1000 * MS + (gint64)wp_random64_below(&random, (guint32)MS);
	ck_assert(!wp_xcorr_is_clockwork(&in, &out, 990 * MS, 1010 * MS));
}
END_TEST

/* Messages of a request follow each other at about the same time, and then there are none: most gaps are alike, and it is no clock. */
START_TEST(no_clock)
{
	static const struct {
		int n_each; /* messages of a request */
		int n;      /* requests */
	} rows[] = { { 2, 1000 }, { 2, 3000 }, { 4, 1000 }, { 4, 3000 } };
	for (gsize row = 0; row < G_N_ELEMENTS(rows); row++) {
		WpRandom64 random = { WP_RANDOM64_SEED };
		guint32 n = (guint32)(rows[row].n_each * rows[row].n), k = 0;
		g_autofree gint64 *ins = g_new(gint64, n), *outs = g_new(gint64, n);
		const WpEdge in = { .times_ns = ins, .n = n }, out = { .times_ns = outs, .n = n };
		gint64 now = 0;
		for (int i = 0; i < rows[row].n; i++) {
			for (int m = 0; m < rows[row].n_each; m++, k++) {
				ins[k] = now += 3 * MS + wp_random64_below(&random, MS / 4);
				outs[k] = now + MS / 2 + wp_random64_below(&random, 2 * MS);
			}
			now += 20 * MS + wp_random64_below(&random, 40 * MS);
		}
		ck_assert_msg(!wp_xcorr_is_clockwork(&in, &out, MS / 4, 3 * MS), "row %zu", row);
	}
}
END_TEST

/*
 * Clients of node 1, a host each, that ask once in a while: what they do is seen of all together, whether they are one
 * node or as many as hosts.
 */
START_TEST(many_clients)
{
	static const struct {
		guint32 n_clients;
		gboolean is_one_node;
		gint each; /* messages */
	} rows[] = { { 1, TRUE, 600 }, { 60, TRUE, 10 }, { 12, FALSE, 50 } };
	for (gsize row = 0; row < G_N_ELEMENTS(rows); row++) {
		WpRandom64 random = { WP_RANDOM64_SEED };
		g_autoptr(WpMessages) messages = wp_messages_new();
		guint32 n = rows[row].n_clients;
		gint64 now = 0;
		for (gint i = 0; i < rows[row].each * (gint)n; i++) {
			guint32 host = 3 + (guint32)i % n, node = rows[row].is_one_node ? 3 : host;
			gint64 t = now += wp_random64_below(&random, 50) * MS;
			const WpEdge steps[] = { { node, 1, host, 1, FALSE, NULL, 0, 0 },
						 { 1, 2, 1, 2, FALSE, NULL, 0, 0 },
						 { 2, 1, 2, 1, TRUE, NULL, 0, 0 },
						 { 1, node, 1, host, TRUE, NULL, 0, 0 } };
			for (gsize k = 0; k < G_N_ELEMENTS(steps); k++, t = later(&random, t, 20))
				wp_messages_add(messages, &steps[k], t);
		}
		wp_messages_freeze(messages);
		ck_assert_uint_eq(messages->n_outside, n);
		ck_assert_uint_eq(messages->n_sources, rows[row].is_one_node ? 1 : n);
		g_autoptr(WpSpectra) spectra = wp_xcorr_spectra(messages, NULL, NULL, NULL);
		double sums[5] = { 0 }; /* messages, by depth */
		for (guint32 i = 0; i < spectra->vertices->len; i++) {
			const WpVertex *v = wp_spectra_vertex(spectra, i);
			ck_assert_msg(v->depth < 5, "row %zu: a path of %u", row, v->depth);
			sums[v->depth] += v->messages;
		}
		for (guint depth = 2; depth < 5; depth++)
			ck_assert_msg(sums[depth] > 0.85 * sums[1], "row %zu: %g of %g at %u", row,
				      sums[depth], sums[1], depth);
	}
}
END_TEST

/* Two that nobody calls, of which each has its own effect: taken together they have both, each by itself has one. */
START_TEST(own_effects)
{
	for (guint64 seed = 0; seed < (guint64)wp_test_number(2, 1); seed++) {
		WpRandom64 random = { WP_RANDOM64_SEED + seed };
		g_autoptr(WpMessages) messages = wp_messages_new();
		int n = wp_test_number(10000, 1000);
		for (int i = 0; i < n; i++) {
			guint32 who = (guint32)i % 2, its = 3 + who;
			gint64 t = wp_random64_below(&random, (guint32)n * 10) * MS;
			send(messages, who, 2, t);
			send(messages, 2, its, later(&random, t, who ? 50 : 20));
		}
		wp_messages_freeze(messages);
		g_autoptr(WpSpectra) spectra = wp_xcorr_spectra(messages, NULL, NULL, NULL);
		check_paths(spectra, "0>2\n 2>3\n1>2\n 2>4\n");
	}
}
END_TEST

/* Call and answer are messages of two directions, and are known to be. */
static void
send_answer(WpMessages *messages, guint32 sender, guint32 receiver, gint64 time)
{
	const WpEdge edge = { sender, receiver, sender, receiver, TRUE, NULL, 0, 0 };
	wp_messages_add(messages, &edge, time);
}

/*
 * 0 asks 1, which asks 2, and then 3 in one case of two; some 20 requests in flight at a time, 60 ms in 1 at each step,
 * where a message comes or goes each millisecond or two: nothing of 1 stands out. But answers have causes.
 */
START_TEST(answers_have_causes)
{
	static const struct {
		guint32 before, sender, receiver;
		double share; /* of the requests */
	} rows[] = { { 0, 1, 2, 1 }, { 2, 1, 3, 0.5 }, { 2, 1, 0, 0.5 }, { 3, 1, 0, 0.5 } };
	WpRandom64 random = { WP_RANDOM64_SEED };
	g_autoptr(WpMessages) messages = wp_messages_new();
	gint64 now = 0;
	int n = wp_test_number(1000, 300);
	for (int i = 0; i < n; i++) {
		gint64 t = now += wp_random64_below(&random, 16 * MS);
		send(messages, 0, 1, t);
		send(messages, 1, 2, t = later(&random, t, 40));
		send_answer(messages, 2, 1, t = later(&random, t, 5));
		if (i % 2) {
			send(messages, 1, 3, t = later(&random, t, 50));
			send_answer(messages, 3, 1, t = later(&random, t, 5));
		}
		send_answer(messages, 1, 0, later(&random, t, 30));
	}
	wp_messages_freeze(messages);
	g_autoptr(WpSpectra) spectra = wp_xcorr_spectra(messages, NULL, NULL, NULL);
	for (gsize row = 0; row < G_N_ELEMENTS(rows); row++) {
		double sum = 0;
		for (guint32 i = 0; i < spectra->vertices->len; i++) {
			const WpVertex *v = wp_spectra_vertex(spectra, i);
			if (v->parent != WP_NO_VERTEX && v->sender == rows[row].sender &&
			    v->receiver == rows[row].receiver &&
			    wp_spectra_vertex(spectra, v->parent)->sender == rows[row].before)
				sum += v->messages;
		}
		ck_assert_msg(sum > 0.5 * rows[row].share * n, "row %zu: %g of %g", row, sum,
			      rows[row].share * n);
	}
}
END_TEST

/* 1 answers 0, and asks 2 now and then of its own accord: neither of them causes the other. */
START_TEST(of_its_own_accord)
{
	WpRandom64 random = { WP_RANDOM64_SEED };
	g_autoptr(WpMessages) messages = wp_messages_new();
	gint64 now = 0, own = 0;
	for (int i = 0; i < wp_test_number(3000, 600); i++) {
		now += wp_random64_below(&random, 50 * MS);
		own += wp_random64_below(&random, 50 * MS);
		send(messages, 0, 1, now);
		send_answer(messages, 1, 0, later(&random, now, 20));
		send(messages, 1, 2, own);
		send_answer(messages, 2, 1, later(&random, own, 20));
	}
	wp_messages_freeze(messages);
	g_autoptr(WpSpectra) spectra = wp_xcorr_spectra(messages, NULL, NULL, NULL);
	check_paths(spectra, "0>1\n 1>0\n");
}
END_TEST

/* The path to vertex I goes over NODES, a digit each. */
static gboolean
is_at(const WpSpectra *spectra, guint32 i, const char *nodes)
{
	const WpVertex *vertex = wp_spectra_vertex(spectra, i);
	if (vertex->depth + 1 != strlen(nodes))
		return FALSE;
	for (guint32 k = vertex->depth;; k--, vertex = wp_spectra_vertex(spectra, vertex->parent)) {
		if (vertex->receiver != (guint32)(nodes[k] - '0'))
			return FALSE;
		if (vertex->parent == WP_NO_VERTEX)
			return k == 1 && vertex->sender == (guint32)(nodes[0] - '0');
	}
}

/*
 * 0 asks 1, which asks 2, once or twice, five in flight at a time. 2 answers at once but the last time, which takes as
 * long as what else is in flight. Each path has about the messages of its requests: what 2 answers is given to one request,
 * not by parts to all whose delays would do.
 */
START_TEST(paths_that_share_edges)
{
	static const struct {
		const char *nodes;
		double share; /* of the requests */
	} rows[] = { { "010", 0 }, { "01210", 0.5 }, { "0121210", 0.5 }, { "012121210", 0 } };
	WpRandom64 random = { WP_RANDOM64_SEED };
	g_autoptr(WpMessages) messages = wp_messages_new();
	gint64 now = 0;
	int n = wp_test_number(4000, 400);
	for (int i = 0; i < n; i++) {
		gint64 t = now += wp_random64_below(&random, 16 * MS);
		send(messages, 0, 1, t);
		for (int k = i % 2; k < 2; k++) {
			send(messages, 1, 2, t = later(&random, t, k ? 1 : 3));
			send_answer(messages, 2, 1, t = later(&random, t, k ? 8 : 1));
		}
		send_answer(messages, 1, 0, later(&random, t, i % 2 ? 12 : 16));
	}
	wp_messages_freeze(messages);
	g_autoptr(WpSpectra) spectra = wp_xcorr_spectra(messages, NULL, NULL, NULL);
	for (gsize row = 0; row < G_N_ELEMENTS(rows); row++) {
		const char *nodes = rows[row].nodes;
		double found = 0;
		for (guint32 i = 0; i < spectra->vertices->len; i++)
			if (is_at(spectra, i, nodes))
				found += wp_spectra_vertex(spectra, i)->messages;
		ck_assert_msg(fabs(found - rows[row].share * n) <= n / 8.0, "%s: %g, not %g", nodes,
			      found, rows[row].share * n);
	}
}
END_TEST

/* What is far less often than a quantum, and follows far sooner, is found whatever the quantum. */
START_TEST(quanta)
{
	static const gint64 seconds[] = { 1, 60, 120, 256, 360, 500 };
	WpRandom64 random = { WP_RANDOM64_SEED };
	g_autoptr(WpMessages) messages = wp_messages_new();
	for (int i = 0; i < 133; i++) {
		gint64 t = (gint64)wp_random64_below(&random, 5000000) * 1000 * MS;
		send(messages, 0, 1, t);
		send(messages, 1, 2, t + (1 + wp_random64_below(&random, 5)) * 1000 * MS);
	}
	wp_messages_freeze(messages);
	WpXcorrOptions options = { .max_lag_ns = 3600 * 1000 * MS,
				   .quantum_ns = seconds[_i] * 1000 * MS,
				   .max_depth = 32,
				   .min_share = 0.005,
				   .false_share = 1e-3 };
	g_autoptr(WpSpectra) spectra = wp_xcorr_spectra(messages, NULL, &options, NULL);
	ck_assert_uint_ge(spectra->vertices->len, 2);
	ck_assert_uint_eq(wp_spectra_vertex(spectra, 1)->parent, 0);
	ck_assert_uint_eq(wp_spectra_vertex(spectra, 1)->receiver, 2);
	ck_assert_double_ge(wp_spectra_vertex(spectra, 1)->messages, 100);
}
END_TEST

/* No messages, or one: no paths, or one. */
START_TEST(nothing)
{
	g_autoptr(WpMessages) none = wp_messages_new();
	wp_messages_freeze(none);
	g_autoptr(WpSpectra) empty = wp_xcorr_spectra(none, NULL, NULL, NULL);
	ck_assert_uint_eq(empty->vertices->len, 0);
	g_autoptr(WpMessages) one = wp_messages_new();
	send(one, 0, 1, 5);
	wp_messages_freeze(one);
	g_autoptr(WpSpectra) single = wp_xcorr_spectra(one, NULL, NULL, NULL);
	ck_assert_uint_eq(single->vertices->len, 1);
}
END_TEST

WP_SUITE_OF_ROWS("xcorr", { bins, 0 }, { signal_counts, 0 }, { impulse, 0 }, { agreement, 0 },
		 { shift, 0 }, { linearity, 0 }, { choice, 0 }, { spikes, 0 },
		 { published_chain, 0 }, { messages_in_any_order, 0 }, { no_derived_paths, 0 },
		 { no_ghosts, 0 }, { no_accidents, 0 }, { no_peak_at_nothing, 0 },
		 { caused_by_a_clock, 0 }, { clocks_far_apart, 12 }, { no_clock, 0 },
		 { many_clients, 0 }, { own_effects, 0 }, { answers_have_causes, 0 },
		 { of_its_own_accord, 0 }, { paths_that_share_edges, 0 }, { quanta, 6 },
		 { nothing, 0 })
