/*
 * WpTurns: calls and returns told by changes of direction alone, for protocols whose messages cannot
 * be read: a call is the first byte after the other side last sent, its return ends with the last byte
 * before the next change of direction.
 *
 *     client  |-- call --|              |-- call --|
 *     server               |- return -|              |-..
 *
 * A flow in which the client alone speaks makes one-way messages: one a datagram, or one a burst. A burst ends
 * with a pause of WP_TURNS_PAUSE_NS; or with a segment that is not full, as who has more to say fills it, unless
 * more comes at once (WP_TURNS_AT_ONCE_NS: a head and its body, written apart).
 *
 *     client  |== full ==|== full ==|- rest -|  |- short -|   |- head -||- body -|
 *             |------------ burst -----------|  |- burst -|   |------ burst -----|
 *
 * That the client alone speaks is believed after a few pauses, after many bursts in a while, or at the end of the
 * flow; until then they are kept, and are one call if the server answers.
 */
#ifndef WP_CAPTURE_TURNS_H
#define WP_CAPTURE_TURNS_H

#include "capture/decoder.h"

#define WP_TURNS_PAUSE_NS   (50 * G_GINT64_CONSTANT(1000000))
#define WP_TURNS_AT_ONCE_NS (200 * G_GINT64_CONSTANT(1000))
#define WP_TURNS_WHILE_NS   (250 * G_GINT64_CONSTANT(1000000))
#define WP_TURNS_FEW        3  /* bursts behind a pause; as many are kept with the flow */
#define WP_TURNS_MANY       16 /* bursts; the others are allocated */

/* With room for those bursts and one more message behind what is_full() allows. */
#define WP_TURNS_MAX_HELD 56

/* Messages that wait until the flow is known to talk by turns. */
typedef struct {
	WpMessage messages[WP_TURNS_MAX_HELD];
	guint8 holes[WP_TURNS_MAX_HELD + 1]; /* before each; see wp_decode_emit_late() */
	guint n;
} WpTurnsHeld;

typedef struct {
	WpMessage call;
	WpMessage reply;
	WpMessage bursts[WP_TURNS_FEW]; /* of the client, until the server speaks */
	WpMessage *more;                /* ... behind those; NULL: none yet */
	guint n_bursts;
	guint n_pauses; /* bursts behind a pause, the first too, while it is not known to be one-way */
	gint64 first_ns; /* of the first of them */
	gint64 last_ns;  /* of the client's last bytes */
	gboolean has_spoken[2];
	gboolean has_ended[2];
	gboolean is_over;  /* the open reply is: the client has spoken since, though unseen */
	gboolean skips[2]; /* after a hole: until the other side speaks */
	gboolean is_one_way;
	gboolean is_full;  /* the client's last bytes: more of the message may follow */
	WpTurnsHeld *held; /* NULL: messages go out at once */
} WpTurns;

/* What the bytes at the front are. */
typedef enum {
	WP_TURNS_PART,     /* of something of which more may follow */
	WP_TURNS_SHORT,    /* the end of a segment that is not full */
	WP_TURNS_DATAGRAM, /* one, whole */
} WpTurnsBytes;

/*
 * Bytes of DIRECTION are at the front: sets what OUT_UNIT opens and extends, and leaves its
 * length. MARKS go to the messages.
 */
void wp_turns_unit(WpTurns *turns, WpDecodeContext *context, WpDirection direction, guint8 marks,
		   WpTurnsBytes bytes, WpUnit *out_unit);

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
