/*
 * Quoting. Every name, label and id may have come from a packet, so nothing of the kind reaches an
 * output without passing here.
 *
 *   terminal   control bytes, ESC, bidirectional and invisible marks become visible: \x1b, \u{202e}
 *   dot        \ and " are quoted, so that neither ends the string nor means \N or \G
 *   JSON       RFC 8259 section 7; what cannot be seen is written \u202e, bytes that are not UTF-8
 *              become U+FFFD
 *   HTML       text and quoted attributes; control bytes and marks as for terminals
 *   Markdown   as for terminals, and what Markdown or HTML would make something of as a number of HTML, so that a
 *              name cannot be a link, an image or a mention
 *   CSV        RFC 4180; control bytes as for terminals, so that a row is a line; text that a
 *              spreadsheet would take for a formula gets a ' in front
 */
#ifndef WP_REPORT_ESCAPE_H
#define WP_REPORT_ESCAPE_H

#include <glib.h>

/* Each appends the escaped TEXT to OUT. UTF8: characters beyond ASCII may stand as they are. */
void wp_escape_terminal_to(GString *out, const char *text, gboolean utf8);
void wp_escape_dot_to(GString *out, const char *text);
void wp_escape_json_to(GString *out, const char *text);
void wp_escape_csv_to(GString *out, const char *text);
void wp_escape_html_to(GString *out, const char *text);

/* (transfer full) */
char *wp_escape_terminal(const char *text, gboolean utf8);

/* (transfer full) */
char *wp_escape_markdown(const char *text);

/* Columns that TEXT (already safe for a terminal) takes: wide characters two, combining ones none. */
gsize wp_escape_width(const char *text);

/*
 * (transfer full) TEXT shortened to WIDTH columns: what is too long ends in "..". Text already safe for
 * a terminal.
 */
char *wp_escape_shorten(const char *text, gsize width);

#endif
