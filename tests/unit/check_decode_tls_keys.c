/*
 * TLS with keys through the real stream: conversations sealed as they are read.
 *
 * A step is who sends, then items, each after a blank:
 *
 *      hello        the client's, or the server's with the suite of the row
 *      ccs          change cipher spec: from here on TLS 1.2 seals
 *      F            Finished; TLS 1.3: under handshake keys, and application keys follow
 *      E:h2         EncryptedExtensions with that protocol
 *      T  U  A      a ticket; a key update; an alert
 *      Y'text'      early data
 *      D'text' B:0a  data; in hexadecimal
 *      P'text' R:0a  bytes in the clear
 *      X:40         a record of so many bytes that nobody has sealed
 *
 * A small letter as sender ("s D'..'"): what is sealed is lost on the way. ^ in a text is the end of a line.
 */
#include <string.h>

#include "tests/support/byte-rows.h"
#include "tests/support/decode-run.h"
#include "tests/support/suite.h"
#include "tests/support/tls-seal.h"

enum {
	EARLY,
	HANDSHAKE,
	APPLICATION,
	N_EPOCHS
};

typedef struct {
	const WpTlsSuite *suite;
	gboolean is_etm;
	WpTlsSealer sealers[2][N_EPOCHS];
	WpSecret traffic[2];
	gboolean is_sealed[2];
	gboolean is_finished[2];
} Build;

#define CLIENT_RANDOM "cccccccccccccccccccccccccccccccc"
#define SERVER_RANDOM "ssssssssssssssssssssssssssssssss"

static const char *const labels[2][N_EPOCHS] = {
	{ "CLIENT_EARLY_TRAFFIC_SECRET", "CLIENT_HANDSHAKE_TRAFFIC_SECRET",
	  "CLIENT_TRAFFIC_SECRET_0" },
	{ NULL, "SERVER_HANDSHAKE_TRAFFIC_SECRET", "SERVER_TRAFFIC_SECRET_0" },
};

static WpSecret
secret_of(const WpTlsSuite *suite, int side, int epoch)
{
	WpSecret secret = { .length = !suite->is_1_3                      ? 48
				      : suite->hash == WP_TLS_HASH_SHA384 ? 48
									  : 32 };
	memset(secret.bytes, suite->is_1_3 ? 16 * side + epoch + 1 : 99, secret.length);
	return secret;
}

static void
start_build(Build *build, guint16 suite, gboolean is_etm)
{
	*build = (Build){ .suite = wp_tls_suite(suite), .is_etm = is_etm };
	if (!build->suite->is_1_3) {
		WpTlsSealer both[2];
		WpSecret master = secret_of(build->suite, 0, 0);
		wp_tls_sealer_init_pair(both, build->suite, &master, (const guint8 *)CLIENT_RANDOM,
					(const guint8 *)SERVER_RANDOM, is_etm);
		for (int i = 0; i < 2; i++)
			build->sealers[i][APPLICATION] = both[i];
		return;
	}
	for (int side = 0; side < 2; side++)
		for (int epoch = 0; epoch < N_EPOCHS; epoch++) {
			WpSecret secret = secret_of(build->suite, side, epoch);
			wp_tls_sealer_init(&build->sealers[side][epoch], build->suite, &secret);
			build->traffic[side] = secret;
		}
}

static void
append_secret(GString *text, const char *label, const WpSecret *secret)
{
	g_string_append_printf(text, "%s ", label);
	for (int i = 0; i < 32; i++)
		g_string_append_printf(text, "%02x", CLIENT_RANDOM[i]);
	g_string_append_c(text, ' ');
	for (int i = 0; i < secret->length; i++)
		g_string_append_printf(text, "%02x", secret->bytes[i]);
	g_string_append_c(text, '\n');
}

/* The secrets that the row wants: of data, or of all. */
static char *
make_keylog(guint16 id, gboolean with_handshake)
{
	const WpTlsSuite *suite = wp_tls_suite(id);
	GString *text = g_string_new("# secrets\n");
	if (!suite->is_1_3) {
		WpSecret master = secret_of(suite, 0, 0);
		append_secret(text, "CLIENT_RANDOM", &master);
		return g_string_free(text, FALSE);
	}
	for (int side = 0; side < 2; side++)
		for (int epoch = with_handshake ? EARLY : APPLICATION; epoch < N_EPOCHS; epoch++) {
			WpSecret secret = secret_of(suite, side, epoch);
			if (labels[side][epoch])
				append_secret(text, labels[side][epoch], &secret);
		}
	return g_string_free(text, FALSE);
}

static void
append_words(GByteArray *out, const char *words)
{
	g_autoptr(GByteArray) bytes = wp_byte_words(words);
	g_byte_array_append(out, bytes->data, bytes->len);
}

static void
seal(Build *build, int side, int epoch, guint8 type, const void *data, gsize length,
     GByteArray *out)
{
	if (!build->suite->is_1_3 && !build->is_sealed[side]) {
		guint8 header[5] = { type, 3, 3, (guint8)(length >> 8), (guint8)length };
		g_byte_array_append(out, header, sizeof header);
		g_byte_array_append(out, data, (guint)length);
		return;
	}
	epoch = build->suite->is_1_3 ? epoch : APPLICATION;
	wp_tls_seal(&build->sealers[side][epoch], type, data, length, 0, out);
}

static void
add_hello(Build *build, int side, GByteArray *out)
{
	if (side == 0) {
		append_words(out,
			     "x:160301 (h b:1 b:0 (h h:0x303 '" CLIENT_RANDOM
			     "' (b ) (h h:0x1301 ) (b b:0 ) (h h:16 (h (h (b 'h2' ) ) ) ) ) ) ");
		return;
	}
	g_autofree char *words = g_strdup_printf("x:160303 (h b:2 b:0 (h h:0x303 '" SERVER_RANDOM
						 "' (b ) h:%d b:0 (h %s) ) ) ",
						 build->suite->id,
						 build->suite->is_1_3 ? "h:43 (h h:0x304 ) "
						 : build->is_etm      ? "h:22 (h ) "
								      : "");
	append_words(out, words);
}

static void
update_keys(Build *build, int side)
{
	WpSecret *secret = &build->traffic[side], next = { .length = secret->length };
	wp_tls_expand_label(build->suite->hash, secret, "traffic upd", next.bytes, next.length);
	*secret = next;
	wp_tls_sealer_init(&build->sealers[side][APPLICATION], build->suite, &next);
}

static void
add_item(Build *build, int side, const char *item, GByteArray *out)
{
	g_autofree char *text = g_strdup(item[0] ? item + 1 : "");
	g_strdelimit(text, "'", ' ');
	g_strstrip(text);
	g_strdelimit(text, "_", ' ');
	g_auto(GStrv) lines = g_strsplit(text, "^", -1);
	g_autofree char *data = g_strjoinv("\r\n", lines);
	g_autoptr(GByteArray) words = NULL;
	gsize length = strlen(data);

	if (strcmp(item, "hello") == 0) {
		add_hello(build, side, out);
	} else if (strcmp(item, "ccs") == 0) {
		append_words(out, "x:140303 (h b:1 )");
		build->is_sealed[side] = TRUE;
	} else if (*item == 'F') {
		words = wp_byte_words("b:20 b:0 (h 0:32 )");
		seal(build, side, HANDSHAKE, 22, words->data, words->len, out);
	} else if (*item == 'E') {
		g_autofree char *name =
			g_strdup_printf("b:8 b:0 (h (h h:16 (h (h (b '%s' ) ) ) ) )", item + 2);
		words = wp_byte_words(name);
		seal(build, side, HANDSHAKE, 22, words->data, words->len, out);
	} else if (*item == 'T') {
		words = wp_byte_words("b:4 b:0 (h 0:100 )");
		seal(build, side, APPLICATION, 22, words->data, words->len, out);
	} else if (*item == 'U') {
		words = wp_byte_words("b:24 b:0 (h b:0 )");
		seal(build, side, APPLICATION, 22, words->data, words->len, out);
		update_keys(build, side);
	} else if (*item == 'A') {
		seal(build, side, APPLICATION, 21, "\1\0", 2, out);
	} else if (*item == 'Y') {
		seal(build, side, EARLY, 23, data, length, out);
	} else if (*item == 'R') {
		g_autofree char *hex = g_strdup_printf("x:%s", item + 2);
		append_words(out, hex);
	} else if (*item == 'B') {
		g_autofree char *hex = g_strdup_printf("x:%s", item + 2);
		words = wp_byte_words(hex);
		seal(build, side, APPLICATION, 23, words->data, words->len, out);
	} else if (*item == 'D') {
		seal(build, side, APPLICATION, 23, data, length, out);
	} else if (*item == 'X') {
		g_autofree char *junk = g_strdup_printf("x:170303 (h 0:%s )", item + 2);
		append_words(out, junk);
	} else {
		ck_assert_msg(*item == 'P', "what is %s", item);
		g_byte_array_append(out, (const guint8 *)data, (guint)length);
	}
}

typedef struct {
	const char *name;
	guint16 suite;
	gboolean is_etm;
	gboolean no_handshake_secrets;
	const char *steps[16];
	const char *expected;
} Row;

#define SETUP_1_3 "C hello", "S hello ccs E:http/1.1 F", "C ccs F"
#define SETUP_1_2 "C hello", "S hello", "C ccs F", "S ccs F"
#define GET(path) "D'GET_" path "_HTTP/1.1^Host:_a^^'"
#define OK        "D'HTTP/1.1_200_OK^Content-Length:_2^^ok'"

static const Row rows[] = {
	{ "TLS 1.3, HTTP/1.1, one record cut in packets, a ticket, an alert",
	  0x1301,
	  FALSE,
	  FALSE,
	  { SETUP_1_3, "S T T", "C " GET("/a"), "S " OK, "C " GET("/b"), "S D'HTTP/1.1_200_OK^'",
	    "S D'Content-Length:_2^^' D'ok' A", "C A" },
	  "C1 [1,1] tls 61 setup\n"
	  "R1 [2,2] tls 156 unknown setup\n"
	  "C2 [5,5] http 28 GET /a\n"
	  "R2 [6,6] http 40 GET /a ok\n"
	  "C3 [7,7] http 28 GET /b\n"
	  "R3 [8,9] http 40 GET /b ok\n" },
	{ "TLS 1.3 with SHA-384: ALPN says HTTP/2",
	  0x1302,
	  FALSE,
	  FALSE,
	  { "C hello", "S hello ccs E:h2 F", "C ccs F D'PRI_*_HTTP/2.0^^SM^^'",
	    "C B:000000040000000000 B:000001010500000001 B:82", "S B:00000101050000000188" },
	  "C1 [1,1] tls 61 setup\n"
	  "R1 [2,2] tls 150 unknown setup\n"
	  "C2 [4,4] http2 10 GET (unknown)\n"
	  "R2 [5,5] http2 10 GET (unknown) ok\n" },
	{ "ChaCha20-Poly1305, and what is inside is found out without handshake secrets",
	  0x1303,
	  FALSE,
	  TRUE,
	  { "C hello", "S hello ccs E:x F", "C ccs F", "C D'PING^'", "S D'+PONG^'", "C D'GET_a^'" },
	  "C1 [1,1] tls 61 setup\n"
	  "R1 [2,2] tls 149 unknown setup\n"
	  "C2 [4,4] redis 6 PING\n"
	  "R2 [5,5] redis 7 PING ok\n"
	  "C3 [6,6] redis 7 GET a\n"
	  "calls-open 1\n" },
	{ "a key update of each side",
	  0x1301,
	  FALSE,
	  FALSE,
	  { SETUP_1_3, "C " GET("/a"), "S " OK, "C U " GET("/b"), "S " OK " U", "C " GET("/c"),
	    "S " OK },
	  "C1 [1,1] tls 61 setup\n"
	  "R1 [2,2] tls 156 unknown setup\n"
	  "C2 [4,4] http 28 GET /a\n"
	  "R2 [5,5] http 40 GET /a ok\n"
	  "C3 [6,6] http 28 GET /b\n"
	  "R3 [7,7] http 40 GET /b ok\n"
	  "C4 [8,8] http 28 GET /c\n"
	  "R4 [9,9] http 40 GET /c ok\n" },
	{ "a key update that is lost",
	  0x1301,
	  FALSE,
	  FALSE,
	  { SETUP_1_3, "C " GET("/a"), "S " OK, "c U", "C " GET("/b"), "S " OK },
	  "C1 [1,1] tls 61 setup\n"
	  "R1 [2,2] tls 156 unknown setup\n"
	  "C2 [4,4] http 28 GET /a\n"
	  "R2 [5,5] http 40 GET /a ok\n"
	  "C3 [7,7] http 28 GET /b\n"
	  "R3 [8,8] http 40 GET /b ok\n"
	  "resyncs 2\n" },
	{ "early data",
	  0x1301,
	  FALSE,
	  FALSE,
	  { "C hello ccs Y'GET_/early_HTTP/1.1^Host:_a^^'", "S hello ccs E:http/1.1 F " OK, "C F",
	    "C " GET("/b"), "S " OK },
	  "C1 [1,1] http 32 GET /early\n"
	  "R1 [2,2] http 40 GET /early ok\n"
	  "C2 [4,4] http 28 GET /b\n"
	  "R2 [5,5] http 40 GET /b ok\n" },
	{ "records are lost: calls and returns around the hole pair as without TLS",
	  0x1301,
	  FALSE,
	  FALSE,
	  { SETUP_1_3, "C " GET("/a"), "s " OK, "C " GET("/b"), "S " OK, "c " GET("/c"), "s " OK,
	    "C " GET("/d"), "S " OK },
	  "C1 [1,1] tls 61 setup\n"
	  "R1 [2,2] tls 156 unknown setup\n"
	  "C2 [4,4] http 28 GET /a\n"
	  "C3 [6,6] http 28 GET /b\n"
	  "R3 [7,7] http 40 GET /b ok\n"
	  "C4 [10,10] http 28 GET /d\n"
	  "R4 [11,11] http 40 GET /d ok\n"
	  "calls-unanswered 1\n"
	  "resyncs 6\n" },
	{ "the begin of a record is lost: the next one is found in the middle of a packet",
	  0x1301,
	  FALSE,
	  FALSE,
	  { SETUP_1_3, "C " GET("/a"), "s D'HTTP/1.1_'", "S P'the_rest_of_it' " OK, "C " GET("/b"),
	    "S " OK },
	  "C1 [1,1] tls 61 setup\n"
	  "R1 [2,2] tls 156 unknown setup\n"
	  "C2 [4,4] http 28 GET /a\n"
	  "R2 [6,6] http 85 GET /a unknown\n"
	  "C3 [7,7] http 28 GET /b\n"
	  "R3 [8,8] http 40 GET /b ok\n"
	  "returns-unsure 1\n"
	  "returns-unread 1\n"
	  "resyncs 2\n" },
	{ "TLS 1.2 with AES-GCM",
	  0xc02f,
	  FALSE,
	  FALSE,
	  { SETUP_1_2, "C " GET("/a"), "S " OK, "S A" },
	  "C1 [1,1] tls 61 setup\n"
	  "R1 [2,2] tls 49 unknown setup\n"
	  "C2 [3,3] tls 65 setup\n"
	  "R2 [4,4] tls 65 unknown setup\n"
	  "C3 [5,5] http 28 GET /a\n"
	  "R3 [6,6] http 40 GET /a ok\n" },
	{ "TLS 1.2 with CBC",
	  0x0035,
	  FALSE,
	  FALSE,
	  { SETUP_1_2, "C " GET("/a"), "S " OK },
	  "C1 [1,1] tls 61 setup\n"
	  "R1 [2,2] tls 49 unknown setup\n"
	  "C2 [3,3] tls 85 setup\n"
	  "R2 [4,4] tls 85 unknown setup\n"
	  "C3 [5,5] http 28 GET /a\n"
	  "R3 [6,6] http 40 GET /a ok\n" },
	{ "TLS 1.2 with CBC, encrypt-then-MAC",
	  0x003c,
	  TRUE,
	  FALSE,
	  { SETUP_1_2, "C " GET("/a"), "S " OK, "C " GET("/x"), "s " OK, "C " GET("/b"), "S " OK },
	  "C1 [1,1] tls 61 setup\n"
	  "R1 [2,2] tls 53 unknown setup\n"
	  "C2 [3,3] tls 101 setup\n"
	  "R2 [4,4] tls 101 unknown setup\n"
	  "C3 [5,5] http 28 GET /a\n"
	  "R3 [6,6] http 40 GET /a ok\n"
	  "C4 [7,7] http 28 GET /x\n"
	  "C5 [9,9] http 28 GET /b\n"
	  "R5 [10,10] http 40 GET /b ok\n"
	  "calls-unanswered 1\n"
	  "resyncs 2\n" },
	{ "records that are none of the connection",
	  0x1301,
	  FALSE,
	  FALSE,
	  { SETUP_1_3, "C " GET("/a"), "S X:40 " OK, "C " GET("/b"), "S " OK },
	  "C1 [1,1] tls 61 setup\n"
	  "R1 [2,2] tls 156 unknown setup\n"
	  "C2 [4,4] http 28 GET /a\n"
	  "R2 [5,5] http 85 GET /a unknown\n"
	  "C3 [6,6] http 28 GET /b\n"
	  "R3 [7,7] http 40 GET /b ok\n"
	  "tls-undecrypted 1\n"
	  "returns-unsure 1\n"
	  "returns-unread 1\n"
	  "resyncs 1\n" },
	{ "what was spoken before goes on inside: PostgreSQL",
	  0x1301,
	  FALSE,
	  FALSE,
	  { "C R:0000000804d2162f", "S P'S'", "C hello", "S hello ccs E:x F",
	    "C ccs F B:00000010000300007573657200610000", "S B:5200000008000000005a0000000549",
	    "C B:510000000d53454c454354203100", "S B:430000000d53454c4543542031005a0000000549" },
	  "C1 [1,1] pgsql 8 (ssl) setup\n"
	  "R1 [2,2] pgsql 1 (ssl) ok setup\n"
	  "C2 [3,3] tls 61 setup\n"
	  "R2 [4,4] tls 149 unknown setup\n"
	  "C3 [5,5] pgsql 16 (startup) setup\n"
	  "R3 [6,6] pgsql 15 (startup) ok setup\n"
	  "C4 [7,7] pgsql 14 SELECT\n"
	  "R4 [8,8] pgsql 20 SELECT ok\n" },
	{ "no record opens: it is as without keys",
	  0x1301,
	  FALSE,
	  FALSE,
	  { "C hello", "S hello ccs X:60 X:53", "C ccs X:53", "C X:80", "S X:90" },
	  "C1 [1,1] tls 61 setup\n"
	  "R1 [2,2] tls 178 unknown setup\n"
	  "tls-multiplexed 1\n"
	  "tls-without-keys 1\n" },
};

static void
run_row(const Row *row, GString *wrong)
{
	Build build;
	WpStep steps[16];
	gsize n = 0;
	g_autoptr(GPtrArray) owner =
		g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
	g_autofree char *keylog = make_keylog(row->suite, !row->no_handshake_secrets);
	WpRunOptions options = { .keylog = keylog };

	start_build(&build, row->suite, row->is_etm);
	for (; n < 16 && row->steps[n]; n++) {
		g_auto(GStrv) items = g_strsplit(row->steps[n], " ", -1);
		GByteArray *bytes = g_byte_array_new();
		int side = g_ascii_toupper(items[0][0]) == 'S';
		g_ptr_array_add(owner, bytes);
		for (int i = 1; items[i]; i++)
			add_item(&build, side, items[i], bytes);
		gboolean is_lost = g_ascii_islower(items[0][0]);
		steps[n] = (WpStep){ items[0][0], is_lost ? NULL : (const char *)bytes->data,
				     bytes->len };
	}
	g_autofree char *got = wp_decode_run(&options, steps, n);
	if (strcmp(got, row->expected) != 0)
		g_string_append_printf(wrong, "\n# %s\n%s# instead of\n%s", row->name, got,
				       row->expected);
	else
		wp_decode_check(&options, steps, n, got);
}

START_TEST(conversations)
{
	g_autoptr(GString) wrong = g_string_new(NULL);
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
		run_row(&rows[i], wrong);
	ck_assert_msg(wrong->len == 0, "%s", wrong->str);
}
END_TEST

WP_SUITE("decode-tls-keys", conversations)
