/*
 * WpTlsSession: a TLS connection whose secrets are known: which keys and which number open the next record
 * of each direction.
 *
 *     client  hello |early....| Finished |application .... | key update | application, next keys
 *     server        hello | handshake ... Finished | application ....
 *
 * Records have no number on the wire; the tag of each tells whether the one assumed is right. So where a
 * record does not open with the number that is due, the keys that come next are tried, and after a hole
 * the numbers that follow: as many as the hole can have held, up to a limit, and for a bounded number of
 * bytes until one opens again.
 */
#ifndef WP_CAPTURE_TLS_SESSION_H
#define WP_CAPTURE_TLS_SESSION_H

#include <glib.h>

#include "capture/decoder.h"
#include "capture/keylog.h"
#include "capture/tls-crypto.h"

/* Numbers tried after a hole: so many records are missing at most. */
#define WP_TLS_MAX_MISSING 4096

/* Bytes decrypted in vain in one direction before it is given up; records that open set the count back. */
#define WP_TLS_MAX_VAIN (4 * 1024 * 1024)

typedef struct WpTlsSession WpTlsSession;

/* What is inside a record. */
typedef struct {
	guint8 type;
	const guint8 *data; /* valid until the next call */
	gsize length;
	gsize lead;        /* bytes of the body before the first of them */
	guint64 n_missing; /* records that should have come before; where keys changed, unknown */
} WpTlsPlain;

/*
 * For a connection whose client has that random, if KEYLOG (borrowed, must outlive it) has a secret of it;
 * else NULL. (transfer full)
 */
WpTlsSession *wp_tls_session_new(const WpKeylog *keylog, const guint8 random[WP_TLS_RANDOM_BYTES]);
void wp_tls_session_free(WpTlsSession *session);

/* The server has chosen. FALSE where records of such a connection cannot be opened: no keys, a cipher unknown. */
gboolean wp_tls_session_choose(WpTlsSession *session, const WpTlsHello *hello);

/* A record of type "change cipher spec" of DIRECTION was seen. */
void wp_tls_session_change_cipher(WpTlsSession *session, WpDirection direction);

/* TRUE where records of TYPE are sealed now. */
gboolean wp_tls_session_is_sealed(const WpTlsSession *session, WpDirection direction, guint8 type);

/* Opens a record. OUT has room for WP_TLS_MAX_RECORD bytes. FALSE where no key and number fits. */
gboolean wp_tls_session_open(WpTlsSession *session, WpDirection direction, guint8 type,
			     guint16 version, WpBytes body, guint8 *out, WpTlsPlain *out_plain);

/* A sealed record passed that could not be looked at. */
void wp_tls_session_pass(WpTlsSession *session, WpDirection direction);

/* Records are missing. */
void wp_tls_session_lose(WpTlsSession *session, WpDirection direction);

/* TRUE since then, until a record opens. */
gboolean wp_tls_session_is_lost(const WpTlsSession *session, WpDirection direction);

/* TRUE where nothing of DIRECTION will be opened any more. */
gboolean wp_tls_session_is_over(const WpTlsSession *session, WpDirection direction);

/* Records opened so far, of both directions. */
guint64 wp_tls_session_n_opened(const WpTlsSession *session);

gsize wp_tls_session_memory(const WpTlsSession *session);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpTlsSession, wp_tls_session_free)

#endif
