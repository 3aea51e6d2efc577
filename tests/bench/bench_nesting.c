/*
 * How many calls a second the nesting engine links on one processor, and in how much memory, by requests in
 * flight (1 to 64) and by length. Prints a line a run, each in a process of its own:
 *
 *     calls  in flight  seconds  calls/s  right  MB before  MB most
 *
 *     bench_nesting                           all in flight at 10^5 calls, lengths of 10^4 to 10^6
 *     bench_nesting IN_FLIGHT CALLS ...       these: "bench_nesting 1.3 10000000"
 *     bench_nesting --sizes ...               calls and replies have sizes, which are evidence
 *     bench_nesting --like N ...              a request asks the database N times, row after row
 *
 * Requests client > web > (auth, db), arriving at random (Poisson) so that so many are in flight on
 * average; exponential and near-constant times, a cache that spares auth every third time. "MB before" is
 * what the trace and its spans take, "MB most" the most that the process has held. Needs no input and no
 * time limit; not part of make check.
 */
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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
	guint32 n_requests;
	gboolean has_sizes;
	guint32 n_like; /* calls of a request; 0: auth and db */
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
			  .kind = WP_KIND_CALL,
			  .bytes = WP_NO_SIZE };
	WpRecord back = call;
	back.kind = WP_KIND_RETURN;
	back.sender = callee;
	back.receiver = caller;
	back.begin_ns = back.end_ns = end_ns;
	if (bench->has_sizes) {
		call.bytes = 80 + bench->id % 40;
		back.bytes = (guint64)(200 + 5000 * wp_random64_share(&bench->random));
	}
	bench->records[bench->n++] = call;
	bench->records[bench->n++] = back;
	bench->parents[bench->id] = (guint32)parent;
	return bench->id;
}

static double
mean_latency_ns(const Bench *bench)
{
	return bench->n_like ? 1.1e6 * bench->n_like : MEAN_LATENCY_NS;
}

/* What a request calls, under ROOT: when the last is over. */
static gint64
add_like_calls(Bench *bench, guint64 root, gint64 begin_ns)
{
	gint64 at_ns = begin_ns;
	for (guint32 i = 0; i < bench->n_like; i++) {
		gint64 call_ns = at_ns + about(bench, 400e3);
		at_ns = call_ns + exponential(bench, 700e3);
		add_call(bench, 1, 3, root, call_ns, at_ns);
	}
	return at_ns;
}

/* The same of the usual request, which asks auth but every third time. */
static gint64
add_usual_calls(Bench *bench, guint64 root, gint64 begin_ns)
{
	gint64 auth_ns = begin_ns + about(bench, 300e3), db_ns = auth_ns;
	if (bench->n_requests++ % 3) {
		gint64 auth_end_ns = auth_ns + exponential(bench, 500e3);
		add_call(bench, 1, 2, root, auth_ns, auth_end_ns);
		db_ns = auth_end_ns + exponential(bench, 300e3);
	}
	gint64 db_end_ns = db_ns + exponential(bench, 3e6);
	add_call(bench, 1, 3, root, db_ns, db_end_ns);
	return db_end_ns;
}

static void
add_request(Bench *bench, gint64 begin_ns)
{
	guint64 root = ++bench->id;
	gint64 end_ns = bench->n_like ? add_like_calls(bench, root, begin_ns)
				      : add_usual_calls(bench, root, begin_ns);
	guint64 last = bench->id;
	bench->id = root - 1;
	add_call(bench, 0, 1, 0, begin_ns, end_ns + about(bench, 500e3));
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
		at_ns += (double)exponential(bench, mean_latency_ns(bench) / in_flight);
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

static double
peak_mb(void)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	return (double)usage.ru_maxrss / 1000;
}

static void
run(guint32 n_calls, double in_flight, const Bench *how)
{
	Bench bench = *how;
	/* 8 calls in 3 usual requests */
	guint32 n_requests = how->n_like ? n_calls / (how->n_like + 1) : n_calls * 3 / 8;
	n_requests = MAX(n_requests, 1);
	gsize n_most = (gsize)n_requests * (1 + MAX(how->n_like, 2));
	WpResolveOptions options;
	WpNestingOptions nesting;

	wp_resolve_options_init(&options);
	wp_engine_nesting.options_init(&nesting);
	nesting.threads = 1;
	bench.records = g_new0(WpRecord, 2 * n_most);
	bench.parents = g_new0(guint32, n_most + 1);
	g_autoptr(WpTrace) trace = make_trace(&bench, n_requests, in_flight);
	g_clear_pointer(&bench.records, g_free);
	g_autoptr(WpResolved) resolved = wp_resolve(trace, &options, NULL);
	double before_mb = peak_mb(), begin = cpu_seconds();
	g_autoptr(WpLinks) links = wp_engine_nesting.run(resolved, &nesting, NULL, NULL);
	double seconds = cpu_seconds() - begin;
	printf("%9u  %9.1f  %7.3f  %9.0f  %5.1f%%  %9.0f  %7.0f\n", links->n, in_flight, seconds,
	       links->n / seconds, 100 * share_right(&bench, wp_resolved_spans(resolved), links),
	       before_mb, peak_mb());
	g_free(bench.parents);
}

/* In a process of its own, so that its memory is its own. */
static void
run_alone(guint32 n_calls, double in_flight, const Bench *how)
{
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		run(n_calls, in_flight, how);
		fflush(stdout);
		_exit(0);
	}
	int status = 1;
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		fprintf(stderr, "bench_nesting: a run has failed\n");
}

int
main(int argc, char **argv)
{
	static const double in_flight[] = { 1, 1.3, 2, 4, 8, 10, 16, 32, 64 };
	Bench how = { .random = { WP_RANDOM64_SEED } };
	int first = 1;

	how.has_sizes = argc > first && strcmp(argv[first], "--sizes") == 0;
	first += how.has_sizes;
	if (argc > first + 1 && strcmp(argv[first], "--like") == 0) {
		how.n_like = (guint32)g_ascii_strtoull(argv[first + 1], NULL, 10);
		first += 2;
	}

	printf("    calls  in flight  seconds    calls/s   right  MB before  MB most\n");
	for (int i = first; i + 1 < argc; i += 2)
		run_alone((guint32)g_ascii_strtoull(argv[i + 1], NULL, 10),
			  g_ascii_strtod(argv[i], NULL), &how);
	if (argc > first)
		return 0;
	for (gsize i = 0; i < G_N_ELEMENTS(in_flight); i++)
		run_alone(100000, in_flight[i], &how);
	for (guint32 n = 10000; n <= 1000000; n *= 10)
		for (gsize i = 1; i < G_N_ELEMENTS(in_flight); i += 4)
			run_alone(n, in_flight[i], &how);
	return 0;
}
