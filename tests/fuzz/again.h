/* For targets that write what they read and read it again. */
#ifndef FUZZ_AGAIN_H
#define FUZZ_AGAIN_H
#include <string.h>

#include "capture/trace-io.h"

/* Writes the records of the trace FROM as the trace TO; FALSE when FROM cannot be read. */
static inline gboolean
fuzz_rewrite(const char *from, const char *to)
{
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	WpRecordSink *writer = wp_trace_writer_new(to, NULL);
	g_assert(writer);
	gboolean good = wp_trace_read(from, NULL, nodes, writer, NULL);
	wp_trace_writer_free(writer);
	return good;
}

static inline void
fuzz_check_same(const char *first, const char *second)
{
	g_autofree char *a = NULL, *b = NULL;
	gsize n_a, n_b;

	g_assert(g_file_get_contents(first, &a, &n_a, NULL));
	g_assert(g_file_get_contents(second, &b, &n_b, NULL));
	g_assert(n_a == n_b && memcmp(a, b, n_a) == 0);
}

#endif
