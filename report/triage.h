/*
 * WpTriage: of many runs of one system the few that are worth a look, after J. Lambert's thesis of 2002
 * (infer/chain-metric.h, infer/run-set.h, infer/cluster.h):
 *
 *     chains of each run  ->  how far each run is from each  ->  runs alike, and runs far away  ->  a list, with why
 *
 * A frame of a chain is node (known by its name), protocol, operation (with whether it failed) and, of the last call,
 * how its time compares with the usual time of that chain in all runs: what is slow now and then is slow in all runs,
 * and no news.
 *
 * Away is the mean distance to the other runs, by the requests of a run. A run stands out where the square root of that is
 * above the median of the roots by WP_TRIAGE_LIMIT times their spread: 1.4826 times the median of what they differ by
 * from the median, which is the standard deviation of a normal distribution. Where verdicts are given, runs that are
 * like a bad one rise and those like a good one fall.
 */
#ifndef WP_REPORT_TRIAGE_H
#define WP_REPORT_TRIAGE_H

#include "infer/cluster.h"
#include "infer/run-set.h"
#include "report/chains.h"

#define WP_TRIAGE_MIN_RUNS 3
#define WP_TRIAGE_MAX_RUNS WP_CLUSTER_MAX
#define WP_TRIAGE_LIMIT    5.0
#define WP_TRIAGE_REASONS  3 /* of a run */

typedef enum {
	WP_TRIAGE_OPEN,
	WP_TRIAGE_GOOD,
	WP_TRIAGE_BAD
} WpTriageVerdict;

/* One run as it was read. */
typedef struct {
	char *name; /* as it was given */
	WpChains *chains;
	WpTriageVerdict verdict;
	int exit_status; /* of the command of `wirepath run`; -1 = not known */
} WpTriageInput;

typedef struct {
	const WpChainMetric *metric;
	WpLinkage linkage;
	guint clusters; /* 0 = a tenth of the runs, two at the least */
	guint inspect;  /* so many runs are explained */
} WpTriageOptions;

/* What makes a run odd. */
typedef struct {
	char *chain; /* "web GET /page > app RUN" */
	char *how;   /* "an error", "8 times as long as usual"; "" = nothing of these */
	guint64 calls;
	double usual; /* median of the other runs */
	double share; /* of the run's distance */
} WpTriageReason;

typedef struct {
	const char *name;
	guint64 n_requests;
	double away;
	double times_usual; /* away, of the median of all runs; 0 where that is 0 */
	gboolean stands_out;
	guint32 cluster; /* from 0 */
	guint32 cluster_size;
	WpTriageVerdict verdict;
	int exit_status;    /* -1 = not known */
	double score;       /* away, after verdicts: what the order is by */
	GPtrArray *reasons; /* WpTriageReason, what weighs most first */
} WpTriageRun;

typedef struct {
	WpTriageOptions options;
	GPtrArray *runs; /* WpTriageRun: without verdicts first, by score; then those with */
	double usual_away;
	guint n_standing_out;
	guint n_good, n_bad;
	guint n_odd_open; /* that stand out and have no verdict */
	/*
	 * By the verdicts, of all runs: how many are bad, and with 95 % certainty no more than how many (Wilson's
	 * interval). Those that stand out and the rest are strata; below 0 where one of the two has no verdict.
	 */
	double expected_bad;
	double most_bad;
	guint64 n_calls;
	guint64 n_left; /* calls of chains beyond the limits */
} WpTriage;

/*
 * (transfer full) INPUTS: WpTriageInput, WP_TRIAGE_MIN_RUNS to WP_TRIAGE_MAX_RUNS, each with requests; names are
 * borrowed.
 */
WpTriage *wp_triage_new(const GPtrArray *inputs, const WpTriageOptions *options);
void wp_triage_free(WpTriage *triage);

/*
 * Sets verdicts of INPUTS (WpTriageInput) from PATH: lines "RUN,good" or "RUN,bad", # begins a comment. A run is named
 * as it was given, or by the last part of that where no two share it. WP_REPORT_ERROR_DATA with the line.
 */
gboolean wp_triage_read_verdicts(GPtrArray *inputs, const char *path, GError **error);

void wp_triage_input_free(WpTriageInput *input);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpTriage, wp_triage_free)

#endif
