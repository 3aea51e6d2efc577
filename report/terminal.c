/* Width, character set and colour, from the terminal and the environment (no-color.org). */
#include "report/terminal.h"

#include <langinfo.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report/format.h"

/* For pipes and files: fits most pagers and terminals. */
#define DEFAULT_WIDTH 100

/* A wider page is harder to read, not easier. */
#define MAX_WIDTH 200

const char *const wp_color_choices[] = { "auto", "always", "never", NULL };

static guint
find_width(gboolean to_stdout)
{
	const char *columns = g_getenv("COLUMNS");
	gint64 width = 0;
	struct winsize window;
	if (columns && wp_parse_int(columns, &width) && width > 0)
		return (guint)CLAMP(width, WP_STYLE_MIN_WIDTH, MAX_WIDTH);
	if (to_stdout && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col)
		return CLAMP(window.ws_col, WP_STYLE_MIN_WIDTH, MAX_WIDTH);
	return DEFAULT_WIDTH;
}

static gboolean
wants_color(gboolean to_stdout, WpColor color)
{
	const char *no_color = g_getenv("NO_COLOR");
	const char *term = g_getenv("TERM");
	if (color != WP_COLOR_AUTO)
		return color == WP_COLOR_ALWAYS;
	if (!to_stdout || !isatty(STDOUT_FILENO) || (no_color && *no_color))
		return FALSE;
	return term && strcmp(term, "dumb") != 0;
}

WpStyle
wp_style_for(gboolean to_stdout, WpColor color)
{
	WpStyle style = { 0 };
	style.width = find_width(to_stdout);
	style.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	style.color = wants_color(to_stdout, color);
	return style;
}
