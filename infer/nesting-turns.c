/* How long what comes in waits for its turn. See the header. */
#include "infer/nesting-turns.h"

#define MIN_INPUTS 200
#define FARTHEST   4  /* neighbours, whose waits are known, are among so many times more */
#define UNKNOWN    -1 /* nothing was sent for it */
#define MIN_ALIKE                                                                                  \
	0.55 /* of the waits; 0.48 to 0.53 where there is no line, 0.6 and more where there is */

/* Nobody stands in line for longer; and a turn is still a time. */
#define MAX_WAIT_NS G_GINT64_CONSTANT(3600000000000)

/* Of the length of a line, which is a number of inputs. */
#define HALF       0.5
#define OFTEN      0.98 /* of the time */
#define SHARE_STEP 0.95
#define MIN_SHARE  0.1

/* What came in: the begin of a parent, or the return of a child. */
typedef struct {
	gint64 at_ns;
	guint32 number; /* parent; behind the parents, child */
} Input;

static gboolean
returns(const WpNestChild *child)
{
	return child->end_ns > child->begin_ns;
}

static gint
compare_inputs(gconstpointer a, gconstpointer b)
{
	const Input *x = a, *y = b;
	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* --- waits of an answer --- */

typedef struct {
	const WpNestProblem *problem;
	gint64 *waits_ns; /* by number */
	GArray *received; /* Input: scratch, of one parent, in order */
	guint neighbours; /* on each side, by which the wait of one is told */
} Waits;

/* Something was sent at AT_NS: for the last of what was received, from FROM on, if it is the first that was. */
static guint
send_at(Waits *waits, guint from, gint64 at_ns)
{
	const Input *inputs = (const Input *)(const void *)waits->received->data;
	guint last = from;

	while (last + 1 < waits->received->len && inputs[last + 1].at_ns <= at_ns)
		last++;
	gint64 *wait_ns = &waits->waits_ns[inputs[last].number];
	if (*wait_ns == UNKNOWN && inputs[last].at_ns <= at_ns)
		*wait_ns = at_ns - inputs[last].at_ns;
	return last;
}

static void
receive(Waits *waits, gint64 at_ns, guint32 number)
{
	Input input = { at_ns, number };
	g_array_append_val(waits->received, input);
}

/* How long what parent NUMBER received waited until it sent something, if its children are those of ANSWER. */
static void
add_parent(Waits *waits, guint32 number, const WpNestParent *answer)
{
	const WpNestProblem *problem = waits->problem;
	const WpNestParent *parent = &problem->parents[number];
	gboolean has_ended = FALSE;
	guint last = 0;

	g_array_set_size(waits->received, 0);
	receive(waits, parent->begin_ns, number);
	for (guint32 i = 0; i < answer->n; i++) {
		const WpNestChild *child = &problem->children[answer->children[i]];
		if (returns(child))
			receive(waits, child->end_ns, problem->n_parents + answer->children[i]);
	}
	g_array_sort(waits->received, compare_inputs);
	for (guint32 i = 0; i < answer->n; i++) {
		const WpNestChild *child = &problem->children[answer->children[i]];
		if (!has_ended && parent->end_ns < child->begin_ns) {
			last = send_at(waits, last, parent->end_ns);
			has_ended = TRUE;
		}
		if (!child->has_waited) /* else it was sent when a connection came back */
			last = send_at(waits, last, child->begin_ns);
	}
	if (!has_ended)
		send_at(waits, last, parent->end_ns);
}

/* --- turns --- */

/* (transfer full) All that came in to PROBLEM, in order. */
static GArray *
list_inputs(const WpNestProblem *problem)
{
	GArray *inputs = g_array_new(FALSE, FALSE, sizeof(Input));

	for (guint32 p = 0; p < problem->n_parents; p++) {
		Input input = { problem->parents[p].begin_ns, p };
		g_array_append_val(inputs, input);
	}
	for (guint32 c = 0; c < problem->n_children; c++) {
		Input input = { problem->children[c].end_ns, problem->n_parents + c };
		if (returns(&problem->children[c]))
			g_array_append_val(inputs, input);
	}
	g_array_sort(inputs, compare_inputs);
	return inputs;
}

/* The waits known next to input AT, on one side; STEP is -1 or 1. */
static guint32
list_neighbours(const Waits *waits, const GArray *inputs, guint at, gint step, gint64 *out)
{
	guint32 n = 0, farthest = FARTHEST * waits->neighbours;
	gint64 i = (gint64)at + step;

	for (guint32 far = 0; far < farthest && n < waits->neighbours && i >= 0 && i < inputs->len;
	     far++) {
		gint64 wait_ns = waits->waits_ns[g_array_index(inputs, Input, i).number];
		if (wait_ns != UNKNOWN)
			out[n++] = wait_ns;
		i += step;
	}
	return n;
}

/* The median of its neighbours' waits: its own would speak for itself. */
static gint64
wait_of(const Waits *waits, const GArray *inputs, guint at)
{
	gint64 around[2 * WP_NEST_MAX_NEIGHBOURS];
	guint32 n = list_neighbours(waits, inputs, at, -1, around);

	n += list_neighbours(waits, inputs, at, 1, around + n);
	return n > 0 ? MIN(wp_nest_select_time(around, n, n / 2), MAX_WAIT_NS) : 0;
}

/*
 * Of the waits, the share of those that are long, or short, where those around them are: a half where there is no line,
 * however long anything takes.
 */
static double
share_alike(const Waits *waits, const GArray *inputs)
{
	g_autofree gint64 *known_ns = g_new(gint64, inputs->len);
	guint32 n = 0, n_alike = 0;

	for (guint i = 0; i < inputs->len; i++) {
		gint64 wait_ns = waits->waits_ns[g_array_index(inputs, Input, i).number];
		if (wait_ns != UNKNOWN)
			known_ns[n++] = wait_ns;
	}
	if (n == 0)
		return 0;
	gint64 median_ns = wp_nest_select_time(known_ns, n, n / 2);
	for (guint i = 0; i < inputs->len; i++) {
		gint64 wait_ns = waits->waits_ns[g_array_index(inputs, Input, i).number];
		gboolean is_long = wait_of(waits, inputs, i) > median_ns;
		n_alike += wait_ns != UNKNOWN && (wait_ns > median_ns) == is_long;
	}
	return (double)n_alike / n;
}

static void
set_waits(WpNestProblem *problem, const Waits *waits, const GArray *inputs)
{
	for (guint i = 0; i < inputs->len; i++) {
		guint32 number = g_array_index(inputs, Input, i).number;
		gint64 wait_ns = wait_of(waits, inputs, i);
		if (number < problem->n_parents)
			problem->parents[number].wait_ns = wait_ns;
		else
			problem->children[number - problem->n_parents].wait_ns = wait_ns;
	}
}

static void
set_bundle_waits(WpNestProblem *problem)
{
	for (guint32 b = 0; b < problem->n_bundles; b++) {
		WpNestBundle *bundle = &problem->bundles[b];
		for (guint32 i = 0; i < bundle->n; i++) {
			guint32 number = problem->bundle_children[bundle->first + i];
			if (problem->children[number].end_ns == bundle->end_ns)
				bundle->wait_ns = problem->children[number].wait_ns;
		}
	}
}

static gboolean
has_messages(const WpNestProblem *problem)
{
	for (guint32 p = 0; p < problem->n_parents; p++)
		if (problem->parents[p].is_message)
			return TRUE;
	return FALSE;
}

gboolean
wp_nest_take_turns(WpNestProblem *problem, const WpNestProblem *answer, guint neighbours)
{
	g_autoptr(GArray) inputs = list_inputs(problem);
	Waits waits = { .problem = problem, .neighbours = MIN(neighbours, WP_NEST_MAX_NEIGHBOURS) };
	gsize n = (gsize)problem->n_parents + problem->n_children;

	if (inputs->len < MIN_INPUTS || has_messages(problem))
		return FALSE;
	waits.waits_ns = g_new(gint64, n);
	waits.received = g_array_new(FALSE, FALSE, sizeof(Input));
	for (gsize i = 0; i < n; i++)
		waits.waits_ns[i] = UNKNOWN;
	for (guint32 p = 0; p < problem->n_parents; p++)
		add_parent(&waits, p, &answer->parents[p]);
	problem->has_turns = share_alike(&waits, inputs) >= MIN_ALIKE;
	if (problem->has_turns) {
		set_waits(problem, &waits, inputs);
		problem->has_waits = TRUE;
		set_bundle_waits(problem);
	}
	g_array_unref(waits.received);
	g_free(waits.waits_ns);
	return problem->has_turns;
}

/* --- the length of the line --- */

/* A parent begins or ends, a child is sent or returns. */
typedef struct {
	gint64 at_ns;
	gint32 in_hand; /* how many parents more */
	gint32 sent;    /* how many children more */
	guint32 number; /* of what comes in, as in Input; NO_INPUT: something goes out */
} Step;

#define NO_INPUT G_MAXUINT32

/* What comes in goes first of what is at one time. */
static gint
compare_steps(gconstpointer a, gconstpointer b)
{
	const Step *x = a, *y = b;
	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->in_hand != y->in_hand ? x->in_hand - y->in_hand : x->sent - y->sent;
}

/* (transfer full) */
static GArray *
list_steps(const WpNestProblem *problem)
{
	GArray *steps = g_array_new(FALSE, FALSE, sizeof(Step));

	for (guint32 p = 0; p < problem->n_parents; p++) {
		const WpNestParent *parent = &problem->parents[p];
		const Step pair[] = { { parent->begin_ns, 1, 0, p },
				      { parent->end_ns, -1, 0, NO_INPUT } };
		g_array_append_vals(steps, pair, 2);
	}
	for (guint32 c = 0; c < problem->n_children; c++) {
		const WpNestChild *child = &problem->children[c];
		const Step pair[] = { { child->begin_ns, 0, 1, NO_INPUT },
				      { child->end_ns, 0, -1, problem->n_parents + c } };
		if (returns(child))
			g_array_append_vals(steps, pair, 2);
	}
	g_array_sort(steps, compare_steps);
	return steps;
}

typedef struct {
	gint64 in_hand, sent;
} Count;

static void
count_step(Count *count, const Step *step)
{
	count->in_hand += step->in_hand;
	count->sent += step->sent;
}

/*
 * How many stand in line, where SHARE of the children are what keeps a parent waiting: of those that are sent together one
 * does, of those that a parent leaves behind none.
 */
static double
length_of_line(Count count, double share)
{
	return (double)count.in_hand - share * (double)count.sent;
}

/* For how much of the time of STEPS the line is longer than LENGTH: a share. */
static double
share_longer(const GArray *steps, double share, double length)
{
	Count count = { 0, 0 };
	double longer_ns = 0, all_ns = 0;

	for (guint i = 0; i + 1 < steps->len; i++) {
		const Step *step = &g_array_index(steps, Step, i);
		double ns = (double)(step[1].at_ns - step->at_ns);
		count_step(&count, step);
		all_ns += ns;
		longer_ns += length_of_line(count, share) > length ? ns : 0;
	}
	return all_ns > 0 ? longer_ns / all_ns : 0;
}

/* The largest with which the line is hardly ever shorter than none. */
static double
find_share(const GArray *steps)
{
	double share = 1;

	while (share > MIN_SHARE && share_longer(steps, share, -HALF) < OFTEN)
		share *= SHARE_STEP;
	return share;
}

gboolean
wp_nest_count_turns(WpNestProblem *problem)
{
	g_autoptr(GArray) steps = list_steps(problem);
	guint32 n_inputs = (guint32)steps->len / 2;
	Count count = { 0, 0 };

	if (n_inputs < MIN_INPUTS || has_messages(problem))
		return FALSE;
	double share = find_share(steps);
	const Step *first = &g_array_index(steps, Step, 0);
	const Step *last = &g_array_index(steps, Step, steps->len - 1);
	double busy_ns = share_longer(steps, share, HALF) * (double)(last->at_ns - first->at_ns);
	for (const Step *step = first; step <= last; step++) {
		double length = MAX(length_of_line(count, share), 0);
		gint64 wait_ns = (gint64)MIN(length * busy_ns / n_inputs, (double)MAX_WAIT_NS);
		if (step->number < problem->n_parents)
			problem->parents[step->number].wait_ns = wait_ns;
		else if (step->number != NO_INPUT)
			problem->children[step->number - problem->n_parents].wait_ns = wait_ns;
		count_step(&count, step);
	}
	set_bundle_waits(problem);
	problem->has_turns = TRUE;
	return TRUE;
}
