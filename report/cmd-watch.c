/* wirepath watch: what is slow now, window by window; of a live interface, or of what was captured. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "capture/capture.h"
#include "capture/live.h"
#include "report/analysis.h"
#include "report/command.h"
#include "report/error.h"
#include "report/escape.h"
#include "report/format.h"
#include "report/interrupt.h"
#include "report/json.h"
#include "report/live-input.h"
#include "report/notify.h"
#include "report/signals.h"
#include "report/table.h"
#include "report/watch.h"

#define NS_PER_S       1000000000
#define DEFAULT_WINDOW (10 * (gint64)NS_PER_S)
#define DEFAULT_TOP    15

/* Calls of the past to learn from: so many that a window of a few calls knows delays, and is still quick. */
#define DEFAULT_EXAMPLES 10000

typedef struct {
	WpLoadOptions load;
	WpAnalysisOptions analysis;
	WpLiveInput input;
	gint64 window_ns;
	gint64 top;
	gboolean is_once;
	gboolean is_json;
} WatchOptions;

#define AT(member) .offset = offsetof(WatchOptions, member)

static const WpOption table[] = {
	{ .name = "window-time",
	  .kind = WP_OPT_DURATION,
	  AT(window_ns),
	  .argument = "TIME",
	  .minimum = 1e8,
	  .maximum = 1e15,
	  .help = "length of a window; by default 10s" },
	{ .name = "top",
	  .short_name = 'n',
	  .kind = WP_OPT_INT,
	  AT(top),
	  .argument = "N",
	  .minimum = 1,
	  .maximum = 1e6,
	  .help = "operations shown; by default 15" },
	{ .name = "once", .kind = WP_OPT_FLAG, AT(is_once), .help = "end after the first window" },
	{ .name = "json",
	  .kind = WP_OPT_FLAG,
	  AT(is_json),
	  .help = "a JSON object for each window, with all operations" },
	{ .name = NULL },
};

static void
declare(WpOptions *parser, gpointer data)
{
	WatchOptions *options = data;
	options->window_ns = DEFAULT_WINDOW;
	options->top = DEFAULT_TOP;
	wp_options_add(parser, "Windows", table, options);
	wp_live_input_declare(parser, &options->input);
	wp_load_declare(parser, &options->load);
	wp_analysis_declare(parser, &options->analysis, FALSE);
	options->analysis.examples = DEFAULT_EXAMPLES;
}

static void
clear(gpointer data)
{
	wp_analysis_options_clear(&((WatchOptions *)data)->analysis);
}

/* --- pages --- */

typedef struct {
	WpInvocation *invocation;
	const WatchOptions *options;
	WpOut *out;
	WpStyle style;
	gboolean is_screen; /* each page in place of the one before */
	guint64 n_shown;
	WpLive *live; /* or NULL */
	WpNotify *notify;
	WpWindows *windows; /* while records come */
	WpLiveTime began;
	GError *failure; /* of a tick */
} Session;

static void
put_escaped(WpTable *page, const char *text, gboolean utf8)
{
	g_autofree char *safe = wp_escape_terminal(text, utf8);
	wp_table_cell(page, safe);
}

static void
put_request(WpTable *page, const WpViewOperation *operation, gboolean utf8)
{
	g_autofree char *text = g_strdup_printf("%s  %s %s %s", operation->label, operation->client,
						utf8 ? "→" : ">", operation->node);
	put_escaped(page, text, utf8);
}

/* "2.4x", or nothing where that is not known. */
static void
put_change(WpTable *page, const WpWatchRow *row)
{
	char number[WP_FORMAT_MAX];
	g_autofree char *text =
		row->change > 0 ? g_strconcat(wp_format_number(number, row->change), "x", NULL)
				: g_strdup("");
	wp_table_cell(page, text);
}

/* The time of day at which it became slow. */
static void
put_since(WpTable *page, const WpWatchRow *row)
{
	char date[WP_FORMAT_MAX] = "";
	if (row->since_ns != WP_NO_TIME)
		wp_format_date(date, row->since_ns);
	g_auto(GStrv) words = g_strsplit(date, " ", 3);
	g_autofree char *day = g_strndup(words[0] && words[1] ? words[1] : "", 8);
	wp_table_cell(page, day);
}

static void
put_blame(WpTable *page, const WpViewOperation *operation, gboolean utf8)
{
	char share[WP_FORMAT_MAX];
	if (operation->n_shares == 0) {
		wp_table_cell(page, "");
		return;
	}
	const WpViewShare *first = &operation->shares[0];
	g_autofree char *text =
		g_strdup_printf("%s %s", first->node, wp_format_share(share, first->share));
	put_escaped(page, text, utf8);
}

static void
put_row(WpTable *page, const WpWatchRow *row, gboolean utf8)
{
	char text[WP_FORMAT_MAX];
	const WpViewOperation *operation = row->operation;

	wp_table_row(page, row->since_ns != WP_NO_TIME ? WP_TABLE_HOT : WP_TABLE_PLAIN);
	wp_table_cell(page, wp_format_number(text, row->rate));
	wp_table_cell(page, wp_format_count(text, operation->errors));
	wp_table_cell(page, wp_format_time(text, operation->latency.p50_ns));
	wp_table_cell(page, wp_format_time(text, operation->latency.p95_ns));
	put_change(page, row);
	put_since(page, row);
	put_blame(page, operation, utf8);
	put_request(page, operation, utf8);
}

/* Of a live interface: what was lost on the way. */
static void
put_loss(Session *session)
{
	char kernel[WP_FORMAT_MAX], interface[WP_FORMAT_MAX];
	if (!session->live)
		return;
	WpLiveCounts total = wp_live_total(session->live);
	if (total.kernel_drops || total.interface_drops)
		wp_out_printf(session->out,
			      "Packets dropped so far: %s by the kernel, %s by the interface\n",
			      wp_format_count(kernel, total.kernel_drops),
			      wp_format_count(interface, total.interface_drops));
}

static void
put_page(Session *session, const WpWatchWindow *window)
{
	static const char *const headings[] = { "per s", "errors",           "p50", "p95", "change",
						"since", "most self time in" };
	char date[WP_FORMAT_MAX], length[WP_FORMAT_MAX], count[WP_FORMAT_MAX],
		errors[WP_FORMAT_MAX];
	gint64 length_ns = window->end_ns - window->begin_ns;
	guint32 n = (guint32)MIN(window->n_rows, session->options->top);
	g_autoptr(WpTable) page = wp_table_new();

	wp_out_text(session->out, session->is_screen ? "\033[H\033[J"
				  : session->n_shown ? "\n"
						     : "");
	wp_out_printf(
		session->out, "%s, %s: %s requests, %s with errors\n",
		wp_format_date(date, window->begin_ns), wp_format_time(length, (double)length_ns),
		wp_format_count(count, window->requests), wp_format_count(errors, window->errors));
	for (gsize i = 0; i < G_N_ELEMENTS(headings); i++)
		wp_table_column(page, headings[i], i < 6, 0);
	wp_table_column(page, "request", FALSE, 0);
	for (guint32 i = 0; i < n; i++)
		put_row(page, &window->rows[i], session->style.utf8);
	if (n > 0)
		wp_table_write(page, &session->style, 2, session->out);
	if (n < window->n_rows)
		wp_out_printf(session->out, "  ... and %u more (--top N)\n", window->n_rows - n);
	put_loss(session);
}

static void
put_json_row(WpJson *json, const WpWatchRow *row)
{
	const WpViewOperation *operation = row->operation;

	wp_json_open(json, NULL, '{');
	wp_json_text(json, "client", operation->client);
	wp_json_text(json, "node", operation->node);
	wp_json_text(json, "operation", operation->label);
	wp_json_uint(json, "count", operation->count);
	wp_json_uint(json, "errors", operation->errors);
	wp_json_number(json, "rate", row->rate, 3);
	wp_json_number(json, "mean_ns", operation->latency.mean_ns, 0);
	wp_json_number(json, "p50_ns", operation->latency.p50_ns, 0);
	wp_json_number(json, "p95_ns", operation->latency.p95_ns, 0);
	if (row->change > 0)
		wp_json_number(json, "change", row->change, 3);
	if (row->since_ns != WP_NO_TIME)
		wp_json_epoch(json, "since", row->since_ns);
	wp_json_open(json, "self", '[');
	for (guint32 i = 0; i < operation->n_shares; i++) {
		const WpViewShare *share = &operation->shares[i];
		wp_json_open(json, NULL, '{');
		wp_json_text(json, "node", share->node);
		wp_json_number(json, "self_ns", share->self_ns, 0);
		wp_json_number(json, "share", share->share, 6);
		wp_json_close(json, '}');
	}
	wp_json_close(json, ']');
	wp_json_close(json, '}');
}

static void
put_json(Session *session, const WpWatchWindow *window)
{
	WpJson json = { .out = session->out };

	wp_json_open(&json, NULL, '{');
	wp_json_epoch(&json, "begin", window->begin_ns);
	wp_json_epoch(&json, "end", window->end_ns);
	wp_json_uint(&json, "requests", window->requests);
	wp_json_uint(&json, "errors", window->errors);
	if (session->live) {
		WpLiveCounts total = wp_live_total(session->live);
		wp_json_uint(&json, "kernel_drops", total.kernel_drops);
		wp_json_uint(&json, "interface_drops", total.interface_drops);
	}
	wp_json_open(&json, "operations", '[');
	for (guint32 i = 0; i < window->n_rows; i++)
		put_json_row(&json, &window->rows[i]);
	wp_json_close(&json, ']');
	wp_json_close(&json, '}');
	wp_out_char(session->out, '\n');
}

static gboolean
on_window(const WpWatchWindow *window, gpointer data, GError **error)
{
	Session *session = data;

	wp_progress_clear(session->invocation->progress);
	if (session->options->is_json)
		put_json(session, window);
	else
		put_page(session, window);
	wp_out_flush(session->out);
	session->n_shown++;
	return !session->options->is_once && !wp_out_failed(session->out);
}

/* --- live --- */

static void
on_tick(WpLiveTime now, gpointer data)
{
	Session *session = data;

	for (int number; (number = wp_signals_take());)
		if (number == SIGINT || number == SIGTERM)
			wp_live_stop(session->live, TRUE);
	wp_notify_alive(session->notify, now.monotonic_ns);
	wp_live_input_timed(&session->options->input, session->live, session->began, now);
	/* Records come when their packets are this old. */
	if (!session->failure &&
	    !wp_windows_advance(session->windows, now.wall_ns - 3 * (gint64)NS_PER_S,
				&session->failure))
		wp_live_stop(session->live, FALSE);
}

static void
on_frame(const WpFrame *frame, gpointer data)
{
	Session *session = data;
	wp_live_input_counted(&session->options->input, session->live, frame);
}

static void
on_note(guint interface, WpLiveTime now, const char *text, gpointer data)
{
	Session *session = data;
	wp_live_input_note(session->invocation, session->live, interface, text);
}

static gboolean
feed_live(WpWindows *windows, WpNodes *nodes, gpointer data, GError **error)
{
	Session *session = data;
	const WatchOptions *options = session->options;
	WpCaptureOptions capture;

	wp_capture_options_init(&capture);
	capture.live = session->live;
	capture.decode_as = options->load.decode_as;
	capture.token_key = options->load.token_key;
	capture.max_flows = (guint32)options->load.max_flows;
	session->windows = windows;
	gboolean ok = wp_capture_run(options->input.interfaces.words, options->input.interfaces.n,
				     &capture, nodes, wp_windows_sink(windows), NULL,
				     session->failure ? NULL : error);
	if (session->failure) {
		g_propagate_error(error, g_steal_pointer(&session->failure));
		return FALSE;
	}
	return ok;
}

static gboolean
open_live(Session *session, GError **error)
{
	const WpLiveHooks hooks = { on_frame, on_tick, on_note, session };

	if (!wp_signals_catch(error))
		return FALSE;
	session->live = wp_live_input_open(&session->options->input, session->invocation, error);
	if (!session->live)
		return FALSE;
	wp_live_set_hooks(session->live, &hooks);
	wp_live_watch(session->live, wp_signals_fd());
	if (!wp_live_input_give_up(&session->options->input, session->invocation, -1, FALSE, error))
		return FALSE;
	session->began = wp_live_now();
	wp_notify_send(session->notify, "READY=1");
	return TRUE;
}

/* --- all --- */

static gboolean
check_options(const WpInvocation *invocation, const WatchOptions *options, GError **error)
{
	gboolean is_live = options->input.interfaces.n > 0;
	const char *wrong = NULL;

	if (is_live == (invocation->n_operands > 0))
		wrong = is_live ? "watch either interfaces (-i IF) or inputs, not both"
				: "there is nothing to watch: name an interface (-i IF) or inputs";
	else if (is_live && (options->load.keylog || options->load.rmi_interfaces ||
			     options->load.from.is_set || options->load.to.is_set))
		wrong = "--keylog, --rmi-interfaces, --from and --to are for inputs, not for "
			"interfaces";
	else if (wp_analysis_is_aggregate(&options->analysis))
		wrong = "watch needs an engine that links calls";
	if (wrong)
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE, "%s", wrong);
	return !wrong && wp_analysis_check(&options->analysis, error);
}

static void
session_clear(Session *session)
{
	wp_live_free(session->live);
	wp_notify_free(session->notify);
	wp_out_free(session->out);
	g_clear_error(&session->failure);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Session, session_clear)

static int
run(WpInvocation *invocation, gpointer data, GError **error)
{
	WatchOptions *options = data;
	g_auto(Session) session = { .invocation = invocation, .options = options };
	g_auto(WpLoadOutcome) outcome = { 0 };
	GError *reason = NULL;

	if (!check_options(invocation, options, error))
		return -1;
	session.style = wp_style_for(TRUE, invocation->color);
	session.is_screen = !options->is_json && !options->is_once && isatty(STDOUT_FILENO) &&
			    options->input.interfaces.n > 0;
	session.out = wp_out_open("-", error);
	if (!session.out)
		return -1;
	session.notify = wp_notify_new();
	if (options->input.interfaces.n > 0) {
		if (!open_live(&session, error))
			return -1;
		options->analysis.feed = feed_live;
		options->analysis.feed_data = &session;
	}
	options->analysis.period_ns = options->window_ns;
	g_autoptr(WpWatch) watch = wp_watch_new(options->window_ns, on_window, &session);
	g_autoptr(WpAnalysis) analysis =
		wp_analysis_run(invocation, &options->load, &options->analysis, FALSE,
				wp_watch_part, watch, &outcome, &reason);
	if (!wp_out_close(session.out, error)) {
		g_clear_error(&reason);
		return -1;
	}
	if (wp_watch_is_ended(watch) || (analysis && session.live)) {
		g_clear_error(&reason);
		return WP_EXIT_OK;
	}
	if (!analysis) {
		g_propagate_error(error, reason);
		return -1;
	}
	return wp_load_status(invocation, &options->load, &outcome,
			      wp_trace_counters(analysis->trace), error);
}

const WpCommand wp_command_watch = {
	.name = "watch",
	.synopsis = "[OPTION]... -i IF | INPUT...",
	.summary = "what is slow now, and since when: window by window, live",
	.details =
		"A line for each root operation: requests a second, errors, latency, the node with "
		"the "
		"most self\ntime; its p95 as a multiple of what was usual in the hour before, and, "
		"from 1.5 times that on,\nsince when.",
	.examples = "  wirepath watch -i eth0\n"
		    "  wirepath watch -i eth0 --window-time 1m --once --json\n"
		    "  wirepath watch packets --window-time 1m\n",
	.min_operands = 0,
	.max_operands = G_MAXUINT,
	.options_size = sizeof(WatchOptions),
	.declare = declare,
	.run = run,
	.clear = clear,
};
