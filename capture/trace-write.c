/*
 * Trace writer: records to lines, with nothing kept but a buffer. Numbers are formatted by hand, as
 * printf would take longer than everything else together.
 *
 * A node is announced (#node KEY) before the first record that names it, and in the order of its
 * number, so that a reader that numbers nodes as they come gives every node its old number. What is
 * only known at the end (names, counters) stands at the end.
 */
#include "capture/trace-io.h"

#include <string.h>

#include "capture/output.h"
#include "capture/trace.h"

#define NUMBER_MAX 24 /* digits of the longest number, and a few */

typedef struct {
	WpRecordSink sink; /* first, so that a sink is its writer */
	WpOutput *output;
	WpNodes *nodes;
	guint32 n_announced; /* nodes */
	gboolean has_records;
	gboolean is_finished;
} Writer;

/* 1 where a byte of text stands for itself. */
static inline gboolean
is_plain(guint8 c)
{
	return c >= 0x20 && c != 0x7f && c != '\\';
}

/* The escape for C at AT; returns the end of it. */
static char *
escape(char *at, guint8 c)
{
	static const char hex[] = "0123456789abcdef";

	*at++ = '\\';
	switch (c) {
	case '\t':
		*at++ = 't';
		break;
	case '\n':
		*at++ = 'n';
		break;
	case '\\':
		*at++ = '\\';
		break;
	default:
		*at++ = 'x';
		*at++ = hex[c >> 4];
		*at++ = hex[c & 15];
	}
	return at;
}

static void
put_text(WpOutput *output, const char *text)
{
	char *at = output->at;

	for (; *text; text++) {
		guint8 c = (guint8)*text;
		if (output->limit - at < 4) {
			output->at = at;
			wp_output_flush(output);
			at = output->at;
		}
		if (is_plain(c))
			*at++ = (char)c;
		else
			at = escape(at, c);
	}
	output->at = at;
}

static void
put_tab(WpOutput *output)
{
	wp_output_put(output, '\t');
}

/* Exactly N digits, from the right. */
static void
put_digits(char *out, guint64 value, int n)
{
	while (n-- > 0) {
		out[n] = (char)('0' + value % 10);
		value /= 10;
	}
}

static void
put_number(WpOutput *output, guint64 value)
{
	int n = 1;
	for (guint64 rest = value; rest >= 10; rest /= 10)
		n++;
	wp_output_reserve(output, NUMBER_MAX);
	put_digits(output->at, value, n);
	output->at += n;
}

/* Seconds with nine decimals. */
static void
put_time(WpOutput *output, gint64 time_ns)
{
	guint64 ns = time_ns < 0 ? -(guint64)time_ns : (guint64)time_ns;

	wp_output_reserve(output, 2 * NUMBER_MAX);
	if (time_ns < 0)
		*output->at++ = '-';
	put_number(output, ns / 1000000000);
	*output->at++ = '.';
	put_digits(output->at, ns % 1000000000, 9);
	output->at += 9;
}

/* ADDRESS and port; the address is most often that of NODE, whose key is its text already. */
static void
put_endpoint(Writer *writer, const WpEndpoint *endpoint, guint32 node)
{
	WpOutput *output = writer->output;
	const guint8 *address = wp_nodes_address(writer->nodes, node);
	char text[WP_ENDPOINT_TEXT_MAX];

	if (!address || memcmp(address, endpoint->address, 16) != 0 ||
	    !wp_endpoint_is_known(endpoint)) {
		put_text(output, wp_endpoint_text(endpoint, text, sizeof text));
		return;
	}
	const char *key = wp_nodes_key(writer->nodes, node);
	gboolean is_ipv6 = strchr(key, ':') != NULL;
	if (is_ipv6)
		wp_output_put(output, '[');
	put_text(output, key);
	if (is_ipv6)
		wp_output_put(output, ']');
	wp_output_put(output, ':');
	put_number(output, endpoint->port);
}

static void
put_tokens(WpOutput *output, const guint32 *tokens, guint n)
{
	static const char hex[] = "0123456789abcdef";

	for (guint i = 0; i < n; i++) {
		wp_output_reserve(output, 9);
		if (i > 0)
			*output->at++ = ',';
		for (int shift = 28; shift >= 0; shift -= 4)
			*output->at++ = hex[tokens[i] >> shift & 15];
	}
}

/* Tells the reader of all nodes up to NODE. */
static void
announce_nodes(Writer *writer, guint32 n)
{
	for (; writer->n_announced < n; writer->n_announced++) {
		put_text(writer->output, "#node");
		put_tab(writer->output);
		put_text(writer->output, wp_nodes_key(writer->nodes, writer->n_announced));
		wp_output_put(writer->output, '\n');
	}
}

/* The columns that every trace has. */
static void
put_required(Writer *writer, const WpRecord *record)
{
	WpOutput *output = writer->output;
	char id[WP_ID_TEXT_MAX];

	put_time(output, record->begin_ns);
	put_tab(output);
	put_text(output, wp_kind_name(record->kind));
	put_tab(output);
	put_text(output, wp_nodes_key(writer->nodes, record->sender));
	put_tab(output);
	put_text(output, wp_nodes_key(writer->nodes, record->receiver));
	put_tab(output);
	put_text(output, wp_record_id_text(writer->nodes, record->id, id));
}

/* A tab, and the number where it is known. */
static void
put_known(WpOutput *output, gboolean is_known, guint64 value)
{
	put_tab(output);
	if (is_known)
		put_number(output, value);
}

static void
put_optional(Writer *writer, const WpRecord *record, const guint32 *tokens)
{
	WpOutput *output = writer->output;

	put_tab(output);
	if (record->end_ns != record->begin_ns)
		put_time(output, record->end_ns);
	put_tab(output);
	put_endpoint(writer, &record->src, record->sender);
	put_tab(output);
	put_endpoint(writer, &record->dst, record->receiver);
	put_known(output, record->flow != 0, record->flow);
	put_tab(output);
	put_text(output, wp_nodes_text(writer->nodes, record->protocol));
	put_tab(output);
	put_text(output, wp_nodes_text(writer->nodes, record->label));
	put_known(output, record->bytes != WP_NO_SIZE, record->bytes);
	put_tab(output);
	if (record->status != WP_STATUS_UNKNOWN)
		put_text(output, wp_status_name(record->status));
	put_known(output, record->marks & WP_MARK_SETUP, 1);
	put_known(output, record->marks & WP_MARK_WAIT, 1);
	put_known(output, record->tap != 0, record->tap);
	put_known(output, record->packet != 0, record->packet);
	put_tab(output);
	put_tokens(output, tokens, record->n_tokens);
}

static gboolean
writer_begin(WpRecordSink *sink, WpNodes *nodes, GError **error)
{
	Writer *writer = (Writer *)sink;

	writer->nodes = wp_nodes_ref(nodes);
	put_text(writer->output, "#wirepath-trace 1");
	wp_output_put(writer->output, '\n');
	for (const char *c =
		     "#columns\ttime\tkind\tsender\treceiver\tid\ttime_end\tsrc\tdst\tflow\t"
		     "protocol\tlabel\tbytes\tstatus\tsetup\twait\ttap\tpacket\ttokens\n";
	     *c; c++)
		wp_output_put(writer->output, *c);
	return !wp_output_failed(writer->output, error);
}

static gboolean
writer_setting(WpRecordSink *sink, const char *key, const char *value, GError **error)
{
	WpOutput *output = ((Writer *)sink)->output;

	put_text(output, "#setting");
	put_tab(output);
	put_text(output, key);
	put_tab(output);
	put_text(output, value);
	wp_output_put(output, '\n');
	return !wp_output_failed(output, error);
}

static gboolean
writer_record(WpRecordSink *sink, const WpRecord *record, const guint32 *tokens, GError **error)
{
	Writer *writer = (Writer *)sink;

	announce_nodes(writer, MAX(record->sender, record->receiver) + 1);
	put_required(writer, record);
	put_optional(writer, record, tokens);
	wp_output_put(writer->output, '\n');
	writer->has_records = TRUE;
	return !wp_output_failed(writer->output, error);
}

static void
put_counter(Writer *writer, WpCounter counter, guint64 n)
{
	put_text(writer->output, "#counter");
	put_tab(writer->output);
	put_text(writer->output, wp_counter_info[counter].name);
	put_tab(writer->output);
	put_number(writer->output, n);
}

static void
put_pair(WpCounter counter, guint32 sender, guint32 receiver, guint64 n, gpointer data)
{
	Writer *writer = data;

	put_counter(writer, counter, n);
	put_tab(writer->output);
	put_text(writer->output, wp_nodes_key(writer->nodes, sender));
	put_tab(writer->output);
	put_text(writer->output, wp_nodes_key(writer->nodes, receiver));
	wp_output_put(writer->output, '\n');
}

static gboolean
writer_counters(WpRecordSink *sink, const WpCounters *counters, GError **error)
{
	Writer *writer = (Writer *)sink;

	announce_nodes(writer, wp_nodes_count(writer->nodes));
	for (WpCounter i = 0; i < WP_N_COUNTERS; i++)
		if (wp_counters_get(counters, i) > 0) {
			put_counter(writer, i, wp_counters_get(counters, i));
			wp_output_put(writer->output, '\n');
		}
	wp_counters_foreach_pair(counters, put_pair, writer);
	return !wp_output_failed(writer->output, error);
}

static void
put_hint(guint32 node, WpNameSource source, const char *name, guint64 count, gpointer data)
{
	Writer *writer = data;

	put_text(writer->output, "#node");
	put_tab(writer->output);
	put_text(writer->output, wp_nodes_key(writer->nodes, node));
	put_tab(writer->output);
	put_text(writer->output, wp_name_source_name(source));
	put_tab(writer->output);
	put_number(writer->output, count);
	put_tab(writer->output);
	put_text(writer->output, name);
	wp_output_put(writer->output, '\n');
}

static void
put_tail(Writer *writer)
{
	announce_nodes(writer, wp_nodes_count(writer->nodes));
	wp_nodes_foreach_hint(writer->nodes, put_hint, writer);
	writer->is_finished = TRUE;
}

static gboolean
writer_end(WpRecordSink *sink, GError **error)
{
	Writer *writer = (Writer *)sink;

	put_tail(writer);
	return wp_output_finish(writer->output, error);
}

static const WpRecordSinkOps writer_ops = { writer_begin, writer_setting, writer_record,
					    writer_counters, writer_end };

WpRecordSink *
wp_trace_writer_new(const char *path, GError **error)
{
	WpOutput *output = wp_output_open(path, error);
	if (!output)
		return NULL;
	Writer *writer = g_new0(Writer, 1);
	writer->sink.ops = &writer_ops;
	writer->output = output;
	return &writer->sink;
}

void
wp_trace_writer_free(WpRecordSink *sink)
{
	Writer *writer = (Writer *)sink;

	if (!writer)
		return;
	if (!writer->is_finished && writer->has_records)
		put_tail(writer);
	else if (!writer->is_finished)
		wp_output_discard(writer->output);
	wp_output_free(writer->output);
	if (writer->nodes)
		wp_nodes_unref(writer->nodes);
	g_free(writer);
}
