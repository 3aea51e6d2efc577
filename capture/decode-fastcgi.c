/*
 * FastCGI: "FastCGI Specification", version 1.0 (Open Market, 1996). Sections are of that text.
 *
 * All is records (section 3.3), each of which belongs to a request by its id:
 *
 *     version type  id      length  padding reserved
 *     | 01 | 04 | 00 01 | 02 1a |  06   |  00   | content ...... | padding |
 *
 *     web server   BEGIN_REQUEST  PARAMS.. PARAMS(empty)  STDIN.. STDIN(empty)
 *                  |<----------------------- call ------------------------->|
 *     application                       STDOUT..  STDERR..  STDOUT(empty)  END_REQUEST
 *                                       |<---------------- return ------------------>|
 *
 * PARAMS and the front of STDOUT are streams cut into records anywhere; they are read byte by byte as
 * they come, and only what is asked of them is kept. A connection may carry several requests at a
 * time; nearly all web servers send one.
 */
#include <string.h>

#include "capture/decoders.h"
#include "capture/http-fields.h"

#define HEADER_BYTES 8
#define FIXED_BYTES  8 /* content of BEGIN_REQUEST and END_REQUEST */

/* Requests followed at a time in one connection; records of others are skipped. */
#define MAX_REQUESTS 32

/* What is kept of a name, a value, a path. */
#define MAX_NAME   40
#define MAX_VALUE  256
#define MAX_METHOD 24

/* CGI header bytes of a response that are searched for its status. */
#define MAX_HEAD 8192

/* Section 8 */
enum {
	BEGIN_REQUEST = 1,
	ABORT_REQUEST = 2,
	END_REQUEST = 3,
	PARAMS = 4,
	STDIN = 5,
	STDOUT = 6,
	STDERR = 7,
	DATA = 8,
	GET_VALUES = 9,
	GET_VALUES_RESULT = 10,
	UNKNOWN_TYPE = 11
};

enum {
	RESPONDER = 1,
	AUTHORIZER = 2,
	FILTER = 3
};

/* A request, or its answer, of which not all has come. */
typedef struct {
	WpMessage message;
	guint16 id; /* 0 = free */
	guint16 role;
	guint16 code;      /* "Status:" of an answer */
	guint8 path_rank;  /* of the parameter that path is from */
	guint8 n_lengths;  /* bytes of them */
	guint8 lengths[8]; /* of name and value, 1 or 4 bytes each (section 3.4) */
	guint8 n_name;     /* kept */
	guint8 n_method;
	gboolean has_body; /* STDIN has begun */
	gboolean is_read;  /* nothing more is asked of the content: PARAMS, STDIN, STDOUT in turn */
	guint32 name_left; /* bytes to come */
	guint32 value_left;
	guint32 n_head;  /* bytes of an answer's head */
	guint16 n_value; /* kept; of STDIN: its front; of STDOUT: the line */
	guint16 n_path;
	char name[MAX_NAME];
	char value[MAX_VALUE];
	char method[MAX_METHOD];
	char path[MAX_VALUE];
} Request;

typedef struct {
	Request first;
	Request *
		others; /* MAX_REQUESTS - 1, made when a second one comes while the first is open */
	WpMessage management;
	guint8 type; /* of the record being read */
	guint8 padding;
	guint16 id;
	guint32 left; /* bytes of its content to come */
} Side;

typedef struct {
	Side sides[2];
} State;

/* --- requests --- */

static Request *
find_request(Side *side, guint16 id)
{
	if (side->first.id == id)
		return &side->first;
	for (int i = 0; side->others && i < MAX_REQUESTS - 1; i++)
		if (side->others[i].id == id)
			return &side->others[i];
	return NULL;
}

/* A free one, zeroed; NULL where there are too many. */
static Request *
make_request(Side *side, guint16 id)
{
	if (side->first.id && !side->others)
		side->others = g_new0(Request, MAX_REQUESTS - 1);
	Request *request = find_request(side, 0);
	if (request) {
		memset(request, 0, sizeof *request);
		request->id = id;
		request->message.callid = id;
	}
	return request;
}

static void
emit_request(Request *request, WpUnit *unit)
{
	unit->emits = &request->message;
	request->id = 0;
}

/* --- parameters of a request --- */

/* The most telling of the parameters that hold the path; 0 = none. */
static guint8
rank_of_path(const char *name, gsize length)
{
	static const char *const names[] = { "SCRIPT_NAME", "DOCUMENT_URI", "REQUEST_URI" };
	for (guint8 i = 0; i < G_N_ELEMENTS(names); i++)
		if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
			return i + 1;
	return 0;
}

static gboolean
note_method(Request *request)
{
	static const char name[] = "REQUEST_METHOD";
	if (request->n_name != sizeof name - 1 || memcmp(request->name, name, request->n_name) != 0)
		return FALSE;
	request->n_method = (guint8)MIN(request->n_value, MAX_METHOD);
	memcpy(request->method, request->value, request->n_method);
	return TRUE;
}

static gboolean
note_path(WpDecodeContext *context, Request *request)
{
	guint8 rank = rank_of_path(request->name, request->n_name);
	if (rank == 0)
		return FALSE;
	if (rank < request->path_rank)
		return TRUE;
	request->path_rank = rank;
	request->n_path = request->n_value;
	memcpy(request->path, request->value, request->n_value);
	if (wp_http_target_waits(request->path, request->n_path))
		request->message.marks |= WP_MARK_WAIT;
	wp_decode_tokens(context, &request->message, (const guint8 *)request->path,
			 request->n_path);
	return TRUE;
}

/* A name and a value have come whole. "HTTP_X" is the field "X" of the request (RFC 3875, 4.1.18). */
static void
note_pair(WpDecodeContext *context, Request *request)
{
	static const char field[] = "HTTP_";
	gsize skip = sizeof field - 1;

	if (note_method(request) || note_path(context, request)) {
		if (request->n_method && request->n_path)
			request->message.label =
				wp_http_label(context, request->method, request->n_method,
					      request->path, request->n_path);
		return;
	}
	if (request->n_name < skip || memcmp(request->name, field, skip) != 0)
		skip = 0;
	wp_http_scan_field(context, &request->message, request->name + skip, request->n_name - skip,
			   request->value, request->n_value);
}

/* Bytes of a length by its first one. */
static guint
length_bytes(guint8 first)
{
	return first & 0x80 ? 4 : 1;
}

static guint32
read_length(const guint8 *bytes)
{
	WpBytes in = wp_bytes(bytes, length_bytes(bytes[0]));
	return in.length == 1 ? wp_bytes_u8(&in) : wp_bytes_be32(&in) & 0x7fffffff;
}

/* One more byte of the two lengths; TRUE where both are known then. */
static gboolean
add_length_byte(Request *request, guint8 byte)
{
	request->lengths[request->n_lengths++] = byte;
	guint of_name = length_bytes(request->lengths[0]);
	if (request->n_lengths <= of_name ||
	    request->n_lengths < of_name + length_bytes(request->lengths[of_name]))
		return FALSE;
	request->name_left = read_length(request->lengths);
	request->value_left = read_length(request->lengths + of_name);
	request->n_name = 0;
	request->n_value = 0;
	return TRUE;
}

/* Keeps of the next *LEFT bytes what there is room for; returns how many of DATA they are. */
static gsize
keep(const guint8 *data, gsize length, guint32 *left, char *kept, gsize n_kept, gsize size,
     gsize *out_n)
{
	gsize n = MIN(length, *left);
	gsize take = MIN(n, size - n_kept);
	memcpy(kept + n_kept, data, take);
	*left -= (guint32)n;
	*out_n = n_kept + take;
	return n;
}

static void
read_params(WpDecodeContext *context, Request *request, const guint8 *data, gsize length)
{
	gboolean has_lengths = request->name_left || request->value_left;

	for (gsize i = 0; i < length;) {
		gsize n;
		if (!has_lengths) {
			has_lengths = add_length_byte(request, data[i++]);
		} else if (request->name_left) {
			i += keep(data + i, length - i, &request->name_left, request->name,
				  request->n_name, MAX_NAME, &n);
			request->n_name = (guint8)n;
		} else if (request->value_left) {
			i += keep(data + i, length - i, &request->value_left, request->value,
				  request->n_value, MAX_VALUE, &n);
			request->n_value = (guint16)n;
		}
		if (has_lengths && !request->name_left && !request->value_left) {
			note_pair(context, request);
			has_lengths = FALSE;
			request->n_lengths = 0;
		}
	}
}

/* --- content of the other streams --- */

/* The value is used for the front of STDIN from now on. */
static void
start_stdin(Request *request)
{
	if (!request->has_body)
		request->n_value = 0;
	request->has_body = TRUE;
}

static void
scan_stdin(WpDecodeContext *context, Request *request)
{
	start_stdin(request);
	if (!request->is_read)
		wp_decode_tokens(context, &request->message, (const guint8 *)request->value,
				 request->n_value);
	request->is_read = TRUE;
}

static void
read_stdin(WpDecodeContext *context, Request *request, const guint8 *data, gsize length)
{
	start_stdin(request);
	gsize n = MIN(length, (gsize)(MAX_VALUE - request->n_value));
	memcpy(request->value + request->n_value, data, n);
	request->n_value += (guint16)n;
	if (request->n_value == MAX_VALUE)
		scan_stdin(context, request);
}

/* TRUE where the line in value is of the field NAME (with its colon); *OUT_AT: where its value begins. */
static gboolean
is_field(const Request *request, const char *name, gsize *out_at)
{
	gsize n = strlen(name);
	if (request->n_value < n || g_ascii_strncasecmp(request->value, name, n) != 0)
		return FALSE;
	while (n < request->n_value && request->value[n] == ' ')
		n++;
	*out_at = n;
	return TRUE;
}

/* A line of the head: "Status: 404 Not Found" (RFC 3875 section 6.3.3), or the type of the body. */
static void
note_head_line(Request *request)
{
	static const char events[] = "text/event-stream";
	gsize at;

	if (is_field(request, "status:", &at)) {
		guint code = 0;
		for (; at < request->n_value && g_ascii_isdigit(request->value[at]) && code < 100;
		     at++)
			code = code * 10 + (guint)(request->value[at] - '0');
		request->code = (guint16)code;
	} else if (is_field(request, "content-type:", &at)) {
		if (request->n_value - at >= sizeof events - 1 &&
		    g_ascii_strncasecmp(request->value + at, events, sizeof events - 1) == 0)
			request->message.marks |= WP_MARK_WAIT;
	}
}

/* Puts a part of a line, of N bytes without its end, into value. */
static void
keep_line(Request *request, const guint8 *data, gsize n)
{
	while (n > 0) {
		const guint8 *cr = memchr(data, '\r', n);
		gsize plain = cr ? (gsize)(cr - data) : n;
		gsize kept = MIN(plain, (gsize)(MAX_VALUE - request->n_value));
		memcpy(request->value + request->n_value, data, kept);
		request->n_value += (guint16)kept;
		plain += cr != NULL;
		data += plain;
		n -= plain;
	}
}

/* Lines of the answer's head, up to the empty one. */
static void
read_stdout(Request *request, const guint8 *data, gsize length)
{
	for (gsize n; length > 0 && !request->is_read; data += n, length -= n) {
		gsize most = MIN(length, (gsize)(MAX_HEAD - request->n_head));
		const guint8 *newline = memchr(data, '\n', most);
		n = newline ? (gsize)(newline + 1 - data) : most;
		keep_line(request, data, newline ? n - 1 : n);
		if (newline) {
			request->is_read = request->n_value == 0;
			note_head_line(request);
			request->n_value = 0;
		}
		request->n_head += n;
		request->is_read |= request->n_head >= MAX_HEAD;
	}
}

/* --- records --- */

typedef struct {
	guint8 type;
	guint8 padding;
	guint16 id;
	guint16 length;
} Header;

static gboolean
is_from_client(guint8 type)
{
	return type == BEGIN_REQUEST || type == ABORT_REQUEST || type == PARAMS || type == STDIN ||
	       type == DATA || type == GET_VALUES;
}

/* Bytes are left for a header. FALSE where it is none of that direction's. */
static gboolean
read_header(WpBytes *in, WpDirection direction, Header *out_header)
{
	guint8 version = wp_bytes_u8(in);
	Header header = { .type = wp_bytes_u8(in), .id = wp_bytes_be16(in) };
	header.length = wp_bytes_be16(in);
	header.padding = wp_bytes_u8(in);
	wp_bytes_skip(in, 1);
	gboolean is_management = header.type >= GET_VALUES;

	if (version != 1 || header.type < BEGIN_REQUEST || header.type > UNKNOWN_TYPE ||
	    is_from_client(header.type) != (direction == WP_FROM_CLIENT) ||
	    is_management != (header.id == 0))
		return FALSE;
	*out_header = header;
	return TRUE;
}

static gsize
record_bytes(const Header *header)
{
	return HEADER_BYTES + (gsize)header->length + header->padding;
}

/* Content that is looked at comes in pieces of any size, the rest is skipped. */
static void
read_content(WpDecodeContext *context, Side *side, Request *request, WpBytes in, WpUnit *unit)
{
	gsize n = MIN(side->left, wp_bytes_left(&in));
	const guint8 *data = wp_bytes_take(&in, n);

	if (side->type == PARAMS && !request->has_body)
		read_params(context, request, data, n);
	else if (side->type == STDIN && !request->is_read)
		read_stdin(context, request, data, n);
	else if (side->type == STDOUT && !request->is_read)
		read_stdout(request, data, n);
	if (request->is_read || side->type == STDERR || side->type == DATA)
		n = side->left;
	unit->length += n;
	unit->extends = &request->message;
	side->left -= (guint32)n;
	if (side->left == 0)
		unit->length += side->padding;
}

static void
start_content(WpDecodeContext *context, Side *side, Request *request, const Header *header,
	      WpBytes in, WpUnit *unit)
{
	side->type = header->type;
	side->id = header->id;
	side->padding = header->padding;
	side->left = header->length;
	unit->length = HEADER_BYTES;
	read_content(context, side, request, in, unit);
}

static WpDecodeStatus
decode_begin(WpDecodeContext *context, Side *side, const Header *header, WpBytes in, WpUnit *unit)
{
	guint16 role = wp_bytes_be16(&in);
	Request *request = find_request(side, header->id);

	if (header->length != FIXED_BYTES)
		return WP_DECODE_BAD;
	/* The same id again before it was complete: the older one was given up. */
	if (request) {
		wp_decode_emit(context, &request->message);
		request->id = 0;
	}
	request = make_request(side, header->id);
	if (request) {
		request->role = role;
		unit->opens = unit->extends = &request->message;
	} else {
		wp_decode_count(context, WP_COUNT_CALLS_SKIPPED);
	}
	return WP_DECODE_OK;
}

/* The stream whose end completes a request (section 6). */
static guint8
last_stream(guint16 role)
{
	return role == AUTHORIZER ? PARAMS : role == FILTER ? DATA : STDIN;
}

/* An empty record ends a stream. */
static void
end_client_stream(WpDecodeContext *context, Request *request, guint8 type, WpUnit *unit)
{
	unit->extends = &request->message;
	if (type == STDIN)
		scan_stdin(context, request);
	if (type == last_stream(request->role))
		emit_request(request, unit);
}

static WpDecodeStatus
decode_from_client(State *state, WpDecodeContext *context, const Header *header, WpBytes in,
		   WpUnit *unit)
{
	Side *side = &state->sides[WP_FROM_CLIENT];

	unit->length = record_bytes(header);
	if (header->type == BEGIN_REQUEST)
		return decode_begin(context, side, header, in, unit);
	if (header->type == GET_VALUES) {
		side->management.marks = WP_MARK_SETUP;
		side->management.label = wp_decode_label(context, "GET_VALUES", 10);
		unit->opens = unit->emits = &side->management;
		return WP_DECODE_OK;
	}
	Request *request = find_request(side, header->id);
	if (!request) /* of a request already complete, or not followed */
		return WP_DECODE_OK;
	if (header->type == ABORT_REQUEST)
		emit_request(request, unit);
	else if (header->length == 0)
		end_client_stream(context, request, header->type, unit);
	else
		start_content(context, side, request, header, in, unit);
	return WP_DECODE_OK;
}

static WpStatus
status_of_end(const Request *request, WpBytes in)
{
	guint32 app = wp_bytes_be32(&in);
	guint8 protocol = wp_bytes_u8(&in);

	if (protocol != 0)
		return WP_STATUS_ERROR;
	if (request->code)
		return wp_http_status(request->code);
	return app ? WP_STATUS_ERROR : WP_STATUS_OK;
}

/* The application answers before all of the request came: what came is the call. */
static void
emit_answered_request(State *state, WpDecodeContext *context, guint16 id)
{
	Request *request = find_request(&state->sides[WP_FROM_CLIENT], id);
	if (request) {
		wp_decode_emit(context, &request->message);
		request->id = 0;
	}
}

static WpDecodeStatus
decode_from_server(State *state, WpDecodeContext *context, const Header *header, WpBytes in,
		   WpUnit *unit)
{
	Side *side = &state->sides[WP_FROM_SERVER];

	unit->length = record_bytes(header);
	if (header->id == 0) {
		side->management.kind = WP_KIND_RETURN;
		side->management.marks = WP_MARK_SETUP;
		side->management.status = WP_STATUS_OK;
		unit->opens = unit->emits = &side->management;
		return WP_DECODE_OK;
	}
	Request *request = find_request(side, header->id);
	if (!request) {
		request = make_request(side, header->id);
		if (!request && header->type == END_REQUEST)
			wp_decode_count(context, WP_COUNT_RETURNS_ORPHAN);
		if (!request)
			return WP_DECODE_OK;
		request->message.kind = WP_KIND_RETURN;
		unit->opens = &request->message;
	}
	if (header->type != END_REQUEST) {
		start_content(context, side, request, header, in, unit);
		return WP_DECODE_OK;
	}
	if (header->length != FIXED_BYTES)
		return WP_DECODE_BAD;
	request->message.status = (guint8)status_of_end(request, in);
	emit_answered_request(state, context, header->id);
	emit_request(request, unit);
	return WP_DECODE_OK;
}

static WpDecodeStatus
decode(void *data, WpDecodeContext *context, WpDirection direction, WpBytes in, WpUnit *unit)
{
	State *state = data;
	Side *side = &state->sides[direction];
	Header header;

	if (side->left) {
		Request *request = find_request(side, side->id);
		if (request) {
			read_content(context, side, request, in, unit);
		} else { /* answered meanwhile */
			unit->length = (gsize)side->left + side->padding;
			side->left = 0;
		}
		return WP_DECODE_OK;
	}
	unit->need = HEADER_BYTES;
	if (wp_bytes_left(&in) < HEADER_BYTES)
		return WP_DECODE_MORE;
	if (!read_header(&in, direction, &header))
		return WP_DECODE_BAD;
	if (header.type == BEGIN_REQUEST || header.type == END_REQUEST) {
		unit->need += FIXED_BYTES;
		if (wp_bytes_left(&in) < FIXED_BYTES)
			return WP_DECODE_MORE;
	}
	return direction == WP_FROM_CLIENT ? decode_from_client(state, context, &header, in, unit)
					   : decode_from_server(state, context, &header, in, unit);
}

/* --- recognising --- */

/*
 * A BEGIN_REQUEST, of which nearly all is fixed: 01 01 ID 00 08 PADDING 00, role, flags, 5 zeros.
 */
static WpDecodeStatus
recognise_begin(const WpBytes *in)
{
	static const guint8 lowest[] = { 1, 1, 0, 0, 0, 8, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0 };
	static const guint8 highest[] = { 1, 1, 255, 255, 0, 8, 255, 0, 0, 3, 1, 0, 0, 0, 0, 0 };
	const guint8 *bytes = in->data + in->at;
	gsize n = MIN(wp_bytes_left(in), sizeof lowest);

	for (gsize i = 0; i < n; i++)
		if (bytes[i] < lowest[i] || bytes[i] > highest[i])
			return WP_DECODE_BAD;
	if (n < sizeof lowest)
		return WP_DECODE_MORE;
	return bytes[2] || bytes[3] ? WP_DECODE_OK : WP_DECODE_BAD;
}

/* A header at the front, and one behind its record if that is there. *OUT_N: headers seen. */
static WpDecodeStatus
recognise_records(WpBytes in, WpDirection direction, Header *out_first, guint *out_n)
{
	Header header;

	for (*out_n = 0; *out_n < 2; (*out_n)++) {
		if (wp_bytes_left(&in) < HEADER_BYTES)
			return *out_n ? WP_DECODE_OK : WP_DECODE_MORE;
		if (in.data[in.at + HEADER_BYTES - 1] != 0 || !read_header(&in, direction, &header))
			return WP_DECODE_BAD;
		if (*out_n == 0)
			*out_first = header;
		if (!wp_bytes_skip(&in, record_bytes(&header) - HEADER_BYTES)) {
			(*out_n)++;
			return WP_DECODE_OK;
		}
	}
	return WP_DECODE_OK;
}

static WpDecodeStatus
sync(void *state, WpDecodeContext *context, WpDirection direction, WpBytes in)
{
	Header header;
	guint n;
	guint32 note;

	if (direction == WP_FROM_CLIENT)
		return recognise_begin(&in);
	WpDecodeStatus status = recognise_records(in, direction, &header, &n);
	if (status != WP_DECODE_OK)
		return status;
	return wp_decode_pending_callid(context, header.id, &note) ? WP_DECODE_OK : WP_DECODE_BAD;
}

/* GET_VALUES, whose first name begins with FCGI_ (section 4.1). */
static WpProbeVerdict
probe_get_values(const WpBytes *in)
{
	static const char name[] = "FCGI_";
	WpBytes at = *in;
	Header header;

	if (wp_bytes_left(in) < HEADER_BYTES + 2 + sizeof name - 1)
		return wp_bytes_u8(&at) == 1 && wp_bytes_u8(&at) == GET_VALUES ? WP_PROBE_MORE
									       : WP_PROBE_NO;
	if (!read_header(&at, WP_FROM_CLIENT, &header) || header.type != GET_VALUES)
		return WP_PROBE_NO;
	wp_bytes_skip(&at, 2);
	return wp_bytes_starts(&at, name, sizeof name - 1) ? WP_PROBE_SURE : WP_PROBE_NO;
}

static WpProbeVerdict
probe_client(const WpBytes *in)
{
	Header header;
	guint n;
	WpDecodeStatus status = recognise_begin(in);

	if (status == WP_DECODE_MORE)
		return WP_PROBE_MORE;
	if (status == WP_DECODE_OK)
		return recognise_records(*in, WP_FROM_CLIENT, &header, &n) != WP_DECODE_OK
			       ? WP_PROBE_NO
		       : n == 2 ? WP_PROBE_SURE
				: WP_PROBE_LIKELY;
	return probe_get_values(in);
}

static WpProbeVerdict
probe_server(const WpBytes *in)
{
	Header header;
	guint n;
	WpDecodeStatus status = recognise_records(*in, WP_FROM_SERVER, &header, &n);

	if (status == WP_DECODE_MORE)
		return in->data[in->at] == 1 ? WP_PROBE_MORE : WP_PROBE_NO;
	if (status == WP_DECODE_BAD)
		return WP_PROBE_NO;
	return n == 2 ? WP_PROBE_LIKELY : WP_PROBE_MAYBE;
}

static WpProbeVerdict
probe(const WpProbe *probe)
{
	if (wp_bytes_left(&probe->client)) {
		WpProbeVerdict client = probe_client(&probe->client);
		if (client != WP_PROBE_NO || probe->from_start)
			return client;
	}
	return wp_bytes_left(&probe->server) ? probe_server(&probe->server) : WP_PROBE_NO;
}

/* --- ends --- */

/* Empties a side; the calls that are open there are handed over. */
static void
drop_requests(Side *side, WpDecodeContext *context)
{
	for (int i = 0; i < MAX_REQUESTS; i++) {
		Request *request = i == 0         ? &side->first
				   : side->others ? &side->others[i - 1]
						  : NULL;
		if (!request)
			break;
		if (request->message.is_open && request->message.kind == WP_KIND_CALL)
			wp_decode_emit(context, &request->message);
		memset(request, 0, sizeof *request);
	}
	side->left = 0;
}

static void
lost(void *data, WpDecodeContext *context, WpDirection direction)
{
	State *state = data;
	drop_requests(&state->sides[direction], context);
}

/* The application went away in the middle of its answers. */
static void
emit_cut_returns(State *state, WpDecodeContext *context)
{
	Side *side = &state->sides[WP_FROM_SERVER];
	for (int i = 0; i < MAX_REQUESTS; i++) {
		Request *request = i == 0         ? &side->first
				   : side->others ? &side->others[i - 1]
						  : NULL;
		if (!request)
			break;
		if (!request->id || !request->message.is_open)
			continue;
		emit_answered_request(state, context, request->id);
		request->message.status = WP_STATUS_RESET;
		wp_decode_emit(context, &request->message);
		request->id = 0;
	}
}

static void
finish(void *data, WpDecodeContext *context, WpDirection direction, WpFinish how, WpUnit *unit)
{
	State *state = data;

	if (direction == WP_FROM_CLIENT)
		drop_requests(&state->sides[direction], context);
	else if (how == WP_FINISH_FIN || how == WP_FINISH_RESET)
		emit_cut_returns(state, context);
}

static void
clear(void *data)
{
	State *state = data;
	for (int i = 0; i < 2; i++)
		g_free(state->sides[i].others);
}

static const guint16 ports[] = { 9000, 9001, 0 };

const WpDecoder wp_decoder_fastcgi = {
	.name = "fastcgi",
	.summary = "FastCGI 1.0",
	.transports = WP_TRANSPORT_TCP,
	.ports = ports,
	.by_callid = TRUE,
	.reuses_callids = TRUE,
	.state_size = sizeof(State),
	.probe = probe,
	.decode = decode,
	.sync = sync,
	.lost = lost,
	.finish = finish,
	.clear = clear,
};
