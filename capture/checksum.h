/*
 * WpChecksums: which packets were damaged on their way, as the sums in IP, TCP and UDP tell (RFC 1071). The host
 * that they were for drops such packets, and TCP sends them again.
 *
 * A wrong sum alone says little: at the sender it is often filled in after the capture, and who merges segments or
 * rewrites addresses may leave it as it was. So what the others of the same sender are like decides:
 *
 *   sum of the pseudo header alone    not filled in yet: says nothing
 *   nearly all others are right       damaged
 *   most others are right             told, but believed
 *   else                              this sender's sums say nothing
 */
#ifndef WP_CAPTURE_CHECKSUM_H
#define WP_CAPTURE_CHECKSUM_H

#include "capture/layer.h"

typedef enum {
	WP_CHECKSUM_FINE,    /* or nothing is known */
	WP_CHECKSUM_DOUBTED, /* perhaps damaged */
	WP_CHECKSUM_DAMAGED
} WpChecksumVerdict;

typedef struct WpChecksums WpChecksums;

/* (transfer full) */
WpChecksums *wp_checksums_new(void);
void wp_checksums_free(WpChecksums *checksums);

/* CHECKSUMS, which is new, knows the senders that LEARNED has seen: in the first packets of the same capture. */
void wp_checksums_expect(WpChecksums *checksums, const WpChecksums *learned);

/* LAYER is a segment of TCP or datagram of UDP behind IP. */
WpChecksumVerdict wp_checksums_judge(WpChecksums *checksums, const WpIp *ip, const WpLayer *layer);

/* TRUE where the N bytes of an IPv4 header at P have a sum, and it is wrong. */
gboolean wp_checksum_is_header_wrong(const guint8 *p, guint32 n);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpChecksums, wp_checksums_free)

#endif
