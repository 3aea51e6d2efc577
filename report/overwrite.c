/* Files as what identifies them; a new file by its folder and its name there. */
#include "report/overwrite.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/error.h"

typedef struct {
	dev_t device;
	ino_t number;
	char *name; /* in that folder, where it is not there yet; else NULL */
	gboolean is_input;
} File;

struct WpOverwrite {
	GArray *files; /* File */
	gboolean has_stdout;
};

static void
clear_file(gpointer data)
{
	g_free(((File *)data)->name);
}

WpOverwrite *
wp_overwrite_new(void)
{
	WpOverwrite *files = g_new0(WpOverwrite, 1);
	files->files = g_array_new(FALSE, TRUE, sizeof(File));
	g_array_set_clear_func(files->files, clear_file);
	return files;
}

void
wp_overwrite_free(WpOverwrite *files)
{
	if (!files)
		return;
	g_array_unref(files->files);
	g_free(files);
}

/* FALSE where PATH (NULL: the open file FD) is no regular file. */
static gboolean
identify(const char *path, int fd, File *out_file)
{
	struct stat info;
	if ((path ? stat(path, &info) : fstat(fd, &info)) != 0 || !S_ISREG(info.st_mode))
		return FALSE;
	out_file->device = info.st_dev;
	out_file->number = info.st_ino;
	return TRUE;
}

/* The same of a file that is not there yet. */
static gboolean
identify_new(const char *path, File *out_file)
{
	struct stat info;
	g_autofree char *folder = g_path_get_dirname(path);
	if (access(path, F_OK) == 0 || stat(folder, &info) != 0)
		return FALSE;
	out_file->device = info.st_dev;
	out_file->number = info.st_ino;
	out_file->name = g_path_get_basename(path);
	return TRUE;
}

static const File *
find(const WpOverwrite *files, const File *file)
{
	for (guint i = 0; i < files->files->len; i++) {
		const File *known = &g_array_index(files->files, File, i);
		if (known->device == file->device && known->number == file->number &&
		    g_strcmp0(known->name, file->name) == 0)
			return known;
	}
	return NULL;
}

void
wp_overwrite_add_input(WpOverwrite *files, const char *path)
{
	File file = { .is_input = TRUE };
	if (!path)
		return;
	if (identify(strcmp(path, "-") == 0 ? NULL : path, STDIN_FILENO, &file))
		g_array_append_val(files->files, file);
}

static gboolean
refuse(const char *name, gboolean is_input, GError **error)
{
	g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
		    is_input ? "cannot write to %s: it is read as an input, and would be lost"
			     : "cannot write to %s: it is given for output twice",
		    name);
	return FALSE;
}

gboolean
wp_overwrite_add_output(WpOverwrite *files, const char *path, GError **error)
{
	gboolean is_stdout = !path || strcmp(path, "-") == 0;
	const char *name = is_stdout ? "standard output" : path;
	File file = { .is_input = FALSE };

	if (is_stdout && files->has_stdout)
		return refuse(name, FALSE, error);
	files->has_stdout |= is_stdout;
	if (!identify(is_stdout ? NULL : path, STDOUT_FILENO, &file) &&
	    (is_stdout || !identify_new(path, &file)))
		return TRUE;
	const File *known = find(files, &file);
	gboolean is_input = known && known->is_input;
	if (known)
		clear_file(&file);
	else
		g_array_append_val(files->files, file);
	return !known || refuse(name, is_input, error);
}
