/* A table of protocols, then a table of English words, which are looked for in camel case too. */
#include "report/pair-words.h"

#include <string.h>

#include "report/glob.h"

#define MAX_GLOBS 4

/* Protocols in which a trace that names none may be. */
#define ANY ""

typedef struct {
	const char *protocols[MAX_GLOBS]; /* ANY: also without protocol */
	const char *acquires[MAX_GLOBS];  /* globs on labels */
	const char *releases[MAX_GLOBS];
	gboolean keeps_rest; /* what * stands for is the same on both sides: a topic, a channel */
	WpPairThing thing;
} Row;

#define LOGIN(release_words, how)                                                                  \
	{                                                                                          \
		.name = "login", .plural = "logins", .release = release_words, .sort = how,        \
		.is_of_flow = TRUE, .is_single = TRUE, .ends_flow = TRUE                           \
	}
#define TRANSACTION(release_words)                                                                 \
	{                                                                                          \
		.name = "transaction", .plural = "transactions", .release = release_words,         \
		.sort = WP_PAIR_SHORT, .is_of_flow = TRUE, .is_single = TRUE                       \
	}
#define SUBSCRIPTION(release_words)                                                                \
	{                                                                                          \
		.name = "subscription", .plural = "subscriptions", .release = release_words,       \
		.sort = WP_PAIR_KEPT, .is_of_flow = TRUE                                           \
	}
#define LOCK(release_words)                                                                        \
	{                                                                                          \
		.name = "lock", .plural = "locks", .release = release_words,                       \
		.sort = WP_PAIR_UNSURE                                                             \
	}

/*
 * UNSURE: clients of MQTT, LDAP and AMQP often close the connection without a word; get_lock() and SET NX answer well
 * when somebody else has the lock; one UNLOCK of NLM and one CLOSE of NFS give back all that was locked or opened in a
 * file. PostgreSQL's PREPARE may be of the unnamed statement, which the next one replaces; MySQL's takes memory at the
 * server until CLOSE. UNLOCK TABLES is MySQL's: PostgreSQL's LOCK ends with its transaction.
 */
static const Row rows[] = {
	{ { "pgsql" },
	  { "(startup)" },
	  { "(terminate)" },
	  FALSE,
	  LOGIN("(terminate)", WP_PAIR_LOGIN) },
	{ { "mysql" }, { "(login)" }, { "(quit)" }, FALSE, LOGIN("(quit)", WP_PAIR_LOGIN) },
	{ { "tns" }, { "(connect)" }, { "(logoff)" }, FALSE, LOGIN("(logoff)", WP_PAIR_LOGIN) },
	{ { "mqtt" }, { "CONNECT" }, { "DISCONNECT" }, FALSE, LOGIN("DISCONNECT", WP_PAIR_UNSURE) },
	{ { "ldap" }, { "bind" }, { "unbind" }, FALSE, LOGIN("unbind", WP_PAIR_UNSURE) },
	{ { "amqp" },
	  { "connection.open" },
	  { "connection.close" },
	  FALSE,
	  LOGIN("connection.close", WP_PAIR_UNSURE) },
	{ { "amqp" },
	  { "channel.open" },
	  { "channel.close" },
	  FALSE,
	  { .name = "channel",
	    .plural = "channels",
	    .release = "channel.close",
	    .sort = WP_PAIR_UNSURE,
	    .is_of_flow = TRUE } },
	{ { "pgsql", "mysql", "tds", ANY },
	  { "BEGIN", "START TRANSACTION" },
	  { "COMMIT", "ROLLBACK" },
	  FALSE,
	  TRANSACTION("COMMIT or ROLLBACK") },
	{ { "redis" }, { "MULTI" }, { "EXEC", "DISCARD" }, FALSE, TRANSACTION("EXEC or DISCARD") },
	{ { "mysql" },
	  { "PREPARE *" },
	  { "CLOSE", "DEALLOCATE" },
	  FALSE,
	  { .name = "statement",
	    .plural = "statements",
	    .release = "CLOSE",
	    .sort = WP_PAIR_KEPT,
	    .is_of_flow = TRUE } },
	{ { "pgsql", ANY },
	  { "PREPARE *" },
	  { "CLOSE", "DEALLOCATE" },
	  FALSE,
	  { .name = "statement",
	    .plural = "statements",
	    .release = "CLOSE",
	    .sort = WP_PAIR_UNSURE,
	    .is_of_flow = TRUE } },
	{ { "mysql" },
	  { "LOCK *" },
	  { "UNLOCK TABLES" },
	  FALSE,
	  { .name = "table lock",
	    .plural = "table locks",
	    .release = "UNLOCK TABLES",
	    .sort = WP_PAIR_SHORT,
	    .is_of_flow = TRUE,
	    .is_single = TRUE } },
	{ { "mysql" },
	  { "SELECT get_lock()*" },
	  { "SELECT release_lock()*" },
	  TRUE,
	  LOCK("release_lock()") },
	{ { "pgsql" },
	  { "SELECT pg_advisory_lock()*" },
	  { "SELECT pg_advisory_unlock()*" },
	  TRUE,
	  { .name = "advisory lock",
	    .plural = "advisory locks",
	    .release = "pg_advisory_unlock()",
	    .sort = WP_PAIR_SHORT,
	    .is_of_flow = TRUE } },
	{ { "redis" }, { "SETNX *", "SET *lock*" }, { "DEL *lock*" }, FALSE, LOCK("DEL") },
	{ { "rpc" }, { "nlm.LOCK", "nlm.NM_LOCK" }, { "nlm.UNLOCK" }, FALSE, LOCK("nlm.UNLOCK") },
	{ { "rpc" },
	  { "nfs4.OPEN*" },
	  { "nfs4.CLOSE*" },
	  FALSE,
	  { .name = "open file",
	    .plural = "open files",
	    .release = "nfs4.CLOSE",
	    .sort = WP_PAIR_UNSURE } },
	{ { "redis", "mqtt" },
	  { "SUBSCRIBE *" },
	  { "UNSUBSCRIBE *" },
	  TRUE,
	  SUBSCRIPTION("UNSUBSCRIBE") },
	{ { "redis" },
	  { "PSUBSCRIBE *" },
	  { "PUNSUBSCRIBE *" },
	  TRUE,
	  SUBSCRIPTION("PUNSUBSCRIBE") },
	{ { "pgsql" }, { "LISTEN *" }, { "UNLISTEN *" }, TRUE, SUBSCRIPTION("UNLISTEN") },
	{ { "amqp" },
	  { "basic.consume*" },
	  { "basic.cancel" },
	  FALSE,
	  SUBSCRIPTION("basic.cancel") },
};

const WpPairThing wp_pair_connection = {
	.name = "connection",
	.plural = "connections",
	.release = "",
	.sort = WP_PAIR_UNSURE,
	.is_of_flow = TRUE,
};

/* Of these the table knows all that we know: words in them are names of tables, keys and topics. */
static const char *const closed[] = {
	"pgsql", "mysql", "tds",   "tns",  "cql",  "mongodb", "redis",     "memcached",
	"amqp",  "mqtt",  "kafka", "ldap", "smtp", "dns",     "websocket", "sse",
};

typedef struct {
	const char *acquires[MAX_GLOBS]; /* words, in lower case */
	const char *releases[MAX_GLOBS];
	WpPairThing thing;
} Words;

#define GUESS(one, many, words)                                                                    \
	{                                                                                          \
		.name = one, .plural = many, .release = words, .sort = WP_PAIR_SHORT,              \
		.is_guess = TRUE                                                                   \
	}

/* What says most stands first: "LockRelease" releases. Not login and logout, as users go without a word. */
static const Words words[] = {
	{ { "acquire" }, { "release" }, GUESS("resource", "resources", "release") },
	{ { "lock" }, { "unlock" }, GUESS("lock", "locks", "unlock") },
	{ { "begin" },
	  { "commit", "rollback", "abort" },
	  GUESS("transaction", "transactions", "commit or rollback") },
	{ { "allocate", "alloc" }, { "free", "deallocate" }, GUESS("piece", "pieces", "free") },
	{ { "borrow" }, { "return" }, GUESS("loan", "loans", "return") },
	{ { "open" }, { "close" }, GUESS("handle", "handles", "close") },
};

static gboolean
is_one_of(const char *const *texts, gsize n, const char *text, gsize length)
{
	for (gsize i = 0; i < n && texts[i]; i++)
		if (strlen(texts[i]) == length && g_ascii_strncasecmp(texts[i], text, length) == 0)
			return TRUE;
	return FALSE;
}

/* The glob that fits, or NULL. */
static const char *
find_glob(const char *const globs[MAX_GLOBS], const char *label)
{
	for (guint i = 0; i < MAX_GLOBS && globs[i]; i++)
		if (wp_glob_matches(globs[i], label))
			return globs[i];
	return NULL;
}

static gboolean
find_row(const char *protocol, const char *label, WpPairWord *out_word)
{
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		const Row *row = &rows[i];
		if (!is_one_of(row->protocols, MAX_GLOBS, protocol, strlen(protocol)))
			continue;
		const char *acquires = find_glob(row->acquires, label);
		const char *glob = acquires ? acquires : find_glob(row->releases, label);
		if (!glob)
			continue;
		gsize fixed = row->keeps_rest ? strcspn(glob, "*") : strlen(label);
		*out_word = (WpPairWord){ acquires ? WP_PAIR_ACQUIRE : WP_PAIR_RELEASE, &row->thing,
					  g_strdup(label + fixed) };
		return TRUE;
	}
	return FALSE;
}

/* The end of the word at TEXT: letters, where no capital follows a small one. */
static const char *
end_of_word(const char *text)
{
	const char *end = text;
	while (g_ascii_isalpha(*end) &&
	       !(end > text && g_ascii_isupper(*end) && g_ascii_islower(end[-1])))
		end++;
	return end;
}

/* One of KNOWN in LABEL; the stem is what stands before and behind it. */
static char *
find_word(const char *const known[MAX_GLOBS], const char *label)
{
	const char *end;
	for (const char *at = label; *at; at = end) {
		end = end_of_word(at);
		gsize length = (gsize)(end - at);
		if (length && is_one_of(known, MAX_GLOBS, at, length))
			return g_strdup_printf("%.*s*%s", (int)(at - label), label, end);
		end += !length;
	}
	return NULL;
}

WpPairWord
wp_pair_word(const char *protocol, const char *label)
{
	WpPairWord word = { 0 };
	if (!*label || find_row(protocol, label, &word) ||
	    is_one_of(closed, G_N_ELEMENTS(closed), protocol, strlen(protocol)))
		return word;
	for (gsize i = 0; i < G_N_ELEMENTS(words); i++) {
		char *stem = find_word(words[i].releases, label);
		gboolean releases = stem != NULL;
		if (!stem)
			stem = find_word(words[i].acquires, label);
		if (stem)
			return (WpPairWord){ releases ? WP_PAIR_RELEASE : WP_PAIR_ACQUIRE,
					     &words[i].thing, stem };
	}
	return word;
}
