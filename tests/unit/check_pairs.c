/* What labels acquire and give back; and what is held, for how long, by whom, and lost, in small traces. */
#include "report/pairs.h"

#include <string.h>

#include "report/analysis.h"
#include "tests/support/suite.h"
#include "tests/support/tree.h"

START_TEST(labels_acquire_and_give_back)
{
	static const struct {
		const char *protocol, *label, *means; /* "+lock:stem", "-lock:stem"; "" = neither */
	} rows[] = {
		{ "pgsql", "BEGIN", "+transaction:" },
		{ "mysql", "START TRANSACTION", "+transaction:" },
		{ "tds", "COMMIT", "-transaction:" },
		{ "", "ROLLBACK", "-transaction:" },
		{ "pgsql", "BEGIN; ...", "" },
		{ "redis", "MULTI", "+transaction:" },
		{ "redis", "DISCARD", "-transaction:" },
		{ "pgsql", "(startup)", "+login:" },
		{ "mysql", "(quit)", "-login:" },
		{ "mysql", "(greeting)", "" },
		{ "ldap", "bind", "+login:" },
		{ "mqtt", "SUBSCRIBE order/+/{}", "+subscription:order/+/{}" },
		{ "mqtt", "UNSUBSCRIBE order/+/{}", "-subscription:order/+/{}" },
		{ "redis", "PSUBSCRIBE news.*", "+subscription:news.*" },
		{ "pgsql", "LISTEN orders", "+subscription:orders" },
		{ "amqp", "basic.consume sent", "+subscription:" },
		{ "amqp", "basic.cancel", "-subscription:" },
		{ "amqp", "channel.open", "+channel:" },
		{ "mysql", "PREPARE SELECT a", "+statement:" },
		{ "pgsql", "DEALLOCATE", "-statement:" },
		{ "cql", "PREPARE SELECT a", "" },
		{ "mysql", "LOCK items", "+table lock:" },
		{ "mysql", "UNLOCK TABLES", "-table lock:" },
		{ "pgsql", "LOCK items", "" },
		{ "mysql", "SELECT get_lock()", "+lock:" },
		{ "pgsql", "SELECT pg_advisory_unlock()", "-advisory lock:" },
		{ "redis", "SET price:{}", "" },
		{ "redis", "SET lock:{}", "+lock:" },
		{ "redis", "DEL lock:{}", "-lock:" },
		{ "redis", "DEL cart:{}", "" },
		{ "rpc", "nlm.UNLOCK", "-lock:" },
		{ "rpc", "nfs4.OPEN", "+open file:" },

		/* Words, of protocols that nobody has written down */
		{ "http2", "shop.v1.Locks/Acquire", "+resource:shop.v1.Locks/*" },
		{ "http2", "shop.v1.Locks/Release", "-resource:shop.v1.Locks/*" },
		{ "", "LOCK stock", "+lock:* stock" },
		{ "", "UNLOCK stock", "-lock:* stock" },
		{ "thrift", "lockRelease", "-resource:lock*" },
		{ "thrift", "openSession", "+handle:*Session" },
		{ "thrift", "closeSession", "-handle:*Session" },
		{ "http", "POST /tx/rollback", "-transaction:POST /tx/*" },
		{ "http", "GET /opening", "" },
		{ "http", "GET /blocks", "" },
		{ "http", "", "" },
		/* Names of tables and keys are not meant */
		{ "pgsql", "SELECT release", "" },
		{ "memcached", "get open:{}", "" },
		{ "kafka", "Fetch open", "" },
	};
	WpPairWord word = wp_pair_word(rows[_i].protocol, rows[_i].label);
	g_autofree char *means =
		word.side ? g_strdup_printf("%c%s:%s", word.side == WP_PAIR_ACQUIRE ? '+' : '-',
					    word.thing->name, word.stem)
			  : g_strdup("");
	ck_assert_str_eq(means, rows[_i].means);
	g_free(word.stem);
}
END_TEST

/* (transfer full) "db transaction 3+2 given 1 ended 1 unknown held 2 lost 1, 40..60 us; web x3 -1" */
static char *
summary(const WpPairs *pairs)
{
	GString *text = g_string_new(NULL);
	for (guint i = 0; i < pairs->kinds->len; i++) {
		const WpPairsKind *kind = wp_pairs_kind(pairs, i);
		g_string_append_printf(text, "%s%s %s: %u", i ? " | " : "", kind->node,
				       kind->thing->name, (guint)kind->n_acquired);
		const struct {
			const char *name;
			guint64 n;
		} counts[] = {
			{ "given", kind->n_released }, { "ended", kind->n_ended },
			{ "unseen", kind->n_unknown }, { "failed", kind->n_failed },
			{ "held", kind->n_held },      { "lost", kind->n_lost },
			{ "uses", kind->n_uses },
		};
		for (guint k = 0; k < G_N_ELEMENTS(counts); k++)
			if (counts[k].n)
				g_string_append_printf(text, ", %s %u", counts[k].name,
						       (guint)counts[k].n);
		if (wp_delay_count(kind->held))
			g_string_append_printf(text, ", %u..%u us",
					       (guint)(wp_delay_min_ns(kind->held) / 1000),
					       (guint)(wp_delay_max_ns(kind->held) / 1000));
		for (guint k = 0; k < kind->chains->len; k++) {
			const WpPairsChain *chain = &g_array_index(kind->chains, WpPairsChain, k);
			g_string_append_printf(text, "; %s %u-%u", chain->text,
					       (guint)chain->n_acquired, (guint)chain->n_lost);
		}
	}
	return g_string_free(text, FALSE);
}

/*
 *   web  |- BEGIN - SELECT ------ COMMIT -|        held: from the return of BEGIN to COMMIT
 */
START_TEST(what_is_held_is_followed)
{
	static const struct {
		const char *trees, *expected;
	} rows[] = {
		{ "c>web/p[0-100](db/BEGIN@3[10-20],db/COMMIT@3[60-70])",
		  "db transaction: 1, given 1, 40..40 us; c → web p 1-0" },
		/* Calls over its connection are its uses, others are not. */
		{ "c>web/p[0-100](db/BEGIN@3[10-20],db/x@3[30-40],db/y@4[42-44],"
		  "db/ROLLBACK@3[60-70])",
		  "db transaction: 1, given 1, uses 1, 40..40 us; c → web p 1-0" },
		/* Two connections at a time */
		{ "c>web/p[0-100](db/BEGIN@3[10-20],db/COMMIT@3[60-70]) "
		  "c>web/p[5-200](db/BEGIN@4[15-25],db/COMMIT@4[125-135])",
		  "db transaction: 2, given 2, 40..100 us; c → web p 2-0" },
		/* BEGIN where one is open: that one is lost. */
		{ "c>web/p[0-100](db/BEGIN@3[10-20]) "
		  "c>web/q[200-300](db/BEGIN@3[210-220],db/COMMIT@3[260-270])",
		  "db transaction: 2, given 1, lost 1, 40..40 us; c → web p 1-1; c → web q 1-0" },
		/* ... and where it is never given back while the connection serves others. */
		{ "c>web/p[0-100](db/BEGIN@3[10-20]) c>web/q[200-300](db/x@3[210-220]) "
		  "c>web/q[1000-1100](db/x@3[1010-1020])",
		  "db transaction: 1, held 1, lost 1, uses 2; c → web p 1-1" },
		/* Its connection serves nobody: perhaps it has ended. */
		{ "c>web/p[0-100](db/BEGIN@3[10-20]) c>web/q[1000-1100](db/x@4[1010-1020])",
		  "db transaction: 1, held 1; c → web p 1-0" },
		/* It has just begun. */
		{ "c>web/q[0-900](db/x@3[10-20]) c>web/p[1000-1100](db/BEGIN@3[1010-1020],"
		  "db/x@3[1030-1040])",
		  "db transaction: 1, held 1, uses 1; c → web p 1-0" },
		/* Who acquires at once and fails has nothing; who is not answered, perhaps. */
		{ "c>web/p[0-100](db/BEGIN@3[10-20]!) c>web/p[200-300](db/BEGIN@4[210-])",
		  "db transaction: 0, failed 2" },
		{ "c>web/p[0-100](db/COMMIT@3[10-20])", "db transaction: 0, unseen 1" },

		/* Without flow by caller and callee: each request gives back its own. */
		{ "c>web/p=+1111[0-100](l/LOCK-a=+1111[10-20],l/UNLOCK-a=+1111[60-70]) "
		  "c>web/p=+2222[5-200](l/LOCK-a=+2222[25-30],l/UNLOCK-a=+2222[130-140])",
		  "l lock: 2, given 2, 40..100 us; c → web p 2-0" },
		/* Other names are other locks, other callers have their own. */
		{ "c>web/p[0-100](l/LOCK-a[10-20],l/UNLOCK-b[60-70])",
		  "l lock: 1, held 1, lost 1; c → web p 1-1 | l lock: 0, unseen 1" },
		{ "c>web/p[0-100](l/LOCK-a[10-20]) c>app/p[200-300](l/UNLOCK-a[210-220])",
		  "l lock: 1, unseen 1, held 1, lost 1; c → web p 1-1" },
		/* Another request of the same caller gives back what was acquired last. */
		{ "c>web/p[0-100](l/LOCK-a[10-20]) c>web/p[200-300](l/LOCK-a[210-220]) "
		  "c>web/q[400-500](l/UNLOCK-a[410-420]) c>web/q[2000-2100]",
		  "l lock: 2, given 1, held 1, lost 1, 190..190 us; c → web p 2-1" },
		/* Nothing to give back */
		{ "c>web/p[0-100](db/PREPARE@3[10-20]) c>web/p[200-300](db/x@3[210-220])", "" },
	};
	g_autoptr(WpTree) tree = wp_tree_new(rows[_i].trees);
	WpAnalysisOptions options = { 0 };
	WpOptions *parser = wp_options_new();
	wp_analysis_declare(parser, &options, TRUE);
	g_auto(WpLoadOutcome) outcome = { 0 };
	GError *error = NULL;
	WpAnalysis *analysis = wp_analysis_new(tree->trace, &options, TRUE, NULL, &outcome, &error);
	ck_assert_ptr_nonnull(analysis);
	g_autoptr(WpPairsMaker) maker = wp_pairs_maker_new();
	wp_pairs_maker_add(maker, analysis);
	wp_pairs_maker_finish(maker);
	g_autofree char *text = summary(wp_pairs_maker_pairs(maker));
	ck_assert_str_eq(text, rows[_i].expected);
	wp_analysis_free(analysis);
	wp_options_free(parser);
	wp_analysis_options_clear(&options);
}
END_TEST

WP_SUITE_OF_ROWS("pairs", { labels_acquire_and_give_back, 46 }, { what_is_held_is_followed, 14 })
