/*
 * Drawings of the HTML page that show times: one request, how latencies are spread, shares. Inline SVG with
 * its own attributes, so that it is there without styles. Bars stand in an inner drawing whose units are
 * thousandths of the whole time and which may be stretched; text stands outside of it.
 */
#include "report/write-html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/escape.h"
#include "report/format.h"
#include "report/view-curve.h"

#define UNITS 10000.0 /* inner width */

/* --- one request --- */

#define ROW       20
#define NAMES     330 /* width of the names to the left */
#define BARS      600
#define RIGHT     70 /* width of the times to the right */
#define RULER     22
#define NAME_TEXT 46 /* columns that fit there */

/* A drawing spans at most so many times the latency of the request. */
#define MAX_EXTENT 2

/* What the drawing spans: calls may go on after the reply; such that go on for long are cut. */
static double
extent_of(const WpViewRequest *request)
{
	double last = request->latency_ns;
	for (guint32 i = 0; i < request->n_calls; i++)
		last = MAX(last, request->calls[i].start_ns + request->calls[i].latency_ns);
	return MIN(last, MAX_EXTENT * request->latency_ns);
}

static double
units_of(double extent, double ns)
{
	return extent > 0 ? CLAMP(ns / extent, 0, 1) * UNITS : 0;
}

static void
write_ruler(const WpHtml *html, double extent, guint32 n)
{
	for (int i = 0; i <= 4; i++) {
		char time[WP_FORMAT_MAX];
		double x = NAMES + BARS * i / 4.0;
		wp_out_text(html->out, "<line stroke=\"#888\" stroke-opacity=\"0.35\"");
		wp_html_attribute(html, "x1", x);
		wp_html_attribute(html, "x2", x);
		wp_html_attribute(html, "y1", RULER - 4);
		wp_html_attribute(html, "y2", RULER + n * ROW);
		wp_out_text(html->out, "/><text class=\"tick\" y=\"12\" text-anchor=\"middle\"");
		wp_html_attribute(html, "x", x);
		wp_out_printf(html->out, ">%s</text>", wp_format_time(time, extent * i / 4));
	}
	wp_out_char(html->out, '\n');
}

static void
write_rect(const WpHtml *html, double x, double width, double y, double height, const char *more)
{
	wp_out_text(html->out, "<rect");
	wp_html_box(html, x, y, width, height);
	wp_out_printf(html->out, " %s/>", more);
}

/* The whole time pale, what was waited for outlined; where no call below is open, full. */
static void
write_bar(const WpHtml *html, const WpViewRequest *request, guint32 i)
{
	const WpViewCall *call = &request->calls[i];
	guint color = wp_html_color(html, call->callee);
	double y = i * ROW + 3, begin = call->start_ns, end = begin + call->latency_ns;
	double extent = extent_of(request);
	double x = units_of(extent, begin), width = units_of(extent, end) - x;
	g_autofree char *pale = g_strdup_printf(
		"class=\"c%u\" fill=\"%s\" fill-opacity=\"0.3\"%s", color, wp_html_rgb(color),
		call->critical_ns > 0 ? " stroke=\"#333\" vector-effect=\"non-scaling-stroke\""
				      : "");
	g_autofree char *full =
		g_strdup_printf("class=\"c%u\" fill=\"%s\"", color, wp_html_rgb(color));
	width = MAX(width, UNITS / 400);
	write_rect(html, MIN(x, UNITS - width), width, y, ROW - 6, pale);
	/* Children follow in order of their calls but for parallel ones, so gaps are found by the latest end. */
	double at = begin;
	for (guint32 k = i + 1; k < request->n_calls && request->calls[k].depth > call->depth;
	     k++) {
		const WpViewCall *child = &request->calls[k];
		if (child->parent != i || !child->has_end)
			continue;
		double from = MIN(MAX(child->start_ns, begin), end);
		if (from > at)
			write_rect(html, units_of(extent, at),
				   units_of(extent, from) - units_of(extent, at), y + 3, ROW - 12,
				   full);
		at = MAX(at, MIN(child->start_ns + child->latency_ns, end));
	}
	if (end > at)
		write_rect(html, units_of(extent, at), units_of(extent, end) - units_of(extent, at),
			   y + 3, ROW - 12, full);
	wp_out_char(html->out, '\n');
}

static void
write_name(const WpHtml *html, const WpViewCall *call, guint32 i)
{
	char time[WP_FORMAT_MAX];
	guint32 indent = MIN(call->depth, 12) * 12;
	g_autofree char *whole =
		g_strdup_printf("%s %s", call->callee, *call->label ? call->label : call->protocol);
	wp_out_printf(html->out, "<text x=\"%u\" y=\"%u\">", indent, RULER + i * ROW + 14);
	wp_html_text(html, whole, MAX(NAME_TEXT - indent / 7, 12));
	wp_out_printf(html->out, "</text><text class=\"time\" x=\"%d\" y=\"%u\">%s</text>\n",
		      NAMES + BARS + 6, RULER + i * ROW + 14,
		      !call->has_end ? "no return" : wp_format_time(time, call->latency_ns));
}

void
wp_html_timeline(const WpHtml *html, const WpViewRequest *request, const char *id)
{
	guint32 n = request->n_calls, height = RULER + n * ROW + 4;
	char time[WP_FORMAT_MAX];
	wp_out_printf(html->out,
		      "<div class=\"wide\" tabindex=\"0\"><svg class=\"timeline\" id=\"%s-t\" "
		      "role=\"img\" "
		      "width=\"%d\" height=\"%u\" viewBox=\"0 0 %d %u\" font-size=\"12\" "
		      "font-family=\"sans-serif\" fill=\"currentColor\" data-ns=\"",
		      id, NAMES + BARS + RIGHT, height, NAMES + BARS + RIGHT, height);
	wp_html_number(html, request->latency_ns, 0);
	wp_out_printf(
		html->out,
		"\"><title>Calls of the request over %s: pale from call to return, full where "
		"no call below is open, outlined where the request waited for it</title>\n",
		wp_format_time(time, request->latency_ns));
	write_ruler(html, extent_of(request), n);
	for (guint32 i = 0; i < n; i++)
		write_name(html, &request->calls[i], i);
	wp_out_printf(
		html->out,
		"<svg class=\"bars\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%u\" viewBox=\"0 0 "
		"%d %u\" preserveAspectRatio=\"none\">\n",
		NAMES, RULER, BARS, n * ROW, (int)UNITS, n * ROW);
	for (guint32 i = 0; i < n; i++)
		write_bar(html, request, i);
	wp_out_text(html->out, "</svg></svg></div>\n");
}

/* --- how latencies are spread --- */

#define CURVE_WIDTH  640
#define CURVE_HEIGHT 120
#define CURVE_LEFT   10
#define CURVE_BOTTOM 20

static double
curve_x(const WpViewCurve *curve, double ns)
{
	double span = log(curve->high_ns / curve->low_ns);
	double share =
		span > 0 ? log(CLAMP(ns, curve->low_ns, curve->high_ns) / curve->low_ns) / span
			 : 0.5;
	return CURVE_LEFT + share * CURVE_WIDTH;
}

static void
write_quantile(const WpHtml *html, const WpViewCurve *curve, const char *name, double ns, int row)
{
	char time[WP_FORMAT_MAX];
	double x = curve_x(curve, ns);
	gboolean is_right = x > CURVE_WIDTH * 0.8;
	wp_out_text(html->out, "<line stroke=\"#b33\" stroke-dasharray=\"3 2\"");
	wp_html_attribute(html, "x1", x);
	wp_html_attribute(html, "x2", x);
	wp_html_attribute(html, "y1", row * 13 + 2);
	wp_html_attribute(html, "y2", CURVE_HEIGHT);
	wp_out_text(html->out, "/><text");
	wp_html_attribute(html, "x", is_right ? x - 3 : x + 3);
	wp_out_printf(html->out, " y=\"%d\" text-anchor=\"%s\">%s %s</text>\n", row * 13 + 12,
		      is_right ? "end" : "start", name, wp_format_time(time, ns));
}

static void
write_bins(const WpHtml *html, const WpViewCurve *curve)
{
	guint64 most = 1, sum = 0;
	double width = (double)CURVE_WIDTH / curve->n_bins;
	for (guint32 i = 0; i < curve->n_bins; i++)
		most = MAX(most, curve->counts[i]);
	for (guint32 i = 0; i < curve->n_bins; i++) {
		double height = (CURVE_HEIGHT - 4) * (double)curve->counts[i] / (double)most;
		if (curve->counts[i])
			write_rect(html, CURVE_LEFT + i * width, width - 0.5, CURVE_HEIGHT - height,
				   height, "class=\"bin\" fill=\"#7aa6c2\"");
	}
	wp_out_text(html->out, "\n<polyline class=\"cdf\" fill=\"none\" stroke=\"#333\" "
			       "stroke-width=\"1.5\" points=\"");
	for (guint32 i = 0; i < curve->n_bins; i++) {
		sum += curve->counts[i];
		wp_html_number(html, CURVE_LEFT + (i + 1) * width, 1);
		wp_out_char(html->out, ',');
		wp_html_number(html,
			       CURVE_HEIGHT -
				       (CURVE_HEIGHT - 4) * (double)sum / (double)MAX(curve->n, 1),
			       1);
		wp_out_char(html->out, ' ');
	}
	wp_out_text(html->out, "\"/>\n");
}

void
wp_html_curve(const WpHtml *html, const WpViewPattern *pattern)
{
	const WpViewTimes *latency = &pattern->nodes[0].latency;
	const WpViewCurve curve = wp_view_curve(html->view, pattern, 0, WP_VIEW_CURVE_LATENCY);
	char low[WP_FORMAT_MAX], high[WP_FORMAT_MAX], count[WP_FORMAT_MAX];
	if (curve.n_bins < 2)
		return;
	wp_out_printf(html->out,
		      "<h4>Latency of these requests</h4>\n<div class=\"wide\" tabindex=\"0\"><svg "
		      "class=\"curve\" "
		      "role=\"img\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "
		      "font-size=\"11\" font-family=\"sans-serif\" fill=\"currentColor\">",
		      CURVE_WIDTH + 2 * CURVE_LEFT, CURVE_HEIGHT + CURVE_BOTTOM,
		      CURVE_WIDTH + 2 * CURVE_LEFT, CURVE_HEIGHT + CURVE_BOTTOM);
	wp_out_printf(html->out,
		      "<title>Histogram of %s latencies from %s to %s, logarithmic, and "
		      "the share below as a line</title>\n",
		      wp_format_count(count, curve.n), wp_format_time(low, curve.low_ns),
		      wp_format_time(high, curve.high_ns));
	write_bins(html, &curve);
	write_quantile(html, &curve, "p50", latency->p50_ns, 0);
	write_quantile(html, &curve, "p95", latency->p95_ns, 1);
	write_quantile(html, &curve, "p99", latency->p99_ns, 2);
	wp_out_printf(
		html->out,
		"<line stroke=\"currentColor\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"/><text "
		"x=\"%d\" y=\"%d\">%s</text><text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s"
		"</text><text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s requests</text>"
		"</svg></div>\n",
		CURVE_LEFT, CURVE_LEFT + CURVE_WIDTH, CURVE_HEIGHT, CURVE_HEIGHT, CURVE_LEFT,
		CURVE_HEIGHT + 14, low, CURVE_LEFT + CURVE_WIDTH, CURVE_HEIGHT + 14, high,
		CURVE_LEFT + CURVE_WIDTH / 2, CURVE_HEIGHT + 14, count);
}

/* --- where the time goes --- */

#define SHARES_WIDTH 960
#define MAX_SHARES   12

void
wp_html_shares(const WpHtml *html)
{
	const WpView *view = html->view;
	double x = 0;
	if (!view->n_totals || view->totals[0].self_ns <= 0)
		return;
	wp_out_printf(
		html->out,
		"<div class=\"wide\" tabindex=\"0\"><svg class=\"shares\" role=\"img\" "
		"width=\"%d\" "
		"height=\"44\" viewBox=\"0 0 %d 44\" font-size=\"12\" "
		"font-family=\"sans-serif\" fill=\"currentColor\"><title>Shares of self time by "
		"node; the table below has the numbers</title>\n",
		SHARES_WIDTH, SHARES_WIDTH);
	for (guint32 i = 0; i < view->n_totals && i < MAX_SHARES; i++) {
		const WpViewShare *total = &view->totals[i];
		double width = total->share * SHARES_WIDTH;
		guint color = wp_html_color(html, total->node);
		g_autofree char *more =
			g_strdup_printf("class=\"c%u\" fill=\"%s\"", color, wp_html_rgb(color));
		write_rect(html, x, MAX(width - 1, 0.5), 0, 22, more);
		if (width > 60) {
			char share[WP_FORMAT_MAX];
			wp_out_text(html->out, "<text y=\"38\"");
			wp_html_attribute(html, "x", x + 2);
			wp_out_char(html->out, '>');
			wp_html_text(html, total->node, (gsize)MAX((width - 44) / 7, 4));
			wp_out_printf(html->out, " %s</text>\n",
				      wp_html_share(share, total->share));
		}
		x += width;
	}
	wp_out_text(html->out, "</svg></div>\n");
}
