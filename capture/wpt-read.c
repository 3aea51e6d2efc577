/*
 * Reader of the binary form. A block is looked at as a whole: where its sum is wrong it is passed over
 * and its records count as bad; where its head is wrong the rest of the file cannot be found any more.
 * The numbers of the file's texts and nodes become ours by two tables.
 */
#include "capture/trace.h"
#include "capture/wpt-read-private.h"

#define PROGRESS_RECORDS 16384

/* All items of PAYLOAD; what is wrong with it is counted. FALSE: the sink failed, or a limit. */
typedef gboolean (*BlockFunc)(WpWptReader *reader, const WpWptBlock *block, WpBytes *payload,
			      GError **error);

void
wp_wpt_count_bad(WpWptReader *reader, guint64 n, const char *reason)
{
	wp_trace_reading_bad(reader->reading, n, "byte", reader->offset, reason);
}

const WpWptNode *
wp_wpt_find_node(const WpWptReader *reader, guint32 number)
{
	if (number >= reader->nodes->len)
		return NULL;
	const WpWptNode *known = &g_array_index(reader->nodes, WpWptNode, number);
	return known->node == WP_WPT_LOST ? NULL : known;
}

void
wp_wpt_check_number(WpWptReader *reader, guint64 n)
{
	if (n > reader->n_records)
		wp_wpt_count_bad(reader, MIN(n - reader->n_records, G_MAXUINT32),
				 "records before it are missing");
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
read_strings(WpWptReader *reader, const WpWptBlock *block, WpBytes *payload, GError **error)
{
	WpStrings *strings = wp_nodes_strings(reader->reading->nodes);

	for (guint32 i = 0; i < block->n; i++) {
		const char *text;
		gsize length;
		guint32 number = WP_WPT_LOST;
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
			wp_wpt_count_bad(reader, 1, "a text is damaged");
		g_array_append_val(reader->texts, number);
	}
	return TRUE;
}

static gboolean
read_nodes(WpWptReader *reader, const WpWptBlock *block, WpBytes *payload, GError **error)
{
	WpNodes *nodes = reader->reading->nodes;
	g_autoptr(GString) key = g_string_new(NULL);

	for (guint32 i = 0; i < block->n; i++) {
		WpWptNode known = { .node = WP_WPT_LOST };
		const char *text;
		gsize length;
		if (!take_text(payload, &text, &length) || length == 0) {
			wp_wpt_count_bad(reader, 1, "a node has no name");
		} else if (reader->nodes->len >= WP_TRACE_MAX_NODES) {
			wp_wpt_count_bad(reader, 1, "too many nodes");
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

static gboolean
read_settings(WpWptReader *reader, const WpWptBlock *block, WpBytes *payload, GError **error)
{
	for (guint32 i = 0; i < block->n; i++) {
		const char *key, *value;
		gsize n_key, n_value;
		if (!take_text(payload, &key, &n_key) || !take_text(payload, &value, &n_value)) {
			wp_wpt_count_bad(reader, 1, "a setting is damaged");
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
read_counts(WpWptReader *reader, const WpWptBlock *block, WpBytes *payload, gboolean is_part)
{
	for (guint32 i = 0; i < block->n; i++) {
		guint64 n = wp_bytes_le64(payload);
		guint32 sender = wp_bytes_le32(payload), receiver = wp_bytes_le32(payload);
		const WpWptNode *from = wp_wpt_find_node(reader, sender),
				*to = wp_wpt_find_node(reader, receiver);
		WpCounter counter;
		char name[64];
		if (!take_name(payload, name, sizeof name) || n > G_MAXINT64) {
			wp_wpt_count_bad(reader, 1, "a counter is damaged");
			return TRUE;
		}
		if (!wp_counter_from_name(name, &counter))
			continue;
		if (from && to)
			(is_part ? wp_trace_reading_part : wp_trace_reading_pair)(
				reader->reading, counter, from->node, to->node, n);
		else if (sender != WP_NO_NODE || receiver != WP_NO_NODE)
			wp_wpt_count_bad(reader, 1, "a counter names a node that is not there");
		else if (!is_part)
			wp_trace_reading_total(reader->reading, counter, n);
	}
	return TRUE;
}

static gboolean
read_counters(WpWptReader *reader, const WpWptBlock *block, WpBytes *payload, GError **error)
{
	return read_counts(reader, block, payload, FALSE);
}

static gboolean
read_parts(WpWptReader *reader, const WpWptBlock *block, WpBytes *payload, GError **error)
{
	return read_counts(reader, block, payload, TRUE);
}

static gboolean
read_hints(WpWptReader *reader, const WpWptBlock *block, WpBytes *payload, GError **error)
{
	for (guint32 i = 0; i < block->n; i++) {
		guint64 count = wp_bytes_le64(payload);
		const WpWptNode *node = wp_wpt_find_node(reader, wp_bytes_le32(payload));
		WpNameSource source;
		const char *name;
		gsize length;
		char word[16];
		if (!take_name(payload, word, sizeof word) || !take_text(payload, &name, &length) ||
		    !node || count > G_MAXINT64) {
			wp_wpt_count_bad(reader, 1, "the name of a node is damaged");
			return TRUE;
		}
		if (wp_name_source_from_name(word, &source))
			wp_nodes_add_hints(reader->reading->nodes, node->node, source, name,
					   (gssize)length, count);
	}
	return TRUE;
}

static gboolean
read_done(WpWptReader *reader, const WpWptBlock *block, WpBytes *payload, GError **error)
{
	wp_wpt_check_number(reader, block->first);
	reader->is_done = TRUE;
	return TRUE;
}

static const struct {
	char kind[5];
	BlockFunc read;
	guint32 item_bytes; /* at least; 0: items may take no room */
} kinds[] = {
	{ "COLS", wp_wpt_read_columns, 0 }, { "RECS", wp_wpt_read_records, sizeof(WpWptRecord) },
	{ "WAYS", wp_wpt_read_asides, 24 }, { "CTXT", wp_wpt_read_asides, 32 },
	{ "CAUS", wp_wpt_read_asides, 16 }, { "STRS", read_strings, 4 },
	{ "NODE", read_nodes, 4 },          { "SETT", read_settings, 8 },
	{ "COUN", read_counters, 20 },      { "PART", read_parts, 20 },
	{ "HINT", read_hints, 20 },         { "DONE", read_done, 1 },
};

static gboolean
has_records(const WpWptBlock *block)
{
	return memcmp(block->kind, "COLS", 4) == 0 || memcmp(block->kind, "RECS", 4) == 0;
}

/*
 * A block whose sum is wrong. What comes after it keeps its number; texts and nodes count where a record
 * names them.
 */
static void
note_lost(WpWptReader *reader, const WpWptBlock *block)
{
	WpWptNode node = { .node = WP_WPT_LOST };
	guint32 text = WP_WPT_LOST;

	wp_wpt_count_bad(reader, has_records(block) ? block->n : 1, "a block is damaged");
	if (memcmp(block->kind, "STRS", 4) == 0)
		for (guint32 i = 0; i < block->n; i++)
			g_array_append_val(reader->texts, text);
	if (memcmp(block->kind, "NODE", 4) == 0)
		for (guint32 i = 0; i < block->n; i++)
			g_array_append_val(reader->nodes, node);
	if (has_records(block))
		reader->n_records = MAX(reader->n_records, block->first + block->n);
}

/* TRUE where texts or nodes of BLOCK have the numbers that the tables will give them. */
static gboolean
is_in_order(const WpWptReader *reader, const WpWptBlock *block)
{
	if (memcmp(block->kind, "STRS", 4) == 0)
		return block->first == reader->texts->len;
	if (memcmp(block->kind, "NODE", 4) == 0)
		return block->first == reader->nodes->len;
	return block->first < G_MAXINT64;
}

/* TRUE where BLOCK, each of whose items takes ITEM_BYTES at least, can have so many as it says. */
static gboolean
has_room(const WpWptBlock *block, guint32 item_bytes)
{
	return block->n <= (item_bytes ? block->bytes / item_bytes : WP_WPT_MAX_ROWS);
}

static gboolean
read_block(WpWptReader *reader, const WpWptBlock *block, const guint8 *payload, GError **error)
{
	WpBytes bytes = wp_bytes(payload, block->bytes);
	gsize k = 0;

	while (k < G_N_ELEMENTS(kinds) && memcmp(block->kind, kinds[k].kind, 4) != 0)
		k++;
	if (k == G_N_ELEMENTS(kinds))
		return TRUE;
	if (!has_room(block, kinds[k].item_bytes) || !is_in_order(reader, block)) {
		wp_wpt_count_bad(reader, 1, "the numbers of a block make no sense");
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
read_next(WpWptReader *reader, GError **error)
{
	WpInput *input = reader->reading->input;
	WpWptBlock block;
	const guint8 *data;
	gssize n = wp_input_peek(input, sizeof block, &data, error);

	if (n < 0)
		return FALSE;
	if (reader->is_done && n > 0)
		wp_wpt_count_bad(reader, 1, "something follows the end of the trace");
	reader->is_over = reader->is_done || n < (gssize)sizeof block;
	if (reader->is_over) {
		if (!reader->is_done)
			wp_trace_reading_cut(reader->reading);
		return TRUE;
	}
	if (!parse_block(data, &block)) {
		wp_wpt_count_bad(reader, 1, "the head of a block is damaged; the rest is not read");
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
	if (has_records(&block))
		wp_wpt_forget_asides(reader);
	wp_input_consume(input, sizeof block + block.bytes);
	reader->offset += sizeof block + block.bytes;
	return ok;
}

/* Takes what HEAD says. */
static gboolean
accept_head(WpWptReader *reader, const WpWptHead *head, GError **error)
{
	const char *path = wp_input_path(reader->reading->input);
	guint32 version = GUINT32_FROM_LE(head->version);
	guint32 record_bytes = GUINT32_FROM_LE(head->record_bytes);

	if (version == 0 || version > WP_WPT_VERSION) {
		g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_FORMAT,
			    "cannot read the trace %s: its version is %u, and this program knows "
			    "those to %d; use the program that wrote it",
			    path, version, WP_WPT_VERSION);
		return FALSE;
	}
	gboolean is_right = version > 1 ? record_bytes == 0
					: record_bytes >= sizeof(WpWptRecord) &&
						  record_bytes <= WP_WPT_MAX_RECORD;
	if (!is_right) {
		g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_FORMAT,
			    "cannot read the trace %s: its head is damaged; write it again", path);
		return FALSE;
	}
	/* Version 2 has no such blocks, but files are not what they should be. */
	reader->record_bytes = version > 1 ? sizeof(WpWptRecord) : record_bytes;
	return TRUE;
}

static gboolean
read_head(WpWptReader *reader, GError **error)
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
	if (!accept_head(reader, &head, error))
		return FALSE;
	wp_input_consume(input, sizeof head);
	reader->offset = sizeof head;
	reader->reading->has_header = TRUE;
	return TRUE;
}

static gboolean
read_all(WpWptReader *reader, GError **error)
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
	WpWptReader reader = {
		.reading = reading,
		.texts = g_array_new(FALSE, TRUE, sizeof(guint32)),
		.nodes = g_array_new(FALSE, FALSE, sizeof(WpWptNode)),
		.rows = g_array_new(FALSE, FALSE, sizeof(WpWptRow)),
	};

	g_array_set_size(reader.texts, 1); /* text 0 is "" */
	for (guint kind = 0; kind < WP_WPT_N_ASIDES; kind++)
		reader.asides[kind].items = g_array_new(FALSE, FALSE, sizeof(WpWptAside));
	gboolean ok = read_all(&reader, error);
	g_array_unref(reader.texts);
	g_array_unref(reader.nodes);
	g_array_unref(reader.rows);
	for (guint kind = 0; kind < WP_WPT_N_ASIDES; kind++)
		g_array_unref(reader.asides[kind].items);
	return ok;
}

gboolean
wp_wpt_detect(const guint8 *head, gsize length)
{
	return length >= WP_WPT_MAGIC_BYTES && memcmp(head, WP_WPT_MAGIC, WP_WPT_MAGIC_BYTES) == 0;
}
