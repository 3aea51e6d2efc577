/* Sentences that several pages say, so that all of them say the same. No names are in them. */
#ifndef WP_REPORT_WORDS_H
#define WP_REPORT_WORDS_H

#include <glib.h>

#include "report/view.h"

/* (transfer full) "3 requests", "1 request" */
char *wp_words_count(guint64 n, const char *thing);

/* (transfer full) How far the paths can be trusted; or why there are none. */
char *wp_words_trust(const WpView *view);

/* (transfer full) What the self-check says; NULL where it was not made, or agrees unasked. */
char *wp_words_check(const WpView *view);

/*
 * (transfer full) What is missing, or that the clock was set, where it is worth knowing before any number is believed;
 * NULL where not.
 */
char *wp_words_loss(const WpView *view);

/* The cause of stalls, as WpViewStalls has it, in plain words. */
const char *wp_words_cause(const char *cause, gboolean is_setup);

/* Why there are no records. */
const char *wp_words_no_records(gboolean is_selective, guint64 n_packets);

#endif
