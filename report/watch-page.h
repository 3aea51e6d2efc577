/* WpWatchPage: a window as `wirepath watch` shows it: a table for people, or a JSON object. */
#ifndef WP_REPORT_WATCH_PAGE_H
#define WP_REPORT_WATCH_PAGE_H

#include <glib.h>

#include "capture/live.h"
#include "report/live-loss.h"
#include "report/out.h"
#include "report/snapshot.h"
#include "report/terminal.h"
#include "report/triggers.h"
#include "report/watch.h"

typedef enum {
	WP_WATCH_BY_TIME, /* as windows have them */
	WP_WATCH_BY_RATE,
	WP_WATCH_BY_P95,
	WP_WATCH_BY_CHANGE,
	WP_WATCH_BY_ERRORS,
	WP_WATCH_N_ORDERS
} WpWatchOrder;

extern const char *const wp_watch_order_names[WP_WATCH_N_ORDERS];

typedef struct {
	WpStyle style;
	WpWatchOrder order; /* of the rows of text; the greatest first */
	guint32 top;        /* operations, and patterns, shown as text */
	gboolean shows_patterns;
	const WpLive *live;     /* whose losses are told; or NULL */
	const WpLiveLoss *loss; /* ... and when they were; with LIVE */
	const WpTriggered *triggered;
	guint n_triggered;
	const WpSnapshot *in_flight; /* of JSON; or NULL */
} WpWatchPage;

void wp_watch_page_text(const WpWatchPage *page, const WpWatchWindow *window, WpOut *out);
void wp_watch_page_json(const WpWatchPage *page, const WpWatchWindow *window, WpOut *out);

#endif
