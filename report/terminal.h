/*
 * What the user's terminal can show: width, UTF-8, colour. The only place that asks the environment;
 * writers get the answer as WpStyle.
 */
#ifndef WP_REPORT_TERMINAL_H
#define WP_REPORT_TERMINAL_H

#include <glib.h>

/* Pages are laid out for at least this many columns. */
#define WP_STYLE_MIN_WIDTH 80

typedef struct {
	guint width;
	gboolean utf8;
	gboolean color;
} WpStyle;

/* As in the choices of --color. */
typedef enum {
	WP_COLOR_AUTO,
	WP_COLOR_ALWAYS,
	WP_COLOR_NEVER
} WpColor;

extern const char *const wp_color_choices[];

/*
 * Style for text on standard output (TO_STDOUT), or in a file. Width: COLUMNS, else that of the
 * terminal, else 100. Colour "auto": a terminal, NO_COLOR unset or empty, TERM not "dumb".
 */
WpStyle wp_style_for(gboolean to_stdout, WpColor color);

#endif
