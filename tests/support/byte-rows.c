/* Words to bytes; see the header. */
#include "tests/support/byte-rows.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 16

typedef struct {
	guint at;
	char form;
	gint64 more;
} Block;

static void
put(GByteArray *out, guint at, guint64 value, guint n, gboolean is_little)
{
	for (guint i = 0; i < n; i++)
		out->data[at + i] = (guint8)(value >> 8 * (is_little ? i : n - 1 - i));
}

static guint
size_of(char form)
{
	static const char forms[] = "bhtwq";
	static const guint sizes[] = { 1, 2, 3, 4, 8 };
	const char *found = strchr(forms, g_ascii_tolower(form));
	return found && form ? sizes[found - forms] : 0;
}

/* VALUE as FORM says. */
static guint
encode(char form, guint64 value, guint8 bytes[10])
{
	guint n = 0;
	if (form == 'v') {
		for (; value > 127; value >>= 7)
			bytes[n++] = (guint8)(value | 128);
		bytes[n++] = (guint8)value;
		return n;
	}
	if (form == 'a' && value > 127) {
		bytes[n++] = value > 255 ? 0x82 : 0x81;
		if (value > 255)
			bytes[n++] = (guint8)(value >> 8);
		bytes[n++] = (guint8)value;
		return n;
	}
	n = form == 'a' ? 1 : size_of(form);
	ck_assert_msg(n > 0, "no such number: %c", form);
	GByteArray out = { bytes, n };
	put(&out, 0, value, n, g_ascii_isupper(form));
	return n;
}

static void
add_number(GByteArray *out, char form, guint64 value)
{
	guint8 bytes[10];
	g_byte_array_append(out, bytes, encode(form, value, bytes));
}

static void
close_block(GByteArray *out, const Block *block)
{
	guint8 bytes[10];
	guint n = encode(block->form, out->len - block->at + block->more, bytes), old = out->len;
	g_byte_array_set_size(out, old + n);
	memmove(out->data + block->at + n, out->data + block->at, old - block->at);
	memcpy(out->data + block->at, bytes, n);
}

static const char *
add_text(GByteArray *out, const char *word)
{
	const char *end = strchr(word, '\'');
	ck_assert_msg(end != NULL, "text is not closed: %s", word);
	g_byte_array_append(out, (const guint8 *)word, (guint)(end - word));
	return end + 1;
}

static const char *
add_hex(GByteArray *out, const char *word)
{
	for (; g_ascii_isxdigit(word[0]); word += 2) {
		guint8 byte = (guint8)(g_ascii_xdigit_value(word[0]) << 4 |
				       g_ascii_xdigit_value(word[1]));
		g_byte_array_append(out, &byte, 1);
	}
	return word;
}

static const char *
add_value(GByteArray *out, const char *word)
{
	char *end;
	ck_assert_msg(word[1] == ':', "no word: %s", word);
	if (word[0] == 'x')
		return add_hex(out, word + 2);
	gboolean is_negative = word[2] == '-';
	guint64 value = is_negative ? (guint64)strtoll(word + 2, &end, 0)
				    : (guint64)strtoull(word + 2, &end, 0);
	if (word[0] != '0') {
		add_number(out, word[0], value);
	} else {
		guint old = out->len;
		g_byte_array_set_size(out, old + (guint)value);
		memset(out->data + old, 0, value);
	}
	return end;
}

GByteArray *
wp_byte_words(const char *words)
{
	GByteArray *out = g_byte_array_new();
	Block blocks[MAX_DEPTH];
	guint depth = 0;
	for (const char *word = words; *word;) {
		char *end;
		if (*word == ' ') {
			word++;
		} else if (*word == '\'') {
			word = add_text(out, word + 1);
		} else if (*word == 'r') {
			g_byte_array_append(out, (const guint8 *)"\r\n", 2);
			word++;
		} else if (*word == '(') {
			ck_assert(depth < MAX_DEPTH);
			blocks[depth++] =
				(Block){ out->len, word[1],
					 word[2] == '+' ? strtol(word + 3, &end, 10) : 0 };
			word = word[2] == '+' ? end : word + 2;
		} else if (*word == ')') {
			ck_assert(depth > 0);
			close_block(out, &blocks[--depth]);
			word++;
		} else {
			word = add_value(out, word);
		}
	}
	ck_assert_msg(depth == 0, "block is not closed: %s", words);
	return out;
}

/* The steps of ROW; OWNER keeps their bytes. */
static gsize
make_steps(const WpByteRow *row, WpRunOptions *options, WpStep *steps, GPtrArray *owner)
{
	gsize n = 0;
	for (gsize i = 0; i < WP_BYTE_ROW_STEPS && row->steps[i]; i++) {
		const char *step = row->steps[i];
		gboolean has_bytes = *step == 'C' || *step == 'S';
		if (*step == 'm') {
			options->is_midstream = TRUE;
			continue;
		}
		GByteArray *bytes = wp_byte_words(has_bytes ? step + 1 : "");
		gsize length = has_bytes ? bytes->len : strtoul(step + 1, NULL, 10);
		g_ptr_array_add(owner, bytes);
		steps[n++] =
			(WpStep){ *step, has_bytes ? (const char *)bytes->data : NULL, length };
	}
	return n;
}

void
wp_byte_rows_check(const WpRunOptions *options, const WpByteRow *rows, gsize n_rows)
{
	g_autoptr(GString) wrong = g_string_new(NULL);
	for (gsize i = 0; i < n_rows; i++) {
		WpRunOptions own = options ? *options : (WpRunOptions){ 0 };
		WpStep steps[WP_BYTE_ROW_STEPS];
		g_autoptr(GPtrArray) owner =
			g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
		gsize n = make_steps(&rows[i], &own, steps, owner);
		g_autofree char *got = wp_decode_run(&own, steps, n);
		if (strcmp(got, rows[i].expected) != 0)
			g_string_append_printf(wrong, "\n# %s\n%s# instead of\n%s", rows[i].name,
					       got, rows[i].expected);
		else if (!own.is_udp)
			wp_decode_check(&own, steps, n, got);
	}
	ck_assert_msg(wrong->len == 0, "%s", wrong->str);
}
