/*
 * Call plans: text to steps.
 *
 *   plan      = statement { ; statement }
 *   statement = work LAW | wait LAW
 *             | call SERVICE.OPERATION [timeout TIME] [retry N] [backoff LAW] [else BLOCK]
 *             | send SERVICE.OPERATION
 *             | parallel [N|M..N] BLOCK [[N|M..N] BLOCK]...
 *             | repeat N|M..N BLOCK
 *             | maybe SHARE BLOCK [else BLOCK]
 *             | choose WEIGHT BLOCK [WEIGHT BLOCK]...
 *             | at NODE BLOCK
 *             | since TIME [full TIME] [until TIME] BLOCK
 *             | hold SERVICE BLOCK
 *             | spawn BLOCK
 *             | reply [ok|error] | fail [SHARE]
 *   BLOCK     = { plan }
 */
#ifndef WP_TRACES_PLAN_H
#define WP_TRACES_PLAN_H

#include "traces/scenario.h"

/*
 * Appends the steps of TEXT, a plan of SERVICE, to scenario->steps. SHAPE (its kind may be NULL)
 * replaces the laws of work and wait. FALSE and (transfer full) *OUT_PROBLEM where it makes no sense.
 */
gboolean wp_plan_compile(WpScenario *scenario, guint32 service, const WpLawShape *shape,
			 const char *text, char **out_problem);

#endif
