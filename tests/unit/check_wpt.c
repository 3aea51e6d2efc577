/*
 * The binary form of traces: what a text says survives it, and no damage does more than lose what was
 * damaged.
 */
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
	} rows[] = { { "RECS", 0, 512, 512 },     { "RECS", 77, 512, 512 },
		     { "RECS", 78, 64, 64 },      { "STRS", 5, 512, 1024 },
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

/* Fields that make no sense behind sums that are right: the record, or the block, is refused. */
START_TEST(nonsense)
{
#define FIELD(member) offsetof(WpWptRecord, member), sizeof((WpWptRecord *)NULL)->member
	static const struct {
		const char *kind;
		gsize offset, size;
		guint64 value;
		const char *reason;
	} rows[] = {
		{ "RECS", FIELD(sender), 99, "a record names a node that is not there" },
		{ "RECS", FIELD(receiver), G_MAXUINT32, "a record names a node that is not there" },
		{ "RECS", FIELD(protocol), 99, "a record names a text that is not there" },
		{ "RECS", FIELD(label), G_MAXUINT32, "a record names a text that is not there" },
		{ "RECS", FIELD(id), WP_ID_TEXT + 99, "a record names a text that is not there" },
		{ "RECS", FIELD(id), G_MAXUINT64, "a record names a text that is not there" },
		{ "RECS", FIELD(kind), 3, "a record is of no known kind or status" },
		{ "RECS", FIELD(status), 5, "a record is of no known kind or status" },
		{ "RECS", FIELD(begin_ns), G_MAXINT64, "a record ends before it begins" },
		{ "RECS", FIELD(begin_ns), G_GUINT64_CONSTANT(1) << 63,
		  "the times of a record are out of range" },
		{ "RECS", FIELD(end_ns), G_MAXINT64, "the times of a record are out of range" },
		{ "RECS", FIELD(packet), G_MAXUINT64, "the packet of a record is out of range" },
		{ "RECS", FIELD(n_tokens), 17, "the tokens or addresses of a record are missing" },
		{ "RECS", FIELD(n_tokens), 255, "the tokens or addresses of a record are missing" },
		{ "RECS", FIELD(n_transports), 4, "the transports of a record are missing" },
		{ "RECS", FIELD(n_transports), 5, "the transports of a record are missing" },
		{ "RECS", FIELD(src_end), 3, "the tokens or addresses of a record are missing" },
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
		WpWptBlock *block = find_block(bytes, n, rows[i].kind, 0);
		guint64 value = GUINT64_TO_LE(rows[i].value);
		memcpy(payload_of(block) + rows[i].offset, &value, rows[i].size);
		seal(block);
		g_autofree char *found = first_reason(bytes, n, NULL);
		ck_assert_msg(strstr(found, rows[i].reason) != NULL, "row %zu: %s", i, found);
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
		{ "RECS", HEAD(n), 1000, 2, "the numbers of a block make no sense" },
		{ "RECS", HEAD(n), G_MAXUINT32, 2, "the numbers of a block make no sense" },
		{ "RECS", HEAD(first), G_MAXUINT64, 2, "the numbers of a block make no sense" },
		{ "RECS", HEAD(first), 3, 6, "records before it are missing" },
		{ "RECS", HEAD(bytes), WP_WPT_MAX_PAYLOAD + 8, 0,
		  "the head of a block is damaged" },
		{ "RECS", HEAD(bytes), 7, 0, "the head of a block is damaged" },
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

/* Longer records and other blocks, as later versions may have them, are read; another version is not. */
START_TEST(later_versions)
{
	gsize n;
	g_autofree guint8 *bytes =
		make_wpt(WP_TRACE_HEADER "1\tCALL\ta\tb\t1\n2\tRETURN\tb\ta\t1\n", &n);
	WpWptBlock *records = find_block(bytes, n, "RECS", 0);
	gsize start = (gsize)((guint8 *)records - bytes);
	guint8 longer[2 * 80] = { 0 };
	g_autoptr(GByteArray) later = g_byte_array_new();

	for (guint i = 0; i < 2; i++)
		memcpy(longer + i * 80, payload_of(records) + i * 72, 72);
	struct {
		WpWptBlock block;
		guint8 payload[8];
	} other = { { "NEWS", GUINT32_TO_LE(8), 0, 0, 0, 0 }, "more" };
	seal(&other.block);
	((WpWptHead *)bytes)->record_bytes = GUINT32_TO_LE(80);
	g_byte_array_append(later, bytes, (guint)start);
	g_byte_array_append(later, (guint8 *)&other, sizeof other);
	g_byte_array_append(later, (guint8 *)records, sizeof *records);
	g_byte_array_append(later, longer, sizeof longer);
	g_byte_array_append(later, payload_of(records) + 144, (guint)(n - start - 32 - 144));
	WpWptBlock *block = (WpWptBlock *)(later->data + start + sizeof other);
	block->bytes = GUINT32_TO_LE(160);
	seal(block);

	g_autoptr(WpTrace) trace = wp_trace_in(later->data, later->len, NULL);
	ck_assert_uint_eq(wp_trace_n_records(trace), 2);
	ck_assert_uint_eq(count_of(trace, WP_COUNT_TRACE_LINES_BAD), 0);
	ck_assert_uint_eq(count_of(trace, WP_COUNT_INPUT_TRUNCATED), 0);

	g_autoptr(GError) error = NULL;
	((WpWptHead *)bytes)->version = GUINT32_TO_LE(2);
	ck_assert_ptr_null(wp_trace_in(bytes, n, &error));
	ck_assert(g_error_matches(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_FORMAT));
	ck_assert_ptr_nonnull(strstr(error->message, "its version is 2"));
}
END_TEST

/* The layout is a promise: the very bytes of a small trace. */
START_TEST(layout)
{
	static const guint8 expected[] = "\x89WPT\r\n\x1a\n\1\0\0\0\x48\0\0\0"
					 "STRS\x18\0\0\0\2\0\0\0\x4f\x08\xf7\x45\1\0\0\0\0\0\0\0"
					 "\xbe\x04\x95\x6d\x83\xc8\x03\x9b"
					 "\4\0\0\0http\5\0\0\0GET /\0\0\0";
	gsize n;
	g_autofree guint8 *bytes = make_wpt(
		WP_TRACE_HEADER "1.000000002\tCALL\ta\t10.0.0.1\t3\t\t\t10.0.0.1:80\t4\thttp\t"
				"GET /\t5\tok\t\t\t6\t7\t01020304\n",
		&n);
	ck_assert_mem_eq(bytes, expected, sizeof expected - 1);
	const guint8 *record = payload_of(find_block(bytes, n, "RECS", 0));
	static const guint8 stored[] =
		"\2\xca\x9a\x3b\0\0\0\0\2\xca\x9a\x3b\0\0\0\0\3\0\0\0\0\0\0\0\7\0\0\0\0\0\0\0\5\0\0"
		"\0\0\0\0\0"
		"\0\0\0\0\1\0\0\0\4\0\0\0\1\0\0\0\2\0\0\0\0\0\x50\0\0\1\0\6\1\0\1\0"
		"\4\3\2\1\0\0\0\0";
	ck_assert_mem_eq(record, stored, sizeof stored - 1);
}
END_TEST

WP_SUITE("wpt", text_stays, long_text_stays, names, cut, changed, damaged_block, nonsense,
	 nonsense_blocks, later_versions, layout)
