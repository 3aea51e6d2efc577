/*
 * SIP (RFC 3261) over UDP and TCP.
 *
 *      caller  |INVITE|          |INVITE again|          |ACK|      |BYE
 *      callee         |100|180|                |200|200|                |200|
 *      call    INVITE ----------------------------> 200    one way
 *
 * A transaction is known by the branch of the topmost Via, the number and method of CSeq, and the
 * Call-ID (section 17); either side may begin one. The first final response ends it: provisional ones
 * (1xx) do not, and further ones (sent again, or from other branches of a fork) are counted. So are requests
 * sent again. A call that rings waits for a person: it is marked as waiting. Labels are methods, so that no
 * address stays.
 */
#include <string.h>

#include "capture/decoder.h"
#include "capture/decoders.h"
#include "capture/http-fields.h"
#include "capture/http1-head.h"
#include "capture/probe.h"

/* Transactions of a flow that are remembered, to know what is sent again: 32 s (timers B and F). */
#define MAX_RECENT 64

/* Longest method that is recognised. */
#define METHOD_MAX 20

/* Larger bodies are nonsense. */
#define BODY_MAX (64u * 1024 * 1024)

static const char version[] = "SIP/2.0";

static const char *const methods[] = { "INVITE",   "ACK",       "BYE",    "CANCEL", "OPTIONS",
				       "REGISTER", "PRACK",     "UPDATE", "INFO",   "REFER",
				       "MESSAGE",  "SUBSCRIBE", "NOTIFY", "PUBLISH" };

typedef struct {
	guint64 callid;
	gboolean is_answered;
} Transaction;

typedef struct {
	WpMessage messages[2];
	Transaction recent[MAX_RECENT];
	guint32 n_recent;
	gsize scanned
		[2]; /* TCP: bytes of a head without its end, so that none is read again for every byte */
} State;

/* What the head of a message says. */
typedef struct {
	gsize bytes; /* with the empty line */
	guint64 callid;
	guint64 body;
	guint16 code;       /* 0 in requests */
	const char *method; /* of requests; NULL = one that is not known */
	WpHttp1Line call;   /* value of Call-ID */
	WpHttp1Line sequence;
	WpHttp1Line via;
	gboolean has_body_length;
	gboolean has_tag; /* To has a tag: the request belongs to a dialogue */
} Head;

/* --- first lines --- */

static gboolean
is_method_byte(char c)
{
	return g_ascii_isupper(c) || c == '-' || c == '_';
}

/* "sip:bob@example.com": whether it begins with the name of a scheme. */
static gboolean
has_scheme(const char *target, gsize length)
{
	gsize n = 0;
	while (n < length && g_ascii_isalpha(target[n]))
		n++;
	return n > 0 && n < length && target[n] == ':';
}

/* "INVITE sip:bob@example.com SIP/2.0" */
static gboolean
parse_request(const char *line, gsize length, Head *out)
{
	gsize n = 0, version_bytes = sizeof version - 1;
	while (n < length && is_method_byte(line[n]))
		n++;
	if (n < 3 || n > METHOD_MAX || length < n + 2 + version_bytes || line[n] != ' ')
		return FALSE;
	const char *end = line + length - version_bytes;
	if (end[-1] != ' ' || memcmp(end, version, version_bytes) != 0 ||
	    !has_scheme(line + n + 1, (gsize)(end - line) - n - 1))
		return FALSE;
	for (gsize i = 0; i < G_N_ELEMENTS(methods); i++)
		if (strlen(methods[i]) == n && memcmp(line, methods[i], n) == 0)
			out->method = methods[i];
	return TRUE;
}

/* "SIP/2.0 200 OK" */
static gboolean
parse_response(const char *line, gsize length, Head *out)
{
	gsize n = sizeof version - 1;
	if (length < n + 4 || memcmp(line, version, n) != 0 || line[n] != ' ')
		return FALSE;
	guint code = 0;
	for (gsize i = n + 1; i < n + 4; i++) {
		if (!g_ascii_isdigit(line[i]))
			return FALSE;
		code = code * 10 + (guint)(line[i] - '0');
	}
	out->code = (guint16)code;
	return code >= 100 && code < 700 && (length == n + 4 || line[n + 4] == ' ');
}

static gboolean
parse_first(const WpHttp1Line *line, Head *out)
{
	return line->data[0] == 'S' && line->length > 3 && line->data[3] == '/'
		       ? parse_response(line->data, line->length, out)
		       : parse_request(line->data, line->length, out);
}

/* --- fields --- */

/* The value of the field where it is NAME, or its short form; FALSE else. Section 7.3.3. */
static gboolean
is_field(const WpHttp1Line *line, const char *name, char brief, WpHttp1Line *out)
{
	gsize n = strlen(name), at;
	if (line->length > n && g_ascii_strncasecmp(line->data, name, n) == 0)
		at = n;
	else if (brief && line->length > 1 && g_ascii_tolower(line->data[0]) == brief)
		at = 1;
	else
		return FALSE;
	while (at < line->length && g_ascii_isspace(line->data[at]))
		at++;
	if (at == line->length || line->data[at] != ':')
		return FALSE;
	for (at++; at < line->length && g_ascii_isspace(line->data[at]);)
		at++;
	*out = (WpHttp1Line){ line->data + at, line->length - at, 0 };
	return TRUE;
}

static gboolean
parse_length(const WpHttp1Line *value, guint64 *out)
{
	guint64 number = 0;
	for (gsize i = 0; i < value->length && g_ascii_isdigit(value->data[i]); i++) {
		number = number * 10 + (guint64)(value->data[i] - '0');
		if (number > BODY_MAX)
			return FALSE;
	}
	*out = number;
	return value->length > 0 && g_ascii_isdigit(value->data[0]);
}

/* The parameter NAME ("branch=") of the first of a list; what there is of LINE where there is none. */
static gboolean
find_parameter(const WpHttp1Line *value, const char *name, WpHttp1Line *out)
{
	gsize n = strlen(name), end = 0;
	while (end < value->length && value->data[end] != ',')
		end++;
	for (gsize at = 0; at + n < end; at++) {
		if (value->data[at] != ';')
			continue;
		gsize start = at + 1;
		while (start < end && g_ascii_isspace(value->data[start]))
			start++;
		if (start + n > end || g_ascii_strncasecmp(value->data + start, name, n) != 0)
			continue;
		start += n;
		gsize stop = start;
		while (stop < end && value->data[stop] != ';' &&
		       !g_ascii_isspace(value->data[stop]))
			stop++;
		*out = (WpHttp1Line){ value->data + start, stop - start, 0 };
		return TRUE;
	}
	return FALSE;
}

/* FALSE where a value makes no sense. */
static gboolean
note_field(Head *head, const WpHttp1Line *line)
{
	WpHttp1Line value, tag;
	if (is_field(line, "Call-ID", 'i', &value)) {
		head->call = value;
	} else if (is_field(line, "CSeq", 0, &value)) {
		head->sequence = value;
	} else if (is_field(line, "Via", 'v', &value)) {
		if (!head->via.data)
			head->via = value;
	} else if (is_field(line, "To", 't', &value)) {
		head->has_tag = find_parameter(&value, "tag=", &tag);
	} else if (is_field(line, "Content-Length", 'l', &value)) {
		head->has_body_length = TRUE;
		return parse_length(&value, &head->body);
	}
	return TRUE;
}

static guint64
hash(guint64 hash, const char *data, gsize length)
{
	for (gsize i = 0; i < length; i++) /* FNV-1a */
		hash = (hash ^ (guint8)data[i]) * G_GUINT64_CONSTANT(1099511628211);
	return (hash ^ 0xff) * G_GUINT64_CONSTANT(1099511628211);
}

/* The number and method of CSeq with one blank between them, the Call-ID, the branch. */
static void
set_callid(Head *head)
{
	guint64 id = G_GUINT64_CONSTANT(14695981039346656037);
	const WpHttp1Line *sequence = &head->sequence;
	gsize digits = 0, at;
	WpHttp1Line branch;
	while (digits < sequence->length && g_ascii_isdigit(sequence->data[digits]))
		digits++;
	for (at = digits; at < sequence->length && g_ascii_isspace(sequence->data[at]);)
		at++;
	id = hash(id, sequence->data, digits);
	id = hash(id, sequence->data + at, sequence->length - at);
	id = hash(id, head->call.data, head->call.length);
	if (head->via.data && find_parameter(&head->via, "branch=", &branch))
		id = hash(id, branch.data, branch.length);
	head->callid = id;
}

/*
 * The head at the front of IN, to its empty line, or as far as it goes where IS_CUT. BAD also where what
 * names the transaction is not there.
 */
static WpDecodeStatus
read_head(WpBytes in, gboolean is_cut, Head *out)
{
	WpHttp1Line line;
	WpDecodeStatus status = wp_http1_take_line(&in, &line);
	*out = (Head){ 0 };
	if (status != WP_DECODE_OK)
		return status;
	if (!parse_first(&line, out))
		return WP_DECODE_BAD;
	while ((status = wp_http1_take_line(&in, &line)) == WP_DECODE_OK && line.length)
		if (!note_field(out, &line))
			return WP_DECODE_BAD;
	if (status == WP_DECODE_BAD || (status == WP_DECODE_MORE && !is_cut))
		return status;
	out->bytes = in.at;
	if (!out->call.length || !out->sequence.length)
		return WP_DECODE_BAD;
	set_callid(out);
	return WP_DECODE_OK;
}

/* --- messages --- */

static Transaction *
find_recent(State *state, guint64 callid)
{
	for (guint i = 0; i < MIN(state->n_recent, MAX_RECENT); i++)
		if (state->recent[i].callid == callid)
			return &state->recent[i];
	return NULL;
}

static void
remember(State *state, guint64 callid)
{
	state->recent[state->n_recent % MAX_RECENT] = (Transaction){ callid, FALSE };
	if (++state->n_recent == 2 * MAX_RECENT)
		state->n_recent = MAX_RECENT;
}

/* FALSE where the request was seen before. */
static gboolean
describe_request(State *state, WpDecodeContext *context, const Head *head, WpMessage *message)
{
	const char *method = head->method ? head->method : "(other)";
	if (find_recent(state, head->callid)) {
		wp_decode_count(context, WP_COUNT_CALLS_REPEATED);
		return FALSE;
	}
	remember(state, head->callid);
	message->kind = strcmp(method, "ACK") == 0 ? WP_KIND_MESSAGE : WP_KIND_CALL;
	message->callid = head->callid;
	message->label = wp_decode_label(context, method, strlen(method));
	if (strcmp(method, "INVITE") == 0 && !head->has_tag)
		message->marks = WP_MARK_WAIT;
	wp_decode_ids(context, message, (const guint8 *)head->call.data, head->call.length);
	return TRUE;
}

/* FALSE where the response is no end of a transaction. */
static gboolean
describe_response(State *state, WpDecodeContext *context, const Head *head, WpMessage *message)
{
	Transaction *transaction = find_recent(state, head->callid);
	if (head->code < 200)
		return FALSE;
	if (transaction && transaction->is_answered) {
		wp_decode_count(context, WP_COUNT_RETURNS_REPEATED);
		return FALSE;
	}
	if (transaction)
		transaction->is_answered = TRUE;
	message->kind = WP_KIND_RETURN;
	message->callid = head->callid;
	message->status =
		(guint8)(head->code >= 600 ? WP_STATUS_ERROR : wp_http_status(head->code));
	return TRUE;
}

/* Bytes of line ends at the front, which keep a flow open (RFC 5626 section 3.5.1). */
static gsize
count_blanks(const WpBytes *in)
{
	gsize n = 0;
	while (n < in->length && (in->data[n] == '\r' || in->data[n] == '\n'))
		n++;
	return n;
}

/* Whether the empty line that ends a head is among IN; not before SCANNED, where it was looked for. */
static gboolean
has_end(const WpBytes *in, gsize scanned)
{
	const guint8 *end = in->data + in->length;
	const guint8 *at = in->data + (scanned > 2 ? scanned - 2 : 0);
	while ((at = memchr(at, '\n', (gsize)(end - at))) != NULL) {
		at++;
		const guint8 *next = at < end && *at == '\r' ? at + 1 : at;
		if (next < end && *next == '\n')
			return TRUE;
	}
	return FALSE;
}

static WpDecodeStatus
sip_decode(void *data, WpDecodeContext *context, WpDirection direction, WpBytes in, WpUnit *unit)
{
	State *state = data;
	WpMessage *message = &state->messages[direction];
	Head head;
	unit->length = count_blanks(&in);
	if (unit->length > 0)
		return WP_DECODE_OK;
	gboolean is_datagram = wp_decode_is_datagram(context);
	gboolean is_cut = wp_decode_is_cut(context) && is_datagram;
	gsize *scanned = &state->scanned[direction];
	gboolean may_end = *scanned == 0 || is_cut || has_end(&in, *scanned);
	WpDecodeStatus status = may_end ? read_head(in, is_cut, &head) : WP_DECODE_MORE;
	*scanned = status == WP_DECODE_MORE && !is_datagram ? in.length : 0;
	if (status != WP_DECODE_OK)
		return status;
	unit->length = head.bytes + (gsize)head.body;
	if (head.code ? describe_response(state, context, &head, message)
		      : describe_request(state, context, &head, message))
		unit->opens = unit->extends = unit->emits = message;
	return WP_DECODE_OK;
}

static void
sip_lost(void *data, WpDecodeContext *context, WpDirection direction)
{
	((State *)data)->scanned[direction] = 0;
}

/* --- detection --- */

static WpDecodeStatus
begins(WpBytes in, gboolean *out_is_request)
{
	WpHttp1Line line;
	Head head = { 0 };
	*out_is_request = FALSE;
	WpDecodeStatus status = wp_http1_take_line(&in, &line);
	if (status == WP_DECODE_OK) {
		*out_is_request = line.length > 3 && line.data[3] != '/';
		return parse_first(&line, &head) ? WP_DECODE_OK : WP_DECODE_BAD;
	}
	gsize n = 0;
	while (n < in.length && is_method_byte((char)in.data[n]))
		n++;
	gboolean is_response = memcmp(in.data, version, MIN(in.length, sizeof version - 1)) == 0;
	gboolean may_become = n == in.length || (n >= 3 && in.data[n] == ' ');
	return status == WP_DECODE_MORE && (is_response || may_become) && n <= METHOD_MAX &&
			       in.length < 1024
		       ? WP_DECODE_MORE
		       : WP_DECODE_BAD;
}

static WpDecodeStatus
sip_sync(void *state, WpDecodeContext *context, WpDirection direction, WpBytes in)
{
	gboolean is_request;
	return begins(in, &is_request);
}

/* Both sides may ask; the client is who asks first. */
static WpProbeVerdict
sip_probe(const WpProbe *probe)
{
	gboolean client_asks, server_asks;
	WpDecodeStatus client = begins(probe->client, &client_asks);
	WpDecodeStatus server = begins(probe->server, &server_asks);
	WpProbeVerdict by_client = client_asks ? WP_PROBE_SURE : WP_PROBE_LIKELY;
	WpProbeVerdict by_server = server_asks ? WP_PROBE_LIKELY : WP_PROBE_SURE;
	return wp_probe_verdict(probe, client, server,
				(WpProbeVerdicts){ by_client, by_server, WP_PROBE_SURE });
}

static const guint16 sip_ports[] = { 5060, 5080, 0 };

const WpDecoder wp_decoder_sip = {
	.name = "sip",
	.summary = "SIP over UDP and TCP",
	.transports = WP_TRANSPORT_TCP | WP_TRANSPORT_UDP,
	.ports = sip_ports,
	.by_callid = TRUE,
	.state_size = sizeof(State),
	.probe = sip_probe,
	.decode = sip_decode,
	.sync = sip_sync,
	.lost = sip_lost,
};
