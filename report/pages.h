/*
 * -o and --format of commands that write their result as pages of a few forms: compare, doctor, triage, snapshot. (Reports have
 * more to say about theirs: report/output.h.)
 */
#ifndef WP_REPORT_PAGES_H
#define WP_REPORT_PAGES_H

#include "report/command.h"
#include "report/form.h"
#include "report/out.h"
#include "report/overwrite.h"
#include "report/terminal.h"

typedef struct {
	GPtrArray *files; /* of -o; after wp_pages_check() one at least */
	const char *format;
} WpPages;

/* The row of --format; HELP: "text (the default), csv; else by the suffix of FILE: txt, csv" */
#define WP_PAGES_FORMAT_ROW(text)                                                                  \
	{                                                                                          \
		.name = "format", .kind = WP_OPT_TEXT, .offset = offsetof(WpPages, format),        \
		.argument = "NAME", .help = text                                                   \
	}

/* text, csv and json, and the table of their --format. */
extern const WpForm wp_pages_forms[];
extern const WpOption wp_pages_format_table[];

/* Adds the table "Output": -o, and FORMAT_TABLE, which has the row of --format (WP_PAGES_FORMAT_ROW). */
void wp_pages_declare(WpOptions *parser, WpPages *pages, const WpOption *format_table);
void wp_pages_clear(WpPages *pages);

/*
 * FALSE where a form makes no sense (FORMS NULL: there is but one), or an output is among FILES or given twice: before
 * anything is read.
 */
gboolean wp_pages_check(const WpPages *pages, const WpForm *forms, WpOverwrite *files,
			GError **error);

/* Writes page FORM (its number in the forms) of DATA. */
typedef void (*WpPageFunc)(gconstpointer data, int form, const WpStyle *style, WpOut *out);

/* Every page, in turn. */
gboolean wp_pages_write(const WpInvocation *invocation, const WpPages *pages, const WpForm *forms,
			WpPageFunc func, gconstpointer data, GError **error);

#endif
