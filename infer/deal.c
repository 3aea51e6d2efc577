/* Requests found are dealt anew among their arrivals, and inferred again. */
#include "infer/deal.h"

#include <string.h>

#include "infer/deal-connections.h"
#include "infer/map.h"
#include "infer/path.h"
#include "infer/random.h"
#include "infer/redraw.h"

#define NEARBY 16 /* requests of a path, at least, that follow one another and change places */

struct WpDeal {
	const WpResolved *resolved;
	const WpTrace *trace;
	const WpSpans *spans;
	WpLinks *links;   /* the requests that are dealt: as found, or as drawn */
	WpPaths *paths;   /* of LINKS */
	guint32 *root_of; /* by span: WP_NO_SPAN = on no path */
	gint64 *shift_ns; /* by span: of its call */
	gint64 *return_shift_ns;
	guint32 *dealt_to;   /* by root: what begins in its place */
	guint32 *span_of;    /* by record: the span that it belongs to, or WP_NO_SPAN */
	guint8 *is_left_out; /* by span: of a request that is not dealt; NULL: all are */
	gint64 from_ns;      /* when the requests that are dealt begin, first and last */
	gint64 to_ns;
	WpRandom64 random;
	WpTrace *made;     /* the capture as dealt */
	WpResolved *dealt; /* ... resolved */
	WpLinks *again;    /* ... inferred */
};

/* What a span without a parent in an answer that was drawn is there. FOUND is what it is in the answer. */
static guint32
words_without_parent(const WpSpan *span, const WpLink *found, gboolean is_cause)
{
	if (found->parent == WP_NO_SPAN && span->kind != WP_KIND_MESSAGE)
		return found->evidence;
	if (span->kind != WP_KIND_MESSAGE)
		return WP_EVIDENCE_UNSEEN;
	if (found->evidence & (WP_EVIDENCE_SETUP | WP_EVIDENCE_STOPPED))
		return found->evidence;
	return is_cause ? WP_EVIDENCE_ROOT : WP_EVIDENCE_UNPAIRED;
}

/* (transfer full) The requests of LINKS as they are; or where an answer was drawn as they are in that. */
static WpLinks *
copy_requests(const WpLinks *links, const WpSpan *spans)
{
	WpLinks *copy = wp_links_new(links->n);
	g_autofree guint8 *is_cause = g_new0(guint8, (gsize)links->n + 1);

	memcpy(copy->links, links->links, links->n * sizeof links->links[0]);
	copy->paces = links->paces
			      ? g_memdup2(links->paces, links->n_paces * sizeof links->paces[0])
			      : NULL;
	copy->n_paces = links->n_paces;
	copy->waited_ns =
		links->waited_ns ? g_memdup2(links->waited_ns, links->n * sizeof(gint64)) : NULL;
	for (guint32 i = 0; links->drawn && i < links->n; i++) {
		copy->links[i].parent = links->drawn[i];
		if (links->drawn[i] != WP_NO_SPAN)
			is_cause[links->drawn[i]] = TRUE;
	}
	for (guint32 i = 0; links->drawn && i < links->n; i++)
		if (links->drawn[i] == WP_NO_SPAN)
			copy->links[i].evidence =
				words_without_parent(&spans[i], &links->links[i], is_cause[i]);
	wp_links_cut_cycles(copy);
	return copy;
}

static void
find_roots(WpDeal *deal)
{
	const WpPaths *paths = deal->paths;
	g_autofree guint32 *order = wp_paths_by_depth(paths);

	for (guint32 i = 0; i < paths->n; i++)
		deal->root_of[i] = WP_NO_SPAN;
	for (guint32 i = 0; i < paths->n_on_paths; i++) {
		guint32 span = order[i], parent = deal->links->links[span].parent;
		deal->root_of[span] = i < paths->n_roots ? span : deal->root_of[parent];
	}
}

/*
 * Of more than MAX_CALLS calls on paths leaves out all requests but those in the middle that have so many: what
 * goes on at a time stays together.
 */
static void
choose_part(WpDeal *deal, guint32 max_calls)
{
	const WpPaths *paths = deal->paths;
	const WpSpan *spans = deal->spans->spans;

	if (paths->n_on_paths <= max_calls)
		return;
	guint32 n_before = (paths->n_on_paths - max_calls) / 2, n = 0;
	g_autofree guint32 *n_calls = g_new0(guint32, (gsize)paths->n + 1);
	deal->is_left_out = g_new0(guint8, (gsize)paths->n + 1);
	deal->from_ns = G_MAXINT64;
	deal->to_ns = G_MININT64;
	for (guint32 i = 0; i < paths->n; i++)
		if (deal->root_of[i] != WP_NO_SPAN)
			n_calls[deal->root_of[i]]++;
	for (guint32 i = 0; i < paths->n_roots; i++) {
		guint32 root = paths->roots[i];
		gboolean is_in = n >= n_before && n < n_before + max_calls;
		n += n_calls[root];
		deal->is_left_out[root] = !is_in;
		if (is_in) {
			deal->from_ns = MIN(deal->from_ns, spans[root].call_ns);
			deal->to_ns = MAX(deal->to_ns, spans[root].call_ns);
		}
	}
	for (guint32 i = 0; i < paths->n; i++)
		if (deal->root_of[i] != WP_NO_SPAN)
			deal->is_left_out[i] = deal->is_left_out[deal->root_of[i]];
	for (guint32 i = 0; i < paths->n; i++)
		if (deal->is_left_out[i])
			deal->root_of[i] = WP_NO_SPAN;
}

/* Whether record NUMBER, which belongs to SPAN or to none, has a place in the capture as dealt. */
static gboolean
is_dealt(const WpDeal *deal, gsize number, guint32 span)
{
	gint64 begin_ns = wp_trace_records(deal->trace)[number].begin_ns;

	if (!deal->is_left_out || (span != WP_NO_SPAN && deal->root_of[span] != WP_NO_SPAN))
		return TRUE;
	return (span == WP_NO_SPAN || !deal->is_left_out[span]) && begin_ns >= deal->from_ns &&
	       begin_ns <= deal->to_ns;
}

/* Deals the requests of each path among the arrivals about theirs: the shift of every root. */
static void
deal_requests(WpDeal *deal)
{
	const WpPaths *paths = deal->paths;
	const WpSpan *spans = deal->spans->spans;
	g_autoptr(WpMap) numbers = wp_map_new();
	g_autoptr(GPtrArray) lists = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);

	for (guint32 i = 0; i < paths->n_roots; i++) {
		guint32 root = paths->roots[i];
		if (deal->root_of[root] == WP_NO_SPAN)
			continue;
		guint32 number =
			wp_map_number(numbers, wp_map_key(spans[root].caller, paths->forms[root]));
		if (number == lists->len)
			g_ptr_array_add(lists, g_array_new(FALSE, FALSE, sizeof(guint32)));
		g_array_append_val((GArray *)lists->pdata[number], root);
	}
	for (guint i = 0; i < lists->len; i++) {
		const GArray *list = lists->pdata[i];
		g_autofree guint32 *dealt = g_memdup2(list->data, list->len * sizeof(guint32));
		guint32 n_parts = MAX(1, list->len / NEARBY);
		for (guint64 part = 0; part < n_parts; part++) {
			guint32 from = (guint32)(list->len * part / n_parts);
			guint32 to = (guint32)(list->len * (part + 1) / n_parts);
			wp_random64_shuffle(&deal->random, dealt + from, to - from);
		}
		for (guint k = 0; k < list->len; k++) {
			guint32 place = g_array_index(list, guint32, k);
			deal->shift_ns[dealt[k]] = spans[place].call_ns - spans[dealt[k]].call_ns;
			deal->dealt_to[place] = dealt[k];
		}
	}
}

/*
 * Over a connection that has had one request at a time so far, the next one comes as long after the reply to the one
 * before as it did.
 */
static void
follow_connections(const WpDeal *deal, guint32 *next, gint64 *pause_ns)
{
	const WpRecord *records = wp_trace_records(deal->trace);
	const WpSpan *spans = deal->spans->spans;
	g_autoptr(WpMap) last = wp_map_new();

	for (guint32 i = 0; i < deal->spans->n; i++) {
		next[i] = WP_NO_SPAN;
		pause_ns[i] = -1;
	}
	for (guint32 i = 0; i < deal->paths->n_roots; i++) {
		guint32 place = deal->paths->roots[i], own = deal->dealt_to[place];
		guint32 flow = records[spans[place].call_record].flow;
		if (!flow || deal->root_of[place] == WP_NO_SPAN)
			continue;
		guint32 *before = wp_map_at(last, flow, place);
		const WpSpan *other = &spans[*before];
		if (*before != place && wp_span_is_paired(other) &&
		    other->return_ns <= spans[place].call_ns) {
			next[deal->dealt_to[*before]] = own;
			pause_ns[own] = spans[place].call_ns - other->return_ns;
		}
		*before = place;
	}
}

/* Requests beside other ones, at hosts that work slower the more they have in hand. */
static void
redraw(WpDeal *deal)
{
	g_autofree guint32 *next = g_new(guint32, MAX(deal->spans->n, 1));
	g_autofree gint64 *pause_ns = g_new(gint64, MAX(deal->spans->n, 1));
	const WpRedrawPlan plan = { deal->root_of, next, pause_ns };

	if (!deal->links->paces)
		return;
	follow_connections(deal, next, pause_ns);
	wp_redraw(deal->resolved, deal->links, &plan, deal->shift_ns, deal->return_shift_ns);
}

/* Calls move with their request; what is on no path with the first call on its connection that is. */
static void
spread_shifts(WpDeal *deal, WpMap *span_of_flow)
{
	const WpRecord *records = wp_trace_records(deal->trace);

	for (guint32 i = 0; i < deal->spans->n; i++) {
		if (deal->root_of[i] == WP_NO_SPAN)
			continue;
		deal->shift_ns[i] = deal->shift_ns[deal->root_of[i]];
		wp_map_at(span_of_flow, records[deal->spans->spans[i].call_record].flow, i);
	}
	for (guint32 i = 0; i < deal->spans->n; i++) {
		guint32 flow = records[deal->spans->spans[i].call_record].flow;
		guint32 first = flow ? wp_map_find(span_of_flow, flow) : WP_MAP_NONE;
		if (deal->root_of[i] == WP_NO_SPAN && first != WP_MAP_NONE)
			deal->shift_ns[i] = deal->shift_ns[first];
		deal->return_shift_ns[i] = deal->shift_ns[i];
	}
}

static gint64
shift_of_record(const WpDeal *deal, const WpMap *span_of_flow, gsize number)
{
	const WpRecord *record = &wp_trace_records(deal->trace)[number];
	guint32 span = deal->span_of[number];

	if (span == WP_NO_SPAN)
		span = record->flow ? wp_map_find(span_of_flow, record->flow) : WP_MAP_NONE;
	if (span == WP_MAP_NONE)
		return 0;
	return record->kind == WP_KIND_RETURN ? deal->return_shift_ns[span] : deal->shift_ns[span];
}

static void
find_spans_of_records(WpDeal *deal)
{
	for (gsize i = 0; i < wp_trace_n_records(deal->trace); i++)
		deal->span_of[i] = WP_NO_SPAN;
	for (guint32 i = 0; i < deal->spans->n; i++) {
		const WpSpan *span = &deal->spans->spans[i];
		deal->span_of[span->call_record] = i;
		if (span->return_record != G_MAXUINT32)
			deal->span_of[span->return_record] = i;
	}
}

/* (transfer full) The capture as dealt. The packet of a record is the number of its span, from 1. */
static WpTrace *
make_trace(WpDeal *deal)
{
	const WpRecord *records = wp_trace_records(deal->trace);
	WpTrace *made = wp_trace_new(wp_trace_nodes(deal->trace));
	WpRecordSink *sink = wp_trace_sink(made);
	g_autoptr(WpMap) span_of_flow = wp_map_new();

	spread_shifts(deal, span_of_flow);
	redraw(deal);
	const WpDealMoves moves = { deal->resolved, deal->root_of, deal->shift_ns,
				    deal->return_shift_ns };
	g_autofree guint32 *flow_of = wp_deal_connections(&moves);
	wp_sink_begin(sink, wp_trace_nodes(deal->trace), NULL);
	for (gsize i = 0; i < wp_trace_n_records(deal->trace); i++) {
		WpRecord record = records[i];
		guint32 span = deal->span_of[i];
		if (!is_dealt(deal, i, span))
			continue;
		gint64 shift = shift_of_record(deal, span_of_flow, i);
		if (span != WP_NO_SPAN)
			record.flow = flow_of[span];
		record.begin_ns += shift;
		record.end_ns += shift;
		record.id = span == WP_NO_SPAN ? deal->spans->n + i : span;
		record.marks &=
			(guint8) ~(WP_MARK_CARRIED | WP_MARK_ANSWERED); /* a whole of its own */
		record.packet = span == WP_NO_SPAN ? 0 : (guint64)span + 1;
		wp_sink_record(sink, &record, wp_trace_tokens(deal->trace, &records[i]), NULL);
	}
	wp_sink_counters(sink, wp_trace_counters(deal->trace), NULL);
	wp_sink_end(sink, NULL);
	return made;
}

static void
free_work(WpDeal *deal)
{
	g_clear_pointer(&deal->paths, wp_paths_free);
	g_clear_pointer(&deal->shift_ns, g_free);
	g_clear_pointer(&deal->return_shift_ns, g_free);
	g_clear_pointer(&deal->dealt_to, g_free);
	g_clear_pointer(&deal->span_of, g_free);
	g_clear_pointer(&deal->is_left_out, g_free);
}

/*
 * How each host works is as it was found: whether it is found again would say more of that search than of links that
 * are found by it. Calls that had waited for a connection are those that had: dealt, they do not stand in line.
 */
static WpLinks *
infer_again(const WpDeal *deal, const WpDealMethod *method, GError **error)
{
	const WpSpans *spans = wp_resolved_spans(deal->dealt);
	const WpLinks *links = deal->links;
	guint32 n_hosts = 0;

	for (guint32 i = 0; i < spans->n; i++)
		n_hosts = MAX(n_hosts, spans->spans[i].caller_host + 1);
	g_autofree WpPace *paces = g_new0(WpPace, MAX(n_hosts, 1));
	g_autofree guint8 *has_waited = g_new0(guint8, MAX(spans->n, 1));
	g_autofree gint64 *waited_ns = links->waited_ns ? g_new0(gint64, MAX(spans->n, 1)) : NULL;
	for (guint32 i = 0; i < spans->n; i++) {
		guint32 former = wp_deal_former(deal, i);
		if (former == WP_NO_SPAN)
			continue;
		guint32 host = deal->spans->spans[former].caller_host;
		if (host < links->n_paces)
			paces[spans->spans[i].caller_host] = links->paces[host];
		if (waited_ns)
			waited_ns[i] = links->waited_ns[former];
		has_waited[i] = (links->links[former].evidence & WP_EVIDENCE_POOL) != 0;
	}
	const WpWorkings workings = { paces, n_hosts, has_waited, waited_ns };
	return wp_engine_infer_known(method->engine, deal->dealt, method->options, &workings,
				     method->stop, error);
}

WpDeal *
wp_deal_new(const WpResolved *resolved, const WpLinks *links, guint32 max_calls,
	    const WpDealMethod *method, GError **error)
{
	g_autoptr(WpDeal) deal = g_new0(WpDeal, 1);
	const WpSpans *spans = wp_resolved_spans(resolved);
	gsize n = (gsize)spans->n + 1;

	deal->resolved = resolved;
	deal->trace = wp_resolved_trace(resolved);
	deal->spans = spans;
	deal->links = copy_requests(links, spans->spans);
	deal->paths = wp_paths_new(spans, deal->links, NULL, NULL);
	deal->root_of = g_new(guint32, n);
	deal->span_of = g_new(guint32, wp_trace_n_records(deal->trace) + 1);
	deal->shift_ns = g_new0(gint64, n);
	deal->return_shift_ns = g_new0(gint64, n);
	deal->dealt_to = g_new0(guint32, n);
	deal->random = (WpRandom64){ WP_RANDOM64_SEED };
	find_roots(deal);
	find_spans_of_records(deal);
	choose_part(deal, max_calls);
	deal_requests(deal);
	deal->made = make_trace(deal);
	free_work(deal);
	deal->dealt = wp_resolve(deal->made, method->resolve, error);
	deal->again = deal->dealt ? infer_again(deal, method, error) : NULL;
	return deal->again ? g_steal_pointer(&deal) : NULL;
}

void
wp_deal_free(WpDeal *deal)
{
	if (!deal)
		return;
	free_work(deal);
	wp_links_free(deal->again);
	wp_links_free(deal->links);
	wp_resolved_free(deal->dealt);
	wp_trace_free(deal->made);
	g_free(deal->root_of);
	g_free(deal);
}

const guint32 *
wp_deal_roots(const WpDeal *deal)
{
	return deal->root_of;
}

const WpLinks *
wp_deal_truth(const WpDeal *deal)
{
	return deal->links;
}

const WpLinks *
wp_deal_links(const WpDeal *deal)
{
	return deal->again;
}

guint32
wp_deal_former(const WpDeal *deal, guint32 number)
{
	if (number == WP_NO_SPAN)
		return WP_NO_SPAN;
	const WpSpan *span = &wp_resolved_spans(deal->dealt)->spans[number];
	const WpRecord *record = &wp_trace_records(deal->made)[span->call_record];
	return record->packet ? (guint32)(record->packet - 1) : WP_NO_SPAN;
}

gboolean
wp_deal_counts(const WpDeal *deal, guint32 number)
{
	return number != WP_NO_SPAN && deal->root_of[number] != WP_NO_SPAN &&
	       !(deal->spans->spans[number].marks & WP_MARK_ANSWERED);
}

guint8 *
wp_deal_find_wrong(const WpDeal *deal)
{
	guint8 *is_wrong = g_new0(guint8, (gsize)deal->spans->n + 1);

	for (guint32 i = 0; i < deal->again->n; i++) {
		guint32 span = wp_deal_former(deal, i);
		guint32 parent = wp_deal_former(deal, deal->again->links[i].parent);
		if (!wp_deal_counts(deal, span) || parent == deal->links->links[span].parent)
			continue;
		is_wrong[deal->root_of[span]] = TRUE;
		if (parent != WP_NO_SPAN && deal->root_of[parent] != WP_NO_SPAN)
			is_wrong[deal->root_of[parent]] = TRUE;
	}
	return is_wrong;
}
