/*
 * Stream, inner: what is sealed in a conversation (TLS) is a conversation too. It gets a stream of its own,
 * whose bytes have the times of the packets that carry them, and offsets of their own:
 *
 *     outer  ..|record......|ticket|record......|  (hole)  |record...|
 *     inner    |-- bytes ---|      |-- bytes ---|  (hole)  |- bytes -|
 *              ^ knot       ^      ^            ^          ^
 *
 * Knots say which outer offset is which inner one. By them, what a packet acknowledged of the other
 * direction (WpStamp.peer) is told in inner bytes: at a knot exactly, between knots as "within", which is
 * nobody's begin.
 */
#include <string.h>

#include "capture/stream-private.h"

/* Of each direction, the last so many; acknowledgements of what lies before are not understood. */
#define MAX_KNOTS 64

/* TLS inside TLS (a proxy reached by TLS) is looked into; not more. */
#define MAX_DEPTH 2

typedef struct {
	guint64 outer;
	guint64 inner;
} Knot;

typedef struct {
	Knot knots[MAX_KNOTS]; /* a ring */
	guint64 n;             /* ever made */
} InnerSide;

struct WpInner {
	WpStream *stream;
	InnerSide sides[2];
};

static Knot *
knot_at(InnerSide *side, guint64 i)
{
	return &side->knots[i % MAX_KNOTS];
}

static void
add_knot(InnerSide *side, guint64 outer, guint64 inner)
{
	*knot_at(side, side->n++) = (Knot){ outer, inner };
}

/* The inner offset for an outer one. */
static guint64
map(InnerSide *side, guint64 outer)
{
	if (outer == WP_NO_OFFSET)
		return outer;
	guint64 i = side->n, oldest = side->n > MAX_KNOTS ? side->n - MAX_KNOTS : 0;
	while (i > oldest && knot_at(side, i - 1)->outer > outer)
		i--;
	if (i == oldest)
		return oldest ? WP_NO_OFFSET : 0;
	const Knot *knot = knot_at(side, i - 1);
	guint64 past = outer - knot->outer;
	if (i == side->n) /* not seen yet, or in a hole */
		return knot->inner + past;
	return knot->inner + MIN(MIN(past, 1), knot_at(side, i)->inner - knot->inner);
}

static WpStamp
map_stamp(WpInner *inner, WpDirection from, const WpStamp *stamp)
{
	WpStamp mapped = *stamp;
	if (inner->stream->info.depth == 1)
		mapped.seq = stamp->base + (guint32)stamp->offset;
	mapped.peer = map(&inner->sides[!from], stamp->peer);
	mapped.offset = map(&inner->sides[from], stamp->offset);
	return mapped;
}

/* The bytes of the unit may have come in several packets, and so has the text: N bytes with each one's stamp. */
static void
feed_pieces(WpStream *stream, WpDirection from, WpBytes data, gsize lead, gsize unit)
{
	WpInner *inner = stream->inner;
	const WpSide *side = &stream->sides[from];
	guint64 begin = side->offset + lead, end = side->offset + unit;
	WpStamp first = map_stamp(inner, from, &side->pieces[0].stamp);
	gsize at = 0;

	for (guint i = 0; i < side->n_pieces && at < data.length; i++) {
		const WpPiece *piece = &side->pieces[i];
		gboolean is_last = piece->end >= end || i + 1 == side->n_pieces;
		guint64 seen = piece->end > begin ? piece->end - begin : 0;
		/* The last byte counts as seen with the whole unit, the first with its begin. */
		gsize until = is_last ? data.length : (gsize)MIN(seen, data.length - 1);
		WpStamp stamp = map_stamp(inner, from, &piece->stamp);
		if (at == 0 && until > 0) {
			wp_stream_bytes(inner->stream, from, data.data, 1, &first);
			at = 1;
		}
		if (until > at)
			wp_stream_bytes(inner->stream, from, data.data + at, until - at, &stamp);
		at = MAX(at, until);
	}
}

void
wp_decode_inner_begin(WpDecodeContext *context, const WpDecoder *decoder, gboolean from_start)
{
	WpStream *stream = context->stream;
	if (stream->inner || stream->info.depth >= MAX_DEPTH)
		return;
	WpStreamInfo info = stream->info;
	if (stream->is_swapped) {
		info.client = stream->info.server;
		info.server = stream->info.client;
	}
	info.is_oriented = TRUE;
	info.from_start = from_start;
	info.depth++;
	stream->inner = g_new0(WpInner, 1);
	WpStream *new = stream->inner->stream = wp_stream_new(stream->shared, &info);
	if (stream->beneath) {
		wp_stream_set_decoder(new, stream->beneath);
		g_free(new->state);
		new->state = g_steal_pointer(&stream->beneath_state);
		stream->beneath = NULL;
	} else if (decoder) {
		wp_stream_set_decoder(new, decoder);
	}
	for (int i = 0; i < 2; i++)
		add_knot(&stream->inner->sides[i], stream->sides[i].offset, 0);
	new->is_sure = new->decoder != NULL;
	new->sides[0].is_lost = new->sides[1].is_lost = new->decoder && !from_start;
}

void
wp_decode_inner(WpDecodeContext *context, WpDirection direction, WpBytes data, gsize lead,
		gsize unit, guint64 missed)
{
	WpStream *stream = context->stream;
	if (!stream->inner)
		return;
	InnerSide *side = &stream->inner->sides[direction];
	guint64 begin = stream->sides[direction].offset;
	guint64 inner = knot_at(side, side->n - 1)->inner;
	if (begin > knot_at(side, side->n - 1)->outer) {
		guint64 gap = begin - knot_at(side, side->n - 1)->outer;
		guint64 missing = gap > missed ? gap - missed : 1;
		WpStream *inside = stream->inner->stream;
		wp_stream_hole(inside, direction, missing, NULL, wp_decode_time(context), FALSE);
		/* What was acknowledged in the hole was told in outer bytes. */
		inside->sides[direction].offset += gap - missing;
		inner += gap;
		add_knot(side, begin, inner);
	}
	if (data.length)
		feed_pieces(stream, direction, data, lead, unit);
	add_knot(side, begin + unit, inner + data.length);
}

const struct WpKeylog *
wp_decode_keylog(const WpDecodeContext *context)
{
	return context->stream->shared->keylog;
}

/* --- for the outer stream --- */

void
wp_inner_end(WpInner *inner, WpDirection from, const WpStamp *stamp)
{
	if (!inner)
		return;
	WpStamp mapped;
	if (stamp)
		mapped = map_stamp(inner, from, stamp);
	wp_stream_end(inner->stream, from, stamp ? &mapped : NULL);
}

void
wp_inner_finish(WpInner *inner, WpFinish how, const WpStamp *stamp)
{
	if (inner)
		wp_stream_finish(inner->stream, how, stamp);
}

void
wp_inner_free(WpInner *inner)
{
	if (!inner)
		return;
	wp_stream_free(inner->stream);
	g_free(inner);
}

gboolean
wp_inner_is_idle(const WpInner *inner)
{
	return !inner || wp_stream_is_idle(inner->stream);
}

gsize
wp_inner_memory(const WpInner *inner)
{
	return inner ? sizeof *inner + wp_stream_memory(inner->stream) : 0;
}
