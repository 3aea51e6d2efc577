/*
 * Inside of mending: who could be moved where (mend-bundles.c), which paths and plans requests have
 * (mend-paths.c), and what is done with them (mend.c). Nobody else includes this.
 */
#ifndef WP_INFER_MEND_PRIVATE_H
#define WP_INFER_MEND_PRIVATE_H

#include "infer/links.h"
#include "infer/map.h"
#include "infer/quicklog.h"
#include "infer/resolve.h"

/* Parents that a bundle may be given: the last to begin. Bounds work at absurd loads. */
#define WP_MEND_MAX_OPTIONS 64

/* Parents with more bundles below them, and bundles deeper in their tree, are left as they are. */
#define WP_MEND_MAX_CHILDREN 256
#define WP_MEND_MAX_DEPTH    64

/* Numbers in ascending order. */
typedef struct {
	guint32 *items;
	guint32 n;
	guint32 n_allocated;
	gboolean is_owned; /* ITEMS: by the list alone; else a part of the memory of all */
} WpMendList;

/* Lists of all spans. */
typedef struct {
	WpMendList *lists; /* by span */
	guint32 n;
	guint32 *memory;
} WpMendLists;

/* Lists with room for N_ITEMS (by span, n) each; they start empty. */
void wp_mend_lists_init(WpMendLists *lists, const guint32 *n_items, guint32 n);
void wp_mend_lists_clear(WpMendLists *lists);
void wp_mend_list_add(WpMendList *list, guint32 item);
void wp_mend_list_remove(WpMendList *list, guint32 item);

/* Calls that have one parent whatever it is: one call, or those of a connection of its own. */
typedef struct {
	guint32 first; /* into members */
	guint32 n;
	gint64 begin_ns;
	gint64 end_ns;
	gint64 after_ns;    /* may begin so long after the end of its parent; -1: lies inside it */
	guint32 host;       /* that sent it */
	guint32 parent;     /* as the engine has it */
	guint32 runner_up;  /* likewise */
	float probability;  /* likewise */
	float of_parent;    /* log probabilities: of the engine's parent, */
	float of_runner_up; /* of the next best, */
	float of_others;    /* and of each other one */
	guint32 first_option;
	guint32 n_options;
} WpMendBundle;

/* Bundles whose parent is in doubt, by begin. */
typedef struct {
	const WpResolved *resolved;
	const WpSpan *spans;
	guint32 n_spans;
	const WpLinks *links; /* of the engine */
	WpMendBundle *bundles;
	guint32 n_bundles;
	guint32 *members; /* spans of bundles */
	guint32 *options; /* spans, possible parents of bundles */
	gsize n_options_allocated;
	WpMendLists below; /* numbers of the bundles below each span */
} WpMendBundles;

void wp_mend_bundles_init(WpMendBundles *bundles, const WpLinks *links, const WpResolved *resolved,
			  const WpQuickLog *quick);
void wp_mend_bundles_clear(WpMendBundles *bundles);

/* TRUE where PARENT may have caused BUNDLE. */
gboolean wp_mend_fits(const WpMendBundles *bundles, const WpMendBundle *bundle, guint32 parent);

/* Log probability of PARENT; that of the engine's is never less than another's, as it had its reasons. */
static inline double
wp_mend_belief(const WpMendBundle *bundle, guint32 parent)
{
	return (double)(parent == bundle->parent      ? bundle->of_parent
			: parent == bundle->runner_up ? bundle->of_runner_up
						      : bundle->of_others);
}

static inline const guint32 *
wp_mend_members(const WpMendBundles *bundles, const WpMendBundle *bundle)
{
	return bundles->members + bundle->first;
}

static inline const guint32 *
wp_mend_options(const WpMendBundles *bundles, const WpMendBundle *bundle)
{
	return bundles->options + bundle->first_option;
}

/* --- paths and plans --- */

/* What is looked at again and again of a span. */
typedef struct {
	guint64 type; /* of node and label */
	guint64 sum;  /* of the shapes of its calls */
	gint64 begin_ns;
	gint64 end_ns;
	guint32 parent; /* as it is now */
	guint32 plan;   /* number */
	guint32 path;   /* number, of one that begins a path; else WP_MAP_NONE */
	guint32 first;  /* number of its first call, of one that begins a path */
} WpMendSpan;

/* The requests as they are now, and how many are alike. */
typedef struct {
	const WpQuickLog *quick;
	WpMendSpan *spans;
	guint32 n;
	WpMendLists calls; /* the spans below each */
	WpMap *paths;      /* hash -> number */
	WpMap *plans;
	GArray *n_paths; /* guint32, by number: requests that take it */
	GArray *firsts;  /* guint32, likewise: number of its first call */
	GArray *n_plans; /* guint32, by number: spans that follow it */
	GArray *callers; /* guint64, by number of a first call: who made it, as a hash */
	GArray *most;    /* guint32, likewise: requests of its most frequent path */
	double *logs;    /* of small counts */
} WpMendPaths;

void wp_mend_paths_init(WpMendPaths *paths, const WpLinks *links, const WpResolved *resolved,
			const guint32 *alike, const WpQuickLog *quick);
void wp_mend_paths_clear(WpMendPaths *paths);

/* Whether so many requests take paths of their own that they are no sign of mistakes. */
gboolean wp_mend_are_diverse(const WpMendPaths *paths);

/* The span without parent above SPAN. */
static inline guint32
wp_mend_root(const WpMendPaths *paths, guint32 span)
{
	while (paths->spans[span].parent != WP_NO_SPAN)
		span = paths->spans[span].parent;
	return span;
}

static inline gboolean
wp_mend_begins_path(const WpMendPaths *paths, guint32 root)
{
	return paths->spans[root].path != WP_MAP_NONE;
}

/* Of the tree below SPAN, itself included: a sum that says what it is made of, without order. */
guint64 wp_mend_shape(const WpMendPaths *paths, guint32 span);

/* DELTA joins the calls of SPAN, which changes all that it hangs below. */
void wp_mend_add_shape(WpMendPaths *paths, guint32 span, guint64 delta);

/* The hash of the path of SPAN's request if DELTA joined the calls of SPAN. */
guint64 wp_mend_path_with(const WpMendPaths *paths, guint32 span, guint64 delta);

/* The hash of the plan of SPAN if it made N CALLS. */
guint64 wp_mend_plan_with(const WpMendPaths *paths, guint32 span, const guint32 *calls, guint32 n);

/* Sees anew which path ROOT takes and which plan SPAN follows; changes no count. */
void wp_mend_renew_path(WpMendPaths *paths, guint32 root);
void wp_mend_renew_plan(WpMendPaths *paths, guint32 span);

static inline void
wp_mend_count_path(WpMendPaths *paths, guint32 root, gint delta)
{
	guint32 *n = &g_array_index(paths->n_paths, guint32, paths->spans[root].path);
	*n = (guint32)((gint64)*n + delta);
}

static inline void
wp_mend_count_plan(WpMendPaths *paths, guint32 span, gint delta)
{
	guint32 *n = &g_array_index(paths->n_plans, guint32, paths->spans[span].plan);
	*n = (guint32)((gint64)*n + delta);
}

/* TRUE where far fewer requests take path NUMBER, or ROOT's path, than the most frequent of its first call. */
gboolean wp_mend_is_rare_path(const WpMendPaths *paths, guint32 number);
gboolean wp_mend_is_rare(const WpMendPaths *paths, guint32 root);

/* Logarithms of how many follow a path or plan: by its number, or by its hash. */
double wp_mend_worth_of_path(const WpMendPaths *paths, guint32 root);
double wp_mend_worth_of_plan(const WpMendPaths *paths, guint32 span);
double wp_mend_worth_of_path_hash(const WpMendPaths *paths, guint64 hash);
double wp_mend_worth_of_plan_hash(const WpMendPaths *paths, guint64 hash);

#endif
