/*
 * The sweep: spans are grouped by the host they come to (parents) and by the host they leave
 * (children), both in time; then, per host, parents enter a list of open calls as time goes on and
 * leave it when a child begins after their end.
 */
#include "infer/sweep.h"

#include "infer/map.h"

/* Numbers of spans, grouped by host: those of host h are at [at[h], at[h + 1]). */
typedef struct {
	guint32 *spans;
	guint32 *at;
} Groups;

struct WpSweep {
	const WpSpans *spans;
	gint64 window_ns;
	gboolean with_setup;
	guint32 n_hosts;
	Groups parents;  /* by callee_host */
	Groups children; /* by caller_host */
	WpMap *classes;
	GArray *open;       /* WpCandidate, by call time */
	GArray *candidates; /* WpCandidate: those of one child */
};

static gint64
add_clamped(gint64 time, gint64 delta)
{
	gint64 sum;
	if (__builtin_add_overflow(time, delta, &sum))
		return delta < 0 ? G_MININT64 : G_MAXINT64;
	return sum;
}

static gboolean
takes_part(const WpSweep *sweep, const WpSpan *span)
{
	return wp_span_is_paired(span) && (sweep->with_setup || !(span->marks & WP_MARK_SETUP));
}

/* By call time, then id, then order of records. Text ids are numbered by first use (record.h). */
static int
compare_spans(gconstpointer a, gconstpointer b, gpointer data)
{
	guint32 i = *(const guint32 *)a, j = *(const guint32 *)b;
	const WpSpan *left = &((const WpSpan *)data)[i], *right = &((const WpSpan *)data)[j];

	if (left->call_ns != right->call_ns)
		return left->call_ns < right->call_ns ? -1 : 1;
	if (left->id != right->id)
		return left->id < right->id ? -1 : 1;
	return i < j ? -1 : i > j;
}

/* (transfer full) All spans in that order; spans are in time already, so only ties are sorted. */
static guint32 *
order_spans(const WpSpans *spans)
{
	guint32 *order = g_new(guint32, spans->n);

	for (guint32 i = 0; i < spans->n; i++)
		order[i] = i;
	for (guint32 begin = 0, end; begin < spans->n; begin = end) {
		gint64 time = spans->spans[begin].call_ns;
		for (end = begin + 1; end < spans->n && spans->spans[end].call_ns == time;)
			end++;
		if (end - begin > 1)
			g_qsort_with_data(order + begin, (gint)(end - begin), sizeof *order,
					  compare_spans, spans->spans);
	}
	return order;
}

static guint32
host_of(const WpSpan *span, gboolean of_callee)
{
	return of_callee ? span->callee_host : span->caller_host;
}

/* Sorts the spans that take part by host, keeping ORDER inside a host. */
static void
group(const WpSweep *sweep, const guint32 *order, gboolean of_callee, Groups *out_groups)
{
	const WpSpan *spans = sweep->spans->spans;
	guint32 *at = g_new0(guint32, sweep->n_hosts + 1), n = 0;

	for (guint32 i = 0; i < sweep->spans->n; i++)
		if (takes_part(sweep, &spans[i])) {
			at[host_of(&spans[i], of_callee)]++;
			n++;
		}
	for (guint32 host = 0, sum = 0; host <= sweep->n_hosts; host++) {
		sum += at[host];
		at[host] = sum; /* the end; filling from behind makes it the begin */
	}
	out_groups->spans = g_new(guint32, n);
	out_groups->at = at;
	for (guint32 i = sweep->spans->n; i-- > 0;) {
		const WpSpan *span = &spans[order[i]];
		if (takes_part(sweep, span))
			out_groups->spans[--at[host_of(span, of_callee)]] = order[i];
	}
}

WpSweep *
wp_sweep_new(const WpSpans *spans, gint64 window_ns, gboolean with_setup)
{
	WpSweep *sweep = g_new0(WpSweep, 1);
	g_autofree guint32 *order = order_spans(spans);

	sweep->spans = spans;
	sweep->window_ns = window_ns;
	sweep->with_setup = with_setup;
	for (guint32 i = 0; i < spans->n; i++) {
		const WpSpan *span = &spans->spans[i];
		guint32 host = MAX(span->caller_host, span->callee_host);
		sweep->n_hosts = MAX(sweep->n_hosts, host + 1);
	}
	group(sweep, order, TRUE, &sweep->parents);
	group(sweep, order, FALSE, &sweep->children);
	sweep->classes = wp_map_new();
	sweep->open = g_array_new(FALSE, FALSE, sizeof(WpCandidate));
	sweep->candidates = g_array_new(FALSE, FALSE, sizeof(WpCandidate));
	return sweep;
}

void
wp_sweep_free(WpSweep *sweep)
{
	if (!sweep)
		return;
	g_free(sweep->parents.spans);
	g_free(sweep->parents.at);
	g_free(sweep->children.spans);
	g_free(sweep->children.at);
	wp_map_free(sweep->classes);
	g_array_unref(sweep->open);
	g_array_unref(sweep->candidates);
	g_free(sweep);
}

static void
open_parent(WpSweep *sweep, guint32 number)
{
	const WpSpan *span = &sweep->spans->spans[number];
	WpCandidate parent = {
		.call_ns = wp_span_served_ns(span),
		.return_ns = wp_span_replied_ns(span),
		.span = number,
		.class = wp_map_number(sweep->classes, wp_map_key(span->caller, span->callee)),
	};
	g_array_append_val(sweep->open, parent);
}

/* Fills candidates with those of CHILD, and drops from open what ended before it. */
static void
find_candidates(WpSweep *sweep, guint32 child)
{
	const WpSpan *span = &sweep->spans->spans[child];
	gint64 begins = add_clamped(span->call_ns, -sweep->window_ns);
	gint64 ends = add_clamped(span->return_ns, -sweep->window_ns);
	gint64 until = add_clamped(span->call_ns, sweep->window_ns);
	WpCandidate *open = (WpCandidate *)(void *)sweep->open->data;
	guint n_open = 0;

	g_array_set_size(sweep->candidates, 0);
	for (guint i = 0; i < sweep->open->len; i++) {
		WpCandidate parent = open[i];
		if (parent.return_ns < begins)
			continue;
		open[n_open++] = parent;
		if (parent.return_ns >= ends && parent.call_ns <= until && parent.span != child)
			g_array_append_val(sweep->candidates, parent);
	}
	g_array_set_size(sweep->open, n_open);
}

static void
sweep_host(WpSweep *sweep, guint32 host, WpSweepFunc func, gpointer data)
{
	const WpSpan *spans = sweep->spans->spans;
	guint32 parent = sweep->parents.at[host], parents_end = sweep->parents.at[host + 1];

	g_array_set_size(sweep->open, 0);
	for (guint32 i = sweep->children.at[host]; i < sweep->children.at[host + 1]; i++) {
		guint32 child = sweep->children.spans[i];
		gint64 until = add_clamped(spans[child].call_ns, sweep->window_ns);
		while (parent < parents_end && spans[sweep->parents.spans[parent]].call_ns <= until)
			open_parent(sweep, sweep->parents.spans[parent++]);
		find_candidates(sweep, child);
		func(child, (const WpCandidate *)(void *)sweep->candidates->data,
		     sweep->candidates->len, data);
	}
}

void
wp_sweep_run(WpSweep *sweep, WpSweepFunc func, gpointer data)
{
	for (guint32 host = 0; host < sweep->n_hosts; host++)
		sweep_host(sweep, host, func, data);
}
