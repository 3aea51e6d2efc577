/* NATS through the real stream. */
#include "tests/support/byte-rows.h"
#include "tests/support/suite.h"

#define INFO "S 'INFO {\"server_id\":\"x\",\"proto\":1}' r"

static const WpByteRow rows[] = {
	{ "set-up; a request and its answer at the asker's",
	  { INFO, "C 'CONNECT {\"verbose\":false}' r 'PING' r", "S 'PONG' r",
	    "C 'SUB _INBOX.ab12.* 1' r 'PUB orders.42.get _INBOX.ab12.7 5' r 'hello' r",
	    "S 'MSG _INBOX.ab12.7 1 2' r 'ok' r" },
	  "m1 [1,1] nats 34 INFO unknown setup\n"
	  "M2 [2,2] nats 27 CONNECT unknown setup\n"
	  "C3 [2,2] nats 6 PING setup\n"
	  "R3 [3,3] nats 6 PING ok setup\n"
	  "M4 [4,4] nats 21 SUB _INBOX.ab{}.* unknown\n"
	  "C5 [4,4] nats 42 PUB orders.{}.get\n"
	  "R5 [5,5] nats 27 PUB orders.{}.get ok\n" },
	{ "the same at the answerer's; another answer comes late",
	  { INFO, "C 'SUB orders.*.get workers 1' r",
	    "S 'MSG orders.42.get 1 _INBOX.ab12.7 5' r 'hello' r",
	    "C 'PUB _INBOX.ab12.7 2' r 'ok' r", "C 'PUB _INBOX.ab12.7 2' r 'ok' r" },
	  "m1 [1,1] nats 34 INFO unknown setup\n"
	  "M2 [2,2] nats 28 SUB orders.*.get unknown\n"
	  "c3 [3,3] nats 44 MSG orders.{}.get\n"
	  "r3 [4,4] nats 25 MSG orders.{}.get ok\n"
	  "M4 [5,5] nats 25 PUB _INBOX.ab{}.{} unknown\n" },
	{ "one way, in pieces; verbose; the server pings; an error",
	  { INFO, "C 'PUB news 300' r 0:100", "C 0:200 r", "S '+OK' r 'PING' r", "C 'PONG' r",
	    "S '-ERR ' x:27 'Slow Consumer' x:27 r 'MSG news 9 1' r 'x' r", "C 'UNSUB 9' r" },
	  "m1 [1,1] nats 34 INFO unknown setup\n"
	  "M2 [2,3] nats 316 PUB news unknown\n"
	  "c3 [4,4] nats 6 PING setup\n"
	  "r3 [5,5] nats 6 PING ok setup\n"
	  "m4 [6,6] nats 22 -ERR error\n"
	  "m5 [6,6] nats 17 MSG news unknown\n"
	  "M6 [7,7] nats 9 UNSUB {} unknown\n" },
	{ "two ask before the first is answered",
	  { INFO, "C 'PING' r", "C 'PING' r", "S 'PONG' r", "S 'PING' r 'PONG' r", "C 'PONG' r" },
	  "m1 [1,1] nats 34 INFO unknown setup\n"
	  "C2 [2,2] nats 6 PING setup\n"
	  "C3 [3,3] nats 6 PING setup\n"
	  "R2 [4,4] nats 6 PING ok setup\n"
	  "c4 [5,5] nats 6 PING setup\n"
	  "R3 [5,5] nats 6 PING ok setup\n"
	  "r4 [6,6] nats 6 PING ok setup\n" },
	{ "a PONG is lost, then a PING",
	  { INFO, "C 'PING' r", "s 6", "C 'PING' r", "S 'PONG' r", "c 6", "C 'SUB a 1' r",
	    "S 'PONG' r", "C 'PING' r", "S 'PONG' r" },
	  "m1 [1,1] nats 34 INFO unknown setup\n"
	  "C2 [2,2] nats 6 PING setup\n"
	  "C3 [4,4] nats 6 PING setup\n"
	  "R3 [5,5] nats 6 PING ok setup\n"
	  "M4 [7,7] nats 9 SUB a unknown\n"
	  "C5 [9,9] nats 6 PING setup\n"
	  "R5 [10,10] nats 6 PING ok setup\n"
	  "returns-orphan 1\n"
	  "calls-unanswered 1\n"
	  "resyncs 2\n" },
	{ "a hole of several packets: the first PING came before its end",
	  { INFO, "s 12", "B 6", "C 'PING' r", "C 'PING' r", "S 'PONG' r" },
	  "m1 [1,1] nats 34 INFO unknown setup\n"
	  "C2 [4,4] nats 6 PING setup\n"
	  "C3 [5,5] nats 6 PING setup\n"
	  "R3 [6,6] nats 6 PING ok setup\n"
	  "calls-unanswered 1\n"
	  "resyncs 1\n" },
	{ "headers; nobody listens; time ran out",
	  { INFO, "C 'HPUB a.b _INBOX.1 12 14' r 'NATS/1.0' r r 'hi' r",
	    "S 'HMSG _INBOX.1 1 16 16' r 'NATS/1.0 503' r r r", "C 'PUB c _INBOX.2 0' r r",
	    "S 'HMSG _INBOX.2 1 16 16' r 'NATS/1.0 408' r r r" },
	  "m1 [1,1] nats 34 INFO unknown setup\n"
	  "C2 [2,2] nats 41 HPUB a.b\n"
	  "R2 [3,3] nats 41 HPUB a.b error\n"
	  "C3 [4,4] nats 20 PUB c\n"
	  "R3 [5,5] nats 41 PUB c timeout\n" },
	{ "in mid-stream",
	  { "mid", "C 'PUB a _INBOX.1 1' r 'x' r", "S 'MSG _INBOX.1 3 1' r 'y' r" },
	  "C1 [1,1] nats 21 PUB a\n"
	  "R1 [2,2] nats 21 PUB a ok\n" },
	{ "a hole in a payload, and one of whole messages",
	  { INFO, "C 'PUB a _INBOX.1 1000' r 0:400", "c 500", "C 0:100 r",
	    "S 'MSG _INBOX.1 3 1' r 'y' r", "s 40", "S 'MSG news 3 1' r 'y' r" },
	  "m1 [1,1] nats 34 INFO unknown setup\n"
	  "C2 [2,4] nats 1023 PUB a\n"
	  "R2 [5,5] nats 21 PUB a ok\n"
	  "m3 [7,7] nats 17 MSG news unknown\n"
	  "resyncs 1\n" },
	{ "a greeting longer than the packets that are waited for",
	  { "S 'INFO "
	    "{\"server_id\":\"x\",\"version\":\"2.9.10\",\"proto\":1,\"max_payload\":1048576}' r",
	    "C 'PING' r", "S 'PONG' r" },
	  "m1 [1,1] nats 75 INFO unknown setup\n"
	  "C2 [2,2] nats 6 PING setup\n"
	  "R2 [3,3] nats 6 PING ok setup\n" },
	{ "a packet cut behind its first request: the answers that cannot be read may be to others",
	  { INFO, "C 'PUB a _INBOX.1 1' r 'x' r", "x 42", "S 'MSG _I'", "y 40", "C 'PING' r",
	    "S 'PONG' r" },
	  "m1 [1,1] nats 34 INFO unknown setup\n"
	  "C2 [2,2] nats 21 PUB a\n"
	  "C3 [4,4] nats 6 PING setup\n"
	  "R3 [5,5] nats 6 PING ok setup\n"
	  "calls-unanswered 1\n"
	  "resyncs 2\n"
	  "bytes-skipped 6\n" },
	{ "TLS follows",
	  { "S 'INFO {\"tls_required\":true}' r", "C x:1603010200 x:010001fc0303 0:506" },
	  "m1 [1,1] nats 28 INFO unknown setup\n"
	  "M2 [2,2] tls 517 unknown setup\n" },
};

START_TEST(conversations)
{
	wp_byte_rows_check(NULL, rows, G_N_ELEMENTS(rows));
}
END_TEST

START_TEST(tokens)
{
	static const WpByteRow values[] = {
		{ "subject and payload",
		  { INFO, "C 'PUB orders.4711.get 17' r '{\"id\":\"order-77\"}' r" },
		  "m1 [1,1] nats 34 INFO unknown setup tokens=0\n"
		  "M2 [2,2] nats 43 PUB orders.{}.get unknown tokens=2\n" },
	};
	WpRunOptions options = { .show_tokens = TRUE };
	wp_byte_rows_check(&options, values, G_N_ELEMENTS(values));
}
END_TEST

WP_SUITE("decode-nats", conversations, tokens)
