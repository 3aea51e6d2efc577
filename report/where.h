/*
 * WpWhere: the expression of --where, about one call.
 *
 *   label ~ "GET *" && (latency > 5ms || status != ok)
 *
 * The language is that of expression.h. src, dst and node know a node by its name and by its address; what is not
 * known is, for example, the latency of a call without return.
 *
 * What is selected: report and calls first infer everything, then keep whole requests: all calls of
 * every causal path in which at least one call fulfils the expression. records and inspect,
 * which infer nothing, keep single calls with their returns.
 */
#ifndef WP_REPORT_WHERE_H
#define WP_REPORT_WHERE_H

#include <glib.h>

#include "report/expression.h"
#include "report/out.h"

typedef WpExpression WpWhere;

/* One call, as an expression sees it. No pointer is NULL; "" = not known. */
typedef struct {
	const char *src; /* name */
	const char *src_address;
	const char *dst;
	const char *dst_address;
	const char *label;
	const char *protocol;
	const char *status;
	guint16 src_port; /* 0 = unknown */
	guint16 dst_port;
	gint64 latency_ns;  /* WP_NO_TIME = unknown */
	guint64 bytes_call; /* WP_NO_SIZE = unknown */
	guint64 bytes_return;
	gboolean is_setup;
	gboolean waits;
	gboolean is_one_way;
} WpWhereCall;

/* (transfer full) NULL with WP_REPORT_ERROR_USAGE, which points at the place. */
WpWhere *wp_where_new(const char *text, GError **error);

/* The same, inside an expression of --expr (measure.h), which errors name. */
WpWhere *wp_where_new_within(const char *text, GError **error);
void wp_where_free(WpWhere *where);

gboolean wp_where_matches(const WpWhere *where, const WpWhereCall *call);

/* The name of a field used that is known only with the return, or NULL: what cannot be streamed. */
const char *wp_where_needs_return(const WpWhere *where);

/* --list-fields */
void wp_where_list_fields(WpOut *out);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpWhere, wp_where_free)

#endif
