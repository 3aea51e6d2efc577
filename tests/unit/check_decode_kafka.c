/* Kafka through the real stream. */
#include "tests/support/byte-rows.h"
#include "tests/support/suite.h"

/* A request of key, version, id, up to the body; a flexible one; a response. */
#define REQUEST(key, version, id)  "(w h:" key " h:" version " w:" id " (h 'app' ) "
#define FLEXIBLE(key, version, id) REQUEST(key, version, id) "b:0 "
#define RESPONSE(id)               "(w w:" id " "

/* Produce 3: no transaction, acks, timeout, one topic, one partition with data. */
#define PRODUCE(id, acks)                                                                          \
	REQUEST("0", "3", id)                                                                      \
	"h:-1 h:" acks " w:30000 w:1 (h 'orders' ) w:1 w:0 (w 'order-77' ) "                       \
	") "

#define TWENTY  "abcdefghijklmnopqrst"
#define HUNDRED TWENTY TWENTY TWENTY TWENTY TWENTY

static const WpByteRow rows[] = {
	{ "ids pair; the oldest and the flexible form",
	  { "C " FLEXIBLE("18", "3", "1") "(b+1 'java' ) (b+1 '3.0' ) b:0 )",
	    "S " RESPONSE("1") "h:0 b:1 w:0 b:0 )", "C " REQUEST("3", "0", "2") "w:0 )",
	    "C " FLEXIBLE("3", "12", "3") "b:1 b:1 b:0 b:0 )",
	    "S " RESPONSE("2") "w:0 w:0 ) " RESPONSE("3") "b:0 w:0 b:1 )" },
	  "C1 [1,1] kafka 28 ApiVersions setup\n"
	  "R1 [2,2] kafka 16 ApiVersions ok setup\n"
	  "C2 [3,3] kafka 21 Metadata\n"
	  "C3 [4,4] kafka 22 Metadata\n"
	  "R2 [5,5] kafka 16 Metadata ok\n"
	  "R3 [5,5] kafka 14 Metadata ok\n" },
	{ "nobody acknowledges, and somebody does",
	  { "C " PRODUCE("4", "0") PRODUCE("5", "-1"),
	    "S " RESPONSE("5") "w:1 (h 'orders' ) w:1 w:0 h:0 q:77 q:-1 w:0 )" },
	  "M1 [1,1] kafka 57 Produce orders unknown\n"
	  "C2 [1,1] kafka 57 Produce orders\n"
	  "R2 [2,2] kafka 50 Produce orders ok\n" },
	{ "a record that is refused, flexible; topics by their UUID",
	  { "C " FLEXIBLE("0", "9", "6") "b:0 h:1 w:30000 b:2 (b+1 'orders7' ) b:1 b:0 b:0 )",
	    "S " RESPONSE("6") "b:0 b:2 (b+1 'orders7' ) b:2 w:0 h:3 q:-1 q:-1 )",
	    "C " FLEXIBLE("0", "13", "7") "b:0 h:1 w:30000 b:2 0:16 b:1 b:0 b:0 )",
	    "S " RESPONSE("7") "b:0 b:2 0:16 b:2 w:0 h:0 q:1 q:-1 )" },
	  "C1 [1,1] kafka 37 Produce orders{}\n"
	  "R1 [2,2] kafka 41 Produce orders{} error\n"
	  "C2 [3,3] kafka 45 Produce\n"
	  "R2 [4,4] kafka 49 Produce ok\n" },
	{ "a fetch waits; an error of the session; a member is sent to come again",
	  { "C " REQUEST("1", "11", "8") "w:-1 w:500 w:1 w:100 b:0 w:0 w:-1 w:0 w:0 h:0 )",
	    "S " RESPONSE("8") "w:0 h:70 w:0 w:0 )",
	    "C " REQUEST("11", "4", "9") "(h 'group' ) w:10000 w:300000 h:0 (h 'consumer' ) w:0 )",
	    "S " RESPONSE("9") "w:0 h:79 w:-1 h:0 h:0 (h 'member-1' ) w:0 )",
	    "C " REQUEST("12", "0", "10") "(h 'group' ) w:1 h:0 )", "S " RESPONSE("10") "h:27 )",
	    "C " REQUEST("10", "4", "11") "h:0 )", "S " RESPONSE("11") "b:0 w:0 b:1 )" },
	  "C1 [1,1] kafka 52 Fetch wait\n"
	  "R1 [2,2] kafka 22 Fetch error wait\n"
	  "C2 [3,3] kafka 48 JoinGroup wait\n"
	  "R2 [4,4] kafka 36 JoinGroup ok wait\n"
	  "C3 [5,5] kafka 30 Heartbeat\n"
	  "R3 [6,6] kafka 10 Heartbeat error\n"
	  "C4 [7,7] kafka 19 FindCoordinator\n"
	  "R4 [8,8] kafka 14 FindCoordinator ok\n" },
	{ "in mid-stream, and a client without a name",
	  { "mid", "S " RESPONSE("90") "w:0 w:0 )", "C (w h:3 h:1 w:91 h:-1 w:0 )",
	    "S " RESPONSE("91") "w:0 w:0 w:0 )" },
	  "C1 [2,2] kafka 18 Metadata\n"
	  "R1 [3,3] kafka 20 Metadata ok\n"
	  "bytes-skipped 16\n" },
	{ "holes on both sides",
	  { "C " REQUEST("3", "1", "1") "w:0 )", "S " RESPONSE("1") "w:0 w:0 w:0 )", "c 40", "s 50",
	    "C " REQUEST("3", "1", "3") "w:0 )", "S " RESPONSE("3") "w:0 w:0 w:0 )" },
	  "C1 [1,1] kafka 21 Metadata\n"
	  "R1 [2,2] kafka 20 Metadata ok\n"
	  "C2 [5,5] kafka 21 Metadata\n"
	  "R2 [6,6] kafka 20 Metadata ok\n"
	  "resyncs 2\n" },
	{ "a head that is longer than its message",
	  { "C " REQUEST("3", "1", "1") "w:0 )", "S " RESPONSE("1") "w:0 w:0 w:0 )",
	    "C (w h:0 h:9 w:2 (h 'app' ) ) b:0" },
	  "C1 [1,1] kafka 21 Metadata\n"
	  "R1 [2,2] kafka 20 Metadata ok\n"
	  "bytes-skipped 18\n" },
	{ "a client with a name longer than what is looked at",
	  { "C " REQUEST("3", "1", "7") "w:0 )", "S " RESPONSE("7") "w:0 w:0 w:0 )",
	    "C (w h:0 h:3 w:1 (h '" HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED
	    "' ) h:-1 h:1 w:1 w:1 (h 'orders' ) w:0 )",
	    "S " RESPONSE("1") "w:1 (h 'orders' ) w:1 w:0 h:0 q:77 q:-1 w:0 )" },
	  "C1 [1,1] kafka 21 Metadata\n"
	  "R1 [2,2] kafka 20 Metadata ok\n"
	  "C2 [3,3] kafka 638 Produce\n"
	  "R2 [4,4] kafka 50 Produce ok\n" },
	{ "a long record is passed by its length",
	  { "C w:2030 h:0 h:3 w:1 (h 'app' ) h:-1 h:1 w:1 w:1 (h 'orders' ) w:1 w:0 0:500",
	    "c 1000", "C 0:491",
	    "S " RESPONSE("1") "w:1 (h 'orders' ) w:1 w:0 h:0 q:77 q:-1 w:0 )" },
	  "C1 [1,3] kafka 2034 Produce orders\n"
	  "R1 [4,4] kafka 50 Produce orders ok\n" },
};

START_TEST(conversations)
{
	wp_byte_rows_check(NULL, rows, G_N_ELEMENTS(rows));
}
END_TEST

WP_SUITE("decode-kafka", conversations)
