/*
 * Nodes that are slow together: for each two nodes the correlation of their self times, bin by bin, at once and some bins
 * later. Two series that each hang together with themselves correlate by chance far more often than independent ones
 * would, so what each bin says of the next is taken out of both first (Haugh, "Checking the independence of two
 * covariance-stationary time series", 1976), as is what rises or falls for good.
 */
#include <math.h>
#include <string.h>

#include "report/doctor-series.h"
#include "report/doctor.h"
#include "report/format.h"
#include "report/student.h"

/* Lags, in blocks, to either side. */
#define MAX_LAG 8

/* Nodes that are looked at: those with the most time. */
#define MAX_NODES 40

/* Beyond so many standard deviations a value counts no more: one burst is no habit. */
#define MAX_FAR 3

typedef struct {
	const WpDoctorSeries *series;
	double *rests; /* [n]: what the block before does not tell; mean 0 */
	guint n;
	guint32 joined; /* bins a block */
} Course;

typedef struct {
	const Course *first;
	const Course *second;
	gint lag; /* blocks by which SECOND comes later */
	double r;
	double chance;
} Pair;

static void
course_clear(gpointer data)
{
	g_free(((Course *)data)->rests);
}

/* Values by block, 0 = the mean and where nothing was called; limited; less what the one before tells. */
static void
find_rests(Course *course)
{
	const WpDoctorSeries *series = course->series;
	double w = 0, sum = 0, squares = 0, before = 0, own = 0;
	course->rests = g_new0(double, course->n + 1);
	for (guint i = 0; i < series->n; i++) {
		w += series->blocks[i].den;
		sum += series->blocks[i].num;
	}
	for (guint i = 0; i < series->n; i++) {
		double *rest = &course->rests[series->blocks[i].first_bin / course->joined];
		*rest = series->blocks[i].num / series->blocks[i].den - sum / w;
		squares += *rest * *rest;
	}
	double limit = MAX_FAR * sqrt(squares / series->n);
	for (guint i = 0; i < course->n; i++)
		course->rests[i] = CLAMP(course->rests[i], -limit, limit);
	for (guint i = 0; i + 1 < course->n; i++) {
		before += course->rests[i] * course->rests[i + 1];
		own += course->rests[i] * course->rests[i];
	}
	double follows = own > 0 ? before / own : 0;
	for (guint i = course->n - 1; i > 0; i--)
		course->rests[i] -= follows * course->rests[i - 1];
}

/* SECOND so many blocks LAG later. */
static double
correlate(const Course *first, const Course *second, gint lag, guint *out_n)
{
	double xy = 0, xx = 0, yy = 0;
	guint n = 0;
	for (guint i = 0; i < first->n; i++) {
		gint k = (gint)i + lag;
		if (k < 0 || k >= (gint)second->n)
			continue;
		xy += first->rests[i] * second->rests[k];
		xx += first->rests[i] * first->rests[i];
		yy += second->rests[k] * second->rests[k];
		n++;
	}
	*out_n = n;
	return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : 0;
}

static Pair
compare_courses(const Course *first, const Course *second)
{
	Pair best = { first, second, 0, 0, 1 };
	for (gint lag = -MAX_LAG; lag <= MAX_LAG; lag++) {
		guint n;
		double r = correlate(first, second, lag, &n);
		if (n < WP_DOCTOR_MIN_BLOCKS || r <= best.r)
			continue;
		double left = MAX(1 - r * r, 1e-12);
		best = (Pair){ first, second, lag, r,
			       wp_student_tails(r * sqrt((n - 2) / left), n - 2.0) };
	}
	if (best.lag < 0)
		best = (Pair){ second, first, -best.lag, best.r, best.chance };
	return best;
}

static int
compare_shares(gconstpointer a, gconstpointer b)
{
	const WpDoctorSeries *x = ((const Course *)a)->series, *y = ((const Course *)b)->series;
	if (x->of->all.self_ns != y->of->all.self_ns)
		return x->of->all.self_ns > y->of->all.self_ns ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* (transfer full) Of each node the kind of calls with the most time, as a Course. */
static GArray *
choose(const WpDoctor *doctor, const GPtrArray *all)
{
	GArray *courses = g_array_new(FALSE, TRUE, sizeof(Course));
	g_array_set_clear_func(courses, course_clear);
	for (guint i = 0; i < all->len; i++) {
		const WpDoctorSeries *series = all->pdata[i];
		guint k = 0;
		if (!series->of)
			continue;
		while (k < courses->len &&
		       g_array_index(courses, Course, k).series->node != series->node)
			k++;
		Course course = { .series = series, .joined = series->blocks[0].n_bins };
		for (guint b = 0; b < series->n; b++)
			course.joined = MAX(course.joined, series->blocks[b].n_bins);
		course.n = (doctor->of.course->n_bins + course.joined - 1) / course.joined;
		if (k == courses->len)
			g_array_append_val(courses, course);
		else if (series->of->all.self_ns >
			 g_array_index(courses, Course, k).series->of->all.self_ns)
			g_array_index(courses, Course, k) = course;
	}
	g_array_sort(courses, compare_shares);
	if (courses->len > MAX_NODES)
		g_array_set_size(courses, MAX_NODES);
	for (guint i = 0; i < courses->len; i++)
		find_rests(&g_array_index(courses, Course, i));
	return courses;
}

static void
tell(WpDoctor *doctor, const Pair *pair, const WpDoctorCheck *check)
{
	const WpCourse *course = doctor->of.course;
	char r[WP_FORMAT_MAX], lag[WP_FORMAT_MAX];
	g_autofree char *first = wp_doctor_kind_name(course, pair->first->series->of);
	g_autofree char *second = wp_doctor_kind_name(course, pair->second->series->of);
	double lag_ns = (double)course->bin_ns * pair->first->joined * pair->lag;
	g_autofree char *when = pair->lag ? g_strdup_printf("%s later", wp_format_time(lag, lag_ns))
					  : g_strdup("at the same time");
	WpDoctorFinding *finding =
		wp_doctor_add(doctor, check, WP_FINDING_FOUND,
			      g_strdup_printf("When %s is slow, %s is slow %s (correlation %s).",
					      first, second, when, wp_format_number(r, pair->r)));
	finding->node = wp_course_node(course, pair->first->series->node)->name;
	finding->label = pair->first->series->of->label;
	finding->weight = MIN(wp_doctor_series_share(doctor, pair->first->series),
			      wp_doctor_series_share(doctor, pair->second->series)) *
			  pair->r * pair->r;
	wp_doctor_add_number(finding, "correlation", pair->r);
	wp_doctor_add_number(finding, "lag_ns", lag_ns);
	wp_doctor_add_number(finding, "chance", pair->chance);
	wp_doctor_add_example(finding, &pair->first->series->of->all.slowest);
	wp_doctor_add_example(finding, &pair->second->series->of->all.slowest);
}

static void
look(WpDoctor *doctor, const WpDoctorCheck *check)
{
	g_autoptr(GPtrArray) all = wp_doctor_series_all(doctor);
	for (guint i = 0; i < all->len; i++)
		wp_doctor_series_flatten(all->pdata[i]);
	g_autoptr(GArray) courses = choose(doctor, all);
	guint n_pairs = 0, n_before = doctor->findings->len;
	for (guint pass = 0; pass < 2; pass++)
		for (guint i = 0; i < courses->len; i++)
			for (guint k = i + 1; k < courses->len; k++) {
				const Course *a = &g_array_index(courses, Course, i);
				const Course *b = &g_array_index(courses, Course, k);
				if (a->joined != b->joined)
					continue;
				n_pairs += pass == 0;
				if (pass == 0)
					continue;
				Pair pair = compare_courses(a, b);
				if (pair.r >= doctor->of.rules->follow &&
				    pair.chance <
					    wp_doctor_risk(doctor, n_pairs * (2 * MAX_LAG + 1)))
					tell(doctor, &pair, check);
			}
	if (doctor->findings->len > n_before)
		return;
	char count[WP_FORMAT_MAX];
	wp_doctor_add(doctor, check, n_pairs ? WP_FINDING_CLEAN : WP_FINDING_UNDECIDED,
		      n_pairs ? g_strdup_printf("Of %s pairs of nodes none is slow together.",
						wp_format_count(count, n_pairs))
			      : g_strdup("No two nodes have enough calls in enough bins of time."));
}

const WpDoctorCheck wp_doctor_together = {
	.name = "together",
	.title = "Slow together",
	.has_risk = TRUE,
	.needs_links = TRUE,
	.look = look,
};
