/* Order of what calls wait for, and of the calls. */
#include "infer/nesting-fifo.h"

#include <string.h>

#define MAX_NEIGHBOURS  32    /* of its type on each side: who waits that long is behind many */
#define MIN_EXPECTED    2     /* pairs out of order by chance: fewer tell nothing */
#define ENOUGH_EXPECTED 10    /* ... and so many tell it alone */
#define MAX_SHARE       0.2   /* of the expected: others have two thirds and more */
#define ENOUGH          20000 /* children, to tell whether it works in order */

/* A child and what it waited for. Pairs are asked for that a million times, so that neighbours stand side by side. */
typedef struct {
	guint64 key; /* as in WpTrigger */
	gint64 time_ns;
	gint64 begin_ns; /* of the child */
} Place;

struct WpNestFifo {
	const WpNestProblem *problem;
	WpTimelines *timelines;
	guint32 n;           /* children that are looked at: the first */
	guint32 *by_type;    /* these, each type by begin */
	guint32 *first_of;   /* by type, into BY_TYPE; one more for the end */
	guint32 *positions;  /* by child: in BY_TYPE */
	WpTrigger *triggers; /* by child: what it waited for; key 0 = no parent */
	Place *places;       /* by position: what a pair is in order by */
	WpTrigger *scratch;
	guint32 n_scratch;
	double nats; /* a pair out of order costs */
};

/* --- life --- */

/* Looks at the first N children, of which no trigger is known yet beyond those that were looked at before. */
static void
look_at(WpNestFifo *fifo, guint32 n)
{
	const WpNestProblem *problem = fifo->problem;
	g_autofree guint32 *next = g_new0(guint32, (gsize)problem->n_types + 1);

	fifo->first_of = g_renew(guint32, fifo->first_of, (gsize)problem->n_types + 1);
	fifo->places = g_renew(Place, fifo->places, MAX(n, 1));
	fifo->by_type = g_renew(guint32, fifo->by_type, MAX(n, 1));
	fifo->positions = g_renew(guint32, fifo->positions, MAX(n, 1));
	fifo->triggers = g_renew(WpTrigger, fifo->triggers, MAX(n, 1));
	for (guint32 i = fifo->n; i < n; i++)
		fifo->triggers[i] = (WpTrigger){ .key = 0 };
	fifo->n = n;
	for (guint32 i = 0; i < n; i++)
		next[problem->children[i].type + 1]++;
	for (guint32 t = 0; t < problem->n_types; t++)
		next[t + 1] += next[t];
	memcpy(fifo->first_of, next, sizeof(guint32) * ((gsize)problem->n_types + 1));
	for (guint32 i = 0; i < n; i++) {
		guint32 at = next[problem->children[i].type]++;
		fifo->by_type[at] = i;
		fifo->positions[i] = at;
		fifo->places[at] = (Place){ fifo->triggers[i].key, fifo->triggers[i].time_ns,
					    problem->children[i].begin_ns };
	}
}

static WpTrigger *
reserve(WpNestFifo *fifo, guint32 n)
{
	if (n > fifo->n_scratch) {
		fifo->n_scratch = 2 * n;
		fifo->scratch = g_renew(WpTrigger, fifo->scratch, fifo->n_scratch);
	}
	return fifo->scratch;
}

void
wp_nest_fifo_update(WpNestFifo *fifo, guint32 parent)
{
	const WpNestParent *self = &fifo->problem->parents[parent];
	WpTrigger *triggers = reserve(fifo, self->n);

	wp_timelines_triggers(fifo->timelines, parent, self->children, self->n, triggers);
	for (guint32 i = 0; i < self->n; i++) {
		Place *place = &fifo->places[fifo->positions[self->children[i]]];
		fifo->triggers[self->children[i]] = triggers[i];
		place->key = triggers[i].key;
		place->time_ns = triggers[i].time_ns;
	}
}

void
wp_nest_fifo_free(WpNestFifo *fifo)
{
	if (!fifo)
		return;
	g_free(fifo->by_type);
	g_free(fifo->first_of);
	g_free(fifo->positions);
	g_free(fifo->triggers);
	g_free(fifo->places);
	g_free(fifo->scratch);
	g_free(fifo);
}

/* --- the test --- */

/* What a parent sent, a call or its reply, and what that had waited for. */
typedef struct {
	WpTrigger trigger;
	gint64 sent_ns;
	guint32 kind;  /* type of the call, or class of the parent */
	guint32 child; /* the call, or the last that had returned */
} Output;

typedef struct {
	double seen;
	double expected;
} Tally;

/* The parent of CHILD could not have CALL. */
static gboolean
excludes(const WpNestProblem *problem, guint32 child, guint32 call)
{
	const WpNestBundle *bundle = &problem->bundles[problem->children[child].bundle];
	const WpNestParent *parent = &problem->parents[bundle->parent];
	const WpNestChild *other = &problem->children[call];
	gboolean is_late = parent->is_message ? other->begin_ns > parent->end_ns + problem->reach_ns
					      : other->end_ns > parent->end_ns;
	return is_late || other->begin_ns < parent->begin_ns;
}

/* A pair at the same point of their plans that waited at the same time; FIRST was sent first. */
static void
tally_pair(const WpNestFifo *fifo, const Output *first, const Output *second, Tally *tally)
{
	const WpTrigger *a = &first->trigger, *b = &second->trigger;
	gboolean is_turned = b->time_ns < a->time_ns;
	gint64 came[2] = { (is_turned ? b : a)->turn_ns, (is_turned ? a : b)->turn_ns };
	gint64 went[2] = { first->sent_ns, second->sent_ns };

	if (a->time_ns == b->time_ns || went[0] == went[1] ||
	    (!excludes(fifo->problem, first->child, second->child) &&
	     !excludes(fifo->problem, second->child, first->child)))
		return;
	double in_order = wp_timelines_gap(fifo->timelines, a->key, went[0] - came[0]) +
			  wp_timelines_gap(fifo->timelines, a->key, went[1] - came[1]);
	double crossed = wp_timelines_gap(fifo->timelines, a->key, went[0] - came[1]) +
			 wp_timelines_gap(fifo->timelines, a->key, went[1] - came[0]);
	tally->seen += is_turned;
	tally->expected += 1 / (1 + wp_quick_exp(CLAMP(in_order - crossed, -50.0, 50.0)));
}

/* OUTPUTS: each kind by SENT_NS. */
static void
tally_pairs(const WpNestFifo *fifo, const Output *outputs, guint32 n, Tally *tally)
{
	for (guint32 i = 0; i < n; i++) {
		const Output *first = &outputs[i];
		guint32 end = MIN(n, i + 1 + MAX_NEIGHBOURS);
		for (guint32 k = i + 1; k < end && outputs[k].kind == first->kind; k++)
			if (first->trigger.key == outputs[k].trigger.key &&
			    outputs[k].trigger.time_ns < first->sent_ns)
				tally_pair(fifo, first, &outputs[k], tally);
	}
}

static void
append_output(GArray *outputs, const WpTrigger *trigger, gint64 sent_ns, guint32 kind,
	      guint32 child)
{
	Output output = { *trigger, sent_ns, kind, child };

	if (trigger->key && trigger->is_last)
		g_array_append_val(outputs, output);
}

/* Calls up to child LAST. */
static Tally
tally_calls(const WpNestFifo *fifo, guint32 last)
{
	g_autoptr(GArray) outputs = g_array_new(FALSE, FALSE, sizeof(Output));
	Tally tally = { 0, 0 };

	for (guint32 i = 0; i < fifo->n; i++) {
		guint32 number = fifo->by_type[i];
		const WpNestChild *child = &fifo->problem->children[number];
		if (number <= last)
			append_output(outputs, &fifo->triggers[number], child->begin_ns,
				      child->type, number);
	}
	tally_pairs(fifo, (const Output *)(const void *)outputs->data, outputs->len, &tally);
	return tally;
}

static gint
compare_outputs(gconstpointer a, gconstpointer b)
{
	const Output *first = a, *second = b;

	if (first->kind != second->kind)
		return first->kind < second->kind ? -1 : 1;
	if (first->sent_ns != second->sent_ns)
		return first->sent_ns < second->sent_ns ? -1 : 1;
	return first->child < second->child ? -1 : first->child > second->child;
}

/* Replies of the first N parents that sent them when a call had returned. */
static Tally
tally_replies(const WpNestFifo *fifo, guint32 n)
{
	const WpNestProblem *problem = fifo->problem;
	g_autoptr(GArray) outputs = g_array_new(FALSE, FALSE, sizeof(Output));
	Tally tally = { 0, 0 };

	for (guint32 p = 0; p < n; p++) {
		const WpNestParent *parent = &problem->parents[p];
		WpTrigger trigger;
		if (parent->is_message || parent->n == 0)
			continue;
		wp_timelines_end_trigger(fifo->timelines, p, &trigger);
		for (guint32 i = 0; i < parent->n; i++) {
			guint32 child = parent->children[i];
			if (problem->children[child].end_ns != trigger.time_ns)
				continue;
			append_output(outputs, &trigger, parent->end_ns, parent->class, child);
			break;
		}
	}
	g_array_sort(outputs, compare_outputs);
	tally_pairs(fifo, (const Output *)(const void *)outputs->data, outputs->len, &tally);
	return tally;
}

/*
 * How sure it is, by children up to LAST in time and the first N_BEGUN parents: what a pair out of order costs; 0: the host
 * does not work in order.
 */
static double
learn_order(const WpNestFifo *fifo, guint32 last, guint32 n_begun)
{
	Tally tally = tally_calls(fifo, last);

	if (tally.expected < MIN_EXPECTED || tally.seen > MAX_SHARE * tally.expected)
		return 0;
	/* Of so few there may be none by chance. */
	if (tally.expected < ENOUGH_EXPECTED) {
		Tally replies = tally_replies(fifo, n_begun);
		tally.seen += replies.seen;
		tally.expected += replies.expected;
		if (tally.seen > MAX_SHARE * tally.expected)
			return 0;
	}
	return wp_quick_log(&fifo->problem->quick, (tally.expected + 0.5) / (tally.seen + 0.5));
}

/* Parents that begin before child LAST, or when it does. OUT_N: behind the last child of these. */
static guint32
count_begun(const WpNestProblem *problem, guint32 last, guint32 *out_n)
{
	guint32 p = 0;

	*out_n = last + 1;
	for (; p < problem->n_parents &&
	       problem->parents[p].begin_ns <= problem->children[last].begin_ns;
	     p++) {
		const WpNestParent *parent = &problem->parents[p];
		if (parent->n > 0)
			*out_n = MAX(*out_n, parent->children[parent->n - 1] + 1);
	}
	return p;
}

WpNestFifo *
wp_nest_fifo_new(const WpNestProblem *problem, WpTimelines *timelines)
{
	WpNestFifo *fifo = g_new0(WpNestFifo, 1);
	guint32 last = MIN(problem->n_children, ENOUGH) - 1, n;
	guint32 n_begun = count_begun(problem, last, &n);

	fifo->problem = problem;
	fifo->timelines = timelines;
	look_at(fifo, n);
	for (guint32 p = 0; p < n_begun; p++)
		wp_nest_fifo_update(fifo, p);
	fifo->nats = learn_order(fifo, last, n_begun);
	if (fifo->nats <= 0) {
		wp_nest_fifo_free(fifo);
		return NULL;
	}
	look_at(fifo, problem->n_children);
	for (guint32 p = n_begun; p < problem->n_parents; p++)
		wp_nest_fifo_update(fifo, p);
	return fifo;
}

/* --- disorder --- */

/* Calls of its type that CHILD is out of order with. */
static gint
disorder_of(const WpNestFifo *fifo, guint32 child)
{
	guint32 at = fifo->positions[child], type = fifo->problem->children[child].type;
	const Place own = fifo->places[at], *places = fifo->places;
	guint32 first = fifo->first_of[type], end = fifo->first_of[type + 1];
	gint n = 0;

	first = at - first > MAX_NEIGHBOURS ? at - MAX_NEIGHBOURS : first;
	end = MIN(end, at + 1 + MAX_NEIGHBOURS);
	for (guint32 k = at + 1; k < end; k++)
		n += (places[k].key == own.key) & (places[k].time_ns < own.time_ns) &
		     (places[k].begin_ns > own.begin_ns);
	for (guint32 k = at; k > first && places[k - 1].begin_ns > own.time_ns; k--)
		n += (places[k - 1].key == own.key) & (places[k - 1].time_ns > own.time_ns) &
		     (places[k - 1].begin_ns < own.begin_ns);
	return n;
}

static gint
disorder_of_both(const WpNestFifo *fifo, const WpNestFamily families[2])
{
	gint n = 0;
	for (gint f = 0; f < 2; f++)
		for (guint32 i = 0; i < families[f].n; i++)
			n += disorder_of(fifo, families[f].children[i]);
	return n;
}

double
wp_nest_fifo_cost(WpNestFifo *fifo, const WpNestFamily families[2])
{
	guint32 n = families[0].n + families[1].n, at = 0;
	WpTrigger *other = reserve(fifo, n);

	for (gint f = 0; f < 2; f++) {
		wp_timelines_triggers(fifo->timelines, families[f].parent, families[f].children,
				      families[f].n, other + at);
		at += families[f].n;
	}
	gint before = disorder_of_both(fifo, families);
	for (gint turn = 0; turn < 2; turn++) {
		if (turn == 1)
			before -= disorder_of_both(fifo, families);
		/* There and back again. */
		at = 0;
		for (gint f = 0; f < 2; f++)
			for (guint32 i = 0; i < families[f].n; i++, at++) {
				Place *own =
					&fifo->places[fifo->positions[families[f].children[i]]];
				Place kept = *own;
				own->key = other[at].key;
				own->time_ns = other[at].time_ns;
				other[at].key = kept.key;
				other[at].time_ns = kept.time_ns;
			}
	}
	return -fifo->nats * before;
}
