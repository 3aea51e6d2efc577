/*
 * Moves, and what the search knows while it makes them. Shared by nesting-moves.c and nesting-search.c;
 * nobody else includes this.
 *
 * A move takes one bundle to another candidate (relocate), exchanges two of one kind (swap), does either
 * with the next bundle as well (run), or exchanges all that two parents do from a time on (tails: nesting-tails.h). Only two
 * timelines change, so only these are scored again.
 *
 *     relocate         p1: a b c   p2: d        ->   p1: a c     p2: b d
 *     swap             p1: a b c   p2: a' b'    ->   p1: a b' c  p2: a' b
 *     run              p1: a b c   p2: d        ->   p1: c       p2: a b d
 *     tails            p1: a b c   p2: a' b' c' ->   p1: a b' c' p2: a' b c
 */
#ifndef WP_INFER_NESTING_MOVES_H
#define WP_INFER_NESTING_MOVES_H

#include "infer/nesting-fifo.h"
#include "infer/nesting-tails.h"
#include "infer/nesting.h"
#include "infer/random.h"
#include "infer/timeline.h"

#define WP_NO_BUNDLE         G_MAXUINT32
#define WP_NEST_MAX_CHILDREN 256  /* timelines longer than this are left as they are */
#define WP_NEST_ENOUGH       1e-9 /* nats: less is no gain */
#define WP_NEST_NOISE_REACH  12.0 /* temperatures: noise hardly ever makes up for more */

/* What can be done with a bundle and a parent that it might have. */
typedef enum {
	WP_NEST_MOVE_RELOCATE,
	WP_NEST_MOVE_SWAP,
	WP_NEST_MOVE_RUN,
	WP_NEST_MOVE_SWAP_RUN,
	WP_NEST_MOVE_TAILS,
} WpNestMoveKind;

typedef struct {
	WpNestMoveKind kind;
	guint32 bundle;
	guint32 next;  /* WP_NEST_MOVE_RUN, WP_NEST_MOVE_SWAP_RUN: the bundle that goes along */
	guint32 other; /* WP_NEST_MOVE_SWAP, WP_NEST_MOVE_SWAP_RUN: the bundle that comes back */
	guint32 other_next; /* WP_NEST_MOVE_SWAP_RUN: ... with this one */
	guint32 end; /* WP_NEST_MOVE_TAILS: the child behind what is exchanged (nesting-tails.h) */
	guint32 from;
	guint32 to;
	double score_from; /* what the two would have */
	double score_to;
	double odds; /* that evidence beside time gains */
	double gain;
} WpNestMove;

typedef struct {
	guint32 children[4 * WP_NEST_MAX_CHILDREN];
	guint32 n;
} WpNestList;

/* What is known of a bundle and a parent that it might have, since that was last tried. */
typedef struct {
	guint32 tried; /* clock */
	float gain;    /* of the best move, without noise */
} WpNestMemory;

/*
 * Bundles that are left alone until a parent that they might have changes: all that could be tried was tried in
 * vain. Who is to be woken by a change of a parent is listed: in the last rounds hardly any bundle is awake.
 */
typedef struct {
	guint8 *asleep;       /* by bundle */
	guint32 first_parent; /* the lists are of parents from this one on */
	guint32 n_parents;
	guint32 *first;   /* into BUNDLES, by parent */
	guint32 *bundles; /* that have it among several candidates */
} WpNestSleep;

/* What a parent scores without a bundle, as long as nothing changes. */
typedef struct {
	guint32 bundle;
	guint32 clock;
	guint32 model;
	double score;
} WpNestLeft;

struct WpNestSearch {
	WpNestProblem *problem;
	WpTimelines *timelines;
	double temperature;
	double reach; /* nats: where there is noise, what was worse is left alone; 0: nothing is */
	WpRandom64 random;
	guint32 *ambiguous; /* bundles with more than one candidate */
	guint32 n_ambiguous;
	guint32 clock;          /* moves made */
	guint32 model;          /* how often something new was learned */
	guint32 *changed;       /* by parent: clock */
	WpNestMemory *memories; /* by candidate */
	double *gains;          /* by candidate, as tried last in a draw; NULL: not asked */
	WpNestSleep sleep;
	WpNestLeft left;
	double *weights;    /* scratch, by candidate of a bundle */
	WpNestList of_from; /* of the move in hand */
	WpNestList of_to;
	WpNestFifo *fifo;     /* NULL: the host is not known to work in order */
	guint32 first_parent; /* what is learned and scored: a window while first answers are tried */
	guint32 end_parent;
	guint32 first_candidate; /* likewise what is tried */
	guint32 end_candidate;
	const struct WpNestDraws *draws; /* that say how sure links are; NULL until they are made */
	gboolean has_line;               /* calls stood in line for a connection */
	gboolean knows;                  /* timelines were learned from the truth and stay */
};

/* The best move of a bundle: with noise the one to make, without it the one to remember. */
typedef struct {
	WpNestMove move;
	double gain;
} WpNestBest;

/* Adds to BEST any move of bundle NUMBER that takes it to parent TO. */
void wp_nest_try_parent(WpNestSearch *search, guint32 number, guint32 to, WpNestBest *best);

/* What the best of these moves gains, and the move; from WP_NO_PARENT where there is none. */
double wp_nest_best_move(WpNestSearch *search, guint32 number, guint32 to, WpNestMove *out);

/* What PARENT scores with the children that it has. */
double wp_nest_score(WpNestSearch *search, guint32 parent);

/* ... and all parents of the part that is searched. */
double wp_nest_total(WpNestSearch *search);

void wp_nest_make_move(WpNestSearch *search, WpNestMove *move);

/* TRUE where neither FROM nor candidate AT, of a bundle of FROM's, has changed since that was tried. */
static inline gboolean
wp_nest_is_unchanged(const WpNestSearch *search, guint32 at, guint32 from)
{
	guint32 tried = search->memories[at].tried;
	return search->changed[from] <= tried &&
	       search->changed[search->problem->candidates[at].parent] <= tried;
}

/*
 * TRUE where trying candidate AT of a bundle of FROM's again comes to nothing, at TEMPERATURE: nothing has
 * changed.
 */
static inline gboolean
wp_nest_is_settled(const WpNestSearch *search, guint32 at, guint32 from, double temperature)
{
	return search->memories[at].gain <=
		       (float)(WP_NEST_ENOUGH - WP_NEST_NOISE_REACH * temperature) &&
	       wp_nest_is_unchanged(search, at, from);
}

/* TRUE while there is noise and what is far from the best is left alone, whatever changes. */
static inline gboolean
wp_nest_is_hasty(const WpNestSearch *search)
{
	return search->reach > 0 && search->temperature > 0;
}

/* Makes the best move of bundle NUMBER; FALSE where none is a gain. */
gboolean wp_nest_improve(WpNestSearch *search, guint32 number);

#endif
