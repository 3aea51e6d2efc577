/*
 * wirepath capture: packets of live interfaces to a trace, to capture files, or to both, until it is told to
 * end. What must be opened is opened first; then all privileges go; then packets are read.
 */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "capture/capture.h"
#include "capture/live.h"
#include "capture/recorder.h"
#include "capture/trace-io.h"
#include "report/command.h"
#include "report/error.h"
#include "report/form.h"
#include "report/format.h"
#include "report/live-input.h"
#include "report/manifest.h"
#include "report/notify.h"
#include "report/overwrite.h"
#include "report/signals.h"

#define NS_PER_S 1000000000
#define SYNC_NS  ((gint64)NS_PER_S)      /* so much is lost at most when the program is killed */
#define SAY_NS   ((gint64)10 * NS_PER_S) /* between lines where there is no terminal, with -v */
#define MIN_FILE 1e5

typedef struct {
	WpLiveInput input;
	const char *write;
	guint64 rotate_bytes;
	gint64 rotate_ns;
	gint64 files;
	const char *output;
	const char *format;
	const char *decode_as;
	const char *token_key;
	gint64 max_flows;
} CaptureOptions;

#define AT(member) .offset = offsetof(CaptureOptions, member)

static const WpOption output_table[] = {
	{ .name = "write",
	  .short_name = 'w',
	  .kind = WP_OPT_TEXT,
	  AT(write),
	  .argument = "PATH",
	  .help = "packets: to a file (.pcapng, .pcap), or to files in this\ndirectory, which is "
		  "made where it is missing" },
	{ .name = "rotate-size",
	  .kind = WP_OPT_BYTES,
	  AT(rotate_bytes),
	  .argument = "BYTES",
	  .minimum = MIN_FILE,
	  .maximum = 1e18,
	  .help = "begin the next file when one is as large" },
	{ .name = "rotate-time",
	  .kind = WP_OPT_DURATION,
	  AT(rotate_ns),
	  .argument = "TIME",
	  .minimum = 1e9,
	  .maximum = 9e18,
	  .help = "begin the next file after so long" },
	{ .name = "files",
	  .kind = WP_OPT_INT,
	  AT(files),
	  .argument = "N",
	  .minimum = 2,
	  .maximum = 1e6,
	  .help = "keep the last N files in the directory, remove older ones" },
	{ .name = "output",
	  .short_name = 'o',
	  .kind = WP_OPT_TEXT,
	  AT(output),
	  .argument = "FILE",
	  .help = "a trace: calls and returns, no packets; by default to\nstandard output where "
		  "there is no -w; .wpt is the binary\nform, .gz, .zst and .lz4 are compressed" },
	{ .name = "format",
	  .kind = WP_OPT_TEXT,
	  AT(format),
	  .argument = "NAME",
	  .help = "of the trace: text, or wpt; by default by suffix" },
	{ .name = NULL },
};

static const WpOption trace_table[] = {
	{ .name = "decode-as",
	  .kind = WP_OPT_TEXT,
	  AT(decode_as),
	  .argument = "PORT=PROTOCOL",
	  .help = "what a server's port speaks, where it is not recognised" },
	{ .name = "token-key",
	  .kind = WP_OPT_TEXT,
	  AT(token_key),
	  .argument = "KEY",
	  .help = "key of token hashes; by default derived from the input" },
	{ .name = "max-flows",
	  .kind = WP_OPT_INT,
	  AT(max_flows),
	  .argument = "N",
	  .minimum = 1,
	  .maximum = 100e6,
	  .help = "flows followed at a time: bounds the memory" },
	{ .name = NULL },
};

static void
declare(WpOptions *parser, gpointer data)
{
	CaptureOptions *options = data;
	wp_live_input_declare(parser, &options->input);
	wp_options_add(parser, "Output", output_table, options);
	wp_options_add(parser, "Reading", trace_table, options);
}

/* --- what is going on --- */

typedef struct {
	WpInvocation *invocation;
	const CaptureOptions *options;
	WpLive *live;
	WpRecorder *recorder; /* or NULL */
	WpRecordSink *writer; /* or NULL */
	WpNotify *notify;
	WpPacketFileInterface interfaces[WP_LIVE_MAX_INTERFACES];
	WpLiveTime began;
	gint64 parent; /* `wirepath run`, behind which this does not go on (manifest.h); 0: none */
	gint64 next_sync_ns;
	gint64 next_say_ns;
	guint64 n_before; /* packets, a second ago */
	gint64 before_ns;
	double rate;
} Session;

static void
session_clear(Session *session)
{
	wp_recorder_free(session->recorder);
	wp_trace_writer_free(session->writer);
	wp_live_free(session->live);
	wp_notify_free(session->notify);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Session, session_clear)

/* Adds what COUNTS tells was missed. */
static void
add_drops(GString *text, const WpLiveCounts *counts)
{
	char kernel[WP_FORMAT_MAX], interface[WP_FORMAT_MAX];

	g_string_append_printf(text, "; dropped: %s by the kernel, %s by the interface",
			       wp_format_count(kernel, counts->kernel_drops),
			       wp_format_count(interface, counts->interface_drops));
	if (counts->gaps)
		g_string_append_printf(text, "; %s down or away",
				       counts->gaps == 1 ? "once" : "several times");
}

static void
add_recorded(GString *text, const WpRecorder *recorder)
{
	char count[WP_FORMAT_MAX], bytes[WP_FORMAT_MAX], lost[WP_FORMAT_MAX];
	guint n_files = wp_recorder_n_files(recorder);

	g_string_append_printf(text, "; %s written, %s in %u file%s",
			       wp_format_count(count, wp_recorder_written(recorder)),
			       wp_format_bytes(bytes, wp_recorder_bytes(recorder)), n_files,
			       n_files == 1 ? "" : "s");
	if (wp_recorder_lost(recorder))
		g_string_append_printf(text, ", %s not written",
				       wp_format_count(lost, wp_recorder_lost(recorder)));
}

/* (transfer full) All so far, in a line; with the rate where that is a moment's picture. */
static char *
describe(const Session *session, gboolean is_moment)
{
	char count[WP_FORMAT_MAX], bytes[WP_FORMAT_MAX], rate[WP_FORMAT_MAX];
	WpLiveCounts total = wp_live_total(session->live);
	GString *text = g_string_new(NULL);

	g_string_append_printf(text, "%s packets, %s", wp_format_count(count, total.packets),
			       wp_format_bytes(bytes, total.bytes));
	if (is_moment)
		g_string_append_printf(text, ", %s/s",
				       wp_format_count(rate, (guint64)session->rate));
	add_drops(text, &total);
	if (session->recorder)
		add_recorded(text, session->recorder);
	return g_string_free(text, FALSE);
}

/* SIGUSR1: a line for each interface, and one for all. */
static void
say_counters(Session *session)
{
	wp_live_refresh(session->live);
	for (guint i = 0; i < wp_live_n_interfaces(session->live); i++) {
		char count[WP_FORMAT_MAX];
		WpLiveCounts counts = wp_live_counts(session->live, i);
		g_autoptr(GString) text = g_string_new(NULL);
		g_string_append_printf(text, "%s: %s packets", wp_live_name(session->live, i),
				       wp_format_count(count, counts.packets));
		add_drops(text, &counts);
		wp_progress_say(session->invocation->progress, text->str);
	}
	g_autofree char *all = describe(session, TRUE);
	wp_progress_say(session->invocation->progress, all);
}

static void
take_signals(Session *session, WpLiveTime now)
{
	for (int number; (number = wp_signals_take());) {
		if (number == SIGUSR1)
			say_counters(session);
		else if (number != SIGHUP)
			wp_live_stop(session->live, TRUE);
		else if (session->recorder)
			(void)wp_recorder_rotate(session->recorder, now);
	}
}

/* Once a second. */
static void
sync_outputs(Session *session, WpLiveTime now)
{
	guint64 n = wp_live_total(session->live).packets;

	session->rate = (double)(n - session->n_before) * NS_PER_S /
			(double)MAX(now.monotonic_ns - session->before_ns, 1);
	session->n_before = n;
	session->before_ns = now.monotonic_ns;
	session->next_sync_ns = now.monotonic_ns + SYNC_NS;
	if (session->writer)
		wp_trace_writer_sync(session->writer);
	g_autofree char *line = describe(session, TRUE);
	g_autofree char *status = g_strconcat("STATUS=", line, NULL);
	wp_notify_send(session->notify, status);
	wp_progress_live(session->invocation->progress, line);
	if (session->invocation->verbosity > 0 && now.monotonic_ns >= session->next_say_ns) {
		session->next_say_ns = now.monotonic_ns + SAY_NS;
		wp_progress_say(session->invocation->progress, line);
	}
}

static void
on_tick(WpLiveTime now, gpointer data)
{
	Session *session = data;

	take_signals(session, now);
	wp_notify_alive(session->notify, now.monotonic_ns);
	if (now.monotonic_ns >= session->next_sync_ns)
		sync_outputs(session, now);
	wp_live_input_timed(&session->options->input, session->live, session->began, now);
	if (session->parent && getppid() != session->parent)
		wp_live_stop(session->live, TRUE);
	/* Where nothing can be recorded any more, the capture has come to its end. */
	if (session->recorder && !wp_recorder_tick(session->recorder, now))
		wp_live_stop(session->live, FALSE);
}

static void
on_frame(const WpFrame *frame, gpointer data)
{
	Session *session = data;

	if (session->recorder)
		wp_recorder_frame(session->recorder, frame);
	wp_live_input_counted(&session->options->input, session->live, frame);
}

static void
on_note(guint interface, WpLiveTime now, const char *text, gpointer data)
{
	Session *session = data;

	wp_live_input_note(session->invocation, session->live, interface, text);
	if (session->recorder)
		wp_recorder_note(session->recorder, interface, now.wall_ns, text);
}

static void
tell_statistics(guint interface, WpPacketFileStatistics *out, gpointer data)
{
	const Session *session = data;
	WpLiveCounts counts = wp_live_counts(session->live, interface);

	out->received = counts.packets + counts.kernel_drops;
	out->kernel_drops = counts.kernel_drops;
	out->interface_drops = counts.interface_drops;
}

/* --- from the beginning to the end --- */

static gboolean
check_options(const CaptureOptions *options, GError **error)
{
	const char *wrong = NULL;

	if (options->input.interfaces.n == 0)
		wrong = "no interface is given: -i IF\n--list-interfaces shows them";
	else if (!options->write && (options->rotate_bytes || options->rotate_ns || options->files))
		wrong = "--rotate-size, --rotate-time and --files are for packets: "
			"name their directory with -w";
	else if (options->format && options->write && !options->output)
		wrong = "--format is of a trace: name that with -o";
	else if (g_strcmp0(options->write, "-") == 0 && g_strcmp0(options->output, "-") == 0)
		wrong = "packets and trace cannot both go to standard output";
	if (wrong)
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE, "%s", wrong);
	return !wrong;
}

static gboolean
open_live(Session *session, GError **error)
{
	const CaptureOptions *options = session->options;
	const WpLiveHooks hooks = { on_frame, on_tick, on_note, session };

	session->live = wp_live_input_open(&options->input, session->invocation, error);
	if (!session->live)
		return FALSE;
	wp_live_set_hooks(session->live, &hooks);
	wp_live_watch(session->live, wp_signals_fd());
	wp_recorder_interfaces(session->live, options->input.filter, session->interfaces);
	return TRUE;
}

static gboolean
open_outputs(Session *session, GError **error)
{
	const CaptureOptions *options = session->options;
	g_autoptr(WpOverwrite) files = wp_overwrite_new();
	const char *trace = options->output ? options->output : "-";

	if (options->write) {
		const WpRecorderOptions recorder = {
			.path = options->write,
			.max_bytes = options->rotate_bytes,
			.max_age_ns = options->rotate_ns,
			.max_files = (guint)options->files,
			.interfaces = session->interfaces,
			.n_interfaces = wp_live_n_interfaces(session->live),
			.statistics = tell_statistics,
			.statistics_data = session,
		};
		session->recorder = wp_recorder_new(&recorder, error);
		if (!session->recorder || (!wp_recorder_is_directory(options->write) &&
					   !wp_overwrite_add_output(files, options->write, error)))
			return FALSE;
	}
	if (options->write && !options->output)
		return TRUE;
	const char *form = wp_trace_form_choose(trace, options->format, error);
	if (!form || !wp_overwrite_add_output(files, trace, error))
		return FALSE;
	session->writer = wp_trace_writer_new_in_place(trace, form, error);
	return session->writer != NULL;
}

static gboolean
give_up_privileges(Session *session, GError **error)
{
	WpSandboxDirectory directory = { .fd = -1 };

	if (session->recorder)
		directory.fd = wp_recorder_directory(session->recorder, &directory.is_own);
	return wp_live_input_give_up(&session->options->input, session->invocation, &directory,
				     directory.fd >= 0, error);
}

/* Packets that nobody decodes. */
static gboolean
read_packets(Session *session, GError **error)
{
	WpSourceResult result;
	WpFrame frame;

	do
		result = wp_live_next(session->live, &frame, error);
	while (result == WP_SOURCE_FRAME || result == WP_SOURCE_WAIT);
	return result != WP_SOURCE_ERROR;
}

static gboolean
read_records(Session *session, GError **error)
{
	const CaptureOptions *options = session->options;
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	WpCaptureOptions capture;

	wp_capture_options_init(&capture);
	capture.live = session->live;
	capture.decode_as = options->decode_as;
	capture.token_key = options->token_key;
	capture.max_flows = (guint32)options->max_flows;
	return wp_capture_run(options->input.interfaces.words, options->input.interfaces.n,
			      &capture, nodes, session->writer, NULL, error);
}

/* Both outputs are finished, whatever became of the other one. */
static gboolean
finish(Session *session, gboolean ok, GError **error)
{
	g_autoptr(GError) late = NULL;

	wp_notify_send(session->notify, "STOPPING=1");
	wp_live_refresh(session->live);
	if (session->recorder &&
	    !wp_recorder_finish(session->recorder, wp_live_now().wall_ns, &late) && ok) {
		g_propagate_error(error, g_steal_pointer(&late));
		ok = FALSE;
	}
	g_autofree char *line = describe(session, FALSE);
	wp_progress_say(session->invocation->progress, line);
	WpLiveCounts total = wp_live_total(session->live);
	if (total.kernel_drops)
		wp_warn(session->invocation,
			"the kernel dropped packets: they came faster than they were read; a "
			"larger --ring bridges bursts, --filter takes less");
	return ok;
}

static int
run(WpInvocation *invocation, gpointer data, GError **error)
{
	g_auto(Session) session = { .invocation = invocation, .options = data };

	if (!check_options(data, error) || !wp_signals_catch(error) ||
	    !open_live(&session, error) || !open_outputs(&session, error))
		return -1;
	session.notify = wp_notify_new();
	if (!give_up_privileges(&session, error))
		return -1;
	session.began = wp_live_now();
	const char *parent = g_getenv(WP_MANIFEST_PARENT);
	if (parent && !wp_parse_int(parent, &session.parent))
		session.parent = 0;
	session.before_ns = session.began.monotonic_ns;
	if (session.recorder && !wp_recorder_start(session.recorder, session.began, error))
		return -1;
	wp_notify_send(session.notify, "READY=1");
	gboolean ok =
		session.writer ? read_records(&session, error) : read_packets(&session, error);
	return finish(&session, ok, error) ? WP_EXIT_OK : -1;
}

const WpCommand wp_command_capture = {
	.name = "capture",
	.synopsis = "[OPTION]... -i IF [-w PATH] [-o FILE]",
	.summary = "packets of live interfaces to a trace, to files, or to both",
	.details =
		"Runs until it is told to end: by SIGINT (Ctrl-C), SIGTERM, --count or --duration. "
		"SIGHUP begins\nthe next file, SIGUSR1 prints what was counted so far.\n\n"
		"Interfaces and outputs are opened first; then capabilities, root and the right to "
		"open other\nfiles are given up; only then packets are looked at.",
	.examples = "  wirepath capture -i eth0\n"
		    "  wirepath capture -i eth0 -o calls.wpt\n"
		    "  wirepath capture -i eth0 -w packets --rotate-size 500M --files 20\n"
		    "  wirepath capture -i eth0 -i eth1 --filter 'port 80' -w web.pcapng "
		    "--duration 5m\n"
		    "  wirepath report packets\n",
	.min_operands = 0,
	.max_operands = 0,
	.options_size = sizeof(CaptureOptions),
	.declare = declare,
	.run = run,
};
