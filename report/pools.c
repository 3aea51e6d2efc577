/* Host by host: how many connections are in use at a time; then request by request: what comes before each call over them. */
#include "report/pools.h"

#include <stdlib.h>

#include "infer/map.h"

/* Of a kind, calls that waited and calls that did not, from which on their difference means something. */
#define MIN_KIND 10

/* Of the calls that waited: of such kinds, for the mean to be that of all. */
#define MIN_KNOWN 0.5

struct WpPools {
	GArray *list; /* WpPool */
};

/* A part at hand. */
typedef struct {
	const WpSpan *spans;
	guint32 n;
	const WpRecord *records;
	const WpLinks *links;
	const guint8 *keep;
	WpMap *lines; /* hosts and whom they call: where some have waited */
} Part;

static void
pool_clear(gpointer data)
{
	g_array_unref(((WpPool *)data)->kinds);
}

static GArray *
list_new(void)
{
	GArray *list = g_array_new(FALSE, TRUE, sizeof(WpPool));
	g_array_set_clear_func(list, pool_clear);
	return list;
}

WpPools *
wp_pools_new(void)
{
	WpPools *pools = g_new0(WpPools, 1);
	pools->list = list_new();
	return pools;
}

void
wp_pools_free(WpPools *pools)
{
	if (!pools)
		return;
	g_array_unref(pools->list);
	g_free(pools);
}

/* There are few. */
static WpPool *
pool_of(WpPools *pools, guint32 caller, guint32 callee)
{
	guint i = 0;
	for (; i < pools->list->len; i++) {
		WpPool *pool = &g_array_index(pools->list, WpPool, i);
		if (pool->caller == caller && pool->callee == callee)
			return pool;
	}
	WpPool pool = { .caller = caller,
			.callee = callee,
			.kinds = g_array_new(FALSE, TRUE, sizeof(WpPoolKind)) };
	g_array_append_val(pools->list, pool);
	return &g_array_index(pools->list, WpPool, i);
}

/* NULL: there are too many already. */
static WpPoolKind *
kind_of(WpPool *pool, guint32 parent_label, guint32 label, gboolean is_first)
{
	for (guint i = 0; i < pool->kinds->len; i++) {
		WpPoolKind *kind = &g_array_index(pool->kinds, WpPoolKind, i);
		if (kind->parent_label == parent_label && kind->label == label &&
		    kind->is_first == is_first)
			return kind;
	}
	if (pool->kinds->len == WP_POOLS_KINDS)
		return NULL;
	WpPoolKind kind = { .parent_label = parent_label, .label = label, .is_first = is_first };
	g_array_append_val(pool->kinds, kind);
	return &g_array_index(pool->kinds, WpPoolKind, pool->kinds->len - 1);
}

/* --- a part --- */

static gboolean
has_waited(const Part *part, guint32 number)
{
	return (part->links->links[number].evidence & WP_EVIDENCE_POOL) != 0;
}

static gboolean
is_kept(const Part *part, guint32 number)
{
	return !part->keep || part->keep[number];
}

static guint64
line_of(const WpSpan *span)
{
	return wp_map_key(span->caller_host, span->callee);
}

/* TRUE where span NUMBER is a call over a connection out of those for which calls have waited. */
static gboolean
is_pooled(const Part *part, guint32 number)
{
	const WpSpan *span = &part->spans[number];
	return wp_span_is_paired(span) && part->records[span->call_record].flow &&
	       wp_map_find(part->lines, line_of(span)) != WP_MAP_NONE;
}

static int
compare_lines(gconstpointer a, gconstpointer b, gpointer data)
{
	const WpSpan *spans = data;
	guint32 i = *(const guint32 *)a, k = *(const guint32 *)b;
	if (line_of(&spans[i]) != line_of(&spans[k]))
		return line_of(&spans[i]) < line_of(&spans[k]) ? -1 : 1;
	return (i > k) - (i < k);
}

static int
compare_times(gconstpointer a, gconstpointer b)
{
	gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
	return (x > y) - (x < y);
}

/* The most of the N calls that are there at a time. */
static guint32
count_most(const Part *part, const guint32 *calls, guint32 n)
{
	g_autofree gint64 *ends_ns = g_new(gint64, n);
	guint32 most = 0;

	for (guint32 i = 0; i < n; i++)
		ends_ns[i] = part->spans[calls[i]].return_ns;
	qsort(ends_ns, n, sizeof *ends_ns, compare_times);
	for (guint32 i = 0, over = 0; i < n; i++) {
		while (over < i && ends_ns[over] <= part->spans[calls[i]].call_ns)
			over++;
		most = MAX(most, i + 1 - over);
	}
	return most;
}

/* The calls of LIST, line by line. */
static void
count_lines(WpPools *pools, const Part *part, const GArray *list)
{
	const guint32 *calls = (const guint32 *)(const void *)list->data;
	const WpSpan *before = NULL;
	guint n;

	for (guint first = 0; first < list->len; first += n) {
		const WpSpan *span = &part->spans[calls[first]];
		WpPool *pool = pool_of(pools, span->caller, span->callee);
		for (n = 1; first + n < list->len; n++)
			if (line_of(&part->spans[calls[first + n]]) != line_of(span))
				break;
		guint32 most = count_most(part, calls + first, n);
		pool->connections = MAX(pool->connections, most);
		pool->is_several |=
			before && before->callee == span->callee && before->caller == span->caller;
		for (guint i = first; i < first + n; i++) {
			const WpSpan *call = &part->spans[calls[i]];
			if (!is_kept(part, calls[i]))
				continue;
			pool->n_calls++;
			pool->n_waited += has_waited(part, calls[i]);
			pool->taken_ns += (guint64)(call->return_ns - call->call_ns);
		}
		before = span;
	}
}

/* The calls that PARENT makes: N of them, in their order. One over the connection of that before has not been in the line again. */
static void
count_gaps(WpPools *pools, const Part *part, guint32 parent, const guint32 *calls, guint n)
{
	gint64 until_ns = wp_span_served_ns(&part->spans[parent]);
	guint32 flow = 0;

	for (guint i = 0; i < n; i++) {
		const WpSpan *span = &part->spans[calls[i]];
		guint32 own = part->records[span->call_record].flow;
		gboolean waited = has_waited(part, calls[i]);
		if (is_pooled(part, calls[i]) && is_kept(part, calls[i]) &&
		    (waited || own != flow)) {
			WpPool *pool = pool_of(pools, span->caller, span->callee);
			WpPoolKind *kind =
				kind_of(pool, part->spans[parent].label, span->label, i == 0);
			if (kind) {
				kind->n[waited]++;
				kind->gap_ns[waited] += (double)MAX(span->call_ns - until_ns, 0);
			}
		}
		flow = own;
		until_ns = MAX(until_ns, span->return_ns);
	}
}

/* The calls of LIST, request by request. */
static void
count_requests(WpPools *pools, const Part *part, const GArray *list)
{
	const guint32 *calls = (const guint32 *)(const void *)list->data;
	guint n;

	for (guint first = 0; first < list->len; first += n) {
		guint32 parent = part->links->links[calls[first]].parent;
		for (n = 1; first + n < list->len; n++)
			if (part->links->links[calls[first + n]].parent != parent)
				break;
		count_gaps(pools, part, parent, calls + first, n);
	}
}

/* TRUE where there is any. */
static gboolean
find_lines(const Part *part)
{
	for (guint32 i = 0; i < part->n; i++)
		if (has_waited(part, i))
			wp_map_number(part->lines, line_of(&part->spans[i]));
	return wp_map_count(part->lines) > 0;
}

void
wp_pools_add(WpPools *pools, const WpResolved *resolved, const WpLinks *links, const guint8 *keep)
{
	const WpSpans *spans = wp_resolved_spans(resolved);
	g_autoptr(WpMap) lines = wp_map_new();
	const Part part = { spans->spans, spans->n, wp_trace_records(wp_resolved_trace(resolved)),
			    links,        keep,     lines };
	if (!find_lines(&part))
		return;
	g_autoptr(GArray) calls = g_array_new(FALSE, FALSE, sizeof(guint32));
	g_autoptr(GArray) below = g_array_new(FALSE, FALSE, sizeof(guint32));
	g_autofree guint8 *is_parent = g_malloc0(spans->n);

	for (guint32 i = 0; i < spans->n; i++) {
		guint32 parent = links->links[i].parent;
		if (!is_pooled(&part, i))
			continue;
		g_array_append_val(calls, i);
		if (parent != WP_NO_SPAN)
			is_parent[parent] = 1;
	}
	for (guint32 i = 0; i < spans->n; i++) {
		guint32 parent = links->links[i].parent;
		if (parent != WP_NO_SPAN && is_parent[parent] &&
		    wp_span_is_paired(&spans->spans[i]))
			g_array_append_val(below, i);
	}
	g_array_sort_with_data(calls, compare_lines, spans->spans);
	g_array_sort_with_data(below, wp_links_compare_parents, links->links);
	count_lines(pools, &part, calls);
	count_requests(pools, &part, below);
}

/* --- parts --- */

static void
merge(const WpResolved *resolved, WpPool *to, const WpPool *from)
{
	to->connections = MAX(to->connections, from->connections);
	to->is_several |= from->is_several || to->n_calls > 0;
	to->n_calls += from->n_calls;
	to->n_waited += from->n_waited;
	to->taken_ns += from->taken_ns;
	for (guint i = 0; i < from->kinds->len; i++) {
		const WpPoolKind *kind = &g_array_index(from->kinds, WpPoolKind, i);
		WpPoolKind *own = kind_of(
			to, wp_resolved_label_now(resolved, to->caller, kind->parent_label),
			wp_resolved_label_now(resolved, to->callee, kind->label), kind->is_first);
		for (guint k = 0; own && k < 2; k++) {
			own->n[k] += kind->n[k];
			own->gap_ns[k] += kind->gap_ns[k];
		}
	}
}

void
wp_pools_move(WpPools *pools, const WpResolved *resolved)
{
	g_autoptr(GArray) old = g_steal_pointer(&pools->list);

	pools->list = list_new();
	for (guint i = 0; i < old->len; i++) {
		const WpPool *from = &g_array_index(old, WpPool, i);
		merge(resolved,
		      pool_of(pools, wp_resolved_caller_now(resolved, from->caller),
			      wp_resolved_callee_now(resolved, from->callee)),
		      from);
	}
}

const WpPool *
wp_pools_get(const WpPools *pools, guint *out_n)
{
	*out_n = pools->list->len;
	return (const WpPool *)(const void *)pools->list->data;
}

/* The mean of those kinds, or -1. */
static double
find_mean(const WpPool *pool, gboolean is_first)
{
	guint64 n_known = 0, n = 0;
	double sum_ns = 0;

	for (guint i = 0; i < pool->kinds->len; i++) {
		const WpPoolKind *kind = &g_array_index(pool->kinds, WpPoolKind, i);
		if (kind->is_first != is_first)
			continue;
		n += kind->n[1];
		if (kind->n[0] < MIN_KIND || kind->n[1] < MIN_KIND)
			continue;
		n_known += kind->n[1];
		sum_ns +=
			kind->gap_ns[1] - kind->gap_ns[0] * (double)kind->n[1] / (double)kind->n[0];
	}
	if (!n_known || (double)n_known < MIN_KNOWN * (double)n)
		return -1;
	return MAX(sum_ns, 0) / (double)n_known;
}

double
wp_pool_wait_ns(const WpPool *pool)
{
	double wait_ns = find_mean(pool, FALSE);
	return wait_ns >= 0 ? wait_ns : find_mean(pool, TRUE);
}
