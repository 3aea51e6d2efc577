/* The simulator: scenarios to records and truth; laws, queues, order, limits. */
#include "traces/simulate.h"

#include <math.h>
#include <string.h>

#include "capture/trace.h"
#include "tests/support/suite.h"

#define START_NS (G_GINT64_CONSTANT(1066521600) * 1000000000)

/* A sink that keeps records as text and checks that they come in order. */
typedef struct {
	WpRecordSink sink;
	WpNodes *nodes;
	GString *text;    /* "0C u>a 1; 3R a>u 1; ", times in ms */
	GString *truth;   /* "2<1 " */
	GHashTable *open; /* id -> time of the call */
	gint64 last_ns;
	gint64 first_ns;
	guint64 n;
	guint64 n_returns;
	double sum_latency_ns; /* of calls to node WATCHED */
	double sum_square;
	guint64 n_latencies;
	const char *watched;
	gboolean keeps_text;
} Probe;

static gboolean
probe_begin(WpRecordSink *sink, WpNodes *nodes, GError **error)
{
	((Probe *)sink)->nodes = nodes;
	return TRUE;
}

static void
probe_text(Probe *probe, const WpRecord *record)
{
	static const char kinds[] = "CRM";

	g_string_append_printf(probe->text, "%g%c %s>%s %" G_GUINT64_FORMAT "%s",
			       (double)(record->begin_ns - START_NS) / 1e6, kinds[record->kind],
			       wp_nodes_key(probe->nodes, record->sender),
			       wp_nodes_key(probe->nodes, record->receiver), record->id,
			       record->status == WP_STATUS_ERROR ? "!" : "");
	if (record->flow)
		g_string_append_printf(probe->text, " f%u", record->flow);
	g_string_append(probe->text, "; ");
}

static gboolean
probe_record(WpRecordSink *sink, const WpRecord *record, const guint32 *tokens, GError **error)
{
	Probe *probe = (Probe *)sink;
	gboolean is_watched =
		probe->watched && strcmp(wp_nodes_key(probe->nodes, record->kind == WP_KIND_RETURN
									    ? record->sender
									    : record->receiver),
					 probe->watched) == 0;

	ck_assert_int_ge(record->begin_ns, probe->last_ns);
	probe->last_ns = record->begin_ns;
	probe->n++;
	if (probe->keeps_text)
		probe_text(probe, record);
	if (record->kind == WP_KIND_CALL) {
		ck_assert(g_hash_table_insert(probe->open, GSIZE_TO_POINTER(record->id),
					      GSIZE_TO_POINTER(record->begin_ns)));
	} else if (record->kind == WP_KIND_RETURN) {
		gpointer key = GSIZE_TO_POINTER(record->id);
		gsize call_ns = GPOINTER_TO_SIZE(g_hash_table_lookup(probe->open, key));
		ck_assert_uint_ne(call_ns, 0);
		double latency = (double)(record->begin_ns - (gint64)call_ns);
		probe->n_returns++;
		probe->n_latencies += is_watched;
		probe->sum_latency_ns += is_watched ? latency : 0;
		probe->sum_square += is_watched ? latency * latency : 0;
		g_hash_table_remove(probe->open, key);
	}
	return TRUE;
}

static const WpRecordSinkOps probe_ops = { .begin = probe_begin, .record = probe_record };

static void
probe_init(Probe *probe, gboolean keeps_text, const char *watched)
{
	*probe = (Probe){ .sink = { &probe_ops }, .keeps_text = keeps_text, .watched = watched };
	probe->text = g_string_new(NULL);
	probe->truth = g_string_new(NULL);
	probe->open = g_hash_table_new(NULL, NULL);
}

static void
probe_clear(Probe *probe)
{
	g_string_free(probe->text, TRUE);
	g_string_free(probe->truth, TRUE);
	g_hash_table_unref(probe->open);
}

static gboolean
keep_truth(guint64 id, guint64 parent, const char *pattern, const char *fault, gpointer data,
	   GError **error)
{
	Probe *probe = data;

	ck_assert_uint_lt(parent, id);
	if (probe->keeps_text)
		g_string_append_printf(probe->truth,
				       "%" G_GUINT64_FORMAT "<%" G_GUINT64_FORMAT "%s%s ", id,
				       parent, fault ? ":" : "", fault ? fault : "");
	return TRUE;
}

static gboolean
run(const char *scenario_text, const char *const *settings, Probe *probe,
    WpSimulateResult *out_result, GError **error)
{
	g_autoptr(WpScenario) scenario = wp_scenario_new(scenario_text, "s", settings, error);
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	WpSimulateOptions options = { .truth = keep_truth, .truth_data = probe };

	return scenario && wp_simulate(scenario, &options, nodes, &probe->sink, out_result, error);
}

static WpSimulateResult
run_well(const char *scenario, const char *const *settings, Probe *probe)
{
	g_autoptr(GError) error = NULL;
	WpSimulateResult result;

	if (!run(scenario, settings, probe, &result, &error))
		ck_abort_msg("%s", error->message);
	return result;
}

/* Services a, b, c; one client, requests at 0 ms, ... */
#define SYSTEM                                                                                     \
	"[simulation]\nrequests=1\n[service a]\n[service b]\n[service c]\n"                        \
	"[client u]\nplan=call a.x\n[operation b.y]\nplan=work 10ms\n"                             \
	"[operation b.bad]\nplan=work 2ms; fail\n"                                                 \
	"[operation c.z]\nplan=work 5ms; call b.y; work 5ms\n[operation a.x]\nplan="

START_TEST(plans_give_their_records)
{
	static const struct {
		const char *plan, *records, *truth;
	} rows[] = {
		{ "work 3ms", "0C u>a 1; 3R a>u 1; ", "1<0 " },
		{ "", "0C u>a 1; 0R a>u 1; ", "1<0 " },
		{ "work 1ms; call b.y; work 1ms; call b.y",
		  "0C u>a 1; 1C a>b 2; 11R b>a 2; 12C a>b 3; 22R b>a 3; 22R a>u 1; ",
		  "1<0 2<1 3<1 " },
		{ "call c.z; work 2ms",
		  "0C u>a 1; 0C a>c 2; 5C c>b 3; 15R b>c 3; 20R c>a 2; 22R a>u 1; ",
		  "1<0 2<1 3<2 " },
		{ "parallel { call b.y } { work 1ms; call c.z } work 1ms",
		  "0C u>a 1; 0C a>b 2; 1C a>c 3; 6C c>b 4; 10R b>a 2; 16R b>c 4; 21R c>a 3; "
		  "22R a>u 1; ",
		  "1<0 2<1 3<1 4<3 " },
		{ "parallel 2 { call b.y }",
		  "0C u>a 1; 0C a>b 2; 0C a>b 3; 10R b>a 2; 10R b>a 3; 10R a>u 1; ",
		  "1<0 2<1 3<1 " },
		{ "repeat 2 { repeat 2 { send b.y; work 1ms } }",
		  "0C u>a 1; 0M a>b 2; 1M a>b 3; 2M a>b 4; 3M a>b 5; 4R a>u 1; ",
		  "1<0 2<1 3<1 4<1 5<1 " },
		{ "repeat 0 { call b.y } maybe 0% { call b.y } else { work 1ms } maybe 1 { work "
		  "1ms }",
		  "0C u>a 1; 2R a>u 1; ", "1<0 " },
		{ "choose 0 { work 7ms } 5 { work 1ms } 0 { work 9ms }", "0C u>a 1; 1R a>u 1; ",
		  "1<0 " },
		{ "work 1ms; reply; work 4ms; call b.y",
		  "0C u>a 1; 1R a>u 1; 5C a>b 2; 15R b>a 2; ", "1<0 2<1 " },
		{ "spawn { work 4ms; call b.y } work 1ms",
		  "0C u>a 1; 1R a>u 1; 4C a>b 2; 14R b>a 2; ", "1<0 2<1 " },
		{ "call b.bad else { work 1ms }; fail; work 1s",
		  "0C u>a 1; 0C a>b 2; 2R b>a 2!; 3R a>u 1!; ", "1<0 2<1 " },
		{ "call b.bad retry 1 backoff 3ms",
		  "0C u>a 1; 0C a>b 2; 2R b>a 2!; 5C a>b 3; 7R b>a 3!; 7R a>u 1; ",
		  "1<0 2<1 3<1 " },
		/* Given up at 8: no return, though the server goes on. */
		{ "call c.z timeout 8ms else { work 1ms }",
		  "0C u>a 1; 0C a>c 2; 5C c>b 3; 9R a>u 1; 15R b>c 3; ", "1<0 2<1 3<2 " },
		{ "at a { work 1ms }; wait 1ms", "0C u>a 1; 2R a>u 1; ", "1<0 " },
		{ "wait 2ms; since 3ms { wait 9ms } since 2ms { wait 1ms } wait 1ms",
		  "0C u>a 1; 4R a>u 1; ", "1<0 " },
		{ "wait 2ms; since 1ms until 2ms { wait 9ms } since 1ms until 3ms { wait 1ms }",
		  "0C u>a 1; 3R a>u 1; ", "1<0 " },
		{ "wait 2ms; since 2ms full 9ms { wait 9ms } since 0s full 2ms { wait 1ms }",
		  "0C u>a 1; 3R a>u 1; ", "1<0 " },
	};

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *text = g_strconcat(SYSTEM, rows[i].plan, "\n", NULL);
		Probe probe;
		probe_init(&probe, TRUE, NULL);
		WpSimulateResult result = run_well(text, NULL, &probe);
		ck_assert_str_eq(probe.text->str, rows[i].records);
		ck_assert_str_eq(probe.truth->str, rows[i].truth);
		ck_assert_uint_eq(result.n_open, 0);
		probe_clear(&probe);
	}
}
END_TEST

/* Three clients at once; each call to a works 4 ms. */
#define THREE "[simulation]\nrequests=3\n[client u]\nclients=3\nplan=call a.x\n"

START_TEST(servers_have_their_limits)
{
	static const struct {
		const char *why, *scenario, *records;
	} rows[] = {
		{ "no limit", THREE "[service a]\n[operation a.x]\nplan=work 4ms\n",
		  "0C u>a 1; 0C u>a 2; 0C u>a 3; 4R a>u 1; 4R a>u 2; 4R a>u 3; " },
		{ "two workers", THREE "[service a]\nworkers=2\n[operation a.x]\nplan=wait 4ms\n",
		  "0C u>a 1; 0C u>a 2; 0C u>a 3; 4R a>u 1; 4R a>u 2; 8R a>u 3; " },
		{ "one place in line",
		  THREE "[service a]\nworkers=1\nqueue=1\n[operation a.x]\nplan=wait 4ms\n",
		  "0C u>a 1; 0C u>a 2; 0C u>a 3; 0R a>u 3!; 4R a>u 1; 8R a>u 2; " },
		{ "an event loop takes turns at each step",
		  THREE "[service a]\ncores=1\n[operation a.x]\nplan=work 1ms; work 1ms\n",
		  "0C u>a 1; 0C u>a 2; 0C u>a 3; 4R a>u 1; 5R a>u 2; 6R a>u 3; " },
		{ "waiting keeps no core",
		  THREE "[service a]\ncores=1\n[operation a.x]\nplan=wait 4ms; work 1ms\n",
		  "0C u>a 1; 0C u>a 2; 0C u>a 3; 5R a>u 1; 6R a>u 2; 7R a>u 3; " },
		{ "a pool of two connections, numbered",
		  THREE "[pool u a]\nconnections=2\n[service a]\n[operation a.x]\nplan=wait 4ms\n",
		  "0C u>a 1 f1; 0C u>a 2 f2; 4R a>u 1 f1; 4R a>u 2 f2; 4C u>a 3 f1; 8R a>u 3 "
		  "f1; " },
		{ "the connection that is free the longest",
		  "[simulation]\nrequests=2\n[client u]\nclients=1\nplan=call a.x\n"
		  "[pool u a]\nconnections=3\nreuse=oldest\n[service a]\n[operation "
		  "a.x]\nplan=wait 4ms\n",
		  "0C u>a 1 f1; 4R a>u 1 f1; 4C u>a 2 f2; 8R a>u 2 f2; " },
		{ "the one that came back last",
		  "[simulation]\nrequests=2\n[client u]\nclients=1\nplan=call a.x\n"
		  "[pool u a]\nconnections=3\nreuse=newest\n[service a]\n[operation "
		  "a.x]\nplan=wait 4ms\n",
		  "0C u>a 1 f1; 4R a>u 1 f1; 4C u>a 2 f1; 8R a>u 2 f1; " },
		{ "a connection held over two calls",
		  "[simulation]\nrequests=2\n[client u]\nclients=2\n"
		  "plan=hold a { call a.x; wait 1ms; call a.x }\n"
		  "[pool u a]\nconnections=1\n[service a]\n[operation a.x]\nplan=wait 4ms\n",
		  "0C u>a 1 f1; 4R a>u 1 f1; 5C u>a 2 f1; 9R a>u 2 f1; 9C u>a 3 f1; 13R a>u 3 f1; "
		  "14C u>a 4 f1; 18R a>u 4 f1; " },
		{ "replicas in turn, the network's time",
		  THREE "[service a]\nreplicas=2\nbalance=round-robin\nnetwork=1ms\n"
			"[operation a.x]\nplan=wait 4ms\n",
		  "0C u>a1 1; 0C u>a2 2; 0C u>a1 3; 5R a1>u 1; 5R a2>u 2; 5R a1>u 3; " },
	};

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		Probe probe;
		probe_init(&probe, TRUE, NULL);
		run_well(rows[i].scenario, NULL, &probe);
		ck_assert_msg(strcmp(probe.text->str, rows[i].records) == 0, "%s: %s", rows[i].why,
			      probe.text->str);
		probe_clear(&probe);
	}
}
END_TEST

/* Of the request u > a, a > b1: two nodes of b, the first of which leads. */
#define LED                                                                                        \
	"[simulation]\nrequests=1\n[service a]\n[service b]\nreplicas=2\nbalance=leader\n"         \
	"[service c]\n[operation c.z]\nplan=work 1ms\n[client u]\nplan=call a.x\n"                 \
	"[operation a.x]\nplan=call b.y timeout 30ms\n[operation b.y]\nplan=work 10ms\n[fault "    \
	"f]\n"

START_TEST(faults_do_what_the_truth_says)
{
	static const struct {
		const char *fault, *records, *truth;
	} rows[] = {
		{ "kind=drop\ncall=b.y\nshare=0", "0C u>a 1; 0C a>b1 2; 10R b1>a 2; 10R a>u 1; ",
		  "1<0 2<1 " },
		{ "kind=drop\ncall=b.y", "0C u>a 1; 0C a>b1 2; 30R a>u 1; ", "1<0 2<1:f " },
		{ "kind=delay\ncall=b\ntime=5ms", "0C u>a 1; 0C a>b1 2; 15R b1>a 2; 15R a>u 1; ",
		  "1<0 2<1:f " },
		{ "kind=error\ncall=b.y", "0C u>a 1; 0C a>b1 2; 0R b1>a 2!; 0R a>u 1; ",
		  "1<0 2<1:f " },
		{ "kind=wrong-peer\ncall=b.y\nnode=c", "0C u>a 1; 0C a>c 2; 0R c>a 2!; 0R a>u 1; ",
		  "1<0 2<1:f " },
		{ "kind=wrong-peer\ncall=b.y\nnode=b2",
		  "0C u>a 1; 0C a>b2 2; 10R b2>a 2; 10R a>u 1; ", "1<0 2<1:f " },
		{ "kind=extra-call\ncall=a.x\nplan=call c.z",
		  "0C u>a 1; 0C a>c 2; 1R c>a 2; 1C a>b1 3; 11R b1>a 3; 11R a>u 1; ",
		  "1<0:f 2<1 3<1 " },
		{ "kind=leader-change\nnode=b2", "0C u>a 1; 0C a>b2 2; 10R b2>a 2; 10R a>u 1; ",
		  "1<0 2<1:f " },
		{ "kind=leader-change\nnode=b1", "0C u>a 1; 0C a>b1 2; 10R b1>a 2; 10R a>u 1; ",
		  "1<0 2<1 " },
		{ "kind=silent-peer\nnode=b1", "0C u>a 1; 0C a>b1 2; 30R a>u 1; ", "1<0 2<1:f " },
		{ "kind=silent-peer\nnode=b2", "0C u>a 1; 0C a>b1 2; 10R b1>a 2; 10R a>u 1; ",
		  "1<0 2<1 " },
		{ "kind=error\ncall=b.y\nsince=1ms", "0C u>a 1; 0C a>b1 2; 10R b1>a 2; 10R a>u 1; ",
		  "1<0 2<1 " },
		{ "kind=error\ncall=b.y\nuntil=1ms", "0C u>a 1; 0C a>b1 2; 0R b1>a 2!; 0R a>u 1; ",
		  "1<0 2<1:f " },
	};

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *text = g_strconcat(LED, rows[i].fault, "\n", NULL);
		Probe probe;
		probe_init(&probe, TRUE, NULL);
		WpSimulateResult result = run_well(text, NULL, &probe);
		ck_assert_msg(strcmp(probe.text->str, rows[i].records) == 0, "%s: %s",
			      rows[i].fault, probe.text->str);
		ck_assert_str_eq(probe.truth->str, rows[i].truth);
		ck_assert_uint_eq(result.n_faults, strchr(rows[i].truth, ':') != NULL);
		ck_assert_uint_eq(result.n_open, 0);
		probe_clear(&probe);
	}
}
END_TEST

START_TEST(clients_come_as_they_should)
{
	static const struct {
		const char *client;
		const char *settings[3];
		const char *records;
	} rows[] = {
		{ "think=2ms", { NULL }, "2C u>a 1; 3R a>u 1; 5C u>a 2; 6R a>u 2; " },
		{ "think=2ms", { "load=2", NULL }, "2C u>a 1; 2C u>a 2; 3R a>u 1; 3R a>u 2; " },
		{ "arrivals=regular(100/s)",
		  { NULL },
		  "10C u>a 1; 11R a>u 1; 20C u>a 2; 21R a>u 2; " },
		{ "arrivals=regular(100/s)",
		  { "load=2", "requests=1", NULL },
		  "5C u>a 1; 6R a>u 1; " },
		{ "arrivals=regular(100/s)",
		  { "duration=25ms", "requests=9", NULL },
		  "10C u>a 1; 11R a>u 1; 20C u>a 2; 21R a>u 2; " },
		{ "think=2ms",
		  { "took=5ms", "client u.think=1ms", NULL },
		  "1C u>a 1; 6R a>u 1; 7C u>a 2; 12R a>u 2; " },
	};

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *text = g_strconcat(
			"[parameters]\ntook=1ms\n[simulation]\nrequests=2\n[service a]\n"
			"[operation a.x]\nplan=wait ${took}\n[client u]\nplan=call a.x\n",
			rows[i].client, "\n", NULL);
		Probe probe;
		probe_init(&probe, TRUE, NULL);
		run_well(text, rows[i].settings, &probe);
		ck_assert_str_eq(probe.text->str, rows[i].records);
		probe_clear(&probe);
	}
}
END_TEST

/* Mean and standard deviation of 40000 calls are within 3 % of what they should be; of 1000, 20 %. */
START_TEST(laws_have_their_moments)
{
	static const struct {
		const char *law;
		const char *shape;
		double mean_ms, sd_ms;
	} rows[] = {
		{ "10ms", "as-written", 10, 0 },
		{ "normal(10ms, 10%)", "as-written", 10, 1 },
		{ "normal(10ms, 2ms)", "as-written", 10, 2 },
		{ "exponential(10ms)", "as-written", 10, 10 },
		{ "lognormal(10ms, 0.5)", "as-written", 11.3315, 6.0391 },
		{ "uniform(10ms, 16ms)", "as-written", 13, 1.7321 },
		{ "normal(0ms, 10ms)", "as-written", 3.9894, 5.8381 }, /* cut at 0 */
		{ "10ms", "exponential", 10, 10 },
		{ "exponential(10ms)", "normal(20%)", 10, 2 },
		{ "10ms", "lognormal(0.5)", 10, 5.3294 },
		{ "lognormal(10ms, 0.5)", "constant", 11.3315, 0 },
		{ "10ms", "uniform(50%)", 10, 2.8868 },
	};

	const int n_requests = wp_test_number(40000, 1000);
	const double tolerance = 0.03 * sqrt(40000.0 / n_requests);

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *text = g_strdup_printf(
			"[simulation]\nrequests=%d\nlaw=%s\n[service a]\n[operation a.x]\n"
			"plan=work %s\n[client u]\nplan=call a.x\n",
			n_requests, rows[i].shape, rows[i].law);
		Probe probe;
		probe_init(&probe, FALSE, "a");
		run_well(text, NULL, &probe);
		double n = (double)probe.n_latencies, mean = probe.sum_latency_ns / n;
		double sd = sqrt(MAX(probe.sum_square / n - mean * mean, 0));
		ck_assert_uint_eq(probe.n_latencies, n_requests);
		ck_assert_double_eq_tol(mean / 1e6, rows[i].mean_ms, rows[i].mean_ms * tolerance);
		ck_assert_double_eq_tol(sd / 1e6, rows[i].sd_ms, rows[i].sd_ms * tolerance + 1e-4);
		probe_clear(&probe);
	}
}
END_TEST

/*
 * Mean time in the system: M/M/1 1/(mu - lambda), M/D/1 (1 + rho / 2(1 - rho)) / mu, M/M/2 from
 * Erlang's C; the same for workers and cores. Few requests are of little use: they hang together.
 */
START_TEST(queues_follow_theory)
{
	static const struct {
		const char *server, *law;
		double mean_ms;
	} rows[] = {
		{ "workers=1", "exponential(5ms)", 10 },
		{ "cores=1", "exponential(5ms)", 10 },
		{ "cores=1", "5ms", 7.5 },
		{ "workers=2", "exponential(10ms)", 13.3333 },
	};

	const int n_requests = wp_test_number(100000, 2000);
	const double wide = sqrt(100000.0 / n_requests);

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *text = g_strdup_printf(
			"[simulation]\nrequests=%d\n[service a]\n%s\n[operation a.x]\n"
			"plan=work %s\n[client u]\narrivals=poisson(100/s)\nplan=call a.x\n",
			n_requests, rows[i].server, rows[i].law);
		Probe probe;
		probe_init(&probe, FALSE, "a");
		WpSimulateResult result = run_well(text, NULL, &probe);
		double mean_ms = probe.sum_latency_ns / (double)probe.n_latencies / 1e6;
		ck_assert_double_eq_tol(mean_ms, rows[i].mean_ms, rows[i].mean_ms * 0.04 * wide);
		ck_assert_double_eq_tol((double)result.duration_ns / 1e9, n_requests / 100.0,
					15 / wide);
		probe_clear(&probe);
	}
}
END_TEST

/* 500/s for a tenth of the time: 50/s, and most of them close together. Bursts too short for one are many. */
START_TEST(bursts_keep_their_rate)
{
	static const struct {
		const char *arrivals;
		double rate;
		int n, few;
		double tolerance; /* of the whole, at N */
	} rows[] = {
		{ "bursts(500/s, 100ms, 900ms)", 50, 100000, 10000, .06 },
		{ "bursts(1/s, 1ns, 3ns)", 0.25, 3000, 3000, .06 },
		{ "bursts(1/h, 1ns, 1ns)", 0.5 / 3600, 3000, 3000, .06 },
		{ "bursts(10/s, 1us, 0)", 10, 3000, 3000, .06 },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		const int n_requests = wp_test_number(rows[i].n, rows[i].few);
		g_autofree char *text = g_strdup_printf(
			"[simulation]\nrequests=%d\n[service a]\n[operation a.x]\nplan=work 1ms\n"
			"[client u]\narrivals=%s\nplan=call a.x\n",
			n_requests, rows[i].arrivals);
		Probe probe;
		probe_init(&probe, FALSE, "a");
		WpSimulateResult result = run_well(text, NULL, &probe);
		double wanted = n_requests / rows[i].rate;
		ck_assert_double_eq_tol((double)result.duration_ns / 1e9, wanted,
					wanted * rows[i].tolerance *
						sqrt((double)rows[i].n / n_requests));
		probe_clear(&probe);
	}
}
END_TEST

/* The numbers themselves: the same with every compiler and library. */
START_TEST(numbers_are_the_same_everywhere)
{
	WpRandom random;
	guint64 hash = 14695981039346656037u;

	wp_random_init(&random, 1);
	ck_assert_uint_eq(wp_random_next(&random), G_GUINT64_CONSTANT(0xb3f2af6d0fc710c5));
	for (int i = 0; i < 100000; i++) {
		double values[] = { wp_random_normal(&random), wp_random_exponential(&random),
				    wp_random_exp(wp_random_share(&random) * 20 - 10) };
		guint64 bits[3];
		memcpy(bits, values, sizeof bits);
		for (int j = 0; j < 3; j++)
			hash = (hash ^ bits[j]) * 1099511628211u;
	}
	ck_assert_uint_eq(hash, G_GUINT64_CONSTANT(11751791737496764409));
}
END_TEST

START_TEST(logarithms_agree_with_the_library)
{
	for (double x = 1e-17; x < 1e17; x *= 1.0371) {
		ck_assert_double_eq_tol(wp_random_log(x), log(x), 2e-15 * MAX(1, fabs(log(x))));
		double y = wp_random_log(x);
		ck_assert_double_eq_tol(wp_random_exp(y) / exp(y), 1, 2e-15);
	}
}
END_TEST

static const char mixed[] =
	"[parameters]\nn=2\n[simulation]\nrequests=500\nnetwork=exponential(1ms)\n"
	"[service a]\nreplicas=3\ncores=2\n[service b]\nworkers=2\n"
	"[pool a b]\nconnections=2\n"
	"[operation a.x]\nplan=work exponential(3ms); parallel $n { call b.y "
	"timeout 9ms retry 1 }\n"
	"[operation b.y]\nplan=work lognormal(3ms, 1); fail 5%\n"
	"[client u]\nclients=5\nthink=normal(5ms, 50%)\nplan=call a.x\n";

/* Same seed, same run; another seed, another one. */
START_TEST(seeds_decide)
{
	const char *other[] = { "seed=2", NULL }, *same[] = { "seed=1", NULL };
	Probe probes[3];

	for (int i = 0; i < 3; i++) {
		probe_init(&probes[i], TRUE, NULL);
		run_well(mixed, i == 0 ? NULL : i == 1 ? same : other, &probes[i]);
		ck_assert_uint_gt(probes[i].n, 2000);
	}
	ck_assert_str_eq(probes[0].text->str, probes[1].text->str);
	ck_assert_str_eq(probes[0].truth->str, probes[1].truth->str);
	ck_assert_str_ne(probes[0].text->str, probes[2].text->str);
	for (int i = 0; i < 3; i++)
		probe_clear(&probes[i]);
}
END_TEST

/* What is wrong, and what is said. */
START_TEST(mistakes_are_named)
{
	static const char good[] = "[service a]\n[operation a.x]\nplan=work 1ms\n"
				   "[client u]\nplan=call a.x\n";
	static const struct {
		const char *text; /* behind the good part */
		const char *setting;
		const char *message;
	} rows[] = {
		{ "[ ]", NULL, "s:6: a group is written [name]" },
		{ "[", NULL, "s:6: a group is written [name]" },
		{ "[servce b]", NULL,
		  "s:6: there is no group [servce b] (did you mean \"service\"?)" },
		{ "[service b]\nworker=1", NULL,
		  "s:7: [service b] has no key \"worker\" (did you mean \"workers\"?)" },
		{ "[service b]\nworkers=0", NULL,
		  "s:7: workers: expected a whole number above 0, not \"0\"" },
		{ "[service a]", NULL, "s:6: the group [service a] stands in line 1 already" },
		{ "[simulation]\nseed=1\nseed=2", NULL, "s:8: \"seed\" stands in line 7 already" },
		{ "nonsense", NULL, "s:6: expected key = value, not \"nonsense\"" },
		{ "aaaaaaaaaabbbbbbbbbbccccccccccddddddddd\303\251", NULL,
		  "s:6: expected key = value, not "
		  "\"aaaaaaaaaabbbbbbbbbbccccccccccddddddddd\357\277\275\"" },
		{ "[client v]\nplan=call a.z", NULL,
		  "s:7: plan: there is no operation \"a.z\" (did you mean \"a.x\"?)" },
		{ "[client v]\nplan=wrok 1ms", NULL,
		  "s:7: plan: there is no statement \"wrok\" (did you mean \"work\"?)" },
		{ "[client v]\nplan=work 1 ms", NULL, "s:7: plan: \" 1 ms\" is no time, like 5ms" },
		{ "[client v]\nplan=work norml(1ms, 2%)", NULL,
		  "s:7: plan: there is no law \"norml\" (did you mean \"normal\"?)" },
		{ "[client v]\nplan=work normal(1ms)", NULL,
		  "s:7: plan: \" normal(1ms)\" is not what normal(...) takes" },
		{ "[client v]\nplan=call a.x call a.x", NULL,
		  "s:7: plan: expected ; or the end of the block at \"call a.x\"" },
		{ "[client v]\nplan=repeat 2 { call a.x", NULL,
		  "s:7: plan: expected } at \"the end of the plan\"" },
		{ "[client v]\nplan=maybe 200% { }", NULL,
		  "s:7: plan: expected a share (30%) at \"200% { }\"" },
		{ "[client v]\nplan=hold a { }", NULL,
		  "s:7: plan: hold: there is no [pool] of connections to \"a\"" },
		{ "[client v]\nthink=1ms", NULL, "s:6: [client v]: \"plan\" is missing" },
		{ "[client v]\nplan=call a.x\nclients=2\narrivals=poisson(1/s)", NULL,
		  "s:6: [client v]: write either arrivals, or clients and think" },
		{ "[pool a a]\nreuse=first", NULL,
		  "s:7: reuse: expected oldest or newest, not \"first\"" },
		{ "[pool a c]\nconnections=1", NULL, "s:6: [pool a c]: there is no service \"c\"" },
		{ "[service b]\nnetwork=$slow", NULL, "s:7: there is no parameter \"slow\"" },
		{ "[fault f]\nshare=1", NULL, "s:6: [fault f]: \"kind\" is missing" },
		{ "[fault f]\nkind=slow", NULL,
		  "s:7: kind: expected drop, delay, error, wrong-peer, extra-call, leader-change "
		  "or "
		  "silent-peer, not \"slow\"" },
		{ "[fault f]\nkind=delay\ncall=a.x", NULL, "s:6: [fault f]: \"time\" is missing" },
		{ "[fault f]\nkind=error\ncall=a.x\nnode=a", NULL,
		  "s:6: [fault f]: \"node\" says nothing for this kind of fault" },
		{ "[fault f]\nkind=drop\ncall=u", NULL,
		  "s:8: call: expected a SERVICE or SERVICE.OPERATION of this file, not \"u\"" },
		{ "[fault f]\nkind=silent-peer\nnode=u", NULL,
		  "s:8: node: expected a node of a service of this file, not \"u\"" },
		{ "[fault f]\nkind=drop\ncall=a\nsince=2s\nuntil=2s", NULL,
		  "s:6: [fault f]: it ends before it begins" },
		{ "[fault f]\nkind=extra-call\ncall=a\nplan=call c.z", NULL,
		  "s:9: plan: there is no operation \"c.z\"" },
		{ "", "sed=1", "s: there is no parameter \"sed\" (did you mean \"seed\"?)" },
		{ "", "seed=x", "s: seed: expected a whole number, not \"x\"" },
		{ "", "service a.cores=many",
		  "s: cores: expected a whole number above 0, not \"many\"" },
		{ "", "nothing", "s: write NAME=VALUE, not \"nothing\"" },
	};

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *text = g_strconcat(good, rows[i].text, "\n", NULL);
		const char *settings[] = { rows[i].setting, NULL };
		g_autoptr(GError) error = NULL;
		g_autoptr(WpScenario) scenario = wp_scenario_new(text, "s", settings, &error);
		ck_assert_ptr_null(scenario);
		ck_assert_str_eq(error->message, rows[i].message);
	}
}
END_TEST

/* What would never end, or grow for ever, ends with a sentence; a deadlock is counted. */
START_TEST(runaways_are_stopped)
{
	static const struct {
		const char *text;
		const char *message;
	} rows[] = {
		{ "[service a]\nworkers=1\n[operation a.x]\nplan=work 1s\n"
		  "[client u]\narrivals=poisson(10k/s)\nplan=call a.x\n[simulation]\nduration=1h\n",
		  "cannot carry its load" },
		{ "[service a]\n[operation a.x]\nplan=spawn { call a.x } call a.x\n"
		  "[client u]\nplan=call a.x\n",
		  "cannot carry its load" },
		{ "[service a]\n[operation a.x]\nplan=repeat 10000 { repeat 10000 { wait 0 } }\n"
		  "[client u]\nplan=call a.x\n",
		  "at the same time" },
	};
	WpSimulateResult result;

	for (gsize i = 0; i < (gsize)wp_test_number(G_N_ELEMENTS(rows), 0); i++) {
		g_autoptr(GError) error = NULL;
		Probe probe;
		probe_init(&probe, FALSE, NULL);
		ck_assert(!run(rows[i].text, NULL, &probe, &result, &error));
		ck_assert_msg(strstr(error->message, rows[i].message) != NULL, "%s",
			      error->message);
		probe_clear(&probe);
	}
	Probe probe;
	probe_init(&probe, FALSE, NULL);
	result = run_well("[service a]\nworkers=1\n[operation a.x]\nplan=call a.x\n"
			  "[client u]\nplan=call a.x\n[simulation]\nrequests=1\n",
			  NULL, &probe);
	ck_assert_uint_eq(result.n_open, 3); /* the request, its call, and that one's call */
	probe_clear(&probe);
}
END_TEST

/* Every scenario that is kept: it can be read, runs at low and high load, and nothing hangs. */
START_TEST(kept_scenarios_run)
{
	const char *source = g_getenv("TOP_SRCDIR");
	g_autofree char *folder = g_build_filename(source ? source : ".", "traces/scenarios", NULL);
	g_autoptr(GDir) directory = g_dir_open(folder, 0, NULL);
	const guint n_requests = (guint)wp_test_number(300, 30);
	g_autofree char *requests = g_strdup_printf("requests=%u", n_requests);
	guint n = 0;

	ck_assert_ptr_nonnull(directory);
	for (const char *name; (name = g_dir_read_name(directory)); n++) {
		static const char *const loads[] = { "load=1", "load=5", "law=exponential" };
		g_autofree char *path = g_build_filename(folder, name, NULL);
		g_autofree char *text = NULL;
		ck_assert(g_file_get_contents(path, &text, NULL, NULL));
		for (guint i = 0; i < G_N_ELEMENTS(loads); i++) {
			const char *settings[] = { requests, loads[i], NULL };
			Probe probe;
			probe_init(&probe, FALSE, NULL);
			WpSimulateResult result = run_well(text, settings, &probe);
			ck_assert_uint_eq(result.n_requests, n_requests);
			ck_assert_uint_gt(result.n_calls, n_requests * 5 / 3);
			ck_assert_uint_eq(result.n_open, 0);
			probe_clear(&probe);
		}
	}
	ck_assert_uint_ge(n, 14);
}
END_TEST

WP_SUITE("simulate", plans_give_their_records, servers_have_their_limits,
	 faults_do_what_the_truth_says, clients_come_as_they_should, laws_have_their_moments,
	 queues_follow_theory, bursts_keep_their_rate, numbers_are_the_same_everywhere,
	 logarithms_agree_with_the_library, seeds_decide, mistakes_are_named, runaways_are_stopped,
	 kept_scenarios_run)
