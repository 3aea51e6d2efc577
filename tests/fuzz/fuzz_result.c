/*
 * A result of wirepath report, as compare reads it: what is taken is written and read again the same, and compared
 * with itself, on every page. No page may hold a control byte but the newline.
 */
#include <glib/gstdio.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "report/compare-page.h"
#include "report/digest-json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* (transfer full) What TEXT is read as; NULL: it is refused. */
static WpDigest *
read_text(const char *text, gsize length)
{
	const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
	g_autofree char *path = g_strdup_printf("%s/fuzz-result-%d", folder, (int)getpid());
	g_autoptr(GError) error = NULL;

	g_assert(g_file_set_contents(path, text, (gssize)length, NULL));
	WpDigest *digest = wp_digest_read(path, &error);
	g_unlink(path);
	g_assert((digest == NULL) == (error != NULL));
	return digest;
}

/* (transfer full) */
static char *
write_text(const WpDigest *digest)
{
	g_autoptr(WpOut) out = wp_out_new_memory();
	WpJson json = { .out = out };

	wp_json_open(&json, NULL, '{');
	wp_json_text(&json, "schema", "wirepath.report/2");
	wp_digest_write(&json, "comparison", digest);
	wp_json_close(&json, '}');
	return g_strdup(wp_out_string(out));
}

static void
check_page(const WpOut *out)
{
	const char *text = wp_out_string(out);
	g_assert(g_utf8_validate(text, -1, NULL));
	/* The style and the script of HTML are indented. */
	for (; *text; text++)
		g_assert((guint8)*text >= 0x20 ? *text != 0x7f : *text == '\n' || *text == '\t');
}

static void
compare(WpDigest *before, WpDigest *after)
{
	WpDigest *const digests[] = { before, after };
	WpCompareOptions options;

	wp_compare_options_init(&options);
	g_autoptr(WpComparison) comparison = wp_compare(digests, 2, 1, &options);
	g_assert(comparison->verdict != WP_VERDICT_CHANGED);
	for (guint form = 0; wp_compare_forms[form].name; form++) {
		g_autoptr(WpOut) out = wp_out_new_memory();
		const WpComparePage page = { .style = { 100, TRUE, FALSE } };
		wp_compare_writers[form](comparison, &page, out);
		check_page(out);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autoptr(WpDigest) first = read_text((const char *)data, size);
	if (!first)
		return 0;
	g_autofree char *text = write_text(first);
	g_autoptr(WpDigest) second = read_text(text, strlen(text));
	g_assert(second != NULL);
	g_autofree char *again = write_text(second);
	g_assert_cmpstr(text, ==, again);
	compare(first, second);
	return 0;
}
