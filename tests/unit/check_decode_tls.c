/* TLS without keys through the real stream: which flows make calls, and of what. */
#include "tests/support/byte-rows.h"
#include "tests/support/suite.h"

/* Records */
#define DATA(n)      "x:170303 (h 0:" #n " ) "
#define CHANGE       "x:140303 (h b:1 ) "
#define ALERT        "x:150303 (h b:1 b:0 ) "
#define HANDSHAKE(x) "x:160303 (h " x ") "

/* Hellos: with extensions X; the server of TLS 1.2 and of 1.3 */
#define EXTENSION(type, x) "h:" #type " (h " x ") "
#define NAME(name)         EXTENSION(0, "(h b:0 (h '" name "' ) ) ")
#define ALPN(x)            EXTENSION(16, "(h " x ") ")
#define PROTOCOL(name)     "(b '" name "' ) "
#define CLIENT(x)                                                                                  \
	HANDSHAKE("b:1 b:0 (h h:0x303 0:32 (b ) (h h:0x1301 h:0xc02f ) (b b:0 ) (h " x ") ) ")
#define SERVER(x)  HANDSHAKE("b:2 b:0 (h h:0x303 0:32 (b ) h:0xc02f b:0 (h " x ") ) ")
#define SERVER_1_3 HANDSHAKE("b:2 b:0 (h h:0x303 0:32 (b ) h:0x1301 b:0 (h h:43 (h h:0x304 ) ) ) ")
#define SERVER_1_3_384                                                                             \
	HANDSHAKE("b:2 b:0 (h h:0x303 0:32 (b ) h:0x1302 b:0 (h h:43 (h h:0x304 ) ) ) ")

#define HTTP1 ALPN(PROTOCOL("http/1.1"))
#define BOTH  ALPN(PROTOCOL("h2") PROTOCOL("http/1.1"))

/* The set-up of TLS 1.3: the flight of the server, the client's Finished */
#define FLIGHT SERVER_1_3 CHANGE DATA(40) DATA(900) DATA(280) DATA(53)

/* The set-up of TLS 1.2 from the key exchange on */
#define KEYS_1_2     "C " HANDSHAKE("b:16 b:0 (h 0:32 ) ") CHANGE HANDSHAKE("0:40 ")
#define FINISHED_1_2 "S " CHANGE HANDSHAKE("0:40 ")

/* Turns: a call and a return, four of them */
#define TURN  "C " DATA(80), "S " DATA(300)
#define TURNS TURN, TURN, TURN, TURN

static const WpByteRow rows[] = {
	{ "TLS 1.3: flight, Finished, tickets, alerts and new keys are no calls",
	  { "C " CLIENT(NAME("shop.example") HTTP1), "S " FLIGHT, "C " CHANGE DATA(53),
	    "S " DATA(250) DATA(250), "C " DATA(80), "S " DATA(300), "C " DATA(22) DATA(90),
	    "S " DATA(200) DATA(100), "P 5000", "S " DATA(19), "C " DATA(19), "F", "G" },
	  "C1 [1,1] tls 90 setup\n"
	  "R1 [2,2] tls 1348 unknown setup\n"
	  "C2 [5,5] tls 85\n"
	  "R2 [6,6] tls 305 unknown\n"
	  "C3 [7,7] tls 95\n"
	  "R3 [8,8] tls 310 unknown\n" },
	{ "the request goes with the Finished, and its body crosses the tickets",
	  { "C " CLIENT(HTTP1), "S " FLIGHT, "C " CHANGE DATA(53), "C " DATA(80), "B 85",
	    "S " DATA(250) DATA(250), "B 510", "C " DATA(40), "S " DATA(300), "C " DATA(80),
	    "S " DATA(300) },
	  "C1 [1,1] tls 69 setup\n"
	  "R1 [2,2] tls 1348 unknown setup\n"
	  "C2 [4,8] tls 130\n"
	  "R2 [9,9] tls 305 unknown\n"
	  "C3 [10,10] tls 85\n"
	  "R3 [11,11] tls 305 unknown\n" },
	{ "a client with a certificate, and hashes of 48 bytes",
	  { "C " CLIENT(HTTP1), "S " SERVER_1_3_384 CHANGE DATA(40) DATA(900) DATA(280) DATA(69),
	    "C " CHANGE DATA(800) DATA(280) DATA(69), "C " DATA(53), "S " DATA(30) },
	  "C1 [1,1] tls 69 setup\n"
	  "R1 [2,2] tls 1364 unknown setup\n"
	  "C2 [4,4] tls 58\n"
	  "R2 [5,5] tls 35 unknown\n" },
	{ "data sent before the handshake is over is a call",
	  { "C " CLIENT(HTTP1) CHANGE DATA(80), "S " FLIGHT DATA(300), "C " DATA(21) DATA(53),
	    "C " DATA(80), "S " DATA(300) },
	  "C1 [1,1] tls 85\n"
	  "R1 [2,2] tls 1598 unknown\n"
	  "C2 [4,4] tls 85\n"
	  "R2 [5,5] tls 305 unknown\n" },
	{ "HTTP/2 alone is on offer",
	  { "C " CLIENT(ALPN(PROTOCOL("h2"))), "S " FLIGHT, "C " CHANGE DATA(53), TURN, TURN },
	  "C1 [1,1] tls 63 setup\n"
	  "R1 [2,2] tls 1348 unknown setup\n"
	  "tls-multiplexed 1\n" },
	{ "HTTP/2 was chosen",
	  { "C " CLIENT(BOTH), "S " SERVER(ALPN(PROTOCOL("h2"))), KEYS_1_2, FINISHED_1_2, TURN },
	  "C1 [1,1] tls 72 setup\n"
	  "R1 [2,2] tls 58 unknown setup\n"
	  "C2 [3,3] tls 86 setup\n"
	  "R2 [4,4] tls 45 unknown setup\n"
	  "tls-multiplexed 1\n" },
	{ "HTTP/2 was not chosen",
	  { "C " CLIENT(BOTH), "S " SERVER(""), KEYS_1_2, FINISHED_1_2, TURN },
	  "C1 [1,1] tls 72 setup\n"
	  "R1 [2,2] tls 49 unknown setup\n"
	  "C2 [3,3] tls 86 setup\n"
	  "R2 [4,4] tls 45 unknown setup\n"
	  "C3 [5,5] tls 85\n"
	  "R3 [6,6] tls 305 unknown\n" },
	{ "HTTP/2 may have been chosen: a few turns prove nothing",
	  { "C " CLIENT(BOTH), "S " FLIGHT, "C " CHANGE DATA(53), TURNS, "P 2000000", TURN },
	  "C1 [1,1] tls 72 setup\n"
	  "R1 [2,2] tls 1348 unknown setup\n"
	  "tls-multiplexed 1\n" },
	{ "one byte of the call goes ahead",
	  { "C " CLIENT(HTTP1), "S " SERVER(""), KEYS_1_2, FINISHED_1_2, "C x:170301 (h 0:21 ) ",
	    "C x:170301 (h 0:160 ) ", "S " DATA(300) },
	  "C1 [1,1] tls 69 setup\n"
	  "R1 [2,2] tls 49 unknown setup\n"
	  "C2 [3,3] tls 86 setup\n"
	  "R2 [4,4] tls 45 unknown setup\n"
	  "C3 [5,6] tls 191\n"
	  "R3 [7,7] tls 305 unknown\n" },
	{ "joined in the middle: turns that never cross are calls",
	  { "mid", "S " DATA(70), TURN, TURN, "S " ALERT, "G" },
	  "C1 [2,2] tls 85\n"
	  "R1 [3,3] tls 305 unknown\n"
	  "C2 [4,4] tls 85\n"
	  "R2 [5,5] tls 305 unknown\n" },
	{ "joined in the middle: turns that cross are none",
	  { "mid", TURN, TURN, "B 100", TURN },
	  "tls-multiplexed 1\n" },
	{ "joined in the middle: the client's short records are those of HTTP/2",
	  { "mid", TURN, TURN, "C " DATA(34), "S " DATA(26), TURN },
	  "tls-multiplexed 1\n" },
	{ "joined in the middle: the client asks again before it has an answer",
	  { "mid", TURN, TURN, "C " DATA(80), "P 1000", "C " DATA(90), "S " DATA(300), TURN },
	  "tls-multiplexed 1\n" },
	{ "joined in the middle: a long body follows its head late",
	  { "mid", TURN, "C " DATA(80), "P 1000", "C " DATA(1300), "S " DATA(300), "F", "G" },
	  "C1 [1,1] tls 85\n"
	  "R1 [2,2] tls 305 unknown\n"
	  "C2 [3,1005] tls 1390\n"
	  "R2 [1006,1006] tls 305 unknown\n" },
	{ "the client's hello was cut: it may have offered anything",
	  { "C x:16030100c8 x:010000c40303 0:20", "x 174", "S " FLIGHT, "C " CHANGE DATA(53), TURN,
	    TURN, "C " DATA(34), "S " DATA(26), TURN },
	  "C1 [1,1] tls 205 setup\n"
	  "R1 [2,2] tls 1348 unknown setup\n"
	  "tls-multiplexed 1\n" },
	{ "believed, then crossed too often",
	  { "mid", TURNS, TURN, "B 50", "C " DATA(80), "S " DATA(300), TURN },
	  "C1 [1,1] tls 85\n"
	  "R1 [2,2] tls 305 unknown\n"
	  "C2 [3,3] tls 85\n"
	  "R2 [4,4] tls 305 unknown\n"
	  "C3 [5,5] tls 85\n"
	  "R3 [6,6] tls 305 unknown\n"
	  "C4 [7,7] tls 85\n"
	  "R4 [8,8] tls 305 unknown\n"
	  "C5 [9,9] tls 85\n"
	  "tls-multiplexed 1\n"
	  "calls-open 1\n" },
	{ "a slow flow is believed sooner",
	  { "mid", TURN, TURN, "P 1000000", "C " DATA(80), "S " DATA(300), "B 10", "C " DATA(80),
	    "S " DATA(300) },
	  "C1 [1,1] tls 85\n"
	  "R1 [2,2] tls 305 unknown\n"
	  "C2 [3,3] tls 85\n"
	  "R2 [4,4] tls 305 unknown\n"
	  "C3 [1000006,1000006] tls 85\n"
	  "tls-multiplexed 1\n"
	  "calls-open 1\n" },
	{ "nothing is known of the protocol",
	  { "C " CLIENT(""), "S " FLIGHT, "C " CHANGE DATA(53), "C " DATA(22), "S " DATA(30),
	    "C " DATA(22), "S " DATA(30), "F", "G" },
	  "C1 [1,1] tls 54 setup\n"
	  "R1 [2,2] tls 1348 unknown setup\n"
	  "C2 [4,4] tls 27\n"
	  "R2 [5,5] tls 35 unknown\n"
	  "C3 [6,6] tls 27\n"
	  "R3 [7,7] tls 35 unknown\n" },
	{ "a hole on trial",
	  { "mid", TURN, "C " DATA(80), "S " DATA(300), "s 500", TURN, TURN, "F", "G" },
	  "C1 [1,1] tls 85\n"
	  "R1 [2,2] tls 305 unknown\n"
	  "C2 [3,3] tls 85\n"
	  "C3 [6,6] tls 85\n"
	  "R3 [7,7] tls 305 unknown\n"
	  "C4 [8,8] tls 85\n"
	  "R4 [9,9] tls 305 unknown\n"
	  "calls-unanswered 1\n"
	  "resyncs 1\n" },
};

START_TEST(conversations)
{
	wp_byte_rows_check(NULL, rows, G_N_ELEMENTS(rows));
}
END_TEST

START_TEST(names)
{
	g_autoptr(GByteArray) hello = wp_byte_words(CLIENT(NAME("shop.example") HTTP1));
	WpStep steps[] = { WP_C_BYTES(hello->data, hello->len) };
	g_autofree char *got = wp_decode_run_names(NULL, steps, 1);
	ck_assert_str_eq(got, "10.0.0.2=shop.example tls\n");
}
END_TEST

WP_SUITE("decode-tls", conversations, names)
