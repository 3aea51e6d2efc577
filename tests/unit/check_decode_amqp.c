/* AMQP through the real stream. */
#include "tests/support/byte-rows.h"
#include "tests/support/suite.h"

#define END                            ") b:0xce "
#define FRAME(type, channel)           "b:" type " h:" channel " (w "
#define METHOD(channel, class, method) FRAME("1", channel) "h:" class " h:" method " "
#define HEADER(channel, size)                                                                      \
	FRAME("2", channel) "h:60 h:0 q:" size " h:0x8000 (b 'text/plain' ) " END
#define BODY(channel, text)     FRAME("3", channel) "'" text "' " END
#define PUBLISH(channel)        METHOD(channel, "60", "40") "h:0 (b 'shop' ) (b 'order.77' ) b:0 " END
#define DECLARE(channel, flags) METHOD(channel, "50", "10") "h:0 (b 'orders' ) b:" flags " w:0 " END

static const WpByteRow rows[] = {
	{ "the login; either side calls",
	  { "C 'AMQP' x:00000901",
	    "S " METHOD("0", "10", "10") "b:0 b:9 w:0 (w 'PLAIN' ) (w 'en' ) " END,
	    "C " METHOD("0", "10", "11") "w:0 (b 'PLAIN' ) (w 'secret' ) (b 'en' ) " END,
	    "S " METHOD("0", "10", "30") "h:2047 w:131072 h:60 " END,
	    "C " METHOD("0", "10", "31") "h:2047 w:131072 h:60 " END METHOD(
		    "0", "10", "40") "(b '/' ) b:0 b:0 " END,
	    "S " METHOD("0", "10", "41") "b:0 " END, "C " METHOD("1", "20", "10") "b:0 " END,
	    "S " METHOD("1", "20", "11") "w:0 " END, "C " DECLARE("1", "2"),
	    "S " METHOD("1", "50", "11") "(b 'orders' ) w:0 w:0 " END, "S b:8 h:0 w:0 b:0xce" },
	  "c1 [2,2] amqp 33 connection.start setup\n"
	  "r1 [3,3] amqp 35 connection.start ok setup\n"
	  "c2 [4,4] amqp 20 connection.tune setup\n"
	  "r2 [5,5] amqp 20 connection.tune ok setup\n"
	  "C3 [5,5] amqp 16 connection.open setup\n"
	  "R3 [6,6] amqp 13 connection.open ok setup\n"
	  "C4 [7,7] amqp 13 channel.open setup\n"
	  "R4 [8,8] amqp 16 channel.open ok setup\n"
	  "C5 [9,9] amqp 26 queue.declare orders\n"
	  "R5 [10,10] amqp 27 queue.declare orders ok\n" },
	{ "publish and deliver with their content",
	  { "C " PUBLISH("1") HEADER("1", "10"), "C " BODY("1", "order"), "C " BODY("1", "-7777"),
	    "S " METHOD("1", "60",
			"60") "(b 'tag1' ) q:1 b:0 (b '' ) (b 'orders' ) " END HEADER("1", "0"),
	    "C " METHOD("1", "60", "80") "q:1 b:0 " END },
	  "M1 [1,3] amqp 88 basic.publish shop order.{} unknown\n"
	  "m2 [4,4] amqp 67 basic.deliver orders unknown\n"
	  "M3 [5,5] amqp 21 basic.ack unknown\n" },
	{ "contents of several channels between one another",
	  { "C " PUBLISH("1") HEADER("1", "4") PUBLISH("2") HEADER("2", "4"),
	    "C " BODY("2", "abcd"), "C " BODY("1", "abcd") },
	  "M1 [1,2] amqp 74 basic.publish shop order.{} unknown\n"
	  "M2 [1,3] amqp 74 basic.publish shop order.{} unknown\n" },
	{ "get, with and without a message",
	  { "C " METHOD("1", "60", "70") "h:0 (b 'orders' ) b:0 " END,
	    "S " METHOD("1", "60", "71") "q:1 b:0 (b '' ) (b 'orders' ) w:0 " END HEADER("1", "3"),
	    "S " BODY("1", "abc"), "C " METHOD("1", "60", "70") "h:0 (b 'orders' ) b:0 " END,
	    "S " METHOD("1", "60", "72") "(b '' ) " END },
	  "C1 [1,1] amqp 22 basic.get orders\n"
	  "R1 [2,3] amqp 77 basic.get orders ok\n"
	  "C2 [4,4] amqp 22 basic.get orders\n"
	  "R2 [5,5] amqp 13 basic.get orders ok\n" },
	{ "nobody waits",
	  { "C " DECLARE("1", "16")
		    METHOD("1", "60", "20") "h:0 (b 'orders' ) (b 't' ) b:8 w:0 " END },
	  "M1 [1,1] amqp 26 queue.declare orders unknown\n"
	  "M2 [1,1] amqp 28 basic.consume orders unknown\n" },
	{ "the channel is closed for a method, then by us",
	  { "C " DECLARE("1", "1"),
	    "S " METHOD("1", "20", "40") "h:404 (b 'no queue' ) h:50 h:10 " END,
	    "C " METHOD("1", "20", "41") END,
	    "C " METHOD("2", "20", "40") "h:200 (b '' ) h:0 h:0 " END,
	    "S " METHOD("2", "20", "41") END },
	  "C1 [1,1] amqp 26 queue.declare orders\n"
	  "R1 [2,2] amqp 27 queue.declare orders error\n"
	  "M2 [3,3] amqp 12 channel.close-ok unknown\n"
	  "C3 [4,4] amqp 19 channel.close\n"
	  "R3 [5,5] amqp 12 channel.close ok\n" },
	{ "closed for what was published before: the method behind it is never looked at",
	  { "C " PUBLISH("1") HEADER("1", "0") DECLARE("1", "0"),
	    "S " METHOD("1", "20", "40") "h:404 (b 'no exchange' ) h:60 h:40 " END,
	    "C " METHOD("1", "20", "41") END },
	  "M1 [1,1] amqp 62 basic.publish shop order.{} unknown\n"
	  "C2 [1,1] amqp 26 queue.declare orders\n"
	  "R2 [2,2] amqp 30 queue.declare orders error\n"
	  "M3 [3,3] amqp 12 channel.close-ok unknown\n" },
	{ "a method crosses the close of its channel",
	  { "C " PUBLISH("1") HEADER("1", "0"),
	    "S " METHOD("1", "20", "40") "h:404 (b 'no exchange' ) h:60 h:40 " END,
	    "C " DECLARE("1", "0"), "C " METHOD("1", "20", "41") END },
	  "M1 [1,1] amqp 62 basic.publish shop order.{} unknown\n"
	  "c2 [2,2] amqp 30 channel.close\n"
	  "C3 [3,3] amqp 26 queue.declare orders\n"
	  "R3 [4,4] amqp 0 queue.declare orders error\n"
	  "r2 [4,4] amqp 12 channel.close ok\n" },
	{ "the method that the channel is closed for was not captured",
	  { "mid", "C " DECLARE("1", "1"),
	    "S " METHOD("1", "50", "11") "(b 'orders' ) w:0 w:0 " END, "c 26",
	    "S " METHOD("1", "20", "40") "h:404 (b 'no queue' ) h:50 h:10 " END,
	    "C " METHOD("1", "20", "41") END },
	  "C1 [1,1] amqp 26 queue.declare orders\n"
	  "R1 [2,2] amqp 27 queue.declare orders ok\n"
	  "M2 [5,5] amqp 12 channel.close-ok unknown\n"
	  "returns-orphan 1\n"
	  "resyncs 1\n" },
	{ "the method that the channel is closed for, beside another that waits",
	  { "C " DECLARE("1", "0") METHOD("1", "20", "20") "b:1 " END,
	    "S " METHOD("1", "20", "40") "h:404 (b 'no queue' ) h:50 h:10 " END,
	    "C " METHOD("1", "20", "41") END },
	  "C1 [1,1] amqp 26 queue.declare orders\n"
	  "C2 [1,1] amqp 13 channel.flow\n"
	  "R1 [2,2] amqp 27 queue.declare orders error\n"
	  "R2 [3,3] amqp 0 channel.flow error\n"
	  "M3 [3,3] amqp 12 channel.close-ok unknown\n" },
	{ "a close whose reason is cut off",
	  { "C " DECLARE("1", "1"), "S b:1 h:1 w:60 h:20 h:40 h:404 b:50 0:2", "y 52",
	    "C " METHOD("1", "20", "41") END },
	  "C1 [1,1] amqp 26 queue.declare orders\n"
	  "R1 [2,2] amqp 68 queue.declare orders error\n"
	  "M2 [3,3] amqp 12 channel.close-ok unknown\n" },
	{ "in mid-stream, with a body first",
	  { "mid", "S " BODY("1", "abc"), "C " DECLARE("1", "0"),
	    "S " METHOD("1", "50", "11") "(b 'orders' ) w:0 w:0 " END },
	  "C1 [2,2] amqp 26 queue.declare orders\n"
	  "R1 [3,3] amqp 27 queue.declare orders ok\n" },
	{ "a hole in a body, and behind it",
	  { "C " PUBLISH("1") HEADER("1", "100") FRAME("3", "1") "0:100 " END, "c 10",
	    "C " PUBLISH("1") HEADER("1", "0"),
	    "C " PUBLISH("1") HEADER("1", "100") "b:3 h:1 w:100 0:20", "c 60", "C 0:20 b:0xce" },
	  "M1 [1,1] amqp 170 basic.publish shop order.{} unknown\n"
	  "M2 [3,3] amqp 62 basic.publish shop order.{} unknown\n"
	  "M3 [4,6] amqp 170 basic.publish shop order.{} unknown\n"
	  "resyncs 1\n" },
};

START_TEST(conversations)
{
	wp_byte_rows_check(NULL, rows, G_N_ELEMENTS(rows));
}
END_TEST

START_TEST(tokens)
{
	static const WpByteRow values[] = {
		{ "body and properties",
		  { "C " METHOD("1", "60", "40") "h:0 (b 'shop' ) (b 'orders' ) b:0 " END FRAME(
			  "2", "1") "h:60 h:0 q:10 h:0x0400 (b 'correlation-7712' ) " END
			    BODY("1", "order-7777") },
		  "M1 [1,1] amqp 84 basic.publish shop orders unknown tokens=2\n" },
	};
	WpRunOptions options = { .show_tokens = TRUE };
	wp_byte_rows_check(&options, values, G_N_ELEMENTS(values));
}
END_TEST

/* More contents at a time than there is room for. */
START_TEST(limit)
{
	g_autoptr(GString) steps = g_string_new("C ");
	for (int i = 1; i <= 17; i++)
		g_string_append_printf(
			steps, "b:1 h:%d (w h:60 h:40 h:0 (b 'a' ) (b 'b' ) b:0 ) b:0xce ", i);
	WpByteRow row = { "limit",
			  { steps->str },
			  "M1 [1,1] amqp 19 basic.publish a b unknown\nstreams-evicted 1\n" };
	wp_byte_rows_check(NULL, &row, 1);
}
END_TEST

WP_SUITE("decode-amqp", conversations, tokens, limit)
