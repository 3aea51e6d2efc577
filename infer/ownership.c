/*
 * Ownership, in the order of the functions below: what speaks for an owner; who owns what by that, and what owners do,
 * in rounds; two accounts of it, and which is right. What encloses what was counted before: owner-counts.h.
 */
#include "infer/ownership.h"

#include <math.h>
#include <string.h>

#include "infer/map.h"
#include "infer/owner-counts.h"
#include "infer/owner-kinds.h"
#include "infer/owner-open.h"
#include "infer/quicklog.h"

#define ROUNDS      12 /* of learning where few owners are likelier */
#define SLOW_ROUNDS 40 /* ... and where they are not: nothing hurries shares along */
#define AT_FIRST                                                                                   \
	3.0 /* what chance would give weighs so many times what was seen, or few calls would say too much */
#define LEAST_PRIOR 1e-3 /* of a service that owns no flow of a kind yet */
#define ELSEWHERE   0.02 /* of a service that owns no flow to the port, of no operation */
#define SELF        1e-6 /* of a service that may own flows to itself: they are rare */
#define SELF_CALL                                                                                  \
	0.5 /* ... and each of their calls has to speak for it, as log: bursts lie in themselves */
#define STRAY 0.05 /* share of an owner's calls that none of its own encloses: after the reply */
#define STRAY_MOST                                                                                 \
	0.3 /* ... where owners call so soon after it; what comes next in a request does so too */
#define LOCAL 20.0 /* calls that say how busy a service is usually, beside those around one call */
#define WAITS 1e-3 /* services that call one while they wait for another: few */
#define WAITS_CALL                                                                                 \
	0.1 /* ... and as log, less of a call than so much is nothing: its law of delays is coarser */
#define MANY                                                                                       \
	64.0 /* calls of a flow from which on it is no accident that another call encloses each */
#define COVERED 0.1 /* share of such calls that may be outside: strays of two services */
#define OWN_LABELS                                                                                 \
	0.7 /* of what is known of an owner's operations; the rest is what all owners call */
#define LONG         16.0 /* calls of a flow, on average: it tells its owner alone */
#define POOLED       0.1  /* of a kind's calls that have an owner: enough to know their delays */
#define COUNTS       0.05 /* a share of flows with which a service counts as an owner */
#define MAX_EXPONENT 600.0

typedef struct {
	WpOwnerCounts counts;
	double *law;       /* by cell, bin: of an owner's calls, the share of their delays */
	double *posterior; /* by flow, service; the last is none */
	double *below;     /* by service, service: how likely the one owns flows to the other */
	double *covered; /* by cell: how sure it is that what a service encloses lies in what it calls */
	double *n_of_kind;  /* by kind: flows */
	guint8 *is_pooled;  /* by kind: owners are many enough to know their delays together */
	double *times;      /* by service: weigh_times() of the flow at hand */
	double *likelihood; /* by kind: of all its calls, as log against chance */
	WpMap *label_numbers;
	GArray *label_counts; /* double: by (kind, owner, label) */
	double *prior;        /* by cell */
	double *label_sums;   /* by cell: labels of its flows */
	double *port_share;   /* by cell: of the flows to its port */
	WpQuickLog quick;
} Finder;

static gsize
at(const Finder *finder, guint32 kind, guint32 service)
{
	return wp_owner_cell(&finder->counts, kind, service);
}

static gboolean
may_own(const Finder *finder, guint32 f, guint32 service)
{
	return finder->counts.flows[f].services >> service & 1;
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
	gsize size = at(finder, finder->counts.n_kinds, 0);

	set_zero(finder->posterior,
		 (gsize)finder->counts.n_flows * (finder->counts.n_services + 1));
	for (gsize cell = 0; cell < size; cell++) {
		const double *chance = finder->counts.chance + cell * WP_OWNER_N_BINS;
		finder->prior[cell] = finder->port_share[cell] =
			1.0 / (finder->counts.n_services + 1);
		memset(finder->law + cell * WP_OWNER_N_BINS, 0,
		       WP_OWNER_N_BINS * sizeof *finder->law);
		smooth(finder->law + cell * WP_OWNER_N_BINS, chance, 1, 0, WP_OWNER_N_INSIDE);
		smooth(finder->law + cell * WP_OWNER_N_BINS, chance, 1, WP_OWNER_N_INSIDE,
		       WP_OWNER_N_BINS);
	}
	memset(finder->is_pooled, 0, finder->counts.n_kinds);
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
	guint n = g_array_index(finder->counts.samples, WpOwnerSample, sample).n_moved;
	double usual = finder->counts.enclosing[at(finder, kind, service)];
	double near = finder->counts.near[(gsize)sample * finder->counts.n_services + service];

	return (near + LOCAL) / (n * usual + LOCAL);
}

/*
 * Of the calls of flow F, how much likelier they are if SERVICE owns it than if not, as log. How near one is to a call
 * never says more for an owner than one outside of its calls says against it: a parallel call of the true owner is
 * near too. What comes soon after a reply may be called by whoever had the reply, so that it only says less against.
 * WHOSE delays: the service's, or n_services: of all that own flows of the kind.
 */
static double
weigh_times_by(const Finder *finder, guint32 f, guint32 service, guint32 whose)
{
	guint32 kind = finder->counts.flows[f].kind;
	gsize cell = at(finder, kind, service) * WP_OWNER_N_BINS;
	const double *law = finder->law + at(finder, kind, whose) * WP_OWNER_N_BINS;
	double sum = 0;

	for (guint32 i = finder->counts.firsts[f]; i < finder->counts.firsts[f + 1]; i++) {
		const WpOwnerSample *sample =
			&g_array_index(finder->counts.samples, WpOwnerSample, i);
		double inside = 0, stray = 0;
		for (guint32 h = 0; h < sample->n_hits; h++) {
			WpOwnerHit hit =
				g_array_index(finder->counts.hits, WpOwnerHit, sample->first + h);
			if (hit.service != service)
				continue;
			*(hit.bin < WP_OWNER_N_INSIDE ? &inside : &stray) +=
				law[hit.bin] / finder->counts.chance[cell + hit.bin];
		}
		inside *= (1 - STRAY) / how_busy(finder, i, kind, service);
		sum += wp_quick_log(&finder->quick,
				    inside > 0 ? MIN(inside, 1 / STRAY) + STRAY
					       : CLAMP(STRAY * stray, STRAY, STRAY_MOST));
	}
	return sum;
}

/*
 * By the delays of all owners of the kind: a service that owns none yet has none of its own, and would never get any
 * from one above it, whose delays are the same but for what a call on takes.
 */
static double
weigh_times(const Finder *finder, guint32 f, guint32 service)
{
	guint32 n = finder->counts.n_services;

	return weigh_times_by(finder, f, service,
			      finder->is_pooled[finder->counts.flows[f].kind] ? n : service);
}

static double
weigh_labels(Finder *finder, guint32 f, guint32 owner)
{
	const guint32 *labels =
		&g_array_index(finder->counts.labels, guint32, (gsize)f * WP_OWNER_MAX_LABELS);
	guint32 kind = finder->counts.flows[f].kind;
	double sum = 0;

	for (guint i = 0; i < WP_OWNER_MAX_LABELS && labels[i]; i++) {
		double all =
			(*label_count(finder, kind, finder->counts.n_services + 1, labels[i]) + 1) /
			(finder->label_sums[at(finder, kind, finder->counts.n_services + 1)] + 1);
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
	guint32 n = finder->counts.n_services;
	g_autofree double *flows = g_new0(double, n + 1);

	set_zero(finder->below, (gsize)n * n);
	for (guint32 f = 0; f < finder->counts.n_flows; f++) {
		guint32 calls = finder->counts.flows[f].calls;
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

/* The services that SERVICE is likely to call, a bit each. */
static guint64
called_by(const Finder *finder, guint32 service)
{
	guint32 n = finder->counts.n_services;
	guint64 called = 0;

	for (guint32 s = 0; s + 1 < n; s++)
		if (s != service && finder->below[(gsize)service * n + s] > 0.5)
			called |= (guint64)1 << s;
	return called;
}

/* The services whose calls enclose SAMPLE, a bit each. */
static guint64
enclosing(const Finder *finder, const WpOwnerSample *sample)
{
	guint64 found = 0;

	for (guint32 h = 0; h < sample->n_hits; h++) {
		WpOwnerHit hit = g_array_index(finder->counts.hits, WpOwnerHit, sample->first + h);
		if (hit.bin < WP_OWNER_N_INSIDE)
			found |= (guint64)1 << hit.service;
	}
	return found;
}

/* Of the calls of each kind that a service encloses, whether what it calls encloses them too, but for strays. */
static void
learn_covered(Finder *finder)
{
	const WpOwnerCounts *counts = &finder->counts;
	guint32 n = counts->n_services;
	gsize size = at(finder, counts->n_kinds, 0);
	g_autofree double *all = g_new0(double, size + 1);
	g_autofree guint64 *called = g_new0(guint64, n + 1);

	set_zero(finder->covered, size);
	for (guint32 s = 0; s + 1 < n; s++)
		called[s] = called_by(finder, s);
	for (guint32 i = 0; i < counts->samples->len; i++) {
		const WpOwnerSample *sample = &g_array_index(counts->samples, WpOwnerSample, i);
		guint32 kind = counts->flows[sample->flow].kind;
		guint64 services = enclosing(finder, sample);
		for (guint32 s = 0; s + 1 < n; s++)
			if (services >> s & 1) {
				all[at(finder, kind, s)] += 1;
				finder->covered[at(finder, kind, s)] += (services & called[s]) != 0;
			}
	}
	for (gsize cell = 0; cell < size; cell++)
		finder->covered[cell] = finder->covered[cell] < (1 - COVERED) * all[cell]
						? 0
						: MIN(all[cell] / MANY, 1);
}

/*
 * If SERVICE owned flow F it would call while it waits for a service below it whose calls explain those of the flow
 * too; few do. At load the times of the two differ by little more than chance: what they say has to make up for it,
 * the more, the more calls lie in those of the one below, as each of them might not.
 * As log, <= 0; of a flow with few calls next to nothing, as these may be in each other by accident, unless nearly all
 * calls of its kind are.
 */
static double
weigh_waiting(const Finder *finder, guint32 f, guint32 service)
{
	guint32 n_calls = finder->counts.firsts[f + 1] - finder->counts.firsts[f];
	const double *times = finder->times;
	double most = WAITS_CALL * n_calls - wp_quick_log(&finder->quick, WAITS), worst = 0;

	for (guint32 s = 0; s + 1 < finder->counts.n_services; s++) {
		double share = finder->below[(gsize)service * finder->counts.n_services + s];
		if (s == service || s == finder->counts.flows[f].calls || !may_own(finder, f, s))
			continue;
		worst = MAX(worst, share * CLAMP(times[s], 0, most));
	}
	double sure = n_calls / MANY;
	guint32 kind = finder->counts.flows[f].kind;
	return -worst * MAX(MIN(sure, 1), finder->covered[at(finder, kind, service)]);
}

/* How likely SERVICE owns flow F by what it owns beside, as log. */
static double
weigh_shares(const Finder *finder, guint32 f, guint32 service)
{
	guint32 kind = finder->counts.flows[f].kind;
	gsize cell = at(finder, kind, service);
	double log_share = wp_quick_log(&finder->quick, finder->prior[cell]);

	if (finder->counts.ports[kind] != kind)
		log_share += wp_quick_log(&finder->quick, finder->port_share[cell] + ELSEWHERE);
	return log_share;
}

/* How likely each service owns flow F, as far as is known. */
static void
judge_flow(Finder *finder, guint32 f, gboolean by_labels)
{
	guint32 n = finder->counts.n_services, kind = finder->counts.flows[f].kind;
	double *posterior = finder->posterior + (gsize)f * (n + 1), best = -G_MAXDOUBLE, sum = 0;
	double n_calls = finder->counts.firsts[f + 1] - finder->counts.firsts[f];

	for (guint32 s = 0; s < n; s++)
		finder->times[s] = may_own(finder, f, s) ? weigh_times(finder, f, s) : 0;
	for (guint32 s = 0; s <= n; s++) {
		gboolean may = s == n || may_own(finder, f, s);
		posterior[s] = may ? weigh_shares(finder, f, s) : -G_MAXDOUBLE;
		if (may && s < n)
			posterior[s] += finder->times[s] + weigh_waiting(finder, f, s);
		if (may && by_labels)
			posterior[s] += weigh_labels(finder, f, s);
		if (s == finder->counts.flows[f].calls)
			posterior[s] += wp_quick_log(&finder->quick, SELF) - SELF_CALL * n_calls;
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
	learn_covered(finder);
	set_zero(finder->likelihood, finder->counts.n_kinds);
	for (guint32 f = 0; f < finder->counts.n_flows; f++)
		judge_flow(finder, f, by_labels);
}

/*
 * What owners do, from who they are likely to be: how many flows, which operations. IS_SPARSE: shares are squared,
 * as most ports have few callers: where single flows say little, few owners are likelier than many.
 */
static void
learn_shares(Finder *finder, gboolean is_sparse)
{
	guint32 n = finder->counts.n_services;
	g_autofree double *flows = g_new0(double, finder->counts.n_kinds + 1);
	gsize size = at(finder, finder->counts.n_kinds, 0);

	set_zero(finder->prior, size);
	set_zero(finder->label_sums, size);
	set_zero(finder->label_counts->data, finder->label_counts->len);
	for (guint32 f = 0; f < finder->counts.n_flows; f++) {
		const guint32 *labels = &g_array_index(finder->counts.labels, guint32,
						       (gsize)f * WP_OWNER_MAX_LABELS);
		guint32 kind = finder->counts.flows[f].kind;
		flows[kind] += 1;
		for (guint32 s = 0; s <= n + 1; s++) {
			/* Behind the last: all of the kind, whoever owns them. */
			double share = s > n ? 1 : finder->posterior[(gsize)f * (n + 1) + s];
			finder->prior[at(finder, kind, s)] += share;
			for (guint i = 0; i < WP_OWNER_MAX_LABELS && labels[i] && share > 0; i++) {
				*label_count(finder, kind, s, labels[i]) += share;
				finder->label_sums[at(finder, kind, s)] += share;
			}
		}
	}
	wp_owner_kinds_share(finder->counts.ports, finder->counts.n_kinds, n + 2, flows,
			     finder->prior, finder->port_share);
	for (guint32 k = 0; k < finder->counts.n_kinds; k++)
		for (guint32 s = 0; s <= n; s++) {
			double *prior = &finder->prior[at(finder, k, s)];
			double share = (*prior + 1.0 / (n + 1)) / (flows[k] + 1);
			*prior = is_sparse ? MAX(share * share, LEAST_PRIOR) : share;
		}
}

/*
 * The delays of all owners of KIND, as many as each has CALLS (by cell), of ALL. Where hardly any flow has an owner yet there
 * are none, and each service has its own; so it has where flows are short: these tell their owner together, by its delays.
 * And where no values are asked: two services' delays are then all that tells them apart.
 */
static void
learn_pooled_law(Finder *finder, guint32 kind, const double *calls, double all)
{
	guint32 n = finder->counts.n_services;
	double *pooled = finder->law + at(finder, kind, n) * WP_OWNER_N_BINS, sum = 0;

	memset(pooled, 0, WP_OWNER_N_BINS * sizeof *pooled);
	for (guint32 s = 0; s < n; s++)
		sum += calls[at(finder, kind, s)];
	finder->is_pooled[kind] =
		finder->counts.values && sum > POOLED * all && all > LONG * finder->n_of_kind[kind];
	for (guint32 s = 0; s < n && sum > 0; s++)
		for (guint b = 0; b < WP_OWNER_N_BINS; b++)
			pooled[b] += calls[at(finder, kind, s)] / sum *
				     finder->law[at(finder, kind, s) * WP_OWNER_N_BINS + b];
}

/* The delays of owners: what their flows have more than chance gives, smoothed by that. */
static void
learn_laws(Finder *finder)
{
	gsize size = at(finder, finder->counts.n_kinds, 0);
	guint32 n = finder->counts.n_services;
	g_autofree double *calls = g_new0(double, size);
	g_autofree double *all = g_new0(double, finder->counts.n_kinds + 1);

	set_zero(finder->law, size * WP_OWNER_N_BINS);
	for (guint32 i = 0; i < finder->counts.samples->len; i++) {
		const WpOwnerSample *sample =
			&g_array_index(finder->counts.samples, WpOwnerSample, i);
		const double *posterior =
			finder->posterior + (gsize)sample->flow * (finder->counts.n_services + 1);
		guint32 kind = finder->counts.flows[sample->flow].kind;
		all[kind] += 1;
		for (guint32 s = 0; s < n; s++)
			calls[at(finder, kind, s)] += posterior[s];
		for (guint32 h = 0; h < sample->n_hits; h++) {
			WpOwnerHit hit =
				g_array_index(finder->counts.hits, WpOwnerHit, sample->first + h);
			finder->law[at(finder, kind, hit.service) * WP_OWNER_N_BINS + hit.bin] +=
				posterior[hit.service];
		}
	}
	for (gsize cell = 0; cell < size; cell++) {
		double *law = finder->law + cell * WP_OWNER_N_BINS,
		       *chance = finder->counts.chance + cell * WP_OWNER_N_BINS;
		smooth(law, chance, calls[cell], 0, WP_OWNER_N_INSIDE);
		smooth(law, chance, calls[cell], WP_OWNER_N_INSIDE, WP_OWNER_N_BINS);
	}
	for (guint32 k = 0; k < finder->counts.n_kinds; k++)
		learn_pooled_law(finder, k, calls, all[k]);
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
	gsize size = (gsize)finder->counts.n_flows * (finder->counts.n_services + 1);

	return (Account){ .owners = g_new0(guint32, finder->counts.n_flows + 1),
			  .posterior = g_new0(double, size + 1),
			  .likelihood = g_new0(double, finder->counts.n_kinds + 1),
			  .n_owners = g_new0(guint32, finder->counts.n_kinds + 1) };
}

static void
take_owners(const Finder *finder, Account *account)
{
	guint32 n = finder->counts.n_services;

	for (guint32 f = 0; f < finder->counts.n_flows; f++) {
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
	guint32 n = finder->counts.n_services;
	gsize size = (gsize)finder->counts.n_flows * (n + 1);

	if (size)
		memcpy(account->posterior, finder->posterior, size * sizeof(double));
	for (guint32 k = 0; k < finder->counts.n_kinds; k++)
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
	if (finder->counts.n_kinds)
		memcpy(account->likelihood, finder->likelihood,
		       finder->counts.n_kinds * sizeof(double));
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
 * number of observations for each free parameter). Few owners that explain no more than chance are not believed. Where values tell
 * services apart whose calls enclose the same ones, nothing has to be taken for likelier.
 */
static void
decide(Finder *finder, const Account *few, const Account *any)
{
	gsize n = (gsize)finder->counts.n_services + 1;
	g_autofree double *calls = g_new0(double, finder->counts.n_kinds + 1);

	for (guint32 f = 0; f < finder->counts.n_flows; f++)
		calls[finder->counts.flows[f].kind] +=
			finder->counts.firsts[f + 1] - finder->counts.firsts[f];
	for (guint32 f = 0; f < finder->counts.n_flows; f++) {
		guint32 k = finder->counts.flows[f].kind;
		double worth = 0.5 * WP_OWNER_N_DELAYS * log(calls[k] + 1);
		double more = any->n_owners[k] > few->n_owners[k]
				      ? any->n_owners[k] - few->n_owners[k]
				      : 1;
		gboolean is_few = !finder->is_pooled[k] && few->likelihood[k] > worth &&
				  any->likelihood[k] - few->likelihood[k] < more * worth;
		const Account *account = is_few ? few : any;
		guint32 owner = account->owners[f];
		finder->counts.flows[f].owner = owner + 1 < n ? owner : WP_NO_SERVICE;
		finder->counts.flows[f].certainty = (float)account->posterior[f * n + owner];
		memcpy(finder->posterior + f * n, account->posterior + f * n, n * sizeof(double));
	}
	wp_owner_open(&finder->counts, finder->posterior);
}

static void
run(Finder *finder)
{
	const WpOwnerCounts *counts = &finder->counts;
	gsize size = at(finder, counts->n_kinds, 0);

	finder->law = g_new0(double, size *WP_OWNER_N_BINS + 1);
	finder->prior = g_new0(double, size + 1);
	finder->label_sums = g_new0(double, size + 1);
	finder->port_share = g_new0(double, size + 1);
	finder->likelihood = g_new0(double, counts->n_kinds + 1);
	finder->posterior = g_new0(double, (gsize)counts->n_flows *(counts->n_services + 1) + 1);
	finder->below = g_new0(double, (gsize)counts->n_services * counts->n_services + 1);
	finder->covered = g_new0(double, size + 1);
	finder->is_pooled = g_new0(guint8, counts->n_kinds + 1);
	finder->n_of_kind = g_new0(double, counts->n_kinds + 1);
	for (guint32 f = 0; f < counts->n_flows; f++)
		finder->n_of_kind[counts->flows[f].kind] += 1;
	finder->times = g_new0(double, counts->n_services + 1);
	Account few = find_few(finder), any = find_any_number(finder);
	decide(finder, &few, &any);
	clear_account(&few);
	clear_account(&any);
}

void
wp_ownership_find(const WpSpans *spans, const WpTrace *trace, const WpOwnedSpan *what,
		  WpOwnedFlow *flows, guint32 n_flows, guint32 n_services, guint32 n_kinds)
{
	Finder finder = { .counts = { .spans = spans,
				      .trace = trace,
				      .what = what,
				      .flows = flows,
				      .n_flows = n_flows,
				      .n_services = MIN(n_services, WP_OWNERSHIP_MAX_SERVICES),
				      .n_kinds = MIN(n_kinds, WP_OWNER_MAX_KINDS) },
			  .label_numbers = wp_map_new(),
			  .label_counts = g_array_new(FALSE, TRUE, sizeof(double)) };

	wp_quick_log_init(&finder.quick);
	for (guint32 f = 0; f < n_flows; f++)
		flows[f].kind =
			MIN(flows[f].kind,
			    WP_OWNER_MAX_KINDS - 1); /* the last ones share what is learned */
	wp_owner_counts_make(&finder.counts);
	run(&finder);
	wp_owner_counts_clear(&finder.counts);
	g_array_unref(finder.label_counts);
	wp_map_free(finder.label_numbers);
	g_free(finder.law);
	g_free(finder.prior);
	g_free(finder.label_sums);
	g_free(finder.port_share);
	g_free(finder.posterior);
	g_free(finder.below);
	g_free(finder.is_pooled);
	g_free(finder.n_of_kind);
	g_free(finder.times);
	g_free(finder.covered);
	g_free(finder.likelihood);
}
