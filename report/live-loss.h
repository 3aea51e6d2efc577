/*
 * WpLiveLoss: when packets of live interfaces were dropped, so that a window of time can say what it lacks. Frames count
 * for the second of their own time. What was dropped between two ticks is spread evenly over the seconds between them:
 * the kernel says how many, not when.
 *
 *   ticks    |    |    |         (inference)          |    |
 *   frames   ########################                 #######     those behind the gap's begin were in the ring
 *   dropped            ...............................
 */
#ifndef WP_REPORT_LIVE_LOSS_H
#define WP_REPORT_LIVE_LOSS_H

#include <glib.h>

/* So many seconds back something is known. */
#define WP_LIVE_LOSS_SECONDS 4096

/* From here on a window says that it lacks packets. */
#define WP_LIVE_LOSS_MUCH 0.005

typedef struct WpLiveLoss WpLiveLoss;

/* (transfer full) */
WpLiveLoss *wp_live_loss_new(void);
void wp_live_loss_free(WpLiveLoss *loss);

/* A frame of TIME_NS, since 1970, was read. */
void wp_live_loss_frame(WpLiveLoss *loss, gint64 time_ns);

/* At NOW_NS, since 1970, DROPPED packets had been dropped in all. */
void wp_live_loss_tick(WpLiveLoss *loss, gint64 now_ns, guint64 dropped);

/* About what share of the packets from BEGIN_NS to END_NS was dropped, 0 to 1. */
double wp_live_loss_share(const WpLiveLoss *loss, gint64 begin_ns, gint64 end_ns);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpLiveLoss, wp_live_loss_free)

#endif
