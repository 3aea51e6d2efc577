/*
 * Evidence of kinds "tokens": values that a call carries and passes on (an order number, a session key), and
 * "ids": identifiers of requests (traceparent, X-Request-Id), in a field of either call. Records keep both as
 * hashes (capture/tokens.h).
 *
 * What parent and child share counts by how rare it is among the parents: log2(parents / parents that have
 * it), added up. A value that all carry is worth nothing. Identifiers are not believed because of their
 * name either: a proxy may use one again for all calls of a connection. What each level is worth is learned
 * from pairs that nest, of calls with few and with many values apart.
 */
#include <math.h>
#include <stdlib.h>

#include "infer/evidence-levels.h"
#include "infer/links.h"
#include "infer/map.h"

#define N_LEVELS      12
#define BITS_A_LEVEL  1.5 /* of rareness */
#define MAX_OF_BUNDLE 64  /* tokens */
#define MAX_GROUP     4u

/* The known tokens of a parent or bundle, ascending: 2 * number, + 1 for an identifier. */
typedef struct {
	guint32 first; /* into numbers */
	guint32 n;
} Set;

typedef struct {
	const WpEvidenceHost *host;
	gboolean of_ids; /* look at what is an identifier in either call; else at the others */
	WpMap *known;    /* hash / 2 -> number, of the parents' tokens */
	GArray *counts;  /* guint32, by number: parents that have it */
	GArray *numbers; /* guint32 */
	Set *parents;
	Set *bundles;
	float *bits; /* by number: rareness */
} Tokens;

static int
compare_numbers(gconstpointer a, gconstpointer b)
{
	guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
	return x < y ? -1 : x > y;
}

/* Adds the tokens of SPAN's call to the end of numbers: those of parents make new numbers. */
static void
add_tokens(Tokens *self, guint32 span, gboolean is_parent)
{
	const WpTrace *trace = wp_resolved_trace(self->host->resolved);
	const WpSpan *spans = wp_resolved_spans(self->host->resolved)->spans;
	const WpRecord *record = &wp_trace_records(trace)[spans[span].call_record];
	const guint32 *tokens = wp_trace_tokens(trace, record);

	for (guint i = 0; i < record->n_tokens; i++) {
		guint32 number = is_parent ? wp_map_number(self->known, tokens[i] / 2)
					   : wp_map_find(self->known, tokens[i] / 2);
		guint32 marked = 2 * number + tokens[i] % 2;
		if (number != WP_MAP_NONE)
			g_array_append_val(self->numbers, marked);
	}
}

/* Sorts what was added since FIRST, each once. */
static Set
close_set(Tokens *self, guint32 first)
{
	guint32 n = self->numbers->len - first, kept = 0;

	if (n == 0)
		return (Set){ first, 0 }; /* the array may have no memory yet */
	guint32 *numbers = &g_array_index(self->numbers, guint32, first);
	if (n > 1)
		qsort(numbers, n, sizeof numbers[0], compare_numbers);
	for (guint32 i = 0; i < n && kept < MAX_OF_BUNDLE; i++)
		if (kept == 0 || numbers[kept - 1] / 2 != numbers[i] / 2)
			numbers[kept++] = numbers[i];
		else
			numbers[kept - 1] = numbers[i]; /* the identifier comes last */
	g_array_set_size(self->numbers, first + kept);
	return (Set){ first, kept };
}

static void
count_set(Tokens *self, Set set)
{
	for (guint32 i = 0; i < set.n; i++) {
		guint32 number = g_array_index(self->numbers, guint32, set.first + i) / 2;
		if (number >= self->counts->len)
			g_array_set_size(self->counts, number + 1);
		g_array_index(self->counts, guint32, number)++;
	}
}

static void
find_tokens(Tokens *self)
{
	const WpNestProblem *problem = self->host->problem;

	for (guint32 p = 0; p < problem->n_parents; p++) {
		guint32 first = self->numbers->len;
		add_tokens(self, problem->parents[p].span, TRUE);
		self->parents[p] = close_set(self, first);
		count_set(self, self->parents[p]);
	}
	for (guint32 b = 0; b < problem->n_bundles; b++) {
		const WpNestBundle *bundle = &problem->bundles[b];
		guint32 first = self->numbers->len;
		for (guint32 i = 0; i < bundle->n; i++) {
			guint32 child = problem->bundle_children[bundle->first + i];
			if (problem->children[child].span != WP_NO_SPAN)
				add_tokens(self, problem->children[child].span, FALSE);
		}
		self->bundles[b] = close_set(self, first);
	}
	self->bits = g_new0(float, MAX(self->counts->len, 1));
	for (guint32 i = 0; i < self->counts->len; i++)
		self->bits[i] = (float)wp_quick_log2(
			&problem->quick,
			(double)problem->n_parents / g_array_index(self->counts, guint32, i));
}

/* How rare what they share is. */
static guint
level_of(gconstpointer data, guint32 bundle, guint32 parent)
{
	const Tokens *self = data;
	Set a = self->bundles[bundle], b = self->parents[parent];
	const guint32 *numbers = (const guint32 *)(const void *)self->numbers->data;
	double bits = 0;

	for (guint32 i = 0, j = 0; i < a.n && j < b.n;) {
		guint32 x = numbers[a.first + i] / 2, y = numbers[b.first + j] / 2;
		gboolean is_id = (numbers[a.first + i] | numbers[b.first + j]) & 1;
		if (x == y && is_id == self->of_ids)
			bits += (double)self->bits[x];
		i += x <= y;
		j += y <= x;
	}
	return (guint)MIN(ceil(bits / BITS_A_LEVEL), N_LEVELS - 1);
}

/* How many values it has: none, one, two or three, four to seven, more. */
static guint
group_of(gconstpointer data, guint32 bundle)
{
	const Tokens *self = data;
	return MIN(g_bit_storage(self->bundles[bundle].n), MAX_GROUP);
}

static gboolean
has_tokens(const WpEvidenceHost *host)
{
	const WpRecord *records = wp_trace_records(wp_resolved_trace(host->resolved));
	const WpSpan *spans = wp_resolved_spans(host->resolved)->spans;

	if (!wp_trace_has(wp_resolved_trace(host->resolved), WP_TRACE_TOKENS))
		return FALSE;
	for (guint32 p = 0; p < host->problem->n_parents; p++)
		if (records[spans[host->problem->parents[p].span].call_record].n_tokens)
			return TRUE;
	return FALSE;
}

/* Only the levels stay. */
static WpLevels *
begin_either(const WpEvidenceHost *host, gboolean of_ids)
{
	g_autoptr(WpMap) known = wp_map_new();
	g_autoptr(GArray) counts = g_array_new(FALSE, TRUE, sizeof(guint32));
	g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(guint32));
	g_autofree Set *parents = g_new0(Set, MAX(host->problem->n_parents, 1));
	g_autofree Set *bundles = g_new0(Set, MAX(host->problem->n_bundles, 1));
	Tokens tokens = { .host = host,
			  .of_ids = of_ids,
			  .known = known,
			  .counts = counts,
			  .numbers = numbers,
			  .parents = parents,
			  .bundles = bundles };

	find_tokens(&tokens);
	WpLevels *levels = wp_levels_new(host, N_LEVELS, group_of, level_of, &tokens);
	g_free(tokens.bits);
	return levels;
}

static gpointer
begin_tokens(const WpEvidenceHost *host)
{
	return begin_either(host, FALSE);
}

static gpointer
begin_ids(const WpEvidenceHost *host)
{
	return begin_either(host, TRUE);
}

const WpEvidenceKind wp_evidence_tokens = {
	.name = "tokens",
	.summary = "values that parent and child both carry (hashes of rare-looking words)",
	.is_default = TRUE,
	.tells_first = TRUE,
	.word = WP_EVIDENCE_TOKENS,
	.may_speak = has_tokens,
	.begin = begin_tokens,
	.learn = wp_levels_learn,
	.score = wp_levels_score,
	.end = wp_levels_free,
};

const WpEvidenceKind wp_evidence_ids = {
	.name = "ids",
	.summary = "identifiers of requests that both carry (traceparent, X-Request-Id, ...)",
	.is_default = TRUE,
	.tells_first = TRUE,
	.word = WP_EVIDENCE_IDS,
	.may_speak = has_tokens,
	.begin = begin_ids,
	.learn = wp_levels_learn,
	.score = wp_levels_score,
	.end = wp_levels_free,
};
