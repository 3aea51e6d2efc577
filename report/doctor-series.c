/* Bins to blocks. */
#include "report/doctor-series.h"

#include <math.h>
#include <string.h>

#include "report/format.h"

/* Calls of a block on average: fewer are no mean. */
#define BLOCK_CALLS 10

/* Of shares: calls of either kind in a block on average. Fewer come and go in lumps that no bell curve knows. */
#define BLOCK_EVENTS 5

const WpDoctorSeriesKind wp_doctor_self_series = { "Self time", TRUE };
const WpDoctorSeriesKind wp_doctor_error_series = { "The share of errors", FALSE };
const WpDoctorSeriesKind wp_doctor_share_series = { "The share of calls", FALSE };

typedef struct {
	const WpDoctor *doctor;
	const WpDoctorSeriesKind *kind;
	guint32 node;
	const WpCourseKind *of;
	const guint64 *sums; /* by bin: calls into all replicas */
} Source;

void
wp_doctor_series_free(WpDoctorSeries *series)
{
	if (!series)
		return;
	g_free(series->blocks);
	g_free(series);
}

static WpDoctorBlock
block_of(const Source *source, guint32 bin)
{
	const WpCourseNode *node = wp_course_node(source->doctor->of.course, source->node);
	WpDoctorBlock block = { .first_bin = bin, .n_bins = 1 };
	if (source->of) {
		const WpCourseCell *cell = &source->of->cells[bin];
		block.num = cell->logs;
		block.den = (double)cell->timed;
		block.slowest = cell->slowest;
	} else if (source->sums) {
		block.num = (double)node->in[bin];
		block.den = (double)source->sums[bin];
	} else {
		block.num = (double)node->errors[bin];
		block.den = (double)node->in[bin];
	}
	return block;
}

/* Bins that make a block; 0 where there are too few calls for any. */
static guint32
bins_a_block(const Source *source)
{
	guint32 n_bins = source->doctor->of.course->n_bins, joined = 1;
	double calls = 0, events = 0;
	for (guint32 bin = 0; bin < n_bins; bin++) {
		WpDoctorBlock block = block_of(source, bin);
		calls += block.den;
		events += block.num;
	}
	if (calls < (double)source->doctor->of.rules->min_calls)
		return 0;
	double least = source->kind->is_log ? INFINITY : MIN(events, calls - events);
	while (joined < n_bins &&
	       (calls / n_bins * joined < BLOCK_CALLS || least / n_bins * joined < BLOCK_EVENTS))
		joined *= 2;
	return joined;
}

/* A block without calls is left out. */
static WpDoctorSeries *
make_series(const Source *source)
{
	guint32 n_bins = source->doctor->of.course->n_bins, joined = bins_a_block(source);
	if (!joined)
		return NULL;
	WpDoctorSeries *series = g_new0(WpDoctorSeries, 1);
	series->kind = source->kind;
	series->node = source->node;
	series->of = source->of;
	series->blocks = g_new0(WpDoctorBlock, n_bins / joined + 1);
	for (guint32 bin = 0; bin < n_bins; bin += joined) {
		WpDoctorBlock sum = { .first_bin = bin };
		for (guint32 i = bin; i < MIN(bin + joined, n_bins); i++) {
			WpDoctorBlock block = block_of(source, i);
			if (block.slowest.self_ns > sum.slowest.self_ns)
				sum.slowest = block.slowest;
			sum.num += block.num;
			sum.den += block.den;
			sum.n_bins++;
		}
		sum.middle = bin + sum.n_bins / 2.0;
		if (sum.den > 0)
			series->blocks[series->n++] = sum;
	}
	if (series->n >= WP_DOCTOR_MIN_BLOCKS)
		return series;
	wp_doctor_series_free(series);
	return NULL;
}

static void
add_series(GPtrArray *all, const Source *source)
{
	WpDoctorSeries *series = make_series(source);
	if (series)
		g_ptr_array_add(all, series);
}

/* Calls into NODE and its replicas, by bin; FALSE where it has none. */
static gboolean
sum_replicas(const WpCourse *course, guint32 node, guint64 *sums)
{
	guint n = 0;
	for (guint32 i = 0; i < course->nodes->len; i++) {
		const WpCourseNode *other = wp_course_node(course, i);
		if (other->group != wp_course_node(course, node)->group || !other->n_in)
			continue;
		for (guint32 bin = 0; bin < course->n_bins; bin++)
			sums[bin] += other->in[bin];
		n++;
	}
	return n > 1;
}

GPtrArray *
wp_doctor_series_all(const WpDoctor *doctor)
{
	const WpCourse *course = doctor->of.course;
	double least = doctor->of.rules->matters;
	GPtrArray *all = g_ptr_array_new_with_free_func((GDestroyNotify)wp_doctor_series_free);
	for (guint32 i = 0; i < course->kinds->len; i++) {
		const WpCourseKind *kind = wp_course_kind(course, i);
		Source source = { doctor, &wp_doctor_self_series, kind->node, kind, NULL };
		if (kind->all.self_ns >= least * course->self_ns)
			add_series(all, &source);
	}
	for (guint32 i = 0; i < course->nodes->len; i++) {
		const WpCourseNode *node = wp_course_node(course, i);
		g_autofree guint64 *sums = g_new0(guint64, WP_COURSE_BINS);
		Source errors = { doctor, &wp_doctor_error_series, i, NULL, NULL };
		Source shares = { doctor, &wp_doctor_share_series, i, NULL, sums };
		if ((double)node->n_errors >= least * (double)node->n_in && node->n_errors)
			add_series(all, &errors);
		if (node->n_in && sum_replicas(course, i, sums))
			add_series(all, &shares);
	}
	return all;
}

double
wp_doctor_series_share(const WpDoctor *doctor, const WpDoctorSeries *series)
{
	const WpCourse *course = doctor->of.course;
	if (series->of)
		return course->self_ns > 0 ? series->of->all.self_ns / course->self_ns : 0;
	double calls = (double)wp_course_node(course, series->node)->n_in;
	if (series->kind == &wp_doctor_share_series)
		return 1;
	return course->requests ? MIN(calls / (double)course->requests, 1) : 0;
}

char *
wp_doctor_series_name(const WpDoctor *doctor, const WpDoctorSeries *series)
{
	const WpCourse *course = doctor->of.course;
	g_autofree char *name = series->of ? wp_doctor_kind_name(course, series->of)
					   : g_strdup(wp_course_node(course, series->node)->name);
	return g_strdup_printf("%s of %s", series->kind->name, name);
}

const char *
wp_doctor_series_value(const WpDoctorSeries *series, double value, char *buffer)
{
	return series->kind->is_log ? wp_format_time(buffer, exp(value))
				    : wp_format_share(buffer, CLAMP(value, 0, 1));
}
