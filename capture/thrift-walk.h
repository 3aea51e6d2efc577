/*
 * Walks over the struct of a Thrift message, binary or compact, a step at a time: what unframed messages
 * need to know where they end, and where the texts and numbers are. (apache/thrift, doc/specs:
 * thrift-binary-protocol.md, thrift-compact-protocol.md.) Zeroed, then wp_thrift_walk_start().
 */
#ifndef WP_CAPTURE_THRIFT_WALK_H
#define WP_CAPTURE_THRIFT_WALK_H

#include "capture/decoder.h"

/* Structs and containers inside one another; Thrift's own limit is 64. More is WP_DECODE_BAD. */
#define WP_THRIFT_MAX_DEPTH 64

typedef struct {
	guint8 type;  /* of the elements, or the keys; 0 = a struct */
	guint8 value; /* of the values of a map; 0 = a list */
	gboolean at_value;
	guint32 left; /* elements */
	gint32 field; /* last one */
} WpThriftLevel;

typedef struct {
	WpThriftLevel levels[WP_THRIFT_MAX_DEPTH];
	guint depth; /* 0 = not in a struct */
	gboolean is_compact;
} WpThriftWalk;

typedef struct {
	gsize length;   /* of the step; may be more than what is there */
	gint32 field;   /* of the outermost struct, where the step begins one; else -1 */
	WpBytes text;   /* of a string, as far as it is there */
	gsize text_all; /* the whole length of it */
	gboolean has_number;
	gint64 number;
} WpThriftStep;

void wp_thrift_walk_start(WpThriftWalk *walk, gboolean is_compact);

/* OK: one step at the front of IN; depth is 0 behind the last. MORE leaves WALK as it was. */
WpDecodeStatus wp_thrift_walk_step(WpThriftWalk *walk, WpBytes in, WpThriftStep *out);

/* A number of seven bits a byte; fails behind ten. */
guint64 wp_thrift_varint(WpBytes *in);

#endif
