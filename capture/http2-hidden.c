/* Calls that the snap length hid. See the header. */
#include "capture/http2-hidden.h"

/* A call is said to have been made with the first of the cut packets, if the last came so soon after it. */
#define NEAR_NS (500 * G_GINT64_CONSTANT(1000))

/* More than so many at once are no calls, but a number that is wrong. */
#define MAX_HIDDEN 256

void
wp_http2_hidden_lost(WpHttp2Hidden *hidden, WpDecodeContext *context)
{
	if (!wp_decode_cut_packet(context)) {
		hidden->is_unsure = TRUE;
		return;
	}
	if (!hidden->has_first)
		hidden->first = wp_decode_stamp(context);
	hidden->has_first = TRUE;
	hidden->last_ns = wp_decode_time(context);
}

guint32
wp_http2_hidden_reveal(WpHttp2Hidden *hidden, WpDecodeContext *context, guint32 last, guint32 id)
{
	gboolean is_known = hidden->has_first && !hidden->is_unsure &&
			    hidden->last_ns - hidden->first.time_ns <= NEAR_NS;
	if (is_known && last && (id - last) / 2 <= MAX_HIDDEN)
		for (; last + 2 < id; last += 2) {
			WpMessage call = { .kind = WP_KIND_CALL, .callid = last + 2 };
			wp_decode_open(context, &call, WP_FROM_CLIENT);
			call.begin = call.end = hidden->first;
			wp_decode_emit(context, &call);
			wp_decode_count(context, WP_COUNT_CALLS_UNREAD);
		}
	return last;
}

void
wp_http2_hidden_clear(WpHttp2Hidden *hidden)
{
	hidden->has_first = hidden->is_unsure = FALSE;
}
