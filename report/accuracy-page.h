/* The page of `evaluate`: accuracy as text or JSON ("wirepath.accuracy/1"). */
#ifndef WP_REPORT_ACCURACY_PAGE_H
#define WP_REPORT_ACCURACY_PAGE_H

#include "infer/accuracy.h"
#include "infer/engine.h"
#include "infer/self-check.h"
#include "report/out.h"
#include "report/terminal.h"

/* What stands beside the accuracy of an inference where it was asked for. */
typedef struct {
	const WpAccuracy *const *references; /* by WpReferenceKind, or NULL */
	const WpSelfCheck *check;            /* or NULL */
} WpAccuracyBeside;

/* What is judged. */
typedef struct {
	const char *input;
	const char *engine; /* NULL = none: the calls of a file */
	const char *truth;
	const char *partial; /* why not all was read or inferred; NULL: all was */
} WpAccuracyTitle;

void wp_accuracy_write_text(const WpAccuracyTitle *title, const WpAccuracy *accuracy,
			    const WpAccuracyBeside *beside, const WpStyle *style, gboolean verbose,
			    WpOut *out);
void wp_accuracy_write_json(const WpAccuracyTitle *title, const WpAccuracy *accuracy,
			    const WpAccuracyBeside *beside, WpOut *out);

#endif
