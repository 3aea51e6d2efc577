/*
 * The table of decoders, and which of them a flow speaks: content first, the port only as a hint that
 * lifts a weak answer.
 */
#include "capture/decoder.h"

#include <string.h>

#include "capture/decoders.h"

/*
 * Asked in this order; of equal answers the first wins. Strict frames come before loose ones. One a
 * line, so that additions merge.
 */
/* clang-format off */
const WpDecoder *const wp_decoders[] = {
	&wp_decoder_tls,
	&wp_decoder_http2,
	&wp_decoder_http1,
	&wp_decoder_fastcgi,
	&wp_decoder_mysql,
	&wp_decoder_pgsql,
	&wp_decoder_rpc,
	&wp_decoder_redis,
	&wp_decoder_memcached,
	&wp_decoder_memcached_udp,
	&wp_decoder_dns,
	&wp_decoder_quic,
	&wp_decoder_ssh,
	&wp_decoder_mongodb,
	&wp_decoder_thrift,
	&wp_decoder_kafka,
	&wp_decoder_amqp,
	&wp_decoder_mqtt,
	&wp_decoder_nats,
	&wp_decoder_cql,
	&wp_decoder_ldap,
	&wp_decoder_websocket,
	&wp_decoder_smtp,
	&wp_decoder_sip,
	&wp_decoder_rmi,
	&wp_decoder_tds,
	&wp_decoder_tns,
	NULL,
};
/* clang-format on */

const WpDecoder *
wp_decoder_by_name(const char *name)
{
	for (const WpDecoder *const *d = wp_decoders; *d; d++)
		if (strcmp((*d)->name, name) == 0)
			return *d;
	return strcmp(wp_decoder_generic.name, name) == 0 ? &wp_decoder_generic : NULL;
}

static gboolean
has_port(const WpDecoder *decoder, guint16 port)
{
	for (const guint16 *p = decoder->ports; p && *p; p++)
		if (*p == port)
			return TRUE;
	return FALSE;
}

static WpProbeVerdict
ask(const WpDecoder *decoder, const WpProbe *probe, gboolean *out_port)
{
	guint transport = probe->is_udp ? WP_TRANSPORT_UDP : WP_TRANSPORT_TCP;
	if (!(decoder->transports & transport))
		return WP_PROBE_NO;
	WpProbeVerdict verdict = decoder->probe(probe);
	*out_port = has_port(decoder, probe->server_port);
	if (verdict == WP_PROBE_MAYBE && *out_port)
		verdict = WP_PROBE_LIKELY;
	return verdict;
}

/* A better answer; of equal ones that of the usual port, else the first. */
static gboolean
is_better(WpProbeVerdict verdict, gboolean port, const WpDetection *best, gboolean best_port)
{
	return verdict > best->verdict ||
	       (verdict == best->verdict && verdict > WP_PROBE_NO && port && !best_port);
}

WpDetection
wp_decoder_detect(const WpProbe *probe, gboolean final)
{
	WpDetection best = { NULL, WP_PROBE_NO };
	gboolean best_port = FALSE, may_become = FALSE;
	gboolean both = wp_bytes_left(&probe->client) && wp_bytes_left(&probe->server);

	if (probe->first && ask(probe->first, probe, &best_port) == WP_PROBE_SURE)
		return (WpDetection){ probe->first, WP_PROBE_SURE };
	best_port = FALSE;
	for (const WpDecoder *const *d = wp_decoders; *d; d++) {
		gboolean port = FALSE;
		WpProbeVerdict verdict = ask(*d, probe, &port);
		if (verdict == WP_PROBE_MORE) {
			may_become = TRUE;
		} else if (is_better(verdict, port, &best, best_port)) {
			best = (WpDetection){ *d, verdict };
			best_port = port;
		}
	}
	gboolean is_last_word = final || !may_become;
	if (best.verdict >= WP_PROBE_LIKELY ||
	    (best.verdict == WP_PROBE_MAYBE && both && is_last_word))
		return best;
	if (final || (is_last_word && best.verdict == WP_PROBE_NO))
		return (WpDetection){ &wp_decoder_generic, WP_PROBE_NO };
	return (WpDetection){ NULL, WP_PROBE_MORE };
}
