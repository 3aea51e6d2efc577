/*
 * WpExcerpt: the packets of some requests, out of the captures that these were found in: of the connection of each of
 * their calls those from its first packet to the last of its reply. Other calls on the same connection in that time
 * come along: which bytes are whose, a capture file cannot say.
 *
 *   infer -> the requests -> read the captures once more, every frame through wp_excerpt_frame() -> a file
 */
#ifndef WP_REPORT_EXCERPT_H
#define WP_REPORT_EXCERPT_H

#include "capture/packet-file.h"
#include "capture/packet.h"
#include "infer/instance.h"

typedef struct WpExcerpt WpExcerpt;

/* (transfer full) Of no request yet. */
WpExcerpt *wp_excerpt_new(void);
void wp_excerpt_free(WpExcerpt *excerpt);

void wp_excerpt_add(WpExcerpt *excerpt, const WpInstance *request);

/* Calls whose addresses are known: of others there are no packets. */
guint wp_excerpt_n_calls(const WpExcerpt *excerpt);

/* All are added: what is wanted goes to PATH ("-": standard output), which is made with the first packet. */
void wp_excerpt_begin(WpExcerpt *excerpt, const char *path, WpPacketFileForm form);

/* A WpCaptureFrameFunc; EXCERPT is a WpExcerpt. */
void wp_excerpt_frame(const WpFrame *frame, const WpSegment *segment, gpointer excerpt);

/* Ends the file. FALSE with the first error of all. OUT_N: packets in it; without any there is no file. */
gboolean wp_excerpt_finish(WpExcerpt *excerpt, guint64 *out_n, GError **error);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpExcerpt, wp_excerpt_free)

#endif
