/*
 * Ownership, in the order of the functions below: which calls are looked at; one sweep over time that
 * counts what encloses them, and them moved; then rounds of who owns what and what owners do.
 */
#include "infer/ownership.h"

#include <math.h>
#include <string.h>

#include "infer/map.h"
#include "infer/quicklog.h"

#define N_SHIFTS    8
#define N_DELAYS    25 /* one an octave, from 1 us to 16 s */
#define N_AFTER     13 /* the same from a reply on, to 4 ms: what comes later is no more of that call */
#define N_BINS      (2 * N_DELAYS + N_AFTER) /* inside a call; begun in it, but longer; after it */
#define MAX_KINDS   256
#define ROUNDS      12 /* of learning where few owners are likelier */
#define SLOW_ROUNDS 40 /* ... and where they are not: nothing hurries shares along */
#define AT_FIRST                                                                                   \
	3.0 /* what chance would give weighs so many times what was seen, or few calls would say too much */
#define LEAST_PRIOR 1e-3 /* of a service that owns no flow of a kind yet */
#define SELF        1e-6 /* of a service that may own flows to itself: they are rare */
#define STRAY       0.05 /* share of an owner's calls that none of its own encloses: after the reply */
#define STRAY_MOST                                                                                 \
	0.3 /* ... where owners call so soon after it; what comes next in a request does so too */
#define LOCAL 20.0 /* calls that say how busy a service is usually, beside those around one call */
#define WAITS 1e-3 /* services that call one while they wait for another: few */
#define MANY                                                                                       \
	64.0 /* calls of a flow from which on it is no accident that another call encloses each */
#define OWN_LABELS                                                                                 \
	0.7 /* of what is known of an owner's operations; the rest is what all owners call */
#define MAX_LABELS   8    /* of a flow, that take part */
#define COUNTS       0.05 /* a share of flows with which a service counts as an owner */
#define MAX_EXPONENT 600.0
#define ALMOST       0.9 /* quantile of the latency by which calls are moved at the least */

/* One call that is looked at. */
typedef struct {
	guint32 flow;
	guint32 first; /* of its hits */
	guint32 n_hits;
	guint32 n_moved; /* times that were asked about besides */
} Sample;

/* A call of a service that encloses a sample, or in which or soon after which the sample begins. */
typedef struct {
	guint8 service;
	guint8 bin;
} Hit;

/* A time at which is asked what encloses. */
typedef struct {
	gint64 begin_ns, end_ns;
	guint32 sample;
	gboolean is_moved;
} Question;

typedef struct {
	gint64 call_ns, return_ns;
	guint32 flow;
} Open;

typedef struct {
	const WpSpans *spans;
	const WpOwnedSpan *what;
	WpOwnedFlow *flows;
	guint32 n_flows, n_services, n_kinds;
	GArray *samples;    /* Sample, flow by flow in order of time */
	GArray *questions;  /* Question */
	GArray *hits;       /* Hit */
	guint32 *firsts;    /* by flow: its first sample; one more than flows */
	GArray *labels;     /* guint32: MAX_LABELS by flow, 0 = none */
	double *chance;     /* by kind, service, bin: hits of a moved call */
	double *law;        /* the same: of an owner's calls, the share of their delays */
	double *enclosing;  /* by kind, service: what encloses a moved call, of CHANCE */
	guint16 *near;      /* by sample, service: what encloses it moved, all times together */
	double *asked;      /* by kind: moved calls */
	double *posterior;  /* by flow, service; the last is none */
	double *below;      /* by service, service: how likely the one owns flows to the other */
	double *times;      /* by service: weigh_times() of the flow at hand */
	double *likelihood; /* by kind: of all its calls, as log against chance */
	WpMap *label_numbers;
	GArray *label_counts; /* double: by (kind, owner, label) */
	double *prior;        /* by kind, service */
	double *label_sums;   /* the same: labels of its flows */
	WpQuickLog quick;
} Finder;

static gsize
at(const Finder *finder, guint32 kind, guint32 service)
{
	return (gsize)kind * (finder->n_services + 2) + service;
}

static gboolean
may_own(const Finder *finder, guint32 f, guint32 service)
{
	return finder->flows[f].services >> service & 1;
}

static guint
octave_of(gint64 delay_ns)
{
	guint64 us = (guint64)MAX(delay_ns, 0) / 1000;
	return us == 0 ? 0 : g_bit_storage(us);
}

/* How a call from BEGIN_NS to END_NS stands to one of a service, which began before; N_BINS: not at all. */
static guint
bin_of(const Open *one, gint64 begin_ns, gint64 end_ns)
{
	guint after = octave_of(begin_ns - one->return_ns);
	guint delay = MIN(octave_of(begin_ns - one->call_ns), N_DELAYS - 1);

	if (begin_ns > one->return_ns)
		return after < N_AFTER ? 2 * N_DELAYS + after : N_BINS;
	return end_ns <= one->return_ns ? delay : N_DELAYS + delay;
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
add_label(Finder *finder, guint32 flow, guint32 label)
{
	guint32 *labels = &g_array_index(finder->labels, guint32, (gsize)flow * MAX_LABELS);

	for (guint i = 0; i < MAX_LABELS && label; i++) {
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
choose_samples(Finder *finder)
{
	guint32 n = finder->n_flows;
	g_autofree guint32 *counts = g_new0(guint32, n + 1), *seen = g_new0(guint32, n + 1);
	guint32 most = CLAMP(WP_OWNERSHIP_MAX_CALLS / MAX(n, 1), 1, WP_OWNERSHIP_MAX_FLOW_CALLS);

	for (guint32 i = 0; i < finder->spans->n; i++)
		if (finder->what[i].flow < n && is_asked(&finder->spans->spans[i]))
			counts[finder->what[i].flow]++;
	finder->firsts = g_new0(guint32, n + 1);
	for (guint32 f = 0; f < n; f++)
		finder->firsts[f + 1] = finder->firsts[f] + MIN(counts[f], most);
	g_array_set_size(finder->samples, finder->firsts[n]);
	g_array_set_size(finder->labels, n * MAX_LABELS);
	for (guint32 i = 0; i < finder->spans->n; i++) {
		const WpSpan *span = &finder->spans->spans[i];
		guint32 flow = finder->what[i].flow;
		if (flow >= n || !is_asked(span))
			continue;
		add_label(finder, flow, span->label);
		guint64 size = MIN(counts[flow], most), place = seen[flow]++ * size;
		guint32 number = (guint32)(place / counts[flow]);
		if (place % counts[flow] >= size)
			continue; /* it falls to the same place as the one before */
		guint32 sample = finder->firsts[flow] + number;
		g_array_index(finder->samples, Sample, sample).flow = flow;
		Question question = { span->call_ns, wp_span_end_ns(span), sample, FALSE };
		g_array_append_val(finder->questions, question);
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
long_latency(const Finder *finder)
{
	g_autoptr(GArray) latencies = g_array_new(FALSE, FALSE, sizeof(gint64));

	for (guint32 i = 0; i < finder->spans->n; i++) {
		const WpSpan *span = &finder->spans->spans[i];
		if (!takes_part(span) || finder->what[i].service >= finder->n_services)
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
add_moved(Finder *finder)
{
	static const double moves[N_SHIFTS / 2] = { 1.37, 2.61, 4.13, 6.87 };
	double long_ns = (double)long_latency(finder);
	gint64 first_ns = finder->spans->n ? finder->spans->spans[0].call_ns : 0;
	gint64 last_ns = finder->spans->n ? finder->spans->spans[finder->spans->n - 1].call_ns : 0;
	guint n = finder->questions->len;

	for (guint i = 0; i < n; i++) {
		for (guint k = 0; k < N_SHIFTS; k++) {
			Question question = g_array_index(finder->questions, Question, i);
			gint64 by_ns = (gint64)(moves[k / 2] * long_ns) * (k % 2 ? 1 : -1);
			if (question.begin_ns + by_ns < first_ns ||
			    question.begin_ns + by_ns > last_ns)
				by_ns = -by_ns;
			question.begin_ns += by_ns;
			question.end_ns += by_ns;
			question.is_moved = TRUE;
			if (question.begin_ns >= first_ns && question.begin_ns <= last_ns)
				g_array_append_val(finder->questions, question);
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
answer(Finder *finder, const Question *question, guint32 service, GArray *open)
{
	Sample *sample = &g_array_index(finder->samples, Sample, question->sample);
	guint32 kind = finder->flows[sample->flow].kind;
	double *chance = finder->chance + at(finder, kind, service) * N_BINS;
	guint16 *near = finder->near + (gsize)question->sample * finder->n_services + service;
	guint n = 0;

	for (guint i = 0; i < open->len; i++) {
		Open one = g_array_index(open, Open, i);
		guint bin = bin_of(&one, question->begin_ns, question->end_ns);
		if (bin == N_BINS)
			continue;
		g_array_index(open, Open, n++) = one;
		if (one.flow == sample->flow)
			continue; /* calls of one flow are siblings */
		Hit hit = { (guint8)service, (guint8)bin };
		if (question->is_moved) {
			chance[hit.bin] += 1;
			*near += bin < N_DELAYS && *near < G_MAXUINT16;
		} else {
			g_array_append_val(finder->hits, hit);
			sample->n_hits++;
		}
	}
	g_array_set_size(open, n);
}

static void
sweep(Finder *finder)
{
	g_autoptr(GPtrArray) open = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
	guint32 next = 0;

	for (guint32 s = 0; s < finder->n_services; s++)
		g_ptr_array_add(open, g_array_new(FALSE, FALSE, sizeof(Open)));
	g_array_sort(finder->questions, compare_questions);
	for (guint i = 0; i < finder->questions->len; i++) {
		const Question *question = &g_array_index(finder->questions, Question, i);
		Sample *sample = &g_array_index(finder->samples, Sample, question->sample);
		for (; next < finder->spans->n &&
		       finder->spans->spans[next].call_ns <= question->begin_ns;
		     next++) {
			const WpSpan *span = &finder->spans->spans[next];
			Open one = { span->call_ns, span->return_ns, finder->what[next].flow };
			guint32 service = finder->what[next].service;
			if (service >= finder->n_services || !takes_part(span))
				continue;
			g_array_append_val((GArray *)open->pdata[service], one);
			g_array_append_val((GArray *)open->pdata[finder->n_services - 1], one);
		}
		sample->n_moved += question->is_moved;
		if (!question->is_moved)
			sample->first = finder->hits->len;
		else
			finder->asked[finder->flows[sample->flow].kind] += 1;
		for (guint32 s = 0; s < finder->n_services; s++)
			if (finder->flows[sample->flow].services >> s & 1)
				answer(finder, question, s, open->pdata[s]);
	}
}

/* From counts to what one call gives; at least a little, as it was not seen for long enough. */
static void
set_chance(Finder *finder)
{
	for (guint32 k = 0; k < finder->n_kinds; k++)
		for (guint32 s = 0; s < finder->n_services; s++) {
			double *chance = finder->chance + at(finder, k, s) * N_BINS;
			for (guint b = 0; b < N_BINS; b++) {
				chance[b] = (chance[b] + 0.5 / N_BINS) / (finder->asked[k] + 1);
				finder->enclosing[at(finder, k, s)] += b < N_DELAYS ? chance[b] : 0;
			}
		}
}

/* N of VALUES (double); what has none need not be there. */
static void
set_zero(gpointer values, gsize n)
{
	if (n)
		memset(values, 0, n * sizeof(double));
}

/* Of LAW's counts, from bin FROM to below TO: what CALLS have more than chance gives, as shares. */
static void
smooth(double *law, const double *chance, double calls, guint from, guint to)
{
	double sum = 0, by_chance = 0;

	for (guint b = from; b < to; b++)
		by_chance += chance[b];
	for (guint b = from; b < to; b++) {
		law[b] = MAX(law[b] - calls * chance[b], 0) +
			 (by_chance > 0 ? AT_FIRST * calls * chance[b] / by_chance : 0);
		sum += law[b];
	}
	for (guint b = from; b < to; b++)
		law[b] = sum > 0 ? law[b] / sum : 0;
}

/* Nothing is known of owners: all are alike, and call when chance would. */
static void
forget(Finder *finder)
{
	gsize size = at(finder, finder->n_kinds, 0);

	set_zero(finder->posterior, (gsize)finder->n_flows * (finder->n_services + 1));
	for (gsize cell = 0; cell < size; cell++) {
		const double *chance = finder->chance + cell * N_BINS;
		finder->prior[cell] = 1.0 / (finder->n_services + 1);
		memset(finder->law + cell * N_BINS, 0, N_BINS * sizeof *finder->law);
		smooth(finder->law + cell * N_BINS, chance, 1, 0, N_DELAYS);
		smooth(finder->law + cell * N_BINS, chance, 1, N_DELAYS, N_BINS);
	}
}

static double *
label_count(Finder *finder, guint32 kind, guint32 owner, guint32 label)
{
	guint64 key = wp_map_key((guint32)at(finder, kind, owner), label);
	guint32 number = wp_map_number(finder->label_numbers, key);
	double none = 0;

	if (number == finder->label_counts->len)
		g_array_append_val(finder->label_counts, none);
	return &g_array_index(finder->label_counts, double, number);
}

/* How many times busier than usual SERVICE is around SAMPLE, which is of KIND. */
static double
how_busy(const Finder *finder, guint32 sample, guint32 kind, guint32 service)
{
	guint n = g_array_index(finder->samples, Sample, sample).n_moved;
	double usual = finder->enclosing[at(finder, kind, service)];
	double near = finder->near[(gsize)sample * finder->n_services + service];

	return (near + LOCAL) / (n * usual + LOCAL);
}

/*
 * Of the calls of flow F, how much likelier they are if SERVICE owns it than if not, as log. How near one is to a call
 * never says more for an owner than one outside of its calls says against it: a parallel call of the true owner is
 * near too. What comes soon after a reply may be called by whoever had the reply, so that it only says less against.
 */
static double
weigh_times(const Finder *finder, guint32 f, guint32 service)
{
	guint32 kind = finder->flows[f].kind;
	gsize cell = at(finder, kind, service) * N_BINS;
	double sum = 0;

	for (guint32 i = finder->firsts[f]; i < finder->firsts[f + 1]; i++) {
		const Sample *sample = &g_array_index(finder->samples, Sample, i);
		double inside = 0, stray = 0;
		for (guint32 h = 0; h < sample->n_hits; h++) {
			Hit hit = g_array_index(finder->hits, Hit, sample->first + h);
			if (hit.service != service)
				continue;
			*(hit.bin < N_DELAYS ? &inside : &stray) +=
				finder->law[cell + hit.bin] / finder->chance[cell + hit.bin];
		}
		inside *= (1 - STRAY) / how_busy(finder, i, kind, service);
		sum += wp_quick_log(&finder->quick,
				    inside > 0 ? MIN(inside, 1 / STRAY) + STRAY
					       : CLAMP(STRAY * stray, STRAY, STRAY_MOST));
	}
	return sum;
}

static double
weigh_labels(Finder *finder, guint32 f, guint32 owner)
{
	const guint32 *labels = &g_array_index(finder->labels, guint32, (gsize)f * MAX_LABELS);
	guint32 kind = finder->flows[f].kind;
	double sum = 0;

	for (guint i = 0; i < MAX_LABELS && labels[i]; i++) {
		double all = (*label_count(finder, kind, finder->n_services + 1, labels[i]) + 1) /
			     (finder->label_sums[at(finder, kind, finder->n_services + 1)] + 1);
		double own = (*label_count(finder, kind, owner, labels[i]) + all) /
			     (finder->label_sums[at(finder, kind, owner)] + 1);
		sum += wp_quick_log(&finder->quick, OWN_LABELS * own + (1 - OWN_LABELS) * all);
	}
	return sum;
}

/* Who calls whom, from whose flows are whose. */
static void
learn_below(Finder *finder)
{
	guint32 n = finder->n_services;
	g_autofree double *flows = g_new0(double, n + 1);

	set_zero(finder->below, (gsize)n * n);
	for (guint32 f = 0; f < finder->n_flows; f++) {
		guint32 calls = finder->flows[f].calls;
		if (calls >= n)
			continue;
		flows[calls] += 1;
		for (guint32 s = 0; s < n; s++)
			finder->below[(gsize)s * n + calls] +=
				finder->posterior[(gsize)f * (n + 1) + s];
	}
	for (gsize i = 0; i < (gsize)n * n; i++)
		finder->below[i] /= MAX(flows[i % n], 1);
}

/*
 * If SERVICE owned flow F it would call while it waits for a service below it whose calls explain those of the flow
 * too; few do. At load the times of the two differ by little more than chance: what they say has to make up for it.
 * As log, <= 0; of a flow with few calls next to nothing, as these may be in each other by accident.
 */
static double
weigh_waiting(const Finder *finder, guint32 f, guint32 service)
{
	const double most = -wp_quick_log(&finder->quick, WAITS), *times = finder->times;
	double worst = 0;

	for (guint32 s = 0; s + 1 < finder->n_services; s++) {
		double share = finder->below[(gsize)service * finder->n_services + s];
		if (s == service || s == finder->flows[f].calls || !may_own(finder, f, s))
			continue;
		worst = MAX(worst, share * CLAMP(times[s], 0, most));
	}
	return -worst * MIN((finder->firsts[f + 1] - finder->firsts[f]) / MANY, 1);
}

/* How likely each service owns flow F, as far as is known. */
static void
judge_flow(Finder *finder, guint32 f, gboolean by_labels)
{
	guint32 n = finder->n_services, kind = finder->flows[f].kind;
	double *posterior = finder->posterior + (gsize)f * (n + 1), best = -G_MAXDOUBLE, sum = 0;

	for (guint32 s = 0; s < n; s++)
		finder->times[s] = may_own(finder, f, s) ? weigh_times(finder, f, s) : 0;
	for (guint32 s = 0; s <= n; s++) {
		gboolean may = s == n || may_own(finder, f, s);
		posterior[s] =
			may ? wp_quick_log(&finder->quick, finder->prior[at(finder, kind, s)])
			    : -G_MAXDOUBLE;
		if (may && s < n)
			posterior[s] += finder->times[s] + weigh_waiting(finder, f, s);
		if (may && by_labels)
			posterior[s] += weigh_labels(finder, f, s);
		if (s == finder->flows[f].calls)
			posterior[s] += wp_quick_log(&finder->quick, SELF);
		best = MAX(best, posterior[s]);
	}
	for (guint32 s = 0; s <= n; s++) {
		double below = posterior[s] - best;
		posterior[s] = below < -MAX_EXPONENT ? 0 : wp_quick_exp(below);
		sum += posterior[s];
	}
	for (guint32 s = 0; s <= n; s++)
		posterior[s] /= sum;
	finder->likelihood[kind] += best + wp_quick_log(&finder->quick, sum);
}

static void
judge_flows(Finder *finder, gboolean by_labels)
{
	learn_below(finder);
	set_zero(finder->likelihood, finder->n_kinds);
	for (guint32 f = 0; f < finder->n_flows; f++)
		judge_flow(finder, f, by_labels);
}

/*
 * What owners do, from who they are likely to be: how many flows, which operations. IS_SPARSE: shares are squared,
 * as most ports have few callers: where single flows say little, few owners are likelier than many.
 */
static void
learn_shares(Finder *finder, gboolean is_sparse)
{
	guint32 n = finder->n_services;
	g_autofree double *flows = g_new0(double, finder->n_kinds + 1);
	gsize size = at(finder, finder->n_kinds, 0);

	set_zero(finder->prior, size);
	set_zero(finder->label_sums, size);
	set_zero(finder->label_counts->data, finder->label_counts->len);
	for (guint32 f = 0; f < finder->n_flows; f++) {
		const guint32 *labels =
			&g_array_index(finder->labels, guint32, (gsize)f * MAX_LABELS);
		guint32 kind = finder->flows[f].kind;
		flows[kind] += 1;
		for (guint32 s = 0; s <= n + 1; s++) {
			/* Behind the last: all of the kind, whoever owns them. */
			double share = s > n ? 1 : finder->posterior[(gsize)f * (n + 1) + s];
			finder->prior[at(finder, kind, s)] += share;
			for (guint i = 0; i < MAX_LABELS && labels[i] && share > 0; i++) {
				*label_count(finder, kind, s, labels[i]) += share;
				finder->label_sums[at(finder, kind, s)] += share;
			}
		}
	}
	for (guint32 k = 0; k < finder->n_kinds; k++)
		for (guint32 s = 0; s <= n; s++) {
			double *prior = &finder->prior[at(finder, k, s)];
			double share = (*prior + 1.0 / (n + 1)) / (flows[k] + 1);
			*prior = is_sparse ? MAX(share * share, LEAST_PRIOR) : share;
		}
}

/* The delays of owners: what their flows have more than chance gives, smoothed by that. */
static void
learn_laws(Finder *finder)
{
	gsize size = at(finder, finder->n_kinds, 0);
	g_autofree double *calls = g_new0(double, size);

	set_zero(finder->law, size * N_BINS);
	for (guint32 i = 0; i < finder->samples->len; i++) {
		const Sample *sample = &g_array_index(finder->samples, Sample, i);
		const double *posterior =
			finder->posterior + (gsize)sample->flow * (finder->n_services + 1);
		guint32 kind = finder->flows[sample->flow].kind;
		for (guint32 s = 0; s < finder->n_services; s++)
			calls[at(finder, kind, s)] += posterior[s];
		for (guint32 h = 0; h < sample->n_hits; h++) {
			Hit hit = g_array_index(finder->hits, Hit, sample->first + h);
			finder->law[at(finder, kind, hit.service) * N_BINS + hit.bin] +=
				posterior[hit.service];
		}
	}
	for (gsize cell = 0; cell < size; cell++) {
		double *law = finder->law + cell * N_BINS, *chance = finder->chance + cell * N_BINS;
		smooth(law, chance, calls[cell], 0, N_DELAYS);
		smooth(law, chance, calls[cell], N_DELAYS, N_BINS);
	}
}

/*
 * Two accounts of the same calls. The one takes few owners for likelier and their operations into account; it finds
 * the owner where several services enclose the same calls all the time (a proxy, and what stands behind it), but
 * where several services do the same it gives one of them everything. The other takes nothing for likelier.
 */
typedef struct {
	guint32 *owners; /* by flow: the likeliest */
	double *posterior;
	double *likelihood; /* of the times alone, with shares as they are */
	guint32 *n_owners;  /* by kind */
} Account;

static Account
new_account(const Finder *finder)
{
	gsize size = (gsize)finder->n_flows * (finder->n_services + 1);

	return (Account){ .owners = g_new0(guint32, finder->n_flows + 1),
			  .posterior = g_new0(double, size + 1),
			  .likelihood = g_new0(double, finder->n_kinds + 1),
			  .n_owners = g_new0(guint32, finder->n_kinds + 1) };
}

static void
take_owners(const Finder *finder, Account *account)
{
	guint32 n = finder->n_services;

	for (guint32 f = 0; f < finder->n_flows; f++) {
		const double *posterior = finder->posterior + (gsize)f * (n + 1);
		account->owners[f] = n;
		for (guint32 s = 0; s < n; s++)
			if (posterior[s] > posterior[account->owners[f]])
				account->owners[f] = s;
	}
}

static void
take_odds(const Finder *finder, Account *account)
{
	guint32 n = finder->n_services;
	gsize size = (gsize)finder->n_flows * (n + 1);

	if (size)
		memcpy(account->posterior, finder->posterior, size * sizeof(double));
	for (guint32 k = 0; k < finder->n_kinds; k++)
		for (guint32 s = 0; s <= n; s++)
			account->n_owners[k] += finder->prior[at(finder, k, s)] >= COUNTS;
}

static void
clear_account(Account *account)
{
	g_free(account->owners);
	g_free(account->posterior);
	g_free(account->likelihood);
	g_free(account->n_owners);
}

static void
keep_likelihood(const Finder *finder, Account *account)
{
	if (finder->n_kinds)
		memcpy(account->likelihood, finder->likelihood, finder->n_kinds * sizeof(double));
}

static Account
find_few(Finder *finder)
{
	Account account = new_account(finder);

	forget(finder);
	for (guint round = 0; round < ROUNDS; round++) {
		judge_flows(finder, round > 1);
		learn_shares(finder, TRUE);
		learn_laws(finder);
	}
	judge_flows(finder, TRUE);
	take_owners(finder, &account);
	/* With the shares as they came out: that few are likelier must not make what is found surer. */
	learn_shares(finder, FALSE);
	judge_flows(finder, TRUE);
	take_odds(finder, &account);
	judge_flows(finder, FALSE);
	keep_likelihood(finder, &account);
	return account;
}

static Account
find_any_number(Finder *finder)
{
	Account account = new_account(finder);

	forget(finder);
	for (guint round = 0; round < SLOW_ROUNDS; round++) {
		judge_flows(finder, FALSE);
		learn_shares(finder, FALSE);
		learn_laws(finder);
	}
	judge_flows(finder, FALSE);
	take_owners(finder, &account);
	take_odds(finder, &account);
	keep_likelihood(finder, &account);
	return account;
}

/*
 * For each kind the account that the times bear out. An owner more has a law of delays more, and fits better for that
 * alone: it has to be worth it (G. Schwarz, "Estimating the dimension of a model", 1978: half the logarithm of the
 * number of observations for each free parameter). Few owners that explain no more than chance are not believed.
 */
static void
decide(Finder *finder, const Account *few, const Account *any)
{
	gsize n = (gsize)finder->n_services + 1;
	g_autofree double *calls = g_new0(double, finder->n_kinds + 1);

	for (guint32 f = 0; f < finder->n_flows; f++)
		calls[finder->flows[f].kind] += finder->firsts[f + 1] - finder->firsts[f];
	for (guint32 f = 0; f < finder->n_flows; f++) {
		guint32 k = finder->flows[f].kind;
		double worth = 0.5 * N_DELAYS * log(calls[k] + 1);
		double more = any->n_owners[k] > few->n_owners[k]
				      ? any->n_owners[k] - few->n_owners[k]
				      : 1;
		gboolean is_few = few->likelihood[k] > worth &&
				  any->likelihood[k] - few->likelihood[k] < more * worth;
		const Account *account = is_few ? few : any;
		guint32 owner = account->owners[f];
		finder->flows[f].owner = owner + 1 < n ? owner : WP_NO_SERVICE;
		finder->flows[f].certainty = (float)account->posterior[f * n + owner];
	}
}

static void
run(Finder *finder)
{
	gsize size = at(finder, finder->n_kinds, 0);

	finder->chance = g_new0(double, size *N_BINS + 1);
	finder->law = g_new0(double, size *N_BINS + 1);
	finder->asked = g_new0(double, finder->n_kinds + 1);
	finder->prior = g_new0(double, size + 1);
	finder->label_sums = g_new0(double, size + 1);
	finder->likelihood = g_new0(double, finder->n_kinds + 1);
	finder->posterior = g_new0(double, (gsize)finder->n_flows *(finder->n_services + 1) + 1);
	finder->below = g_new0(double, (gsize)finder->n_services * finder->n_services + 1);
	finder->times = g_new0(double, finder->n_services + 1);
	finder->enclosing = g_new0(double, size + 1);
	choose_samples(finder);
	finder->near = g_new0(guint16, (gsize)finder->samples->len * finder->n_services + 1);
	add_moved(finder);
	sweep(finder);
	set_chance(finder);
	Account few = find_few(finder), any = find_any_number(finder);
	decide(finder, &few, &any);
	clear_account(&few);
	clear_account(&any);
}

void
wp_ownership_find(const WpSpans *spans, const WpOwnedSpan *what, WpOwnedFlow *flows,
		  guint32 n_flows, guint32 n_services, guint32 n_kinds)
{
	Finder finder = { .spans = spans,
			  .what = what,
			  .flows = flows,
			  .n_flows = n_flows,
			  .n_services = MIN(n_services, WP_OWNERSHIP_MAX_SERVICES),
			  .n_kinds = MIN(n_kinds, MAX_KINDS),
			  .samples = g_array_new(FALSE, TRUE, sizeof(Sample)),
			  .questions = g_array_new(FALSE, FALSE, sizeof(Question)),
			  .hits = g_array_new(FALSE, FALSE, sizeof(Hit)),
			  .labels = g_array_new(FALSE, TRUE, sizeof(guint32)),
			  .label_numbers = wp_map_new(),
			  .label_counts = g_array_new(FALSE, TRUE, sizeof(double)) };

	wp_quick_log_init(&finder.quick);
	for (guint32 f = 0; f < n_flows; f++)
		flows[f].kind =
			MIN(flows[f].kind, MAX_KINDS - 1); /* the last ones share what is learned */
	run(&finder);
	g_array_unref(finder.samples);
	g_array_unref(finder.questions);
	g_array_unref(finder.hits);
	g_array_unref(finder.labels);
	g_array_unref(finder.label_counts);
	wp_map_free(finder.label_numbers);
	g_free(finder.firsts);
	g_free(finder.chance);
	g_free(finder.law);
	g_free(finder.asked);
	g_free(finder.prior);
	g_free(finder.label_sums);
	g_free(finder.posterior);
	g_free(finder.below);
	g_free(finder.near);
	g_free(finder.enclosing);
	g_free(finder.times);
	g_free(finder.likelihood);
}
