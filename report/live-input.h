/*
 * WpLiveInput: the options of commands that read live interfaces, and how these are opened and then read without
 * any privilege.
 */
#ifndef WP_REPORT_LIVE_INPUT_H
#define WP_REPORT_LIVE_INPUT_H

#include <glib.h>

#include "capture/live.h"
#include "capture/sandbox.h"
#include "report/command.h"

typedef struct {
	WpWords interfaces;
	const char *filter;
	gint64 snap_length;
	guint64 ring_bytes;
	gboolean is_promiscuous;
	gint64 count;       /* of packets; 0 = any */
	gint64 duration_ns; /* 0 = any */
	const char *user;
} WpLiveInput;

/* Sets the defaults and adds the table "Packets". */
void wp_live_input_declare(WpOptions *parser, WpLiveInput *input);

/* (transfer full) What is not as asked for becomes a warning. */
WpLive *wp_live_input_open(const WpLiveInput *input, const WpInvocation *invocation,
			   GError **error);

/*
 * Gives up what is not needed any more (capture/sandbox.h), and says what that leaves. DIRECTORIES: N, in which
 * files may be made.
 */
gboolean wp_live_input_give_up(const WpLiveInput *input, const WpInvocation *invocation,
			       const WpSandboxDirectory *directories, gsize n, GError **error);

/* Ends LIVE after this FRAME, or at this time, where the options say so. */
void wp_live_input_counted(const WpLiveInput *input, WpLive *live, const WpFrame *frame);
void wp_live_input_timed(const WpLiveInput *input, WpLive *live, WpLiveTime began, WpLiveTime now);

/* Prints a note of LIVE on one of its interfaces. */
void wp_live_input_note(const WpInvocation *invocation, const WpLive *live, guint interface,
			const char *text);

#endif
