/* A part of a host. See the header. */
#include "infer/nesting-part.h"

void
wp_nest_part_init(const WpResolved *resolved, const WpNestHost *host, guint32 most, WpNestPart *out)
{
	const WpSpan *spans = wp_resolved_spans(resolved)->spans;
	guint32 skipped = (host->n_outgoing - MIN(host->n_outgoing, most)) / 2, n = 0;

	*out = (WpNestPart){ .host = *host, .is_all = host->n_outgoing <= most + most / 2 };
	if (out->is_all)
		return;
	out->host.outgoing += skipped;
	out->host.n_outgoing = most;
	out->host.n_lost *= (double)most / host->n_outgoing;
	gint64 first_ns = spans[out->host.outgoing[0]].call_ns;
	gint64 last_ns = spans[out->host.outgoing[most - 1]].call_ns;
	out->incoming = g_new(guint32, host->n_incoming);
	for (guint32 i = 0; i < host->n_incoming; i++) {
		const WpSpan *span = &spans[host->incoming[i]];
		if (span->call_ns <= last_ns && wp_span_end_ns(span) >= first_ns)
			out->incoming[n++] = host->incoming[i];
	}
	out->host.incoming = out->incoming;
	out->host.n_incoming = n;
	while (out->host.n_marks > 0 && out->host.marks->time_ns < first_ns) {
		out->host.marks++;
		out->host.n_marks--;
	}
	while (out->host.n_marks > 0 && out->host.marks[out->host.n_marks - 1].time_ns > last_ns)
		out->host.n_marks--;
}

void
wp_nest_part_clear(WpNestPart *part)
{
	g_clear_pointer(&part->incoming, g_free);
}
