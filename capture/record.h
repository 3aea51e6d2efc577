/*
 * WpRecord: one message, the one struct that flows from packets to patterns.
 *
 *      client                       web                         db
 *        |  CALL   begin..end  ----> |                           |
 *        |                           |  CALL   begin..end  ----> |
 *        |                           | <----  RETURN begin..end  |
 *        | <----  RETURN begin..end  |                           |
 *
 * A record holds no pointer, so that it can be copied, sorted and stored as it is. Text (labels,
 * protocol names) is a number into the WpStrings of the WpNodes that travel with the records.
 */
#ifndef WP_CAPTURE_RECORD_H
#define WP_CAPTURE_RECORD_H

#include <glib.h>

/* Time that is not known, in ns. Real times are ns since the Unix epoch. */
#define WP_NO_TIME G_MININT64

/* Size that is not known, in bytes. */
#define WP_NO_SIZE G_MAXUINT64

/* At most so many token hashes stay with a record (see tokens.h). */
#define WP_RECORD_MAX_TOKENS 16

/* ... and so many things that the transport did (see transport.h), each of so many words. */
#define WP_RECORD_MAX_TRANSPORTS 4
#define WP_TRANSPORT_WORDS       9

/* ... and, with WP_MARK_TRACED, the trace that it names (see trace-context.h). */
#define WP_TRACE_CONTEXT_WORDS 6

/* ... and, with WP_MARK_CAUSED, the id of the call that caused it: its high half, then its low one. */
#define WP_CAUSE_WORDS 2

/* What travels with a record: its tokens, then its transports, its trace, its cause, 32 bits a word. */
#define WP_RECORD_MAX_WORDS                                                                        \
	(WP_RECORD_MAX_TOKENS + WP_RECORD_MAX_TRANSPORTS * WP_TRANSPORT_WORDS +                    \
	 WP_TRACE_CONTEXT_WORDS + WP_CAUSE_WORDS)

typedef enum {
	WP_KIND_CALL,   /* a request that expects an answer */
	WP_KIND_RETURN, /* the answer; its id is that of its call */
	WP_KIND_MESSAGE /* one-way: no answer is expected */
} WpKind;

typedef enum {
	WP_STATUS_UNKNOWN,
	WP_STATUS_OK,
	WP_STATUS_ERROR,  /* the protocol's own error: HTTP 5xx and 4xx, SQL error, ... */
	WP_STATUS_RESET,  /* the flow was reset before the return was complete */
	WP_STATUS_TIMEOUT /* the protocol itself says that time ran out */
} WpStatus;

/* Marks, a set of bits. */
enum {
	WP_MARK_SETUP = 1, /* greeting, login, TLS handshake: no work of the user's */
	WP_MARK_WAIT = 2,  /* waits by design: BLPOP, long poll; never ranked as slow */
	WP_MARK_CUT = 4,   /* a return whose end was not seen: end_ns is begin_ns */

	/* Only in a window of a longer trace (infer/window.h): */
	WP_MARK_CARRIED = 8,   /* was in the window before as well */
	WP_MARK_ANSWERED = 16, /* ... and its parent was found there: here it is context */

	WP_MARK_BOTH_ENDS = 32, /* seen at both ends: begin_way_ns and end_way_ns are known */
	WP_MARK_TRACED = 64,    /* names a trace, among its words */
	WP_MARK_CAUSED =
		128 /* what caused it is known, from spans (span-join.h); among its words */
};

/*
 * Address and port of one end. IPv4 is kept as ::ffff:a.b.c.d. All zero bytes mean that the end is
 * not known (a trace without addresses). The port is in host order.
 */
typedef struct {
	guint8 address[16];
	guint16 port;
} WpEndpoint;

/*
 * id: numbers below WP_ID_TEXT are the id itself, written in decimal; others are WP_ID_TEXT plus the
 * number of a string, for ids of foreign traces ("id37"). See wp_record_id_text() in trace.h.
 */
#define WP_ID_TEXT (G_GUINT64_CONSTANT(1) << 63)

typedef struct {
	gint64 begin_ns; /* packet with the first byte */
	gint64 end_ns;   /* packet that made it whole: its last byte, or a hole filled later */
	/*
	 * With WP_MARK_BOTH_ENDS (else 0): the times above are those at the sender's own tap, and so much later
	 * the first and the last byte came by the receiver's. Clocks that are not exact make it negative.
	 */
	gint64 begin_way_ns;
	gint64 end_way_ns;
	guint64 id;     /* pairs a RETURN with its CALL */
	guint64 packet; /* number of the packet with the first byte in its input, from 1; 0 unknown */
	guint64 bytes;     /* payload bytes of the message, or WP_NO_SIZE */
	guint32 sender;    /* node */
	guint32 receiver;  /* node */
	guint32 flow;      /* number of the flow, from 1; 0 unknown */
	guint32 protocol;  /* string; 0 = unknown */
	guint32 label;     /* string; 0 = none */
	guint32 tokens_at; /* only inside a WpTrace: first word in its array of words */
	guint32 first_seq; /* only inside the capture: see sightings.h */
	guint32 last_seq;
	WpEndpoint src;
	WpEndpoint dst;
	guint8 kind;         /* WpKind */
	guint8 status;       /* WpStatus */
	guint8 marks;        /* WP_MARK_... */
	guint8 tap;          /* number of the tap (capture point), from 0 */
	guint8 n_tokens;     /* at most WP_RECORD_MAX_TOKENS */
	guint8 n_transports; /* at most WP_RECORD_MAX_TRANSPORTS */
} WpRecord;

/* Where the words of its trace are, or would be, among its words. */
static inline guint
wp_record_context_at(const WpRecord *record)
{
	return record->n_tokens + (guint)record->n_transports * WP_TRANSPORT_WORDS;
}

/* Likewise of its cause. */
static inline guint
wp_record_cause_at(const WpRecord *record)
{
	return wp_record_context_at(record) +
	       (record->marks & WP_MARK_TRACED ? WP_TRACE_CONTEXT_WORDS : 0);
}

static inline guint
wp_record_words(const WpRecord *record)
{
	return wp_record_cause_at(record) + (record->marks & WP_MARK_CAUSED ? WP_CAUSE_WORDS : 0);
}

/* The id of its cause among WORDS, all those of RECORD, which has it; and back. */
static inline guint64
wp_record_cause(const WpRecord *record, const guint32 *words)
{
	words += wp_record_cause_at(record);
	return (guint64)words[0] << 32 | words[1];
}

static inline void
wp_record_put_cause(const WpRecord *record, guint64 id, guint32 *words)
{
	words += wp_record_cause_at(record);
	words[0] = (guint32)(id >> 32);
	words[1] = (guint32)id;
}

/* Names as in trace files: "CALL", "RETURN", "MESSAGE"; "unknown", "ok", "error", ... */
const char *wp_kind_name(WpKind kind);
const char *wp_status_name(WpStatus status);

/* TRUE and the value where NAME is one of the above (kinds: also the paper's CALL_SENT, RET_SENT). */
gboolean wp_kind_from_name(const char *name, WpKind *out_kind);
gboolean wp_status_from_name(const char *name, WpStatus *out_status);

/* TRUE where the address is known. */
gboolean wp_endpoint_is_known(const WpEndpoint *endpoint);

/* "10.0.0.1:80", "[fe80::1]:80"; "" where unknown. Needs WP_ENDPOINT_TEXT_MAX bytes. */
#define WP_ENDPOINT_TEXT_MAX 64
const char *wp_endpoint_text(const WpEndpoint *endpoint, char *buffer, gsize size);

/* The address alone, without port. */
const char *wp_address_text(const guint8 address[16], char *buffer, gsize size);

/* Reads what the two above write; FALSE where TEXT is no address. The port is 0 where it has none. */
gboolean wp_endpoint_parse(const char *text, WpEndpoint *out_endpoint);

#endif
