/* How likely an answer is on a clock. See the header. */
#include "infer/nesting-retime.h"

#include "infer/timeline.h"

/* A problem on another clock, as far as timelines ask for it. */
typedef struct {
	WpNestProblem problem;
	guint32 n_events;
	double log_rates; /* at all events */
} Retimed;

/* REAL on CLOCK, with the children that parents have in ANSWER. */
static void
retime(const WpNestProblem *real, const WpNestProblem *answer, const WpNestClock *clock,
       Retimed *out)
{
	WpNestProblem *own = &out->problem;

	*out = (Retimed){ .problem = *real };
	own->n_open = own->n_ghosts = 0;
	own->has_turns = real->has_turns && !clock;
	own->parents = g_memdup2(real->parents, real->n_parents * sizeof(WpNestParent));
	own->children = g_memdup2(real->children, real->n_children * sizeof(WpNestChild));
	for (guint32 c = 0; c < own->n_children; c++) {
		WpNestChild *child = &own->children[c];
		child->begin_ns = wp_nest_clock_at(clock, child->begin_ns);
		child->end_ns = wp_nest_clock_at(clock, child->end_ns);
	}
	wp_nest_weigh_packets(own);
	for (guint32 p = 0; p < own->n_parents; p++) {
		WpNestParent *parent = &own->parents[p];
		double rate = wp_nest_clock_rate(clock, parent->end_ns);
		out->log_rates += wp_quick_log(&own->quick, rate);
		parent->begin_ns = wp_nest_clock_at(clock, parent->begin_ns);
		parent->end_ns = wp_nest_clock_at(clock, parent->end_ns);
		parent->children = answer->parents[p].children;
		parent->n = answer->parents[p].n;
		for (guint32 i = 0; i < parent->n; i++) {
			const WpNestChild *child = &real->children[parent->children[i]];
			if (child->has_waited)
				continue;
			rate = wp_nest_clock_rate(clock, child->begin_ns);
			out->log_rates += wp_quick_log(&own->quick, rate);
		}
		out->n_events += parent->n + 1;
	}
}

double
wp_nest_score_on(const WpNestProblem *real, const WpNestProblem *answer, const WpNestClock *clock,
		 guint32 *out_n_events)
{
	Retimed retimed;

	retime(real, answer, clock, &retimed);
	WpNestProblem *own = &retimed.problem;
	g_autoptr(WpTimelines) timelines = wp_timelines_new(own);
	double total = retimed.log_rates;
	wp_timelines_learn(timelines, 0, own->n_parents);
	for (guint32 p = 0; p < own->n_parents; p++)
		total += wp_timelines_score(timelines, p, own->parents[p].children,
					    own->parents[p].n);
	g_free(own->parents);
	g_free(own->children);
	*out_n_events = retimed.n_events;
	return total;
}
