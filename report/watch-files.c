/* Files of a watch. */
#include "report/watch-files.h"

#include "report/overwrite.h"
#include "report/rewrite.h"
#include "report/watch-metrics.h"

/* Prometheus asks every 15 s to a minute. */
#define METRICS_NS (10 * G_GINT64_CONSTANT(1000000000))

struct WpWatchFiles {
	const WpInvocation *invocation;
	const WpLive *live;    /* or NULL */
	GArray *directories;   /* WpSandboxDirectory */
	WpRewrite *metrics_at; /* or NULL */
	WpWatchMetrics *metrics;
	gint64 next_metrics_ns;
	gboolean has_failed; /* the last time */
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
	{ .name = NULL },
};

void
wp_watch_files_declare(WpOptions *parser, WpWatchFilesOptions *options)
{
	options->max_series = WP_WATCH_METRICS_SERIES;
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
	return g_steal_pointer(&files);
}

void
wp_watch_files_free(WpWatchFiles *files)
{
	if (!files)
		return;
	g_array_unref(files->directories);
	wp_rewrite_free(files->metrics_at);
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

/* A disk that is full for a while makes one line. */
static void
note(WpWatchFiles *files, gboolean ok, GError *error)
{
	if (!ok && !files->has_failed)
		wp_progress_say(files->invocation->progress, error->message);
	files->has_failed = !ok;
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
		note(files, ok, error);
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
	note(files, ok, error);
}

gboolean
wp_watch_files_finish(WpWatchFiles *files, const WpCounters *counters, GError **error)
{
	return put_metrics(files, counters, error);
}
