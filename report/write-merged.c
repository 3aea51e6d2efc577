/*
 * All patterns merged, for Graphviz: one graph for each kind of request, in which every call that some of its requests
 * make is one ellipse, and an edge says how probable it is. Calls and their means are those expected (infer/places.h),
 * so that links that are not certain count by their probability.
 */
#include "report/write-dot.h"

#include "report/format.h"

/* Calls that are made by fewer requests are dashed. */
#define USUAL 0.5

#define MAX_OPERATIONS 50

static void
write_place(guint32 operation, guint32 i, const WpViewPlace *place, WpOut *out)
{
	char latency[WP_FORMAT_MAX], self[WP_FORMAT_MAX], share[WP_FORMAT_MAX];
	g_autoptr(GString) label = g_string_new(NULL);
	wp_dot_add_name(label, place->node);
	wp_dot_add_lines(label, place->label);
	g_string_append_printf(label, "\\n%s", wp_format_time(latency, place->latency_ns));
	if (place->is_hottest)
		g_string_append_printf(label, "\\nself %s (%s)",
				       wp_format_time(self, place->self_ns),
				       wp_format_share(share, place->self_share));
	wp_out_printf(out, "    n%u_%u [label=\"%s\"%s];\n", operation, i, label->str,
		      place->is_hottest ? ", style=filled, fillcolor=\"#f4b6a6\", penwidth=2" : "");
}

/* How many calls a call of the parent makes: a probability where there is one at most. */
static void
write_edge(guint32 operation, guint32 i, const WpViewPlace *places, WpOut *out)
{
	const WpViewPlace *place = &places[i], *parent = &places[place->parent];
	char share[WP_FORMAT_MAX], delay[WP_FORMAT_MAX], calls[WP_FORMAT_MAX];
	double rate = parent->calls > 0 ? place->calls / parent->calls : 0;
	gboolean is_probability = rate < 1.005; /* and not "1.00 calls" */
	wp_out_printf(out, "    n%u_%u -> n%u_%u [label=\" %s%s, after %s \", penwidth=%.1f%s];\n",
		      operation, place->parent, operation, i,
		      is_probability ? wp_format_share(share, MIN(rate, 1))
				     : wp_format_number(calls, rate),
		      is_probability ? "" : " calls", wp_format_time(delay, place->delay_ns),
		      0.5 + 2 * MIN(rate, 1), rate < USUAL ? ", style=dashed" : "");
}

static void
write_operation(const WpViewOperation *operation, guint32 number, WpOut *out)
{
	char count[WP_FORMAT_MAX], mean[WP_FORMAT_MAX], share[WP_FORMAT_MAX];
	g_autoptr(GString) client = g_string_new(NULL);
	wp_dot_add_name(client, operation->client);
	wp_out_printf(out,
		      "\n  subgraph cluster_%u {\n    label=\"%s of the time, %u pattern%s\";\n"
		      "    c%u [label=\"%s\", color=gray50, fontcolor=gray30];\n",
		      number, wp_format_share(share, operation->share), operation->n_patterns,
		      operation->n_patterns == 1 ? "" : "s", number, client->str);
	for (guint32 i = 0; i < operation->n_places; i++)
		write_place(number, i, &operation->places[i], out);
	wp_out_printf(out, "    c%u -> n%u_0 [label=\" %s request%s \\n mean %s \"];\n", number,
		      number, wp_format_count(count, operation->count),
		      operation->count == 1 ? "" : "s",
		      wp_format_time(mean, operation->latency.mean_ns));
	for (guint32 i = operation->n_places; i-- > 1;)
		write_edge(number, i, operation->places, out);
	wp_out_text(out, "  }\n");
}

static void
write_report(const WpView *view, const WpPage *page, WpOut *out)
{
	guint32 all = 0, limit = page->top ? page->top : MAX_OPERATIONS;
	while (all < view->n_operations && !view->operations[all].is_background)
		all++;
	guint32 n = MIN(all, limit);
	wp_dot_begin(view, out);
	if (n < all)
		wp_out_printf(out, ", the first %u of %u kinds", n, all);
	wp_out_printf(out, "%s\";\n", wp_dot_warning(view));
	wp_out_text(out, "  // ellipse: node, operation, mean latency (children included); edge: "
			 "share of the calls of the\n  // caller that make it, or how many each "
			 "makes, and the mean call delay; dashed: less than half of them;\n  // "
			 "filled: most self time\n");
	for (guint32 i = n; i-- > 0;)
		if (view->operations[i].n_places)
			write_operation(&view->operations[i], i + 1, out);
	wp_out_text(out, "}\n");
}

static const char *const suffixes[] = { "merged.dot", "merged.gv", NULL };

const WpWriter wp_writer_merged = {
	.name = "merged",
	.summary = "a graph per kind of request, all its paths with probabilities, for Graphviz",
	.suffixes = suffixes,
	.is_for_people = TRUE,
	.report = write_report,
};
