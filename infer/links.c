/* Links: life cycle, cycles, parents that the capture does not show, evidence as words. */
#include "infer/links.h"

WpLinks *
wp_links_new(guint32 n)
{
	WpLinks *links = g_new0(WpLinks, 1);

	links->n = n;
	links->whole_power = 1;
	links->links = g_new(WpLink, n);
	for (guint32 i = 0; i < n; i++)
		links->links[i] = (WpLink){ WP_NO_SPAN, WP_NO_SPAN, -1, 0, 0 };
	return links;
}

void
wp_links_free(WpLinks *links)
{
	if (!links)
		return;
	g_free(links->links);
	g_free(links->path_odds);
	g_free(links->waited_ns);
	g_free(links->paces);
	g_free(links->drawn);
	g_free(links);
}

void
wp_links_take_answered(WpLinks *links, const WpResolved *resolved)
{
	const WpLink *answered = wp_resolved_answered(resolved);
	const WpSpan *spans = wp_resolved_spans(resolved)->spans;

	for (guint32 i = 0; i < links->n && answered; i++)
		if (spans[i].marks & WP_MARK_ANSWERED)
			links->links[i] = answered[i];
}

void
wp_links_doubt_owners(WpLinks *links, const WpResolved *resolved)
{
	const WpSpan *spans = wp_resolved_spans(resolved)->spans;
	g_autofree guint32 *roots = NULL;

	for (guint32 i = 0; i < links->n; i++) {
		float sure = 1 - spans[i].owner_doubt;
		if (sure == 1)
			continue;
		if (!roots && links->path_odds)
			roots = wp_links_roots(links);
		if (roots && links->path_odds[roots[i]] > 0)
			links->path_odds[roots[i]] *= sure;
		if (links->links[i].probability > 0 && !(spans[i].marks & WP_MARK_ANSWERED))
			links->links[i].probability *= sure;
	}
}

/* Cuts the cycle that SPAN lies on at its earliest span. */
static void
cut_cycle(WpLinks *links, guint32 span)
{
	guint32 first = span;

	for (guint32 i = links->links[span].parent; i != span; i = links->links[i].parent)
		first = MIN(first, i);
	links->links[first] = (WpLink){ WP_NO_SPAN, WP_NO_SPAN, -1,
					links->links[first].n_candidates, WP_EVIDENCE_ROOT };
}

/*
 * Walks up from every span, leaving its number as a footprint, until a root or a footprint. One's own
 * means that the walk went round; another's, that the rest has been walked before.
 */
guint32
wp_links_cut_cycles(WpLinks *links)
{
	g_autofree guint32 *footprints = g_new(guint32, links->n);
	guint32 n_cut = 0;

	for (guint32 i = 0; i < links->n; i++)
		footprints[i] = WP_NO_SPAN;
	for (guint32 start = 0; start < links->n; start++) {
		guint32 i = start;
		while (i != WP_NO_SPAN && footprints[i] == WP_NO_SPAN) {
			footprints[i] = start;
			i = links->links[i].parent;
		}
		if (i != WP_NO_SPAN && footprints[i] == start) {
			cut_cycle(links, i);
			n_cut++;
		}
	}
	return n_cut;
}

/* What is known of a host while time goes on. */
typedef struct {
	gint64 longest_ns;    /* of the calls into it; -1 = there are none */
	gint64 unpaired_ns;   /* latest call into it without a return, or WP_NO_TIME */
	gboolean has_orphans; /* it sent a return whose call was not seen */
} Host;

static Host *
get_host(GArray *hosts, guint32 number)
{
	while (hosts->len <= number) {
		Host host = { -1, WP_NO_TIME, FALSE };
		g_array_append_val(hosts, host);
	}
	return &g_array_index(hosts, Host, number);
}

/* Counted by capture: orphan returns are no records. */
static void
add_counted_orphans(WpCounter counter, guint32 sender, guint32 receiver, guint64 n, gpointer data)
{
	if (counter == WP_COUNT_RETURNS_ORPHAN)
		get_host(data, sender)->has_orphans = TRUE;
}

/* In a trace from elsewhere they are records, to which no span points. */
static void
add_recorded_orphans(GArray *hosts, const WpTrace *trace, const WpSpans *spans)
{
	gsize n = wp_trace_n_records(trace);
	const WpRecord *records = wp_trace_records(trace);
	g_autofree guint8 *is_paired = g_new0(guint8, n + 1);

	for (guint32 i = 0; i < spans->n; i++)
		if (spans->spans[i].return_record != G_MAXUINT32)
			is_paired[spans->spans[i].return_record] = TRUE;
	for (gsize i = 0; i < n; i++)
		if (records[i].kind == WP_KIND_RETURN && !is_paired[i])
			get_host(hosts, records[i].sender)->has_orphans = TRUE;
}

/* (transfer full) Hosts are nodes of the trace. */
/* OUT_HAS_UNPAIRED: some call has no return. */
static GArray *
study_hosts(const WpResolved *resolved, gboolean *out_has_unpaired)
{
	const WpSpans *spans = wp_resolved_spans(resolved);
	const WpTrace *trace = wp_resolved_trace(resolved);
	GArray *hosts = g_array_new(FALSE, FALSE, sizeof(Host));

	*out_has_unpaired = FALSE;
	for (guint32 i = 0; i < spans->n; i++) {
		const WpSpan *span = &spans->spans[i];
		Host *host = get_host(hosts, MAX(span->callee_host, span->caller_host));
		host = get_host(hosts, span->callee_host);
		*out_has_unpaired |= span->kind == WP_KIND_CALL && !wp_span_is_paired(span);
		if (wp_span_is_paired(span) && !(span->marks & (WP_MARK_WAIT | WP_MARK_SETUP)))
			host->longest_ns = MAX(host->longest_ns, span->return_ns - span->call_ns);
	}
	if (wp_trace_is_continued(trace))
		return hosts; /* orphans tell of the begin of the capture */
	wp_counters_foreach_pair(wp_trace_counted(trace), add_counted_orphans, hosts);
	if (spans->n_unpaired_returns)
		add_recorded_orphans(hosts, trace, spans);
	return hosts;
}

static gboolean
is_unseen(const Host *host, gint64 time_ns, gint64 first_ns)
{
	return (host->has_orphans && time_ns - first_ns <= host->longest_ns) ||
	       (host->unpaired_ns != WP_NO_TIME && time_ns - host->unpaired_ns <= host->longest_ns);
}

void
wp_links_mark_unseen(WpLinks *links, const WpResolved *resolved)
{
	const WpSpans *spans = wp_resolved_spans(resolved);
	gboolean may_be;
	g_autoptr(GArray) hosts = study_hosts(resolved, &may_be);

	for (guint i = 0; i < hosts->len; i++)
		may_be |= g_array_index(hosts, Host, i).has_orphans;
	for (guint32 i = 0; i < spans->n && may_be; i++) {
		const WpSpan *span = &spans->spans[i];
		if (span->kind == WP_KIND_CALL && !wp_span_is_paired(span))
			get_host(hosts, span->callee_host)->unpaired_ns = span->call_ns;
		if (links->links[i].evidence == WP_EVIDENCE_ROOT &&
		    is_unseen(get_host(hosts, span->caller_host), span->call_ns,
			      spans->spans[0].call_ns))
			links->links[i].evidence = WP_EVIDENCE_UNSEEN;
	}
}

void
wp_links_mark_measured(WpLinks *links, const WpResolved *resolved)
{
	const WpTrace *trace = wp_resolved_trace(resolved);
	const WpRecord *records = wp_trace_records(trace);
	const WpSpans *spans = wp_resolved_spans(resolved);

	if (!wp_trace_has(trace, WP_TRACE_CAUSES))
		return;
	for (guint32 i = 0; i < spans->n; i++) {
		WpLink *link = &links->links[i];
		guint64 cause;
		if (!(spans->spans[i].marks & WP_MARK_CAUSED) || link->parent == WP_NO_SPAN ||
		    !wp_trace_cause(trace, &records[spans->spans[i].call_record], &cause) ||
		    spans->spans[link->parent].id != cause)
			continue;
		link->evidence = WP_EVIDENCE_MEASURED;
		link->probability = 1;
	}
}

/* Spans are in time, but for skew, so most parents are known before their children. */
int
wp_links_compare_parents(gconstpointer a, gconstpointer b, gpointer data)
{
	const WpLink *links = data;
	guint32 i = *(const guint32 *)a, k = *(const guint32 *)b;
	if (links[i].parent != links[k].parent)
		return links[i].parent < links[k].parent ? -1 : 1;
	return (i > k) - (i < k);
}

guint32 *
wp_links_roots(const WpLinks *links)
{
	guint32 *roots = g_new(guint32, MAX(links->n, 1));

	for (guint32 i = 0; i < links->n; i++)
		roots[i] = WP_NO_SPAN;
	for (guint32 i = 0; i < links->n; i++) {
		guint32 root = i;
		while (roots[root] == WP_NO_SPAN && links->links[root].parent != WP_NO_SPAN)
			root = links->links[root].parent;
		if (roots[root] != WP_NO_SPAN)
			root = roots[root];
		for (guint32 at = i; at != root && roots[at] == WP_NO_SPAN;
		     at = links->links[at].parent)
			roots[at] = root;
		roots[root] = root;
	}
	return roots;
}

const char *
wp_evidence_text(guint32 evidence, char *buffer, gsize size)
{
	static const char *const words[] = {
#define X(symbol, word, text) word,
		WP_EVIDENCE(X)
#undef X
	};
	const char *plus = "";

	g_return_val_if_fail(size > 0, "");
	buffer[0] = '\0';
	for (guint i = 0; i < WP_N_EVIDENCE; i++)
		if (evidence & 1u << i) {
			g_strlcat(buffer, plus, size);
			g_strlcat(buffer, words[i], size);
			plus = "+";
		}
	return buffer;
}

double
wp_links_mean_probability(const WpLinks *links)
{
	double sum = 0, n = 0;

	for (guint32 i = 0; i < links->n; i++)
		if (links->links[i].parent != WP_NO_SPAN && links->links[i].probability >= 0) {
			sum += (double)links->links[i].probability;
			n++;
		}
	return n > 0 ? sum / n : 1;
}
