/* What decoders have in common when they are asked whether a flow speaks their protocol. */
#ifndef WP_CAPTURE_PROBE_H
#define WP_CAPTURE_PROBE_H

#include "capture/decoder.h"

/* What a decoder says, by the sides whose bytes begin as they should. */
typedef struct {
	WpProbeVerdict client; /* only the client's: the server's are not there, or not known */
	WpProbeVerdict server; /* only the server's */
	WpProbeVerdict both;
} WpProbeVerdicts;

/*
 * CLIENT, SERVER: whether a call, a return begins at the front of each side's bytes. In mid-stream one
 * side may begin anywhere, so one that fits is enough; from the start and in datagrams none may fail, and
 * nobody answers a call that is not complete. Where no side fits: NO, or MORE where bytes are too few to tell.
 */
WpProbeVerdict wp_probe_verdict(const WpProbe *probe, WpDecodeStatus client, WpDecodeStatus server,
				WpProbeVerdicts verdicts);

#endif
