/* wirepath watch: what is slow now, window by window; of a live interface, or of what was captured. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "capture/capture.h"
#include "capture/live.h"
#include "report/analysis.h"
#include "report/command.h"
#include "report/error.h"
#include "report/interrupt.h"
#include "report/keys.h"
#include "report/live-input.h"
#include "report/notify.h"
#include "report/signals.h"
#include "report/snapshot-page.h"
#include "report/watch-actions.h"
#include "report/watch-files.h"
#include "report/watch-page.h"
#include "report/watch-screen.h"
#include "report/watch.h"

#define NS_PER_S       1000000000
#define DEFAULT_WINDOW (10 * (gint64)NS_PER_S)
#define DEFAULT_TOP    15

/* Records come when their packets are this old. */
#define LATENCY_NS (3 * (gint64)NS_PER_S)

/* Of what is waited for, and of requests in flight. */
#define IN_FLIGHT_ROWS 5

/* Calls of the past to learn from: so many that a window of a few calls knows delays, and is still quick. */
#define DEFAULT_EXAMPLES 10000

typedef struct {
	WpLoadOptions load;
	WpAnalysisOptions analysis;
	WpLiveInput input;
	WpWatchFilesOptions files;
	WpWatchActionsOptions actions;
	gint64 window_ns;
	gint64 top;
	gboolean shows_patterns;
	gboolean shows_in_flight;
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
	  .help = "operations, and patterns, shown; by default 15" },
	{ .name = "patterns",
	  .kind = WP_OPT_FLAG,
	  AT(shows_patterns),
	  .help = "show patterns as well: requests that take the same path" },
	{ .name = "in-flight",
	  .kind = WP_OPT_FLAG,
	  AT(shows_in_flight),
	  .help = "show what is in flight at the end of each window as well,\nand what it waits "
		  "for" },
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
	wp_watch_files_declare(parser, &options->files);
	wp_watch_actions_declare(parser, &options->actions);
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
	WpWatchPage page;
	WpWatchFiles *files;
	WpWatchActions *actions;
	WpWatchScreen *screen; /* or NULL, as the next one */
	WpKeys *keys;
	WpSnapshot *in_flight; /* the last one; or NULL */
	guint64 n_shown;
	WpLive *live; /* or NULL */
	WpLiveLoss *loss;
	WpNotify *notify;
	WpWatch *watch;
	WpWindows *windows; /* while records come */
	WpLiveTime began;
	GError *failure; /* of a tick */
} Session;

static gboolean
on_window(const WpWatchWindow *window, gpointer data, GError **error)
{
	Session *session = data;

	wp_progress_clear(session->invocation->progress);
	wp_watch_files_window(session->files, window);
	session->page.triggered =
		wp_watch_actions_window(session->actions, window, &session->page.n_triggered);
	if (session->options->is_json) {
		wp_watch_page_json(&session->page, window, session->out);
	} else if (session->screen) {
		wp_watch_screen_window(session->screen, &session->page, window);
	} else {
		wp_out_text(session->out, session->n_shown ? "\n" : "");
		wp_watch_page_text(&session->page, window, session->out);
	}
	wp_out_flush(session->out);
	session->n_shown++;
	return !session->options->is_once && !wp_out_failed(session->out);
}

/* TRUE where there is a later one than before. */
static gboolean
renew_in_flight(Session *session, const WpAnalysis *part)
{
	gint64 now_ns = session->live ? wp_live_now().wall_ns - LATENCY_NS : 0;
	g_autoptr(WpSnapshot) snapshot =
		wp_snapshot_of_part(part, session->options->window_ns, now_ns);

	if (!snapshot || (session->in_flight && snapshot->at_ns <= session->in_flight->at_ns))
		return FALSE;
	wp_snapshot_free(session->in_flight);
	session->page.in_flight = session->in_flight = g_steal_pointer(&snapshot);
	return TRUE;
}

/* It stands below the windows that came with it; where all hangs there are none. */
static void
write_in_flight(Session *session)
{
	const WpSnapshotPage page = { session->page.style, IN_FLIGHT_ROWS };
	g_autoptr(WpOut) text = wp_out_new_memory();

	wp_snapshot_write_brief(session->in_flight, &page, session->screen ? text : session->out);
	if (session->screen)
		wp_watch_screen_in_flight(session->screen, wp_out_string(text));
	wp_out_flush(session->out);
}

static gboolean
on_part(const WpAnalysis *part, gpointer data, GError **error)
{
	Session *session = data;
	gboolean is_wanted = session->options->shows_in_flight || session->screen;

	wp_watch_files_part(session->files, part);
	gboolean is_new = is_wanted && renew_in_flight(session, part);
	gboolean goes_on = wp_watch_part(part, session->watch, error);
	if (is_new && !session->options->is_json)
		write_in_flight(session);
	return goes_on;
}

/* --- live --- */

static void
on_tick(WpLiveTime now, gpointer data)
{
	Session *session = data;

	for (int number; (number = wp_signals_take());)
		if (number == SIGINT || number == SIGTERM)
			wp_live_stop(session->live, TRUE);
	for (int key; session->keys && (key = wp_keys_take(session->keys));)
		if (!wp_watch_screen_key(session->screen, key))
			wp_live_stop(session->live, TRUE);
	wp_notify_alive(session->notify, now.monotonic_ns);
	WpLiveCounts total = wp_live_total(session->live);
	wp_live_loss_tick(session->loss, now.wall_ns, total.kernel_drops + total.interface_drops);
	wp_live_input_timed(&session->options->input, session->live, session->began, now);
	wp_watch_files_tick(session->files, now.monotonic_ns);
	if (!session->failure &&
	    !wp_windows_advance(session->windows, now.wall_ns - LATENCY_NS, &session->failure))
		wp_live_stop(session->live, FALSE);
}

static void
on_frame(const WpFrame *frame, gpointer data)
{
	Session *session = data;
	wp_live_input_counted(&session->options->input, session->live, frame);
	wp_live_loss_frame(session->loss, frame->time_ns);
	wp_watch_actions_frame(session->actions, frame);
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

/* All but what is in the directories that are written to. */
static gboolean
give_up(Session *session, GError **error)
{
	gsize n;
	const WpSandboxDirectory *files = wp_watch_files_directories(session->files, &n);
	const WpSandboxDirectory snapshots = wp_watch_actions_directory(session->actions);
	g_autofree WpSandboxDirectory *all = g_new(WpSandboxDirectory, n + 1);

	for (gsize i = 0; i < n; i++)
		all[i] = files[i];
	if (snapshots.fd >= 0)
		all[n++] = snapshots;
	return wp_live_input_give_up(&session->options->input, session->invocation, all, n, error);
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
	session->page.live = session->live;
	session->page.loss = session->loss = wp_live_loss_new();
	if (!wp_watch_actions_open(session->actions, session->live, session->options->input.filter,
				   error) ||
	    !give_up(session, error))
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
	wp_watch_files_free(session->files);
	wp_watch_actions_free(session->actions);
	wp_live_free(session->live);
	wp_live_loss_free(session->loss);
	wp_watch_screen_free(session->screen);
	wp_snapshot_free(session->in_flight);
	wp_keys_free(session->keys);
	wp_notify_free(session->notify);
	wp_out_free(session->out);
	g_clear_error(&session->failure);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Session, session_clear)

/* All that is opened, and given up, before anything is read. */
static gboolean
start(Session *session, WatchOptions *options, GError **error)
{
	const WpInvocation *invocation = session->invocation;
	gboolean is_live = options->input.interfaces.n > 0;

	session->page.style = wp_style_for(TRUE, invocation->color);
	session->page.top = (guint32)options->top;
	session->page.shows_patterns = options->shows_patterns;
	session->out = wp_out_open("-", error);
	if (!session->out)
		return FALSE;
	if (is_live && !options->is_json && !options->is_once && isatty(STDOUT_FILENO)) {
		session->keys = wp_keys_new();
		session->screen = wp_watch_screen_new(session->out, session->keys != NULL,
						      options->shows_in_flight);
	}
	session->files = wp_watch_files_new(invocation, &options->files, &options->analysis, error);
	if (!session->files)
		return FALSE;
	session->actions = wp_watch_actions_new(invocation, &options->actions, is_live,
						options->input.user, error);
	if (!session->actions)
		return FALSE;
	session->notify = wp_notify_new();
	if (is_live) {
		options->analysis.feed = feed_live;
		options->analysis.feed_data = session;
	}
	options->analysis.period_ns = options->window_ns;
	return (!is_live || open_live(session, error)) &&
	       wp_watch_files_start(session->files, session->live, error);
}

static int
run(WpInvocation *invocation, gpointer data, GError **error)
{
	WatchOptions *options = data;
	g_auto(Session) session = { .invocation = invocation, .options = options };
	g_auto(WpLoadOutcome) outcome = { 0 };
	GError *reason = NULL;

	if (!check_options(invocation, options, error) || !start(&session, options, error))
		return -1;
	g_autoptr(WpWatch) watch = session.watch =
		wp_watch_new(options->window_ns, on_window, &session);
	g_autoptr(WpAnalysis) analysis =
		wp_analysis_run(invocation, &options->load, &options->analysis, FALSE, on_part,
				&session, &outcome, &reason);
	if (!wp_out_close(session.out, error) ||
	    !wp_watch_files_finish(session.files, analysis, error)) {
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
	.examples =
		"  wirepath watch -i eth0\n"
		"  wirepath watch -i eth0 --window-time 1m --once --json\n"
		"  wirepath watch packets --window-time 1m\n"
		"  wirepath watch -i eth0 --when 'change >= 2' --do snapshot --snapshots slow\n",
	.min_operands = 0,
	.max_operands = G_MAXUINT,
	.options_size = sizeof(WatchOptions),
	.declare = declare,
	.run = run,
	.clear = clear,
};
