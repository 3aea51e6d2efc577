/*
 * Each message out of a node is given to what caused it: one of the messages into the node whose edge goes
 * together with its own, or none. A correlation alone cannot tell a cause from what comes before it:
 *
 *      A->B ----------------------> B->A        B->A follows A->B as surely as C->B does, but later and
 *          B->C --> C->B ---------> B->A        less exactly: with C->B there, A->B explains nothing more
 *
 * So the densities of all pairs are learned together, as intensities that add up (a Hawkes process, its
 * branching structure found by expectation and maximisation: Lewis and Mohler, "A nonparametric EM algorithm
 * for multiscale Hawkes processes", 2011): a message belongs to each candidate by its share of the sum, a
 * density is what belongs to it. The sharper explanation takes all in a few rounds.
 *
 * Rules, each by this alone: derived paths (A->B->A beside A->B->C->B->A), echoes of long cycles and
 * accidental short cuts end with next to nothing, and are dropped; what no message explains is a message of
 * its own accord.
 */
#include "infer/xcorr-model.h"

#include <math.h>
#include <string.h>

/* Rounds of learning: derived pairs shrink by a tenth or more each. */
#define N_ROUNDS 40

/* Rounds before it is looked at what is left over. */
#define N_ROUNDS_FIRST 16

/* Pairs that explain less of what leaves on their edge are dropped while learning, and in the end. */
#define MIN_SHARE      0.0005
#define MIN_SHARE_LAST 0.003

/* Messages are of their own accord at least this often, so that no density has to explain all. */
#define MIN_UNCAUSED 0.001

/* From which round on, and how often, it is seen which messages have had their effect. */
#define FIRST_EFFECTS 2
#define EACH_EFFECTS  2

/*
 * The duration has to be so many times the longest lag: of fewer stretches of time that go up and down together
 * nobody can say that it is no accident.
 */
#define LAGS_IN_ALL 50

/* Width of the kernel that smooths a density: bins, by how many messages it has. */
#define SMOOTH_LEAST 0.6
#define SMOOTH_ONE   12.0

/* A possible cause of the message at hand. */
typedef struct {
	guint32 pair;
	guint32 bin;
	guint32 at; /* message of the pair's IN */
	double intensity;
} Candidate;

static WpPair *
pair_at(const WpXcorrModel *model, guint32 i)
{
	return &g_array_index(model->pairs, WpPair, i);
}

static void
find_reach(WpPair *pair)
{
	guint32 first = 0, last = pair->n_bins;
	while (first < last && pair->density[first] <= 0)
		first++;
	while (last > first && pair->density[last - 1] <= 0)
		last--;
	pair->min_ns = wp_lag_of_bin(pair->begin + first);
	pair->max_ns = last > first ? wp_lag_of_bin(pair->begin + last) - 1 : -1;
}

/* Candidates for a message that leaves at TIME; LOW (by pair of the edge) only moves on. */
static double
gather(const WpXcorrModel *model, guint32 out, gint64 time, gsize *low, GArray *candidates)
{
	double sum = model->uncaused[out];
	g_array_set_size(candidates, 0);
	for (guint32 p = model->first_pair[out]; p < model->first_pair[out + 1]; p++) {
		const WpPair *pair = pair_at(model, p);
		const WpEdge *in = &model->messages->edges[pair->in];
		gsize *from = &low[p - model->first_pair[out]];
		while (*from < in->n && in->times_ns[*from] < time - pair->max_ns)
			(*from)++;
		for (gsize i = *from; i < in->n && time - in->times_ns[i] >= pair->min_ns; i++) {
			guint32 bin = wp_lag_bin(time - in->times_ns[i]) - pair->begin;
			if (pair->density[bin] <= 0)
				continue;
			Candidate one = { p, bin, (guint32)i, pair->density[bin] };
			one.intensity *=
				wp_xcorr_effect_left(model, pair->in, i, time - in->times_ns[i]);
			sum += one.intensity;
			g_array_append_val(candidates, one);
		}
	}
	return sum;
}

/* A round for the messages of OUT; returns how many were of their own accord. */
static double
share_out(const WpXcorrModel *model, guint32 out, GArray *candidates)
{
	const WpEdge *edge = &model->messages->edges[out];
	guint32 n_pairs = model->first_pair[out + 1] - model->first_pair[out];
	g_autofree gsize *low = g_new0(gsize, MAX(n_pairs, 1));
	double uncaused = 0;
	for (gsize i = 0; i < edge->n; i++) {
		double sum = gather(model, out, edge->times_ns[i], low, candidates);
		uncaused += model->uncaused[out] / sum;
		WpCause *cause = &model->causes[out][i];
		*cause = (WpCause){ WP_NO_EDGE, 0, (float)(model->uncaused[out] / sum) };
		for (guint k = 0; k < candidates->len; k++) {
			const Candidate *one = &g_array_index(candidates, Candidate, k);
			double share = one->intensity / sum;
			pair_at(model, one->pair)->counts[one->bin] += share;
			if (share > (double)cause->share)
				*cause = (WpCause){ pair_at(model, one->pair)->in, one->at,
						    (float)share };
		}
	}
	return uncaused;
}

/* FROM smoothed by a Gaussian, into TO; what would fall off the ends stays at them. */
static void
smooth(const double *from, guint32 n, double sd, double *to)
{
	int reach = (int)ceil(3 * sd);
	g_autofree double *kernel = g_new(double, 2 * (gsize)reach + 1);
	double total = 0;
	for (int i = -reach; i <= reach; i++)
		total += kernel[i + reach] = exp(-0.5 * i * i / (sd * sd));
	memset(to, 0, n * sizeof *to);
	for (guint32 at = 0; at < n; at++)
		for (int i = -reach; from[at] > 0 && i <= reach; i++) {
			gint64 bin = CLAMP((gint64)at + i, 0, (gint64)n - 1);
			to[bin] += from[at] * kernel[i + reach] / total;
		}
}

/* The density that belongs to the counts. */
static void
learn_density(const WpXcorrModel *model, WpPair *pair)
{
	double n = 0, messages = (double)model->messages->edges[pair->in].n;
	for (guint32 i = 0; i < pair->n_bins; i++)
		n += pair->counts[i];
	pair->mass = n / messages;
	smooth(pair->counts, pair->n_bins, SMOOTH_LEAST + SMOOTH_ONE / cbrt(MAX(n, 1)),
	       pair->density);
	for (guint32 i = 0; i < pair->n_bins; i++) {
		pair->density[i] /= messages * (double)wp_lag_width(pair->begin + i);
		/* Far from all others: costs candidates, explains nothing. */
		if (pair->density[i] * (double)wp_lag_width(pair->begin + i) < 1e-7 * pair->mass)
			pair->density[i] = 0;
	}
	find_reach(pair);
}

static void
clear_pair(WpPair *pair)
{
	g_clear_pointer(&pair->density, g_free);
	g_clear_pointer(&pair->counts, g_free);
}

/* Drops the pairs of too small a share; numbers the others anew. */
static void
drop_pairs(WpXcorrModel *model, double min_share)
{
	const WpMessages *messages = model->messages;
	guint32 n = 0, next = 0;
	for (guint32 out = 0; out < messages->n; out++) {
		guint32 end = model->first_pair[out + 1];
		model->first_pair[out] = n;
		for (; next < end; next++) {
			WpPair *pair = pair_at(model, next);
			double caused = pair->mass * (double)messages->edges[pair->in].n;
			if (caused < min_share * (double)messages->edges[out].n || caused < 2)
				clear_pair(pair);
			else
				*pair_at(model, n++) = *pair;
		}
	}
	model->first_pair[messages->n] = n;
	g_array_set_size(model->pairs, n);
}

/* After pairs came: where those of each edge are, and room for their counts. */
static void
index_pairs(WpXcorrModel *model)
{
	guint32 n = model->messages->n;
	memset(model->first_pair, 0, (n + 2) * sizeof *model->first_pair);
	for (guint32 i = 0; i < model->pairs->len; i++)
		model->first_pair[pair_at(model, i)->out + 1]++;
	for (guint32 i = 0; i < n; i++)
		model->first_pair[i + 1] += model->first_pair[i];
	for (guint32 i = 0; i < model->pairs->len; i++) {
		WpPair *pair = pair_at(model, i);
		if (!pair->counts)
			pair->counts = g_new0(double, pair->n_bins);
		find_reach(pair);
	}
}

static void
prepare(WpXcorrModel *model)
{
	const WpMessages *messages = model->messages;
	double duration = (double)(messages->end_ns - messages->begin_ns) + 1;
	model->first_pair = g_new0(guint32, messages->n + 2);
	model->uncaused = g_new0(double, MAX(messages->n, 1));
	model->effects = g_new0(WpEffect *, MAX(messages->n, 1));
	model->causes = g_new0(WpCause *, MAX(messages->n, 1));
	model->lasts = g_new0(WpCause *, MAX(messages->n, 1));
	for (guint32 i = 0; i < messages->n; i++) {
		gsize n = messages->edges[i].n;
		model->effects[i] = g_new(WpEffect, MAX(n, 1));
		model->causes[i] = g_new(WpCause, MAX(n, 1));
		model->lasts[i] = g_new(WpCause, MAX(n, 1));
		for (gsize k = 0; k < n; k++) {
			model->effects[i][k] = (WpEffect){ G_MAXFLOAT, 0 };
			model->causes[i][k] = (WpCause){ WP_NO_EDGE, 0, 0 };
		}
		model->uncaused[i] = 0.2 * (double)messages->edges[i].n / duration;
	}
	index_pairs(model);
}

/* What only learning needs: the larger part of the memory. */
static void
clear_causes(WpXcorrModel *model)
{
	for (guint32 i = 0; model->causes && i < model->messages->n; i++) {
		g_free(model->causes[i]);
		g_free(model->lasts[i]);
	}
	g_clear_pointer(&model->causes, g_free);
	g_clear_pointer(&model->lasts, g_free);
}

/* Of an edge that has lost its last pair. */
static void
forget_causes(const WpXcorrModel *model, guint32 out)
{
	for (gsize i = 0; i < model->messages->edges[out].n; i++)
		model->causes[out][i] = (WpCause){ WP_NO_EDGE, 0, 0 };
}

static void
learn(WpXcorrModel *model, guint n_rounds, double min_share_last)
{
	const WpMessages *messages = model->messages;
	double duration = (double)(messages->end_ns - messages->begin_ns) + 1;
	g_autoptr(GArray) candidates = g_array_new(FALSE, FALSE, sizeof(Candidate));
	for (guint round = 0; round < n_rounds && !wp_xcorr_is_stopped(model); round++) {
		for (guint32 i = 0; i < model->pairs->len; i++)
			memset(pair_at(model, i)->counts, 0,
			       pair_at(model, i)->n_bins * sizeof(double));
		for (guint32 out = 0; out < messages->n && !wp_xcorr_is_stopped(model); out++) {
			double n = (double)messages->edges[out].n;
			if (model->first_pair[out] == model->first_pair[out + 1]) {
				forget_causes(model, out);
				continue;
			}
			double own = share_out(model, out, candidates);
			model->uncaused[out] = MAX(own, MIN_UNCAUSED * n) / duration;
		}
		/* What a round has not come to is no less likely for that. */
		if (wp_xcorr_is_stopped(model))
			return;
		for (guint32 i = 0; i < model->pairs->len; i++)
			learn_density(model, pair_at(model, i));
		drop_pairs(model, round + 1 < n_rounds ? MIN_SHARE : min_share_last);
		if (round >= FIRST_EFFECTS && round % EACH_EFFECTS == 0)
			wp_xcorr_supersede(model);
	}
}

/* (transfer full) Those messages of each edge that are not marked. */
static WpEdge *
unmarked_of(const WpMessages *messages, guint8 *const *is_marked)
{
	WpEdge *edges = g_new(WpEdge, MAX(messages->n, 1));
	for (guint32 i = 0; i < messages->n; i++) {
		const WpEdge *from = &messages->edges[i];
		edges[i] = *from;
		edges[i].times_ns = g_new(gint64, MAX(from->n, 1));
		edges[i].n = 0;
		for (gsize k = 0; k < from->n; k++)
			if (!is_marked[i][k])
				edges[i].times_ns[edges[i].n++] = from->times_ns[k];
	}
	return edges;
}

static void
free_edges(WpEdge *edges, guint32 n)
{
	for (guint32 i = 0; i < n; i++)
		g_free(edges[i].times_ns);
	g_free(edges);
}

/*
 * A second look, at what the first leaves over: messages that are no likely cause of any, and those without a
 * cause. What a frequent pair drowned stands out among these.
 */
static void
look_at_rest(WpXcorrModel *model)
{
	const WpMessages *messages = model->messages;
	g_autofree guint8 **effects = g_new(guint8 *, MAX(messages->n, 1));
	g_autofree guint8 **caused = g_new(guint8 *, MAX(messages->n, 1));
	for (guint32 i = 0; i < messages->n; i++) {
		effects[i] = g_malloc0(MAX(messages->edges[i].n, 1));
		caused[i] = g_malloc0(MAX(messages->edges[i].n, 1));
	}
	for (guint32 i = 0; i < messages->n; i++)
		for (gsize k = 0; k < messages->edges[i].n; k++) {
			const WpCause *cause = &model->causes[i][k];
			if (cause->edge == WP_NO_EDGE)
				continue;
			caused[i][k] = 1;
			effects[cause->edge][cause->at] = 1;
		}
	WpEdge *ins = unmarked_of(messages, effects), *outs = unmarked_of(messages, caused);
	wp_xcorr_find_pairs(model, ins, outs);
	index_pairs(model);
	free_edges(ins, messages->n);
	free_edges(outs, messages->n);
	for (guint32 i = 0; i < messages->n; i++) {
		g_free(effects[i]);
		g_free(caused[i]);
	}
}

void
wp_xcorr_learn_causes(WpXcorrModel *model)
{
	prepare(model);
	learn(model, N_ROUNDS_FIRST, MIN_SHARE);
	look_at_rest(model);
	learn(model, N_ROUNDS, MIN_SHARE_LAST);
	clear_causes(model);
}

void
wp_xcorr_model_init(WpXcorrModel *model, const WpMessages *messages, const guint8 *is_root,
		    const WpXcorrOptions *options, WpStopFunc stop)
{
	gint64 duration = messages->end_ns - messages->begin_ns;
	*model = (WpXcorrModel){ .messages = messages,
				 .max_lag_ns = MIN(options->max_lag_ns, duration / LAGS_IN_ALL),
				 .is_root = is_root,
				 .options = options,
				 .stop = stop,
				 .pairs = g_array_new(FALSE, FALSE, sizeof(WpPair)) };
}

void
wp_xcorr_model_clear(WpXcorrModel *model)
{
	for (guint32 i = 0; model->pairs && i < model->pairs->len; i++)
		clear_pair(pair_at(model, i));
	clear_causes(model);
	for (guint32 i = 0; model->effects && i < model->messages->n; i++)
		g_free(model->effects[i]);
	g_clear_pointer(&model->effects, g_free);
	g_clear_pointer(&model->pairs, g_array_unref);
	g_clear_pointer(&model->first_pair, g_free);
	g_clear_pointer(&model->uncaused, g_free);
}
