/*
 * The joint nesting engine: like the paper's algorithm it asks which call into a node caused each call
 * out of it, but it answers for all calls of a node at once, and uses what the paper's scoreboard leaves
 * aside: when the parent ended, which calls it made before and in which order, that a parent makes a
 * certain number of them, that work may follow a reply, that a connection may serve one request alone.
 * See nesting.h for its parts.
 *
 * Hosts are independent of each other. Calls with one candidate cost a sweep; only the others are
 * searched.
 */
#include "infer/engine-nesting.h"

#include <stddef.h>
#include <string.h>

#include "infer/alike.h"
#include "infer/evidence-kind.h"
#include "infer/map.h"
#include "infer/mend.h"
#include "infer/missing.h"
#include "infer/nesting-pace.h"
#include "infer/parallel.h"

#define ENOUGH_FOR_THREADS 1000 /* spans: below, a thread costs more than it saves */

/* Spans of each host, into it and out of it: CSR lists in the order of spans. */
typedef struct {
	guint32 *first; /* by host, n_hosts + 1 */
	guint32 *spans;
} Lists;

typedef struct {
	guint32 host;
	WpNestMark mark;
} HostMark;

/* What is known of a flow: who uses it, and when. */
typedef struct {
	guint32 flow;
	guint32 host;
	guint32 callee;
	guint32 sender;  /* node of the trace */
	gint64 first_ns; /* call */
	gint64 open_ns;  /* first set-up before; WP_NO_TIME: none seen */
	gint64 close_ns; /* last set-up after the first call */
} Flow;

typedef struct {
	const WpResolved *resolved;
	const WpSpan *spans;
	guint32 n_spans;
	guint32 n_hosts;
	gboolean has_messages;
	Lists incoming;
	Lists outgoing;
	GArray *marks; /* HostMark, by host and time */
	WpLinks *links;
	WpNestOptions options;
	WpMissing *missing;
	guint32 *alike;          /* by span: its callee, or one that stands for those like it */
	guint32 *joined;         /* by host: kinds that were not told apart */
	gboolean *solved;        /* by host; not all of them only where it was stopped */
	WpPace *paces;           /* by host: as found */
	const WpWorkings *known; /* as told; NULL: they are to be found */
} Engine;

static gboolean
takes_part(const WpSpan *span)
{
	return !(span->marks & WP_MARK_SETUP);
}

static void
count_span(Engine *engine, const WpSpan *span)
{
	Lists *in = &engine->incoming, *out = &engine->outgoing;
	guint32 most = MAX(span->caller_host, span->callee_host);

	while (engine->n_hosts <= most) {
		gsize n = ++engine->n_hosts;
		in->first = g_renew(guint32, in->first, n + 1);
		out->first = g_renew(guint32, out->first, n + 1);
		in->first[n] = out->first[n] = 0;
	}
	engine->has_messages |= span->kind == WP_KIND_MESSAGE;
	in->first[span->callee_host + 1] += takes_part(span);
	out->first[span->caller_host + 1] += takes_part(span);
}

/* How many there are of each host, to where the first of them is. (transfer full) A copy of it. */
static guint32 *
sum_up(const Engine *engine, Lists *lists)
{
	for (guint32 h = 0; h < engine->n_hosts; h++)
		lists->first[h + 1] += lists->first[h];
	return g_memdup2(lists->first, ((gsize)engine->n_hosts + 1) * sizeof(guint32));
}

/* Counts the hosts, and fills both lists at once: spans are many, and far from the processor. */
static void
fill_lists(Engine *engine)
{
	Lists *in = &engine->incoming, *out = &engine->outgoing;

	in->first = g_new0(guint32, 1);
	out->first = g_new0(guint32, 1);
	in->spans = g_new(guint32, MAX(engine->n_spans, 1));
	out->spans = g_new(guint32, MAX(engine->n_spans, 1));
	for (guint32 i = 0; i < engine->n_spans; i++)
		count_span(engine, &engine->spans[i]);
	g_autofree guint32 *next_in = sum_up(engine, in);
	g_autofree guint32 *next_out = sum_up(engine, out);
	for (guint32 i = 0; i < engine->n_spans; i++) {
		const WpSpan *span = &engine->spans[i];
		if (!takes_part(span))
			continue;
		in->spans[next_in[span->callee_host]++] = i;
		out->spans[next_out[span->caller_host]++] = i;
	}
}

/* --- marks --- */

/* (transfer full) The flows of the spans; NUMBERS: flow -> index. */
static GArray *
find_flows(const Engine *engine, WpMap *numbers)
{
	const WpRecord *records = wp_trace_records(wp_resolved_trace(engine->resolved));
	GArray *flows = g_array_new(FALSE, FALSE, sizeof(Flow));

	for (guint32 i = 0; i < engine->n_spans; i++) {
		const WpSpan *span = &engine->spans[i];
		const WpRecord *record = &records[span->call_record];
		if (!record->flow || !takes_part(span) ||
		    wp_map_number(numbers, record->flow) < flows->len)
			continue;
		Flow flow = { record->flow,  span->caller_host, span->callee, record->sender,
			      span->call_ns, WP_NO_TIME,        WP_NO_TIME };
		g_array_append_val(flows, flow);
	}
	return flows;
}

static void
note_setup(Flow *flow, gint64 time_ns)
{
	if (time_ns > flow->first_ns)
		flow->close_ns = time_ns;
	else if (flow->open_ns == WP_NO_TIME)
		flow->open_ns = time_ns;
}

static int
compare_marks(gconstpointer a, gconstpointer b)
{
	const HostMark *x = a, *y = b;
	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	if (x->mark.time_ns != y->mark.time_ns)
		return x->mark.time_ns < y->mark.time_ns ? -1 : 1;
	return x->mark.flow < y->mark.flow ? -1 : x->mark.flow > y->mark.flow;
}

/* Openings and closings of connections, from the set-up records of their callers. */
static void
find_marks(Engine *engine)
{
	const WpTrace *trace = wp_resolved_trace(engine->resolved);
	const WpRecord *records = wp_trace_records(trace);
	g_autoptr(WpMap) numbers = wp_map_new();

	if (!wp_trace_has(trace, WP_TRACE_FLOWS))
		return;
	g_autoptr(GArray) flows = find_flows(engine, numbers);
	for (gsize i = 0; i < wp_trace_n_records(trace); i++) {
		const WpRecord *record = &records[i];
		if (!(record->marks & WP_MARK_SETUP) || record->kind == WP_KIND_RETURN)
			continue;
		guint32 number = wp_map_find(numbers, record->flow);
		if (number == WP_MAP_NONE)
			continue;
		Flow *flow = &g_array_index(flows, Flow, number);
		if (flow->sender == record->sender)
			note_setup(flow, record->begin_ns);
	}
	for (guint i = 0; i < flows->len; i++) {
		const Flow *flow = &g_array_index(flows, Flow, i);
		const gint64 times[] = { flow->open_ns, flow->close_ns };
		for (gint closes = 0; closes < 2; closes++) {
			HostMark mark = { flow->host,
					  { times[closes], flow->flow, flow->callee, closes } };
			if (times[closes] != WP_NO_TIME)
				g_array_append_val(engine->marks, mark);
		}
	}
	g_array_sort(engine->marks, compare_marks);
}

/* (transfer full) The marks of HOST. */
static GArray *
marks_of(const Engine *engine, guint32 host)
{
	GArray *marks = g_array_new(FALSE, FALSE, sizeof(WpNestMark));
	guint low = 0, high = engine->marks->len;
	while (low < high) {
		guint middle = low + (high - low) / 2;
		if (g_array_index(engine->marks, HostMark, middle).host < host)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < engine->marks->len; low++) {
		const HostMark *mark = &g_array_index(engine->marks, HostMark, low);
		if (mark->host != host)
			break;
		g_array_append_val(marks, mark->mark);
	}
	return marks;
}

/* (transfer full) Who stands for the callee of each span, as each caller alone tells. */
static guint32 *
find_alike(const Engine *engine)
{
	const Lists *in = &engine->incoming, *out = &engine->outgoing;
	guint32 *alike = g_new(guint32, MAX(engine->n_spans, 1));

	for (guint32 i = 0; i < engine->n_spans; i++)
		alike[i] = engine->spans[i].callee;
	for (guint32 host = 0; host < engine->n_hosts; host++) {
		guint32 first = out->first[host], n = out->first[host + 1] - first;
		guint32 first_in = in->first[host];
		g_autofree guint32 *nodes =
			wp_alike_find(engine->resolved, in->spans + first_in,
				      in->first[host + 1] - first_in, out->spans + first, n);
		for (guint32 i = 0; i < n; i++)
			alike[out->spans[first + i]] = nodes[i];
	}
	return alike;
}

/* --- links --- */

/* How long CHILD has waited in a line, where the problem has it as it came to that; else 0. */
static gint64
wait_of(const Engine *engine, const WpNestProblem *problem, guint32 child)
{
	const WpNestChild *own = &problem->children[child];
	return problem->is_lined && own->span != WP_NO_SPAN
		       ? engine->spans[own->span].call_ns - own->begin_ns
		       : 0;
}

static guint32
words_for(const Engine *engine, const WpNestProblem *problem, guint32 number)
{
	const WpNestBundle *bundle = &problem->bundles[number];
	guint32 evidence = bundle->n_possible > 1 ? WP_EVIDENCE_DELAY : WP_EVIDENCE_ONLY;
	if (bundle->n > 1)
		evidence |=
			bundle->is_transaction ? WP_EVIDENCE_TRANSACTION : WP_EVIDENCE_CONNECTION;
	/* Whether that has decided anything or not: reports count them. */
	if (bundle->has_waited ||
	    wait_of(engine, problem, problem->bundle_children[bundle->first]) > 0)
		evidence |= WP_EVIDENCE_POOL;
	if (wp_nest_mode(problem, bundle, bundle->parent) != WP_NEST_INSIDE)
		evidence |= WP_EVIDENCE_AFTER;
	/* Where there is no choice nothing but a hint, which may have ruled others out, has decided it. */
	if (problem->evidence)
		evidence |= wp_evidence_words(problem->evidence, number) &
			    (bundle->n_possible > 1 ? G_MAXUINT32 : WP_EVIDENCE_HINTS);
	return evidence;
}

static void
link_bundle(Engine *engine, const WpNestProblem *problem, guint32 number,
	    const WpNestBelief *belief)
{
	const WpNestBundle *bundle = &problem->bundles[number];
	if (bundle->parent == WP_NO_PARENT)
		return;
	guint32 parent = problem->parents[bundle->parent].span; /* WP_NO_SPAN: not seen */
	guint32 words = parent != WP_NO_SPAN                    ? words_for(engine, problem, number)
			: wp_nest_may_be_alone(problem, bundle) ? WP_EVIDENCE_ROOT
								: WP_EVIDENCE_UNSEEN;
	for (guint32 i = 0; i < bundle->n; i++) {
		guint32 child = problem->bundle_children[bundle->first + i];
		guint32 span = problem->children[child].span;
		if (span == WP_NO_SPAN)
			continue;
		engine->links->waited_ns[span] = wait_of(engine, problem, child);
		WpLink *link = &engine->links->links[span];
		if (parent == WP_NO_SPAN && !wp_span_is_paired(&engine->spans[span]))
			continue;
		link->parent = parent;
		link->probability = (float)belief->probability;
		link->n_candidates = bundle->n_possible;
		link->evidence = words;
		if (belief->runner_up != WP_NO_PARENT)
			link->runner_up = problem->parents[belief->runner_up].span;
	}
}

static void
note_drawn(Engine *engine, const WpNestProblem *problem, guint32 number, guint32 parent)
{
	const WpNestBundle *bundle = &problem->bundles[number];

	for (guint32 i = 0; i < bundle->n && parent != WP_NO_PARENT; i++) {
		guint32 span = problem->children[problem->bundle_children[bundle->first + i]].span;
		if (span != WP_NO_SPAN)
			engine->links->drawn[span] = problem->parents[parent].span;
	}
}

static void
solve_host(Engine *engine, guint32 host)
{
	static const WpPace real_time = { .processors = 1 };
	const Lists *in = &engine->incoming, *out = &engine->outgoing;
	const WpWorkings *known = engine->known;
	gboolean is_known = known && host < known->n_paces;
	g_autoptr(GArray) marks = marks_of(engine, host);
	const WpNestHost own = { .incoming = in->spans + in->first[host],
				 .n_incoming = in->first[host + 1] - in->first[host],
				 .outgoing = out->spans + out->first[host],
				 .n_outgoing = out->first[host + 1] - out->first[host],
				 .marks = (const WpNestMark *)(const void *)marks->data,
				 .n_marks = marks->len,
				 .n_lost = wp_missing_of(engine->missing, host).n,
				 .has_waited = known ? known->has_waited : NULL,
				 .waited_ns = known ? known->waited_ns : NULL,
				 .known = is_known ? &known->paces[host]
					  : known  ? &real_time
						   : NULL };
	g_autofree WpNestBelief *beliefs = NULL;
	WpNestProblem *problem = wp_nest_solve(engine->resolved, &own, &engine->options, &beliefs,
					       &engine->paces[host]);
	if (!problem)
		return;
	engine->joined[host] = problem->n_joined;
	for (guint32 b = 0; b < problem->n_bundles; b++) {
		link_bundle(engine, problem, b, &beliefs[b]);
		note_drawn(engine, problem, b, beliefs[b].drawn);
	}
	wp_nest_problem_free(problem);
}

/* --- hosts: each a problem of its own, so that threads share them out --- */

typedef struct {
	Engine *engine;
	guint32 *hosts; /* the largest first, so that no thread is left with one at the end */
} Hosts;

static guint32
size_of(const Engine *engine, guint32 host)
{
	return engine->outgoing.first[host + 1] - engine->outgoing.first[host];
}

static int
compare_sizes(gconstpointer a, gconstpointer b, gpointer data)
{
	guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
	guint32 size_x = size_of(data, x), size_y = size_of(data, y);
	if (size_x != size_y)
		return size_x > size_y ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void
solve_item(guint32 item, gpointer data)
{
	const Hosts *hosts = data;
	Engine *engine = hosts->engine;
	WpStopFunc stop = engine->options.stop;

	if (stop && stop())
		return;
	solve_host(engine, hosts->hosts[item]);
	engine->solved[hosts->hosts[item]] = !(stop && stop());
}

static void
solve_hosts(Engine *engine, guint n_threads)
{
	g_autofree guint32 *order = g_new(guint32, MAX(engine->n_hosts, 1));
	Hosts hosts = { engine, order };

	for (guint32 host = 0; host < engine->n_hosts; host++)
		order[host] = host;
	g_qsort_with_data(order, (gint)engine->n_hosts, sizeof order[0], compare_sizes, engine);
	engine->solved = g_new0(gboolean, MAX(engine->n_hosts, 1));
	engine->joined = g_new0(guint32, MAX(engine->n_hosts, 1));
	engine->paces = g_new0(WpPace, MAX(engine->n_hosts, 1));
	if (engine->n_spans < ENOUGH_FOR_THREADS)
		n_threads = 1;
	wp_parallel_run(engine->n_hosts, n_threads, solve_item, &hosts);
}

/* The links have the paces of hosts, which go over to them, where one has a clock of its own, or a line. */
static void
keep_paces(Engine *engine)
{
	WpLinks *links = engine->links;

	for (guint32 host = 0; host < engine->n_hosts && !links->paces; host++)
		if (engine->paces[host].pace > 0 || engine->paces[host].workers > 0 ||
		    engine->paces[host].n_takes > 0) {
			links->paces = engine->paces;
			links->n_paces = engine->n_hosts;
		}
	if (!links->paces)
		g_free(engine->paces);
}

/* TRUE where the work was stopped before it was known whether the call has a parent. */
static gboolean
is_open(const Engine *engine, const WpSpan *span)
{
	guint32 host = span->caller_host;
	return !engine->solved[host] &&
	       engine->incoming.first[host] < engine->incoming.first[host + 1];
}

/* (transfer full) By span: 1 = something was caused by it; NULL: there are no messages, of which that is asked. */
static guint8 *
find_causes(const Engine *engine)
{
	if (!engine->has_messages)
		return NULL;
	guint8 *causes = g_new0(guint8, MAX(engine->n_spans, 1));
	for (guint32 i = 0; i < engine->n_spans; i++)
		if (engine->links->links[i].parent != WP_NO_SPAN)
			causes[engine->links->links[i].parent] = 1;
	return causes;
}

/*
 * What has no parent: a root, for sure as far as this engine knows; set-up; or a call without a return and
 * a message that caused nothing, which begin no path.
 */
static void
mark_others(Engine *engine)
{
	g_autofree guint8 *causes = find_causes(engine);

	for (guint32 i = 0; i < engine->n_spans; i++) {
		const WpSpan *span = &engine->spans[i];
		WpLink *link = &engine->links->links[i];
		if (link->evidence)
			continue;
		gboolean begins =
			wp_span_is_paired(span) || (span->kind == WP_KIND_MESSAGE && causes[i]);
		link->evidence = !takes_part(span)       ? WP_EVIDENCE_SETUP
				 : !begins               ? WP_EVIDENCE_UNPAIRED
				 : is_open(engine, span) ? WP_EVIDENCE_STOPPED
							 : WP_EVIDENCE_ROOT;
		if (link->evidence == WP_EVIDENCE_ROOT)
			link->probability = 1;
	}
}

/* (transfer full) N links, of which nothing is drawn yet. */
static WpLinks *
new_links(guint32 n)
{
	WpLinks *links = wp_links_new(n);

	links->waited_ns = g_new0(gint64, MAX(n, 1));
	links->drawn = g_new(guint32, MAX(n, 1));
	for (guint32 i = 0; i < n; i++)
		links->drawn[i] = WP_NO_SPAN;
	return links;
}

/* All but the links. */
static void
free_work(Engine *engine)
{
	g_array_unref(engine->marks);
	wp_missing_free(engine->missing);
	g_free(engine->alike);
	g_free(engine->joined);
	g_free(engine->solved);
	g_free(engine->incoming.first);
	g_free(engine->incoming.spans);
	g_free(engine->outgoing.first);
	g_free(engine->outgoing.spans);
}

/* What was drawn is of use where much is in doubt; where not, paths that were mended are nearer to the truth. */
static void
keep_drawn(WpLinks *links, const WpSpan *spans)
{
	if (wp_links_mean_probability(links) >= WP_MEND_LEAST_MEAN)
		g_clear_pointer(&links->drawn, g_free);
	for (guint32 i = 0; links->drawn && i < links->n; i++)
		if (spans[i].marks & WP_MARK_ANSWERED)
			links->drawn[i] = links->links[i].parent;
}

static void
keep_waits(WpLinks *links)
{
	for (guint32 i = 0; i < links->n; i++)
		if (links->waited_ns[i] > 0)
			return;
	g_clear_pointer(&links->waited_ns, g_free);
}

static void
options_init(void *options)
{
	*(WpNestingOptions *)options = (WpNestingOptions){ .after_ns = -1 };
}

/* The kinds of evidence that OPTIONS leave. */
static gboolean
choose_evidence(const WpNestingOptions *options, guint32 *out_set, GError **error)
{
	guint32 without = 0;

	*out_set = wp_evidence_defaults();
	if ((options->evidence &&
	     !wp_evidence_parse(options->evidence, "evidence", out_set, error)) ||
	    (options->no_evidence &&
	     !wp_evidence_parse(options->no_evidence, "no-evidence", &without, error)))
		return FALSE;
	*out_set &= ~without;
	return TRUE;
}

static gboolean
check(const void *given, GError **error)
{
	guint32 set;
	return choose_evidence(given, &set, error);
}

/* What is told beforehand. */
typedef struct {
	const WpReference *reference; /* NULL: nothing */
	const WpWorkings *workings;   /* likewise */
} Told;

static WpLinks *
run_told(const WpResolved *resolved, const void *given, const Told *told, WpStopFunc stop,
	 GError **error)
{
	const WpSpans *spans = wp_resolved_spans(resolved);
	g_autoptr(WpHints) hints = NULL;
	WpNestingOptions options;
	guint32 evidence;

	options_init(&options);
	if (given)
		options = *(const WpNestingOptions *)given;
	if (!choose_evidence(&options, &evidence, error))
		return NULL;
	if (wp_resolved_is_black_box(resolved))
		evidence = wp_evidence_only(evidence, &wp_evidence_hints);
	if (options.hints) {
		hints = wp_hints_read(options.hints, error);
		if (!hints)
			return NULL;
	}
	Engine engine = { .resolved = resolved,
			  .spans = spans->spans,
			  .n_spans = spans->n,
			  .links = new_links(spans->n),
			  .known = told->workings,
			  .options = { .after_ns = options.after_ns,
				       .skew_ns = options.skew_ns,
				       .anneals = !options.no_noise,
				       .stop = stop,
				       .evidence = evidence,
				       .hints = hints,
				       .reference = told->reference } };
	fill_lists(&engine);
	engine.marks = g_array_new(FALSE, FALSE, sizeof(HostMark));
	find_marks(&engine);
	engine.missing = wp_missing_new(resolved);
	engine.options.alike = engine.alike = find_alike(&engine);
	solve_hosts(&engine, (guint)options.threads);
	keep_paces(&engine);
	engine.links->has_odds = TRUE;
	mark_others(&engine);
	wp_links_take_answered(engine.links, resolved);
	wp_links_cut_cycles(engine.links);
	wp_links_mark_unseen(engine.links, resolved);
	if (!options.no_mending)
		wp_links_mend(engine.links, resolved, engine.alike, stop);
	keep_waits(engine.links);
	keep_drawn(engine.links, engine.spans);
	wp_links_doubt_owners(engine.links, resolved);
	if (wp_evidence_has(engine.options.evidence, &wp_evidence_spans))
		wp_links_mark_measured(engine.links, resolved);
	for (guint32 host = 0; host < engine.n_hosts; host++)
		engine.links->n_joined += engine.joined[host];
	free_work(&engine);
	return engine.links;
}

static WpLinks *
run(const WpResolved *resolved, const void *given, WpStopFunc stop, GError **error)
{
	const Told nothing = { NULL, NULL };
	return run_told(resolved, given, &nothing, stop, error);
}

static WpLinks *
run_reference(const WpResolved *resolved, const void *given, const WpReference *reference,
	      WpStopFunc stop, GError **error)
{
	const Told told = { .reference = reference };
	return run_told(resolved, given, &told, stop, error);
}

static WpLinks *
run_known(const WpResolved *resolved, const void *given, const WpWorkings *workings,
	  WpStopFunc stop, GError **error)
{
	const Told told = { .workings = workings };
	return run_told(resolved, given, &told, stop, error);
}

static const WpEngineOption options[] = {
	{ "nesting-skew", WP_OPTION_DURATION, offsetof(WpNestingOptions, skew_ns), 0, 3600e9,
	  "a call may begin so much before its parent, or end after it" },
	{ "after-reply", WP_OPTION_DURATION, offsetof(WpNestingOptions, after_ns), 0, 3600e9,
	  "work may begin so long after the reply that caused it (default: learned)" },
	{ "no-noise", WP_OPTION_FLAG, offsetof(WpNestingOptions, no_noise), 0, 1,
	  "skip the noisy rounds: faster, a little less right at load" },
	{ "no-mending", WP_OPTION_FLAG, offsetof(WpNestingOptions, no_mending), 0, 1,
	  "do not look again at what makes rare paths" },
	{ "evidence", WP_OPTION_LIST, offsetof(WpNestingOptions, evidence), 0, 0,
	  "kinds of evidence beside time, \"tokens,sizes\", all or none;\nsee --list-evidence" },
	{ "no-evidence", WP_OPTION_LIST, offsetof(WpNestingOptions, no_evidence), 0, 0,
	  "kinds of evidence to leave out" },
	{ "hints", WP_OPTION_FILE, offsetof(WpNestingOptions, hints), 0, 0,
	  "what you know of causes: lines \"web -> db yes 0.8\"" },
	{ "threads", WP_OPTION_INT, offsetof(WpNestingOptions, threads), 0, WP_PARALLEL_MAX_THREADS,
	  "nodes inferred at a time (0: as many as processors);\nthe result is the same" },
	{ NULL, WP_OPTION_FLAG, 0, 0, 0, NULL },
};

static gboolean
applies(const WpResolved *resolved)
{
	const WpSpans *spans = wp_resolved_spans(resolved);

	for (guint32 i = 0; i < spans->n; i++)
		if (wp_span_is_paired(&spans->spans[i]) || spans->spans[i].kind == WP_KIND_MESSAGE)
			return TRUE;
	return FALSE;
}

const WpEngine wp_engine_nesting = {
	.name = "nesting",
	.summary = "joint assignment of all calls of a node: delays, plans, connections",
	.has_odds = TRUE,
	.tells_owners = TRUE,
	.options = options,
	.options_size = sizeof(WpNestingOptions),
	.options_init = options_init,
	.check = check,
	.applies = applies,
	.run = run,
	.run_known = run_known,
	.run_reference = run_reference,
};
