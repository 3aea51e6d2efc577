/*
 * PostgreSQL messages, version 3: what is at the front of some bytes, without any state. Decoding,
 * detection and the search for a message after a hole all stand on it.
 *
 *      type (1)  length (4, itself included)  body          all messages but
 *                length (4, itself included)  code  body    those that begin a connection
 */
#ifndef WP_CAPTURE_PGSQL_H
#define WP_CAPTURE_PGSQL_H

#include <glib.h>

#include "capture/decoder.h"

#define WP_PGSQL_HEAD 5 /* bytes of type and length */

/* What the first message of a connection asks for. */
typedef enum {
	WP_PGSQL_STARTUP,
	WP_PGSQL_CANCEL,
	WP_PGSQL_SSL,
	WP_PGSQL_GSS
} WpPgsqlStart;

/* The length and kind of the message without type at the front of IN. */
WpDecodeStatus wp_pgsql_start(WpBytes in, gsize *out_length, WpPgsqlStart *out_start);

/* The type and whole length of the message at the front of IN; BAD where there is no such message. */
WpDecodeStatus wp_pgsql_head(WpBytes in, WpDirection from, char *out_type, gsize *out_length);

/*
 * How well IN looks like messages of FROM: a chain of them from its front to its end, the last perhaps
 * cut. MAYBE: nothing in it speaks against. LIKELY: at least one message that hardly occurs by chance.
 */
WpProbeVerdict wp_pgsql_judge(WpBytes in, WpDirection from);

/* The text at the cursor up to its NUL, which is skipped; what is there where it has none. */
const char *wp_pgsql_text(WpBytes *in, gsize *out_length);

#endif
