/* From calls in pre-order to their traces; see export-traces.h. */
#include "report/export-traces.h"

void
wp_export_tree_clear(WpExportTree *tree)
{
	g_clear_pointer(&tree->parents, g_free);
	g_clear_pointer(&tree->child_at, g_free);
	g_clear_pointer(&tree->children, g_free);
	g_clear_pointer(&tree->order, g_free);
}

/* Spans stand in order of time, so those of one parent do. */
static void
find_children(WpExportTree *tree)
{
	guint32 n = tree->n, *at;
	tree->child_at = g_new0(guint32, (gsize)n + 2);
	tree->children = g_new(guint32, MAX(n, 1));
	at = tree->child_at + 1;
	for (guint32 i = 0; i < n; i++)
		if (tree->parents[i] != WP_NO_SPAN)
			at[tree->parents[i] + 1]++;
	for (guint32 i = 0; i < n; i++)
		at[i + 1] += at[i];
	/* at[p] moves from the first child of p to the first of the next: child_at[p] is then where it was. */
	for (guint32 i = 0; i < n; i++)
		if (tree->parents[i] != WP_NO_SPAN)
			tree->children[at[tree->parents[i]]++] = i;
}

/* ROOT and all below it. STACK is empty, and is left so. */
static void
add_tree(WpExportTree *tree, guint32 root, GArray *stack)
{
	g_array_append_val(stack, root);
	while (stack->len) {
		guint32 i = g_array_index(stack, guint32, stack->len - 1);
		g_array_set_size(stack, stack->len - 1);
		tree->order[tree->n_order++] = i;
		for (guint32 k = tree->child_at[i + 1]; k-- > tree->child_at[i];)
			g_array_append_val(stack, tree->children[k]);
	}
}

void
wp_export_tree_init(WpExportTree *tree, const WpLinks *links, guint32 n, const guint8 *keep)
{
	g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(guint32));
	*tree = (WpExportTree){ .n = n,
				.parents = g_new(guint32, MAX(n, 1)),
				.order = g_new(guint32, MAX(n, 1)) };
	for (guint32 i = 0; i < n; i++) {
		guint32 parent = links->links[i].parent;
		gboolean has_both = parent != WP_NO_SPAN && (!keep || (keep[i] && keep[parent]));
		tree->parents[i] = has_both ? parent : WP_NO_SPAN;
	}
	find_children(tree);
	for (guint32 i = 0; i < n; i++)
		if (tree->parents[i] == WP_NO_SPAN && (!keep || keep[i]))
			add_tree(tree, i, stack);
}

/* By span. */
typedef struct {
	const WpExportTree *tree;
	WpTraceContext *sent; /* parent 0 = none */
	guint32 *above;       /* nearest at or above it that names a trace; WP_NO_SPAN */
	guint8 *is_believed;
} Sent;

static guint
hash_context(gconstpointer data)
{
	const WpTraceContext *context = data;
	guint64 mixed = (context->low ^ context->parent) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
	return (guint)(mixed >> 32) ^ (guint)context->high;
}

static gboolean
same_trace(const WpTraceContext *a, const WpTraceContext *b)
{
	return a->high == b->high && a->low == b->low;
}

static gboolean
equal_contexts(gconstpointer a, gconstpointer b)
{
	const WpTraceContext *x = a, *y = b;
	return same_trace(x, y) && x->parent == y->parent;
}

static guint32
parent_above(const Sent *sent, guint32 i)
{
	guint32 parent = sent->tree->parents[i];
	return parent == WP_NO_SPAN ? WP_NO_SPAN : sent->above[parent];
}

/* FALSE where no call names a trace. */
static gboolean
sent_init(Sent *sent, const WpExportTree *tree, const WpSpans *spans, const WpTrace *trace)
{
	const WpRecord *records = wp_trace_records(trace);
	gboolean has_any = FALSE;
	*sent = (Sent){ .tree = tree };
	for (guint32 k = 0; k < tree->n_order && !has_any; k++)
		has_any = (spans->spans[tree->order[k]].marks & WP_MARK_TRACED) != 0;
	if (!has_any)
		return FALSE;
	sent->sent = g_new0(WpTraceContext, tree->n);
	sent->above = g_new(guint32, tree->n);
	sent->is_believed = g_new0(guint8, tree->n);
	for (guint32 k = 0; k < tree->n_order; k++) {
		guint32 i = tree->order[k];
		gboolean has = wp_trace_context(trace, &records[spans->spans[i].call_record],
						&sent->sent[i]);
		sent->above[i] = has ? i : parent_above(sent, i);
	}
	return TRUE;
}

static void
sent_clear(Sent *sent)
{
	g_free(sent->sent);
	g_free(sent->above);
	g_free(sent->is_believed);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Sent, sent_clear)

/*
 * Of calls that name the same trace and parent, those that are the first in their tree to name this trace must have
 * one cause: TABLE has one of them for all, which is believed or not.
 */
static void
settle_first(Sent *sent, guint32 i, GHashTable *table)
{
	guint32 parent = sent->tree->parents[i];
	gpointer same = g_hash_table_lookup(table, &sent->sent[i]);
	if (!same) {
		sent->is_believed[i] = 1;
		g_hash_table_insert(table, &sent->sent[i], GUINT_TO_POINTER(i + 1));
		return;
	}
	guint32 first = GPOINTER_TO_UINT(same) - 1;
	if (parent == WP_NO_SPAN || parent != sent->tree->parents[first])
		sent->is_believed[first] = 0;
}

/* No call above I names the trace that I does. */
static gboolean
names_first(const Sent *sent, guint32 i)
{
	guint32 above = parent_above(sent, i);
	return above == WP_NO_SPAN || !same_trace(&sent->sent[above], &sent->sent[i]);
}

static void
settle(Sent *sent, WpExportTraced *traced)
{
	g_autoptr(GHashTable) table = g_hash_table_new(hash_context, equal_contexts);
	const WpExportTree *tree = sent->tree;
	for (guint32 k = 0; k < tree->n_order; k++)
		if (sent->sent[tree->order[k]].parent && names_first(sent, tree->order[k]))
			settle_first(sent, tree->order[k], table);
	for (guint32 k = 0; k < tree->n_order; k++) {
		guint32 i = tree->order[k];
		if (!sent->sent[i].parent)
			continue;
		guint32 other =
			names_first(sent, i)
				? GPOINTER_TO_UINT(g_hash_table_lookup(table, &sent->sent[i])) - 1
				: parent_above(sent, i);
		sent->is_believed[i] = sent->is_believed[other];
		*(sent->is_believed[i] ? &traced->believed : &traced->doubted) += 1;
	}
}

static WpExportTraceId
trace_of(const WpTraceContext *context)
{
	return (WpExportTraceId){ context->high, context->low };
}

/* The call at FROM of the order is the first of a request: what it caused may name the trace that it does not. */
static void
adopt(const Sent *sent, guint32 from, WpExportId *ids)
{
	const WpExportTree *tree = sent->tree;
	for (guint32 k = from; k < tree->n_order; k++) {
		guint32 i = tree->order[k];
		if (k > from && tree->parents[i] == WP_NO_SPAN)
			return;
		if (!sent->is_believed[i])
			continue;
		ids[tree->order[from]].trace = trace_of(&sent->sent[i]);
		return;
	}
}

/* The nearest above I that is believed, within the trace of I. */
static guint32
believed_above(const Sent *sent, guint32 i)
{
	guint32 above = parent_above(sent, i);
	gboolean fits = above != WP_NO_SPAN && sent->is_believed[above] &&
			same_trace(&sent->sent[above], &sent->sent[i]);
	return fits ? above : WP_NO_SPAN;
}

static void
set_sent(const Sent *sent, guint32 i, WpExportId *id)
{
	const WpTraceContext *context = &sent->sent[i];
	guint32 above = believed_above(sent, i);
	if (id->trace.high != context->high || id->trace.low != context->low) {
		id->trace = trace_of(context);
		id->is_first = TRUE;
	}
	if (above == WP_NO_SPAN || sent->sent[above].parent != context->parent)
		id->sent_parent = context->parent;
}

void
wp_export_set_traces(const WpExportTree *tree, const WpSpans *spans, const WpTrace *trace,
		     gboolean uses_sent, WpExportId *ids, WpExportTraced *traced)
{
	g_auto(Sent) sent = { 0 };
	gboolean has_sent = uses_sent && sent_init(&sent, tree, spans, trace);
	if (has_sent)
		settle(&sent, traced);
	for (guint32 k = 0; k < tree->n_order; k++) {
		guint32 i = tree->order[k], parent = tree->parents[i];
		ids[i].is_first = parent == WP_NO_SPAN;
		ids[i].sent_parent = 0;
		if (parent != WP_NO_SPAN)
			ids[i].trace = ids[parent].trace;
		else if (has_sent)
			adopt(&sent, k, ids);
		if (has_sent && sent.is_believed[i])
			set_sent(&sent, i, &ids[i]);
	}
}
