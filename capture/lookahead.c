/* Lookahead: copies of the first packets, and how the source ended where it did so while they were read. */
#include "capture/lookahead.h"

#define MAX_TAKEN 32 /* a header of each, and where its data are */

struct WpLookahead {
	WpSource *source;
	GArray *frames; /* WpFrame; their data is in BYTES, whose place is known when all are there */
	GByteArray *bytes;     /* of the frames, one after the other */
	guint next;            /* frame to be given */
	gsize at;              /* its bytes */
	WpSourceResult result; /* of the last read: FRAME while there may be more */
	GError *failure;
	guint next_taken, n_taken; /* of those that were at hand */
	WpFrame taken[MAX_TAKEN];
};

WpLookahead *
wp_lookahead_new(WpSource *source)
{
	WpLookahead *lookahead = g_new0(WpLookahead, 1);
	lookahead->source = source;
	lookahead->frames = g_array_new(FALSE, FALSE, sizeof(WpFrame));
	lookahead->bytes = g_byte_array_new();
	lookahead->result = WP_SOURCE_FRAME;
	return lookahead;
}

void
wp_lookahead_free(WpLookahead *lookahead)
{
	if (!lookahead)
		return;
	g_array_unref(lookahead->frames);
	g_byte_array_unref(lookahead->bytes);
	g_clear_error(&lookahead->failure);
	g_free(lookahead);
}

void
wp_lookahead_peek(WpLookahead *lookahead, WpLookaheadFunc func, gpointer data)
{
	WpFrame frame;

	g_return_if_fail(lookahead->frames->len == 0);
	while (lookahead->frames->len < WP_LOOKAHEAD_PACKETS &&
	       lookahead->bytes->len < WP_LOOKAHEAD_BYTES) {
		lookahead->result = wp_source_next(lookahead->source, &frame, &lookahead->failure);
		if (lookahead->result == WP_SOURCE_WAIT) {
			/* Those that are there must do: nobody knows when there will be more. */
			lookahead->result = WP_SOURCE_FRAME;
			if (lookahead->frames->len > 0)
				return;
			continue;
		}
		if (lookahead->result != WP_SOURCE_FRAME)
			return;
		func(&frame, data);
		g_byte_array_append(lookahead->bytes, frame.data, frame.captured);
		frame.data = NULL;
		g_array_append_val(lookahead->frames, frame);
	}
}

WpSourceResult
wp_lookahead_next(WpLookahead *lookahead, WpFrame *out_frame, GError **error)
{
	if (lookahead->next < lookahead->frames->len) {
		*out_frame = g_array_index(lookahead->frames, WpFrame, lookahead->next++);
		/* Where all frames are empty there are no bytes to point to. */
		out_frame->data = lookahead->bytes->len ? lookahead->bytes->data + lookahead->at
							: (const guint8 *)"";
		lookahead->at += out_frame->captured;
		return WP_SOURCE_FRAME;
	}
	if (lookahead->next_taken < lookahead->n_taken) {
		*out_frame = lookahead->taken[lookahead->next_taken++];
		return WP_SOURCE_FRAME;
	}
	if (lookahead->result == WP_SOURCE_FRAME)
		return wp_source_next(lookahead->source, out_frame, error);
	if (lookahead->failure && error)
		*error = g_error_copy(lookahead->failure);
	return lookahead->result;
}

gboolean
wp_lookahead_is_at_hand(WpLookahead *lookahead)
{
	if (lookahead->next < lookahead->frames->len || lookahead->next_taken < lookahead->n_taken)
		return TRUE;
	if (lookahead->result != WP_SOURCE_FRAME)
		return FALSE;
	lookahead->next_taken = 0;
	lookahead->n_taken = wp_source_take(lookahead->source, lookahead->taken, MAX_TAKEN);
	return lookahead->n_taken > 0 || wp_source_is_at_hand(lookahead->source);
}
