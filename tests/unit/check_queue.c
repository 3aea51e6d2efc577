/* Lines for a connection: when calls that waited came to them, and what is found by that. */
#include <math.h>

#include "tests/support/simulated.h"
#include "tests/support/suite.h"

/* Any number of requests at a time share the connections; what comes first is served first. */
static const char text[] =
	"[simulation]\nrequests = %d\nnetwork = normal(50us, 20%%)\n"
	"[service app]\n%s\n[service db]\n[pool app db]\nconnections = %d\n"
	"[client users]\narrivals = poisson(%d/s)\nplan = call app.x\n"
	"[operation app.x]\nplan = work normal(%dus, 30%%); call db.x; work normal(%dus, 30%%); "
	"call db.y; work normal(%dus, 30%%); maybe %d%% { call db.x }\n"
	"[operation db.x]\nplan = work lognormal(6ms, 0.5)\n"
	"[operation db.y]\nplan = work lognormal(9ms, 0.5)\n";

static const struct {
	const char *workers;
	int connections;
	int rate; /* a second */
	int work_us;
	int again;    /* percent of the requests that ask twice */
	double right; /* floor */
	double off;   /* most: between what is right and what is said to be */
} rows[] = {
	/* Told by all but the line .59, .50, .55 and .51 are right. */
	{ "", 2, 88, 1000, 50, 0.85, 0.06 },
	{ "", 5, 217, 1000, 50, 0.85, 0.06 },
	{ "", 5, 217, 50, 50, 0.9, 0.06 },
	{ "", 10, 495, 50, 50, 0.85, 0.06 },
	/* Hardly anybody waits */
	{ "", 10, 255, 1000, 50, 0.92, 0.05 },
	/* Another line before it, for workers: by any number of these .81, .41 and .43 are right */
	{ "workers = 4", 3, 110, 1000, 50, 0.9, 0.06 },
	{ "workers = 6", 3, 156, 1000, 50, 0.87, 0.06 }, /* full of noise .86 */
	{ "workers = 5", 2, 104, 1000, 50, 0.65, 0.2 },
	/* More workers than connections, of which none is ever free: else .48 and .24 */
	{ "workers = 3", 1, 54, 300, 50, 0.7, 0.15 },
	{ "workers = 12", 5, 240, 1000, 100, 0.5, 0.3 },
};

START_TEST(who_comes_first_is_served_first)
{
	g_autofree char *scenario =
		g_strdup_printf(text, wp_test_number(1000, 40), rows[_i].workers,
				rows[_i].connections, rows[_i].rate, rows[_i].work_us,
				rows[_i].work_us, rows[_i].work_us, rows[_i].again);
	double right, said;

	wp_test_infer_simulated(scenario, "pool", &right, &said);
	if (wp_test_number(1, 0))
		ck_assert_msg(right >= rows[_i].right && fabs(said - right) <= rows[_i].off,
			      "row %d: %.3f right, %.3f said to be", _i, right, said);
}
END_TEST

/*
 * A shop whose program keeps its connections in stacks: calls often follow another over the one that has just come back, though others
 * are free.
 */
static const char stacks[] =
	"[simulation]\nrequests = %d\nseed = %d\nnetwork = normal(60us, 30%%)\n"
	"[service app]\n[service auth]\n[service db]\n[service cache]\n"
	"[pool app auth]\nconnections = 8\nreuse = newest\n"
	"[pool app db]\nconnections = 4\nreuse = newest\n"
	"[pool app cache]\nconnections = 4\nreuse = newest\n"
	"[client users]\nclients = 14\nthink = exponential(6ms)\n"
	"plan = choose 3 { call app.item } 2 { call app.cart } 1 { call app.search } 1 { call "
	"app.order }\n"
	"[operation app.item]\n"
	"plan = work normal(2ms, 20%%); call cache.get; maybe 30%% { call db.item; work "
	"exponential(3ms) }; "
	"work lognormal(2ms, 0.5); reply; work uniform(1ms, 5ms); call cache.set\n"
	"[operation app.cart]\n"
	"plan = work exponential(1ms); call auth.check; call cache.cart; work lognormal(1ms, 0.4); "
	"call db.price; work exponential(2ms)\n"
	"[operation app.search]\n"
	"plan = work lognormal(8ms, 0.5); call db.search; work exponential(1ms); call cache.get; "
	"work normal(2ms, 30%%)\n"
	"[operation app.order]\n"
	"plan = work exponential(1ms); call auth.check; work normal(1500us, 20%%); call db.order; "
	"work exponential(1ms); call cache.del\n"
	"[operation auth.check]\nplan = work lognormal(2500us, 0.5)\n"
	"[operation db.item]\nplan = work lognormal(300us, 0.5)\n"
	"[operation db.price]\nplan = work lognormal(4ms, 0.6)\n"
	"[operation db.search]\nplan = work lognormal(7ms, 0.4)\n"
	"[operation db.order]\nplan = work lognormal(5ms, 0.5)\n"
	"[operation cache.get]\nplan = work normal(80us, 20%%)\n"
	"[operation cache.set]\nplan = work normal(80us, 20%%)\n"
	"[operation cache.del]\nplan = work normal(80us, 20%%)\n"
	"[operation cache.cart]\nplan = work normal(80us, 20%%)\n";

START_TEST(what_is_free_is_no_line)
{
	g_autofree char *scenario = g_strdup_printf(stacks, wp_test_number(1500, 40), _i + 1);
	double right, said;

	wp_test_infer_simulated(scenario, "stacks", &right, &said);
	if (wp_test_number(1, 0)) /* with all these taken for calls that waited .50 */
		ck_assert_msg(right >= 0.53, "seed %d: %.3f right", _i + 1, right);
}
END_TEST

WP_SUITE_OF_ROWS("queue", { who_comes_first_is_served_first, G_N_ELEMENTS(rows) },
		 { what_is_free_is_no_line, 2 })
