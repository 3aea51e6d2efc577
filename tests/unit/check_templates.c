/* Labels mined for templates: what becomes {}, what stays, and what becomes of what was said before. */
#include "infer/templates.h"

#include <string.h>

#include "tests/support/suite.h"

#define NODE 3

/* N labels with a word of their own where the * is. */
static const struct {
	const char *protocol;
	const char *label;
	guint n;
	guint calls;         /* of each; 0 = N, N / 2, N / 3, ..., as operations have */
	const char *becomes; /* NULL = all stay */
} rows[] = {
	{ "http", "GET /user/*", 20, 1, NULL },
	{ "http", "GET /user/*", 21, 1, "GET /user/{}" },
	{ "http", "GET /user/*/cart", 21, 1, "GET /user/{}/cart" },
	{ "http", "GET /user/*/cart/{}", 21, 1, "GET /user/{}/cart/{}" },
	{ "http", "GET /*", 30, 1, "GET /{}" },
	{ "http", "GET /user/*", 30, 5, "GET /user/{}" }, /* about equally often */
	{ "http", "POST /rpc/*", 30, 0, NULL },           /* a fixed set */
	{ "http", "POST /rpc/*", 99, 0, NULL },           /* with the one beside them 100 */
	{ "http", "POST /rpc/*", 101, 0, "POST /rpc/{}" },
	{ "http", "* /index", 90, 1, NULL },  /* the first word is no value ... */
	{ "http", "* /index", 120, 1, "{}" }, /* ... but there may be too many of them */
	{ "grpc", "/shop.Cart/*", 90, 5, NULL },
	{ "grpc", "/shop.Cart/*", 120, 5, "/shop.Cart/{}" },
	{ "redis", "GET user:*", 30, 1, "GET user:{}" },
	{ "redis", "GET user:*:cart", 30, 1, "GET user:{}:cart" },
	{ "nats", "PUB orders.*.new", 30, 1, "PUB orders.{}.new" },
	{ "dns", "*.rack.lan", 30, 1, "{}.rack.lan" },
	{ "dns", "www.*.lan", 30, 1, "www.{}.lan" },
	{ "dns", "*", 30, 1, NULL },
	{ "sql", "SELECT t_* (a, b) WHERE c", 30, 1, "SELECT {} (a, b) WHERE c" },
};

/* (transfer full) LABEL with word I. */
static char *
fill(const char *label, guint i)
{
	const char *star = strchr(label, '*');

	return g_strdup_printf("%.*s%c%cx%s", (int)(star - label), label, 'a' + (char)(i % 26),
			       'a' + (char)(i / 26), star + 1);
}

static void
add(WpTemplates *templates, WpStrings *strings, const char *protocol, const char *label,
    guint calls)
{
	for (guint i = 0; i < calls; i++)
		wp_templates_add(templates, NODE, wp_strings_intern(strings, protocol, -1),
				 wp_strings_intern(strings, label, -1));
}

static const char *
template_of(const WpTemplates *templates, const WpStrings *strings, const char *label)
{
	return wp_strings_get(
		strings, wp_templates_of(templates, NODE, wp_strings_find(strings, label, -1)));
}

/* The I-th of N in this order or the other. */
static guint
turned(guint i, guint n, gboolean is_backwards)
{
	return is_backwards ? n - 1 - i : i;
}

static void
try_row(guint number, gboolean is_backwards)
{
	g_autoptr(WpStrings) strings = wp_strings_new();
	g_autoptr(WpTemplates) templates = wp_templates_new(strings);
	guint n = rows[number].n;

	if (is_backwards)
		add(templates, strings, rows[number].protocol, "GET /health", 7);
	for (guint k = 0; k < n; k++) {
		guint i = turned(k, n, is_backwards);
		g_autofree char *label = fill(rows[number].label, i);
		add(templates, strings, rows[number].protocol, label,
		    rows[number].calls ? rows[number].calls : n * 2 / (i + 1));
	}
	if (!is_backwards)
		add(templates, strings, rows[number].protocol, "GET /health", 7);
	ck_assert(!wp_templates_mine(templates));
	guint n_kept = 0;
	for (guint i = 0; i < n; i++) {
		g_autofree char *label = fill(rows[number].label, i);
		const char *template = template_of(templates, strings, label);
		gboolean is_kept = strcmp(template, label) == 0;
		n_kept += is_kept;
		if (!is_kept || !rows[number].becomes)
			ck_assert_msg(strcmp(template, rows[number].becomes ? rows[number].becomes
									    : label) == 0,
				      "row %u: %s is %s", number, label, template);
	}
	/* What is frequent stays where the rarest are too many. */
	gboolean is_rest = g_strcmp0(rows[number].becomes, "{}") == 0;
	ck_assert_uint_eq(n_kept, is_rest ? WP_TEMPLATES_MAX - 2 : rows[number].becomes ? 0 : n);
	if (strcmp(rows[number].label, "GET /*") != 0 && strcmp(rows[number].protocol, "dns") != 0)
		ck_assert_str_eq(template_of(templates, strings, "GET /health"), "GET /health");
}

START_TEST(mined)
{
	for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
		try_row(i, FALSE);
		try_row(i, TRUE);
	}
}
END_TEST

static void
add_users(WpTemplates *templates, WpStrings *strings, guint first, guint n, guint calls)
{
	for (guint i = first; i < first + n; i++) {
		g_autofree char *label = fill("GET /user/*", i);
		add(templates, strings, "http", label, calls);
	}
}

/* Parts of a capture: what has become a template stays one, and what was said before is followed. */
START_TEST(parts)
{
	g_autoptr(WpStrings) strings = wp_strings_new();
	g_autoptr(WpTemplates) templates = wp_templates_new(strings);
	guint64 n_templates;

	add_users(templates, strings, 0, 15, 1);
	ck_assert(!wp_templates_mine(templates));
	guint32 before = wp_strings_find(strings, "GET /user/aax", -1);
	ck_assert_uint_eq(wp_templates_of(templates, NODE, before), before);
	ck_assert_uint_eq(wp_templates_n_joined(templates, &n_templates), 0);

	add_users(templates, strings, 15, 15, 1);
	ck_assert(wp_templates_mine(templates));
	guint32 after = wp_strings_find(strings, "GET /user/{}", -1);
	ck_assert_uint_ne(after, 0);
	ck_assert_uint_eq(wp_templates_now(templates, NODE, before), after);
	ck_assert_uint_eq(wp_templates_of(templates, NODE, before), after);
	ck_assert_uint_eq(wp_templates_now(templates, NODE + 1, before), before);
	ck_assert_uint_eq(wp_templates_n_joined(templates, &n_templates), 30);
	ck_assert_uint_eq(n_templates, 1);

	add_users(templates, strings, 0, 3, 500); /* no longer even, nor met once */
	add_users(templates, strings, 3, 27, 2);
	ck_assert(!wp_templates_mine(templates));
	ck_assert_uint_eq(wp_templates_of(templates, NODE, before), after);
	ck_assert_uint_eq(wp_templates_now(templates, NODE, after), after);
}
END_TEST

/* A node that has become another takes what is known along. */
START_TEST(moved)
{
	g_autoptr(WpStrings) strings = wp_strings_new();
	g_autoptr(WpTemplates) templates = wp_templates_new(strings);
	const guint32 now[] = { 0, 1, 2, 5 };
	guint32 protocol = wp_strings_intern(strings, "http", -1);

	add_users(templates, strings, 0, 30, 1);
	wp_templates_mine(templates);
	wp_templates_move(templates, now);
	guint32 label = wp_strings_intern(strings, "GET /user/zzz", -1);
	wp_templates_add(templates, now[NODE], protocol, label);
	ck_assert(!wp_templates_mine(templates));
	ck_assert_str_eq(wp_strings_get(strings, wp_templates_of(templates, now[NODE], label)),
			 "GET /user/{}");
}
END_TEST

/* Labels made to be many: of any form, there are no more than WP_TEMPLATES_MAX templates. */
START_TEST(bounded)
{
	g_autoptr(WpStrings) strings = wp_strings_new();
	g_autoptr(WpTemplates) templates = wp_templates_new(strings);
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GPtrArray) labels = g_ptr_array_new_with_free_func(g_free);
	guint n = (guint)wp_test_number(4000, 400);

	for (guint i = 0; i < n; i++) {
		GString *label = g_string_new(NULL);
		for (guint k = 0, bits = i; k < 200; k++, bits = bits / 3 + 7 * k)
			g_string_append(label, bits % 3 == 0 ? "/" : bits % 3 == 1 ? "a " : "b.");
		g_string_append_printf(label, "%u", i);
		add(templates, strings, "http", label->str, 1 + i % 3);
		g_ptr_array_add(labels, g_string_free(label, FALSE));
	}
	wp_templates_mine(templates);
	for (guint i = 0; i < n; i++)
		g_hash_table_add(seen, (gpointer)template_of(templates, strings, labels->pdata[i]));
	ck_assert_uint_le(g_hash_table_size(seen), WP_TEMPLATES_MAX);
}
END_TEST

WP_SUITE("templates", mined, parts, moved, bounded)
