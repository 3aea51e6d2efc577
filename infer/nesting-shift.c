/* Bundles moved in time. See the header. */
#include "infer/nesting-shift.h"

#include <math.h>

/* Bundles by which the usual load is found. */
#define SHORT_BLOCK 16

/* Parents to a block of bundles that are moved. */
#define BLOCK_PARENTS 128

/* The times of such blocks vary by more where the load does; by 0.09 where requests come at random. */
#define UNEVEN 0.1

/* So many usual gaps without a bundle, and nothing happens. */
#define IDLE_GAPS 32

struct WpNestOrder {
	const WpNestProblem *problem;
	guint32 block; /* bundles */
	gint64 *busy;  /* by bundle: time until it begins, without idle time; owned */
};

WpNestOrder *
wp_nest_order_new(const WpNestProblem *problem, const WpNestShift *shift)
{
	WpNestOrder *order = g_new(WpNestOrder, 1);

	*order = (WpNestOrder){ problem, shift->block,
				g_new0(gint64, (gsize)problem->n_bundles + 1) };
	for (guint32 b = 1; b < problem->n_bundles; b++) {
		gint64 gap_ns = problem->bundles[b].begin_ns - problem->bundles[b - 1].begin_ns;
		order->busy[b] = order->busy[b - 1] + MIN(gap_ns, shift->idle_ns);
	}
	return order;
}

void
wp_nest_order_free(WpNestOrder *order)
{
	g_free(order->busy);
	g_free(order);
}

/* Of block NUMBER: its first bundle; behind the last one, the last bundle. */
static guint32
block_first(const WpNestOrder *order, guint32 number)
{
	return (guint32)MIN((guint64)number * order->block, order->problem->n_bundles - 1);
}

static guint32
block_size(const WpNestOrder *order, guint32 number)
{
	return MIN(order->block, order->problem->n_bundles - number * order->block);
}

/* Where BUNDLE lies among all, 0 .. n_bundles. */
static double
place_of(const WpNestOrder *order, guint32 bundle)
{
	guint32 block = bundle / order->block;
	gint64 begin = order->busy[block_first(order, block)];
	double length = (double)(order->busy[block_first(order, block + 1)] - begin);
	double part = length > 0 ? (double)(order->busy[bundle] - begin) / length : 0;
	return block * (double)order->block + part * block_size(order, block);
}

static gint64
time_at(const WpNestOrder *order, double place)
{
	guint32 block = MIN((guint32)place, order->problem->n_bundles - 1) / order->block;
	guint32 low = block_first(order, block), high = block_first(order, block + 1);
	double part = (place - block * (double)order->block) / block_size(order, block);
	gint64 busy =
		order->busy[low] + (gint64)(part * (double)(order->busy[high] - order->busy[low]));

	while (low < high) { /* the last bundle until then */
		guint32 middle = low + (high - low + 1) / 2;
		if (order->busy[middle] <= busy)
			low = middle;
		else
			high = middle - 1;
	}
	return order->problem->bundles[low].begin_ns + (busy - order->busy[low]);
}

double
wp_nest_order_load(const WpNestOrder *order, guint32 bundle, double ns)
{
	guint32 block = bundle / order->block;
	gint64 length_ns =
		order->busy[block_first(order, block + 1)] - order->busy[block_first(order, block)];

	return block_size(order, block) * ns / (double)MAX(length_ns, 1);
}

/* On by so many; back is on by the rest of all. */
static double
number_of(const WpNestOrder *order, double share)
{
	return (share < 0 ? share + 1 : share) * order->problem->n_bundles;
}

guint32
wp_nest_order_first_back(const WpNestOrder *order, double share)
{
	guint32 n = order->problem->n_bundles, low = 0, high = n;

	while (low < high) {
		guint32 middle = low + (high - low) / 2;
		if (place_of(order, middle) + number_of(order, share) < n)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

gint64
wp_nest_order_moved(const WpNestOrder *order, guint32 bundle, double share)
{
	guint32 n = order->problem->n_bundles;
	double place = place_of(order, bundle) + number_of(order, share);

	return time_at(order, place < n ? place : place - n);
}

/* The time that a bundle comes after another one where the host is neither idle nor in a burst. */
static double
usual_gap_ns(const WpNestProblem *problem)
{
	guint32 last = problem->n_bundles - 1, n = last / SHORT_BLOCK + 1;
	g_autofree gint64 *lengths = g_new(gint64, n);

	for (guint32 k = 0; k < n; k++)
		lengths[k] = problem->bundles[MIN((k + 1) * SHORT_BLOCK, last)].begin_ns -
			     problem->bundles[k * SHORT_BLOCK].begin_ns;
	return (double)wp_nest_select_time(lengths, n, n / 2) / SHORT_BLOCK;
}

/* How the times of blocks vary, as standard deviation over mean. A last one that is short counts if it is a half. */
static double
unevenness(const WpNestOrder *order)
{
	guint32 n = (order->problem->n_bundles + order->block / 2) / order->block;
	double sum = 0, squares = 0;

	for (guint32 k = 0; k < n; k++) {
		gint64 begin = order->busy[block_first(order, k)];
		double length = (double)(order->busy[block_first(order, k + 1)] - begin);
		length *= (double)order->block / block_size(order, k);
		sum += length;
		squares += length * length;
	}
	return n > 1 && sum > 0 ? sqrt(MAX(squares * n / (sum * sum) - 1, 0)) : 0;
}

WpNestShift
wp_nest_shift_of(const WpNestProblem *problem, gint64 time_ns, double most)
{
	guint32 n = problem->n_bundles;
	WpNestShift shift = { most, n + 1, time_ns };

	if (n < 2)
		return shift;
	double block = BLOCK_PARENTS * MAX((double)n / MAX(problem->n_parents, 1), 1);
	shift.idle_ns = MAX((gint64)(IDLE_GAPS * usual_gap_ns(problem)), time_ns);
	WpNestOrder *order = wp_nest_order_new(problem, &shift);
	order->block = (guint32)MIN(block, n);
	if (unevenness(order) > UNEVEN)
		shift.block = order->block;
	if (order->busy[n - 1] > 0)
		shift.share = MIN((double)time_ns / (double)order->busy[n - 1], most);
	wp_nest_order_free(order);
	return shift;
}
