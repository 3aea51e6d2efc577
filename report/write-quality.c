/*
 * The parts "How the calls add up" and "Capture quality" of text pages: what was counted, worst first, and
 * what the input says of itself.
 */
#include <string.h>

#include "report/escape.h"
#include "report/format.h"
#include "report/table.h"
#include "report/words.h"
#include "report/write-text.h"

/* Columns that the marks, the count and the end of the list take. */
#define BESIDE_WORDS 26

/* "holes in TCP flows  [10.0.0.1 > 10.0.0.2 12, ...]", with as many pairs as find room. */
static char *
describe_pairs(const WpPage *page, const WpViewCounter *counter)
{
	GString *words = g_string_new(counter->text);
	guint i;
	for (i = 0; i < MIN(counter->n_pairs, WP_VIEW_MAX_PAIRS); i++) {
		const WpViewPair *pair = &counter->pairs[i];
		char count[WP_FORMAT_MAX];
		g_autofree char *from = wp_escape_terminal(pair->sender, page->style.utf8);
		g_autofree char *to = wp_escape_terminal(pair->receiver, page->style.utf8);
		g_autofree char *text = g_strdup_printf("%s%s > %s %s", i ? ", " : "  [", from, to,
							wp_format_count(count, pair->count));
		gsize width = wp_escape_width(words->str) + wp_escape_width(text);
		if (i && width + BESIDE_WORDS > page->style.width)
			break;
		g_string_append(words, text);
	}
	if (counter->n_pairs)
		g_string_append(words, i < counter->n_pairs ? ", ..]" : "]");
	return g_string_free(words, FALSE);
}

static void
write_losses(const WpViewQuality *quality, const WpPage *page, WpOut *out)
{
	static const char *const words[] = { "fact", "note", "LOSS" };
	g_autoptr(WpTable) table = wp_table_new();
	char count[WP_FORMAT_MAX];
	guint n = 0;
	wp_table_column(table, NULL, FALSE, 0);
	wp_table_column(table, NULL, TRUE, 8);
	wp_table_column(table, NULL, FALSE, 0);
	for (guint32 i = 0; i < quality->n_counters; i++) {
		const WpViewCounter *counter = &quality->counters[i];
		if (counter->level == WP_VIEW_FACT)
			continue;
		g_autofree char *what = describe_pairs(page, counter);
		wp_table_row(table, counter->level == WP_VIEW_LOSS ? WP_TABLE_HOT : WP_TABLE_PLAIN);
		wp_table_cell(table, words[counter->level]);
		wp_table_cell(table, wp_format_count(count, counter->count));
		wp_table_cell(table, what);
		n++;
	}
	if (n)
		wp_table_write(table, &page->style, 2, out);
}

static void
write_facts(const WpViewQuality *quality, const WpPage *page, WpOut *out)
{
	g_autoptr(GString) facts = g_string_new(NULL);
	char count[WP_FORMAT_MAX];
	for (guint32 i = 0; i < quality->n_counters; i++) {
		const WpViewCounter *counter = &quality->counters[i];
		if (counter->level == WP_VIEW_FACT)
			g_string_append_printf(facts, "%s%s %s", facts->len ? "; " : "",
					       wp_format_count(count, counter->count),
					       counter->text);
	}
	if (facts->len)
		wp_text_paragraph(page, facts->str, 2, out);
}

/* What the trace says about itself, but for what the headline has said. */
static void
write_settings(const WpViewSetting *settings, guint n, const WpPage *page, WpOut *out)
{
	g_autoptr(GString) words = g_string_new(NULL);
	for (guint i = 0; i < n; i++) {
		if (strcmp(settings[i].key, "first-packet") == 0 ||
		    strcmp(settings[i].key, "last-packet") == 0 ||
		    strcmp(settings[i].key, "loss-share") == 0)
			continue;
		char date[WP_FORMAT_MAX];
		gint64 ns;
		gboolean is_date = (strcmp(settings[i].key, "from") == 0 ||
				    strcmp(settings[i].key, "to") == 0) &&
				   wp_parse_date(settings[i].value, &ns);
		g_autofree char *key = wp_escape_terminal(settings[i].key, page->style.utf8);
		g_autofree char *value = wp_escape_terminal(
			is_date ? wp_format_date(date, ns) : settings[i].value, page->style.utf8);
		g_string_append_printf(words, "%s%s: %s", words->len ? "; " : "", key, value);
	}
	if (words->len)
		wp_text_paragraph(page, words->str, 2, out);
}

void
wp_text_quality(const WpViewQuality *quality, const WpViewSetting *settings, guint n_settings,
		const WpPage *page, WpOut *out)
{
	char share[WP_FORMAT_MAX];
	gboolean has_loss = quality->n_counters && quality->counters[0].level == WP_VIEW_LOSS;
	wp_text_heading(page, "Capture quality", out);
	if (!has_loss)
		wp_out_text(out, "  Nothing is known to be missing.\n");
	if (quality->loss_share > 0)
		wp_out_printf(out, "  About %s of the packets are missing from the capture.\n",
			      wp_format_share(share, quality->loss_share));
	write_losses(quality, page, out);
	write_facts(quality, page, out);
	write_settings(settings, n_settings, page, out);
}

static void
add_lot(WpTable *table, const WpViewCount *count, const char *text)
{
	char number[WP_FORMAT_MAX];
	wp_table_row(table, WP_TABLE_PLAIN);
	wp_table_cell(table, wp_format_count(number, count->calls));
	wp_table_cell(table, wp_format_count(number, count->messages));
	wp_table_cell(table, text);
}

/* Where the calls of the first lines are, as some stand in no table. */
void
wp_text_lots(const WpView *view, const WpPage *page, WpOut *out)
{
	const WpViewCount all = { view->n_calls, view->n_messages };
	g_autoptr(WpTable) table = wp_table_new();
	if (!view->n_calls && !view->n_messages && !view->setup.calls && !view->setup.messages)
		return;
	wp_text_heading(page, "How the calls add up", out);
	wp_table_column(table, "calls", TRUE, 6);
	wp_table_column(table, "one-way", TRUE, 0);
	wp_table_column(table, "where", FALSE, 0);
	for (int i = 0; i < WP_VIEW_N_LOTS; i++)
		if (i == WP_VIEW_IN_REQUESTS || view->lots[i].calls || view->lots[i].messages)
			add_lot(table, &view->lots[i], wp_view_lot_texts[i]);
	add_lot(table, &all, "in all: the second line of this page");
	if (view->setup.calls || view->setup.messages)
		add_lot(table, &view->setup, "beside these: set-up of connections, left out");
	wp_table_write(table, &page->style, 2, out);
}

void
wp_text_warning(const WpView *view, const WpPage *page, WpOut *out)
{
	g_autofree char *words = wp_words_loss(view);
	if (words)
		wp_text_paragraph(page, words, 0, out);
}
