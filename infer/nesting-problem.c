/*
 * The problem of one host: who may have caused whom. Parents are the calls into it that returned;
 * children what it sends. Calls of one connection are bundled where connections are opened for one
 * request: then all of it has one parent.
 */
#include <stdlib.h>
#include <string.h>

#include "infer/evidence-kind.h"
#include "infer/links.h"
#include "infer/map.h"
#include "infer/nesting-holds.h"
#include "infer/nesting-overlaps.h"
#include "infer/nesting-siblings.h"

/* Labels seen less often than this by a node tell nothing of their own. */
#define MIN_LABEL_COUNT 8

/* Work after a reply begins within this much, and within five times what requests take. */
#define MAX_AFTER_NS 300e6
#define AFTER_TIMES                                                                                \
	5 /* waits by an exponential law, as long as a request on average: all but 1 % */
#define AFTER_SLACK_NS 2e6

/* Connections are bundled where at least so many, and this share of them, fit inside a parent. */
#define MIN_CONNECTIONS 5
#define MIN_FITTING     0.95

typedef struct {
	const WpResolved *resolved;
	const WpSpan *spans;
	WpNestProblem *problem;
	guint32 *flows;           /* by child; 0 = unknown */
	guint32 *callees;         /* by child */
	gboolean *in_transaction; /* by child that is left: its bundle is one; NULL: none is */
	gboolean has_flows;
} Builder;

/* --- classes and types --- */

/* What spans of a node and a label are numbered as. */
typedef struct {
	guint32 node;
	guint32 label;
	guint32 n;
	guint32 numbers[2]; /* without a return, with one; WP_MAP_NONE: none yet */
} Named;

/* Numbers (node, label), labels that are rare folded into one. The node is of CALLEES, by place in LIST; NULL: who calls. */
static guint32
number_kinds(const WpSpans *all, const guint32 *list, guint32 n, const guint32 *callees,
	     guint32 *out_numbers)
{
	const WpSpan *spans = all->spans;
	g_autoptr(WpMap) names = wp_map_new();
	g_autoptr(WpMap) numbers = wp_map_new();
	g_autoptr(GArray) named = g_array_new(FALSE, FALSE, sizeof(Named));

	/* Spans are looked at once: until their names are counted a number is that of the name, twice, and whether it ends. */
	for (guint32 i = 0; i < n; i++) {
		const WpSpan *span = &spans[list[i]];
		guint32 node = callees ? callees[i] : wp_spans_class_node(all, list[i]);
		guint32 name = wp_map_number(names, wp_map_key(node, span->label));
		Named fresh = { node, span->label, 0, { WP_MAP_NONE, WP_MAP_NONE } };
		if (name == named->len)
			g_array_append_val(named, fresh);
		g_array_index(named, Named, name).n++;
		/* A child without a return tells nothing by its end: a type of its own. */
		out_numbers[i] = 2 * name + (!callees || wp_span_is_paired(span));
	}
	for (guint32 i = 0; i < n; i++) {
		Named *own = &g_array_index(named, Named, out_numbers[i] / 2);
		guint32 has_end = out_numbers[i] % 2;
		guint32 label = own->n < MIN_LABEL_COUNT ? G_MAXUINT32 : own->label;
		if (own->numbers[has_end] == WP_MAP_NONE)
			own->numbers[has_end] =
				wp_map_number(numbers, wp_map_key(own->node * 2 + has_end, label));
		out_numbers[i] = own->numbers[has_end];
	}
	return wp_map_count(numbers);
}

static gint
compare_served(gconstpointer a, gconstpointer b, gpointer data)
{
	const WpSpan *spans = data;
	guint32 i = *(const guint32 *)a, j = *(const guint32 *)b;
	gint64 x = wp_span_served_ns(&spans[i]), y = wp_span_served_ns(&spans[j]);
	if (x != y)
		return x < y ? -1 : 1;
	return i < j ? -1 : i > j;
}

/*
 * A one-way message causes what follows from it as a call does that is answered at once: all its work comes
 * after the reply.
 */
static gboolean
is_parent(const WpSpan *span)
{
	return wp_span_is_paired(span) || span->kind == WP_KIND_MESSAGE;
}

static void
add_parents(Builder *builder, const WpNestHost *host)
{
	WpNestProblem *problem = builder->problem;
	const guint32 *incoming = host->incoming;
	guint32 n = host->n_incoming;
	g_autofree guint32 *list = g_new(guint32, MAX(n, 1));
	guint32 n_list = 0;
	gint64 last_ns = G_MININT64;
	gboolean is_sorted = TRUE;

	for (guint32 i = 0; i < n; i++) {
		const WpSpan *span = &builder->spans[incoming[i]];
		if (!is_parent(span))
			continue;
		list[n_list++] = incoming[i];
		is_sorted &= wp_span_served_ns(span) >= last_ns;
		last_ns = wp_span_served_ns(span);
	}
	/* They stand by the time of their callers, from which they have not all the same way. */
	if (!is_sorted)
		g_qsort_with_data(list, (gint)n_list, sizeof *list, compare_served,
				  (gpointer)builder->spans);
	g_autofree guint32 *classes = g_new(guint32, MAX(n_list, 1));
	problem->n_classes =
		number_kinds(wp_resolved_spans(builder->resolved), list, n_list, NULL, classes);
	problem->parents = g_new(WpNestParent, MAX(n_list, 1));
	problem->n_parents = n_list;
	for (guint32 i = 0; i < n_list; i++) {
		const WpSpan *span = &builder->spans[list[i]];
		gint64 begin_ns =
			wp_nest_clock_at(host->clock, host->begins_ns ? host->begins_ns[i]
								      : wp_span_served_ns(span));
		gboolean is_message = span->kind == WP_KIND_MESSAGE; /* which nobody answers */
		gint64 end_ns = is_message
					? begin_ns
					: wp_nest_clock_at(host->clock, wp_span_replied_ns(span));
		problem->parents[i] = (WpNestParent){ .begin_ns = begin_ns,
						      .end_ns = end_ns,
						      .span = list[i],
						      .class = classes[i],
						      .is_message = (guint8)is_message,
						      .waits = (span->marks & WP_MARK_WAIT) != 0 };
		problem->n_messages += is_message;
	}
}

static guint32
flow_of(const Builder *builder, const WpSpan *span)
{
	const WpTrace *trace = wp_resolved_trace(builder->resolved);
	return wp_trace_has(trace, WP_TRACE_FLOWS) ? wp_trace_records(trace)[span->call_record].flow
						   : 0;
}

/* The type of a mark of CALLEE, behind those of calls. */
static guint32
mark_type(WpMap *numbers, guint32 n_types, const WpNestMark *mark)
{
	return n_types + wp_map_number(numbers, wp_map_key(mark->callee, mark->closes));
}

/* Calls and marks, merged by time. */
static void
add_children(Builder *builder, const WpNestHost *host)
{
	WpNestProblem *problem = builder->problem;
	guint32 n = host->n_outgoing + host->n_marks, call = 0, mark = 0;
	g_autofree guint32 *types = g_new(guint32, MAX(host->n_outgoing, 1));
	g_autofree guint32 *callees = g_new(guint32, MAX(host->n_outgoing, 1));
	const guint32 *alike = problem->options->alike;
	g_autoptr(WpMap) mark_types = wp_map_new();

	for (guint32 i = 0; i < host->n_outgoing; i++)
		callees[i] =
			alike ? alike[host->outgoing[i]] : builder->spans[host->outgoing[i]].callee;
	guint32 n_types = number_kinds(wp_resolved_spans(builder->resolved), host->outgoing,
				       host->n_outgoing, callees, types);

	problem->children = g_new(WpNestChild, n);
	problem->n_children = n;
	builder->flows = g_new(guint32, n);
	builder->callees = g_new(guint32, n);
	for (guint32 i = 0; i < n; i++) {
		const WpSpan *span =
			call < host->n_outgoing ? &builder->spans[host->outgoing[call]] : NULL;
		const WpNestMark *other = mark < host->n_marks ? &host->marks[mark] : NULL;
		gint64 call_ns = !span ? 0 : host->lined_ns ? host->lined_ns[call] : span->call_ns;
		if (other && (!span || other->time_ns < call_ns)) {
			guint32 type = mark_type(mark_types, n_types, other);
			gint64 time_ns = wp_nest_clock_at(host->clock, other->time_ns);
			problem->children[i] = (WpNestChild){ .begin_ns = time_ns,
							      .end_ns = time_ns,
							      .span = WP_NO_SPAN,
							      .type = type };
			builder->flows[i] = other->flow;
			builder->has_flows = TRUE;
			builder->callees[i] = other->callee;
			mark++;
		} else {
			problem->children[i] =
				(WpNestChild){ .begin_ns = wp_nest_clock_at(host->clock, call_ns),
					       .end_ns = wp_nest_clock_at(host->clock,
									  wp_span_end_ns(span)),
					       .span = host->outgoing[call],
					       .type = types[call] };
			builder->flows[i] = flow_of(builder, span);
			builder->has_flows |= builder->flows[i] != 0;
			builder->callees[i] = span->callee;
			problem->calls_itself |= span->caller_host == span->callee_host;
			call++;
		}
	}
	problem->n_types = n_types + wp_map_count(mark_types);
}

/* --- bundles --- */

/* For each parent the latest end of it and all that began before it. (transfer full) */
static gint64 *
latest_ends(const WpNestProblem *problem)
{
	gint64 *ends = g_new(gint64, MAX(problem->n_parents, 1));
	gint64 latest = G_MININT64;
	for (guint32 i = 0; i < problem->n_parents; i++) {
		latest = MAX(latest, problem->parents[i].end_ns);
		ends[i] = latest;
	}
	return ends;
}

/* TRUE where some parent encloses BEGIN_NS .. END_NS. */
static gboolean
fits_somewhere(const WpNestProblem *problem, const gint64 *ends, gint64 begin_ns, gint64 end_ns)
{
	guint32 low = 0, high = problem->n_parents;
	while (low < high) {
		guint32 middle = low + (high - low) / 2;
		if (problem->parents[middle].begin_ns <= begin_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && ends[low - 1] >= end_ns;
}

/* Calls that may have one parent because of the connection that they use: all of it, or a transaction. */
typedef struct {
	gint64 begin_ns;
	gint64 end_ns;
	guint32 callee;
	guint32 n;
	guint32 bundle;
	gboolean fits; /* inside some parent */
} Group;

static void
add_to_group(const Builder *builder, GArray *groups, guint32 number, guint32 child)
{
	const WpNestChild *added = &builder->problem->children[child];
	if (number == groups->len) {
		Group fresh = { .begin_ns = added->begin_ns,
				.end_ns = added->end_ns,
				.callee = builder->callees[child],
				.bundle = WP_MAP_NONE };
		g_array_append_val(groups, fresh);
	}
	Group *group = &g_array_index(groups, Group, number);
	group->end_ns = MAX(group->end_ns, added->end_ns);
	group->n++;
}

/* (transfer full) The connections of the children; OUT_OF: the connection of each child. */
static GArray *
find_connections(const Builder *builder, guint32 *out_of)
{
	const WpNestProblem *problem = builder->problem;
	GArray *connections = g_array_new(FALSE, FALSE, sizeof(Group));
	g_autoptr(WpMap) by_flow = wp_map_new();

	for (guint32 i = 0; i < problem->n_children; i++) {
		guint32 flow = builder->flows[i];
		out_of[i] = connections->len;
		if (flow)
			out_of[i] = *wp_map_at(by_flow, flow, connections->len);
		add_to_group(builder, connections, out_of[i], i);
	}
	return connections;
}

typedef enum {
	STEP_OTHER,
	STEP_BEGINS,
	STEP_ENDS
} Step;

/* What a call does to the transaction of its connection, by its label: SQL, Redis. */
static Step
step_of(const Builder *builder, const WpNestChild *child)
{
	static const char *const begins[] = { "BEGIN", "MULTI", NULL };
	static const char *const ends[] = { "COMMIT", "ROLLBACK", "EXEC", "DISCARD", NULL };
	const WpNodes *nodes = wp_trace_nodes(wp_resolved_trace(builder->resolved));
	guint32 label = child->span == WP_NO_SPAN ? 0 : builder->spans[child->span].label;
	if (!label)
		return STEP_OTHER;
	const char *text = wp_nodes_text(nodes, label);
	return g_strv_contains(begins, text) ? STEP_BEGINS
	       : g_strv_contains(ends, text) ? STEP_ENDS
					     : STEP_OTHER;
}

#define NOT_OPEN (WP_MAP_NONE - 1)

/* (transfer full) As find_connections(); a call outside of transactions is a group of its own. */
static GArray *
find_transactions(const Builder *builder, guint32 *out_of)
{
	const WpNestProblem *problem = builder->problem;
	GArray *transactions = g_array_new(FALSE, FALSE, sizeof(Group));
	g_autoptr(WpMap) open = wp_map_new(); /* flow -> transaction, or NOT_OPEN */

	for (guint32 i = 0; i < problem->n_children; i++) {
		Step step = step_of(builder, &problem->children[i]);
		guint32 *current = wp_map_at(open, builder->flows[i], NOT_OPEN);
		if (step == STEP_BEGINS && builder->flows[i])
			*current = transactions->len;
		out_of[i] = *current == NOT_OPEN ? transactions->len : *current;
		if (step == STEP_ENDS)
			*current = NOT_OPEN;
		add_to_group(builder, transactions, out_of[i], i);
	}
	return transactions;
}

/* By callee: whether groups of calls to it usually live inside one request. (transfer full) */
static WpMap *
find_bundled_callees(const WpNestProblem *problem, GArray *groups)
{
	g_autofree gint64 *ends = latest_ends(problem);
	g_autoptr(WpMap) several = wp_map_new();
	g_autoptr(WpMap) fitting = wp_map_new();
	WpMap *bundled = wp_map_new();

	for (guint i = 0; i < groups->len; i++) {
		Group *c = &g_array_index(groups, Group, i);
		c->fits = fits_somewhere(problem, ends, c->begin_ns, c->end_ns);
		if (c->n < 2)
			continue;
		++*wp_map_at(several, c->callee, 0);
		*wp_map_at(fitting, c->callee, 0) += c->fits;
	}
	for (guint i = 0; i < groups->len; i++) {
		guint32 callee = g_array_index(groups, Group, i).callee;
		guint32 n = wp_map_find(several, callee);
		if (n != WP_MAP_NONE && n >= MIN_CONNECTIONS &&
		    wp_map_find(fitting, callee) >= MIN_FITTING * n)
			wp_map_at(bundled, callee, 1);
	}
	return bundled;
}

/* One way to group the children. */
typedef struct {
	GArray *groups;
	WpMap *bundled; /* callees whose groups are bundles */
	guint32 *of;    /* by child */
	gboolean is_on;
} Grouping;

static void
start_grouping(const Builder *builder, const WpEvidenceKind *kind,
	       GArray *(*find)(const Builder *, guint32 *), Grouping *out)
{
	const WpNestProblem *problem = builder->problem;
	out->of = g_new(guint32, MAX(problem->n_children, 1));
	out->groups = find(builder, out->of);
	out->bundled = find_bundled_callees(problem, out->groups);
	out->is_on = wp_evidence_has(problem->options->evidence, kind);
}

static void
clear_grouping(Grouping *grouping)
{
	g_free(grouping->of);
	g_array_unref(grouping->groups);
	wp_map_free(grouping->bundled);
}

/* The group that is the bundle of CHILD, or NULL. */
static Group *
bundle_of(const Grouping *grouping, guint32 child)
{
	Group *group = &g_array_index(grouping->groups, Group, grouping->of[child]);
	gboolean joins = grouping->is_on && group->n > 1 && group->fits &&
			 wp_map_find(grouping->bundled, group->callee) != WP_MAP_NONE;
	return joins ? group : NULL;
}

/*
 * Sets the bundle of each child and drops marks of connections that are not bundled; returns how many
 * bundles there are.
 */
static guint32
assign_bundles(Builder *builder)
{
	WpNestProblem *problem = builder->problem;
	Grouping connections, transactions;
	guint32 n = 0, kept = 0;

	if (!builder->has_flows) { /* each call is a bundle; no mark is without a connection */
		for (guint32 i = 0; i < problem->n_children; i++)
			problem->children[i].bundle = i;
		return problem->n_children;
	}
	builder->in_transaction = g_new0(gboolean, MAX(problem->n_children, 1));
	start_grouping(builder, &wp_evidence_connections, find_connections, &connections);
	start_grouping(builder, &wp_evidence_transactions, find_transactions, &transactions);
	for (guint32 i = 0; i < problem->n_children; i++) {
		gboolean is_mark = problem->children[i].span == WP_NO_SPAN;
		Group *group = bundle_of(&connections, i);
		if (!group && is_mark)
			continue;
		if (!group) {
			group = bundle_of(&transactions, i);
			builder->in_transaction[kept] = group != NULL;
		}
		guint32 bundle = group && group->bundle != WP_MAP_NONE ? group->bundle : n++;
		if (group)
			group->bundle = bundle;
		problem->children[kept] = problem->children[i];
		problem->children[kept++].bundle = bundle;
	}
	problem->n_children = kept;
	clear_grouping(&connections);
	clear_grouping(&transactions);
	return n;
}

static void
fill_bundles(const Builder *builder)
{
	WpNestProblem *problem = builder->problem;
	problem->bundles = g_new0(WpNestBundle, MAX(problem->n_bundles, 1));
	problem->bundle_children = g_new(guint32, MAX(problem->n_children, 1));
	for (guint32 i = 0; i < problem->n_children; i++)
		problem->bundles[problem->children[i].bundle].n++;
	guint32 at = 0;
	for (guint32 b = 0; b < problem->n_bundles; b++) {
		problem->bundles[b].first = at;
		problem->bundles[b].parent = WP_NO_PARENT;
		problem->bundles[b].end_ns = G_MININT64;
		at += problem->bundles[b].n;
		problem->bundles[b].n = 0;
	}
	for (guint32 i = 0; i < problem->n_children; i++) {
		WpNestBundle *bundle = &problem->bundles[problem->children[i].bundle];
		if (bundle->n == 0)
			bundle->begin_ns = problem->children[i].begin_ns;
		bundle->end_ns = MAX(bundle->end_ns, problem->children[i].end_ns);
		bundle->is_transaction |=
			builder->in_transaction ? (guint8)builder->in_transaction[i] : 0;
		problem->bundle_children[bundle->first + bundle->n++] = i;
	}
}

/* A kind of bundles, and how many there are. */
typedef struct {
	guint32 kind;
	guint32 n;
} KindSize;

static int
compare_kind_sizes(gconstpointer a, gconstpointer b)
{
	const KindSize *x = a, *y = b;
	if (x->n != y->n)
		return x->n > y->n ? -1 : 1;
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

/* Of more kinds than there is room for, the rarest become one: some 100 kB are kept of each. */
static void
join_rare_kinds(WpNestProblem *problem)
{
	g_autofree KindSize *sizes = g_new0(KindSize, MAX(problem->n_kinds, 1));
	g_autofree guint32 *numbers = g_new(guint32, MAX(problem->n_kinds, 1));

	if (problem->n_kinds <= WP_NEST_MAX_KINDS)
		return;
	for (guint32 k = 0; k < problem->n_kinds; k++)
		sizes[k].kind = k;
	for (guint32 b = 0; b < problem->n_bundles; b++)
		sizes[problem->bundles[b].kind].n++;
	qsort(sizes, problem->n_kinds, sizeof sizes[0], compare_kind_sizes);
	for (guint32 i = 0; i < problem->n_kinds; i++)
		numbers[sizes[i].kind] = MIN(i, WP_NEST_MAX_KINDS - 1);
	for (guint32 b = 0; b < problem->n_bundles; b++)
		problem->bundles[b].kind = numbers[problem->bundles[b].kind];
	problem->n_joined = problem->n_kinds - (WP_NEST_MAX_KINDS - 1);
	problem->n_kinds = WP_NEST_MAX_KINDS;
}

/* Numbers the sequences of types. */
static void
number_bundle_kinds(WpNestProblem *problem)
{
	g_autoptr(WpMap) steps = wp_map_new();
	g_autoptr(WpMap) kinds = wp_map_new();

	for (guint32 b = 0; b < problem->n_bundles; b++) {
		WpNestBundle *bundle = &problem->bundles[b];
		guint32 sequence = 0; /* the number of the sequence so far; 0 = empty */
		for (guint32 i = 0; i < bundle->n; i++) {
			guint32 child = problem->bundle_children[bundle->first + i];
			guint64 key = wp_map_key(sequence, problem->children[child].type);
			sequence = wp_map_number(steps, key) + 1;
		}
		bundle->kind = wp_map_number(kinds, sequence);
	}
	problem->n_kinds = wp_map_count(kinds);
	join_rare_kinds(problem);
}

/* --- children --- */

static void
init_room(WpNestProblem *problem)
{
	problem->room = g_new(guint32, MAX((gsize)problem->n_parents * WP_NEST_FEW_CHILDREN, 1));
	for (guint32 p = 0; p < problem->n_parents; p++) {
		problem->parents[p].children = problem->room + (gsize)p * WP_NEST_FEW_CHILDREN;
		problem->parents[p].n_allocated = WP_NEST_FEW_CHILDREN;
	}
}

void
wp_nest_make_room(WpNestParent *parent, guint32 n)
{
	gboolean is_owned = parent->n_allocated > WP_NEST_FEW_CHILDREN;

	if (n <= parent->n_allocated)
		return;
	parent->n_allocated = MAX(2 * n, 2 * WP_NEST_FEW_CHILDREN);
	guint32 *children =
		g_renew(guint32, is_owned ? parent->children : NULL, parent->n_allocated);
	if (!is_owned && parent->n)
		memcpy(children, parent->children, parent->n * sizeof children[0]);
	parent->children = children;
}

void
wp_nest_hang_some(WpNestProblem *problem, guint32 first, guint32 end, guint32 first_child,
		  guint32 end_child)
{
	for (guint32 p = first; p < end; p++)
		problem->parents[p].n = 0;
	for (guint32 i = first_child; i < end_child; i++) {
		guint32 parent = problem->bundles[problem->children[i].bundle].parent;
		if (parent < first || parent >= end)
			continue;
		WpNestParent *own = &problem->parents[parent];
		if (own->n == own->n_allocated)
			wp_nest_make_room(own, own->n + 1);
		own->children[own->n++] = i;
	}
}

void
wp_nest_hang_children(WpNestProblem *problem, guint32 first, guint32 end)
{
	wp_nest_hang_some(problem, first, end, 0, problem->n_children);
}

void
wp_nest_give(WpNestProblem *problem, guint32 number, guint32 parent)
{
	WpNestBundle *bundle = &problem->bundles[number];

	if (bundle->parent != WP_NO_PARENT) {
		WpNestParent *from = &problem->parents[bundle->parent];
		guint32 n = 0;
		for (guint32 i = 0; i < from->n; i++)
			if (problem->children[from->children[i]].bundle != number)
				from->children[n++] = from->children[i];
		from->n = n;
	}
	bundle->parent = parent;
	if (parent == WP_NO_PARENT)
		return;
	WpNestParent *to = &problem->parents[parent];
	wp_nest_make_room(to, to->n + bundle->n);
	for (guint32 i = 0; i < bundle->n; i++) {
		guint32 child = problem->bundle_children[bundle->first + i], at = to->n++;
		for (; at > 0 && to->children[at - 1] > child; at--)
			to->children[at] = to->children[at - 1];
		to->children[at] = child;
	}
}

/* The true parent of BUNDLE as far as one of its calls tells, a span. */
static guint32
true_parent(const WpNestProblem *problem, const WpNestBundle *bundle)
{
	for (guint32 i = 0; i < bundle->n; i++) {
		guint32 child = problem->bundle_children[bundle->first + i];
		guint32 span = problem->children[child].span;
		if (span != WP_NO_SPAN && problem->options->reference->parents[span] != WP_NO_SPAN)
			return problem->options->reference->parents[span];
	}
	return WP_NO_SPAN;
}

void
wp_nest_take_truth(WpNestProblem *problem)
{
	for (guint32 b = 0; b < problem->n_bundles; b++) {
		WpNestBundle *bundle = &problem->bundles[b];
		guint32 truth = true_parent(problem, bundle);
		for (guint32 i = 0; i < bundle->n_candidates; i++) {
			guint32 parent = problem->candidates[bundle->first_candidate + i].parent;
			if (problem->parents[parent].span == truth)
				bundle->parent = parent;
		}
	}
	wp_nest_hang_children(problem, 0, problem->n_parents);
}

/* --- scales --- */

/* Hoare, CACM 4 (1961): "Find". */
gint64
wp_nest_select_time(gint64 *times, guint32 n, guint32 k)
{
	gint64 low = 0, high = (gint64)n - 1;

	while (low < high) {
		gint64 pivot = times[low + (high - low) / 2], i = low, j = high;
		while (i <= j) {
			while (times[i] < pivot)
				i++;
			while (pivot < times[j])
				j--;
			if (i <= j) {
				gint64 other = times[i];
				times[i++] = times[j];
				times[j--] = other;
			}
		}
		if ((gint64)k <= j)
			high = j;
		else if ((gint64)k >= i)
			low = i;
		else
			break;
	}
	return times[k];
}

/* How long after a parent's end its work may begin. */
static gint64
learn_after(const WpNestProblem *problem)
{
	if (problem->options->after_ns >= 0)
		return problem->options->after_ns;
	if (problem->n_parents == 0)
		return 0;
	g_autofree gint64 *lengths = g_new(gint64, problem->n_parents);
	guint32 n = 0;
	for (guint32 i = 0; i < problem->n_parents; i++)
		if (!problem->parents[i].is_message)
			lengths[n++] = problem->parents[i].end_ns - problem->parents[i].begin_ns;
	if (n == 0)
		return 0;
	double p90 = (double)wp_nest_select_time(lengths, n, (guint32)((guint64)n * 9 / 10));
	return (gint64)MIN(MAX_AFTER_NS, AFTER_TIMES * p90 + AFTER_SLACK_NS);
}

static gint64
common_divisor(gint64 a, gint64 b)
{
	while (b) {
		gint64 rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

/* 20 us, or half the tick of the capture's clock where that is coarser: what divides all times. */
static double
learn_grain(const Builder *builder, const WpNestHost *host)
{
	gint64 first_ns = builder->spans[host->outgoing[0]].call_ns, tick_ns = 0;

	for (guint32 i = 1; i < host->n_outgoing && tick_ns != 1; i++)
		tick_ns = common_divisor(tick_ns,
					 builder->spans[host->outgoing[i]].call_ns - first_ns);
	for (guint32 i = 0; i < host->n_marks && tick_ns != 1; i++)
		tick_ns = common_divisor(tick_ns, ABS(host->marks[i].time_ns - first_ns));
	return MAX(WP_NEST_GRAIN_NS, (double)tick_ns / 2);
}

const WpEvidenceKind wp_evidence_connections = {
	.name = "connections",
	.summary = "calls of a connection that lives inside one call have that parent",
	.is_default = TRUE,
	.word = WP_EVIDENCE_CONNECTION,
};

const WpEvidenceKind wp_evidence_transactions = {
	.name = "transactions",
	.summary = "calls of a transaction that lives inside one call have that parent",
	.is_default = TRUE,
	.word = WP_EVIDENCE_TRANSACTION,
};

WpNestProblem *
wp_nest_problem_new(const WpResolved *resolved, const WpNestHost *host,
		    const WpNestOptions *options)
{
	if (host->n_outgoing == 0 || host->n_incoming == 0)
		return NULL;
	WpNestProblem *problem = g_new0(WpNestProblem, 1);
	Builder builder = { .resolved = resolved,
			    .spans = wp_resolved_spans(resolved)->spans,
			    .problem = problem };
	problem->resolved = resolved;
	problem->options = options;
	add_parents(&builder, host);
	add_children(&builder, host);
	problem->n_bundles = assign_bundles(&builder);
	fill_bundles(&builder);
	g_free(builder.flows);
	g_free(builder.callees);
	g_free(builder.in_transaction);
	number_bundle_kinds(problem);
	problem->is_lined = host->lined_ns != NULL;
	wp_nest_find_waiting(problem, host);
	problem->after_ns = learn_after(problem);
	problem->grain_ns = learn_grain(&builder, host);
	problem->per_grain = 1 / problem->grain_ns;
	wp_quick_log_init(&problem->quick);
	wp_nest_find_packets(problem);
	if (host->n_held > 0)
		problem->holds = wp_nest_holds_new(problem, host->held, host->n_held);
	problem->reach_ns =
		options->after_ns >= 0 ? options->after_ns : wp_nest_learn_reach(problem);
	wp_nest_count_siblings(problem);
	wp_nest_unseen_init(problem, host);
	init_room(problem);
	return problem;
}

void
wp_nest_problem_free(WpNestProblem *problem)
{
	if (!problem)
		return;
	for (guint32 i = 0; i < wp_nest_n_all_parents(problem); i++)
		if (problem->parents[i].n_allocated > WP_NEST_FEW_CHILDREN)
			g_free(problem->parents[i].children);
	wp_evidence_free(problem->evidence);
	wp_nest_holds_free(problem->holds);
	wp_nest_overlaps_free(problem->overlaps);
	g_free(problem->room);
	g_free(problem->parents);
	g_free(problem->children);
	g_free(problem->bundles);
	g_free(problem->bundle_children);
	g_free(problem->candidates);
	g_free(problem->accidents);
	g_free(problem->spontaneous);
	g_free(problem->alone_nats);
	g_free(problem->least_ns);
	g_free(problem->siblings);
	g_free(problem);
}
