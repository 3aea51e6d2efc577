/* The first capture is compared with each of the others: who is who, and what a change is, are those of every comparison. */
#include "report/null.h"

#include <math.h>
#include <string.h>

#include "report/format.h"
#include "report/student.h"
#include "report/unify.h"

/* Of a number that all captures have: logarithms of its ratios to the first. */
typedef struct {
	double sd;
	double mean;
} Spread;

/* Limits of all operations with one label, as a budget knows them by that. */
typedef struct {
	const char *label;
	guint64 requests; /* of the capture with the fewest */
	double mean_ns;
	double mean_sd;
	double p95_ns; /* limit */
	double p95_sd;
	double slower; /* limits, relative */
	double more_work;
	double errors; /* limit */
	double work_sd;
	const char *work_node; /* of the largest: NULL = no work was measured */
	gboolean is_everywhere;
} Section;

typedef struct {
	const WpCompareOptions *options;
	GPtrArray *comparisons; /* of the first with each other */
	GArray *sections;       /* Section */
	guint n;                /* captures */
	double t;
} Null;

static Spread
spread_of(const double *values, guint n)
{
	Spread spread = { 0, 0 };
	for (guint i = 0; i < n; i++)
		spread.mean += values[i] / n;
	for (guint i = 0; i < n; i++)
		spread.sd += pow(values[i] - spread.mean, 2) / (n - 1);
	spread.sd = sqrt(spread.sd);
	return spread;
}

/* Relative: what two captures differ by. */
static double
limit_of_pair(const Null *null, double sd)
{
	return MAX(expm1(null->t * sd * G_SQRT2), null->options->min_change);
}

/* The operation that OTHER is of the first comparison, in COMPARISON; NULL = it is not there on both sides. */
static const WpComparedOperation *
find_operation(const WpComparison *comparison, const WpComparison *first,
	       const WpComparedOperation *other)
{
	for (guint32 i = 0; i < comparison->n_operations; i++) {
		const WpComparedOperation *own = &comparison->operations[i];
		const WpRole *role = &g_array_index(comparison->roles->roles, WpRole, own->role);
		const WpRole *wanted = &g_array_index(first->roles->roles, WpRole, other->role);
		if (own->requests[0] && own->requests[1] && strcmp(own->label, other->label) == 0 &&
		    g_strcmp0(role->names[0], wanted->names[0]) == 0 &&
		    (own->client == WP_ROLE_CLIENT) == (other->client == WP_ROLE_CLIENT))
			return own;
	}
	return NULL;
}

/* The part that OTHER is, in OPERATION of COMPARISON; NULL = its work was not compared. */
static const WpComparedPart *
find_part(const WpComparison *comparison, const WpComparedOperation *operation, const char *name,
	  const char *label)
{
	for (guint32 i = 0; i < operation->n_parts; i++) {
		const WpComparedPart *part = &operation->parts[i];
		const WpRole *role = &g_array_index(comparison->roles->roles, WpRole, part->role);
		if (part->tests[WP_TEST_WORK].is_tested && strcmp(part->label, label) == 0 &&
		    g_strcmp0(role->names[0], name) == 0)
			return part;
	}
	return NULL;
}

/* Work of one part in all captures. */
static void
add_part(const Null *null, const WpComparedOperation *const *operations, const char *name,
	 const char *label, Section *section)
{
	g_autofree double *changes = g_new0(double, null->n);
	for (guint i = 1; i < null->n; i++) {
		const WpComparedPart *part =
			find_part(null->comparisons->pdata[i - 1], operations[i - 1], name, label);
		if (!part)
			return;
		changes[i] = part->tests[WP_TEST_WORK].shift.change;
	}
	Spread spread = spread_of(changes, null->n);
	if (section->work_node && spread.sd <= section->work_sd)
		return;
	section->work_sd = spread.sd;
	section->work_node = name;
	section->more_work = limit_of_pair(null, spread.sd);
}

static void
add_parts(const Null *null, const WpComparedOperation *const *operations, Section *section)
{
	const WpComparison *first = null->comparisons->pdata[0];
	for (guint32 i = 0; i < operations[0]->n_parts; i++) {
		const WpComparedPart *part = &operations[0]->parts[i];
		const WpRole *role = &g_array_index(first->roles->roles, WpRole, part->role);
		if (part->tests[WP_TEST_WORK].is_tested && role->names[0])
			add_part(null, operations, role->names[0], part->label, section);
	}
}

/* The share of errors that no capture should have: above the highest by chance, of so many requests. */
static double
limit_of_errors(double highest, guint64 requests, double risk)
{
	double n = (double)MAX(requests, 1);
	double none = -log(risk) / n; /* the share of which N requests show none in RISK of cases */
	double quantile = wp_student_quantile(2 * risk, 1e9);
	return MIN(highest + none + quantile * sqrt(highest * (1 - highest) / n), 1);
}

static void
add_latencies(const Null *null, const WpComparedOperation *const *operations, Section *section)
{
	g_autofree double *means = g_new0(double, null->n);
	g_autofree double *p95s = g_new0(double, null->n);
	double errors = operations[0]->errors[0];
	section->requests = operations[0]->requests[0];
	means[0] = log(MAX(operations[0]->mean_ns[0], 1));
	p95s[0] = log(MAX(operations[0]->p95_ns[0], 1));
	for (guint i = 1; i < null->n; i++) {
		const WpComparedOperation *own = operations[i - 1];
		means[i] = log(MAX(own->mean_ns[1], 1));
		p95s[i] = log(MAX(own->p95_ns[1], 1));
		errors = MAX(errors, own->errors[1]);
		section->requests = MIN(section->requests, own->requests[1]);
	}
	Spread mean = spread_of(means, null->n), p95 = spread_of(p95s, null->n);
	section->mean_ns = exp(mean.mean);
	section->mean_sd = mean.sd;
	section->slower = limit_of_pair(null, mean.sd);
	section->p95_sd = p95.sd;
	section->p95_ns = exp(p95.mean + null->t * p95.sd * sqrt(1 + 1.0 / null->n));
	section->errors = limit_of_errors(errors, section->requests, null->options->risk);
}

/* Operations that have one label have one section, which holds for all. */
static void
add_section(Null *null, const Section *section)
{
	for (guint i = 0; i < null->sections->len; i++) {
		Section *own = &g_array_index(null->sections, Section, i);
		if (strcmp(own->label, section->label) != 0)
			continue;
		own->is_everywhere &= section->is_everywhere;
		own->slower = MAX(own->slower, section->slower);
		own->p95_ns = MAX(own->p95_ns, section->p95_ns);
		own->more_work = MAX(own->more_work, section->more_work);
		own->errors = MAX(own->errors, section->errors);
		return;
	}
	g_array_append_val(null->sections, *section);
}

static void
add_operation(Null *null, const WpComparedOperation *operation)
{
	g_autofree const WpComparedOperation **operations =
		g_new0(const WpComparedOperation *, null->n);
	Section section = { .label = operation->label, .is_everywhere = TRUE };
	for (guint i = 0; i + 1 < null->n; i++) {
		operations[i] = find_operation(null->comparisons->pdata[i],
					       null->comparisons->pdata[0], operation);
		section.is_everywhere &= operations[i] != NULL;
	}
	if (section.is_everywhere) {
		add_latencies(null, operations, &section);
		add_parts(null, operations, &section);
	}
	add_section(null, &section);
}

/* LABEL as a pattern on one line: what is no printing character stands as "any". */
static void
write_heading(const char *label, WpOut *out)
{
	wp_out_text(out, "\n[budget \"");
	for (const char *at = label; *at; at++)
		wp_out_char(out, g_ascii_iscntrl(*at) ? '?' : *at);
	wp_out_text(out, "\"]\n");
}

/* In tenths of a percent, upwards. */
static void
write_share(const char *rule, double share, const char *level, WpOut *out)
{
	guint64 tenths = (guint64)ceil(share * 1000 - 1e-9);
	wp_out_printf(out, "%s%" G_GUINT64_FORMAT ".%u%% = %s\n", rule, tenths / 10,
		      (guint)(tenths % 10), level);
}

static void
write_section(const Section *section, WpOut *out)
{
	char mean[WP_FORMAT_MAX], sd[WP_FORMAT_MAX], p95[WP_FORMAT_MAX], work[WP_FORMAT_MAX];
	write_heading(section->label, out);
	if (!section->is_everywhere) {
		wp_out_text(out, "# not in all captures: no limits\n");
		return;
	}
	wp_out_printf(out, "# mean %s; standard deviation of captures %s, of their p95 %s",
		      wp_format_time(mean, section->mean_ns), wp_format_share(sd, section->mean_sd),
		      wp_format_share(p95, section->p95_sd));
	if (section->work_node)
		wp_out_printf(out, ", of a node's work %s",
			      wp_format_share(work, section->work_sd));
	wp_out_char(out, '\n');
	write_share("slower:", section->slower, "error", out);
	if (section->work_node)
		write_share("more-work:", section->more_work, "error", out);
	wp_out_printf(out, "p95 < %" G_GUINT64_FORMAT "us = warn\n",
		      (guint64)ceil(section->p95_ns / 1000));
	write_share("errors < ", section->errors, "warn", out);
}

static void
write_head(const Null *null, WpDigest *const *digests, WpOut *out)
{
	char share[WP_FORMAT_MAX], count[WP_FORMAT_MAX];
	guint64 requests = 0;
	for (guint i = 0; i < null->n; i++)
		requests += digests[i]->facts.n_requests;
	wp_out_printf(out,
		      "# wirepath compare --null: %u captures of one build, %s requests.\n"
		      "# Each limit is one that one of such captures, or a pair of them, goes over "
		      "by chance\n# in %s of cases.%s\n",
		      null->n, wp_format_count(count, requests),
		      wp_format_share(share, null->options->risk),
		      null->n < 6 ? " With six or more captures limits are much closer." : "");
}

void
wp_null_write(WpDigest *const *digests, guint n, const WpCompareOptions *options, WpOut *out)
{
	g_autoptr(GPtrArray) comparisons =
		g_ptr_array_new_with_free_func((GDestroyNotify)wp_comparison_free);
	g_autoptr(GArray) sections = g_array_new(FALSE, TRUE, sizeof(Section));
	Null null = { options, comparisons, sections, n,
		      wp_student_quantile(MIN(2 * options->risk, 1), n - 1.0) };
	g_autoptr(WpRoles) roles = wp_roles_match(digests, n, n);
	wp_unify_labels(digests, n, roles);
	for (guint i = 1; i < n; i++) {
		WpDigest *pair[2] = { digests[0], digests[i] };
		g_ptr_array_add(comparisons, wp_compare(pair, 2, 1, options));
	}
	const WpComparison *first = comparisons->pdata[0];
	for (guint32 i = 0; i < first->n_operations; i++)
		if (!first->operations[i].is_background && first->operations[i].requests[0])
			add_operation(&null, &first->operations[i]);
	write_head(&null, digests, out);
	for (guint i = 0; i < sections->len; i++)
		write_section(&g_array_index(sections, Section, i), out);
}
