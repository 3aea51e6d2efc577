/*
 * WpMap: 64-bit key -> 32-bit number, the small table that inference uses for pairs of numbers
 * (node and label, parent and destination, ...). It is asked, never walked, so its order cannot leak
 * into a result.
 */
#ifndef WP_INFER_MAP_H
#define WP_INFER_MAP_H

#include <glib.h>

#define WP_MAP_NONE G_MAXUINT32

typedef struct WpMap WpMap;

/* (transfer full) */
WpMap *wp_map_new(void);
void wp_map_free(WpMap *map);

static inline guint64
wp_map_key(guint32 high, guint32 low)
{
	return (guint64)high << 32 | low;
}

/* The number of KEY, or WP_MAP_NONE. */
guint32 wp_map_find(const WpMap *map, guint64 key);

/*
 * The number of KEY, which may be changed in place; made with VALUE where KEY is new. Valid until the
 * next call.
 */
guint32 *wp_map_at(WpMap *map, guint64 key, guint32 value);

/* The number of KEY; new keys are numbered 0, 1, 2, ... */
guint32 wp_map_number(WpMap *map, guint64 key);

guint32 wp_map_count(const WpMap *map);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpMap, wp_map_free)

#endif
