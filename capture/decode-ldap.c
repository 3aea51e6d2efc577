/*
 * LDAP version 3 (RFC 4511; StartTLS: section 4.14).
 *
 *      message   SEQUENCE { message id, operation [APPLICATION n], controls }
 *
 * The id pairs. A search is answered by entries and references, as many as there are, then by a done: from
 * the first to that they are its return, also where those of several searches come in turns. Abandon and
 * unbind are one way. Labels: the operation, the base with its names taken out (but those of units and
 * domains), and the attributes that the filter looks at.
 */
#include <string.h>

#include "capture/ber.h"
#include "capture/decoder.h"
#include "capture/decoders.h"
#include "capture/probe.h"

/* Largest message: servers take 4 to 16 MiB, with photographs. */
#define MESSAGE_MAX (64u * 1024 * 1024)

/* Of each message so much is looked at. */
#define LOOKED_AT 1024

/* Searches whose entries are on their way at a time; of a further one only the done is the return. */
#define MAX_SEARCHES 16

/* Attributes of a filter that its label names. */
#define MAX_ATTRIBUTES 6

enum {
	TAG_INTEGER = 0x02,
	TAG_TEXT = 0x04,
	TAG_ENUMERATED = 0x0a,
	TAG_SEQUENCE = 0x30,
	OP_BIND = 0x60,
	OP_UNBIND = 0x42,
	OP_DELETE = 0x4a,
	OP_SEARCH = 0x63,
	OP_ENTRY = 0x64,
	OP_DONE = 0x65,
	OP_REFERENCE = 0x73,
	OP_ABANDON = 0x50,
	OP_EXTENDED = 0x77,
	OP_EXTENDED_ANSWER = 0x78,
	OP_INTERMEDIATE = 0x79,
	TAG_OID = 0x80 /* of the name of an extended request */
};

typedef enum {
	REQUEST,
	ONE_WAY,
	PART, /* of a return that goes on */
	ANSWER
} Sense;

static const struct Operation {
	guint8 tag;
	guint8 sense;      /* Sense */
	guint8 from;       /* WpDirection */
	gboolean has_name; /* its first text is a name in the tree */
	const char *name;
} operations[] = {
	{ OP_BIND, REQUEST, WP_FROM_CLIENT, FALSE, "bind" },
	{ 0x61, ANSWER, WP_FROM_SERVER, FALSE, NULL },
	{ OP_UNBIND, ONE_WAY, WP_FROM_CLIENT, FALSE, "unbind" },
	{ OP_SEARCH, REQUEST, WP_FROM_CLIENT, TRUE, "search" },
	{ OP_ENTRY, PART, WP_FROM_SERVER, FALSE, NULL },
	{ OP_DONE, ANSWER, WP_FROM_SERVER, FALSE, NULL },
	{ OP_REFERENCE, PART, WP_FROM_SERVER, FALSE, NULL },
	{ 0x66, REQUEST, WP_FROM_CLIENT, TRUE, "modify" },
	{ 0x67, ANSWER, WP_FROM_SERVER, FALSE, NULL },
	{ 0x68, REQUEST, WP_FROM_CLIENT, TRUE, "add" },
	{ 0x69, ANSWER, WP_FROM_SERVER, FALSE, NULL },
	{ OP_DELETE, REQUEST, WP_FROM_CLIENT, FALSE, "delete" },
	{ 0x6b, ANSWER, WP_FROM_SERVER, FALSE, NULL },
	{ 0x6c, REQUEST, WP_FROM_CLIENT, TRUE, "rename" },
	{ 0x6d, ANSWER, WP_FROM_SERVER, FALSE, NULL },
	{ 0x6e, REQUEST, WP_FROM_CLIENT, TRUE, "compare" },
	{ 0x6f, ANSWER, WP_FROM_SERVER, FALSE, NULL },
	{ OP_ABANDON, ONE_WAY, WP_FROM_CLIENT, FALSE, "abandon" },
	{ OP_EXTENDED, REQUEST, WP_FROM_CLIENT, FALSE, "extended" },
	{ OP_EXTENDED_ANSWER, ANSWER, WP_FROM_SERVER, FALSE, "notice" },
	{ OP_INTERMEDIATE, PART, WP_FROM_SERVER, FALSE, NULL },
};

typedef struct Operation Operation;

typedef struct {
	WpMessage message;
	guint32 id;
	gboolean is_used;
} Search;

typedef struct {
	WpMessage message[2];
	Search searches[MAX_SEARCHES];
} State;

typedef struct {
	gsize length; /* of the whole message */
	guint32 id;
	const Operation *operation;
	WpBytes body; /* of the operation, as far as it is there */
} Head;

static const char start_tls[] = "1.3.6.1.4.1.1466.20037";
static const char persistent_search[] = "2.16.840.1.113730.3.4.3";
static const char sync_request[] = "1.3.6.1.4.1.4203.1.9.1.1"; /* RFC 4533 2.2 */

#define NOTE_STARTTLS 1

/* --- heads --- */

static const Operation *
find_operation(guint8 tag, WpDirection direction)
{
	for (gsize i = 0; i < G_N_ELEMENTS(operations); i++)
		if (operations[i].tag == tag && operations[i].from == direction)
			return &operations[i];
	return NULL;
}

static WpDecodeStatus
more_or_bad(const WpBytes *in)
{
	return in->failed ? WP_DECODE_MORE : WP_DECODE_BAD;
}

static WpDecodeStatus
read_id(WpBytes *in, guint32 *out)
{
	guint8 tag;
	gsize n;
	if (!wp_ber_head(in, &tag, &n))
		return more_or_bad(in);
	if (tag != TAG_INTEGER || n < 1 || n > 4)
		return WP_DECODE_BAD;
	for (*out = 0; n; n--)
		*out = *out << 8 | wp_bytes_u8(in);
	return in->failed ? WP_DECODE_MORE : WP_DECODE_OK;
}

static WpDecodeStatus
read_head(WpBytes in, WpDirection direction, Head *out)
{
	guint8 tag;
	gsize length;
	if (in.length && in.data[0] != TAG_SEQUENCE)
		return WP_DECODE_BAD;
	if (!wp_ber_head(&in, &tag, &length))
		return more_or_bad(&in);
	out->length = in.at + length;
	if (length > MESSAGE_MAX || length < 5)
		return WP_DECODE_BAD;
	WpDecodeStatus status = read_id(&in, &out->id);
	if (status != WP_DECODE_OK)
		return status;
	if (!wp_ber_head(&in, &tag, &length))
		return more_or_bad(&in);
	out->operation = find_operation(tag, direction);
	if (!out->operation || in.at + length > out->length ||
	    (out->id == 0 && direction == WP_FROM_CLIENT))
		return WP_DECODE_BAD;
	out->body = wp_bytes(in.data + in.at, MIN(length, wp_bytes_left(&in)));
	return WP_DECODE_OK;
}

/* --- labels --- */

typedef struct {
	char text[WP_LABEL_MAX + 1];
	gsize n;
} Label;

static void
add(Label *label, const char *text, gsize length)
{
	for (gsize i = 0; i < length && label->n < WP_LABEL_MAX; i++)
		label->text[label->n++] = g_ascii_isprint(text[i]) ? text[i] : '?';
}

/* Units and domains name no one. */
static gboolean
is_kept(const char *attribute, gsize length)
{
	static const char *const kept[] = { "ou", "dc", "o", "c" };
	for (gsize i = 0; i < G_N_ELEMENTS(kept); i++)
		if (strlen(kept[i]) == length &&
		    g_ascii_strncasecmp(kept[i], attribute, length) == 0)
			return TRUE;
	return FALSE;
}

/* One part of a name: "ou=people" as it is, "uid=ann" as "uid={}". */
static void
add_part(Label *label, const char *part, gsize length)
{
	const char *equals = memchr(part, '=', length);
	gsize n = equals ? (gsize)(equals - part) : 0;
	if (equals && is_kept(part, n)) {
		add(label, part, length);
		return;
	}
	add(label, part, equals ? n + 1 : 0);
	add(label, "{}", 2);
}

/* "uid=ann, ou=people,dc=example" -> "uid={},ou=people,dc=example". */
static void
add_name(Label *label, const char *name, gsize length)
{
	for (gsize at = 0; at < length;) {
		gsize end = at;
		while (end < length && name[end] != ',')
			end += name[end] == '\\' ? 2 : 1;
		end = MIN(end, length);
		add(label, ",", at ? 1 : 0);
		add_part(label, name + at, end - at);
		at = end + 1;
		while (at < length && name[at] == ' ')
			at++;
	}
}

/* The attributes of a filter: and, or, not are gone into. */
static void
add_filter(Label *label, WpBytes filter)
{
	guint n = 0;
	WpBytes attribute;
	while (n < MAX_ATTRIBUTES && wp_bytes_left(&filter)) {
		guint8 tag;
		gsize length;
		if (!wp_ber_head(&filter, &tag, &length))
			break;
		if (tag >= 0xa0 && tag <= 0xa2)
			continue;
		WpBytes inside =
			wp_bytes(filter.data + filter.at, MIN(length, wp_bytes_left(&filter)));
		wp_bytes_skip(&filter, inside.length);
		if (tag == 0x87)
			attribute = inside;
		else if (tag < 0xa3 || tag > 0xa8 || !wp_ber_element(&inside, TAG_TEXT, &attribute))
			break;
		add(label, n ? "," : " (", n ? 1 : 2);
		n++;
		add(label, (const char *)attribute.data, MIN(attribute.length, 32));
	}
	if (n)
		add(label, ")", 1);
}

/* The filter stands behind scope, aliases, size, time, types only. */
static void
add_filter_of(Label *label, WpBytes body)
{
	for (int i = 0; i < 5; i++) {
		guint8 tag;
		gsize length = 0;
		if (wp_ber_head(&body, &tag, &length))
			wp_bytes_skip(&body, length);
	}
	add_filter(label, wp_bytes(body.data + body.at, wp_bytes_left(&body)));
}

static void
describe_extended(Label *label, WpBytes body, WpMessage *message)
{
	WpBytes name;
	if (!wp_ber_element(&body, TAG_OID, &name) || name.length != strlen(start_tls) ||
	    memcmp(name.data, start_tls, name.length) != 0)
		return;
	add(label, " StartTLS", 9);
	message->marks = WP_MARK_SETUP;
	message->note = NOTE_STARTTLS;
}

static void
describe_request(WpDecodeContext *context, const Head *head, WpMessage *message)
{
	Label label = { .n = 0 };
	WpBytes body = head->body, name;
	guint8 tag = head->operation->tag;
	message->kind = head->operation->sense == REQUEST ? WP_KIND_CALL : WP_KIND_MESSAGE;
	message->callid = head->id;
	add(&label, head->operation->name, strlen(head->operation->name));
	if (head->operation->has_name && wp_ber_element(&body, TAG_TEXT, &name)) {
		add(&label, " ", name.length ? 1 : 0);
		add_name(&label, (const char *)name.data, name.length);
	}
	if (tag == OP_DELETE && body.length) { /* is nothing but the name */
		add(&label, " ", 1);
		add_name(&label, (const char *)body.data, body.length);
	}
	if (tag == OP_EXTENDED)
		describe_extended(&label, body, message);
	if (tag == OP_SEARCH)
		add_filter_of(&label, body);
	message->label = wp_decode_label(context, label.text, label.n);
	if (tag == OP_BIND || tag == OP_UNBIND)
		message->marks |= WP_MARK_SETUP;
	else
		wp_decode_tokens(context, message, head->body.data, head->body.length);
}

/* --- returns --- */

static WpStatus
status_of(WpBytes body)
{
	WpBytes code;
	if (!wp_ber_element(&body, TAG_ENUMERATED, &code) || code.length != 1)
		return WP_STATUS_UNKNOWN;
	switch (code.data[0]) {
	case 0:
	case 5:  /* compareFalse */
	case 6:  /* compareTrue */
	case 10: /* referral */
	case 14: /* saslBindInProgress */
		return WP_STATUS_OK;
	case 3: /* timeLimitExceeded */
		return WP_STATUS_TIMEOUT;
	default:
		return WP_STATUS_ERROR;
	}
}

/* The search of ID; a new one where WANTED. NULL where there is none, or no room. */
static Search *
search_of(State *state, guint32 id, gboolean is_wanted)
{
	Search *free_one = NULL;
	for (guint i = 0; i < MAX_SEARCHES; i++) {
		Search *search = &state->searches[i];
		if (search->is_used && search->id == id)
			return search;
		if (!search->is_used)
			free_one = search;
	}
	if (!is_wanted || !free_one)
		return NULL;
	*free_one = (Search){ .id = id, .is_used = TRUE };
	return free_one;
}

static void
describe_answer(State *state, WpDecodeContext *context, const Head *head, WpUnit *unit)
{
	guint32 note = 0;
	gboolean is_part = head->operation->sense == PART;
	Search *search = search_of(state, head->id, is_part);
	WpMessage *message = search ? &search->message : &state->message[WP_FROM_SERVER];
	if (is_part && !search) {
		wp_decode_count(context, WP_COUNT_STREAMS_EVICTED);
		return;
	}
	if (!message->is_open)
		unit->opens = message;
	message->kind = WP_KIND_RETURN;
	message->callid = head->id;
	unit->extends = message;
	if (is_part)
		return;
	if (search)
		search->is_used = FALSE;
	message->status = (guint8)status_of(head->body);
	if (head->id == 0) { /* the server says that it will close */
		message->kind = WP_KIND_MESSAGE;
		message->label = wp_decode_label(context, "notice", 6);
	}
	if (wp_decode_pending_callid(context, head->id, &note) && note == NOTE_STARTTLS &&
	    message->status == WP_STATUS_OK)
		unit->becomes = &wp_decoder_tls;
	unit->emits = message;
}

/* TRUE where TEXT is in IN; what stands behind it. */
static gboolean
has_text(WpBytes in, const char *text, WpBytes *out_behind)
{
	gsize n = strlen(text);
	for (gsize i = 0; i + n <= in.length; i++)
		if (memcmp(in.data + i, text, n) == 0) {
			*out_behind = wp_bytes(in.data + i + n, in.length - i - n);
			return TRUE;
		}
	return FALSE;
}

/* A search that goes on for what changes later: by either control. Sync has a mode: refreshAndPersist. */
static gboolean
waits_for_changes(WpBytes in)
{
	enum {
		CONTROL_MAX = 16 /* criticality, heads, mode */
	};
	WpBytes behind;
	if (has_text(in, persistent_search, &behind))
		return TRUE;
	if (!has_text(in, sync_request, &behind))
		return FALSE;
	behind.length = MIN(behind.length, CONTROL_MAX);
	return has_text(behind, "\x0a\x01\x03", &behind);
}

static WpDecodeStatus
ldap_decode(void *data, WpDecodeContext *context, WpDirection direction, WpBytes in, WpUnit *unit)
{
	State *state = data;
	Head head;
	WpDecodeStatus status = read_head(in, direction, &head);
	if (status != WP_DECODE_OK)
		return status;
	gsize wanted = MIN(head.length, LOOKED_AT);
	if (in.length < wanted && !wp_decode_is_cut(context)) {
		unit->need = wanted;
		return WP_DECODE_MORE;
	}
	WpBytes seen = wp_bytes(in.data, MIN(in.length, wanted));
	read_head(seen, direction, &head);
	unit->length = head.length;
	if (direction == WP_FROM_SERVER) {
		describe_answer(state, context, &head, unit);
		return WP_DECODE_OK;
	}
	WpMessage *message = &state->message[direction];
	describe_request(context, &head, message);
	if (head.operation->tag == OP_SEARCH && waits_for_changes(seen))
		message->marks |= WP_MARK_WAIT;
	unit->opens = unit->extends = unit->emits = message;
	return WP_DECODE_OK;
}

static void
ldap_lost(void *data, WpDecodeContext *context, WpDirection direction)
{
	State *state = data;
	if (direction == WP_FROM_SERVER)
		memset(state->searches, 0, sizeof state->searches);
}

/* --- detection --- */

static WpDecodeStatus
begins(WpBytes in, WpDirection direction)
{
	Head head;
	return read_head(in, direction, &head);
}

static WpDecodeStatus
ldap_sync(void *state, WpDecodeContext *context, WpDirection direction, WpBytes in)
{
	return begins(in, direction);
}

static WpProbeVerdict
ldap_probe(const WpProbe *probe)
{
	return wp_probe_verdict(probe, begins(probe->client, WP_FROM_CLIENT),
				begins(probe->server, WP_FROM_SERVER),
				(WpProbeVerdicts){
					.client = WP_PROBE_LIKELY,
					.server = WP_PROBE_LIKELY,
					.both = WP_PROBE_SURE,
				});
}

static const guint16 ldap_ports[] = { 389, 3268, 0 };

const WpDecoder wp_decoder_ldap = {
	.name = "ldap",
	.summary = "LDAP version 3",
	.transports = WP_TRANSPORT_TCP,
	.ports = ldap_ports,
	.by_callid = TRUE,
	.state_size = sizeof(State),
	.probe = ldap_probe,
	.decode = ldap_decode,
	.sync = ldap_sync,
	.lost = ldap_lost,
};
