/*
 * WpDecoder: one application protocol. One file, one const WpDecoder, one line in wp_decoders[].
 *
 * The stream (stream.h) owns bytes, time stamps, holes and pairing; a decoder only answers "what is
 * the unit at the front of these bytes". A unit is any piece whose length the protocol tells: a
 * header block, a chunk, a packet of MySQL, a value of RESP. A message (call, return, one-way) is one
 * or more units:
 *
 *      bytes of one direction   |header....|chunk.......|chunk..|last|header..
 *      units                    |- opens --|- extends --|- ext -|emit|- opens
 *      the decoder's WpMessage  |<------------ begin .. end --------->|
 *
 * A decoder points unit->opens, ->extends, ->emits at a WpMessage of its own (in its state), and the
 * stream fills in begin, end and bytes. So nothing is allocated per message, a unit may be longer than
 * what has arrived (the stream skips the rest: give the whole length as soon as it is known), and
 * interleaved messages (HTTP/2, FastCGI) need no more than several WpMessages.
 *
 * Contract of decode():
 *   WP_DECODE_OK    unit->length >= 1 bytes belong to this unit (may exceed what is there).
 *   WP_DECODE_MORE  the bytes so far are a proper prefix of something valid. Nothing else has been
 *                   changed: the same call with more bytes must give the same as if they had come at
 *                   once. unit->need may say how many bytes are needed at least (else one more).
 *   WP_DECODE_BAD   these bytes are not this protocol, or sync is lost. The stream counts it and
 *                   looks for the next sync point.
 * It must accept any bytes, read them through WpBytes only, and never look past IN.
 */
#ifndef WP_CAPTURE_DECODER_H
#define WP_CAPTURE_DECODER_H

#include <glib.h>

#include "capture/bytes.h"
#include "capture/counters.h"
#include "capture/nodes.h"
#include "capture/record.h"
#include "capture/trace-context.h"

typedef enum {
	WP_DECODE_OK,
	WP_DECODE_MORE,
	WP_DECODE_BAD
} WpDecodeStatus;

/* Direction of bytes within a flow. */
typedef enum {
	WP_FROM_CLIENT,
	WP_FROM_SERVER
} WpDirection;

/* Offset in a stream that is not known. */
#define WP_NO_OFFSET G_MAXUINT64

/* When and where a byte was seen. */
typedef struct {
	gint64 time_ns;
	guint64 packet; /* number in its input */
	guint64 offset; /* of the byte, in its direction, from the first byte seen (holes count) */
	guint64 peer;   /* bytes of the other direction that this packet acknowledged; WP_NO_OFFSET
			 * where unknown (UDP). For a call sent when nothing is outstanding this is where
			 * its return will begin: what pairs calls and returns around holes. */
	guint32 base;   /* TCP: sequence number of offset 0 */
	guint32 seq;    /* inside TLS: of the packet's first byte; UDP: see wp_sightings_hash() */
} WpStamp;

/*
 * A message being decoded. The decoder sets kind, and what it knows of the rest, at any time until
 * the unit that emits it; the stream sets begin, end, bytes. Zeroed = a CALL of unknown status
 * without id, label, marks. After emission the stream zeroes it.
 */
typedef struct {
	guint8 kind;   /* WpKind */
	guint8 status; /* WpStatus; for RETURN and MESSAGE */
	guint8 marks;  /* WP_MARK_... */
	gboolean
		no_return; /* a CALL that is never answered (NFS without reply, STMT_CLOSE): becomes a
			     * MESSAGE record and is not pending */
	guint64 callid;    /* pairs the two where the protocol has ids (decoder->by_callid) */
	guint32 label; /* by wp_decode_label(); of a RETURN: replaces that of its CALL if not 0 */
	guint32 note;  /* the decoder's own, kept with the pending call: see wp_decode_pending() */
	guint32 protocol; /* by wp_decode_protocol(); 0 = the decoder's name, of a RETURN: its CALL's */
	guint32 tokens[WP_RECORD_MAX_TOKENS];
	guint8 n_tokens;
	WpTraceContext context; /* of a CALL or MESSAGE, where its program names one */
	gboolean is_open;       /* set by the stream: begin is valid */
	guint8 from;            /* set by the stream: WpDirection */
	gboolean is_cut;        /* set by the stream: end is not its end, which was not seen */
	gint64 late_ns; /* set by the stream: bytes that came late had not all passed before; 0 = none */
	WpStamp begin;
	WpStamp end;
	guint64 bytes;
} WpMessage;

typedef struct WpDecoder WpDecoder;

typedef struct {
	gsize length;           /* bytes of the unit; G_MAXSIZE = until the direction ends */
	gsize need;             /* with MORE: bytes needed at least, 0 = unknown */
	WpMessage *emits_first; /* handed over before this unit counts (generic turns) */
	WpMessage *opens;       /* begins with the first byte of this unit */
	WpMessage *extends;     /* ends (so far) with the last byte of this unit */
	WpMessage *emits;       /* ends with the last byte of this unit and is handed to pairing */
	const WpDecoder *becomes; /* after this unit the flow speaks this protocol (upgrade, TLS) */
} WpUnit;

/* What the stream does for decoders; passed to each call. */
typedef struct WpDecodeContext WpDecodeContext;

/* Interns LABEL (at most WP_LABEL_MAX bytes are used) and returns its number. */
#define WP_LABEL_MAX 120
guint32 wp_decode_label(WpDecodeContext *context, const char *label, gsize length);

/* The number of the name of a protocol that is carried by the decoder's own (gRPC by HTTP/2). */
guint32 wp_decode_protocol(WpDecodeContext *context, const char *name);

/* Adds the hashes of the rare-looking tokens in these bytes of a call to MESSAGE. See tokens.h. */
void wp_decode_tokens(WpDecodeContext *context, WpMessage *message, const guint8 *data,
		      gsize length);

/* The same of a number in decimal digits: MAGNITUDE, with a minus before it. */
void wp_decode_number(WpDecodeContext *context, WpMessage *message, guint64 magnitude,
		      gboolean is_negative);

/* The same of bytes that stand where programs put identifiers of requests. */
void wp_decode_ids(WpDecodeContext *context, WpMessage *message, const guint8 *data, gsize length);

/* The bytes say that the server of this flow, or ADDRESS, is called NAME. */
void wp_decode_name_server(WpDecodeContext *context, WpNameSource source, const char *name,
			   gsize length);
void wp_decode_name_address(WpDecodeContext *context, const guint8 address[16], const char *name,
			    gsize length);

/*
 * The note of the pending call that the next return (in order) answers, or the one with CALLID.
 * FALSE where there is none. For an HTTP response to HEAD, the procedure of an RPC reply.
 */
gboolean wp_decode_pending(WpDecodeContext *context, guint32 *out_note);
gboolean wp_decode_pending_callid(WpDecodeContext *context, guint64 callid, guint32 *out_note);

/* Number of calls pending on this flow. */
guint wp_decode_n_pending(const WpDecodeContext *context);

/* TRUE where the stream's first byte of that direction was seen (not picked up in mid-stream). */
gboolean wp_decode_from_start(const WpDecodeContext *context);

/* TRUE where it is certain who the client is; else it is a guess. */
gboolean wp_decode_is_oriented(const WpDecodeContext *context);

/* The number of the server's port. */
guint16 wp_decode_server_port(const WpDecodeContext *context);

/* Time of the first byte of IN, in ns: for turns and bursts. */
gint64 wp_decode_time(const WpDecodeContext *context);

/* The stamp of the first byte of IN. Its offset is unknown where IN is a datagram. */
WpStamp wp_decode_stamp(const WpDecodeContext *context);

/* TRUE where IN is one datagram (UDP). */
gboolean wp_decode_is_datagram(const WpDecodeContext *context);

/* Hands MESSAGE over at once, as unit->emits_first does: for more than one. Zeroes it. */
void wp_decode_emit(WpDecodeContext *context, WpMessage *message);

/*
 * The same for a message that ended a while ago: what came since tells nothing of it. HOLES: bit
 * 1 << direction is set where bytes of that direction were missing between the one before and it.
 */
void wp_decode_emit_late(WpDecodeContext *context, WpMessage *message, guint holes);

/*
 * Begins and ends MESSAGE, as one sent by FROM, with the packet of the first byte of IN, whoever sent
 * that: a return that the client made by giving the call up.
 */
void wp_decode_open(WpDecodeContext *context, WpMessage *message, WpDirection from);

/* Adds one to COUNTER, for what a decoder left out. */
void wp_decode_count(WpDecodeContext *context, WpCounter counter);

/*
 * In lost(): the packet that was seen, but not the bytes that are missing (snap length); 0 where it was
 * not seen.
 */
guint64 wp_decode_cut_packet(const WpDecodeContext *context);

/*
 * TRUE in a last call of decode() for bytes that a hole follows (a packet cut by the snap length, a
 * lost one): nothing will complete them. A decoder that can tell from them what the message is answers
 * OK; unit->length may exceed what is there, as ever, and the hole may lie inside it. It need not: MORE
 * drops them.
 */
gboolean wp_decode_is_cut(const WpDecodeContext *context);

/*
 * From now on the server of this flow may send what nobody waits for (subscriptions): of what the decoder cannot read,
 * bytes alone tell no return.
 */
void wp_decode_may_push(WpDecodeContext *context);

/* Counts this flow as one that may be multiplexed, of which no calls are guessed. */
void wp_decode_multiplexed(WpDecodeContext *context);

/*
 * What is sealed inside (TLS) is a conversation of its own, which the stream decodes as any other: with
 * DECODER or, where that is NULL, with one that it detects; where the flow spoke a protocol before it became
 * this one (STARTTLS), with that. FROM_START: its first bytes are those that follow.
 */
void wp_decode_inner_begin(WpDecodeContext *context, const WpDecoder *decoder, gboolean from_start);

/*
 * The next bytes inside, of DIRECTION: DATA, borrowed, came in the UNIT bytes at the front of IN, LEAD bytes
 * from there. To be called for units without any as well (LENGTH 0): what lies between units is taken
 * for a hole. MISSED of its bytes were none of what is inside.
 */
void wp_decode_inner(WpDecodeContext *context, WpDirection direction, WpBytes data, gsize lead,
		     gsize unit, guint64 missed);

/* The name of the method with that hash that the user gave (rmi-names.h); NULL where there is none. */
const char *wp_decode_rmi_name(const WpDecodeContext *context, guint64 hash);

/* The secrets that may be used; NULL where there are none. */
const struct WpKeylog *wp_decode_keylog(const WpDecodeContext *context);

/*
 * Detection. Both directions' first bytes (either may be empty), as they are at present; for UDP the
 * first datagram of each.
 */
typedef struct {
	WpBytes client;
	WpBytes server;
	guint16 server_port;
	gboolean
		from_start; /* the connection was seen to open; else both begin anywhere, but each at
			      * the start of a packet */
	gboolean is_udp;
	gboolean is_cut;        /* a hole follows: see wp_decode_is_cut() */
	gboolean is_last;       /* no more will be shown: MORE is lost then */
	const WpDecoder *first; /* asked first, and sure, nobody else is asked; or NULL */
} WpProbe;

typedef enum {
	WP_PROBE_NO,     /* cannot be */
	WP_PROBE_MORE,   /* cannot tell yet; more bytes of a side that has some would help */
	WP_PROBE_MAYBE,  /* fits a weak frame: needs the port or the other side to agree */
	WP_PROBE_LIKELY, /* fits a strict frame on one side */
	WP_PROBE_SURE    /* unmistakable */
} WpProbeVerdict;

typedef enum {
	WP_FINISH_FIN,    /* that direction was closed */
	WP_FINISH_RESET,  /* the flow was reset */
	WP_FINISH_END,    /* the capture ended, or the flow was evicted */
	WP_FINISH_TIMEOUT /* the flow was idle for too long */
} WpFinish;

enum {
	WP_TRANSPORT_TCP = 1,
	WP_TRANSPORT_UDP = 2
};

struct WpDecoder {
	const char *name;     /* as in the protocol column: "http", "pgsql" */
	const char *summary;  /* one line for --list-protocols */
	guint transports;     /* WP_TRANSPORT_... */
	const guint16 *ports; /* usual server ports, 0-ended; only a hint. May be NULL */
	gboolean by_callid; /* returns name their call; else they come in the order of the calls */
	gboolean interleaves;    /* calls begin while others wait: bytes alone tell no return */
	gboolean is_tunnel;      /* what it becomes is another protocol, not its own under TLS */
	gboolean reuses_callids; /* ... but names are used again as soon as they are free */
	gsize state_size;        /* bytes of state a flow, zeroed at the start and after clear() */

	/* Pure. */
	WpProbeVerdict (*probe)(const WpProbe *probe);

	/* The unit at the front of IN. UDP: IN is one datagram, and unit->length is ignored. */
	WpDecodeStatus (*decode)(void *state, WpDecodeContext *context, WpDirection direction,
				 WpBytes in, WpUnit *out_unit);

	/*
	 * After a hole, BAD or a start in mid-stream: can a message begin at the front of IN, which is the
	 * start of a packet? Must be strict: a false yes makes false calls. OK, MORE or BAD. NULL: any
	 * packet may begin one.
	 */
	WpDecodeStatus (*sync)(void *state, WpDecodeContext *context, WpDirection direction,
			       WpBytes in);

	/*
	 * Bytes of DIRECTION are missing, other than bytes that were to be skipped. Forget what was being
	 * decoded there. (An open CALL has been emitted by the stream with what was known.) May be NULL.
	 */
	void (*lost)(void *state, WpDecodeContext *context, WpDirection direction);

	/*
	 * DIRECTION ends, as HOW says. May set unit->emits (and ->emits_first) to messages that this
	 * completes; they end with the last byte seen. What is open at the end of the flow is dropped, but
	 * for a CALL, which the stream hands over. May be NULL.
	 *
	 * A reply that lasts until its direction ends: decode() gives its unit the length G_MAXSIZE and
	 * ->extends, not ->emits, and it is handed over here, where it is known whether it is whole:
	 *
	 *      WpMessage *reply = &state->reply;
	 *      if (direction != WP_FROM_SERVER || !reply->is_open || how == WP_FINISH_END)
	 *              return;  (the capture ended: nobody knows whether more was to come)
	 *      reply->status = how == WP_FINISH_FIN ? WP_STATUS_OK : WP_STATUS_RESET;
	 *      unit->emits = reply;
	 *
	 * ->emits together with G_MAXSIZE would hand it over before this is called, whatever the end was.
	 */
	void (*finish)(void *state, WpDecodeContext *context, WpDirection direction, WpFinish how,
		       WpUnit *out_unit);

	/* Frees what state owns. May be NULL. */
	void (*clear)(void *state);

	/* Bytes of memory that state owns beside itself. Cheap. May be NULL. */
	gsize (*memory)(const void *state);
};

/* NULL-ended, in the order in which they are asked; the generic decoder is not among them. */
extern const WpDecoder *const wp_decoders[];

/* Takes what nobody else does: calls and returns by turns (decode-generic.c). */
extern const WpDecoder wp_decoder_generic;

/* What other protocols turn into after an upgrade (unit->becomes). */
extern const WpDecoder wp_decoder_tls;
extern const WpDecoder wp_decoder_http2;

/* NULL where there is none of that name. */
const WpDecoder *wp_decoder_by_name(const char *name);

typedef struct {
	const WpDecoder *decoder; /* NULL = undecided yet, ask again with more */
	WpProbeVerdict verdict;   /* of that decoder; NO for the generic one */
} WpDetection;

/*
 * The best decoder for what PROBE holds. With FINAL (no more will come) never undecided: the generic
 * decoder at the worst.
 */
WpDetection wp_decoder_detect(const WpProbe *probe, gboolean final);

#endif
