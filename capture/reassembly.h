/*
 * WpReassembly: the segments of one TCP flow in, the ordered bytes of its two directions out.
 *
 * What is in order goes straight through, uncopied. Two things make a segment wait in a copy:
 *
 *   a hole before it                            an acknowledgement of bytes not seen yet
 *     A  |=====|      |=====|                     A  |=====|.......        (captured a little later)
 *               ^hole  ^waits                     B         |=====| ack -> end of the dots: waits
 *
 * The second is for mirror ports, which change the order between the directions: a reply may stand in
 * the file before its request. As every byte travels with the stamp of its packet, waiting costs no
 * accuracy. It ends in one of these ways:
 *
 *   - the missing bytes come;
 *   - they were acknowledged, so they will not be sent again, and WP_WAIT_ORDER is over: a hole;
 *   - they were not acknowledged, and were not sent again for as long as WP_WAIT_RESEND: a hole;
 *   - too much waits behind them, or the flow ends: a hole.
 *
 * The owner keeps the time: it asks wp_reassembly_wait() after each segment, and calls
 * wp_reassembly_expire() when that wait is over.
 *
 * Offsets are 64 bits wide; their low 32 bits are the sequence number. Sequence numbers, windows,
 * flags: RFC 9293 section 3.4. Overlapping bytes: the first seen win.
 */
#ifndef WP_CAPTURE_REASSEMBLY_H
#define WP_CAPTURE_REASSEMBLY_H

#include <glib.h>

#include "capture/decoder.h"
#include "capture/packet.h"
#include "capture/sizes.h"

/*
 * What may wait in one direction of a flow. The largest send window that Linux and BSD use by default
 * is a few MiB, but on the short round trips of one site less than 1 MiB is in flight.
 */
#define WP_REASSEMBLY_MAX_BYTES    (1024 * 1024)
#define WP_REASSEMBLY_MAX_SEGMENTS 1024

/*
 * A sequence or acknowledgement number further than this from what is expected is believed only when
 * something confirms it: else one forged or broken packet would silence a flow.
 */
#define WP_REASSEMBLY_FAR (16 * 1024 * 1024)

typedef struct WpHeldSegment WpHeldSegment;
typedef struct WpReassembly WpReassembly;
typedef struct WpReassemblyEnv WpReassemblyEnv;

/* What was counted in one direction since the owner last took it. */
typedef struct {
	guint32 packets;       /* all, set by the owner */
	guint32 segments;      /* with payload; of UDP: datagrams */
	guint32 retransmitted; /* held nothing new */
	guint32 reordered;     /* came after a later one */
	guint32 conflicting;   /* repeated bytes as other bytes, or went on after the FIN */
	guint32 strange;       /* not believed: numbers far from what is expected */
	guint32 gaps;
	guint32 lost_segments; /* estimate of how many the gaps were */
	guint64 gap_bytes;
} WpHalfCounts;

/* One direction. */
typedef struct {
	/* What each packet needs stands in front, together. */
	guint is_known : 1;  /* origin and next are valid */
	guint is_seen : 1;   /* this side sent at least one packet */
	guint is_absent : 1; /* it did not for as long as a wait: nothing waits for it */
	guint has_syn : 1;   /* origin is certain */
	guint has_fin : 1;
	guint has_reset : 1; /* a RST waits */
	guint is_ended : 1;  /* the FIN was handed over */
	guint has_strange : 1;
	guint has_rival : 1;  /* its SYN came with two numbers, and the other side has taken none */
	guint32 strange;      /* sequence number after a segment that was too far off to believe */
	guint64 origin;       /* offset of the first byte: 0 in stamps */
	guint64 next;         /* offset of the next byte to hand over */
	guint64 acked;        /* end of what the other side has acknowledged */
	WpHeldSegment *first; /* waiting, by offset, no overlap */
	WpHeldSegment *last;
	WpHalfCounts counts;
	WpSizes sizes;      /* of its segments */
	guint64 fin;        /* offset of the FIN; valid with has_fin */
	guint64 mark;       /* `acked` when the present wait began */
	guint64 gap_end;    /* end of the last gap: a gap that begins here is the same one */
	guint64 last_ack;   /* latest acknowledgement inside the present hole ... */
	guint32 inner_acks; /* ... and how many there were, each the end of a lost segment */
	guint32 rival;      /* the number behind the later of the two SYNs; valid with has_rival */
	guint64 cover;      /* the first acknowledgement of all of the present hole ... */
	gint64 cover_ns;    /* ... and when */
	guint64 late; /* the other side said that bytes behind this came, and those here had not */
	guint32 held_bytes;
	guint16 n_held;
} WpHalf;

struct WpReassembly {
	WpHalf half[2];
	guint is_settling : 1; /* a SYN was not seen: earlier bytes may still turn up */
	guint is_reset : 1;
	guint has_begun : 1; /* a segment was added */
};

/* Where it goes. SIDE: 0 or 1, the sender. One set for all flows. */
typedef struct {
	void (*bytes)(WpReassemblyEnv *env, WpReassembly *flow, guint side, const guint8 *data,
		      gsize length, const WpStamp *stamp);
	/* STAMP, BY_NS, IS_LATE: see wp_stream_hole() */
	void (*hole)(WpReassemblyEnv *env, WpReassembly *flow, guint side, guint64 length,
		     const WpStamp *stamp, gint64 by_ns, gboolean is_late);
	void (*end)(WpReassemblyEnv *env, WpReassembly *flow, guint side, const WpStamp *stamp);
	void (*reset)(WpReassemblyEnv *env, WpReassembly *flow, const WpStamp *stamp);
} WpReassemblyOps;

struct WpReassemblyEnv {
	const WpReassemblyOps *ops;
	gsize held_bytes; /* of all flows, with their headers */
	guint32 largest;  /* payload of the largest segment of any flow */
};

typedef enum {
	WP_WAIT_NONE,
	WP_WAIT_ORDER, /* bytes are missing that the other side has: they come at once or never */
	WP_WAIT_RESEND /* bytes are missing that the other side lacks too: they will be sent again */
} WpWait;

/* A WpReassembly of zero bytes is one without segments. */

/* Takes one TCP segment from SIDE. Hands over what becomes deliverable. */
void wp_reassembly_add(WpReassemblyEnv *env, WpReassembly *flow, guint side,
		       const WpSegment *segment);

/* What the flow waits for. */
WpWait wp_reassembly_wait(const WpReassembly *flow);

/* TRUE where what the wait marked by wp_reassembly_mark() was about has come in the meantime. */
gboolean wp_reassembly_caught_up(const WpReassembly *flow);

/* A wait begins: what has been acknowledged so far is what wp_reassembly_expire() gives up. */
void wp_reassembly_mark(WpReassembly *flow);

/* The wait WAIT is over. */
void wp_reassembly_expire(WpReassemblyEnv *env, WpReassembly *flow, WpWait wait);

/* No more will come, or all that waits must go: hands everything over, with the holes between. */
void wp_reassembly_flush(WpReassemblyEnv *env, WpReassembly *flow);

/* TRUE when both sides have ended or the flow was reset. */
gboolean wp_reassembly_is_over(const WpReassembly *flow);

/*
 * TRUE where SEGMENT (a SYN) opens another connection than the one that FLOW holds: the same addresses
 * and ports with other sequence numbers.
 */
gboolean wp_reassembly_is_other(const WpReassembly *flow, guint side, const WpSegment *segment);

/*
 * TRUE where the SYN of SEGMENT answers the SYN of the other side once more, with another number than before: two
 * servers behind one address did. The acknowledgement of the other side will tell which it goes on with.
 */
gboolean wp_reassembly_is_rival(const WpReassembly *flow, guint side, const WpSegment *segment);

/* FALSE where a reset's number is none that its sender could have had. */
gboolean wp_reassembly_believes_reset(const WpReassembly *flow, guint side,
				      const WpSegment *segment);

/* Frees what waits. */
void wp_reassembly_clear(WpReassemblyEnv *env, WpReassembly *flow);

#endif
