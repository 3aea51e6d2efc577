/* Hexadecimal digits to numbers and back; see trace-context.h. */
#include "capture/trace-context.h"

#define TRACE_DIGITS  32
#define PARENT_DIGITS 16
#define IDS_LENGTH    (TRACE_DIGITS + 1 + PARENT_DIGITS)

/* Sixteen digits. */
static gboolean
take_number(const char *text, guint64 *out_number)
{
	guint64 number = 0;

	for (guint i = 0; i < 16; i++) {
		int digit = g_ascii_xdigit_value(text[i]);
		if (digit < 0)
			return FALSE;
		number = number << 4 | (guint)digit;
	}
	*out_number = number;
	return TRUE;
}

gboolean
wp_trace_context_from_text(const char *text, gsize length, WpTraceContext *out_context)
{
	WpTraceContext context;

	if (length != IDS_LENGTH || text[TRACE_DIGITS] != '-' ||
	    !take_number(text, &context.high) || !take_number(text + 16, &context.low) ||
	    !take_number(text + TRACE_DIGITS + 1, &context.parent))
		return FALSE;
	if (!(context.high | context.low) || !context.parent) /* not valid, as is said there */
		return FALSE;
	*out_context = context;
	return TRUE;
}

/* Later versions may have more behind the flags (section 3.2.4); version ff is forbidden. */
gboolean
wp_trace_context_parse(const char *text, gsize length, WpTraceContext *out_context)
{
	gsize whole = 3 + IDS_LENGTH + 3;
	int high, low;

	if (length < whole || text[2] != '-' || text[whole - 3] != '-')
		return FALSE;
	high = g_ascii_xdigit_value(text[0]);
	low = g_ascii_xdigit_value(text[1]);
	if (high < 0 || low < 0 || (high == 15 && low == 15) ||
	    !g_ascii_isxdigit(text[whole - 2]) || !g_ascii_isxdigit(text[whole - 1]))
		return FALSE;
	if (length > whole && ((high | low) == 0 || text[whole] != '-'))
		return FALSE;
	return wp_trace_context_from_text(text + 3, IDS_LENGTH, out_context);
}

const char *
wp_trace_context_text(const WpTraceContext *context, char *buffer, gsize size)
{
	g_snprintf(buffer, size,
		   "%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x-%016" G_GINT64_MODIFIER
		   "x",
		   context->high, context->low, context->parent);
	return buffer;
}

void
wp_trace_context_pack(const WpTraceContext *context, guint32 *words)
{
	const guint64 numbers[] = { context->high, context->low, context->parent };

	for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
		words[2 * i] = (guint32)(numbers[i] >> 32);
		words[2 * i + 1] = (guint32)numbers[i];
	}
}

void
wp_trace_context_unpack(const guint32 *words, WpTraceContext *out_context)
{
	out_context->high = (guint64)words[0] << 32 | words[1];
	out_context->low = (guint64)words[2] << 32 | words[3];
	out_context->parent = (guint64)words[4] << 32 | words[5];
}
