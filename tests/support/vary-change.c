/*
 * Changes of the packets of a capture: what networks, network cards and mirrors do to them. Chance comes from
 * a generator that begins anew for each change, so that a variant is always the same.
 */
#include <check.h>
#include <string.h>

#include "capture/packet.h"
#include "tests/support/vary.h"

#define US G_GINT64_CONSTANT(1000)
#define MS G_GINT64_CONSTANT(1000000)

/* Packets of so many bytes are not the last of a message. */
#define FULL_SEGMENT 1400

/* A share of 1 in ONE_IN, by chance. */
static gboolean
chance(guint64 *state, guint one_in)
{
	*state = *state * G_GUINT64_CONSTANT(6364136223846793005) + 1442695040888963407u;
	return (*state >> 33) % one_in == 0;
}

static guint
be16(const guint8 *p)
{
	return (guint)p[0] << 8 | p[1];
}

static void
set_be16(guint8 *p, guint value)
{
	p[0] = (guint8)(value >> 8);
	p[1] = (guint8)value;
}

static guint32
be32(const guint8 *p)
{
	return (guint32)be16(p) << 16 | be16(p + 2);
}

static void
set_be32(guint8 *p, guint32 value)
{
	set_be16(p, value >> 16);
	set_be16(p + 2, value & 0xffff);
}

static gboolean
is_ipv6(const WpVaryPacket *packet)
{
	return packet->ip->data[0] >> 4 == 6;
}

static guint
ip_header(const WpVaryPacket *packet)
{
	return is_ipv6(packet) ? 40 : (packet->ip->data[0] & 15) * 4u;
}

static gboolean
is_protocol(const WpVaryPacket *packet, guint8 protocol)
{
	return packet->ip->data[is_ipv6(packet) ? 6 : 9] == protocol;
}

/* The TCP header of PACKET; NULL where it has none. */
static guint8 *
tcp_of(const WpVaryPacket *packet)
{
	return is_protocol(packet, 6) ? packet->ip->data + ip_header(packet) : NULL;
}

/* Where the payload of TCP begins in the packet. */
static guint
payload_at(const WpVaryPacket *packet)
{
	return ip_header(packet) + (tcp_of(packet)[12] >> 4) * 4u;
}

static gboolean
has_payload(const WpVaryPacket *packet)
{
	return tcp_of(packet) && payload_at(packet) < packet->ip->len;
}

static void
set_length(WpVaryPacket *packet)
{
	if (is_ipv6(packet))
		set_be16(packet->ip->data + 4, packet->ip->len - 40);
	else
		set_be16(packet->ip->data + 2, packet->ip->len);
}

static WpVaryPacket *
copy_packet(const WpVaryPacket *packet, gint64 later_ns)
{
	return wp_vary_packet_new(packet->time_ns + later_ns, packet->ip->data, packet->ip->len);
}

static gint
compare_times(gconstpointer a, gconstpointer b)
{
	const WpVaryPacket *const *one = a, *const *other = b;
	return ((*one)->time_ns > (*other)->time_ns) - ((*one)->time_ns < (*other)->time_ns);
}

/* Replaces the packets by MORE (transfer full), in order of time. */
static void
replace(GPtrArray *packets, GPtrArray *more)
{
	g_ptr_array_set_size(packets, 0);
	g_ptr_array_sort(more, compare_times);
	for (guint i = 0; i < more->len; i++)
		g_ptr_array_add(packets, more->pdata[i]);
	g_ptr_array_set_free_func(more, NULL);
	g_ptr_array_unref(more);
}

/* --- copies --- */

/* Adds copies of one packet in ONE_IN, LATER_NS after it, with HOPS less to live. */
static void
add_copies(GPtrArray *packets, guint one_in, gint64 later_ns, guint8 hops, guint copy)
{
	guint64 state = 1;
	guint n = packets->len;

	for (guint i = 0; i < n; i++) {
		if (!chance(&state, one_in))
			continue;
		WpVaryPacket *again = copy_packet(packets->pdata[i], later_ns);
		again->ip->data[is_ipv6(again) ? 7 : 8] -= hops;
		again->copy = copy;
		g_ptr_array_add(packets, again);
	}
	g_ptr_array_sort(packets, compare_times);
}

void
wp_vary_doubled(GPtrArray *packets)
{
	add_copies(packets, 1, 2 * US, 0, 0);
}

void
wp_vary_copied(GPtrArray *packets)
{
	add_copies(packets, 1, 5 * US, 0, 1);
}

void
wp_vary_routed(GPtrArray *packets)
{
	add_copies(packets, 1, 5 * US, 1, 1);
}

void
wp_vary_third_doubled(GPtrArray *packets)
{
	add_copies(packets, 3, 3 * US, 0, 0);
}

/* --- order and loss --- */

/* One data packet in twenty is sent once more after 40 ms, with another IP id and timestamp. */
void
wp_vary_retransmitted(GPtrArray *packets)
{
	guint64 state = 2;
	guint n = packets->len;

	for (guint i = 0; i < n; i++) {
		if (!has_payload(packets->pdata[i]) || !chance(&state, 20))
			continue;
		WpVaryPacket *again = copy_packet(packets->pdata[i], 40 * MS);
		guint8 *options = tcp_of(again) + 20;
		if (!is_ipv6(again))
			set_be16(again->ip->data + 4, be16(again->ip->data + 4) + 0x4000);
		if (payload_at(again) - ip_header(again) >= 32 && be32(options) == 0x0101080a)
			set_be32(options + 4, be32(options + 4) + 40);
		g_ptr_array_add(packets, again);
	}
	g_ptr_array_sort(packets, compare_times);
}

/* The order in the file is not that of time, by up to four places and 5 ms. */
void
wp_vary_file_order(GPtrArray *packets)
{
	guint64 state = 3;
	for (guint i = 0; i + 4 < packets->len; i++) {
		guint other = i + 1 + (guint)chance(&state, 2) + 2 * (guint)chance(&state, 2);
		WpVaryPacket *packet = packets->pdata[i], *later = packets->pdata[other];
		if (!chance(&state, 3) || later->time_ns - packet->time_ns > 5 * MS)
			continue;
		packets->pdata[i] = later;
		packets->pdata[other] = packet;
		i = other;
	}
}

/* TRUE where A and B are data of one flow and direction. */
static gboolean
is_same_way(const WpVaryPacket *a, const WpVaryPacket *b)
{
	guint header = ip_header(a);
	return has_payload(a) && has_payload(b) && header == ip_header(b) &&
	       memcmp(a->ip->data + (is_ipv6(a) ? 8 : 12), b->ip->data + (is_ipv6(a) ? 8 : 12),
		      is_ipv6(a) ? 32 : 8) == 0 &&
	       memcmp(a->ip->data + header, b->ip->data + header, 4) == 0;
}

/*
 * Segments overtake each other: of four that follow each other in a long message, the two in the middle change
 * places, and the times stay. (The first and the last byte of the message are where they were.)
 */
void
wp_vary_reordered(GPtrArray *packets)
{
	for (guint i = 0; i + 3 < packets->len; i++) {
		WpVaryPacket **four = (WpVaryPacket **)&packets->pdata[i];
		if (!is_same_way(four[0], four[1]) || !is_same_way(four[1], four[2]) ||
		    !is_same_way(four[2], four[3]) || four[0]->ip->len < FULL_SEGMENT ||
		    four[1]->ip->len < FULL_SEGMENT || four[2]->ip->len < FULL_SEGMENT)
			continue;
		GByteArray *second = four[1]->ip;
		four[1]->ip = four[2]->ip;
		four[2]->ip = second;
		i += 2;
	}
}

/* Takes packets out where IS_LOST says so. */
static void
lose(GPtrArray *packets, gboolean (*is_lost)(const WpVaryPacket *packet, guint n, guint64 *state))
{
	GPtrArray *kept = g_ptr_array_new();
	guint64 state = 4;
	for (guint i = 0; i < packets->len; i++)
		if (!is_lost(packets->pdata[i], i, &state))
			g_ptr_array_add(kept, copy_packet(packets->pdata[i], 0));
	replace(packets, kept);
}

static gboolean
is_lost_by_chance(const WpVaryPacket *packet, guint n, guint64 *state)
{
	return chance(state, 50);
}

static gboolean
is_lost_in_burst(const WpVaryPacket *packet, guint n, guint64 *state)
{
	return n % 97 >= 70 && n % 97 < 85;
}

static gboolean
is_lost_at_begin(const WpVaryPacket *packet, guint n, guint64 *state)
{
	return n < 101;
}

static gboolean
is_from_server(const WpVaryPacket *packet, guint n, guint64 *state)
{
	const guint8 *ports = packet->ip->data + ip_header(packet);
	return be16(ports) < be16(ports + 2);
}

static gboolean
is_from_client(const WpVaryPacket *packet, guint n, guint64 *state)
{
	return !is_from_server(packet, n, state);
}

void
wp_vary_loss(GPtrArray *packets)
{
	lose(packets, is_lost_by_chance);
}

void
wp_vary_burst(GPtrArray *packets)
{
	lose(packets, is_lost_in_burst);
}

void
wp_vary_middle(GPtrArray *packets)
{
	lose(packets, is_lost_at_begin);
}

void
wp_vary_one_way(GPtrArray *packets)
{
	lose(packets, is_from_server);
}

void
wp_vary_other_way(GPtrArray *packets)
{
	lose(packets, is_from_client);
}

/* --- IP --- */

/* An address becomes fd00::a.b.c.d; headers of IPv4 options are not copied. */
void
wp_vary_ipv6(GPtrArray *packets)
{
	for (guint i = 0; i < packets->len; i++) {
		WpVaryPacket *packet = packets->pdata[i];
		guint header = ip_header(packet);
		guint8 head[40] = { 0x60, 0, 0, 0, 0, 0, packet->ip->data[9], packet->ip->data[8] };
		head[8] = head[24] = 0xfd;
		memcpy(head + 20, packet->ip->data + 12, 4);
		memcpy(head + 36, packet->ip->data + 16, 4);
		g_byte_array_remove_range(packet->ip, 0, header);
		g_byte_array_prepend(packet->ip, head, sizeof head);
		set_length(packet);
	}
}

/* IPv6: hop by hop and destination options, a routing header. */
void
wp_vary_extensions(GPtrArray *packets)
{
	for (guint i = 0; i < packets->len; i++) {
		WpVaryPacket *packet = packets->pdata[i];
		const guint8 chain[] = {
			60, 0, 1, 4, 0, 0, 0, 0, 43, 0, 1, 4, 0, 0, 0, 0, packet->ip->data[6],
			0,  0, 0, 0, 0, 0, 0
		};
		GByteArray *ip = g_byte_array_new();
		g_byte_array_append(ip, packet->ip->data, 40);
		g_byte_array_append(ip, chain, sizeof chain);
		g_byte_array_append(ip, packet->ip->data + 40, packet->ip->len - 40);
		g_byte_array_unref(packet->ip);
		packet->ip = ip;
		ip->data[6] = 0;
		set_length(packet);
	}
}

/* IPv4: eight bytes of options. */
void
wp_vary_options(GPtrArray *packets)
{
	static const guint8 options[8] = { 1, 1, 1, 0x83, 3, 4, 1, 0 };
	for (guint i = 0; i < packets->len; i++) {
		WpVaryPacket *packet = packets->pdata[i];
		guint header = ip_header(packet);
		GByteArray *ip = g_byte_array_new();
		g_byte_array_append(ip, packet->ip->data, header);
		g_byte_array_append(ip, options, sizeof options);
		g_byte_array_append(ip, packet->ip->data + header, packet->ip->len - header);
		g_byte_array_unref(packet->ip);
		packet->ip = ip;
		ip->data[0] += 2;
		set_length(packet);
	}
}

/* IPv4 as sockets send it that ask for no fragments: id 0. */
void
wp_vary_no_ids(GPtrArray *packets)
{
	for (guint i = 0; i < packets->len; i++)
		set_be16(((WpVaryPacket *)packets->pdata[i])->ip->data + 4, 0);
}

/* Segmentation by the network card: the length is filled in after the capture. */
void
wp_vary_ip_length_0(GPtrArray *packets)
{
	for (guint i = 0; i < packets->len; i++) {
		WpVaryPacket *packet = packets->pdata[i];
		set_be16(packet->ip->data + (is_ipv6(packet) ? 4 : 2), 0);
	}
}

/* Checksums, too. */
void
wp_vary_bad_checksums(GPtrArray *packets)
{
	for (guint i = 0; i < packets->len; i++) {
		WpVaryPacket *packet = packets->pdata[i];
		guint header = ip_header(packet);
		if (!is_ipv6(packet))
			packet->ip->data[10] ^= 0x55;
		packet->ip->data[header + (tcp_of(packet) ? 16 : 6)] ^= 0x55;
	}
}

static void
make_fragments(GPtrArray *packets, gboolean is_reverse)
{
	GPtrArray *more = g_ptr_array_new();
	for (guint i = 0; i < packets->len; i++) {
		const WpVaryPacket *packet = packets->pdata[i];
		if (packet->ip->len <= 64 + ip_header(packet)) {
			g_ptr_array_add(more, copy_packet(packet, 0));
			continue;
		}
		g_autoptr(GPtrArray) pieces = wp_build_fragments(packet->ip, 64);
		for (guint p = 0; p < pieces->len; p++) {
			GByteArray *piece = pieces->pdata[is_reverse ? pieces->len - 1 - p : p];
			g_ptr_array_add(
				more, wp_vary_packet_new(packet->time_ns, piece->data, piece->len));
		}
	}
	replace(packets, more);
}

void
wp_vary_fragments(GPtrArray *packets)
{
	make_fragments(packets, FALSE);
}

void
wp_vary_fragments_reversed(GPtrArray *packets)
{
	make_fragments(packets, TRUE);
}

/* --- TCP and UDP --- */

void
wp_vary_odd_ports(GPtrArray *packets)
{
	for (guint i = 0; i < packets->len; i++) {
		WpVaryPacket *packet = packets->pdata[i];
		guint8 *ports = packet->ip->data + ip_header(packet);
		for (guint8 *port = ports; port <= ports + 2; port += 2)
			if (be16(port) < WP_VARY_PORTS_BELOW)
				set_be16(port, be16(port) + WP_VARY_PORTS_SHIFT);
	}
}

/* The piece of a segment from AT on, SIZE bytes of payload, or what there is. */
static WpVaryPacket *
take_piece(const WpVaryPacket *packet, guint at, guint size)
{
	guint begin = payload_at(packet), n = packet->ip->len - begin;
	gboolean is_last = at + size >= n;
	WpVaryPacket *piece = wp_vary_packet_new(packet->time_ns, packet->ip->data, begin);
	g_byte_array_append(piece->ip, packet->ip->data + begin + at, is_last ? n - at : size);
	set_length(piece);
	guint8 *tcp = tcp_of(piece);
	set_be32(tcp + 4, be32(tcp + 4) + at);
	if (!is_last)
		tcp[13] &= (guint8) ~(WP_TCP_FIN | WP_TCP_PSH);
	return piece;
}

static void
make_segments(GPtrArray *packets, guint size)
{
	GPtrArray *more = g_ptr_array_new();
	for (guint i = 0; i < packets->len; i++) {
		const WpVaryPacket *packet = packets->pdata[i];
		if (!has_payload(packet)) {
			g_ptr_array_add(more, copy_packet(packet, 0));
			continue;
		}
		guint n = packet->ip->len - payload_at(packet);
		for (guint at = 0; at < n; at += size)
			g_ptr_array_add(more, take_piece(packet, at, size));
	}
	replace(packets, more);
}

void
wp_vary_segments_7(GPtrArray *packets)
{
	make_segments(packets, 7);
}

void
wp_vary_segments_1(GPtrArray *packets)
{
	make_segments(packets, 1);
}

/* The number of a flow's direction: what its addresses and ports hash to. */
static gpointer
way_of(const WpVaryPacket *packet, gboolean is_back)
{
	const guint8 *ends = packet->ip->data + (is_ipv6(packet) ? 8 : 12);
	guint size = is_ipv6(packet) ? 16 : 4;
	const guint8 *ports = packet->ip->data + ip_header(packet);
	guint hash = 5381;
	for (guint i = 0; i < 2 * size; i++)
		hash = hash * 33 + ends[(i + (is_back ? size : 0)) % (2 * size)];
	hash = hash * 65599 + be16(ports + (is_back ? 2 : 0));
	return GUINT_TO_POINTER(hash * 65599 + be16(ports + (is_back ? 0 : 2)));
}

/* What is added to the numbers of a direction, so that the first seen is 300 below the wrap. */
static guint32
shift_of(GHashTable *shifts, gpointer way, guint32 number)
{
	if (!g_hash_table_contains(shifts, way))
		g_hash_table_insert(shifts, way, GUINT_TO_POINTER(0u - 300u - number));
	return GPOINTER_TO_UINT(g_hash_table_lookup(shifts, way));
}

/* Sequence numbers pass 2^32 in each flow. Selective acknowledgments become padding. */
void
wp_vary_sequence_wrap(GPtrArray *packets)
{
	g_autoptr(GHashTable) shifts = g_hash_table_new(NULL, NULL);
	for (guint i = 0; i < packets->len; i++) {
		const WpVaryPacket *packet = packets->pdata[i];
		guint8 *tcp = tcp_of(packet);
		if (!tcp)
			continue;
		guint32 seq = be32(tcp + 4), ack = be32(tcp + 8);
		set_be32(tcp + 4, seq + shift_of(shifts, way_of(packet, FALSE), seq));
		if (tcp[13] & WP_TCP_ACK)
			set_be32(tcp + 8, ack + shift_of(shifts, way_of(packet, TRUE), ack));
		for (guint8 *option = tcp + 20; option < tcp + (tcp[12] >> 4) * 4;) {
			guint size = *option <= 1 ? 1 : option[1];
			if (*option == 5)
				memset(option, 1, size);
			option += MAX(size, 1);
		}
	}
}
