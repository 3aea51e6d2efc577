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
		g_strdup_printf(text, wp_test_number(1500, 60), rows[_i].workers,
				rows[_i].connections, rows[_i].rate, rows[_i].work_us,
				rows[_i].work_us, rows[_i].work_us, rows[_i].again);
	double right, said;

	wp_test_infer_simulated(scenario, "pool", &right, &said);
	if (wp_test_number(1, 0))
		ck_assert_msg(right >= rows[_i].right && fabs(said - right) <= rows[_i].off,
			      "row %d: %.3f right, %.3f said to be", _i, right, said);
}
END_TEST

WP_SUITE_OF_ROWS("queue", { who_comes_first_is_served_first, G_N_ELEMENTS(rows) })
