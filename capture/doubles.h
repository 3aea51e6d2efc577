/*
 * WpDoubles: recognises packets that a mirror port, a bridge or several capture points delivered more
 * than once.
 *
 * A copy has the same content from layer 3 up, but may differ in MAC addresses, VLAN tag, TTL, and in
 * what routers and network cards rewrite (checksums, DSCP). Only what is certainly a copy is one:
 *
 *   key    what sender and receiver put into the packet, so that an application or TCP that sends the
 *          same again makes another key: IP id, sequence numbers, flags, window, timestamps; of UDP all
 *          payload.
 *   weak   keys without IP id and timestamps (IPv6 UDP, Linux sockets that answer anybody) are the same
 *          for two genuine datagrams with equal content. Such a packet is a copy only where it came
 *          another way (other MAC, tag, TTL or tap) or where this capture is known to hold copies at
 *          that distance in time.
 */
#ifndef WP_CAPTURE_DOUBLES_H
#define WP_CAPTURE_DOUBLES_H

#include <glib.h>

/* Copies come so soon, or are taken for retransmissions. TCP waits 200 ms at least. */
#define WP_DOUBLES_WINDOW_NS (20 * G_GINT64_CONSTANT(1000000))

typedef struct {
	guint64 key; /* hash of what a copy must share */
	guint64 way; /* hash of what a copy may change, and the sender would not */
	gint64 time_ns;
	gboolean is_weak;
} WpDoublesPacket;

typedef struct WpDoubles WpDoubles;

/* (transfer full) */
WpDoubles *wp_doubles_new(void);
void wp_doubles_free(WpDoubles *doubles);

/* DOUBLES, which is new, expects copies as LEARNED has seen them: of the first packets of the same capture. */
void wp_doubles_expect(WpDoubles *doubles, const WpDoubles *learned);

/* PACKET will be checked soon: by then the memory that this needs is at hand. */
void wp_doubles_fetch(const WpDoubles *doubles, const WpDoublesPacket *packet);

/* TRUE where PACKET is a copy of one before. */
gboolean wp_doubles_check(WpDoubles *doubles, const WpDoublesPacket *packet);

/* Hashing: start with a number, mix in words and bytes. Not against an enemy: a collision costs one
 * packet. */
static inline guint64
wp_doubles_mix(guint64 hash, guint64 word)
{
	unsigned __int128 product =
		(unsigned __int128)(hash ^ word ^ 0x9e3779b97f4a7c15u) * 0xd6e8feb86659fd93u;
	return (guint64)product ^ (guint64)(product >> 64);
}

guint64 wp_doubles_mix_bytes(guint64 hash, const guint8 *data, gsize length);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpDoubles, wp_doubles_free)

#endif
