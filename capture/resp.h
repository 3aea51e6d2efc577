/*
 * RESP, the serialization of Redis, versions 2 and 3 (redis.io "Redis serialization protocol
 * specification"): one element at a time, and how many are still to come of a nested value.
 *
 *      *2          %1          an aggregate: its header, then as many elements (maps: twice)
 *      $3 GET      +name
 *      $1 a        :7          a map's key and value
 */
#ifndef WP_CAPTURE_RESP_H
#define WP_CAPTURE_RESP_H

#include <glib.h>

#include "capture/bytes.h"
#include "capture/decoder.h"

/* Aggregates without a count (streamed) that may be open inside each other. */
#define WP_RESP_MAX_DEPTH 16

/* The longest bulk string (Redis itself: 512 MiB unless configured) and the largest count. */
#define WP_RESP_MAX_NUMBER G_MAXUINT32

/* The first line of an element. */
typedef struct {
	gchar type;           /* its first byte: '+', '$', '*', ... */
	gboolean is_null;     /* $-1, *-1, _ */
	gboolean is_streamed; /* $?, *?, %?, ~? */
	guint64 number;       /* length, count, or a positive integer's value */
	gsize line;           /* bytes of the line with its end */
	gsize length; /* of the element without what is nested in it; may exceed the input */
} WpRespElement;

/* The element at the front of IN: OK as soon as its first line is there. */
WpDecodeStatus wp_resp_element(WpBytes in, WpRespElement *out_element);

/* A value of which some elements have passed. */
typedef struct {
	guint64 left; /* elements of the innermost counted value still to come */
	guint64 outer[WP_RESP_MAX_DEPTH];
	guint8 depth;
	gboolean in_chunks;    /* of a streamed string */
	gboolean in_attribute; /* of the whole value, which follows it */
} WpRespValue;

/* A value begins, nothing of which has passed. */
void wp_resp_value_begin(WpRespValue *value);
gboolean wp_resp_value_is_done(const WpRespValue *value);

/* TRUE where the next element is the value itself (not inside it, nor in its attribute). */
gboolean wp_resp_value_is_at_top(const WpRespValue *value);

/* ELEMENT passes. FALSE where it cannot stand here, or VALUE is nested too deep. */
gboolean wp_resp_value_add(WpRespValue *value, const WpRespElement *element);

#endif
