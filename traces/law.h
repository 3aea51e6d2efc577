/*
 * WpLaw: how long something takes, or how large it is: a distribution.
 *
 *   5ms                    always
 *   normal(10ms, 10%)      mean, standard deviation (a time, or a share of the mean)
 *   exponential(10ms)      mean
 *   lognormal(10ms, 0.8)   median, sigma of the logarithm
 *   uniform(5ms, 20ms)     from, to
 *
 * What falls below 0 is 0. Sizes are written with plain numbers instead of times.
 */
#ifndef WP_TRACES_LAW_H
#define WP_TRACES_LAW_H

#include "traces/random.h"

typedef struct WpLawKind WpLawKind;

typedef struct {
	const WpLawKind *kind; /* NULL = always 0 */
	double a;              /* ns, or a plain number */
	double b;
} WpLaw;

struct WpLawKind {
	const char *name;
	guint n_arguments;
	gboolean is_sigma; /* the second argument is a plain number */
	double (*draw)(WpRandom *random, double a, double b);
	double (*mean)(double a, double b);

	/* The law of this kind with a mean; SPREAD: sd, sigma or half the width, as share of the mean. */
	WpLaw (*with_mean)(double mean, double spread);
};

typedef enum {
	WP_LAW_TIME,
	WP_LAW_NUMBER
} WpLawUnit;

/* Reads a law at *AT and moves on; else FALSE and (transfer full) *OUT_PROBLEM. */
gboolean wp_law_read(const char **at, WpLawUnit unit, WpLaw *out_law, char **out_problem);

/* A kind with its spread alone: "exponential", "normal(20%)", "lognormal(0.8)"; as above. */
typedef struct {
	const WpLawKind *kind; /* NULL = none */
	double spread;
} WpLawShape;

gboolean wp_law_shape_read(const char **at, WpLawShape *out_shape, char **out_problem);

/* LAW in another shape, with its mean. */
WpLaw wp_law_reshape(const WpLaw *law, const WpLawShape *shape);

/* No draw is above this, so that no sum of times overflows: 11 days in ns. */
#define WP_LAW_MAX 1e15

static inline gint64
wp_law_draw(const WpLaw *law, WpRandom *random)
{
	if (!law->kind)
		return 0;
	double value = law->kind->draw(random, law->a, law->b);
	if (!(value > 0))
		return 0;
	return value < WP_LAW_MAX ? (gint64)(value + 0.5) : (gint64)WP_LAW_MAX;
}

#endif
