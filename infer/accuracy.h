/*
 * Accuracy of links against a truth file (DESIGN 7; the paper, 7.5.1). Two layouts of truth: of the
 * wire (call_id,parent_call_id,t_call_us,...: matched by 4-tuple and time) and of span sets
 * (call_id,parent_id: matched by id).
 */
#ifndef WP_INFER_ACCURACY_H
#define WP_INFER_ACCURACY_H

#include <glib.h>

#include "infer/links.h"
#include "infer/resolve.h"

typedef struct WpTruth WpTruth;

/* (transfer full) Reads PATH (.gz allowed). */
WpTruth *wp_truth_read(const char *path, GError **error);
void wp_truth_free(WpTruth *truth);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpTruth, wp_truth_free)

#endif
