/* CSV, read byte by byte from zlib, which passes plain files through. */
#include "infer/csv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <zlib.h>

#include "infer/pattern.h"
#include "infer/text-file.h"

/* 146 years from 1970, as for spans: the difference of two is a gint64. */
#define TIME_MAX (((gint64)1 << 62) - 1)

struct WpCsv {
	gzFile file;
	char *path;
	char *what;
	GHashTable *columns; /* name -> number + 1 */
	GString *text;       /* fields of the row, each with a NUL */
	GArray *fields;      /* gsize: offsets into text */
	guint line;          /* where the row begins */
	guint next_line;
};

gboolean
wp_csv_fail(const WpCsv *csv, GError **error, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	g_autofree char *message = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	g_set_error(error, WP_INFER_ERROR, WP_INFER_ERROR_FORMAT,
		    "cannot read %s from %s: line %u: %s", csv->what, csv->path, csv->line,
		    message);
	return FALSE;
}

static void
end_field(WpCsv *csv, gsize *begin)
{
	g_string_append_c(csv->text, '\0');
	g_array_append_val(csv->fields, *begin);
	*begin = csv->text->len;
}

/* Takes what follows a quote inside a quoted field; FALSE where that ends the quotes. */
static gboolean
is_doubled_quote(WpCsv *csv)
{
	int next = gzgetc(csv->file);
	if (next == '"')
		return TRUE;
	if (next >= 0)
		gzungetc(next, csv->file);
	return FALSE;
}

/* Takes one byte; FALSE where it ends the row. */
static gboolean
take_byte(WpCsv *csv, int c, gboolean *quoted, gsize *begin)
{
	if (c == '"' && (!*quoted || !is_doubled_quote(csv)))
		*quoted = !*quoted;
	else if (*quoted || !strchr(",\r\n", c))
		g_string_append_c(csv->text, (char)c);
	else if (c == ',')
		end_field(csv, begin);
	return *quoted || c != '\n';
}

/* FALSE with ERROR set where the last read failed. */
static gboolean
check_file(const WpCsv *csv, GError **error)
{
	int status = Z_OK;
	const char *problem = gzerror(csv->file, &status);

	if (status == Z_OK || status == Z_STREAM_END)
		return TRUE;
	return wp_csv_fail(csv, error, "%s", status == Z_ERRNO ? g_strerror(errno) : problem);
}

/* Reads one row, or an empty line as a row of one empty field. FALSE at the end or with ERROR set. */
static gboolean
read_row(WpCsv *csv, GError **error)
{
	gsize begin = 0;
	gboolean quoted = FALSE;
	int c;

	g_string_truncate(csv->text, 0);
	g_array_set_size(csv->fields, 0);
	csv->line = csv->next_line;
	while ((c = gzgetc(csv->file)) >= 0) {
		csv->next_line += c == '\n';
		if (!take_byte(csv, c ? c : ' ', &quoted, &begin))
			break;
		if (csv->text->len > WP_CSV_MAX_ROW)
			return wp_csv_fail(csv, error, "a row of over %d bytes", WP_CSV_MAX_ROW);
	}
	if (c < 0 && !check_file(csv, error))
		return FALSE;
	if (c < 0 && quoted)
		return wp_csv_fail(csv, error, "the file ends inside quotes");
	if (c < 0 && csv->text->len == 0 && csv->fields->len == 0)
		return FALSE;
	end_field(csv, &begin);
	return TRUE;
}

gboolean
wp_csv_next(WpCsv *csv, GError **error)
{
	do
		if (!read_row(csv, error))
			return FALSE;
	while (csv->fields->len == 1 && csv->text->len == 1);
	return TRUE;
}

const char *
wp_csv_field(const WpCsv *csv, int column)
{
	if (column < 0 || (guint)column >= csv->fields->len)
		return "";
	return csv->text->str + g_array_index(csv->fields, gsize, column);
}

static gboolean
read_head(WpCsv *csv, GError **error)
{
	g_autoptr(GError) problem = NULL;

	if (!wp_csv_next(csv, &problem)) {
		if (problem)
			g_propagate_error(error, g_steal_pointer(&problem));
		else
			wp_csv_fail(csv, error, "the file is empty");
		return FALSE;
	}
	for (guint i = 0; i < csv->fields->len; i++) {
		const char *name = wp_csv_field(csv, (int)i);
		if (i == 0 && g_str_has_prefix(name, "\xef\xbb\xbf"))
			name += 3; /* a byte order mark */
		if (!g_hash_table_contains(csv->columns, name))
			g_hash_table_insert(csv->columns, g_strdup(name), GUINT_TO_POINTER(i + 1));
	}
	return TRUE;
}

WpCsv *
wp_csv_open(const char *path, const char *what, GError **error)
{
	g_autoptr(WpCsv) csv = g_new0(WpCsv, 1);

	csv->path = g_strdup(path);
	csv->what = g_strdup(what);
	csv->columns = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	csv->text = g_string_new(NULL);
	csv->fields = g_array_new(FALSE, FALSE, sizeof(gsize));
	csv->next_line = 1;
	errno = 0;
	csv->file = gzopen(path, "rb");
	if (!csv->file) {
		wp_text_file_fail(path, what, errno ? errno : ENOMEM, error);
		return NULL;
	}
	gzbuffer(csv->file, 1 << 16);
	if (!read_head(csv, error))
		return NULL;
	return g_steal_pointer(&csv);
}

void
wp_csv_free(WpCsv *csv)
{
	if (!csv)
		return;
	if (csv->file)
		gzclose(csv->file);
	g_hash_table_unref(csv->columns);
	g_string_free(csv->text, TRUE);
	g_array_unref(csv->fields);
	g_free(csv->path);
	g_free(csv->what);
	g_free(csv);
}

int
wp_csv_column(const WpCsv *csv, const char *name)
{
	return GPOINTER_TO_INT(g_hash_table_lookup(csv->columns, name)) - 1;
}

int
wp_csv_need_column(const WpCsv *csv, const char *name, GError **error)
{
	int column = wp_csv_column(csv, name);
	if (column < 0)
		wp_csv_fail(csv, error, "there is no column \"%s\"", name);
	return column;
}

/* Reads -123.456 as -123456 with DIGITS 3. */
static gboolean
parse_decimal(const char *text, int digits, gint64 *out_value)
{
	gboolean is_negative = *text == '-', overflows = FALSE;
	gint64 value = 0;
	const char *c = text + is_negative;
	int decimals = -1; /* before the point */

	if (!g_ascii_isdigit(*c))
		return FALSE;
	for (; g_ascii_isdigit(*c) || (*c == '.' && decimals < 0); c++) {
		if (*c == '.') {
			decimals = 0;
			continue;
		}
		if (decimals >= digits)
			continue;
		decimals += decimals >= 0;
		overflows |= __builtin_mul_overflow(value, 10, &value);
		overflows |= __builtin_add_overflow(value, *c - '0', &value);
	}
	for (int i = MAX(decimals, 0); i < digits; i++)
		overflows |= __builtin_mul_overflow(value, 10, &value);
	*out_value = is_negative ? -value : value;
	return *c == '\0' && !overflows;
}

gboolean
wp_csv_decimal(const WpCsv *csv, int column, int digits, gint64 *out_value, GError **error)
{
	static const char *const none[] = { "", "-", "NA", "nan" };
	const char *text = wp_csv_field(csv, column);
	gint64 value;

	for (gsize i = 0; i < G_N_ELEMENTS(none); i++)
		if (strcmp(text, none[i]) == 0) {
			*out_value = WP_NO_TIME;
			return TRUE;
		}
	if (!parse_decimal(text, digits, &value) || value < -TIME_MAX || value > TIME_MAX) {
		g_autofree char *shown = g_utf8_make_valid(text, -1);
		return wp_csv_fail(csv, error, "\"%s\" is no time", shown);
	}
	*out_value = value;
	return TRUE;
}
