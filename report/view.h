/*
 * WpView: all that a writer of a report sees. A projection of an analysis: names instead of numbers,
 * numbers instead of histograms, ranked, shares worked out, losses judged. Every writer takes the same
 * view, so that the pages of one input hold the same numbers.
 *
 * Self-contained but for text, which it borrows from the analysis. Times are ns; a share is 0..1.
 * Names and labels are as they came from the packets: each writer escapes them its own way.
 */
#ifndef WP_REPORT_VIEW_H
#define WP_REPORT_VIEW_H

#include <glib.h>

#define WP_VIEW_NONE G_MAXUINT32

struct WpViewCluster;

/* A distribution of times, in short. */
typedef struct {
	guint64 count;
	double sum_ns;
	double mean_ns;
	double sd_ns;
	double min_ns;
	double p50_ns;
	double p90_ns;
	double p95_ns;
	double p99_ns;
	double max_ns;
} WpViewTimes;

/* One node occurrence of a pattern, in pre-order. */
typedef struct {
	const char *node;
	const char *label; /* "" = none */
	const char *protocol;
	guint32 parent; /* in the pattern, or WP_VIEW_NONE */
	guint32 depth;
	gboolean is_last;   /* of its parent's children */
	guint32 repeat;     /* equal calls one after the other, shown as one; else 1 */
	guint64 count;      /* instances of the pattern, times repeat */
	guint64 n_messages; /* of these, one-way; the others are calls */
	guint64 errors;
	guint64 bytes_call;
	guint64 bytes_return;
	double probability; /* of the link to its parent; negative = the engine has none */
	gboolean waits;
	gboolean is_parallel;   /* most instances overlap a sibling in time */
	gboolean is_hottest;    /* most self time of its pattern */
	double latency_share;   /* latency, of the time of all requests */
	double self_share;      /* self time, of all self time in the pattern */
	double critical_ns;     /* part of the critical path (infer/critical.h): sum */
	double critical_share;  /* ... of all of it in the pattern */
	double connecting_ns;   /* of the self time: connections for calls below, sum */
	gboolean is_connecting; /* ... worth a word */
	gboolean is_split;      /* of the pattern: parts of the path are not the self times */
	WpViewTimes latency;
	WpViewTimes self;
	WpViewTimes delay; /* count 0 for the root */
	WpViewTimes server;
	WpViewTimes network; /* count 0 where nothing was captured at both ends */
} WpViewNode;

/* An instance to look at. */
typedef struct {
	const char
		*name; /* "typical", "p50", "p95", "p99", "slowest"; "" = one that was asked for */
	double quantile; /* of the latency; 1 = slowest; negative = not known */
	gint64 begin_ns;
	double latency_ns;
	char id[64];                       /* of the root call */
	guint64 packet;                    /* 0 = unknown */
	guint tap;                         /* number of the input */
	const struct WpInstance *instance; /* for view-request.h; or NULL */
} WpViewExample;

typedef struct {
	guint32 rank; /* from 1; in the order of the set. 0: is folded, and here for what it keeps */
	guint32 number; /* in the set */
	const char *client;
	guint64 count;
	guint64 errors; /* of the root call */
	double total_ns;
	double share; /* of the time of all requests */
	gboolean is_background;
	double path_odds;  /* that its requests take this path; negative = not known */
	double links_odds; /* that all calls of one are under the right parent; likewise */
	guint32 operation; /* in the view */
	guint32 n_nodes;
	WpViewNode *nodes;
	guint32 n_examples;
	WpViewExample *examples; /* typical, p50, p95, p99, slowest */
	guint32 n_kept;
	WpViewExample *kept; /* what was asked for beside these */
} WpViewPattern;

/* Time of one node under a root operation, or in all. */
typedef struct {
	const char *node;
	const char *label;  /* "" where it stands for the whole node */
	guint64 count;      /* calls */
	guint64 n_messages; /* one-way ones, beside them */
	guint64 errors;
	double self_ns;
	double share; /* of all self time there */
} WpViewShare;

/* One place in the merged tree of an operation, in pre-order. What can be expected, a request. */
typedef struct {
	const char *node;
	const char *label; /* "" = none */
	const char *protocol;
	guint32 parent; /* in the tree, or WP_VIEW_NONE */
	guint32 depth;
	gboolean is_last; /* of its parent's children */
	gboolean waits;
	gboolean is_hottest; /* most self time of the operation */
	double calls;        /* a request */
	double errors;       /* a request */
	double latency_ns;   /* mean of a call */
	double delay_ns;     /* mean: call into the parent to this call */
	double self_ns;      /* a request: of all its calls here together */
	double self_share;   /* of all self time of the operation */
} WpViewPlace;

/* Requests that more often than not take other paths than those found: patterns folded into one row. */
typedef struct {
	guint32 n_patterns;
	guint64 count;
	double total_ns;
	double share; /* of the time of all requests */
	WpViewTimes latency;
} WpViewUncertain;

/* All requests that begin with the same call. */
typedef struct {
	const char *client;
	const char *node;
	const char *label;
	const char *protocol;
	guint64 count;
	guint64 errors;
	double total_ns;
	double share;
	gboolean is_background;
	guint32 n_patterns; /* without those folded into the next */
	WpViewUncertain uncertain;
	WpViewTimes latency;
	guint32 n_places;
	WpViewPlace *places; /* the merged tree */
	guint32 n_shares;
	WpViewShare *shares; /* most self time first */
	guint32 number;      /* in the set */
} WpViewOperation;

/* Calls from one node to another of which a few take far more self time than usual: see view-tails.h. */
typedef struct {
	const char *caller;
	const char *node;
	const char *label; /* "" = none */
	const char *protocol;
	guint64 count;         /* all of them whose self time is known */
	guint64 n_slow;        /* those that are far out */
	double median_ns;      /* self time */
	double limit_ns;       /* of those that are far out, the least */
	double slow_ns;        /* their mean */
	double max_ns;         /* the greatest of all */
	double excess_ns;      /* what they took above the median, all together */
	guint64 n_others;      /* the same calls from other nodes */
	guint64 n_others_slow; /* of these, as slow: half the mean of slow ones, or more */
	guint32 pattern;       /* rank of the one in which most of it is; 0 = none */
} WpViewTail;

/* Stalls of one cause on an edge. */
typedef struct {
	const char *cause;   /* "timeout", "fast", "window", "ack" */
	gboolean is_setup;   /* they held connecting up, not a call */
	guint64 count;       /* each once */
	guint64 n_calls;     /* that they held up */
	double held_ns;      /* by call, summed */
	double longest_ns;   /* of one stall, whole */
	guint64 first, last; /* its packets; 0 = not known */
	guint tap;           /* number of their input */
} WpViewStalls;

#define WP_VIEW_MAX_STALLS 8 /* causes of one edge */

/* Calls from one node to another, those that wait by design left out: what they spent their time on. */
typedef struct {
	const char *caller;
	const char *node;
	guint64 calls;
	double latency_ns; /* the sum of the next four */
	double request_ns;
	double server_ns;
	double reply_ns;
	double stall_ns;
	guint64 n_connects; /* connections whose begin was seen */
	double connect_ns;  /* before calls: TCP */
	guint64 n_setups;
	double setup_ns;      /* ... TLS, greetings, logins */
	guint64 n_both;       /* calls that were captured at both ends */
	double network_ns;    /* ... both ways; part of the others */
	double client_rtt_ns; /* from the tap to the caller and back; 0 = not known */
	double server_rtt_ns; /* ... to the node; together a round trip */
	guint n_stalls;
	WpViewStalls stalls[WP_VIEW_MAX_STALLS]; /* most time first */
	gboolean is_stalled;                     /* stalls take time that a page should show */
	gboolean is_worth;                       /* ... or connecting does */
} WpViewEdgeTime;

/* A node where calls wait for one of a number of workers, as inference found (WpPace), which do all of a call each. */
typedef struct {
	const char *node;
	guint32 workers;     /* threads, processes; of each host */
	gboolean is_several; /* it has several hosts */
	guint64 calls;       /* made while the number of workers could be told */
	guint64 n_waited;    /* ... that found none of them free */
	double waiting_ns;   /* of all calls, until a worker was free: sum */
	double wait_p50_ns;  /* ... of those that waited */
	double wait_max_ns;
	double held_ns;        /* workers had calls in hand: sum */
	double work_ns;        /* ... without a call below: sum; self time is this and waiting */
	const char *held_node; /* what takes most of that: a call to this node, or its own work */
	const char *held_label;
	double most_held_ns;
} WpViewQueue;

/* Connections for which calls wait, as inference found. */
typedef struct {
	const char *caller;
	const char *node;
	guint32 connections; /* of each host of the caller */
	gboolean is_several; /* it has several hosts */
	guint64 calls;
	guint64 n_waited;
	double wait_ns;    /* mean of those that waited; negative: not known */
	double waiting_ns; /* ... sum; where the mean is not known, at least */
	double own_ns;     /* self time of the caller, of which that is a part; sum */
	double taken_ns;   /* mean of all, from call to return */
} WpViewPool;

typedef enum {
	WP_VIEW_FACT,
	WP_VIEW_NOTE,
	WP_VIEW_LOSS,
	WP_VIEW_N_LEVELS
} WpViewLevel;

extern const char *const wp_view_level_names[WP_VIEW_N_LEVELS];

/* So many equal calls without children, one after the other, become one node with repeat. */
#define WP_VIEW_MIN_REPEAT 3

/* Pairs of nodes shown for a counter. */
#define WP_VIEW_MAX_PAIRS 3

typedef struct {
	const char *sender;
	const char *receiver;
	guint64 count;
} WpViewPair;

/* A counter that is not zero. */
typedef struct {
	const char *name;
	const char *text;
	WpViewLevel level;
	guint64 count;
	guint n_pairs; /* how many pairs have it; the worst come first */
	WpViewPair pairs[WP_VIEW_MAX_PAIRS];
} WpViewCounter;

/* Everything that was counted, and what it means. */
typedef struct {
	guint32 n_counters;
	WpViewCounter *counters; /* losses first, then notes, then facts */
	double loss_share;       /* packets missing, estimated; negative = not known */
} WpViewQuality;

/* Shares of lost calls: from where on it is said, and from where on nothing inferred is reliable. */
#define WP_VIEW_MIN_LOSS  0.005
#define WP_VIEW_MUCH_LOST 0.15

/* How far the links can be trusted. */
typedef enum {
	WP_VIEW_TRUST_NONE,   /* nothing was linked: one node deep */
	WP_VIEW_TRUST_HIGH,   /* nearly every request is right from first call to last */
	WP_VIEW_TRUST_MIXED,  /* totals and shares hold, single requests may not */
	WP_VIEW_TRUST_LOW,    /* nor do these */
	WP_VIEW_TRUST_STOPPED /* Ctrl-C came during inference: not to be judged */
} WpViewTrust;

extern const char *const wp_view_trust_names[]; /* for programs */

/* Load classes: calls by the number of their candidate parents. */
#define WP_VIEW_N_CLASSES 6
extern const char *const wp_view_class_names[WP_VIEW_N_CLASSES];

typedef struct {
	const char *engine;
	double parallelism; /* mean candidate parents of the calls that have any */
	guint64 n_linked;   /* calls with a parent */
	guint64 n_certain;  /* ... the only possible one */
	guint64 n_measured; /* ... the one that spans tell of */
	double right_share; /* of links, and of requests, that can be expected to be right */
	double whole_share;
	gboolean is_check_lower; /* ... by the self-check, as the odds promise much more */
	/* Of the self-check; n_check_links 0 = not asked for and no lower, or nothing to check. */
	guint64 n_check_links;
	guint64 n_check_links_right;
	guint64 n_check_requests;
	guint64 n_check_requests_right;
	gboolean has_odds;  /* the next three mean something */
	double n_right;     /* parents expected to be right */
	guint64 n_doubtful; /* ... with a probability under 90 % */
	double n_whole; /* requests expected to be right in each of their calls, and to lack none */
	double whole_powers; /* sum over requests: see WpLinks */
	guint64 n_clear;     /* requests none of whose calls has a second possible parent */
	guint64 n_roots;     /* requests, background included */
	double lost_share; /* of the calls, missing: as calls without return show it, or packets */
	guint64 n_holed;   /* requests that lack a call, counted with those that have it */
	guint64 n_estimated; /* calls whose self time is estimated, as something below is missing */
	guint64 classes[WP_VIEW_N_CLASSES];
	WpViewTrust trust;
} WpViewLinks;

/* A machine with several services on one address: whose the flows are that leave it (infer/resolve.h). */
typedef struct {
	const char *name;
	guint64 n_flows;
	guint64 n_by_file;
	guint64 n_inferred;
	guint64 n_clients;
	guint64 n_any;
	guint64 n_unknown; /* ... inferred, but no more than guessed */
	double certainty;
} WpViewShared;

/*
 * Where every call and one-way message of the input is: in the order of the list, the first that fits.
 * The sums over nodes of patterns are those of REQUESTS; expected calls, of operations and by node, add up to
 * REQUESTS and UNCERTAIN but for what may belong to neither, and for rounding.
 */
typedef enum {
	WP_VIEW_IN_REQUESTS,   /* in the patterns of requests */
	WP_VIEW_IN_BACKGROUND, /* in those that wait by design, and health checks */
	WP_VIEW_IN_UNCERTAIN,  /* in requests whose paths are uncertain, folded into none */
	WP_VIEW_UNPAIRED,      /* no return, or one-way, and no parent */
	WP_VIEW_UNSEEN,        /* its parent may lie outside the capture */
	WP_VIEW_STOPPED,       /* its parent was not found before Ctrl-C */
	WP_VIEW_BELOW,         /* caused by one of the last two */
	WP_VIEW_N_LOTS
} WpViewLot;

extern const char *const wp_view_lot_names[WP_VIEW_N_LOTS]; /* for programs */
extern const char *const wp_view_lot_texts[WP_VIEW_N_LOTS]; /* for people */

typedef struct {
	guint64 calls;
	guint64 messages;
} WpViewCount;

typedef struct {
	const char *key;
	const char *value;
} WpViewSetting;

typedef struct {
	/* The input. */
	guint n_inputs;
	const char **inputs; /* as the trace names them */
	const char *file;    /* the only one, as the user names it; or NULL */
	guint n_settings;
	WpViewSetting *settings; /* the rest of what the trace says about itself */
	const char *root;        /* --root, or NULL */
	const char *hidden;      /* --hide: nodes; or NULL */
	const char *where;       /* --where, or NULL */
	const char *partial;     /* why the input was not read whole, or NULL */
	gboolean is_selective;   /* --from, --to or --filter were given */
	gint64 begin_ns;         /* first packet or record; valid where n_records */
	gint64 end_ns;           /* last */
	gint64 first_ns;         /* first record: times of the digest are after it */
	guint64 n_records;
	guint64 n_packets;
	guint64 n_calls;    /* of the selection; without set-up */
	guint64 n_messages; /* one-way ones, likewise */
	guint32 n_nodes;

	/* Requests: not background. */
	guint64 n_requests;
	guint64 n_background;
	guint64 n_uncertain; /* ... whose path is uncertain, of either */
	double total_ns;
	WpViewLinks links;
	WpViewCount lots[WP_VIEW_N_LOTS]; /* their sums are n_calls and n_messages */
	WpViewCount setup;                /* of connections: beside all these */

	guint32 n_operations;
	WpViewOperation *operations; /* most time first; background last */
	guint32 n_totals;
	WpViewShare *totals; /* per node, most self time first */
	guint32 n_patterns;
	WpViewPattern *patterns; /* most time first; background last */
	guint32 n_asides;        /* behind them: folded ones that keep something */

	guint32 n_clusters;
	struct WpViewCluster *clusters; /* report/view-clusters.h; most time first */

	guint32 n_tails;
	WpViewTail *tails; /* most time above the median first */

	guint32 n_edge_times;
	WpViewEdgeTime *edge_times; /* most time lost by stalls and connecting first */

	guint32 n_queues;
	WpViewQueue *queues; /* most waiting first */

	guint32 n_pools;
	WpViewPool *pools; /* most waiting first */

	WpViewQuality quality;
	guint n_shared;
	WpViewShared *shared;

	const struct WpAnalysis *analysis; /* what it is a view of, for view-request.h */
	const struct WpDigest *digest;     /* what compare needs of it; NULL = not asked for */
	const struct WpWhatIf *what_if;    /* report/what-if.h; NULL = not asked for */
} WpView;

struct WpAnalysis;
struct WpDigest;
struct WpSelfCheck;

typedef struct {
	const char *file;                /* the name of the only input; or NULL */
	const char *root;                /* --root, shown in pages; or NULL */
	const char *hidden;              /* --hide, likewise: wp_analysis_hidden() */
	const char *where;               /* --where */
	const char *partial;             /* why the input was not read whole */
	gboolean is_selective;           /* --from, --to or --filter were given */
	gboolean is_inference_stopped;   /* links are those found until then */
	gboolean unfolds;                /* uncertain patterns are shown like others */
	gboolean shows_check;            /* whatever it says */
	const struct WpSelfCheck *check; /* or NULL */
	const struct WpDigest *digest;   /* or NULL */
	const struct WpWhatIf *what_if;  /* or NULL */
} WpViewOptions;

struct WpCounters;
struct WpNodes;
struct WpResolved;

/* Of all packets, or of TCP segments: missing; negative where nothing tells. */
double wp_view_loss_share(const struct WpCounters *counters);

/* Widens a time span to the first and last packet, where the settings of the trace tell them. */
void wp_view_widen(const WpViewSetting *settings, guint n, gint64 *begin_ns, gint64 *end_ns);

/*
 * Fills QUALITY; clear it with wp_view_quality_clear(). Pairs have the names of RESOLVED, or where that
 * is NULL the keys of NODES; both are borrowed.
 */
void wp_view_quality_fill(WpViewQuality *quality, const struct WpCounters *counters,
			  const struct WpNodes *nodes, const struct WpResolved *resolved);
void wp_view_quality_clear(WpViewQuality *quality);

/* Why NODE has no latency, in a word; NULL where it has one. */
const char *wp_view_no_latency(const WpViewNode *node);

/* (transfer full) ANALYSIS (with patterns) and the texts of OPTIONS must outlive the view. */
WpView *wp_view_new(const struct WpAnalysis *analysis, const WpViewOptions *options);
void wp_view_free(WpView *view);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpView, wp_view_free)

#endif
