/*
 * How often wirepath compare is right, by trials: pairs of simulated captures of one system, and of a system and
 * the same with one node 10 % slower, through everything behind inference (blocks, roles, tests, verdicts). Prints a
 * line a setting:
 *
 *     system  load  requests  captures  spread  slower | changed  inconclusive  same  found  latency  work  in turn
 *
 *     bench_compare            all settings, 1000 trials each
 *     bench_compare TRIALS     so many
 *     bench_compare TRIALS SYSTEM LOAD REQUESTS CAPTURES SPREAD FACTOR [tail]
 *                              one setting: FACTOR is by what the work of one node is multiplied
 *
 * "changed" of a setting that is not slower is a false alarm. "found": changed, the slower node's work or self time with it, and
 * no other node's. The last three: the latency is called changed, any node's work is, the nodes test as serving in
 * turn. Not part of make check; the same trials in every run.
 *
 *     client -> front -> a, b, c one after the other, each a queue:      arrivals at random (Poisson), exponential
 *
 *       independent   as many workers as there are calls: nobody waits
 *       fifo          one worker, first come first served (M/M/1)
 *       two           two workers, first come first served (M/M/2); the load is that of each
 *       sharing       one processor shared by all calls that are there (M/M/1, processor sharing)
 *
 * "long tail" behind a system: work is log-normal, its standard deviation 1.3 of its mean.
 */
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare.h"
#include "report/in-hand.h"
#include "traces/random.h"

#define N_STATIONS   3
#define MAX_CAPTURES 8   /* a side */
#define SLOW         1   /* the station that gets slower */
#define WORK_NS      1e7 /* mean */
#define FRONT_NS     2e6
#define WARMUP       4000 /* requests before a capture begins: it does not begin idle */

typedef enum {
	INDEPENDENT,
	FIFO,
	TWO,
	SHARING
} Kind;

static const char *const kind_names[] = { "independent", "fifo", "two", "sharing" };

typedef struct {
	Kind kind;
	double load;
	guint n;
	guint n_captures; /* a side */
	double spread;    /* of captures: sd of the logarithm of all work */
	double slower;    /* factor of the work of one station, after */
	gboolean has_tail;
} Setting;

typedef struct {
	double arrival;
	double work;
	double departure;
	guint32 others; /* when it arrives */
	gint64 levels_ns[WP_DIGEST_LEVELS];
	guint ended_at;
	gboolean follows; /* the call before is still there */
	gboolean overtakes;
	double waited; /* for the call before to leave */
} Visit;

/* The order in which N visits arrive. */
static int
compare_arrivals(gconstpointer a, gconstpointer b, gpointer data)
{
	const Visit *visits = data;
	double left = visits[*(const guint *)a].arrival, right = visits[*(const guint *)b].arrival;
	return left < right ? -1 : left > right;
}

/* Calls that are at a processor share it: the one with the least left to do leaves next. */
typedef struct {
	double left;
	guint visit;
} Job;

static void
share(Visit *visits, const guint *order, guint n)
{
	g_autoptr(GArray) jobs = g_array_new(FALSE, FALSE, sizeof(Job));
	double now = 0;
	guint next = 0;
	while (next < n || jobs->len) {
		guint least = 0;
		for (guint i = 1; i < jobs->len; i++)
			if (g_array_index(jobs, Job, i).left < g_array_index(jobs, Job, least).left)
				least = i;
		double arrival = next < n ? visits[order[next]].arrival : INFINITY;
		double leave = jobs->len ? now + g_array_index(jobs, Job, least).left * jobs->len
					 : INFINITY;
		double then = MIN(arrival, leave);
		for (guint i = 0; i < jobs->len; i++)
			g_array_index(jobs, Job, i).left -= (then - now) / jobs->len;
		now = then;
		if (leave <= arrival) {
			visits[g_array_index(jobs, Job, least).visit].departure = now;
			g_array_remove_index_fast(jobs, least);
		} else {
			Visit *visit = &visits[order[next]];
			Job job = { visit->work, order[next] };
			g_array_append_val(jobs, job);
			next++;
		}
	}
}

/* First come, first served by N_WORKERS; 0: nobody waits. */
static void
queue(Visit *visits, const guint *order, guint n, guint n_workers)
{
	double free_at[2] = { 0, 0 };
	for (guint i = 0; i < n; i++) {
		Visit *visit = &visits[order[i]];
		guint worker = n_workers > 1 && free_at[1] < free_at[0];
		double begin = n_workers ? MAX(visit->arrival, free_at[worker]) : visit->arrival;
		visit->departure = free_at[worker] = begin + visit->work;
	}
}

/* How many are there when each arrives, and until when the one before is. */
static void
meet(Visit *visits, const guint *order, guint n)
{
	g_autoptr(GArray) there = g_array_new(FALSE, FALSE, sizeof(double));
	double last = -1;
	for (guint i = 0; i < n; i++) {
		Visit *visit = &visits[order[i]];
		for (guint k = 0; k < there->len;)
			if (g_array_index(there, double, k) <= visit->arrival)
				g_array_remove_index_fast(there, k);
			else
				k++;
		visit->others = there->len;
		visit->follows = last > visit->arrival;
		visit->overtakes = visit->follows && visit->departure < last;
		visit->waited = CLAMP(last - visit->arrival, 0, visit->departure - visit->arrival);
		last = visit->departure;
		g_array_append_val(there, visit->departure);
	}
}

static void
serve(Visit *visits, guint n, Kind kind)
{
	g_autofree guint *order = g_new(guint, n + 1);
	for (guint i = 0; i < n; i++)
		order[i] = i;
	g_qsort_with_data(order, (gint)n, sizeof *order, compare_arrivals, visits);
	static const guint n_workers[] = { [INDEPENDENT] = 0, [FIFO] = 1, [TWO] = 2 };
	if (kind == SHARING)
		share(visits, order, n);
	else
		queue(visits, order, n, n_workers[kind]);
	meet(visits, order, n);
	g_autoptr(WpInHand) in_hand = wp_in_hand_new(n);
	for (guint i = 0; i < n; i++)
		wp_in_hand_add(in_hand, 0, i, (gint64)visits[i].arrival,
			       (gint64)visits[i].departure);
	wp_in_hand_count(in_hand);
	for (guint i = 0; i < n; i++)
		visits[i].ended_at = wp_in_hand_get(in_hand, i, visits[i].levels_ns);
}

/* One capture: requests in order, their calls, how each node serves. */
static WpDigest *
capture(const Setting *setting, double slower, WpRandom *random)
{
	static const char *const names[] = { "a", "b", "c" };
	guint n = setting->n + WARMUP;
	double level = exp(setting->spread * wp_random_normal(random));
	double gap = WORK_NS / (setting->load > 0 ? setting->load : 0.5) /
		     (setting->kind == TWO ? 2 : 1);
	g_autofree double *begins = g_new(double, n), *front = g_new(double, n);
	g_autofree Visit *visits = g_new0(Visit, (gsize)n * N_STATIONS);
	double now = 0;
	for (guint i = 0; i < n; i++) {
		now += gap * wp_random_exponential(random);
		begins[i] = now;
		front[i] = FRONT_NS * wp_random_exponential(random) * level;
	}
	for (guint s = 0; s < N_STATIONS; s++) {
		Visit *own = visits + (gsize)s * n;
		for (guint i = 0; i < n; i++) {
			own[i].arrival = s ? own[(gssize)i - n].departure : begins[i];
			own[i].work = WORK_NS * level * (s == SLOW ? slower : 1) *
				      (setting->has_tail ? exp(wp_random_normal(random) - 0.5)
							 : wp_random_exponential(random));
		}
		serve(own, n, setting->kind);
	}

	WpDigest *digest = wp_digest_new();
	wp_digest_add_node(digest, "client", TRUE);
	wp_digest_add_node(digest, "front", TRUE);
	guint32 operation = wp_digest_add_operation(digest, 0, 1, "GET /", "http");
	wp_digest_add_part(digest, operation, 1, 0, "GET /", "http");
	for (guint s = 0; s < N_STATIONS; s++) {
		guint32 node = wp_digest_add_node(digest, names[s], TRUE);
		wp_digest_add_part(digest, operation, node, 1, names[s], "http");
	}
	for (guint i = 0; i < digest->nodes->len; i++)
		g_array_index(digest->nodes, WpDigestNode, i).n_served = i ? setting->n : 0;
	for (guint i = WARMUP; i < n; i++) {
		double end = visits[(gsize)(N_STATIONS - 1) * n + i].departure + front[i];
		wp_digest_add_request(digest, operation, (gint64)(begins[i] - begins[WARMUP]),
				      (gint64)(end - begins[i]), FALSE);
		WpDigestCall own = { .self_ns = (gint64)front[i],
				     .served_ns = (gint64)front[i],
				     .network_ns = -1,
				     .levels_ns = { (gint64)front[i] },
				     .link_odds = WP_DIGEST_ODDS };
		wp_digest_add_call(digest, operation, 0, &own);
		for (guint s = 0; s < N_STATIONS; s++) {
			const Visit *visit = &visits[(gsize)s * n + i];
			double self = visit->departure - visit->arrival;
			WpDigestCall call = { .self_ns = (gint64)self,
					      .served_ns = (gint64)(self - visit->waited),
					      .network_ns = -1,
					      .ended_at = visit->ended_at,
					      .link_odds = WP_DIGEST_ODDS };
			memcpy(call.levels_ns, visit->levels_ns, sizeof call.levels_ns);
			wp_digest_add_call(digest, operation, s + 1, &call);
			wp_digest_add_turn(digest, s + 2, visit->follows, visit->overtakes,
					   visit->others, call.served_ns);
		}
	}
	digest->facts.length_ns = (guint64)(begins[n - 1] - begins[WARMUP]);
	digest->facts.right = WP_DIGEST_ODDS;
	return digest;
}

typedef struct {
	guint verdicts[WP_N_VERDICTS];
	guint n_found;
	guint n_in_turn;
	guint n_latency; /* trials in which the latency is called changed, ... */
	guint n_work;    /* ... the work of any node */
} Outcome;

static gboolean
is_changed(const WpTest *test)
{
	return test->is_tested && test->verdict == WP_VERDICT_CHANGED;
}

static gboolean
is_found(const WpComparison *comparison)
{
	const WpComparedOperation *operation = &comparison->operations[0];
	gboolean is_right = FALSE;
	for (guint32 i = 0; i < operation->n_parts; i++) {
		const WpComparedPart *part = &operation->parts[i];
		gboolean is_slower = is_changed(&part->tests[WP_TEST_WORK]) ||
				     is_changed(&part->tests[WP_TEST_SELF]);
		if (is_slower && strcmp(part->label, "b") != 0)
			return FALSE;
		is_right |= is_slower;
	}
	return is_right;
}

static void
try(const Setting *setting, WpRandom *random, Outcome *outcome)
{
	WpDigest *digests[2 * MAX_CAPTURES];
	guint n = 2 * setting->n_captures;
	for (guint i = 0; i < n; i++)
		digests[i] =
			capture(setting, i < setting->n_captures ? 1 : setting->slower, random);
	WpCompareOptions options;
	wp_compare_options_init(&options);
	g_autoptr(WpComparison) comparison = wp_compare(digests, n, setting->n_captures, &options);
	outcome->verdicts[comparison->verdict]++;
	outcome->n_found += is_found(comparison);
	outcome->n_latency += is_changed(&comparison->operations[0].latency);
	gboolean has_work = FALSE;
	for (guint32 i = 0; i < comparison->operations[0].n_parts; i++)
		has_work |= is_changed(&comparison->operations[0].parts[i].tests[WP_TEST_WORK]);
	outcome->n_work += has_work;
	outcome->n_in_turn += comparison->operations[0].parts[1].in_turn;
	for (guint i = 0; i < n; i++)
		wp_digest_free(digests[i]);
}

static void
run(const Setting *setting, guint n_trials)
{
	WpRandom random;
	Outcome outcome = { 0 };
	wp_random_init(&random, 1);
	for (guint i = 0; i < n_trials; i++)
		try(setting, &random, &outcome);
	printf("%-12s%s %.1f %6u %2u %.2f %.2f | %.3f %.3f %.3f", kind_names[setting->kind],
	       setting->has_tail ? " long tail" : "", setting->load, setting->n,
	       setting->n_captures, setting->spread, setting->slower,
	       (double)outcome.verdicts[WP_VERDICT_CHANGED] / n_trials,
	       (double)outcome.verdicts[WP_VERDICT_INCONCLUSIVE] / n_trials,
	       (double)outcome.verdicts[WP_VERDICT_SAME] / n_trials);
	printf("  %.3f", (double)outcome.n_found / n_trials);
	printf("  %.3f %.3f %.3f\n", (double)outcome.n_latency / n_trials,
	       (double)outcome.n_work / n_trials, (double)outcome.n_in_turn / n_trials);
	fflush(stdout);
}

static Kind
kind_of(const char *name)
{
	Kind kind = INDEPENDENT;
	while (kind + 1 < G_N_ELEMENTS(kind_names) && strcmp(name, kind_names[kind]) != 0)
		kind++;
	return kind;
}

int
main(int argc, char **argv)
{
	static const struct {
		Kind kind;
		double load;
		gboolean has_tail;
	} systems[] = {
		{ INDEPENDENT, 0.5, FALSE }, { FIFO, 0.5, FALSE },    { FIFO, 0.8, FALSE },
		{ FIFO, 0.9, FALSE },        { SHARING, 0.5, FALSE }, { SHARING, 0.8, FALSE },
		{ TWO, 0.5, FALSE },         { TWO, 0.8, FALSE },     { FIFO, 0.5, TRUE },
		{ SHARING, 0.5, TRUE },
	};
	static const guint sizes[] = { 500, 2000, 5000, 20000 };
	guint n_trials = argc > 1 ? (guint)atoi(argv[1]) : 1000;
	if (argc >= 8) {
		Setting one = { .has_tail = argc > 8,
				.kind = kind_of(argv[2]),
				.load = g_ascii_strtod(argv[3], NULL),
				.n = (guint)atoi(argv[4]),
				.n_captures = (guint)CLAMP(atoi(argv[5]), 1, MAX_CAPTURES),
				.spread = g_ascii_strtod(argv[6], NULL),
				.slower = g_ascii_strtod(argv[7], NULL) };
		run(&one, n_trials);
		return 0;
	}
	for (guint slow = 0; slow < 2; slow++)
		for (guint s = 0; s < G_N_ELEMENTS(systems); s++)
			for (guint k = 0; k < G_N_ELEMENTS(sizes); k++) {
				Setting setting = {
					systems[s].kind, systems[s].load,    sizes[k], 1, 0,
					slow ? 1.1 : 1,  systems[s].has_tail
				};
				run(&setting, n_trials);
			}
	for (guint s = 0; s < G_N_ELEMENTS(systems); s++)
		for (guint k = 0; k < G_N_ELEMENTS(sizes); k += 2) {
			Setting setting = {
				systems[s].kind,    systems[s].load, sizes[k], 3, 0.05, 1,
				systems[s].has_tail
			};
			run(&setting, n_trials);
		}
	return 0;
}
