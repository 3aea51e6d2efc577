/*
 * WpPaths: the causal paths of a trace, each a tree of spans, in canonical form.
 *
 *   spans + links  ->  trees  ->  a form per span: equal numbers = equal subtrees
 *
 * The form of a span is (node, label, forms of its children in canonical order). Children stand in
 * order of their calls; but siblings that overlap in time (or begin at once), directly or through others, stand in order
 * of node, label and form, as which of them is called first is chance:
 *
 *   |---------- web ----------|
 *     |-auth-|                        auth, then {cache, db} in order of name
 *              |--db--|
 *                 |-cache-|
 *
 * Where runs of overlapping siblings begin and end is no part of the form: a parallel call that
 * happens to return before the next is sent makes no other path, as long as the order of names is kept.
 */
#ifndef WP_INFER_PATH_H
#define WP_INFER_PATH_H

#include <glib.h>

#include "infer/links.h"
#include "infer/span.h"

typedef struct {
	guint32 n;      /* spans; the arrays below have an entry for each */
	guint32 *forms; /* WP_NO_FORM: not on any path */
	gint64 *end_ns; /* its return; of a message that caused something: the end of all that; else WP_NO_TIME */
	gint64 *self_ns;   /* self time; 0 without an end */
	guint8 *overlaps;  /* 1: in time with a sibling, directly or through others */
	guint32 *child_at; /* [n + 1]: children of span i are children[child_at[i]..] */
	guint32 *children; /* spans, in canonical order */
	guint32 n_roots;
	guint32 *roots;     /* spans, by call time */
	guint32 n_on_paths; /* spans that a root reaches */
	guint32 n_forms;
} WpPaths;

#define WP_NO_FORM G_MAXUINT32

/*
 * (transfer full) Roots are the spans without a parent, but for those that are unpaired (calls without a return, messages
 * that caused nothing), of set-up, or
 * whose parent was not seen or not found in time (their evidence says so); what hangs below such a span is on no path.
 * NODE_RANKS, LABEL_RANKS: place of each node and label in the order of siblings; NULL = its number.
 */
WpPaths *wp_paths_new(const WpSpans *spans, const WpLinks *links, const guint32 *node_ranks,
		      const guint32 *label_ranks);
void wp_paths_free(WpPaths *paths);

/* (transfer full) The spans on paths, n_on_paths of them: roots first, parents before their children. */
guint32 *wp_paths_by_depth(const WpPaths *paths);

/* Order of two nodes or labels: < 0, 0, > 0. RANKS as above. */
static inline int
wp_path_compare(const guint32 *ranks, guint32 a, guint32 b)
{
	if (ranks) {
		a = ranks[a];
		b = ranks[b];
	}
	return a < b ? -1 : a > b;
}

/* A text and the number that it stands for. */
typedef struct {
	const char *text;
	guint32 number;
} WpRankedText;

/* Sorts TEXTS and sets RANKS[number] of each to its place. */
void wp_path_rank_texts(WpRankedText *texts, gsize n, guint32 *ranks);

/* One span of a path in pre-order. */
typedef struct {
	guint32 span;
	guint32 parent; /* place in the walk; G_MAXUINT32 for the root */
	guint32 depth;
} WpPathStep;

/* Sets STEPS (of WpPathStep) to the path from ROOT. Equal forms give equal shapes. */
void wp_paths_walk(const WpPaths *paths, guint32 root, GArray *steps);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpPaths, wp_paths_free)

#endif
