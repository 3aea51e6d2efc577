/* Shares of flows, and who calls whom by them: which services may own what is open. */
#include "infer/owner-open.h"

#include <string.h>

#include "infer/owner-kinds.h"

#define A_SHARE 0.03 /* of the flows to a port: from here on a service is an owner */
#define STRAYS  0.1  /* share of calls outside of all those into their owners: some are missing */
#define MUTUAL  3.0  /* times the share of calls the other way: no accident */
#define CLIENTS 0.95 /* share of the flows to a port that nobody owns: clients alone call it */

typedef struct {
	const WpOwnerCounts *counts;
	const double *odds;
	guint32 n;       /* services; none is number N */
	double *shares;  /* by port, service or none: of its flows */
	double *strays;  /* by port: of its calls */
	guint64 *owners; /* by port: a bit each */
	guint64 *below;  /* by service: all that it calls, and what these call */
} Open;

static guint32
port_of(const Open *open, guint32 f)
{
	return open->counts->ports[open->counts->flows[f].kind];
}

static guint32
n_calls(const Open *open, guint32 f)
{
	return open->counts->firsts[f + 1] - open->counts->firsts[f];
}

static guint32
likeliest(const Open *open, guint32 f)
{
	const double *odds = open->odds + (gsize)f * (open->n + 1);
	guint32 best = open->n;

	for (guint32 s = 0; s < open->n; s++)
		if (odds[s] > odds[best])
			best = s;
	return best;
}

/* TRUE where a call into SERVICE encloses SAMPLE. */
static gboolean
encloses(const WpOwnerCounts *counts, const WpOwnerSample *sample, guint32 service)
{
	for (guint32 h = 0; h < sample->n_hits; h++) {
		WpOwnerHit hit = g_array_index(counts->hits, WpOwnerHit, sample->first + h);
		if (hit.service == service && hit.bin < WP_OWNER_N_INSIDE)
			return TRUE;
	}
	return FALSE;
}

/* Of the calls to each port that have an owner: how many no call into it encloses. */
static void
count_strays(Open *open)
{
	const WpOwnerCounts *counts = open->counts;
	g_autofree double *calls = g_new0(double, counts->n_kinds + 1);

	for (guint32 f = 0; f < counts->n_flows; f++) {
		guint32 owner = likeliest(open, f), port = port_of(open, f);
		if (owner == open->n)
			continue;
		for (guint32 i = counts->firsts[f]; i < counts->firsts[f + 1]; i++) {
			const WpOwnerSample *sample =
				&g_array_index(counts->samples, WpOwnerSample, i);
			open->strays[port] += !encloses(counts, sample, owner);
			calls[port] += 1;
		}
	}
	for (guint32 k = 0; k < counts->n_kinds; k++)
		open->strays[k] /= MAX(calls[k], 1);
}

static void
count_shares(Open *open)
{
	const WpOwnerCounts *counts = open->counts;
	gsize n = (gsize)open->n + 1;
	g_autofree double *flows = g_new0(double, counts->n_kinds + 1);

	for (guint32 f = 0; f < counts->n_flows; f++) {
		guint32 port = port_of(open, f);
		flows[port] += 1;
		for (gsize s = 0; s < n; s++)
			open->shares[port * n + s] += open->odds[f * n + s];
	}
	for (guint32 k = 0; k < counts->n_kinds; k++)
		for (gsize s = 0; s < n; s++) {
			open->shares[k * n + s] /= MAX(flows[k], 1);
			if (s < open->n && open->shares[k * n + s] >= A_SHARE)
				open->owners[k] |= (guint64)1 << s;
		}
}

/*
 * Two services that call each other are rare: where it seems so, calls at the same time have been taken for each
 * other's. What is much less than the other way is dropped, and both where they are alike.
 */
static void
drop_mutual(Open *open)
{
	const WpOwnerCounts *counts = open->counts;
	gsize n = (gsize)open->n + 1;
	g_autofree guint32 *port = g_new(guint32, n); /* of each service: one of its ports */
	g_autofree guint64 *kept = g_memdup2(open->owners, counts->n_kinds * sizeof *kept);

	memset(port, 0xff, n * sizeof *port);
	for (guint32 f = 0; f < counts->n_flows; f++)
		if (counts->flows[f].calls < open->n)
			port[counts->flows[f].calls] = port_of(open, f);
	for (guint32 s = 0; s < open->n; s++)
		for (guint32 t = 0; t < open->n; t++) {
			if (s == t || port[s] == G_MAXUINT32 || port[t] == G_MAXUINT32)
				continue;
			double into_s = open->shares[port[s] * n + t];
			double into_t = open->shares[port[t] * n + s];
			if (into_t >= A_SHARE && into_s < MUTUAL * into_t)
				kept[port[s]] &= ~((guint64)1 << t);
		}
	for (guint32 k = 0; k < counts->n_kinds; k++)
		open->owners[k] = kept[k] ? kept[k] : open->owners[k];
}

/* Who calls whom, in as many steps as it takes. */
static void
find_below(Open *open)
{
	const WpOwnerCounts *counts = open->counts;
	gboolean has_grown = TRUE;

	for (guint32 f = 0; f < counts->n_flows; f++) {
		guint32 calls = counts->flows[f].calls;
		for (guint32 s = 0; s < open->n && calls < open->n; s++)
			if (open->owners[port_of(open, f)] >> s & 1)
				open->below[s] |= (guint64)1 << calls;
	}
	while (has_grown) {
		has_grown = FALSE;
		for (guint32 s = 0; s < open->n; s++)
			for (guint32 t = 0; t < open->n; t++) {
				guint64 more = open->below[s] >> t & 1 ? open->below[t] : 0;
				has_grown |= (more & ~open->below[s]) != 0;
				open->below[s] |= more;
			}
	}
}

/* The services that may own flow F, a bit each; 0: it is not open. */
static guint64
open_to(const Open *open, guint32 f)
{
	const WpOwnedFlow *flow = &open->counts->flows[f];
	guint32 port = port_of(open, f), best = likeliest(open, f);
	/* "Any" is the last. */
	guint64 may = flow->services & (((guint64)1 << (open->n - 1)) - 1);
	double clients = open->shares[(gsize)port * (open->n + 1) + open->n];
	guint64 found = open->owners[port];

	if (n_calls(open, f) > WP_OWNER_KINDS_SHORT || best + 1 == open->n || clients >= CLIENTS)
		return 0;
	if (flow->calls < open->n)
		may &= ~((guint64)1 << flow->calls);
	if (open->strays[port] > STRAYS)
		found |= flow->calls < open->n ? may & ~open->below[flow->calls] : may;
	return found & may;
}

static guint32
lowest_bit(guint64 bits)
{
	guint32 n = 0;

	while (!(bits >> n & 1))
		n++;
	return n;
}

/* What is open of flow F; of one service alone is its owner. */
static void
set_open(const Open *open, guint32 f)
{
	WpOwnedFlow *flow = &open->counts->flows[f];

	flow->open = open_to(open, f);
	if (flow->open && (flow->open & (flow->open - 1)) == 0) {
		flow->owner = lowest_bit(flow->open);
		flow->certainty = (float)open->odds[(gsize)f * (open->n + 1) + flow->owner];
		flow->open = 0;
	}
}

void
wp_owner_open(const WpOwnerCounts *counts, const double *odds)
{
	Open open = { .counts = counts, .odds = odds, .n = counts->n_services };

	open.shares = g_new0(double, (gsize)counts->n_kinds *(open.n + 1) + 1);
	open.strays = g_new0(double, counts->n_kinds + 1);
	open.owners = g_new0(guint64, counts->n_kinds + 1);
	open.below = g_new0(guint64, open.n + 1);
	count_shares(&open);
	count_strays(&open);
	drop_mutual(&open);
	find_below(&open);
	for (guint32 f = 0; f < counts->n_flows; f++)
		set_open(&open, f);
	g_free(open.shares);
	g_free(open.strays);
	g_free(open.owners);
	g_free(open.below);
}
