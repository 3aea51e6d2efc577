/* Watch: patterns of each part, sorted into windows by the begin of their requests; the windows' past. */
#include "report/watch.h"

#include <stdlib.h>
#include <string.h>

#include "infer/pattern-sum.h"
#include "report/error.h"

#define NS_PER_S      1e9
#define MAX_HISTORIES 4096 /* operations whose past is known */
#define MAX_PAST      360  /* windows of it: an hour of those of 10 s */

/* A window that is not complete yet. */
typedef struct {
	gint64 begin_ns;
	WpPatternSum *sum;
	WpTally tally;
} Open;

typedef struct {
	gint64 begin_ns;
	double p95_ns;
} Past;

/* Of an operation. */
typedef struct {
	Past past[MAX_PAST]; /* a ring: windows in which it was not slow */
	guint first;
	guint n;
	gint64 since_ns; /* slow since; WP_NO_TIME = it is not */
	gint64 seen_ns;
} History;

struct WpWatch {
	gint64 window_ns;
	WpWatchFunc func;
	gpointer data;
	GArray *open;          /* Open, by time */
	GHashTable *histories; /* name of the operation or pattern -> History; only looked up */
	WpPhases *phases;
	gboolean is_ended;
};

static void
clear_open(gpointer data)
{
	Open *open = data;
	wp_pattern_sum_free(open->sum);
	wp_tally_clear(&open->tally);
}

WpWatch *
wp_watch_new(gint64 window_ns, WpWatchFunc func, gpointer data)
{
	WpWatch *watch = g_new0(WpWatch, 1);

	watch->window_ns = window_ns;
	watch->func = func;
	watch->data = data;
	watch->open = g_array_new(FALSE, TRUE, sizeof(Open));
	g_array_set_clear_func(watch->open, clear_open);
	watch->histories = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	watch->phases = wp_phases_new();
	return watch;
}

void
wp_watch_free(WpWatch *watch)
{
	if (!watch)
		return;
	g_array_unref(watch->open);
	g_hash_table_unref(watch->histories);
	wp_phases_free(watch->phases);
	g_free(watch);
}

gboolean
wp_watch_is_ended(const WpWatch *watch)
{
	return watch->is_ended;
}

/* --- parts to windows --- */

static gint64
window_of(const WpWatch *watch, gint64 time_ns)
{
	gint64 inside_ns = time_ns % watch->window_ns;
	return time_ns - inside_ns - (inside_ns < 0 ? watch->window_ns : 0);
}

/* The window that begins then, made where it is missing. */
static Open *
get_open(WpWatch *watch, gint64 begin_ns)
{
	guint i = watch->open->len;

	while (i > 0 && g_array_index(watch->open, Open, i - 1).begin_ns > begin_ns)
		i--;
	if (i > 0 && g_array_index(watch->open, Open, i - 1).begin_ns == begin_ns)
		return &g_array_index(watch->open, Open, i - 1);
	Open open = { .begin_ns = begin_ns, .sum = wp_pattern_sum_new() };
	wp_tally_init(&open.tally);
	g_array_insert_val(watch->open, i, open);
	return &g_array_index(watch->open, Open, i);
}

static int
compare_times(gconstpointer a, gconstpointer b)
{
	gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
	return (x > y) - (x < y);
}

/* (transfer full) The windows of TIMES that begin anything, each once. */
static GArray *
list_windows(const gint64 *windows, const guint8 *takes, guint32 n)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(gint64));
	guint n_kept = 0;

	for (guint32 i = 0; i < n; i++)
		if (takes[i] &&
		    (list->len == 0 || g_array_index(list, gint64, list->len - 1) != windows[i]))
			g_array_append_val(list, windows[i]);
	g_array_sort(list, compare_times);
	for (guint i = 0; i < list->len; i++)
		if (i == 0 || g_array_index(list, gint64, i) != g_array_index(list, gint64, i - 1))
			g_array_index(list, gint64, n_kept++) = g_array_index(list, gint64, i);
	g_array_set_size(list, n_kept);
	return list;
}

/* Adds the requests of PART that TAKES has to OPEN. */
static gboolean
add_requests(const WpAnalysis *part, const guint8 *takes, Open *open, GError **error)
{
	const WpSelectionWish wish = { .takes = takes };
	g_autoptr(WpSelection) selection =
		wp_selection_new(part->resolved, wp_analysis_links(part), &wish, NULL, error);

	if (!selection)
		return FALSE;
	g_autoptr(WpPatternSet) set = wp_patterns_new(part->resolved, selection->links, NULL);
	wp_tally_add(&open->tally, part->resolved, selection->links, selection->keep,
		     set->lost_share);
	wp_pattern_sum_add(open->sum, set, NULL);
	return TRUE;
}

/* All calls of a request belong to where it begins. */
static gboolean
sort_requests(WpWatch *watch, const WpAnalysis *part, GError **error)
{
	const WpLinks *links = wp_analysis_links(part);
	const WpSpans *spans = wp_resolved_spans(part->resolved);
	const guint8 *keep = part->selection ? part->selection->keep : NULL;
	guint32 n = links->n;
	g_autofree guint32 *roots = wp_links_roots(links);
	g_autofree gint64 *windows = g_new(gint64, MAX(n, 1));
	g_autofree guint8 *takes = g_new(guint8, MAX(n, 1));

	for (guint32 i = 0; i < n; i++) {
		windows[i] = window_of(watch, spans->spans[roots[i]].call_ns);
		takes[i] = !keep || keep[i];
	}
	g_autoptr(GArray) list = list_windows(windows, takes, n);
	for (guint k = 0; k < list->len; k++) {
		gint64 begin_ns = g_array_index(list, gint64, k);
		for (guint32 i = 0; i < n; i++)
			takes[i] = (!keep || keep[i]) && windows[i] == begin_ns;
		if (!add_requests(part, takes, get_open(watch, begin_ns), error))
			return FALSE;
	}
	return TRUE;
}

/* --- names of patterns --- */

/* A line of a table, and what is kept of each pattern. */
#define MAX_NAME 240

char *
wp_watch_path_name(const WpViewPattern *pattern)
{
	GString *name = g_string_new(NULL);
	guint32 depth = 0;

	g_string_append_printf(name, "%s  %s > ", pattern->nodes[0].label, pattern->client);
	for (guint32 i = 0; i < pattern->n_nodes && name->len < MAX_NAME; i++) {
		const WpViewNode *node = &pattern->nodes[i];
		for (; depth > node->depth; depth--)
			g_string_append_c(name, ')');
		if (i > 0)
			g_string_append(name, depth < node->depth ? "(" : ", ");
		depth = node->depth;
		g_string_append(name, node->node);
		if (node->repeat > 1)
			g_string_append_printf(name, " %ux", node->repeat);
	}
	for (; depth > 0 && name->len < MAX_NAME; depth--)
		g_string_append_c(name, ')');
	return g_string_free(name, FALSE);
}

/* (transfer full) The same exactly for equal paths, in another window as well. */
static char *
path_key(const WpViewPattern *pattern)
{
	g_autoptr(GString) text = g_string_new(pattern->client);

	for (guint32 i = 0; i < pattern->n_nodes; i++) {
		const WpViewNode *node = &pattern->nodes[i];
		g_string_append_printf(text, "\x1f%u\x1f%s\x1f%s\x1f%u", node->depth, node->node,
				       node->label, node->repeat);
	}
	return g_compute_checksum_for_string(G_CHECKSUM_SHA256, text->str, (gssize)text->len);
}

/* --- the past of an operation --- */

static gboolean
is_forgotten(gpointer key, gpointer value, gpointer data)
{
	return ((const History *)value)->seen_ns < *(const gint64 *)data;
}

/* NULL where there are too many. */
static History *
get_history(WpWatch *watch, const char *name, gint64 begin_ns)
{
	History *history = g_hash_table_lookup(watch->histories, name);
	gint64 hour_ago_ns = begin_ns - WP_WATCH_HOUR_NS;

	if (!history && g_hash_table_size(watch->histories) >= MAX_HISTORIES)
		g_hash_table_foreach_remove(watch->histories, is_forgotten, &hour_ago_ns);
	if (!history && g_hash_table_size(watch->histories) < MAX_HISTORIES) {
		history = g_new0(History, 1);
		history->since_ns = WP_NO_TIME;
		g_hash_table_insert(watch->histories, g_strdup(name), history);
	}
	if (history)
		history->seen_ns = begin_ns;
	return history;
}

static int
compare_numbers(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* The median p95 of the hour before BEGIN_NS; 0 where that is too little to know. */
static double
usual_p95(History *history, gint64 begin_ns)
{
	double values[MAX_PAST];

	while (history->n > 0 &&
	       history->past[history->first].begin_ns < begin_ns - WP_WATCH_HOUR_NS) {
		history->first = (history->first + 1) % MAX_PAST;
		history->n--;
	}
	if (history->n < WP_WATCH_MIN_WINDOWS)
		return 0;
	for (guint i = 0; i < history->n; i++)
		values[i] = history->past[(history->first + i) % MAX_PAST].p95_ns;
	qsort(values, history->n, sizeof *values, compare_numbers);
	return (values[(history->n - 1) / 2] + values[history->n / 2]) / 2;
}

static void
remember(History *history, gint64 begin_ns, double p95_ns)
{
	if (history->n == MAX_PAST) {
		history->first = (history->first + 1) % MAX_PAST;
		history->n--;
	}
	history->past[(history->first + history->n++) % MAX_PAST] = (Past){ begin_ns, p95_ns };
}

/* Of what is called NAME: its p95 as a multiple of what was usual, and since when it is slow. */
typedef struct {
	double change;
	gint64 since_ns;
} Comparison;

/* While something is slow its windows are not what is usual. */
static Comparison
compare_with_past(WpWatch *watch, const char *name, const WpViewTimes *latency, gint64 begin_ns)
{
	Comparison result = { 0, WP_NO_TIME };
	History *history = get_history(watch, name, begin_ns);

	if (!history || latency->count < WP_WATCH_MIN_REQUESTS)
		return result;
	double usual_ns = usual_p95(history, begin_ns);
	result.change = usual_ns > 0 ? latency->p95_ns / usual_ns : 0;
	if (result.change >= WP_WATCH_SLOW) {
		if (history->since_ns == WP_NO_TIME)
			history->since_ns = begin_ns;
		result.since_ns = history->since_ns;
	} else {
		history->since_ns = WP_NO_TIME;
		remember(history, begin_ns, latency->p95_ns);
	}
	return result;
}

/* --- windows that are complete --- */

static double
rate_of(const WpWatch *watch, guint64 count)
{
	return (double)count / ((double)watch->window_ns / NS_PER_S);
}

static void
fill_rows(WpWatch *watch, WpWatchWindow *window)
{
	const WpView *view = window->view;

	for (guint32 i = 0; i < view->n_operations; i++) {
		const WpViewOperation *operation = &view->operations[i];
		if (operation->is_background)
			continue;
		g_autofree char *name = g_strjoin("\x1f", operation->client, operation->node,
						  operation->label, NULL);
		Comparison past =
			compare_with_past(watch, name, &operation->latency, window->begin_ns);
		window->rows[window->n_rows++] =
			(WpWatchRow){ operation, rate_of(watch, operation->count), past.change,
				      past.since_ns };
		window->requests += operation->count;
		window->errors += operation->errors;
	}
}

static void
fill_patterns(WpWatch *watch, WpWatchWindow *window)
{
	const WpView *view = window->view;

	wp_phases_begin(watch->phases, window->begin_ns);
	for (guint32 i = 0; i < view->n_patterns; i++) {
		const WpViewPattern *pattern = &view->patterns[i];
		if (pattern->is_background)
			continue;
		g_autofree char *name = wp_watch_path_name(pattern);
		g_autofree char *key = path_key(pattern);
		Comparison past =
			compare_with_past(watch, key, &pattern->nodes[0].latency, window->begin_ns);
		gint64 phase_ns = wp_phases_add(watch->phases, key, name, pattern->count);
		window->patterns[window->n_patterns++] =
			(WpWatchPattern){ pattern, rate_of(watch, pattern->count), past.change,
					  past.since_ns, phase_ns };
	}
	wp_phases_end(watch->phases);
	window->phases = wp_phases_list(watch->phases, &window->n_phases);
}

static gboolean
show(WpWatch *watch, const WpAnalysis *part, Open *open, GError **error)
{
	const WpViewOptions shown = { 0 };
	WpAnalysis whole = *part;
	g_autoptr(WpPatternSet) set = wp_pattern_sum_finish(open->sum, part->resolved);

	whole.patterns = set;
	whole.tally = open->tally;
	g_autoptr(WpView) view = wp_view_new(&whole, &shown);
	g_autofree WpWatchRow *rows = g_new0(WpWatchRow, MAX(view->n_operations, 1));
	g_autofree WpWatchPattern *patterns = g_new0(WpWatchPattern, MAX(view->n_patterns, 1));
	WpWatchWindow window = { .begin_ns = open->begin_ns,
				 .end_ns = open->begin_ns + watch->window_ns,
				 .rows = rows,
				 .patterns = patterns,
				 .view = view };
	fill_rows(watch, &window);
	fill_patterns(watch, &window);
	if (watch->func(&window, watch->data, error))
		return TRUE;
	watch->is_ended = TRUE;
	if (error && !*error)
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_INTERRUPTED, "ended");
	return FALSE;
}

gboolean
wp_watch_part(const WpAnalysis *part, gpointer data, GError **error)
{
	WpWatch *watch = data;
	gint64 floor_ns = part->answer ? part->answer->floor_ns : G_MAXINT64;

	for (guint i = 0; part->has_moved && i < watch->open->len; i++) {
		wp_pattern_sum_move(g_array_index(watch->open, Open, i).sum, part->resolved);
		wp_tally_move(&g_array_index(watch->open, Open, i).tally, part->resolved);
	}
	if (!sort_requests(watch, part, error))
		return FALSE;
	while (watch->open->len > 0) {
		Open *first = &g_array_index(watch->open, Open, 0);
		if (first->begin_ns > floor_ns - watch->window_ns)
			break;
		if (!show(watch, part, first, error))
			return FALSE;
		g_array_remove_index(watch->open, 0);
	}
	return TRUE;
}
