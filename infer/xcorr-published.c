/*
 * The convolution algorithm of the paper (section 5.2, figure 6), as published: the baseline.
 *
 *      V: messages being followed into j          s1 = square roots of their counts a quantum
 *      Z: all messages leaving j                  s2 likewise
 *      spikes of C = s1 x s2, N sd above its mean, parted by dips below S sd
 *      for each spike d: messages of Z that leave at the time of some message of V + d +- v,
 *      by destination; each destination is followed further, with these as its V
 *
 * Where the paper is silent: C is looked at from lag 0 (edges with a negative delay are among what its
 * section 5.2.3 suppresses) to the longest lag asked for; mean and standard deviation are those of that
 * stretch; v is a quantum unless given; the spikes to one destination are one edge (as in figure 9);
 * an edge is followed while it has a share of its root's messages ("noise" of 5.2.3); paths end where they
 * come back to a root, and at a depth, as cycles would not.
 */
#include "infer/xcorr-private.h"

#include <stdlib.h>
#include <string.h>

#include "infer/signal.h"
#include "infer/spike.h"
#include "infer/xcorr.h"

/* A message that leaves a node. */
typedef struct {
	gint64 time_ns;
	guint32 edge;
	guint8 is_matched;
} Leaving;

typedef struct {
	WpSpectra *spectra;
	const WpMessages *messages;
	const WpXcorrOptions *options;
	WpXcorr *xcorr;
	WpStopFunc stop;
	const guint8 *is_root;
	double min_messages; /* of the present root */
	double *values;      /* the correlation */
	WpLags lags;
} Run;

/* All messages that leave HOST, by time; equal times by edge. */
static int
compare_leaving(const void *a, const void *b)
{
	const Leaving *left = a, *right = b;
	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return (left->edge > right->edge) - (left->edge < right->edge);
}

static GArray *
leaving_of(const WpMessages *messages, guint32 host)
{
	GArray *leaving = g_array_new(FALSE, FALSE, sizeof(Leaving));
	for (guint32 i = 0; i < messages->n; i++) {
		const WpEdge *edge = &messages->edges[i];
		for (gsize k = 0; edge->sender_host == host && k < edge->n; k++) {
			Leaving one = { .time_ns = edge->times_ns[k], .edge = i };
			g_array_append_val(leaving, one);
		}
	}
	g_array_sort(leaving, compare_leaving);
	return leaving;
}

static WpSignal *
signal_of_leaving(const Run *run, const GArray *leaving)
{
	g_autofree gint64 *times = g_new(gint64, MAX(leaving->len, 1));
	for (guint i = 0; i < leaving->len; i++)
		times[i] = g_array_index(leaving, Leaving, i).time_ns;
	return wp_signal_new(times, leaving->len, run->messages->begin_ns,
			     run->spectra->quantum_ns);
}

/* Marks what leaves at the time of some message of V + LAG +- v; counts it by edge. */
static void
match(const Run *run, const WpSignal *v, GArray *leaving, gint64 lag, double *counts)
{
	gint64 quantum = run->spectra->quantum_ns, begin = run->messages->begin_ns;
	gint64 reach = run->options->match_ns ? run->options->match_ns / quantum : 1;
	for (guint i = 0; i < leaving->len; i++) {
		Leaving *one = &g_array_index(leaving, Leaving, i);
		gint64 from = wp_signal_bin(one->time_ns, begin, quantum) - lag - reach;
		gsize at = wp_signal_find(v, from);
		if (at < v->n && v->bins[at] <= from + 2 * reach) {
			one->is_matched = TRUE;
			counts[one->edge]++;
		}
	}
}

/* The messages of EDGE that were matched: the next V. */
static GArray *
followed_of(const GArray *leaving, guint32 edge)
{
	GArray *followed = g_array_new(FALSE, FALSE, sizeof(gint64));
	for (guint i = 0; i < leaving->len; i++) {
		const Leaving *one = &g_array_index(leaving, Leaving, i);
		if (one->edge == edge && one->is_matched)
			g_array_append_val(followed, one->time_ns);
	}
	return followed;
}

/* The spikes of the correlation; COUNTS: by spike and edge, how many messages match. (transfer full) */
static GArray *
find_caused(Run *run, const WpSignal *v, GArray *leaving, double **out_counts)
{
	g_autoptr(WpSignal) z = signal_of_leaving(run, leaving);
	WpXcorrCost cost = wp_xcorr_cost(v, z, run->lags);
	wp_xcorr_run(run->xcorr, cost.best, v, z, WP_SIGNAL_ROOT, run->lags, run->values);
	run->spectra->n_correlations++;
	run->spectra->n_tests += (guint64)(run->lags.max - run->lags.min + 1);
	GArray *spikes = wp_spikes_find(run->values, (gsize)(run->lags.max - run->lags.min + 1),
					run->options->spike_sds, run->options->dip_sds);
	*out_counts = g_new0(double, MAX(spikes->len, 1) * (gsize)MAX(run->messages->n, 1));
	for (guint i = 0; i < spikes->len; i++)
		match(run, v, leaving, (gint64)g_array_index(spikes, WpSpike, i).at + run->lags.min,
		      *out_counts + i * run->messages->n);
	return spikes;
}

/* A vertex for EDGE below PARENT, with one delay for each spike that has messages of it. */
static guint32
add_vertex(Run *run, guint32 parent, guint32 edge, const GArray *spikes, const double *counts,
	   double messages)
{
	const WpEdge *of = &run->messages->edges[edge];
	gint64 quantum = run->spectra->quantum_ns;
	WpVertex vertex = { .parent = parent,
			    .depth = 1,
			    .edge = edge,
			    .sender = of->sender,
			    .receiver = of->receiver,
			    .messages = messages };
	if (parent != WP_NO_VERTEX)
		vertex.depth = wp_spectra_vertex(run->spectra, parent)->depth + 1;
	vertex.spikes = g_new(WpSpectrumSpike, spikes ? MAX(spikes->len, 1) : 1);
	for (guint i = 0; spikes && i < spikes->len; i++) {
		const WpSpike *spike = &g_array_index(spikes, WpSpike, i);
		double n = counts[i * run->messages->n + edge];
		if (n == 0)
			continue;
		vertex.spikes[vertex.n_spikes++] = (WpSpectrumSpike){
			.delay_ns = (double)(((gint64)spike->at + run->lags.min) * quantum),
			.spread_ns =
				(double)(run->options->match_ns ? run->options->match_ns : quantum),
			.messages = n,
			.significance = spike->sds,
		};
	}
	return wp_spectra_add(run->spectra, &vertex);
}

/* What stands on the stack: the messages followed into a vertex. */
typedef struct {
	guint32 vertex;
	GArray *times; /* gint64 */
} Followed;

static void
process(Run *run, GArray *stack, const Followed *followed)
{
	const WpVertex *at = wp_spectra_vertex(run->spectra, followed->vertex);
	const WpEdge *edge = &run->messages->edges[at->edge];
	if (at->depth >= run->options->max_depth || run->is_root[at->receiver])
		return;
	g_autoptr(WpSignal) v = wp_signal_new((const gint64 *)(gconstpointer)followed->times->data,
					      followed->times->len, run->messages->begin_ns,
					      run->spectra->quantum_ns);
	g_autoptr(GArray) leaving = leaving_of(run->messages, edge->receiver_host);
	g_autofree double *counts = NULL;
	g_autoptr(GArray) spikes = find_caused(run, v, leaving, &counts);
	for (guint32 i = 0; i < run->messages->n; i++) {
		g_autoptr(GArray) next = followed_of(leaving, i);
		if (next->len == 0 || next->len < run->min_messages)
			continue;
		if (run->spectra->vertices->len >= WP_XCORR_MAX_VERTICES)
			return;
		Followed below = { .vertex = add_vertex(run, followed->vertex, i, spikes, counts,
							next->len),
				   .times = g_steal_pointer(&next) };
		g_array_append_val(stack, below);
	}
}

static void
process_root(Run *run, guint32 root)
{
	const WpEdge *edge = &run->messages->edges[root];
	g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(Followed));
	Followed first = {
		.vertex = add_vertex(run, WP_NO_VERTEX, root, NULL, NULL, (double)edge->n),
		.times = g_array_sized_new(FALSE, FALSE, sizeof(gint64), (guint)edge->n),
	};
	g_array_append_vals(first.times, edge->times_ns, (guint)edge->n);
	g_array_append_val(stack, first);
	run->min_messages = run->options->min_share * (double)edge->n;
	while (stack->len) {
		Followed followed = g_array_index(stack, Followed, stack->len - 1);
		g_array_set_size(stack, stack->len - 1);
		if (!run->stop || !run->stop())
			process(run, stack, &followed);
		g_array_unref(followed.times);
	}
}

void
wp_xcorr_published(WpSpectra *spectra, const WpMessages *messages, const guint8 *is_root,
		   const WpXcorrOptions *options, WpStopFunc stop)
{
	g_autoptr(WpXcorr) xcorr = wp_xcorr_new();
	gint64 bins = MIN(options->max_lag_ns / spectra->quantum_ns, WP_XCORR_MAX_LAGS - 1);
	g_autofree double *values = g_new(double, (gsize)bins + 1);
	Run run = { .spectra = spectra,
		    .messages = messages,
		    .options = options,
		    .xcorr = xcorr,
		    .stop = stop,
		    .is_root = is_root,
		    .values = values,
		    .lags = { 0, bins } };
	for (guint32 i = 0; i < messages->n; i++)
		if (is_root[messages->edges[i].sender] && messages->edges[i].n &&
		    spectra->vertices->len < WP_XCORR_MAX_VERTICES)
			process_root(&run, i);
	if (spectra->vertices->len >= WP_XCORR_MAX_VERTICES)
		wp_spectra_note(spectra, "More than %d edges of paths: the rest was left out.",
				WP_XCORR_MAX_VERTICES);
}
