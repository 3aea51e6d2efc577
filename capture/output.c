/*
 * Output: a buffer of text, and behind it a codec (none, gzip, Zstandard, LZ4) that writes to a file
 * descriptor.
 */
#include "capture/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <lz4frame.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "capture/trace.h"
#include "capture/unfinished.h"

#define BUFFER_BYTES (128 * 1024)

/* Levels that keep up with the capture: gzip 6 takes three times as long for a tenth less. */
#define GZIP_LEVEL 3
#define ZSTD_LEVEL 3

/* Bytes given to LZ4 at once, so that with a block held back the result fits into BUFFER_BYTES. */
#define LZ4_STEP (32 * 1024)

typedef struct Output Output;

/* What becomes of a temporary file. */
typedef enum {
	KEEP_NONE,
	KEEP_REST, /* as NAME.partial */
	KEEP_ALL
} Keep;

/* What follows the bytes that a codec is given. */
typedef enum {
	THEN_MORE,
	THEN_SYNC, /* what is there must come out */
	THEN_END
} Then;

/* WRITE takes all of the bytes. */
typedef struct {
	const char *suffix;
	gboolean (*start)(Output *output);
	void (*write)(Output *output, const char *bytes, gsize n, Then then);
	void (*stop)(Output *output);
} Codec;

struct Output {
	WpOutput base; /* first, so that a WpOutput is its Output */
	char *path;    /* as given, for messages */
	char *target;  /* what the temporary file becomes; NULL: none, written in place */
	char *temporary;
	int fd;
	char *rest; /* the temporary file became this: it is not whole; else NULL */
	gboolean has_bytes;
	gboolean is_whole_wanted;
	gboolean replaces; /* there is an older file of that name */
	GError *failure;
	const Codec *codec;
	z_stream zlib;
	ZSTD_CCtx *zstd;
	LZ4F_cctx *lz4;
	gboolean in_frame; /* of LZ4: its header is written */
	char *buffer;
	char *packed; /* BUFFER_BYTES, compressed */
};

/* The temporary file becomes NAME; where it cannot it stays. */
static gboolean
rename_temporary(Output *output, const char *name)
{
	if (rename(output->temporary, name) < 0)
		return FALSE;
	wp_unfinished_drop(output->temporary);
	g_clear_pointer(&output->temporary, g_free);
	return TRUE;
}

static void
remove_temporary(Output *output)
{
	(void)unlink(output->temporary);
	wp_unfinished_drop(output->temporary);
	g_clear_pointer(&output->temporary, g_free);
}

/* What was written so far is kept under a name of its own: an older file may be worth more. */
static void
keep_rest(Output *output)
{
	g_autofree char *name = g_strconcat(output->target, ".partial", NULL);

	if (rename_temporary(output, name))
		output->rest = g_steal_pointer(&name);
	else
		remove_temporary(output);
}

/* TRUE where there is something that is worth keeping after an error. */
static gboolean
has_rest(const Output *output)
{
	return output->has_bytes && !output->is_whole_wanted;
}

char *
wp_output_rest(const WpOutput *base)
{
	const Output *output = (const Output *)base;
	if (!output->rest)
		return NULL;
	return g_strdup_printf("what was written until then is kept in %s%s%s%s", output->rest,
			       output->replaces ? "; " : "", output->replaces ? output->path : "",
			       output->replaces ? " is as it was" : "");
}

/* Once: the first counts. Nothing more is written then, so that the rest can have its name at once. */
static void
set_failure(Output *output, const char *what)
{
	int number = errno;

	if (output->failure)
		return;
	if (output->temporary && has_rest(output))
		keep_rest(output);
	else if (output->temporary)
		remove_temporary(output);
	g_autofree char *rest = wp_output_rest(&output->base);
	output->failure =
		g_error_new(WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_WRITE, "cannot %s %s: %s%s%s", what,
			    output->path, g_strerror(number), rest ? "\n" : "", rest ? rest : "");
}

static void
write_file(Output *output, const char *bytes, gsize n)
{
	while (n > 0 && !output->failure) {
		gssize written = write(output->fd, bytes, n);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0) {
			set_failure(output, "write to");
			return;
		}
		bytes += written;
		n -= (gsize)written;
		output->has_bytes = TRUE;
	}
}

static gboolean
start_plain(Output *output)
{
	return TRUE;
}

static void
write_plain(Output *output, const char *bytes, gsize n, Then then)
{
	write_file(output, bytes, n);
}

static void
stop_plain(Output *output)
{
}

static gboolean
start_gzip(Output *output)
{
	return deflateInit2(&output->zlib, GZIP_LEVEL, Z_DEFLATED, 15 + 16, 8,
			    Z_DEFAULT_STRATEGY) == Z_OK;
}

static void
write_gzip(Output *output, const char *bytes, gsize n, Then then)
{
	z_stream *zlib = &output->zlib;

	zlib->next_in = (Bytef *)bytes;
	zlib->avail_in = (uInt)n;
	do {
		zlib->next_out = (Bytef *)output->packed;
		zlib->avail_out = BUFFER_BYTES;
		deflate(zlib, then == THEN_END    ? Z_FINISH
			      : then == THEN_SYNC ? Z_SYNC_FLUSH
						  : Z_NO_FLUSH);
		write_file(output, output->packed, BUFFER_BYTES - zlib->avail_out);
	} while (zlib->avail_out == 0 && !output->failure);
}

static void
stop_gzip(Output *output)
{
	deflateEnd(&output->zlib);
}

static gboolean
start_zstd(Output *output)
{
	output->zstd = ZSTD_createCCtx();
	return output->zstd && !ZSTD_isError(ZSTD_CCtx_setParameter(
				       output->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL));
}

static void
write_zstd(Output *output, const char *bytes, gsize n, Then then)
{
	ZSTD_inBuffer from = { bytes, n, 0 };
	gsize left;

	do {
		ZSTD_outBuffer to = { output->packed, BUFFER_BYTES, 0 };
		left = ZSTD_compressStream2(output->zstd, &to, &from,
					    then == THEN_END    ? ZSTD_e_end
					    : then == THEN_SYNC ? ZSTD_e_flush
								: ZSTD_e_continue);
		if (ZSTD_isError(left)) {
			errno = ENOMEM;
			set_failure(output, "compress");
			return;
		}
		write_file(output, output->packed, to.pos);
	} while ((from.pos < from.size || (then != THEN_MORE && left > 0)) && !output->failure);
}

static void
stop_zstd(Output *output)
{
	ZSTD_freeCCtx(output->zstd);
}

/* Blocks of 64 KiB, a checksum of the whole, as lz4(1) makes them. */
static const LZ4F_preferences_t lz4_preferences = {
	.frameInfo = { .blockSizeID = LZ4F_max64KB,
		       .contentChecksumFlag = LZ4F_contentChecksumEnabled },
};

static gboolean
start_lz4(Output *output)
{
	g_assert(LZ4F_compressBound(LZ4_STEP, &lz4_preferences) <= BUFFER_BYTES);
	return !LZ4F_isError(LZ4F_createCompressionContext(&output->lz4, LZ4F_VERSION));
}

/* What LZ4 made, or why it could not. */
static void
put_lz4(Output *output, gsize made)
{
	if (LZ4F_isError(made)) {
		errno = ENOMEM;
		set_failure(output, "compress");
	} else {
		write_file(output, output->packed, made);
	}
}

static void
write_lz4(Output *output, const char *bytes, gsize n, Then then)
{
	if (!output->in_frame)
		put_lz4(output, LZ4F_compressBegin(output->lz4, output->packed, BUFFER_BYTES,
						   &lz4_preferences));
	output->in_frame = TRUE;
	for (gsize at = 0; at < n && !output->failure; at += LZ4_STEP)
		put_lz4(output, LZ4F_compressUpdate(output->lz4, output->packed, BUFFER_BYTES,
						    bytes + at, MIN(n - at, LZ4_STEP), NULL));
	if (then == THEN_SYNC && !output->failure)
		put_lz4(output, LZ4F_flush(output->lz4, output->packed, BUFFER_BYTES, NULL));
	if (then == THEN_END && !output->failure)
		put_lz4(output, LZ4F_compressEnd(output->lz4, output->packed, BUFFER_BYTES, NULL));
}

static void
stop_lz4(Output *output)
{
	LZ4F_freeCompressionContext(output->lz4);
}

/* The last takes every name. */
static const Codec codecs[] = {
	{ ".gz", start_gzip, write_gzip, stop_gzip },
	{ ".zst", start_zstd, write_zstd, stop_zstd },
	{ ".lz4", start_lz4, write_lz4, stop_lz4 },
	{ "", start_plain, write_plain, stop_plain },
};

static gboolean
fail_to_open(const char *path, GError **error)
{
	gboolean denied = errno == EACCES || errno == EPERM;
	g_set_error(error, WP_CAPTURE_ERROR,
		    denied ? WP_CAPTURE_ERROR_PERMISSION : WP_CAPTURE_ERROR_WRITE,
		    "cannot write to %s: %s", path, g_strerror(errno));
	return FALSE;
}

/* A new file beside TARGET, with the mode of the one it will replace. */
static gboolean
open_temporary(Output *output, const struct stat *old, GError **error)
{
	output->temporary = g_strconcat(output->target, ".XXXXXX", NULL);
	output->fd = g_mkstemp_full(output->temporary, O_WRONLY | O_CLOEXEC, 0666);
	if (output->fd < 0) {
		g_clear_pointer(&output->temporary, g_free);
		return fail_to_open(output->path, error);
	}
	wp_unfinished_add(output->temporary);
	output->replaces = old != NULL;
	if (old)
		(void)!fchmod(output->fd, old->st_mode & 0777);
	return TRUE;
}

/* A file that is there already is emptied. */
static gboolean
open_in_place(Output *output, const char *path, GError **error)
{
	output->fd =
		strcmp(path, "-") == 0
			? STDOUT_FILENO
			: open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
	return output->fd >= 0 || fail_to_open(path, error);
}

static gboolean
open_file(Output *output, const char *path, GError **error)
{
	struct stat info;
	gboolean exists = stat(path, &info) == 0;

	if (strcmp(path, "-") == 0) {
		output->fd = STDOUT_FILENO;
		return TRUE;
	}
	if (exists && !S_ISREG(info.st_mode)) {
		output->fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		return output->fd >= 0 || fail_to_open(path, error);
	}
	/* A file behind a symbolic link is replaced, not the link. */
	char *real = g_file_test(path, G_FILE_TEST_IS_SYMLINK) ? realpath(path, NULL) : NULL;
	output->target = g_strdup(real ? real : path);
	free(real);
	return open_temporary(output, exists ? &info : NULL, error);
}

static const Codec *
find_codec(const char *path)
{
	gsize i = 0;
	while (!g_str_has_suffix(path, codecs[i].suffix))
		i++;
	return &codecs[i];
}

gsize
wp_output_plain_length(const char *path)
{
	return strlen(path) - strlen(find_codec(path)->suffix);
}

typedef gboolean (*Opening)(Output *output, const char *path, GError **error);

static WpOutput *
open_by(Opening opening, const char *path, GError **error)
{
	Output *output = g_new0(Output, 1);
	g_autoptr(WpOutput) base = &output->base;

	output->path = g_strdup(strcmp(path, "-") == 0 ? "standard output" : path);
	output->fd = -1;
	if (!opening(output, path, error))
		return NULL;
	output->codec = find_codec(path);
	if (!output->codec->start(output))
		g_error("no memory to compress %s", path);
	output->buffer = g_malloc(BUFFER_BYTES);
	output->packed = g_malloc(BUFFER_BYTES);
	base->at = output->buffer;
	base->limit = output->buffer + BUFFER_BYTES;
	return g_steal_pointer(&base);
}

WpOutput *
wp_output_open(const char *path, GError **error)
{
	return open_by(open_file, path, error);
}

WpOutput *
wp_output_open_in_place(const char *path, GError **error)
{
	return open_by(open_in_place, path, error);
}

static void
flush(Output *output, Then then)
{
	if (!output->failure)
		output->codec->write(output, output->buffer,
				     (gsize)(output->base.at - output->buffer), then);
	output->base.at = output->buffer;
}

void
wp_output_flush(WpOutput *base)
{
	flush((Output *)base, THEN_MORE);
}

void
wp_output_sync(WpOutput *base)
{
	flush((Output *)base, THEN_SYNC);
}

gboolean
wp_output_failed(const WpOutput *base, GError **error)
{
	const Output *output = (const Output *)base;
	if (!output->failure)
		return FALSE;
	if (error)
		*error = g_error_copy(output->failure);
	return TRUE;
}

/* Closes the file and gives it its name, if it has not gone already after a failure. */
static void
close_file(Output *output, Keep keep)
{
	if (output->fd > STDOUT_FILENO && close(output->fd) < 0)
		set_failure(output, "write to");
	output->fd = -1;
	if (!output->temporary)
		return;
	if (keep == KEEP_NONE)
		remove_temporary(output);
	else if (keep == KEEP_REST)
		keep_rest(output);
	else if (!rename_temporary(output, output->target))
		set_failure(output, "rename the finished file to");
}

void
wp_output_want_whole(WpOutput *base)
{
	((Output *)base)->is_whole_wanted = TRUE;
}

gboolean
wp_output_finish(WpOutput *base, GError **error)
{
	Output *output = (Output *)base;

	if (output->fd >= 0) {
		flush(output, THEN_END);
		close_file(output, KEEP_ALL);
	}
	return !wp_output_failed(base, error);
}

void
wp_output_discard(WpOutput *base)
{
	Output *output = (Output *)base;

	if (output->fd >= 0 && output->temporary)
		close_file(output, KEEP_NONE);
}

void
wp_output_stop(WpOutput *base)
{
	Output *output = (Output *)base;

	if (output->fd < 0)
		return;
	if (!output->is_whole_wanted)
		flush(output,
		      output->has_bytes || base->at > output->buffer ? THEN_END : THEN_MORE);
	close_file(output, has_rest(output) ? KEEP_REST : KEEP_NONE);
}

void
wp_output_free(WpOutput *base)
{
	Output *output = (Output *)base;

	if (!output)
		return;
	if (output->codec)
		wp_output_stop(base);
	if (output->codec)
		output->codec->stop(output);
	g_clear_error(&output->failure);
	g_free(output->path);
	g_free(output->target);
	g_free(output->temporary);
	g_free(output->rest);
	g_free(output->buffer);
	g_free(output->packed);
	g_free(output);
}
