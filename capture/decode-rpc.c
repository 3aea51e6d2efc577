/*
 * ONC RPC version 2 (RFC 5531), over UDP and, with record marking (section 11), over TCP.
 *
 *      TCP   |mark: last?, length|xid|0 = call |2|program|version|procedure|credentials|verifier|arguments
 *                                |xid|1 = reply|0|verifier|accept_stat|result
 *                                              |1|reject_stat
 *
 * A message is one or more fragments, each with a mark. What is needed stands in the first bytes, so a
 * message whose first fragment holds them (nearly all) is one unit a fragment and the rest is skipped by
 * length; small fragments are put together for the look at the head. Either end may call (NFSv4.0
 * callbacks have their own connection, those of 4.1 come back on the client's).
 *
 * Status: anything but SUCCESS is an error, and so is a result whose own first word says so (NFS, mount,
 * NLM). NFS3ERR_NOENT and the like count as errors, as 404 does in HTTP.
 */
#include <stdio.h>
#include <string.h>

#include "capture/decoder.h"
#include "capture/decoders.h"
#include "capture/probe.h"
#include "capture/rpc-names.h"

/* Bytes of the arguments that are looked at: room for the steps of a COMPOUND before its work. */
#define ARGS_LOOKED_AT 512

/* RFC 5531 8.2: the body of credentials and verifiers. */
#define AUTH_MAX 400

/* The longest head: call header, credentials, verifier, arguments. */
#define HEAD_MAX (24 + 2 * (8 + AUTH_MAX) + ARGS_LOOKED_AT)

/* Far above what any server takes (NFS: 1 MiB of data); a longer fragment is no fragment. */
#define FRAGMENT_MAX (64u * 1024 * 1024)

#define CALL_HEADER_BYTES 24
#define SMALLEST_MESSAGE  12

/* The longest string among arguments that is taken for a token's home, and the shortest. */
#define STRING_MIN 4
#define STRING_MAX 64

enum {
	RPC_CALL = 0,
	RPC_REPLY = 1,
	RPC_VERSION = 2
};

/* Authentication flavors that are in use (IANA "RPC Authentication Numbers"). */
enum {
	AUTH_NONE,
	AUTH_SYS,
	AUTH_SHORT,
	AUTH_DH,
	AUTH_GSS = 6,
	AUTH_TLS = 7
};

typedef struct {
	WpMessage message;
	gboolean goes_on; /* the last fragment of it has yet to come */
} RpcSide;

typedef struct {
	RpcSide side[2];
} RpcState;

/* The head of one message. */
typedef struct {
	guint32 xid;
	guint32 type;
	guint32 program; /* calls */
	guint32 version;
	guint32 procedure;
	guint32 flavor;        /* of the credentials; replies: of the verifier */
	guint32 gss_procedure; /* of RPCSEC_GSS credentials: not 0 = sets up a context */
	guint32 gss_service;   /* 1 none, 2 integrity, 3 privacy */
	gboolean starts_tls;   /* replies: TLS follows (RFC 9289 4.1) */
	gboolean is_error;     /* replies: rejected, or not accepted with SUCCESS */
	gsize body_at;         /* arguments or result */
} RpcHead;

/* The body of RPCSEC_GSS credentials (RFC 2203 5.3.1). */
static void
parse_gss(WpBytes body, RpcHead *head)
{
	wp_bytes_be32(&body); /* version */
	head->gss_procedure = wp_bytes_be32(&body);
	wp_bytes_be32(&body); /* sequence number */
	head->gss_service = wp_bytes_be32(&body);
}

static WpDecodeStatus
parse_call(WpBytes *in, RpcHead *head)
{
	guint32 rpc_version = wp_bytes_be32(in);
	if (!in->failed && rpc_version != RPC_VERSION)
		return WP_DECODE_BAD;
	head->program = wp_bytes_be32(in);
	head->version = wp_bytes_be32(in);
	head->procedure = wp_bytes_be32(in);
	head->flavor = wp_bytes_be32(in);
	guint32 length = wp_bytes_be32(in);
	if (length > AUTH_MAX)
		return WP_DECODE_BAD;
	const guint8 *body = wp_bytes_take(in, length + (-length & 3));
	if (body && head->flavor == AUTH_GSS)
		parse_gss(wp_bytes(body, length), head);
	wp_bytes_be32(in); /* flavor of the verifier */
	length = wp_bytes_be32(in);
	if (length > AUTH_MAX)
		return WP_DECODE_BAD;
	wp_bytes_skip(in, length + (-length & 3));
	return in->failed ? WP_DECODE_MORE : WP_DECODE_OK;
}

static WpDecodeStatus
parse_reply(WpBytes *in, RpcHead *head)
{
	guint32 reply_stat = wp_bytes_be32(in);
	if (reply_stat > 1)
		return WP_DECODE_BAD;
	if (reply_stat == 1) {
		guint32 reject_stat = wp_bytes_be32(in);
		head->is_error = TRUE;
		if (reject_stat > 1)
			return WP_DECODE_BAD;
		return in->failed ? WP_DECODE_MORE : WP_DECODE_OK;
	}
	head->flavor = wp_bytes_be32(in);
	guint32 length = wp_bytes_be32(in);
	if (length > AUTH_MAX)
		return WP_DECODE_BAD;
	const guint8 *verifier = wp_bytes_take(in, length + (-length & 3));
	head->starts_tls = verifier && length == 8 && memcmp(verifier, "STARTTLS", 8) == 0;
	guint32 accept_stat = wp_bytes_be32(in);
	head->is_error = accept_stat != 0;
	if (accept_stat > 5)
		return WP_DECODE_BAD;
	return in->failed ? WP_DECODE_MORE : WP_DECODE_OK;
}

/* IN begins with a message. MORE: what is there may be the begin of one. */
static WpDecodeStatus
parse_head(WpBytes in, RpcHead *out_head)
{
	RpcHead head = { 0 };
	WpDecodeStatus status = WP_DECODE_MORE;
	head.xid = wp_bytes_be32(&in);
	head.type = wp_bytes_be32(&in);
	if (in.failed)
		return status;
	if (head.type == RPC_CALL)
		status = parse_call(&in, &head);
	else if (head.type == RPC_REPLY)
		status = parse_reply(&in, &head);
	else
		return WP_DECODE_BAD;
	head.body_at = in.at;
	*out_head = head; /* of a part: what it tells */
	return status;
}

/*
 * The note of a call tells what its result looks like: row of the program and 1, procedure, and
 * whether the result is wrapped (RPCSEC_GSS).
 */
static guint32
note_of(const RpcHead *head, const WpRpcProgram *program)
{
	if (program == NULL || head->gss_service > 1)
		return 0;
	return (wp_rpc_program_index(program) + 1) << 8 | MIN(head->procedure, 255);
}

static gboolean
result_is_error(guint32 note, WpBytes result)
{
	const WpRpcProgram *program = note ? wp_rpc_program_at((note >> 8) - 1) : NULL;
	guint procedure = note & 255;
	if (program == NULL || procedure > 63 || !(program->results >> procedure & 1))
		return FALSE;
	if (program->result == WP_RPC_RESULT_COOKIE) {
		guint32 length = wp_bytes_be32(&result);
		wp_bytes_skip(&result, (gsize)length + (-length & 3));
		guint32 status = wp_bytes_be32(&result);
		return !result.failed && status != 0 && status != 3; /* 3: NLM's "blocked, wait" */
	}
	guint32 status = wp_bytes_be32(&result);
	return !result.failed && status != 0;
}

/* Room for the cookie before the status of a result. */
#define RESULT_LOOKED_AT 72

/* Bytes of the message that the answer about it rests on; with fewer it is MORE. */
static gsize
bytes_wanted(WpDecodeContext *context, const RpcHead *head)
{
	guint32 note = 0;
	if (head->type == RPC_CALL)
		return head->body_at + ARGS_LOOKED_AT;
	if (head->is_error || !wp_decode_pending_callid(context, head->xid, &note) || note == 0)
		return head->body_at;
	return head->body_at + RESULT_LOOKED_AT;
}

/* XDR strings (a length, printable bytes, zeros up to a multiple of four) hold what a program passes on;
 * file handles and numbers are no tokens. */
static void
scan_strings(WpDecodeContext *context, WpMessage *message, WpBytes args)
{
	while (wp_bytes_left(&args) >= 4 + STRING_MIN) {
		WpBytes at = args;
		guint32 length = wp_bytes_be32(&at);
		wp_bytes_skip(&args, 4);
		if (length < STRING_MIN || length > STRING_MAX)
			continue;
		const guint8 *text = wp_bytes_take(&at, length + (-length & 3));
		gboolean is_text = text != NULL;
		for (guint32 i = 0; is_text && i < length + (-length & 3); i++)
			is_text = i < length ? text[i] >= 0x20 && text[i] < 0x7f : text[i] == 0;
		if (!is_text)
			continue;
		wp_decode_tokens(context, message, text, length);
		args = at;
	}
}

/* A label that is put together; printf would take longer than all the rest of a call. */
typedef struct {
	char text[WP_LABEL_MAX];
	gsize length;
} Label;

static void
put_text(Label *label, const char *text)
{
	gsize n = MIN(strlen(text), sizeof label->text - label->length);
	memcpy(label->text + label->length, text, n);
	label->length += n;
}

static void
put_number(Label *label, guint32 number)
{
	char digits[11], *at = digits + sizeof digits - 1;

	*at = '\0';
	do
		*--at = (char)('0' + number % 10);
	while (number /= 10);
	put_text(label, at);
}

/* "nfs.READ", "nfs.proc99", "rpc.100099.v3.proc7"; ARGS stands at the arguments. */
static void
name_call(const RpcHead *head, const WpRpcProgram *program, WpBytes args, Label *label,
	  gboolean *out_setup)
{
	*out_setup = FALSE;
	if (program) {
		put_text(label, program->name);
		put_text(label, ".");
	} else {
		put_text(label, "rpc.");
		put_number(label, head->program);
		put_text(label, ".v");
		put_number(label, head->version);
		put_text(label, ".");
	}
	if (program && program->args && head->procedure == 1 && head->gss_service < 3) {
		put_text(label, wp_rpc_compound_name(program->args, args, out_setup));
	} else if (program && head->procedure < program->n_procedures) {
		put_text(label, program->procedures[head->procedure]);
		*out_setup = head->procedure == 0;
	} else {
		put_text(label, "proc");
		put_number(label, head->procedure);
	}
}

static void
describe_call(WpDecodeContext *context, const RpcHead *head, WpBytes args, WpMessage *message)
{
	const WpRpcProgram *program = wp_rpc_program_find(head->program, head->version);
	Label label = { .length = 0 };
	gboolean setup;

	if (program && program->args && head->procedure == 1 && head->gss_service == 2)
		wp_bytes_skip(&args, 8); /* length and sequence number (RFC 2203 5.3.2.2) */
	name_call(head, program, args, &label, &setup);
	message->kind = WP_KIND_CALL;
	message->label = wp_decode_label(context, label.text, label.length);
	message->note = note_of(head, program);
	if (setup || head->gss_procedure != 0)
		message->marks = WP_MARK_SETUP;
	else if (head->gss_service < 3)
		scan_strings(context, message, args);
}

static void
describe_reply(WpDecodeContext *context, const RpcHead *head, WpBytes result, WpMessage *message)
{
	guint32 note = 0;
	message->kind = WP_KIND_RETURN;
	message->status = WP_STATUS_OK;
	if (head->is_error)
		message->status = WP_STATUS_ERROR;
	else if (wp_decode_pending_callid(context, head->xid, &note) &&
		 result_is_error(note, result))
		message->status = WP_STATUS_ERROR;
}

/* What there will be of a message beyond the bytes at hand. */
typedef enum {
	MORE_COMES,
	ALL_IS_HERE,
	REST_IS_LOST /* cut by the capture */
} Rest;

/*
 * MESSAGE from its first bytes. MORE where a decision taken now could differ from one taken with more
 * bytes. Of a call that is cut, the header alone will do.
 */
static WpDecodeStatus
describe(WpDecodeContext *context, WpBytes bytes, Rest rest, WpMessage *message, WpUnit *unit)
{
	RpcHead head;
	WpDecodeStatus status = parse_head(bytes, &head);
	if (status == WP_DECODE_MORE && rest != MORE_COMES) {
		if (rest == ALL_IS_HERE || bytes.length < CALL_HEADER_BYTES ||
		    head.type != RPC_CALL)
			return WP_DECODE_BAD;
		head.body_at = bytes.length;
	} else if (status != WP_DECODE_OK) {
		return status;
	}
	gsize wanted = bytes_wanted(context, &head);
	if (rest == MORE_COMES && bytes.length < wanted)
		return WP_DECODE_MORE;
	WpBytes body = wp_bytes(bytes.data, MIN(bytes.length, wanted));
	wp_bytes_skip(&body, head.body_at);
	if (head.type == RPC_CALL)
		describe_call(context, &head, body, message);
	else
		describe_reply(context, &head, body, message);
	message->callid = head.xid;
	if (head.starts_tls)
		unit->becomes = &wp_decoder_tls;
	return WP_DECODE_OK;
}

/* One record mark. FALSE where it is not there in full. */
static gboolean
read_mark(WpBytes *in, guint32 *out_length, gboolean *out_is_last)
{
	guint32 mark = wp_bytes_be32(in);
	*out_length = mark & 0x7fffffff;
	*out_is_last = mark >> 31;
	return !in->failed;
}

static gboolean
length_is_possible(guint32 length)
{
	return length > 0 && length <= FRAGMENT_MAX;
}

/* The first fragments of a message: their head put together, and where they end. */
typedef struct {
	guint8 bytes[HEAD_MAX];
	gsize n;
	gsize end;         /* of the last fragment begun, from the start of the unit */
	gboolean is_last;  /* that fragment is the message's last */
	gboolean is_whole; /* the bytes are all of the message */
} Gathered;

static WpDecodeStatus
gather(WpBytes in, Gathered *out)
{
	gboolean is_last = FALSE;
	out->n = out->end = 0;
	out->is_whole = FALSE;
	while (!is_last && out->n < HEAD_MAX) {
		guint32 length;
		if (!read_mark(&in, &length, &is_last))
			return out->n > 0 ? WP_DECODE_OK : WP_DECODE_MORE;
		if (!length_is_possible(length))
			return WP_DECODE_BAD;
		out->end = in.at + (gsize)length;
		out->is_last = is_last;
		gsize n = MIN(MIN(length, wp_bytes_left(&in)), HEAD_MAX - out->n);
		memcpy(out->bytes + out->n, wp_bytes_take(&in, n), n);
		out->n += n;
		out->is_whole = is_last && n == length;
		if (n < length)
			return WP_DECODE_OK;
	}
	return WP_DECODE_OK;
}

/* A message whose first fragment does not hold what is to be known of it. */
static WpDecodeStatus
decode_scattered(RpcSide *side, WpDecodeContext *context, WpBytes in, WpUnit *unit)
{
	Gathered gathered;
	WpDecodeStatus status = gather(in, &gathered);
	if (status != WP_DECODE_OK)
		return status;
	Rest rest = gathered.is_whole           ? ALL_IS_HERE
		    : wp_decode_is_cut(context) ? REST_IS_LOST
						: MORE_COMES;
	status =
		describe(context, wp_bytes(gathered.bytes, gathered.n), rest, &side->message, unit);
	if (status != WP_DECODE_OK)
		return status;
	unit->length = gathered.end;
	side->goes_on = !gathered.is_last;
	return WP_DECODE_OK;
}

static WpDecodeStatus
decode_first_fragment(RpcSide *side, WpDecodeContext *context, WpBytes in, WpUnit *unit)
{
	guint32 length;
	gboolean is_last;
	WpDecodeStatus status;
	WpBytes body = in;
	if (!read_mark(&body, &length, &is_last))
		return WP_DECODE_MORE;
	if (!length_is_possible(length) || (is_last && length < SMALLEST_MESSAGE))
		return WP_DECODE_BAD;
	gboolean is_all = wp_bytes_left(&body) >= length;
	if (is_all && !is_last && length < HEAD_MAX) {
		status = decode_scattered(side, context, in, unit);
	} else {
		Rest rest = is_all && is_last           ? ALL_IS_HERE
			    : wp_decode_is_cut(context) ? REST_IS_LOST
							: MORE_COMES;
		gsize n = MIN(wp_bytes_left(&body), length);
		status = describe(context, wp_bytes(wp_bytes_take(&body, n), n), rest,
				  &side->message, unit);
		unit->length = 4 + (gsize)length;
		side->goes_on = status == WP_DECODE_OK && !is_last;
	}
	if (status != WP_DECODE_OK)
		return status;
	unit->opens = unit->extends = &side->message;
	unit->emits = side->goes_on ? NULL : &side->message;
	return WP_DECODE_OK;
}

static WpDecodeStatus
decode_later_fragment(RpcSide *side, WpBytes in, WpUnit *unit)
{
	guint32 length;
	gboolean is_last;
	if (!read_mark(&in, &length, &is_last))
		return WP_DECODE_MORE;
	if (!length_is_possible(length))
		return WP_DECODE_BAD;
	unit->length = 4 + (gsize)length;
	unit->extends = &side->message;
	if (is_last)
		unit->emits = &side->message;
	side->goes_on = !is_last;
	return WP_DECODE_OK;
}

static WpDecodeStatus
decode_datagram(RpcSide *side, WpDecodeContext *context, WpBytes in, WpUnit *unit)
{
	Rest rest = wp_decode_is_cut(context) ? REST_IS_LOST : ALL_IS_HERE;
	WpDecodeStatus status = describe(context, in, rest, &side->message, unit);
	if (status != WP_DECODE_OK)
		return status;
	unit->length = in.length;
	unit->opens = unit->emits = &side->message;
	return WP_DECODE_OK;
}

static WpDecodeStatus
rpc_decode(void *state, WpDecodeContext *context, WpDirection direction, WpBytes in,
	   WpUnit *out_unit)
{
	RpcSide *side = &((RpcState *)state)->side[direction];
	if (wp_decode_is_datagram(context))
		return decode_datagram(side, context, in, out_unit);
	if (side->goes_on)
		return decode_later_fragment(side, in, out_unit);
	return decode_first_fragment(side, context, in, out_unit);
}

static void
rpc_lost(void *state, WpDecodeContext *context, WpDirection direction)
{
	RpcSide *side = &((RpcState *)state)->side[direction];
	memset(side, 0, sizeof *side);
}

/* Stricter than parse_head(): what a message must look like to be believed without a context. */
static gboolean
head_is_credible(const RpcHead *head)
{
	gboolean flavor_known =
		head->flavor <= AUTH_DH || head->flavor == AUTH_GSS || head->flavor == AUTH_TLS;
	if (head->type == RPC_REPLY)
		return flavor_known;
	return flavor_known && head->program != 0 && head->version < 256 && head->procedure < 4096;
}

/* Does a message of TYPE (or -1: any) begin here? IS_CUT: no more of it will come. */
static WpDecodeStatus
begins(WpBytes in, gboolean is_udp, gboolean is_cut, int type)
{
	Gathered gathered;
	gboolean is_whole = TRUE;
	if (!is_udp) {
		WpDecodeStatus status = gather(in, &gathered);
		if (status != WP_DECODE_OK)
			return status;
		in = wp_bytes(gathered.bytes, gathered.n);
		is_whole = gathered.is_whole;
	}
	RpcHead head = { 0 };
	WpDecodeStatus status = parse_head(in, &head);
	gboolean is_enough = is_cut && head.type == RPC_CALL && in.length >= CALL_HEADER_BYTES;
	if (status == WP_DECODE_MORE && is_whole && !(is_udp && is_enough))
		return WP_DECODE_BAD;
	if (status == WP_DECODE_BAD || (status == WP_DECODE_MORE && !is_enough))
		return status;
	if (!head_is_credible(&head) || (type >= 0 && head.type != (guint32)type))
		return WP_DECODE_BAD;
	return WP_DECODE_OK;
}

static WpDecodeStatus
rpc_sync(void *state, WpDecodeContext *context, WpDirection direction, WpBytes in)
{
	return begins(in, wp_decode_is_datagram(context), wp_decode_is_cut(context), -1);
}

static WpProbeVerdict
rpc_probe(const WpProbe *probe)
{
	/* A call has twelve bytes that must be zero or two. */
	return wp_probe_verdict(probe,
				begins(probe->client, probe->is_udp, probe->is_cut, RPC_CALL),
				begins(probe->server, probe->is_udp, probe->is_cut, RPC_REPLY),
				(WpProbeVerdicts){
					.client = WP_PROBE_SURE,
					.server = WP_PROBE_LIKELY,
					.both = WP_PROBE_SURE,
				});
}

static const guint16 rpc_ports[] = { 111, 2049, 20048, 0 };

const WpDecoder wp_decoder_rpc = {
	.name = "rpc",
	.summary = "ONC RPC: NFS, mount, portmap and any other program, TCP and UDP",
	.transports = WP_TRANSPORT_TCP | WP_TRANSPORT_UDP,
	.ports = rpc_ports,
	.by_callid = TRUE,
	.state_size = sizeof(RpcState),
	.probe = rpc_probe,
	.decode = rpc_decode,
	.sync = rpc_sync,
	.lost = rpc_lost,
};
