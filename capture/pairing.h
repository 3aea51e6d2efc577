/*
 * WpPairing: the calls of one flow that wait for their return, and which return answers which.
 *
 * By id: the id decides, holes or not. In order: first come, first answered, as long as nothing is
 * missing. Around holes (and at a start in mid-stream) positions in the two byte streams decide:
 *
 *      client  ....[hole]...|call, peer = P|.........
 *      server  .........................P |return.....
 *
 * A client that has nothing outstanding acknowledges, in the packet of its call, all bytes of the
 * server up to P; the return begins exactly there. A return that begins elsewhere is not guessed at.
 */
#ifndef WP_CAPTURE_PAIRING_H
#define WP_CAPTURE_PAIRING_H

#include <glib.h>

#include "capture/decoder.h"
#include "capture/order.h"

#define WP_PAIRING_MAX_PENDING 4096

typedef struct {
	guint64 callid;
	guint64 peer; /* where the return will begin if nothing was outstanding */
	gint64 begin_ns;
	WpCallRef ref;
	guint32 label;
	guint32 note;
	guint8 marks;
	gboolean follows_hole; /* calls before it may be missing */
} WpPending;

typedef struct {
	WpPending *calls; /* oldest first */
	guint n;
	guint n_allocated;
	gboolean hole_in_calls;   /* since the last call */
	gboolean hole_in_returns; /* since the last return was paired */
} WpPairing;

void wp_pairing_clear(WpPairing *pairing);

/* Bytes are missing among the calls, or among the returns. */
void wp_pairing_hole_in_calls(WpPairing *pairing);
void wp_pairing_hole_in_returns(WpPairing *pairing);

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
int wp_pairing_match_callid(const WpPairing *pairing, guint64 callid);

/* Takes out the call at INDEX; the order of the others stays. */
void wp_pairing_remove(WpPairing *pairing, guint index);

#endif
