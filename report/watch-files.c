/* Files of a watch. */
#include "report/watch-files.h"

#include "report/error.h"
#include "report/overwrite.h"
#include "report/rewrite.h"
#include "report/watch-metrics.h"
#include "report/watch-report.h"
#include "report/writer.h"

/* Prometheus asks every 15 s to a minute. */
#define METRICS_NS (10 * G_GINT64_CONSTANT(1000000000))

#define DEFAULT_REPORT (60 * G_GINT64_CONSTANT(1000000000))
#define DEFAULT_SPAN   WP_WATCH_HOUR_NS

#define TOP 10

enum {
	METRICS,
	REPORT,
	N_FILES
};

struct WpWatchFiles {
	const WpInvocation *invocation;
	const WpLive *live;    /* or NULL */
	GArray *directories;   /* WpSandboxDirectory */
	WpRewrite *metrics_at; /* or NULL */
	WpWatchMetrics *metrics;
	gint64 next_metrics_ns;
	WpRewrite *report_at; /* or NULL */
	WpWatchReport *report;
	const WpWriter *writer;
	gint64 report_ns;
	gint64 next_report_ns;        /* by the time of records; WP_NO_TIME: with the first */
	gboolean has_failed[N_FILES]; /* the last time */
};

#define AT(member) .offset = offsetof(WpWatchFilesOptions, member)

static const WpOption table[] = {
	{ .name = "metrics-file",
	  .kind = WP_OPT_TEXT,
	  AT(metrics),
	  .argument = "FILE",
	  .help = "numbers for Prometheus: written anew with each window, and\nevery ten seconds" },
	{ .name = "metrics-max-series",
	  .kind = WP_OPT_INT,
	  AT(max_series),
	  .argument = "N",
	  .minimum = WP_WATCH_METRICS_MIN_SERIES,
	  .maximum = 1e6,
	  .help = "series in it, by default 5000; other operations are counted\ntogether" },
	{ .name = "report",
	  .kind = WP_OPT_TEXT,
	  AT(report),
	  .argument = "FILE",
	  .help = "the page of a report, by suffix as for wirepath report -o,\nwritten anew now "
		  "and then" },
	{ .name = "report-time",
	  .kind = WP_OPT_DURATION,
	  AT(report_ns),
	  .argument = "TIME",
	  .minimum = 1e6,
	  .maximum = 1e15,
	  .help = "time between pages; by default 1m" },
	{ .name = "report-span",
	  .kind = WP_OPT_DURATION,
	  AT(span_ns),
	  .argument = "TIME",
	  .minimum = 1e6,
	  .maximum = 1e18,
	  .help = "the page is of so much of the past, at least of half of it;\nby default 1h" },
	{ .name = NULL },
};

void
wp_watch_files_declare(WpOptions *parser, WpWatchFilesOptions *options)
{
	options->max_series = WP_WATCH_METRICS_SERIES;
	options->report_ns = DEFAULT_REPORT;
	options->span_ns = DEFAULT_SPAN;
	wp_options_add(parser, "Files", table, options);
}

static WpRewrite *
open_file(WpWatchFiles *files, const char *path, WpOverwrite *others, GError **error)
{
	WpRewrite *file =
		wp_overwrite_add_output(others, path, error) ? wp_rewrite_new(path, error) : NULL;

	if (file) {
		const WpSandboxDirectory directory = { wp_rewrite_directory(file), FALSE };
		g_array_append_val(files->directories, directory);
	}
	return file;
}

static gboolean
open_report(WpWatchFiles *files, const WpWatchFilesOptions *options, WpOverwrite *others,
	    GError **error)
{
	if (!options->report)
		return TRUE;
	files->writer = wp_writer_for(options->report, NULL, WP_WRITE_REPORT, error);
	if (!files->writer)
		return FALSE;
	if (files->writer->needs_digest) {
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			    "--report writes no %s\nuse --json for scripts", files->writer->name);
		return FALSE;
	}
	files->report_at = open_file(files, options->report, others, error);
	files->report = wp_watch_report_new(options->span_ns);
	files->report_ns = options->report_ns;
	files->next_report_ns = WP_NO_TIME;
	return files->report_at != NULL;
}

WpWatchFiles *
wp_watch_files_new(const WpInvocation *invocation, const WpWatchFilesOptions *options,
		   const WpAnalysisOptions *analysis, GError **error)
{
	g_autoptr(WpWatchFiles) files = g_new0(WpWatchFiles, 1);
	g_autoptr(WpOverwrite) others = wp_overwrite_new();

	files->invocation = invocation;
	files->directories = g_array_new(FALSE, FALSE, sizeof(WpSandboxDirectory));
	wp_load_add_inputs(invocation, others);
	wp_analysis_add_inputs(analysis, others);
	if (options->metrics) {
		files->metrics = wp_watch_metrics_new((guint)options->max_series);
		files->metrics_at = open_file(files, options->metrics, others, error);
		if (!files->metrics_at)
			return NULL;
	}
	return open_report(files, options, others, error) ? g_steal_pointer(&files) : NULL;
}

void
wp_watch_files_free(WpWatchFiles *files)
{
	if (!files)
		return;
	g_array_unref(files->directories);
	wp_rewrite_free(files->metrics_at);
	wp_rewrite_free(files->report_at);
	wp_watch_report_free(files->report);
	wp_watch_metrics_free(files->metrics);
	g_free(files);
}

const WpSandboxDirectory *
wp_watch_files_directories(const WpWatchFiles *files, gsize *out_n)
{
	*out_n = files->directories->len;
	return (const WpSandboxDirectory *)files->directories->data;
}

static gboolean
put_metrics(WpWatchFiles *files, const WpCounters *counters, GError **error)
{
	g_autoptr(WpOut) out = wp_out_new_memory();

	if (!files->metrics)
		return TRUE;
	wp_watch_metrics_write(files->metrics, files->live, counters, out);
	return wp_rewrite_put(files->metrics_at, wp_out_string(out), error);
}

/* A disk that is full for a while makes one line for each of them. */
static void
note(WpWatchFiles *files, int which, gboolean ok, GError *error)
{
	if (!ok && !files->has_failed[which])
		wp_progress_say(files->invocation->progress, error->message);
	files->has_failed[which] = !ok;
	g_clear_error(&error);
}

gboolean
wp_watch_files_start(WpWatchFiles *files, const WpLive *live, GError **error)
{
	files->live = live;
	files->next_metrics_ns = wp_live_now().monotonic_ns + METRICS_NS;
	return put_metrics(files, NULL, error);
}

void
wp_watch_files_window(WpWatchFiles *files, const WpWatchWindow *window)
{
	GError *error = NULL;

	if (files->metrics) {
		wp_watch_metrics_add(files->metrics, window);
		gboolean ok = put_metrics(files, NULL, &error);
		note(files, METRICS, ok, error);
	}
}

void
wp_watch_files_tick(WpWatchFiles *files, gint64 monotonic_ns)
{
	GError *error = NULL;

	if (monotonic_ns < files->next_metrics_ns)
		return;
	files->next_metrics_ns = monotonic_ns + METRICS_NS;
	gboolean ok = put_metrics(files, NULL, &error);
	note(files, METRICS, ok, error);
}

/* In a file colours are not wanted, and the first rows of each list are enough. */
static gboolean
put_report(WpWatchFiles *files, const WpAnalysis *analysis, GError **error)
{
	g_autoptr(WpOut) out = wp_out_new_memory();

	if (!files->report)
		return TRUE;
	const WpPage page = { .style = wp_style_for(FALSE, WP_COLOR_NEVER),
			      .top = files->writer->is_for_people ? TOP : 0,
			      .leaves_tail = TRUE };
	if (!wp_watch_report_write(files->report, analysis, files->writer, &page, out))
		return TRUE;
	return wp_rewrite_put(files->report_at, wp_out_string(out), error);
}

void
wp_watch_files_part(WpWatchFiles *files, const WpAnalysis *part)
{
	GError *error = NULL;

	if (!files->report)
		return;
	wp_watch_report_add(files->report, part);
	gint64 now_ns = wp_watch_report_end_ns(files->report);
	if (now_ns == WP_NO_TIME ||
	    (files->next_report_ns != WP_NO_TIME && now_ns < files->next_report_ns))
		return;
	files->next_report_ns = now_ns + files->report_ns;
	gboolean ok = put_report(files, part, &error);
	note(files, REPORT, ok, error);
}

gboolean
wp_watch_files_finish(WpWatchFiles *files, const WpAnalysis *whole, GError **error)
{
	const WpCounters *counters = whole ? wp_trace_counters(whole->trace) : NULL;

	return put_metrics(files, counters, error) && (!whole || put_report(files, whole, error));
}
