/* An answer to a host's problem. See the header. */
#include "infer/nesting-solution.h"

const WpPace wp_nest_real_time = { .pace = 0, .processors = 1 };

WpNestSolution
wp_nest_solution_new(const WpNestQuestion *question, const WpPace *pace)
{
	g_autoptr(WpNestClock) clock = wp_nest_clock_new(question->resolved, question->host, pace);
	WpNestHost own = *question->host;
	WpNestSolution solution = { .pace = pace };

	own.clock = clock;
	solution.problem = wp_nest_problem_new(question->resolved, &own, question->options);
	if (!solution.problem)
		return solution;
	solution.search = wp_nest_search(solution.problem);
	return solution;
}

void
wp_nest_solution_clear(WpNestSolution *solution)
{
	wp_nest_search_free(solution->search);
	wp_nest_problem_free(solution->problem);
	g_free(solution->beliefs);
	*solution = (WpNestSolution){ .pace = WP_NEST_REAL_TIME };
}

WpNestBelief *
wp_nest_solution_beliefs(WpNestSolution *solution)
{
	if (!solution->beliefs) {
		solution->beliefs = g_new(WpNestBelief, MAX(solution->problem->n_bundles, 1));
		wp_nest_believe(solution->search, solution->beliefs);
	}
	return solution->beliefs;
}
