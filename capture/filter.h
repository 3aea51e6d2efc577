/*
 * WpFilter: a BPF expression (pcap-filter(7)) over frames of any link type. Compiled by libpcap when the
 * first frame of a link type comes. An expression that does not speak of VLANs itself applies to frames
 * with VLAN tags as to those without: "port 80" means port 80.
 */
#ifndef WP_CAPTURE_FILTER_H
#define WP_CAPTURE_FILTER_H

#include <glib.h>

#include "capture/source.h"

typedef struct WpFilter WpFilter;

/* (transfer full) NULL with WP_CAPTURE_ERROR_OPTION where EXPRESSION makes no sense. */
WpFilter *wp_filter_new(const char *expression, GError **error);
void wp_filter_free(WpFilter *filter);

/*
 * Sets OUT_MATCHES. FALSE with WP_CAPTURE_ERROR_OPTION where the expression cannot be applied to
 * frames of this link type.
 */
gboolean wp_filter_matches(WpFilter *filter, const WpFrame *frame, gboolean *out_matches,
			   GError **error);

/* Name of a link type ("EN10MB"), or its number. BUFFER is used for numbers. */
const char *wp_link_type_name(guint32 link_type, char *buffer, gsize size);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpFilter, wp_filter_free)

#endif
