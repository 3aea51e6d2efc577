/*
 * WpWhatIf: latencies of all requests, had some nodes taken another time by themselves: --what-if NODE=FACTOR of a
 * report. The model is that of infer/what-if.h.
 */
#ifndef WP_REPORT_WHAT_IF_H
#define WP_REPORT_WHAT_IF_H

#include "infer/delay.h"
#include "report/analysis.h"
#include "report/json.h"
#include "report/writer.h"

#define WP_WHAT_IF_MAX_FACTOR     100.0
#define WP_WHAT_IF_MAX_OPERATIONS 2000 /* what is beyond counts in all */

typedef struct {
	char *node; /* name or pattern */
	double factor;
	guint64 n_calls; /* calls that it was applied to */
} WpWhatIfRule;

/* Requests of one operation, or all of them. */
typedef struct {
	char *node; /* "" = all */
	char *label;
	WpDelay *before;
	WpDelay *after;
} WpWhatIfLot;

typedef struct WpWhatIf {
	GPtrArray *rules; /* WpWhatIfRule */
	GPtrArray *
		operations; /* WpWhatIfLot; after wp_what_if_finish() the most time saved, or lost, first */
	WpWhatIfLot *all;
	GHashTable *numbers; /* key -> place in operations */
} WpWhatIf;

/* (transfer full) From RULES (const char *, "NODE=FACTOR"); the first that fits a node counts. WP_REPORT_ERROR_USAGE. */
WpWhatIf *wp_what_if_new(const GPtrArray *rules, GError **error);
void wp_what_if_free(WpWhatIf *what_if);

/* A part as it is shown to a WpAnalysisFunc. */
void wp_what_if_add(WpWhatIf *what_if, const WpAnalysis *part);
void wp_what_if_finish(WpWhatIf *what_if);

/* For pages. (transfer full) "web takes 0.5 times as long by itself (1,500 calls); ...", names as they came. */
char *wp_what_if_rules_text(const WpWhatIf *what_if);

/* What "then" means: a sentence or two. */
extern const char wp_what_if_legend[];

/* How many of the operations would change: those are the first. */
guint wp_what_if_n_changed(const WpWhatIf *what_if);

/* Of LOT's time, the share that would be saved; below 0: lost. */
double wp_what_if_saved(const WpWhatIfLot *lot);

/* (transfer full) "web  GET /"; "all requests" of those. Names as they came. */
char *wp_what_if_name(const WpWhatIfLot *lot);

/* The block of the text page, and the member "what_if" of a JSON result. */
void wp_what_if_write_text(const WpWhatIf *what_if, const WpPage *page, WpOut *out);
void wp_what_if_write_json(const WpWhatIf *what_if, WpJson *json);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpWhatIf, wp_what_if_free)

#endif
