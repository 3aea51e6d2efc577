/*
 * WpTaps: the capture points that several inputs come from. A first pass over the inputs tells which belong
 * to one tap, what the clocks of the taps show against each other, which addresses of one tap are others at
 * another (NAT), and when each tap was at work. With that the second pass reads all as one capture.
 *
 *   inputs:  web.pcap0  web.pcap1   db.pcap        files of one tap follow on each other in time
 *   taps:    web ................   db
 *   clocks:  the reference          +30.1 ms, drift +48 ppm
 *   covered:        |======================|       when all that are needed were at work
 *
 * The first pass keeps a sample of the packets: those whose hash says so, the same at every tap.
 */
#ifndef WP_CAPTURE_TAPS_H
#define WP_CAPTURE_TAPS_H

#include <glib.h>

#include "capture/clock.h"
#include "capture/packet.h"

#define WP_TAPS_MAX 128

typedef struct WpTaps WpTaps;

typedef struct {
	const char *const *paths;
	const char *const
		*labels; /* by path: inputs of one label are one tap; NULL entries: none. Or NULL */
	gsize n_paths;
	const char *const *clocks; /* "TAP[=OFFSET[,PPM]]"; NULL-terminated, or NULL */
	guint min_taps;            /* 0: all that are needed */
	gboolean (*progress)(guint64 read, guint64 size, guint64 packets, gpointer data);
	gpointer progress_data;
} WpTapsOptions;

/*
 * (transfer full) Reads all inputs once. NULL with an error of the source or WP_CAPTURE_ERROR_OPTION. An input
 * that is damaged counts as far as it can be read. OUT_STOPPED: progress asked to stop.
 */
WpTaps *wp_taps_survey(const WpTapsOptions *options, gboolean *out_stopped, GError **error);
void wp_taps_free(WpTaps *taps);

guint wp_taps_count(const WpTaps *taps);

/* The tap of input I. */
guint wp_taps_of_input(const WpTaps *taps, gsize i);

/* (transfer none) */
const char *wp_taps_name(const WpTaps *taps, guint tap);
const WpClock *wp_taps_clock(const WpTaps *taps, guint tap);

/* TIME_NS of a packet at TAP, by the clock of the reference. */
gint64 wp_taps_correct(const WpTaps *taps, guint tap, gint64 time_ns);

/* FALSE where at TIME_NS (corrected) a tap that is needed was not at work. */
gboolean wp_taps_is_covered(const WpTaps *taps, gint64 time_ns);

/* The ends of SEGMENT, where they are not those that its flow has as a whole. */
void wp_taps_translate(const WpTaps *taps, WpSegment *segment);

/*
 * Of what goes from SRC to DST: more than 0 where it comes by tap A before B, less where after; 0: not known.
 */
int wp_taps_compare(const WpTaps *taps, guint a, guint b, const WpEndpoint *src,
		    const WpEndpoint *dst);

/*
 * Facts for reports, as settings: KEY is "tap", "clock", "clock-doubt" (a tap and by how much its clock may be wrong, or
 * "not known") or "excluded". FALSE stops.
 */
typedef gboolean (*WpTapsFunc)(const char *key, const char *value, gpointer data);
gboolean wp_taps_tell(const WpTaps *taps, WpTapsFunc func, gpointer data);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpTaps, wp_taps_free)

#endif
