/*
 * What is left over once messages have been given to causes: found in two ways.
 *
 * A second look: messages that are no likely cause of any are correlated with those without a cause. What a frequent
 * pair drowned stands out among these.
 *
 * Elimination: in a busy host delays are longer than the time from one message to the next, and nothing of a pair
 * stands out. But where calls are answered, an answer has a cause, whether it was found or not, and one of few: the
 * messages into its host. So pairs that did not stand out are tried as well, with what the others leave over on
 * either side, and no lag before the other; what they explain no better than the others goes to 0 as it is learned
 * (xcorr-causes.c).
 *
 *      into the host     a a a a . .        in found pairs: a's            left: .
 *      out of it         x x x . . .        x's, each of an a              left: .
 *
 * Where nothing is answered, messages may well go nowhere and come of themselves: nothing is eliminated there.
 */
#include "infer/xcorr-model.h"

/* Left over is at least so much: what was learned without the others has taken some of theirs. */
#define LEAST_LEFT 0.02

/* Messages of an edge, and of what a pair would explain; else it is not tried. */
#define MIN_MESSAGES 12
#define MIN_EXPECTED 2

/* Of calls without a known cause, so many may have been begun by others that are left over: one for ten in a row. */
#define LEAST_BEGUN 0.1

/* Of the answers of a host, so many are without a cause where there are delays longer than those found there. */
#define MANY_LEFT 0.1

/* Lags beyond those found at the host have so many messages in them at most, as each is a candidate. */
#define MOST_CANDIDATES 100

/* Pairs of a host that are tried; of more, none: each costs as much as one that was found. */
#define MAX_TRIED 1024

/* Lags tried: from this part of the longest lag on, all time scales alike. */
#define LEAST_LAG 300

static WpPair *
pair_at(const WpXcorrModel *model, guint32 i)
{
	return &g_array_index(model->pairs, WpPair, i);
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

void
wp_xcorr_look_at_rest(WpXcorrModel *model)
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
	free_edges(ins, messages->n);
	free_edges(outs, messages->n);
	for (guint32 i = 0; i < messages->n; i++) {
		g_free(effects[i]);
		g_free(caused[i]);
	}
}

/* --- elimination --- */

/* What is left over at a host. */
typedef struct {
	guint32 host;
	guint32 n_ins;
	guint32 n_outs;
	double without_effect;
	double without_cause;
	gint64 found_ns; /* longest lag of the pairs found */
	gint64 reach_ns; /* lags that are tried */
	gboolean answers;
} Rest;

/* Messages of EDGE without an effect. */
static double
without_effect(const WpXcorrModel *model, guint32 edge)
{
	double busy = 0;
	for (guint32 i = 0; i < model->pairs->len; i++)
		if (pair_at(model, i)->in == edge)
			busy += pair_at(model, i)->mass;
	return MAX(LEAST_LEFT, 1 - busy) * (double)model->messages->edges[edge].n;
}

static double
without_cause(const WpXcorrModel *model, guint32 edge)
{
	double n = (double)model->messages->edges[edge].n;
	gboolean has_pairs = model->first_pair[edge] < model->first_pair[edge + 1];
	return has_pairs ? CLAMP(model->own[edge], LEAST_LEFT * n, n) : n;
}

static Rest
rest_of(const WpXcorrModel *model, guint32 host, const double *left_in)
{
	Rest rest = { .host = host };
	double answers = 0, left = 0;
	for (guint32 i = 0; i < model->messages->n; i++) {
		const WpEdge *edge = &model->messages->edges[i];
		if (edge->receiver_host == host) {
			rest.n_ins++;
			rest.without_effect += left_in[i];
		}
		if (edge->sender_host != host)
			continue;
		rest.n_outs++;
		rest.answers |= edge->is_return;
		rest.without_cause += without_cause(model, i);
		answers += edge->is_return ? (double)edge->n : 0;
		left += edge->is_return ? without_cause(model, i) : 0;
		for (guint32 p = model->first_pair[i]; p < model->first_pair[i + 1]; p++)
			rest.found_ns = MAX(rest.found_ns, pair_at(model, p)->max_ns);
	}
	if (!rest.found_ns)
		rest.found_ns = model->max_lag_ns;
	/* Else what was found at the host are not all of its delays. */
	rest.reach_ns = left > MANY_LEFT * answers ? model->max_lag_ns : rest.found_ns;
	return rest;
}

static WpPair *
find_known(const WpXcorrModel *model, guint32 in, guint32 out)
{
	for (guint32 p = model->first_pair[out]; p < model->first_pair[out + 1]; p++)
		if (pair_at(model, p)->in == in)
			return pair_at(model, p);
	return NULL;
}

/* An answer comes of the call of the one who gets it, or of what came back for it: never of another's call. */
static gboolean
is_possible(const WpEdge *in, const WpEdge *out)
{
	return in->n >= MIN_MESSAGES && out->n >= MIN_MESSAGES &&
	       (in->is_return || !out->is_return || in->sender == out->receiver);
}

/*
 * Calls come to the host and messages leave it like clocks of the same period: whether those begin these cannot be told, and
 * that nothing else is left does not tell it.
 */
static gboolean
is_beat_of_calls(const WpXcorrModel *model, const Rest *rest, guint32 out)
{
	const WpMessages *messages = model->messages;
	for (guint32 i = 0; i < messages->n; i++) {
		const WpEdge *in = &messages->edges[i];
		if (in->receiver_host == rest->host && !in->is_return &&
		    wp_xcorr_is_clockwork(in, &messages->edges[out], 0, rest->reach_ns))
			return TRUE;
	}
	return FALSE;
}

/* How many of the calls that ANSWERS answer have causes that are known. */
static double
share_caused(const WpXcorrModel *model, const WpEdge *answers)
{
	double n = 0, caused = 0;
	for (guint32 i = 0; i < model->messages->n; i++) {
		const WpEdge *calls = &model->messages->edges[i];
		if (calls->sender_host != answers->receiver_host ||
		    calls->receiver_host != answers->sender_host || calls->is_return)
			continue;
		n += (double)calls->n;
		caused += (double)calls->n - without_cause(model, i);
	}
	return n > 0 ? MAX(caused, 0) / n : 0;
}

/*
 * Calls are not eliminated down to answers to themselves: a program that asks another every second does so of its own
 * accord. Something else has to be left over that may have begun them: calls, or answers to calls that have causes.
 */
static gboolean
may_be_begun(const WpXcorrModel *model, const Rest *rest, guint32 out, const double *left_in)
{
	const WpMessages *messages = model->messages;
	double left = 0;
	if (messages->edges[out].is_return)
		return TRUE;
	for (guint32 i = 0; i < messages->n; i++) {
		const WpEdge *in = &messages->edges[i];
		if (in->receiver_host == rest->host)
			left += left_in[i] * (in->is_return ? share_caused(model, in) : 1);
	}
	return left >= LEAST_BEGUN * without_cause(model, out);
}

/* MASS, spread over all lags of the host, evenly in log time. (transfer full) */
static WpPair
pair_of_any_lag(guint32 in, guint32 out, double mass, gint64 reach_ns)
{
	WpPair pair = { .in = in, .out = out, .mass = mass };
	pair.begin = wp_lag_bin(reach_ns / LEAST_LAG);
	pair.n_bins = wp_lag_bin(reach_ns) - pair.begin + 1;
	pair.density = g_new(double, pair.n_bins);
	for (guint32 i = 0; i < pair.n_bins; i++)
		pair.density[i] = mass / pair.n_bins / (double)wp_lag_width(pair.begin + i);
	return pair;
}

/* PAIR may have the lags of FROM, too. */
static void
widen(WpPair *pair, const WpPair *from)
{
	guint32 begin = MIN(pair->begin, from->begin);
	guint32 end = MAX(pair->begin + pair->n_bins, from->begin + from->n_bins);
	double *wider = g_new0(double, end - begin);
	for (guint32 i = 0; i < pair->n_bins; i++)
		wider[pair->begin + i - begin] += pair->density[i];
	for (guint32 i = 0; i < from->n_bins; i++)
		wider[from->begin + i - begin] += from->density[i];
	g_free(pair->density);
	g_clear_pointer(&pair->counts, g_free);
	pair->density = wider;
	pair->begin = begin;
	pair->n_bins = end - begin;
	pair->mass += from->mass;
}

/* Lags tried for messages of IN. */
static gint64
reach_of(const WpXcorrModel *model, const Rest *rest, const WpEdge *in)
{
	const WpMessages *messages = model->messages;
	double duration = (double)(messages->end_ns - messages->begin_ns) + 1;
	gint64 most = (gint64)(MOST_CANDIDATES * duration / (double)in->n);
	return MAX(MIN(rest->reach_ns, most), rest->found_ns);
}

static void
eliminate_at(const WpXcorrModel *model, const Rest *rest, guint32 out, const double *left_in,
	     GArray *found)
{
	const WpMessages *messages = model->messages;
	double all = MAX(rest->without_effect, rest->without_cause);
	if (!may_be_begun(model, rest, out, left_in) || is_beat_of_calls(model, rest, out))
		return;
	model->has_cause[out] = messages->edges[out].is_return;
	for (guint32 i = 0; i < messages->n; i++) {
		const WpEdge *in = &messages->edges[i];
		if (in->receiver_host != rest->host || !is_possible(in, &messages->edges[out]))
			continue;
		double expected = left_in[i] * without_cause(model, out) / all;
		if (expected < MIN_EXPECTED)
			continue;
		WpPair pair = pair_of_any_lag(i, out, expected / (double)in->n,
					      reach_of(model, rest, in));
		WpPair *known = find_known(model, i, out);
		if (known) {
			widen(known, &pair);
			g_free(pair.density);
		} else {
			g_array_append_val(found, pair);
		}
	}
}

void
wp_xcorr_eliminate(WpXcorrModel *model)
{
	const WpMessages *messages = model->messages;
	g_autoptr(GArray) found = g_array_new(FALSE, FALSE, sizeof(WpPair));
	g_autofree double *left_in = g_new(double, MAX(messages->n, 1));
	for (guint32 i = 0; i < messages->n; i++)
		left_in[i] = without_effect(model, i);
	for (guint32 i = 0; i < messages->n && !wp_xcorr_is_stopped(model); i++) {
		if (model->is_root[messages->edges[i].sender])
			continue;
		Rest rest = rest_of(model, messages->edges[i].sender_host, left_in);
		if (rest.answers && (guint64)rest.n_ins * rest.n_outs <= MAX_TRIED)
			eliminate_at(model, &rest, i, left_in, found);
	}
	if (found->len)
		g_array_append_vals(model->pairs, found->data, found->len);
	wp_xcorr_sort_pairs(model);
}
