/*
 * The section "Over time" of the HTML page: of each operation its mean latency, and how many requests a second came,
 * from the begin of the capture to its end. Points are the blocks of requests of the digest: of equal number, so that
 * they lie closer together where more came.
 */
#include "report/digest.h"
#include "report/format.h"
#include "report/words.h"
#include "report/write-html.h"

#include <string.h>

#define MAX_OPERATIONS 8
#define WIDTH          640
#define HEIGHT         70
#define LEFT           70 /* for the numbers of the scale */
#define TOP            14
#define BOTTOM         18
#define N_RATES        64 /* stretches of equal length for which requests are counted */
#define MIN_BLOCKS     4  /* fewer are no course */
#define NAME_WIDTH     100

typedef struct {
	const WpHtml *html;
	const WpDigestOperation *operation;
	double first_ns;       /* after the begin of the capture: what times of blocks are after */
	double last_ns;        /* likewise: the last record */
	double length_ns;      /* of the capture */
	double most_ns;        /* greatest mean of a block */
	double most_rate;      /* of rates */
	double rates[N_RATES]; /* requests a second */
	guint slowest;         /* block */
} Course;

static const WpDigestBlock *
block_at(const Course *course, guint i)
{
	return &g_array_index(course->operation->blocks, WpDigestBlock, i);
}

static double
mean_of(const WpDigestBlock *block)
{
	return (double)block->latency_ns / (double)MAX(block->requests, 1);
}

/* After the begin of the capture. */
static double
begin_of(const Course *course, guint i)
{
	return course->first_ns + (double)block_at(course, i)->begin_ns;
}

/* Block I lasts until the next one begins, the last one until the last record. */
static double
end_of(const Course *course, guint i)
{
	return i + 1 < course->operation->blocks->len ? begin_of(course, i + 1) : course->last_ns;
}

/* The requests of block I, evenly over its time. */
static void
count_rates(Course *course, guint i)
{
	double width = course->length_ns / N_RATES, begin = begin_of(course, i);
	double end = MAX(end_of(course, i), begin + 1);
	guint first = (guint)CLAMP(begin / width, 0, N_RATES - 1);

	for (guint k = first; k < N_RATES && k * width < end; k++) {
		double shared = MIN(end, (k + 1) * width) - MAX(begin, k * width);
		course->rates[k] += MAX(shared, 0) / (end - begin) *
				    (double)block_at(course, i)->requests / width * 1e9;
	}
}

/* FALSE: nothing to draw. */
static gboolean
course_init(Course *course, const WpHtml *html, const WpDigestOperation *operation)
{
	const WpView *view = html->view;
	*course = (Course){ .html = html,
			    .operation = operation,
			    .first_ns = (double)(view->first_ns - view->begin_ns),
			    .length_ns = (double)(view->end_ns - view->begin_ns) };
	course->last_ns = course->first_ns + (double)view->digest->facts.length_ns;
	if (operation->blocks->len < MIN_BLOCKS || !(course->length_ns > 0))
		return FALSE;
	for (guint i = 0; i < operation->blocks->len; i++) {
		double mean_ns = mean_of(block_at(course, i));
		if (mean_ns > course->most_ns) {
			course->most_ns = mean_ns;
			course->slowest = i;
		}
		count_rates(course, i);
	}
	for (guint k = 0; k < N_RATES; k++)
		course->most_rate = MAX(course->most_rate, course->rates[k]);
	return course->most_ns > 0;
}

static double
x_of(const Course *course, double ns)
{
	return LEFT + WIDTH * CLAMP(ns / course->length_ns, 0, 1);
}

static double
y_of(double value, double most)
{
	return TOP + HEIGHT * (1 - (most > 0 ? CLAMP(value / most, 0, 1) : 0));
}

static void
write_rates(const Course *course)
{
	const WpHtml *html = course->html;
	double width = (double)WIDTH / N_RATES;
	for (guint k = 0; k < N_RATES; k++) {
		double y = y_of(course->rates[k], course->most_rate);
		if (course->rates[k] <= 0)
			continue;
		wp_out_text(html->out,
			    "<rect class=\"bin\" fill=\"#7aa6c2\" fill-opacity=\"0.35\"");
		wp_html_box(html, LEFT + k * width, y, width, TOP + HEIGHT - y);
		wp_out_text(html->out, "/>");
	}
	wp_out_char(html->out, '\n');
}

static void
write_errors(const Course *course)
{
	const WpHtml *html = course->html;
	for (guint i = 0; i < course->operation->blocks->len; i++) {
		double x = x_of(course, begin_of(course, i));
		if (!block_at(course, i)->errors)
			continue;
		wp_out_text(html->out, "<rect class=\"bad\" fill=\"#b3261e\"");
		wp_html_box(html, x, TOP + HEIGHT + 1, MAX(x_of(course, end_of(course, i)) - x, 1),
			    3);
		wp_out_text(html->out, "/>\n");
	}
}

/* Steps: what is drawn between two points was not measured. */
static void
write_latency(const Course *course)
{
	const WpHtml *html = course->html;
	wp_out_text(html->out, "<polyline class=\"cdf\" fill=\"none\" stroke=\"#333\" "
			       "stroke-width=\"1.5\" points=\"");
	for (guint i = 0; i < course->operation->blocks->len; i++) {
		const double ends[] = { begin_of(course, i), end_of(course, i) };
		for (guint k = 0; k < 2; k++) {
			wp_html_number(html, x_of(course, ends[k]), 1);
			wp_out_char(html->out, ',');
			wp_html_number(html, y_of(mean_of(block_at(course, i)), course->most_ns),
				       1);
			wp_out_char(html->out, ' ');
		}
	}
	wp_out_text(html->out, "\"/>\n");
}

static void
write_scale(const Course *course)
{
	const WpHtml *html = course->html;
	char most[WP_FORMAT_MAX];
	wp_out_printf(html->out,
		      "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text><text x=\"%d\" "
		      "y=\"%d\" text-anchor=\"end\">0</text>\n",
		      LEFT - 4, TOP + 8, wp_format_time(most, course->most_ns), LEFT - 4,
		      TOP + HEIGHT);
	for (int i = 0; i <= 4; i++) {
		char time[WP_FORMAT_MAX];
		wp_out_printf(html->out,
			      "<text class=\"tick\" x=\"%d\" y=\"%d\" text-anchor=\"%s\">%s%s"
			      "</text>\n",
			      LEFT + WIDTH * i / 4, TOP + HEIGHT + BOTTOM - 2,
			      i == 0   ? "start"
			      : i == 4 ? "end"
				       : "middle",
			      i ? "+" : "",
			      i ? wp_format_time(time, course->length_ns * i / 4) : "0");
	}
}

/* What was asked, BETWEEN, who asked whom. */
static void
write_name(const Course *course, const char *between)
{
	const WpDigest *digest = course->html->view->digest;
	const WpDigestOperation *operation = course->operation;
	const char *client = g_array_index(digest->nodes, WpDigestNode, operation->client).name;
	const char *node = g_array_index(digest->nodes, WpDigestNode, operation->node).name;
	wp_html_text(course->html, *operation->label ? operation->label : operation->protocol,
		     NAME_WIDTH);
	wp_out_text(course->html->out, between);
	wp_html_text(course->html, client, NAME_WIDTH);
	wp_out_text(course->html->out, " \342\206\222 ");
	wp_html_text(course->html, node, NAME_WIDTH);
}

static void
write_course(const Course *course)
{
	const WpHtml *html = course->html;
	const WpDigestBlock *slowest = block_at(course, course->slowest);
	char most[WP_FORMAT_MAX], at[WP_FORMAT_MAX], rate[WP_FORMAT_MAX];
	g_autofree char *requests = wp_words_count(slowest->requests, "request");
	wp_out_text(html->out, "<h3>");
	write_name(course, " <span class=\"who\">");
	wp_out_printf(
		html->out,
		"</span></h3>\n<p class=\"sum\">Slowest: mean %s, %s from +%s on. At most %s "
		"requests a "
		"second.</p>\n<div class=\"wide\" tabindex=\"0\"><svg class=\"curve\" role=\"img\" "
		"width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" font-size=\"11\" "
		"font-family=\"sans-serif\" fill=\"currentColor\"><title>",
		wp_format_time(most, course->most_ns), requests,
		wp_format_time(at, begin_of(course, course->slowest)),
		wp_format_number(rate, course->most_rate), LEFT + WIDTH + 10, TOP + HEIGHT + BOTTOM,
		LEFT + WIDTH + 10, TOP + HEIGHT + BOTTOM);
	/* Names of drawings are names of landmarks: no two are the same. */
	write_name(course, ", ");
	wp_out_text(html->out, ": mean latency over time as a line, requests a second as areas, "
			       "errors as marks below</title>\n");
	write_rates(course);
	write_errors(course);
	write_latency(course);
	write_scale(course);
	wp_out_text(html->out, "</svg></div>\n");
}

/* (transfer none) What the digest has of OPERATION; NULL: it has none. */
static const WpDigestOperation *
find_operation(const WpDigest *digest, const WpViewOperation *operation)
{
	for (guint i = 0; i < digest->operations->len; i++) {
		const WpDigestOperation *own = digest->operations->pdata[i];
		const WpDigestNode *nodes = (const WpDigestNode *)(void *)digest->nodes->data;
		if (strcmp(own->label, operation->label) == 0 &&
		    strcmp(nodes[own->node].name, operation->node) == 0 &&
		    strcmp(nodes[own->client].name, operation->client) == 0)
			return own;
	}
	return NULL;
}

void
wp_html_course(const WpHtml *html)
{
	const WpView *view = html->view;
	guint32 n = 0;
	if (!view->digest)
		return;
	wp_out_text(
		html->out,
		"<section id=\"course\">\n<h2>Over time</h2>\n<p>The line is the mean latency of "
		"requests that follow one another, the areas say how many came a second, marks "
		"below where some failed.</p>\n");
	for (guint32 i = 0; i < view->n_operations && n < MAX_OPERATIONS; i++) {
		const WpDigestOperation *operation =
			view->operations[i].is_background
				? NULL
				: find_operation(view->digest, &view->operations[i]);
		Course course;
		if (!operation || !course_init(&course, html, operation))
			continue;
		write_course(&course);
		n++;
	}
	if (n == 0)
		wp_out_text(html->out, "<p>Too few requests.</p>\n");
	wp_out_text(html->out, "</section>\n");
}
