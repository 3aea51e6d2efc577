/*
 * WpWriter: one form of page. One file (write-<name>.c) and one const WpWriter each, one line in
 * wp_writers[]. A callback that is NULL: this form does not exist for that command.
 */
#ifndef WP_REPORT_WRITER_H
#define WP_REPORT_WRITER_H

#include <glib.h>

#include "report/column.h"
#include "report/correlogram.h"
#include "report/inspection.h"
#include "report/out.h"
#include "report/spectrum.h"
#include "report/terminal.h"
#include "report/view.h"

/* How a page is to look. */
typedef struct {
	WpStyle style;
	const WpColumnSet *columns; /* NULL = those that fit */
	guint32 top;                /* patterns, operations, flows to show; 0 = all */
	gboolean leaves_tail;       /* patterns of next to no time may be left out beyond that */
} WpPage;

typedef struct {
	const char *name; /* for --format */
	const char *summary;
	const char *const *suffixes; /* of files, without the dot; NULL-ended */
	gboolean is_for_people;      /* shows the first rows of each list unless all are wanted */
	gboolean shows_what_if;      /* of a report: view->what_if */
	gboolean wants_digest;       /* shows, or holds, what is in view->digest */
	gboolean needs_digest;       /* ... and is not written without it */
	void (*report)(const WpView *view, const WpPage *page, WpOut *out);
	void (*spectrum)(const WpSpectrumView *spectrum, const WpPage *page, WpOut *out);
	void (*correlogram)(const WpCorrelogramView *view, const WpPage *page, WpOut *out);
	void (*inspect)(const WpInspection *inspection, const WpPage *page, WpOut *out);
} WpWriter;

/* NULL-ended; the first is the default. */
extern const WpWriter *const wp_writers[];

typedef enum {
	WP_WRITE_REPORT,
	WP_WRITE_SPECTRUM, /* a report by an engine that is an aggregate */
	WP_WRITE_CORRELOGRAM,
	WP_WRITE_INSPECT
} WpWriterUse;

/*
 * The writer for output PATH among those that exist for USE, as wp_form_choose() chooses. NULL with its
 * errors.
 */
const WpWriter *wp_writer_for(const char *path, const char *format, WpWriterUse use,
			      GError **error);

/* --list-formats */
void wp_writers_list_report(WpOut *out);
void wp_writers_list_inspect(WpOut *out);

#endif
