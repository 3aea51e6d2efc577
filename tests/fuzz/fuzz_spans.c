/* A file of spans: OTLP, Jaeger or Zipkin JSON. */
#include <glib/gstdio.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "capture/span-file.h"
#include "capture/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
	guint64 n;
	GHashTable *ids;
} Truth;

static gboolean
take_truth(const char *id, const char *parent, gpointer data, GError **error)
{
	Truth *truth = data;
	(void)error;
	truth->n++;
	g_assert(strcmp(id, parent) != 0 && g_hash_table_add(truth->ids, g_strdup(id)));
	return TRUE;
}

/* The same spans beside their own calls: each cause is a request before. */
static void
check_join(const char *path, const WpSpanFileOptions *options, WpTrace *trace)
{
	g_autoptr(GHashTable) before = g_hash_table_new(g_int64_hash, g_int64_equal);

	wp_trace_freeze(trace);
	wp_span_file_join((const char *const[]){ path }, 1, options, trace, NULL);
	for (gsize i = 0; i < wp_trace_n_records(trace); i++) {
		const WpRecord *record = &wp_trace_records(trace)[i];
		guint64 cause;
		if (wp_trace_cause(trace, record, &cause))
			g_assert(g_hash_table_contains(before, &cause));
		g_hash_table_add(before, (gpointer)&record->id);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
	g_autofree char *path = g_strdup_printf("%s/fuzz-spans-%d", folder, (int)getpid());
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	g_autoptr(WpTrace) trace = wp_trace_new(nodes);
	g_autoptr(GError) error = NULL;
	g_autoptr(GHashTable) ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	Truth truth = { 0, ids };
	WpSpanFileOptions options = { .from_ns = WP_NO_TIME,
				      .to_ns = WP_NO_TIME,
				      .truth = take_truth,
				      .truth_data = &truth };
	guint64 n_calls = 0;

	wp_span_file_is_spans(data, size);
	g_assert(g_file_set_contents(path, (const char *)data, (gssize)size, NULL));
	gboolean ok = wp_span_file_run((const char *const[]){ path }, 1, &options, nodes,
				       wp_trace_sink(trace), &error);
	g_assert(ok == (error == NULL));
	for (gsize i = 0; i < wp_trace_n_records(trace); i++)
		n_calls += wp_trace_records(trace)[i].kind != WP_KIND_RETURN;
	g_assert(n_calls == truth.n);
	check_join(path, &options, trace);
	g_unlink(path);
	return 0;
}
