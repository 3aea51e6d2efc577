/*
 * WpEngine: a way from spans to links. One file and one const WpEngine each, one line in
 * wp_engines[]. An engine says itself whether it applies, and which options it has.
 */
#ifndef WP_INFER_ENGINE_H
#define WP_INFER_ENGINE_H

#include <glib.h>

#include "infer/links.h"
#include "infer/resolve.h"

typedef enum {
	WP_OPTION_DOUBLE,
	WP_OPTION_DURATION, /* "250us", stored as gint64 ns */
	WP_OPTION_INT,      /* gint64 */
	WP_OPTION_FLAG,     /* gboolean */
	WP_OPTION_LIST,     /* const char *, borrowed; NULL = not given */
	WP_OPTION_FILE      /* the same */
} WpOptionKind;

/* One parameter of an engine, made into a command line option by the program. */
typedef struct {
	const char *name; /* "overlap-penalty" */
	WpOptionKind kind;
	gsize offset;   /* in the engine's options struct */
	double minimum; /* as the kind counts (ns for durations) */
	double maximum;
	const char *help;
} WpEngineOption;

/*
 * What an engine that learns can be told beforehand, to see what keeps it from being right: what it learns
 * (all that is left is what timing does not say), or where it starts (all that is left is what it wanders
 * off to).
 */
typedef enum {
	WP_REFERENCE_LEARNED, /* learned from the truth, searched as ever */
	WP_REFERENCE_STARTED, /* started from the truth, learned and searched as ever */
	WP_N_REFERENCES
} WpReferenceKind;

typedef struct {
	WpReferenceKind kind;
	const guint32 *parents; /* by span: the true parent, or WP_NO_SPAN: none, or not known */
} WpReference;

/*
 * How all works, as it was found of other calls that are worked at in the same way: hosts, and which calls had waited for a
 * connection, so that their begin tells nothing. Borrowed.
 */
typedef struct {
	const WpPace *paces; /* by host; beyond N_PACES all go by real time */
	guint32 n_paces;
	const guint8 *has_waited; /* by span: for a connection; NULL: that is to be found */
	const gint64 *
		waited_ns; /* by span: for so long, as far as that is known; 0: not; NULL: none is */
} WpWorkings;

/*
 * TRUE = come to an end with what there is: Ctrl-C. Long work asks it often, so it only looks at a flag.
 * NULL = never.
 */
typedef gboolean (*WpStopFunc)(void);

typedef struct {
	const char *name;
	const char *summary;
	gboolean has_odds; /* its probabilities can be counted on: 90 % means 9 of 10 are right */
	gboolean tells_owners; /* it finds causes among the calls that WpSpans.owners allows */
	gboolean is_aggregate; /* finds paths but links no calls: only for reports */

	const WpEngineOption *options; /* NULL-name-ended; may be NULL */
	gsize options_size;
	void (*options_init)(void *options); /* sets defaults */

	/* FALSE where OPTIONS can be seen to be wrong without any input. May be NULL. Errors: as run. */
	gboolean (*check)(const void *options, GError **error);

	/* TRUE where it can say something about these spans. */
	gboolean (*applies)(const WpResolved *resolved);

	/*
	 * (transfer full) Links for all spans. OPTIONS: the engine's struct, or NULL for defaults. After
	 * STOP it still hands out a forest: calls that have no parent yet say so (WP_EVIDENCE_STOPPED),
	 * and parents of which it is not known how sure they are have no probability. Errors:
	 * WP_INFER_ERROR.
	 */
	WpLinks *(*run)(const WpResolved *resolved, const void *options, WpStopFunc stop,
			GError **error);

	/* The same, but how all works is not asked anew: as WORKINGS say. NULL: it does not ask that. */
	WpLinks *(*run_known)(const WpResolved *resolved, const void *options,
			      const WpWorkings *workings, WpStopFunc stop, GError **error);

	/* The same as run, knowing REFERENCE; NULL: it learns nothing. */
	WpLinks *(*run_reference)(const WpResolved *resolved, const void *options,
				  const WpReference *reference, WpStopFunc stop, GError **error);
} WpEngine;

/* NULL-ended; the first that applies is the default ("auto"). */
extern const WpEngine *const wp_engines[];

/*
 * (transfer full) Runs ENGINE. As run, but RESOLVED has the owners of all calls then, also of those that only their
 * causes tell.
 */
WpLinks *wp_engine_infer(const WpEngine *engine, WpResolved *resolved, const void *options,
			 WpStopFunc stop, GError **error);

/* (transfer full) The same, by WORKINGS where ENGINE asks for them. */
WpLinks *wp_engine_infer_known(const WpEngine *engine, WpResolved *resolved, const void *options,
			       const WpWorkings *workings, WpStopFunc stop, GError **error);

/* The first that applies; never NULL (the last is taken). */
const WpEngine *wp_engine_auto(const WpResolved *resolved);

#endif
