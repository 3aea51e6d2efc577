/*
 * A capture of one tap becomes one of each host: the packets to and from its address, earlier than at the tap
 * by a way where the host sends them, later where it gets them, and all by a clock of its own.
 */
#ifndef WP_TESTS_SUPPORT_SPLIT_H
#define WP_TESTS_SUPPORT_SPLIT_H

#include <glib.h>

typedef struct {
	const char *address; /* "10.0.0.1" */
	gint64 offset_ns;    /* its clock is fast, at the first packet of the capture */
	double drift_ppm;
	double bend_ppm; /* drift from the middle of the capture on; 0 = as before */
	double loss;     /* share of the packets */
	double from, to; /* part of the capture that it saw; both 0 = all */
} WpSplitHost;

/* Each way between tap and host takes at least so much, and at times more: exponential. */
typedef struct {
	guint64 seed;
	gint64 least_ns;
	gint64 mean_more_ns;
} WpSplitWays;

/* (transfer full) The files of HOSTS, pcap with ns, to be removed with wp_split_free(). */
GPtrArray *wp_split(const char *path, const WpSplitHost *hosts, guint n, const WpSplitWays *ways);
void wp_split_free(GPtrArray *files);

#endif
