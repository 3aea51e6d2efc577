/* SIP through the real stream. */
#include "tests/support/byte-rows.h"
#include "tests/support/suite.h"

/* A head with a branch and a CSeq. */
#define REQUEST(method, branch, sequence)                                                          \
	"'" method " sip:bob@b SIP/2.0' r 'Via: SIP/2.0/UDP a;rport;branch=z9" branch              \
	"' r 'From: <sip:ann@a>;tag=1' r 'To: <sip:bob@b>' r 'Call-ID: c7@a' r 'CSeq: " sequence   \
	"' r 'Content-Length: 0' r r"
#define RESPONSE(code, branch, sequence)                                                           \
	"'SIP/2.0 " code " x' r 'v: SIP/2.0/UDP a;branch=z9" branch                                \
	";received=1' r 'To: <sip:bob@b>;tag=2' r 'i: c7@a' r 'CSeq: " sequence "' r 'l: 0' r r"

static const WpByteRow calls[] = {
	{ "a call: rings, is taken, acknowledged, ended by the other side",
	  { "C " REQUEST("INVITE", "1", "1 INVITE"), "S " RESPONSE("100", "1", "1 INVITE"),
	    "S " RESPONSE("180", "1", "1 INVITE"), "S " RESPONSE("200", "1", "1 INVITE"),
	    "C " REQUEST("ACK", "2", "1 ACK"), "S " REQUEST("BYE", "3", "5 BYE"),
	    "C " RESPONSE("200", "3", "5 BYE") },
	  "C1 [1,1] sip 157 INVITE wait\n"
	  "R1 [4,4] sip 111 INVITE ok wait\n"
	  "M2 [5,5] sip 151 ACK unknown\n"
	  "c3 [6,6] sip 151 BYE\n"
	  "r3 [7,7] sip 108 BYE ok\n" },
	{ "sent again: the request while it waits, and after its answer; the answer",
	  { "C " REQUEST("OPTIONS", "1", "7 OPTIONS"), "C " REQUEST("OPTIONS", "1", "7 OPTIONS"),
	    "S " RESPONSE("200", "1", "7 OPTIONS"), "C " REQUEST("OPTIONS", "1", "7 OPTIONS"),
	    "S " RESPONSE("200", "1", "7 OPTIONS") },
	  "C1 [1,1] sip 159 OPTIONS\n"
	  "R1 [3,3] sip 112 OPTIONS ok\n"
	  "returns-repeated 1\n"
	  "calls-repeated 2\n" },
	{ "cancelled: three transactions, two of one branch",
	  { "C " REQUEST("INVITE", "1", "1 INVITE"), "C " REQUEST("CANCEL", "1", "1 CANCEL"),
	    "S " RESPONSE("200", "1", "1  CANCEL"), "S " RESPONSE("487", "1", "1 INVITE"),
	    "C " REQUEST("ACK", "1", "1 ACK") },
	  "C1 [1,1] sip 157 INVITE wait\n"
	  "C2 [2,2] sip 157 CANCEL\n"
	  "R2 [3,3] sip 112 CANCEL ok\n"
	  "R1 [4,4] sip 111 INVITE error wait\n"
	  "M3 [5,5] sip 151 ACK unknown\n" },
	{ "registration: refused, then with another number; time runs out",
	  { "C " REQUEST("REGISTER", "1", "1 REGISTER"), "S " RESPONSE("401", "1", "1 REGISTER"),
	    "C " REQUEST("REGISTER", "2", "2 REGISTER"), "C r r",
	    "S " RESPONSE("408", "2", "2 REGISTER") },
	  "C1 [1,1] sip 161 REGISTER\n"
	  "R1 [2,2] sip 113 REGISTER error\n"
	  "C2 [3,3] sip 161 REGISTER\n"
	  "R2 [5,5] sip 113 REGISTER timeout\n" },
	{ "a head without an end, then a shorter datagram that has none either",
	  { "C " REQUEST("INFO", "1", "1 INFO"), "S 'SIP/2.0 200 ok' r 'Call-ID: 1' r 0:120",
	    "S 'SIP/2.0 200 ok'", "S " RESPONSE("200", "1", "1 INFO") },
	  "C1 [1,1] sip 153 INFO\n"
	  "R1 [4,4] sip 109 INFO ok\n"
	  "bytes-skipped 162\n" },
	{ "kept open by datagrams of nothing",
	  { "C 0:4", "C 0:4", "C 0:4", "C 0:4", "C 0:4", "C " REQUEST("INFO", "1", "1 INFO"),
	    "C 0:4", "S " RESPONSE("200", "1", "1 INFO") },
	  "M1 [1,1] unknown 4 unknown\n"
	  "M2 [2,2] unknown 4 unknown\n"
	  "M3 [3,3] unknown 4 unknown\n"
	  "M4 [4,4] unknown 4 unknown\n"
	  "M5 [5,5] unknown 4 unknown\n"
	  "C6 [6,6] sip 153 INFO\n"
	  "R6 [8,8] sip 109 INFO ok\n"
	  "bytes-skipped 4\n" },
	{ "in another order",
	  { "C " REQUEST("INFO", "1", "1 INFO"), "C " REQUEST("XYZ", "2", "2 XYZ"),
	    "S " RESPONSE("200", "2", "2 XYZ"), "S " RESPONSE("603", "1", "1 INFO") },
	  "C1 [1,1] sip 153 INFO\n"
	  "C2 [2,2] sip 151 (other)\n"
	  "R2 [3,3] sip 108 (other) ok\n"
	  "R1 [4,4] sip 109 INFO error\n" },
};

START_TEST(over_udp)
{
	WpRunOptions options = { .is_udp = TRUE };
	wp_byte_rows_check(&options, calls, G_N_ELEMENTS(calls));
}
END_TEST

static const WpByteRow streams[] = {
	{ "bodies, and lines that keep the flow open",
	  { "C 'MESSAGE sip:b SIP/2.0' r 'Call-ID: 1' r 'CSeq: 1 MESSAGE' r 'Content-Length: 300' "
	    "r r 0:100",
	    "C 0:200 r r",
	    "S 'SIP/2.0 202 ok' r 'Call-ID: 1' r 'CSeq: 1 MESSAGE' r 'l: 2' r r 'hi' r" },
	  "C1 [1,2] sip 375 MESSAGE\n"
	  "R1 [3,3] sip 55 MESSAGE ok\n" },
	{ "from the middle; a hole",
	  { "mid", "S 'SIP/2.0 200 ok' r 'Call-ID: 0' r 'CSeq: 1 INFO' r 'l: 0' r r",
	    "C 'INFO sip:b SIP/2.0' r 'Call-ID: 1' r 'CSeq: 1 INFO' r 'l: 0' r r", "s 20",
	    "S 'SIP/2.0 200 ok' r 'Call-ID: 1' r 'CSeq: 1 INFO' r 'l: 0' r r" },
	  "C1 [2,2] sip 54 INFO\n"
	  "R1 [4,4] sip 50 INFO ok\n"
	  "returns-orphan 1\n"
	  "resyncs 1\n" },
	{ "a length that is none",
	  { "C 'INFO sip:b SIP/2.0' r 'Call-ID: 1' r 'CSeq: 1 INFO' r 'l: x' r r", "S 'x'" },
	  "bytes-skipped 54\n" },
};

START_TEST(over_tcp)
{
	wp_byte_rows_check(NULL, streams, G_N_ELEMENTS(streams));
}
END_TEST

static const WpByteRow not_such[] = {
	{ "no transaction is named; another protocol",
	  { "C 'OPTIONS sip:b SIP/2.0' r r", "S 'SIP/2.0 200 ok' r r" },
	  "bytes-skipped 43\n" },
	{ "RTSP",
	  { "C 'OPTIONS rtsp://b RTSP/1.0' r r", "S 'RTSP/1.0 200 ok' r r" },
	  "C1 [1,1] unknown 29\n"
	  "R1 [2,2] unknown 19 unknown\n"
	  "flows-undecoded 1\n" },
};

START_TEST(what_is_not)
{
	WpRunOptions options = { .is_udp = TRUE };
	wp_byte_rows_check(&options, not_such, G_N_ELEMENTS(not_such));
}
END_TEST

WP_SUITE("decode-sip", over_udp, over_tcp, what_is_not)
