/* Label memo: places by hash, one text each; what comes later takes the place. */
#include "capture/label-memo.h"

#include <string.h>

#define N_PLACES 512 /* a power of two; 180 KiB, of which the usual texts take a few */

struct WpLabelMemo {
	guint32 hash;
	guint32 options;
	guint32 size;
	guint8 kind;
	guint8 n_text; /* 0 = free */
	guint8 n_label;
	guint8 flag;
	char text[WP_LABEL_MEMO_TEXT];
	char label[WP_LABEL_MEMO_LABEL];
};

G_STATIC_ASSERT(WP_LABEL_MEMO_TEXT <= G_MAXUINT8 && WP_LABEL_MEMO_LABEL <= G_MAXUINT8);

static _Thread_local WpLabelMemo places[N_PLACES];

static inline guint64
mix(guint64 hash, guint64 word)
{
	hash = (hash ^ word) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

static guint32
hash_key(const WpLabelMemoKey *key)
{
	guint64 word, hash = mix(key->length, key->kind | key->options << 8);
	const char *at = key->text;

	/* The last step overlaps the one before it; texts shorter than a step are read by letters. */
	if (key->length < sizeof word) {
		for (gsize i = 0; i < key->length; i++)
			hash = hash << 7 ^ (guint8)at[i];
		return (guint32)mix(hash, key->size);
	}
	const char *last = at + key->length - sizeof word;
	for (; at < last; at += sizeof word) {
		memcpy(&word, at, sizeof word);
		hash = mix(hash, word);
	}
	memcpy(&word, last, sizeof word);
	return (guint32)mix(hash, word);
}

gboolean
wp_label_memo_find(const WpLabelMemoKey *key, WpLabelMemo **out_place, char *buffer,
		   gsize *out_length, gboolean *out_flag)
{
	*out_place = NULL;
	if (key->length == 0 || key->length > WP_LABEL_MEMO_TEXT || key->size > G_MAXUINT32)
		return FALSE;
	guint32 hash = hash_key(key);
	WpLabelMemo *place = &places[hash % N_PLACES];
	*out_place = place;
	if (place->n_text != key->length || place->hash != hash || place->kind != key->kind ||
	    place->options != key->options || place->size != key->size ||
	    memcmp(place->text, key->text, key->length) != 0)
		return FALSE;
	memcpy(buffer, place->label, place->n_label + 1u);
	*out_length = place->n_label;
	if (out_flag)
		*out_flag = place->flag;
	return TRUE;
}

void
wp_label_memo_keep(WpLabelMemo *place, const WpLabelMemoKey *key, const char *label, gsize length,
		   gboolean flag)
{
	if (!place || length >= WP_LABEL_MEMO_LABEL)
		return;
	place->hash = hash_key(key);
	place->options = key->options;
	place->size = (guint32)key->size;
	place->kind = key->kind;
	place->n_text = (guint8)key->length;
	place->n_label = (guint8)length;
	place->flag = flag != FALSE;
	memcpy(place->text, key->text, key->length);
	memcpy(place->label, label, length + 1);
}
