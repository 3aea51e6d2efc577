/* Manifests of runs. */
#include "config.h"

#include "report/manifest.h"

#include <string.h>

#include "report/error.h"

#define MAX_BYTES 1000000

static void
set_time(GKeyFile *file, const char *key, gint64 ns)
{
	g_autoptr(GDateTime) second = g_date_time_new_from_unix_utc(ns / 1000000000);
	g_autoptr(GDateTime) time = second ? g_date_time_add(second, ns % 1000000000 / 1000) : NULL;
	g_autofree char *text = time ? g_date_time_format(time, "%Y-%m-%dT%H:%M:%S.%fZ") : NULL;

	if (text)
		g_key_file_set_string(file, "run", key, text);
}

gboolean
wp_manifest_write(const WpManifest *manifest, const char *directory, GError **error)
{
	g_autoptr(GKeyFile) file = g_key_file_new();
	g_autofree char *path = g_build_filename(directory, WP_MANIFEST_NAME, NULL);
	g_autofree char *here = g_get_current_dir();
	g_autoptr(GError) reason = NULL;

	g_key_file_set_string(file, "run", "wirepath", PACKAGE_VERSION);
	g_key_file_set_string_list(file, "run", "command", manifest->command,
				   g_strv_length((char **)manifest->command));
	g_key_file_set_string(file, "run", "directory", here);
	set_time(file, "began", manifest->began_ns);
	set_time(file, "ended", manifest->ended_ns);
	g_key_file_set_integer(file, "run", "exit-status", manifest->exit_status);
	g_key_file_set_string_list(file, "capture", "interfaces", manifest->interfaces,
				   g_strv_length((char **)manifest->interfaces));
	if (manifest->filter)
		g_key_file_set_string(file, "capture", "filter", manifest->filter);
	g_key_file_set_integer(file, "capture", "exit-status", manifest->capture_status);
	g_key_file_set_uint64(file, "capture", "packets", manifest->packets);
	g_key_file_set_uint64(file, "capture", "kernel-drops", manifest->kernel_drops);
	g_key_file_set_uint64(file, "capture", "interface-drops", manifest->interface_drops);
	g_key_file_set_uint64(file, "capture", "calls", manifest->calls);
	if (g_key_file_save_to_file(file, path, &reason))
		return TRUE;
	g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_INTERNAL, "cannot write %s: %s", path,
		    reason->message);
	return FALSE;
}

int
wp_manifest_exit_status(const char *directory)
{
	g_autoptr(GKeyFile) file = g_key_file_new();
	g_autofree char *path = g_build_filename(directory, WP_MANIFEST_NAME, NULL);
	g_autofree char *text = NULL;
	g_autoptr(GError) error = NULL;
	gsize length;

	if (!g_file_get_contents(path, &text, &length, NULL) || length > MAX_BYTES ||
	    !g_key_file_load_from_data(file, text, length, G_KEY_FILE_NONE, NULL))
		return -1;
	int status = g_key_file_get_integer(file, "run", "exit-status", &error);
	return error || status < 0 || status > 255 ? -1 : status;
}
