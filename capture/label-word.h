/*
 * Words in keys and names: which are fixed and which tell one thing from another. Shared by the two
 * label makers that take texts apart at separators (label-key.c, label-name.c).
 */
#ifndef WP_CAPTURE_LABEL_WORD_H
#define WP_CAPTURE_LABEL_WORD_H

#include <glib.h>

/* A text that stays within its buffer, with room for the NUL. Never more than SIZE - 1 bytes. */
typedef struct {
	char *buffer;
	gsize size;
	gsize n;
} WpLabelText;

/* Adds what fits of TEXT; bytes outside printable ASCII as '?'. */
void wp_label_text_add(WpLabelText *out, const char *text, gsize length);
gboolean wp_label_text_is_full(const WpLabelText *out);

/* Puts the NUL and returns the length. */
gsize wp_label_text_end(WpLabelText *out);

/* What a run of letters and digits is. */
typedef enum {
	WP_WORD_FIXED,    /* "cart", "v2" */
	WP_WORD_NUMBERED, /* "item42": letters, then a number */
	WP_WORD_VALUE     /* "42", "7f3a9c21", "x2x9z" */
} WpWordLooks;

/* OUT_LETTERS: of a numbered word, how many letters stand before the number. */
WpWordLooks wp_label_word_looks(const char *word, gsize length, gsize *out_letters);

#endif
