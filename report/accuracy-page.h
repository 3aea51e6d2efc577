/* The page of `evaluate`: accuracy as text or JSON ("wirepath.accuracy/1"). */
#ifndef WP_REPORT_ACCURACY_PAGE_H
#define WP_REPORT_ACCURACY_PAGE_H

#include "infer/accuracy.h"
#include "report/out.h"
#include "report/terminal.h"

void wp_accuracy_write_text(const WpAccuracy *accuracy, const WpStyle *style, gboolean verbose,
			    WpOut *out);
void wp_accuracy_write_json(const WpAccuracy *accuracy, WpOut *out);

#endif
