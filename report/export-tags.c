/* Keys and values of a call; see export-tags.h. */
#include "report/export-tags.h"

typedef struct {
	WpTagFunc func;
	gpointer data;
} Teller;

static void
tell_text(const Teller *teller, const char *key, const char *text)
{
	const WpTag tag = { .key = key, .kind = WP_TAG_TEXT, .text = text };
	if (*text)
		teller->func(&tag, teller->data);
}

static void
tell_int(const Teller *teller, const char *key, gint64 number)
{
	const WpTag tag = { .key = key, .kind = WP_TAG_INT, .number = number };
	teller->func(&tag, teller->data);
}

static void
tell_known(const Teller *teller, const char *key, guint64 number)
{
	if (number)
		tell_int(teller, key, (gint64)MIN(number, (guint64)G_MAXINT64));
}

static void
tell_bool(const Teller *teller, const char *key, gboolean value)
{
	const WpTag tag = { .key = key, .kind = WP_TAG_BOOL, .number = value };
	teller->func(&tag, teller->data);
}

/* Decimals beyond the fourth mean nothing, and differ between machines. */
static void
tell_probability(const Teller *teller, const char *key, double value)
{
	const WpTag tag = { .key = key,
			    .kind = WP_TAG_NUMBER,
			    .real = (guint)(CLAMP(value, 0, 1) * 10000 + 0.5) / 10000.0 };
	teller->func(&tag, teller->data);
}

static void
tell_link(const Teller *teller, const WpExportCall *call)
{
	char trace[WP_EXPORT_ID_MAX], span[WP_EXPORT_ID_MAX], both[2 * WP_EXPORT_ID_MAX];
	tell_bool(teller, "wirepath.inferred",
		  !call->sent_parent && !call->is_measured && call->parent != WP_EXPORT_NONE);
	if (call->inferred) {
		g_snprintf(both, sizeof both, "%s-%s",
			   wp_export_trace_id(call->inferred_trace, trace),
			   wp_export_span_id(call->inferred, span));
		tell_text(teller, "wirepath.parent", both);
	}
	if (call->probability >= 0)
		tell_probability(teller, "wirepath.confidence", call->probability);
	tell_text(teller, "wirepath.evidence", call->evidence);
	tell_known(teller, "wirepath.candidates", call->n_candidates);
}

static void
tell_messages(const Teller *teller, const WpExportCall *call)
{
	if (call->bytes[0] != WP_NO_SIZE)
		tell_int(teller, "wirepath.request.bytes", (gint64)call->bytes[0]);
	if (call->bytes[1] != WP_NO_SIZE)
		tell_int(teller, "wirepath.reply.bytes", (gint64)call->bytes[1]);
	tell_known(teller, "wirepath.request.ns", (guint64)call->request_ns);
	tell_known(teller, "wirepath.reply.ns", (guint64)call->reply_ns);
	if (call->packets[0])
		tell_int(teller, "wirepath.input", call->tap);
	tell_known(teller, "wirepath.request.packet", call->packets[0]);
	tell_known(teller, "wirepath.reply.packet", call->packets[1]);
}

void
wp_export_tags(const WpExportCall *call, gboolean rounds, WpTagFunc func, gpointer data)
{
	const Teller teller = { func, data };
	tell_text(&teller, "peer.service", call->caller);
	tell_text(&teller, "client.address", call->client);
	tell_known(&teller, "client.port", call->client_port);
	tell_text(&teller, "server.address", call->server);
	tell_known(&teller, "server.port", call->server_port);
	tell_text(&teller, "network.protocol.name", call->protocol);
	tell_text(&teller, "wirepath.operation", call->label);
	tell_text(&teller, "wirepath.status", call->status);
	if (call->is_error)
		tell_bool(&teller, "error", TRUE);
	tell_link(&teller, call);
	if (call->has_end)
		tell_int(&teller, "wirepath.self.ns", call->self_ns);
	else if (!call->is_one_way)
		tell_bool(&teller, "wirepath.no_return", TRUE);
	if (call->waits)
		tell_bool(&teller, "wirepath.waits", TRUE);
	tell_messages(&teller, call);
	if (!rounds)
		return;
	tell_int(&teller, "wirepath.begin.ns", call->begin_ns);
	tell_int(&teller, "wirepath.end.ns", call->end_ns);
}

const char *
wp_export_span_id(guint64 id, char buffer[WP_EXPORT_ID_MAX])
{
	g_snprintf(buffer, WP_EXPORT_ID_MAX, "%016" G_GINT64_MODIFIER "x", id);
	return buffer;
}

const char *
wp_export_trace_id(WpExportTraceId id, char buffer[WP_EXPORT_ID_MAX])
{
	g_snprintf(buffer, WP_EXPORT_ID_MAX, "%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x",
		   id.high, id.low);
	return buffer;
}
