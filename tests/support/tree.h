/*
 * Trees as text, to records and back.
 *
 *     client>web[0-100](auth[10-20],db/SELECT[30-90](disk[40-50]))
 *
 * reads: client calls web at 0 us, which returns at 100 us; meanwhile web calls auth, then db, ... Trees
 * stand one after another, divided by blanks. A node may carry an operation after '/', in which '+' is a blank, and an address
 * with a port as its name ("10.0.0.1:80"; calls then come from the address, at ports from 40000), and then
 * what else is known of it: values that it carries ("=4711=77", identifiers "=+4711"), bytes of the call and
 * its return ("#214#5120"), the flow ("@3"), in this order. After
 * the times: '!' the return is an error, '^' set-up, '~' waits. "[5-]" has no return, "[5]" is a
 * one-way message. Ids are 1, 2, ... in the order of the text.
 */
#ifndef WP_TESTS_SUPPORT_TREE_H
#define WP_TESTS_SUPPORT_TREE_H

#include "capture/trace.h"
#include "infer/links.h"
#include "infer/resolve.h"

typedef struct {
	WpTrace *trace;
	WpResolved *resolved; /* without a names file */
	GArray *parents;      /* guint64: true parent of each id, 0 = root; [0] is not used */
} WpTree;

/* Fails the test where TEXT makes no sense. */
WpTree *wp_tree_new(const char *text);
void wp_tree_free(WpTree *tree);

/*
 * N requests every PERIOD us that take about 400 us: some work, a call to a, some work, maybe a call to b.
 * So 400 / PERIOD of them are open at once.
 */
WpTree *wp_tree_of_requests(int period, int n);

/* (transfer full) The trace alone, without names and spans. */
WpTrace *wp_tree_trace(const char *text);

/* (transfer full) All spans as LINKS hang them together, in the form above. */
char *wp_tree_text(const WpResolved *resolved, const WpLinks *links);

/* (transfer full) The true links. */
WpLinks *wp_tree_links(const WpTree *tree);

/* The span with ID. */
guint32 wp_tree_span(const WpTree *tree, guint64 id);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpTree, wp_tree_free)

#endif
