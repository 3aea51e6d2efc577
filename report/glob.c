/*
 * Globs over any bytes. (GPatternSpec ends the program where pattern or text is not UTF-8.) What a star
 * takes is tried from nothing on; only the last star seen can have taken too little, so there is nothing
 * else to come back to, and the time is at most the product of the lengths.
 */
#include "report/glob.h"

/* Behind the character at TEXT, which is not the end; a byte that belongs to none is one by itself. */
static const char *
skip_character(const char *text)
{
	do
		text++;
	while (((guint8)*text & 0xc0) == 0x80);
	return text;
}

gboolean
wp_glob_matches(const char *pattern, const char *text)
{
	const char *behind_star = NULL, *star_end = NULL;

	while (*text) {
		if (*pattern == '*') {
			behind_star = ++pattern;
			star_end = text;
		} else if (*pattern == '?') {
			pattern++;
			text = skip_character(text);
		} else if (*pattern == *text) {
			pattern++;
			text++;
		} else if (behind_star) {
			pattern = behind_star;
			text = ++star_end;
		} else {
			return FALSE;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}
