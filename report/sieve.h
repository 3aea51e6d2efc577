/*
 * WpSieve: a sink that passes on the calls, with their returns, for which an expression holds, while
 * they stream by. It also keeps the counters, which the command's exit status needs.
 */
#ifndef WP_REPORT_SIEVE_H
#define WP_REPORT_SIEVE_H

#include <glib.h>

#include "capture/sink.h"
#include "infer/names.h"
#include "report/load.h"
#include "report/options.h"
#include "report/where.h"

typedef struct WpSieve WpSieve;

/* Adds --where for commands that stream. TARGET: const char **. */
void wp_sieve_declare(WpOptions *parser, const char **target);

/*
 * (transfer full) The expression TEXT. Fields that are known only with the return cannot be asked
 * for when a call has to be passed on before its return has come: WP_REPORT_ERROR_USAGE.
 */
WpWhere *wp_sieve_where(const char *text, GError **error);

/* Before the end, NAMES (borrowed) become those of the nodes. */
void wp_sieve_set_names(WpSieve *sieve, const WpNames *names);

/* (transfer full) NEXT and WHERE (NULL = everything) are borrowed. */
WpSieve *wp_sieve_new(WpRecordSink *next, const WpWhere *where);
void wp_sieve_free(WpSieve *sieve);

/* (transfer none) */
WpRecordSink *wp_sieve_sink(WpSieve *sieve);

/* (transfer none) The counters that passed. */
const WpCounters *wp_sieve_counters(const WpSieve *sieve);

/*
 * Pushes the records of all operands through SIEVE, behind which WRITER makes a trace of them. The exit status, or
 * -1; the trace is finished then as far as it got. WRITER is still the caller's.
 */
int wp_sieve_load(WpSieve *sieve, const WpInvocation *invocation, const WpLoadOptions *options,
		  WpRecordSink *writer, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpSieve, wp_sieve_free)

#endif
