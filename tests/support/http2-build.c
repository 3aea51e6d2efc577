/* Words to frames; see the header. */
#include "tests/support/http2-build.h"

#include <string.h>

#include "capture/http2-frame.h"

struct WpHttp2Build {
	GPtrArray *table; /* "name=value", the newest last; never full in tests */
};

/* A word taken apart. */
typedef struct {
	char letter;
	gboolean ends, is_split, is_padded, has_priority, is_not_added;
	guint32 id;
	const char *content;
} Word;

WpHttp2Build *
wp_http2_build_new(void)
{
	WpHttp2Build *build = g_new0(WpHttp2Build, 1);
	build->table = g_ptr_array_new_with_free_func(g_free);
	return build;
}

void
wp_http2_build_free(WpHttp2Build *build)
{
	if (!build)
		return;
	g_ptr_array_unref(build->table);
	g_free(build);
}

static Word
parse_word(const char *text)
{
	Word word = { .letter = *text++ };
	for (; strchr("!+pyn", *text) && *text; text++) {
		word.ends |= *text == '!';
		word.is_split |= *text == '+';
		word.is_padded |= *text == 'p';
		word.has_priority |= *text == 'y';
		word.is_not_added |= *text == 'n';
	}
	char *end;
	word.id = (guint32)g_ascii_strtoull(text, &end, 10);
	word.content = *end == ':' ? end + 1 : end;
	return word;
}

static void
append_frame(GByteArray *out, guint8 type, guint8 flags, guint32 id, const guint8 *data,
	     gsize length)
{
	guint8 head[9] = {
		(guint8)(length >> 16), (guint8)(length >> 8), (guint8)length,    type,      flags,
		(guint8)(id >> 24),     (guint8)(id >> 16),    (guint8)(id >> 8), (guint8)id
	};
	g_byte_array_append(out, head, sizeof head);
	if (length)
		g_byte_array_append(out, data, (guint)length);
}

/* --- header blocks --- */

/* Some of RFC 7541 appendix A, by index. */
static const char *const static_table[] = {
	[1] = ":authority=",  [2] = ":method=GET",   [3] = ":method=POST", [4] = ":path=/",
	[6] = ":scheme=http", [7] = ":scheme=https", [8] = ":status=200",  [9] = ":status=204",
	[11] = ":status=304", [13] = ":status=404",  [14] = ":status=500", [31] = "content-type=",
};

static void
append_string(GByteArray *block, const char *text)
{
	guint8 n = (guint8)strlen(text);
	g_assert(n < 127);
	g_byte_array_append(block, &n, 1);
	g_byte_array_append(block, (const guint8 *)text, n);
}

/* The index of NAME=VALUE or, with VALUE NULL, of NAME in the static table; 0 = none. */
static guint8
index_of(const WpHttp2Build *build, const char *name, const char *value)
{
	g_autofree char *wanted = g_strconcat(name, "=", value, NULL);
	for (guint i = build->table->len; value && i-- > 0;)
		if (strcmp(build->table->pdata[i], wanted) == 0)
			return (guint8)(62 + build->table->len - 1 - i);
	for (guint8 i = 1; i < G_N_ELEMENTS(static_table); i++)
		if (static_table[i] && (value ? strcmp(static_table[i], wanted) == 0
					      : g_str_has_prefix(static_table[i], wanted)))
			return i;
	return 0;
}

/* Indexed where it can be, else added (RFC 7541 section 6); no Huffman. */
static void
add_field(WpHttp2Build *build, GByteArray *block, const char *name, const char *value,
	  gboolean is_not_added)
{
	guint8 whole = index_of(build, name, value);
	guint8 first = whole ? 0x80 | whole : index_of(build, name, NULL);

	if (is_not_added && !whole && first >= 15)
		first = 0;
	first |= whole || is_not_added ? 0 : 0x40;
	g_byte_array_append(block, &first, 1);
	if (whole)
		return;
	if ((first & 0x3f) == 0)
		append_string(block, name);
	append_string(block, value);
	if (!is_not_added)
		g_ptr_array_add(build->table, g_strconcat(name, "=", value, NULL));
}

/* "GET/x": the pseudo-fields of a request; "200": of a response. */
static void
add_pseudo(WpHttp2Build *build, GByteArray *block, const char *text, gboolean is_not_added)
{
	const char *path = strchr(text, '/');
	if (g_ascii_isdigit(text[0])) {
		add_field(build, block, ":status", text, is_not_added);
		return;
	}
	g_autofree char *method = g_strndup(text, path ? (gsize)(path - text) : strlen(text));
	if (*method)
		add_field(build, block, ":method", method, is_not_added);
	if (path) {
		add_field(build, block, ":scheme", "http", is_not_added);
		add_field(build, block, ":path", path, is_not_added);
		add_field(build, block, ":authority", "shop.lan", is_not_added);
	}
}

static GByteArray *
make_block(WpHttp2Build *build, const Word *word)
{
	g_autofree char *content = g_strdelimit(g_strdup(word->content), "~", ' ');
	g_auto(GStrv) parts = g_strsplit(content, ";", -1);
	GByteArray *block = g_byte_array_new();

	for (int i = 0; parts[i]; i++) {
		char *equals = i ? strchr(parts[i], '=') : NULL;
		if (equals) {
			*equals = '\0';
			add_field(build, block, parts[i], equals + 1, word->is_not_added);
		} else {
			add_pseudo(build, block, parts[i], word->is_not_added);
		}
	}
	return block;
}

/* A block as the frames of WORD, behind FRONT (what PUSH_PROMISE has there). */
static void
append_block(GByteArray *out, guint8 type, const Word *word, const GByteArray *block,
	     const guint8 *front, gsize n_front)
{
	static const guint8 priority[5] = { 0, 0, 0, 0, 15 };
	g_autoptr(GByteArray) payload = g_byte_array_new();
	guint third = word->is_split ? block->len / 3 : 0;
	guint8 flags = (guint8)(word->ends ? WP_HTTP2_END_STREAM : 0);
	guint8 padding = word->is_padded ? 3 : 0;

	if (word->is_padded)
		g_byte_array_append(payload, &padding, 1);
	if (word->has_priority)
		g_byte_array_append(payload, priority, sizeof priority);
	g_byte_array_append(payload, front, (guint)n_front);
	g_byte_array_append(payload, block->data, word->is_split ? third : block->len);
	g_byte_array_append(payload, (const guint8 *)"\0\0\0", padding);
	flags |= word->is_padded ? WP_HTTP2_PADDED : 0;
	flags |= word->has_priority ? WP_HTTP2_HAS_PRIORITY : 0;
	flags |= word->is_split ? 0 : WP_HTTP2_END_HEADERS;
	append_frame(out, type, flags, word->id, payload->data, payload->len);
	if (!word->is_split)
		return;
	append_frame(out, WP_HTTP2_CONTINUATION, 0, word->id, block->data + third, third);
	append_frame(out, WP_HTTP2_CONTINUATION, WP_HTTP2_END_HEADERS, word->id,
		     block->data + 2 * third, block->len - 2 * third);
}

static void
append_promise(WpHttp2Build *build, GByteArray *out, const Word *word)
{
	char *end;
	guint32 id = (guint32)g_ascii_strtoull(word->content, &end, 10);
	guint8 front[4] = { 0, 0, (guint8)(id >> 8), (guint8)id };
	Word own = *word;

	own.content = end + 1;
	g_autoptr(GByteArray) block = make_block(build, &own);
	append_block(out, WP_HTTP2_PUSH_PROMISE, &own, block, front, sizeof front);
}

/* --- other frames --- */

static void
append_data(GByteArray *out, const Word *word)
{
	g_autoptr(GByteArray) payload = g_byte_array_new();
	gboolean is_grpc = word->content[0] == '$';
	const char *text = word->content + is_grpc;
	guint8 n = (guint8)strlen(text);
	guint8 grpc[7] = { 0, 0, 0, 0, (guint8)(n + 2), 0x0a, n };
	guint8 padding = word->is_padded ? 3 : 0;

	if (word->is_padded)
		g_byte_array_append(payload, &padding, 1);
	if (is_grpc)
		g_byte_array_append(payload, grpc, sizeof grpc);
	g_byte_array_append(payload, (const guint8 *)text, n);
	g_byte_array_append(payload, (const guint8 *)"\0\0\0", padding);
	append_frame(out, WP_HTTP2_DATA,
		     (guint8)((word->ends ? WP_HTTP2_END_STREAM : 0) |
			      (word->is_padded ? WP_HTTP2_PADDED : 0)),
		     word->id, payload->data, payload->len);
}

static void
append_small(GByteArray *out, const Word *word)
{
	static const guint8 settings[] = { 0, 3, 0, 0, 0, 100, 0, 4, 0, 1, 0, 0 };
	guint8 code[5] = { 0, 0, 0, (guint8)g_ascii_strtoull(word->content, NULL, 10), 0 };

	switch (word->letter) {
	case 'P':
		g_byte_array_append(out, (const guint8 *)WP_HTTP2_PREFACE, WP_HTTP2_PREFACE_BYTES);
		break;
	case 'T':
		append_frame(out, WP_HTTP2_SETTINGS, 0, 0, settings, sizeof settings);
		break;
	case 'A':
		append_frame(out, WP_HTTP2_SETTINGS, WP_HTTP2_ACK, 0, NULL, 0);
		break;
	case 'Q':
		append_frame(out, WP_HTTP2_PING, 0, 0, (const guint8 *)"12345678", 8);
		break;
	case 'N':
		append_frame(out, WP_HTTP2_GOAWAY, 0, 0, (const guint8 *)"\0\0\0\1\0\0\0\0", 8);
		break;
	case 'R':
		append_frame(out, WP_HTTP2_RST_STREAM, 0, word->id, code, 4);
		break;
	case 'W':
		append_frame(out, WP_HTTP2_WINDOW_UPDATE, 0, word->id, (const guint8 *)"\0\0\1\0",
			     4);
		break;
	case 'Y':
		append_frame(out, WP_HTTP2_PRIORITY, 0, word->id, (const guint8 *)"\0\0\0\0\1", 5);
		break;
	case 'F':
		append_frame(out, (guint8)word->id, 0, 1, (const guint8 *)word->content,
			     strlen(word->content));
		break;
	default:
		g_assert_not_reached();
	}
}

static void
append_word(WpHttp2Build *build, GByteArray *out, const char *text)
{
	Word word = parse_word(text);

	if (word.letter == 'H') {
		g_autoptr(GByteArray) block = make_block(build, &word);
		append_block(out, WP_HTTP2_HEADERS, &word, block, NULL, 0);
	} else if (word.letter == 'U') {
		append_promise(build, out, &word);
	} else if (word.letter == 'D') {
		append_data(out, &word);
	} else {
		append_small(out, &word);
	}
}

GByteArray *
wp_http2_build(WpHttp2Build *build, const char *words)
{
	GByteArray *out = g_byte_array_new();
	g_auto(GStrv) list = g_strsplit(words, " ", -1);
	for (int i = 0; list[i] && list[i][0]; i++)
		append_word(build, out, list[i]);
	return out;
}
