/* What the parser of measures and what feeds them share. */
#ifndef WP_REPORT_MEASURE_PRIVATE_H
#define WP_REPORT_MEASURE_PRIVATE_H

#include "report/measure.h"
#include "report/where.h"

#define WP_MEASURE_MAX_TERMS 8

typedef enum {
	WP_MEASURE_OWN,
	WP_MEASURE_PARENT,
	WP_MEASURE_PREVIOUS,
	WP_MEASURE_CHILD,
	WP_MEASURE_N_WHOSE
} WpMeasureWhose;

typedef struct WpMeasureFacts WpMeasureFacts;

typedef struct {
	const char *name;
	WpMeasureUnit unit;
	gboolean is_point; /* in time */
	/* FALSE where it is not known. */
	gboolean (*get)(const WpMeasureFacts *facts, guint32 span, gint64 *out_value);
} WpMeasureField;

typedef struct {
	const char *name;
	gboolean is_time;
	/* (transfer full) Of the call SPAN; NULL for time. */
	char *(*text)(const WpMeasureFacts *facts, guint32 span);
} WpMeasureKey;

typedef struct {
	const char *name;
	double (*of)(const WpDelay *values, double quantile);
	gboolean is_count;
} WpMeasureFunction;

typedef struct {
	WpMeasureWhose whose;
	const WpMeasureField *field;
	gboolean is_minus;
} WpMeasureTerm;

/* NULL-name-ended. */
extern const WpMeasureField wp_measure_fields[];
extern const WpMeasureKey wp_measure_keys[];

struct WpMeasure {
	char *text;
	const WpMeasureFunction *function;
	double quantile;
	WpMeasureTerm terms[WP_MEASURE_MAX_TERMS];
	guint n_terms;
	const WpMeasureKey *keys[WP_MEASURE_MAX_KEYS];
	guint n_keys;
	gint64 width_ns; /* of time */
	WpWhere *where;  /* or NULL */
	gboolean uses[WP_MEASURE_N_WHOSE];

	GHashTable *numbers; /* text of a group -> its number; asked, never walked */
	GPtrArray *groups;   /* WpMeasureGroup */
	GStringChunk *names;
	gint64 begin_ns;
	gboolean has_begin;
	guint64 n_unknown;
	guint64 n_left;
};

#endif
