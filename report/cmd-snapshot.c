/* wirepath snapshot: every causal chain in flight at one instant. */
#include "report/analysis.h"
#include "report/command.h"
#include "report/error.h"
#include "report/load.h"
#include "report/snapshot-page.h"
#include "report/snapshot.h"

#define DEFAULT_TOP 20

typedef struct {
	WpLoadOptions load;
	WpAnalysisOptions analysis;
	WpTimeOption at;
	gint64 top;
	gboolean wants_all;
	WpPages pages;
} SnapshotOptions;

#define AT(member) .offset = offsetof(SnapshotOptions, member)

static const WpOption snapshot_table[] = {
	{ .name = "at",
	  .kind = WP_OPT_TIME,
	  AT(at),
	  .argument = "TIME",
	  .help = "the instant: +12.5s after the start, as reports count,\n"
		  "2026-10-20T08:15:05Z, or seconds since 1970" },
	{ .name = "top",
	  .kind = WP_OPT_INT,
	  AT(top),
	  .argument = "N",
	  .minimum = 1,
	  .maximum = 1e9,
	  .excludes = "all",
	  .help = "requests to list, the oldest first (20)" },
	{ .name = "all", .kind = WP_OPT_FLAG, AT(wants_all), .help = "all requests" },
	{ .name = NULL },
};

static void
declare(WpOptions *parser, gpointer data)
{
	SnapshotOptions *options = data;
	options->top = DEFAULT_TOP;
	wp_options_add(parser, "Snapshot", snapshot_table, options);
	wp_pages_declare(parser, &options->pages, wp_pages_format_table);
	wp_load_declare(parser, &options->load);
	wp_analysis_declare(parser, &options->analysis, TRUE);
}

static void
clear(gpointer data)
{
	SnapshotOptions *options = data;
	wp_analysis_options_clear(&options->analysis);
	wp_pages_clear(&options->pages);
}

static gboolean
check_options(const WpInvocation *invocation, const SnapshotOptions *options, GError **error)
{
	g_autoptr(WpOverwrite) files = wp_overwrite_new();
	if (!options->at.is_set) {
		g_set_error_literal(
			error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			"which instant is meant?\nwirepath snapshot --at +12.5s INPUT...");
		return FALSE;
	}
	wp_load_add_inputs(invocation, files);
	wp_analysis_add_inputs(&options->analysis, files);
	return wp_pages_check(&options->pages, wp_pages_forms, files, error) &&
	       wp_analysis_check(&options->analysis, error);
}

static gboolean
take_part(const WpAnalysis *part, gpointer data, GError **error)
{
	(void)error;
	wp_snapshot_maker_add(data, part);
	return TRUE;
}

/* What a page is made of. */
typedef struct {
	const WpSnapshot *snapshot;
	guint top;
} Content;

static void
write_page(gconstpointer data, int form, const WpStyle *style, WpOut *out)
{
	const Content *content = data;
	const WpSnapshotPage page = { .style = *style, .top = content->top };
	wp_snapshot_writers[form](content->snapshot, &page, out);
}

static int
run(WpInvocation *invocation, gpointer data, GError **error)
{
	SnapshotOptions *options = data;
	if (!check_options(invocation, options, error))
		return -1;
	g_auto(WpLoadOutcome) outcome = { 0 };
	g_autoptr(WpSnapshotMaker) maker =
		wp_snapshot_maker_new(options->at.ns, options->at.is_offset);
	g_autoptr(WpAnalysis) analysis =
		wp_analysis_run(invocation, &options->load, &options->analysis, FALSE, take_part,
				maker, &outcome, error);
	if (!analysis)
		return -1;
	g_autoptr(WpSnapshot) snapshot = wp_snapshot_maker_finish(maker, error);
	Content content = { snapshot, options->wants_all ? 0 : (guint)options->top };
	if (!snapshot || !wp_pages_write(invocation, &options->pages, wp_pages_forms, write_page,
					 &content, error))
		return -1;
	return wp_load_status(invocation, &options->load, &outcome,
			      wp_trace_counters(analysis->trace), error);
}

const WpCommand wp_command_snapshot = {
	.name = "snapshot",
	.synopsis = "--at TIME [OPTION]... INPUT...",
	.summary = "what was in flight at one instant, and what it waited for",
	.examples = "  wirepath snapshot --at +12.5s capture.pcap\n"
		    "  wirepath snapshot --at 2026-10-20T08:15:05.4Z capture.pcap\n"
		    "  wirepath snapshot --at +60s --format csv capture.pcap\n",
	.min_operands = 1,
	.max_operands = G_MAXUINT,
	.options_size = sizeof(SnapshotOptions),
	.declare = declare,
	.run = run,
	.clear = clear,
};
