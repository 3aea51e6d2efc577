/*
 * Errors of this folder, and what any error means to the shell: exit status and a line of help.
 *
 * A message is one line: what was being done, on what, what is wrong. Further lines, after '\n', are
 * hints: what to do about it, or what was kept. main.c prints all.
 */
#ifndef WP_REPORT_ERROR_H
#define WP_REPORT_ERROR_H

#include <glib.h>

#define WP_REPORT_ERROR wp_report_error_quark()
GQuark wp_report_error_quark(void);

typedef enum {
	WP_REPORT_ERROR_USAGE,      /* arguments that make no sense: exit 2 */
	WP_REPORT_ERROR_STRICT,     /* input cut short or lossy, with --strict: exit 5 */
	WP_REPORT_ERROR_DATA,       /* input that is not what it should be: exit 65 */
	WP_REPORT_ERROR_OPEN,       /* input that cannot be opened: exit 66 */
	WP_REPORT_ERROR_INTERNAL,   /* exit 70 */
	WP_REPORT_ERROR_INTERRUPTED /* by Ctrl-C, with nothing to show: exit 130 */
} WpReportError;

/* Exit statuses that are no error of ours. */
enum {
	WP_EXIT_OK = 0,
	WP_EXIT_GATE = 1,         /* compare: a rule does not hold */
	WP_EXIT_INCONCLUSIVE = 3, /* compare --strict */
	WP_EXIT_STRANGE = 4,      /* compare --strict: the captures cannot be compared */
	WP_EXIT_INTERRUPTED = 130
};

/* The exit status that ERROR, of whatever domain, means. */
int wp_error_status(const GError *error);

/* (transfer full) Hints for ERROR: the other lines of its message, or a general one; may be none. */
char **wp_error_hints(const GError *error);

/* (transfer full) The first line of its message, safe for a terminal. */
char *wp_error_reason(const GError *error);

#endif
