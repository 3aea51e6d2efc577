/*
 * The HTML page in parts. One file without references to any other: it is read from a disk, mailed, printed,
 * and shown under policies that allow neither scripts nor styles; so it says everything in headings, tables,
 * lists and drawings with their own attributes, and CSS and script (page/) only add to that.
 */
#ifndef WP_REPORT_WRITE_HTML_H
#define WP_REPORT_WRITE_HTML_H

#include "report/view-request.h"
#include "report/writer.h"

typedef struct {
	const WpView *
		view; /* NULL, as is PAGE: the page is of something else than a report; only what is in
			       write-html-parts.c can be used */
	const WpPage *page;
	WpOut *out;
	guint32 n_rows; /* of trees and requests so far: a page has a size that can be mailed */
} WpHtml;

/* Rows of trees and of requests; with these a page stays under 5 MB. */
#define WP_HTML_MAX_ROWS 6000

/* Patterns that have a part of their own; the others are rows of a table. */
#define WP_HTML_MAX_PATTERNS 50

/* The page up to what is in its body, and from there on. TITLE is that of the window. */
void wp_html_begin(const WpHtml *html, const char *title);
void wp_html_end(const WpHtml *html);

/* Links to the N parts of a page, { id, name } each; what follows is in <main>. */
void wp_html_navigation(const WpHtml *html, const char *const (*parts)[2], gsize n);

/* Text, shortened to WIDTH columns where that is not 0; whole names stand in titles, up to a length. */
void wp_html_text(const WpHtml *html, const char *text, gsize width);

/* <td data-v="VALUE">TEXT</td>: exact for scripts, rounded for people. DECIMALS of VALUE. */
void wp_html_cell(const WpHtml *html, double value, int decimals, const char *text);
void wp_html_time_cell(const WpHtml *html, gboolean has, double ns);
void wp_html_count_cell(const WpHtml *html, guint64 count);
/* As wp_format_share(), for a page: "&lt;0.1%". BUFFER of WP_FORMAT_MAX bytes. */
const char *wp_html_share(char *buffer, double share);
void wp_html_share_cell(const WpHtml *html, double share);

/* A number, whatever the locale; and as an attribute: ' NAME="VALUE"', to a tenth. */
void wp_html_number(const WpHtml *html, double value, int decimals);
void wp_html_attribute(const WpHtml *html, const char *name, double value);

/* Attributes x, y, width and height. */
void wp_html_box(const WpHtml *html, double x, double y, double width, double height);

/* Class and colour of a node: the same name always has the same. */
guint wp_html_color(const WpHtml *html, const char *node);
const char *wp_html_rgb(guint color);

/* A line of a tree before a name: "|- ", for pages without styles. */
void wp_html_branch(const WpHtml *html, gboolean is_own, gboolean is_last, gboolean is_parallel);

/* The part of a pattern (write-html-pattern.c). */
void wp_html_pattern(WpHtml *html, const WpViewPattern *pattern, gboolean is_open);

/* Drawings (write-html-draw.c, write-html-graph.c). */
void wp_html_timeline(const WpHtml *html, const WpViewRequest *request, const char *id);
void wp_html_curve(const WpHtml *html, const WpViewPattern *pattern);
void wp_html_shares(const WpHtml *html);
/* The section of what edges lose (write-html-edges.c); nothing where none is worth it. */
void wp_html_edges(const WpHtml *html);

/* The table of patterns of one shape (write-html-clusters.c); nothing where there are none. */
void wp_html_clusters(const WpHtml *html);

/* The section of latencies over time (write-html-course.c); nothing without a digest. */
void wp_html_course(const WpHtml *html);

/* The numbers of the page for a script (write-html-data.c). */
void wp_html_data(const WpHtml *html);

void wp_html_service_graph(const WpHtml *html);

/* The same drawing as a file of its own: a WpWriter's report. */
void wp_svg_service_graph(const WpView *view, const WpPage *page, WpOut *out);
void wp_html_flame(const WpHtml *html);

#endif
