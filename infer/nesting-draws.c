/* See nesting-draws.h. */
#include "infer/nesting-draws.h"

#define MANY_BUNDLES    10000  /* in doubt: many draws took too long */
#define MANY_CANDIDATES 200000 /* ... of theirs */
#define RARE            10     /* one bundle of so many is in doubt */

static gsize
count_candidates(const WpNestSearch *search)
{
	gsize n = 0;
	for (guint32 i = 0; i < search->n_ambiguous; i++)
		n += search->problem->bundles[search->ambiguous[i]].n_candidates;
	return n;
}

const WpNestDraws *
wp_nest_draws_for(const WpNestSearch *search)
{
	static const WpNestDraws few = { 4, 12, 4 }, many = { 24, 60, 4 };
	const WpNestProblem *problem = search->problem;

	/* Of messages the answer itself is taken from them: where who has one of each only ever exchanges, few would not do. */
	if (problem->siblings)
		return &many;
	if (search->n_ambiguous > MANY_BUNDLES || search->n_ambiguous < problem->n_bundles / RARE)
		return &few;
	return count_candidates(search) > MANY_CANDIDATES ? &few : &many;
}
