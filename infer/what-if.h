/*
 * What the latency of a request would have been, had some of its calls taken another time by themselves.
 *
 *     web  |--a--|=== db ===|--b--|=== log ===|-c-|        a, b, c times the factor of web; db and log by their own
 *
 * What a call does itself while nothing below it is open is multiplied; what passes while something is open
 * is not, as it may be waiting. A call below begins as long after what had returned by then as it did, and so does the
 * return: where several had returned, after the last of them as it comes out. What was open then, or never returned, is not
 * waited for. So with factors of 1 every latency is what it was, to the nanosecond.
 *
 * It is a model: whoever was waited for in a queue is faster too if what is before him is, and that is not in it.
 */
#ifndef WP_INFER_WHAT_IF_H
#define WP_INFER_WHAT_IF_H

#include <glib.h>

/* Calls of one request, in pre-order; children in any order. */
typedef struct {
	guint32 parent;  /* place among them; G_MAXUINT32 for the root, which is the first */
	gint64 begin_ns; /* call and return, at the caller */
	gint64 end_ns;   /* WP_NO_TIME: none */
	gint64 way_in_ns; /* of it, until the callee has it, and back; 0 where not known. Not multiplied. */
	gint64 way_out_ns;
	double factor; /* of the callee's own time, 0 or more */
} WpWhatIfCall;

/* The new latency of the root in ns; WP_NO_TIME where it has no end. Time is N log N, and more where many are open at once. */
gint64 wp_what_if(const WpWhatIfCall *calls, guint32 n);

#endif
