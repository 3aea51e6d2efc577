/* One message at a time. See the header. */
#include "infer/nesting-line.h"

#include <math.h>
#include <string.h>

#include "infer/density.h"
#include "infer/nesting-rate.h"
#include "infer/nesting-score.h"
#include "infer/nesting-workers.h"
#include "infer/random.h"
#include "infer/timeline.h"

#define MIN_MESSAGES  50
#define MAX_LENGTH    15 /* what one message causes, at most: it is scored as a whole (timeline.c) */
#define MAX_UNKNOWN   256  /* sent first, of messages before the capture */
#define MAX_STATES    512  /* at a message: how much was sent of those before */
#define BEAM          25.0 /* nats below the best: left out */
#define ORPHAN_NATS   40.0 /* what costs a thing sent that no message caused, beside its time */
#define MAX_EARLY     0.01 /* of what is sent: before its message, as only others in line can be */
#define FEW_TYPES     3    /* each may be what each class causes: that is tried */
#define TRIAL_ROUNDS  2    /* drawn and learned from */
#define ROUNDS        8
#define N_CELLS       96   /* of the time that work takes of which nothing is sent */
#define CELLS_OF_WORK 12   /* ... of it, where that is short */
#define LEAST_WORK    -9.0 /* log of a share: less often it takes no such time */
#define BEAM_OF_CELLS 10.0
#define MIN_SILENT    0.03  /* of the messages: of which nothing is sent */
#define MAX_OF_SILENT 30000 /* messages: some 7 kB are kept of each */
#define DRAWS         16    /* that say how sure it is */

/* All cells behind any time are times, too. */
#define MAX_CELL_NS G_GINT64_CONSTANT(3600000000000)

/* Of the density of what is always 0, in its bin: it is smoothed (density.h). */
#define END_SHARE (5.0 / 9)

#define MIN_LIKELIER 0.04 /* nats a thing sent */

/* Octaves that work takes less on average while others wait; who works at two at once is done with one twice as soon. */
#define MAX_FASTER 0.75
#define ENOUGH     20 /* that were taken up while others waited, and while none did: to tell */

/* A way to come to a state: message number K caused what was sent from FROM on. */
typedef struct {
	guint32 from; /* state before, into states */
	double log;   /* of it and of all before */
} Arc;

/* The messages so far have caused what was sent before number SENT. */
typedef struct {
	guint32 sent;
	gint64 free_ns; /* when the work at the last of them is over */
	guint32 first_arc;
	guint32 n_arcs;
	double log; /* of all ways here */
} State;

typedef struct {
	WpNestProblem own; /* each message begins when the work at it does */
	const WpNestProblem *problem;
	WpTimelines *timelines;
	gint64 *free_ns; /* when all sent before a number is over, [n_children + 1] */
	gint64 cell_ns;  /* of the time that work takes of which nothing is sent; 0: none */
	double *works;   /* by class, N_CELLS each: log of how often it takes so many cells */
	gint64 *work_ns; /* by parent: drawn of it, where nothing was sent */
	guint32 *numbers;
	guint32 max_length;
	double alone;        /* log of what is sent a grain */
	double orphan;       /* ... of what no message caused */
	gboolean is_measure; /* else costs are added that help to find an answer */
	GArray *states;      /* State */
	GArray *arcs;        /* Arc */
	guint32 *first;      /* by message, [n_parents + 2]: into states, before it */
	WpRandom64 random;
} Line;

static State *
state_at(const Line *line, guint32 i)
{
	return &g_array_index(line->states, State, i);
}

/* --- is it to be asked at all --- */

gboolean
wp_nest_is_of_messages(const WpNestProblem *problem)
{
	if (problem->n_parents < MIN_MESSAGES || problem->n_children < MIN_MESSAGES ||
	    problem->n_bundles != problem->n_children || problem->n_open || problem->only_wakes)
		return FALSE;
	for (guint32 p = 0; p < problem->n_parents; p++)
		if (!problem->parents[p].is_message)
			return FALSE;
	return TRUE;
}

/* --- life --- */

static void
init_line(WpNestProblem *problem, Line *out)
{
	guint32 n = problem->n_children, n_parents = problem->n_parents;
	double length_ns =
		(double)(problem->children[n - 1].begin_ns - problem->children[0].begin_ns);

	*out = (Line){ .own = *problem, .problem = problem, .random = { WP_RANDOM64_SEED } };
	out->own.parents = g_memdup2(problem->parents, n_parents * sizeof(WpNestParent));
	out->own.n_ghosts = 0;
	out->free_ns = g_new(gint64, (gsize)n + 1);
	out->numbers = g_new(guint32, n);
	out->free_ns[0] = G_MININT64;
	for (guint32 i = 0; i < n; i++) {
		out->numbers[i] = i;
		out->free_ns[i + 1] = MAX(out->free_ns[i], problem->children[i].end_ns);
	}
	out->max_length = 1;
	out->alone = wp_quick_log(&problem->quick, n * problem->grain_ns / MAX(length_ns, 1));
	out->timelines = wp_timelines_new(&out->own);
	out->states = g_array_new(FALSE, FALSE, sizeof(State));
	out->arcs = g_array_new(FALSE, FALSE, sizeof(Arc));
	out->first = g_new(guint32, (gsize)n_parents + 2);
}

static void
clear_line(Line *line)
{
	wp_timelines_free(line->timelines);
	g_array_unref(line->states);
	g_array_unref(line->arcs);
	g_free(line->own.parents);
	g_free(line->free_ns);
	g_free(line->works);
	g_free(line->work_ns);
	g_free(line->numbers);
	g_free(line->first);
}

/* --- forward --- */

/* Message NUMBER is taken up when the work before it is over, at FREE_NS, and it is there. */
static void
take_up(Line *line, guint32 number, gint64 free_ns)
{
	const WpNestParent *real = &line->problem->parents[number];
	WpNestParent *own = &line->own.parents[number];

	own->begin_ns = own->end_ns = MAX(free_ns, real->begin_ns);
}

/* Log of exp(A) + exp(B). */
static double
add_logs(double a, double b)
{
	double most = MAX(a, b), least = MIN(a, b);
	return most - least > 40 ? most : most + log1p(exp(least - most));
}

/* What was sent before message NUMBER was there, and is of none before, has no cause. */
static void
pass_orphans(const Line *line, guint32 number, guint32 *sent, double *log)
{
	const WpNestProblem *problem = line->problem;

	while (*sent < problem->n_children &&
	       problem->children[*sent].begin_ns < problem->parents[number].begin_ns) {
		++*sent;
		*log += line->orphan;
	}
}

typedef struct {
	guint32 from;
	guint32 to;
	gint64 free_ns;
	double log;
} Step;

static gint
compare_steps(gconstpointer a, gconstpointer b)
{
	const Step *x = a, *y = b;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	if (x->free_ns != y->free_ns)
		return x->free_ns < y->free_ns ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

/*
 * Message NUMBER has caused nothing: STEP, but for the time that the work took, which may have been any up to when the
 * next is sent.
 */
static void
list_silent(const Line *line, guint32 number, Step step, GArray *steps)
{
	const WpNestProblem *own = &line->own;
	const double *works = line->works + (gsize)own->parents[number].class * N_CELLS;
	gint64 until_ns = step.to < own->n_children ? own->children[step.to].begin_ns : G_MAXINT64;
	double log = step.log;

	for (guint32 i = 0; i < N_CELLS; i++) {
		gint64 end_ns = own->parents[number].begin_ns + i * line->cell_ns;
		step.free_ns = end_ns - end_ns % line->cell_ns;
		if (step.free_ns >= until_ns)
			break;
		step.log = log + works[i];
		if (works[i] > LEAST_WORK)
			g_array_append_val(steps, step);
	}
}

/* All that message NUMBER may have caused, from STATE on. */
static void
list_steps(Line *line, guint32 number, guint32 state, GArray *steps)
{
	guint32 sent = state_at(line, state)->sent;
	gint64 free_ns = state_at(line, state)->free_ns;
	double log = state_at(line, state)->log;
	guint32 n_children = line->problem->n_children;

	pass_orphans(line, number, &sent, &log);
	take_up(line, number, MAX(free_ns, line->free_ns[sent]));
	for (guint32 n = 0; n <= line->max_length && sent + n <= n_children; n++) {
		const guint32 *children = line->numbers + sent;
		double own = wp_timelines_score(line->timelines, number, children, n);
		if (line->is_measure)
			own += wp_timelines_cost_of_once(line->timelines, children, n);
		Step step = { state, sent + n, line->free_ns[sent + n], log + own };
		if (n == 0 && line->cell_ns > 0)
			list_silent(line, number, step, steps);
		else
			g_array_append_val(steps, step);
	}
}

/* How likely STEP is beside others: what it leaves to be sent will cost about as much as at any time. */
static double
promise_of(const Line *line, const Step *step)
{
	return step->log - step->to * (line->alone - 1);
}

static gboolean
leads_to(const Step *step, const State *state)
{
	return state->sent == step->to && state->free_ns == step->free_ns;
}

/* Makes states of STEPS, but of those far behind the best. */
static void
keep_steps(Line *line, GArray *steps)
{
	double best = -G_MAXDOUBLE, beam = line->cell_ns > 0 ? BEAM_OF_CELLS : BEAM;

	for (guint i = 0; i < steps->len; i++)
		best = MAX(best, promise_of(line, &g_array_index(steps, Step, i)));
	g_array_sort(steps, compare_steps);
	guint32 first = line->states->len;
	for (guint i = 0; i < steps->len; i++) {
		const Step *step = &g_array_index(steps, Step, i);
		if (promise_of(line, step) < best - beam)
			continue;
		if (line->states->len == first ||
		    !leads_to(step, state_at(line, line->states->len - 1))) {
			if (line->states->len - first >= MAX_STATES)
				break;
			State fresh = { step->to, step->free_ns, line->arcs->len, 0, -G_MAXDOUBLE };
			g_array_append_val(line->states, fresh);
		}
		State *state = state_at(line, line->states->len - 1);
		Arc arc = { step->from, step->log };
		g_array_append_val(line->arcs, arc);
		state->n_arcs++;
		state->log = add_logs(state->log, step->log);
	}
}

/* Log likelihood of all that was sent, however it is cut. */
static double
sum_forward(Line *line)
{
	const WpNestProblem *problem = line->problem;
	g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(Step));
	double sum = -G_MAXDOUBLE;

	g_array_set_size(line->states, 0);
	g_array_set_size(line->arcs, 0);
	for (guint32 i = 0; i <= MIN(MAX_UNKNOWN, problem->n_children); i++) {
		State state = { i, line->free_ns[i], 0, 0, i * line->orphan };
		g_array_append_val(line->states, state);
	}
	line->first[0] = 0;
	line->first[1] = line->states->len;
	for (guint32 p = 0; p < problem->n_parents && !wp_nest_is_stopped(problem); p++) {
		g_array_set_size(steps, 0);
		for (guint32 s = line->first[p]; s < line->first[p + 1]; s++)
			list_steps(line, p, s, steps);
		keep_steps(line, steps);
		line->first[p + 2] = line->states->len;
	}
	/* What is left was caused by none. */
	for (guint32 s = line->first[problem->n_parents]; s < line->states->len; s++) {
		State *state = state_at(line, s);
		state->log += (problem->n_children - state->sent) * line->orphan;
		sum = add_logs(sum, state->log);
	}
	return sum;
}

/* --- backward --- */

/* TRUE for one of those that are met in turn, by chance, as likely as the exponential of its LOG. */
static gboolean
is_drawn(Line *line, double log, double *all)
{
	*all = *all == -G_MAXDOUBLE ? log : add_logs(*all, log);
	return wp_random64_share(&line->random) < exp(log - *all);
}

/* Draws an answer: the children of each message, and when the work at it began. */
static void
draw(Line *line)
{
	guint32 n = line->problem->n_parents, at = line->first[n];
	double all = -G_MAXDOUBLE, ignored = 0;

	for (guint32 s = line->first[n]; s < line->states->len; s++)
		if (is_drawn(line, state_at(line, s)->log, &all))
			at = s;
	for (guint32 p = n; p-- > 0;) {
		const State *state = state_at(line, at);
		WpNestParent *parent = &line->own.parents[p];
		guint32 from = 0;
		all = -G_MAXDOUBLE;
		for (guint32 i = 0; i < state->n_arcs; i++) {
			const Arc *arc = &g_array_index(line->arcs, Arc, state->first_arc + i);
			if (is_drawn(line, arc->log, &all))
				from = arc->from;
		}
		guint32 begin = state_at(line, from)->sent;
		pass_orphans(line, p, &begin, &ignored);
		take_up(line, p, MAX(state_at(line, from)->free_ns, line->free_ns[begin]));
		parent->children = line->numbers + begin;
		parent->n = state->sent - begin;
		if (line->cell_ns > 0)
			line->work_ns[p] = MAX(state->free_ns - parent->begin_ns, 0);
		at = from;
	}
}

/* --- learning --- */

/* --- first answers --- */

guint32
wp_nest_count_unknown(const gint64 *sent_ns, guint32 n_sent, const gint64 *came_ns, guint32 n_came)
{
	for (guint32 unknown = 0; unknown < MIN(n_sent, MAX_UNKNOWN); unknown++) {
		guint32 n_early = 0;
		for (guint32 i = 0; i + unknown < n_sent && i < n_came; i++)
			n_early += sent_ns[i + unknown] < came_ns[i];
		if (n_early <= MAX_EARLY * n_sent)
			return unknown;
	}
	return 0;
}

/* How many of SENT are of messages before CAME. */
static guint32
count_unknown(const WpNestProblem *problem, const GArray *sent, const GArray *came)
{
	g_autofree gint64 *sent_ns = g_new(gint64, MAX(sent->len, 1));
	g_autofree gint64 *came_ns = g_new(gint64, MAX(came->len, 1));

	for (guint i = 0; i < sent->len; i++)
		sent_ns[i] = problem->children[g_array_index(sent, guint32, i)].begin_ns;
	for (guint i = 0; i < came->len; i++)
		came_ns[i] = problem->parents[g_array_index(came, guint32, i)].begin_ns;
	return wp_nest_count_unknown(sent_ns, sent->len, came_ns, came->len);
}

/* Gives each of the messages CAME one of SENT, in order, with the others up to the one of a message BEFORE (or behind) it. */
static void
deal(Line *line, const GArray *sent, const GArray *came, const guint32 *first, const guint32 *end)
{
	const WpNestProblem *problem = line->problem;
	guint32 next = count_unknown(problem, sent, came);

	for (guint i = 0; i < came->len; i++) {
		guint32 p = g_array_index(came, guint32, i), begin = 0;
		WpNestParent *own = &line->own.parents[p];
		gint64 came_ns = problem->parents[p].begin_ns;
		own->n = 0;
		while (next < sent->len &&
		       problem->children[g_array_index(sent, guint32, next)].begin_ns < came_ns)
			next++;
		if (next < sent->len) {
			guint32 main = g_array_index(sent, guint32, next++);
			begin = first[main];
			own->n = MIN(end[main] - begin, MAX_LENGTH);
		}
		own->children = line->numbers + begin;
		take_up(line, p, line->free_ns[begin]);
		line->max_length = MAX(line->max_length, own->n);
	}
}

/*
 * A first answer in order: each message causes one of its main type; what else is sent lies between this and the one
 * before (or, IS_BEHIND, the next). TURN 0: main types as the answer that there is has them; else any.
 */
static void
deal_in_order(Line *line, guint turn, gboolean is_behind)
{
	const WpNestProblem *problem = line->problem;
	guint32 n = problem->n_children;
	g_autofree guint32 *mains = wp_nest_find_mains(problem);
	g_autofree gboolean *is_main = g_new0(gboolean, problem->n_types);
	g_autofree guint32 *first = g_new(guint32, n), *end = g_new(guint32, n);
	guint32 edge = 0;

	for (guint32 c = 0; c < problem->n_classes; c++) {
		if (turn > 0)
			mains[c] = (c + turn) % problem->n_types;
		is_main[mains[c]] = TRUE;
	}
	for (guint32 c = 0; c < n; c++) {
		first[c] = is_behind ? c : edge;
		end[c] = c + 1;
		edge = is_main[problem->children[c].type] ? c + 1 : edge;
	}
	edge = n;
	for (guint32 c = n; is_behind && c-- > 0;) {
		end[c] = edge;
		edge = is_main[problem->children[c].type] ? c : edge;
	}
	for (guint32 t = 0; t < problem->n_types; t++) {
		g_autoptr(GArray) sent = g_array_new(FALSE, FALSE, sizeof(guint32));
		g_autoptr(GArray) came = g_array_new(FALSE, FALSE, sizeof(guint32));
		for (guint32 c = 0; c < n; c++)
			if (problem->children[c].type == t)
				g_array_append_val(sent, c);
		for (guint32 p = 0; p < problem->n_parents; p++)
			if (mains[problem->parents[p].class] == t)
				g_array_append_val(came, p);
		deal(line, sent, came, first, end);
	}
}

/* How long work takes of which nothing is sent; at first, as long as the other. IS_FIRST: nothing is drawn yet. */
static void
learn_works(Line *line, gboolean is_first)
{
	const WpNestProblem *own = &line->own;
	g_autofree double *counts = g_new0(double, (gsize)own->n_classes *N_CELLS);

	for (guint32 p = 0; p < own->n_parents; p++) {
		const WpNestParent *parent = &own->parents[p];
		gint64 work_ns = line->work_ns[p];
		if ((parent->n == 0) == is_first)
			continue;
		if (is_first)
			work_ns = line->free_ns[parent->children[parent->n - 1] + 1] -
				  parent->begin_ns;
		gint64 cell = CLAMP((work_ns + line->cell_ns / 2) / line->cell_ns, 0, N_CELLS - 1);
		counts[parent->class * N_CELLS + (guint32)cell]++;
	}
	for (guint32 class = 0; class < own->n_classes; class ++) {
		const double *of_class = counts + (gsize) class * N_CELLS;
		double total = 0;
		for (gint i = 0; i < N_CELLS; i++)
			total += of_class[i];
		for (gint i = 0; i < N_CELLS; i++) {
			double sum = 2 * of_class[i] + of_class[MAX(i - 1, 0)] +
				     of_class[MIN(i + 1, N_CELLS - 1)];
			sum = (sum / 4 + 0.01) / (total + 0.01 * N_CELLS);
			line->works[class * N_CELLS + (guint32)i] = wp_quick_log(&own->quick, sum);
		}
	}
}

static void
learn(Line *line)
{
	if (line->cell_ns > 0)
		learn_works(line, FALSE);
	wp_timelines_free(line->timelines);
	line->timelines = wp_timelines_new(&line->own);
	wp_timelines_learn(line->timelines, 0, line->own.n_parents);
}

/* --- the answer --- */

/* How likely it is if all that is sent overlaps; as timelines have it, in which the end of a message counts. */
static double
score_rate(const WpNestProblem *problem)
{
	double of_end =
		wp_quick_log(&problem->quick, END_SHARE * WP_DENSITY_BINS_AN_OCTAVE / G_LN2);
	return wp_nest_rate_score(problem) + problem->n_parents * of_end;
}

/* Whom draws gave a child to, and how often. */
typedef struct {
	guint32 parent;
	guint32 n;
} Vote;

static void
vote(GArray *votes, guint32 parent)
{
	for (guint i = 0; i < votes->len; i++)
		if (g_array_index(votes, Vote, i).parent == parent) {
			g_array_index(votes, Vote, i).n++;
			return;
		}
	Vote fresh = { parent, 1 };
	g_array_append_val(votes, fresh);
}

/* The answer for BUNDLE is whom most draws gave it to. */
static void
elect(const GArray *votes, WpNestBundle *bundle, WpNestBelief *out)
{
	Vote best = { WP_NO_PARENT, 0 }, next = { WP_NO_PARENT, 0 };

	for (guint i = 0; i < votes->len; i++) {
		Vote other = g_array_index(votes, Vote, i);
		if (other.n > best.n) {
			next = best;
			best = other;
		} else if (other.n > next.n) {
			next = other;
		}
	}
	bundle->parent = best.parent;
	bundle->n_possible = MAX(bundle->n_possible, votes->len);
	out->probability = (double)best.n / DRAWS;
	out->runner_up = next.parent;
}

static void
take_draws(Line *line, WpNestProblem *problem, WpNestBelief *beliefs)
{
	guint32 n = problem->n_children;
	g_autoptr(GPtrArray) votes = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);

	for (guint32 c = 0; c < n; c++)
		g_ptr_array_add(votes, g_array_new(FALSE, FALSE, sizeof(Vote)));
	for (gint i = 0; i < DRAWS; i++) {
		g_autofree guint32 *parents = g_new(guint32, n);
		memset(parents, 0xff, n * sizeof parents[0]); /* WP_NO_PARENT */
		draw(line);
		for (guint32 p = 0; p < line->own.n_parents; p++)
			for (guint32 k = 0; k < line->own.parents[p].n; k++)
				parents[line->own.parents[p].children[k]] = p;
		for (guint32 c = 0; c < n; c++) {
			vote(votes->pdata[c], parents[c]);
			beliefs[problem->children[c].bundle].drawn = parents[c];
		}
	}
	for (guint32 c = 0; c < n; c++) {
		guint32 b = problem->children[c].bundle;
		elect(votes->pdata[c], &problem->bundles[b], &beliefs[b]);
	}
	wp_nest_hang_children(problem, 0, wp_nest_n_all_parents(problem));
}

/* Learns from draws, begun from the answer that there is; returns how likely it is all in all. */
static double
settle(Line *line, gint rounds)
{
	const WpNestProblem *problem = line->problem;

	line->is_measure = FALSE;
	line->orphan = line->alone - ORPHAN_NATS;
	for (gint round = 0; round < rounds && !wp_nest_is_stopped(problem); round++) {
		learn(line);
		sum_forward(line);
		draw(line);
	}
	learn(line);
	line->is_measure = TRUE;
	return sum_forward(line);
}

/*
 * Whether work in an answer, which is drawn, takes as long while others wait. It does of one worker; where several messages are
 * worked at, one or another is done the sooner, the more they are.
 */
static gboolean
is_steady(Line *line)
{
	const WpNestProblem *problem = line->problem;
	double sums[2] = { 0, 0 }, n[2] = { 0, 0 };

	draw(line);
	for (guint32 p = 0; p + 1 < problem->n_parents; p++) {
		const WpNestParent *own = &line->own.parents[p];
		gboolean is_awaited = problem->parents[p + 1].begin_ns <= own->begin_ns;
		if (own->n == 0)
			continue;
		gint64 gap_ns = problem->children[own->children[0]].begin_ns - own->begin_ns;
		sums[is_awaited] += wp_nest_octaves(problem, MAX(gap_ns, 0));
		n[is_awaited]++;
	}
	return MIN(n[0], n[1]) < ENOUGH || sums[0] / n[0] - sums[1] / n[1] < MAX_FASTER;
}

/*
 * How likely it is if what is sent tells by itself when the next is sent, whatever comes: a clock. Such is a line in which
 * there is always a message; whether one is there must tell something.
 */
static double
score_clock(Line *line)
{
	const WpNestProblem *own = &line->own;
	double total = 0;

	deal_in_order(line, 0, FALSE);
	for (guint32 p = 0; p < own->n_parents; p++) {
		WpNestParent *parent = &own->parents[p];
		if (parent->n > 0 && parent->children[0] > 0)
			parent->begin_ns = parent->end_ns = line->free_ns[parent->children[0]];
	}
	learn(line);
	for (guint32 p = 0; p < own->n_parents; p++)
		total += wp_timelines_score(line->timelines, p, own->parents[p].children,
					    own->parents[p].n) +
			 wp_timelines_cost_of_once(line->timelines, own->parents[p].children,
						   own->parents[p].n);
	return total;
}

/* Settles from the first answer from which it promises most. */
static double
settle_best(Line *line)
{
	const WpNestProblem *problem = line->problem;
	gboolean is_mixed = problem->n_classes > 1 && problem->n_types > 1;
	guint n_turns = is_mixed && problem->n_types <= FEW_TYPES ? problem->n_types + 1 : 1;
	guint n_sides = problem->n_types > 1 ? 2 : 1, best_way = 0;
	double best = -G_MAXDOUBLE;

	for (guint way = 0; way < n_turns * n_sides; way++) {
		deal_in_order(line, way / n_sides, way % n_sides);
		double total = settle(line, TRIAL_ROUNDS);
		if (total > best) {
			best = total;
			best_way = way;
		}
	}
	deal_in_order(line, best_way / n_sides, best_way % n_sides);
	return settle(line, ROUNDS);
}

/* From when PARENT was taken up to the last that it sends. */
static gint64
work_at(const Line *line, const WpNestParent *parent)
{
	return line->free_ns[parent->children[parent->n - 1] + 1] - parent->begin_ns;
}

/* (transfer full) How long the work at messages takes of which something is sent, in no order. */
static gint64 *
list_works(const Line *line, guint32 *out_n)
{
	const WpNestProblem *own = &line->own;
	gint64 *works_ns = g_new(gint64, own->n_parents);

	*out_n = 0;
	for (guint32 p = 0; p < own->n_parents; p++)
		if (own->parents[p].n > 0)
			works_ns[(*out_n)++] = work_at(line, &own->parents[p]);
	return works_ns;
}

/*
 * Settles with work of which nothing is sent, begun from the answer that there is. Of that what seems to take long may
 * have waited for such work: only what takes up to LIMIT_NS is learned from at first.
 */
static double
settle_silent(Line *line, gint64 limit_ns)
{
	WpNestProblem *own = &line->own;

	for (guint32 p = 0; p < own->n_parents; p++)
		if (own->parents[p].n > 0 && work_at(line, &own->parents[p]) > limit_ns)
			own->parents[p].n = 0;
	learn_works(line, TRUE);
	wp_timelines_free(line->timelines);
	line->timelines = wp_timelines_new(own);
	wp_timelines_learn(line->timelines, 0, own->n_parents);
	sum_forward(line);
	draw(line);
	return settle(line, ROUNDS);
}

/*
 * Where nothing is sent of many messages, the work at them may have taken time all the same, in which the next had to
 * wait: that is summed over, too. The answer without is the one where it is not likelier.
 */
static double
settle_all(Line *line)
{
	guint32 n = line->own.n_parents, n_sending;
	double got = settle_best(line);

	draw(line);
	g_autofree gint64 *works_ns = list_works(line, &n_sending);
	if (n > MAX_OF_SILENT || n - n_sending < MIN_SILENT * n || n_sending == 0)
		return got;
	gint64 limit_ns = wp_nest_select_time(works_ns, n_sending, n_sending / 2);
	line->cell_ns = CLAMP(limit_ns / CELLS_OF_WORK, 1, MAX_CELL_NS);
	line->works = g_new(double, (gsize)line->own.n_classes *N_CELLS);
	line->work_ns = g_new0(gint64, n);
	double other = settle_silent(line, limit_ns);
	if (other > got)
		return other;
	line->cell_ns = 0;
	return settle_best(line);
}

/* How much more evidence says for the answer than for one that is drawn in LINE. */
static double
score_evidence(Line *line)
{
	const WpNestProblem *problem = line->problem;
	double more = 0;

	draw(line);
	for (guint32 b = 0; b < problem->n_bundles; b++)
		more += wp_nest_odds(problem, &problem->bundles[b], problem->bundles[b].parent);
	for (guint32 p = 0; p < line->own.n_parents; p++) {
		const WpNestParent *own = &line->own.parents[p];
		for (guint32 i = 0; i < own->n; i++) {
			guint32 b = problem->children[own->children[i]].bundle;
			more -= wp_nest_odds(problem, &problem->bundles[b], p);
		}
	}
	return more;
}

gboolean
wp_nest_try_line(WpNestProblem *problem, WpNestBelief *beliefs)
{
	if (!wp_nest_is_of_messages(problem))
		return FALSE;
	Line line;
	init_line(problem, &line);
	double least = MAX(wp_nest_score_answer(problem, beliefs), score_rate(problem));
	least = MAX(least, score_clock(&line)) + MIN_LIKELIER * problem->n_children;
	double got = settle_all(&line);
	gboolean is_line = got > least && got > least + score_evidence(&line) && is_steady(&line) &&
			   !wp_nest_is_stopped(problem);
	if (is_line)
		take_draws(&line, problem, beliefs);
	clear_line(&line);
	return is_line;
}
