/*
 * WpTlsTurns: calls of a TLS flow without keys, by turns of its application data, where the flow is known
 * to carry one request at a time; none where it may carry many (HTTP/2).
 *
 * Who knows? The protocol that was agreed on in the clear; else the packets. A side that speaks again
 * without having got all that the other has sent does not talk by turns. Where HTTP/2 is possible, so is
 * a client that asks again before it has an answer, and so are records as long as the frames that control a
 * connection of HTTP/2.
 *
 *      client  |call|          |call|               |call, peer < P: crossed       |call|  |call|: again
 *      server        |return|        |return.....P|
 *
 * A flow on trial makes no calls until so many turns were right; one in which turns cross too often
 * never makes any again.
 */
#ifndef WP_CAPTURE_TLS_TURNS_H
#define WP_CAPTURE_TLS_TURNS_H

#include "capture/turns.h"

typedef enum {
	WP_TLS_ON_TRIAL,    /* nothing is known of the protocol */
	WP_TLS_MAYBE_HTTP2, /* ... but that HTTP/2 was on offer */
	WP_TLS_BY_TURNS,    /* one request at a time */
	WP_TLS_MULTIPLEXED
} WpTlsKind;

typedef struct {
	WpTurns turns;
	guint8 kind;       /* WpTlsKind */
	gboolean is_blind; /* the client's hello was not seen: nothing is known of its offers */
	guint64 ends[2];   /* behind the last record seen, of whatever type */
	gboolean has_last;
	WpDirection last; /* who spoke last */
	gint score;       /* of right turns over crossed ones */
	gint64 first_ns;  /* of the first that waits */
	gint64 last_ns;   /* of the last record */
	gsize last_body;
} WpTlsTurns;

/* KIND is found out, before the first unit or at it. */
void wp_tls_turns_begin(WpTlsTurns *self, WpTlsKind kind, gboolean is_blind);

/* A record of LENGTH bytes, header and all, of whatever type, is at the front. */
void wp_tls_turns_note(WpTlsTurns *self, WpDecodeContext *context, WpDirection direction,
		       gsize length);

/*
 * Application data, of a record with a body of BODY bytes, is at the front; not noted yet. Sets what
 * OUT_UNIT opens and extends.
 */
void wp_tls_turns_unit(WpTlsTurns *self, WpDecodeContext *context, WpDirection direction,
		       gsize body, WpUnit *out_unit);

void wp_tls_turns_finish(WpTlsTurns *self, WpDecodeContext *context, WpDirection direction,
			 WpFinish how, WpUnit *out_unit);
void wp_tls_turns_lost(WpTlsTurns *self, WpDecodeContext *context, WpDirection direction);
void wp_tls_turns_clear(WpTlsTurns *self);

#endif
