/*
 * WpStream: the conversation of one flow: ordered bytes of two directions in, messages out.
 *
 * Reassembly pushes bytes (each with the stamp of its packet), holes and ends; the stream detects the
 * protocol, keeps what the decoder has not consumed, skips bodies, and hands finished messages to
 * pairing, which makes records of them.
 *
 *   reassembly --bytes, holes, ends--> stream <--units--> decoder
 *                                        |
 *                                     messages --> pairing --> order --> sink
 */
#ifndef WP_CAPTURE_STREAM_H
#define WP_CAPTURE_STREAM_H

#include <glib.h>

#include "capture/counters.h"
#include "capture/decoder.h"
#include "capture/order.h"
#include "capture/flow-watch.h"

/* Bytes kept for one direction while a unit's head is incomplete; more is WP_DECODE_BAD. */
#define WP_STREAM_HEAD_MAX (64 * 1024)

/* Bytes kept for one direction while the protocol is not yet known. */
#define WP_STREAM_UNDECIDED_MAX (8 * 1024)

/* The same where the flow is joined in the middle. */
#define WP_STREAM_JOINED_MAX (256 * 1024)

/* Replies over UDP that wait for their call, in one flow; the oldest goes as an orphan. */
#define WP_STREAM_MAX_EARLY 16

/* Place in WpStreamShared.spoken of a server's port. */
#define WP_STREAM_SPOKEN(port, is_udp) ((gsize)(port) + (is_udp ? 65536 : 0))
#define WP_STREAM_N_SPOKEN             (2 * (gsize)65536)

typedef struct WpStream WpStream;

/* What all streams of a capture share. Borrowed; must outlive the streams. */
typedef struct {
	WpNodes *nodes;
	WpCounters *counters;
	WpOrder *order;
	guint64 token_key;       /* for token hashes */
	const WpDecoder *forced; /* --decode-as: used where its port matches; NULL = none */
	guint16 forced_port;
	const WpDecoder **
		spoken; /* by WP_STREAM_SPOKEN(): what a flow last spoke for sure there; may be NULL */
	const struct WpRmiNames *rmi_names; /* names of methods; NULL = none */
	const struct WpKeylog *keylog;      /* secrets of TLS connections; may grow; NULL = none */
	guint32 max_pending;                /* calls without a return kept per flow; 0 = default */
} WpStreamShared;

typedef struct {
	WpEndpoint client; /* the sender of the SYN or, where none was seen, a guess */
	WpEndpoint server;
	guint32 flow; /* number, from 1 */
	guint8 tap;   /* number of the input */
	gboolean is_udp;
	gboolean is_oriented; /* client and server are certain; else the stream may swap them */
	gboolean from_start;  /* the flow was seen to open */
	WpFlowWatch
		*watch; /* of its packets; NULL = none (UDP). Borrowed, must outlive the stream */
	guint8 depth;   /* of streams that it is inside of (TLS) */
} WpStreamInfo;

/* (transfer full) */
WpStream *wp_stream_new(const WpStreamShared *shared, const WpStreamInfo *info);

/* Frees; call wp_stream_finish() before, or what is open is lost without a count. */
void wp_stream_free(WpStream *stream);

/*
 * The next bytes from the CLIENT or SERVER of info (TCP). stamp->offset need not be set. DATA is
 * borrowed for the call.
 */
void wp_stream_bytes(WpStream *stream, WpDirection from, const guint8 *data, gsize length,
		     const WpStamp *stamp);

/*
 * LENGTH bytes are missing here. STAMP: when they passed, where the packet was seen but not its
 * bytes (snap length); NULL where the packet was not seen at all. BY_NS: when they had passed at the
 * latest, for they were acknowledged then; WP_NO_TIME where unknown. IS_LATE: after bytes behind them, of which
 * the last is not what made the message whole then.
 */
void wp_stream_hole(WpStream *stream, WpDirection from, guint64 length, const WpStamp *stamp,
		    gint64 by_ns, gboolean is_late);

/* One datagram (UDP). WIRE_LENGTH >= LENGTH: its payload on the wire, where the capture cut it. */
void wp_stream_datagram(WpStream *stream, WpDirection from, const guint8 *data, gsize length,
			gsize wire_length, const WpStamp *stamp);

/* FROM sends no more (FIN). */
void wp_stream_end(WpStream *stream, WpDirection from, const WpStamp *stamp);

/* Nothing more will come from either side. STAMP: of the reset, else NULL. Once. */
void wp_stream_finish(WpStream *stream, WpFinish how, const WpStamp *stamp);

/* TRUE where nothing is lost when STREAM is finished now: no call waits for its return. */
gboolean wp_stream_is_idle(const WpStream *stream);

/* Bytes of memory that STREAM takes, allocator's overhead left out. Cheap. */
gsize wp_stream_memory(const WpStream *stream);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpStream, wp_stream_free)

#endif
