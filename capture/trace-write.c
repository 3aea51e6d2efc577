/*
 * Writer of the text form: records to lines, with nothing kept but a buffer. Numbers are formatted by hand, as
 * printf would take longer than everything else together.
 *
 * A node is announced (#node KEY) before the first record that names it, and in the order of its
 * number, so that a reader that numbers nodes as they come gives every node its old number. What is
 * only known at the end (names, counters) stands at the end.
 */
#include "capture/trace-text.h"

#include <string.h>

#include "capture/output.h"
#include "capture/trace-context.h"
#include "capture/trace.h"
#include "capture/transport.h"

#define NUMBER_MAX  24 /* digits of the longest number, and a few */
#define SHORT_KEY   48 /* every address is shorter */
#define ESCAPED_MAX 4  /* bytes for one */

/* A node that the reader knows. */
typedef struct {
	char *key; /* escaped; at least SHORT_KEY bytes are allocated */
	gsize length;
	gboolean has_address;
	gboolean is_ipv6;
	guint8 address[16];
} Announced;

typedef struct {
	WpTraceWriter base;
	GArray *announced;     /* Announced, by node */
	gboolean has_ways;     /* the columns for times at the receiver's tap are there */
	gboolean has_contexts; /* those are, and those of traces and causes */
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

/* TRUE where all eight bytes of WORD are plain. A byte of what is tested is 0 where it is not. */
static inline gboolean
are_plain(guint64 word)
{
	const guint64 ones = G_MAXUINT64 / 255, tops = ones * 0x80;
	guint64 no_delete = word ^ ones * 0x7f, no_backslash = word ^ ones * '\\';
	guint64 found = (word - ones * 0x20) & ~word;
	found |= (no_delete - ones) & ~no_delete;
	found |= (no_backslash - ones) & ~no_backslash;
	return !(found & tops);
}

/* N bytes that may have to be escaped; there is room for them all. */
static char *
put_escaped(char *at, const char *text, gsize n)
{
	for (gsize i = 0; i < n; i++)
		if (is_plain((guint8)text[i]))
			*at++ = text[i];
		else
			at = escape(at, (guint8)text[i]);
	return at;
}

static void
put_text(WpOutput *output, const char *text)
{
	gsize left = strlen(text), n;
	guint64 word;

	for (; left > 0; text += n, left -= n) {
		n = MIN(left, sizeof word);
		wp_output_reserve(output, ESCAPED_MAX * sizeof word);
		if (n == sizeof word)
			memcpy(&word, text, sizeof word);
		if (n == sizeof word && are_plain(word)) {
			memcpy(output->at, &word, sizeof word);
			output->at += sizeof word;
		} else {
			output->at = put_escaped(output->at, text, n);
		}
	}
}

/* For words of ours, in which there is nothing to escape. */
static void
put_word(WpOutput *output, const char *word)
{
	gsize n = strlen(word);
	wp_output_reserve(output, n);
	memcpy(output->at, word, n);
	output->at += n;
}

static void
put_tab(WpOutput *output)
{
	wp_output_put(output, '\t');
}

/* The two digits of VALUE (under 100) before END. */
static inline char *
put_two_digits(char *end, guint32 value)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";
	memcpy(end - 2, pairs + 2 * value, 2);
	return end - 2;
}

static inline gsize
count_digits(guint64 value)
{
	gsize n = 1;
	for (; value >= 10000; value /= 10000)
		n += 4;
	return n + (value >= 10) + (value >= 100) + (value >= 1000);
}

static void
put_number(WpOutput *output, guint64 value)
{
	gsize n = count_digits(value);

	wp_output_reserve(output, NUMBER_MAX);
	char *end = output->at + n;
	output->at = end;
	for (; value > G_MAXUINT32; value /= 100)
		end = put_two_digits(end, (guint32)(value % 100));
	guint32 rest = (guint32)value;
	for (; rest >= 100; rest /= 100)
		end = put_two_digits(end, rest % 100);
	if (rest >= 10)
		put_two_digits(end, rest);
	else
		end[-1] = (char)('0' + rest);
}

/* Nine digits. */
static void
put_fraction(WpOutput *output, guint32 ns)
{
	wp_output_reserve(output, NUMBER_MAX);
	for (char *end = output->at + 9; end > output->at + 1; ns /= 100)
		end = put_two_digits(end, ns % 100);
	*output->at = (char)('0' + ns);
	output->at += 9;
}

/* Seconds with nine decimals. */
static void
put_time(WpOutput *output, gint64 time_ns)
{
	guint64 ns = time_ns < 0 ? -(guint64)time_ns : (guint64)time_ns;

	if (time_ns < 0)
		wp_output_put(output, '-');
	put_number(output, ns / 1000000000);
	wp_output_put(output, '.');
	put_fraction(output, (guint32)(ns % 1000000000));
}

static void
put_bytes(WpOutput *output, const char *bytes, gsize n)
{
	while (n > 0) {
		gsize step = MIN(n, 4096);
		wp_output_reserve(output, step);
		memcpy(output->at, bytes, step);
		output->at += step;
		bytes += step;
		n -= step;
	}
}

/* A copy of fixed length, of which the next text overwrites the end, is the fastest. */
static void
put_key(WpOutput *output, const Announced *known)
{
	if (known->length > SHORT_KEY) {
		put_bytes(output, known->key, known->length);
		return;
	}
	wp_output_reserve(output, SHORT_KEY);
	memcpy(output->at, known->key, SHORT_KEY);
	output->at += known->length;
}

static void
put_node(Writer *writer, guint32 node)
{
	const Announced *known = &g_array_index(writer->announced, Announced, node);
	put_key(writer->base.output, known);
}

/* Address and port; the address is most often that of NODE, whose key is its text already. */
static void
put_endpoint(Writer *writer, const WpEndpoint *endpoint, guint32 node)
{
	const Announced *known = &g_array_index(writer->announced, Announced, node);
	WpOutput *output = writer->base.output;
	char text[WP_ENDPOINT_TEXT_MAX];

	if (!known->has_address || memcmp(known->address, endpoint->address, 16) != 0 ||
	    !wp_endpoint_is_known(endpoint)) {
		put_text(output, wp_endpoint_text(endpoint, text, sizeof text));
		return;
	}
	if (known->is_ipv6)
		wp_output_put(output, '[');
	put_key(output, known);
	if (known->is_ipv6)
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

/* "timeout/1047680084.482205000/1047680084.682205000/12/15,..." */
static void
put_transports(WpOutput *output, const guint32 *words, guint n)
{
	for (guint i = 0; i < n; i++) {
		WpTransport transport;
		if (!wp_transport_unpack(words + (gsize)i * WP_TRANSPORT_WORDS, &transport))
			continue;
		if (i > 0)
			wp_output_put(output, ',');
		put_word(output, wp_transport_name(transport.kind));
		wp_output_put(output, '/');
		put_time(output, transport.begin_ns);
		wp_output_put(output, '/');
		put_time(output, transport.end_ns);
		wp_output_put(output, '/');
		put_number(output, transport.first);
		wp_output_put(output, '/');
		put_number(output, transport.last);
	}
}

static char *
escape_text(const char *text, gsize *out_length)
{
	char *escaped = g_malloc0(4 * strlen(text) + SHORT_KEY), *at = escaped;

	for (; *text; text++)
		if (is_plain((guint8)*text))
			*at++ = *text;
		else
			at = escape(at, (guint8)*text);
	*out_length = (gsize)(at - escaped);
	return escaped;
}

/* Tells the reader of the first N nodes, as far as it does not know them. */
static void
announce_nodes(Writer *writer, guint32 n)
{
	for (guint32 node = writer->announced->len; node < n; node++) {
		const char *key = wp_nodes_key(writer->base.nodes, node);
		const guint8 *address = wp_nodes_address(writer->base.nodes, node);
		Announced known = { .has_address = address != NULL };
		known.key = escape_text(key, &known.length);
		known.is_ipv6 = strchr(key, ':') != NULL;
		if (address)
			memcpy(known.address, address, 16);
		g_array_append_val(writer->announced, known);
		put_text(writer->base.output, "#node");
		put_tab(writer->base.output);
		put_node(writer, node);
		wp_output_put(writer->base.output, '\n');
	}
}

static void
clear_announced(gpointer data)
{
	g_free(((Announced *)data)->key);
}

static void
put_id(Writer *writer, guint64 id)
{
	if (id < WP_ID_TEXT)
		put_number(writer->base.output, id);
	else
		put_text(writer->base.output,
			 wp_nodes_text(writer->base.nodes, (guint32)(id - WP_ID_TEXT)));
}

/* The columns that every trace has. */
static void
put_required(Writer *writer, const WpRecord *record)
{
	WpOutput *output = writer->base.output;

	put_time(output, record->begin_ns);
	put_tab(output);
	put_word(output, wp_kind_name(record->kind));
	put_tab(output);
	put_node(writer, record->sender);
	put_tab(output);
	put_node(writer, record->receiver);
	put_tab(output);
	put_id(writer, record->id);
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
	WpOutput *output = writer->base.output;

	put_tab(output);
	if (record->marks & WP_MARK_CUT)
		put_text(output, "?");
	else if (record->end_ns != record->begin_ns)
		put_time(output, record->end_ns);
	put_tab(output);
	put_endpoint(writer, &record->src, record->sender);
	put_tab(output);
	put_endpoint(writer, &record->dst, record->receiver);
	put_known(output, record->flow != 0, record->flow);
	put_tab(output);
	put_text(output, wp_nodes_text(writer->base.nodes, record->protocol));
	put_tab(output);
	put_text(output, wp_nodes_text(writer->base.nodes, record->label));
	put_known(output, record->bytes != WP_NO_SIZE, record->bytes);
	put_tab(output);
	if (record->status != WP_STATUS_UNKNOWN)
		put_word(output, wp_status_name(record->status));
	put_known(output, record->marks & WP_MARK_SETUP, 1);
	put_known(output, record->marks & WP_MARK_WAIT, 1);
	put_known(output, record->tap != 0, record->tap);
	put_known(output, record->packet != 0, record->packet);
	put_tab(output);
	put_tokens(output, tokens, record->n_tokens);
	if (record->n_transports || writer->has_ways) /* a line may end before its last columns */
		put_tab(output);
	if (record->n_transports)
		put_transports(output, tokens + record->n_tokens, record->n_transports);
}

/* Times at the receiver's tap, which only captures of several taps have. */
static void
put_ways(Writer *writer, const WpRecord *record)
{
	WpOutput *output = writer->base.output;
	gboolean is_known = (record->marks & WP_MARK_BOTH_ENDS) != 0;

	put_tab(output);
	if (is_known)
		put_time(output, record->begin_ns + record->begin_way_ns);
	put_tab(output);
	if (is_known)
		put_time(output, record->end_ns + record->end_way_ns);
}

static void
put_context(WpOutput *output, const WpRecord *record, const guint32 *words)
{
	char text[WP_TRACE_CONTEXT_TEXT_MAX];
	WpTraceContext context;

	put_tab(output);
	if (!(record->marks & WP_MARK_TRACED))
		return;
	wp_trace_context_unpack(words + wp_record_context_at(record), &context);
	put_word(output, wp_trace_context_text(&context, text, sizeof text));
}

static void
put_cause(Writer *writer, const WpRecord *record, const guint32 *words)
{
	if (!(record->marks & WP_MARK_CAUSED)) /* a line may end here */
		return;
	put_tab(writer->base.output);
	put_id(writer, wp_record_cause(record, words));
}

static void
put_traced(Writer *writer, const WpRecord *record, const guint32 *words)
{
	put_context(writer->base.output, record, words);
	put_cause(writer, record, words);
}

static const char column_names[] =
	"#columns\ttime\tkind\tsender\treceiver\tid\ttime_end\tsrc\tdst\tflow\tprotocol\t"
	"label\tbytes\tstatus\tsetup\twait\ttap\tpacket\ttokens\ttransport";

static void
put_columns(Writer *writer)
{
	static const char ways[] = "\treceived\treceived_end", contexts[] = "\ttrace_parent\tcause";

	put_bytes(writer->base.output, column_names, strlen(column_names));
	if (writer->has_ways)
		put_bytes(writer->base.output, ways, strlen(ways));
	if (writer->has_contexts)
		put_bytes(writer->base.output, contexts, strlen(contexts));
	wp_output_put(writer->base.output, '\n');
}

static gboolean
writer_begin(WpRecordSink *sink, WpNodes *nodes, GError **error)
{
	Writer *writer = (Writer *)sink;

	writer->base.nodes = wp_nodes_ref(nodes);
	put_text(writer->base.output, "#wirepath-trace 1");
	wp_output_put(writer->base.output, '\n');
	put_columns(writer);
	return !wp_output_failed(writer->base.output, error);
}

static gboolean
writer_setting(WpRecordSink *sink, const char *key, const char *value, GError **error)
{
	WpOutput *output = ((Writer *)sink)->base.output;

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

	gboolean needs_contexts =
		record->marks & (WP_MARK_TRACED | WP_MARK_CAUSED) && !writer->has_contexts;
	gboolean needs_ways = record->marks & WP_MARK_BOTH_ENDS && !writer->has_ways;

	announce_nodes(writer, MAX(record->sender, record->receiver) + 1);
	if (needs_contexts || needs_ways) {
		/* More columns from here on; whoever reads takes what the latest #columns line says. */
		writer->has_contexts |= needs_contexts;
		writer->has_ways |= needs_contexts || needs_ways;
		put_columns(writer);
	}
	put_required(writer, record);
	put_optional(writer, record, tokens);
	if (writer->has_ways)
		put_ways(writer, record);
	if (writer->has_contexts)
		put_traced(writer, record, tokens);
	wp_output_put(writer->base.output, '\n');
	writer->base.has_records = TRUE;
	return !wp_output_failed(writer->base.output, error);
}

static void
put_counter(Writer *writer, const char *word, WpCounter counter, guint64 n)
{
	put_text(writer->base.output, word);
	put_tab(writer->base.output);
	put_text(writer->base.output, wp_counter_info[counter].name);
	put_tab(writer->base.output);
	put_number(writer->base.output, n);
}

static void
put_between(Writer *writer, const char *word, WpCounter counter, guint32 sender, guint32 receiver,
	    guint64 n)
{
	put_counter(writer, word, counter, n);
	put_tab(writer->base.output);
	put_node(writer, sender);
	put_tab(writer->base.output);
	put_node(writer, receiver);
	wp_output_put(writer->base.output, '\n');
}

static void
put_pair(WpCounter counter, guint32 sender, guint32 receiver, guint64 n, gpointer data)
{
	put_between(data, "#counter", counter, sender, receiver, n);
}

static void
put_part(WpCounter counter, guint32 sender, guint32 receiver, guint64 n, gpointer data)
{
	put_between(data, "#counted", counter, sender, receiver, n);
}

static gboolean
writer_counted(WpRecordSink *sink, const WpCounters *counters, GError **error)
{
	Writer *writer = (Writer *)sink;

	announce_nodes(writer, wp_nodes_count(writer->base.nodes));
	wp_counters_foreach_pair(counters, put_part, writer);
	return !wp_output_failed(writer->base.output, error);
}

static gboolean
writer_counters(WpRecordSink *sink, const WpCounters *counters, GError **error)
{
	Writer *writer = (Writer *)sink;

	announce_nodes(writer, wp_nodes_count(writer->base.nodes));
	for (WpCounter i = 0; i < WP_N_COUNTERS; i++)
		if (wp_counters_get(counters, i) > 0) {
			put_counter(writer, "#counter", i, wp_counters_get(counters, i));
			wp_output_put(writer->base.output, '\n');
		}
	wp_counters_foreach_pair(counters, put_pair, writer);
	return !wp_output_failed(writer->base.output, error);
}

static void
put_hint(guint32 node, WpNameSource source, const char *name, guint64 count, gpointer data)
{
	Writer *writer = data;

	put_text(writer->base.output, "#node");
	put_tab(writer->base.output);
	put_node(writer, node);
	put_tab(writer->base.output);
	put_text(writer->base.output, wp_name_source_name(source));
	put_tab(writer->base.output);
	put_number(writer->base.output, count);
	put_tab(writer->base.output);
	put_text(writer->base.output, name);
	wp_output_put(writer->base.output, '\n');
}

static void
finish(WpTraceWriter *base)
{
	Writer *writer = (Writer *)base;

	announce_nodes(writer, wp_nodes_count(base->nodes));
	wp_nodes_foreach_hint(base->nodes, put_hint, writer);
	base->is_finished = TRUE;
}

static gboolean
writer_end(WpRecordSink *sink, GError **error)
{
	WpTraceWriter *writer = (WpTraceWriter *)sink;

	finish(writer);
	return wp_output_finish(writer->output, error);
}

static const WpRecordSinkOps writer_ops = { writer_begin,    writer_setting, writer_record,
					    writer_counters, writer_end,     writer_counted };

static WpTraceWriter *
writer_new(void)
{
	Writer *writer = g_new0(Writer, 1);
	writer->base.sink.ops = &writer_ops;
	writer->announced = g_array_new(FALSE, FALSE, sizeof(Announced));
	g_array_set_clear_func(writer->announced, clear_announced);
	return &writer->base;
}

static void
writer_clear(WpTraceWriter *base)
{
	g_array_unref(((Writer *)base)->announced);
}

const WpTraceFormat wp_trace_format_text = {
	.name = "text",
	.suffix = "",
	.detect = wp_trace_text_detect,
	.read = wp_trace_text_read,
	.writer_new = writer_new,
	.writer_finish = finish,
	.writer_clear = writer_clear,
};
