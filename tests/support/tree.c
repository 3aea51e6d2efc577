/* Trees as text: a reader by recursive descent that pushes records, and a writer of spans and links. */
#include "tests/support/tree.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define US 1000 /* ns */

typedef struct {
	const char *at;
	WpNodes *nodes;
	WpRecordSink *sink;
	GArray *parents;
	guint16 next_port;
} Reader;

/* (transfer full) Up to one of the characters that end a name. */
static char *
read_word(Reader *reader)
{
	gsize length = strcspn(reader->at, ">[](),/=#@ \n");
	char *word = g_strndup(reader->at, length);
	ck_assert_msg(length > 0, "a name is missing at \"%s\"", reader->at);
	reader->at += length;
	return word;
}

static gint64
read_time(Reader *reader)
{
	char *end;
	gint64 time = g_ascii_strtoll(reader->at, &end, 10);
	ck_assert_msg(end > reader->at, "a time is missing at \"%s\"", reader->at);
	reader->at = end;
	return time * US;
}

static gboolean
accept(Reader *reader, char c)
{
	gboolean found = *reader->at == c;
	reader->at += found;
	return found;
}

static void
expect(Reader *reader, char c)
{
	ck_assert_msg(accept(reader, c), "wanted %c at \"%s\"", c, reader->at);
}

/* The node called WORD, and its address where it has one. */
static guint32
find_node(Reader *reader, const char *word, WpEndpoint *out_endpoint)
{
	*out_endpoint = (WpEndpoint){ { 0 }, 0 };
	if (wp_endpoint_parse(word, out_endpoint))
		return wp_nodes_by_address(reader->nodes, out_endpoint->address);
	return wp_nodes_by_key(reader->nodes, word);
}

static void
push(Reader *reader, const WpRecord *record, const guint32 *tokens)
{
	ck_assert(wp_sink_record(reader->sink, record, tokens, NULL));
}

/* "=4711=+77" */
static void
read_tokens(Reader *reader, WpRecord *call, guint32 *tokens)
{
	while (accept(reader, '=')) {
		ck_assert_uint_lt(call->n_tokens, WP_RECORD_MAX_TOKENS);
		gboolean is_id = accept(reader, '+');
		guint32 value = (guint32)(read_time(reader) / US);
		tokens[call->n_tokens++] = 2 * value + (is_id ? 1 : 0);
	}
}

/* "#214" */
static guint64
read_size(Reader *reader)
{
	return accept(reader, '#') ? (guint64)(read_time(reader) / US) : WP_NO_SIZE;
}

/* (transfer full) "/GET+x"; NULL: there is none. */
static char *
read_label(Reader *reader)
{
	return accept(reader, '/') ? g_strdelimit(read_word(reader), "+", ' ') : NULL;
}

/* "web/GET[0-100](...)", called by the node at CALLER. */
static void
read_call(Reader *reader, guint32 caller, const WpEndpoint *caller_endpoint, guint64 parent)
{
	g_autofree char *word = read_word(reader);
	g_autofree char *label = read_label(reader);
	guint64 id = reader->parents->len;
	WpEndpoint endpoint, from = *caller_endpoint;
	guint32 node = find_node(reader, word, &endpoint);
	WpRecord call = { .kind = WP_KIND_CALL, .id = id, .sender = caller, .receiver = node };

	g_array_append_val(reader->parents, parent);
	call.label = label ? wp_strings_intern(wp_nodes_strings(reader->nodes), label, -1) : 0;
	if (wp_endpoint_is_known(&from)) {
		from.port = reader->next_port++;
		call.src = from;
	}
	call.dst = endpoint;
	guint32 tokens[WP_RECORD_MAX_TOKENS];
	read_tokens(reader, &call, tokens);
	call.bytes = read_size(reader);
	guint64 bytes_back = read_size(reader);
	call.flow = accept(reader, '@') ? (guint32)(read_time(reader) / US) : 0;
	expect(reader, '[');
	call.begin_ns = call.end_ns = read_time(reader);
	gboolean is_message = *reader->at == ']', has_return = FALSE;
	WpRecord back = call;
	if (accept(reader, '-') && *reader->at != ']') {
		has_return = TRUE;
		back.begin_ns = back.end_ns = read_time(reader);
	}
	expect(reader, ']');
	call.kind = is_message ? WP_KIND_MESSAGE : WP_KIND_CALL;
	back.kind = WP_KIND_RETURN;
	back.n_tokens = 0;
	back.bytes = bytes_back;
	back.status = accept(reader, '!') ? WP_STATUS_ERROR : WP_STATUS_OK;
	call.marks = accept(reader, '^') ? WP_MARK_SETUP : accept(reader, '~') ? WP_MARK_WAIT : 0;
	back.sender = node;
	back.receiver = caller;
	back.src = call.dst;
	back.dst = call.src;
	push(reader, &call, tokens);
	if (accept(reader, '(')) {
		do
			read_call(reader, node, &endpoint, id);
		while (accept(reader, ','));
		expect(reader, ')');
	}
	if (has_return)
		push(reader, &back, NULL);
}

static WpTrace *
read_trees(const char *text, GArray *parents)
{
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	g_autoptr(WpCounters) counters = wp_counters_new();
	WpTrace *trace = wp_trace_new(nodes);
	Reader reader = { text, nodes, wp_trace_sink(trace), parents, 40000 };
	guint64 none = 0;

	g_array_append_val(parents, none);
	ck_assert(wp_sink_begin(reader.sink, nodes, NULL));
	for (;;) {
		reader.at += strspn(reader.at, " \n\t");
		if (!*reader.at)
			break;
		g_autofree char *client = read_word(&reader);
		WpEndpoint endpoint;
		guint32 node = find_node(&reader, client, &endpoint);
		expect(&reader, '>');
		read_call(&reader, node, &endpoint, 0);
	}
	ck_assert(wp_sink_counters(reader.sink, counters, NULL));
	ck_assert(wp_sink_end(reader.sink, NULL));
	return trace;
}

WpTrace *
wp_tree_trace(const char *text)
{
	g_autoptr(GArray) parents = g_array_new(FALSE, FALSE, sizeof(guint64));
	return read_trees(text, parents);
}

WpTree *
wp_tree_new(const char *text)
{
	WpTree *tree = g_new0(WpTree, 1);
	WpResolveOptions options;

	tree->parents = g_array_new(FALSE, FALSE, sizeof(guint64));
	tree->trace = read_trees(text, tree->parents);
	wp_resolve_options_init(&options);
	options.keep_setup = TRUE;
	tree->resolved = wp_resolve(tree->trace, &options, NULL);
	ck_assert_ptr_nonnull(tree->resolved);
	return tree;
}

/* Numbers that look like chance, in 0 .. N - 1. */
static int
next(guint32 *state, int n)
{
	*state = *state * 1664525 + 1013904223;
	return (int)((guint64)(*state >> 8) * (guint64)n >> 24);
}

WpTree *
wp_tree_of_requests(int period, int n)
{
	g_autoptr(GString) text = g_string_new(NULL);
	guint32 state = 42;
	for (int i = 0; i < n; i++) {
		int begin = period * i + next(&state, period);
		int a = begin + 50 + next(&state, 100), a_end = a + 20 + next(&state, 60);
		int b = a_end + 20 + next(&state, 80), b_end = b + 20 + next(&state, 60);
		gboolean has_b = next(&state, 2);
		int end = (has_b ? b_end : a_end) + 20 + next(&state, 60);
		g_string_append_printf(text, "c>w[%d-%d](a[%d-%d]", begin, end, a, a_end);
		if (has_b)
			g_string_append_printf(text, ",b[%d-%d]", b, b_end);
		g_string_append(text, ") ");
	}
	return wp_tree_new(text->str);
}

void
wp_tree_free(WpTree *tree)
{
	if (!tree)
		return;
	wp_resolved_free(tree->resolved);
	wp_trace_free(tree->trace);
	g_array_unref(tree->parents);
	g_free(tree);
}

guint32
wp_tree_span(const WpTree *tree, guint64 id)
{
	const WpSpans *spans = wp_resolved_spans(tree->resolved);

	for (guint32 i = 0; i < spans->n; i++)
		if (spans->spans[i].id == id)
			return i;
	return WP_NO_SPAN;
}

WpLinks *
wp_tree_links(const WpTree *tree)
{
	const WpSpans *spans = wp_resolved_spans(tree->resolved);
	WpLinks *links = wp_links_new(spans->n);

	for (guint32 i = 0; i < spans->n; i++) {
		const WpSpan *span = &spans->spans[i];
		guint64 parent = g_array_index(tree->parents, guint64, span->id);
		WpLink *link = &links->links[i];
		link->parent = parent ? wp_tree_span(tree, parent) : WP_NO_SPAN;
		link->evidence = parent                        ? WP_EVIDENCE_ONLY
				 : !wp_span_is_paired(span)    ? WP_EVIDENCE_UNPAIRED
				 : span->marks & WP_MARK_SETUP ? WP_EVIDENCE_SETUP
							       : WP_EVIDENCE_ROOT;
	}
	return links;
}

static void
write_call(GString *text, const WpResolved *resolved, const WpLinks *links, guint32 number)
{
	const WpSpans *spans = wp_resolved_spans(resolved);
	const WpSpan *span = &spans->spans[number];
	WpNodes *nodes = wp_trace_nodes(wp_resolved_trace(resolved));
	const char *between = "(";

	g_string_append(text, wp_resolved_node_name(resolved, span->callee));
	if (span->label)
		g_string_append_printf(text, "/%s", wp_nodes_text(nodes, span->label));
	g_string_append_printf(text, "[%" G_GINT64_FORMAT, span->call_ns / US);
	if (wp_span_is_paired(span))
		g_string_append_printf(text, "-%" G_GINT64_FORMAT, span->return_ns / US);
	else if (span->kind == WP_KIND_CALL)
		g_string_append_c(text, '-');
	g_string_append_c(text, ']');
	for (guint32 i = 0; i < spans->n; i++)
		if (links->links[i].parent == number) {
			g_string_append(text, between);
			write_call(text, resolved, links, i);
			between = ",";
		}
	if (*between == ',')
		g_string_append_c(text, ')');
}

char *
wp_tree_text(const WpResolved *resolved, const WpLinks *links)
{
	const WpSpans *spans = wp_resolved_spans(resolved);
	GString *text = g_string_new(NULL);

	for (guint32 i = 0; i < spans->n; i++) {
		const WpSpan *span = &spans->spans[i];
		if (links->links[i].parent != WP_NO_SPAN)
			continue;
		g_string_append_printf(text, "%s%s>", text->len ? " " : "",
				       wp_resolved_node_name(resolved, span->caller));
		write_call(text, resolved, links, i);
	}
	return g_string_free(text, FALSE);
}
