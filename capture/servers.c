/*
 * Who is the server: by what is known of the two ends, else by their ports. Only a guess: the decoder
 * may find from the bytes that it is the other way round.
 *
 * Port ranges: RFC 6335 section 6 (system ports up to 1023, dynamic ones from 49152); Linux gives
 * clients 32768-60999 (ip_local_port_range). Clients of NFS and other RPC services use "reserved" ports
 * of 600-1023 (bindresvport(3), Linux's xprt_min_resvport), so those say little beside a port like 2049.
 */
#include "capture/servers.h"

#include <string.h>

#define FIRST_SLOTS 256

/* Of gRPC's examples, and so of many servers, though clients may get it. */
#define GRPC_PORT 50051

typedef struct {
	guint64 hash; /* of the end; 0 = free. Two ends with one hash only spoil a guess */
	guint32 n_flows;
	guint32 is_certain;
} End;

struct WpServers {
	End *ends;       /* open addressing */
	guint32 n_slots; /* a power of two */
	guint32 n_used;
};

WpServers *
wp_servers_new(void)
{
	WpServers *servers = g_new0(WpServers, 1);
	servers->n_slots = FIRST_SLOTS;
	servers->ends = g_new0(End, servers->n_slots);
	return servers;
}

void
wp_servers_free(WpServers *servers)
{
	if (!servers)
		return;
	g_free(servers->ends);
	g_free(servers);
}

static guint64
hash_end(const WpEndpoint *end)
{
	guint64 words[3] = { 0, 0, end->port };
	guint64 hash = 0;
	memcpy(words, end->address, sizeof end->address);
	for (gsize i = 0; i < G_N_ELEMENTS(words); i++) {
		hash = (hash ^ words[i]) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
	}
	return hash | 1;
}

static End *
find_slot(const WpServers *servers, guint64 hash)
{
	guint32 at = (guint32)(hash >> 16) & (servers->n_slots - 1);
	while (servers->ends[at].hash && servers->ends[at].hash != hash)
		at = (at + 1) & (servers->n_slots - 1);
	return &servers->ends[at];
}

static void
grow(WpServers *servers)
{
	g_autofree End *old = servers->ends;
	guint32 n_old = servers->n_slots;

	servers->n_slots *= 2;
	servers->ends = g_new0(End, servers->n_slots);
	for (guint32 i = 0; i < n_old; i++)
		if (old[i].hash)
			*find_slot(servers, old[i].hash) = old[i];
}

/* The entry of END, made where new; NULL where there is no room. */
static End *
get_end(WpServers *servers, const WpEndpoint *end)
{
	guint64 hash = hash_end(end);
	End *found = find_slot(servers, hash);
	if (found->hash)
		return found;
	if (servers->n_used == WP_SERVERS_MAX)
		return NULL;
	if (servers->n_used >= servers->n_slots / 2) {
		grow(servers);
		found = find_slot(servers, hash);
	}
	servers->n_used++;
	found->hash = hash;
	return found;
}

void
wp_servers_add(WpServers *servers, const WpEndpoint *server)
{
	End *end = get_end(servers, server);
	if (end)
		end->is_certain = 1;
}

/* How much the number PORT looks like that of a server. */
static int
rank_port(guint16 port)
{
	if (port < 600)
		return 4;
	if (port >= 1024 && port < 10000)
		return 3;
	if (port < 1024)
		return 2;
	return port < 32768 || port == GRPC_PORT ? 1 : 0;
}

/* The end met before in MANY other flows where the other never was; 0 = neither. */
static int
compare_flows(guint64 flows_a, guint64 flows_b, guint64 many)
{
	if (!flows_a && flows_b >= many)
		return 1;
	return !flows_b && flows_a >= many ? -1 : 0;
}

gboolean
wp_servers_guess(WpServers *servers, const WpEndpoint *a, const WpEndpoint *b, gboolean is_udp)
{
	End none = { 0 };
	int rank = rank_port(b->port) - rank_port(a->port);

	/* A UDP client may well use one port towards many servers; but who speaks first asks. */
	if (is_udp)
		return rank >= -1;
	End *end = get_end(servers, a);
	guint64 flows_a = end ? end->n_flows++ : 0;
	gboolean certain_a = end && end->is_certain; /* END moves when the table grows */
	end = get_end(servers, b);
	end = end ? end : &none;
	guint64 flows_b = end->n_flows++;

	if (certain_a != (gboolean)end->is_certain)
		return end->is_certain;
	if (compare_flows(flows_a, flows_b, 2))
		return compare_flows(flows_a, flows_b, 2) > 0;
	if (rank)
		return rank > 0;
	if (compare_flows(flows_a, flows_b, 1))
		return compare_flows(flows_a, flows_b, 1) > 0;
	return b->port <= a->port;
}
