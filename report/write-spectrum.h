/* Reports by cross-correlation, in each form. */
#ifndef WP_REPORT_WRITE_SPECTRUM_H
#define WP_REPORT_WRITE_SPECTRUM_H

#include "report/out.h"
#include "report/spectrum.h"
#include "report/writer.h"

void wp_spectrum_text(const WpSpectrumView *spectrum, const WpPage *page, WpOut *out);
void wp_spectrum_csv(const WpSpectrumView *spectrum, const WpPage *page, WpOut *out);
void wp_spectrum_json(const WpSpectrumView *spectrum, const WpPage *page, WpOut *out);
void wp_spectrum_dot(const WpSpectrumView *spectrum, const WpPage *page, WpOut *out);

#endif
