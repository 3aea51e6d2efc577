/*
 * Writer of the binary form. Records gather in one block, texts and nodes that they name for the first
 * time in two others; when the first is full, all three are written, the records last. So memory is
 * some blocks, and eight bytes a text and some thirty a node.
 */
#include "capture/wpt.h"

#include "capture/trace-context.h"
#include "capture/trace.h"

#define COLUMNS_BYTES   WP_WPT_COLUMNS_BYTES(WP_WPT_ROWS) /* with the next two, 212 KiB */
#define EXTRA_BYTES     (WP_WPT_ROWS * (WP_RECORD_MAX_TOKENS * 4 + 2 * 16))
#define TRANSPORT_BYTES (WP_WPT_ROWS * WP_RECORD_MAX_TRANSPORTS * WP_TRANSPORT_WORDS * 4)
#define ITEMS_BYTES     (64 * 1024) /* of a block of anything else, but for one long text */
#define STEP_BYTES      4096        /* that WpOutput has room for at a time */

/* A block of items of any length. */
typedef struct {
	const char *kind;
	GByteArray *bytes;
	guint32 n;
	guint64 first;
} Items;

/* A node that the reader knows. */
typedef struct {
	guint8 address[16];
	gboolean has_address;
} Announced;

typedef struct {
	WpTraceWriter base;
	GArray *texts;     /* guint32: number in the file, by number in the pool; 0 = not yet */
	GArray *announced; /* Announced, by node */
	Items strings, nodes, settings, counters, parts, hints, contexts, causes;
	guint32 n_texts;
	gboolean is_too_long; /* a text was */

	guint64 n_records; /* in blocks written */
	guint32 n;         /* in this block */
	WpWptColumns columns;
	guint8 extra[EXTRA_BYTES];
	gsize n_extra;
	guint8 transports[TRANSPORT_BYTES];
	gsize n_transport_bytes;
	guint8 block[COLUMNS_BYTES + EXTRA_BYTES + TRANSPORT_BYTES + 8]; /* as it is written */
} Writer;

static void
put_bytes(WpOutput *output, gconstpointer bytes, gsize n)
{
	const guint8 *at = bytes;

	for (gsize step; n > 0; at += step, n -= step) {
		step = MIN(n, STEP_BYTES);
		wp_output_reserve(output, step);
		memcpy(output->at, at, step);
		output->at += step;
	}
}

/* PAYLOAD has BYTES, a multiple of 8. */
static void
put_block(Writer *writer, const char *kind, guint32 n, guint64 first, gconstpointer payload,
	  gsize bytes)
{
	WpWptBlock block = {
		.bytes = GUINT32_TO_LE((guint32)bytes),
		.n = GUINT32_TO_LE(n),
		.first = GUINT64_TO_LE(first),
		.sum = GUINT64_TO_LE(wp_wpt_sum(payload, bytes)),
	};
	memcpy(block.kind, kind, sizeof block.kind);
	block.check = GUINT32_TO_LE(wp_wpt_check(&block));
	put_bytes(writer->base.output, &block, sizeof block);
	put_bytes(writer->base.output, payload, bytes);
}

static void
flush_items(Writer *writer, Items *items)
{
	static const guint8 zeros[8];

	if (items->n == 0)
		return;
	g_byte_array_append(items->bytes, zeros, -items->bytes->len & 7);
	put_block(writer, items->kind, items->n, items->first, items->bytes->data,
		  items->bytes->len);
	items->first += items->n;
	items->n = 0;
	g_byte_array_set_size(items->bytes, 0);
}

static void
add_u32(Items *items, guint32 value)
{
	value = GUINT32_TO_LE(value);
	g_byte_array_append(items->bytes, (const guint8 *)&value, sizeof value);
}

static void
add_u64(Items *items, guint64 value)
{
	value = GUINT64_TO_LE(value);
	g_byte_array_append(items->bytes, (const guint8 *)&value, sizeof value);
}

static void
add_text(Writer *writer, Items *items, const char *text)
{
	gsize length = strlen(text);

	if (length > WP_WPT_MAX_TEXT) {
		writer->is_too_long = TRUE;
		length = 0;
	}
	add_u32(items, (guint32)length);
	g_byte_array_append(items->bytes, (const guint8 *)text, (guint)length);
}

static void
end_item(Writer *writer, Items *items)
{
	items->n++;
	if (items->bytes->len >= ITEMS_BYTES)
		flush_items(writer, items);
}

static void
flush_records(Writer *writer)
{
	guint8 *at = writer->block;

	flush_items(writer, &writer->strings);
	flush_items(writer, &writer->nodes);
	if (writer->n == 0)
		return;
	flush_items(writer, &writer->contexts);
	flush_items(writer, &writer->causes);
	at += wp_wpt_pack(&writer->columns, writer->n, at);
	memcpy(at, writer->extra, writer->n_extra);
	at += writer->n_extra;
	memcpy(at, writer->transports, writer->n_transport_bytes);
	at += writer->n_transport_bytes;
	while ((at - writer->block) % 8 != 0)
		*at++ = 0;
	put_block(writer, "COLS", writer->n, writer->n_records, writer->block,
		  (gsize)(at - writer->block));
	writer->n_records += writer->n;
	writer->n = 0;
	writer->n_extra = writer->n_transport_bytes = 0;
}

static gboolean
has_failed(const Writer *writer, GError **error)
{
	if (!writer->is_too_long)
		return wp_output_failed(writer->base.output, error);
	g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_LIMIT,
		    "cannot write the trace: a name in it has over %d bytes", WP_WPT_MAX_TEXT);
	return TRUE;
}

/* The number in the file of text NUMBER of the pool. */
static guint32
add_string(Writer *writer, guint32 number)
{
	if (number >= writer->texts->len)
		g_array_set_size(writer->texts, (guint)number + 1 + number / 2);
	guint32 *text = &g_array_index(writer->texts, guint32, number);
	if (*text == 0) {
		*text = ++writer->n_texts;
		add_text(writer, &writer->strings, wp_nodes_text(writer->base.nodes, number));
		end_item(writer, &writer->strings);
	}
	return *text;
}

static inline guint32
text_of(Writer *writer, guint32 number)
{
	if (number == 0)
		return 0;
	if (number < writer->texts->len) {
		guint32 text = g_array_index(writer->texts, guint32, number);
		if (text)
			return text;
	}
	return add_string(writer, number);
}

/* Tells the reader of the first N nodes, as far as it does not know them. */
static void
announce_nodes(Writer *writer, guint32 n)
{
	for (guint32 node = writer->announced->len; node < n; node++) {
		const guint8 *address = wp_nodes_address(writer->base.nodes, node);
		Announced known = { .has_address = address != NULL };
		if (address)
			memcpy(known.address, address, sizeof known.address);
		g_array_append_val(writer->announced, known);
		add_text(writer, &writer->nodes, wp_nodes_key(writer->base.nodes, node));
		end_item(writer, &writer->nodes);
	}
}

static inline void
put_extra(Writer *writer, gconstpointer bytes, gsize n)
{
	memcpy(writer->extra + writer->n_extra, bytes, n);
	writer->n_extra += n;
}

/* Says how the address of END is told, and tells it where it is not that of NODE. */
static inline guint8
put_end(Writer *writer, const WpEndpoint *end, guint32 node)
{
	const Announced *known = &g_array_index(writer->announced, Announced, node);

	if (!wp_endpoint_is_known(end))
		return WP_WPT_END_UNKNOWN;
	if (known->has_address && memcmp(known->address, end->address, 16) == 0)
		return WP_WPT_END_NODE;
	put_extra(writer, end->address, 16);
	return WP_WPT_END_OTHER;
}

static void
add_context(Writer *writer, const guint32 *words)
{
	WpTraceContext context;

	wp_trace_context_unpack(words, &context);
	add_u32(&writer->contexts, writer->n);
	add_u32(&writer->contexts, 0);
	add_u64(&writer->contexts, context.high);
	add_u64(&writer->contexts, context.low);
	add_u64(&writer->contexts, context.parent);
	writer->contexts.n++; /* flushed with the records that it is about */
}

static guint64
id_of(Writer *writer, guint64 id)
{
	return id >= WP_ID_TEXT ? WP_ID_TEXT + text_of(writer, (guint32)(id - WP_ID_TEXT)) : id;
}

static void
add_cause(Writer *writer, guint64 id)
{
	add_u32(&writer->causes, writer->n);
	add_u32(&writer->causes, 0);
	add_u64(&writer->causes, id_of(writer, id));
	writer->causes.n++;
}

static inline void
put_transports(Writer *writer, const guint32 *words, guint n)
{
	guint8 *at = writer->transports + writer->n_transport_bytes;

	for (guint i = 0; i < n * WP_TRANSPORT_WORDS; i++) {
		guint32 word = GUINT32_TO_LE(words[i]);
		memcpy(at + i * sizeof word, &word, sizeof word);
	}
	writer->n_transport_bytes += n * WP_TRANSPORT_WORDS * sizeof *words;
}

/* What stands in the file as it does in RECORD. */
static inline void
put_row(WpWptColumns *columns, guint32 row, const WpRecord *record)
{
	columns->begin[row] = (guint64)record->begin_ns;
	columns->duration[row] = (guint64)record->end_ns - (guint64)record->begin_ns;
	columns->packet[row] = record->packet;
	columns->bytes[row] = record->bytes + 1;
	columns->begin_way[row] = (guint64)record->begin_way_ns;
	columns->end_way[row] = (guint64)record->end_way_ns;
	columns->sender[row] = record->sender;
	columns->receiver[row] = record->receiver;
	columns->flow[row] = record->flow;
	columns->kind[row] = record->kind;
	columns->status[row] = record->status;
	/* CTXT and CAUS tell of the other marks. */
	columns->marks[row] = record->marks & (guint8) ~(WP_MARK_TRACED | WP_MARK_CAUSED);
	columns->tap[row] = record->tap;
	columns->n_tokens[row] = record->n_tokens;
	columns->n_transports[row] = record->n_transports;
}

static gboolean
writer_record(WpRecordSink *sink, const WpRecord *record, const guint32 *tokens, GError **error)
{
	Writer *writer = (Writer *)sink;

	announce_nodes(writer, MAX(record->sender, record->receiver) + 1);
	for (guint i = 0; i < record->n_tokens; i++) {
		guint32 token = GUINT32_TO_LE(tokens[i]);
		put_extra(writer, &token, sizeof token);
	}
	if (record->n_transports)
		put_transports(writer, tokens + record->n_tokens, record->n_transports);
	guint8 src_end = put_end(writer, &record->src, record->sender);
	guint8 dst_end = put_end(writer, &record->dst, record->receiver);
	/* In this order, which numbers the texts. */
	guint64 id = id_of(writer, record->id);
	guint32 protocol = text_of(writer, record->protocol);
	guint32 label = text_of(writer, record->label);
	put_row(&writer->columns, writer->n, record);
	writer->columns.id[writer->n] = wp_wpt_id_to_field(id);
	writer->columns.protocol[writer->n] = protocol;
	writer->columns.label[writer->n] = label;
	writer->columns.src_port[writer->n] = src_end ? record->src.port : 0;
	writer->columns.dst_port[writer->n] = dst_end ? record->dst.port : 0;
	writer->columns.src_end[writer->n] = src_end;
	writer->columns.dst_end[writer->n] = dst_end;
	if (record->marks & WP_MARK_TRACED)
		add_context(writer, tokens + wp_record_context_at(record));
	if (record->marks & WP_MARK_CAUSED)
		add_cause(writer, wp_record_cause(record, tokens));
	writer->base.has_records = TRUE;
	if (++writer->n < WP_WPT_ROWS)
		return TRUE;
	flush_records(writer);
	return !has_failed(writer, error);
}

static gboolean
writer_begin(WpRecordSink *sink, WpNodes *nodes, GError **error)
{
	Writer *writer = (Writer *)sink;
	WpWptHead head = { .version = GUINT32_TO_LE(WP_WPT_VERSION) };

	memcpy(head.magic, WP_WPT_MAGIC, sizeof head.magic);
	writer->base.nodes = wp_nodes_ref(nodes);
	put_bytes(writer->base.output, &head, sizeof head);
	return !has_failed(writer, error);
}

/* Keeps its place among the records. */
static gboolean
writer_setting(WpRecordSink *sink, const char *key, const char *value, GError **error)
{
	Writer *writer = (Writer *)sink;

	flush_records(writer);
	add_text(writer, &writer->settings, key);
	add_text(writer, &writer->settings, value);
	end_item(writer, &writer->settings);
	flush_items(writer, &writer->settings);
	return !has_failed(writer, error);
}

static void
add_counter(Writer *writer, Items *items, WpCounter counter, guint64 n, guint32 sender,
	    guint32 receiver)
{
	add_u64(items, n);
	add_u32(items, sender);
	add_u32(items, receiver);
	add_text(writer, items, wp_counter_info[counter].name);
	end_item(writer, items);
}

static void
add_pair(WpCounter counter, guint32 sender, guint32 receiver, guint64 n, gpointer data)
{
	Writer *writer = data;
	add_counter(writer, &writer->counters, counter, n, sender, receiver);
}

static void
add_part(WpCounter counter, guint32 sender, guint32 receiver, guint64 n, gpointer data)
{
	Writer *writer = data;
	add_counter(writer, &writer->parts, counter, n, sender, receiver);
}

/* Keeps its place among the records. */
static gboolean
writer_counted(WpRecordSink *sink, const WpCounters *counters, GError **error)
{
	Writer *writer = (Writer *)sink;

	announce_nodes(writer, wp_nodes_count(writer->base.nodes));
	flush_records(writer);
	wp_counters_foreach_pair(counters, add_part, writer);
	flush_items(writer, &writer->parts);
	return !has_failed(writer, error);
}

static gboolean
writer_counters(WpRecordSink *sink, const WpCounters *counters, GError **error)
{
	Writer *writer = (Writer *)sink;

	announce_nodes(writer, wp_nodes_count(writer->base.nodes));
	flush_records(writer);
	for (WpCounter i = 0; i < WP_N_COUNTERS; i++)
		if (wp_counters_get(counters, i) > 0)
			add_counter(writer, &writer->counters, i, wp_counters_get(counters, i),
				    WP_NO_NODE, WP_NO_NODE);
	wp_counters_foreach_pair(counters, add_pair, writer);
	flush_items(writer, &writer->counters);
	return !has_failed(writer, error);
}

static void
add_hint(guint32 node, WpNameSource source, const char *name, guint64 count, gpointer data)
{
	Writer *writer = data;

	add_u64(&writer->hints, count);
	add_u32(&writer->hints, node);
	add_text(writer, &writer->hints, wp_name_source_name(source));
	add_text(writer, &writer->hints, name);
	end_item(writer, &writer->hints);
}

static void
finish(WpTraceWriter *base)
{
	Writer *writer = (Writer *)base;

	announce_nodes(writer, wp_nodes_count(base->nodes));
	flush_records(writer);
	wp_nodes_foreach_hint(base->nodes, add_hint, writer);
	flush_items(writer, &writer->hints);
	put_block(writer, "DONE", 0, writer->n_records, "", 0);
	base->is_finished = TRUE;
}

static gboolean
writer_end(WpRecordSink *sink, GError **error)
{
	Writer *writer = (Writer *)sink;

	finish(&writer->base);
	return !has_failed(writer, error) && wp_output_finish(writer->base.output, error);
}

static const WpRecordSinkOps writer_ops = { writer_begin,    writer_setting, writer_record,
					    writer_counters, writer_end,     writer_counted };

static Items
items_new(const char *kind, guint64 first)
{
	return (Items){ .kind = kind, .bytes = g_byte_array_new(), .first = first };
}

static WpTraceWriter *
writer_new(void)
{
	Writer *writer = g_new0(Writer, 1);
	writer->base.sink.ops = &writer_ops;
	writer->texts = g_array_new(FALSE, TRUE, sizeof(guint32));
	writer->announced = g_array_new(FALSE, FALSE, sizeof(Announced));
	writer->strings = items_new("STRS", 1);
	writer->nodes = items_new("NODE", 0);
	writer->settings = items_new("SETT", 0);
	writer->counters = items_new("COUN", 0);
	writer->parts = items_new("PART", 0);
	writer->hints = items_new("HINT", 0);
	writer->contexts = items_new("CTXT", 0);
	writer->causes = items_new("CAUS", 0);
	return &writer->base;
}

static void
writer_clear(WpTraceWriter *base)
{
	Writer *writer = (Writer *)base;

	g_array_unref(writer->texts);
	g_array_unref(writer->announced);
	g_byte_array_unref(writer->strings.bytes);
	g_byte_array_unref(writer->nodes.bytes);
	g_byte_array_unref(writer->settings.bytes);
	g_byte_array_unref(writer->counters.bytes);
	g_byte_array_unref(writer->parts.bytes);
	g_byte_array_unref(writer->hints.bytes);
	g_byte_array_unref(writer->contexts.bytes);
	g_byte_array_unref(writer->causes.bytes);
}

/* A block that is not full is one as well. */
static void
sync_records(WpTraceWriter *writer)
{
	flush_records((Writer *)writer);
}

const WpTraceFormat wp_trace_format_wpt = {
	.name = "wpt",
	.suffix = ".wpt",
	.detect = wp_wpt_detect,
	.read = wp_wpt_read,
	.writer_new = writer_new,
	.writer_sync = sync_records,
	.writer_finish = finish,
	.writer_clear = writer_clear,
};
