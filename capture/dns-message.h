/* DNS messages (RFC 1035 section 4): header, first question, address records. */
#ifndef WP_CAPTURE_DNS_MESSAGE_H
#define WP_CAPTURE_DNS_MESSAGE_H

#include <glib.h>

#include "capture/bytes.h"

#define WP_DNS_HEADER_BYTES 12

/* A name as text, without the last dot, in lower case; "" is the root. */
#define WP_DNS_NAME_MAX 255
typedef struct {
	char text[WP_DNS_NAME_MAX + 1];
	gsize length;
} WpDnsName;

typedef struct {
	guint16 id;
	gboolean is_answer;
	guint8 opcode;
	guint8 rcode;
	guint16 n_questions;
	guint16 n_answers;
	guint16 n_others; /* authorities and additional records */
	WpDnsName
		question; /* the first; of an answer without one (multicast) the first answer's owner */
	guint16 type;
	guint16 class;
	gboolean is_unread; /* the question was cut off; it and the type are empty */
	WpBytes bytes;      /* the message (borrowed); stands behind the questions */
} WpDnsMessage;

/* FALSE where BYTES (one message, or its front) are no DNS: header or question cannot be. */
gboolean wp_dns_parse(WpBytes bytes, WpDnsMessage *out_message);

/*
 * The same for a datagram that the snap length cut: its question may be. Strict about the rest: one question, and
 * of a query no answer.
 */
gboolean wp_dns_parse_cut(WpBytes bytes, WpDnsMessage *out_message);

/* FALSE where the header that is there, or as much of it as is, cannot be one. */
gboolean wp_dns_header_is_sound(WpBytes bytes);

/* TRUE where the records fill the message exactly: nothing is left, nothing missing. */
gboolean wp_dns_is_exact(const WpDnsMessage *message);

/* Refused, failed, not understood; but not "no such name". */
gboolean wp_dns_is_error(const WpDnsMessage *message);

/* TRUE where the question asks for a zone (AXFR, IXFR). */
gboolean wp_dns_is_transfer(const WpDnsMessage *message);

/* "NOTIFY", "UPDATE"; NULL for an ordinary query. */
const char *wp_dns_opcode_name(guint8 opcode);

/* "A", "HTTPS"; NULL where it has no name here. */
const char *wp_dns_type_name(guint16 type);

/* IPv4 as ::ffff:a.b.c.d. */
typedef struct {
	guint8 bytes[16];
} WpDnsAddress;

/* The addresses of the name asked for, following its aliases (CNAME); at most MAX. Returns how many. */
guint wp_dns_addresses(const WpDnsMessage *message, WpDnsAddress *out_addresses, guint max);

#endif
