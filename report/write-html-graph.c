/* The service graph and the flame graph of the HTML page. */
#include "report/write-html.h"

#include <math.h>
#include <string.h>

#include "report/format.h"
#include "report/service-graph.h"

/* --- who calls whom --- */

#define BOX_WIDTH  170
#define BOX_HEIGHT 46
#define GAP_X      110
#define GAP_Y      26
#define MARGIN     20
#define NAME_TEXT  22

/* Edges drawn; a picture of more shows nothing. All are in the table. */
#define MAX_EDGES 200

typedef struct {
	double x;
	double y;
} Spot;

typedef struct {
	const WpServiceGraph *graph;
	const WpHtml *html;
	guint32 *in_rank;  /* nodes of each rank */
	double *arrivals;  /* by edge: where on the side of its box it arrives, 0..1 */
	double most_calls; /* of an edge */
} Picture;

/* The top of the boxes of RANK, which stand in the middle. */
static double
top_of(const Picture *picture, guint32 rank)
{
	guint32 room = picture->graph->widest - picture->in_rank[rank];
	return MARGIN + room * (BOX_HEIGHT + GAP_Y) / 2.0;
}

static double
left_of(guint32 rank)
{
	return MARGIN + rank * (double)(BOX_WIDTH + GAP_X);
}

static Spot
spot_of(const Picture *picture, const WpServiceNode *node)
{
	return (Spot){ left_of(node->rank),
		       top_of(picture, node->rank) + node->place * (double)(BOX_HEIGHT + GAP_Y) };
}

typedef struct {
	double y;
	guint32 edge;
} Arrival;

static int
compare_arrivals(gconstpointer a, gconstpointer b)
{
	const Arrival *x = a, *y = b;
	if (x->y != y->y)
		return x->y < y->y ? -1 : 1;
	return x->edge < y->edge ? -1 : x->edge > y->edge;
}

/* Edges arrive side by side, in the order of where they come from, so that they do not cross at the box. */
static void
set_arrivals(Picture *picture)
{
	const WpServiceGraph *graph = picture->graph;
	for (guint32 i = 0; i < graph->n_nodes; i++) {
		g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(Arrival));
		for (guint32 k = 0; k < graph->n_edges; k++) {
			Arrival one = { spot_of(picture, &graph->nodes[graph->edges[k].from]).y,
					k };
			if (graph->edges[k].to == i)
				g_array_append_val(all, one);
		}
		g_array_sort(all, compare_arrivals);
		for (guint k = 0; k < all->len; k++)
			picture->arrivals[g_array_index(all, Arrival, k).edge] =
				(k + 1.0) / (all->len + 1.0);
	}
}

static void
write_point(const WpHtml *html, char before, double x, double y)
{
	wp_out_char(html->out, before);
	wp_html_number(html, x, 1);
	wp_out_char(html->out, ' ');
	wp_html_number(html, y, 1);
}

/* A bend from A to B that leaves and arrives level; DOWN: it hangs so much. */
static void
write_bend(const WpHtml *html, Spot a, Spot b, double reach, double down)
{
	write_point(html, 'C', a.x + reach, a.y + down);
	write_point(html, ' ', b.x - reach, b.y + down);
	write_point(html, ' ', b.x, b.y);
}

/* The gap between boxes of RANK that is nearest to Y. */
static double
gap_near(const Picture *picture, guint32 rank, double y)
{
	double top = top_of(picture, rank) - GAP_Y / 2.0, best = top;
	for (guint32 i = 1; i <= picture->in_rank[rank]; i++) {
		double gap = top + i * (double)(BOX_HEIGHT + GAP_Y);
		if (fabs(gap - y) < fabs(best - y))
			best = gap;
	}
	return best;
}

/* From box to box, between those in the way. */
static void
write_way(const Picture *picture, const WpServiceEdge *edge, Spot from, Spot to)
{
	const WpServiceGraph *graph = picture->graph;
	guint32 first = graph->nodes[edge->from].rank, last = graph->nodes[edge->to].rank;
	Spot at = from;
	write_point(picture->html, 'M', from.x, from.y);
	for (guint32 rank = first + 1; rank < last; rank++) {
		double y = from.y + (to.y - from.y) * (rank - first) / (last - first);
		Spot in = { left_of(rank), gap_near(picture, rank, y) };
		write_bend(picture->html, at, in, GAP_X / 2.0, 0);
		at = (Spot){ in.x + BOX_WIDTH, in.y };
		write_point(picture->html, 'L', at.x, at.y);
	}
	write_bend(picture->html, at, to, edge->is_back ? GAP_X * 0.9 : GAP_X / 2.0,
		   edge->is_back ? 60 : 0);
}

static void
write_edge(const Picture *picture, guint32 number)
{
	const WpHtml *html = picture->html;
	const WpServiceEdge *edge = &picture->graph->edges[number];
	const WpServiceNode *from = &picture->graph->nodes[edge->from];
	const WpServiceNode *to = &picture->graph->nodes[edge->to];
	Spot a = spot_of(picture, from), b = spot_of(picture, to);
	char calls[WP_FORMAT_MAX], time[WP_FORMAT_MAX];
	wp_format_count(calls, (guint64)(edge->calls + 0.5));
	wp_format_time(time, edge->latency_ns);
	wp_out_text(html->out, "<path class=\"edge\" fill=\"none\" stroke=\"#777\"");
	wp_html_attribute(html, "stroke-width",
			  1 + 5 * sqrt(edge->calls / MAX(picture->most_calls, 1)));
	wp_out_printf(html->out, "%s d=\"", edge->is_back ? " stroke-dasharray=\"6 3\"" : "");
	write_way(picture, edge, (Spot){ a.x + BOX_WIDTH, a.y + BOX_HEIGHT / 2.0 },
		  (Spot){ b.x, b.y + BOX_HEIGHT * picture->arrivals[number] });
	wp_out_text(html->out, "\"><title>");
	wp_html_text(html, from->name, NAME_TEXT * 2);
	wp_out_text(html->out, " \342\206\222 ");
	wp_html_text(html, to->name, NAME_TEXT * 2);
	wp_out_printf(html->out, ": %s calls, mean %s</title></path>\n", calls, time);
}

/* At its head, where edges are farthest apart. */
static void
write_edge_label(const Picture *picture, guint32 number)
{
	const WpHtml *html = picture->html;
	const WpServiceEdge *edge = &picture->graph->edges[number];
	Spot to = spot_of(picture, &picture->graph->nodes[edge->to]);
	char calls[WP_FORMAT_MAX], time[WP_FORMAT_MAX];
	if (edge->is_back)
		return;
	wp_out_text(html->out, "<text class=\"edge-label\" font-size=\"10\" text-anchor=\"end\"");
	wp_html_attribute(html, "x", to.x - 4);
	wp_html_attribute(html, "y", to.y + BOX_HEIGHT * picture->arrivals[number] - 4);
	wp_out_printf(html->out, ">%s", wp_format_count(calls, (guint64)(edge->calls + 0.5)));
	wp_out_printf(html->out, "\303\227 %s</text>\n", wp_format_time(time, edge->latency_ns));
}

static void
write_box(const Picture *picture, const WpServiceNode *node)
{
	const WpHtml *html = picture->html;
	Spot spot = spot_of(picture, node);
	guint color = wp_html_color(html, node->name);
	char share[WP_FORMAT_MAX], calls[WP_FORMAT_MAX];
	wp_out_printf(html->out,
		      "<g class=\"box%s\"><rect rx=\"5\" fill=\"#fff\" stroke=\"%s\" "
		      "stroke-width=\"%d\"",
		      node->is_hottest ? " hot" : "", wp_html_rgb(color), node->is_hottest ? 3 : 1);
	wp_html_box(html, spot.x, spot.y, BOX_WIDTH, BOX_HEIGHT);
	wp_out_text(html->out, "/>");
	if (node->self_share > 0) {
		wp_out_printf(html->out, "<rect class=\"fill c%u\" fill=\"%s\"", color,
			      wp_html_rgb(color));
		wp_html_box(html, spot.x + 3, spot.y + BOX_HEIGHT - 9,
			    MAX(node->self_share * (BOX_WIDTH - 6), 0.5), 6);
		wp_out_text(html->out, "/>");
	}
	wp_out_text(html->out, "<text font-weight=\"bold\"");
	wp_html_attribute(html, "x", spot.x + 8);
	wp_html_attribute(html, "y", spot.y + 16);
	wp_out_char(html->out, '>');
	wp_html_text(html, node->name, NAME_TEXT);
	wp_out_text(html->out, "</text><text font-size=\"11\"");
	wp_html_attribute(html, "x", spot.x + 8);
	wp_html_attribute(html, "y", spot.y + 31);
	wp_out_char(html->out, '>');
	if (node->calls > 0)
		wp_out_printf(html->out, "%s self, %s calls",
			      wp_html_share(share, node->self_share),
			      wp_format_count(calls, (guint64)(node->calls + 0.5)));
	else
		wp_out_text(html->out, "only calls");
	wp_out_text(html->out, "</text></g>\n");
}

static void
write_graph_table(const WpHtml *html, const WpServiceGraph *graph)
{
	wp_out_text(html->out,
		    "<details><summary>The same as a table</summary><div class=\"wide\" "
		    "tabindex=\"0\"><table "
		    "class=\"sortable\">\n<caption>Calls between nodes</caption>\n<thead><tr><th "
		    "scope=\"col\">caller</th><th scope=\"col\">called</th><th scope=\"col\">calls"
		    "</th><th scope=\"col\">errors</th><th scope=\"col\">mean</th></tr></thead>\n"
		    "<tbody>\n");
	for (guint32 i = 0; i < graph->n_edges && i < 500; i++) {
		const WpServiceEdge *edge = &graph->edges[i];
		wp_out_text(html->out, "<tr><th scope=\"row\">");
		wp_html_text(html, graph->nodes[edge->from].name, NAME_TEXT * 2);
		wp_out_text(html->out, "</th><td>");
		wp_html_text(html, graph->nodes[edge->to].name, NAME_TEXT * 2);
		wp_out_text(html->out, "</td>");
		wp_html_count_cell(html, (guint64)(edge->calls + 0.5));
		wp_html_count_cell(html, (guint64)(edge->errors + 0.5));
		wp_html_time_cell(html, edge->latency_ns > 0, edge->latency_ns);
		wp_out_text(html->out, "</tr>\n");
	}
	wp_out_text(html->out, "</tbody>\n</table></div></details>\n");
}

static void
write_picture(const WpHtml *html, const WpServiceGraph *graph)
{
	g_autofree guint32 *in_rank = g_new0(guint32, (gsize)graph->n_ranks + 1);
	g_autofree double *arrivals = g_new0(double, (gsize)graph->n_edges + 1);
	Picture picture = { graph, html, in_rank, arrivals, 1 };
	for (guint32 i = 0; i < graph->n_nodes; i++)
		in_rank[graph->nodes[i].rank]++;
	for (guint32 i = 0; i < graph->n_edges; i++)
		picture.most_calls = MAX(picture.most_calls, graph->edges[i].calls);
	set_arrivals(&picture);
	for (guint32 i = MIN(graph->n_edges, MAX_EDGES); i-- > 0;)
		write_edge(&picture, i);
	for (guint32 i = 0; i < graph->n_nodes; i++)
		write_box(&picture, &graph->nodes[i]);
	for (guint32 i = 0; i < MIN(graph->n_edges, MAX_EDGES / 2); i++)
		write_edge_label(&picture, i);
}

/* ATTRIBUTES: further ones of the element. */
static void
write_drawing(const WpHtml *html, const WpServiceGraph *graph, const char *attributes)
{
	guint width = 2 * MARGIN + graph->n_ranks * (BOX_WIDTH + GAP_X) - GAP_X;
	guint height = 2 * MARGIN + graph->widest * (BOX_HEIGHT + GAP_Y) - GAP_Y;
	for (guint32 i = 0; i < graph->n_edges; i++)
		if (graph->edges[i].is_back) {
			height += 24;
			break;
		}
	wp_out_printf(html->out,
		      "<svg %sclass=\"graph\" role=\"img\" width=\"%u\" height=\"%u\" "
		      "viewBox=\"0 0 %u %u\" font-size=\"12\" font-family=\"sans-serif\" "
		      "fill=\"currentColor\"><title>Nodes and the calls between them, from left to "
		      "right; wider lines are more calls; dashed ones go back; the bar in a box is "
		      "its share of self time</title>\n",
		      attributes, width, height, width, height);
	write_picture(html, graph);
	wp_out_text(html->out, "</svg>");
}

void
wp_svg_service_graph(const WpView *view, const WpPage *page, WpOut *out)
{
	const WpHtml html = { view, page, out, 0 };
	g_autoptr(WpServiceGraph) graph = wp_service_graph_new(view);

	write_drawing(&html, graph, "xmlns=\"http://www.w3.org/2000/svg\" ");
	wp_out_char(out, '\n');
}

void
wp_html_service_graph(const WpHtml *html)
{
	g_autoptr(WpServiceGraph) graph = wp_service_graph_new(html->view);
	if (!graph->n_edges) {
		wp_out_text(html->out,
			    "<section id=\"graph\">\n<h2>Who calls whom</h2>\n<p>There are no "
			    "calls to draw.</p>\n</section>\n");
		return;
	}
	wp_out_text(html->out, "<section id=\"graph\">\n<h2>Who calls whom</h2>\n<div "
			       "class=\"wide\" tabindex=\"0\">");
	write_drawing(html, graph, "");
	wp_out_text(html->out, "</div>\n");
	if (graph->n_hidden)
		wp_out_printf(html->out, "<p>... and %u more nodes with less self time.</p>\n",
			      graph->n_hidden);
	write_graph_table(html, graph);
	wp_out_text(html->out, "</section>\n");
}

/* --- flame graph --- */

#define FLAME_WIDTH 960
#define FRAME       18
#define MAX_DEPTH   24
#define MIN_FRAME   0.4 /* of a pixel: narrower ones are not drawn */

typedef struct {
	const WpHtml *html;
	const WpViewOperation *operation;
	double scale; /* pixels per ns */
	double *sums; /* by place: self time of it and all below, a request */
	double *at;   /* by place: where the next child begins */
} Flame;

/* Self time of each place and all below it. */
static void
sum_up(const WpViewOperation *operation, double *sums)
{
	for (guint32 i = 0; i < operation->n_places; i++)
		sums[i] = operation->places[i].self_ns;
	for (guint32 i = operation->n_places; i-- > 1;)
		sums[operation->places[i].parent] += sums[i];
}

static void
write_frame(const Flame *flame, guint32 i, double x, double width)
{
	const WpHtml *html = flame->html;
	const WpViewPlace *place = &flame->operation->places[i];
	guint color = wp_html_color(html, place->node);
	char time[WP_FORMAT_MAX], self[WP_FORMAT_MAX];
	double all = (double)flame->operation->count;
	g_autofree char *name = g_strdup_printf("%s %s", place->node,
						*place->label ? place->label : place->protocol);
	wp_out_printf(html->out,
		      "<g class=\"frame\" data-d=\"%u\"><rect class=\"c%u\" fill=\"%s\" "
		      "fill-opacity=\"0.75\"",
		      place->depth, color, wp_html_rgb(color));
	wp_html_box(html, x, place->depth * FRAME, MAX(width - 0.5, 0.3), FRAME - 1);
	wp_out_text(html->out, "/><title>");
	wp_html_text(html, name, 100);
	wp_out_printf(html->out, ": %s in it and below, %s of its own</title>",
		      wp_format_time(time, flame->sums[i] * all),
		      wp_format_time(self, place->self_ns * all));
	if (width > 34) {
		wp_out_printf(html->out, "<text y=\"%u\"", place->depth * FRAME + 13);
		wp_html_attribute(html, "x", x + 3);
		wp_out_char(html->out, '>');
		wp_html_text(html, name, (gsize)(width / 6.6));
		wp_out_text(html->out, "</text>");
	}
	wp_out_text(html->out, "</g>\n");
}

/* Returns the width that OPERATION takes. */
static double
write_flame_of(const WpHtml *html, const WpViewOperation *operation, double left, double scale)
{
	g_autofree double *sums = g_new0(double, (gsize)operation->n_places + 1);
	g_autofree double *at = g_new0(double, (gsize)operation->n_places + 1);
	sum_up(operation, sums);
	const Flame flame = { html, operation, scale, sums, at };
	double all = (double)operation->count;
	for (guint32 i = 0; i < operation->n_places; i++) {
		const WpViewPlace *place = &operation->places[i];
		double width = sums[i] * all * scale;
		double x = i ? at[place->parent] : left;
		if (i)
			at[place->parent] += width;
		at[i] = x;
		if (width >= MIN_FRAME && place->depth < MAX_DEPTH)
			write_frame(&flame, i, x, width);
	}
	return operation->n_places ? sums[0] * all * scale : 0;
}

void
wp_html_flame(const WpHtml *html)
{
	const WpView *view = html->view;
	double all = 0, x = 0;
	guint32 depth = 0;
	for (guint32 i = 0; i < view->n_totals; i++)
		all += view->totals[i].self_ns;
	for (guint32 i = 0; i < view->n_operations; i++)
		for (guint32 k = 0; k < view->operations[i].n_places; k++)
			depth = MAX(depth, MIN(view->operations[i].places[k].depth + 1, MAX_DEPTH));
	if (all <= 0) {
		wp_out_text(html->out,
			    "<section id=\"flame\">\n<h2>Flame graph</h2>\n<p>There is no time "
			    "to draw.</p>\n</section>\n");
		return;
	}
	wp_out_printf(
		html->out,
		"<section id=\"flame\">\n<h2>Flame graph</h2>\n<p>Width is self time, summed over "
		"all requests: what the work costs. Calls at the same time count each, so a "
		"wide frame may not be what a request waits for.</p>\n<div class=\"wide\" "
		"tabindex=\"0\"><svg "
		"class=\"flame\" role=\"img\" width=\"%d\" height=\"%u\" viewBox=\"0 0 %d %u\" "
		"font-size=\"11\" font-family=\"sans-serif\" fill=\"currentColor\"><title>Self "
		"time by path: a frame is a call, the frames below it the calls that it makes"
		"</title>\n",
		FLAME_WIDTH, depth * FRAME, FLAME_WIDTH, depth * FRAME);
	for (guint32 i = 0; i < view->n_operations; i++)
		if (!view->operations[i].is_background)
			x += write_flame_of(html, &view->operations[i], x, FLAME_WIDTH / all);
	wp_out_text(html->out, "</svg></div>\n</section>\n");
}
