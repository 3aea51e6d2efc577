/* Where edges lose time, as text: what the calls between two nodes spent their time on, and what held them up. */
#include "report/write-text.h"

#include "report/escape.h"
#include "report/format.h"
#include "report/table.h"
#include "report/words.h"

/* Columns of a node's name. */
#define MAX_NAME 24

/* Rows of each table, unless all are wanted. */
#define MAX_ROWS 10

typedef struct {
	const WpView *view;
	const WpPage *page;
	WpOut *out;
	gboolean has_network;
	gboolean has_connect;
	gboolean has_rtt;
} Edges;

/* (transfer full) "web -> db", safe. */
static char *
describe(const Edges *edges, const WpViewEdgeTime *edge)
{
	gboolean utf8 = edges->page->style.utf8;
	g_autofree char *caller = wp_escape_terminal(edge->caller, utf8);
	g_autofree char *node = wp_escape_terminal(edge->node, utf8);
	g_autofree char *from = wp_escape_shorten(caller, MAX_NAME);
	g_autofree char *to = wp_escape_shorten(node, MAX_NAME);
	return g_strdup_printf("%s %s %s", from, utf8 ? "\342\206\222" : "->", to);
}

static void
share_cell(WpTable *table, double part, double whole)
{
	char buffer[WP_FORMAT_MAX];
	wp_table_cell(table, part > 0 && whole > 0 ? wp_format_share(buffer, part / whole) : "");
}

static void
mean_cell(WpTable *table, double sum_ns, guint64 n)
{
	char buffer[WP_FORMAT_MAX];
	wp_table_cell(table, n ? wp_format_time(buffer, sum_ns / (double)n) : "");
}

static void
add_edge(const Edges *edges, WpTable *table, const WpViewEdgeTime *edge)
{
	char buffer[WP_FORMAT_MAX];
	g_autofree char *what = describe(edges, edge);
	double rtt_ns = edge->client_rtt_ns && edge->server_rtt_ns
				? edge->client_rtt_ns + edge->server_rtt_ns
				: 0;

	wp_table_row(table, WP_TABLE_PLAIN);
	wp_table_cell(table, wp_format_count(buffer, edge->calls));
	mean_cell(table, edge->latency_ns, edge->calls);
	share_cell(table, edge->request_ns, edge->latency_ns);
	share_cell(table, edge->server_ns, edge->latency_ns);
	share_cell(table, edge->reply_ns, edge->latency_ns);
	share_cell(table, edge->stall_ns, edge->latency_ns);
	if (edges->has_network)
		mean_cell(table, edge->network_ns, edge->n_both);
	if (edges->has_rtt)
		wp_table_cell(table, rtt_ns > 0 ? wp_format_time(buffer, rtt_ns) : "");
	if (edges->has_connect) {
		wp_table_cell(table,
			      edge->n_connects ? wp_format_count(buffer, edge->n_connects) : "");
		mean_cell(table, edge->connect_ns, edge->n_connects);
		mean_cell(table, edge->setup_ns, edge->n_setups);
	}
	wp_table_cell(table, what);
}

static guint32
shown(const Edges *edges, guint32 n)
{
	return edges->page->top ? MIN(n, MAX_ROWS) : n;
}

static void
write_more(const Edges *edges, guint32 n)
{
	if (n > shown(edges, n))
		wp_out_printf(edges->out, "  ... and %u more (--all)\n", n - shown(edges, n));
}

static void
write_parts(const Edges *edges)
{
	g_autoptr(WpTable) table = wp_table_new();
	guint32 n = 0;

	wp_table_column(table, "calls", TRUE, 5);
	wp_table_column(table, "mean", TRUE, 7);
	wp_table_column(table, "request", TRUE, 5);
	wp_table_column(table, "server", TRUE, 5);
	wp_table_column(table, "reply", TRUE, 5);
	wp_table_column(table, "stalls", TRUE, 5);
	if (edges->has_network)
		wp_table_column(table, "network", TRUE, 7);
	if (edges->has_rtt)
		wp_table_column(table, "rtt", TRUE, 7);
	if (edges->has_connect) {
		wp_table_column(table, "new", TRUE, 3);
		wp_table_column(table, "connect", TRUE, 7);
		wp_table_column(table, "set-up", TRUE, 7);
	}
	wp_table_column(table, "calls from and to", FALSE, 0);
	for (guint32 i = 0; i < edges->view->n_edge_times; i++)
		if (edges->view->edge_times[i].is_worth && n++ < shown(edges, G_MAXUINT32))
			add_edge(edges, table, &edges->view->edge_times[i]);
	wp_table_write(table, &edges->page->style, 2, edges->out);
	write_more(edges, n);
}

/* "17 to 23", with the number of the input before it where there are several. */
static char *
packets_text(const WpView *view, const WpViewStalls *stalls)
{
	if (!stalls->first)
		return g_strdup("");
	g_autofree char *input =
		view->n_inputs > 1 ? g_strdup_printf("%u:", stalls->tap) : g_strdup("");
	return g_strdup_printf("%s%" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT, input, stalls->first,
			       stalls->last);
}

static void
add_cause(const Edges *edges, WpTable *table, const WpViewEdgeTime *edge,
	  const WpViewStalls *stalls)
{
	char buffer[WP_FORMAT_MAX];
	g_autofree char *what = describe(edges, edge);
	g_autofree char *packets = packets_text(edges->view, stalls);

	wp_table_row(table, WP_TABLE_PLAIN);
	wp_table_cell(table, wp_format_count(buffer, stalls->count));
	wp_table_cell(table, wp_format_count(buffer, stalls->n_calls));
	wp_table_cell(table, wp_format_time(buffer, stalls->held_ns));
	wp_table_cell(table, wp_format_time(buffer, stalls->longest_ns));
	wp_table_cell(table, packets);
	wp_table_cell(table, wp_words_cause(stalls->cause, stalls->is_setup));
	wp_table_cell(table, what);
}

static void
write_causes(const Edges *edges)
{
	g_autoptr(WpTable) table = wp_table_new();
	guint32 n = 0;

	wp_table_column(table, "stalls", TRUE, 5);
	wp_table_column(table, "calls", TRUE, 5);
	wp_table_column(table, "time", TRUE, 7);
	wp_table_column(table, "longest", TRUE, 7);
	wp_table_column(table, "its packets", TRUE, 0);
	wp_table_column(table, "cause", FALSE, 0);
	wp_table_column(table, "calls from and to", FALSE, 0);
	for (guint32 i = 0; i < edges->view->n_edge_times; i++) {
		const WpViewEdgeTime *edge = &edges->view->edge_times[i];
		for (guint k = 0; k < edge->n_stalls && edge->is_worth; k++)
			if (n++ < shown(edges, G_MAXUINT32))
				add_cause(edges, table, edge, &edge->stalls[k]);
	}
	if (!n)
		return;
	wp_out_char(edges->out, '\n');
	wp_table_write(table, &edges->page->style, 2, edges->out);
	write_more(edges, n);
}

void
wp_text_edges(const WpView *view, const WpPage *page, WpOut *out)
{
	Edges edges = { .view = view, .page = page, .out = out };
	gboolean is_stalled = FALSE;

	for (guint32 i = 0; i < view->n_edge_times; i++) {
		const WpViewEdgeTime *edge = &view->edge_times[i];
		if (!edge->is_worth)
			continue;
		is_stalled |= edge->is_stalled;
		edges.has_network |= edge->n_both > 0;
		edges.has_connect |= edge->n_connects > 0;
		edges.has_rtt |= edge->client_rtt_ns && edge->server_rtt_ns;
	}
	if (!is_stalled)
		return;
	wp_text_heading(page, "Where edges lose time: stalls and connecting", out);
	g_autoptr(GString) words = g_string_new(
		"request, server, reply, stalls: parts of the latency; stalls are in none of the "
		"others.");
	if (edges.has_network)
		g_string_append(words, " network: both ways, a call.");
	if (edges.has_rtt)
		g_string_append(words, " rtt: the least round trip seen.");
	if (edges.has_connect)
		g_string_append(words, " new: connections opened; connect (TCP) and set-up (TLS, "
				       "login) come before their first call.");
	wp_text_paragraph(page, words->str, 2, out);
	write_parts(&edges);
	write_causes(&edges);
}
