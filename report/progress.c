/*
 * The progress line. The one file that writes to standard error while work is going on. What cannot tell how
 * far it is cannot be relied on to call here now and then, so its seconds are counted by a thread.
 */
#include "report/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "report/format.h"

/* What is done sooner needs no line (git waits as long). */
#define DELAY_US (1 * G_USEC_PER_SEC)

/* Ten times a second is smooth enough. */
#define INTERVAL_US (G_USEC_PER_SEC / 10)

/* Of the seconds of a stage. */
#define TICK_US (1 * G_USEC_PER_SEC)

struct WpProgress {
	gboolean is_quiet;
	gboolean is_on;
	gboolean is_shown;
	gint64 started_us;
	gint64 next_us;

	GThread *ticker;   /* NULL = no stage is going on */
	const char *stage; /* constant while it does, like the next */
	gint64 stage_began_us;
	GMutex lock; /* of the following, and, while the ticker lives, of is_shown */
	GCond wake;
	gboolean is_over;
};

WpProgress *
wp_progress_new(gboolean quiet)
{
	WpProgress *progress = g_new0(WpProgress, 1);
	progress->is_quiet = quiet;
	progress->is_on = !quiet && isatty(STDERR_FILENO);
	progress->started_us = g_get_monotonic_time();
	progress->next_us = progress->started_us + DELAY_US;
	g_mutex_init(&progress->lock);
	g_cond_init(&progress->wake);
	return progress;
}

static void
end_stage(WpProgress *progress)
{
	if (!progress->ticker)
		return;
	g_mutex_lock(&progress->lock);
	progress->is_over = TRUE;
	g_cond_signal(&progress->wake);
	g_mutex_unlock(&progress->lock);
	g_thread_join(g_steal_pointer(&progress->ticker));
}

void
wp_progress_clear(WpProgress *progress)
{
	end_stage(progress);
	if (progress->is_shown)
		fputs("\r\033[K", stderr);
	progress->is_shown = FALSE;
}

void
wp_progress_free(WpProgress *progress)
{
	if (!progress)
		return;
	wp_progress_clear(progress);
	g_cond_clear(&progress->wake);
	g_mutex_clear(&progress->lock);
	g_free(progress);
}

/* Only a process in the foreground may scribble on the terminal. */
static gboolean
is_foreground(void)
{
	pid_t group = tcgetpgrp(STDERR_FILENO);
	return group < 0 || group == getpgrp();
}

static gboolean
is_due(WpProgress *progress, gint64 now_us)
{
	if (now_us < progress->next_us)
		return FALSE;
	progress->next_us = now_us + INTERVAL_US;
	return is_foreground();
}

/* Begins the line anew where it is time for that. */
static gboolean
begin_line(WpProgress *progress, const char *what, double *out_seconds)
{
	if (!progress->is_on)
		return FALSE;
	gint64 now_us = g_get_monotonic_time();
	if (!is_due(progress, now_us))
		return FALSE;
	*out_seconds = (double)(now_us - progress->started_us) / G_USEC_PER_SEC;
	fprintf(stderr, "\r\033[K%s: ", what);
	progress->is_shown = TRUE;
	return TRUE;
}

/* "43.2%, " and, into BUFFER, the time that is left. */
static void
put_share(double seconds, guint64 done, guint64 total, char *buffer)
{
	char share[WP_FORMAT_MAX];
	double left_s = seconds * ((double)total / (double)MAX(done, 1) - 1);

	wp_format_time(buffer, (double)(gint64)left_s * 1e9);
	fprintf(stderr, "%s, ", wp_format_share(share, (double)done / (double)total));
}

void
wp_progress_update(WpProgress *progress, guint64 done, guint64 total, guint64 count,
		   const char *unit)
{
	char amount[WP_FORMAT_MAX], rate[WP_FORMAT_MAX], left[WP_FORMAT_MAX];
	gboolean is_share = total && done <= total;
	double seconds;

	if (!begin_line(progress, "reading", &seconds))
		return;
	if (is_share)
		put_share(seconds, done, total, left);
	wp_format_count(amount, count);
	wp_format_bytes(rate, (guint64)((double)done / seconds));
	fprintf(stderr, "%s %s, %s/s", amount, unit, rate);
	if (is_share)
		fprintf(stderr, ", %s left", left);
	fflush(stderr);
}

void
wp_progress_count(WpProgress *progress, const char *what, guint64 done, guint64 total,
		  const char *unit)
{
	char amount[WP_FORMAT_MAX], left[WP_FORMAT_MAX];
	gboolean is_share = total && done <= total;
	double seconds;

	if (!begin_line(progress, what, &seconds))
		return;
	if (is_share)
		put_share(seconds, done, total, left);
	fprintf(stderr, "%s %s", wp_format_count(amount, done), unit);
	if (is_share)
		fprintf(stderr, ", %s left", left);
	fflush(stderr);
}

void
wp_progress_live(WpProgress *progress, const char *text)
{
	double seconds;

	if (begin_line(progress, "live", &seconds)) {
		fputs(text, stderr);
		fflush(stderr);
	}
}

void
wp_progress_say(WpProgress *progress, const char *text)
{
	if (progress->is_quiet)
		return;
	wp_progress_clear(progress);
	fprintf(stderr, "wirepath: %s\n", text);
}

static void
show_stage(WpProgress *progress, gint64 now_us)
{
	char seconds[WP_FORMAT_MAX];
	if (now_us < progress->started_us + DELAY_US || !is_foreground())
		return;
	gint64 s = (now_us - progress->stage_began_us) / G_USEC_PER_SEC;
	fprintf(stderr, "\r\033[K%s: %s s", progress->stage, wp_format_count(seconds, (guint64)s));
	fflush(stderr);
	progress->is_shown = TRUE;
}

static gpointer
tick(gpointer data)
{
	WpProgress *progress = data;
	g_mutex_lock(&progress->lock);
	while (!progress->is_over) {
		gint64 now_us = g_get_monotonic_time();
		show_stage(progress, now_us);
		g_cond_wait_until(&progress->wake, &progress->lock, now_us + TICK_US);
	}
	g_mutex_unlock(&progress->lock);
	return NULL;
}

void
wp_progress_stage(WpProgress *progress, const char *what)
{
	end_stage(progress);
	if (!progress->is_on)
		return;
	progress->stage = what;
	progress->stage_began_us = g_get_monotonic_time();
	progress->is_over = FALSE;
	progress->ticker = g_thread_try_new("progress", tick, progress, NULL);
}
