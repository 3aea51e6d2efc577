/* A file of mails, and each of its lines as a Received field. */
#include <glib/gstdio.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "capture/mail-hop.h"
#include "capture/mail.h"
#include "capture/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
check_host(const char *name)
{
	g_assert(strlen(name) < WP_MAIL_HOST_MAX);
	for (; *name; name++)
		g_assert(g_ascii_isgraph(*name) && !g_ascii_isupper(*name));
}

static void
parse(const char *line)
{
	WpMailHop hop;
	if (wp_mail_hop_parse(line, &hop) != WP_MAIL_HOP_OK)
		return;
	g_assert(hop.by[0] && hop.time_ns > 0);
	check_host(hop.by);
	for (int i = 0; i < WP_MAIL_SENDER_NAMES; i++)
		check_host(hop.from[i]);
}

static gboolean
take_truth(guint64 id, guint64 parent, gpointer data, GError **error)
{
	(void)error;
	g_assert(id == ++*(guint64 *)data && parent != id);
	return TRUE;
}

static void
read_file(const char *path, const char *const *inside)
{
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	g_autoptr(WpTrace) trace = wp_trace_new(nodes);
	g_autoptr(GError) error = NULL;
	guint64 n = 0;
	WpMailOptions options = { .inside = inside,
				  .from_ns = WP_NO_TIME,
				  .to_ns = WP_NO_TIME,
				  .truth = take_truth,
				  .truth_data = &n };
	gboolean ok = wp_mail_run(&path, 1, &options, nodes, wp_trace_sink(trace), &error);
	g_assert(ok == (error == NULL));
	g_assert(!ok || n == wp_trace_n_records(trace));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const inside[] = { "example", NULL };
	const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
	g_autofree char *path = g_strdup_printf("%s/fuzz-mail-%d", folder, (int)getpid());
	g_autofree char *text = g_strndup((const char *)data, size);

	g_auto(GStrv) lines = g_strsplit(text, "\n", 64);
	for (char **line = lines; *line; line++)
		parse(*line);
	g_assert(g_file_set_contents(path, (const char *)data, (gssize)size, NULL));
	read_file(path, NULL);
	read_file(path, inside);
	g_unlink(path);
	return 0;
}
