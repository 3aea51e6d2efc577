/* One page per -o, each with the writer that its name or --format asks for. */
#include "report/output.h"

#include <string.h>

#include "report/error.h"

/* Patterns, operations or flows on a page that people read. */
#define DEFAULT_TOP 10

#define AT(member) .offset = offsetof(WpOutputOptions, member)

static const WpOption output_table[] = {
	{ .name = "output",
	  .short_name = 'o',
	  .kind = WP_OPT_TEXTS,
	  AT(files),
	  .argument = "FILE",
	  .help = "write there instead of to standard output, in the format\n"
		  "that the name ends in; may be repeated; - = standard output;\n"
		  ".gz, .zst and .lz4 are compressed" },
	{ .name = "format",
	  .kind = WP_OPT_TEXT,
	  AT(format),
	  .argument = "NAME",
	  .help = "the format, whatever the names of files" },
	{ .name = "top",
	  .kind = WP_OPT_INT,
	  AT(top),
	  .argument = "N",
	  .minimum = 1,
	  .maximum = 1e9,
	  .excludes = "all",
	  .help = "rows of each list (text, markdown, dot: 10, others: all)" },
	{ .name = "all", .kind = WP_OPT_FLAG, AT(wants_all), .help = "all rows of each list" },
	{ .name = NULL },
};

static const WpOption inspect_table[] = {
	{ .name = "list-formats",
	  .kind = WP_OPT_ACTION,
	  .action = wp_writers_list_inspect,
	  .help = "the formats" },
	{ .name = NULL },
};

static const WpOption report_table[] = {
	{ .name = "list-formats",
	  .kind = WP_OPT_ACTION,
	  .action = wp_writers_list_report,
	  .help = "the formats" },
	{ .name = "columns",
	  .kind = WP_OPT_TEXT,
	  AT(columns),
	  .argument = "LIST",
	  .help = "columns of patterns: self,mean,p99; or +sd,+max to add; or all" },
	{ .name = "list-columns",
	  .kind = WP_OPT_ACTION,
	  .action = wp_columns_list,
	  .help = "the columns" },
	{ .name = NULL },
};

void
wp_output_declare(WpOptions *parser, WpOutputOptions *options, WpWriterUse use)
{
	options->files = g_ptr_array_new();
	wp_options_add(parser, "Output", output_table, options);
	wp_options_add(parser, "", use == WP_WRITE_REPORT ? report_table : inspect_table, options);
}

void
wp_output_options_clear(WpOutputOptions *options)
{
	g_clear_pointer(&options->files, g_ptr_array_unref);
}

gboolean
wp_output_check(const WpInvocation *invocation, WpOutputOptions *options, WpWriterUse use,
		GError **error)
{
	const char *columns = options->columns;
	if (!columns && invocation->verbosity)
		columns = "+sd,+min,+max,+p90";
	if (columns && !wp_columns_parse(columns, &options->column_set, error))
		return FALSE;
	if (options->files->len == 0)
		g_ptr_array_add(options->files, (gpointer) "-");
	for (guint i = 0; i < options->files->len; i++)
		if (!wp_writer_for(options->files->pdata[i], options->format, use, error))
			return FALSE;
	return TRUE;
}

gboolean
wp_output_wants_digest(const WpOutputOptions *options)
{
	for (guint i = 0; i < options->files->len; i++) {
		const WpWriter *writer = wp_writer_for(options->files->pdata[i], options->format,
						       WP_WRITE_REPORT, NULL);
		if (writer && writer->wants_digest)
			return TRUE;
	}
	return FALSE;
}

gboolean
wp_output_guard(const WpOutputOptions *options, WpOverwrite *files, GError **error)
{
	for (guint i = 0; i < options->files->len; i++)
		if (!wp_overwrite_add_output(files, options->files->pdata[i], error))
			return FALSE;
	return TRUE;
}

static gboolean
write_one(const WpInvocation *invocation, const WpOutputOptions *options, WpWriterUse use,
	  const char *path, gconstpointer content, GError **error)
{
	const WpWriter *writer = wp_writer_for(path, options->format, use, error);
	if (!writer)
		return FALSE;
	g_autoptr(WpOut) out = wp_out_open(path, error);
	if (!out)
		return FALSE;
	WpPage page = { .style = wp_style_for(strcmp(path, "-") == 0, invocation->color) };
	if (options->column_set.n)
		page.columns = &options->column_set;
	if (!options->wants_all)
		page.top = options->top            ? (guint32)options->top
			   : writer->is_for_people ? DEFAULT_TOP
						   : 0;
	page.leaves_tail = !options->wants_all && !options->top;
	if (use == WP_WRITE_REPORT)
		writer->report(content, &page, out);
	else if (use == WP_WRITE_SPECTRUM)
		writer->spectrum(content, &page, out);
	else if (use == WP_WRITE_CORRELOGRAM)
		writer->correlogram(content, &page, out);
	else
		writer->inspect(content, &page, out);
	return wp_out_close(out, error);
}

gboolean
wp_output_write(const WpInvocation *invocation, const WpOutputOptions *options, WpWriterUse use,
		gconstpointer content, GError **error)
{
	for (guint i = 0; i < options->files->len; i++)
		if (!write_one(invocation, options, use, options->files->pdata[i], content, error))
			return FALSE;
	return TRUE;
}
