/* Pending calls in an array, oldest first: a flow has few of them at any time. */
#include "capture/pairing.h"

#include <string.h>

#define FIRST_CALLS 4

void
wp_pairing_clear(WpPairing *pairing)
{
	g_free(pairing->calls);
	memset(pairing, 0, sizeof *pairing);
}

void
wp_pairing_hole_in_calls(WpPairing *pairing)
{
	pairing->hole_in_calls = TRUE;
}

void
wp_pairing_hole_in_returns(WpPairing *pairing)
{
	pairing->hole_in_returns = TRUE;
}

WpPending *
wp_pairing_add(WpPairing *pairing, const WpMessage *call, WpCallRef ref)
{
	if (pairing->n == pairing->n_allocated) {
		pairing->n_allocated = MAX(FIRST_CALLS, pairing->n_allocated * 2);
		pairing->calls = g_renew(WpPending, pairing->calls, pairing->n_allocated);
	}
	WpPending *pending = &pairing->calls[pairing->n++];
	*pending = (WpPending){
		.callid = call->callid,
		.peer = call->begin.peer,
		.begin_ns = call->begin.time_ns,
		.ref = ref,
		.label = call->label,
		.note = call->note,
		.marks = call->marks,
		.follows_hole = pairing->hole_in_calls,
	};
	pairing->hole_in_calls = FALSE;
	return pending;
}

/* A call whose return must begin exactly where RETURN_MESSAGE does. */
static int
match_position(const WpPairing *pairing, const WpMessage *return_message)
{
	if (return_message->begin.offset == WP_NO_OFFSET)
		return WP_PAIRING_UNSURE;
	for (guint i = 0; i < pairing->n; i++)
		if (pairing->calls[i].peer == return_message->begin.offset)
			return (int)i;
	return WP_PAIRING_UNSURE;
}

int
wp_pairing_match_order(WpPairing *pairing, const WpMessage *return_message, guint *out_before)
{
	*out_before = 0;
	if (pairing->n == 0)
		return WP_PAIRING_ORPHAN;
	if (!pairing->hole_in_returns && !pairing->calls[0].follows_hole)
		return 0;
	int found = match_position(pairing, return_message);
	if (found >= 0) {
		*out_before = (guint)found;
		pairing->hole_in_returns = FALSE;
	}
	return found;
}

int
wp_pairing_match_callid(const WpPairing *pairing, guint64 callid)
{
	for (guint i = 0; i < pairing->n; i++)
		if (pairing->calls[i].callid == callid)
			return (int)i;
	return WP_PAIRING_ORPHAN;
}

void
wp_pairing_remove(WpPairing *pairing, guint index)
{
	pairing->n--;
	memmove(&pairing->calls[index], &pairing->calls[index + 1],
		(pairing->n - index) * sizeof pairing->calls[0]);
}
