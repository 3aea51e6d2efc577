/*
 * WpLabelMemo: what the functions of label.h made of texts lately. Clients say the same again and again, and
 * a label costs some thousand instructions where finding it here costs a hundred. As a label depends on
 * nothing but the text and the options, the answer is the same with and without; each thread has its own.
 */
#ifndef WP_CAPTURE_LABEL_MEMO_H
#define WP_CAPTURE_LABEL_MEMO_H

#include <glib.h>

/* Longer texts and labels are not kept. */
#define WP_LABEL_MEMO_TEXT  200
#define WP_LABEL_MEMO_LABEL 128

typedef enum {
	WP_LABEL_MEMO_PATH,
	WP_LABEL_MEMO_SQL,
	WP_LABEL_MEMO_KEY
} WpLabelMemoKind;

/* A text to be labelled; OPTIONS and SIZE as the label depends on them. */
typedef struct {
	const char *text;
	gsize length;
	guint8 kind; /* WpLabelMemoKind */
	guint32 options;
	gsize size; /* of the buffer */
} WpLabelMemoKey;

typedef struct WpLabelMemo WpLabelMemo;

/*
 * The place of KEY: where it holds KEY, *OUT_LENGTH (and the label in BUFFER, of key->size bytes) and
 * *OUT_FLAG (may be NULL), TRUE; else FALSE, and wp_label_memo_keep() may fill it. NULL: not to be kept.
 */
gboolean wp_label_memo_find(const WpLabelMemoKey *key, WpLabelMemo **out_place, char *buffer,
			    gsize *out_length, gboolean *out_flag);
void wp_label_memo_keep(WpLabelMemo *place, const WpLabelMemoKey *key, const char *label,
			gsize length, gboolean flag);

#endif
