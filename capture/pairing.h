/*
 * WpPairing: the calls of one flow that wait for their return, and which return answers which.
 *
 * By id: the id decides, holes or not; where ids are used again as soon as they are free, behind a hole
 * among the calls the position (see below) as well. In order: first come, first answered, as long as nothing is
 * missing. Around holes (and at a start in mid-stream, and after an orphan) positions in the two byte
 * streams decide:
 *
 *      client  ....[hole]...|call, peer = P|.........
 *      server  .........................P |return.....
 *
 * A client that has nothing outstanding acknowledges, in the packet of its call, all bytes of the
 * server up to P; the return begins exactly there, and acknowledges the call. A return that begins
 * elsewhere is not guessed at. Where calls are sent ahead of returns, the position is that of an older
 * call's return, but where all older ones are accounted for, or nothing was said for a while.
 */
#ifndef WP_CAPTURE_PAIRING_H
#define WP_CAPTURE_PAIRING_H

#include <glib.h>

#include "capture/decoder.h"
#include "capture/order.h"

#define WP_PAIRING_MAX_PENDING 4096

typedef struct {
	guint64 callid;
	guint64 peer;       /* where the return will begin if nothing was outstanding */
	guint64 end_offset; /* of the last byte of the call that was seen */
	gint64 begin_ns;
	WpCallRef ref;
	guint32 label;
	guint32 note;
	guint32 protocol; /* of its record */
	guint n_repeats;  /* times that it was sent again */
	guint8 marks;
	gboolean follows_hole; /* calls before it may be missing */
	gboolean before_hole;  /* calls after it may be missing */
	gboolean is_followed;  /* packets after it are missing: so are calls, perhaps */
	gboolean is_alone;     /* no call was pending when it came */
	gboolean is_clear;     /* nothing was outstanding then, pending calls' returns being lost */
} WpPending;

typedef struct {
	WpPending *calls; /* oldest first; NULL, or within first or what is allocated */
	guint n;
	guint n_gone; /* free places before them */
	guint n_allocated;
	gboolean hole_in_calls;   /* since the last call */
	gboolean hole_in_returns; /* since the last return was paired */
	gboolean is_ahead;        /* two calls expected their return at one place */
	gboolean misses_calls; /* since none was pending or a return was paired by its position */
	gboolean in_hole;      /* no return and no call has come since the last hole in returns */
	guint n_holes;         /* in returns, since then: each took one at least */
	guint n_unsure;        /* returns that were not paired, since then */
	gint64 last_ns;        /* of the last call or return */
	gint64 longest_ns;     /* latency of a call that was answered */
	gboolean is_answered;  /* a return came last, or was lost */
	guint n_fits;          /* unsure returns that begin where one was expected */
	gint64 longest_fit_ns; /* their latency, if they are what they seem */
	WpPending first;       /* there is seldom another; so it may not be moved once used */
} WpPairing;

void wp_pairing_clear(WpPairing *pairing);

/* Bytes are missing among the calls, or among the returns. */
void wp_pairing_hole_in_calls(WpPairing *pairing);
void wp_pairing_hole_in_returns(WpPairing *pairing);

/* The hole among the calls is one of lost packets, not of one cut by the snap length. */
void wp_pairing_lost_calls(WpPairing *pairing);

/* Adds a call. The caller has made room: n < WP_PAIRING_MAX_PENDING. (transfer none) */
WpPending *wp_pairing_add(WpPairing *pairing, const WpMessage *call, WpCallRef ref);

/*
 * The index of the call that the return RETURN_MESSAGE answers. *OUT_BEFORE: how many older calls can
 * then no longer be answered (in order only). -1: none (an orphan); -2: a hole leaves it open.
 */
enum {
	WP_PAIRING_ORPHAN = -1,
	WP_PAIRING_UNSURE = -2
};
int wp_pairing_match_order(WpPairing *pairing, const WpMessage *return_message, guint *out_before);
int wp_pairing_find(const WpPairing *pairing,
		    const WpStamp *begin); /* of a return in order, so far */
int wp_pairing_match_callid(const WpPairing *pairing, guint64 callid);
int wp_pairing_match_reused(const WpPairing *pairing, const WpMessage *return_message);

/*
 * TRUE where a return that begins at BEGIN may be that of CALL by its numbers: it begins where it must, and
 * its sender had all of the call that was seen.
 */
gboolean wp_pairing_fits(const WpPending *call, const WpStamp *begin);

/* Takes out the call at INDEX; the order of the others stays. */
void wp_pairing_remove(WpPairing *pairing, guint index);

#endif
