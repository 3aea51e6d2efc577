/* Inside of WpTaps, shared by taps.c and taps-*.c alone. */
#ifndef WP_CAPTURE_TAPS_PRIVATE_H
#define WP_CAPTURE_TAPS_PRIVATE_H

#include "capture/flow-table.h"
#include "capture/taps.h"

/* One packet of the sample. KEY is the same wherever the packet is seen, also behind a NAT. */
typedef struct {
	guint64 key;
	gint64 time_ns;
	guint32 flow;
	guint16 input;   /* until inputs are grouped; then the tap */
	guint8 side;     /* of the flow: the sender */
	guint8 is_alone; /* its tap saw nothing else with this key */
} WpSample;

/* The first packet with a payload that one side of a flow sends after the other did, or of the flow. */
typedef struct {
	gint64 time_ns;
	guint32 flow;
	guint16 input; /* until inputs are grouped; then the tap */
	guint8 side;   /* of the flow: the sender */
} WpTurn;

/* Nothing came for a while. */
typedef struct {
	gint64 from_ns;
	gint64 to_ns;
} WpSilence;

/* What one input, then one tap, is like. Times by its own clock. */
typedef struct {
	char *name;
	const char *label; /* or NULL */
	guint64 n_packets;
	gint64 first_ns; /* valid with n_packets */
	gint64 last_ns;
	guint32 link_type;
	guint8 tap;
	GArray *silences; /* WpSilence */
} WpTapInput;

typedef struct {
	GArray *samples;    /* WpSample */
	guint64 mask;       /* bits of a key that must be 0 */
	GArray *turns;      /* WpTurn */
	guint32 turn_mask;  /* bits of a flow's hash that must be 0 */
	WpFlowTable *table; /* of WpTapFlow */
	GArray *flows;      /* WpFlowKey, by number */
	guint64 n_read;     /* packets, for progress */
} WpSampler;

/* What two taps have in common. */
typedef struct {
	guint a, b;      /* a < b */
	guint32 n_pairs; /* messages seen at both */
	WpClock clock;   /* of B against A, as A sees it; no segments: not known */
	double error_ns;
	gboolean is_by_cause; /* no packet was seen at both */
	gboolean was_asked;   /* what causes tell */
} WpTapLink;

/* Of what goes between two addresses: how often it came by A before B, when sent by the lower address. */
typedef struct {
	guint64 ends; /* hash of both addresses */
	guint8 a, b;
	gint32 votes;
} WpTapVote;

/* The two ends of a flow as the whole capture knows them. */
typedef struct {
	WpFlowKey key;
	WpEndpoint ends[2];
} WpTapNat;

struct WpTaps {
	const WpTapsOptions *options;
	WpTapInput *inputs;
	gsize n_inputs;
	WpTapInput taps[WP_TAPS_MAX];
	guint n_taps;
	guint reference;
	WpClock clocks[WP_TAPS_MAX]; /* against the reference, as the tap sees it */
	gboolean is_set[WP_TAPS_MAX];
	gboolean is_linked[WP_TAPS_MAX];
	gboolean is_by_cause[WP_TAPS_MAX]; /* its clock follows from causes */
	gboolean is_asked[WP_TAPS_MAX];    /* likewise, or would, had they told anything */
	WpSampler sampler;
	GArray *links;     /* WpTapLink */
	guint n_asked;     /* of them, of which causes were asked */
	GHashTable *votes; /* of WpTapVote */
	WpFlowTable *nat;  /* of WpTapNat; NULL = none */
	guint n_nat;
	GArray *excluded; /* WpSilence, corrected, in order */
	gboolean is_nothing_covered;
};

#define WP_TAPS_SILENCE_NS G_GINT64_CONSTANT(1000000000)

/* taps-sample.c: reads input I; FALSE on an error, or where progress asks to stop. */
void wp_sampler_init(WpSampler *sampler);
void wp_sampler_clear(WpSampler *sampler);
gboolean wp_sampler_read(WpTaps *taps, gsize i, gboolean *out_stopped, GError **error);

/* taps-match.c: what was seen at several taps; clocks; NAT. */
void wp_taps_match(WpTaps *taps);
guint64 wp_taps_hash_ends(const WpEndpoint *src, const WpEndpoint *dst, gboolean *out_is_lower);

/*
 * taps-cause.c: the clock of tap B against A's, as A sees it, where they saw no packet in common, by what leaves
 * hosts that both see. FALSE, and no clock is set, where that tells nothing; OUT_SHARES: there are such hosts.
 */
gboolean wp_taps_fit_by_cause(const WpTaps *taps, guint a, guint b, WpClock *out_clock,
			      gboolean *out_shares);

/* taps-cover.c: when not all that are needed were at work. */
void wp_taps_find_cover(WpTaps *taps);

#endif
