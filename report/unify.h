/*
 * Labels of several captures made one. Places with many values are templates ("GET /user/{}") only where a capture
 * has enough of them; a shorter one, or one before a change of what is asked for, has "GET /user/alice" for the same.
 *
 *     before   GET /user/{}      GET /health            GET /user/{}    GET /health
 *     after    GET /user/alice   GET /health     -->    GET /user/{}    GET /health
 *
 * A label becomes the template of another capture where the template fits it, and no capture has both: who has
 * both has seen enough to tell them apart.
 */
#ifndef WP_REPORT_UNIFY_H
#define WP_REPORT_UNIFY_H

#include "report/roles.h"

/* Changes the N digests. */
void wp_unify_labels(WpDigest *const *digests, guint n, const WpRoles *roles);

/* TRUE where LABEL is TEMPLATE with something in place of each {}: within a word, as "/" and blanks end one. */
gboolean wp_unify_fits(const char *template, const char *label);

#endif
