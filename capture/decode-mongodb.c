/*
 * MongoDB's wire protocol (mongodb.com/docs/manual/reference/mongodb-wire-protocol; the exhaust flags of
 * OP_MSG: mongodb/specifications, source/message/OP_MSG.md).
 *
 *      every message   |length|id|id answered|opcode|..., all little-endian
 *      OP_MSG          |flags|0|document| or |1|size|name|document|document|..., any number of these
 *      OP_QUERY        |flags|"db.collection"|skip|number|document        until server 5.1
 *      OP_REPLY        |flags|cursor|from|number|document|document|...
 *      OP_COMPRESSED   |opcode|length|method|the rest of the message that it was
 *
 * A return names its call. A call with moreToCome has no answer (writes that nobody acknowledges); a
 * return with moreToCome is followed by others that name the return before them ("exhaust": cursors that
 * are drained, a hello that watches the server): one-way messages here. The command is the first element
 * of the document, and for commands on a collection its value is that collection.
 */
#include <string.h>

#include "capture/bson.h"
#include "capture/decoder.h"
#include "capture/decoders.h"
#include "capture/label.h"
#include "capture/probe.h"
#include "capture/unpack.h"

/* A message: at most maxMessageSizeBytes, which servers say is 48,000,000. */
#define MESSAGE_MAX 48000000u
#define HEAD_BYTES  16

/* Of each message so many bytes are looked at, compressed ones after they are unpacked. */
#define LOOKED_AT 1024

/* No command, collection is longer (server: 255 bytes with the database's name). */
#define NAME_MAX_BYTES 255

enum {
	OP_REPLY = 1,
	OP_UPDATE = 2001,
	OP_INSERT = 2002,
	OP_QUERY = 2004,
	OP_GET_MORE = 2005,
	OP_DELETE = 2006,
	OP_KILL_CURSORS = 2007,
	OP_COMPRESSED = 2012,
	OP_MSG = 2013
};

/* Flags of OP_MSG. The lower sixteen that are unknown are errors. */
enum {
	MSG_CHECKSUM = 1,
	MSG_MORE_TO_COME = 2,
	MSG_REQUIRED = 0xffff
};

/* Flags of OP_REPLY. */
enum {
	REPLY_NO_CURSOR = 1,
	REPLY_FAILED = 2
};

enum {
	QUERY_FLAGS = 0xfe /* those of OP_QUERY that mean anything */
};

typedef struct {
	WpMessage message[2];
	guint32 streamed; /* id of the last return that others follow; 0 = none */
	guint32 note;     /* of the call that it answered */
} State;

typedef struct {
	guint32 length;
	guint32 id;
	guint32 answers;
	guint32 opcode;
} Head;

/* The note of a call: its label, its marks, and whether its answer is that of a command. */
enum {
	NOTE_LABEL = (1 << 24) - 1,
	NOTE_MARKS = 24,
	NOTE_COMMAND = 1 << 30
};

/* --- heads --- */

static gboolean
opcode_is_known(guint32 opcode, WpDirection direction)
{
	switch (opcode) {
	case OP_MSG:
	case OP_COMPRESSED:
		return TRUE;
	case OP_REPLY:
		return direction == WP_FROM_SERVER;
	case OP_UPDATE:
	case OP_INSERT:
	case OP_QUERY:
	case OP_GET_MORE:
	case OP_DELETE:
	case OP_KILL_CURSORS:
		return direction == WP_FROM_CLIENT;
	default:
		return FALSE;
	}
}

static WpDecodeStatus
read_head(WpBytes *in, WpDirection direction, Head *out)
{
	out->length = wp_bytes_le32(in);
	if (!in->failed && (out->length < HEAD_BYTES || out->length > MESSAGE_MAX))
		return WP_DECODE_BAD;
	out->id = wp_bytes_le32(in);
	out->answers = wp_bytes_le32(in);
	out->opcode = wp_bytes_le32(in);
	if (in->failed)
		return WP_DECODE_MORE;
	return opcode_is_known(out->opcode, direction) ? WP_DECODE_OK : WP_DECODE_BAD;
}

/* The method of OP_COMPRESSED; the body unpacked to BUFFER, and the opcode that it had. */
static WpBytes
unpack(WpBytes body, guint8 buffer[LOOKED_AT], Head *head)
{
	gsize n = 0;
	head->opcode = wp_bytes_le32(&body);
	wp_bytes_le32(&body); /* the length */
	switch (wp_bytes_u8(&body)) {
	case 0:
		return body;
	case 1:
		n = wp_unpack_snappy(body, buffer, LOOKED_AT);
		break;
	case 2:
		n = wp_unpack_zlib(body, buffer, LOOKED_AT);
		break;
	case 3:
		n = wp_unpack_zstd(body, buffer, LOOKED_AT);
		break;
	}
	return wp_bytes(buffer, n);
}

/* --- labels --- */

/* Commands whose first value is a collection; of others it may be a user's name. */
static const char *const on_collections[] = {
	"aggregate",
	"clone",
	"collMod",
	"collStats",
	"compact",
	"convertToCapped",
	"count",
	"create",
	"createIndexes",
	"dataSize",
	"delete",
	"deleteIndexes",
	"distinct",
	"drop",
	"dropIndexes",
	"explain",
	"find",
	"findAndModify",
	"findandmodify",
	"getMore",
	"insert",
	"killCursors",
	"listIndexes",
	"mapReduce",
	"mapreduce",
	"planCacheClear",
	"reIndex",
	"renameCollection",
	"shardCollection",
	"update",
	"validate",
	NULL,
};

static const char *const set_up[] = {
	"authenticate", "buildInfo", "buildinfo",    "getnonce",  "hello",
	"isMaster",     "ismaster",  "saslContinue", "saslStart", NULL,
};

static gboolean
is_one_of(const char *const *names, const char *name, gsize length)
{
	for (; *names; names++)
		if (strlen(*names) == length && memcmp(*names, name, length) == 0)
			return TRUE;
	return FALSE;
}

static gboolean
is_named(const WpBsonElement *element, const char *name)
{
	return element->name_length == strlen(name) &&
	       memcmp(element->name, name, element->name_length) == 0;
}

static gboolean
is_command_name(const char *name, gsize length)
{
	for (gsize i = 0; i < length; i++)
		if (!g_ascii_isalnum(name[i]) && name[i] != '_' && name[i] != '$')
			return FALSE;
	return length > 0 && length <= 64;
}

static void
label(WpDecodeContext *context, WpMessage *message, const char *verb, gsize verb_length,
      const char *collection, gsize length)
{
	char text[WP_LABEL_MAX + 1];
	gsize n = MIN(verb_length, WP_LABEL_MAX / 2);
	memcpy(text, verb, n);
	if (length && length <= NAME_MAX_BYTES) {
		text[n++] = ' ';
		n += wp_label_key(collection, length, text + n, sizeof text - n);
	}
	message->label = wp_decode_label(context, text, n);
}

/* What programs pass on: text, ids and numbers. */
static void
add_tokens(WpDecodeContext *context, WpMessage *message, const WpBsonElement *element)
{
	char text[2 * 12 + 1];
	const char *string;
	gsize n;
	WpBytes value = element->value;
	if (wp_bson_text(element, &string, &n)) {
		wp_decode_tokens(context, message, (const guint8 *)string, n);
		return;
	}
	if (element->type == WP_BSON_OBJECT_ID && value.length == 12)
		for (n = 0; n < 24; n += 2)
			g_snprintf(text + n, 3, "%02x", wp_bytes_u8(&value));
	else if (element->type == WP_BSON_INT32)
		n = (gsize)g_snprintf(text, sizeof text, "%" G_GINT32_FORMAT,
				      (gint32)wp_bytes_le32(&value));
	else if (element->type == WP_BSON_INT64)
		n = (gsize)g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT,
				      (gint64)wp_bytes_le64(&value));
	else
		return;
	if (!value.failed)
		wp_decode_tokens(context, message, (const guint8 *)text, n);
}

/* All elements of a document and of those inside. */
static void
scan(WpDecodeContext *context, WpMessage *message, WpBytes document)
{
	WpBsonElement element;
	WpBsonStep step = WP_BSON_ELEMENT;
	guint depth = 1;
	wp_bytes_skip(&document, WP_BSON_LENGTH);
	while (depth > 0 && (step == WP_BSON_ELEMENT || step == WP_BSON_CLOSE)) {
		step = wp_bson_next(&document, TRUE, &element);
		if (step == WP_BSON_CLOSE)
			depth--;
		else if (step == WP_BSON_ELEMENT &&
			 (element.type == WP_BSON_DOCUMENT || element.type == WP_BSON_ARRAY))
			depth++;
		else if (step == WP_BSON_ELEMENT)
			add_tokens(context, message, &element);
	}
}

/*
 * A command: {find: "users", ...}; {getMore: NUMBER, collection: "users"}; waits by design where it has
 * a time for that (a hello, a tailable cursor).
 */
static void
describe_command(WpDecodeContext *context, WpBytes document, WpMessage *message)
{
	WpBytes at = document;
	WpBsonElement first, element;
	const char *collection = NULL, *text;
	gsize length = 0, n;
	wp_bytes_skip(&at, WP_BSON_LENGTH);
	wp_bson_next(&at, FALSE, &first);
	if (first.type == 0 || !is_command_name(first.name, first.name_length))
		return;
	gboolean sets_up = is_one_of(set_up, first.name, first.name_length);
	gboolean is_get_more = is_named(&first, "getMore");
	if (is_one_of(on_collections, first.name, first.name_length))
		wp_bson_text(&first, &collection, &length);
	while (wp_bson_next(&at, FALSE, &element) == WP_BSON_ELEMENT) {
		if (is_get_more && is_named(&element, "collection") &&
		    wp_bson_text(&element, &text, &n)) {
			collection = text;
			length = n;
		}
		if ((sets_up && is_named(&element, "maxAwaitTimeMS")) ||
		    (is_get_more && is_named(&element, "maxTimeMS")))
			message->marks |= WP_MARK_WAIT;
	}
	label(context, message, first.name, first.name_length, collection, length);
	if (sets_up)
		message->marks |= WP_MARK_SETUP;
	else
		scan(context, message, document);
}

/* "database.collection" at the cursor; the part behind the first dot. */
static gsize
read_namespace(WpBytes *in, const char **out_collection)
{
	gssize end = wp_bytes_find(in, 0, NAME_MAX_BYTES + 1);
	const char *name = (const char *)in->data + in->at;
	const char *dot = end > 0 ? memchr(name, '.', (gsize)end) : NULL;
	wp_bytes_skip(in, end < 0 ? wp_bytes_left(in) : (gsize)end + 1);
	*out_collection = dot ? dot + 1 : NULL;
	return dot ? (gsize)(name + end - dot - 1) : 0;
}

/* The operations before OP_MSG. */
static void
describe_legacy(WpDecodeContext *context, guint32 opcode, WpBytes body, WpMessage *message)
{
	static const struct {
		guint32 opcode;
		const char *verb;
		gboolean has_answer;
	} rows[] = {
		{ OP_QUERY, "query", TRUE },    { OP_GET_MORE, "getMore", TRUE },
		{ OP_UPDATE, "update", FALSE }, { OP_INSERT, "insert", FALSE },
		{ OP_DELETE, "delete", FALSE }, { OP_KILL_CURSORS, "killCursors", FALSE },
	};
	const char *collection = NULL;
	wp_bytes_le32(&body); /* flags */
	gsize length = opcode == OP_KILL_CURSORS ? 0 : read_namespace(&body, &collection);
	for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
		if (rows[i].opcode == opcode) {
			message->no_return = !rows[i].has_answer;
			label(context, message, rows[i].verb, strlen(rows[i].verb), collection,
			      length);
		}
	if (opcode != OP_QUERY)
		return;
	wp_bytes_skip(&body, 8); /* skip, number */
	WpBytes document = wp_bytes(body.data + body.at, wp_bytes_left(&body));
	if (!collection) /* cut off: its answer may be that of a command */
		message->note = NOTE_COMMAND;
	if (length == 4 && memcmp(collection, "$cmd", 4) == 0) {
		message->note = NOTE_COMMAND;
		describe_command(context, document, message);
	} else {
		scan(context, message, document);
	}
}

/* The document of the command in OP_MSG: the section of kind 0; FALSE where it is not there. */
static gboolean
find_body(WpBytes in, WpBytes *out_document)
{
	while (wp_bytes_left(&in)) {
		guint8 kind = wp_bytes_u8(&in);
		if (kind == 0) {
			*out_document = wp_bytes(in.data + in.at, wp_bytes_left(&in));
			return TRUE;
		}
		WpBytes size = in;
		guint32 length = wp_bytes_le32(&size);
		if (kind != 1 || size.failed || length < 4 || !wp_bytes_skip(&in, length))
			return FALSE;
	}
	return FALSE;
}

static void
describe_call(WpDecodeContext *context, const Head *head, WpBytes body, WpMessage *message)
{
	WpBytes document;
	message->kind = WP_KIND_CALL;
	message->callid = head->id;
	if (head->opcode != OP_MSG) {
		describe_legacy(context, head->opcode, body, message);
	} else {
		message->no_return = (wp_bytes_le32(&body) & MSG_MORE_TO_COME) != 0;
		message->note = NOTE_COMMAND;
		body = wp_bytes(body.data + body.at, wp_bytes_left(&body));
		if (find_body(body, &document))
			describe_command(context, document, message);
	}
	message->note |= (guint32)message->marks << NOTE_MARKS;
	message->note |= message->label <= NOTE_LABEL ? message->label : 0;
}

/* --- returns --- */

/*
 * What the answer to a command says of itself: "ok", and errors of single writes. What is too long to be
 * looked at is no error, for they are short; of what the capture cut nobody knows.
 */
static WpStatus
status_of(WpDecodeContext *context, WpBytes document)
{
	WpBsonElement element;
	WpBsonStep step;
	gboolean is_zero;
	WpStatus status = wp_decode_is_cut(context) ? WP_STATUS_UNKNOWN : WP_STATUS_OK;
	wp_bytes_skip(&document, WP_BSON_LENGTH);
	do {
		step = wp_bson_next(&document, FALSE, &element);
		WpBytes value = element.value;
		if (element.type == 0)
			break;
		if (is_named(&element, "ok") && wp_bson_is_zero(&element, &is_zero) &&
		    status != WP_STATUS_ERROR)
			status = is_zero ? WP_STATUS_ERROR : WP_STATUS_OK;
		if (is_named(&element, "writeErrors") && element.type == WP_BSON_ARRAY &&
		    wp_bytes_le32(&value) > WP_BSON_SHORTEST)
			status = WP_STATUS_ERROR;
	} while (step == WP_BSON_ELEMENT);
	return status;
}

static WpStatus
status_of_reply(WpDecodeContext *context, const Head *head, WpBytes body, gboolean is_command)
{
	WpBytes document;
	guint32 flags = wp_bytes_le32(&body);
	if (head->opcode == OP_REPLY) {
		wp_bytes_skip(&body, 16); /* cursor, from, number */
		document = wp_bytes(body.data + body.at, wp_bytes_left(&body));
		if (flags & (REPLY_NO_CURSOR | REPLY_FAILED))
			return WP_STATUS_ERROR;
		return is_command ? status_of(context, document) : WP_STATUS_OK;
	}
	if (head->opcode != OP_MSG)
		return WP_STATUS_UNKNOWN;
	body = wp_bytes(body.data + body.at, wp_bytes_left(&body));
	if (find_body(body, &document))
		return status_of(context, document);
	return wp_decode_is_cut(context) ? WP_STATUS_UNKNOWN : WP_STATUS_OK;
}

static void
describe_return(State *state, WpDecodeContext *context, const Head *head, WpBytes body,
		WpMessage *message)
{
	guint32 note = NOTE_COMMAND;
	gboolean is_pending = wp_decode_pending_callid(context, head->answers, &note);
	gboolean follows = !is_pending && state->streamed && head->answers == state->streamed;
	gboolean goes_on =
		head->opcode == OP_REPLY || (head->opcode == OP_MSG && wp_bytes_left(&body) >= 4 &&
					     body.data[body.at] & MSG_MORE_TO_COME);
	if (follows)
		note = state->note;
	message->kind = follows ? WP_KIND_MESSAGE : WP_KIND_RETURN;
	message->callid = head->answers;
	message->status = (guint8)status_of_reply(context, head, body, note & NOTE_COMMAND);
	if (follows) {
		message->label = note & NOTE_LABEL;
		message->marks = (note & ~(guint32)NOTE_COMMAND) >> NOTE_MARKS;
	}
	if (is_pending || follows) {
		state->streamed = goes_on ? head->id : 0;
		state->note = note;
	}
}

static WpDecodeStatus
mongodb_decode(void *data, WpDecodeContext *context, WpDirection direction, WpBytes in,
	       WpUnit *unit)
{
	State *state = data;
	WpMessage *message = &state->message[direction];
	guint8 unpacked[LOOKED_AT];
	Head head;
	WpDecodeStatus status = read_head(&in, direction, &head);
	if (status != WP_DECODE_OK)
		return status;
	gsize wanted = MIN(head.length, LOOKED_AT);
	if (in.length < wanted && !wp_decode_is_cut(context)) {
		unit->need = wanted;
		return WP_DECODE_MORE;
	}
	WpBytes body = wp_bytes(in.data, MIN(in.length, wanted));
	wp_bytes_skip(&body, HEAD_BYTES);
	if (head.opcode == OP_COMPRESSED)
		body = unpack(body, unpacked, &head);
	if (direction == WP_FROM_CLIENT)
		describe_call(context, &head, body, message);
	else
		describe_return(state, context, &head, body, message);
	unit->length = head.length;
	unit->opens = unit->extends = unit->emits = message;
	return WP_DECODE_OK;
}

/* --- detection --- */

/* A document that fits into LEFT bytes begins at the cursor. */
static WpDecodeStatus
document_begins(WpBytes in, gsize left)
{
	WpBsonElement first;
	guint32 length = wp_bytes_le32(&in);
	if (in.failed)
		return WP_DECODE_MORE;
	if (length < WP_BSON_SHORTEST || length > left)
		return WP_DECODE_BAD;
	WpBsonStep step = wp_bson_next(&in, TRUE, &first);
	if (step == WP_BSON_BAD || (step == WP_BSON_CLOSE && length != WP_BSON_SHORTEST))
		return WP_DECODE_BAD;
	return step == WP_BSON_CUT && first.type == 0 ? WP_DECODE_MORE : WP_DECODE_OK;
}

static WpDecodeStatus
msg_begins(WpBytes in, gsize left)
{
	guint32 flags = wp_bytes_le32(&in);
	guint8 kind = wp_bytes_u8(&in);
	if (in.failed)
		return WP_DECODE_MORE;
	if ((flags & MSG_REQUIRED) > (MSG_CHECKSUM | MSG_MORE_TO_COME) || kind > 1 || left < 5)
		return WP_DECODE_BAD;
	if (kind == 0)
		return document_begins(in, left - 5);
	guint32 length = wp_bytes_le32(&in);
	if (in.failed)
		return WP_DECODE_MORE;
	return length > 4 && length <= left - 5 ? WP_DECODE_OK : WP_DECODE_BAD;
}

/* A name of a database and a collection, then zero. */
static WpDecodeStatus
namespace_begins(WpBytes in)
{
	gssize end = wp_bytes_find(&in, 0, NAME_MAX_BYTES + 1);
	const guint8 *name = in.data + in.at;
	gsize length = end < 0 ? wp_bytes_left(&in) : (gsize)end;
	for (gsize i = 0; i < length; i++)
		if (name[i] < 0x20 || name[i] == 0x7f)
			return WP_DECODE_BAD;
	if (end < 0)
		return length > NAME_MAX_BYTES ? WP_DECODE_BAD : WP_DECODE_MORE;
	return memchr(name, '.', length) ? WP_DECODE_OK : WP_DECODE_BAD;
}

static WpDecodeStatus
compressed_begins(WpBytes in, WpDirection direction)
{
	guint32 opcode = wp_bytes_le32(&in), length = wp_bytes_le32(&in);
	guint8 method = wp_bytes_u8(&in);
	if (in.failed)
		return WP_DECODE_MORE;
	return opcode != OP_COMPRESSED && opcode_is_known(opcode, direction) &&
			       length <= MESSAGE_MAX && method <= 3
		       ? WP_DECODE_OK
		       : WP_DECODE_BAD;
}

/* A message of DIRECTION begins at the cursor. */
static WpDecodeStatus
front_begins(WpBytes in, WpDirection direction)
{
	Head head;
	WpDecodeStatus status = read_head(&in, direction, &head);
	if (status != WP_DECODE_OK)
		return status;
	if ((head.answers == 0) != (direction == WP_FROM_CLIENT))
		return WP_DECODE_BAD;
	gsize left = head.length - HEAD_BYTES;
	guint32 flags;
	switch (head.opcode) {
	case OP_MSG:
		return msg_begins(in, left);
	case OP_COMPRESSED:
		return compressed_begins(in, direction);
	case OP_REPLY:
		flags = wp_bytes_le32(&in);
		wp_bytes_skip(&in, 12);
		if (in.failed)
			return WP_DECODE_MORE;
		return flags < 16 && wp_bytes_le32(&in) <= left ? WP_DECODE_OK : WP_DECODE_BAD;
	case OP_KILL_CURSORS:
		return left >= 8 && left % 8 == 0 ? WP_DECODE_OK : WP_DECODE_BAD;
	default:
		flags = wp_bytes_le32(&in);
		if (in.failed)
			return WP_DECODE_MORE;
		if (head.opcode == OP_QUERY ? flags & ~(guint32)QUERY_FLAGS : flags > 1)
			return WP_DECODE_BAD;
		return namespace_begins(in);
	}
}

/*
 * The same. IS_CUT: nothing more will come; of a message that was cut, its head names the call or the answer, and has to
 * do with what is there behind it.
 */
static WpDecodeStatus
begins(WpBytes in, WpDirection direction, gboolean is_cut)
{
	WpDecodeStatus status = front_begins(in, direction);
	return status == WP_DECODE_MORE && is_cut && in.length > HEAD_BYTES ? WP_DECODE_OK : status;
}

static WpDecodeStatus
mongodb_sync(void *state, WpDecodeContext *context, WpDirection direction, WpBytes in)
{
	return begins(in, direction, wp_decode_is_cut(context));
}

static WpProbeVerdict
mongodb_probe(const WpProbe *probe)
{
	/* A call: a length, two words that are known, the begin of a document. */
	return wp_probe_verdict(probe, begins(probe->client, WP_FROM_CLIENT, probe->is_cut),
				begins(probe->server, WP_FROM_SERVER, probe->is_cut),
				(WpProbeVerdicts){
					.client = WP_PROBE_SURE,
					.server = WP_PROBE_LIKELY,
					.both = WP_PROBE_SURE,
				});
}

static const guint16 mongodb_ports[] = { 27017, 27018, 27019, 0 };

const WpDecoder wp_decoder_mongodb = {
	.name = "mongodb",
	.summary = "MongoDB: OP_MSG, compressed too, and the operations before it",
	.transports = WP_TRANSPORT_TCP,
	.ports = mongodb_ports,
	.by_callid = TRUE,
	.state_size = sizeof(State),
	.probe = mongodb_probe,
	.decode = mongodb_decode,
	.sync = mongodb_sync,
};
