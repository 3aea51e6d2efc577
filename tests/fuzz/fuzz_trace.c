/*
 * A text through the trace reader. What can be read is written, read and written again: the two written
 * texts must be the same.
 */
#include <glib/gstdio.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "capture/trace-io.h"
#include "capture/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static gboolean
rewrite(const char *from, const char *to)
{
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	WpRecordSink *writer = wp_trace_writer_new(to, NULL);
	g_assert(writer);
	gboolean good = wp_trace_read(from, NULL, nodes, writer, NULL);
	wp_trace_writer_free(writer);
	return good;
}

static void
check_same(const char *first, const char *second)
{
	g_autofree char *a = NULL, *b = NULL;
	gsize n_a, n_b;

	g_assert(g_file_get_contents(first, &a, &n_a, NULL));
	g_assert(g_file_get_contents(second, &b, &n_b, NULL));
	g_assert(n_a == n_b && memcmp(a, b, n_a) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
	g_autofree char *stem = g_strdup_printf("%s/fuzz-trace-%d", folder, (int)getpid());
	g_autofree char *input = g_strconcat(stem, ".0", NULL);
	g_autofree char *first = g_strconcat(stem, ".1", NULL);
	g_autofree char *second = g_strconcat(stem, ".2", NULL);

	wp_trace_is_trace(data, size);
	g_assert(g_file_set_contents(input, (const char *)data, (gssize)size, NULL));
	if (rewrite(input, first)) {
		g_assert(rewrite(first, second));
		check_same(first, second);
	}
	g_unlink(input);
	g_unlink(first);
	g_unlink(second);
	return 0;
}
