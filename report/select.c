/*
 * Each span's root is found by walking up, once for every span of a path: spans met on the way get the
 * answer as well, so that the whole is linear.
 */
#include "config.h"

#include "report/select.h"

#include <string.h>

#include "report/error.h"
#include "report/glob.h"
#include "report/options.h"

typedef struct {
	const WpResolved *resolved;
	const WpTrace *trace;
	const WpNodes *nodes;
	const WpSpans *spans;
	WpSelection *selection;
} Selector;

void
wp_selection_free(WpSelection *selection)
{
	if (!selection)
		return;
	wp_links_free(selection->links);
	g_free(selection->keep);
	g_free(selection);
}

static WpLinks *
copy_links(const WpLinks *links)
{
	WpLinks *copy = wp_links_new(links->n);
	memcpy(copy->links, links->links, links->n * sizeof *links->links);
	copy->has_odds = links->has_odds;
	copy->whole_power = links->whole_power;
	if (links->path_odds)
		copy->path_odds = g_memdup2(links->path_odds, links->n * sizeof(float));
	if (links->paces)
		copy->paces = g_memdup2(links->paces, links->n_paces * sizeof *links->paces);
	copy->n_paces = links->n_paces;
	return copy;
}

static gboolean
has_glob(const char *text)
{
	return strpbrk(text, "*?") != NULL;
}

static gboolean
matches_text(const char *wanted, const char *text)
{
	return *text &&
	       (has_glob(wanted) ? wp_glob_matches(wanted, text) : strcmp(text, wanted) == 0);
}

/* NODE is the name or the address of the callee; with * or ? a pattern of these. */
static gboolean
matches_node(const Selector *selector, const WpSpan *span, const char *node)
{
	char buffer[WP_ENDPOINT_TEXT_MAX];
	const WpRecord *call = &wp_trace_records(selector->trace)[span->call_record];
	if (matches_text(node, wp_resolved_node_name(selector->resolved, span->callee)))
		return TRUE;
	return wp_endpoint_is_known(&call->dst) &&
	       matches_text(node, wp_address_text(call->dst.address, buffer, sizeof buffer));
}

/* ... or ROOT is a label. */
static gboolean
matches_root(const Selector *selector, const WpSpan *span, const char *root)
{
	const WpRecord *call = &wp_trace_records(selector->trace)[span->call_record];
	return matches_node(selector, span, root) ||
	       matches_text(root, wp_nodes_text(selector->nodes, call->label));
}

/*
 * Fills OUT[i] with the outermost ancestor of span i (itself included) for which IS_MARKED, or
 * WP_NO_SPAN where there is none. IS_MARKED NULL: every parentless span counts.
 */
static void
find_tops(const WpLinks *links, const guint8 *is_marked, guint32 *out)
{
	g_autoptr(GArray) way = g_array_new(FALSE, FALSE, sizeof(guint32));
	g_autofree guint8 *is_done = g_malloc0(MAX(links->n, 1));
	for (guint32 i = 0; i < links->n; i++) {
		guint32 at = i;
		g_array_set_size(way, 0);
		while (at != WP_NO_SPAN && !is_done[at]) {
			is_done[at] = 1;
			out[at] = WP_NO_SPAN;
			g_array_append_val(way, at);
			at = links->links[at].parent;
		}
		guint32 top = at == WP_NO_SPAN ? WP_NO_SPAN : out[at];
		for (guint k = way->len; k-- > 0;) {
			guint32 span = g_array_index(way, guint32, k);
			gboolean marked = is_marked ? is_marked[span]
						    : links->links[span].parent == WP_NO_SPAN;
			if (top == WP_NO_SPAN && marked)
				top = span;
			out[span] = top;
		}
	}
}

/* OPTION names a node that is none. */
static GError *
no_such_node(const Selector *selector, const char *option, const char *name, const char *what)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	guint32 n = wp_resolved_n_nodes(selector->resolved);
	for (guint32 i = 0; i < n; i++)
		g_ptr_array_add(names, (gpointer)wp_resolved_node_name(selector->resolved, i));
	g_ptr_array_add(names, NULL);
	const char *nearest = wp_nearest_name(name, (const char *const *)names->pdata);
	return g_error_new(WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			   "--%s %s: no call into a node%s of that name%s%s%s", option, name, what,
			   nearest ? "\ndid you mean " : "\n\"wirepath inspect\" lists the nodes",
			   nearest ? nearest : "", nearest ? "?" : "");
}

static gboolean
apply_root(Selector *selector, const char *root, gboolean *out_found, GError **error)
{
	WpSelection *selection = selector->selection;
	guint32 n = selector->spans->n;
	g_autofree guint8 *is_marked = g_malloc0(MAX(n, 1));
	g_autofree guint32 *tops = g_new(guint32, MAX(n, 1));
	gboolean found = FALSE;

	for (guint32 i = 0; i < n; i++) {
		is_marked[i] = matches_root(selector, &selector->spans->spans[i], root);
		found |= is_marked[i];
	}
	if (out_found)
		*out_found |= found;
	if (!found && n && !out_found) {
		g_propagate_error(error,
				  no_such_node(selector, "root", root, ", and none with a label,"));
		return FALSE;
	}
	find_tops(selection->links, is_marked, tops);
	for (guint32 i = 0; i < n; i++) {
		selection->keep[i] = tops[i] != WP_NO_SPAN;
		if (tops[i] != i)
			continue;
		WpLink *link = &selection->links->links[i];
		if (link->parent != WP_NO_SPAN || (link->evidence & WP_EVIDENCE_UNSEEN))
			link->evidence = WP_EVIDENCE_ROOT;
		link->parent = link->runner_up = WP_NO_SPAN;
	}
	return TRUE;
}

/* What WpSpan and its records tell, for an expression. */
gboolean
wp_select_matches(const WpResolved *resolved, const WpSpan *span, const WpWhere *where)
{
	char src[WP_ENDPOINT_TEXT_MAX], dst[WP_ENDPOINT_TEXT_MAX];
	const WpTrace *trace = wp_resolved_trace(resolved);
	WpNodes *nodes = wp_trace_nodes(trace);
	const WpRecord *records = wp_trace_records(trace);
	const WpRecord *call = &records[span->call_record];
	gboolean has_return = span->return_record != G_MAXUINT32;
	WpWhereCall facts = {
		.src = wp_resolved_node_name(resolved, span->caller),
		.src_address = "",
		.dst = wp_resolved_node_name(resolved, span->callee),
		.dst_address = "",
		.label = wp_nodes_text(nodes, call->label),
		.protocol = wp_nodes_text(nodes, call->protocol),
		.status = wp_status_name(span->status),
		.src_port = call->src.port,
		.dst_port = call->dst.port,
		.latency_ns = span->return_ns == WP_NO_TIME ? WP_NO_TIME
							    : span->return_ns - span->call_ns,
		.bytes_call = call->bytes,
		.bytes_return = has_return ? records[span->return_record].bytes : WP_NO_SIZE,
		.is_setup = (span->marks & WP_MARK_SETUP) != 0,
		.waits = (span->marks & WP_MARK_WAIT) != 0,
		.is_one_way = span->kind == WP_KIND_MESSAGE,
	};
	if (wp_endpoint_is_known(&call->src))
		facts.src_address = wp_address_text(call->src.address, src, sizeof src);
	if (wp_endpoint_is_known(&call->dst))
		facts.dst_address = wp_address_text(call->dst.address, dst, sizeof dst);
	return wp_where_matches(where, &facts);
}

static void
apply_where(Selector *selector, const WpWhere *where)
{
	WpSelection *selection = selector->selection;
	guint32 n = selector->spans->n;
	g_autofree guint8 *is_wanted = g_malloc0(MAX(n, 1));
	g_autofree guint32 *tops = g_new(guint32, MAX(n, 1));

	find_tops(selection->links, NULL, tops);
	for (guint32 i = 0; i < n; i++)
		if (selection->keep[i] && tops[i] != WP_NO_SPAN && !is_wanted[tops[i]])
			is_wanted[tops[i]] = wp_select_matches(selector->resolved,
							       &selector->spans->spans[i], where);
	for (guint32 i = 0; i < n; i++)
		selection->keep[i] &= tops[i] != WP_NO_SPAN && is_wanted[tops[i]];
}

/*
 * The link of I goes to the nearest call above that is not hidden, as likely as all links on the way are right together.
 * Those on the way get the same, so that each is passed once.
 */
static void
lift_link(WpLinks *links, const guint8 *is_hidden, guint32 i, GArray *way)
{
	g_array_set_size(way, 0);
	for (guint32 at = i; at != WP_NO_SPAN; at = links->links[at].parent) {
		g_array_append_val(way, at);
		guint32 parent = links->links[at].parent;
		if (parent == WP_NO_SPAN || !is_hidden[parent])
			break;
	}
	for (guint k = way->len - 1; k-- > 0;) {
		WpLink *link = &links->links[g_array_index(way, guint32, k)];
		const WpLink *above = &links->links[g_array_index(way, guint32, k + 1)];
		link->parent = above->parent;
		link->runner_up = WP_NO_SPAN;
		link->probability = link->probability < 0 || above->probability < 0
					    ? -1
					    : link->probability * above->probability;
		/* Without one, it is as its lost parent was: a root, or one whose parent was not seen. */
		if (above->parent == WP_NO_SPAN)
			link->evidence = above->evidence;
	}
}

/* Calls into hidden nodes are left out; FALSE where a node is none, unless this is but a part. */
static gboolean
apply_hidden(Selector *selector, const char *const *hidden, gboolean is_part, GError **error)
{
	WpSelection *selection = selector->selection;
	guint32 n = selector->spans->n;
	g_autofree guint8 *is_hidden = g_malloc0(MAX(n, 1));
	g_autoptr(GArray) way = g_array_new(FALSE, FALSE, sizeof(guint32));

	for (; *hidden; hidden++) {
		gboolean found = FALSE;
		for (guint32 i = 0; i < n; i++) {
			gboolean is_it =
				matches_node(selector, &selector->spans->spans[i], *hidden);
			is_hidden[i] |= is_it;
			found |= is_it;
		}
		if (!found && n && !is_part) {
			g_propagate_error(error, no_such_node(selector, "hide", *hidden, ""));
			return FALSE;
		}
	}
	for (guint32 i = 0; i < n; i++) {
		lift_link(selection->links, is_hidden, i, way);
		guint32 runner_up = selection->links->links[i].runner_up;
		if (runner_up != WP_NO_SPAN && is_hidden[runner_up])
			selection->links->links[i].runner_up = WP_NO_SPAN;
	}
	for (guint32 i = 0; i < n; i++)
		selection->keep[i] &= !is_hidden[i];
	return TRUE;
}

/* What is not selected is on no path and has no candidates, as if its parent had not been seen. */
static void
hide_rest(WpSelection *selection)
{
	WpLinks *links = selection->links;
	for (guint32 i = 0; i < links->n; i++) {
		if (!selection->keep[i])
			links->links[i] = (WpLink){ .parent = WP_NO_SPAN,
						    .runner_up = WP_NO_SPAN,
						    .probability = -1,
						    .evidence = WP_EVIDENCE_UNSEEN };
	}
}

WpSelection *
wp_selection_new(const WpResolved *resolved, const WpLinks *links, const WpSelectionWish *wish,
		 gboolean *out_found, GError **error)
{
	g_autoptr(WpSelection) selection = g_new0(WpSelection, 1);
	const WpTrace *trace = wp_resolved_trace(resolved);
	Selector selector = { resolved, trace, wp_trace_nodes(trace), wp_resolved_spans(resolved),
			      selection };
	selection->links = copy_links(links);
	selection->keep = g_malloc(MAX(links->n, 1));
	memset(selection->keep, 1, links->n);
	if (wish->root && !apply_root(&selector, wish->root, out_found, error))
		return NULL;
	if (wish->where)
		apply_where(&selector, wish->where);
	for (guint32 i = 0; wish->takes && i < links->n; i++)
		selection->keep[i] &= wish->takes[i];
	if (wish->hidden && wish->hidden[0] &&
	    !apply_hidden(&selector, wish->hidden, wish->takes != NULL, error))
		return NULL;
	hide_rest(selection);
	return g_steal_pointer(&selection);
}
