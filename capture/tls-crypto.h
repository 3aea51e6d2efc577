/*
 * Keys and records of TLS 1.2 and 1.3: derivation from secrets, and opening sealed records, with libgcrypt
 * (RFC 5246 sections 5 and 6, RFC 8446 sections 5 and 7, RFC 5288, 7366, 7905, 6655; HKDF: RFC 5869).
 *
 * Nothing here is proof against those who watch how long it takes: whoever runs it has the keys.
 */
#ifndef WP_CAPTURE_TLS_CRYPTO_H
#define WP_CAPTURE_TLS_CRYPTO_H

#include <glib.h>

#include "capture/keylog.h"
#include "capture/tls-hello.h"

#define WP_TLS_MAX_RECORD (16384 + 2048) /* body; RFC 5246 section 6.2.3 */

typedef enum {
	WP_TLS_HASH_SHA256,
	WP_TLS_HASH_SHA384
} WpTlsHash;

typedef enum {
	WP_TLS_GCM,
	WP_TLS_CHACHA20,
	WP_TLS_CCM,
	WP_TLS_CCM_8,
	WP_TLS_CBC
} WpTlsMode;

typedef enum {
	WP_TLS_MAC_NONE,
	WP_TLS_MAC_SHA1,
	WP_TLS_MAC_SHA256,
	WP_TLS_MAC_SHA384
} WpTlsMac;

/* A cipher suite, as far as records and keys go. */
typedef struct {
	guint16 id;
	gboolean is_1_3;
	guint8 mode;      /* WpTlsMode */
	guint8 key_bytes; /* 16, 32 */
	guint8 mac;       /* WpTlsMac; CBC only */
	guint8 hash;      /* WpTlsHash, for derivation */
} WpTlsSuite;

/* NULL where it is unknown. */
const WpTlsSuite *wp_tls_suite(guint16 id);

/* The keys of one direction. */
typedef struct WpTlsKeys WpTlsKeys;

/* TLS 1.3, from a traffic secret. NULL where its length is not that of the suite's hash. (transfer full) */
WpTlsKeys *wp_tls_keys_new(const WpTlsSuite *suite, const WpSecret *secret);

/* TLS 1.2: the client's keys, then the server's. (transfer full) */
void wp_tls_keys_new_pair(const WpTlsSuite *suite, const WpSecret *master,
			  const guint8 client_random[WP_TLS_RANDOM_BYTES],
			  const guint8 server_random[WP_TLS_RANDOM_BYTES],
			  gboolean encrypt_then_mac, WpTlsKeys *out_keys[2]);

/* TLS 1.3: those after a key update. (transfer full) */
WpTlsKeys *wp_tls_keys_next(const WpTlsKeys *keys);

void wp_tls_keys_free(WpTlsKeys *keys);

/* Bytes of memory of one, about. */
#define WP_TLS_KEYS_MEMORY 4096

/*
 * Opens the body of a record that has the number SEQUENCE, of TYPE, in place of whose header it is given.
 * OUT has room for WP_TLS_MAX_RECORD bytes. FALSE where the tag says that it is not that record.
 * *OUT_TYPE: of what is inside. *OUT_LEAD: bytes of the body before the first of the plain text.
 */
gboolean wp_tls_keys_open(WpTlsKeys *keys, guint64 sequence, guint8 type, guint16 version,
			  const guint8 *body, gsize length, guint8 *out, gsize *out_length,
			  guint8 *out_type, gsize *out_lead);

/* --- derivation, for tests --- */

/* RFC 5246 section 5: N bytes. */
void wp_tls_prf(WpTlsHash hash, const guint8 *secret, gsize secret_length, const char *label,
		const guint8 *seed, gsize seed_length, guint8 *out, gsize n);

/* RFC 8446 section 7.1, HKDF-Expand-Label with an empty context: N bytes, at most 64. */
void wp_tls_expand_label(WpTlsHash hash, const WpSecret *secret, const char *label, guint8 *out,
			 gsize n);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpTlsKeys, wp_tls_keys_free)

#endif
