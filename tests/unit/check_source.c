/* WpSource: pcap and pcapng in all their forms, cut and damaged files, several files merged. */
#include "capture/source.h"

#include <string.h>
#include <sys/resource.h>

#include "capture/capture.h"
#include "capture/trace.h"
#include "tests/support/pcap-build.h"
#include "tests/support/suite.h"

#define T0 G_GINT64_CONSTANT(1700000000123456789)

/* Three frames whose bytes are their own number, at T0, T0 + 2 s, T0 + 1 s. */
static const gint64 frame_times[] = { T0, T0 + 2000000000, T0 + 1000000000 };
static const guint32 frame_sizes[] = { 60, 0, 1501 };

static void
put_frames(WpPcapBuild *build)
{
	for (guint i = 0; i < 3; i++) {
		guint8 data[1501];
		memset(data, (int)i + 1, sizeof data);
		wp_pcap_build_frame(build, frame_times[i], data, frame_sizes[i],
				    frame_sizes[i] + i);
	}
}

/* FRAME must be the I-th of put_frames(), its time cut to a multiple of UNIT_NS. */
static void
check_frame(const WpFrame *frame, guint i, gint64 unit_ns, guint32 link)
{
	ck_assert_uint_eq(frame->number, i + 1);
	ck_assert_int_eq(frame->time_ns, frame_times[i] / unit_ns * unit_ns);
	ck_assert_uint_eq(frame->captured, frame_sizes[i]);
	ck_assert_uint_eq(frame->length, frame_sizes[i] + i);
	ck_assert_uint_eq(frame->link_type, link);
	for (guint32 b = 0; b < frame->captured; b++)
		ck_assert_uint_eq(frame->data[b], i + 1);
}

START_TEST(every_form)
{
	static const struct {
		WpPcapBuildOptions options;
		const char *suffix;
		gint64 unit_ns;
		guint32 link;
	} rows[] = {
		{ { .micro = FALSE }, "", 1, 1 },
		{ { .micro = TRUE }, "", 1000, 1 },
		{ { .big_endian = TRUE }, "", 1, 1 },
		{ { .big_endian = TRUE, .micro = TRUE }, "", 1000, 1 },
		{ { .link = WP_LINK_SLL2 }, ".gz", 1, 276 },
		{ { .is_raw_link = TRUE }, ".zst", 1, 0 },
		{ { .pcapng = TRUE }, "", 1, 1 },
		{ { .pcapng = TRUE, .micro = TRUE, .big_endian = TRUE }, ".gz", 1000, 1 },
		{ { .pcapng = TRUE, .resolution = 3, .link = WP_LINK_RAW }, ".lz4", 1000000, 101 },
		{ { .pcapng = TRUE, .resolution = 10 }, "", 1, 1 },
	};
	for (gsize r = 0; r < G_N_ELEMENTS(rows); r++) {
		g_autoptr(WpPcapBuild) build = wp_pcap_build_new(&rows[r].options);
		put_frames(build);
		g_autotemp *path = wp_pcap_build_file(build, rows[r].suffix);
		g_autoptr(GError) error = NULL;
		g_autoptr(WpSource) source = wp_source_open(path, 7, &error);
		guint64 n_read, size;
		WpFrame frame;
		ck_assert_ptr_nonnull(source);
		for (guint i = 0; i < 3; i++) {
			ck_assert_int_eq(wp_source_next(source, &frame, &error), WP_SOURCE_FRAME);
			check_frame(&frame, i, rows[r].unit_ns, rows[r].link);
			ck_assert_uint_eq(frame.tap, 7);
		}
		for (int again = 0; again < 2; again++)
			ck_assert_int_eq(wp_source_next(source, &frame, &error), WP_SOURCE_END);
		wp_source_progress(source, &n_read, &size);
		ck_assert_uint_eq(n_read, size);
		ck_assert_uint_gt(size, 0);
	}
}
END_TEST

/* Frames at hand are given without those before being moved; at the end none is. */
START_TEST(at_hand)
{
	static const struct {
		WpPcapBuildOptions options;
		guint n_taken; /* behind the first */
	} rows[] = { { { .micro = FALSE }, 2 },
		     { { .pcapng = TRUE }, 0 },
		     { { .pcapng = TRUE, .big_endian = TRUE }, 0 } };
	for (gsize r = 0; r < G_N_ELEMENTS(rows); r++) {
		g_autoptr(WpPcapBuild) build = wp_pcap_build_new(&rows[r].options);
		put_frames(build);
		g_autotemp *path = wp_pcap_build_file(build, "");
		g_autoptr(WpSource) source = wp_source_open(path, 7, NULL);
		WpFrame frames[3];
		guint n = 1;
		ck_assert(!wp_source_is_at_hand(source));
		ck_assert_uint_eq(wp_source_take(source, frames, 3), 0);
		ck_assert_int_eq(wp_source_next(source, &frames[0], NULL), WP_SOURCE_FRAME);
		for (guint i = 0; i < 2; i++)
			n += wp_source_take(source, frames + n, 1);
		ck_assert_uint_eq(n, 1 + rows[r].n_taken);
		for (; n < 3; n++) {
			ck_assert(wp_source_is_at_hand(source));
			ck_assert_int_eq(wp_source_next(source, &frames[n], NULL), WP_SOURCE_FRAME);
		}
		ck_assert_uint_eq(wp_source_take(source, frames, 3), 0);
		ck_assert(!wp_source_is_at_hand(source));
		for (guint i = 0; i < 3; i++) {
			check_frame(&frames[i], i, 1, 1);
			ck_assert_uint_eq(frames[i].tap, 7);
		}
		ck_assert_int_eq(wp_source_next(source, &frames[0], NULL), WP_SOURCE_END);
	}
}
END_TEST

/* Clocks that count in powers of two: the time is that of the tick, within one tick. */
START_TEST(binary_clock)
{
	static const guint8 resolutions[] = { 0x80 | 10, 0x80 | 20, 0x80 | 30, 0x80 | 33 };
	for (gsize r = 0; r < G_N_ELEMENTS(resolutions); r++) {
		WpPcapBuildOptions options = { .pcapng = TRUE, .resolution = resolutions[r] };
		g_autoptr(WpPcapBuild) build = wp_pcap_build_new(&options);
		put_frames(build);
		g_autotemp *path = wp_pcap_build_file(build, "");
		g_autoptr(WpSource) source = wp_source_open(path, 0, NULL);
		gint64 tick_ns = 1000000000 / (1 << MIN(resolutions[r] & 0x7f, 30)) + 1;
		WpFrame frame;
		ck_assert_int_eq(wp_source_next(source, &frame, NULL), WP_SOURCE_FRAME);
		ck_assert_int_le(frame.time_ns, T0);
		ck_assert_int_ge(frame.time_ns, T0 - tick_ns);
	}
}
END_TEST

/* Hexadecimal text, blanks between, to bytes. */
static GByteArray *
from_hex(const char *hex)
{
	GByteArray *bytes = g_byte_array_new();
	while (*hex) {
		if (*hex == ' ') {
			hex++;
			continue;
		}
		guint8 byte =
			(guint8)(g_ascii_xdigit_value(hex[0]) << 4 | g_ascii_xdigit_value(hex[1]));
		g_byte_array_append(bytes, &byte, 1);
		hex += 2;
	}
	return bytes;
}

#define SHB "0a0d0d0a 1c000000 4d3c2b1a 0100 0000 ffffffffffffffff 1c000000 "
#define IDB "01000000 14000000 0100 0000 00000000 14000000 " /* Ethernet, microseconds */

/*
 * pcapng blocks by hand: what came of each file, as "time captured/length link".
 */
static const struct {
	const char *hex;
	const char *expected;
	guint64 drops;
} block_rows[] = {
	/* nothing at all */
	{ SHB, "end", 0 },
	/* EPB: interface 0, time 0x1_00000002 us, 3 of 9 bytes */
	{ SHB IDB "06000000 24000000 00000000 01000000 02000000 03000000 09000000 "
		  "aabbcc00 24000000",
	  "4294967298000 3/9 1; end", 0 },
	/* SPB: has no time; the captured length is what the block holds */
	{ SHB IDB "03000000 14000000 09000000 aabbccdd 14000000", "0 4/9 1; end", 0 },
	/* SPB after an EPB: the time of that */
	{ SHB IDB "06000000 20000000 00000000 00000000 05000000 00000000 00000000 20000000 "
		  "03000000 14000000 03000000 aabbcc00 14000000",
	  "5000 0/0 1; 5000 3/3 1; end", 0 },
	/* SPB, snap length 2 */
	{ SHB "01000000 14000000 0100 0000 02000000 14000000 "
	      "03000000 14000000 09000000 aabb0000 14000000",
	  "0 2/9 1; end", 0 },
	/* the old packet block: interface 0, 5 drops before it */
	{ SHB IDB "02000000 24000000 0000 0500 00000000 02000000 01000000 01000000 "
		  "aa000000 24000000",
	  "2000 1/1 1; end", 5 },
	/* two interfaces: milliseconds raw IP from 1970 plus 10 s, and 2^-1 s Ethernet */
	{ SHB "01000000 2c000000 6500 0000 00000000 0900 0100 03000000 0e00 0800 "
	      "0a00000000000000 00000000 2c000000 " /* if_tsresol 3, if_tsoffset 10 */
	      "01000000 1c000000 0100 0000 00000000 0900 0100 81000000 1c000000 "
	      "06000000 20000000 01000000 00000000 03000000 00000000 00000000 20000000 "
	      "06000000 20000000 00000000 00000000 03000000 00000000 00000000 20000000",
	  "1500000000 0/0 1; 10003000000 0/0 101; end", 0 },
	/* if_tsresol 10^-127: everything is at 0 */
	{ SHB "01000000 1c000000 0100 0000 00000000 0900 0100 7f000000 1c000000 "
	      "06000000 20000000 00000000 ffffffff ffffffff 00000000 00000000 20000000",
	  "0 0/0 1; end", 0 },
	/* if_tsresol 10^0 and the largest time: not later than 32 bits of seconds go */
	{ SHB "01000000 1c000000 0100 0000 00000000 0900 0100 00000000 1c000000 "
	      "06000000 20000000 00000000 ffffffff ffffffff 00000000 00000000 20000000",
	  "4294967295999999999 0/0 1; end", 0 },
	/* if_tsoffset -2^62: not earlier than 1960 */
	{ SHB "01000000 20000000 0100 0000 00000000 0e00 0800 00000000000000c0 20000000 "
	      "06000000 20000000 00000000 00000000 00000000 00000000 00000000 20000000",
	  "-300000000000000000 0/0 1; end", 0 },
	/* ISB: 3 drops by the interface, 4 by the system; then 9 and 4 in all */
	{ SHB IDB "05000000 34000000 00000000 0000000000000000 0500 0800 0300000000000000 "
		  "0700 0800 0400000000000000 00000000 34000000 "
		  "05000000 34000000 00000000 0000000000000000 0500 0800 0900000000000000 "
		  "0700 0800 0400000000000000 00000000 34000000",
	  "end", 13 },
	/* EPB with epb_dropcount 2 */
	{ SHB IDB "06000000 30000000 00000000 00000000 00000000 00000000 00000000 "
		  "0400 0800 0200000000000000 00000000 30000000",
	  "0 0/0 1; end", 2 },
	/* an unknown block, custom options cut short in an IDB, a second section, big-endian */
	{ SHB "01000000 18000000 0100 0000 00000000 0900 ffff 18000000 "
	      "ad0b0000 10000000 12345678 10000000 "
	      "0a0d0d0a 0000001c 1a2b3c4d 0001 0000 ffffffffffffffff 0000001c "
	      "00000001 00000014 0065 0000 00000000 00000014 "
	      "00000006 00000020 00000000 00000000 00000001 00000000 00000000 00000020",
	  "1000 0/0 101; end", 0 },
	/* a length that is no multiple of four */
	{ SHB IDB "06000000 21000000 00000000 00000000 00000000 01000000 01000000 "
		  "aa000000 21000000",
	  "0 1/1 1; end", 0 },
	/* damaged: interface 1 is not described */
	{ SHB IDB "06000000 20000000 01000000 00000000 00000000 00000000 00000000 20000000",
	  "error 1", 0 },
	/* damaged: no interface for an SPB */
	{ SHB "03000000 10000000 00000000 10000000", "error 1", 0 },
	/* damaged: 9 bytes in a block of 1 */
	{ SHB IDB "06000000 24000000 00000000 00000000 00000000 09000000 09000000 "
		  "aa000000 24000000",
	  "error 1", 0 },
	/* damaged: the two lengths differ */
	{ SHB IDB "06000000 20000000 00000000 00000000 00000000 00000000 00000000 24000000",
	  "error 1", 0 },
	/* damaged: block length 8; 4 GiB of packet; 4 GiB of what we do not know */
	{ SHB IDB "06000000 08000000 00000000", "error 1", 0 },
	{ SHB IDB "06000000 f0ffffff 00000000", "error 1", 0 },
	{ SHB IDB "ad0b0000 f0ffffff 00000000", "cut", 0 },
	{ SHB IDB "ad0b0000 ffffffff 00000000", "error 1", 0 },
};

START_TEST(blocks)
{
	for (gsize r = 0; r < G_N_ELEMENTS(block_rows); r++) {
		g_autoptr(GByteArray) bytes = from_hex(block_rows[r].hex);
		g_autotemp *path = wp_temp_file_new("", bytes->data, bytes->len);
		g_autoptr(GString) got = g_string_new(NULL);
		g_autoptr(GError) error = NULL;
		g_autoptr(WpSource) source = wp_source_open(path, 0, &error);
		WpSourceResult result;
		WpFrame frame;
		ck_assert_ptr_nonnull(source);
		while ((result = wp_source_next(source, &frame, &error)) == WP_SOURCE_FRAME)
			g_string_append_printf(got, "%" G_GINT64_FORMAT " %u/%u %u; ",
					       frame.time_ns, frame.captured, frame.length,
					       frame.link_type);
		if (result == WP_SOURCE_ERROR) {
			const char *number = strstr(error->message, "packet ");
			ck_assert(
				g_error_matches(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_FORMAT));
			ck_assert_ptr_nonnull(strstr(error->message, path));
			g_string_append_printf(got, "error %c", number ? number[7] : '?');
		} else {
			g_string_append(got, result == WP_SOURCE_END ? "end" : "cut");
		}
		ck_assert_str_eq(got->str, block_rows[r].expected);
		ck_assert_uint_eq(wp_source_told(source).kernel_drops, block_rows[r].drops);
	}
}
END_TEST

static void
take_secrets(guint32 kind, const guint8 *secrets, gsize length, gpointer data)
{
	g_string_append_printf(data, "secrets %08x %.*s; ", kind, (int)length,
			       (const char *)secrets);
}

static void
take_name(const guint8 address[16], const char *text, gsize length, gpointer data)
{
	WpEndpoint endpoint = { .port = 1 };
	char buffer[WP_ENDPOINT_TEXT_MAX];
	memcpy(endpoint.address, address, 16);
	g_string_append_printf(data, "%s %.*s; ",
			       wp_endpoint_text(&endpoint, buffer, sizeof buffer), (int)length,
			       text);
}

/* What a file says beside its packets, and how many blocks it has that nobody reads. */
START_TEST(names_and_secrets)
{
	static const struct {
		const char *hex;
		const char *expected;
		guint64 skipped;
	} rows[] = {
		/* DSB: a TLS key log of 3 bytes, and an option behind it */
		{ SHB "0a000000 20000000 4b534c54 03000000 61626300 01000100 78000000 20000000",
		  "secrets 544c534b abc; end", 0 },
		/* DSB that claims 9 of 4 bytes: the packets behind it are read all the same */
		{ SHB "0a000000 18000000 4b534c54 09000000 61626300 18000000 " IDB
		      "03000000 14000000 01000000 aa000000 14000000",
		  "frame 1; end", 0 },
		/* NRB: IPv4 with two names, one of them not ended, IPv6, a MAC address, the end, an option */
		{ SHB "04000000 54000000 0100 0900 0a000003 6462 00 7877 000000 "
		      "0200 1300 fe800000000000000000000000000001 6163 00 00 "
		      "0300 0800 020000000001 6200 0000 0000 0200 0100 64000000 00000000 "
		      "00000000 54000000",
		  "10.0.0.3:1 db; 10.0.0.3:1 xw; [fe80::1]:1 ac; end", 0 },
		/* NRB, big-endian, without an end */
		{ "0a0d0d0a 0000001c 1a2b3c4d 0001 0000 ffffffffffffffff 0000001c "
		  "00000004 00000018 0001 0006 0a000003 6400 0000 00000018",
		  "10.0.0.3:1 d; end", 0 },
		/* NRB whose address is short, and one that ends in its record's head */
		{ SHB "04000000 14000000 0100 0200 0a000000 14000000 "
		      "04000000 10000000 01000600 10000000",
		  "end", 0 },
		/* custom, journal, and one of secrets that is too long to be read (and not there) */
		{ SHB "ad0b0000 10000000 12345678 10000000 09000000 0c000000 0c000000", "end", 2 },
		{ SHB "0a000000 00000001 4b534c54 00000000", "cut", 1 },
	};
	for (gsize r = 0; r < G_N_ELEMENTS(rows); r++) {
		g_autoptr(GByteArray) bytes = from_hex(rows[r].hex);
		g_autotemp *path = wp_temp_file_new("", bytes->data, bytes->len);
		g_autoptr(GString) got = g_string_new(NULL);
		g_autoptr(GError) error = NULL;
		WpSourceResult result;
		WpFrame frame;
		for (int is_told = 0; is_told < 2; is_told++) {
			g_autoptr(WpSource) source = wp_source_open(path, 0, &error);
			ck_assert_ptr_nonnull(source);
			g_string_truncate(got, 0);
			if (is_told) {
				wp_source_on_secrets(source, take_secrets, got);
				wp_source_on_names(source, take_name, got);
			}
			while ((result = wp_source_next(source, &frame, &error)) == WP_SOURCE_FRAME)
				g_string_append_printf(got, "frame %u; ", frame.captured);
			g_string_append(got, result == WP_SOURCE_END   ? "end"
					     : result == WP_SOURCE_CUT ? "cut"
								       : error->message);
			ck_assert_uint_eq(wp_source_blocks_skipped(source), rows[r].skipped);
		}
		ck_assert_str_eq(got->str, rows[r].expected);
	}
}
END_TEST

/* pcap records by hand: the modified form, swapped lengths, an FCS in the link type, bad lengths. */
START_TEST(old_pcap)
{
	static const struct {
		const char *hex;
		const char *expected;
	} rows[] = {
		/* Kuznetzov: 24 bytes a record */
		{ "34cdb2a1 0200 0400 00000000 00000000 ffff0000 01000000 "
		  "01000000 02000000 01000000 03000000 07000000 0800 00 00 aa",
		  "1000002000 1/3 1; end" },
		/* version 2.2: length first */
		{ "d4c3b2a1 0200 0200 00000000 00000000 ffff0000 01000000 "
		  "01000000 02000000 03000000 01000000 aa",
		  "1000002000 1/3 1; end" },
		/* FCS of 4 bytes announced, Ethernet */
		{ "d4c3b2a1 0200 0400 00000000 00000000 ffff0000 01000024 "
		  "00000000 00000000 01000000 01000000 aa",
		  "0 1/1 1; end" },
		/* captured more than the length */
		{ "d4c3b2a1 0200 0400 00000000 00000000 ffff0000 01000000 "
		  "00000000 00000000 02000000 01000000 aabb",
		  "0 2/2 1; end" },
		/* the year 2106 */
		{ "d4c3b2a1 0200 0400 00000000 00000000 ffff0000 01000000 "
		  "ffffffff 3f420f00 00000000 00000000",
		  "4294967295999999000 0/0 1; end" },
		/* the second record claims 16 MiB */
		{ "d4c3b2a1 0200 0400 00000000 00000000 ffff0000 01000000 "
		  "00000000 00000000 00000000 00000000 00000000 00000000 00000001 00000001",
		  "0 0/0 1; error 2" },
	};
	for (gsize r = 0; r < G_N_ELEMENTS(rows); r++) {
		g_autoptr(GByteArray) bytes = from_hex(rows[r].hex);
		g_autotemp *path = wp_temp_file_new("", bytes->data, bytes->len);
		g_autoptr(GString) got = g_string_new(NULL);
		g_autoptr(GError) error = NULL;
		g_autoptr(WpSource) source = wp_source_open(path, 0, &error);
		WpSourceResult result;
		WpFrame frame;
		ck_assert_ptr_nonnull(source);
		while ((result = wp_source_next(source, &frame, &error)) == WP_SOURCE_FRAME)
			g_string_append_printf(got, "%" G_GINT64_FORMAT " %u/%u %u; ",
					       frame.time_ns, frame.captured, frame.length,
					       frame.link_type);
		g_string_append(got, result == WP_SOURCE_END ? "end" : "");
		if (result == WP_SOURCE_ERROR)
			g_string_append_printf(got, "error %c",
					       strstr(error->message, "packet ")[7]);
		ck_assert_str_eq(got->str, rows[r].expected);
	}
}
END_TEST

/* Cut anywhere, a file gives all whole frames, and says that it was cut but where it was not. */
START_TEST(cut)
{
	for (int form = 0; form < 4; form++) {
		WpPcapBuildOptions options = { .pcapng = form & 1 };
		g_autoptr(WpPcapBuild) build = wp_pcap_build_new(&options);
		guint ends[4] = { wp_pcap_build_bytes(build)->len };
		for (guint i = 0; i < 3; i++) {
			wp_pcap_build_frame(build, T0, (guint8[50]){ 0 }, 50, 50);
			ends[i + 1] = wp_pcap_build_bytes(build)->len;
		}
		const GByteArray *bytes = wp_pcap_build_bytes(build);
		for (guint length = ends[0]; length <= bytes->len; length++) {
			g_autoptr(GByteArray) packed = wp_gzip_bytes(bytes->data, length);
			g_autotemp *path = form & 2
						   ? wp_temp_file_new("", packed->data, packed->len)
						   : wp_temp_file_new("", bytes->data, length);
			g_autoptr(WpSource) source = wp_source_open(path, 0, NULL);
			WpFrame frame;
			guint n = 0;
			WpSourceResult result;
			while ((result = wp_source_next(source, &frame, NULL)) == WP_SOURCE_FRAME)
				n++;
			guint expected =
				(length >= ends[1]) + (length >= ends[2]) + (length >= ends[3]);
			ck_assert_uint_eq(n, expected);
			/* In pcapng the first packet comes with an interface block before it. */
			gboolean is_whole =
				length == ends[n] || (form & 1 && n == 0 && length == ends[0] + 32);
			ck_assert_int_eq(result, is_whole ? WP_SOURCE_END : WP_SOURCE_CUT);
			ck_assert_uint_eq(wp_source_n_cut(source), !is_whole);
		}
	}
}
END_TEST

/*
 * Frames of three files in order of time; equal times in the order of the files; one file is empty.
 *
 *   0:  1  4  4  9        1: (none)        2:  2  4  3  10
 */
START_TEST(merged)
{
	static const gint64 times[3][4] = { { 1, 4, 4, 9 }, { 0 }, { 2, 4, 3, 10 } };
	static const char expected[] = "0:1 2:2 0:4 0:4 2:4 2:3 0:9 2:10 ";
	g_autoptr(GString) got = g_string_new(NULL);
	WpTempFile *paths[3];
	WpFrame frame;

	for (guint f = 0; f < 3; f++) {
		g_autoptr(WpPcapBuild) build = wp_pcap_build_new(NULL);
		for (guint i = 0; f != 1 && i < 4; i++)
			wp_pcap_build_frame(build, times[f][i], (guint8[1]){ 1 }, 1, 1);
		paths[f] = wp_pcap_build_file(build, "");
	}
	g_autoptr(WpSource) source = wp_source_open_all((const char *const *)paths, 3, NULL, NULL);
	while (wp_source_next(source, &frame, NULL) == WP_SOURCE_FRAME)
		g_string_append_printf(got, "%u:%" G_GINT64_FORMAT " ", frame.tap, frame.time_ns);
	ck_assert_str_eq(got->str, expected);
	for (guint f = 0; f < 3; f++)
		wp_temp_file_remove(paths[f]);
}
END_TEST

#define N_MANY 400

static WpTempFile *
make_one_of_many(guint f)
{
	g_autoptr(WpPcapBuild) build = wp_pcap_build_new(NULL);
	static const gint64 times[] = { 1, 2, 25 };

	if (f == 10) { /* a name, told before the packet */
		g_autoptr(GByteArray) bytes = from_hex(
			SHB IDB "04000000 1c000000 0100 0700 0a000003 646200 00 00000000 1c000000 "
				"06000000 24000000 00000000 00000000 65000000 01000000 01000000 "
				"aa000000 24000000");
		return wp_temp_file_new("", bytes->data, bytes->len);
	}
	for (guint i = 0; f != 20 && i < G_N_ELEMENTS(times); i++)
		wp_pcap_build_frame(build, 10 * f + times[i], (guint8[20]){ 1 }, 20, 20);
	GByteArray *bytes = (GByteArray *)wp_pcap_build_bytes(build);
	if (f == 30)
		memset(bytes->data + 24 + 8, 0xff, 4); /* first record's length */
	if (f == 40)
		g_byte_array_set_size(bytes, bytes->len - 5);
	return wp_pcap_build_file(build, "");
}

/* More files than may be open at once, each overlapping the next two; one is empty, one damaged, one cut. */
START_TEST(merged_many)
{
	WpTempFile *paths[N_MANY];
	struct rlimit old, few;
	guint n[N_MANY] = { 0 }, all = 0;
	gint64 last_ns = 0;
	WpFrame frame;
	g_autoptr(GError) error = NULL;
	g_autoptr(GString) names = g_string_new(NULL);
	guint64 n_read, size;

	for (guint f = 0; f < N_MANY; f++)
		paths[f] = make_one_of_many(f);
	getrlimit(RLIMIT_NOFILE, &old);
	few = (struct rlimit){ 64, old.rlim_max };
	setrlimit(RLIMIT_NOFILE, &few);
	g_autoptr(WpSource) source =
		wp_source_open_all((const char *const *)paths, N_MANY, NULL, NULL);
	wp_source_on_names(source, take_name, names);
	while (wp_source_next(source, &frame, &error) == WP_SOURCE_FRAME) {
		ck_assert_int_ge(frame.time_ns, last_ns);
		last_ns = frame.time_ns;
		n[frame.tap]++;
		all++;
		wp_source_progress(source, &n_read, &size);
		ck_assert_uint_le(n_read, size);
	}
	setrlimit(RLIMIT_NOFILE, &old);
	ck_assert_uint_eq(n[9], 3);
	ck_assert_uint_eq(n[10], 1);
	ck_assert_uint_eq(n[20], 0);
	ck_assert_uint_eq(n[30], 0);
	ck_assert_uint_eq(n[40], 2);
	ck_assert_uint_eq(all, 3 * N_MANY - 2 - 3 - 3 - 1);
	ck_assert_uint_eq(n_read, size);
	ck_assert_str_eq(names->str, "10.0.0.3:1 db; ");
	ck_assert(g_error_matches(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_FORMAT));
	ck_assert_uint_eq(wp_source_n_cut(source), 1);
	for (guint f = 0; f < N_MANY; f++)
		wp_temp_file_remove(paths[f]);
}
END_TEST

/* One damaged and one cut file do not hide the frames of the third. */
START_TEST(merged_with_damage)
{
	WpTempFile *paths[3];
	WpFrame frame;
	guint n[3] = { 0 };
	g_autoptr(GError) error = NULL;

	for (guint f = 0; f < 3; f++) {
		g_autoptr(WpPcapBuild) build = wp_pcap_build_new(NULL);
		for (guint i = 0; i < 10; i++)
			wp_pcap_build_frame(build, i, (guint8[20]){ 1 }, 20, 20);
		GByteArray *bytes = (GByteArray *)wp_pcap_build_bytes(build);
		if (f == 0)
			memset(bytes->data + 24 + 2 * 36 + 8, 0xff, 4); /* third record's length */
		if (f == 1)
			g_byte_array_set_size(bytes, bytes->len - 5);
		paths[f] = wp_pcap_build_file(build, "");
	}
	g_autoptr(WpSource) source = wp_source_open_all((const char *const *)paths, 3, NULL, NULL);
	while (wp_source_next(source, &frame, &error) == WP_SOURCE_FRAME)
		n[frame.tap]++;
	ck_assert_uint_eq(n[0], 2);
	ck_assert_uint_eq(n[1], 9);
	ck_assert_uint_eq(n[2], 10);
	ck_assert(g_error_matches(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_FORMAT));
	ck_assert_ptr_nonnull(strstr(error->message, "packet 3 of"));
	ck_assert_uint_eq(wp_source_n_cut(source), 1);
	for (guint f = 0; f < 3; f++)
		wp_temp_file_remove(paths[f]);
}
END_TEST

/* What is no capture is refused with a reason; empty captures are captures. */
START_TEST(refused)
{
	static const struct {
		const char *hex;
		const char *reason; /* NULL: it is a capture */
	} rows[] = {
		{ "", "it is empty" },
		{ "0102030405060708090a0b0c0d0e0f10", "it is neither pcap nor pcapng" },
		{ "d4c3b2a1 0200 0400 0000", "it ends inside its first 24 bytes" },
		{ "fd377a585a00 0000000000000000", "xz" },
		{ "504b0304 0000000000000000", "zip" },
		{ "02214c18 0000000000000000", "lz4" },
		{ "d4c3b2a1 0200 0400 00000000 00000000 ffff0000 01000000", NULL },
		{ SHB, NULL },
	};
	for (gsize r = 0; r < G_N_ELEMENTS(rows); r++) {
		g_autoptr(GByteArray) bytes = from_hex(rows[r].hex);
		g_autotemp *path = wp_temp_file_new("", bytes->data, bytes->len);
		g_autoptr(GError) error = NULL;
		g_autoptr(WpSource) source = wp_source_open(path, 0, &error);
		ck_assert_int_eq(source != NULL, rows[r].reason == NULL);
		if (source) {
			ck_assert(wp_capture_is_capture(bytes->data, bytes->len));
			continue;
		}
		ck_assert(g_error_matches(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_FORMAT));
		ck_assert_ptr_nonnull(strstr(error->message, rows[r].reason));
		ck_assert_ptr_nonnull(strstr(error->message, path));
	}
	g_autoptr(GError) error = NULL;
	ck_assert_ptr_null(wp_source_open("/nonexistent", 0, &error));
	ck_assert(g_error_matches(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_OPEN));
}
END_TEST

WP_SUITE("source", every_form, at_hand, binary_clock, blocks, names_and_secrets, old_pcap, cut,
	 merged, merged_many, merged_with_damage, refused)
