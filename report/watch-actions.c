/* Actions of a watch. */
#include "report/watch-actions.h"

#include <stdio.h>
#include <string.h>

#include "capture/recent.h"
#include "capture/recorder.h"
#include "report/errands.h"
#include "report/error.h"
#include "report/escape.h"
#include "report/format.h"
#include "report/terminal.h"

#define DEFAULT_MEMORY (64 * 1024 * 1024)
#define DEFAULT_FILES  20

/* Of a name in the environment of a command. */
#define MAX_VALUE 600

struct WpWatchActions {
	const WpInvocation *invocation;
	const WpWatchActionsOptions *options;
	WpTriggers *triggers; /* NULL: there are no rules */
	gboolean marks, prints, has_snapshots;
	gint64 span_ns;      /* of a snapshot; 0 = the window */
	GPtrArray *commands; /* const char * */
	WpErrands *errands;  /* or NULL */

	WpRecent *recent; /* or NULL, as the next ones */
	const WpLive *live;
	WpRecorder *recorder;
	WpPacketFileInterface interfaces[WP_LIVE_MAX_INTERFACES];
	guint64 given[WP_LIVE_MAX_INTERFACES]; /* frames, to the file at hand */
	gboolean has_failed;                   /* the last time that packets were to be written */
};

#define AT(member) .offset = offsetof(WpWatchActionsOptions, member)

static const WpOption table[] = {
	{ .name = "when",
	  .kind = WP_OPT_WORDS,
	  AT(rules),
	  .argument = "EXPR",
	  .help = "a rule on each operation in each window, such as\n"
		  "'p95 > 50ms && operation ~ \"GET *\"' or 'change >= 2';\nrepeatable" },
	{ .name = "do",
	  .kind = WP_OPT_WORDS,
	  AT(actions),
	  .argument = "ACTION",
	  .help = "when a rule begins to hold: mark (in the page: the\ndefault), print (a line), "
		  "exec:COMMAND, snapshot[:TIME]\n(the packets of the window, or of so much time "
		  "before its\nend, to a file); repeatable" },
	{ .name = "snapshots",
	  .kind = WP_OPT_TEXT,
	  AT(directory),
	  .argument = "DIR",
	  .help = "where snapshots are written; it is made where it is missing" },
	{ .name = "snapshot-memory",
	  .kind = WP_OPT_BYTES,
	  AT(memory),
	  .argument = "BYTES",
	  .minimum = WP_RECENT_MIN_BYTES,
	  .maximum = 1e12,
	  .help = "packets kept in memory for them: the last ones; by default\n64Mi" },
	{ .name = "snapshot-files",
	  .kind = WP_OPT_INT,
	  AT(files),
	  .argument = "N",
	  .minimum = 2,
	  .maximum = 1e6,
	  .help = "keep the last N of them, remove older ones; by default 20" },
	{ .name = "list-fields",
	  .kind = WP_OPT_ACTION,
	  .action = wp_triggers_list_fields,
	  .help = "what rules can compare" },
	{ .name = NULL },
};

void
wp_watch_actions_declare(WpOptions *parser, WpWatchActionsOptions *options)
{
	options->memory = DEFAULT_MEMORY;
	options->files = DEFAULT_FILES;
	wp_options_add(parser, "Triggers", table, options);
}

/* --- what is to be done --- */

static gboolean
read_snapshot(WpWatchActions *actions, const char *time, GError **error)
{
	actions->has_snapshots = TRUE;
	if (!time || (wp_parse_duration(time, &actions->span_ns) && actions->span_ns > 0))
		return TRUE;
	g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
		    "--do snapshot:%s: a time with its unit is expected, such as snapshot:30s",
		    time);
	return FALSE;
}

static void
refuse(const char *text, const char *name, GError **error)
{
	static const char *const names[] = { "mark", "print", "exec", "snapshot", NULL };
	const char *nearest = wp_nearest_name(name, names);
	gboolean helps = nearest && strcmp(nearest, name) != 0;

	g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
		    "--do %s: an action is expected: mark, print, exec:COMMAND or "
		    "snapshot[:TIME]%s%s%s",
		    text, helps ? "\ndid you mean " : "", helps ? nearest : "", helps ? "?" : "");
}

static gboolean
read_action(WpWatchActions *actions, const char *text, GError **error)
{
	const char *colon = strchr(text, ':');
	g_autofree char *name = colon ? g_strndup(text, (gsize)(colon - text)) : g_strdup(text);

	if (strcmp(name, "snapshot") == 0)
		return read_snapshot(actions, colon ? colon + 1 : NULL, error);
	if (strcmp(name, "exec") == 0 && colon && colon[1])
		g_ptr_array_add(actions->commands, (gpointer)(colon + 1));
	else if (strcmp(text, "mark") == 0)
		actions->marks = TRUE;
	else if (strcmp(text, "print") == 0)
		actions->prints = TRUE;
	else {
		refuse(text, name, error);
		return FALSE;
	}
	return TRUE;
}

static gboolean
check(const WpWatchActions *actions, gboolean is_live, GError **error)
{
	const WpWatchActionsOptions *options = actions->options;
	const char *wrong = NULL;

	if (options->actions.n > 0 && options->rules.n == 0)
		wrong = "--do needs a rule: --when 'change >= 2'";
	else if (actions->has_snapshots && !is_live)
		wrong = "--do snapshot keeps packets of interfaces (-i IF), not of inputs, which "
			"are there anyway";
	else if (actions->has_snapshots && !options->directory)
		wrong = "--do snapshot needs a directory: --snapshots DIR";
	else if (options->directory && !actions->has_snapshots)
		wrong = "--snapshots needs --do snapshot";
	if (wrong)
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE, "%s", wrong);
	return !wrong;
}

WpWatchActions *
wp_watch_actions_new(const WpInvocation *invocation, const WpWatchActionsOptions *options,
		     gboolean is_live, const char *user, GError **error)
{
	g_autoptr(WpWatchActions) actions = g_new0(WpWatchActions, 1);

	actions->invocation = invocation;
	actions->options = options;
	actions->commands = g_ptr_array_new();
	for (guint i = 0; i < options->actions.n; i++)
		if (!read_action(actions, options->actions.words[i], error))
			return NULL;
	actions->marks = actions->marks || options->actions.n == 0;
	if (!check(actions, is_live, error))
		return NULL;
	if (options->rules.n > 0) {
		actions->triggers = wp_triggers_new(options->rules.words, options->rules.n, error);
		if (!actions->triggers)
			return NULL;
	}
	if (actions->commands->len > 0) {
		actions->errands = wp_errands_new(is_live, user, error);
		if (!actions->errands)
			return NULL;
	}
	return g_steal_pointer(&actions);
}

void
wp_watch_actions_free(WpWatchActions *actions)
{
	if (!actions)
		return;
	wp_triggers_free(actions->triggers);
	g_ptr_array_unref(actions->commands);
	wp_errands_free(actions->errands);
	wp_recent_free(actions->recent);
	wp_recorder_free(actions->recorder);
	g_free(actions);
}

/* --- packets --- */

/* A snapshot tells of the packets in it. */
static void
tell_statistics(guint interface, WpPacketFileStatistics *out, gpointer data)
{
	const WpWatchActions *actions = data;
	out->received = actions->given[interface];
}

gboolean
wp_watch_actions_open(WpWatchActions *actions, const WpLive *live, const char *filter,
		      GError **error)
{
	const WpRecorderOptions options = {
		.path = actions->options->directory,
		.max_files = (guint)actions->options->files,
		.interfaces = actions->interfaces,
		.n_interfaces = wp_live_n_interfaces(live),
		.statistics = tell_statistics,
		.statistics_data = actions,
	};

	if (!actions->has_snapshots)
		return TRUE;
	wp_recorder_interfaces(live, filter, actions->interfaces);
	if (!wp_recorder_is_directory(options.path)) {
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			    "--snapshots %s: that is a file, and a directory is needed",
			    options.path);
		return FALSE;
	}
	actions->live = live;
	actions->recorder = wp_recorder_new(&options, error);
	actions->recent = wp_recent_new(actions->options->memory);
	return actions->recorder != NULL;
}

WpSandboxDirectory
wp_watch_actions_directory(const WpWatchActions *actions)
{
	WpSandboxDirectory directory = { .fd = -1 };

	if (actions->recorder)
		directory.fd = wp_recorder_directory(actions->recorder, &directory.is_own);
	return directory;
}

void
wp_watch_actions_frame(WpWatchActions *actions, const WpFrame *frame)
{
	if (actions->recent)
		wp_recent_add(actions->recent, frame);
}

static void
record(const WpFrame *frame, gpointer data)
{
	WpWatchActions *actions = data;
	actions->given[frame->interface]++;
	wp_recorder_frame(actions->recorder, frame);
}

/* Says what was kept, or why nothing was; the latter once until it goes well again. */
static void
say_snapshot(WpWatchActions *actions, const char *path, guint64 n, gint64 from_ns,
	     const GError *failure)
{
	char count[WP_FORMAT_MAX], date[WP_FORMAT_MAX];
	gint64 begin_ns = wp_recent_begin_ns(actions->recent);

	if (failure && !actions->has_failed)
		wp_progress_say(actions->invocation->progress, failure->message);
	actions->has_failed = failure != NULL;
	if (failure)
		return;
	gboolean is_short = wp_recent_is_cut(actions->recent) && begin_ns > from_ns;
	g_autofree char *line = g_strdup_printf("%s packets in %s%s%s%s", wp_format_count(count, n),
						path, is_short ? ", only from " : "",
						is_short ? wp_format_date(date, begin_ns) : "",
						is_short ? " on (--snapshot-memory)" : "");
	wp_progress_say(actions->invocation->progress, line);
}

/* (transfer full) The file of the packets for WINDOW; NULL: there is none. */
static char *
take_snapshot(WpWatchActions *actions, const WpWatchWindow *window)
{
	g_autoptr(GError) error = NULL;
	WpLiveTime now = wp_live_now();
	gint64 from_ns = actions->span_ns ? window->end_ns - actions->span_ns : window->begin_ns;
	guint64 n = 0;

	memset(actions->given, 0, sizeof actions->given);
	gboolean ok = wp_recorder_start(actions->recorder, now, &error);
	g_autofree char *path = ok ? wp_recorder_path(actions->recorder) : NULL;
	if (ok) {
		n = wp_recent_foreach(actions->recent, from_ns, record, actions);
		ok = wp_recorder_finish(actions->recorder, now.wall_ns, &error);
	}
	say_snapshot(actions, path, n, from_ns, ok ? NULL : error);
	return ok ? g_steal_pointer(&path) : NULL;
}

/* --- commands --- */

/* VALUE may be anything that came with a packet. */
static void
add_variable(GPtrArray *variables, const char *name, const char *value)
{
	g_autofree char *safe = wp_escape_terminal(value, TRUE);

	if (strlen(safe) > MAX_VALUE) {
		char *end = g_utf8_find_prev_char(safe, safe + MAX_VALUE);
		*(end ? end : safe) = '\0';
	}
	g_ptr_array_add(variables, g_strdup_printf("WIREPATH_%s=%s", name, safe));
}

static void
run_commands(WpWatchActions *actions, const WpTriggered *triggered, const WpWatchWindow *window,
	     const char *snapshot)
{
	g_autoptr(GPtrArray) variables = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *line = wp_triggered_line(triggered);
	char date[WP_FORMAT_MAX];

	add_variable(variables, "TEXT", line);
	add_variable(variables, "RULE", triggered->rule);
	add_variable(variables, triggered->is_pattern ? "PATTERN" : "OPERATION",
		     triggered->subject);
	add_variable(variables, "SINCE", wp_format_date(date, window->begin_ns));
	g_ptr_array_add(variables,
			g_strdup_printf("WIREPATH_COUNT=%" G_GUINT64_FORMAT, triggered->count));
	g_ptr_array_add(variables,
			g_strdup_printf("WIREPATH_ERRORS=%" G_GUINT64_FORMAT, triggered->errors));
	g_ptr_array_add(variables, g_strdup_printf("WIREPATH_P95_NS=%.0f", triggered->p95_ns));
	if (snapshot)
		add_variable(variables, "SNAPSHOT", snapshot);
	g_ptr_array_add(variables, NULL);
	for (guint i = 0; i < actions->commands->len; i++)
		if (!wp_errands_run(actions->errands, actions->commands->pdata[i],
				    (char *const *)variables->pdata))
			wp_progress_say(actions->invocation->progress,
					"--do exec: a command was not run: those before it still "
					"run, or it is too long");
}

/* --- all --- */

static void
print(const WpTriggered *triggered, gint64 begin_ns, const WpInvocation *invocation)
{
	char date[WP_FORMAT_MAX];
	const WpStyle style = wp_style_for(TRUE, invocation->color);
	g_autofree char *line = wp_triggered_line(triggered);
	g_autofree char *safe = wp_escape_terminal(line, style.utf8);

	wp_progress_clear(invocation->progress);
	fprintf(stderr, "%s %s\n", wp_format_date(date, begin_ns), safe);
}

const WpTriggered *
wp_watch_actions_window(WpWatchActions *actions, const WpWatchWindow *window, guint *out_n)
{
	guint n = 0;
	const WpTriggered *triggered =
		actions->triggers ? wp_triggers_ask(actions->triggers, window, &n) : NULL;
	gboolean begins_any = FALSE;

	for (guint i = 0; i < n; i++)
		begins_any = begins_any || triggered[i].state == WP_TRIGGER_BEGINS;
	g_autofree char *snapshot =
		begins_any && actions->recorder ? take_snapshot(actions, window) : NULL;
	for (guint i = 0; i < n; i++) {
		gboolean begins = triggered[i].state == WP_TRIGGER_BEGINS;
		if (actions->prints && triggered[i].state != WP_TRIGGER_LASTS)
			print(&triggered[i], window->begin_ns, actions->invocation);
		if (begins && actions->errands)
			run_commands(actions, &triggered[i], window, snapshot);
	}
	*out_n = actions->marks ? n : 0;
	return triggered;
}
