/*
 * WpTemplates: labels as templates, mined from those that were seen. Decoders take numbers and ids out of
 * a label by their looks; a name ("GET /user/alice", "user:bob", "orders.berlin") shows only by how
 * many there are in its place:
 *
 *     GET / user / alice                 GET /user/{}
 *     GET / user / bob        -->        GET /user/{}/cart
 *     GET / user / carol / cart          GET /health
 *     GET / health
 *
 * Labels of one node and protocol are read as sequences of words, from the first (DNS: from the last, as
 * names of domains are). Behind one begin, the words of a place become one {} where they are
 *   - more than WP_TEMPLATES_MANY, and no fixed set: many were met only once, or all about equally often
 *     (operations are not: some are asked for a hundred times as often as others);
 *   - more than WP_TEMPLATES_VALUES in any case.
 * The first word, a method or command, stays. Where more than WP_TEMPLATES_MAX templates are left to a node,
 * fewer words are enough, and in the end the rarest become "{}".
 *
 * What has become a template stays one, so that parts of a capture can be given one after the other;
 * and two captures that are to be compared get the same templates when both are given before mining.
 * The order of adding makes no difference.
 */
#ifndef WP_INFER_TEMPLATES_H
#define WP_INFER_TEMPLATES_H

#include "capture/strings.h"

#define WP_TEMPLATES_MANY   20
#define WP_TEMPLATES_VALUES 100
#define WP_TEMPLATES_MAX    100

typedef struct WpTemplates WpTemplates;

/* (transfer full) STRINGS is borrowed: labels are numbers of it, and so are their templates. */
WpTemplates *wp_templates_new(WpStrings *strings);
void wp_templates_free(WpTemplates *templates);

/* NODE was asked for LABEL (not 0) by PROTOCOL (a string). */
void wp_templates_add(WpTemplates *templates, guint32 node, guint32 protocol, guint32 label);

/* NOW, by node as added: the node that is meant now. For nodes that have become others. */
void wp_templates_move(WpTemplates *templates, const guint32 *now);

/* Mines all that was added. TRUE where an earlier template has become another one. */
gboolean wp_templates_mine(WpTemplates *templates);

/* The template of LABEL at NODE, as mined last; LABEL itself where it was not added. */
guint32 wp_templates_of(const WpTemplates *templates, guint32 node, guint32 label);

/* What is meant now by TEMPLATE, one that NODE had before it was mined last. */
guint32 wp_templates_now(const WpTemplates *templates, guint32 node, guint32 template);

/* Labels that are no template of their own, and the templates that stand for them. */
guint64 wp_templates_n_joined(const WpTemplates *templates, guint64 *out_n_templates);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpTemplates, wp_templates_free)

#endif
