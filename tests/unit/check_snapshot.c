/* What is in flight at an instant, from trees of calls. */
#include "report/snapshot.h"

#include "report/error.h"
#include "tests/support/suite.h"
#include "tests/support/tree.h"

#define US 1000

/* The calls of SNAPSHOT in order, "0 web/x+3, 1 db/q+1!": depth, callee, label, age; ! = waits here. */
static char *
calls_text(const WpSnapshot *snapshot, gint64 unit_ns)
{
	GString *text = g_string_new(NULL);
	for (guint i = 0; i < snapshot->calls->len; i++) {
		const WpSnapshotCall *call = snapshot->calls->pdata[i];
		const WpSnapshotKind *kind = snapshot->kinds->pdata[call->kind];
		g_string_append_printf(text, "%s%u %s/%s+%d%s%s%s", i ? ", " : "", call->depth,
				       kind->node, kind->label, (int)(call->age_ns / unit_ns),
				       call->waits ? "!" : "", call->left_ns < 0 ? "?" : "",
				       call->is_orphan ? "~" : "");
	}
	return g_string_free(text, FALSE);
}

typedef struct {
	WpOptions *parser;
	WpAnalysisOptions options;
	WpTrace *trace;
	WpAnalysis *analysis;
	WpSnapshotMaker *maker;
} Case;

static void
case_init(Case *of, const char *tree, gint64 at_ns)
{
	WpLoadOutcome outcome = { 0 };
	*of = (Case){ .parser = wp_options_new(), .trace = wp_tree_trace(tree) };
	wp_analysis_declare(of->parser, &of->options, TRUE);
	of->analysis = wp_analysis_new(of->trace, &of->options, FALSE, NULL, &outcome, NULL);
	ck_assert_ptr_nonnull(of->analysis);
	of->maker = wp_snapshot_maker_new(at_ns, TRUE);
	wp_snapshot_maker_add(of->maker, of->analysis);
}

static void
case_clear(Case *of)
{
	wp_snapshot_maker_free(of->maker);
	wp_analysis_free(of->analysis);
	wp_trace_free(of->trace);
	wp_analysis_options_clear(&of->options);
	wp_options_free(of->parser);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Case, case_clear)

START_TEST(what_is_in_flight)
{
	static const struct {
		const char *why, *tree;
		int at;
		const char *calls;
		guint n_roots, n_abandoned;
		const char *waits_for; /* the first kind; NULL = none */
	} rows[] = {
		{ "the innermost call waits", "c>web/x[0-9](app/y[1-8](db/q[2-7]))", 3,
		  "0 web/x+3, 1 app/y+2, 2 db/q+1!", 1, 0, "db" },
		{ "before the inner call the outer works itself", "c>web/x[0-9](app/y[4-8])", 2,
		  "0 web/x+2!", 1, 0, "web" },
		{ "the instant of a call is in, that of a return is out",
		  "c>web/x[0-9](app/y[1-4],db/q[4-8])", 4, "0 web/x+4, 1 db/q+0!", 1, 0, "db" },
		{ "two at once below one", "c>web/x[0-9](app/y[1-8],db/q[2-8])", 5,
		  "0 web/x+5, 1 app/y+4!, 1 db/q+3!", 1, 0, "app" },
		{ "requests by age", "c>web/x[0-9] c>web/y[1-9](db/q[2-9]) c>web/z[20-21]", 4,
		  "0 web/x+4!, 0 web/y+3, 1 db/q+2!", 2, 0, "web" },
		{ "nothing is open between requests", "c>web/x[0-2] c>web/x[6-9]", 4, "", 0, 0,
		  NULL },
		{ "a system that hangs: nothing below has an answer either",
		  "c>web/x[0-] web>app/y[1-] app>db/q[2-]", 2, "0 web/x+2?, 1 app/y+1?, 2 db/q+0!?",
		  1, 0, "db" },
		{ "... after a request that was answered",
		  "c>web/x[0-4](app/y[1-3]) c>web/x[10-] web>app/y[11-] app>db/q[12-]", 12,
		  "0 web/x+2?, 1 app/y+1?, 2 db/q+0!?", 1, 0, "db" },
		{ "two that hang: it may be below either", "c>web/x[0-] d>web/x[1-] web>app/y[2-]",
		  2, "0 web/x+2!?, 0 web/x+1!?, 0 app/y+0!?", 3, 0, "web" },
		{ "a request without an answer", "c>web/x[0-] c>web/y[1-9]", 5,
		  "0 web/x+5!?, 0 web/y+4!", 2, 0, "web" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_auto(Case) of;
		gint64 unit_ns = US;
		case_init(&of, rows[i].tree, rows[i].at * unit_ns);
		g_autoptr(WpSnapshot) snapshot = wp_snapshot_maker_finish(of.maker, NULL);
		ck_assert_ptr_nonnull(snapshot);
		g_autofree char *calls = calls_text(snapshot, unit_ns);
		ck_assert_msg(g_str_equal(calls, rows[i].calls), "%s: %s", rows[i].why, calls);
		ck_assert_msg(snapshot->n_roots == rows[i].n_roots, "%s", rows[i].why);
		ck_assert_msg(snapshot->n_abandoned == rows[i].n_abandoned, "%s", rows[i].why);
		if (!rows[i].waits_for) {
			ck_assert_uint_eq(snapshot->waiting->len, 0);
			continue;
		}
		const WpSnapshotKind *first = snapshot->waiting->pdata[0];
		ck_assert_msg(g_str_equal(first->node, rows[i].waits_for), "%s: %s", rows[i].why,
			      first->node);
	}
}
END_TEST

START_TEST(outside_is_an_error)
{
	static const struct {
		const char *tree;
		int at;
		gboolean is_fine;
	} rows[] = {
		{ "c>web/x[2-9]", 0, TRUE }, /* after the first call */
		{ "c>web/x[2-9]", 7, TRUE },
		{ "c>web/x[2-9]", 8, FALSE },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_auto(Case) of;
		g_autoptr(GError) error = NULL;
		case_init(&of, rows[i].tree, rows[i].at * (gint64)US);
		g_autoptr(WpSnapshot) snapshot = wp_snapshot_maker_finish(of.maker, &error);
		ck_assert((snapshot != NULL) == rows[i].is_fine);
		if (!rows[i].is_fine)
			ck_assert(g_error_matches(error, WP_REPORT_ERROR, WP_REPORT_ERROR_DATA));
	}
}
END_TEST

/* Of twenty calls of 1 unit and one of 9 the last is late from 2 on. */
START_TEST(late_is_later_than_most)
{
	g_autoptr(GString) tree = g_string_new("c>web/x[0-9]");
	for (guint i = 1; i <= 20; i++)
		g_string_append_printf(tree, " c>web/x[%u-%u]", 100 * i, 100 * i + 1);
	for (gint64 at = 0; at < 9; at++) {
		g_auto(Case) of;
		case_init(&of, tree->str, at * US);
		g_autoptr(WpSnapshot) snapshot = wp_snapshot_maker_finish(of.maker, NULL);
		ck_assert_uint_eq(snapshot->n_late, at >= 2);
	}
}
END_TEST

WP_SUITE("snapshot", what_is_in_flight, outside_is_an_error, late_is_later_than_most)
