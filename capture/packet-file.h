/*
 * WpPacketFile: packets to one capture file, pcapng (draft-ietf-opsawg-pcapng) or pcap with nanoseconds
 * (draft-ietf-opsawg-pcap). Only whole blocks are ever left in it, whatever happens to the disk: so it can
 * be read at any time, also after the program was killed.
 */
#ifndef WP_CAPTURE_PACKET_FILE_H
#define WP_CAPTURE_PACKET_FILE_H

#include <glib.h>

#include "capture/source.h"

typedef enum {
	WP_PACKET_FILE_PCAPNG,
	WP_PACKET_FILE_PCAP /* one link type; no counters and notes */
} WpPacketFileForm;

/* Of an interface that frames come from. */
typedef struct {
	const char *name;
	const char *filter; /* or NULL */
	guint32 link_type;
	guint32 snap_length;
} WpPacketFileInterface;

/* What is known of an interface so far, since the file began: so what several files tell adds up. */
typedef struct {
	guint64 received; /* packets, whether dropped later or not */
	guint64 kernel_drops;
	guint64 interface_drops;
	guint64 written;
} WpPacketFileStatistics;

typedef struct WpPacketFile WpPacketFile;

/*
 * (transfer full) Begins a file on FD, which is its own from now on (also after an error) and empty. PATH, copied, is
 * for messages. FALSE with WP_CAPTURE_ERROR_OPTION where the form cannot hold these INTERFACES.
 */
WpPacketFile *wp_packet_file_new(int fd, const char *path, WpPacketFileForm form,
				 const WpPacketFileInterface *interfaces, guint n_interfaces,
				 GError **error);

/*
 * One more interface, of frames to come; its name and filter are copied. FALSE with WP_CAPTURE_ERROR_OPTION where the
 * form cannot hold it beside those before.
 */
gboolean wp_packet_file_add(WpPacketFile *file, const WpPacketFileInterface *interface,
			    GError **error);

/* Closes. What was not flushed is lost: see wp_packet_file_close(). */
void wp_packet_file_free(WpPacketFile *file);

/* FRAME's interface is an index of those given. */
void wp_packet_file_frame(WpPacketFile *file, const WpFrame *frame);

/* Of INTERFACE, at TIME_NS; COMMENT, what happened to it then, may be NULL. Nothing in a pcap file. */
void wp_packet_file_statistics(WpPacketFile *file, guint interface, gint64 time_ns,
			       const WpPacketFileStatistics *statistics, const char *comment);

/* Hands all to the system. FALSE with the first error; nothing more is written after one. */
gboolean wp_packet_file_flush(WpPacketFile *file, GError **error);

/* The same, and then closes. */
gboolean wp_packet_file_close(WpPacketFile *file, GError **error);

/* Bytes so far, and frames of these that have been, or will be, written. */
guint64 wp_packet_file_bytes(const WpPacketFile *file);
guint64 wp_packet_file_frames(const WpPacketFile *file);

/* Frames that were given and could not be written. */
guint64 wp_packet_file_lost(const WpPacketFile *file);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpPacketFile, wp_packet_file_free)

#endif
