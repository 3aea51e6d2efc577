/*
 * WpNames: what a --names file says about addresses. Four kinds of text are told apart by themselves:
 *
 *   ADDRESS[/BITS][:PORT] NAME        our own; words after NAME, and what follows #, are ignored,
 *   hosts(5)                          so that these are read as they are: the first name counts
 *   kubectl get pods,svc -A -o wide   (nodes too) "NAMESPACE/NAME", without the "default" namespace;
 *                                     the random end of the names of replicas is left out
 *   docker network inspect            names of containers
 *
 * An address of several pods is that of a machine (host network): such pods do not name it.
 */
#ifndef WP_INFER_NAMES_H
#define WP_INFER_NAMES_H

#include <glib.h>

typedef struct WpNames WpNames;

/* Greatest size of a names file. */
#define WP_NAMES_MAX_BYTES (64 << 20)

/* (transfer full) Errors: WP_INFER_ERROR, with file and line. */
WpNames *wp_names_read(const char *path, GError **error);

/* (transfer full) As above, from TEXT (NUL-terminated); PATH for messages alone. */
WpNames *wp_names_parse(const char *text, const char *path, GError **error);
void wp_names_free(WpNames *names);

/*
 * (transfer none) The name of ADDRESS at PORT, where PORT is 0 that of the address itself; NULL where
 * the file has none. A longer prefix wins, then the line that comes first. A name for an address is
 * not one for its ports: ask again.
 */
const char *wp_names_find(const WpNames *names, const guint8 address[16], guint16 port);

guint wp_names_count(const WpNames *names);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpNames, wp_names_free)

#endif
