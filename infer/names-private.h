/* Shared by the readers of names files: names.c, names-docker.c, names-kubectl.c. */
#ifndef WP_INFER_NAMES_PRIVATE_H
#define WP_INFER_NAMES_PRIVATE_H

#include "infer/names.h"

/* One text while it is read. */
typedef struct {
	WpNames *names;
	const char *path; /* for messages */
	guint line;       /* from 1 */
} WpNamesReader;

/*
 * Adds NAME for the LENGTH bytes of ADDRESS ("10.0.0.0/8:80"). IS_POD: may share its address. FALSE
 * with ERROR set where either makes no sense.
 */
gboolean wp_names_add(WpNamesReader *reader, const char *address, gsize length, const char *name,
		      gboolean is_pod, GError **error);

/* Sets ERROR, with file and line, and returns FALSE. */
gboolean wp_names_fail(const WpNamesReader *reader, GError **error, const char *format, ...)
	G_GNUC_PRINTF(3, 4);

/* TRUE where TEXT looks like it. */
gboolean wp_names_is_docker(const char *text);
gboolean wp_names_is_kubectl(const char *text);

gboolean wp_names_parse_docker(WpNamesReader *reader, const char *text, GError **error);
gboolean wp_names_parse_kubectl(WpNamesReader *reader, const char *text, GError **error);

#endif
