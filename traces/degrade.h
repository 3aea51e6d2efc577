/*
 * WpDegrade: a sink that makes a trace worse on its way to another sink, as real captures are: clocks
 * that are wrong, messages that were lost, seen twice, or out of order. Ids stay, so that the truth of
 * the trace stays valid. Memory: what is within the largest shift of time.
 *
 * Clocks. A record has one time, so it must be said whose: a capture of several points sees each
 * message at both ends, and one copy is kept. Here it is that of the tap at the callee (or, if asked for, at
 * the caller), for a call and its return alike:
 *
 *     caller --CALL--> [tap of the callee: stamps both]
 *            <-RETURN-
 *
 * So the clock of node B moves the calls into B against the calls out of B, which is what hurts: fast
 * by more than the delay from a call in to a call out, or slow by more than that from return in to
 * return out, and children lie outside their parents (the paper, 7.5.6 and figure 22).
 */
#ifndef WP_TRACES_DEGRADE_H
#define WP_TRACES_DEGRADE_H

#include <glib.h>

#include "capture/sink.h"
#include "traces/error.h"

typedef struct {
	char *node; /* its key */
	gint64 offset_ns;
	double drift_ppm; /* since the first record; fast where positive */
} WpSkew;

/* No shift is larger: 1 day. No clock is wronger: 10 %. */
#define WP_DEGRADE_MAX_NS  (G_GINT64_CONSTANT(86400) * 1000000000)
#define WP_DEGRADE_MAX_PPM 1e5

typedef struct {
	guint64 seed;
	GArray *skews;          /* WpSkew; may be NULL */
	gboolean is_caller_tap; /* stamped at the caller instead */
	double loss;            /* share of records lost at random */
	double sniffer_per_s;   /* records that a sniffer can take; 0 = any number */
	guint32 sniffer_queue;  /* records that wait for it; more are lost */
	double duplicates;      /* share of records that come twice */
	gint64 duplicate_ns;    /* the second up to so much later */
	gint64 jitter_ns;       /* each record is stamped up to so much late */
	gint64 reorder_ns;      /* each record comes up to so much late, with its own stamp */
} WpDegradeOptions;

/* No degradation; seed 1, a queue of 64 (the paper's), doubles within 100 us. */
void wp_degrade_options_init(WpDegradeOptions *options);
void wp_degrade_options_clear(WpDegradeOptions *options);

/* "WS2=30ms", "WS2=-30ms", "WS2=5ms,20" (ppm), "WS2=0,-20". FALSE with WP_TRACES_ERROR_OPTION. */
gboolean wp_degrade_add_skew(WpDegradeOptions *options, const char *text, GError **error);

/* "500/s" */
gboolean wp_degrade_set_sniffer(WpDegradeOptions *options, const char *text, GError **error);

typedef struct WpDegrade WpDegrade;

/* (transfer full) OPTIONS and NEXT are borrowed. */
WpDegrade *wp_degrade_new(const WpDegradeOptions *options, WpRecordSink *next);
void wp_degrade_free(WpDegrade *degrade);

/* (transfer none) At its end a node of OPTIONS that never occurred is WP_TRACES_ERROR_OPTION. */
WpRecordSink *wp_degrade_sink(WpDegrade *degrade);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpDegrade, wp_degrade_free)
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(WpDegradeOptions, wp_degrade_options_clear)

#endif
