/*
 * One conversation of each protocol against all decoders: its own takes it, from the start and in
 * mid-stream, and no other does; none takes bytes drawn by lot.
 */
#include <string.h>

#include "capture/decoder.h"
#include "tests/support/byte-rows.h"
#include "tests/support/suite.h"

static const struct {
	const char *protocol;
	const char *client;
	const char *server;
	gboolean is_udp;
} samples[] = {
	{ "http", "'GET /a HTTP/1.1' r 'Host: b' r r",
	  "'HTTP/1.1 200 OK' r 'Content-Length: 0' r r", FALSE },
	{ "mysql", "(T+-1 b:0 x:03 'SELECT 1' )", "T:1 b:1 b:1 T:2 b:2 x:0331", FALSE },
	{ "pgsql", "(w+4 w:0x30000 'user' b:0 'a' b:0 b:0 )", "'R' (w+4 w:0 ) 'Z' (w+4 'I' )",
	  FALSE },
	{ "redis", "'*2' r '$3' r 'GET' r '$1' r 'a' r", "'$1' r 'b' r", FALSE },
	{ "memcached", "'get user:1' r", "'END' r", FALSE },
	{ "rpc", "w:0x80000028 w:7 w:0 w:2 w:100003 w:3 w:0 0:16", "w:0x80000018 w:7 w:1 w:0 0:12",
	  FALSE },
	{ "dns", "h:7 h:0x100 h:1 0:6 (b 'example' ) (b 'org' ) b:0 h:1 h:1",
	  "h:7 h:0x8180 h:1 0:6 (b 'example' ) (b 'org' ) b:0 h:1 h:1", TRUE },
	{ "thrift", "(w x:80010001 (w 'ping' ) w:1 b:0 )", "(w x:80010002 (w 'ping' ) w:1 b:0 )",
	  FALSE },
	{ "amqp", "b:1 h:1 (w h:20 h:10 b:0 ) b:0xce", "b:1 h:1 (w h:20 h:11 w:0 ) b:0xce", FALSE },
	{ "mqtt", "b:0x10 (v (h 'MQTT' ) b:4 b:2 h:60 (h 'a' ) )", "b:0x20 (v h:0 )", FALSE },
	{ "nats", "'PUB a b 1' r 'x' r", "'MSG b 1 1' r 'y' r", FALSE },
	{ "cql", "b:4 b:0 h:1 b:7 (w (w 'SELECT a FROM t' ) h:1 b:0 )",
	  "b:0x84 b:0 h:1 b:8 (w w:1 )", FALSE },
	{ "ldap", "b:0x30 (a b:2 b:1 b:1 b:0x42 b:0 )",
	  "b:0x30 (a b:2 b:1 b:1 b:0x65 (a b:10 b:1 b:0 b:4 b:0 b:4 b:0 ) )", FALSE },
	{ "kafka", "(w h:3 h:1 w:7 (h 'app' ) w:0 )", "(w w:7 w:0 w:0 w:0 )", FALSE },
	{ "mongodb", "(W+4 W:1 W:0 W:2013 W:0 b:0 (W+4 x:10 'ping' b:0 W:1 b:0 ) )",
	  "(W+4 W:9 W:1 W:2013 W:0 b:0 (W+4 x:10 'ok' b:0 W:1 b:0 ) )", FALSE },
	{ "tds", "x:12010014000001000000060006ff000000000000",
	  "x:04010014003301000000060006ff000000000000", FALSE },
	{ "tns", "x:0042000001000000013e012c 0:54", "x:0020000002000000013e 0:22", FALSE },
	{ "smtp", "'EHLO a.lan' r", "'220 b.lan ESMTP' r", FALSE },
	{ "sip", "'INFO sip:a SIP/2.0' r 'Call-ID: 1' r 'CSeq: 1 INFO' r r",
	  "'SIP/2.0 200 ok' r 'Call-ID: 1' r 'CSeq: 1 INFO' r r", TRUE },
};

/* The first so many may be mistaken for one another, if the one has the other's answers. */
#define N_LOOSE 7

static const char *
detect_first(const WpDecoder *first, const GByteArray *client, const GByteArray *server,
	     gboolean from_start, gboolean is_udp)
{
	WpProbe probe = {
		.client = wp_bytes(client ? client->data : (const guint8 *)"",
				   client ? client->len : 0),
		.server = wp_bytes(server ? server->data : (const guint8 *)"",
				   server ? server->len : 0),
		.server_port = 9999,
		.from_start = from_start,
		.is_udp = is_udp,
		.first = first,
	};
	return wp_decoder_detect(&probe, TRUE).decoder->name;
}

/* A PING of HTTP/2 and its answer are no request of Kafka; what follows will tell. */
START_TEST(ping_is_nothing_else)
{
	g_autoptr(GByteArray) ping = wp_byte_words("x:000008 b:6 b:0 w:0 w:0 w:4");
	g_autoptr(GByteArray) answer = wp_byte_words("x:000008 b:6 b:1 w:0 w:0 w:4");
	WpProbe probe = { .client = wp_bytes(ping->data, ping->len),
			  .server = wp_bytes((const guint8 *)"", 0),
			  .server_port = 50051 };
	ck_assert(wp_decoder_detect(&probe, FALSE).decoder == NULL);
	probe.server = wp_bytes(answer->data, answer->len);
	ck_assert(wp_decoder_detect(&probe, FALSE).decoder == NULL);
}
END_TEST

/* A bind of SMPP, whose length counts itself, is no Produce of Kafka. */
START_TEST(smpp_is_nothing_else)
{
	g_autoptr(GByteArray) bind =
		wp_byte_words("w:40 w:2 w:0 w:1 'smppclient' b:0 'password' b:0 "
			      "b:0 h:0x3400 b:0");
	g_autoptr(GByteArray) answer = wp_byte_words("w:21 x:80000002 w:0 w:1 'smsc' b:0");
	WpProbe probe = { .client = wp_bytes(bind->data, bind->len),
			  .server = wp_bytes((const guint8 *)"", 0),
			  .server_port = 9000,
			  .from_start = TRUE };
	const WpDecoder *decoder = wp_decoder_detect(&probe, FALSE).decoder;
	ck_assert(decoder == NULL || decoder == &wp_decoder_generic);
	probe.server = wp_bytes(answer->data, answer->len);
	ck_assert(wp_decoder_detect(&probe, TRUE).decoder == &wp_decoder_generic);
}
END_TEST

/* Pieces of other protocols, as a capture that begins late, lost packets or cut them shows them. */
static const struct {
	const char *what;
	const char *client;
	const char *server;
	guint16 port;
} others[] = {
	{ "the end of FTP", "'QUIT' r", "'221 Goodbye.' r", 21 },
	{ "FTP before TLS", "'AUTH TLS' r", "'234 Proceed.' r", 21 },
	{ "FTP that stays awake", "'NOOP' r", "'200 Zzz' r", 2121 },
	{ "the end of POP3", "'QUIT' r", "'+OK 2 messages left' r", 110 },
	{ "a ClientHello of SSL 2 whose rest is cut off",
	  "x:8046010301002d00000010 x:010080 x:030080 x:0700c0 x:060040 x:020080", "", 443 },
	{ "the middle of a ClientHello", "x:030100260100003103033333333333", "", 443 },
};

START_TEST(others_are_nobodys)
{
	for (gsize i = 0; i < G_N_ELEMENTS(others); i++) {
		g_autoptr(GByteArray) client = wp_byte_words(others[i].client);
		g_autoptr(GByteArray) server = wp_byte_words(others[i].server);
		const guint8 *answer = server->len ? server->data : (const guint8 *)"";
		WpProbe probe = { .client = wp_bytes(client->data, client->len),
				  .server = wp_bytes(answer, server->len),
				  .server_port = others[i].port,
				  .is_cut = TRUE };
		const WpDecoder *decoder = wp_decoder_detect(&probe, TRUE).decoder;
		ck_assert_msg(decoder == &wp_decoder_generic, "%s is taken by %s", others[i].what,
			      decoder->name);
	}
}
END_TEST

static const char *
detect(const GByteArray *client, const GByteArray *server, gboolean from_start, gboolean is_udp)
{
	return detect_first(NULL, client, server, from_start, is_udp);
}

START_TEST(each_its_own)
{
	for (gsize i = 0; i < G_N_ELEMENTS(samples); i++)
		for (int from_start = 0; from_start < 2; from_start++) {
			g_autoptr(GByteArray) client = wp_byte_words(samples[i].client);
			g_autoptr(GByteArray) server = wp_byte_words(samples[i].server);
			const char *name = detect(client, server, from_start, samples[i].is_udp);
			if (strcmp(samples[i].protocol, "mysql") != 0 || !from_start)
				ck_assert_str_eq(name, samples[i].protocol);
		}
}
END_TEST

/* What the port spoke before makes an answer come sooner, never another one. */
START_TEST(spoken_before)
{
	for (gsize i = 0; i < G_N_ELEMENTS(samples); i++)
		for (const WpDecoder *const *d = wp_decoders; *d; d++) {
			g_autoptr(GByteArray) client = wp_byte_words(samples[i].client);
			g_autoptr(GByteArray) server = wp_byte_words(samples[i].server);
			const char *name =
				detect_first(*d, client, server, TRUE, samples[i].is_udp);
			ck_assert_str_eq(name, detect(client, server, TRUE, samples[i].is_udp));
		}
}
END_TEST

/* One side alone is that protocol or undecided, never another. */
START_TEST(one_side)
{
	for (gsize i = 0; i < G_N_ELEMENTS(samples); i++)
		for (int side = 0; side < 4; side++) {
			g_autoptr(GByteArray) bytes =
				wp_byte_words(side & 1 ? samples[i].client : samples[i].server);
			const char *name = detect(side & 1 ? bytes : NULL, side & 1 ? NULL : bytes,
						  side & 2, samples[i].is_udp);
			if (strcmp(name, samples[i].protocol) != 0)
				ck_assert_msg(strcmp(name, wp_decoder_generic.name) == 0,
					      "side %d of %s: %s", side, samples[i].protocol, name);
		}
}
END_TEST

/* The calls of one protocol with the returns of another are neither, but among the first, which are lines of
 * text. */
START_TEST(mixed)
{
	for (gsize i = 0; i < G_N_ELEMENTS(samples); i++)
		for (gsize j = i < N_LOOSE ? N_LOOSE : 0; j < G_N_ELEMENTS(samples); j++) {
			if (i == j || samples[i].is_udp != samples[j].is_udp)
				continue;
			g_autoptr(GByteArray) client = wp_byte_words(samples[i].client);
			g_autoptr(GByteArray) server = wp_byte_words(samples[j].server);
			const char *name = detect(client, server, TRUE, samples[i].is_udp);
			ck_assert_msg(strcmp(name, samples[j].protocol) != 0 ||
					      strcmp(name, samples[i].protocol) == 0,
				      "%s calls, %s returns: %s", samples[i].protocol,
				      samples[j].protocol, name);
		}
}
END_TEST

/* Bytes by lot (a fixed seed): so strict are the frames that none of 20,000 fits; memcached's do not last. */
START_TEST(by_lot)
{
	g_autoptr(GRand) lot = g_rand_new_with_seed(1);
	guint8 bytes[2][120];
	for (guint i = 0; i < 20000; i++) {
		WpProbe probe = { .server_port = 9999 };
		for (int side = 0; side < 2; side++)
			for (guint j = 0; j < sizeof bytes[0]; j++)
				bytes[side][j] = (guint8)g_rand_int(lot);
		probe.client = wp_bytes(bytes[0], (gsize)g_rand_int_range(lot, 1, 120));
		probe.server = wp_bytes(bytes[1], (gsize)g_rand_int_range(lot, 1, 120));
		probe.from_start = i & 1;
		probe.is_udp = i & 2;
		for (gsize j = N_LOOSE; j < G_N_ELEMENTS(samples); j++) {
			const WpDecoder *decoder = wp_decoder_by_name(samples[j].protocol);
			ck_assert_msg(decoder->probe(&probe) < WP_PROBE_MAYBE, "taken by %s",
				      decoder->name);
		}
	}
}
END_TEST

WP_SUITE("detect", ping_is_nothing_else, smpp_is_nothing_else, others_are_nobodys, each_its_own,
	 spoken_before, one_side, mixed, by_lot)
