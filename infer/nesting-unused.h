/*
 * Where the children of a kind lie to parents of a class (inside, across the end, after the reply), as far as an answer
 * uses it.
 *
 * Which places there are is told before there is any answer, by gaps that stand out against chance. At load some
 * stand out that are none: what follows a reply is what others do. An answer knows better, as each child has but one parent. And each
 * place that is none costs dearly, since after a reply there are many more parents to choose from than around a call.
 *
 * Inside of the nesting engine; nobody else includes this.
 */
#ifndef WP_INFER_NESTING_UNUSED_H
#define WP_INFER_NESTING_UNUSED_H

#include "infer/nesting.h"

/* Whether there are so few classes and kinds that classes are told apart; else all are class 0. */
gboolean wp_nest_tells_classes(const WpNestProblem *problem);

/* Number of a place, and how many there are. */
static inline gsize
wp_nest_place(const WpNestProblem *problem, gboolean by_class, guint32 class, guint32 kind,
	      WpNestMode mode)
{
	gsize of_class = by_class ? (gsize) class * problem->n_kinds : 0;
	return (of_class + kind) * WP_NEST_N_MODES + mode;
}

static inline gsize
wp_nest_n_places(const WpNestProblem *problem, gboolean by_class)
{
	return (by_class ? problem->n_classes : 1) * (gsize)problem->n_kinds * WP_NEST_N_MODES;
}

/* Whether enough of bundles FIRST to END have their parent in each place. (transfer full) a flag each */
guint8 *wp_nest_find_used(const WpNestProblem *problem, guint32 first, guint32 end);

/*
 * Candidates in places outside of the parent that the answer does not use are dropped, where a bundle has another that encloses
 * it. TRUE: a good part of all.
 */
gboolean wp_nest_drop_unused(WpNestProblem *problem);

#endif
