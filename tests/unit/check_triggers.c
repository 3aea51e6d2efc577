/* Rules on windows: what begins to hold, lasts and ends. */
#include "report/triggers.h"

#include <string.h>

#include "capture/trace.h"
#include "tests/support/suite.h"

/* A letter a window: the p95 of "GET /" in units of 10 ms; '-': it is not seen. */
typedef struct {
	const char *rule;
	const char *windows;
	const char *states; /* a letter a window: B begins, L lasts, E ends, - nothing */
} Row;

static const Row rows[] = {
	{ "p95 > 50ms", "1116611", "---BLE-" },
	{ "p95 > 50ms", "66", "BL" },
	{ "p95 > 50ms", "6-6", "BEB" },
	{ "p95 > 50ms", "616161", "BEBEBE" },
	{ "p95 > 50ms && operation ~ \"POST *\"", "666", "---" },
	{ "operation == \"GET /\" && node == web && client == outside", "12", "BL" },
	{ "count == 20 && rate == 2 && rate < 2.001", "1", "B" },
	{ "failed >= 25%", "1", "B" },
	{ "failed > 25%", "1", "-" },
	{ "errors == 5", "1", "B" },
	{ "change >= 1.5", "1267",
	  "--BL" }, /* what was usual is 40 ms; unknown where it is 10 ms */
	{ "!(change < 1.5)", "1", "B" },
	{ "slow", "167", "-BL" },
	{ "blame == db", "1", "B" },
	{ "path ~ \"*\" && p95 > 50ms", "6", "-" }, /* there are no patterns */
	{ "mean == 10ms && p50 == 10ms && p99 == 10ms && max == 10ms", "1", "B" },
};

static WpTriggerState
state_of(WpTriggers *triggers, char letter, gint64 begin_ns, guint *out_n)
{
	double p95_ns = (letter - '0') * 1e7;
	WpViewShare share = { .node = "db" };
	const WpViewOperation operation = {
		.client = "outside",
		.node = "web",
		.label = "GET /",
		.count = 20,
		.errors = 5,
		.latency = { .mean_ns = p95_ns,
			     .p50_ns = p95_ns,
			     .p95_ns = p95_ns,
			     .p99_ns = p95_ns,
			     .max_ns = p95_ns },
		.n_shares = 1,
		.shares = &share,
	};
	WpWatchRow row = { &operation, 2, letter > '1' ? p95_ns / 4e7 : 0,
			   letter >= '6' ? begin_ns : WP_NO_TIME };
	const WpWatchWindow window = { .begin_ns = begin_ns,
				       .n_rows = letter == '-' ? 0 : 1,
				       .rows = &row };
	const WpTriggered *triggered = wp_triggers_ask(triggers, &window, out_n);

	ck_assert_uint_le(*out_n, 1);
	if (*out_n) {
		ck_assert_str_eq(triggered->subject, "GET /  outside > web");
		ck_assert_uint_eq(triggered->count, 20);
	}
	return *out_n ? triggered->state : WP_TRIGGER_N_STATES;
}

START_TEST(states)
{
	static const char letters[] = "BLE-";
	const Row *row = &rows[_i];
	GError *error = NULL;
	g_autoptr(WpTriggers) triggers = wp_triggers_new(&row->rule, 1, &error);

	ck_assert_msg(triggers, "%s: %s", row->rule, error ? error->message : "");
	for (gsize i = 0; row->windows[i]; i++) {
		guint n;
		WpTriggerState state =
			state_of(triggers, row->windows[i], (gint64)i * 10000000000, &n);
		ck_assert_msg(letters[state] == row->states[i], "%s: window %zu: %c", row->rule, i,
			      letters[state]);
	}
}
END_TEST

/* What there is no room for is counted; what ends makes room. */
START_TEST(room)
{
	static const char *const rule = "count > 0";
	g_autoptr(WpTriggers) triggers = wp_triggers_new(&rule, 1, NULL);
	const guint many = WP_TRIGGERS_MAX_HELD + 10;
	g_autofree WpViewOperation *operations = g_new0(WpViewOperation, many);
	g_autofree WpWatchRow *all = g_new0(WpWatchRow, many);
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	guint n;

	for (guint i = 0; i < many; i++) {
		g_ptr_array_add(names, g_strdup_printf("GET /%u", i));
		operations[i] = (WpViewOperation){
			.client = "a", .node = "b", .label = names->pdata[i], .count = 1
		};
		all[i].operation = &operations[i];
	}
	WpWatchWindow window = { .n_rows = many, .rows = all };
	wp_triggers_ask(triggers, &window, &n);
	ck_assert_uint_eq(n, WP_TRIGGERS_MAX_HELD);
	ck_assert_uint_eq(wp_triggers_n_left(triggers), 10);
	window.n_rows = 0;
	wp_triggers_ask(triggers, &window, &n);
	ck_assert_uint_eq(n, WP_TRIGGERS_MAX_HELD);
	window.rows = all + WP_TRIGGERS_MAX_HELD;
	window.n_rows = 10;
	wp_triggers_ask(triggers, &window, &n);
	ck_assert_uint_eq(n, 10);
}
END_TEST

WP_SUITE_OF_ROWS("triggers", { states, G_N_ELEMENTS(rows) }, { room, 0 })
