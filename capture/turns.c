/* Calls and returns by turns. See the header for the rule. */
#include "capture/turns.h"

#include <string.h>

#define SIZE_OF_MORE ((WP_TURNS_MANY - WP_TURNS_FEW) * sizeof(WpMessage))

/*
 * MESSAGE is complete: it goes out or, while the flow's turns are on trial, behind those that wait. Zeroes
 * it.
 */
static void
hand_over(WpTurns *turns, WpDecodeContext *context, WpMessage *message)
{
	if (message == &turns->call)
		message->kind = WP_KIND_CALL;
	if (!turns->held) {
		wp_decode_emit(context, message);
		return;
	}
	if (message->is_open && turns->held->n < WP_TURNS_MAX_HELD)
		turns->held->messages[turns->held->n++] = *message;
	memset(message, 0, sizeof *message);
}

/* The stream hands over a CALL that is open at a hole; one on trial it must leave alone. */
static guint8
kind_while_open(const WpTurns *turns)
{
	return turns->held ? WP_KIND_MESSAGE : WP_KIND_CALL;
}

static WpMessage *
burst_at(WpTurns *turns, guint i)
{
	return i < WP_TURNS_FEW ? &turns->bursts[i] : &turns->more[i - WP_TURNS_FEW];
}

static void
forget_bursts(WpTurns *turns)
{
	memset(turns->bursts, 0, sizeof turns->bursts);
	/* The stream may point to the last of them. */
	if (turns->more)
		memset(turns->more, 0, SIZE_OF_MORE);
	turns->n_bursts = turns->n_pauses = 0;
}

/* What the client said while the server was silent was one call after all. */
static void
join_bursts(WpTurns *turns, WpDecodeContext *context)
{
	if (turns->n_bursts == 0)
		return;
	WpMessage call = turns->bursts[0];
	for (guint i = 1; i < turns->n_bursts; i++) {
		call.bytes += burst_at(turns, i)->bytes;
		call.end = burst_at(turns, i)->end;
	}
	forget_bursts(turns);
	turns->call = call;
	hand_over(turns, context, &turns->call);
}

static void
emit_bursts(WpTurns *turns, WpDecodeContext *context)
{
	for (guint i = 0; i < turns->n_bursts; i++) {
		burst_at(turns, i)->kind = WP_KIND_MESSAGE;
		hand_over(turns, context, burst_at(turns, i));
	}
	forget_bursts(turns);
}

/* A burst more begins at NOW_NS: whether the client alone speaks is known by now. */
static gboolean
is_known(WpTurns *turns, gint64 now_ns, gboolean has_paused)
{
	if (turns->n_bursts == 0)
		turns->first_ns = now_ns;
	if (has_paused && turns->n_pauses++ >= WP_TURNS_FEW)
		return TRUE;
	return turns->n_bursts == WP_TURNS_MANY && now_ns - turns->first_ns >= WP_TURNS_WHILE_NS;
}

/* The client speaks, and the server never has. */
static void
add_burst(WpTurns *turns, WpDecodeContext *context, guint8 marks, WpTurnsBytes bytes,
	  WpUnit *out_unit)
{
	gint64 now_ns = wp_decode_time(context), pause_ns = now_ns - turns->last_ns;
	gboolean has_paused =
		turns->n_bursts == 0 || bytes == WP_TURNS_DATAGRAM || pause_ns >= WP_TURNS_PAUSE_NS;
	gboolean is_new = has_paused || (!turns->is_full && pause_ns >= WP_TURNS_AT_ONCE_NS);

	turns->is_full = bytes == WP_TURNS_PART;
	if (is_new && !turns->is_one_way)
		turns->is_one_way = is_known(turns, now_ns, has_paused);
	if (!is_new || (turns->n_bursts == WP_TURNS_MANY && !turns->is_one_way)) {
		out_unit->extends = burst_at(turns, turns->n_bursts - 1);
		return;
	}
	if (turns->is_one_way)
		emit_bursts(turns, context);
	if (turns->n_bursts == WP_TURNS_FEW)
		turns->more = turns->more ? turns->more : g_malloc0(SIZE_OF_MORE);
	WpMessage *burst = burst_at(turns, turns->n_bursts++);
	burst->kind = kind_while_open(turns);
	burst->marks = marks;
	out_unit->opens = burst;
}

static void
client_speaks(WpTurns *turns, WpDecodeContext *context, guint8 marks, WpTurnsBytes bytes,
	      WpUnit *out_unit)
{
	if (turns->reply.is_open)
		hand_over(turns, context, &turns->reply);
	if (!turns->has_spoken[WP_FROM_SERVER]) {
		add_burst(turns, context, marks, bytes, out_unit);
	} else if (turns->call.is_open) {
		out_unit->extends = &turns->call;
	} else {
		turns->call.kind = kind_while_open(turns);
		turns->call.marks = marks;
		out_unit->opens = &turns->call;
	}
	turns->last_ns = wp_decode_time(context);
}

static void
server_speaks(WpTurns *turns, WpDecodeContext *context, guint8 marks, WpUnit *out_unit)
{
	join_bursts(turns, context);
	if (turns->call.is_open)
		hand_over(turns, context, &turns->call);
	if (turns->reply.is_open && turns->is_over) /* these bytes acknowledge what was lost */
		hand_over(turns, context, &turns->reply);
	turns->is_over = FALSE;
	if (turns->reply.is_open) {
		out_unit->extends = &turns->reply;
		return;
	}
	if (!turns->has_spoken[WP_FROM_CLIENT]) {
		/* A banner; or, in mid-stream, the rest of an unknown reply, which counts for nothing. */
		if (!wp_decode_from_start(context))
			return;
		turns->reply.kind = WP_KIND_MESSAGE;
		turns->reply.marks = marks | WP_MARK_SETUP;
	} else {
		turns->reply.kind = WP_KIND_RETURN;
		turns->reply.marks = marks;
	}
	out_unit->opens = &turns->reply;
}

void
wp_turns_unit(WpTurns *turns, WpDecodeContext *context, WpDirection direction, guint8 marks,
	      WpTurnsBytes bytes, WpUnit *out_unit)
{
	turns->skips[!direction] = FALSE;
	if (turns->skips[direction])
		return;
	if (direction == WP_FROM_CLIENT)
		client_speaks(turns, context, marks, bytes, out_unit);
	else
		server_speaks(turns, context, marks, out_unit);
	turns->has_spoken[direction] = TRUE;
}

void
wp_turns_finish(WpTurns *turns, WpDecodeContext *context, WpDirection direction, WpFinish how,
		WpUnit *out_unit)
{
	turns->has_ended[direction] = TRUE;
	if (direction == WP_FROM_SERVER && turns->reply.is_open)
		hand_over(turns, context, &turns->reply);
	if (direction == WP_FROM_CLIENT && turns->call.is_open)
		hand_over(turns, context, &turns->call);
	/* A reset is an answer; after a half-close one may still come; an end is none. */
	if (how == WP_FINISH_RESET)
		join_bursts(turns, context);
	else if (how != WP_FINISH_FIN || turns->has_ended[!direction])
		emit_bursts(turns, context);
}

/* Bytes of DIRECTION are missing before what is handed over next. */
static void
note_hole(WpTurns *turns, WpDirection direction)
{
	if (turns->held)
		turns->held->holes[turns->held->n] |= (guint8)(1u << direction);
}

void
wp_turns_lost(WpTurns *turns, WpDecodeContext *context, WpDirection direction)
{
	turns->skips[direction] = TRUE;
	if (direction == WP_FROM_CLIENT) {
		if (turns->call.is_open)
			hand_over(turns, context, &turns->call);
		turns->is_over = turns->reply.is_open;
		note_hole(turns, direction);
		return;
	}
	if (turns->is_over) {
		/* Whether the reply or another one went on here, nobody knows. */
		turns->reply.is_cut = TRUE;
		hand_over(turns, context, &turns->reply);
	}
	/* The server has spoken, though unseen: what the client says next is another call. */
	turns->has_spoken[WP_FROM_SERVER] = TRUE;
	join_bursts(turns, context);
	if (turns->call.is_open)
		hand_over(turns, context, &turns->call);
	memset(&turns->reply, 0, sizeof turns->reply);
	note_hole(turns, direction);
}

void
wp_turns_drop(WpTurns *turns)
{
	memset(&turns->call, 0, sizeof turns->call);
	memset(&turns->reply, 0, sizeof turns->reply);
	forget_bursts(turns);
}

void
wp_turns_hold(WpTurns *turns)
{
	if (!turns->held)
		turns->held = g_new0(WpTurnsHeld, 1);
}

gboolean
wp_turns_is_full(const WpTurns *turns)
{
	return turns->held && turns->held->n + WP_TURNS_MANY + 1 >= WP_TURNS_MAX_HELD;
}

void
wp_turns_release(WpTurns *turns, WpDecodeContext *context)
{
	g_autofree WpTurnsHeld *held = g_steal_pointer(&turns->held);
	for (guint i = 0; held && i < held->n; i++)
		wp_decode_emit_late(context, &held->messages[i], held->holes[i]);
}

void
wp_turns_clear(WpTurns *turns)
{
	wp_turns_drop(turns);
	g_clear_pointer(&turns->more, g_free);
	g_clear_pointer(&turns->held, g_free);
}

gsize
wp_turns_memory(const WpTurns *turns)
{
	gsize more = turns->more ? SIZE_OF_MORE : 0;
	return more + (turns->held ? sizeof *turns->held : 0);
}
