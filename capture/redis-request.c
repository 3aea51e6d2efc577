/* Commands of Redis: their first arguments and their label. */
#include "capture/redis-request.h"

#include <string.h>

#include "capture/label.h"
#include "capture/resp.h"

/* Arguments up to this size are awaited in full where the label needs them: a script for its hash. */
#define WHOLE_MAX (16 * 1024)

/* Of longer ones this much: far more than a label can hold. */
#define FRONT_BYTES 256

#define NAME_MAX_BYTES 32
#define ARGS_MAX       (G_GUINT64_CONSTANT(1) << 31)
#define SHA_SHOWN      8

static gboolean
arg_is(const WpRedisArg *arg, const char *word)
{
	return arg->length == strlen(word) &&
	       g_ascii_strncasecmp(arg->text, word, arg->length) == 0;
}

static gboolean
is_name(const WpRedisArg *arg)
{
	if (arg->length == 0 || arg->length > NAME_MAX_BYTES || !g_ascii_isalnum(arg->text[0]))
		return FALSE;
	for (gsize i = 1; i < arg->length; i++)
		if (!g_ascii_isalnum(arg->text[i]) && !memchr("._-", arg->text[i], 3))
			return FALSE;
	return TRUE;
}

/* How many arguments must be read for what is known by now. */
static guint
n_wanted(const WpRedisRequest *request)
{
	guint flags = request->command->flags;
	guint wanted = request->command->key + 1;
	if (flags & WP_REDIS_SUBCOMMAND)
		wanted = MAX(wanted, 3); /* CLIENT REPLY OFF */
	if (flags & WP_REDIS_BLOCK) {
		gboolean found = request->n_read >= 2 &&
				 arg_is(&request->args[request->n_read - 2], "STREAMS");
		wanted = found ? request->n_read : WP_REDIS_MAX_READ;
	}
	return (guint)MIN(wanted, request->n_args);
}

/*
 * Reads the argument AT bytes from the front; *OUT_END is where the next begins. IS_CUT: what is there
 * of it will do.
 */
static WpDecodeStatus
read_arg(WpBytes in, gsize at, gboolean is_cut, WpRedisArg *out_arg, gsize *out_end)
{
	WpRespElement element;
	if (at >= in.length)
		return WP_DECODE_MORE;
	WpBytes here = wp_bytes(in.data + at, in.length - at);
	WpDecodeStatus status = wp_resp_element(here, &element);
	if (status != WP_DECODE_OK)
		return status;
	if (element.type != '$' || element.is_null || element.is_streamed)
		return WP_DECODE_BAD;
	gsize length = element.number <= WHOLE_MAX ? element.number : FRONT_BYTES;
	gsize here_length = wp_bytes_left(&here) - element.line;
	if (here_length < length && !is_cut)
		return WP_DECODE_MORE;
	out_arg->text = (const char *)here.data + element.line;
	out_arg->length = MIN(length, here_length);
	out_arg->is_whole = out_arg->length == element.number;
	*out_end = at + element.length;
	return WP_DECODE_OK;
}

/* The command itself: of its name nothing may be missing. */
static WpDecodeStatus
read_name(WpBytes in, WpRedisRequest *request)
{
	WpDecodeStatus status =
		read_arg(in, request->length, FALSE, &request->args[0], &request->length);
	if (status != WP_DECODE_OK)
		return status;
	if (!is_name(&request->args[0]))
		return WP_DECODE_BAD;
	request->command = wp_redis_command_find(request->args[0].text, request->args[0].length);
	request->n_read = 1;
	return WP_DECODE_OK;
}

static WpDecodeStatus
parse_array(WpBytes in, gboolean is_cut, WpRedisRequest *request)
{
	WpRespElement header;
	WpDecodeStatus status = wp_resp_element(in, &header);
	if (status != WP_DECODE_OK)
		return status;
	if (header.type != '*' || header.is_streamed || header.number > ARGS_MAX)
		return WP_DECODE_BAD;
	request->length = header.line;
	request->n_args = header.number; /* 0 where it is null */
	if (request->n_args == 0)
		return WP_DECODE_OK;
	status = read_name(in, request);
	while (status == WP_DECODE_OK && request->args[request->n_read - 1].is_whole &&
	       request->n_read < n_wanted(request)) {
		status = read_arg(in, request->length, is_cut, &request->args[request->n_read],
				  &request->length);
		if (status == WP_DECODE_MORE && is_cut)
			return WP_DECODE_OK; /* what is not there is lost, or comes later */
		request->n_read += status == WP_DECODE_OK;
	}
	return status;
}

static gboolean
is_inline_text(const guint8 *text, gsize length)
{
	for (gsize i = 0; i < length; i++)
		if (text[i] < 0x20 && text[i] != '\t' && text[i] != '\r')
			return FALSE;
	return length == 0 || text[0] == '\r' || g_ascii_isalnum(text[0]);
}

/* A line of words; quotes are not undone, which only a label could show. */
static WpDecodeStatus
parse_inline(WpBytes in, WpRedisRequest *request)
{
	const char *text = (const char *)in.data;
	gssize end = wp_bytes_find(&in, '\n', in.length);
	if (!is_inline_text(in.data, end < 0 ? in.length : (gsize)end))
		return WP_DECODE_BAD;
	if (end < 0)
		return WP_DECODE_MORE;
	request->length = (gsize)end + 1;
	for (gsize i = 0; i < (gsize)end;) {
		gsize start = i;
		while (i < (gsize)end && !g_ascii_isspace(text[i]))
			i++;
		if (i > start && request->n_args++ < WP_REDIS_MAX_READ)
			request->args[request->n_read++] =
				(WpRedisArg){ text + start, i - start, TRUE };
		i++;
	}
	if (request->n_args == 0)
		return WP_DECODE_OK;
	if (!is_name(&request->args[0]))
		return WP_DECODE_BAD;
	request->command = wp_redis_command_find(request->args[0].text, request->args[0].length);
	return WP_DECODE_OK;
}

/* CLIENT REPLY ON|OFF|SKIP, REPLCONF ACK */
static WpRedisReplyMode
reply_mode(const WpRedisRequest *request)
{
	if (request->n_read < 2 || !(request->command->flags & WP_REDIS_SUBCOMMAND))
		return WP_REDIS_REPLY_USUAL;
	if (arg_is(&request->args[0], "REPLCONF") && arg_is(&request->args[1], "ACK"))
		return WP_REDIS_REPLY_NONE;
	if (request->n_read < 3 || !arg_is(&request->args[0], "CLIENT") ||
	    !arg_is(&request->args[1], "REPLY"))
		return WP_REDIS_REPLY_USUAL;
	if (arg_is(&request->args[2], "OFF"))
		return WP_REDIS_REPLY_OFF;
	return arg_is(&request->args[2], "SKIP") ? WP_REDIS_REPLY_SKIP : WP_REDIS_REPLY_ON;
}

/* XREAD [COUNT n] [BLOCK ms] STREAMS key ... */
static void
find_stream(WpRedisRequest *request)
{
	for (guint i = 1; i < request->n_read; i++) {
		if (arg_is(&request->args[i], "BLOCK"))
			request->waits = TRUE;
		if (arg_is(&request->args[i], "STREAMS")) {
			request->key = i + 1;
			return;
		}
	}
}

static void
find_key(WpRedisRequest *request)
{
	guint flags = request->command->flags;
	request->key = request->command->key;
	request->waits = flags & WP_REDIS_WAITS;
	if (flags & WP_REDIS_BLOCK)
		find_stream(request);
	if (flags & WP_REDIS_SCRIPT && request->n_read > 2 && arg_is(&request->args[2], "0"))
		request->key = 0;
	if (request->key >= request->n_read)
		request->key = 0;
}

WpDecodeStatus
wp_redis_request_parse(WpBytes in, gboolean is_cut, WpRedisRequest *out_request)
{
	WpRedisRequest request = { 0 };
	if (in.length == 0)
		return WP_DECODE_MORE;
	WpDecodeStatus status =
		in.data[0] == '*' ? parse_array(in, is_cut, &request) : parse_inline(in, &request);
	if (status != WP_DECODE_OK)
		return status;
	if (request.n_args > 0) {
		request.reply_mode = reply_mode(&request);
		find_key(&request);
	}
	*out_request = request;
	return WP_DECODE_OK;
}

/* The first digits of the SHA1 of a script, whether it came as itself or as its SHA1. */
static gsize
add_script(const WpRedisRequest *request, char *buffer, gsize n, gsize size)
{
	const WpRedisArg *script = &request->args[1];
	const char *sha = script->text;
	gsize sha_length = script->length;
	g_autofree char *made = NULL;

	if (!script->is_whole)
		return n;
	if (!arg_is(&request->args[0], "EVALSHA") && !arg_is(&request->args[0], "EVALSHA_RO")) {
		made = g_compute_checksum_for_string(G_CHECKSUM_SHA1, sha, (gssize)sha_length);
		sha = made;
		sha_length = SHA_SHOWN;
	}
	if (n + 2 < size)
		buffer[n++] = ' ';
	for (gsize i = 0; i < MIN(sha_length, SHA_SHOWN) && n + 1 < size; i++)
		buffer[n++] = g_ascii_isxdigit(sha[i]) ? g_ascii_tolower(sha[i]) : '?';
	return n;
}

/* An upper-case word; a function (FCALL) keeps its case. */
static gsize
add_word(const WpRedisArg *arg, gboolean is_upper, char *buffer, gsize n, gsize size)
{
	for (gsize i = 0; i < MIN(arg->length, NAME_MAX_BYTES) && n + 1 < size; i++) {
		char c = g_ascii_isgraph(arg->text[i]) ? arg->text[i] : '?';
		buffer[n++] = is_upper ? g_ascii_toupper(c) : c;
	}
	return n;
}

gsize
wp_redis_label_add_key(char *buffer, gsize n, gsize size, const char *key, gsize length)
{
	if (n + 2 >= size)
		return n;
	buffer[n++] = ' ';
	return n + wp_label_key(key, length, buffer + n, size - n);
}

gsize
wp_redis_request_label(const WpRedisRequest *request, char *buffer, gsize size)
{
	guint flags = request->command->flags;
	gboolean is_script = flags & WP_REDIS_SCRIPT;
	gsize n = add_word(&request->args[0], TRUE, buffer, 0, size);

	if (flags & WP_REDIS_SUBCOMMAND && request->n_read > 1 && n + 2 < size) {
		buffer[n++] = ' ';
		n = add_word(&request->args[1], !is_script, buffer, n, size);
	} else if (is_script && request->n_read > 1) {
		n = add_script(request, buffer, n, size);
	}
	buffer[n] = 0;
	if (request->key > 0)
		n = wp_redis_label_add_key(buffer, n, size, request->args[request->key].text,
					   request->args[request->key].length);
	return n;
}
