/*
 * Apache Kafka (kafka.apache.org/protocol: "The Messages").
 *
 *      request   |length|api key|api version|correlation id|client id|tagged fields (flexible)|body
 *      response  |length|correlation id|tagged fields (flexible)|body
 *
 * The correlation id pairs the two; brokers answer one connection in order. A Produce with acks = 0 has no
 * response. A Fetch waits at the broker for data, as do a share group's fetch and what a group's members
 * join and sync by. Labels are the names of the api keys, with the topic of a Produce whose version shows
 * it in the first bytes. Tokens of SASL without a head (handshake version 0, until Kafka 1.0) make no sense here
 * and are passed over.
 */
#include <string.h>

#include "capture/decoder.h"
#include "capture/decoders.h"
#include "capture/label.h"
#include "capture/probe.h"

/* Largest request (socket.request.max.bytes: 100 MiB by default) and response. */
#define MESSAGE_MAX (256u * 1024 * 1024)

/* Bytes looked at: head and the begin of the body. */
#define LOOKED_AT 512

/* Longest client id and name of a topic that are believed (topics: 249). */
#define CLIENT_MAX 1024
#define TOPIC_MAX  249

enum {
	API_PRODUCE = 0,
	API_FETCH = 1,
	API_VERSIONS = 18,
	HEAD_LEAST = 10 /* key, version, id, client */
};

enum {
	NEEDS_MEMBER_ID = 79 /* JoinGroup: every new member is told to come again with its id */
};

enum {
	NEVER = 127 /* no version is flexible */
};

typedef struct {
	const char *name; /* NULL: not in use */
	gint8 max_version;
	gint8 flexible; /* first version with tagged fields */
	guint8 marks;
} Api;

/* kafka/clients/src/main/resources/common/message/, the versions with some room for those to come. */
static const Api apis[] = {
	[0] = { "Produce", 16, 9, 0 },
	[1] = { "Fetch", 20, 12, WP_MARK_WAIT },
	[2] = { "ListOffsets", 14, 6, 0 },
	[3] = { "Metadata", 16, 9, 0 },
	[4] = { "LeaderAndIsr", 10, 4, 0 },
	[5] = { "StopReplica", 8, 2, 0 },
	[6] = { "UpdateMetadata", 12, 6, 0 },
	[7] = { "ControlledShutdown", 6, 3, 0 },
	[8] = { "OffsetCommit", 13, 8, 0 },
	[9] = { "OffsetFetch", 13, 6, 0 },
	[10] = { "FindCoordinator", 9, 3, 0 },
	[11] = { "JoinGroup", 12, 6, WP_MARK_WAIT },
	[12] = { "Heartbeat", 7, 4, 0 },
	[13] = { "LeaveGroup", 8, 4, 0 },
	[14] = { "SyncGroup", 8, 4, WP_MARK_WAIT },
	[15] = { "DescribeGroups", 9, 5, 0 },
	[16] = { "ListGroups", 8, 3, 0 },
	[17] = { "SaslHandshake", 4, NEVER, WP_MARK_SETUP },
	[18] = { "ApiVersions", 7, 3, WP_MARK_SETUP },
	[19] = { "CreateTopics", 10, 5, 0 },
	[20] = { "DeleteTopics", 9, 4, 0 },
	[21] = { "DeleteRecords", 5, 2, 0 },
	[22] = { "InitProducerId", 9, 2, 0 },
	[23] = { "OffsetForLeaderEpoch", 7, 4, 0 },
	[24] = { "AddPartitionsToTxn", 8, 3, 0 },
	[25] = { "AddOffsetsToTxn", 7, 3, 0 },
	[26] = { "EndTxn", 8, 3, 0 },
	[27] = { "WriteTxnMarkers", 5, 1, 0 },
	[28] = { "TxnOffsetCommit", 8, 3, 0 },
	[29] = { "DescribeAcls", 6, 2, 0 },
	[30] = { "CreateAcls", 6, 2, 0 },
	[31] = { "DeleteAcls", 6, 2, 0 },
	[32] = { "DescribeConfigs", 7, 4, 0 },
	[33] = { "AlterConfigs", 5, 2, 0 },
	[34] = { "AlterReplicaLogDirs", 5, 2, 0 },
	[35] = { "DescribeLogDirs", 8, 2, 0 },
	[36] = { "SaslAuthenticate", 5, 2, WP_MARK_SETUP },
	[37] = { "CreatePartitions", 6, 2, 0 },
	[38] = { "CreateDelegationToken", 6, 2, 0 },
	[39] = { "RenewDelegationToken", 5, 2, 0 },
	[40] = { "ExpireDelegationToken", 5, 2, 0 },
	[41] = { "DescribeDelegationToken", 6, 2, 0 },
	[42] = { "DeleteGroups", 5, 2, 0 },
	[43] = { "ElectLeaders", 5, 2, 0 },
	[44] = { "IncrementalAlterConfigs", 4, 1, 0 },
	[45] = { "AlterPartitionReassignments", 4, 0, 0 },
	[46] = { "ListPartitionReassignments", 3, 0, 0 },
	[47] = { "OffsetDelete", 3, NEVER, 0 },
	[48] = { "DescribeClientQuotas", 4, 1, 0 },
	[49] = { "AlterClientQuotas", 4, 1, 0 },
	[50] = { "DescribeUserScramCredentials", 3, 0, 0 },
	[51] = { "AlterUserScramCredentials", 3, 0, 0 },
	[52] = { "Vote", 5, 0, 0 },
	[53] = { "BeginQuorumEpoch", 4, 1, 0 },
	[54] = { "EndQuorumEpoch", 4, 1, 0 },
	[55] = { "DescribeQuorum", 5, 0, 0 },
	[56] = { "AlterPartition", 6, 0, 0 },
	[57] = { "UpdateFeatures", 5, 0, 0 },
	[58] = { "Envelope", 3, 0, 0 },
	[59] = { "FetchSnapshot", 4, 0, WP_MARK_WAIT },
	[60] = { "DescribeCluster", 5, 0, 0 },
	[61] = { "DescribeProducers", 3, 0, 0 },
	[62] = { "BrokerRegistration", 7, 0, 0 },
	[63] = { "BrokerHeartbeat", 4, 0, 0 },
	[64] = { "UnregisterBroker", 3, 0, 0 },
	[65] = { "DescribeTransactions", 3, 0, 0 },
	[66] = { "ListTransactions", 5, 0, 0 },
	[67] = { "AllocateProducerIds", 3, 0, 0 },
	[68] = { "ConsumerGroupHeartbeat", 4, 0, 0 },
	[69] = { "ConsumerGroupDescribe", 4, 0, 0 },
	[70] = { "ControllerRegistration", 3, 0, 0 },
	[71] = { "GetTelemetrySubscriptions", 3, 0, 0 },
	[72] = { "PushTelemetry", 3, 0, 0 },
	[73] = { "AssignReplicasToDirs", 3, 0, 0 },
	[74] = { "ListConfigResources", 4, 0, 0 },
	[75] = { "DescribeTopicPartitions", 3, 0, 0 },
	[76] = { "ShareGroupHeartbeat", 4, 0, 0 },
	[77] = { "ShareGroupDescribe", 4, 0, 0 },
	[78] = { "ShareFetch", 5, 0, WP_MARK_WAIT },
	[79] = { "ShareAcknowledge", 5, 0, 0 },
};

typedef struct {
	WpMessage message[2];
} State;

typedef struct {
	guint32 length;
	guint16 key;
	guint16 version;
	guint32 id;
	const Api *api;
} Head;

/* The note of a call: what its response looks like. */
static guint32
note_of(const Head *head)
{
	return 1u << 31 | (guint32)head->key << 8 | head->version;
}

/* --- requests --- */

static WpDecodeStatus
read_length(WpBytes *in, guint32 least, guint32 *out)
{
	*out = wp_bytes_be32(in);
	if (in->failed)
		return WP_DECODE_MORE;
	return *out >= least && *out <= MESSAGE_MAX ? WP_DECODE_OK : WP_DECODE_BAD;
}

/* What is printed of a name: anything a topic or client may be called. */
static gboolean
is_text(const guint8 *text, gsize length)
{
	for (gsize i = 0; i < length; i++)
		if (text[i] < 0x20 || text[i] == 0x7f)
			return FALSE;
	return TRUE;
}

static WpDecodeStatus
read_client(WpBytes *in, const Head *head)
{
	gint16 length = (gint16)wp_bytes_be16(in);
	gsize most = head->length - HEAD_LEAST;
	if (in->failed)
		return WP_DECODE_MORE;
	if (length < -1 || length > CLIENT_MAX || (length > 0 && (gsize)length > most))
		return WP_DECODE_BAD;
	gsize wanted = (gsize)MAX(length, 0), there = MIN(wanted, wp_bytes_left(in));
	if (!is_text(in->data + in->at, there))
		return WP_DECODE_BAD;
	wp_bytes_skip(in, there);
	return there < wanted ? WP_DECODE_MORE : WP_DECODE_OK;
}

static WpDecodeStatus
read_request(WpBytes *in, Head *out)
{
	WpDecodeStatus status = read_length(in, HEAD_LEAST, &out->length);
	if (status != WP_DECODE_OK)
		return status;
	out->key = wp_bytes_be16(in);
	out->version = wp_bytes_be16(in);
	if (in->failed)
		return WP_DECODE_MORE;
	if (out->key >= G_N_ELEMENTS(apis) || out->version > apis[out->key].max_version)
		return WP_DECODE_BAD;
	out->api = &apis[out->key];
	out->id = wp_bytes_be32(in);
	status = read_client(in, out);
	if (status == WP_DECODE_OK && out->version >= out->api->flexible)
		wp_bytes_u8(in); /* number of tagged fields: 0 in practice */
	return status == WP_DECODE_OK && in->failed ? WP_DECODE_MORE : status;
}

/* Lengths as they are in flexible versions: one more, seven bits a byte. 0 = null. */
static guint32
read_compact(WpBytes *in)
{
	guint32 value = 0;
	for (guint i = 0; i < 5; i++) {
		guint8 byte = wp_bytes_u8(in);
		value |= (guint32)(byte & 127) << 7 * i;
		if (byte < 128)
			return value;
	}
	in->failed = TRUE;
	return 0;
}

/* A text that may be null, at the cursor. */
static const char *
read_text(WpBytes *in, gboolean is_flexible, gsize *out_length)
{
	gint32 length = is_flexible ? (gint32)(read_compact(in) - 1) : (gint16)wp_bytes_be16(in);
	*out_length = 0;
	if (length <= 0 || in->failed)
		return NULL;
	const guint8 *text = wp_bytes_take(in, (gsize)length);
	*out_length = text ? (gsize)length : 0;
	return (const char *)text;
}

/* transactional id (from version 3), acks, timeout, topics: name (a UUID from version 13). */
static void
describe_produce(WpDecodeContext *context, const Head *head, WpBytes body, WpMessage *message)
{
	char label[WP_LABEL_MAX + 1];
	gsize n = (gsize)g_snprintf(label, sizeof label, "%s", head->api->name), length;
	gboolean is_flexible = head->version >= head->api->flexible;
	if (head->version >= 3)
		read_text(&body, is_flexible, &length);
	gint16 acks = (gint16)wp_bytes_be16(&body);
	if (!body.failed && acks == 0)
		message->no_return = TRUE;
	wp_bytes_be32(&body);
	guint32 topics = is_flexible ? read_compact(&body) - 1 : wp_bytes_be32(&body);
	if (body.failed || topics != 1 || head->version >= 13)
		return;
	const char *topic = read_text(&body, is_flexible, &length);
	if (!topic || length > TOPIC_MAX || !is_text((const guint8 *)topic, length))
		return;
	label[n++] = ' ';
	n += wp_label_key(topic, length, label + n, sizeof label - n);
	message->label = wp_decode_label(context, label, n);
}

static void
describe_request(WpDecodeContext *context, const Head *head, WpBytes body, WpMessage *message)
{
	message->kind = WP_KIND_CALL;
	message->callid = head->id;
	message->label = wp_decode_label(context, head->api->name, strlen(head->api->name));
	message->marks = head->api->marks;
	message->note = note_of(head);
	if (head->key == API_PRODUCE) {
		describe_produce(context, head, body, message);
		wp_decode_tokens(context, message, body.data + body.at, wp_bytes_left(&body));
	}
}

/* --- responses --- */

/* The first partition of the first topic. */
static gboolean
produce_failed(guint version, WpBytes body)
{
	gboolean is_flexible = version >= (guint)apis[API_PRODUCE].flexible;
	gsize length;
	guint32 topics = is_flexible ? read_compact(&body) : wp_bytes_be32(&body);
	if (version >= 13)
		wp_bytes_skip(&body, 16); /* the topic's UUID */
	else
		read_text(&body, is_flexible, &length);
	guint32 partitions = is_flexible ? read_compact(&body) : wp_bytes_be32(&body);
	wp_bytes_be32(&body); /* index */
	guint16 error = wp_bytes_be16(&body);
	return topics && partitions && !body.failed && error != 0;
}

/* Responses that begin with an error: after the throttle time, or at once. */
static gboolean
status_is_error(guint32 note, WpBytes body)
{
	/* Api key; first version in which the throttle time comes first; it is flexible from. */
	static const struct {
		guint8 key;
		gint8 throttled;
	} rows[] = {
		{ 10, 1 },     { 11, 2 },     { 12, 1 }, { 13, 1 }, { 14, 1 }, { 16, 1 },
		{ 17, NEVER }, { 18, NEVER }, { 22, 0 }, { 25, 0 }, { 26, 0 }, { 36, NEVER },
		{ 60, 0 },     { 68, 0 },     { 76, 0 }, { 78, 0 },
	};
	guint key = note >> 8 & 0xff, version = note & 0xff;
	if (key == API_PRODUCE)
		return produce_failed(version, body);
	if (key == API_FETCH && version >= 7) {
		wp_bytes_be32(&body);
		return wp_bytes_be16(&body) != 0;
	}
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		if (rows[i].key != key || (key == 10 && version >= 4))
			continue;
		if ((gint)version >= rows[i].throttled)
			wp_bytes_be32(&body);
		guint16 error = wp_bytes_be16(&body);
		return error != 0 && error != NEEDS_MEMBER_ID;
	}
	return FALSE;
}

static void
describe_response(WpDecodeContext *context, guint32 id, WpBytes body, WpMessage *message)
{
	guint32 note;
	message->kind = WP_KIND_RETURN;
	message->callid = id;
	message->status = WP_STATUS_OK;
	if (!wp_decode_pending_callid(context, id, &note) || !(note >> 31))
		return;
	guint key = note >> 8 & 0xff, version = note & 0xff;
	/* That of ApiVersions never has tagged fields, so that old clients can read it. */
	if (version >= (guint)apis[key].flexible && key != API_VERSIONS)
		wp_bytes_u8(&body);
	if (status_is_error(note, body))
		message->status = WP_STATUS_ERROR;
}

static WpDecodeStatus
wait_for(WpDecodeContext *context, WpBytes in, guint32 length, WpUnit *unit)
{
	gsize wanted = MIN(4 + (gsize)length, LOOKED_AT);
	unit->length = 4 + (gsize)length;
	unit->need = wanted;
	return in.length < wanted && !wp_decode_is_cut(context) ? WP_DECODE_MORE : WP_DECODE_OK;
}

static WpDecodeStatus
kafka_decode(void *data, WpDecodeContext *context, WpDirection direction, WpBytes in, WpUnit *unit)
{
	WpMessage *message = &((State *)data)->message[direction];
	Head head = { 0 };
	WpBytes at = in;
	WpDecodeStatus status;
	if (direction == WP_FROM_CLIENT) {
		status = read_request(&at, &head);
	} else {
		status = read_length(&at, 4, &head.length);
		head.id = wp_bytes_be32(&at);
		if (status == WP_DECODE_OK && at.failed)
			status = WP_DECODE_MORE;
	}
	if (status == WP_DECODE_OK)
		status = wait_for(context, in, head.length, unit);
	if (status != WP_DECODE_OK)
		return status;
	if (at.at > unit->length) /* the tags of a head that has no room for them */
		return WP_DECODE_BAD;
	gsize end = MIN(MIN(at.length, MAX(LOOKED_AT, at.at)), unit->length);
	WpBytes body = wp_bytes(at.data + at.at, end - at.at);
	if (direction == WP_FROM_CLIENT)
		describe_request(context, &head, body, message);
	else
		describe_response(context, head.id, body, message);
	unit->opens = unit->extends = unit->emits = message;
	return WP_DECODE_OK;
}

/* --- detection --- */

static WpDecodeStatus
request_begins(WpBytes in, guint32 *out_id)
{
	Head head = { 0 };
	WpDecodeStatus status = read_request(&in, &head);
	*out_id = head.id;
	return status;
}

static WpDecodeStatus
response_begins(WpBytes in, guint32 *out_id)
{
	guint32 length;
	WpDecodeStatus status = read_length(&in, 4, &length);
	*out_id = wp_bytes_be32(&in);
	return status == WP_DECODE_OK && in.failed ? WP_DECODE_MORE : status;
}

/*
 * TRUE where the head says so much that no other side is needed: not where its length is one that few requests
 * have, nor where all behind that is zeros (key, version, id and client), as in a PING of HTTP/2. Nor where
 * it is one of those frames of HTTP/2 whose type is the last byte of the length and whose flags and stream, both
 * small, read as key and version 0 of Produce. Nor a Produce of a client without name: two zeros and a small number
 * stand in the heads of others too.
 */
static gboolean
is_telling(WpBytes in)
{
	enum {
		HTTP2_TYPES = 10
	};
	guint32 length = wp_bytes_be32(&in), key_and_version = wp_bytes_be32(&in);
	if (length >= 1 << 20 || (length % 256 < HTTP2_TYPES && key_and_version == 0))
		return FALSE;
	wp_bytes_be32(&in); /* id */
	gint16 name = (gint16)wp_bytes_be16(&in);
	return key_and_version >> 16 || name > 0;
}

/* A response says little: it must be one that is waited for. */
static WpDecodeStatus
kafka_sync(void *state, WpDecodeContext *context, WpDirection direction, WpBytes in)
{
	guint32 id, note;
	if (direction == WP_FROM_CLIENT)
		return request_begins(in, &id);
	WpDecodeStatus status = response_begins(in, &id);
	if (status == WP_DECODE_OK && !wp_decode_pending_callid(context, id, &note))
		return WP_DECODE_BAD;
	return status;
}

static WpProbeVerdict
kafka_probe(const WpProbe *probe)
{
	guint32 id, answered;
	WpDecodeStatus client = request_begins(probe->client, &id);
	WpDecodeStatus server = response_begins(probe->server, &answered);
	gboolean is_own = is_telling(probe->client);
	WpProbeVerdict by_others = probe->from_start || (probe->client.length && !is_own)
					   ? WP_PROBE_NO
					   : WP_PROBE_MAYBE;
	return wp_probe_verdict(probe, client, server,
				(WpProbeVerdicts){
					.client = is_own ? WP_PROBE_LIKELY : WP_PROBE_MAYBE,
					.server = WP_PROBE_MORE, /* a response says too little */
					.both = id == answered ? WP_PROBE_SURE : by_others,
				});
}

static const guint16 kafka_ports[] = { 9092, 0 };

const WpDecoder wp_decoder_kafka = {
	.name = "kafka",
	.summary = "Apache Kafka: requests of clients and brokers",
	.transports = WP_TRANSPORT_TCP,
	.ports = kafka_ports,
	.by_callid = TRUE,
	.state_size = sizeof(State),
	.probe = kafka_probe,
	.decode = kafka_decode,
	.sync = kafka_sync,
};
