/*
 * WpFragments: IP fragments to datagrams (RFC 791 section 3.2, RFC 8200 section 4.5).
 *
 * Bounded in datagrams, in bytes and in packet time: what is over is forgotten, the oldest first. Of
 * overlapping fragments the first to arrive wins.
 */
#ifndef WP_CAPTURE_FRAGMENT_H
#define WP_CAPTURE_FRAGMENT_H

#include <glib.h>

#include "capture/counters.h"

typedef struct {
	gint64 time_ns;
	guint8 src[16];
	guint8 dst[16];
	guint32 id;
	guint8 protocol;
	gboolean more;    /* others follow */
	guint32 offset;   /* of its first byte in the datagram; a multiple of 8 */
	guint32 length;   /* on the wire */
	guint32 captured; /* bytes at DATA */
	const guint8 *data;
} WpFragment;

typedef struct WpFragments WpFragments;

/* (transfer full) COUNTERS is borrowed. */
WpFragments *wp_fragments_new(WpCounters *counters);
void wp_fragments_free(WpFragments *fragments);

/*
 * Takes a fragment. TRUE where it completes a datagram: OUT_DATA (valid until the next call), its
 * length, and how many of its first bytes were captured.
 */
gboolean wp_fragments_add(WpFragments *fragments, const WpFragment *fragment,
			  const guint8 **out_data, guint32 *out_length, guint32 *out_captured);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpFragments, wp_fragments_free)

#endif
