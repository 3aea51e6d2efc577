/*
 * Windows. Where to cut is seen from the spans alone, before anything is inferred; which requests are
 * whole, from the links afterwards. Both are passes over the window.
 */
#include "infer/window.h"

#include "infer/map.h"

/* Of the calls between two nodes, as the trace names them: the longest so far. */
typedef struct {
	gint64 longest_ns;
} Edge;

/* The tree of a root. */
typedef struct {
	gint64 end_ns;
	gboolean is_open; /* one of its calls may still return */
} Tree;

/* After a period, what began in it has this part of one to return. */
#define PERIOD_SLACK 8

/* So often a window is told what was lost; what comes then goes to the last, so that nobody is told too little. */
#define MAX_COUNTED 1024

/* What was lost until some record came, since the one before. */
typedef struct {
	gint64 time_ns;
	WpCounters *counters;
} Counted;

struct WpWindows {
	WpRecordSink sink; /* first, so that a sink is its windows */
	WpNodes *nodes;
	guint32 calls;    /* a window */
	guint32 examples; /* carried on */
	WpWindowFunc func;
	gpointer data;
	WpTrace *trace;
	guint64 n_windows;
	guint64 n_new;     /* calls and messages in the window that were in none before */
	guint64 n_wanted;  /* so many, and a cut is looked for */
	guint64 n_enough;  /* ... again */
	gint64 period_ns;  /* a window lasts so long at most; 0 = any */
	gint64 due_ns;     /* it is to end then; WP_NO_TIME = it has no record yet */
	gint64 overdue_ns; /* ... whatever is open */
	WpMap *edges;      /* (caller, callee) -> number */
	GArray *longest;   /* Edge, by that number */
	WpCounters *counters;
	GArray *counted;   /* Counted: those of the present window */
	WpCounters *told;  /* all that ever were */
	WpCounters *total; /* of the whole input, when it is known */
	gint64 latest_ns;  /* of the records so far */
	gboolean has_answer;

	/* The present window. */
	gint64 last_ns;
	gint64 cut_ns;     /* requests that begin before it are answered */
	gint64 context_ns; /* what is carried on reaches back to here */
	gboolean is_last;
	GArray *takes;        /* guint8, by span */
	GArray *numbers;      /* guint64, by span */
	GArray *keeps;        /* guint8, by record: what becomes of it */
	GArray *carried;      /* Carried: the carried spans, in their order */
	GArray *answered;     /* WpLink, by span: of those that were answered before */
	guint64 next_number;  /* of the first span that is new */
	guint64 first_number; /* ... in this window */
	guint64 prior_number; /* ... in the one before */
	WpWindowAnswer answer;
};

typedef struct {
	guint64 number;
	WpLink link; /* as answered; its spans are indices of carried ones */
} Carried;

enum {
	DROP,
	KEEP_CONTEXT,
	KEEP_OPEN
};

/* --- where to cut --- */

static gboolean
has_returned(const WpSpan *span)
{
	return span->kind != WP_KIND_CALL || span->return_begin_ns != WP_NO_TIME;
}

static Edge *
get_edge(WpWindows *windows, guint32 caller, guint32 callee)
{
	guint32 number = wp_map_number(windows->edges, wp_map_key(caller, callee));

	if (number == windows->longest->len) {
		Edge edge = { -1 };
		g_array_append_val(windows->longest, edge);
	}
	return &g_array_index(windows->longest, Edge, number);
}

/* Set-up and what waits by design tell nothing of how long a call may take. */
static gboolean
is_plain(const WpSpan *span)
{
	return !(span->marks & (WP_MARK_SETUP | WP_MARK_WAIT));
}

static void
note_longest(WpWindows *windows, const WpSpans *spans)
{
	for (guint32 i = 0; i < spans->n; i++) {
		const WpSpan *span = &spans->spans[i];
		if (!wp_span_is_paired(span) || !is_plain(span) || span->marks & WP_MARK_ANSWERED)
			continue;
		const WpRecord *call = &wp_trace_records(windows->trace)[span->call_record];
		Edge *edge = get_edge(windows, call->sender, call->receiver);
		edge->longest_ns = MAX(edge->longest_ns, span->return_ns - span->call_ns);
	}
}

/* TRUE where an open call has taken so long that its return is not waited for. */
static gboolean
is_overdue(WpWindows *windows, const WpSpan *span)
{
	const WpRecord *call = &wp_trace_records(windows->trace)[span->call_record];
	gint64 longest_ns = get_edge(windows, call->sender, call->receiver)->longest_ns;

	return longest_ns >= 0 && (windows->last_ns - span->call_ns) / 2 > longest_ns;
}

/* The earliest call of those before BEFORE_NS that has not returned until then. */
static gint64
find_open(WpWindows *windows, const WpSpans *spans, gint64 before_ns)
{
	for (guint32 i = 0; i < spans->n && spans->spans[i].call_ns < before_ns; i++) {
		const WpSpan *span = &spans->spans[i];
		if (span->marks & WP_MARK_ANSWERED || !is_plain(span))
			continue;
		if (has_returned(span) ? wp_span_end_ns(span) >= before_ns
				       : !is_overdue(windows, span))
			return span->call_ns;
	}
	return before_ns;
}

/* TRUE where a window has waited for long enough. */
static gboolean
must_cut(const WpWindows *windows)
{
	return windows->n_new >= MAX(2 * windows->n_wanted, windows->examples) ||
	       (windows->period_ns && windows->latest_ns >= windows->overdue_ns);
}

/*
 * Sets the cut; FALSE where it had better wait for more calls.
 *
 *     a |----------|
 *        b |---------------|
 *               c |--------------|
 *                     d |--------------...      open at the end
 *       ^ cut         ^ all from before have returned
 */
static gboolean
find_cut(WpWindows *windows)
{
	WpSpans *spans = wp_spans_new(windows->trace);
	const WpSpan *all = spans->spans;
	guint32 n_before = 0, n_fresh = 0;

	if (spans->n == 0) { /* returns alone */
		wp_spans_free(spans);
		return FALSE;
	}
	note_longest(windows, spans);
	windows->last_ns = all[spans->n - 1].call_ns;
	windows->cut_ns = find_open(windows, spans, find_open(windows, spans, windows->last_ns));
	for (guint32 i = 0; i < spans->n; i++) {
		gboolean is_fresh = !(all[i].marks & WP_MARK_ANSWERED);
		n_fresh += is_fresh;
		n_before += is_fresh && all[i].call_ns < windows->cut_ns;
	}
	gboolean is_good = windows->period_ns ? n_before > 0 : n_before * 2 >= n_fresh;
	if (!is_good && n_fresh > 0 && must_cut(windows)) {
		/* Whatever is open: the middle of what has no answer yet. */
		guint32 at = 0;
		for (guint32 left = n_fresh / 2; left > 0 || all[at].marks & WP_MARK_ANSWERED; at++)
			left -= left && !(all[at].marks & WP_MARK_ANSWERED);
		windows->cut_ns = all[at].call_ns;
		wp_counters_add(windows->counters, WP_COUNT_WINDOWS_FORCED, 1);
		is_good = TRUE;
	}
	wp_spans_free(spans);
	return is_good;
}

/* --- what stands --- */

static void
set_numbers(WpWindows *windows, const WpSpans *spans)
{
	guint n_carried = 0;

	windows->prior_number = windows->first_number;
	windows->first_number = windows->next_number;
	g_array_set_size(windows->numbers, spans->n);
	for (guint32 i = 0; i < spans->n; i++)
		g_array_index(windows->numbers, guint64, i) =
			spans->spans[i].marks & WP_MARK_CARRIED
				? g_array_index(windows->carried, Carried, n_carried++).number
				: windows->next_number++;
	g_assert(n_carried == windows->carried->len);
}

/* TRUE where an open call may still return, as far as anyone waits for it. */
static gboolean
is_waited_for(WpWindows *windows, const WpSpan *span, guint64 number)
{
	if (windows->is_last || has_returned(span) || span->marks & WP_MARK_SETUP)
		return FALSE;
	if (number < windows->prior_number ||
	    (span->marks & WP_MARK_CARRIED && is_overdue(windows, span))) {
		if (!(span->marks & WP_MARK_ANSWERED))
			wp_counters_add(windows->counters, WP_COUNT_WINDOW_CALLS_OPEN, 1);
		return FALSE;
	}
	return TRUE;
}

/* (transfer full) By root. */
static Tree *
study_trees(WpWindows *windows, const WpSpans *spans, const guint32 *roots)
{
	Tree *trees = g_new0(Tree, MAX(spans->n, 1));

	for (guint32 i = 0; i < spans->n; i++) {
		const WpSpan *span = &spans->spans[i];
		Tree *tree = &trees[roots[i]];
		gint64 end_ns = wp_span_end_ns(span);
		guint64 number = g_array_index(windows->numbers, guint64, i);
		tree->end_ns = MAX(tree->end_ns, end_ns);
		tree->is_open |= is_waited_for(windows, span, number);
	}
	return trees;
}

/*
 * Context reaches back as far as the window goes on after the cut, but not over too much; and over all that is
 * to be learned from.
 */
static gint64
context_begin(const WpWindows *windows, const WpSpans *spans)
{
	gint64 begin_ns = windows->cut_ns - (windows->last_ns - windows->cut_ns);
	guint32 low = 0, high = spans->n;

	while (low < high) {
		guint32 middle = low + (high - low) / 2;
		if (spans->spans[middle].call_ns < windows->cut_ns)
			low = middle + 1;
		else
			high = middle;
	}
	guint32 most = MAX(windows->calls / 4, windows->examples);
	if (low > most)
		begin_ns = MAX(begin_ns, spans->spans[low - most].call_ns);
	guint32 first = low > windows->examples ? low - windows->examples : 0;
	return MIN(begin_ns, spans->spans[first].call_ns);
}

static void
keep_records(WpWindows *windows, const WpSpan *span, guint8 what)
{
	g_array_index(windows->keeps, guint8, span->call_record) = what;
	if (span->return_record != G_MAXUINT32)
		g_array_index(windows->keeps, guint8, span->return_record) = what;
}

/* Of records that belong to no span the recent ones are context as well. */
static void
keep_others(WpWindows *windows, gint64 context_ns)
{
	const WpRecord *records = wp_trace_records(windows->trace);
	gsize n = wp_trace_n_records(windows->trace);

	g_array_set_size(windows->keeps, 0);
	g_array_set_size(windows->keeps, (guint)n);
	for (gsize i = 0; i < n; i++)
		if (records[i].begin_ns >= context_ns)
			g_array_index(windows->keeps, guint8, i) = KEEP_CONTEXT;
}

/* Of SPAN, whose request is TREE from ROOT on: whether it stands, and what becomes of its records. */
static guint8
settle(WpWindows *windows, const WpSpan *span, const WpSpan *root, const Tree *tree,
       gint64 context_ns, guint8 *out_takes)
{
	gboolean is_old = (span->marks & WP_MARK_ANSWERED) != 0;
	gboolean is_late = !is_old && root->marks & WP_MARK_ANSWERED;
	gboolean stands =
		windows->is_last || is_late || (root->call_ns < windows->cut_ns && !tree->is_open);

	wp_counters_add(windows->counters, WP_COUNT_WINDOW_CALLS_LATE, is_late);
	*out_takes = !is_old && stands;
	if (!is_old && !stands)
		return KEEP_OPEN;
	return tree->end_ns >= context_ns ? KEEP_CONTEXT : DROP; /* whole requests */
}

/* (transfer none) Where SPAN is among the carried ones, of which PLACES says by span where they are. */
static guint32
carried_place(const guint32 *places, guint32 span)
{
	return span == WP_NO_SPAN ? WP_NO_SPAN : places[span];
}

/* Notes the answers of what is carried; FATES: what becomes of each span. */
static void
carry_answers(WpWindows *windows, const WpLinks *links, const guint8 *fates)
{
	g_autofree guint32 *places = g_new(guint32, MAX(links->n, 1));
	guint32 n = 0;

	for (guint32 i = 0; i < links->n; i++)
		places[i] = fates[i] == DROP ? WP_NO_SPAN : n++;
	g_array_set_size(windows->carried, n);
	for (guint32 i = 0; i < links->n; i++) {
		if (fates[i] == DROP)
			continue;
		WpLink link = links->links[i];
		link.parent = carried_place(places, link.parent);
		link.runner_up = carried_place(places, link.runner_up);
		g_array_index(windows->carried, Carried, places[i]) = (Carried){
			g_array_index(windows->numbers, guint64, i),
			link,
		};
	}
}

void
wp_windows_tell(WpWindows *windows, WpResolved *resolved)
{
	const WpSpans *spans = wp_resolved_spans(resolved);
	g_autofree guint32 *carried = g_new(guint32, MAX(windows->carried->len, 1));
	guint32 n = 0;

	for (guint32 i = 0; i < spans->n; i++)
		if (spans->spans[i].marks & WP_MARK_CARRIED)
			carried[n++] = i;
	g_assert(n == windows->carried->len);
	g_array_set_size(windows->answered, spans->n);
	for (guint32 i = 0; i < n; i++) {
		WpLink link = g_array_index(windows->carried, Carried, i).link;
		link.parent = carried_place(carried, link.parent);
		link.runner_up = carried_place(carried, link.runner_up);
		g_array_index(windows->answered, WpLink, carried[i]) = link;
	}
	wp_resolved_set_answered(resolved,
				 n ? (const WpLink *)(const void *)windows->answered->data : NULL);
}

const WpWindowAnswer *
wp_windows_answer(WpWindows *windows, const WpSpans *spans, const WpLinks *links)
{
	gint64 context_ns = windows->is_last ? G_MAXINT64 : context_begin(windows, spans);
	g_autofree guint32 *roots = wp_links_roots(links);

	windows->context_ns = context_ns;
	set_numbers(windows, spans);
	g_autofree Tree *trees = study_trees(windows, spans, roots);
	g_autofree guint8 *fates = g_new(guint8, MAX(spans->n, 1));
	g_array_set_size(windows->takes, spans->n);
	keep_others(windows, context_ns);
	windows->answer.floor_ns = windows->is_last ? G_MAXINT64 : windows->last_ns;
	for (guint32 i = 0; i < spans->n; i++) {
		const WpSpan *span = &spans->spans[i];
		guint8 what = settle(windows, span, &spans->spans[roots[i]], &trees[roots[i]],
				     context_ns, &g_array_index(windows->takes, guint8, i));
		keep_records(windows, span, what);
		fates[i] = what;
		if (what == KEEP_OPEN)
			windows->answer.floor_ns = MIN(windows->answer.floor_ns, span->call_ns);
	}
	carry_answers(windows, links, fates);
	windows->answer.takes = (const guint8 *)windows->takes->data;
	windows->answer.numbers = (const guint64 *)(const void *)windows->numbers->data;
	windows->has_answer = TRUE;
	return &windows->answer;
}

/* --- from one window to the next --- */

static gboolean
carry_settings(const WpTrace *from, WpRecordSink *to, GError **error)
{
	for (gsize i = 0; i < wp_trace_n_settings(from); i++)
		if (!wp_sink_setting(to, wp_trace_setting_key(from, i),
				     wp_trace_setting_value(from, i), error))
			return FALSE;
	return TRUE;
}

/* As many calls as a window has, and as many as make up for examples that it has not. */
static void
want_calls(WpWindows *windows)
{
	guint64 n_known = MIN(windows->carried->len, windows->examples);

	windows->n_new = 0;
	windows->n_wanted = MAX(windows->calls, windows->examples - n_known);
	windows->n_enough = windows->n_wanted;
}

/* Of what was lost, keeps what was at the time of what is carried on. */
static void
carry_counted(WpWindows *windows)
{
	guint n = 0;

	for (guint i = 0; i < windows->counted->len; i++) {
		Counted counted = g_array_index(windows->counted, Counted, i);
		if (counted.time_ns < windows->context_ns)
			wp_counters_free(counted.counters);
		else
			g_array_index(windows->counted, Counted, n++) = counted;
	}
	g_array_set_size(windows->counted, n);
}

/* Tells the window what was lost in its time: what was said of it, and of the last all that is left. */
static void
tell_counted(WpWindows *windows)
{
	g_autoptr(WpCounters) counted = wp_counters_new();

	for (guint i = 0; i < windows->counted->len; i++)
		wp_counters_merge(counted, g_array_index(windows->counted, Counted, i).counters);
	if (windows->is_last)
		wp_counters_since(windows->total, windows->told, WP_COUNT_RETURNS_ORPHAN, counted);
	if (!windows->is_last || windows->n_windows > 0)
		wp_trace_set_counted(windows->trace, counted);
}

static gboolean
carry(WpWindows *windows, GError **error)
{
	g_autoptr(WpTrace) next = wp_trace_new(windows->nodes);
	WpRecordSink *to = wp_trace_sink(next);
	const WpTrace *from = windows->trace;

	wp_trace_set_continued(next);
	carry_counted(windows);
	if (!wp_sink_begin(to, windows->nodes, error) || !carry_settings(from, to, error))
		return FALSE;
	for (gsize i = 0; i < wp_trace_n_records(from); i++) {
		WpRecord record = wp_trace_records(from)[i];
		guint8 what = g_array_index(windows->keeps, guint8, i);
		if (what == DROP)
			continue;
		record.marks |= WP_MARK_CARRIED;
		if (what == KEEP_CONTEXT)
			record.marks |= WP_MARK_ANSWERED;
		if (!wp_sink_record(to, &record, wp_trace_tokens(from, &wp_trace_records(from)[i]),
				    error))
			return FALSE;
	}
	wp_trace_free(windows->trace);
	windows->trace = g_steal_pointer(&next);
	want_calls(windows);
	return TRUE;
}

/* Hands the window out. */
static gboolean
turn(WpWindows *windows, GError **error)
{
	tell_counted(windows);
	windows->n_windows++;
	windows->has_answer = FALSE;
	return windows->func(windows, windows->trace, windows->is_last, windows->data, error);
}

/* --- the sink --- */

static gboolean
on_begin(WpRecordSink *sink, WpNodes *nodes, GError **error)
{
	WpWindows *windows = (WpWindows *)sink;
	g_return_val_if_fail(nodes == windows->nodes, FALSE);
	return wp_sink_begin(wp_trace_sink(windows->trace), nodes, error);
}

static gboolean
on_setting(WpRecordSink *sink, const char *key, const char *value, GError **error)
{
	return wp_sink_setting(wp_trace_sink(((WpWindows *)sink)->trace), key, value, error);
}

/* TRUE where the window has a time at which it is to end. */
static gboolean
is_begun(const WpWindows *windows)
{
	return windows->due_ns != WP_NO_TIME;
}

static void
set_due(WpWindows *windows, gint64 begin_ns)
{
	gint64 period_ns = windows->period_ns;
	gint64 early_ns = begin_ns % period_ns;

	early_ns += early_ns < 0 ? period_ns : 0;
	windows->due_ns = begin_ns - early_ns + period_ns + period_ns / PERIOD_SLACK;
	windows->overdue_ns = windows->due_ns + period_ns;
}

/* Enough has come: hands the window out, where there is a place to cut it. */
static gboolean
try_to_turn(WpWindows *windows, GError **error)
{
	wp_trace_freeze(windows->trace);
	if (!find_cut(windows)) {
		windows->n_enough = windows->n_new + windows->n_wanted / 4 + 1;
		if (is_begun(windows))
			windows->due_ns += windows->period_ns / 4 + 1;
		return wp_sink_begin(wp_trace_sink(windows->trace), windows->nodes, error);
	}
	if (!turn(windows, error))
		return FALSE;
	g_return_val_if_fail(windows->has_answer, FALSE);
	windows->due_ns = WP_NO_TIME;
	return carry(windows, error);
}

static gboolean
on_record(WpRecordSink *sink, const WpRecord *record, const guint32 *tokens, GError **error)
{
	WpWindows *windows = (WpWindows *)sink;

	gboolean is_enough = windows->n_new >= windows->n_enough ||
			     (is_begun(windows) && record->begin_ns >= windows->due_ns);
	if (record->kind != WP_KIND_RETURN && is_enough && !try_to_turn(windows, error))
		return FALSE;
	if (windows->period_ns && !is_begun(windows))
		set_due(windows, record->begin_ns);
	windows->latest_ns = MAX(windows->latest_ns, record->begin_ns);
	windows->n_new += record->kind != WP_KIND_RETURN;
	return wp_sink_record(wp_trace_sink(windows->trace), record, tokens, error);
}

static gboolean
on_counted(WpRecordSink *sink, const WpCounters *counters, GError **error)
{
	WpWindows *windows = (WpWindows *)sink;
	GArray *all = windows->counted;

	wp_counters_merge(windows->told, counters);
	if (all->len < MAX_COUNTED) {
		Counted counted = { 0, wp_counters_new() };
		g_array_append_val(all, counted);
	}
	Counted *last = &g_array_index(all, Counted, all->len - 1);
	last->time_ns = windows->latest_ns;
	wp_counters_merge(last->counters, counters);
	return TRUE;
}

static gboolean
on_counters(WpRecordSink *sink, const WpCounters *counters, GError **error)
{
	wp_counters_merge(((WpWindows *)sink)->total, counters);
	return wp_sink_counters(wp_trace_sink(((WpWindows *)sink)->trace), counters, error);
}

static gboolean
on_end(WpRecordSink *sink, GError **error)
{
	return TRUE;
}

static const WpRecordSinkOps window_ops = { on_begin,    on_setting, on_record,
					    on_counters, on_end,     on_counted };

WpWindows *
wp_windows_new(WpNodes *nodes, guint32 calls, guint32 examples, WpWindowFunc func, gpointer data)
{
	WpWindows *windows = g_new0(WpWindows, 1);

	windows->sink.ops = &window_ops;
	windows->nodes = wp_nodes_ref(nodes);
	windows->calls = MAX(calls, 1);
	windows->examples = examples;
	windows->func = func;
	windows->data = data;
	windows->trace = wp_trace_new(nodes);
	windows->edges = wp_map_new();
	windows->longest = g_array_new(FALSE, FALSE, sizeof(Edge));
	windows->counters = wp_counters_new();
	windows->counted = g_array_new(FALSE, FALSE, sizeof(Counted));
	windows->told = wp_counters_new();
	windows->total = wp_counters_new();
	windows->latest_ns = G_MININT64;
	windows->due_ns = WP_NO_TIME;
	windows->takes = g_array_new(FALSE, FALSE, sizeof(guint8));
	windows->numbers = g_array_new(FALSE, FALSE, sizeof(guint64));
	windows->keeps = g_array_new(FALSE, TRUE, sizeof(guint8));
	windows->carried = g_array_new(FALSE, FALSE, sizeof(Carried));
	windows->answered = g_array_new(FALSE, FALSE, sizeof(WpLink));
	want_calls(windows);
	return windows;
}

void
wp_windows_free(WpWindows *windows)
{
	if (!windows)
		return;
	wp_nodes_unref(windows->nodes);
	wp_trace_free(windows->trace);
	wp_map_free(windows->edges);
	g_array_unref(windows->longest);
	wp_counters_free(windows->counters);
	for (guint i = 0; i < windows->counted->len; i++)
		wp_counters_free(g_array_index(windows->counted, Counted, i).counters);
	g_array_unref(windows->counted);
	wp_counters_free(windows->told);
	wp_counters_free(windows->total);
	g_array_unref(windows->takes);
	g_array_unref(windows->numbers);
	g_array_unref(windows->keeps);
	g_array_unref(windows->carried);
	g_array_unref(windows->answered);
	g_free(windows);
}

void
wp_windows_set_period(WpWindows *windows, gint64 period_ns)
{
	windows->period_ns = period_ns;
}

gboolean
wp_windows_advance(WpWindows *windows, gint64 now_ns, GError **error)
{
	if (!is_begun(windows) || now_ns < windows->due_ns)
		return TRUE;
	windows->latest_ns = MAX(windows->latest_ns, now_ns);
	return try_to_turn(windows, error);
}

WpRecordSink *
wp_windows_sink(WpWindows *windows)
{
	return &windows->sink;
}

gboolean
wp_windows_finish(WpWindows *windows, GError **error)
{
	windows->is_last = TRUE;
	if (windows->n_windows > 0)
		wp_counters_add(windows->counters, WP_COUNT_WINDOWS, windows->n_windows + 1);
	if (!wp_sink_counters(wp_trace_sink(windows->trace), windows->counters, error))
		return FALSE;
	wp_trace_freeze(windows->trace);
	wp_counters_free(windows->counters);
	windows->counters = wp_counters_new();
	return turn(windows, error) &&
	       wp_sink_counters(wp_trace_sink(windows->trace), windows->counters, error);
}

const WpTrace *
wp_windows_trace(const WpWindows *windows)
{
	return windows->trace;
}

void
wp_windows_add_folded(WpWindows *windows, guint64 n)
{
	g_autoptr(WpCounters) counters = wp_counters_new();

	wp_counters_add(counters, WP_COUNT_PATTERNS_FOLDED, n);
	wp_sink_counters(wp_trace_sink(windows->trace), counters, NULL);
}

guint64
wp_windows_count(const WpWindows *windows)
{
	return windows->n_windows;
}
