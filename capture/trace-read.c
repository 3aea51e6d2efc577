/*
 * Reader of the text form: lines to records. A line is cut into fields, and each field goes to the function of
 * its column; a line is taken or refused as a whole.
 *
 * Two layouts are read. With a header (#wirepath-trace, #columns) fields are separated by tabs. Without
 * one it is the paper's (section 6.5): time, operation, sender, receiver, id between any white space.
 */
#include "capture/trace-text.h"

#include <string.h>

#include "capture/trace-column.h"
#include "capture/trace.h"

#define VERSION        1
#define MAX_LINE       (1024 * 1024)
#define TOO_LONG       "it is longer than 1 MiB"
#define MAX_FIELDS     64
#define PROGRESS_LINES 16384

typedef struct {
	WpTraceReading *reading;
	WpFieldReader fields;
	WpColumnFunc columns[MAX_FIELDS]; /* NULL = not known: ignored */
	gsize n_columns;
	GString *scratch; /* fields with escapes, unescaped */
	guint64 n_lines;
} Reader;

/* Cuts LINE at each tab. */
static gsize
split_tabs(const char *line, gsize length, WpField *out_fields)
{
	const char *end = line + length;
	gsize n = 0;

	while (n < MAX_FIELDS) {
		const char *tab = memchr(line, '\t', (gsize)(end - line));
		out_fields[n++] = (WpField){ line, (gsize)((tab ? tab : end) - line) };
		if (!tab)
			break;
		line = tab + 1;
	}
	return n;
}

/* Cuts LINE at runs of blanks and tabs. */
static gsize
split_blanks(const char *line, gsize length, WpField *out_fields)
{
	const char *end = line + length;
	gsize n = 0;

	while (n < MAX_FIELDS) {
		while (line < end && (*line == ' ' || *line == '\t'))
			line++;
		if (line == end)
			break;
		const char *start = line;
		while (line < end && *line != ' ' && *line != '\t')
			line++;
		out_fields[n++] = (WpField){ start, (gsize)(line - start) };
	}
	return n;
}

/* One escape of "\t \n \\ \xNN" at TEXT into *OUT_BYTE; returns its length, 0 where it is none. */
static gsize
unescape(const char *text, gsize length, char *out_byte)
{
	static const char names[] = "tn\\", bytes[] = "\t\n\\";

	if (length < 2)
		return 0;
	const char *found = memchr(names, text[1], 3);
	if (found) {
		*out_byte = bytes[found - names];
		return 2;
	}
	if (text[1] != 'x' || length < 4 || !g_ascii_isxdigit(text[2]) ||
	    !g_ascii_isxdigit(text[3]))
		return 0;
	*out_byte = (char)(g_ascii_xdigit_value(text[2]) << 4 | g_ascii_xdigit_value(text[3]));
	return 4;
}

/* Replaces the escapes in FIELDS; FALSE where there is one that means nothing. */
static gboolean
unescape_fields(Reader *reader, gsize line_length, WpField *fields, gsize n)
{
	GString *scratch = g_string_set_size(reader->scratch, line_length);
	gsize used = 0;

	for (gsize f = 0; f < n; f++) {
		const WpField from = fields[f];
		fields[f].text = scratch->str + used;
		for (gsize i = 0; i < from.length;) {
			gsize step = 1;
			scratch->str[used] = from.text[i];
			if (from.text[i] == '\\')
				step = unescape(from.text + i, from.length - i,
						&scratch->str[used]);
			if (step == 0)
				return FALSE;
			i += step;
			used++;
		}
		fields[f].length = (gsize)(scratch->str + used - fields[f].text);
	}
	return TRUE;
}

/* TRUE where FIELDS are names of columns and not a record: "timestamp operation sender ..." */
static gboolean
is_heading(const WpField *fields, gsize n)
{
	return n >= 4 && wp_column_find(fields[0]) == wp_columns_known[0].read &&
	       wp_column_find(fields[1]) == wp_columns_known[1].read;
}

/* Sets the columns to those named; FALSE where a required one is missing. */
static gboolean
set_columns(Reader *reader, const WpField *fields, gsize n, GError **error)
{
	for (gsize i = 0; i < n; i++)
		reader->columns[i] = wp_column_find(fields[i]);
	reader->n_columns = n;
	for (gsize r = 0; r < WP_COLUMNS_REQUIRED - (reader->reading->has_header ? 0 : 1); r++) {
		gsize i = 0;
		while (i < n && reader->columns[i] != wp_columns_known[r].read)
			i++;
		if (i == n) {
			g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_FORMAT,
				    "cannot read the trace %s: line %" G_GUINT64_FORMAT
				    " names no column '%s'",
				    wp_input_path(reader->reading->input), reader->n_lines,
				    wp_columns_known[r].name);
			return FALSE;
		}
	}
	return TRUE;
}

static void
set_default_columns(Reader *reader)
{
	for (gsize i = 0; i < WP_COLUMNS_REQUIRED; i++)
		reader->columns[i] = wp_columns_known[i].read;
	reader->n_columns = WP_COLUMNS_REQUIRED;
}

/* The record of a line; NULL, or what is wrong with the line. */
static const char *
parse_record(Reader *reader, const WpField *fields, gsize n, WpRecord *out_record)
{
	*out_record = (WpRecord){ .begin_ns = WP_NO_TIME,
				  .end_ns = WP_NO_TIME,
				  .id = WP_NO_ID,
				  .bytes = WP_NO_SIZE,
				  .sender = WP_NO_NODE,
				  .receiver = WP_NO_NODE,
				  .end_way_ns = WP_NO_TIME,
				  .kind = G_MAXUINT8 };
	for (gsize i = 0; i < MIN(n, reader->n_columns); i++) {
		const char *bad = reader->columns[i] ? reader->columns[i](&reader->fields,
									  out_record, fields[i])
						     : NULL;
		if (bad)
			return bad;
	}
	if (out_record->receiver == WP_NO_NODE || out_record->sender == WP_NO_NODE ||
	    out_record->begin_ns == WP_NO_TIME || out_record->kind == G_MAXUINT8)
		return "time, kind, sender or receiver is missing";
	if (out_record->end_ns == WP_NO_TIME)
		out_record->end_ns = out_record->begin_ns;
	if (out_record->end_ns < out_record->begin_ns)
		return "time_end is before time";
	wp_field_set_ways(out_record);
	return NULL;
}

static void
count_bad(Reader *reader, const char *reason)
{
	wp_trace_reading_bad(reader->reading, 1, "line", reader->n_lines, reason);
}

static gboolean
read_record(Reader *reader, const WpField *fields, gsize n, GError **error)
{
	WpRecord record;
	const char *bad = parse_record(reader, fields, n, &record);

	if (bad) {
		count_bad(reader, bad);
		return TRUE;
	}
	if (wp_strings_count(wp_nodes_strings(reader->fields.nodes)) > WP_TRACE_MAX_STRINGS) {
		g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_LIMIT,
			    "cannot read the trace %s: it has too many different ids and labels",
			    wp_input_path(reader->reading->input));
		return FALSE;
	}
	memcpy(reader->fields.tokens + record.n_tokens, reader->fields.transports,
	       record.n_transports * sizeof reader->fields.transports[0]);
	if (record.marks & WP_MARK_TRACED)
		wp_trace_context_pack(&reader->fields.context,
				      reader->fields.tokens + wp_record_context_at(&record));
	if (record.marks & WP_MARK_CAUSED)
		wp_record_put_cause(&record, reader->fields.cause, reader->fields.tokens);
	return wp_trace_reading_record(reader->reading, &record, reader->fields.tokens, error);
}

/* #wirepath-trace VERSION */
static gboolean
read_version(Reader *reader, const WpField *fields, gsize n, GError **error)
{
	guint64 version;

	reader->reading->has_header = TRUE;
	if (n > 1 && wp_field_number(fields[1], G_MAXUINT32, &version) && version == VERSION)
		return TRUE;
	g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_FORMAT,
		    "cannot read the trace %s: line %" G_GUINT64_FORMAT
		    " does not say version %d; use the program that wrote it",
		    wp_input_path(reader->reading->input), reader->n_lines, VERSION);
	return FALSE;
}

static gboolean
read_columns(Reader *reader, const WpField *fields, gsize n, GError **error)
{
	reader->reading->has_header = TRUE;
	return set_columns(reader, fields + 1, n - 1, error);
}

/* #node KEY [SOURCE COUNT NAME] */
static gboolean
read_node_line(Reader *reader, const WpField *fields, gsize n, GError **error)
{
	guint32 node;
	WpNameSource source;
	guint64 count;
	char word[16];
	const char *bad = n < 2 ? "a #node line names no node"
				: wp_field_node(&reader->fields, fields[1], &node);

	if (bad)
		count_bad(reader, bad);
	else if (n >= 5 && wp_field_copy(fields[2], word, sizeof word) &&
		 wp_name_source_from_name(word, &source) &&
		 wp_field_number(fields[3], G_MAXINT64, &count))
		wp_nodes_add_hints(reader->fields.nodes, node, source, fields[4].text,
				   (gssize)fields[4].length, count);
	else if (n > 2)
		count_bad(reader, "a #node line is not KEY, SOURCE, COUNT, NAME");
	return TRUE;
}

/* NAME N [SENDER RECEIVER]; counters of other versions are left out. */
static gboolean
read_count(Reader *reader, const WpField *fields, gsize n, gboolean is_part)
{
	WpCounter counter;
	guint64 value;
	guint32 sender, receiver;
	char name[64];

	if (n < 3 || !wp_field_number(fields[2], G_MAXINT64, &value)) {
		count_bad(reader, "a #counter line is not NAME, NUMBER");
		return TRUE;
	}
	if (!wp_field_copy(fields[1], name, sizeof name) || !wp_counter_from_name(name, &counter))
		return TRUE;
	if (n < 5) {
		if (!is_part)
			wp_trace_reading_total(reader->reading, counter, value);
		return TRUE;
	}
	const char *bad = wp_field_node(&reader->fields, fields[3], &sender);
	if (!bad)
		bad = wp_field_node(&reader->fields, fields[4], &receiver);
	if (bad) {
		count_bad(reader, bad);
		return TRUE;
	}
	(is_part ? wp_trace_reading_part : wp_trace_reading_pair)(reader->reading, counter, sender,
								  receiver, value);
	return TRUE;
}

static gboolean
read_counter_line(Reader *reader, const WpField *fields, gsize n, GError **error)
{
	return read_count(reader, fields, n, FALSE);
}

static gboolean
read_counted_line(Reader *reader, const WpField *fields, gsize n, GError **error)
{
	return read_count(reader, fields, n, TRUE);
}

static gboolean
read_setting_line(Reader *reader, const WpField *fields, gsize n, GError **error)
{
	g_autofree char *key = n > 1 ? g_strndup(fields[1].text, fields[1].length) : NULL;
	g_autofree char *value = n > 2 ? g_strndup(fields[2].text, fields[2].length) : NULL;

	if (!key) {
		count_bad(reader, "a #setting line has no key");
		return TRUE;
	}
	return wp_trace_reading_setting(reader->reading, key, value ? value : "", error);
}

/* A line that begins with '#': one of ours, or a comment. */
static gboolean
read_header_line(Reader *reader, const WpField *fields, gsize n, GError **error)
{
	static const struct {
		const char *name;
		gboolean (*read)(Reader *reader, const WpField *fields, gsize n, GError **error);
	} headers[] = {
		{ "#wirepath-trace", read_version }, { "#columns", read_columns },
		{ "#node", read_node_line },         { "#counter", read_counter_line },
		{ "#setting", read_setting_line },   { "#counted", read_counted_line },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(headers); i++)
		if (n > 0 && wp_field_is(fields[0], headers[i].name))
			return headers[i].read(reader, fields, n, error);
	return TRUE;
}

/* Cuts LINE into FIELDS, as its layout wants; FALSE where an escape means nothing. */
static gboolean
cut_line(Reader *reader, const char *line, gsize length, WpField *fields, gsize *out_n)
{
	gboolean is_ours = reader->reading->has_header || line[0] == '#';

	*out_n = is_ours && memchr(line, '\t', length) ? split_tabs(line, length, fields)
						       : split_blanks(line, length, fields);
	return !is_ours || !memchr(line, '\\', length) ||
	       unescape_fields(reader, length, fields, *out_n);
}

/* One line, without its newline. */
static gboolean
read_line(Reader *reader, const char *line, gsize length, GError **error)
{
	WpField fields[MAX_FIELDS];
	gsize n;

	reader->n_lines++;
	if (length > 0 && line[length - 1] == '\r')
		length--;
	if (length == 0)
		return TRUE;
	if (length > MAX_LINE) {
		count_bad(reader, TOO_LONG);
		return TRUE;
	}
	if (!cut_line(reader, line, length, fields, &n)) {
		count_bad(reader, "an escape is none of \\t \\n \\\\ \\xNN");
		return TRUE;
	}
	if (line[0] == '#')
		return read_header_line(reader, fields, n, error);
	if (!reader->reading->has_header && reader->reading->n_good == 0 && is_heading(fields, n))
		return set_columns(reader, fields, n, error);
	return read_record(reader, fields, n, error);
}

/* All whole lines of DATA; *OUT_USED is what they take. */
static gboolean
read_lines(Reader *reader, const guint8 *data, gsize length, gsize *out_used, GError **error)
{
	const char *line = (const char *)data, *end = line + length;

	while (!reader->reading->is_stopped) {
		const char *newline = memchr(line, '\n', (gsize)(end - line));
		if (!newline)
			break;
		if (!read_line(reader, line, (gsize)(newline - line), error))
			return FALSE;
		line = newline + 1;
		if (reader->n_lines % PROGRESS_LINES == 0)
			wp_trace_reading_go_on(reader->reading);
	}
	*out_used = (gsize)(line - (const char *)data);
	return TRUE;
}

/*
 * What stands after the last newline. In a file with our header that is half a line, as we end every
 * line; a record must not be made of it. Others may have left out the newline.
 */
static gboolean
read_rest(Reader *reader, const guint8 *data, gsize length, GError **error)
{
	gboolean is_cut = wp_input_is_cut(reader->reading->input) ||
			  (length > 0 && reader->reading->has_header);

	if (is_cut)
		wp_trace_reading_cut(reader->reading);
	if (is_cut || length == 0 || reader->reading->is_stopped)
		return TRUE;
	return read_line(reader, (const char *)data, length, error);
}

/* Passes over a line that is too long; FALSE on error. */
static gboolean
skip_line(Reader *reader, GError **error)
{
	const guint8 *data, *newline = NULL;

	reader->n_lines++;
	count_bad(reader, TOO_LONG);
	while (!newline) {
		gssize n = wp_input_peek(reader->reading->input, 1, &data, error);
		if (n <= 0)
			return n == 0;
		newline = memchr(data, '\n', (gsize)n);
		wp_input_consume(reader->reading->input,
				 newline ? (gsize)(newline + 1 - data) : (gsize)n);
	}
	return TRUE;
}

static gboolean
read_all(Reader *reader, GError **error)
{
	gsize want = 1;

	while (!reader->reading->is_stopped) {
		const guint8 *data;
		gsize used;
		gssize n = wp_input_peek(reader->reading->input, want, &data, error);
		if (n < 0)
			return FALSE;
		if (!read_lines(reader, data, (gsize)n, &used, error))
			return FALSE;
		wp_input_consume(reader->reading->input, used);
		if ((gsize)n < want)
			return read_rest(reader, data + used, (gsize)n - used, error);
		want = (gsize)n - used + 1;
		if (want > MAX_LINE && !reader->reading->is_stopped) {
			if (!skip_line(reader, error))
				return FALSE;
			want = 1;
		}
	}
	return TRUE;
}

gboolean
wp_trace_text_read(WpTraceReading *reading, GError **error)
{
	g_autofree Reader *reader = g_new0(Reader, 1);

	reader->reading = reading;
	wp_field_reader_init(&reader->fields, reading->nodes);
	reader->scratch = g_string_new(NULL);
	set_default_columns(reader);
	gboolean ok = read_all(reader, error);
	wp_field_reader_clear(&reader->fields);
	g_string_free(reader->scratch, TRUE);
	return ok;
}

/* TRUE where the first line that is no comment begins with a time and a kind, or is a heading. */
static gboolean
is_first_line(const char *line, gsize length)
{
	WpField fields[MAX_FIELDS];
	WpRecord record;
	gsize n = split_blanks(line, length, fields);

	if (n < 4)
		return FALSE;
	return is_heading(fields, n) || (!wp_columns_known[0].read(NULL, &record, fields[0]) &&
					 !wp_columns_known[1].read(NULL, &record, fields[1]));
}

gboolean
wp_trace_text_detect(const guint8 *head, gsize length)
{
	static const char magic[] = "#wirepath-trace";
	const char *line = (const char *)head, *end = line + length;

	if (length >= strlen(magic) && memcmp(head, magic, strlen(magic)) == 0)
		return TRUE;
	while (line < end) {
		const char *newline = memchr(line, '\n', (gsize)(end - line));
		const char *stop = newline ? newline : end;
		if (stop > line && *line != '#' && *line != '\r')
			return is_first_line(line, (gsize)(stop - line));
		line = stop + 1;
	}
	return FALSE;
}
