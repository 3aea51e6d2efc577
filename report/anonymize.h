/*
 * A comparison without names: what was read from packets, name files and the command line is replaced by numbered words, the
 * same one by the same, so that a page can be shown to those who may not know whose system it is. Numbers and
 * structure stay.
 */
#ifndef WP_REPORT_ANONYMIZE_H
#define WP_REPORT_ANONYMIZE_H

#include "report/compare.h"

/*
 * Nodes become "node1", "node2", ... in the order of roles, those that are never called "client"; labels "operation1", ...
 * in the order of operations and their parts; the sides "before" and "after"; expressions that selected are left out.
 * What was made of COMPARISON before keeps its names.
 */
void wp_comparison_anonymize(WpComparison *comparison);

#endif
