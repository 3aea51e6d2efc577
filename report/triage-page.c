/* The verdict, the runs to inspect with why, then what verdicts say of all. CSV and JSON hold every run. */
#include "config.h"

#include "report/triage-page.h"

#include <math.h>

#include "report/escape.h"
#include "report/format.h"
#include "report/json.h"
#include "report/table.h"
#include "report/words.h"
#include "report/write-text.h"

/* A run that does not stand out is explained if it is the first, or its score so many times what is usual. */
#define WORTH 2

/* Runs whose command failed that are named at the top. */
#define MAX_FAILED 5

static const char *const verdicts[] = { "", "good", "bad" };
static const char *const linkages[] = { "single", "complete", "average" };

/* (transfer full) "3 of 200 runs stand out" */
static char *
summary(const WpTriage *triage)
{
	g_autofree char *runs = wp_words_count(triage->runs->len, "run");
	if (triage->usual_away <= 0)
		return g_strdup_printf("CLEAN: %s, and nothing that tells them apart.", runs);
	if (!triage->n_standing_out)
		return g_strdup_printf("CLEAN: of %s none stands out.", runs);
	return g_strdup_printf("FOUND: %u of %s stand%s out.", triage->n_standing_out, runs,
			       triage->n_standing_out == 1 ? "s" : "");
}

/* (transfer full) What the verdicts say of all runs; NULL without any. */
static char *
verdict_text(const WpTriage *triage)
{
	guint n = triage->n_good + triage->n_bad, all = triage->runs->len;
	char share[WP_FORMAT_MAX], found[WP_FORMAT_MAX];
	if (!n)
		return NULL;
	if (triage->expected_bad < 0)
		return g_strdup_printf("Of %u inspected %u %s bad. How many of all are cannot be "
				       "said before a run is "
				       "inspected that %s.",
				       n, triage->n_bad, triage->n_bad == 1 ? "is" : "are",
				       triage->n_odd_open ? "stands out" : "does not stand out");
	double found_share = triage->expected_bad > 0 ? triage->n_bad / triage->expected_bad : 1;
	return g_strdup_printf("Of %u inspected %u %s bad. By these about %.1f of all runs are "
			       "(%s), of which %s are found; "
			       "with 95%% certainty no more than %.0f are. Those that stand out "
			       "and the rest are counted "
			       "apart.",
			       n, triage->n_bad, triage->n_bad == 1 ? "is" : "are",
			       triage->expected_bad,
			       wp_format_share(share, triage->expected_bad / all),
			       wp_format_share(found, found_share), floor(triage->most_bad));
}

/* Medians are most often whole. */
static const char *
format_usual(char *buffer, double value)
{
	if (value == floor(value) && value < 1e15)
		return wp_format_count(buffer, (guint64)value);
	return wp_format_number(buffer, value);
}

/* (transfer full) "12 calls, usually 0: web GET /page > app RUN: an error" */
static char *
reason_text(const WpTriageReason *reason)
{
	char count[WP_FORMAT_MAX], usual[WP_FORMAT_MAX];
	return g_strdup_printf("%s %s, usually %s: %s%s%s", wp_format_count(count, reason->calls),
			       reason->calls == 1 ? "call" : "calls",
			       format_usual(usual, reason->usual), reason->chain,
			       *reason->how ? ": " : "", reason->how);
}

/* --- text --- */

static void
write_line(const WpTriagePage *page, const char *line, gsize indent, WpOut *out)
{
	const WpPage text = { .style = page->style };
	g_autofree char *safe = wp_escape_terminal(line, page->style.utf8);
	wp_text_paragraph(&text, safe, indent, out);
}

/* One reason is enough of a run whose first was told of a run before. */
static guint
reasons_shown(const WpTriage *triage, guint at)
{
	const WpTriageRun *run = triage->runs->pdata[at];
	const WpTriageReason *first = run->reasons->len ? run->reasons->pdata[0] : NULL;
	for (guint i = 0; first && i < at; i++) {
		const WpTriageRun *before = triage->runs->pdata[i];
		const WpTriageReason *told =
			before->reasons->len ? before->reasons->pdata[0] : NULL;
		if (told && g_str_equal(told->chain, first->chain) &&
		    g_str_equal(told->how, first->how))
			return 1;
	}
	return run->reasons->len;
}

static void
write_reasons(const WpTriage *triage, const WpTriagePage *page, guint n, WpOut *out)
{
	for (guint i = 0; i < n; i++) {
		const WpTriageRun *run = triage->runs->pdata[i];
		g_autofree char *name = g_strdup_printf("%u. %s", i + 1, run->name);
		if (!run->stands_out && run->score <= WORTH * triage->usual_away && i)
			continue;
		wp_out_char(out, '\n');
		wp_out_text(out, wp_style_bold(&page->style));
		write_line(page, name, 0, out);
		wp_out_text(out, wp_style_off(&page->style));
		for (guint k = 0; k < reasons_shown(triage, i); k++) {
			g_autofree char *line = reason_text(run->reasons->pdata[k]);
			write_line(page, line, 3, out);
		}
	}
}

/* How many runs are on the list: those without a verdict, as many as asked for. */
static guint
list_length(const WpTriage *triage)
{
	guint open = triage->runs->len - triage->n_good - triage->n_bad;
	return MIN(open, triage->options.inspect);
}

/* Nothing where it is not known. */
static const char *
format_status(char *buffer, int exit_status)
{
	if (exit_status < 0)
		return "";
	return wp_format_count(buffer, (guint64)exit_status);
}

static void
write_table(const WpTriage *triage, const WpTriagePage *page, guint n, WpOut *out)
{
	g_autoptr(WpTable) table = wp_table_new();
	gboolean has_status = FALSE;
	char text[WP_FORMAT_MAX];
	for (guint i = 0; i < triage->runs->len; i++)
		has_status = has_status ||
			     ((const WpTriageRun *)triage->runs->pdata[i])->exit_status >= 0;
	wp_table_column(table, "rank", TRUE, 0);
	wp_table_column(table, "away", TRUE, 0);
	wp_table_column(table, "usual", TRUE, 0);
	wp_table_column(table, "requests", TRUE, 0);
	wp_table_column(table, "cluster", TRUE, 0);
	wp_table_column(table, "alike", TRUE, 0);
	if (has_status)
		wp_table_column(table, "exit", TRUE, 0);
	wp_table_column(table, "run", FALSE, 0);
	for (guint i = 0; i < n; i++) {
		const WpTriageRun *run = triage->runs->pdata[i];
		g_autofree char *name = wp_escape_terminal(run->name, page->style.utf8);
		g_autofree char *rank = g_strdup_printf("%u", i + 1);
		g_autofree char *times = g_strdup_printf("x%.2f", run->times_usual);
		g_autofree char *cluster = g_strdup_printf("%u", run->cluster + 1);
		g_autofree char *alike = g_strdup_printf("%u", run->cluster_size - 1);
		wp_table_row(table, run->stands_out ? WP_TABLE_HOT : WP_TABLE_PLAIN);
		wp_table_cell(table, rank);
		wp_table_cell(table, wp_format_number(text, run->away));
		wp_table_cell(table, times);
		wp_table_cell(table, wp_format_count(text, run->n_requests));
		wp_table_cell(table, cluster);
		wp_table_cell(table, alike);
		if (has_status)
			wp_table_cell(table, format_status(text, run->exit_status));
		wp_table_cell(table, name);
	}
	wp_table_write(table, &page->style, 2, out);
}

/* (transfer full) "Of 40 runs 2 ended with another exit status than 0: runs/7 (1), ..."; NULL: none did. */
static char *
status_text(const WpTriage *triage)
{
	GString *text = g_string_new(NULL);
	guint n = 0;
	for (guint i = 0; i < triage->runs->len; i++) {
		const WpTriageRun *run = triage->runs->pdata[i];
		if (run->exit_status <= 0 || n++ >= MAX_FAILED)
			continue;
		g_string_append_printf(text, "%s%s (%d)", n > 1 ? ", " : "", run->name,
				       run->exit_status);
	}
	g_autofree char *names = g_string_free(text, FALSE);
	if (!n)
		return NULL;
	g_autofree char *runs = wp_words_count(triage->runs->len, "run");
	return g_strdup_printf("Of %s %u ended with another exit status than 0: %s%s", runs, n,
			       names, n > MAX_FAILED ? ", ..." : ".");
}

static void
write_text(const WpTriage *triage, const WpTriagePage *page, WpOut *out)
{
	const WpPage text = { .style = page->style };
	g_autofree char *first = summary(triage), *verdict = verdict_text(triage);
	g_autofree char *status = status_text(triage);
	guint n = list_length(triage);
	wp_out_text(out, triage->n_standing_out ? wp_style_red(&page->style)
						: wp_style_bold(&page->style));
	write_line(page, first, 0, out);
	wp_out_text(out, wp_style_off(&page->style));
	if (status)
		write_line(page, status, 2, out);
	if (verdict)
		write_line(page, verdict, 2, out);
	if (triage->n_left) {
		g_autofree char *left = wp_words_count(triage->n_left, "call");
		g_autofree char *line =
			g_strdup_printf("Left out, as there are too many chains: %s.", left);
		write_line(page, line, 2, out);
	}
	if (triage->usual_away <= 0 || !n)
		return;
	wp_text_heading(&text,
			triage->n_standing_out ? "Inspect in this order"
					       : "Furthest away, though not by much",
			out);
	write_line(page,
		   "away = mean distance to the other runs, in 1,000 requests; usual = times "
		   "their median; "
		   "> stands out; alike = other runs of its cluster.",
		   2, out);
	write_table(triage, page, n, out);
	wp_text_heading(&text, "Why", out);
	write_reasons(triage, page, n, out);
}

/* --- CSV --- */

static void
write_csv_text(WpOut *out, const char *text)
{
	g_autoptr(GString) cell = g_string_new(NULL);
	wp_escape_csv_to(cell, text);
	wp_out_text(out, cell->str);
}

static void
write_csv(const WpTriage *triage, const WpTriagePage *page, WpOut *out)
{
	(void)page;
	wp_out_text(out, "rank,run,away,times_usual,score,stands_out,cluster,cluster_size,requests,"
			 "verdict,why,exit_status\n");
	for (guint i = 0; i < triage->runs->len; i++) {
		const WpTriageRun *run = triage->runs->pdata[i];
		g_autoptr(GString) why = g_string_new(NULL);
		for (guint k = 0; k < run->reasons->len; k++) {
			g_autofree char *reason = reason_text(run->reasons->pdata[k]);
			g_string_append_printf(why, "%s%s", k ? "; " : "", reason);
		}
		wp_out_printf(out, "%u,", i + 1);
		write_csv_text(out, run->name);
		wp_out_printf(out, ",%.6f,%.6f,%.6f,%s,%u,%u,%" G_GUINT64_FORMAT ",%s,", run->away,
			      run->times_usual, run->score, run->stands_out ? "yes" : "no",
			      run->cluster + 1, run->cluster_size, run->n_requests,
			      verdicts[run->verdict]);
		write_csv_text(out, why->str);
		wp_out_printf(out, run->exit_status < 0 ? ",\n" : ",%d\n", run->exit_status);
	}
}

/* --- JSON --- */

static void
write_json_run(WpJson *json, const WpTriageRun *run)
{
	wp_json_open(json, NULL, '{');
	wp_json_text(json, "run", run->name);
	wp_json_number(json, "away", run->away, 6);
	wp_json_number(json, "times_usual", run->times_usual, 6);
	wp_json_number(json, "score", run->score, 6);
	wp_json_bool(json, "stands_out", run->stands_out);
	wp_json_uint(json, "cluster", run->cluster + 1);
	wp_json_uint(json, "cluster_size", run->cluster_size);
	wp_json_uint(json, "requests", run->n_requests);
	wp_json_text(json, "verdict", run->verdict ? verdicts[run->verdict] : NULL);
	if (run->exit_status >= 0)
		wp_json_uint(json, "exit_status", (guint64)run->exit_status);
	wp_json_open(json, "why", '[');
	for (guint i = 0; i < run->reasons->len; i++) {
		const WpTriageReason *reason = run->reasons->pdata[i];
		wp_json_open(json, NULL, '{');
		wp_json_text(json, "chain", reason->chain);
		wp_json_text(json, "how", reason->how);
		wp_json_uint(json, "calls", reason->calls);
		wp_json_number(json, "usual_calls", reason->usual, 6);
		wp_json_number(json, "share", reason->share, 6);
		wp_json_close(json, '}');
	}
	wp_json_close(json, ']');
	wp_json_close(json, '}');
}

static void
write_json(const WpTriage *triage, const WpTriagePage *page, WpOut *out)
{
	WpJson json = { .out = out };
	g_autofree char *first = summary(triage), *verdict = verdict_text(triage);
	(void)page;
	wp_json_open(&json, NULL, '{');
	wp_json_text(&json, "schema", "wirepath.triage/1");
	wp_json_text(&json, "program", PACKAGE_STRING);
	wp_json_text(&json, "summary", first);
	wp_json_text(&json, "verdicts", verdict);
	wp_json_text(&json, "metric", triage->options.metric->name);
	wp_json_text(&json, "linkage", linkages[triage->options.linkage]);
	wp_json_uint(&json, "clusters", triage->options.clusters);
	wp_json_uint(&json, "inspect", triage->options.inspect);
	wp_json_number(&json, "usual_away", triage->usual_away, 6);
	wp_json_uint(&json, "stand_out", triage->n_standing_out);
	wp_json_uint(&json, "good", triage->n_good);
	wp_json_uint(&json, "bad", triage->n_bad);
	if (triage->expected_bad < 0)
		wp_json_text(&json, "expected_bad", NULL);
	else
		wp_json_number(&json, "expected_bad", triage->expected_bad, 6);
	if (triage->expected_bad < 0)
		wp_json_text(&json, "most_bad", NULL);
	else
		wp_json_number(&json, "most_bad", triage->most_bad, 6);
	wp_json_uint(&json, "calls", triage->n_calls);
	wp_json_uint(&json, "calls_left_out", triage->n_left);
	wp_json_open(&json, "runs", '[');
	for (guint i = 0; i < triage->runs->len; i++)
		write_json_run(&json, triage->runs->pdata[i]);
	wp_json_close(&json, ']');
	wp_json_close(&json, '}');
}

const WpTriagePageFunc wp_triage_writers[] = { write_text, write_csv, write_json };
