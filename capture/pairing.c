/*
 * Pending calls in an array, oldest first: a flow has few of them at any time, but thousands where one of
 * its directions is missing.
 */
#include "capture/pairing.h"

#include <string.h>

#define FIRST_CALLS 4
#define QUIET       (50 * G_GINT64_CONSTANT(1000000)) /* ns; what was outstanding has come or was lost */
#define QUIET_LEAST (G_GINT64_CONSTANT(1000000)) /* ... and twice the longest latency, not less */
#define FITS_LEAST  4  /* returns that begin where they should, before their latency is trusted */
#define FITS_QUIET  4  /* ... and so many times the longest must pass without a call or return */
#define LOOK_BACK   64 /* calls whose returns are expected at one place stand together */

void
wp_pairing_clear(WpPairing *pairing)
{
	WpPending *places = pairing->calls ? pairing->calls - pairing->n_gone : NULL;
	if (places != &pairing->first)
		g_free(places);
	memset(pairing, 0, sizeof *pairing);
}

void
wp_pairing_hole_in_calls(WpPairing *pairing)
{
	for (guint i = 0; i < pairing->n; i++)
		pairing->calls[i].before_hole = TRUE;
	pairing->hole_in_calls = pairing->misses_calls = TRUE;
}

void
wp_pairing_hole_in_returns(WpPairing *pairing)
{
	pairing->hole_in_returns = TRUE;
	pairing->n_holes += !pairing->in_hole;
	pairing->in_hole = pairing->is_answered = TRUE;
}

void
wp_pairing_lost_calls(WpPairing *pairing)
{
	for (guint i = 0; i < pairing->n; i++)
		pairing->calls[i].is_followed = TRUE;
}

static void
make_room(WpPairing *pairing)
{
	WpPending *places = pairing->calls ? pairing->calls - pairing->n_gone : NULL;

	if (pairing->n_allocated == 0) {
		pairing->calls = &pairing->first;
		pairing->n_allocated = 1;
		return;
	}
	if (pairing->n_gone < pairing->n) {
		pairing->n_allocated = MAX(FIRST_CALLS, pairing->n_allocated * 2);
		WpPending *old = places == &pairing->first ? NULL : places;
		places = g_renew(WpPending, old, pairing->n_allocated);
		if (!old)
			places[0] = pairing->first;
	}
	memmove(places, places + pairing->n_gone, pairing->n * sizeof *places);
	pairing->calls = places;
	pairing->n_gone = 0;
}

/* From here on all that is outstanding is pending. */
static void
begin_anew(WpPairing *pairing)
{
	pairing->n_holes = pairing->n_unsure = pairing->n_fits = 0;
	pairing->longest_fit_ns = 0;
	pairing->misses_calls = FALSE;
}

/*
 * A client that ran ahead of a hole, then asks one by one: each return begins where that of the latest call
 * would. Were one of an older call outstanding, the server would not be silent for many times as long.
 */
static gboolean
is_silent(const WpPairing *pairing, gint64 now_ns)
{
	gint64 quiet_ns = MAX(FITS_QUIET * pairing->longest_fit_ns, QUIET_LEAST);
	return pairing->is_answered && pairing->n_fits >= FITS_LEAST &&
	       now_ns - pairing->last_ns > quiet_ns;
}

/* TRUE where the returns of all calls that are pending have come, unread, or were lost. */
static gboolean
is_clear(const WpPairing *pairing, gint64 now_ns)
{
	gint64 quiet_ns = QUIET;
	if (pairing->longest_ns)
		quiet_ns = CLAMP(2 * pairing->longest_ns, QUIET_LEAST, QUIET);
	if (pairing->n == 0 || now_ns - pairing->last_ns > quiet_ns || is_silent(pairing, now_ns))
		return TRUE;
	return !pairing->misses_calls && pairing->n <= pairing->n_holes + pairing->n_unsure;
}

WpPending *
wp_pairing_add(WpPairing *pairing, const WpMessage *call, WpCallRef ref)
{
	if (pairing->n_gone + pairing->n == pairing->n_allocated)
		make_room(pairing);
	guint n_looked = call->begin.peer == WP_NO_OFFSET ? 0 : MIN(pairing->n, LOOK_BACK);
	for (guint i = 0; i < n_looked; i++)
		pairing->is_ahead |= pairing->calls[pairing->n - 1 - i].peer == call->begin.peer;
	gboolean clear = is_clear(pairing, call->begin.time_ns);
	pairing->in_hole = pairing->is_answered = FALSE;
	pairing->last_ns = MAX(pairing->last_ns, call->end.time_ns);
	WpPending *pending = &pairing->calls[pairing->n++];
	*pending = (WpPending){
		.callid = call->callid,
		.peer = call->begin.peer,
		.end_offset = call->end.offset,
		.begin_ns = call->begin.time_ns,
		.ref = ref,
		.label = call->label,
		.note = call->note,
		.marks = call->marks,
		.follows_hole = pairing->hole_in_calls,
		.is_alone = pairing->n == 1,
		.is_clear = clear,
	};
	pairing->hole_in_calls = FALSE;
	return pending;
}

gboolean
wp_pairing_fits(const WpPending *call, const WpStamp *begin)
{
	return begin->offset != WP_NO_OFFSET && call->peer == begin->offset &&
	       (begin->peer == WP_NO_OFFSET || begin->peer > call->end_offset);
}

/* The first call whose return must begin exactly at BEGIN; NULL where there is none. */
static const WpPending *
find_position(const WpPairing *pairing, const WpStamp *begin)
{
	for (guint i = 0; i < pairing->n; i++)
		if (wp_pairing_fits(&pairing->calls[i], begin))
			return &pairing->calls[i];
	return NULL;
}

static void
note_fit(WpPairing *pairing, const WpMessage *return_message)
{
	const WpPending *call = find_position(pairing, &return_message->begin);
	if (!call)
		return;
	gint64 latency_ns = return_message->end.time_ns - call->begin_ns;
	pairing->n_fits++;
	pairing->longest_fit_ns = MAX(pairing->longest_fit_ns, latency_ns);
}

int
wp_pairing_find(const WpPairing *pairing, const WpStamp *begin)
{
	if (pairing->n == 0)
		return WP_PAIRING_ORPHAN;
	if (!pairing->hole_in_returns && !pairing->calls[0].follows_hole)
		return 0;
	const WpPending *call = find_position(pairing, begin);
	if (!call || (pairing->is_ahead && !call->is_clear))
		return WP_PAIRING_UNSURE;
	return (int)(call - pairing->calls);
}

int
wp_pairing_match_order(WpPairing *pairing, const WpMessage *return_message, guint *out_before)
{
	gboolean is_doubted = pairing->hole_in_returns;
	int found = wp_pairing_find(pairing, &return_message->begin);
	*out_before = 0;
	pairing->in_hole = FALSE;
	pairing->is_answered = TRUE;
	pairing->last_ns = MAX(pairing->last_ns, return_message->end.time_ns);
	pairing->n_unsure += found == WP_PAIRING_UNSURE;
	if (found == WP_PAIRING_UNSURE)
		note_fit(pairing, return_message);
	/* Its call may come yet, and must not be given the next return. */
	if (found == WP_PAIRING_ORPHAN && return_message->begin.offset != WP_NO_OFFSET)
		pairing->hole_in_returns = TRUE;
	if (found >= 0) {
		*out_before = (guint)found;
		pairing->longest_ns =
			MAX(pairing->longest_ns,
			    return_message->end.time_ns - pairing->calls[found].begin_ns);
		if (is_doubted || found > 0)
			begin_anew(pairing);
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

int
wp_pairing_match_reused(const WpPairing *pairing, const WpMessage *return_message)
{
	int found = wp_pairing_match_callid(pairing, return_message->callid);
	if (found < 0 || !pairing->calls[found].before_hole)
		return found;
	return wp_pairing_fits(&pairing->calls[found], &return_message->begin) ? found
									       : WP_PAIRING_UNSURE;
}

void
wp_pairing_remove(WpPairing *pairing, guint index)
{
	pairing->n--;
	if (index > 0) {
		memmove(&pairing->calls[index], &pairing->calls[index + 1],
			(pairing->n - index) * sizeof pairing->calls[0]);
		return;
	}
	/* The oldest goes nearly always; of thousands, the others are not moved for it. */
	pairing->calls++;
	pairing->n_gone++;
	if (pairing->n == 0) {
		pairing->calls -= pairing->n_gone;
		pairing->n_gone = 0;
	}
}
