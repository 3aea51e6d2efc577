/*
 * WpKeys: single keys of a terminal, as they are pressed, without waiting for a line. It is as it was before when this
 * ends; who is suspended finds it so too, as shells see to that.
 */
#ifndef WP_REPORT_KEYS_H
#define WP_REPORT_KEYS_H

#include <glib.h>

typedef struct WpKeys WpKeys;

/* (transfer full) Of standard input; NULL where that is no terminal, or this is not in its foreground. */
WpKeys *wp_keys_new(void);
void wp_keys_free(WpKeys *keys);

/* The next key that was pressed; 0: none. Never waits. */
int wp_keys_take(WpKeys *keys);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpKeys, wp_keys_free)

#endif
