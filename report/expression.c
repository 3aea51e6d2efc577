/*
 * Recursive descent into an array of nodes; evaluated from the root. Depth is bounded, so that a text
 * of a million parentheses is an error and not a stack overflow.
 */
#include "config.h"

#include "report/expression.h"

#include <math.h>
#include <string.h>

#include "capture/record.h"
#include "report/error.h"
#include "report/format.h"
#include "report/glob.h"
#include "report/options.h"

/* Nobody writes deeper, or more, by hand; both bound the recursion. */
#define MAX_DEPTH 64
#define MAX_NODES 2000

#define MAX_DECIMAL 1e12

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789."

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
	const WpExpressionField *field;
	Op op;
	char *text;
	gint64 number;
} Node;

struct WpExpression {
	const WpLanguage *language;
	GArray *nodes; /* Node */
	guint root;
};

typedef struct {
	const char *text;
	const char *at;
	guint depth;
	WpExpression *expression;
	GError **error;
} Parser;

static void
clear_node(gpointer data)
{
	Node *node = data;
	g_free(node->text);
}

void
wp_expression_free(WpExpression *expression)
{
	if (!expression)
		return;
	g_array_unref(expression->nodes);
	g_free(expression);
}

#define FAILED G_MAXUINT

static guint
fail(Parser *parser, const char *what)
{
	if (*parser->at)
		g_set_error(parser->error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			    "%s: %s at \"%s\"\n%s", parser->expression->language->option, what,
			    parser->at, parser->expression->language->advice);
	else
		g_set_error(parser->error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
			    "%s: %s at its end\n%s", parser->expression->language->option, what,
			    parser->expression->language->advice);
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
	g_array_append_val(parser->expression->nodes, node);
	return parser->expression->nodes->len - 1;
}

/* The field at the parser, or NULL; it moves past it. */
static const WpExpressionField *
take_field(Parser *parser)
{
	skip_blanks(parser);
	gsize length = strspn(parser->at, NAME_LETTERS);
	for (const WpExpressionField *field = parser->expression->language->fields; field->name;
	     field++)
		if (strlen(field->name) == length &&
		    strncmp(field->name, parser->at, length) == 0) {
			parser->at += length;
			return field;
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

static gboolean
set_share(Node *node, const char *value)
{
	double share;
	if (!wp_parse_share(value, &share))
		return FALSE;
	node->number = llround(share * WP_FIELD_SHARE_UNIT);
	return TRUE;
}

static gboolean
set_decimal(Node *node, const char *value)
{
	double number;
	char *end;
	if (!g_ascii_isdigit(*value))
		return FALSE;
	number = g_ascii_strtod(value, &end);
	if (*end || !(number <= MAX_DECIMAL))
		return FALSE;
	node->number = llround(number * WP_FIELD_DECIMAL_UNIT);
	return TRUE;
}

static const struct {
	gboolean (*set)(Node *node, const char *value);
	gboolean is_text;
	const char *expected;
} kinds[] = {
	[WP_FIELD_TEXT] = { set_text, TRUE, "a text with == != ~ or !~ is expected" },
	[WP_FIELD_STATUS] = { set_status, TRUE,
			      "ok, error, reset, timeout or unknown is expected" },
	[WP_FIELD_NUMBER] = { set_number, FALSE, "a number is expected" },
	[WP_FIELD_DURATION] = { set_duration, FALSE,
				"a time with its unit (250us, 5ms, 5s) is expected" },
	[WP_FIELD_SHARE] = { set_share, FALSE, "a share such as 5% is expected" },
	[WP_FIELD_DECIMAL] = { set_decimal, FALSE, "a number such as 1.5 is expected" },
	[WP_FIELD_BYTES] = { set_bytes, FALSE, "a size such as 512 or 64k is expected" },
};

static guint
unknown_field(Parser *parser)
{
	const char *names[WP_EXPRESSION_MAX_FIELDS + 1] = { NULL };
	for (gsize i = 0;
	     i < WP_EXPRESSION_MAX_FIELDS && parser->expression->language->fields[i].name; i++)
		names[i] = parser->expression->language->fields[i].name;
	gsize length = strspn(parser->at, NAME_LETTERS);
	g_autofree char *word = g_strndup(parser->at, length);
	const char *nearest = length ? wp_nearest_name(word, names) : NULL;
	if (!nearest)
		return fail(parser, "a field is expected");
	g_set_error(parser->error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
		    "%s: a field is expected at \"%s\"\ndid you mean %s?",
		    parser->expression->language->option, parser->at, nearest);
	return FAILED;
}

static guint
parse_test(Parser *parser)
{
	Node node = { .kind = NODE_TEST, .field = take_field(parser) };
	if (parser->expression->nodes->len >= MAX_NODES)
		return fail(parser, "it is too long");
	if (!node.field)
		return unknown_field(parser);
	if (node.field->kind == WP_FIELD_FLAG)
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

WpExpression *
wp_expression_new(const WpLanguage *language, const char *text, GError **error)
{
	g_autoptr(WpExpression) expression = g_new0(WpExpression, 1);
	expression->language = language;
	expression->nodes = g_array_new(FALSE, FALSE, sizeof(Node));
	g_array_set_clear_func(expression->nodes, clear_node);
	Parser parser = { text, text, 0, expression, error };
	expression->root = parse_or(&parser);
	if (expression->root == FAILED)
		return NULL;
	skip_blanks(&parser);
	if (*parser.at) {
		fail(&parser, "&& or || is expected");
		return NULL;
	}
	return g_steal_pointer(&expression);
}

static gboolean
text_fits(const Node *node, const char *text)
{
	return is_glob(node) ? wp_glob_matches(node->text, text) : strcmp(node->text, text) == 0;
}

static gboolean
test_text(const Node *node, gconstpointer subject)
{
	const WpExpressionField *field = node->field;
	gboolean fits = FALSE;
	for (gsize i = 0; i < G_N_ELEMENTS(field->offsets) && !fits; i++) {
		if (i && !field->offsets[i])
			break;
		const char *text =
			*(const char *const *)((const char *)subject + field->offsets[i]);
		fits = text_fits(node, text);
	}
	return fits == (node->op == OP_EQ || node->op == OP_GLOB);
}

static gboolean
test_number(const Node *node, gconstpointer subject)
{
	gint64 value;
	if (!node->field->number(subject, &value))
		return FALSE;
	if (node->field->kind == WP_FIELD_FLAG)
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
evaluate(const WpExpression *expression, guint index, gconstpointer subject)
{
	const Node *node = &g_array_index(expression->nodes, Node, index);
	switch (node->kind) {
	case NODE_OR:
		return evaluate(expression, node->left, subject) ||
		       evaluate(expression, node->right, subject);
	case NODE_AND:
		return evaluate(expression, node->left, subject) &&
		       evaluate(expression, node->right, subject);
	case NODE_NOT:
		return !evaluate(expression, node->left, subject);
	case NODE_TEST:
		break;
	}
	return node->field->number ? test_number(node, subject) : test_text(node, subject);
}

gboolean
wp_expression_matches(const WpExpression *expression, gconstpointer subject)
{
	return evaluate(expression, expression->root, subject);
}

const char *
wp_expression_field(const WpExpression *expression, guint32 traits)
{
	for (guint i = 0; i < expression->nodes->len; i++) {
		const Node *node = &g_array_index(expression->nodes, Node, i);
		if (node->kind == NODE_TEST && (node->field->traits & traits))
			return node->field->name;
	}
	return NULL;
}

void
wp_language_list(const WpLanguage *language, WpOut *out)
{
	for (const WpExpressionField *field = language->fields; field->name; field++)
		wp_out_printf(out, "%-14s%s\n", field->name, field->help);
	wp_out_text(out,
		    "\ntext: == != ~ !~ (glob: * ?)   numbers: == != < <= > >=   && || ! ( )\n");
}
