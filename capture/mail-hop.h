/*
 * One hop of a mail: what a Received field says (RFC 5321 4.4, RFC 5322 3.6.7).
 *
 *      from mx1.corp.example (unknown [10.0.0.7]) by store.corp.example (Postfix) with ESMTP
 *              id 4Zk1 for <x@corp.example>; Sat, 14 Nov 2026 10:00:07 +0000
 *
 * Who sent it is known by up to three names: the one it gave itself (HELO), the one that the receiver
 * looked up, and its address. The receiver's own name follows "by". Servers write this freely, and some
 * of it was written by strangers: nothing here is believed to be well-formed.
 */
#ifndef WP_CAPTURE_MAIL_HOP_H
#define WP_CAPTURE_MAIL_HOP_H

#include <glib.h>

/* A domain name (RFC 1035) or an address, in lower case, and its end. */
#define WP_MAIL_HOST_MAX 256

/* Sender's names: looked up by the receiver, given by itself, address. "" where there is none that tells one host. */
#define WP_MAIL_SENDER_NAMES 3

typedef struct {
	char from[WP_MAIL_SENDER_NAMES][WP_MAIL_HOST_MAX];
	char by[WP_MAIL_HOST_MAX];
	gint64 time_ns; /* since the epoch; whole seconds */
} WpMailHop;

typedef enum {
	WP_MAIL_HOP_OK,
	WP_MAIL_HOP_UNUSABLE, /* no time that can be read, or no "from" or "by" */
	WP_MAIL_HOP_GENERIC   /* only names that any host may have: localhost, unknown */
} WpMailHopResult;

/* TEXT: the value of the field, unfolded or not. OUT_HOP is set where WP_MAIL_HOP_OK. */
WpMailHopResult wp_mail_hop_parse(const char *text, WpMailHop *out_hop);

#endif
