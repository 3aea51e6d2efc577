/* What a report finds as well (findings.h): equal calls in a row, errors, slow tails. */
#include "report/doctor.h"

/* The pattern of rank RANK, or NULL. */
static const WpViewPattern *
find_pattern(const WpView *view, guint32 rank)
{
	for (guint32 i = 0; i < view->n_patterns; i++)
		if (rank && view->patterns[i].rank == rank)
			return &view->patterns[i];
	return NULL;
}

/* Takes the finding on TOPIC, with the slowest example of its pattern. */
static void
take(WpDoctor *doctor, const WpDoctorCheck *check, WpFindingTopic topic)
{
	const WpView *view = doctor->of.view;
	g_autoptr(GArray) findings = wp_findings_new(view, (guint)doctor->of.rules->row);
	for (guint i = 0; i < findings->len; i++) {
		WpFinding *own = &g_array_index(findings, WpFinding, i);
		if (own->number != topic)
			continue;
		const WpViewPattern *pattern = find_pattern(view, own->pattern);
		WpDoctorFinding *finding =
			wp_doctor_add(doctor, check, own->verdict, g_strdup(own->text));
		finding->weight = own->share;
		if (own->verdict != WP_FINDING_FOUND || !pattern)
			continue;
		wp_doctor_add_number(finding, "pattern", pattern->rank);
		for (guint32 k = 0; k < pattern->n_examples; k++) {
			const WpViewExample *example = &pattern->examples[k];
			WpCourseExample call = { .begin_ns = example->begin_ns,
						 .latency_ns = (gint64)example->latency_ns,
						 .packet = example->packet,
						 .tap = example->tap };
			if (k + 1 == pattern->n_examples)
				wp_doctor_add_example(finding, &call);
		}
	}
}

static void
look_rows(WpDoctor *doctor, const WpDoctorCheck *check)
{
	if (wp_doctor_knows_links(doctor))
		take(doctor, check, WP_FINDING_ROWS);
	else
		wp_doctor_add(doctor, check, WP_FINDING_UNDECIDED,
			      g_strdup("Which calls a request makes cannot be relied on here."));
}

static void
look_errors(WpDoctor *doctor, const WpDoctorCheck *check)
{
	take(doctor, check, WP_FINDING_ERRORS);
}

static void
look_tails(WpDoctor *doctor, const WpDoctorCheck *check)
{
	take(doctor, check, WP_FINDING_TAILS);
}

const WpDoctorCheck wp_doctor_rows = {
	.name = "rows", .title = "Calls in a row", .needs_links = TRUE, .look = look_rows
};
const WpDoctorCheck wp_doctor_errors = { .name = "errors", .title = "Errors", .look = look_errors };
const WpDoctorCheck wp_doctor_tails = { .name = "tails",
					.title = "Slow tails",
					.look = look_tails };
