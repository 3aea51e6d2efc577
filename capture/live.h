/*
 * WpLive: packets of network interfaces, as they come. One libpcap handle an interface, each with a ring
 * of its own that the kernel fills (TPACKET_V3); several interfaces are merged by time, so that the two
 * directions of a link that come on two of them are in order.
 *
 * What opens a WpLive needs CAP_NET_RAW; what reads it needs no privilege at all, also where an interface
 * goes away and comes back (reference: packet(7): only socket() asks for the capability, bind() does not).
 */
#ifndef WP_CAPTURE_LIVE_H
#define WP_CAPTURE_LIVE_H

#include <glib.h>

#include "capture/counters.h"
#include "capture/source.h"

#define WP_LIVE_MAX_INTERFACES 16

/* A second of 200,000 packets of 300 bytes; below half a MiB packets are lost at far less. */
#define WP_LIVE_RING_BYTES  (64 * 1024 * 1024)
#define WP_LIVE_SNAP_LENGTH 262144 /* what libpcap calls MAXIMUM_SNAPLEN: all of a packet */

typedef struct {
	const char *const *interfaces; /* by name; "any" is all of them */
	gsize n_interfaces;
	const char *filter;  /* BPF expression or NULL; also applied to frames with VLAN tags */
	guint32 snap_length; /* bytes kept of a packet */
	guint64 ring_bytes;  /* of each interface */
	gboolean is_promiscuous;
} WpLiveOptions;

/* Now. What is to last so and so long goes by the first; it is not set by anybody. */
typedef struct {
	gint64 monotonic_ns;
	gint64 wall_ns; /* since 1970 */
} WpLiveTime;

WpLiveTime wp_live_now(void);

/* Who is told what happens. Called by wp_live_next(); each may be NULL. */
typedef struct {
	/* Each frame, before it is given. */
	void (*frame)(const WpFrame *frame, gpointer data);

	/* Some ten times a second, and when the watched descriptor can be read. */
	void (*tick)(WpLiveTime now, gpointer data);

	/* Something happened to INTERFACE: TEXT says what ("went down"). */
	void (*note)(guint interface, WpLiveTime now, const char *text, gpointer data);
	gpointer data;
} WpLiveHooks;

/* Of one interface, or of all. */
typedef struct {
	guint64 packets; /* given */
	guint64 bytes;   /* of these, on the wire */
	guint64 kernel_drops;
	guint64 interface_drops;
	guint64 gaps; /* times that it was down or away */
} WpLiveCounts;

typedef struct WpLive WpLive;

/* (transfer full) NULL with WP_CAPTURE_ERROR_OPEN, _PERMISSION or _OPTION. */
WpLive *wp_live_open(const WpLiveOptions *options, GError **error);
void wp_live_free(WpLive *live);

void wp_live_set_hooks(WpLive *live, const WpLiveHooks *hooks);

/* Ticks also when FD can be read, which somebody else does in the tick; -1: none. */
void wp_live_watch(WpLive *live, int fd);

/*
 * FRAME; WAIT: none has come for a moment, OUT_FRAME's time alone is set: no frame before it is to come; END after
 * wp_live_stop(); ERROR where an interface cannot be read any more.
 */
WpSourceResult wp_live_next(WpLive *live, WpFrame *out_frame, GError **error);

/* No more frames; but IS_DRAINED: those that had come until now. */
void wp_live_stop(WpLive *live, gboolean is_drained);

/* Asks kernel and interfaces anew what they dropped; else that is done once a second. */
void wp_live_refresh(WpLive *live);

guint wp_live_n_interfaces(const WpLive *live);
/* (transfer none) */
const char *wp_live_name(const WpLive *live, guint interface);
guint32 wp_live_link_type(const WpLive *live, guint interface);
guint32 wp_live_snap_length(const WpLive *live, guint interface);
WpLiveCounts wp_live_counts(const WpLive *live, guint interface);
WpLiveCounts wp_live_total(const WpLive *live);

/* (transfer none) What was not as asked for when it was opened (a sentence), or NULL. */
const char *wp_live_warning(const WpLive *live, guint interface);

/* Adds what was dropped, and the gaps, to COUNTERS. */
void wp_live_count(const WpLive *live, WpCounters *counters);

/* (transfer full) The interfaces that can be captured on, a name each, NULL-ended. */
char **wp_live_list(void);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpLive, wp_live_free)

#endif
