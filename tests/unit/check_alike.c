/* Callees that are alike, and what is found by that. */
#include "infer/alike.h"
#include "tests/support/simulated.h"
#include "tests/support/suite.h"

/* Six shards at once, of eight: any. */
static const char shards[] =
	"[simulation]\nrequests = %d\nnetwork = normal(100us, 20%%)\n"
	"[service app]\n[service shard]\nreplicas = 8\n[service db]\n"
	"[client users]\narrivals = poisson(%d/s)\n"
	"plan = choose 60%% { call app.feed } 40%% { call app.item }\n"
	"[operation app.feed]\n"
	"plan = work normal(2ms, 20%%); spawn { call shard.get }; spawn { call shard.get }; "
	"spawn { call shard.get }; spawn { call shard.get }; spawn { call shard.get }; "
	"call shard.get; work normal(3ms, 20%%); maybe 30%% { call db.q }; work normal(2ms, 20%%)\n"
	"[operation app.item]\n"
	"plan = work normal(2ms, 20%%); call shard.get; maybe 20%% { call db.q }; "
	"work normal(2ms, 20%%)\n"
	"[operation shard.get]\nplan = work lognormal(2ms, 0.6)\n"
	"[operation db.q]\nplan = work lognormal(6ms, 0.8)\n";

/* Two stores asked for the same, one for sessions and one for the rest. */
static const char stores[] =
	"[simulation]\nrequests = %d\nnetwork = normal(100us, 20%%)\n"
	"[service app]\n[service store1]\n[service store2]\n"
	"[client users]\narrivals = poisson(%d/s)\n"
	"plan = choose 60%% { call app.feed } 40%% { call app.item }\n"
	"[operation app.feed]\n"
	"plan = work normal(1ms, 20%%); call store1.get; work normal(1ms, 30%%); call store2.get; "
	"work normal(3ms, 20%%); maybe 30%% { call store2.set }; work normal(2ms, 20%%)\n"
	"[operation app.item]\n"
	"plan = work normal(2ms, 20%%); call store1.get; work normal(2ms, 20%%); call store2.get; "
	"call store1.set; work normal(2ms, 20%%)\n"
	"[operation store1.get]\nlabel = GET\nplan = work lognormal(1ms, 0.6)\n"
	"[operation store1.set]\nlabel = SET\nplan = work lognormal(1ms, 0.6)\n"
	"[operation store2.get]\nlabel = GET\nplan = work lognormal(1ms, 0.6)\n"
	"[operation store2.set]\nlabel = SET\nplan = work lognormal(1ms, 0.6)\n";

static const struct {
	const char *text;
	int rate; /* requests a second */
	guint32 n_kinds;
	double right; /* floor, of the links */
} rows[] = {
	/* Each shard for itself .87 and .73 are right, as nearly all paths are rare. */
	{ shards, 30, 2, .97 },
	{ shards, 80, 2, .92 },
	{ stores, 20, 2, .98 },
	{ stores, 400, 2, .86 },
};

static void
find_lists(const WpSpans *spans, guint32 host, GArray *incoming, GArray *outgoing)
{
	for (guint32 i = 0; i < spans->n; i++) {
		if (spans->spans[i].callee_host == host)
			g_array_append_val(incoming, i);
		if (spans->spans[i].caller_host == host)
			g_array_append_val(outgoing, i);
	}
}

/* How many callees of HOST stand for themselves. */
static guint32
count_kinds(const WpResolved *resolved, guint32 host)
{
	const WpSpans *spans = wp_resolved_spans(resolved);
	g_autoptr(GArray) incoming = g_array_new(FALSE, FALSE, sizeof(guint32));
	g_autoptr(GArray) outgoing = g_array_new(FALSE, FALSE, sizeof(guint32));
	g_autoptr(GHashTable) kinds = g_hash_table_new(NULL, NULL);

	find_lists(spans, host, incoming, outgoing);
	g_autofree guint32 *nodes = wp_alike_find(
		resolved, (const guint32 *)(const void *)incoming->data, incoming->len,
		(const guint32 *)(const void *)outgoing->data, outgoing->len);
	for (guint i = 0; i < outgoing->len; i++)
		g_hash_table_add(kinds, GUINT_TO_POINTER(nodes[i]));
	return g_hash_table_size(kinds);
}

START_TEST(any_of_them_is_one_kind)
{
	g_autofree char *scenario =
		g_strdup_printf(rows[_i].text, wp_test_number(1000, 30), rows[_i].rate);
	g_autoptr(WpTestInferred) own = wp_test_inferred_new(scenario, "alike");
	guint32 host = wp_resolved_spans(own->resolved)->spans[0].callee_host;
	guint32 n_kinds = count_kinds(own->resolved, host);
	double right = wp_test_share_right(own->resolved, own->links, own->parents);

	if (wp_test_number(FALSE, TRUE)) /* so few say nothing */
		return;
	ck_assert_msg(n_kinds == rows[_i].n_kinds, "row %d: %u kinds", _i, n_kinds);
	ck_assert_msg(right >= rows[_i].right, "row %d: %.3f right", _i, right);
}
END_TEST

#define N_KEYS 60

/* Three at once, each for one of many things. */
static char *
scattered(int n, int rate)
{
	GString *keys = g_string_new("choose"), *text = g_string_new(NULL);

	for (int i = 0; i < N_KEYS; i++)
		g_string_append_printf(keys, " 1 { call store.k%d }", i);
	g_string_append_printf(
		text,
		"[simulation]\nrequests = %d\nnetwork = normal(100us, 20%%)\n"
		"[service app]\n[service store]\n"
		"[client users]\narrivals = poisson(%d/s)\n"
		"plan = choose 60%% { call app.feed } 40%% { call app.item }\n"
		"[operation app.feed]\nplan = work normal(2ms, 20%%); spawn { %s }; "
		"spawn { %s }; %s work normal(5ms, 20%%)\n"
		"[operation app.item]\nplan = work normal(2ms, 20%%); %s work normal(2ms, 20%%)\n",
		n, rate, keys->str, keys->str, keys->str, keys->str);
	for (int i = 0; i < N_KEYS; i++)
		g_string_append_printf(
			text,
			"[operation store.k%d]\nlabel = k%d\nplan = work lognormal(2ms, 0.6)\n", i,
			i);
	g_string_free(keys, TRUE);
	return g_string_free(text, FALSE);
}

/* Where nearly all paths are rare, that is no sign of a mistake. */
START_TEST(rare_paths_are_the_rule)
{
	g_autofree char *scenario = scattered(wp_test_number(1000, 30), 80);
	g_autoptr(WpTestInferred) own = wp_test_inferred_new(scenario, "scattered");
	double right = wp_test_share_right(own->resolved, own->links, own->parents);

	if (wp_test_number(TRUE, FALSE)) /* mended all the same .87 */
		ck_assert_msg(right >= .93, "%.3f right", right);
}
END_TEST

WP_SUITE_OF_ROWS("alike", { any_of_them_is_one_kind, G_N_ELEMENTS(rows) },
		 { rare_paths_are_the_rule, 1 })
