/* Resolve: who is a node, what it is called, and to which nodes calls belong. */
#include "infer/resolve.h"

#include <string.h>

#include "tests/support/suite.h"
#include "tests/support/tempfile.h"
#include "tests/support/tree.h"

/* Resolves TRACE with a names file that holds NAMES, where there are any. */
static WpResolved *
resolve(const WpTrace *trace, const char *names, gboolean keep_clients)
{
	WpResolveOptions given;
	g_autotemp *path = names ? wp_temp_file_new("names", names, strlen(names)) : NULL;

	wp_resolve_options_init(&given);
	given.names_file = path;
	given.keep_clients = keep_clients;
	WpResolved *resolved = wp_resolve(trace, &given, NULL);
	ck_assert_ptr_nonnull(resolved);
	return resolved;
}

/* The calls of RESOLVED, as "web>db"; then "shared:" and the names of what is shared. */
static char *
calls_text(const WpResolved *resolved)
{
	const WpSpans *spans = wp_resolved_spans(resolved);
	GString *text = g_string_new(NULL);

	for (guint32 i = 0; i < spans->n; i++)
		g_string_append_printf(text, "%s%s>%s", i ? " " : "",
				       wp_resolved_node_name(resolved, spans->spans[i].caller),
				       wp_resolved_node_name(resolved, spans->spans[i].callee));
	for (gsize i = 0; i < wp_resolved_n_shared(resolved); i++)
		g_string_append_printf(text, " shared:%s", wp_resolved_shared(resolved, i)->name);
	return g_string_free(text, FALSE);
}

typedef struct {
	const char *why;
	const char *tree;
	const char *names; /* file, or NULL */
	const char *calls;
} Row;

static void
check_rows(const Row *rows, gsize n)
{
	for (gsize i = 0; i < n; i++) {
		g_autoptr(WpTrace) trace = wp_tree_trace(rows[i].tree);
		g_autoptr(WpResolved) resolved = resolve(trace, rows[i].names, FALSE);
		g_autofree char *calls = calls_text(resolved);
		ck_assert_msg(g_str_equal(calls, rows[i].calls), "%s: %s, not %s", rows[i].why,
			      calls, rows[i].calls);
	}
}

START_TEST(names)
{
	static const Row rows[] = {
		{ "names of a trace stay", "client>web[0-9](db[1-2])", NULL, "client>web web>db" },
		{ "addresses are names", "10.0.0.9>10.0.0.1:80[0-9](10.0.0.2:53[1-2])", NULL,
		  "10.0.0.9>10.0.0.1 10.0.0.1>10.0.0.2" },
		{ "the file's names", "10.0.0.9>10.0.0.1:80[0-9](10.0.0.2:53[1-2])",
		  "10.0.0.1 web\n10.0.0.2 dns\n", "10.0.0.9>web web>dns" },
		{ "replicas are one node",
		  "10.0.0.9>10.0.1.1:80[0-9](10.0.0.2:53[1-2]) 10.0.0.9>10.0.1.2:80[3-4]",
		  "10.0.1.0/24 web", "10.0.0.9>web web>10.0.0.2 10.0.0.9>web" },
	};
	check_rows(rows, G_N_ELEMENTS(rows));
}
END_TEST

START_TEST(ports)
{
	static const Row rows[] = {
		{ "one port: the address", "10.0.0.9>10.0.0.1:80[0-9] 10.0.0.8>10.0.0.1:80[10-19]",
		  NULL, "10.0.0.9>10.0.0.1 10.0.0.8>10.0.0.1" },
		{ "two ports: two nodes", "10.0.0.9>10.0.0.1:80[0-9] 10.0.0.9>10.0.0.1:5432[10-19]",
		  NULL, "10.0.0.9>10.0.0.1:80 10.0.0.9>10.0.0.1:5432" },
		{ "what encloses a call sent it",
		  "10.0.0.9>10.0.0.1:80[0-9](10.0.0.2:53[1-2]) 10.0.0.9>10.0.0.1:5432[10-19]", NULL,
		  "10.0.0.9>10.0.0.1:80 10.0.0.1:80>10.0.0.2 10.0.0.9>10.0.0.1:5432 "
		  "shared:10.0.0.1" },
		{ "all on one machine", "127.0.0.1>127.0.0.1:80[0-9](127.0.0.1:5432[1-2])", NULL,
		  "127.0.0.1>127.0.0.1:80 127.0.0.1:80>127.0.0.1:5432 shared:127.0.0.1" },
		{ "a stream or a push to a port makes no service",
		  "10.0.0.9>10.0.0.1:80[0-9] 10.0.0.1:80>10.0.0.9:50000[10] "
		  "10.0.0.9>10.0.0.1:50001[11]",
		  NULL, "10.0.0.9>10.0.0.1 10.0.0.1>10.0.0.9 10.0.0.9>10.0.0.1" },
		{ "nor does set-up", "10.0.0.9>10.0.0.1:80[0-9] 10.0.0.8>10.0.0.1:3306[1-2]^", NULL,
		  "10.0.0.9>10.0.0.1" },
		{ "the file splits",
		  "10.0.0.9>10.0.0.1:80[0-9] 10.0.0.9>10.0.0.1:5432[10-19](10.0.0.2:1[11-12])",
		  "10.0.0.1:80 web\n10.0.0.1:5432 db\n10.0.0.1 box",
		  "10.0.0.9>web 10.0.0.9>db db>10.0.0.2 shared:box" },
		{ "the file joins",
		  "10.0.0.9>10.0.0.1:80[0-9] 10.0.0.9>10.0.0.1:443[10-19](10.0.0.2:1[11-12])",
		  "10.0.0.1:80 web\n10.0.0.1:443 web\n", "10.0.0.9>web 10.0.0.9>web web>10.0.0.2" },
		{ "a name for one of two ports",
		  "10.0.0.9>10.0.0.1:80[0-9] 10.0.0.9>10.0.0.1:5432[10-19]", "10.0.0.1:80 web",
		  "10.0.0.9>web 10.0.0.9>10.0.0.1:5432" },
		{ "replicas split alike",
		  "10.0.0.9>10.0.1.1:80[0-9] 10.0.0.9>10.0.1.2:80[10-19] "
		  "10.0.0.9>10.0.1.2:81[20-29]",
		  "10.0.1.0/24 web", "10.0.0.9>web:80 10.0.0.9>web:80 10.0.0.9>web:81" },
	};
	check_rows(rows, G_N_ELEMENTS(rows));
}
END_TEST

/* Records by hand: calls from a port that is called as well. */
static WpTrace *
both_ways(guint n_there, guint n_back, gboolean second_peer)
{
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	WpTrace *trace = wp_trace_new(nodes);
	WpRecordSink *sink = wp_trace_sink(trace);
	WpEndpoint client, server, other, peer;

	ck_assert(wp_endpoint_parse("10.0.0.9:50000", &client));
	ck_assert(wp_endpoint_parse("10.0.0.1:80", &server));
	ck_assert(wp_endpoint_parse("10.0.0.9:22", &other));
	ck_assert(wp_endpoint_parse("10.0.0.5:1234", &peer));
	ck_assert(wp_sink_begin(sink, nodes, NULL));
	for (guint i = 0; i < n_there + n_back + 1 + second_peer; i++) {
		WpRecord call = { .kind = WP_KIND_CALL, .id = i, .begin_ns = i, .end_ns = i };
		call.src = i < n_there ? client : i < n_there + n_back ? server : peer;
		call.dst = i < n_there ? server : i < n_there + n_back ? client : other;
		if (i == n_there + n_back + 1)
			call.dst = client;
		call.sender = wp_nodes_by_address(nodes, call.src.address);
		call.receiver = wp_nodes_by_address(nodes, call.dst.address);
		ck_assert(wp_sink_record(sink, &call, NULL, NULL));
	}
	ck_assert(wp_sink_end(sink, NULL));
	return trace;
}

/* A client that is called back over its own connection has no service at that port. */
START_TEST(calls_both_ways)
{
	static const struct {
		guint n_there, n_back;
		gboolean second_peer;
		const char *first; /* callee of the first call back */
	} rows[] = {
		{ 3, 1, FALSE, "10.0.0.9" },
		{ 1, 1, FALSE, "10.0.0.9" },
		{ 1, 3, FALSE, "10.0.0.9:50000" },
		{ 3, 1, TRUE, "10.0.0.9:50000" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpTrace) trace =
			both_ways(rows[i].n_there, rows[i].n_back, rows[i].second_peer);
		g_autoptr(WpResolved) resolved = resolve(trace, NULL, FALSE);
		const WpSpan *span = &wp_resolved_spans(resolved)->spans[rows[i].n_there];
		ck_assert_str_eq(wp_resolved_node_name(resolved, span->callee), rows[i].first);
	}
}
END_TEST

/* A client has a port for one connection: what is called over one and calls over another is a service. */
START_TEST(calls_on)
{
	static const char *const ends[][2] = {
		{ "127.0.0.1:52000", "127.0.0.1:1883" }, /* published at a broker, ... */
		{ "127.0.0.1:1883", "127.0.0.1:40000" }, /* which passes it on and is answered */
	};
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	g_autoptr(WpTrace) trace = wp_trace_new(nodes);
	WpRecordSink *sink = wp_trace_sink(trace);

	ck_assert(wp_sink_begin(sink, nodes, NULL));
	for (guint i = 0; i < G_N_ELEMENTS(ends); i++) {
		WpRecord call = { .kind = WP_KIND_CALL, .id = i, .begin_ns = i, .end_ns = i };
		ck_assert(wp_endpoint_parse(ends[i][0], &call.src));
		ck_assert(wp_endpoint_parse(ends[i][1], &call.dst));
		call.sender = wp_nodes_by_address(nodes, call.src.address);
		call.receiver = wp_nodes_by_address(nodes, call.dst.address);
		ck_assert(wp_sink_record(sink, &call, NULL, NULL));
	}
	ck_assert(wp_sink_end(sink, NULL));
	g_autoptr(WpResolved) resolved = resolve(trace, NULL, FALSE);
	g_autofree char *calls = calls_text(resolved);
	ck_assert_str_eq(calls, "127.0.0.1>127.0.0.1:1883 127.0.0.1:1883>127.0.0.1:40000 "
				"shared:127.0.0.1");
}
END_TEST

/* N ports, each called by one peer, besides one that two call. */
START_TEST(random_ports_fold)
{
	for (guint n = WP_RESOLVE_MAX_PORTS; n <= WP_RESOLVE_MAX_PORTS + 1; n++) {
		g_autoptr(GString) text = g_string_new("10.0.0.9>10.0.0.1:80[0-1] "
						       "10.0.0.8>10.0.0.1:80[1-2] ");
		for (guint i = 0; i < n; i++)
			g_string_append_printf(text, "10.0.0.9>10.0.0.1:%u[%u-%u] ", 50000 + i,
					       10 + i, 11 + i);
		g_autoptr(WpTrace) trace = wp_tree_trace(text->str);
		g_autoptr(WpResolved) resolved = resolve(trace, NULL, FALSE);
		const WpSpan *spans = wp_resolved_spans(resolved)->spans;
		ck_assert_str_eq(wp_resolved_node_name(resolved, spans[0].callee), "10.0.0.1:80");
		ck_assert_str_eq(wp_resolved_node_name(resolved, spans[2].callee),
				 n > WP_RESOLVE_MAX_PORTS ? "10.0.0.1:*" : "10.0.0.1:50000");
	}
}
END_TEST

START_TEST(clients_fold)
{
	static const struct {
		guint n;
		gboolean keep;
		const char *names;
		const char *first, *last;
	} rows[] = {
		{ WP_RESOLVE_MAX_CLIENTS, FALSE, NULL, "10.0.9.0", NULL },
		{ WP_RESOLVE_MAX_CLIENTS + 1, FALSE, NULL, "client", "client" },
		{ WP_RESOLVE_MAX_CLIENTS + 1, TRUE, NULL, "10.0.9.0", NULL },
		{ WP_RESOLVE_MAX_CLIENTS + 2, FALSE, "10.0.9.0 probe", "probe", "client" },
		{ WP_RESOLVE_MAX_CLIENTS + 2, FALSE, "10.0.9.0 client", "client",
		  "client@10.0.9.1" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GString) text = g_string_new(NULL);
		for (guint k = 0; k < rows[i].n; k++)
			g_string_append_printf(text, "10.0.9.%u>10.0.0.1:80[%u-%u] ", k, k, k + 1);
		g_autoptr(WpTrace) trace = wp_tree_trace(text->str);
		g_autoptr(WpResolved) resolved = resolve(trace, rows[i].names, rows[i].keep);
		const WpSpans *spans = wp_resolved_spans(resolved);
		ck_assert_str_eq(wp_resolved_node_name(resolved, spans->spans[0].caller),
				 rows[i].first);
		if (rows[i].last)
			ck_assert_str_eq(
				wp_resolved_node_name(resolved, spans->spans[spans->n - 1].caller),
				rows[i].last);
		ck_assert_uint_ne(spans->spans[0].caller_host, spans->spans[1].caller_host);
	}
}
END_TEST

/* So do the clients that capture did not tell apart; a name of a foreign trace stays. */
START_TEST(other_clients_fold)
{
	static const char *const rows[][2] = { { WP_NODES_OTHER_CALLERS, "client" },
					       { "batch", "batch" } };
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpNodes) nodes = wp_nodes_new();
		g_autoptr(WpTrace) trace = wp_trace_new(nodes);
		WpRecordSink *sink = wp_trace_sink(trace);
		ck_assert(wp_sink_begin(sink, nodes, NULL));
		for (guint k = 0; k <= WP_RESOLVE_MAX_CLIENTS + 1; k++) {
			g_autofree char *address = g_strdup_printf("10.0.9.%u", k);
			gboolean is_last = k == WP_RESOLVE_MAX_CLIENTS + 1;
			WpRecord call = { .begin_ns = k, .end_ns = k, .id = k };
			call.sender = wp_nodes_by_key(nodes, is_last ? rows[i][0] : address);
			call.receiver = wp_nodes_by_key(nodes, "10.0.0.1");
			ck_assert(wp_sink_record(sink, &call, NULL, NULL));
		}
		ck_assert(wp_sink_end(sink, NULL));
		g_autoptr(WpResolved) resolved = resolve(trace, NULL, FALSE);
		const WpSpans *spans = wp_resolved_spans(resolved);
		ck_assert_str_eq(wp_resolved_node_name(resolved, spans->spans[spans->n - 1].caller),
				 rows[i][1]);
	}
}
END_TEST

/* Hints by address, source and name; then what the nodes of the two calls are called. */
START_TEST(hints)
{
	static const struct {
		struct {
			const char *address;
			WpNameSource source;
			const char *name;
		} hints[5];
		const char *calls;
	} rows[] = {
		{ { { "10.0.0.1", WP_NAME_HTTP_HOST, "Shop.Example:8080" },
		    { "10.0.0.2", WP_NAME_DNS, "db.lan." } },
		  "10.0.0.9>shop.example shop.example>db.lan" },
		{ { { "10.0.0.1", WP_NAME_HTTP_HOST, "front" },
		    { "10.0.0.1", WP_NAME_DNS, "web" },
		    { "10.0.0.1", WP_NAME_TLS_SNI, "tls" } },
		  "10.0.0.9>web web>10.0.0.2" },
		{ { { "10.0.0.1", WP_NAME_DNS, "app" }, { "10.0.0.2", WP_NAME_DNS, "app" } },
		  "10.0.0.9>app app>app@10.0.0.2" },
		/* a proxy that passes the Host of its client on */
		{ { { "10.0.0.1", WP_NAME_HTTP_HOST, "shop.example" },
		    { "10.0.0.2", WP_NAME_HTTP_HOST, "shop.example:80" } },
		  "10.0.0.9>shop.example shop.example>10.0.0.2" },
		/* random labels: what they share; a few names: one of them */
		{ { { "10.0.0.1", WP_NAME_DNS, "1f3a.db.lan" },
		    { "10.0.0.1", WP_NAME_DNS, "9c07.db.lan" },
		    { "10.0.0.1", WP_NAME_DNS, "77aa.db.lan" },
		    { "10.0.0.1", WP_NAME_DNS, "0db.lan" },
		    { "10.0.0.1", WP_NAME_DNS, "c4f1.db.lan" } },
		  "10.0.0.9>0db.lan 0db.lan>10.0.0.2" },
		{ { { "10.0.0.1", WP_NAME_DNS, "1f3a.db.lan" },
		    { "10.0.0.1", WP_NAME_DNS, "9c07.db.lan" },
		    { "10.0.0.1", WP_NAME_DNS, "77aa.db.lan" },
		    { "10.0.0.1", WP_NAME_DNS, "c4f1.db.lan" },
		    { "10.0.0.2", WP_NAME_DNS, "db.lan" } },
		  "10.0.0.9>db.lan db.lan>db.lan@10.0.0.2" },
		{ { { "10.0.0.1", WP_NAME_DNS, "web.lan" },
		    { "10.0.0.1", WP_NAME_DNS, "app.lan" } },
		  "10.0.0.9>app.lan app.lan>10.0.0.2" },
		{ { { "10.0.0.1", WP_NAME_HTTP_HOST, "10.0.0.1:80" },
		    { "10.0.0.2", WP_NAME_HTTP_HOST, "localhost" } },
		  "10.0.0.9>10.0.0.1 10.0.0.1>10.0.0.2" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpTrace) trace =
			wp_tree_trace("10.0.0.9>10.0.0.1:80[0-9](10.0.0.2:53[1-2])");
		WpNodes *nodes = wp_trace_nodes(trace);
		for (gsize k = 0; k < G_N_ELEMENTS(rows[i].hints) && rows[i].hints[k].address; k++)
			wp_nodes_add_hint(nodes, wp_nodes_by_key(nodes, rows[i].hints[k].address),
					  rows[i].hints[k].source, rows[i].hints[k].name, -1);
		g_autoptr(WpResolved) resolved = resolve(trace, NULL, FALSE);
		g_autofree char *calls = calls_text(resolved);
		ck_assert_str_eq(calls, rows[i].calls);
	}
}
END_TEST

/* What services on one address are called that requests ask for by name: ports 80, 443 and 8000. */
START_TEST(hints_of_services)
{
	static const struct {
		struct {
			WpNameSource source;
			const char *name;
		} hints[4];
		const char *names[4]; /* of those that are called, and of the client */
	} rows[] = {
		{ { { WP_NAME_HTTP_HOST, "shop.example" } },
		  { "shop.example:80", "127.0.0.1:443", "127.0.0.1:8000", "127.0.0.1" } },
		{ { { WP_NAME_HTTP_HOST, "Shop.Example.:80" }, { WP_NAME_TLS_SNI, "pay.example" } },
		  { "shop.example:80", "pay.example:443", "127.0.0.1:8000", "127.0.0.1" } },
		{ { { WP_NAME_HTTP_HOST, "users:8000" },
		    { WP_NAME_HTTP_HOST, "absent:99" },
		    { WP_NAME_HTTP_HOST, "wrong:99999" } },
		  { "127.0.0.1:80", "127.0.0.1:443", "users:8000", "127.0.0.1" } },
		/* the name most often asked for; of as many the smaller */
		{ { { WP_NAME_HTTP_HOST, "b" },
		    { WP_NAME_HTTP_HOST, "b" },
		    { WP_NAME_HTTP_HOST, "a" } },
		  { "b:80", "127.0.0.1:443", "127.0.0.1:8000", "127.0.0.1" } },
		{ { { WP_NAME_HTTP_HOST, "b" }, { WP_NAME_HTTP_HOST, "a" } },
		  { "a:80", "127.0.0.1:443", "127.0.0.1:8000", "127.0.0.1" } },
		/* that is the machine; and what only looks like a name */
		{ { { WP_NAME_HTTP_HOST, "localhost:8000" } },
		  { "localhost:80", "localhost:443", "localhost:8000", "localhost" } },
		{ { { WP_NAME_HTTP_HOST, "127.0.0.1:8000" }, { WP_NAME_HTTP_HOST, "[::1]" } },
		  { "127.0.0.1:80", "127.0.0.1:443", "127.0.0.1:8000", "127.0.0.1" } },
		/* a name of the machine, and a service called like it */
		{ { { WP_NAME_DNS, "box" }, { WP_NAME_HTTP_HOST, "shop:80" } },
		  { "shop:80", "box:443", "box:8000", "box" } },
		{ { { WP_NAME_DNS, "box" }, { WP_NAME_HTTP_HOST, "box:80" } },
		  { "box:80", "box:443", "box:8000", "box" } },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpTrace) trace = wp_tree_trace("127.0.0.1>127.0.0.1:80[0-1] "
							 "127.0.0.1>127.0.0.1:443[2-3] "
							 "127.0.0.1>127.0.0.1:8000[4-5]");
		WpNodes *nodes = wp_trace_nodes(trace);
		for (gsize k = 0; k < G_N_ELEMENTS(rows[i].hints) && rows[i].hints[k].name; k++)
			wp_nodes_add_hint(nodes, wp_nodes_by_key(nodes, "127.0.0.1"),
					  rows[i].hints[k].source, rows[i].hints[k].name, -1);
		g_autoptr(WpResolved) resolved = resolve(trace, NULL, FALSE);
		const WpSpan *spans = wp_resolved_spans(resolved)->spans;
		for (guint k = 0; k < 3; k++)
			ck_assert_str_eq(wp_resolved_node_name(resolved, spans[k].callee),
					 rows[i].names[k]);
		ck_assert_str_eq(wp_resolved_node_name(resolved, spans[0].caller),
				 rows[i].names[3]);
	}
}
END_TEST

/* Where the parents of the last call of each row are looked for: at which address's calls. */
START_TEST(hosts)
{
	static const struct {
		const char *why, *tree, *names;
		gboolean same; /* callee host of the first call, caller host of the last */
	} rows[] = {
		{ "replicas each have their own",
		  "10.0.0.9>10.0.1.1:80[0-9](10.0.0.2:5[1-2]) "
		  "10.0.0.9>10.0.1.2:80[0-9](10.0.0.2:5[3-4])",
		  "10.0.1.0/24 web", FALSE },
		{ "one machine with two addresses",
		  "10.0.0.9>10.0.1.1:80[0-9] 10.1.1.1>10.0.0.2:5[3-4]",
		  "10.0.1.1 web\n10.1.1.1 web", TRUE },
		{ "two addresses without a file",
		  "10.0.0.9>10.0.1.1:80[0-9] 10.1.1.1>10.0.0.2:5[3-4]", "10.9.9.9 x", FALSE },
		{ "an address split by port",
		  "10.0.0.9>10.0.1.1:80[0-9] 10.0.0.9>10.0.1.1:81[0-9](10.0.0.2:5[3-4])",
		  "10.9.9.9 x", TRUE },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpTrace) trace = wp_tree_trace(rows[i].tree);
		g_autoptr(WpResolved) resolved = resolve(trace, rows[i].names, FALSE);
		const WpSpans *spans = wp_resolved_spans(resolved);
		gboolean same =
			spans->spans[0].callee_host == spans->spans[spans->n - 1].caller_host;
		ck_assert_msg(same == rows[i].same, "%s", rows[i].why);
	}
}
END_TEST

START_TEST(options)
{
	WpResolveOptions given;
	g_autoptr(GError) error = NULL;
	g_autoptr(WpTrace) trace = wp_tree_trace("a>b/x[0-9] a>b[10-19]^");

	wp_resolve_options_init(&given);
	g_autoptr(WpResolved) plain = wp_resolve(trace, &given, NULL);
	ck_assert_uint_eq(wp_resolved_spans(plain)->n, 1);
	ck_assert_uint_ne(wp_resolved_spans(plain)->spans[0].label, 0);
	ck_assert_ptr_eq(wp_resolved_trace(plain), trace);
	ck_assert_uint_eq(wp_resolved_n_nodes(plain), 2);
	for (guint32 i = 0; i < 2; i++)
		ck_assert_str_eq(wp_resolved_node_name(plain, wp_resolved_node_of(plain, i)),
				 wp_nodes_key(wp_trace_nodes(trace), i));
	given.keep_setup = TRUE;
	given.by_label = FALSE;
	g_autoptr(WpResolved) other = wp_resolve(trace, &given, NULL);
	ck_assert_uint_eq(wp_resolved_spans(other)->n, 2);
	ck_assert_uint_eq(wp_resolved_spans(other)->spans[0].label, 0);
	given.names_file = "/nonexistent/names";
	ck_assert_ptr_null(wp_resolve(trace, &given, &error));
	ck_assert_ptr_nonnull(error);
}
END_TEST

/* Names of all nodes that are called, in order, with --fold. */
START_TEST(replicas_fold)
{
	static const struct {
		const char *why;
		const char *tree;
		const char *nodes;
	} rows[] = {
		{ "same callers, same calls", "c>w1/x[0-9](d/q[1-2]) c>w2/x[10-19](d/q[11-12])",
		  "w* d" },
		{ "so are those whose neighbours are",
		  "c>w1/x[0-9](d1/q[1-2],d2/q[3-4]) c>w2/x[10-19](d1/q[11-12],d2/q[13-14])",
		  "w* d*" },
		{ "another caller", "c>w1/x[0-9](d/q[1-2]) e>w2/x[10-19](d/q[11-12])", "w1 d w2" },
		{ "another callee", "c>w1/x[0-9](d/q[1-2]) c>w2/x[10-19](f/q[11-12])",
		  "w1 d w2 f" },
		{ "another operation", "c>w1/x[0-9] c>w2/y[10-19]", "w1 w2" },
		{ "numbers of one name need no operation", "c>w1[0-9] c>w2[10-19]", "w*" },
		{ "other names do", "c>web[0-9] c>app[10-19]", "web app" },
		{ "names that have nothing in common", "c>web/x[0-9] c>app/x[10-19]", "web+1" },
		{ "clients are no replicas", "c1>w/x[0-9] c2>w/x[10-19]", "w" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(WpTrace) trace = wp_tree_trace(rows[i].tree);
		for (int folds = 1; folds >= 0; folds--) {
			WpResolveOptions folding;
			wp_resolve_options_init(&folding);
			folding.folds = folds;
			g_autoptr(WpResolved) resolved = wp_resolve(trace, &folding, NULL);
			const WpSpans *spans = wp_resolved_spans(resolved);
			g_autoptr(GString) found = g_string_new(" ");
			for (guint32 k = 0; k < spans->n; k++) {
				g_autofree char *name = g_strdup_printf(
					" %s ",
					wp_resolved_node_name(resolved, spans->spans[k].callee));
				if (!strstr(found->str, name))
					g_string_append(found, name + 1);
			}
			if (folds)
				ck_assert_msg(g_str_equal(g_strstrip(found->str), rows[i].nodes),
					      "%s: %s", rows[i].why, found->str);
			else
				ck_assert_ptr_null(strchr(found->str, '*'));
		}
	}
}
END_TEST

WP_SUITE("resolve", names, ports, calls_both_ways, calls_on, random_ports_fold, clients_fold,
	 other_clients_fold, replicas_fold, hints, hints_of_services, hosts, options)
