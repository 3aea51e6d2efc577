/* Values: their numbers, counts per edge, and what they are worth. */
#include "infer/evidence-values.h"

#include <string.h>

#include "infer/map.h"

#define PRIOR  2.0
#define NO_WAY 255

typedef struct {
	float right; /* sums of weights */
	float wrong;
} Value;

typedef struct {
	double right;
	double wrong;
	double worth[WP_VALUES_MAX_WAYS];    /* to all true pairs together */
	guint8 chosen[WP_VALUES_MAX_GROUPS]; /* way */
} Edge;

struct WpValues {
	const WpEvidenceHost *host;
	const WpValuesShape *shape;
	guint n_ways;                         /* of all groups */
	guint32 *edges;                       /* by pair */
	guint32 *numbers[WP_VALUES_MAX_WAYS]; /* by pair; WP_MAP_NONE: no value */
	GArray *of_values;                    /* Value */
	Edge *of_edges;
	guint32 n_edges;
	float *weights; /* by pair, as learned from */
};

/* FALSE where no pair has a value. */
static gboolean
number_values(WpValues *values, gconstpointer data)
{
	const WpEvidenceHost *host = values->host;
	const WpNestProblem *problem = host->problem;
	g_autoptr(WpMap) edges = wp_map_new();
	g_autoptr(WpMap) plain = wp_map_new();
	g_autoptr(WpMap) keys = wp_map_new();

	for (guint32 i = 0; i < host->n_pairs; i++) {
		guint32 class = problem->parents[host->parents[i]].class;
		guint32 kind = problem->bundles[host->bundles[i]].kind;
		guint32 edge = wp_map_number(edges, wp_map_key(class, kind));
		guint64 found[WP_VALUES_MAX_WAYS];
		values->edges[i] = edge;
		values->shape->func(data, host->bundles[i], host->parents[i], found);
		for (guint w = 0; w < values->n_ways; w++) {
			guint32 key = edge * WP_VALUES_MAX_WAYS + w;
			values->numbers[w][i] =
				found[w] == WP_NO_VALUE
					? WP_MAP_NONE
					: wp_map_number(
						  keys,
						  wp_map_key(key, wp_map_number(plain, found[w])));
		}
	}
	values->n_edges = wp_map_count(edges);
	g_array_set_size(values->of_values, wp_map_count(keys));
	return wp_map_count(keys) > 0;
}

static void
choose_nothing(WpValues *values)
{
	for (guint32 e = 0; e < values->n_edges; e++)
		memset(values->of_edges[e].chosen, NO_WAY, WP_VALUES_MAX_GROUPS);
}

WpValues *
wp_values_new(const WpEvidenceHost *host, const WpValuesShape *shape, gconstpointer data)
{
	if (host->n_pairs > WP_VALUES_MAX_PAIRS)
		return NULL;
	WpValues *values = g_new0(WpValues, 1);
	values->host = host;
	values->shape = shape;
	values->n_ways = shape->n_groups * shape->n_ways;
	g_assert(shape->n_groups <= WP_VALUES_MAX_GROUPS && values->n_ways <= WP_VALUES_MAX_WAYS);
	values->edges = g_new(guint32, MAX(host->n_pairs, 1));
	values->weights = g_new0(float, MAX(host->n_pairs, 1));
	for (guint w = 0; w < values->n_ways; w++)
		values->numbers[w] = g_new(guint32, MAX(host->n_pairs, 1));
	values->of_values = g_array_new(FALSE, TRUE, sizeof(Value));
	if (!number_values(values, data)) {
		wp_values_free(values);
		return NULL;
	}
	values->of_edges = g_new0(Edge, values->n_edges);
	choose_nothing(values);
	return values;
}

void
wp_values_free(WpValues *values)
{
	if (!values)
		return;
	g_free(values->edges);
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
	const Edge *edge = &values->of_edges[values->edges[pair]];
	if (number == WP_MAP_NONE)
		return 0;
	const Value *value = &g_array_index(values->of_values, Value, number);
	double weight = (double)values->weights[pair];
	double right = MAX((double)value->right - weight, 0);
	double wrong = MAX((double)value->wrong - (1 - weight), 0);
	double of_right = MAX(edge->right - weight, 0);
	double of_wrong = MAX(edge->wrong - (1 - weight), 1);
	double expected = wrong * of_right / of_wrong;
	return wp_quick_log(&values->host->problem->quick, (right + PRIOR) / (expected + PRIOR));
}

static void
count(WpValues *values, const double *weights)
{
	memset(values->of_values->data, 0, values->of_values->len * sizeof(Value));
	memset(values->of_edges, 0, values->n_edges * sizeof values->of_edges[0]);
	for (guint32 i = 0; i < values->host->n_pairs; i++) {
		Edge *edge = &values->of_edges[values->edges[i]];
		values->weights[i] = (float)weights[i];
		edge->right += weights[i];
		edge->wrong += 1 - weights[i];
		for (guint w = 0; w < values->n_ways; w++) {
			guint32 number = values->numbers[w][i];
			if (number == WP_MAP_NONE)
				continue;
			Value *value = &g_array_index(values->of_values, Value, number);
			value->right += (float)weights[i];
			value->wrong += (float)(1 - weights[i]);
		}
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
wp_values_learn(WpValues *values, const double *weights)
{
	if (!weights) {
		choose_nothing(values);
		return;
	}
	count(values, weights);
	for (guint32 i = 0; i < values->host->n_pairs; i++) {
		if (weights[i] <= 0)
			continue;
		Edge *edge = &values->of_edges[values->edges[i]];
		for (guint w = 0; w < values->n_ways; w++)
			edge->worth[w] += weights[i] * worth(values, i, w);
	}
	for (guint32 e = 0; e < values->n_edges; e++)
		choose(values->shape, &values->of_edges[e]);
}

double
wp_values_score(const WpValues *values, guint32 pair)
{
	const Edge *edge = &values->of_edges[values->edges[pair]];
	double nats = 0;
	for (guint group = 0; group < values->shape->n_groups; group++)
		if (edge->chosen[group] != NO_WAY)
			nats += worth(values, pair, edge->chosen[group]);
	return nats;
}
