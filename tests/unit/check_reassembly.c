/*
 * Reassembly: step lists, a segment in and the deliveries that it causes. The notation is that of
 * tests/support/segments.h; the steps "wait" and "flush" are the owner's: the present wait is over; all
 * must go.
 */
#include "capture/reassembly.h"

#include <string.h>

#include "tests/support/segments.h"
#include "tests/support/suite.h"

typedef struct {
	const char *in;
	const char *out;
} Step;

typedef struct {
	WpReassemblyEnv env;
	WpReassembly flow;
	WpTestSender sender;
	WpTestRecorder recorder;
	WpWait marked;
} Fixture;

static Fixture *
fixture_of(WpReassemblyEnv *env)
{
	return (Fixture *)env;
}

static void
on_bytes(WpReassemblyEnv *env, WpReassembly *flow, guint side, const guint8 *data, gsize length,
	 const WpStamp *stamp)
{
	wp_test_record_bytes(&fixture_of(env)->recorder, side, data, length, stamp);
}

static void
on_hole(WpReassemblyEnv *env, WpReassembly *flow, guint side, guint64 length, const WpStamp *stamp,
	gint64 by_ns, gboolean is_late)
{
	wp_test_record_hole(&fixture_of(env)->recorder, side, length, stamp, by_ns, is_late);
}

static void
on_end(WpReassemblyEnv *env, WpReassembly *flow, guint side, const WpStamp *stamp)
{
	ck_assert_uint_eq(stamp->offset, fixture_of(env)->recorder.at[side]);
	wp_test_record(&fixture_of(env)->recorder, "%c end", side ? 'S' : 'C');
}

static void
on_reset(WpReassemblyEnv *env, WpReassembly *flow, const WpStamp *stamp)
{
	wp_test_record(&fixture_of(env)->recorder, "reset");
}

static const WpReassemblyOps ops = { on_bytes, on_hole, on_end, on_reset };

/* Like the owner: a wait begins when its kind changes or what it was about has come. */
static void
follow_wait(Fixture *f)
{
	WpWait wait = wp_reassembly_wait(&f->flow);
	if (wait != f->marked || wp_reassembly_caught_up(&f->flow))
		wp_reassembly_mark(&f->flow);
	f->marked = wait;
}

static void
run_step(Fixture *f, const char *in)
{
	WpSegment segment;
	guint side;
	if (strcmp(in, "wait") == 0) {
		wp_reassembly_expire(&f->env, &f->flow, f->marked);
	} else if (strcmp(in, "flush") == 0) {
		wp_reassembly_flush(&f->env, &f->flow);
	} else {
		wp_test_segment(&f->sender, in, &segment, &side);
		wp_reassembly_add(&f->env, &f->flow, side, &segment);
	}
	follow_wait(f);
}

static void
set_up(Fixture *f)
{
	memset(f, 0, sizeof *f);
	f->env.ops = &ops;
	wp_test_sender_init(&f->sender);
	wp_test_recorder_init(&f->recorder);
}

static void
run_steps(Fixture *f, const Step *steps, gsize n)
{
	for (gsize i = 0; i < n; i++) {
		run_step(f, steps[i].in);
		g_autofree char *out = wp_test_recorder_take(&f->recorder);
		ck_assert_msg(strcmp(out, steps[i].out) == 0,
			      "step %" G_GSIZE_FORMAT " \"%s\": \"%s\" instead of \"%s\"", i,
			      steps[i].in, out, steps[i].out);
	}
}

static void
tear_down(Fixture *f)
{
	wp_reassembly_clear(&f->env, &f->flow);
	ck_assert_uint_eq(f->env.held_bytes, 0);
	wp_test_recorder_clear(&f->recorder);
}

static const Step handshake[] = { { "C SYN", "" }, { "S SYN ack 0", "" }, { "C 0 ack 0", "" } };

typedef enum {
	OPEN = 1,     /* the steps come after a handshake */
	PEERS = 2,    /* what comes out says which bytes it acknowledged */
	HOLES_BY = 4, /* ... and when those of a hole had passed */
} How;

/* A flow; afterwards its counts may be looked at, until tear_down(). */
static void
run(Fixture *f, guint how, const Step *steps, gsize n)
{
	set_up(f);
	f->recorder.show_peer = (how & PEERS) != 0;
	f->recorder.show_by = (how & HOLES_BY) != 0;
	if (how & OPEN)
		run_steps(f, handshake, G_N_ELEMENTS(handshake));
	run_steps(f, steps, n);
}

/* One of which only what comes out matters. */
static void
run_only(guint how, const Step *steps, gsize n)
{
	Fixture f;
	run(&f, how, steps, n);
	tear_down(&f);
}

#define RUN(f, how, steps)   run(f, how, steps, G_N_ELEMENTS(steps))
#define RUN_ONLY(how, steps) run_only(how, steps, G_N_ELEMENTS(steps))
#define COUNTS(f, side)      ((f)->flow.half[side].counts)

START_TEST(in_order)
{
	static const Step steps[] = {
		{ "C 0-10 ack 0", "C 0-10" },
		{ "S 0-20 ack 10", "S 0-20" },
		{ "C 10-15 ack 20", "C 10-15" },
		{ "C 15-16 ack 20", "C 15-16" },
		{ "S 20-30 ack 16 FIN", "S 20-30, S end" },
		{ "C 16 ack 31 FIN", "C end" },
	};
	Fixture f;
	RUN(&f, OPEN, steps);
	ck_assert(wp_reassembly_is_over(&f.flow));
	ck_assert_uint_eq(COUNTS(&f, 0).segments, 3);
	ck_assert_uint_eq(COUNTS(&f, 1).gaps, 0);
	tear_down(&f);
}
END_TEST

/*
 *   |0..10|     |20..30|     then 10..20
 */
START_TEST(out_of_order)
{
	static const Step steps[] = {
		{ "C 0-10 ack 0", "C 0-10" }, { "C 30-40 ack 0", "" },
		{ "C 20-30 ack 0", "" },      { "C 10-20 ack 0", "C 10-20, C 20-30, C 30-40" },
		{ "S 0-5 ack 40", "S 0-5" },
	};
	Fixture f;
	RUN(&f, OPEN, steps);
	ck_assert_uint_eq(COUNTS(&f, 0).reordered, 2);
	ck_assert_uint_eq(COUNTS(&f, 0).retransmitted, 0);
	ck_assert_int_eq(wp_reassembly_wait(&f.flow), WP_WAIT_NONE);
	tear_down(&f);
}
END_TEST

/* Repetitions, whole and in part, before and behind what was delivered. */
START_TEST(repeated)
{
	static const Step steps[] = {
		{ "C 0-10 ack 0", "C 0-10" },  { "C 0-10 ack 0", "" },
		{ "C 5-15 ack 0", "C 10-15" }, { "C 20-30 ack 0", "" },
		{ "C 20-30 ack 0", "" },       { "C 15-25 ack 0", "C 15-20, C 20-30" },
		{ "C 25-30 ack 0", "" },
	};
	Fixture f;
	RUN(&f, OPEN, steps);
	ck_assert_uint_eq(COUNTS(&f, 0).retransmitted, 3);
	ck_assert_uint_eq(COUNTS(&f, 0).conflicting, 0);
	tear_down(&f);
}
END_TEST

/*
 * Overlap: the first bytes win, whatever comes later.
 *
 *     waiting      |10..20|     |30..40|
 *     other    |5......................45|
 */
START_TEST(overlap)
{
	static const Step steps[] = {
		{ "C 10-20 ack 0", "" },
		{ "C 30-40 ack 0", "" },
		{ "C 12-18 other ack 0", "" },
		{ "C 15-45 ack 0", "" },
		{ "C 0-12 ack 0", "C 0-10, C 10-20, C 20-30, C 30-40, C 40-45" },
	};
	Fixture f;
	RUN(&f, OPEN, steps);
	ck_assert_uint_eq(COUNTS(&f, 0).conflicting, 1);
	tear_down(&f);
}
END_TEST

/* Sequence numbers and acknowledgements that wrap, in both directions. */
START_TEST(wrap)
{
	static const Step steps[] = {
		{ "C SYN", "" },
		{ "S SYN ack 0", "" },
		{ "C 0-20 ack 0", "C 0-20" },
		{ "C 40-60 ack 0", "" },
		{ "C 20-40 ack 0", "C 20-40, C 40-60" },
		{ "S 0-30 ack 60", "S 0-30" },
		{ "C 60-70 ack 30", "C 60-70" },
		{ "C 60-70 ack 30", "" },
		{ "C 80-90 ack 30", "" },
		{ "S 30-31 ack 90", "" },
		{ "wait", "C hole 70-80, C 80-90, S 30-31" },
	};
	for (guint32 before = 0; before < 100; before += 7) {
		Fixture f;
		set_up(&f);
		f.sender.isn[0] = 0u - before;
		f.sender.isn[1] = 0u - 15 - before / 2;
		run_steps(&f, steps, G_N_ELEMENTS(steps));
		tear_down(&f);
	}
}
END_TEST

/*
 * A hole that was acknowledged is one when the wait is over; what was acknowledged later is not given
 * up with it.
 */
START_TEST(acknowledged_hole)
{
	static const Step steps[] = {
		{ "C 0-10 ack 0", "C 0-10" },
		{ "C 20-30 ack 0", "" },
		{ "S 0 ack 30", "" },
		{ "C 40-50 ack 0", "" },
		{ "S 0 ack 50", "" },
		{ "wait", "C hole 10-20, C 20-30" },
		{ "C 30-40 ack 0", "C 30-40, C 40-50" },
		{ "C 10-20 ack 0", "" },
	};
	Fixture f;
	RUN(&f, OPEN, steps);
	ck_assert_uint_eq(COUNTS(&f, 0).gaps, 1);
	ck_assert_uint_eq(COUNTS(&f, 0).gap_bytes, 10);
	ck_assert_uint_eq(COUNTS(&f, 0).lost_segments, 1);
	ck_assert_uint_eq(COUNTS(&f, 0).retransmitted, 1);
	tear_down(&f);
}
END_TEST

/* A hole that nobody acknowledged waits for the repetition: the packet was lost on the wire. */
START_TEST(lost_on_the_wire)
{
	static const Step steps[] = {
		{ "C 0-10 ack 0", "C 0-10" },
		{ "C 20-30 ack 0", "" },
		{ "S 0 ack 10", "" },
		{ "S 0-5 ack 10", "S 0-5" },
		{ "C 10-20 ack 5", "C 10-20, C 20-30" },
		{ "C 40-50 ack 5", "" },
		{ "C 60-70 ack 5", "" },
		{ "wait", "C hole 30-40, C 40-50, C hole 50-60, C 60-70" },
	};
	RUN_ONLY(OPEN, steps);
}
END_TEST

/*
 * The directions are captured out of order: the reply stands before its request. Both keep their order
 * of cause and effect, and nobody loses a byte.
 */
START_TEST(reply_before_request)
{
	static const Step steps[] = {
		{ "S 0-20 ack 10", "" },         { "C 0-10 ack 0", "C 0-10, S 0-20" },
		{ "C 20-30 ack 40", "" },        { "S 40-60 ack 30", "" },
		{ "C 10-20 ack 20", "C 10-20" }, { "S 20-40 ack 20", "S 20-40, C 20-30, S 40-60" },
	};
	Fixture f;
	RUN(&f, OPEN, steps);
	ck_assert_uint_eq(COUNTS(&f, 0).gaps + COUNTS(&f, 1).gaps, 0);
	tear_down(&f);
}
END_TEST

/* The request is missing: its hole comes before the reply, which a missing reply does not disturb. */
START_TEST(lost_request)
{
	static const Step steps[] = {
		{ "C 0-10 ack 0", "C 0-10" },
		{ "S 0-20 ack 10", "S 0-20" },
		{ "S 20-40 ack 20", "" },
		{ "C 20-30 ack 60", "" },
		{ "S 60-80 ack 30", "" },
		{ "wait", "C hole 10-20, S 20-40" },
		{ "wait", "S hole 40-60, C 20-30, S 60-80" },
	};
	Fixture f;
	RUN(&f, OPEN, steps);
	ck_assert_uint_eq(COUNTS(&f, 0).lost_segments, 1);
	ck_assert_uint_eq(COUNTS(&f, 1).lost_segments, 1);
	tear_down(&f);
}
END_TEST

/* Each head acknowledges the other (the request was sent again later): the order of capture rules. */
START_TEST(circle)
{
	static const Step steps[] = {
		{ "S 0-20 ack 10", "" },
		{ "C 0-10 ack 20", "" },
		{ "wait", "S 0-20, C 0-10" },
	};
	RUN_ONLY(OPEN, steps);
}
END_TEST

/* Offsets of what was acknowledged, around holes, with FINs. */
START_TEST(peers)
{
	static const Step steps[] = {
		{ "C 0-10 ack 0", "C 0-10 peer 0" },
		{ "S 0-20 ack 10", "S 0-20 peer 10" },
		{ "S 30-40 ack 10", "" },
		{ "C 10-20 ack 40", "" },
		{ "wait", "S hole 20-30, S 30-40 peer 10, C 10-20 peer 40" },
		{ "S 40-50 ack 20 FIN", "S 40-50 peer 20, S end" },
		{ "C 20-30 ack 51", "C 20-30 peer 50" },
		{ "C 30-40", "C 30-40 peer ?" },
	};
	RUN_ONLY(OPEN | PEERS, steps);
}
END_TEST

/* When the bytes of a hole had passed: at the first acknowledgement of all of it. */
START_TEST(hole_by)
{
	static const Step steps[] = {
		{ "C 0-10 ack 0 at 1", "C 0-10" },
		{ "S 0-10 ack 10 at 2", "S 0-10" },
		{ "S 30-40 ack 10 at 3", "" },
		{ "C 10 ack 20 at 4", "" },
		{ "C 10 ack 30 at 5", "" },
		{ "C 10 ack 40 at 6", "" },
		{ "wait", "S hole 10-20 by 5" }, /* all that was missing when the wait began */
		{ "wait", "S hole 20-30 by 5, S 30-40" },
		{ "C 10 ack 50 at 7", "" },
		{ "C 10-20 ack 50 at 8", "" },
		{ "wait", "S hole 40-50 by 7, C 10-20" },
		{ "S 60-70 ack 20 at 9", "" },
		{ "flush", "S hole 50-60 by ?, S 60-70" },
	};
	RUN_ONLY(OPEN | HOLES_BY, steps);
}
END_TEST

/* Packets cut by the snap length: what was captured, then a hole that has a time. */
START_TEST(snap)
{
	static const Step steps[] = {
		{ "C 0-100 snap 60 ack 0", "C 0-60, C cut 60-100" },
		{ "C 100-110 snap 0 ack 0", "C cut 100-110" },
		{ "C 120-140 snap 15 ack 0", "" },
		{ "C 105-125 snap 10 ack 0", "C 110-115, C cut 115-120, C 120-135, C cut 135-140" },
		{ "C 90-150 snap 55 ack 0", "C 140-145, C cut 145-150" },
	};
	Fixture f;
	RUN(&f, OPEN, steps);
	ck_assert_uint_eq(COUNTS(&f, 0).gaps, 0);
	tear_down(&f);
}
END_TEST

/* Keep-alives (no byte or one old byte) and window probes are no repetitions. */
START_TEST(keep_alive)
{
	static const Step steps[] = {
		{ "C 0-10 ack 0", "C 0-10" },
		{ "S 0 ack 10", "" },
		{ "C 9 ack 0", "" },
		{ "C 9-10 other ack 0", "" },
		{ "S 0-5 ack 10", "S 0-5" },
		{ "S 4 ack 10", "" },
		{ "C 10-11 ack 5", "C 10-11" },
		{ "C 10-20 ack 5", "C 11-20" },
	};
	Fixture f;
	RUN(&f, OPEN, steps);
	ck_assert_uint_eq(COUNTS(&f, 0).retransmitted, 0);
	ck_assert_uint_eq(COUNTS(&f, 0).conflicting, 0);
	tear_down(&f);
}
END_TEST

/* A SYN with data (RFC 7413), captured again, and its answer. */
START_TEST(syn_with_data)
{
	static const Step steps[] = {
		{ "C SYN 0-10", "C 0-10" },
		{ "C SYN 0-10", "" },
		{ "S SYN 0-5 ack 10", "S 0-5" },
		{ "C 10-20 ack 5", "C 10-20" },
	};
	RUN_ONLY(0, steps);
}
END_TEST

/* FINs: with data, early, repeated, with data behind them, lost. */
START_TEST(fin)
{
	static const Step steps[] = {
		{ "C 0-10 ack 0", "C 0-10" },
		{ "C 20-30 ack 0 FIN", "" },
		{ "C 10-20 ack 0", "C 10-20, C 20-30, C end" },
		{ "C 20-30 ack 0 FIN", "" },
		{ "C 30-40 ack 0", "" },
		{ "S 0-10 ack 31", "S 0-10" },
		{ "S 10 ack 31 FIN", "S end" },
	};
	Fixture f;
	RUN(&f, OPEN, steps);
	ck_assert(wp_reassembly_is_over(&f.flow));
	tear_down(&f);
}
END_TEST

START_TEST(data_behind_fin)
{
	static const Step steps[] = {
		{ "C 0-10 ack 0", "C 0-10" }, { "C 20 ack 0 FIN", "" },
		{ "C 15-30 ack 0", "" },      { "C 10-15 ack 0", "C 10-15, C 15-20, C end" },
		{ "C 21-30 ack 0", "" },
	};
	Fixture f;
	RUN(&f, OPEN, steps);
	ck_assert_uint_eq(COUNTS(&f, 0).conflicting, 2);
	tear_down(&f);
}
END_TEST

/* A FIN that was not captured is not a hole of one byte, and the flow is over all the same. */
START_TEST(lost_fin)
{
	static const Step steps[] = {
		{ "C 0-10 ack 0", "C 0-10" },
		{ "S 0-10 ack 10", "S 0-10" },
		{ "C 10 ack 11 FIN", "C end" },
		{ "S 11 ack 11", "" },
		{ "flush", "" },
	};
	Fixture f;
	RUN(&f, OPEN, steps);
	ck_assert(wp_reassembly_is_over(&f.flow));
	ck_assert_uint_eq(COUNTS(&f, 1).gaps, 0);
	tear_down(&f);
}
END_TEST

/* But one missing byte that payload answers is one. */
START_TEST(lost_byte)
{
	static const Step steps[] = {
		{ "C 0-8 ack 0", "C 0-8" },
		{ "C 8-20 ack 1", "" },
		{ "wait", "S hole 0-1, C 8-20" },
	};
	RUN_ONLY(OPEN, steps);
}
END_TEST

/* Resets: credible and not, before data that is still missing, and after the end nothing comes. */
START_TEST(reset)
{
	static const Step steps[] = {
		{ "C 0-10 ack 0", "C 0-10" },           { "S 500000000 RST", "" },
		{ "S 0-20 ack 10", "S 0-20" },          { "C 15 RST", "" },
		{ "C 10-15 ack 20", "C 10-15, reset" }, { "S 20-30 ack 15", "" },
	};
	Fixture f;
	RUN(&f, OPEN, steps);
	ck_assert(wp_reassembly_is_over(&f.flow));
	ck_assert_uint_eq(COUNTS(&f, 1).strange, 1);
	tear_down(&f);
}
END_TEST

START_TEST(reset_behind_hole)
{
	static const Step steps[] = {
		{ "C 0-10 ack 0", "C 0-10" },
		{ "C 15-20 ack 0", "" },
		{ "C 20 RST", "" },
		{ "wait", "C hole 10-15, C 15-20, reset" },
	};
	RUN_ONLY(OPEN, steps);
}
END_TEST

/* The other side had what is behind the hole before what was in it, and said so. */
START_TEST(late_hole)
{
	static const Step steps[] = {
		{ "S 0-10 ack 0", "S 0-10" },
		{ "S 20-30 ack 0 at 3", "" },
		{ "C 0 ack 10 sack", "" },
		{ "C 0 ack 30 at 5", "" },
		{ "wait", "S hole 10-20 by 5 late, S 20-30" },
		{ "S 40-50 ack 0 at 9", "" },
		{ "C 0 ack 50", "" },
		{ "wait", "S hole 30-40 by 9, S 40-50" },
	};
	RUN_ONLY(OPEN | HOLES_BY, steps);
}
END_TEST

/* What its sender had acknowledged came before it, though a reset itself acknowledges nothing. */
START_TEST(reset_behind_acknowledged)
{
	static const Step steps[] = {
		{ "C 0-10 ack 0", "C 0-10" },
		{ "C 10 FIN ack 20", "" },
		{ "S 20-30 ack 10", "" },
		{ "C 10 RST", "" },
		{ "wait", "S hole 0-20, C end, reset" },
	};
	RUN_ONLY(OPEN, steps);
}
END_TEST

START_TEST(refused)
{
	static const Step steps[] = { { "C SYN", "" }, { "S 77 ack 0 RST", "reset" } };
	RUN_ONLY(0, steps);
}
END_TEST

/*
 * Picked up in mid-stream: the first that turn up in time are the first; what stamps call 0 is there.
 * (520 and 1040 are multiples of 26, so that the recorder knows the bytes.)
 */
START_TEST(midstream)
{
	static const Step steps[] = {
		{ "S 1040-1060 ack 530", "" },
		{ "C 530-540 ack 1060", "" },
		{ "C 520-530 ack 1040", "" },
		{ "wait", "C 0-10 peer 0, S 0-20 peer 10, C 10-20 peer 20" },
		{ "S 1060-1080 ack 540", "S 20-40 peer 20" },
		{ "C 500-520 ack 1040", "" },
		{ "C 550-560 ack 1080", "" },
		{ "S 1080-1090 ack 560", "" },
		{ "wait", "C hole 20-30, C 30-40 peer 40, S 40-50 peer 40" },
	};
	RUN_ONLY(PEERS, steps);
}
END_TEST

/*
 * The first reply of a flow picked up in mid-stream is lost: its bytes count in the offsets, from the
 * first acknowledgement on, or later replies would seem to answer the call before. They are no gap:
 * they may have passed before the capture began.
 */
START_TEST(midstream_lost_first)
{
	static const Step steps[] = {
		{ "C 520-530 ack 1040", "" },
		{ "C 530-540 ack 1060", "" },
		{ "S 1060-1080 ack 540", "" },
		{ "wait", "S hole 0-20, C 0-10 peer 0, C 10-20 peer 20, S 20-40 peer 20" },
		{ "C 540-550 ack 1080", "C 20-30 peer 40" },
	};
	Fixture f;
	RUN(&f, PEERS, steps);
	ck_assert_uint_eq(COUNTS(&f, 1).gaps, 0);
	tear_down(&f);
}
END_TEST

/* An acknowledgement of bytes before the first that is seen names no place in the stream. */
START_TEST(midstream_early_ack)
{
	static const Step steps[] = {
		{ "S 1040-1060 ack 520", "" },
		{ "C 520-530 ack 1014", "" },
		{ "wait", "C 0-10 peer ?, S 0-20 peer 0" },
	};
	RUN_ONLY(PEERS, steps);
}
END_TEST

/* In mid-stream a late SYN settles where its direction begins; a probe's byte of rubbish is none. */
START_TEST(midstream_late_syn)
{
	static const Step steps[] = {
		{ "C 10-20 ack 0", "" },
		{ "C 0-10 ack 0", "" },
		{ "C SYN", "" },
		{ "S SYN ack 0", "C 0-10, C 10-20" },
		{ "S 0-10 ack 20", "S 0-10" },
	};
	RUN_ONLY(0, steps);
}
END_TEST

/* Without its SYN, what was acknowledged first says little about where a direction begins. */
START_TEST(late_syn_ack)
{
	static const Step late[] = {
		{ "C SYN", "" },
		{ "C 0 ack 10", "" },
		{ "S 0-10 ack 0", "" },
		{ "C 0 ack 0", "" },
		{ "C 10-20 ack 10", "" },
		{ "S SYN ack 0", "S 0-10" },
		{ "C 0-10 ack 10", "C 0-10, C 10-20" },
	};
	static const Step never[] = {
		{ "C SYN", "" },
		{ "C 5-10 ack 26", "" },
		{ "S 26-30 ack 10", "" },
		{ "C 0-5 ack 26", "" },
		{ "wait", "C 0-5, C 5-10, S 0-4" },
	};
	static const Step late_payload[] = {
		{ "C SYN", "" },
		{ "S 10-20 ack 5", "" },
		{ "S 0-10 ack 0", "" },
		{ "S SYN ack 0", "S 0-10" },
		{ "C 0-5 ack 10", "C 0-5, S 10-20" },
	};
	RUN_ONLY(0, late);
	RUN_ONLY(0, late_payload);
	RUN_ONLY(0, never);
}
END_TEST

START_TEST(midstream_probe)
{
	static const Step steps[] = {
		{ "C 25-26 other ack 52", "" }, { "S 52 ack 26", "" },
		{ "C 26-40 ack 52", "" },       { "wait", "C 0-14" },
		{ "S 52-60 ack 40", "S 0-8" },
	};
	RUN_ONLY(0, steps);
}
END_TEST

/* Only one direction is captured: nothing waits for the other, and it has no holes. */
START_TEST(one_way)
{
	static const Step steps[] = {
		{ "S 0-20 ack 0", "" },
		{ "wait", "S 0-20 peer 0" },
		{ "S 20-40 ack 26", "S 20-40 peer 26" },
		{ "S 60-80 ack 52", "" },
		{ "wait", "S hole 40-60, S 60-80 peer 52" },
		{ "C 78-80 ack 80", "" }, /* so there is a client after all */
		{ "wait", "C hole 0-52" },
		{ "wait", "C hole 52-78, C 78-80 peer 80" },
		{ "S 80-90 ack 80", "S 80-90 peer 80" },
	};
	RUN_ONLY(PEERS, steps);
}
END_TEST

/*
 * A side that has not been seen yet may only be late: what acknowledges it waits once. If it does not
 * come it is not captured.
 */
START_TEST(late_side)
{
	static const Step late[] = {
		{ "S SYN ack 0", "" },
		{ "S 0-10 ack 10", "" },
		{ "C 0 ack 0", "" },
		{ "C 0-10 ack 0", "C 0-10, S 0-10" },
	};
	static const Step absent[] = { { "S SYN ack 0", "" },
				       { "S 0-10 ack 10", "" },
				       { "wait", "S 0-10" },
				       { "S 10-20 ack 20", "S 10-20" },
				       { "S 20-30 ack 30", "S 20-30" } };
	Fixture f;
	RUN_ONLY(0, late);
	RUN(&f, 0, absent);
	ck_assert_uint_eq(COUNTS(&f, 0).gaps, 0);
	tear_down(&f);
}
END_TEST

/* One packet with impossible numbers changes nothing; two that fit each other are a pause. */
START_TEST(far_off)
{
	static const Step steps[] = {
		{ "C 0-10 ack 0", "C 0-10" },
		{ "C 900000000-900000010 ack 0", "" },
		{ "S 0 ack 900000000", "" },
		{ "C 10-20 ack 0", "C 10-20" },
		{ "S 0-10 ack 20", "S 0-10" },
		{ "C 26000000-26000010 ack 10", "" },
		{ "C 26000010-26000026 ack 10", "C hole 20-26000010, C 26000010-26000026" },
		{ "S 10-20 ack 26000026", "S 10-20" },
	};
	Fixture f;
	RUN(&f, OPEN, steps);
	ck_assert_uint_eq(COUNTS(&f, 0).gaps, 1);
	ck_assert_uint_eq(COUNTS(&f, 0).lost_segments, 0);
	ck_assert_uint_eq(COUNTS(&f, 0).strange, 2);
	tear_down(&f);
}
END_TEST

/* What waits is bounded in segments and bytes; the first hole is given up for room, no other. */
START_TEST(too_much_waits)
{
	static const guint sizes[] = { 10, 1448, 60000 };
	for (gsize i = (gsize)wp_test_number(0, 1); i < G_N_ELEMENTS(sizes); i++) {
		Fixture f;
		guint size = sizes[i], n = 0;
		RUN(&f, OPEN, ((const Step[]){ { "C 0-10 ack 0", "C 0-10" } }));
		while (f.recorder.text->len == 0) {
			char step[64];
			guint from = 20 + n * size;
			ck_assert_uint_lt(n++, 2000);
			g_snprintf(step, sizeof step, "C %u-%u ack 0", from, from + size);
			run_step(&f, step);
			ck_assert_uint_le(f.flow.half[0].held_bytes, WP_REASSEMBLY_MAX_BYTES);
			ck_assert_uint_le(f.flow.half[0].n_held, WP_REASSEMBLY_MAX_SEGMENTS);
		}
		ck_assert_ptr_nonnull(strstr(f.recorder.text->str, "C hole 10-20, C 20-"));
		ck_assert_uint_eq(COUNTS(&f, 0).gaps, 1);
		ck_assert_ptr_null(f.flow.half[0].first);
		tear_down(&f);
	}
}
END_TEST

/* How many segments a hole was: never less than the acknowledgements inside it show. */
START_TEST(lost_segments)
{
	static const Step inside[] = {
		{ "C 0-100 ack 0", "C 0-100" }, { "S 0 ack 100", "" },
		{ "S 0 ack 120", "" },          { "S 0 ack 150", "" },
		{ "S 0 ack 160", "" },          { "flush", "C hole 100-160" },
	};
	Fixture f;
	RUN(&f, OPEN, inside);
	ck_assert_uint_eq(COUNTS(&f, 0).lost_segments, 3);
	tear_down(&f);
}
END_TEST

/* By size: as many as the largest need; a direction of which little is known may send full ones. */
START_TEST(lost_segments_by_size)
{
	static const struct {
		guint n_seen; /* segments of 100 bytes before the hole */
		guint hole;
		guint lost;
	} rows[] = { { 3, 100, 1 },  { 3, 1448, 1 },   { 3, 1449, 2 }, { 20, 100, 1 },
		     { 20, 101, 2 }, { 20, 1000, 10 }, { 20, 65, 1 },  { 20, 60, 1 } };
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		char step[64];
		Fixture f;
		run(&f, OPEN, NULL, 0);
		for (guint n = 0; n < rows[i].n_seen; n++) {
			g_snprintf(step, sizeof step, "C %u-%u ack 0", n * 100, n * 100 + 100);
			run_step(&f, step);
		}
		g_snprintf(step, sizeof step, "S 0-10 ack %u", rows[i].n_seen * 100 + rows[i].hole);
		run_step(&f, step);
		run_step(&f, "wait");
		ck_assert_uint_eq(COUNTS(&f, 0).lost_segments, rows[i].lost);
		tear_down(&f);
	}
}
END_TEST

/* Which SYN opens another connection with the same addresses and ports. */
START_TEST(other_connection)
{
	static const struct {
		const char *in;
		guint32 isn[2];
		gboolean is_other;
	} rows[] = {
		{ "C SYN", { 1000, 5000 }, FALSE },       { "C SYN", { 1001, 5000 }, TRUE },
		{ "S SYN ack 0", { 1000, 5000 }, FALSE }, { "S SYN ack 0", { 1000, 6000 }, TRUE },
		{ "C SYN", { 900, 5000 }, TRUE },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		Fixture f;
		WpSegment segment;
		guint side;
		RUN(&f, OPEN, ((const Step[]){ { "C 0-10 ack 0", "C 0-10" } }));
		memcpy(f.sender.isn, rows[i].isn, sizeof f.sender.isn);
		wp_test_segment(&f.sender, rows[i].in, &segment, &side);
		ck_assert_int_eq(wp_reassembly_is_other(&f.flow, side, &segment), rows[i].is_other);
		tear_down(&f);
	}
}
END_TEST

WP_SUITE("reassembly", in_order, out_of_order, repeated, overlap, wrap, acknowledged_hole,
	 lost_on_the_wire, reply_before_request, lost_request, circle, peers, hole_by, snap,
	 keep_alive, syn_with_data, fin, data_behind_fin, lost_fin, lost_byte, reset,
	 reset_behind_hole, reset_behind_acknowledged, late_hole, refused, midstream,
	 midstream_lost_first, midstream_early_ack, midstream_late_syn, late_syn_ack,
	 midstream_probe, one_way, late_side, far_off, too_much_waits, lost_segments,
	 lost_segments_by_size, other_connection)
