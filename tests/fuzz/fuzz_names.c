/* Names files of all kinds: read, and asked about addresses, among them those that the bytes spell. */
#include <stdint.h>
#include <string.h>

#include "capture/record.h"
#include "infer/names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
ask(const WpNames *names, const WpEndpoint *endpoint)
{
	const guint16 ports[] = { 0, 1, 80, endpoint->port, 65535 };
	for (gsize i = 0; i < G_N_ELEMENTS(ports); i++) {
		const char *name = wp_names_find(names, endpoint->address, ports[i]);
		g_assert(!name || (*name && g_utf8_validate(name, -1, NULL)));
		g_assert(!name || wp_names_count(names) > 0);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autofree char *text = g_strndup((const char *)data, size);
	g_autoptr(GError) error = NULL;
	g_autoptr(WpNames) names = wp_names_parse(text, "fuzz", &error);
	g_assert((names == NULL) == (error != NULL));
	g_assert(!error || g_utf8_validate(error->message, -1, NULL));
	if (!names)
		return 0;
	WpEndpoint endpoint = { { 0 }, 80 };
	ask(names, &endpoint);
	g_auto(GStrv) words = g_strsplit_set(text, " \t\n,;/\"", 64);
	for (char **word = words; *word; word++)
		if (wp_endpoint_parse(*word, &endpoint))
			ask(names, &endpoint);
	return 0;
}
