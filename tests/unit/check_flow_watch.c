/* What the transport does, from packets one after the other. */
#include "capture/flow-watch.h"

#include <string.h>

#include "tests/support/suite.h"

#define US G_GINT64_CONSTANT(1000)
#define T0 (G_GINT64_CONSTANT(1700000000) * 1000000000)

/* Sequence numbers of both sides begin at 1000; a packet of the client is 'c'. Number of a packet: its place, from 1. */
typedef struct {
	guint us;
	char from;
	guint seq, ack, length;
	guint window; /* 0: as usual; CLOSED: none; TWICE(n): n bytes from 1000 on came twice, says SACK; HOLE(n): so much more, SACK tells a hole */
	guint8 flags; /* 0: ACK */
} Packet;

#define CLOSED   99999
#define TWICE(n) (100000 + (n))
#define HOLE(n)  (90000 + (n))

typedef struct {
	const char *name;
	Packet packets[16];
	const char *setup; /* before a call that begins with the last packet */
	const char *held;  /* what held up a call from the first packet to the last */
} Row;

static const Row rows[] = {
	{ "connect",
	  { { 0, 'c', 999, 0, 0, 0, WP_TCP_SYN },
	    { 1000, 's', 999, 1000, 0, 0, WP_TCP_SYN | WP_TCP_ACK },
	    { 1500, 'c', 1000, 1000, 0, 0, 0 },
	    { 1600, 'c', 1000, 1000, 50, 0, 0 } },
	  "connect 0-1500 #1-#3",
	  "" },
	{ "connect, SYN lost",
	  { { 0, 'c', 999, 0, 0, 0, WP_TCP_SYN },
	    { 1000000, 'c', 999, 0, 0, 0, WP_TCP_SYN },
	    { 1001000, 's', 999, 1000, 0, 0, WP_TCP_SYN | WP_TCP_ACK },
	    { 1001500, 'c', 1000, 1000, 0, 0, 0 },
	    { 1001600, 'c', 1000, 1000, 50, 0, 0 } },
	  "connect 0-1001500 #1-#4, timeout 0-1000000 #1-#2",
	  "" },
	{ "in mid-stream", { { 0, 'c', 1000, 1000, 50, 0, 0 } }, "", "" },
	{ "request lost, nothing behind it",
	  { { 0, 'c', 1000, 1000, 50, 0, 0 },
	    { 204000, 'c', 1000, 1000, 50, 0, 0 },
	    { 204500, 's', 1000, 1050, 80, 0, 0 } },
	  NULL,
	  "timeout 0-204000 #1-#2" },
	{ "lost twice",
	  { { 0, 'c', 1000, 1000, 50, 0, 0 },
	    { 204000, 'c', 1000, 1000, 50, 0, 0 },
	    { 612000, 'c', 1000, 1000, 50, 0, 0 },
	    { 612500, 's', 1000, 1050, 80, 0, 0 } },
	  NULL,
	  "timeout 0-204000 #1-#2, timeout 204000-612000 #2-#3" },
	{ "one of many lost behind the tap",
	  { { 0, 's', 1000, 1000, 1000, 0, 0 },
	    { 100, 's', 2000, 1000, 1000, 0, 0 },
	    { 200, 's', 3000, 1000, 1000, 0, 0 },
	    { 300, 's', 4000, 1000, 1000, 0, 0 },
	    { 10000, 'c', 1000, 2000, 0, 0, 0 },
	    { 10100, 'c', 1000, 2000, 0, 0, 0 },
	    { 10200, 'c', 1000, 2000, 0, 0, 0 },
	    { 10500, 's', 2000, 1000, 1000, 0, 0 },
	    { 20500, 'c', 1000, 5000, 0, 0, 0 } },
	  NULL,
	  "fast 300-10500 #2-#8" },
	{ "... before the tap",
	  { { 0, 's', 1000, 1000, 1000, 0, 0 },
	    { 200, 's', 3000, 1000, 1000, 0, 0 },
	    { 300, 's', 4000, 1000, 1000, 0, 0 },
	    { 10000, 'c', 1000, 2000, 0, 0, 0 },
	    { 10100, 'c', 1000, 2000, 0, 0, 0 },
	    { 20500, 's', 2000, 1000, 1000, 0, 0 } },
	  NULL,
	  "fast 300-20500 #2-#6" },
	{ "... and others pass until shortly before it comes: of other messages, perhaps",
	  { { 0, 's', 1000, 1000, 1000, 0, 0 },
	    { 200, 's', 3000, 1000, 1000, 0, 0 },
	    { 300, 's', 4000, 1000, 1000, 0, 0 },
	    { 10000, 'c', 1000, 2000, 0, 0, 0 },
	    { 10100, 'c', 1000, 2000, 0, 0, 0 },
	    { 15000, 's', 5000, 1000, 1000, 0, 0 },
	    { 20500, 's', 2000, 1000, 1000, 0, 0 } },
	  NULL,
	  "fast 200-20500 #2-#7" },
	{ "... the receiver has more room each time",
	  { { 0, 's', 1000, 1000, 1000, 0, 0 },
	    { 200, 's', 3000, 1000, 1000, 0, 0 },
	    { 300, 's', 4000, 1000, 1000, 0, 0 },
	    { 10000, 'c', 1000, 2000, 0, HOLE(1), 0 },
	    { 10100, 'c', 1000, 2000, 0, HOLE(2), 0 },
	    { 20500, 's', 2000, 1000, 1000, 0, 0 } },
	  NULL,
	  "fast 300-20500 #2-#6" },
	{ "... or says so for another reason, and SACK tells nothing",
	  { { 0, 's', 1000, 1000, 1000, 0, 0 },
	    { 200, 's', 3000, 1000, 1000, 0, 0 },
	    { 10000, 'c', 1000, 2000, 0, 600, 0 },
	    { 10100, 'c', 1000, 2000, 0, 700, 0 },
	    { 20500, 's', 2000, 1000, 1000, 0, 0 } },
	  NULL,
	  "timeout 200-20500 #2-#5" },
	{ "asked for, and yet sent by the clock alone",
	  { { 0, 's', 1000, 1000, 1000, 0, 0 },
	    { 100, 's', 2000, 1000, 1000, 0, 0 },
	    { 200, 's', 3000, 1000, 1000, 0, 0 },
	    { 10000, 'c', 1000, 2000, 0, 0, 0 },
	    { 10100, 'c', 1000, 2000, 0, 0, 0 },
	    { 210000, 's', 2000, 1000, 1000, 0, 0 } },
	  NULL,
	  "timeout 200-210000 #2-#6" },
	{ "overtaken on the way",
	  { { 0, 's', 1000, 1000, 1000, 0, 0 },
	    { 200, 's', 3000, 1000, 1000, 0, 0 },
	    { 700, 's', 2000, 1000, 1000, 0, 0 } },
	  NULL,
	  "" },
	{ "sent again though it had come",
	  { { 0, 'c', 1000, 1000, 50, 0, 0 },
	    { 300, 's', 1000, 1050, 0, 0, 0 },
	    { 204000, 'c', 1000, 1000, 50, 0, 0 } },
	  NULL,
	  "" },
	{ "a probe, though it had come: the receiver held its acknowledgement back",
	  { { 0, 'c', 1000, 1000, 50, 0, 0 },
	    { 11000, 'c', 1000, 1000, 50, 0, 0 },
	    { 11200, 's', 1000, 1050, 0, TWICE(50), 0 },
	    { 70000, 's', 1000, 1050, 80, 0, 0 } },
	  NULL,
	  "" },
	{ "a probe, and the double that is told is another",
	  { { 0, 'c', 1000, 1000, 50, 0, 0 },
	    { 300, 'c', 1050, 1000, 50, 0, 0 },
	    { 11000, 'c', 1050, 1000, 50, 0, 0 },
	    { 11200, 's', 1000, 1100, 0, TWICE(50), 0 } },
	  NULL,
	  "timeout 300-11000 #2-#3" },
	{ "the way back is as well: a double of the client's",
	  { { 0, 's', 1000, 1000, 50, 0, 0 },
	    { 11000, 's', 1000, 1000, 50, 0, 0 },
	    { 11200, 'c', 1000, 1050, 0, TWICE(50), 0 } },
	  NULL,
	  "" },
	{ "no room",
	  { { 0, 's', 1000, 1000, 1000, 0, 0 },
	    { 5000, 'c', 1000, 2000, 0, CLOSED, 0 },
	    { 205000, 's', 1999, 1000, 0, 0, 0 },
	    { 205200, 'c', 1000, 2000, 0, CLOSED, 0 },
	    { 505000, 'c', 1000, 2000, 0, 800, 0 },
	    { 505100, 's', 2000, 1000, 1000, 0, 0 } },
	  NULL,
	  "window 0-505100 #1-#6" },
	{ "no room, but nothing to send either",
	  { { 0, 's', 1000, 1000, 1000, 0, 0 },
	    { 5000, 'c', 1000, 2000, 0, CLOSED, 0 },
	    { 505000, 'c', 1000, 2000, 0, 800, 0 },
	    { 900000, 's', 2000, 1000, 1000, 0, 0 } },
	  NULL,
	  "" },
	{ "written in two, the second waits",
	  { { 0, 'c', 1000, 1000, 20, 0, 0 },
	    { 41000, 's', 1000, 1020, 0, 0, 0 },
	    { 41100, 'c', 1020, 1000, 90, 0, 0 } },
	  NULL,
	  "ack 0-41100 #1-#3" },
	{ "... is full: Nagle's algorithm lets it go",
	  { { 0, 'c', 1000, 1000, 20, 0, 0 },
	    { 41000, 's', 1000, 1020, 0, 0, 0 },
	    { 41100, 'c', 1020, 1000, 1448, 0, 0 } },
	  NULL,
	  "" },
	{ "... comes later of its own",
	  { { 0, 'c', 1000, 1000, 20, 0, 0 },
	    { 41000, 's', 1000, 1020, 0, 0, 0 },
	    { 97000, 'c', 1020, 1000, 90, 0, 0 } },
	  NULL,
	  "" },
	{ "keep-alive",
	  { { 0, 'c', 1000, 1000, 20, 0, 0 },
	    { 500, 's', 1000, 1020, 30, 0, 0 },
	    { 900, 'c', 1020, 1030, 0, 0, 0 },
	    { 7500000, 'c', 1019, 1030, 1, 0, 0 },
	    { 7500500, 's', 1030, 1020, 0, 0, 0 } },
	  NULL,
	  "" },
	{ "numbers run over",
	  { { 0, 'c', 4294967290u, 1000, 50, 0, 0 }, { 204000, 'c', 4294967290u, 1000, 50, 0, 0 } },
	  NULL,
	  "timeout 0-204000 #1-#2" },
};

static guint
feed(const Row *row, WpFlowWatch *watch)
{
	guint n = 0;

	for (; n < G_N_ELEMENTS(row->packets) && row->packets[n].from; n++) {
		const Packet *packet = &row->packets[n];
		WpSegment segment = {
			.time_ns = T0 + packet->us * US,
			.number = n + 1,
			.seq = packet->seq,
			.ack = packet->ack,
			.length = packet->length,
			.window = (guint16)(packet->window == CLOSED ? 0
					    : packet->window && packet->window < TWICE(0)
						    ? packet->window
						    : 500),
			.flags = packet->flags ? packet->flags : WP_TCP_ACK,
			.has_hole = packet->window > HOLE(0) &&
						    packet->window<CLOSED,
								   .twice_begin = packet->window>
							    TWICE(0)
					    ? 1000
					    : 0,
			.twice_end =
				packet->window > TWICE(0) ? 1000 + packet->window - TWICE(0) : 0,
		};
		wp_flow_watch_add(watch, packet->from == 'c' ? WP_FROM_CLIENT : WP_FROM_SERVER,
				  &segment);
	}
	return n;
}

/* (transfer full) Round trips, which have a test of their own, are left out. */
static char *
describe(const WpTransport *transports, guint n)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < n; i++) {
		const WpTransport *each = &transports[i];
		if (each->kind >= WP_TRANSPORT_CLIENT_RTT)
			continue;
		g_string_append_printf(
			text, "%s%s %u-%u #%u-#%u", text->len ? ", " : "",
			wp_transport_name(each->kind), (guint)((each->begin_ns - T0) / US),
			(guint)((each->end_ns - T0) / US), (guint)each->first, (guint)each->last);
	}
	return g_string_free(text, FALSE);
}

START_TEST(causes)
{
	const Row *row = &rows[_i];
	WpTransport out[WP_RECORD_MAX_TRANSPORTS];
	WpFlowWatch watch = { 0 };
	guint n = feed(row, &watch);
	gint64 last_ns = T0 + row->packets[n - 1].us * US;

	if (row->setup) {
		g_autofree char *setup =
			describe(out, wp_flow_watch_take_setup(&watch, last_ns, out));
		ck_assert_msg(strcmp(setup, row->setup) == 0, "%s: %s", row->name, setup);
		ck_assert_uint_eq(wp_flow_watch_take_setup(&watch, last_ns, out), 0);
	}
	g_autofree char *held = describe(out, wp_flow_watch_take_stalls(&watch, T0, last_ns, out));
	ck_assert_msg(strcmp(held, row->held) == 0, "%s: %s", row->name, held);
}
END_TEST

/* A reply that was lost behind the tap: its call is over when it comes again. */
START_TEST(between_calls)
{
	static const Row row = { "",
				 { { 0, 'c', 1000, 1000, 50, 0, 0 },
				   { 700, 's', 1000, 1050, 80, 0, 0 },
				   { 204000, 's', 1000, 1050, 80, 0, 0 },
				   { 204500, 'c', 1050, 1080, 50, 0, 0 } },
				 NULL,
				 NULL };
	WpTransport out[WP_RECORD_MAX_TRANSPORTS];
	WpFlowWatch watch = { 0 };

	feed(&row, &watch);
	g_autofree char *held = describe(
		out, wp_flow_watch_take_stalls(&watch, T0 + 204500 * US, T0 + 205000 * US, out));
	ck_assert_str_eq(held, "");
	ck_assert_uint_eq(watch.n_between, 1);
	wp_flow_watch_end(&watch);
	ck_assert_uint_eq(watch.n_between, 1);
}
END_TEST

/* The shortest counts, and is told once; an acknowledgement with payload holds the time of the server as well. */
START_TEST(round_trips)
{
	static const Row row = { "",
				 { { 0, 'c', 1000, 1000, 50, 0, 0 },
				   { 700, 's', 1000, 1050, 0, 0, 0 },
				   { 9000, 's', 1000, 1050, 100, 0, 0 },
				   { 9300, 'c', 1050, 1100, 0, 0, 0 },
				   { 20000, 'c', 1050, 1100, 50, 0, 0 },
				   { 20500, 's', 1100, 1100, 0, 0, 0 },
				   { 21000, 'c', 1100, 1100, 50, 0, 0 },
				   { 21100, 's', 1100, 1150, 50, 0, 0 } },
				 NULL,
				 NULL };
	WpTransport out[WP_RECORD_MAX_TRANSPORTS];
	WpFlowWatch watch = { 0 };

	feed(&row, &watch);
	ck_assert_uint_eq(wp_flow_watch_take_stalls(&watch, T0, T0 + 21100 * US, out), 2);
	ck_assert_int_eq(out[0].kind, WP_TRANSPORT_CLIENT_RTT);
	ck_assert_int_eq(out[0].end_ns - out[0].begin_ns, 300 * US);
	ck_assert_int_eq(out[1].kind, WP_TRANSPORT_SERVER_RTT);
	ck_assert_int_eq(out[1].end_ns - out[1].begin_ns, 500 * US);
	ck_assert_uint_eq(wp_flow_watch_take_stalls(&watch, T0, T0 + 21100 * US, out), 0);
}
END_TEST

/* A greeting or login ends what the connection costs; what comes later does not count. */
START_TEST(setup)
{
	WpTransport out[WP_RECORD_MAX_TRANSPORTS];
	WpFlowWatch watch = { 0 };
	WpStamp stamp = { .time_ns = T0 + 30000 * US, .packet = 9 };

	feed(&rows[0], &watch);
	wp_flow_watch_note_setup(&watch, &stamp);
	g_autofree char *text =
		describe(out, wp_flow_watch_take_setup(&watch, T0 + 40000 * US, out));
	ck_assert_str_eq(text, "connect 0-1500 #1-#3, setup 1500-30000 #3-#9");
}
END_TEST

/* More than are kept: the oldest go and are counted. */
START_TEST(too_many)
{
	WpTransport out[WP_RECORD_MAX_TRANSPORTS];
	WpFlowWatch watch = { 0 };

	for (guint i = 0; i < WP_FLOW_WATCH_MAX_STALLS + 3; i++) {
		WpSegment segment = { .time_ns = T0 + i * 300000 * US,
				      .number = i + 1,
				      .seq = 1000,
				      .length = 50,
				      .window = 500,
				      .flags = WP_TCP_ACK };
		wp_flow_watch_add(&watch, WP_FROM_CLIENT, &segment);
	}
	ck_assert_uint_eq(watch.n_left_out, 2);
	ck_assert_uint_eq(wp_flow_watch_take_stalls(&watch, T0, T0 + 3000000 * US, out),
			  WP_FLOW_WATCH_MAX_STALLS);
	ck_assert_int_eq(out[0].begin_ns, T0 + 600000 * US);
}
END_TEST

WP_SUITE_OF_ROWS("watch", { causes, G_N_ELEMENTS(rows) }, { round_trips, 0 }, { setup, 0 },
		 { between_calls, 0 }, { too_many, 0 })
