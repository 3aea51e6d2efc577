/*
 * The compiler of call plans: recursive descent, one function a statement, steps straight to the end
 * of the array. Jumps forward are patched when their target is known.
 */
#include "traces/plan.h"

#include <math.h>
#include <string.h>

#include "capture/record.h"
#include "traces/value.h"

#define MAX_NESTING 32
#define MAX_STEPS   100000 /* of a scenario */
#define MAX_REPEATS 10000  /* of one repeat, and branches of one parallel */
#define MAX_RETRIES 100

typedef struct {
	WpScenario *scenario;
	guint32 service;
	const WpLawShape *shape;
	const char *at;
	guint nesting;
	guint repeats;
	gboolean is_holding;
	const char *block_end; /* behind the last block */
	char *problem;
} Parser;

static gboolean parse_plan(Parser *parser, gboolean is_block);

G_GNUC_PRINTF(2, 3)
static gboolean
fail(Parser *parser, const char *format, ...)
{
	va_list arguments;

	if (parser->problem)
		return FALSE;
	va_start(arguments, format);
	parser->problem = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	return FALSE;
}

static gboolean
fail_expected(Parser *parser, const char *what)
{
	wp_value_skip_blanks(&parser->at);
	return fail(parser, "expected %s at \"%.30s\"", what,
		    *parser->at ? parser->at : "the end of the plan");
}

static guint32
here(const Parser *parser)
{
	return parser->scenario->steps->len;
}

static WpStep *
step_at(const Parser *parser, guint32 number)
{
	return &g_array_index(parser->scenario->steps, WpStep, number);
}

/* Adds a step; returns its number. */
static guint32
add(Parser *parser, WpStepKind kind)
{
	WpStep step = { .kind = (guint8)kind, .pool = WP_SIM_NONE, .operation = WP_SIM_NONE };

	g_array_append_val(parser->scenario->steps, step);
	return here(parser) - 1;
}

/* The jump of step NUMBER goes here. */
static void
land(Parser *parser, guint32 number)
{
	step_at(parser, number)->target = here(parser);
}

static gboolean
take_word(Parser *parser, const char *word)
{
	const char *at = parser->at;
	g_autofree char *next = wp_value_word(&at);

	if (!next || strcmp(next, word) != 0)
		return FALSE;
	parser->at = at;
	return TRUE;
}

static gboolean
parse_block(Parser *parser)
{
	if (!wp_value_take(&parser->at, '{'))
		return fail_expected(parser, "a block { ... }");
	if (parser->nesting == MAX_NESTING)
		return fail(parser, "blocks are nested more than %d deep", MAX_NESTING);
	parser->nesting++;
	gboolean ok = parse_plan(parser, TRUE);
	parser->nesting--;
	parser->block_end = parser->at;
	return ok;
}

static gboolean
parse_law(Parser *parser, WpLaw *out_law)
{
	char *problem = NULL;

	if (wp_law_read(&parser->at, WP_LAW_TIME, out_law, &problem))
		return TRUE;
	fail(parser, "%s", problem);
	g_free(problem);
	return FALSE;
}

static gboolean
parse_time_step(Parser *parser, WpStepKind kind)
{
	WpLaw law;

	if (!parse_law(parser, &law))
		return FALSE;
	step_at(parser, add(parser, kind))->law = wp_law_reshape(&law, parser->shape);
	return TRUE;
}

static gboolean
parse_work(Parser *parser)
{
	return parse_time_step(parser, WP_STEP_WORK);
}

static gboolean
parse_wait(Parser *parser)
{
	return parse_time_step(parser, WP_STEP_WAIT);
}

static gboolean
fail_operation(Parser *parser, const char *name)
{
	const GArray *operations = parser->scenario->operations;
	g_autoptr(GPtrArray) names = g_ptr_array_new();

	for (guint i = 0; i < operations->len; i++)
		g_ptr_array_add(names, g_array_index(operations, WpSimOperation, i).name);
	g_ptr_array_add(names, NULL);
	g_autofree char *hint = wp_value_hint(name, (const char *const *)names->pdata);
	return fail(parser, "there is no operation \"%s\"%s", name, hint);
}

/* The operation named next, into STEP. */
static gboolean
parse_operation(Parser *parser, guint32 step)
{
	g_autofree char *name = wp_value_word(&parser->at);
	const GArray *operations = parser->scenario->operations;

	if (!name)
		return fail_expected(parser, "an operation");
	for (guint i = 0; i < operations->len; i++) {
		const WpSimOperation *operation = &g_array_index(operations, WpSimOperation, i);
		const WpSimService *service = &g_array_index(parser->scenario->services,
							     WpSimService, operation->service);
		if (strcmp(operation->name, name) == 0 && !service->is_client) {
			step_at(parser, step)->operation = i;
			return TRUE;
		}
	}
	return fail_operation(parser, name);
}

/* The number of our pool of connections to SERVICE. */
static guint32
find_pool(const Parser *parser, guint32 service)
{
	const WpSimService *own =
		&g_array_index(parser->scenario->services, WpSimService, parser->service);

	for (guint i = 0; i < own->pools->len; i++)
		if (g_array_index(own->pools, WpSimPool, i).callee == service)
			return i;
	return WP_SIM_NONE;
}

static gboolean
parse_retries(Parser *parser, guint32 step)
{
	guint32 from, to;

	if (!wp_value_range(&parser->at, MAX_RETRIES, &from, &to) || from != to)
		return fail_expected(parser, "a number of retries");
	step_at(parser, step)->retries = from;
	return TRUE;
}

static gboolean
parse_call_option(Parser *parser, guint32 step, gboolean *out_found)
{
	double ns;
	WpLaw law;

	*out_found = TRUE;
	if (take_word(parser, "timeout")) {
		if (!wp_value_duration(&parser->at, &ns) || ns < 1)
			return fail_expected(parser, "a time");
		step_at(parser, step)->timeout_ns = (gint64)ns;
		return TRUE;
	}
	if (take_word(parser, "retry"))
		return parse_retries(parser, step);
	*out_found = FALSE;
	if (!take_word(parser, "backoff"))
		return TRUE;
	*out_found = TRUE;
	if (!parse_law(parser, &law))
		return FALSE;
	step_at(parser, step)->law = law;
	return TRUE;
}

static gboolean
parse_call(Parser *parser)
{
	guint32 step = add(parser, WP_STEP_CALL);
	gboolean found = TRUE;

	if (!parse_operation(parser, step))
		return FALSE;
	guint32 callee = g_array_index(parser->scenario->operations, WpSimOperation,
				       step_at(parser, step)->operation)
				 .service;
	step_at(parser, step)->pool = find_pool(parser, callee);
	while (found)
		if (!parse_call_option(parser, step, &found))
			return FALSE;
	if (!take_word(parser, "else"))
		return TRUE;
	guint32 test = add(parser, WP_STEP_IF_FAILED);
	if (!parse_block(parser))
		return FALSE;
	land(parser, test);
	return TRUE;
}

static gboolean
parse_send(Parser *parser)
{
	return parse_operation(parser, add(parser, WP_STEP_SEND));
}

static gboolean
parse_spawn(Parser *parser)
{
	guint32 step = add(parser, WP_STEP_SPAWN);
	gboolean is_holding = parser->is_holding;

	parser->is_holding = FALSE;
	if (!parse_block(parser))
		return FALSE;
	parser->is_holding = is_holding;
	add(parser, WP_STEP_END);
	land(parser, step);
	return TRUE;
}

static gboolean
is_block_next(Parser *parser)
{
	wp_value_skip_blanks(&parser->at);
	return *parser->at == '{';
}

static gboolean
parse_branch(Parser *parser)
{
	guint32 step = add(parser, WP_STEP_BRANCH), from = 1, to = 1;

	if (!is_block_next(parser) && !wp_value_range(&parser->at, MAX_REPEATS, &from, &to))
		return fail_expected(parser, "a number of branches or a block { ... }");
	step_at(parser, step)->from = from;
	step_at(parser, step)->to = to;
	if (!parse_block(parser))
		return FALSE;
	add(parser, WP_STEP_END);
	land(parser, step);
	return TRUE;
}

static gboolean
parse_parallel(Parser *parser)
{
	gboolean is_holding = parser->is_holding;

	add(parser, WP_STEP_FORK);
	parser->is_holding = FALSE;
	do
		if (!parse_branch(parser))
			return FALSE;
	while (is_block_next(parser) || g_ascii_isdigit(*parser->at));
	parser->is_holding = is_holding;
	return TRUE;
}

static gboolean
parse_repeat(Parser *parser)
{
	guint32 step = add(parser, WP_STEP_REPEAT), from, to;

	if (parser->repeats == WP_PLAN_MAX_REPEATS)
		return fail(parser, "repeats are nested more than %d deep", WP_PLAN_MAX_REPEATS);
	if (!wp_value_range(&parser->at, MAX_REPEATS, &from, &to))
		return fail_expected(parser, "how often (3, or 1..5)");
	step_at(parser, step)->from = from;
	step_at(parser, step)->to = to;
	step_at(parser, step)->depth = (guint8)parser->repeats++;
	if (!parse_block(parser))
		return FALSE;
	parser->repeats--;
	guint32 loop = add(parser, WP_STEP_LOOP);
	step_at(parser, loop)->depth = (guint8)parser->repeats;
	step_at(parser, loop)->target = step + 1;
	land(parser, step);
	return TRUE;
}

static gboolean
parse_maybe(Parser *parser)
{
	guint32 step = add(parser, WP_STEP_MAYBE);
	double share;

	if (!wp_value_share(&parser->at, &share))
		return fail_expected(parser, "a share (30%)");
	step_at(parser, step)->share = share;
	if (!parse_block(parser))
		return FALSE;
	if (!take_word(parser, "else")) {
		land(parser, step);
		return TRUE;
	}
	guint32 jump = add(parser, WP_STEP_JUMP);
	land(parser, step);
	if (!parse_block(parser))
		return FALSE;
	land(parser, jump);
	return TRUE;
}

/* A weight: "70%" or "7". */
static gboolean
parse_weight(Parser *parser, double *out_weight)
{
	return wp_value_number(&parser->at, out_weight) ||
	       wp_value_share(&parser->at, out_weight) || fail_expected(parser, "a weight (70%)");
}

/* The k-th alternative is taken with its share of the weights from the k-th on. */
static gboolean
parse_choose(Parser *parser)
{
	g_autoptr(GArray) tests = g_array_new(FALSE, FALSE, sizeof(guint32));
	g_autoptr(GArray) jumps = g_array_new(FALSE, FALSE, sizeof(guint32));
	double rest = 0;

	do {
		guint32 test = add(parser, WP_STEP_MAYBE);
		if (!parse_weight(parser, &step_at(parser, test)->share) || !parse_block(parser))
			return FALSE;
		guint32 jump = add(parser, WP_STEP_JUMP);
		land(parser, test);
		g_array_append_val(tests, test);
		g_array_append_val(jumps, jump);
		wp_value_skip_blanks(&parser->at);
	} while (g_ascii_isdigit(*parser->at));
	for (guint i = 0; i < jumps->len; i++)
		land(parser, g_array_index(jumps, guint32, i));
	for (guint i = tests->len; i-- > 0;) {
		WpStep *test = step_at(parser, g_array_index(tests, guint32, i));
		rest += test->share;
		test->share = i == tests->len - 1 ? 1 : rest > 0 ? test->share / rest : 0;
	}
	return rest > 0 || fail(parser, "the weights of choose are all 0");
}

static gboolean
parse_at(Parser *parser)
{
	const WpSimService *own =
		&g_array_index(parser->scenario->services, WpSimService, parser->service);
	guint32 step = add(parser, WP_STEP_AT), node = 0;
	g_autofree char *name = wp_value_word(&parser->at);

	if (!name)
		return fail_expected(parser, "a node");
	while (node < own->nodes->len && strcmp(own->nodes->pdata[node], name) != 0)
		node++;
	if (node == own->nodes->len)
		return fail(parser, "\"%s\" is no node of %s", name, own->name);
	step_at(parser, step)->from = node;
	if (!parse_block(parser))
		return FALSE;
	land(parser, step);
	return TRUE;
}

/* WORD and a time, which may be missing. */
static gboolean
parse_moment(Parser *parser, const char *word, double *out_ns)
{
	if (!take_word(parser, word))
		return TRUE;
	return wp_value_duration(&parser->at, out_ns) ||
	       fail_expected(parser, "a time since the beginning (30s)");
}

static gboolean
parse_since(Parser *parser)
{
	guint32 step = add(parser, WP_STEP_SINCE);
	double since_ns, full_ns = 0, until_ns = INFINITY;

	if (!wp_value_duration(&parser->at, &since_ns))
		return fail_expected(parser, "a time since the beginning (30s)");
	if (!parse_moment(parser, "full", &full_ns) || !parse_moment(parser, "until", &until_ns))
		return FALSE;
	if (until_ns <= since_ns)
		return fail(parser, "since: it ends before it begins");
	step_at(parser, step)->since_ns = since_ns;
	step_at(parser, step)->full_ns = MAX(full_ns, since_ns);
	step_at(parser, step)->until_ns = until_ns;
	if (!parse_block(parser))
		return FALSE;
	land(parser, step);
	return TRUE;
}

static gboolean
parse_hold(Parser *parser)
{
	guint32 step = add(parser, WP_STEP_HOLD), pool = WP_SIM_NONE;
	const GArray *services = parser->scenario->services;
	g_autofree char *name = wp_value_word(&parser->at);

	for (guint i = 0; name && i < services->len; i++)
		if (strcmp(g_array_index(services, WpSimService, i).name, name) == 0)
			pool = find_pool(parser, i);
	if (pool == WP_SIM_NONE)
		return fail(parser, "hold: there is no [pool] of connections to \"%s\"",
			    name ? name : "");
	if (parser->is_holding)
		return fail(parser, "hold: one connection is held already");
	step_at(parser, step)->pool = pool;
	parser->is_holding = TRUE;
	if (!parse_block(parser))
		return FALSE;
	parser->is_holding = FALSE;
	add(parser, WP_STEP_RELEASE);
	return TRUE;
}

static gboolean
parse_reply(Parser *parser)
{
	guint32 step = add(parser, WP_STEP_REPLY);
	gboolean is_error = take_word(parser, "error");

	if (!is_error)
		take_word(parser, "ok");
	step_at(parser, step)->status = is_error ? WP_STATUS_ERROR : WP_STATUS_OK;
	return TRUE;
}

/* maybe SHARE { reply error; end } */
static gboolean
parse_fail(Parser *parser)
{
	guint32 test = add(parser, WP_STEP_MAYBE);
	double share = 1;

	wp_value_share(&parser->at, &share);
	step_at(parser, test)->share = share;
	step_at(parser, add(parser, WP_STEP_REPLY))->status = WP_STATUS_ERROR;
	add(parser, WP_STEP_END);
	land(parser, test);
	return TRUE;
}

typedef struct {
	const char *name;
	gboolean (*parse)(Parser *parser);
} Statement;

static const Statement statements[] = {
	{ "at", parse_at },         { "call", parse_call },         { "choose", parse_choose },
	{ "fail", parse_fail },     { "hold", parse_hold },         { "maybe", parse_maybe },
	{ "repeat", parse_repeat }, { "parallel", parse_parallel }, { "reply", parse_reply },
	{ "send", parse_send },     { "since", parse_since },       { "spawn", parse_spawn },
	{ "wait", parse_wait },     { "work", parse_work },
};

static gboolean
parse_statement(Parser *parser)
{
	const char *names[G_N_ELEMENTS(statements) + 1] = { NULL };
	g_autofree char *word = wp_value_word(&parser->at);

	if (!word)
		return fail_expected(parser, "a statement");
	if (here(parser) > MAX_STEPS)
		return fail(parser, "the plans are over %d steps long", MAX_STEPS);
	for (guint i = 0; i < G_N_ELEMENTS(statements); i++) {
		if (strcmp(statements[i].name, word) == 0)
			return statements[i].parse(parser);
		names[i] = statements[i].name;
	}
	g_autofree char *hint = wp_value_hint(word, names);
	return fail(parser, "there is no statement \"%s\"%s", word, hint);
}

/* Whether the last block is the last thing that was read. */
static gboolean
ends_with_block(Parser *parser)
{
	const char *end = parser->block_end;

	wp_value_skip_blanks(&parser->at);
	if (end)
		wp_value_skip_blanks(&end);
	return end == parser->at;
}

/* Statements up to the end, or to the brace that ends the block. */
static gboolean
parse_plan(Parser *parser, gboolean is_block)
{
	gboolean needs_semicolon = FALSE;

	for (;;) {
		gboolean has_semicolon = wp_value_take(&parser->at, ';');
		wp_value_skip_blanks(&parser->at);
		if (is_block && wp_value_take(&parser->at, '}'))
			return TRUE;
		if (*parser->at == '\0')
			return !is_block || fail_expected(parser, "}");
		if (needs_semicolon && !has_semicolon)
			return fail_expected(parser, "; or the end of the block");
		if (has_semicolon && *parser->at == ';')
			continue;
		if (!parse_statement(parser))
			return FALSE;
		needs_semicolon = !ends_with_block(parser);
	}
}

gboolean
wp_plan_compile(WpScenario *scenario, guint32 service, const WpLawShape *shape, const char *text,
		char **out_problem)
{
	Parser parser = { .scenario = scenario, .service = service, .shape = shape, .at = text };

	if (!parse_plan(&parser, FALSE)) {
		*out_problem = parser.problem;
		return FALSE;
	}
	add(&parser, WP_STEP_END);
	return TRUE;
}
