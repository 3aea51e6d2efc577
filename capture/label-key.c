/*
 * Keys of caches: "user:42:cart" -> "user:{}:cart".
 *
 * A key is segments between separators, and a segment is words joined by '-' or '_'. By custom the fixed
 * words say what a thing is and the others which one: numbers, ids and hashes, which become {}.
 *
 *      segments     session : 7f3a9c21 : user-agent
 *      template     session : {}       : user-agent
 */
#include "capture/label.h"
#include "capture/label-memo.h"

#include <string.h>

#include "capture/label-word.h"

/* A segment of small and capital letters and figures in turn is one id, if at least so long. */
#define MIN_MIXED 10

static gboolean
is_joint(char c)
{
	return c == '-' || c == '_';
}

static gboolean
is_separator(char c)
{
	return !is_joint(c) && g_ascii_isprint(c) && !g_ascii_isalnum(c);
}

/* 'a' small, 'A' capital, '0' figure, 0 any other. */
static char
class_of(char c)
{
	if (g_ascii_isdigit(c))
		return '0';
	return g_ascii_islower(c) ? 'a' : g_ascii_isupper(c) ? 'A' : 0;
}

/* Base64 and the like: kinds of letters change all the time ("Ab3_x9-Zq7Kd"). */
static gboolean
is_mixed(const char *segment, gsize length)
{
	gsize n = 0, changes = 0;
	guint seen = 0;
	char last = 0;
	for (gsize i = 0; i < length; i++) {
		char kind = class_of(segment[i]);
		if (kind == 0)
			continue;
		changes += last != 0 && kind != last;
		seen |= kind == '0' ? 1u : kind == 'a' ? 2u : 4u;
		last = kind;
		n++;
	}
	return n >= MIN_MIXED && seen == 7 && changes * 3 >= n;
}

static gboolean
is_uuid(const char *segment, gsize length)
{
	for (gsize i = 0; i < length; i++) {
		gboolean is_dash = i == 8 || i == 13 || i == 18 || i == 23;
		if (is_dash ? segment[i] != '-' : !g_ascii_isxdigit(segment[i]))
			return FALSE;
	}
	return length == 36;
}

static void
add_word(WpLabelText *out, const char *word, gsize length)
{
	gsize letters;
	WpWordLooks looks = wp_label_word_looks(word, length, &letters);
	if (looks == WP_WORD_FIXED)
		wp_label_text_add(out, word, length);
	else if (looks == WP_WORD_NUMBERED)
		wp_label_text_add(out, word, letters);
	if (looks != WP_WORD_FIXED)
		wp_label_text_add(out, "{}", 2);
}

static void
add_segment(WpLabelText *out, const char *segment, gsize length)
{
	if (is_uuid(segment, length) || is_mixed(segment, length)) {
		wp_label_text_add(out, "{}", 2);
		return;
	}
	for (gsize i = 0; i < length;) {
		gsize n = 0;
		if (is_joint(segment[i])) {
			wp_label_text_add(out, segment + i++, 1);
			continue;
		}
		while (i + n < length && !is_joint(segment[i + n]))
			n++;
		add_word(out, segment + i, n);
		i += n;
	}
}

/* "ann.lee@example.net": the length of a mail address at the front of TEXT, else 0. */
static gsize
mail_length(const char *text, gsize length)
{
	gsize at = 0, n = 0;
	for (; n < length && (g_ascii_isalnum(text[n]) || (text[n] && strchr("._-+@", text[n])));
	     n++)
		if (text[n] == '@')
			at = n;
	return at > 0 && at + 1 < n ? n : 0;
}

static gsize
make_label(const char *key, gsize length, char *buffer, gsize size)
{
	WpLabelText out = { buffer, size, 0 };
	for (gsize i = 0; i < length && !wp_label_text_is_full(&out);) {
		gsize n = 0;
		if (is_separator(key[i])) {
			wp_label_text_add(&out, key + i++, 1);
			continue;
		}
		n = mail_length(key + i, length - i);
		if (n > 0) {
			wp_label_text_add(&out, "{}", 2);
		} else {
			while (i + n < length && !is_separator(key[i + n]))
				n++;
			add_segment(&out, key + i, n);
		}
		i += n;
	}
	return wp_label_text_end(&out);
}

gsize
wp_label_key(const char *text, gsize length, char *buffer, gsize size)
{
	WpLabelMemoKey key = { text, length, WP_LABEL_MEMO_KEY, 0, size };
	WpLabelMemo *place;
	gsize n;

	if (wp_label_memo_find(&key, &place, buffer, &n, NULL))
		return n;
	n = make_label(text, length, buffer, size);
	wp_label_memo_keep(place, &key, buffer, n, FALSE);
	return n;
}
