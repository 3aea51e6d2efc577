/*
 * Reader of the binary form. A block is looked at as a whole: where its sum is wrong it is passed over
 * and its records count as bad; where its head is wrong the rest of the file cannot be found any more.
 * The numbers of the file's texts and nodes become ours by two tables, so that a record costs a few
 * comparisons and copies.
 */
#include "capture/wpt.h"

#include "capture/bytes.h"
#include "capture/trace-context.h"
#include "capture/trace.h"
#include "capture/transport.h"

#define PROGRESS_RECORDS 16384
#define LOST             G_MAXUINT32 /* a text or node whose block was damaged */
#define MAX_TIME_NS      (WP_TRACE_MAX_SECONDS * G_GINT64_CONSTANT(1000000000) + 999999999)
#define MARKS            (WP_MARK_SETUP | WP_MARK_WAIT | WP_MARK_CUT)

/* Of the file's nodes. */
typedef struct {
	guint32 node; /* or LOST */
	gboolean has_address;
	guint8 address[16];
} KnownNode;

typedef struct {
	WpTraceReading *reading;
	GArray *texts;    /* guint32: in the pool, or LOST; 0 = "" */
	GArray *nodes;    /* KnownNode */
	GArray *ways;     /* WpWptWays of the next records */
	GArray *contexts; /* WpWptContext, likewise */
	GArray *causes;   /* WpWptCause, likewise */
	guint64 offset;   /* of the block in the file */
	guint64 n_records, n_told;
	guint32 record_bytes;
	gboolean is_done;
	gboolean is_over;                    /* nothing after this can be read */
	guint32 tokens[WP_RECORD_MAX_WORDS]; /* and transports */
} Reader;

/* All items of PAYLOAD; what is wrong with it is counted. FALSE: the sink failed, or a limit. */
typedef gboolean (*BlockFunc)(Reader *reader, const WpWptBlock *block, WpBytes *payload,
			      GError **error);

static void
count_bad(Reader *reader, guint64 n, const char *reason)
{
	wp_trace_reading_bad(reader->reading, n, "byte", reader->offset, reason);
}

/* A text of an item: not terminated. FALSE where it is not all there or holds a NUL. */
static gboolean
take_text(WpBytes *payload, const char **out_text, gsize *out_length)
{
	gsize length = wp_bytes_le32(payload);
	const guint8 *text = wp_bytes_take(payload, length);

	if (!text || length > WP_WPT_MAX_TEXT || memchr(text, '\0', length))
		return FALSE;
	*out_text = (const char *)text;
	*out_length = length;
	return TRUE;
}

static gboolean
take_name(WpBytes *payload, char *out, gsize size)
{
	const char *text;
	gsize length;

	if (!take_text(payload, &text, &length) || length >= size)
		return FALSE;
	memcpy(out, text, length);
	out[length] = '\0';
	return TRUE;
}

static gboolean
read_strings(Reader *reader, const WpWptBlock *block, WpBytes *payload, GError **error)
{
	WpStrings *strings = wp_nodes_strings(reader->reading->nodes);

	for (guint32 i = 0; i < block->n; i++) {
		const char *text;
		gsize length;
		guint32 number = LOST;
		if (wp_strings_count(strings) > WP_TRACE_MAX_STRINGS) {
			g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_LIMIT,
				    "cannot read the trace %s: it has too many different ids and "
				    "labels",
				    wp_input_path(reader->reading->input));
			return FALSE;
		}
		if (take_text(payload, &text, &length))
			number = wp_strings_intern(strings, text, (gssize)length);
		else
			count_bad(reader, 1, "a text is damaged");
		g_array_append_val(reader->texts, number);
	}
	return TRUE;
}

static gboolean
read_nodes(Reader *reader, const WpWptBlock *block, WpBytes *payload, GError **error)
{
	WpNodes *nodes = reader->reading->nodes;
	g_autoptr(GString) key = g_string_new(NULL);

	for (guint32 i = 0; i < block->n; i++) {
		KnownNode known = { .node = LOST };
		const char *text;
		gsize length;
		if (!take_text(payload, &text, &length) || length == 0) {
			count_bad(reader, 1, "a node has no name");
		} else if (reader->nodes->len >= WP_TRACE_MAX_NODES) {
			count_bad(reader, 1, "too many nodes");
		} else {
			g_string_truncate(key, 0);
			g_string_append_len(key, text, (gssize)length);
			known.node = wp_nodes_by_key(nodes, key->str);
			const guint8 *address = wp_nodes_address(nodes, known.node);
			known.has_address = address != NULL;
			if (address)
				memcpy(known.address, address, sizeof known.address);
		}
		g_array_append_val(reader->nodes, known);
	}
	return TRUE;
}

static const KnownNode *
find_node(const Reader *reader, guint32 number)
{
	if (number >= reader->nodes->len)
		return NULL;
	const KnownNode *known = &g_array_index(reader->nodes, KnownNode, number);
	return known->node == LOST ? NULL : known;
}

static inline gboolean
find_text(const Reader *reader, guint32 number, guint32 *out)
{
	*out = number < reader->texts->len ? g_array_index(reader->texts, guint32, number) : LOST;
	return *out != LOST;
}

/* An id that is a text; one that looks like a number becomes that, as it does in the text form. */
static gboolean
find_id(const Reader *reader, guint64 id, guint64 *out_id)
{
	guint32 text;

	if (id - WP_ID_TEXT > G_MAXUINT32 || !find_text(reader, (guint32)(id - WP_ID_TEXT), &text))
		return FALSE;
	const char *name = wp_nodes_text(reader->reading->nodes, text);
	*out_id = g_ascii_isdigit(name[0])
			  ? wp_record_id_from_text(reader->reading->nodes, name, strlen(name))
			  : WP_ID_TEXT + text;
	return TRUE;
}

static gboolean
take_end(guint8 how, guint16 port, const KnownNode *node, WpBytes *extra, WpEndpoint *out)
{
	const guint8 *address = node ? node->address : NULL;

	if (how == WP_WPT_END_UNKNOWN)
		return TRUE;
	if (how == WP_WPT_END_OTHER)
		address = wp_bytes_take(extra, 16);
	else if (how != WP_WPT_END_NODE || !node || !node->has_address)
		return FALSE;
	if (!address)
		return FALSE;
	memcpy(out->address, address, 16);
	if (wp_endpoint_is_known(out))
		out->port = port;
	return TRUE;
}

/* What follows the records, for STORED; FALSE where it is not there. */
static gboolean
take_extra(Reader *reader, const WpWptRecord *stored, WpBytes *extra, WpRecord *out)
{
	const guint8 *tokens = wp_bytes_take(extra, stored->n_tokens * sizeof(guint32));
	gboolean ok = tokens && stored->n_tokens <= WP_RECORD_MAX_TOKENS;

	for (guint i = 0; ok && i < stored->n_tokens; i++) {
		memcpy(&reader->tokens[i], tokens + i * sizeof(guint32), sizeof(guint32));
		reader->tokens[i] = GUINT32_FROM_LE(reader->tokens[i]);
	}
	ok &= take_end(stored->src_end, GUINT16_FROM_LE(stored->src_port),
		       find_node(reader, GUINT32_FROM_LE(stored->sender)), extra, &out->src);
	ok &= take_end(stored->dst_end, GUINT16_FROM_LE(stored->dst_port),
		       find_node(reader, GUINT32_FROM_LE(stored->receiver)), extra, &out->dst);
	return ok;
}

/* Where the transports of a block begin: behind the tokens and addresses of all its records. */
static gboolean
skip_extras(const Reader *reader, const WpWptBlock *block, const guint8 *records, WpBytes *extra)
{
	gboolean ok = TRUE;

	for (guint32 i = 0; i < block->n && ok; i++) {
		WpWptRecord stored;
		memcpy(&stored, records + (gsize)i * reader->record_bytes, sizeof stored);
		gsize n = stored.n_tokens * sizeof(guint32);
		n += stored.src_end == WP_WPT_END_OTHER ? 16 : 0;
		n += stored.dst_end == WP_WPT_END_OTHER ? 16 : 0;
		ok = wp_bytes_skip(extra, n);
	}
	return ok;
}

/* Those of kinds of other versions are left out. */
static gboolean
take_transports(Reader *reader, const WpWptRecord *stored, WpBytes *transports, WpRecord *out)
{
	gsize size = WP_TRANSPORT_WORDS * sizeof(guint32);
	guint32 *words = reader->tokens + MIN(out->n_tokens, WP_RECORD_MAX_TOKENS);

	if (stored->n_transports > WP_RECORD_MAX_TRANSPORTS)
		return FALSE;
	for (guint i = 0; i < stored->n_transports; i++) {
		const guint8 *from = wp_bytes_take(transports, size);
		WpTransport transport;
		if (!from)
			return FALSE;
		memcpy(words, from, size);
		for (guint w = 0; w < WP_TRANSPORT_WORDS; w++)
			words[w] = GUINT32_FROM_LE(words[w]);
		if (wp_transport_unpack(words, &transport) && transport.end_ns <= MAX_TIME_NS &&
		    transport.begin_ns >= -MAX_TIME_NS) {
			words += WP_TRANSPORT_WORDS;
			out->n_transports++;
		}
	}
	return TRUE;
}

/* All of STORED but what follows the records; NULL, or what is wrong. */
static const char *
convert(const Reader *reader, const WpWptRecord *stored, WpRecord *out)
{
	const KnownNode *sender = find_node(reader, GUINT32_FROM_LE(stored->sender));
	const KnownNode *receiver = find_node(reader, GUINT32_FROM_LE(stored->receiver));

	out->begin_ns = GINT64_FROM_LE(stored->begin_ns);
	out->end_ns = GINT64_FROM_LE(stored->end_ns);
	out->id = GUINT64_FROM_LE(stored->id);
	out->packet = GUINT64_FROM_LE(stored->packet);
	out->bytes = GUINT64_FROM_LE(stored->bytes);
	out->flow = GUINT32_FROM_LE(stored->flow);
	out->kind = stored->kind;
	out->status = stored->status;
	out->marks = stored->marks & MARKS;
	out->tap = stored->tap;
	out->n_tokens = stored->n_tokens;
	if (!sender || !receiver)
		return "a record names a node that is not there";
	out->sender = sender->node;
	out->receiver = receiver->node;
	if (!find_text(reader, GUINT32_FROM_LE(stored->protocol), &out->protocol) ||
	    !find_text(reader, GUINT32_FROM_LE(stored->label), &out->label) ||
	    (out->id >= WP_ID_TEXT && !find_id(reader, out->id, &out->id)))
		return "a record names a text that is not there";
	if (out->kind > WP_KIND_MESSAGE || out->status > WP_STATUS_TIMEOUT)
		return "a record is of no known kind or status";
	/* As in a text trace, where it cannot be told from a number that is too large. */
	if (out->packet == G_MAXUINT64)
		return "the packet of a record is out of range";
	if (out->begin_ns < -MAX_TIME_NS || out->end_ns > MAX_TIME_NS)
		return "the times of a record are out of range";
	if (out->end_ns < out->begin_ns)
		return "a record ends before it begins";
	if (out->marks & WP_MARK_CUT)
		out->end_ns = out->begin_ns;
	return NULL;
}

/* The next record is to be number N of the file. */
static void
check_number(Reader *reader, guint64 n)
{
	if (n > reader->n_records)
		count_bad(reader, MIN(n - reader->n_records, G_MAXUINT32),
			  "records before it are missing");
}

static gboolean
read_ways(Reader *reader, const WpWptBlock *block, WpBytes *payload, GError **error)
{
	g_array_set_size(reader->ways, 0);
	for (guint32 i = 0; i < block->n; i++) {
		WpWptWays ways = { .record = wp_bytes_le32(payload) };
		wp_bytes_le32(payload);
		ways.begin_way_ns = (gint64)wp_bytes_le64(payload);
		ways.end_way_ns = (gint64)wp_bytes_le64(payload);
		g_array_append_val(reader->ways, ways);
	}
	return TRUE;
}

static gboolean
read_contexts(Reader *reader, const WpWptBlock *block, WpBytes *payload, GError **error)
{
	g_array_set_size(reader->contexts, 0);
	for (guint32 i = 0; i < block->n; i++) {
		WpWptContext context = { .record = wp_bytes_le32(payload) };
		wp_bytes_le32(payload);
		context.high = wp_bytes_le64(payload);
		context.low = wp_bytes_le64(payload);
		context.parent = wp_bytes_le64(payload);
		g_array_append_val(reader->contexts, context);
	}
	return TRUE;
}

static gboolean
read_causes(Reader *reader, const WpWptBlock *block, WpBytes *payload, GError **error)
{
	g_array_set_size(reader->causes, 0);
	for (guint32 i = 0; i < block->n; i++) {
		WpWptCause cause = { .record = wp_bytes_le32(payload) };
		wp_bytes_le32(payload);
		cause.id = wp_bytes_le64(payload);
		g_array_append_val(reader->causes, cause);
	}
	return TRUE;
}

/*
 * Of ITEMS, each of which begins with the number of its record, that of record I, or NULL; *NEXT is the first not yet
 * used.
 */
static gconstpointer
find_item(const GArray *items, gsize size, guint32 i, guint *next)
{
	guint32 record = 0;
	while (*next < items->len) {
		memcpy(&record, items->data + *next * size, sizeof record);
		if (record >= i)
			break;
		++*next;
	}
	return *next < items->len && record == i ? items->data + *next * size : NULL;
}

/* Whether it is a time still, WAY_NS after AT_NS, which is one. */
static gboolean
arrives(gint64 at_ns, gint64 way_ns)
{
	return way_ns >= -MAX_TIME_NS - at_ns && way_ns <= MAX_TIME_NS - at_ns;
}

/* What the block of WAYS before this one says of record I, of which *NEXT is the first not yet used. */
static void
take_ways(const Reader *reader, guint32 i, guint *next, WpRecord *record)
{
	const WpWptWays *ways = find_item(reader->ways, sizeof *ways, i, next);
	if (!ways || !arrives(record->begin_ns, ways->begin_way_ns) ||
	    !arrives(record->end_ns, ways->end_way_ns))
		return;
	record->begin_way_ns = ways->begin_way_ns;
	record->end_way_ns = ways->end_way_ns;
	record->marks |= WP_MARK_BOTH_ENDS;
}

/* The same of its trace, behind all else that it has. */
static void
take_context(Reader *reader, guint32 i, guint *next, WpRecord *record)
{
	const WpWptContext *stored = find_item(reader->contexts, sizeof *stored, i, next);
	if (!stored || !stored->parent || !(stored->high | stored->low))
		return;
	WpTraceContext context = { stored->high, stored->low, stored->parent };
	wp_trace_context_pack(&context, reader->tokens + wp_record_context_at(record));
	record->marks |= WP_MARK_TRACED;
}

static void
take_cause(Reader *reader, guint32 i, guint *next, WpRecord *record)
{
	const WpWptCause *cause = find_item(reader->causes, sizeof *cause, i, next);
	guint64 id = cause ? cause->id : 0;
	if (!cause || (id >= WP_ID_TEXT && !find_id(reader, id, &id)))
		return;
	wp_record_put_cause(record, id, reader->tokens);
	record->marks |= WP_MARK_CAUSED;
}

static gboolean
read_records(Reader *reader, const WpWptBlock *block, WpBytes *payload, GError **error)
{
	WpBytes extra = *payload;
	guint next_ways = 0, next_context = 0, next_cause = 0;
	gboolean ok = wp_bytes_skip(&extra, (gsize)block->n * reader->record_bytes);
	WpBytes transports = extra;

	if (!ok) {
		count_bad(reader, 1, "a block has fewer records than it says");
		return TRUE;
	}
	skip_extras(reader, block, payload->data, &transports);
	check_number(reader, block->first);
	reader->n_records = MAX(reader->n_records, block->first + block->n);
	for (guint32 i = 0; i < block->n; i++) {
		WpWptRecord stored;
		WpRecord record = { 0 };
		memcpy(&stored, payload->data + (gsize)i * reader->record_bytes, sizeof stored);
		const char *bad = convert(reader, &stored, &record);
		if (!take_extra(reader, &stored, &extra, &record) && !bad)
			bad = "the tokens or addresses of a record are missing";
		if (!bad)
			take_ways(reader, i, &next_ways, &record);
		if (!take_transports(reader, &stored, &transports, &record) && !bad)
			bad = "the transports of a record are missing";
		if (!bad) {
			take_context(reader, i, &next_context, &record);
			take_cause(reader, i, &next_cause, &record);
		}
		if (bad)
			count_bad(reader, 1, bad);
		else if (!wp_trace_reading_record(reader->reading, &record, reader->tokens, error))
			return FALSE;
	}
	g_array_set_size(reader->ways, 0);
	g_array_set_size(reader->contexts, 0);
	g_array_set_size(reader->causes, 0);
	return TRUE;
}

static gboolean
read_settings(Reader *reader, const WpWptBlock *block, WpBytes *payload, GError **error)
{
	for (guint32 i = 0; i < block->n; i++) {
		const char *key, *value;
		gsize n_key, n_value;
		if (!take_text(payload, &key, &n_key) || !take_text(payload, &value, &n_value)) {
			count_bad(reader, 1, "a setting is damaged");
			return TRUE;
		}
		g_autofree char *key_copy = g_strndup(key, n_key);
		g_autofree char *value_copy = g_strndup(value, n_value);
		if (!wp_trace_reading_setting(reader->reading, key_copy, value_copy, error))
			return FALSE;
	}
	return TRUE;
}

/* Counters of other versions are left out. */
static gboolean
read_counts(Reader *reader, const WpWptBlock *block, WpBytes *payload, gboolean is_part)
{
	for (guint32 i = 0; i < block->n; i++) {
		guint64 n = wp_bytes_le64(payload);
		guint32 sender = wp_bytes_le32(payload), receiver = wp_bytes_le32(payload);
		const KnownNode *from = find_node(reader, sender),
				*to = find_node(reader, receiver);
		WpCounter counter;
		char name[64];
		if (!take_name(payload, name, sizeof name) || n > G_MAXINT64) {
			count_bad(reader, 1, "a counter is damaged");
			return TRUE;
		}
		if (!wp_counter_from_name(name, &counter))
			continue;
		if (from && to)
			(is_part ? wp_trace_reading_part : wp_trace_reading_pair)(
				reader->reading, counter, from->node, to->node, n);
		else if (sender != WP_NO_NODE || receiver != WP_NO_NODE)
			count_bad(reader, 1, "a counter names a node that is not there");
		else if (!is_part)
			wp_trace_reading_total(reader->reading, counter, n);
	}
	return TRUE;
}

static gboolean
read_counters(Reader *reader, const WpWptBlock *block, WpBytes *payload, GError **error)
{
	return read_counts(reader, block, payload, FALSE);
}

static gboolean
read_parts(Reader *reader, const WpWptBlock *block, WpBytes *payload, GError **error)
{
	return read_counts(reader, block, payload, TRUE);
}

static gboolean
read_hints(Reader *reader, const WpWptBlock *block, WpBytes *payload, GError **error)
{
	for (guint32 i = 0; i < block->n; i++) {
		guint64 count = wp_bytes_le64(payload);
		const KnownNode *node = find_node(reader, wp_bytes_le32(payload));
		WpNameSource source;
		const char *name;
		gsize length;
		char word[16];
		if (!take_name(payload, word, sizeof word) || !take_text(payload, &name, &length) ||
		    !node || count > G_MAXINT64) {
			count_bad(reader, 1, "the name of a node is damaged");
			return TRUE;
		}
		if (wp_name_source_from_name(word, &source))
			wp_nodes_add_hints(reader->reading->nodes, node->node, source, name,
					   (gssize)length, count);
	}
	return TRUE;
}

static gboolean
read_done(Reader *reader, const WpWptBlock *block, WpBytes *payload, GError **error)
{
	check_number(reader, block->first);
	reader->is_done = TRUE;
	return TRUE;
}

static const struct {
	char kind[5];
	BlockFunc read;
	guint32 item_bytes; /* at least */
} kinds[] = {
	{ "RECS", read_records, sizeof(WpWptRecord) },
	{ "WAYS", read_ways, sizeof(WpWptWays) },
	{ "CTXT", read_contexts, sizeof(WpWptContext) },
	{ "CAUS", read_causes, sizeof(WpWptCause) },
	{ "STRS", read_strings, 4 },
	{ "NODE", read_nodes, 4 },
	{ "SETT", read_settings, 8 },
	{ "COUN", read_counters, 20 },
	{ "PART", read_parts, 20 },
	{ "HINT", read_hints, 20 },
	{ "DONE", read_done, 1 },
};

/*
 * A block whose sum is wrong. What comes after it keeps its number; texts and nodes count where a record
 * names them.
 */
static void
note_lost(Reader *reader, const WpWptBlock *block)
{
	gboolean is_records = memcmp(block->kind, "RECS", 4) == 0;
	KnownNode node = { .node = LOST };
	guint32 text = LOST;

	count_bad(reader, is_records ? block->n : 1, "a block is damaged");
	if (memcmp(block->kind, "STRS", 4) == 0)
		for (guint32 i = 0; i < block->n; i++)
			g_array_append_val(reader->texts, text);
	if (memcmp(block->kind, "NODE", 4) == 0)
		for (guint32 i = 0; i < block->n; i++)
			g_array_append_val(reader->nodes, node);
	if (is_records)
		reader->n_records = MAX(reader->n_records, block->first + block->n);
}

/* TRUE where texts or nodes of BLOCK have the numbers that the tables will give them. */
static gboolean
is_in_order(const Reader *reader, const WpWptBlock *block)
{
	if (memcmp(block->kind, "STRS", 4) == 0)
		return block->first == reader->texts->len;
	if (memcmp(block->kind, "NODE", 4) == 0)
		return block->first == reader->nodes->len;
	return block->first < G_MAXINT64;
}

static gboolean
read_block(Reader *reader, const WpWptBlock *block, const guint8 *payload, GError **error)
{
	WpBytes bytes = wp_bytes(payload, block->bytes);
	gsize k = 0;

	while (k < G_N_ELEMENTS(kinds) && memcmp(block->kind, kinds[k].kind, 4) != 0)
		k++;
	if (k == G_N_ELEMENTS(kinds))
		return TRUE;
	if (block->n > block->bytes / kinds[k].item_bytes || !is_in_order(reader, block)) {
		count_bad(reader, 1, "the numbers of a block make no sense");
		return TRUE;
	}
	if (wp_wpt_sum(payload, block->bytes) != block->sum) {
		note_lost(reader, block);
		return TRUE;
	}
	return kinds[k].read(reader, block, &bytes, error);
}

/* The head of a block at DATA, in the order of this machine; FALSE where it is none. */
static gboolean
parse_block(const guint8 *data, WpWptBlock *out)
{
	memcpy(out, data, sizeof *out);
	gboolean ok = GUINT32_FROM_LE(out->check) == wp_wpt_check(out);
	out->bytes = GUINT32_FROM_LE(out->bytes);
	out->n = GUINT32_FROM_LE(out->n);
	out->first = GUINT64_FROM_LE(out->first);
	out->sum = GUINT64_FROM_LE(out->sum);
	return ok && out->bytes % 8 == 0 && out->bytes <= WP_WPT_MAX_PAYLOAD;
}

/* The next block, or the end of the file. */
static gboolean
read_next(Reader *reader, GError **error)
{
	WpInput *input = reader->reading->input;
	WpWptBlock block;
	const guint8 *data;
	gssize n = wp_input_peek(input, sizeof block, &data, error);

	if (n < 0)
		return FALSE;
	if (reader->is_done && n > 0)
		count_bad(reader, 1, "something follows the end of the trace");
	reader->is_over = reader->is_done || n < (gssize)sizeof block;
	if (reader->is_over) {
		if (!reader->is_done)
			wp_trace_reading_cut(reader->reading);
		return TRUE;
	}
	if (!parse_block(data, &block)) {
		count_bad(reader, 1, "the head of a block is damaged; the rest is not read");
		wp_trace_reading_cut(reader->reading);
		reader->is_over = TRUE;
		return TRUE;
	}
	n = wp_input_peek(input, sizeof block + block.bytes, &data, error);
	if (n < 0)
		return FALSE;
	if ((gsize)n < sizeof block + block.bytes) {
		wp_trace_reading_cut(reader->reading);
		reader->is_over = TRUE;
		return TRUE;
	}
	gboolean ok = read_block(reader, &block, data + sizeof block, error);
	wp_input_consume(input, sizeof block + block.bytes);
	reader->offset += sizeof block + block.bytes;
	return ok;
}

static gboolean
read_head(Reader *reader, GError **error)
{
	WpInput *input = reader->reading->input;
	WpWptHead head;
	const guint8 *data;
	gssize n = wp_input_peek(input, sizeof head, &data, error);

	if (n < 0)
		return FALSE;
	if (n < (gssize)sizeof head) {
		wp_trace_reading_cut(reader->reading);
		reader->is_over = TRUE;
		return TRUE;
	}
	memcpy(&head, data, sizeof head);
	head.version = GUINT32_FROM_LE(head.version);
	reader->record_bytes = GUINT32_FROM_LE(head.record_bytes);
	if (head.version != WP_WPT_VERSION || reader->record_bytes < sizeof(WpWptRecord) ||
	    reader->record_bytes > WP_WPT_MAX_RECORD) {
		g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_FORMAT,
			    "cannot read the trace %s: its version is %u, not %d; use the program "
			    "that wrote it",
			    wp_input_path(input), head.version, WP_WPT_VERSION);
		return FALSE;
	}
	wp_input_consume(input, sizeof head);
	reader->offset = sizeof head;
	reader->reading->has_header = TRUE;
	return TRUE;
}

static gboolean
read_all(Reader *reader, GError **error)
{
	if (!read_head(reader, error))
		return FALSE;
	while (!reader->is_over && !reader->reading->is_stopped) {
		if (!read_next(reader, error))
			return FALSE;
		if (reader->n_records - reader->n_told >= PROGRESS_RECORDS) {
			reader->n_told = reader->n_records;
			wp_trace_reading_go_on(reader->reading);
		}
	}
	return TRUE;
}

gboolean
wp_wpt_read(WpTraceReading *reading, GError **error)
{
	Reader reader = {
		.reading = reading,
		.texts = g_array_new(FALSE, TRUE, sizeof(guint32)),
		.nodes = g_array_new(FALSE, FALSE, sizeof(KnownNode)),
		.ways = g_array_new(FALSE, FALSE, sizeof(WpWptWays)),
		.contexts = g_array_new(FALSE, FALSE, sizeof(WpWptContext)),
		.causes = g_array_new(FALSE, FALSE, sizeof(WpWptCause)),
	};

	g_array_set_size(reader.texts, 1); /* text 0 is "" */
	gboolean ok = read_all(&reader, error);
	g_array_unref(reader.texts);
	g_array_unref(reader.nodes);
	g_array_unref(reader.ways);
	g_array_unref(reader.contexts);
	g_array_unref(reader.causes);
	return ok;
}

gboolean
wp_wpt_detect(const guint8 *head, gsize length)
{
	return length >= WP_WPT_MAGIC_BYTES && memcmp(head, WP_WPT_MAGIC, WP_WPT_MAGIC_BYTES) == 0;
}
