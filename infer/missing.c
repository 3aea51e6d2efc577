/* What is missing: counting ends of calls without the other. */
#include "infer/missing.h"

#include <math.h>
#include <string.h>

/* What is known of the calls into a host. */
typedef struct {
	double n_pairs;
	double n_unpaired;
	double n_orphans;  /* whose call may have been before the capture ... */
	double n_late;     /* ... or not */
	double busy_ns;    /* sum of the lengths of pairs */
	gint64 longest_ns; /* of pairs */
} Host;

typedef struct {
	Host *hosts;
	guint32 n;
	gboolean is_continued; /* nothing of it was before the capture */
} Count;

/* Counted by capture: orphan returns are no records. */
static void
add_counted(WpCounter counter, guint32 sender, guint32 receiver, guint64 n, gpointer data)
{
	Count *count = data;
	if (counter != WP_COUNT_RETURNS_ORPHAN || sender >= count->n)
		return;
	Host *host = &count->hosts[sender];
	*(count->is_continued ? &host->n_late : &host->n_orphans) += (double)n;
}

/* In a trace from elsewhere they are records, to which no span points. */
static void
add_recorded(Count *count, const WpTrace *trace, const WpSpans *spans)
{
	gsize n = wp_trace_n_records(trace);
	const WpRecord *records = wp_trace_records(trace);
	g_autofree guint8 *is_paired = g_new0(guint8, n + 1);

	for (guint32 i = 0; i < spans->n; i++)
		if (spans->spans[i].return_record != G_MAXUINT32)
			is_paired[spans->spans[i].return_record] = TRUE;
	for (gsize i = 0; i < n; i++) {
		const WpRecord *record = &records[i];
		if (record->kind != WP_KIND_RETURN || is_paired[i] ||
		    (record->marks & WP_MARK_SETUP) || record->sender >= count->n)
			continue;
		Host *host = &count->hosts[record->sender];
		gboolean is_late =
			count->is_continued ||
			(double)record->begin_ns - (double)records[0].begin_ns > host->longest_ns;
		*(is_late ? &host->n_late : &host->n_orphans) += 1;
	}
}

static Host *
host_at(Count *count, guint32 number)
{
	if (number >= count->n) {
		count->hosts = g_renew(Host, count->hosts, (gsize)number + 1);
		memset(count->hosts + count->n, 0, (number + 1 - count->n) * sizeof(Host));
		count->n = number + 1;
	}
	return &count->hosts[number];
}

static void
add_spans(Count *count, const WpSpans *spans)
{
	for (guint32 i = 0; i < spans->n; i++) {
		const WpSpan *span = &spans->spans[i];
		Host *host = host_at(count, span->callee_host);
		if (span->kind != WP_KIND_CALL || (span->marks & (WP_MARK_SETUP | WP_MARK_WAIT)))
			continue;
		if (wp_span_is_paired(span)) {
			host->n_pairs++;
			host->busy_ns += (double)(span->return_ns - span->call_ns);
			host->longest_ns = MAX(host->longest_ns, span->return_ns - span->call_ns);
		} else {
			host->n_unpaired++;
		}
	}
}

static WpMissingShare
share_of(double n_lost, const Host *host)
{
	double all = n_lost + host->n_pairs + host->n_unpaired;
	return (WpMissingShare){ n_lost, all > 0 ? n_lost / all : 0 };
}

static double
lost_of(const Host *host, double length_ns)
{
	double open = length_ns > 0 ? host->busy_ns / length_ns : 0;
	double n = host->n_late + MAX(host->n_orphans - open - 3 * sqrt(open), 0);
	if (n < 1 || host->n_pairs < 1)
		return 0;
	return n + n * MIN(host->n_unpaired / host->n_pairs, 1);
}

/* From the first call to the last. */
static double
length_of(const WpSpans *spans)
{
	return spans->n ? (double)spans->spans[spans->n - 1].call_ns -
				  (double)spans->spans[0].call_ns
			: 0;
}

WpMissing *
wp_missing_new(const WpResolved *resolved)
{
	const WpSpans *spans = wp_resolved_spans(resolved);
	const WpTrace *trace = wp_resolved_trace(resolved);
	WpMissing *missing = g_new0(WpMissing, 1);
	Host all = { 0 };
	Count count = { NULL, 0, wp_trace_is_continued(trace) };
	double n_lost = 0;

	add_spans(&count, spans);
	wp_counters_foreach_pair(wp_trace_counted(trace), add_counted, &count);
	if (spans->n_unpaired_returns)
		add_recorded(&count, trace, spans);
	missing->n_hosts = count.n;
	missing->hosts = g_new0(WpMissingShare, MAX(count.n, 1));
	for (guint32 h = 0; h < count.n; h++) {
		const Host *host = &count.hosts[h];
		missing->hosts[h] = share_of(lost_of(host, length_of(spans)), host);
		n_lost += missing->hosts[h].n;
		all.n_pairs += host->n_pairs;
		all.n_unpaired += host->n_unpaired;
	}
	missing->all = share_of(n_lost, &all);
	g_free(count.hosts);
	return missing;
}

void
wp_missing_free(WpMissing *missing)
{
	if (!missing)
		return;
	g_free(missing->hosts);
	g_free(missing);
}

WpMissingShare
wp_missing_of(const WpMissing *missing, guint32 host)
{
	return host < missing->n_hosts ? missing->hosts[host] : (WpMissingShare){ 0, 0 };
}
