/*
 * Paths that requests take on one side of a comparison only, each beside the nearest one of the other side: what a
 * change of structure looks like in single requests.
 *
 * A path is known by its calls: the chains of (node, label) from the request to each of them, in any order. The
 * distance of two is how many chains one has more often than the other. Listed are those that differ from the nearest one in a
 * call that is made more or less often, beyond doubt (WP_TEST_CALLS), and that could not be among requests of the other
 * side whose path is not known: what else seems to be on one side only may be the work of wrong links.
 */
#ifndef WP_REPORT_COMPARE_PATHS_H
#define WP_REPORT_COMPARE_PATHS_H

#include "report/compare.h"

/* Finds those of COMPARISON, which is judged already: sets its paths. Arguments as of wp_compare(). */
void wp_compare_find_paths(WpComparison *comparison, WpDigest *const *digests, guint n,
			   guint n_before);
void wp_compared_path_clear(WpComparedPath *path);

#endif
