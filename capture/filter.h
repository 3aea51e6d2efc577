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

/*
 * (transfer full) EXPRESSION for a live interface. The kernel takes the outermost tag off before it asks its
 * filter, but not the second one, nor those of frames that are sent with it; and libpcap's "vlan" would
 * apply to both. So it is asked to let frames that still have a tag pass as well, and those are filtered here
 * once more: wp_filter_is_tagged() and wp_filter_matches().
 */
char *wp_filter_for_kernel(const char *expression, guint32 link_type);

/* TRUE where an Ethernet frame has a VLAN tag. */
gboolean wp_filter_is_tagged(const WpFrame *frame);

/* What files call the link type that libpcap calls DLT on this machine. */
guint32 wp_filter_link_type(int dlt);

/* Name of a link type ("EN10MB"), or its number. BUFFER is used for numbers. */
const char *wp_link_type_name(guint32 link_type, char *buffer, gsize size);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpFilter, wp_filter_free)

#endif
