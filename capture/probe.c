/* See probe.h. */
#include "capture/probe.h"

typedef enum {
	ABSENT,
	FITS,
	FAILS,
	INCOMPLETE
} Side;

static Side
side_of(const WpBytes *bytes, WpDecodeStatus status)
{
	if (bytes->length == 0)
		return ABSENT;
	return status == WP_DECODE_OK ? FITS : status == WP_DECODE_MORE ? INCOMPLETE : FAILS;
}

WpProbeVerdict
wp_probe_verdict(const WpProbe *probe, WpDecodeStatus client_status, WpDecodeStatus server_status,
		 WpProbeVerdicts verdicts)
{
	Side client = side_of(&probe->client, client_status);
	Side server = side_of(&probe->server, server_status);

	if (probe->from_start || probe->is_udp) {
		if (client == FAILS || server == FAILS)
			return WP_PROBE_NO;
		if (client == INCOMPLETE && server != ABSENT)
			return WP_PROBE_NO;
	}
	if (client == FITS)
		return server == FITS ? verdicts.both : verdicts.client;
	if (server == FITS)
		return verdicts.server;
	return client == INCOMPLETE || server == INCOMPLETE ? WP_PROBE_MORE : WP_PROBE_NO;
}
