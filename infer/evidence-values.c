/* Values: their numbers, counts per edge, and what they are worth. */
#include "infer/evidence-values.h"

#include <string.h>

#include "infer/map.h"

#define PRIOR  2.0
#define NO_WAY 255

typedef struct {
	float right; /* sum of weights */
	float n;     /* pairs */
} Value;

typedef struct {
	double right;
	double n;
	double worth[WP_VALUES_MAX_WAYS];    /* to all true pairs together */
	guint8 chosen[WP_VALUES_MAX_GROUPS]; /* way */
} Edge;

struct WpValues {
	const WpEvidenceHost *host;
	const WpValuesShape *shape;
	guint n_ways;                         /* of all groups */
	guint32 *numbers[WP_VALUES_MAX_WAYS]; /* by pair; WP_MAP_NONE: no value */
	GArray *of_values;                    /* Value */
	Edge *of_edges;
	float *weights; /* by pair, as learned from */
};

/* FALSE where no pair has a value. */
static gboolean
number_values(WpValues *values)
{
	const WpEvidenceHost *host = values->host;
	g_autoptr(WpMap) plain = wp_map_new();
	g_autoptr(WpMap) keys = wp_map_new();

	for (guint32 i = 0; i < host->n_pairs; i++) {
		guint64 found[WP_VALUES_MAX_WAYS];
		values->shape->func(host, host->bundles[i], host->parents[i], found);
		for (guint w = 0; w < values->n_ways; w++) {
			guint32 key = host->edges[i] * WP_VALUES_MAX_WAYS + w;
			values->numbers[w][i] =
				found[w] == WP_NO_VALUE
					? WP_MAP_NONE
					: wp_map_number(
						  keys,
						  wp_map_key(key, wp_map_number(plain, found[w])));
		}
	}
	g_array_set_size(values->of_values, wp_map_count(keys));
	return wp_map_count(keys) > 0;
}

static void
choose_nothing(WpValues *values)
{
	for (guint32 e = 0; e < values->host->n_edges; e++)
		memset(values->of_edges[e].chosen, NO_WAY, WP_VALUES_MAX_GROUPS);
}

void
wp_values_free(gpointer data)
{
	WpValues *values = data;
	if (!values)
		return;
	for (guint w = 0; w < values->n_ways; w++)
		g_free(values->numbers[w]);
	g_array_unref(values->of_values);
	g_free(values->of_edges);
	g_free(values->weights);
	g_free(values);
}

static double
worth(const WpValues *values, guint32 pair, guint way)
{
	guint32 number = values->numbers[way][pair];
	const Edge *edge = &values->of_edges[values->host->edges[pair]];
	if (number == WP_MAP_NONE)
		return 0;
	const Value *value = &g_array_index(values->of_values, Value, number);
	double weight = (double)values->weights[pair], others = 1 - weight;
	double right = MAX((double)value->right - weight, 0);
	double wrong = MAX((double)value->n - (double)value->right - others, 0);
	double of_right = MAX(edge->right - weight, 0);
	double of_wrong = MAX(edge->n - edge->right - others, 1);
	double expected = wrong * of_right / of_wrong;
	return wp_quick_log(&values->host->problem->quick, (right + PRIOR) / (expected + PRIOR));
}

/* How many pairs have each value: that stays. */
static void
count_pairs(WpValues *values)
{
	for (guint32 i = 0; i < values->host->n_pairs; i++) {
		values->of_edges[values->host->edges[i]].n++;
		for (guint w = 0; w < values->n_ways; w++)
			if (values->numbers[w][i] != WP_MAP_NONE)
				g_array_index(values->of_values, Value, values->numbers[w][i]).n++;
	}
}

/*
 * FALSE where no pair is left with a value. What all pairs of an edge are like tells nothing, nor does what only one is
 * like: each pair is left out of what it is weighed by.
 */
static gboolean
drop_silent(WpValues *values)
{
	gboolean speaks = FALSE;

	for (guint w = 0; w < values->n_ways; w++)
		for (guint32 i = 0; i < values->host->n_pairs; i++) {
			guint32 *number = &values->numbers[w][i];
			float n_edge = (float)values->of_edges[values->host->edges[i]].n;
			if (*number == WP_MAP_NONE)
				continue;
			float n = g_array_index(values->of_values, Value, *number).n;
			if (n >= n_edge || n < 2)
				*number = WP_MAP_NONE;
			else
				speaks = TRUE;
		}
	return speaks;
}

WpValues *
wp_values_new(const WpEvidenceHost *host, const WpValuesShape *shape)
{
	if (host->n_pairs > WP_VALUES_MAX_PAIRS)
		return NULL;
	WpValues *values = g_new0(WpValues, 1);
	values->host = host;
	values->shape = shape;
	values->n_ways = shape->n_groups * shape->n_ways;
	g_assert(shape->n_groups <= WP_VALUES_MAX_GROUPS && values->n_ways <= WP_VALUES_MAX_WAYS);
	values->weights = g_new0(float, MAX(host->n_pairs, 1));
	for (guint w = 0; w < values->n_ways; w++)
		values->numbers[w] = g_new(guint32, MAX(host->n_pairs, 1));
	values->of_values = g_array_new(FALSE, TRUE, sizeof(Value));
	gboolean speaks = number_values(values);
	values->of_edges = g_new0(Edge, (gsize)values->host->n_edges + 1);
	if (speaks) {
		count_pairs(values);
		speaks = drop_silent(values);
	}
	choose_nothing(values);
	if (!speaks)
		g_clear_pointer(&values, wp_values_free);
	return values;
}

/* PAIR is right with WEIGHT. */
static void
add_weight(WpValues *values, guint32 pair, double weight)
{
	values->of_edges[values->host->edges[pair]].right += weight;
	for (guint w = 0; w < values->n_ways; w++) {
		guint32 number = values->numbers[w][pair];
		if (number != WP_MAP_NONE)
			g_array_index(values->of_values, Value, number).right += (float)weight;
	}
}

static void
count(WpValues *values, const double *weights)
{
	Value *of_values = (Value *)(void *)values->of_values->data;

	for (guint i = 0; i < values->of_values->len; i++)
		of_values[i].right = 0;
	for (guint32 e = 0; e < values->host->n_edges; e++) {
		values->of_edges[e].right = 0;
		memset(values->of_edges[e].worth, 0, sizeof values->of_edges[e].worth);
	}
	for (guint32 i = 0; i < values->host->n_candidates; i++) {
		values->weights[i] = (float)weights[i];
		if (weights[i] > 0)
			add_weight(values, i, weights[i]);
	}
}

/* The best way of each group. */
static void
choose(const WpValuesShape *shape, Edge *edge)
{
	for (guint group = 0; group < shape->n_groups; group++) {
		double best = shape->min_worth * edge->right;
		edge->chosen[group] = NO_WAY;
		if (edge->right < shape->min_pairs)
			continue;
		for (guint w = group * shape->n_ways; w < (group + 1) * shape->n_ways; w++)
			if (edge->worth[w] > best) {
				best = edge->worth[w];
				edge->chosen[group] = (guint8)w;
			}
	}
}

void
wp_values_learn(gpointer data, const double *weights)
{
	WpValues *values = data;
	if (!weights) {
		choose_nothing(values);
		return;
	}
	count(values, weights);
	for (guint32 i = 0; i < values->host->n_candidates; i++) {
		if (weights[i] <= 0)
			continue;
		Edge *edge = &values->of_edges[values->host->edges[i]];
		if (edge->right < values->shape->min_pairs) /* takes no way: see choose() */
			continue;
		for (guint w = 0; w < values->n_ways; w++)
			edge->worth[w] += weights[i] * worth(values, i, w);
	}
	for (guint32 e = 0; e < values->host->n_edges; e++)
		choose(values->shape, &values->of_edges[e]);
}

double
wp_values_score(gpointer data, guint32 pair)
{
	const WpValues *values = data;
	const Edge *edge = &values->of_edges[values->host->edges[pair]];
	double nats = 0;
	for (guint group = 0; group < values->shape->n_groups; group++)
		if (edge->chosen[group] != NO_WAY)
			nats += worth(values, pair, edge->chosen[group]);
	return nats;
}
