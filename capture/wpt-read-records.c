/*
 * The records of the binary form, of both versions, and what stands beside them: rows become records, in
 * which the numbers of the file's texts and nodes are ours, and each field is one that a record may have.
 */
#include "capture/wpt-read-private.h"

#include "capture/trace-context.h"
#include "capture/trace.h"
#include "capture/transport.h"

#define MAX_TIME_NS (WP_TRACE_MAX_SECONDS * G_GINT64_CONSTANT(1000000000) + 999999999)
#define MARKS       (WP_MARK_SETUP | WP_MARK_WAIT | WP_MARK_CUT | WP_MARK_BOTH_ENDS)

/* The field of ROW, as the number that it is. */
static inline guint32
u32_of(const WpWptRow *row, WpWptField field)
{
	return (guint32)MIN(row->fields[field], G_MAXUINT32);
}

static inline guint8
u8_of(const WpWptRow *row, WpWptField field)
{
	return (guint8)MIN(row->fields[field], G_MAXUINT8);
}

static inline gboolean
find_text(const WpWptReader *reader, guint32 number, guint32 *out)
{
	*out = number < reader->texts->len ? g_array_index(reader->texts, guint32, number)
					   : WP_WPT_LOST;
	return *out != WP_WPT_LOST;
}

/* An id that is a text; one that looks like a number becomes that, as it does in the text form. */
static gboolean
find_id(const WpWptReader *reader, guint64 id, guint64 *out_id)
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
take_end(guint64 how, guint64 port, const WpWptNode *node, WpBytes *extra, WpEndpoint *out)
{
	const guint8 *address = node ? node->address : NULL;

	if (how == WP_WPT_END_UNKNOWN)
		return TRUE;
	if (how == WP_WPT_END_OTHER)
		address = wp_bytes_take(extra, 16);
	else if (how != WP_WPT_END_NODE || !node || !node->has_address)
		return FALSE;
	if (!address || port > G_MAXUINT16)
		return FALSE;
	memcpy(out->address, address, 16);
	if (wp_endpoint_is_known(out))
		out->port = (guint16)port;
	return TRUE;
}

/* What follows the records, for ROW; FALSE where it is not there. */
static gboolean
take_extra(WpWptReader *reader, const WpWptRow *row, WpBytes *extra, WpRecord *out)
{
	const guint64 *fields = row->fields;
	guint n = u8_of(row, WP_WPT_N_TOKENS);
	const guint8 *tokens = wp_bytes_take(extra, n * sizeof(guint32));
	gboolean ok = tokens && n <= WP_RECORD_MAX_TOKENS;

	out->n_tokens = ok ? (guint8)n : 0;
	for (guint i = 0; ok && i < n; i++) {
		memcpy(&reader->tokens[i], tokens + i * sizeof(guint32), sizeof(guint32));
		reader->tokens[i] = GUINT32_FROM_LE(reader->tokens[i]);
	}
	ok &= take_end(fields[WP_WPT_SRC_END], fields[WP_WPT_SRC_PORT],
		       wp_wpt_find_node(reader, u32_of(row, WP_WPT_SENDER)), extra, &out->src);
	ok &= take_end(fields[WP_WPT_DST_END], fields[WP_WPT_DST_PORT],
		       wp_wpt_find_node(reader, u32_of(row, WP_WPT_RECEIVER)), extra, &out->dst);
	return ok;
}

/* Where the transports of a block begin: behind the tokens and addresses of all its records. */
static void
skip_extras(const GArray *rows, WpBytes *extra)
{
	gboolean ok = TRUE;

	for (guint i = 0; i < rows->len && ok; i++) {
		const WpWptRow *row = &g_array_index(rows, WpWptRow, i);
		gsize n = u8_of(row, WP_WPT_N_TOKENS) * sizeof(guint32);
		n += row->fields[WP_WPT_SRC_END] == WP_WPT_END_OTHER ? 16 : 0;
		n += row->fields[WP_WPT_DST_END] == WP_WPT_END_OTHER ? 16 : 0;
		ok = wp_bytes_skip(extra, n);
	}
}

/* Those of kinds of other versions are left out. */
static gboolean
take_transports(WpWptReader *reader, const WpWptRow *row, WpBytes *transports, WpRecord *out)
{
	gsize size = WP_TRANSPORT_WORDS * sizeof(guint32);
	guint n = u8_of(row, WP_WPT_N_TRANSPORTS);
	guint32 *words = reader->tokens + out->n_tokens;

	if (n > WP_RECORD_MAX_TRANSPORTS)
		return FALSE;
	for (guint i = 0; i < n; i++) {
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

/* When ROW begins and ends; NULL, or what is wrong. */
static const char *
convert_times(const WpWptRow *row, WpRecord *out)
{
	gint64 begin = (gint64)row->fields[WP_WPT_BEGIN];
	guint64 duration = row->fields[WP_WPT_DURATION];

	if (begin < -MAX_TIME_NS || begin > MAX_TIME_NS)
		return "the times of a record are out of range";
	if (duration > G_MAXINT64)
		return "a record ends before it begins";
	if (duration > (guint64)(MAX_TIME_NS - begin))
		return "the times of a record are out of range";
	out->begin_ns = begin;
	out->end_ns = out->marks & WP_MARK_CUT ? begin : begin + (gint64)duration;
	return NULL;
}

/* All of ROW but what follows the records and stands beside them; NULL, or what is wrong. */
static const char *
convert(const WpWptReader *reader, const WpWptRow *row, WpRecord *out)
{
	const guint64 *fields = row->fields;
	const WpWptNode *sender = wp_wpt_find_node(reader, u32_of(row, WP_WPT_SENDER));
	const WpWptNode *receiver = wp_wpt_find_node(reader, u32_of(row, WP_WPT_RECEIVER));

	out->id = wp_wpt_id_from_field(fields[WP_WPT_ID]);
	out->packet = fields[WP_WPT_PACKET];
	out->bytes = fields[WP_WPT_BYTES] - 1;
	out->flow = (guint32)fields[WP_WPT_FLOW];
	out->kind = u8_of(row, WP_WPT_KIND);
	out->status = u8_of(row, WP_WPT_STATUS);
	out->marks = fields[WP_WPT_MARKS] & MARKS;
	out->tap = (guint8)fields[WP_WPT_TAP];
	if (!sender || !receiver)
		return "a record names a node that is not there";
	out->sender = sender->node;
	out->receiver = receiver->node;
	if (!find_text(reader, u32_of(row, WP_WPT_PROTOCOL), &out->protocol) ||
	    !find_text(reader, u32_of(row, WP_WPT_LABEL), &out->label) ||
	    (out->id >= WP_ID_TEXT && !find_id(reader, out->id, &out->id)))
		return "a record names a text that is not there";
	if (out->kind > WP_KIND_MESSAGE || out->status > WP_STATUS_TIMEOUT)
		return "a record is of no known kind or status";
	/* As in a text trace, where it cannot be told from a number that is too large. */
	if (out->packet == G_MAXUINT64)
		return "the packet of a record is out of range";
	if (fields[WP_WPT_FLOW] > G_MAXUINT32 || fields[WP_WPT_TAP] > G_MAXUINT8)
		return "the flow or tap of a record is out of range";
	return convert_times(row, out);
}

/* What a block before this one said of record I, or NULL. */
static const guint64 *
find_aside(WpWptReader *reader, WpWptAsideKind kind, guint32 i)
{
	const GArray *items = reader->asides[kind].items;
	guint *next = &reader->asides[kind].next;

	while (*next < items->len && g_array_index(items, WpWptAside, *next).record < i)
		++*next;
	if (*next >= items->len)
		return NULL;
	const WpWptAside *aside = &g_array_index(items, WpWptAside, *next);
	return aside->record == i ? aside->words : NULL;
}

/* Whether it is a time still, WAY_NS after AT_NS, which is one. */
static gboolean
arrives(gint64 at_ns, gint64 way_ns)
{
	return way_ns >= -MAX_TIME_NS - at_ns && way_ns <= MAX_TIME_NS - at_ns;
}

/* How much later ROW, number I of its block, came by the tap of its receiver. */
static void
take_ways(WpWptReader *reader, const WpWptRow *row, guint32 i, WpRecord *record)
{
	const guint64 *words = find_aside(reader, WP_WPT_WAYS, i);

	if (!words && record->marks & WP_MARK_BOTH_ENDS)
		words = row->fields + WP_WPT_BEGIN_WAY;
	record->marks &= (guint8)~WP_MARK_BOTH_ENDS;
	if (!words || !arrives(record->begin_ns, (gint64)words[0]) ||
	    !arrives(record->end_ns, (gint64)words[1]))
		return;
	record->begin_way_ns = (gint64)words[0];
	record->end_way_ns = (gint64)words[1];
	record->marks |= WP_MARK_BOTH_ENDS;
}

/* The trace that it names, behind all else that it has. */
static void
take_context(WpWptReader *reader, guint32 i, WpRecord *record)
{
	const guint64 *words = find_aside(reader, WP_WPT_CTXT, i);

	if (!words || !words[2] || !(words[0] | words[1]))
		return;
	WpTraceContext context = { .high = words[0], .low = words[1], .parent = words[2] };
	wp_trace_context_pack(&context, reader->tokens + wp_record_context_at(record));
	record->marks |= WP_MARK_TRACED;
}

static void
take_cause(WpWptReader *reader, guint32 i, WpRecord *record)
{
	const guint64 *words = find_aside(reader, WP_WPT_CAUS, i);
	guint64 id = words ? words[0] : 0;

	/* The empty text is no id, and that of no call. */
	if (!words || (id >= WP_ID_TEXT && !find_id(reader, id, &id)) || id == WP_ID_TEXT)
		return;
	wp_record_put_cause(record, id, reader->tokens);
	record->marks |= WP_MARK_CAUSED;
}

/* Row I of its block, a record. EXTRA and TRANSPORTS are behind those of the rows before it. */
static gboolean
read_row(WpWptReader *reader, guint32 i, WpBytes *extra, WpBytes *transports, GError **error)
{
	const WpWptRow *row = &g_array_index(reader->rows, WpWptRow, i);
	WpRecord record = { 0 };
	const char *bad = convert(reader, row, &record);

	if (!take_extra(reader, row, extra, &record) && !bad)
		bad = "the tokens or addresses of a record are missing";
	if (!take_transports(reader, row, transports, &record) && !bad)
		bad = "the transports of a record are missing";
	if (bad) {
		wp_wpt_count_bad(reader, 1, bad);
		return TRUE;
	}
	take_ways(reader, row, i, &record);
	take_context(reader, i, &record);
	take_cause(reader, i, &record);
	return wp_trace_reading_record(reader->reading, &record, reader->tokens, error);
}

/* All rows of BLOCK; what they have besides follows in PAYLOAD. */
static gboolean
read_rows(WpWptReader *reader, const WpWptBlock *block, WpBytes *payload, GError **error)
{
	WpBytes transports = *payload;
	gboolean ok = TRUE;

	skip_extras(reader->rows, &transports);
	wp_wpt_check_number(reader, block->first);
	reader->n_records = MAX(reader->n_records, block->first + block->n);
	for (guint32 i = 0; i < block->n && ok; i++)
		ok = read_row(reader, i, payload, &transports, error);
	return ok;
}

gboolean
wp_wpt_read_records(WpWptReader *reader, const WpWptBlock *block, WpBytes *payload, GError **error)
{
	const guint8 *records = wp_bytes_take(payload, (gsize)block->n * reader->record_bytes);

	if (!records) {
		wp_wpt_count_bad(reader, 1, "a block has fewer records than it says");
		return TRUE;
	}
	g_array_set_size(reader->rows, block->n);
	for (guint32 i = 0; i < block->n; i++) {
		WpWptRecord stored;
		memcpy(&stored, records + (gsize)i * reader->record_bytes, sizeof stored);
		wp_wpt_row_from_record(&stored, &g_array_index(reader->rows, WpWptRow, i));
	}
	return read_rows(reader, block, payload, error);
}

gboolean
wp_wpt_read_columns(WpWptReader *reader, const WpWptBlock *block, WpBytes *payload, GError **error)
{
	g_array_set_size(reader->rows, block->n);
	if (wp_wpt_unpack(payload, block->n, (WpWptRow *)(gpointer)reader->rows->data))
		return read_rows(reader, block, payload, error);
	wp_wpt_count_bad(reader, block->n, "the columns of a block make no sense");
	return TRUE;
}

void
wp_wpt_forget_asides(WpWptReader *reader)
{
	for (guint kind = 0; kind < WP_WPT_N_ASIDES; kind++) {
		g_array_set_size(reader->asides[kind].items, 0);
		reader->asides[kind].next = 0;
	}
}

gboolean
wp_wpt_read_asides(WpWptReader *reader, const WpWptBlock *block, WpBytes *payload, GError **error)
{
	static const struct {
		char kind[5];
		guint8 n_words;
	} rows[WP_WPT_N_ASIDES] = { { "WAYS", 2 }, { "CTXT", 3 }, { "CAUS", 1 } };
	WpWptAsideKind kind = 0;

	while (kind < WP_WPT_N_ASIDES - 1 && memcmp(block->kind, rows[kind].kind, 4) != 0)
		kind++;
	GArray *items = reader->asides[kind].items;
	g_array_set_size(items, 0);
	reader->asides[kind].next = 0;
	for (guint32 i = 0; i < block->n; i++) {
		WpWptAside aside = { .record = wp_bytes_le32(payload) };
		wp_bytes_le32(payload);
		for (guint w = 0; w < rows[kind].n_words; w++)
			aside.words[w] = wp_bytes_le64(payload);
		g_array_append_val(items, aside);
	}
	return TRUE;
}
