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
 * density is what belongs to it. The sharper explanation takes all in a few rounds. From a few rounds on it is also
 * learned how many effects messages have, and each is given to causes that have not had theirs (xcorr-match.c).
 *
 * Rules, each by this alone: derived paths (A->B->A beside A->B->C->B->A), echoes of long cycles and
 * accidental short cuts end with next to nothing, and are dropped; what no message explains is a message of
 * its own accord.
 */
#include "infer/xcorr-model.h"

#include <math.h>
#include <string.h>

#include "infer/xcorr-match.h"

/* Rounds of learning: derived pairs shrink by a tenth or more each. */
#define N_ROUNDS 40

/* After so many it is over once fewer messages than this part change their place in a round. */
#define N_ROUNDS_LEAST 6
#define SETTLED        0.001

/* Rounds before it is looked at what is left over. */
#define N_ROUNDS_FIRST 16

/* Pairs that explain less of what leaves on their edge are dropped while learning, and in the end. */
#define MIN_SHARE      0.0005
#define MIN_SHARE_LAST 0.003

/* Messages are of their own accord at least this often, so that no density has to explain all. */
#define MIN_UNCAUSED 0.001

/* Of answers whose causes are all looked at no more are without one: it was lost. */
#define MOST_LOST 0.02

/* A call that is answered has an effect, but for one that was lost. */
#define LEAST_SILENT 0.001

/* Where nothing stands out, as many of the calls of an edge follow an answer to another of them. */
#define MOST_IN_ROWS 0.5

/* From which round on, and how often, it is seen which messages have had their effect. */
#define FIRST_EFFECTS 2
#define EACH_EFFECTS  2

/*
 * The duration has to be so many times the longest lag: of fewer stretches of time that go up and down together
 * nobody can say that it is no accident.
 */
#define LAGS_IN_ALL 50

/*
 * What stands out has tails that do not: what is in them would be left without its cause, and taken for an effect
 * of another. So much of a density is spread from a part of the longest lag to beyond it, evenly in log time; lags with so many
 * messages in them at most, as each is a candidate.
 */
#define TAIL            0.05
#define TAIL_BEFORE     64
#define TAIL_REACH      2
#define TAIL_CANDIDATES 100

/* Width of the kernel that smooths a density: bins, by how many messages it has. */
#define SMOOTH_LEAST 0.6
#define SMOOTH_ONE   12.0

/*
 * How many effects messages have is guessed from how many they have on average: a whole number or the next, as of
 * programs that do the same each time, but for a part that is a Poisson distribution. It counts as so many messages, and so
 * large a share of those that there are, for ever.
 */
#define GUESS_POISSON     0.3
#define GUESS_PRIOR       5
#define GUESS_PRIOR_SHARE 0.02

/*
 * An answer has an effect as a rule, unless it is waited for together with others. Where times do not tell whether a program
 * goes on with it, or did both things from the first and let the answer be, this decides.
 */
#define GUESS_PRIOR_ANSWER 0.1

/*
 * Rounds in which a message may have any number of effects: before it is known how many there are, the clearest would leave
 * nothing to the others.
 */
#define N_ROUNDS_FREE 4

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

/* The density that belongs to the counts. Returns how many of the messages out have changed their place. */
static double
learn_density(const WpXcorrModel *model, WpPair *pair)
{
	double n = 0, change = 0, messages = (double)model->messages->edges[pair->in].n;
	for (guint32 i = 0; i < pair->n_bins; i++)
		n += pair->counts[i];
	pair->mass = n / messages;
	g_autofree double *density = g_new(double, MAX(pair->n_bins, 1));
	smooth(pair->counts, pair->n_bins, SMOOTH_LEAST + SMOOTH_ONE / cbrt(MAX(n, 1)), density);
	for (guint32 i = 0; i < pair->n_bins; i++) {
		double width = (double)wp_lag_width(pair->begin + i);
		density[i] /=
			messages * wp_xcorr_part_left(model, pair->in, pair->begin + i) * width;
		/* Far from all others: costs candidates, explains nothing. */
		if (density[i] * width < 1e-7 * pair->mass)
			density[i] = 0;
		change += fabs(density[i] - pair->density[i]) * width;
	}
	g_free(pair->density);
	pair->density = g_steal_pointer(&density);
	find_reach(pair);
	return change * messages / (double)model->messages->edges[pair->out].n;
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

/* The first edge that is not before those from SENDER to RECEIVER. */
static guint32
find_edges(const WpMessages *messages, guint32 sender, guint32 receiver)
{
	guint32 low = 0, high = messages->n;
	while (low < high) {
		guint32 middle = low + (high - low) / 2;
		const WpEdge *edge = &messages->edges[middle];
		if (edge->sender < sender || (edge->sender == sender && edge->receiver < receiver))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Of the messages of an edge, how many may have no effect: none of the calls that are answered. */
static double
share_silent(const WpMessages *messages, const WpEdge *edge)
{
	double answers = 0;
	for (guint32 i = find_edges(messages, edge->receiver, edge->sender); i < messages->n; i++) {
		const WpEdge *back = &messages->edges[i];
		if (back->sender != edge->receiver || back->receiver != edge->sender)
			break;
		if (!edge->is_return && back->is_return &&
		    back->sender_host == edge->receiver_host &&
		    back->receiver_host == edge->sender_host)
			answers += (double)back->n;
	}
	return MAX(1 - answers / (double)MAX(edge->n, 1), LEAST_SILENT);
}

static void
prepare(WpXcorrModel *model)
{
	const WpMessages *messages = model->messages;
	double duration = (double)(messages->end_ns - messages->begin_ns) + 1;
	model->first_pair = g_new0(guint32, messages->n + 2);
	model->uncaused = g_new0(double, MAX(messages->n, 1));
	model->effects = g_new0(WpEffect *, MAX(messages->n, 1));
	model->left = g_new0(float *, MAX(messages->n, 1));
	model->causes = g_new0(WpCause *, MAX(messages->n, 1));
	model->own = g_new0(double, MAX(messages->n, 1));
	model->fanout = g_new(WpFanout, MAX(messages->n, 1));
	model->fanout_counts = g_new(WpFanout, MAX(messages->n, 1));
	model->taken = g_new0(guint16 *, MAX(messages->n, 1));
	model->has_cause = g_malloc0(MAX(messages->n, 1));
	model->silent = g_new(double, MAX(messages->n, 1));
	for (guint32 i = 0; i < messages->n; i++) {
		gsize n = messages->edges[i].n;
		model->silent[i] = share_silent(messages, &messages->edges[i]);
		model->taken[i] = g_new(guint16, MAX(n, 1));
		model->effects[i] = g_new(WpEffect, MAX(n, 1));
		model->causes[i] = g_new(WpCause, MAX(n, 1));
		for (gsize k = 0; k < n; k++) {
			model->effects[i][k] = (WpEffect){ G_MAXFLOAT, 0 };
			model->causes[i][k] = (WpCause){ WP_NO_EDGE, 0, 0 };
		}
		model->uncaused[i] = 0.2 * (double)messages->edges[i].n / duration;
	}
	index_pairs(model);
}

static void
free_each(gpointer of_edges, guint32 n)
{
	gpointer *each = of_edges;
	for (guint32 i = 0; each && i < n; i++)
		g_free(each[i]);
	g_free(each);
}

/* What only learning needs: the larger part of the memory. */
static void
clear_causes(WpXcorrModel *model)
{
	free_each(g_steal_pointer(&model->causes), model->messages->n);
}

/* ... and what matching needs. */
static void
clear_effects(WpXcorrModel *model)
{
	free_each(g_steal_pointer(&model->effects), model->messages->n);
	free_each(g_steal_pointer(&model->left), model->messages->n);
	free_each(g_steal_pointer(&model->taken), model->messages->n);
}

static void
clear_shares(WpXcorrModel *model)
{
	for (guint32 i = 0; model->shares && i < model->messages->n; i++)
		g_array_unref(model->shares[i]);
	g_clear_pointer(&model->shares, g_free);
	free_each(g_steal_pointer(&model->shares_end), model->messages->n);
}

/* Of an edge that has lost its last pair. */
static void
forget_causes(const WpXcorrModel *model, guint32 out)
{
	for (gsize i = 0; i < model->messages->edges[out].n; i++)
		model->causes[out][i] = (WpCause){ WP_NO_EDGE, 0, 0 };
}

/* Nothing is counted yet. */
static void
clear_counts(WpXcorrModel *model)
{
	const WpMessages *messages = model->messages;
	for (guint32 i = 0; i < model->pairs->len; i++) {
		WpPair *pair = pair_at(model, i);
		memset(pair->counts, 0, pair->n_bins * sizeof *pair->counts);
	}
	for (guint32 i = 0; i < messages->n; i++) {
		model->fanout_counts[i] = (WpFanout){ { 0 }, 0 };
		model->own[i] = 0;
		memset(model->taken[i], 0, messages->edges[i].n * sizeof **model->taken);
		if (model->causes && model->first_pair[i] == model->first_pair[i + 1])
			forget_causes(model, i);
	}
}

/* No more than SILENT of them have no effect. */
static void
limit_silent(WpFanout *fanout, double silent)
{
	double others = 1 - fanout->of[0];
	if (fanout->of[0] <= silent || others <= 0)
		return;
	for (int k = 1; k <= WP_MAX_EFFECTS; k++)
		fanout->of[k] *= (1 - silent) / others;
	fanout->of[0] = silent;
}

/* Effects of messages that have MEAN of them. */
static WpFanout
guess_fanout(double mean)
{
	WpFanout guess = { { 0 }, 0 };
	double capped = MIN(mean, WP_MAX_EFFECTS), poisson = 1, sum = 0;
	int whole = (int)capped;
	for (int k = 0; k <= WP_MAX_EFFECTS; k++) {
		sum += guess.of[k] = poisson;
		poisson *= mean / (k + 1);
	}
	for (int k = 0; k <= WP_MAX_EFFECTS; k++)
		guess.of[k] *= GUESS_POISSON / sum;
	guess.of[whole] += (1 - GUESS_POISSON) * (1 - (capped - whole));
	if (whole < WP_MAX_EFFECTS)
		guess.of[whole + 1] += (1 - GUESS_POISSON) * (capped - whole);
	return guess;
}

/* (transfer full) By edge: how many effects a message has on average, as far as is known. */
static double *
mean_effects(const WpXcorrModel *model)
{
	double *means = g_new0(double, MAX(model->messages->n, 1));
	for (guint32 i = 0; i < model->pairs->len; i++)
		means[pair_at(model, i)->in] += pair_at(model, i)->mass;
	return means;
}

static void
guess_fanouts(WpXcorrModel *model)
{
	g_autofree double *means = mean_effects(model);
	for (guint32 i = 0; i < model->messages->n; i++) {
		model->fanout[i] = guess_fanout(means[i]);
		limit_silent(&model->fanout[i], model->silent[i]);
	}
}

/* How many effects messages of each edge have; those that were not met have none. */
static void
learn_fanouts(WpXcorrModel *model)
{
	g_autofree double *means = mean_effects(model);
	for (guint32 i = 0; i < model->messages->n; i++) {
		const WpFanout *counts = &model->fanout_counts[i];
		gboolean is_return = model->messages->edges[i].is_return;
		double mean = is_return && means[i] > 0 ? MAX(means[i], 1) : means[i];
		WpFanout guess = guess_fanout(mean);
		double n = MAX((double)model->messages->edges[i].n, counts->n);
		double share = is_return ? GUESS_PRIOR_ANSWER : GUESS_PRIOR_SHARE;
		double prior = GUESS_PRIOR + share * n;
		for (int k = 0; k <= WP_MAX_EFFECTS; k++) {
			double met = counts->of[k] + (k ? 0 : n - counts->n);
			model->fanout[i].of[k] = (met + prior * guess.of[k]) / (n + prior);
		}
		limit_silent(&model->fanout[i], model->silent[i]);
	}
}

static void
learn_uncaused(WpXcorrModel *model)
{
	const WpMessages *messages = model->messages;
	double duration = (double)(messages->end_ns - messages->begin_ns) + 1;
	for (guint32 i = 0; i < messages->n; i++) {
		double n = (double)messages->edges[i].n;
		double own =
			model->has_cause[i] ? MIN(model->own[i], MOST_LOST * n) : model->own[i];
		if (model->first_pair[i] < model->first_pair[i + 1])
			model->uncaused[i] = MAX(own, MIN_UNCAUSED * n) / duration;
	}
}

/*
 * Forgets PAIR where it says that calls follow the answers to calls of the same edge, most of all such calls, though nothing stands
 * out there. So long rows would; what grows like that has only been left with answers that lead to nothing, and with calls
 * that are made later than others.
 */
static void
forget_long_rows(const WpXcorrModel *model, WpPair *pair)
{
	const WpEdge *in = &model->messages->edges[pair->in];
	const WpEdge *out = &model->messages->edges[pair->out];
	gboolean is_again = in->is_return && !out->is_return && in->sender == out->receiver;
	if (pair->sds <= 0 && is_again &&
	    pair->mass * (double)in->n > MOST_IN_ROWS * (double)out->n)
		pair->mass = 0;
}

static void
learn(WpXcorrModel *model, guint n_free, guint n_rounds, double min_share_last)
{
	gboolean is_settled = FALSE;
	for (guint round = 0; round < n_rounds && !wp_xcorr_is_stopped(model); round++) {
		gboolean is_last = is_settled || round + 1 == n_rounds;
		clear_counts(model);
		wp_xcorr_match(model);
		/* What a round has not come to is no less likely for that. */
		if (wp_xcorr_is_stopped(model))
			return;
		learn_uncaused(model);
		double change = 0;
		for (guint32 i = 0; i < model->pairs->len; i++) {
			double of_one = learn_density(model, pair_at(model, i));
			change = MAX(change, of_one);
			forget_long_rows(model, pair_at(model, i));
		}
		drop_pairs(model, is_last ? min_share_last : MIN_SHARE);
		if (is_last)
			return;
		model->is_free = round < n_free;
		if (round > n_free)
			learn_fanouts(model);
		else if (round == n_free)
			guess_fanouts(model);
		is_settled = round >= N_ROUNDS_LEAST && change < SETTLED;
		if (round >= FIRST_EFFECTS && round % EACH_EFFECTS == 0)
			wp_xcorr_supersede(model);
	}
}

/* A last round, of which all shares are kept. */
static void
match_for_good(WpXcorrModel *model)
{
	const WpMessages *messages = model->messages;
	model->shares = g_new(GArray *, MAX(messages->n, 1));
	model->shares_end = g_new0(guint32 *, MAX(messages->n, 1));
	for (guint32 i = 0; i < messages->n; i++) {
		model->shares[i] = g_array_new(FALSE, FALSE, sizeof(WpShare));
		if (model->first_pair[i] < model->first_pair[i + 1])
			model->shares_end[i] = g_new0(guint32, messages->edges[i].n);
	}
	clear_counts(model);
	wp_xcorr_match(model);
}

/* TAIL of what pairs cause comes up to TAIL_REACH times later than what stood out. */
static void
add_tails(const WpXcorrModel *model)
{
	const WpMessages *messages = model->messages;
	double duration = (double)(messages->end_ns - messages->begin_ns) + 1;
	for (guint32 p = 0; p < model->pairs->len; p++) {
		WpPair *pair = pair_at(model, p);
		double most = TAIL_CANDIDATES * duration / (double)messages->edges[pair->in].n;
		gint64 reach = (gint64)MIN(TAIL_REACH * (double)pair->max_ns, most);
		reach = MIN(reach, model->max_lag_ns);
		guint32 begin = MIN(wp_lag_bin(pair->max_ns / TAIL_BEFORE), pair->begin);
		guint32 end = MAX(wp_lag_bin(MAX(reach, 0)) + 1, pair->begin + pair->n_bins);
		double *wider = g_new(double, end - begin);
		for (guint32 i = 0; i < end - begin; i++)
			wider[i] =
				TAIL * pair->mass / (end - begin) / (double)wp_lag_width(begin + i);
		for (guint32 i = 0; i < pair->n_bins; i++)
			wider[pair->begin + i - begin] += pair->density[i];
		clear_pair(pair);
		pair->density = wider;
		pair->begin = begin;
		pair->n_bins = end - begin;
	}
}

void
wp_xcorr_learn_causes(WpXcorrModel *model)
{
	prepare(model);
	add_tails(model);
	index_pairs(model);
	model->is_free = TRUE;
	learn(model, N_ROUNDS_FREE, N_ROUNDS_FIRST, MIN_SHARE);
	wp_xcorr_look_at_rest(model);
	index_pairs(model);
	wp_xcorr_eliminate(model);
	index_pairs(model);
	/* Of edges that had no pairs it was learned that they have no effects. */
	model->is_free = FALSE;
	guess_fanouts(model);
	learn(model, 0, N_ROUNDS, MIN_SHARE_LAST);
	clear_causes(model);
	match_for_good(model);
	clear_effects(model);
}

void
wp_xcorr_model_init(WpXcorrModel *model, const WpMessages *messages, const guint8 *is_root,
		    const WpXcorrOptions *options, WpStopFunc stop)
{
	gint64 duration = messages->end_ns - messages->begin_ns;
	*model = (WpXcorrModel){ .messages = messages,
				 .tick_ns = wp_messages_tick(messages),
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
	clear_effects(model);
	clear_shares(model);
	g_clear_pointer(&model->pairs, g_array_unref);
	g_clear_pointer(&model->first_pair, g_free);
	g_clear_pointer(&model->uncaused, g_free);
	g_clear_pointer(&model->own, g_free);
	g_clear_pointer(&model->has_cause, g_free);
	g_clear_pointer(&model->silent, g_free);
	g_clear_pointer(&model->fanout, g_free);
	g_clear_pointer(&model->fanout_counts, g_free);
}
