/* The fields of a call. */
#include "report/where.h"

#include "capture/record.h"

/* What is known only with the return. */
#define NEEDS_RETURN 1u

static gboolean
get_port(gconstpointer subject, gint64 *out_value)
{
	const WpWhereCall *call = subject;

	*out_value = call->dst_port;
	return call->dst_port != 0;
}

static gboolean
get_latency(gconstpointer subject, gint64 *out_value)
{
	const WpWhereCall *call = subject;

	*out_value = call->latency_ns;
	return call->latency_ns != WP_NO_TIME;
}

static gboolean
get_bytes_call(gconstpointer subject, gint64 *out_value)
{
	const WpWhereCall *call = subject;

	*out_value = (gint64)MIN(call->bytes_call, G_MAXINT64);
	return call->bytes_call != WP_NO_SIZE;
}

static gboolean
get_bytes_return(gconstpointer subject, gint64 *out_value)
{
	const WpWhereCall *call = subject;

	*out_value = (gint64)MIN(call->bytes_return, G_MAXINT64);
	return call->bytes_return != WP_NO_SIZE;
}

/* Both directions together, as far as known. */
static gboolean
get_bytes(gconstpointer subject, gint64 *out_value)
{
	gint64 there, back;
	if (!get_bytes_call(subject, &there))
		return FALSE;
	if (!get_bytes_return(subject, &back))
		back = 0;
	*out_value = there > G_MAXINT64 - back ? G_MAXINT64 : there + back;
	return TRUE;
}

static gboolean
get_setup(gconstpointer subject, gint64 *out_value)
{
	const WpWhereCall *call = subject;

	*out_value = call->is_setup;
	return TRUE;
}

static gboolean
get_wait(gconstpointer subject, gint64 *out_value)
{
	const WpWhereCall *call = subject;

	*out_value = call->waits;
	return TRUE;
}

static gboolean
get_one_way(gconstpointer subject, gint64 *out_value)
{
	const WpWhereCall *call = subject;

	*out_value = call->is_one_way;
	return TRUE;
}

#define AT(member) offsetof(WpWhereCall, member)

static const WpExpressionField fields[] = {
	{ .name = "src",
	  .kind = WP_FIELD_TEXT,
	  .help = "node that calls, by name or address",
	  .offsets = { AT(src), AT(src_address) } },
	{ .name = "dst",
	  .kind = WP_FIELD_TEXT,
	  .help = "node that is called",
	  .offsets = { AT(dst), AT(dst_address) } },
	{ .name = "node",
	  .kind = WP_FIELD_TEXT,
	  .help = "either of the two",
	  .offsets = { AT(src), AT(src_address), AT(dst), AT(dst_address) } },
	{ .name = "label",
	  .kind = WP_FIELD_TEXT,
	  .help = "operation: \"GET /item/{}\"",
	  .offsets = { AT(label) } },
	{ .name = "protocol",
	  .kind = WP_FIELD_TEXT,
	  .help = "http, pgsql, ...",
	  .offsets = { AT(protocol) } },
	{ .name = "status",
	  .kind = WP_FIELD_STATUS,
	  .traits = NEEDS_RETURN,
	  .help = "ok, error, reset, timeout or unknown",
	  .offsets = { AT(status) } },
	{ .name = "port",
	  .kind = WP_FIELD_NUMBER,
	  .help = "port of the node that is called",
	  .number = get_port },
	{ .name = "latency",
	  .kind = WP_FIELD_DURATION,
	  .traits = NEEDS_RETURN,
	  .help = "call to return: 250us, 5ms, 1.5s",
	  .number = get_latency },
	{ .name = "bytes",
	  .kind = WP_FIELD_BYTES,
	  .traits = NEEDS_RETURN,
	  .help = "of call and return: 512, 64k, 1M",
	  .number = get_bytes },
	{ .name = "bytes.call",
	  .kind = WP_FIELD_BYTES,
	  .traits = NEEDS_RETURN,
	  .help = "of the call alone",
	  .number = get_bytes_call },
	{ .name = "bytes.return",
	  .kind = WP_FIELD_BYTES,
	  .traits = NEEDS_RETURN,
	  .help = "of the return alone",
	  .number = get_bytes_return },
	{ .name = "setup",
	  .kind = WP_FIELD_FLAG,
	  .help = "greeting, login, handshake",
	  .number = get_setup },
	{ .name = "wait",
	  .kind = WP_FIELD_FLAG,
	  .traits = NEEDS_RETURN,
	  .help = "waits by design",
	  .number = get_wait },
	{ .name = "oneway",
	  .kind = WP_FIELD_FLAG,
	  .help = "a message that expects no return",
	  .number = get_one_way },
	{ .name = NULL },
};

static const WpLanguage language = { "--where", "--list-fields lists fields and operators",
				     fields };

static const WpLanguage within = { "--expr", "the condition is that of --where", fields };

WpWhere *
wp_where_new_within(const char *text, GError **error)
{
	return wp_expression_new(&within, text, error);
}

WpWhere *
wp_where_new(const char *text, GError **error)
{
	return wp_expression_new(&language, text, error);
}

void
wp_where_free(WpWhere *where)
{
	wp_expression_free(where);
}

gboolean
wp_where_matches(const WpWhere *where, const WpWhereCall *call)
{
	return wp_expression_matches(where, call);
}

const char *
wp_where_needs_return(const WpWhere *where)
{
	return wp_expression_field(where, NEEDS_RETURN);
}

void
wp_where_list_fields(WpOut *out)
{
	wp_language_list(&language, out);
}
