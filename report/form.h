/*
 * Forms of an output: text, CSV, JSON, ... What -o FILE and --format NAME mean is the same for all
 * commands; each has its own table of forms.
 */
#ifndef WP_REPORT_FORM_H
#define WP_REPORT_FORM_H

#include <glib.h>

typedef struct {
	const char *name;            /* for --format */
	const char *const *suffixes; /* of files, without the dot; NULL-ended */
} WpForm;

/* Traces: NULL-name-ended, like every table of forms. The names are those of wp_trace_writer_new_as(). */
extern const WpForm wp_trace_forms[];

/*
 * The number in FORMS of the form for output PATH (NULL or "-" = standard output): FORMAT where it is given,
 * else by the suffix of PATH before .gz, .zst or .lz4; for standard output and for what is no file (a pipe,
 * /dev/full) the first. -1 with WP_REPORT_ERROR_USAGE, which names all forms, or WP_CAPTURE_ERROR_WRITE for a
 * directory: to be asked before anything is read.
 */
int wp_form_choose(const WpForm *forms, const char *path, const char *format, GError **error);

/* The same for traces: the form's name, or NULL. */
const char *wp_trace_form_choose(const char *path, const char *format, GError **error);

#endif
