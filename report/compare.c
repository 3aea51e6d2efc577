/*
 * What is compared with what. A key is (role of the client, role, label) for an operation, (role, label) for a part
 * of it; captures in which a key is not have NULL in its place.
 */
#include "report/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/compare-kinds.h"
#include "report/compare-paths.h"
#include "report/compare-private.h"
#include "report/roles.h"
#include "report/unify.h"

const char *const wp_verdict_names[WP_N_VERDICTS] = { "same", "inconclusive", "changed" };

const char *const wp_test_names[WP_N_TESTS] = { "latency", "work", "self", "calls", "network" };

const char *const wp_why_names[WP_N_WHYS] = { "none",   "nothing", "few",  "hangs",
					      "likely", "coarse",  "small" };

const char *const wp_against_names[WP_N_AGAINST] = { "empty", "strange",   "options", "rate", "mix",
						     "loss",  "unmatched", "partial", "links" };

/* Parts of less than this share of their operation's time, on both sides, are not tested: they cannot matter. */
#define MIN_PART_SHARE 0.005

/* ... and operations of less than this share of all time. */
#define MIN_OPERATION_SHARE 0.001

/* What speaks against comparing: rates, shares of operations, of packets lost, of calls unmatched. */
#define MAX_RATE_SHIFT      0.10
#define MAX_MIX_SHIFT       0.05
#define MAX_LOSS_SHIFT      0.01
#define MAX_LOSS            0.05
#define MAX_UNMATCHED_SHIFT 0.05
#define MIN_RIGHT           0.70

/* Share of the time in operations that cannot be judged, from where on the whole cannot be. */
#define MAX_UNJUDGED 0.2

typedef struct {
	guint32 client;
	guint32 role;
	const char *label;
} Key;

/* What has one key, in each capture. */
typedef struct {
	Key key;
	gpointer *members;
} Group;

typedef struct {
	WpDigest *const *digests;
	guint n;
	guint n_before;
	WpComparison *comparison;
	GPtrArray *tests; /* WpTest: the family */
	double total_ns[2];
	guint64 requests[2];
} Builder;

void
wp_compare_options_init(WpCompareOptions *options)
{
	*options = (WpCompareOptions){ .min_change = 0.05,
				       .risk = 0.011,
				       .resolution = 0.25,
				       .labels = { "before", "after" } };
}

/* --- groups --- */

static guint
key_hash(gconstpointer data)
{
	const Key *key = data;
	return (key->client * 31 + key->role) * 31 + g_str_hash(key->label);
}

static gboolean
key_equal(gconstpointer a, gconstpointer b)
{
	const Key *left = a, *right = b;
	return left->client == right->client && left->role == right->role &&
	       strcmp(left->label, right->label) == 0;
}

static void
group_free(gpointer data)
{
	Group *group = data;
	g_free(group->members);
	g_free(group);
}

/* The groups, in the order in which they were first met. */
typedef struct {
	GHashTable *by_key;
	GPtrArray *groups; /* Group */
	guint n;
} Groups;

static Groups
groups_new(guint n)
{
	return (Groups){ g_hash_table_new(key_hash, key_equal),
			 g_ptr_array_new_with_free_func(group_free), n };
}

static void
groups_clear(Groups *groups)
{
	g_hash_table_unref(groups->by_key);
	g_ptr_array_unref(groups->groups);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Groups, groups_clear)

/* The place of what has KEY in capture NUMBER. */
static gpointer *
groups_at(Groups *groups, const Key *key, guint number)
{
	Group *group = g_hash_table_lookup(groups->by_key, key);
	if (!group) {
		group = g_new0(Group, 1);
		group->key = *key;
		group->members = g_new0(gpointer, groups->n + 1);
		g_ptr_array_add(groups->groups, group);
		g_hash_table_insert(groups->by_key, &group->key, group);
	}
	return &group->members[number];
}

/* Operations by key; those of a capture that have become one are joined. */
static Groups
group_operations(Builder *builder)
{
	Groups groups = groups_new(builder->n);
	for (guint i = 0; i < builder->n; i++) {
		WpDigest *digest = builder->digests[i];
		const guint32 *roles = builder->comparison->roles->numbers[i];
		g_autofree guint32 *numbers = g_new(guint32, digest->operations->len + 1);
		for (guint k = 0; k < digest->operations->len; k++) {
			WpDigestOperation *operation = wp_digest_operation(digest, k);
			Key key = { roles[operation->client], roles[operation->node],
				    operation->label };
			gpointer *place = groups_at(&groups, &key, i);
			if (!*place) {
				*place = operation;
				numbers[k] = k;
				continue;
			}
			guint into = 0;
			while (wp_digest_operation(digest, into) != *place)
				into++;
			wp_digest_join(digest, into, k);
		}
	}
	return groups;
}

static Groups
group_parts(const Builder *builder, const Group *operation)
{
	Groups groups = groups_new(builder->n);
	for (guint i = 0; i < builder->n; i++) {
		const WpDigestOperation *own = operation->members[i];
		for (guint k = 0; own && k < own->parts->len; k++) {
			WpDigestPart *part = wp_digest_part(own, k);
			Key key = { 0, builder->comparison->roles->numbers[i][part->node],
				    part->label };
			*groups_at(&groups, &key, i) = part;
		}
	}
	return groups;
}

/* --- parts --- */

static guint
side_of(const Builder *builder, guint number)
{
	return number >= builder->n_before;
}

static gboolean
is_in_turn(const Builder *builder, guint32 role)
{
	guint n_seen = 0;
	for (guint i = 0; i < builder->n; i++) {
		const WpDigest *digest = builder->digests[i];
		for (guint k = 0; k < digest->nodes->len; k++) {
			if (builder->comparison->roles->numbers[i][k] != role)
				continue;
			n_seen++;
			if (!wp_digest_is_in_turn(&g_array_index(digest->nodes, WpDigestNode, k)))
				return FALSE;
		}
	}
	return n_seen > 0;
}

static void
sum_part(const Builder *builder, const Group *group, WpComparedPart *part)
{
	double self_ns[2] = { 0, 0 }, timed[2] = { 0, 0 };
	guint64 waits = 0;
	for (guint i = 0; i < builder->n; i++) {
		const WpDigestPart *own = group->members[i];
		guint side = side_of(builder, i);
		if (!own)
			continue;
		part->calls[side] += own->calls;
		waits += own->n_waits;
		part->link_doubt += (double)own->calls - (double)own->link_odds / WP_DIGEST_ODDS;
		timed[side] += (double)own->n_timed;
		for (guint k = 0; k < own->sums->len; k++)
			self_ns[side] += (double)g_array_index(own->sums, WpDigestSums, k).self_ns;
	}
	guint64 calls = part->calls[0] + part->calls[1];
	part->waits = waits * 2 > calls;
	part->link_doubt = calls ? CLAMP(part->link_doubt / (double)calls, 0, 1) : 0;
	for (guint side = 0; side < 2; side++)
		part->self_ns[side] = timed[side] > 0 ? self_ns[side] / timed[side] : 0;
}

/* Self time of PART in a request, on a side. */
static double
self_a_request(const WpComparedPart *part, guint side)
{
	return part->self_ns[side] * part->calls_a_request[side];
}

static void
finish_part(const WpComparedOperation *operation, WpComparedPart *part)
{
	for (guint side = 0; side < 2; side++)
		if (operation->requests[side])
			part->calls_a_request[side] =
				(double)part->calls[side] / (double)operation->requests[side];
	part->contribution_ns = (self_a_request(part, 1) - self_a_request(part, 0)) *
				(double)operation->requests[1];
}

static void
add_test(const WpCaptures *captures, WpComparedPart *part, WpTestKind kind)
{
	WpShift shift = wp_compare_measure(captures, kind, part->in_turn);
	wp_test_init(&part->tests[kind], kind, &shift);
}

static gboolean
matters(const WpComparedOperation *operation, const WpComparedPart *part)
{
	for (guint side = 0; side < 2; side++)
		if (self_a_request(part, side) > MIN_PART_SHARE * operation->mean_ns[side])
			return TRUE;
	return FALSE;
}

static WpCaptures
captures_of(const Builder *builder, const Group *operation, const Group *part)
{
	return (WpCaptures){ (WpDigestOperation *const *)operation->members,
			     part ? (WpDigestPart *const *)part->members : NULL, builder->n,
			     builder->n_before };
}

static gboolean
has_network(const WpCaptures *captures)
{
	for (guint i = 0; i < captures->n; i++) {
		const WpDigestPart *part = captures->parts[i];
		for (guint k = 0; part && k < part->sums->len; k++)
			if (g_array_index(part->sums, WpDigestSums, k).network_ns)
				return TRUE;
	}
	return FALSE;
}

/* Tests of PART; the root's calls are the requests. */
static void
test_part(const Builder *builder, const Group *operation_group, const Group *group,
	  const WpComparedOperation *operation, WpComparedPart *part)
{
	WpCaptures captures = captures_of(builder, operation_group, group);
	gboolean is_root = part == operation->parts;
	if (!is_root)
		add_test(&captures, part, WP_TEST_CALLS);
	if (part->waits || !matters(operation, part) || !part->calls[0] || !part->calls[1])
		return;
	part->in_turn = is_in_turn(builder, part->role);
	wp_compare_split(&captures, part);
	add_test(&captures, part, WP_TEST_WORK);
	add_test(&captures, part, WP_TEST_SELF);
	part->tests[WP_TEST_SELF].is_gated = TRUE;
	if (has_network(&captures))
		add_test(&captures, part, WP_TEST_NETWORK);
}

/*
 * A wrong link moves time from one part to another. So a part may seem to have changed by that share of what another
 * one of the operation has, and by as much as the share itself differs.
 */
static void
allow_for_links(WpComparedOperation *operation)
{
	double doubt = 0;
	for (guint32 i = 0; i < operation->n_parts; i++)
		doubt = MAX(doubt, operation->parts[i].link_doubt);
	for (guint32 i = 0; i < operation->n_parts; i++) {
		WpComparedPart *part = &operation->parts[i];
		double most = 0, own = MIN(self_a_request(part, 0), self_a_request(part, 1));
		for (guint32 k = 0; k < operation->n_parts; k++)
			if (k != i)
				most = MAX(most, fabs(self_a_request(&operation->parts[k], 1) -
						      self_a_request(&operation->parts[k], 0)));
		for (WpTestKind kind = 0; kind < WP_N_TESTS; kind++) {
			WpTest *test = &part->tests[kind];
			if (!test->is_tested || kind == WP_TEST_NETWORK || !(own > 0))
				continue;
			if (kind != WP_TEST_CALLS) {
				test->shift.link_error = log1p(doubt * most / own);
				wp_test_init(test, kind, &test->shift);
				test->is_gated = kind == WP_TEST_SELF;
			}
		}
	}
}

static int
compare_parts(const void *a, const void *b)
{
	const WpComparedPart *left = a, *right = b;
	double l = fabs(left->contribution_ns), r = fabs(right->contribution_ns);
	if (l != r)
		return l > r ? -1 : 1;
	if (left->role != right->role)
		return left->role < right->role ? -1 : 1;
	return strcmp(left->label, right->label);
}

static gboolean
is_root_of(const WpComparedOperation *operation, const Key *key)
{
	return key->role == operation->role && strcmp(key->label, operation->label) == 0;
}

static void
fill_parts(Builder *builder, const Group *group, WpComparedOperation *operation)
{
	g_auto(Groups) parts = group_parts(builder, group);
	guint32 n = operation->n_parts = parts.groups->len;
	operation->parts = g_new0(WpComparedPart, n + 1);
	g_autofree const Group **order = g_new0(const Group *, n + 1);
	/* The own call first; a result that was written by hand may lack it. */
	guint32 at = 0;
	for (guint pass = 0; pass < 2; pass++)
		for (guint32 i = 0; i < n; i++) {
			const Group *own = parts.groups->pdata[i];
			if (is_root_of(operation, &own->key) == (pass == 0))
				order[at++] = own;
		}
	for (guint32 i = 0; i < n; i++) {
		WpComparedPart *part = &operation->parts[i];
		part->role = order[i]->key.role;
		part->label = order[i]->key.label;
		sum_part(builder, order[i], part);
		finish_part(operation, part);
	}
	if (operation->latency.is_tested) {
		for (guint32 i = 0; i < n; i++)
			test_part(builder, group, order[i], operation, &operation->parts[i]);
		allow_for_links(operation);
	}
	if (n > 1)
		qsort(operation->parts + 1, n - 1, sizeof *operation->parts, compare_parts);
}

/* --- operations --- */

/* (transfer full) Latencies of one side. */
static GArray *
join_bins(const Builder *builder, const Group *group, guint side)
{
	GArray *bins = g_array_new(FALSE, FALSE, sizeof(WpDigestBin));
	for (guint i = 0; i < builder->n; i++) {
		const WpDigestOperation *own = group->members[i];
		if (own && side_of(builder, i) == side)
			wp_digest_join_bins(bins, own->bins);
	}
	return bins;
}

static double
quantile(const GArray *bins, double share)
{
	guint64 count = 0, seen = 0;
	for (guint i = 0; i < bins->len; i++)
		count += g_array_index(bins, WpDigestBin, i).count;
	guint64 rank = MAX((guint64)ceil(share * (double)count), 1);
	for (guint i = 0; i < bins->len; i++) {
		const WpDigestBin *bin = &g_array_index(bins, WpDigestBin, i);
		seen += bin->count;
		if (seen >= rank)
			return ((double)bin->low_ns + (double)bin->high_ns) / 2;
	}
	return 0;
}

static void
sum_operation(Builder *builder, const Group *group, WpComparedOperation *operation)
{
	double total_ns[2] = { 0, 0 };
	for (guint i = 0; i < builder->n; i++) {
		const WpDigestOperation *own = group->members[i];
		guint side = side_of(builder, i);
		if (!own)
			continue;
		operation->is_background |= own->is_background;
		operation->requests[side] += own->count;
		operation->errors[side] += (double)own->errors;
		for (guint k = 0; k < own->blocks->len; k++)
			total_ns[side] +=
				(double)g_array_index(own->blocks, WpDigestBlock, k).latency_ns;
	}
	for (guint side = 0; side < 2; side++) {
		double n = (double)MAX(operation->requests[side], 1);
		operation->mean_ns[side] = total_ns[side] / n;
		operation->errors[side] /= n;
		operation->bins[side] = join_bins(builder, group, side);
		operation->p50_ns[side] = quantile(operation->bins[side], 0.5);
		operation->p95_ns[side] = quantile(operation->bins[side], 0.95);
		operation->p99_ns[side] = quantile(operation->bins[side], 0.99);
		if (!operation->is_background) {
			builder->total_ns[side] += total_ns[side];
			builder->requests[side] += operation->requests[side];
		}
	}
	operation->contribution_ns =
		(operation->mean_ns[1] - operation->mean_ns[0]) * (double)operation->requests[1];
}

static gboolean
is_worth_testing(const Builder *builder, const WpComparedOperation *operation)
{
	if (operation->is_background || !operation->requests[0] || !operation->requests[1])
		return FALSE;
	for (guint side = 0; side < 2; side++)
		if (operation->mean_ns[side] * (double)operation->requests[side] >
		    MIN_OPERATION_SHARE * builder->total_ns[side])
			return TRUE;
	return FALSE;
}

/* An operation that is on one side only: likely to be so by chance? Requests come in flocks of about three. */
#define FLOCK 3

static void
test_presence(const Builder *builder, WpComparedOperation *operation)
{
	guint there = operation->requests[0] ? 0 : 1;
	double expected = (double)operation->requests[there] * (double)builder->requests[!there] /
			  (double)MAX(builder->requests[there], 1);
	operation->latency =
		(WpTest){ .kind = WP_TEST_CALLS,
			  .is_tested = TRUE,
			  .weight = 1,
			  .chance = exp(-expected / FLOCK),
			  .shift = { .scale = WP_SHIFT_DIFFERENCE,
				     .before = operation->share[0],
				     .after = operation->share[1],
				     .change = operation->share[1] - operation->share[0],
				     .error = INFINITY,
				     .df = 1 } };
	operation->latency.change = operation->latency.shift.change;
}

static void
add_family(Builder *builder, WpComparedOperation *operation)
{
	if (operation->latency.is_tested)
		g_ptr_array_add(builder->tests, &operation->latency);
	for (guint32 i = 0; i < operation->n_parts; i++)
		for (WpTestKind kind = 0; kind < WP_N_TESTS; kind++) {
			WpTest *test = &operation->parts[i].tests[kind];
			if (test->is_tested && !test->is_gated)
				g_ptr_array_add(builder->tests, test);
		}
}

/*
 * The risk goes where the time is: a change of what takes little matters little. Calls have their even share of it. Of
 * the rest this share is given evenly as well, so that what takes hardly any time can be seen to change ...
 */
#define EVEN_SHARE 0.1

/* ... and a latency counts so much of the time of its parts: it says where to look, they say what has changed. */
#define LATENCY_SHARE 0.2

/* Tests of times: their number, and the time that each is about, added up. */
typedef struct {
	guint n;
	double time_ns;
} Weights;

static void
weigh(WpTest *test, double time_ns, Weights *weights, gboolean is_known)
{
	if (!test->is_tested || test->kind == WP_TEST_CALLS)
		return;
	if (is_known && weights->time_ns > 0) {
		test->weight =
			EVEN_SHARE + (1 - EVEN_SHARE) * weights->n * time_ns / weights->time_ns;
	} else if (!is_known && !test->is_gated) {
		weights->n++;
		weights->time_ns += time_ns;
	}
}

static void
weigh_operation(WpComparedOperation *operation, Weights *weights, gboolean is_known)
{
	double all_ns = 0;
	for (guint32 i = 0; i < operation->n_parts; i++) {
		WpComparedPart *part = &operation->parts[i];
		double own_ns = self_a_request(part, 0) * (double)operation->requests[0] +
				self_a_request(part, 1) * (double)operation->requests[1];
		all_ns += own_ns;
		for (WpTestKind kind = 0; kind < WP_N_TESTS; kind++)
			weigh(&part->tests[kind], own_ns, weights, is_known);
	}
	weigh(&operation->latency, LATENCY_SHARE * all_ns, weights, is_known);
}

/* Weights of all tests: those of times are 1 on average. */
static void
weigh_tests(WpComparison *comparison)
{
	Weights weights = { 0, 0 };
	for (guint pass = 0; pass < 2; pass++)
		for (guint32 i = 0; i < comparison->n_operations; i++)
			weigh_operation(&comparison->operations[i], &weights, pass == 1);
}

/* Where the latency has changed, self times are looked at as well: a family of its own, as it is asked for by that. */
static void
judge_gated(WpComparedOperation *operation, const WpCompareOptions *options)
{
	g_autoptr(GPtrArray) tests = g_ptr_array_new();
	for (guint32 i = 0; i < operation->n_parts; i++) {
		WpTest *test = &operation->parts[i].tests[WP_TEST_SELF];
		if (operation->latency.verdict != WP_VERDICT_CHANGED)
			test->is_tested = FALSE;
		if (test->is_tested)
			g_ptr_array_add(tests, test);
	}
	wp_tests_judge((WpTest *const *)(void *)tests->pdata, tests->len, options);
}

static void
judge_operation(WpComparedOperation *operation, const WpCompareOptions *options)
{
	judge_gated(operation, options);
	operation->verdict =
		operation->latency.is_tested ? operation->latency.verdict : WP_VERDICT_SAME;
	for (guint32 i = 0; i < operation->n_parts; i++)
		for (WpTestKind kind = 0; kind < WP_N_TESTS; kind++) {
			const WpTest *test = &operation->parts[i].tests[kind];
			if (test->is_tested && test->verdict == WP_VERDICT_CHANGED)
				operation->verdict = WP_VERDICT_CHANGED;
			operation->is_worse |= test->is_tested && wp_test_is_worse(test);
		}
}

static int
compare_operations(const void *a, const void *b)
{
	const WpComparedOperation *left = a, *right = b;
	if (left->is_background != right->is_background)
		return left->is_background ? 1 : -1;
	gboolean l = left->verdict == WP_VERDICT_CHANGED, r = right->verdict == WP_VERDICT_CHANGED;
	if (l != r)
		return l ? -1 : 1;
	double x = fabs(left->contribution_ns), y = fabs(right->contribution_ns);
	if (x != y)
		return x > y ? -1 : 1;
	if (left->role != right->role)
		return left->role < right->role ? -1 : 1;
	int order = strcmp(left->label, right->label);
	return order ? order : (left->client > right->client) - (left->client < right->client);
}

static void
fill_operations(Builder *builder)
{
	WpComparison *comparison = builder->comparison;
	g_auto(Groups) groups = group_operations(builder);
	guint32 n = comparison->n_operations = groups.groups->len;
	comparison->operations = g_new0(WpComparedOperation, n + 1);
	for (guint32 i = 0; i < n; i++) {
		const Group *group = groups.groups->pdata[i];
		WpComparedOperation *operation = &comparison->operations[i];
		operation->client = group->key.client;
		operation->role = group->key.role;
		operation->label = group->key.label;
		sum_operation(builder, group, operation);
	}
	for (guint32 i = 0; i < n; i++) {
		const Group *group = groups.groups->pdata[i];
		WpComparedOperation *operation = &comparison->operations[i];
		for (guint side = 0; side < 2; side++)
			operation->share[side] = (double)operation->requests[side] /
						 (double)MAX(builder->requests[side], 1);
		if (is_worth_testing(builder, operation)) {
			WpCaptures captures = captures_of(builder, group, NULL);
			WpShift shift = wp_compare_measure(&captures, WP_TEST_LATENCY, FALSE);
			wp_test_init(&operation->latency, WP_TEST_LATENCY, &shift);
			comparison->by_captures |= shift.by_captures;
		} else if (!operation->is_background &&
			   (!operation->requests[0] || !operation->requests[1])) {
			test_presence(builder, operation);
		}
		fill_parts(builder, group, operation);
		add_family(builder, operation);
	}
}

/* --- the whole --- */

static void
fill_sides(Builder *builder)
{
	WpComparison *comparison = builder->comparison;
	double lost[2] = { 0, 0 }, right[2] = { 0, 0 }, unmatched[2] = { 0, 0 };
	for (guint i = 0; i < builder->n; i++) {
		const WpDigestFacts *facts = &builder->digests[i]->facts;
		guint side = side_of(builder, i);
		WpComparedSide *own = &comparison->sides[side];
		own->n_captures++;
		own->requests += facts->n_requests;
		own->calls += facts->n_calls;
		own->length_ns += (double)facts->length_ns;
		own->is_partial |= facts->partial != NULL;
		own->options = facts->options;
		comparison->against[WP_AGAINST_OPTIONS] |=
			facts->n_requests && builder->digests[0]->facts.n_requests &&
			strcmp(facts->options, builder->digests[0]->facts.options) != 0;
		double packets =
			facts->loss == G_MAXUINT64 ? -1 : (double)facts->loss / WP_DIGEST_ODDS;
		lost[side] = MAX(lost[side], packets);
		right[side] += (double)facts->right / WP_DIGEST_ODDS * (double)facts->n_calls;
		unmatched[side] += (double)(facts->n_unpaired + facts->n_unseen);
	}
	for (guint side = 0; side < 2; side++) {
		WpComparedSide *own = &comparison->sides[side];
		double calls = (double)MAX(own->calls, 1);
		own->label = comparison->options.labels[side];
		own->rate = own->length_ns > 0 ? (double)own->requests / own->length_ns * 1e9 : 0;
		own->loss = lost[side];
		own->right = own->calls ? right[side] / calls : 1;
		own->unmatched = unmatched[side] / (calls + unmatched[side]);
	}
}

static void
check_comparable(WpComparison *comparison)
{
	const WpComparedSide *a = &comparison->sides[0], *b = &comparison->sides[1];
	gboolean *against = comparison->against;
	gboolean has_common = FALSE;

	for (guint32 i = 0; i < comparison->n_operations; i++) {
		const WpComparedOperation *operation = &comparison->operations[i];
		if (operation->is_background)
			continue;
		has_common |= operation->requests[0] && operation->requests[1];
		comparison->mix_shift += fabs(operation->share[1] - operation->share[0]) / 2;
	}
	against[WP_AGAINST_EMPTY] = !a->requests || !b->requests;
	against[WP_AGAINST_STRANGE] = !against[WP_AGAINST_EMPTY] && !has_common;
	if (against[WP_AGAINST_EMPTY])
		return;
	against[WP_AGAINST_RATE] = fabs(a->rate - b->rate) > MAX_RATE_SHIFT * MAX(a->rate, b->rate);
	against[WP_AGAINST_MIX] = comparison->mix_shift > MAX_MIX_SHIFT;
	against[WP_AGAINST_LOSS] =
		fabs(a->loss - b->loss) > MAX_LOSS_SHIFT || MAX(a->loss, b->loss) > MAX_LOSS;
	against[WP_AGAINST_UNMATCHED] = fabs(a->unmatched - b->unmatched) > MAX_UNMATCHED_SHIFT;
	against[WP_AGAINST_PARTIAL] = a->is_partial || b->is_partial;
	against[WP_AGAINST_LINKS] = MIN(a->right, b->right) < MIN_RIGHT;
	comparison->is_comparable = !against[WP_AGAINST_EMPTY] && !against[WP_AGAINST_STRANGE] &&
				    !against[WP_AGAINST_OPTIONS] && !against[WP_AGAINST_LOSS];
}

static void
judge_all(Builder *builder)
{
	WpComparison *comparison = builder->comparison;
	double unjudged_ns = 0, all_ns = 0;
	for (guint32 i = 0; i < comparison->n_operations; i++) {
		WpComparedOperation *operation = &comparison->operations[i];
		judge_operation(operation, &comparison->options);
		if (operation->verdict == WP_VERDICT_CHANGED)
			comparison->verdict = WP_VERDICT_CHANGED;
		double time_ns = operation->mean_ns[0] * (double)operation->requests[0] +
				 operation->mean_ns[1] * (double)operation->requests[1];
		comparison->is_worse |= operation->is_worse;
		if (operation->is_background)
			continue;
		all_ns += time_ns;
		if (operation->verdict == WP_VERDICT_INCONCLUSIVE)
			unjudged_ns += time_ns;
	}
	if (comparison->verdict != WP_VERDICT_CHANGED &&
	    (!(all_ns > 0) || unjudged_ns > MAX_UNJUDGED * all_ns || !comparison->is_comparable))
		comparison->verdict = WP_VERDICT_INCONCLUSIVE;
}

WpComparison *
wp_compare(WpDigest *const *digests, guint n, guint n_before, const WpCompareOptions *options)
{
	WpComparison *comparison = g_new0(WpComparison, 1);
	comparison->texts = g_string_chunk_new(256);
	g_autoptr(GPtrArray) tests = g_ptr_array_new();
	Builder builder = { .digests = digests,
			    .n = n,
			    .n_before = n_before,
			    .comparison = comparison,
			    .tests = tests };

	comparison->options = *options;
	comparison->roles = wp_roles_match(digests, n, n_before);
	wp_unify_labels(digests, n, comparison->roles);
	fill_sides(&builder);
	fill_operations(&builder);
	check_comparable(comparison);
	weigh_tests(comparison);
	comparison->n_tests = tests->len;
	wp_tests_judge((WpTest *const *)(void *)tests->pdata, tests->len, options);
	judge_all(&builder);
	wp_compare_find_kinds(comparison, digests, n, n_before);
	if (comparison->n_operations)
		qsort(comparison->operations, comparison->n_operations,
		      sizeof *comparison->operations, compare_operations);
	wp_compare_find_paths(comparison, digests, n, n_before);
	return comparison;
}

void
wp_comparison_free(WpComparison *comparison)
{
	if (!comparison)
		return;
	for (guint32 i = 0; i < comparison->n_operations; i++) {
		for (guint side = 0; side < 2; side++)
			g_array_unref(comparison->operations[i].bins[side]);
		g_free(comparison->operations[i].parts);
	}
	g_free(comparison->operations);
	for (guint32 i = 0; i < comparison->n_paths; i++)
		wp_compared_path_clear(&comparison->paths[i]);
	g_free(comparison->paths);
	g_free(comparison->kinds);
	wp_roles_free(comparison->roles);
	g_string_chunk_free(comparison->texts);
	g_free(comparison);
}
