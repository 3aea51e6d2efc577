/* One page: the verdict, what was found by rank with its evidence, then what was looked for and is not there. */
#include "config.h"

#include "report/doctor-page.h"

#include "report/escape.h"
#include "report/format.h"
#include "report/json.h"
#include "report/measure-page.h"
#include "report/table.h"
#include "report/words.h"
#include "report/write-text.h"

/* Chains of a kind of what is acquired, in JSON: the heaviest. */
#define MAX_CHAINS 5

#define RANKS "(%): of all requests or of their time, the share that a finding is about."

/* (transfer full) "2 findings; 5 checks are clean, 1 cannot tell: 1,200 requests, 60.0 s" */
static char *
summary(const WpDoctor *doctor)
{
	const WpView *view = doctor->of.view;
	char time[WP_FORMAT_MAX];
	g_autofree char *found = wp_words_count(doctor->n_of[WP_FINDING_FOUND], "finding");
	g_autofree char *clean = wp_words_count(doctor->n_of[WP_FINDING_CLEAN], "check");
	g_autofree char *requests = wp_words_count(view->n_requests, "request");
	gint64 length_ns = view->n_records ? view->end_ns - view->begin_ns : 0;
	return g_strdup_printf("%s; clean: %s; cannot tell: %u. %s in %s.", found, clean,
			       doctor->n_of[WP_FINDING_UNDECIDED], requests,
			       wp_format_time(time, (double)length_ns));
}

/* (transfer full) What findings rest on, where that is not sound: UTF-8 text without names; NULL = it is. */
static char *
ground(const WpDoctor *doctor)
{
	const WpView *view = doctor->of.view;
	if (view->links.trust == WP_VIEW_TRUST_LOW || view->links.trust == WP_VIEW_TRUST_STOPPED)
		return wp_words_trust(view);
	return wp_words_loss(view);
}

/* (transfer full) "packet 123, +12.3 s, 14.2 ms" */
static char *
example_text(const WpDoctor *doctor, const WpCourseExample *example)
{
	const WpCourse *course = doctor->of.course;
	char id[WP_ID_TEXT_MAX], begin[WP_FORMAT_MAX], latency[WP_FORMAT_MAX];
	GString *text = g_string_new(NULL);
	if (example->packet)
		g_string_append_printf(text, "packet %" G_GUINT64_FORMAT ", ", example->packet);
	else if (course->names && example->id)
		g_string_append_printf(text, "id %s, ",
				       wp_record_id_text(course->names, example->id, id));
	g_string_append_printf(
		text, "+%s, %s",
		wp_format_time(begin, (double)(example->begin_ns - course->begin_ns)),
		wp_format_time(latency, (double)example->latency_ns));
	if (doctor->of.view->n_inputs > 1 && example->tap < doctor->of.view->n_inputs)
		g_string_append_printf(text, " in %s", doctor->of.view->inputs[example->tap]);
	return g_string_free(text, FALSE);
}

/* (transfer full) All examples of FINDING, or NULL. */
static char *
examples_text(const WpDoctor *doctor, const WpDoctorFinding *finding)
{
	GString *text = g_string_new(NULL);
	for (guint i = 0; i < finding->examples->len; i++) {
		g_autofree char *one =
			example_text(doctor, &g_array_index(finding->examples, WpCourseExample, i));
		g_string_append_printf(text, "%s%s", i ? "; " : "Look at: ", one);
	}
	if (!text->len)
		return g_string_free(text, TRUE), NULL;
	g_string_append_c(text, '.');
	return g_string_free(text, FALSE);
}

/* --- text --- */

static guint
n_measures(const WpDoctor *doctor)
{
	return doctor->of.measures ? doctor->of.measures->len : 0;
}

static void
write_line(const WpDoctorPage *page, const char *line, gsize indent, WpOut *out)
{
	const WpPage text = { .style = page->style };
	g_autofree char *safe = wp_escape_terminal(line, page->style.utf8);
	wp_text_paragraph(&text, safe, indent, out);
}

static void
write_text_finding(const WpDoctor *doctor, const WpDoctorPage *page, const WpDoctorFinding *finding,
		   guint rank, WpOut *out)
{
	char share[WP_FORMAT_MAX];
	g_autofree char *examples = examples_text(doctor, finding);
	wp_out_text(out, wp_style_bold(&page->style));
	wp_out_printf(out, "\n%u. %s", rank, finding->title);
	wp_out_text(out, wp_style_off(&page->style));
	if (finding->weight > 0)
		wp_out_printf(out, " (%s)", wp_format_share(share, finding->weight));
	wp_out_char(out, '\n');
	write_line(page, finding->text, 3, out);
	if (examples)
		write_line(page, examples, 3, out);
}

static void
write_text(const WpDoctor *doctor, const WpDoctorPage *page, WpOut *out)
{
	g_autofree char *line = summary(doctor);
	g_autofree char *doubt = ground(doctor);
	gboolean is_bad = doctor->verdict == WP_FINDING_FOUND;
	wp_out_text(out, is_bad ? wp_style_red(&page->style) : wp_style_bold(&page->style));
	g_autofree char *first =
		g_strdup_printf("%s: %s", wp_finding_verdicts[doctor->verdict], line);
	write_line(page, first, 0, out);
	wp_out_text(out, wp_style_off(&page->style));
	if (doubt)
		write_line(page, doubt, 2, out);
	if (is_bad)
		write_line(page, RANKS, 2, out);
	for (guint i = 0; i < doctor->findings->len; i++) {
		const WpDoctorFinding *finding = doctor->findings->pdata[i];
		if (finding->verdict == WP_FINDING_FOUND) {
			write_text_finding(doctor, page, finding, i + 1, out);
			continue;
		}
		if (i == doctor->n_of[WP_FINDING_FOUND])
			wp_out_char(out, '\n');
		g_autofree char *rest =
			g_strdup_printf("%s: %s. %s", wp_finding_verdicts[finding->verdict],
					finding->title, finding->text);
		write_line(page, rest, 0, out);
	}
	for (guint i = 0; i < n_measures(doctor); i++)
		wp_measure_write_text(doctor->of.measures->pdata[i], &page->style, out);
}

/* --- Markdown --- */

static void
write_markdown(const WpDoctor *doctor, const WpDoctorPage *page, WpOut *out)
{
	g_autofree char *line = summary(doctor);
	g_autofree char *doubt = ground(doctor);
	char share[WP_FORMAT_MAX];
	(void)page;
	wp_out_printf(out, "### wirepath doctor: %s\n\n%s%s%s\n\n",
		      wp_finding_verdicts[doctor->verdict], line, doubt ? " " : "",
		      doubt ? doubt : "");
	if (doctor->verdict == WP_FINDING_FOUND)
		wp_out_text(out, RANKS "\n\n");
	for (guint i = 0; i < doctor->findings->len; i++) {
		const WpDoctorFinding *finding = doctor->findings->pdata[i];
		g_autofree char *text = wp_escape_markdown(finding->text);
		g_autofree char *examples = examples_text(doctor, finding);
		g_autofree char *safe = examples ? wp_escape_markdown(examples) : NULL;
		if (i && i == doctor->n_of[WP_FINDING_FOUND])
			wp_out_char(out, '\n');
		if (finding->verdict == WP_FINDING_FOUND)
			wp_out_printf(out, "%u. **%s** (%s): %s%s%s\n", i + 1, finding->title,
				      wp_format_share(share, finding->weight), text,
				      safe ? " " : "", safe ? safe : "");
		else
			wp_out_printf(out, "- %s: %s. %s\n", wp_finding_verdicts[finding->verdict],
				      finding->title, text);
	}
	for (guint i = 0; i < n_measures(doctor); i++)
		wp_measure_write_markdown(doctor->of.measures->pdata[i], out);
}

/* --- JSON --- */

static void
write_example(WpJson *json, const WpDoctor *doctor, const WpCourseExample *example)
{
	char id[WP_ID_TEXT_MAX];
	wp_json_open(json, NULL, '{');
	wp_json_text(json, "id",
		     example->id && doctor->of.course->names
			     ? wp_record_id_text(doctor->of.course->names, example->id, id)
			     : NULL);
	if (example->packet)
		wp_json_uint(json, "packet", example->packet);
	else
		wp_json_text(json, "packet", NULL);
	wp_json_uint(json, "input", example->tap);
	wp_json_epoch(json, "begin_ns", example->begin_ns);
	wp_json_number(json, "latency_ns", (double)example->latency_ns, 0);
	wp_json_close(json, '}');
}

static void
write_finding(WpJson *json, const WpDoctor *doctor, const WpDoctorFinding *finding)
{
	wp_json_open(json, NULL, '{');
	wp_json_text(json, "verdict", wp_finding_verdicts[finding->verdict]);
	wp_json_text(json, "check", finding->check->name);
	wp_json_text(json, "text", finding->text);
	wp_json_text(json, "node", finding->node);
	wp_json_text(json, "operation", finding->label);
	wp_json_number(json, "weight", finding->weight, 6);
	wp_json_open(json, "numbers", '[');
	for (guint i = 0; i < finding->numbers->len; i++) {
		const WpDoctorNumber *number = &g_array_index(finding->numbers, WpDoctorNumber, i);
		wp_json_open(json, NULL, '{');
		wp_json_text(json, "name", number->name);
		wp_json_number(json, "value", number->value, 9);
		wp_json_close(json, '}');
	}
	wp_json_close(json, ']');
	wp_json_open(json, "examples", '[');
	for (guint i = 0; i < finding->examples->len; i++)
		write_example(json, doctor, &g_array_index(finding->examples, WpCourseExample, i));
	wp_json_close(json, ']');
	wp_json_close(json, '}');
}

static void
write_chain(WpJson *json, const WpPairsChain *chain)
{
	wp_json_open(json, NULL, '{');
	wp_json_text(json, "chain", chain->text);
	wp_json_uint(json, "acquired", chain->n_acquired);
	wp_json_uint(json, "lost", chain->n_lost);
	wp_json_close(json, '}');
}

static void
write_pair(WpJson *json, const WpPairsKind *kind)
{
	const WpDelay *held = kind->held;
	wp_json_open(json, NULL, '{');
	wp_json_text(json, "node", kind->node);
	wp_json_text(json, "thing", kind->thing->name);
	wp_json_text(json, "operation", kind->label);
	wp_json_uint(json, "acquired", kind->n_acquired);
	wp_json_uint(json, "given_back", kind->n_released);
	wp_json_uint(json, "ended_with_connection", kind->n_ended);
	wp_json_uint(json, "acquired_unseen", kind->n_unknown);
	wp_json_uint(json, "failed", kind->n_failed);
	wp_json_uint(json, "held_at_end", kind->n_held);
	wp_json_uint(json, "lost", kind->n_lost);
	wp_json_uint(json, "not_followed", kind->n_left);
	wp_json_number(json, "p50_ns", (double)wp_delay_quantile_ns(held, 0.5), 0);
	wp_json_number(json, "p95_ns", (double)wp_delay_quantile_ns(held, 0.95), 0);
	wp_json_number(json, "max_ns", (double)wp_delay_max_ns(held), 0);
	wp_json_number(json, "held_ns", wp_delay_sum_ns(held), 0);
	wp_json_number(json, "idle_ns", kind->idle_ns, 0);
	wp_json_number(json, "cost_ns", kind->cost_ns, 0);
	wp_json_uint(json, "uses", kind->n_uses);
	wp_json_open(json, "chains", '[');
	for (guint i = 0; i < MIN(kind->chains->len, MAX_CHAINS); i++)
		write_chain(json, &g_array_index(kind->chains, WpPairsChain, i));
	wp_json_close(json, ']');
	wp_json_close(json, '}');
}

static void
write_pairs(WpJson *json, const WpDoctor *doctor)
{
	const WpPairs *pairs = doctor->of.pairs;
	wp_json_open(json, "pairs", '[');
	for (guint i = 0; i < pairs->kinds->len; i++)
		write_pair(json, wp_pairs_kind(pairs, i));
	wp_json_close(json, ']');
	wp_json_uint(json, "pairs_left_out", pairs->n_left);
}

static void
write_rules(WpJson *json, const WpDoctor *doctor)
{
	wp_json_open(json, "rules", '[');
	for (const WpDoctorRule *rule = wp_doctor_rules; rule->group; rule++) {
		wp_json_open(json, NULL, '{');
		wp_json_text(json, "group", rule->group);
		wp_json_text(json, "key", rule->key);
		wp_json_number(json, "value", wp_doctor_rule_value(doctor->of.rules, rule), 9);
		wp_json_close(json, '}');
	}
	wp_json_close(json, ']');
}

static void
write_json(const WpDoctor *doctor, const WpDoctorPage *page, WpOut *out)
{
	WpJson json = { .out = out };
	const WpCourse *course = doctor->of.course;
	const WpView *view = doctor->of.view;
	g_autofree char *line = summary(doctor);
	g_autofree char *doubt = ground(doctor);
	(void)page;
	wp_json_open(&json, NULL, '{');
	wp_json_text(&json, "schema", "wirepath.doctor/1");
	wp_json_text(&json, "program", PACKAGE_STRING);
	wp_json_text(&json, "verdict", wp_finding_verdicts[doctor->verdict]);
	wp_json_text(&json, "summary", line);
	wp_json_text(&json, "doubt", doubt);
	wp_json_text(&json, "partial", view->partial);
	wp_json_open(&json, "inputs", '[');
	for (guint i = 0; i < view->n_inputs; i++)
		wp_json_text(&json, NULL, view->inputs[i]);
	wp_json_close(&json, ']');
	wp_json_uint(&json, "requests", view->n_requests);
	wp_json_epoch(&json, "begin_ns", course->begin_ns);
	wp_json_number(&json, "bin_ns", (double)course->bin_ns, 0);
	wp_json_uint(&json, "bins", course->n_bins);
	wp_json_uint(&json, "calls_left_out", course->n_left);
	wp_json_open(&json, "findings", '[');
	for (guint i = 0; i < doctor->findings->len; i++)
		write_finding(&json, doctor, doctor->findings->pdata[i]);
	wp_json_close(&json, ']');
	write_pairs(&json, doctor);
	wp_json_open(&json, "measures", '[');
	for (guint i = 0; i < n_measures(doctor); i++)
		wp_measure_write_json(doctor->of.measures->pdata[i], &json);
	wp_json_close(&json, ']');
	write_rules(&json, doctor);
	wp_json_close(&json, '}');
}

static const char *const text_suffixes[] = { "txt", NULL };
static const char *const markdown_suffixes[] = { "md", NULL };
static const char *const json_suffixes[] = { "json", NULL };

const WpForm wp_doctor_forms[] = {
	{ "text", text_suffixes },
	{ "markdown", markdown_suffixes },
	{ "json", json_suffixes },
	{ NULL, NULL },
};

const WpDoctorPageFunc wp_doctor_writers[] = { write_text, write_markdown, write_json };
