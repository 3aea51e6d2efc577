/* Inside of WpStream, shared by stream.c, stream-detect.c and stream-messages.c alone. */
#ifndef WP_CAPTURE_STREAM_PRIVATE_H
#define WP_CAPTURE_STREAM_PRIVATE_H

#include "capture/pairing.h"
#include "capture/stream.h"

/* A run of unread bytes that came in one packet. */
typedef struct {
	guint64 end; /* offset behind its last byte */
	WpStamp stamp;
} WpPiece;

/*
 * One direction. The unread bytes are `unread` (either the packet at hand or `kept`); their pieces
 * tell when each came.
 *
 *     offset                          offset + n_unread
 *       |<------------ unread ------------>|
 *       |  piece  |    piece    |  piece   |
 */
typedef struct {
	const guint8 *unread;
	gsize n_unread;
	guint8 *kept; /* owns the unread bytes between packets */
	gsize kept_allocated;
	WpPiece *pieces; /* NULL, first_piece, or allocated */
	guint n_pieces;
	guint pieces_allocated;
	WpPiece first_piece;     /* there is seldom another */
	guint64 offset;          /* of the first unread byte */
	guint64 skip;            /* bytes of the current unit that have not come yet */
	WpMessage *unit_message; /* what the rest of that unit belongs to; may be NULL */
	const WpDecoder *unit_becomes;
	gboolean unit_emits;
	WpMessage *open;   /* the message opened last and not emitted */
	gsize need;        /* bytes the decoder wants before it is asked again */
	gboolean is_lost;  /* looks for the begin of a message */
	gboolean is_ended; /* the decoder was told */
} WpSide;

/* A packet kept while the protocol is not known. */
typedef struct {
	WpDirection from;
	gsize length;      /* bytes, after those of the packets before it of the same side */
	gsize wire_length; /* UDP */
	WpStamp stamp;
} WpHeld;

/* What one side sent while the other waited; see stream-spells.c. */
typedef struct {
	guint64 begin; /* offset */
	guint64 end;   /* behind the last byte */
	WpStamp first; /* the first byte that was captured, or passed cut; valid with has_first */
	WpStamp last;  /* the byte before `end`; valid with has_last */
	gboolean has_first;
	gboolean has_last;
	gboolean is_unread;  /* the decoder lost the thread in it */
	gboolean is_crossed; /* the other side spoke meanwhile */
	guint8 status;       /* of a return that begins it, as far as it was read */
	guint32 label;
} WpSpell;
/* The bytes of one side's packets: those of the packet at hand where it is the first, else our own. */
typedef struct {
	const guint8 *data;
	gsize length;
	guint8 *own; /* data, where it is allocated */
	gsize allocated;
} WpHeldBytes;

/* The conversation inside that of a stream. */
typedef struct WpInner WpInner;

/* A datagram that waits for its call. */
typedef struct WpEarly WpEarly;

struct WpDecodeContext {
	WpStream *stream;
};

struct WpStream {
	WpDecodeContext context;
	const WpStreamShared *shared;
	WpStreamInfo info;
	const WpDecoder *decoder; /* NULL = undecided */
	guint32 protocol;         /* the string of its name; 0 until needed */
	void *state;

	/* What takes memory stands together with the above, as it is looked at for each packet. */
	WpInner *inner;           /* or NULL */
	const WpDecoder *beneath; /* what was spoken before TLS, and goes on inside; or NULL */
	void *beneath_state;
	gsize early_bytes;
	WpEarly *early; /* oldest first */
	guint n_early;
	guint n_held;
	guint held_allocated;
	WpHeld *held;              /* while undecided; NULL, &first_held, or allocated */
	WpHeldBytes held_bytes[2]; /* of those; by info's direction */

	gboolean is_swapped; /* info's client is the server */
	gboolean is_finished;
	gboolean is_cut;  /* see wp_decode_is_cut() */
	gboolean is_sure; /* the first bytes were unmistakable */
	gboolean is_multiplexed;
	gboolean may_push;       /* see wp_decode_may_push() */
	gboolean has_pushes;     /* the same, from the call on that asked for them */
	gboolean is_late;        /* the message at hand ended a while ago */
	gboolean has_emitted[2]; /* messages of that direction */
	guint64 n_emitted;
	guint64 n_calls[2]; /* by sender */
	guint64 n_returns[2];
	guint64 n_messages[2];
	WpSide sides[2];       /* by WpDirection of the protocol, after swapping */
	WpPairing pairings[2]; /* by direction of the calls */
	guint32 nodes[2];      /* of client and server; WP_NO_NODE until needed */
	gint64 now_ns;         /* of the packet at hand */
	guint64 now_packet;    /* its number */
	WpStamp now;           /* of the first byte that the decoder is given */
	guint64 cut_packet;    /* see wp_decode_cut_packet() */
	WpSpell spells[2];     /* by direction: the present one */
	WpSpell ended[2];      /* ... and the one before */
	guint64 fins[2];       /* where that direction ended; WP_NO_OFFSET = not yet */
	guint64 fin_peers[2];  /* what it had acknowledged then */

	gboolean has_orphan; /* the datagram at hand is a return without a call, of this id */
	guint64 orphan_callid;
	guint64 repeated_callid; /* of the latest call that was sent more than once */
	guint n_repeats;         /* ... and may be answered so often again */
	gboolean is_replay;      /* it is one that had waited */

	/* While undecided: the first packet of what has come (see above), and where each side's last turn begins. */
	WpHeld first_held; /* nearly always the only one */
	gsize turn_at[2];
	gboolean may_have_front; /* a PROXY header may be, or become, what begins the flow */
	WpDirection front_from;  /* who sent it, by info's direction */
	gsize front;             /* its bytes, which are not the protocol's */
	guint n_front;           /* packets held when it was whole */
	gboolean is_forced;      /* to be decoded as shared->forced */
	WpDirection forced_client;
	gboolean has_turn;
	WpDirection turn;
	guint n_turns;
	guint n_retries;    /* decoders that were wrong in mid-stream */
	guint n_looked_at;  /* datagrams, since nobody knew the first ones */
	gboolean is_inside; /* in a body, too long to hold, that `body_from` sends */
	WpDirection body_from;
};

/* stream.c: bytes of a decided stream; FROM is a direction of the protocol. */
void wp_stream_feed(WpStream *stream, WpDirection from, const guint8 *data, gsize length,
		    const WpStamp *stamp);
void wp_stream_feed_datagram(WpStream *stream, WpDirection from, const guint8 *data, gsize length,
			     gsize wire_length, const WpStamp *stamp);
void wp_stream_force(WpStream *stream);
void wp_stream_set_decoder(WpStream *stream, const WpDecoder *decoder);
void wp_stream_drop_beneath(WpStream *stream);

/* What the flow speaks is not known after all, and is looked for again: so often. */
#define WP_STREAM_MAX_RETRIES 4
void wp_stream_give_up(WpStream *stream);

/* stream-detect.c */
void wp_stream_hold(WpStream *stream, WpDirection from, const guint8 *data, gsize length,
		    gsize wire_length, const WpStamp *stamp);
void wp_stream_decide(WpStream *stream, gboolean final);
void wp_stream_drop_held(WpStream *stream);
void wp_stream_free_held(WpStream *stream);

/* stream-detect.c: the client is the other one. Nothing may be unread, and no call open. */
void wp_stream_swap_sides(WpStream *stream);

/* stream-detect.c: a flow that was taken by turns is given up where DATAGRAM, by info's direction, is something. */
void wp_stream_look_again(WpStream *stream, WpDirection from, WpBytes datagram);

/* stream-early.c: keeps a datagram of FROM; feeds those of FROM whose call has come; gives all up. */
void wp_stream_keep_early(WpStream *stream, WpDirection from, WpBytes datagram, gsize wire_length,
			  const WpStamp *stamp);
void wp_stream_feed_early(WpStream *stream, WpDirection from);
void wp_stream_drop_early(WpStream *stream);

/* stream-inner.c: what happens to the outer stream happens to the inner one. It may be NULL. */
void wp_inner_end(WpInner *inner, WpDirection from, const WpStamp *stamp);
void wp_inner_finish(WpInner *inner, WpFinish how, const WpStamp *stamp);
void wp_inner_free(WpInner *inner);
gboolean wp_inner_is_idle(const WpInner *inner);
gsize wp_inner_memory(const WpInner *inner);

/*
 * stream-spells.c. LENGTH bytes of FROM at OFFSET passed, with STAMP where they were captured, or cut by
 * the snap length; the decoder loses the thread of FROM. Then: before a call or message NEXT of FROM, and
 * at the end, the call before it is paired with its return where the latter could not be read.
 */
void wp_stream_note_bytes(WpStream *stream, WpDirection from, guint64 offset, guint64 length,
			  const WpStamp *stamp);
void wp_stream_note_lost(WpStream *stream, WpDirection from);
void wp_stream_pair_before(WpStream *stream, WpDirection from, const WpMessage *next);
void wp_stream_pair_at_end(WpStream *stream, WpDirection from);

/* stream-messages.c: RETURN answers the call at INDEX of those of FROM, and none before it is answered. */
void wp_stream_answer(WpStream *stream, WpDirection from, guint index, const WpMessage *answer);

/* stream-messages.c: bytes of FROM are missing between the messages before and those to come. */
void wp_stream_note_hole(WpStream *stream, WpDirection from);

/* stream-messages.c: hands over a finished message and zeroes it. */
void wp_stream_emit(WpStream *stream, WpMessage *message);
void wp_stream_count(WpStream *stream, WpDirection from, WpCounter counter, guint64 n);
/* Stalls that the watch (not NULL) has dropped since; told at the edge of FROM. */
void wp_stream_count_stalls(WpStream *stream, WpDirection from);
void wp_stream_close_calls(WpStream *stream, WpFinish how, const WpStamp *stamp);

/* stream-messages.c: the calls that are open will not be answered. */
void wp_stream_forget_calls(WpStream *stream);

#endif
