/* Two sums of parts, each emptied in turn. */
#include "report/watch-report.h"

#include "infer/pattern-sum.h"

#define N_SUMS 2

typedef struct {
	WpPatternSum *sum;
	WpTally tally;
	gint64 until_ns; /* it is emptied then */
} Sum;

struct WpWatchReport {
	gint64 span_ns;
	Sum sums[N_SUMS];
	gint64 end_ns;
};

WpWatchReport *
wp_watch_report_new(gint64 span_ns)
{
	WpWatchReport *report = g_new0(WpWatchReport, 1);

	report->span_ns = span_ns;
	report->end_ns = WP_NO_TIME;
	for (guint i = 0; i < N_SUMS; i++) {
		report->sums[i].sum = wp_pattern_sum_new();
		wp_tally_init(&report->sums[i].tally);
	}
	return report;
}

void
wp_watch_report_free(WpWatchReport *report)
{
	if (!report)
		return;
	for (guint i = 0; i < N_SUMS; i++) {
		wp_pattern_sum_free(report->sums[i].sum);
		wp_tally_clear(&report->sums[i].tally);
	}
	g_free(report);
}

gint64
wp_watch_report_end_ns(const WpWatchReport *report)
{
	return report->end_ns;
}

static void
empty(Sum *sum)
{
	wp_pattern_sum_free(sum->sum);
	wp_tally_clear(&sum->tally);
	sum->sum = wp_pattern_sum_new();
	wp_tally_init(&sum->tally);
}

/* After a time without records several turns may be due. */
static void
take_turns(WpWatchReport *report, gint64 now_ns, gboolean is_first)
{
	for (guint i = 0; i < N_SUMS; i++) {
		Sum *sum = &report->sums[i];
		if (is_first) {
			sum->until_ns = now_ns + (i == 0 ? report->span_ns : report->span_ns / 2);
		} else if (now_ns >= sum->until_ns) {
			gint64 late_ns = now_ns - sum->until_ns;
			empty(sum);
			sum->until_ns += (late_ns / report->span_ns + 1) * report->span_ns;
		}
	}
}

static gint64
end_of(const WpTrace *trace)
{
	gsize n = wp_trace_n_records(trace);
	return n ? wp_trace_records(trace)[n - 1].begin_ns : WP_NO_TIME;
}

void
wp_watch_report_add(WpWatchReport *report, const WpAnalysis *part)
{
	const WpLinks *links = wp_analysis_links(part);
	gint64 end_ns = end_of(part->trace);

	for (guint i = 0; part->has_moved && i < N_SUMS; i++) {
		wp_pattern_sum_move(report->sums[i].sum, part->resolved);
		wp_tally_move(&report->sums[i].tally, part->resolved);
	}
	if (end_ns != WP_NO_TIME)
		take_turns(report, end_ns, report->end_ns == WP_NO_TIME);
	if (end_ns != WP_NO_TIME)
		report->end_ns = end_ns;
	for (guint i = 0; i < N_SUMS; i++) {
		Sum *sum = &report->sums[i];
		g_autoptr(WpPatternSet) set = wp_patterns_new(part->resolved, links, NULL);
		wp_tally_add(&sum->tally, part->resolved, links,
			     part->selection ? part->selection->keep : NULL, set->lost_share);
		wp_pattern_sum_add(sum->sum, set, NULL);
	}
}

gboolean
wp_watch_report_write(WpWatchReport *report, const WpAnalysis *analysis, const WpWriter *writer,
		      const WpPage *page, WpOut *out)
{
	const WpViewOptions shown = { 0 };
	Sum *sum = &report->sums[report->sums[0].until_ns < report->sums[1].until_ns ? 0 : 1];
	WpAnalysis whole = *analysis;

	if (report->end_ns == WP_NO_TIME)
		return FALSE;
	g_autoptr(WpPatternSet) set = wp_pattern_sum_finish(sum->sum, analysis->resolved);
	whole.patterns = set;
	whole.tally = sum->tally;
	g_autoptr(WpView) view = wp_view_new(&whole, &shown);
	writer->report(view, page, out);
	/* What was finished is a set like any other, to be added to. */
	wp_pattern_sum_free(sum->sum);
	sum->sum = wp_pattern_sum_new();
	wp_pattern_sum_add(sum->sum, set, NULL);
	return TRUE;
}
