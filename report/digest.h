/*
 * WpDigest: what one capture says for a comparison: bounded, whatever the length of the capture. The JSON result
 * of a report holds it whole, so that comparing two results is comparing their captures.
 *
 * Of each root operation (client, node, label) the requests stand in order of time in blocks, at most
 * WP_DIGEST_BLOCKS of them; when they are full, neighbours join and blocks are twice as long. Sums, a block:
 *
 *     operation GET /buy                  requests  latency
 *       web   GET /buy                    calls     self time   served
 *       db    SELECT users                calls     self time   served
 *
 * and, for groups of WP_DIGEST_GROUP blocks, self time by how many other calls the node had in hand meanwhile, and how
 * many calls ended with so many in hand (in-hand.h). Served: self time from when the call before had left on, all of a
 * call's time where one is served after the other.
 *
 * Everything is whole numbers and text, so that it is the same after writing and reading.
 */
#ifndef WP_REPORT_DIGEST_H
#define WP_REPORT_DIGEST_H

#include <glib.h>

#define WP_DIGEST_BLOCKS 128 /* even */
#define WP_DIGEST_GROUP  2
#define WP_DIGEST_GROUPS (WP_DIGEST_BLOCKS / WP_DIGEST_GROUP)

/* Levels of others in hand: 0 to 7 each, then up to 9, 12, 16, 23, 32, 48, 64, more. */
#define WP_DIGEST_LEVELS 16

/* At most so many operations, parts of one, patterns; what is beyond is counted. */
#define WP_DIGEST_MAX_OPERATIONS 2000
#define WP_DIGEST_MAX_PARTS      100
#define WP_DIGEST_MAX_PATTERNS   200

/* Odds are kept in millionths. */
#define WP_DIGEST_ODDS 1000000

typedef struct {
	const char *name;
	gboolean is_named; /* FALSE: the name is nothing but its address */
	const char *
		service; /* port and protocol of the calls to it, "80 http"; the most frequent, "" = none */
	guint64 n_served; /* calls to it */
	guint64 n_sent;   /* calls from it */
	/* Calls that came while the one before was there; of these, that left before it. */
	guint64 n_followed;
	guint64 n_overtook;
	/* Served time of calls that found one there, and that found none. */
	guint64 n_queued;
	guint64 queued_ns;
	guint64 n_alone;
	guint64 alone_ns;
} WpDigestNode;

/* Sums of a block of requests. */
typedef struct {
	guint64 begin_ns; /* of the first, after the capture's begin */
	guint64 requests;
	guint64 errors;
	guint64 latency_ns;
} WpDigestBlock;

/* ... over the calls of a part in it. */
typedef struct {
	guint64 made;  /* calls, one-way messages too */
	guint64 calls; /* of which the self time is known: */
	guint64 self_ns;
	guint64 served_ns;
	guint64 network_ns; /* of calls seen at both ends */
	guint64 n_network;
} WpDigestSums;

typedef struct {
	guint64 ended;   /* calls that left the node for good at this level */
	guint64 self_ns; /* of all calls, while at this level */
} WpDigestStratum;

/* All calls of one kind into one node, below one operation. The first of an operation is its root. */
typedef struct {
	guint32 node;
	const char *label;
	const char *protocol;
	guint32 caller;  /* node of the first such call's caller */
	guint64 calls;   /* one-way messages too */
	guint64 n_timed; /* calls of which the self time is known: the sums are of these */
	guint64 errors;
	guint64 link_odds; /* sum over calls of how likely its parent is; WP_DIGEST_ODDS = certain */
	guint64 n_waits;   /* that wait by design: where most do, their time says nothing */
	GArray *sums;      /* WpDigestSums, by block */
	WpDigestStratum *strata; /* [WP_DIGEST_GROUPS][WP_DIGEST_LEVELS] */
} WpDigestPart;

/* Latencies: so many from LOW to below HIGH. */
typedef struct {
	gint64 low_ns;
	gint64 high_ns;
	guint64 count;
} WpDigestBin;

typedef struct {
	guint32 client; /* node */
	guint32 node;
	const char *label;
	const char *protocol;
	gboolean is_background;
	guint64 count;
	guint64 errors;
	guint64 block_requests; /* of a full block */
	GArray *blocks;         /* WpDigestBlock */
	GPtrArray *parts;       /* WpDigestPart */
	guint64 n_left;         /* calls beyond WP_DIGEST_MAX_PARTS */
	GArray *bins;           /* WpDigestBin, by low_ns: when finished */
} WpDigestOperation;

/* One place of a pattern, in pre-order. */
typedef struct {
	guint32 node;
	guint32 parent; /* in the pattern; G_MAXUINT32 for the root */
	const char *label;
} WpDigestPlace;

typedef struct {
	guint32 operation;
	guint64 count;
	guint64 total_ns;
	guint32 n_places;
	WpDigestPlace *places;
} WpDigestPattern;

/* Calls from one node to another. */
typedef struct {
	guint32 caller;
	guint32 callee;
	guint64 calls;
} WpDigestEdge;

/* What decides whether captures can be compared. */
typedef struct {
	const char *options; /* that inference was done with, "engine=nesting by=label" */
	const char *partial; /* why the capture was not read whole; NULL = it was */
	guint64 length_ns;   /* first to last record */
	guint64 n_requests;
	guint64 n_calls;
	guint64 n_unpaired; /* calls without a return, and one-way messages that caused nothing */
	guint64 n_unseen;   /* ... whose caller's call is not in the capture */
	guint64 loss;       /* share of packets lost, in millionths; G_MAXUINT64 = not known */
	guint64 right;      /* share of links expected to be right, in millionths */
} WpDigestFacts;

typedef struct WpDigest {
	WpDigestFacts facts;
	GArray *nodes;         /* WpDigestNode */
	GPtrArray *operations; /* WpDigestOperation */
	GArray *patterns;      /* WpDigestPattern; as the report ranks them */
	GArray *edges;         /* WpDigestEdge */
	guint64 n_left;        /* requests beyond WP_DIGEST_MAX_OPERATIONS */
	guint64 n_patterns_left;
	GStringChunk *texts;
} WpDigest;

/* (transfer full) */
WpDigest *wp_digest_new(void);
void wp_digest_free(WpDigest *digest);

/* (transfer none) TEXT, kept as long as DIGEST; as UTF-8, as JSON can hold nothing else. */
const char *wp_digest_text(WpDigest *digest, const char *text);

/* The number of a new node, operation; of a part of OPERATION. G_MAXUINT32 where there are too many. Texts are copied. */
guint32 wp_digest_add_node(WpDigest *digest, const char *name, gboolean is_named);
guint32 wp_digest_add_operation(WpDigest *digest, guint32 client, guint32 node, const char *label,
				const char *protocol);
guint32 wp_digest_add_part(WpDigest *digest, guint32 operation, guint32 node, guint32 caller,
			   const char *label, const char *protocol);

/* A request begins; its calls follow. Requests of an operation come in order of time. */
void wp_digest_add_request(WpDigest *digest, guint32 operation, gint64 begin_ns, gint64 latency_ns,
			   gboolean is_error);

typedef struct {
	gint64 self_ns; /* negative: not known */
	gint64 served_ns;
	gint64 network_ns;                  /* negative: not known */
	gint64 levels_ns[WP_DIGEST_LEVELS]; /* self time by level of others in hand meanwhile */
	guint ended_at;                     /* level, below WP_DIGEST_LEVELS */
	guint64 link_odds;
	gboolean is_error;
	gboolean waits;
} WpDigestCall;

/* The level of so many others. */
guint wp_digest_level(guint32 others);

void wp_digest_add_call(WpDigest *digest, guint32 operation, guint32 part,
			const WpDigestCall *call);

/* What is known of how NODE serves: see WpDigestNode. FOLLOWS: the call before was still there. */
void wp_digest_add_turn(WpDigest *digest, guint32 node, gboolean follows, gboolean overtakes,
			guint32 others, gint64 served_ns);

/* A pattern; PLACES is copied, its texts too. */
void wp_digest_add_pattern(WpDigest *digest, guint32 operation, guint64 count, guint64 total_ns,
			   const WpDigestPlace *places, guint32 n_places);

/*
 * Adds FROM to INTO, two operations of DIGEST that are one; the blocks of both in order of time. The patterns of
 * FROM become patterns of INTO; FROM stays, empty.
 */
void wp_digest_join(WpDigest *digest, guint32 into, guint32 from);

/* What NODE was called for as FROM is TO: operations, parts (joined where both are in one), places of patterns. */
void wp_digest_rename(WpDigest *digest, guint32 node, const char *from, const char *to);

/* Adds the bins FROM to INTO (of WpDigestBin both). */
void wp_digest_join_bins(GArray *into, const GArray *from);

/* TRUE where NODE serves one call after the other, in the order in which they come. */
gboolean wp_digest_is_in_turn(const WpDigestNode *node);

WpDigestOperation *wp_digest_operation(const WpDigest *digest, guint32 operation);
WpDigestPart *wp_digest_part(const WpDigestOperation *operation, guint32 part);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpDigest, wp_digest_free)

#endif
