/* Shared addresses, in words. */
#include "report/write-shared.h"

char *
wp_shared_words(const WpViewShared *shared, const char *address)
{
	GString *words = g_string_new(NULL);

	g_string_printf(words,
			"Several services share %s. Of %" G_GUINT64_FORMAT
			" connections that leave it, %" G_GUINT64_FORMAT " belong to clients.",
			address, shared->n_flows, shared->n_clients);
	if (shared->n_any)
		g_string_append_printf(
			words, " %" G_GUINT64_FORMAT " are used for the calls into any of them.",
			shared->n_any);
	if (shared->n_by_file)
		g_string_append_printf(words,
				       " --owners says whose %" G_GUINT64_FORMAT " of them are.",
				       shared->n_by_file);
	if (shared->n_inferred)
		g_string_append_printf(words,
				       " The owners of %" G_GUINT64_FORMAT
				       " were inferred from what encloses their calls: "
				       "%.1f%% right can be expected.",
				       shared->n_inferred, 100 * shared->certainty);
	if (shared->n_unknown)
		g_string_append_printf(words,
				       " Of %" G_GUINT64_FORMAT
				       " of these the times do not tell it; --owners can.",
				       shared->n_unknown);
	return g_string_free(words, FALSE);
}
