/*
 * Flows: step lists over whole captures of small flows; the notation is that of
 * tests/support/segments.h. The streams are stand-ins that write down what they are told: a new one
 * "1: new C>S sure start" (client, server; the client is "sure" or a "guess"; "start": seen to open),
 * then "1: C 0-10" and so on, at last "1: finish end". A step "many ..." is 64 such packets.
 */
#include "capture/flow.h"

#include <string.h>

#include "tests/support/segments.h"
#include "tests/support/suite.h"

typedef struct {
	const char *in;
	const char *out;
} Step;

typedef struct {
	WpStreamShared shared; /* first: a stream finds its fixture through it */
	WpTestSender sender;
	GString *text;
	WpLoss *loss;
	WpFlows *flows;
	guint n_streams;
	gsize stream_memory;
} Fixture;

/* --- the streams --- */

struct WpStream {
	Fixture *fixture;
	WpStreamInfo info;
	WpTestRecorder recorder;
	gboolean is_finished;
};

/* Moves what the recorder of STREAM wrote to the text of all. */
static void
pass_on(WpStream *stream)
{
	g_autofree char *text = wp_test_recorder_take(&stream->recorder);
	if (stream->fixture->text->len)
		g_string_append(stream->fixture->text, "; ");
	g_string_append_printf(stream->fixture->text, "%u: %s", stream->info.flow, text);
}

/* 0 where FROM is the side that the steps call C. */
static guint
side_of(const WpStream *stream, WpDirection from)
{
	gboolean is_crossed = stream->info.client.port == 80;
	return (from == WP_FROM_SERVER) != is_crossed;
}

WpStream *
wp_stream_new(const WpStreamShared *shared, const WpStreamInfo *info)
{
	WpStream *stream = g_new0(WpStream, 1);
	stream->fixture = (Fixture *)shared;
	stream->info = *info;
	stream->fixture->n_streams++;
	wp_test_recorder_init(&stream->recorder);
	wp_test_record(&stream->recorder, "new %s %s%s", side_of(stream, 0) ? "S>C" : "C>S",
		       info->is_oriented ? "sure" : "guess",
		       info->from_start && !info->is_udp ? " start" : "");
	pass_on(stream);
	return stream;
}

void
wp_stream_free(WpStream *stream)
{
	if (!stream)
		return;
	stream->fixture->n_streams--;
	ck_assert(stream->is_finished);
	wp_test_recorder_clear(&stream->recorder);
	g_free(stream);
}

void
wp_stream_bytes(WpStream *stream, WpDirection from, const guint8 *data, gsize length,
		const WpStamp *stamp)
{
	ck_assert(!stream->is_finished);
	wp_test_record_bytes(&stream->recorder, side_of(stream, from), data, length, stamp);
	pass_on(stream);
}

void
wp_stream_hole(WpStream *stream, WpDirection from, guint64 length, const WpStamp *stamp,
	       gint64 by_ns, gboolean is_late)
{
	ck_assert(!stream->is_finished);
	wp_test_record_hole(&stream->recorder, side_of(stream, from), length, stamp, by_ns,
			    is_late);
	pass_on(stream);
}

void
wp_stream_datagram(WpStream *stream, WpDirection from, const guint8 *data, gsize length,
		   gsize wire_length, const WpStamp *stamp)
{
	wp_test_record(&stream->recorder, "%c datagram %zu/%zu", side_of(stream, from) ? 'S' : 'C',
		       length, wire_length);
	pass_on(stream);
}

void
wp_stream_end(WpStream *stream, WpDirection from, const WpStamp *stamp)
{
	wp_test_record(&stream->recorder, "%c end", side_of(stream, from) ? 'S' : 'C');
	pass_on(stream);
}

void
wp_stream_finish(WpStream *stream, WpFinish how, const WpStamp *stamp)
{
	static const char *const names[] = { "fin", "reset", "end", "timeout" };
	ck_assert(!stream->is_finished);
	ck_assert_int_eq(stamp != NULL, how == WP_FINISH_RESET);
	stream->is_finished = TRUE;
	wp_test_record(&stream->recorder, "finish %s", names[how]);
	pass_on(stream);
}

/* Streams that have seen only one side have a call open. */
gboolean
wp_stream_is_idle(const WpStream *stream)
{
	return stream->recorder.at[1] > 0;
}

gsize
wp_stream_memory(const WpStream *stream)
{
	return stream->fixture->stream_memory;
}

/* --- the steps --- */

static void
set_up(Fixture *f, guint32 max_flows)
{
	memset(f, 0, sizeof *f);
	f->shared.nodes = wp_nodes_new();
	f->shared.counters = wp_counters_new();
	f->text = g_string_new(NULL);
	f->loss = wp_loss_new();
	f->flows = wp_flows_new(&f->shared, f->loss, max_flows);
	wp_test_sender_init(&f->sender);
}

static void
add(Fixture *f, const char *step)
{
	WpSegment segment;
	guint side;
	wp_test_segment(&f->sender, step, &segment, &side);
	wp_flows_add(f->flows, &segment);
}

/* So many packets that no order of capture is doubted any more. */
static void
add_many(Fixture *f, const char *step)
{
	for (int i = 0; i < 64; i++)
		add(f, step);
}

static void
expect(Fixture *f, const char *step, const char *out)
{
	ck_assert_msg(strcmp(f->text->str, out) == 0, "\"%s\": \"%s\" instead of \"%s\"", step,
		      f->text->str, out);
	g_string_truncate(f->text, 0);
}

static void
run(Fixture *f, const Step *steps, gsize n)
{
	for (gsize i = 0; i < n; i++) {
		if (strcmp(steps[i].in, "finish") == 0)
			wp_flows_finish(f->flows);
		else if (strncmp(steps[i].in, "many ", 5) == 0)
			add_many(f, steps[i].in + 5);
		else
			add(f, steps[i].in);
		expect(f, steps[i].in, steps[i].out);
	}
}

#define RUN(f, steps) run(f, steps, G_N_ELEMENTS(steps))

static guint64
counted(const Fixture *f, WpCounter counter)
{
	return wp_counters_get(f->shared.counters, counter);
}

static void
add_pair(WpCounter counter, guint32 sender, guint32 receiver, guint64 n, gpointer data)
{
	guint64 *sums = data;
	sums[counter] += n;
	ck_assert_uint_ne(sender, receiver);
}

/* Of these, how many are told of with both ends. */
static guint64
counted_of_pairs(const Fixture *f, WpCounter counter)
{
	guint64 sums[WP_N_COUNTERS] = { 0 };
	wp_counters_foreach_pair(f->shared.counters, add_pair, sums);
	return sums[counter];
}

static void
tear_down(Fixture *f)
{
	wp_flows_finish(f->flows);
	ck_assert_uint_eq(f->n_streams, 0);
	ck_assert_uint_eq(wp_flows_count(f->flows), 0);
	wp_flows_free(f->flows);
	wp_loss_free(f->loss);
	wp_counters_free(f->shared.counters);
	wp_nodes_unref(f->shared.nodes);
	g_string_free(f->text, TRUE);
}

/* A whole flow; what comes after its end neither reaches the stream nor makes another flow. */
START_TEST(whole_flow)
{
	static const Step steps[] = {
		{ "C SYN", "" },
		{ "S SYN ack 0", "" },
		{ "C 0 ack 0", "" },
		{ "C 0-10 ack 0", "1: new C>S sure start; 1: C 0-10" },
		{ "S 0-20 ack 10", "1: S 0-20" },
		{ "S 20 ack 10 FIN", "1: S end" },
		{ "C 10 ack 21 FIN", "1: C end; 1: finish fin" },
		{ "S 21 ack 11", "" },
		{ "S 0-20 ack 10", "" },
		{ "C 10 ack 21 FIN", "" },
		{ "finish", "" },
	};
	Fixture f;
	set_up(&f, 0);
	RUN(&f, steps);
	ck_assert_uint_eq(counted(&f, WP_COUNT_FLOWS_TCP), 1);
	ck_assert_uint_eq(counted(&f, WP_COUNT_SEGMENTS), 2);
	ck_assert_uint_eq(counted(&f, WP_COUNT_FLOWS_MIDSTREAM), 0);
	ck_assert_uint_eq(counted(&f, WP_COUNT_FLOWS_ONE_WAY), 0);
	tear_down(&f);
}
END_TEST

/* Who is the client: SYN, SYN+ACK alone, else ports. */
START_TEST(orientation)
{
	static const Step rows[][3] = {
		{ { "S SYN", "" }, { "S 0-5", "1: new S>C sure start; 1: S 0-5" } },
		{ { "S SYN ack 0", "" }, { "S 0-5 ack 0", "1: new C>S sure start; 1: S 0-5" } },
		{ { "C SYN ack 0", "" }, { "S 0-5 ack 0", "1: new S>C sure start; 1: S 0-5" } },
		{ { "S 0-5 ack 0", "" }, { "many S 5 ack 0 at 30", "1: new C>S guess; 1: S 0-5" } },
		{ { "C 0-5 ack 0", "" }, { "many C 5 ack 0 at 30", "1: new C>S guess; 1: C 0-5" } },
		{ { "C 0-5 ack 0", "" }, { "S SYN ack 0", "1: new C>S sure start; 1: C 0-5" } },
		/* the client's port 50 is more of a server's port than 80, but nobody knows */
		{ { "C 0-5 ack 0 port 50", "" },
		  { "many C 5 ack 0 at 30 port 50", "1: new S>C guess; 1: C 0-5" } },
		{ { "C 0-5 udp", "" },
		  { "finish", "1: new C>S guess; 1: C datagram 5/5; 1: finish end" } },
		{ { "S 0-5 udp", "" },
		  { "finish", "1: new C>S guess; 1: S datagram 5/5; 1: finish end" } },
		{ { "S 0-5 snap 2 udp port 111", "" },
		  { "finish", "1: new S>C guess; 1: S datagram 2/5; 1: finish end" } },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		Fixture f;
		set_up(&f, 0);
		for (gsize j = 0; j < G_N_ELEMENTS(rows[i]) && rows[i][j].in; j++)
			run(&f, &rows[i][j], 1);
		tear_down(&f);
	}
}
END_TEST

/* What other flows showed decides before the ports do: 80 serves, so 50 does not. */
START_TEST(orientation_by_others)
{
	static const Step steps[] = {
		{ "C SYN", "" },
		{ "C 0-5", "1: new C>S sure start; 1: C 0-5" },
		{ "C 0-5 ack 0 port 50", "" },
		{ "many C 5 ack 0 at 30 port 50", "2: new C>S guess; 2: C 0-5" },
	};
	Fixture f;
	set_up(&f, 0);
	RUN(&f, steps);
	tear_down(&f);
}
END_TEST

/* The same ports again: a repeated SYN is none, another number is another flow. */
START_TEST(port_reuse)
{
	static const Step first[] = {
		{ "C SYN", "" },       { "C SYN", "" },
		{ "S SYN ack 0", "" }, { "C 0-10 ack 0", "1: new C>S sure start; 1: C 0-10" },
		{ "C SYN", "" },
	};
	static const Step second[] = {
		{ "C SYN", "1: finish timeout" },
		{ "S SYN ack 0", "" },
		{ "C 0-7 ack 0", "2: new C>S sure start; 2: C 0-7" },
		{ "C 7 ack 0 FIN", "2: C end" },
		{ "S 0 ack 8 FIN", "2: S end; 2: finish fin" },
	};
	static const Step third[] = {
		{ "C SYN", "" },
		{ "C 0-8", "3: new C>S sure start; 3: C 0-8" },
		{ "finish", "3: finish end" },
	};
	Fixture f;
	set_up(&f, 0);
	RUN(&f, first);
	f.sender.isn[0] = 70000;
	f.sender.isn[1] = 80000;
	RUN(&f, second);
	f.sender.isn[0] = 90000;
	RUN(&f, third);
	ck_assert_uint_eq(counted(&f, WP_COUNT_FLOWS_TCP), 3);
	tear_down(&f);
}
END_TEST

/* Two answers to one SYN, as of two servers behind one address: that counts which the client goes on with. */
START_TEST(answered_twice)
{
	static const Step first[] = { { "C SYN", "" }, { "S SYN ack 0", "" } };
	static const Step other[] = { { "S SYN ack 0", "" } };
	static const Step rest[] = {
		{ "C 0-10 ack 0", "1: new C>S sure start; 1: C 0-10" },
		{ "S 0-5 ack 10", "1: S 0-5" },
		{ "S 5 ack 10 FIN", "1: S end" },
		{ "C 10 ack 6 FIN", "1: C end; 1: finish fin" },
	};
	for (guint taken = 0; taken < 2; taken++) {
		Fixture f;
		set_up(&f, 0);
		f.sender.isn[1] = 5000;
		RUN(&f, first);
		f.sender.isn[1] = 4000000000u;
		RUN(&f, other);
		f.sender.isn[1] = taken ? 4000000000u : 5000;
		RUN(&f, rest);
		ck_assert_uint_eq(counted(&f, WP_COUNT_FLOWS_TCP), 1);
		tear_down(&f);
	}
}
END_TEST

/*
 * The same ports again, but the SYNs and the end before them were not captured. The client's numbers tell,
 * by what the server acknowledges; one such packet alone may be a broken one.
 */
START_TEST(port_reuse_unseen)
{
	static const Step first[] = {
		{ "C SYN", "" },
		{ "S SYN ack 0", "" },
		{ "C 0-10 ack 0", "1: new C>S sure start; 1: C 0-10" },
		{ "S 0 ack 10", "" },
	};
	static const Step broken[] = {
		{ "S 5-8 ack 10", "" },
	};
	static const Step same[] = {
		{ "S 0-5 ack 10", "1: S 0-5" },
	};
	static const Step second[] = {
		{ "S 0 ack 0 at 13000", "" },
		{ "S 0 ack 0", "1: finish timeout" },
		{ "C 0-10 ack 0", "" },
		{ "S 0-9 ack 10", "" },
		{ "many C 10 ack 9 at 13030", "2: new C>S guess; 2: C 0-10; 2: S 0-9" },
	};
	Fixture f;
	set_up(&f, 0);
	RUN(&f, first);
	f.sender.isn[0] += 200000000;
	RUN(&f, broken);
	f.sender.isn[0] -= 200000000;
	RUN(&f, same);
	f.sender.isn[0] += 200000000;
	f.sender.isn[1] += 65544;
	RUN(&f, second);
	ck_assert_uint_eq(counted(&f, WP_COUNT_FLOWS_TCP), 1);
	ck_assert_uint_eq(counted(&f, WP_COUNT_SEGMENTS_STRANGE), 3);
	tear_down(&f);
}
END_TEST

/* What waits goes on without another packet of its flow: any packet brings the time. */
START_TEST(waiting)
{
	static const Step steps[] = {
		{ "C SYN port 1", "" },
		{ "S SYN ack 0 port 1", "" },
		{ "C SYN port 2", "" },
		{ "S SYN ack 0 port 2", "" },
		{ "S 0-20 ack 10 port 1 at 100", "" }, /* answers what was not seen */
		{ "C 10-20 ack 0 port 2 at 101", "" }, /* follows what was not seen */
		{ "C 0 ack 0 port 3 at 119", "" },
		{ "C 0 ack 0 port 3 at 121", "" },
		{ "many C 0 ack 0 port 3 at 121",
		  "1: new C>S sure start; 1: C hole 0-10; 1: S 0-20" },
		{ "C 0 ack 0 port 3 at 1900", "" },
		{ "C 0 ack 0 port 3 at 1901", "2: new C>S sure start; 2: C hole 0-10; 2: C 10-20" },
		{ "finish", "1: finish end; 2: finish end" },
	};
	Fixture f;
	set_up(&f, 0);
	RUN(&f, steps);
	ck_assert_uint_eq(counted(&f, WP_COUNT_GAPS), 2);
	ck_assert_uint_eq(counted(&f, WP_COUNT_GAP_BYTES), 20);
	ck_assert_uint_eq(counted(&f, WP_COUNT_LOST_SEGMENTS), 2);
	tear_down(&f);
}
END_TEST

/* The directions' clocks differ for the whole flow: every answer is captured before its request. */
START_TEST(skewed_directions)
{
	Fixture f;
	set_up(&f, 0);
	add(&f, "C SYN");
	add(&f, "S SYN ack 0");
	for (guint i = 1; i <= 500; i++) {
		char step[64];
		g_snprintf(step, sizeof step, "S %u-%u ack %u at %u", i - 1, i, i, 15 * i);
		add(&f, step);
		g_snprintf(step, sizeof step, "C %u-%u ack %u at %u", i - 1, i, i - 1, 15 * i + 14);
		add(&f, step);
	}
	ck_assert_ptr_null(strstr(f.text->str, "hole"));
	ck_assert_ptr_nonnull(strstr(f.text->str, "1: C 498-499; 1: S 498-499"));
	tear_down(&f);
}
END_TEST

/* UDP has no numbers but the clock: datagrams wait, and leave in order of time. */
START_TEST(datagram_order)
{
	static const Step steps[] = {
		{ "S 0-5 udp at 105", "" },
		{ "C 0-7 udp at 104", "" },
		{ "S 0-9 udp at 105", "" },
		{ "many C 0 ack 0 port 9 at 123", "" },
		{ "C 0 ack 0 port 9 at 124", "1: new C>S guess; 1: C datagram 7/7" },
		{ "C 0 ack 0 port 9 at 125", "1: S datagram 5/5; 1: S datagram 9/9" },
	};
	Fixture f;
	set_up(&f, 0);
	RUN(&f, steps);
	tear_down(&f);
}
END_TEST

/* An answer that waits when a silence begins is its flow's, though that goes for the silence. */
START_TEST(datagram_before_silence)
{
	static const Step steps[] = {
		{ "C 0-7 udp at 5", "" },
		{ "many C 0 ack 0 port 9 at 2000", "1: new C>S guess; 1: C datagram 7/7" },
		{ "S 0-5 udp at 2005", "" },
		{ "C 0 ack 0 port 9 at 3700000", "1: S datagram 5/5" },
		{ "C 0 ack 0 port 9 at 3900000", "1: finish timeout" },
	};
	Fixture f;
	set_up(&f, 0);
	RUN(&f, steps);
	tear_down(&f);
}
END_TEST

/* Silence: open flows stay for an hour, flows with one end or UDP for two minutes. */
START_TEST(silence)
{
	static const Step steps[] = {
		{ "C SYN port 1", "" },
		{ "S SYN ack 0 port 1", "" },
		{ "C 0-5 ack 0 port 1", "1: new C>S sure start; 1: C 0-5" },
		{ "C SYN port 2", "" },
		{ "C 0-5 port 2 FIN", "2: new C>S sure start; 2: C 0-5; 2: C end" },
		{ "C 0-5 udp port 3", "" },
		{ "many C 0 ack 0 port 9 at 20", "3: new C>S guess; 3: C datagram 5/5" },
		{ "C 0-5 udp port 4 at 60000", "" },
		{ "C 0-5 udp port 4 at 119000", "4: new C>S guess; 4: C datagram 5/5" },
		{ "many C 0 ack 0 port 9 at 119020", "4: C datagram 5/5" },
		{ "C 0 ack 0 port 9 at 121000", "2: finish timeout; 3: finish timeout" },
		{ "C 5-9 ack 0 port 1 at 200000", "1: C 5-9" },
		{ "C 0 ack 0 port 9 at 3700000", "4: finish timeout" },
		{ "C 0 ack 0 port 9 at 3801000", "1: finish timeout" },
	};
	Fixture f;
	set_up(&f, 0);
	RUN(&f, steps);
	ck_assert_uint_eq(wp_flows_count(f.flows), 0);
	ck_assert_uint_eq(counted(&f, WP_COUNT_FLOWS_EVICTED), 0);
	tear_down(&f);
}
END_TEST

/* At most so many flows: the most silent goes, and is counted where a call was open. */
START_TEST(eviction)
{
	static const Step steps[] = {
		{ "C 0-5 udp port 1", "" },
		{ "C SYN port 2 at 1000", "1: new C>S guess; 1: C datagram 5/5" },
		{ "S SYN ack 0 port 2", "" },
		{ "C 0-5 ack 0 port 2 at 2000", "2: new C>S sure start; 2: C 0-5" },
		{ "C SYN port 3 at 4000", "" },
		{ "S SYN ack 0 port 3", "" },
		{ "S 0-5 ack 0 port 3", "3: new C>S sure start; 3: S 0-5" },
		{ "C SYN port 4 at 6000", "1: finish end" },
		{ "S SYN ack 0 port 4", "" },
		{ "C 5-6 ack 0 port 2", "2: C 5-6" },
		{ "C SYN port 5", "3: finish end" },
		{ "S SYN ack 0 port 5", "" },
		{ "C SYN port 6", "" },
	};
	Fixture f;
	set_up(&f, 3);
	RUN(&f, steps);
	ck_assert_uint_eq(wp_flows_count(f.flows), 3);
	ck_assert_uint_eq(counted(&f, WP_COUNT_FLOWS_EVICTED), 1);
	tear_down(&f);
}
END_TEST

/* Flows that open and close without end take no more room than those of a few seconds. */
START_TEST(many_short_flows)
{
	Fixture f;
	guint32 most = 0;
	set_up(&f, 0);
	for (guint i = 0; i < (guint)wp_test_number(200000, 20000); i++) {
		WpSegment segment;
		guint side;
		f.sender.isn[0] = i * 1000;
		f.sender.now_ns = (gint64)i * 20000;
		wp_test_segment(&f.sender, "C SYN", &segment, &side);
		segment.src.port = (guint16)i;
		segment.src.address[15] = (guint8)(i >> 16);
		wp_flows_add(f.flows, &segment);
		most = MAX(most, wp_flows_count(f.flows));
	}
	ck_assert_uint_lt(most, 20000);
	tear_down(&f);
}
END_TEST

/* Memory is bounded, too: large streams make room by the most silent flows. */
START_TEST(memory)
{
	Fixture f;
	set_up(&f, 0);
	f.stream_memory = 1024 * 1024;
	for (guint i = 1; i <= 100; i++) {
		char step[64];
		g_snprintf(step, sizeof step, "C SYN port %u at %u", 1000 + i, i * 2000);
		add(&f, step);
		g_snprintf(step, sizeof step, "C 0-5 port %u", 1000 + i);
		add(&f, step);
		ck_assert_uint_le(f.n_streams, 48);
	}
	ck_assert_uint_ge(f.n_streams, 40);
	ck_assert_uint_ge(counted(&f, WP_COUNT_FLOWS_EVICTED), 52);
	ck_assert_ptr_nonnull(strstr(f.text->str, "1: finish end"));
	ck_assert_ptr_null(strstr(f.text->str, "100: finish"));
	tear_down(&f);
}
END_TEST

/* A flood of addresses: neither nodes nor pairs grow without end, and what was folded is counted. */
START_TEST(address_flood)
{
	Fixture f;
	WpSegment segment;
	guint side;
	set_up(&f, 0);
	wp_test_segment(&f.sender, "C 0-5 udp port 4000 at 0", &segment, &side);
	for (guint32 i = 0; i < WP_NODES_MAX_CALLERS + 500; i++, segment.time_ns += 1000000) {
		for (int byte = 0; byte < 4; byte++)
			segment.src.address[12 + byte] = (guint8)((20 << 24 | i) >> 8 * (3 - byte));
		wp_flows_add(f.flows, &segment);
	}
	wp_flows_finish(f.flows);
	ck_assert_uint_eq(counted(&f, WP_COUNT_FLOWS_UDP), WP_NODES_MAX_CALLERS + 500);
	ck_assert_uint_eq(wp_nodes_count(f.shared.nodes), WP_NODES_MAX_CALLERS + 1);
	ck_assert_uint_eq(counted(&f, WP_COUNT_ADDRESSES_FOLDED), 501);
	tear_down(&f);
}
END_TEST

/* Resets, refusals, directions that are missing. */
START_TEST(counts)
{
	static const Step steps[] = {
		{ "C SYN port 1", "" },
		{ "S 0 ack 0 RST port 1", "" },
		{ "C SYN port 2", "" },
		{ "S SYN ack 0 port 2", "" },
		{ "C 0-5 ack 0 port 2", "2: new C>S sure start; 2: C 0-5" },
		{ "C 5-9 ack 0 port 2", "2: C 5-9" },
		{ "C 5-9 ack 0 port 2", "" },
		{ "S 0 ack 9 RST port 2", "2: finish reset" },
		{ "C 9-10 ack 0 port 2", "" },
		{ "S 0-5 ack 0 port 3 at 10", "" },
		{ "S 5-9 ack 0 port 3 at 2000", "3: new C>S guess; 3: S 0-5; 3: S 5-9" },
		{ "finish", "3: finish end" },
	};
	Fixture f;
	set_up(&f, 0);
	RUN(&f, steps);
	ck_assert_uint_eq(counted(&f, WP_COUNT_FLOWS_TCP), 3);
	ck_assert_uint_eq(counted(&f, WP_COUNT_FLOWS_REFUSED), 1);
	ck_assert_uint_eq(counted(&f, WP_COUNT_FLOWS_RESET), 1);
	ck_assert_uint_eq(counted(&f, WP_COUNT_FLOWS_MIDSTREAM), 1);
	ck_assert_uint_eq(counted(&f, WP_COUNT_FLOWS_ONE_WAY), 1);
	ck_assert_uint_eq(counted(&f, WP_COUNT_SEGMENTS), 5);
	ck_assert_uint_eq(counted(&f, WP_COUNT_SEGMENTS_RETRANSMITTED), 1);
	tear_down(&f);
}
END_TEST

/* A refusal is told of both ends where the client is known otherwise; what is scanned makes no nodes. */
START_TEST(refusals)
{
	static const Step scanned[] = {
		{ "C SYN port 1", "" },
		{ "S 0 ack 0 RST port 1", "" },
		{ "finish", "" },
	};
	static const Step of_a_client[] = {
		{ "C SYN port 2", "" },
		{ "S SYN ack 0 port 2", "" },
		{ "C 0-5 ack 0 port 2", "1: new C>S sure start; 1: C 0-5" },
		{ "C SYN port 1", "" },
		{ "S 0 ack 0 RST port 1", "" },
		{ "finish", "1: finish end" },
	};
	Fixture f;
	set_up(&f, 0);
	RUN(&f, scanned);
	ck_assert_uint_eq(counted(&f, WP_COUNT_FLOWS_REFUSED), 1);
	ck_assert_uint_eq(counted_of_pairs(&f, WP_COUNT_FLOWS_REFUSED), 0);
	tear_down(&f);
	set_up(&f, 0);
	RUN(&f, of_a_client);
	ck_assert_uint_eq(counted(&f, WP_COUNT_FLOWS_REFUSED), 1);
	ck_assert_uint_eq(counted_of_pairs(&f, WP_COUNT_FLOWS_REFUSED), 1);
	tear_down(&f);
}
END_TEST

/* Segments without payload, SYN or FIN make no flow. */
START_TEST(nothing_to_begin_with)
{
	static const Step steps[] = {
		{ "C 0 ack 0", "" },
		{ "S 0 RST", "" },
		{ "S 0-5 ack 0 RST", "" },
	};
	Fixture f;
	set_up(&f, 0);
	RUN(&f, steps);
	ck_assert_uint_eq(wp_flows_count(f.flows), 0);
	tear_down(&f);
}
END_TEST

WP_SUITE("flow", whole_flow, orientation, orientation_by_others, port_reuse, answered_twice,
	 port_reuse_unseen, waiting, skewed_directions, datagram_order, datagram_before_silence,
	 silence, eviction, memory, address_flood, many_short_flows, counts, refusals,
	 nothing_to_begin_with)
