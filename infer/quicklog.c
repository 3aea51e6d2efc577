/* The table of WpQuickLog. */
#include "infer/quicklog.h"

/* log2(X), 1 <= X <= 2, by the series of artanh: nothing but sums, products and quotients. */
static double
exact_log2(double x)
{
	double s = (x - 1) / (x + 1), square = s * s, sum = 0;
	for (gint k = 41; k >= 1; k -= 2)
		sum = sum * square + 1.0 / k;
	return 2 * s * sum * WP_LOG2_E;
}

void
wp_quick_log_init(WpQuickLog *quick)
{
	for (guint i = 0; i < G_N_ELEMENTS(quick->table); i++) {
		double centre = 1 + (i + 0.5) / (double)G_N_ELEMENTS(quick->table);
		quick->table[i].inverse = 1 / centre;
		quick->table[i].log = exact_log2(1 / quick->table[i].inverse);
	}
}
