/*
 * WpNotify: tells the service manager how a service is (sd_notify(3)): datagrams of lines NAME=VALUE to the
 * socket that it names in the environment. Nothing where the program was not started by one.
 */
#ifndef WP_REPORT_NOTIFY_H
#define WP_REPORT_NOTIFY_H

#include <glib.h>

typedef struct WpNotify WpNotify;

/* (transfer full) Connects, which later nobody may. */
WpNotify *wp_notify_new(void);
void wp_notify_free(WpNotify *notify);

/* STATE: "READY=1", "STOPPING=1", "STATUS=..."; several with '\n' between them. */
void wp_notify_send(WpNotify *notify, const char *state);

/* To be called often: tells the watchdog that all is well, as often as it wants to be told. */
void wp_notify_alive(WpNotify *notify, gint64 monotonic_ns);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpNotify, wp_notify_free)

#endif
