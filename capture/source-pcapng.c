/*
 * pcapng files (draft-ietf-opsawg-pcapng): blocks of type, length, body, length again. A section
 * header (SHB) sets the byte order and forgets the interfaces; each interface description (IDB) adds
 * one with its own link type, snap length and clock; packets (EPB, SPB, the old PB) name theirs.
 *
 *   SHB  IDB 0  IDB 1  EPB(0)  EPB(1)  ...  ISB(0)  |  SHB  IDB 0  EPB(0)  ...
 *
 * Times are counts of a unit that the interface tells (if_tsresol, a power of ten or of two), from an
 * offset (if_tsoffset). A simple packet (SPB) has no time: it gets that of the packet before it.
 *
 * Blocks of names (NRB) and of secrets (DSB) are told to whoever asked for them (source.h). All others
 * are passed over and counted.
 */
#include "capture/source-format.h"

#include <string.h>

#include "capture/bytes.h"
#include "capture/notes.h"
#include "capture/trace.h"

enum {
	BLOCK_SECTION = 0x0a0d0d0a,
	BLOCK_INTERFACE = 1,
	BLOCK_PACKET = 2,
	BLOCK_SIMPLE = 3,
	BLOCK_NAMES = 4,
	BLOCK_STATISTICS = 5,
	BLOCK_ENHANCED = 6,
	BLOCK_SECRETS = 10
};

/* Records of a block of names; 0 ends them. An address, then its names, each ended by a zero. */
enum {
	NAMES_IPV4 = 1,
	NAMES_IPV6 = 2
};

/* Option codes of the blocks above; 0 ends the list in each. */
enum {
	OPTION_COMMENT = 1,   /* all */
	OPTION_TSRESOL = 9,   /* IDB */
	OPTION_TSOFFSET = 14, /* IDB */
	OPTION_DROPCOUNT = 4, /* EPB */
	OPTION_IFDROP = 5,    /* ISB */
	OPTION_OSDROP = 7     /* ISB */
};

#define BYTE_ORDER_MAGIC  0x1a2b3c4d
#define MIN_BLOCK         12
#define IMPOSSIBLE_LENGTH "a block claims an impossible length"
#define MAX_BLOCK         (WP_FRAME_MAX + 65536) /* and options; more is a sign of damage */
#define MAX_INTERFACES    65536

/* Names and secrets of a day; a longer block is passed over. Far below what an input can show at once. */
#define MAX_TOLD_BLOCK (12 * 1024 * 1024)

typedef struct {
	guint32 link_type;
	guint32 snap_length;   /* 0 = none */
	guint8 resolution;     /* if_tsresol as it stands in the file */
	gint64 offset_seconds; /* if_tsoffset */
	guint64 drops_total;   /* of the last ISB */
	guint64 drops_between; /* sum of what packets tell */
} Interface;

typedef struct {
	WpInput *input;
	const WpSourceHooks *hooks;
	gboolean is_big_endian;
	guint64 n_skipped;  /* blocks */
	GArray *interfaces; /* Interface, of the section */
	guint64 drops;      /* of former sections */
	guint64 n_gaps;     /* that comments of ours tell */
	guint64 n_steps;    /* ... of the clock */
	gint64 last_ns;
	guint64 in_use; /* bytes of the block given last */
	guint64 number;
} Pcapng;

static guint16
read_u16(const Pcapng *png, WpBytes *bytes)
{
	return png->is_big_endian ? wp_bytes_be16(bytes) : wp_bytes_le16(bytes);
}

static guint32
read_u32(const Pcapng *png, WpBytes *bytes)
{
	return png->is_big_endian ? wp_bytes_be32(bytes) : wp_bytes_le32(bytes);
}

static guint64
read_u64(const Pcapng *png, WpBytes *bytes)
{
	return png->is_big_endian ? wp_bytes_be64(bytes) : wp_bytes_le64(bytes);
}

static gboolean
pcapng_detect(const guint8 *head, gsize length)
{
	WpBytes bytes = wp_bytes(head, length);
	if (wp_bytes_be32(&bytes) != BLOCK_SECTION || !wp_bytes_skip(&bytes, 4))
		return FALSE;
	WpBytes little = bytes;
	return wp_bytes_be32(&bytes) == BYTE_ORDER_MAGIC ||
	       wp_bytes_le32(&little) == BYTE_ORDER_MAGIC;
}

static gpointer
pcapng_open(WpInput *input, const WpSourceHooks *hooks, GError **error)
{
	Pcapng *png = g_new0(Pcapng, 1);
	png->input = input;
	png->hooks = hooks;
	png->interfaces = g_array_new(FALSE, FALSE, sizeof(Interface));
	return png;
}

static void
pcapng_free(gpointer state)
{
	Pcapng *png = state;
	g_array_unref(png->interfaces);
	g_free(png);
}

static guint64
count_drops(const Pcapng *png)
{
	guint64 drops = png->drops;
	for (guint i = 0; i < png->interfaces->len; i++) {
		const Interface *interface = &g_array_index(png->interfaces, Interface, i);
		drops += MAX(interface->drops_total, interface->drops_between);
	}
	return drops;
}

static WpSourceTold
pcapng_told(gpointer state)
{
	const Pcapng *png = state;
	return (WpSourceTold){ count_drops(png), png->n_gaps, png->n_steps };
}

static guint64
pcapng_blocks_skipped(gpointer state)
{
	Pcapng *png = state;
	return png->n_skipped;
}

/* NULL where the section describes no such interface. */
static Interface *
find_interface(const Pcapng *png, guint32 number)
{
	if (number >= png->interfaces->len)
		return NULL;
	return &g_array_index(png->interfaces, Interface, number);
}

static gint64
clamp_ns(__int128 ns)
{
	return (gint64)CLAMP(ns, -(__int128)G_MAXINT64, (__int128)G_MAXINT64);
}

/* TICKS of the clock of INTERFACE, in ns since the epoch. */
static gint64
ticks_to_ns(const Interface *interface, guint64 ticks)
{
	guint exponent = interface->resolution & 0x7f;
	__int128 ns = ticks;

	if (interface->resolution & 0x80) {
		/* 2^64 ticks times 10^9 fit into 94 bits. */
		ns = ns * 1000000000 >> exponent;
	} else {
		for (; exponent < 9; exponent++)
			ns *= 10;
		for (; exponent > 9 && ns > 0; exponent--)
			ns /= 10;
	}
	return clamp_ns(ns + (__int128)interface->offset_seconds * 1000000000);
}

/* Bytes after LENGTH bytes up to a multiple of four. */
static gsize
padding(gsize length)
{
	return (4 - length % 4) % 4;
}

/*
 * The next option of BYTES: its code and value; FALSE at the end of the list or where it is damaged.
 */
static gboolean
next_option(const Pcapng *png, WpBytes *bytes, guint16 *out_code, WpBytes *out_value)
{
	*out_code = read_u16(png, bytes);
	guint16 length = read_u16(png, bytes);
	const guint8 *value = wp_bytes_take(bytes, length);

	wp_bytes_skip(bytes, MIN(wp_bytes_left(bytes), padding(length)));
	*out_value = wp_bytes(value, value ? length : 0);
	return !bytes->failed && *out_code != 0;
}

static void
read_section(Pcapng *png)
{
	png->drops = count_drops(png);
	g_array_set_size(png->interfaces, 0);
}

static void
read_interface(Pcapng *png, WpBytes *body)
{
	Interface interface = { .resolution = 6 };
	guint16 code;
	WpBytes value;

	interface.link_type = read_u16(png, body);
	wp_bytes_skip(body, 2);
	interface.snap_length = read_u32(png, body);
	while (next_option(png, body, &code, &value)) {
		if (code == OPTION_TSRESOL && value.length == 1)
			interface.resolution = wp_bytes_u8(&value);
		else if (code == OPTION_TSOFFSET && value.length == 8)
			interface.offset_seconds = (gint64)read_u64(png, &value);
	}
	g_array_append_val(png->interfaces, interface);
}

static gboolean
begins_with(const WpBytes *value, const char *text)
{
	gsize length = strlen(text);
	return value->length >= length && memcmp(value->data, text, length) == 0;
}

/* What a capture of ours says of the interface; comments of others are theirs. */
static void
read_comment(Pcapng *png, const WpBytes *value)
{
	png->n_gaps += begins_with(value, WP_NOTE_GONE) || begins_with(value, WP_NOTE_DOWN);
	png->n_steps += begins_with(value, WP_NOTE_CLOCK);
}

static void
read_statistics(Pcapng *png, WpBytes *body)
{
	Interface *interface = find_interface(png, read_u32(png, body));
	guint64 drops = 0;
	guint16 code;
	WpBytes value;

	wp_bytes_skip(body, 8);
	while (interface && next_option(png, body, &code, &value)) {
		if ((code == OPTION_IFDROP || code == OPTION_OSDROP) && value.length == 8)
			drops += read_u64(png, &value);
		else if (code == OPTION_COMMENT)
			read_comment(png, &value);
	}
	/* A count of all so far; a missing one is no zero. */
	if (interface)
		interface->drops_total = MAX(interface->drops_total, drops);
}

/* FALSE where the block is damaged. */
static gboolean
finish_frame(Pcapng *png, WpBytes *body, WpFrame *frame)
{
	frame->data = wp_bytes_take(body, frame->captured);
	frame->length = MAX(frame->length, frame->captured);
	frame->tap = 0;
	if (body->failed)
		return FALSE;
	frame->number = ++png->number;
	png->last_ns = frame->time_ns;
	return TRUE;
}

/* Time, lengths and packet, which old and new packet blocks share. */
static gboolean
read_packet(Pcapng *png, const Interface *interface, WpBytes *body, WpFrame *frame)
{
	guint64 high = read_u32(png, body);
	frame->time_ns = ticks_to_ns(interface, high << 32 | read_u32(png, body));
	frame->captured = read_u32(png, body);
	frame->length = read_u32(png, body);
	frame->link_type = interface->link_type;
	frame->interface = (guint32)(interface - &g_array_index(png->interfaces, Interface, 0));
	return finish_frame(png, body, frame);
}

static gboolean
read_enhanced(Pcapng *png, WpBytes *body, WpFrame *frame)
{
	Interface *interface = find_interface(png, read_u32(png, body));
	guint16 code;
	WpBytes value;

	if (!interface || !read_packet(png, interface, body, frame))
		return FALSE;
	if (wp_bytes_left(body) < 8)
		return TRUE;
	wp_bytes_skip(body, padding(frame->captured));
	while (next_option(png, body, &code, &value))
		if (code == OPTION_DROPCOUNT && value.length == 8)
			interface->drops_between += read_u64(png, &value);
	return TRUE;
}

static gboolean
read_old_packet(Pcapng *png, WpBytes *body, WpFrame *frame)
{
	Interface *interface = find_interface(png, read_u16(png, body));
	guint16 drops = read_u16(png, body);

	if (!interface || !read_packet(png, interface, body, frame))
		return FALSE;
	if (drops != 0xffff) /* not known */
		interface->drops_between += drops;
	return TRUE;
}

static gboolean
read_simple(Pcapng *png, WpBytes *body, WpFrame *frame)
{
	const Interface *interface = find_interface(png, 0);

	if (!interface)
		return FALSE;
	frame->length = read_u32(png, body);
	frame->captured = frame->length;
	if (interface->snap_length > 0)
		frame->captured = MIN(frame->captured, interface->snap_length);
	frame->captured = (guint32)MIN(frame->captured, wp_bytes_left(body));
	frame->time_ns = png->last_ns;
	frame->link_type = interface->link_type;
	frame->interface = 0;
	return finish_frame(png, body, frame);
}

/* The names of one address, each ended by a zero (the last one perhaps by the record). */
static void
tell_names(const Pcapng *png, const guint8 address[16], WpBytes *names)
{
	while (wp_bytes_left(names) > 0) {
		gssize found = wp_bytes_find(names, 0, wp_bytes_left(names));
		gsize length = found >= 0 ? (gsize)found : wp_bytes_left(names);
		const guint8 *name = wp_bytes_take(names, length);
		if (length > 0)
			png->hooks->on_name(address, (const char *)name, length,
					    png->hooks->name_data);
		wp_bytes_skip(names, found >= 0);
	}
}

static void
read_names(const Pcapng *png, WpBytes *body)
{
	guint16 type;
	WpBytes record;

	/* Records are laid out as options are. */
	while (png->hooks->on_name && next_option(png, body, &type, &record)) {
		guint8 address[16] = { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff };
		gsize size = type == NAMES_IPV4 ? 4 : type == NAMES_IPV6 ? 16 : 0;
		const guint8 *from = size ? wp_bytes_take(&record, size) : NULL;
		if (!from)
			continue;
		memcpy(address + 16 - size, from, size);
		tell_names(png, address, &record);
	}
}

static void
read_secrets(const Pcapng *png, WpBytes *body)
{
	guint32 kind = read_u32(png, body), length = read_u32(png, body);
	const guint8 *secrets = wp_bytes_take(body, length);

	if (secrets && png->hooks->on_secrets)
		png->hooks->on_secrets(kind, secrets, length, png->hooks->secrets_data);
}

/* Blocks in which there is something for us; others are not even read whole. */
static const struct {
	guint32 type;
	guint32 length_max;
	gboolean may_be_longer; /* than that: then it is passed over; else it is a sign of damage */
} known_blocks[] = {
	{ BLOCK_ENHANCED, MAX_BLOCK, FALSE },   { BLOCK_SIMPLE, MAX_BLOCK, FALSE },
	{ BLOCK_PACKET, MAX_BLOCK, FALSE },     { BLOCK_INTERFACE, MAX_BLOCK, FALSE },
	{ BLOCK_STATISTICS, MAX_BLOCK, FALSE }, { BLOCK_SECTION, MAX_BLOCK, FALSE },
	{ BLOCK_NAMES, MAX_TOLD_BLOCK, TRUE },  { BLOCK_SECRETS, MAX_TOLD_BLOCK, TRUE },
};

/* TRUE where a block is to be read, of which there may be so many bytes. */
static gboolean
is_for_us(guint32 type, guint32 length, gboolean *out_damaged)
{
	for (gsize i = 0; i < G_N_ELEMENTS(known_blocks); i++)
		if (known_blocks[i].type == type) {
			gboolean fits = length <= known_blocks[i].length_max;
			*out_damaged = !fits && !known_blocks[i].may_be_longer;
			return fits;
		}
	*out_damaged = FALSE;
	return FALSE;
}

/* TRUE where the block gave FRAME. *OUT_WRONG: what is wrong with it. */
static gboolean
read_block(Pcapng *png, guint32 type, WpBytes *body, WpFrame *frame, const char **out_wrong)
{
	gboolean is_good = TRUE;

	switch (type) {
	case BLOCK_SECTION:
		read_section(png);
		return FALSE;
	case BLOCK_INTERFACE:
		if (png->interfaces->len < MAX_INTERFACES)
			read_interface(png, body);
		else
			*out_wrong = "it describes too many interfaces";
		return FALSE;
	case BLOCK_STATISTICS:
		read_statistics(png, body);
		return FALSE;
	case BLOCK_NAMES:
		read_names(png, body);
		return FALSE;
	case BLOCK_SECRETS:
		read_secrets(png, body);
		return FALSE;
	case BLOCK_ENHANCED:
		is_good = read_enhanced(png, body, frame);
		break;
	case BLOCK_PACKET:
		is_good = read_old_packet(png, body, frame);
		break;
	default:
		is_good = read_simple(png, body, frame);
	}
	if (!is_good)
		*out_wrong =
			"its block is shorter than it claims, or its interface is not described";
	return is_good;
}

/* Passes over what is left of the block given last. */
static WpSourceResult
skip_block(Pcapng *png, GError **error)
{
	while (png->in_use > 0) {
		const guint8 *data;
		gssize n = wp_input_peek(png->input, 1, &data, error);
		if (n < 0)
			return WP_SOURCE_ERROR;
		if (n == 0)
			return WP_SOURCE_CUT;
		gsize step = (gsize)MIN((guint64)n, png->in_use);
		wp_input_consume(png->input, step);
		png->in_use -= step;
	}
	return WP_SOURCE_FRAME;
}

/* The first 12 bytes of the next block: its type and length. */
static WpSourceResult
read_block_head(Pcapng *png, guint32 *out_type, guint32 *out_length, GError **error)
{
	const guint8 *data;
	gssize n = wp_input_peek(png->input, MIN_BLOCK, &data, error);

	if (n < 0)
		return WP_SOURCE_ERROR;
	if (n < MIN_BLOCK)
		return n > 0 || wp_input_is_cut(png->input) ? WP_SOURCE_CUT : WP_SOURCE_END;
	WpBytes bytes = wp_bytes(data, MIN_BLOCK);
	if (pcapng_detect(data, MIN_BLOCK)) {
		bytes.at = 8;
		png->is_big_endian = wp_bytes_be32(&bytes) == BYTE_ORDER_MAGIC;
		bytes.at = 0;
	}
	*out_type = read_u32(png, &bytes);
	*out_length = read_u32(png, &bytes);
	if (*out_length < MIN_BLOCK || *out_length > G_MAXUINT32 - 4)
		return wp_source_damaged(png->input, png->number + 1, IMPOSSIBLE_LENGTH, error);
	*out_length = (*out_length + 3) & ~3u; /* some writers leave out the padding's count */
	return WP_SOURCE_FRAME;
}

/* The whole block as a cursor over its body; FRAME where it is there. */
static WpSourceResult
read_body(Pcapng *png, gsize length, WpBytes *out_body, GError **error)
{
	const guint8 *data;
	gssize n = wp_input_peek(png->input, length, &data, error);

	if (n < 0)
		return WP_SOURCE_ERROR;
	if ((gsize)n < length)
		return WP_SOURCE_CUT;
	WpBytes trailer = wp_bytes(data + length - 4, 4);
	if (((read_u32(png, &trailer) + 3) & ~3u) != length)
		return wp_source_damaged(png->input, png->number + 1,
					 "the two lengths of its block differ", error);
	*out_body = wp_bytes(data + 8, length - MIN_BLOCK);
	return WP_SOURCE_FRAME;
}

static WpSourceResult
pcapng_next(gpointer state, WpFrame *out_frame, GError **error)
{
	Pcapng *png = state;
	const char *wrong = NULL;

	for (;;) {
		guint32 type, length;
		WpBytes body;
		WpSourceResult result = skip_block(png, error);
		if (result == WP_SOURCE_FRAME)
			result = read_block_head(png, &type, &length, error);
		if (result != WP_SOURCE_FRAME)
			return result;
		gboolean has_frame = FALSE, is_damaged;
		if (is_for_us(type, length, &is_damaged)) {
			result = read_body(png, length, &body, error);
			if (result != WP_SOURCE_FRAME)
				return result;
			has_frame = read_block(png, type, &body, out_frame, &wrong);
		} else if (is_damaged) {
			wrong = IMPOSSIBLE_LENGTH;
		} else {
			png->n_skipped++;
		}
		if (wrong)
			return wp_source_damaged(png->input, png->number + 1, wrong, error);
		png->in_use = length;
		if (has_frame)
			return WP_SOURCE_FRAME;
	}
}

/* Only a block of a packet: others are told of, or change how packets are read. */
static gboolean
pcapng_is_at_hand(gpointer state)
{
	const Pcapng *png = state;
	const guint8 *data;
	gsize n = wp_input_at_hand(png->input, &data);

	if (n < png->in_use)
		return FALSE;
	WpBytes block = wp_bytes(data + png->in_use, n - png->in_use);
	guint32 type = read_u32(png, &block), length = read_u32(png, &block);
	return !block.failed && (type == BLOCK_ENHANCED || type == BLOCK_PACKET) &&
	       length >= MIN_BLOCK && length <= n - png->in_use;
}

const WpSourceFormat wp_source_pcapng = {
	.name = "pcapng",
	.detect = pcapng_detect,
	.open = pcapng_open,
	.next = pcapng_next,
	.is_at_hand = pcapng_is_at_hand,
	.told = pcapng_told,
	.blocks_skipped = pcapng_blocks_skipped,
	.free = pcapng_free,
};
