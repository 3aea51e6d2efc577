/*
 * What the readers of groups of a scenario file share. Functions that may fail set the error of the
 * loader, with the line of the entry that is being read.
 */
#ifndef WP_TRACES_SCENARIO_PRIVATE_H
#define WP_TRACES_SCENARIO_PRIVATE_H

#include "traces/error.h"
#include "traces/keyfile.h"
#include "traces/scenario.h"

typedef struct {
	WpScenario *scenario;
	WpKeyFile *file;
	WpLaw network;
	WpLawShape shape;
	const WpKeyEntry *entry; /* being read */
	GError **error;
} Loader;

/* TARGET is what the group is about. */
typedef gboolean (*Setter)(Loader *loader, gpointer target, const char *value);

typedef struct {
	const char *name;
	Setter set; /* NULL = read elsewhere */
} Key;

gboolean scenario_fail_value(Loader *loader, const char *expected);
gboolean scenario_fail_problem(Loader *loader, char *problem); /* PROBLEM: transfer full */

/* TRUE where the value ends at AT. */
gboolean scenario_at_end(Loader *loader, const char *at, const char *expected);
gboolean scenario_set_law(Loader *loader, const char *value, WpLawUnit unit, WpLaw *out_law);

/* Runs the setters of all keys of GROUP; KEYS ends with a NULL name. */
gboolean scenario_read_keys(Loader *loader, const WpKeyGroup *group, const Key *keys,
			    gpointer target);

/* WP_SIM_NONE where there is none. */
guint32 scenario_find_service(const WpScenario *scenario, const char *name);

/* The group [fault NAME], once all services, operations and pools are known. */
gboolean scenario_read_fault(Loader *loader, const WpKeyGroup *group, char **words);

#endif
