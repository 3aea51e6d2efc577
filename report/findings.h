/*
 * Findings: what is worth looking at first, each with its evidence, or the word that it was looked for and is
 * not there, or that the input cannot tell.
 */
#ifndef WP_REPORT_FINDINGS_H
#define WP_REPORT_FINDINGS_H

#include <glib.h>

#include "report/view.h"

typedef enum {
	WP_FINDING_FOUND,
	WP_FINDING_UNDECIDED,
	WP_FINDING_CLEAN,
	WP_FINDING_N_VERDICTS
} WpFindingVerdict;

extern const char *const wp_finding_verdicts[WP_FINDING_N_VERDICTS];

typedef enum {
	WP_FINDING_TIME,
	WP_FINDING_ERRORS,
	WP_FINDING_TAILS,
	WP_FINDING_ROWS,
	WP_FINDING_CONNECTIONS,
	WP_FINDING_STALLS,
	WP_FINDING_WORKERS,
	WP_FINDING_POOLS,
	WP_FINDING_PATHS,
	WP_FINDING_CAPTURE,
	WP_FINDING_N_TOPICS
} WpFindingTopic;

typedef struct {
	WpFindingVerdict verdict;
	WpFindingTopic number;
	const char *topic;
	char *text;      /* a sentence or two, with names as they came from packets */
	guint32 pattern; /* rank of the pattern that shows it; 0 = none */
	double share; /* of all requests, or of their time, that it is about; 0 where it is about none */
} WpFinding;

/* So many equal calls in a row would be one, if they were asked for together. */
#define WP_FINDINGS_ROW 5

/* Of the time that a call spends at a node, waiting for a worker: from such a share on it is worth a word. */
#define WP_FINDINGS_WAITING 0.6

/* Share of that time. */
double wp_findings_waiting(const WpViewQueue *queue);

/* (transfer full) What there is to say of QUEUE. */
char *wp_findings_queue_text(const WpViewQueue *queue);

/* Of the calls over a pool of connections, waiting for a free one: likewise. */
#define WP_FINDINGS_WAITED 0.2

/* (transfer full) What there is to say of POOL. */
char *wp_findings_pool_text(const WpViewPool *pool);

/* (transfer full) Of WpFinding, what was found first. MIN_ROW: from so many on equal calls in a row are one. */
GArray *wp_findings_new(const WpView *view, guint min_row);

#endif
