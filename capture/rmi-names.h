/*
 * WpRmiNames: names of methods of Java RMI, which on the wire are hashes (Java RMI specification, section
 * 8.3): the first eight bytes, lowest first, of the SHA-1 of the method's name and descriptor, as
 * writeUTF() writes them. A file names them, one a line:
 *
 *      shop.Shop.price(Ljava/lang/String;I)D      interface, method, descriptor
 *      c0ffee00c0ffee00 Shop.price                the hash itself, and any name
 *
 * and what `javap -s` prints of interfaces is understood as it is. Of the interface the last part stays.
 */
#ifndef WP_CAPTURE_RMI_NAMES_H
#define WP_CAPTURE_RMI_NAMES_H

#include <glib.h>

#define WP_RMI_NAMES_MAX 100000

typedef struct WpRmiNames WpRmiNames;

/* (transfer full) */
WpRmiNames *wp_rmi_names_new(void);
void wp_rmi_names_free(WpRmiNames *names);

/* Adds the lines of TEXT. FALSE where one makes no sense; the error says which. */
gboolean wp_rmi_names_add(WpRmiNames *names, const char *text, gsize length, GError **error);
gboolean wp_rmi_names_add_file(WpRmiNames *names, const char *path, GError **error);

/* "Shop.price"; NULL where the file does not have it. NAMES may be NULL. */
const char *wp_rmi_names_find(const WpRmiNames *names, guint64 hash);

/* The hash of "price(Ljava/lang/String;I)D". */
guint64 wp_rmi_method_hash(const char *method, gsize length);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpRmiNames, wp_rmi_names_free)

#endif
