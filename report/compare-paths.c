/* Paths on one side only. */
#include "report/compare-paths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PATHS 20
#define MAX_EDITS 6

/*
 * So many requests of the other side would have taken it, by its share here, or it is left out; and so many times those of
 * which the path is not known there (uncertain, or too rare to be kept), as it may be among them.
 */
#define MIN_EXPECTED 20
#define MIN_UNKNOWN  2

/* One chain in a path. */
typedef struct {
	guint32 number; /* the same for the same chain */
	guint32 caller; /* role; of the first its own */
	guint32 role;
	const char *label;
	guint count;
} Chain;

/* A path of one operation, of all captures. */
typedef struct {
	GArray *chains; /* Chain, by number */
	guint64 counts[2];
} Path;

typedef struct {
	WpComparison *comparison;
	WpDigest *const *digests;
	guint n;
	guint n_before;
	GHashTable *numbers; /* chain above, role and label -> number of a chain, from 1 */
} Finder;

static void
free_path(gpointer data)
{
	Path *path = data;
	g_array_unref(path->chains);
	g_free(path);
}

void
wp_compared_path_clear(WpComparedPath *path)
{
	g_free(path->edits);
}

static int
compare_chains(gconstpointer a, gconstpointer b)
{
	guint32 x = ((const Chain *)a)->number, y = ((const Chain *)b)->number;
	return (x > y) - (x < y);
}

/* Of the chain that goes on from the chain ABOVE (0: it begins) with a call of LABEL into ROLE. */
static guint32
number_of(const Finder *finder, guint32 above, guint32 role, const char *label)
{
	g_autofree char *key = g_strdup_printf("%u %u %s", above, role, label);
	guint32 number = GPOINTER_TO_UINT(g_hash_table_lookup(finder->numbers, key));

	if (!number) {
		number = g_hash_table_size(finder->numbers) + 1;
		g_hash_table_insert(finder->numbers, g_steal_pointer(&key),
				    GUINT_TO_POINTER(number));
	}
	return number;
}

/* (transfer full) The chains of PATTERN, equal ones once. */
static GArray *
chains_of(const Finder *finder, const WpDigestPattern *pattern, const guint32 *roles)
{
	GArray *chains = g_array_sized_new(FALSE, FALSE, sizeof(Chain), pattern->n_places);
	g_autofree guint32 *numbers = g_new(guint32, pattern->n_places + 1);
	guint n = 0;

	for (guint32 i = 0; i < pattern->n_places; i++) {
		const WpDigestPlace *place = &pattern->places[i];
		gboolean is_root = place->parent >= i;
		numbers[i] = number_of(finder, is_root ? 0 : numbers[place->parent],
				       roles[place->node], place->label);
		Chain chain = { numbers[i],
				roles[is_root ? place->node : pattern->places[place->parent].node],
				roles[place->node], place->label, 1 };
		g_array_append_val(chains, chain);
	}
	g_array_sort(chains, compare_chains);
	for (guint i = 0; i < chains->len; i++) {
		Chain *chain = &g_array_index(chains, Chain, i);
		Chain *last = n ? &g_array_index(chains, Chain, n - 1) : NULL;
		if (last && last->number == chain->number)
			last->count++;
		else
			g_array_index(chains, Chain, n++) = *chain;
	}
	g_array_set_size(chains, n);
	return chains;
}

/* (transfer full) The same for the same path. */
static char *
name_of(const GArray *chains)
{
	GString *name = g_string_new(NULL);
	for (guint i = 0; i < chains->len; i++) {
		const Chain *chain = &g_array_index(chains, Chain, i);
		g_string_append_printf(name, "%u:%u,", chain->number, chain->count);
	}
	return g_string_free(name, FALSE);
}

static gboolean
is_of(const Finder *finder, guint number, const WpDigestPattern *pattern,
      const WpComparedOperation *operation)
{
	const guint32 *roles = finder->comparison->roles->numbers[number];
	const WpDigestOperation *own =
		wp_digest_operation(finder->digests[number], pattern->operation);
	return roles[own->client] == operation->client && roles[own->node] == operation->role &&
	       strcmp(own->label, operation->label) == 0;
}

/* (transfer full) The paths of OPERATION, in the order in which they were met. */
static GPtrArray *
list_paths(const Finder *finder, const WpComparedOperation *operation)
{
	GPtrArray *paths = g_ptr_array_new_with_free_func(free_path);
	g_autoptr(GHashTable) by_name =
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (guint i = 0; i < finder->n; i++) {
		const WpDigest *digest = finder->digests[i];
		for (guint k = 0; k < digest->patterns->len; k++) {
			const WpDigestPattern *pattern =
				&g_array_index(digest->patterns, WpDigestPattern, k);
			if (!pattern->count || !is_of(finder, i, pattern, operation))
				continue;
			GArray *chains =
				chains_of(finder, pattern, finder->comparison->roles->numbers[i]);
			char *name = name_of(chains);
			Path *path = g_hash_table_lookup(by_name, name);
			if (path) {
				g_array_unref(chains);
				g_free(name);
			} else {
				path = g_new0(Path, 1);
				path->chains = chains;
				g_ptr_array_add(paths, path);
				g_hash_table_insert(by_name, name, path);
			}
			path->counts[i >= finder->n_before] += pattern->count;
		}
	}
	return paths;
}

typedef void (*EditFunc)(const Chain *from, const Chain *to, gpointer data);

/* Chains of FROM and TO that are not equally often in both; NULL = it is not there. */
static void
foreach_edit(const GArray *from, const GArray *to, EditFunc func, gpointer data)
{
	for (guint i = 0, k = 0; i < from->len || k < to->len;) {
		const Chain *a = i < from->len ? &g_array_index(from, Chain, i) : NULL;
		const Chain *b = k < to->len ? &g_array_index(to, Chain, k) : NULL;
		int order = !a ? 1 : !b ? -1 : compare_chains(a, b);
		if (order != 0 || a->count != b->count)
			func(order <= 0 ? a : NULL, order >= 0 ? b : NULL, data);
		i += order <= 0;
		k += order >= 0;
	}
}

static void
add_distance(const Chain *from, const Chain *to, gpointer data)
{
	int more = (int)(to ? to->count : 0) - (int)(from ? from->count : 0);
	*(guint *)data += (guint)abs(more);
}

/* The path of the other side that is nearest to PATH, of equals the most frequent; NULL: there is none. */
static const Path *
find_nearest(const GPtrArray *paths, const Path *path, guint side)
{
	const Path *best = NULL;
	guint least = G_MAXUINT;

	for (guint i = 0; i < paths->len; i++) {
		const Path *other = paths->pdata[i];
		guint distance = 0;
		if (!other->counts[!side])
			continue;
		foreach_edit(other->chains, path->chains, add_distance, &distance);
		if (distance < least ||
		    (distance == least && other->counts[!side] > best->counts[!side])) {
			best = other;
			least = distance;
		}
	}
	return best;
}

static gboolean
has_changed_calls(const WpComparedOperation *operation, const WpPathEdit *edit)
{
	for (guint32 i = 0; i < operation->n_parts; i++) {
		const WpComparedPart *part = &operation->parts[i];
		const WpTest *test = &part->tests[WP_TEST_CALLS];
		if (part->role == edit->role && strcmp(part->label, edit->label) == 0)
			return test->is_tested && test->verdict == WP_VERDICT_CHANGED;
	}
	return FALSE;
}

typedef struct {
	const WpComparedOperation *operation;
	WpComparedPath *path;
	gboolean is_sure;
} Edits;

static void
add_edit(const Chain *from, const Chain *to, gpointer data)
{
	Edits *edits = data;
	WpComparedPath *path = edits->path;
	const Chain *chain = to ? to : from;
	WpPathEdit edit = { chain->caller,
			    chain->role,
			    chain->label,
			    { from ? from->count : 0, to ? to->count : 0 } };

	edits->is_sure |= has_changed_calls(edits->operation, &edit);
	if (path->n_edits == MAX_EDITS) {
		path->n_edits_left++;
		return;
	}
	path->edits[path->n_edits++] = edit;
}

/* Could requests of SIDE take a path of SHARE without being seen? */
static gboolean
may_be_missed(const WpComparedOperation *operation, const GPtrArray *paths, guint side,
	      double share)
{
	double requests = (double)operation->requests[side], known = 0;
	for (guint i = 0; i < paths->len; i++)
		known += (double)((const Path *)paths->pdata[i])->counts[side];
	return share * requests < MAX(MIN_EXPECTED, MIN_UNKNOWN * (requests - known));
}

static void
check_path(const Finder *finder, const WpComparedOperation *operation, const GPtrArray *paths,
	   const Path *path, GArray *found)
{
	guint side = path->counts[0] == 0;
	double share = (double)path->counts[side] / (double)operation->requests[side];
	const Path *nearest = find_nearest(paths, path, side);
	WpComparedPath own = { .operation = (guint32)(operation - finder->comparison->operations),
			       .side = side,
			       .count = path->counts[side],
			       .share = share };
	Edits edits = { operation, &own, FALSE };

	if (path->counts[!side] || !nearest || may_be_missed(operation, paths, !side, share))
		return;
	own.nearest_share = (double)nearest->counts[!side] / (double)operation->requests[!side];
	own.edits = g_new0(WpPathEdit, MAX_EDITS);
	foreach_edit(nearest->chains, path->chains, add_edit, &edits);
	if (edits.is_sure)
		g_array_append_val(found, own);
	else
		wp_compared_path_clear(&own);
}

/* By operation as they stand, new ones first, then by share. */
static int
compare_paths(gconstpointer a, gconstpointer b)
{
	const WpComparedPath *x = a, *y = b;
	if (x->operation != y->operation)
		return x->operation < y->operation ? -1 : 1;
	if (x->side != y->side)
		return x->side > y->side ? -1 : 1;
	return (x->share < y->share) - (x->share > y->share);
}

void
wp_compare_find_paths(WpComparison *comparison, WpDigest *const *digests, guint n, guint n_before)
{
	g_autoptr(GHashTable) numbers =
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	const Finder finder = { comparison, digests, n, n_before, numbers };
	GArray *found = g_array_new(FALSE, FALSE, sizeof(WpComparedPath));

	for (guint32 i = 0; i < comparison->n_operations; i++) {
		const WpComparedOperation *operation = &comparison->operations[i];
		if (operation->verdict != WP_VERDICT_CHANGED || operation->is_background ||
		    !operation->requests[0] || !operation->requests[1])
			continue;
		g_autoptr(GPtrArray) paths = list_paths(&finder, operation);
		for (guint k = 0; k < paths->len; k++)
			check_path(&finder, operation, paths, paths->pdata[k], found);
	}
	g_array_sort(found, compare_paths);
	for (guint i = MAX_PATHS; i < found->len; i++)
		wp_compared_path_clear(&g_array_index(found, WpComparedPath, i));
	comparison->n_paths_left = found->len - MIN(found->len, MAX_PATHS);
	comparison->n_paths = MIN(found->len, MAX_PATHS);
	comparison->paths = (WpComparedPath *)(void *)g_array_free(found, FALSE);
}
