/*
 * Runs a conversation, written as rows, through the real stream and decoders, and gives the records
 * as text, to be compared with what is expected.
 *
 *     static const WpStep steps[] = {
 *             WP_C("GET / HTTP/1.0\r\n\r\n"), WP_S("HTTP/1.0 200 OK\r\n\r\nhello"), WP_S_FIN,
 *     };
 *     g_autofree char *got = wp_decode_run(NULL, steps, G_N_ELEMENTS(steps));
 *     ck_assert_str_eq(got, "C1 [1,1] http 18 GET /\n"
 *                           "R1 [2,2] http 24 GET / ok\n");
 *
 * Step i (from 1) happens at i microseconds, in packet i. A line of the result is
 *     kind id [begin,end] protocol bytes label status marks
 * with kind C, R, M (of the client's side: lower case where the server is the sender, as in "r1" never,
 * "m3"), begin and end in microseconds, empty label left out, status left out for calls, marks "setup",
 * "wait", "cut". Records stand in the order in which they leave. Counters that are not 0 and tell of trouble
 * follow as "name n".
 */
#ifndef WP_TESTS_SUPPORT_DECODE_RUN_H
#define WP_TESTS_SUPPORT_DECODE_RUN_H

#include "capture/stream.h"

typedef struct {
	char what; /* C, S: bytes; D, T: a datagram of them that was cut short; c, s: a hole of LENGTH bytes, that
		    * is acknowledged in this step where DATA is not NULL; l: the same of the server, of bytes
		    * that came after those behind them; x, y: LENGTH more bytes of
		    * the packet before, cut off by the snap length; A: the client
		    * has LENGTH bytes of the server's next hole already; B: the sender of the next bytes
		    * lacks the last LENGTH bytes of the other side; E: the next bytes came LENGTH
		    * microseconds before they are handed over, behind a hole; F, G: FIN of client, server; R: reset;
		    * P: a pause of LENGTH microseconds */
	const char *data;
	gsize length;
} WpStep;

#define WP_C(text)                                                                                 \
	{                                                                                          \
		'C', text, sizeof(text) - 1                                                        \
	}
#define WP_S(text)                                                                                 \
	{                                                                                          \
		'S', text, sizeof(text) - 1                                                        \
	}
#define WP_C_BYTES(data, length)                                                                   \
	{                                                                                          \
		'C', (const char *)(data), length                                                  \
	}
#define WP_S_BYTES(data, length)                                                                   \
	{                                                                                          \
		'S', (const char *)(data), length                                                  \
	}
#define WP_C_HOLE(length)                                                                          \
	{                                                                                          \
		'c', NULL, length                                                                  \
	}
#define WP_S_HOLE(length)                                                                          \
	{                                                                                          \
		's', NULL, length                                                                  \
	}
#define WP_S_HOLE_ACKED(length)                                                                    \
	{                                                                                          \
		's', "", length                                                                    \
	}
#define WP_S_HOLE_LATE(length)                                                                     \
	{                                                                                          \
		'l', "", length                                                                    \
	}
#define WP_C_CUT(length)                                                                           \
	{                                                                                          \
		'x', NULL, length                                                                  \
	}
#define WP_S_CUT(length)                                                                           \
	{                                                                                          \
		'y', NULL, length                                                                  \
	}
#define WP_C_AHEAD(length)                                                                         \
	{                                                                                          \
		'A', NULL, length                                                                  \
	}
#define WP_BEHIND(length)                                                                          \
	{                                                                                          \
		'B', NULL, length                                                                  \
	}
#define WP_C_FIN                                                                                   \
	{                                                                                          \
		'F', NULL, 0                                                                       \
	}
#define WP_S_FIN                                                                                   \
	{                                                                                          \
		'G', NULL, 0                                                                       \
	}
#define WP_RESET                                                                                   \
	{                                                                                          \
		'R', NULL, 0                                                                       \
	}
#define WP_EARLIER(us)                                                                             \
	{                                                                                          \
		'E', NULL, us                                                                      \
	}
#define WP_PAUSE(us)                                                                               \
	{                                                                                          \
		'P', NULL, us                                                                      \
	}

typedef struct {
	const WpDecoder *forced; /* NULL = detect */
	guint16 port;            /* of the server; 0 = 9999 */
	gboolean is_udp;
	gboolean is_midstream;
	gboolean is_swapped; /* the stream is told the wrong client, and may find out */
	const char *keylog;  /* secrets of TLS connections; NULL = none */
	gsize cut;           /* > 0: each step's bytes come in pieces of so many, with one stamp */
	gboolean no_counters;
	gboolean
		show_tokens; /* adds " tokens=N", and " ids=N" where some of them are identifiers */
} WpRunOptions;

/* (transfer full) OPTIONS may be NULL. */
char *wp_decode_run(const WpRunOptions *options, const WpStep *steps, gsize n_steps);

/*
 * Runs the steps whole and in pieces of every size from 1 to 64 and, for each step, in two parts at
 * every position; asserts (Check) that every run gives EXPECTED. Not for steps whose decoder looks at
 * packet boundaries (UDP, generic).
 */
void wp_decode_check(const WpRunOptions *options, const WpStep *steps, gsize n_steps,
		     const char *expected);

#define WP_DECODE_ROW_STEPS 16

typedef struct {
	const char *name;
	WpRunOptions options;
	WpStep steps[WP_DECODE_ROW_STEPS]; /* ends with an empty one, where there is room */
	const char *expected;
} WpDecodeRow;

gsize wp_decode_row_n_steps(const WpDecodeRow *row);

/* Asserts that each row gives what it should: as it is; and in pieces as well (wp_decode_check()). */
void wp_decode_rows_run(const WpDecodeRow *rows, gsize n_rows);
void wp_decode_rows_check(const WpDecodeRow *rows, gsize n_rows);

/* The node names that a run's packets told, "address=name source\n", for the decoders that do. */
char *wp_decode_run_names(const WpRunOptions *options, const WpStep *steps, gsize n_steps);

#endif
