/* Key logs. See the header. */
#include "capture/keylog.h"

#include <string.h>

#include "capture/input.h"
#include "capture/trace.h"

/* Read at a time; far longer than any line. */
#define PIECE_BYTES (256 * 1024)

static const char *const labels[WP_N_KEYS] = {
	[WP_KEY_MASTER] = "CLIENT_RANDOM",
	[WP_KEY_CLIENT_EARLY] = "CLIENT_EARLY_TRAFFIC_SECRET",
	[WP_KEY_CLIENT_HANDSHAKE] = "CLIENT_HANDSHAKE_TRAFFIC_SECRET",
	[WP_KEY_SERVER_HANDSHAKE] = "SERVER_HANDSHAKE_TRAFFIC_SECRET",
	[WP_KEY_CLIENT_TRAFFIC] = "CLIENT_TRAFFIC_SECRET_0",
	[WP_KEY_SERVER_TRAFFIC] = "SERVER_TRAFFIC_SECRET_0",
};

/* Labels that hold no key of records. */
static const char *const other_labels[] = { "EXPORTER_SECRET", "EARLY_EXPORTER_SECRET",
					    "ECH_SECRET", "ECH_CONFIG", "RSA" };

typedef struct {
	guint8 random[WP_TLS_RANDOM_BYTES]; /* first: it is its own key */
	guint8 label;
	WpSecret secret;
} Entry;

struct WpKeylog {
	GHashTable *entries; /* of Entry, by label and random */
	guint64 n_bad;
	guint64 n_left_out;
};

static guint
hash_entry(gconstpointer object)
{
	const Entry *entry = object;
	guint32 word;
	memcpy(&word, entry->random + 4, sizeof word); /* the first may be a clock */
	return word ^ entry->label * 0x9e3779b1u;
}

static gboolean
equal_entries(gconstpointer a, gconstpointer b)
{
	const Entry *x = a, *y = b;
	return x->label == y->label && memcmp(x->random, y->random, WP_TLS_RANDOM_BYTES) == 0;
}

WpKeylog *
wp_keylog_new(void)
{
	WpKeylog *keylog = g_new0(WpKeylog, 1);
	keylog->entries = g_hash_table_new_full(hash_entry, equal_entries, g_free, NULL);
	return keylog;
}

void
wp_keylog_free(WpKeylog *keylog)
{
	if (!keylog)
		return;
	g_hash_table_unref(keylog->entries);
	g_free(keylog);
}

/* The next word of the line; its length in OUT_LENGTH, 0 at the end. */
static const char *
next_word(const char **at, const char *end, gsize *out_length)
{
	const char *p = *at;
	while (p < end && g_ascii_isspace(*p))
		p++;
	const char *begin = p;
	while (p < end && !g_ascii_isspace(*p))
		p++;
	*at = p;
	*out_length = (gsize)(p - begin);
	return begin;
}

/* At most MAX bytes from hexadecimal; 0 where it is none or too long. */
static gsize
read_hex(const char *text, gsize length, guint8 *out, gsize max)
{
	if (length % 2 || length / 2 > max)
		return 0;
	for (gsize i = 0; i < length; i += 2) {
		int high = g_ascii_xdigit_value(text[i]), low = g_ascii_xdigit_value(text[i + 1]);
		if (high < 0 || low < 0)
			return 0;
		out[i / 2] = (guint8)(high << 4 | low);
	}
	return length / 2;
}

static int
find_label(const char *word, gsize length)
{
	for (int i = 0; i < WP_N_KEYS; i++)
		if (strlen(labels[i]) == length && memcmp(labels[i], word, length) == 0)
			return i;
	return -1;
}

static gboolean
is_other_label(const char *word, gsize length)
{
	for (gsize i = 0; i < G_N_ELEMENTS(other_labels); i++)
		if (strlen(other_labels[i]) == length && memcmp(other_labels[i], word, length) == 0)
			return TRUE;
	return FALSE;
}

static gboolean
is_length(int label, gsize length)
{
	if (label == WP_KEY_MASTER)
		return length == WP_KEYLOG_MASTER_BYTES;
	return length >= 32 && length <= WP_KEYLOG_MAX_SECRET_BYTES;
}

/* TRUE where the line is of the format, or a comment. */
static gboolean
add_line(WpKeylog *keylog, const char *line, const char *end)
{
	gsize n_label, n_random, n_secret;
	const char *word = next_word(&line, end, &n_label);
	if (n_label == 0 || *word == '#')
		return TRUE;
	const char *random = next_word(&line, end, &n_random);
	const char *secret = next_word(&line, end, &n_secret);
	int label = find_label(word, n_label);
	if (label < 0)
		return is_other_label(word, n_label);
	Entry entry = { .label = (guint8)label };
	gsize n = read_hex(secret, n_secret, entry.secret.bytes, sizeof entry.secret.bytes);
	if (read_hex(random, n_random, entry.random, sizeof entry.random) != sizeof entry.random ||
	    !is_length(label, n))
		return FALSE;
	entry.secret.length = (guint8)n;
	if (g_hash_table_contains(keylog->entries, &entry))
		return TRUE;
	if (g_hash_table_size(keylog->entries) >= WP_KEYLOG_MAX_SECRETS)
		keylog->n_left_out++;
	else
		g_hash_table_add(keylog->entries, g_memdup2(&entry, sizeof entry));
	return TRUE;
}

void
wp_keylog_add(WpKeylog *keylog, const char *text, gsize length)
{
	const char *end = text + length;
	while (text < end) {
		const char *newline = memchr(text, '\n', (gsize)(end - text));
		const char *line_end = newline ? newline : end;
		if (!add_line(keylog, text, line_end))
			keylog->n_bad++;
		text = newline ? newline + 1 : end;
	}
}

/* All lines of INPUT. */
static gboolean
add_input(WpKeylog *keylog, WpInput *input, GError **error)
{
	const guint8 *data;
	gssize n;

	while ((n = wp_input_peek(input, PIECE_BYTES, &data, error)) > 0) {
		gsize whole = (gsize)n;
		while (whole && data[whole - 1] != '\n')
			whole--;
		if (whole == 0 || n < PIECE_BYTES) /* the last line; or what is no line */
			whole = (gsize)n;
		wp_keylog_add(keylog, (const char *)data, whole);
		wp_input_consume(input, whole);
	}
	return n == 0;
}

gboolean
wp_keylog_add_file(WpKeylog *keylog, const char *path, GError **error)
{
	guint before = wp_keylog_n_secrets(keylog);
	guint64 n_bad = keylog->n_bad;
	g_autoptr(WpInput) input = wp_input_open(path, error);

	if (!input || !add_input(keylog, input, error)) {
		g_prefix_error(error, "key log: ");
		return FALSE;
	}
	/* An empty one is that of a program that has not connected yet. */
	if (wp_keylog_n_secrets(keylog) == before && keylog->n_bad > n_bad) {
		g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_FORMAT,
			    "%s is no key log: it has no line such as \"CLIENT_RANDOM "
			    "<64 hex digits> <96 hex digits>\"",
			    path);
		return FALSE;
	}
	return TRUE;
}

guint
wp_keylog_n_secrets(const WpKeylog *keylog)
{
	return g_hash_table_size(keylog->entries);
}

guint64
wp_keylog_n_bad(const WpKeylog *keylog)
{
	return keylog->n_bad;
}

guint64
wp_keylog_n_left_out(const WpKeylog *keylog)
{
	return keylog->n_left_out;
}

const WpSecret *
wp_keylog_find(const WpKeylog *keylog, WpKeyLabel label, const guint8 random[WP_TLS_RANDOM_BYTES])
{
	Entry wanted = { .label = (guint8)label };
	memcpy(wanted.random, random, WP_TLS_RANDOM_BYTES);
	const Entry *found = g_hash_table_lookup(keylog->entries, &wanted);
	return found ? &found->secret : NULL;
}

gboolean
wp_keylog_has(const WpKeylog *keylog, const guint8 random[WP_TLS_RANDOM_BYTES])
{
	for (int i = 0; i < WP_N_KEYS; i++)
		if (wp_keylog_find(keylog, i, random))
			return TRUE;
	return FALSE;
}
