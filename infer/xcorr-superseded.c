/*
 * Messages that have had their effect. What follows a message into a node is caused by it only until something
 * that it set off comes back there; from then on that is the cause, as the node has been waiting for it:
 *
 *      m: A->B ...... B->C ...... C->B: r ...... B->A       B->A comes of r, not of m, though it follows
 *                                                           both as surely
 *
 * So where A->B->C->B->A explains the messages, A->B->A is not found beside it. And of several that come back
 * (calls that were made side by side), the last one: before it the node could not go on.
 *
 * What set off what is known only as likely, message by message: the likeliest cause of each, and how likely
 * the whole chain is; by as much the earlier message counts less.
 *
 * Later effects are then those of the messages that may still have some; a density that counted all messages would be too
 * low for these, and what they cause would be given to others, or to none.
 */
#include "infer/xcorr-model.h"

/* Chains longer or less likely than this say nothing. */
#define MAX_STEPS 64
#define MIN_ODDS  0.3

/* How much is believed of it: a node may also go on by itself, and beside others. */
#define BELIEF         0.999
#define BELIEF_SIBLING 0.9

/* A later finding replaces an earlier time where it is so much surer. */
#define MUCH_SURER 0.3

/* Of fewer than this part of the messages little is known. */
#define LEAST_LEFT 0.05

static void
supersede(WpEffect *effect, double lag_ns, double odds)
{
	gboolean is_earlier = lag_ns < effect->until_ns && odds > effect->odds - MUCH_SURER;
	if (is_earlier || odds > effect->odds + MUCH_SURER) {
		effect->until_ns = (float)lag_ns;
		effect->odds = (float)odds;
	}
}

/* The message that set off what now comes back to its node as message AT of EDGE. */
static const WpCause *
find_origin(const WpXcorrModel *model, guint32 edge, gsize at, double *out_odds)
{
	guint32 host = model->messages->edges[edge].receiver_host;
	const WpCause *cause = &model->causes[edge][at];
	double odds = 1;
	for (int step = 0; step < MAX_STEPS && cause->edge != WP_NO_EDGE; step++) {
		odds *= (double)cause->share;
		if (odds < MIN_ODDS)
			return NULL;
		if (model->messages->edges[cause->edge].receiver_host == host) {
			*out_odds = odds;
			return cause;
		}
		cause = &model->causes[cause->edge][cause->at];
	}
	return NULL;
}

/* R has come back for M; what came back for it before, or comes after, are siblings. */
static void
come_back(WpXcorrModel *model, WpCause **lasts, const WpCause *m, const WpCause *r, double odds)
{
	const WpMessages *messages = model->messages;
	gint64 time = messages->edges[r->edge].times_ns[r->at];
	WpEffect *effect = &model->effects[m->edge][m->at];
	gint64 begin = messages->edges[m->edge].times_ns[m->at];
	supersede(effect, (double)(time - begin), BELIEF * odds);
	WpCause *last = &lasts[m->edge][m->at];
	if (last->edge == WP_NO_EDGE) {
		*last = (WpCause){ r->edge, r->at, (float)odds };
		return;
	}
	gint64 last_time = messages->edges[last->edge].times_ns[last->at];
	WpCause earlier = time > last_time ? *last : *r, later = time > last_time ? *r : *last;
	supersede(&model->effects[earlier.edge][earlier.at], (double)ABS(time - last_time),
		  BELIEF_SIBLING * odds * (double)last->share);
	*last = (WpCause){ later.edge, later.at, (float)odds };
}

/* Which part of EDGE's messages may still have effects, by lag. */
static void
count_left(const WpXcorrModel *model, guint32 edge)
{
	double gone[WP_N_LEFT] = { 0 };
	double n = (double)model->messages->edges[edge].n, left = n;
	gboolean any = FALSE;
	for (gsize k = 0; k < model->messages->edges[edge].n; k++) {
		const WpEffect *effect = &model->effects[edge][k];
		if (effect->until_ns == G_MAXFLOAT)
			continue;
		guint32 bin = (wp_lag_bin((gint64)effect->until_ns) >> WP_LEFT_BITS) + 1;
		gone[MIN(bin, WP_N_LEFT - 1)] += (double)effect->odds;
		any = TRUE;
	}
	g_clear_pointer(&model->left[edge], g_free);
	if (!any || n < WP_LEFT_MESSAGES)
		return;
	model->left[edge] = g_new(float, WP_N_LEFT);
	for (guint32 bin = 0; bin < WP_N_LEFT; bin++) {
		left -= gone[bin];
		model->left[edge][bin] = (float)CLAMP(left / n, LEAST_LEFT, 1);
	}
}

void
wp_xcorr_supersede(WpXcorrModel *model)
{
	const WpMessages *messages = model->messages;
	/* By edge and message: what came back last. Only for as long as this takes, as it is large. */
	g_autofree WpCause **lasts = g_new(WpCause *, MAX(messages->n, 1));
	for (guint32 i = 0; i < messages->n; i++) {
		lasts[i] = g_new(WpCause, MAX(messages->edges[i].n, 1));
		for (gsize k = 0; k < messages->edges[i].n; k++) {
			model->effects[i][k] = (WpEffect){ G_MAXFLOAT, 0 };
			lasts[i][k].edge = WP_NO_EDGE;
		}
	}
	for (guint32 i = 0; i < messages->n; i++)
		for (gsize k = 0; k < messages->edges[i].n; k++) {
			double odds;
			const WpCause *origin = find_origin(model, i, k, &odds);
			const WpCause here = { i, (guint32)k, 1 };
			if (origin)
				come_back(model, lasts, origin, &here, odds);
		}
	for (guint32 i = 0; i < messages->n; i++) {
		g_free(lasts[i]);
		count_left(model, i);
	}
}
