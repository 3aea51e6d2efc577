/* Capture files that take turns: which frame stands in which, what is kept, what is told, what a full disk leaves. */
#include "capture/notes.h"
#include "capture/recorder.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capture/trace.h"
#include "tests/support/suite.h"
#include "tests/support/tempfile.h"

#define NS_PER_S G_GINT64_CONSTANT(1000000000)
#define START_NS (1795393280 * NS_PER_S) /* 2026-11-23T00:21:20Z */
#define PAYLOAD  968                     /* with the head of its block a frame is 1000 bytes */

static const WpPacketFileInterface two[] = {
	{ "eth0", "port 80", 1, 65535 },
	{ "eth1", NULL, 1, 65535 },
};

typedef struct {
	WpRecorder *recorder;
	WpTempFile *path;
	WpLiveTime now;
	guint64 dropped; /* by the kernel, so far */
	guint n_frames;
	gboolean ok;
} Run;

static void
statistics(guint interface, WpPacketFileStatistics *out, gpointer data)
{
	const Run *run = data;
	if (interface == 0)
		*out = (WpPacketFileStatistics){ .received = run->n_frames + run->dropped,
						 .kernel_drops = run->dropped };
}

static void
put_frame(Run *run, guint interface)
{
	guint8 data[PAYLOAD] = { (guint8)++run->n_frames };
	const WpFrame frame = { .time_ns = run->now.wall_ns,
				.data = data,
				.captured = PAYLOAD,
				.length = 1500,
				.link_type = 1,
				.interface = interface };
	wp_recorder_frame(run->recorder, &frame);
}

/*
 * "p3": three frames; "s2": two seconds pass, with a tick; "h": rotate; "d5": the kernel drops five; "n", "g", "c", "o":
 * the notes that an interface went down, is gone, the clock was set, of something else; "b9": the clock is set back by
 * nine seconds
 */
static void
step(Run *run, const char *word)
{
	int n = (int)g_ascii_strtoll(word + 1, NULL, 10);

	switch (word[0]) {
	case 'p':
		while (n-- > 0)
			put_frame(run, 0);
		break;
	case 's':
		run->now.monotonic_ns += n * NS_PER_S;
		run->now.wall_ns += n * NS_PER_S;
		run->ok = wp_recorder_tick(run->recorder, run->now);
		break;
	case 'h':
		run->ok = wp_recorder_rotate(run->recorder, run->now);
		break;
	case 'd':
		run->dropped += (guint)n;
		break;
	case 'n':
		wp_recorder_note(run->recorder, 1, run->now.wall_ns, WP_NOTE_DOWN "; waiting");
		break;
	case 'g':
		wp_recorder_note(run->recorder, 1, run->now.wall_ns, WP_NOTE_GONE);
		break;
	case 'c':
		wp_recorder_note(run->recorder, 0, run->now.wall_ns, WP_NOTE_CLOCK "back by 9 s");
		break;
	case 'o':
		wp_recorder_note(run->recorder, 0, run->now.wall_ns, "is up again");
		break;
	default:
		run->now.wall_ns -= n * NS_PER_S;
	}
}

static void
begin(Run *run, WpRecorderOptions options, const char *suffix)
{
	g_autoptr(GError) error = NULL;

	*run = (Run){ .path = wp_temp_file_name(suffix), .now = { 5, START_NS }, .ok = TRUE };
	options.path = run->path;
	options.interfaces = two;
	options.n_interfaces = G_N_ELEMENTS(two);
	options.statistics = statistics;
	options.statistics_data = run;
	run->recorder = wp_recorder_new(&options, &error);
	ck_assert_msg(run->recorder != NULL, "%s", error ? error->message : "");
	ck_assert(wp_recorder_start(run->recorder, run->now, &error));
}

static int
compare(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* (transfer full) The files in a directory, by name. */
static GPtrArray *
list(const char *path)
{
	g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
	GPtrArray *files = g_ptr_array_new_with_free_func(g_free);
	for (const char *name; directory && (name = g_dir_read_name(directory));)
		g_ptr_array_add(files, g_build_filename(path, name, NULL));
	g_ptr_array_sort(files, compare);
	return files;
}

static void
clear(Run *run)
{
	g_autoptr(GPtrArray) files = list(run->path);
	for (guint i = 0; i < files->len; i++)
		g_unlink(files->pdata[i]);
	wp_recorder_free(run->recorder);
	g_rmdir(run->path);
	wp_temp_file_remove(run->path);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Run, clear)

/*
 * "3": as many frames; "-5": of which so many were dropped beside; "g2": gaps of interfaces; "c1": the clock was set;
 * "!" where the file ends too early
 */
static void
describe(const char *path, GString *text)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(WpSource) source = wp_source_open(path, 0, &error);
	WpSourceResult result;
	WpFrame frame;
	guint n = 0;

	ck_assert_msg(source != NULL, "%s", error ? error->message : "");
	while ((result = wp_source_next(source, &frame, &error)) == WP_SOURCE_FRAME) {
		ck_assert_uint_eq(frame.captured, PAYLOAD);
		ck_assert_uint_eq(frame.length, 1500);
		n++;
	}
	g_string_append_printf(text, "%s%u", text->len ? " " : "", n);
	const WpSourceTold told = wp_source_told(source);
	const struct {
		char sign;
		guint64 n;
	} all[] = { { '-', told.kernel_drops },
		    { 'g', told.interface_gaps },
		    { 'c', told.clock_steps } };
	for (gsize i = 0; i < G_N_ELEMENTS(all); i++)
		if (all[i].n)
			g_string_append_printf(text, "%c%d", all[i].sign, (int)all[i].n);
	if (result != WP_SOURCE_END)
		g_string_append_c(text, '!');
}

static char *
describe_all(const char *path)
{
	g_autoptr(GPtrArray) files = list(path);
	GString *text = g_string_new(NULL);
	for (guint i = 0; i < files->len; i++)
		describe(files->pdata[i], text);
	return g_string_free(text, FALSE);
}

START_TEST(turns)
{
	static const struct {
		WpRecorderOptions options;
		const char *steps;
		const char *files;
	} rows[] = {
		{ { 0 }, "p3 s1 p2", "5" },
		{ { 0 }, "", "0" },
		{ { 0 }, "p3 h p2 h", "3 2 0" },
		/* The head of a file is some 130 bytes: three frames of 1000 are over 3000. */
		{ { .max_bytes = 3000 }, "p8", "3 3 2" },
		{ { .max_bytes = 3000 }, "p3 s1 p1", "3 1" },
		{ { .max_age_ns = 5 * NS_PER_S }, "p1 s3 p1 s2 p1 s9 p1", "2 1 1" },
		{ { .max_bytes = 3000, .max_files = 2 }, "p8", "3 2" },
		{ { .max_files = 2 }, "p1 h p2 h p3 h p4", "3 4" },
		/* By the clock the second file is older than the first. */
		{ { .max_age_ns = 5 * NS_PER_S }, "p1 b9 s6 p2", "2 1" },
		{ { .max_age_ns = 5 * NS_PER_S, .max_files = 2 }, "p1 b9 s6 p2 s6 p3", "2 3" },
		/* What was dropped stands in the file in whose time it was, once. */
		{ { 0 }, "p1 d5 p1 s1 s1 h p1 h d2 p2 s1 d1", "2-5 1 2-3" },
		{ { 0 }, "d5 p1 s1 n", "1-5g1" },
		/* What befell an interface, too; a step back shows in the times as well, and is one. */
		{ { 0 }, "p1 n o p1 g h p1 n", "2g2 1g1" },
		{ { 0 }, "p1 c p1 h p1", "2c1 1" },
		{ { 0 }, "p1 b9 c p1", "2c1" },
		{ { 0 }, "p1 b1 p1 b1 p1", "3c2" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_auto(Run) run;
		begin(&run, rows[i].options, "/");
		g_auto(GStrv) words = g_strsplit_set(rows[i].steps, " ", -1);
		for (char **word = words; *word; word++)
			if (**word)
				step(&run, *word);
		ck_assert(run.ok);
		ck_assert(wp_recorder_finish(run.recorder, run.now.wall_ns, NULL));
		ck_assert_uint_eq(wp_recorder_written(run.recorder), run.n_frames);
		ck_assert_uint_eq(wp_recorder_lost(run.recorder), 0);
		g_autofree char *files = describe_all(run.path);
		ck_assert_msg(strcmp(files, rows[i].files) == 0, "row %zu: %s", i, files);
	}
}
END_TEST

/* Names sort by time; those of an earlier run count, other files are left alone. */
START_TEST(names)
{
	g_auto(Run) run;
	begin(&run, (WpRecorderOptions){ 0 }, "/");
	step(&run, "h");
	g_autofree char *alien = g_build_filename(run.path, "wirepath-notes.txt", NULL);
	ck_assert(g_file_set_contents(alien, "x", 1, NULL));
	ck_assert(wp_recorder_finish(run.recorder, run.now.wall_ns, NULL));

	const WpRecorderOptions again = { .path = run.path,
					  .max_files = 2,
					  .interfaces = two,
					  .n_interfaces = 2,
					  .statistics = statistics,
					  .statistics_data = &run };
	g_autoptr(WpRecorder) second = wp_recorder_new(&again, NULL);
	ck_assert(wp_recorder_start(second, run.now, NULL));
	run.now.wall_ns += NS_PER_S;
	ck_assert(wp_recorder_rotate(second, run.now));
	ck_assert(wp_recorder_finish(second, run.now.wall_ns, NULL));
	g_autoptr(GPtrArray) files = list(run.path);
	ck_assert_uint_eq(files->len, 3);
	static const char *const expected[] = { "wirepath-20261123T002120Z-00003.pcapng",
						"wirepath-20261123T002121Z-00004.pcapng",
						"wirepath-notes.txt" };
	for (guint i = 0; i < 3; i++) {
		g_autofree char *name = g_path_get_basename(files->pdata[i]);
		ck_assert_str_eq(name, expected[i]);
	}
}
END_TEST

/* One file, in both forms; flushed within a second; nothing to rotate. */
START_TEST(single)
{
	static const char *const suffixes[] = { ".pcapng", ".pcap" };
	for (gsize i = 0; i < G_N_ELEMENTS(suffixes); i++) {
		g_auto(Run) run;
		begin(&run, (WpRecorderOptions){ 0 }, suffixes[i]);
		for (const char *const *word = (const char *const[]){ "p3", "h", "s1", NULL };
		     *word; word++)
			step(&run, *word);
		g_autoptr(GString) before = g_string_new(NULL);
		describe(run.path, before);
		ck_assert_str_eq(before->str, "3");
		step(&run, "d4");
		put_frame(&run, 1);
		ck_assert(wp_recorder_finish(run.recorder, run.now.wall_ns, NULL));
		g_autoptr(GString) after = g_string_new(NULL);
		describe(run.path, after);
		ck_assert_str_eq(after->str, i == 0 ? "4-4" : "4");
	}
}
END_TEST

START_TEST(errors)
{
	static const WpPacketFileInterface mixed[] = { { "eth0", NULL, 1, 65535 },
						       { "tun0", NULL, 101, 65535 } };
	static const struct {
		WpRecorderOptions options;
		int code;
		const char *text;
	} rows[] = {
		{ { .path = "x.pcap", .max_files = 3 },
		  WP_CAPTURE_ERROR_OPTION,
		  "need a directory" },
		{ { .path = "/nonexistent/x/" }, WP_CAPTURE_ERROR_WRITE, "make the directory" },
		{ { .path = "/nonexistent/x.pcapng" }, WP_CAPTURE_ERROR_WRITE, "cannot write to" },
		{ { .path = "/dev/full" }, WP_CAPTURE_ERROR_WRITE, "No space left" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GError) error = NULL;
		WpRecorderOptions options = rows[i].options;
		options.interfaces = mixed;
		options.n_interfaces = 2;
		ck_assert_ptr_null(wp_recorder_new(&options, &error));
		ck_assert_msg(g_error_matches(error, WP_CAPTURE_ERROR, rows[i].code), "row %zu: %s",
			      i, error->message);
		ck_assert_ptr_nonnull(strstr(error->message, rows[i].text));
	}
	g_autoptr(GError) error = NULL;
	g_autotemp *path = wp_temp_file_name(".pcap");
	const WpRecorderOptions options = { .path = path, .interfaces = mixed, .n_interfaces = 2 };
	ck_assert_ptr_null(wp_recorder_new(&options, &error));
	ck_assert_ptr_nonnull(strstr(error->message, "name it .pcapng"));
}
END_TEST

/*
 * A file that may grow no further, as on a full disk: what is in it are whole frames, wherever it was cut, and
 * the others are counted.
 */
static int
fill(const char *suffix, rlim_t limit)
{
	g_auto(Run) run;
	g_autoptr(GString) text = g_string_new(NULL);
	const struct rlimit size = { limit, RLIM_INFINITY };
	const struct rlimit any = { RLIM_INFINITY, RLIM_INFINITY };
	const guint n = 20;

	begin(&run, (WpRecorderOptions){ 0 }, suffix);
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &size);
	for (guint i = 0; i < n; i++)
		put_frame(&run, 0);
	step(&run, "s1");
	step(&run, "p1");
	gboolean ok = wp_recorder_finish(run.recorder, run.now.wall_ns, NULL);
	setrlimit(RLIMIT_FSIZE, &any); /* Check writes files, too */
	describe(run.path, text);
	guint64 written = g_ascii_strtoull(text->str, NULL, 10);
	return !run.ok && !ok && !strchr(text->str, '!') && written < n &&
	       wp_recorder_written(run.recorder) == written &&
	       wp_recorder_lost(run.recorder) == n + 1 - written;
}

START_TEST(full)
{
	static const char *const suffixes[] = { ".pcapng", ".pcap" };
	for (gsize i = 0; i < G_N_ELEMENTS(suffixes); i++)
		for (rlim_t limit = 1000; limit < 6000; limit += 333) {
			pid_t child = fork();
			int status;
			if (child == 0)
				_exit(fill(suffixes[i], limit) ? 0 : 1);
			ck_assert(waitpid(child, &status, 0) == child);
			ck_assert_msg(status == 0, "%s cut at %lu", suffixes[i],
				      (unsigned long)limit);
		}
}
END_TEST

/* After a file that failed, one that is started again can go well. */
static int
start_again(void)
{
	g_auto(Run) run;
	const struct rlimit small = { 1500, RLIM_INFINITY };
	const struct rlimit any = { RLIM_INFINITY, RLIM_INFINITY };
	gboolean ok[2];

	begin(&run, (WpRecorderOptions){ 0 }, "/");
	signal(SIGXFSZ, SIG_IGN);
	for (guint i = 0; i < 2; i++) {
		setrlimit(RLIMIT_FSIZE, i == 0 ? &small : &any);
		if (i == 1 && !wp_recorder_start(run.recorder, run.now, NULL))
			return 2;
		step(&run, "p5");
		ok[i] = wp_recorder_finish(run.recorder, run.now.wall_ns, NULL);
	}
	setrlimit(RLIMIT_FSIZE, &any);
	g_autoptr(GPtrArray) files = list(run.path);
	return !ok[0] && ok[1] && files->len == 2 ? 0 : 1;
}

START_TEST(again)
{
	int status;
	pid_t child = fork();
	if (child == 0)
		_exit(start_again());
	ck_assert(waitpid(child, &status, 0) == child);
	ck_assert_int_eq(status, 0);
}
END_TEST

WP_SUITE("recorder", turns, names, single, errors, full, again)
