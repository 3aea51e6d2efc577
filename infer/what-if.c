/* From the innermost calls outwards: the new length of each depends on those of its children alone. */
#include "infer/what-if.h"

#include <math.h>

#include "capture/record.h"

/* A child as its parent sees it. */
typedef struct {
	gint64 begin_ns;
	gint64 end_ns;    /* G_MAXINT64: never, as far as the parent is concerned */
	gint64 length_ns; /* new */
	gint64 until_ns;  /* new end, from the parent's begin on */
} Child;

typedef struct {
	const WpWhatIfCall *calls;
	guint32 *first;   /* of the children in order */
	guint32 *order;   /* calls by parent, then begin */
	gint64 *lengths;  /* new, by call */
	GArray *children; /* Child: of the call at hand */
} Maker;

static int
compare_begins(gconstpointer a, gconstpointer b, gpointer data)
{
	const WpWhatIfCall *calls = data;
	guint32 i = *(const guint32 *)a, j = *(const guint32 *)b;
	if (calls[i].parent != calls[j].parent)
		return calls[i].parent < calls[j].parent ? -1 : 1;
	if (calls[i].begin_ns != calls[j].begin_ns)
		return calls[i].begin_ns < calls[j].begin_ns ? -1 : 1;
	return i < j ? -1 : i > j;
}

/* How things stand in the parent at some time, as children are gone through. */
typedef struct {
	gint64 returned_ns; /* when the last child had returned; the parent's begin before */
	gint64 new_ns;      /* when all of these have, from the parent's begin on */
	GArray *open;       /* guint32: children that began, in order, and have not returned */
} State;

/* Goes on to AT_NS: those that have returned by then are waited for. */
static void
advance(State *state, const GArray *children, gint64 at_ns)
{
	guint kept = 0;

	for (guint i = 0; i < state->open->len; i++) {
		guint32 number = g_array_index(state->open, guint32, i);
		const Child *child = &g_array_index(children, Child, number);
		if (child->end_ns > at_ns) {
			g_array_index(state->open, guint32, kept++) = number;
			continue;
		}
		state->returned_ns = MAX(state->returned_ns, child->end_ns);
		state->new_ns = MAX(state->new_ns, child->until_ns);
	}
	g_array_set_size(state->open, kept);
}

/* The new time of what was at AT_NS: after advance() to it. */
static gint64
new_time(const State *state, const GArray *children, gint64 at_ns, double factor)
{
	gint64 alone_ns = at_ns;

	/* From where on a child was open that still is: the first that is, began first. */
	if (state->open->len) {
		guint32 number = g_array_index(state->open, guint32, 0);
		alone_ns = MIN(alone_ns, g_array_index(children, Child, number).begin_ns);
	}
	gint64 self_ns = MAX(alone_ns - state->returned_ns, 0);
	gint64 rest_ns = MAX(at_ns - state->returned_ns, 0) - self_ns;
	return state->new_ns + (gint64)llround((double)self_ns * factor) + rest_ns;
}

static void
collect_children(Maker *maker, guint32 number, guint32 n, gint64 begin_ns, gint64 end_ns)
{
	g_array_set_size(maker->children, 0);
	for (guint32 k = maker->first[number]; k < n; k++) {
		const WpWhatIfCall *call = &maker->calls[maker->order[k]];
		if (call->parent != number)
			break;
		if (call->begin_ns >= end_ns)
			continue; /* after the reply: nobody waits for it */
		Child child = { .begin_ns = MAX(call->begin_ns, begin_ns),
				.end_ns = G_MAXINT64,
				.length_ns = maker->lengths[maker->order[k]] };
		if (call->end_ns != WP_NO_TIME && call->end_ns <= end_ns)
			child.end_ns = MAX(call->end_ns, child.begin_ns);
		g_array_append_val(maker->children, child);
	}
}

static gint64
length_of(Maker *maker, guint32 number, guint32 n)
{
	const WpWhatIfCall *call = &maker->calls[number];
	gint64 begin_ns = call->begin_ns + call->way_in_ns,
	       end_ns = call->end_ns - call->way_out_ns;
	g_autoptr(GArray) open = g_array_new(FALSE, FALSE, sizeof(guint32));

	if (call->end_ns == WP_NO_TIME)
		return 0;
	if (end_ns < begin_ns)
		return call->end_ns - call->begin_ns;
	State state = { .returned_ns = begin_ns, .open = open };
	collect_children(maker, number, n, begin_ns, end_ns);
	for (guint32 i = 0; i < maker->children->len; i++) {
		Child *child = &g_array_index(maker->children, Child, i);
		advance(&state, maker->children, child->begin_ns);
		child->until_ns = new_time(&state, maker->children, child->begin_ns, call->factor) +
				  child->length_ns;
		g_array_append_val(open, i);
	}
	advance(&state, maker->children, end_ns);
	return call->way_in_ns + new_time(&state, maker->children, end_ns, call->factor) +
	       call->way_out_ns;
}

gint64
wp_what_if(const WpWhatIfCall *calls, guint32 n)
{
	g_autofree guint32 *order = g_new(guint32, (gsize)n + 1);
	g_autofree guint32 *first = g_new(guint32, (gsize)n + 1);
	g_autofree gint64 *lengths = g_new0(gint64, (gsize)n + 1);
	g_autoptr(GArray) children = g_array_new(FALSE, FALSE, sizeof(Child));
	Maker maker = { .calls = calls,
			.first = first,
			.order = order,
			.lengths = lengths,
			.children = children };

	if (n == 0 || calls[0].end_ns == WP_NO_TIME)
		return WP_NO_TIME;
	for (guint32 i = 0; i < n; i++) {
		order[i] = i;
		first[i] = n;
	}
	g_qsort_with_data(order, (gint)n, sizeof *order, compare_begins, (gpointer)calls);
	for (guint32 i = n; i-- > 0;)
		if (calls[order[i]].parent != G_MAXUINT32)
			first[calls[order[i]].parent] = i;
	for (guint32 i = n; i-- > 0;)
		lengths[i] = length_of(&maker, i, n);
	return lengths[0];
}
