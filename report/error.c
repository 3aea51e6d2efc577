/*
 * From GError to exit status and hint. The statuses are fixed by the program's documentation
 * (wirepath(1)) and follow sysexits.h from 65 on.
 */
#include "report/error.h"

#include <string.h>

#include "capture/trace.h"
#include "infer/pattern.h"
#include "report/escape.h"
#include "traces/error.h"

G_DEFINE_QUARK(wp - report - error - quark, wp_report_error)

typedef struct {
	int code;
	int status;
	const char *hint; /* NULL = none */
} Meaning;

static const char permission_hint[] = "check the permissions of the file, or run as its owner";

static const Meaning report_meanings[] = {
	{ WP_REPORT_ERROR_USAGE, 2, NULL },
	{ WP_REPORT_ERROR_STRICT, 5, NULL },
	{ WP_REPORT_ERROR_DATA, 65, NULL },
	{ WP_REPORT_ERROR_OPEN, 66, NULL },
	{ WP_REPORT_ERROR_INTERNAL, 70, NULL },
	{ WP_REPORT_ERROR_INTERRUPTED, WP_EXIT_INTERRUPTED, NULL },
};

static const Meaning capture_meanings[] = {
	{ WP_CAPTURE_ERROR_OPEN, 66, NULL },   { WP_CAPTURE_ERROR_PERMISSION, 77, permission_hint },
	{ WP_CAPTURE_ERROR_FORMAT, 65, NULL }, { WP_CAPTURE_ERROR_READ, 66, NULL },
	{ WP_CAPTURE_ERROR_WRITE, 74, NULL },  { WP_CAPTURE_ERROR_OPTION, 2, NULL },
	{ WP_CAPTURE_ERROR_LIMIT, 65, NULL },
};

static const Meaning infer_meanings[] = {
	{ WP_INFER_ERROR_FORMAT, 65, NULL },
	{ WP_INFER_ERROR_OPEN, 66, NULL },
	{ WP_INFER_ERROR_PERMISSION, 77, permission_hint },
	{ WP_INFER_ERROR_OPTION, 2, NULL },
};

static const Meaning traces_meanings[] = {
	{ WP_TRACES_ERROR_FORMAT, 65, "wirepath-simulate(1) describes scenarios" },
	{ WP_TRACES_ERROR_OPTION, 2, NULL },
	{ WP_TRACES_ERROR_LIMIT, 65, NULL },
};

static const Meaning *
find(const Meaning *meanings, gsize n, int code)
{
	for (gsize i = 0; i < n; i++)
		if (meanings[i].code == code)
			return &meanings[i];
	return NULL;
}

static const Meaning *
meaning_of(const GError *error)
{
	if (error->domain == WP_REPORT_ERROR)
		return find(report_meanings, G_N_ELEMENTS(report_meanings), error->code);
	if (error->domain == WP_CAPTURE_ERROR)
		return find(capture_meanings, G_N_ELEMENTS(capture_meanings), error->code);
	if (error->domain == WP_INFER_ERROR)
		return find(infer_meanings, G_N_ELEMENTS(infer_meanings), error->code);
	if (error->domain == WP_TRACES_ERROR)
		return find(traces_meanings, G_N_ELEMENTS(traces_meanings), error->code);
	return NULL;
}

int
wp_error_status(const GError *error)
{
	const Meaning *meaning = meaning_of(error);
	return meaning ? meaning->status : 70;
}

char **
wp_error_hints(const GError *error)
{
	const char *lines = strchr(error->message, '\n');
	const Meaning *meaning = meaning_of(error);
	const char *general = meaning && meaning->hint ? meaning->hint : "";
	char **hints = g_strsplit(lines ? lines + 1 : general, "\n", -1);
	for (char **hint = hints; *hint; hint++) {
		char *safe = wp_escape_terminal(*hint, TRUE);
		g_free(*hint);
		*hint = safe;
	}
	return hints;
}

char *
wp_error_reason(const GError *error)
{
	const char *line = strchr(error->message, '\n');
	g_autofree char *reason = line ? g_strndup(error->message, (gsize)(line - error->message))
				       : g_strdup(error->message);
	return wp_escape_terminal(reason, TRUE);
}
