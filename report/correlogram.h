/*
 * WpCorrelogramView: what a writer sees of `report --engine xcorr --edge A:B:C`: the correlogram of messages from A
 * to B against those from B to C, and the delays that were found there. Borrows from all that it is made of.
 */
#ifndef WP_REPORT_CORRELOGRAM_H
#define WP_REPORT_CORRELOGRAM_H

#include <glib.h>

#include "infer/correlogram.h"
#include "infer/messages.h"
#include "infer/spectra.h"
#include "report/view.h"

/* The band that is drawn about chance. */
#define WP_CORRELOGRAM_SDS 4

typedef struct {
	const WpView *view; /* head of the page */
	char *from;         /* A, as named on the page */
	char *through;      /* B */
	char *to;           /* C */
	WpCorrelogram *correlogram;
	guint32 n_spikes;
	const WpSpectrumSpike *spikes; /* most messages first */
	gboolean is_published;
} WpCorrelogramView;

/*
 * (transfer full) EDGE: "A:B:C". Names may hold colons themselves: of the ways to part it the first counts that
 * has messages on both edges. MAX_LAG_NS, QUANTUM_NS: 0 = so that the delays found fill the picture. NULL with
 * WP_REPORT_ERROR_USAGE where there is no such way, which then names some, or bins would be too many.
 */
WpCorrelogramView *wp_correlogram_view_new(const WpView *view, const char *edge,
					   const WpMessages *messages, const WpSpectra *spectra,
					   const WpResolved *resolved, gint64 max_lag_ns,
					   gint64 quantum_ns, GError **error);
void wp_correlogram_view_free(WpCorrelogramView *correlogram);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpCorrelogramView, wp_correlogram_view_free)

#endif
