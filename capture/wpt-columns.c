/*
 * Records of the binary form as columns. In records that follow each other most fields differ little
 * (times, numbers of packets) or not at all (marks, taps), so that what they are above the least of them
 * takes few bytes. That is a third of the fields themselves, for hardly any time.
 */
#include "capture/wpt.h"

#include "capture/record.h"

#define SIGN (G_GUINT64_CONSTANT(1) << 63)

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

/* The least FIELD of ROWS, and in *OUT_SPAN how much more the largest is. */
static guint64
find_base(const WpWptRow *rows, guint n, WpWptField field, guint64 *out_span)
{
	guint64 sign = sign_of(field), least = G_MAXUINT64, most = 0;

	for (guint i = 0; i < n; i++) {
		guint64 value = rows[i].fields[field] ^ sign;
		least = MIN(least, value);
		most = MAX(most, value);
	}
	*out_span = most - least;
	return least ^ sign;
}

/* WIDTH is from 1 to 8; room for 8 bytes is left behind the last value. */
static void
pack_column(const WpWptRow *rows, guint n, WpWptField field, guint64 base, guint width, guint8 *out)
{
	for (guint i = 0; i < n; i++, out += width) {
		guint64 value = GUINT64_TO_LE(rows[i].fields[field] - base);
		memcpy(out, &value, sizeof value);
	}
}

gsize
wp_wpt_pack(const WpWptRow *rows, guint n, guint8 *out)
{
	guint8 *head = out, *column = out + (gsize)WP_WPT_N_FIELDS * WP_WPT_COLUMN_HEAD;

	for (WpWptField field = 0; field < WP_WPT_N_FIELDS; field++) {
		guint64 span, base = find_base(rows, n, field, &span);
		guint width = width_of(span);
		guint64 stored = GUINT64_TO_LE(base);
		memcpy(head, &stored, sizeof stored);
		head[sizeof stored] = (guint8)width;
		head += WP_WPT_COLUMN_HEAD;
		if (width > 0)
			pack_column(rows, n, field, base, width, column);
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
