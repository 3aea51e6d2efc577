#include "capture/mail-files.h"

#include <string.h>

#include "capture/trace.h"

/* A line is looked at in pieces of at most so much. */
#define PIECE_MAX (64 * 1024)

/* Folders of a Maildir have none below them (Maildir++). */
#define FOLDER_DEPTH 1

typedef struct {
	WpMailHeads *heads;
	GString *head;
	gboolean in_head;
	gboolean is_mbox;
	gboolean is_cut;
	gboolean after_blank; /* where an mbox may have the next mail */
	gboolean is_stopped;
} Splitter;

static gboolean
is_from_line(const char *line, gsize length)
{
	/* "From x@y Sat Nov 14 10:00:07 2026": the time is what text that begins with From lacks. */
	if (length < 14 || memcmp(line, "From ", 5) != 0)
		return FALSE;
	for (gsize i = 6; i + 4 < length; i++)
		if (g_ascii_isdigit(line[i]) && line[i + 1] == ':' &&
		    g_ascii_isdigit(line[i + 2]) && g_ascii_isdigit(line[i + 3]))
			return TRUE;
	return FALSE;
}

/* RFC 5322 2.2: printable letters but no colon, then a colon. */
static gboolean
is_field_line(const char *line, gsize length)
{
	gsize i = 0;
	while (i < length && line[i] > ' ' && line[i] < 127 && line[i] != ':')
		i++;
	return i > 0 && i + 1 < length && line[i] == ':' &&
	       (g_ascii_isspace(line[i + 1]) || g_ascii_isprint(line[i + 1]));
}

static gsize
line_length(const char *data, gsize length)
{
	const char *end = memchr(data, '\n', length);
	return end ? (gsize)(end - data) : length;
}

gboolean
wp_mail_files_is_mail(const guint8 *data, gsize length)
{
	const char *line = (const char *)data;
	gsize n = line_length(line, length);
	return is_from_line(line, n) || is_field_line(line, n);
}

static void
end_head(Splitter *splitter)
{
	splitter->in_head = FALSE;
	if (splitter->head->len > 0 &&
	    !splitter->heads->head(splitter->head->str, splitter->head->len, splitter->is_cut,
				   splitter->heads->data))
		splitter->is_stopped = TRUE;
	g_string_truncate(splitter->head, 0);
	splitter->is_cut = FALSE;
}

static void
add_to_head(Splitter *splitter, const char *piece, gsize length)
{
	gsize room = splitter->heads->max_head - splitter->head->len;
	splitter->is_cut |= length > room;
	/* A NUL would hide what follows it. */
	for (gsize i = 0; i < MIN(length, room); i++)
		g_string_append_c(splitter->head, piece[i] ? piece[i] : ' ');
}

/* A piece of a line: the first of it, and the last, with its end. */
static void
take_piece(Splitter *splitter, const char *piece, gsize length, gboolean is_first, gboolean is_last)
{
	gboolean is_blank =
		is_first && is_last && (length == 1 || (length == 2 && piece[0] == '\r'));
	if (splitter->is_mbox && is_first && splitter->after_blank && is_from_line(piece, length)) {
		end_head(splitter);
		splitter->in_head = TRUE;
	} else if (splitter->in_head && is_blank) {
		end_head(splitter);
	} else if (splitter->in_head) {
		add_to_head(splitter, piece, length);
	}
	splitter->after_blank = is_blank;
}

/* Each line of INPUT, in pieces. */
static gboolean
split(Splitter *splitter, WpInput *input, GError **error)
{
	gboolean is_first = TRUE;
	const guint8 *data;
	while (!splitter->is_stopped) {
		gssize n = wp_input_peek(input, 1, &data, error);
		const guint8 *end = n > 0 ? memchr(data, '\n', (gsize)n) : NULL;
		if (n > 0 && !end && n < PIECE_MAX) {
			n = wp_input_peek(input, PIECE_MAX, &data, error);
			end = n > 0 ? memchr(data, '\n', (gsize)n) : NULL;
		}
		if (n <= 0)
			return n == 0;
		gsize length = end ? (gsize)(end - data) + 1 : (gsize)n;
		take_piece(splitter, (const char *)data, length, is_first, end != NULL);
		wp_input_consume(input, length);
		is_first = end != NULL;
		guint64 read, size;
		wp_input_progress(input, &read, &size);
		if (!splitter->heads->progress(read, size, splitter->heads->data))
			splitter->is_stopped = TRUE;
	}
	return TRUE;
}

static gboolean
fail_as_no_mail(const char *path, gboolean is_empty, GError **error)
{
	const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
	if (is_empty)
		g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_FORMAT,
			    "cannot read %s: it is empty", name);
	else
		g_set_error(
			error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_FORMAT,
			"cannot read %s: it is neither a mail nor an mbox of mails\n"
			"with --from mail an mbox, a Maildir or files with one mail each are read",
			name);
	return FALSE;
}

/* HAS_TO_BE: a file that is no mail is an error, else it is passed over. */
static gboolean
read_file(const char *path, WpInput **standard_input, gboolean has_to_be, WpMailHeads *heads,
	  gboolean *out_stopped, GError **error)
{
	g_autoptr(WpInput) input = wp_input_open_or_take(path, standard_input, error);
	const guint8 *data;
	if (!input)
		return FALSE;
	gssize n = wp_input_peek(input, PIECE_MAX, &data, error);
	if (n < 0)
		return FALSE;
	if (n == 0 || !wp_mail_files_is_mail(data, (gsize)n))
		return has_to_be ? fail_as_no_mail(path, n == 0, error) : TRUE;
	gboolean is_mbox =
		is_from_line((const char *)data, line_length((const char *)data, (gsize)n));
	g_autoptr(GString) head = g_string_new(NULL);
	Splitter splitter = { .heads = heads,
			      .head = head,
			      .in_head = !is_mbox,
			      .is_mbox = is_mbox,
			      .after_blank = TRUE };
	gboolean ok = split(&splitter, input, error);
	if (splitter.in_head && !splitter.is_stopped)
		end_head(&splitter);
	heads->n_cut += wp_input_is_cut(input);
	*out_stopped = splitter.is_stopped;
	return ok;
}

static int
compare_names(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* (transfer full) The names in a directory, sorted; NULL where it cannot be read. */
static GPtrArray *
names_in(const char *path, GError **error)
{
	g_autoptr(GError) reason = NULL;
	g_autoptr(GDir) directory = g_dir_open(path, 0, &reason);
	if (!directory) {
		gboolean denied = g_error_matches(reason, G_FILE_ERROR, G_FILE_ERROR_ACCES);
		g_set_error(error, WP_CAPTURE_ERROR,
			    denied ? WP_CAPTURE_ERROR_PERMISSION : WP_CAPTURE_ERROR_OPEN,
			    "cannot open %s: %s", path, strrchr(reason->message, ':') + 2);
		return NULL;
	}
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	for (const char *name; (name = g_dir_read_name(directory));)
		g_ptr_array_add(names, g_strdup(name));
	g_ptr_array_sort(names, compare_names);
	return names;
}

static gboolean
is_folder(const char *path)
{
	g_autofree char *cur = g_build_filename(path, "cur", NULL);
	g_autofree char *new = g_build_filename(path, "new", NULL);
	return g_file_test(cur, G_FILE_TEST_IS_DIR) || g_file_test(new, G_FILE_TEST_IS_DIR);
}

static gboolean
read_files_in(const char *path, WpMailHeads *heads, gboolean *out_stopped, GError **error)
{
	g_autoptr(GPtrArray) names = names_in(path, error);
	if (!names)
		return FALSE;
	for (guint i = 0; i < names->len && !*out_stopped; i++) {
		const char *name = names->pdata[i];
		g_autofree char *file = g_build_filename(path, name, NULL);
		if (name[0] != '.' && g_file_test(file, G_FILE_TEST_IS_REGULAR) &&
		    !read_file(file, NULL, FALSE, heads, out_stopped, error))
			return FALSE;
	}
	return TRUE;
}

static gboolean
read_folder(const char *path, guint depth, WpMailHeads *heads, gboolean *out_stopped,
	    GError **error)
{
	static const char *const parts[] = { "cur", "new" };
	for (gsize i = 0; i < G_N_ELEMENTS(parts); i++) {
		g_autofree char *part = g_build_filename(path, parts[i], NULL);
		if (g_file_test(part, G_FILE_TEST_IS_DIR) &&
		    !read_files_in(part, heads, out_stopped, error))
			return FALSE;
	}
	g_autoptr(GPtrArray) names = depth ? names_in(path, error) : g_ptr_array_new();
	if (!names)
		return FALSE;
	for (guint i = 0; i < names->len && !*out_stopped; i++) {
		const char *name = names->pdata[i];
		g_autofree char *folder = g_build_filename(path, name, NULL);
		if (strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && is_folder(folder) &&
		    !read_folder(folder, depth - 1, heads, out_stopped, error))
			return FALSE;
	}
	return TRUE;
}

gboolean
wp_mail_files_read(const char *path, WpInput **standard_input, WpMailHeads *heads, GError **error)
{
	gboolean is_stopped = FALSE;
	if (!g_file_test(path, G_FILE_TEST_IS_DIR))
		return read_file(path, standard_input, TRUE, heads, &is_stopped, error);
	return is_folder(path) ? read_folder(path, FOLDER_DEPTH, heads, &is_stopped, error)
			       : read_files_in(path, heads, &is_stopped, error);
}
