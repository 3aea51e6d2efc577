/*
 * WpManifest: what is known of a run beside its packets (`wirepath run`): a key file beside them.
 *
 *   DIR/packets.pcapng        DIR/manifest:   [run]      command=./load.sh;--users;20   exit-status=0  ...
 *                                             [capture]  interfaces=eth0   packets=12345   kernel-drops=0  ...
 */
#ifndef WP_REPORT_MANIFEST_H
#define WP_REPORT_MANIFEST_H

#include <glib.h>

#define WP_MANIFEST_NAME    "manifest"
#define WP_MANIFEST_PACKETS "packets.pcapng"

/* In the environment of the capture: the process that it ends with, however that one ends. */
#define WP_MANIFEST_PARENT "WIREPATH_PARENT"

typedef struct {
	const char *const *command; /* NULL-ended */
	gint64 began_ns, ended_ns;  /* of the command, since 1970 */
	int exit_status;            /* of the command; 128 + the signal that ended it */
	const char *const *interfaces;
	const char *filter;     /* or NULL */
	int capture_status;     /* exit status of the capture */
	guint64 packets, calls; /* captured */
	guint64 kernel_drops, interface_drops;
} WpManifest;

/* Writes that of the run in DIRECTORY. */
gboolean wp_manifest_write(const WpManifest *manifest, const char *directory, GError **error);

/* How the command of the run in DIRECTORY ended; -1: that is not known, as PATH is no such directory. */
int wp_manifest_exit_status(const char *directory);

#endif
