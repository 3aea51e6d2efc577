/*
 * WpSizes: the sizes of the segments that one direction sends, which tell how many are missing where
 * bytes are.
 */
#ifndef WP_CAPTURE_SIZES_H
#define WP_CAPTURE_SIZES_H

#include <glib.h>

/* Classes of sizes, each twice as large as the one before: up to 1, 2, 4, ... 65536 bytes. */
#define WP_SIZES_CLASSES 17

/* Of zero bytes: none seen. */
typedef struct {
	guint32 largest;
	guint32 n_segments; /* segments and bytes seen lately: the mean size */
	guint64 n_bytes;
	guint16 classes[WP_SIZES_CLASSES]; /* those segments by size class */
} WpSizes;

/* A segment with LENGTH bytes of payload was seen. */
void wp_sizes_add(WpSizes *sizes, guint32 length);

/*
 * How many segments LENGTH missing bytes were, AT_LEAST so many for certain. LARGEST: the largest that
 * any direction sends.
 */
guint32 wp_sizes_estimate(const WpSizes *sizes, guint32 largest, guint64 length, guint64 at_least);

#endif
