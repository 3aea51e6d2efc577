/*
 * What is at the front of memcached bytes: one request, one reply or part of one. Text form (with the
 * meta commands): memcached doc/protocol.txt; binary: "Memcache Binary Protocol" (protocol-binary).
 */
#ifndef WP_CAPTURE_MEMCACHED_H
#define WP_CAPTURE_MEMCACHED_H

#include <glib.h>

#include "capture/bytes.h"
#include "capture/decoder.h"

/* Whether and how a request is answered. */
typedef enum {
	WP_MEMCACHED_ANSWERED,
	WP_MEMCACHED_SILENT, /* never, or only where it fails: noreply, quiet stores */
	WP_MEMCACHED_PARTLY /* only where it has something (quiet gets): the next answered one ends it */
} WpMemcachedAnswer;

typedef struct {
	char command[20]; /* "get", also for its quiet and binary forms */
	const char *key;  /* the first (borrowed); NULL = none */
	gsize key_length;
	const guint8 *text; /* what tokens may be in (borrowed) */
	gsize text_length;
	WpMemcachedAnswer answer;
	gboolean is_noop; /* answered, and by nothing but its own reply */
	gboolean sets_up;
	gboolean watches; /* log lines follow its reply */
	guint32 tag;      /* what its reply will carry, hashed; 0 = nothing */
	gsize length;     /* with its data; may exceed the input */
} WpMemcachedRequest;

typedef enum {
	WP_MEMCACHED_LAST,  /* a reply, or the last part of one */
	WP_MEMCACHED_PART,  /* more parts of the same reply follow */
	WP_MEMCACHED_HIT,   /* a whole reply; to a quiet get as well as to any other */
	WP_MEMCACHED_QUIET, /* what only quiet requests are answered with */
	WP_MEMCACHED_LOG    /* to nothing: a line for a watcher */
} WpMemcachedPart;

typedef struct {
	WpMemcachedPart part;
	gboolean is_error;
	gboolean is_noop;    /* of mn, noop */
	gboolean is_refusal; /* not stored: may come of a silent request */
	guint32 tag;
	gsize length; /* with its data; may exceed the input */
} WpMemcachedReply;

/* Of data to store so many bytes must be there, for tokens. */
#define WP_MEMCACHED_DATA_LOOKED_AT 256

/* The first byte of binary requests and replies. */
#define WP_MEMCACHED_BINARY_REQUEST 0x80
#define WP_MEMCACHED_BINARY_REPLY   0x81

/* IS_CUT: nothing will follow the input; of data to store what is there will do. */
WpDecodeStatus wp_memcached_text_request(WpBytes in, gboolean is_cut,
					 WpMemcachedRequest *out_request);
WpDecodeStatus wp_memcached_text_reply(WpBytes in, WpMemcachedReply *out_reply);
WpDecodeStatus wp_memcached_binary_request(WpBytes in, gboolean is_cut,
					   WpMemcachedRequest *out_request);
WpDecodeStatus wp_memcached_binary_reply(WpBytes in, WpMemcachedReply *out_reply);

#endif
