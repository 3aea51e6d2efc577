/* The engine xcorr: its options, where paths begin, and the choice of the quantum. See engine-xcorr.h. */
#include "infer/engine-xcorr.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "infer/pattern.h"
#include "infer/xcorr-model.h"

/* Edges without a path are told of from this share of all messages on, as that of an edge that matters is. */
#define MANY_UNREACHED 0.01

static void
options_init(void *options)
{
	*(WpXcorrOptions *)options = (WpXcorrOptions){
		.max_lag_ns = 10 * G_GINT64_CONSTANT(1000000000),
		.spike_sds = 4, /* the paper's examples, 5.2 */
		.dip_sds = 3,
		.max_depth = 32,
		.min_share = 0.005,
		.false_share = 1e-3,
	};
}

static const WpEngineOption options[] = {
	{ "as-published", WP_OPTION_FLAG, offsetof(WpXcorrOptions, as_published), 0, 1,
	  "the SOSP 2003 paper's convolution algorithm, ghosts and all" },
	{ "quantum", WP_OPTION_DURATION, offsetof(WpXcorrOptions, quantum_ns), 1, 3600e9,
	  "time quantum (as the trace has it; the page says why)" },
	{ "max-lag", WP_OPTION_DURATION, offsetof(WpXcorrOptions, max_lag_ns), 1, 86400e9,
	  "longest delay looked for (10s)" },
	{ "spike-sds", WP_OPTION_DOUBLE, offsetof(WpXcorrOptions, spike_sds), 0, 1000,
	  "as published: a spike stands so many standard deviations\nabove the mean (4)" },
	{ "dip-sds", WP_OPTION_DOUBLE, offsetof(WpXcorrOptions, dip_sds), 0, 1000,
	  "as published: and is parted from the next below so many (3)" },
	{ "match-window", WP_OPTION_DURATION, offsetof(WpXcorrOptions, match_ns), 0, 3600e9,
	  "as published: messages match a spike within this (a quantum)" },
	{ "max-depth", WP_OPTION_INT, offsetof(WpXcorrOptions, max_depth), 1, 64,
	  "edges of a path (32)" },
	{ "min-share", WP_OPTION_DOUBLE, offsetof(WpXcorrOptions, min_share), 1e-6, 1,
	  "edges with a smaller share of their root's messages are not\nfollowed (0.005)" },
	{ NULL, WP_OPTION_FLAG, 0, 0, 0, NULL },
};

static gboolean
check(const void *given, GError **error)
{
	const WpXcorrOptions *o = given;
	WpXcorrOptions unset;
	options_init(&unset);
	const char *vain = o->spike_sds != unset.spike_sds ? "spike-sds"
			   : o->dip_sds != unset.dip_sds   ? "dip-sds"
			   : o->match_ns != unset.match_ns ? "match-window"
							   : NULL;
	if (vain && !o->as_published) {
		g_set_error(error, WP_INFER_ERROR, WP_INFER_ERROR_OPTION,
			    "--%s is of the algorithm as published, and does nothing without it\n"
			    "add --as-published, or leave out --%s",
			    vain, vain);
		return FALSE;
	}
	if (o->dip_sds < o->spike_sds)
		return TRUE;
	g_set_error_literal(error, WP_INFER_ERROR, WP_INFER_ERROR_OPTION,
			    "--dip-sds must be below --spike-sds, or no dip would part two spikes");
	return FALSE;
}

/* Asked for by name only: it links no calls. */
static gboolean
applies(const WpResolved *resolved G_GNUC_UNUSED)
{
	return FALSE;
}

/* No links: every call by itself. */
static WpLinks *
run(const WpResolved *resolved, const void *given G_GNUC_UNUSED, WpStopFunc stop G_GNUC_UNUSED,
    GError **error G_GNUC_UNUSED)
{
	WpLinks *links = wp_links_new(wp_resolved_spans(resolved)->n);
	for (guint32 i = 0; i < links->n; i++)
		links->links[i].evidence = WP_EVIDENCE_ROOT;
	return links;
}

const WpEngine wp_engine_xcorr = {
	.name = "xcorr",
	.summary = "cross-correlation: paths as aggregates, of messages of any kind (report only)",
	.is_aggregate = TRUE,
	.options = options,
	.options_size = sizeof(WpXcorrOptions),
	.options_init = options_init,
	.check = check,
	.applies = applies,
	.run = run,
};

guint32
wp_xcorr_n_nodes(const WpMessages *messages)
{
	guint32 n = 0;
	for (guint32 i = 0; i < messages->n; i++)
		n = MAX(n, MAX(messages->edges[i].sender, messages->edges[i].receiver) + 1);
	return n;
}

/* Nodes that send before they receive, of those that IS_LEFT. */
static void
mark_first_senders(const WpMessages *messages, guint32 n, guint8 *is_root)
{
	g_autofree gint64 *sent = g_new(gint64, MAX(n, 1));
	g_autofree gint64 *received = g_new(gint64, MAX(n, 1));
	for (guint32 i = 0; i < n; i++)
		sent[i] = received[i] = G_MAXINT64;
	for (guint32 i = 0; i < messages->n; i++) {
		const WpEdge *edge = &messages->edges[i];
		if (!edge->n)
			continue;
		sent[edge->sender] = MIN(sent[edge->sender], edge->times_ns[0]);
		received[edge->receiver] = MIN(received[edge->receiver], edge->times_ns[0]);
	}
	for (guint32 i = 0; i < n; i++)
		is_root[i] = sent[i] < received[i];
}

guint8 *
wp_xcorr_roots(const WpMessages *messages, guint32 *out_n)
{
	guint32 n = *out_n = wp_xcorr_n_nodes(messages), n_hosts = 1;
	guint8 *is_root = g_new0(guint8, MAX(n, 1));
	gboolean has_root = FALSE;

	for (guint32 i = 0; i < messages->n; i++)
		n_hosts = MAX(n_hosts, messages->edges[i].receiver_host + 1);
	/* What an address sends may be any of its services'. */
	g_autofree guint8 *is_called = g_new0(guint8, n_hosts);
	for (guint32 i = 0; i < messages->n; i++)
		if (!messages->edges[i].is_return && messages->edges[i].n)
			is_called[messages->edges[i].receiver_host] = 1;
	for (guint32 i = 0; i < messages->n; i++) {
		const WpEdge *edge = &messages->edges[i];
		if (!edge->is_return && edge->n &&
		    (edge->sender_host >= n_hosts || !is_called[edge->sender_host]))
			has_root = is_root[edge->sender] = 1;
	}
	if (!has_root)
		mark_first_senders(messages, n, is_root);
	return is_root;
}

gint64
wp_xcorr_round_quantum(double ns)
{
	gint64 power = 1;
	while ((double)power * 10 <= ns)
		power *= 10;
	for (gint64 digit = 5; digit > 1; digit -= 3)
		if ((double)(digit * power) <= ns)
			return digit * power;
	return power;
}

/* Beyond it, differences of times would not fit. */
#define MAX_DURATION_NS G_GINT64_CONSTANT(3200000000000000000)

/* Bins of the whole duration that are worth having: the paper's way takes two transforms of them each vertex. */
#define MAX_BINS 4e6

/*
 * As published, a bin should rarely hold two messages of an edge, and a delay should not be spread over many
 * bins: a tenth of the mean gap of the busiest edge.
 */
static void
choose_quantum(WpSpectra *spectra, const WpMessages *messages)
{
	gsize most = 1;
	for (guint32 i = 0; i < messages->n; i++)
		most = MAX(most, messages->edges[i].n);
	double duration = (double)(messages->end_ns - messages->begin_ns) + 1;
	double wish = duration / (double)most / 10;
	gboolean is_long = duration / wish > MAX_BINS;
	spectra->quantum_ns = wp_xcorr_round_quantum(is_long ? duration / MAX_BINS : wish);
	spectra->quantum_reason = g_strdup(is_long ? "the duration in 4 million bins"
						   : "a tenth of the mean gap of the busiest edge");
}

static int
compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;
	return (left > right) - (left < right);
}

/*
 * Ours looks at all time scales at once; what it needs no quantum for, readers do: closer than that, two delays are
 * one. As wide as the spikes of nine edges in ten, so that a spike is a bin and its neighbours.
 */
static void
choose_by_spread(WpSpectra *spectra)
{
	g_autofree double *spreads = g_new(double, spectra->vertices->len + 1);
	guint32 n = 0;
	for (guint32 i = 0; i < spectra->vertices->len; i++)
		if (wp_spectra_vertex(spectra, i)->n_spikes)
			spreads[n++] = wp_spectra_vertex(spectra, i)->spikes[0].spread_ns;
	if (n)
		qsort(spreads, n, sizeof *spreads, compare_doubles);
	spectra->quantum_ns = n ? wp_xcorr_round_quantum(spreads[n * 9 / 10]) : 0;
	spectra->quantum_reason =
		g_strdup(n ? "nine spikes in ten are no wider" : "no delay was found");
}

static gboolean
has_eliminated(const WpXcorrModel *model)
{
	for (guint i = 0; i < model->pairs->len; i++)
		if (g_array_index(model->pairs, WpPair, i).sds <= 0)
			return TRUE;
	return FALSE;
}

/* Says how many messages are of edges that no path has: so many would be missed otherwise. */
static void
note_unreached(WpSpectra *spectra, const WpMessages *messages)
{
	g_autofree guint8 *is_reached = g_malloc0(MAX(messages->n, 1));
	guint64 n = 0;
	guint32 n_edges = 0;
	for (guint32 i = 0; i < spectra->vertices->len; i++)
		is_reached[wp_spectra_vertex(spectra, i)->edge] = 1;
	for (guint32 i = 0; i < messages->n; i++)
		if (!is_reached[i] && messages->edges[i].n) {
			n += messages->edges[i].n;
			n_edges++;
		}
	if ((double)n > MANY_UNREACHED * (double)messages->n_messages)
		wp_spectra_note(
			spectra,
			"Of all messages %.1f %%, on %u edge%s, are on no path: nothing that "
			"begins one leads to them.",
			100 * (double)n / (double)messages->n_messages, n_edges,
			n_edges == 1 ? "" : "s");
}

static void
infer(WpSpectra *spectra, const WpMessages *messages, const guint8 *is_root,
      const WpXcorrOptions *wish, WpStopFunc stop)
{
	WpXcorrModel model;
	wp_xcorr_model_init(&model, messages, is_root, wish, stop);
	wp_xcorr_find_pairs(&model, messages->edges, messages->edges);
	wp_xcorr_learn_causes(&model);
	wp_xcorr_follow(&model, spectra);
	note_unreached(spectra, messages);
	spectra->n_tests = model.n_tests;
	spectra->max_lag_ns = model.max_lag_ns;
	spectra->is_lag_cut = model.max_lag_ns < wish->max_lag_ns;
	if (model.n_periodic)
		wp_spectra_note(
			spectra,
			"Left out: %" G_GUINT64_FORMAT
			" pair%s of edges whose messages come and go at a node like clocks of "
			"the same period, so that whether one causes the other cannot be told.",
			model.n_periodic, model.n_periodic == 1 ? "" : "s");
	if (has_eliminated(&model))
		wp_spectra_note(spectra,
				"Where sds is 0 nothing stands out above chance: an answer has a "
				"cause, and no other was left.");
	if (messages->n_outside > messages->n_sources)
		wp_spectra_note(
			spectra,
			"%u hosts that nobody calls are taken together as %u: what they send "
			"has no cause here. --clients keep parts them.",
			messages->n_outside, messages->n_sources);
	if (model.n_left_out)
		wp_spectra_note(
			spectra,
			"Cut: of the pairs of edges that go together %" G_GUINT64_FORMAT
			" were left out, as there were too many; --filter, or --fold, makes "
			"fewer of them.",
			model.n_left_out);
	spectra->n_correlations = model.n_correlations;
	wp_xcorr_model_clear(&model);
	if (!spectra->quantum_ns)
		choose_by_spread(spectra);
}

WpSpectra *
wp_xcorr_spectra(const WpMessages *messages, const guint8 *is_root, const WpXcorrOptions *given,
		 WpStopFunc stop)
{
	WpXcorrOptions defaults;
	options_init(&defaults);
	const WpXcorrOptions *wish = given ? given : &defaults;
	WpSpectra *spectra = wp_spectra_new(messages);
	guint32 n;
	g_autofree guint8 *roots = is_root ? NULL : wp_xcorr_roots(messages, &n);

	spectra->max_lag_ns = wish->max_lag_ns;
	spectra->is_published = wish->as_published;
	if (messages->end_ns / 2 - messages->begin_ns / 2 > MAX_DURATION_NS / 2) {
		wp_spectra_note(spectra, "The times of this trace span more than a century: "
					 "nothing was correlated.");
		spectra->quantum_reason = g_strdup("none");
		return spectra;
	}
	if (wish->quantum_ns) {
		spectra->quantum_ns = wish->quantum_ns;
		spectra->quantum_reason = g_strdup("as asked for");
	} else if (wish->as_published) {
		choose_quantum(spectra, messages);
	}
	if (wish->as_published)
		wp_xcorr_published(spectra, messages, is_root ? is_root : roots, wish, stop);
	else if (messages->n_messages)
		infer(spectra, messages, is_root ? is_root : roots, wish, stop);
	wp_spectra_finish(spectra);
	return spectra;
}
