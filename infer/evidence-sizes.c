/*
 * Evidence of kind "sizes": a proxy's reply is as long as the one it got, plus or minus its own fields; what
 * is made of a row of a table is as long each time. The sizes of a child's reply and of its parent's are
 * looked at in three ways, and so are those of their calls:
 *
 *     difference   out - in, exact          proxies
 *     pair         (in, out), exact         the same thing asked for again
 *     bins         (in, out), 8 an octave   longer the one, longer the other
 */
#include "infer/evidence-values.h"
#include "infer/links.h"
#include "infer/map.h"

#define BINS_AN_OCTAVE 8

/* Nats and true pairs: sizes that go together by chance are worth less, or are seen too seldom to tell. */
#define MIN_WORTH 0.03
#define MIN_PAIRS 8

/* Of calls and of replies. */
enum {
	WAY_DIFFERENCE,
	WAY_PAIR,
	WAY_BINS,
	N_WAYS
};

typedef struct {
	guint64 call; /* WP_NO_SIZE: not known */
	guint64 reply;
} Sizes;

static void
add_size(guint64 *sum, guint64 bytes)
{
	*sum = *sum == WP_NO_SIZE || bytes == WP_NO_SIZE ? WP_NO_SIZE : *sum + bytes;
}

static void
add_span(const WpEvidenceHost *host, guint32 number, Sizes *sizes)
{
	const WpRecord *records = wp_trace_records(wp_resolved_trace(host->resolved));
	const WpSpan *span = &wp_resolved_spans(host->resolved)->spans[number];
	gboolean has_reply = span->return_record != G_MAXUINT32 &&
			     !(records[span->return_record].marks & WP_MARK_CUT);

	add_size(&sizes->call, records[span->call_record].bytes);
	add_size(&sizes->reply, has_reply ? records[span->return_record].bytes : WP_NO_SIZE);
}

static Sizes
sizes_of_bundle(const WpEvidenceHost *host, guint32 number)
{
	const WpNestProblem *problem = host->problem;
	const WpNestBundle *bundle = &problem->bundles[number];
	Sizes sizes = { 0, 0 };

	for (guint32 i = 0; i < bundle->n; i++) {
		guint32 child = problem->bundle_children[bundle->first + i];
		if (problem->children[child].span != WP_NO_SPAN)
			add_span(host, problem->children[child].span, &sizes);
	}
	return sizes;
}

static guint32
bin_of(const WpEvidenceHost *host, guint64 bytes)
{
	double octaves = wp_quick_log2(&host->problem->quick, (double)bytes + 1);
	return (guint32)(octaves * BINS_AN_OCTAVE);
}

static void
set_values(const WpEvidenceHost *host, guint64 in, guint64 out, guint64 *out_values)
{
	gboolean is_known = in != WP_NO_SIZE && out != WP_NO_SIZE;
	out_values[WAY_DIFFERENCE] = is_known ? (guint32)(out - in) : WP_NO_VALUE;
	out_values[WAY_PAIR] =
		is_known ? wp_map_key((guint32)in & G_MAXINT32, (guint32)out) : WP_NO_VALUE;
	out_values[WAY_BINS] =
		is_known ? wp_map_key(bin_of(host, in), bin_of(host, out)) : WP_NO_VALUE;
}

static void
set_sizes(const WpEvidenceHost *host, guint32 bundle, guint32 parent,
	  guint64 out_values[WP_VALUES_MAX_WAYS])
{
	Sizes in = sizes_of_bundle(host, bundle), out = { 0, 0 };

	add_span(host, host->problem->parents[parent].span, &out);
	set_values(host, in.call, out.call, out_values);
	set_values(host, in.reply, out.reply, out_values + N_WAYS);
}

static gboolean
has_sizes(const WpEvidenceHost *host)
{
	if (!wp_trace_has(wp_resolved_trace(host->resolved), WP_TRACE_SIZES))
		return FALSE;
	for (guint32 p = 0; p < host->problem->n_parents; p++) {
		Sizes sizes = { 0, 0 };
		add_span(host, host->problem->parents[p].span, &sizes);
		if (sizes.call != WP_NO_SIZE || sizes.reply != WP_NO_SIZE)
			return TRUE;
	}
	return FALSE;
}

static gpointer
begin(const WpEvidenceHost *host)
{
	static const WpValuesShape shape = { 2, N_WAYS, MIN_WORTH, MIN_PAIRS, set_sizes };
	return wp_values_new(host, &shape);
}

const WpEvidenceKind wp_evidence_sizes = {
	.name = "sizes",
	.summary = "bytes of calls and replies that go together",
	.is_default = TRUE,
	.word = WP_EVIDENCE_SIZES,
	.may_speak = has_sizes,
	.begin = begin,
	.learn = wp_values_learn,
	.score = wp_values_score,
	.end = wp_values_free,
};
