/*
 * WpCourse: a capture as it went: what each node did, for each kind of call, in bins of time; bounded, whatever the
 * length of the capture. What looks at the health of a system (doctor.h) asks how these bins differ from each other, and
 * how nodes that are replicas differ in them.
 *
 *     web GET /buy    |12|14|13|15|12|90|88|13|     calls, errors, self times, and the slowest call of each bin
 *     db  SELECT {}   |24|28|26|30|24| 9| 8|26|
 *
 * All bins are as long; when there would be more than WP_COURSE_BINS, neighbours join. Calls stand in the bin in which
 * they begin. Times are logarithms of self time as well: their mean cares little for a few calls that take
 * a hundred times as long as the others. Names are borrowed from the analysis.
 */
#ifndef WP_REPORT_COURSE_H
#define WP_REPORT_COURSE_H

#include <glib.h>

#include "report/analysis.h"

#define WP_COURSE_BINS 256 /* even */

/* At most so many kinds of calls, and nodes; calls of others are counted. */
#define WP_COURSE_MAX_KINDS 1000
#define WP_COURSE_MAX_NODES 4000

#define WP_COURSE_NONE G_MAXUINT32

/* A call to look at. */
typedef struct {
	gint64 begin_ns; /* since the epoch */
	gint64 latency_ns;
	gint64 self_ns;
	guint64 packet; /* 0 = unknown */
	guint64 id;     /* of the record */
	guint tap;
} WpCourseExample;

typedef struct {
	guint64 calls;  /* made, one-way messages too */
	guint64 errors; /* of these */
	guint64 timed;  /* calls of which the self time is known: */
	double self_ns;
	double logs; /* sum of logarithms of self times in ns, at least WP_COURSE_FLOOR_NS each */
	WpCourseExample slowest; /* by self time, of those timed */
} WpCourseCell;

/* What clocks and captures do not tell apart. */
#define WP_COURSE_FLOOR_NS 1000

/* All calls of one kind into one node. */
typedef struct {
	guint32 node;
	const char *label; /* "" = none */
	const char *protocol;
	WpCourseCell all;
	WpCourseCell *cells; /* [WP_COURSE_BINS] */
} WpCourseKind;

typedef struct {
	const char *name;
	guint32 group; /* replicas have the same: the number of one of them; often its own */
	guint64 in[WP_COURSE_BINS];     /* calls into it, by bin */
	guint64 errors[WP_COURSE_BINS]; /* of these */
	guint64 out[WP_COURSE_BINS];    /* calls that it made for them */
	guint64 n_in;
	guint64 n_errors;
	guint64 n_out;
} WpCourseNode;

typedef struct {
	gint64 begin_ns; /* of the first bin; since the epoch */
	gint64 bin_ns;   /* width */
	guint32 n_bins;  /* up to the last in which anything began */
	guint64 requests;
	double self_ns;   /* of all calls */
	GPtrArray *kinds; /* WpCourseKind, in order of first sight */
	GPtrArray *nodes; /* WpCourseNode */
	guint64 n_left;   /* calls of kinds and nodes beyond the limits */
	WpNodes *names;   /* borrowed */
} WpCourse;

typedef struct WpCourseMaker WpCourseMaker;

/* (transfer full) */
WpCourseMaker *wp_course_maker_new(void);
void wp_course_maker_free(WpCourseMaker *maker);

/* A part as it is shown to a WpAnalysisFunc. */
void wp_course_maker_add(WpCourseMaker *maker, const WpAnalysis *part);

/* (transfer none) As it is so far. */
const WpCourse *wp_course_maker_course(const WpCourseMaker *maker);

const WpCourseKind *wp_course_kind(const WpCourse *course, guint32 kind);
const WpCourseNode *wp_course_node(const WpCourse *course, guint32 node);

/* Adds FROM to INTO; the slower example stays. */
void wp_course_cell_add(WpCourseCell *into, const WpCourseCell *from);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpCourseMaker, wp_course_maker_free)

#endif
