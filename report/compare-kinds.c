#include "report/compare-kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Seldomer than this a request, a call is not worth a word. */
#define MIN_RATE 0.002

typedef struct {
	guint32 role;
	const char *label;
	guint64 calls[2];
	guint n_captures[2]; /* that have it */
	guint8 *stretches;   /* [captures][WP_DIGEST_BLOCKS]: it is there */
} Kind;

typedef struct {
	const WpComparison *comparison;
	WpDigest *const *digests;
	guint n;
	guint n_before;
	GHashTable *by_key; /* Kind -> itself */
	GPtrArray *all;     /* Kind */
} Finder;

static guint
kind_hash(gconstpointer data)
{
	const Kind *kind = data;
	return kind->role * 31 + g_str_hash(kind->label);
}

static gboolean
kind_equal(gconstpointer a, gconstpointer b)
{
	const Kind *left = a, *right = b;
	return left->role == right->role && strcmp(left->label, right->label) == 0;
}

static void
kind_free(gpointer data)
{
	Kind *kind = data;
	g_free(kind->stretches);
	g_free(kind);
}

static Kind *
kind_at(Finder *finder, guint32 role, const char *label)
{
	Kind key = { .role = role, .label = label };
	Kind *kind = g_hash_table_lookup(finder->by_key, &key);
	if (!kind) {
		kind = g_new(Kind, 1);
		*kind = key;
		kind->stretches = g_new0(guint8, (gsize)finder->n * WP_DIGEST_BLOCKS);
		g_ptr_array_add(finder->all, kind);
		g_hash_table_add(finder->by_key, kind);
	}
	return kind;
}

/* The blocks in which PART is there, as stretches of the capture. */
static void
mark(const WpDigest *digest, const WpDigestOperation *operation, const WpDigestPart *part,
     guint8 *stretches)
{
	double length = (double)MAX(digest->facts.length_ns, 1);
	guint n = MIN(part->sums->len, operation->blocks->len);
	for (guint i = 0; i < n; i++) {
		const WpDigestBlock *block = &g_array_index(operation->blocks, WpDigestBlock, i);
		double at = (double)block->begin_ns / length * WP_DIGEST_BLOCKS;
		if (g_array_index(part->sums, WpDigestSums, i).made)
			stretches[(guint)CLAMP(at, 0, WP_DIGEST_BLOCKS - 1)] = TRUE;
	}
}

static void
add_capture(Finder *finder, guint number)
{
	const WpDigest *digest = finder->digests[number];
	const guint32 *roles = finder->comparison->roles->numbers[number];
	guint side = number >= finder->n_before;
	g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
	for (guint i = 0; i < digest->operations->len; i++) {
		const WpDigestOperation *operation = wp_digest_operation(digest, i);
		for (guint k = 0; k < operation->parts->len; k++) {
			const WpDigestPart *part = wp_digest_part(operation, k);
			Kind *kind = kind_at(finder, roles[part->node], part->label);
			if (!part->calls)
				continue;
			kind->calls[side] += part->calls;
			kind->n_captures[side] += g_hash_table_add(seen, kind);
			mark(digest, operation, part,
			     kind->stretches + (gsize)number * WP_DIGEST_BLOCKS);
		}
	}
}

static guint
n_appearances(const Finder *finder, const Kind *kind)
{
	guint n = 0;
	for (gsize i = 0; i < (gsize)finder->n * WP_DIGEST_BLOCKS; i++)
		n += kind->stretches[i] && (i % WP_DIGEST_BLOCKS == 0 || !kind->stretches[i - 1]);
	return n;
}

/* TRUE where an operation has what is the same already, as a request or as a call that is new or gone in it. */
static gboolean
is_said(const WpComparison *comparison, const Kind *kind)
{
	for (guint32 i = 0; i < comparison->n_operations; i++) {
		const WpComparedOperation *operation = &comparison->operations[i];
		gboolean is_elsewhere = !operation->requests[0] || !operation->requests[1];
		for (guint32 k = 0; k < operation->n_parts; k++) {
			const WpComparedPart *part = &operation->parts[k];
			if (part->role != kind->role || strcmp(part->label, kind->label) != 0)
				continue;
			const WpTest *test = &part->tests[WP_TEST_CALLS];
			if (is_elsewhere || k == 0 ||
			    (test->is_tested && test->verdict == WP_VERDICT_CHANGED))
				return TRUE;
		}
	}
	return FALSE;
}

static int
compare_kinds(gconstpointer a, gconstpointer b)
{
	const WpComparedKind *left = a, *right = b;
	if (left->calls != right->calls)
		return left->calls > right->calls ? -1 : 1;
	if (left->role != right->role)
		return left->role < right->role ? -1 : 1;
	return strcmp(left->label, right->label);
}

/* What can be said of KIND; a chance of 1 where it is nothing. */
static WpComparedKind
judge(const Finder *finder, const Kind *kind)
{
	const WpComparison *comparison = finder->comparison;
	guint side = kind->calls[1] > 0;
	double requests = (double)comparison->sides[side].requests;
	double all = requests + (double)comparison->sides[!side].requests;
	WpComparedKind found = { .role = kind->role,
				 .label = kind->label,
				 .side = side,
				 .calls = kind->calls[side],
				 .chance = 1 };
	if (kind->calls[!side] || !(requests > 0) || !(all > requests) ||
	    kind->n_captures[side] < comparison->sides[side].n_captures)
		return found;
	found.calls_a_request = (double)found.calls / requests;
	if (found.calls_a_request >= MIN_RATE)
		found.chance = MIN(2 * pow(requests / all, n_appearances(finder, kind)), 1);
	return found;
}

void
wp_compare_find_kinds(WpComparison *comparison, WpDigest *const *digests, guint n, guint n_before)
{
	g_autoptr(GHashTable) by_key = g_hash_table_new(kind_hash, kind_equal);
	g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(kind_free);
	Finder finder = { comparison, digests, n, n_before, by_key, all };
	GArray *kinds = g_array_new(FALSE, FALSE, sizeof(WpComparedKind));
	for (guint i = 0; i < n; i++)
		add_capture(&finder, i);
	for (guint i = 0; i < all->len; i++) {
		const Kind *kind = all->pdata[i];
		WpComparedKind found = judge(&finder, kind);
		if (found.chance * all->len > comparison->options.risk * WP_KINDS_RISK ||
		    is_said(comparison, kind))
			continue;
		g_array_append_val(kinds, found);
		comparison->verdict = WP_VERDICT_CHANGED;
		comparison->is_worse |= found.side == 1;
	}
	g_array_sort(kinds, compare_kinds);
	comparison->n_kinds = kinds->len;
	comparison->kinds = (WpComparedKind *)(void *)g_array_free(kinds, FALSE);
}
