/*
 * Formats of packet files: what source.c calls, and source-pcap.c and source-pcapng.c give.
 */
#ifndef WP_CAPTURE_SOURCE_FORMAT_H
#define WP_CAPTURE_SOURCE_FORMAT_H

#include <glib.h>

#include "capture/input.h"
#include "capture/source.h"

/* A longer packet is a sign of a damaged file: the longest that Linux makes (IPv6 "big TCP") is half. */
#define WP_FRAME_MAX (1024 * 1024)

/* Who is told what a file says beside its packets; see source.h. A function may be NULL. */
typedef struct {
	WpSourceSecretsFunc on_secrets;
	gpointer secrets_data;
	WpSourceNameFunc on_name;
	gpointer name_data;
} WpSourceHooks;

/* Each function gets the state that open() made. */
typedef struct {
	const char *name;

	/* TRUE where HEAD (at least 12 bytes, or the whole file) begins such a file. */
	gboolean (*detect)(const guint8 *head, gsize length);

	/* (transfer full) INPUT and HOOKS are borrowed; HOOKS may change until the first next(). */
	gpointer (*open)(WpInput *input, const WpSourceHooks *hooks, GError **error);

	/* Fills all of OUT_FRAME but the tap. */
	WpSourceResult (*next)(gpointer state, WpFrame *out_frame, GError **error);

	/*
	 * Up to MAX frames that next() would give reading nothing and telling nothing; those given before stay
	 * valid. NULL: it cannot.
	 */
	guint (*take)(gpointer state, WpFrame *out_frames, guint max);

	/* TRUE where next() reads nothing and tells nothing. NULL: never. */
	gboolean (*is_at_hand)(gpointer state);

	WpSourceTold (*told)(gpointer state);      /* NULL: the format cannot tell */
	guint64 (*blocks_skipped)(gpointer state); /* NULL: the format has none */
	void (*free)(gpointer state);
} WpSourceFormat;

/* NULL-ended. */
extern const WpSourceFormat *const wp_source_formats[];

extern const WpSourceFormat wp_source_pcap;
extern const WpSourceFormat wp_source_pcapng;

/* Sets the error of a file that makes no sense after packet NUMBER; returns WP_SOURCE_ERROR. */
WpSourceResult wp_source_damaged(WpInput *input, guint64 number, const char *what, GError **error);

#endif
