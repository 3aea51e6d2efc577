/*
 * WpStatements: the prepared statements of one flow, so that an execution, which only names its
 * statement, gets the label of the text that was prepared.
 *
 * At most WP_STATEMENTS_MAX are known; then the one not used for longest is forgotten (a client that
 * never closes its statements), and its executions have no label but EXECUTE. Zeroed = empty.
 */
#ifndef WP_CAPTURE_STATEMENTS_H
#define WP_CAPTURE_STATEMENTS_H

#include <glib.h>

/* Over the 256 that the largest usual client cache keeps (pgjdbc). */
#define WP_STATEMENTS_MAX 512

/* Parameters whose types are kept; tokens of later ones are not looked for. */
#define WP_STATEMENT_MAX_TYPES 16

typedef struct {
	guint32 label;
	guint32 used; /* when, in uses of the table */
	guint16 n_params;
	guint16 types[WP_STATEMENT_MAX_TYPES];
	guint8 n_types;
	gboolean is_minor; /* see wp_label_sql() */
} WpStatement;

typedef struct {
	guint64 *keys;
	WpStatement *statements; /* of the same number */
	guint n;
	guint n_allocated;
	guint32 clock;
} WpStatements;

/*
 * A new statement under KEY, zeroed; one of that key is replaced. Valid until the next put. *OUT_FORGOT:
 * whether the one that was used least lately had to go for it.
 */
WpStatement *wp_statements_put(WpStatements *statements, guint64 key, gboolean *out_forgot);

/* NULL where there is none. */
WpStatement *wp_statements_find(WpStatements *statements, guint64 key);

void wp_statements_remove(WpStatements *statements, guint64 key);
void wp_statements_clear(WpStatements *statements);

#endif
