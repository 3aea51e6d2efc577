/* Correlograms, in each form. */
#ifndef WP_REPORT_WRITE_CORRELOGRAM_H
#define WP_REPORT_WRITE_CORRELOGRAM_H

#include "report/correlogram.h"
#include "report/writer.h"

void wp_correlogram_text(const WpCorrelogramView *view, const WpPage *page, WpOut *out);
void wp_correlogram_csv(const WpCorrelogramView *view, const WpPage *page, WpOut *out);
void wp_correlogram_svg(const WpCorrelogramView *view, const WpPage *page, WpOut *out);

#endif
