/*
 * Inside of the nesting engine (engine-nesting.c): the problem of one host, and the parts that solve
 * it. Nobody else includes this.
 *
 * A host B receives calls (parents) and sends calls (children). Which parent caused which child is one
 * joint question: every child has one parent, a parent makes its calls in an order that repeats from
 * request to request, and its reply comes after them.
 *
 *     parents   |------ p1 --------|        class of a parent: who called, and what
 *                  |------- p2 ---------|
 *     children     |-c1-|  |-c2-|           type of a child: who is called, and what
 *                      |-c3-| |--c4--|
 *
 *   nesting-pace.c      the whole: by which clock the host's work goes, and the answer on it
 *   nesting-solution.c  ... on one clock
 *   nesting-part.c      ... and the part of it by which that is told
 *   nesting-retime.c    how likely an answer is on a clock
 *   nesting-line.c      messages taken one at a time, in order: another answer where that is likelier
 *   nesting-rate.c      ... than what messages worked at side by side would send
 *   nesting-score.c     ... than the answer that there was
 *   nesting-workers.c   ... or by several workers: when each was taken up
 *   nesting-clock.c     clocks that go the slower the more the host has in hand
 *   nesting-turns.c     how long what comes in waits for its turn
 *   nesting-problem.c   spans -> parents, children, bundles
 *   nesting-overlaps.c  which calls a parent makes beside others of its own, by counts alone
 *   nesting-packets.c   calls that left in one packet, which is no sign of one cause
 *   nesting-reach.c     how long after a one-way message or a reply its work begins; what nothing causes
 *   nesting-siblings.c  how many things of a type a message causes, by counts alone
 *   nesting-pool.c      calls that had waited for a free connection
 *   nesting-queue.c     ... and when they came to the line
 *   nesting-lined.c     ... and whether that is believed; and lines for workers before it
 *   nesting-holds.c     connections that a request has for itself
 *   nesting-candidates.c
 *                       which parents each bundle may have
 *   nesting-shift.c     bundles moved in time, to see what chance is like
 *   nesting-modes.c     whether calls lie inside their parents or follow them, by evidence
 *   nesting-start.c     a first answer: delays that stand out against a time-shifted null
 *   nesting-soft.c      ... refined by spreading children over their candidates
 *   evidence*.c         what speaks for a parent beside time
 *   timeline.c          how likely a parent with given children is: plans and delays, learned
 *   timeline-once.c     of what each parent makes just one
 *   timeline-holds.c    ... of what follows each other on a connection that it holds
 *   nesting-fifo.c      whether the host works in order, and what that forbids
 *   nesting-moves.c     what could be changed, and what that would gain
 *   nesting-tails.c     ... and how far that goes, of all that follows a call
 *   nesting-ties.c      what came in one packet, and left in one
 *   nesting-agree.c     the answer with most links that others have as well
 *   nesting-unseen.c    parents of which the capture shows one end, or none
 *   nesting-draws.c     how many answers are drawn to say how sure each link is
 *   nesting-unused.c    where children may lie to their parents, and do not in an answer
 *   nesting-search.c    moves that make the whole likelier; the probability of each link
 *
 * All times are ns. All numbers (parents, children, ...) are indices of one problem.
 */
#ifndef WP_INFER_NESTING_H
#define WP_INFER_NESTING_H

#include <glib.h>

#include "infer/engine.h"
#include "infer/hints.h"
#include "infer/quicklog.h"
#include "infer/resolve.h"

#define WP_NO_PARENT G_MAXUINT32
#define WP_NO_CHILD  G_MAXUINT32
#define WP_NO_PAIR   G_MAXUINT32

/* How many siblings things of a type have. */
#define WP_NEST_NOT_KNOWN G_MAXDOUBLE

/* Kinds of bundles of one host that are told apart: the most frequent. */
#define WP_NEST_MAX_KINDS 512

/* Children of a parent for which there is room from the begin. */
#define WP_NEST_FEW_CHILDREN 4

/* How a child lies to a parent. */
typedef enum {
	WP_NEST_INSIDE, /* the parent encloses it */
	WP_NEST_ACROSS, /* it begins inside and ends after the parent */
	WP_NEST_AFTER,  /* it begins after the parent has ended: work after the reply */
	WP_NEST_N_MODES
} WpNestMode;

typedef struct {
	gint64 begin_ns;
	gint64 end_ns;
	gint64 wait_ns; /* for its turn, after its begin; 0: not asked */
	guint32 span;
	guint32 class;
	guint32 *children; /* by begin_ns */
	guint32 n;
	guint32 n_allocated; /* more than WP_NEST_FEW_CHILDREN: they are owned, else a part of the problem's room */
	double score;  /* log likelihood of its timeline, of the model that it was asked of */
	guint32 model; /* 0: none yet */
	/* Booleans of a byte: all of a parent is in one cache line. */
	guint8 is_message; /* one-way: it ends where it begins, all its work comes after it */
	guint8 waits;      /* a long poll: encloses much that it has not caused */
	guint8 is_open;    /* its return was not seen: it ends some time after its calls */
	guint8 is_ghost;   /* nothing of it was seen: it begins some time before them, too */
} WpNestParent;

/*
 * The opening or closing of a connection, as far as set-up exchanges show it (login, quit): of a
 * connection that serves one request it tells when that request began or ended its use.
 */
typedef struct {
	gint64 time_ns;
	guint32 flow;
	guint32 callee;
	gboolean closes;
} WpNestMark;

typedef struct {
	gint64 begin_ns;
	gint64 end_ns;  /* begin_ns where it has no return */
	gint64 wait_ns; /* of its return, for its turn; 0: not asked */
	guint32 span;   /* WP_NO_SPAN: a mark */
	guint32 type;
	guint32 bundle;
	guint32 packet;         /* of several that left in one: its number from 1; 0: alone */
	gboolean has_waited;    /* for a connection: when it began tells nothing of its parent */
	gboolean shows_no_line; /* of a pool where others have: one more connection was free */
} WpNestChild;

/* Calls that have the same parent whatever it is: one call, or all calls of a connection. */
typedef struct {
	gint64 begin_ns;
	gint64 end_ns;  /* of the last to end */
	gint64 wait_ns; /* of that one's return */
	guint32 first;  /* into bundle_children */
	guint32 n;
	guint32 kind; /* bundles of one kind may be swapped: same types in the same order, but for rare ones */
	guint32 first_candidate;
	guint32 n_candidates;
	guint32 n_possible;    /* candidates before the hopeless ones were dropped */
	guint32 parent;        /* WP_NO_PARENT: none */
	guint8 is_transaction; /* a boolean of a byte, as the next */
	guint8 has_waited;     /* its first child */
} WpNestBundle;

typedef struct {
	guint32 parent;
	guint32 pair; /* its number for evidence, or WP_NO_PAIR: that knows nothing of it */
	float odds;   /* log-odds (nats) of all evidence beside time */
	guint8 mode;  /* WpNestMode */
} WpNestCandidate;

typedef struct {
	gint64 after_ns;      /* children may begin so long after the parent's end; -1: learned */
	gint64 skew_ns;       /* clocks may differ by so much */
	gboolean anneals;     /* noisy rounds first */
	gboolean is_rough;    /* the first answer in one way, not in the best of several */
	WpStopFunc stop;      /* TRUE: come to an end with what there is; NULL: never */
	guint32 evidence;     /* set of wp_evidence_kinds */
	const WpHints *hints; /* NULL = none */
	const guint32 *
		alike; /* by span: the callee that stands for those like it (alike.h); NULL: each for itself */
	const WpReference *reference; /* what is known beforehand; NULL: nothing */
} WpNestOptions;

typedef struct WpEvidence WpEvidence;
typedef struct WpNestClock WpNestClock;
typedef struct WpNestHolds WpNestHolds;
typedef struct WpNestOverlaps WpNestOverlaps;
typedef struct WpNestSearch WpNestSearch;

/* A bundle and a parent that is no candidate of its. */
typedef struct {
	guint32 bundle;
	guint32 parent;
} WpNestAccident;

/* The grain of a clock that is fine enough: what has the same time on it left in one packet. */
#define WP_NEST_GRAIN_NS 20e3

typedef struct {
	const WpResolved *resolved;
	const WpNestOptions *options;
	WpNestParent *parents; /* by begin_ns; then those without an end, then ghosts */
	guint32 n_parents;     /* both ends seen */
	guint32 n_messages;    /* of these: one-way */
	guint32 *room;         /* for few children of each of these */
	guint32 n_open;
	guint32 n_ghosts;      /* 0, or one a bundle */
	double unseen_a_grain; /* log of the calls that were lost, a grain of time */
	WpNestChild *children; /* by begin_ns */
	guint32 n_children;
	WpNestBundle *bundles; /* by begin of their first child */
	guint32 n_bundles;
	guint32 *bundle_children;
	WpNestCandidate *candidates; /* of each bundle by parent */
	guint32 n_candidates;
	guint32 n_classes;
	guint32 n_types;
	guint32 n_kinds;
	guint32 n_joined; /* kinds, and points of plans, for which there was no room of their own */
	gboolean calls_itself; /* a call may be parent and child */
	gint64 after_ns;       /* the window of WP_NEST_AFTER */
	gint64 reach_ns;       /* ... behind a one-way message */
	double *spontaneous;   /* by type: children that no message has caused; NULL: not asked */
	double *alone_nats; /* by type: log of how many nothing causes, a grain; NULL: all are caused */
	gint64 *least_ns;    /* by type: no message causes any so soon; NULL: not known */
	double *siblings;    /* of a thing, by type; [n_types]: of all types; NULL: not known */
	gboolean only_wakes; /* messages tell when things are sent, but cause none */
	double grain_ns;     /* delays below it are all alike: clock tick, scheduling */
	double per_grain;
	gboolean has_turns; /* gaps are from turns, and may be negative (nesting-turns.h) */
	gboolean
		is_lined; /* calls begin when they came to a line for a connection (nesting-queue.h) */
	gboolean has_waits; /* ... which are told by the waits of an answer */
	double beside;      /* other calls in the packet of a call, on average */
	double packet_cost; /* nats: of a call that leaves in one packet with the one before it */
	WpNestOverlaps *overlaps; /* what calls of one parent that overlap cost; NULL: not asked */
	WpNestHolds *holds;       /* connections that a request holds; NULL: not known of any */
	WpQuickLog quick;
	WpNestAccident *accidents; /* some of the pairs that are none: what chance is like */
	guint32 n_accidents;
	guint32 speakers;      /* kinds of evidence that might say something of this host */
	gboolean has_speakers; /* ... is known */
	WpEvidence *evidence;  /* NULL: nothing but time; then all odds are 0 */
} WpNestProblem;

static inline guint32
wp_nest_n_all_parents(const WpNestProblem *problem)
{
	return problem->n_parents + problem->n_open + problem->n_ghosts;
}

/* Log of how likely what cannot be is. */
#define WP_NEST_NEVER (-1e6)

/* Whether it may be that nothing causes BUNDLE. */
static inline gboolean
wp_nest_may_be_alone(const WpNestProblem *problem, const WpNestBundle *bundle)
{
	guint32 child = problem->bundle_children[bundle->first];
	return problem->alone_nats && bundle->n == 1 &&
	       problem->alone_nats[problem->children[child].type] > WP_NEST_NEVER;
}

/* The ghost whose first call BUNDLE may be, where there are any. */
static inline guint32
wp_nest_ghost_of(const WpNestProblem *problem, guint32 bundle)
{
	return problem->n_parents + problem->n_open + bundle;
}

/* The window of WP_NEST_AFTER behind PARENT. */
static inline gint64
wp_nest_after(const WpNestProblem *problem, const WpNestParent *parent)
{
	return parent->is_message ? problem->reach_ns : problem->after_ns;
}

/* TRUE where no more work is wanted. */
static inline gboolean
wp_nest_is_stopped(const WpNestProblem *problem)
{
	return problem->options->stop && problem->options->stop();
}

/* Octaves of GAP_NS over the grain: log2(1 + gap / grain). */
static inline double
wp_nest_octaves(const WpNestProblem *problem, gint64 gap_ns)
{
	return wp_quick_log2(&problem->quick, (double)gap_ns * problem->per_grain + 1);
}

/* In a problem with turns, where a gap may be negative: octaves of none. */
#define WP_NEST_ORIGIN 18.0

/* Likewise of a gap that starts at a turn: one too many before it is as far from none as one behind it. */
static inline double
wp_nest_octaves_from_turn(const WpNestProblem *problem, gint64 gap_ns)
{
	if (!problem->has_turns)
		return wp_nest_octaves(problem, MAX(gap_ns, 0));
	double octaves = wp_nest_octaves(problem, ABS(gap_ns));
	return MAX(WP_NEST_ORIGIN + (gap_ns < 0 ? -octaves : octaves), 0);
}

/* Log of what makes a density over those octaves one over the gap itself. */
static inline double
wp_nest_log_slope(const WpNestProblem *problem, double octaves)
{
	return -G_LN2 * (problem->has_turns ? ABS(octaves - WP_NEST_ORIGIN) : octaves);
}

/* A callee to which each request holds a connection (nesting-holds.h). */
typedef struct {
	guint32 callee;
	double share; /* of the calls that follow one of their request: on its connection, as far as is sure */
} WpNestHold;

/* What a host receives and sends, and its connections' marks: each by time. */
typedef struct {
	const guint32 *incoming; /* spans */
	guint32 n_incoming;
	const guint32 *outgoing; /* spans */
	guint32 n_outgoing;
	const WpNestMark *marks;
	guint32 n_marks;
	double n_lost;            /* calls into it that are missing (missing.h) */
	const WpNestClock *clock; /* that its times are by; NULL: real time */
	const gint64 *begins_ns;  /* by parent: when the work at it began; NULL: when it came */
	guint32 workers;          /* that do all of a call each, which begins then; 0: any number */
	/* By outgoing, ascending: when it came to a line for a connection, or was sent; NULL: when it was sent. */
	const gint64 *lined_ns;
	const WpNestHold *held; /* connections that a request holds */
	guint32 n_held;
	const WpPace *known;      /* how it works; NULL: that is to be found */
	const guint8 *has_waited; /* by span: WpWorkings */
	const gint64 *waited_ns;  /* likewise */
} WpNestHost;

/* TIME_NS by CLOCK, or as it is where that is NULL: real time. What is earlier is never later (nesting-clock.c). */
gint64 wp_nest_clock_at(const WpNestClock *clock, gint64 time_ns);

/* (transfer full) The problem of a host, without candidates; NULL where it sends no calls or receives none. */
WpNestProblem *wp_nest_problem_new(const WpResolved *resolved, const WpNestHost *host,
				   const WpNestOptions *options);
void wp_nest_problem_free(WpNestProblem *problem);

/* Which children left in one packet, and what that costs them where they have one parent (nesting-packets.c). */
void wp_nest_find_packets(WpNestProblem *problem);

/* That cost anew, where the children are on another clock than they were when their packets were found. */
void wp_nest_weigh_packets(WpNestProblem *problem);

/* How long after a one-way message what it causes may begin; 0: nothing of it stands out (nesting-reach.c). */
gint64 wp_nest_learn_reach(WpNestProblem *problem);

/*
 * Learns of types that begin also while no call is in hand how long after a reply they begin (after_ns), or that nothing causes
 * them (alone_nats): nothing does where calls are alone without regard to replies. Parents of HOST whose return was not seen are
 * there by then.
 */
void wp_nest_learn_late(WpNestProblem *problem, const WpNestHost *host);

/*
 * Marks the children and bundles of HOST that had waited for a connection (nesting-pool.c), and of which it is not known when
 * they came to the line: those that it says; where it says nothing, those that are found.
 */
void wp_nest_find_waiting(WpNestProblem *problem, const WpNestHost *host);

/* Whether so many have waited, or begin when they came to the line, that this shapes all of the host. */
gboolean wp_nest_has_line(const WpNestProblem *problem);

/* What stands for how long after its parent's begin such a bundle begins: of all parents the same. */
#define WP_NEST_WAITED_NS ((gint64)1000000000)

/* Makes room for N children of PARENT; those that it has stay. */
void wp_nest_make_room(WpNestParent *parent, guint32 n);

/* Sets the children of parents FIRST to END from the parents of the bundles; ... if they have no others than these. */
void wp_nest_hang_children(WpNestProblem *problem, guint32 first, guint32 end);
void wp_nest_hang_some(WpNestProblem *problem, guint32 first, guint32 end, guint32 first_child,
		       guint32 end_child);

/* Hangs bundle NUMBER to PARENT (WP_NO_PARENT: to none) instead of the one that has it. */
void wp_nest_give(WpNestProblem *problem, guint32 number, guint32 parent);

/* Where BUNDLE would lie to PARENT. */
WpNestMode wp_nest_mode(const WpNestProblem *problem, const WpNestBundle *bundle, guint32 parent);

/* Index of PARENT among the candidates of BUNDLE, or -1. */
gint wp_nest_find_candidate(const WpNestProblem *problem, const WpNestBundle *bundle,
			    guint32 parent);

/* Which candidates are worth looking at. */
typedef struct {
	const guint8 *picks; /* by bundle: whether any is asked for; NULL: all are */

	/* Whether a candidate stays where a parent that works encloses the bundle; NULL: all do. */
	gboolean (*keeps)(const WpNestBundle *bundle, const WpNestCandidate *candidate,
			  gpointer data);

	/* Whether it might keep parents that ended before the bundle began, or wants to know of them. */
	gboolean (*looks_far)(const WpNestBundle *bundle, gpointer data);

	gpointer data;
} WpNestChoice;

/* Sets the candidates of all bundles. */
void wp_nest_find_candidates(WpNestProblem *problem, const WpNestChoice *choice);

/* TRUE where one of N candidates encloses its bundle and does not wait. */
gboolean wp_nest_has_inside(const WpNestProblem *problem, const WpNestCandidate *candidates,
			    guint32 n);

/* How far bundles are moved to see what chance is like. */
typedef struct {
	double share;   /* of all of them, -1 .. 1: to where the so many-th later one is */
	guint32 block;  /* bundles that stay together */
	gint64 idle_ns; /* of a longer time without any, only so much counts */
} WpNestShift;

/* Where bundles are, by number and by time (nesting-shift.h). */
typedef struct WpNestOrder WpNestOrder;

/*
 * Calls FUNC for each pair of a bundle, moved by SHARE in ORDER (NULL: where it is), and a parent it may belong to. PICKS,
 * by bundle, says which take part.
 */
typedef void (*WpNestPairFunc)(guint32 bundle, guint32 parent, gint64 begin_gap_ns,
			       gint64 end_gap_ns, WpNestMode mode, gpointer data);
void wp_nest_foreach_pair(const WpNestProblem *problem, const WpNestOrder *order, double share,
			  const guint8 *picks, WpNestPairFunc func, gpointer data);

/* The K-th of N times, from 0; they are put in another order. */
gint64 wp_nest_select_time(gint64 *times, guint32 n, guint32 k);

/*
 * Gives each bundle its true parent where the reference knows it and it is a candidate; the others keep
 * what they have.
 */
void wp_nest_take_truth(WpNestProblem *problem);

/* First answers (nesting-start.c). */
typedef struct WpNestStart WpNestStart;

/* (transfer full) Counts delays against the null. */
WpNestStart *wp_nest_start_new(WpNestProblem *problem);
void wp_nest_start_free(WpNestStart *start);

/* Learns the delays from the present answer, once and for all. */
void wp_nest_start_know(WpNestStart *start);

/*
 * Of bundles FIRST to END, sets the parent of each that has candidates, after ROUNDS of soft assignment with so
 * much SLACK (nesting-soft.h). Parents do not get them as children yet.
 */
void wp_nest_start_assign(WpNestStart *start, guint rounds, double slack, guint32 first,
			  guint32 end);

/* Takes their parent from bundles that may have none, where none lies to them as parents do. Before any are dropped. */
void wp_nest_start_leave_alone(WpNestStart *start);

/* Of bundles FIRST to END, drops candidates in modes that the present answer does not use, and the hopeless. */
void wp_nest_start_drop(WpNestStart *start, guint32 first, guint32 end);

/* Adds parents whose return was not seen, of those that HOST received, and ghosts; to the end of the parents. */
void wp_nest_unseen_init(WpNestProblem *problem, const WpNestHost *host);

/*
 * Makes parents whose return was not seen, and parents that were not seen at all, candidates of what they
 * may have caused, once there is a first answer to tell how long after its begin a parent makes a call.
 */
void wp_nest_unseen_add(WpNestProblem *problem);

/* Of the answer: probability of the bundle's parent (-1: not known), and the next best (WP_NO_PARENT: none). */
typedef struct {
	double probability;
	guint32 runner_up;
	guint32 drawn; /* its parent in an answer drawn by chance of all that are as likely; or WP_NO_PARENT */
} WpNestBelief;

/* Finds the answer. (transfer full) What was learned on the way; PROBLEM is borrowed. */
WpNestSearch *wp_nest_search(WpNestProblem *problem);
void wp_nest_search_free(WpNestSearch *search);

/* Once, as it takes longer than the search: how sure the answer is of each bundle (OUT_BELIEFS: n_bundles). */
void wp_nest_believe(WpNestSearch *search, WpNestBelief *out_beliefs);

#endif
