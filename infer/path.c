/*
 * Paths. A trace may come from anywhere and its trees be as deep as it has spans, so nothing here
 * recurses: spans are put in breadth-first order from the roots, and taken from behind, children come
 * before their parents.
 *
 * Forms are interned: one number per (node, label, forms of children), so that comparing two trees of
 * any size compares two numbers. Everything is linear in spans, but for the sorting of siblings.
 */
#include "infer/path.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 256

typedef struct {
	guint32 node;
	guint32 label;
	guint32 first; /* into pool */
	guint32 n_children;
} Form;

typedef struct {
	const WpSpans *spans;
	const guint32 *node_ranks;
	const guint32 *label_ranks;
	WpPaths *paths;
	GArray *forms;  /* Form */
	GArray *pool;   /* guint32: forms of children */
	GArray *pairs;  /* guint64: scratch, two forms to compare */
	guint32 *slots; /* form + 1; 0 = free */
	gsize n_slots;  /* a power of two */
} Builder;

static guint64
mix(guint64 hash, guint32 value)
{
	hash = (hash ^ value) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static guint64
hash_form(const Form *form, const guint32 *children)
{
	guint64 hash = mix(mix(1, form->node), form->label);
	for (guint32 i = 0; i < form->n_children; i++)
		hash = mix(hash, children[i]);
	return hash;
}

/* NULL without children: where no form has any, the pool has no memory to point into. */
static const guint32 *
form_children(const Builder *builder, const Form *form)
{
	return form->n_children ? &g_array_index(builder->pool, guint32, form->first) : NULL;
}

/* The slot of a form equal to FORM, or where it would be. */
static guint32 *
find_slot(const Builder *builder, const Form *form, const guint32 *children)
{
	gsize slot = hash_form(form, children) & (builder->n_slots - 1);

	for (; builder->slots[slot]; slot = (slot + 1) & (builder->n_slots - 1)) {
		const Form *other = &g_array_index(builder->forms, Form, builder->slots[slot] - 1);
		if (other->node == form->node && other->label == form->label &&
		    other->n_children == form->n_children &&
		    (form->n_children == 0 || memcmp(form_children(builder, other), children,
						     form->n_children * sizeof *children) == 0))
			break;
	}
	return &builder->slots[slot];
}

static void
grow_slots(Builder *builder)
{
	g_free(builder->slots);
	builder->n_slots *= 2;
	builder->slots = g_new0(guint32, builder->n_slots);
	for (guint i = 0; i < builder->forms->len; i++) {
		const Form *form = &g_array_index(builder->forms, Form, i);
		*find_slot(builder, form, form_children(builder, form)) = i + 1;
	}
}

/* The number of the form of SPAN, whose children are in canonical order and have theirs. */
static guint32
intern_form(Builder *builder, guint32 span, GArray *scratch)
{
	const WpPaths *paths = builder->paths;
	guint32 at = paths->child_at[span], n = paths->child_at[span + 1] - at;
	Form form = { .node = builder->spans->spans[span].callee,
		      .label = builder->spans->spans[span].label,
		      .first = builder->pool->len,
		      .n_children = n };

	g_array_set_size(scratch, 0);
	for (guint32 i = 0; i < n; i++)
		g_array_append_val(scratch, paths->forms[paths->children[at + i]]);
	const guint32 *children = (const guint32 *)(const void *)scratch->data;
	guint32 *slot = find_slot(builder, &form, children);
	if (*slot)
		return *slot - 1;
	g_array_append_vals(builder->pool, children, n);
	g_array_append_val(builder->forms, form);
	*slot = builder->forms->len;
	if ((gsize)builder->forms->len * 2 > builder->n_slots)
		grow_slots(builder);
	return builder->forms->len - 1;
}

static int
compare_numbers(guint32 a, guint32 b)
{
	return a < b ? -1 : a > b;
}

static void
push_pair(GArray *pairs, guint32 left, guint32 right)
{
	guint64 pair = (guint64)left << 32 | right;
	if (left != right)
		g_array_append_val(pairs, pair);
}

/*
 * Order of two forms by their trees in pre-order: node, label, number of children. Their numbers say
 * nothing, as they depend on what else is in the trace.
 */
static int
compare_forms(const Builder *builder, guint32 left, guint32 right)
{
	GArray *pairs = builder->pairs; /* a stack, as trees may be deep */
	int order = 0;

	g_array_set_size(pairs, 0);
	push_pair(pairs, left, right);
	while (order == 0 && pairs->len) {
		guint64 pair = g_array_index(pairs, guint64, pairs->len - 1);
		const Form *a = &g_array_index(builder->forms, Form, pair >> 32);
		const Form *b = &g_array_index(builder->forms, Form, pair & G_MAXUINT32);
		g_array_set_size(pairs, pairs->len - 1);
		order = wp_path_compare(builder->node_ranks, a->node, b->node);
		if (order == 0)
			order = wp_path_compare(builder->label_ranks, a->label, b->label);
		if (order == 0)
			order = compare_numbers(a->n_children, b->n_children);
		for (guint32 i = a->n_children; order == 0 && i-- > 0;)
			push_pair(pairs, form_children(builder, a)[i],
				  form_children(builder, b)[i]);
	}
	return order;
}

/* Order of siblings that overlap: by node, label, what hangs below them, call. */
static int
compare_siblings(gconstpointer a, gconstpointer b, gpointer data)
{
	const Builder *builder = data;
	guint32 i = *(const guint32 *)a, j = *(const guint32 *)b;
	const WpSpan *left = &builder->spans->spans[i], *right = &builder->spans->spans[j];
	int order = wp_path_compare(builder->node_ranks, left->callee, right->callee);

	if (order == 0)
		order = wp_path_compare(builder->label_ranks, left->label, right->label);
	if (order == 0)
		order = compare_forms(builder, builder->paths->forms[i], builder->paths->forms[j]);
	return order ? order : compare_numbers(i, j);
}

/* The end of a span, or its begin where it has none. */
static gint64
end_of(const WpPaths *paths, const WpSpan *spans, guint32 number)
{
	gint64 end_ns = paths->end_ns[number];
	return end_ns != WP_NO_TIME ? end_ns : spans[number].call_ns;
}

/* The end of a span whose children have theirs. */
static gint64
find_end(const WpPaths *paths, const WpSpan *spans, guint32 number, const guint32 *children,
	 guint32 n)
{
	gint64 end_ns = WP_NO_TIME;

	if (spans[number].kind != WP_KIND_MESSAGE)
		return spans[number].return_ns;
	for (guint32 i = 0; i < n; i++)
		end_ns = MAX(end_ns, end_of(paths, spans, children[i]));
	return end_ns == WP_NO_TIME ? WP_NO_TIME : MAX(end_ns, wp_span_served_ns(&spans[number]));
}

/*
 * Children come in order of their calls; sorts each run of those that overlap. Calls at the same
 * instant count as overlapping: a coarse clock does not know which was first.
 */
static void
order_siblings(Builder *builder, guint32 *children, guint32 n)
{
	const WpSpan *spans = builder->spans->spans;
	const WpPaths *paths = builder->paths;

	for (guint32 begin = 0, end; begin < n; begin = end) {
		gint64 until = end_of(paths, spans, children[begin]);
		for (end = begin + 1; end < n; end++) {
			gint64 call = spans[children[end]].call_ns;
			if (call >= until && call > spans[children[end - 1]].call_ns)
				break;
			until = MAX(until, end_of(paths, spans, children[end]));
		}
		for (guint32 i = begin; end - begin > 1 && i < end; i++)
			builder->paths->overlaps[children[i]] = 1;
		if (end - begin > 1)
			g_qsort_with_data(children + begin, (gint)(end - begin), sizeof *children,
					  compare_siblings, builder);
	}
}

/* What the callee had of the span minus the union of its children, which are in order of their calls. */
static gint64
get_self_ns(const WpPaths *paths, const WpSpan *spans, guint32 number, const guint32 *children,
	    guint32 n)
{
	const WpSpan *span = &spans[number];
	gint64 served = wp_span_served_ns(span), last = paths->end_ns[number];
	gint64 covered = 0, until = served;

	if (last == WP_NO_TIME)
		return 0;
	if (span->kind != WP_KIND_MESSAGE)
		last = wp_span_replied_ns(span);
	for (guint32 i = 0; i < n; i++) {
		gint64 begin = MAX(spans[children[i]].call_ns, until);
		gint64 end = MIN(end_of(paths, spans, children[i]), last);
		if (end > begin) {
			covered += end - begin;
			until = end;
		}
	}
	return last - served - covered;
}

/* Sets child_at and children, in order of calls: spans are. */
static void
collect_children(WpPaths *paths, const WpLinks *links)
{
	guint32 sum = 0;

	for (guint32 i = 0; i < paths->n; i++)
		if (links->links[i].parent != WP_NO_SPAN)
			paths->child_at[links->links[i].parent]++;
	for (guint32 i = 0; i <= paths->n; i++) {
		sum += paths->child_at[i];
		paths->child_at[i] = sum;
	}
	paths->children = g_new(guint32, sum + 1);
	for (guint32 i = paths->n; i-- > 0;)
		if (links->links[i].parent != WP_NO_SPAN)
			paths->children[--paths->child_at[links->links[i].parent]] = i;
}

static void
collect_roots(WpPaths *paths, const WpLinks *links)
{
	const guint32 no_root =
		WP_EVIDENCE_UNPAIRED | WP_EVIDENCE_SETUP | WP_EVIDENCE_UNSEEN | WP_EVIDENCE_STOPPED;

	paths->roots = g_new(guint32, paths->n + 1);
	for (guint32 i = 0; i < paths->n; i++)
		if (links->links[i].parent == WP_NO_SPAN && !(links->links[i].evidence & no_root))
			paths->roots[paths->n_roots++] = i;
	paths->roots = g_renew(guint32, paths->roots, paths->n_roots + 1);
}

/* A cycle is never reached. */
static guint32 *
order_by_depth(const WpPaths *paths, guint32 *out_n)
{
	guint32 *order = g_new(guint32, paths->n + 1), n = paths->n_roots;

	memcpy(order, paths->roots, n * sizeof *order);
	for (guint32 i = 0; i < n; i++)
		for (guint32 k = paths->child_at[order[i]]; k < paths->child_at[order[i] + 1]; k++)
			order[n++] = paths->children[k];
	*out_n = n;
	return order;
}

guint32 *
wp_paths_by_depth(const WpPaths *paths)
{
	guint32 n;
	return order_by_depth(paths, &n);
}

static void
build_forms(Builder *builder)
{
	WpPaths *paths = builder->paths;
	g_autofree guint32 *order = order_by_depth(paths, &paths->n_on_paths);
	g_autoptr(GArray) scratch = g_array_new(FALSE, FALSE, sizeof(guint32));

	for (guint32 i = paths->n_on_paths; i-- > 0;) {
		guint32 span = order[i], n = paths->child_at[span + 1] - paths->child_at[span];
		guint32 *children = paths->children + paths->child_at[span];
		const WpSpan *spans = builder->spans->spans;
		paths->end_ns[span] = find_end(paths, spans, span, children, n);
		paths->self_ns[span] = get_self_ns(paths, spans, span, children, n);
		order_siblings(builder, children, n);
		paths->forms[span] = intern_form(builder, span, scratch);
	}
	paths->n_forms = builder->forms->len;
}

WpPaths *
wp_paths_new(const WpSpans *spans, const WpLinks *links, const guint32 *node_ranks,
	     const guint32 *label_ranks)
{
	WpPaths *paths = g_new0(WpPaths, 1);
	Builder builder = {
		.spans = spans,
		.node_ranks = node_ranks,
		.label_ranks = label_ranks,
		.paths = paths,
		.forms = g_array_new(FALSE, FALSE, sizeof(Form)),
		.pool = g_array_new(FALSE, FALSE, sizeof(guint32)),
		.pairs = g_array_new(FALSE, FALSE, sizeof(guint64)),
		.slots = g_new0(guint32, FIRST_SLOTS),
		.n_slots = FIRST_SLOTS,
	};

	g_assert(links->n == spans->n);
	paths->n = spans->n;
	paths->end_ns = g_new(gint64, MAX(paths->n, 1));
	paths->self_ns = g_new0(gint64, paths->n);
	paths->overlaps = g_new0(guint8, paths->n);
	paths->child_at = g_new0(guint32, paths->n + 1);
	paths->forms = g_new(guint32, paths->n);
	for (guint32 i = 0; i < paths->n; i++) {
		paths->forms[i] = WP_NO_FORM;
		paths->end_ns[i] = WP_NO_TIME;
	}
	collect_children(paths, links);
	collect_roots(paths, links);
	build_forms(&builder);
	g_array_unref(builder.forms);
	g_array_unref(builder.pool);
	g_array_unref(builder.pairs);
	g_free(builder.slots);
	return paths;
}

void
wp_paths_free(WpPaths *paths)
{
	if (!paths)
		return;
	g_free(paths->forms);
	g_free(paths->end_ns);
	g_free(paths->self_ns);
	g_free(paths->overlaps);
	g_free(paths->child_at);
	g_free(paths->children);
	g_free(paths->roots);
	g_free(paths);
}

static int
compare_texts(const void *a, const void *b)
{
	const WpRankedText *left = a, *right = b;
	int order = strcmp(left->text, right->text);
	return order ? order : compare_numbers(left->number, right->number);
}

void
wp_path_rank_texts(WpRankedText *texts, gsize n, guint32 *ranks)
{
	if (n)
		qsort(texts, n, sizeof *texts, compare_texts);
	for (gsize i = 0; i < n; i++)
		ranks[texts[i].number] = (guint32)i;
}

void
wp_paths_walk(const WpPaths *paths, guint32 root, GArray *steps)
{
	WpPathStep step = { root, G_MAXUINT32, 0 };
	g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof step);

	g_array_set_size(steps, 0);
	g_array_append_val(stack, step);
	while (stack->len) {
		step = g_array_index(stack, WpPathStep, stack->len - 1);
		g_array_set_size(stack, stack->len - 1);
		g_array_append_val(steps, step);
		for (guint32 k = paths->child_at[step.span + 1];
		     k-- > paths->child_at[step.span];) {
			WpPathStep child = { paths->children[k], steps->len - 1, step.depth + 1 };
			g_array_append_val(stack, child);
		}
	}
}
