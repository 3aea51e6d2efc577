/* What the transport did, as words: two for each number, the lower half first. */
#include "capture/transport.h"

#include <string.h>

static const char *const names[WP_N_TRANSPORTS] = {
	"connect", "setup", "timeout", "fast", "window", "ack", "client_rtt", "server_rtt"
};

gboolean
wp_transport_is_stall(WpTransportKind kind)
{
	return kind >= WP_TRANSPORT_TIMEOUT && kind <= WP_TRANSPORT_ACK;
}

const char *
wp_transport_name(WpTransportKind kind)
{
	return kind < WP_N_TRANSPORTS ? names[kind] : "";
}

gboolean
wp_transport_from_name(const char *name, WpTransportKind *out_kind)
{
	for (guint i = 0; i < WP_N_TRANSPORTS; i++)
		if (strcmp(name, names[i]) == 0) {
			*out_kind = i;
			return TRUE;
		}
	return FALSE;
}

static void
put(guint32 *words, guint64 value)
{
	words[0] = (guint32)value;
	words[1] = (guint32)(value >> 32);
}

static guint64
get(const guint32 *words)
{
	return words[0] | (guint64)words[1] << 32;
}

void
wp_transport_pack(const WpTransport *transport, guint32 *words)
{
	put(words, (guint64)transport->begin_ns);
	put(words + 2, (guint64)transport->end_ns);
	put(words + 4, transport->first);
	put(words + 6, transport->last);
	words[8] = transport->kind;
}

gboolean
wp_transport_unpack(const guint32 *words, WpTransport *out_transport)
{
	WpTransport transport = { .begin_ns = (gint64)get(words),
				  .end_ns = (gint64)get(words + 2),
				  .first = get(words + 4),
				  .last = get(words + 6),
				  .kind = words[8] };

	if (words[8] >= WP_N_TRANSPORTS || transport.end_ns < transport.begin_ns ||
	    transport.begin_ns == WP_NO_TIME || transport.first == G_MAXUINT64 ||
	    transport.last == G_MAXUINT64) /* no number of a packet in any form of trace */
		return FALSE;
	*out_transport = transport;
	return TRUE;
}

void
wp_transport_shift(guint32 *words, guint n, gint64 shift_ns)
{
	for (guint i = 0; i < n; i++, words += WP_TRANSPORT_WORDS)
		for (guint at = 0; at < 4; at += 2)
			put(words + at, get(words + at) + (guint64)shift_ns);
}
