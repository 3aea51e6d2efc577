/*
 * Bytes through the reader of .wpt, once as they are and once with all sums set right, so that what
 * stands behind them is reached. What can be read is written as text and as .wpt; read again, both must
 * give the same text.
 */
#include <glib/gstdio.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "capture/trace.h"
#include "capture/wpt.h"
#include "tests/fuzz/again.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Names of the files that a run makes. */
typedef struct {
	char *input, *text, *binary, *text_again;
} Files;

static void
try_bytes(const Files *files, const uint8_t *data, size_t size)
{
	g_assert(g_file_set_contents(files->input, (const char *)data, (gssize)size, NULL));
	if (fuzz_rewrite(files->input, files->text)) {
		g_assert(fuzz_rewrite(files->text, files->binary));
		g_assert(fuzz_rewrite(files->binary, files->text_again));
		fuzz_check_same(files->text, files->text_again);
	}
}

static void
seal_blocks(uint8_t *data, size_t size)
{
	WpWptBlock block;
	for (gsize at = sizeof(WpWptHead); at + sizeof block <= size;) {
		memcpy(&block, data + at, sizeof block);
		gsize bytes = GUINT32_FROM_LE(block.bytes);
		gsize left = size - at - sizeof block;
		if (bytes % 8 == 0 && bytes <= left)
			block.sum = GUINT64_TO_LE(wp_wpt_sum(data + at + sizeof block, bytes));
		block.check = GUINT32_TO_LE(wp_wpt_check(&block));
		memcpy(data + at, &block, sizeof block);
		at += sizeof block + MIN(bytes, left);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
	g_autofree char *stem = g_strdup_printf("%s/fuzz-wpt-%d", folder, (int)getpid());
	Files files = { g_strconcat(stem, ".0", NULL), g_strconcat(stem, ".1.trace", NULL),
			g_strconcat(stem, ".2.wpt", NULL), g_strconcat(stem, ".3.trace", NULL) };
	g_autofree uint8_t *copy = g_memdup2(data, size);

	try_bytes(&files, data, size);
	seal_blocks(copy, size);
	if (size && memcmp(copy, data, size) != 0)
		try_bytes(&files, copy, size);
	char *names[] = { files.input, files.text, files.binary, files.text_again };
	for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
		g_unlink(names[i]);
		g_free(names[i]);
	}
	return 0;
}
