/* What measures (measure.h) say, on the pages of wirepath doctor. */
#ifndef WP_REPORT_MEASURE_PAGE_H
#define WP_REPORT_MEASURE_PAGE_H

#include "report/json.h"
#include "report/measure.h"
#include "report/terminal.h"

void wp_measure_write_text(const WpMeasure *measure, const WpStyle *style, WpOut *out);
void wp_measure_write_markdown(const WpMeasure *measure, WpOut *out);
void wp_measure_write_json(const WpMeasure *measure, WpJson *json);

#endif
