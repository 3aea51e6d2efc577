/*
 * DNS (RFC 1035, EDNS RFC 6891), over UDP and, with a length before each message, over TCP (4.2.2).
 *
 *      |id|flags, opcode, rcode|counts: questions, answers, authorities, others|question|records..
 *
 * An answer repeats the id and the question. Ids have 16 bits and are used again at once, so a call is
 * known by both. An answer "no such name" (NXDOMAIN) is an answer and no error; SERVFAIL, REFUSED and
 * the like are errors. Address records give the names of nodes: as asked, whatever aliases lie between.
 * Multicast DNS (RFC 6762) and LLMNR (RFC 4795) answer from other addresses than were asked: one way.
 */
#include <string.h>

#include "capture/decoder.h"
#include "capture/decoders.h"
#include "capture/dns-message.h"
#include "capture/label.h"
#include "capture/probe.h"

/* Of a message over TCP (at most 65535 bytes) so much is looked at, answers included. */
#define LOOKED_AT 8192

/* Questions remembered for answers that do not repeat them. */
#define N_RECENT 16

#define PORT_MDNS  5353
#define PORT_LLMNR 5355

typedef struct {
	WpMessage messages[2];
	guint64 recent[N_RECENT]; /* calls' ids */
	guint n_recent;
	WpMessage zone; /* the return of a transfer (AXFR, IXFR), of several messages */
} DnsState;

/* --- ids and labels --- */

/* Id and question: FNV-1a over the question above the 16 bits of the id; of a cut one the id alone. */
static guint64
callid_of(const WpDnsMessage *dns)
{
	if (dns->is_unread)
		return dns->id;
	guint64 hash = G_GUINT64_CONSTANT(0xcbf29ce484222325);
	for (gsize i = 0; i < dns->question.length; i++)
		hash = (hash ^ (guint8)dns->question.text[i]) * G_GUINT64_CONSTANT(0x100000001b3);
	hash = (hash ^ dns->type) * G_GUINT64_CONSTANT(0x100000001b3);
	hash = (hash ^ dns->class) * G_GUINT64_CONSTANT(0x100000001b3);
	return hash << 16 | dns->id;
}

static gboolean
is_recent(const DnsState *state, guint64 callid)
{
	for (guint i = 0; i < MIN(state->n_recent, N_RECENT); i++)
		if (state->recent[i] == callid)
			return TRUE;
	return FALSE;
}

/* The id of the call that an answer without a question is to: the latest with its 16 bits. */
static guint64
recent_callid(const DnsState *state, guint16 id)
{
	for (guint i = 1; i <= MIN(state->n_recent, N_RECENT); i++) {
		guint64 callid = state->recent[(state->n_recent - i) % N_RECENT];
		if ((callid & 0xffff) == id)
			return callid;
	}
	return id;
}

/*
 * The id of the call that an answer is to. Where nobody asked its question lately, and it was cut off in one of the two,
 * the 16 bits tell. Not where both can be read: then the call was lost, and its 16 bits are another's by now. (Some who
 * answer change the question; less is lost by not pairing these.) Nor for the answer to a question that was asked: it came
 * twice.
 */
static guint64
answered_callid(const DnsState *state, WpDecodeContext *context, const WpDnsMessage *dns)
{
	guint64 latest = recent_callid(state, dns->id);
	guint32 note;
	if (dns->n_questions == 0)
		return latest;
	guint64 callid = callid_of(dns);
	gboolean is_cut = dns->is_unread || latest == dns->id;
	if (!is_cut || wp_decode_pending_callid(context, callid, &note) ||
	    is_recent(state, callid) || !wp_decode_pending_callid(context, latest, &note))
		return callid;
	return latest;
}

/* "A {}.spam.lan", "NOTIFY example.org" */
static guint32
label_of(WpDecodeContext *context, const char *prefix, const WpDnsMessage *dns)
{
	char label[WP_LABEL_MAX];
	char number[16];
	if (dns->is_unread)
		return 0;
	const char *what = wp_dns_opcode_name(dns->opcode);
	if (what == NULL)
		what = wp_dns_type_name(dns->type);
	if (what == NULL) {
		g_snprintf(number, sizeof number, "TYPE%u", dns->type);
		what = number;
	}
	gsize n = (gsize)g_snprintf(label, sizeof label, "%s%s ", prefix, what);
	if (dns->question.length == 0)
		label[n++] = '.';
	else
		n += wp_label_name(dns->question.text, dns->question.length, label + n,
				   sizeof label - n);
	return wp_decode_label(context, label, n);
}

/* --- messages --- */

/*
 * A name that anything may stand in front of (a wildcard) is asked for with a nonce or a customer's
 * number; what names the node is the rest. Of "e06cf6f08caab80d.db.lan" that is "db.lan".
 */
static const char *
skip_values(const char *name)
{
	for (;;) {
		char label[8];
		const char *dot = strchr(name, '.');
		if (dot == NULL || strchr(dot + 1, '.') == NULL)
			return name;
		wp_label_name(name, (gsize)(dot - name), label, sizeof label);
		if (strcmp(label, "{}") != 0)
			return name;
		name = dot + 1;
	}
}

static void
name_addresses(WpDecodeContext *context, const WpDnsMessage *dns)
{
	WpDnsAddress found[8];
	guint n = wp_dns_addresses(dns, found, G_N_ELEMENTS(found));
	const char *name = skip_values(dns->question.text);
	for (guint i = 0; i < n; i++)
		wp_decode_name_address(context, found[i].bytes, name, strlen(name));
}

static void
describe_query(DnsState *state, WpDecodeContext *context, const WpDnsMessage *dns,
	       WpMessage *message)
{
	message->kind = WP_KIND_CALL;
	message->callid = callid_of(dns);
	message->label = label_of(context, "", dns);
	wp_decode_tokens(context, message, (const guint8 *)dns->question.text,
			 dns->question.length);
	state->recent[state->n_recent++ % N_RECENT] = message->callid;
	if (state->n_recent == 2 * N_RECENT)
		state->n_recent = N_RECENT;
}

static void
describe_answer(DnsState *state, WpDecodeContext *context, const WpDnsMessage *dns,
		WpMessage *message)
{
	message->kind = WP_KIND_RETURN;
	message->callid = answered_callid(state, context, dns);
	message->status = wp_dns_is_error(dns) ? WP_STATUS_ERROR : WP_STATUS_OK;
	name_addresses(context, dns);
}

static gboolean
is_one_way(WpDecodeContext *context)
{
	guint16 port = wp_decode_server_port(context);
	return wp_decode_is_datagram(context) && (port == PORT_MDNS || port == PORT_LLMNR);
}

/* DNS is parsed and sound. */
static void
describe(DnsState *state, WpDecodeContext *context, const WpDnsMessage *dns, WpMessage *message)
{
	if (is_one_way(context)) {
		message->kind = WP_KIND_MESSAGE;
		message->status = dns->is_answer ? WP_STATUS_OK : WP_STATUS_UNKNOWN;
		message->label = label_of(context, dns->is_answer ? "answer " : "", dns);
	} else if (dns->is_answer) {
		describe_answer(state, context, dns, message);
	} else {
		describe_query(state, context, dns, message);
	}
}

static WpDecodeStatus
decode_datagram(DnsState *state, WpDecodeContext *context, WpDirection direction, WpBytes in,
		WpUnit *unit)
{
	WpDnsMessage dns;
	WpMessage *message = &state->messages[direction];
	gboolean is_sound =
		wp_decode_is_cut(context) ? wp_dns_parse_cut(in, &dns) : wp_dns_parse(in, &dns);
	if (!is_sound)
		return WP_DECODE_BAD;
	describe(state, context, &dns, message);
	unit->length = in.length;
	unit->opens = unit->emits = message;
	return WP_DECODE_OK;
}

/*
 * A zone comes in as many messages as it takes, all with one id; only its last record tells that it was
 * the last. So the return is held until something else is transferred, or the server's end.
 */
static void
extend_zone(DnsState *state, WpDecodeContext *context, const WpDnsMessage *dns, WpUnit *unit)
{
	WpMessage *zone = &state->zone;
	gboolean is_named = dns->n_questions > 0 && !dns->is_unread && zone->callid != dns->id;
	if (zone->is_open &&
	    (is_named ? zone->callid == callid_of(dns) : (zone->callid & 0xffff) == dns->id)) {
		unit->extends = zone;
		return;
	}
	if (zone->is_open)
		wp_decode_emit(context, zone);
	describe(state, context, dns, zone);
	unit->opens = zone;
}

static gboolean
is_of_zone(const DnsState *state, const WpDnsMessage *dns)
{
	if (!dns->is_answer)
		return FALSE;
	if (dns->is_unread) /* which may be one */
		return TRUE;
	if (dns->n_questions > 0)
		return wp_dns_is_transfer(dns);
	return state->zone.is_open && (state->zone.callid & 0xffff) == dns->id;
}

static WpDecodeStatus
decode_stream(DnsState *state, WpDecodeContext *context, WpDirection direction, WpBytes in,
	      WpUnit *unit)
{
	WpDnsMessage dns;
	WpMessage *message = &state->messages[direction];
	gsize length = wp_bytes_be16(&in);
	if (in.failed)
		return WP_DECODE_MORE;
	if (length < WP_DNS_HEADER_BYTES)
		return WP_DECODE_BAD;
	gsize shown = MIN(length, LOOKED_AT);
	if (wp_bytes_left(&in) < shown && !wp_decode_is_cut(context)) {
		unit->need = 2 + shown;
		return WP_DECODE_MORE;
	}
	gboolean is_cut = wp_bytes_left(&in) < shown;
	shown = MIN(shown, wp_bytes_left(&in));
	WpBytes message_in = wp_bytes(wp_bytes_take(&in, shown), shown);
	if (!(is_cut ? wp_dns_parse_cut(message_in, &dns) : wp_dns_parse(message_in, &dns)))
		return WP_DECODE_BAD;
	unit->length = 2 + length;
	if (is_of_zone(state, &dns)) {
		extend_zone(state, context, &dns, unit);
		return WP_DECODE_OK;
	}
	describe(state, context, &dns, message);
	unit->opens = unit->emits = message;
	return WP_DECODE_OK;
}

static WpDecodeStatus
dns_decode(void *state, WpDecodeContext *context, WpDirection direction, WpBytes in,
	   WpUnit *out_unit)
{
	if (wp_decode_is_datagram(context))
		return decode_datagram(state, context, direction, in, out_unit);
	return decode_stream(state, context, direction, in, out_unit);
}

static void
dns_lost(void *opaque, WpDecodeContext *context, WpDirection direction)
{
	DnsState *state = opaque;
	memset(&state->messages[direction], 0, sizeof(WpMessage));
	if (direction == WP_FROM_SERVER)
		memset(&state->zone, 0, sizeof(WpMessage));
}

static void
dns_finish(void *opaque, WpDecodeContext *context, WpDirection direction, WpFinish how,
	   WpUnit *out_unit)
{
	DnsState *state = opaque;
	if (direction == WP_FROM_SERVER && state->zone.is_open)
		out_unit->emits = &state->zone;
}

/* Is a sound message that the capture cut at the front of IN? ANSWER: as below. */
static WpDecodeStatus
begins_cut(WpBytes in, int answer, WpDnsMessage *out_dns)
{
	if (in.length == 0)
		return WP_DECODE_MORE;
	gboolean is_sound = wp_dns_parse_cut(in, out_dns);
	return is_sound && (answer < 0 || out_dns->is_answer == answer) ? WP_DECODE_OK
									: WP_DECODE_BAD;
}

/*
 * Is a sound message at the front of IN? ANSWER: 0 or 1, -1 either. EXACT: with all its records. IS_CUT: over TCP, no
 * more will come of it.
 */
static WpDecodeStatus
begins(WpBytes in, gboolean is_udp, gboolean is_cut, int answer, gboolean exact,
       WpDnsMessage *out_dns)
{
	gsize length = in.length;
	if (!is_udp) {
		length = wp_bytes_be16(&in);
		if (in.failed)
			return WP_DECODE_MORE;
		if (length < WP_DNS_HEADER_BYTES)
			return WP_DECODE_BAD;
	}
	gsize shown = MIN(MIN(length, LOOKED_AT), wp_bytes_left(&in));
	WpBytes message = wp_bytes(wp_bytes_take(&in, shown), shown);
	if (!wp_dns_header_is_sound(message))
		return WP_DECODE_BAD;
	if (shown < MIN(length, LOOKED_AT))
		return is_cut ? begins_cut(message, answer, out_dns) : WP_DECODE_MORE;
	if (!wp_dns_parse(message, out_dns) || (answer >= 0 && out_dns->is_answer != answer))
		return WP_DECODE_BAD;
	return shown < length || !exact || wp_dns_is_exact(out_dns) ? WP_DECODE_OK : WP_DECODE_BAD;
}

static WpDecodeStatus
dns_sync(void *state, WpDecodeContext *context, WpDirection direction, WpBytes in)
{
	WpDnsMessage dns;
	return begins(in, wp_decode_is_datagram(context), wp_decode_is_cut(context),
		      direction == WP_FROM_SERVER, TRUE, &dns);
}

static gboolean
is_multicast(const WpProbe *probe)
{
	return probe->is_udp &&
	       (probe->server_port == PORT_MDNS || probe->server_port == PORT_LLMNR);
}

static WpDecodeStatus
side_begins(const WpProbe *probe, WpBytes in, int answer, gboolean exact, WpDnsMessage *out_dns)
{
	return probe->is_udp && probe->is_cut
		       ? begins_cut(in, answer, out_dns)
		       : begins(in, probe->is_udp, probe->is_cut, answer, exact, out_dns);
}

static WpProbeVerdict
dns_probe(const WpProbe *probe)
{
	WpDnsMessage query = { 0 }, reply = { 0 };
	gboolean has_client = probe->client.length > 0, has_server = probe->server.length > 0;
	WpDecodeStatus client =
		side_begins(probe, probe->client, is_multicast(probe) ? -1 : 0, TRUE, &query);
	/* Beside a query an answer may be cut by the capture; of a query, what stands behind the question. */
	WpDecodeStatus server = side_begins(probe, probe->server, 1, !has_client, &reply);

	if ((has_client && client == WP_DECODE_BAD) || (has_server && server == WP_DECODE_BAD))
		return WP_PROBE_NO; /* in mid-stream as well: connections are short */
	gboolean is_pair = client == WP_DECODE_OK && server == WP_DECODE_OK && query.id == reply.id;
	return wp_probe_verdict(
		probe, client, server,
		(WpProbeVerdicts){
			.client = query.is_unread ? WP_PROBE_MAYBE : WP_PROBE_LIKELY,
			.server = reply.is_unread ? WP_PROBE_MAYBE : WP_PROBE_LIKELY,
			.both = is_pair ? WP_PROBE_SURE : WP_PROBE_LIKELY,
		});
}

static const guint16 dns_ports[] = { 53, PORT_MDNS, PORT_LLMNR, 0 };

const WpDecoder wp_decoder_dns = {
	.name = "dns",
	.summary = "DNS over UDP and TCP, multicast DNS, LLMNR",
	.transports = WP_TRANSPORT_TCP | WP_TRANSPORT_UDP,
	.ports = dns_ports,
	.by_callid = TRUE,
	.state_size = sizeof(DnsState),
	.probe = dns_probe,
	.decode = dns_decode,
	.sync = dns_sync,
	.lost = dns_lost,
	.finish = dns_finish,
};
