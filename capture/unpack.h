/*
 * The first bytes of something compressed: what a label stands on. Input is untrusted and may be cut
 * anywhere; what could be unpacked counts, whatever follows.
 */
#ifndef WP_CAPTURE_UNPACK_H
#define WP_CAPTURE_UNPACK_H

#include "capture/bytes.h"

/* Each: from the cursor of IN to BUFFER, at most SIZE bytes; how many. 0 where it makes no sense. */
gsize wp_unpack_zlib(WpBytes in, guint8 *buffer, gsize size);
gsize wp_unpack_zstd(WpBytes in, guint8 *buffer, gsize size);
gsize wp_unpack_snappy(WpBytes in, guint8 *buffer, gsize size); /* one block, without frames */
gsize wp_unpack_lz4(WpBytes in, guint8 *buffer, gsize size);    /* one block, without frames */

#endif
