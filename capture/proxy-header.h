/*
 * The PROXY protocol (haproxy.org, "The PROXY protocol", versions 1 and 2): what a proxy sends in front of
 * a connection that it passes on, to tell whose it is.
 *
 *      1   "PROXY TCP4 192.0.2.1 192.0.2.2 56324 443" CR LF
 *      2   twelve bytes of signature|version, command|family|length|addresses, more..|
 *
 * The address told is not kept: the proxy is who calls, and whose call that is, inference finds out.
 */
#ifndef WP_CAPTURE_PROXY_HEADER_H
#define WP_CAPTURE_PROXY_HEADER_H

#include "capture/decoder.h"

/* Such a header at the front of IN, OUT_LENGTH bytes long. MORE: it may become one. */
WpDecodeStatus wp_proxy_header(WpBytes in, gsize *out_length);

#endif
