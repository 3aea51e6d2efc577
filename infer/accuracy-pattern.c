/*
 * Accuracy of patterns (the paper, 7.5.1 and figure 17). True and inferred calls are put into one
 * array of spans, two forests side by side, so that equal trees of either have one form.
 *
 * Counting goes by pattern, not by instance, as in the paper: with a true pattern t times and found f
 * times, max(0, t - f) instances are missing and max(0, f - t) are false. The paper's example, A->B->C->D
 * twice against one A->B->C->D, one A->B, one C->D, thus gives 0 and 2 patterns, 1 and 2 instances,
 * and 3 of 6 messages.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "infer/accuracy-private.h"
#include "infer/path.h"

static const double tolerances[WP_ACCURACY_N_TOLERANCES] = { 0, 0.02, 0.06 };

/* One pattern of either side. */
typedef struct {
	guint32 n_nodes;
	guint64 n[2];     /* instances: true, found */
	guint32 example;  /* a root */
	guint32 selfs_at; /* in Builder.selfs; only where both have it */
} Pattern;

typedef enum {
	TRUE_SIDE,
	FOUND_SIDE
} Side;

/* Sum of self times at one place of a pattern. */
typedef struct {
	double sum_ns[2];
	guint64 n[2];
} Self;

typedef struct {
	const WpMatched *matched;
	WpSpans *spans; /* id: row, or n_rows + call */
	WpLinks *links;
	WpPaths *paths;
	WpMap *numbers;   /* (client, form) -> pattern */
	GArray *patterns; /* Pattern */
	GArray *selfs;    /* Self */
	GArray *steps;    /* WpPathStep: scratch */
} Builder;

static int
compare_spans(const void *a, const void *b)
{
	const WpSpan *left = a, *right = b;

	if (left->call_ns != right->call_ns)
		return left->call_ns < right->call_ns ? -1 : 1;
	return left->id < right->id ? -1 : left->id > right->id;
}

static Side
side_of(const Builder *builder, guint32 span)
{
	return builder->spans->spans[span].id < builder->matched->n_rows ? TRUE_SIDE : FOUND_SIDE;
}

/*
 * A true call; where the truth has no times, those of the call that matched. One that was not found
 * then has no time and stands before its siblings.
 */
static gboolean
row_to_span(const WpMatched *matched, guint32 number, WpSpan *span)
{
	const WpTruthRow *row = &matched->rows[number];
	guint32 call = matched->call_of_row[number];

	if (matched->root_of_row[number] == WP_NO_CALL)
		return FALSE;
	*span = (WpSpan){
		.kind = WP_KIND_CALL,
		.id = number,
		.call_ns = row->call_ns[0],
		.return_ns = row->return_ns,
		.caller = matched->caller_of_row[number],
		.callee = matched->callee_of_row[number],
	};
	if (!matched->truth->is_wire) {
		span->call_ns = call == WP_NO_CALL ? 0 : matched->calls[call].call_ns;
		span->return_ns = call == WP_NO_CALL ? WP_NO_TIME : matched->calls[call].return_ns;
	}
	return TRUE;
}

static gboolean
call_to_span(const WpMatched *matched, guint32 number, WpSpan *span)
{
	const WpFoundCall *call = &matched->calls[number];

	if (matched->is_out[number])
		return FALSE;
	*span = (WpSpan){
		.kind = WP_KIND_CALL,
		.id = (guint64)matched->n_rows + number,
		.call_ns = call->call_ns,
		.return_ns = call->return_ns,
		.caller = matched->caller_of_call[number],
		.callee = matched->callee_of_call[number],
	};
	return TRUE;
}

static void
build_spans(Builder *builder)
{
	const WpMatched *matched = builder->matched;
	WpSpans *spans = builder->spans = g_new0(WpSpans, 1);

	spans->spans = g_new(WpSpan, (gsize)matched->n_rows + matched->n_calls);
	for (guint32 i = 0; i < matched->n_rows; i++)
		spans->n += row_to_span(matched, i, &spans->spans[spans->n]);
	for (guint32 i = 0; i < matched->n_calls; i++)
		spans->n += call_to_span(matched, i, &spans->spans[spans->n]);
	if (spans->n)
		qsort(spans->spans, spans->n, sizeof *spans->spans, compare_spans);
}

/* Links by the parents of rows and of calls; roots that nobody judges, and that are none, are marked. */
static void
build_links(Builder *builder)
{
	const WpMatched *matched = builder->matched;
	gsize n_ids = (gsize)matched->n_rows + matched->n_calls;
	g_autofree guint32 *span_of = g_new(guint32, n_ids + 1);

	memset(span_of, 0xff, (n_ids + 1) * sizeof *span_of); /* WP_NO_SPAN */
	for (guint32 i = 0; i < builder->spans->n; i++)
		span_of[builder->spans->spans[i].id] = i;
	builder->links = wp_links_new(builder->spans->n);
	for (guint32 i = 0; i < builder->spans->n; i++) {
		guint64 id = builder->spans->spans[i].id;
		gboolean is_row = id < matched->n_rows;
		guint32 call = is_row ? WP_NO_CALL : (guint32)(id - matched->n_rows);
		guint32 parent = is_row ? matched->rows[id].parent : matched->parent_of_call[call];
		if (parent < WP_UNKNOWN_CALL)
			builder->links->links[i].parent =
				span_of[is_row ? parent : (gsize)matched->n_rows + parent];
		else if (!is_row && wp_matched_is_dont_care(matched, call))
			builder->links->links[i].evidence = WP_EVIDENCE_SETUP;
		else if (!is_row && matched->calls[call].is_unseen)
			builder->links->links[i].evidence = WP_EVIDENCE_UNSEEN;
	}
	wp_links_cut_cycles(builder->links);
}

/* (transfer full) The order of siblings is that of names, as in reports. */
static guint32 *
rank_names(const WpStrings *names)
{
	guint32 n = wp_strings_count(names), *ranks = g_new0(guint32, n + 1);
	g_autofree WpRankedText *texts = g_new(WpRankedText, n + 1);

	for (guint32 i = 0; i < n; i++)
		texts[i] = (WpRankedText){ wp_strings_get(names, i), i };
	wp_path_rank_texts(texts, n, ranks);
	return ranks;
}

static guint32
pattern_of(Builder *builder, guint32 root)
{
	guint64 key = wp_map_key(builder->spans->spans[root].caller, builder->paths->forms[root]);
	return wp_map_number(builder->numbers, key);
}

/* Counts instances of each pattern on both sides. */
static void
count_patterns(Builder *builder)
{
	for (guint32 i = 0; i < builder->paths->n_roots; i++) {
		guint32 root = builder->paths->roots[i], number = pattern_of(builder, root);
		if (number == builder->patterns->len) {
			Pattern pattern = { .example = root };
			wp_paths_walk(builder->paths, root, builder->steps);
			pattern.n_nodes = builder->steps->len;
			g_array_append_val(builder->patterns, pattern);
		}
		g_array_index(builder->patterns, Pattern, number).n[side_of(builder, root)]++;
	}
}

static void
count_errors(const Builder *builder, WpAccuracy *accuracy)
{
	for (guint i = 0; i < builder->patterns->len; i++) {
		const Pattern *pattern = &g_array_index(builder->patterns, Pattern, i);
		guint64 t = pattern->n[TRUE_SIDE], f = pattern->n[FOUND_SIDE];
		accuracy->patterns.n_true += t > 0;
		accuracy->patterns.n_found += f > 0;
		accuracy->patterns.false_negatives += t > 0 && f == 0;
		accuracy->patterns.false_positives += f > 0 && t == 0;
		accuracy->instances.n_true += t;
		accuracy->instances.n_found += f;
		accuracy->instances.false_negatives += t > f ? t - f : 0;
		accuracy->instances.false_positives += f > t ? f - t : 0;
		accuracy->n_messages += t * pattern->n_nodes;
		accuracy->n_messages_wrong += t > f ? (t - f) * pattern->n_nodes : 0;
	}
}

/* What needs the number of all instances: see count_errors(). */
static void
compare_shares(const Builder *builder, WpAccuracy *accuracy)
{
	double n_true = (double)accuracy->instances.n_true;
	double n_found = (double)accuracy->instances.n_found, distance = 0;

	for (guint i = 0; i < builder->patterns->len; i++) {
		const Pattern *pattern = &g_array_index(builder->patterns, Pattern, i);
		guint64 t = pattern->n[TRUE_SIDE], f = pattern->n[FOUND_SIDE];
		gboolean is_true = (double)t > WP_ACCURACY_FREQUENT * n_true;
		gboolean is_found = (double)f > WP_ACCURACY_FREQUENT * n_found;
		accuracy->frequent.n_true += is_true;
		accuracy->frequent.n_found += is_found;
		accuracy->frequent.false_negatives += is_true && f == 0;
		accuracy->frequent.false_positives += is_found && t == 0;
		distance += fabs((n_true > 0 ? (double)t / n_true : 0) -
				 (n_found > 0 ? (double)f / n_found : 0));
	}
	accuracy->pattern_distance = distance / 2;
}

/* A pattern in the order of one side: most instances first, then the pattern met first. */
typedef struct {
	guint64 n;
	guint32 number;
} Ranked;

static int
compare_ranked(const void *a, const void *b)
{
	const Ranked *left = a, *right = b;

	if (left->n != right->n)
		return left->n > right->n ? -1 : 1;
	return left->number < right->number ? -1 : left->number > right->number;
}

/* (transfer full) The patterns of SIDE; those that it has not stand last, with n = 0. */
static Ranked *
rank_patterns(const Builder *builder, Side side)
{
	guint n = builder->patterns->len;
	Ranked *ranked = g_new(Ranked, n + 1);

	for (guint i = 0; i < n; i++)
		ranked[i] = (Ranked){ g_array_index(builder->patterns, Pattern, i).n[side], i };
	qsort(ranked, n, sizeof *ranked, compare_ranked);
	return ranked;
}

/*
 * Of the N most frequent true patterns those that were found less often than the Nth found pattern.
 * With a tolerance: less often than nearly that. Ties with the Nth are no error.
 */
static void
count_top(const Builder *builder, guint32 max_top, const Ranked *truly, WpAccuracy *accuracy)
{
	g_autofree Ranked *found = rank_patterns(builder, FOUND_SIDE);

	accuracy->n_top = (guint32)MIN(max_top, accuracy->patterns.n_true);
	accuracy->top = g_new0(WpAccuracyTop, accuracy->n_top);
	for (guint32 n = 1; n <= accuracy->n_top; n++) {
		WpAccuracyTop *top = &accuracy->top[n - 1];
		double enough = (double)found[n - 1].n;
		top->n = n;
		for (guint32 i = 0; i < n; i++) {
			const Pattern *pattern =
				&g_array_index(builder->patterns, Pattern, truly[i].number);
			double f = (double)pattern->n[FOUND_SIDE];
			for (int t = 0; t < WP_ACCURACY_N_TOLERANCES; t++)
				top->false_negatives[t] +=
					f <= 0 || f < enough * (1 - tolerances[t]);
		}
	}
}

/* Self time of SPAN: around a hole that the loss has left, the one that reports give, an estimate. */
static gint64
self_of(const Builder *builder, guint32 span)
{
	const WpMatched *matched = builder->matched;
	guint64 id = builder->spans->spans[span].id;

	if (id >= matched->n_rows && matched->calls[id - matched->n_rows].has_hole)
		return matched->calls[id - matched->n_rows].self_ns;
	return builder->paths->self_ns[span];
}

/* Adds up self times of all instances of patterns that both sides have. */
static void
gather_selfs(Builder *builder)
{
	for (guint i = 0; i < builder->patterns->len; i++) {
		Pattern *pattern = &g_array_index(builder->patterns, Pattern, i);
		pattern->selfs_at = builder->selfs->len;
		if (pattern->n[TRUE_SIDE] && pattern->n[FOUND_SIDE])
			g_array_set_size(builder->selfs, builder->selfs->len + pattern->n_nodes);
	}
	for (guint32 i = 0; i < builder->paths->n_roots; i++) {
		guint32 root = builder->paths->roots[i];
		const Pattern *pattern =
			&g_array_index(builder->patterns, Pattern, pattern_of(builder, root));
		Side side = side_of(builder, root);
		if (!pattern->n[TRUE_SIDE] || !pattern->n[FOUND_SIDE])
			continue;
		wp_paths_walk(builder->paths, root, builder->steps);
		for (guint k = 0; k < builder->steps->len; k++) {
			guint32 span = g_array_index(builder->steps, WpPathStep, k).span;
			Self *self = &g_array_index(builder->selfs, Self, pattern->selfs_at + k);
			if (!wp_span_is_paired(&builder->spans->spans[span]))
				continue;
			self->sum_ns[side] += (double)self_of(builder, span);
			self->n[side]++;
		}
	}
}

static void
add_selfs(const Builder *builder, guint32 rank, guint32 number, GArray *rows, WpAccuracy *accuracy)
{
	const Pattern *pattern = &g_array_index(builder->patterns, Pattern, number);

	wp_paths_walk(builder->paths, pattern->example, builder->steps);
	for (guint32 k = 0; k < pattern->n_nodes; k++) {
		const Self *self = &g_array_index(builder->selfs, Self, pattern->selfs_at + k);
		guint32 span = g_array_index(builder->steps, WpPathStep, k).span;
		const char *node =
			wp_strings_get(builder->matched->names, builder->spans->spans[span].callee);
		if (!self->n[TRUE_SIDE] || !self->n[FOUND_SIDE])
			continue;
		WpAccuracySelf row = {
			.pattern = rank,
			.position = k,
			.node = g_string_chunk_insert_const(accuracy->names, node),
			.n_true = self->n[TRUE_SIDE],
			.n_found = self->n[FOUND_SIDE],
			.true_ns = self->sum_ns[TRUE_SIDE] / (double)self->n[TRUE_SIDE],
			.found_ns = self->sum_ns[FOUND_SIDE] / (double)self->n[FOUND_SIDE],
		};
		g_array_append_val(rows, row);
	}
}

static void
compare_selfs(Builder *builder, const Ranked *truly, WpAccuracy *accuracy)
{
	GArray *rows = g_array_new(FALSE, FALSE, sizeof(WpAccuracySelf));
	double sum = 0, weight = 0;

	gather_selfs(builder);
	for (guint i = 0; i < builder->patterns->len && truly[i].n; i++) {
		guint32 number = truly[i].number;
		if (g_array_index(builder->patterns, Pattern, number).n[FOUND_SIDE])
			add_selfs(builder, i + 1, number, rows, accuracy);
	}
	accuracy->n_selfs = rows->len;
	accuracy->selfs = (WpAccuracySelf *)(void *)g_array_free(rows, FALSE);
	for (guint32 i = 0; i < accuracy->n_selfs; i++) {
		const WpAccuracySelf *self = &accuracy->selfs[i];
		if (self->true_ns <= 0)
			continue;
		sum += fabs(self->found_ns / self->true_ns - 1) * (double)self->n_true;
		weight += (double)self->n_true;
	}
	accuracy->self_error = weight > 0 ? sum / weight : 0;
}

void
wp_accuracy_measure_patterns(const WpMatched *matched, guint32 max_top, WpAccuracy *accuracy)
{
	g_autoptr(WpMap) numbers = wp_map_new();
	g_autoptr(GArray) patterns = g_array_new(FALSE, FALSE, sizeof(Pattern));
	g_autoptr(GArray) selfs = g_array_new(FALSE, TRUE, sizeof(Self));
	g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(WpPathStep));
	Builder builder = {
		.matched = matched,
		.numbers = numbers,
		.patterns = patterns,
		.selfs = selfs,
		.steps = steps,
	};

	build_spans(&builder);
	build_links(&builder);
	g_autofree guint32 *ranks = rank_names(matched->names);
	builder.paths = wp_paths_new(builder.spans, builder.links, ranks, NULL);
	count_patterns(&builder);
	count_errors(&builder, accuracy);
	compare_shares(&builder, accuracy);
	g_autofree Ranked *truly = rank_patterns(&builder, TRUE_SIDE);
	count_top(&builder, max_top, truly, accuracy);
	compare_selfs(&builder, truly, accuracy);
	wp_paths_free(builder.paths);
	wp_links_free(builder.links);
	wp_spans_free(builder.spans);
}
