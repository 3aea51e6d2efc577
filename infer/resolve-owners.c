/* Shared machines: which addresses they are, and whose the flows are that leave them. */
#include "infer/links.h"
#include "infer/ownership.h"
#include "infer/resolve-private.h"

#include <string.h>

#define MANY                                                                                       \
	0.2 /* of the flows with an owner belong to any service: then hosts are not told apart */
#define NOT_KNOWN 0.5 /* an owner less sure is a guess */
#define OPEN                                                                                       \
	0.1 /* share of the calls that leave a machine, from which on an engine has to tell whose they are */
#define SURE 0.95 /* so sure an answer of one window stands in those after it */

static const WpRecord *
call_record(const WpResolved *resolved, const WpSpan *span)
{
	return &wp_trace_records(resolved->trace)[span->call_record];
}

/* The number of an end of a flow, or of a flow (port 0x10000 stands for that). */
static guint32
end_number(const WpResolved *resolved, guint32 node, guint32 port)
{
	/* Node numbers of a trace are far below 2^32. */
	return wp_map_number(resolved->end_numbers, wp_map_key(node, port));
}

static guint64
flow_key(const WpResolved *resolved, const WpRecord *record)
{
	guint32 caller = end_number(resolved, record->sender, record->src.port);
	guint32 other = record->flow ? end_number(resolved, record->flow, 0x10000)
				     : end_number(resolved, record->receiver, record->dst.port);
	return wp_map_key(caller, other);
}

const WpResolveFlow *
wp_resolve_flow_of(const WpResolved *resolved, const WpRecord *record)
{
	const WpResolveAddress *address = wp_resolve_address(resolved, record->sender);
	guint32 number = address->machine != WP_NO_NODE
				 ? wp_map_find(resolved->flow_numbers, flow_key(resolved, record))
				 : WP_MAP_NONE;
	return number != WP_MAP_NONE ? &g_array_index(resolved->flows, WpResolveFlow, number)
				     : NULL;
}

static gboolean
is_apart(const WpResolved *resolved, const WpSpan *span)
{
	return wp_resolve_service(resolved, span->caller, call_record(resolved, span)->src.port) ==
	       WP_MAP_NONE;
}

static guint32
count_services(const WpResolved *resolved, guint32 node)
{
	const char *last = NULL; /* ports of one name are one service */
	guint32 n = 0;

	for (guint i = 0; i < resolved->ports->len; i++) {
		const WpResolvePort *port = &g_array_index(resolved->ports, WpResolvePort, i);
		if (port->node != node ||
		    wp_resolve_service(resolved, node, port->port) == WP_MAP_NONE)
			continue;
		const char *name = wp_resolve_port_name(resolved, port);
		n += !name || g_strcmp0(name, last) != 0;
		last = name;
	}
	return n;
}

static gboolean
is_shared(const WpResolved *resolved, guint32 node)
{
	const WpResolveAddress *address = wp_resolve_address(resolved, node);
	return address->sends_apart &&
	       (address->calls_itself || count_services(resolved, node) > 1);
}

/*
 * Shared is an address with several services that sends calls besides, and one that calls itself. What is
 * shared stays so in later windows.
 */
void
wp_resolve_set_machines(WpResolved *resolved)
{
	guint32 loopback = WP_NO_NODE;
	WpNodes *nodes = wp_trace_nodes(resolved->trace);

	for (guint32 i = 0; i < resolved->spans->n; i++) {
		const WpSpan *span = &resolved->spans->spans[i];
		WpResolveAddress *address = wp_resolve_address(resolved, span->caller);
		if (span->kind != WP_KIND_CALL || !is_apart(resolved, span))
			continue;
		address->sends_apart = TRUE;
		address->calls_itself |=
			span->caller == span->callee &&
			wp_resolve_service(resolved, span->callee,
					   call_record(resolved, span)->dst.port) != WP_MAP_NONE;
	}
	for (guint32 i = 0; i < resolved->addresses->len; i++) {
		WpResolveAddress *address = wp_resolve_address(resolved, i);
		const guint8 *bytes = wp_nodes_address(nodes, i);
		address->machine = WP_NO_NODE;
		if (!bytes || !is_shared(resolved, i))
			continue;
		address->machine = i;
		if (!wp_resolve_is_loopback(bytes))
			continue;
		loopback = loopback == WP_NO_NODE ? i : loopback;
		address->machine = loopback;
	}
	for (guint32 i = 0; i < resolved->addresses->len; i++) {
		const guint8 *bytes = wp_nodes_address(nodes, i);
		if (loopback != WP_NO_NODE && bytes && wp_resolve_is_loopback(bytes))
			wp_resolve_address(resolved, i)->machine = loopback;
	}
}

/* What is to be found out of one machine. */
typedef struct {
	WpResolved *resolved;
	guint32 machine;
	GArray *services; /* guint32: index into ports; first those with most calls */
	WpMap *service_numbers;
	WpMap *kinds;
	WpMap *asked;    /* index into resolved's flows -> index into flows */
	GArray *flows;   /* WpOwnedFlow */
	GArray *numbers; /* guint32: index into resolved's flows, by flow */
	WpOwnedSpan *what;
} Question;

static int
compare_busy(gconstpointer a, gconstpointer b, gpointer data)
{
	const GArray *ports = ((const WpResolved *)data)->ports;
	guint32 x = *(const guint32 *)a, y = *(const guint32 *)b;
	guint64 n = g_array_index(ports, WpResolvePort, x).n_received;
	guint64 m = g_array_index(ports, WpResolvePort, y).n_received;

	if (n != m)
		return n > m ? -1 : 1;
	return (x > y) - (x < y);
}

static void
gather_services(Question *question)
{
	const WpResolved *resolved = question->resolved;

	for (guint32 i = 0; i < resolved->ports->len; i++) {
		const WpResolvePort *port = &g_array_index(resolved->ports, WpResolvePort, i);
		if (wp_resolve_address(resolved, port->node)->machine == question->machine &&
		    wp_resolve_service(resolved, port->node, port->port) != WP_MAP_NONE)
			g_array_append_val(question->services, i);
	}
	g_array_sort_with_data(question->services, compare_busy, question->resolved);
	if (question->services->len >= WP_OWNERSHIP_MAX_SERVICES)
		g_array_set_size(question->services, WP_OWNERSHIP_MAX_SERVICES - 1);
	for (guint i = 0; i < question->services->len; i++)
		wp_map_at(question->service_numbers, g_array_index(question->services, guint32, i),
			  i);
}

/* The service of this machine at a port of NODE, or WP_NO_SERVICE. */
static guint32
service_at(const Question *question, guint32 node, guint16 port)
{
	guint32 number = wp_resolve_service(question->resolved, node, port);

	if (number == WP_MAP_NONE ||
	    wp_resolve_address(question->resolved, node)->machine != question->machine)
		return WP_NO_SERVICE;
	return wp_map_find(question->service_numbers, number); /* WP_MAP_NONE is WP_NO_SERVICE */
}

/* Which services may own the flow of RECORD: all, or those that the file names. */
static guint64
may_own(const Question *question, const WpRecord *record, WpResolveFlow *flow)
{
	const WpResolved *resolved = question->resolved;
	guint n = question->services->len, n_ports = 0, n_found = 0;
	/* "Any" is the last; where services call each other they are not of one process. */
	guint64 found = 0, all = (G_GUINT64_CONSTANT(1) << n) - 1;
	guint64 any = wp_resolve_address(resolved, question->machine)->calls_itself
			      ? 0
			      : G_GUINT64_CONSTANT(1) << n;
	const guint16 *ports;

	if (!resolved->owners ||
	    !wp_owners_find(resolved->owners, &record->src, &record->dst, &ports, &n_ports))
		return all | any;
	for (guint s = 0; s < n; s++) {
		const WpResolvePort *port =
			&g_array_index(resolved->ports, WpResolvePort,
				       g_array_index(question->services, guint32, s));
		for (guint p = 0; p < n_ports; p++) {
			if (ports[p] != port->port)
				continue;
			found |= G_GUINT64_CONSTANT(1) << s;
			n_found++;
			flow->owner = port->node;
			flow->port = port->port;
		}
	}
	if (n_found == 0 && !wp_owners_has_listeners(resolved->owners))
		return all | any;
	flow->is_by_file = flow->is_known = n_found < 2;
	flow->certainty = 1;
	return found | any;
}

/* The flow that SPAN is of, asked about if its owner is not known. */
static guint32
add_flow(Question *question, const WpSpan *span)
{
	WpResolved *resolved = question->resolved;
	const WpRecord *record = call_record(resolved, span);
	guint64 kind = wp_map_key(span->callee, record->dst.port);
	guint32 number = wp_map_number(resolved->flow_numbers, flow_key(resolved, record));
	WpOwnedFlow owned = { .services = G_MAXUINT64, .owner = WP_NO_SERVICE };

	if (number == resolved->flows->len) {
		WpResolveFlow made = { .caller = span->caller, .owner = WP_NO_NODE };
		g_array_append_val(resolved->flows, made);
	}
	WpResolveFlow *flow = &g_array_index(resolved->flows, WpResolveFlow, number);
	guint32 asked = wp_map_find(question->asked, number);
	if (flow->is_known || asked != WP_MAP_NONE)
		return asked;
	owned.services = may_own(question, record, flow);
	if (flow->is_known)
		return WP_MAP_NONE;
	owned.kind = wp_map_number(question->kinds, kind);
	owned.calls = service_at(question, span->callee, record->dst.port);
	asked = wp_map_number(question->asked, number);
	g_array_append_val(question->flows, owned);
	g_array_append_val(question->numbers, number);
	return asked;
}

static void
gather_spans(Question *question)
{
	const WpResolved *resolved = question->resolved;

	for (guint32 i = 0; i < resolved->spans->n; i++) {
		const WpSpan *span = &resolved->spans->spans[i];
		const WpRecord *record = call_record(resolved, span);
		gboolean leaves =
			wp_resolve_address(resolved, span->caller)->machine == question->machine;
		question->what[i] = (WpOwnedSpan){ WP_NO_SERVICE, G_MAXUINT32 };
		if (span->kind == WP_KIND_CALL)
			question->what[i].service =
				service_at(question, span->callee, record->dst.port);
		if (leaves && is_apart(resolved, span))
			question->what[i].flow = add_flow(question, span);
	}
}

/* (transfer full) Requests by id, where spans have told of causes (capture/span-join.h); else NULL. */
static WpMap *
requests_by_id(const WpResolved *resolved)
{
	const WpSpan *spans = resolved->spans->spans;
	WpMap *by_id = NULL;
	guint32 n = resolved->spans->n;

	for (guint32 i = 0; i < n && !by_id; i++)
		by_id = spans[i].marks & WP_MARK_CAUSED ? wp_map_new() : NULL;
	for (guint32 i = 0; i < n && by_id; i++)
		wp_map_at(by_id, spans[i].id, i);
	return by_id;
}

/* Its calls have causes in PORT; where others have some in another service, both are of one process. */
static void
tell_owner(WpResolved *resolved, const WpSpan *span, const WpResolvePort *port)
{
	guint32 number = wp_map_number(resolved->flow_numbers,
				       flow_key(resolved, call_record(resolved, span)));

	if (number == resolved->flows->len) {
		WpResolveFlow made = { .caller = span->caller, .owner = WP_NO_NODE };
		g_array_append_val(resolved->flows, made);
	}
	WpResolveFlow *flow = &g_array_index(resolved->flows, WpResolveFlow, number);
	gboolean is_other =
		flow->is_told && (flow->owner != port->node || flow->port != port->port);
	flow->is_any = is_other; /* what was inferred before does not count */
	flow->is_told = TRUE;
	flow->owner = flow->is_any ? WP_NO_NODE : port->node;
	flow->port = port->port;
	flow->is_known = TRUE;
	flow->certainty = 1;
}

/* Whose flows are that spans tell of: whoever received the cause of a call made it. */
static void
take_told(Question *question, const WpMap *by_id)
{
	WpResolved *resolved = question->resolved;

	for (guint32 i = 0; i < resolved->spans->n; i++) {
		const WpSpan *span = &resolved->spans->spans[i];
		guint64 id;
		if (wp_resolve_address(resolved, span->caller)->machine != question->machine ||
		    !is_apart(resolved, span) ||
		    !wp_trace_cause(resolved->trace, call_record(resolved, span), &id))
			continue;
		guint32 cause = wp_map_find(by_id, id);
		if (cause == WP_MAP_NONE)
			continue;
		const WpSpan *by = &resolved->spans->spans[cause];
		guint32 service =
			service_at(question, by->callee, call_record(resolved, by)->dst.port);
		if (service == WP_NO_SERVICE)
			continue;
		tell_owner(resolved, span,
			   &g_array_index(resolved->ports, WpResolvePort,
					  g_array_index(question->services, guint32, service)));
	}
}

static void
take_answers(Question *question)
{
	WpResolved *resolved = question->resolved;
	guint n_any = 0, n_owned = 0;

	for (guint i = 0; i < question->flows->len; i++) {
		const WpOwnedFlow *owned = &g_array_index(question->flows, WpOwnedFlow, i);
		guint32 number = g_array_index(question->numbers, guint32, i);
		WpResolveFlow *flow = &g_array_index(resolved->flows, WpResolveFlow, number);
		flow->owner = WP_NO_NODE;
		n_owned += owned->owner != WP_NO_SERVICE;
		flow->is_any = owned->owner == question->services->len;
		n_any += flow->is_any;
		if (owned->owner < question->services->len) {
			guint32 service = g_array_index(question->services, guint32, owned->owner);
			const WpResolvePort *port =
				&g_array_index(resolved->ports, WpResolvePort, service);
			flow->owner = port->node;
			flow->port = port->port;
		}
		flow->certainty = owned->certainty;
		flow->is_known = flow->certainty >= SURE;
	}
	if (n_any > n_owned * MANY)
		wp_resolve_address(resolved, question->machine)->is_pooled = TRUE;
}

/* Calls of flows that are open, where they are worth that all services of the machine are looked at together. */
static gboolean
has_open(const Question *question)
{
	const WpResolved *resolved = question->resolved;
	double n = 0, n_open = 0;

	for (guint32 i = 0; i < resolved->spans->n; i++) {
		guint32 f = question->what[i].flow;
		if (wp_resolve_address(resolved, resolved->spans->spans[i].caller)->machine !=
		    question->machine)
			continue;
		n += 1;
		n_open += f < question->flows->len &&
			  g_array_index(question->flows, WpOwnedFlow, f).open != 0;
	}
	return n_open > n * OPEN;
}

/* FLOW may be that of SERVICES, numbered as in the question; those of one name are one node. */
static void
set_open(const Question *question, WpResolveFlow *flow, guint64 services)
{
	WpResolved *resolved = question->resolved;

	for (guint s = 0; s < question->services->len; s++) {
		const WpResolvePort *port =
			&g_array_index(resolved->ports, WpResolvePort,
				       g_array_index(question->services, guint32, s));
		guint32 node = wp_resolve_node_at(resolved, port->node, port->port);
		guint32 bit = *wp_map_at(resolved->service_bits, node, s);
		if (services >> s & 1)
			flow->open |= (guint64)1 << bit;
	}
	if (flow->open) {
		flow->owner = WP_NO_NODE;
		flow->is_known = FALSE;
	}
}

/* Leaves the owners of flows open that engines have to find. */
static void
leave_open(Question *question)
{
	WpResolved *resolved = question->resolved;
	WpResolveAddress *address = wp_resolve_address(resolved, question->machine);

	address->is_open =
		resolved->options.leaves_open && !address->is_pooled && has_open(question);
	for (guint i = 0; i < question->flows->len; i++) {
		guint32 number = g_array_index(question->numbers, guint32, i);
		WpResolveFlow *flow = &g_array_index(resolved->flows, WpResolveFlow, number);
		flow->open = 0;
		if (address->is_open)
			set_open(question, flow,
				 g_array_index(question->flows, WpOwnedFlow, i).open);
	}
}

static void
ask_machine(WpResolved *resolved, guint32 machine, const WpMap *by_id)
{
	Question question = { .resolved = resolved,
			      .machine = machine,
			      .services = g_array_new(FALSE, FALSE, sizeof(guint32)),
			      .service_numbers = wp_map_new(),
			      .kinds = wp_map_new(),
			      .asked = wp_map_new(),
			      .flows = g_array_new(FALSE, FALSE, sizeof(WpOwnedFlow)),
			      .numbers = g_array_new(FALSE, FALSE, sizeof(guint32)),
			      .what = g_new(WpOwnedSpan, (gsize)resolved->spans->n + 1) };

	gather_services(&question);
	if (by_id)
		take_told(&question, by_id);
	gather_spans(&question);
	const WpTrace *values = wp_resolved_is_black_box(resolved) ? NULL : resolved->trace;
	wp_ownership_find(resolved->spans, values, question.what,
			  (WpOwnedFlow *)question.flows->data, question.flows->len,
			  question.services->len + 1, wp_map_count(question.kinds));
	take_answers(&question);
	leave_open(&question);
	g_array_unref(question.services);
	g_array_unref(question.flows);
	g_array_unref(question.numbers);
	wp_map_free(question.service_numbers);
	wp_map_free(question.kinds);
	wp_map_free(question.asked);
	g_free(question.what);
}

void
wp_resolve_find_owners(WpResolved *resolved)
{
	WpMap *by_id = wp_resolved_is_black_box(resolved) ? NULL : requests_by_id(resolved);

	for (guint32 i = 0; i < resolved->addresses->len; i++)
		if (wp_resolve_address(resolved, i)->machine == i)
			ask_machine(resolved, i, by_id);
	wp_map_free(by_id);
}

/* Whose flows were found, machine by machine. */
void
wp_resolve_sum_owners(WpResolved *resolved)
{
	for (guint32 i = 0; i < resolved->addresses->len; i++) {
		if (wp_resolve_address(resolved, i)->machine != i)
			continue;
		WpShared shared = { .name = wp_resolved_node_name(
					    resolved, wp_resolved_node_of(resolved, i)) };
		for (guint f = 0; f < resolved->flows->len; f++) {
			const WpResolveFlow *flow =
				&g_array_index(resolved->flows, WpResolveFlow, f);
			if (wp_resolve_address(resolved, flow->caller)->machine != i)
				continue;
			shared.n_flows++;
			shared.n_by_file += flow->is_by_file;
			shared.n_clients += flow->owner == WP_NO_NODE && !flow->is_any;
			shared.n_any += flow->is_any;
			shared.n_unknown += !flow->is_by_file && flow->certainty < NOT_KNOWN;
			shared.certainty += flow->is_by_file ? 0 : flow->certainty;
		}
		shared.n_inferred = shared.n_flows - shared.n_by_file;
		if (shared.n_inferred)
			shared.certainty /= (double)shared.n_inferred;
		g_array_append_val(resolved->shared, shared);
	}
}

/* What links say of one flow and one that may own it. */
typedef struct {
	guint32 flow;   /* index into resolved's */
	guint32 parent; /* one of its calls into the owner, or WP_NO_SPAN: a client */
	double sum;     /* probabilities of links */
} Vote;

/* What they say of one flow. */
typedef struct {
	guint32 n; /* calls */
	double best;
} Count;

/* The flow of span NUMBER, if it is open; else WP_MAP_NONE. */
static guint32
open_flow(const WpResolved *resolved, guint32 number)
{
	const WpRecord *record = call_record(resolved, &resolved->spans->spans[number]);
	guint32 flow = wp_map_find(resolved->flow_numbers, flow_key(resolved, record));

	return flow != WP_MAP_NONE && g_array_index(resolved->flows, WpResolveFlow, flow).open
		       ? flow
		       : WP_MAP_NONE;
}

/* (transfer full) By flow and owner. COUNTS, by flow: how many voted. */
static GArray *
count_votes(const WpResolved *resolved, const WpLinks *links, Count *counts)
{
	const WpSpan *spans = resolved->spans->spans;
	GArray *votes = g_array_new(FALSE, FALSE, sizeof(Vote));
	g_autoptr(WpMap) numbers = wp_map_new();

	for (guint32 i = 0; i < links->n; i++) {
		guint32 flow = open_flow(resolved, i), parent = links->links[i].parent;
		if (flow == WP_MAP_NONE || (spans[i].marks & WP_MARK_SETUP))
			continue;
		guint32 owner = parent == WP_NO_SPAN ? WP_NO_NODE : spans[parent].callee;
		guint32 number = wp_map_number(numbers, wp_map_key(flow, owner));
		Vote fresh = { flow, parent, 0 };
		if (number == votes->len)
			g_array_append_val(votes, fresh);
		g_array_index(votes, Vote, number).sum += MAX(links->links[i].probability, 0);
		counts[flow].n++;
	}
	return votes;
}

/* Gives each open flow to the owner that most of its calls have. */
static void
give_open(WpResolved *resolved, const GArray *votes, Count *counts)
{
	for (guint i = 0; i < votes->len; i++) {
		const Vote *vote = &g_array_index(votes, Vote, i);
		Count *count = &counts[vote->flow];
		WpResolveFlow *flow = &g_array_index(resolved->flows, WpResolveFlow, vote->flow);
		if (vote->sum <= count->best)
			continue;
		count->best = vote->sum;
		flow->owner = WP_NO_NODE;
		if (vote->parent == WP_NO_SPAN)
			continue;
		const WpRecord *record =
			call_record(resolved, &resolved->spans->spans[vote->parent]);
		flow->owner = record->receiver;
		flow->port = record->dst.port;
	}
	for (guint f = 0; f < resolved->flows->len; f++)
		if (counts[f].n)
			g_array_index(resolved->flows, WpResolveFlow, f).certainty =
				(float)(counts[f].best / counts[f].n);
}

/* Each call that is open is made by what its parent called; without a parent, by what its flow is of. */
static void
set_open_callers(WpResolved *resolved, const WpLinks *links)
{
	WpSpan *spans = resolved->spans->spans;

	for (guint32 i = 0; i < links->n; i++) {
		guint32 number = open_flow(resolved, i), parent = links->links[i].parent;
		if (number == WP_MAP_NONE)
			continue;
		const WpResolveFlow *flow = &g_array_index(resolved->flows, WpResolveFlow, number);
		if (parent != WP_NO_SPAN)
			spans[i].caller = spans[parent].callee;
		else if (flow->owner != WP_NO_NODE)
			spans[i].caller = wp_resolve_node_at(resolved, flow->owner, flow->port);
	}
}

void
wp_resolved_take_owners(WpResolved *resolved, const WpLinks *links)
{
	if (!resolved->spans->owners)
		return;
	g_autofree Count *counts = g_new0(Count, resolved->flows->len + 1);
	g_autoptr(GArray) votes = count_votes(resolved, links, counts);
	give_open(resolved, votes, counts);
	set_open_callers(resolved, links);
	g_array_set_size(resolved->shared, 0);
	wp_resolve_sum_owners(resolved);
}
