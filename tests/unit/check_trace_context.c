/* Which texts name a trace and its parent, and that nothing of them is lost on the way. */
#include <string.h>

#include "capture/record.h"
#include "capture/trace-context.h"
#include "tests/support/suite.h"

#define TRACE  "4bf92f3577b34da6a3ce929d0e0e4736"
#define PARENT "00f067aa0ba902b7"

START_TEST(parse)
{
	static const struct {
		const char *text;
		gboolean is_one;
	} rows[] = {
		{ "00-" TRACE "-" PARENT "-01", TRUE },
		{ "00-" TRACE "-" PARENT "-00", TRUE },
		{ "00-" TRACE "-" PARENT "-01-more", FALSE },
		{ "cc-" TRACE "-" PARENT "-01", TRUE },
		{ "cc-" TRACE "-" PARENT "-01-more", TRUE },
		{ "cc-" TRACE "-" PARENT "-01.more", FALSE },
		{ "ff-" TRACE "-" PARENT "-01", FALSE },
		{ "0g-" TRACE "-" PARENT "-01", FALSE },
		{ "00-" TRACE "-" PARENT "-0", FALSE },
		{ "00-" TRACE "-" PARENT "-0x", FALSE },
		{ "00-" TRACE "-" PARENT, FALSE },
		{ "00-" TRACE "_" PARENT "-01", FALSE },
		{ "00_" TRACE "-" PARENT "-01", FALSE },
		{ "00-" TRACE "-" PARENT "_01", FALSE },
		{ "00-00000000000000000000000000000000-" PARENT "-01", FALSE },
		{ "00-" TRACE "-0000000000000000-01", FALSE },
		{ "00-4bf92f3577b34da6a3ce929d0e0e473x-" PARENT "-01", FALSE },
		{ "", FALSE },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		WpTraceContext context = { 0 };
		char text[WP_TRACE_CONTEXT_TEXT_MAX];
		gboolean is_one =
			wp_trace_context_parse(rows[i].text, strlen(rows[i].text), &context);
		ck_assert_msg(is_one == rows[i].is_one, "%s", rows[i].text);
		ck_assert_msg(is_one == (context.parent != 0), "%s", rows[i].text);
		if (is_one)
			ck_assert_str_eq(wp_trace_context_text(&context, text, sizeof text),
					 TRACE "-" PARENT);
	}
}
END_TEST

START_TEST(there_and_back)
{
	static const WpTraceContext rows[] = {
		{ G_MAXUINT64, G_MAXUINT64, G_MAXUINT64 },
		{ 0, 1, 1 },
		{ G_GUINT64_CONSTANT(1) << 63, 0, G_GUINT64_CONSTANT(0x0123456789abcdef) },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		WpTraceContext packed, read;
		guint32 words[WP_TRACE_CONTEXT_WORDS];
		char text[WP_TRACE_CONTEXT_TEXT_MAX];
		wp_trace_context_pack(&rows[i], words);
		wp_trace_context_unpack(words, &packed);
		ck_assert_mem_eq(&packed, &rows[i], sizeof packed);
		wp_trace_context_text(&rows[i], text, sizeof text);
		ck_assert(wp_trace_context_from_text(text, strlen(text), &read));
		ck_assert_mem_eq(&read, &rows[i], sizeof read);
		ck_assert(!wp_trace_context_from_text(text, strlen(text) - 1, &read));
	}
}
END_TEST

WP_SUITE("trace-context", parse, there_and_back)
