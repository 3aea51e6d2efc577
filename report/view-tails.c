/* Who called whom is seen in packets, not inferred, so that tails hold at any load. */
#include "report/view-tails.h"

#include <stdlib.h>

#include "infer/delay.h"
#include "infer/map.h"
#include "infer/pattern.h"
#include "report/analysis.h"

/* Calls of which a tail can be told. */
#define MIN_CALLS 100

/* A call is slow from so many quartiles above the median on, and so many medians. */
#define QUARTILES 10
#define MEDIANS   3

/* Tails of a page. */
#define MAX_TAILS 20

typedef struct {
	guint32 caller;
	guint32 callee;
	guint32 label;
	guint32 protocol;
	WpDelay *self;
	double median_ns;
	double limit_ns; /* slow from here on */
	guint64 n_slow;
	double excess_ns; /* of the slow ones, above the median */
} Kind;

typedef struct {
	const WpPatternSet *set;
	WpMap *pairs; /* of nodes */
	WpMap *kinds; /* (pair, label) -> number */
	GArray *all;  /* Kind */
} Kinds;

static gboolean
is_counted(const WpPattern *pattern, const WpPatternNode *node)
{
	return !pattern->is_background && !node->waits && wp_delay_count(node->self_time) > 0;
}

static guint32
kind_of(Kinds *kinds, const WpPattern *pattern, const WpPatternNode *node)
{
	guint32 caller =
		node->parent == G_MAXUINT32 ? pattern->client : pattern->nodes[node->parent].node;
	guint32 pair = wp_map_number(kinds->pairs, wp_map_key(caller, node->node));
	guint32 number = wp_map_number(kinds->kinds, wp_map_key(pair, node->label));
	if (number == kinds->all->len) {
		Kind kind = { .caller = caller,
			      .callee = node->node,
			      .label = node->label,
			      .protocol = node->protocol,
			      .self = wp_delay_new() };
		g_array_append_val(kinds->all, kind);
	}
	return number;
}

/* What of a distribution is above a limit. */
typedef struct {
	double limit_ns;
	double median_ns;
	double max_ns; /* of all: a bin is wider than what is in it */
	guint64 n;
	double excess_ns;
} Above;

static void
add_bin(gint64 low_ns, gint64 high_ns, guint64 count, gpointer data)
{
	Above *above = data;
	double middle = MIN(((double)low_ns + (double)high_ns) / 2, above->max_ns);
	if (middle < above->limit_ns)
		return;
	above->n += count;
	above->excess_ns += (double)count * (middle - above->median_ns);
}

static Above
above_of(const WpDelay *self, double limit_ns, double median_ns)
{
	Above above = { limit_ns, median_ns, (double)wp_delay_max_ns(self), 0, 0 };
	wp_delay_foreach_bin(self, add_bin, &above);
	return above;
}

static void
judge(Kind *kind)
{
	if (wp_delay_count(kind->self) < MIN_CALLS)
		return;
	double quartile = (double)wp_delay_quantile_ns(kind->self, 0.75);
	kind->median_ns = (double)wp_delay_quantile_ns(kind->self, 0.5);
	kind->limit_ns = MAX(kind->median_ns + QUARTILES * (quartile - kind->median_ns),
			     MEDIANS * kind->median_ns);
	Above above = above_of(kind->self, kind->limit_ns, kind->median_ns);
	kind->n_slow = above.n;
	kind->excess_ns = above.excess_ns;
}

static void
gather(Kinds *kinds)
{
	const WpPatternSet *set = kinds->set;
	for (guint32 i = 0; i < set->n_patterns; i++) {
		const WpPattern *pattern = &set->patterns[i];
		for (guint32 k = 0; k < pattern->n_nodes; k++) {
			const WpPatternNode *node = &pattern->nodes[k];
			if (!is_counted(pattern, node))
				continue;
			guint32 number = kind_of(kinds, pattern, node);
			wp_delay_merge(g_array_index(kinds->all, Kind, number).self,
				       node->self_time);
		}
	}
	for (guint i = 0; i < kinds->all->len; i++)
		judge(&g_array_index(kinds->all, Kind, i));
}

static int
compare_kinds(gconstpointer a, gconstpointer b, gpointer data)
{
	const GArray *all = data;
	guint32 i = *(const guint32 *)a, j = *(const guint32 *)b;
	double x = g_array_index(all, Kind, i).excess_ns, y = g_array_index(all, Kind, j).excess_ns;
	if (x != y)
		return x > y ? -1 : 1;
	return i < j ? -1 : i > j;
}

/* The same calls from other nodes; as slow are those that take half of what slow ones do on average. */
static void
add_others(const Kinds *kinds, guint32 number, WpViewTail *tail)
{
	const Kind *kind = &g_array_index(kinds->all, Kind, number);
	double limit_ns = MAX(kind->limit_ns, tail->slow_ns / 2);
	for (guint32 i = 0; i < kinds->all->len; i++) {
		const Kind *other = &g_array_index(kinds->all, Kind, i);
		if (i == number || other->callee != kind->callee || other->label != kind->label)
			continue;
		tail->n_others += wp_delay_count(other->self);
		tail->n_others_slow += above_of(other->self, limit_ns, 0).n;
	}
}

/* The rank of the pattern in which most of it is, or 0. */
static guint32
pattern_of(Kinds *kinds, const WpView *view, guint32 number)
{
	const Kind *kind = &g_array_index(kinds->all, Kind, number);
	double most = 0;
	guint32 best = 0;
	for (guint32 i = 0; i < view->n_patterns; i++) {
		const WpPattern *pattern = &kinds->set->patterns[view->patterns[i].number];
		for (guint32 k = 0; k < pattern->n_nodes; k++) {
			const WpPatternNode *node = &pattern->nodes[k];
			if (node->node != kind->callee || node->label != kind->label ||
			    !is_counted(pattern, node) || kind_of(kinds, pattern, node) != number)
				continue;
			Above above = above_of(node->self_time, kind->limit_ns, kind->median_ns);
			if (above.excess_ns > most) {
				most = above.excess_ns;
				best = view->patterns[i].rank;
			}
		}
	}
	return best;
}

static void
fill_tail(Kinds *kinds, const WpAnalysis *analysis, const WpView *view, guint32 number,
	  WpViewTail *tail)
{
	const Kind *kind = &g_array_index(kinds->all, Kind, number);
	const WpNodes *nodes = wp_trace_nodes(analysis->trace);
	*tail = (WpViewTail){
		.caller = wp_resolved_node_name(analysis->resolved, kind->caller),
		.node = wp_resolved_node_name(analysis->resolved, kind->callee),
		.label = wp_nodes_text(nodes, kind->label),
		.protocol = wp_nodes_text(nodes, kind->protocol),
		.count = wp_delay_count(kind->self),
		.n_slow = kind->n_slow,
		.median_ns = kind->median_ns,
		.limit_ns = kind->limit_ns,
		.slow_ns = kind->median_ns + kind->excess_ns / (double)kind->n_slow,
		.max_ns = (double)wp_delay_max_ns(kind->self),
		.excess_ns = kind->excess_ns,
		.pattern = pattern_of(kinds, view, number),
	};
	add_others(kinds, number, tail);
}

void
wp_view_tails_fill(WpView *view, const WpAnalysis *analysis)
{
	g_autoptr(WpMap) pairs = wp_map_new();
	g_autoptr(WpMap) numbers = wp_map_new();
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(Kind));
	Kinds kinds = { analysis->patterns, pairs, numbers, all };

	gather(&kinds);
	g_autofree guint32 *order = g_new(guint32, (gsize)all->len + 1);
	for (guint32 i = 0; i < all->len; i++)
		order[i] = i;
	g_qsort_with_data(order, (gint)all->len, sizeof *order, compare_kinds, all);
	view->tails = g_new0(WpViewTail, MAX_TAILS);
	while (view->n_tails < MIN(all->len, MAX_TAILS) &&
	       g_array_index(all, Kind, order[view->n_tails]).n_slow) {
		fill_tail(&kinds, analysis, view, order[view->n_tails],
			  &view->tails[view->n_tails]);
		view->n_tails++;
	}
	for (guint i = 0; i < all->len; i++)
		wp_delay_free(g_array_index(all, Kind, i).self);
}
