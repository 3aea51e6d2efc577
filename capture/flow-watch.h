/*
 * WpFlowWatch: what the transport does on one TCP flow, learned from its packets as they pass: how long connecting took, the
 * round trips, and where a side could not go on sending, with the reason. transport.h says what each of them is;
 * records carry what they have to do with.
 *
 *   sent       |--A--|--B--|--C--|           |--B--|       B is sent again
 *   acked      |-------- A -- A -- A ------->              by the clock, or as equal acknowledgements asked for it
 *                    |<---- held up -------->|             from when B passed first
 *
 * A segment that the tap saw once only was lost before it: then it is late from when a later one passed. Where it was
 * the last, and lost before the tap, nothing shows that it is late. A segment that was sent again though it had come
 * (a probe of RFC 8985 section 7, while its acknowledgement was held back) has held up nobody: the receiver says so,
 * RFC 2883.
 */
#ifndef WP_CAPTURE_FLOW_WATCH_H
#define WP_CAPTURE_FLOW_WATCH_H

#include <glib.h>

#include "capture/decoder.h"
#include "capture/packet.h"
#include "capture/transport.h"

/* Segments on their way of which the time is kept, by side; of more, every other one is forgotten. */
#define WP_FLOW_WATCH_MAX_SENT 4

/* Stalls of a flow that wait for the return of the call that they held up; the oldest goes, counted. */
#define WP_FLOW_WATCH_MAX_STALLS 4

typedef struct {
	gint64 time_ns;
	guint64 packet;
} WpFlowWatchPoint;

/* A segment that is not acknowledged yet. */
typedef struct {
	WpFlowWatchPoint at;
	guint32 end; /* sequence number behind it */
	gboolean is_resent;
} WpFlowWatchSent;

/* A stall; over when FROM sent the segment from SEQ to END again, or of another cause. */
typedef struct {
	WpTransport what;
	guint32 seq, end;
	guint8 from;         /* WpDirection */
	guint is_resent : 1; /* the three before are known: it was sent again then */
	guint is_told : 1;   /* a call has it */
} WpFlowWatchStall;

/* What one side sends, and what the other says of it. */
typedef struct {
	/* What each packet needs stands in front, together. */
	guint32 top;   /* sequence number behind all that was sent; valid with is_known */
	guint32 acked; /* the other side has all before */
	guint32 hole_begin, hole_end; /* sequence numbers that did not pass; equal: none */
	guint32 largest;              /* payload of a segment */
	guint16 window;
	guint8 n_sent;
	guint8 n_equal; /* acknowledgements in a row that say the same */
	guint is_known : 1;
	guint is_closed : 1;
	guint is_opened : 1;
	guint is_late : 1;
	guint is_rtt_new : 1;  /* since it was told last */
	WpFlowWatchPoint last; /* payload of this side that was new */
	gint64 rtt_ns;         /* least from the tap to this side and back; 0 = not known */
	WpFlowWatchSent sent[WP_FLOW_WATCH_MAX_SENT]; /* by end */
	WpFlowWatchPoint hole;                        /* a segment passed that left one */
	WpFlowWatchPoint closed; /* this side has no room: what the other sent last filled it */
	WpFlowWatchPoint opened; /* ... and has some again */
	WpFlowWatchPoint late;   /* what was sent last when its acknowledgement came late */
	gint64 late_ns;          /* when that came; valid with is_late */
	gint64 equal_ns;         /* the latest of the equal acknowledgements */
} WpFlowWatchSide;

typedef struct {
	guint8 n_stalls;
	guint8 last_sender; /* WpDirection of the latest payload */
	guint is_told : 1;  /* what the connection cost */
	guint32 n_left_out; /* stalls, since they were counted last: of many at a time */
	guint32 n_between;  /* ... that held up no call that the tap could see */
	WpFlowWatchPoint syn, last_syn,
		answer;             /* SYN, the last one, SYN+ACK; packet 0 = not seen */
	WpFlowWatchPoint connected; /* ACK of that */
	WpFlowWatchPoint setup;     /* end of the last message of a greeting or login */
	WpFlowWatchSide sides[2];   /* by WpDirection */
	WpFlowWatchStall stalls[WP_FLOW_WATCH_MAX_STALLS];
} WpFlowWatch;

/* A WpFlowWatch of zero bytes has seen nothing. SEGMENT, of TCP, passes. */
void wp_flow_watch_add(WpFlowWatch *watch, WpDirection from, const WpSegment *segment);

/* The flow is over: what no call has held is counted. */
void wp_flow_watch_end(WpFlowWatch *watch);

/* A message that set the connection up ended with the packet of STAMP. */
void wp_flow_watch_note_setup(WpFlowWatch *watch, const WpStamp *stamp);

/* What the connection cost before a call that began at CALL_NS; once, then nothing. Returns how many. */
guint wp_flow_watch_take_setup(WpFlowWatch *watch, gint64 call_ns,
			       WpTransport out[WP_RECORD_MAX_TRANSPORTS]);

/*
 * What held up a call that began at CALL_NS and whose return ended at RETURN_NS, in order of time, and then round trips that
 * were shorter than before. Returns how many. Stalls that ended before the call are forgotten.
 */
guint wp_flow_watch_take_stalls(WpFlowWatch *watch, gint64 call_ns, gint64 return_ns,
				WpTransport out[WP_RECORD_MAX_TRANSPORTS]);

#endif
