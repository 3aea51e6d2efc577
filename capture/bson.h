/*
 * BSON (bsonspec.org, version 1.1), read a step at a time: no recursion, nothing allocated.
 *
 *      document  |length, LE|element|element|...|0|
 *      element   |type|name|0|value|
 */
#ifndef WP_CAPTURE_BSON_H
#define WP_CAPTURE_BSON_H

#include "capture/bytes.h"

enum {
	WP_BSON_DOUBLE = 1,
	WP_BSON_STRING = 2,
	WP_BSON_DOCUMENT = 3,
	WP_BSON_ARRAY = 4,
	WP_BSON_OBJECT_ID = 7,
	WP_BSON_BOOLEAN = 8,
	WP_BSON_INT32 = 16,
	WP_BSON_INT64 = 18
};

/* The length before a document, and the shortest: that and the zero behind it. */
#define WP_BSON_LENGTH   4
#define WP_BSON_SHORTEST 5

typedef enum {
	WP_BSON_ELEMENT,
	WP_BSON_CLOSE, /* the zero behind the last element */
	WP_BSON_CUT,   /* the bytes end inside an element; *OUT holds what of it there is */
	WP_BSON_BAD
} WpBsonStep;

typedef struct {
	guint8 type; /* 0: the bytes end before it */
	const char *name;
	gsize name_length;
	WpBytes value; /* as far as it is there */
} WpBsonElement;

/* The next step of a document whose length has been read. ENTER: documents and arrays inside are gone into, not passed. */
WpBsonStep wp_bson_next(WpBytes *in, gboolean enter, WpBsonElement *out);

/* The text of a string, without the zero behind it. FALSE where ELEMENT is none, or not all there. */
gboolean wp_bson_text(const WpBsonElement *element, const char **out_text, gsize *out_length);

/* FALSE where ELEMENT is no number. */
gboolean wp_bson_is_zero(const WpBsonElement *element, gboolean *out_is_zero);

#endif
