/*
 * What one-way messages cause: pipelines, simulated with their truth; nothing encloses anything there. And the
 * paths that they make.
 */
#include <math.h>
#include <string.h>

#include "infer/calibrate.h"
#include "infer/engine-nesting.h"
#include "infer/path.h"
#include "infer/pattern.h"
#include "infer/random.h"
#include "tests/support/simulated.h"
#include "tests/support/suite.h"
#include "tests/support/tree.h"
#include "traces/scenario.h"

typedef struct {
	const char *name;
	const char *services; /* and operations, after those of users */
	int requests;
	double rate;      /* of users, a second; 0: services say what they send */
	double recall;    /* floors: share of true links that are found, */
	double precision; /* ... of links that are true */
	gboolean none;    /* nothing may be linked at all */
} Row;

#define PIPELINE(stage, more)                                                                      \
	"[service a]\n[service b]\n[service c]\n[service d]\n"                                     \
	"[operation a.x]\nplan = wait " stage "; send b.x\n"                                       \
	"[operation b.x]\nplan = wait " stage "; send c.x" more "\n"                               \
	"[operation c.x]\nplan = work 1ms\n[operation d.x]\nplan = work 1ms\n"

/* What one message in three leads to beside. */
#define ALARM "; maybe 33% { wait normal(10ms, 30%); send d.x }"

/* Each service has as many workers. */
#define WORKERS(workers, stage, more)                                                              \
	"[service a]\nworkers = " workers "\n[service b]\nworkers = " workers                      \
	"\n[service c]\n[service d]\n"                                                             \
	"[operation a.x]\nplan = wait " stage "; send b.x\n"                                       \
	"[operation b.x]\nplan = wait " stage "; send c.x" more "\n"                               \
	"[operation c.x]\nplan = work 1ms\n[operation d.x]\nplan = work 1ms\n"

/* A worker who sends as PLAN has it. */
#define FILTER(plan)                                                                               \
	"[service a]\nworkers = 1\n[service c]\n[operation a.x]\nplan = " plan                     \
	" { send c.x }\n[operation c.x]\nplan = work 1ms\n"

/* Two systems that share node a, by chance; each sends so at RATE a second. */
#define STRANGERS(rate, when)                                                                      \
	"[client users]\narrivals = poisson(" rate ")\nplan = " when(                              \
		"a.x") "\n"                                                                        \
		       "[client other]\nnodes = a\narrivals = poisson(" rate                       \
		       ")\nplan = " when("c.x") "\n"                                               \
						"[service a]\n[service c]\n"                       \
						"[operation a.x]\nplan = work 1ms\n[operation "    \
						"c.x]\nplan = work 1ms\n"

/* Most of the time idle: at its end, but for a little; and in between. */
#define IDLE_AT_END(to)  "since 0s until 20s { send " to " } since 49s { send " to " }"
#define IDLE_BETWEEN(to) "since 0s until 12s { send " to " } since 38s { send " to " }"

/* Twice as many from then on. */
#define MORE_LATER(to) "maybe 50% { send " to " } else { since 25s { send " to " } }"

static const Row rows[] = {
	{ "one at a time", PIPELINE("normal(40ms, 25%)", ""), 1000, 2, 0.98, 0.98, FALSE },
	{ "one in three to d as well",
	  PIPELINE("normal(40ms, 10%)", "; maybe 33% { wait normal(10ms, 30%); send d.x }"), 1000,
	  20, 0.88, 0.88, FALSE },
	{ "ten at a time", PIPELINE("normal(40ms, 2%)", ""), 1500, 250, 0.60, 0.60, FALSE },
	{ "memoryless", PIPELINE("exponential(40ms)", ""), 1500, 5, 0.80, 0.80, FALSE },
	{ "two delays of one edge", /* as mail has them: now and again much later */
	  PIPELINE("normal(40ms, 10%); maybe 20% { wait 3s }", ""), 1500, 3, 0.85, 0.85, FALSE },
	{ "one worker", WORKERS("1", "normal(40ms, 5%)", ""), 1000, 18, 0.99, 0.99, FALSE },
	{ "one worker, nearly always at work", WORKERS("1", "normal(40ms, 25%)", ""), 1500, 22,
	  0.99, 0.99, FALSE },
	{ "one worker, memoryless", WORKERS("1", "exponential(40ms)", ""), 1500, 15, 0.99, 0.99,
	  FALSE },
	{ "one worker, one in three to d as well",
	  WORKERS("1", "normal(40ms, 25%)", "; maybe 33% { wait normal(10ms, 30%); send d.x }"),
	  1500, 17, 0.99, 0.99, FALSE },
	{ "one worker, one in three to d before",
	  "[service a]\nworkers = 1\n[service c]\n[service d]\n[operation a.x]\n"
	  "plan = maybe 33% { wait normal(10ms, 30%); send d.x } wait normal(40ms, 25%); send c.x\n"
	  "[operation c.x]\nplan = work 1ms\n[operation d.x]\nplan = work 1ms\n",
	  1500, 17, 0.99, 0.99, FALSE },
	{ "one worker, who is answered by a third node",
	  "[service a]\nworkers = 1\n[service b]\n[service c]\n[service d]\n"
	  "[operation a.x]\nplan = wait normal(30ms, 25%); send b.x\n"
	  "[operation a.y]\nplan = wait normal(10ms, 25%); send d.y\n"
	  "[operation b.x]\nplan = wait normal(10ms, 10%); send c.x\n"
	  "[operation c.x]\nplan = wait normal(10ms, 10%); send a.y\n"
	  "[operation d.y]\nplan = work 1ms\n",
	  1500, 18, 0.93, 0.93, FALSE },
	{ "one worker, who sends nothing for one in four",
	  FILTER("wait normal(40ms, 25%); maybe 75%"), 2000, 18, 0.78, 0.78, FALSE },
	{ "one worker, who sends nothing for every other one",
	  FILTER("wait normal(40ms, 5%); maybe 50%"), 2000, 18, 0.80, 0.80, FALSE },
	{ "one worker, who drops one in four at once",
	  FILTER("maybe 75% { wait normal(40ms, 25%); send c.x } maybe 0%"), 2000, 18, 0.78, 0.78,
	  FALSE },
	{ "two workers", WORKERS("2", "normal(40ms, 25%)", ""), 1500, 30, 0.75, 0.75, FALSE },
	{ "two workers, nearly always at work", WORKERS("2", "normal(40ms, 25%)", ""), 1500, 45,
	  0.70, 0.70, FALSE },
	{ "two workers, one in three to d as well",
	  WORKERS("2", "normal(40ms, 25%)", "; maybe 33% { wait normal(10ms, 30%); send d.x }"),
	  1500, 40, 0.70, 0.70, FALSE },
	{ "four workers", WORKERS("4", "normal(40ms, 10%)", ""), 1500, 80, 0.60, 0.60, FALSE },
	{ "messages that nothing has caused",
	  PIPELINE("normal(40ms, 10%)", "") "[client cron]\nnodes = b\narrivals = poisson(10/s)\n"
					    "plan = send c.x\n",
	  2000, 10, 0.90, 0.85, FALSE },
	{ "two systems that share a node by chance",
	  "[service a]\n[service c]\n[client other]\nnodes = a\narrivals = poisson(20/s)\nplan = "
	  "send c.x\n"
	  "[operation a.x]\nplan = work 1ms\n[operation c.x]\nplan = work 1ms\n",
	  1000, 20, 0, 0, TRUE },
	{ "a clock and messages that share a node by chance",
	  "[client users]\narrivals = poisson(20/s)\nplan = send a.x\n"
	  "[client clock]\nnodes = a\narrivals = regular(20/s)\nplan = wait normal(20ms, 25%); "
	  "send c.x\n"
	  "[service a]\n[service c]\n"
	  "[operation a.x]\nplan = work 1ms\n[operation c.x]\nplan = work 1ms\n",
	  2000, 0, 0, 0, TRUE },
	{ "two systems, then nothing", STRANGERS("20/s", IDLE_AT_END), 2000, 0, 0, 0, TRUE },
	{ "two systems, and nothing in between", STRANGERS("20/s", IDLE_BETWEEN), 2000, 0, 0, 0,
	  TRUE },
	{ "two systems, more of both later", STRANGERS("40/s", MORE_LATER), 4000, 0, 0, 0, TRUE },
	{ "messages that nothing has caused, more of all later",
	  "[client users]\narrivals = poisson(20/s)\nplan = " MORE_LATER(
		  "a.x") "\n"
			 "[client cron]\nnodes = b\narrivals = poisson(20/s)\nplan = " MORE_LATER(
				 "c.x") "\n" PIPELINE("normal(40ms, 25%)", ""),
	  2000, 0, 0.75, 0.75, FALSE },
	{ "messages that lead to calls",
	  "[service a]\n[service b]\n[operation a.x]\n"
	  "plan = wait normal(40ms, 10%); call b.x; wait normal(10ms, 10%); call b.x\n"
	  "[operation b.x]\nplan = work normal(5ms, 20%)\n",
	  1000, 10, 0.90, 0.90, FALSE },
};

/* (transfer full) The trace of ROW; TRUTH: the parent of each id. */
static WpTrace *
simulate(const Row *row, GArray *truth)
{
	g_autofree char *users =
		row->rate > 0 ? g_strdup_printf("[client users]\narrivals = poisson(%g/s)\n"
						"plan = send a.x\n",
						row->rate)
			      : g_strdup("");
	g_autofree char *text =
		g_strdup_printf("[simulation]\nrequests = %d\nnetwork = normal(200us, 20%%)\n%s%s",
				wp_test_number(row->requests, 60), users, row->services);
	return wp_test_simulate(text, row->name, truth);
}

static WpResolved *
resolve(WpTrace *trace)
{
	WpResolveOptions options;
	wp_resolve_options_init(&options);
	return wp_resolve(trace, &options, NULL);
}

START_TEST(right_parents)
{
	const Row *row = &rows[_i];
	g_autoptr(GArray) truth = g_array_new(FALSE, TRUE, sizeof(guint64));
	g_autoptr(WpTrace) trace = simulate(row, truth);
	g_autoptr(WpResolved) resolved = resolve(trace);
	g_autoptr(WpLinks) links = wp_engine_nesting.run(resolved, NULL, NULL, NULL);
	const WpSpans *spans = wp_resolved_spans(resolved);
	double n_true = 0, n_linked = 0, n_right = 0;

	for (guint32 i = 0; i < spans->n; i++) {
		guint64 parent = g_array_index(truth, guint64, spans->spans[i].id);
		guint32 linked = links->links[i].parent;
		n_true += parent != 0;
		n_linked += linked != WP_NO_SPAN;
		n_right += linked != WP_NO_SPAN && spans->spans[linked].id == parent;
		ck_assert(linked == WP_NO_SPAN ||
			  spans->spans[linked].call_ns <= spans->spans[i].call_ns);
	}
	if (wp_test_number(0, 1))
		return; /* too few to learn from */
	ck_assert_msg(n_right >= row->recall * n_true, "%s: recall %.3f", row->name,
		      n_right / n_true);
	ck_assert_msg(n_right >= row->precision * n_linked, "%s: precision %.3f", row->name,
		      n_right / n_linked);
	ck_assert_msg(!row->none || n_linked == 0, "%s: %g links", row->name, n_linked);
}
END_TEST

/*
 * An event loop that sends by timers, and is sent messages that are nothing to it: they wake it, and it sleeps for whole
 * milliseconds from then on, so that what it sends next comes so long after them.
 */
static const struct {
	double in; /* a second */
	double out;
	guint64 seed;
} loops[] = { { 55, 160, 1 },  { 55, 160, 2 }, { 55, 160, 3 }, { 200, 640, 1 },
	      { 200, 640, 2 }, { 20, 30, 1 },  { 20, 30, 2 },  { 300, 100, 1 } };

static double
gap_us(WpRandom64 *random, double rate)
{
	return -log(wp_random64_share(random)) * 1e6 / rate;
}

START_TEST(wakes)
{
	WpRandom64 random = { WP_RANDOM64_SEED ^ loops[_i].seed * 0x9e3779b97f4a7c15u };
	g_autoptr(GString) text = g_string_new(NULL);
	double in_us = gap_us(&random, loops[_i].in), due_us = gap_us(&random, loops[_i].out);
	double woken_us = 0; /* and what is due then is sent, a little later */

	for (int n = 0; n < wp_test_number(1500, 60);) {
		double at_us = woken_us + ceil((due_us - woken_us) / 1000) * 1000;
		if (in_us < at_us) {
			g_string_append_printf(text, "other>a[%.0f] ", in_us);
			at_us = in_us;
			in_us += gap_us(&random, loops[_i].in);
		}
		woken_us = at_us;
		for (; due_us <= at_us; due_us += gap_us(&random, loops[_i].out), n++)
			g_string_append_printf(text, "a>c[%.0f] ",
					       at_us + 50 + 100 * wp_random64_share(&random));
	}
	g_autoptr(WpTree) tree = wp_tree_new(text->str);
	g_autoptr(WpLinks) links = wp_engine_nesting.run(tree->resolved, NULL, NULL, NULL);
	const WpSpans *spans = wp_resolved_spans(tree->resolved);
	guint32 n_linked = 0;
	for (guint32 i = 0; i < spans->n; i++) {
		guint32 parent = links->links[i].parent;
		/* What comes and is sent in one microsecond may be cause and effect. */
		n_linked += parent != WP_NO_SPAN &&
			    spans->spans[parent].call_ns < spans->spans[i].call_ns;
	}
	ck_assert_msg(n_linked == 0, "%u links", n_linked);
}
END_TEST

/* How much of TRUTH, by id, links say of TREE; OUT_SEVERAL: the share of the messages in it that seem to have caused several. */
static double
share_right(const WpTree *tree, const GArray *truth, double *out_several)
{
	g_autoptr(WpLinks) links = wp_engine_nesting.run(tree->resolved, NULL, NULL, NULL);
	const WpSpans *spans = wp_resolved_spans(tree->resolved);
	g_autofree guint32 *n_caused = g_new0(guint32, MAX(spans->n, 1));
	double n_several = 0;

	for (guint32 i = 0; i < spans->n; i++)
		if (links->links[i].parent != WP_NO_SPAN)
			n_several += ++n_caused[links->links[i].parent] == 2;
	*out_several = n_several / MAX(spans->n / 2, 1);
	return wp_test_share_right(tree->resolved, links, truth);
}

/*
 * The same, but what it sends is caused: by timers set when messages came, to 12 +- 3 ms. What is due in one turn leaves within
 * some 100 us, or as fast as it can: then all of it is no sign of one cause.
 */
static const struct {
	double rate;     /* a second */
	double apart_us; /* what leaves in one turn; 0: at any time within 100 us */
	double right;    /* floor: share of the links */
	double several;  /* most messages that may seem to have caused several */
} timer_loops[] = {
	{ 160, 0, 0.52, 0.10 }, { 160, 0, 0.52, 0.10 }, { 160, 0, 0.52, 0.10 },
	{ 160, 0, 0.52, 0.10 }, { 640, 8, 0.15, 0.12 }, { 640, 8, 0.15, 0.12 },
	{ 320, 8, 0.33, 0.12 },
};

/* What is due at AT_US is sent, and goes from DUES and CAUSES; returns how much that was. */
static int
send_due(GString *text, WpRandom64 *random, double apart_us, double at_us, GArray *dues,
	 GArray *causes, GArray *truth)
{
	double sent_us = at_us;
	int n = 0;

	for (guint i = 0; i < dues->len;) {
		if (g_array_index(dues, double, i) > at_us) {
			i++;
			continue;
		}
		g_array_append_val(truth, g_array_index(causes, guint64, i));
		sent_us = apart_us > 0 ? sent_us + apart_us
				       : at_us + 50 + 100 * wp_random64_share(random);
		g_string_append_printf(text, "a>c[%.0f] ", sent_us);
		g_array_remove_index(dues, i);
		g_array_remove_index(causes, i);
		n++;
	}
	return n;
}

START_TEST(timers)
{
	WpRandom64 random = { WP_RANDOM64_SEED ^ ((guint64)_i + 1) * 0x9e3779b97f4a7c15u };
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GArray) dues = g_array_new(FALSE, FALSE, sizeof(double));
	g_autoptr(GArray) causes = g_array_new(FALSE, FALSE, sizeof(guint64));
	g_autoptr(GArray) truth = g_array_new(FALSE, TRUE, sizeof(guint64));
	double in_us = gap_us(&random, timer_loops[_i].rate), woken_us = 0, several;

	g_array_set_size(truth, 1);
	for (int n = 0; n < wp_test_number(1500, 60);) {
		double at_us = in_us;
		for (guint i = 0; i < dues->len; i++) {
			double ticks = ceil((g_array_index(dues, double, i) - woken_us) / 1000);
			at_us = MIN(at_us, woken_us + MAX(ticks, 0) * 1000);
		}
		woken_us = at_us;
		n += send_due(text, &random, timer_loops[_i].apart_us, at_us, dues, causes, truth);
		if (in_us > at_us)
			continue;
		double bell = -6;
		for (int i = 0; i < 12; i++)
			bell += wp_random64_share(&random);
		double due_us = in_us + floor(MAX(12 + 3 * bell, 1)) * 1000;
		guint64 id = truth->len;
		g_array_append_val(dues, due_us);
		g_array_append_val(causes, id);
		g_array_set_size(truth, (guint)id + 1);
		g_string_append_printf(text, "other>a[%.0f] ", in_us);
		in_us += gap_us(&random, timer_loops[_i].rate);
	}
	g_autoptr(WpTree) tree = wp_tree_new(text->str);
	double right = share_right(tree, truth, &several);
	if (!wp_test_number(1, 0))
		return;
	ck_assert_msg(right > timer_loops[_i].right && several <= timer_loops[_i].several,
		      "%.3f right, %.3f with several", right, several);
}
END_TEST

/* By how much more of TRUTH, by id, links that have a parent are said to be right than are; after a deal where IS_DEALT. */
static double
excess_of(const WpResolved *resolved, const GArray *truth, gboolean is_dealt)
{
	g_autoptr(WpLinks) links = wp_engine_nesting.run(resolved, NULL, NULL, NULL);
	const WpSpans *spans = wp_resolved_spans(resolved);
	WpResolveOptions options;
	double excess = 0, n = 0;

	wp_resolve_options_init(&options);
	const WpDealMethod method = { &options, &wp_engine_nesting, NULL, NULL };
	if (is_dealt)
		ck_assert(wp_links_calibrate(links, resolved, &method, NULL));
	for (guint32 i = 0; i < links->n; i++) {
		const WpLink *link = &links->links[i];
		if (link->parent == WP_NO_SPAN)
			continue;
		n++;
		excess += (double)link->probability -
			  (spans->spans[link->parent].id ==
			   g_array_index(truth, guint64, spans->spans[i].id));
	}
	return excess / MAX(n, 1);
}

/* Pipelines, and by how much their links may be more or less sure than right, as they are found and after a deal. */
static const struct {
	Row row;
	double found;
	double dealt;
} promised[] = {
	/* In the likeliest answer hardly anything overtakes where delays leave it open: that is no sign of order. */
	{ { .name = "memoryless", .services = PIPELINE("exponential(40ms)", ALARM), 2000, 25 },
	  0.05,
	  0.05 },
	{ { .name = "log-normal", .services = PIPELINE("lognormal(40ms, 0.5)", ALARM), 2000, 25 },
	  0.05,
	  0.05 },
	{ { .name = "normal", .services = PIPELINE("normal(40ms, 25%)", ALARM), 2000, 100 },
	  0.1,
	  0.05 },
	/* And delays are more regular in it than they are. */
	{ { .name = "memoryless, one thing each",
	    .services = PIPELINE("exponential(40ms)", ""),
	    2000,
	    50 },
	  0.12,
	  0.06 },
	{ { .name = "many at a time", .services = PIPELINE("normal(40ms, 25%)", ALARM), 2000, 200 },
	  0.15,
	  0.06 },
};

START_TEST(promises)
{
	const Row *row = &promised[_i].row;
	g_autoptr(GArray) truth = g_array_new(FALSE, TRUE, sizeof(guint64));
	g_autoptr(WpTrace) trace = simulate(row, truth);
	g_autoptr(WpResolved) resolved = resolve(trace);
	double found = excess_of(resolved, truth, FALSE), dealt = excess_of(resolved, truth, TRUE);

	if (wp_test_number(1, 0))
		ck_assert_msg(fabs(found) <= promised[_i].found &&
				      fabs(dealt) <= promised[_i].dealt,
			      "%s: %+.3f as found, %+.3f dealt", row->name, found, dealt);
}
END_TEST

/*
 * What leaves in one packet. A broker: messages that come in one packet leave in one packet, in order, now and again with what came
 * later; or they come one after the other. And timers: what is due within 3 ms waits for each other, and who is due first need not have come first.
 */
static void
add_broker(WpRandom64 *random, GString *text, GArray *truth, int n_sent, double apart_us)
{
	double at_us = 0;

	for (int sent = 0; sent < n_sent;) {
		guint64 first = truth->len;
		double late_us = at_us + 200 + gap_us(random, 300);
		do {
			at_us = late_us;
			for (guint64 i = wp_random64_below(random, 4) + 1; i > 0; i--) {
				at_us += apart_us;
				g_string_append_printf(text, "other>a[%.0f] ", at_us);
				g_array_set_size(truth, truth->len + 1);
			}
			late_us = at_us + gap_us(random, 10000);
		} while (apart_us == 0 && wp_random64_share(random) < 0.3);
		double sent_us = at_us + 40 + 60 * wp_random64_share(random);
		for (guint64 i = first, end = truth->len; i < end; i++, sent++) {
			g_string_append_printf(text, "a>c[%.0f] ", sent_us);
			g_array_append_val(truth, i);
		}
	}
}

static void
add_packets(WpRandom64 *random, GString *text, GArray *truth, int n_sent)
{
	add_broker(random, text, truth, n_sent, 0);
}

static void
add_singles(WpRandom64 *random, GString *text, GArray *truth, int n_sent)
{
	add_broker(random, text, truth, n_sent, 30);
}

/*
 * A broker, to which messages on three subjects come in a packet, and which sends each on to who wants that subject, the
 * subscribers in any order. By their times it takes one after the other; what they are about says whose each is.
 */
static const struct {
	const char *name;
	guint n_subjects;
	double between_us; /* mean, of packets */
	double right;      /* floor: share of the links */
} brokers[] = {
	{ "one packet at a time", 200, 2000, 0.99 },
	{ "several", 200, 300, 0.99 },
	{ "few subjects", 10, 300, 0.95 },
};

START_TEST(subjects)
{
	WpRandom64 random = { 4711 };
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GArray) truth = g_array_new(FALSE, TRUE, sizeof(guint64));
	double at_us = 0, several;

	g_array_set_size(truth, 1);
	for (int n = 0; n < wp_test_number(400, 15); n++) {
		guint64 first = truth->len;
		guint subject = wp_random64_below(&random, brokers[_i].n_subjects);
		guint turn = wp_random64_below(&random, 3), n_subjects = brokers[_i].n_subjects;
		at_us += gap_us(&random, 1e6 / brokers[_i].between_us);
		for (guint i = 0; i < 3; i++)
			g_string_append_printf(text, "app>nats/PUB+s%u[%.0f] ",
					       (subject + i) % n_subjects, at_us);
		g_array_set_size(truth, truth->len + 3);
		for (guint i = 0; i < 3; i++) {
			guint which = (turn + 3 - i) % 3;
			guint64 cause = first + which;
			g_string_append_printf(text, "nats>sub/MSG+s%u[%.0f] ",
					       (subject + which) % n_subjects, at_us + 60 + 5 * i);
			g_array_append_val(truth, cause);
		}
	}
	g_autoptr(WpTree) tree = wp_tree_new(text->str);
	double right = share_right(tree, truth, &several);
	if (wp_test_number(1, 0))
		ck_assert_msg(right >= brokers[_i].right, "%s: %.3f right", brokers[_i].name,
			      right);
}
END_TEST

typedef struct {
	guint64 id;
	double us;
} Due;

static int
compare_due(gconstpointer a, gconstpointer b)
{
	const Due *x = a, *y = b;
	return (x->us > y->us) - (x->us < y->us);
}

static void
add_timers(WpRandom64 *random, GString *text, GArray *truth, int n_sent)
{
	g_autofree Due *due = g_new(Due, n_sent);
	double at_us = 0, sent_us = 0;

	for (int i = 0; i < n_sent; i++) {
		at_us += gap_us(random, 60);
		g_string_append_printf(text, "other>a[%.0f] ", at_us);
		due[i] = (Due){ truth->len, at_us + gap_us(random, 25) };
		g_array_set_size(truth, truth->len + 1);
	}
	qsort(due, (size_t)n_sent, sizeof due[0], compare_due);
	for (int i = 0; i < n_sent; i++) {
		if (due[i].us > sent_us)
			sent_us = due[i].us + 3000;
		g_string_append_printf(text, "a>c[%.0f] ", sent_us);
		g_array_append_val(truth, due[i].id);
	}
}

static const struct {
	void (*add)(WpRandom64 *random, GString *text, GArray *truth, int n_sent);
	double right;
	double most; /* by which links may be more or less sure than right */
} packed[] = { { add_packets, 0.95, 0.05 },
	       { add_singles, 0.75, 0.08 },
	       { add_timers, 0.1, 0.13 } };

START_TEST(packets)
{
	WpRandom64 random = { WP_RANDOM64_SEED };
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GArray) truth = g_array_new(FALSE, TRUE, sizeof(guint64));
	double several;

	g_array_set_size(truth, 1);
	packed[_i].add(&random, text, truth, wp_test_number(2000, 60));
	g_autoptr(WpTree) tree = wp_tree_new(text->str);
	double right = share_right(tree, truth, &several);
	double excess = excess_of(tree->resolved, truth, FALSE);
	if (wp_test_number(1, 0))
		ck_assert_msg(right > packed[_i].right && fabs(excess) <= packed[_i].most,
			      "%.3f right, %+.3f more believed", right, excess);
}
END_TEST

/* On a clock of whole tenths of a second the same time is nobody's order: what cannot be known is not promised. */
START_TEST(coarse_clock)
{
	WpRandom64 random = { WP_RANDOM64_SEED };
	g_autoptr(GString) text = g_string_new(NULL);
	double at_us = 0, believed = 0;

	for (int i = 0; i < wp_test_number(1000, 60); i++) {
		double in_us = floor(at_us / 1e5) * 1e5;
		double sent_us = floor((at_us + gap_us(&random, 30)) / 1e5) * 1e5;
		g_string_append_printf(text, "other>a[%.0f](c[%.0f]) ", in_us, sent_us);
		at_us += gap_us(&random, 100);
	}
	g_autoptr(WpTree) tree = wp_tree_new(text->str);
	const WpSpans *spans = wp_resolved_spans(tree->resolved);
	g_autoptr(WpLinks) links = wp_engine_nesting.run(tree->resolved, NULL, NULL, NULL);
	guint32 n = 0, right = 0;
	for (guint64 id = 1; id < tree->parents->len; id++) {
		guint64 truth = g_array_index(tree->parents, guint64, id);
		const WpLink *link = &links->links[wp_tree_span(tree, id)];
		if (truth == 0)
			continue;
		n++;
		right += link->parent != WP_NO_SPAN && spans->spans[link->parent].id == truth;
		believed += MAX(link->probability, 0);
	}
	if (wp_test_number(1, 0))
		ck_assert_msg(believed <= right + 0.1 * n, "%.3f believed, %.3f right",
			      believed / n, (double)right / n);
}
END_TEST

/* The engine that is chosen by itself is the one that knows messages. */
START_TEST(applies)
{
	g_autoptr(WpTree) tree = wp_tree_new("client>a[0] client>a[100]");
	ck_assert_str_eq(wp_engine_auto(tree->resolved)->name, "nesting");
}
END_TEST

/* A message that caused something lasts until all of that is over; one that did not has no end. */
START_TEST(ends)
{
	g_autoptr(WpTree) tree =
		wp_tree_new("client>a[0](b[40](c[90],d[100](e[110-150])),c[60]) client>a[200]");
	g_autoptr(WpLinks) links = wp_tree_links(tree);
	links->links[wp_tree_span(tree, 1)].evidence = WP_EVIDENCE_ROOT; /* as an engine says it */
	g_autoptr(WpPaths) paths =
		wp_paths_new(wp_resolved_spans(tree->resolved), links, NULL, NULL);
	static const struct {
		guint64 id;
		int end_us; /* -1: none */
		int self_us;
	} expected[] = {
		{ 1, 150, 40 }, { 2, 150, 60 }, { 3, -1, 0 }, { 4, 150, 10 },
		{ 5, 150, 40 }, { 6, -1, 0 },   { 7, -1, 0 },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(expected); i++) {
		guint32 span = wp_tree_span(tree, expected[i].id);
		gint64 begin_ns = wp_resolved_spans(tree->resolved)->spans[span].call_ns;
		gint64 first_ns =
			wp_resolved_spans(tree->resolved)->spans[wp_tree_span(tree, 1)].call_ns;
		if (expected[i].end_us < 0)
			ck_assert_msg(paths->end_ns[span] == WP_NO_TIME, "%d", (int)expected[i].id);
		else
			ck_assert_int_eq(paths->end_ns[span], first_ns + expected[i].end_us * 1000);
		ck_assert_int_eq(paths->self_ns[span], expected[i].self_us * 1000);
		ck_assert_int_ge(begin_ns, first_ns);
	}
}
END_TEST

WP_SUITE_OF_ROWS("messages", { right_parents, G_N_ELEMENTS(rows) }, { wakes, G_N_ELEMENTS(loops) },
		 { timers, G_N_ELEMENTS(timer_loops) }, { promises, G_N_ELEMENTS(promised) },
		 { packets, G_N_ELEMENTS(packed) }, { subjects, G_N_ELEMENTS(brokers) },
		 { coarse_clock, 0 }, { applies, 0 }, { ends, 0 })
