/* Connections with keys. See the header. */
#include "capture/tls-session.h"

#include <string.h>

enum {
	RECORD_HANDSHAKE = 22,
	RECORD_DATA = 23,
	MESSAGE_KEY_UPDATE = 24
};

/* Keys of one direction come in this order. Those of TLS 1.2 are all APPLICATION. */
typedef enum {
	EARLY,
	HANDSHAKE,
	APPLICATION,
	UPDATED, /* those after APPLICATION, made when they are needed */
	N_EPOCHS
} Epoch;

/*
 * What a record that opens sets the count of vain bytes back by: this, and so many times its own bytes. So
 * what is spent stays in proportion to what is sent.
 */
#define VAIN_BACK       (64 * 1024)
#define VAIN_BACK_BYTES 16

typedef struct {
	WpTlsKeys *keys[N_EPOCHS]; /* NULL = not known, or over */
	Epoch epoch;               /* in use */
	guint64 sequence;          /* of the next record */
	gboolean is_sealed;        /* TLS 1.2: its cipher was changed */
	gboolean is_lost;
	gsize vain; /* bytes */
} Side;

struct WpTlsSession {
	const WpKeylog *keylog;
	guint8 random[WP_TLS_RANDOM_BYTES];
	const WpTlsSuite *suite; /* NULL until the server has chosen */
	Side sides[2];
	guint64 n_opened;
};

/* Secrets by direction and epoch. */
static const int labels[2][UPDATED] = {
	[WP_FROM_CLIENT] = { WP_KEY_CLIENT_EARLY, WP_KEY_CLIENT_HANDSHAKE, WP_KEY_CLIENT_TRAFFIC },
	[WP_FROM_SERVER] = { -1, WP_KEY_SERVER_HANDSHAKE, WP_KEY_SERVER_TRAFFIC },
};

static WpTlsKeys *
make_keys(const WpTlsSession *session, const WpTlsSuite *suite, WpDirection direction, Epoch epoch)
{
	int label = labels[direction][epoch];
	const WpSecret *secret =
		label < 0 ? NULL : wp_keylog_find(session->keylog, label, session->random);
	return secret ? wp_tls_keys_new(suite, secret) : NULL;
}

/*
 * Early data comes before the server has chosen a cipher; it will be one with the hash of the secret
 * (RFC 8446 section 4.2.11). Which of those that have it, only the data tell; nearly all take the first.
 */
static void
guess_early_keys(WpTlsSession *session)
{
	static const guint16 usual[] = { 0x1301, 0x1302 };
	Side *side = &session->sides[WP_FROM_CLIENT];
	for (gsize i = 0; i < G_N_ELEMENTS(usual) && !side->keys[EARLY]; i++)
		side->keys[EARLY] =
			make_keys(session, wp_tls_suite(usual[i]), WP_FROM_CLIENT, EARLY);
}

WpTlsSession *
wp_tls_session_new(const WpKeylog *keylog, const guint8 random[WP_TLS_RANDOM_BYTES])
{
	if (!wp_keylog_has(keylog, random))
		return NULL;
	WpTlsSession *session = g_new0(WpTlsSession, 1);
	session->keylog = keylog;
	memcpy(session->random, random, WP_TLS_RANDOM_BYTES);
	guess_early_keys(session);
	return session;
}

void
wp_tls_session_free(WpTlsSession *session)
{
	if (!session)
		return;
	for (guint i = 0; i < 2; i++)
		for (guint k = 0; k < N_EPOCHS; k++)
			wp_tls_keys_free(session->sides[i].keys[k]);
	g_free(session);
}

static void
set_keys(Side *side, Epoch epoch, WpTlsKeys *keys)
{
	wp_tls_keys_free(side->keys[epoch]);
	side->keys[epoch] = keys;
}

static gboolean
choose_1_2(WpTlsSession *session, const WpTlsHello *hello)
{
	WpTlsKeys *keys[2];
	const WpSecret *master = wp_keylog_find(session->keylog, WP_KEY_MASTER, session->random);
	if (!master)
		return FALSE;
	wp_tls_keys_new_pair(session->suite, master, session->random, hello->random,
			     hello->encrypt_then_mac, keys);
	for (guint i = 0; i < 2; i++) {
		session->sides[i].epoch = APPLICATION;
		set_keys(&session->sides[i], APPLICATION, keys[i]);
	}
	return keys[0] && keys[1];
}

static gboolean
choose_1_3(WpTlsSession *session)
{
	for (guint i = 0; i < 2; i++)
		for (Epoch epoch = EARLY; epoch <= APPLICATION; epoch++)
			set_keys(&session->sides[i], epoch,
				 make_keys(session, session->suite, i, epoch));
	return session->sides[0].keys[APPLICATION] && session->sides[1].keys[APPLICATION];
}

gboolean
wp_tls_session_choose(WpTlsSession *session, const WpTlsHello *hello)
{
	gboolean is_1_3 = hello->version == WP_TLS_VERSION_1_3;
	session->suite = wp_tls_suite(hello->cipher);
	if (!session->suite || session->suite->is_1_3 != is_1_3)
		return FALSE;
	if (is_1_3)
		return choose_1_3(session);
	return hello->version == WP_TLS_VERSION_1_2 && choose_1_2(session, hello);
}

void
wp_tls_session_change_cipher(WpTlsSession *session, WpDirection direction)
{
	session->sides[direction].is_sealed = TRUE;
}

gboolean
wp_tls_session_is_sealed(const WpTlsSession *session, WpDirection direction, guint8 type)
{
	if (!session->suite || session->suite->is_1_3)
		return type == RECORD_DATA;
	return session->sides[direction].is_sealed || type == RECORD_DATA;
}

/* --- opening --- */

typedef struct {
	guint8 type;
	guint16 version;
	WpBytes body;
	guint8 *out;
	WpTlsPlain *plain;
} Record;

static gboolean
try_key(Side *side, Epoch epoch, guint64 sequence, const Record *record)
{
	WpTlsPlain *plain = record->plain;
	if (side->vain >= WP_TLS_MAX_VAIN)
		return FALSE;
	if (!wp_tls_keys_open(side->keys[epoch], sequence, record->type, record->version,
			      record->body.data, record->body.length, record->out, &plain->length,
			      &plain->type, &plain->lead)) {
		side->vain += record->body.length;
		return FALSE;
	}
	plain->data = record->out;
	side->vain -= MIN(side->vain, VAIN_BACK + VAIN_BACK_BYTES * record->body.length);
	side->is_lost = FALSE;
	plain->n_missing = epoch == side->epoch ? sequence - side->sequence : 0;
	side->epoch = epoch;
	side->sequence = sequence + 1;
	return TRUE;
}

/* The keys in use with the number that is due; after a hole those that follow. */
static gboolean
try_present(Side *side, const Record *record)
{
	guint64 last = side->sequence + (side->is_lost ? WP_TLS_MAX_MISSING : 0);
	for (guint64 sequence = side->sequence; sequence <= last; sequence++)
		if (try_key(side, side->epoch, sequence, record))
			return TRUE;
	return FALSE;
}

/* Keys of TLS 1.3 that come after those in use. */
static gboolean
try_later(const WpTlsSession *session, Side *side, const Record *record)
{
	if (!session->suite || !session->suite->is_1_3)
		return FALSE;
	if (side->epoch >= APPLICATION && side->is_lost && !side->keys[UPDATED])
		side->keys[UPDATED] = wp_tls_keys_next(side->keys[side->epoch]);
	for (Epoch epoch = side->epoch + 1; epoch < N_EPOCHS; epoch++) {
		guint64 last = side->is_lost && side->epoch < APPLICATION ? WP_TLS_MAX_MISSING : 0;
		for (guint64 i = 0; side->keys[epoch] && i <= last; i++)
			if (try_key(side, epoch, i, record))
				return TRUE;
	}
	return FALSE;
}

/* The keys after those of APPLICATION take their place. */
static void
update_keys(Side *side)
{
	WpTlsKeys *next = g_steal_pointer(&side->keys[UPDATED]);
	if (!next)
		next = wp_tls_keys_next(side->keys[APPLICATION]);
	set_keys(side, APPLICATION, next);
	side->epoch = APPLICATION;
}

/* TRUE where the last message of the record is a key update: the next record has other keys. */
static gboolean
ends_with_update(const WpTlsPlain *plain)
{
	WpBytes in = wp_bytes(plain->data, plain->length);
	guint8 type = 0;
	if (plain->type != RECORD_HANDSHAKE)
		return FALSE;
	while (!in.failed && wp_bytes_left(&in)) {
		type = wp_bytes_u8(&in);
		wp_bytes_skip(&in, wp_bytes_be24(&in));
	}
	return !in.failed && type == MESSAGE_KEY_UPDATE;
}

gboolean
wp_tls_session_open(WpTlsSession *session, WpDirection direction, guint8 type, guint16 version,
		    WpBytes body, guint8 *out, WpTlsPlain *out_plain)
{
	Side *side = &session->sides[direction];
	Record record = { type, version, body, out, out_plain };

	while (session->suite && side->epoch < APPLICATION && !side->keys[side->epoch])
		side->epoch++;
	if (!side->keys[side->epoch] ||
	    (!try_present(side, &record) && !try_later(session, side, &record))) {
		return FALSE;
	}
	session->n_opened++;
	if (side->epoch == UPDATED)
		update_keys(side);
	if (session->suite && session->suite->is_1_3 && side->epoch == APPLICATION &&
	    ends_with_update(out_plain)) {
		update_keys(side);
		side->sequence = 0;
	}
	return side->keys[side->epoch] != NULL;
}

void
wp_tls_session_pass(WpTlsSession *session, WpDirection direction)
{
	Side *side = &session->sides[direction];
	side->sequence++;
	side->is_lost = TRUE; /* it may have had other keys */
}

void
wp_tls_session_lose(WpTlsSession *session, WpDirection direction)
{
	session->sides[direction].is_lost = TRUE;
	session->sides[direction].is_sealed = TRUE; /* seen or not, that is soon so */
}

gboolean
wp_tls_session_is_lost(const WpTlsSession *session, WpDirection direction)
{
	return session->sides[direction].is_lost;
}

gboolean
wp_tls_session_is_over(const WpTlsSession *session, WpDirection direction)
{
	return session->sides[direction].vain >= WP_TLS_MAX_VAIN;
}

guint64
wp_tls_session_n_opened(const WpTlsSession *session)
{
	return session->n_opened;
}

gsize
wp_tls_session_memory(const WpTlsSession *session)
{
	gsize n = sizeof *session;
	for (guint i = 0; i < 2; i++)
		for (guint k = 0; k < N_EPOCHS; k++)
			n += session->sides[i].keys[k] ? WP_TLS_KEYS_MEMORY : 0;
	return n;
}
