/*
 * How many calls a second the scoreboard links, by size and parallelism. Prints one line per run:
 *
 *     calls  parallelism  seconds  calls/s
 *
 * Requests of one kind, client > web > (auth, db > disk), evenly spaced so that a set number is in flight;
 * delays vary by a fixed generator. Needs no input and no time limit; not part of make check.
 */
#include <glib.h>
#include <stdio.h>
#include <time.h>

#include "infer/engine-scoreboard.h"

#define CALLS_PER_REQUEST 4
#define LATENCY_NS        10000000

typedef struct {
	WpSpans spans;
	guint64 random;
} Bench;

/* A time of about MEAN, 10 % more or less. */
static gint64
vary(Bench *bench, gint64 mean)
{
	bench->random =
		bench->random * G_GUINT64_CONSTANT(6364136223846793005) + 1442695040888963407u;
	return mean * 9 / 10 + (gint64)(bench->random >> 40) % (mean / 5);
}

static gint64
add_span(Bench *bench, guint32 caller, guint32 callee, gint64 begin_ns, gint64 length_ns)
{
	guint32 n = bench->spans.n++;
	bench->spans.spans[n] = (WpSpan){
		.kind = WP_KIND_CALL,
		.id = n,
		.call_ns = begin_ns,
		.call_end_ns = begin_ns,
		.return_begin_ns = begin_ns + length_ns,
		.return_ns = begin_ns + length_ns,
		.caller = caller,
		.callee = callee,
		.caller_host = caller,
		.callee_host = callee,
	};
	return begin_ns + length_ns;
}

static void
add_request(Bench *bench, gint64 begin_ns)
{
	add_span(bench, 0, 1, begin_ns, LATENCY_NS);
	gint64 auth_end =
		add_span(bench, 1, 2, begin_ns + vary(bench, 1000000), vary(bench, 1000000));
	gint64 db = auth_end + vary(bench, 1000000);
	add_span(bench, 1, 3, db, 4000000);
	add_span(bench, 3, 4, db + vary(bench, 1000000), vary(bench, 1000000));
}

static int
compare_spans(const void *a, const void *b)
{
	const WpSpan *left = a, *right = b;
	if (left->call_ns != right->call_ns)
		return left->call_ns < right->call_ns ? -1 : 1;
	return left->id < right->id ? -1 : left->id > right->id;
}

static double
cpu_seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void
run(guint32 n_requests, guint32 in_flight)
{
	Bench bench = { .random = 1 };
	WpScoreboardOptions options;
	guint64 candidates = 0, linked = 0;

	wp_engine_scoreboard.options_init(&options);
	bench.spans.spans = g_new(WpSpan, n_requests * CALLS_PER_REQUEST);
	for (guint32 i = 0; i < n_requests; i++)
		add_request(&bench, (gint64)i * LATENCY_NS / in_flight);
	qsort(bench.spans.spans, bench.spans.n, sizeof(WpSpan), compare_spans);
	double begin = cpu_seconds();
	g_autoptr(WpLinks) links = wp_scoreboard_link(&bench.spans, &options, NULL);
	double seconds = cpu_seconds() - begin;
	for (guint32 i = 0; i < links->n; i++) {
		candidates += links->links[i].n_candidates;
		linked += links->links[i].n_candidates > 0;
	}
	printf("%8u  %11.1f  %7.3f  %9.0f\n", links->n, (double)candidates / (double)linked,
	       seconds, links->n / seconds);
	g_free(bench.spans.spans);
}

int
main(void)
{
	static const guint32 in_flight[] = { 1, 4, 16, 64 };

	printf("   calls  parallelism  seconds    calls/s\n");
	for (gsize i = 0; i < G_N_ELEMENTS(in_flight); i++)
		for (guint32 n = 2500; n <= 250000; n *= 10)
			run(n, in_flight[i]);
	return 0;
}
