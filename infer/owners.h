/*
 * WpOwners: which process has which connection, as the machine itself says: what `ss -tnp` prints (also with -a,
 * -l, -u), or `netstat -tnp`.
 *
 *   ESTAB 0 0 127.0.0.1:40112 127.0.0.1:5432 users:(("app",pid=712,fd=9))
 *   tcp   0 0 127.0.0.1:40112 127.0.0.1:5432 ESTABLISHED 712/app
 *
 * A process owns the services at whose ports it listens or has been called. One that has none is a client where the
 * file has listeners (-a); else it may be a worker that nobody calls just now.
 */
#ifndef WP_INFER_OWNERS_H
#define WP_INFER_OWNERS_H

#include <glib.h>

#include "capture/record.h"

typedef struct WpOwners WpOwners;

/* Greatest size of an owners file. */
#define WP_OWNERS_MAX_BYTES (64 << 20)

/* (transfer full) Errors: WP_INFER_ERROR, with file and line. */
WpOwners *wp_owners_read(const char *path, GError **error);

/* (transfer full) As above, from TEXT (NUL-terminated); PATH for messages alone. */
WpOwners *wp_owners_parse(const char *text, const char *path, GError **error);
void wp_owners_free(WpOwners *owners);

/*
 * FALSE where the file does not have the connection from LOCAL to PEER. Else the local ports of its process's other
 * connections and listeners: those among them that are services may own it. (transfer none)
 */
gboolean wp_owners_find(const WpOwners *owners, const WpEndpoint *local, const WpEndpoint *peer,
			const guint16 **out_ports, guint *out_n);

/* TRUE where the file has ports that are listened at. */
gboolean wp_owners_has_listeners(const WpOwners *owners);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpOwners, wp_owners_free)

#endif
