/* Callees that are alike. See the header. */
#include "infer/alike.h"

#include <math.h>
#include <string.h>

#include "infer/map.h"
#include "infer/replicas.h"

#define MOST_CALLEES 64
#define ENOUGH       20000 /* calls, to tell: the first */
#define MIN_CALLS    20    /* of a callee: of fewer nothing can be told */
#define MIN_SHARE    0.05  /* of a callee's calls: such a label the others have, too */

/* What came before a call, in octaves of time over the shortest. */
#define N_OCTAVES  16
#define SHORTEST   20e3 /* ns */
#define N_LABELS   8    /* of what the host was called for: others fall together */
#define N_CONTEXTS (N_LABELS * N_OCTAVES)

/* It tells them apart where chance alone is so far off, in standard deviations, and the difference is so large. */
#define CLEAR     4
#define DIFFERENT 0.02 /* of contexts: relative variance */
#define IN_ORDER  0.1  /* of those next to each other more are one way around than the other */

typedef struct {
	guint32 node;
	guint32 n;
	guint32 port;
	guint8 protocol;
	gboolean is_known;           /* there is a port, a protocol or a label */
	guint32 first;               /* of its group; itself: none before it is like it */
	double contexts[N_CONTEXTS]; /* of its calls */
	double behind[N_OCTAVES];    /* the last call of the group was to another */
	double before[N_OCTAVES];    /* ... to it, and this is to another */
} Callee;

/* Calls of a callee with a label. */
typedef struct {
	guint32 callee;
	guint32 label;
	guint32 n;
} Asked;

typedef struct {
	const WpResolved *resolved;
	const WpSpan *spans;
	const guint32 *incoming;
	guint32 n_incoming;
	const guint32 *outgoing;
	guint32 n;
	Callee *callees; /* by first call */
	guint32 n_callees;
	WpMap *numbers;     /* node -> callee */
	guint32 *callee_of; /* by place in OUTGOING */
	GArray *asked;      /* Asked */
	WpMap *asked_at;    /* (callee, label) -> its place */
} Finder;

/* --- who is called for what --- */

static void
count_call(Finder *finder, guint32 number, const WpSpan *span)
{
	const WpRecord *records = wp_trace_records(wp_resolved_trace(finder->resolved));
	gboolean is_black_box = wp_resolved_is_black_box(finder->resolved);
	Callee *callee = &finder->callees[number];
	guint32 at = wp_map_number(finder->asked_at, wp_map_key(number, span->label));
	const Asked fresh = { number, span->label, 0 };

	if (at == finder->asked->len)
		g_array_append_val(finder->asked, fresh);
	g_array_index(finder->asked, Asked, at).n++;
	if (callee->n++ == 0) {
		*callee = (Callee){ .node = span->callee,
				    .n = 1,
				    .port = is_black_box ? 0 : records[span->call_record].dst.port,
				    .protocol = is_black_box ? 0 : span->protocol,
				    .first = number };
	}
	callee->is_known |= callee->port || callee->protocol || span->label;
}

/* FALSE: there is but one, or there are too many. */
static gboolean
list_callees(Finder *finder)
{
	for (guint32 i = 0; i < finder->n; i++) {
		const WpSpan *span = &finder->spans[finder->outgoing[i]];
		guint32 number = wp_map_number(finder->numbers, span->callee);
		if (number == MOST_CALLEES)
			return FALSE;
		finder->callee_of[i] = number;
		count_call(finder, number, span);
	}
	finder->n_callees = wp_map_count(finder->numbers);
	return finder->n_callees > 1;
}

/* Leaves of ASKED what is asked often. */
static void
keep_frequent(Finder *finder)
{
	guint n = 0;

	for (guint i = 0; i < finder->asked->len; i++) {
		Asked asked = g_array_index(finder->asked, Asked, i);
		if (asked.n >= MIN_SHARE * finder->callees[asked.callee].n)
			g_array_index(finder->asked, Asked, n++) = asked;
	}
	g_array_set_size(finder->asked, n);
}

/* Whether OTHER is called for all that ONE is often called for. */
static gboolean
has_labels_of(const Finder *finder, guint32 one, guint32 other)
{
	for (guint i = 0; i < finder->asked->len; i++) {
		const Asked *asked = &g_array_index(finder->asked, Asked, i);
		if (asked->callee == one &&
		    wp_map_find(finder->asked_at, wp_map_key(other, asked->label)) == WP_MAP_NONE)
			return FALSE;
	}
	return TRUE;
}

static gboolean
may_be_alike(const Finder *finder, guint32 i, guint32 k)
{
	const Callee *one = &finder->callees[i], *other = &finder->callees[k];

	if (one->n < MIN_CALLS || other->n < MIN_CALLS || one->port != other->port ||
	    one->protocol != other->protocol || one->is_known != other->is_known)
		return FALSE;
	if (!one->is_known &&
	    !wp_replicas_have_one_stem(wp_resolved_node_name(finder->resolved, one->node),
				       wp_resolved_node_name(finder->resolved, other->node)))
		return FALSE;
	return has_labels_of(finder, i, k) && has_labels_of(finder, k, i);
}

/* Groups of those that may be alike. FALSE: there is none. */
static gboolean
group(Finder *finder)
{
	gboolean found = FALSE;

	for (guint32 i = 0; i < finder->n_callees; i++)
		for (guint32 k = 0; k < i && finder->callees[i].first == i; k++)
			if (finder->callees[k].first == k && may_be_alike(finder, k, i)) {
				finder->callees[i].first = k;
				found = TRUE;
			}
	return found;
}

/* --- what tells them apart --- */

static guint
octave_of(gint64 gap_ns)
{
	double octaves = log2((double)MAX(gap_ns, 0) / SHORTEST + 1);
	return (guint)MIN(octaves, N_OCTAVES - 1);
}

/* Counts what came before the calls to callees of the group of FIRST. */
static void
count_before(Finder *finder, guint32 first)
{
	guint32 in = 0, last = MOST_CALLEES;
	gint64 last_ns = 0;

	for (guint32 i = 0; i < finder->n; i++) {
		const WpSpan *span = &finder->spans[finder->outgoing[i]];
		Callee *own = &finder->callees[finder->callee_of[i]];
		while (in < finder->n_incoming &&
		       finder->spans[finder->incoming[in]].call_ns <= span->call_ns)
			in++;
		if (own->first != first)
			continue;
		if (in > 0) {
			const WpSpan *parent = &finder->spans[finder->incoming[in - 1]];
			guint octave = octave_of(span->call_ns - parent->call_ns);
			own->contexts[parent->label % N_LABELS * N_OCTAVES + octave]++;
		}
		if (last < MOST_CALLEES && last != finder->callee_of[i]) {
			guint octave = octave_of(span->call_ns - last_ns);
			own->behind[octave]++;
			finder->callees[last].before[octave]++;
		}
		last = finder->callee_of[i];
		last_ns = span->call_ns;
	}
}

/* By how many standard deviations the contexts of OWN differ from those of all of its group, ALL; 0: by less than matters. */
static double
differ(const double own[N_CONTEXTS], const double all[N_CONTEXTS])
{
	double n_own = 0, n_rest = 0, sum = 0, freedom = -1;

	for (gint i = 0; i < N_CONTEXTS; i++) {
		n_own += own[i];
		n_rest += all[i] - own[i];
	}
	for (gint i = 0; i < N_CONTEXTS && n_own > 0 && n_rest > 0; i++) {
		double off = own[i] * n_rest - (all[i] - own[i]) * n_own;
		if (all[i] <= 0)
			continue;
		sum += off * off / (all[i] * n_own * n_rest);
		freedom++;
	}
	if (freedom < 1 || sum - freedom < DIFFERENT * n_own)
		return 0;
	return (sum - freedom) / sqrt(2 * freedom);
}

/* ... what comes behind others and before them differs, which is alike if one is as good as the other. */
static double
off_order(const Callee *own)
{
	double sum = 0, off = 0, n = 0, freedom = 0;

	for (gint i = 0; i < N_OCTAVES; i++) {
		double both = own->behind[i] + own->before[i],
		       more = own->behind[i] - own->before[i];
		if (both <= 0)
			continue;
		sum += more * more / both;
		off += ABS(more);
		n += both;
		freedom++;
	}
	if (freedom < 1 || off < IN_ORDER * n)
		return 0;
	return (sum - freedom) / sqrt(2 * freedom);
}

/* Takes the one of the group of FIRST out that differs most. FALSE: none does. */
static gboolean
part(Finder *finder, guint32 first)
{
	double all[N_CONTEXTS] = { 0 }, most = CLEAR;
	guint32 worst = MOST_CALLEES;

	for (guint32 c = first; c < finder->n_callees; c++) {
		Callee *callee = &finder->callees[c];
		memset(callee->contexts, 0, sizeof callee->contexts);
		memset(callee->behind, 0, sizeof callee->behind);
		memset(callee->before, 0, sizeof callee->before);
	}
	count_before(finder, first);
	for (guint32 c = first; c < finder->n_callees; c++)
		for (gint i = 0; i < N_CONTEXTS && finder->callees[c].first == first; i++)
			all[i] += finder->callees[c].contexts[i];
	for (guint32 c = first; c < finder->n_callees; c++) {
		const Callee *callee = &finder->callees[c];
		if (callee->first != first)
			continue;
		double off = MAX(differ(callee->contexts, all), off_order(callee));
		if (off > most) {
			most = off;
			worst = c;
		}
	}
	if (worst == MOST_CALLEES)
		return FALSE;
	finder->callees[worst].first = worst;
	if (worst != first)
		return TRUE;
	/* The next one stands for the others. */
	guint32 next = first + 1;
	while (next < finder->n_callees && finder->callees[next].first != first)
		next++;
	for (guint32 c = next; c < finder->n_callees; c++)
		if (finder->callees[c].first == first)
			finder->callees[c].first = next;
	return TRUE;
}

/* Groups of those that are alike. FALSE: there is none. */
static gboolean
find_groups(Finder *finder)
{
	gboolean found = FALSE;

	if (!list_callees(finder))
		return FALSE;
	keep_frequent(finder);
	if (!group(finder))
		return FALSE;
	for (guint32 c = 0; c < finder->n_callees; c++) {
		while (finder->callees[c].first == c && part(finder, c))
			;
		found |= finder->callees[c].first != c;
	}
	return found;
}

guint32 *
wp_alike_find(const WpResolved *resolved, const guint32 *incoming, guint32 n_incoming,
	      const guint32 *outgoing, guint32 n_outgoing)
{
	g_autofree Callee *callees = g_new0(Callee, MOST_CALLEES);
	guint32 n = MIN(n_outgoing, ENOUGH);
	g_autofree guint32 *callee_of = g_new(guint32, MAX(n, 1));
	g_autoptr(GArray) asked = g_array_new(FALSE, FALSE, sizeof(Asked));
	g_autoptr(WpMap) asked_at = wp_map_new();
	g_autoptr(WpMap) numbers = wp_map_new();
	guint32 *nodes = g_new(guint32, MAX(n_outgoing, 1));
	Finder finder = { .resolved = resolved,
			  .spans = wp_resolved_spans(resolved)->spans,
			  .incoming = incoming,
			  .n_incoming = n_incoming,
			  .outgoing = outgoing,
			  .n = n,
			  .callees = callees,
			  .numbers = numbers,
			  .callee_of = callee_of,
			  .asked = asked,
			  .asked_at = asked_at };
	gboolean has_groups = find_groups(&finder);

	for (guint32 i = 0; i < n_outgoing; i++) {
		guint32 own = finder.spans[outgoing[i]].callee;
		guint32 number = has_groups ? wp_map_find(numbers, own) : WP_MAP_NONE;
		nodes[i] = number == WP_MAP_NONE ? own : callees[callees[number].first].node;
	}
	return nodes;
}
