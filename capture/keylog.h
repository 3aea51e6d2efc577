/*
 * WpKeylog: secrets of TLS connections, as programs write them for those who debug them: the NSS key log
 * format (draft-ietf-tls-keylogfile), lines of
 *
 *     LABEL  64 hex digits: the random of the client's hello  hex digits: the secret
 *
 * from a file (--keylog) or from a pcapng file (Decryption Secrets Block). A secret opens the connection
 * that has that random, and no other.
 */
#ifndef WP_CAPTURE_KEYLOG_H
#define WP_CAPTURE_KEYLOG_H

#include <glib.h>

#include "capture/tls-hello.h"

/* Secrets kept; 100 bytes each. More are left out, and counted. */
#define WP_KEYLOG_MAX_SECRETS (1024 * 1024)

#define WP_KEYLOG_MAX_SECRET_BYTES 64

/* The length of the master secret of TLS 1.2. */
#define WP_KEYLOG_MASTER_BYTES 48

typedef enum {
	WP_KEY_MASTER,           /* CLIENT_RANDOM, TLS 1.2 */
	WP_KEY_CLIENT_EARLY,     /* CLIENT_EARLY_TRAFFIC_SECRET */
	WP_KEY_CLIENT_HANDSHAKE, /* CLIENT_HANDSHAKE_TRAFFIC_SECRET */
	WP_KEY_SERVER_HANDSHAKE, /* SERVER_HANDSHAKE_TRAFFIC_SECRET */
	WP_KEY_CLIENT_TRAFFIC,   /* CLIENT_TRAFFIC_SECRET_0 */
	WP_KEY_SERVER_TRAFFIC,   /* SERVER_TRAFFIC_SECRET_0 */
	WP_N_KEYS
} WpKeyLabel;

typedef struct {
	guint8 bytes[WP_KEYLOG_MAX_SECRET_BYTES];
	guint8 length;
} WpSecret;

typedef struct WpKeylog WpKeylog;

/* (transfer full) */
WpKeylog *wp_keylog_new(void);
void wp_keylog_free(WpKeylog *keylog);

/*
 * Adds all lines of TEXT, which need not end with a newline. Comments and labels of other use are passed
 * over; what is no line of that format is counted. The first secret for a label and random stays.
 */
void wp_keylog_add(WpKeylog *keylog, const char *text, gsize length);

/* Adds those of the file at PATH. WP_CAPTURE_ERROR where it cannot be read or holds no such line at all. */
gboolean wp_keylog_add_file(WpKeylog *keylog, const char *path, GError **error);

guint wp_keylog_n_secrets(const WpKeylog *keylog);

/* Lines that were none, and secrets for which there was no room. */
guint64 wp_keylog_n_bad(const WpKeylog *keylog);
guint64 wp_keylog_n_left_out(const WpKeylog *keylog);

/* The secret, or NULL. (transfer none) */
const WpSecret *wp_keylog_find(const WpKeylog *keylog, WpKeyLabel label,
			       const guint8 random[WP_TLS_RANDOM_BYTES]);

/* TRUE where any secret is known for RANDOM. */
gboolean wp_keylog_has(const WpKeylog *keylog, const guint8 random[WP_TLS_RANDOM_BYTES]);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpKeylog, wp_keylog_free)

#endif
