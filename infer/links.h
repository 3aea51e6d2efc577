/*
 * WpLinks: who caused whom. One entry per span of a WpSpans, in the same order. What an engine hands
 * out is a forest: no span is its own ancestor.
 */
#ifndef WP_INFER_LINKS_H
#define WP_INFER_LINKS_H

#include <glib.h>

#include "infer/resolve.h"

/* Why a link is what it is: a set of bits, printed as words joined by '+' (wp_evidence_text()). */
#define WP_EVIDENCE(X)                                                                             \
	X(ROOT, "root", "no call encloses it: a root")                                             \
	X(ONLY, "only", "one call alone encloses it")                                              \
	X(DELAY, "delay", "the likeliest of several by its delay")                                 \
	X(CONNECTION, "connection", "its connection lives inside one call")                        \
	X(HINTS, "hints", "hints of the user speak for it")                                        \
	X(MEASURED, "measured", "spans tell that it is so")                                        \
	X(IDS, "ids", "an identifier on the wire speaks for it")                                   \
	X(LABELS, "labels", "a label passed on speaks for it")                                     \
	X(SIZES, "sizes", "the sizes of both speak for it")                                        \
	X(STICKY, "sticky", "its connection goes with that of its parent")                         \
	X(TRANSACTION, "transaction", "its transaction lives inside one call")                     \
	X(POOL, "pool", "it had waited for a free connection")                                     \
	X(TOKENS, "tokens", "a value that both carry speaks for it")                               \
	X(AFTER, "after", "begins or ends after the reply of its parent")                          \
	X(PATH, "path", "with it two requests take frequent paths")                                \
	X(UNSEEN, "unseen", "its parent may lie outside the capture")                              \
	X(UNPAIRED, "unpaired", "no return, or one-way: not linked")                               \
	X(STOPPED, "stopped", "inference was stopped before its parent was found")                 \
	X(SETUP, "setup", "set-up of a connection")

typedef enum {
#define X(symbol, word, text) WP_EVIDENCE_BIT_##symbol,
	WP_EVIDENCE(X)
#undef X
	WP_N_EVIDENCE
} WpEvidenceBit;

enum {
#define X(symbol, word, text) WP_EVIDENCE_##symbol = 1 << WP_EVIDENCE_BIT_##symbol,
	WP_EVIDENCE(X)
#undef X
};

struct WpLink {
	guint32 parent;    /* span, or WP_NO_SPAN: root, or parent not seen */
	guint32 runner_up; /* the next best parent, or WP_NO_SPAN */
	float probability; /* of the parent, or of being a root; negative = the engine has none */
	guint32 n_candidates; /* parallelism: possible parents, whatever became of them */
	guint32 evidence;     /* WP_EVIDENCE_... */
};

/* How often the turns of a host are told again, each time by the answer before. */
#define WP_PACE_MAX_TAKES 12

/*
 * How a host works: by what clock (nesting-clock.h), how many messages or calls are worked at at a time (nesting-workers.h), and
 * whether what comes in stands in line for one thread (nesting-turns.h).
 */
typedef struct {
	double pace; /* 0: real time */
	guint32 processors;
	guint32 workers; /* each at one, in the order in which they come; 0: any number */
	gboolean
		serves_calls; /* WORKERS: do all of a call each; else they take messages from a queue */
	guint8 n_takes;       /* 0: nothing stands in line */
	guint8 takes
		[WP_PACE_MAX_TAKES]; /* how turns were told, one after the other: by so many neighbours on each side; 0: by the length of the line */
} WpPace;

struct WpLinks {
	WpLink *links;
	guint32 n;
	gboolean has_odds;      /* probabilities can be counted on: 90 % means 9 of 10 are right */
	gboolean is_calibrated; /* ... as seen on requests like these, dealt anew (calibrate.h) */
	guint64 n_joined; /* kinds of calls and delays that were not told apart, for want of room */
	float *path_odds; /* by span: of a root, how sure its path is; else -1; NULL = not known */
	/*
	 * Mistakes go together: a call under a wrong parent is there instead of another. So the odds of a whole request are the
	 * product of its links' probabilities to this power; 1 where nothing is known of it.
	 */
	double whole_power;
	/*
	 * By span: its parent, or WP_NO_SPAN, in an answer drawn by chance of all that are as likely. There may be cycles. Delays of
	 * the likeliest one are more regular than the true ones. NULL: none was drawn, or the likeliest is nearer to the truth.
	 */
	guint32 *drawn;
	/* By span: how long it has waited for a connection, where that could be told; 0: not, or not known. NULL: of none. */
	gint64 *waited_ns;
	WpPace *paces; /* by host; NULL: all go by real time, and wait for no worker */
	guint32 n_paces;
};

/* (transfer full) N links without parent, probability -1. */
WpLinks *wp_links_new(guint32 n);
void wp_links_free(WpLinks *links);

/* Takes the answers from before that RESOLVED knows; to be called before anything is mended. */
void wp_links_take_answered(WpLinks *links, const WpResolved *resolved);

/*
 * On shared addresses a parent is the right one only where the caller is: probabilities, and those of paths, fall by how
 * likely it is another. Of answers from before it is done already. Once, and last.
 */
void wp_links_doubt_owners(WpLinks *links, const WpResolved *resolved);

/*
 * Cuts every cycle at its earliest span, whose parent is then a later one (or itself); such a span
 * has no parent afterwards. Returns how many were cut. Only spans with equal times and a window for
 * clock skew can form cycles. Linear.
 */
guint32 wp_links_cut_cycles(WpLinks *links);

/* (transfer full) By span: the first of its path, itself where it has no parent. No cycles. Linear. */
guint32 *wp_links_roots(const WpLinks *links);

/* GCompareDataFunc of guint32, spans: by parent in DATA, WpLink by span; then in the order of their calls. */
int wp_links_compare_parents(gconstpointer a, gconstpointer b, gpointer data);

/*
 * Takes WP_EVIDENCE_ROOT for WP_EVIDENCE_UNSEEN where a call has no candidate, its host is called by
 * others, and a call into that host was open at the time whose other end is missing: its return was
 * not seen, or it began before the capture (a return without a call says so). "At the time" = within
 * the longest call into the host before.
 */
void wp_links_mark_unseen(WpLinks *links, const WpResolved *resolved);

/* Links that are those that spans tell of (capture/span-join.h) say so, and are sure. Last of all. */
void wp_links_mark_measured(WpLinks *links, const WpResolved *resolved);

/* "only+delay"; BUFFER of WP_EVIDENCE_TEXT_MAX bytes. */
#define WP_EVIDENCE_TEXT_MAX 256
const char *wp_evidence_text(guint32 evidence, char *buffer, gsize size);

/* Of the parents of all spans that have one: the share of them that is expected to be right. */
double wp_links_mean_probability(const WpLinks *links);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpLinks, wp_links_free)

#endif
