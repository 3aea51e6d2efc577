/* Shared by view.c and view-request.c. */
#ifndef WP_REPORT_VIEW_PRIVATE_H
#define WP_REPORT_VIEW_PRIVATE_H

#include "infer/pattern.h"

/* How many nodes of PATTERN from I on are the same call again and again, and become one node of a view. */
guint32 wp_view_run_length(const WpPattern *pattern, guint32 i);

#endif
