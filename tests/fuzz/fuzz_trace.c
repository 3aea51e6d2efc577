/*
 * A text through the trace reader. What can be read is written, read and written again: the two written
 * texts must be the same.
 */
#include <glib/gstdio.h>
#include <stdint.h>
#include <unistd.h>

#include "capture/trace-io.h"
#include "tests/fuzz/again.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
	if (fuzz_rewrite(input, first)) {
		g_assert(fuzz_rewrite(first, second));
		fuzz_check_same(first, second);
	}
	g_unlink(input);
	g_unlink(first);
	g_unlink(second);
	return 0;
}
