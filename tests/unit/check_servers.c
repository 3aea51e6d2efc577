/* Who is the server, where no SYN tells. */
#include "capture/servers.h"

#include "tests/support/suite.h"

static WpEndpoint
end_of(const char *text)
{
	WpEndpoint end;
	ck_assert(wp_endpoint_parse(text, &end));
	return end;
}

static gboolean
guess(WpServers *servers, const char *a, const char *b, gboolean is_udp)
{
	WpEndpoint end_a = end_of(a), end_b = end_of(b);
	return wp_servers_guess(servers, &end_a, &end_b, is_udp);
}

/* Two ends of which nothing is known: the numbers of their ports. */
START_TEST(ports)
{
	static const struct {
		const char *client, *server;
	} rows[] = {
		{ "10.0.0.1:40000", "10.0.0.2:80" },      { "10.0.0.1:40000", "10.0.0.2:5432" },
		{ "10.0.0.1:1023", "10.0.0.2:2049" },     { "10.0.0.1:700", "10.0.0.2:111" },
		{ "10.0.0.1:50000", "10.0.0.2:27017" },   { "10.0.0.1:20000", "10.0.0.2:8080" },
		{ "[fe80::1]:40001", "[fe80::2]:40000" }, { "10.0.0.1:38496", "10.0.0.2:50051" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
		for (int first = 0; first < 2; first++) {
			g_autoptr(WpServers) servers = wp_servers_new();
			const char *a = first ? rows[i].server : rows[i].client;
			const char *b = first ? rows[i].client : rows[i].server;
			ck_assert_msg(guess(servers, a, b, FALSE) == !first, "row %zu", i);
		}
}
END_TEST

/* UDP: who speaks first asks, unless the ports speak clearly against it. */
START_TEST(datagrams)
{
	g_autoptr(WpServers) servers = wp_servers_new();
	ck_assert(guess(servers, "10.0.0.1:5353", "10.0.0.2:5353", TRUE));
	ck_assert(guess(servers, "10.0.0.1:30000", "10.0.0.2:40000", TRUE));
	ck_assert(!guess(servers, "10.0.0.1:53", "10.0.0.2:40000", TRUE));
	ck_assert(!guess(servers, "10.0.0.1:2049", "10.0.0.2:33000", TRUE));
}
END_TEST

/* An end that other flows know. */
START_TEST(known)
{
	g_autoptr(WpServers) servers = wp_servers_new();
	WpEndpoint server = end_of("10.0.0.9:60000");
	wp_servers_add(servers, &server);
	ck_assert(guess(servers, "10.0.0.1:80", "10.0.0.9:60000", FALSE));
	ck_assert(!guess(servers, "10.0.0.9:60000", "10.0.0.1:80", FALSE));
}
END_TEST

/* An end that many flows share is the server, whatever its port. */
START_TEST(shared)
{
	g_autoptr(WpServers) servers = wp_servers_new();
	guess(servers, "10.0.0.1:2000", "10.0.0.9:50000", FALSE);
	guess(servers, "10.0.0.1:2001", "10.0.0.9:50000", FALSE);
	ck_assert(guess(servers, "10.0.0.1:2002", "10.0.0.9:50000", FALSE));
	ck_assert(!guess(servers, "10.0.0.9:50000", "10.0.0.1:2003", FALSE));
}
END_TEST

/* The memory is bounded, and a full one still answers by ports. */
START_TEST(full)
{
	g_autoptr(WpServers) servers = wp_servers_new();
	WpEndpoint end = end_of("10.0.0.1:1");
	for (guint i = 0; i < WP_SERVERS_MAX + 1000; i++) {
		end.address[12] = (guint8)(i >> 16);
		end.address[13] = (guint8)(i >> 8);
		end.address[14] = (guint8)i;
		wp_servers_add(servers, &end);
	}
	ck_assert(guess(servers, "10.9.0.1:40000", "10.9.0.2:80", FALSE));
}
END_TEST

WP_SUITE("servers", ports, datagrams, known, shared, full)
