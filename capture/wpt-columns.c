/*
 * Records of the binary form as columns. In records that follow each other most fields differ little
 * (times, numbers of packets) or not at all (marks, taps), so that what they are above the least of them
 * takes few bytes. That is a third of the fields themselves, for hardly any time.
 */
#include "capture/wpt.h"

#include "capture/record.h"

#define SIGN (G_GUINT64_CONSTANT(1) << 63)

/* Where a field stands in WpWptColumns, and in how many bytes each. */
#define PLACE(name)                                                                                \
	{                                                                                          \
		G_STRUCT_OFFSET(WpWptColumns, name), sizeof(((WpWptColumns *)0)->name[0])          \
	}

static const struct {
	gsize offset;
	gsize size;
} places[WP_WPT_N_FIELDS] = {
	[WP_WPT_BEGIN] = PLACE(begin),
	[WP_WPT_DURATION] = PLACE(duration),
	[WP_WPT_ID] = PLACE(id),
	[WP_WPT_PACKET] = PLACE(packet),
	[WP_WPT_BYTES] = PLACE(bytes),
	[WP_WPT_SENDER] = PLACE(sender),
	[WP_WPT_RECEIVER] = PLACE(receiver),
	[WP_WPT_FLOW] = PLACE(flow),
	[WP_WPT_PROTOCOL] = PLACE(protocol),
	[WP_WPT_LABEL] = PLACE(label),
	[WP_WPT_SRC_PORT] = PLACE(src_port),
	[WP_WPT_DST_PORT] = PLACE(dst_port),
	[WP_WPT_KIND] = PLACE(kind),
	[WP_WPT_STATUS] = PLACE(status),
	[WP_WPT_MARKS] = PLACE(marks),
	[WP_WPT_TAP] = PLACE(tap),
	[WP_WPT_N_TOKENS] = PLACE(n_tokens),
	[WP_WPT_SRC_END] = PLACE(src_end),
	[WP_WPT_DST_END] = PLACE(dst_end),
	[WP_WPT_N_TRANSPORTS] = PLACE(n_transports),
	[WP_WPT_BEGIN_WAY] = PLACE(begin_way),
	[WP_WPT_END_WAY] = PLACE(end_way),
};

/* What makes unsigned comparison right for it. */
static guint64
sign_of(WpWptField field)
{
	return field == WP_WPT_BEGIN || field == WP_WPT_BEGIN_WAY || field == WP_WPT_END_WAY ? SIGN
											     : 0;
}

static guint
width_of(guint64 value)
{
	guint width = 0;

	for (; value > 0; value >>= 8)
		width++;
	return width;
}

/* The least and the most of N values of one TYPE. */
#define RANGE_OF(type)                                                                             \
	static void range_##type(const type *values, guint n, type sign, guint64 *out_least,       \
				 guint64 *out_most)                                                \
	{                                                                                          \
		type least = (type)(values[0] ^ sign), most = least;                               \
                                                                                                   \
		for (guint i = 1; i < n; i++) {                                                    \
			type value = (type)(values[i] ^ sign);                                     \
			least = MIN(least, value);                                                 \
			most = MAX(most, value);                                                   \
		}                                                                                  \
		*out_least = least;                                                                \
		*out_most = most;                                                                  \
	}

/* Each of N values of one TYPE, less BASE, as WIDTH bytes to OUT, where there is room for 8 bytes behind the last. */
#define STORE_OF(type)                                                                             \
	static void store_##type(const type *values, guint n, guint64 base, guint width,           \
				 guint8 *out)                                                      \
	{                                                                                          \
		for (guint i = 0; i < n; i++, out += width) {                                      \
			guint64 value = GUINT64_TO_LE(values[i] - base);                           \
			memcpy(out, &value, sizeof value);                                         \
		}                                                                                  \
	}

RANGE_OF(guint8)
RANGE_OF(guint16)
RANGE_OF(guint32)
RANGE_OF(guint64)
STORE_OF(guint16)
STORE_OF(guint32)
STORE_OF(guint64)

/* The least of the N values of FIELD, and in *OUT_SPAN how much more the largest is. */
static guint64
find_base(gconstpointer values, guint n, WpWptField field, guint64 *out_span)
{
	guint64 sign = sign_of(field), least, most;

	switch (places[field].size) {
	case 1:
		range_guint8(values, n, 0, &least, &most);
		break;
	case 2:
		range_guint16(values, n, 0, &least, &most);
		break;
	case 4:
		range_guint32(values, n, 0, &least, &most);
		break;
	default:
		range_guint64(values, n, sign, &least, &most);
		break;
	}
	*out_span = most - least;
	return least ^ sign;
}

/* The same for values of a byte, which stay as many. */
static void
store_bytes(const guint8 *values, guint n, guint8 base, guint8 *out)
{
	for (guint i = 0; i < n; i++)
		out[i] = (guint8)(values[i] - base);
}

/* WIDTH is from 1 to the bytes that values of FIELD have. */
static void
pack_column(gconstpointer values, guint n, WpWptField field, guint64 base, guint width, guint8 *out)
{
	switch (places[field].size) {
	case 1:
		store_bytes(values, n, (guint8)base, out);
		break;
	case 2:
		store_guint16(values, n, base, width, out);
		break;
	case 4:
		store_guint32(values, n, base, width, out);
		break;
	default:
		store_guint64(values, n, base, width, out);
		break;
	}
}

gsize
wp_wpt_pack(const WpWptColumns *columns, guint n, guint8 *out)
{
	guint8 *head = out, *column = out + (gsize)WP_WPT_N_FIELDS * WP_WPT_COLUMN_HEAD;

	g_assert(n > 0 && n <= WP_WPT_ROWS);
	for (WpWptField field = 0; field < WP_WPT_N_FIELDS; field++) {
		gconstpointer values = (const guint8 *)columns + places[field].offset;
		guint64 span, base = find_base(values, n, field, &span);
		guint width = width_of(span);
		guint64 stored = GUINT64_TO_LE(base);
		memcpy(head, &stored, sizeof stored);
		head[sizeof stored] = (guint8)width;
		head += WP_WPT_COLUMN_HEAD;
		if (width > 0)
			pack_column(values, n, field, base, width, column);
		column += (gsize)n * width;
	}
	return (gsize)(column - out);
}

/* VALUES has N of WIDTH bytes. */
static inline void
unpack_column(const guint8 *values, guint n, WpWptField field, guint64 base, guint width,
	      WpWptRow *out_rows)
{
	for (guint i = 0; i < n; i++, values += width) {
		guint64 value = 0;
		memcpy(&value, values, width);
		out_rows[i].fields[field] = base + GUINT64_FROM_LE(value);
	}
}

gboolean
wp_wpt_unpack(WpBytes *payload, guint n, WpWptRow *out_rows)
{
	const guint8 *head = wp_bytes_take(payload, (gsize)WP_WPT_N_FIELDS * WP_WPT_COLUMN_HEAD);

	for (WpWptField field = 0; head && field < WP_WPT_N_FIELDS; field++) {
		guint width = head[8];
		const guint8 *values = width <= 8 ? wp_bytes_take(payload, (gsize)n * width) : NULL;
		guint64 base;
		if (!values)
			return FALSE;
		memcpy(&base, head, sizeof base);
		base = GUINT64_FROM_LE(base);
		head += WP_WPT_COLUMN_HEAD;
		switch (width) { /* so that each is copied as a whole */
		case 0:
			unpack_column(values, n, field, base, 0, out_rows);
			break;
		case 1:
			unpack_column(values, n, field, base, 1, out_rows);
			break;
		case 2:
			unpack_column(values, n, field, base, 2, out_rows);
			break;
		case 3:
			unpack_column(values, n, field, base, 3, out_rows);
			break;
		case 4:
			unpack_column(values, n, field, base, 4, out_rows);
			break;
		default:
			unpack_column(values, n, field, base, width, out_rows);
			break;
		}
	}
	return head != NULL;
}

void
wp_wpt_row_from_record(const WpWptRecord *stored, WpWptRow *out_row)
{
	*out_row = (WpWptRow){ {
		[WP_WPT_BEGIN] = GUINT64_FROM_LE((guint64)stored->begin_ns),
		[WP_WPT_DURATION] = GUINT64_FROM_LE((guint64)stored->end_ns) -
				    GUINT64_FROM_LE((guint64)stored->begin_ns),
		[WP_WPT_ID] = wp_wpt_id_to_field(GUINT64_FROM_LE(stored->id)),
		[WP_WPT_PACKET] = GUINT64_FROM_LE(stored->packet),
		[WP_WPT_BYTES] = GUINT64_FROM_LE(stored->bytes) + 1,
		[WP_WPT_SENDER] = GUINT32_FROM_LE(stored->sender),
		[WP_WPT_RECEIVER] = GUINT32_FROM_LE(stored->receiver),
		[WP_WPT_FLOW] = GUINT32_FROM_LE(stored->flow),
		[WP_WPT_PROTOCOL] = GUINT32_FROM_LE(stored->protocol),
		[WP_WPT_LABEL] = GUINT32_FROM_LE(stored->label),
		[WP_WPT_SRC_PORT] = GUINT16_FROM_LE(stored->src_port),
		[WP_WPT_DST_PORT] = GUINT16_FROM_LE(stored->dst_port),
		[WP_WPT_KIND] = stored->kind,
		[WP_WPT_STATUS] = stored->status,
		/* WAYS says so. */
		[WP_WPT_MARKS] = stored->marks & (guint8)~WP_MARK_BOTH_ENDS,
		[WP_WPT_TAP] = stored->tap,
		[WP_WPT_N_TOKENS] = stored->n_tokens,
		[WP_WPT_SRC_END] = stored->src_end,
		[WP_WPT_DST_END] = stored->dst_end,
		[WP_WPT_N_TRANSPORTS] = stored->n_transports,
	} };
}
