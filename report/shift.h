/*
 * WpShift: has a number changed from before to after, by how much, and could these captures have shown it?
 *
 * The number is a ratio of sums: time over calls, calls over requests. What follows one request hangs together
 * with what follows the next (they wait for each other), so a test that takes them for independent calls most
 * unchanged systems changed. Here the unit is a block of requests that follow one another:
 *
 *     requests   ooooooooo ooooooooo ooooooooo ooooooooo ...
 *     blocks     [  r1   ] [  r2   ] [  r3   ] [  r4   ]        joined in pairs until neighbours no longer hang
 *                [       r1'       ] [       r2'       ]        together; where they still do with few left, nothing
 *                                                               can be said
 *
 * (batch means: Law and Carson, "A sequential procedure for determining the length of a steady-state simulation",
 * 1979.) That is at a price where blocks do not hang together: chance alone has some joined, and a tenth of all changes
 * that could be seen is not. So a number of which nothing ties one block to the next is taken at its word, unless all
 * captures together show otherwise.
 *
 * What makes captures of one system differ from each other (time of day, host, caches) is in no single capture:
 * with three or more a side these are the units instead, and of the two variances the greater counts.
 */
#ifndef WP_REPORT_SHIFT_H
#define WP_REPORT_SHIFT_H

#include <glib.h>

/* A block: sums over its requests. */
typedef struct {
	double num;
	double den;
} WpShiftBlock;

/* One capture, in order of time. */
typedef struct {
	const WpShiftBlock *blocks;
	guint n;
} WpShiftSeries;

typedef struct {
	const WpShiftSeries *series;
	guint n;
} WpShiftSide;

typedef enum {
	WP_SHIFT_RATIO,     /* after / before; the number is positive */
	WP_SHIFT_DIFFERENCE /* after - before; it may be 0 */
} WpShiftScale;

/* What is known beforehand of blocks that follow one another. */
typedef enum {
	WP_SHIFT_TIED, /* they wait for each other, or for the same: latency */
	WP_SHIFT_APART /* nothing ties them: work */
} WpShiftBond;

typedef enum {
	WP_SHIFT_CLEAR,
	WP_SHIFT_NOTHING, /* a side has none of it */
	WP_SHIFT_FEW,     /* too few blocks */
	WP_SHIFT_HANGS    /* blocks hang together however long they are */
} WpShiftDoubt;

typedef struct {
	WpShiftScale scale;
	WpShiftDoubt doubt; /* not CLEAR: what follows has no error, and nothing can be tested */
	double before;
	double after;
	double change; /* RATIO: natural logarithm of after / before */
	double error;  /* standard error of CHANGE */
	double df;
	double link_error; /* how far CHANGE may be off by wrong links; added to intervals; 0 where not set */
	gboolean by_captures; /* ERROR holds what captures of a side differ by */
	gboolean hangs;       /* in some capture blocks hang together however long they are */
} WpShift;

/* Captures a side from which on they are the units. */
#define WP_SHIFT_MIN_CAPTURES 3

/* Blocks of a capture: with fewer nothing is said. */
#define WP_SHIFT_MIN_BLOCKS 10

WpShift wp_shift_measure(WpShiftScale scale, WpShiftBond bond, const WpShiftSide *before,
			 const WpShiftSide *after);

/*
 * The same of a change that was worked out otherwise: a logarithm. INFLUENCES: of each of N captures, by block
 * (double), how much less the change would be without it.
 */
WpShift wp_shift_by_influence(double change, WpShiftBond bond, GArray *const *influences, guint n);

/*
 * Twice as much or half, and so many standard errors that it is seen however blocks hang together. Of work alone, which is
 * taken where as much is in hand, that leaves no doubt; of a latency, queues may be all of it.
 */
gboolean wp_shift_is_manifest(const WpShift *shift);

/* How likely so large a change is by chance, where nothing has changed. 1 where there is doubt. */
double wp_shift_chance(const WpShift *shift);

/* The interval that holds the change but for a share RISK of all cases: on the scale of CHANGE. */
void wp_shift_interval(const WpShift *shift, double risk, double *out_low, double *out_high);

/* The change that these captures would have shown 4 times of 5, tested at RISK; infinite where there is doubt. */
double wp_shift_detectable(const WpShift *shift, double risk);

#endif
