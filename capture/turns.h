/*
 * WpTurns: calls and returns told by changes of direction alone, for protocols whose messages cannot
 * be read: a call is the first byte after the other side last sent, its return ends with the last byte
 * before the next change of direction.
 *
 *     client  |-- call --|              |-- call --|
 *     server               |- return -|              |-..
 *
 * A flow in which the client alone speaks makes one-way messages: one a datagram, or one a burst
 * (bytes without a pause of WP_TURNS_PAUSE_NS). That it does is believed after a few of them, or at
 * the end of the flow.
 */
#ifndef WP_CAPTURE_TURNS_H
#define WP_CAPTURE_TURNS_H

#include "capture/decoder.h"

#define WP_TURNS_PAUSE_NS   (50 * G_GINT64_CONSTANT(1000000))
#define WP_TURNS_MAX_BURSTS 3

#define WP_TURNS_MAX_HELD 40

/* Messages that wait until the flow is known to talk by turns. */
typedef struct {
	WpMessage messages[WP_TURNS_MAX_HELD];
	guint8 holes[WP_TURNS_MAX_HELD + 1]; /* before each; see wp_decode_emit_late() */
	guint n;
} WpTurnsHeld;

typedef struct {
	WpMessage call;
	WpMessage reply;
	WpMessage bursts[WP_TURNS_MAX_BURSTS]; /* of the client, until the server speaks */
	guint n_bursts;
	gint64 last_ns; /* of the client's last bytes */
	gboolean has_spoken[2];
	gboolean has_ended[2];
	gboolean is_over;  /* the open reply is: the client has spoken since, though unseen */
	gboolean skips[2]; /* after a hole: until the other side speaks */
	gboolean is_one_way;
	WpTurnsHeld *held; /* NULL: messages go out at once */
} WpTurns;

/*
 * Bytes of DIRECTION are at the front: sets what OUT_UNIT opens and extends, and leaves its
 * length. MARKS go to the messages. IS_DATAGRAM: IN is one datagram.
 */
void wp_turns_unit(WpTurns *turns, WpDecodeContext *context, WpDirection direction, guint8 marks,
		   gboolean is_datagram, WpUnit *out_unit);

/* DIRECTION ends: what it had open is complete. */
void wp_turns_finish(WpTurns *turns, WpDecodeContext *context, WpDirection direction, WpFinish how,
		     WpUnit *out_unit);

/* Forgets what is open, without a record. */
void wp_turns_drop(WpTurns *turns);

/* Bytes of DIRECTION are missing. */
void wp_turns_lost(WpTurns *turns, WpDecodeContext *context, WpDirection direction);

/*
 * From now on messages wait. They go out with release(), or never with clear(), which must be called where
 * hold() was. Room runs out at is_full(): one or the other is due then.
 */
void wp_turns_hold(WpTurns *turns);
gboolean wp_turns_is_full(const WpTurns *turns);
void wp_turns_release(WpTurns *turns, WpDecodeContext *context);
void wp_turns_clear(WpTurns *turns);
gsize wp_turns_memory(const WpTurns *turns);

#endif
