/* MQTT through the real stream. */
#include "tests/support/byte-rows.h"
#include "tests/support/suite.h"

#define CONNECT "b:0x10 (v (h 'MQTT' ) b:4 b:2 h:60 (h 'app-1' ) ) "
#define CONNACK "b:0x20 (v b:0 b:0 ) "

static const WpByteRow rows[] = {
	{ "connect, publish by three qualities",
	  { "C " CONNECT, "S " CONNACK, "C b:0x30 (v (h 'room/7/light' ) 'on' )",
	    "C b:0x32 (v (h 'room/7/light' ) h:1 'on' ) b:0x34 (v (h 'door' ) h:2 )",
	    "S b:0x50 (v h:2 ) b:0x40 (v h:1 )", "C b:0x62 (v h:2 )", "S b:0x70 (v h:2 )" },
	  "C1 [1,1] mqtt 19 CONNECT setup\n"
	  "R1 [2,2] mqtt 4 CONNECT ok setup\n"
	  "M2 [3,3] mqtt 18 PUBLISH room/{}/light unknown\n"
	  "C3 [4,4] mqtt 20 PUBLISH room/{}/light\n"
	  "C4 [4,4] mqtt 10 PUBLISH door\n"
	  "R3 [5,5] mqtt 4 PUBLISH room/{}/light ok\n"
	  "R4 [7,7] mqtt 4 PUBLISH door ok\n" },
	{ "the server publishes, with ids of its own",
	  { "C " CONNECT, "S " CONNACK, "C b:0x32 (v (h 'a' ) h:1 )", "S b:0x32 (v (h 'b' ) h:1 )",
	    "C b:0x40 (v h:1 )", "S b:0x40 (v h:1 )" },
	  "C1 [1,1] mqtt 19 CONNECT setup\n"
	  "R1 [2,2] mqtt 4 CONNECT ok setup\n"
	  "C2 [3,3] mqtt 7 PUBLISH a\n"
	  "c3 [4,4] mqtt 7 PUBLISH b\n"
	  "r3 [5,5] mqtt 4 PUBLISH b ok\n"
	  "R2 [6,6] mqtt 4 PUBLISH a ok\n" },
	{ "subscribe, refused; unsubscribe; ping; the end",
	  { "C " CONNECT, "S " CONNACK, "C b:0x82 (v h:7 (h 'room/+/light' ) b:1 )",
	    "S b:0x90 (v h:7 b:0x80 )", "C b:0xa2 (v h:8 (h 'room/#' ) )", "S b:0xb0 (v h:8 )",
	    "C b:0xc0 b:0", "S b:0xd0 b:0", "C b:0xe0 b:0" },
	  "C1 [1,1] mqtt 19 CONNECT setup\n"
	  "R1 [2,2] mqtt 4 CONNECT ok setup\n"
	  "C2 [3,3] mqtt 19 SUBSCRIBE room/+/light\n"
	  "R2 [4,4] mqtt 5 SUBSCRIBE room/+/light error\n"
	  "C3 [5,5] mqtt 12 UNSUBSCRIBE room/#\n"
	  "R3 [6,6] mqtt 4 UNSUBSCRIBE room/# ok\n"
	  "C4 [7,7] mqtt 2 PINGREQ setup\n"
	  "R4 [8,8] mqtt 2 PINGREQ ok setup\n"
	  "M5 [9,9] mqtt 2 DISCONNECT unknown setup\n" },
	{ "version 5, properties, reasons, a PUBREC that refuses",
	  { "C b:0x10 (v (h 'MQTT' ) b:5 b:2 h:60 b:0 (h 'app-1' ) )",
	    "S b:0x20 (v b:0 b:0x87 b:0 )", "C b:0x82 (v h:7 b:2 b:11 b:1 (h 'a/b' ) b:1 )",
	    "S b:0x90 (v h:7 b:0 b:1 )", "C b:0x34 (v (h 'door' ) h:2 b:0 'x' )",
	    "S b:0x50 (v h:2 b:0x97 )" },
	  "C1 [1,1] mqtt 20 CONNECT setup\n"
	  "R1 [2,2] mqtt 5 CONNECT error setup\n"
	  "C2 [3,3] mqtt 13 SUBSCRIBE a/b\n"
	  "R2 [4,4] mqtt 6 SUBSCRIBE a/b ok\n"
	  "C3 [5,5] mqtt 12 PUBLISH door\n"
	  "R3 [6,6] mqtt 5 PUBLISH door error\n" },
	{ "in mid-stream of version 5: properties, none or some",
	  { "mid", "C b:0x82 (v h:7 b:0 (h 'order/+' ) b:1 )", "S b:0x90 (v h:7 b:0 b:1 )",
	    "C b:0xa2 (v h:8 b:3 x:260001 (h 'part' ) )", "S b:0xb0 (v h:8 b:0 b:0x11 )" },
	  "C1 [1,1] mqtt 15 SUBSCRIBE order/+\n"
	  "R1 [2,2] mqtt 6 SUBSCRIBE order/+ ok\n"
	  "C2 [3,3] mqtt 14 UNSUBSCRIBE part\n"
	  "R2 [4,4] mqtt 6 UNSUBSCRIBE part ok\n" },
	{ "in mid-stream, and the other side is silent for hours",
	  { "mid", "C b:0x30 (v (h 'a' ) 'x' )", "C b:0x30 (v (h 'a' ) 'y' ) b:0x31 (v (h 'b' ) )",
	    "C b:0x30 (v (h 'b' ) 'z' )" },
	  "M1 [1,1] mqtt 6 PUBLISH a unknown\nM2 [2,2] mqtt 6 PUBLISH a unknown\n"
	  "M3 [2,2] mqtt 5 PUBLISH b unknown\nM4 [3,3] mqtt 6 PUBLISH b unknown\n" },
	{ "... and it is the server that speaks",
	  { "mid", "S b:0x30 (v (h 'a' ) 'x' ) b:0x30 (v (h 'a' ) 'y' )",
	    "S b:0x30 (v (h 'b' ) )" },
	  "m1 [1,1] mqtt 6 PUBLISH a unknown\nm2 [1,1] mqtt 6 PUBLISH a unknown\n"
	  "m3 [2,2] mqtt 5 PUBLISH b unknown\n" },
	{ "in mid-stream",
	  { "mid", "C b:0x32 (v (h 'a' ) h:1 )", "S b:0x40 (v h:1 )", "C b:0x32 (v (h 'b' ) h:2 )",
	    "S b:0x40 (v h:2 )" },
	  "C1 [1,1] mqtt 7 PUBLISH a\n"
	  "R1 [2,2] mqtt 4 PUBLISH a ok\n"
	  "C2 [3,3] mqtt 7 PUBLISH b\n"
	  "R2 [4,4] mqtt 4 PUBLISH b ok\n" },
	{ "a hole; a long payload",
	  { "C " CONNECT, "S " CONNACK, "c 20", "C b:0x32 (v (h 'a' ) h:1 0:600 )",
	    "S b:0x40 (v h:1 )", "C b:0x32 v:2005 (h 'a' ) h:2 0:600", "c 1000", "C 0:400",
	    "S b:0x40 (v h:2 )" },
	  "C1 [1,1] mqtt 19 CONNECT setup\n"
	  "R1 [2,2] mqtt 4 CONNECT ok setup\n"
	  "C2 [4,4] mqtt 608 PUBLISH a\n"
	  "R2 [5,5] mqtt 4 PUBLISH a ok\n"
	  "C3 [6,8] mqtt 2008 PUBLISH a\n"
	  "R3 [9,9] mqtt 4 PUBLISH a ok\n"
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
		{ "topic and payload",
		  { "C " CONNECT "b:0x30 (v (h 'cars/ab12cd/at' ) 'order-77 is 3' )" },
		  "C1 [1,1] mqtt 19 CONNECT setup tokens=0\n"
		  "M2 [1,1] mqtt 31 PUBLISH cars/{}/at unknown tokens=2\n"
		  "calls-open 1\n" },
	};
	WpRunOptions options = { .show_tokens = TRUE };
	wp_byte_rows_check(&options, values, G_N_ELEMENTS(values));
}
END_TEST

/* Joined in the middle of a body larger than what is held of a flow from its start. */
START_TEST(joined_in_body)
{
	g_autoptr(GByteArray) body = wp_byte_words("'x' 0:30000");
	g_autoptr(GByteArray) answer = wp_byte_words("b:0x40 (v h:9 )");
	g_autoptr(GByteArray) call = wp_byte_words("b:0x32 (v (h 'b' ) h:2 )");
	g_autoptr(GByteArray) return_ = wp_byte_words("b:0x40 (v h:2 )");
	const WpStep steps[] = {
		WP_C_BYTES(body->data, body->len),       WP_C_BYTES(body->data, body->len),
		WP_S_BYTES(answer->data, answer->len),   WP_C_BYTES(call->data, call->len),
		WP_S_BYTES(return_->data, return_->len),
	};
	/* ... of both sides */
	const WpStep crossed[] = {
		WP_C_BYTES(body->data, body->len),
		WP_S_BYTES(body->data, body->len),
		WP_C_BYTES(call->data, call->len),
		WP_S_BYTES(return_->data, return_->len),
	};
	WpRunOptions options = { .is_midstream = TRUE };
	g_autofree char *other = wp_decode_run(&options, crossed, G_N_ELEMENTS(crossed));
	ck_assert_str_eq(other, "C1 [3,3] mqtt 7 PUBLISH b\n"
				"R1 [4,4] mqtt 4 PUBLISH b ok\n"
				"bytes-skipped 60002\n");
	g_autofree char *got = wp_decode_run(&options, steps, G_N_ELEMENTS(steps));
	ck_assert_str_eq(got, "C1 [4,4] mqtt 7 PUBLISH b\n"
			      "R1 [5,5] mqtt 4 PUBLISH b ok\n"
			      "bytes-skipped 60006\n");
}
END_TEST

WP_SUITE("decode-mqtt", conversations, tokens, joined_in_body)
