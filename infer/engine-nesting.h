/* Joint assignment of calls to parents; its options, for the program and for tests. */
#ifndef WP_INFER_ENGINE_NESTING_H
#define WP_INFER_ENGINE_NESTING_H

#include <glib.h>

#include "infer/engine.h"

typedef struct {
	gint64 skew_ns;    /* window by which a parent may miss an end of its child */
	gint64 after_ns;   /* work may begin so long after the reply that caused it; -1: learned */
	gboolean no_noise; /* no noisy rounds: faster, a little less right at load */
	gboolean no_mending;     /* links are not looked at again as parts of requests (mend.h) */
	const char *evidence;    /* kinds, "tokens,sizes"; NULL = the usual */
	const char *no_evidence; /* kinds to leave out */
	const char *hints;       /* file; NULL = none */
	gint64 threads;          /* 0: as many as there are processors */
} WpNestingOptions;

extern const WpEngine wp_engine_nesting;

#endif
