/* The table of Redis commands, from the key specifications of redis.io/commands; sorted by name, '_' before
 * letters. */
#include "capture/redis-commands.h"

#include <stdlib.h>
#include <string.h>

#define SUB   WP_REDIS_SUBCOMMAND
#define SETUP WP_REDIS_SETUP
#define LOGIN (WP_REDIS_SETUP | WP_REDIS_LOGIN)
#define WAITS WP_REDIS_WAITS

static const WpRedisCommand commands[] = {
	{ "ACL", 0, SUB },
	{ "ASKING", 0, 0 },
	{ "AUTH", 0, LOGIN },
	{ "BGREWRITEAOF", 0, 0 },
	{ "BGSAVE", 0, 0 },
	{ "BITOP", 2, 0 },
	{ "BLMOVE", 1, WAITS },
	{ "BLMPOP", 3, WAITS },
	{ "BLPOP", 1, WAITS },
	{ "BRPOP", 1, WAITS },
	{ "BRPOPLPUSH", 1, WAITS },
	{ "BZMPOP", 3, WAITS },
	{ "BZPOPMAX", 1, WAITS },
	{ "BZPOPMIN", 1, WAITS },
	{ "CLIENT", 0, SUB | SETUP },
	{ "CLUSTER", 0, SUB | SETUP },
	{ "COMMAND", 0, SUB | SETUP },
	{ "CONFIG", 0, SUB },
	{ "DBSIZE", 0, 0 },
	{ "DEBUG", 0, SUB },
	{ "DISCARD", 0, 0 },
	{ "ECHO", 0, 0 },
	{ "EVAL", 3, WP_REDIS_SCRIPT },
	{ "EVAL_RO", 3, WP_REDIS_SCRIPT },
	{ "EVALSHA", 3, WP_REDIS_SCRIPT },
	{ "EVALSHA_RO", 3, WP_REDIS_SCRIPT },
	{ "EXEC", 0, 0 },
	{ "FAILOVER", 0, 0 },
	{ "FCALL", 3, WP_REDIS_SCRIPT | SUB },
	{ "FCALL_RO", 3, WP_REDIS_SCRIPT | SUB },
	{ "FLUSHALL", 0, 0 },
	{ "FLUSHDB", 0, 0 },
	{ "FUNCTION", 0, SUB },
	{ "HELLO", 0, LOGIN },
	{ "INFO", 0, 0 },
	{ "LASTSAVE", 0, 0 },
	{ "LATENCY", 0, SUB },
	{ "LMPOP", 2, 0 },
	{ "LOLWUT", 0, 0 },
	{ "MEMORY", 2, SUB },
	{ "MIGRATE", 3, 0 },
	{ "MODULE", 0, SUB },
	{ "MONITOR", 0, WP_REDIS_MONITOR },
	{ "MULTI", 0, 0 },
	{ "OBJECT", 2, SUB },
	{ "PING", 0, 0 },
	{ "PSUBSCRIBE", 1, WP_REDIS_SUBSCRIBE },
	{ "PSYNC", 0, WP_REDIS_SYNC },
	{ "PUBSUB", 0, SUB },
	{ "PUNSUBSCRIBE", 1, WP_REDIS_UNSUBSCRIBE },
	{ "QUIT", 0, 0 },
	{ "RANDOMKEY", 0, 0 },
	{ "READONLY", 0, SETUP },
	{ "READWRITE", 0, SETUP },
	{ "REPLCONF", 0, SUB | SETUP },
	{ "REPLICAOF", 0, 0 },
	{ "RESET", 0, WP_REDIS_RESET },
	{ "ROLE", 0, SETUP },
	{ "SAVE", 0, 0 },
	{ "SCAN", 0, 0 },
	{ "SCRIPT", 0, SUB },
	{ "SELECT", 0, SETUP },
	{ "SENTINEL", 0, SUB },
	{ "SHUTDOWN", 0, 0 },
	{ "SINTERCARD", 2, 0 },
	{ "SLAVEOF", 0, 0 },
	{ "SLOWLOG", 0, SUB },
	{ "SSUBSCRIBE", 1, WP_REDIS_SUBSCRIBE },
	{ "SUBSCRIBE", 1, WP_REDIS_SUBSCRIBE },
	{ "SUNSUBSCRIBE", 1, WP_REDIS_UNSUBSCRIBE },
	{ "SWAPDB", 0, 0 },
	{ "SYNC", 0, WP_REDIS_SYNC },
	{ "TIME", 0, 0 },
	{ "UNSUBSCRIBE", 1, WP_REDIS_UNSUBSCRIBE },
	{ "UNWATCH", 0, 0 },
	{ "WAIT", 0, WAITS },
	{ "WAITAOF", 0, WAITS },
	{ "XGROUP", 2, SUB },
	{ "XINFO", 2, SUB },
	{ "XREAD", 0, WP_REDIS_BLOCK },
	{ "XREADGROUP", 0, WP_REDIS_BLOCK },
	{ "ZDIFF", 2, 0 },
	{ "ZINTER", 2, 0 },
	{ "ZINTERCARD", 2, 0 },
	{ "ZMPOP", 2, 0 },
	{ "ZUNION", 2, 0 },
};

#undef SUB
#undef SETUP
#undef LOGIN
#undef WAITS

/* All that have no row. */
static const WpRedisCommand other = { "", 1, 0 };

typedef struct {
	const char *text;
	gsize length;
} Name;

static int
compare_name(const void *key, const void *row)
{
	const Name *name = key;
	const WpRedisCommand *command = row;
	int order = g_ascii_strncasecmp(name->text, command->name, name->length);
	gsize length = strlen(command->name);
	return order ? order : (name->length > length) - (name->length < length);
}

const WpRedisCommand *
wp_redis_command_find(const char *name, gsize length)
{
	Name key = { name, length };
	const WpRedisCommand *found =
		bsearch(&key, commands, G_N_ELEMENTS(commands), sizeof commands[0], compare_name);
	return found ? found : &other;
}
