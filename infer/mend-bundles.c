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

/*
 * By type, that is (callee, label): how long after the end of its parent such a call began at most, or -1. OUT_TYPES: by
 * span.
 */
static gint64 *
measure_after(const WpMendBundles *bundles, guint32 *out_types)
{
	g_autoptr(WpMap) types = wp_map_new();
	gint64 *after = g_new(gint64, (gsize)bundles->n_spans + 1);

	for (guint32 i = 0; i < bundles->n_spans; i++) {
		const WpLink *link = &bundles->links->links[i];
		const WpSpan *span = &bundles->spans[i];
		guint32 known = wp_map_count(types);
		guint32 type = wp_map_number(types, wp_map_key(span->callee, span->label));
		out_types[i] = type;
		if (type == known)
			after[type] = -1;
		if (link->parent == WP_NO_SPAN || !(link->evidence & WP_EVIDENCE_AFTER))
			continue;
		const WpSpan *parent = &bundles->spans[link->parent];
		/* How long after a message says nothing of calls that are answered. */
		if (!wp_span_is_paired(parent))
			continue;
		gint64 gap = span->call_ns - wp_span_replied_ns(parent);
		after[type] = MAX(after[type], MAX(gap, 0));
	}
	return after;
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
bundle_of(const WpMendBundles *bundles, guint32 number, gint64 after_ns, const WpQuickLog *quick)
{
	const WpSpan *span = &bundles->spans[number];
	const WpLink *link = &bundles->links->links[number];

	WpMendBundle bundle = {
		.first = bundles->members->len,
		.n = 1,
		.begin_ns = span->call_ns,
		.end_ns = wp_span_end_ns(span),
		.after_ns = after_ns,
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
	g_autofree gint64 *after = measure_after(bundles, of_span);
	GArray *made = g_array_new(FALSE, FALSE, sizeof(WpMendBundle));

	for (guint32 i = 0; i < bundles->n_spans; i++) {
		const WpSpan *span = &bundles->spans[i];
		const WpLink *link = &bundles->links->links[i];
		guint32 number = made->len, type = of_span[i];
		of_span[i] = G_MAXUINT32;
		if (!is_in_doubt(bundles, i))
			continue;
		if (link->evidence & WP_EVIDENCE_CONNECTION)
			number = *wp_map_at(
				flows, wp_map_key(link->parent, records[span->call_record].flow),
				made->len);
		of_span[i] = number;
		if (number == made->len) {
			WpMendBundle bundle = bundle_of(bundles, i, after[type], quick);
			g_array_append_val(made, bundle);
		} else {
			WpMendBundle *bundle = &g_array_index(made, WpMendBundle, number);
			bundle->n++;
			bundle->end_ns = MAX(bundle->end_ns, wp_span_end_ns(span));
		}
	}
	bundles->n_bundles = made->len;
	bundles->bundles = (WpMendBundle *)(void *)g_array_free(made, FALSE);
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
	g_array_set_size(bundles->members, sum);
	for (guint32 i = 0; i < bundles->n_spans; i++) {
		if (of_span[i] == G_MAXUINT32)
			continue;
		WpMendBundle *bundle = &bundles->bundles[of_span[i]];
		g_array_index(bundles->members, guint32, bundle->first + bundle->n++) = i;
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
	GArray *open;    /* guint32: spans, by begin */
	gint64 after_ns; /* the longest of the bundles that it sends */
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

/* Lists the options of BUNDLE, and drops from the host what ended too long ago. */
static void
list_options(WpMendBundles *bundles, WpMendBundle *bundle, Host *host)
{
	guint32 *open = (guint32 *)(void *)host->open->data, n_open = 0, n = 0;

	bundle->first_option = bundles->options->len;
	g_array_set_size(bundles->options, bundle->first_option + host->open->len + 2);
	guint32 *options = &g_array_index(bundles->options, guint32, bundle->first_option);
	for (guint i = 0; i < host->open->len; i++) {
		guint32 parent = open[i];
		if (bundles->spans[parent].return_ns < bundle->begin_ns - host->after_ns)
			continue;
		open[n_open++] = parent;
		if (wp_mend_fits(bundles, bundle, parent))
			options[n++] = parent;
	}
	g_array_set_size(host->open, n_open);
	n += add_unpaired(bundles, bundle->parent, options + n);
	n += add_unpaired(bundles, bundle->runner_up, options + n);
	bundle->n_options = MIN(n, WP_MEND_MAX_OPTIONS);
	memmove(options, options + n - bundle->n_options, bundle->n_options * sizeof options[0]);
	g_array_set_size(bundles->options, bundle->first_option + bundle->n_options);
}

static Host *
host_at(GArray *hosts, guint32 number)
{
	while (hosts->len <= number) {
		Host host = { g_array_new(FALSE, FALSE, sizeof(guint32)), 0 };
		g_array_append_val(hosts, host);
	}
	return &g_array_index(hosts, Host, number);
}

/* One pass over time. */
static void
find_options(WpMendBundles *bundles)
{
	GArray *hosts = g_array_new(FALSE, FALSE, sizeof(Host));
	guint32 next = 0;

	for (guint32 b = 0; b < bundles->n_bundles; b++) {
		Host *host = host_at(hosts, bundles->bundles[b].host);
		host->after_ns = MAX(host->after_ns, bundles->bundles[b].after_ns);
	}
	for (guint32 b = 0; b < bundles->n_bundles; b++) {
		WpMendBundle *bundle = &bundles->bundles[b];
		for (; next < bundles->n_spans && bundles->spans[next].call_ns <= bundle->begin_ns;
		     next++)
			if (wp_span_is_paired(&bundles->spans[next]) &&
			    !(bundles->spans[next].marks & WP_MARK_SETUP))
				g_array_append_val(
					host_at(hosts, bundles->spans[next].callee_host)->open,
					next);
		list_options(bundles, bundle, host_at(hosts, bundle->host));
	}
	for (guint i = 0; i < hosts->len; i++)
		g_array_unref(g_array_index(hosts, Host, i).open);
	g_array_unref(hosts);
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
		.members = g_array_new(FALSE, FALSE, sizeof(guint32)),
		.options = g_array_new(FALSE, FALSE, sizeof(guint32)),
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
	g_array_unref(bundles->members);
	g_array_unref(bundles->options);
}
