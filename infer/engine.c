/* The table of engines. To add one: its file, and a line here. */
#include "infer/engine.h"

#include "infer/engine-nesting.h"
#include "infer/engine-scoreboard.h"
#include "infer/engine-xcorr.h"

const WpEngine *const wp_engines[] = {
	&wp_engine_nesting,
	&wp_engine_xcorr,
	&wp_engine_scoreboard,
	NULL,
};

const WpEngine *
wp_engine_auto(const WpResolved *resolved)
{
	gsize i = 0;

	while (!wp_engines[i]->applies(resolved) && wp_engines[i + 1])
		i++;
	return wp_engines[i];
}

WpLinks *
wp_engine_infer(const WpEngine *engine, WpResolved *resolved, const void *options, WpStopFunc stop,
		GError **error)
{
	WpLinks *links = engine->run(resolved, options, stop, error);

	if (links)
		wp_resolved_take_owners(resolved, links);
	return links;
}

WpLinks *
wp_engine_infer_known(const WpEngine *engine, WpResolved *resolved, const void *options,
		      const WpWorkings *workings, WpStopFunc stop, GError **error)
{
	if (!engine->run_known)
		return wp_engine_infer(engine, resolved, options, stop, error);
	WpLinks *links = engine->run_known(resolved, options, workings, stop, error);
	if (links)
		wp_resolved_take_owners(resolved, links);
	return links;
}
