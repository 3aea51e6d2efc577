/*
 * WpGate: rules on a comparison, for CI: --fail-on, and a budget file.
 *
 *   --fail-on slower:5%,new-calls
 *
 *   [budget "GET /buy*"]          operations, with * and ?
 *   p95 < 12ms = error            what is to hold, and what it means where it does not: off, warn, error
 *   slower:10% = error
 *   new-calls = warn
 *
 * Conditions: "mean", "p50", "p95", "p99" below a time, "errors" below a share (both after); "slower", "faster", with a share
 * of which less does not matter, "more-work", "more-calls", "fewer-calls", "new-calls", "lost-calls": what compare
 * calls changed. A rule that nothing was looked at by is a mistake of its author, and said to be.
 */
#ifndef WP_REPORT_GATE_H
#define WP_REPORT_GATE_H

#include "report/compare.h"

typedef enum {
	WP_GATE_OFF,
	WP_GATE_WARN,
	WP_GATE_ERROR,
	WP_GATE_N_LEVELS
} WpGateLevel;

extern const char *const wp_gate_level_names[WP_GATE_N_LEVELS];

typedef struct WpGate WpGate;

/* One rule on one operation. Texts as they came: names are not escaped. */
typedef struct {
	const char *rule;
	WpGateLevel level;
	char *subject; /* the operation, and the node */
	char *found;   /* "13.2 ms" */
	gboolean is_failed;
} WpGateResult;

/* (transfer full) */
WpGate *wp_gate_new(void);
void wp_gate_free(WpGate *gate);

/* Adds the rules of TEXT, with commas between them, all errors and on all operations. Errors: WP_REPORT_ERROR_USAGE. */
gboolean wp_gate_add_rules(WpGate *gate, const char *text, GError **error);

/* Adds those of a budget file. Errors: WP_REPORT_ERROR_DATA with the line, WP_REPORT_ERROR_OPEN. */
gboolean wp_gate_add_file(WpGate *gate, const char *path, GError **error);

/* Asks all rules; once. */
void wp_gate_ask(WpGate *gate, const WpComparison *comparison);

/* In order of rules, then operations as compared. */
guint wp_gate_n_results(const WpGate *gate);
const WpGateResult *wp_gate_result(const WpGate *gate, guint number);

/* TRUE where a rule is on an operation at all. Number of rules, and the text of each. */
guint wp_gate_n_rules(const WpGate *gate);
gboolean wp_gate_is_used(const WpGate *gate, guint rule, const char **out_text);

/* The worst that failed; WP_GATE_OFF: nothing. */
WpGateLevel wp_gate_failed(const WpGate *gate);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpGate, wp_gate_free)

#endif
