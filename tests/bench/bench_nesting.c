/*
 * How many calls a second the nesting engine links, and in how much memory, by size and by requests in
 * flight. Prints one line per run:
 *
 *     calls  in flight  seconds  calls/s  right  MB
 *
 * Requests client > web > (auth, db), arriving at random (Poisson) so that so many are in flight on
 * average; exponential and near-constant times, a cache that spares auth every third time. MB is the
 * most the process has held so far. Needs no input and no time limit; not part of make check.
 */
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

#include "capture/trace.h"
#include "infer/engine-nesting.h"
#include "infer/random.h"

#define MEAN_LATENCY_NS 5e6

typedef struct {
	WpRecord *records;
	guint32 n;
	WpRandom64 random;
	guint64 id;
	guint32 *parents; /* id of the parent by id; 0: a root */
} Bench;

static gint64
exponential(Bench *bench, double mean_ns)
{
	return (gint64)(-mean_ns * log(wp_random64_share(&bench->random))) + 1;
}

/* A tenth more or less. */
static gint64
about(Bench *bench, double mean_ns)
{
	return (gint64)(mean_ns * (0.9 + 0.2 * wp_random64_share(&bench->random)));
}

static guint64
add_call(Bench *bench, guint32 caller, guint32 callee, guint64 parent, gint64 begin_ns,
	 gint64 end_ns)
{
	WpRecord call = { .begin_ns = begin_ns,
			  .end_ns = begin_ns,
			  .id = ++bench->id,
			  .sender = caller,
			  .receiver = callee,
			  .kind = WP_KIND_CALL };
	WpRecord back = call;
	back.kind = WP_KIND_RETURN;
	back.sender = callee;
	back.receiver = caller;
	back.begin_ns = back.end_ns = end_ns;
	bench->records[bench->n++] = call;
	bench->records[bench->n++] = back;
	bench->parents[bench->id] = (guint32)parent;
	return bench->id;
}

static void
add_request(Bench *bench, gint64 begin_ns)
{
	gint64 auth_ns = begin_ns + about(bench, 300e3), db_ns = auth_ns;
	guint64 root = ++bench->id;
	if (root % 3) {
		gint64 auth_end_ns = auth_ns + exponential(bench, 500e3);
		add_call(bench, 1, 2, root, auth_ns, auth_end_ns);
		db_ns = auth_end_ns + exponential(bench, 300e3);
	}
	gint64 db_end_ns = db_ns + exponential(bench, 3e6);
	add_call(bench, 1, 3, root, db_ns, db_end_ns);
	guint64 last = bench->id;
	bench->id = root - 1;
	add_call(bench, 0, 1, 0, begin_ns, db_end_ns + about(bench, 500e3));
	bench->id = last;
}

static int
compare_records(const void *a, const void *b)
{
	const WpRecord *x = a, *y = b;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* (transfer full) */
static WpTrace *
make_trace(Bench *bench, guint32 n_requests, double in_flight)
{
	static const char *const names[] = { "client", "web", "auth", "db" };
	WpNodes *nodes = wp_nodes_new();
	WpTrace *trace = wp_trace_new(nodes);
	double at_ns = 0;

	for (guint32 i = 0; i < G_N_ELEMENTS(names); i++)
		wp_nodes_by_key(nodes, names[i]);
	for (guint32 i = 0; i < n_requests; i++) {
		add_request(bench, (gint64)at_ns);
		at_ns += (double)exponential(bench, MEAN_LATENCY_NS / in_flight);
	}
	qsort(bench->records, bench->n, sizeof(WpRecord), compare_records);
	wp_sink_begin(wp_trace_sink(trace), nodes, NULL);
	for (guint32 i = 0; i < bench->n; i++)
		wp_sink_record(wp_trace_sink(trace), &bench->records[i], NULL, NULL);
	wp_trace_freeze(trace);
	wp_nodes_unref(nodes);
	return trace;
}

static double
share_right(const Bench *bench, const WpSpans *spans, const WpLinks *links)
{
	guint32 n = 0, right = 0;
	for (guint32 i = 0; i < links->n; i++) {
		guint32 truth = bench->parents[spans->spans[i].id];
		guint32 found = links->links[i].parent;
		n += truth != 0;
		right += truth && found != WP_NO_SPAN && spans->spans[found].id == truth;
	}
	return (double)right / n;
}

static double
cpu_seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void
run(guint32 n_requests, double in_flight)
{
	Bench bench = { .random = { WP_RANDOM64_SEED } };
	WpResolveOptions options;
	struct rusage usage;

	wp_resolve_options_init(&options);
	bench.records = g_new0(WpRecord, n_requests * 6);
	bench.parents = g_new0(guint32, n_requests * 3 + 1);
	g_autoptr(WpTrace) trace = make_trace(&bench, n_requests, in_flight);
	g_autoptr(WpResolved) resolved = wp_resolve(trace, &options, NULL);
	double begin = cpu_seconds();
	g_autoptr(WpLinks) links = wp_engine_nesting.run(resolved, NULL, NULL, NULL);
	double seconds = cpu_seconds() - begin;
	getrusage(RUSAGE_SELF, &usage);
	printf("%8u  %9.1f  %7.3f  %9.0f  %5.1f%%  %4.0f\n", links->n, in_flight, seconds,
	       links->n / seconds, 100 * share_right(&bench, wp_resolved_spans(resolved), links),
	       (double)usage.ru_maxrss / 1000);
	g_free(bench.records);
	g_free(bench.parents);
}

int
main(void)
{
	static const double in_flight[] = { 0.3, 1.3, 4, 10, 20 };

	printf("   calls  in flight  seconds    calls/s   right    MB\n");
	for (gsize i = 0; i < G_N_ELEMENTS(in_flight); i++)
		for (guint32 n = 4000; n <= 40000; n *= 10)
			run(n, in_flight[i]);
	return 0;
}
