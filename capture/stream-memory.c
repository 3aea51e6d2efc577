/* Stream, memory: what a stream takes, and whether anything in it waits. */
#include "capture/stream-private.h"

gboolean
wp_stream_is_idle(const WpStream *stream)
{
	return stream->pairings[0].n == 0 && stream->pairings[1].n == 0 && stream->n_held == 0 &&
	       wp_inner_is_idle(stream->inner);
}

gsize
wp_stream_memory(const WpStream *stream)
{
	gsize n = sizeof *stream + stream->held_allocated * sizeof *stream->held;
	n += stream->early_bytes + wp_inner_memory(stream->inner);
	if (stream->beneath)
		n += stream->beneath->state_size;
	if (stream->decoder)
		n += stream->decoder->state_size;
	if (stream->decoder && stream->decoder->memory)
		n += stream->decoder->memory(stream->state);
	for (int i = 0; i < 2; i++) {
		const WpSide *side = &stream->sides[i];
		n += side->kept_allocated + side->pieces_allocated * sizeof *side->pieces;
		n += stream->pairings[i].n_allocated * sizeof *stream->pairings[i].calls;
		n += stream->held_bytes[i].allocated;
	}
	return n;
}
