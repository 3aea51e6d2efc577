/* Several services on one address: whose each flow is, by the owners file and by what encloses its calls. */
#include "infer/owners.h"

#include <math.h>
#include <string.h>

#include "infer/engine-nesting.h"
#include "infer/owner-kinds.h"
#include "infer/resolve.h"
#include "tests/support/suite.h"
#include "tests/support/tempfile.h"

#define N_REQUESTS 60
#define PERIOD     100000000 /* ns: a new request before the one before has ended */
#define MS         1000000

typedef struct {
	WpNodes *nodes;
	WpTrace *trace;
	guint64 n;
	guint32 value; /* that calls carry; 0: none */
} Maker;

static void
add_call(Maker *maker, const char *src, const char *dst, guint32 flow, gint64 from_ns, gint64 to_ns)
{
	WpRecord call = { .kind = WP_KIND_CALL, .id = ++maker->n, .flow = flow };
	WpRecordSink *sink = wp_trace_sink(maker->trace);

	ck_assert(wp_endpoint_parse(src, &call.src) && wp_endpoint_parse(dst, &call.dst));
	call.begin_ns = call.end_ns = from_ns;
	call.sender = wp_nodes_by_address(maker->nodes, call.src.address);
	call.receiver = wp_nodes_by_address(maker->nodes, call.dst.address);
	guint32 token = 2 * maker->value;
	call.n_tokens = maker->value != 0;
	ck_assert(wp_sink_record(sink, &call, &token, NULL));
	WpRecord back = call;
	back.n_tokens = 0;
	back.kind = WP_KIND_RETURN;
	back.begin_ns = back.end_ns = to_ns;
	back.sender = call.receiver;
	back.receiver = call.sender;
	back.src = call.dst;
	back.dst = call.src;
	ck_assert(wp_sink_record(sink, &back, NULL, NULL));
}

/*
 *   client 40000 > web 80    |------------------------------|     every 100 ms, for 70 to 150 ms
 *   41000 > app 8080           |---------------------------|
 *   42000 > db 5432              |--|   |--|
 *   43000 > app 8080      a client's own, now and then
 *   44001 ... > db 5432                        |-|                a connection a request
 */
static WpTrace *
make_trace(WpNodes *nodes)
{
	Maker maker = { nodes, wp_trace_new(nodes), 0, 0 };

	ck_assert(wp_sink_begin(wp_trace_sink(maker.trace), nodes, NULL));
	for (guint i = 0; i < N_REQUESTS; i++) {
		gint64 t = (gint64)i * PERIOD + i * 37 % 11 * MS, longer = (i * 29 % 80) * MS;
		g_autofree char *own = g_strdup_printf("127.0.0.1:%u", 44000 + i);
		add_call(&maker, "127.0.0.1:40000", "127.0.0.1:80", 1, t, t + 70 * MS + longer);
		gint64 app = t + (1 + i * 17 % 13) * MS;
		add_call(&maker, "127.0.0.1:41000", "127.0.0.1:8080", 2, app, t + 66 * MS + longer);
		add_call(&maker, "127.0.0.1:42000", "127.0.0.1:5432", 3, app + 3 * MS,
			 app + 7 * MS);
		add_call(&maker, "127.0.0.1:42000", "127.0.0.1:5432", 3, app + 9 * MS,
			 app + 15 * MS);
		add_call(&maker, own, "127.0.0.1:5432", 10 + i, app + 30 * MS, app + 45 * MS);
		if (i % 6 == 1)
			add_call(&maker, "127.0.0.1:43000", "127.0.0.1:8080", 4,
				 t + i * 53 % 97 * MS, t + (i * 53 % 97 + 110) * MS);
	}
	ck_assert(wp_sink_end(wp_trace_sink(maker.trace), NULL));
	return maker.trace;
}

static WpResolved *
resolve(const WpTrace *trace, const char *owners)
{
	WpResolveOptions options;
	g_autotemp *path = owners ? wp_temp_file_new("owners", owners, strlen(owners)) : NULL;

	wp_resolve_options_init(&options);
	options.owners_file = path;
	WpResolved *resolved = wp_resolve(trace, &options, NULL);
	ck_assert_ptr_nonnull(resolved);
	return resolved;
}

/* The share of the calls from ports FIRST to LAST whose caller is NAME. */
static double
share_of(const WpResolved *resolved, guint first, guint last, const char *name)
{
	const WpSpans *spans = wp_resolved_spans(resolved);
	const WpRecord *records = wp_trace_records(wp_resolved_trace(resolved));
	double n = 0, n_right = 0;

	for (guint32 i = 0; i < spans->n; i++) {
		guint port = records[spans->spans[i].call_record].src.port;
		if (port < first || port > last)
			continue;
		n++;
		n_right +=
			strcmp(wp_resolved_node_name(resolved, spans->spans[i].caller), name) == 0;
	}
	return n_right / n;
}

START_TEST(owners_are_inferred)
{
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	g_autoptr(WpTrace) trace = make_trace(nodes);
	g_autoptr(WpResolved) resolved = resolve(trace, NULL);

	ck_assert(share_of(resolved, 40000, 40000, "127.0.0.1") == 1);
	ck_assert(share_of(resolved, 43000, 43000, "127.0.0.1") == 1);
	ck_assert(share_of(resolved, 41000, 41000, "127.0.0.1:80") == 1);
	ck_assert(share_of(resolved, 42000, 42000, "127.0.0.1:8080") == 1);
	/* A flow with one call may be either's whose calls enclose it, but no client's. */
	ck_assert(share_of(resolved, 44000, 44000 + N_REQUESTS, "127.0.0.1") < 0.1);
	ck_assert_uint_eq(wp_resolved_n_shared(resolved), 1);
	const WpShared *shared = wp_resolved_shared(resolved, 0);
	ck_assert_str_eq(shared->name, "127.0.0.1");
	ck_assert_uint_eq(shared->n_flows, 4 + N_REQUESTS);
	ck_assert_uint_eq(shared->n_inferred, 4 + N_REQUESTS);
	ck_assert_uint_le(shared->n_clients, 2 + N_REQUESTS / 10);
	ck_assert(shared->certainty > 0.9 && shared->certainty <= 1);
}
END_TEST

#define N_ALIKE 400

/*
 * Three services that do the same, with a connection for each call, at load: who made it is told by delays
 * alone, of some ten calls that enclose each. At most of them one can only guess, and how often a guess is right is said.
 *
 *   client > web 81, 82, 83   |----------------|    every 12 ms at each, for 90 to 160 ms
 *   > db 5432                       |--|            after 30 to 60 ms
 */
START_TEST(certainty_is_honest)
{
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	Maker maker = { nodes, wp_trace_new(nodes), 0, 0 };
	g_autoptr(WpTrace) trace = maker.trace;
	guint32 state = 7;

	ck_assert(wp_sink_begin(wp_trace_sink(trace), nodes, NULL));
	for (guint i = 0; i < N_ALIKE; i++)
		for (guint web = 0; web < 3; web++) {
			g_autofree char *client =
				g_strdup_printf("127.0.0.1:%u", 20000 + 3 * i + web);
			g_autofree char *server = g_strdup_printf("127.0.0.1:%u", 81 + web);
			g_autofree char *own =
				g_strdup_printf("127.0.0.1:%u", 30000 + N_ALIKE * web + i);
			guint draws[3];
			for (guint k = 0; k < 3; k++)
				draws[k] = (state = state * 1664525 + 1013904223) >> 8;
			gint64 t = (gint64)i * 12 * MS + draws[0] % (12 * MS);
			gint64 db = t + 30 * MS + draws[1] % (30 * MS);
			add_call(&maker, client, server, 1 + 6 * i + web, t,
				 t + 90 * MS + draws[2] % (70 * MS));
			add_call(&maker, own, "127.0.0.1:5432", 4 + 6 * i + web, db, db + 5 * MS);
		}
	ck_assert(wp_sink_end(wp_trace_sink(trace), NULL));
	g_autoptr(WpResolved) resolved = resolve(trace, NULL);
	double right = 0;
	for (guint web = 0; web < 3; web++) {
		g_autofree char *name = g_strdup_printf("127.0.0.1:%u", 81 + web);
		guint first = 30000 + N_ALIKE * web;
		right += share_of(resolved, first, first + N_ALIKE - 1, name) / 3;
	}
	const WpSpans *spans = wp_resolved_spans(resolved);
	const WpRecord *records = wp_trace_records(trace);
	double sure = 0;
	for (guint32 i = 0; i < spans->n; i++)
		if (records[spans->spans[i].call_record].src.port >= 30000)
			sure += (1 - (double)spans->spans[i].owner_doubt) / (3 * N_ALIKE);
	ck_assert_msg(right > 0.3 && right < 0.9, "%g of the owners are right", right);
	ck_assert_msg(fabs(sure - right) < 0.15, "%g are said to be right, %g are", sure, right);
	ck_assert_uint_gt(wp_resolved_shared(resolved, 0)->n_unknown, N_ALIKE / 2);
}
END_TEST

/* A number from 0 to below TOP, of a row of its own. */
static gint64
draw(guint32 *state, gint64 top)
{
	*state = *state * 1664525 + 1013904223;
	return (gint64)(*state >> 8) % top;
}

/* Whose the flows from port 42000 on are, where services enclose each other's calls; times in us. */
START_TEST(nested_services)
{
	static const struct {
		const char *why;
		gint64 period; /* of requests; they take 60 to 140 ms */
		gint64 inner,
			to; /* of the service that web calls, from its own begin; to < 0: from its end */
		gint64 after, spread; /* of the flow's call, from the inner one's begin */
		gint64 late,
			one_in; /* ... from its end instead, in one of so many requests; 0 = none */
		gint64 takes, at_most; /* the flow's call */
		const char *owner;
		guint n_flows;       /* their requests by turns */
		gboolean has_values; /* each request's own, passed on */
	} rows[] = {
		{ "the inner one's, and a third goes on after its reply", 150000, 10000, 30000,
		  5000, 9000, 500, 3, 2000, 3000, "127.0.0.1:8080", 1, FALSE },
		{ "web's, beside its call, and half of them longer", 150000, 10000, 30000, 200, 300,
		  0, 0, 10000, 40000, "127.0.0.1:80", 1, FALSE },
		{ "web's, one after the other", 150000, 10000, 30000, 20300, 700, 0, 0, 2000, 3000,
		  "127.0.0.1:80", 1, FALSE },
		{ "behind a proxy, many at once", 12000, 300, -300, 1000, 6000, 0, 0, 2000, 6000,
		  "127.0.0.1:8080", 1, FALSE },
		{ "behind a proxy, far too many at once, but values are passed on", 2000, 300, -300,
		  1000, 40000, 0, 0, 2000, 16000, "127.0.0.1:8080", 4, TRUE },
		{ "behind a proxy, a connection a call", 12000, 300, -300, 1000, 6000, 0, 0, 2000,
		  6000, "127.0.0.1:8080", 5 * N_REQUESTS, FALSE },
		{ "web's, one after the other, a connection a call", 150000, 10000, 30000, 20300,
		  700, 0, 0, 2000, 3000, "127.0.0.1:80", 5 * N_REQUESTS, FALSE },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpNodes) nodes = wp_nodes_new();
		Maker maker = { nodes, wp_trace_new(nodes), 0, 0 };
		g_autoptr(WpTrace) trace = maker.trace;
		guint32 state = 11;
		ck_assert(wp_sink_begin(wp_trace_sink(trace), nodes, NULL));
		for (gint64 k = 0; k < 5 * N_REQUESTS; k++) {
			g_autofree char *client = g_strdup_printf("127.0.0.1:%d", 20000 + (int)k);
			g_autofree char *proxy =
				g_strdup_printf("127.0.0.1:%d", 30000 + (int)k % 20);
			guint number = (guint)k % rows[i].n_flows;
			g_autofree char *own_flow = g_strdup_printf("127.0.0.1:%u", 42000 + number);
			gint64 t = k * rows[i].period + draw(&state, 5000);
			gint64 end = t + 60000 + draw(&state, 80000);
			gint64 inner = t + rows[i].inner + draw(&state, 200);
			gint64 inner_end = rows[i].to < 0 ? end + rows[i].to - draw(&state, 200)
							  : t + rows[i].to;
			gint64 own = inner + rows[i].after + draw(&state, rows[i].spread);
			if (rows[i].one_in && k % rows[i].one_in == 0)
				own = inner_end + rows[i].late + draw(&state, 300);
			gint64 own_end = own + rows[i].takes + draw(&state, rows[i].at_most);
			maker.value = rows[i].has_values ? 1 + (guint32)k : 0;
			add_call(&maker, client, "127.0.0.1:80", 100 + (guint32)k, t * 1000,
				 end * 1000);
			add_call(&maker, proxy, "127.0.0.1:8080", 1 + (guint32)k % 20, inner * 1000,
				 inner_end * 1000);
			add_call(&maker, own_flow, "127.0.0.1:5432", 1000 + number, own * 1000,
				 own_end * 1000);
		}
		ck_assert(wp_sink_end(wp_trace_sink(trace), NULL));
		g_autoptr(WpResolved) resolved = resolve(trace, NULL);
		ck_assert_msg(share_of(resolved, 30000, 30019, "127.0.0.1:80") == 1,
			      "%s: web's calls", rows[i].why);
		ck_assert_msg(share_of(resolved, 42000, 42999, rows[i].owner) > 0.99, "%s",
			      rows[i].why);
	}
}
END_TEST

/*
 * Two services asked at the same time, by one of three that take turns, each with a connection for each call, all of
 * which ask a third: calls of siblings lie in each other as if the one had asked for the other. Only in what is a whole
 * request is it seen who called whom.
 *
 *   client > web 81, 82, 83   |---------------------------------|
 *   > left 8081                   |-----------|
 *   > right 8082                  |--------|                           the longer of the two by turns
 *   > db 5432                        |-|  |-|         one by each of them, late
 */
START_TEST(siblings_by_engine)
{
	enum {
		N = 400
	};
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	Maker maker = { nodes, wp_trace_new(nodes), 0, 0 };
	g_autoptr(WpTrace) trace = maker.trace;
	WpResolveOptions options;
	guint32 state = 5;

	ck_assert(wp_sink_begin(wp_trace_sink(trace), nodes, NULL));
	for (gint64 i = 0; i < N; i++) {
		gint64 t = i * 25000 + draw(&state, 20000), asked = t + 3000 + draw(&state, 1000);
		gint64 last = asked;
		for (guint side = 0; side < 2; side++) {
			g_autofree char *own =
				g_strdup_printf("127.0.0.1:%u", 40000 + 2 * (guint)i + side);
			g_autofree char *below =
				g_strdup_printf("127.0.0.1:%u", 50000 + 2 * (guint)i + side);
			gint64 begin = asked + side * (50 + draw(&state, 300));
			gint64 end = begin + 6000 + draw(&state, 9000),
			       query = end - 2500 - draw(&state, 500);
			add_call(&maker, own, side ? "127.0.0.1:8082" : "127.0.0.1:8081",
				 10000 + 2 * (guint32)i + side, begin * 1000, end * 1000);
			add_call(&maker, below, "127.0.0.1:5432", 20000 + 2 * (guint32)i + side,
				 query * 1000, (query + 1000 + draw(&state, 500)) * 1000);
			last = MAX(last, end);
		}
		g_autofree char *client = g_strdup_printf("127.0.0.1:%u", 20000 + (guint)i);
		g_autofree char *web = g_strdup_printf("127.0.0.1:%u", 81 + (guint)i % 3);
		add_call(&maker, client, web, 1 + (guint32)i, t * 1000,
			 (last + 2000 + draw(&state, 500)) * 1000);
	}
	ck_assert(wp_sink_end(wp_trace_sink(trace), NULL));
	wp_resolve_options_init(&options);
	options.leaves_open = TRUE;
	g_autoptr(WpResolved) resolved = wp_resolve(trace, &options, NULL);
	g_autoptr(WpLinks) links = wp_engine_infer(&wp_engine_nesting, resolved, NULL, NULL, NULL);
	ck_assert_ptr_nonnull(links);
	const WpSpans *spans = wp_resolved_spans(resolved);
	const WpRecord *records = wp_trace_records(trace);
	guint n_right = 0;
	for (guint32 i = 0; i < spans->n; i++) {
		guint port = records[spans->spans[i].call_record].src.port;
		if (port < 40000)
			continue;
		g_autofree char *owner = g_strdup_printf(
			"127.0.0.1:%u",
			port >= 50000 ? 8081 + port % 2 : 81 + (port - 40000) / 2 % 3);
		n_right += g_strcmp0(wp_resolved_node_name(resolved, spans->spans[i].caller),
				     owner) == 0;
	}
	const WpShared *shared = wp_resolved_shared(resolved, 0);
	double right = n_right / (4.0 * N);
	ck_assert_msg(right > 0.85, "%g of the owners are right", right);
	ck_assert_msg(fabs(shared->certainty * shared->n_flows / (5.0 * N) - (right * 4 + 1) / 5) <
			      0.1,
		      "%g are said to be right, %g are", shared->certainty, right);
}
END_TEST

/* Flows to port kinds 0 and 1, so many of an operation (0: of several, or long); which become a kind of their own. */
START_TEST(operations_are_kinds)
{
	enum {
		ENOUGH = WP_OWNER_KINDS_FEWEST,
		MOST = 4
	};
	static const struct {
		guint32 port, operation, n, kind;
	} rows[] = {
		{ 0, 7, ENOUGH, 2 },      { 0, 0, ENOUGH, 0 },
		{ 0, 8, ENOUGH - 1, 0 },  /* too few */
		{ 1, 7, ENOUGH, 3 },      /* another port's is another */
		{ 1, 9, 10 * ENOUGH, 1 }, /* no room for one more */
	};
	WpOwnedFlow flows[16 * ENOUGH] = { 0 };
	guint32 operations[G_N_ELEMENTS(flows)], ports[MOST], n = 0;

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
		for (guint32 k = 0; k < rows[i].n; k++, n++) {
			flows[n].kind = rows[i].port;
			operations[n] = rows[i].operation;
		}
	ck_assert_uint_eq(wp_owner_kinds_split(flows, operations, n, 2, MOST, ports), MOST);
	n = 0;
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
		for (guint32 k = 0; k < rows[i].n; k++, n++)
			ck_assert_msg(flows[n].kind == rows[i].kind, "row %zu: kind %u", i,
				      flows[n].kind);
	for (guint32 kind = 0; kind < MOST; kind++)
		ck_assert_uint_eq(ports[kind], kind % 2);
}
END_TEST

/* Of two owners: of 3 and 1 flows to port 0, of which kind 2 was split off, the first has 3. */
START_TEST(ports_are_shared)
{
	static const guint32 ports[] = { 0, 1, 0 };
	static const double flows[] = { 1, 0, 3 }, owned[] = { 1, 0, 0, 0, 2, 1 };
	static const double expected[] = { 0.75, 0.25, 0, 0, 0.75, 0.25 };
	double shares[G_N_ELEMENTS(expected)];

	wp_owner_kinds_share(ports, G_N_ELEMENTS(ports), 2, flows, owned, shares);
	for (gsize i = 0; i < G_N_ELEMENTS(expected); i++)
		ck_assert_msg(shares[i] == expected[i], "%zu: %g", i, shares[i]);
}
END_TEST

/* Services are hosts of their own: what one calls is no child of a call into another. */
START_TEST(services_are_hosts)
{
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	g_autoptr(WpTrace) trace = make_trace(nodes);
	g_autoptr(WpResolved) resolved = resolve(trace, NULL);
	const WpSpans *spans = wp_resolved_spans(resolved);
	const WpSpan *web = &spans->spans[0], *app = &spans->spans[1], *db = &spans->spans[2];

	ck_assert_uint_eq(web->callee_host, app->caller_host);
	ck_assert_uint_eq(app->callee_host, db->caller_host);
	ck_assert_uint_ne(web->callee_host, app->callee_host);
	ck_assert_uint_ne(web->caller_host, web->callee_host);
	ck_assert_uint_ne(web->caller_host, db->callee_host);
}
END_TEST

/* The file is believed, also against the times; a process without a service is a client if listeners are listed. */
START_TEST(owners_by_file)
{
	static const char listed[] =
		"State  Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n"
		"LISTEN 0 511 0.0.0.0:80 0.0.0.0:* "
		"users:((\"web\",pid=7,fd=5),(\"web\",pid=8,fd=5))\n"
		"LISTEN 0 511 *:8080 *:* users:((\"app\",pid=9,fd=5))\n"
		"ESTAB 0 0 127.0.0.1:42000 127.0.0.1:5432 users:((\"web\",pid=8,fd=9))\r\n"
		"ESTAB 0 0 [::ffff:127.0.0.1]:41000 127.0.0.1%lo:8080 "
		"users:((\"cron\",pid=5,fd=9))\n";
	static const char established[] =
		"tcp 0 0 127.0.0.1:42000 127.0.0.1:5432 ESTABLISHED 8/web\n"
		"tcp 0 0 127.0.0.1:80 127.0.0.1:40000 ESTABLISHED 8/web\n"
		"tcp 0 0 127.0.0.1:41000 127.0.0.1:8080 ESTABLISHED 5/cron\n";
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	g_autoptr(WpTrace) trace = make_trace(nodes);
	g_autoptr(WpResolved) by_all = resolve(trace, listed);
	g_autoptr(WpResolved) by_some = resolve(trace, established);

	ck_assert(share_of(by_all, 42000, 42000, "127.0.0.1:80") == 1);
	ck_assert(share_of(by_all, 41000, 41000, "127.0.0.1") == 1);
	ck_assert_uint_eq(wp_resolved_shared(by_all, 0)->n_by_file, 2);
	ck_assert(share_of(by_some, 42000, 42000, "127.0.0.1:80") == 1);
	ck_assert(share_of(by_some, 41000, 41000, "127.0.0.1:80") == 1); /* inferred */
	ck_assert_uint_eq(wp_resolved_shared(by_some, 0)->n_by_file, 1);
}
END_TEST

START_TEST(bad_files)
{
	static const char *const texts[] = { "",
					     "\n",
					     "hello world\n",
					     "10.0.0.1:1 10.0.0.2:2\n",
					     "10.0.0.1:1 10.0.0.2:2 users:((\"x\",pid=,fd=1))\n",
					     "10.0.0.1:99999 10.0.0.2:2 1/x\n",
					     "a:1 b:2 1/x\n" };
	for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_autoptr(GError) error = NULL;
		ck_assert_msg(!wp_owners_parse(texts[i], "owners", &error), "row %zu", i);
		ck_assert(strstr(error->message, "owners") != NULL);
	}
}
END_TEST

WP_SUITE("owners", owners_are_inferred, certainty_is_honest, nested_services, siblings_by_engine,
	 operations_are_kinds, ports_are_shared, services_are_hosts, owners_by_file, bad_files)
