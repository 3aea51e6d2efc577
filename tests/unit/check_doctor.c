/* The doctor: a simulated system in good health, and the same made ill in one way each. */
#include "report/doctor.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "report/analysis.h"
#include "report/error.h"
#include "report/gather.h"
#include "tests/support/suite.h"
#include "traces/simulate.h"

/* A page takes 5 ms at the web and 4 ms at the database: 25 web servers, one after the other asked at random. */
#define SYSTEM                                                                                     \
	"[parameters]\nsick=\nbad=\nheavy=0%\nworkers=99\nrate=200/s\nhot=web7\n"                  \
	"[simulation]\nrequests=6000\nnetwork=50us\n"                                              \
	"[service front]\n[service web]\nreplicas=25\n[service hot]\nnodes=$hot\n"                 \
	"[service db]\nworkers=$workers\n"                                                         \
	"[client users]\narrivals=poisson($rate)\n"                                                \
	"plan=call front.page\n"                                                                   \
	"[operation front.page]\nlabel=GET /\n"                                                    \
	"plan=work 100us; maybe $heavy { call hot.page } else { call web.page }\n"                 \
	"[operation web.page]\nlabel=GET /\n"                                                      \
	"plan=work lognormal(5ms, 0.4); call db.select; wait 0; $bad\n"                            \
	"[operation hot.page]\nlabel=GET /\nplan=work lognormal(5ms, 0.4); call db.select\n"       \
	"[operation db.select]\nlabel=SELECT\nplan=work lognormal(4ms, 0.4); wait 0; $sick\n"

/*
 * An order takes a lock and a transaction over one of 20 connections, and gives both back:
 *
 *   web   LOCK | BEGIN UPDATE .. COMMIT | UNLOCK
 */
#define HOLDERS                                                                                    \
	"[parameters]\nopen=0%\nlocked=0%\nthink=0ms\nanew=0%\n"                                   \
	"[simulation]\nrequests=4000\nnetwork=50us\n"                                              \
	"[service web]\n[service locks]\n[service db]\n[pool web db]\nconnections=20\n"            \
	"[client users]\narrivals=poisson(100/s)\nplan=call web.order\n"                           \
	"[operation web.order]\nlabel=POST /order\n"                                               \
	"plan=work lognormal(2ms, 0.4); call locks.take;"                                          \
	" hold db { call db.begin; call db.update; work $think;"                                   \
	" maybe $open { work 0ms } else { call db.commit } }"                                      \
	" maybe $locked { work 0ms } else { call locks.give }"                                     \
	" maybe $anew { hold db { call db.prepare; call db.select; call db.close } }"              \
	" else { hold db { call db.select } }\n"                                                   \
	"[operation locks.take]\nlabel=LOCK stock\nplan=work 100us\n"                              \
	"[operation locks.give]\nlabel=UNLOCK stock\nplan=work 50us\n"                             \
	"[operation db.begin]\nlabel=BEGIN\nplan=work 50us\n"                                      \
	"[operation db.update]\nlabel=UPDATE items\nplan=work lognormal(2ms, 0.4)\n"               \
	"[operation db.commit]\nlabel=COMMIT\nplan=work 500us\n"                                   \
	"[operation db.prepare]\nlabel=PREPARE SELECT items\nplan=work 400us\n"                    \
	"[operation db.close]\nlabel=CLOSE\nplan=work 50us\n"                                      \
	"[operation db.select]\nlabel=SELECT items\nplan=work 300us\n"

/*
 * Workers do all of a page each, most of it by themselves or, SLOW, in waiting for the database; those who want one come
 * again 50 ms after they had it.
 */
#define SHOP                                                                                       \
	"[parameters]\nworkers=6\nclients=80\nslow=3ms\nrequests=1500\n"                           \
	"[simulation]\nrequests=$requests\nnetwork=50us\n"                                         \
	"[service web]\nworkers=$workers\n[service users]\n[service db]\n"                         \
	"[client browsers]\nclients=$clients\nthink=exponential(50ms)\n"                           \
	"plan=choose 60% { call web.page } 40% { call web.list }\n"                                \
	"[operation web.page]\nlabel=GET /page\n"                                                  \
	"plan=work lognormal(2ms, 0.4); call users.get; work lognormal(2ms, 0.4); call db.item;"   \
	" work lognormal(2ms, 0.4)\n"                                                              \
	"[operation web.list]\nlabel=GET /list\n"                                                  \
	"plan=work lognormal(3ms, 0.4); call db.list; work lognormal(3ms, 0.4)\n"                  \
	"[operation users.get]\nlabel=GET /session\nplan=wait exponential(2ms)\n"                  \
	"[operation db.item]\nlabel=SELECT item\nplan=wait exponential($slow)\n"                   \
	"[operation db.list]\nlabel=SELECT list\nplan=wait exponential($slow)\n"

/* All connections to the database are in use now and then, or nearly always: who wants one stands in line. */
#define POOLED                                                                                     \
	"[parameters]\nconnections=2\nclients=6\n"                                                 \
	"[simulation]\nrequests=3000\nnetwork=50us\n"                                              \
	"[service web]\n[service db]\n[pool web db]\nconnections=$connections\n"                   \
	"[client browsers]\nclients=$clients\nthink=exponential(20ms)\n"                           \
	"plan=choose 60% { call web.page } 40% { call web.list }\n"                                \
	"[operation web.page]\nlabel=GET /page\n"                                                  \
	"plan=work lognormal(2ms, 0.4); call db.item; work lognormal(1ms, 0.4); call db.item;"     \
	" work lognormal(2ms, 0.4)\n"                                                              \
	"[operation web.list]\nlabel=GET /list\n"                                                  \
	"plan=work lognormal(3ms, 0.4); call db.list; work lognormal(2ms, 0.4)\n"                  \
	"[operation db.item]\nlabel=SELECT item\nplan=work lognormal(3ms, 0.4)\n"                  \
	"[operation db.list]\nlabel=SELECT list\nplan=work lognormal(5ms, 0.4)\n"

/* From a scenario to what the doctor says. */
typedef struct {
	WpScenario *scenario;
	WpNodes *nodes;
	WpTrace *trace;
	WpOptions *parser;
	WpAnalysisOptions options;
	WpAnalysis *analysis;
	WpGather *gather;
	WpCourseMaker *maker;
	WpPairsMaker *pairs;
	WpDigest *digest;
	WpView *view;
	WpDoctorRules rules;
	WpDoctor *doctor;
} Visit;

static void
visit_clear(Visit *visit)
{
	wp_doctor_free(visit->doctor);
	wp_view_free(visit->view);
	wp_digest_free(visit->digest);
	wp_course_maker_free(visit->maker);
	wp_pairs_maker_free(visit->pairs);
	wp_gather_free(visit->gather);
	wp_analysis_free(visit->analysis);
	wp_options_free(visit->parser);
	wp_analysis_options_clear(&visit->options);
	wp_trace_free(visit->trace);
	wp_nodes_unref(visit->nodes);
	wp_scenario_free(visit->scenario);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Visit, visit_clear)

/* So few requests that nothing is found in them. */
static gboolean
are_few(void)
{
	return wp_test_number(FALSE, TRUE);
}

/* SETTINGS: of the scenario SYSTEM, with | between them. */
static void
visit_init(Visit *visit, const char *system, const char *settings)
{
	const WpSimulateOptions simulate = { .name = "test" };
	const WpViewOptions shown = { 0 };
	const WpLoadOptions load = { 0 };
	gboolean is_cut = are_few() && !strstr(settings, "requests=");
	g_autofree char *some = g_strconcat(settings, is_cut ? "|requests=100" : NULL, NULL);
	g_auto(GStrv) list = g_strsplit(some, "|", -1);
	WpSimulateResult result;
	GError *error = NULL;

	*visit = (Visit){ .nodes = wp_nodes_new() };
	visit->scenario = wp_scenario_new(system, "test", (const char *const *)list, &error);
	ck_assert_msg(visit->scenario != NULL, "%s", error ? error->message : "");
	visit->trace = wp_trace_new(visit->nodes);
	ck_assert(wp_simulate(visit->scenario, &simulate, visit->nodes, wp_trace_sink(visit->trace),
			      &result, &error));
	visit->parser = wp_options_new();
	wp_analysis_declare(visit->parser, &visit->options, TRUE);
	g_auto(WpLoadOutcome) outcome = { 0 };
	visit->analysis =
		wp_analysis_new(visit->trace, &visit->options, TRUE, NULL, &outcome, &error);
	ck_assert_ptr_nonnull(visit->analysis);
	visit->gather = wp_gather_new(0);
	visit->maker = wp_course_maker_new();
	wp_gather_add(visit->gather, visit->analysis);
	wp_course_maker_add(visit->maker, visit->analysis);
	visit->pairs = wp_pairs_maker_new();
	wp_pairs_maker_add(visit->pairs, visit->analysis);
	wp_pairs_maker_finish(visit->pairs);
	visit->digest =
		wp_gather_finish(visit->gather, visit->analysis, &visit->options, &load, NULL);
	visit->view = wp_view_new(visit->analysis, &shown);
	wp_doctor_rules_init(&visit->rules);
}

static void
examine(Visit *visit)
{
	const WpDoctorCase of = {
		wp_course_maker_course(visit->maker), visit->digest, visit->view, &visit->rules,
		wp_pairs_maker_pairs(visit->pairs),   NULL
	};
	wp_doctor_free(visit->doctor);
	visit->doctor = wp_doctor_new(&of);
}

/* (transfer full) "peers web7; drift db SELECT; " */
static char *
found(const WpDoctor *doctor)
{
	GString *text = g_string_new(NULL);
	for (guint i = 0; i < doctor->findings->len; i++) {
		const WpDoctorFinding *finding = doctor->findings->pdata[i];
		if (finding->verdict == WP_FINDING_FOUND)
			g_string_append_printf(text, "%s %s%s%s; ", finding->check->name,
					       finding->node ? finding->node : "-",
					       finding->label ? " " : "",
					       finding->label ? finding->label : "");
	}
	return g_string_free(text, FALSE);
}

START_TEST(what_is_ill_is_found_first)
{
	static const struct {
		const char *settings;
		const char *first; /* of what is found */
		guint n;           /* findings at most */
	} rows[] = {
		{ "seed=1", "", 0 },
		{ "heavy=10%", "peers web7; ", 1 },
		{ "hot=web25|heavy=10%", "peers web25; ", 1 },
		{ "bad=at web3 { work 5ms }", "peers web3 GET /; ", 1 },
		{ "bad=at web3 { fail 30% }", "peers web3; ", 2 },
		{ "sick=since 15s { work 2ms }", "drift db SELECT; ", 1 },
		{ "sick=since 0s full 30s { work 4ms }", "drift db SELECT; ", 1 },
		{ "sick=since 15s { fail 5% }", "drift db; ", 1 },
		{ "sick=since 15s until 17s { work 20ms }", "times db SELECT; ", 2 },
		{ "workers=1|rate=190/s", "lanes db; ", 2 },
		/* Fixed: a second worker */
		{ "workers=2|rate=190/s", "", 0 },
	};
	if (_i % wp_test_number(1, 3))
		return;
	g_auto(Visit) visit = { 0 };
	visit_init(&visit, SYSTEM, rows[_i].settings);
	examine(&visit);
	g_autofree char *text = found(visit.doctor);
	if (are_few())
		return;
	ck_assert_msg(g_str_has_prefix(text, rows[_i].first) &&
			      visit.doctor->n_of[WP_FINDING_FOUND] <= rows[_i].n,
		      "%s: %s", rows[_i].settings, text);
	ck_assert_int_eq(visit.doctor->verdict, rows[_i].n ? WP_FINDING_FOUND : WP_FINDING_CLEAN);
}
END_TEST

/* The number, or -1 where FINDING has none of that name. */
static double
number_of(const WpDoctorFinding *finding, const char *name)
{
	for (guint k = 0; k < finding->numbers->len; k++) {
		const WpDoctorNumber *number = &g_array_index(finding->numbers, WpDoctorNumber, k);
		if (strcmp(number->name, name) == 0)
			return number->value;
	}
	return -1;
}

/* (transfer none) What the report says of TOPIC, or NULL. */
static const WpFinding *
find_topic(const GArray *findings, WpFindingTopic topic)
{
	for (guint i = 0; i < findings->len; i++)
		if (g_array_index(findings, WpFinding, i).number == topic)
			return &g_array_index(findings, WpFinding, i);
	return NULL;
}

/* Workers that are all busy, what holds them, and the same with more workers or fewer who want one. */
START_TEST(who_waits_for_a_worker_is_told)
{
	static const struct {
		const char *settings, *found, *says;
	} rows[] = {
		{ "seed=1", "lanes web; ", "web's own work in GET /page" },
		{ "slow=20ms", "lanes web; ", "calls to db SELECT item" },
		{ "workers=3|clients=60", "lanes web; ", "3 workers" },
		/* Nobody waits */
		{ "clients=3", "", NULL },
		{ "workers=99", "", NULL },
		/* Hardly anybody */
		{ "clients=25", "", NULL },
	};
	if (_i % wp_test_number(1, 3))
		return;
	g_auto(Visit) visit = { 0 };
	visit_init(&visit, SHOP, rows[_i].settings);
	examine(&visit);
	g_autofree char *text = found(visit.doctor);
	if (are_few())
		return;
	/* At first there is no line: a drift may stand behind it. */
	ck_assert_msg(rows[_i].says ? g_str_has_prefix(text, rows[_i].found) : !*text, "%s: %s",
		      rows[_i].settings, text);
	g_autoptr(GArray) findings = wp_findings_new(visit.view, WP_FINDINGS_ROW);
	const WpFinding *report = find_topic(findings, WP_FINDING_WORKERS);
	ck_assert_int_eq(report != NULL, rows[_i].says != NULL);
	if (!report)
		return;
	const WpDoctorFinding *finding = visit.doctor->findings->pdata[0];
	ck_assert_msg(strstr(finding->text, rows[_i].says) != NULL, "%s", finding->text);
	ck_assert_str_eq(report->text, finding->text);
	ck_assert_uint_gt(finding->examples->len, 0);
	/* What the closed loop tells: a worker is always busy, so that each call waits for all who are before it. */
	double workers = strstr(rows[_i].settings, "workers=3") ? 3 : 6;
	double clients = strstr(rows[_i].settings, "clients=60") ? 60 : 80;
	double held_ns = number_of(finding, "held_ns");
	double waiting_ns = clients * held_ns / workers - 50e6 - held_ns;
	ck_assert_double_eq(number_of(finding, "workers"), workers);
	ck_assert_double_ge(number_of(finding, "waited_share"), 0.95);
	ck_assert_double_le_tol(fabs(number_of(finding, "wait_p50_ns") / waiting_ns - 1), 0.1, 0);
	ck_assert_double_ge(number_of(finding, "wait_max_ns"), number_of(finding, "wait_p50_ns"));
}
END_TEST

/* Who waits for a connection, and how long: beside what the simulator knows of it, printed where it makes a call wait. */
START_TEST(who_waits_for_a_connection_is_told)
{
	static const struct {
		const char *settings;
		double connections, waited, wait_ns; /* 0: nothing to tell; it is not known */
	} rows[] = {
		{ "connections=1|clients=2", 1, 0.225, 2.66e6 },
		{ "connections=1|clients=3", 1, 0.398, 3.12e6 },
		{ "connections=1|clients=6", 1, 0.855, 6.93e6 },
		{ "seed=1", 2, 0.296, 2.03e6 },
		{ "clients=10", 2, 0.723, 3.60e6 },
		{ "connections=3|clients=10", 3, 0.307, 1.70e6 },
		/* Everyone waits: none to compare with */
		{ "connections=4|clients=30", 4, 0.996, 0 },
		/* Hardly anybody; nobody */
		{ "clients=4", 0, 0, 0 },
		{ "connections=99", 0, 0, 0 },
		{ "connections=2|clients=2", 0, 0, 0 },
	};
	if (_i % wp_test_number(1, 3))
		return;
	g_auto(Visit) visit = { 0 };
	visit_init(&visit, POOLED, rows[_i].settings);
	examine(&visit);
	g_autofree char *text = found(visit.doctor);
	if (are_few())
		return;
	ck_assert_msg(strcmp(text, rows[_i].waited > 0 ? "lanes web; " : "") == 0, "%s: %s",
		      rows[_i].settings, text);
	g_autoptr(GArray) findings = wp_findings_new(visit.view, WP_FINDINGS_ROW);
	const WpFinding *report = find_topic(findings, WP_FINDING_POOLS);
	ck_assert_int_eq(report != NULL, rows[_i].waited > 0);
	if (!report)
		return;
	const WpDoctorFinding *finding = visit.doctor->findings->pdata[0];
	ck_assert_str_eq(report->text, finding->text);
	ck_assert_double_eq(number_of(finding, "connections"), rows[_i].connections);
	ck_assert_double_eq_tol(number_of(finding, "waited_share"), rows[_i].waited, 0.01);
	double wait_ns = number_of(finding, "wait_ns");
	if (rows[_i].wait_ns > 0)
		ck_assert_double_eq_tol(wait_ns / rows[_i].wait_ns, 1, 0.25);
	else
		ck_assert_double_eq(wait_ns, -1);
}
END_TEST

/* Bad, and the same mended; what is induced in a system that is clean; and what is too little to tell. */
START_TEST(what_is_held_is_judged)
{
	static const struct {
		const char *settings, *found;
	} rows[] = {
		{ "seed=1", "" },
		{ "seed=2", "" },
		{ "open=5%", "pairs db BEGIN; " },
		{ "open=5%|seed=3|requests=1000", "pairs db BEGIN; " },
		{ "locked=5%", "pairs locks LOCK stock; " },
		{ "locked=5%|open=10%", "pairs db BEGIN; pairs locks LOCK stock; " },
		/* Half of them */
		{ "locked=50%", "pairs locks LOCK stock; " },
		/* Fewer than one in a hundred */
		{ "open=0.3%", "" },
		/* Too few orders */
		{ "open=5%|requests=90", "" },
		/* The work is done with the transaction open; less of it */
		{ "think=150ms", "pairs db BEGIN; " },
		{ "think=5ms", "" },
		{ "anew=100%", "pairs db PREPARE SELECT items; " },
		{ "anew=10%", "" },
	};
	if (_i % wp_test_number(1, 6))
		return;
	g_auto(Visit) visit = { 0 };
	visit_init(&visit, HOLDERS, rows[_i].settings);
	examine(&visit);
	g_autofree char *text = found(visit.doctor);
	if (are_few())
		return;
	ck_assert_msg(strcmp(text, rows[_i].found) == 0, "%s: %s", rows[_i].settings, text);
}
END_TEST

/* Within a bin: the number of the finding, and the time that was set. */
START_TEST(an_onset_is_dated_to_the_bin)
{
	static const gint64 onsets_ms[] = { 6000, 14900, 22345 };
	for (int i = 0; i < wp_test_number(G_N_ELEMENTS(onsets_ms), 1); i++) {
		g_autofree char *setting = g_strdup_printf(
			"sick=since %" G_GINT64_FORMAT "ms { work 4ms }", onsets_ms[i]);
		g_auto(Visit) visit = { 0 };
		visit_init(&visit, SYSTEM, setting);
		examine(&visit);
		if (are_few())
			continue;
		const WpDoctorFinding *finding = visit.doctor->findings->pdata[0];
		ck_assert_str_eq(finding->check->name, "drift");
		double onset_ns = 0, bin_ns = 0;
		for (guint k = 0; k < finding->numbers->len; k++) {
			const WpDoctorNumber *number =
				&g_array_index(finding->numbers, WpDoctorNumber, k);
			if (strcmp(number->name, "onset_ns") == 0)
				onset_ns = number->value;
			if (strcmp(number->name, "bin_ns") == 0)
				bin_ns = number->value;
		}
		ck_assert_double_le_tol(fabs(onset_ns - (double)onsets_ms[i] * 1e6), bin_ns, 1);
		ck_assert_double_lt(bin_ns, 0.01 * 30e9);
		ck_assert_uint_gt(finding->examples->len, 0);
	}
}
END_TEST

START_TEST(ten_of_one_system_are_clean)
{
	for (int seed = 2; seed < 2 + wp_test_number(10, 1); seed++) {
		g_autofree char *setting = g_strdup_printf("seed=%d", seed);
		g_auto(Visit) visit = { 0 };
		visit_init(&visit, SYSTEM, setting);
		examine(&visit);
		g_autofree char *text = found(visit.doctor);
		if (are_few())
			continue;
		ck_assert_str_eq(text, "");
		ck_assert_int_eq(visit.doctor->verdict, WP_FINDING_CLEAN);
	}
}
END_TEST

/* Checks with too little to look at say so. */
START_TEST(few_calls_are_undecided)
{
	g_auto(Visit) visit = { 0 };
	visit_init(&visit, SYSTEM, "requests=20");
	examine(&visit);
	ck_assert_int_eq(visit.doctor->verdict, WP_FINDING_UNDECIDED);
}
END_TEST

/* The same capture, other rules. */
START_TEST(rules_decide)
{
	static const struct {
		const char *text, *found, *error;
	} rows[] = {
		{ "", "peers web7; ", NULL },
		{ "[peers]\nmin-change=500%\n", "", NULL },
		{ "[doctor]\nmatters=20%\n", "", NULL },
		{ "[rows]\nmin-calls=1000\n[peers]\nmin-change=0.5\n", "peers web7; ", NULL },
		{ "[rows]\nmin-call=3\n", NULL, "there is no key \"min-call\" in [rows]" },
		{ "[row]\nmin-calls=3\n", NULL, "there is no group [row]" },
		{ "[row]\n", NULL, "there is no group [row]" },
		{ "[doctor]\nrisk=2\n", NULL, "[doctor] risk = 2: expected a share" },
		{ "[times]\nmin-deviations=many\n", NULL, "expected a number from" },
		{ "[rows]\nmin-calls=2.5\n", NULL, "expected a whole number from" },
		{ "risk=1%\n", NULL, "start" },
	};
	g_auto(Visit) visit = { 0 };
	visit_init(&visit, SYSTEM, "heavy=10%");
	for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *path = NULL;
		g_autoptr(GError) error = NULL;
		int file = g_file_open_tmp("check_doctorXXXXXX", &path, NULL);
		ck_assert_int_ge(file, 0);
		g_close(file, NULL);
		ck_assert(g_file_set_contents(path, rows[i].text, -1, NULL));
		wp_doctor_rules_init(&visit.rules);
		gboolean is_read = wp_doctor_rules_read(&visit.rules, path, &error);
		g_unlink(path);
		ck_assert_int_eq(is_read, rows[i].error == NULL);
		if (!is_read) {
			ck_assert_int_eq(error->code, WP_REPORT_ERROR_DATA);
			ck_assert_msg(strstr(error->message, rows[i].error) != NULL, "%s",
				      error->message);
			continue;
		}
		examine(&visit);
		g_autofree char *text = found(visit.doctor);
		if (are_few())
			continue;
		ck_assert_str_eq(text, rows[i].found);
	}
}
END_TEST

WP_SUITE_OF_ROWS("doctor", { what_is_ill_is_found_first, 11 }, { what_is_held_is_judged, 13 },
		 { who_waits_for_a_worker_is_told, 6 }, { who_waits_for_a_connection_is_told, 10 },
		 { an_onset_is_dated_to_the_bin, 0 }, { ten_of_one_system_are_clean, 0 },
		 { few_calls_are_undecided, 0 }, { rules_decide, 0 })
