/*
 * WpServers: which end of a flow is the server, where no SYN was seen that would tell. Remembers the
 * ends (address and port) that were servers in flows that did tell, and how many flows each end took
 * part in: a server's port is met again and again, a client's is not.
 */
#ifndef WP_CAPTURE_SERVERS_H
#define WP_CAPTURE_SERVERS_H

#include <glib.h>

#include "capture/record.h"

/* Ends remembered; further ones are judged by their ports alone. 16 bytes each. */
#define WP_SERVERS_MAX 65536

typedef struct WpServers WpServers;

/* (transfer full) */
WpServers *wp_servers_new(void);
void wp_servers_free(WpServers *servers);

/* SERVER is one of TCP for certain. */
void wp_servers_add(WpServers *servers, const WpEndpoint *server);

/*
 * TRUE where B is more likely the server than A, the sender of what was seen first. Of TCP takes note
 * of both.
 */
gboolean wp_servers_guess(WpServers *servers, const WpEndpoint *a, const WpEndpoint *b,
			  gboolean is_udp);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpServers, wp_servers_free)

#endif
