/*
 * Drift and onset: does a node's self time, the share of its calls that fail, or its share of its replicas' calls change
 * in the middle of the capture, and when?
 *
 *     onset   ________--------      the best step: two levels, and the bin in which the second begins
 *     drift   ___---''''            the best line, where it leaves less than the best step
 *
 * A place that is chosen because it fits best is met by chance more often than one that was fixed beforehand: for a step
 * the chance is that of the largest of all places (James, James and Siegmund, "Tests for a change-point", 1987, whose
 * approximation this is). What is left beside the step or line hangs together; see shift.h for how that is allowed for.
 */
#include <math.h>
#include <string.h>

#include "report/doctor-series.h"
#include "report/doctor.h"
#include "report/format.h"
#include "report/shift.h"
#include "report/student.h"

/* A step stands not in the first or last tenth of the calls. */
#define EDGE 0.1

typedef struct {
	gboolean is_step;
	guint at;      /* block in which the second level begins */
	double before; /* levels; of a line, at both ends */
	double after;
	double rest; /* squares left */
} Fit;

/* Levels by blocks, weighted by calls. */
static Fit
fit_step(const WpDoctorSeries *series)
{
	Fit best = { .is_step = TRUE, .rest = INFINITY };
	double w = 0, sum = 0, squares = 0, left_w = 0, left = 0;
	for (guint i = 0; i < series->n; i++) {
		const WpDoctorBlock *block = &series->blocks[i];
		w += block->den;
		sum += block->num;
		squares += block->num * block->num / block->den;
	}
	for (guint i = 1; i < series->n; i++) {
		left_w += series->blocks[i - 1].den;
		left += series->blocks[i - 1].num;
		if (left_w < EDGE * w || left_w > (1 - EDGE) * w)
			continue;
		double rest =
			squares - left * left / left_w - (sum - left) * (sum - left) / (w - left_w);
		if (rest < best.rest)
			best = (Fit){ TRUE, i, left / left_w, (sum - left) / (w - left_w), rest };
	}
	return best;
}

static Fit
fit_line(const WpDoctorSeries *series)
{
	double w = 0, x = 0, y = 0, xx = 0, xy = 0, yy = 0;
	for (guint i = 0; i < series->n; i++) {
		const WpDoctorBlock *block = &series->blocks[i];
		double at = block->middle, value = block->num / block->den;
		w += block->den;
		x += block->den * at;
		y += block->den * value;
		xx += block->den * at * at;
		xy += block->den * at * value;
		yy += block->den * value * value;
	}
	double sxx = xx - x * x / w, sxy = xy - x * y / w;
	double slope = sxx > 0 ? sxy / sxx : 0, mean = y / w - slope * x / w;
	double first = series->blocks[0].middle, last = series->blocks[series->n - 1].middle;
	return (Fit){ FALSE, 0, mean + slope * first, mean + slope * last,
		      MAX(yy - y * y / w - slope * sxy, 0) };
}

static double
fitted(const WpDoctorSeries *series, const Fit *fit, guint i)
{
	if (fit->is_step)
		return i < fit->at ? fit->before : fit->after;
	double first = series->blocks[0].middle, last = series->blocks[series->n - 1].middle;
	return fit->before +
	       (fit->after - fit->before) * (series->blocks[i].middle - first) / (last - first);
}

/*
 * How much of the change each block may be wrong by: of a line, by its place; of a step, all blocks alike, as one of its sides
 * may have few, whose own differences say too little.
 */
static WpShift
judge(const WpDoctorSeries *series, const Fit *fit)
{
	g_autoptr(GArray) influences = g_array_new(FALSE, FALSE, sizeof(double));
	double sides[2] = { 0, 0 }, w = 0, x = 0, sxx = 0;
	double first = series->blocks[0].middle, last = series->blocks[series->n - 1].middle;
	for (guint i = 0; i < series->n; i++) {
		sides[fit->is_step && i >= fit->at] += series->blocks[i].den;
		w += series->blocks[i].den;
		x += series->blocks[i].den * series->blocks[i].middle;
	}
	x /= w;
	for (guint i = 0; i < series->n; i++)
		sxx += series->blocks[i].den * pow(series->blocks[i].middle - x, 2);
	for (guint i = 0; i < series->n; i++) {
		const WpDoctorBlock *block = &series->blocks[i];
		double rest = block->num - fitted(series, fit, i) * block->den;
		double influence = fit->is_step ? rest * sqrt((1 / sides[0] + 1 / sides[1]) / w)
						: rest * (block->middle - x) / sxx * (last - first);
		g_array_append_val(influences, influence);
	}
	return wp_shift_by_influence(fit->after - fit->before, WP_SHIFT_TIED, &influences, 1);
}

/* Of the largest of all places between EDGE and 1 - EDGE, where CHANCE is that of one. */
static double
chance_of_any(double chance)
{
	if (chance <= 0)
		return 0;
	double c = wp_student_quantile(chance, 1e9), cc = c * c;
	if (c < 2)
		return 1;
	double p = c * exp(-cc / 2) / sqrt(2 * G_PI) *
		   ((1 - 1 / cc) * 2 * log((1 - EDGE) / EDGE) + 4 / cc);
	return MIN(p, 1);
}

/* TRUE where the number changes; CHANCE and FIT tell how. */
static gboolean
has_changed(const WpDoctor *doctor, const WpDoctorSeries *series, double risk, Fit *fit,
	    WpShift *shift)
{
	Fit step = fit_step(series), line = fit_line(series);
	*fit = step.rest <= line.rest ? step : line;
	*shift = judge(series, fit);
	double chance = chance_of_any(wp_shift_chance(shift));
	double least = series->kind->is_log ? log1p(doctor->of.rules->drift_change)
					    : doctor->of.rules->matters;
	return isfinite(fit->rest) && shift->doubt == WP_SHIFT_CLEAR && chance < risk &&
	       fabs(fit->after - fit->before) >= least;
}

/* The share of all time, or calls, that the change makes. */
static double
weigh(const WpDoctor *doctor, const WpDoctorSeries *series, const Fit *fit)
{
	double part = 0, all = 0;
	for (guint i = 0; i < series->n; i++) {
		double change = fitted(series, fit, i) - fit->before;
		all += series->blocks[i].den;
		part += series->blocks[i].den *
			(series->kind->is_log ? fabs(1 - exp(-change)) : fabs(change));
	}
	return all > 0 ? MIN(part / all * wp_doctor_series_share(doctor, series), 1) : 0;
}

/* The calls in a bin: the slowest of the first bins after the change, and one from before it. */
static void
add_examples(WpDoctorFinding *finding, const WpDoctorSeries *series, const Fit *fit)
{
	guint at = fit->is_step ? fit->at : series->n - 1;
	if (!series->of)
		return;
	for (guint i = at; i < MIN(at + 2, series->n); i++)
		wp_doctor_add_example(finding, &series->blocks[i].slowest);
	wp_doctor_add_example(finding, &series->blocks[fit->is_step ? at - 1 : 0].slowest);
}

static void
tell(WpDoctor *doctor, const WpDoctorSeries *series, const Fit *fit, const WpShift *shift,
     const WpDoctorCheck *check)
{
	const WpCourse *course = doctor->of.course;
	char before[WP_FORMAT_MAX], after[WP_FORMAT_MAX], bin[WP_FORMAT_MAX];
	g_autofree char *name = wp_doctor_series_name(doctor, series);
	g_autofree char *when =
		fit->is_step ? wp_doctor_bin_time(course, series->blocks[fit->at].first_bin) : NULL;
	wp_doctor_series_value(series, fit->before, before);
	wp_doctor_series_value(series, fit->after, after);
	char *text = fit->is_step
			     ? g_strdup_printf(
				       "%s %s from %s on: %s before, %s after (to the bin of %s).",
				       name, fit->after > fit->before ? "rises" : "falls", when,
				       before, after, wp_format_time(bin, (double)course->bin_ns))
			     : g_strdup_printf("%s %s all along: from %s to %s.", name,
					       fit->after > fit->before ? "rises" : "falls", before,
					       after);
	WpDoctorFinding *finding = wp_doctor_add(doctor, check, WP_FINDING_FOUND, text);
	finding->node = wp_course_node(course, series->node)->name;
	finding->label = series->of ? series->of->label : NULL;
	finding->weight = weigh(doctor, series, fit);
	gboolean is_log = series->kind->is_log;
	wp_doctor_add_number(finding, "before", is_log ? exp(fit->before) : fit->before);
	wp_doctor_add_number(finding, "after", is_log ? exp(fit->after) : fit->after);
	wp_doctor_add_number(finding, "chance", wp_shift_chance(shift));
	if (fit->is_step)
		wp_doctor_add_number(finding, "onset_ns",
				     (double)course->bin_ns * series->blocks[fit->at].first_bin);
	wp_doctor_add_number(finding, "bin_ns", (double)course->bin_ns);
	add_examples(finding, series, fit);
}

void
wp_doctor_series_flatten(WpDoctorSeries *series)
{
	Fit step = fit_step(series), line = fit_line(series);
	Fit fit = step.rest <= line.rest ? step : line;
	for (guint i = 0; i < series->n && isfinite(fit.rest); i++)
		series->blocks[i].num -=
			(fitted(series, &fit, i) - fit.before) * series->blocks[i].den;
}

static void
look(WpDoctor *doctor, const WpDoctorCheck *check)
{
	g_autoptr(GPtrArray) all = wp_doctor_series_all(doctor);
	double risk = wp_doctor_risk(doctor, all->len);
	guint n_before = doctor->findings->len, n_hang = 0;
	for (guint i = 0; i < all->len; i++) {
		WpDoctorSeries *series = all->pdata[i];
		Fit fit;
		WpShift shift;
		gboolean has = has_changed(doctor, series, risk, &fit, &shift);
		n_hang += shift.doubt == WP_SHIFT_HANGS;
		if (has && weigh(doctor, series, &fit) >= doctor->of.rules->matters)
			tell(doctor, series, &fit, &shift, check);
	}
	if (doctor->findings->len > n_before)
		return;
	char count[WP_FORMAT_MAX];
	wp_doctor_add(doctor, check,
		      all->len && n_hang < all->len ? WP_FINDING_CLEAN : WP_FINDING_UNDECIDED,
		      !all->len ? g_strdup("No node has enough calls in enough bins of time.")
		      : n_hang == all->len
			      ? g_strdup("Times hang together too long for so short a capture.")
			      : g_strdup_printf("None of %s courses of self times, errors "
						"and shares of calls changes.",
						wp_format_count(count, all->len)));
}

const WpDoctorCheck wp_doctor_drift = {
	.name = "drift",
	.title = "Drift and onset",
	.has_risk = TRUE,
	.needs_links = TRUE,
	.look = look,
};
