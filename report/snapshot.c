/* Calls in flight are taken from each part; at the end they become trees, and the kinds that are waited for a list. */
#include "report/snapshot.h"

#include <string.h>

#include "infer/map.h"
#include "report/error.h"
#include "report/format.h"

/* So many calls of a kind say what is usual. */
#define ENOUGH 10
#define LATE   0.95

/* Calls without an answer are counted up to so many. */
#define MANY 100

struct WpSnapshotMaker {
	gboolean is_offset;
	gboolean has_begun;
	gint64 given_ns;
	WpSnapshot *snapshot;
	GHashTable *numbers; /* key of a kind -> number */
	GString *key;
};

static void
free_call(gpointer data)
{
	WpSnapshotCall *call = data;
	g_free(call->id);
	g_free(call);
}

static void
free_kind(gpointer data)
{
	WpSnapshotKind *kind = data;
	wp_delay_free(kind->latencies);
	g_free(kind);
}

WpSnapshotMaker *
wp_snapshot_maker_new(gint64 at_ns, gboolean is_offset)
{
	WpSnapshotMaker *maker = g_new0(WpSnapshotMaker, 1);
	maker->given_ns = at_ns;
	maker->is_offset = is_offset;
	maker->snapshot = g_new0(WpSnapshot, 1);
	maker->snapshot->calls = g_ptr_array_new_with_free_func(free_call);
	maker->snapshot->kinds = g_ptr_array_new_with_free_func(free_kind);
	maker->snapshot->waiting = g_ptr_array_new();
	maker->snapshot->texts = g_string_chunk_new(4096);
	maker->numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	maker->key = g_string_new(NULL);
	return maker;
}

void
wp_snapshot_maker_free(WpSnapshotMaker *maker)
{
	wp_snapshot_free(maker->snapshot);
	g_hash_table_unref(maker->numbers);
	g_string_free(maker->key, TRUE);
	g_free(maker);
}

void
wp_snapshot_free(WpSnapshot *snapshot)
{
	if (!snapshot)
		return;
	g_ptr_array_unref(snapshot->calls);
	g_ptr_array_unref(snapshot->waiting);
	g_ptr_array_unref(snapshot->kinds);
	g_string_chunk_free(snapshot->texts);
	g_free(snapshot);
}

/* --- one part --- */

typedef struct {
	WpSnapshotMaker *maker;
	const WpAnalysis *analysis;
	const WpNodes *names;
	const WpSpan *spans;
	const WpRecord *records;
	const WpLinks *links;
	guint32 *calls;    /* by span: its call in the snapshot, or WP_SNAPSHOT_ROOT */
	GHashTable *hosts; /* host -> GArray of guint32: open spans that called it */
} Part;

/* G_MAXUINT32: too many. */
static guint32
kind_of(Part *part, const WpSpan *span)
{
	WpSnapshotMaker *maker = part->maker;
	GPtrArray *kinds = maker->snapshot->kinds;
	GStringChunk *texts = maker->snapshot->texts;
	const char *node = wp_resolved_node_name(part->analysis->resolved, span->callee);
	const char *label = wp_nodes_text(part->names, span->label);
	gpointer number;

	g_string_printf(maker->key, "%zu %s %s", strlen(node), node, label);
	if (g_hash_table_lookup_extended(maker->numbers, maker->key->str, NULL, &number))
		return GPOINTER_TO_UINT(number);
	if (kinds->len == WP_SNAPSHOT_MAX_KINDS)
		return G_MAXUINT32;
	WpSnapshotKind *kind = g_new0(WpSnapshotKind, 1);
	kind->node = g_string_chunk_insert_const(texts, node);
	kind->label = g_string_chunk_insert_const(texts, label);
	kind->protocol =
		g_string_chunk_insert_const(texts, wp_nodes_text(part->names, span->protocol));
	kind->latencies = wp_delay_new();
	g_hash_table_insert(maker->numbers, g_strdup(maker->key->str),
			    GUINT_TO_POINTER(kinds->len));
	g_ptr_array_add(kinds, kind);
	return kinds->len - 1;
}

static gboolean
is_open(const WpSnapshot *snapshot, const WpSpan *span)
{
	return span->kind == WP_KIND_CALL && span->call_ns <= snapshot->at_ns &&
	       (span->return_ns == WP_NO_TIME || span->return_ns > snapshot->at_ns);
}

/* The parent that was found had returned before SPAN began: there was none, or what caused it never returned. */
static gboolean
comes_after(const Part *part, const WpSpan *span, const WpLink *link)
{
	const WpSpan *parent = link->parent != WP_NO_SPAN ? &part->spans[link->parent] : NULL;
	return parent && parent->return_ns != WP_NO_TIME && parent->return_ns <= span->call_ns;
}

/*
 * Engines nest in calls that returned. Where a system hangs nothing has, and what is below a call without an answer has no
 * parent, or an earlier call's: then it belongs to the one call without an answer that is open at its caller. Sets
 * *OUT_N to how many there are.
 */
static guint32
find_unanswered(const Part *part, const WpSpan *span, guint *out_n)
{
	const GArray *open =
		g_hash_table_lookup(part->hosts, GUINT_TO_POINTER(span->caller_host + 1));
	guint32 found = WP_SNAPSHOT_ROOT;

	*out_n = 0;
	for (guint i = 0; open && i < open->len && *out_n < MANY; i++) {
		guint32 number = g_array_index(open, guint32, i);
		/* A call without an answer may also stand below one that returns later. */
		if (part->spans[number].return_ns != WP_NO_TIME && span->return_ns != WP_NO_TIME)
			continue;
		if (part->calls[number] == WP_SNAPSHOT_ROOT)
			continue;
		found = part->calls[number];
		++*out_n;
	}
	return *out_n == 1 ? found : WP_SNAPSHOT_ROOT;
}

static void
note_open(const Part *part, guint32 number)
{
	gpointer host = GUINT_TO_POINTER(part->spans[number].callee_host + 1);
	GArray *open = g_hash_table_lookup(part->hosts, host);

	if (!open) {
		open = g_array_new(FALSE, FALSE, sizeof(guint32));
		g_hash_table_insert(part->hosts, host, open);
	}
	g_array_append_val(open, number);
}

/* Its caller has answered without it: a lost call, given up, would be in flight for ever. */
static gboolean
is_abandoned(const Part *part, const WpSpan *span, const WpLink *link)
{
	const WpSpan *parent = link->parent != WP_NO_SPAN ? &part->spans[link->parent] : NULL;
	return span->return_ns == WP_NO_TIME && parent && !comes_after(part, span, link) &&
	       parent->return_ns != WP_NO_TIME && parent->return_ns <= part->maker->snapshot->at_ns;
}

/* Spans are in order of their calls: a parent's call was made before its children's. */
static void
add_open(Part *part, guint32 number, guint32 kind)
{
	WpSnapshot *snapshot = part->maker->snapshot;
	const WpSpan *span = &part->spans[number];
	const WpLink *link = &part->links->links[number];
	char id[WP_ID_TEXT_MAX];

	if (is_abandoned(part, span, link)) {
		snapshot->n_abandoned++;
		return;
	}
	if (snapshot->calls->len == WP_SNAPSHOT_MAX_CALLS) {
		snapshot->n_left++;
		return;
	}
	WpSnapshotCall *call = g_new0(WpSnapshotCall, 1);
	call->parent = link->parent != WP_NO_SPAN ? part->calls[link->parent] : WP_SNAPSHOT_ROOT;
	call->kind = kind;
	call->caller = g_string_chunk_insert_const(
		snapshot->texts, wp_resolved_node_name(part->analysis->resolved, span->caller));
	call->id = g_strdup(wp_record_id_text(part->names, span->id, id));
	call->packet = part->records[span->call_record].packet;
	call->begin_ns = span->call_ns;
	call->age_ns = snapshot->at_ns - span->call_ns;
	call->left_ns = span->return_ns == WP_NO_TIME ? -1 : span->return_ns - snapshot->at_ns;
	call->probability = link->probability;
	if (link->parent == WP_NO_SPAN || comes_after(part, span, link)) {
		call->parent = find_unanswered(part, span, &call->n_candidates);
		call->probability = call->n_candidates ? -1 : link->probability;
	}
	call->waits = TRUE;
	call->by_design = (span->marks & WP_MARK_WAIT) != 0;
	call->is_orphan = call->parent == WP_SNAPSHOT_ROOT &&
			  (link->parent != WP_NO_SPAN || (link->evidence & WP_EVIDENCE_UNSEEN));
	part->calls[number] = snapshot->calls->len;
	note_open(part, number);
	g_ptr_array_add(snapshot->calls, call);
}

static void
note_times(WpSnapshotMaker *maker, const WpTrace *trace)
{
	WpSnapshot *snapshot = maker->snapshot;
	const WpRecord *records = wp_trace_records(trace);
	gsize n = wp_trace_n_records(trace);

	if (n == 0)
		return;
	if (!maker->has_begun) {
		snapshot->begin_ns = records[0].begin_ns;
		snapshot->end_ns = records[0].begin_ns;
		snapshot->at_ns = maker->given_ns;
		if (maker->is_offset)
			snapshot->at_ns = snapshot->begin_ns > G_MAXINT64 - maker->given_ns
						  ? G_MAXINT64
						  : snapshot->begin_ns + maker->given_ns;
	}
	maker->has_begun = TRUE;
	for (gsize i = 0; i < n; i++)
		snapshot->end_ns = MAX(snapshot->end_ns, records[i].end_ns);
}

void
wp_snapshot_maker_add(WpSnapshotMaker *maker, const WpAnalysis *analysis)
{
	const WpTrace *trace = wp_resolved_trace(analysis->resolved);
	const WpSpans *spans = wp_resolved_spans(analysis->resolved);
	const guint8 *keep = analysis->selection ? analysis->selection->keep : NULL;
	g_autofree guint32 *calls = g_new(guint32, (gsize)spans->n + 1);
	g_autoptr(GHashTable) hosts =
		g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
	Part part = { .maker = maker,
		      .analysis = analysis,
		      .names = wp_trace_nodes(trace),
		      .spans = spans->spans,
		      .records = wp_trace_records(trace),
		      .links = wp_analysis_links(analysis),
		      .calls = calls,
		      .hosts = hosts };

	note_times(maker, trace);
	for (guint32 i = 0; i < spans->n; i++) {
		const WpSpan *span = &spans->spans[i];
		calls[i] = WP_SNAPSHOT_ROOT;
		if ((keep && !keep[i]) || span->kind != WP_KIND_CALL)
			continue;
		guint32 kind = kind_of(&part, span);
		if (kind == G_MAXUINT32) {
			maker->snapshot->n_left += is_open(maker->snapshot, span);
			continue;
		}
		if (span->return_ns != WP_NO_TIME)
			wp_delay_add(
				((WpSnapshotKind *)maker->snapshot->kinds->pdata[kind])->latencies,
				span->return_ns - span->call_ns);
		if (is_open(maker->snapshot, span))
			add_open(&part, i, kind);
	}
}

/* --- the end --- */

gboolean
wp_snapshot_is_late_for(const WpSnapshotKind *kind, gint64 age_ns)
{
	return wp_delay_count(kind->latencies) >= ENOUGH &&
	       age_ns > wp_delay_quantile_ns(kind->latencies, LATE);
}

gboolean
wp_snapshot_is_late(const WpSnapshot *snapshot, const WpSnapshotCall *call)
{
	return !call->by_design &&
	       wp_snapshot_is_late_for(snapshot->kinds->pdata[call->kind], call->age_ns);
}

/* The oldest first; those that began at once as they stood. */
static int
compare_ages(gconstpointer a, gconstpointer b, gpointer data)
{
	const GPtrArray *calls = data;
	guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
	const WpSnapshotCall *left = calls->pdata[x], *right = calls->pdata[y];

	if (left->begin_ns != right->begin_ns)
		return left->begin_ns < right->begin_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Into pre-order. A tree may be as deep as there are calls, so there is a stack instead of a recursion. */
static void
put_in_order(WpSnapshot *snapshot)
{
	guint n = snapshot->calls->len;
	g_autoptr(GPtrArray) old = snapshot->calls;
	g_autofree guint32 *order = g_new(guint32, n + 1), *next = g_new(guint32, n + 1);
	g_autofree guint32 *first = g_new(guint32, n + 2), *places = g_new(guint32, n + 1);
	g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(guint32));

	snapshot->calls = g_ptr_array_new_full(n, free_call);
	g_ptr_array_set_free_func(old, NULL);
	for (guint32 i = 0; i < n; i++)
		order[i] = i;
	g_qsort_with_data(order, (gint)n, sizeof *order, compare_ages, old);
	/* Children of each as a list, the latest in front: the stack turns them round. */
	for (guint32 i = 0; i <= n; i++)
		first[i] = WP_SNAPSHOT_ROOT;
	for (guint32 i = 0; i < n; i++) {
		const WpSnapshotCall *call = old->pdata[order[i]];
		guint32 *head = call->parent == WP_SNAPSHOT_ROOT ? &first[n] : &first[call->parent];
		next[order[i]] = *head;
		*head = order[i];
	}
	for (guint32 i = first[n]; i != WP_SNAPSHOT_ROOT; i = next[i], snapshot->n_roots++)
		g_array_append_val(stack, i);
	while (stack->len) {
		guint32 at = g_array_index(stack, guint32, stack->len - 1);
		WpSnapshotCall *call = old->pdata[at];
		g_array_set_size(stack, stack->len - 1);
		places[at] = snapshot->calls->len;
		g_ptr_array_add(snapshot->calls, call);
		for (guint32 i = first[at]; i != WP_SNAPSHOT_ROOT; i = next[i])
			g_array_append_val(stack, i);
		if (call->parent == WP_SNAPSHOT_ROOT)
			continue;
		call->parent = places[call->parent];
		WpSnapshotCall *parent = snapshot->calls->pdata[call->parent];
		call->depth = parent->depth + 1;
		parent->waits = FALSE;
	}
}

static int
compare_waiting(gconstpointer a, gconstpointer b)
{
	const WpSnapshotKind *left = *(WpSnapshotKind *const *)a,
			     *right = *(WpSnapshotKind *const *)b;

	if (left->ages_ns != right->ages_ns)
		return left->ages_ns > right->ages_ns ? -1 : 1;
	if (left->n_waiting != right->n_waiting)
		return left->n_waiting > right->n_waiting ? -1 : 1;
	int order = strcmp(left->node, right->node);
	return order ? order : strcmp(left->label, right->label);
}

static void
sum_up(WpSnapshot *snapshot)
{
	for (guint i = 0; i < snapshot->calls->len; i++) {
		const WpSnapshotCall *call = snapshot->calls->pdata[i];
		WpSnapshotKind *kind = snapshot->kinds->pdata[call->kind];
		kind->n_open++;
		snapshot->n_late += wp_snapshot_is_late(snapshot, call);
		if (!call->waits || call->by_design)
			continue;
		if (kind->n_waiting++ == 0)
			g_ptr_array_add(snapshot->waiting, kind);
		kind->n_unanswered += call->left_ns < 0;
		kind->oldest_ns = MAX(kind->oldest_ns, call->age_ns);
		kind->ages_ns += call->age_ns;
	}
	g_ptr_array_sort(snapshot->waiting, compare_waiting);
}

static void
finish(WpSnapshot *snapshot)
{
	put_in_order(snapshot);
	sum_up(snapshot);
}

WpSnapshot *
wp_snapshot_maker_finish(WpSnapshotMaker *maker, GError **error)
{
	WpSnapshot *snapshot = maker->snapshot;
	char from[WP_FORMAT_MAX], to[WP_FORMAT_MAX], length[WP_FORMAT_MAX];

	if (!maker->has_begun) {
		g_set_error_literal(
			error, WP_REPORT_ERROR, WP_REPORT_ERROR_DATA,
			"there is no call in the input, so nothing is in flight at any time");
		return NULL;
	}
	if (snapshot->at_ns < snapshot->begin_ns || snapshot->at_ns > snapshot->end_ns) {
		g_set_error(
			error, WP_REPORT_ERROR, WP_REPORT_ERROR_DATA,
			"--at lies outside of the capture, which is from %s to %s (+%s)",
			wp_format_date(from, snapshot->begin_ns),
			wp_format_date(to, snapshot->end_ns),
			wp_format_time(length, (double)(snapshot->end_ns - snapshot->begin_ns)));
		return NULL;
	}
	finish(snapshot);
	return g_steal_pointer(&maker->snapshot);
}

WpSnapshot *
wp_snapshot_of_part(const WpAnalysis *part, gint64 period_ns, gint64 now_ns)
{
	const WpTrace *trace = wp_resolved_trace(part->resolved);
	const WpRecord *records = wp_trace_records(trace);
	WpAnalysis whole = *part;
	gint64 at_ns = now_ns;

	for (gsize i = 0; i < wp_trace_n_records(trace); i++)
		at_ns = MAX(at_ns, records[i].end_ns);
	at_ns -= at_ns % period_ns;
	if (wp_trace_n_records(trace) == 0 || at_ns < records[0].begin_ns)
		return NULL;
	/* What it selects leaves out what is not answered yet. */
	whole.selection = NULL;
	g_autoptr(WpSnapshotMaker) maker = wp_snapshot_maker_new(at_ns, FALSE);
	wp_snapshot_maker_add(maker, &whole);
	finish(maker->snapshot);
	return g_steal_pointer(&maker->snapshot);
}
