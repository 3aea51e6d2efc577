/* What decoders have in common when they are asked whether a flow speaks their protocol. */
#ifndef WP_CAPTURE_PROBE_H
#define WP_CAPTURE_PROBE_H

#include "capture/decoder.h"

typedef enum {
	WP_FIT_NO,   /* a side cannot be this protocol */
	WP_FIT_MORE, /* too few bytes to tell */
	WP_FIT_CLIENT, /* the client's bytes begin with a call; the server's are not there, or not known */
	WP_FIT_SERVER, /* the server's begin with a return */
	WP_FIT_BOTH
} WpProbeFit;

/*
 * CLIENT, SERVER: whether a call, a return begins at the front of each side's bytes. In mid-stream one
 * side may begin anywhere, so one that fits is enough; from the start and in datagrams none may fail, and
 * nobody answers a call that is not complete.
 */
WpProbeFit wp_probe_fit(const WpProbe *probe, WpDecodeStatus client, WpDecodeStatus server);

#endif
