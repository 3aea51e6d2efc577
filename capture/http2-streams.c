/* An array of pointers, sorted by id: streams are opened in the order of their ids, so at its end. */
#include "capture/http2-streams.h"

#include <string.h>

void
wp_http2_streams_clear(WpHttp2Streams *streams)
{
	for (guint i = 0; i < streams->n_made; i++)
		g_free(streams->streams[i]);
	g_free(streams->streams);
	memset(streams, 0, sizeof *streams);
}

/* Where ID is or belongs. */
static guint
place_of(const WpHttp2Streams *streams, guint32 id)
{
	guint low = 0, high = streams->n;
	while (low < high) {
		guint middle = (low + high) / 2;
		if (streams->streams[middle]->id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

WpHttp2Stream *
wp_http2_streams_find(const WpHttp2Streams *streams, guint32 id)
{
	guint at = place_of(streams, id);
	return at < streams->n && streams->streams[at]->id == id ? streams->streams[at] : NULL;
}

WpHttp2Stream *
wp_http2_streams_add(WpHttp2Streams *streams, guint32 id)
{
	guint at = place_of(streams, id);

	g_assert(streams->n < WP_HTTP2_MAX_STREAMS);
	if (streams->n == streams->n_made) {
		streams->streams = g_renew(WpHttp2Stream *, streams->streams, streams->n_made + 1);
		streams->streams[streams->n_made++] = g_new0(WpHttp2Stream, 1);
	}
	WpHttp2Stream *stream = streams->streams[streams->n];
	memmove(&streams->streams[at + 1], &streams->streams[at],
		(streams->n - at) * sizeof streams->streams[0]);
	streams->streams[at] = stream;
	streams->n++;
	memset(stream, 0, sizeof *stream);
	stream->id = id;
	return stream;
}

void
wp_http2_streams_remove(WpHttp2Streams *streams, WpHttp2Stream *stream)
{
	guint at = place_of(streams, stream->id);

	streams->n--;
	memmove(&streams->streams[at], &streams->streams[at + 1],
		(streams->n - at) * sizeof streams->streams[0]);
	streams->streams[streams->n] = stream;
	memset(stream, 0, sizeof *stream);
}

WpHttp2Stream *
wp_http2_streams_quietest(const WpHttp2Streams *streams)
{
	WpHttp2Stream *found = streams->streams[0];
	for (guint i = 1; i < streams->n; i++)
		if (streams->streams[i]->message.end.time_ns < found->message.end.time_ns)
			found = streams->streams[i];
	return found;
}

void
wp_http2_streams_settle(WpHttp2Streams *streams, guint64 packet)
{
	for (guint i = 0; packet && i < streams->n; i++) {
		WpHttp2Stream *stream = streams->streams[i];
		stream->is_settled |= stream->is_doubtful && stream->message.end.packet == packet;
	}
}

gsize
wp_http2_streams_memory(const WpHttp2Streams *streams)
{
	return streams->n_made * (sizeof(WpHttp2Stream) + sizeof streams->streams[0]);
}
