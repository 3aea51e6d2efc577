/* Patterns with '*' (any characters) and '?' (one). */
#ifndef WP_REPORT_GLOB_H
#define WP_REPORT_GLOB_H

#include <glib.h>

/* TRUE where PATTERN fits all of TEXT. Neither needs to be valid UTF-8: labels come from packets. */
gboolean wp_glob_matches(const char *pattern, const char *text);

#endif
