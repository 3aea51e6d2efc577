/* BSON, a step at a time. */
#include "capture/bson.h"

/* Of no fixed size. */
enum {
	SIZE_UNKNOWN = 0xff,
	SIZE_STRING = 0xf0, /* length, then so many bytes */
	SIZE_DOCUMENT,      /* length, which counts itself */
	SIZE_BINARY,        /* length, subtype, then so many bytes */
	SIZE_POINTER,       /* a string and 12 bytes */
	SIZE_REGEX          /* two texts with a zero behind each */
};

static guint8
size_of(guint8 type)
{
	static const guint8 sizes[] = {
		SIZE_UNKNOWN,
		8,
		SIZE_STRING,
		SIZE_DOCUMENT,
		SIZE_DOCUMENT,
		SIZE_BINARY,
		0,
		12,
		1,
		8,
		0,
		SIZE_REGEX,
		SIZE_POINTER,
		SIZE_STRING,
		SIZE_STRING,
		SIZE_DOCUMENT,
		4,
		8,
		8,
		16,
	};
	if (type == 0x7f || type == 0xff) /* the greatest and the least key */
		return 0;
	return type < G_N_ELEMENTS(sizes) ? sizes[type] : SIZE_UNKNOWN;
}

/* Two texts with a zero behind each; G_MAXSIZE where they are not all there. */
static gsize
measure_regex(WpBytes in)
{
	gsize start = in.at;
	for (int i = 0; i < 2; i++) {
		gssize end = wp_bytes_find(&in, 0, G_MAXSIZE);
		if (end < 0)
			return G_MAXSIZE;
		wp_bytes_skip(&in, (gsize)end + 1);
	}
	return in.at - start;
}

/* Bytes of the value at IN, G_MAXSIZE where it cannot be told from what is there; FALSE: nonsense. */
static gboolean
measure(WpBytes in, guint8 size, gsize *out)
{
	static const struct {
		guint8 least; /* that the length can say */
		guint8 more;  /* bytes that it does not count */
	} rows[] = {
		[SIZE_STRING - SIZE_STRING] = { 1, 4 },
		[SIZE_DOCUMENT - SIZE_STRING] = { WP_BSON_SHORTEST, 0 },
		[SIZE_BINARY - SIZE_STRING] = { 0, 5 },
		[SIZE_POINTER - SIZE_STRING] = { 1, 16 },
	};
	*out = G_MAXSIZE;
	if (size < SIZE_STRING) {
		*out = size;
	} else if (size == SIZE_REGEX) {
		*out = measure_regex(in);
	} else {
		guint32 length = wp_bytes_le32(&in);
		if (in.failed)
			return TRUE;
		if (length < rows[size - SIZE_STRING].least || length > G_MAXINT32)
			return FALSE;
		*out = (gsize)length + rows[size - SIZE_STRING].more;
	}
	return TRUE;
}

WpBsonStep
wp_bson_next(WpBytes *in, gboolean enter, WpBsonElement *out)
{
	gsize length;
	*out = (WpBsonElement){ 0 };
	if (wp_bytes_left(in) == 0)
		return WP_BSON_CUT;
	guint8 type = wp_bytes_u8(in);
	if (type == 0)
		return WP_BSON_CLOSE;
	guint8 size = size_of(type);
	if (size == SIZE_UNKNOWN)
		return WP_BSON_BAD;
	gssize end = wp_bytes_find(in, 0, G_MAXSIZE);
	if (end < 0)
		return WP_BSON_CUT;
	out->type = type;
	out->name_length = (gsize)end;
	out->name = (const char *)wp_bytes_take(in, (gsize)end);
	wp_bytes_skip(in, 1);
	if (!measure(*in, size, &length))
		return WP_BSON_BAD;
	gsize there = MIN(length, wp_bytes_left(in));
	out->value = wp_bytes(in->data + in->at, there);
	if (enter && size == SIZE_DOCUMENT && there >= WP_BSON_LENGTH)
		length = there = WP_BSON_LENGTH;
	wp_bytes_skip(in, there);
	return there < length ? WP_BSON_CUT : WP_BSON_ELEMENT;
}

gboolean
wp_bson_text(const WpBsonElement *element, const char **out_text, gsize *out_length)
{
	WpBytes value = element->value;
	guint32 length = wp_bytes_le32(&value);
	if (element->type != WP_BSON_STRING || value.failed || length == 0)
		return FALSE;
	const guint8 *text = wp_bytes_take(&value, length);
	if (!text)
		return FALSE;
	*out_text = (const char *)text;
	*out_length = length - 1;
	return TRUE;
}

gboolean
wp_bson_is_zero(const WpBsonElement *element, gboolean *out_is_zero)
{
	WpBytes value = element->value;
	guint64 number;
	switch (element->type) {
	case WP_BSON_DOUBLE:
		number = wp_bytes_le64(&value) & G_MAXINT64; /* minus zero is zero */
		break;
	case WP_BSON_INT64:
		number = wp_bytes_le64(&value);
		break;
	case WP_BSON_INT32:
		number = wp_bytes_le32(&value);
		break;
	case WP_BSON_BOOLEAN:
		number = wp_bytes_u8(&value);
		break;
	default:
		return FALSE;
	}
	if (value.failed)
		return FALSE;
	*out_is_zero = number == 0;
	return TRUE;
}
