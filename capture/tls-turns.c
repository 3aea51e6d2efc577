/* Calls of TLS flows without keys. See the header. */
#include "capture/tls-turns.h"

/*
 * So many turns, a call or a return each, must be right before a flow on trial is believed: with a few
 * requests in flight at random one of them crosses nearly surely. Where HTTP/2 may be spoken, more.
 */
#define TRIAL_TURNS       8
#define TRIAL_TURNS_HTTP2 14

/* ... or fewer, where the flow is so slow that its records would come late (see order.h). */
#define TRIAL_NS         (1000 * G_GINT64_CONSTANT(1000000))
#define TRIAL_TURNS_SLOW 2

/*
 * A crossed turn weighs as much as so many right ones: a server that answers early, or a client that sends
 * ahead once, is no other protocol. Where that may be HTTP/2, one is enough, and two calls in one turn.
 */
#define CROSSED_WEIGHT  16
#define AGAIN_WEIGHT    8
#define SCORE_MAX       64
#define SCORE_MAX_HTTP2 15
#define SCORE_SURE      32 /* to begin with, where the protocol was agreed on in the clear */

/*
 * A client that sends so late again, and both times so little, asks again: the body of a request follows its
 * head at once, or is longer.
 */
#define AGAIN_NS   (500 * G_GINT64_CONSTANT(1000))
#define AGAIN_BODY 1200

/* What the records of TLS 1.3 and, of 1.2, those of ChaCha20-Poly1305 and AES-GCM add to the data. */
static const guint overheads[] = { 17, 16, 24 };

/* Frames of HTTP/2 that are no part of a call: SETTINGS (acknowledged), WINDOW_UPDATE, PING. */
static const guint control_frames[] = { 9, 13, 17 };

/*
 * TRUE where a record is as long as one frame of HTTP/2 that controls the connection. No request of
 * HTTP/1 is so short.
 */
static gboolean
looks_like_control(gsize body)
{
	for (gsize i = 0; i < G_N_ELEMENTS(overheads); i++)
		for (gsize k = 0; k < G_N_ELEMENTS(control_frames); k++)
			if (body == overheads[i] + control_frames[k])
				return TRUE;
	return FALSE;
}

static gboolean
is_on_trial(const WpTlsTurns *self)
{
	return self->kind == WP_TLS_ON_TRIAL || self->kind == WP_TLS_MAYBE_HTTP2;
}

static gboolean
may_be_http2(const WpTlsTurns *self)
{
	return self->kind == WP_TLS_MAYBE_HTTP2 || self->is_blind;
}

void
wp_tls_turns_begin(WpTlsTurns *self, WpTlsKind kind, gboolean is_blind)
{
	self->kind = (guint8)kind;
	self->is_blind = is_blind;
	if (is_on_trial(self))
		wp_turns_hold(&self->turns);
	self->score = kind == WP_TLS_BY_TURNS ? SCORE_SURE : 0;
}

/* No calls from here on. */
static void
refuse(WpTlsTurns *self)
{
	self->kind = WP_TLS_MULTIPLEXED;
	wp_turns_clear(&self->turns);
}

static void
believe(WpTlsTurns *self, WpDecodeContext *context)
{
	self->kind = WP_TLS_BY_TURNS;
	wp_turns_release(&self->turns, context);
}

/* TRUE where the sender of the bytes at the front had not got all of what was sent to it. */
static gboolean
is_crossed(const WpTlsTurns *self, WpDecodeContext *context, WpDirection direction)
{
	guint64 peer = wp_decode_stamp(context).peer;
	return peer != WP_NO_OFFSET && peer < self->ends[!direction];
}

/* TRUE where the client, or who may be it, asks again within its turn. */
static gboolean
asks_again(const WpTlsTurns *self, WpDecodeContext *context, WpDirection direction, gsize body)
{
	if (direction == WP_FROM_SERVER && wp_decode_is_oriented(context))
		return FALSE;
	return wp_decode_time(context) - self->last_ns > AGAIN_NS && body < AGAIN_BODY &&
	       self->last_body < AGAIN_BODY;
}

static void
judge(WpTlsTurns *self, WpDecodeContext *context, WpDirection direction, gsize body)
{
	gboolean is_http2 = may_be_http2(self);
	gboolean is_turn = self->last != direction;

	if (is_turn &&
	    ((is_http2 && looks_like_control(body)) || is_crossed(self, context, direction)))
		self->score -= CROSSED_WEIGHT;
	else if (is_turn)
		self->score = MIN(self->score + 1, is_http2 ? SCORE_MAX_HTTP2 : SCORE_MAX);
	else if (is_http2 && asks_again(self, context, direction, body))
		self->score -= AGAIN_WEIGHT;
	if (self->score < 0)
		refuse(self);
}

/* The trial is over with so many right turns, or fewer after some time. */
static void
judge_flow(WpTlsTurns *self, WpDecodeContext *context)
{
	gboolean is_http2 = self->kind == WP_TLS_MAYBE_HTTP2;
	gint64 now_ns = wp_decode_time(context);
	if (self->first_ns == 0)
		self->first_ns = now_ns;
	gboolean is_slow = !is_http2 && now_ns - self->first_ns >= TRIAL_NS;
	gint wanted = is_http2 ? TRIAL_TURNS_HTTP2 : is_slow ? TRIAL_TURNS_SLOW : TRIAL_TURNS;
	if (self->score >= wanted)
		believe(self, context);
	else if (wp_turns_is_full(&self->turns))
		refuse(self);
}

/*
 * What a server sends before it has got any of the first call is no answer to it, but the rest of its
 * set-up.
 */
static gboolean
is_before_first_call(const WpTlsTurns *self, WpDecodeContext *context, WpDirection direction)
{
	guint64 peer = wp_decode_stamp(context).peer;
	const WpTurns *turns = &self->turns;
	if (direction == WP_FROM_CLIENT || turns->has_spoken[WP_FROM_SERVER] || self->is_blind)
		return FALSE;
	const WpMessage *first = turns->n_bursts ? &turns->bursts[0] : &turns->call;
	return first->is_open && peer != WP_NO_OFFSET && peer <= first->begin.offset;
}

void
wp_tls_turns_note(WpTlsTurns *self, WpDecodeContext *context, WpDirection direction, gsize length)
{
	self->ends[direction] = wp_decode_stamp(context).offset + length;
}

void
wp_tls_turns_unit(WpTlsTurns *self, WpDecodeContext *context, WpDirection direction, gsize body,
		  WpUnit *out_unit)
{
	if (is_before_first_call(self, context, direction))
		return;
	/* The first turn crosses the tickets of the server, or begins in the middle. */
	if (self->kind != WP_TLS_MULTIPLEXED && self->has_last)
		judge(self, context, direction, body);
	self->has_last = TRUE;
	self->last = direction;
	self->last_ns = wp_decode_time(context);
	self->last_body = body;
	if (is_on_trial(self))
		judge_flow(self, context);
	if (self->kind == WP_TLS_MULTIPLEXED)
		wp_decode_multiplexed(context);
	else
		wp_turns_unit(&self->turns, context, direction, 0, WP_TURNS_PART, out_unit);
}

void
wp_tls_turns_finish(WpTlsTurns *self, WpDecodeContext *context, WpDirection direction, WpFinish how,
		    WpUnit *out_unit)
{
	wp_turns_finish(&self->turns, context, direction, how, out_unit);
	if (!self->turns.has_ended[!direction] || !self->turns.held)
		return;
	if (self->kind == WP_TLS_ON_TRIAL) {
		believe(self, context);
	} else {
		refuse(self);
		if (self->has_last)
			wp_decode_multiplexed(context);
	}
}

void
wp_tls_turns_lost(WpTlsTurns *self, WpDecodeContext *context, WpDirection direction)
{
	wp_turns_lost(&self->turns, context, direction);
}

void
wp_tls_turns_clear(WpTlsTurns *self)
{
	wp_turns_clear(&self->turns);
}
