/*
 * WpQuickLog: logarithms from a table and powers from a series, for the inner loops of inference: without a call, and with the
 * same bits on every machine (libm's own may differ in the last).
 *
 * x = 2^e m, 1 <= m < 2. Of m's leading bits the table knows a centre c near m; log2(m) = log2(c) +
 * log2(m / c), and as m / c = 1 + r with |r| < 1/256, three terms of the series give 1e-9.
 */
#ifndef WP_INFER_QUICKLOG_H
#define WP_INFER_QUICKLOG_H

#include <glib.h>
#include <string.h>

#define WP_QUICK_BITS 7
#define WP_LOG2_E     1.4426950408889634

typedef struct {
	struct {
		double inverse; /* 1 / c */
		double log;     /* log2(c) */
	} table[1 << WP_QUICK_BITS];
} WpQuickLog;

void wp_quick_log_init(WpQuickLog *quick);

/* log2(X) of a normal X > 0. */
static inline double
wp_quick_log2(const WpQuickLog *quick, double x)
{
	guint64 bits;
	memcpy(&bits, &x, sizeof bits);
	gint exponent = (gint)(bits >> 52) - 1023;
	guint at = (guint)(bits >> (52 - WP_QUICK_BITS)) & ((1u << WP_QUICK_BITS) - 1);
	bits = (bits & G_GUINT64_CONSTANT(0xfffffffffffff)) |
	       G_GUINT64_CONSTANT(0x3ff0000000000000);
	memcpy(&x, &bits, sizeof x);
	double r = x * quick->table[at].inverse - 1;
	double series = r * (1 - r * (0.5 - r * (1.0 / 3)));
	return exponent + quick->table[at].log + series * WP_LOG2_E;
}

/* e^X, |X| < 700: 2 to the power of a whole number and of a rest, the latter by its series. */
static inline double
wp_quick_exp(double x)
{
	double y = x * WP_LOG2_E;
	gint whole = (gint)(y < 0 ? y - 0.5 : y + 0.5);
	double r = (y - whole) * G_LN2; /* |r| < 0.35 */
	double series =
		1 +
		r * (1 +
		     r * (1.0 / 2) *
			     (1 + r * (1.0 / 3) *
					  (1 + r * (1.0 / 4) *
						       (1 + r * (1.0 / 5) *
								    (1 + r * (1.0 / 6) *
										 (1 + r * (1.0 /
											   7)))))));
	guint64 bits = (guint64)(whole + 1023) << 52;
	double power;
	memcpy(&power, &bits, sizeof power);
	return series * power;
}

static inline double
wp_quick_log(const WpQuickLog *quick, double x)
{
	return wp_quick_log2(quick, x) * G_LN2;
}

#endif
