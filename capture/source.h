/*
 * WpSource: where packets come from. pcap and pcapng files are read by ourselves (block by block, so
 * mixed link types and snap lengths are no obstacle), compressed or not, from files or a pipe.
 */
#ifndef WP_CAPTURE_SOURCE_H
#define WP_CAPTURE_SOURCE_H

#include <glib.h>

#include "capture/clock.h"
#include "capture/counters.h"
#include "capture/input.h"
#include "capture/sink.h"

/*
 * Times beyond are taken for these. pcap's 32 bits of seconds, to 2106, fit, and what comes a little
 * before 1970 by a wrong clock; twice the distance of any two still fits into int64 ns.
 */
#define WP_SOURCE_EARLIEST_NS (G_GINT64_CONSTANT(-300000000) * 1000000000)
#define WP_SOURCE_LATEST_NS   (G_GINT64_CONSTANT(4294967296) * 1000000000 - 1)

/* One packet as it was on the wire. DATA is valid until the next call for the same source. */
typedef struct {
	gint64 time_ns; /* WP_SOURCE_EARLIEST_NS .. WP_SOURCE_LATEST_NS */
	const guint8 *data;
	guint32 captured;  /* bytes in DATA */
	guint32 length;    /* bytes on the wire; >= captured */
	guint32 link_type; /* LINKTYPE_... of pcap files */
	guint64 number;    /* in its input, from 1 */
	guint32 interface; /* of a pcapng section, by number; else 0 */
	guint8 tap;        /* number of its tap, or of the input (255 of all from the 256th on) */
} WpFrame;

typedef enum {
	WP_SOURCE_FRAME, /* a frame */
	WP_SOURCE_END,   /* no more */
	WP_SOURCE_CUT, /* no more, as an input ends in the middle of something; all before was given */
	WP_SOURCE_ERROR, /* no more, as an input is damaged (error set); all before was given */
	WP_SOURCE_WAIT /* of live interfaces: none now; no frame before OUT_FRAME's time is to come */
} WpSourceResult;

typedef struct WpSource WpSource;

/* Kinds of secrets, as pcapng's decryption secrets block numbers them. */
#define WP_SECRETS_TLS_KEY_LOG 0x544c534bu /* text, as programs write it to SSLKEYLOGFILE */

/*
 * What files say beside their packets (pcapng). Both are told before the packets that follow in the same
 * input; with several inputs perhaps much earlier than those of the others. What is given is borrowed for
 * the call, and as untrusted as a packet: TEXT may hold any bytes.
 */
typedef void (*WpSourceSecretsFunc)(guint32 kind, const guint8 *secrets, gsize length,
				    gpointer data);
typedef void (*WpSourceNameFunc)(const guint8 address[16], const char *text, gsize length,
				 gpointer data);

/*
 * Opens PATH ("-" = standard input). (transfer full); NULL with WP_CAPTURE_ERROR_OPEN, _PERMISSION or
 * _FORMAT. TAP is stored in each frame.
 */
WpSource *wp_source_open(const char *path, guint8 tap, GError **error);

/*
 * Several inputs merged in order of time (equal times: in the order given). STANDARD_INPUT: see
 * wp_input_open_or_take(); may be NULL.
 */
WpSource *wp_source_open_all(const char *const *paths, gsize n, WpInput **standard_input,
			     GError **error);

/* (transfer full) The packets of LIVE, which is borrowed. */
struct WpLive;
WpSource *wp_source_open_live(struct WpLive *live);

/*
 * Of several inputs that are cut or damaged, those that are not go on: CUT and ERROR come when no
 * frame is left.
 */
WpSourceResult wp_source_next(WpSource *source, WpFrame *out_frame, GError **error);

/*
 * The next frames, as far as they are there: at most MAX of them to OUT_FRAMES; returns how many. The data of those
 * before stay where they are, so that several can be looked at together, and nobody is told anything beside them. 0
 * where there are none, or where it is not known without reading on.
 */
guint wp_source_take(WpSource *source, WpFrame *out_frames, guint max);

/* TRUE where the same holds for wp_source_next(), of a source of which wp_source_take() does not know. */
gboolean wp_source_is_at_hand(const WpSource *source);

/* Who is told of secrets and of names of addresses; before the first wp_source_next(). NULL: nobody. */
void wp_source_on_secrets(WpSource *source, WpSourceSecretsFunc func, gpointer data);
void wp_source_on_names(WpSource *source, WpSourceNameFunc func, gpointer data);

/*
 * Input I (in the order of opening) is of TAP, and CLOCK, borrowed, is that tap's: times of its frames are by the
 * reference of that clock. Before the first wp_source_next().
 */
void wp_source_set_tap(WpSource *source, gsize i, guint8 tap, const WpClock *clock);

/* How many inputs were cut. */
guint wp_source_n_cut(const WpSource *source);

/* Bytes read and to read (0 = unknown, a pipe), of the files as stored; for progress. */
void wp_source_progress(const WpSource *source, guint64 *out_read, guint64 *out_size);

/* What files tell beside their packets, or show: statistics of pcapng, comments of ours in them (notes.h). */
typedef struct {
	guint64 kernel_drops;   /* packets */
	guint64 interface_gaps; /* times that an interface was down or away */
	guint64 clock_steps; /* times that the clock was set; also where times go back by a second or more */
} WpSourceTold;

/* For what has been read; nothing where it is live. */
WpSourceTold wp_source_told(const WpSource *source);

/* Blocks of files that were passed over: of a kind that nobody here reads, or too long to be read. */
guint64 wp_source_blocks_skipped(const WpSource *source);

void wp_source_free(WpSource *source);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpSource, wp_source_free)

#endif
