/* Pages of wirepath doctor: the forms of -o and --format, each a function on WpDoctor. */
#ifndef WP_REPORT_DOCTOR_PAGE_H
#define WP_REPORT_DOCTOR_PAGE_H

#include "report/doctor.h"
#include "report/form.h"
#include "report/out.h"
#include "report/terminal.h"

typedef struct {
	WpStyle style;
} WpDoctorPage;

typedef void (*WpDoctorPageFunc)(const WpDoctor *doctor, const WpDoctorPage *page, WpOut *out);

/* The forms, and what writes each: the same number in both. */
extern const WpForm wp_doctor_forms[];
extern const WpDoctorPageFunc wp_doctor_writers[];

#endif
