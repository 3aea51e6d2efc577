/*
 * TDS messages (MS-TDS): what the front of a request says of its operation, and the end of a response of
 * its outcome. Packets are decode-tds.c's.
 */
#ifndef WP_CAPTURE_TDS_H
#define WP_CAPTURE_TDS_H

#include <glib.h>

#include "capture/decoder.h"

/* Bytes of a request's first packet that are looked at. */
#define WP_TDS_LOOKED_AT 4096

/* Types of packets, section 2.2.3.1.1. */
enum {
	WP_TDS_BATCH = 1,
	WP_TDS_LOGIN_OLD = 2,
	WP_TDS_RPC = 3,
	WP_TDS_RESPONSE = 4,
	WP_TDS_ATTENTION = 6,
	WP_TDS_BULK = 7,
	WP_TDS_TOKEN = 8,
	WP_TDS_TRANSACTION = 14,
	WP_TDS_LOGIN = 16,
	WP_TDS_SSPI = 17,
	WP_TDS_PRELOGIN = 18
};

/* Label, marks and tokens of a request of TYPE whose payload begins with IN. */
void wp_tds_describe(WpDecodeContext *context, WpMessage *message, guint8 type, WpBytes in);

/* Whether IN, the front of a payload, may be that of a request of TYPE; of a response. Strict. */
gboolean wp_tds_is_request(guint8 type, WpBytes in, gsize length);
gboolean wp_tds_is_response(WpBytes in);

/*
 * What the last packet of a response says, IN being its payload: the flags of its last token DONE.
 * *OUT_IS_ATTENTION: it acknowledges an attention.
 */
WpStatus wp_tds_outcome(WpBytes in, gboolean *out_is_attention);

/* TRUE where that token is all that there is in the packet. */
gboolean wp_tds_is_bare(WpBytes in);

#endif
