/*
 * A command as Redis reads it: an array of bulk strings, or a line of words (inline). Only its first
 * arguments are read, as many as its label needs; the others may be long.
 */
#ifndef WP_CAPTURE_REDIS_REQUEST_H
#define WP_CAPTURE_REDIS_REQUEST_H

#include <glib.h>

#include "capture/bytes.h"
#include "capture/decoder.h"
#include "capture/redis-commands.h"

/* XREADGROUP GROUP g c COUNT n BLOCK ms NOACK STREAMS key: the longest way to a key. */
#define WP_REDIS_MAX_READ 11

typedef enum {
	WP_REDIS_REPLY_USUAL,
	WP_REDIS_REPLY_NONE, /* REPLCONF ACK */
	WP_REDIS_REPLY_ON,   /* CLIENT REPLY ... */
	WP_REDIS_REPLY_OFF,
	WP_REDIS_REPLY_SKIP
} WpRedisReplyMode;

/* Borrowed from the input; of a very long one only the front. */
typedef struct {
	const char *text;
	gsize length;
	gboolean is_whole;
} WpRedisArg;

typedef struct {
	const WpRedisCommand *command;
	WpRedisArg args[WP_REDIS_MAX_READ]; /* the command itself first */
	guint n_read;
	guint64 n_args; /* in all; 0: an empty line or array, which is no command */
	guint key;      /* number of the first key; 0 = none was read */
	gboolean waits;
	WpRedisReplyMode reply_mode;
	gsize length; /* of what was read; may exceed the input */
} WpRedisRequest;

/* IS_CUT: nothing will follow the input, the name of the command will do. */
WpDecodeStatus wp_redis_request_parse(WpBytes in, gboolean is_cut, WpRedisRequest *out_request);

/* "GET user:{}" to BUFFER; returns its length. */
gsize wp_redis_request_label(const WpRedisRequest *request, char *buffer, gsize size);

/* Puts a space and the template of KEY behind the N bytes of BUFFER; returns the length. */
gsize wp_redis_label_add_key(char *buffer, gsize n, gsize size, const char *key, gsize length);

#endif
