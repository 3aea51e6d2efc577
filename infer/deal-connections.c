/* Connections, given out anew. See the header. */
#include "infer/deal-connections.h"

#include "infer/map.h"

/* What a request does on a connection before another request has it. */
typedef struct {
	guint32 pool; /* caller and callee */
	guint32 connection;
	guint32 root;
	gint64 begin_ns; /* as found */
	gint64 end_ns;
	gint64 dealt_begin_ns;
	gint64 dealt_end_ns;
	guint32 number; /* of the hold */
} Hold;

typedef struct {
	guint32 flow;
	gint64 free_ns;       /* from then on */
	guint32 last;         /* hold + 1 */
	gboolean has_several; /* requests, ... */
	gboolean is_shared;   /* ... at a time */
} Connection;

typedef struct {
	const WpDealMoves *moves;
	const WpSpan *spans;
	guint32 n_spans;
	GArray *holds;       /* Hold, by begin */
	GArray *connections; /* Connection */
	guint32 *hold_of;    /* by span: + 1; 0: none */
	guint32 most_flow;
} Holds;

/* --- as found --- */

static gboolean
may_hold(const Holds *holds, guint32 span)
{
	guint32 root = holds->moves->root_of[span];

	return root != WP_NO_SPAN && root != span && wp_span_is_paired(&holds->spans[span]);
}

/* Goes on with HOLD, by SPAN. */
static void
extend(const Holds *holds, guint32 span, Hold *hold)
{
	gint64 begin_ns = holds->spans[span].call_ns + holds->moves->shift_ns[span];
	gint64 end_ns = holds->spans[span].return_ns + holds->moves->return_shift_ns[span];

	hold->end_ns = MAX(hold->end_ns, holds->spans[span].return_ns);
	hold->dealt_begin_ns = MIN(hold->dealt_begin_ns, begin_ns);
	hold->dealt_end_ns = MAX(hold->dealt_end_ns, end_ns);
}

static void
add_to_hold(Holds *holds, guint32 span, guint32 connection, guint32 pool)
{
	Connection *own = &g_array_index(holds->connections, Connection, connection);
	guint32 root = holds->moves->root_of[span];
	Hold *before = own->last ? &g_array_index(holds->holds, Hold, own->last - 1) : NULL;

	if (before && before->root != root) {
		own->has_several = TRUE;
		own->is_shared |= holds->spans[span].call_ns < before->end_ns;
	}
	if (!before || before->root != root) {
		Hold hold = { .pool = pool,
			      .connection = connection,
			      .root = root,
			      .begin_ns = holds->spans[span].call_ns,
			      .end_ns = G_MININT64,
			      .dealt_begin_ns = G_MAXINT64,
			      .dealt_end_ns = G_MININT64,
			      .number = holds->holds->len };
		g_array_append_val(holds->holds, hold);
		own->last = holds->holds->len;
	}
	extend(holds, span, &g_array_index(holds->holds, Hold, own->last - 1));
	holds->hold_of[span] = own->last;
}

/* Returns how many pools there are. */
static guint32
find_holds(Holds *holds)
{
	const WpRecord *records = wp_trace_records(wp_resolved_trace(holds->moves->resolved));
	g_autoptr(WpMap) flows = wp_map_new();
	g_autoptr(WpMap) pools = wp_map_new();

	for (guint32 i = 0; i < holds->n_spans; i++) {
		const WpSpan *span = &holds->spans[i];
		guint32 flow = records[span->call_record].flow;
		holds->most_flow = MAX(holds->most_flow, flow);
		if (flow == 0 || !may_hold(holds, i))
			continue;
		guint32 connection = wp_map_number(flows, flow);
		if (connection == holds->connections->len) {
			Connection found = { .flow = flow };
			g_array_append_val(holds->connections, found);
		}
		add_to_hold(holds, i, connection,
			    wp_map_number(pools, wp_map_key(span->caller, span->callee)));
	}
	return wp_map_count(pools);
}

/* --- given out --- */

/* Whether CONNECTION has been free for the shortest time at NOW_NS (1), for the longest (-1), or in between, or alone (0). */
static gint
rank_of(const GArray *connections, gint64 now_ns, gint64 free_ns)
{
	gint64 latest_ns = G_MININT64, first_ns = G_MAXINT64;

	for (guint i = 0; i < connections->len; i++) {
		gint64 other_ns = g_array_index(connections, Connection, i).free_ns;
		if (other_ns <= now_ns) {
			latest_ns = MAX(latest_ns, other_ns);
			first_ns = MIN(first_ns, other_ns);
		}
	}
	if (latest_ns <= first_ns)
		return 0;
	return free_ns == latest_ns ? 1 : free_ns == first_ns ? -1 : 0;
}

/*
 * The connections of OWN, holds of a pool by begin (transfer full). OUT_LATEST: a request gets the one that was given back last, as
 * a rule.
 */
static GArray *
list_connections(const Holds *holds, const GArray *own, gboolean *out_latest)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(Connection));
	g_autoptr(WpMap) numbers = wp_map_new();
	gint sum = 0;

	for (guint h = 0; h < own->len; h++) {
		const Hold *hold = &g_array_index(own, Hold, h);
		guint32 number = wp_map_number(numbers, hold->connection);
		if (number == list->len)
			g_array_append_val(list, g_array_index(holds->connections, Connection,
							       hold->connection));
		else
			sum += rank_of(list, hold->begin_ns,
				       g_array_index(list, Connection, number).free_ns);
		g_array_index(list, Connection, number).free_ns = hold->end_ns;
	}
	*out_latest = sum > 0;
	return list;
}

/* The number of the one of LIST that HOLD gets, as dealt; -1: none is free. */
static gint
find_free(const GArray *list, const Hold *hold, gboolean takes_latest)
{
	gint best = -1;

	for (guint i = 0; i < list->len; i++) {
		gint64 free_ns = g_array_index(list, Connection, i).free_ns;
		if (free_ns > hold->dealt_begin_ns)
			continue;
		gint64 best_ns = best < 0 ? 0 : g_array_index(list, Connection, best).free_ns;
		if (best < 0 || (takes_latest ? free_ns > best_ns : free_ns < best_ns))
			best = (gint)i;
	}
	return best;
}

static gint
compare_dealt(gconstpointer a, gconstpointer b)
{
	const Hold *x = a, *y = b;
	if (x->dealt_begin_ns != y->dealt_begin_ns)
		return x->dealt_begin_ns < y->dealt_begin_ns ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* FLOWS, by hold: of those of OWN, which are a pool's, as dealt. */
static void
give_out(Holds *holds, GArray *own, guint32 *flows)
{
	gboolean takes_latest;
	g_autoptr(GArray) list = list_connections(holds, own, &takes_latest);

	for (guint i = 0; i < list->len; i++)
		g_array_index(list, Connection, i).free_ns = G_MININT64;
	g_array_sort(own, compare_dealt);
	for (guint h = 0; h < own->len; h++) {
		const Hold *hold = &g_array_index(own, Hold, h);
		gint number = find_free(list, hold, takes_latest);
		if (number < 0) {
			Connection another = { .flow = ++holds->most_flow };
			number = (gint)list->len;
			g_array_append_val(list, another);
		}
		Connection *connection = &g_array_index(list, Connection, number);
		connection->free_ns = hold->dealt_end_ns;
		flows[hold->number] = connection->flow;
	}
}

/* (transfer full) By pool: an array of those of its holds (transfer full) whose connections are given out. */
static GPtrArray *
sort_by_pool(const Holds *holds, guint32 n_pools)
{
	GPtrArray *pools = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);

	for (guint32 p = 0; p < n_pools; p++)
		g_ptr_array_add(pools, g_array_new(FALSE, FALSE, sizeof(Hold)));
	for (guint h = 0; h < holds->holds->len; h++) {
		const Hold *hold = &g_array_index(holds->holds, Hold, h);
		const Connection *own =
			&g_array_index(holds->connections, Connection, hold->connection);
		if (own->has_several && !own->is_shared)
			g_array_append_val((GArray *)pools->pdata[hold->pool], *hold);
	}
	return pools;
}

guint32 *
wp_deal_connections(const WpDealMoves *moves)
{
	const WpSpans *spans = wp_resolved_spans(moves->resolved);
	const WpRecord *records = wp_trace_records(wp_resolved_trace(moves->resolved));
	guint32 *flow_of = g_new(guint32, (gsize)spans->n + 1);
	Holds holds = {
		.moves = moves,
		.spans = spans->spans,
		.n_spans = spans->n,
		.holds = g_array_new(FALSE, FALSE, sizeof(Hold)),
		.connections = g_array_new(FALSE, FALSE, sizeof(Connection)),
		.hold_of = g_new0(guint32, (gsize)spans->n + 1),
	};
	g_autoptr(GPtrArray) pools = sort_by_pool(&holds, find_holds(&holds));
	g_autofree guint32 *flows = g_new(guint32, (gsize)holds.holds->len + 1);

	for (guint h = 0; h < holds.holds->len; h++) {
		guint32 connection = g_array_index(holds.holds, Hold, h).connection;
		flows[h] = g_array_index(holds.connections, Connection, connection).flow;
	}
	for (guint p = 0; p < pools->len; p++)
		give_out(&holds, pools->pdata[p], flows);
	for (guint32 i = 0; i < spans->n; i++)
		flow_of[i] = holds.hold_of[i] ? flows[holds.hold_of[i] - 1]
					      : records[spans->spans[i].call_record].flow;
	g_array_unref(holds.holds);
	g_array_unref(holds.connections);
	g_free(holds.hold_of);
	return flow_of;
}
