/*
 * Calls that had waited for a connection. Where all connections of a pool are in use, a call is sent when one comes
 * back, on it: so it begins just after another call over it has returned, and only then. When a request got so far that
 * it wanted to call is not to be seen, so how long that is after what its parent did last tells nothing; it would even
 * mislead, as the latest to come to the line seem the likeliest, who are the last to be served.
 *
 * A program that sends one statement after another over a connection of its own does so whether others are free or not.
 * So a pool is believed where calls that follow at once are far more frequent while no other connection is free; or
 * where hardly any ever is, if requests share them.
 */
#include <stdlib.h>

#include "infer/evidence-kind.h"
#include "infer/map.h"
#include "infer/nesting-workers.h"

/* Between a return and the call that had waited for it, at most: from the first on, each twice the one before. */
#define FIRST_DELAY_NS 25000
#define LAST_DELAY_NS  1600000

#define MIN_HANDED 30 /* calls */
#define CONTRAST   4  /* times as many begin within that delay as within another such behind it */
/* ... and so much more often while no connection is free as while one is, or seems to be: some are kept by requests. */
#define TIMES_AS_OFTEN 1.3
#define DEVIATIONS     4 /* standard ones */

/* Where there is no such while to compare with. */
#define MIN_FULL   200   /* calls */
#define MOST       0.2   /* of the calls: begin within that delay */
#define MAX_FREE   0.15  /* of the calls: begin while a connection is free */
#define MIN_SHARED 0.005 /* of the requests: more than a worker a connection can have done */

/* Connections that requests keep from one call to the next. */
#define MIN_KEPT   0.01 /* as many as are handed on: to be believed */
#define NEARLY_ALL 0.99

#define MIN_LINED 0.2 /* calls: of a host that is known by its lines */

/* A connection between two calls, of which the second is not of the same bundle. */
typedef struct {
	gint64 from_ns;
	gint64 until_ns;
	guint32 child;  /* the second */
	guint32 n_free; /* others that are free then */
} Pause;

/* The connections to one callee. */
typedef struct {
	GArray *pauses;     /* Pause, by UNTIL_NS */
	guint32 n_overlaps; /* calls over a connection that was in use */
	guint32 n_connections;
} Pool;

/* A connection, as far as it was looked at. */
typedef struct {
	gint64 until_ns; /* in use; WP_NO_TIME: until when is not known */
	guint32 bundle;  /* of the last call */
} Connection;

static Pool *
pool_of(GArray *pools, WpMap *numbers, guint32 callee)
{
	guint32 number = wp_map_number(numbers, callee);

	if (number == pools->len) {
		Pool pool = { g_array_new(FALSE, FALSE, sizeof(Pause)), 0, 0 };
		g_array_append_val(pools, pool);
	}
	return &g_array_index(pools, Pool, number);
}

static Connection *
connection_of(GArray *connections, WpMap *numbers, guint32 flow)
{
	guint32 number = wp_map_number(numbers, flow);

	if (number == connections->len) {
		Connection connection = { WP_NO_TIME, G_MAXUINT32 };
		g_array_append_val(connections, connection);
	}
	return &g_array_index(connections, Connection, number);
}

/* (transfer full) Pool, by callee. */
static GArray *
find_pools(const WpNestProblem *problem)
{
	const WpSpan *spans = wp_resolved_spans(problem->resolved)->spans;
	const WpRecord *records = wp_trace_records(wp_resolved_trace(problem->resolved));
	g_autoptr(WpMap) callees = wp_map_new(), flows = wp_map_new();
	g_autoptr(GArray) connections = g_array_new(FALSE, FALSE, sizeof(Connection));
	GArray *pools = g_array_new(FALSE, FALSE, sizeof(Pool));

	if (!wp_trace_has(wp_resolved_trace(problem->resolved), WP_TRACE_FLOWS))
		return pools;
	for (guint32 c = 0; c < problem->n_children; c++) {
		const WpNestChild *child = &problem->children[c];
		const WpSpan *span = child->span == WP_NO_SPAN ? NULL : &spans[child->span];
		guint32 flow = span ? records[span->call_record].flow : 0;
		if (!flow || span->kind != WP_KIND_CALL)
			continue;
		Pool *pool = pool_of(pools, callees, span->callee);
		Connection *connection = connection_of(connections, flows, flow);
		gboolean is_known = connection->until_ns != WP_NO_TIME;
		pool->n_connections += connection->bundle == G_MAXUINT32; /* its first call */
		gboolean overlaps = is_known && connection->until_ns > span->call_ns;
		Pause pause = { connection->until_ns, span->call_ns, c, 0 };
		pool->n_overlaps += overlaps;
		if (is_known && !overlaps && connection->bundle != child->bundle)
			g_array_append_val(pool->pauses, pause);
		gint64 end_ns = wp_span_is_paired(span) ? wp_span_end_ns(span) : WP_NO_TIME;
		connection->until_ns = overlaps && end_ns != WP_NO_TIME
					       ? MAX(connection->until_ns, end_ns)
					       : end_ns;
		connection->bundle = child->bundle;
	}
	return pools;
}

static int
compare_times(gconstpointer a, gconstpointer b)
{
	gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
	return (x > y) - (x < y);
}

/* How many other connections are free when each pause ends: those that have paused for longer than DELAY_NS. */
static void
count_free(Pool *pool, gint64 delay_ns)
{
	guint32 n = pool->pauses->len, n_long = 0, begun = 0, ended = 0;
	g_autofree gint64 *begins = g_new(gint64, MAX(n, 1));

	for (guint32 i = 0; i < n; i++) {
		const Pause *pause = &g_array_index(pool->pauses, Pause, i);
		if (pause->until_ns - pause->from_ns > delay_ns)
			begins[n_long++] = pause->from_ns + delay_ns;
	}
	qsort(begins, n_long, sizeof begins[0], compare_times);
	for (guint32 i = 0, next = 0; i < n; i++) {
		Pause *pause = &g_array_index(pool->pauses, Pause, i);
		while (begun < n_long && begins[begun] < pause->until_ns)
			begun++;
		for (; next < n; next++) {
			const Pause *other = &g_array_index(pool->pauses, Pause, next);
			if (other->until_ns > pause->until_ns)
				break;
			ended += other->until_ns - other->from_ns > delay_ns;
		}
		pause->n_free = begun - ended;
	}
}

typedef struct {
	guint32 n[2];       /* pauses that end while no other connection is free, while one is */
	guint32 n_short[2]; /* ... not longer than the delay */
	guint32 n_next[2];  /* ... than twice the delay, but than that */
} Tally;

static Tally
tally_of(const Pool *pool, gint64 delay_ns)
{
	Tally tally = { { 0 }, { 0 }, { 0 } };

	for (guint i = 0; i < pool->pauses->len; i++) {
		const Pause *pause = &g_array_index(pool->pauses, Pause, i);
		gint64 length_ns = pause->until_ns - pause->from_ns;
		gint is_free = pause->n_free > 0;
		tally.n[is_free]++;
		tally.n_short[is_free] += length_ns <= delay_ns;
		tally.n_next[is_free] += length_ns > delay_ns && length_ns <= 2 * delay_ns;
	}
	return tally;
}

/* TRUE where calls that follow within the delay have waited for it. */
static gboolean
is_line(const Tally *tally)
{
	double share = (double)tally->n_short[0] / MAX(tally->n[0], 1);
	double share_free = (tally->n_short[1] + 1.0) / (tally->n[1] + 1.0);
	double of_all =
		(double)(tally->n_short[0] + tally->n_short[1]) / MAX(tally->n[0] + tally->n[1], 1);
	double variance =
		of_all * (1 - of_all) * (1.0 / MAX(tally->n[0], 1) + 1.0 / MAX(tally->n[1], 1));

	return tally->n_short[0] >= MIN_HANDED && tally->n[1] >= MIN_HANDED &&
	       tally->n_short[0] > CONTRAST * tally->n_next[0] &&
	       share > TIMES_AS_OFTEN * share_free &&
	       (share - share_free) * (share - share_free) > DEVIATIONS * DEVIATIONS * variance;
}

/* TRUE where hardly any connection is ever free, and most calls follow within the delay, which is sharp. */
static gboolean
is_full(const Tally *tally)
{
	return tally->n_short[0] >= MIN_FULL && tally->n_short[0] > MOST * tally->n[0] &&
	       tally->n_short[0] > CONTRAST * tally->n_next[0] &&
	       tally->n[1] < MAX_FREE * (tally->n[0] + tally->n[1]);
}

/*
 * Whether requests share the connections of POOL: there are more workers than these; or a worker for each, who has it for all of
 * a request and takes up one after the other, could not have done it, as requests were over before one of so many workers
 * was free.
 */
static gboolean
is_shared(const WpNestProblem *problem, const WpNestHost *host, const Pool *pool)
{
	return host->workers > pool->n_connections ||
	       wp_nest_share_impossible(problem, pool->n_connections) > MIN_SHARED;
}

/* The least delay within which calls have waited, or -1: none have. */
static gint64
find_delay(const WpNestProblem *problem, const WpNestHost *host, Pool *pool)
{
	for (gint64 delay_ns = FIRST_DELAY_NS; delay_ns <= LAST_DELAY_NS; delay_ns *= 2) {
		count_free(pool, delay_ns);
		Tally tally = tally_of(pool, delay_ns);
		if (is_line(&tally) || (is_full(&tally) && is_shared(problem, host, pool)))
			return delay_ns;
	}
	return -1;
}

static gint64
length_of(const Pause *pause)
{
	return pause->until_ns - pause->from_ns;
}

/*
 * Where calls wait, a connection that pauses while another, which came back later, is handed on at once is not free: a request
 * keeps it from one call to the next. What pauses no longer than such may be one: nearly all of them at most so
 * long (DELAY_NS: hardly any connection is kept). But where the last to come back is the first to be used, others pause
 * as well. Then calls that follow soon while others seem free follow at any time, and not just within the delay.
 */
static gint64
find_longest_kept(const Pool *pool, gint64 delay_ns)
{
	g_autoptr(GArray) kept_ns = g_array_new(FALSE, FALSE, sizeof(gint64));
	gint64 handed_ns = G_MININT64; /* when the last that was handed on came back */
	guint n_handed = 0;
	Tally tally = tally_of(pool, delay_ns);

	if (tally.n_short[1] <= CONTRAST * tally.n_next[1])
		return delay_ns;
	for (guint i = 0; i < pool->pauses->len; i++) {
		const Pause *pause = &g_array_index(pool->pauses, Pause, i);
		gint64 length_ns = length_of(pause);
		if (length_ns <= delay_ns) {
			handed_ns = MAX(handed_ns, pause->from_ns);
			n_handed++;
		} else if (handed_ns > pause->from_ns + delay_ns) {
			g_array_append_val(kept_ns, length_ns);
		}
	}
	if (kept_ns->len < MIN_KEPT * MAX(n_handed, 1))
		return delay_ns;
	g_array_sort(kept_ns, compare_times);
	return g_array_index(kept_ns, gint64, (guint)(NEARLY_ALL * kept_ns->len));
}

static void
mark_waiting(WpNestProblem *problem, const WpNestHost *host, Pool *pool)
{
	gint64 delay_ns = find_delay(problem, host, pool);

	if (delay_ns < 0)
		return;
	gint64 kept_ns = find_longest_kept(pool, delay_ns);
	count_free(pool, kept_ns);
	for (guint i = 0; i < pool->pauses->len; i++) {
		const Pause *pause = &g_array_index(pool->pauses, Pause, i);
		WpNestChild *child = &problem->children[pause->child];
		child->has_waited = length_of(pause) <= delay_ns && pause->n_free == 0;
		child->shows_no_line = length_of(pause) > kept_ns && pause->n_free > 0;
	}
}

/* FALSE: there are none. */
static gboolean
mark_pools(WpNestProblem *problem, const WpNestHost *host)
{
	GArray *pools = find_pools(problem);
	gboolean has_pools = pools->len > 0;

	for (guint i = 0; i < pools->len; i++) {
		Pool *pool = &g_array_index(pools, Pool, i);
		if (pool->n_overlaps <= pool->pauses->len / 10)
			mark_waiting(problem, host, pool);
		g_array_unref(pool->pauses);
	}
	g_array_unref(pools);
	return has_pools;
}

/* Those of which it is known, but for those that begin now when they came to the line. */
static void
mark_known(WpNestProblem *problem, const WpNestHost *host)
{
	const WpSpan *spans = wp_resolved_spans(problem->resolved)->spans;

	for (guint32 c = 0; c < problem->n_children; c++) {
		WpNestChild *child = &problem->children[c];
		gboolean is_lined = host->lined_ns && child->span != WP_NO_SPAN &&
				    child->begin_ns < spans[child->span].call_ns;
		child->has_waited =
			child->span != WP_NO_SPAN && host->has_waited[child->span] && !is_lined;
	}
}

void
wp_nest_find_waiting(WpNestProblem *problem, const WpNestHost *host)
{
	if (!wp_evidence_has(problem->options->evidence, &wp_evidence_pools))
		return;
	if (host->has_waited)
		mark_known(problem, host);
	else if (host->lined_ns || !mark_pools(problem, host))
		return; /* none has waited */
	for (guint32 b = 0; b < problem->n_bundles; b++) {
		WpNestBundle *bundle = &problem->bundles[b];
		bundle->has_waited =
			(guint8)problem->children[problem->bundle_children[bundle->first]]
				.has_waited;
	}
}

gboolean
wp_nest_has_line(const WpNestProblem *problem)
{
	guint32 n = 0;

	for (guint32 c = 0; c < problem->n_children; c++)
		n += problem->children[c].has_waited != 0;
	return problem->is_lined || n > MIN_LINED * problem->n_children;
}

const WpEvidenceKind wp_evidence_pools = {
	.name = "pools",
	.summary = "a call that had waited for a free connection: when it began is nobody's delay",
	.is_default = TRUE,
	.word = WP_EVIDENCE_POOL,
};
