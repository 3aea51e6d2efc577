/*
 * The other half of capture/tls-crypto.h, for tests: records sealed with libgcrypt as a TLS endpoint does
 * (RFC 5246 section 6.2.3, RFC 8446 section 5.2).
 */
#ifndef WP_TESTS_SUPPORT_TLS_SEAL_H
#define WP_TESTS_SUPPORT_TLS_SEAL_H

#include "capture/tls-crypto.h"

/* The keys of one direction, and the number of its next record. */
typedef struct {
	const WpTlsSuite *suite;
	gboolean encrypt_then_mac;
	guint8 key[32];
	guint8 iv[12];
	guint8 mac[48];
	guint64 sequence;
} WpTlsSealer;

void wp_tls_sealer_init(WpTlsSealer *sealer, const WpTlsSuite *suite, const WpSecret *secret);
void wp_tls_sealer_init_pair(WpTlsSealer sealers[2], const WpTlsSuite *suite,
			     const WpSecret *master, const guint8 client_random[32],
			     const guint8 server_random[32], gboolean encrypt_then_mac);

/* Appends the record with its header; TLS 1.3: PADDING zeros behind the type. */
void wp_tls_seal(WpTlsSealer *sealer, guint8 type, const void *text, gsize length, gsize padding,
		 GByteArray *out);

#endif
