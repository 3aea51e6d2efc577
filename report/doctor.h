/*
 * WpDoctor: one capture looked at by a table of checks, each of which finds something, says that it looked and there
 * is nothing, or that the capture cannot tell.
 *
 *   course (bins of time) + digest (how nodes serve) + pairs (what is held) + view (patterns)  ->  checks  ->  findings, ranked
 *
 * Findings that rest on chance share one risk: of captures of a system that does not change, with replicas that
 * do not differ, the share in which anything is found. Each check has an equal part of it, and corrects it for
 * the comparisons that it makes (Bonferroni: so many that Holm's would be no less strict).
 *
 * Ranks: the share of all requests, or of their time, that the finding is about.
 */
#ifndef WP_REPORT_DOCTOR_H
#define WP_REPORT_DOCTOR_H

#include <glib.h>

#include "report/course.h"
#include "report/digest.h"
#include "report/doctor-rules.h"
#include "report/findings.h"
#include "report/pairs.h"
#include "report/view.h"

/* Numbers and calls that show a finding; each finding has a few. */
typedef struct {
	const char *name; /* for programs: "before_ns" */
	double value;
} WpDoctorNumber;

typedef struct WpDoctorCheck WpDoctorCheck;

/* Names in TEXT are as they came from packets. */
typedef struct {
	const WpDoctorCheck *check;
	const char *title; /* of the check, where it says no other */
	WpFindingVerdict verdict;
	char *text;
	const char *node;  /* what it is about; NULL = no one node */
	const char *label; /* likewise */
	double weight;     /* 0..1: see above */
	GArray *numbers;   /* WpDoctorNumber */
	GArray *examples;  /* WpCourseExample */
} WpDoctorFinding;

/* What checks look at; all borrowed. */
typedef struct {
	const WpCourse *course;
	const WpDigest *digest;
	const WpView *view;
	const WpDoctorRules *rules;
	const WpPairs *pairs;
	const GPtrArray *measures; /* WpMeasure: not looked at, but shown; NULL = none */
} WpDoctorCase;

typedef struct {
	WpDoctorCase of;
	GPtrArray *
		findings; /* WpDoctorFinding: FOUND by rank, then UNDECIDED, CLEAN in order of checks */
	guint n_of[WP_FINDING_N_VERDICTS];
	WpFindingVerdict
		verdict; /* FOUND where anything is; UNDECIDED where most checks cannot tell */
} WpDoctor;

struct WpDoctorCheck {
	const char *name;  /* "peers" */
	const char *title; /* "Nodes beside their replicas" */
	gboolean has_risk; /* it may find something by chance */
	/* It looks at self times or patterns: it says of nothing that it is clean while links cannot be relied on. */
	gboolean needs_links;
	/* Adds findings; one of CLEAN or UNDECIDED where there are none. */
	void (*look)(WpDoctor *doctor, const WpDoctorCheck *check);
};

/* NULL-ended. */
extern const WpDoctorCheck *const wp_doctor_checks[];

/* (transfer full) What is in OF must outlive the doctor. */
WpDoctor *wp_doctor_new(const WpDoctorCase *of);
void wp_doctor_free(WpDoctor *doctor);

/* --- for checks --- */

/* (transfer none) A new finding; TEXT is taken. */
WpDoctorFinding *wp_doctor_add(WpDoctor *doctor, const WpDoctorCheck *check,
			       WpFindingVerdict verdict, char *text);
void wp_doctor_add_number(WpDoctorFinding *finding, const char *name, double value);
void wp_doctor_add_example(WpDoctorFinding *finding, const WpCourseExample *example);

/* FALSE: which call caused which cannot be relied on, nor what rests on that. */
gboolean wp_doctor_knows_links(const WpDoctor *doctor);

/* The risk of one of N comparisons of a check. */
double wp_doctor_risk(const WpDoctor *doctor, guint n);

/* The median of N values, at least one. */
double wp_doctor_median(const double *values, guint n);

/* "db SELECT {}" (transfer full) */
char *wp_doctor_kind_name(const WpCourse *course, const WpCourseKind *kind);

/* "+12.3 s": the time of bin BIN. (transfer full) */
char *wp_doctor_bin_time(const WpCourse *course, guint32 bin);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpDoctor, wp_doctor_free)

#endif
