/* The plan of one request, as text for people or JSON for programs. */
#ifndef WP_REPORT_WRITE_EXPLAIN_H
#define WP_REPORT_WRITE_EXPLAIN_H

#include "report/form.h"
#include "report/json.h"
#include "report/view-request.h"
#include "report/writer.h"

typedef enum {
	WP_EXPLAIN_TEXT,
	WP_EXPLAIN_JSON
} WpExplainFormat;

/* NULL-name-ended, in the order of the enum. */
extern const WpForm wp_explain_forms[];

/* REQUESTS (of WpViewRequest) of VIEW, in their order. */
void wp_explain_text(const WpView *view, const GPtrArray *requests, const WpPage *page, WpOut *out);
void wp_explain_json(const WpView *view, const GPtrArray *requests, WpOut *out);

/* One of them, as an object in an array. */
void wp_json_request(WpJson *json, const WpView *view, const WpViewRequest *request);

#endif
