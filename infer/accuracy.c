/*
 * Accuracy of calls, links, traces and probabilities, once calls and truth are matched
 * (accuracy-match.c). Patterns: accuracy-pattern.c.
 */
#include "infer/accuracy.h"

#include <stdlib.h>
#include <string.h>

#include "infer/accuracy-private.h"
#include "infer/sweep.h"

#define N_BINS    20   /* of the calibration error */
#define PRECISION 0.99 /* at which coverage is asked */

static const struct {
	const char *name;
	guint32 most; /* parallelism */
} classes[WP_ACCURACY_N_CLASSES] = {
	{ "1", 1 },   { "2", 2 },     { "3-4", 4 },
	{ "5-8", 8 }, { "9-16", 16 }, { "over 16", G_MAXUINT32 },
};

/* Judgement of a true call. */
typedef enum {
	MISSING,
	WRONG,
	RIGHT
} Judgement;

typedef struct {
	WpMatched *matched;
	WpAccuracy *accuracy;
	gint64 tolerance_ns;
	guint8 *judgements;    /* by row */
	guint32 *parallelisms; /* by row */
} Judge;

void
wp_accuracy_options_init(WpAccuracyOptions *options)
{
	*options = (WpAccuracyOptions){ .tolerance_ns = 1000000, .max_top = 50 };
}

/* Calls: found, false, and their returns. */
static void
judge_calls(Judge *judge)
{
	const WpMatched *matched = judge->matched;
	WpAccuracy *accuracy = judge->accuracy;

	for (guint32 i = 0; i < matched->n_calls; i++) {
		gboolean dont_care = wp_matched_is_dont_care(matched, i);
		accuracy->n_dont_care += dont_care;
		accuracy->n_reported += !dont_care;
		accuracy->n_false += matched->row_of_call[i] == WP_NO_CALL;
		accuracy->n_links_reported += !dont_care && matched->calls[i].parent != WP_NO_CALL;
	}
	for (guint32 i = 0; i < matched->n_rows; i++) {
		guint32 call = matched->call_of_row[i];
		gint64 truly = matched->rows[i].return_ns;
		if (matched->rows[i].dont_care || call == WP_NO_CALL || truly == WP_NO_TIME)
			continue;
		gint64 returned = matched->calls[call].return_ns;
		accuracy->n_returns++;
		accuracy->n_returns_right +=
			returned != WP_NO_TIME && ABS(returned - truly) <= judge->tolerance_ns;
	}
}

/* Whether the inferred parent of each true call is the true one. */
static void
judge_links(Judge *judge)
{
	const WpMatched *matched = judge->matched;

	for (guint32 i = 0; i < matched->n_rows; i++) {
		guint32 call = matched->call_of_row[i];
		if (matched->rows[i].dont_care || call == WP_NO_CALL)
			continue;
		guint32 parent = matched->calls[call].parent;
		guint32 row = parent == WP_NO_CALL ? WP_NO_CALL : matched->row_of_call[parent];
		gboolean is_false = parent != WP_NO_CALL && row == WP_NO_CALL;
		judge->judgements[i] = !is_false && row == matched->rows[i].parent ? RIGHT : WRONG;
	}
}

/* The sweep over true calls: those of the wire by address, of span sets as the trace has them. */
typedef struct {
	Judge *judge;
	guint32 *rows; /* by span */
} Parallel;

static void
set_parallelism(guint32 child, const WpCandidate *candidates, guint32 n, gpointer data)
{
	const Parallel *parallel = data;
	parallel->judge->parallelisms[parallel->rows[child]] = n;
}

/* The true call of ROW as a span; FALSE where its times are unknown. Hosts are strings. */
static gboolean
row_to_span(const WpMatched *matched, guint32 number, WpSpan *span)
{
	const WpTruthRow *row = &matched->rows[number];
	guint32 call = matched->call_of_row[number];

	if (row->dont_care || (!matched->truth->is_wire && call == WP_NO_CALL))
		return FALSE;
	*span = (WpSpan){ .kind = WP_KIND_CALL, .id = number, .call_record = number };
	if (matched->truth->is_wire) {
		span->call_ns = row->call_ns[0];
		span->return_ns = row->return_ns;
		span->caller_host = span->caller = row->caller;
		span->callee_host = span->callee = row->callee;
	} else {
		span->call_ns = matched->calls[call].call_ns;
		span->return_ns = matched->calls[call].return_ns;
		span->caller_host = span->caller = matched->calls[call].caller_host;
		span->callee_host = span->callee = matched->calls[call].callee_host;
	}
	return TRUE;
}

static int
compare_spans(const void *a, const void *b)
{
	const WpSpan *left = a, *right = b;

	if (left->call_ns != right->call_ns)
		return left->call_ns < right->call_ns ? -1 : 1;
	return left->id < right->id ? -1 : left->id > right->id;
}

static void
find_parallelisms(Judge *judge)
{
	const WpMatched *matched = judge->matched;
	g_autoptr(WpSpans) spans = g_new0(WpSpans, 1);
	guint64 sum = 0, n = 0;

	spans->spans = g_new(WpSpan, matched->n_rows);
	for (guint32 i = 0; i < matched->n_rows; i++)
		spans->n += row_to_span(matched, i, &spans->spans[spans->n]);
	if (spans->n)
		qsort(spans->spans, spans->n, sizeof *spans->spans, compare_spans);
	g_autofree guint32 *rows = g_new(guint32, spans->n + 1);
	for (guint32 i = 0; i < spans->n; i++)
		rows[i] = (guint32)spans->spans[i].id;
	g_autoptr(WpSweep) sweep = wp_sweep_new(spans, 0, TRUE);
	Parallel parallel = { judge, rows };
	wp_sweep_run(sweep, set_parallelism, &parallel);
	for (guint32 i = 0; i < matched->n_rows; i++) {
		sum += judge->parallelisms[i];
		n += judge->parallelisms[i] > 0;
	}
	judge->accuracy->parallelism = n ? (double)sum / (double)n : 0;
}

static WpAccuracyRow *
class_row(WpAccuracy *accuracy, guint32 parallelism)
{
	guint i = 0;
	while (classes[i].most < parallelism)
		i++;
	return &accuracy->classes[i];
}

static gboolean
has_parent(const WpTruthRow *row)
{
	return row->parent != WP_NO_CALL;
}

static void
count_calls(Judge *judge)
{
	const WpMatched *matched = judge->matched;
	WpAccuracy *accuracy = judge->accuracy;

	for (guint32 i = 0; i < matched->n_rows; i++) {
		WpAccuracyRow *rows[] = { &accuracy->all,
					  class_row(accuracy, judge->parallelisms[i]) };
		gboolean linked = has_parent(&matched->rows[i]);
		if (matched->rows[i].dont_care)
			continue;
		for (gsize k = 0; k < G_N_ELEMENTS(rows); k++) {
			rows[k]->n_calls++;
			rows[k]->n_found += judge->judgements[i] != MISSING;
			rows[k]->n_links += linked;
			rows[k]->n_links_right += linked && judge->judgements[i] == RIGHT;
		}
		accuracy->n_roots += !linked;
		accuracy->n_roots_right += !linked && judge->judgements[i] == RIGHT;
	}
}

/* What is known of the trace of a root. */
typedef struct {
	guint32 n_calls;
	guint32 parallelism; /* greatest */
	gboolean link_wrong;
	gboolean link_wrong_in_scope;
	gboolean call_wrong; /* some call is missing or wrong, the root included */
} Trace;

/* The node that sent a true call, for span sets as the trace names it. */
static guint32
caller_of(const WpMatched *matched, guint32 row)
{
	guint32 call = matched->call_of_row[row];
	if (matched->truth->is_wire)
		return matched->rows[row].caller;
	return call == WP_NO_CALL ? 0 : matched->calls[call].caller_host;
}

/* (transfer full) Nodes that are called, each by the one node that calls it, or 0 for several. */
static WpMap *
find_callers(const WpMatched *matched)
{
	WpMap *callers = wp_map_new();

	for (guint32 i = 0; i < matched->n_rows; i++) {
		WpSpan span;
		if (!row_to_span(matched, i, &span))
			continue;
		guint32 *caller = wp_map_at(callers, span.callee, span.caller);
		if (*caller != span.caller)
			*caller = 0;
	}
	return callers;
}

/* How many calls hang below each call that is a root, itself included. */
static guint32 *
count_found_trees(const WpMatched *matched)
{
	g_autofree guint32 *roots =
		wp_accuracy_find_roots(matched->parent_of_call, matched->n_calls);
	guint32 *sizes = g_new0(guint32, matched->n_calls + 1);

	for (guint32 i = 0; i < matched->n_calls; i++)
		if (roots[i] != WP_NO_CALL && !matched->is_out[i])
			sizes[roots[i]]++;
	return sizes;
}

static Trace *
gather_traces(Judge *judge)
{
	const WpMatched *matched = judge->matched;
	g_autoptr(WpMap) callers = find_callers(matched);
	Trace *traces = g_new0(Trace, matched->n_rows + 1);

	for (guint32 i = 0; i < matched->n_rows; i++) {
		if (matched->root_of_row[i] == WP_NO_CALL)
			continue;
		Trace *trace = &traces[matched->root_of_row[i]];
		guint32 caller = wp_map_find(callers, caller_of(matched, i));
		gboolean is_wrong = judge->judgements[i] != RIGHT;
		trace->n_calls++;
		trace->parallelism = MAX(trace->parallelism, judge->parallelisms[i]);
		trace->call_wrong |= is_wrong;
		/* A request that was not found has no links that could be wrong. */
		if (has_parent(&matched->rows[i]) ? is_wrong : judge->judgements[i] == MISSING) {
			trace->link_wrong = TRUE;
			trace->link_wrong_in_scope |= !has_parent(&matched->rows[i]) ||
						      (caller != 0 && caller != WP_MAP_NONE);
		}
	}
	return traces;
}

static void
judge_traces(Judge *judge)
{
	const WpMatched *matched = judge->matched;
	g_autofree Trace *traces = gather_traces(judge);
	g_autofree guint32 *sizes = count_found_trees(matched);

	for (guint32 i = 0; i < matched->n_rows; i++) {
		const Trace *trace = &traces[i];
		WpAccuracyRow *rows[] = { &judge->accuracy->all,
					  class_row(judge->accuracy, trace->parallelism) };
		if (matched->root_of_row[i] != i)
			continue;
		gboolean is_exact =
			!trace->call_wrong && sizes[matched->call_of_row[i]] == trace->n_calls;
		for (gsize k = 0; k < G_N_ELEMENTS(rows); k++) {
			rows[k]->n_traces++;
			rows[k]->n_traces_right += !trace->link_wrong;
			rows[k]->n_traces_scope += !trace->link_wrong_in_scope;
			rows[k]->n_traces_exact += is_exact;
		}
	}
}

/* Row NUMBER has a parent that was not captured, and that is what its call says. */
static gboolean
is_rightly_unseen(const WpMatched *matched, guint32 number)
{
	guint32 parent = matched->rows[number].parent;
	return matched->calls[matched->call_of_row[number]].parent == WP_NO_CALL &&
	       parent < matched->n_rows && matched->call_of_row[parent] == WP_NO_CALL;
}

/* A probability and whether it came true. */
typedef struct {
	float probability;
	gboolean is_right;
} Bet;

/* Surest first. */
static int
compare_bets(const void *a, const void *b)
{
	const Bet *left = a, *right = b;

	return (left->probability < right->probability) - (left->probability > right->probability);
}

/* |right - expected| over bins of probability. */
static double
calibration_error(const Bet *bets, guint n)
{
	double excess[N_BINS] = { 0 }, sum = 0;

	for (guint i = 0; i < n; i++) {
		int bin = (int)(bets[i].probability * N_BINS);
		excess[MIN(bin, N_BINS - 1)] += bets[i].is_right - (double)bets[i].probability;
	}
	for (int i = 0; i < N_BINS; i++)
		sum += ABS(excess[i]);
	return sum / n;
}

/* How often a right link has the greater probability of a right and a wrong one; ties count half. */
static double
area_under_curve(const Bet *bets, guint n)
{
	double wins = 0, n_right = 0, n_wrong = 0;

	for (guint begin = 0, end; begin < n; begin = end) {
		double right = 0, wrong = 0;
		for (end = begin; end < n && bets[end].probability == bets[begin].probability;
		     end++)
			*(bets[end].is_right ? &right : &wrong) += 1;
		wins += wrong * (n_right + right / 2);
		n_right += right;
		n_wrong += wrong;
	}
	return n_right > 0 && n_wrong > 0 ? wins / (n_right * n_wrong) : 1;
}

static double
coverage(const Bet *bets, guint n)
{
	guint right = 0, covered = 0;

	for (guint i = 0; i < n; i++) {
		right += bets[i].is_right;
		/* Who takes those from one probability on takes all that have it. */
		gboolean is_end = i + 1 == n || bets[i + 1].probability != bets[i].probability;
		if (is_end && right >= PRECISION * (i + 1))
			covered = i + 1;
	}
	return (double)covered / n;
}

static void
judge_probabilities(Judge *judge)
{
	const WpMatched *matched = judge->matched;
	g_autoptr(GArray) bets = g_array_new(FALSE, FALSE, sizeof(Bet));

	for (guint32 i = 0; i < matched->n_rows; i++) {
		guint32 call = matched->call_of_row[i];
		if (matched->rows[i].dont_care || !has_parent(&matched->rows[i]) ||
		    call == WP_NO_CALL || matched->calls[call].confidence < 0)
			continue;
		Bet bet = { matched->calls[call].confidence,
			    judge->judgements[i] == RIGHT || is_rightly_unseen(matched, i) };
		g_array_append_val(bets, bet);
	}
	judge->accuracy->n_judged = bets->len;
	if (bets->len == 0)
		return;
	Bet *first = (Bet *)(void *)bets->data;
	qsort(first, bets->len, sizeof *first, compare_bets);
	judge->accuracy->calibration_error = calibration_error(first, bets->len);
	judge->accuracy->auc = area_under_curve(first, bets->len);
	judge->accuracy->coverage = coverage(first, bets->len);
}

static int
compare_edges(const void *a, const void *b)
{
	const WpAccuracyEdge *left = a, *right = b;
	int order = strcmp(left->caller, right->caller);
	return order ? order : strcmp(left->callee, right->callee);
}

static void
judge_edges(Judge *judge)
{
	const WpMatched *matched = judge->matched;
	WpAccuracy *accuracy = judge->accuracy;
	g_autoptr(WpMap) numbers = wp_map_new();
	g_autoptr(GArray) edges = g_array_new(FALSE, TRUE, sizeof(WpAccuracyEdge));

	for (guint32 i = 0; i < matched->n_rows; i++) {
		guint32 caller = matched->caller_of_row[i], callee = matched->callee_of_row[i];
		if (matched->rows[i].dont_care || !has_parent(&matched->rows[i]))
			continue;
		guint32 number = wp_map_number(numbers, wp_map_key(caller, callee));
		if (number == edges->len) {
			WpAccuracyEdge edge = {
				.caller = g_string_chunk_insert_const(
					accuracy->names, wp_strings_get(matched->names, caller)),
				.callee = g_string_chunk_insert_const(
					accuracy->names, wp_strings_get(matched->names, callee)),
			};
			g_array_append_val(edges, edge);
		}
		WpAccuracyEdge *edge = &g_array_index(edges, WpAccuracyEdge, number);
		edge->n++;
		edge->right += judge->judgements[i] == RIGHT;
	}
	if (edges->len)
		qsort(edges->data, edges->len, sizeof(WpAccuracyEdge), compare_edges);
	accuracy->n_edges = edges->len;
	accuracy->edges = (WpAccuracyEdge *)(void *)g_array_free(g_steal_pointer(&edges), FALSE);
}

WpAccuracy *
wp_accuracy_measure(const WpTruth *truth, const WpFound *found, const WpAccuracyOptions *options)
{
	WpAccuracyOptions defaults;
	WpAccuracy *accuracy = g_new0(WpAccuracy, 1);
	WpMatched matched;

	wp_accuracy_options_init(&defaults);
	options = options ? options : &defaults;
	wp_matched_init(&matched, truth, found, options->tolerance_ns);
	g_autofree guint8 *judgements = g_new0(guint8, matched.n_rows + 1);
	g_autofree guint32 *parallelisms = g_new0(guint32, matched.n_rows + 1);
	Judge judge = { &matched, accuracy, options->tolerance_ns, judgements, parallelisms };

	accuracy->names = g_string_chunk_new(256);
	accuracy->all.name = "all";
	for (guint i = 0; i < WP_ACCURACY_N_CLASSES; i++)
		accuracy->classes[i].name = classes[i].name;
	judge_calls(&judge);
	judge_links(&judge);
	find_parallelisms(&judge);
	count_calls(&judge);
	judge_traces(&judge);
	judge_edges(&judge);
	judge_probabilities(&judge);
	wp_accuracy_measure_patterns(&matched, options->max_top, accuracy);
	wp_matched_clear(&matched);
	return accuracy;
}

void
wp_accuracy_free(WpAccuracy *accuracy)
{
	if (!accuracy)
		return;
	g_free(accuracy->edges);
	g_free(accuracy->top);
	g_free(accuracy->selfs);
	g_string_chunk_free(accuracy->names);
	g_free(accuracy);
}
