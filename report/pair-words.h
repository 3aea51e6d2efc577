/*
 * Which calls acquire something that is to be given back, and which give it back, by their labels:
 *
 *   pgsql  BEGIN            ...  COMMIT            a transaction
 *   mysql  (login)          ...  (quit)            a login
 *   grpc   Locks/Acquire    ...  Locks/Release     whatever this is: the words acquire and release, the rest being equal
 *
 * Of protocols that we know, a table says so; of others, words that mean it in English.
 */
#ifndef WP_REPORT_PAIR_WORDS_H
#define WP_REPORT_PAIR_WORDS_H

#include <glib.h>

typedef enum {
	WP_PAIR_NONE,
	WP_PAIR_ACQUIRE,
	WP_PAIR_RELEASE
} WpPairSide;

/* How long it is meant to be held, which decides what a leak is. */
typedef enum {
	WP_PAIR_SHORT, /* transactions, locks: soon given back */
	WP_PAIR_LOGIN, /* kept while it is of use */
	WP_PAIR_KEPT,  /* statements, subscriptions: often for good, but acquired once */
	WP_PAIR_UNSURE /* labels do not tell whether a call acquired it, or gave all of it back */
} WpPairSort;

/* What is acquired. */
typedef struct {
	const char *name; /* "transaction", "transactions" */
	const char *plural;
	const char *release; /* what gives it back, for people */
	WpPairSort sort;
	gboolean is_of_flow; /* it ends with the connection over which it was acquired */
	gboolean is_single;  /* ... which has one at a time */
	gboolean ends_flow;  /* giving it back ends the connection */
	gboolean is_guess;   /* by words, not by a protocol that we know */
} WpPairThing;

typedef struct {
	WpPairSide side;
	const WpPairThing *thing;
	char *stem; /* (transfer full) both sides have the same; NULL with WP_PAIR_NONE */
} WpPairWord;

/* A connection whose end leaves no record. */
extern const WpPairThing wp_pair_connection;

/* What a call with LABEL ("" = none) of PROTOCOL ("" = not known) does. */
WpPairWord wp_pair_word(const char *protocol, const char *label);

#endif
