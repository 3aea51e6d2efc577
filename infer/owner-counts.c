/* In this order: which calls are looked at, kinds of flows, each call moved in time, the sweep. */
#include "infer/owner-counts.h"

#include "infer/owner-kinds.h"

#define N_SHIFTS 8
#define RARE     16  /* a value that one call in so many into services carries tells nothing */
#define ALMOST   0.9 /* quantile of the latency by which calls are moved at the least */

/* A time at which is asked what encloses. */
typedef struct {
	gint64 begin_ns, end_ns;
	guint32 span;
	guint32 sample;
	gboolean is_moved;
} Question;

typedef struct {
	gint64 call_ns, return_ns;
	guint32 span;
	guint32 flow;
} Open;

static guint
octave_of(gint64 delay_ns)
{
	guint64 us = (guint64)MAX(delay_ns, 0) / 1000;
	return us == 0 ? 0 : g_bit_storage(us);
}

static const WpRecord *
record_of(const WpOwnerCounts *counts, guint32 span)
{
	return &wp_trace_records(counts->trace)[counts->spans->spans[span].call_record];
}

/* TRUE where both calls carry a value that few do. */
static gboolean
share_value(const WpOwnerCounts *counts, guint32 a, guint32 b)
{
	if (!counts->values)
		return FALSE;
	const WpRecord *x = record_of(counts, a), *y = record_of(counts, b);
	const guint32 *own = wp_trace_tokens(counts->trace, x);
	const guint32 *others = wp_trace_tokens(counts->trace, y);
	for (guint i = 0; i < x->n_tokens; i++)
		for (guint j = 0; j < y->n_tokens; j++) {
			if (own[i] / 2 != others[j] / 2)
				continue;
			guint32 number = wp_map_find(counts->values, own[i] / 2);
			guint32 n = g_array_index(counts->n_values, guint32, number);
			if (n <= counts->n_into / RARE + 1)
				return TRUE;
		}
	return FALSE;
}

/* How the call QUESTION stands to ONE of a service, which began before; WP_OWNER_N_BINS: not at all. */
static guint
bin_of(const WpOwnerCounts *counts, const Open *one, const Question *question)
{
	guint after = octave_of(question->begin_ns - one->return_ns);
	guint delay = MIN(octave_of(question->begin_ns - one->call_ns), WP_OWNER_N_DELAYS - 1);

	if (question->begin_ns > one->return_ns)
		return after < WP_OWNER_N_AFTER ? WP_OWNER_N_INSIDE + WP_OWNER_N_DELAYS + after
						: WP_OWNER_N_BINS;
	if (question->end_ns > one->return_ns)
		return WP_OWNER_N_INSIDE + delay;
	return share_value(counts, question->span, one->span) ? WP_OWNER_N_DELAYS + delay : delay;
}

static gboolean
takes_part(const WpSpan *span)
{
	return wp_span_is_paired(span) && !(span->marks & (WP_MARK_SETUP | WP_MARK_WAIT));
}

/* Whose owner is looked for by what encloses it; without a return, its begin. */
static gboolean
is_asked(const WpSpan *span)
{
	return !(span->marks & WP_MARK_SETUP);
}

/* Adds LABEL to those of FLOW. */
static void
add_label(WpOwnerCounts *counts, guint32 flow, guint32 label)
{
	guint32 *labels =
		&g_array_index(counts->labels, guint32, (gsize)flow * WP_OWNER_MAX_LABELS);

	for (guint i = 0; i < WP_OWNER_MAX_LABELS && label; i++) {
		if (labels[i] == label)
			return;
		if (!labels[i]) {
			labels[i] = label;
			return;
		}
	}
}

/* Evenly spread over each flow: every STEP-th of its calls. */
static void
choose_samples(WpOwnerCounts *counts)
{
	guint32 n = counts->n_flows;
	g_autofree guint32 *sizes = g_new0(guint32, n + 1), *seen = g_new0(guint32, n + 1);
	guint32 most = CLAMP(WP_OWNERSHIP_MAX_CALLS / MAX(n, 1), 1, WP_OWNERSHIP_MAX_FLOW_CALLS);

	for (guint32 i = 0; i < counts->spans->n; i++)
		if (counts->what[i].flow < n && is_asked(&counts->spans->spans[i]))
			sizes[counts->what[i].flow]++;
	counts->firsts = g_new0(guint32, n + 1);
	for (guint32 f = 0; f < n; f++)
		counts->firsts[f + 1] = counts->firsts[f] + MIN(sizes[f], most);
	g_array_set_size(counts->samples, counts->firsts[n]);
	g_array_set_size(counts->labels, n * WP_OWNER_MAX_LABELS);
	for (guint32 i = 0; i < counts->spans->n; i++) {
		const WpSpan *span = &counts->spans->spans[i];
		guint32 flow = counts->what[i].flow;
		if (flow >= n || !is_asked(span))
			continue;
		add_label(counts, flow, span->label);
		guint64 size = MIN(sizes[flow], most), place = seen[flow]++ * size;
		guint32 number = (guint32)(place / sizes[flow]);
		if (place % sizes[flow] >= size)
			continue; /* it falls to the same place as the one before */
		guint32 sample = counts->firsts[flow] + number;
		g_array_index(counts->samples, WpOwnerSample, sample).flow = flow;
		Question question = { span->call_ns, wp_span_end_ns(span), i, sample, FALSE };
		g_array_append_val(counts->questions, question);
	}
}

static int
compare_times(gconstpointer a, gconstpointer b)
{
	gint64 x = *(const gint64 *)a, y = *(const gint64 *)b;
	return (x > y) - (x < y);
}

/* So long that a call moved by it leaves its own parent. */
static gint64
long_latency(const WpOwnerCounts *counts)
{
	g_autoptr(GArray) latencies = g_array_new(FALSE, FALSE, sizeof(gint64));

	for (guint32 i = 0; i < counts->spans->n; i++) {
		const WpSpan *span = &counts->spans->spans[i];
		if (!takes_part(span) || counts->what[i].service >= counts->n_services)
			continue;
		gint64 latency_ns = span->return_ns - span->call_ns;
		g_array_append_val(latencies, latency_ns);
	}
	g_array_sort(latencies, compare_times);
	if (latencies->len == 0)
		return 0;
	return g_array_index(latencies, gint64, (guint)((latencies->len - 1) * ALMOST));
}

/* Each question again, moved a few times to both sides, within the capture. */
static void
add_moved(WpOwnerCounts *counts)
{
	static const double moves[N_SHIFTS / 2] = { 1.37, 2.61, 4.13, 6.87 };
	double long_ns = (double)long_latency(counts);
	gint64 first_ns = counts->spans->n ? counts->spans->spans[0].call_ns : 0;
	gint64 last_ns = counts->spans->n ? counts->spans->spans[counts->spans->n - 1].call_ns : 0;
	guint n = counts->questions->len;

	for (guint i = 0; i < n; i++) {
		for (guint k = 0; k < N_SHIFTS; k++) {
			Question question = g_array_index(counts->questions, Question, i);
			gint64 by_ns = (gint64)(moves[k / 2] * long_ns) * (k % 2 ? 1 : -1);
			if (question.begin_ns + by_ns < first_ns ||
			    question.begin_ns + by_ns > last_ns)
				by_ns = -by_ns;
			question.begin_ns += by_ns;
			question.end_ns += by_ns;
			question.is_moved = TRUE;
			if (question.begin_ns >= first_ns && question.begin_ns <= last_ns)
				g_array_append_val(counts->questions, question);
		}
	}
}

static int
compare_questions(gconstpointer a, gconstpointer b)
{
	const Question *x = a, *y = b;

	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	if (x->sample != y->sample)
		return x->sample < y->sample ? -1 : 1;
	if (x->is_moved != y->is_moved)
		return x->is_moved ? 1 : -1;
	return compare_times(&x->end_ns, &y->end_ns);
}

/* Counts what of OPEN encloses QUESTION; those that have ended leave. */
static void
answer(WpOwnerCounts *counts, const Question *question, guint32 service, GArray *open)
{
	WpOwnerSample *sample = &g_array_index(counts->samples, WpOwnerSample, question->sample);
	guint32 kind = counts->flows[sample->flow].kind;
	double *chance = counts->chance + wp_owner_cell(counts, kind, service) * WP_OWNER_N_BINS;
	guint16 *near = counts->near + (gsize)question->sample * counts->n_services + service;
	guint n = 0;

	for (guint i = 0; i < open->len; i++) {
		Open one = g_array_index(open, Open, i);
		guint bin = bin_of(counts, &one, question);
		if (bin == WP_OWNER_N_BINS)
			continue;
		g_array_index(open, Open, n++) = one;
		if (one.flow == sample->flow)
			continue; /* calls of one flow are siblings */
		WpOwnerHit hit = { (guint8)service, (guint8)bin };
		if (question->is_moved) {
			chance[hit.bin] += 1;
			*near += bin < WP_OWNER_N_INSIDE && *near < G_MAXUINT16;
		} else {
			g_array_append_val(counts->hits, hit);
			sample->n_hits++;
		}
	}
	g_array_set_size(open, n);
}

static void
sweep(WpOwnerCounts *counts)
{
	g_autoptr(GPtrArray) open = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
	guint32 next = 0;

	for (guint32 s = 0; s < counts->n_services; s++)
		g_ptr_array_add(open, g_array_new(FALSE, FALSE, sizeof(Open)));
	g_array_sort(counts->questions, compare_questions);
	for (guint i = 0; i < counts->questions->len; i++) {
		const Question *question = &g_array_index(counts->questions, Question, i);
		WpOwnerSample *sample =
			&g_array_index(counts->samples, WpOwnerSample, question->sample);
		for (; next < counts->spans->n &&
		       counts->spans->spans[next].call_ns <= question->begin_ns;
		     next++) {
			const WpSpan *span = &counts->spans->spans[next];
			Open one = { span->call_ns, span->return_ns, next,
				     counts->what[next].flow };
			guint32 service = counts->what[next].service;
			if (service >= counts->n_services || !takes_part(span))
				continue;
			g_array_append_val((GArray *)open->pdata[service], one);
			g_array_append_val((GArray *)open->pdata[counts->n_services - 1], one);
		}
		sample->n_moved += question->is_moved;
		if (!question->is_moved)
			sample->first = counts->hits->len;
		else
			counts->asked[counts->flows[sample->flow].kind] += 1;
		for (guint32 s = 0; s < counts->n_services; s++)
			if (counts->flows[sample->flow].services >> s & 1)
				answer(counts, question, s, open->pdata[s]);
	}
}

/* From counts to what one call gives; at least a little, as it was not seen for long enough. */
static void
set_chance(WpOwnerCounts *counts)
{
	for (guint32 k = 0; k < counts->n_kinds; k++)
		for (guint32 s = 0; s < counts->n_services; s++) {
			double *chance =
				counts->chance + wp_owner_cell(counts, k, s) * WP_OWNER_N_BINS;
			for (guint b = 0; b < WP_OWNER_N_BINS; b++) {
				chance[b] = (chance[b] + 0.5 / WP_OWNER_N_BINS) /
					    (counts->asked[k] + 1);
				counts->enclosing[wp_owner_cell(counts, k, s)] +=
					b < WP_OWNER_N_INSIDE ? chance[b] : 0;
			}
		}
}

/* Short flows of one operation are a kind of their own: one call alone says little of its owner. */
static void
split_kinds(WpOwnerCounts *counts)
{
	g_autofree guint32 *operations = g_new0(guint32, counts->n_flows + 1);

	for (guint32 f = 0; f < counts->n_flows; f++) {
		const guint32 *labels =
			&g_array_index(counts->labels, guint32, (gsize)f * WP_OWNER_MAX_LABELS);
		gboolean is_short =
			counts->firsts[f + 1] - counts->firsts[f] <= WP_OWNER_KINDS_SHORT;
		operations[f] = is_short && !labels[1] ? labels[0] : 0;
	}
	counts->ports = g_new(guint32, WP_OWNER_MAX_KINDS);
	counts->n_kinds = wp_owner_kinds_split(counts->flows, operations, counts->n_flows,
					       counts->n_kinds, WP_OWNER_MAX_KINDS, counts->ports);
}

/* Which values calls into services carry, and how many carry each. */
static void
count_values(WpOwnerCounts *counts)
{
	if (!counts->trace || !wp_trace_has(counts->trace, WP_TRACE_TOKENS))
		return;
	counts->values = wp_map_new();
	for (guint32 i = 0; i < counts->spans->n; i++) {
		if (!takes_part(&counts->spans->spans[i]) ||
		    counts->what[i].service >= counts->n_services)
			continue;
		const WpRecord *record = record_of(counts, i);
		const guint32 *tokens = wp_trace_tokens(counts->trace, record);
		counts->n_into++;
		for (guint t = 0; t < record->n_tokens; t++) {
			guint32 number = wp_map_number(counts->values, tokens[t] / 2);
			if (number >= counts->n_values->len)
				g_array_set_size(counts->n_values, number + 1);
			g_array_index(counts->n_values, guint32, number)++;
		}
	}
}

void
wp_owner_counts_make(WpOwnerCounts *counts)
{
	counts->n_values = g_array_new(FALSE, TRUE, sizeof(guint32));
	count_values(counts);
	counts->samples = g_array_new(FALSE, TRUE, sizeof(WpOwnerSample));
	counts->questions = g_array_new(FALSE, FALSE, sizeof(Question));
	counts->hits = g_array_new(FALSE, FALSE, sizeof(WpOwnerHit));
	counts->labels = g_array_new(FALSE, TRUE, sizeof(guint32));
	choose_samples(counts);
	split_kinds(counts);
	gsize size = wp_owner_cell(counts, counts->n_kinds, 0);
	counts->chance = g_new0(double, size *WP_OWNER_N_BINS + 1);
	counts->enclosing = g_new0(double, size + 1);
	counts->asked = g_new0(double, counts->n_kinds + 1);
	counts->near = g_new0(guint16, (gsize)counts->samples->len * counts->n_services + 1);
	add_moved(counts);
	sweep(counts);
	set_chance(counts);
}

void
wp_owner_counts_clear(WpOwnerCounts *counts)
{
	g_array_unref(counts->samples);
	g_array_unref(counts->questions);
	g_array_unref(counts->hits);
	g_array_unref(counts->labels);
	g_free(counts->firsts);
	g_free(counts->chance);
	g_free(counts->enclosing);
	g_free(counts->near);
	g_free(counts->ports);
	g_free(counts->asked);
	wp_map_free(counts->values);
	g_array_unref(counts->n_values);
}
