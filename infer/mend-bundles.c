/* Which calls can be moved, together with which, and to where. */
#include <string.h>

#include "infer/mend-private.h"

#define RUNNER_UP 0.7 /* of the doubt goes to the next best parent, where there are more */

/*
 * However sure an engine is, it may have settled on an answer that is wrong as a whole; less so where more
 * than delays speaks for a link.
 */
#define DOUBT_OF_TIME 0.01
#define DOUBT_OF_MORE 0.0001

static gboolean
is_in_doubt(const WpMendBundles *bundles, guint32 span)
{
	const WpLink *link = &bundles->links->links[span];
	guint32 at = span;

	/* What was answered before, or what the user said of it, stands. */
	if (bundles->spans[span].marks & WP_MARK_ANSWERED || link->parent == WP_NO_SPAN ||
	    link->probability < 0 || link->n_candidates < 2 || (link->evidence & WP_EVIDENCE_HINTS))
		return FALSE;
	for (guint depth = 0; depth < WP_MEND_MAX_DEPTH; depth++) {
		at = bundles->links->links[at].parent;
		if (at == WP_NO_SPAN)
			return TRUE;
	}
	return FALSE;
}

/* More than time speaks for it. */
static gboolean
has_more_than_time(const WpLink *link)
{
	const guint32 time =
		WP_EVIDENCE_ONLY | WP_EVIDENCE_DELAY | WP_EVIDENCE_POOL | WP_EVIDENCE_AFTER;
	return (link->evidence & ~time) != 0;
}

/* By type, that is (callee, label): how long after the end of its parent such a call began at most, or -1. */
typedef struct {
	WpMap *types;
	GArray *ns; /* gint64 */
} After;

/* How long after the end of its parent SPAN began, or -1: before that. */
static gint64
after_of(const WpMendBundles *bundles, const WpSpan *span, const WpLink *link)
{
	if (link->parent == WP_NO_SPAN || !(link->evidence & WP_EVIDENCE_AFTER))
		return -1;
	const WpSpan *parent = &bundles->spans[link->parent];
	/* How long after a message says nothing of calls that are answered. */
	return wp_span_is_paired(parent) ? MAX(span->call_ns - wp_span_replied_ns(parent), 0) : -1;
}

/* Takes what span NUMBER tells; returns its type. */
static guint32
measure_after(const WpMendBundles *bundles, guint32 number, After *after)
{
	const WpSpan *span = &bundles->spans[number];
	guint32 type = wp_map_number(after->types, wp_map_key(span->callee, span->label));
	gint64 own_ns = after_of(bundles, span, &bundles->links->links[number]);

	if (type == after->ns->len)
		g_array_append_val(after->ns, own_ns);
	gint64 *most_ns = &g_array_index(after->ns, gint64, type);
	*most_ns = MAX(*most_ns, own_ns);
	return type;
}

static void
set_beliefs(WpMendBundle *bundle, const WpLink *link, const WpQuickLog *quick)
{
	double doubt = has_more_than_time(link) ? DOUBT_OF_MORE : DOUBT_OF_TIME;
	double own = (double)link->probability, rest = 1 - own;
	double n_others = (double)link->n_candidates - 2;
	double of_runner_up = n_others < 1 ? rest : rest * RUNNER_UP;
	double of_others = n_others < 1 ? rest : rest * (1 - RUNNER_UP) / n_others;

	bundle->of_parent = (float)wp_quick_log(quick, MAX(MAX(own, rest), doubt));
	bundle->of_runner_up = (float)wp_quick_log(quick, MAX(of_runner_up, doubt));
	bundle->of_others = (float)wp_quick_log(quick, MAX(of_others, doubt));
}

static WpMendBundle
bundle_of(const WpMendBundles *bundles, guint32 number, const WpQuickLog *quick)
{
	const WpSpan *span = &bundles->spans[number];
	const WpLink *link = &bundles->links->links[number];

	WpMendBundle bundle = {
		.n = 1,
		.begin_ns = span->call_ns,
		.end_ns = wp_span_end_ns(span),
		.host = span->caller_host,
		.parent = link->parent,
		.runner_up = link->runner_up,
		.probability = link->probability,
	};
	set_beliefs(&bundle, link, quick);
	return bundle;
}

/*
 * Makes the bundles; calls of a connection that lives inside one call follow the first of them. OF_SPAN:
 * number of the bundle of each span, or G_MAXUINT32.
 */
static void
make_bundles(WpMendBundles *bundles, guint32 *of_span, const WpQuickLog *quick)
{
	const WpRecord *records = wp_trace_records(wp_resolved_trace(bundles->resolved));
	g_autoptr(WpMap) flows = wp_map_new();
	After after = { wp_map_new(), g_array_new(FALSE, FALSE, sizeof(gint64)) };

	for (guint32 i = 0; i < bundles->n_spans; i++) {
		const WpSpan *span = &bundles->spans[i];
		const WpLink *link = &bundles->links->links[i];
		guint32 number = bundles->n_bundles, type = measure_after(bundles, i, &after);
		of_span[i] = G_MAXUINT32;
		if (!is_in_doubt(bundles, i))
			continue;
		if (link->evidence & WP_EVIDENCE_CONNECTION)
			number = *wp_map_at(
				flows, wp_map_key(link->parent, records[span->call_record].flow),
				bundles->n_bundles);
		of_span[i] = number;
		WpMendBundle *bundle = &bundles->bundles[number];
		if (number == bundles->n_bundles) {
			*bundle = bundle_of(bundles, i, quick);
			bundle->first = type; /* until all are measured */
			bundles->n_bundles++;
		} else {
			bundle->n++;
			bundle->end_ns = MAX(bundle->end_ns, wp_span_end_ns(span));
		}
	}
	for (guint32 b = 0; b < bundles->n_bundles; b++)
		bundles->bundles[b].after_ns =
			g_array_index(after.ns, gint64, bundles->bundles[b].first);
	wp_map_free(after.types);
	g_array_unref(after.ns);
}

static void
list_members(WpMendBundles *bundles, const guint32 *of_span)
{
	guint32 sum = 0;

	for (guint32 b = 0; b < bundles->n_bundles; b++) {
		bundles->bundles[b].first = sum;
		sum += bundles->bundles[b].n;
		bundles->bundles[b].n = 0;
	}
	bundles->members = g_new(guint32, (gsize)sum + 1);
	for (guint32 i = 0; i < bundles->n_spans; i++) {
		if (of_span[i] == G_MAXUINT32)
			continue;
		WpMendBundle *bundle = &bundles->bundles[of_span[i]];
		bundles->members[bundle->first + bundle->n++] = i;
	}
}

gboolean
wp_mend_fits(const WpMendBundles *bundles, const WpMendBundle *bundle, guint32 number)
{
	const WpSpan *parent = &bundles->spans[number];

	if (number == bundle->parent || number == bundle->runner_up)
		return TRUE;
	if (!wp_spans_may_cause(wp_resolved_spans(bundles->resolved), number,
				*wp_mend_members(bundles, bundle)) ||
	    parent->callee_host != bundle->host || !wp_span_is_paired(parent) ||
	    wp_span_served_ns(parent) > bundle->begin_ns || (parent->marks & WP_MARK_WAIT))
		return FALSE;
	gint64 replied_ns = wp_span_replied_ns(parent);
	return replied_ns >= bundle->end_ns ||
	       (bundle->after_ns >= 0 && replied_ns >= bundle->begin_ns - bundle->after_ns);
}

/* Calls into a host that may still cause something. */
typedef struct {
	guint32 *open; /* spans, by begin */
	guint32 n_open, n_open_allocated;
	gint64 after_ns; /* the longest of the bundles that it sends */
	gboolean sends;  /* any */
} Host;

/* A parent without a return is open to what the engine gave it, or nearly did, and to nothing else. */
static guint32
add_unpaired(const WpMendBundles *bundles, guint32 parent, guint32 *options)
{
	if (parent == WP_NO_SPAN || wp_span_is_paired(&bundles->spans[parent]))
		return 0;
	options[0] = parent;
	return 1;
}

/* Lists the options of BUNDLE from AT on, and drops from the host what ended too long ago. */
static void
list_options(WpMendBundles *bundles, WpMendBundle *bundle, guint32 at, Host *host)
{
	guint32 *open = host->open, n_open = 0, n = 0;

	bundle->first_option = at;
	if ((gsize)at + host->n_open + 2 > bundles->n_options_allocated) {
		bundles->n_options_allocated = 2 * ((gsize)at + host->n_open + 2);
		bundles->options = g_renew(guint32, bundles->options, bundles->n_options_allocated);
	}
	guint32 *options = bundles->options + at;
	for (guint32 i = 0; i < host->n_open; i++) {
		guint32 parent = open[i];
		if (bundles->spans[parent].return_ns < bundle->begin_ns - host->after_ns)
			continue;
		open[n_open++] = parent;
		if (wp_mend_fits(bundles, bundle, parent))
			options[n++] = parent;
	}
	host->n_open = n_open;
	n += add_unpaired(bundles, bundle->parent, options + n);
	n += add_unpaired(bundles, bundle->runner_up, options + n);
	bundle->n_options = MIN(n, WP_MEND_MAX_OPTIONS);
	if (n > bundle->n_options)
		memmove(options, options + n - bundle->n_options,
			bundle->n_options * sizeof options[0]);
}

static void
open_span(Host *host, guint32 span)
{
	if (host->n_open == host->n_open_allocated) {
		host->n_open_allocated = MAX(2 * host->n_open_allocated, 16);
		host->open = g_renew(guint32, host->open, host->n_open_allocated);
	}
	host->open[host->n_open++] = span;
}

static guint32
count_hosts(const WpMendBundles *bundles)
{
	guint32 n = 0;

	for (guint32 b = 0; b < bundles->n_bundles; b++)
		n = MAX(n, bundles->bundles[b].host + 1);
	return n;
}

/* One pass over time. */
static void
find_options(WpMendBundles *bundles)
{
	guint32 n_hosts = count_hosts(bundles), next = 0, at = 0;
	g_autofree Host *hosts = g_new0(Host, MAX(n_hosts, 1));

	for (guint32 b = 0; b < bundles->n_bundles; b++) {
		Host *host = &hosts[bundles->bundles[b].host];
		host->after_ns = MAX(host->after_ns, bundles->bundles[b].after_ns);
		host->sends = TRUE;
	}
	for (guint32 b = 0; b < bundles->n_bundles; b++) {
		WpMendBundle *bundle = &bundles->bundles[b];
		for (; next < bundles->n_spans && bundles->spans[next].call_ns <= bundle->begin_ns;
		     next++) {
			const WpSpan *span = &bundles->spans[next];
			if (span->callee_host < n_hosts && hosts[span->callee_host].sends &&
			    wp_span_is_paired(span) && !(span->marks & WP_MARK_SETUP))
				open_span(&hosts[span->callee_host], next);
		}
		list_options(bundles, bundle, at, &hosts[bundle->host]);
		at += bundle->n_options;
	}
	for (guint32 i = 0; i < n_hosts; i++)
		g_free(hosts[i].open);
}

static void
hang_bundles(WpMendBundles *bundles)
{
	g_autofree guint32 *n_below = g_new0(guint32, (gsize)bundles->n_spans + 1);

	for (guint32 b = 0; b < bundles->n_bundles; b++)
		n_below[bundles->bundles[b].parent]++;
	wp_mend_lists_init(&bundles->below, n_below, bundles->n_spans);
	for (guint32 b = 0; b < bundles->n_bundles; b++)
		wp_mend_list_add(&bundles->below.lists[bundles->bundles[b].parent], b);
}

void
wp_mend_bundles_init(WpMendBundles *bundles, const WpLinks *links, const WpResolved *resolved,
		     const WpQuickLog *quick)
{
	const WpSpans *spans = wp_resolved_spans(resolved);
	g_autofree guint32 *of_span = g_new(guint32, (gsize)spans->n + 1);

	*bundles = (WpMendBundles){
		.resolved = resolved,
		.spans = spans->spans,
		.n_spans = spans->n,
		.links = links,
		.bundles = g_new(WpMendBundle, (gsize)spans->n + 1),
	};
	make_bundles(bundles, of_span, quick);
	list_members(bundles, of_span);
	find_options(bundles);
	hang_bundles(bundles);
}

void
wp_mend_bundles_clear(WpMendBundles *bundles)
{
	wp_mend_lists_clear(&bundles->below);
	g_free(bundles->bundles);
	g_free(bundles->members);
	g_free(bundles->options);
}
