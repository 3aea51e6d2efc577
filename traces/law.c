/* Distributions: a const WpLawKind each, one line in kinds[]. */
#include "traces/law.h"

#include <string.h>

#include "traces/value.h"

static double
draw_constant(WpRandom *random, double a, double b)
{
	return a;
}

static double
mean_first(double a, double b)
{
	return a;
}

static double
draw_normal(WpRandom *random, double a, double b)
{
	return a + b * wp_random_normal(random);
}

static double
draw_exponential(WpRandom *random, double a, double b)
{
	return a * wp_random_exponential(random);
}

static double
draw_lognormal(WpRandom *random, double a, double b)
{
	return a * wp_random_exp(b * wp_random_normal(random));
}

static double
mean_lognormal(double a, double b)
{
	return a * wp_random_exp(b * b / 2);
}

static double
draw_uniform(WpRandom *random, double a, double b)
{
	return a + (b - a) * wp_random_share(random);
}

static double
mean_uniform(double a, double b)
{
	return (a + b) / 2;
}

static WpLaw make_constant(double mean, double spread);
static WpLaw make_normal(double mean, double spread);
static WpLaw make_exponential(double mean, double spread);
static WpLaw make_lognormal(double mean, double spread);
static WpLaw make_uniform(double mean, double spread);

static const WpLawKind constant = {
	"constant", 1, FALSE, draw_constant, mean_first, make_constant
};
static const WpLawKind normal = { "normal", 2, FALSE, draw_normal, mean_first, make_normal };
static const WpLawKind exponential = { "exponential",    1,          FALSE,
				       draw_exponential, mean_first, make_exponential };
static const WpLawKind lognormal = { "lognormal",   2, TRUE, draw_lognormal, mean_lognormal,
				     make_lognormal };
static const WpLawKind uniform = { "uniform", 2, FALSE, draw_uniform, mean_uniform, make_uniform };

static const WpLawKind *const kinds[] = { &constant,  &normal,  &exponential,
					  &lognormal, &uniform, NULL };

static WpLaw
make_constant(double mean, double spread)
{
	return (WpLaw){ &constant, mean, 0 };
}

static WpLaw
make_normal(double mean, double spread)
{
	return (WpLaw){ &normal, mean, mean * spread };
}

static WpLaw
make_exponential(double mean, double spread)
{
	return (WpLaw){ &exponential, mean, 0 };
}

static WpLaw
make_lognormal(double mean, double spread)
{
	return (WpLaw){ &lognormal, mean / wp_random_exp(spread * spread / 2), spread };
}

static WpLaw
make_uniform(double mean, double spread)
{
	return (WpLaw){ &uniform, mean * (1 - spread), mean * (1 + spread) };
}

static const WpLawKind *
find_kind(const char *name, char **out_problem)
{
	const char *names[G_N_ELEMENTS(kinds)] = { NULL };

	for (guint i = 0; kinds[i]; i++) {
		if (strcmp(kinds[i]->name, name) == 0)
			return kinds[i];
		names[i] = kinds[i]->name;
	}
	g_autofree char *hint = wp_value_hint(name, names);
	*out_problem = g_strdup_printf("there is no law \"%s\"%s", name, hint);
	return NULL;
}

static gboolean
read_argument(const char **at, WpLawUnit unit, double *out_value)
{
	return unit == WP_LAW_TIME ? wp_value_duration(at, out_value)
				   : wp_value_number(at, out_value);
}

/* sigma; or a time; or, of a normal law, a share of the mean. */
static gboolean
read_second(const char **at, WpLawUnit unit, WpLaw *law)
{
	double share;

	if (law->kind->is_sigma)
		return wp_value_number(at, &law->b) && law->b <= 5;
	if (read_argument(at, unit, &law->b))
		return TRUE;
	if (law->kind != &normal || !wp_value_share(at, &share))
		return FALSE;
	law->b = law->a * share;
	return TRUE;
}

gboolean
wp_law_read(const char **at, WpLawUnit unit, WpLaw *out_law, char **out_problem)
{
	const char *begin = *at;
	WpLaw law = { &constant, 0, 0 };

	wp_value_skip_blanks(at);
	if (!g_ascii_isalpha(**at)) {
		if (read_argument(at, unit, &law.a)) {
			*out_law = law;
			return TRUE;
		}
		*out_problem = g_strdup_printf("\"%.20s\" is no %s", begin,
					       unit == WP_LAW_TIME ? "time, like 5ms" : "number");
		return FALSE;
	}
	g_autofree char *name = wp_value_word(at);
	law.kind = find_kind(name, out_problem);
	if (!law.kind)
		return FALSE;
	if (!wp_value_take(at, '(') || !read_argument(at, unit, &law.a) ||
	    (law.kind->n_arguments > 1 &&
	     (!wp_value_take(at, ',') || !read_second(at, unit, &law))) ||
	    !wp_value_take(at, ')') || (law.kind == &uniform && law.b < law.a)) {
		*out_problem = g_strdup_printf("\"%.40s\" is not what %s(...) takes", begin,
					       law.kind->name);
		return FALSE;
	}
	*out_law = law;
	return TRUE;
}

gboolean
wp_law_shape_read(const char **at, WpLawShape *out_shape, char **out_problem)
{
	g_autofree char *name = wp_value_word(at);
	WpLawShape shape = { name ? find_kind(name, out_problem) : NULL, 0 };

	if (!shape.kind) {
		if (!name)
			*out_problem = g_strdup("expected the name of a law");
		return FALSE;
	}
	if (shape.kind->n_arguments > 1) {
		gboolean good = wp_value_take(at, '(') &&
				(shape.kind->is_sigma ? wp_value_number(at, &shape.spread)
						      : wp_value_share(at, &shape.spread)) &&
				shape.spread <= 5 && wp_value_take(at, ')');
		if (!good) {
			*out_problem = g_strdup_printf("write %s(%s)", name,
						       shape.kind->is_sigma ? "0.8" : "20%");
			return FALSE;
		}
	}
	*out_shape = shape;
	return TRUE;
}

static double
mean_of(const WpLaw *law)
{
	return law->kind ? law->kind->mean(law->a, law->b) : 0;
}

WpLaw
wp_law_reshape(const WpLaw *law, const WpLawShape *shape)
{
	return shape->kind ? shape->kind->with_mean(mean_of(law), shape->spread) : *law;
}
