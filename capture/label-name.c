/*
 * Host names: "e06cf6f08caab80d.spam.lan" -> "{}.spam.lan".
 *
 * Names are few where keys are many, so more stays: db1 and db2 are two hosts that the reader knows.
 * Only what is plainly a number, a hash or random goes. Names are told apart in no case (RFC 4343), and
 * some resolvers mix cases on purpose, so all is lower case.
 */
#include "capture/label.h"

#include <string.h>

#include "capture/label-word.h"

/* A host's number ("web12"); more figures are a date, an id, a lease. */
#define MAX_HOST_NUMBER 3

static gboolean
is_joint(char c)
{
	return c == '-' || c == '_';
}

static void
add_word(WpLabelText *out, const char *word, gsize length)
{
	gsize letters;
	WpWordLooks looks = wp_label_word_looks(word, length, &letters);
	if (looks == WP_WORD_FIXED ||
	    (looks == WP_WORD_NUMBERED && length - letters <= MAX_HOST_NUMBER)) {
		wp_label_text_add(out, word, length);
		return;
	}
	wp_label_text_add(out, word, letters);
	wp_label_text_add(out, "{}", 2);
}

/* "web-12": one short number, and not in front: which of a few hosts. "ip-10-0-3-77" has many. */
static gboolean
is_host_number(const char *part, gsize length, gsize at, gsize n)
{
	if (at == 0 || n > MAX_HOST_NUMBER)
		return FALSE;
	for (gsize i = 0; i < length; i++)
		if (g_ascii_isdigit(part[i]) != (i >= at && i < at + n))
			return FALSE;
	return TRUE;
}

/* One label of the name, between dots. */
static void
add_part(WpLabelText *out, const char *part, gsize length)
{
	for (gsize i = 0; i < length;) {
		gsize n = 0;
		if (is_joint(part[i])) {
			wp_label_text_add(out, part + i++, 1);
			continue;
		}
		while (i + n < length && !is_joint(part[i + n]))
			n++;
		if (is_host_number(part, length, i, n))
			wp_label_text_add(out, part + i, n);
		else
			add_word(out, part + i, n);
		i += n;
	}
}

static gboolean
has_suffix(const char *name, gsize length, const char *suffix)
{
	gsize n = strlen(suffix);
	return length >= n && g_ascii_strncasecmp(name + length - n, suffix, n) == 0;
}

gsize
wp_label_name(const char *name, gsize length, char *buffer, gsize size)
{
	/* Case is no sign of chance here: all words are judged in lower case. */
	char lower[256];
	length = MIN(length, sizeof lower);
	for (gsize i = 0; i < length; i++)
		lower[i] = g_ascii_tolower(name[i]);

	WpLabelText out = { buffer, size, 0 };
	gboolean is_nibbles = has_suffix(lower, length, ".ip6.arpa");
	for (gsize i = 0; i < length && !wp_label_text_is_full(&out);) {
		gsize n = 0, before = out.n;
		while (i + n < length && lower[i + n] != '.')
			n++;
		if (is_nibbles && n == 1)
			wp_label_text_add(&out, "{}", 2);
		else
			add_part(&out, lower + i, n);
		/* Many values in a row (the bytes of an address) are one. */
		if (before >= 3 && out.n == before + 2 &&
		    memcmp(buffer + before - 3, "{}.{}", 5) == 0)
			out.n = before - 1;
		i += n;
		if (i < length) {
			wp_label_text_add(&out, ".", 1);
			i++;
		}
	}
	return wp_label_text_end(&out);
}
