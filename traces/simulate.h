/*
 * The simulator: a discrete-event simulation of a scenario, with virtual time. It pushes every call,
 * return and one-way message into a sink, in order of time, and tells the truth beside it: which call
 * caused which. Memory depends on what is under way at a time, not on the length.
 *
 * The one tap stands at the sender of each message: a record has the time of sending. The same
 * scenario and seed give the same records on every machine.
 */
#ifndef WP_TRACES_SIMULATE_H
#define WP_TRACES_SIMULATE_H

#include <glib.h>

#include "capture/nodes.h"
#include "capture/sink.h"
#include "traces/error.h"
#include "traces/scenario.h"

typedef struct {
	const char *name; /* of the scenario; stands in the trace as a setting */

	/*
	 * Once for each CALL and MESSAGE, in order. PARENT 0: a root. PATTERN: the operation that the
	 * client called. FAULT: the name of what went wrong with it, or NULL. FALSE stops the simulation with ERROR set. May be NULL.
	 */
	gboolean (*truth)(guint64 id, guint64 parent, const char *pattern, const char *fault,
			  gpointer data, GError **error);
	gpointer truth_data;

	/* Now and then; FALSE: begin nothing new and come to an end. TOTAL 0 = unknown. May be NULL. */
	gboolean (*progress)(guint64 n_requests, guint64 total, gpointer data);
	gpointer progress_data;
} WpSimulateOptions;

typedef struct {
	guint64 n_requests;
	guint64 n_calls;    /* and messages */
	guint64 n_open;     /* calls that wait for ever: for each other, or for what a fault took */
	guint64 n_faults;   /* calls with which something went wrong */
	gint64 duration_ns; /* virtual */
} WpSimulateResult;

/*
 * begin ... end on SINK. NODES is filled. WP_TRACES_ERROR_LIMIT where the system cannot carry its
 * load, so that more and more is under way.
 */
gboolean wp_simulate(const WpScenario *scenario, const WpSimulateOptions *options, WpNodes *nodes,
		     WpRecordSink *sink, WpSimulateResult *out_result, GError **error);

#endif
