/*
 * One request, for people: what it was, what made it slow or fast, its calls as a tree in time beside the medians
 * of its pattern, and where to find it on the wire.
 */
#include "report/write-explain.h"

#include <stdlib.h>
#include <string.h>

#include "report/escape.h"
#include "report/format.h"
#include "report/table.h"
#include "report/words.h"
#include "report/write-text.h"

/* Columns of a node's name. */
#define MAX_NAME 24

/* Calls named as those that took the time, and the share of the difference from which one is. */
#define MAX_CAUSES 3
#define MIN_CAUSE  0.1

/* Connecting is told where it took as much of the request. */
#define MIN_CONNECTING 0.001

/* Longer filters do not fit into what one pastes them into. */
#define MAX_FILTER 8000

static const char *const text_suffixes[] = { "txt", "text", NULL };
static const char *const json_suffixes[] = { "json", NULL };

const WpForm wp_explain_forms[] = {
	{ "text", text_suffixes },
	{ "json", json_suffixes },
	{ NULL, NULL },
};

typedef struct {
	const WpView *view;
	const WpViewRequest *request;
	const WpPage *page;
	WpOut *out;
	gboolean has_connect; /* a call spent self time on connections: a column says how much */
} Text;

static char *
safe(const Text *text, const char *name)
{
	return wp_escape_terminal(name, text->page->style.utf8);
}

/* Whether the pattern has other requests to compare with. */
static gboolean
has_median(const WpViewRequest *request)
{
	return request->pattern->count > 1;
}

static double
excess_of(const WpViewCall *call)
{
	return call->has_end && call->node ? call->self_ns - call->node->self.p50_ns : 0;
}

/* --- above the plan --- */

static void
write_title(const Text *text)
{
	const WpViewRequest *request = text->request;
	const WpViewCall *root = &request->calls[0];
	const WpStyle *style = &text->page->style;
	char date[WP_FORMAT_MAX], time[WP_FORMAT_MAX], after[WP_FORMAT_MAX];
	g_autofree char *id = safe(text, root->id);
	g_autofree char *client = safe(text, root->caller);
	g_autofree char *node = safe(text, root->callee);
	g_autofree char *label = safe(text, *root->label ? root->label : root->protocol);
	g_autofree char *title =
		g_strdup_printf("Call %s  %s  %s %s %s", *id ? id : "without id", label, client,
				style->utf8 ? "\342\206\222" : "->", node);
	g_autofree char *line = wp_escape_shorten(title, style->width);
	wp_out_printf(text->out, "%s%s%s\n", wp_style_bold(style), line, wp_style_off(style));
	wp_format_time(time, request->latency_ns);
	wp_format_time(after, (double)(request->begin_ns - text->view->begin_ns));
	wp_out_printf(text->out, "  %s, %s%s%s  began %s, %s after the start\n", time,
		      root->is_error ? wp_style_red(style) : "", root->status,
		      root->is_error ? wp_style_off(style) : "",
		      wp_format_date(date, request->begin_ns), after);
}

/* "Pattern #2: 151 requests, ..., and how this one stands among them." */
static void
write_standing(const Text *text)
{
	const WpViewRequest *request = text->request;
	const WpViewPattern *pattern = request->pattern;
	char count[WP_FORMAT_MAX], median[WP_FORMAT_MAX], share[WP_FORMAT_MAX], p99[WP_FORMAT_MAX];
	g_autofree char *name =
		pattern->rank ? g_strdup_printf("Pattern #%u", pattern->rank)
			      : g_strdup("Its path is uncertain, and in no pattern of the report");
	if (!has_median(request)) {
		g_autofree char *words = g_strdup_printf(
			"%s: the only request that took this path, so there is nothing to compare "
			"it with.",
			name);
		wp_text_paragraph(text->page, words, 2, text->out);
		return;
	}
	g_autofree char *words = g_strdup_printf(
		"%s: %s requests took this path, with a median of %s and a p99 of %s. This one "
		"took longer than %s of them.",
		name, wp_format_count(count, pattern->count),
		wp_format_time(median, pattern->nodes[0].latency.p50_ns),
		wp_format_time(p99, pattern->nodes[0].latency.p99_ns),
		wp_format_share(share, request->slower_than));
	wp_text_paragraph(text->page, words, 2, text->out);
}

static int
compare_excess(gconstpointer a, gconstpointer b)
{
	const WpViewCall *x = *(const WpViewCall *const *)a, *y = *(const WpViewCall *const *)b;
	double left = excess_of(x), right = excess_of(y);
	if (left != right)
		return left > right ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* "20.1 ms in db SELECT carts" */
static void
add_cause(const Text *text, const WpViewCall *call, gboolean is_first, GString *words)
{
	char time[WP_FORMAT_MAX];
	g_autofree char *node = safe(text, call->callee);
	g_autofree char *label = safe(text, call->label);
	g_autofree char *name = wp_escape_shorten(node, MAX_NAME);
	g_autofree char *shorter = wp_escape_shorten(label, 40);
	g_string_append_printf(words, "%s%s in %s%s%s", is_first ? "" : ", ",
			       wp_format_time(time, excess_of(call)), name, *label ? " " : "",
			       shorter);
}

/* Where it was slower than the median. */
static void
write_causes(const Text *text)
{
	const WpViewRequest *request = text->request;
	double median = request->pattern->nodes[0].latency.p50_ns;
	double more = request->latency_ns - median;
	char time[WP_FORMAT_MAX];
	if (!has_median(request) || more <= 0)
		return;
	g_autofree const WpViewCall **calls =
		g_new(const WpViewCall *, (gsize)request->n_calls + 1);
	for (guint32 i = 0; i < request->n_calls; i++)
		calls[i] = &request->calls[i];
	qsort(calls, request->n_calls, sizeof *calls, compare_excess);
	g_autoptr(GString) words = g_string_new(NULL);
	g_string_printf(words, "%s more than the median", wp_format_time(time, more));
	for (guint32 i = 0; i < request->n_calls && i < MAX_CAUSES; i++) {
		if (calls[i]->waits || excess_of(calls[i]) < MIN_CAUSE * more)
			break;
		g_string_append(words, i ? "" : ". Self time above the median: ");
		add_cause(text, calls[i], i == 0, words);
	}
	g_string_append_c(words, '.');
	wp_text_paragraph(text->page, words->str, 2, text->out);
}

static void
write_certainty(const Text *text)
{
	char share[WP_FORMAT_MAX];
	if (text->request->links_odds < 0 || text->request->n_calls < 2)
		return;
	g_autofree char *words = g_strdup_printf(
		"That every call below belongs to it: %s sure (inferred by %s).",
		wp_format_share(share, text->request->links_odds), text->view->links.engine);
	wp_text_paragraph(text->page, words, 2, text->out);
}

/* --- the plan --- */

static void
draw_branch(const Text *text, guint32 i, GString *out)
{
	const WpViewCall *calls = text->request->calls;
	for (guint32 at = i; at != WP_VIEW_NONE && at != 0; at = calls[at].parent)
		g_string_prepend(out, wp_text_branch(text->page->style.utf8, at == i,
						     calls[at].is_last, calls[at].is_parallel));
}

static char *
describe_call(const Text *text, guint32 i)
{
	const WpViewCall *call = &text->request->calls[i];
	GString *words = g_string_new(NULL);
	g_autofree char *name = safe(text, call->callee);
	g_autofree char *label = safe(text, *call->label ? call->label : call->protocol);
	g_autofree char *shorter = wp_escape_shorten(name, MAX_NAME);
	draw_branch(text, i, words);
	g_string_append_printf(words, "%s%s%s", shorter, *label ? "  " : "", label);
	if (call->is_error)
		g_string_append_printf(words, "  (%s)", call->status);
	if (call->is_one_way)
		g_string_append(words, "  (one-way)");
	else if (!call->has_end)
		g_string_append(words, "  (no return)");
	if (call->waits)
		g_string_append(words, "  (waits)");
	return g_string_free(words, FALSE);
}

/* The median of SELF or latency at the place of CALL; "" where there is none. */
static const char *
median_text(const WpViewRequest *request, const WpViewCall *call, gboolean is_self, char *buffer)
{
	const WpViewTimes *times = !call->node ? NULL
				   : is_self   ? &call->node->self
					       : &call->node->latency;
	return times && times->count && has_median(request) ? wp_format_time(buffer, times->p50_ns)
							    : "";
}

/* Whether a call spent self time on connections, so that a column of it says something. */
static gboolean
has_connect(const WpViewRequest *request)
{
	for (guint32 i = 0; i < request->n_calls; i++)
		if (request->calls[i].connecting_ns > 0 &&
		    request->calls[i].connecting_ns >= MIN_CONNECTING * request->latency_ns)
			return TRUE;
	return FALSE;
}

static void
add_plan_row(const Text *text, WpTable *table, guint32 i)
{
	const WpViewRequest *request = text->request;
	const WpViewCall *call = &request->calls[i];
	char buffer[WP_FORMAT_MAX];
	g_autofree char *path = describe_call(text, i);

	wp_table_row(table, call->is_hottest ? WP_TABLE_HOT : WP_TABLE_PLAIN);
	wp_table_cell(table, wp_format_time(buffer, call->start_ns));
	wp_table_cell(table, call->has_end ? wp_format_time(buffer, call->latency_ns) : "");
	if (has_median(request))
		wp_table_cell(table, median_text(request, call, FALSE, buffer));
	wp_table_cell(table, call->has_end ? wp_format_time(buffer, call->self_ns) : "");
	if (has_median(request))
		wp_table_cell(table, median_text(request, call, TRUE, buffer));
	if (text->has_connect)
		wp_table_cell(table, call->connecting_ns > 0
					     ? wp_format_time(buffer, call->connecting_ns)
					     : "");
	wp_table_cell(table,
		      call->critical_ns > 0 ? wp_format_time(buffer, call->critical_ns) : "");
	wp_table_cell(table, path);
}

static void
write_plan(const Text *text)
{
	g_autoptr(WpTable) table = wp_table_new();

	wp_table_column(table, "start", TRUE, 7);
	wp_table_column(table, "total", TRUE, 7);
	if (has_median(text->request))
		wp_table_column(table, "median", TRUE, 7);
	wp_table_column(table, "self", TRUE, 7);
	if (has_median(text->request))
		wp_table_column(table, "median", TRUE, 7);
	if (text->has_connect)
		wp_table_column(table, "connect", TRUE, 7);
	wp_table_column(table, "waited", TRUE, 7);
	wp_table_column(table, "path", FALSE, 0);
	for (guint32 i = 0; i < text->request->n_calls; i++)
		add_plan_row(text, table, i);
	wp_table_write(table, &text->page->style, 2, text->out);
	if (text->request->n_more)
		wp_out_printf(text->out, "  ... and %u more calls\n", text->request->n_more);
}

/* --- what the transport did --- */

static gboolean
has_connecting(const WpViewRequest *request, const WpViewCall *call)
{
	double ns = MAX(call->connect_ns, 0) + MAX(call->setup_ns, 0);
	return ns > 0 && ns >= MIN_CONNECTING * request->latency_ns;
}

/* "db SELECT carts" */
static char *
name_of(const Text *text, const WpViewCall *call)
{
	g_autofree char *node = safe(text, call->callee);
	g_autofree char *label = safe(text, *call->label ? call->label : call->protocol);
	g_autofree char *shorter = wp_escape_shorten(node, MAX_NAME);
	return g_strdup_printf("%s  %s", shorter, label);
}

static void
add_stall(const Text *text, WpTable *table, const WpViewCall *call)
{
	char time[WP_FORMAT_MAX];
	g_autofree char *packets = g_strdup_printf("%" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT,
						   call->stall_first, call->stall_last);
	g_autofree char *more = call->n_stalls > 1
					? g_strdup_printf(", and %u more", call->n_stalls - 1)
					: g_strdup("");
	g_autofree char *what = g_strdup_printf("%s%s", wp_words_cause(call->cause, FALSE), more);
	g_autofree char *name = name_of(text, call);

	wp_table_row(table, WP_TABLE_PLAIN);
	wp_table_cell(table, wp_format_time(time, call->stall_ns));
	wp_table_cell(table, what);
	wp_table_cell(table, call->stall_first ? packets : "");
	wp_table_cell(table, name);
}

static void
add_connecting(const Text *text, WpTable *table, const WpViewCall *call)
{
	char tcp[WP_FORMAT_MAX], rest[WP_FORMAT_MAX], time[WP_FORMAT_MAX];
	g_autofree char *name = name_of(text, call);
	g_autoptr(GString) what = g_string_new("connecting before it");

	if (call->connect_ns >= 0 && call->setup_ns >= 0)
		g_string_append_printf(what, ": TCP %s, set-up %s",
				       wp_format_time(tcp, call->connect_ns),
				       wp_format_time(rest, call->setup_ns));
	wp_table_row(table, WP_TABLE_PLAIN);
	wp_table_cell(table,
		      wp_format_time(time, MAX(call->connect_ns, 0) + MAX(call->setup_ns, 0)));
	wp_table_cell(table, what->str);
	wp_table_cell(table, "");
	wp_table_cell(table, name);
}

/* What held calls up, and what connections for them cost; nothing where nothing did. */
static void
write_transport(const Text *text)
{
	const WpViewRequest *request = text->request;
	g_autoptr(WpTable) table = wp_table_new();
	gboolean has_any = FALSE;

	wp_table_column(table, "lost", TRUE, 7);
	wp_table_column(table, "by the transport", FALSE, 0);
	wp_table_column(table, "packets", TRUE, 0);
	wp_table_column(table, "call", FALSE, 0);
	for (guint32 i = 0; i < request->n_calls; i++) {
		const WpViewCall *call = &request->calls[i];
		if (call->n_stalls)
			add_stall(text, table, call);
		if (has_connecting(request, call))
			add_connecting(text, table, call);
		has_any |= call->n_stalls || has_connecting(request, call);
	}
	if (!has_any)
		return;
	wp_out_char(text->out, '\n');
	wp_table_write(table, &text->page->style, 2, text->out);
}

/* --- on the wire --- */

static char *
end_text(const WpViewEnd *end)
{
	if (!end->port)
		return g_strdup(end->address);
	return g_strdup_printf(strchr(end->address, ':') ? "[%s]:%u" : "%s:%u", end->address,
			       end->port);
}

/* "4196" or, where there are several inputs, "0:4196" */
static char *
packet_text(const Text *text, const WpViewMessage *message)
{
	char number[WP_FORMAT_MAX];
	if (!message->packet)
		return g_strdup("");
	wp_format_uint(number, message->packet);
	return text->view->n_inputs > 1 ? g_strdup_printf("%u:%s", message->tap, number)
					: g_strdup(number);
}

typedef struct {
	gboolean has_packets;
	gboolean has_addresses;
	gboolean has_status; /* one that is not ok */
	gboolean has_odds;
} Wire;

static Wire
wire_of(const WpViewRequest *request)
{
	Wire wire = { 0 };
	for (guint32 i = 0; i < request->n_calls; i++) {
		wire.has_packets |= request->calls[i].messages[0].packet != 0;
		wire.has_addresses |= *request->calls[i].src.address != '\0';
		wire.has_status |= strcmp(request->calls[i].status, "ok") != 0;
		wire.has_odds |= request->calls[i].probability >= 0;
	}
	return wire;
}

static void
add_wire_row(const Text *text, WpTable *table, const WpViewCall *call, const Wire *wire)
{
	char buffer[WP_FORMAT_MAX];
	g_autofree char *id = safe(text, call->id);
	g_autofree char *shorter = wp_escape_shorten(id, 16);
	g_autofree char *from =
		wire->has_addresses ? end_text(&call->src) : safe(text, call->caller);
	g_autofree char *to = wire->has_addresses ? end_text(&call->dst) : safe(text, call->callee);
	g_autofree char *ends = g_strdup_printf("%s %s %s", from,
						text->page->style.utf8 ? "\342\206\222" : "->", to);
	wp_table_row(table, WP_TABLE_PLAIN);
	wp_table_cell(table, shorter);
	if (wire->has_packets) {
		g_autofree char *asked = packet_text(text, &call->messages[0]);
		g_autofree char *answered = packet_text(text, &call->messages[1]);
		wp_table_cell(table, asked);
		wp_table_cell(table, answered);
	}
	for (int i = 0; i < 2; i++)
		wp_table_cell(table, call->messages[i].has_bytes
					     ? wp_format_bytes(buffer, call->messages[i].bytes)
					     : "");
	if (wire->has_status)
		wp_table_cell(table, call->status);
	if (wire->has_odds)
		wp_table_cell(table, call->probability >= 0
					     ? wp_format_share(buffer, call->probability)
					     : "");
	wp_table_cell(table, call->evidence);
	wp_table_cell(table, ends);
}

static void
write_wire(const Text *text)
{
	g_autoptr(WpTable) table = wp_table_new();
	Wire wire = wire_of(text->request);

	wp_out_char(text->out, '\n');
	wp_table_column(table, "call", FALSE, 0);
	if (wire.has_packets) {
		wp_table_column(table, "packet", TRUE, 0);
		wp_table_column(table, "reply", TRUE, 0);
	}
	wp_table_column(table, "sent", TRUE, 0);
	wp_table_column(table, "received", TRUE, 0);
	if (wire.has_status)
		wp_table_column(table, "status", FALSE, 0);
	if (wire.has_odds)
		wp_table_column(table, "sure", TRUE, 0);
	wp_table_column(table, "because", FALSE, 0);
	wp_table_column(table, "from and to", FALSE, 0);
	for (guint32 i = 0; i < text->request->n_calls; i++)
		add_wire_row(text, table, &text->request->calls[i], &wire);
	wp_table_write(table, &text->page->style, 2, text->out);
}

static void
write_filter(const Text *text, const char *what, const char *filter)
{
	if (filter && strlen(filter) <= MAX_FILTER)
		wp_out_printf(text->out, "  %s:\n    %s\n", what, filter);
}

static void
write_filters(const Text *text)
{
	const WpView *view = text->view;
	guint n = MAX(view->n_inputs, 1);
	gboolean is_first = TRUE;
	for (guint tap = 0; tap < n; tap++) {
		g_autofree char *filter = wp_view_request_frames(text->request, tap);
		if (!filter)
			continue;
		g_autofree char *name = n > 1 ? safe(text, view->inputs[tap]) : NULL;
		g_autofree char *what =
			g_strdup_printf("Wireshark, where calls and returns begin%s%s",
					n > 1 ? ", in " : "", n > 1 ? name : "");
		if (is_first)
			wp_out_char(text->out, '\n');
		is_first = FALSE;
		write_filter(text, what, filter);
	}
	g_autofree char *flows = n == 1 ? wp_view_request_flows(text->request) : NULL;
	if (!is_first)
		write_filter(text, "all packets of these connections meanwhile", flows);
}

static void
write_request(const Text *text)
{
	write_title(text);
	write_standing(text);
	write_causes(text);
	write_certainty(text);
	wp_out_char(text->out, '\n');
	write_plan(text);
	write_transport(text);
	write_wire(text);
	write_filters(text);
}

void
wp_explain_text(const WpView *view, const GPtrArray *requests, const WpPage *page, WpOut *out)
{
	gboolean any_connect = FALSE;

	for (guint i = 0; i < requests->len; i++) {
		gboolean connects = has_connect(requests->pdata[i]);
		const Text text = { view, requests->pdata[i], page, out, connects };
		any_connect |= connects;
		if (i)
			wp_out_char(out, '\n');
		write_request(&text);
	}
	if (!requests->len) {
		wp_out_text(out, "No request is left to explain.\n");
		return;
	}
	wp_out_char(out, '\n');
	g_autofree char *legend = g_strconcat(
		"start: after the first byte. total: call to return. self: its part in which no "
		"call below is open. median: of all requests of the pattern, at this place. ",
		any_connect ? "connect: the part of self that went into connections for calls "
			      "below. "
			    : "",
		"waited: the part of the whole that was spent here, on the way that ended last. > "
		"marks the most self time above the median.",
		NULL);
	wp_text_paragraph(page, legend, 0, out);
}
