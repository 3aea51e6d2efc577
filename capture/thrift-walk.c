/* The struct of a Thrift message; see the header. */
#include "capture/thrift-walk.h"

/* Types as in the binary protocol. */
enum {
	TYPE_STOP = 0,
	TYPE_BOOL = 2,
	TYPE_BYTE = 3,
	TYPE_DOUBLE = 4,
	TYPE_I16 = 6,
	TYPE_I32 = 8,
	TYPE_I64 = 10,
	TYPE_STRING = 11,
	TYPE_STRUCT = 12,
	TYPE_MAP = 13,
	TYPE_SET = 14,
	TYPE_LIST = 15,
	TYPE_UUID = 16,
	TYPE_NOTHING = 17, /* a boolean that the field's type tells (compact) */
	TYPE_UNKNOWN = 18
};

guint64
wp_thrift_varint(WpBytes *in)
{
	guint64 value = 0;
	for (guint i = 0; i < 10; i++) {
		guint8 byte = wp_bytes_u8(in);
		value |= (guint64)(byte & 127) << 7 * i;
		if (byte < 128)
			return value;
	}
	in->failed = TRUE;
	return 0;
}

static gint64
zigzag(guint64 value)
{
	return (gint64)(value >> 1) ^ -(gint64)(value & 1);
}

static guint8
type_of(const WpThriftWalk *walk, guint8 type)
{
	static const guint8 compact[] = { TYPE_STOP, TYPE_BOOL, TYPE_BOOL,   TYPE_BYTE,   TYPE_I16,
					  TYPE_I32,  TYPE_I64,  TYPE_DOUBLE, TYPE_STRING, TYPE_LIST,
					  TYPE_SET,  TYPE_MAP,  TYPE_STRUCT, TYPE_UUID };
	if (walk->is_compact)
		return type < G_N_ELEMENTS(compact) ? compact[type] : TYPE_UNKNOWN;
	gboolean is_known = type == 0 || (type >= 2 && type <= 4) || type == 6 || type == 8 ||
			    (type >= 10 && type <= 16);
	return is_known ? type : TYPE_UNKNOWN;
}

void
wp_thrift_walk_start(WpThriftWalk *walk, gboolean is_compact)
{
	walk->is_compact = is_compact;
	walk->levels[0] = (WpThriftLevel){ 0 };
	walk->depth = 1;
}

/* The header of a field: its type and number. */
static guint8
read_field(const WpThriftWalk *walk, WpBytes *in, gint32 *field)
{
	guint8 head = wp_bytes_u8(in);
	if (!walk->is_compact) {
		if (head)
			*field = (gint16)wp_bytes_be16(in);
		return type_of(walk, head);
	}
	guint8 type = head & 15;
	if (type == TYPE_STOP)
		return head ? TYPE_UNKNOWN : TYPE_STOP;
	if (head >> 4)
		*field += head >> 4;
	else
		*field = (gint32)zigzag(wp_thrift_varint(in));
	return type <= 2 ? TYPE_NOTHING : type_of(walk, type);
}

static void
push(WpThriftWalk *walk, guint8 type, guint8 value, guint32 left)
{
	walk->levels[walk->depth++] = (WpThriftLevel){ .type = type, .value = value, .left = left };
}

/* The header of a list, set or map. */
static WpDecodeStatus
read_container(WpThriftWalk *walk, WpBytes *in, gboolean is_map)
{
	guint64 left;
	guint8 type = 0, value = 0;
	if (!walk->is_compact) {
		type = type_of(walk, wp_bytes_u8(in));
		value = is_map ? type_of(walk, wp_bytes_u8(in)) : 0;
		left = wp_bytes_be32(in);
	} else if (is_map) {
		left = wp_thrift_varint(in);
		guint8 types = left ? wp_bytes_u8(in) : 0;
		type = type_of(walk, types >> 4);
		value = type_of(walk, types & 15);
	} else {
		guint8 head = wp_bytes_u8(in);
		left = head >> 4 == 15 ? wp_thrift_varint(in) : head >> 4;
		type = type_of(walk, head & 15);
	}
	if (in->failed)
		return WP_DECODE_MORE;
	if (left > G_MAXINT32 || type == TYPE_UNKNOWN || value == TYPE_UNKNOWN ||
	    (left && (type == 0 || (is_map && value == 0))))
		return WP_DECODE_BAD;
	if (left)
		push(walk, type, value, (guint32)left);
	return WP_DECODE_OK;
}

static WpDecodeStatus
read_string(const WpThriftWalk *walk, WpBytes *in, WpThriftStep *out)
{
	guint64 length = walk->is_compact ? wp_thrift_varint(in) : wp_bytes_be32(in);
	if (in->failed)
		return WP_DECODE_MORE;
	if (length > G_MAXINT32)
		return WP_DECODE_BAD;
	out->text_all = (gsize)length;
	out->text = wp_bytes(in->data + in->at, MIN(wp_bytes_left(in), (gsize)length));
	out->length = in->at + (gsize)length;
	return WP_DECODE_OK;
}

static WpDecodeStatus
read_number(const WpThriftWalk *walk, WpBytes *in, guint8 type, WpThriftStep *out)
{
	out->has_number = TRUE;
	if (walk->is_compact)
		out->number = zigzag(wp_thrift_varint(in));
	else if (type == TYPE_I16)
		out->number = (gint16)wp_bytes_be16(in);
	else if (type == TYPE_I32)
		out->number = (gint32)wp_bytes_be32(in);
	else
		out->number = (gint64)wp_bytes_be64(in);
	return in->failed ? WP_DECODE_MORE : WP_DECODE_OK;
}

/* Bytes of a value that says nothing; 0 = of another type. */
static gsize
plain_size(guint8 type)
{
	return type == TYPE_BOOL || type == TYPE_BYTE ? 1
	       : type == TYPE_DOUBLE                  ? 8
	       : type == TYPE_UUID                    ? 16
						      : 0;
}

static WpDecodeStatus
read_value(WpThriftWalk *walk, WpBytes *in, guint8 type, WpThriftStep *out)
{
	gsize size = plain_size(type);
	if (size)
		return wp_bytes_skip(in, size) ? WP_DECODE_OK : WP_DECODE_MORE;
	switch (type) {
	case TYPE_NOTHING:
		return WP_DECODE_OK;
	case TYPE_I16:
	case TYPE_I32:
	case TYPE_I64:
		return read_number(walk, in, type, out);
	case TYPE_STRING:
		return read_string(walk, in, out);
	case TYPE_STRUCT:
		push(walk, 0, 0, 0);
		return WP_DECODE_OK;
	case TYPE_MAP:
	case TYPE_SET:
	case TYPE_LIST:
		return read_container(walk, in, type == TYPE_MAP);
	default:
		return WP_DECODE_BAD;
	}
}

/* The type of the next element of a container. */
static guint8
next_element(WpThriftLevel *level)
{
	gboolean is_value = level->at_value;
	level->at_value = level->value && !is_value;
	if (!level->at_value)
		level->left--;
	return is_value ? level->value : level->type;
}

/* Containers of which all has been read. */
static void
pop(WpThriftWalk *walk)
{
	while (walk->depth && walk->levels[walk->depth - 1].type &&
	       walk->levels[walk->depth - 1].left == 0)
		walk->depth--;
}

static WpDecodeStatus
step(WpThriftWalk *walk, WpBytes in, WpThriftStep *out)
{
	WpThriftLevel *level = &walk->levels[walk->depth - 1], before = *level;
	guint depth = walk->depth;
	WpDecodeStatus status = WP_DECODE_OK;
	guint8 type;
	*out = (WpThriftStep){ .field = -1 };
	if (walk->depth >= WP_THRIFT_MAX_DEPTH)
		return WP_DECODE_BAD;
	if (level->type) {
		type = next_element(level);
		status = read_value(walk, &in, type, out);
	} else {
		type = read_field(walk, &in, &level->field);
		if (!in.failed && depth == 1 && type != TYPE_STOP)
			out->field = level->field;
		if (in.failed)
			status = WP_DECODE_MORE;
		else if (type == TYPE_STOP)
			walk->depth--;
		else
			status = read_value(walk, &in, type, out);
	}
	if (status != WP_DECODE_OK) {
		walk->depth = depth;
		*level = before;
		return status;
	}
	out->length = MAX(out->length, in.at);
	pop(walk);
	return WP_DECODE_OK;
}

WpDecodeStatus
wp_thrift_walk_step(WpThriftWalk *walk, WpBytes in, WpThriftStep *out)
{
	WpDecodeStatus status;
	do /* a struct in a list begins with nothing */
		status = step(walk, in, out);
	while (status == WP_DECODE_OK && out->length == 0);
	return status;
}
