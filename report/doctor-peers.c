/*
 * Nodes beside their replicas: does one get more calls, take longer, fail more often or ask others more often than those
 * that do the same work? Of each replica and number the distance from the median of all, in standard errors; where
 * replicas differ more than by chance, how they differ from each other (the median of the distances) counts as well. Beside it
 * the figure of Peiris ("Generalized techniques for using system execution traces ...", 2016, equation A.1): the same
 * distance over the standard deviation of all, which the one that stands out inflates.
 */
#include <math.h>
#include <string.h>

#include "report/doctor.h"
#include "report/format.h"
#include "report/shift.h"

/* From a median of distances to a standard deviation, in a bell curve. */
#define MAD_TO_SD 1.4826

/* Replicas of which how they differ from each other can be told. */
#define MIN_OTHERS 4

/* Numbers of a node that its sentence tells. */
#define MAX_TOLD 3

typedef struct Number Number;

/* Replicas, and what is measured of them. */
typedef struct {
	WpDoctor *doctor;
	const WpCourse *course;
	const guint32 *nodes;
	guint n;
	const WpCourseKind **kinds; /* SELF: of each node, or NULL */
	const char *label;          /* likewise */
	guint64 *sums;              /* [n_bins]: calls into all of them */
} Group;

/* A number of nodes, by bins; a block is one bin. */
struct Number {
	const char *name;
	WpShiftScale scale; /* DIFFERENCE of logarithms, but for errors */
	gboolean is_log;
	WpShiftBlock (*block)(const Group *group, guint number, guint32 bin);
	/* "3.1 times the calls (12% of them; the median is 4%)" */
	void (*tell)(const Group *group, double own, double median, GString *text);
};

/* One number of one replica. */
typedef struct {
	const Number *number;
	const char *label;
	double own;    /* value, on its scale */
	double median; /* of all */
	double far;    /* standard errors */
	double x;      /* equation A.1 */
	double weight;
	WpCourseExample example;
} Outlier;

/* --- numbers --- */

static WpShiftBlock
calls_block(const Group *group, guint number, guint32 bin)
{
	return (WpShiftBlock){ (double)wp_course_node(group->course, group->nodes[number])->in[bin],
			       (double)group->sums[bin] };
}

static WpShiftBlock
errors_block(const Group *group, guint number, guint32 bin)
{
	const WpCourseNode *node = wp_course_node(group->course, group->nodes[number]);
	return (WpShiftBlock){ (double)node->errors[bin], (double)node->in[bin] };
}

static WpShiftBlock
asked_block(const Group *group, guint number, guint32 bin)
{
	const WpCourseNode *node = wp_course_node(group->course, group->nodes[number]);
	return (WpShiftBlock){ (double)node->out[bin], (double)node->in[bin] };
}

static WpShiftBlock
self_block(const Group *group, guint number, guint32 bin)
{
	const WpCourseKind *kind = group->kinds[number];
	if (!kind)
		return (WpShiftBlock){ 0, 0 };
	return (WpShiftBlock){ kind->cells[bin].logs, (double)kind->cells[bin].timed };
}

static void
tell_calls(const Group *group, double own, double median, GString *text)
{
	char times[WP_FORMAT_MAX], share[WP_FORMAT_MAX], other[WP_FORMAT_MAX];
	(void)group;
	g_string_append_printf(text,
			       "it gets %s times the calls (%s of them, where the median is %s)",
			       wp_format_number(times, own / median), wp_format_share(share, own),
			       wp_format_share(other, median));
}

static void
tell_errors(const Group *group, double own, double median, GString *text)
{
	char share[WP_FORMAT_MAX], other[WP_FORMAT_MAX];
	(void)group;
	g_string_append_printf(text, "%s of its calls fail (median %s)",
			       wp_format_share(share, own), wp_format_share(other, median));
}

static void
tell_asked(const Group *group, double own, double median, GString *text)
{
	char calls[WP_FORMAT_MAX], other[WP_FORMAT_MAX];
	(void)group;
	g_string_append_printf(text, "it makes %s calls for each it gets (median %s)",
			       wp_format_number(calls, own), wp_format_number(other, median));
}

static void
tell_self(const Group *group, double own, double median, GString *text)
{
	char times[WP_FORMAT_MAX], time[WP_FORMAT_MAX], other[WP_FORMAT_MAX];
	g_string_append_printf(text, "%s takes %s times the self time (%s, where the median is %s)",
			       group->label, wp_format_number(times, exp(own - median)),
			       wp_format_time(time, exp(own)), wp_format_time(other, exp(median)));
}

static const Number calls_number = { "calls", WP_SHIFT_RATIO, FALSE, calls_block, tell_calls };
static const Number errors_number = { "errors", WP_SHIFT_DIFFERENCE, FALSE, errors_block,
				      tell_errors };
static const Number asked_number = { "asked", WP_SHIFT_RATIO, FALSE, asked_block, tell_asked };
static const Number self_number = { "self", WP_SHIFT_DIFFERENCE, TRUE, self_block, tell_self };

/* --- distances --- */

/* The blocks of node NUMBER, or of all but it; the sum of both parts is in *OUT. */
static GArray *
make_blocks(const Group *group, const Number *number, guint skipped, guint taken, WpShiftBlock *out)
{
	GArray *blocks =
		g_array_sized_new(FALSE, FALSE, sizeof(WpShiftBlock), group->course->n_bins);
	*out = (WpShiftBlock){ 0, 0 };
	for (guint32 bin = 0; bin < group->course->n_bins; bin++) {
		WpShiftBlock sum = { 0, 0 };
		for (guint i = 0; i < group->n; i++) {
			if (i == skipped || (taken != G_MAXUINT && i != taken))
				continue;
			WpShiftBlock block = number->block(group, i, bin);
			sum.num += block.num;
			sum.den += block.den;
		}
		out->num += sum.num;
		out->den += sum.den;
		g_array_append_val(blocks, sum);
	}
	return blocks;
}

/* The standard error of node NUMBER's distance from the others, by chance within the bins; negative: not known. */
static double
chance_error(const Group *group, const Number *number, guint node, double *out_df)
{
	WpShiftBlock sums[2];
	g_autoptr(GArray) others = make_blocks(group, number, node, G_MAXUINT, &sums[0]);
	g_autoptr(GArray) own = make_blocks(group, number, G_MAXUINT, node, &sums[1]);
	const WpShiftSeries series[2] = {
		{ (const WpShiftBlock *)(const void *)others->data, others->len },
		{ (const WpShiftBlock *)(const void *)own->data, own->len },
	};
	const WpShiftSide before = { &series[0], 1 }, after = { &series[1], 1 };
	WpShift shift = wp_shift_measure(number->scale, WP_SHIFT_TIED, &before, &after);
	*out_df = shift.df;
	return shift.doubt == WP_SHIFT_CLEAR ? shift.error : -1;
}

static double
scale_value(const Number *number, double value)
{
	return number->scale == WP_SHIFT_RATIO ? log(value) : value;
}

/* What the others differ by from MEDIAN beyond ERROR; 0 where there are too few to tell. */
static double
spread_of_others(const double *values, guint n, guint node, double median, double error)
{
	g_autofree double *distances = g_new(double, n + 1);
	guint n_others = 0;
	for (guint i = 0; i < n; i++)
		if (i != node)
			distances[n_others++] = fabs(values[i] - median);
	if (n_others < MIN_OTHERS)
		return 0;
	double sd = MAD_TO_SD * wp_doctor_median(distances, n_others);
	return sqrt(MAX(sd * sd - error * error, 0));
}

static double
deviation(const double *values, guint n)
{
	double mean = 0, squares = 0;
	for (guint i = 0; i < n; i++)
		mean += values[i] / n;
	for (guint i = 0; i < n; i++)
		squares += (values[i] - mean) * (values[i] - mean);
	return sqrt(squares / n);
}

static gboolean
is_big(const WpDoctorRules *rules, const Number *number, double distance)
{
	if (number == &errors_number)
		return fabs(distance) >= rules->matters;
	return fabs(distance) >= log1p(rules->peer_change);
}

/* What NUMBER is of each node of a group, on its scale. */
typedef struct {
	const Number *number;
	double *values;
	double *counts; /* that it is a share of */
	double median;
	double sd;
} Measured;

/* FALSE where not all nodes have enough of it. */
static gboolean
measure_values(const Group *group, Measured *measured)
{
	const Number *number = measured->number;
	double least = number == &calls_number ? 1 : (double)group->doctor->of.rules->min_calls;
	for (guint i = 0; i < group->n; i++) {
		WpShiftBlock sum;
		g_array_unref(make_blocks(group, number, G_MAXUINT, i, &sum));
		if (sum.den < least || (number->scale == WP_SHIFT_RATIO && sum.num <= 0))
			return FALSE;
		measured->values[i] = scale_value(number, sum.num / sum.den);
		measured->counts[i] = sum.den;
	}
	measured->median = wp_doctor_median(measured->values, group->n);
	measured->sd = deviation(measured->values, group->n);
	return TRUE;
}

static double
weigh(const Group *group, const Measured *measured, const Outlier *outlier, guint node,
      double distance)
{
	double weight = fabs(outlier->own - outlier->median);
	if (measured->number == &self_number)
		weight = group->kinds[node]->all.self_ns / group->course->self_ns *
			 fabs(1 - exp(-distance));
	else if (measured->number != &calls_number)
		weight *= measured->counts[node] / (double)group->course->requests;
	return MIN(weight, 1);
}

/* TRUE where NODE is far from the others, as OUTLIER tells. DISTANCE is more than small. */
static gboolean
judge_node(const Group *group, const Measured *measured, guint node, double distance, double median,
	   double risk, Outlier *outlier)
{
	const Number *number = measured->number;
	gboolean is_ratio = number->scale == WP_SHIFT_RATIO;
	double df, error = chance_error(group, number, node, &df);
	if (error < 0)
		return FALSE;
	double spread = spread_of_others(measured->values, group->n, node, median, error);
	WpShift shift = { .scale = number->scale,
			  .change = distance,
			  .error = sqrt(error * error + spread * spread),
			  .df = spread > 0 ? MIN(df, group->n - 2.0) : df };
	*outlier = (Outlier){ .number = number, .label = group->label };
	outlier->own = is_ratio ? exp(measured->values[node]) : measured->values[node];
	outlier->median = is_ratio ? exp(median) : median;
	outlier->far = shift.error > 0 ? fabs(distance) / shift.error : INFINITY;
	outlier->x = measured->sd > 0 ? fabs(distance) / measured->sd : 0;
	outlier->weight = weigh(group, measured, outlier, node, distance);
	if (number == &self_number)
		outlier->example = group->kinds[node]->all.slowest;
	return wp_shift_chance(&shift) < risk &&
	       outlier->weight >= group->doctor->of.rules->matters;
}

/* NUMBER of all nodes of GROUP: those far from the median, to OUTLIERS[node]. RISK: of one node. */
static void
measure(const Group *group, const Number *number, double risk, GArray **outliers)
{
	g_autofree double *values = g_new0(double, group->n + 1);
	g_autofree double *counts = g_new0(double, group->n + 1);
	Measured measured = { number, values, counts, 0, 0 };
	if (!measure_values(group, &measured))
		return;
	for (guint i = 0; i < group->n; i++) {
		/* Of two the one with more of it is told, beside the other. */
		double median = group->n == 2 ? values[1 - i] : measured.median;
		double distance = values[i] - median;
		Outlier outlier;
		if ((group->n > 2 || distance > 0) &&
		    is_big(group->doctor->of.rules, number, distance) &&
		    judge_node(group, &measured, i, distance, median, risk, &outlier))
			g_array_append_val(outliers[i], outlier);
	}
}

/* --- groups --- */

/* The kind LABEL of NODE, or NULL. */
static const WpCourseKind *
find_kind(const WpCourse *course, guint32 node, const char *label)
{
	for (guint32 i = 0; i < course->kinds->len; i++) {
		const WpCourseKind *kind = wp_course_kind(course, i);
		if (kind->node == node && strcmp(kind->label, label) == 0)
			return kind;
	}
	return NULL;
}

static int
compare_weights(gconstpointer a, gconstpointer b)
{
	const Outlier *x = a, *y = b;
	return (x->weight < y->weight) - (x->weight > y->weight);
}

static void
tell(Group *group, guint number, GArray *outliers, const WpDoctorCheck *check)
{
	const char *name = wp_course_node(group->course, group->nodes[number])->name;
	const Outlier *first = &g_array_index(outliers, Outlier, 0);
	GString *text = g_string_new(NULL);
	g_array_sort(outliers, compare_weights);
	if (group->n == 2)
		g_string_printf(text, "%s is not like its replica %s: ", name,
				wp_course_node(group->course, group->nodes[1 - number])->name);
	else
		g_string_printf(text, "%s stands out from its %u replicas: ", name, group->n - 1);
	for (guint i = 0; i < MIN(outliers->len, MAX_TOLD); i++) {
		const Outlier *outlier = &g_array_index(outliers, Outlier, i);
		g_string_append(text, i ? "; " : "");
		group->label = outlier->label;
		outlier->number->tell(group, outlier->own, outlier->median, text);
	}
	g_string_append_c(text, '.');
	WpDoctorFinding *finding =
		wp_doctor_add(group->doctor, check, WP_FINDING_FOUND, g_string_free(text, FALSE));
	finding->node = name;
	finding->label = first->number == &self_number ? first->label : NULL;
	finding->weight = first->weight;
	wp_doctor_add_number(finding, "replicas", group->n);
	for (guint i = 0; i < MIN(outliers->len, MAX_TOLD); i++) {
		const Outlier *outlier = &g_array_index(outliers, Outlier, i);
		gboolean is_log = outlier->number->is_log;
		wp_doctor_add_number(finding, outlier->number->name,
				     is_log ? exp(outlier->own) : outlier->own);
		wp_doctor_add_number(finding, "median",
				     is_log ? exp(outlier->median) : outlier->median);
		wp_doctor_add_number(finding, "errors_away", outlier->far);
		wp_doctor_add_number(finding, "sd_away", outlier->x);
		wp_doctor_add_example(finding, &outlier->example);
	}
}

/* Labels that the first node of GROUP is called for. (transfer container) */
static GPtrArray *
labels_of(const Group *group)
{
	GPtrArray *labels = g_ptr_array_new();
	for (guint32 i = 0; i < group->course->kinds->len; i++) {
		const WpCourseKind *kind = wp_course_kind(group->course, i);
		if (kind->node == group->nodes[0])
			g_ptr_array_add(labels, (gpointer)kind->label);
	}
	return labels;
}

/* Fills OUTLIERS of each node; or only counts what would be compared. */
static guint
compare_nodes(Group *group, double risk, GArray **outliers)
{
	g_autoptr(GPtrArray) labels = labels_of(group);
	guint n = group->n * (3 + labels->len);
	if (!outliers)
		return n;
	group->label = NULL;
	measure(group, &calls_number, risk, outliers);
	measure(group, &errors_number, risk, outliers);
	measure(group, &asked_number, risk, outliers);
	for (guint i = 0; i < labels->len; i++) {
		gboolean is_complete = TRUE;
		group->label = labels->pdata[i];
		for (guint k = 0; k < group->n; k++) {
			group->kinds[k] = find_kind(group->course, group->nodes[k], group->label);
			is_complete &= group->kinds[k] != NULL;
		}
		if (is_complete)
			measure(group, &self_number, risk, outliers);
	}
	return n;
}

/* (transfer full) Of guint32 arrays: nodes that are called and are replicas of each other, two at least. */
static GPtrArray *
find_groups(const WpCourse *course)
{
	GPtrArray *groups = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
	for (guint32 first = 0; first < course->nodes->len; first++) {
		GArray *nodes = g_array_new(FALSE, FALSE, sizeof(guint32));
		for (guint32 i = 0; i < course->nodes->len; i++)
			if (wp_course_node(course, i)->group == first &&
			    wp_course_node(course, i)->n_in)
				g_array_append_val(nodes, i);
		if (nodes->len > 1)
			g_ptr_array_add(groups, nodes);
		else
			g_array_unref(nodes);
	}
	return groups;
}

static guint
look_at_group(WpDoctor *doctor, const GArray *nodes, double risk, const WpDoctorCheck *check)
{
	const WpCourse *course = doctor->of.course;
	g_autofree guint64 *sums = g_new0(guint64, WP_COURSE_BINS);
	g_autofree const WpCourseKind **kinds = g_new0(const WpCourseKind *, nodes->len);
	Group group = { .doctor = doctor,
			.course = course,
			.nodes = (const guint32 *)(const void *)nodes->data,
			.n = nodes->len,
			.kinds = kinds,
			.sums = sums };
	if (risk == 0)
		return compare_nodes(&group, 0, NULL);
	for (guint i = 0; i < group.n; i++)
		for (guint32 bin = 0; bin < course->n_bins; bin++)
			sums[bin] += wp_course_node(course, group.nodes[i])->in[bin];
	g_autoptr(GPtrArray) outliers =
		g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
	for (guint i = 0; i < group.n; i++)
		g_ptr_array_add(outliers, g_array_new(FALSE, TRUE, sizeof(Outlier)));
	compare_nodes(&group, risk, (GArray **)(void *)outliers->pdata);
	for (guint i = 0; i < group.n; i++)
		if (((GArray *)outliers->pdata[i])->len)
			tell(&group, i, outliers->pdata[i], check);
	return 0;
}

static void
look(WpDoctor *doctor, const WpDoctorCheck *check)
{
	const WpCourse *course = doctor->of.course;
	g_autoptr(GPtrArray) groups = find_groups(course);
	guint n = 0, n_before = doctor->findings->len, n_nodes = 0;
	gboolean is_enough = FALSE;
	for (guint i = 0; i < groups->len; i++) {
		const GArray *nodes = groups->pdata[i];
		guint64 calls = 0;
		for (guint k = 0; k < nodes->len; k++)
			calls += wp_course_node(course, g_array_index(nodes, guint32, k))->n_in;
		is_enough |= calls >= (guint64)doctor->of.rules->min_calls * nodes->len;
		n_nodes += nodes->len;
		n += look_at_group(doctor, nodes, 0, check);
	}
	for (guint i = 0; i < groups->len; i++)
		look_at_group(doctor, groups->pdata[i], wp_doctor_risk(doctor, n), check);
	if (doctor->findings->len > n_before)
		return;
	char count[WP_FORMAT_MAX];
	wp_doctor_add(doctor, check,
		      !groups->len || is_enough ? WP_FINDING_CLEAN : WP_FINDING_UNDECIDED,
		      !groups->len ? g_strdup("No two nodes do the same work.")
		      : is_enough  ? g_strdup_printf("Of %s nodes with replicas none stands out.",
						     wp_format_count(count, n_nodes))
				   : g_strdup("There are replicas, but with too few calls each."));
}

const WpDoctorCheck wp_doctor_peers = {
	.name = "peers",
	.title = "Replicas",
	.has_risk = TRUE,
	.needs_links = TRUE,
	.look = look,
};
