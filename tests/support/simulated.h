/* Scenarios as text, to traces with their truth. */
#ifndef WP_TESTS_SUPPORT_SIMULATED_H
#define WP_TESTS_SUPPORT_SIMULATED_H

#include "capture/trace.h"
#include "infer/links.h"
#include "infer/resolve.h"

/*
 * (transfer full) The trace of the scenario TEXT, frozen. OUT_PARENTS is a GArray of guint64, cleared when new: the true
 * parent of each id, 0 = root. Fails the test where TEXT, which NAME stands for in messages, makes no sense.
 */
WpTrace *wp_test_simulate(const char *text, const char *name, GArray *out_parents);

/* Of the calls of RESOLVED, such a trace, that have a parent of PARENTS: the share of which LINKS says so. */
double wp_test_share_right(const WpResolved *resolved, const WpLinks *links, const GArray *parents);

/* A scenario, inferred by nesting. */
typedef struct {
	WpResolveOptions options;
	WpTrace *trace;
	GArray *parents; /* guint64: the true ones, as above */
	WpResolved *resolved;
	WpLinks *links;
} WpTestInferred;

/* (transfer full) The scenario TEXT, as above, inferred. */
WpTestInferred *wp_test_inferred_new(const char *text, const char *name);
void wp_test_inferred_free(WpTestInferred *inferred);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpTestInferred, wp_test_inferred_free)

/* The scenario TEXT inferred by nesting, and calibrated: that share, and what is said of it. */
void wp_test_infer_simulated(const char *text, const char *name, double *out_right,
			     double *out_said);

#endif
