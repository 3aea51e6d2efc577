/*
 * WpClock: what the clock of one tap shows against that of another, learned from messages that both saw.
 *
 *   by A's clock  ---s----------------r---->      a message from A to B:   r' - s  = offset + way there
 *   by B's clock  -------r'-------s'------->      a message from B to A:   s' - r  = offset - way back
 *
 * No way takes less than nothing: the offset lies below all differences of the first kind and above all
 * of the second, and halfway between the two envelopes where the shortest ways there and back are alike.
 * How far apart the envelopes are bounds the error, whatever the ways are like. (The minimum filter of RFC 5905,
 * section 10, over windows of time; V. Paxson, "On calibrating measurements of packet transit times", 1998.)
 */
#ifndef WP_CAPTURE_CLOCK_H
#define WP_CAPTURE_CLOCK_H

#include <glib.h>

/* One message that both taps saw. */
typedef struct {
	gint64 time_ns;       /* by A's clock */
	gint64 difference_ns; /* B's clock minus A's */
	gboolean is_back;     /* it came by B first */
} WpClockPair;

/* From one time to that of the next segment the clock goes evenly. */
typedef struct {
	gint64 from_ns;   /* by the clock itself */
	gint64 offset_ns; /* of the clock against the reference, at from_ns; fast where positive */
	double drift;     /* seconds that it gains in a second of its own */
	double offset_error_ns; /* bounds of both, where nothing is stranger than assumed */
	double drift_error;
} WpClockSegment;

/* Of a clock that is right there are no segments. */
typedef struct {
	WpClockSegment *segments;
	guint n;
} WpClock;

void wp_clock_clear(WpClock *clock);

/* A clock that is OFFSET_NS fast at FROM_NS of its own, and gains DRIFT a second. */
void wp_clock_set(WpClock *clock, gint64 from_ns, gint64 offset_ns, double drift);

/*
 * B's clock against A's from PAIRS, which are sorted by time; as A sees it: from_ns are times of A. FALSE, and
 * nothing is set, where there are too few.
 */
gboolean wp_clock_fit(const WpClockPair *pairs, gsize n, WpClock *out_clock);

/* Between which the offset lies at one time. */
typedef struct {
	gint64 time_ns;  /* by A's clock */
	gint64 there_ns; /* B's clock minus A's, at most */
	gint64 back_ns;  /* ... and at least */
} WpClockEdges;

/* Likewise from the edges of N windows, at least 1, sorted by time. */
void wp_clock_fit_edges(const WpClockEdges *edges, gsize n, WpClock *out_clock);

/* The clock of B against A, as A sees it, becomes one as B sees it; or that of A against B, as A sees it. */
void wp_clock_turn(const WpClock *clock, WpClock *out_clock);
void wp_clock_negate(const WpClock *clock, WpClock *out_clock);

/* CLOCK is against one whose own CLOCK is VIA: the sum of both. */
void wp_clock_chain(const WpClock *clock, const WpClock *via, WpClock *out_clock);

/* TIME_NS of the clock by that of the reference. */
gint64 wp_clock_correct(const WpClock *clock, gint64 time_ns);

/* The segment of TIME_NS; NULL where there is none. */
const WpClockSegment *wp_clock_segment(const WpClock *clock, gint64 time_ns);

#endif
