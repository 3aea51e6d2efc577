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

typedef enum {
	FIELD_OTHER,
	FIELD_ID,          /* a value that may be passed on */
	FIELD_TRACEPARENT, /* 00-TRACE-PARENT-FLAGS: the trace alone is passed on (W3C trace context) */
	FIELD_B3           /* TRACE-SPAN-SAMPLED-PARENT (B3 propagation, single header) */
} Field;

/* How names end, the first that fits; in lower case. Spans differ from hop to hop. */
#define END(text, field)                                                                           \
	{                                                                                          \
		text, sizeof(text) - 1, field                                                      \
	}
static const struct {
	const char *text;
	gsize length;
	Field field;
} ends[] = {
	END("spanid", FIELD_OTHER),
	END("websocket-key", FIELD_OTHER),
	END("traceid", FIELD_ID),
	END("-id", FIELD_ID),
	END("-key", FIELD_ID),
	END("-token", FIELD_ID),
	END("-session", FIELD_ID),
	END("-trace", FIELD_ID),
	END("cookie", FIELD_ID),
	END("authorization", FIELD_ID),
	END("x-cloud-trace-context", FIELD_ID),
	END("traceparent", FIELD_TRACEPARENT),
	END("b3", FIELD_B3),
};
#undef END

static Field
classify(const char *name, gsize length)
{
	for (gsize i = 0; i < G_N_ELEMENTS(ends); i++) {
		gsize n = ends[i].length, at = 0;
		if (length < n)
			continue;
		/* Backwards: nearly all differ in the last letter. */
		while (at < n) {
			/* 0x20 makes letters small and leaves '-' and digits as they are. */
			char c = name[length - 1 - at];
			if ((c == '_' ? '-' : c | 0x20) != ends[i].text[n - 1 - at])
				break;
			at++;
		}
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
	case FIELD_TRACEPARENT:
		if (length < 3 + 32)
			return;
		value += 3;
		length = 32;
		break;
	case FIELD_B3:
		dash = memchr(value, '-', length);
		if (dash)
			length = (gsize)(dash - value);
		break;
	case FIELD_ID:
		break;
	}
	wp_decode_tokens(context, message, (const guint8 *)value, MIN(length, WP_HTTP_SCAN_BYTES));
}
