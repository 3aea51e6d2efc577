/* The table of writers, and the choice of one by name or suffix. */
#include "report/writer.h"

#include <string.h>

#include "report/error.h"
#include "report/options.h"

extern const WpWriter wp_writer_text, wp_writer_dot, wp_writer_json, wp_writer_csv;

const WpWriter *const wp_writers[] = {
	&wp_writer_text, &wp_writer_dot, &wp_writer_json, &wp_writer_csv, NULL,
};

/* What makes a file compressed says nothing about its format. */
static const char *const packed_suffixes[] = { ".gz", ".zst", NULL };

static gboolean
has_use(const WpWriter *writer, WpWriterUse use)
{
	return use == WP_WRITE_REPORT ? writer->report != NULL : writer->inspect != NULL;
}

/* "text (.txt), dot (.dot, .gv)" */
static char *
describe(WpWriterUse use)
{
	GString *text = g_string_new(NULL);
	for (const WpWriter *const *w = wp_writers; *w; w++) {
		if (!has_use(*w, use))
			continue;
		g_autofree char *suffixes = g_strjoinv(", .", (char **)(*w)->suffixes);
		g_string_append_printf(text, "%s%s (.%s)", text->len ? ", " : "", (*w)->name,
				       suffixes);
	}
	return g_string_free(text, FALSE);
}

static const WpWriter *
find_by_name(const char *name, WpWriterUse use)
{
	for (const WpWriter *const *w = wp_writers; *w; w++)
		if (has_use(*w, use) && strcmp((*w)->name, name) == 0)
			return *w;
	return NULL;
}

static const WpWriter *
find_by_suffix(const char *suffix, WpWriterUse use)
{
	for (const WpWriter *const *w = wp_writers; *w; w++)
		if (has_use(*w, use) && g_strv_contains((*w)->suffixes, suffix))
			return *w;
	return NULL;
}

const WpWriter *
wp_writer_for(const char *path, const char *format, WpWriterUse use, GError **error)
{
	const WpWriter *writer;
	g_autofree char *known = describe(use);
	if (format) {
		writer = find_by_name(format, use);
		if (!writer)
			g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
				    "--format %s: there is no such format here\nthere are %s",
				    format, known);
		return writer;
	}
	if (strcmp(path, "-") == 0)
		return wp_writers[0];
	g_autofree char *base = g_path_get_basename(path);
	for (const char *const *packed = packed_suffixes; *packed; packed++)
		if (g_str_has_suffix(base, *packed))
			base[strlen(base) - strlen(*packed)] = '\0';
	const char *dot = strrchr(base, '.');
	writer = dot ? find_by_suffix(dot + 1, use) : NULL;
	if (!writer)
		g_set_error(
			error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			"-o %s: the format is not known from the name\nthere are %s; or name one "
			"with --format",
			path, known);
	return writer;
}

void
wp_writers_list(WpOut *out)
{
	for (const WpWriter *const *w = wp_writers; *w; w++) {
		g_autofree char *suffixes = g_strjoinv(" .", (char **)(*w)->suffixes);
		wp_out_printf(out, "%-6s .%-10s%s\n", (*w)->name, suffixes, (*w)->summary);
	}
}
