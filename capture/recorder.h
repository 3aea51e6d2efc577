/*
 * WpRecorder: packets to a capture file, or to a directory of files that take turns by size, by time, and
 * when asked, of which only the last ones are kept. Each can be read alone:
 *
 *   DIR/wirepath-20261122T081505Z-00001.pcapng  ...-00002.pcapng  ...
 *
 * Names sort by time, so a reader of the directory has them in order; files of that form that were there
 * before count as the oldest. A full disk ends the recording, unless old files may be removed to go on.
 */
#ifndef WP_CAPTURE_RECORDER_H
#define WP_CAPTURE_RECORDER_H

#include <glib.h>

#include "capture/live.h"
#include "capture/packet-file.h"

/* Fills OUT: of INTERFACE, since the capture began; "written" is not looked at. */
typedef void (*WpRecorderStatisticsFunc)(guint interface, WpPacketFileStatistics *out,
					 gpointer data);

typedef struct {
	const char *path;  /* a directory, or a file: .pcap, else pcapng */
	guint64 max_bytes; /* of a file, about; 0 = any */
	gint64 max_age_ns; /* of a file; 0 = any */
	guint max_files;   /* kept; 0 = all */
	const WpPacketFileInterface *interfaces;
	guint n_interfaces;
	WpRecorderStatisticsFunc statistics;
	gpointer statistics_data;
} WpRecorderOptions;

typedef struct WpRecorder WpRecorder;

/*
 * (transfer full) Opens the place: the directory, which is made where it is missing (its parent must be there), or the
 * file. All in OPTIONS is borrowed. NULL with WP_CAPTURE_ERROR_OPTION, _PERMISSION or _WRITE.
 */
WpRecorder *wp_recorder_new(const WpRecorderOptions *options, GError **error);
void wp_recorder_free(WpRecorder *recorder);

/* TRUE where PATH, as it is now, would be a directory of files. */
gboolean wp_recorder_is_directory(const char *path);

/* Fills OUT (room for all) with the interfaces of LIVE, borrowed, and FILTER or NULL. */
void wp_recorder_interfaces(const WpLive *live, const char *filter, WpPacketFileInterface *out);

/* The directory, open; -1 for a single file. It IS_NEW where this recorder made it. */
int wp_recorder_directory(const WpRecorder *recorder, gboolean *out_is_new);

/* Begins the first file; files are as old as the monotonic clock says, and are called by the other. By now all must be as it will be while recording (user, what may be opened). */
gboolean wp_recorder_start(WpRecorder *recorder, WpLiveTime now, GError **error);

/* FRAME, which may be the first of the next file. What fails is told by the next tick. */
void wp_recorder_frame(WpRecorder *recorder, const WpFrame *frame);

/* INTERFACE: something happened to it. */
void wp_recorder_note(WpRecorder *recorder, guint interface, gint64 wall_ns, const char *text);

/*
 * To be called some times a second: takes the next file where it is time for that. FALSE where nothing can be
 * recorded any more; wp_recorder_finish() says why.
 */
gboolean wp_recorder_tick(WpRecorder *recorder, WpLiveTime now);

/* Takes the next file; a single one is only flushed. FALSE as above. */
gboolean wp_recorder_rotate(WpRecorder *recorder, WpLiveTime now);

/* Ends the last file. FALSE with the first error of all. A directory can then be started again. */
gboolean wp_recorder_finish(WpRecorder *recorder, gint64 wall_ns, GError **error);

/* (transfer full) The file at hand; NULL where there is none. */
char *wp_recorder_path(const WpRecorder *recorder);

guint64 wp_recorder_written(const WpRecorder *recorder); /* frames */
guint64 wp_recorder_lost(const WpRecorder *recorder);    /* frames that could not be written */
guint64 wp_recorder_bytes(const WpRecorder *recorder);   /* of all files that were begun */
guint wp_recorder_n_files(const WpRecorder *recorder);   /* begun */

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpRecorder, wp_recorder_free)

#endif
