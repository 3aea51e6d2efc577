/* The joint nesting engine on requests that overlap, made here with known parents. */
#include "infer/engine-nesting.h"

#include <math.h>
#include <string.h>

#include "infer/engine-scoreboard.h"
#include "infer/random.h"
#include "tests/support/simulated.h"
#include "tests/support/suite.h"
#include "tests/support/tempfile.h"
#include "tests/support/tree.h"

/* Values that calls carry, and their sizes. */
typedef enum {
	NO_VALUES,
	PASSED_ON,     /* that of the request, but for every fourth */
	STRANGE,       /* any of fifty */
	EQUAL,         /* the same everywhere */
	PROXY_SIZES,   /* the reply is that of the call, and 40 bytes */
	ROW_SIZES,     /* any of twenty, which makes another reply of the parent's */
	STRANGE_SIZES, /* any */
	IDS,           /* an identifier, passed on, but for every fourth */
	USED_AGAIN,    /* one identifier for fifty requests */
	CONNECTIONS,   /* one to db for each request */
	TRANSACTIONS,  /* on connections that are used again */
	STICKY,        /* each connection in has one to db */
	PACKED, /* one to db for all, on which what is sent within a millisecond leaves in a packet */
} Values;

/* One kind of workload: what a request to web does, times in us, all +-SPREAD of themselves. */
typedef struct {
	const char *name;
	int n;          /* requests */
	int between_us; /* mean time between requests */
	double spread;
	int first_us; /* begin of the request to its first call */
	int call_us;  /* a call */
	int think_us; /* between calls */
	int n_calls;  /* to db, one after the other */
	enum {
		ALWAYS,
		CACHE, /* every third request finds all in its cache and makes no call */
		IDLE,  /* every second makes none, but takes as long */
		PAUSE, /* then nothing happens for 0.6 times the whole, and one more request comes */
	} when;
	int after_us;               /* > 0: a call to log so long after the reply */
	double floor;               /* share of links that must be right */
	double floor_of_scoreboard; /* share of links that the paper's algorithm gets at the most */
	Values values;
} Workload;

/* About normal: the sum of twelve uniform ones. */
static int
vary(WpRandom64 *random, int mean_us, double spread)
{
	double sum = -6;
	for (int i = 0; i < 12; i++)
		sum += wp_random64_share(random);
	return MAX(1, (int)(mean_us * (1 + spread * sum)));
}

/* Connections that are used again: more than requests in flight, so that no two use one at a time. */
#define POOL 50

static void
append_value(GString *text, const Workload *w, WpRandom64 *random, int number, gboolean is_request)
{
	if (w->values == EQUAL)
		g_string_append(text, "=7");
	else if (w->values == STRANGE || (w->values == PASSED_ON && !is_request && number % 4 == 0))
		g_string_append_printf(text, "=%d", (int)(wp_random64_share(random) * 50));
	else if (w->values == PASSED_ON)
		g_string_append_printf(text, "=%d=7", 1000 + number);
	else if (w->values == PROXY_SIZES)
		g_string_append_printf(text, "#100#%d", number * 37 % 1000 + 40 * is_request);
	else if (w->values == ROW_SIZES)
		g_string_append_printf(text, "#100#%d",
				       number % 20 * (is_request ? 1 : 17) % 20 * 10);
	else if (w->values == IDS && (is_request || number % 4))
		g_string_append_printf(text, "=+%d", 1000 + number);
	else if (w->values == USED_AGAIN)
		g_string_append_printf(text, "=+%d", number / 50);
	else if (w->values == CONNECTIONS && !is_request)
		g_string_append_printf(text, "@%d", 1 + number);
	else if (w->values == TRANSACTIONS && !is_request)
		g_string_append_printf(text, "@%d", 1 + number % POOL);
	else if (w->values == STICKY)
		g_string_append_printf(text, "@%d", 1 + number % POOL + POOL * is_request);
	else if (w->values == PACKED && !is_request)
		g_string_append(text, "@1");
	else if (w->values == STRANGE_SIZES)
		g_string_append_printf(text, "#100#%d", (int)(wp_random64_share(random) * 50));
}

/* When the packet leaves that AT_US belongs to: not quite every millisecond. */
static int
packet_us(int at_us)
{
	int number = at_us / 1000 + 1;
	return number * 1000 + number * 37 % 100;
}

static const char *
step_label(int i, int n)
{
	return i == 0 ? "/BEGIN" : i == n - 1 ? "/COMMIT" : "/UPDATE";
}

static void
append_request(GString *text, const Workload *w, WpRandom64 *random, int number, int begin_us)
{
	gboolean cached = w->when == CACHE && number % 3 == 0;
	gboolean idle = w->when == IDLE && number % 2 == 0;
	GString *calls = g_string_new(NULL);
	int at_us = begin_us + vary(random, w->first_us, w->spread);

	for (int i = 0; i < w->n_calls && !cached; i++) {
		if (w->values == PACKED)
			at_us = packet_us(at_us);
		int end_us = at_us + vary(random, w->call_us, w->spread);
		if (!idle) {
			g_string_append(calls, i ? ",db" : "db");
			if (w->values == TRANSACTIONS)
				g_string_append(calls, step_label(i, w->n_calls));
			append_value(calls, w, random, number, FALSE);
			g_string_append_printf(calls, "[%d-%d]", at_us, end_us);
		}
		at_us = end_us + vary(random, w->think_us, w->spread);
	}
	if (w->after_us) {
		int after_us = at_us + vary(random, w->after_us, w->spread);
		g_string_append(calls, calls->len ? ",log" : "log");
		append_value(calls, w, random, number, FALSE);
		g_string_append_printf(calls, "[%d-%d]", after_us, after_us + 20);
	}
	g_string_append(text, "client>web");
	append_value(text, w, random, number, TRUE);
	g_string_append_printf(text, calls->len ? "[%d-%d](%s) " : "[%d-%d]%s ", begin_us, at_us,
			       calls->str);
	g_string_free(calls, TRUE);
}

/* Requests so few that no share of them says anything: under valgrind. */
static gboolean
are_few(void)
{
	return wp_test_number(FALSE, TRUE);
}

/* (transfer full) */
static WpTree *
make_tree(const Workload *w)
{
	GString *text = g_string_new(NULL);
	WpRandom64 random = { 12345 };
	double at_us = 1000;

	for (int i = 0; i < wp_test_number(w->n, 16); i++) {
		append_request(text, w, &random, i, (int)at_us);
		at_us -= w->between_us * log(wp_random64_share(&random));
	}
	if (w->when == PAUSE)
		append_request(text, w, &random, w->n, (int)(at_us * 1.6));
	WpTree *tree = wp_tree_new(text->str);
	g_string_free(text, TRUE);
	return tree;
}

/* Share of the calls that have a parent whose parent is right. */
static double
measure(const WpTree *tree, const WpEngine *engine, gconstpointer options, double *out_surprise)
{
	const WpSpans *spans = wp_resolved_spans(tree->resolved);
	g_autoptr(WpLinks) links = engine->run(tree->resolved, options, NULL, NULL);
	guint n = 0, right = 0;
	double believed = 0;

	for (guint64 id = 1; id < tree->parents->len; id++) {
		guint64 truth = g_array_index(tree->parents, guint64, id);
		const WpLink *link = &links->links[wp_tree_span(tree, id)];
		if (truth == 0) {
			ck_assert_uint_eq(link->parent, WP_NO_SPAN);
			continue;
		}
		n++;
		right += link->parent != WP_NO_SPAN && spans->spans[link->parent].id == truth;
		believed += link->probability;
	}
	*out_surprise = (believed - right) / n;
	return (double)right / n;
}

/* The same where the engine is told the truth. */
static double
measure_told(const WpTree *tree, WpReferenceKind kind)
{
	const WpSpans *spans = wp_resolved_spans(tree->resolved);
	g_autofree guint32 *parents = g_new(guint32, spans->n);
	WpReference reference = { kind, parents };
	guint n = 0, right = 0;

	for (guint64 id = 1; id < tree->parents->len; id++) {
		guint64 truth = g_array_index(tree->parents, guint64, id);
		guint32 span = wp_tree_span(tree, id);
		parents[span] = truth ? wp_tree_span(tree, truth) : WP_NO_SPAN;
		n += truth != 0;
	}
	g_autoptr(WpLinks) links =
		wp_engine_nesting.run_reference(tree->resolved, NULL, &reference, NULL, NULL);
	for (guint32 i = 0; i < spans->n; i++)
		right += parents[i] != WP_NO_SPAN && links->links[i].parent == parents[i];
	return (double)right / n;
}

static const Workload workloads[] = {
	{ "one call, alone", 300, 2000, .1, 100, 200, 100, 1, ALWAYS, 0, .98, .995, NO_VALUES },
	{ "two calls, busy", 600, 150, .1, 100, 200, 100, 2, ALWAYS, 0, .9, .8, NO_VALUES },
	{ "a cache", 600, 150, .1, 100, 200, 100, 2, CACHE, 0, .9, .9, NO_VALUES },
	{ "none or two calls", 600, 200, .1, 100, 200, 100, 2, IDLE, 0, .9, .85, NO_VALUES },
	{ "work after the reply", 600, 300, .1, 100, 200, 100, 1, ALWAYS, 150, .93, .6, NO_VALUES },
	{ "work after the reply, then nothing", 600, 150, .1, 100, 200, 100, 1, PAUSE, 150, .9, .6,
	  NO_VALUES },
	{ "values, work after the reply", 600, 30, .5, 100, 200, 100, 1, ALWAYS, 400, .8, .6,
	  PASSED_ON },
	{ "values passed on", 600, 60, .5, 100, 200, 100, 2, ALWAYS, 0, .88, 1, PASSED_ON },
	{ "values without meaning", 600, 150, .1, 100, 200, 100, 2, ALWAYS, 0, .9, .8, STRANGE },
	{ "one value", 600, 150, .1, 100, 200, 100, 2, ALWAYS, 0, .9, .8, EQUAL },
	{ "sizes of a proxy", 600, 60, .5, 100, 200, 100, 1, ALWAYS, 0, .88, 1, PROXY_SIZES },
	{ "sizes of rows", 600, 60, .5, 100, 200, 100, 1, ALWAYS, 0, .8, 1, ROW_SIZES },
	{ "sizes without meaning", 600, 150, .1, 100, 200, 100, 1, ALWAYS, 0, .9, .95,
	  STRANGE_SIZES },
	{ "identifiers", 600, 60, .5, 100, 200, 100, 2, ALWAYS, 0, .85, 1, IDS },
	{ "identifiers used again", 600, 150, .1, 100, 200, 100, 2, ALWAYS, 0, .9, .8, USED_AGAIN },
	{ "a connection for each request", 600, 60, .5, 100, 200, 100, 3, ALWAYS, 0, .7, 1,
	  CONNECTIONS },
	{ "transactions", 600, 60, .5, 100, 200, 100, 3, ALWAYS, 0, .7, 1, TRANSACTIONS },
	{ "sticky connections", 1200, 60, .5, 100, 200, 100, 2, ALWAYS, 0, .8, 1, STICKY },
	{ "calls of several requests in a packet", 1000, 1200, .2, 4000, 3000, 3000, 1, ALWAYS, 0,
	  .65, .6, PACKED },
};

/* The same as a trace with and without what NAME tells. */
static void
check_evidence(const Workload *w, const char *name, double least_gain)
{
	g_autoptr(WpTree) tree = make_tree(w);
	const WpNestingOptions without = { .after_ns = -1, .no_evidence = name };
	double surprise;
	/* Few requests say nothing, and were taken with it among all workloads. */
	if (are_few())
		return;
	double with_it = measure(tree, &wp_engine_nesting, NULL, &surprise);
	double without_it = measure(tree, &wp_engine_nesting, &without, &surprise);
	ck_assert_msg(with_it - without_it >= least_gain, "%s: %.3f with %s, %.3f without", w->name,
		      with_it, name, without_it);
}

static void
check_workload(const Workload *w)
{
	g_autoptr(WpTree) tree = make_tree(w);
	double surprise, ignored;
	double nesting = measure(tree, &wp_engine_nesting, NULL, &surprise);
	double scoreboard = measure(tree, &wp_engine_scoreboard, NULL, &ignored);
	if (are_few())
		return;

	ck_assert_msg(nesting >= w->floor, "%s: %.3f of the links are right", w->name, nesting);
	ck_assert_msg(scoreboard <= w->floor_of_scoreboard, "%s: too easy: scoreboard %.3f",
		      w->name, scoreboard);
	/* Few requests leave more doubt than there need be; too much trust would do harm. */
	ck_assert_msg(surprise >= -0.1 && surprise <= 0.035, "%s: believed minus right: %.3f",
		      w->name, surprise);
}

START_TEST(right_parents)
{
	for (gsize i = 0; i < G_N_ELEMENTS(workloads); i++)
		check_workload(&workloads[i]);
}
END_TEST

/* Values that are passed on help where time does not; others do no harm. So do sizes. */
START_TEST(evidence)
{
	static const struct {
		const char *name;
		double least_gain;
	} rows[] = {
		[PASSED_ON] = { "tokens", .1 },
		[STRANGE] = { "tokens", -.005 },
		[EQUAL] = { "tokens", -.005 },
		[PROXY_SIZES] = { "sizes", .1 },
		[ROW_SIZES] = { "sizes", .1 },
		[STRANGE_SIZES] = { "sizes", -.005 },
		[IDS] = { "ids", .1 },
		[USED_AGAIN] = { "ids", -.005 },
		[CONNECTIONS] = { "connections", .1 },
		[TRANSACTIONS] = { "transactions", .1 },
		[STICKY] = { "sticky", .1 },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(workloads); i++) {
		Values values = workloads[i].values;
		if (values && values != PACKED)
			check_evidence(&workloads[i], rows[values].name, rows[values].least_gain);
	}
}
END_TEST

/* Requests that share a few connections to db, and wait in line for one. Times in us. */
typedef struct {
	const char *name;
	int n;          /* requests */
	int between_us; /* mean time between them */
	int connections;
	int n_calls;  /* over the connection that it got, one after another */
	int think_us; /* between them */
	double floor; /* share of links that must be right */
	double most;  /* ... and may be where it is not seen that they have waited; 1: any */
	gboolean has_workers; /* one a connection, that has it until the reply */
} Line;

/* (transfer full) */
static WpTree *
make_line(const Line *line)
{
	GString *text = g_string_new(NULL);
	WpRandom64 random = { 4711 };
	int free_us[POOL] = { 0 };
	double at_us = 1000;

	for (int i = 0; i < wp_test_number(line->n, 30); i++) {
		int own = 0, begin_us = (int)at_us;
		for (int k = 1; k < line->connections; k++)
			own = free_us[k] < free_us[own] ? k : own;
		/* All work as long before they want one, so that the first to come is the first in line. */
		int time_us = MAX(begin_us + 100, free_us[own] + 20);
		GString *calls = g_string_new(NULL);
		for (int k = 0; k < line->n_calls; k++) {
			int call_us = vary(&random, 300, .5);
			g_string_append_printf(calls, "%sdb@%d[%d-%d]", k ? "," : "", 1 + own,
					       time_us, time_us + call_us);
			time_us += call_us + (k + 1 < line->n_calls ? line->think_us : 0);
		}
		int end_us = time_us + vary(&random, 400, .7);
		free_us[own] = line->has_workers ? end_us : time_us;
		g_string_append_printf(text, "client>web[%d-%d](%s) ", begin_us, end_us,
				       calls->str);
		g_string_free(calls, TRUE);
		at_us -= line->between_us * log(wp_random64_share(&random));
	}
	WpTree *tree = wp_tree_new(text->str);
	g_string_free(text, TRUE);
	return tree;
}

/* Who had waited for a connection is not the latest to have come; who goes on over its own has not waited. */
START_TEST(waiting_for_connections)
{
	static const Line rows[] = {
		{ "hardly a line", 1000, 300, 3, 1, 0, .92, 1, FALSE },
		{ "a line at times", 1000, 125, 3, 1, 0, .6, .35, FALSE },
		{ "always a line", 1000, 108, 3, 1, 0, .6, .25, FALSE },
		{ "statement after statement, all free", 1000, 300, POOL, 4, 20, .93, 1, FALSE },
		{ "statement after statement, each worker its own", 250, 560, 3, 4, 20, .99, 1,
		  TRUE },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpTree) tree = make_line(&rows[i]);
		const WpNestingOptions without = { .after_ns = -1, .no_evidence = "pools" };
		double ignored, with_it = measure(tree, &wp_engine_nesting, NULL, &ignored);
		if (are_few())
			continue;
		double without_it = measure(tree, &wp_engine_nesting, &without, &ignored);
		ck_assert_msg(with_it >= rows[i].floor, "%s: %.3f", rows[i].name, with_it);
		ck_assert_msg(without_it <= rows[i].most, "%s: too easy: %.3f", rows[i].name,
			      without_it);
		ck_assert_msg(with_it >= without_it - .01, "%s: %.3f without", rows[i].name,
			      without_it);
	}
}
END_TEST

/* The same input, the same answer. */
START_TEST(repeats)
{
	g_autoptr(WpTree) tree = make_tree(&workloads[1]);
	g_autoptr(WpLinks) a = wp_engine_nesting.run(tree->resolved, NULL, NULL, NULL);
	g_autoptr(WpLinks) b = wp_engine_nesting.run(tree->resolved, NULL, NULL, NULL);
	ck_assert_uint_eq(a->n, b->n);
	ck_assert_mem_eq(a->links, b->links, a->n * sizeof a->links[0]);
}
END_TEST

/* Nothing to link, nothing to be found: no crash, no parent. */
START_TEST(little_input)
{
	static const struct {
		const char *tree;
		guint n_parents;
	} rows[] = {
		{ "a>b[0-10]", 0 },
		{ "a>b[0-10] a>b[20-30]", 0 },
		{ "b>c[0-10] a>b[20-30]", 0 }, /* by a node that has not served yet */
		{ "a>b[0-10](c[2-5])", 1 },
		{ "a>b[0-10](c[0-10])", 1 },    /* equal times */
		{ "a>b[5](c[6-7])", 0 },        /* a message is no parent */
		{ "a>b[0-](c[2-5])", 0 },       /* nor is a call without a return */
		{ "a>b[0-10](c[2-],c[3])", 2 }, /* but both have one: by their begin */
		{ "a>b[0-10](c[2-5]^)", 0 },    /* set-up has no parent */
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpTree) tree = wp_tree_new(rows[i].tree);
		g_autoptr(WpLinks) links = wp_engine_nesting.run(tree->resolved, NULL, NULL, NULL);
		guint n = 0;
		for (guint32 j = 0; j < links->n; j++)
			n += links->links[j].parent != WP_NO_SPAN;
		ck_assert_msg(n == rows[i].n_parents, "%s: %u parents", rows[i].tree, n);
	}
}
END_TEST

/* A long poll encloses the calls of others; it is not what caused them. */
START_TEST(waiting)
{
	g_autoptr(WpTree) tree = wp_tree_new("client>web[0-9000]~ "
					     "client>web[1000-2000](db[1200-1300]) "
					     "client>web[3000-4000](db[3200-3300]) "
					     "client>web[5000-6000](db[5200-5300])");
	const WpSpans *spans = wp_resolved_spans(tree->resolved);
	g_autoptr(WpLinks) links = wp_engine_nesting.run(tree->resolved, NULL, NULL, NULL);
	for (guint64 id = 1; id < tree->parents->len; id++) {
		guint64 truth = g_array_index(tree->parents, guint64, id);
		const WpLink *link = &links->links[wp_tree_span(tree, id)];
		if (!truth)
			continue;
		ck_assert_uint_ne(link->parent, WP_NO_SPAN);
		ck_assert_uint_eq(spans->spans[link->parent].id, truth);
		ck_assert_uint_eq(link->n_candidates, 1);
	}
}
END_TEST

/* What the user says decides where time does not, and is named; what is ruled out is no parent. */
START_TEST(hints)
{
	static const char tree_text[] = "client>web/A[0-100](db/X[10-20]) client>web/B[5-95]";
	static const struct {
		const char *hints;
		guint64 parent; /* of call 2; 0 = none */
		guint32 evidence;
	} rows[] = {
		{ "/A/ -> db yes 0.99", 1, WP_EVIDENCE_DELAY | WP_EVIDENCE_HINTS },
		{ "/B/ -> db yes 0.99", 3, WP_EVIDENCE_DELAY | WP_EVIDENCE_HINTS },
		{ "web /A/ -> db /X/ no 1", 3, WP_EVIDENCE_ONLY | WP_EVIDENCE_HINTS },
		{ "web -> * no 1", 0, WP_EVIDENCE_ROOT },
		{ "other -> db yes 1", 0, 0 },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autotemp *path = wp_temp_file_new("hints", rows[i].hints, strlen(rows[i].hints));
		const WpNestingOptions options = { .after_ns = -1, .hints = path };
		g_autoptr(WpTree) tree = wp_tree_new(tree_text);
		const WpSpans *spans = wp_resolved_spans(tree->resolved);
		g_autoptr(WpLinks) links =
			wp_engine_nesting.run(tree->resolved, &options, NULL, NULL);
		const WpLink *link = &links->links[wp_tree_span(tree, 2)];
		guint64 parent = link->parent == WP_NO_SPAN ? 0 : spans->spans[link->parent].id;
		if (rows[i].evidence == 0) {
			ck_assert_uint_eq(link->evidence, WP_EVIDENCE_DELAY);
			continue;
		}
		ck_assert_msg(parent == rows[i].parent, "%s: %d", rows[i].hints, (int)parent);
		ck_assert_msg(link->evidence == rows[i].evidence, "%s: evidence %x", rows[i].hints,
			      link->evidence);
	}
}
END_TEST

/* Kinds that do not exist are found before anything is read. */
START_TEST(lists_of_evidence)
{
	static const struct {
		const char *with, *without;
		gboolean good;
	} rows[] = {
		{ NULL, NULL, TRUE },
		{ "all", "none", TRUE },
		{ "hints,connections", NULL, TRUE },
		{ "hint", NULL, FALSE },
		{ NULL, "hints,speed", FALSE },
		{ "hints,", NULL, FALSE },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GError) error = NULL;
		const WpNestingOptions options = { .evidence = rows[i].with,
						   .no_evidence = rows[i].without };
		ck_assert_int_eq(wp_engine_nesting.check(&options, &error), rows[i].good);
		ck_assert_int_eq(error == NULL, rows[i].good);
	}
}
END_TEST

/* Neither a root nor a child: what has no return and no parent is not linked. */
START_TEST(unpaired)
{
	static const struct {
		const char *tree;
		guint64 id;
		guint32 evidence;
	} rows[] = {
		{ "a>b[0-10]", 1, WP_EVIDENCE_ROOT },
		{ "a>b[0-]", 1, WP_EVIDENCE_UNPAIRED },
		{ "a>b[5]", 1, WP_EVIDENCE_UNPAIRED },
		{ "a>b[0-10](c[2-5]) b>c[9000-]", 3, WP_EVIDENCE_UNPAIRED },
		{ "a>b[0-10](c[2-5]) b>c[9000]", 3, WP_EVIDENCE_UNPAIRED },
		{ "a>b[0-10](c[2-5],c[7-])", 3, WP_EVIDENCE_ONLY }, /* but it has a parent */
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpTree) tree = wp_tree_new(rows[i].tree);
		g_autoptr(WpLinks) links = wp_engine_nesting.run(tree->resolved, NULL, NULL, NULL);
		const WpLink *link = &links->links[wp_tree_span(tree, rows[i].id)];
		ck_assert_msg(link->evidence == rows[i].evidence, "%s: %#x", rows[i].tree,
			      link->evidence);
		ck_assert((link->evidence == WP_EVIDENCE_UNPAIRED) == (link->probability < 0));
	}
}
END_TEST

/*
 * Two requests and two calls that could as well be exchanged: what the engine is told decides, whichever
 * it is.
 *
 *     1 |------------------|
 *       |------------------| 3
 *            |- 2 -|
 *            |- 4 -|
 */
START_TEST(told_who_is_whose)
{
	g_autoptr(WpTree) tree = wp_tree_new("a>b[0-100](c[20-30]) a>b[0-100](c[20-30])");
	static const guint64 told[][2] = { { 1, 3 }, { 3, 1 } };
	for (gint kind = 0; kind < WP_N_REFERENCES; kind++)
		for (gsize i = 0; i < G_N_ELEMENTS(told); i++) {
			guint32 parents[4] = { WP_NO_SPAN, WP_NO_SPAN, WP_NO_SPAN, WP_NO_SPAN };
			guint32 child[2] = { wp_tree_span(tree, 2), wp_tree_span(tree, 4) };
			WpReference reference = { (WpReferenceKind)kind, parents };
			for (gint k = 0; k < 2; k++)
				parents[child[k]] = wp_tree_span(tree, told[i][k]);
			g_autoptr(WpLinks) links = wp_engine_nesting.run_reference(
				tree->resolved, NULL, &reference, NULL, NULL);
			for (gint k = 0; k < 2 && kind == WP_REFERENCE_STARTED; k++)
				ck_assert_uint_eq(links->links[child[k]].parent, parents[child[k]]);
			ck_assert_uint_ne(links->links[child[0]].parent,
					  links->links[child[1]].parent);
		}
}
END_TEST

/* Told the truth of times, it does no worse. */
START_TEST(reference_is_no_worse)
{
	for (gsize i = 0; i < G_N_ELEMENTS(workloads) && !workloads[i].values; i++) {
		g_autoptr(WpTree) tree = make_tree(&workloads[i]);
		double surprise, found = measure(tree, &wp_engine_nesting, NULL, &surprise);
		for (gint kind = 0; kind < WP_N_REFERENCES; kind++) {
			double told = measure_told(tree, (WpReferenceKind)kind);
			ck_assert_msg(told >= found - 0.01 || are_few(), "%s: %.3f, told %.3f",
				      workloads[i].name, found, told);
		}
	}
}
END_TEST

static guint patience, n_asked;

static gboolean
loses_patience(void)
{
	n_asked++;
	patience -= patience > 0;
	return patience == 0;
}

/* Stopped at whatever point, it hands out what it has: roots are roots, and calls have a parent or say why not. */
static void
check_stopped(const WpTree *tree, guint when, guint n)
{
	guint n_linked = 0, n_stopped = 0;
	patience = when;
	g_autoptr(WpLinks) links =
		wp_engine_nesting.run(tree->resolved, NULL, loses_patience, NULL);
	for (guint64 id = 1; id < tree->parents->len; id++) {
		guint64 truth = g_array_index(tree->parents, guint64, id);
		const WpLink *link = &links->links[wp_tree_span(tree, id)];
		n_linked += link->parent != WP_NO_SPAN;
		n_stopped += (link->evidence & WP_EVIDENCE_STOPPED) != 0;
		ck_assert_uint_ne(link->evidence, 0);
		if (!truth) {
			ck_assert_uint_eq(link->evidence, WP_EVIDENCE_ROOT);
			continue;
		}
		ck_assert_msg((link->parent == WP_NO_SPAN) ==
				      (link->evidence == WP_EVIDENCE_STOPPED),
			      "stopped at %u: call %" G_GUINT64_FORMAT " has evidence %x", when, id,
			      link->evidence);
		/*
		 * What was not settled before any search is not known, but when that is over; what
		 * then is asked is whether there is a better answer on another clock.
		 */
		ck_assert(when > n / 8 || link->probability == -1 ||
			  (link->probability == 1 && link->parent != WP_NO_SPAN));
	}
	ck_assert_msg(when > 1 || n_linked == 0, "stopped at once, and yet %u links", n_linked);
	ck_assert_msg(when < n / 2 || n_stopped == 0, "stopped late: %u without a parent",
		      n_stopped);
}

START_TEST(stopped)
{
	g_autoptr(WpTree) tree = make_tree(&workloads[1]);
	n_asked = 0;
	patience = G_MAXUINT;
	wp_links_free(wp_engine_nesting.run(tree->resolved, NULL, loses_patience, NULL));
	guint n = n_asked;
	ck_assert_uint_gt(n, wp_test_number(1000, 10));
	for (guint when = 1; when < n; when = when * 3 + 1)
		check_stopped(tree, when, n);
	check_stopped(tree, n - 1, n);
}
END_TEST

/* What a program with one thread does next: a request came in, or the answer to its call. */
typedef struct {
	int came_us;
	int request;
	gboolean is_answer;
} Event;

/*
 * (transfer full) N requests to a program that answers events one after the other, each with work of its
 * own length: at the end of the first it calls db, at the end of the second it replies.
 */
static WpTree *
make_loop(int n)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autofree Event *events = g_new(Event, 2 * (gsize)n);
	g_autofree int(*times)[4] =
		g_malloc0(sizeof(int[4]) * (gsize)n); /* begin, call, return, end */
	WpRandom64 random = { 4711 };
	double at_us = 1000;
	int n_events = n, free_us = 0;

	for (int i = 0; i < n; i++) {
		events[i] = (Event){ (int)at_us, i, FALSE };
		times[i][0] = (int)at_us;
		at_us -= 1700 * log(wp_random64_share(&random));
	}
	while (n_events > 0) {
		int next = 0;
		for (int i = 1; i < n_events; i++)
			if (events[i].came_us < events[next].came_us)
				next = i;
		Event event = events[next];
		events[next] = events[--n_events];
		free_us =
			MAX(free_us, event.came_us) + 100 + (int)(800 * wp_random64_share(&random));
		times[event.request][event.is_answer ? 3 : 1] = free_us;
		if (event.is_answer)
			continue;
		times[event.request][2] = free_us + 1000 + (int)(8000 * wp_random64_share(&random));
		events[n_events++] = (Event){ times[event.request][2], event.request, TRUE };
	}
	for (int i = 0; i < n; i++)
		g_string_append_printf(text, "client>web[%d-%d](db[%d-%d]) ", times[i][0],
				       times[i][3], times[i][1], times[i][2]);
	return wp_tree_new(text->str);
}

/* A program that works in order is known by it, and what came first goes on first. */
START_TEST(first_in_first_out)
{
	g_autoptr(WpTree) tree = make_loop(500);
	double surprise, right = measure(tree, &wp_engine_nesting, NULL, &surprise);
	ck_assert_msg(right >= .97, "%.3f of the links are right", right);
	ck_assert_double_le(surprise, .01);
}
END_TEST

/* More kinds of calls than are told apart: the rarest are one, which is counted, and nothing is lost. */
START_TEST(many_kinds)
{
	static const struct {
		int n;
		gboolean joins;
	} rows[] = { { 300, FALSE }, { 700, TRUE } };
	for (gsize r = 0; r < G_N_ELEMENTS(rows); r++) {
		g_autoptr(GString) text = g_string_new(NULL);
		for (int i = 0; i < rows[r].n; i++)
			g_string_append_printf(text, "client>web[%d-%d](site%d[%d-%d]) ", 1000 * i,
					       1000 * i + 950, i, 1000 * i + 200, 1000 * i + 800);
		g_autoptr(WpTree) tree = wp_tree_new(text->str);
		g_autoptr(WpLinks) links = wp_engine_nesting.run(tree->resolved, NULL, NULL, NULL);
		double surprise;
		ck_assert_double_eq(measure(tree, &wp_engine_nesting, NULL, &surprise), 1);
		ck_assert_int_eq(links->n_joined > 0, rows[r].joins);
	}
}
END_TEST

/* --- simulated hosts --- */

typedef struct {
	const char *name;
	int requests;
	double floor; /* share of links that must be right */
	gboolean by_time;
	const char *text;
} Host;

static const Host hosts[] = {
	/* Of a long capture, delays are learned from a part: from all of it, 0.923 are right. */
	{ "long capture", 40000, 0.92, TRUE,
	  "[service web]\n[service db]\n"
	  "[client browsers]\narrivals = poisson(3000/s)\nplan = call web.get\n"
	  "[operation web.get]\nplan = work normal(200us, 10%); call db.get; work "
	  "normal(200us, 10%); call db.get; work normal(200us, 10%)\n"
	  "[operation db.get]\nplan = wait normal(200us, 10%)\n" },
	/* Pairs out of order are rare where calls of a request begin together: that hardly any is seen does not make it an order (0.69). */
	{ "few pairs out of order", 2500, 0.77, FALSE,
	  "[service B]\n[service C]\n"
	  "[client A]\nclients = 28\nthink = uniform(0, 50ms)\nplan = call B.run\n"
	  "[operation B.run]\nplan = work normal(10ms, 10%); "
	  "parallel 2 { work normal(1ms, 50%); call C.get } work normal(10ms, 10%)\n"
	  "[operation C.get]\nplan = work normal(30ms, 10%)\n" },
	/* Noise that falls fast stays far from what is likeliest (7 rounds: 0.71). */
	{ "long tails", 600, 0.74, FALSE,
	  "seed = 3\n[service B]\n[service C]\n[service D]\n"
	  "[client A]\nclients = 16\nthink = exponential(40ms)\nplan = call B.run\n"
	  "[operation B.run]\nplan = work lognormal(2ms, 0.8); call C.get; work lognormal(1ms, "
	  "0.8); "
	  "repeat 3 { call D.get; work lognormal(1ms, 0.8) }\n"
	  "[operation C.get]\nplan = work lognormal(4ms, 0.8)\n"
	  "[operation D.get]\nplan = work lognormal(6ms, 0.8)\n" },
	/* In order: what was found before that was known has two exchanged, which no single move mends. */
	{ "a loop", 1500, 1, FALSE,
	  "seed = 2\nnetwork = normal(50us, 20%)\n[service node]\ncores = 1\n[service auth]\ncores "
	  "= "
	  "1\n[service db]\n[client users]\narrivals = poisson(200/s)\nplan = call node.page\n"
	  "[operation node.page]\nplan = work uniform(0.5ms, 1.5ms); call auth.check; work "
	  "uniform(0.2ms, 0.6ms); repeat 2 { call db.query; work uniform(0.2ms, 0.6ms) }\n"
	  "[operation auth.check]\nplan = work uniform(0.2ms, 1.8ms)\n"
	  "[operation db.query]\nplan = wait lognormal(10ms, 0.5)\n" },
};

START_TEST(simulated_hosts)
{
	const WpNestingOptions by_time = { .after_ns = -1, .no_evidence = "all" };

	for (gsize h = 0; h < G_N_ELEMENTS(hosts); h++) {
		const Host *host = &hosts[h];
		g_autofree char *scenario =
			g_strdup_printf("[simulation]\nrequests = %d\n%s",
					wp_test_number(host->requests, 30), host->text);
		g_autoptr(GArray) truth = g_array_new(FALSE, TRUE, sizeof(guint64));
		g_autoptr(WpTrace) trace = wp_test_simulate(scenario, host->name, truth);
		WpResolveOptions names;

		wp_resolve_options_init(&names);
		g_autoptr(WpResolved) resolved = wp_resolve(trace, &names, NULL);
		g_autoptr(WpLinks) links = wp_engine_nesting.run(
			resolved, host->by_time ? &by_time : NULL, NULL, NULL);
		double right = wp_test_share_right(resolved, links, truth);
		ck_assert_msg(are_few() || right >= host->floor, "%s: %.3f", host->name, right);
	}
}
END_TEST

WP_SUITE("nesting", right_parents, evidence, waiting_for_connections, repeats, waiting,
	 little_input, hints, lists_of_evidence, unpaired, told_who_is_whose, reference_is_no_worse,
	 first_in_first_out, simulated_hosts, stopped, many_kinds)
