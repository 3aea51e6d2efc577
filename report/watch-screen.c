/* The screen of a watch. */
#include "report/watch-screen.h"

#define MAX_ROWS 1000

struct WpWatchScreen {
	WpOut *out;
	gboolean has_keys;
	gboolean has_begun; /* the next ones are what the first page said */
	gboolean shows_patterns;
	guint32 top;
	WpWatchOrder order;
	gboolean is_held;
	gboolean shows_help;
	gboolean shows_in_flight;
	char *in_flight; /* or NULL */
	/* The last page, by order, without and with patterns; NULL: there is none. */
	char *pages[WP_WATCH_N_ORDERS][2];
};

WpWatchScreen *
wp_watch_screen_new(WpOut *out, gboolean has_keys, gboolean shows_in_flight)
{
	WpWatchScreen *screen = g_new0(WpWatchScreen, 1);

	screen->out = out;
	screen->has_keys = has_keys;
	screen->shows_in_flight = shows_in_flight;
	return screen;
}

void
wp_watch_screen_free(WpWatchScreen *screen)
{
	if (!screen)
		return;
	for (guint i = 0; i < WP_WATCH_N_ORDERS; i++)
		for (guint k = 0; k < 2; k++)
			g_free(screen->pages[i][k]);
	g_free(screen->in_flight);
	g_free(screen);
}

static void
draw(const WpWatchScreen *screen)
{
	const char *page = screen->pages[screen->order][screen->shows_patterns != FALSE];

	wp_out_text(screen->out, "\033[H\033[J");
	if (page)
		wp_out_text(screen->out, page);
	if (screen->in_flight && screen->shows_in_flight)
		wp_out_printf(screen->out, "\n%s", screen->in_flight);
	if (screen->shows_help)
		wp_out_text(screen->out, "\n  q      end\n"
					 "  space  hold this page, or go on\n"
					 "  s      order: most time, rate, p95, change, errors\n"
					 "  p      patterns, or none\n"
					 "  i      what is in flight, or not\n"
					 "  + -    more rows, fewer (from the next page on)\n"
					 "  h      these lines, or none\n");
	if (screen->has_keys)
		wp_out_printf(screen->out,
			      "\n%sq end  space %s  s order: %s  p patterns  i in flight  h keys\n",
			      screen->is_held ? "HELD  " : "", screen->is_held ? "go on" : "hold",
			      wp_watch_order_names[screen->order]);
	wp_out_flush(screen->out);
}

void
wp_watch_screen_window(WpWatchScreen *screen, const WpWatchPage *page, const WpWatchWindow *window)
{
	WpWatchPage one = *page;

	if (!screen->has_begun) {
		screen->has_begun = TRUE;
		screen->shows_patterns = page->shows_patterns;
		screen->top = page->top;
	}
	if (screen->is_held)
		return;
	one.top = screen->top;
	for (guint i = 0; i < WP_WATCH_N_ORDERS; i++)
		for (guint k = 0; k < 2; k++) {
			g_autoptr(WpOut) text = wp_out_new_memory();
			one.order = (WpWatchOrder)i;
			one.shows_patterns = k == 1;
			wp_watch_page_text(&one, window, text);
			g_free(screen->pages[i][k]);
			screen->pages[i][k] = g_strdup(wp_out_string(text));
		}
	draw(screen);
}

void
wp_watch_screen_in_flight(WpWatchScreen *screen, const char *text)
{
	if (screen->is_held)
		return;
	g_free(screen->in_flight);
	screen->in_flight = g_strdup(text);
	if (screen->shows_in_flight)
		draw(screen);
}

gboolean
wp_watch_screen_key(WpWatchScreen *screen, int key)
{
	switch (key) {
	case 'q':
		return FALSE;
	case ' ':
		screen->is_held = !screen->is_held;
		break;
	case 's':
		screen->order = (screen->order + 1) % WP_WATCH_N_ORDERS;
		break;
	case 'p':
		screen->shows_patterns = !screen->shows_patterns;
		break;
	case 'i':
		screen->shows_in_flight = !screen->shows_in_flight;
		break;
	case '+':
		screen->top = MIN(screen->top + 5, MAX_ROWS);
		break;
	case '-':
		screen->top = MAX(screen->top, 6) - 5;
		break;
	case 'h':
	case '?':
		screen->shows_help = !screen->shows_help;
		break;
	default:
		return TRUE;
	}
	draw(screen);
	return TRUE;
}
