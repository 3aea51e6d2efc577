/* WpWatchPage: a window as `wirepath watch` shows it: a table for people, or a JSON object. */
#ifndef WP_REPORT_WATCH_PAGE_H
#define WP_REPORT_WATCH_PAGE_H

#include <glib.h>

#include "capture/live.h"
#include "report/out.h"
#include "report/terminal.h"
#include "report/triggers.h"
#include "report/watch.h"

typedef struct {
	WpStyle style;
	guint32 top; /* operations, and patterns, shown as text */
	gboolean shows_patterns;
	const WpLive *live; /* whose losses are told; or NULL */
	const WpTriggered *triggered;
	guint n_triggered;
} WpWatchPage;

void wp_watch_page_text(const WpWatchPage *page, const WpWatchWindow *window, WpOut *out);
void wp_watch_page_json(const WpWatchPage *page, const WpWatchWindow *window, WpOut *out);

#endif
