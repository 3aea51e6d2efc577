/*
 * Bytes as a truth file and as a file of calls: behind a form feed the calls begin, without one both are
 * the same bytes. Where both can be read they are compared; no share may exceed what there is.
 */
#include <glib/gstdio.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "infer/accuracy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static WpTruth *
read_truth(const char *path, const uint8_t *data, size_t size)
{
	g_autoptr(GError) error = NULL;
	g_assert(g_file_set_contents(path, (const char *)data, (gssize)size, NULL));
	WpTruth *truth = wp_truth_read(path, &error);
	g_assert((truth == NULL) == (error != NULL));
	return truth;
}

static WpFound *
read_found(const char *path, const uint8_t *data, size_t size)
{
	g_autoptr(GError) error = NULL;
	g_assert(g_file_set_contents(path, (const char *)data, (gssize)size, NULL));
	WpFound *found = wp_found_read(path, &error);
	g_assert((found == NULL) == (error != NULL));
	return found;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
	g_autofree char *path = g_strdup_printf("%s/fuzz-truth-%d.csv", folder, (int)getpid());
	const uint8_t *feed = size ? memchr(data, '\f', size) : NULL;
	size_t n_truth = feed ? (size_t)(feed - data) : size;
	const uint8_t *calls = feed ? feed + 1 : data;

	g_autoptr(WpTruth) truth = read_truth(path, data, n_truth);
	g_autoptr(WpFound) found = read_found(path, calls, size - (size_t)(calls - data));
	g_unlink(path);
	if (truth && found) {
		g_autoptr(WpAccuracy) accuracy = wp_accuracy_measure(truth, found, NULL);
		g_assert(accuracy->n_false <= accuracy->n_reported);
		g_assert(accuracy->n_returns_right <= accuracy->n_returns);
	}
	return 0;
}
