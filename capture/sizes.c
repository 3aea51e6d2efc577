/*
 * Sizes of segments. Where a direction has shown enough of them, its mean size tells more about a hole
 * longer than it ever sends, or of a size that it does not send: those are several segments at once.
 */
#include "capture/sizes.h"

/* Payload taken for a full segment where a direction showed none: Ethernet's, with time stamps. */
#define USUAL_SEGMENT 1448

/* So many segments of a direction tell what sizes it sends. */
#define KNOWN_SIZES 16

/* So many are enough, and fit 16 bits. */
#define MANY_SIZES 60000

/* A size that fewer than one in so many segments have is hardly that of a single lost one. */
#define RARE_SIZE 32

static guint
class_of(guint64 length)
{
	return length > 1 ? MIN(g_bit_storage(length - 1), WP_SIZES_CLASSES - 1) : 0;
}

void
wp_sizes_add(WpSizes *sizes, guint32 length)
{
	if (!length)
		return;
	sizes->largest = MAX(sizes->largest, length);
	sizes->classes[class_of(length)]++;
	sizes->n_bytes += length;
	sizes->n_segments++;
	if (sizes->n_segments < MANY_SIZES)
		return;
	sizes->n_segments /= 2; /* the sizes follow the traffic, and nothing overflows */
	sizes->n_bytes /= 2;
	for (gsize i = 0; i < G_N_ELEMENTS(sizes->classes); i++)
		sizes->classes[i] /= 2;
}

/*
 * As many as it takes at the largest size, and by the mean size where that is known. A direction that
 * has shown little itself may send the largest that any flow did.
 */
guint32
wp_sizes_estimate(const WpSizes *sizes, guint32 largest, guint64 length, guint64 at_least)
{
	gboolean is_known = sizes->n_segments >= KNOWN_SIZES;
	largest = is_known ? sizes->largest : MAX(USUAL_SEGMENT, largest);
	guint64 n = MAX(at_least, (length + largest - 1) / largest);
	if (is_known && (length > 2 * (guint64)largest ||
			 sizes->classes[class_of(length)] * RARE_SIZE < sizes->n_segments))
		n = MAX(n, length * sizes->n_segments / sizes->n_bytes);
	return (guint32)MIN(n, G_MAXUINT32 / 2);
}
