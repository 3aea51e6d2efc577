/*
 * What wirepath must know of a Redis command: where its first key stands, and whether it waits by
 * design, sets a connection up, or is answered in a way of its own. Adding one is a row in
 * redis-commands.c; a command without a row (of a module, or newer) is taken for one with its key at 1.
 */
#ifndef WP_CAPTURE_REDIS_COMMANDS_H
#define WP_CAPTURE_REDIS_COMMANDS_H

#include <glib.h>

enum {
	WP_REDIS_SUBCOMMAND = 1, /* a container: the label has its subcommand */
	WP_REDIS_SETUP = 2,      /* at the start of a connection: sets it up */
	WP_REDIS_WAITS = 4,      /* waits by design */
	WP_REDIS_BLOCK = 8,      /* waits where it has the option BLOCK; its key follows STREAMS */
	WP_REDIS_SCRIPT = 16,    /* script or its SHA1, number of keys, keys */
	WP_REDIS_SUBSCRIBE = 32, /* one confirmation per channel */
	WP_REDIS_UNSUBSCRIBE = 64,
	WP_REDIS_MONITOR = 128,
	WP_REDIS_SYNC = 256,  /* the connection becomes a replication link */
	WP_REDIS_LOGIN = 512, /* set-up wherever it stands; its arguments are secret */
	WP_REDIS_RESET = 1024 /* the connection is as new */
};

typedef struct {
	const char *name; /* upper case */
	guint8 key;       /* number of the argument that is the first key; 0 = none */
	guint16 flags;
} WpRedisCommand;

/* (transfer none) The command called NAME, in any case; never NULL. One that has no row has the name "". */
const WpRedisCommand *wp_redis_command_find(const char *name, gsize length);

#endif
