/*
 * Path templates: "/item/42/x?y=1" -> "/item/{}/x".
 *
 * An operator wants one row per operation, so what names a thing goes and what names an operation
 * stays. There is no list of routes to go by; each segment is judged by its looks:
 *
 *      segment          chart-7f3a9c21.min.js
 *      parts            chart | 7f3a9c21 | min       extension  .js
 *                       word    value      word
 *      template         chart-{}.min.js
 *
 * A part is a run of letters and digits. A value is a number, a run of hex digits, or a mix of letters and
 * digits that no word or version looks like (v1, api2, i18n, mp4 stay). Values with nothing but
 * punctuation between them (dates, addresses, UUIDs) are one. Free text (spaces, bytes beyond ASCII, quotes,
 * mail addresses, titles of many words) is a value as a whole: it may be personal.
 *
 * One script that serves every operation (a front controller: index.php?page=cart) names the operation in
 * its query: there a parameter with one of the usual names and a plain word as its value stays.
 *
 * The form of targets is that of RFC 3986 section 3: any other query, fragment and matrix parameters (section
 * 3.3) are left out, percent-encoding is undone (section 2.1) but for "/" and "%".
 */
#include "capture/label.h"
#include "capture/label-memo.h"

#include <string.h>

/* Deeper paths end in "/...": what lies there are files, not operations. */
#define MAX_SEGMENTS 8

/* A longer segment is a title or an opaque value, whatever it looks like. */
#define MAX_SEGMENT 48

/* So many words in a row are a title ("how-to-brew-good-coffee-at-home"), not an operation. */
#define MAX_WORDS 5

/* A run of letters that long, all of them hex digits, is no word. */
#define MIN_HEX_LETTERS 16

/* Hex digits with a figure among them: from here on a hash, below a short word ("3d", "ad2"). */
#define MIN_HEX 6

typedef struct {
	char *data;
	gsize size; /* with room for a NUL */
	gsize n;
} Text;

static gboolean
text_add(Text *text, const char *data, gsize length)
{
	if (text->n + length >= text->size)
		return FALSE;
	memcpy(text->data + text->n, data, length);
	text->n += length;
	return TRUE;
}

/* What a part is made of. */
typedef struct {
	gsize length;
	guint n_digits;
	guint n_switches;   /* changes between letters and digits */
	guint n_bare_words; /* "getXyzBcd": words, split at capitals, without a vowel */
	gboolean is_hex;
	gboolean has_upper;
	gboolean has_lower;
} Looks;

static gboolean
is_vowel(char c)
{
	switch (c | 0x20) { /* small */
	case 'a':
	case 'e':
	case 'i':
	case 'o':
	case 'u':
	case 'y':
		return TRUE;
	default:
		return FALSE;
	}
}

static Looks
look_at(const char *part, gsize length)
{
	Looks looks = { .length = length, .is_hex = TRUE };
	gboolean has_vowel = FALSE;

	for (gsize i = 0; i < length; i++) {
		char c = part[i];
		gboolean is_digit = g_ascii_isdigit(c);
		if (i && is_digit != g_ascii_isdigit(part[i - 1]))
			looks.n_switches++;
		if (i && g_ascii_isupper(c) && g_ascii_islower(part[i - 1])) {
			looks.n_bare_words += !has_vowel;
			has_vowel = FALSE;
		}
		has_vowel |= is_digit || is_vowel(c);
		looks.n_digits += is_digit;
		looks.is_hex &= g_ascii_isxdigit(c);
		looks.has_upper |= g_ascii_isupper(c);
		looks.has_lower |= g_ascii_islower(c);
	}
	looks.n_bare_words += !has_vowel;
	return looks;
}

/* Names with figures in them that everybody writes so. */
static gboolean
is_known(const char *part, gsize length)
{
	static const char *const known[] = { "amd64",  "arm64",  "base32", "base64",
					     "sha256", "sha384", "sha512", "utf16",
					     "win32",  "win64",  "x509" };
	for (gsize i = 0; i < G_N_ELEMENTS(known); i++)
		if (strlen(known[i]) == length && g_ascii_strncasecmp(known[i], part, length) == 0)
			return TRUE;
	return FALSE;
}

/* Random letters of both cases ("aQzTkXwB"), not words in camel case. */
static gboolean
is_jumble(const Looks *looks)
{
	return looks->length >= 8 && looks->has_upper && looks->has_lower &&
	       looks->n_bare_words >= 2;
}

/* "oauth2callback", "log4j", "i18n": a figure or two between words. */
static gboolean
is_word_around_figure(const char *part, const Looks *looks)
{
	if (looks->n_switches != 2 || g_ascii_isdigit(part[0]))
		return FALSE;
	if (looks->length <= 6)
		return looks->n_digits <= 2;
	return looks->n_digits == 1 && !looks->has_upper && looks->n_bare_words == 0;
}

/* letters_to_keep() for a part of letters and figures. */
static gsize
letters_to_keep_of_mix(const char *part, const Looks *looks)
{
	gsize length = looks->length;
	gsize n_letters = length - looks->n_digits;

	if (is_known(part, length))
		return length;
	if (is_jumble(looks) || (looks->is_hex && length >= MIN_HEX))
		return 0;
	if (looks->n_switches != 1)
		return is_word_around_figure(part, looks) ? length : 0;
	if (g_ascii_isdigit(part[0])) /* "2fa", "3d" */
		return looks->n_digits == 1 && length <= 3 ? length : 0;
	if (looks->n_digits == 1) /* "api2" */
		return length;
	return n_letters == 1 && length <= 4 && part[0] == 'v' ? length : n_letters;
}

/*
 * How many letters at the front of PART stay: all of it (a word), none (a value), or the letters
 * before a number ("order1234").
 */
static gsize
letters_to_keep(const char *part, const Looks *looks)
{
	if (looks->n_digits == looks->length)
		return 0;
	if (looks->n_digits)
		return letters_to_keep_of_mix(part, looks);
	if (is_jumble(looks) || (looks->is_hex && looks->length >= MIN_HEX_LETTERS))
		return 0;
	return looks->length;
}

/* 8-4-4-4-12 hex digits, RFC 9562 section 4. */
#define UUID_LENGTH 36

static gboolean
is_uuid(const char *text, gsize length)
{
	if (length < UUID_LENGTH)
		return FALSE;
	for (int i = 0; i < UUID_LENGTH; i++) {
		gboolean is_dash = i == 8 || i == 13 || i == 18 || i == 23;
		if (is_dash ? text[i] != '-' : !g_ascii_isxdigit(text[i]))
			return FALSE;
	}
	return length == UUID_LENGTH || !g_ascii_isalnum(text[UUID_LENGTH]);
}

/* A segment becoming a template. */
typedef struct {
	Text out;
	gsize value_end; /* of the last {} with nothing but punctuation after it; 0 = none */
	guint n_words;
	gboolean has_mix; /* a value of letters and digits was among the parts */
} Template;

static gboolean
add_value(Template *template)
{
	if (template->value_end)
		template->out.n = template->value_end;
	else if (!text_add(&template->out, "{}", 2))
		return FALSE;
	template->value_end = template->out.n;
	return TRUE;
}

static gboolean
add_part(Template *template, const char *part, gsize length)
{
	Looks looks = look_at(part, length);
	gsize keep = letters_to_keep(part, &looks);

	if (keep) {
		template->n_words++;
		template->value_end = 0;
		if (!text_add(&template->out, part, keep))
			return FALSE;
	}
	if (keep == length)
		return TRUE;
	template->has_mix |= keep == 0 && looks.n_digits < length;
	return add_value(template);
}

/* Bytes from AT that are one part: a UUID, or a run of letters and digits. */
static gsize
part_length(const char *text, gsize length, gsize at)
{
	gsize end = at;
	if (is_uuid(text + at, length - at))
		return UUID_LENGTH;
	while (end < length && g_ascii_isalnum(text[end]))
		end++;
	return end - at;
}

static gboolean
add_parts(Template *template, const char *text, gsize length)
{
	for (gsize i = 0; i < length;) {
		gsize n = part_length(text, length, i);
		gboolean fits;
		if (n == UUID_LENGTH && is_uuid(text + i, length - i)) {
			fits = add_value(template);
		} else if (n) {
			fits = add_part(template, text + i, n);
		} else {
			n = text[i] == '%' ? MIN(3, length - i) : 1; /* "%2F" stays together */
			fits = text_add(&template->out, text + i, n);
		}
		if (!fits)
			return FALSE;
		i += n;
	}
	return TRUE;
}

/* "v1", "v1.24", "v2.0.1" */
static gboolean
is_version(const char *text, gsize length)
{
	if (length < 2 || length > 10 || (text[0] != 'v' && text[0] != 'V'))
		return FALSE;
	for (gsize i = 1; i < length; i++)
		if (!g_ascii_isdigit(text[i]) && (text[i] != '.' || i == 1 || i + 1 == length))
			return FALSE;
	return length <= 4 || memchr(text, '.', length) != NULL;
}

/* Where the extension with its dot begins ("x.tar.gz": that of .gz); LENGTH where there is none. */
static gsize
extension_at(const char *text, gsize length)
{
	gboolean has_letter = FALSE;
	for (gsize n = 1; n < length && n <= 6; n++) {
		char c = text[length - n];
		if (c == '.')
			return n > 1 && has_letter ? length - n : length;
		if (!g_ascii_isalnum(c))
			return length;
		has_letter |= g_ascii_isalpha(c);
	}
	return length;
}

/* Spaces, bytes beyond ASCII, quotes and mail addresses: what people typed. */
static gboolean
is_free_text(const char *text, gsize length)
{
	for (gsize i = 0; i < length; i++) {
		if (!g_ascii_isgraph(text[i]) || text[i] == '"' || text[i] == '\'')
			return TRUE;
		if (text[i] == '@' && i && i + 1 < length && g_ascii_isalpha(text[i + 1]) &&
		    memchr(text + i, '.', length - i))
			return TRUE;
	}
	return FALSE;
}

/* A base64url value, whose '-' and '_' would let pieces of it pass as words. */
static gboolean
is_base64(const char *text, gsize length, const Template *template)
{
	Looks looks = look_at(text, length);
	return template->has_mix && length >= 16 && looks.has_upper && looks.has_lower &&
	       looks.n_digits && !memchr(text, '.', length);
}

static gboolean
add_segment(Text *out, const char *text, gsize length)
{
	char data[MAX_SEGMENT * 3];
	Template template = { .out = { data, sizeof data, 0 } };
	gsize stem = extension_at(text, length);

	if (is_version(text, length))
		return text_add(out, text, length);
	if (is_free_text(text, length))
		return text_add(out, "{}", 2);
	gsize sign = (text[0] == '-' || text[0] == '+') && length > 1 && g_ascii_isdigit(text[1]);
	if (stem > MAX_SEGMENT || !add_parts(&template, text + sign, stem - sign) ||
	    template.n_words > MAX_WORDS || is_base64(text, stem, &template)) {
		template.out.n = 0;
		text_add(&template.out, "{}", 2);
	}
	text_add(&template.out, text + stem, length - stem);
	return text_add(out, template.out.data, template.out.n);
}

/*
 * Undoes the percent-encoding of a segment but for "/" and "%", which would be read as something else.
 * At most SIZE bytes; a segment that is longer is a value anyway.
 */
static gsize
unescape(const char *segment, gsize length, char *text, gsize size)
{
	gsize n = 0;
	for (gsize i = 0; i < length && n < size; i++, n++) {
		text[n] = segment[i];
		if (segment[i] != '%' || i + 2 >= length || !g_ascii_isxdigit(segment[i + 1]) ||
		    !g_ascii_isxdigit(segment[i + 2]))
			continue;
		int byte = g_ascii_xdigit_value(segment[i + 1]) * 16 +
			   g_ascii_xdigit_value(segment[i + 2]);
		if (byte == '/' || byte == '%')
			continue;
		text[n] = (char)byte;
		i += 2;
	}
	return n;
}

/* "http://host:80/x" -> "/x", the absolute form of RFC 9112 section 3.2.2. */
static void
skip_origin(const char **path, gsize *length)
{
	gsize i = 0;
	while (i < *length && g_ascii_isalpha((*path)[i]))
		i++;
	if (i == 0 || *length - i < 3 || memcmp(*path + i, "://", 3) != 0)
		return;
	for (i += 3; i < *length && !strchr("/?#", (*path)[i]);)
		i++;
	*path += i;
	*length -= i;
}

/* Bytes before the first BYTE, or all. */
static gsize
length_before(const char *text, gsize length, char byte)
{
	const char *found = length ? memchr(text, byte, length) : NULL;
	return found ? (gsize)(found - text) : length;
}

/* Adds "/" and the template of a segment; FALSE where it does not fit. */
static gboolean
add_path_segment(Text *out, const char *segment, gsize length)
{
	char text[MAX_SEGMENT * 2];
	gsize before = out->n;
	length = unescape(segment, length_before(segment, length, ';'), text, sizeof text);
	if (text_add(out, "/", 1) && (length == 0 || add_segment(out, text, length)))
		return TRUE;
	out->n = before;
	return FALSE;
}

/* The templates of all segments, as far as they fit; FALSE where some were left out. */
static gboolean
add_segments(Text *out, const char *path, gsize length)
{
	guint n_segments = 0;

	for (gsize i = 0; i < length;) {
		gsize n = length_before(path + i, length - i, '/');
		if (n && (++n_segments > MAX_SEGMENTS || !add_path_segment(out, path + i, n)))
			return FALSE;
		i += n;
		/* Slashes count once; the one at the end stays. */
		while (i < length && path[i] == '/')
			i++;
	}
	return !length || path[length - 1] != '/' || text_add(out, "/", 1);
}

/* --- front controllers --- */

/* The longest value that can name an operation; longer ones are text. */
#define MAX_ROUTE 24

static gboolean
ends_with(const char *path, gsize length, const char *ending)
{
	gsize n = strlen(ending);
	return length >= n && g_ascii_strncasecmp(path + length - n, ending, n) == 0;
}

static gboolean
is_script(const char *path, gsize length)
{
	static const char *const endings[] = { ".php",  ".cgi", ".pl",  ".asp",
					       ".aspx", ".jsp", ".dll", ".fcgi" };
	for (gsize i = 0; i < G_N_ELEMENTS(endings); i++)
		if (ends_with(path, length, endings[i]))
			return TRUE;
	return length <= 1;
}

static gboolean
is_route_key(const char *key, gsize length)
{
	static const char *const keys[] = { "p",      "page",      "action", "act",  "route",
					    "r",      "op",        "cmd",    "do",   "view",
					    "mod",    "module",    "task",   "func", "method",
					    "option", "controller" };
	for (gsize i = 0; i < G_N_ELEMENTS(keys); i++)
		if (strlen(keys[i]) == length && g_ascii_strncasecmp(key, keys[i], length) == 0)
			return TRUE;
	return FALSE;
}

/* A word: letters, and '_', '.', '-', '/' between them. */
static gboolean
is_route(const char *value, gsize length)
{
	for (gsize i = 0; i < length; i++)
		if (!g_ascii_isalpha(value[i]) && (i == 0 || !strchr("_.-/", value[i])))
			return FALSE;
	return length > 0 && length <= MAX_ROUTE;
}

/* Appends the first parameter of QUERY that names an operation. */
static void
add_route(Text *out, const char *query, gsize length)
{
	while (length) {
		gsize n = length_before(query, length, '&');
		gsize key = length_before(query, n, '=');
		if (key < n && is_route_key(query, key) && is_route(query + key + 1, n - key - 1)) {
			if (out->n + n + 1 < out->size) {
				text_add(out, "?", 1);
				text_add(out, query, n);
			}
			return;
		}
		n = MIN(n + 1, length);
		query += n;
		length -= n;
	}
}

static gsize
make_label(const char *path, gsize length, char *buffer, gsize size)
{
	static const char more[] = "/...";
	g_assert(size >= sizeof more);
	Text out = { buffer, size - (sizeof more - 1), 0 };

	skip_origin(&path, &length);
	length = length_before(path, length, '#');
	gsize n_query = length - length_before(path, length, '?');
	length -= n_query;
	if (length == 1 && path[0] == '*') {
		text_add(&out, "*", 1);
	} else if (!add_segments(&out, path, length)) {
		out.size = size;
		text_add(&out, more, sizeof more - 1);
	} else if (out.n == 0) {
		text_add(&out, "/", 1);
	}
	if (n_query && is_script(path, length))
		add_route(&out, path + length + 1, n_query - 1);
	buffer[out.n] = '\0';
	return out.n;
}

gsize
wp_label_path(const char *path, gsize length, char *buffer, gsize size)
{
	WpLabelMemoKey key = { path, length, WP_LABEL_MEMO_PATH, 0, size };
	WpLabelMemo *place;
	gsize n;

	if (wp_label_memo_find(&key, &place, buffer, &n, NULL))
		return n;
	n = make_label(path, length, buffer, size);
	wp_label_memo_keep(place, &key, buffer, n, FALSE);
	return n;
}
