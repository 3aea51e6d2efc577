/* The choice of a form by name or suffix, and what is said where there is none. */
#include "report/form.h"

#include <string.h>
#include <sys/stat.h>

#include "capture/output.h"
#include "capture/trace.h"
#include "report/error.h"

static const char *const text_suffixes[] = { "trace", "txt", "text", NULL };
static const char *const wpt_suffixes[] = { "wpt", NULL };

const WpForm wp_trace_forms[] = {
	{ "text", text_suffixes },
	{ "wpt", wpt_suffixes },
	{ NULL, NULL },
};

/* (transfer full) "text (.txt), dot (.dot, .gv)" */
static char *
describe(const WpForm *forms)
{
	GString *text = g_string_new(NULL);
	for (const WpForm *form = forms; form->name; form++) {
		g_autofree char *suffixes = g_strjoinv(", .", (char **)form->suffixes);
		g_string_append_printf(text, "%s%s (.%s)", text->len ? ", " : "", form->name,
				       suffixes);
	}
	return g_string_free(text, FALSE);
}

static int
find_name(const WpForm *forms, const char *name, GError **error)
{
	for (int i = 0; forms[i].name; i++)
		if (strcmp(forms[i].name, name) == 0)
			return i;
	g_autofree char *known = describe(forms);
	g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
		    "--format %s: there is no such format here\nthere are %s", name, known);
	return -1;
}

/* Of BASE, a file's name: a suffix may have a dot in it ("zipkin.json"). */
static gboolean
has_suffix(const char *base, const char *const *suffixes)
{
	gsize length = strlen(base);
	for (; *suffixes; suffixes++) {
		gsize n = strlen(*suffixes);
		if (length > n && base[length - n - 1] == '.' &&
		    strcmp(base + length - n, *suffixes) == 0)
			return TRUE;
	}
	return FALSE;
}

static int
find_suffix(const WpForm *forms, const char *path, GError **error)
{
	/* What makes a file compressed says nothing about its form. */
	g_autofree char *base = g_path_get_basename(path);
	base[wp_output_plain_length(base)] = '\0';
	for (int i = 0; forms[i].name; i++)
		if (has_suffix(base, forms[i].suffixes))
			return i;
	g_autofree char *known = describe(forms);
	g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
		    "-o %s: the format is not known from the name\nthere are %s; or name one with "
		    "--format",
		    path, known);
	return -1;
}

int
wp_form_choose(const WpForm *forms, const char *path, const char *format, GError **error)
{
	struct stat info;
	gboolean is_stdout = !path || strcmp(path, "-") == 0;
	gboolean exists = !is_stdout && stat(path, &info) == 0;
	if (exists && S_ISDIR(info.st_mode)) {
		g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_WRITE,
			    "cannot write to %s: it is a directory", path);
		return -1;
	}
	if (format)
		return find_name(forms, format, error);
	if (is_stdout || (exists && !S_ISREG(info.st_mode)))
		return 0;
	return find_suffix(forms, path, error);
}

const char *
wp_trace_form_choose(const char *path, const char *format, GError **error)
{
	int i = wp_form_choose(wp_trace_forms, path, format, error);
	return i < 0 ? NULL : wp_trace_forms[i].name;
}
