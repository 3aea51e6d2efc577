/* Recorder: the file at hand, and the names of those that are to be removed when they are too many. */
#include "capture/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/trace.h"

#define NS_PER_S   G_GINT64_CONSTANT(1000000000)
#define FLUSH_NS   NS_PER_S /* so much is lost at most when the program is killed */
#define FILE_MODE  0640     /* packets are nobody else's business */
#define DIR_MODE   0750
#define MAX_NUMBER 99999 /* then 1 again */
#define MAX_TRIES  1000  /* names that are taken */
#define PREFIX     "wirepath-"
#define SUFFIX     ".pcapng"

struct WpRecorder {
	WpRecorderOptions options;
	int directory; /* -1: a single file */
	gboolean is_new_directory;
	WpPacketFile *file;             /* at hand, or NULL */
	char *name;                     /* of it, in the directory */
	GQueue names;                   /* char *: the files before, the oldest first */
	WpPacketFileStatistics *before; /* by interface: when the file began */
	WpPacketFileStatistics *told;   /* ... when they were last written into it */
	guint64 *written;               /* by interface: frames of this file */
	gint64 began_ns;                /* monotonic, as the next ones */
	gint64 flushed_ns;
	gint64 now_ns; /* as it was told last */
	guint number;  /* of the file at hand; goes on where an earlier run ended */
	guint n_files;
	guint64 n_written, n_lost, n_bytes; /* of the files before */
	GError *failure;                    /* the first one */
};

gboolean
wp_recorder_is_directory(const char *path)
{
	gsize n = strlen(path);
	return g_file_test(path, G_FILE_TEST_IS_DIR) || (n > 0 && path[n - 1] == '/') ||
	       !(g_str_has_suffix(path, ".pcap") || g_str_has_suffix(path, ".pcapng") ||
		 strcmp(path, "-") == 0 || g_file_test(path, G_FILE_TEST_EXISTS));
}

static gboolean
fail(WpRecorder *recorder, const char *what, const char *name, GError **error)
{
	int number = errno;
	gboolean denied = number == EACCES || number == EPERM;

	g_set_error(error, WP_CAPTURE_ERROR,
		    denied ? WP_CAPTURE_ERROR_PERMISSION : WP_CAPTURE_ERROR_WRITE,
		    "cannot %s %s%s%s: %s", what, recorder->options.path,
		    name && !g_str_has_suffix(recorder->options.path, "/") ? "/" : "",
		    name ? name : "", g_strerror(number));
	return FALSE;
}

void
wp_recorder_interfaces(const WpLive *live, const char *filter, WpPacketFileInterface *out)
{
	for (guint i = 0; i < wp_live_n_interfaces(live); i++)
		out[i] = (WpPacketFileInterface){
			.name = wp_live_name(live, i),
			.filter = filter,
			.link_type = wp_live_link_type(live, i),
			.snap_length = wp_live_snap_length(live, i),
		};
}

/* --- opening --- */

static gboolean
is_ours(const char *name)
{
	return g_str_has_prefix(name, PREFIX) && g_str_has_suffix(name, SUFFIX);
}

static int
compare_names(gconstpointer a, gconstpointer b, gpointer data)
{
	return strcmp(a, b);
}

/* Of one of our names; 0 where it has none. */
static guint
number_of(const char *name)
{
	const char *digits = strrchr(name, '-') + 1;
	return (guint)MIN(g_ascii_strtoull(digits, NULL, 10), MAX_NUMBER);
}

/* Files of an earlier run are the oldest ones. */
static void
find_older(WpRecorder *recorder)
{
	g_autoptr(GDir) directory = g_dir_open(recorder->options.path, 0, NULL);

	for (const char *name; directory && (name = g_dir_read_name(directory));)
		if (is_ours(name)) {
			g_queue_push_tail(&recorder->names, g_strdup(name));
			recorder->number = MAX(recorder->number, number_of(name));
		}
	g_queue_sort(&recorder->names, compare_names, NULL);
}

static gboolean
open_directory(WpRecorder *recorder, GError **error)
{
	const char *path = recorder->options.path;

	recorder->is_new_directory = mkdir(path, DIR_MODE) == 0;
	if (!recorder->is_new_directory && errno != EEXIST)
		return fail(recorder, "make the directory", NULL, error);
	recorder->directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (recorder->directory < 0)
		return fail(recorder, "open the directory", NULL, error);
	find_older(recorder);
	return TRUE;
}

static gboolean
open_file(WpRecorder *recorder, GError **error)
{
	const WpRecorderOptions *options = &recorder->options;
	gboolean is_stdout = strcmp(options->path, "-") == 0;
	int fd = is_stdout ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
			   : open(options->path,
				  O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, FILE_MODE);
	if (fd < 0)
		return fail(recorder, "write to", NULL, error);
	recorder->file =
		wp_packet_file_new(fd, is_stdout ? "standard output" : options->path,
				   g_str_has_suffix(options->path, ".pcap") ? WP_PACKET_FILE_PCAP
									    : WP_PACKET_FILE_PCAPNG,
				   options->interfaces, options->n_interfaces, error);
	recorder->n_files = 1;
	return recorder->file != NULL;
}

WpRecorder *
wp_recorder_new(const WpRecorderOptions *options, GError **error)
{
	g_autoptr(WpRecorder) recorder = g_new0(WpRecorder, 1);
	gboolean is_many = options->max_bytes || options->max_age_ns || options->max_files;

	recorder->options = *options;
	recorder->directory = -1;
	g_queue_init(&recorder->names);
	recorder->before = g_new0(WpPacketFileStatistics, options->n_interfaces);
	recorder->told = g_new0(WpPacketFileStatistics, options->n_interfaces);
	recorder->written = g_new0(guint64, options->n_interfaces);
	if (wp_recorder_is_directory(options->path))
		return open_directory(recorder, error) ? g_steal_pointer(&recorder) : NULL;
	if (is_many) {
		g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_OPTION,
			    "%s is one file, and files that take turns need a directory\n"
			    "name one: it is made where it is missing",
			    options->path);
		return NULL;
	}
	return open_file(recorder, error) ? g_steal_pointer(&recorder) : NULL;
}

void
wp_recorder_free(WpRecorder *recorder)
{
	if (!recorder)
		return;
	wp_packet_file_free(recorder->file);
	if (recorder->directory >= 0)
		(void)close(recorder->directory);
	g_queue_clear_full(&recorder->names, g_free);
	g_clear_error(&recorder->failure);
	g_free(recorder->name);
	g_free(recorder->before);
	g_free(recorder->told);
	g_free(recorder->written);
	g_free(recorder);
}

int
wp_recorder_directory(const WpRecorder *recorder, gboolean *out_is_new)
{
	*out_is_new = recorder->is_new_directory;
	return recorder->directory;
}

/* --- what is known of the interfaces --- */

static WpPacketFileStatistics
ask_statistics(const WpRecorder *recorder, guint interface)
{
	WpPacketFileStatistics now = { 0 };

	recorder->options.statistics(interface, &now, recorder->options.statistics_data);
	return now;
}

static void
put_statistics(WpRecorder *recorder, guint interface, gint64 wall_ns, const char *comment)
{
	WpPacketFileStatistics now = ask_statistics(recorder, interface);
	const WpPacketFileStatistics *before = &recorder->before[interface];

	recorder->told[interface] = now;
	now.received -= before->received;
	now.kernel_drops -= before->kernel_drops;
	now.interface_drops -= before->interface_drops;
	now.written = recorder->written[interface];
	wp_packet_file_statistics(recorder->file, interface, wall_ns, &now, comment);
}

/* Of each interface that dropped packets since it was asked last. */
static void
put_drops(WpRecorder *recorder, gint64 wall_ns)
{
	for (guint i = 0; i < recorder->options.n_interfaces; i++) {
		WpPacketFileStatistics now = ask_statistics(recorder, i);
		const WpPacketFileStatistics *told = &recorder->told[i];
		if (now.kernel_drops != told->kernel_drops ||
		    now.interface_drops != told->interface_drops)
			put_statistics(recorder, i, wall_ns, NULL);
	}
}

void
wp_recorder_note(WpRecorder *recorder, guint interface, gint64 wall_ns, const char *text)
{
	if (recorder->file)
		put_statistics(recorder, interface, wall_ns, text);
}

/* --- files --- */

static void
remove_oldest(WpRecorder *recorder)
{
	g_autofree char *name = g_queue_pop_head(&recorder->names);
	(void)unlinkat(recorder->directory, name, 0);
}

/* (transfer full) */
static char *
name_file(WpRecorder *recorder, gint64 wall_ns, guint number)
{
	g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(wall_ns / NS_PER_S);
	g_autofree char *stamp =
		time ? g_date_time_format(time, "%Y%m%dT%H%M%SZ") : g_strdup("00000000T000000Z");
	return g_strdup_printf(PREFIX "%s-%05u" SUFFIX, stamp, number);
}

/* A new one under a name that nobody had; -1 and errno. */
static int
create_file(WpRecorder *recorder, gint64 wall_ns)
{
	int fd = -1;

	for (guint i = 0; i < MAX_TRIES; i++) {
		g_free(recorder->name);
		recorder->number = recorder->number % MAX_NUMBER + 1;
		recorder->name = name_file(recorder, wall_ns, recorder->number);
		fd = openat(recorder->directory, recorder->name,
			    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, FILE_MODE);
		if (fd >= 0 || errno != EEXIST)
			break;
	}
	return fd;
}

/* TRUE where ERROR says that the disk is full. */
static gboolean
is_full(const GError *error)
{
	return error->code == WP_CAPTURE_ERROR_WRITE &&
	       (strstr(error->message, g_strerror(ENOSPC)) ||
		strstr(error->message, g_strerror(EDQUOT)));
}

static gboolean
try_to_begin(WpRecorder *recorder, WpLiveTime now, GError **error)
{
	const WpRecorderOptions *options = &recorder->options;

	int fd = create_file(recorder, now.wall_ns);
	if (fd < 0)
		return fail(recorder, "write to", recorder->name, error);
	g_autofree char *path = wp_recorder_path(recorder);
	recorder->file = wp_packet_file_new(fd, path, WP_PACKET_FILE_PCAPNG, options->interfaces,
					    options->n_interfaces, error);
	if (!recorder->file) /* there is nothing in it */
		(void)unlinkat(recorder->directory, recorder->name, 0);
	return recorder->file != NULL;
}

/* On a full disk old files make room where they are to be removed anyway. */
static gboolean
begin_file(WpRecorder *recorder, WpLiveTime now, GError **error)
{
	const WpRecorderOptions *options = &recorder->options;
	GError *reason = NULL;

	while (options->max_files && recorder->names.length >= options->max_files)
		remove_oldest(recorder);
	while (!try_to_begin(recorder, now, &reason)) {
		if (!options->max_files || recorder->names.length == 0 || !is_full(reason)) {
			g_clear_pointer(&recorder->name, g_free);
			g_propagate_error(error, reason);
			return FALSE;
		}
		g_clear_error(&reason);
		remove_oldest(recorder);
	}
	recorder->n_files++;
	recorder->began_ns = recorder->flushed_ns = now.monotonic_ns;
	for (guint i = 0; i < options->n_interfaces; i++) {
		recorder->before[i] = recorder->told[i] = ask_statistics(recorder, i);
		recorder->written[i] = 0;
	}
	return TRUE;
}

/* Ends the file at hand. */
static gboolean
end_file(WpRecorder *recorder, gint64 wall_ns, GError **error)
{
	g_autoptr(WpPacketFile) file = recorder->file;

	for (guint i = 0; file && i < recorder->options.n_interfaces; i++)
		put_statistics(recorder, i, wall_ns, NULL);
	recorder->file = NULL;
	gboolean ok = !file || wp_packet_file_close(file, error);
	if (file) {
		recorder->n_written += wp_packet_file_frames(file);
		recorder->n_lost += wp_packet_file_lost(file);
		recorder->n_bytes += wp_packet_file_bytes(file);
	}
	if (recorder->name)
		g_queue_push_tail(&recorder->names, g_steal_pointer(&recorder->name));
	return ok;
}

gboolean
wp_recorder_start(WpRecorder *recorder, WpLiveTime now, GError **error)
{
	recorder->began_ns = recorder->flushed_ns = recorder->now_ns = now.monotonic_ns;
	g_clear_error(&recorder->failure); /* that of a file before */
	if (recorder->directory < 0)
		return TRUE;
	if (begin_file(recorder, now, error))
		return TRUE;
	if (error && g_error_matches(*error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_PERMISSION)) {
		g_autofree char *message = g_steal_pointer(&(*error)->message);
		(*error)->message =
			g_strconcat(message,
				    "\nafter the start it runs as another user (--user): give the "
				    "directory to that one, or choose another",
				    NULL);
	}
	return FALSE;
}

/* The next file, also where the disk is too full for the one at hand: what it lacks is lost, and counted. */
static gboolean
take_next(WpRecorder *recorder, WpLiveTime now)
{
	g_autoptr(GError) reason = NULL;

	if (!end_file(recorder, now.wall_ns, &reason) &&
	    (!is_full(reason) || !recorder->options.max_files)) {
		recorder->failure = g_steal_pointer(&reason);
		return FALSE;
	}
	if (reason && recorder->names.length > 1)
		remove_oldest(recorder);
	return begin_file(recorder, now, &recorder->failure);
}

static gboolean
is_due(const WpRecorder *recorder, gint64 now_ns)
{
	const WpRecorderOptions *options = &recorder->options;

	return (options->max_bytes && wp_packet_file_bytes(recorder->file) >= options->max_bytes) ||
	       (options->max_age_ns && now_ns - recorder->began_ns >= options->max_age_ns);
}

void
wp_recorder_frame(WpRecorder *recorder, const WpFrame *frame)
{
	WpLiveTime now = { recorder->now_ns, frame->time_ns };

	if (recorder->file && is_due(recorder, now.monotonic_ns))
		(void)take_next(recorder, now);
	if (!recorder->file) {
		recorder->n_lost++;
		return;
	}
	wp_packet_file_frame(recorder->file, frame);
	recorder->written[frame->interface]++;
}

gboolean
wp_recorder_rotate(WpRecorder *recorder, WpLiveTime now)
{
	recorder->now_ns = now.monotonic_ns;
	if (recorder->file && recorder->directory >= 0)
		(void)take_next(recorder, now);
	return recorder->file != NULL;
}

gboolean
wp_recorder_tick(WpRecorder *recorder, WpLiveTime now)
{
	recorder->now_ns = now.monotonic_ns;
	if (recorder->file && is_due(recorder, now.monotonic_ns))
		(void)take_next(recorder, now);
	if (!recorder->file || now.monotonic_ns - recorder->flushed_ns < FLUSH_NS)
		return recorder->file != NULL;
	recorder->flushed_ns = now.monotonic_ns;
	put_drops(recorder, now.wall_ns);
	return wp_packet_file_flush(recorder->file, NULL) || take_next(recorder, now);
}

gboolean
wp_recorder_finish(WpRecorder *recorder, gint64 wall_ns, GError **error)
{
	if (recorder->file)
		(void)end_file(recorder, wall_ns, &recorder->failure);
	if (recorder->failure && error)
		*error = g_error_copy(recorder->failure);
	return !recorder->failure;
}

/* --- what it did --- */

char *
wp_recorder_path(const WpRecorder *recorder)
{
	if (recorder->directory < 0)
		return g_strdup(recorder->options.path);
	return recorder->name ? g_build_filename(recorder->options.path, recorder->name, NULL)
			      : NULL;
}

guint64
wp_recorder_written(const WpRecorder *recorder)
{
	return recorder->n_written + (recorder->file ? wp_packet_file_frames(recorder->file) : 0);
}

guint64
wp_recorder_lost(const WpRecorder *recorder)
{
	return recorder->n_lost + (recorder->file ? wp_packet_file_lost(recorder->file) : 0);
}

guint64
wp_recorder_bytes(const WpRecorder *recorder)
{
	return recorder->n_bytes + (recorder->file ? wp_packet_file_bytes(recorder->file) : 0);
}

guint
wp_recorder_n_files(const WpRecorder *recorder)
{
	return recorder->n_files;
}
