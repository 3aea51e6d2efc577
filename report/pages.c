#include "report/pages.h"

static const WpOption output_table[] = {
	{ .name = "output",
	  .short_name = 'o',
	  .kind = WP_OPT_TEXTS,
	  .offset = offsetof(WpPages, files),
	  .argument = "FILE",
	  .help = "write there instead of to standard output, in the form that\n"
		  "the name ends in; may be repeated; - = standard output; .gz,\n"
		  ".zst and .lz4 are compressed" },
	{ .name = NULL },
};

static const char *const text_suffixes[] = { "txt", NULL };
static const char *const csv_suffixes[] = { "csv", NULL };
static const char *const json_suffixes[] = { "json", NULL };

const WpForm wp_pages_forms[] = {
	{ "text", text_suffixes },
	{ "csv", csv_suffixes },
	{ "json", json_suffixes },
	{ NULL, NULL },
};

const WpOption wp_pages_format_table[] = {
	WP_PAGES_FORMAT_ROW("text (the default), csv, json; else by the suffix of FILE:\n"
			    "txt, csv, json"),
	{ .name = NULL },
};

void
wp_pages_declare(WpOptions *parser, WpPages *pages, const WpOption *format_table)
{
	pages->files = g_ptr_array_new();
	wp_options_add(parser, "Output", output_table, pages);
	wp_options_add(parser, "", format_table, pages);
}

void
wp_pages_clear(WpPages *pages)
{
	g_clear_pointer(&pages->files, g_ptr_array_unref);
}

gboolean
wp_pages_check(const WpPages *pages, const WpForm *forms, WpOverwrite *files, GError **error)
{
	if (!pages->files->len)
		g_ptr_array_add(pages->files, (gpointer) "-");
	for (guint i = 0; i < pages->files->len; i++) {
		const char *path = pages->files->pdata[i];
		if ((forms && wp_form_choose(forms, path, pages->format, error) < 0) ||
		    !wp_overwrite_add_output(files, path, error))
			return FALSE;
	}
	return TRUE;
}

gboolean
wp_pages_write(const WpInvocation *invocation, const WpPages *pages, const WpForm *forms,
	       WpPageFunc func, gconstpointer data, GError **error)
{
	for (guint i = 0; i < pages->files->len; i++) {
		const char *path = pages->files->pdata[i];
		int form = wp_form_choose(forms, path, pages->format, error);
		g_autoptr(WpOut) out = form >= 0 ? wp_out_open(path, error) : NULL;
		if (!out)
			return FALSE;
		WpStyle style = wp_style_for(g_str_equal(path, "-"), invocation->color);
		func(data, form, &style, out);
		if (!wp_out_close(out, error))
			return FALSE;
	}
	return TRUE;
}
