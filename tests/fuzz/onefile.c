/*
 * Runs a fuzz target without a fuzzer: on the files given, else on its corpus
 * ($TOP_SRCDIR/tests/fuzz/corpus/NAME for a program fuzz_NAME), so that `make check` replays it.
 */
#include <glib.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

/* What a target's own mutator would call; nothing is mutated here. */
size_t
LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size)
{
	return size;
}

static gboolean
run_file(const char *path)
{
	g_autofree char *data = NULL;
	gsize size;
	g_autoptr(GError) error = NULL;

	if (!g_file_get_contents(path, &data, &size, &error)) {
		fprintf(stderr, "%s\n", error->message);
		return FALSE;
	}
	/* An exact copy, so that a read past the end is seen by the sanitizers. */
	g_autofree uint8_t *copy = g_malloc(MAX(size, 1));
	memcpy(copy, data, size);
	LLVMFuzzerTestOneInput(copy, size);
	return TRUE;
}

static gboolean
run_corpus(const char *program)
{
	const char *source = g_getenv("TOP_SRCDIR");
	g_autofree char *name = g_path_get_basename(program);
	const char *target = strrchr(name, '_');
	g_autofree char *folder = g_build_filename(source ? source : ".", "tests", "fuzz", "corpus",
						   target ? target + 1 : name, NULL);
	g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
	gboolean good = TRUE;
	const char *file;
	guint n = 0;

	while (dir && (file = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(folder, file, NULL);
		good &= run_file(path);
		n++;
	}
	printf("%s: %u inputs\n", name, n);
	return good && n > 0;
}

int
main(int argc, char **argv)
{
	gboolean good = TRUE;
	if (argc == 1)
		good = run_corpus(argv[0]);
	for (int i = 1; i < argc; i++)
		good &= run_file(argv[i]);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
