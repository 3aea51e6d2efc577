/*
 * Flows whose owner the times of their calls alone do not tell: which services may be it. An engine then finds whose
 * call it was call by call, as it knows more: that a call has one parent, that requests of one kind are alike, values
 * that are passed on.
 *
 * Open are flows of few calls. A service may own one if it owns others to that port. Where what is known of owners leaves
 * many calls outside of all that they could come from, those known are not all, and every service may be it that is not
 * itself called, by others, on behalf of that port.
 */
#ifndef WP_INFER_OWNER_OPEN_H
#define WP_INFER_OWNER_OPEN_H

#include "infer/owner-counts.h"

/*
 * Sets what is open of the flows of COUNTS. ODDS, by flow and service, one more for none: how likely it is
 * the owner.
 */
void wp_owner_open(const WpOwnerCounts *counts, const double *odds);

#endif
