/* LDAP through the real stream. */
#include <string.h>

#include "tests/support/byte-rows.h"
#include "tests/support/suite.h"

#define MESSAGE(id, op)  "b:0x30 (a b:2 (a b:" id " ) b:" op " (a "
#define END              ") ) "
#define RESULT(code)     "b:10 (a b:" code " ) b:4 b:0 b:4 b:0 " END
#define TEXT(text)       "b:4 (a '" text "' ) "
#define EQUALS(attr, to) "b:0xa3 (a " TEXT(attr) TEXT(to) ") "
#define SEARCH(id, base, filter)                                                                   \
	MESSAGE(id, "0x63")                                                                        \
	TEXT(base)                                                                                 \
	"b:10 b:1 b:2 b:10 b:1 b:0 b:2 b:1 b:0 b:2 b:1 b:0 b:1 b:1 b:0 " filter "b:0x30 b:0 " END
#define ENTRY(id) MESSAGE(id, "0x64") TEXT("uid=ann,dc=x") "b:0x30 b:0 " END

#define SYNC(id, mode)                                                                             \
	"b:0x30 (a b:2 b:1 b:" id " b:0x63 (a " TEXT(                                              \
		"dc=x") "b:10 b:1 b:2 b:10 b:1 b:0 b:2 b:1 b:0 b:2 b:1 b:0 b:1 b:1 b:0 "           \
			"b:0x87 (a 'cn' ) b:0x30 b:0 ) b:0xa0 (a b:0x30 (a " TEXT(                 \
				"1.3.6.1.4.1.4203.1.9.1.1") "b:1 b:1 b:0xff b:4 (a b:0x30 (a "     \
							    "b:10 "                                \
							    "b:1 b:" mode " ) ) ) ) ) "

static const WpByteRow rows[] = {
	{ "bind, then searches whose entries come in turns",
	  { "C " MESSAGE("1",
			 "0x60") "b:2 b:1 b:3 " TEXT("cn=admin,dc=x") "b:0x80 (a 'secret' ) " END,
	    "S " MESSAGE("1", "0x61") RESULT("0"),
	    "C " SEARCH("2", "ou=people,dc=x", EQUALS("uid", "ann"))
		    SEARCH("3", "uid=ann\\,b, dc=x",
			   "b:0xa0 (a " EQUALS("mail", "a@b.c") "b:0xa2 (a b:0x87 (a 'sn' ) ) ) "),
	    "S " ENTRY("2") ENTRY("3"), "S " ENTRY("2") MESSAGE("3", "0x65") RESULT("32"),
	    "S " MESSAGE("2", "0x65") RESULT("0"), "C " MESSAGE("4", "0x42") END },
	  "C1 [1,1] ldap 33 bind setup\n"
	  "R1 [2,2] ldap 14 bind ok setup\n"
	  "C2 [3,3] ldap 52 search ou=people,dc=x (uid)\n"
	  "C3 [3,3] ldap 65 search uid={},dc=x (mail,sn)\n"
	  "R3 [4,5] ldap 37 search uid={},dc=x (mail,sn) error\n"
	  "R2 [4,6] ldap 60 search ou=people,dc=x (uid) ok\n"
	  "M4 [7,7] ldap 7 unbind unknown setup\n" },
	{ "what else there is",
	  { "C " MESSAGE("2", "0x66") TEXT("uid=ann,dc=x") "b:0x30 b:0 " END,
	    "S " MESSAGE("2", "0x67") RESULT("50"),
	    "C " MESSAGE("3", "0x6e") TEXT("cn=a") "b:0x30 b:0 " END,
	    "S " MESSAGE("3", "0x6f") RESULT("5"),
	    "C " MESSAGE("4", "0x50") "b:3 " END MESSAGE("5", "0x4a") "'cn=a' " END,
	    "S " MESSAGE("5", "0x6b") RESULT("3"), "S " MESSAGE("0", "0x78") RESULT("52") },
	  "C1 [1,1] ldap 23 modify uid={},dc=x\n"
	  "R1 [2,2] ldap 14 modify uid={},dc=x error\n"
	  "C2 [3,3] ldap 15 compare cn={}\n"
	  "R2 [4,4] ldap 14 compare cn={} ok\n"
	  "M3 [5,5] ldap 8 abandon unknown\n"
	  "C4 [5,5] ldap 11 delete cn={}\n"
	  "R4 [6,6] ldap 14 delete cn={} timeout\n"
	  "m5 [7,7] ldap 14 notice error\n" },
	{ "TLS follows",
	  { "C " MESSAGE("1", "0x77") "b:0x80 (a '1.3.6.1.4.1.1466.20037' ) " END,
	    "S " MESSAGE("1", "0x78") RESULT("0"), "C x:1603010200 x:010001fc0303 0:506" },
	  "C1 [1,1] ldap 31 extended StartTLS setup\n"
	  "R1 [2,2] ldap 14 extended StartTLS ok setup\n"
	  "M2 [3,3] tls 517 unknown setup\n" },
	{ "a search that stays",
	  { "C b:0x30 (a b:2 b:1 b:2 b:0x63 (a " TEXT(
		  "dc=x") "b:10 b:1 b:2 b:10 b:1 b:0 b:2 b:1 b:0 b:2 b:1 b:0 "
			  "b:1 b:1 b:0 b:0x87 (a 'cn' ) b:0x30 b:0 ) b:0xa0 (a b:0x30 (a " TEXT(
				  "2.16.840.1.113730.3.4.3") ") ) ) " },
	  "C1 [1,1] ldap 63 search dc=x (cn) wait\n"
	  "calls-open 1\n" },
	{ "a search that synchronises, once and for what changes later",
	  { "C " SYNC("2", "1"), "S " MESSAGE("2", "0x65") RESULT("0"), "C " SYNC("3", "3") },
	  "C1 [1,1] ldap 74 search dc=x (cn)\n"
	  "R1 [2,2] ldap 14 search dc=x (cn) ok\n"
	  "C2 [3,3] ldap 74 search dc=x (cn) wait\n"
	  "calls-open 1\n" },
	{ "in mid-stream",
	  { "mid", "S " ENTRY("7"), "S " MESSAGE("7", "0x65") RESULT("0"),
	    "C " SEARCH("8", "", EQUALS("a", "b")), "S " MESSAGE("8", "0x65") RESULT("0") },
	  "C1 [3,3] ldap 34 search (a)\n"
	  "R1 [4,4] ldap 14 search (a) ok\n"
	  "returns-orphan 1\n" },
	{ "a hole in a long entry, and among entries",
	  { "C " SEARCH("2", "dc=x", EQUALS("a", "b")),
	    "S b:0x30 b:0x82 h:2007 b:2 b:1 b:2 b:0x64 b:0x82 h:2000 0:1500", "s 400",
	    "S 0:100 " ENTRY("2"), "S " MESSAGE("2", "0x65") RESULT("0"),
	    "C " SEARCH("3", "dc=x", EQUALS("a", "b")), "S " ENTRY("3"), "s 30",
	    "S " ENTRY("3") MESSAGE("3", "0x65") RESULT("0") },
	  "C1 [1,1] ldap 38 search dc=x (a)\n"
	  "R1 [2,5] ldap 2048 search dc=x (a) ok\n"
	  "C2 [6,6] ldap 38 search dc=x (a)\n"
	  "R2 [9,9] ldap 37 search dc=x (a) ok\n"
	  "resyncs 1\n" },
};

START_TEST(conversations)
{
	wp_byte_rows_check(NULL, rows, G_N_ELEMENTS(rows));
}
END_TEST

/* Of more searches than there is room for, the last gets its done alone. */
START_TEST(limit)
{
	g_autoptr(GString) calls = g_string_new("C "), entries = g_string_new("S ");
	for (int i = 1; i <= 17; i++) {
		g_string_append_printf(calls, "b:0x30 (a b:2 b:1 b:%d b:0x4a (a 'cn=a' ) ) ", i);
		g_string_append_printf(
			entries, "b:0x30 (a b:2 b:1 b:%d b:0x64 (a b:4 b:0 b:0x30 b:0 ) ) ", i);
	}
	g_autoptr(GByteArray) client = wp_byte_words(calls->str + 2);
	g_autoptr(GByteArray) server = wp_byte_words(entries->str + 2);
	WpStep steps[] = { WP_C_BYTES(client->data, client->len),
			   WP_S_BYTES(server->data, server->len) };
	g_autofree char *got = wp_decode_run(NULL, steps, 2);
	ck_assert(strstr(got, "streams-evicted 1\n") != NULL);
}
END_TEST

WP_SUITE("decode-ldap", conversations, limit)
