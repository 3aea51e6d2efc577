/* WpChecksums: wrong sums among right ones, of one sender and another. */
#include "capture/checksum.h"

#include <string.h>

#include "tests/support/suite.h"

#define MAX_BYTES 64

/* Of a segment: whose, and what of it is wrong. */
typedef enum {
	RIGHT,
	WRONG,      /* a bit of the payload is another */
	WRONG_HEAD, /* a bit of the IP header is */
	PARTIAL,    /* the sum of the pseudo header alone, as a network card is given it */
	UNSIZED,    /* the same without the length, as it is given what it cuts into segments */
	NO_SUM,     /* 0 */
	SNAPPED     /* its end was not captured */
} What;

/* One by one, as the RFC has it. */
static guint16
fold(guint64 sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (guint16)sum;
}

static guint64
add_words(guint64 sum, const guint8 *data, gsize n)
{
	for (gsize i = 0; i < n; i++)
		sum += i % 2 ? data[i] : (guint64)data[i] << 8;
	return sum;
}

static void
put(guint8 *p, guint16 value)
{
	p[0] = (guint8)(value >> 8);
	p[1] = (guint8)value;
}

/* A segment of LENGTH bytes from the address that ends in HOST, judged. */
static WpChecksumVerdict
judge(WpChecksums *checksums, gboolean is_ipv6, gboolean is_udp, guint8 host, gsize length,
      What what)
{
	guint8 bytes[MAX_BYTES];
	WpIp ip = { .version = is_ipv6 ? 6 : 4,
		    .protocol = is_udp ? WP_IP_UDP : WP_IP_TCP,
		    .is_wrong = what == WRONG_HEAD };
	WpLayer layer = { bytes, (guint32)length, (guint32)length, 0 };
	guint8 *field = bytes + (is_udp ? 6 : 16);

	memset(ip.src, is_ipv6 ? 0x20 : 0, 10);
	memset(ip.src + 10, 0xff, 2);
	memcpy(ip.dst, ip.src, 16);
	ip.src[15] = host;
	ip.dst[12] = 99;
	for (gsize i = 0; i < length; i++)
		bytes[i] = (guint8)(i * 77 + host);
	put(field, 0);
	guint64 unsized = add_words(add_words(ip.protocol, ip.src, 16), ip.dst, 16);
	guint16 right = (guint16)~fold(add_words(unsized + length, bytes, length));
	put(field, what == PARTIAL   ? fold(unsized + length)
		   : what == UNSIZED ? fold(unsized)
		   : what == NO_SUM  ? 0
				     : right);
	if (what == WRONG)
		bytes[length - 1] ^= 4;
	layer.captured -= what == SNAPPED;
	return wp_checksums_judge(checksums, &ip, &layer);
}

/* Segments of one host, one after the other; of the last one the verdict. */
typedef struct {
	guint8 host;
	guint n;
	What what;
} Step;

static const struct {
	const char *name;
	Step steps[4];
	WpChecksumVerdict last;
} rows[] = {
	{ "the first of all", { { 1, 1, WRONG } }, WP_CHECKSUM_FINE },
	{ "behind a few", { { 1, 3, RIGHT }, { 1, 1, WRONG } }, WP_CHECKSUM_DOUBTED },
	{ "behind many", { { 1, 64, RIGHT }, { 1, 1, WRONG } }, WP_CHECKSUM_DAMAGED },
	{ "the header", { { 1, 64, RIGHT }, { 1, 1, WRONG_HEAD } }, WP_CHECKSUM_DAMAGED },
	{ "of a sender that nobody knows",
	  { { 1, 500, RIGHT }, { 2, 1, WRONG } },
	  WP_CHECKSUM_DOUBTED },
	{ "of one whose sums are never right",
	  { { 1, 500, RIGHT }, { 2, 4, WRONG } },
	  WP_CHECKSUM_FINE },
	{ "a header from an address that nobody knows",
	  { { 1, 500, RIGHT }, { 2, 1, WRONG_HEAD } },
	  WP_CHECKSUM_DOUBTED },
	{ "of one in four", { { 1, 90, RIGHT }, { 1, 30, WRONG } }, WP_CHECKSUM_DOUBTED },
	{ "of one in three", { { 1, 90, RIGHT }, { 1, 45, WRONG } }, WP_CHECKSUM_FINE },
	{ "two of many", { { 1, 200, RIGHT }, { 1, 2, WRONG } }, WP_CHECKSUM_DAMAGED },
	{ "from then on all", { { 1, 900, RIGHT }, { 1, 3, WRONG } }, WP_CHECKSUM_DOUBTED },
	{ "a right one between",
	  { { 1, 900, RIGHT }, { 1, 3, WRONG }, { 1, 1, RIGHT }, { 1, 1, WRONG } },
	  WP_CHECKSUM_DAMAGED },
	{ "not filled in yet", { { 1, 500, RIGHT }, { 1, 1, PARTIAL } }, WP_CHECKSUM_FINE },
	{ "to be cut", { { 1, 500, RIGHT }, { 1, 1, UNSIZED } }, WP_CHECKSUM_FINE },
	{ "among those not filled in", { { 1, 500, PARTIAL }, { 1, 1, WRONG } }, WP_CHECKSUM_FINE },
	{ "cut by the snap length", { { 1, 500, RIGHT }, { 1, 1, SNAPPED } }, WP_CHECKSUM_FINE },
};

START_TEST(verdicts)
{
	for (guint form = 0; form < 4; form++)
		for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
			g_autoptr(WpChecksums) checksums = wp_checksums_new();
			WpChecksumVerdict last = WP_CHECKSUM_FINE;
			gboolean is_ipv6 = form & 1;
			if (is_ipv6 && strstr(rows[i].name, "header"))
				continue; /* it has no sum */
			for (const Step *step = rows[i].steps; step->n; step++)
				for (guint n = 0; n < step->n; n++)
					last = judge(checksums, is_ipv6, (form & 2) != 0,
						     step->host, 20 + n % 41, step->what);
			ck_assert_msg(last == rows[i].last, "%s, form %u: %d", rows[i].name, form,
				      last);
		}
}
END_TEST

/* UDP may go without. */
START_TEST(no_sum)
{
	g_autoptr(WpChecksums) checksums = wp_checksums_new();
	for (guint i = 0; i < 100; i++)
		judge(checksums, FALSE, TRUE, 1, 30, RIGHT);
	ck_assert_int_eq(judge(checksums, FALSE, TRUE, 1, 30, NO_SUM), WP_CHECKSUM_FINE);
	ck_assert_int_eq(judge(checksums, FALSE, FALSE, 1, 30, NO_SUM), WP_CHECKSUM_DAMAGED);
}
END_TEST

/* What the first packets showed counts from the first one on. */
START_TEST(expected)
{
	g_autoptr(WpChecksums) learned = wp_checksums_new();
	g_autoptr(WpChecksums) checksums = wp_checksums_new();
	for (guint i = 0; i < 100; i++)
		judge(learned, FALSE, FALSE, 1, 30, RIGHT);
	wp_checksums_expect(checksums, learned);
	ck_assert_int_eq(judge(checksums, FALSE, FALSE, 1, 30, WRONG), WP_CHECKSUM_DAMAGED);
}
END_TEST

/* Of headers of every length: each bit matters, and 0 is none. */
START_TEST(headers)
{
	guint8 header[60];
	for (guint n = 20; n <= 60; n += 4) {
		for (guint i = 0; i < n; i++)
			header[i] = (guint8)(i * 53 + n);
		put(header + 10, 0);
		ck_assert(!wp_checksum_is_header_wrong(header, n));
		put(header + 10, (guint16)~fold(add_words(0, header, n)));
		ck_assert(!wp_checksum_is_header_wrong(header, n));
		for (guint bit = 0; bit < n * 8; bit++) {
			header[bit / 8] ^= (guint8)(1 << bit % 8);
			ck_assert(wp_checksum_is_header_wrong(header, n));
			header[bit / 8] ^= (guint8)(1 << bit % 8);
		}
	}
}
END_TEST

WP_SUITE("checksum", verdicts, no_sum, expected, headers)
