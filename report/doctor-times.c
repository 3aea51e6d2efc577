/*
 * Times that stand out: stretches in which a kind of calls takes far longer than in the rest of the capture, or more of
 * a node's calls fail. Each block of bins is set against the median of all, in robust standard deviations (the median
 * of the distances from the median: what stands out does not hide itself by making the deviation large). What rises or
 * falls for good is taken out first: doctor-drift.c tells that.
 */
#include <math.h>
#include <string.h>

#include "report/doctor-series.h"
#include "report/doctor.h"
#include "report/format.h"
#include "report/student.h"

#define MAD_TO_SD 1.4826

/* Stretches that are told of a series: of more, only how many. */
#define MAX_STRETCHES 3

typedef struct {
	guint from; /* blocks */
	guint to;
	guint worst;
	double far; /* of the worst: robust standard deviations */
	double x;   /* equation A.1 of doctor-peers.c */
} Stretch;

/* What is usual in a series. */
typedef struct {
	double median;
	double level; /* of shares: what coins are tossed with */
	double calls; /* median */
	double scale; /* robust standard deviation of distances */
	double sd;    /* plain, of values */
} Usual;

static double
value_of(const WpDoctorBlock *block)
{
	return block->num / block->den;
}

/*
 * How far BLOCK lies above what is usual, before it is set against the spread of all blocks. A block with fewer calls
 * varies more. Shares stand as angles, of which the standard deviation is that of coins, 1, whatever the share.
 */
static double
distance(const WpDoctorSeries *series, const WpDoctorBlock *block, const Usual *usual)
{
	if (series->kind->is_log)
		return (value_of(block) - usual->median) / sqrt(MAX(usual->calls / block->den, 1));
	return 2 * sqrt(block->den) *
	       (asin(sqrt(CLAMP(value_of(block), 0, 1))) - asin(sqrt(usual->level)));
}

static Usual
find_usual(const WpDoctorSeries *series)
{
	Usual usual = { 0 };
	double mean = 0, squares = 0, num = 0, den = 0;
	g_autofree double *values = g_new(double, series->n + 1);
	for (guint i = 0; i < series->n; i++)
		values[i] = series->blocks[i].den;
	usual.calls = wp_doctor_median(values, series->n);
	for (guint i = 0; i < series->n; i++) {
		values[i] = value_of(&series->blocks[i]);
		mean += values[i] / series->n;
		num += series->blocks[i].num;
		den += series->blocks[i].den;
	}
	for (guint i = 0; i < series->n; i++)
		squares += (values[i] - mean) * (values[i] - mean);
	usual.sd = sqrt(squares / series->n);
	usual.median = wp_doctor_median(values, series->n);
	usual.level = CLAMP(MAX(usual.median, num / den), 0, 1);
	for (guint i = 0; i < series->n; i++)
		values[i] = fabs(distance(series, &series->blocks[i], &usual));
	usual.scale = MAD_TO_SD * wp_doctor_median(values, series->n);
	if (!series->kind->is_log)
		usual.scale = MAX(usual.scale, 1);
	return usual;
}

/* Robust standard deviations above what is usual. */
static double
how_far(const WpDoctorSeries *series, guint i, const Usual *usual)
{
	return usual->scale > 0 ? distance(series, &series->blocks[i], usual) / usual->scale : 0;
}

static gboolean
stands_out(const WpDoctor *doctor, const WpDoctorSeries *series, const Usual *usual, guint i,
	   double limit)
{
	const WpDoctorRules *rules = doctor->of.rules;
	double over = value_of(&series->blocks[i]) - usual->median;
	double least = series->kind->is_log ? log1p(rules->time_change)
					    : MAX(rules->time_change * usual->median, 0.01);
	return over >= least && how_far(series, i, usual) >= limit;
}

/* (transfer full) Of Stretch. */
static GArray *
find_stretches(const WpDoctor *doctor, const WpDoctorSeries *series, const Usual *usual,
	       double limit)
{
	GArray *stretches = g_array_new(FALSE, FALSE, sizeof(Stretch));
	for (guint i = 0; i < series->n; i++) {
		if (!stands_out(doctor, series, usual, i, limit))
			continue;
		double far = how_far(series, i, usual), value = value_of(&series->blocks[i]);
		Stretch new = { i, i + 1, i, far,
				usual->sd > 0 ? (value - usual->median) / usual->sd : 0 };
		Stretch *last = stretches->len
					? &g_array_index(stretches, Stretch, stretches->len - 1)
					: NULL;
		if (!last || last->to < i) {
			g_array_append_val(stretches, new);
			continue;
		}
		new.from = last->from;
		if (last->far >= far) {
			new.worst = last->worst;
			new.far = last->far;
			new.x = last->x;
		}
		*last = new;
	}
	return stretches;
}

static double
weigh(const WpDoctor *doctor, const WpDoctorSeries *series, const Usual *usual,
      const GArray *stretches)
{
	double part = 0, all = 0;
	for (guint i = 0; i < series->n; i++)
		all += series->blocks[i].den;
	for (guint k = 0; k < stretches->len; k++) {
		const Stretch *stretch = &g_array_index(stretches, Stretch, k);
		for (guint i = stretch->from; i < stretch->to; i++) {
			double over = value_of(&series->blocks[i]) - usual->median;
			part += series->blocks[i].den * (series->kind->is_log ? expm1(over) : over);
		}
	}
	return all > 0 ? MIN(part / all * wp_doctor_series_share(doctor, series), 1) : 0;
}

/* "+3.00 s to +4.00 s (120 ms)" */
static void
add_stretch(const WpDoctor *doctor, const WpDoctorSeries *series, const Stretch *stretch,
	    GString *text)
{
	const WpCourse *course = doctor->of.course;
	const WpDoctorBlock *last = &series->blocks[stretch->to - 1];
	const WpDoctorBlock *worst = &series->blocks[stretch->worst];
	char value[WP_FORMAT_MAX];
	g_autofree char *from = wp_doctor_bin_time(course, series->blocks[stretch->from].first_bin);
	g_autofree char *to = wp_doctor_bin_time(course, last->first_bin + last->n_bins);
	g_string_append_printf(text, "%s to %s (%s)", from, to,
			       wp_doctor_series_value(series, value_of(worst), value));
}

static void
tell(WpDoctor *doctor, const WpDoctorSeries *series, const Usual *usual, const GArray *stretches,
     const WpDoctorCheck *check)
{
	char value[WP_FORMAT_MAX];
	g_autofree char *name = wp_doctor_series_name(doctor, series);
	GString *text = g_string_new(NULL);
	const Stretch *most = &g_array_index(stretches, Stretch, 0);
	g_string_printf(text, "%s, %s as a rule, is far higher from ", name,
			wp_doctor_series_value(series, usual->median, value));
	for (guint k = 0; k < stretches->len; k++) {
		const Stretch *stretch = &g_array_index(stretches, Stretch, k);
		if (k < MAX_STRETCHES) {
			g_string_append(text, k ? ", " : "");
			add_stretch(doctor, series, stretch, text);
		}
		if (stretch->far > most->far)
			most = stretch;
	}
	if (stretches->len > MAX_STRETCHES)
		g_string_append_printf(text, " and %u times more", stretches->len - MAX_STRETCHES);
	g_string_append_c(text, '.');
	WpDoctorFinding *finding =
		wp_doctor_add(doctor, check, WP_FINDING_FOUND, g_string_free(text, FALSE));
	const WpDoctorBlock *worst = &series->blocks[most->worst];
	gboolean is_log = series->kind->is_log;
	double bin_ns = (double)doctor->of.course->bin_ns;
	finding->node = wp_course_node(doctor->of.course, series->node)->name;
	finding->label = series->of ? series->of->label : NULL;
	finding->weight = weigh(doctor, series, usual, stretches);
	wp_doctor_add_number(finding, "median", is_log ? exp(usual->median) : usual->median);
	wp_doctor_add_number(finding, "worst", is_log ? exp(value_of(worst)) : value_of(worst));
	wp_doctor_add_number(finding, "worst_from_ns", bin_ns * worst->first_bin);
	wp_doctor_add_number(finding, "worst_to_ns", bin_ns * (worst->first_bin + worst->n_bins));
	wp_doctor_add_number(finding, "deviations_away", most->far);
	wp_doctor_add_number(finding, "sd_away", most->x);
	wp_doctor_add_number(finding, "times", stretches->len);
	wp_doctor_add_example(finding, &worst->slowest);
	for (guint i = most->from; i < most->to; i++)
		if (i != most->worst)
			wp_doctor_add_example(finding, &series->blocks[i].slowest);
}

static void
look(WpDoctor *doctor, const WpDoctorCheck *check)
{
	g_autoptr(GPtrArray) all = wp_doctor_series_all(doctor);
	guint n_before = doctor->findings->len, n_blocks = 0;
	for (guint i = 0; i < all->len; i++)
		n_blocks += ((WpDoctorSeries *)all->pdata[i])->n;
	/* On one side only: twice the risk on both. */
	double by_chance = wp_student_quantile(MIN(2 * wp_doctor_risk(doctor, n_blocks), 1), 1e9);
	double limit = MAX(doctor->of.rules->time_far, by_chance);
	for (guint i = 0; i < all->len; i++) {
		WpDoctorSeries *series = all->pdata[i];
		wp_doctor_series_flatten(series);
		Usual usual = find_usual(series);
		g_autoptr(GArray) stretches = find_stretches(doctor, series, &usual, limit);
		if (stretches->len &&
		    weigh(doctor, series, &usual, stretches) >= doctor->of.rules->matters)
			tell(doctor, series, &usual, stretches, check);
	}
	if (doctor->findings->len > n_before)
		return;
	char count[WP_FORMAT_MAX];
	wp_doctor_add(
		doctor, check, all->len ? WP_FINDING_CLEAN : WP_FINDING_UNDECIDED,
		all->len ? g_strdup_printf("None of %s stretches of time is far from the rest.",
					   wp_format_count(count, n_blocks))
			 : g_strdup("No node has enough calls in enough bins of time."));
}

const WpDoctorCheck wp_doctor_times = {
	.name = "times",
	.title = "Stretches of time",
	.has_risk = TRUE,
	.needs_links = TRUE,
	.look = look,
};
