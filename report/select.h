/*
 * WpSelection: what --root and --where leave of the links.
 *
 * --root NAME: calls into the node NAME, or with the label NAME (glob), become roots; what lies above
 * them is left out, so that the tree is seen from that node. Of calls that match inside one another
 * the outermost is the root.
 *
 * --where EXPR: of the requests that this leaves, those in which at least one call fulfils EXPR stay,
 * whole.
 */
#ifndef WP_REPORT_SELECT_H
#define WP_REPORT_SELECT_H

#include <glib.h>

#include "infer/links.h"
#include "infer/resolve.h"
#include "report/where.h"

typedef struct {
	WpLinks *links; /* those above the new roots cut */
	guint8 *keep;   /* per span: 1 = selected */
} WpSelection;

/* What is selected; each may be NULL. */
typedef struct {
	const char *root;
	const WpWhere *where;
	const guint8 *takes; /* per span: 0 = left out (window.h) */
	const char *const *
		hidden; /* nodes, also as patterns; NULL-ended: calls into them are left out, and what
				      these caused belongs to what caused them */
} WpSelectionWish;

/*
 * (transfer full) Error: no call matches the root (WP_REPORT_ERROR_USAGE); where OUT_FOUND is not NULL, it is
 * set instead, or left as it is.
 */
WpSelection *wp_selection_new(const WpResolved *resolved, const WpLinks *links,
			      const WpSelectionWish *wish, gboolean *out_found, GError **error);
void wp_selection_free(WpSelection *selection);

/* TRUE where SPAN, of RESOLVED, fulfils WHERE. */
gboolean wp_select_matches(const WpResolved *resolved, const WpSpan *span, const WpWhere *where);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpSelection, wp_selection_free)

#endif
