/*
 * WpNestPart: calls in the middle of a host, and all that may have caused them: enough to tell how a large host works. Inside of
 * the nesting engine; nobody else includes this.
 */
#ifndef WP_INFER_NESTING_PART_H
#define WP_INFER_NESTING_PART_H

#include "infer/nesting.h"

typedef struct {
	WpNestHost host;   /* borrows from the whole one */
	guint32 *incoming; /* private */
	gboolean is_all;   /* the host is hardly larger than what was asked for, or smaller */
} WpNestPart;

/* About MOST calls of HOST; what HOST borrows must stay until the part is cleared. */
void wp_nest_part_init(const WpResolved *resolved, const WpNestHost *host, guint32 most,
		       WpNestPart *out);
void wp_nest_part_clear(WpNestPart *part);

#endif
