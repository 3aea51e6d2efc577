/*
 * Trace files of all forms: which form a file has, and what does not depend on it. A form reads and
 * writes records; here is what comes before, after, and when something goes wrong.
 */
#include "capture/trace-io.h"

#include <string.h>

#include "capture/trace-format.h"
#include "capture/trace.h"

#define HEAD_BYTES 4096 /* enough of a file to tell its form */

const WpTraceFormat *const wp_trace_formats[] = {
	&wp_trace_format_wpt,
	&wp_trace_format_text,
	NULL,
};

static gsize
length_without(const char *path, gsize length, const char *suffix)
{
	gsize n = strlen(suffix);
	return length >= n && memcmp(path + length - n, suffix, n) == 0 ? length - n : length;
}

static const WpTraceFormat *
format_of_path(const char *path)
{
	const WpTraceFormat *const *format = wp_trace_formats;
	gsize length = wp_output_plain_length(path);
	while (format[1] && length_without(path, length, (*format)->suffix) == length)
		format++;
	return *format;
}

static const WpTraceFormat *
format_by_name(const char *name, GError **error)
{
	g_autoptr(GString) names = g_string_new(NULL);
	for (const WpTraceFormat *const *format = wp_trace_formats; *format; format++) {
		if (strcmp((*format)->name, name) == 0)
			return *format;
		g_string_append_printf(names, "%s%s", names->len ? ", " : "", (*format)->name);
	}
	g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_OPTION,
		    "there is no form of traces '%s'; there are: %s", name, names->str);
	return NULL;
}

static WpRecordSink *
new_writer(const char *path, const char *name, WpOutput *(*open)(const char *path, GError **error),
	   GError **error)
{
	const WpTraceFormat *format = name ? format_by_name(name, error) : format_of_path(path);
	if (!format)
		return NULL;
	WpOutput *output = open(path, error);
	if (!output)
		return NULL;
	WpTraceWriter *writer = format->writer_new();
	writer->format = format;
	writer->output = output;
	return &writer->sink;
}

WpRecordSink *
wp_trace_writer_new_as(const char *path, const char *name, GError **error)
{
	return new_writer(path, name, wp_output_open, error);
}

WpRecordSink *
wp_trace_writer_new_in_place(const char *path, const char *name, GError **error)
{
	return new_writer(path, name, wp_output_open_in_place, error);
}

void
wp_trace_writer_sync(WpRecordSink *sink)
{
	WpTraceWriter *writer = (WpTraceWriter *)sink;

	if (!writer->nodes || writer->is_finished)
		return;
	if (writer->format->writer_sync)
		writer->format->writer_sync(writer);
	wp_output_sync(writer->output);
}

WpRecordSink *
wp_trace_writer_new(const char *path, GError **error)
{
	return wp_trace_writer_new_as(path, NULL, error);
}

/* Adds LINE to what ERROR says. */
static void
add_line(GError *error, const char *line)
{
	char *message = g_strconcat(error->message, "\n", line, NULL);
	g_free(error->message);
	error->message = message;
}

void
wp_trace_writer_stop(WpRecordSink *sink, GError **error)
{
	WpTraceWriter *writer = (WpTraceWriter *)sink;
	gboolean is_told = wp_output_failed(writer->output, NULL);
	if (!writer->is_finished && writer->has_records)
		writer->format->writer_finish(writer);
	else if (!writer->is_finished)
		wp_output_discard(writer->output);
	wp_output_stop(writer->output);
	g_autofree char *rest = wp_output_rest(writer->output);
	if (rest && error && *error && !is_told)
		add_line(*error, rest);
}

void
wp_trace_writer_free(WpRecordSink *sink)
{
	WpTraceWriter *writer = (WpTraceWriter *)sink;

	if (!writer)
		return;
	wp_trace_writer_stop(sink, NULL);
	wp_output_free(writer->output);
	writer->format->writer_clear(writer);
	if (writer->nodes)
		wp_nodes_unref(writer->nodes);
	g_free(writer);
}

static gboolean
is_wanted(const WpTraceReadOptions *options, const WpRecord *record)
{
	return !options ||
	       ((options->from_ns == WP_NO_TIME || record->begin_ns >= options->from_ns) &&
		(options->to_ns == WP_NO_TIME || record->begin_ns < options->to_ns));
}

static gboolean
pass_part(WpTraceReading *reading, GError **error)
{
	if (!reading->part)
		return TRUE;
	g_autoptr(WpCounters) part = g_steal_pointer(&reading->part);
	reading->sink_failed = !wp_sink_counted(reading->sink, part, error);
	return !reading->sink_failed;
}

gboolean
wp_trace_reading_record(WpTraceReading *reading, const WpRecord *record, const guint32 *tokens,
			GError **error)
{
	reading->n_good++;
	if (!pass_part(reading, error))
		return FALSE;
	if (!is_wanted(reading->options, record))
		return TRUE;
	reading->sink_failed = !wp_sink_record(reading->sink, record, tokens, error);
	return !reading->sink_failed;
}

gboolean
wp_trace_reading_setting(WpTraceReading *reading, const char *key, const char *value,
			 GError **error)
{
	if (!pass_part(reading, error))
		return FALSE;
	reading->sink_failed = !wp_sink_setting(reading->sink, key, value, error);
	return !reading->sink_failed;
}

void
wp_trace_reading_total(WpTraceReading *reading, WpCounter counter, guint64 n)
{
	guint64 *total = &reading->totals[counter];
	*total += MIN(n, G_MAXINT64 - *total);
}

void
wp_trace_reading_pair(WpTraceReading *reading, WpCounter counter, guint32 sender, guint32 receiver,
		      guint64 n)
{
	guint64 *paired = &reading->paired[counter];
	n = MIN(n, G_MAXINT64 - *paired);
	*paired += n;
	wp_counters_add_pair(reading->counters, counter, sender, receiver, n);
}

void
wp_trace_reading_part(WpTraceReading *reading, WpCounter counter, guint32 sender, guint32 receiver,
		      guint64 n)
{
	if (!reading->part)
		reading->part = wp_counters_new();
	wp_counters_add_pair(reading->part, counter, sender, receiver, MIN(n, G_MAXUINT32));
}

void
wp_trace_reading_bad(WpTraceReading *reading, guint64 n, const char *where, guint64 place,
		     const char *reason)
{
	wp_counters_add(reading->counters, WP_COUNT_TRACE_LINES_BAD, n);
	reading->n_bad += n;
	if (!reading->first_bad)
		reading->first_bad =
			g_strdup_printf("%s %" G_GUINT64_FORMAT ": %s", where, place, reason);
}

void
wp_trace_reading_cut(WpTraceReading *reading)
{
	/* A signal may have been what cut it. */
	if (wp_trace_reading_go_on(reading))
		wp_counters_add(reading->counters, WP_COUNT_INPUT_TRUNCATED, 1);
}

gboolean
wp_trace_reading_go_on(WpTraceReading *reading)
{
	const WpTraceReadOptions *options = reading->options;
	guint64 read, size;

	if (!options || !options->progress || reading->is_stopped)
		return !reading->is_stopped;
	wp_input_progress(reading->input, &read, &size);
	reading->is_stopped =
		!options->progress(read, size, reading->n_good, options->progress_data);
	return !reading->is_stopped;
}

/* What the file's counters told in all, less what the pairs among them have added already. */
static void
add_totals(WpTraceReading *reading)
{
	for (WpCounter i = 0; i < WP_N_COUNTERS; i++)
		if (reading->totals[i] > reading->paired[i])
			wp_counters_add(reading->counters, i,
					reading->totals[i] - reading->paired[i]);
}

/* What comes after the last record. */
static gboolean
finish(WpTraceReading *reading, GError **error)
{
	if (reading->is_stopped)
		wp_counters_add(reading->counters, WP_COUNT_INPUT_STOPPED, 1);
	if (reading->first_bad &&
	    !wp_sink_setting(reading->sink, "first-bad-line", reading->first_bad, error))
		return FALSE;
	add_totals(reading);
	return pass_part(reading, error) &&
	       wp_sink_counters(reading->sink, reading->counters, error) &&
	       wp_sink_end(reading->sink, error);
}

static const WpTraceFormat *
format_of_input(WpInput *input, GError **error)
{
	const WpTraceFormat *const *format = wp_trace_formats;
	const guint8 *head;
	gssize n = wp_input_peek(input, HEAD_BYTES, &head, error);
	if (n < 0)
		return NULL;
	while (format[1] && !(*format)->detect(head, (gsize)n))
		format++;
	return *format;
}

static gboolean
read_trace(WpTraceReading *reading, GError **error)
{
	const WpTraceFormat *format = format_of_input(reading->input, error);

	if (!format || !wp_sink_begin(reading->sink, reading->nodes, error))
		return FALSE;
	if (!format->read(reading, error)) {
		/* What was read before is good, unless it is the sink that failed. */
		wp_counters_add(reading->counters, WP_COUNT_INPUT_DAMAGED, 1);
		if (reading->n_good > 0 && !reading->sink_failed)
			(void)finish(reading, NULL);
		return FALSE;
	}
	(void)wp_trace_reading_go_on(reading);
	if (reading->n_good == 0 && (reading->n_bad > 0 || !reading->has_header) &&
	    !reading->is_stopped) {
		g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_FORMAT,
			    "cannot read %s as a trace: %s", wp_input_path(reading->input),
			    reading->first_bad ? reading->first_bad : "there is nothing in it");
		return FALSE;
	}
	return finish(reading, error);
}

gboolean
wp_trace_read(const char *path, const WpTraceReadOptions *options, WpNodes *nodes,
	      WpRecordSink *sink, GError **error)
{
	g_autoptr(WpInput) input =
		wp_input_open_or_take(path, options ? options->standard_input : NULL, error);
	if (!input)
		return FALSE;
	g_autofree WpTraceReading *reading = g_new0(WpTraceReading, 1);
	g_autoptr(WpCounters) counters = wp_counters_new();
	reading->input = input;
	reading->nodes = nodes;
	reading->sink = sink;
	reading->options = options;
	reading->counters = counters;
	gboolean ok = read_trace(reading, error);
	g_free(reading->first_bad);
	wp_counters_free(reading->part);
	return ok;
}

gboolean
wp_trace_is_trace(const guint8 *head, gsize length)
{
	for (const WpTraceFormat *const *format = wp_trace_formats; *format; format++)
		if ((*format)->detect(head, length))
			return TRUE;
	return FALSE;
}
