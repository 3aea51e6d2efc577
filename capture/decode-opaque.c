/*
 * Protocols that are recognised so that no calls are guessed in them: many conversations share one
 * flow (QUIC, RFC 9000), or its turns are keystrokes (SSH, RFC 4253).
 */
#include <string.h>

#include "capture/decoders.h"

#define SSH_BANNER "SSH-"

/* MORE for a prefix of TEXT, SURE for TEXT. */
static WpProbeVerdict
probe_prefix(const WpBytes *bytes, const char *text, gsize length)
{
	gsize n = MIN(wp_bytes_left(bytes), length);
	if (n == 0 || memcmp(bytes->data + bytes->at, text, n) != 0)
		return WP_PROBE_NO;
	return n < length ? WP_PROBE_MORE : WP_PROBE_SURE;
}

static WpProbeVerdict
probe_ssh(const WpProbe *probe)
{
	WpProbeVerdict client = probe_prefix(&probe->client, SSH_BANNER, strlen(SSH_BANNER));
	WpProbeVerdict server = probe_prefix(&probe->server, SSH_BANNER, strlen(SSH_BANNER));
	return MAX(client, server);
}

/* A long header with a version that exists, RFC 9000 section 17.2 and RFC 9369. */
static WpProbeVerdict
probe_quic(const WpProbe *probe)
{
	WpBytes in = wp_bytes_left(&probe->client) ? probe->client : probe->server;
	guint8 first = wp_bytes_u8(&in);
	guint32 version = wp_bytes_be32(&in);
	if (in.failed || (first & 0xc0) != 0xc0)
		return WP_PROBE_NO;
	return version == 1 || version == 0x6b3343cf ? WP_PROBE_SURE : WP_PROBE_NO;
}

static WpDecodeStatus
decode_opaque(void *state, WpDecodeContext *context, WpDirection direction, WpBytes in,
	      WpUnit *out_unit)
{
	wp_decode_multiplexed(context);
	out_unit->length = G_MAXSIZE;
	return WP_DECODE_OK;
}

static const guint16 quic_ports[] = { 443, 0 };

const WpDecoder wp_decoder_quic = {
	.name = "quic",
	.summary = "QUIC: recognised; encrypted and multiplexed, so no calls",
	.transports = WP_TRANSPORT_UDP,
	.ports = quic_ports,
	.probe = probe_quic,
	.decode = decode_opaque,
};

static const guint16 ssh_ports[] = { 22, 0 };

const WpDecoder wp_decoder_ssh = {
	.name = "ssh",
	.summary = "SSH: recognised; encrypted and multiplexed, so no calls",
	.transports = WP_TRANSPORT_TCP,
	.ports = ssh_ports,
	.probe = probe_ssh,
	.decode = decode_opaque,
};
