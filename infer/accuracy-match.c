/*
 * Which inferred call is which true one.
 *
 * On the wire: inside one 4-tuple the pairs within the tolerance (of each call with the nearest rows), by distance in whole microseconds,
 * then by distance of the returns, then by ids; each pair whose two ends are still free is taken.
 * Where the truth knows a call on several clocks, each flow uses the one that matches most calls, then
 * the one that is nearest. Span sets: by id.
 */
#include <stdlib.h>
#include <string.h>

#include "infer/accuracy-private.h"

#define NO_DISTANCE G_MAXINT64 /* of returns, one of which is unknown */

/* Rows on either side that may be a call: the nearest. With a long tolerance there are as many as rows. */
#define MAX_NEAR 64

/* A call and a row that may be the same. */
typedef struct {
	guint64 call_us;
	gint64 return_ns;
	guint32 call;
	guint32 row;
} Pair;

/* Calls and rows of one flow. */
typedef struct {
	guint32 flow;
	guint32 number;
	gint64 time_ns;
} Item;

typedef struct {
	const WpMatched *matched;
	gint64 tolerance_ns;
	GArray *pairs; /* Pair: of one flow on one clock */
} Matcher;

static int
compare_items(const void *a, const void *b)
{
	const Item *left = a, *right = b;

	if (left->flow != right->flow)
		return left->flow < right->flow ? -1 : 1;
	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return left->number < right->number ? -1 : left->number > right->number;
}

static int
compare_pairs(gconstpointer a, gconstpointer b, gpointer data)
{
	const WpMatched *matched = data;
	const Pair *left = a, *right = b;

	if (left->call_us != right->call_us)
		return left->call_us < right->call_us ? -1 : 1;
	if (left->return_ns != right->return_ns)
		return left->return_ns < right->return_ns ? -1 : 1;
	int order = strcmp(wp_strings_get(matched->found->strings, matched->calls[left->call].id),
			   wp_strings_get(matched->found->strings, matched->calls[right->call].id));
	if (order == 0)
		order = strcmp(
			wp_strings_get(matched->truth->strings, matched->rows[left->row].id),
			wp_strings_get(matched->truth->strings, matched->rows[right->row].id));
	return order;
}

static void
add_pair(Matcher *matcher, const Item *call, const Item *row)
{
	gint64 returned = matcher->matched->calls[call->number].return_ns;
	gint64 truly = matcher->matched->rows[row->number].return_ns;
	Pair pair = {
		.call_us = ((guint64)ABS(call->time_ns - row->time_ns) + 500) / 1000,
		.return_ns = returned == WP_NO_TIME || truly == WP_NO_TIME ? NO_DISTANCE
									   : ABS(returned - truly),
		.call = call->number,
		.row = row->number,
	};
	g_array_append_val(matcher->pairs, pair);
}

/* Pairs of calls and rows of one flow, both by time, that are near enough; nearest first. */
static void
find_pairs(Matcher *matcher, const Item *calls, guint n_calls, const Item *rows, guint n_rows)
{
	g_array_set_size(matcher->pairs, 0);
	for (guint i = 0, first = 0, at = 0; i < n_calls; i++) {
		while (first < n_rows &&
		       rows[first].time_ns < calls[i].time_ns - matcher->tolerance_ns)
			first++;
		while (at < n_rows && rows[at].time_ns < calls[i].time_ns)
			at++;
		for (guint k = MAX(first, at - MIN(at, MAX_NEAR)); k < MIN(n_rows, at + MAX_NEAR);
		     k++) {
			if (rows[k].time_ns > calls[i].time_ns + matcher->tolerance_ns)
				break;
			add_pair(matcher, &calls[i], &rows[k]);
		}
	}
	g_array_sort_with_data(matcher->pairs, compare_pairs, (gpointer)matcher->matched);
}

/* Takes the pairs whose ends are free; returns their number, and the sum of their distances. */
static guint
take_pairs(Matcher *matcher, guint64 *out_cost)
{
	const WpMatched *matched = matcher->matched;
	guint n = 0;

	*out_cost = 0;
	for (guint i = 0; i < matcher->pairs->len; i++) {
		const Pair *pair = &g_array_index(matcher->pairs, Pair, i);
		if (matched->row_of_call[pair->call] != WP_NO_CALL ||
		    matched->call_of_row[pair->row] != WP_NO_CALL)
			continue;
		matched->row_of_call[pair->call] = pair->row;
		matched->call_of_row[pair->row] = pair->call;
		*out_cost += pair->call_us;
		n++;
	}
	return n;
}

static void
untake_pairs(Matcher *matcher)
{
	for (guint i = 0; i < matcher->pairs->len; i++) {
		const Pair *pair = &g_array_index(matcher->pairs, Pair, i);
		matcher->matched->row_of_call[pair->call] = WP_NO_CALL;
		matcher->matched->call_of_row[pair->row] = WP_NO_CALL;
	}
}

static void
set_clock(const WpMatched *matched, Item *rows, guint n, guint clock)
{
	for (guint i = 0; i < n; i++)
		rows[i].time_ns = matched->rows[rows[i].number].call_ns[clock];
	qsort(rows, n, sizeof *rows, compare_items);
}

static void
match_flow(Matcher *matcher, const Item *calls, guint n_calls, Item *rows, guint n_rows)
{
	guint best_clock = 0, best = 0;
	guint64 best_cost = 0, cost;

	for (guint clock = 0; clock < matcher->matched->truth->n_clocks; clock++) {
		set_clock(matcher->matched, rows, n_rows, clock);
		find_pairs(matcher, calls, n_calls, rows, n_rows);
		guint n = take_pairs(matcher, &cost);
		untake_pairs(matcher);
		if (clock == 0 || n > best || (n == best && cost < best_cost)) {
			best_clock = clock;
			best = n;
			best_cost = cost;
		}
	}
	set_clock(matcher->matched, rows, n_rows, best_clock);
	find_pairs(matcher, calls, n_calls, rows, n_rows);
	take_pairs(matcher, &cost);
}

static guint
run_length(const Item *items, guint n)
{
	guint length = 0;
	while (length < n && items[length].flow == items[0].flow)
		length++;
	return length;
}

/* Calls and rows by flow; numbers of flows are those of the truth's strings. */
static void
match_wire(const WpMatched *matched, gint64 tolerance_ns)
{
	g_autofree Item *calls = g_new(Item, matched->n_calls + 1);
	g_autofree Item *rows = g_new(Item, matched->n_rows + 1);
	g_autoptr(GArray) pairs = g_array_new(FALSE, FALSE, sizeof(Pair));
	Matcher matcher = { matched, tolerance_ns, pairs };
	guint n_calls = 0;

	for (guint32 i = 0; i < matched->n_calls; i++) {
		const char *flow = wp_strings_get(matched->found->strings, matched->calls[i].flow);
		guint32 number = wp_strings_find(matched->truth->strings, flow, -1);
		if (number)
			calls[n_calls++] = (Item){ number, i, matched->calls[i].call_ns };
	}
	for (guint32 i = 0; i < matched->n_rows; i++)
		rows[i] = (Item){ matched->rows[i].flow, i, matched->rows[i].call_ns[0] };
	qsort(calls, n_calls, sizeof *calls, compare_items);
	qsort(rows, matched->n_rows, sizeof *rows, compare_items);
	for (guint c = 0, r = 0; c < n_calls && r < matched->n_rows;) {
		guint calls_here = run_length(calls + c, n_calls - c);
		guint rows_here = run_length(rows + r, matched->n_rows - r);
		if (calls[c].flow == rows[r].flow)
			match_flow(&matcher, calls + c, calls_here, rows + r, rows_here);
		gboolean calls_first = calls[c].flow <= rows[r].flow;
		r += calls[c].flow >= rows[r].flow ? rows_here : 0;
		c += calls_first ? calls_here : 0;
	}
}

static void
match_ids(const WpMatched *matched)
{
	g_autoptr(WpMap) rows_by_id = wp_map_new();

	for (guint32 i = 0; i < matched->n_rows; i++)
		wp_map_at(rows_by_id, matched->rows[i].id, i);
	for (guint32 i = 0; i < matched->n_calls; i++) {
		const char *id = wp_strings_get(matched->found->strings, matched->calls[i].id);
		guint32 string = wp_strings_find(matched->truth->strings, id, -1);
		guint32 row = string ? wp_map_find(rows_by_id, string) : WP_MAP_NONE;
		if (row == WP_MAP_NONE || matched->call_of_row[row] != WP_NO_CALL)
			continue;
		matched->row_of_call[i] = row;
		matched->call_of_row[row] = i;
	}
}

/*
 * Walks up from each number to the first whose root is known, then down again to write it. A walk that
 * comes upon itself found a cycle, which has no root.
 */
guint32 *
wp_accuracy_find_roots(const guint32 *parents, guint32 n)
{
	enum {
		UNKNOWN = WP_UNKNOWN_CALL,
		OPEN = WP_UNKNOWN_CALL - 1
	};
	guint32 *roots = g_new(guint32, n + 1);

	for (guint32 i = 0; i < n; i++)
		roots[i] = UNKNOWN;
	for (guint32 i = 0; i < n; i++) {
		guint32 top = i, root;
		while (roots[top] == UNKNOWN && parents[top] != WP_NO_CALL) {
			roots[top] = OPEN;
			top = parents[top];
		}
		root = roots[top] == UNKNOWN ? top : roots[top] == OPEN ? WP_NO_CALL : roots[top];
		roots[top] = root;
		for (guint32 k = i; roots[k] == OPEN; k = parents[k])
			roots[k] = root;
	}
	return roots;
}

/* Roots of rows: WP_NO_CALL for don't-care rows, for rows below one, and on a cycle. */
static void
find_roots(WpMatched *matched)
{
	g_autofree guint32 *parents = g_new(guint32, matched->n_rows + 1);

	for (guint32 i = 0; i < matched->n_rows; i++) {
		const WpTruthRow *row = &matched->rows[i];
		parents[i] =
			row->dont_care || row->parent == WP_UNKNOWN_CALL ? WP_NO_CALL : row->parent;
	}
	matched->root_of_row = wp_accuracy_find_roots(parents, matched->n_rows);
	for (guint32 i = 0; i < matched->n_rows; i++) {
		guint32 root = matched->root_of_row[i];
		if (root != WP_NO_CALL && matched->rows[root].dont_care)
			matched->root_of_row[i] = WP_NO_CALL;
	}
}

/*
 * Takes set-up exchanges that hang below a request out of its tree: their children move up. A call
 * whose true parent lies before the capture is a root that nobody judges, and stays.
 */
static void
take_out_setup(WpMatched *matched)
{
	for (guint32 i = 0; i < matched->n_calls; i++)
		matched->is_out[i] = wp_matched_is_dont_care(matched, i) &&
				     !matched->rows[matched->row_of_call[i]].is_root_before &&
				     matched->calls[i].parent != WP_NO_CALL;
	for (guint32 i = 0; i < matched->n_calls; i++) {
		guint32 parent = matched->calls[i].parent, steps = 0;
		while (parent != WP_NO_CALL && matched->is_out[parent] &&
		       steps++ < matched->n_calls)
			parent = matched->calls[parent].parent;
		matched->parent_of_call[i] = matched->is_out[i] ? WP_NO_CALL : parent;
	}
}

static guint32 *
new_numbers(guint32 n)
{
	guint32 *numbers = g_new(guint32, n + 1);
	memset(numbers, 0xff, (n + 1) * sizeof *numbers); /* WP_NO_CALL */
	return numbers;
}

/* The name that most likely belongs to an address: that of a call or row which was matched. */
static void
learn_names(const WpMatched *matched, WpMap *callers, WpMap *callees, WpMap *callee_ports)
{
	for (guint32 i = 0; i < matched->n_rows; i++) {
		const WpTruthRow *row = &matched->rows[i];
		guint32 call = matched->call_of_row[i];
		if (call == WP_NO_CALL || !row->caller)
			continue;
		wp_map_at(callers, row->caller, matched->caller_of_call[call]);
		wp_map_at(callees, row->callee, matched->callee_of_call[call]);
		wp_map_at(callee_ports, row->callee_port, matched->callee_of_call[call]);
	}
}

/* What NAMES know of an address, else the address. */
static guint32
name_address(const WpMatched *matched, const WpMap *names, guint32 address)
{
	guint32 name = wp_map_find(names, address);
	const char *text = address ? wp_strings_get(matched->truth->strings, address) : "?";
	return name != WP_MAP_NONE ? name : wp_strings_intern(matched->names, text, -1);
}

/* Names of nodes: those of the inferred calls, also for rows that were not found. */
static void
name_nodes(WpMatched *matched)
{
	g_autoptr(WpMap) callers = wp_map_new(), callees = wp_map_new(), ports = wp_map_new();
	const WpStrings *strings = matched->found->strings;

	for (guint32 i = 0; i < matched->n_calls; i++) {
		const WpFoundCall *call = &matched->calls[i];
		matched->caller_of_call[i] = wp_strings_intern(
			matched->names, wp_strings_get(strings, call->caller), -1);
		matched->callee_of_call[i] = wp_strings_intern(
			matched->names, wp_strings_get(strings, call->callee), -1);
	}
	learn_names(matched, callers, callees, ports);
	for (guint32 i = 0; i < matched->n_rows; i++) {
		const WpTruthRow *row = &matched->rows[i];
		guint32 call = matched->call_of_row[i];
		guint32 callee = wp_map_find(ports, row->callee_port);
		if (call != WP_NO_CALL) {
			matched->caller_of_row[i] = matched->caller_of_call[call];
			matched->callee_of_row[i] = matched->callee_of_call[call];
			continue;
		}
		matched->caller_of_row[i] = name_address(matched, callers, row->caller);
		matched->callee_of_row[i] = callee != WP_MAP_NONE
						    ? callee
						    : name_address(matched, callees, row->callee);
	}
}

void
wp_matched_init(WpMatched *matched, const WpTruth *truth, const WpFound *found, gint64 tolerance_ns)
{
	*matched = (WpMatched){
		.truth = truth,
		.found = found,
		.rows = (const WpTruthRow *)(void *)truth->rows->data,
		.calls = (const WpFoundCall *)(void *)found->calls->data,
		.n_rows = truth->rows->len,
		.n_calls = found->calls->len,
		.call_of_row = new_numbers(truth->rows->len),
		.row_of_call = new_numbers(found->calls->len),
		.parent_of_call = new_numbers(found->calls->len),
		.is_out = g_new0(gboolean, found->calls->len + 1),
		.names = wp_strings_new(),
		.caller_of_row = new_numbers(truth->rows->len),
		.callee_of_row = new_numbers(truth->rows->len),
		.caller_of_call = new_numbers(found->calls->len),
		.callee_of_call = new_numbers(found->calls->len),
	};
	if (truth->is_wire)
		match_wire(matched, tolerance_ns);
	else
		match_ids(matched);
	find_roots(matched);
	take_out_setup(matched);
	name_nodes(matched);
}

void
wp_matched_clear(WpMatched *matched)
{
	g_free(matched->call_of_row);
	g_free(matched->row_of_call);
	g_free(matched->root_of_row);
	g_free(matched->parent_of_call);
	g_free(matched->is_out);
	wp_strings_free(matched->names);
	g_free(matched->caller_of_row);
	g_free(matched->callee_of_row);
	g_free(matched->caller_of_call);
	g_free(matched->callee_of_call);
}

guint32 *
wp_truth_parents(const WpTruth *truth, const WpResolved *resolved, gint64 tolerance_ns)
{
	const WpSpans *spans = wp_resolved_spans(resolved);
	g_autoptr(WpLinks) links = wp_links_new(spans->n);
	g_autoptr(WpFound) found = wp_found_new(resolved, links);
	g_autofree guint32 *span_of = g_new(guint32, found->calls->len + 1);
	guint32 *parents = g_new(guint32, spans->n + 1);
	WpMatched matched;
	guint32 n = 0;

	for (guint32 i = 0; i < spans->n; i++)
		if (!(spans->spans[i].marks & WP_MARK_SETUP))
			span_of[n++] = i;
	memset(parents, 0xff, (spans->n + 1) * sizeof *parents); /* WP_NO_SPAN */
	wp_matched_init(&matched, truth, found, tolerance_ns);
	for (guint32 i = 0; i < matched.n_rows; i++) {
		guint32 call = matched.call_of_row[i], parent = matched.rows[i].parent;
		if (call == WP_NO_CALL || parent >= matched.n_rows || matched.rows[i].dont_care)
			continue;
		if (matched.call_of_row[parent] != WP_NO_CALL)
			parents[span_of[call]] = span_of[matched.call_of_row[parent]];
	}
	wp_matched_clear(&matched);
	return parents;
}
