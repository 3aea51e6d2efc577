/*
 * WpHints: what the user knows of causes, from a file (--hints). A line each:
 *
 *     CALLER -> CALLED yes|no PROBABILITY
 *
 *     web -> db yes 0.8                calls handled by web cause calls to db, probably
 *     /send/ -> /receive/ yes 0.6      labels: regular expressions between slashes, found anywhere
 *     web /^GET/ -> db* /^UPDATE/ no 1 both; this never
 *
 * Nodes are names, with * and ?. What follows # at the beginning of a word is ignored. A hint is a
 * probability that speaks for or against a parent, beside all other evidence; "no 1" and "yes 0" rule it
 * out.
 */
#ifndef WP_INFER_HINTS_H
#define WP_INFER_HINTS_H

#include <glib.h>

typedef struct WpHints WpHints;

#define WP_HINTS_MAX_BYTES (1 << 20)
#define WP_HINTS_MAX       1000
#define WP_HINTS_MAX_WORD  256

/* What a hint that rules out is worth, and a certain one: nats. */
#define WP_HINTS_SURE 50.0

/* One call, as hints see it. */
typedef struct {
	const char *node; /* that is called */
	const char *label;
} WpHintsCall;

/* (transfer full) Errors: WP_INFER_ERROR, with file and line. */
WpHints *wp_hints_read(const char *path, GError **error);

/* (transfer full) As above, from TEXT (NUL-terminated); PATH for messages alone. */
WpHints *wp_hints_parse(const char *text, const char *path, GError **error);
void wp_hints_free(WpHints *hints);

guint wp_hints_count(const WpHints *hints);

/* Log-odds (nats) that all hints together give to PARENT being the cause of CHILD; 0 = they are silent. */
double wp_hints_odds(const WpHints *hints, const WpHintsCall *parent, const WpHintsCall *child);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpHints, wp_hints_free)

#endif
