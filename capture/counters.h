/*
 * WpCounters: what was seen, and above all what was lost, cut, refused or not understood.
 *
 * Nothing is dropped silently: whoever drops something adds one here, and every report prints what
 * is not zero. Some counters also exist per ordered pair of nodes (sender, receiver).
 * To add one: one line in WP_COUNTERS. The name is what trace files and JSON carry.
 */
#ifndef WP_CAPTURE_COUNTERS_H
#define WP_CAPTURE_COUNTERS_H

#include <glib.h>

/*
 * X(symbol, name, severity, text). Severity: INFO = a plain fact, NOTE = known and handled,
 * LOSS = something that the reader of a report must know is missing.
 */
#define WP_COUNTERS(X)                                                                             \
	X(PACKETS, "packets", INFO, "packets read")                                                \
	X(PACKET_BYTES, "packet-bytes", INFO, "bytes of packets on the wire")                      \
	X(PACKETS_FILTERED, "packets-filtered", INFO, "packets left out by --filter or time")      \
	X(PACKETS_NOT_IP, "packets-not-ip", INFO, "packets that are not IP")                       \
	X(PACKETS_OTHER_IP, "packets-other-ip", INFO, "IP packets that are neither TCP nor UDP")   \
	X(PACKETS_UNKNOWN_LINK, "packets-unknown-link", LOSS, "packets of an unknown link type")   \
	X(PACKETS_MALFORMED, "packets-malformed", LOSS, "packets with impossible headers")         \
	X(PACKETS_TUNNELED, "packets-tunneled", INFO,                                              \
	  "packets in tunnels, read as what is in them")                                           \
	X(PACKETS_TOO_DEEP, "packets-too-deep", LOSS,                                              \
	  "packets in tunnels in tunnels, too deep to read")                                       \
	X(PACKETS_SNAPPED, "packets-snapped", LOSS, "packets cut by the snap length")              \
	X(PACKETS_DAMAGED, "packets-damaged", LOSS, "packets damaged on their way, left out")      \
	X(CHECKSUMS_WRONG, "checksums-wrong", NOTE,                                                \
	  "packets of wrong checksums, which may be damaged")                                      \
	X(PACKETS_DOUBLED, "packets-doubled", NOTE, "packets seen twice and counted once")         \
	X(PACKETS_SHARED, "packets-shared", INFO, "packets seen by more than one tap")             \
	X(PACKETS_UNCOVERED, "packets-uncovered", NOTE,                                            \
	  "packets left out, as not all taps were at work")                                        \
	X(PACKETS_OUT_OF_TIME, "packets-out-of-time", NOTE, "packets earlier than one before")     \
	X(INPUT_TRUNCATED, "input-truncated", LOSS, "inputs cut short")                            \
	X(INPUT_STOPPED, "input-stopped", LOSS, "inputs not read to their end: interrupted")       \
	X(INPUT_DAMAGED, "input-damaged", LOSS, "inputs not read to their end: damaged")           \
	X(KERNEL_DROPS, "kernel-drops", LOSS, "packets that the capturing kernel dropped")         \
	X(INTERFACE_DROPS, "interface-drops", LOSS, "packets that the network interface dropped")  \
	X(INTERFACE_GAPS, "interface-gaps", LOSS, "times that an interface was down or away")      \
	X(CLOCK_STEPS, "clock-steps", NOTE, "times that the clock was set while capturing")        \
	X(BLOCKS_SKIPPED, "capture-blocks-skipped", INFO, "blocks of captures passed over")        \
	X(FRAGMENTS, "ip-fragments", INFO, "IP fragments")                                         \
	X(FRAGMENTS_LOST, "ip-fragments-lost", LOSS, "fragments of datagrams never complete")      \
	X(FLOWS_TCP, "flows-tcp", INFO, "TCP flows")                                               \
	X(FLOWS_UDP, "flows-udp", INFO, "UDP flows")                                               \
	X(FLOWS_MIDSTREAM, "flows-midstream", NOTE, "TCP flows that began before the capture")     \
	X(FLOWS_RESET, "flows-reset", NOTE, "TCP flows that were reset")                           \
	X(FLOWS_REFUSED, "flows-refused", NOTE, "TCP connections refused")                         \
	X(FLOWS_EVICTED, "flows-evicted", LOSS, "flows forgotten for want of room")                \
	X(FLOWS_ONE_WAY, "flows-one-way", NOTE, "TCP flows of which one direction is missing")     \
	X(FLOWS_UNDECODED, "flows-undecoded", NOTE, "flows of no known protocol, taken by turns")  \
	X(FLOWS_MULTIPLEXED, "flows-multiplexed", LOSS, "flows that may be multiplexed: no calls") \
	X(TLS_MULTIPLEXED, "tls-multiplexed", LOSS,                                                \
	  "TLS flows that may be multiplexed, without keys: no calls")                             \
	X(FLOWS_PROXIED, "flows-proxied", INFO, "TCP flows that begin with a PROXY header")        \
	X(TLS_DECRYPTED, "tls-decrypted", INFO, "TLS flows decrypted with the keys given")         \
	X(TLS_WITHOUT_KEYS, "tls-without-keys", NOTE, "TLS flows whose keys were not given")       \
	X(TLS_UNDECRYPTED, "tls-undecrypted", LOSS, "TLS records that did not decrypt")            \
	X(SECRETS_UNREAD, "secrets-unread", NOTE, "lines of key logs that could not be used")      \
	X(FLOWS_MISNAMED, "flows-misnamed", NOTE, "flows that left the protocol they began with")  \
	X(SEGMENTS, "tcp-segments", INFO, "TCP segments with payload")                             \
	X(DATAGRAMS, "udp-datagrams", INFO, "UDP datagrams")                                       \
	X(SEGMENTS_REORDERED, "tcp-reordered", NOTE, "TCP segments out of order")                  \
	X(SEGMENTS_RETRANSMITTED, "tcp-retransmitted", NOTE, "TCP segments retransmitted")         \
	X(SEGMENTS_CONFLICTING, "tcp-conflicting", LOSS, "retransmissions with other bytes")       \
	X(SEGMENTS_STRANGE, "tcp-strange", NOTE,                                                   \
	  "TCP segments with numbers far from their flow's")                                       \
	X(GAPS, "tcp-gaps", LOSS, "holes in TCP flows")                                            \
	X(GAP_BYTES, "tcp-gap-bytes", LOSS, "bytes acknowledged but never seen")                   \
	X(LOST_SEGMENTS, "tcp-lost-segments", LOSS, "TCP segments missing (estimate)")             \
	X(LOST_PACKETS, "packets-lost", LOSS, "packets missing, counted or not (estimate)")        \
	X(CALLS, "calls", INFO, "calls")                                                           \
	X(RETURNS, "returns", INFO, "returns paired with a call")                                  \
	X(MESSAGES, "messages", INFO, "one-way messages")                                          \
	X(RETURNS_ORPHAN, "returns-orphan", LOSS, "returns whose call was not seen")               \
	X(RETURNS_UNSURE, "returns-unsure", LOSS, "returns not paired because of a hole")          \
	X(RETURNS_EARLY, "returns-early", NOTE, "returns captured before their call")              \
	X(RETURNS_UNREAD, "returns-unread", NOTE, "returns timed by their packets, not read")      \
	X(RETURNS_REPEATED, "returns-repeated", NOTE, "returns sent again, or by others as well")  \
	X(STALLS_LEFT_OUT, "stalls-left-out", NOTE,                                                \
	  "stalls of flows that had many at a time, left out")                                     \
	X(STALLS_BETWEEN, "stalls-between", INFO,                                                  \
	  "stalls that held up no call here: between calls, or behind the tap")                    \
	X(CALLS_UNREAD, "calls-unread", NOTE, "calls known by their numbers alone, not read")      \
	X(RETURNS_CUT, "returns-cut", LOSS, "returns whose end was not seen")                      \
	X(CALLS_OPEN, "calls-open", NOTE, "calls still open at the end")                           \
	X(CALLS_RESET, "calls-reset", NOTE, "calls whose flow was reset")                          \
	X(CALLS_UNANSWERED, "calls-unanswered", LOSS, "calls whose return was not seen")           \
	X(CALLS_EVICTED, "calls-evicted", LOSS, "open calls forgotten for want of room")           \
	X(STREAMS_EVICTED, "streams-evicted", LOSS, "multiplexed messages left for want of room")  \
	X(CALLS_SKIPPED, "calls-skipped", LOSS,                                                    \
	  "calls not followed: too many at a time in a flow")                                      \
	X(STATEMENTS_FORGOTTEN, "statements-forgotten", NOTE, "prepared statements forgotten")     \
	X(CALLS_REPEATED, "calls-repeated", NOTE, "calls sent again under the same id")            \
	X(RESYNCS, "resyncs", NOTE, "decoders that lost the thread and found it again")            \
	X(BYTES_SKIPPED, "bytes-skipped", LOSS, "payload bytes skipped without understanding")     \
	X(MESSAGES_TOO_LONG, "messages-too-long", LOSS, "messages with a head over the limit")     \
	X(ADDRESSES_FOLDED, "addresses-folded", NOTE, "flows of addresses too many to tell apart") \
	X(LABELS_FOLDED, "labels-folded", NOTE, "labels folded because there were too many")       \
	X(KINDS_JOINED, "kinds-joined", NOTE,                                                      \
	  "kinds of calls, or delays of them, too rare to be told apart")                          \
	X(LABELS_JOINED, "labels-joined", INFO, "labels joined into templates")                    \
	X(RECORDS_LATE, "records-late", NOTE, "records written after later ones")                  \
	X(MAILS, "mails", INFO, "mails read")                                                      \
	X(MAILS_WITHOUT_ID, "mails-without-id", NOTE, "mails without a Message-ID")                \
	X(MAIL_HEADS_CUT, "mail-heads-cut", LOSS, "heads of mails too long to be read whole")      \
	X(MAIL_HOPS_UNUSABLE, "mail-hops-unusable", NOTE, "hops of mails without time or hosts")   \
	X(MAIL_HOPS_GENERIC, "mail-hops-generic", NOTE,                                            \
	  "hops of mails by hosts without a name of their own")                                    \
	X(MAIL_HOPS_OUTSIDE, "mail-hops-outside", INFO, "hops of mails outside of --inside")       \
	X(MAIL_HOPS_REPEATED, "mail-hops-repeated", INFO,                                          \
	  "hops found in several copies of a mail, counted once")                                  \
	X(MAIL_HOPS_SELF, "mail-hops-self", INFO, "hops of mails from a host to itself, left out") \
	X(MAIL_HOPS_SKIPPED, "mail-hops-skipped", LOSS, "hops of mails beyond the limit")          \
	X(SPANS, "spans", INFO, "spans read")                                                      \
	X(SPANS_INNER, "spans-inner", INFO, "spans that are no call of their own")                 \
	X(SPANS_WITHOUT_PEER, "spans-without-peer", NOTE,                                          \
	  "spans of callers that do not tell whom they called, left out")                          \
	X(SPANS_SEEN, "spans-seen", INFO, "calls of spans that are among those of the packets")    \
	X(SPANS_UNSEEN, "spans-unseen", NOTE, "calls of spans that no packets show, left out")     \
	X(SPANS_CAUSES, "spans-causes", INFO, "calls whose cause spans tell")                      \
	X(SPANS_UNUSABLE, "spans-unusable", LOSS, "spans without id or time")                      \
	X(SPANS_SKIPPED, "spans-skipped", LOSS, "spans beyond the limit")                          \
	X(TRACE_LINES_BAD, "trace-lines-bad", LOSS, "lines of a trace that could not be read")     \
	X(TRACE_UNPAIRED, "trace-returns-unpaired", LOSS, "returns of a trace without a call")     \
	X(WINDOWS, "windows", INFO, "windows, inferred one after the other")                       \
	X(WINDOWS_FORCED, "windows-forced", NOTE, "windows that ended with old calls open")        \
	X(WINDOW_CALLS_LATE, "window-calls-late", NOTE,                                            \
	  "calls of requests that a window had answered before")                                   \
	X(PATTERNS_FOLDED, "patterns-folded", NOTE, "rare patterns folded for want of room")       \
	X(WINDOW_CALLS_OPEN, "window-calls-open", NOTE,                                            \
	  "calls taken for unanswered before the end of the input")

typedef enum {
#define X(symbol, name, severity, text) WP_COUNT_##symbol,
	WP_COUNTERS(X)
#undef X
	WP_N_COUNTERS
} WpCounter;

typedef enum {
	WP_SEVERITY_INFO,
	WP_SEVERITY_NOTE,
	WP_SEVERITY_LOSS
} WpSeverity;

typedef struct {
	const char *name;
	const char *text;
	WpSeverity severity;
} WpCounterInfo;

/* One row per counter, in the order of WpCounter. */
extern const WpCounterInfo wp_counter_info[WP_N_COUNTERS];

typedef struct WpCounters WpCounters;

/* (transfer full) */
WpCounters *wp_counters_new(void);
void wp_counters_free(WpCounters *counters);

/* Adds N to the total. */
void wp_counters_add(WpCounters *counters, WpCounter counter, guint64 n);

/*
 * Adds N to the total and to the pair SENDER -> RECEIVER (node numbers). At most
 * WP_COUNTERS_MAX_PAIRS pairs are kept apart; later ones add to the total alone.
 */
#define WP_COUNTERS_MAX_PAIRS 32768
void wp_counters_add_pair(WpCounters *counters, WpCounter counter, guint32 sender, guint32 receiver,
			  guint64 n);

guint64 wp_counters_get(const WpCounters *counters, WpCounter counter);

/* Adds all of OTHER; its node numbers must mean the same nodes. */
void wp_counters_merge(WpCounters *counters, const WpCounters *other);

/* Calls FUNC for every pair and counter that is not 0, ordered by counter, sender, receiver. */
typedef void (*WpCounterPairFunc)(WpCounter counter, guint32 sender, guint32 receiver, guint64 n,
				  gpointer data);
void wp_counters_foreach_pair(const WpCounters *counters, WpCounterPairFunc func, gpointer data);

/* Adds to OUT what COUNTERS has of COUNTER between pairs and BEFORE, which had it earlier, has not. */
void wp_counters_since(const WpCounters *counters, const WpCounters *before, WpCounter counter,
		       WpCounters *out);

gboolean wp_counter_from_name(const char *name, WpCounter *out_counter);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpCounters, wp_counters_free)

#endif
