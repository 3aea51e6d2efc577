/*
 * HTTP/1.x by the line. More lenient than RFC 9112 where the bytes can be understood all the same (LF
 * alone, blanks in the target, blanks before the colon, folded fields), since what the servers took is
 * none of our business; strict where a message has to be recognised among other bytes.
 */
#include "capture/http1-head.h"

#include <string.h>

#include "capture/http-fields.h"
#include "capture/stream.h"

/* Longest method that is recognised ("UPDATEREDIRECTREF" and "VERSION-CONTROL" are registered). */
#define MAX_METHOD 24

/* Larger lengths are nonsense, and sums with them could overflow. */
#define MAX_LENGTH (G_MAXSIZE / 4)

/* Framing fields, of which a folded line may be the rest. */
typedef enum {
	FIELD_OTHER,
	FIELD_LENGTH,
	FIELD_CODING
} Field;

/* The line at the cursor, which moves behind it. BAD where it is longer than a stream keeps. */
WpDecodeStatus
wp_http1_take_line(WpBytes *in, WpHttp1Line *out_line)
{
	const char *data = (const char *)in->data + in->at;
	gsize left = wp_bytes_left(in);
	const char *end = left ? memchr(data, '\n', MIN(left, WP_STREAM_HEAD_MAX)) : NULL;

	if (!end)
		return left < WP_STREAM_HEAD_MAX ? WP_DECODE_MORE : WP_DECODE_BAD;
	gsize length = (gsize)(end - data);
	in->at += length + 1;
	out_line->data = data;
	out_line->bytes = length + 1;
	out_line->length = length - (length && end[-1] == '\r');
	return WP_DECODE_OK;
}

/* A capital as the letter that it is one of. Inline, as is all that is done for every byte of a field. */
static inline char
small(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* --- first lines --- */

/*
 * tchar of RFC 9110 section 5.6.2; 0 where a byte is none:
 * ! # $ % & ' * + - . ^ _ ` | ~, digits and letters.
 */
static const char token_bytes[256] =
	"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
	"\0!\0#$%&'\0\0*+\0-.\0"
	"0123456789\0\0\0\0\0\0"
	"\0ABCDEFGHIJKLMNOPQRSTUVWXYZ\0\0\0^_"
	"`abcdefghijklmnopqrstuvwxyz\0|\0~";

static inline gboolean
is_token_byte(char c)
{
	return token_bytes[(guint8)c] != '\0';
}

/* Bytes of the method at the front, which may not be whole. */
static gsize
method_length(const char *text, gsize length)
{
	gsize n = 0;
	while (n < length && n <= MAX_METHOD && is_token_byte(text[n]))
		n++;
	return n;
}

/* "HTTP/1." and a digit */
static gboolean
is_version(const char *text, gsize length)
{
	return length == 8 && memcmp(text, "HTTP/1.", 7) == 0 && g_ascii_isdigit(text[7]);
}

/* METHOD SP TARGET SP VERSION, RFC 9112 section 3; more blanks, and some inside the target, are let pass. */
gboolean
wp_http1_parse_request(const char *line, gsize length, WpHttp1Request *out_request)
{
	gsize method = method_length(line, length);
	gsize end = length;

	while (end && line[end - 1] == ' ')
		end--;
	gsize version = end;
	while (version && line[version - 1] != ' ')
		version--;
	if (method == 0 || method > MAX_METHOD || version < method + 3 || line[method] != ' ' ||
	    !is_version(line + version, end - version))
		return FALSE;
	gsize target = method + 1, target_end = version - 1;
	while (target < target_end && line[target] == ' ')
		target++;
	while (target_end > target && line[target_end - 1] == ' ')
		target_end--;
	if (target == target_end)
		return FALSE;
	*out_request = (WpHttp1Request){ line + target, method, target_end - target };
	return TRUE;
}

/* "HTTP/1.1 200 OK": the code, or 0. RFC 9112 section 4. */
guint
wp_http1_parse_status(const char *line, gsize length)
{
	if (length < 12 || !is_version(line, 8) || line[8] != ' ' ||
	    (length > 12 && line[12] != ' '))
		return 0;
	guint code = 0;
	for (int i = 9; i < 12; i++) {
		if (!g_ascii_isdigit(line[i]))
			return 0;
		code = code * 10 + (guint)(line[i] - '0');
	}
	return code >= 100 ? code : 0;
}

/* The forms of RFC 9112 section 3.2 but that of CONNECT. */
static WpDecodeStatus
recognise_target(const char *text, gsize length)
{
	static const char *const starts[] = { "/", "* ", "http://", "https://" };
	for (gsize i = 0; i < G_N_ELEMENTS(starts); i++) {
		gsize n = MIN(length, strlen(starts[i]));
		if (memcmp(text, starts[i], n) == 0)
			return n == strlen(starts[i]) ? WP_DECODE_OK : WP_DECODE_MORE;
	}
	return WP_DECODE_BAD;
}

/* Capitals: others are allowed, but nobody sends them. */
static WpDecodeStatus
recognise_method(const char *text, gsize length, gsize *out_length)
{
	gsize n = method_length(text, length);

	for (gsize i = 0; i < n; i++)
		if (!g_ascii_isupper(text[i]) && text[i] != '-' && text[i] != '_')
			return WP_DECODE_BAD;
	if (n == length && n <= MAX_METHOD)
		return WP_DECODE_MORE;
	if (n < 3 || n > MAX_METHOD || text[n] != ' ')
		return WP_DECODE_BAD;
	*out_length = n;
	return WP_DECODE_OK;
}

/* The whole line where it is there, else what there is of it. */
static WpDecodeStatus
recognise_line(const char *text, gsize length)
{
	WpBytes in = wp_bytes((const guint8 *)text, length);
	WpHttp1Line line;
	WpHttp1Request request;

	if (wp_http1_take_line(&in, &line) == WP_DECODE_OK)
		return wp_http1_parse_request(line.data, line.length, &request) &&
				       !memchr(request.target, ' ', request.target_length)
			       ? WP_DECODE_OK
			       : WP_DECODE_BAD;
	for (gsize i = 0; i < length; i++)
		if ((guint8)text[i] < ' ' && text[i] != '\r')
			return WP_DECODE_BAD;
	return WP_DECODE_MORE;
}

/* Whether TEXT begins with a request line that one would bet on. */
static WpDecodeStatus
recognise_request(const char *text, gsize length)
{
	gsize method;
	WpDecodeStatus status = recognise_method(text, length, &method);

	if (status != WP_DECODE_OK)
		return status;
	gsize target = method + 1;
	while (target < length && text[target] == ' ')
		target++;
	if (method != 7 || memcmp(text, "CONNECT", 7) != 0)
		status = recognise_target(text + target, length - target);
	return status == WP_DECODE_OK ? recognise_line(text, length) : status;
}

static WpDecodeStatus
recognise_response(const char *text, gsize length)
{
	static const char start[] = "HTTP/1.";
	gsize n = MIN(length, sizeof start - 1);

	if (memcmp(text, start, n) != 0)
		return WP_DECODE_BAD;
	if (length < 13)
		return WP_DECODE_MORE;
	gsize line = text[12] == '\r' || text[12] == '\n' ? 12 : 13;
	return wp_http1_parse_status(text, line) ? WP_DECODE_OK : WP_DECODE_BAD;
}

WpDecodeStatus
wp_http1_recognise(WpDirection direction, const WpBytes *in)
{
	const char *text = (const char *)in->data + in->at;
	gsize length = wp_bytes_left(in);
	return direction == WP_FROM_CLIENT ? recognise_request(text, length)
					   : recognise_response(text, length);
}

/* --- fields --- */

/* WANTED is in small letters. */
static inline gboolean
is_same(const char *text, const char *wanted, gsize n)
{
	gsize i = 0;
	while (i < n && small(text[i]) == wanted[i])
		i++;
	return i == n;
}

/* WANTED is a literal, so that its length is known and most comparisons end with the lengths. */
#define is_text(text, length, wanted)                                                              \
	((length) == sizeof(wanted) - 1 && is_same(text, wanted, sizeof(wanted) - 1))

/* The name of a field as it was written; all its bytes are those of tokens. */
typedef struct {
	const char *text;
	gsize length;
} Name;

/* Eight bytes of a token, capitals as small letters; '-' and digits have that bit and stay what they are. */
static inline guint64
small_word(const char *text)
{
	guint64 word;

	memcpy(&word, text, sizeof word);
	return word | G_GUINT64_CONSTANT(0x2020202020202020);
}

static inline guint32
small_half(const char *text)
{
	guint32 half;

	memcpy(&half, text, sizeof half);
	return half | 0x20202020;
}

/* By words, the last of which may overlap the one before. WANTED is of small letters and '-', N at least 4. */
static inline gboolean
is_same_name(const char *text, const char *wanted, gsize n)
{
	if (n < 8)
		return small_half(text) == small_half(wanted) &&
		       small_half(text + n - 4) == small_half(wanted + n - 4);
	for (gsize at = 0; at + 8 < n; at += 8)
		if (small_word(text + at) != small_word(wanted + at))
			return FALSE;
	return small_word(text + n - 8) == small_word(wanted + n - 8);
}

#define is_name(name, wanted)                                                                      \
	((name)->length == sizeof(wanted) - 1 &&                                                   \
	 is_same_name((name)->text, wanted, sizeof(wanted) - 1))

/* Reads the name in front of LINE, whose end stops it: that is no byte of a token. Returns what follows it. */
static inline const char *
read_name(const WpHttp1Line *line, Name *out)
{
	const char *at = line->data;

	g_assert(line->bytes > line->length && at[line->bytes - 1] == '\n');
	while (is_token_byte(*at))
		at++;
	*out = (Name){ line->data, (gsize)(at - line->data) };
	return at;
}

static inline gboolean
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static inline void
trim(const char **text, gsize *length)
{
	const char *start = *text, *end = start + *length;

	while (start < end && is_blank(*start))
		start++;
	while (start < end && is_blank(end[-1]))
		end--;
	*text = start;
	*length = (gsize)(end - start);
}

/* The next of a list with commas, trimmed; FALSE at its end. */
static gboolean
next_of_list(const char **list, gsize *left, const char **out_item, gsize *out_length)
{
	if (*left == 0)
		return FALSE;
	const char *comma = memchr(*list, ',', *left);
	gsize n = comma ? (gsize)(comma - *list) : *left;
	*out_item = *list;
	*out_length = n;
	trim(out_item, out_length);
	gsize gone = comma ? n + 1 : n;
	*list += gone;
	*left -= gone;
	return TRUE;
}

static gboolean
parse_number(const char *text, gsize length, guint base, guint64 *out_number)
{
	guint64 number = 0;
	for (gsize i = 0; i < length; i++) {
		guint digit = (guint8)text[i] - (guint)'0';
		if (digit > 9 && base > 10 && small(text[i]) >= 'a')
			digit = (guint8)small(text[i]) - (guint)'a' + 10;
		if (digit >= base)
			return FALSE;
		number = number * base + digit;
		if (number > MAX_LENGTH)
			return FALSE;
	}
	*out_number = number;
	return length > 0;
}

gboolean
wp_http1_parse_chunk_size(const WpHttp1Line *line, guint64 *out_size)
{
	const char *size = line->data;
	const char *extension = memchr(size, ';', line->length);
	gsize length = extension ? (gsize)(extension - size) : line->length;

	trim(&size, &length);
	return parse_number(size, length, 16, out_size);
}

/* Lengths that agree are one: RFC 9110 section 8.6. */
static void
note_length(WpHttp1Head *head, const char *value, gsize length)
{
	const char *item;
	gsize n;
	guint64 number;

	while (next_of_list(&value, &length, &item, &n)) {
		if (!parse_number(item, n, 10, &number))
			head->is_garbled = TRUE;
		else if (head->has_length && number != head->length)
			head->is_conflicting = TRUE;
		else
			head->has_length = TRUE, head->length = number;
	}
}

/* The last coding decides: RFC 9112 section 6.1. "identity" is of RFC 2616 and means none. */
static void
note_coding(WpHttp1Head *head, const char *value, gsize length)
{
	const char *item;
	gsize n;

	while (next_of_list(&value, &length, &item, &n)) {
		if (n == 0 || is_text(item, n, "identity"))
			continue;
		head->has_coding = TRUE;
		head->is_chunked = is_text(item, n, "chunked");
	}
}

static void
note_content_type(WpHttp1Head *head, WpMessage *message, const char *value, gsize length)
{
	head->is_events = head->code && wp_http_is_event_stream(value, length);
	if (head->is_events)
		message->marks |= WP_MARK_WAIT;
	head->is_binary |= wp_http_is_binary_type(value, length);
}

static void
note_framing(WpHttp1Head *head, Field field, const char *value, gsize length)
{
	head->field = field;
	if (field == FIELD_LENGTH)
		note_length(head, value, length);
	else if (field == FIELD_CODING)
		note_coding(head, value, length);
}

/* LINE begins with the name as it was written. */
static void
note_request_field(WpDecodeContext *context, WpHttp1Head *head, WpMessage *message,
		   const Name *name, const char *line, const char *value, gsize length)
{
	if (is_name(name, "host") && !head->is_proxied)
		wp_http_name_server(context, value, length);
	else if (is_name(name, "expect"))
		head->expects = is_text(value, length, "100-continue");
	else if (is_name(name, "accept"))
		message->marks |= is_text(value, length, "text/event-stream") ? WP_MARK_WAIT : 0;
	else if (is_name(name, "content-encoding"))
		head->is_binary |= !is_text(value, length, "identity");
	else
		wp_http_scan_field(context, message, line, name->length, value, length);
}

static void
note_upgrade(WpHttp1Head *head, const char *value, gsize length)
{
	head->is_http2 = is_text(value, length, "h2c");
	head->is_websocket = is_text(value, length, "websocket");
}

/* One header or trailer line that is not empty. RFC 9112 section 5. */
gboolean
wp_http1_note_field(WpDecodeContext *context, WpHttp1Head *head, WpMessage *message,
		    const WpHttp1Line *line)
{
	const char *value = line->data, *end = value + line->length;
	gsize length = line->length;
	Name name;

	if (is_blank(value[0])) { /* obs-fold, section 5.2 */
		trim(&value, &length);
		note_framing(head, head->field, value, length);
		return TRUE;
	}
	value = read_name(line, &name);
	while (value < end && is_blank(*value))
		value++;
	if (value == end || *value != ':')
		return FALSE;
	value++;
	length = (gsize)(end - value);
	trim(&value, &length);
	head->field = FIELD_OTHER;
	if (is_name(&name, "content-length"))
		note_framing(head, FIELD_LENGTH, value, length);
	else if (is_name(&name, "transfer-encoding"))
		note_framing(head, FIELD_CODING, value, length);
	else if (is_name(&name, "content-type"))
		note_content_type(head, message, value, length);
	else if (is_name(&name, "upgrade"))
		note_upgrade(head, value, length);
	else if (head->code && is_name(&name, "content-encoding"))
		head->is_packed = !is_text(value, length, "identity");
	else if (!head->code)
		note_request_field(context, head, message, &name, line->data, value, length);
	return name.length > 0;
}

/* "GET /" at the start of a packet is enough; whether it goes on as a request decode() will see. */
gboolean
wp_http1_is_common_request(const WpBytes *in)
{
	static const char *const starts[] = { "GET /",    "POST /",  "PUT /",    "HEAD /",
					      "DELETE /", "PATCH /", "OPTIONS /" };
	for (gsize i = 0; i < G_N_ELEMENTS(starts); i++)
		if (wp_bytes_starts(in, starts[i], strlen(starts[i])))
			return TRUE;
	return FALSE;
}

gboolean
wp_http1_parse_cut_request(const WpBytes *in, WpHttp1Request *out_request)
{
	const char *text = (const char *)in->data;
	gsize method = method_length(text, in->length);
	gsize end = in->length;

	if (recognise_request(text, in->length) != WP_DECODE_MORE || method + 1 >= in->length ||
	    recognise_target(text + method + 1, in->length - method - 1) != WP_DECODE_OK)
		return FALSE;
	if (!memchr(text + method, '?', in->length - method))
		while (text[end - 1] != '/' && text[end - 1] != '*')
			end--;
	*out_request = (WpHttp1Request){ text + method + 1, method, end - method - 1 };
	return TRUE;
}
