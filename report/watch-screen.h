/*
 * WpWatchScreen: the pages of a watch on a terminal, each in place of the one before, and what keys do:
 *
 *   q  end    space  hold the page, or go on    s  order    p  patterns or none    i  what is in flight, or not
 *   + -  more or fewer rows    h  these keys
 *
 * A page is kept in all its orders until the next one comes, so that a key shows at once.
 */
#ifndef WP_REPORT_WATCH_SCREEN_H
#define WP_REPORT_WATCH_SCREEN_H

#include <glib.h>

#include "report/out.h"
#include "report/watch-page.h"

typedef struct WpWatchScreen WpWatchScreen;

/* (transfer full) Writes to OUT, borrowed. HAS_KEYS: a line says which there are. */
WpWatchScreen *wp_watch_screen_new(WpOut *out, gboolean has_keys, gboolean shows_in_flight);
void wp_watch_screen_free(WpWatchScreen *screen);

/* Shows WINDOW as PAGE says, whose rows, order and patterns keys change. */
void wp_watch_screen_window(WpWatchScreen *screen, const WpWatchPage *page,
			    const WpWatchWindow *window);

/* TEXT is what is in flight now. */
void wp_watch_screen_in_flight(WpWatchScreen *screen, const char *text);

/* FALSE: KEY says that this is the end. */
gboolean wp_watch_screen_key(WpWatchScreen *screen, int key);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpWatchScreen, wp_watch_screen_free)

#endif
