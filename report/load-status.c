/* The exit status of a command that has read its inputs, and what is said of those that are not complete. */
#include "capture/counters.h"
#include "report/command.h"
#include "report/error.h"
#include "report/interrupt.h"
#include "report/load.h"

void
wp_load_outcome_clear(WpLoadOutcome *outcome)
{
	g_clear_error(&outcome->late_error);
}

const char *
wp_load_partial_reason(const WpLoadOutcome *outcome)
{
	if (outcome->is_stopped)
		return "interrupted; this covers what was read until then";
	if (outcome->is_inference_stopped)
		return "interrupted during inference; calls that had no parent yet are not in the "
		       "patterns";
	return outcome->late_error ? outcome->late_error->message : NULL;
}

/* What makes an input lossy: packets or records that should be there and are not. */
static const WpCounter losses[] = {
	WP_COUNT_INPUT_TRUNCATED, WP_COUNT_INPUT_STOPPED,
	WP_COUNT_INPUT_DAMAGED,   WP_COUNT_KERNEL_DROPS,
	WP_COUNT_PACKETS_SNAPPED, WP_COUNT_FRAGMENTS_LOST,
	WP_COUNT_LOST_SEGMENTS,   WP_COUNT_GAPS,
	WP_COUNT_FLOWS_EVICTED,   WP_COUNT_TRACE_LINES_BAD,
};

/* (transfer full) "inputs cut short: 1; ...", or NULL. */
static char *
describe_losses(const WpCounters *counters)
{
	GString *text = g_string_new(NULL);
	for (gsize i = 0; i < G_N_ELEMENTS(losses); i++) {
		guint64 n = wp_counters_get(counters, losses[i]);
		if (n)
			g_string_append_printf(text, "%s%s: %" G_GUINT64_FORMAT,
					       text->len ? "; " : "",
					       wp_counter_info[losses[i]].text, n);
	}
	return g_string_free(text, text->len == 0);
}

int
wp_load_status(const WpInvocation *invocation, const WpLoadOptions *options, WpLoadOutcome *outcome,
	       const WpCounters *counters, GError **error)
{
	if (outcome->late_error) {
		g_propagate_error(error, g_steal_pointer(&outcome->late_error));
		return -1;
	}
	g_autofree char *lost = describe_losses(counters);
	if (wp_interrupt_came()) {
		/* Also where it came too late to stop anything: who pressed Ctrl-C wants to see that it
		 * was heard. */
		if (outcome->is_stopped || outcome->is_inference_stopped)
			wp_warn(invocation, "%s", wp_load_partial_reason(outcome));
		return WP_EXIT_INTERRUPTED;
	}
	if (lost && options->is_strict) {
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_STRICT,
			    "the input is not complete: %s", lost);
		return -1;
	}
	if (lost)
		wp_warn(invocation, "the input is not complete: %s", lost);
	return WP_EXIT_OK;
}

void
wp_load_ending_note(WpLoadEnding *ending, int status, GError *error)
{
	if (error && !ending->error)
		ending->error = error;
	else if (error)
		g_error_free(error);
	if (status < 0 || ending->status == 0)
		ending->status = status;
}

int
wp_load_ending_status(WpLoadEnding *ending, GError **error)
{
	if (!ending->error)
		return ending->status;
	g_propagate_error(error, g_steal_pointer(&ending->error));
	return -1;
}

void
wp_load_ending_clear(WpLoadEnding *ending)
{
	g_clear_error(&ending->error);
}
