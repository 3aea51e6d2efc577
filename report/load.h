/*
 * Loading: INPUT... of a command to records. Every command that reads captures or traces takes the
 * same operands and the same options through here.
 *
 * INPUT is a pcap or pcapng file, a trace, a file of spans, each also compressed; a directory (what it holds of
 * these, by name); "-" for standard input; each also as "label=path". What it is, its content tells.
 * All captures are merged in time order, those of several taps on one clock (capture/taps.h); a label names
 * the tap that its files come from. All files of spans are one set of spans, read after them; then traces.
 */
#ifndef WP_REPORT_LOAD_H
#define WP_REPORT_LOAD_H

#include <glib.h>

#include "capture/capture.h"
#include "capture/mail.h"
#include "capture/sink.h"
#include "capture/span-file.h"
#include "capture/trace.h"
#include "report/command.h"
#include "report/overwrite.h"

typedef struct {
	WpTimeOption from; /* its word: WP_LOAD_MAIL */
	WpTimeOption to;
	const char *filter;
	const char *decode_as;
	const char *keylog;
	const char *rmi_interfaces;
	const char *token_key;
	gint64 max_flows;   /* 0 = default */
	gint64 n_threads;   /* 0 = as pays */
	const char *inside; /* domains, with commas between them */
	WpWords clocks;     /* "TAP[=OFFSET[,PPM]]" */
	gint64 min_taps;    /* 0 = all */
	gboolean is_strict;
	/* Not options: set by the command that wants the truth of inputs that tell it, or NULL. */
	WpMailTruthFunc mail_truth;
	WpSpanFileTruthFunc span_truth;
	gpointer truth_data;
	/* Likewise: who is shown the frames of captures (capture/capture.h), or NULL. */
	WpCaptureFrameFunc frame;
	gpointer frame_data;
} WpLoadOptions;

/* --from mail: the operands hold mails. */
#define WP_LOAD_MAIL "mail"
gboolean wp_load_is_mail(const WpLoadOptions *options);

/* Adds the tables "Selection" and "Reading" for OPTIONS. */
void wp_load_declare(WpOptions *parser, WpLoadOptions *options);

/* TRUE where --from, --to or --filter may have left out packets or records. */
gboolean wp_load_is_selective(const WpLoadOptions *options);

/*
 * (transfer full) The name, without folder, of the only input where that is a file; else NULL. A trace may name the
 * captures that it was made from instead.
 */
char *wp_load_file(const WpInvocation *invocation);

/* (transfer none) "label=path" -> path, unless a file has the whole as its name. */
const char *wp_load_path(const char *operand);

/* Tells FILES of all that the operands name; of a directory, the captures and traces in it. */
void wp_load_add_inputs(const WpInvocation *invocation, WpOverwrite *files);

/* How the reading ended, apart from errors that left nothing to report. */
typedef struct {
	gboolean is_stopped;           /* by the first SIGINT: what came before it was loaded */
	gboolean is_inference_stopped; /* by the first SIGINT, when all was loaded */
	GError *late_error; /* in the middle of an input: what came before it was loaded */
} WpLoadOutcome;

void wp_load_outcome_clear(WpLoadOutcome *outcome);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(WpLoadOutcome, wp_load_outcome_clear)

/* (transfer none) Why the input was not read whole, for pages; NULL where it was. */
const char *wp_load_partial_reason(const WpLoadOutcome *outcome);

/*
 * Pushes the records of all operands into SINK as they come (memory: that of the capture). Several
 * traces, or traces beside captures, are gathered first, as only that gives one order. FALSE where
 * nothing was loaded.
 */
gboolean wp_load_stream(const WpInvocation *invocation, const WpLoadOptions *options,
			WpNodes *nodes, WpRecordSink *sink, WpLoadOutcome *out_outcome,
			GError **error);

/* (transfer full) The same as a trace. */
WpTrace *wp_load_trace(const WpInvocation *invocation, const WpLoadOptions *options,
		       WpLoadOutcome *out_outcome, GError **error);

/*
 * The exit status of a command whose output is written: 0, 130 after SIGINT, or -1 with the late error
 * or (--strict) what was lost. Otherwise losses become a warning.
 */
int wp_load_status(const WpInvocation *invocation, const WpLoadOptions *options,
		   WpLoadOutcome *outcome, const WpCounters *counters, GError **error);

/* How reading several inputs ended, each by itself: the worst, and the first error. */
typedef struct {
	int status;
	GError *error;
} WpLoadEnding;

/* Takes ERROR, which may be NULL. */
void wp_load_ending_note(WpLoadEnding *ending, int status, GError *error);

/* The status of the command; -1 with the error. */
int wp_load_ending_status(WpLoadEnding *ending, GError **error);
void wp_load_ending_clear(WpLoadEnding *ending);

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(WpLoadEnding, wp_load_ending_clear)

#endif
