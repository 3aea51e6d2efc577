/*
 * WpTransport: one thing that the transport did while somebody waited for a message. A record has a few of
 * them; they travel as words behind its tokens (record.h), so that what moves records need not know them.
 *
 *   client                 tap                  server
 *     | -- SYN ------------> | -----------------> |      on a CALL: what its connection cost before it
 *     | <----------- SYN+ACK | <----------------- |        connect      SYN .. the client's ACK of SYN+ACK
 *     | -- ACK ------------> |                    |        setup        TLS handshake, greeting, login
 *     | == request ========> | =====> X           |      on a RETURN: what held it or its call up
 *     | == request ========> | =================> |        timeout, fast, window, ack
 *     | <============= reply | <================= |
 *
 * timeout: a lost segment, sent again when the sender's clock ran out (RFC 6298); fast: sent again because of
 * three equal acknowledgements or SACK (RFC 5681 section 3.2, RFC 6675); window: the receiver had said that
 * it has no room (RFC 9293 section 3.8.6); ack: the sender held a small segment back until the receiver's late
 * acknowledgement (RFC 9293 sections 3.7.4 and 3.8.6.3: Nagle's algorithm and delayed acknowledgements).
 *
 * client_rtt, server_rtt: the least time, up to here, from a segment that passed the tap towards that side until its
 * answer passed back. One tap cannot know more: the two add up to the round trip, each holds the answering
 * host's own time as well, and how the one way differs from the other is not seen.
 */
#ifndef WP_CAPTURE_TRANSPORT_H
#define WP_CAPTURE_TRANSPORT_H

#include <glib.h>

#include "capture/record.h"

typedef enum {
	WP_TRANSPORT_CONNECT,
	WP_TRANSPORT_SETUP,
	WP_TRANSPORT_TIMEOUT,
	WP_TRANSPORT_FAST,
	WP_TRANSPORT_WINDOW,
	WP_TRANSPORT_ACK,
	WP_TRANSPORT_CLIENT_RTT,
	WP_TRANSPORT_SERVER_RTT,
	WP_N_TRANSPORTS
} WpTransportKind;

typedef struct {
	gint64 begin_ns; /* since when somebody waits: of timeout and fast perhaps after packet FIRST */
	gint64 end_ns; /* packet with which it was over; >= begin_ns */
	guint64 first; /* packet with which it began, and with which it was over */
	guint64 last;
	WpTransportKind kind;
} WpTransport;

/* TRUE where it held up a message of a call: timeout, fast, window, ack. */
gboolean wp_transport_is_stall(WpTransportKind kind);

/* As in trace files: "connect", "setup", "timeout", ... */
const char *wp_transport_name(WpTransportKind kind);
gboolean wp_transport_from_name(const char *name, WpTransportKind *out_kind);

/* To WP_TRANSPORT_WORDS words, and back; FALSE where they make no sense. */
void wp_transport_pack(const WpTransport *transport, guint32 *words);
gboolean wp_transport_unpack(const guint32 *words, WpTransport *out_transport);

/* Moves N of them, as words, in time. */
void wp_transport_shift(guint32 *words, guint n, gint64 shift_ns);

#endif
