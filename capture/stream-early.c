/*
 * Stream, datagrams that came too early: a mirror port whose directions have different clocks may show
 * a reply before its call, and UDP has no numbers that tell the order. So a reply whose id no call has
 * waits for that call as it came, and is decoded again behind it: what it says may depend on the call.
 */
#include <string.h>

#include "capture/stream-private.h"

/* As long as segments of TCP may wait for those that they acknowledge; see flow.c. */
#define PATIENCE (20 * G_GINT64_CONSTANT(1000000))

struct WpEarly {
	WpEarly *next;
	WpStamp stamp;
	guint64 callid;
	WpDirection from;
	gsize length;
	gsize wire_length;
	guint8 bytes[];
};

/* Takes the one at AT out of the list; to be freed. */
static WpEarly *
take(WpStream *stream, WpEarly **at)
{
	WpEarly *early = *at;
	*at = early->next;
	stream->n_early--;
	stream->early_bytes -= sizeof *early + early->length;
	return early;
}

static void
give_up_first(WpStream *stream)
{
	g_autofree WpEarly *early = take(stream, &stream->early);
	wp_stream_count(stream, early->from, WP_COUNT_RETURNS_ORPHAN, 1);
}

void
wp_stream_keep_early(WpStream *stream, WpDirection from, WpBytes datagram, gsize wire_length,
		     const WpStamp *stamp)
{
	if (stream->n_early == WP_STREAM_MAX_EARLY)
		give_up_first(stream);
	WpEarly *early = g_malloc(sizeof *early + datagram.length);
	*early = (WpEarly){ .stamp = *stamp,
			    .callid = stream->orphan_callid,
			    .from = from,
			    .length = datagram.length,
			    .wire_length = wire_length };
	memcpy(early->bytes, datagram.data, datagram.length);
	WpEarly **at = &stream->early;
	while (*at)
		at = &(*at)->next;
	*at = early;
	stream->n_early++;
	stream->early_bytes += sizeof *early + datagram.length;
}

void
wp_stream_feed_early(WpStream *stream, WpDirection from)
{
	while (stream->early && stream->now_ns - stream->early->stamp.time_ns > PATIENCE)
		give_up_first(stream);
	for (WpEarly **at = &stream->early; *at;) {
		if ((*at)->from != from ||
		    wp_pairing_match_callid(&stream->pairings[!from], (*at)->callid) < 0) {
			at = &(*at)->next;
			continue;
		}
		g_autofree WpEarly *early = take(stream, at);
		stream->is_replay = TRUE;
		wp_stream_feed_datagram(stream, from, early->bytes, early->length,
					early->wire_length, &early->stamp);
		stream->is_replay = FALSE;
	}
}

void
wp_stream_drop_early(WpStream *stream)
{
	while (stream->early)
		give_up_first(stream);
}
