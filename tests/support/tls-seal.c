/* Sealed records; see the header. */
#include "tests/support/tls-seal.h"

#include <check.h>
#include <gcrypt.h>
#include <string.h>

enum {
	VERSION = 0x0303,
	DATA = 23
};

void
wp_tls_sealer_init(WpTlsSealer *sealer, const WpTlsSuite *suite, const WpSecret *secret)
{
	*sealer = (WpTlsSealer){ .suite = suite };
	wp_tls_expand_label(suite->hash, secret, "key", sealer->key, suite->key_bytes);
	wp_tls_expand_label(suite->hash, secret, "iv", sealer->iv, sizeof sealer->iv);
}

static gsize
mac_bytes(const WpTlsSuite *suite)
{
	static const guint8 bytes[] = { 0, 20, 32, 48 };
	return bytes[suite->mac];
}

void
wp_tls_sealer_init_pair(WpTlsSealer sealers[2], const WpTlsSuite *suite, const WpSecret *master,
			const guint8 client_random[32], const guint8 server_random[32],
			gboolean encrypt_then_mac)
{
	guint8 seed[64], block[256];
	gsize n_mac = mac_bytes(suite), n_key = suite->key_bytes;
	gsize n_iv = suite->mode == WP_TLS_CBC ? 0 : suite->mode == WP_TLS_CHACHA20 ? 12 : 4;

	memcpy(seed, server_random, 32);
	memcpy(seed + 32, client_random, 32);
	wp_tls_prf(suite->hash, master->bytes, master->length, "key expansion", seed, sizeof seed,
		   block, 2 * (n_mac + n_key + n_iv));
	for (int i = 0; i < 2; i++) {
		sealers[i] = (WpTlsSealer){ .suite = suite, .encrypt_then_mac = encrypt_then_mac };
		memcpy(sealers[i].mac, block + i * n_mac, n_mac);
		memcpy(sealers[i].key, block + 2 * n_mac + i * n_key, n_key);
		memcpy(sealers[i].iv, block + 2 * (n_mac + n_key) + i * n_iv, n_iv);
	}
}

static void
put(guint8 *out, guint64 number, guint n)
{
	for (guint i = 0; i < n; i++)
		out[i] = (guint8)(number >> (8 * (n - 1 - i)));
}

static void
append_mac(const WpTlsSealer *sealer, guint8 type, const guint8 *data, gsize length,
	   GByteArray *out)
{
	static const int algorithms[] = { 0, GCRY_MAC_HMAC_SHA1, GCRY_MAC_HMAC_SHA256,
					  GCRY_MAC_HMAC_SHA384 };
	guint8 header[13], mac[48];
	gsize n = mac_bytes(sealer->suite);
	gcry_mac_hd_t handle;

	put(header, sealer->sequence, 8);
	header[8] = type;
	put(header + 9, VERSION, 2);
	put(header + 11, length, 2);
	ck_assert(!gcry_mac_open(&handle, algorithms[sealer->suite->mac], 0, NULL));
	gcry_mac_setkey(handle, sealer->mac, n);
	gcry_mac_write(handle, header, sizeof header);
	gcry_mac_write(handle, data, length);
	gcry_mac_read(handle, mac, &n);
	gcry_mac_close(handle);
	g_byte_array_append(out, mac, (guint)n);
}

static gcry_cipher_hd_t
open_cipher(const WpTlsSealer *sealer)
{
	static const int modes[] = { GCRY_CIPHER_MODE_GCM, GCRY_CIPHER_MODE_POLY1305,
				     GCRY_CIPHER_MODE_CCM, GCRY_CIPHER_MODE_CCM,
				     GCRY_CIPHER_MODE_CBC };
	int cipher = sealer->suite->mode == WP_TLS_CHACHA20 ? GCRY_CIPHER_CHACHA20
		     : sealer->suite->key_bytes == 32       ? GCRY_CIPHER_AES256
							    : GCRY_CIPHER_AES128;
	gcry_cipher_hd_t handle;
	ck_assert(!gcry_cipher_open(&handle, cipher, modes[sealer->suite->mode], 0));
	ck_assert(!gcry_cipher_setkey(handle, sealer->key, sealer->suite->key_bytes));
	return handle;
}

/* The text with its MAC and padding, in blocks, behind a block of initial values. */
static GByteArray *
seal_cbc(const WpTlsSealer *sealer, guint8 type, const GByteArray *text)
{
	GByteArray *body = g_byte_array_new(), *plain = g_byte_array_new();
	guint8 iv[16];

	memset(iv, (int)sealer->sequence + 1, sizeof iv);
	g_byte_array_append(plain, text->data, text->len);
	if (!sealer->encrypt_then_mac)
		append_mac(sealer, type, text->data, text->len, plain);
	guint8 padding = (guint8)(15 - plain->len % 16);
	for (int i = 0; i <= padding; i++)
		g_byte_array_append(plain, &padding, 1);
	gcry_cipher_hd_t handle = open_cipher(sealer);
	gcry_cipher_setiv(handle, iv, sizeof iv);
	ck_assert(!gcry_cipher_encrypt(handle, plain->data, plain->len, NULL, 0));
	gcry_cipher_close(handle);
	g_byte_array_append(body, iv, sizeof iv);
	g_byte_array_append(body, plain->data, plain->len);
	g_byte_array_unref(plain);
	if (sealer->encrypt_then_mac)
		append_mac(sealer, type, body->data, body->len, body);
	return body;
}

static void
make_nonce(const WpTlsSealer *sealer, guint8 nonce[12])
{
	gboolean is_explicit = !sealer->suite->is_1_3 && sealer->suite->mode != WP_TLS_CHACHA20;
	memcpy(nonce, sealer->iv, 12);
	if (is_explicit)
		put(nonce + 4, 0x1122334455667788 + sealer->sequence, 8);
	for (int i = 0; i < 8 && !is_explicit; i++)
		nonce[11 - i] ^= (guint8)(sealer->sequence >> 8 * i);
}

static GByteArray *
seal_aead(const WpTlsSealer *sealer, guint8 type, const GByteArray *text)
{
	const WpTlsSuite *suite = sealer->suite;
	gboolean is_explicit = !suite->is_1_3 && suite->mode != WP_TLS_CHACHA20;
	gsize n_tag = suite->mode == WP_TLS_CCM_8 ? 8 : 16, n_header = suite->is_1_3 ? 5 : 13;
	guint8 nonce[12], header[13], tag[16];
	GByteArray *body = g_byte_array_new();

	make_nonce(sealer, nonce);
	if (is_explicit)
		g_byte_array_append(body, nonce + 4, 8);
	gsize at = body->len;
	g_byte_array_append(body, text->data, text->len);
	put(header, sealer->sequence, 8);
	header[suite->is_1_3 ? 0 : 8] = type;
	put(header + n_header - 4, VERSION, 2);
	put(header + n_header - 2, suite->is_1_3 ? text->len + n_tag : text->len, 2);
	gcry_cipher_hd_t handle = open_cipher(sealer);
	guint64 lengths[3] = { text->len, n_header, n_tag };
	gcry_cipher_setiv(handle, nonce, sizeof nonce);
	if (suite->mode == WP_TLS_CCM || suite->mode == WP_TLS_CCM_8)
		gcry_cipher_ctl(handle, GCRYCTL_SET_CCM_LENGTHS, lengths, sizeof lengths);
	gcry_cipher_authenticate(handle, header, n_header);
	if (text->len)
		ck_assert(!gcry_cipher_encrypt(handle, body->data + at, text->len, NULL, 0));
	ck_assert(!gcry_cipher_gettag(handle, tag, n_tag));
	gcry_cipher_close(handle);
	g_byte_array_append(body, tag, (guint)n_tag);
	return body;
}

void
wp_tls_seal(WpTlsSealer *sealer, guint8 type, const void *text, gsize length, gsize padding,
	    GByteArray *out)
{
	g_autoptr(GByteArray) plain = g_byte_array_new();
	guint8 header[5] = { type, 3, 3 }, zero = 0;

	g_byte_array_append(plain, text, (guint)length);
	if (sealer->suite->is_1_3) {
		g_byte_array_append(plain, &type, 1);
		for (gsize i = 0; i < padding; i++)
			g_byte_array_append(plain, &zero, 1);
		header[0] = DATA;
	}
	g_autoptr(GByteArray) body = sealer->suite->mode == WP_TLS_CBC
					     ? seal_cbc(sealer, header[0], plain)
					     : seal_aead(sealer, header[0], plain);
	put(header + 3, body->len, 2);
	g_byte_array_append(out, header, sizeof header);
	g_byte_array_append(out, body->data, body->len);
	sealer->sequence++;
}
