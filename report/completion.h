/* Completion of commands and options in shells, made from the same tables as --help. */
#ifndef WP_REPORT_COMPLETION_H
#define WP_REPORT_COMPLETION_H

#include "report/out.h"

/* NULL-ended. */
extern const char *const wp_completion_shells[];

/* The file that SHELL, a number in these, reads. */
void wp_completion_write(int shell, WpOut *out);

#endif
