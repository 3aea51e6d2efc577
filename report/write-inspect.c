/* The text page of `inspect`: what is in the capture, before anything is inferred. */
#include "report/write-text.h"
#include "report/words.h"

#include <string.h>

#include "report/escape.h"
#include "report/format.h"
#include "report/table.h"

/* Rows of a part unless all are wanted; flows are the long part. */
#define MAX_NODES 40

/* Columns of a node's address on a page that is wide, and on one that is not: nearly all IPv6 addresses fit. */
#define MAX_KEY        40
#define MAX_KEY_NARROW 32

static char *
safe(const WpPage *page, const char *text)
{
	return wp_escape_terminal(text, page->style.utf8);
}

static void
cell_count(WpTable *table, guint64 count)
{
	char buffer[WP_FORMAT_MAX];
	wp_table_cell(table, wp_format_count(buffer, count));
}

static void
write_headline(const WpInspection *inspection, const WpPage *page, WpOut *out)
{
	char packets[WP_FORMAT_MAX], calls[WP_FORMAT_MAX], pairs[WP_FORMAT_MAX];
	char messages[WP_FORMAT_MAX];
	g_autofree char *inputs =
		wp_text_inputs(page, inspection->file, inspection->inputs, inspection->n_inputs);
	wp_out_printf(out, "%s%s%s", wp_style_bold(&page->style), inputs,
		      wp_style_off(&page->style));
	if (inspection->n_records) {
		g_autofree char *when = wp_text_when(inspection->begin_ns, inspection->end_ns);
		wp_out_printf(out, "   %s", when);
	}
	wp_out_char(out, '\n');
	if (inspection->n_packets)
		wp_out_printf(out, "%s packets: ", wp_format_count(packets, inspection->n_packets));
	wp_out_printf(out, "%s calls, %s with their return, %s one-way messages\n",
		      wp_format_count(calls, inspection->counts.requests),
		      wp_format_count(pairs, inspection->counts.pairs),
		      wp_format_count(messages, inspection->counts.one_way));
	if (inspection->partial) {
		g_autofree char *partial = safe(page, inspection->partial);
		wp_out_printf(out, "%sPARTIAL: %s%s\n", wp_style_red(&page->style), partial,
			      wp_style_off(&page->style));
	}
	if (!inspection->n_records)
		wp_text_paragraph(
			page, wp_words_no_records(inspection->is_selective, inspection->n_packets),
			0, out);
}

static void
write_protocols(const WpInspection *inspection, const WpPage *page, WpOut *out)
{
	g_autoptr(WpTable) table = wp_table_new();
	char buffer[WP_FORMAT_MAX];
	static const char *const headings[] = { "flows",   "requests", "responses", "pairs",
						"one-way", "set-up",   "errors",    "bytes" };
	if (!inspection->n_protocols)
		return;
	wp_text_heading(page, "Protocols", out);
	for (gsize i = 0; i < G_N_ELEMENTS(headings); i++)
		wp_table_column(table, headings[i], TRUE, 0);
	wp_table_column(table, "protocol", FALSE, 0);
	for (guint i = 0; i < inspection->n_protocols; i++) {
		const WpInspectionProtocol *protocol = &inspection->protocols[i];
		g_autofree char *name = safe(page, *protocol->name ? protocol->name : "unknown");
		wp_table_row(table, WP_TABLE_PLAIN);
		cell_count(table, protocol->flows);
		cell_count(table, protocol->counts.requests);
		cell_count(table, protocol->counts.responses);
		cell_count(table, protocol->counts.pairs);
		cell_count(table, protocol->counts.one_way);
		cell_count(table, protocol->counts.setup);
		cell_count(table, protocol->counts.errors);
		wp_table_cell(table, wp_format_bytes(buffer, protocol->counts.bytes));
		wp_table_cell(table, name);
	}
	wp_table_write(table, &page->style, 2, out);
}

/* "80 http, 443 tls" */
static char *
describe_ports(const WpPage *page, const WpInspectionNode *node)
{
	GString *words = g_string_new(NULL);
	for (guint i = 0; i < node->n_ports && i < 8; i++) {
		g_autofree char *protocol = safe(page, node->ports[i].protocol);
		g_string_append_printf(words, "%s%u %s", i ? ", " : "", node->ports[i].port,
				       protocol);
	}
	if (node->n_ports > 8)
		g_string_append(words, ", ...");
	return g_string_free(words, FALSE);
}

static void
write_nodes(const WpInspection *inspection, const WpPage *page, WpOut *out)
{
	g_autoptr(WpTable) table = wp_table_new();
	guint n = page->top ? MIN(MAX_NODES, inspection->n_nodes) : inspection->n_nodes;
	if (!inspection->n_nodes)
		return;
	wp_text_heading(page, "Nodes", out);
	wp_table_column(table, "calls in", TRUE, 0);
	wp_table_column(table, "calls out", TRUE, 0);
	wp_table_column(table, "one-way", TRUE, 0);
	wp_table_column(table, "node", FALSE, 0);
	wp_table_column(table, "name", FALSE, 0);
	wp_table_column(table, "serves", FALSE, 0);
	for (guint i = 0; i < n; i++) {
		const WpInspectionNode *node = &inspection->nodes[i];
		g_autofree char *key = safe(page, node->key);
		g_autofree char *shorter =
			wp_escape_shorten(key, page->style.width < 100 ? MAX_KEY_NARROW : MAX_KEY);
		g_autofree char *name = safe(page, node->name);
		g_autofree char *source = g_strdup_printf("%s (%s)", name, node->name_source);
		g_autofree char *ports = describe_ports(page, node);
		wp_table_row(table, WP_TABLE_PLAIN);
		cell_count(table, node->calls_in);
		cell_count(table, node->calls_out);
		cell_count(table, node->messages_in + node->messages_out);
		wp_table_cell(table, shorter);
		wp_table_cell(table, *node->name ? source : "");
		wp_table_cell(table, ports);
	}
	wp_table_write(table, &page->style, 2, out);
	if (n < inspection->n_nodes)
		wp_out_printf(out, "  ... and %u more (--all)\n", inspection->n_nodes - n);
}

static void
add_flow(WpTable *table, const WpInspectionFlow *flow, const WpPage *page)
{
	char bytes[WP_FORMAT_MAX];
	g_autofree char *protocol = safe(page, flow->protocol);
	g_autofree char *src = safe(page, *flow->src ? flow->src : flow->client);
	g_autofree char *dst = safe(page, *flow->dst ? flow->dst : flow->server);
	g_autofree char *ends = g_strdup_printf("%s > %s", src, dst);
	wp_table_row(table, WP_TABLE_PLAIN);
	cell_count(table, flow->number);
	cell_count(table, flow->counts.requests);
	cell_count(table, flow->counts.responses);
	cell_count(table, flow->counts.pairs);
	cell_count(table, flow->counts.one_way);
	wp_table_cell(table, wp_format_bytes(bytes, flow->counts.bytes));
	wp_table_cell(table, protocol);
	wp_table_cell(table, ends);
}

static void
write_flows(const WpInspection *inspection, const WpPage *page, WpOut *out)
{
	g_autoptr(WpTable) table = wp_table_new();
	static const char *const headings[] = { "flow",  "requests", "responses",
						"pairs", "one-way",  "bytes" };
	guint n = page->top ? MIN(page->top, inspection->n_flows) : inspection->n_flows;
	char more[WP_FORMAT_MAX];
	if (!inspection->n_flows)
		return;
	wp_text_heading(page, "Flows", out);
	for (gsize i = 0; i < G_N_ELEMENTS(headings); i++)
		wp_table_column(table, headings[i], TRUE, 0);
	wp_table_column(table, "protocol", FALSE, 0);
	wp_table_column(table, "client > server", FALSE, 0);
	for (guint i = 0; i < n; i++)
		add_flow(table, &inspection->flows[i], page);
	wp_table_write(table, &page->style, 2, out);
	if (n < inspection->n_flows)
		wp_out_printf(out, "  ... and %s more (--all)\n",
			      wp_format_count(more, inspection->n_flows - n));
	if (inspection->n_flows_more)
		wp_out_printf(out, "  ... and flows beyond %u, with %s messages\n",
			      WP_INSPECTION_MAX_FLOWS,
			      wp_format_count(more, inspection->n_flows_more));
}

void
wp_text_inspect(const WpInspection *inspection, const WpPage *page, WpOut *out)
{
	write_headline(inspection, page, out);
	write_protocols(inspection, page, out);
	write_nodes(inspection, page, out);
	write_flows(inspection, page, out);
	wp_text_quality(&inspection->quality, inspection->settings, inspection->n_settings, page,
			out);
}
