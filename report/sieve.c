/*
 * A return is judged by the same fields as its call, with the ends exchanged, so both pass or neither.
 */
#include "report/sieve.h"

#include "capture/trace-io.h"
#include "report/error.h"

struct WpSieve {
	WpRecordSink sink;
	WpRecordSink *next;
	const WpNames *names; /* NULL = none */
	const WpWhere *where;
	WpNodes *nodes;
	WpCounters *counters;
};

static const WpOption table[] = {
	{ .name = "where",
	  .kind = WP_OPT_TEXT,
	  .offset = 0,
	  .argument = "EXPR",
	  .help = "only calls, with their returns, for which this holds:\n\"dst == db && label ~ "
		  "SELECT*\"; see --list-fields" },
	{ .name = "list-fields",
	  .kind = WP_OPT_ACTION,
	  .action = wp_where_list_fields,
	  .help = "fields and operators of --where" },
	{ .name = NULL },
};

void
wp_sieve_declare(WpOptions *parser, const char **target)
{
	wp_options_add(parser, "Calls", table, target);
}

WpWhere *
wp_sieve_where(const char *text, GError **error)
{
	g_autoptr(WpWhere) where = wp_where_new(text, error);
	const char *field = where ? wp_where_needs_return(where) : NULL;
	if (!field)
		return g_steal_pointer(&where);
	g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
		    "--where: %s is not known yet when a call is passed on\nuse it with report or "
		    "calls",
		    field);
	return NULL;
}

static gboolean
fits(const WpSieve *sieve, const WpRecord *record)
{
	char src[WP_ENDPOINT_TEXT_MAX] = "", dst[WP_ENDPOINT_TEXT_MAX] = "";
	gboolean is_return = record->kind == WP_KIND_RETURN;
	const WpEndpoint *from = is_return ? &record->dst : &record->src;
	const WpEndpoint *to = is_return ? &record->src : &record->dst;
	WpWhereCall call = {
		.src = wp_nodes_key(sieve->nodes, is_return ? record->receiver : record->sender),
		.src_address = src,
		.dst = wp_nodes_key(sieve->nodes, is_return ? record->sender : record->receiver),
		.dst_address = dst,
		.label = wp_nodes_text(sieve->nodes, record->label),
		.protocol = wp_nodes_text(sieve->nodes, record->protocol),
		.status = "",
		.src_port = from->port,
		.dst_port = to->port,
		.latency_ns = WP_NO_TIME,
		.bytes_call = WP_NO_SIZE,
		.bytes_return = WP_NO_SIZE,
		.is_setup = (record->marks & WP_MARK_SETUP) != 0,
		.is_one_way = record->kind == WP_KIND_MESSAGE,
	};
	if (wp_endpoint_is_known(from))
		wp_address_text(from->address, src, sizeof src);
	if (wp_endpoint_is_known(to))
		wp_address_text(to->address, dst, sizeof dst);
	return wp_where_matches(sieve->where, &call);
}

static gboolean
on_begin(WpRecordSink *sink, WpNodes *nodes, GError **error)
{
	WpSieve *sieve = (WpSieve *)sink;
	wp_nodes_ref(nodes);
	g_clear_pointer(&sieve->nodes, wp_nodes_unref);
	sieve->nodes = nodes;
	return wp_sink_begin(sieve->next, nodes, error);
}

static gboolean
on_setting(WpRecordSink *sink, const char *key, const char *value, GError **error)
{
	return wp_sink_setting(((WpSieve *)sink)->next, key, value, error);
}

static gboolean
on_record(WpRecordSink *sink, const WpRecord *record, const guint32 *tokens, GError **error)
{
	WpSieve *sieve = (WpSieve *)sink;
	if (sieve->where && !fits(sieve, record))
		return TRUE;
	return wp_sink_record(sieve->next, record, tokens, error);
}

static gboolean
on_counters(WpRecordSink *sink, const WpCounters *counters, GError **error)
{
	WpSieve *sieve = (WpSieve *)sink;
	wp_counters_merge(sieve->counters, counters);
	return wp_sink_counters(sieve->next, counters, error);
}

static gboolean
on_counted(WpRecordSink *sink, const WpCounters *counters, GError **error)
{
	return wp_sink_counted(((WpSieve *)sink)->next, counters, error);
}

/* What is known of nodes is written last. */
static void
name_nodes(const WpSieve *sieve)
{
	for (guint32 i = 0; sieve->names && i < wp_nodes_count(sieve->nodes); i++) {
		const guint8 *address = wp_nodes_address(sieve->nodes, i);
		const char *name = address ? wp_names_find(sieve->names, address, 0) : NULL;
		if (name)
			wp_nodes_add_hint(sieve->nodes, i, WP_NAME_FILE, name, -1);
	}
}

static gboolean
on_end(WpRecordSink *sink, GError **error)
{
	name_nodes((WpSieve *)sink);
	return wp_sink_end(((WpSieve *)sink)->next, error);
}

static const WpRecordSinkOps sieve_ops = { on_begin,    on_setting, on_record,
					   on_counters, on_end,     on_counted };

WpSieve *
wp_sieve_new(WpRecordSink *next, const WpWhere *where)
{
	WpSieve *sieve = g_new0(WpSieve, 1);
	sieve->sink.ops = &sieve_ops;
	sieve->next = next;
	sieve->where = where;
	sieve->counters = wp_counters_new();
	return sieve;
}

void
wp_sieve_set_names(WpSieve *sieve, const WpNames *names)
{
	sieve->names = names;
}

void
wp_sieve_free(WpSieve *sieve)
{
	if (!sieve)
		return;
	g_clear_pointer(&sieve->nodes, wp_nodes_unref);
	wp_counters_free(sieve->counters);
	g_free(sieve);
}

WpRecordSink *
wp_sieve_sink(WpSieve *sieve)
{
	return &sieve->sink;
}

const WpCounters *
wp_sieve_counters(const WpSieve *sieve)
{
	return sieve->counters;
}

int
wp_sieve_load(WpSieve *sieve, const WpInvocation *invocation, const WpLoadOptions *options,
	      WpRecordSink *writer, GError **error)
{
	g_auto(WpLoadOutcome) outcome = { 0 };
	g_autoptr(WpNodes) nodes = wp_nodes_new();

	if (!wp_load_stream(invocation, options, nodes, &sieve->sink, &outcome, error)) {
		wp_trace_writer_stop(writer, error);
		return -1;
	}
	return wp_load_status(invocation, options, &outcome, sieve->counters, error);
}
