/*
 * Stream, spells: returns that cannot be read, timed by their packets alone.
 *
 *      client  |call, peer = P|                          |call, peer = Q|
 *      server                  P|====|   |..cut..|   |===|Q
 *                                <------- spell -------->
 *
 * What one side sends while the other waits is a spell: it begins and ends where a packet of the other
 * side acknowledges all that came before. Where the decoder lost the thread inside (a packet cut by the
 * snap length, a lost one), the spell that begins where the return of a call must begin, and at whose end
 * the next call begins, is that return: the numbers of the packets tell so as well as their bytes.
 *
 * Not so where calls may have been sent ahead of returns: bytes of the client behind the call were not
 * seen, a packet of the client came that acknowledged less or more than had passed, the reply does not
 * acknowledge all of the call, or two calls on the flow expected their return at one place; and never
 * where the protocol lets calls begin while others wait (HTTP/2), or the server sends what nobody waits for.
 */
#include <string.h>

#include "capture/stream-private.h"

static gboolean
is_empty(const WpSpell *spell)
{
	return spell->end == spell->begin;
}

/* SPELL begins at OFFSET; what it holds of others is not looked at. */
static void
begin_spell(WpSpell *spell, guint64 offset, gboolean is_unread)
{
	spell->begin = spell->end = offset;
	spell->has_first = spell->has_last = spell->is_crossed = FALSE;
	spell->is_unread = is_unread;
	spell->status = 0;
	spell->label = 0;
}

/* A packet of FROM that acknowledges all that the other side has sent: what comes then is new. */
static void
turn(WpStream *stream, WpDirection from, guint64 peer)
{
	WpSpell *spell = &stream->spells[!from];
	if (peer != spell->end)
		spell->is_crossed = TRUE;
	if (peer != spell->end || is_empty(spell))
		return;
	stream->ended[!from] = *spell;
	begin_spell(spell, peer, stream->sides[!from].is_lost);
}

void
wp_stream_note_bytes(WpStream *stream, WpDirection from, guint64 offset, guint64 length,
		     const WpStamp *stamp)
{
	WpSpell *spell = &stream->spells[from];
	if (stamp && stamp->peer != WP_NO_OFFSET)
		turn(stream, from, stamp->peer);
	if (offset != spell->end) /* what lies between was not decoded */
		begin_spell(spell, offset, TRUE);
	if (stamp && !spell->has_first) {
		spell->has_first = TRUE;
		spell->first = *stamp;
		spell->first.offset = offset;
	}
	spell->end = offset + length;
	if (stamp && (!spell->has_last || stamp->time_ns >= spell->last.time_ns))
		spell->last = *stamp; /* what lies behind bytes that came late was there before */
	spell->last.offset = spell->end - 1;
	spell->has_last = stamp != NULL;
}

void
wp_stream_note_lost(WpStream *stream, WpDirection from)
{
	const WpMessage *open = stream->sides[from].open;
	WpSpell *spell = &stream->spells[from];
	spell->is_unread = TRUE;
	if (open && open->is_open && open->kind == WP_KIND_RETURN &&
	    open->begin.offset == spell->begin) {
		spell->status = open->status;
		spell->label = open->label;
	}
}

/* TRUE where SPELL could not be read, but its packets say all that there is to know of its times. */
static gboolean
is_whole(const WpSpell *spell)
{
	return spell->is_unread && !spell->is_crossed && spell->has_first && spell->has_last &&
	       !is_empty(spell);
}

/* TRUE where SPELL is the return of CALL, the last one that is pending. */
static gboolean
is_return(const WpStream *stream, WpDirection from, const WpPending *call, const WpSpell *spell)
{
	const WpPairing *pairing = &stream->pairings[from];
	const WpMessage *open = stream->sides[!from].open;
	WpStamp begin = { .offset = spell->begin, .peer = spell->first.peer };
	gboolean is_read = open && open->is_open && open->kind == WP_KIND_RETURN;
	if (stream->decoder->interleaves || stream->has_pushes)
		return FALSE;
	if (stream->info.is_udp || pairing->is_ahead || call->is_followed || is_read)
		return FALSE;
	if (stream->decoder->by_callid && !call->is_alone)
		return FALSE;
	return is_whole(spell) && spell->first.peer != WP_NO_OFFSET &&
	       wp_pairing_fits(call, &begin);
}

static void
pair(WpStream *stream, WpDirection from, const WpSpell *spell)
{
	WpPairing *pairing = &stream->pairings[from];
	if (pairing->n == 0 || !is_return(stream, from, &pairing->calls[pairing->n - 1], spell))
		return;
	WpMessage message = { .kind = WP_KIND_RETURN,
			      .status = spell->status,
			      .label = spell->label,
			      .is_open = TRUE,
			      .from = !from,
			      .begin = spell->first,
			      .end = spell->last,
			      .bytes = spell->end - spell->begin };
	wp_stream_count(stream, !from, WP_COUNT_RETURNS_UNREAD, 1);
	wp_stream_answer(stream, from, pairing->n - 1, &message);
}

void
wp_stream_pair_before(WpStream *stream, WpDirection from, const WpMessage *next)
{
	const WpSpell *spell = &stream->ended[!from];
	if (spell->end == next->begin.peer)
		pair(stream, from, spell);
	stream->has_pushes = stream->may_push; /* not before NEXT, which may have asked for them */
}

void
wp_stream_pair_at_end(WpStream *stream, WpDirection from)
{
	const WpSpell *spell = &stream->spells[!from];
	stream->has_pushes = stream->may_push;
	if (spell->end == stream->fins[!from] || spell->end == stream->fin_peers[from])
		pair(stream, from, spell);
}
