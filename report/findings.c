/* One function a check; each adds a finding, whatever it says. */
#include "report/findings.h"

#include <string.h>

#include "report/format.h"
#include "report/words.h"

/* Requests from which on rates and tails mean something. */
#define MIN_REQUESTS 100

/* Of the time of all requests: what slow calls take above the median, to be worth a word. */
#define MIN_TAIL 0.002

/* ... and so many of them: one or two may be an accident. */
#define MIN_SLOW 3

/* Of the time of all requests: what opening connections, or stalls, between two nodes take, to be worth a word. */
#define MIN_LOST 0.01

/* So many connections are made again and again. */
#define MIN_CONNECTIONS 10

/* Operations, patterns or nodes named in a sentence. */
#define MAX_NAMED 3

const char *const wp_finding_verdicts[WP_FINDING_N_VERDICTS] = { "FOUND", "UNDECIDED", "CLEAN" };

static const char *const topics[WP_FINDING_N_TOPICS] = {
	"Where the time goes", "Errors",  "Slow tails", "Calls in a row",
	"New connections",     "Stalls",  "Workers",    "Connection pools",
	"Doubtful paths",      "Capture",
};

static void
add(GArray *findings, WpFindingVerdict verdict, WpFindingTopic topic, char *text, guint32 pattern,
    double share)
{
	WpFinding finding = { verdict, topic, topics[topic], text, pattern, share };
	g_array_append_val(findings, finding);
}

static const char *
label_of(const char *label, const char *protocol)
{
	return *label ? label : protocol;
}

/* Where the time goes: not good or bad, but what most want to know. */
static void
check_time(const WpView *view, GArray *findings)
{
	char share[WP_FORMAT_MAX], part[WP_FORMAT_MAX], of_all[WP_FORMAT_MAX], time[WP_FORMAT_MAX];
	const WpViewPattern *best = NULL;
	const WpViewNode *node = NULL;
	double most = 0;
	if (!view->n_totals || view->totals[0].self_ns <= 0)
		return;
	for (guint32 i = 0; i < view->n_patterns; i++) {
		const WpViewPattern *pattern = &view->patterns[i];
		for (guint32 k = 0; k < pattern->n_nodes && !pattern->is_background; k++)
			if (pattern->nodes[k].self.sum_ns > most && !pattern->nodes[k].waits) {
				best = pattern;
				node = &pattern->nodes[k];
				most = node->self.sum_ns;
			}
	}
	GString *text = g_string_new(NULL);
	g_string_printf(text, "%s takes %s of all self time (%s).", view->totals[0].node,
			wp_format_share(share, view->totals[0].share),
			wp_format_time(time, view->totals[0].self_ns));
	if (best)
		g_string_append_printf(text,
				       " The costliest place is %s %s in pattern #%u, which takes "
				       "%s of the time of "
				       "all requests: it has %s of that pattern's self time.",
				       node->node, label_of(node->label, node->protocol),
				       best->rank, wp_format_share(of_all, best->share),
				       wp_format_share(part, node->self_share));
	if (best && node->is_connecting)
		g_string_append_printf(
			text, " %s of that goes into opening connections for its calls.",
			wp_format_share(part, node->connecting_ns / node->self.sum_ns));
	add(findings, WP_FINDING_FOUND, WP_FINDING_TIME, g_string_free(text, FALSE),
	    best ? best->rank : 0, best ? best->share : 0);
}

static guint32
pattern_of(const WpView *view, guint32 operation)
{
	for (guint32 i = 0; i < view->n_patterns; i++)
		if (view->patterns[i].operation == operation)
			return view->patterns[i].rank;
	return 0;
}

/* (transfer full) " 12 TCP connections were refused, 10 of them from web to db." or "" */
static char *
describe_refused(const WpView *view)
{
	const WpViewCounter *counter = NULL;
	char most[WP_FORMAT_MAX];

	for (guint32 i = 0; i < view->quality.n_counters; i++)
		if (strcmp(view->quality.counters[i].name, "flows-refused") == 0)
			counter = &view->quality.counters[i];
	if (!counter)
		return g_strdup("");
	g_autofree char *count = wp_words_count(counter->count, "TCP connection");
	GString *text = g_string_new(NULL);
	g_string_printf(text, " %s %s refused", count, counter->count == 1 ? "was" : "were");
	if (counter->n_pairs) {
		const WpViewPair *pair = &counter->pairs[0];
		if (pair->count < counter->count)
			g_string_append_printf(text, ", %s of them",
					       wp_format_count(most, pair->count));
		g_string_append_printf(text, " from %s to %s", pair->sender, pair->receiver);
	}
	g_string_append_c(text, '.');
	return g_string_free(text, FALSE);
}

static void
check_errors(const WpView *view, GArray *findings)
{
	g_autofree char *refused = describe_refused(view);
	char count[WP_FORMAT_MAX], all[WP_FORMAT_MAX], share[WP_FORMAT_MAX];
	guint64 errors = 0, requests = 0;
	const WpViewOperation *worst = NULL;
	for (guint32 i = 0; i < view->n_operations; i++) {
		const WpViewOperation *one = &view->operations[i];
		if (one->is_background)
			continue;
		errors += one->errors;
		requests += one->count;
		if (one->errors && (!worst || one->errors > worst->errors))
			worst = one;
	}
	if (worst)
		add(findings, WP_FINDING_FOUND, WP_FINDING_ERRORS,
		    g_strdup_printf(
			    "%s of %s requests failed, were reset or timed out; most of them %s to "
			    "%s: %s of those.%s",
			    wp_format_count(count, errors), wp_format_count(all, requests),
			    label_of(worst->label, worst->protocol), worst->node,
			    wp_format_share(share, (double)worst->errors / (double)worst->count),
			    refused),
		    pattern_of(view, (guint32)(worst - view->operations)),
		    (double)errors / (double)requests);
	else
		add(findings, requests ? WP_FINDING_CLEAN : WP_FINDING_UNDECIDED, WP_FINDING_ERRORS,
		    g_strconcat(requests ? "No request failed, was reset or timed out, as far as "
					   "their protocols tell."
					 : "There are no requests.",
				refused, NULL),
		    0, 0);
}

/* "; the same calls from other nodes: 1 of 2,000" */
static void
add_others(const WpViewTail *tail, GString *text)
{
	char slow[WP_FORMAT_MAX], all[WP_FORMAT_MAX];
	if (tail->n_others)
		g_string_append_printf(text,
				       "; of the same calls from other nodes %s of %s are as slow",
				       wp_format_count(slow, tail->n_others_slow),
				       wp_format_count(all, tail->n_others));
	g_string_append_c(text, '.');
}

static void
check_tails(const WpView *view, GArray *findings)
{
	guint32 n = 0;
	gboolean is_enough = FALSE;
	double excess_ns = 0;
	g_autoptr(GString) text = g_string_new(NULL);
	for (guint32 i = 0; i < view->n_totals; i++)
		is_enough |= view->totals[i].count >= MIN_REQUESTS;
	for (; n < view->n_tails && n < MAX_NAMED; n++) {
		const WpViewTail *tail = &view->tails[n];
		char slow[WP_FORMAT_MAX], all[WP_FORMAT_MAX], time[WP_FORMAT_MAX],
			median[WP_FORMAT_MAX];
		if (tail->excess_ns < MIN_TAIL * view->total_ns || tail->n_slow < MIN_SLOW)
			break;
		excess_ns += tail->excess_ns;
		g_string_append_printf(text,
				       "%s%s of %s calls %s \342\206\222 %s (%s) take %s of self "
				       "time, where the median is %s",
				       n ? " " : "", wp_format_count(slow, tail->n_slow),
				       wp_format_count(all, tail->count), tail->caller, tail->node,
				       label_of(tail->label, tail->protocol),
				       wp_format_time(time, tail->slow_ns),
				       wp_format_time(median, tail->median_ns));
		add_others(tail, text);
	}
	if (!n)
		g_string_append(text, is_enough ? "No calls are far slower than others of their "
						  "kind."
						: "No node was called the 100 times that this "
						  "takes.");
	add(findings,
	    n           ? WP_FINDING_FOUND
	    : is_enough ? WP_FINDING_CLEAN
			: WP_FINDING_UNDECIDED,
	    WP_FINDING_TAILS, g_string_free(g_steal_pointer(&text), FALSE),
	    n ? view->tails[0].pattern : 0, n ? MIN(excess_ns / view->total_ns, 1) : 0);
}

/* Equal calls one after another: N+1 queries. */
static void
check_rows(const WpView *view, guint min_row, GArray *findings)
{
	const WpViewPattern *pattern = NULL;
	const WpViewNode *worst = NULL;
	for (guint32 i = 0; i < view->n_patterns; i++)
		for (guint32 k = 0; k < view->patterns[i].n_nodes; k++) {
			const WpViewNode *node = &view->patterns[i].nodes[k];
			if (node->repeat >= min_row && !view->patterns[i].is_background &&
			    (!worst || node->latency.sum_ns > worst->latency.sum_ns)) {
				pattern = &view->patterns[i];
				worst = node;
			}
		}
	if (!worst) {
		add(findings, view->n_patterns ? WP_FINDING_CLEAN : WP_FINDING_UNDECIDED,
		    WP_FINDING_ROWS,
		    view->n_patterns
			    ? g_strdup_printf("No request makes %u equal calls one after another.",
					      min_row)
			    : g_strdup("There are no patterns."),
		    0, 0);
		return;
	}
	char text[WP_FORMAT_MAX];
	double part = pattern->total_ns > 0 ? worst->latency.sum_ns / pattern->total_ns : 0;
	/* Work that goes on after the answer takes any time. */
	const char *of =
		part <= 1 ? "of the time of these requests" : "in all, most of it after the answer";
	if (part <= 1)
		wp_format_share(text, part);
	else
		wp_format_time(text, worst->latency.sum_ns);
	add(findings, WP_FINDING_FOUND, WP_FINDING_ROWS,
	    g_strdup_printf("Requests of pattern #%u make %u equal calls to %s, one after another: "
			    "%s. They take %s %s.",
			    pattern->rank, worst->repeat, worst->node,
			    label_of(worst->label, worst->protocol), text, of),
	    pattern->rank, MIN(part * pattern->share, 1));
}

static double
connecting_ns(const WpViewEdgeTime *edge)
{
	return edge->n_connects < MIN_CONNECTIONS ? 0 : edge->connect_ns + edge->setup_ns;
}

static double
stalled_ns(const WpViewEdgeTime *edge)
{
	return edge->stall_ns;
}

/* The edge that loses most of what LOST says, or NULL where that is next to nothing. */
static const WpViewEdgeTime *
worst_edge(const WpView *view, double (*lost)(const WpViewEdgeTime *))
{
	const WpViewEdgeTime *worst = NULL;
	for (guint32 i = 0; i < view->n_edge_times; i++)
		if (lost(&view->edge_times[i]) > (worst ? lost(worst) : 0))
			worst = &view->edge_times[i];
	return worst && lost(worst) >= MIN_LOST * view->total_ns ? worst : NULL;
}

/* Traces of other programs know nothing of what the transport did; round trips are known from any packets of TCP. */
static WpFindingVerdict
verdict_of_transport(const WpView *view, const WpViewEdgeTime *worst)
{
	gboolean is_known = FALSE;
	for (guint32 i = 0; i < view->n_edge_times; i++) {
		const WpViewEdgeTime *edge = &view->edge_times[i];
		is_known |= edge->n_connects || edge->client_rtt_ns > 0 || edge->server_rtt_ns > 0;
	}
	return worst ? WP_FINDING_FOUND : is_known ? WP_FINDING_CLEAN : WP_FINDING_UNDECIDED;
}

static const char no_transport[] = "The input does not tell what the transport did.";

/* Connections made again and again that could be kept. */
static void
check_connections(const WpView *view, GArray *findings)
{
	const WpViewEdgeTime *worst = worst_edge(view, connecting_ns);
	WpFindingVerdict verdict = verdict_of_transport(view, worst);
	char n[WP_FORMAT_MAX], calls[WP_FORMAT_MAX], time[WP_FORMAT_MAX], all[WP_FORMAT_MAX];
	if (!worst)
		add(findings, verdict, WP_FINDING_CONNECTIONS,
		    g_strdup(verdict == WP_FINDING_CLEAN
				     ? "Opening connections takes next to no time."
				     : no_transport),
		    0, 0);
	else
		add(findings, verdict, WP_FINDING_CONNECTIONS,
		    g_strdup_printf(
			    "%s opens %s connections to %s for %s calls: %s in all, before the "
			    "calls (TCP, TLS, login), where all requests take %s.",
			    worst->caller, wp_format_count(n, worst->n_connects), worst->node,
			    wp_format_count(calls, worst->calls),
			    wp_format_time(time, connecting_ns(worst)),
			    wp_format_time(all, view->total_ns)),
		    0, MIN(connecting_ns(worst) / view->total_ns, 1));
}

static void
check_stalls(const WpView *view, GArray *findings)
{
	const WpViewEdgeTime *worst = worst_edge(view, stalled_ns);
	WpFindingVerdict verdict = verdict_of_transport(view, worst);
	char time[WP_FORMAT_MAX], part[WP_FORMAT_MAX], longest[WP_FORMAT_MAX];
	if (!worst) {
		add(findings, verdict, WP_FINDING_STALLS,
		    g_strdup(verdict == WP_FINDING_CLEAN ? "The transport holds up next to nothing."
							 : no_transport),
		    0, 0);
		return;
	}
	GString *text = g_string_new(NULL);
	g_string_printf(
		text,
		"Calls %s \342\206\222 %s are held up by the transport for %s, %s of their time",
		worst->caller, worst->node, wp_format_time(time, worst->stall_ns),
		wp_format_share(part, worst->stall_ns / worst->latency_ns));
	guint k = 0; /* most time first; not what held up connecting */
	while (k < worst->n_stalls && worst->stalls[k].is_setup)
		k++;
	if (k < worst->n_stalls)
		g_string_append_printf(
			text, "; most by: %s (longest %s)",
			wp_words_cause(worst->stalls[k].cause, worst->stalls[k].is_setup),
			wp_format_time(longest, worst->stalls[k].longest_ns));
	g_string_append_c(text, '.');
	add(findings, verdict, WP_FINDING_STALLS, g_string_free(text, FALSE), 0,
	    MIN(worst->stall_ns / view->total_ns, 1));
}

double
wp_findings_waiting(const WpViewQueue *queue)
{
	double self_ns = queue->waiting_ns + queue->work_ns;
	return self_ns > 0 ? queue->waiting_ns / self_ns : 0;
}

/* What holds workers most, and what would shorten the wait. */
static void
add_remedy(const WpViewQueue *queue, GString *text)
{
	char held[WP_FORMAT_MAX], share[WP_FORMAT_MAX];
	gboolean is_own = strcmp(queue->held_node, queue->node) == 0;

	wp_format_time(held, queue->held_ns / (double)MAX(queue->calls, 1));
	wp_format_share(share, queue->most_held_ns / MAX(queue->held_ns, 1));
	g_string_append_printf(text, " A call holds one for %s, of which ", held);
	if (is_own)
		g_string_append_printf(text, "%s's own work%s%s", queue->node,
				       *queue->held_label ? " in " : "", queue->held_label);
	else
		g_string_append_printf(text, "calls to %s%s%s", queue->held_node,
				       *queue->held_label ? " " : "", queue->held_label);
	g_string_append_printf(text,
			       "%s most (%s): less of that would shorten the wait, or more workers",
			       is_own ? " takes" : " take", share);
	if (!is_own)
		g_string_append_printf(text, ", if %s can do with more calls at a time",
				       queue->held_node);
	g_string_append_c(text, '.');
}

char *
wp_findings_queue_text(const WpViewQueue *queue)
{
	char waited[WP_FORMAT_MAX], median[WP_FORMAT_MAX], longest[WP_FORMAT_MAX],
		share[WP_FORMAT_MAX], self[WP_FORMAT_MAX];
	double calls = (double)MAX(queue->calls, 1);
	GString *text = g_string_new(NULL);

	g_string_printf(
		text,
		"%s has %u workers%s, and %s of the calls there wait for one: %s as a rule, %s "
		"at most. %s of the time of a call there (%s) is waiting.",
		queue->node, queue->workers, queue->is_several ? " on each of its hosts" : "",
		wp_format_share(waited, (double)queue->n_waited / calls),
		wp_format_time(median, queue->wait_p50_ns),
		wp_format_time(longest, queue->wait_max_ns),
		wp_format_share(share, wp_findings_waiting(queue)),
		wp_format_time(self, (queue->waiting_ns + queue->work_ns) / calls));
	add_remedy(queue, text);
	return g_string_free(text, FALSE);
}

/* How many workers there are is known where calls wait for them: where there is nothing to say, nothing is. */
static void
check_workers(const WpView *view, GArray *findings)
{
	for (guint32 i = 0; i < view->n_queues; i++) {
		const WpViewQueue *queue = &view->queues[i];
		if (queue->calls >= MIN_REQUESTS &&
		    queue->waiting_ns >= MIN_LOST * view->total_ns &&
		    wp_findings_waiting(queue) >= WP_FINDINGS_WAITING)
			add(findings, WP_FINDING_FOUND, WP_FINDING_WORKERS,
			    wp_findings_queue_text(queue), 0,
			    MIN(queue->waiting_ns / view->total_ns, 1));
	}
}

char *
wp_findings_pool_text(const WpViewPool *pool)
{
	char waited[WP_FORMAT_MAX], wait[WP_FORMAT_MAX], share[WP_FORMAT_MAX], taken[WP_FORMAT_MAX];
	GString *text = g_string_new(NULL);

	g_string_printf(
		text,
		"%s has %u connection%s to %s%s, and %s of the calls over %s wait until %s free",
		pool->caller, pool->connections, pool->connections == 1 ? "" : "s", pool->node,
		pool->is_several ? " on each of its hosts" : "",
		wp_format_share(waited, (double)pool->n_waited / (double)MAX(pool->calls, 1)),
		pool->connections == 1 ? "it" : "them",
		pool->connections == 1 ? "it is" : "one is");
	if (pool->wait_ns >= 0)
		g_string_append_printf(
			text, ": about %s each. %s of %s's self time is that wait.",
			wp_format_time(wait, pool->wait_ns),
			wp_format_share(share, MIN(pool->waiting_ns / MAX(pool->own_ns, 1), 1)),
			pool->caller);
	else
		g_string_append(text, "; how long, cannot be told here.");
	g_string_append_printf(text,
			       " A call takes %s: less of that would shorten the wait, or more "
			       "connections, if %s can do with more calls at a time.",
			       wp_format_time(taken, pool->taken_ns), pool->node);
	return g_string_free(text, FALSE);
}

/* As with workers: that connections are limited is known where calls wait for them. */
static void
check_pools(const WpView *view, GArray *findings)
{
	for (guint32 i = 0; i < view->n_pools; i++) {
		const WpViewPool *pool = &view->pools[i];
		if (pool->calls >= MIN_REQUESTS && pool->waiting_ns >= MIN_LOST * view->total_ns &&
		    (double)pool->n_waited >= WP_FINDINGS_WAITED * (double)pool->calls)
			add(findings, WP_FINDING_FOUND, WP_FINDING_POOLS,
			    wp_findings_pool_text(pool), 0,
			    MIN(pool->waiting_ns / view->total_ns, 1));
	}
}

static void
check_capture(const WpView *view, GArray *findings)
{
	char *words = wp_words_loss(view);
	gboolean has_loss =
		view->quality.n_counters && view->quality.counters[0].level == WP_VIEW_LOSS;
	if (words)
		add(findings, WP_FINDING_FOUND, WP_FINDING_CAPTURE, words, 0, 0);
	else
		add(findings, WP_FINDING_CLEAN, WP_FINDING_CAPTURE,
		    g_strdup(has_loss ? "Next to nothing is missing from the capture."
				      : "Nothing is known to be missing from the capture."),
		    0, 0);
}

static void
check_paths(const WpView *view, GArray *findings)
{
	static const WpFindingVerdict verdicts[] = {
		[WP_VIEW_TRUST_NONE] = WP_FINDING_UNDECIDED,
		[WP_VIEW_TRUST_HIGH] = WP_FINDING_CLEAN,
		[WP_VIEW_TRUST_MIXED] = WP_FINDING_UNDECIDED,
		[WP_VIEW_TRUST_LOW] = WP_FINDING_FOUND,
		[WP_VIEW_TRUST_STOPPED] = WP_FINDING_UNDECIDED,
	};
	add(findings, verdicts[view->links.trust], WP_FINDING_PATHS, wp_words_trust(view), 0, 0);
}

static void
clear(gpointer data)
{
	g_free(((WpFinding *)data)->text);
}

static int
compare_findings(gconstpointer a, gconstpointer b)
{
	const WpFinding *x = a, *y = b;
	return (x->verdict > y->verdict) - (x->verdict < y->verdict);
}

GArray *
wp_findings_new(const WpView *view, guint min_row)
{
	GArray *findings = g_array_new(FALSE, FALSE, sizeof(WpFinding));
	g_array_set_clear_func(findings, clear);
	check_time(view, findings);
	check_errors(view, findings);
	check_tails(view, findings);
	check_rows(view, min_row, findings);
	check_connections(view, findings);
	check_stalls(view, findings);
	check_workers(view, findings);
	check_pools(view, findings);
	check_paths(view, findings);
	check_capture(view, findings);
	g_array_sort(findings, compare_findings);
	return findings;
}
