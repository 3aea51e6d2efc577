/*
 * WpViewRequest: one request whole, as pages show it: its calls as a tree in time, each beside the median of
 * its place in the pattern.
 *
 * Made when it is asked for, as a view has thousands that no page shows. Text is borrowed from the analysis;
 * times are ns.
 */
#ifndef WP_REPORT_VIEW_REQUEST_H
#define WP_REPORT_VIEW_REQUEST_H

#include <glib.h>

#include "report/view.h"

#define WP_VIEW_ADDRESS_MAX 48

typedef struct {
	char address[WP_VIEW_ADDRESS_MAX]; /* "" = not known */
	guint16 port;
} WpViewEnd;

/* A message of a call: 0 the call, 1 its return. */
typedef struct {
	guint64 bytes; /* valid where has_bytes */
	gboolean has_bytes;
	guint64 packet; /* 0 = not known */
	guint tap;      /* number of the input */
} WpViewMessage;

typedef struct {
	const WpViewNode *node; /* its place in the pattern; NULL where that has none */
	guint32 parent;         /* call of the request, or WP_VIEW_NONE */
	guint32 depth;
	gboolean is_last; /* of its parent's children */
	gboolean is_parallel;
	gboolean is_one_way;
	gboolean waits;
	gboolean is_error;
	gboolean is_estimated; /* self time: something below is missing */
	gboolean
		is_hottest; /* most self time above the median; of an only request, most self time */
	const char *caller;
	const char *callee;
	const char *label;
	const char *protocol;
	const char *status;
	char *id;         /* as in the trace */
	double start_ns;  /* after the root call */
	gboolean has_end; /* the times below are known */
	double latency_ns;
	double self_ns;
	double connecting_ns; /* of the self time: connections for calls below */
	double critical_ns;   /* part of the critical path that is its own */
	double request_ns;    /* parts of the latency, 0 for one-way messages */
	double server_ns;
	double reply_ns;
	double stall_ns;   /* held up: in none of the three */
	guint n_stalls;    /* so many times; of these the longest: */
	const char *cause; /* as WpViewStalls has it */
	double longest_ns; /* its part in this call */
	guint64 stall_first;
	guint64 stall_last; /* its packets, of the input of the call; 0 = not known */
	double connect_ns;  /* of a connection opened for it: TCP; negative = none, or not known */
	double setup_ns;    /* ... TLS, greeting, login; likewise */
	double network_ns;  /* negative = not known */
	WpViewMessage messages[2];
	WpViewEnd src;
	WpViewEnd dst;
	double probability; /* of the link to its parent; negative = none */
	guint32 n_candidates;
	char *runner_id; /* of the next best parent; "" = none */
	char *evidence;  /* words joined by + */
} WpViewCall;

typedef struct {
	const WpViewPattern *pattern;
	gint64 begin_ns;
	double latency_ns;
	double slower_than; /* share of the requests of the pattern that are faster */
	double links_odds;  /* that all calls are under the right parent; negative = not known */
	guint32 n_calls;
	guint32 n_more; /* further calls, that were not kept */
	WpViewCall *calls;
} WpViewRequest;

/* (transfer full) EXAMPLE of PATTERN, of VIEW; NULL where no more is known of it. */
WpViewRequest *wp_view_request_new(const WpView *view, const WpViewPattern *pattern,
				   const WpViewExample *example);
void wp_view_request_free(WpViewRequest *request);

/*
 * (transfer full) A display filter for Wireshark: the packets that calls and returns of REQUEST begin with, of
 * input TAP; NULL where none is known.
 */
char *wp_view_request_frames(const WpViewRequest *request, guint tap);

/* (transfer full) The same for all packets of its connections while it took; NULL where addresses are not known. */
char *wp_view_request_flows(const WpViewRequest *request);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpViewRequest, wp_view_request_free)

#endif
