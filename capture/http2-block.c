/* Header blocks: frames to HPACK, fields to the head. */
#include "capture/http2-block.h"

#include <string.h>

/* Of all frames; servers refuse far smaller ones. */
#define MAX_BLOCK_BYTES (256 * 1024)

/* What goes to HPACK's callback. */
typedef struct {
	WpDecodeContext *context;
	WpHttp2Head *head;
	WpMessage *message;
	gboolean is_request;
} Target;

void
wp_http2_block_start(WpHttp2Block *block, const WpHttp2Frame *frame)
{
	memset(&block->head, 0, G_STRUCT_OFFSET(WpHttp2Head, method));
	block->bytes = 0;
	block->promised = 0;
	block->ends_stream = frame->type == WP_HTTP2_HEADERS && frame->flags & WP_HTTP2_END_STREAM;
}

void
wp_http2_block_lose(WpHttp2Block *block)
{
	wp_hpack_lose(block->hpack);
	block->head.has_unknown = TRUE;
	block->is_open = FALSE;
}

static void
note_field(gpointer data, const char *name, gsize name_length, const char *value, gsize length)
{
	Target *target = data;
	if (target->is_request)
		wp_http2_note_request(target->context, target->head, target->message, name,
				      name_length, value, length);
	else
		wp_http2_note_response(target->head, name, name_length, value, length);
}

/* TRUE where the block has not become too long; counts it when it does. */
static gboolean
has_room(WpHttp2Block *block, WpDecodeContext *context, gsize length)
{
	gboolean had_room = block->bytes <= MAX_BLOCK_BYTES;
	block->bytes = (guint32)MIN(block->bytes + length, MAX_BLOCK_BYTES + 1);
	gboolean has_room = block->bytes <= MAX_BLOCK_BYTES;
	if (had_room && !has_room)
		wp_decode_count(context, WP_COUNT_MESSAGES_TOO_LONG);
	return has_room;
}

gboolean
wp_http2_block_read(WpHttp2Block *block, WpDecodeContext *context, WpMessage *message,
		    WpDirection direction, const WpHttp2Frame *frame, WpBytes in)
{
	gboolean is_last = frame->flags & WP_HTTP2_END_HEADERS;
	WpMessage nobody = { 0 };
	WpBytes content;

	if (frame->length > WP_HTTP2_MAX_BLOCK_FRAME) {
		wp_decode_count(context, WP_COUNT_MESSAGES_TOO_LONG);
		in.length = in.at;
	}
	gboolean is_cut = wp_bytes_left(&in) < frame->length;
	if (!wp_http2_content(in, frame, &content, &block->promised))
		return FALSE;
	block->id = frame->id;
	block->is_open = !is_last;
	Target target = { context, &block->head, message ? message : &nobody,
			  direction == WP_FROM_CLIENT || block->promised };
	if (!has_room(block, context, content.length)) {
		wp_hpack_lose(block->hpack);
		block->head.has_unknown = TRUE;
		return TRUE;
	}
	WpHpackPart part = is_cut ? WP_HPACK_CUT : is_last ? WP_HPACK_WHOLE : WP_HPACK_MORE;
	if (!wp_hpack_read(block->hpack, content.data, content.length, part, note_field, &target) ||
	    is_cut)
		block->head.has_unknown = TRUE;
	return TRUE;
}
