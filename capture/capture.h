/*
 * wp_capture_run(): the driver, packets to records:
 *
 *   source -> packet -> flow -> reassembly -> stream (decoder) -> pairing -> order -> sink
 */
#ifndef WP_CAPTURE_CAPTURE_H
#define WP_CAPTURE_CAPTURE_H

#include <glib.h>

#include "capture/input.h"
#include "capture/nodes.h"
#include "capture/packet.h"
#include "capture/sink.h"

typedef void (*WpCaptureFrameFunc)(const WpFrame *frame, const WpSegment *segment, gpointer data);

typedef struct {
	const char *filter;         /* BPF expression or NULL */
	gint64 from_ns;             /* only packets at or after; WP_NO_TIME = all */
	gint64 to_ns;               /* only packets before; WP_NO_TIME = all */
	const char *token_key;      /* NULL = derived from the first packet */
	const char *decode_as;      /* "PORT=PROTOCOL" or NULL */
	const char *keylog;         /* file with secrets of TLS, or NULL; see keylog.h */
	const char *rmi_interfaces; /* file with names of methods, or NULL; see rmi-names.h */
	guint32 max_flows;          /* 0 = default */
	guint32 n_threads;          /* 2: one reads ahead; 0: as pays. The records are the same */
	const struct WpTaps *
		taps; /* of the inputs, surveyed before; NULL: each is a tap with a clock that is right */
	gboolean (*progress)(guint64 read, guint64 size, guint64 packets,
			     gpointer data); /* FALSE stops */
	gpointer progress_data;
	/*
	 * Shown each frame that filter and times let pass, by one thread, and what it holds (NULL: nothing for
	 * flows, as of a fragment that is not the last, or of a copy); or NULL.
	 */
	WpCaptureFrameFunc frame;
	gpointer frame_data;
	struct WpLive *live; /* interfaces to be read instead of files (source.h), or NULL */
	WpInput **
		standard_input; /* already open, for the path "-": taken (then NULL); may be NULL */
} WpCaptureOptions;

/* Sets all fields to their defaults. */
void wp_capture_options_init(WpCaptureOptions *options);

/*
 * Reads PATHS (pcap, pcapng, compressed; "-" = stdin; of live interfaces: their names) and pushes into SINK, with begin, counters and
 * end. An input that is cut short is a counter (WP_COUNT_INPUT_TRUNCATED), not an error; an error in
 * the middle still pushes what was read, then returns FALSE. OUT_STOPPED (may be NULL): progress asked
 * to stop.
 */
gboolean wp_capture_run(const char *const *paths, gsize n_paths, const WpCaptureOptions *options,
			WpNodes *nodes, WpRecordSink *sink, gboolean *out_stopped, GError **error);

/* TRUE where the first bytes of the file at PATH are those of a pcap or pcapng file (decompressed). */
gboolean wp_capture_is_capture(const guint8 *head, gsize length);

#endif
