/* Keys and records of TLS, against published vectors and against records made by tls-seal.h. */
#include "capture/tls-crypto.h"

#include <string.h>

#include "tests/support/suite.h"
#include "tests/support/tls-seal.h"

/* N bytes of hexadecimal. */
static gsize
from_hex(const char *hex, guint8 *out)
{
	gsize n = strlen(hex) / 2;
	for (gsize i = 0; i < n; i++)
		out[i] = (guint8)(g_ascii_xdigit_value(hex[2 * i]) << 4 |
				  g_ascii_xdigit_value(hex[2 * i + 1]));
	return n;
}

static void
assert_hex(const guint8 *got, gsize n, const char *expected)
{
	g_autoptr(GString) text = g_string_new(NULL);
	for (gsize i = 0; i < n; i++)
		g_string_append_printf(text, "%02x", got[i]);
	ck_assert_str_eq(text->str, expected);
}

/* The vectors that the TLS working group published for the pseudo-random function of TLS 1.2. */
static const struct {
	WpTlsHash hash;
	const char *secret;
	const char *seed;
	const char *expected;
} prf[] = {
	{ WP_TLS_HASH_SHA256, "9bbe436ba940f017b17652849a71db35",
	  "a0ba9f936cda311827a6f796ffd5198c",
	  "e3f229ba727be17b8d122620557cd453c2aab21d07c3d495329b52d4e61edb5a"
	  "6b301791e90d35c9c9a46b4e14baf9af0fa022f7077def17abfd3797c0564bab"
	  "4fbc91666e9def9b97fce34f796789baa48082d122ee42c5a72e5a5110fff701"
	  "87347b66" },
	{ WP_TLS_HASH_SHA384, "b80b733d6ceefcdc71566ea48e5567df",
	  "cd665cf6a8447dd6ff8b27555edb7465",
	  "7b0c18e9ced410ed1804f2cfa34a336a1c14dffb4900bb5fd7942107e81c83cd"
	  "e9ca0faa60be9fe34f82b1233c9146a0e534cb400fed2700884f9dc236f80edd"
	  "8bfa961144c9e8d792eca722a7b32fc3d416d473ebc2c5fd4abfdad05d918425"
	  "9b5bf8cd4d90fa0d31e2dec479e4f1a26066f2eea9a69236a3e52655c9e9aee6"
	  "91c8f3a26854308d5eaa3be85e0990703d73e56f" },
};

START_TEST(derivation_1_2)
{
	guint8 secret[16], seed[16], got[200];
	from_hex(prf[_i].secret, secret);
	from_hex(prf[_i].seed, seed);
	gsize n = strlen(prf[_i].expected) / 2;
	wp_tls_prf(prf[_i].hash, secret, 16, "test label", seed, 16, got, n);
	assert_hex(got, n, prf[_i].expected);
}
END_TEST

/* RFC 8448 section 3: secrets, and the keys and nonces that they give. */
#define CLIENT_SECRET "9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5"
static const struct {
	const char *secret;
	const char *key;
	const char *iv;
} traffic[] = {
	{ "b67b7d690cc16c4e75e54213cb2d37b4e9c912bcded9105d42befd59d391ad38",
	  "3fce516009c21727d0f2e4e86ee403bc", "5d313eb2671276ee13000b30" },
	{ "a11af9f05531f856ad47116b45a950328204b4f44bfb6b3a4b4f1f3fcb631643",
	  "9f02283b6c9c07efc26bb9f2ac92e356", "cf782b88dd83549aadf1e984" },
	{ CLIENT_SECRET, "17422dda596ed5d9acd890e3c63f5051", "5b78923dee08579033e523d9" },
};

START_TEST(derivation_1_3)
{
	WpSecret secret;
	guint8 got[16];
	secret.length = (guint8)from_hex(traffic[_i].secret, secret.bytes);
	wp_tls_expand_label(WP_TLS_HASH_SHA256, &secret, "key", got, 16);
	assert_hex(got, 16, traffic[_i].key);
	wp_tls_expand_label(WP_TLS_HASH_SHA256, &secret, "iv", got, 12);
	assert_hex(got, 12, traffic[_i].iv);
}
END_TEST

/* RFC 8448 section 3: the client's first record of application data. */
START_TEST(published_record)
{
	static const char *const sealed =
		"a23f7054b62c94d0affafe8228ba55cbefacea42f914aa66bcab3f2b9819a8a5"
		"b46b395bd54a9a20441e2b62974e1f5a6292a2977014bd1e3deae63aeebb2169"
		"4915e4";
	guint8 body[80], text[WP_TLS_MAX_RECORD], type;
	gsize n, lead, length = from_hex(sealed, body);
	WpSecret secret;
	secret.length = (guint8)from_hex(CLIENT_SECRET, secret.bytes);
	g_autoptr(WpTlsKeys) keys = wp_tls_keys_new(wp_tls_suite(0x1301), &secret);
	ck_assert(wp_tls_keys_open(keys, 0, 23, 0x0303, body, length, text, &n, &type, &lead));
	ck_assert_int_eq(type, 23);
	ck_assert_int_eq(lead, 0);
	assert_hex(text, n,
		   "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
		   "202122232425262728292a2b2c2d2e2f3031");
	ck_assert(!wp_tls_keys_open(keys, 1, 23, 0x0303, body, length, text, &n, &type, &lead));
}
END_TEST

/* One of each kind of cipher and length of key. */
static const struct {
	guint16 suite;
	gboolean encrypt_then_mac;
} ciphers[] = {
	{ 0x1301, FALSE }, { 0x1302, FALSE }, { 0x1303, FALSE }, { 0x1304, FALSE },
	{ 0x1305, FALSE }, { 0xc02f, FALSE }, { 0xc030, FALSE }, { 0xcca8, FALSE },
	{ 0xc09e, FALSE }, { 0xc0af, FALSE }, { 0x002f, FALSE }, { 0x0035, TRUE },
	{ 0x003c, TRUE },  { 0x003d, FALSE }, { 0xc024, FALSE }, { 0xc028, TRUE },
};

static void
make_both(guint16 id, gboolean encrypt_then_mac, WpTlsSealer sealers[2], WpTlsKeys *keys[2])
{
	static const guint8 client[32] = "client", server[32] = "server";
	const WpTlsSuite *suite = wp_tls_suite(id);
	WpSecret secret = { .length = 48 };

	ck_assert(suite != NULL);
	memset(secret.bytes, 7, sizeof secret.bytes);
	if (!suite->is_1_3) {
		wp_tls_keys_new_pair(suite, &secret, client, server, encrypt_then_mac, keys);
		wp_tls_sealer_init_pair(sealers, suite, &secret, client, server, encrypt_then_mac);
		return;
	}
	for (int i = 0; i < 2; i++) {
		secret.bytes[0] = (guint8)i;
		secret.length = suite->hash == WP_TLS_HASH_SHA384 ? 48 : 32;
		keys[i] = wp_tls_keys_new(suite, &secret);
		wp_tls_sealer_init(&sealers[i], suite, &secret);
	}
}

/* What is sealed opens: with its number, its type and all its bytes, and not otherwise. */
static void
check_record(WpTlsSealer *sealer, WpTlsKeys *keys, gsize length)
{
	static const guint8 text[300] = "what nobody else may read";
	guint8 got[WP_TLS_MAX_RECORD], type;
	gsize n, lead;
	guint64 number = sealer->sequence;
	g_autoptr(GByteArray) record = g_byte_array_new();

	wp_tls_seal(sealer, 23, text, length, length % 5, record);
	guint8 *body = record->data + 5;
	gsize size = record->len - 5;
	ck_assert(wp_tls_keys_open(keys, number, 23, 0x0303, body, size, got, &n, &type, &lead));
	ck_assert_int_eq(n, length);
	ck_assert_int_eq(memcmp(got, text, n), 0);
	ck_assert_int_eq(type, 23);
	ck_assert(
		!wp_tls_keys_open(keys, number + 1, 23, 0x0303, body, size, got, &n, &type, &lead));
	ck_assert(!wp_tls_keys_open(keys, number, 22, 0x0303, body, size, got, &n, &type, &lead));
	for (gsize at = 0; at < size; at++) {
		g_autofree guint8 *copy = g_memdup2(body, size);
		copy[at] ^= 1;
		ck_assert(!wp_tls_keys_open(keys, number, 23, 0x0303, copy, size, got, &n, &type,
					    &lead));
		g_autofree guint8 *begin = g_memdup2(body, MAX(at, 1));
		ck_assert(!wp_tls_keys_open(keys, number, 23, 0x0303, begin, at, got, &n, &type,
					    &lead));
	}
}

START_TEST(records)
{
	WpTlsSealer sealers[2];
	WpTlsKeys *keys[2];
	make_both(ciphers[_i].suite, ciphers[_i].encrypt_then_mac, sealers, keys);
	for (int side = 0; side < 2; side++)
		for (gsize length = 0; length < 100; length += (gsize)wp_test_number(9, 33))
			check_record(&sealers[side], keys[side], length);
	wp_tls_keys_free(keys[0]);
	wp_tls_keys_free(keys[1]);
}
END_TEST

/* Secrets of a length that the hash does not have, and ciphers that are not known, give no keys. */
START_TEST(no_keys)
{
	WpSecret secret = { .length = 48 };
	ck_assert(wp_tls_keys_new(wp_tls_suite(0x1301), &secret) == NULL);
	secret.length = 32;
	ck_assert(wp_tls_keys_new(wp_tls_suite(0x1302), &secret) == NULL);
	ck_assert(wp_tls_suite(0x0005) == NULL);
	ck_assert(wp_tls_suite(0x0000) == NULL);
}
END_TEST

WP_SUITE_OF_ROWS("tls-crypto", { derivation_1_2, G_N_ELEMENTS(prf) },
		 { derivation_1_3, G_N_ELEMENTS(traffic) }, { published_record, 0 },
		 { records, G_N_ELEMENTS(ciphers) }, { no_keys, 0 })
