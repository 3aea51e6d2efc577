/* Tags and lengths of ASN.1's basic encoding (ITU-T X.690, section 8.1), as LDAP uses them: definite, short tags. */
#ifndef WP_CAPTURE_BER_H
#define WP_CAPTURE_BER_H

#include "capture/bytes.h"

/* The head of an element; FALSE where it is cut (IN->failed) or nonsense. *OUT_LENGTH: of what follows. */
static inline gboolean
wp_ber_head(WpBytes *in, guint8 *out_tag, gsize *out_length)
{
	*out_tag = wp_bytes_u8(in);
	guint8 first = wp_bytes_u8(in);
	*out_length = first;
	if (first < 0x80)
		return !in->failed && (*out_tag & 31) != 31;
	if (first == 0x80 || first > 0x84)
		return FALSE;
	*out_length = 0;
	for (guint i = first & 127; i; i--)
		*out_length = *out_length << 8 | wp_bytes_u8(in);
	return !in->failed && (*out_tag & 31) != 31;
}

/* An element of TAG: its content, as far as it is there, which the cursor passes. FALSE as above. */
static inline gboolean
wp_ber_element(WpBytes *in, guint8 tag, WpBytes *out)
{
	guint8 found;
	gsize length;
	if (!wp_ber_head(in, &found, &length) || found != tag)
		return FALSE;
	gsize there = MIN(length, wp_bytes_left(in));
	*out = wp_bytes(in->data + in->at, there);
	wp_bytes_skip(in, there);
	return TRUE;
}

#endif
