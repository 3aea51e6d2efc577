/*
 * WpSpectra: what cross-correlation finds: paths as aggregates, with the delays of each of their edges.
 * A tree of vertices below each edge that a root node sends on; a vertex is an edge as it is met there, so
 * a node may stand on a path several times (the paper's section 5.2). A path is a vertex without children
 * and all above it.
 */
#ifndef WP_INFER_SPECTRA_H
#define WP_INFER_SPECTRA_H

#include <glib.h>

#include "infer/messages.h"

#define WP_NO_VERTEX G_MAXUINT32

/* A delay: message into the sender to the message that it caused. */
typedef struct {
	double delay_ns;     /* of half of the messages less, of half more */
	double spread_ns;    /* half the width of the middle two thirds: for a Gaussian, its sd */
	double messages;     /* with this delay, as expected */
	double significance; /* standard deviations above chance */
} WpSpectrumSpike;

typedef struct {
	guint32 parent; /* vertex, or WP_NO_VERTEX: sent by a root */
	guint32 depth;  /* from 1 */
	guint32 edge;   /* of WpMessages */
	guint32 sender; /* nodes of WpResolved */
	guint32 receiver;
	double messages; /* of the edge, that belong here */
	double share;    /* of the messages of the path's root */
	gboolean is_leaf;
	guint32 n_spikes;        /* 0 where sent by a root */
	WpSpectrumSpike *spikes; /* most messages first */
} WpVertex;

typedef struct WpSpectra {
	GArray *vertices;     /* WpVertex, in pre-order, siblings by messages, greatest first */
	gint64 quantum_ns;    /* delays mean no more than this; 0: there are none */
	char *quantum_reason; /* why this one */
	gint64 max_lag_ns;
	gboolean
		is_lag_cut; /* shorter than asked for: of so short a trace longer ones cannot be told */
	gboolean is_published;
	guint64 n_messages;
	guint32 n_edges;
	gint64 begin_ns;
	gint64 end_ns;
	guint64 n_correlations;
	guint64 n_tests;  /* places at which spikes were looked for */
	GPtrArray *notes; /* char *: what a reader should know, a sentence each */
} WpSpectra;

/* (transfer full) */
WpSpectra *wp_spectra_new(const WpMessages *messages);
void wp_spectra_free(WpSpectra *spectra);

/* Appends a vertex; SPIKES (transfer full). Returns its number. */
guint32 wp_spectra_add(WpSpectra *spectra, const WpVertex *vertex);

/* Of WpSpectrumSpike: most messages first. */
int wp_spectra_compare_spikes(const void *a, const void *b);

/* Puts vertices into their order and says which are leaves, and the shares. */
void wp_spectra_finish(WpSpectra *spectra);

void wp_spectra_note(WpSpectra *spectra, const char *format, ...) G_GNUC_PRINTF(2, 3);

static inline const WpVertex *
wp_spectra_vertex(const WpSpectra *spectra, guint32 i)
{
	return &g_array_index(spectra->vertices, WpVertex, i);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpSpectra, wp_spectra_free)

#endif
