/*
 * WpExpression: a condition on one thing, such as a call (where.h) or an operation in a window of time (triggers.h),
 * whose fields a table names.
 *
 *   label ~ "GET *" && (latency > 5ms || status != ok)
 *
 *   expr   = and { "||" and }        and = not { "&&" not }        not = "!" not | "(" expr ")" | test
 *   test   = field op value | field of kind flag
 *   op     = "==" "!=" "~" "!~" (glob: * and ?) for text;  == != < <= > >= for numbers
 *   value  = word | "text" (\" and \\ inside)
 *
 * Text is compared exactly. A value that is not known fulfils no comparison, != included.
 */
#ifndef WP_REPORT_EXPRESSION_H
#define WP_REPORT_EXPRESSION_H

#include <glib.h>

#include "report/out.h"

typedef enum {
	WP_FIELD_TEXT,
	WP_FIELD_STATUS, /* text of a known set (capture/record.h) */
	WP_FIELD_NUMBER,
	WP_FIELD_DURATION, /* ns */
	WP_FIELD_BYTES,
	WP_FIELD_SHARE,   /* in units of WP_FIELD_SHARE_UNIT a whole */
	WP_FIELD_DECIMAL, /* in units of WP_FIELD_DECIMAL_UNIT a 1 */
	WP_FIELD_FLAG
} WpFieldKind;

#define WP_FIELD_SHARE_UNIT   1e6
#define WP_FIELD_DECIMAL_UNIT 1e3

/* A field: where its values lie in what is asked about. Text may have up to four, any of which may fit. */
typedef struct {
	const char *name; /* lower case letters, digits and dots */
	WpFieldKind kind;
	guint32 traits; /* bits whose meaning is the language's own */
	const char *help;
	gsize offsets[4]; /* of text: of const char *, none NULL; 0-ended after the first */
	/* Of all others. FALSE: it is not known. */
	gboolean (*number)(gconstpointer subject, gint64 *out_value);
} WpExpressionField;

#define WP_EXPRESSION_MAX_FIELDS 32

typedef struct {
	const char *option;              /* "--where", for messages */
	const char *advice;              /* "--list-fields lists fields and operators" */
	const WpExpressionField *fields; /* NULL-name-ended */
} WpLanguage;

typedef struct WpExpression WpExpression;

/* (transfer full) LANGUAGE is borrowed. NULL with WP_REPORT_ERROR_USAGE, which points at the place. */
WpExpression *wp_expression_new(const WpLanguage *language, const char *text, GError **error);
void wp_expression_free(WpExpression *expression);

/* SUBJECT is what the language's fields lie in. */
gboolean wp_expression_matches(const WpExpression *expression, gconstpointer subject);

/* The name of a field used that has any of TRAITS, or NULL. */
const char *wp_expression_field(const WpExpression *expression, guint32 traits);

/* A line for each field, and the operators. */
void wp_language_list(const WpLanguage *language, WpOut *out);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpExpression, wp_expression_free)

#endif
