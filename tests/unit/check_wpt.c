/*
 * The binary form of traces: what a text says survives it, and no damage does more than lose what was
 * damaged.
 */
#define _GNU_SOURCE /* memmem */
#include "capture/wpt.h"

#include <string.h>

#include "capture/trace-io.h"
#include "tests/support/suite.h"
#include "tests/support/trace-file.h"

/* (transfer full) The bytes of the .wpt of TEXT. */
static guint8 *
make_wpt(const char *text, gsize *out_length)
{
	g_autotemp *from = wp_temp_file_new("", text, strlen(text));
	g_autotemp *to = wp_trace_rewrite(from, ".wpt");
	return (guint8 *)wp_temp_file_read(to, out_length);
}

/* With columns that stand only in traces that need them; a record in each that has nothing there, too. */
static const char both_ends[] =
	"#wirepath-trace 1\n"
	"#columns\ttime\tkind\tsender\treceiver\tid\ttime_end\tsrc\tdst\tflow\tprotocol\tlabel\t"
	"bytes\tstatus\tsetup\twait\ttap\tpacket\ttokens\ttransport\treceived\treceived_end\t"
	"trace_parent\tcause\n"
	"#node\t10.0.0.1\n"
	"#node\tb\n"
	"1.000000000\tCALL\t10.0.0.1\tb\t1\t\t10.0.0.1:1\t10.0.0.2:2\t\t\t\t\t\t\t\t\t\t0a1b2c3d\t"
	"connect/0.500000000/0.900000000/1/3\t0.999999999\t2.000000000\t\tx\n"
	"2.000000000\tRETURN\tb\t10.0.0.1\t1\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t"
	"0123456789abcdef0123456789abcdef-0123456789abcdef\t1\n"
	"3.000000000\tMESSAGE\tb\t10.0.0.1\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\n";

static guint64
count_of(const WpTrace *trace, WpCounter counter)
{
	return wp_counters_get(wp_trace_counters(trace), counter);
}

/* 40,000 calls and returns: many blocks. */
static char *
make_long_text(void)
{
	GString *text = g_string_new(WP_TRACE_HEADER);
	for (guint i = 0; i < 40000; i++)
		g_string_append_printf(
			text, "%u.000000000\t%s\tn%u\tn%u\tx%u\t\t10.0.%u.1:%u\t\t\t\tL%u\n", i,
			i % 2 ? "RETURN" : "CALL", i % 300, (i + 1) % 300, i / 2, i % 200, 1 + i,
			i % 1000);
	return g_string_free(text, FALSE);
}

/* Text -> binary -> text is the same text, compressed on the way or not; and binary is the same binary. */
START_TEST(text_stays)
{
	static const char *const suffixes[] = { ".wpt", ".wpt.gz", ".wpt.zst", ".wpt.lz4" };
	for (gsize i = 0; i < G_N_ELEMENTS(suffixes); i++) {
		g_autotemp *first = wp_temp_file_new("", wp_trace_full, strlen(wp_trace_full));
		g_autotemp *second = wp_trace_rewrite(first, suffixes[i]);
		g_autotemp *third = wp_trace_rewrite(second, ".trace");
		g_autotemp *again = wp_trace_rewrite(third, suffixes[i]);
		g_autofree char *text = wp_temp_file_read(third, NULL);
		gsize n, n_again;
		g_autofree char *bytes = wp_temp_file_read(second, &n);
		g_autofree char *bytes_again = wp_temp_file_read(again, &n_again);
		ck_assert_str_eq(text, wp_trace_full);
		ck_assert_uint_eq(n, n_again);
		ck_assert_mem_eq(bytes, bytes_again, n);
	}
}
END_TEST

START_TEST(long_text_stays)
{
	g_autofree char *long_text = make_long_text();
	g_autotemp *from = wp_temp_file_new("", long_text, strlen(long_text));
	g_autotemp *expected = wp_trace_rewrite(from, ".trace");
	g_autotemp *binary = wp_trace_rewrite(from, ".wpt");
	g_autotemp *back = wp_trace_rewrite(binary, ".trace");
	g_autofree char *a = wp_temp_file_read(expected, NULL);
	g_autofree char *b = wp_temp_file_read(back, NULL);
	ck_assert(strcmp(a, b) == 0);
}
END_TEST

/* The form is told by suffix, else by name; the name wins. */
START_TEST(names)
{
	static const struct {
		const char *suffix, *name;
		gboolean is_binary;
	} rows[] = { { ".wpt", NULL, TRUE },        { ".trace", NULL, FALSE },
		     { ".wpt.trace", NULL, FALSE }, { ".trace", "wpt", TRUE },
		     { ".wpt", "text", FALSE },     { "wpt", NULL, FALSE } };
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autotemp *path = wp_temp_file_name(rows[i].suffix);
		g_autoptr(WpNodes) nodes = wp_nodes_new();
		WpRecordSink *writer = wp_trace_writer_new_as(path, rows[i].name, NULL);
		ck_assert(wp_sink_begin(writer, nodes, NULL) && wp_sink_end(writer, NULL));
		wp_trace_writer_free(writer);
		gsize n;
		g_autofree char *bytes = wp_temp_file_read(path, &n);
		ck_assert_int_eq(wp_wpt_detect((const guint8 *)bytes, n), rows[i].is_binary);
		ck_assert(wp_trace_is_trace((const guint8 *)bytes, n));
		g_autoptr(WpTrace) trace = wp_trace_in(bytes, n, NULL);
		ck_assert_uint_eq(wp_trace_n_records(trace), 0);
		ck_assert_uint_eq(count_of(trace, WP_COUNT_INPUT_TRUNCATED), 0);
	}
	g_autoptr(GError) error = NULL;
	ck_assert_ptr_null(wp_trace_writer_new_as("-", "xml", &error));
	ck_assert(g_error_matches(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_OPTION));
}
END_TEST

/* Cut anywhere, a trace gives the records of all whole blocks, and says that it was cut. */
START_TEST(cut)
{
	gsize n;
	g_autofree guint8 *bytes = make_wpt(wp_trace_full, &n);
	guint most = 0;
	for (gsize length = WP_WPT_MAGIC_BYTES; length < n; length += (gsize)wp_test_number(1, 7)) {
		g_autoptr(GError) error = NULL;
		g_autoptr(WpTrace) trace = wp_trace_in(bytes, length, &error);
		if (length < sizeof(WpWptHead)) {
			ck_assert(
				g_error_matches(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_FORMAT));
			continue;
		}
		ck_assert_ptr_nonnull(trace);
		ck_assert_uint_eq(count_of(trace, WP_COUNT_INPUT_TRUNCATED), 1);
		ck_assert_uint_eq(count_of(trace, WP_COUNT_TRACE_LINES_BAD), 0);
		ck_assert_uint_ge(wp_trace_n_records(trace), most);
		most = (guint)wp_trace_n_records(trace);
	}
	ck_assert_uint_eq(most, 6);
}
END_TEST

/* A byte that changed anywhere is noticed. */
START_TEST(changed)
{
	gsize n;
	g_autofree guint8 *bytes = make_wpt(wp_trace_full, &n);
	for (gsize at = WP_WPT_MAGIC_BYTES; at < n; at += (gsize)wp_test_number(1, 7)) {
		g_autoptr(GError) error = NULL;
		bytes[at] ^= 1 << at % 8;
		g_autoptr(WpTrace) trace = wp_trace_in(bytes, n, &error);
		bytes[at] ^= 1 << at % 8;
		ck_assert_msg(!trace || count_of(trace, WP_COUNT_TRACE_LINES_BAD) > 0, "byte %zu",
			      at);
	}
}
END_TEST

/* The I-th block of KIND in BYTES; its payload follows it. */
static WpWptBlock *
find_block(guint8 *bytes, gsize n, const char *kind, guint i)
{
	for (gsize at = sizeof(WpWptHead); at < n;) {
		WpWptBlock *block = (WpWptBlock *)(bytes + at);
		if (memcmp(block->kind, kind, 4) == 0 && i-- == 0)
			return block;
		at += sizeof *block + GUINT32_FROM_LE(block->bytes);
	}
	ck_abort_msg("there is no such block");
	return NULL;
}

static guint8 *
payload_of(WpWptBlock *block)
{
	return (guint8 *)(block + 1);
}

/* A damaged block costs what is in it; texts and nodes, the records that name them. */
START_TEST(damaged_block)
{
	static const struct {
		const char *kind;
		guint block;
		guint fewest, most; /* records lost */
	} rows[] = { { "COLS", 0, 512, 512 },     { "COLS", 77, 512, 512 },
		     { "COLS", 78, 64, 64 },      { "STRS", 5, 512, 1024 },
		     { "STRS", 0, 12000, 40000 }, { "NODE", 0, 39000, 40000 } };
	g_autofree char *text = make_long_text();
	gsize n;
	g_autofree guint8 *bytes = make_wpt(text, &n);
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		guint8 *byte = payload_of(find_block(bytes, n, rows[i].kind, rows[i].block)) + 40;
		*byte ^= 4;
		g_autoptr(GError) error = NULL;
		g_autoptr(WpTrace) trace = wp_trace_in(bytes, n, &error);
		*byte ^= 4;
		gsize n_records = trace ? wp_trace_n_records(trace) : 0;
		ck_assert_msg(n_records <= 40000 - rows[i].fewest &&
				      n_records >= 40000 - rows[i].most,
			      "row %zu: %zu records", i, n_records);
		if (trace)
			ck_assert_uint_ge(count_of(trace, WP_COUNT_TRACE_LINES_BAD),
					  40000 - n_records);
	}
}
END_TEST

/* Sets the sums of BLOCK right, as who writes files to do harm would. */
static void
seal(WpWptBlock *block)
{
	block->sum = GUINT64_TO_LE(wp_wpt_sum(payload_of(block), GUINT32_FROM_LE(block->bytes)));
	block->check = GUINT32_TO_LE(wp_wpt_check(block));
}

/* Puts BLOCK, of KIND and N items with these BYTES, behind OUT. FIRST is the number of its first item. */
static void
append_block(GByteArray *out, const char *kind, guint32 n, guint64 first, const GByteArray *payload)
{
	WpWptBlock block = { .n = GUINT32_TO_LE(n), .first = GUINT64_TO_LE(first) };
	guint start = out->len;

	memcpy(block.kind, kind, sizeof block.kind);
	g_byte_array_append(out, (guint8 *)&block, sizeof block);
	if (payload->len)
		g_byte_array_append(out, payload->data, payload->len);
	while (out->len % 8 != 0)
		g_byte_array_append(out, (const guint8 *)"", 1);
	WpWptBlock *written = (WpWptBlock *)(gpointer)(out->data + start);
	written->bytes = GUINT32_TO_LE(out->len - start - (guint)sizeof block);
	seal(written);
}

/* What a record is in version 1. */
static WpWptRecord
record_of(const WpWptRow *row)
{
	const guint64 *fields = row->fields;
	return (WpWptRecord){
		.begin_ns = GINT64_TO_LE((gint64)fields[WP_WPT_BEGIN]),
		.end_ns = GINT64_TO_LE((gint64)(fields[WP_WPT_BEGIN] + fields[WP_WPT_DURATION])),
		.id = GUINT64_TO_LE(wp_wpt_id_from_field(fields[WP_WPT_ID])),
		.packet = GUINT64_TO_LE(fields[WP_WPT_PACKET]),
		.bytes = GUINT64_TO_LE(fields[WP_WPT_BYTES] - 1),
		.sender = GUINT32_TO_LE((guint32)fields[WP_WPT_SENDER]),
		.receiver = GUINT32_TO_LE((guint32)fields[WP_WPT_RECEIVER]),
		.flow = GUINT32_TO_LE((guint32)fields[WP_WPT_FLOW]),
		.protocol = GUINT32_TO_LE((guint32)fields[WP_WPT_PROTOCOL]),
		.label = GUINT32_TO_LE((guint32)fields[WP_WPT_LABEL]),
		.src_port = GUINT16_TO_LE((guint16)fields[WP_WPT_SRC_PORT]),
		.dst_port = GUINT16_TO_LE((guint16)fields[WP_WPT_DST_PORT]),
		.kind = (guint8)fields[WP_WPT_KIND],
		.status = (guint8)fields[WP_WPT_STATUS],
		.marks = (guint8)fields[WP_WPT_MARKS] & (guint8)~WP_MARK_BOTH_ENDS,
		.tap = (guint8)fields[WP_WPT_TAP],
		.n_tokens = (guint8)fields[WP_WPT_N_TOKENS],
		.src_end = (guint8)fields[WP_WPT_SRC_END],
		.dst_end = (guint8)fields[WP_WPT_DST_END],
		.n_transports = (guint8)fields[WP_WPT_N_TRANSPORTS],
	};
}

/* A block of columns as blocks of version 1, in which each record takes RECORD_BYTES. */
static void
append_as_records(GByteArray *out, WpWptBlock *block, guint record_bytes)
{
	guint32 n = GUINT32_FROM_LE(block->n), n_ways = 0;
	WpBytes payload = wp_bytes(payload_of(block), GUINT32_FROM_LE(block->bytes));
	g_autofree WpWptRow *rows = g_new(WpWptRow, n);
	g_autofree guint8 *record = g_malloc(record_bytes);
	g_autoptr(GByteArray) records = g_byte_array_new();
	g_autoptr(GByteArray) ways = g_byte_array_new();

	ck_assert(wp_wpt_unpack(&payload, n, rows));
	for (guint32 i = 0; i < n; i++) {
		WpWptRecord stored = record_of(&rows[i]);
		memset(record, 0xaa, record_bytes);
		memcpy(record, &stored, sizeof stored);
		g_byte_array_append(records, record, record_bytes);
		if (!(rows[i].fields[WP_WPT_MARKS] & WP_MARK_BOTH_ENDS))
			continue;
		guint32 number[2] = { GUINT32_TO_LE(i), 0 };
		guint64 times[2] = { GUINT64_TO_LE(rows[i].fields[WP_WPT_BEGIN_WAY]),
				     GUINT64_TO_LE(rows[i].fields[WP_WPT_END_WAY]) };
		g_byte_array_append(ways, (guint8 *)number, sizeof number);
		g_byte_array_append(ways, (guint8 *)times, sizeof times);
		n_ways++;
	}
	g_byte_array_append(records, payload.data + payload.at,
			    (guint)(payload.length - payload.at));
	if (n_ways)
		append_block(out, "WAYS", n_ways, 0, ways);
	append_block(out, "RECS", n, GUINT64_FROM_LE(block->first), records);
}

/*
 * (transfer full) The trace in these N BYTES as programs before version 2 wrote it, or, with records of more than 72
 * RECORD_BYTES, as version 1 let later ones write it.
 */
static GByteArray *
to_version_1(guint8 *bytes, gsize n, guint record_bytes)
{
	WpWptHead head = { .version = GUINT32_TO_LE(1),
			   .record_bytes = GUINT32_TO_LE(record_bytes) };
	GByteArray *out = g_byte_array_new();

	memcpy(head.magic, WP_WPT_MAGIC, sizeof head.magic);
	g_byte_array_append(out, (guint8 *)&head, sizeof head);
	for (gsize at = sizeof head; at < n;) {
		WpWptBlock *block = (WpWptBlock *)(gpointer)(bytes + at);
		guint size = (guint)sizeof *block + GUINT32_FROM_LE(block->bytes);
		if (memcmp(block->kind, "COLS", 4) == 0)
			append_as_records(out, block, record_bytes);
		else
			g_byte_array_append(out, bytes + at, size);
		at += size;
	}
	return out;
}

/* Appends ROWS as columns of full width, which hold whatever value there is. */
static void
append_columns(GByteArray *out, const WpWptRow *rows, guint32 n)
{
	static const guint8 head[WP_WPT_COLUMN_HEAD] = { [8] = 8 };

	for (guint field = 0; field < WP_WPT_N_FIELDS; field++)
		g_byte_array_append(out, head, sizeof head);
	for (guint field = 0; field < WP_WPT_N_FIELDS; field++)
		for (guint32 i = 0; i < n; i++) {
			guint64 value = GUINT64_TO_LE(rows[i].fields[field]);
			g_byte_array_append(out, (const guint8 *)&value, sizeof value);
		}
}

/* (transfer full) The trace in these N BYTES with another VALUE in a field of the first record. */
static GByteArray *
with_field(guint8 *bytes, gsize n, WpWptField field, guint64 value)
{
	WpWptBlock *block = find_block(bytes, n, "COLS", 0);
	guint32 n_rows = GUINT32_FROM_LE(block->n);
	WpBytes payload = wp_bytes(payload_of(block), GUINT32_FROM_LE(block->bytes));
	g_autofree WpWptRow *rows = g_new(WpWptRow, n_rows);
	GByteArray *out = g_byte_array_new(), *columns = g_byte_array_new();
	gsize end = (gsize)(payload_of(block) - bytes) + payload.length;

	ck_assert(wp_wpt_unpack(&payload, n_rows, rows));
	rows[0].fields[field] = value;
	append_columns(columns, rows, n_rows);
	g_byte_array_append(columns, payload.data + payload.at,
			    (guint)(payload.length - payload.at));
	g_byte_array_append(out, bytes, (guint)((guint8 *)block - bytes));
	append_block(out, "COLS", n_rows, GUINT64_FROM_LE(block->first), columns);
	g_byte_array_append(out, bytes + end, (guint)(n - end));
	g_byte_array_unref(columns);
	return out;
}

/* (transfer full) What the reader says of the first thing in BYTES that it could not read. */
static char *
first_reason(const guint8 *bytes, gsize n, gsize *out_n_records)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(WpTrace) trace = wp_trace_in(bytes, n, &error);
	if (out_n_records)
		*out_n_records = trace ? wp_trace_n_records(trace) : 0;
	if (!trace)
		return g_strdup(error->message);
	gsize last = wp_trace_n_settings(trace) - 1;
	ck_assert_uint_gt(count_of(trace, WP_COUNT_TRACE_LINES_BAD), 0);
	ck_assert_str_eq(wp_trace_setting_key(trace, last), "first-bad-line");
	return g_strdup(wp_trace_setting_value(trace, last));
}

/* Fields that make no sense behind sums that are right: the record is refused. */
START_TEST(nonsense_fields)
{
	static const struct {
		WpWptField field;
		guint64 value;
		const char *reason;
	} rows[] = {
#define NO_NODE       "a record names a node that is not there"
#define NO_TEXT       "a record names a text that is not there"
#define NO_KIND       "a record is of no known kind or status"
#define NO_TIME       "the times of a record are out of range"
#define NO_EXTRA      "the tokens or addresses of a record are missing"
#define NO_TRANSPORTS "the transports of a record are missing"
		{ WP_WPT_SENDER, 99, NO_NODE },
		{ WP_WPT_SENDER, G_GUINT64_CONSTANT(1) << 32, NO_NODE },
		{ WP_WPT_RECEIVER, G_MAXUINT32, NO_NODE },
		{ WP_WPT_PROTOCOL, 99, NO_TEXT },
		{ WP_WPT_LABEL, G_MAXUINT32, NO_TEXT },
		{ WP_WPT_LABEL, (G_GUINT64_CONSTANT(1) << 32) + 1, NO_TEXT },
		{ WP_WPT_ID, 99 << 1 | 1, NO_TEXT },
		{ WP_WPT_ID, G_MAXUINT64, NO_TEXT },
		{ WP_WPT_KIND, 3, NO_KIND },
		{ WP_WPT_KIND, 256, NO_KIND },
		{ WP_WPT_STATUS, 5, NO_KIND },
		{ WP_WPT_BEGIN, G_MAXINT64, NO_TIME },
		{ WP_WPT_BEGIN, G_GUINT64_CONSTANT(1) << 63, NO_TIME },
		{ WP_WPT_DURATION, G_MAXINT64, NO_TIME },
		{ WP_WPT_DURATION, G_MAXUINT64, "a record ends before it begins" },
		{ WP_WPT_PACKET, G_MAXUINT64, "the packet of a record is out of range" },
		{ WP_WPT_FLOW, G_GUINT64_CONSTANT(1) << 32, "the flow or tap of a record" },
		{ WP_WPT_TAP, 256, "the flow or tap of a record" },
		{ WP_WPT_N_TOKENS, 17, NO_EXTRA },
		{ WP_WPT_N_TOKENS, 256, NO_EXTRA },
		{ WP_WPT_N_TRANSPORTS, 4, NO_TRANSPORTS },
		{ WP_WPT_N_TRANSPORTS, 5, NO_TRANSPORTS },
		{ WP_WPT_SRC_END, 3, NO_EXTRA },
		{ WP_WPT_DST_END, 257, NO_EXTRA },
		{ WP_WPT_DST_PORT, 65536, NO_EXTRA },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		gsize n;
		g_autofree guint8 *bytes = make_wpt(wp_trace_full, &n);
		g_autoptr(GByteArray) bad = with_field(bytes, n, rows[i].field, rows[i].value);
		g_autofree char *found = first_reason(bad->data, bad->len, NULL);
		ck_assert_msg(strstr(found, rows[i].reason) != NULL, "row %zu: %s", i, found);
	}
}
END_TEST

/* The same in a file of version 1, and in items of other blocks. */
START_TEST(nonsense_items)
{
#define FIELD(member) "RECS", offsetof(WpWptRecord, member), sizeof((WpWptRecord *)NULL)->member
	static const struct {
		const char *kind;
		gsize offset, size;
		guint64 value;
		const char *reason;
	} rows[] = {
		{ FIELD(sender), 99, NO_NODE },
		{ FIELD(label), G_MAXUINT32, NO_TEXT },
		{ FIELD(id), WP_ID_TEXT + 99, NO_TEXT },
		{ FIELD(id), G_MAXUINT64, NO_TEXT },
		{ FIELD(kind), 3, NO_KIND },
		{ FIELD(begin_ns), G_MAXINT64, NO_TIME },
		{ FIELD(end_ns), 0, "a record ends before it begins" },
		{ FIELD(end_ns), G_MAXINT64, NO_TIME },
		{ FIELD(packet), G_MAXUINT64, "the packet of a record is out of range" },
		{ FIELD(n_tokens), 255, NO_EXTRA },
		{ FIELD(n_transports), 5, NO_TRANSPORTS },
		{ "STRS", 0, 4, G_MAXUINT32, "a text is damaged" },
		{ "STRS", 4, 1, 0, "a text is damaged" },
		{ "NODE", 0, 4, 0, "a node has no name" },
		{ "NODE", 0, 4, 2 * 1024 * 1024, "a node has no name" },
		{ "SETT", 0, 4, 1000, "a setting is damaged" },
		{ "COUN", 0, 8, G_MAXUINT64, "a counter is damaged" },
		{ "COUN", 8, 4, 3, "a counter names a node that is not there" },
		{ "COUN", 16, 4, 64, "a counter is damaged" },
		{ "HINT", 8, 4, 99, "the name of a node is damaged" },
		{ "HINT", 12, 4, 999, "the name of a node is damaged" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		gsize n;
		g_autofree guint8 *bytes = make_wpt(wp_trace_full, &n);
		g_autoptr(GByteArray) old = to_version_1(bytes, n, sizeof(WpWptRecord));
		WpWptBlock *block = find_block(old->data, old->len, rows[i].kind, 0);
		guint64 value = GUINT64_TO_LE(rows[i].value);
		memcpy(payload_of(block) + rows[i].offset, &value, rows[i].size);
		seal(block);
		g_autofree char *found = first_reason(old->data, old->len, NULL);
		ck_assert_msg(strstr(found, rows[i].reason) != NULL, "row %zu: %s", i, found);
	}
}
END_TEST

/* A cause that is no call's is none: else the text that is written of it would not say the same again. */
START_TEST(cause_without_name)
{
	gsize n;
	g_autofree guint8 *bytes = make_wpt(both_ends, &n);
	WpWptBlock *block = find_block(bytes, n, "CAUS", 0);
	guint64 id = GUINT64_TO_LE(WP_ID_TEXT);

	memcpy(payload_of(block) + 8, &id, sizeof id);
	seal(block);
	g_autoptr(WpTrace) trace = wp_trace_in(bytes, n, NULL);
	ck_assert(!(wp_trace_records(trace)[0].marks & WP_MARK_CAUSED));
	ck_assert(wp_trace_records(trace)[1].marks & WP_MARK_CAUSED);
}
END_TEST

/* A transport with a packet that no text can name is left out: else the text that is written of it could not be read. */
START_TEST(transport_of_no_packet)
{
	const guint64 numbers[] = { GUINT64_TO_LE(4),
				    GUINT64_TO_LE(5) }; /* of the one in the RETURN */

	for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
		gsize n;
		g_autofree guint8 *bytes = make_wpt(wp_trace_full, &n);
		WpWptBlock *block = find_block(bytes, n, "COLS", 0);
		guint8 *at = memmem(payload_of(block), GUINT32_FROM_LE(block->bytes), numbers,
				    sizeof numbers);
		ck_assert_ptr_nonnull(at);
		memset(at + i * sizeof(guint64), 0xff, sizeof(guint64));
		seal(block);
		g_autoptr(WpTrace) trace = wp_trace_in(bytes, n, NULL);
		const WpRecord *record = &wp_trace_records(trace)[3];
		WpTransport transport;
		ck_assert(!wp_trace_transport(trace, record, 0, &transport));
		g_autotemp *binary = wp_temp_file_new(".wpt", (const char *)bytes, n);
		g_autotemp *text = wp_trace_rewrite(binary, ".trace");
		gsize n_text;
		g_autofree char *lines = wp_temp_file_read(text, &n_text);
		g_autoptr(WpTrace) again = wp_trace_in(lines, n_text, NULL);
		ck_assert_uint_eq(count_of(again, WP_COUNT_TRACE_LINES_BAD), 0);
		ck_assert_uint_eq(wp_trace_n_records(again), wp_trace_n_records(trace));
	}
}
END_TEST

/* Columns that are not all there, or wider than a number is, cost their block and no other. */
START_TEST(nonsense_columns)
{
	static const struct {
		guint column;
		guint8 width;
	} rows[] = { { WP_WPT_BEGIN, 9 }, { WP_WPT_END_WAY, 255 } };
	g_autofree char *text = make_long_text();
	gsize n, n_records;
	g_autofree guint8 *bytes = make_wpt(text, &n);

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		WpWptBlock *block = find_block(bytes, n, "COLS", 3);
		guint8 *width = payload_of(block) + rows[i].column * WP_WPT_COLUMN_HEAD + 8;
		guint8 old = *width;
		*width = rows[i].width;
		seal(block);
		g_autofree char *found = first_reason(bytes, n, &n_records);
		*width = old;
		ck_assert_msg(strstr(found, "the columns of a block make no sense"), "%s", found);
		ck_assert_uint_eq(n_records, 40000 - 512);
	}
}
END_TEST

START_TEST(nonsense_blocks)
{
	static const struct {
		const char *kind;
		gsize offset, size; /* in the head */
		guint64 value;
		guint n_records; /* that stay */
		const char *reason;
	} rows[] = {
#define HEAD(member) offsetof(WpWptBlock, member), sizeof((WpWptBlock *)NULL)->member
		{ "COLS", HEAD(n), 1000, 2, "the columns of a block make no sense" },
		{ "COLS", HEAD(n), 4097, 2, "the numbers of a block make no sense" },
		{ "COLS", HEAD(n), G_MAXUINT32, 2, "the numbers of a block make no sense" },
		{ "COLS", HEAD(first), G_MAXUINT64, 2, "the numbers of a block make no sense" },
		{ "COLS", HEAD(first), 3, 6, "records before it are missing" },
		{ "COLS", HEAD(bytes), WP_WPT_MAX_PAYLOAD + 8, 0,
		  "the head of a block is damaged" },
		{ "COLS", HEAD(bytes), 7, 0, "the head of a block is damaged" },
		{ "STRS", HEAD(first), 1u << 30, 1, "the numbers of a block make no sense" },
		{ "NODE", HEAD(first), 1u << 30, 0, "the numbers of a block make no sense" },
		{ "DONE", HEAD(first), 9, 6, "records before it are missing" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		gsize n;
		g_autofree guint8 *bytes = make_wpt(wp_trace_full, &n);
		WpWptBlock *block = find_block(bytes, n, rows[i].kind, 0);
		guint64 value = GUINT64_TO_LE(rows[i].value);
		memcpy((guint8 *)block + rows[i].offset, &value, rows[i].size);
		block->check = GUINT32_TO_LE(wp_wpt_check(block));
		gsize n_records;
		g_autofree char *found = first_reason(bytes, n, &n_records);
		ck_assert_msg(strstr(found, rows[i].reason) != NULL, "row %zu: %s", i, found);
		ck_assert_msg(n_records == rows[i].n_records, "row %zu: %zu records", i, n_records);
	}
}
END_TEST

/* A trace with all that a record can have, in version 1, in records of so many bytes, is the same trace. */
START_TEST(version_1)
{
	static const guint record_bytes[] = { 72, 80, 4096 };
	for (gsize i = 0; i < G_N_ELEMENTS(record_bytes); i++) {
		gsize n;
		g_autofree guint8 *bytes = make_wpt(both_ends, &n);
		g_autoptr(GByteArray) old = to_version_1(bytes, n, record_bytes[i]);
		g_autotemp *first = wp_temp_file_new("", (char *)old->data, old->len);
		g_autotemp *second = wp_trace_rewrite(first, ".trace");
		g_autotemp *third = wp_trace_rewrite(first, ".wpt");
		g_autotemp *fourth = wp_trace_rewrite(third, ".trace");
		g_autofree char *text = wp_temp_file_read(second, NULL);
		g_autofree char *text_again = wp_temp_file_read(fourth, NULL);
		gsize n_again;
		g_autofree char *again = wp_temp_file_read(third, &n_again);
		ck_assert_ptr_nonnull(strstr(text, "\t0.999999999\t2.000000000\t"));
		ck_assert_str_eq(text, text_again);
		ck_assert_uint_eq(n, n_again);
		ck_assert_mem_eq(bytes, again, n);
	}
}
END_TEST

/* Other blocks, as later versions may have them, are passed over; another version is not read. */
START_TEST(later_versions)
{
	static const struct {
		guint32 version, record_bytes;
		const char *said;
	} rows[] = { { 3, 0, "its version is 3, " },
		     { 0, 72, "its version is 0, " },
		     { 2, 72, "its head is damaged" },
		     { 1, 71, "its head is damaged" },
		     { 1, 4097, "its head is damaged" } };
	gsize n;
	g_autofree guint8 *bytes =
		make_wpt(WP_TRACE_HEADER "1\tCALL\ta\tb\t1\n2\tRETURN\tb\ta\t1\n", &n);
	gsize start = (gsize)((guint8 *)find_block(bytes, n, "COLS", 0) - bytes);
	g_autoptr(GByteArray) later = g_byte_array_new();
	g_autoptr(GByteArray) news = g_byte_array_new();

	g_byte_array_append(news, (const guint8 *)"more", 4);
	g_byte_array_append(later, bytes, (guint)start);
	append_block(later, "NEWS", 0, 0, news);
	g_byte_array_append(later, bytes + start, (guint)(n - start));
	g_autoptr(WpTrace) trace = wp_trace_in(later->data, later->len, NULL);
	ck_assert_uint_eq(wp_trace_n_records(trace), 2);
	ck_assert_uint_eq(count_of(trace, WP_COUNT_TRACE_LINES_BAD), 0);
	ck_assert_uint_eq(count_of(trace, WP_COUNT_INPUT_TRUNCATED), 0);

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GError) error = NULL;
		((WpWptHead *)bytes)->version = GUINT32_TO_LE(rows[i].version);
		((WpWptHead *)bytes)->record_bytes = GUINT32_TO_LE(rows[i].record_bytes);
		ck_assert_ptr_null(wp_trace_in(bytes, n, &error));
		ck_assert(g_error_matches(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_FORMAT));
		ck_assert_msg(strstr(error->message, rows[i].said) != NULL, "%s", error->message);
	}
}
END_TEST

/* What a damaged block of records had beside it is not given to the records of the next. */
START_TEST(damaged_asides)
{
	g_autoptr(GString) context = g_string_new(NULL);
	gsize n;

	for (guint i = 0; i < 600; i++)
		g_string_append_printf(context, "%u\tCALL\ta\tb\t%u\t%s\n", i, i,
				       i < 512 ? "0123456789abcdef0123456789abcdef-0123456789abcdef"
					       : "");
	g_autofree char *whole = g_strconcat("#wirepath-trace 1\n#columns\ttime\tkind\tsender\t"
					     "receiver\tid\ttrace_parent\n",
					     context->str, NULL);
	g_autofree guint8 *bytes = make_wpt(whole, &n);
	*payload_of(find_block(bytes, n, "COLS", 0)) ^= 1;
	g_autoptr(WpTrace) trace = wp_trace_in(bytes, n, NULL);
	ck_assert_uint_eq(wp_trace_n_records(trace), 600 - 512);
	for (gsize i = 0; i < wp_trace_n_records(trace); i++)
		ck_assert(!(wp_trace_records(trace)[i].marks & WP_MARK_TRACED));
}
END_TEST

/* The layout is a promise: the very bytes of a small trace. */
START_TEST(layout)
{
	static const guint8 expected[] = "\x89WPT\r\n\x1a\n\2\0\0\0\0\0\0\0"
					 "STRS\x18\0\0\0\2\0\0\0\x4f\x08\xf7\x45\1\0\0\0\0\0\0\0"
					 "\xbe\x04\x95\x6d\x83\xc8\x03\x9b"
					 "\4\0\0\0http\5\0\0\0GET /\0\0\0";
	/* base and width, where one of them is not 0 */
	static const struct {
		guint column;
		guint64 base;
		guint8 width;
	} heads[] = {
		{ 0, 1000000002, 4 }, /* begin */
		{ 1, 0, 1 },          /* duration */
		{ 2, 6, 0 },          /* id */
		{ 3, 0, 1 },          /* packet */
		{ 4, 0, 1 },          /* bytes, with 1 more */
		{ 5, 0, 1 },          /* sender */
		{ 6, 0, 1 },          /* receiver */
		{ 7, 4, 0 },          /* flow */
		{ 8, 1, 0 },          /* protocol */
		{ 9, 2, 0 },          /* label */
		{ 10, 0, 1 },         /* src port */
		{ 11, 0, 1 },         /* dst port */
		{ 12, 0, 1 },         /* kind */
		{ 13, 1, 0 },         /* status */
		{ 15, 6, 0 },         /* tap */
		{ 16, 0, 1 },         /* tokens */
		{ 17, 0, 1 },         /* src end */
		{ 18, 0, 1 },         /* dst end */
	};
	static const guint8 columns[] = "\0\0\0\0\xff\xc9\x9a\x3b" /* begin */
					"\0\3\7\0\6\0\0\1\1\0\0\x50\x50\0\0\1\1\0"
					"\0\1\1\0"
					"\4\3\2\1"; /* token */
	guint8 expected_heads[WP_WPT_N_FIELDS * WP_WPT_COLUMN_HEAD] = { 0 };
	gsize n;
	g_autofree guint8 *bytes = make_wpt(
		WP_TRACE_HEADER
		"1.000000002\tCALL\ta\t10.0.0.1\t3\t\t\t10.0.0.1:80\t4\thttp\tGET /\t5\tok\t"
		"\t\t6\t7\t01020304\n"
		"2.000000001\tRETURN\t10.0.0.1\ta\t3\t2.000000004\t10.0.0.1:80\t\t4\thttp\tGET /"
		"\t\tok\t\t\t6\t\t\n",
		&n);

	for (gsize i = 0; i < G_N_ELEMENTS(heads); i++) {
		guint64 base = GUINT64_TO_LE(heads[i].base);
		guint8 *head = expected_heads + heads[i].column * WP_WPT_COLUMN_HEAD;
		memcpy(head, &base, sizeof base);
		head[sizeof base] = heads[i].width;
	}
	ck_assert_mem_eq(bytes, expected, sizeof expected - 1);
	const guint8 *payload = payload_of(find_block(bytes, n, "COLS", 0));
	ck_assert_mem_eq(payload, expected_heads, sizeof expected_heads);
	ck_assert_mem_eq(payload + sizeof expected_heads, columns, sizeof columns - 1);
}
END_TEST

WP_SUITE("wpt", text_stays, long_text_stays, names, cut, changed, damaged_block, damaged_asides,
	 nonsense_fields, nonsense_items, cause_without_name, transport_of_no_packet,
	 nonsense_columns, nonsense_blocks, version_1, later_versions, layout)
