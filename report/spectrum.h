/*
 * WpSpectrumView: what a writer sees of a report by cross-correlation: edges of paths as a tree, in
 * pre-order, each with its delays, and the paths from root to leaf. Head and capture quality are those of the
 * WpView beside it. Borrows text from both; times in ns, a share is 0..1.
 */
#ifndef WP_REPORT_SPECTRUM_H
#define WP_REPORT_SPECTRUM_H

#include <glib.h>

#include "report/view.h"

typedef struct {
	double delay_ns;
	double spread_ns;
	double messages;
	double share;        /* of the messages of the path's root */
	double significance; /* standard deviations above chance */
} WpSpectrumDelay;

typedef struct {
	const char *sender;
	const char *receiver;
	guint32 parent;   /* in the view, or WP_VIEW_NONE */
	guint32 depth;    /* from 1 */
	gboolean is_last; /* of its parent's children */
	gboolean is_leaf;
	double messages;
	double share;
	double since_ns;               /* delays from the root on, added up */
	guint32 n_delays;              /* 0 where sent by a root */
	const WpSpectrumDelay *delays; /* most messages first */
} WpSpectrumEdge;

typedef struct {
	const WpView *view;
	gboolean is_published;
	gboolean is_stopped; /* Ctrl-C came before all was found */
	guint64 n_messages;
	guint32 n_edges; /* pairs of nodes with messages */
	guint64 n_correlations;
	guint64 n_tests;
	double quantum_ns;
	const char *quantum_reason;
	double max_lag_ns;
	gboolean is_lag_cut; /* shorter than asked for: the trace is too short */
	guint n_notes;
	const char *const *notes;
	guint32 n; /* edges of paths */
	WpSpectrumEdge *edges;
	WpSpectrumDelay *delays; /* of all */
	guint32 n_paths;
	guint32 *leaves; /* by path: its last edge; most messages first */
} WpSpectrumView;

struct WpResolved;
struct WpSpectra;

/* (transfer full) All must outlive the view. */
WpSpectrumView *wp_spectrum_view_new(const WpView *view, const struct WpSpectra *spectra,
				     const struct WpResolved *resolved, gboolean is_stopped);
void wp_spectrum_view_free(WpSpectrumView *spectrum);

/*
 * (transfer full) The edges of a path, first to last; as many as the depth of the last.
 */
guint32 *wp_spectrum_path(const WpSpectrumView *spectrum, guint32 path, guint32 *out_n);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpSpectrumView, wp_spectrum_view_free)

#endif
