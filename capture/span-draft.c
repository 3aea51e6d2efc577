/* Names of members and tags, and where their values go; see span-draft.h. */
#include "capture/span-draft.h"

#include <string.h>

#include "capture/trace.h"

/* A whole number, or one with decimals or exponent, in units of SCALE ns; -1 where it makes no sense. */
static gint64
to_ns(const char *number, gint64 scale)
{
	guint64 whole;
	if (g_ascii_string_to_unsigned(number, 10, 0, (guint64)(G_MAXINT64 / scale), &whole, NULL))
		return (gint64)whole * scale;
	double value = g_ascii_strtod(number, NULL) * (double)scale;
	return value >= 0 && value < 9e18 ? (gint64)value : -1;
}

static guint64
to_count(const char *number)
{
	gint64 value = to_ns(number, 1);
	return value > 0 ? (guint64)value : 0;
}

static const char *const peer_keys[WP_SPAN_N_PEERS] = {
	"peer.service",
	"server.address",
	"net.peer.name",
	"db.system",
};

/* Where each text of a draft is. */
static const gsize draft_texts[] = {
	offsetof(WpSpanDraft, peer_address), offsetof(WpSpanDraft, peer_port),
	offsetof(WpSpanDraft, trace),        offsetof(WpSpanDraft, id),
	offsetof(WpSpanDraft, parent),       offsetof(WpSpanDraft, parent_trace),
	offsetof(WpSpanDraft, inferred),     offsetof(WpSpanDraft, name),
	offsetof(WpSpanDraft, operation),    offsetof(WpSpanDraft, service),
	offsetof(WpSpanDraft, process),      offsetof(WpSpanDraft, protocol),
	offsetof(WpSpanDraft, peers[0]),     offsetof(WpSpanDraft, peers[1]),
	offsetof(WpSpanDraft, peers[2]),     offsetof(WpSpanDraft, peers[3]),
};

static GString **
draft_text(WpSpanDraft *draft, gsize i)
{
	return &G_STRUCT_MEMBER(GString *, draft, draft_texts[i]);
}

void
wp_span_draft_init(WpSpanDraft *draft)
{
	for (gsize i = 0; i < G_N_ELEMENTS(draft_texts); i++)
		*draft_text(draft, i) = g_string_new(NULL);
}

void
wp_span_draft_clear(WpSpanDraft *draft)
{
	for (gsize i = 0; i < G_N_ELEMENTS(draft_texts); i++)
		g_string_free(*draft_text(draft, i), TRUE);
}

void
wp_span_draft_begin(WpSpanDraft *draft)
{
	for (gsize i = 0; i < G_N_ELEMENTS(draft_texts); i++)
		g_string_truncate(*draft_text(draft, i), 0);
	draft->span = (WpReadSpan){ .status = WP_STATUS_UNKNOWN };
	draft->more = (WpReadSpanMore){ .bytes = { WP_NO_SIZE, WP_NO_SIZE } };
	draft->duration_ns = -1;
	draft->has_more = draft->has_begin = draft->has_status = FALSE;
	draft->exact[0] = draft->exact[1] = -1;
	draft->reference_is_child = FALSE;
}

static void
set_kind(WpSpanDraft *draft, const char *word)
{
	static const char *const names[] = { "",       "INTERNAL", "SERVER",
					     "CLIENT", "PRODUCER", "CONSUMER" };
	if (g_ascii_strncasecmp(word, "SPAN_KIND_", 10) == 0)
		word += 10;
	for (guint8 i = 1; i < G_N_ELEMENTS(names); i++)
		if (g_ascii_strcasecmp(word, names[i]) == 0)
			draft->span.kind = i;
	/* OTLP: the number. */
	if (g_ascii_isdigit(*word) && !word[1] && *word >= '1' && *word <= '5')
		draft->span.kind = (guint8)(*word - '0');
}

static void
set_address(WpSpanDraft *draft, WpEndpoint *endpoint, const char *word)
{
	WpEndpoint parsed;
	if (!wp_endpoint_parse(word, &parsed) || parsed.port)
		return;
	memcpy(endpoint->address, parsed.address, sizeof endpoint->address);
	draft->has_more = TRUE;
}

static void
set_port(WpSpanDraft *draft, WpEndpoint *endpoint, const char *word)
{
	guint64 port = to_count(word);
	endpoint->port = port <= G_MAXUINT16 ? (guint16)port : 0;
	draft->has_more |= endpoint->port != 0;
}

typedef void (*TagFunc)(WpSpanDraft *draft, const char *value);

static void
set_service(WpSpanDraft *draft, const char *value)
{
	g_string_assign(draft->service, value);
}

static gboolean
is_true(const char *value)
{
	return g_ascii_strcasecmp(value, "true") == 0 || strcmp(value, "1") == 0;
}

static void
tag_error(WpSpanDraft *draft, const char *value)
{
	/* Zipkin: whatever it says, but "false". */
	if (!draft->has_status && g_ascii_strcasecmp(value, "false") != 0)
		draft->span.status = WP_STATUS_ERROR;
}

static void
tag_status(WpSpanDraft *draft, const char *value)
{
	WpStatus status;
	if (!wp_status_from_name(value, &status))
		return;
	draft->span.status = (guint8)status;
	draft->has_status = TRUE;
}

static void
tag_operation(WpSpanDraft *draft, const char *value)
{
	g_string_assign(draft->operation, value);
}

static void
tag_parent(WpSpanDraft *draft, const char *value)
{
	g_string_assign(draft->inferred, value);
}

static void
tag_protocol(WpSpanDraft *draft, const char *value)
{
	if (!draft->protocol->len)
		g_string_assign(draft->protocol, value);
}

static void
tag_waits(WpSpanDraft *draft, const char *value)
{
	draft->span.waits = is_true(value);
}

static void
tag_no_return(WpSpanDraft *draft, const char *value)
{
	draft->span.no_return = is_true(value);
}

static void
tag_begin(WpSpanDraft *draft, const char *value)
{
	draft->exact[0] = to_ns(value, 1);
}

static void
tag_end(WpSpanDraft *draft, const char *value)
{
	draft->exact[1] = to_ns(value, 1);
}

static void
tag_client_address(WpSpanDraft *draft, const char *value)
{
	set_address(draft, &draft->more.client, value);
}

static void
tag_client_port(WpSpanDraft *draft, const char *value)
{
	set_port(draft, &draft->more.client, value);
}

static void
tag_peer_address(WpSpanDraft *draft, const char *value)
{
	g_string_assign(draft->peer_address, value);
}

static void
tag_peer_port(WpSpanDraft *draft, const char *value)
{
	g_string_assign(draft->peer_port, value);
}

static void
tag_server_address(WpSpanDraft *draft, const char *value)
{
	set_address(draft, &draft->more.server, value);
}

static void
tag_server_port(WpSpanDraft *draft, const char *value)
{
	set_port(draft, &draft->more.server, value);
}

static void
tag_request_bytes(WpSpanDraft *draft, const char *value)
{
	draft->more.bytes[0] = to_count(value);
	draft->has_more = TRUE;
}

static void
tag_reply_bytes(WpSpanDraft *draft, const char *value)
{
	draft->more.bytes[1] = to_count(value);
	draft->has_more = TRUE;
}

static void
tag_request_packet(WpSpanDraft *draft, const char *value)
{
	draft->more.packets[0] = to_count(value);
	draft->has_more = TRUE;
}

static void
tag_reply_packet(WpSpanDraft *draft, const char *value)
{
	draft->more.packets[1] = to_count(value);
	draft->has_more = TRUE;
}

static void
tag_request_ns(WpSpanDraft *draft, const char *value)
{
	draft->more.request_ns = MAX(to_ns(value, 1), 0);
	draft->has_more = TRUE;
}

static void
tag_reply_ns(WpSpanDraft *draft, const char *value)
{
	draft->more.reply_ns = MAX(to_ns(value, 1), 0);
	draft->has_more = TRUE;
}

static void
tag_input(WpSpanDraft *draft, const char *value)
{
	guint64 tap = to_count(value);
	draft->more.tap = (guint8)MIN(tap, G_MAXUINT8);
}

/* What is taken of tags; names of peers beside them. */
static const struct {
	const char *key;
	TagFunc func;
} tags[] = {
	{ "span.kind", set_kind },
	{ "service.name", set_service },
	{ "error", tag_error },
	{ "network.protocol.name", tag_protocol },
	{ "rpc.system", tag_protocol },
	{ "db.system", tag_protocol },
	{ "client.address", tag_client_address },
	{ "client.port", tag_client_port },
	{ "network.peer.address", tag_peer_address },
	{ "network.peer.port", tag_peer_port },
	{ "net.sock.peer.addr", tag_peer_address },
	{ "net.sock.peer.port", tag_peer_port },
	{ "net.peer.ip", tag_peer_address },
	{ "net.peer.port", tag_peer_port },
	{ "server.address", tag_server_address },
	{ "server.port", tag_server_port },
	{ "wirepath.operation", tag_operation },
	{ "wirepath.parent", tag_parent },
	{ "wirepath.status", tag_status },
	{ "wirepath.waits", tag_waits },
	{ "wirepath.no_return", tag_no_return },
	{ "wirepath.begin.ns", tag_begin },
	{ "wirepath.end.ns", tag_end },
	{ "wirepath.request.bytes", tag_request_bytes },
	{ "wirepath.request.ns", tag_request_ns },
	{ "wirepath.request.packet", tag_request_packet },
	{ "wirepath.reply.bytes", tag_reply_bytes },
	{ "wirepath.reply.ns", tag_reply_ns },
	{ "wirepath.reply.packet", tag_reply_packet },
	{ "wirepath.input", tag_input },
};

void
wp_span_draft_tag(WpSpanDraft *draft, const char *key, const char *value)
{
	for (gsize i = 0; i < G_N_ELEMENTS(tags); i++)
		if (strcmp(tags[i].key, key) == 0)
			tags[i].func(draft, value);
	for (gsize i = 0; i < G_N_ELEMENTS(peer_keys); i++)
		if (strcmp(peer_keys[i], key) == 0)
			g_string_assign(draft->peers[i], value);
}

/* The kind of the span, which says which end the peer is, may come after the tags. */
void
wp_span_draft_settle_peer(WpSpanDraft *draft)
{
	WpSpanKind kind = draft->span.kind;
	gboolean is_server = kind == WP_SPAN_SERVER || kind == WP_SPAN_CONSUMER;
	WpEndpoint *end = is_server ? &draft->more.client : &draft->more.server;
	/* client.address may be that of a browser behind a proxy: the other end of the connection is the peer. */
	if (!draft->peer_address->len || !draft->peer_port->len || kind == WP_SPAN_UNTOLD)
		return;
	set_address(draft, end, draft->peer_address->str);
	set_port(draft, end, draft->peer_port->str);
}

gboolean
wp_span_draft_settle_times(WpSpanDraft *draft)
{
	WpReadSpan *span = &draft->span;
	if (draft->exact[0] >= 0 && draft->exact[1] >= draft->exact[0]) {
		span->begin_ns = draft->exact[0];
		span->end_ns = draft->exact[1];
		return TRUE;
	}
	if (!draft->has_begin || span->begin_ns < 0)
		return FALSE;
	if (draft->duration_ns >= 0 && draft->duration_ns < G_MAXINT64 - span->begin_ns)
		span->end_ns = span->begin_ns + draft->duration_ns;
	span->end_ns = MAX(span->end_ns, span->begin_ns);
	return TRUE;
}

static void
set_begin_ns(WpSpanDraft *draft, const char *value)
{
	draft->span.begin_ns = to_ns(value, 1);
	draft->has_begin = TRUE;
}

static void
set_end_ns(WpSpanDraft *draft, const char *value)
{
	draft->span.end_ns = to_ns(value, 1);
}

static void
set_begin_us(WpSpanDraft *draft, const char *value)
{
	draft->span.begin_ns = to_ns(value, 1000);
	draft->has_begin = TRUE;
}

static void
set_duration_us(WpSpanDraft *draft, const char *value)
{
	draft->duration_ns = to_ns(value, 1000);
}

/* Members of a span in all forms, whose values are texts or numbers: where they go to. */
static const struct {
	const char *key;
	gsize offset; /* of a text; 0 = FUNC */
	TagFunc func;
} members[] = {
	{ "traceId", offsetof(WpSpanDraft, trace), NULL },
	{ "traceID", offsetof(WpSpanDraft, trace), NULL },
	{ "spanId", offsetof(WpSpanDraft, id), NULL },
	{ "spanID", offsetof(WpSpanDraft, id), NULL },
	{ "id", offsetof(WpSpanDraft, id), NULL },
	{ "parentSpanId", offsetof(WpSpanDraft, parent), NULL },
	{ "parentSpanID", offsetof(WpSpanDraft, parent), NULL },
	{ "parentId", offsetof(WpSpanDraft, parent), NULL },
	{ "name", offsetof(WpSpanDraft, name), NULL },
	{ "operationName", offsetof(WpSpanDraft, name), NULL },
	{ "processID", offsetof(WpSpanDraft, process), NULL },
	{ "kind", 0, set_kind },
	{ "startTimeUnixNano", 0, set_begin_ns },
	{ "endTimeUnixNano", 0, set_end_ns },
	{ "startTime", 0, set_begin_us },
	{ "timestamp", 0, set_begin_us },
	{ "duration", 0, set_duration_us },
};

static gint
find_member(const char *key)
{
	for (gsize i = 0; i < G_N_ELEMENTS(members); i++)
		if (strcmp(members[i].key, key) == 0)
			return (gint)i;
	return -1;
}

gboolean
wp_span_draft_knows(const char *key)
{
	return find_member(key) >= 0;
}

void
wp_span_draft_set(WpSpanDraft *draft, const char *key, const char *value)
{
	gint i = find_member(key);
	if (members[i].func)
		members[i].func(draft, value);
	else
		g_string_assign(G_STRUCT_MEMBER(GString *, draft, members[i].offset), value);
}
