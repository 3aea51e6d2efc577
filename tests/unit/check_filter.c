/* BPF expressions over frames of several link types, with and without VLAN tags. */
#include "capture/filter.h"

#include <pcap/pcap.h>
#include <string.h>

#include "capture/trace.h"
#include "tests/support/suite.h"

/* IPv4 from 10.0.0.1 to 10.0.0.2, TCP from port 40000 to port 80. */
static const guint8 packet[] = {
	0x45, 0,    0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 10,   0,    0, 1, 10, 0, 0, 2,
	0x9c, 0x40, 0, 80, 0, 0, 0, 1, 0,  0, 0, 0, 0x50, 0x10, 0, 0, 0,  0, 0, 0,
};

enum {
	ETHERNET = 1,
	RAW = 101,
	COOKED = 113
};

static WpFrame
frame_of(guint32 link_type, guint n_tags, guint8 *buffer)
{
	gsize n = 0;
	if (link_type == ETHERNET) {
		memset(buffer, 0, 12);
		n = 12;
		for (guint i = 0; i < n_tags; i++, n += 4)
			memcpy(buffer + n, "\x81\x00\x00\x07", 4);
		memcpy(buffer + n, "\x08\x00", 2);
		n += 2;
	} else if (link_type == COOKED) {
		memset(buffer, 0, 16);
		buffer[14] = 8;
		n = 16;
	}
	memcpy(buffer + n, packet, sizeof packet);
	n += sizeof packet;
	return (WpFrame){
		.data = buffer, .captured = (guint32)n, .length = (guint32)n, .link_type = link_type
	};
}

/* What an expression says of the packet must not depend on how it is wrapped. */
START_TEST(wrappings)
{
	static const struct {
		const char *expression;
		gboolean matches;
	} rows[] = {
		{ "port 80", TRUE },
		{ "not port 80", FALSE },
		{ "tcp and host 10.0.0.2", TRUE },
		{ "udp", FALSE },
		{ "port 80 or port 81", TRUE },
		{ "", TRUE },
		{ "src port 80", FALSE },
	};
	static const struct {
		guint32 link_type;
		guint n_tags;
	} wraps[] = {
		{ ETHERNET, 0 }, { ETHERNET, 1 }, { ETHERNET, 2 }, { RAW, 0 }, { COOKED, 0 }
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(WpFilter) filter = wp_filter_new(rows[i].expression, &error);
		ck_assert_ptr_nonnull(filter);
		for (gsize j = 0; j < 2 * G_N_ELEMENTS(wraps); j++) {
			guint8 buffer[128];
			gboolean matches = !rows[i].matches;
			gsize wrap = j % G_N_ELEMENTS(wraps);
			WpFrame frame = frame_of(wraps[wrap].link_type, wraps[wrap].n_tags, buffer);
			ck_assert(wp_filter_matches(filter, &frame, &matches, &error));
			ck_assert_msg(matches == rows[i].matches, "\"%s\", wrapping %zu",
				      rows[i].expression, wrap);
		}
	}
}
END_TEST

/* Whoever writes "vlan" means it. */
START_TEST(vlan)
{
	g_autoptr(WpFilter) filter = wp_filter_new("vlan 7 and port 80", NULL);
	for (guint n_tags = 0; n_tags < 2; n_tags++) {
		guint8 buffer[128];
		gboolean matches = FALSE;
		WpFrame frame = frame_of(ETHERNET, n_tags, buffer);
		ck_assert(wp_filter_matches(filter, &frame, &matches, NULL));
		ck_assert_int_eq(matches, n_tags == 1);
	}
}
END_TEST

/* Nonsense is told at once, with its text; what does not fit a link type, when that comes. */
START_TEST(errors)
{
	g_autoptr(GError) error = NULL, later = NULL;
	guint8 buffer[128];
	gboolean matches;
	ck_assert_ptr_null(wp_filter_new("port port", &error));
	ck_assert(g_error_matches(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_OPTION));
	ck_assert_ptr_nonnull(strstr(error->message, "port port"));
	g_autoptr(WpFilter) filter = wp_filter_new("ether host 00:01:02:03:04:05", NULL);
	ck_assert_ptr_nonnull(filter);
	WpFrame frame = frame_of(RAW, 0, buffer);
	ck_assert(!wp_filter_matches(filter, &frame, &matches, &later));
	ck_assert(g_error_matches(later, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_OPTION));
}
END_TEST

/* As the kernel does it: TEXT as it stands. */
static gboolean
passes_kernel(const char *text, const WpFrame *frame, gboolean *out_passes)
{
	struct bpf_program program;
	struct pcap_pkthdr header = { .caplen = frame->captured, .len = frame->length };
	pcap_t *pcap = pcap_open_dead(DLT_EN10MB, 65535);
	gboolean ok = pcap_compile(pcap, &program, text, 1, PCAP_NETMASK_UNKNOWN) == 0;

	pcap_close(pcap);
	if (!ok)
		return FALSE;
	*out_passes = pcap_offline_filter(&program, &header, frame->data) != 0;
	pcap_freecode(&program);
	return TRUE;
}

/*
 * What the kernel is asked of a live interface lets all frames pass that are wanted, with tags or without;
 * of those without tags no others.
 */
START_TEST(kernel)
{
	static const char *const expressions[] = { "port 80", "not port 80",
						   "udp",     "tcp or udp",
						   "",        "vlan 7 and port 80" };
	for (gsize i = 0; i < G_N_ELEMENTS(expressions); i++) {
		g_autofree char *text = wp_filter_for_kernel(expressions[i], ETHERNET);
		g_autofree char *other = wp_filter_for_kernel(expressions[i], RAW);
		g_autoptr(WpFilter) filter = wp_filter_new(expressions[i], NULL);
		ck_assert_str_eq(other, expressions[i]);
		for (guint n_tags = 0; n_tags <= 2; n_tags++) {
			guint8 buffer[128];
			gboolean wanted, passes;
			WpFrame frame = frame_of(ETHERNET, n_tags, buffer);
			ck_assert(wp_filter_matches(filter, &frame, &wanted, NULL));
			ck_assert(passes_kernel(text, &frame, &passes));
			ck_assert(wp_filter_is_tagged(&frame) == (n_tags > 0));
			ck_assert_msg(n_tags ? passes >= wanted : passes == wanted,
				      "\"%s\", %u tags", expressions[i], n_tags);
		}
	}
}
END_TEST

/* Frames cut anywhere are looked at without reading past their end. */
START_TEST(short_frames)
{
	g_autoptr(WpFilter) filter = wp_filter_new("port 80", NULL);
	guint8 buffer[128];
	WpFrame whole = frame_of(ETHERNET, 2, buffer);
	for (guint32 n = 0; n < whole.captured; n++) {
		g_autofree guint8 *copy = g_malloc(MAX(n, 1));
		gboolean matches;
		memcpy(copy, buffer, n);
		WpFrame frame = whole;
		frame.data = copy;
		frame.captured = n;
		ck_assert(wp_filter_matches(filter, &frame, &matches, NULL));
	}
}
END_TEST

START_TEST(names)
{
	char buffer[16];
	ck_assert_str_eq(wp_link_type_name(1, buffer, sizeof buffer), "EN10MB");
	ck_assert_str_eq(wp_link_type_name(101, buffer, sizeof buffer), "RAW");
	ck_assert_str_eq(wp_link_type_name(4000000000u, buffer, sizeof buffer), "4000000000");
}
END_TEST

WP_SUITE("filter", wrappings, vlan, kernel, errors, short_frames, names)
