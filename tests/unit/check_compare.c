/* Comparing: digests of small systems, made call by call, before and after a change. */
#include "report/compare.h"

#include <math.h>
#include <string.h>

#include "report/compare-private.h"
#include "report/compare-words.h"
#include "report/student.h"
#include "report/unify.h"
#include "tests/support/suite.h"
#include "traces/random.h"

/*
 *     client -> web -> db, n_db times      web and db have names, or only addresses
 *                   -> cache, a share of them
 */
typedef struct {
	guint n;       /* requests */
	double web_ns; /* mean self times, exponential */
	double db_ns;
	guint n_db;   /* calls to db a request */
	double cache; /* share of requests that ask the cache */
	double others; /* share of calls to db that find another there, which makes them take twice as long */
	const char *names[4]; /* of client, web, db, cache */
} System;

#define NAMED                                                                                      \
	{                                                                                          \
		"client", "web", "db", "cache"                                                     \
	}
#define NUMBERED                                                                                   \
	{                                                                                          \
		"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"                                     \
	}

static void
add_call(WpDigest *digest, guint32 part, double self_ns, guint32 others)
{
	WpDigestCall call = { .self_ns = (gint64)self_ns,
			      .served_ns = (gint64)self_ns,
			      .network_ns = -1,
			      .ended_at = others,
			      .link_odds = WP_DIGEST_ODDS };
	call.levels_ns[others] = call.self_ns;
	wp_digest_add_call(digest, 0, part, &call);
}

static WpDigest *
capture(const System *system, guint64 seed)
{
	static const char *const services[] = { "", "80 http", "5432 pgsql", "6379 redis" };
	WpDigest *digest = wp_digest_new();
	WpRandom random;
	wp_random_init(&random, seed);
	for (guint i = 0; i < 4; i++) {
		const char *name = system->names[i];
		wp_digest_add_node(digest, name, !g_ascii_isdigit(name[0]));
		WpDigestNode *node = &g_array_index(digest->nodes, WpDigestNode, i);
		node->service = services[i];
		node->n_served = i ? system->n : 0;
		WpDigestEdge edge = { i < 2 ? 0 : 1, i, system->n };
		if (i)
			g_array_append_val(digest->edges, edge);
	}
	if (!system->n)
		return digest;
	wp_digest_add_operation(digest, 0, 1, "GET /", "http");
	wp_digest_add_part(digest, 0, 1, 0, "GET /", "http");
	wp_digest_add_part(digest, 0, 2, 1, "SELECT", "pgsql");
	wp_digest_add_part(digest, 0, 3, 1, "GET", "redis");
	for (guint i = 0; i < system->n; i++) {
		double web = system->web_ns * wp_random_exponential(&random), db[8], all = web;
		guint32 others[8];
		for (guint k = 0; k < system->n_db; k++) {
			others[k] = wp_random_share(&random) < system->others;
			db[k] = system->db_ns * (1 + others[k]) * wp_random_exponential(&random);
			all += db[k];
		}
		wp_digest_add_request(digest, 0, i * (gint64)1e8, (gint64)all, FALSE);
		add_call(digest, 0, web, 0);
		for (guint k = 0; k < system->n_db; k++)
			add_call(digest, 1, db[k], others[k]);
		if (wp_random_share(&random) < system->cache)
			add_call(digest, 2, 1e5, 0);
	}
	digest->facts.length_ns = system->n * (guint64)1e8;
	digest->facts.right = WP_DIGEST_ODDS;
	return digest;
}

static char *
copy(const char *name)
{
	return g_strdup(name);
}

/* The verdict, then what has changed: "different: GET / slower; db work more; ..." */
static char *
outcome(const System *before, const System *after, guint n_captures)
{
	g_autoptr(GPtrArray) digests =
		g_ptr_array_new_with_free_func((GDestroyNotify)wp_digest_free);
	WpCompareOptions options;
	wp_compare_options_init(&options);
	for (guint i = 0; i < 2 * n_captures; i++)
		g_ptr_array_add(digests, capture(i < n_captures ? before : after, i + 1));
	g_autoptr(WpComparison) comparison = wp_compare((WpDigest *const *)(void *)digests->pdata,
							digests->len, n_captures, &options);
	GString *text = g_string_new(wp_compare_verdict(comparison));
	for (guint32 i = 0; i < comparison->n_operations; i++) {
		const WpComparedOperation *operation = &comparison->operations[i];
		if (operation->latency.verdict == WP_VERDICT_CHANGED)
			g_string_append_printf(text, "; %s %s", operation->label,
					       wp_compare_word(&operation->latency));
		for (guint32 k = 0; k < operation->n_parts; k++) {
			const WpComparedPart *part = &operation->parts[k];
			g_autofree char *name = wp_compare_part_name(comparison, part, copy);
			for (WpTestKind kind = 0; kind < WP_N_TESTS; kind++)
				if (part->tests[kind].is_tested &&
				    part->tests[kind].verdict == WP_VERDICT_CHANGED)
					g_string_append_printf(
						text, "; %s %s%s%s", name,
						wp_compare_word(&part->tests[kind]),
						kind == WP_TEST_SELF ? " by " : "",
						kind == WP_TEST_SELF ? wp_compare_cause(part) : "");
		}
	}
	return g_string_free(text, FALSE);
}

static int
compare_texts(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

START_TEST(verdicts)
{
	static const struct {
		const char *name;
		System before, after;
		const char *outcome;
	} rows[] = {
		{ "the same",
		  { 4000, 1e6, 5e6, 1, 0.5, 0.2, NAMED },
		  { 4000, 1e6, 5e6, 1, 0.5, 0.2, NAMED },
		  "same" },
		{ "one node slower",
		  { 4000, 1e6, 5e6, 1, 0.5, 0.2, NAMED },
		  { 4000, 1e6, 6e6, 1, 0.5, 0.2, NAMED },
		  "different; GET / slower; db  SELECT more work; db  SELECT slower by work" },
		{ "the other one faster",
		  { 4000, 2e6, 5e6, 1, 0.5, 0.2, NAMED },
		  { 4000, 1e6, 5e6, 1, 0.5, 0.2, NAMED },
		  "different; GET / faster; web  GET / less work; web  GET / faster by work" },
		{ "more load: the same work, more waiting",
		  { 4000, 1e6, 5e6, 1, 0.5, 0.1, NAMED },
		  { 4000, 1e6, 5e6, 1, 0.5, 0.6, NAMED },
		  "different; GET / slower; db  SELECT slower by waiting" },
		{ "three calls instead of one",
		  { 2000, 1e6, 5e6, 1, 0.5, 0.2, NAMED },
		  { 2000, 1e6, 5e6, 3, 0.5, 0.2, NAMED },
		  "different; GET / slower; db  SELECT more calls" },
		{ "a cache removed",
		  { 2000, 1e6, 5e6, 1, 0.5, 0.2, NAMED },
		  { 2000, 1e6, 5e6, 1, 0, 0.2, NAMED },
		  "different; cache  GET gone" },
		{ "a new call in 2 % of the requests",
		  { 4000, 1e6, 5e6, 1, 0, 0.2, NAMED },
		  { 4000, 1e6, 5e6, 1, 0.02, 0.2, NAMED },
		  "different; cache  GET new" },
		{ "other addresses",
		  { 4000, 1e6, 5e6, 1, 0.5, 0.2, NUMBERED },
		  { 4000,
		    1e6,
		    5e6,
		    1,
		    0.5,
		    0.2,
		    { "10.0.0.3", "10.0.0.4", "10.0.0.1", "10.0.0.2" } },
		  "same" },
		{ "other addresses, and one slower",
		  { 4000, 1e6, 5e6, 1, 0.5, 0.2, NUMBERED },
		  { 4000,
		    1e6,
		    6e6,
		    1,
		    0.5,
		    0.2,
		    { "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.1" } },
		  "different; GET / slower; 10.0.0.4  SELECT more work; 10.0.0.4  SELECT slower by "
		  "work" },
		{ "too few to tell",
		  { 12, 1e6, 5e6, 1, 0.5, 0.2, NAMED },
		  { 12, 1e6, 6e6, 1, 0.5, 0.2, NAMED },
		  "inconclusive" },
		{ "nothing after",
		  { 4000, 1e6, 5e6, 1, 0.5, 0.2, NAMED },
		  { 0, 1e6, 6e6, 1, 0.5, 0.2, NAMED },
		  "inconclusive" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *found = outcome(&rows[i].before, &rows[i].after, 1);
		ck_assert_msg(strcmp(found, rows[i].outcome) == 0, "%s: %s", rows[i].name, found);
	}
}
END_TEST

/* With three captures a side the verdict may say more than that they differ. */
START_TEST(captures_a_side)
{
	System before = { 1000, 1e6, 5e6, 1, 0.5, 0.2, NAMED };
	System after = { 1000, 1e6, 9e6, 1, 0.5, 0.2, NAMED };
	g_autofree char *same = outcome(&before, &before, 3), *worse = outcome(&before, &after, 3);
	g_autofree char *better = outcome(&after, &before, 3);
	ck_assert(!g_str_has_prefix(same, "changed") && !g_str_has_prefix(same, "regressed"));
	ck_assert(g_str_has_prefix(worse, "regressed; GET / slower; db"));
	ck_assert(g_str_has_prefix(better, "changed; GET / faster; db"));
}
END_TEST

/* Chances as of one of two tests, the other of which shows nothing: by weight, and slower before faster. */
START_TEST(risk_is_shared_out)
{
	static const struct {
		WpTestKind kind;
		double change;
		double weights[2];
		WpShiftDoubt other;
		double times; /* adjusted, to the chance by both tails */
	} rows[] = {
		/* alike: three quarters of a half are for slower, one quarter for faster */
		{ WP_TEST_WORK, 0.1, { 1, 1 }, WP_SHIFT_CLEAR, 2 / 1.5 },
		{ WP_TEST_WORK, -0.1, { 1, 1 }, WP_SHIFT_CLEAR, 2 / 0.5 },
		{ WP_TEST_CALLS, 0.1, { 1, 1 }, WP_SHIFT_CLEAR, 2 },
		{ WP_TEST_CALLS, -0.1, { 1, 1 }, WP_SHIFT_CLEAR, 2 },
		{ WP_TEST_LATENCY, 0.1, { 3, 1 }, WP_SHIFT_CLEAR, 4 / 3.0 / 1.5 },
		{ WP_TEST_LATENCY, 0.1, { 1, 3 }, WP_SHIFT_CLEAR, 4 / 1.5 },
		/* what cannot be told as its blocks hang together keeps its part; what is not there has none */
		{ WP_TEST_WORK, 0.1, { 1, 1 }, WP_SHIFT_HANGS, 2 / 1.5 },
		{ WP_TEST_WORK, 0.1, { 1, 1 }, WP_SHIFT_NOTHING, 1 / 1.5 },
		{ WP_TEST_WORK, 0.1, { 1, 1 }, WP_SHIFT_FEW, 1 / 1.5 },
	};
	WpCompareOptions options;
	wp_compare_options_init(&options);
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		WpShift shift = { .before = 1, .change = rows[i].change, .error = 0.03, .df = 50 };
		WpShift nothing = { .before = 1, .error = 0.03, .df = 50, .doubt = rows[i].other };
		WpTest tests[2], *both[2] = { &tests[0], &tests[1] };
		wp_test_init(&tests[0], rows[i].kind, &shift);
		wp_test_init(&tests[1], rows[i].kind, &nothing);
		for (guint k = 0; k < 2; k++)
			tests[k].weight = rows[i].weights[k];
		wp_tests_judge(both, 2, &options);
		double expected = rows[i].times * wp_student_tails(rows[i].change / 0.03, 50);
		ck_assert_msg(fabs(tests[0].adjusted / expected - 1) < 1e-9, "row %zu: %g", i,
			      tests[0].adjusted);
		/* The interval says the same. */
		gboolean is_beyond = tests[0].low > 0 || tests[0].high < 0;
		ck_assert_msg(is_beyond == (tests[0].adjusted <= options.risk), "row %zu", i);
	}
}
END_TEST

/* Blocks stay few, and hold all requests in order, whatever their number. */
START_TEST(blocks_hold_all)
{
	static const guint sizes[] = { 1, 2, 127, 128, 129, 255, 256, 257, 5000 };
	for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++) {
		System system = { sizes[i], 1e6, 5e6, 2, 1, 0.5, NAMED };
		g_autoptr(WpDigest) digest = capture(&system, 1);
		const WpDigestOperation *operation = wp_digest_operation(digest, 0);
		guint64 requests = 0, made = 0, calls = 0, last_ns = 0;
		for (guint k = 0; k < operation->blocks->len; k++) {
			const WpDigestBlock *block =
				&g_array_index(operation->blocks, WpDigestBlock, k);
			ck_assert(k == 0 || block->begin_ns > last_ns);
			last_ns = block->begin_ns;
			requests += block->requests;
		}
		const WpDigestPart *db = wp_digest_part(operation, 1);
		for (guint k = 0; k < db->sums->len; k++)
			made += g_array_index(db->sums, WpDigestSums, k).made;
		for (guint k = 0; k < WP_DIGEST_GROUPS * WP_DIGEST_LEVELS; k++)
			calls += db->strata[k].ended;
		ck_assert_uint_le(operation->blocks->len, WP_DIGEST_BLOCKS);
		ck_assert(sizes[i] < WP_DIGEST_BLOCKS ||
			  operation->blocks->len >= WP_DIGEST_BLOCKS / 2);
		ck_assert_uint_eq(requests, sizes[i]);
		ck_assert_uint_eq(made, 2 * sizes[i]);
		ck_assert_uint_eq(calls, 2 * sizes[i]);
	}
}
END_TEST

START_TEST(templates_fit)
{
	static const struct {
		const char *template, *label;
		gboolean fits;
	} rows[] = {
		{ "GET /user/{}", "GET /user/alice", TRUE },
		{ "GET /user/{}", "GET /user/", FALSE },
		{ "GET /user/{}", "GET /user/alice/cart", FALSE },
		{ "GET /user/{}/cart", "GET /user/alice/cart", TRUE },
		{ "GET /{}/{}", "GET /a/b", TRUE },
		{ "GET /{}/{}", "GET /a", FALSE },
		{ "get item:{}", "get item:12", TRUE },
		{ "get {}:{}", "get a:b:c", TRUE },
		{ "a{}b{}c", "axbbbyc", TRUE },
		{ "a{}b{}c", "axbc", FALSE },
		{ "{}", "x", TRUE },
		{ "{}", "", FALSE },
		{ "", "", TRUE },
		{ "{", "{", TRUE },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
		ck_assert_msg(wp_unify_fits(rows[i].template, rows[i].label) == rows[i].fits,
			      "%s %s", rows[i].template, rows[i].label);
}
END_TEST

/* A capture of N requests for each of LABELS, in turns. */
static WpDigest *
capture_labels(const char *const *labels, guint n)
{
	WpDigest *digest = wp_digest_new();
	wp_digest_add_node(digest, "client", TRUE);
	wp_digest_add_node(digest, "web", TRUE);
	g_array_index(digest->nodes, WpDigestNode, 1).n_served = n;
	guint n_labels = g_strv_length((char **)labels);
	for (guint i = 0; i < n_labels; i++) {
		wp_digest_add_operation(digest, 0, 1, labels[i], "http");
		wp_digest_add_part(digest, i, 1, 0, labels[i], "http");
	}
	for (guint i = 0; i < n * n_labels; i++) {
		WpDigestCall call = { .self_ns = 1000 + i % 7,
				      .served_ns = 1000 + i % 7,
				      .network_ns = -1,
				      .levels_ns = { 1000 + i % 7 },
				      .link_odds = WP_DIGEST_ODDS };
		wp_digest_add_request(digest, i % n_labels, i * (gint64)1000, call.self_ns, FALSE);
		wp_digest_add_call(digest, i % n_labels, 0, &call);
	}
	return digest;
}

/* Values of a place that is a template in the other capture are one operation, unless that has both. */
START_TEST(labels_become_one)
{
	static const struct {
		const char *const before[5], *const after[5];
		const char *operations; /* with their requests before and after */
	} rows[] = {
		{ { "GET /user/{}", "GET /health" },
		  { "GET /user/alice", "GET /user/bob", "GET /health" },
		  "GET /health 300 300; GET /user/{} 300 600; " },
		{ { "GET /user/alice", "GET /user/bob" },
		  { "GET /user/{}" },
		  "GET /user/{} 600 300; " },
		{ { "GET /user/{}", "GET /user/me" },
		  { "GET /user/{}", "GET /user/me" },
		  "GET /user/me 300 300; GET /user/{} 300 300; " },
		{ { "GET /user/{}", "GET /user/me" },
		  { "GET /user/me" },
		  "GET /user/me 300 300; GET /user/{} 300 0; " },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		WpDigest *digests[] = { capture_labels(rows[i].before, 300),
					capture_labels(rows[i].after, 300) };
		WpCompareOptions options;
		wp_compare_options_init(&options);
		g_autoptr(WpComparison) comparison = wp_compare(digests, 2, 1, &options);
		g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func(g_free);
		for (guint32 k = 0; k < comparison->n_operations; k++) {
			const WpComparedOperation *operation = &comparison->operations[k];
			if (operation->requests[0] || operation->requests[1])
				g_ptr_array_add(found,
						g_strdup_printf("%s %u %u; ", operation->label,
								(guint)operation->requests[0],
								(guint)operation->requests[1]));
		}
		g_ptr_array_sort(found, (GCompareFunc)compare_texts);
		g_ptr_array_add(found, NULL);
		g_autofree char *text = g_strjoinv("", (char **)found->pdata);
		ck_assert_str_eq(text, rows[i].operations);
		wp_digest_free(digests[0]);
		wp_digest_free(digests[1]);
	}
}
END_TEST

WP_SUITE("compare", verdicts, captures_a_side, risk_is_shared_out, blocks_hold_all, templates_fit,
	 labels_become_one)
