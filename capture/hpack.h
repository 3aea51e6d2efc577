/*
 * HPACK (RFC 7541), the compressed headers of one direction of an HTTP/2 connection: what nghttp2's
 * inflater tells, and what can still be told where bytes before were not seen.
 *
 *     field     indexed          1 index                         both from a table
 *               added            01 index [name] value           and put into the dynamic table
 *               not added        0000 or 0001 index [name] value
 *     resize    001 size                                         of the dynamic table
 *
 * Indices 1 to 61 are of the static table, those above of the dynamic one, counted from its newest
 * entry. So a reader that comes late (a capture that begins in mid-stream) can read all that refers to
 * entries that it has seen added; older ones are unknown until they are sent again. Behind a hole, how
 * many entries were added in it is told by the next block, where only one number makes it look like
 * those before; else what is older than the hole is unknown.
 */
#ifndef WP_CAPTURE_HPACK_H
#define WP_CAPTURE_HPACK_H

#include <glib.h>

#include "capture/decoder.h"

/* Most bytes of a dynamic table that is followed; browsers announce so many, most others 4096. */
#define WP_HPACK_MAX_TABLE (64 * 1024)

/* What a header block is by its fields of the static table. */
typedef struct {
	guint n_items;
	guint n_request;   /* fields that only a request has: :method, :path, :scheme, :authority */
	guint n_response;  /* :status */
	gboolean is_whole; /* it ends where its last item does */
} WpHpackShape;

/* FALSE where the bytes are no header block, or no front of one, as senders write them. */
gboolean wp_hpack_shape(WpBytes in, WpHpackShape *out_shape);

typedef struct WpHpack WpHpack;

/* NAME is NULL for a field that cannot be read. */
typedef void (*WpHpackFunc)(gpointer data, const char *name, gsize name_length, const char *value,
			    gsize value_length);

/* (transfer full) FROM_START: the first block of the direction will be read. */
WpHpack *wp_hpack_new(gboolean from_start);
void wp_hpack_free(WpHpack *hpack);

/* Blocks, or parts of one, were not seen. */
void wp_hpack_lose(WpHpack *hpack);

typedef enum {
	WP_HPACK_WHOLE, /* with these bytes the block ends */
	WP_HPACK_MORE,  /* it goes on */
	WP_HPACK_CUT    /* its rest will not be seen */
} WpHpackPart;

/*
 * Reads LENGTH bytes of a block; FUNC gets each field. FALSE where not all of it could be read; what
 * follows is read as far as it can be.
 */
gboolean wp_hpack_read(WpHpack *hpack, const guint8 *data, gsize length, WpHpackPart part,
		       WpHpackFunc func, gpointer user_data);

/* Bytes of memory that HPACK takes. */
gsize wp_hpack_memory(const WpHpack *hpack);

#endif
