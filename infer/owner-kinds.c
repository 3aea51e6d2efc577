#include "infer/owner-kinds.h"

#include <string.h>

#include "infer/map.h"

guint32
wp_owner_kinds_split(WpOwnedFlow *flows, const guint32 *operations, guint32 n_flows,
		     guint32 n_kinds, guint32 most, guint32 *out_ports)
{
	g_autoptr(WpMap) numbers = wp_map_new();
	g_autofree guint32 *groups = g_new0(guint32, n_flows + 1);
	g_autofree guint32 *counts = g_new0(guint32, n_flows + 1);
	g_autofree guint32 *kinds = g_new0(guint32, n_flows + 1); /* by group; 0: none */

	for (guint32 kind = 0; kind < most; kind++)
		out_ports[kind] = kind;
	for (guint32 f = 0; f < n_flows; f++) {
		if (!operations[f])
			continue;
		groups[f] = wp_map_number(numbers, wp_map_key(flows[f].kind, operations[f]));
		counts[groups[f]]++;
	}
	for (guint32 f = 0; f < n_flows; f++) {
		guint32 *kind = &kinds[groups[f]];
		if (!operations[f] || counts[groups[f]] < WP_OWNER_KINDS_FEWEST)
			continue;
		if (*kind == 0 && n_kinds < most) {
			out_ports[n_kinds] = flows[f].kind;
			*kind = n_kinds++;
		}
		if (*kind)
			flows[f].kind = *kind;
	}
	return n_kinds;
}

void
wp_owner_kinds_share(const guint32 *ports, guint32 n_kinds, guint32 width, const double *flows,
		     const double *owned, double *out_shares)
{
	g_autofree double *all = g_new0(double, n_kinds + 1);
	g_autofree double *sums = g_new0(double, (gsize)n_kinds *width + 1);

	for (guint32 k = 0; k < n_kinds; k++) {
		all[ports[k]] += flows[k];
		for (guint32 s = 0; s < width; s++)
			sums[(gsize)ports[k] * width + s] += owned[(gsize)k * width + s];
	}
	for (guint32 k = 0; k < n_kinds; k++)
		for (guint32 s = 0; s < width; s++)
			out_shares[(gsize)k * width + s] =
				sums[(gsize)ports[k] * width + s] / MAX(all[ports[k]], 1);
}
