/*
 * WpTriggers: rules on what `wirepath watch` sees (--when), asked of each window:
 *
 *   p95 > 50ms && operation ~ "GET *"        of root operations
 *   change >= 2 && path ~ "*"                of patterns: a rule that names their path
 *
 * A rule that holds of an operation begins to hold once, lasts, and is over with the first window in which it
 * does not hold, or in which the operation is not seen.
 */
#ifndef WP_REPORT_TRIGGERS_H
#define WP_REPORT_TRIGGERS_H

#include "report/watch.h"

/* Operations and patterns of which rules hold at a time; what is beyond is counted. */
#define WP_TRIGGERS_MAX_HELD 4096

typedef enum {
	WP_TRIGGER_BEGINS,
	WP_TRIGGER_LASTS,
	WP_TRIGGER_ENDS,
	WP_TRIGGER_N_STATES
} WpTriggerState;

extern const char *const wp_trigger_state_names[WP_TRIGGER_N_STATES];

/* A rule, and what it holds of. Texts are as untrusted as labels are. */
typedef struct {
	const char *rule;    /* as given */
	const char *subject; /* "GET /  client > web", or the path of a pattern */
	gboolean is_pattern;
	WpTriggerState state;
	gint64 since_ns; /* the begin of the first window */
	/* Of this window; where it ENDS, of the last one in which it held: */
	guint64 count;
	guint64 errors;
	double p95_ns;
	double change; /* 0 = not known */
} WpTriggered;

typedef struct WpTriggers WpTriggers;

/* (transfer full) Rules in the language of expression.h. NULL with WP_REPORT_ERROR_USAGE. */
WpTriggers *wp_triggers_new(const char *const *rules, guint n, GError **error);
void wp_triggers_free(WpTriggers *triggers);

/*
 * Asks all rules of WINDOW; each window once. In order of rules, then as the window has them; those that end
 * last. Valid until the next one.
 */
const WpTriggered *wp_triggers_ask(WpTriggers *triggers, const WpWatchWindow *window, guint *out_n);

/* What rules hold of that had no room. */
guint64 wp_triggers_n_left(const WpTriggers *triggers);

/* (transfer full) FOUND in a line: "p95 > 50ms: GET /  client > web, p95 73 ms, 3 times the usual". */
char *wp_triggered_line(const WpTriggered *triggered);

/* Fields and operators of rules. */
void wp_triggers_list_fields(WpOut *out);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpTriggers, wp_triggers_free)

#endif
