/*
 * WpKeyFile: a file of groups and keys, as GKeyFile reads them (GLib, "Key-value file parser"), but
 * with what strictness needs: the line of everything, and no group or key twice. A value goes on in
 * the next line where a line ends in '\'.
 *
 *   # comment
 *   [group]
 *   key = value
 */
#ifndef WP_TRACES_KEYFILE_H
#define WP_TRACES_KEYFILE_H

#include <glib.h>

typedef struct {
	char *name;
	char *value;
	guint line; /* 0 = from the command line */
} WpKeyEntry;

typedef struct {
	char *name;
	guint line;
	GArray *entries; /* WpKeyEntry, in the order of the file */
} WpKeyGroup;

typedef struct {
	char *path;
	GArray *groups; /* WpKeyGroup */
} WpKeyFile;

/* (transfer full) PATH is for messages. */
WpKeyFile *wp_key_file_new(const char *text, const char *path, GError **error);
void wp_key_file_free(WpKeyFile *file);

/* (transfer none) NULL where there is none. */
WpKeyGroup *wp_key_file_group(const WpKeyFile *file, const char *name);
WpKeyEntry *wp_key_group_entry(const WpKeyGroup *group, const char *name);

/* Sets the value, new or not, as from the command line. */
void wp_key_group_set(WpKeyGroup *group, const char *name, const char *value);

/* (transfer none) The group; made at the end where there was none. */
WpKeyGroup *wp_key_file_make_group(WpKeyFile *file, const char *name);

/* Sets ERROR to "PATH:LINE: ...", for line 0 (command line) to "PATH: ...". Always FALSE. */
gboolean wp_key_file_fail(const WpKeyFile *file, guint line, GError **error, const char *format,
			  ...) G_GNUC_PRINTF(4, 5);

/* Replaces $name and ${name} in all other groups by the values of group PARAMETERS. */
gboolean wp_key_file_expand(WpKeyFile *file, const char *parameters, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpKeyFile, wp_key_file_free)

#endif
