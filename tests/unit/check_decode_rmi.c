/* Java RMI through the real stream, and the names of its methods. */
#include <check.h>
#include <string.h>

#include "capture/rmi-names.h"
#include "tests/support/byte-rows.h"
#include "tests/support/suite.h"

#define HELLO  "C 'JRMI' h:2 b:0x4b"
#define ACK    "S b:0x4e (h '10.0.0.9' ) w:5000"
#define OPENED "C1 [1,1] rmi 7 (connect) setup\nR1 [2,2] rmi 15 (connect) ok setup\n"
/* The endpoint; the head of a call with a number and a hash; of a return of a kind. */
#define ENDPOINT           "(h '10.0.0.9' ) w:0 "
#define CALL(number, hash) "x:50aced00057722 0:22 w:" number " x:" hash " "
#define PRICE              CALL("-1", "0123456789abcdef")
#define RETURN(kind)       "x:51aced0005770f b:" kind " 0:14 "

static const WpByteRow calls[] = {
	{ "a lookup, a method, an exception, each in pieces",
	  { HELLO, ACK, "C " ENDPOINT CALL("2", "44154dc9d4e63bdf") "'shop'",
	    "S " RETURN("1") "0:50", "C " PRICE "'x'", "C 0:100", "S " RETURN("2"), "S 0:2000", "F",
	    "G" },
	  "C1 [1,1] rmi 7 (connect) setup\n"
	  "R1 [2,2] rmi 15 (connect) ok setup\n"
	  "C2 [3,3] rmi 45 Registry.lookup\n"
	  "R2 [4,4] rmi 72 Registry.lookup ok\n"
	  "C3 [5,6] rmi 142 method 0123456789abcdef\n"
	  "R3 [7,8] rmi 2022 method 0123456789abcdef error\n" },
	{ "an interface with numbers that nobody knows; references",
	  { HELLO, ACK, "C " ENDPOINT, "C " CALL("7", "aaaaaaaaaaaaaaaa"), "S " RETURN("1"),
	    "C b:0x54 0:14", "C " CALL("1", "f6b6898d8bf28643"), "S " RETURN("1"), "G" },
	  "C1 [1,1] rmi 7 (connect) setup\n"
	  "R1 [2,2] rmi 15 (connect) ok setup\n"
	  "C2 [4,4] rmi 41 interface aaaaaaaaaaaaaaaa method 7\n"
	  "R2 [5,5] rmi 22 interface aaaaaaaaaaaaaaaa method 7 ok\n"
	  "M3 [6,6] rmi 15 DGC ack unknown setup\n"
	  "C4 [7,7] rmi 41 DGC.dirty setup\n"
	  "R4 [8,8] rmi 22 DGC.dirty ok setup\n" },
	{ "a ping before the next call",
	  { HELLO, ACK, "C " ENDPOINT PRICE, "S " RETURN("1"), "C b:0x52", "S b:0x53", "C " PRICE,
	    "S " RETURN("1"), "G" },
	  "C1 [1,1] rmi 7 (connect) setup\n"
	  "R1 [2,2] rmi 15 (connect) ok setup\n"
	  "C2 [3,3] rmi 41 method 0123456789abcdef\n"
	  "R2 [4,4] rmi 22 method 0123456789abcdef ok\n"
	  "C3 [5,5] rmi 1 ping setup\n"
	  "R3 [6,6] rmi 1 ping ok setup\n"
	  "C4 [7,7] rmi 41 method 0123456789abcdef\n"
	  "R4 [8,8] rmi 22 method 0123456789abcdef ok\n" },
	{ "one operation: no greeting",
	  { "C 'JRMI' h:2 b:0x4c " PRICE, "S " RETURN("1"), "G" },
	  "C1 [1,1] rmi 41 method 0123456789abcdef\n"
	  "R1 [2,2] rmi 22 method 0123456789abcdef ok\n" },
	{ "refused",
	  { HELLO, "S b:0x4f", "G" },
	  "C1 [1,1] rmi 7 (connect) setup\n"
	  "R1 [2,2] rmi 1 (connect) error setup\n" },
	{ "multiplexed", { "C 'JRMI' h:2 b:0x4d", "S 'x'", "C 'y'" }, "flows-multiplexed 1\n" },
	{ "arguments and results that are no objects, in the first block",
	  { "mid", "C x:50aced00057a w:300 0:22 w:-1 x:0123456789abcdef 0:266",
	    "S x:51aced00057717 b:1 0:22", "C x:50aced00057700", "S x:51aced0005770e b:1" },
	  "C1 [1,1] rmi 310 method 0123456789abcdef\n"
	  "R1 [2,2] rmi 30 method 0123456789abcdef ok cut\n"
	  "returns-cut 1\n"
	  "bytes-skipped 15\n" },
	{ "no such protocol",
	  { "C 'JRMI' h:2 b:0x4a", "S 'x'" },
	  "C1 [1,1] unknown 7\n"
	  "R1 [2,2] unknown 1 unknown\n"
	  "flows-undecoded 1\n" },
	{ "in mid-stream",
	  { "mid", "C " PRICE, "S " RETURN("1"), "C " PRICE, "S " RETURN("1") },
	  "C1 [1,1] rmi 41 method 0123456789abcdef\n"
	  "R1 [2,2] rmi 22 method 0123456789abcdef ok\n"
	  "C2 [3,3] rmi 41 method 0123456789abcdef\n"
	  "R2 [4,4] rmi 22 method 0123456789abcdef ok\n" },
	{ "a hole in a call, in a return, over a call, over a return",
	  { HELLO, ACK, "C " ENDPOINT PRICE "0:100", "c 100", "C 0:50", "S " RETURN("1") "0:60",
	    "C " PRICE, "S " RETURN("1"), "s 500", "S 0:9", "C " PRICE, "S " RETURN("1") "0:60",
	    "c 41", "S " RETURN("1") "0:60", "C " PRICE, "s 22", "C " PRICE, "S " RETURN("1") },
	  "C1 [1,1] rmi 7 (connect) setup\n"
	  "R1 [2,2] rmi 15 (connect) ok setup\n"
	  "C2 [3,3] rmi 141 method 0123456789abcdef\n"
	  "R2 [6,6] rmi 82 method 0123456789abcdef ok\n"
	  "C3 [7,7] rmi 41 method 0123456789abcdef\n"
	  "R3 [8,10] rmi 531 method 0123456789abcdef ok\n"
	  "C4 [11,11] rmi 41 method 0123456789abcdef\n"
	  "R4 [12,12] rmi 82 method 0123456789abcdef ok\n"
	  "C5 [15,15] rmi 41 method 0123456789abcdef\n"
	  "C6 [17,17] rmi 41 method 0123456789abcdef\n"
	  "R6 [18,18] rmi 22 method 0123456789abcdef ok\n"
	  "returns-orphan 1\n"
	  "returns-unread 1\n"
	  "calls-unanswered 1\n"
	  "resyncs 4\n"
	  "bytes-skipped 59\n" },
	{ "a ping is lost behind a return, and the return before a ping",
	  { HELLO, ACK, "C " ENDPOINT PRICE, "S " RETURN("1"), "c 1", "S b:0x53", "C " PRICE,
	    "s 22", "c 1", "S b:0x53", "C " PRICE, "S " RETURN("1"), "G" },
	  "C1 [1,1] rmi 7 (connect) setup\n"
	  "R1 [2,2] rmi 15 (connect) ok setup\n"
	  "C2 [3,3] rmi 41 method 0123456789abcdef\n"
	  "R2 [4,4] rmi 22 method 0123456789abcdef ok\n"
	  "C3 [7,7] rmi 41 method 0123456789abcdef\n"
	  "C4 [11,11] rmi 41 method 0123456789abcdef\n"
	  "R4 [12,12] rmi 22 method 0123456789abcdef ok\n"
	  "returns-orphan 1\n"
	  "returns-unsure 1\n"
	  "calls-unanswered 1\n"
	  "resyncs 3\n" },
	{ "cut by the snap length",
	  { HELLO, ACK, "C " ENDPOINT, "C " PRICE "0:20", "x 300", "S " RETURN("1") "0:40", "y 800",
	    "C " PRICE "0:20", "x 300", "S " RETURN("1") "0:40", "y 800" },
	  "C1 [1,1] rmi 7 (connect) setup\n"
	  "R1 [2,2] rmi 15 (connect) ok setup\n"
	  "C2 [4,4] rmi 61 method 0123456789abcdef\n"
	  "R2 [5,5] rmi 862 method 0123456789abcdef ok\n"
	  "C3 [6,6] rmi 61 method 0123456789abcdef\n"
	  "returns-unread 1\n"
	  "calls-unanswered 1\n"
	  "resyncs 2\n" },
	{ "bytes that are no message",
	  { HELLO, ACK, "C " ENDPOINT PRICE, "S " RETURN("1"), "C x:9999", "C " PRICE,
	    "S " RETURN("1") },
	  "C1 [1,1] rmi 7 (connect) setup\n"
	  "R1 [2,2] rmi 15 (connect) ok setup\n"
	  "C2 [3,3] rmi 41 method 0123456789abcdef\n"
	  "R2 [4,4] rmi 22 method 0123456789abcdef ok\n"
	  "C3 [6,6] rmi 41 method 0123456789abcdef\n"
	  "R3 [7,7] rmi 22 method 0123456789abcdef ok\n"
	  "resyncs 1\n"
	  "bytes-skipped 2\n" },
};

START_TEST(conversations)
{
	wp_byte_rows_check(NULL, calls, G_N_ELEMENTS(calls));
}
END_TEST

static const struct {
	const char *file;
	guint64 hash;
	const char *name;  /* NULL = not found */
	const char *error; /* part of the message */
} files[] = {
	{ "shop.Shop.price(Ljava/lang/String;I)D\n", 0, "Shop.price", NULL },
	{ "# ours\n\n0123456789abcdef Shop.price\n", G_GUINT64_CONSTANT(0x0123456789abcdef),
	  "Shop.price", NULL },
	{ "0x0123456789ABCDEF  the price \r\n", G_GUINT64_CONSTANT(0x0123456789abcdef), "the price",
	  NULL },
	{ "price(Ljava/lang/String;I)D", 0, "price", NULL },
	{ "Compiled from \"Shop.java\"\n"
	  "public interface shop.Outer$Shop<T> extends java.rmi.Remote {\n"
	  "  public static final int LIMIT;\n"
	  "    descriptor: I\n"
	  "\n"
	  "  public abstract double price(java.lang.String, int) throws java.rmi.RemoteException;\n"
	  "    descriptor: (Ljava/lang/String;I)D\n"
	  "}\n",
	  0, "Shop.price", NULL },
	{ "interface Shop {\n  Map<String, T> stock() throws E;\n    descriptor: "
	  "()Ljava/util/Map;\n}\n",
	  G_GUINT64_CONSTANT(0x49eead7cd68e69d0), "Shop.stock", NULL },
	{ "shop.Shop.price(Ljava/lang/String;J)D\n", 0, NULL, NULL },
	{ "\n\nshop.Shop.price(String, int)\n", 0, NULL, "line 3" },
	{ "shop.Shop.price(Ljava/lang/String;I)", 0, NULL, "line 1" },
	{ "shop.Shop.price(V)I", 0, NULL, "line 1" },
	{ "shop.Shop.price([)I", 0, NULL, "line 1" },
	{ "0123456789abcdex Shop.price\n", 0, NULL, "line 1" },
	{ "hello\n", 0, NULL, "line 1" },
};

static void
check_file(gsize row)
{
	static const char method[] = "price(Ljava/lang/String;I)D";
	g_autoptr(WpRmiNames) names = wp_rmi_names_new();
	g_autoptr(GError) error = NULL;
	const char *text = files[row].file, *wanted = files[row].error;
	guint64 hash =
		files[row].hash ? files[row].hash : wp_rmi_method_hash(method, strlen(method));
	ck_assert(wp_rmi_names_add(names, text, strlen(text), &error) == (wanted == NULL));
	if (wanted)
		ck_assert_msg(strstr(error->message, wanted) != NULL, "%s", error->message);
	const char *found = wp_rmi_names_find(names, hash);
	ck_assert_msg(g_strcmp0(found, files[row].name) == 0, "%s: %s", text,
		      found ? found : "not found");
}

START_TEST(names)
{
	for (gsize i = 0; i < G_N_ELEMENTS(files); i++)
		check_file(i);
}
END_TEST

/* As in javax.management.remote.rmi.RMIServerImpl_Stub, which rmic made. */
START_TEST(hashes)
{
	static const char method[] = "getVersion()Ljava/lang/String;";
	ck_assert_int_eq((gint64)wp_rmi_method_hash(method, strlen(method)),
			 G_GINT64_CONSTANT(-8081107751519807347));
}
END_TEST

WP_SUITE("decode-rmi", conversations, names, hashes)
