/*
 * WpMail: mails to records, as the paper's 7.1.3 does it. Each Received field of each mail is one
 * one-way message from host to host, on its own: that they belong to one mail is what inference is to
 * find out. It is known here by the Message-ID, and given as the truth.
 *
 *   mbox, Maildir, single messages --heads--> fields --mail-hop--> hops --sort by time--> sink, truth
 *
 * Only the heads of mails are kept, and of them only names of hosts and times: no address of a person,
 * no subject. Files may be compressed. Times are whole seconds on the clock of the receiving host.
 */
#ifndef WP_CAPTURE_MAIL_H
#define WP_CAPTURE_MAIL_H

#include <glib.h>

#include "capture/input.h"
#include "capture/sink.h"

/* Hops beyond are counted, not kept. */
#define WP_MAIL_MAX_HOPS 20000000

/* The longest head of a mail that is read; of longer ones what comes before. */
#define WP_MAIL_MAX_HEAD (1 << 20)

/* Senders outside of --inside are one node. */
#define WP_MAIL_OUTSIDE "outside"

/* MESSAGE with ID was caused by PARENT (0 = by none that was seen). In order of ids. FALSE stops. */
typedef gboolean (*WpMailTruthFunc)(guint64 id, guint64 parent, gpointer data, GError **error);

/* FALSE stops: what was read until then is given. N_MAILS so far. */
typedef gboolean (*WpMailProgressFunc)(guint64 read, guint64 size, guint64 n_mails, gpointer data);

typedef struct {
	/* Only hops that end in one of these domains, or below; NULL-ended; NULL or empty = all. */
	const char *const *inside;
	gint64 from_ns; /* only hops from then on; WP_NO_TIME = all */
	gint64 to_ns;   /* only hops before then; WP_NO_TIME = all */
	WpMailProgressFunc progress;
	gpointer progress_data;
	WpMailTruthFunc truth; /* NULL = not wanted */
	gpointer truth_data;
	WpInput **standard_input; /* see wp_input_open_or_take(); may be NULL */
} WpMailOptions;

/* TRUE where DATA, the head of a file, looks like a mail or a file of mails. */
gboolean wp_mail_is_mail(const guint8 *data, gsize length);

/*
 * Reads all PATHS: an mbox file, a file with one mail, a Maildir (cur, new and the folders in it), a
 * directory of such files, "-" = standard input; and pushes their hops into SINK, begin() to end(), with
 * ids 1, 2, ... in order of time. FALSE with WP_CAPTURE_ERROR_...; what was read before an error was
 * pushed then.
 */
gboolean wp_mail_run(const char *const *paths, gsize n, const WpMailOptions *options,
		     WpNodes *nodes, WpRecordSink *sink, GError **error);

#endif
