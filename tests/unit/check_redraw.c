/* Redraw: requests begun at other times last as long as they would have beside each other. */
#include "infer/redraw.h"

#include "tests/support/suite.h"
#include "tests/support/tree.h"

#define US 1000

/* Requests to be begun at other times: those with paths of their own, by id. */
typedef struct {
	WpTree *tree;
	WpLinks *links;
	guint32 *root_of;
	guint32 *next;
	gint64 *pause_ns;
	gint64 *call_ns; /* shifts, and then when */
	gint64 *return_ns;
} Requests;

static void
init_requests(Requests *requests, const char *trees, const WpPace *pace)
{
	*requests = (Requests){ .tree = wp_tree_new(trees) };
	requests->links = wp_tree_links(requests->tree);
	const WpSpans *spans = wp_resolved_spans(requests->tree->resolved);
	requests->root_of = wp_links_roots(requests->links);
	requests->next = g_new(guint32, spans->n);
	requests->pause_ns = g_new(gint64, spans->n);
	requests->call_ns = g_new0(gint64, spans->n);
	requests->return_ns = g_new0(gint64, spans->n);
	for (guint32 i = 0; i < spans->n; i++) {
		requests->next[i] = WP_NO_SPAN;
		requests->pause_ns[i] = -1;
		requests->links->n_paces =
			MAX(requests->links->n_paces, spans->spans[i].callee_host + 1);
	}
	requests->links->paces = g_new0(WpPace, requests->links->n_paces);
	requests->links->paces[spans->spans[0].callee_host] = *pace;
}

static void
clear_requests(Requests *requests)
{
	wp_links_free(requests->links);
	wp_tree_free(requests->tree);
	g_free(requests->root_of);
	g_free(requests->next);
	g_free(requests->pause_ns);
	g_free(requests->call_ns);
	g_free(requests->return_ns);
}

static void
begin_later(Requests *requests, guint64 id, gint64 shift_us)
{
	guint32 root = wp_tree_span(requests->tree, id);
	requests->call_ns[root] = requests->return_ns[root] = shift_us * US;
}

/* (transfer full) "1[0-100] 2[20-30]": spans by id, in us. */
static char *
redrawn(Requests *requests)
{
	const WpSpans *spans = wp_resolved_spans(requests->tree->resolved);
	const WpRedrawPlan plan = { requests->root_of, requests->next, requests->pause_ns };
	GString *text = g_string_new(NULL);

	wp_redraw(requests->tree->resolved, requests->links, &plan, requests->call_ns,
		  requests->return_ns);
	for (guint64 id = 1; id <= spans->n; id++) {
		guint32 number = wp_tree_span(requests->tree, id);
		const WpSpan *span = &spans->spans[number];
		g_string_append_printf(text, "%s%d[%.0f", id > 1 ? " " : "", (int)id,
				       (double)(span->call_ns + requests->call_ns[number]) / US);
		if (wp_span_is_paired(span))
			g_string_append_printf(
				text, "-%.0f",
				(double)(span->return_ns + requests->return_ns[number]) / US);
		g_string_append_c(text, ']');
	}
	return g_string_free(text, FALSE);
}

static const struct {
	const char *trees;
	WpPace pace; /* of w */
	guint64 id;  /* of the request that begins later by ... */
	int shift_us;
	guint64 before, after; /* one that waits for another, 0: none */
	const char *expected;
} rows[] = {
	/* Alone or on real time a request takes what it took. */
	{ "c>w[0-100] c>w[1000-1100]",
	  { .pace = 1, .processors = 1 },
	  2,
	  -500,
	  0,
	  0,
	  "1[0-100] 2[500-600]" },
	{ "c>w[0-100] c>w[1000-1100]",
	  { .pace = 0, .processors = 1 },
	  2,
	  -1000,
	  0,
	  0,
	  "1[0-100] 2[0-100]" },
	/* Real time, but in turn. */
	{ "c>w[0-100] c>w[1000-1100]",
	  { .processors = 1, .n_takes = 1 },
	  2,
	  -1000,
	  0,
	  0,
	  "1[0-100] 2[0-200]" },
	{ "c>w[0-100] c>w[1000-1100]",
	  { .pace = 1, .processors = 2 },
	  2,
	  -1000,
	  0,
	  0,
	  "1[0-100] 2[0-100]" },
	/* Beside another on one processor twice that, or what the pace says. */
	{ "c>w[0-100] c>w[1000-1100]",
	  { .pace = 1, .processors = 1 },
	  2,
	  -1000,
	  0,
	  0,
	  "1[0-200] 2[0-200]" },
	{ "c>w[0-100] c>w[1000-1100]",
	  { .pace = 0.5, .processors = 1 },
	  2,
	  -1000,
	  0,
	  0,
	  "1[0-141] 2[0-141]" },
	{ "c>w[0-100] c>w[1000-1100]",
	  { .pace = 1, .processors = 1 },
	  2,
	  -950,
	  0,
	  0,
	  "1[0-150] 2[50-200]" },
	/* ... and the other way round: what was beside another is alone. */
	{ "c>w[0-200] c>w[0-200]",
	  { .pace = 1, .processors = 1 },
	  2,
	  1000,
	  0,
	  0,
	  "1[0-100] 2[1000-1100]" },
	/* While one waits for d the other is alone. */
	{ "c>w[0-100](d[40-60]) c>w[1000-1040]",
	  { .pace = 1, .processors = 1 },
	  3,
	  -1000,
	  0,
	  0,
	  "1[0-140] 2[80-100] 3[0-80]" },
	{ "c>w[0-100](d[40-60]) c>w[1000-1100]",
	  { .pace = 1, .processors = 1 },
	  3,
	  -1000,
	  0,
	  0,
	  "1[0-180] 2[80-100] 3[0-180]" },
	/* What was made after a return still is; what was made beside a call too. */
	{ "c>w[0-90](d[10-30],e[40-80]) c>w[1000-1020]",
	  { .pace = 1, .processors = 1 },
	  4,
	  -1000,
	  0,
	  0,
	  "1[0-100] 2[20-40] 3[50-90] 4[0-30]" },
	{ "c>w[0-90](d[10-60],e[20-80]) c>w[1000-1020]",
	  { .pace = 1, .processors = 1 },
	  4,
	  -1000,
	  0,
	  0,
	  "1[0-110] 2[20-70] 3[40-100] 4[0-40]" },
	/* After the reply, without one, one-way. */
	{ "c>w[0-50](d[80-90]) c>w[1000-1020]",
	  { .pace = 1, .processors = 1 },
	  3,
	  -1000,
	  0,
	  0,
	  "1[0-70] 2[100-110] 3[0-40]" },
	{ "c>w[0-50](d[20-]) c>w[1000-1020]",
	  { .pace = 1, .processors = 1 },
	  3,
	  -1000,
	  0,
	  0,
	  "1[0-70] 2[40] 3[0-40]" },
	{ "c>w[0](d[20]) c>w[1000-1020]",
	  { .pace = 1, .processors = 1 },
	  3,
	  -1000,
	  0,
	  0,
	  "1[0] 2[40] 3[0-40]" },
	/* Of messages a worker has one in hand, the others wait: those that were worked at later still come later. */
	{ "c>w[0](d[100]) c>w[50](d[200]) c>w[1000](d[1100])",
	  { .pace = 0, .processors = 1, .workers = 1 },
	  5,
	  -980,
	  0,
	  0,
	  "1[0] 2[100] 3[50] 4[300] 5[20] 6[200]" },
	{ "c>w[0](d[100]) c>w[10](d[60]) c>w[20](d[80]) c>w[1000](d[1030])",
	  { .pace = 0, .processors = 1, .workers = 2 },
	  7,
	  -995,
	  0,
	  0,
	  "1[0] 2[100] 3[10] 4[85] 5[20] 6[105] 7[5] 8[35]" },
	{ "c>w[0](d[100]) c>w[10](d[60]) c>w[20](d[80]) c>w[1000](d[1030])",
	  { .pace = 0, .processors = 1, .workers = 3 },
	  7,
	  -995,
	  0,
	  0,
	  "1[0] 2[100] 3[10] 4[60] 5[20] 6[95] 7[5] 8[35]" },
	/* Who waits for a reply before asking again asks later. */
	{ "c>w[0-100] c>w[150-250] c>w[1000-1100]",
	  { .pace = 1, .processors = 1 },
	  3,
	  -1000,
	  1,
	  2,
	  "1[0-200] 2[250-350] 3[0-200]" },
};

START_TEST(beside_others)
{
	Requests requests;
	init_requests(&requests, rows[_i].trees, &rows[_i].pace);
	begin_later(&requests, rows[_i].id, rows[_i].shift_us);
	if (rows[_i].before) {
		guint32 before = wp_tree_span(requests.tree, rows[_i].before);
		guint32 after = wp_tree_span(requests.tree, rows[_i].after);
		requests.next[before] = after;
		requests.pause_ns[after] = 50 * US;
	}
	g_autofree char *text = redrawn(&requests);
	ck_assert_str_eq(text, rows[_i].expected);
	clear_requests(&requests);
}
END_TEST

/* Numbers that look like chance, in 0 .. N - 1. */
static int
next(guint32 *state, int n)
{
	*state = *state * 1664525 + 1013904223;
	return (int)((guint64)(*state >> 8) * (guint64)n >> 24);
}

/* An event loop: one piece after the other, in order of when they could begin. */
typedef struct {
	int begin, ready, call, back, end;
} Request;

static guint
next_piece(const Request *requests, guint n)
{
	guint best = n;
	for (guint i = 0; i < n; i++)
		if (!requests[i].end && (best == n || requests[i].ready < requests[best].ready))
			best = i;
	return best;
}

static guint
n_ready(const Request *requests, guint n, int ready)
{
	guint n_same = 0;
	for (guint i = 0; i < n; i++)
		n_same += requests[i].ready == ready;
	return n_same;
}

/* (transfer full) 400 requests with a call to d, then two alone, of 100 us each, 1,000 us apart from OUT_LAST_US on. */
static char *
make_loop(int *out_last_us)
{
	Request requests[400] = { 0 };
	guint n = G_N_ELEMENTS(requests), i;
	guint32 state = 7;
	int now = 0;
	GString *text = g_string_new(NULL);

	for (i = 0; i < n; i++)
		requests[i].begin = requests[i].ready =
			(i ? requests[i - 1].begin : 0) + 50 + next(&state, 100);
	while ((i = next_piece(requests, n)) < n) {
		Request *request = &requests[i];
		now = MAX(now, request->ready) + 20 + next(&state, 50);
		if (request->call) {
			request->end = now;
			continue;
		}
		request->call = now;
		request->ready = now + 50 + next(&state, 200);
		while (n_ready(requests, n, request->ready) > 1)
			request->ready++; /* of two at one time either may be the first */
		request->back = request->ready;
	}
	for (i = 0; i < n; i++)
		g_string_append_printf(text, "c>w[%d-%d](d[%d-%d]) ", requests[i].begin,
				       requests[i].end, requests[i].call, requests[i].back);
	*out_last_us = now + 1000;
	g_string_append_printf(text, "c>w[%d-%d] c>w[%d-%d]", *out_last_us, *out_last_us + 100,
			       *out_last_us + 1000, *out_last_us + 1100);
	return g_string_free(text, FALSE);
}

/* What begins when it began ends when it ended, by whatever clock. */
START_TEST(nothing_moved)
{
	static const WpPace paces[] = { { .pace = 1, .processors = 1 },
					{ .pace = 0.5, .processors = 1 },
					{ .pace = 1, .processors = 4 },
					{ .pace = 0, .processors = 1 } };
	int last_us;
	g_autofree char *trees = make_loop(&last_us);
	for (gsize k = 0; k < G_N_ELEMENTS(paces); k++) {
		Requests requests;
		init_requests(&requests, trees, &paces[k]);
		g_free(redrawn(&requests));
		for (guint32 i = 0; i < requests.links->n; i++) {
			ck_assert_int_le(ABS(requests.call_ns[i]), 50); /* ns, of rounding */
			ck_assert_int_le(ABS(requests.return_ns[i]), 50);
		}
		clear_requests(&requests);
	}
}
END_TEST

/* A host that works in order has one wait for the other, and does not take turns. */
START_TEST(in_order)
{
	const WpPace pace = { .pace = 1, .processors = 1 };
	int last_us;
	g_autofree char *trees = make_loop(&last_us);
	Requests requests;
	init_requests(&requests, trees, &pace);
	guint32 n = requests.links->n;
	begin_later(&requests, n, -1000);
	g_autofree char *text = redrawn(&requests);
	g_autofree char *expected = g_strdup_printf("%d[%d-%d] %d[%d-%d]", (int)n - 1, last_us,
						    last_us + 100, (int)n, last_us, last_us + 200);
	ck_assert_msg(g_str_has_suffix(text, expected), "%s", text);
	clear_requests(&requests);
}
END_TEST

WP_SUITE_OF_ROWS("redraw", { beside_others, G_N_ELEMENTS(rows) }, { nothing_moved, 0 },
		 { in_order, 0 })
