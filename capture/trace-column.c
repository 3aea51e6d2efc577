/*
 * Columns: one function each, and the table that names them. An empty field means "not known" in all
 * but the first four.
 */
#include "capture/trace-column.h"

#include "capture/trace-format.h"
#include "capture/trace.h"
#include "capture/transport.h"

void
wp_field_reader_init(WpFieldReader *reader, WpNodes *nodes)
{
	reader->nodes = nodes;
	reader->keys = wp_strings_new();
	reader->key_nodes = g_array_new(FALSE, TRUE, sizeof(guint32));
	g_array_set_size(reader->key_nodes, 1); /* string 0 is "", no node */
}

void
wp_field_reader_clear(WpFieldReader *reader)
{
	wp_strings_free(reader->keys);
	g_array_unref(reader->key_nodes);
}

gboolean
wp_field_copy(WpField field, char *out, gsize size)
{
	if (field.length >= size || memchr(field.text, '\0', field.length))
		return FALSE;
	memcpy(out, field.text, field.length);
	out[field.length] = '\0';
	return TRUE;
}

gboolean
wp_field_number(WpField field, guint64 max, guint64 *out_value)
{
	guint64 value = 0;

	for (gsize i = 0; i < field.length; i++) {
		guint digit = (guint8)field.text[i] - (guint)'0';
		if (digit > MIN(9, max) || value > (max - digit) / 10)
			return FALSE;
		value = value * 10 + digit;
	}
	*out_value = value;
	return field.length > 0;
}

/* Digits after the point as ns; those after the ninth say nothing to us. */
static gboolean
parse_fraction(WpField field, guint64 *out_ns)
{
	guint64 ns = 0;
	gsize i;

	for (i = 0; i < field.length; i++) {
		guint digit = (guint8)field.text[i] - (guint)'0';
		if (digit > 9)
			return FALSE;
		if (i < 9)
			ns = ns * 10 + digit;
	}
	for (; i < 9; i++)
		ns *= 10;
	*out_ns = ns;
	return TRUE;
}

/* Seconds with or without a fraction: 1047680084.482205 */
static gboolean
parse_time(WpField field, gint64 *out_ns)
{
	gboolean is_negative = field.length > 0 && field.text[0] == '-';
	guint64 seconds, fraction = 0;

	if (is_negative)
		field = (WpField){ field.text + 1, field.length - 1 };
	const char *point = memchr(field.text, '.', field.length);
	WpField whole = { field.text, point ? (gsize)(point - field.text) : field.length };
	if (!wp_field_number(whole, WP_TRACE_MAX_SECONDS, &seconds))
		return FALSE;
	if (point &&
	    !parse_fraction((WpField){ point + 1, field.length - whole.length - 1 }, &fraction))
		return FALSE;
	gint64 ns = (gint64)(seconds * 1000000000 + fraction);
	*out_ns = is_negative ? -ns : ns;
	return TRUE;
}

static const char *
read_time(WpFieldReader *reader, WpRecord *record, WpField field)
{
	return parse_time(field, &record->begin_ns) ? NULL : "the time is no number of seconds";
}

static const char *
read_time_end(WpFieldReader *reader, WpRecord *record, WpField field)
{
	if (wp_field_is(field, "?")) {
		record->marks |= WP_MARK_CUT;
		return NULL;
	}
	if (field.length == 0 || parse_time(field, &record->end_ns))
		return NULL;
	return "time_end is no number of seconds";
}

/* Until the times of the sender are known, which may stand in a later column, they are kept as they are. */
static const char *
read_received(WpFieldReader *reader, WpRecord *record, WpField field)
{
	if (field.length == 0)
		return NULL;
	record->marks |= WP_MARK_BOTH_ENDS;
	return parse_time(field, &record->begin_way_ns) ? NULL : "received is no number of seconds";
}

static const char *
read_received_end(WpFieldReader *reader, WpRecord *record, WpField field)
{
	if (field.length == 0)
		return NULL;
	return parse_time(field, &record->end_way_ns) ? NULL
						      : "received_end is no number of seconds";
}

void
wp_field_set_ways(WpRecord *record)
{
	gint64 received_ns = record->begin_way_ns, received_end_ns = record->end_way_ns;

	record->begin_way_ns = record->end_way_ns = 0;
	if (!(record->marks & WP_MARK_BOTH_ENDS))
		return;
	record->begin_way_ns = received_ns - record->begin_ns;
	record->end_way_ns = record->begin_way_ns;
	if (received_end_ns != WP_NO_TIME)
		record->end_way_ns = received_end_ns - record->end_ns;
}

static const char *
read_kind(WpFieldReader *reader, WpRecord *record, WpField field)
{
	char name[16];
	WpKind kind;

	if (!wp_field_copy(field, name, sizeof name) || !wp_kind_from_name(name, &kind))
		return "the kind is not CALL, RETURN or MESSAGE";
	record->kind = (guint8)kind;
	return NULL;
}

const char *
wp_field_node(WpFieldReader *reader, WpField field, guint32 *out_node)
{
	if (field.length == 0 || memchr(field.text, '\0', field.length))
		return "a node has no name";
	guint32 key = wp_strings_intern(reader->keys, field.text, (gssize)field.length);
	if (key >= reader->key_nodes->len) {
		if (key > WP_TRACE_MAX_NODES)
			return "too many nodes";
		guint32 node = wp_nodes_by_key(reader->nodes, wp_strings_get(reader->keys, key));
		g_array_append_val(reader->key_nodes, node);
	}
	*out_node = g_array_index(reader->key_nodes, guint32, key);
	return NULL;
}

static const char *
read_sender(WpFieldReader *reader, WpRecord *record, WpField field)
{
	return wp_field_node(reader, field, &record->sender);
}

static const char *
read_receiver(WpFieldReader *reader, WpRecord *record, WpField field)
{
	return wp_field_node(reader, field, &record->receiver);
}

static const char *
read_id(WpFieldReader *reader, WpRecord *record, WpField field)
{
	if (memchr(field.text, '\0', field.length))
		return "the id holds a NUL byte";
	record->id = wp_record_id_from_text(reader->nodes, field.text, field.length);
	return NULL;
}

/* "10.0.0.1:80": by hand, as most lines have two of these. */
static gboolean
parse_ipv4_endpoint(WpField field, WpEndpoint *out)
{
	guint64 values[5];
	const char *at = field.text, *end = field.text + field.length;

	for (int i = 0; i < 5; i++) {
		const char *stop = end;
		if (i < 4)
			stop = memchr(at, i == 3 ? ':' : '.', (gsize)(end - at));
		if (!stop || !wp_field_number((WpField){ at, (gsize)(stop - at) },
					      i == 4 ? 65535 : 255, &values[i]))
			return FALSE;
		at = stop + 1;
	}
	memset(out->address, 0, 10);
	out->address[10] = out->address[11] = 0xff;
	for (int i = 0; i < 4; i++)
		out->address[12 + i] = (guint8)values[i];
	out->port = (guint16)values[4];
	return TRUE;
}

static const char *
read_endpoint(WpField field, WpEndpoint *out)
{
	char text[WP_ENDPOINT_TEXT_MAX];

	if (field.length == 0 || parse_ipv4_endpoint(field, out))
		return NULL;
	if (!wp_field_copy(field, text, sizeof text) || !wp_endpoint_parse(text, out))
		return "src or dst is no address";
	return NULL;
}

static const char *
read_src(WpFieldReader *reader, WpRecord *record, WpField field)
{
	return read_endpoint(field, &record->src);
}

static const char *
read_dst(WpFieldReader *reader, WpRecord *record, WpField field)
{
	return read_endpoint(field, &record->dst);
}

/* An empty field leaves *OUT as it is. */
static const char *
read_number(WpField field, guint64 max, guint64 *out, const char *reason)
{
	return field.length == 0 || wp_field_number(field, max, out) ? NULL : reason;
}

static const char *
read_flow(WpFieldReader *reader, WpRecord *record, WpField field)
{
	guint64 flow = 0;
	const char *bad = read_number(field, G_MAXUINT32, &flow, "the flow is no number");
	record->flow = (guint32)flow;
	return bad;
}

static const char *
read_bytes(WpFieldReader *reader, WpRecord *record, WpField field)
{
	return read_number(field, WP_NO_SIZE - 1, &record->bytes, "bytes is no number");
}

static const char *
read_packet(WpFieldReader *reader, WpRecord *record, WpField field)
{
	return read_number(field, G_MAXUINT64 - 1, &record->packet, "the packet is no number");
}

static const char *
read_tap(WpFieldReader *reader, WpRecord *record, WpField field)
{
	guint64 tap = 0;
	const char *bad = read_number(field, G_MAXUINT8, &tap, "the tap is no number up to 255");
	record->tap = (guint8)tap;
	return bad;
}

static const char *
read_mark(WpRecord *record, WpField field, guint8 mark)
{
	guint64 value = 0;
	const char *bad = read_number(field, 1, &value, "a mark is neither 0 nor 1");
	if (value)
		record->marks |= mark;
	return bad;
}

static const char *
read_setup(WpFieldReader *reader, WpRecord *record, WpField field)
{
	return read_mark(record, field, WP_MARK_SETUP);
}

static const char *
read_wait(WpFieldReader *reader, WpRecord *record, WpField field)
{
	return read_mark(record, field, WP_MARK_WAIT);
}

static const char *
read_string(WpFieldReader *reader, WpField field, guint32 *out_string)
{
	if (memchr(field.text, '\0', field.length))
		return "a text holds a NUL byte";
	*out_string = wp_strings_intern(wp_nodes_strings(reader->nodes), field.text,
					(gssize)field.length);
	return NULL;
}

static const char *
read_protocol(WpFieldReader *reader, WpRecord *record, WpField field)
{
	return read_string(reader, field, &record->protocol);
}

static const char *
read_label(WpFieldReader *reader, WpRecord *record, WpField field)
{
	return read_string(reader, field, &record->label);
}

static const char *
read_status(WpFieldReader *reader, WpRecord *record, WpField field)
{
	char name[16];
	WpStatus status;

	if (field.length == 0)
		return NULL;
	if (!wp_field_copy(field, name, sizeof name) || !wp_status_from_name(name, &status))
		return "the status is none of unknown, ok, error, reset, timeout";
	record->status = (guint8)status;
	return NULL;
}

/* "0a1b2c3d,00ff00ff" */
static const char *
read_tokens(WpFieldReader *reader, WpRecord *record, WpField field)
{
	static const char bad[] = "tokens are not groups of eight hexadecimal digits";

	if (field.length > 0 && (field.length + 1) % 9 != 0)
		return bad;
	if (field.length > WP_RECORD_MAX_TOKENS * 9)
		return "there are more than 16 tokens";
	for (gsize i = 0; i < field.length; i++) {
		guint32 *token = &reader->tokens[i / 9];
		int digit = g_ascii_xdigit_value(field.text[i]);
		if (i % 9 == 8 ? field.text[i] != ',' : digit < 0)
			return bad;
		if (i % 9 == 0)
			*token = 0;
		if (i % 9 < 8)
			*token = *token << 4 | (guint32)digit;
	}
	record->n_tokens = (guint8)((field.length + 1) / 9);
	return NULL;
}

/* The time, packet or word up to the next '/' in FIELD, which loses it. */
static WpField
take_part(WpField *field)
{
	const char *slash = field->length ? memchr(field->text, '/', field->length) : NULL;
	WpField part = { field->text, slash ? (gsize)(slash - field->text) : field->length };
	gsize used = part.length + (slash != NULL);

	*field = (WpField){ field->text + used, field->length - used };
	return part;
}

/* "timeout/1047680084.482205/1047680084.682205/12/15" */
static gboolean
parse_transport(WpField field, WpTransport *out)
{
	char name[16];
	gboolean ok = wp_field_copy(take_part(&field), name, sizeof name);

	if (ok && !wp_transport_from_name(name, &out->kind))
		out->kind = WP_N_TRANSPORTS; /* of another version */

	ok = ok && parse_time(take_part(&field), &out->begin_ns) &&
	     parse_time(take_part(&field), &out->end_ns);
	ok = ok && wp_field_number(take_part(&field), G_MAXUINT64 - 1, &out->first) &&
	     wp_field_number(take_part(&field), G_MAXUINT64 - 1, &out->last);
	return ok && field.length == 0 && out->end_ns >= out->begin_ns;
}

static const char *
read_transports(WpFieldReader *reader, WpRecord *record, WpField field)
{
	record->n_transports = 0;
	while (field.length > 0) {
		const char *comma = memchr(field.text, ',', field.length);
		WpField one = { field.text, comma ? (gsize)(comma - field.text) : field.length };
		gsize used = one.length + (comma != NULL);
		WpTransport transport;
		field = (WpField){ field.text + used, field.length - used };
		if (!parse_transport(one, &transport))
			return "transport is not KIND/TIME/TIME/PACKET/PACKET";
		if (record->n_transports == WP_RECORD_MAX_TRANSPORTS)
			return "there are more than 4 transports";
		if (transport.kind < WP_N_TRANSPORTS)
			wp_transport_pack(&transport, reader->transports[record->n_transports++]);
	}
	return NULL;
}

static const char *
read_context(WpFieldReader *reader, WpRecord *record, WpField field)
{
	if (field.length == 0)
		return NULL;
	if (!wp_trace_context_from_text(field.text, field.length, &reader->context))
		return "trace_parent is not two groups of 32 and 16 hexadecimal digits";
	record->marks |= WP_MARK_TRACED;
	return NULL;
}

static const char *
read_cause(WpFieldReader *reader, WpRecord *record, WpField field)
{
	if (field.length == 0)
		return NULL;
	if (memchr(field.text, '\0', field.length))
		return "the cause holds a NUL byte";
	reader->cause = wp_record_id_from_text(reader->nodes, field.text, field.length);
	record->marks |= WP_MARK_CAUSED;
	return NULL;
}

const WpColumn wp_columns_known[] = {
	{ "time", read_time },
	{ "kind", read_kind },
	{ "sender", read_sender },
	{ "receiver", read_receiver },
	{ "id", read_id },
	{ "time_end", read_time_end },
	{ "src", read_src },
	{ "dst", read_dst },
	{ "flow", read_flow },
	{ "protocol", read_protocol },
	{ "label", read_label },
	{ "bytes", read_bytes },
	{ "status", read_status },
	{ "setup", read_setup },
	{ "wait", read_wait },
	{ "tap", read_tap },
	{ "packet", read_packet },
	{ "tokens", read_tokens },
	{ "transport", read_transports },
	{ "received", read_received },
	{ "received_end", read_received_end },
	{ "trace_parent", read_context },
	{ "cause", read_cause },
	/* The heading of the paper's example. */
	{ "timestamp", read_time },
	{ "operation", read_kind },
	{ "rcvr", read_receiver },
	{ "ID", read_id },
	{ NULL, NULL },
};

WpColumnFunc
wp_column_find(WpField name)
{
	const WpColumn *column = wp_columns_known;
	while (column->name && !wp_field_is(name, column->name))
		column++;
	return column->read;
}
