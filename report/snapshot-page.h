/* Pages of wirepath snapshot: the forms of -o and --format, each a function on WpSnapshot. */
#ifndef WP_REPORT_SNAPSHOT_PAGE_H
#define WP_REPORT_SNAPSHOT_PAGE_H

#include "report/json.h"
#include "report/pages.h"
#include "report/out.h"
#include "report/snapshot.h"
#include "report/terminal.h"

typedef struct {
	WpStyle style;
	guint top; /* requests in the text; 0 = all */
} WpSnapshotPage;

typedef void (*WpSnapshotPageFunc)(const WpSnapshot *snapshot, const WpSnapshotPage *page,
				   WpOut *out);

/* What writes each form of wp_pages_forms. */
extern const WpSnapshotPageFunc wp_snapshot_writers[];

/* What is waited for and the oldest requests, PAGE's TOP of each, for a page that says more than that. */
void wp_snapshot_write_brief(const WpSnapshot *snapshot, const WpSnapshotPage *page, WpOut *out);

/* Likewise, as the object "in_flight" of JSON. */
void wp_snapshot_put_json(const WpSnapshot *snapshot, WpJson *json);

#endif
