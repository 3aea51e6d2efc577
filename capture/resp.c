/* RESP elements and values. Elements are counted, not stacked: a value ends when none is left. */
#include "capture/resp.h"

#include <string.h>

/* The end of a line is looked for so far; a status or error longer than this is not credible. */
#define LINE_MAX_BYTES 4096

/* In place of a count: elements come until one says that it was the last. */
#define UNCOUNTED G_MAXUINT64

/* More elements than could ever have been sent: the counts lie. */
#define MAX_LEFT (G_GUINT64_CONSTANT(1) << 48)

static gboolean
is_one_of(gchar type, const char *types)
{
	while (*types && *types != type)
		types++;
	return *types != '\0';
}

static gboolean
is_digits(const guint8 *text, gsize length)
{
	for (gsize i = 0; i < length; i++)
		if (!g_ascii_isdigit(text[i]))
			return FALSE;
	return length > 0;
}

/* A length or count; FALSE where TEXT is none, or too large. */
static gboolean
parse_number(const guint8 *text, gsize length, guint64 *out_number)
{
	guint64 number = 0;
	if (length > 10 || !is_digits(text, length))
		return FALSE;
	for (gsize i = 0; i < length; i++)
		number = number * 10 + (text[i] - '0');
	*out_number = number;
	return number <= WP_RESP_MAX_NUMBER;
}

/* The value of an integer element; negative ones and those over ten digits count as 0. */
static gboolean
parse_integer(const guint8 *text, gsize length, guint64 *out_number)
{
	gboolean is_signed = length > 0 && (text[0] == '-' || text[0] == '+');
	if (!is_digits(text + is_signed, length - is_signed) || length > 20)
		return FALSE;
	if (!parse_number(text, length, out_number))
		*out_number = 0;
	return TRUE;
}

static gboolean
is_printable(const guint8 *text, gsize length)
{
	for (gsize i = 0; i < length; i++)
		if (text[i] < 0x20 && text[i] != '\t')
			return FALSE;
	return TRUE;
}

/* Length or count of a bulk string or an aggregate, their null and streamed forms. */
static gboolean
parse_sized(const guint8 *text, gsize length, WpRespElement *element)
{
	if (length == 2 && memcmp(text, "-1", 2) == 0) {
		element->is_null = TRUE;
		return element->type == '$' || element->type == '*';
	}
	if (length == 1 && text[0] == '?') {
		element->is_streamed = TRUE;
		return is_one_of(element->type, "$*%~");
	}
	return parse_number(text, length, &element->number);
}

/* The text between type and line end. */
static gboolean
parse_line(const guint8 *text, gsize length, WpRespElement *element)
{
	gchar type = element->type;
	if (is_one_of(type, "$*!=;~%|>"))
		return parse_sized(text, length, element);
	if (is_one_of(type, "+-"))
		return is_printable(text, length);
	if (is_one_of(type, ",("))
		return length > 0 && is_printable(text, length);
	if (type == ':')
		return parse_integer(text, length, &element->number);
	if (type == '#')
		return length == 1 && (text[0] == 't' || text[0] == 'f');
	element->is_null = type == '_';
	return length == 0 && is_one_of(type, "_.");
}

/* Can a line that begins so become an element? So that bytes of something else are told at once. */
static WpDecodeStatus
judge_partial(const guint8 *text, gsize length)
{
	if (!is_one_of((gchar)text[0], "+-:$!=;*~%|>#_,(."))
		return WP_DECODE_BAD;
	gboolean is_text = text[0] == '+' || text[0] == '-';
	if (length > (is_text ? LINE_MAX_BYTES : 64) && text[0] != '(')
		return WP_DECODE_BAD;
	if (text[length - 1] == '\r')
		length--;
	return is_printable(text, length) && length <= LINE_MAX_BYTES ? WP_DECODE_MORE
								      : WP_DECODE_BAD;
}

WpDecodeStatus
wp_resp_element(WpBytes in, WpRespElement *out_element)
{
	WpRespElement element = { 0 };
	const guint8 *text = in.data + in.at;
	if (wp_bytes_left(&in) == 0)
		return WP_DECODE_MORE;
	gssize end = wp_bytes_find(&in, '\n', LINE_MAX_BYTES);
	if (end < 0)
		return judge_partial(text, wp_bytes_left(&in));
	if (end < 2 || text[end - 1] != '\r')
		return WP_DECODE_BAD;
	element.type = (gchar)text[0];
	if (!parse_line(text + 1, (gsize)end - 2, &element))
		return WP_DECODE_BAD;
	element.line = element.length = (gsize)end + 1;
	if (is_one_of(element.type, "$!=;") && !element.is_null && !element.is_streamed &&
	    !(element.type == ';' && element.number == 0)) {
		element.length += element.number + 2;
		if (wp_bytes_left(&in) >= element.length &&
		    memcmp(text + element.length - 2, "\r\n", 2) != 0)
			return WP_DECODE_BAD;
	}
	*out_element = element;
	return WP_DECODE_OK;
}

void
wp_resp_value_begin(WpRespValue *value)
{
	memset(value, 0, sizeof *value);
	value->left = 1;
}

gboolean
wp_resp_value_is_done(const WpRespValue *value)
{
	return value->left == 0 && !value->in_chunks;
}

gboolean
wp_resp_value_is_at_top(const WpRespValue *value)
{
	return value->left == 1 && value->depth == 0 && !value->in_chunks && !value->in_attribute;
}

/* A nested run of N elements begins; what is around it waits where it cannot be added up. */
static gboolean
open_nested(WpRespValue *value, guint64 n)
{
	if (n != UNCOUNTED && value->left != UNCOUNTED) {
		value->left += n;
		return value->left <= MAX_LEFT;
	}
	if (n == 0)
		return TRUE;
	if (value->left > 0) {
		if (value->depth == WP_RESP_MAX_DEPTH)
			return FALSE;
		value->outer[value->depth++] = value->left;
	}
	value->left = n;
	return TRUE;
}

/* Goes back to what is around runs that have ended. */
static void
close_nested(WpRespValue *value)
{
	while (value->left == 0 && value->depth > 0)
		value->left = value->outer[--value->depth];
	if (value->left == 0 && value->in_attribute && !value->in_chunks) {
		value->in_attribute = FALSE;
		value->left = 1;
	}
}

static gboolean
add_attribute(WpRespValue *value, guint64 n_pairs)
{
	if (wp_resp_value_is_at_top(value)) {
		value->in_attribute = TRUE;
		value->left = n_pairs * 2;
		close_nested(value);
		return TRUE;
	}
	return open_nested(value, n_pairs * 2);
}

static gboolean
add_chunk(WpRespValue *value, const WpRespElement *element)
{
	if (element->type != ';')
		return FALSE;
	value->in_chunks = element->number != 0;
	if (!value->in_chunks)
		close_nested(value);
	return TRUE;
}

/* Something that counts as one element of what is around it. */
static gboolean
add_counted(WpRespValue *value, const WpRespElement *element)
{
	guint64 nested = element->number * (element->type == '%' ? 2 : 1);
	if (value->left == 0)
		return FALSE;
	if (value->left != UNCOUNTED)
		value->left--;
	if (element->type == '$' && element->is_streamed) {
		value->in_chunks = TRUE;
		return TRUE;
	}
	if (is_one_of(element->type, "*%~>") && !element->is_null &&
	    !open_nested(value, element->is_streamed ? UNCOUNTED : nested))
		return FALSE;
	close_nested(value);
	return TRUE;
}

static gboolean
add_end(WpRespValue *value)
{
	if (value->left != UNCOUNTED)
		return FALSE;
	value->left = 0;
	close_nested(value);
	return TRUE;
}

gboolean
wp_resp_value_add(WpRespValue *value, const WpRespElement *element)
{
	if (value->in_chunks)
		return add_chunk(value, element);
	switch (element->type) {
	case ';':
		return FALSE;
	case '.':
		return add_end(value);
	case '|':
		return add_attribute(value, element->number);
	default:
		return add_counted(value, element);
	}
}
