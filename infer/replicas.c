/*
 * Nodes with equal neighbours, found in rounds: once two are one, their neighbours may have become equal too.
 * Each round compares a node with the first of each group so far; groups never part again, as what was
 * equal stays equal when neighbours become one.
 */
#include "infer/replicas.h"

#include <stdlib.h>
#include <string.h>

#include "infer/map.h"

#define MAX_ROUNDS 4

/* A called node with more distinct neighbours and labels is compared all the same, one with none never. */
typedef struct {
	GArray *neighbours; /* guint64: side, service, node; sorted, each once */
	GArray *labels;     /* Label: sorted by key */
	guint64 n_calls;    /* of either side */
	gboolean is_called;
	gboolean is_known; /* there is a port, a protocol or a label */
} Profile;

typedef struct {
	guint64 key; /* side, label */
	guint64 count;
} Label;

typedef struct {
	const WpTrace *trace;
	const WpSpans *spans;
	guint32 n;
	Profile *profiles;
	guint32 *groups; /* by node: first of its group */
	WpMap *services; /* (protocol, port) -> number */
} Finder;

static guint64
side_key(gboolean is_callee, guint32 number)
{
	return (guint64)(is_callee != 0) << 63 | number;
}

static int
compare_keys(gconstpointer a, gconstpointer b)
{
	const guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;
	return x < y ? -1 : x > y;
}

/* Sorts KEYS and drops doubles. */
static void
make_set(GArray *keys)
{
	guint n = 0;

	g_array_sort(keys, compare_keys);
	for (guint i = 0; i < keys->len; i++)
		if (i == 0 ||
		    g_array_index(keys, guint64, i) != g_array_index(keys, guint64, n - 1))
			g_array_index(keys, guint64, n++) = g_array_index(keys, guint64, i);
	g_array_set_size(keys, n);
}

static void
count_label(Profile *profile, guint64 key)
{
	Label label = { key, 1 };
	profile->n_calls++;
	g_array_append_val(profile->labels, label);
}

/* One entry a label, with its count. */
static void
sum_labels(Profile *profile)
{
	GArray *labels = profile->labels;
	guint n = 0;

	g_array_sort(labels, compare_keys); /* the key is the first member */
	for (guint i = 0; i < labels->len; i++) {
		Label label = g_array_index(labels, Label, i);
		if (n && g_array_index(labels, Label, n - 1).key == label.key)
			g_array_index(labels, Label, n - 1).count += label.count;
		else
			g_array_index(labels, Label, n++) = label;
	}
	g_array_set_size(labels, n);
}

static void
study_labels(Finder *finder)
{
	const WpRecord *records = wp_trace_records(finder->trace);

	for (guint32 i = 0; i < finder->spans->n; i++) {
		const WpSpan *span = &finder->spans->spans[i];
		Profile *callee = &finder->profiles[span->callee];
		if (span->marks & WP_MARK_SETUP)
			continue;
		callee->is_called |= span->kind == WP_KIND_CALL;
		callee->is_known |=
			span->label || span->protocol || records[span->call_record].dst.port;
		count_label(callee, side_key(TRUE, span->label));
		count_label(&finder->profiles[span->caller], side_key(FALSE, span->label));
	}
	for (guint32 i = 0; i < finder->n; i++)
		sum_labels(&finder->profiles[i]);
}

/* Neighbours as the groups are now. */
static void
study_neighbours(Finder *finder)
{
	const WpRecord *records = wp_trace_records(finder->trace);

	for (guint32 i = 0; i < finder->n; i++)
		g_array_set_size(finder->profiles[i].neighbours, 0);
	for (guint32 i = 0; i < finder->spans->n; i++) {
		const WpSpan *span = &finder->spans->spans[i];
		if (span->marks & WP_MARK_SETUP)
			continue;
		guint32 port = records[span->call_record].dst.port;
		guint64 service = wp_map_number(finder->services, wp_map_key(span->protocol, port));
		guint64 in = side_key(TRUE, finder->groups[span->caller]) | service << 32;
		guint64 out = side_key(FALSE, finder->groups[span->callee]) | service << 32;
		g_array_append_val(finder->profiles[span->callee].neighbours, in);
		g_array_append_val(finder->profiles[span->caller].neighbours, out);
	}
	for (guint32 i = 0; i < finder->n; i++)
		make_set(finder->profiles[i].neighbours);
}

/* TRUE where every frequent label of ONE is met at OTHER. */
static gboolean
has_labels_of(const Profile *one, const Profile *other)
{
	guint k = 0;

	for (guint i = 0; i < one->labels->len; i++) {
		const Label *label = &g_array_index(one->labels, Label, i);
		if ((double)label->count < WP_REPLICAS_MIN_SHARE * (double)one->n_calls)
			continue;
		while (k < other->labels->len &&
		       g_array_index(other->labels, Label, k).key < label->key)
			k++;
		if (k == other->labels->len ||
		    g_array_index(other->labels, Label, k).key != label->key)
			return FALSE;
	}
	return TRUE;
}

gboolean
wp_replicas_have_one_stem(const char *one, const char *other)
{
	static const char digits[] = "0123456789";
	gsize length = strlen(one), its_length = strlen(other);

	while (length && strchr(digits, one[length - 1]))
		length--;
	while (its_length && strchr(digits, other[its_length - 1]))
		its_length--;
	return length && length == its_length && one[length] && other[length] &&
	       g_ascii_isalpha(one[0]) && strncmp(one, other, length) == 0;
}

/* Bare names say nothing, but where they are numbers of one name. */
static gboolean
may_be_one(const Finder *finder, guint32 one, guint32 other)
{
	WpNodes *nodes = wp_trace_nodes(finder->trace);

	return (finder->profiles[one].is_known && finder->profiles[other].is_known) ||
	       wp_replicas_have_one_stem(wp_nodes_key(nodes, one), wp_nodes_key(nodes, other));
}

static gboolean
are_alike(const Finder *finder, guint32 i, guint32 k)
{
	const Profile *one = &finder->profiles[i], *other = &finder->profiles[k];
	const GArray *a = one->neighbours, *b = other->neighbours;

	return may_be_one(finder, i, k) && a->len == b->len &&
	       memcmp(a->data, b->data, a->len * sizeof(guint64)) == 0 &&
	       has_labels_of(one, other) && has_labels_of(other, one);
}

/* One round; FALSE where no group grew. */
static gboolean
group(Finder *finder)
{
	g_autoptr(GArray) firsts = g_array_new(FALSE, FALSE, sizeof(guint32));
	gboolean has_grown = FALSE;

	study_neighbours(finder);
	for (guint32 i = 0; i < finder->n; i++) {
		const Profile *profile = &finder->profiles[i];
		if (!profile->is_called || finder->groups[i] != i)
			continue;
		guint k = 0;
		while (k < firsts->len && !are_alike(finder, g_array_index(firsts, guint32, k), i))
			k++;
		if (k == firsts->len) {
			g_array_append_val(firsts, i);
			continue;
		}
		has_grown = TRUE;
		for (guint32 node = 0; node < finder->n; node++)
			if (finder->groups[node] == i)
				finder->groups[node] = g_array_index(firsts, guint32, k);
	}
	return has_grown;
}

guint32 *
wp_replicas_find(const WpTrace *trace, const WpSpans *spans, guint32 n)
{
	g_autoptr(WpMap) services = wp_map_new();
	g_autofree Profile *profiles = g_new0(Profile, (gsize)n + 1);
	guint32 *groups = g_new(guint32, (gsize)n + 1);
	Finder finder = { trace, spans, n, profiles, groups, services };

	for (guint32 i = 0; i < n; i++) {
		groups[i] = i;
		profiles[i].neighbours = g_array_new(FALSE, FALSE, sizeof(guint64));
		profiles[i].labels = g_array_new(FALSE, FALSE, sizeof(Label));
	}
	study_labels(&finder);
	for (guint round = 0; round < MAX_ROUNDS && group(&finder); round++)
		;
	for (guint32 i = 0; i < n; i++) {
		g_array_unref(profiles[i].neighbours);
		g_array_unref(profiles[i].labels);
	}
	return groups;
}
