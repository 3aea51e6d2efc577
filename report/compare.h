/*
 * WpComparison: captures before and after, compared: all that a page of wirepath compare shows.
 *
 *   digests -> roles (who is who) -> operations that are one -> shifts -> Holm -> verdicts -> contributions
 *
 * What is tested, together: of each operation its latency; of each node and call in it the work it does, how often
 * it is called, and the network's time. Work is self time until a call has ended, at moments at which the node had as
 * many others in hand (in-hand.h): one worker or many, in turn or sharing, the rate at which calls end is some function
 * of what is in hand, and the ratio of two such rates does not depend on which. Where a node serves in turn it is the
 * time since the call before had left, which holds at any load. In an operation whose latency has changed, or where
 * more is left than work explains, self times are tested as well: same work, more waiting.
 *
 * Risks are those of Holm ("A simple sequentially rejective multiple test procedure", 1979) over all that is
 * tested: the share of comparisons of a system with itself that call anything changed. Tests have weights, by the time
 * that they are about (in the form with weights that Holm gives as well); where that is a time, three quarters of a
 * test's risk are for what takes longer. Kinds of calls on one side only (compare-kinds.h) add a tenth to it.
 *
 * Times are ns. A relative change is after / before - 1.
 */
#ifndef WP_REPORT_COMPARE_H
#define WP_REPORT_COMPARE_H

#include "report/digest.h"
#include "report/roles.h"
#include "report/shift.h"

typedef enum {
	WP_VERDICT_SAME,
	WP_VERDICT_INCONCLUSIVE,
	WP_VERDICT_CHANGED,
	WP_N_VERDICTS
} WpVerdict;

extern const char *const wp_verdict_names[WP_N_VERDICTS];

/* What is tested of a row. */
typedef enum {
	WP_TEST_LATENCY, /* of an operation */
	WP_TEST_WORK,    /* of a call */
	WP_TEST_SELF,    /* work and waiting */
	WP_TEST_CALLS,   /* a request */
	WP_TEST_NETWORK, /* of a call, where both ends were captured */
	WP_N_TESTS
} WpTestKind;

extern const char *const wp_test_names[WP_N_TESTS];

/* Why nothing can be said, or not more. */
typedef enum {
	WP_WHY_NONE,
	WP_WHY_NOTHING, /* a side has none of it */
	WP_WHY_FEW,     /* too few requests */
	WP_WHY_HANGS,   /* requests hang together too long for so short captures */
	WP_WHY_LIKELY,  /* by itself it would be a change, but not as one of so many tests */
	WP_WHY_COARSE,  /* these captures would not have shown a change that matters */
	WP_WHY_SMALL,   /* different, but by less than what counts */
	WP_N_WHYS
} WpWhy;

extern const char *const wp_why_names[WP_N_WHYS];

typedef struct {
	WpTestKind kind;
	gboolean is_tested; /* FALSE: the rest is 0 but for the means in SHIFT */
	gboolean
		is_gated; /* not a part of the family of all tests: tested only as its operation has changed */
	WpShift shift;
	double weight;   /* how much of the risk it has, to that of the others */
	double chance;   /* by itself */
	double adjusted; /* ... as one of all that is tested */
	double low; /* relative (CALLS: absolute) change: interval that holds it but for the risk */
	double high;
	double change;     /* likewise: the best estimate */
	double detectable; /* likewise: what these captures would have shown 4 times of 5 */
	WpVerdict verdict;
	WpWhy why;
} WpTest;

/* One node and kind of call in an operation; the first is the operation's own call. */
typedef struct {
	guint32 role;
	const char *label;
	guint64 calls[2];
	double calls_a_request[2];
	double self_ns[2]; /* mean of a call */
	double work_ns;    /* of the change of self time a call: what is work ... */
	double wait_ns;    /* ... and what is waiting; the two are after - before */
	gboolean in_turn;  /* on both sides one call is served after the other */
	gboolean waits;    /* by design: not tested */
	double link_doubt; /* share of its calls, or of those below it, whose parent may be another */
	WpTest tests[WP_N_TESTS];
	double contribution_ns; /* self time a request, after - before, times requests after */
} WpComparedPart;

typedef struct {
	guint32 client; /* role */
	guint32 role;
	const char *label;
	gboolean is_background; /* compared in structure only */
	guint64 requests[2];
	double share[2]; /* of the requests */
	double mean_ns[2];
	double p50_ns[2];
	double p95_ns[2];
	double p99_ns[2];
	GArray *bins[2];  /* WpDigestBin: latencies, by low_ns */
	double errors[2]; /* share of its requests */
	WpTest latency;
	double contribution_ns; /* mean, after - before, times requests after */
	WpVerdict verdict;      /* the most of its own and those of its parts */
	gboolean is_worse;      /* something in it takes longer, or is called more often */
	guint32 n_parts;
	WpComparedPart *parts; /* the own call first; then the greatest contributions */
} WpComparedOperation;

/* A call that a path has more or less often than the nearest one of the other side. */
typedef struct {
	guint32 caller; /* role */
	guint32 role;
	const char *label;
	guint counts[2]; /* in that one, in this one */
} WpPathEdit;

/* A path on one side only (compare-paths.h). */
typedef struct {
	guint32 operation;    /* number */
	guint side;           /* where it is: 1 = new, 0 = gone */
	guint64 count;        /* requests */
	double share;         /* of those of the operation */
	double nearest_share; /* of the nearest path, on the other side */
	guint32 n_edits;
	WpPathEdit *edits;
	guint32 n_edits_left;
} WpComparedPath;

/* A kind of call on one side only, over all operations (compare-kinds.h). */
typedef struct {
	guint32 role;
	const char *label;
	guint side; /* where it is: 1 = new, 0 = gone */
	guint64 calls;
	double calls_a_request;
	double chance; /* by itself */
} WpComparedKind;

typedef struct {
	const char *label; /* "before", or what the user calls it */
	guint n_captures;
	guint64 requests;
	guint64 calls;
	double length_ns; /* sum */
	double rate;      /* requests a second */
	double loss;      /* share of packets; negative = not known */
	double unmatched; /* share of calls without a return, or whose caller's call is not there */
	double right;     /* share of links that can be expected to be right */
	const char *options;
	gboolean is_partial;
} WpComparedSide;

/* Something that speaks against comparing. */
typedef enum {
	WP_AGAINST_EMPTY,   /* a side without requests */
	WP_AGAINST_STRANGE, /* no operation is on both sides */
	WP_AGAINST_OPTIONS, /* inferred differently */
	WP_AGAINST_RATE,
	WP_AGAINST_MIX,
	WP_AGAINST_LOSS,
	WP_AGAINST_UNMATCHED,
	WP_AGAINST_PARTIAL,
	WP_AGAINST_LINKS,
	WP_N_AGAINST
} WpAgainst;

extern const char *const wp_against_names[WP_N_AGAINST];

typedef struct {
	double min_change; /* what counts, relative: 0.05 */
	double risk;       /* of calling anything changed where nothing is: 0.011 */
	double resolution; /* captures that would not have shown so much are inconclusive: 0.25 */
	const char *labels[2];
} WpCompareOptions;

void wp_compare_options_init(WpCompareOptions *options);

typedef struct {
	WpCompareOptions options;
	WpComparedSide sides[2];
	gboolean against[WP_N_AGAINST];
	gboolean is_comparable; /* nothing that makes verdicts meaningless */
	double mix_shift;       /* half the sum of differences of shares of operations */
	gboolean by_captures;   /* what captures of a side differ by is known */
	WpRoles *roles;
	guint n_tests; /* in the family */
	WpVerdict verdict;
	gboolean is_worse; /* something takes longer, or is called more often */
	guint32 n_operations;
	WpComparedOperation *operations; /* changed first, by contribution; background last */
	guint32 n_kinds;
	WpComparedKind *kinds; /* most calls first */
	guint32 n_paths;
	WpComparedPath *paths; /* by operation, new ones first */
	guint32 n_paths_left;  /* beyond that */
	GStringChunk *texts;   /* that are of no digest */
} WpComparison;

/*
 * (transfer full) The N digests, the first N_BEFORE of which stand before, are changed (labels that are one become
 * one) and must outlive the result.
 */
WpComparison *wp_compare(WpDigest *const *digests, guint n, guint n_before,
			 const WpCompareOptions *options);
void wp_comparison_free(WpComparison *comparison);

/* TRUE where the change of TEST is for the worse. */
gboolean wp_test_is_worse(const WpTest *test);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpComparison, wp_comparison_free)

#endif
