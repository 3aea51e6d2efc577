/* Parts of text pages that report and inspect share. Text is made safe for terminals here. */
#ifndef WP_REPORT_WRITE_TEXT_H
#define WP_REPORT_WRITE_TEXT_H

#include "report/inspection.h"
#include "report/writer.h"

/* A heading with an empty line before it. */
void wp_text_heading(const WpPage *page, const char *heading, WpOut *out);

/* TEXT (safe) broken into lines at blanks. */
void wp_text_paragraph(const WpPage *page, const char *text, gsize indent, WpOut *out);

/* (transfer full) "2026-10-20 08:15:05.467 UTC, 40.3 s" */
char *wp_text_when(gint64 begin_ns, gint64 end_ns);

/* (transfer full) The names of inputs, safe: "a.pcap, b.pcap"; "l.trace (from a.pcap, b.pcap)" where FILE (or NULL) is another. */
char *wp_text_inputs(const WpPage *page, const char *file, const char *const *inputs, guint n);

/* A piece of the lines of a tree: before a node itself, or where a line passes it. */
const char *wp_text_branch(gboolean utf8, gboolean is_own, gboolean is_last, gboolean is_parallel);

/* What the times of all tables mean (write-legend.c): before the first of them. */
void wp_text_legend_times(const WpPage *page, WpOut *out);

/* What else is in the trees of the first N patterns. LEFT_OUT: columns that did not fit. */
void wp_text_legend(const WpView *view, guint32 n, guint left_out, const WpPage *page, WpOut *out);

/* Of the time: what takes less is left out at the end of a page. */
#define WP_TEXT_MIN_SHARE 0.01

/* The merged tree of an operation (write-places.c). */
void wp_text_places(const WpViewOperation *operation, const WpPage *page, WpOut *out);

/*
 * TRUE where OPERATION has its tree on the page even if no pattern of it is there: its paths are uncertain,
 * and its time is worth a look. Whether any of VIEW's has.
 */
gboolean wp_text_is_doubtful(const WpViewOperation *operation, const WpPage *page);
gboolean wp_text_has_doubtful(const WpView *view, const WpPage *page);

/* The part "Where edges lose time" (write-edges.c); nothing where there are no stalls worth it. */
void wp_text_edges(const WpView *view, const WpPage *page, WpOut *out);

/* The part "Patterns of one shape" (write-clusters.c); nothing where there are none. */
void wp_text_clusters(const WpView *view, const WpPage *page, WpOut *out);

/* What is missing, where it is worth knowing before any number is believed (write-quality.c). */
void wp_text_warning(const WpView *view, const WpPage *page, WpOut *out);

/* The part "How the calls add up" (write-quality.c). */
void wp_text_lots(const WpView *view, const WpPage *page, WpOut *out);

/* The part "Capture quality". */
void wp_text_quality(const WpViewQuality *quality, const WpViewSetting *settings, guint n_settings,
		     const WpPage *page, WpOut *out);

/* The page of `inspect` (write-inspect.c). */
void wp_text_inspect(const WpInspection *inspection, const WpPage *page, WpOut *out);

#endif
