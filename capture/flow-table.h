/*
 * WpFlowTable: addresses, ports and protocol -> flow, for both directions alike. The one look-up that
 * every packet costs: open addressing with linear probing over slots of 8 bytes (hash and number), the
 * flows themselves in chunks that never move and are used again, so no packet allocates.
 */
#ifndef WP_CAPTURE_FLOW_TABLE_H
#define WP_CAPTURE_FLOW_TABLE_H

#include <glib.h>

#include "capture/packet.h"

/* The two ends in a fixed order, so that both directions have the same key. */
typedef struct {
	guint64 words[5]; /* lower address, higher address, lower port, higher port, protocol */
} WpFlowKey;

/* Sets OUT_KEY and returns the side (0, 1) that the sender of SEGMENT is. */
guint wp_flow_key(const WpSegment *segment, WpFlowKey *out_key);

/* The end SIDE of KEY. */
WpEndpoint wp_flow_key_endpoint(const WpFlowKey *key, guint side);

gboolean wp_flow_key_is_udp(const WpFlowKey *key);

typedef struct WpFlowTable WpFlowTable;

/* A seed that a sender can hardly foresee, and that the same capture gives again: of its first SEGMENT. */
guint64 wp_flow_seed(const WpSegment *segment);

/* (transfer full) Of objects of OBJECT_SIZE bytes, each beginning with its WpFlowKey. */
WpFlowTable *wp_flow_table_new(gsize object_size, guint64 seed);
void wp_flow_table_free(WpFlowTable *table);

/* (transfer none) NULL where there is none. */
gpointer wp_flow_table_find(WpFlowTable *table, const WpFlowKey *key);

/* (transfer none) A new object of zero bytes but for its key, which must not be there yet. */
gpointer wp_flow_table_add(WpFlowTable *table, const WpFlowKey *key);

void wp_flow_table_remove(WpFlowTable *table, gpointer object);

guint32 wp_flow_table_count(const WpFlowTable *table);

/* Calls FUNC for each object, in no order that means anything. FUNC must not add or remove. */
typedef void (*WpFlowTableFunc)(gpointer object, gpointer data);
void wp_flow_table_foreach(const WpFlowTable *table, WpFlowTableFunc func, gpointer data);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpFlowTable, wp_flow_table_free)

#endif
