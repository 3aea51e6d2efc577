/* Shared by truth.c, found.c, accuracy.c, accuracy-match.c and accuracy-pattern.c. */
#ifndef WP_INFER_ACCURACY_PRIVATE_H
#define WP_INFER_ACCURACY_PRIVATE_H

#include "infer/accuracy.h"
#include "infer/map.h"

#define WP_NO_CALL G_MAXUINT32

/* Parent of a call that names one which is not there. */
#define WP_UNKNOWN_CALL (G_MAXUINT32 - 1)

/* The clocks on which a truth may know the time of a call: the mirror's, the caller's, the callee's. */
#define WP_TRUTH_N_CLOCKS 3

/* A row of the truth. */
typedef struct {
	guint32 id;                        /* string */
	guint32 parent;                    /* row, WP_NO_CALL or WP_UNKNOWN_CALL */
	gint64 call_ns[WP_TRUTH_N_CLOCKS]; /* those without an own time repeat the first */
	gint64 return_ns;                  /* or WP_NO_TIME */
	guint32 flow;                      /* string: its 4-tuple */
	guint32 caller;                    /* string: address */
	guint32 callee;                    /* string: address */
	guint32 callee_port;               /* string: address and port */
	gboolean dont_care;                /* set-up */
	gboolean is_root_before; /* don't care because its parent lies before the capture */
} WpTruthRow;

struct WpTruth {
	WpStrings *strings;
	GArray *rows; /* WpTruthRow */
	gboolean is_wire;
	guint n_clocks;
};

/* An inferred call. */
typedef struct {
	guint32 id;     /* string */
	guint32 parent; /* call or WP_NO_CALL */
	gint64 call_ns;
	gint64 return_ns;
	guint32 flow;        /* string */
	guint32 caller;      /* string: name of the node */
	guint32 callee;      /* string */
	guint32 caller_host; /* string: address, or name where there is none */
	guint32 callee_host; /* string */
	float confidence;    /* negative = none */
	gboolean is_unseen;  /* it has a parent that is not among the calls: it begins no path */
	gboolean has_hole;   /* a call that it made was lost (holes.h): */
	gint64 self_ns;      /* ... then its self time, as far as can be told */
} WpFoundCall;

struct WpFound {
	WpStrings *strings;
	GArray *calls;     /* WpFoundCall */
	GArray *by_number; /* guint32: of a trace in parts the call of a span, or WP_NO_CALL */
};

/* The string of a 4-tuple, in STRINGS. */
guint32 wp_accuracy_flow(WpStrings *strings, const char *src_ip, const char *src_port,
			 const char *dst_ip, const char *dst_port);

/* Truth and calls, matched. Fields with an entry per row or per call. */
typedef struct {
	const WpTruth *truth;
	const WpFound *found;
	const WpTruthRow *rows;
	const WpFoundCall *calls;
	guint32 n_rows;
	guint32 n_calls;
	guint32 *call_of_row; /* or WP_NO_CALL */
	guint32 *row_of_call; /* or WP_NO_CALL */
	guint32 *root_of_row; /* row; WP_NO_CALL: don't care, or below a row that is */
	/*
	 * Parent of a call once don't-care calls are taken out (their children move up); WP_NO_CALL also
	 * for those taken out.
	 */
	guint32 *parent_of_call;
	gboolean *is_out; /* the call was taken out */
	WpStrings *names; /* of nodes: strings of the next four */
	guint32 *caller_of_row;
	guint32 *callee_of_row;
	guint32 *caller_of_call;
	guint32 *callee_of_call;
} WpMatched;

void wp_matched_init(WpMatched *matched, const WpTruth *truth, const WpFound *found,
		     gint64 tolerance_ns);
void wp_matched_clear(WpMatched *matched);

/* (transfer full) The topmost of the chain from each of N; WP_NO_CALL where it leads into a cycle. */
guint32 *wp_accuracy_find_roots(const guint32 *parents, guint32 n);

/* Fills what there is about patterns. */
void wp_accuracy_measure_patterns(const WpMatched *matched, guint32 max_top, WpAccuracy *accuracy);

static inline gboolean
wp_matched_is_dont_care(const WpMatched *matched, guint32 call)
{
	guint32 row = matched->row_of_call[call];
	return row != WP_NO_CALL && matched->rows[row].dont_care;
}

#endif
