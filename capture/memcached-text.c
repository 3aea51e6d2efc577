/* The text protocol of memcached: lines, some with a block of data behind them. */
#include <stdlib.h>
#include <string.h>

#include "capture/memcached.h"

#define MAX_WORDS     16
#define MAX_DATA      (1024u * 1024 * 1024) /* memcached -I goes up to this */
#define KEY_MAX_BYTES 250

typedef struct {
	const char *text;
	gsize length;
} Word;

/* One line and its first words. */
typedef struct {
	Word words[MAX_WORDS];
	guint n_words; /* kept, at most MAX_WORDS */
	Word last;     /* the last of all */
	gsize length;  /* with the line end */
} Line;

typedef enum {
	PLAIN,     /* no key */
	KEYS,      /* "get key key ..." */
	GAT,       /* "gat time key key ..." */
	ONE_KEY,   /* "delete key [noreply]" */
	STORE,     /* "set key flags time bytes [cas] [noreply]", data */
	META,      /* "mg key flag flag ..." */
	META_STORE /* "ms key bytes flag ...", data */
} Form;

static const struct {
	const char *name;
	Form form;
} commands[] = {
	{ "get", KEYS },       { "set", STORE },         { "mg", META },
	{ "ms", META_STORE },  { "gets", KEYS },         { "add", STORE },
	{ "replace", STORE },  { "append", STORE },      { "prepend", STORE },
	{ "cas", STORE },      { "incr", ONE_KEY },      { "decr", ONE_KEY },
	{ "delete", ONE_KEY }, { "touch", ONE_KEY },     { "gat", GAT },
	{ "gats", GAT },       { "md", META },           { "ma", META },
	{ "mn", PLAIN },       { "me", ONE_KEY },        { "stats", PLAIN },
	{ "version", PLAIN },  { "flush_all", PLAIN },   { "verbosity", PLAIN },
	{ "quit", PLAIN },     { "config", PLAIN },      { "slabs", PLAIN },
	{ "lru", PLAIN },      { "lru_crawler", PLAIN }, { "cache_memlimit", PLAIN },
	{ "watch", PLAIN },    { "shutdown", PLAIN },    { "refresh_certs", PLAIN },
	{ "extstore", PLAIN }, { "misbehave", PLAIN },   { "debugtime", PLAIN },
};

static gboolean
word_is(Word word, const char *text)
{
	return word.length == strlen(text) && memcmp(word.text, text, word.length) == 0;
}

static gboolean
word_starts(Word word, const char *text)
{
	return word.length >= strlen(text) && memcmp(word.text, text, strlen(text)) == 0;
}

static gboolean
word_number(Word word, guint64 *out_number)
{
	guint64 number = 0;
	if (word.length == 0 || word.length > 20)
		return FALSE;
	for (gsize i = 0; i < word.length; i++) {
		if (!g_ascii_isdigit(word.text[i]))
			return FALSE;
		number = number * 10 + (guint64)(word.text[i] - '0');
	}
	*out_number = number;
	return TRUE;
}

/* Times may be negative. */
static gboolean
word_is_time(Word word)
{
	guint64 number;
	if (word.length > 1 && word.text[0] == '-')
		word = (Word){ word.text + 1, word.length - 1 };
	return word_number(word, &number);
}

/* FNV-1a, never 0. */
static guint32
hash_word(const char *text, gsize length)
{
	guint32 hash = 0x811c9dc5;
	for (gsize i = 0; i < length; i++)
		hash = (hash ^ (guint8)text[i]) * 0x01000193;
	return (hash & 0xffffff) | 1;
}

static void
split_line(const char *text, gsize length, Line *out)
{
	memset(out, 0, sizeof *out);
	for (gsize i = 0; i < length;) {
		gsize start = i;
		while (i < length && text[i] != ' ')
			i++;
		if (i > start) {
			out->last = (Word){ text + start, i - start };
			if (out->n_words < MAX_WORDS)
				out->words[out->n_words++] = out->last;
		}
		i++;
	}
}

/* The line at the front; the words of one that is not complete, for a first look. */
static WpDecodeStatus
read_line(WpBytes in, Line *out)
{
	const char *text = (const char *)in.data;
	gssize end = wp_bytes_find(&in, '\n', in.length);
	gsize length = end < 0 ? in.length : (gsize)end;
	for (gsize i = 0; i < MIN(length, 16); i++)
		if ((guint8)text[i] < 0x20 && text[i] != '\r')
			return WP_DECODE_BAD;
	if (length > 0 && text[length - 1] == '\r')
		length--;
	split_line(text, length, out);
	out->length = (gsize)end + 1;
	return end < 0 ? WP_DECODE_MORE : WP_DECODE_OK;
}

/* The row of a command; -1 = none. A PREFIX is enough while the line goes on. */
static int
find_command(Word word, gboolean prefix)
{
	for (guint i = 0; i < G_N_ELEMENTS(commands); i++)
		if (word_is(word, commands[i].name) ||
		    (prefix && strncmp(commands[i].name, word.text, word.length) == 0))
			return (int)i;
	return -1;
}

/* Behind the line come SIZE bytes of data and a line end; the front of the data must be there. */
static WpDecodeStatus
add_data(WpBytes in, gboolean is_cut, guint64 size, WpMemcachedRequest *request)
{
	if (size > MAX_DATA)
		return WP_DECODE_BAD;
	gsize line = request->length;
	gsize looked_at = MIN(size, WP_MEMCACHED_DATA_LOOKED_AT);
	if (in.length < line + looked_at && !is_cut)
		return WP_DECODE_MORE;
	request->length += size + 2;
	if (in.length >= request->length && memcmp(in.data + request->length - 2, "\r\n", 2) != 0)
		return WP_DECODE_BAD;
	/* The key, the rest of the line, the front of the data. */
	request->text_length = MIN(in.length, line + looked_at) - (gsize)(request->text - in.data);
	return WP_DECODE_OK;
}

static WpDecodeStatus
read_store(WpBytes in, gboolean is_cut, const Line *line, WpMemcachedRequest *request)
{
	guint64 number, size;
	if (line->n_words < 5 || !word_number(line->words[2], &number) ||
	    !word_is_time(line->words[3]) || !word_number(line->words[4], &size))
		return WP_DECODE_BAD;
	if (word_is(line->last, "noreply"))
		request->answer = WP_MEMCACHED_SILENT;
	return add_data(in, is_cut, size, request);
}

/* Flags of meta commands: a letter and, with some, a word. */
static void
read_meta_flags(const Line *line, guint first, WpMemcachedRequest *request)
{
	gboolean is_get = word_is(line->words[0], "mg");
	gboolean quiet = FALSE, shows_key = FALSE;
	Word opaque = { NULL, 0 };
	for (guint i = first; i < line->n_words; i++) {
		Word flag = line->words[i];
		quiet |= word_is(flag, "q");
		shows_key |= word_is(flag, "k");
		if (flag.text[0] == 'O')
			opaque = flag;
	}
	if (quiet)
		request->answer = is_get ? WP_MEMCACHED_PARTLY : WP_MEMCACHED_SILENT;
	if (opaque.text)
		request->tag = hash_word(opaque.text, opaque.length);
	else if (shows_key)
		request->tag = hash_word(request->key, request->key_length);
}

static WpDecodeStatus
read_meta_store(WpBytes in, gboolean is_cut, const Line *line, WpMemcachedRequest *request)
{
	guint64 size;
	if (line->n_words < 3)
		return WP_DECODE_BAD;
	Word bytes = line->words[2];
	if (bytes.text[0] == 'S') /* as the first versions had it */
		bytes = (Word){ bytes.text + 1, bytes.length - 1 };
	if (!word_number(bytes, &size))
		return WP_DECODE_BAD;
	read_meta_flags(line, 3, request);
	return add_data(in, is_cut, size, request);
}

static void
read_plain(const Line *line, WpMemcachedRequest *request)
{
	request->is_noop = word_is(line->words[0], "mn");
	request->watches = word_is(line->words[0], "watch");
	if (word_is(line->words[0], "quit") || word_is(line->words[0], "shutdown") ||
	    (line->n_words > 1 && word_is(line->last, "noreply")))
		request->answer = WP_MEMCACHED_SILENT;
}

static WpDecodeStatus
read_command(WpBytes in, gboolean is_cut, const Line *line, Form form, WpMemcachedRequest *request)
{
	guint at = form == PLAIN ? 0 : form == GAT ? 2 : 1;
	if (line->n_words <= at)
		return WP_DECODE_BAD;
	if (at > 0) {
		request->key = line->words[at].text;
		request->key_length = line->words[at].length;
		if (request->key_length > KEY_MAX_BYTES)
			return WP_DECODE_BAD;
		request->text = (const guint8 *)request->key;
		request->text_length = request->length - (gsize)(request->text - in.data);
	}
	switch (form) {
	case PLAIN:
		read_plain(line, request);
		break;
	case ONE_KEY:
		if (line->n_words > 2 && word_is(line->last, "noreply"))
			request->answer = WP_MEMCACHED_SILENT;
		break;
	case STORE:
		return read_store(in, is_cut, line, request);
	case META:
		read_meta_flags(line, 2, request);
		break;
	case META_STORE:
		return read_meta_store(in, is_cut, line, request);
	case KEYS:
	case GAT:
		break;
	}
	return WP_DECODE_OK;
}

/*
 * A line whose end the capture has cut off: a call as far as it was seen. Where "noreply" or "q" may be
 * among what is missing, no return is expected of it.
 */
static WpDecodeStatus
read_cut_command(WpBytes in, const Line *line, Form form, WpMemcachedRequest *request)
{
	guint at = form == GAT ? 2 : 1;
	if (form == PLAIN || line->n_words <= at)
		return WP_DECODE_MORE;
	request->key = line->words[at].text;
	request->key_length = MIN(line->words[at].length, KEY_MAX_BYTES);
	request->text = (const guint8 *)request->key;
	request->text_length = request->key_length;
	request->length = in.length;
	if (form != KEYS && form != GAT)
		request->answer = WP_MEMCACHED_SILENT;
	return WP_DECODE_OK;
}

WpDecodeStatus
wp_memcached_text_request(WpBytes in, gboolean is_cut, WpMemcachedRequest *out_request)
{
	Line line;
	WpMemcachedRequest request = { 0 };
	WpDecodeStatus status = read_line(in, &line);
	if (status == WP_DECODE_BAD || (status == WP_DECODE_OK && line.n_words == 0))
		return WP_DECODE_BAD;
	if (line.n_words == 0)
		return WP_DECODE_MORE;
	gboolean partial = status == WP_DECODE_MORE && line.n_words == 1;
	int row = find_command(line.words[0], partial);
	if (row < 0)
		return WP_DECODE_BAD;
	if (status == WP_DECODE_MORE && !is_cut)
		return WP_DECODE_MORE;
	request.length = line.length;
	g_strlcpy(request.command, commands[row].name, sizeof request.command);
	status = status == WP_DECODE_MORE
			 ? read_cut_command(in, &line, commands[row].form, &request)
			 : read_command(in, is_cut, &line, commands[row].form, &request);
	if (status == WP_DECODE_OK)
		*out_request = request;
	return status;
}

/* --- replies --- */

/* The flags of a meta reply that tell whose it is. */
static guint32
reply_tag(const Line *line, guint first)
{
	guint32 tag = 0;
	for (guint i = first; i < line->n_words; i++) {
		Word flag = line->words[i];
		if (flag.text[0] == 'O')
			return hash_word(flag.text, flag.length);
		if (flag.text[0] == 'k')
			tag = hash_word(flag.text + 1, flag.length - 1);
	}
	return tag;
}

typedef enum {
	REPLY_LAST,
	REPLY_PART,
	REPLY_VALUE,      /* "VALUE key flags bytes [cas]", data: a part */
	REPLY_META,       /* "HD flags" */
	REPLY_META_VALUE, /* "VA bytes flags", data */
	REPLY_REFUSAL,    /* nothing was stored */
	REPLY_NOOP,
	REPLY_ERROR
} ReplyForm;

static const struct {
	const char *name;
	ReplyForm form;
} replies[] = {
	{ "VALUE", REPLY_VALUE },
	{ "END", REPLY_LAST },
	{ "STORED", REPLY_LAST },
	{ "HD", REPLY_META },
	{ "VA", REPLY_META_VALUE },
	{ "EN", REPLY_LAST },
	{ "NF", REPLY_REFUSAL },
	{ "NS", REPLY_REFUSAL },
	{ "EX", REPLY_REFUSAL },
	{ "MN", REPLY_NOOP },
	{ "ME", REPLY_LAST },
	{ "NOT_STORED", REPLY_LAST },
	{ "EXISTS", REPLY_LAST },
	{ "NOT_FOUND", REPLY_LAST },
	{ "DELETED", REPLY_LAST },
	{ "TOUCHED", REPLY_LAST },
	{ "OK", REPLY_LAST },
	{ "VERSION", REPLY_LAST },
	{ "ERROR", REPLY_ERROR },
	{ "CLIENT_ERROR", REPLY_ERROR },
	{ "SERVER_ERROR", REPLY_ERROR },
	{ "STAT", REPLY_PART },
	{ "ITEM", REPLY_PART },
	{ "PREFIX", REPLY_PART },
	{ "CONFIG", REPLY_VALUE },
	{ "RESET", REPLY_LAST },
	{ "BUSY", REPLY_LAST },
	{ "BADCLASS", REPLY_LAST },
	{ "NOSPARE", REPLY_LAST },
	{ "NOTFULL", REPLY_LAST },
	{ "UNSAFE", REPLY_LAST },
	{ "SAME", REPLY_LAST },
	{ "mg", REPLY_PART },
};

static int
find_reply(Word word, gboolean prefix)
{
	for (guint i = 0; i < G_N_ELEMENTS(replies); i++)
		if (word_is(word, replies[i].name) ||
		    (prefix && strncmp(replies[i].name, word.text, word.length) == 0))
			return (int)i;
	return -1;
}

static WpDecodeStatus
reply_data(WpBytes in, const Line *line, guint at, WpMemcachedReply *reply)
{
	guint64 size;
	if (line->n_words <= at || !word_number(line->words[at], &size) || size > MAX_DATA)
		return WP_DECODE_BAD;
	reply->length += size + 2;
	if (in.length >= reply->length && memcmp(in.data + reply->length - 2, "\r\n", 2) != 0)
		return WP_DECODE_BAD;
	return WP_DECODE_OK;
}

static WpDecodeStatus
read_reply(WpBytes in, const Line *line, ReplyForm form, WpMemcachedReply *reply)
{
	switch (form) {
	case REPLY_LAST:
		break;
	case REPLY_PART:
		reply->part = WP_MEMCACHED_PART;
		break;
	case REPLY_VALUE:
		reply->part = WP_MEMCACHED_PART;
		return reply_data(in, line, 3, reply);
	case REPLY_META_VALUE:
		reply->part = WP_MEMCACHED_HIT;
		reply->tag = reply_tag(line, 2);
		return reply_data(in, line, 1, reply);
	case REPLY_REFUSAL:
		reply->is_refusal = TRUE;
		/* fall through */
	case REPLY_META:
		reply->part = WP_MEMCACHED_HIT;
		reply->tag = reply_tag(line, 1);
		break;
	case REPLY_NOOP:
		reply->is_noop = TRUE;
		break;
	case REPLY_ERROR:
		reply->is_error = reply->is_refusal = TRUE;
		break;
	}
	return WP_DECODE_OK;
}

/* Lines that begin with no fixed word: a number (incr), "key=..." (dumps), "ts=..." (watch). */
static WpDecodeStatus
read_odd_reply(const Line *line, gboolean is_whole, WpMemcachedReply *reply)
{
	guint64 number;
	Word word = line->words[0];
	if (line->n_words == 1 && word_number(word, &number)) {
		reply->part = WP_MEMCACHED_LAST;
	} else if (word_starts(word, "key=")) {
		reply->part = WP_MEMCACHED_PART;
	} else if (word_starts(word, "ts=")) {
		reply->part = WP_MEMCACHED_LOG;
	} else if (!is_whole && (strncmp("key=", word.text, MIN(word.length, 4)) == 0 ||
				 strncmp("ts=", word.text, MIN(word.length, 3)) == 0)) {
		return WP_DECODE_MORE;
	} else {
		return WP_DECODE_BAD;
	}
	return is_whole ? WP_DECODE_OK : WP_DECODE_MORE;
}

WpDecodeStatus
wp_memcached_text_reply(WpBytes in, WpMemcachedReply *out_reply)
{
	Line line;
	WpMemcachedReply reply = { 0 };
	WpDecodeStatus status = read_line(in, &line);
	gboolean is_whole = status == WP_DECODE_OK;
	if (status == WP_DECODE_BAD || (is_whole && line.n_words == 0))
		return WP_DECODE_BAD;
	if (line.n_words == 0)
		return WP_DECODE_MORE;
	reply.length = line.length;
	int row = find_reply(line.words[0], !is_whole && line.n_words == 1);
	if (row < 0)
		status = read_odd_reply(&line, is_whole, &reply);
	else if (is_whole)
		status = read_reply(in, &line, replies[row].form, &reply);
	if (status == WP_DECODE_OK)
		*out_reply = reply;
	return status;
}
