/* What graphs for Graphviz share. */
#ifndef WP_REPORT_WRITE_DOT_H
#define WP_REPORT_WRITE_DOT_H

#include "report/writer.h"

/* Columns of a line in an ellipse; wider ellipses tear the graph apart. */
#define WP_DOT_LINE_WIDTH 24

/* A node's name, of bearable length. */
void wp_dot_add_name(GString *out, const char *name);

/*
 * TEXT in two lines of WP_DOT_LINE_WIDTH columns at most, broken at blanks, slashes and commas where there are some;
 * each line has its \n in front.
 */
void wp_dot_add_lines(GString *out, const char *text);

/* The head of a graph, up to the number of requests in its label, whose text is left open. */
void wp_dot_begin(const WpView *view, WpOut *out);

/* What is worth knowing before any path is believed: the end of that label, or "". */
const char *wp_dot_warning(const WpView *view);

#endif
