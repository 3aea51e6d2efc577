/* The table of writers, and the choice of one by name or suffix. */
#include "report/writer.h"

#include "report/form.h"

extern const WpWriter wp_writer_text, wp_writer_dot, wp_writer_json, wp_writer_csv, wp_writer_html,
	wp_writer_svg, wp_writer_markdown, wp_writer_services, wp_writer_merged, wp_writer_mermaid;

const WpWriter *const wp_writers[] = {
	&wp_writer_text,
	&wp_writer_html,
	&wp_writer_services,
	&wp_writer_merged,
	&wp_writer_dot,
	&wp_writer_json,
	&wp_writer_csv,
	&wp_writer_svg,
	&wp_writer_markdown,
	&wp_writer_mermaid,
	NULL,
};

static gboolean
has_use(const WpWriter *writer, WpWriterUse use)
{
	return use == WP_WRITE_REPORT        ? writer->report != NULL
	       : use == WP_WRITE_SPECTRUM    ? writer->spectrum != NULL
	       : use == WP_WRITE_CORRELOGRAM ? writer->correlogram != NULL
					     : writer->inspect != NULL;
}

const WpWriter *
wp_writer_for(const char *path, const char *format, WpWriterUse use, GError **error)
{
	const WpWriter *writers[G_N_ELEMENTS(wp_writers)];
	WpForm forms[G_N_ELEMENTS(wp_writers)] = { 0 };
	gsize n = 0;
	for (const WpWriter *const *w = wp_writers; *w; w++)
		if (has_use(*w, use)) {
			writers[n] = *w;
			forms[n++] = (WpForm){ (*w)->name, (*w)->suffixes };
		}
	int i = wp_form_choose(forms, path, format, error);
	return i < 0 ? NULL : writers[i];
}

static void
list(WpWriterUse use, WpOut *out)
{
	for (const WpWriter *const *w = wp_writers; *w; w++) {
		g_autofree char *suffixes = g_strjoinv(" .", (char **)(*w)->suffixes);
		if (has_use(*w, use))
			wp_out_printf(out, "%-9s .%-26s%s\n", (*w)->name, suffixes, (*w)->summary);
	}
}

void
wp_writers_list_report(WpOut *out)
{
	list(WP_WRITE_REPORT, out);
}

void
wp_writers_list_inspect(WpOut *out)
{
	list(WP_WRITE_INSPECT, out);
}
