/*
 * Sources: the table of formats, and the merging of several inputs by time. The next frame of each
 * input waits in a heap; an input that ends leaves it. An input that fails leaves it too, and the
 * failure is told when the others have ended, so that nothing readable is lost.
 */
#include "capture/source.h"

#include <string.h>

#include "capture/capture.h"
#include "capture/input.h"
#include "capture/live.h"
#include "capture/source-format.h"
#include "capture/trace.h"

#define HEAD_BYTES 12
#define STEP_NS    G_GINT64_CONSTANT(1000000000) /* back: the clock was set */
#define MAX_INPUTS 65536
#define FEW_INPUTS 32 /* all are open from the first packet to the last */

const WpSourceFormat *const wp_source_formats[] = { &wp_source_pcap, &wp_source_pcapng, NULL };

typedef struct {
	const WpSourceFormat *format;
	gpointer state;
	char *path;
	WpInput *input; /* NULL: it waits for its first frame to be due, or is over */
	WpFrame frame; /* the next one, where there are several inputs; of one that waits its time alone */
	gint64 last_ns; /* of the frame read last */
	guint8 tap;
	const WpClock *clock; /* NULL = right */
	guint64 n_back;       /* frames that are STEP_NS or more before the one before */
	WpSourceTold told;    /* of one that is over */
	guint64 n_skipped;    /* likewise */
	guint64 size;
	gboolean is_over;
} Input;

struct WpSource {
	Input *inputs;
	gsize n_inputs;
	Input **heap; /* those with a frame; the earliest first */
	gsize n_heap;
	WpLive *live;        /* there are no other inputs then; or NULL */
	gboolean is_started; /* heap is filled */
	gboolean is_over;    /* the only input is */
	guint n_cut;
	GError *failure; /* the first one */
	WpSourceHooks hooks;
};

/* What files that are no captures most often are. */
static const struct {
	const char *magic;
	gsize length;
	const char *advice;
} strangers[] = {
	{ "\x02\x21\x4c\x18", 4, "it is compressed with lz4 as before 2014; decompress it first" },
	{ "\xfd"
	  "7zXZ",
	  5, "it is compressed with xz; decompress it first" },
	{ "BZh", 3, "it is compressed with bzip2; decompress it first" },
	{ "PK\x03\x04", 4, "it is a zip archive; extract the captures first" },
	{ "\x54\x52\x53\x4e", 4,
	  "it is a Network Associates Sniffer file; convert it with editcap" },
	{ "snoop", 5, "it is a snoop file; convert it with editcap" },
	{ "GMBU", 4, "it is a Microsoft Network Monitor file; convert it with editcap" },
};

static const WpSourceFormat *
find_format(const guint8 *head, gsize length)
{
	const WpSourceFormat *const *format = wp_source_formats;
	while (*format && !(*format)->detect(head, length))
		format++;
	return *format;
}

gboolean
wp_capture_is_capture(const guint8 *head, gsize length)
{
	return find_format(head, length) != NULL;
}

static const char *
find_advice(const WpInput *input, const guint8 *head, gsize length)
{
	if (length == 0)
		return wp_input_is_cut(input) ? "it is cut short, nothing of it can be decompressed"
					      : "it is empty";
	for (gsize i = 0; i < G_N_ELEMENTS(strangers); i++)
		if (length >= strangers[i].length &&
		    memcmp(head, strangers[i].magic, strangers[i].length) == 0)
			return strangers[i].advice;
	return "it is neither pcap nor pcapng";
}

WpSourceResult
wp_source_damaged(WpInput *input, guint64 number, const char *what, GError **error)
{
	if (number > 0)
		g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_FORMAT,
			    "cannot read packet %" G_GUINT64_FORMAT " of %s: %s", number,
			    wp_input_path(input), what);
	else
		g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_FORMAT, "cannot read %s: %s",
			    wp_input_path(input), what);
	return WP_SOURCE_ERROR;
}

static gboolean
open_input(Input *input, WpInput **standard_input, const WpSourceHooks *hooks, GError **error)
{
	const guint8 *head;

	input->input = wp_input_open_or_take(input->path, standard_input, error);
	gssize n = input->input ? wp_input_peek(input->input, HEAD_BYTES, &head, error) : -1;
	if (n < 0)
		return FALSE;
	input->format = find_format(head, (gsize)n);
	if (!input->format) {
		wp_source_damaged(input->input, 0, find_advice(input->input, head, (gsize)n),
				  error);
		return FALSE;
	}
	input->state = input->format->open(input->input, hooks, error);
	return input->state != NULL;
}

static void
close_input(Input *input)
{
	guint64 n_read;

	if (input->input)
		wp_input_progress(input->input, &n_read, &input->size);
	if (input->state && input->format->told)
		input->told = input->format->told(input->state);
	if (input->state && input->format->blocks_skipped)
		input->n_skipped = input->format->blocks_skipped(input->state);
	if (input->state)
		input->format->free(input->state);
	wp_input_free(input->input);
	input->state = NULL;
	input->input = NULL;
}

WpSource *
wp_source_open_all(const char *const *paths, gsize n, WpInput **standard_input, GError **error)
{
	g_autoptr(WpSource) source = g_new0(WpSource, 1);

	if (n > MAX_INPUTS) {
		g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_LIMIT,
			    "cannot merge %" G_GSIZE_FORMAT
			    " captures: at most %d at once; merge some with mergecap first",
			    n, MAX_INPUTS);
		return NULL;
	}
	source->inputs = g_new0(Input, n);
	source->heap = g_new0(Input *, n);
	source->n_inputs = n;
	for (gsize i = 0; i < n; i++) {
		Input *input = &source->inputs[i];
		input->path = g_strdup(paths[i]);
		if (!open_input(input, standard_input, &source->hooks, error))
			return NULL;
		input->tap = (guint8)MIN(i, G_MAXUINT8);
		input->last_ns = WP_SOURCE_EARLIEST_NS;
		/* What is no file (a pipe) cannot be opened again. */
		if (n > FEW_INPUTS && g_file_test(paths[i], G_FILE_TEST_IS_REGULAR))
			close_input(input);
	}
	return g_steal_pointer(&source);
}

WpSource *
wp_source_open(const char *path, guint8 tap, GError **error)
{
	WpSource *source = wp_source_open_all(&path, 1, NULL, error);
	if (source)
		source->inputs[0].tap = tap;
	return source;
}

WpSource *
wp_source_open_live(WpLive *live)
{
	WpSource *source = g_new0(WpSource, 1);

	source->live = live;
	return source;
}

void
wp_source_free(WpSource *source)
{
	if (!source)
		return;
	for (gsize i = 0; i < source->n_inputs; i++) {
		close_input(&source->inputs[i]);
		g_free(source->inputs[i].path);
	}
	g_clear_error(&source->failure);
	g_free(source->inputs);
	g_free(source->heap);
	g_free(source);
}

/* FRAME is the next of INPUT, by the clock of its file. */
static inline void
date(Input *input, WpFrame *frame)
{
	gint64 time_ns = frame->time_ns;
	if (input->clock)
		time_ns = wp_clock_correct(input->clock, time_ns);
	time_ns = CLAMP(time_ns, WP_SOURCE_EARLIEST_NS, WP_SOURCE_LATEST_NS);
	input->n_back += time_ns <= input->last_ns - STEP_NS;
	input->last_ns = time_ns;
	frame->time_ns = time_ns;
	frame->tap = input->tap;
}

/* Reads the next frame of INPUT; FALSE where it has no more. */
static gboolean
advance(WpSource *source, Input *input, WpFrame *out_frame)
{
	GError *error = NULL;
	WpSourceResult result = input->format->next(input->state, out_frame, &error);

	if (result == WP_SOURCE_FRAME) {
		date(input, out_frame);
		return TRUE;
	}
	if (result == WP_SOURCE_CUT)
		source->n_cut++;
	if (error && source->failure)
		g_error_free(error);
	else if (error)
		source->failure = error;
	return FALSE;
}

static gboolean
is_before(const Input *a, const Input *b)
{
	if (a->frame.time_ns != b->frame.time_ns)
		return a->frame.time_ns < b->frame.time_ns;
	return a < b;
}

/* Lets the entry at I sink to where it belongs. */
static void
sift_down(WpSource *source, gsize i)
{
	for (;;) {
		gsize least = i;
		for (gsize child = 2 * i + 1; child <= 2 * i + 2 && child < source->n_heap; child++)
			if (is_before(source->heap[child], source->heap[least]))
				least = child;
		if (least == i)
			return;
		Input *moved = source->heap[i];
		source->heap[i] = source->heap[least];
		source->heap[least] = moved;
		i = least;
	}
}

/*
 * Opens INPUT, which is closed, and reads its first frame; FALSE where it has none. As often as that is done, what
 * stands before that frame is told once.
 */
static gboolean
open_again(WpSource *source, Input *input, gboolean is_told)
{
	WpSourceHooks hooks = source->hooks;
	GError *error = NULL;

	if (is_told)
		source->hooks = (WpSourceHooks){ 0 };
	gboolean is_open = open_input(input, NULL, &source->hooks, &error);
	if (!is_open && source->failure)
		g_error_free(error);
	else if (!is_open)
		source->failure = error;
	is_open = is_open && advance(source, input, &input->frame);
	source->hooks = hooks;
	if (!is_open)
		close_input(input);
	return is_open;
}

/*
 * Many files are most often one capture in parts. So a file waits, closed, until its first frame is due: as many are
 * open as overlap in time.
 */
static void
start(WpSource *source)
{
	for (gsize i = 0; i < source->n_inputs; i++) {
		Input *input = &source->inputs[i];
		gboolean waits = !input->input;
		if (waits ? open_again(source, input, FALSE)
			  : advance(source, input, &input->frame))
			source->heap[source->n_heap++] = input;
		else
			input->is_over = TRUE;
		if (waits)
			close_input(input);
	}
	for (gsize i = source->n_heap; i-- > 0;)
		sift_down(source, i);
	source->is_started = TRUE;
}

/* The earliest input is over. */
static void
drop_first(WpSource *source)
{
	close_input(source->heap[0]);
	source->heap[0]->is_over = TRUE;
	source->heap[0] = source->heap[--source->n_heap];
	sift_down(source, 0);
}

/* TRUE with the next frame of all. */
static gboolean
next_of_many(WpSource *source, WpFrame *out_frame)
{
	if (!source->is_started)
		start(source);
	else if (source->n_heap > 0 && advance(source, source->heap[0], &source->heap[0]->frame))
		sift_down(source, 0);
	else if (source->n_heap > 0)
		drop_first(source);
	while (source->n_heap > 0 && !source->heap[0]->input)
		if (open_again(source, source->heap[0], TRUE))
			sift_down(source, 0);
		else
			drop_first(source);
	if (source->n_heap > 0)
		*out_frame = source->heap[0]->frame;
	return source->n_heap > 0;
}

/* The same of one alone, whose frames need not wait for others. */
static gboolean
next_of_one(WpSource *source, WpFrame *out_frame)
{
	source->is_started = TRUE;
	if (!source->is_over && !advance(source, source->inputs, out_frame))
		source->is_over = TRUE;
	return !source->is_over;
}

WpSourceResult
wp_source_next(WpSource *source, WpFrame *out_frame, GError **error)
{
	if (source->live)
		return wp_live_next(source->live, out_frame, error);
	if (source->n_inputs == 1 ? next_of_one(source, out_frame)
				  : next_of_many(source, out_frame))
		return WP_SOURCE_FRAME;
	if (source->failure) {
		if (error)
			*error = g_error_copy(source->failure);
		return WP_SOURCE_ERROR;
	}
	return source->n_cut > 0 ? WP_SOURCE_CUT : WP_SOURCE_END;
}

/* Of several inputs, one that is merged with others may have to read. */
static gboolean
is_alone(const WpSource *source)
{
	return source->n_inputs == 1 && source->is_started && !source->is_over;
}

guint
wp_source_take(WpSource *source, WpFrame *out_frames, guint max)
{
	Input *input = source->inputs;
	guint n = is_alone(source) && input->format->take
			  ? input->format->take(input->state, out_frames, max)
			  : 0;

	for (guint i = 0; i < n; i++)
		date(input, &out_frames[i]);
	return n;
}

gboolean
wp_source_is_at_hand(const WpSource *source)
{
	const Input *input = source->inputs;

	return is_alone(source) && input->format->is_at_hand &&
	       input->format->is_at_hand(input->state);
}

void
wp_source_set_tap(WpSource *source, gsize i, guint8 tap, const WpClock *clock)
{
	g_return_if_fail(!source->is_started && i < source->n_inputs);
	source->inputs[i].tap = tap;
	source->inputs[i].clock = clock->n ? clock : NULL;
}

void
wp_source_on_secrets(WpSource *source, WpSourceSecretsFunc func, gpointer data)
{
	g_return_if_fail(!source->is_started);
	source->hooks.on_secrets = func;
	source->hooks.secrets_data = data;
}

void
wp_source_on_names(WpSource *source, WpSourceNameFunc func, gpointer data)
{
	g_return_if_fail(!source->is_started);
	source->hooks.on_name = func;
	source->hooks.name_data = data;
}

guint
wp_source_n_cut(const WpSource *source)
{
	return source->n_cut;
}

void
wp_source_progress(const WpSource *source, guint64 *out_read, guint64 *out_size)
{
	gboolean is_known = TRUE;

	*out_read = *out_size = 0;
	for (gsize i = 0; i < source->n_inputs; i++) {
		const Input *input = &source->inputs[i];
		guint64 n_read = input->is_over ? input->size : 0, size = input->size;
		if (input->input)
			wp_input_progress(input->input, &n_read, &size);
		*out_read += n_read;
		*out_size += size;
		is_known = is_known && size > 0;
	}
	if (!is_known)
		*out_size = 0;
}

WpSourceTold
wp_source_told(const WpSource *source)
{
	WpSourceTold all = { 0 };

	for (gsize i = 0; i < source->n_inputs; i++) {
		const Input *input = &source->inputs[i];
		WpSourceTold told = input->told;
		if (input->state && input->format->told)
			told = input->format->told(input->state);
		all.kernel_drops += told.kernel_drops;
		all.interface_gaps += told.interface_gaps;
		/* A step back that is told shows as well. */
		all.clock_steps += MAX(told.clock_steps, input->n_back);
	}
	return all;
}

guint64
wp_source_blocks_skipped(const WpSource *source)
{
	guint64 skipped = 0;
	for (gsize i = 0; i < source->n_inputs; i++) {
		const Input *input = &source->inputs[i];
		if (input->state && input->format->blocks_skipped)
			skipped += input->format->blocks_skipped(input->state);
		else
			skipped += input->n_skipped;
	}
	return skipped;
}
