/*
 * -o, --format, --top, --all, --columns: where pages go and how they look; shared by report and
 * inspect.
 */
#ifndef WP_REPORT_OUTPUT_H
#define WP_REPORT_OUTPUT_H

#include <glib.h>

#include "report/command.h"
#include "report/overwrite.h"
#include "report/writer.h"

typedef struct {
	GPtrArray *files; /* of -o */
	const char *format;
	const char *columns;
	gint64 top;
	gboolean wants_all;
	WpColumnSet column_set;
} WpOutputOptions;

/* Adds the table "Output"; for inspect without columns. */
void wp_output_declare(WpOptions *parser, WpOutputOptions *options, WpWriterUse use);
void wp_output_options_clear(WpOutputOptions *options);

/* FALSE where a name or format makes no sense: to be told before anything is read. */
gboolean wp_output_check(const WpInvocation *invocation, WpOutputOptions *options, WpWriterUse use,
			 GError **error);

/* TRUE where one of the pages of a report holds what compare needs; to be asked after wp_output_check(). */
gboolean wp_output_wants_digest(const WpOutputOptions *options);

/* FALSE where one of the outputs is among FILES or given twice. After wp_output_check(). */
gboolean wp_output_guard(const WpOutputOptions *options, WpOverwrite *files, GError **error);

/* Writes CONTENT (a WpView, WpSpectrumView or WpInspection, as USE says) to every output, or to stdout. */
gboolean wp_output_write(const WpInvocation *invocation, const WpOutputOptions *options,
			 WpWriterUse use, gconstpointer content, GError **error);

#endif
