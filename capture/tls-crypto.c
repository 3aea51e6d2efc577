/* Keys and records of TLS. See the header. */
#include "capture/tls-crypto.h"

#include <gcrypt.h>
#include <string.h>

enum {
	IV_BYTES = 12,      /* of the nonce of all but CBC */
	FIXED_IV_BYTES = 4, /* of it, in TLS 1.2 with AES-GCM and CCM */
	EXPLICIT_BYTES = IV_BYTES - FIXED_IV_BYTES,
	BLOCK_BYTES = 16,
	MAX_HASH = 48,
	MAX_HEADER = 13, /* what is authenticated beside the body, RFC 5246 section 6.2.3.3 */
	CHANGE_CIPHER = 20,
	DATA = 23
};

struct WpTlsKeys {
	const WpTlsSuite *suite;
	gcry_cipher_hd_t cipher;
	gcry_mac_hd_t mac; /* CBC */
	guint8 iv[IV_BYTES];
	gboolean encrypt_then_mac;
	WpSecret secret; /* TLS 1.3: for the next keys */
};

#define ROW(id, is_1_3, mode, bytes, mac, hash)                                                    \
	{                                                                                          \
		id, is_1_3, WP_TLS_##mode, bytes, WP_TLS_MAC_##mac, WP_TLS_HASH_##hash             \
	}

/* By number, of those who assign them (IANA). */
static const WpTlsSuite suites[] = {
	ROW(0x002f, FALSE, CBC, 16, SHA1, SHA256),
	ROW(0x0033, FALSE, CBC, 16, SHA1, SHA256),
	ROW(0x0035, FALSE, CBC, 32, SHA1, SHA256),
	ROW(0x0039, FALSE, CBC, 32, SHA1, SHA256),
	ROW(0x003c, FALSE, CBC, 16, SHA256, SHA256),
	ROW(0x003d, FALSE, CBC, 32, SHA256, SHA256),
	ROW(0x0067, FALSE, CBC, 16, SHA256, SHA256),
	ROW(0x006b, FALSE, CBC, 32, SHA256, SHA256),
	ROW(0x008c, FALSE, CBC, 16, SHA1, SHA256),
	ROW(0x008d, FALSE, CBC, 32, SHA1, SHA256),
	ROW(0x009c, FALSE, GCM, 16, NONE, SHA256),
	ROW(0x009d, FALSE, GCM, 32, NONE, SHA384),
	ROW(0x009e, FALSE, GCM, 16, NONE, SHA256),
	ROW(0x009f, FALSE, GCM, 32, NONE, SHA384),
	ROW(0x00a8, FALSE, GCM, 16, NONE, SHA256),
	ROW(0x00a9, FALSE, GCM, 32, NONE, SHA384),
	ROW(0x1301, TRUE, GCM, 16, NONE, SHA256),
	ROW(0x1302, TRUE, GCM, 32, NONE, SHA384),
	ROW(0x1303, TRUE, CHACHA20, 32, NONE, SHA256),
	ROW(0x1304, TRUE, CCM, 16, NONE, SHA256),
	ROW(0x1305, TRUE, CCM_8, 16, NONE, SHA256),
	ROW(0xc009, FALSE, CBC, 16, SHA1, SHA256),
	ROW(0xc00a, FALSE, CBC, 32, SHA1, SHA256),
	ROW(0xc013, FALSE, CBC, 16, SHA1, SHA256),
	ROW(0xc014, FALSE, CBC, 32, SHA1, SHA256),
	ROW(0xc023, FALSE, CBC, 16, SHA256, SHA256),
	ROW(0xc024, FALSE, CBC, 32, SHA384, SHA384),
	ROW(0xc027, FALSE, CBC, 16, SHA256, SHA256),
	ROW(0xc028, FALSE, CBC, 32, SHA384, SHA384),
	ROW(0xc02b, FALSE, GCM, 16, NONE, SHA256),
	ROW(0xc02c, FALSE, GCM, 32, NONE, SHA384),
	ROW(0xc02f, FALSE, GCM, 16, NONE, SHA256),
	ROW(0xc030, FALSE, GCM, 32, NONE, SHA384),
	ROW(0xc09c, FALSE, CCM, 16, NONE, SHA256),
	ROW(0xc09d, FALSE, CCM, 32, NONE, SHA256),
	ROW(0xc09e, FALSE, CCM, 16, NONE, SHA256),
	ROW(0xc09f, FALSE, CCM, 32, NONE, SHA256),
	ROW(0xc0a0, FALSE, CCM_8, 16, NONE, SHA256),
	ROW(0xc0a1, FALSE, CCM_8, 32, NONE, SHA256),
	ROW(0xc0a2, FALSE, CCM_8, 16, NONE, SHA256),
	ROW(0xc0a3, FALSE, CCM_8, 32, NONE, SHA256),
	ROW(0xc0ac, FALSE, CCM, 16, NONE, SHA256),
	ROW(0xc0ad, FALSE, CCM, 32, NONE, SHA256),
	ROW(0xc0ae, FALSE, CCM_8, 16, NONE, SHA256),
	ROW(0xc0af, FALSE, CCM_8, 32, NONE, SHA256),
	ROW(0xcca8, FALSE, CHACHA20, 32, NONE, SHA256),
	ROW(0xcca9, FALSE, CHACHA20, 32, NONE, SHA256),
	ROW(0xccaa, FALSE, CHACHA20, 32, NONE, SHA256),
	ROW(0xccab, FALSE, CHACHA20, 32, NONE, SHA256),
	ROW(0xccac, FALSE, CHACHA20, 32, NONE, SHA256),
};

const WpTlsSuite *
wp_tls_suite(guint16 id)
{
	for (gsize i = 0; i < G_N_ELEMENTS(suites); i++)
		if (suites[i].id == id)
			return &suites[i];
	return NULL;
}

/* The library wants to be told once that nobody else will set it up. */
static void
begin_gcrypt(void)
{
	if (gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P))
		return;
	gcry_check_version(NULL);
	gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
	gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
}

/* --- derivation --- */

static gsize
hash_bytes(WpTlsHash hash)
{
	return hash == WP_TLS_HASH_SHA384 ? 48 : 32;
}

typedef struct {
	const void *data;
	gsize length;
} Part;

/* HMAC of the parts, one after the other; OUT has hash_bytes(). */
static void
hmac(WpTlsHash hash, const guint8 *key, gsize key_length, const Part *parts, gsize n, guint8 *out)
{
	gcry_mac_hd_t mac;
	gsize length = hash_bytes(hash);
	int algorithm = hash == WP_TLS_HASH_SHA384 ? GCRY_MAC_HMAC_SHA384 : GCRY_MAC_HMAC_SHA256;

	begin_gcrypt();
	memset(out, 0, length);
	if (gcry_mac_open(&mac, algorithm, 0, NULL))
		return;
	gcry_mac_setkey(mac, key, key_length);
	for (gsize i = 0; i < n; i++)
		gcry_mac_write(mac, parts[i].data, parts[i].length);
	gcry_mac_read(mac, out, &length);
	gcry_mac_close(mac);
}

void
wp_tls_prf(WpTlsHash hash, const guint8 *secret, gsize secret_length, const char *label,
	   const guint8 *seed, gsize seed_length, guint8 *out, gsize n)
{
	/* A(i) and what it gives */
	guint8 a[MAX_HASH], block[MAX_HASH];
	gsize bytes = hash_bytes(hash);
	const Part first[] = { { label, strlen(label) }, { seed, seed_length } };

	hmac(hash, secret, secret_length, first, 2, a);
	for (gsize at = 0; at < n; at += bytes) {
		const Part parts[] = { { a, bytes }, first[0], first[1] };
		hmac(hash, secret, secret_length, parts, 3, block);
		memcpy(out + at, block, MIN(bytes, n - at));
		hmac(hash, secret, secret_length, parts, 1, block);
		memcpy(a, block, bytes);
	}
}

void
wp_tls_expand_label(WpTlsHash hash, const WpSecret *secret, const char *label, guint8 *out, gsize n)
{
	gsize label_length = strlen(label) + 6, bytes = hash_bytes(hash);
	guint8 head[3] = { (guint8)(n >> 8), (guint8)n, (guint8)label_length };
	guint8 block[MAX_HASH];

	/* RFC 5869 section 2.3: T(i) = HMAC(T(i - 1), info, i) */
	for (gsize at = 0; at < n; at += bytes) {
		guint8 tail[2] = { 0, (guint8)(at / bytes + 1) };
		const Part parts[] = { { block, at ? bytes : 0 },
				       { head, sizeof head },
				       { "tls13 ", 6 },
				       { label, label_length - 6 },
				       { tail, sizeof tail } };
		guint8 next[MAX_HASH];
		hmac(hash, secret->bytes, secret->length, parts, G_N_ELEMENTS(parts), next);
		memcpy(block, next, bytes);
		memcpy(out + at, block, MIN(bytes, n - at));
	}
}

/* --- keys --- */

static gboolean
open_cipher(WpTlsKeys *keys, const guint8 *key)
{
	const WpTlsSuite *suite = keys->suite;
	int aes = suite->key_bytes == 32 ? GCRY_CIPHER_AES256 : GCRY_CIPHER_AES128;
	static const int modes[] = {
		[WP_TLS_GCM] = GCRY_CIPHER_MODE_GCM,
		[WP_TLS_CCM] = GCRY_CIPHER_MODE_CCM,
		[WP_TLS_CHACHA20] = GCRY_CIPHER_MODE_POLY1305,
		[WP_TLS_CCM_8] = GCRY_CIPHER_MODE_CCM,
		[WP_TLS_CBC] = GCRY_CIPHER_MODE_CBC,
	};
	gboolean is_chacha = suite->mode == WP_TLS_CHACHA20;

	begin_gcrypt();
	return !gcry_cipher_open(&keys->cipher, is_chacha ? GCRY_CIPHER_CHACHA20 : aes,
				 modes[suite->mode], 0) &&
	       !gcry_cipher_setkey(keys->cipher, key, suite->key_bytes);
}

static gsize
mac_bytes(WpTlsMac mac)
{
	static const guint8 bytes[] = { 0, 20, 32, 48 };
	return bytes[mac];
}

static gboolean
open_mac(WpTlsKeys *keys, const guint8 *key)
{
	static const int algorithms[] = { 0, GCRY_MAC_HMAC_SHA1, GCRY_MAC_HMAC_SHA256,
					  GCRY_MAC_HMAC_SHA384 };
	WpTlsMac mac = keys->suite->mac;
	return mac == WP_TLS_MAC_NONE || (!gcry_mac_open(&keys->mac, algorithms[mac], 0, NULL) &&
					  !gcry_mac_setkey(keys->mac, key, mac_bytes(mac)));
}

WpTlsKeys *
wp_tls_keys_new(const WpTlsSuite *suite, const WpSecret *secret)
{
	guint8 key[32];

	if (secret->length != hash_bytes(suite->hash))
		return NULL;
	g_autoptr(WpTlsKeys) keys = g_new0(WpTlsKeys, 1);
	keys->suite = suite;
	keys->secret = *secret;
	wp_tls_expand_label(suite->hash, secret, "key", key, suite->key_bytes);
	wp_tls_expand_label(suite->hash, secret, "iv", keys->iv, sizeof keys->iv);
	return open_cipher(keys, key) ? g_steal_pointer(&keys) : NULL;
}

WpTlsKeys *
wp_tls_keys_next(const WpTlsKeys *keys)
{
	WpSecret next = { .length = keys->secret.length };
	wp_tls_expand_label(keys->suite->hash, &keys->secret, "traffic upd", next.bytes,
			    next.length);
	return wp_tls_keys_new(keys->suite, &next);
}

/* RFC 5246 section 6.3: MAC keys of both, keys of both, nonces of both. */
void
wp_tls_keys_new_pair(const WpTlsSuite *suite, const WpSecret *master,
		     const guint8 client_random[WP_TLS_RANDOM_BYTES],
		     const guint8 server_random[WP_TLS_RANDOM_BYTES], gboolean encrypt_then_mac,
		     WpTlsKeys *out_keys[2])
{
	guint8 seed[2 * WP_TLS_RANDOM_BYTES], block[2 * (48 + 32 + IV_BYTES)];
	gsize n_mac = mac_bytes(suite->mac);
	gsize n_iv = suite->mode == WP_TLS_CHACHA20 ? IV_BYTES
		     : suite->mode == WP_TLS_CBC    ? 0
						    : FIXED_IV_BYTES;
	memcpy(seed, server_random, WP_TLS_RANDOM_BYTES);
	memcpy(seed + WP_TLS_RANDOM_BYTES, client_random, WP_TLS_RANDOM_BYTES);
	wp_tls_prf(suite->hash, master->bytes, master->length, "key expansion", seed, sizeof seed,
		   block, 2 * (n_mac + suite->key_bytes + n_iv));
	for (guint i = 0; i < 2; i++) {
		g_autoptr(WpTlsKeys) keys = g_new0(WpTlsKeys, 1);
		const guint8 *key = block + 2 * n_mac + i * suite->key_bytes;
		keys->suite = suite;
		keys->encrypt_then_mac = encrypt_then_mac && suite->mode == WP_TLS_CBC;
		memcpy(keys->iv, block + 2 * n_mac + 2 * suite->key_bytes + i * n_iv, n_iv);
		gboolean is_ready = open_cipher(keys, key) && open_mac(keys, block + i * n_mac);
		out_keys[i] = is_ready ? g_steal_pointer(&keys) : NULL;
	}
}

void
wp_tls_keys_free(WpTlsKeys *keys)
{
	if (!keys)
		return;
	gcry_cipher_close(keys->cipher);
	gcry_mac_close(keys->mac);
	g_free(keys);
}

/* --- records --- */

static void
put_be(guint8 *out, guint64 number, guint n)
{
	for (guint i = 0; i < n; i++)
		out[i] = (guint8)(number >> (8 * (n - 1 - i)));
}

/* What TLS 1.2 authenticates beside the text: number, type, version, length of the text. */
static void
make_header(guint8 header[MAX_HEADER], guint64 sequence, guint8 type, guint16 version, gsize length)
{
	put_be(header, sequence, 8);
	header[8] = type;
	put_be(header + 9, version, 2);
	put_be(header + 11, length, 2);
}

/* EXPLICIT: the part that the record itself tells; NULL = the number of the record makes it. */
static void
make_nonce(const WpTlsKeys *keys, guint64 sequence, const guint8 *explicit, guint8 nonce[IV_BYTES])
{
	memcpy(nonce, keys->iv, IV_BYTES);
	if (explicit)
		memcpy(nonce + FIXED_IV_BYTES, explicit, EXPLICIT_BYTES);
	for (guint i = 0; i < 8 && !explicit; i++)
		nonce[IV_BYTES - 1 - i] ^= (guint8)(sequence >> 8 * i);
}

/* CCM must know all lengths before it begins. */
static gboolean
announce_lengths(WpTlsKeys *keys, gsize text, gsize header, gsize tag)
{
	guint64 lengths[3] = { text, header, tag };
	if (keys->suite->mode != WP_TLS_CCM && keys->suite->mode != WP_TLS_CCM_8)
		return TRUE;
	return !gcry_cipher_ctl(keys->cipher, GCRYCTL_SET_CCM_LENGTHS, lengths, sizeof lengths);
}

static gboolean
open_sealed(WpTlsKeys *keys, guint64 sequence, guint8 type, guint16 version, const guint8 *body,
	    gsize length, guint8 *out, gsize *out_length, gsize *out_lead)
{
	guint8 nonce[IV_BYTES], header[MAX_HEADER];
	const WpTlsSuite *suite = keys->suite;
	gsize tag = suite->mode == WP_TLS_CCM_8 ? 8 : 16;

	gboolean is_explicit = !suite->is_1_3 && suite->mode != WP_TLS_CHACHA20;
	gsize lead = is_explicit ? EXPLICIT_BYTES : 0;
	if (length < lead + tag)
		return FALSE;
	gsize text = length - lead - tag;
	make_nonce(keys, sequence, is_explicit ? body : NULL, nonce);
	gsize header_length = MAX_HEADER;
	if (suite->is_1_3) { /* the header as it was sent */
		header[0] = type;
		put_be(header + 1, version, 2);
		put_be(header + 3, length, 2);
		header_length = 5;
	} else {
		make_header(header, sequence, type, version, text);
	}
	if (gcry_cipher_reset(keys->cipher) || gcry_cipher_setiv(keys->cipher, nonce, IV_BYTES) ||
	    !announce_lengths(keys, text, header_length, tag) ||
	    gcry_cipher_authenticate(keys->cipher, header, header_length) ||
	    gcry_cipher_decrypt(keys->cipher, out, text, body + lead, text) ||
	    gcry_cipher_checktag(keys->cipher, body + lead + text, tag))
		return FALSE;
	*out_length = text;
	*out_lead = lead;
	return TRUE;
}

static gboolean
is_mac(WpTlsKeys *keys, const guint8 header[MAX_HEADER], const guint8 *text, gsize length,
       const guint8 *mac)
{
	return !gcry_mac_reset(keys->mac) && !gcry_mac_write(keys->mac, header, MAX_HEADER) &&
	       !gcry_mac_write(keys->mac, text, length) &&
	       !gcry_mac_verify(keys->mac, mac, mac_bytes(keys->suite->mac));
}

/* The body is a block of initial values, then the blocks. Returns the length of the text with its padding. */
static gsize
open_blocks(WpTlsKeys *keys, const guint8 *body, gsize length, guint8 *out)
{
	if (length < 2 * BLOCK_BYTES || length % BLOCK_BYTES)
		return 0;
	if (gcry_cipher_setiv(keys->cipher, body, BLOCK_BYTES) ||
	    gcry_cipher_decrypt(keys->cipher, out, length - BLOCK_BYTES, body + BLOCK_BYTES,
				length - BLOCK_BYTES))
		return 0;
	return length - BLOCK_BYTES;
}

/* LENGTH without the padding, or G_MAXSIZE: it is as many bytes of that value as its last one says. */
static gsize
without_padding(const guint8 *text, gsize length)
{
	gsize padding = (gsize)text[length - 1] + 1;
	if (padding > length)
		return G_MAXSIZE;
	for (gsize i = length - padding; i < length; i++)
		if (text[i] != padding - 1)
			return G_MAXSIZE;
	return length - padding;
}

static gboolean
open_cbc(WpTlsKeys *keys, guint64 sequence, guint8 type, guint16 version, const guint8 *body,
	 gsize length, guint8 *out, gsize *out_length, gsize *out_lead)
{
	guint8 header[MAX_HEADER];
	gsize n_mac = mac_bytes(keys->suite->mac);

	if (keys->encrypt_then_mac) {
		if (length < n_mac)
			return FALSE;
		length -= n_mac;
		make_header(header, sequence, type, version, length);
		if (!is_mac(keys, header, body, length, body + length))
			return FALSE;
	}
	gsize text = open_blocks(keys, body, length, out);
	if (text == 0)
		return FALSE;
	text = without_padding(out, text);
	if (text == G_MAXSIZE)
		return FALSE;
	if (!keys->encrypt_then_mac) {
		if (text < n_mac)
			return FALSE;
		text -= n_mac;
		make_header(header, sequence, type, version, text);
		if (!is_mac(keys, header, out, text, out + text))
			return FALSE;
	}
	*out_length = text;
	*out_lead = BLOCK_BYTES;
	return TRUE;
}

/* RFC 8446 section 5.2: the type stands behind the text, before zeros. FALSE where there is none. */
static gboolean
take_inner_type(const guint8 *text, gsize *length, guint8 *out_type)
{
	while (*length && text[*length - 1] == 0)
		--*length;
	if (*length == 0)
		return FALSE;
	*out_type = text[--*length];
	return TRUE;
}

gboolean
wp_tls_keys_open(WpTlsKeys *keys, guint64 sequence, guint8 type, guint16 version,
		 const guint8 *body, gsize length, guint8 *out, gsize *out_length, guint8 *out_type,
		 gsize *out_lead)
{
	gsize text, lead;

	if (length > WP_TLS_MAX_RECORD)
		return FALSE;
	gboolean is_open =
		keys->suite->mode == WP_TLS_CBC
			? open_cbc(keys, sequence, type, version, body, length, out, &text, &lead)
			: open_sealed(keys, sequence, type, version, body, length, out, &text,
				      &lead);
	guint8 inner = type;
	if (!is_open || (keys->suite->is_1_3 && !take_inner_type(out, &text, &inner)))
		return FALSE;
	*out_length = text;
	*out_type = inner;
	*out_lead = lead;
	return TRUE;
}
