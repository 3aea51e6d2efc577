/*
 * The requests that are mended, as paths and plans. Paths are compared by 64-bit sums: the sum of a span adds
 * a number for each of its calls, so that a move costs a walk to the root, whatever the size of the tree. Each
 * request keeps the number of its path and each span that of its plan, so that how many are alike costs a look.
 */
#include <string.h>

#include "infer/mend-private.h"
#include "infer/mend.h"

#define UNHEARD 0.5  /* instances: the weight of a path that no other request takes */
#define FEW_OWN 10   /* requests with paths of their own: so few are no habit */
#define RARE    0.3  /* of the most frequent path from the same first call: less is rare */
#define N_LOGS  4096 /* counts whose logarithm is kept */

/* --- lists --- */

void
wp_mend_lists_init(WpMendLists *lists, const guint32 *n_items, guint32 n)
{
	gsize at = 0;

	lists->n = n;
	lists->lists = g_new(WpMendList, (gsize)n + 1);
	for (guint32 i = 0; i < n; i++)
		at += n_items[i];
	lists->memory = g_new(guint32, at + 1);
	at = 0;
	for (guint32 i = 0; i < n; i++) {
		lists->lists[i] = (WpMendList){ lists->memory + at, 0, n_items[i], FALSE };
		at += n_items[i];
	}
}

void
wp_mend_lists_clear(WpMendLists *lists)
{
	for (guint32 i = 0; i < lists->n; i++)
		if (lists->lists[i].is_owned)
			g_free(lists->lists[i].items);
	g_free(lists->lists);
	g_free(lists->memory);
}

static void
make_room(WpMendList *list)
{
	list->n_allocated = MAX(8, 2 * list->n_allocated);
	if (list->is_owned) {
		list->items = g_renew(guint32, list->items, list->n_allocated);
		return;
	}
	guint32 *items = g_new(guint32, list->n_allocated);
	if (list->n)
		memcpy(items, list->items, list->n * sizeof items[0]);
	list->items = items;
	list->is_owned = TRUE;
}

void
wp_mend_list_add(WpMendList *list, guint32 item)
{
	if (list->n == list->n_allocated)
		make_room(list);
	guint32 at = list->n++;
	for (; at > 0 && list->items[at - 1] > item; at--)
		list->items[at] = list->items[at - 1];
	list->items[at] = item;
}

void
wp_mend_list_remove(WpMendList *list, guint32 item)
{
	guint32 kept = 0;
	for (guint32 i = 0; i < list->n; i++)
		if (list->items[i] != item)
			list->items[kept++] = list->items[i];
	list->n = kept;
}

/* --- shapes --- */

/* The finaliser of MurmurHash3 (Appleby, public domain): every bit depends on every bit. */
static inline guint64
mix(guint64 value)
{
	value ^= value >> 33;
	value *= G_GUINT64_CONSTANT(0xff51afd7ed558ccd);
	value ^= value >> 33;
	value *= G_GUINT64_CONSTANT(0xc4ceb9fe1a85ec53);
	return value ^ value >> 33;
}

guint64
wp_mend_shape(const WpMendPaths *paths, guint32 span)
{
	return mix(paths->spans[span].type + paths->spans[span].sum);
}

void
wp_mend_add_shape(WpMendPaths *paths, guint32 span, guint64 delta)
{
	while (span != WP_NO_SPAN && delta) {
		guint64 before = wp_mend_shape(paths, span);
		paths->spans[span].sum += delta;
		delta = wp_mend_shape(paths, span) - before;
		span = paths->spans[span].parent;
	}
}

static guint64
path_of(const WpMendPaths *paths, guint32 root, guint64 shape)
{
	return mix(shape + g_array_index(paths->callers, guint64, paths->spans[root].first));
}

guint64
wp_mend_path_with(const WpMendPaths *paths, guint32 span, guint64 delta)
{
	for (;;) {
		const WpMendSpan *self = &paths->spans[span];
		guint64 shape = mix(self->type + self->sum + delta);
		if (self->parent == WP_NO_SPAN)
			return path_of(paths, span, shape);
		delta = shape - mix(self->type + self->sum);
		span = self->parent;
	}
}

/*
 * What SPAN calls, one after another. Calls that overlap count as a set, as which of them is first is
 * chance.
 */
guint64
wp_mend_plan_with(const WpMendPaths *paths, guint32 span, const guint32 *calls, guint32 n)
{
	guint64 plan = paths->spans[span].type, set = 0;
	gint64 until_ns = G_MININT64;

	for (guint32 i = 0; i < n; i++) {
		const WpMendSpan *call = &paths->spans[calls[i]];
		if (call->begin_ns >= until_ns) {
			plan = mix(plan + set);
			set = 0;
		}
		set += call->type;
		until_ns = MAX(until_ns, call->end_ns);
	}
	return mix(plan + set);
}

/* --- counts --- */

static guint32
number_of(WpMap *map, GArray *counts, guint64 hash)
{
	guint32 number = wp_map_number(map, hash);
	if (number == counts->len)
		g_array_set_size(counts, number + 1);
	return number;
}

void
wp_mend_renew_path(WpMendPaths *paths, guint32 root)
{
	guint64 hash = path_of(paths, root, wp_mend_shape(paths, root));
	guint32 number = number_of(paths->paths, paths->n_paths, hash);

	if (number == paths->firsts->len)
		g_array_append_val(paths->firsts, paths->spans[root].first);
	paths->spans[root].path = number;
}

void
wp_mend_renew_plan(WpMendPaths *paths, guint32 span)
{
	const WpMendList *calls = &paths->calls.lists[span];
	guint64 hash = wp_mend_plan_with(paths, span, calls->items, calls->n);
	paths->spans[span].plan = number_of(paths->plans, paths->n_plans, hash);
}

gboolean
wp_mend_is_rare_path(const WpMendPaths *paths, guint32 number)
{
	guint32 first = g_array_index(paths->firsts, guint32, number);
	return g_array_index(paths->n_paths, guint32, number) <
	       RARE * g_array_index(paths->most, guint32, first);
}

gboolean
wp_mend_is_rare(const WpMendPaths *paths, guint32 root)
{
	return wp_mend_begins_path(paths, root) &&
	       wp_mend_is_rare_path(paths, paths->spans[root].path);
}

gboolean
wp_mend_are_diverse(const WpMendPaths *paths)
{
	guint32 n = 0, n_own = 0;

	for (guint p = 0; p < paths->n_paths->len; p++) {
		guint32 n_of_path = g_array_index(paths->n_paths, guint32, p);
		n += n_of_path;
		n_own += n_of_path == 1;
	}
	return n_own > MAX(WP_MEND_MOST_OWN * n, FEW_OWN);
}

static double
log_of(const WpMendPaths *paths, guint32 n)
{
	return n < N_LOGS ? paths->logs[n] : wp_quick_log(paths->quick, n + UNHEARD);
}

double
wp_mend_worth_of_path(const WpMendPaths *paths, guint32 root)
{
	return log_of(paths, g_array_index(paths->n_paths, guint32, paths->spans[root].path));
}

double
wp_mend_worth_of_plan(const WpMendPaths *paths, guint32 span)
{
	return log_of(paths, g_array_index(paths->n_plans, guint32, paths->spans[span].plan));
}

double
wp_mend_worth_of_path_hash(const WpMendPaths *paths, guint64 hash)
{
	guint32 number = wp_map_find(paths->paths, hash);
	return log_of(paths,
		      number == WP_MAP_NONE ? 0 : g_array_index(paths->n_paths, guint32, number));
}

double
wp_mend_worth_of_plan_hash(const WpMendPaths *paths, guint64 hash)
{
	guint32 number = wp_map_find(paths->plans, hash);
	return log_of(paths,
		      number == WP_MAP_NONE ? 0 : g_array_index(paths->n_plans, guint32, number));
}

/* --- all requests --- */

static gboolean
begins_path(const WpLink *link)
{
	return link->parent == WP_NO_SPAN &&
	       !(link->evidence & (WP_EVIDENCE_UNPAIRED | WP_EVIDENCE_SETUP | WP_EVIDENCE_UNSEEN));
}

static void
number_first_call(WpMendPaths *paths, WpMap *firsts, const WpSpan *span, WpMendSpan *out)
{
	guint64 call = mix(span->caller) + wp_map_key(span->callee, span->label);

	out->path = 0;
	out->first = wp_map_number(firsts, mix(call));
	if (out->first < paths->callers->len)
		return;
	guint64 caller = mix(span->caller);
	g_array_append_val(paths->callers, caller);
	g_array_set_size(paths->most, paths->callers->len);
}

/* OUT_N_CALLS: by span, how many it makes. */
static void
fill_spans(WpMendPaths *paths, const WpLinks *links, const WpSpan *spans, const guint32 *alike,
	   guint32 *out_n_calls)
{
	g_autoptr(WpMap) firsts = wp_map_new();

	for (guint32 i = 0; i < paths->n; i++) {
		guint32 callee = alike ? alike[i] : spans[i].callee;
		paths->spans[i] = (WpMendSpan){
			.type = mix(wp_map_key(callee + 1, spans[i].label)),
			.begin_ns = spans[i].call_ns,
			.end_ns = wp_span_end_ns(&spans[i]),
			.parent = links->links[i].parent,
			.path = WP_MAP_NONE,
		};
		if (links->links[i].parent != WP_NO_SPAN)
			out_n_calls[links->links[i].parent]++;
		else if (begins_path(&links->links[i]))
			number_first_call(paths, firsts, &spans[i], &paths->spans[i]);
	}
}

/* From the last to the first, so that nearly all calls come before the spans that make them. */
static void
add_shapes(WpMendPaths *paths)
{
	for (guint32 i = paths->n; i-- > 0;) {
		guint64 delta = wp_mend_shape(paths, i);
		guint32 span = paths->spans[i].parent;
		/* Those before I add themselves later. */
		while (span != WP_NO_SPAN && delta) {
			guint64 before = wp_mend_shape(paths, span);
			paths->spans[span].sum += delta;
			if (span < i)
				break;
			delta = wp_mend_shape(paths, span) - before;
			span = paths->spans[span].parent;
		}
	}
}

static void
hang_calls(WpMendPaths *paths, const guint32 *n_calls)
{
	wp_mend_lists_init(&paths->calls, n_calls, paths->n);
	for (guint32 i = 0; i < paths->n; i++)
		if (paths->spans[i].parent != WP_NO_SPAN)
			wp_mend_list_add(&paths->calls.lists[paths->spans[i].parent], i);
}

static void
count_all(WpMendPaths *paths)
{
	for (guint32 i = 0; i < paths->n; i++) {
		wp_mend_renew_plan(paths, i);
		wp_mend_count_plan(paths, i, 1);
		if (wp_mend_begins_path(paths, i)) {
			wp_mend_renew_path(paths, i);
			wp_mend_count_path(paths, i, 1);
		}
	}
	for (guint32 p = 0; p < paths->n_paths->len; p++) {
		guint32 first = g_array_index(paths->firsts, guint32, p);
		guint32 *most = &g_array_index(paths->most, guint32, first);
		*most = MAX(*most, g_array_index(paths->n_paths, guint32, p));
	}
}

void
wp_mend_paths_init(WpMendPaths *paths, const WpLinks *links, const WpResolved *resolved,
		   const guint32 *alike, const WpQuickLog *quick)
{
	*paths = (WpMendPaths){
		.quick = quick,
		.spans = g_new(WpMendSpan, (gsize)links->n + 1),
		.n = links->n,
		.paths = wp_map_new(),
		.plans = wp_map_new(),
		.n_paths = g_array_new(FALSE, TRUE, sizeof(guint32)),
		.firsts = g_array_new(FALSE, FALSE, sizeof(guint32)),
		.n_plans = g_array_new(FALSE, TRUE, sizeof(guint32)),
		.callers = g_array_new(FALSE, FALSE, sizeof(guint64)),
		.most = g_array_new(FALSE, TRUE, sizeof(guint32)),
		.logs = g_new(double, N_LOGS),
	};
	g_autofree guint32 *n_calls = g_new0(guint32, (gsize)paths->n + 1);
	for (guint32 n = 0; n < N_LOGS; n++)
		paths->logs[n] = wp_quick_log(quick, n + UNHEARD);
	fill_spans(paths, links, wp_resolved_spans(resolved)->spans, alike, n_calls);
	add_shapes(paths);
	hang_calls(paths, n_calls);
	count_all(paths);
}

void
wp_mend_paths_clear(WpMendPaths *paths)
{
	wp_mend_lists_clear(&paths->calls);
	wp_map_free(paths->paths);
	wp_map_free(paths->plans);
	g_array_unref(paths->n_paths);
	g_array_unref(paths->firsts);
	g_array_unref(paths->n_plans);
	g_array_unref(paths->callers);
	g_array_unref(paths->most);
	g_free(paths->spans);
	g_free(paths->logs);
}
