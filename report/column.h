/*
 * WpColumn: one number of a node occurrence, for every page that shows a table: text, CSV. One line in
 * wp_columns[] each.
 */
#ifndef WP_REPORT_COLUMN_H
#define WP_REPORT_COLUMN_H

#include <glib.h>

#include "report/out.h"
#include "report/view.h"

typedef enum {
	WP_COLUMN_TIME,  /* ns */
	WP_COLUMN_COUNT, /* a whole number */
	WP_COLUMN_SHARE, /* 0..1 */
	WP_COLUMN_BYTES,
	WP_COLUMN_NUMBER
} WpColumnKind;

typedef struct {
	const char *name;    /* for --columns and CSV */
	const char *heading; /* for text */
	WpColumnKind kind;
	guint rank; /* 1 = the last to go where a page is narrow; 0 = only with -v or --columns */
	const char *help;
	gboolean (*get)(const WpViewNode *node, double *out_value); /* FALSE = nothing to show */
} WpColumn;

/* In the order in which they stand in a page; ends with name NULL. */
extern const WpColumn wp_columns[];

#define WP_COLUMNS_MAX 32

/* Some of them, in order. */
typedef struct {
	const WpColumn *columns[WP_COLUMNS_MAX];
	guint n;
} WpColumnSet;

/* Columns that the text of each needs, blank before it included. */
guint wp_column_width(const WpColumn *column);

/*
 * Those of rank 1 and on for which there is room in WIDTH; *OUT_LEFT_OUT (may be NULL) those for which
 * there is not. HIDDEN: bits of places in wp_columns[] not to be taken.
 */
WpColumnSet wp_columns_fit(guint width, guint64 hidden, guint *out_left_out);

/* The columns of counts, and of times on the way, that are 0 or unknown in all of the first N patterns, as bits. */
guint64 wp_columns_empty(const WpView *view, guint32 n_patterns);

/* SET without times that are EMPTY: those that only some captures can tell. */
WpColumnSet wp_columns_shown(const WpColumnSet *set, guint64 empty);

/*
 * "self,mean,p99": these, in that order. "+sd,+max": these beside the ones of rank 1 and on. "all".
 * WP_REPORT_ERROR_USAGE.
 */
gboolean wp_columns_parse(const char *text, WpColumnSet *out_set, GError **error);

/* The value for people, "" where there is none. BUFFER: WP_FORMAT_MAX bytes. */
const char *wp_column_format(const WpColumn *column, const WpViewNode *node, char *buffer);

/* --list-columns */
void wp_columns_list(WpOut *out);

#endif
