/* DNS messages. Names may be compressed: a pointer goes to an earlier name (RFC 1035 4.1.4). */
#include "capture/dns-message.h"

#include <string.h>

enum {
	TYPE_A = 1,
	TYPE_CNAME = 5,
	TYPE_AAAA = 28,
	TYPE_NB = 32,
	TYPE_NBSTAT = 33,
	TYPE_IXFR = 251,
	TYPE_AXFR = 252,
	TYPE_ANY = 255
};

enum {
	FLAG_ANSWER = 0x8000,
	FLAG_ZERO = 0x0040 /* must be zero (RFC 1035, RFC 4035 3.1.6) */
};

/* More records than this in one section fit no message: eleven bytes is the smallest. */
#define MAX_RECORDS 5957

/* Each pointer goes back, but a name has at most 128 labels, so more pointers lead nowhere. */
#define MAX_POINTERS 128

/* Aliases of aliases: resolvers give up sooner. */
#define MAX_ALIASES 16

static gboolean
name_add(WpDnsName *name, const guint8 *label, gsize length)
{
	if (name->length + length + (name->length > 0) > WP_DNS_NAME_MAX)
		return FALSE;
	if (name->length > 0)
		name->text[name->length++] = '.';
	for (gsize i = 0; i < length; i++)
		name->text[name->length++] = g_ascii_tolower((gchar)label[i]);
	return TRUE;
}

/* The name at the cursor, which moves behind it. */
static gboolean
read_name(WpBytes *bytes, WpDnsName *out_name)
{
	WpBytes at = *bytes;
	guint n_pointers = 0;
	out_name->length = 0;
	for (;;) {
		gsize here = at.at;
		guint8 length = wp_bytes_u8(&at);
		if (at.failed)
			return FALSE;
		if (length >= 0xc0) {
			gsize target = (length & 0x3f) << 8 | wp_bytes_u8(&at);
			if (at.failed || target >= here || ++n_pointers > MAX_POINTERS)
				return FALSE;
			if (n_pointers == 1)
				bytes->at = at.at;
			at.at = target;
			continue;
		}
		if (length > 63)
			return FALSE;
		if (length == 0)
			break;
		const guint8 *label = wp_bytes_take(&at, length);
		if (label == NULL || !name_add(out_name, label, length))
			return FALSE;
	}
	out_name->text[out_name->length] = 0;
	if (n_pointers == 0)
		bytes->at = at.at;
	return TRUE;
}

typedef struct {
	WpDnsName owner;
	guint16 type;
	WpBytes message; /* stands at the data */
	gsize length;    /* of the data */
} Record;

/* The record at the cursor, which moves behind it. */
static gboolean
read_record(WpBytes *bytes, Record *out)
{
	if (!read_name(bytes, &out->owner))
		return FALSE;
	out->type = wp_bytes_be16(bytes);
	wp_bytes_skip(bytes, 6); /* class, time to live */
	out->length = wp_bytes_be16(bytes);
	out->message = *bytes;
	return wp_bytes_skip(bytes, out->length);
}

/* Opcodes in use: query, status, notify, update, stateful operations. */
static gboolean
opcode_is_known(guint opcode)
{
	return opcode == 0 || opcode == 2 || (opcode >= 4 && opcode <= 6);
}

gboolean
wp_dns_header_is_sound(WpBytes bytes)
{
	wp_bytes_be16(&bytes); /* id */
	guint16 flags = wp_bytes_be16(&bytes);
	if (bytes.failed)
		return TRUE;
	if (!opcode_is_known(flags >> 11 & 15) || flags & FLAG_ZERO)
		return FALSE;
	if (!(flags & FLAG_ANSWER) && flags & 15)
		return FALSE; /* a query with a result */
	guint16 n_questions = wp_bytes_be16(&bytes);
	if (!bytes.failed && n_questions > MAX_RECORDS)
		return FALSE;
	for (int i = 0; i < 3; i++)
		if (wp_bytes_be16(&bytes) > MAX_RECORDS)
			return FALSE;
	return TRUE;
}

static gboolean
type_is_possible(guint16 type, guint16 class)
{
	/* The top bit: multicast asks for a unicast answer (RFC 6762 5.4). */
	class &= 0x7fff;
	return type != 0 &&
	       (class == 1 || class == 3 || class == 4 || class == 254 || class == 255);
}

/*
 * NetBIOS names are asked for in the same form (RFC 1002 section 4.2): a first label of 16 bytes, each as two letters
 * from A to P, and types that are others in DNS.
 */
static gboolean
is_netbios(const WpDnsMessage *dns)
{
	gsize n = 0;
	if (dns->type != TYPE_NB && dns->type != TYPE_NBSTAT)
		return FALSE;
	while (dns->question.text[n] >= 'a' && dns->question.text[n] <= 'p')
		n++;
	return n == 32 && (dns->question.length == n || dns->question.text[n] == '.');
}

static gboolean
read_question(WpBytes *bytes, WpDnsName *out_name, guint16 *out_type, guint16 *out_class)
{
	if (!read_name(bytes, out_name))
		return FALSE;
	*out_type = wp_bytes_be16(bytes);
	*out_class = wp_bytes_be16(bytes);
	return !bytes->failed && type_is_possible(*out_type, *out_class);
}

/* The first question counts; others of an answer, which nobody sends, may be anything, and the rest with them. */
static gboolean
read_questions(WpBytes *bytes, WpDnsMessage *dns)
{
	for (guint i = 0; i < dns->n_questions; i++) {
		WpDnsName name = { 0 };
		guint16 type, class;
		gboolean is_first = i == 0;
		if (!read_question(bytes, is_first ? &dns->question : &name, &type, &class)) {
			wp_bytes_skip(bytes, wp_bytes_left(bytes));
			return !is_first && dns->is_answer;
		}
		if (is_first) {
			dns->type = type;
			dns->class = class & 0x7fff;
		}
	}
	return TRUE;
}

static void
read_header(WpBytes *bytes, WpDnsMessage *out)
{
	out->id = wp_bytes_be16(bytes);
	guint16 flags = wp_bytes_be16(bytes);
	out->is_answer = (flags & FLAG_ANSWER) != 0;
	out->opcode = flags >> 11 & 15;
	out->rcode = flags & 15;
	out->n_questions = wp_bytes_be16(bytes);
	out->n_answers = wp_bytes_be16(bytes);
	out->n_others = (guint16)(wp_bytes_be16(bytes) + wp_bytes_be16(bytes));
}

gboolean
wp_dns_parse(WpBytes bytes, WpDnsMessage *out_message)
{
	WpDnsMessage dns = { 0 };
	if (bytes.length < WP_DNS_HEADER_BYTES || !wp_dns_header_is_sound(bytes))
		return FALSE;
	read_header(&bytes, &dns);
	if (!read_questions(&bytes, &dns) || is_netbios(&dns))
		return FALSE;
	dns.bytes = bytes;
	if (dns.n_questions == 0 && dns.n_answers > 0) {
		Record first;
		if (!read_record(&bytes, &first))
			return FALSE;
		dns.question = first.owner;
		dns.type = first.type;
	}
	if (dns.n_questions == 0 && !dns.is_answer)
		return FALSE;
	*out_message = dns;
	return TRUE;
}

/* Whether a question begins at the cursor, as far as the bytes go, and does not end among them. */
static gboolean
is_cut_question(WpBytes bytes)
{
	gsize total = 0;
	for (;;) {
		guint8 length = wp_bytes_u8(&bytes);
		if (bytes.failed)
			return TRUE;
		total += 1 + (gsize)length;
		if (length > 63 || total > WP_DNS_NAME_MAX)
			return FALSE;
		if (length == 0)
			return wp_bytes_left(&bytes) < 4;
		for (guint i = 0; i < length && wp_bytes_left(&bytes); i++)
			if (!g_ascii_isgraph(wp_bytes_u8(&bytes)))
				return FALSE;
	}
}

gboolean
wp_dns_parse_cut(WpBytes bytes, WpDnsMessage *out_message)
{
	if (wp_dns_parse(bytes, out_message))
		return TRUE;
	WpDnsMessage dns = { .is_unread = TRUE };
	if (bytes.length <= WP_DNS_HEADER_BYTES || !wp_dns_header_is_sound(bytes))
		return FALSE;
	read_header(&bytes, &dns);
	gboolean is_usual = dns.n_questions == 1 && (dns.is_answer || dns.n_answers == 0);
	if (!is_usual || !is_cut_question(bytes))
		return FALSE;
	wp_bytes_skip(&bytes, wp_bytes_left(&bytes));
	dns.bytes = bytes;
	*out_message = dns;
	return TRUE;
}

gboolean
wp_dns_is_exact(const WpDnsMessage *message)
{
	WpBytes bytes = message->bytes;
	Record record;
	for (guint i = 0; i < (guint)message->n_answers + message->n_others; i++)
		if (!read_record(&bytes, &record))
			return FALSE;
	return wp_bytes_left(&bytes) == 0;
}

gboolean
wp_dns_is_error(const WpDnsMessage *message)
{
	return message->rcode != 0 && message->rcode != 3;
}

gboolean
wp_dns_is_transfer(const WpDnsMessage *message)
{
	return message->type == TYPE_AXFR || message->type == TYPE_IXFR;
}

const char *
wp_dns_opcode_name(guint8 opcode)
{
	static const char *const names[16] = {
		NULL, NULL, "STATUS", NULL, "NOTIFY", "UPDATE", "DSO"
	};
	return names[opcode & 15];
}

const char *
wp_dns_type_name(guint16 type)
{
	static const struct {
		guint16 type;
		const char *name;
	} names[] = {
		{ 1, "A" },      { 2, "NS" },      { 5, "CNAME" },  { 6, "SOA" },
		{ 12, "PTR" },   { 13, "HINFO" },  { 15, "MX" },    { 16, "TXT" },
		{ 28, "AAAA" },  { 29, "LOC" },    { 33, "SRV" },   { 35, "NAPTR" },
		{ 39, "DNAME" }, { 43, "DS" },     { 44, "SSHFP" }, { 46, "RRSIG" },
		{ 47, "NSEC" },  { 48, "DNSKEY" }, { 50, "NSEC3" }, { 52, "TLSA" },
		{ 64, "SVCB" },  { 65, "HTTPS" },  { 249, "TKEY" }, { 251, "IXFR" },
		{ 252, "AXFR" }, { 255, "ANY" },   { 256, "URI" },  { 257, "CAA" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(names); i++)
		if (names[i].type == type)
			return names[i].name;
	return NULL;
}

static gboolean
name_equals(const WpDnsName *a, const WpDnsName *b)
{
	return a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

/* One pass over the answers: addresses of NAME, which aliases turn into another name. */
static gboolean
resolve(const WpDnsMessage *message, WpDnsName *name, WpDnsAddress *out, guint max, guint *n)
{
	WpBytes bytes = message->bytes;
	gboolean has_alias = FALSE;
	for (guint i = 0; i < message->n_answers; i++) {
		Record record;
		if (!read_record(&bytes, &record))
			break;
		if (!name_equals(&record.owner, name))
			continue;
		if (record.type == TYPE_CNAME) {
			WpDnsName target;
			if (read_name(&record.message, &target)) {
				*name = target;
				has_alias = TRUE;
			}
			continue;
		}
		gsize expected = record.type == TYPE_A ? 4 : record.type == TYPE_AAAA ? 16 : 0;
		const guint8 *data = wp_bytes_take(&record.message, expected);
		if (expected == 0 || record.length != expected || data == NULL || *n == max)
			continue;
		guint8 *bytes16 = out[(*n)++].bytes;
		memset(bytes16, 0, 16);
		if (expected == 4)
			bytes16[10] = bytes16[11] = 0xff;
		memcpy(bytes16 + 16 - expected, data, expected);
	}
	return has_alias;
}

guint
wp_dns_addresses(const WpDnsMessage *message, WpDnsAddress *out_addresses, guint max)
{
	guint n = 0;
	if (!message->is_answer || message->rcode != 0 || message->n_questions == 0 ||
	    (message->type != TYPE_A && message->type != TYPE_AAAA && message->type != TYPE_ANY))
		return 0;
	WpDnsName name = message->question;
	for (guint i = 0; i < MAX_ALIASES && n == 0; i++)
		if (!resolve(message, &name, out_addresses, max, &n))
			break;
	return n;
}
