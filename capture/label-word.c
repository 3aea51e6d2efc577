/* Words by their looks: there is no list of words to go by, and the same key must always look the same. */
#include "capture/label-word.h"

#include <string.h>

/* Hex digits with a figure among them: a hash from here on; shorter ones may be words ("ad2"). */
#define MIN_HEX 6

/* Hex digits without a figure; longer than any word of these letters. */
#define MIN_HEX_LETTERS 12

/* Longer runs without a separator are ids, whatever they are made of. */
#define MAX_WORD 24

void
wp_label_text_add(WpLabelText *out, const char *text, gsize length)
{
	for (gsize i = 0; i < length && out->n + 1 < out->size; i++)
		out->buffer[out->n++] = g_ascii_isprint(text[i]) ? text[i] : '?';
}

gboolean
wp_label_text_is_full(const WpLabelText *out)
{
	return out->n + 1 >= out->size;
}

gsize
wp_label_text_end(WpLabelText *out)
{
	if (out->size == 0)
		return 0;
	out->buffer[out->n] = 0;
	return out->n;
}

typedef struct {
	gsize n_digits;
	gsize n_upper;
	gsize n_lower;
	gsize n_switches; /* between letters and digits */
	gsize n_humps;    /* a capital behind a small letter */
	gboolean is_hex;
	gboolean is_text; /* printable ASCII */
} Looks;

static Looks
look_at(const char *word, gsize length)
{
	Looks looks = { .is_hex = TRUE, .is_text = TRUE };
	for (gsize i = 0; i < length; i++) {
		char c = word[i];
		gboolean is_digit = g_ascii_isdigit(c);
		looks.n_digits += is_digit;
		looks.n_upper += g_ascii_isupper(c);
		looks.n_lower += g_ascii_islower(c);
		looks.is_hex &= g_ascii_isxdigit(c);
		looks.is_text &= g_ascii_isgraph(c);
		if (i > 0) {
			looks.n_switches += is_digit != g_ascii_isdigit(word[i - 1]);
			looks.n_humps += g_ascii_isupper(c) && g_ascii_islower(word[i - 1]);
		}
	}
	return looks;
}

/* Random letters of both cases ("aQzTkXwB"): camel case has longer humps. */
static gboolean
is_jumble(const Looks *looks)
{
	return looks->n_humps >= 2 && looks->n_upper + looks->n_lower < 3 * looks->n_upper;
}

WpWordLooks
wp_label_word_looks(const char *word, gsize length, gsize *out_letters)
{
	Looks looks = look_at(word, length);
	*out_letters = 0;
	if (!looks.is_text || length > MAX_WORD || is_jumble(&looks))
		return WP_WORD_VALUE;
	if (looks.n_digits == 0)
		return looks.is_hex && length >= MIN_HEX_LETTERS ? WP_WORD_VALUE : WP_WORD_FIXED;
	if (looks.n_digits == length || (looks.is_hex && length >= MIN_HEX))
		return WP_WORD_VALUE;
	if (looks.n_switches != 1 || g_ascii_isdigit(word[0]))
		return WP_WORD_VALUE;
	*out_letters = length - looks.n_digits;
	if (*out_letters == 1 && g_ascii_tolower(word[0]) == 'v' && looks.n_digits <= 2)
		return WP_WORD_FIXED; /* a version */
	return WP_WORD_NUMBERED;
}
