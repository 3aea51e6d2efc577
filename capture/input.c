/*
 * Input: one buffer that slides over the bytes of a file, and before it, where the file is
 * compressed, a second buffer with the bytes as stored.
 *
 *     file --read()--> raw --codec--> data [ at .. end ) --peek, consume--> reader
 *     file --read()-----------------> data [ at .. end )                    (not compressed)
 *
 * The format is told by content, never by name: gzip (RFC 1952, any number of members, padded with
 * zeros), Zstandard (RFC 8878, any number of frames, skippable ones between them), LZ4 (lz4/lz4,
 * doc/lz4_Frame_format.md, the same).
 *
 * A compressed file of some size is decompressed by another thread (ahead.h), which then has all that is
 * marked "codec" below to itself.
 */
#include "capture/input.h"

#include <errno.h>
#include <fcntl.h>
#include <lz4frame.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "capture/ahead.h"
#include "capture/trace.h"

/* Of one read(); more gains nothing, this stays in the cache. A fuzzer would only clear memory. */
#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
#define READ_BYTES 4096
#else
#define READ_BYTES (256 * 1024)
#endif
#define PEEK_MAX   (16 * 1024 * 1024) /* the promise of input.h */
#define HEAD_BYTES 4                  /* enough to tell every format */

/* Smaller files are decompressed sooner than a thread is begun and ended. */
#define AHEAD_MIN_BYTES (1024 * 1024)

/* A file of which less is wanted is only looked at. */
#define AHEAD_AFTER_BYTES (256 * 1024)

typedef enum {
	STEP_ON,  /* go on */
	STEP_END, /* nothing readable follows */
	STEP_BAD  /* damaged */
} Step;

/*
 * One way of compression. STEP turns some of raw into at most ROOM bytes at OUT; it makes no progress
 * only where it needs more of raw.
 */
typedef struct {
	gboolean (*detect)(const guint8 *head, gsize length);
	void (*start)(WpInput *input);
	Step (*step)(WpInput *input, guint8 *out, gsize room, gsize *out_made);
	void (*stop)(WpInput *input);
} Codec;

struct WpInput {
	char *path;
	int fd;
	guint64 size; /* of the file; 0 = unknown */
	guint8 *data;
	gsize at, end, allocated;
	gboolean at_end;    /* nothing will be added to data */
	guint64 n_decoded;  /* bytes */
	gboolean has_asked; /* for a thread */
	WpAhead *ahead;     /* or NULL */

	/* codec */
	atomic_ullong n_read; /* of the file; asked for by any thread */
	const Codec *codec;   /* NULL: not compressed */
	guint8 *raw;
	gsize raw_at, raw_end;
	gboolean raw_at_end;
	gboolean in_stream; /* inside a member or frame */
	gboolean is_bad;    /* compressed data is damaged */
	gboolean is_cut;
	z_stream zlib;
	ZSTD_DStream *zstd;
	LZ4F_dctx *lz4;
};

static gboolean
detect_gzip(const guint8 *head, gsize length)
{
	return length >= 3 && head[0] == 0x1f && head[1] == 0x8b && head[2] == 8;
}

static void
start_gzip(WpInput *input)
{
	/* 15: the largest window; 16: gzip, not zlib format. Fails only without memory. */
	if (inflateInit2(&input->zlib, 15 + 16) != Z_OK)
		g_error("no memory to decompress %s", input->path);
	input->in_stream = TRUE;
}

/* Between members: skips padding, begins the next member, ends at anything else. */
static Step
next_member(WpInput *input)
{
	while (input->raw_at < input->raw_end && input->raw[input->raw_at] == 0)
		input->raw_at++;
	if (input->raw_at == input->raw_end)
		return STEP_ON;
	if (input->raw[input->raw_at] != 0x1f) {
		input->is_cut = TRUE;
		return STEP_END;
	}
	inflateReset(&input->zlib);
	input->in_stream = TRUE;
	return STEP_ON;
}

static Step
step_gzip(WpInput *input, guint8 *out, gsize room, gsize *out_made)
{
	z_stream *zlib = &input->zlib;

	*out_made = 0;
	if (!input->in_stream)
		return next_member(input);
	zlib->next_in = input->raw + input->raw_at;
	zlib->avail_in = (uInt)(input->raw_end - input->raw_at);
	zlib->next_out = out;
	zlib->avail_out = (uInt)room;
	int result = inflate(zlib, Z_NO_FLUSH);
	*out_made = room - zlib->avail_out;
	input->raw_at = input->raw_end - zlib->avail_in;
	if (result == Z_STREAM_END)
		input->in_stream = FALSE;
	return result == Z_STREAM_END || result == Z_OK || result == Z_BUF_ERROR ? STEP_ON
										 : STEP_BAD;
}

static void
stop_gzip(WpInput *input)
{
	inflateEnd(&input->zlib);
}

static gboolean
detect_zstd(const guint8 *head, gsize length)
{
	if (length < 4)
		return FALSE;
	guint32 magic = (guint32)head[3] << 24 | head[2] << 16 | head[1] << 8 | head[0];
	return magic == ZSTD_MAGICNUMBER ||
	       (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
}

static void
start_zstd(WpInput *input)
{
	input->zstd = ZSTD_createDStream();
	if (!input->zstd)
		g_error("no memory to decompress %s", input->path);
}

static Step
step_zstd(WpInput *input, guint8 *out, gsize room, gsize *out_made)
{
	ZSTD_inBuffer from = { input->raw, input->raw_end, input->raw_at };
	ZSTD_outBuffer to = { out, room, 0 };

	*out_made = 0;
	if (!input->in_stream && from.pos == from.size)
		return STEP_ON;
	gsize result = ZSTD_decompressStream(input->zstd, &to, &from);
	if (ZSTD_isError(result))
		return STEP_BAD;
	input->in_stream = result != 0;
	input->raw_at = from.pos;
	*out_made = to.pos;
	return STEP_ON;
}

static void
stop_zstd(WpInput *input)
{
	ZSTD_freeDStream(input->zstd);
}

/* A skippable frame in front is taken for Zstandard's: they look the same in both. */
static gboolean
detect_lz4(const guint8 *head, gsize length)
{
	static const guint8 magic[4] = { 0x04, 0x22, 0x4d, 0x18 };
	return length >= sizeof magic && memcmp(head, magic, sizeof magic) == 0;
}

static void
start_lz4(WpInput *input)
{
	if (LZ4F_isError(LZ4F_createDecompressionContext(&input->lz4, LZ4F_VERSION)))
		g_error("no memory to decompress %s", input->path);
}

static Step
step_lz4(WpInput *input, guint8 *out, gsize room, gsize *out_made)
{
	gsize used = input->raw_end - input->raw_at, made = room;

	*out_made = 0;
	if (!input->in_stream && used == 0)
		return STEP_ON;
	gsize result =
		LZ4F_decompress(input->lz4, out, &made, input->raw + input->raw_at, &used, NULL);
	if (LZ4F_isError(result))
		return STEP_BAD;
	input->in_stream = result != 0;
	input->raw_at += used;
	*out_made = made;
	return STEP_ON;
}

static void
stop_lz4(WpInput *input)
{
	LZ4F_freeDecompressionContext(input->lz4);
}

static const Codec codecs[] = {
	{ detect_gzip, start_gzip, step_gzip, stop_gzip },
	{ detect_zstd, start_zstd, step_zstd, stop_zstd },
	{ detect_lz4, start_lz4, step_lz4, stop_lz4 },
};

/* Up to ROOM bytes of the file to OUT; 0 at its end, or where a signal came, -1 on error. */
static gssize
read_file(WpInput *input, guint8 *out, gsize room, GError **error)
{
	gssize n = read(input->fd, out, room);
	/* A pipe that nobody writes to may never go on; who asked for the signal finds out. */
	if (n < 0 && errno == EINTR)
		return 0;
	if (n < 0)
		g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_READ,
			    "cannot read %s after %" G_GUINT64_FORMAT " bytes: %s", input->path,
			    (guint64)input->n_read, g_strerror(errno));
	else
		input->n_read += (guint64)n;
	return n;
}

/* Makes room for at least one read behind what data holds, and for WANT bytes in all. */
static void
make_room(WpInput *input, gsize want)
{
	if (input->at > 0) {
		memmove(input->data, input->data + input->at, input->end - input->at);
		input->end -= input->at;
		input->at = 0;
	}
	gsize needed = MAX(want, input->end) + READ_BYTES;
	if (needed > input->allocated) {
		input->allocated = MIN(needed * 2, PEEK_MAX + READ_BYTES);
		input->data = g_realloc(input->data, input->allocated);
	}
}

static gboolean
fill_plain(WpInput *input, GError **error)
{
	gssize n = read_file(input, input->data + input->end, input->allocated - input->end, error);
	if (n < 0)
		return FALSE;
	input->end += (gsize)n;
	input->at_end = n == 0;
	return TRUE;
}

static gboolean
fill_raw(WpInput *input, GError **error)
{
	gssize n = read_file(input, input->raw, READ_BYTES, error);
	if (n < 0)
		return FALSE;
	input->raw_at = 0;
	input->raw_end = (gsize)n;
	input->raw_at_end = n == 0;
	return TRUE;
}

static gssize
fail_to_decode(WpInput *input, GError **error)
{
	guint64 at = input->n_read - (input->raw_end - input->raw_at);
	g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_READ,
		    "cannot decompress %s: damaged near byte %" G_GUINT64_FORMAT
		    "; try to get the file again",
		    input->path, at);
	return -1;
}

/* Decompressed bytes to OUT, at most ROOM; 0 at the end, -1 on error. What is damaged is told of last. */
static gssize
decode(gpointer data, guint8 *out, gsize room, GError **error)
{
	WpInput *input = data;

	for (;;) {
		gsize before = input->raw_at, made = 0;
		Step step = input->is_bad ? STEP_BAD : input->codec->step(input, out, room, &made);
		input->is_bad = step == STEP_BAD;
		if (made > 0)
			return (gssize)made;
		if (step == STEP_BAD)
			return fail_to_decode(input, error);
		if (step == STEP_END)
			return 0;
		if (input->raw_at == before && input->raw_at_end) {
			input->is_cut = input->in_stream;
			return 0;
		}
		if (input->raw_at == input->raw_end && !input->raw_at_end &&
		    !fill_raw(input, error))
			return -1;
	}
}

static gboolean
fill_decoded(WpInput *input, GError **error)
{
	if (input->size >= AHEAD_MIN_BYTES && input->n_decoded >= AHEAD_AFTER_BYTES &&
	    !input->has_asked) {
		input->has_asked = TRUE;
		input->ahead = wp_ahead_new(decode, input);
	}
	guint8 *out = input->data + input->end;
	gsize room = input->allocated - input->end;
	gssize n = input->ahead ? wp_ahead_take(input->ahead, out, room, error)
				: decode(input, out, room, error);
	if (n < 0)
		return FALSE;
	input->end += (gsize)n;
	input->n_decoded += (gsize)n;
	input->at_end = n == 0;
	return TRUE;
}

/* Looks at the first bytes: where they are compressed, data becomes raw. */
static gboolean
detect_codec(WpInput *input, GError **error)
{
	make_room(input, HEAD_BYTES);
	while (input->end < HEAD_BYTES && !input->at_end)
		if (!fill_plain(input, error))
			return FALSE;
	for (gsize i = 0; i < G_N_ELEMENTS(codecs) && !input->codec; i++)
		if (codecs[i].detect(input->data, input->end))
			input->codec = &codecs[i];
	if (!input->codec)
		return TRUE;
	input->raw = g_steal_pointer(&input->data);
	input->raw_end = input->end;
	input->raw_at_end = input->at_end;
	input->end = input->allocated = 0;
	input->at_end = FALSE;
	input->codec->start(input);
	return TRUE;
}

static gboolean
fail_to_open(const char *path, int code, GError **error)
{
	gboolean denied = code == EACCES || code == EPERM;
	g_set_error(error, WP_CAPTURE_ERROR,
		    denied ? WP_CAPTURE_ERROR_PERMISSION : WP_CAPTURE_ERROR_OPEN,
		    "cannot open %s: %s", path, g_strerror(code));
	return FALSE;
}

static gboolean
open_file(WpInput *input, const char *path, GError **error)
{
	struct stat info;

	input->fd =
		strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (input->fd < 0 || fstat(input->fd, &info) < 0)
		return fail_to_open(path, errno, error);
	if (S_ISDIR(info.st_mode)) {
		g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_FORMAT,
			    "cannot read %s: it is a directory; name the files in it", path);
		return FALSE;
	}
	if (S_ISREG(info.st_mode)) {
		input->size = (guint64)info.st_size;
		(void)posix_fadvise(input->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	}
	return TRUE;
}

WpInput *
wp_input_open(const char *path, GError **error)
{
	g_autoptr(WpInput) input = g_new0(WpInput, 1);
	input->path = g_strdup(path);
	input->fd = -1;
	if (!open_file(input, path, error) || !detect_codec(input, error))
		return NULL;
	return g_steal_pointer(&input);
}

WpInput *
wp_input_open_or_take(const char *path, WpInput **standard_input, GError **error)
{
	if (standard_input && *standard_input && strcmp(path, "-") == 0)
		return g_steal_pointer(standard_input);
	return wp_input_open(path, error);
}

void
wp_input_free(WpInput *input)
{
	if (!input)
		return;
	wp_ahead_free(input->ahead);
	if (input->codec)
		input->codec->stop(input);
	if (input->fd > STDIN_FILENO)
		close(input->fd);
	g_free(input->path);
	g_free(input->data);
	g_free(input->raw);
	g_free(input);
}

gssize
wp_input_peek(WpInput *input, gsize want, const guint8 **out_data, GError **error)
{
	g_return_val_if_fail(want <= PEEK_MAX, -1);
	while (input->end - input->at < want && !input->at_end) {
		make_room(input, want);
		if (!(input->codec ? fill_decoded(input, error) : fill_plain(input, error)))
			return -1;
	}
	*out_data = input->data + input->at;
	return (gssize)(input->end - input->at);
}

gsize
wp_input_at_hand(const WpInput *input, const guint8 **out_data)
{
	*out_data = input->data + input->at;
	return input->end - input->at;
}

void
wp_input_consume(WpInput *input, gsize n)
{
	g_assert(n <= input->end - input->at);
	input->at += n;
}

gboolean
wp_input_is_cut(const WpInput *input)
{
	return input->at_end && input->is_cut;
}

void
wp_input_progress(const WpInput *input, guint64 *out_read, guint64 *out_size)
{
	*out_read = input->n_read;
	*out_size = input->size;
}

const char *
wp_input_path(const WpInput *input)
{
	return input->path;
}
