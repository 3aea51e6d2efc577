/* What the nesting engine is asked of one host of a tree. */
#ifndef WP_TESTS_SUPPORT_PROBLEM_H
#define WP_TESTS_SUPPORT_PROBLEM_H

#include "infer/nesting.h"
#include "tests/support/tree.h"

/*
 * (transfer full) The problem of NODE (by name) of TREE, which it borrows as OPTIONS, with the true parents, whose children are
 * hung.
 */
WpNestProblem *wp_test_problem(const WpTree *tree, const char *node, const WpNestOptions *options);

/* (transfer full) N numbers of children, with blanks between them. */
char *wp_test_children_text(const guint32 *children, guint32 n);

#endif
