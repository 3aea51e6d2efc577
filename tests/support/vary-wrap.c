/*
 * Headers before an IP packet, put there from the innermost to the outermost: each word of a recipe is a
 * function that writes its header in front of what there is, and says what a header before it must call it.
 */
#include <check.h>
#include <string.h>

#include "tests/support/vary.h"

/* What has been put together so far. */
typedef struct {
	GByteArray *bytes;
	guint16 type;    /* of Ethernet */
	guint8 protocol; /* of IP; 0 = it cannot stand there */
	gboolean is_ipv6;
	gboolean is_copy;
	guint8 hosts[2][4]; /* some bytes of the addresses of sender and receiver */
	guint n;            /* number of the packet */
} Wrapping;

static void
put_front(Wrapping *wrapping, const guint8 *head, guint size, guint16 type, guint8 protocol)
{
	g_byte_array_prepend(wrapping->bytes, head, size);
	wrapping->type = type;
	wrapping->protocol = protocol;
}

#define PUT(wrapping, type, protocol, ...)                                                         \
	do {                                                                                       \
		const guint8 head[] = { __VA_ARGS__ };                                             \
		put_front(wrapping, head, sizeof head, type, protocol);                            \
	} while (0)

#define HIGH(number) (guint8)((number) >> 8)
#define LOW(number)  (guint8)(number)

/* Each host has its own address; a router, between, that of its port. */
static void
put_ethernet(Wrapping *wrapping)
{
	const guint8(*hosts)[4] = wrapping->hosts;
	guint8 head[14] = { 2,
			    wrapping->is_copy,
			    hosts[1][0],
			    hosts[1][1],
			    hosts[1][2],
			    hosts[1][3],
			    2,
			    wrapping->is_copy,
			    hosts[0][0],
			    hosts[0][1],
			    hosts[0][2],
			    hosts[0][3],
			    HIGH(wrapping->type),
			    LOW(wrapping->type) };
	put_front(wrapping, head, sizeof head, 0x6558, 143);
}

static void
put_vlan(Wrapping *wrapping)
{
	PUT(wrapping, 0x8100, 0, 0, 100, HIGH(wrapping->type), LOW(wrapping->type));
}

static void
put_qinq(Wrapping *wrapping)
{
	PUT(wrapping, 0x88a8, 0, 0, 200, HIGH(wrapping->type), LOW(wrapping->type));
}

static void
put_qinq_old(Wrapping *wrapping)
{
	PUT(wrapping, 0x9100, 0, 0, 200, HIGH(wrapping->type), LOW(wrapping->type));
}

/* A tag in one direction only: a port whose own traffic leaves without. */
static void
put_vlan_one_way(Wrapping *wrapping)
{
	if (memcmp(wrapping->hosts[0], wrapping->hosts[1], 4) < 0)
		put_vlan(wrapping);
}

static void
put_mpls(Wrapping *wrapping)
{
	PUT(wrapping, 0x8847, 137, 0, 1, 0x01, 64);
}

static void
put_labels(Wrapping *wrapping)
{
	PUT(wrapping, 0x8847, 137, 0, 2, 0, 64, 0, 3, 0, 64, 0, 1, 0x01, 64);
}

/* A control word with a sequence number. */
static void
put_control_word(Wrapping *wrapping)
{
	PUT(wrapping, 0, 0, 0, 0, HIGH(wrapping->n), LOW(wrapping->n));
}

static void
put_ppp(Wrapping *wrapping)
{
	PUT(wrapping, 0x880b, 0, 0xff, 3, 0, wrapping->is_ipv6 ? 0x57 : 0x21);
}

static void
put_ppp_short(Wrapping *wrapping)
{
	PUT(wrapping, 0x880b, 0, wrapping->is_ipv6 ? 0x57 : 0x21);
}

static void
put_pppoe(Wrapping *wrapping)
{
	guint length = wrapping->bytes->len + 2;
	PUT(wrapping, 0x8864, 0, 0x11, 0, 0, 9, HIGH(length), LOW(length), 0,
	    wrapping->is_ipv6 ? 0x57 : 0x21);
}

static void
put_hdlc(Wrapping *wrapping)
{
	PUT(wrapping, 0, 0, 0x0f, 0, HIGH(wrapping->type), LOW(wrapping->type));
}

static void
put_snap(Wrapping *wrapping)
{
	guint length = wrapping->bytes->len + 8;
	PUT(wrapping, length <= 1500 ? (guint16)length : 4, 0, 0xaa, 0xaa, 3, 0, 0, 0,
	    HIGH(wrapping->type), LOW(wrapping->type));
}

/* Cooked: packet type, kind, six bytes of address, type. */
static void
put_sll(Wrapping *wrapping)
{
	const guint8 *host = wrapping->hosts[0];
	PUT(wrapping, 0, 0, 0, wrapping->is_copy ? 4 : 0, 0, 1, 0, 6, 2, 0, host[0], host[1],
	    host[2], host[3], 0, 0, HIGH(wrapping->type), LOW(wrapping->type));
}

static void
put_sll2(Wrapping *wrapping)
{
	const guint8 *host = wrapping->hosts[0];
	PUT(wrapping, 0, 0, HIGH(wrapping->type), LOW(wrapping->type), 0, 0, 0, 0, 0,
	    wrapping->is_copy ? 5 : 3, 0, 1, 0, 6, 2, 0, host[0], host[1], host[2], host[3], 0, 0);
}

static void
put_null(Wrapping *wrapping)
{
	PUT(wrapping, 0, 0, wrapping->is_ipv6 ? 30 : 2, 0, 0, 0);
}

static void
put_loop(Wrapping *wrapping)
{
	PUT(wrapping, 0, 0, 0, 0, 0, wrapping->is_ipv6 ? 24 : 2);
}

/* A data frame from an access point, of no length but its own. */
static void
put_wireless(Wrapping *wrapping)
{
	const guint8(*hosts)[4] = wrapping->hosts;
	guint8 head[24] = { 8,
			    2,
			    0,
			    0,
			    2,
			    0,
			    hosts[1][0],
			    hosts[1][1],
			    hosts[1][2],
			    hosts[1][3],
			    2,
			    9,
			    9,
			    9,
			    9,
			    9,
			    2,
			    0,
			    hosts[0][0],
			    hosts[0][1],
			    hosts[0][2],
			    hosts[0][3],
			    LOW(wrapping->n << 4),
			    LOW(wrapping->n >> 4) };
	put_front(wrapping, head, sizeof head, 0, 0);
}

static void
put_radiotap(Wrapping *wrapping)
{
	PUT(wrapping, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0);
}

/* --- over IP --- */

static void
put_ipv4(Wrapping *wrapping)
{
	guint length = wrapping->bytes->len + 20;
	ck_assert_uint_ne(wrapping->protocol, 0);
	PUT(wrapping, 0x0800, 4, 0x45, 0, HIGH(length), LOW(length), HIGH(wrapping->n),
	    LOW(wrapping->n), 0, 0, 64, wrapping->protocol, 0, 0, 192, 168, 0, 1, 192, 168, 0, 2);
	wrapping->is_ipv6 = FALSE;
}

static void
put_ipv6(Wrapping *wrapping)
{
	guint length = wrapping->bytes->len;
	ck_assert_uint_ne(wrapping->protocol, 0);
	guint8 head[40] = {
		0x60, 0, 0, 0, HIGH(length), LOW(length), wrapping->protocol, 64, 0xfd
	};
	head[23] = 1;
	head[24] = 0xfd;
	head[39] = 2;
	put_front(wrapping, head, sizeof head, 0x86dd, 41);
	wrapping->is_ipv6 = TRUE;
}

static void
put_udp(Wrapping *wrapping, guint port)
{
	guint length = wrapping->bytes->len + 8, sender = 49152 + wrapping->hosts[0][3];
	PUT(wrapping, 0, 17, HIGH(sender), LOW(sender), HIGH(port), LOW(port), HIGH(length),
	    LOW(length), 0, 0);
}

static void
put_gre(Wrapping *wrapping)
{
	PUT(wrapping, 0, 47, 0, 0, HIGH(wrapping->type), LOW(wrapping->type));
}

static void
put_gre_key(Wrapping *wrapping)
{
	PUT(wrapping, 0, 47, 0x20, 0, HIGH(wrapping->type), LOW(wrapping->type), 0, 0, 0, 7);
}

/* Checksum, key and a sequence number. */
static void
put_gre_all(Wrapping *wrapping)
{
	PUT(wrapping, 0, 47, 0xb0, 0, HIGH(wrapping->type), LOW(wrapping->type), 0x12, 0x34, 0, 0,
	    0, 0, 0, 7, 0, 0, HIGH(wrapping->n), LOW(wrapping->n));
}

static void
put_erspan_1(Wrapping *wrapping)
{
	PUT(wrapping, 0, 47, 0, 0, 0x88, 0xbe);
}

static void
put_erspan_2(Wrapping *wrapping)
{
	PUT(wrapping, 0, 47, 0x10, 0, 0x88, 0xbe, 0, 0, HIGH(wrapping->n), LOW(wrapping->n), 0x10,
	    5, 0, 1, 0, 0, 0, 1);
}

static void
put_erspan_3(Wrapping *wrapping)
{
	PUT(wrapping, 0, 47, 0x10, 0, 0x22, 0xeb, 0, 0, HIGH(wrapping->n), LOW(wrapping->n), 0x20,
	    5, 0, 1, 0, HIGH(wrapping->n), LOW(wrapping->n), 0, 0, 0, 0, 0);
}

static void
put_erspan_3_more(Wrapping *wrapping)
{
	PUT(wrapping, 0, 47, 0x10, 0, 0x22, 0xeb, 0, 0, HIGH(wrapping->n), LOW(wrapping->n), 0x20,
	    5, 0, 1, 0, HIGH(wrapping->n), LOW(wrapping->n), 0, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8);
}

static void
put_vxlan(Wrapping *wrapping)
{
	PUT(wrapping, 0, 0, 8, 0, 0, 0, 0, 0, 7, 0);
	put_udp(wrapping, 4789);
}

static void
put_vxlan_linux(Wrapping *wrapping)
{
	PUT(wrapping, 0, 0, 8, 0, 0, 0, 0, 0, 7, 0);
	put_udp(wrapping, 8472);
}

static void
put_vxlan_gpe(Wrapping *wrapping)
{
	PUT(wrapping, 0, 0, 0x0c, 0, 0, wrapping->is_ipv6 ? 2 : 1, 0, 0, 7, 0);
	put_udp(wrapping, 4790);
}

static void
put_geneve(Wrapping *wrapping)
{
	PUT(wrapping, 0, 0, 0, 0, HIGH(wrapping->type), LOW(wrapping->type), 0, 0, 7, 0);
	put_udp(wrapping, 6081);
}

static void
put_geneve_options(Wrapping *wrapping)
{
	PUT(wrapping, 0, 0, 5, 0x40, HIGH(wrapping->type), LOW(wrapping->type), 0, 0, 7, 0, 1, 2,
	    0x80, 2, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 1, 9, 9, 9, 9);
	put_udp(wrapping, 6081);
}

static void
put_authentication(Wrapping *wrapping)
{
	PUT(wrapping, 0, 51, wrapping->protocol, 4, 0, 0, 0, 0, 0, 1, 0, 0, HIGH(wrapping->n),
	    LOW(wrapping->n), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
}

/* Not a header: Ethernet's padding to 60 bytes, and a checksum of the frame. */
static void
put_trailer(Wrapping *wrapping)
{
	static const guint8 zeros[60], check[4] = { 0xde, 0xad, 0xbe, 0xef };
	if (wrapping->bytes->len < 60)
		g_byte_array_append(wrapping->bytes, zeros, 60 - wrapping->bytes->len);
	g_byte_array_append(wrapping->bytes, check, sizeof check);
}

static const struct {
	const char *word;
	void (*put)(Wrapping *wrapping);
} headers[] = {
	{ "eth", put_ethernet },
	{ "vlan", put_vlan },
	{ "vlan-one-way", put_vlan_one_way },
	{ "qinq", put_qinq },
	{ "qinq-old", put_qinq_old },
	{ "mpls", put_mpls },
	{ "labels", put_labels },
	{ "control-word", put_control_word },
	{ "ppp", put_ppp },
	{ "ppp-short", put_ppp_short },
	{ "pppoe", put_pppoe },
	{ "hdlc", put_hdlc },
	{ "snap", put_snap },
	{ "sll", put_sll },
	{ "sll2", put_sll2 },
	{ "null", put_null },
	{ "loop", put_loop },
	{ "wireless", put_wireless },
	{ "radiotap", put_radiotap },
	{ "ip4", put_ipv4 },
	{ "ip6", put_ipv6 },
	{ "gre", put_gre },
	{ "gre-key", put_gre_key },
	{ "gre-all", put_gre_all },
	{ "erspan1", put_erspan_1 },
	{ "erspan2", put_erspan_2 },
	{ "erspan3", put_erspan_3 },
	{ "erspan3-more", put_erspan_3_more },
	{ "vxlan", put_vxlan },
	{ "vxlan-linux", put_vxlan_linux },
	{ "vxlan-gpe", put_vxlan_gpe },
	{ "geneve", put_geneve },
	{ "geneve-options", put_geneve_options },
	{ "ah", put_authentication },
	{ "trailer", put_trailer },
	{ "raw", NULL },
};

static void
put_word(Wrapping *wrapping, const char *word)
{
	for (gsize i = 0; i < G_N_ELEMENTS(headers); i++)
		if (strcmp(headers[i].word, word) == 0) {
			if (headers[i].put)
				headers[i].put(wrapping);
			return;
		}
	ck_abort_msg("there is no header called %s", word);
}

void
wp_vary_wrap(GByteArray *frame, const char *recipe, const WpVaryPacket *packet, guint n)
{
	g_auto(GStrv) words = g_strsplit(recipe, " ", -1);
	gboolean is_ipv6 = frame->data[0] >> 4 == 6;
	Wrapping wrapping = { .bytes = frame,
			      .type = is_ipv6 ? 0x86dd : 0x0800,
			      .protocol = is_ipv6 ? 41 : 4,
			      .is_ipv6 = is_ipv6,
			      .is_copy = packet->copy > 0,
			      .n = n };
	memcpy(wrapping.hosts[0], frame->data + (is_ipv6 ? 20 : 12), 4);
	memcpy(wrapping.hosts[1], frame->data + (is_ipv6 ? 36 : 16), 4);
	for (guint i = g_strv_length(words); i-- > 0;)
		put_word(&wrapping, words[i]);
}
