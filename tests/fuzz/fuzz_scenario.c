/* Scenario files of the simulator: read, checked and compiled, with and without settings. */
#include <stdint.h>

#include "traces/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const settings[] = { "requests=3", "load=2", NULL };
	g_autofree char *text = g_strndup((const char *)data, size);

	if (!g_utf8_validate(text, -1, NULL)) /* `wirepath simulate` reads no other */
		return 0;
	for (guint i = 0; i < 2; i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(WpScenario) scenario =
			wp_scenario_new(text, "fuzz", i ? settings : NULL, &error);
		g_assert((scenario == NULL) == (error != NULL));
		g_assert(!error || g_utf8_validate(error->message, -1, NULL));
	}
	return 0;
}
