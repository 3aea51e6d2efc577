/*
 * WpMeasure: an expression over calls, and what it says of a capture: a table by group, or a course in time.
 *
 *   avg(latency) by node
 *   p95(self) by operation, time(10s) where label ~ "GET *"
 *   avg(call - previous.return) by edge             the pause before a call, after the one before
 *   max(a.return - b.return)                        how much later than its caller's call
 *
 *   measure = function "(" value ")" [ "by" key { "," key } ] [ "where" condition ]
 *   function = avg | sum | count | min | max | sd | p1 .. p99
 *   value   = term { ("-" | "+") term }     term = [ call "." ] field
 *   call    = a: the call itself, also without a name;  b, parent: that which caused it;
 *             previous: the last before it that the same call caused;  child: each that it causes
 *   field   = call, return: when they are sent;  latency, self: times;  size: bytes of both;  errors: 1 or 0
 *   key     = node | caller | edge | operation | protocol | time "(" duration ")"
 *
 * Points in time need one to be taken from the other, but for count(); times, sizes and errors do not mix. The condition
 * is that of --where (where.h), about the call itself. What is not known (the latency of a call without return, the
 * previous of a first) is counted and left out. With child there is a value for each child.
 *
 * Streaming: memory is that of the groups, at most WP_MEASURE_MAX_GROUPS; values of others are counted.
 */
#ifndef WP_REPORT_MEASURE_H
#define WP_REPORT_MEASURE_H

#include <glib.h>

#include "infer/delay.h"
#include "report/analysis.h"

#define WP_MEASURE_MAX_GROUPS 10000
#define WP_MEASURE_MAX_KEYS   4

typedef enum {
	WP_MEASURE_TIME, /* ns */
	WP_MEASURE_BYTES,
	WP_MEASURE_PLAIN
} WpMeasureUnit;

typedef struct {
	const char *keys[WP_MEASURE_MAX_KEYS]; /* "" for time */
	gint64 time_ns; /* begin of its stretch, after the begin of the capture; 0 without */
	WpDelay *values;
	double value; /* what the expression asks for; when finished */
} WpMeasureGroup;

typedef struct WpMeasure WpMeasure;

/* (transfer full) NULL with WP_REPORT_ERROR_USAGE, which points at the place. */
WpMeasure *wp_measure_new(const char *text, GError **error);
void wp_measure_free(WpMeasure *measure);

/* A part as it is shown to a WpAnalysisFunc. Names are borrowed from the analysis. */
void wp_measure_add(WpMeasure *measure, const WpAnalysis *part);

/* No part comes after it: groups by value, the highest first; with time, by the other keys, then in order of time. */
void wp_measure_finish(WpMeasure *measure);

const char *wp_measure_text(const WpMeasure *measure);
WpMeasureUnit wp_measure_unit(const WpMeasure *measure);

/* "node", "time"; of their number. */
guint wp_measure_n_keys(const WpMeasure *measure);
const char *wp_measure_key(const WpMeasure *measure, guint key);
gboolean wp_measure_is_time(const WpMeasure *measure, guint key);

/* WpMeasureGroup */
guint wp_measure_n_groups(const WpMeasure *measure);
const WpMeasureGroup *wp_measure_group(const WpMeasure *measure, guint group);

guint64 wp_measure_n_unknown(const WpMeasure *measure);
guint64 wp_measure_n_left(const WpMeasure *measure);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpMeasure, wp_measure_free)

#endif
