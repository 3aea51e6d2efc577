/* Shared by mend.c and mend-bundles.c. Nobody else includes this. */
#ifndef WP_INFER_MEND_PRIVATE_H
#define WP_INFER_MEND_PRIVATE_H

#include "infer/links.h"
#include "infer/map.h"
#include "infer/resolve.h"

/* Parents that a bundle may be given: the last to begin. Bounds work at absurd loads. */
#define WP_MEND_MAX_OPTIONS 64

/* Parents with more bundles below them, and bundles deeper in their tree, are left as they are. */
#define WP_MEND_MAX_CHILDREN 256
#define WP_MEND_MAX_DEPTH    64

/* Calls that have one parent whatever it is: one call, or those of a connection of its own. */
typedef struct {
	guint32 first; /* into spans */
	guint32 n;
	gint64 begin_ns;
	gint64 end_ns;
	gint64 after_ns;    /* may begin so long after the end of its parent; -1: lies inside it */
	guint32 host;       /* that sent it */
	guint32 parent;     /* as the engine has it */
	guint32 runner_up;  /* likewise */
	double probability; /* likewise */
	double doubt;       /* however sure the engine is, so much is left */
	guint32 n_possible; /* parents that the engine saw */
	guint32 first_option;
	guint32 n_options;
} WpMendBundle;

/* Bundles whose parent is in doubt, by begin. */
typedef struct {
	const WpResolved *resolved;
	const WpSpan *spans;
	guint32 n_spans;
	WpLinks *links;
	WpMendBundle *bundles;
	guint32 n_bundles;
	GArray *members; /* guint32: spans of bundles */
	GArray *options; /* guint32: spans, possible parents of bundles */
	GArray **below;  /* by span: numbers of bundles below it, in order; NULL = none */
} WpMendBundles;

void wp_mend_bundles_init(WpMendBundles *bundles, WpLinks *links, const WpResolved *resolved);
void wp_mend_bundles_clear(WpMendBundles *bundles);

/* TRUE where PARENT may have caused BUNDLE. */
gboolean wp_mend_fits(const WpMendBundles *bundles, const WpMendBundle *bundle, guint32 parent);

/* Moves the number of a bundle from the list of one parent to that of another. */
void wp_mend_hand_over(WpMendBundles *bundles, guint32 number, guint32 from, guint32 to);

/* Log probability of PARENT; that of the engine's is never less than another's, as it had its reasons. */
double wp_mend_belief(const WpMendBundle *bundle, guint32 parent);

static inline const guint32 *
wp_mend_members(const WpMendBundles *bundles, const WpMendBundle *bundle)
{
	return &g_array_index(bundles->members, guint32, bundle->first);
}

#endif
