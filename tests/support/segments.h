/*
 * Segments written as text, and what comes out of reassembly or flows written as text again:
 *
 *     in                          out
 *     "C SYN"                     ""
 *     "S SYN ack 0"               ""
 *     "C 0-10 ack 0"              "C 0-10"
 *     "S 0-20 ack 10"             "S 0-20"
 *
 * C and S: who sends. A-B: payload bytes A to B (offsets from the first byte; "A" alone: none, sent at
 * A). "ack N", "SYN" "FIN" "RST" "PSH", "snap N" (so many payload bytes captured), "sack" (something came
 * behind what is acknowledged), "other" (other bytes than everybody else's), "at MS" (capture time; else that of the step before), "port N" (the client's
 * port), "udp". Each byte's value follows from side and offset, so that the recorder can tell whether
 * the right bytes came.
 *
 * The recorder writes "C 0-10", "C hole 10-20" (never seen), "C cut 10-20" (not captured), "C end",
 * "reset"; with show_peer also "C 0-10 peer 5", with show_by "C hole 10-20 by 3" (ms); where it was so, "late" behind it; flows add "flow 1 C>S", "finish fin".
 */
#ifndef WP_TESTS_SUPPORT_SEGMENTS_H
#define WP_TESTS_SUPPORT_SEGMENTS_H

#include <glib.h>

#include "capture/decoder.h"
#include "capture/packet.h"

typedef struct {
	guint32 isn[2]; /* of client and server; may be changed between steps */
	gint64 now_ns;
	guint64 number;
	guint8 payload[65536];
} WpTestSender;

void wp_test_sender_init(WpTestSender *sender);

/* The segment that TEXT describes; its payload is SENDER's. OUT_SIDE: 0 = C. Asserts on nonsense. */
void wp_test_segment(WpTestSender *sender, const char *text, WpSegment *out_segment,
		     guint *out_side);

typedef struct {
	GString *text; /* since the last wp_test_recorder_take() */
	guint64 at[2]; /* offset that must come next */
	gboolean show_peer;
	gboolean show_by;
} WpTestRecorder;

void wp_test_recorder_init(WpTestRecorder *recorder);
void wp_test_recorder_clear(WpTestRecorder *recorder);

/* A word or more of output, separated from those before. */
void wp_test_record(WpTestRecorder *recorder, const char *format, ...) G_GNUC_PRINTF(2, 3);
void wp_test_record_bytes(WpTestRecorder *recorder, guint side, const guint8 *data, gsize length,
			  const WpStamp *stamp);
void wp_test_record_hole(WpTestRecorder *recorder, guint side, guint64 length, const WpStamp *stamp,
			 gint64 by_ns, gboolean is_late);

/* (transfer full) What was recorded since the last call. */
char *wp_test_recorder_take(WpTestRecorder *recorder);

#endif
