/*
 * What checks of doctor.h look at in time: a number of a node or of one kind of calls into it, in blocks of neighbouring bins
 * with enough calls each. Values are num / den: of self times the mean of logarithms, of errors and calls a share.
 */
#ifndef WP_REPORT_DOCTOR_SERIES_H
#define WP_REPORT_DOCTOR_SERIES_H

#include "report/doctor.h"

/* Fewer blocks say nothing. */
#define WP_DOCTOR_MIN_BLOCKS 20

typedef struct {
	double num;
	double den;    /* calls */
	double middle; /* in bins */
	guint32 first_bin;
	guint32 n_bins;
	WpCourseExample slowest;
} WpDoctorBlock;

typedef struct {
	const char *name; /* "self time" */
	gboolean is_log;
} WpDoctorSeriesKind;

extern const WpDoctorSeriesKind wp_doctor_self_series, wp_doctor_error_series,
	wp_doctor_share_series;

typedef struct {
	const WpDoctorSeriesKind *kind;
	guint32 node;
	const WpCourseKind *of; /* of self times; else NULL */
	guint n;
	WpDoctorBlock *blocks;
} WpDoctorSeries;

void wp_doctor_series_free(WpDoctorSeries *series);

/* (transfer full) Of WpDoctorSeries: all that have enough calls, and time that matters. */
GPtrArray *wp_doctor_series_all(const WpDoctor *doctor);

/* The share of all time, or calls, that SERIES is of. */
double wp_doctor_series_share(const WpDoctor *doctor, const WpDoctorSeries *series);

/* "Self time of db SELECT {}" (transfer full); VALUE with its unit, to BUFFER (WP_FORMAT_MAX bytes). */
char *wp_doctor_series_name(const WpDoctor *doctor, const WpDoctorSeries *series);
const char *wp_doctor_series_value(const WpDoctorSeries *series, double value, char *buffer);

/* Takes the best step or line out of SERIES (doctor-drift.c). */
void wp_doctor_series_flatten(WpDoctorSeries *series);

#endif
