/*
 * Recursive descent into an array of nodes; evaluated from the root. Depth is bounded, so that a text
 * of a million parentheses is an error and not a stack overflow.
 */
#include "config.h"

#include "report/where.h"

#include <string.h>

#include "capture/record.h"
#include "report/error.h"
#include "report/format.h"
#include "report/glob.h"
#include "report/options.h"

/* Nobody writes deeper, or more, by hand; both bound the recursion. */
#define MAX_DEPTH 64
#define MAX_NODES 2000

typedef enum {
	KIND_TEXT,
	KIND_STATUS, /* text of a known set */
	KIND_NUMBER,
	KIND_DURATION,
	KIND_BYTES,
	KIND_FLAG
} FieldKind;

/* A field: where its values lie in a WpWhereCall. Text may have up to four, any of which may fit. */
typedef struct {
	const char *name;
	FieldKind kind;
	gboolean needs_return;
	const char *help;
	gsize offsets[4]; /* 0-ended after the first */
	gboolean (*number)(const WpWhereCall *call, gint64 *out_value);
} Field;

static gboolean
get_port(const WpWhereCall *call, gint64 *out_value)
{
	*out_value = call->dst_port;
	return call->dst_port != 0;
}

static gboolean
get_latency(const WpWhereCall *call, gint64 *out_value)
{
	*out_value = call->latency_ns;
	return call->latency_ns != WP_NO_TIME;
}

static gboolean
get_bytes_call(const WpWhereCall *call, gint64 *out_value)
{
	*out_value = (gint64)MIN(call->bytes_call, G_MAXINT64);
	return call->bytes_call != WP_NO_SIZE;
}

static gboolean
get_bytes_return(const WpWhereCall *call, gint64 *out_value)
{
	*out_value = (gint64)MIN(call->bytes_return, G_MAXINT64);
	return call->bytes_return != WP_NO_SIZE;
}

/* Both directions together, as far as known. */
static gboolean
get_bytes(const WpWhereCall *call, gint64 *out_value)
{
	gint64 there, back;
	if (!get_bytes_call(call, &there))
		return FALSE;
	if (!get_bytes_return(call, &back))
		back = 0;
	*out_value = there > G_MAXINT64 - back ? G_MAXINT64 : there + back;
	return TRUE;
}

static gboolean
get_setup(const WpWhereCall *call, gint64 *out_value)
{
	*out_value = call->is_setup;
	return TRUE;
}

static gboolean
get_wait(const WpWhereCall *call, gint64 *out_value)
{
	*out_value = call->waits;
	return TRUE;
}

static gboolean
get_one_way(const WpWhereCall *call, gint64 *out_value)
{
	*out_value = call->is_one_way;
	return TRUE;
}

#define AT(member) offsetof(WpWhereCall, member)

static const Field fields[] = {
	{ .name = "src",
	  .kind = KIND_TEXT,
	  .help = "node that calls, by name or address",
	  .offsets = { AT(src), AT(src_address) } },
	{ .name = "dst",
	  .kind = KIND_TEXT,
	  .help = "node that is called",
	  .offsets = { AT(dst), AT(dst_address) } },
	{ .name = "node",
	  .kind = KIND_TEXT,
	  .help = "either of the two",
	  .offsets = { AT(src), AT(src_address), AT(dst), AT(dst_address) } },
	{ .name = "label",
	  .kind = KIND_TEXT,
	  .help = "operation: \"GET /item/{}\"",
	  .offsets = { AT(label) } },
	{ .name = "protocol",
	  .kind = KIND_TEXT,
	  .help = "http, pgsql, ...",
	  .offsets = { AT(protocol) } },
	{ .name = "status",
	  .kind = KIND_STATUS,
	  .needs_return = TRUE,
	  .help = "ok, error, reset, timeout or unknown",
	  .offsets = { AT(status) } },
	{ .name = "port",
	  .kind = KIND_NUMBER,
	  .help = "port of the node that is called",
	  .number = get_port },
	{ .name = "latency",
	  .kind = KIND_DURATION,
	  .needs_return = TRUE,
	  .help = "call to return: 250us, 5ms, 1.5s",
	  .number = get_latency },
	{ .name = "bytes",
	  .kind = KIND_BYTES,
	  .needs_return = TRUE,
	  .help = "of call and return: 512, 64k, 1M",
	  .number = get_bytes },
	{ .name = "bytes.call",
	  .kind = KIND_BYTES,
	  .needs_return = TRUE,
	  .help = "of the call alone",
	  .number = get_bytes_call },
	{ .name = "bytes.return",
	  .kind = KIND_BYTES,
	  .needs_return = TRUE,
	  .help = "of the return alone",
	  .number = get_bytes_return },
	{ .name = "setup",
	  .kind = KIND_FLAG,
	  .help = "greeting, login, handshake",
	  .number = get_setup },
	{ .name = "wait",
	  .kind = KIND_FLAG,
	  .needs_return = TRUE,
	  .help = "waits by design",
	  .number = get_wait },
	{ .name = "oneway",
	  .kind = KIND_FLAG,
	  .help = "a message that expects no return",
	  .number = get_one_way },
};

typedef enum {
	OP_EQ,
	OP_NE,
	OP_GLOB,
	OP_NOT_GLOB,
	OP_LE,
	OP_GE,
	OP_LT,
	OP_GT,
	N_OPS
} Op;

/* The longer of two with the same beginning first. */
static const char *const op_texts[N_OPS] = { "==", "!=", "~", "!~", "<=", ">=", "<", ">" };

typedef enum {
	NODE_OR,
	NODE_AND,
	NODE_NOT,
	NODE_TEST
} NodeKind;

typedef struct {
	NodeKind kind;
	guint left; /* index of a node */
	guint right;
	const Field *field;
	Op op;
	char *text;
	gint64 number;
} Node;

struct WpWhere {
	GArray *nodes; /* Node */
	guint root;
};

typedef struct {
	const char *text;
	const char *at;
	guint depth;
	WpWhere *where;
	GError **error;
} Parser;

static void
clear_node(gpointer data)
{
	Node *node = data;
	g_free(node->text);
}

void
wp_where_free(WpWhere *where)
{
	if (!where)
		return;
	g_array_unref(where->nodes);
	g_free(where);
}

#define FAILED G_MAXUINT

static guint
fail(Parser *parser, const char *what)
{
	if (*parser->at)
		g_set_error(parser->error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			    "--where: %s at \"%s\"\n--list-fields lists fields and operators", what,
			    parser->at);
	else
		g_set_error(parser->error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			    "--where: %s at its end\n--list-fields lists fields and operators",
			    what);
	return FAILED;
}

static void
skip_blanks(Parser *parser)
{
	while (g_ascii_isspace(*parser->at))
		parser->at++;
}

static gboolean
accept(Parser *parser, const char *token)
{
	skip_blanks(parser);
	if (!g_str_has_prefix(parser->at, token))
		return FALSE;
	parser->at += strlen(token);
	return TRUE;
}

static guint
add_node(Parser *parser, Node node)
{
	g_array_append_val(parser->where->nodes, node);
	return parser->where->nodes->len - 1;
}

/* The field at the parser, or NULL; it moves past it. */
static const Field *
take_field(Parser *parser)
{
	skip_blanks(parser);
	gsize length = strspn(parser->at, "abcdefghijklmnopqrstuvwxyz.");
	for (gsize i = 0; i < G_N_ELEMENTS(fields); i++)
		if (strlen(fields[i].name) == length &&
		    strncmp(fields[i].name, parser->at, length) == 0) {
			parser->at += length;
			return &fields[i];
		}
	return NULL;
}

static gboolean
take_op(Parser *parser, Op *out_op)
{
	for (int i = 0; i < N_OPS; i++)
		if (accept(parser, op_texts[i])) {
			*out_op = (Op)i;
			return TRUE;
		}
	return FALSE;
}

/* (transfer full) "text" or a word; NULL where there is none. */
static char *
take_value(Parser *parser)
{
	skip_blanks(parser);
	GString *value = g_string_new(NULL);
	const char *p = parser->at;
	gboolean complete;
	if (*p == '"') {
		for (p++; *p && *p != '"'; p++) {
			if (*p == '\\' && (p[1] == '"' || p[1] == '\\'))
				p++;
			g_string_append_c(value, *p);
		}
		complete = *p == '"';
		p += complete;
	} else {
		while (*p && !g_ascii_isspace(*p) && !strchr("()&|\"", *p))
			g_string_append_c(value, *p++);
		complete = value->len > 0;
	}
	if (complete)
		parser->at = p;
	return g_string_free(value, !complete);
}

static gboolean
is_glob(const Node *node)
{
	return node->op == OP_GLOB || node->op == OP_NOT_GLOB;
}

static gboolean
set_text(Node *node, const char *value)
{
	node->text = g_strdup(value);
	return node->op <= OP_NOT_GLOB;
}

static gboolean
set_status(Node *node, const char *value)
{
	WpStatus status;
	return set_text(node, value) && (is_glob(node) || wp_status_from_name(value, &status));
}

static gboolean
set_number(Node *node, const char *value)
{
	return wp_parse_int(value, &node->number);
}

static gboolean
set_duration(Node *node, const char *value)
{
	return wp_parse_duration(value, &node->number);
}

static gboolean
set_bytes(Node *node, const char *value)
{
	guint64 bytes;
	if (!wp_parse_bytes(value, &bytes) || bytes > G_MAXINT64)
		return FALSE;
	node->number = (gint64)bytes;
	return TRUE;
}

static const struct {
	gboolean (*set)(Node *node, const char *value);
	gboolean is_text;
	const char *expected;
} kinds[] = {
	[KIND_TEXT] = { set_text, TRUE, "a text with == != ~ or !~ is expected" },
	[KIND_STATUS] = { set_status, TRUE, "ok, error, reset, timeout or unknown is expected" },
	[KIND_NUMBER] = { set_number, FALSE, "a number is expected" },
	[KIND_DURATION] = { set_duration, FALSE,
			    "a time with its unit (250us, 5ms, 5s) is expected" },
	[KIND_BYTES] = { set_bytes, FALSE, "a size such as 512 or 64k is expected" },
};

static guint
unknown_field(Parser *parser)
{
	const char *names[G_N_ELEMENTS(fields) + 1] = { NULL };
	for (gsize i = 0; i < G_N_ELEMENTS(fields); i++)
		names[i] = fields[i].name;
	gsize length = strspn(parser->at, "abcdefghijklmnopqrstuvwxyz.");
	g_autofree char *word = g_strndup(parser->at, length);
	const char *nearest = length ? wp_nearest_name(word, names) : NULL;
	if (!nearest)
		return fail(parser, "a field is expected");
	g_set_error(parser->error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
		    "--where: a field is expected at \"%s\"\ndid you mean %s?", parser->at,
		    nearest);
	return FAILED;
}

static guint
parse_test(Parser *parser)
{
	Node node = { .kind = NODE_TEST, .field = take_field(parser) };
	if (parser->where->nodes->len >= MAX_NODES)
		return fail(parser, "it is too long");
	if (!node.field)
		return unknown_field(parser);
	if (node.field->kind == KIND_FLAG)
		return add_node(parser, node);
	skip_blanks(parser);
	const char *before = parser->at;
	if (!take_op(parser, &node.op))
		return fail(parser, before[0] == '=' ? "= means nothing, == compares:"
						     : "an operator is expected");
	skip_blanks(parser);
	const char *start = parser->at;
	g_autofree char *value = take_value(parser);
	gboolean is_text = kinds[node.field->kind].is_text;
	if (!value || (is_glob(&node) && !is_text) || !kinds[node.field->kind].set(&node, value)) {
		clear_node(&node);
		parser->at = start;
		return fail(parser, kinds[node.field->kind].expected);
	}
	return add_node(parser, node);
}

static guint parse_or(Parser *parser);

static guint
parse_not(Parser *parser)
{
	guint result;
	if (parser->depth >= MAX_DEPTH)
		return fail(parser, "it is nested too deeply");
	parser->depth++;
	if (accept(parser, "!")) {
		guint inner = parse_not(parser);
		Node node = { .kind = NODE_NOT, .left = inner };
		result = inner == FAILED ? FAILED : add_node(parser, node);
	} else if (accept(parser, "(")) {
		result = parse_or(parser);
		if (result != FAILED && !accept(parser, ")"))
			result = fail(parser, "a ) is missing");
	} else {
		result = parse_test(parser);
	}
	parser->depth--;
	return result;
}

/* One level of a chain "a OP b OP c". */
static guint
parse_chain(Parser *parser, const char *token, NodeKind kind, guint (*next)(Parser *parser))
{
	guint left = next(parser);
	while (left != FAILED && accept(parser, token)) {
		guint right = next(parser);
		Node node = { .kind = kind, .left = left, .right = right };
		left = right == FAILED ? FAILED : add_node(parser, node);
	}
	return left;
}

static guint
parse_and(Parser *parser)
{
	return parse_chain(parser, "&&", NODE_AND, parse_not);
}

static guint
parse_or(Parser *parser)
{
	return parse_chain(parser, "||", NODE_OR, parse_and);
}

WpWhere *
wp_where_new(const char *text, GError **error)
{
	g_autoptr(WpWhere) where = g_new0(WpWhere, 1);
	where->nodes = g_array_new(FALSE, FALSE, sizeof(Node));
	g_array_set_clear_func(where->nodes, clear_node);
	Parser parser = { text, text, 0, where, error };
	where->root = parse_or(&parser);
	if (where->root == FAILED)
		return NULL;
	skip_blanks(&parser);
	if (*parser.at) {
		fail(&parser, "&& or || is expected");
		return NULL;
	}
	return g_steal_pointer(&where);
}

static gboolean
text_fits(const Node *node, const char *text)
{
	return is_glob(node) ? wp_glob_matches(node->text, text) : strcmp(node->text, text) == 0;
}

static gboolean
test_text(const Node *node, const WpWhereCall *call)
{
	const Field *field = node->field;
	gboolean fits = FALSE;
	for (gsize i = 0; i < G_N_ELEMENTS(field->offsets) && !fits; i++) {
		if (i && !field->offsets[i])
			break;
		const char *text = *(const char *const *)((const char *)call + field->offsets[i]);
		fits = text_fits(node, text);
	}
	return fits == (node->op == OP_EQ || node->op == OP_GLOB);
}

static gboolean
test_number(const Node *node, const WpWhereCall *call)
{
	gint64 value;
	if (!node->field->number(call, &value))
		return FALSE;
	if (node->field->kind == KIND_FLAG)
		return value != 0;
	const gboolean holds[N_OPS] = {
		[OP_EQ] = value == node->number,
		[OP_NE] = value != node->number,
		[OP_LE] = value <= node->number,
		[OP_GE] = value >= node->number,
		[OP_LT] = value<node->number, [OP_GT] = value> node->number,
	};
	return holds[node->op];
}

static gboolean
evaluate(const WpWhere *where, guint index, const WpWhereCall *call)
{
	const Node *node = &g_array_index(where->nodes, Node, index);
	switch (node->kind) {
	case NODE_OR:
		return evaluate(where, node->left, call) || evaluate(where, node->right, call);
	case NODE_AND:
		return evaluate(where, node->left, call) && evaluate(where, node->right, call);
	case NODE_NOT:
		return !evaluate(where, node->left, call);
	case NODE_TEST:
		break;
	}
	return node->field->number ? test_number(node, call) : test_text(node, call);
}

gboolean
wp_where_matches(const WpWhere *where, const WpWhereCall *call)
{
	return evaluate(where, where->root, call);
}

const char *
wp_where_needs_return(const WpWhere *where)
{
	for (guint i = 0; i < where->nodes->len; i++) {
		const Node *node = &g_array_index(where->nodes, Node, i);
		if (node->kind == NODE_TEST && node->field->needs_return)
			return node->field->name;
	}
	return NULL;
}

void
wp_where_list_fields(WpOut *out)
{
	for (gsize i = 0; i < G_N_ELEMENTS(fields); i++)
		wp_out_printf(out, "%-14s%s\n", fields[i].name, fields[i].help);
	wp_out_text(out,
		    "\ntext: == != ~ !~ (glob: * ?)   numbers: == != < <= > >=   && || ! ( )\n");
}
