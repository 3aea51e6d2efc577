/* The table of checks, and what they share. */
#include "report/doctor.h"

#include <stdlib.h>
#include <string.h>

#include "report/format.h"

/* Calls shown with a finding. */
#define MAX_EXAMPLES 3

extern const WpDoctorCheck wp_doctor_peers, wp_doctor_times, wp_doctor_drift, wp_doctor_together,
	wp_doctor_lanes, wp_doctor_pairs, wp_doctor_rows, wp_doctor_errors, wp_doctor_tails;

/* In the order in which pages name those that found nothing. */
const WpDoctorCheck *const wp_doctor_checks[] = {
	&wp_doctor_peers, &wp_doctor_drift,
	&wp_doctor_times, &wp_doctor_together,
	&wp_doctor_lanes, &wp_doctor_pairs,
	&wp_doctor_rows,  &wp_doctor_errors,
	&wp_doctor_tails, NULL,
};

static void
finding_free(gpointer data)
{
	WpDoctorFinding *finding = data;
	g_free(finding->text);
	g_array_unref(finding->numbers);
	g_array_unref(finding->examples);
	g_free(finding);
}

gboolean
wp_doctor_knows_links(const WpDoctor *doctor)
{
	WpViewTrust trust = doctor->of.view->links.trust;
	return trust != WP_VIEW_TRUST_LOW && trust != WP_VIEW_TRUST_STOPPED;
}

/* Whether CHECK cannot say that there is nothing, as what it looks at is not known well enough. */
static gboolean
is_blind(const WpDoctor *doctor, const WpDoctorCheck *check, WpFindingVerdict verdict)
{
	return verdict == WP_FINDING_CLEAN && check->needs_links && !wp_doctor_knows_links(doctor);
}

WpDoctorFinding *
wp_doctor_add(WpDoctor *doctor, const WpDoctorCheck *check, WpFindingVerdict verdict, char *text)
{
	WpDoctorFinding *finding = g_new0(WpDoctorFinding, 1);
	finding->check = check;
	finding->title = check->title;
	finding->verdict = verdict;
	finding->text = text;
	if (is_blind(doctor, check, verdict)) {
		finding->verdict = WP_FINDING_UNDECIDED;
		finding->text = g_strdup_printf("%s But that rests on which call caused which, and "
						"here that cannot be relied on.",
						text);
		g_free(text);
	}
	finding->numbers = g_array_new(FALSE, FALSE, sizeof(WpDoctorNumber));
	finding->examples = g_array_new(FALSE, FALSE, sizeof(WpCourseExample));
	g_ptr_array_add(doctor->findings, finding);
	return finding;
}

void
wp_doctor_add_number(WpDoctorFinding *finding, const char *name, double value)
{
	WpDoctorNumber number = { name, value };
	g_array_append_val(finding->numbers, number);
}

void
wp_doctor_add_example(WpDoctorFinding *finding, const WpCourseExample *example)
{
	if (finding->examples->len < MAX_EXAMPLES && example->latency_ns)
		g_array_append_val(finding->examples, *example);
}

double
wp_doctor_risk(const WpDoctor *doctor, guint n)
{
	guint n_checks = 0;
	for (guint i = 0; wp_doctor_checks[i]; i++)
		n_checks += wp_doctor_checks[i]->has_risk;
	return doctor->of.rules->risk / MAX(n_checks, 1) / MAX(n, 1);
}

static int
compare_doubles(gconstpointer a, gconstpointer b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

double
wp_doctor_median(const double *values, guint n)
{
	g_autofree double *sorted = g_memdup2(values, n * sizeof *values);
	qsort(sorted, n, sizeof *sorted, compare_doubles);
	return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

char *
wp_doctor_kind_name(const WpCourse *course, const WpCourseKind *kind)
{
	return g_strdup_printf("%s %s", wp_course_node(course, kind->node)->name,
			       *kind->label ? kind->label : kind->protocol);
}

char *
wp_doctor_bin_time(const WpCourse *course, guint32 bin)
{
	char text[WP_FORMAT_MAX];
	return g_strdup_printf("+%s", wp_format_time(text, (double)course->bin_ns * bin));
}

static guint
place_of(const WpDoctorCheck *check)
{
	guint place = 0;
	while (wp_doctor_checks[place] != check)
		place++;
	return place;
}

/* Sorting is stable: what is equal stays in the order in which it was found. */
static int
compare_findings(gconstpointer a, gconstpointer b)
{
	const WpDoctorFinding *x = *(WpDoctorFinding *const *)a, *y = *(WpDoctorFinding *const *)b;
	if (x->verdict != y->verdict)
		return x->verdict < y->verdict ? -1 : 1;
	if (x->verdict == WP_FINDING_FOUND && x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return (int)place_of(x->check) - (int)place_of(y->check);
}

WpDoctor *
wp_doctor_new(const WpDoctorCase *of)
{
	WpDoctor *doctor = g_new0(WpDoctor, 1);
	doctor->of = *of;
	doctor->findings = g_ptr_array_new_with_free_func(finding_free);
	for (guint i = 0; wp_doctor_checks[i]; i++)
		wp_doctor_checks[i]->look(doctor, wp_doctor_checks[i]);
	g_ptr_array_sort(doctor->findings, compare_findings);
	for (guint i = 0; i < doctor->findings->len; i++)
		doctor->n_of[((WpDoctorFinding *)doctor->findings->pdata[i])->verdict]++;
	doctor->verdict = WP_FINDING_CLEAN;
	if (doctor->n_of[WP_FINDING_UNDECIDED] > doctor->n_of[WP_FINDING_CLEAN])
		doctor->verdict = WP_FINDING_UNDECIDED;
	if (doctor->n_of[WP_FINDING_FOUND])
		doctor->verdict = WP_FINDING_FOUND;
	return doctor;
}

void
wp_doctor_free(WpDoctor *doctor)
{
	if (!doctor)
		return;
	g_ptr_array_unref(doctor->findings);
	g_free(doctor);
}
