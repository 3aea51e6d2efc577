/*
 * pcap files (draft-ietf-opsawg-pcap): a header of 24 bytes, then records of 16 bytes and the packet.
 *
 *   magic  version  (zone, accuracy)  snap length  link type
 *   seconds  micro- or nanoseconds  captured  length  packet ...
 *
 * The magic tells byte order and resolution. Two old dialects are known to libpcap and occur in
 * archives: Kuznetzov's patch (magic a1b2cd34) has 8 more bytes a record; versions up to 2.3 swapped
 * the two lengths.
 */
#include "capture/source-format.h"

#include "capture/bytes.h"

#define MAGIC_MICRO    0xa1b2c3d4
#define MAGIC_NANO     0xa1b23c4d
#define MAGIC_MODIFIED 0xa1b2cd34

#define FILE_HEADER     24
#define RECORD_HEADER   16
#define MODIFIED_HEADER 24 /* and interface, protocol, packet type */

/* The upper bits of the link type field tell of a frame check sequence, which IP lengths cut off. */
#define LINK_TYPE_MASK 0x03ffffff

typedef struct {
	WpInput *input;
	gboolean is_big_endian;
	gboolean is_swapped; /* length before captured */
	guint32 fraction_ns; /* of one unit of the second time field */
	guint32 link_type;
	gsize header; /* bytes before the packet */
	gsize in_use; /* bytes of input that the frames given since the last reading point to */
	guint64 number;
} Pcap;

static guint32
read_u32(const Pcap *pcap, WpBytes *bytes)
{
	return pcap->is_big_endian ? wp_bytes_be32(bytes) : wp_bytes_le32(bytes);
}

static guint16
read_u16(const Pcap *pcap, WpBytes *bytes)
{
	return pcap->is_big_endian ? wp_bytes_be16(bytes) : wp_bytes_le16(bytes);
}

static gboolean
is_magic(guint32 magic)
{
	return magic == MAGIC_MICRO || magic == MAGIC_NANO || magic == MAGIC_MODIFIED;
}

static gboolean
pcap_detect(const guint8 *head, gsize length)
{
	WpBytes big = wp_bytes(head, length), little = big;
	return is_magic(wp_bytes_be32(&big)) || is_magic(wp_bytes_le32(&little));
}

/* The two lengths stand the other way round in old files: always up to 2.2, sometimes in 2.3. */
static gboolean
is_old_order(guint16 major, guint16 minor)
{
	return major == 2 && (minor < 3 || minor == 543);
}

static gpointer
pcap_open(WpInput *input, const WpSourceHooks *hooks, GError **error)
{
	const guint8 *data;
	gssize n = wp_input_peek(input, FILE_HEADER, &data, error);

	if (n < 0)
		return NULL;
	if (n < FILE_HEADER) {
		wp_source_damaged(input, 0, "it ends inside its first 24 bytes", error);
		return NULL;
	}
	Pcap *pcap = g_new0(Pcap, 1);
	WpBytes bytes = wp_bytes(data, FILE_HEADER);
	pcap->input = input;
	pcap->is_big_endian = is_magic(wp_bytes_be32(&bytes));
	bytes.at = 0;
	guint32 magic = read_u32(pcap, &bytes);
	pcap->fraction_ns = magic == MAGIC_NANO ? 1 : 1000;
	pcap->header = magic == MAGIC_MODIFIED ? MODIFIED_HEADER : RECORD_HEADER;
	guint16 major = read_u16(pcap, &bytes);
	pcap->is_swapped = is_old_order(major, read_u16(pcap, &bytes));
	wp_bytes_skip(&bytes, 12);
	pcap->link_type = read_u32(pcap, &bytes) & LINK_TYPE_MASK;
	pcap->in_use = FILE_HEADER;
	return pcap;
}

/* The header of a record at DATA, which the caller has checked to be there, as the next frame. */
static inline void
read_header(const Pcap *pcap, const guint8 *data, WpFrame *out_frame)
{
	guint32 words[RECORD_HEADER / 4];
	memcpy(words, data, sizeof words);
	for (gsize i = 0; i < G_N_ELEMENTS(words); i++)
		words[i] =
			pcap->is_big_endian ? GUINT32_FROM_BE(words[i]) : GUINT32_FROM_LE(words[i]);
	gint64 seconds = words[0], fraction = words[1];
	guint32 first = words[2], second = words[3];

	out_frame->time_ns = seconds * 1000000000 + fraction * pcap->fraction_ns;
	out_frame->data = data + pcap->header;
	out_frame->captured = pcap->is_swapped ? second : first;
	out_frame->length = pcap->is_swapped ? first : second;
	out_frame->length = MAX(out_frame->length, out_frame->captured);
	out_frame->link_type = pcap->link_type;
	out_frame->number = pcap->number + 1;
	out_frame->interface = 0;
	out_frame->tap = 0;
}

/* FRAME, read just now, is given. */
static inline void
pass(Pcap *pcap, const WpFrame *frame)
{
	pcap->in_use += pcap->header + frame->captured;
	pcap->number++;
}

static WpSourceResult
pcap_next(gpointer state, WpFrame *out_frame, GError **error)
{
	Pcap *pcap = state;
	const guint8 *data;

	wp_input_consume(pcap->input, pcap->in_use);
	pcap->in_use = 0;
	gssize n = wp_input_peek(pcap->input, pcap->header, &data, error);
	if (n < 0)
		return WP_SOURCE_ERROR;
	if ((gsize)n < pcap->header)
		return n > 0 || wp_input_is_cut(pcap->input) ? WP_SOURCE_CUT : WP_SOURCE_END;
	read_header(pcap, data, out_frame);
	if (out_frame->captured > WP_FRAME_MAX)
		return wp_source_damaged(pcap->input, out_frame->number,
					 "it claims an impossible length", error);
	gsize needed = pcap->header + out_frame->captured;
	if ((gsize)n < needed) {
		n = wp_input_peek(pcap->input, needed, &data, error);
		if (n < 0)
			return WP_SOURCE_ERROR;
		if ((gsize)n < needed)
			return WP_SOURCE_CUT;
		out_frame->data = data + pcap->header;
	}
	pass(pcap, out_frame);
	return WP_SOURCE_FRAME;
}

static guint
pcap_take(gpointer state, WpFrame *out_frames, guint max)
{
	Pcap *pcap = state;
	const guint8 *data;
	gsize there = wp_input_at_hand(pcap->input, &data);
	guint n;

	for (n = 0; n < max && there - pcap->in_use >= pcap->header; n++) {
		gsize left = there - pcap->in_use - pcap->header;
		read_header(pcap, data + pcap->in_use, &out_frames[n]);
		if (out_frames[n].captured > MIN(left, WP_FRAME_MAX))
			break;
		pass(pcap, &out_frames[n]);
	}
	return n;
}

const WpSourceFormat wp_source_pcap = {
	.name = "pcap",
	.detect = pcap_detect,
	.open = pcap_open,
	.next = pcap_next,
	.take = pcap_take,
	.free = g_free,
};
