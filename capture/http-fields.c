/* Status codes (RFC 9110 section 15), labels and identifying fields of HTTP requests. */
#include "capture/http-fields.h"

#include <string.h>

#include "capture/label.h"

WpStatus
wp_http_status(guint code)
{
	if (code == 408 || code == 504)
		return WP_STATUS_TIMEOUT;
	return code >= 400 ? WP_STATUS_ERROR : WP_STATUS_OK;
}

guint32
wp_http_label(WpDecodeContext *context, const char *method, gsize method_length, const char *target,
	      gsize target_length)
{
	char label[WP_LABEL_MAX + 1];
	gsize n = MIN(method_length, WP_LABEL_MAX / 3);

	for (gsize i = 0; i < n; i++)
		label[i] = g_ascii_isgraph(method[i]) ? method[i] : '?';
	label[n++] = ' ';
	n += wp_label_path(target, target_length, label + n, sizeof label - n);
	return wp_decode_label(context, label, n);
}

guint32
wp_http_label_tunnel(WpDecodeContext *context, const char *target, gsize length)
{
	char label[WP_LABEL_MAX + 1] = "CONNECT ";
	gsize n = strlen(label), port = 0;

	while (port < length && port <= 5 && g_ascii_isdigit(target[length - 1 - port]))
		port++;
	gboolean has_port = port && port <= 5 && port < length && target[length - 1 - port] == ':';
	gsize host = has_port ? length - 1 - port : length;
	n += wp_label_name(target, host, label + n, sizeof label - n - sizeof ":65535");
	if (has_port) {
		memcpy(label + n, target + host, port + 1);
		n += port + 1;
	}
	return wp_decode_label(context, label, n);
}

gboolean
wp_http_target_waits(const char *target, gsize length)
{
	static const char *const waits[] = { "watch=true",        "watch=1",
					     "wait=true",         "feed=longpoll",
					     "feed=continuous",   "feed=eventsource",
					     "transport=polling", "transport=longPolling" };
	const char *query = memchr(target, '?', length);
	const char *end = target + length;

	while (query && ++query < end) {
		const char *next = memchr(query, '&', (gsize)(end - query));
		gsize n = (gsize)((next ? next : end) - query);
		for (gsize i = 0; i < G_N_ELEMENTS(waits); i++)
			if (strlen(waits[i]) == n && memcmp(waits[i], query, n) == 0)
				return TRUE;
		query = next;
	}
	return FALSE;
}

/* WANTED is in small letters. */
static inline gboolean
starts_with(const char *text, gsize length, const char *wanted)
{
	gsize n = strlen(wanted), i = 0;

	if (length < n)
		return FALSE;
	while (i < n && (g_ascii_isupper(text[i]) ? text[i] | 0x20 : text[i]) == wanted[i])
		i++;
	return i == n;
}

gboolean
wp_http_is_event_stream(const char *type, gsize length)
{
	return starts_with(type, length, "text/event-stream");
}

/* Whether TYPE begins with "application/", as most do. 0x20 makes letters small. */
#define APPLICATION_BYTES 12
static inline gboolean
is_application(const char *type, gsize length)
{
	static const char wanted[] = "application/";
	static const guint8 letters[4] = { 0x20, 0x20, 0x20, 0 };
	guint64 front, wanted_front;
	guint32 rest, wanted_rest, mask;

	if (length < APPLICATION_BYTES)
		return FALSE;
	memcpy(&front, type, sizeof front);
	memcpy(&wanted_front, wanted, sizeof front);
	memcpy(&rest, type + sizeof front, sizeof rest);
	memcpy(&wanted_rest, wanted + sizeof front, sizeof rest);
	memcpy(&mask, letters, sizeof mask);
	return (front | G_GUINT64_CONSTANT(0x2020202020202020)) == wanted_front &&
	       (rest | mask) == wanted_rest;
}

gboolean
wp_http_is_binary_type(const char *type, gsize length)
{
	if (is_application(type, length)) {
		type += APPLICATION_BYTES;
		length -= APPLICATION_BYTES;
		return starts_with(type, length, "octet-stream") ||
		       starts_with(type, length, "zip") || starts_with(type, length, "gzip") ||
		       starts_with(type, length, "x-protobuf") || starts_with(type, length, "pdf");
	}
	return starts_with(type, length, "image/") || starts_with(type, length, "video/") ||
	       starts_with(type, length, "audio/") || starts_with(type, length, "font/");
}

/* What a byte is in the name of a host: 0 = none of it, 1 = part of it, 3 = a letter. */
#define LETTERS 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3
static const guint8 host_bytes[256] = {
	['-'] = 1,       ['.'] = 1, ['0'] = 1,       1, 1, 1, 1, 1, 1, 1, 1, 1,
	['A'] = LETTERS, ['_'] = 1, ['a'] = LETTERS,
};

void
wp_http_name_server(WpDecodeContext *context, const char *host, gsize length)
{
	const char *colon = memchr(host, ':', length);
	guint8 seen = 0, class;

	if (colon)
		length = (gsize)(colon - host);
	for (gsize i = 0; i < length; i++, seen |= class)
		if (!(class = host_bytes[(guint8)host[i]]))
			return;
	if (seen == 3 && !(length == strlen("localhost") && starts_with(host, length, "localhost")))
		wp_decode_name_server(context, WP_NAME_HTTP_HOST, host, length);
}

typedef enum {
	FIELD_OTHER,
	FIELD_VALUE,       /* a value that may be passed on */
	FIELD_ID,          /* the same, of this request alone */
	FIELD_TRACEPARENT, /* 00-TRACE-PARENT-FLAGS: the trace alone is passed on (trace-context.h) */
	FIELD_B3,          /* TRACE-SPAN-SAMPLED-PARENT (B3 propagation, single header) */
	FIELD_SW8          /* 1-TRACE-...: (SkyWalking cross process propagation headers, 3.0) */
} Field;

/*
 * How names end, the first that fits; in lower case. Spans differ from hop to hop. The last two letters
 * stand apart, as they tell nearly always that a name is none of these.
 */
#define ENDS(END)                                                                                  \
	END("spanid", FIELD_OTHER)                                                                 \
	END("websocket-key", FIELD_OTHER)                                                          \
	END("traceid", FIELD_ID)                                                                   \
	END("-id", FIELD_ID)                                                                       \
	END("-key", FIELD_VALUE)                                                                   \
	END("-token", FIELD_VALUE)                                                                 \
	END("-session", FIELD_VALUE)                                                               \
	END("-trace", FIELD_ID)                                                                    \
	END("cookie", FIELD_VALUE)                                                                 \
	END("authorization", FIELD_VALUE)                                                          \
	END("x-cloud-trace-context", FIELD_ID)                                                     \
	END("traceparent", FIELD_TRACEPARENT)                                                      \
	END("b3", FIELD_B3)                                                                        \
	END("sw8", FIELD_SW8)
#define LAST(a, b)            ((guint16)((guint8)(a) << 8 | (guint8)(b)))
#define LAST_OF(text, field)  LAST(text[sizeof(text) - 3], text[sizeof(text) - 2]),
#define WHOLE_OF(text, field) { text, sizeof(text) - 1, field },
static const guint16 lasts[16] = { ENDS(LAST_OF) }; /* zeros behind them are no letters */
static const struct {
	const char *text;
	gsize length;
	Field field;
} ends[] = { ENDS(WHOLE_OF) };

/* 0x20 makes letters small and leaves '-' and digits as they are. */
static inline guint8
plain(char c)
{
	return c == '_' ? '-' : (guint8)c | 0x20;
}

/* All at once, as compilers make it. */
static inline gboolean
is_last(guint16 last)
{
	guint16 any = 0;

	for (gsize i = 0; i < G_N_ELEMENTS(lasts); i++)
		any |= lasts[i] == last;
	return any;
}

static Field
classify(const char *name, gsize length)
{
	if (length < 2)
		return FIELD_OTHER;
	guint16 last = LAST(plain(name[length - 2]), plain(name[length - 1]));
	if (!is_last(last))
		return FIELD_OTHER;
	for (gsize i = 0; i < G_N_ELEMENTS(ends); i++) {
		gsize n = ends[i].length, at = 0;
		if (lasts[i] != last || length < n)
			continue;
		while (at < n && plain(name[length - n + at]) == ends[i].text[at])
			at++;
		if (at == n)
			return ends[i].field;
	}
	return FIELD_OTHER;
}

void
wp_http_scan_field(WpDecodeContext *context, WpMessage *message, const char *name,
		   gsize name_length, const char *value, gsize length)
{
	const char *dash;

	switch (classify(name, name_length)) {
	case FIELD_OTHER:
		return;
	case FIELD_VALUE:
		wp_decode_tokens(context, message, (const guint8 *)value,
				 MIN(length, WP_HTTP_SCAN_BYTES));
		return;
	case FIELD_TRACEPARENT:
		if (!message->context.parent)
			wp_trace_context_parse(value, length, &message->context);
		if (length < 3 + 32)
			return;
		value += 3;
		length = 32;
		break;
	case FIELD_SW8:
		if (length < 2)
			return;
		value += 2;
		length -= 2;
		/* fall through */
	case FIELD_B3:
		dash = memchr(value, '-', length);
		if (dash)
			length = (gsize)(dash - value);
		break;
	case FIELD_ID:
		break;
	}
	wp_decode_ids(context, message, (const guint8 *)value, MIN(length, WP_HTTP_SCAN_BYTES));
}
