/* Errors of this folder. */
#ifndef WP_TRACES_ERROR_H
#define WP_TRACES_ERROR_H

#include <glib.h>

#define WP_TRACES_ERROR wp_traces_error_quark()
GQuark wp_traces_error_quark(void);

typedef enum {
	WP_TRACES_ERROR_FORMAT, /* a scenario that makes no sense: exit 65 */
	WP_TRACES_ERROR_OPTION, /* --set, --skew, ... that make no sense: exit 2 */
	WP_TRACES_ERROR_LIMIT   /* a scenario that grows without bounds: exit 65 */
} WpTracesError;

#endif
