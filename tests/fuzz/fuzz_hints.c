/* Hints files: read, and asked about calls whose names are made of the same bytes. */
#include <math.h>
#include <stdint.h>

#include "infer/hints.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autofree char *text = g_strndup((const char *)data, MIN(size, 4096));
	g_autofree char *label = g_strndup((const char *)data, MIN(size, 40));
	g_autoptr(GError) error = NULL;
	g_autoptr(WpHints) hints = wp_hints_parse(text, "fuzz", &error);
	g_assert((hints == NULL) == (error != NULL));
	if (!hints)
		return 0;
	const WpHintsCall calls[] = { { "web", label }, { label, "GET /item/{}" }, { "", "" } };
	for (gsize i = 0; i < G_N_ELEMENTS(calls); i++)
		for (gsize j = 0; j < G_N_ELEMENTS(calls); j++)
			g_assert(fabs(wp_hints_odds(hints, &calls[i], &calls[j])) <= WP_HINTS_SURE);
	return 0;
}
