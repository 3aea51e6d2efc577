/* What a report says of an address that several services share. */
#ifndef WP_REPORT_WRITE_SHARED_H
#define WP_REPORT_WRITE_SHARED_H

#include "report/view.h"

/* (transfer full) Sentences; ADDRESS is its name, safe to print. */
char *wp_shared_words(const WpViewShared *shared, const char *address);

#endif
