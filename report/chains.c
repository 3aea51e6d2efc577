/* Chains, interned by (chain above, node, label, whether it failed); parents stand before their children. */
#include "report/chains.h"

#include <math.h>
#include <string.h>

#include "infer/map.h"
#include "infer/path.h"

struct WpChainsMaker {
	WpChains *chains;
	GHashTable *numbers; /* key of a chain -> number */
	GString *key;        /* scratch */
};

static void
free_chain(gpointer data)
{
	WpChain *chain = data;
	g_free((gpointer)chain->node);
	g_free((gpointer)chain->protocol);
	g_free((gpointer)chain->label);
	g_free(chain);
}

WpChainsMaker *
wp_chains_maker_new(void)
{
	WpChainsMaker *maker = g_new0(WpChainsMaker, 1);
	maker->chains = g_new0(WpChains, 1);
	maker->chains->chains = g_ptr_array_new_with_free_func(free_chain);
	maker->numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	maker->key = g_string_new(NULL);
	return maker;
}

void
wp_chains_maker_free(WpChainsMaker *maker)
{
	wp_chains_free(maker->chains);
	g_hash_table_unref(maker->numbers);
	g_string_free(maker->key, TRUE);
	g_free(maker);
}

void
wp_chains_free(WpChains *chains)
{
	if (!chains)
		return;
	g_ptr_array_unref(chains->chains);
	g_free(chains);
}

WpChains *
wp_chains_maker_finish(WpChainsMaker *maker)
{
	return g_steal_pointer(&maker->chains);
}

guint
wp_chain_time(gint64 latency_ns)
{
	double us = MAX((double)latency_ns / 1000, 1);
	return MIN((guint)lround(2 * log2(us)), WP_CHAIN_NO_RETURN - 1);
}

/* One part. */
typedef struct {
	WpChainsMaker *maker;
	const WpResolved *resolved;
	const WpSpan *spans;
	const WpNodes *names;
	const WpPaths *paths;
	guint32 *at; /* by span: its chain, or WP_CHAIN_ROOT where that was one too many */
} Part;

/* The chain of SPAN below PARENT; WP_CHAIN_ROOT: one too many. */
static guint32
chain_of(Part *part, guint32 parent, const WpSpan *span)
{
	WpChainsMaker *maker = part->maker;
	GPtrArray *chains = maker->chains->chains;
	const char *node = wp_resolved_node_name(part->resolved, span->callee);
	const char *label = wp_nodes_text(part->names, span->label);
	gboolean is_error = wp_span_is_error(span);
	gpointer number;

	/* With the length of the node's name no two differ in where it ends. */
	g_string_truncate(maker->key, 0);
	g_string_append_printf(maker->key, "%u %d %zu %s %s", parent, is_error, strlen(node), node,
			       label);
	if (g_hash_table_lookup_extended(maker->numbers, maker->key->str, NULL, &number))
		return GPOINTER_TO_UINT(number);
	if (chains->len == WP_CHAINS_MAX)
		return WP_CHAIN_ROOT;
	WpChain *chain = g_new0(WpChain, 1);
	const WpChain *above = parent != WP_CHAIN_ROOT ? chains->pdata[parent] : NULL;
	chain->parent = parent;
	chain->depth = above ? above->depth + 1 : 1;
	chain->node = g_strdup(node);
	chain->protocol = g_strdup(wp_nodes_text(part->names, span->protocol));
	chain->label = g_strdup(label);
	chain->is_error = is_error;
	g_hash_table_insert(maker->numbers, g_strdup(maker->key->str),
			    GUINT_TO_POINTER(chains->len));
	g_ptr_array_add(chains, chain);
	return chains->len - 1;
}

static void
add_call(Part *part, guint32 parent, guint32 number)
{
	const WpSpan *span = &part->spans[number];
	WpChains *chains = part->maker->chains;
	gint64 end_ns = part->paths->end_ns[number];
	guint32 chain = parent;

	chains->n_calls++;
	if (parent == WP_CHAIN_ROOT ||
	    ((WpChain *)chains->chains->pdata[parent])->depth < WP_CHAINS_MAX_DEPTH)
		chain = chain_of(part, parent, span);
	part->at[number] = chain;
	if (chain == WP_CHAIN_ROOT) {
		chains->n_left++;
		return;
	}
	WpChain *counted = chains->chains->pdata[chain];
	gboolean has_end = end_ns != WP_NO_TIME && end_ns >= span->call_ns;
	guint time = has_end ? wp_chain_time(end_ns - span->call_ns) : WP_CHAIN_NO_RETURN;
	counted->count++;
	if (counted->times[time] < G_MAXUINT32)
		counted->times[time]++;
}

void
wp_chains_maker_add(WpChainsMaker *maker, const WpAnalysis *analysis)
{
	const WpSpans *spans = wp_resolved_spans(analysis->resolved);
	g_autoptr(WpPaths) paths = wp_paths_new(spans, wp_analysis_links(analysis), NULL, NULL);
	g_autofree guint32 *at = g_new(guint32, (gsize)spans->n + 1);
	g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(WpPathStep));
	Part part = { .maker = maker,
		      .resolved = analysis->resolved,
		      .spans = spans->spans,
		      .names = wp_trace_nodes(wp_resolved_trace(analysis->resolved)),
		      .paths = paths,
		      .at = at };

	maker->chains->n_requests += paths->n_roots;
	for (guint32 i = 0; i < paths->n_roots; i++) {
		wp_paths_walk(paths, paths->roots[i], steps);
		for (guint k = 0; k < steps->len; k++) {
			const WpPathStep *step = &g_array_index(steps, WpPathStep, k);
			const WpPathStep *above =
				step->parent != G_MAXUINT32
					? &g_array_index(steps, WpPathStep, step->parent)
					: NULL;
			if (above && at[above->span] == WP_CHAIN_ROOT) {
				maker->chains->n_calls++;
				maker->chains->n_left++;
				at[step->span] = WP_CHAIN_ROOT;
				continue;
			}
			add_call(&part, above ? at[above->span] : WP_CHAIN_ROOT, step->span);
		}
	}
}
