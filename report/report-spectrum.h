/* `report` by an engine that finds paths but links no calls. */
#ifndef WP_REPORT_REPORT_SPECTRUM_H
#define WP_REPORT_REPORT_SPECTRUM_H

#include "report/analysis.h"
#include "report/output.h"

/*
 * Reads, infers and writes; as the run() of a command. EDGE: "A:B:C", the correlogram of that way through B is
 * written in place of the page; NULL: the page.
 */
int wp_report_spectrum(WpInvocation *invocation, const WpLoadOptions *load,
		       const WpAnalysisOptions *analysis, const char *edge, WpOutputOptions *output,
		       GError **error);

#endif
