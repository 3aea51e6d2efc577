/*
 * Messages out of a host matched with messages into it. As intensities that add up (xcorr-causes.c) each message
 * into a node could have any number of effects, and where some requests are in flight what one of them sets off
 * is as well explained by all the others. But programs do one thing after the other: most messages have one effect,
 * and what is known to be the effect of one is not that of another:
 *
 *      in     a     b               b -> y is sure, so x is a's, though b
 *      out          | x  y          comes before it as closely
 *
 * So how many effects a message of an edge has is learned, too (WpXcorrModel.fanout), and with it each message out is given
 * to one cause or none by belief propagation: messages between the two ends of each possible link until they agree. For
 * one effect each this is the approximation of Williams and Lau, "Approximate evaluation of marginal association
 * probabilities with belief propagation" (IEEE Trans. Aerospace and Electronic Systems 2014); for several, the
 * factor of a message in is a sum over how many there are of products over which (elementary symmetric polynomials).
 * Where fanout is a Poisson distribution it is the Hawkes process again.
 *
 * Time is cut in pieces, so that memory does not grow with it: what earlier pieces have given to a message is taken.
 */
#include "infer/xcorr-match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A piece of time ends with so many messages out, or possible links. */
#define PIECE_MESSAGES 4096
#define PIECE_LINKS    (1u << 18)

/* Rounds of messages at most; what is told changes by more, or is no news: they settle within a few links around. */
#define N_ROUNDS   8
#define LEAST_NEWS 0.002f

/* A link that would make so little of its message out, were there only those of this message, is none. */
#define LEAST_PART 3e-4

/* Causes less likely than this are left out of what is kept. */
#define LEAST_SHARE (1.0 / 256)

/* What is taken of a message is never all of it. */
#define MOST_TAKEN 0.99

typedef struct {
	gint64 time_ns;
	guint32 edge;
	guint32 at;
} Leaving;

/* A possible cause of a message out. */
typedef struct {
	guint32 pair;
	guint32 bin;
	guint32 at;   /* message of the pair's IN */
	guint32 out;  /* message out, in this piece */
	guint32 in;   /* its number in this piece */
	float weight; /* intensity, as a multiple of that of having no cause */
	float to_out; /* what the message in says of it */
	float to_in;  /* and the message out */
} Link;

typedef struct {
	guint32 edge;
	guint32 at;
} Arrived;

typedef struct {
	double of[WP_MAX_EFFECTS + 1];
} Polynomial;

typedef struct {
	WpXcorrModel *model;
	GArray *links;      /* Link, by message out */
	GArray *first_link; /* guint32: by message out, one more */
	guint32 *by_in;     /* links, by message in */
	guint32 *first_of_in;
	GArray *arrived;     /* Arrived: messages in of this piece */
	GArray *polynomials; /* of the links of a message in before each */
	gsize *low;          /* by pair: how far gather() has come */
	guint32 *numbers;    /* by edge: of its first message in this piece */
	gsize *firsts;       /* by edge */
	gsize *ends;
	guint8 *is_in_awake; /* by message in: it was told news */
	guint8 *is_out_awake;
	double *intensities; /* by edge: messages that one causes if it has all the time for it */
} Matcher;

static WpPair *
pair_at(const WpXcorrModel *model, guint32 i)
{
	return &g_array_index(model->pairs, WpPair, i);
}

static Link *
link_at(const Matcher *matcher, guint32 i)
{
	return &g_array_index(matcher->links, Link, i);
}

/* Drops those of the links from FIRST on that are as good as none: their messages out have SUM to share. */
static void
prune(Matcher *matcher, guint32 first, double sum)
{
	guint32 n = first;
	for (guint32 i = first; i < matcher->links->len; i++)
		if ((double)link_at(matcher, i)->weight >= LEAST_PART * sum)
			*link_at(matcher, n++) = *link_at(matcher, i);
	g_array_set_size(matcher->links, n);
}

/* Links of a message that leaves; LOW (by pair) only moves on. */
static void
gather(Matcher *matcher, const Leaving *leaving)
{
	const WpXcorrModel *model = matcher->model;
	guint32 out = matcher->first_link->len - 1, first = matcher->links->len;
	double own = model->uncaused[leaving->edge], sum = 1;
	for (guint32 p = model->first_pair[leaving->edge]; p < model->first_pair[leaving->edge + 1];
	     p++) {
		const WpPair *pair = pair_at(model, p);
		const WpEdge *in = &model->messages->edges[pair->in];
		gsize *from = &matcher->low[p];
		gint64 time = leaving->time_ns;
		while (*from < in->n && in->times_ns[*from] < time - pair->max_ns)
			(*from)++;
		for (gsize i = *from; i < in->n && time - in->times_ns[i] >= pair->min_ns; i++) {
			gint64 lag = time - in->times_ns[i];
			guint32 bin = wp_lag_bin(lag) - pair->begin;
			double weight = pair->density[bin] / own *
					wp_xcorr_effect_left(model, pair->in, i, lag);
			if (weight < LEAST_PART * sum)
				continue;
			sum += weight;
			Link one = { p, bin, (guint32)i, out, 0, (float)weight, 0, 1 };
			g_array_append_val(matcher->links, one);
		}
	}
	prune(matcher, first, sum);
}

/* Numbers the messages in of this piece, and lists their links. */
static void
index_arrived(Matcher *matcher)
{
	const WpXcorrModel *model = matcher->model;
	g_array_set_size(matcher->arrived, 0);
	for (guint32 i = 0; i < matcher->links->len; i++) {
		const Link *link = link_at(matcher, i);
		guint32 edge = pair_at(model, link->pair)->in;
		if (matcher->ends[edge] == 0)
			matcher->firsts[edge] = link->at;
		matcher->firsts[edge] = MIN(matcher->firsts[edge], link->at);
		matcher->ends[edge] = MAX(matcher->ends[edge], (gsize)link->at + 1);
	}
	for (guint32 i = 0; i < matcher->links->len; i++) {
		Link *link = link_at(matcher, i);
		guint32 edge = pair_at(model, link->pair)->in;
		if (matcher->ends[edge]) {
			matcher->numbers[edge] = matcher->arrived->len;
			for (gsize at = matcher->firsts[edge]; at < matcher->ends[edge]; at++) {
				Arrived one = { edge, (guint32)at };
				g_array_append_val(matcher->arrived, one);
			}
			matcher->ends[edge] = 0;
		}
		link->in = matcher->numbers[edge] + (guint32)(link->at - matcher->firsts[edge]);
	}
	guint32 n = matcher->arrived->len;
	matcher->first_of_in = g_renew(guint32, matcher->first_of_in, n + 2);
	memset(matcher->first_of_in, 0, (n + 2) * sizeof *matcher->first_of_in);
	matcher->by_in = g_renew(guint32, matcher->by_in, MAX(matcher->links->len, 1));
	for (guint32 i = 0; i < matcher->links->len; i++)
		matcher->first_of_in[link_at(matcher, i)->in + 2]++;
	for (guint32 i = 2; i < n + 2; i++)
		matcher->first_of_in[i] += matcher->first_of_in[i - 1];
	for (guint32 i = 0; i < matcher->links->len; i++)
		matcher->by_in[matcher->first_of_in[link_at(matcher, i)->in + 1]++] = i;
}

/* (1 + RATIO x) times a polynomial, its higher powers left out. */
static void
multiply(Polynomial *to, double ratio)
{
	for (int k = WP_MAX_EFFECTS; k > 0; k--)
		to->of[k] += ratio * to->of[k - 1];
}

/* Weights of so many effects of a message of EDGE, its intensities being as they are. */
static void
weigh_effects(const Matcher *matcher, guint32 edge, double *out_weights)
{
	double factor = 1;
	for (int k = 0; k <= WP_MAX_EFFECTS; k++) {
		out_weights[k] = matcher->model->fanout[edge].of[k] * factor;
		factor *= (k + 1) / MAX(matcher->intensities[edge], 1e-9);
	}
}

/* What earlier pieces have taken of a message, as the ratio of one more link. */
static double
taken_ratio(const WpXcorrModel *model, const Arrived *arrived)
{
	double taken = model->taken[arrived->edge][arrived->at] / WP_ALL_TAKEN;
	taken = MIN(taken, MOST_TAKEN);
	return taken / (1 - taken);
}

/* What message I in says of each of its links, from what the messages out say; wakes those to which it is news. */
static void
tell_out(Matcher *matcher, guint32 i)
{
	const Arrived *arrived = &g_array_index(matcher->arrived, Arrived, i);
	guint32 first = matcher->first_of_in[i], n = matcher->first_of_in[i + 1] - first;
	double right[WP_MAX_EFFECTS + 1]; /* weights, summed over what follows */
	Polynomial all = { { 1 } };
	weigh_effects(matcher, arrived->edge, right);
	multiply(&all, taken_ratio(matcher->model, arrived));
	g_array_set_size(matcher->polynomials, n);
	for (guint32 k = 0; k < n; k++) {
		const Link *link = link_at(matcher, matcher->by_in[first + k]);
		g_array_index(matcher->polynomials, Polynomial, k) = all;
		multiply(&all, (double)link->weight * (double)link->to_in);
	}
	for (guint32 k = n; k-- > 0;) {
		Link *link = link_at(matcher, matcher->by_in[first + k]);
		const Polynomial *before = &g_array_index(matcher->polynomials, Polynomial, k);
		double ratio = (double)link->weight * (double)link->to_in;
		double without = before->of[WP_MAX_EFFECTS] * right[WP_MAX_EFFECTS], with = 0;
		for (int a = 0; a < WP_MAX_EFFECTS; a++) {
			without += before->of[a] * right[a];
			with += before->of[a] * right[a + 1];
		}
		float told = (float)((double)link->weight * with / MAX(without, 1e-300));
		/* As a share of the message out, were there no other link of it. */
		double news = fabs((double)told - (double)link->to_out) /
			      ((1 + (double)told) * (1 + (double)link->to_out));
		if (news > (double)LEAST_NEWS)
			matcher->is_out_awake[link->out] = 1;
		link->to_out = told;
		for (int a = 0; a < WP_MAX_EFFECTS; a++)
			right[a] += ratio * right[a + 1];
	}
}

/* What message J out says of its links; wakes the messages in to which it is news. */
static void
tell_in(Matcher *matcher, guint32 j)
{
	guint32 from = g_array_index(matcher->first_link, guint32, j);
	guint32 to = g_array_index(matcher->first_link, guint32, j + 1);
	double sum = 1;
	for (guint32 i = from; i < to; i++)
		sum += (double)link_at(matcher, i)->to_out;
	for (guint32 i = from; i < to; i++) {
		Link *link = link_at(matcher, i);
		float told = (float)(1 / MAX(sum - (double)link->to_out, 1));
		if (fabsf(told - link->to_in) > LEAST_NEWS * link->to_in) {
			link->to_in = told;
			matcher->is_in_awake[link->in] = 1;
		}
	}
}

/* Messages between messages, until there are no news. */
static void
settle(Matcher *matcher)
{
	guint32 n_in = matcher->arrived->len, n_out = matcher->first_link->len - 1;
	matcher->is_in_awake = g_realloc(matcher->is_in_awake, MAX(n_in, 1));
	matcher->is_out_awake = g_realloc(matcher->is_out_awake, MAX(n_out, 1));
	memset(matcher->is_in_awake, 1, n_in);
	gboolean is_awake = TRUE;
	for (int round = 0; round < N_ROUNDS && is_awake; round++) {
		memset(matcher->is_out_awake, 0, n_out);
		for (guint32 i = 0; i < n_in; i++)
			if (matcher->is_in_awake[i])
				tell_out(matcher, i);
		is_awake = round + 1 < N_ROUNDS && memchr(matcher->is_out_awake, 1, n_out);
		memset(matcher->is_in_awake, 0, n_in);
		for (guint32 j = 0; is_awake && j < n_out; j++)
			if (matcher->is_out_awake[j])
				tell_in(matcher, j);
	}
}

/* Counts how many effects message I in had. */
static void
count_effects(Matcher *matcher, guint32 i)
{
	const Arrived *arrived = &g_array_index(matcher->arrived, Arrived, i);
	double weights[WP_MAX_EFFECTS + 1], sum = 0;
	Polynomial all = { { 1 } };
	weigh_effects(matcher, arrived->edge, weights);
	multiply(&all, taken_ratio(matcher->model, arrived));
	for (guint32 k = matcher->first_of_in[i]; k < matcher->first_of_in[i + 1]; k++) {
		const Link *link = link_at(matcher, matcher->by_in[k]);
		multiply(&all, (double)link->weight * (double)link->to_in);
	}
	for (int k = 0; k <= WP_MAX_EFFECTS; k++)
		sum += weights[k] *= all.of[k];
	WpFanout *counts = &matcher->model->fanout_counts[arrived->edge];
	if (sum <= 0)
		return;
	for (int k = 0; k <= WP_MAX_EFFECTS; k++)
		counts->of[k] += weights[k] / sum;
	counts->n++;
}

/* Keeps the shares of the links FROM .. TO - 1 of a message out, whose weights make SUM. */
static void
keep_shares(Matcher *matcher, const Leaving *leaving, guint32 from, guint32 to, double sum)
{
	WpXcorrModel *model = matcher->model;
	GArray *shares = model->shares[leaving->edge];
	double kept = 0;
	for (guint32 i = from; i < to; i++)
		if ((double)link_at(matcher, i)->to_out >= LEAST_SHARE * sum)
			kept += (double)link_at(matcher, i)->to_out;
	for (guint32 i = from; i < to; i++) {
		const Link *link = link_at(matcher, i);
		if ((double)link->to_out < LEAST_SHARE * sum)
			continue;
		/* What is left out goes to the others: it is no sign of there being no cause. */
		double share = (double)link->to_out / kept * (1 - 1 / sum);
		WpShare one = { link->pair, link->at, (float)share };
		g_array_append_val(shares, one);
	}
	model->shares_end[leaving->edge][leaving->at] = shares->len;
}

/* The shares of the links of message J out, taken into the model. */
static void
share_out(Matcher *matcher, const Leaving *leaving, guint32 j)
{
	WpXcorrModel *model = matcher->model;
	guint32 from = g_array_index(matcher->first_link, guint32, j);
	guint32 to = g_array_index(matcher->first_link, guint32, j + 1);
	double sum = 1;
	for (guint32 i = from; i < to; i++)
		sum += (double)link_at(matcher, i)->to_out;
	model->own[leaving->edge] += 1 / sum;
	WpCause likeliest = { WP_NO_EDGE, 0, (float)(1 / sum) };
	for (guint32 i = from; i < to; i++) {
		const Link *link = link_at(matcher, i);
		WpPair *pair = pair_at(model, link->pair);
		double share = (double)link->to_out / sum;
		pair->counts[link->bin] += share;
		guint16 *taken = &model->taken[pair->in][link->at];
		*taken = (guint16)MIN(*taken + share * WP_ALL_TAKEN + 0.5, WP_ALL_TAKEN);
		if (share > (double)likeliest.share)
			likeliest = (WpCause){ pair->in, link->at, (float)share };
	}
	if (model->causes)
		model->causes[leaving->edge][leaving->at] = likeliest;
	if (model->shares)
		keep_shares(matcher, leaving, from, to, sum);
}

static void
match_piece(Matcher *matcher, const Leaving *leaving)
{
	guint32 n = matcher->first_link->len - 1;
	if (matcher->model->is_free) {
		/* No message in has anything to say: of any number of effects, one more is as likely. */
		for (guint32 i = 0; i < matcher->links->len; i++)
			link_at(matcher, i)->to_out = link_at(matcher, i)->weight;
	} else {
		index_arrived(matcher);
		settle(matcher);
		for (guint32 i = 0; i < matcher->arrived->len; i++)
			count_effects(matcher, i);
	}
	for (guint32 j = 0; j < n; j++)
		share_out(matcher, &leaving[j], j);
}

static int
compare_leaving(const void *a, const void *b)
{
	const Leaving *left = a, *right = b;
	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	if (left->edge != right->edge)
		return left->edge < right->edge ? -1 : 1;
	return (left->at > right->at) - (left->at < right->at);
}

static gboolean
is_leaving(const WpXcorrModel *model, guint32 edge, guint32 host)
{
	return model->messages->edges[edge].sender_host == host &&
	       model->first_pair[edge] < model->first_pair[edge + 1];
}

/* (transfer full) Messages that leave HOST, of edges with pairs. */
static GArray *
list_leaving(const WpXcorrModel *model, guint32 host)
{
	const WpMessages *messages = model->messages;
	guint32 n_edges = 0;
	gsize n = 0;
	for (guint32 i = 0; i < messages->n; i++)
		if (is_leaving(model, i, host)) {
			n_edges++;
			n += messages->edges[i].n;
		}
	/* All at once: grown by and by it would take twice the room. */
	GArray *all = g_array_sized_new(FALSE, FALSE, sizeof(Leaving), (guint)n);
	for (guint32 i = 0; i < messages->n; i++)
		for (gsize k = 0; is_leaving(model, i, host) && k < messages->edges[i].n; k++) {
			Leaving one = { messages->edges[i].times_ns[k], i, (guint32)k };
			g_array_append_val(all, one);
		}
	if (n_edges > 1)
		qsort(all->data, all->len, sizeof(Leaving), compare_leaving);
	return all;
}

static void
match_host(Matcher *matcher, guint32 host)
{
	g_autoptr(GArray) all = list_leaving(matcher->model, host);
	for (guint32 begin = 0, end; begin < all->len; begin = end) {
		if (wp_xcorr_is_stopped(matcher->model))
			return;
		g_array_set_size(matcher->links, 0);
		g_array_set_size(matcher->first_link, 0);
		for (end = begin; end < all->len && end - begin < PIECE_MESSAGES &&
				  matcher->links->len < PIECE_LINKS;
		     end++) {
			g_array_append_val(matcher->first_link, matcher->links->len);
			gather(matcher, &g_array_index(all, Leaving, end));
		}
		g_array_append_val(matcher->first_link, matcher->links->len);
		match_piece(matcher, &g_array_index(all, Leaving, begin));
	}
}

static double
integral_of(const WpPair *pair)
{
	double sum = 0;
	for (guint32 i = 0; i < pair->n_bins; i++)
		sum += pair->density[i] * (double)wp_lag_width(pair->begin + i);
	return sum;
}

static void
matcher_init(Matcher *matcher, WpXcorrModel *model)
{
	guint32 n = MAX(model->messages->n, 1);
	*matcher = (Matcher){
		.model = model,
		.links = g_array_new(FALSE, FALSE, sizeof(Link)),
		.first_link = g_array_new(FALSE, FALSE, sizeof(guint32)),
		.arrived = g_array_new(FALSE, FALSE, sizeof(Arrived)),
		.polynomials = g_array_new(FALSE, FALSE, sizeof(Polynomial)),
		.low = g_new0(gsize, MAX(model->pairs->len, 1)),
		.numbers = g_new0(guint32, n),
		.firsts = g_new0(gsize, n),
		.ends = g_new0(gsize, n),
		.intensities = g_new0(double, n),
	};
	for (guint32 i = 0; i < model->pairs->len; i++)
		matcher->intensities[pair_at(model, i)->in] += integral_of(pair_at(model, i));
}

static void
matcher_clear(Matcher *matcher)
{
	g_array_unref(matcher->links);
	g_array_unref(matcher->first_link);
	g_array_unref(matcher->arrived);
	g_array_unref(matcher->polynomials);
	g_free(matcher->by_in);
	g_free(matcher->first_of_in);
	g_free(matcher->low);
	g_free(matcher->numbers);
	g_free(matcher->firsts);
	g_free(matcher->ends);
	g_free(matcher->intensities);
	g_free(matcher->is_in_awake);
	g_free(matcher->is_out_awake);
}

static int
compare_numbers(const void *a, const void *b)
{
	guint32 left = *(const guint32 *)a, right = *(const guint32 *)b;
	return (left > right) - (left < right);
}

void
wp_xcorr_match(WpXcorrModel *model)
{
	const WpMessages *messages = model->messages;
	g_autofree guint32 *hosts = g_new(guint32, MAX(messages->n, 1));
	guint32 n = 0;
	Matcher matcher;
	matcher_init(&matcher, model);
	for (guint32 i = 0; i < messages->n; i++)
		if (model->first_pair[i] < model->first_pair[i + 1])
			hosts[n++] = messages->edges[i].sender_host;
	if (n)
		qsort(hosts, n, sizeof *hosts, compare_numbers);
	for (guint32 i = 0; i < n && !wp_xcorr_is_stopped(model); i++)
		if (!i || hosts[i] != hosts[i - 1])
			match_host(&matcher, hosts[i]);
	matcher_clear(&matcher);
}
