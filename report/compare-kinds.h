/*
 * Kinds of calls that are on one side of a comparison only, over all operations together: a new dependency that a few
 * of all requests have is too seldom in each operation to be told from chance, but not in all.
 *
 * Each capture is cut into WP_DIGEST_BLOCKS stretches of time. What is counted is how often, from one stretch to the
 * next, the kind appears: calls that come in a burst count once. If both sides made it equally often, each such
 * appearance is on a side with the chance of the share of the requests that it has; so all of M appear on one with
 * share ** M. Nothing is inferred but that a call is below some request: who was called, and with what, is in the
 * packets.
 *
 * These have a risk of their own, a tenth of that of all other tests, divided by the number of kinds (Bonferroni).
 */
#ifndef WP_REPORT_COMPARE_KINDS_H
#define WP_REPORT_COMPARE_KINDS_H

#include "report/compare.h"

/* Part of the risk of all tests that is added for kinds. */
#define WP_KINDS_RISK 0.1

/*
 * Finds those of COMPARISON, whose tests are judged already, that no operation is said to have or to lack: sets its
 * kinds, and where there are any its verdict. Arguments as of wp_compare().
 */
void wp_compare_find_kinds(WpComparison *comparison, WpDigest *const *digests, guint n,
			   guint n_before);

#endif
