/*
 * Capture by capture: each node of it is scored against each role known so far, and the pairs are taken best first.
 * Scores go round a few times, as neighbours that go together speak for each other (in the manner of Melnik,
 * Garcia-Molina and Rahm, "Similarity Flooding", 2002).
 */
#include "report/roles.h"

#include <math.h>
#include <string.h>

/* What speaks for a pair, in points; 1 is the least that makes one. */
#define SAME_NAME       4.0 /* that somebody gave */
#define OTHER_NAME      -1.0
#define SAME_SERVICE    0.75
#define SAME_PROTOCOL   0.35 /* at another port */
#define OTHER_SERVICE   -1.0
#define SAME_LABELS     1.5
#define SAME_NEIGHBOURS 1.5
#define SAME_ADDRESS    0.1 /* decides only between equals, as does how much is asked of it */
#define SAME_VOLUME     0.1
#define ENOUGH          1.0

#define N_ROUNDS 3

/* Beyond so many pairs only names are compared. */
#define MAX_PAIRS 1000000

/* A node as it is compared. */
typedef struct {
	guint32 node; /* of the digest */
	const WpDigestNode *facts;
	GHashTable *labels; /* text -> calls (double *) */
	double length;      /* of them, as a vector */
	double share;       /* of the calls of its digest */
	GArray *callers;    /* Neighbour */
	GArray *callees;
} Item;

typedef struct {
	guint32 item;
	double share; /* of the calls on that side of the node */
} Neighbour;

/* What a digest looks like: its called nodes. */
typedef struct {
	GPtrArray *items;
	guint32 *by_node; /* item, or G_MAXUINT32 */
} Face;

static void
item_free(gpointer data)
{
	Item *item = data;
	g_hash_table_unref(item->labels);
	g_array_unref(item->callers);
	g_array_unref(item->callees);
	g_free(item);
}

static void
face_clear(Face *face)
{
	g_ptr_array_unref(face->items);
	g_free(face->by_node);
}

static void
add_labels(Face *face, const WpDigest *digest)
{
	for (guint i = 0; i < digest->operations->len; i++) {
		const WpDigestOperation *operation = wp_digest_operation(digest, i);
		for (guint k = 0; k < operation->parts->len; k++) {
			const WpDigestPart *part = wp_digest_part(operation, k);
			guint32 number = face->by_node[part->node];
			if (number == G_MAXUINT32)
				continue;
			Item *item = face->items->pdata[number];
			double *calls = g_hash_table_lookup(item->labels, part->label);
			if (!calls) {
				calls = g_new0(double, 1);
				g_hash_table_insert(item->labels, (gpointer)part->label, calls);
			}
			item->length -= *calls * *calls;
			*calls += (double)part->calls;
			item->length += *calls * *calls;
		}
	}
}

static void
add_neighbour(GArray *list, guint32 item, guint64 calls, guint64 of)
{
	Neighbour neighbour = { item, of ? (double)calls / (double)of : 0 };
	g_array_append_val(list, neighbour);
}

static Face
face_of(const WpDigest *digest)
{
	guint32 n = digest->nodes->len;
	Face face = { g_ptr_array_new_with_free_func(item_free), g_new(guint32, n + 1) };
	for (guint32 i = 0; i < n; i++) {
		const WpDigestNode *node = &g_array_index(digest->nodes, WpDigestNode, i);
		face.by_node[i] = G_MAXUINT32;
		if (!node->n_served)
			continue;
		face.by_node[i] = face.items->len;
		Item *item = g_new0(Item, 1);
		item->node = i;
		item->facts = node;
		item->labels = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
		item->share = (double)node->n_served / (double)MAX(digest->facts.n_calls, 1);
		item->callers = g_array_new(FALSE, FALSE, sizeof(Neighbour));
		item->callees = g_array_new(FALSE, FALSE, sizeof(Neighbour));
		g_ptr_array_add(face.items, item);
	}
	add_labels(&face, digest);
	for (guint i = 0; i < digest->edges->len; i++) {
		const WpDigestEdge *edge = &g_array_index(digest->edges, WpDigestEdge, i);
		guint32 from = face.by_node[edge->caller], to = face.by_node[edge->callee];
		if (to == G_MAXUINT32)
			continue;
		Item *callee = face.items->pdata[to];
		add_neighbour(callee->callers, from, edge->calls, callee->facts->n_served);
		if (from != G_MAXUINT32) {
			Item *caller = face.items->pdata[from];
			add_neighbour(caller->callees, to, edge->calls, caller->facts->n_sent);
		}
	}
	return face;
}

/* Cosine of what two nodes are called for. */
static double
like_labels(const Item *a, const Item *b)
{
	GHashTableIter iter;
	gpointer label, calls;
	double sum = 0;
	g_hash_table_iter_init(&iter, a->labels);
	while (g_hash_table_iter_next(&iter, &label, &calls)) {
		const double *other = g_hash_table_lookup(b->labels, label);
		if (other)
			sum += *(double *)calls * *other; /* whole numbers: in any order the same */
	}
	double length = sqrt(a->length) * sqrt(b->length);
	return length > 0 ? sum / length : 0;
}

/* "app@10.0.0.3" is an "app". */
static gboolean
is_same_name(const char *a, const char *b)
{
	gsize n = strcspn(a, "@"), m = strcspn(b, "@");
	return n == m && strncmp(a, b, n) == 0;
}

static double
like_services(const char *a, const char *b)
{
	if (strcmp(a, b) == 0)
		return SAME_SERVICE;
	const char *left = strchr(a, ' '), *right = strchr(b, ' ');
	return left && right && strcmp(left, right) == 0 ? SAME_PROTOCOL : OTHER_SERVICE;
}

/* What speaks for A and B being one, neighbours apart. */
static double
like_items(const Item *a, const Item *b)
{
	double points = like_services(a->facts->service, b->facts->service) +
			SAME_LABELS * like_labels(a, b);
	if (a->facts->is_named && b->facts->is_named)
		points += is_same_name(a->facts->name, b->facts->name) ? SAME_NAME : OTHER_NAME;
	if (strcmp(a->facts->name, b->facts->name) == 0)
		points += SAME_ADDRESS;
	double least = MIN(a->share, b->share), most = MAX(a->share, b->share);
	return points + (most > 0 ? SAME_VOLUME * least / most : 0);
}

/* How well the neighbours A go with those of the other: each with its best, by what it has to do. */
static double
like_neighbours(const GArray *a, const GArray *b, const double *scores, guint n_b)
{
	if (!a->len || !b->len)
		return a->len == b->len ? 1 : 0;
	double sum = 0;
	for (guint i = 0; i < a->len; i++) {
		const Neighbour *left = &g_array_index(a, Neighbour, i);
		double best = 0;
		for (guint k = 0; k < b->len; k++) {
			const Neighbour *right = &g_array_index(b, Neighbour, k);
			double score = 1; /* two clients */
			if (left->item != G_MAXUINT32 && right->item != G_MAXUINT32)
				score = CLAMP(scores[(gsize)left->item * n_b + right->item] / 2, 0,
					      1);
			else if (left->item != right->item)
				score = 0;
			best = MAX(best,
				   score * MIN(left->share, right->share) / MAX(left->share, 1e-9));
		}
		sum += left->share * best;
	}
	return sum;
}

typedef struct {
	double score;
	guint32 a;
	guint32 b;
} Pair;

static int
compare_pairs(gconstpointer x, gconstpointer y)
{
	const Pair *left = x, *right = y;
	if (left->score != right->score)
		return left->score > right->score ? -1 : 1;
	if (left->a != right->a)
		return left->a < right->a ? -1 : 1;
	return left->b < right->b ? -1 : left->b > right->b;
}

/* Scores of all pairs of an item of A and one of B. */
static double *
score(const Face *a, const Face *b)
{
	guint n = a->items->len, m = b->items->len;
	gsize n_pairs = (gsize)n * m;
	double *scores = g_new(double, n_pairs + 1);
	g_autofree double *own = g_new(double, n_pairs + 1);
	g_autofree double *old = g_new(double, n_pairs + 1);

	for (guint i = 0; i < n; i++)
		for (guint k = 0; k < m; k++)
			scores[(gsize)i * m + k] = own[(gsize)i * m + k] =
				like_items(a->items->pdata[i], b->items->pdata[k]);
	for (guint round = 0; round < N_ROUNDS && n_pairs <= MAX_PAIRS; round++) {
		memcpy(old, scores, n_pairs * sizeof *old);
		for (guint i = 0; i < n; i++)
			for (guint k = 0; k < m; k++) {
				const Item *x = a->items->pdata[i], *y = b->items->pdata[k];
				double near = like_neighbours(x->callers, y->callers, old, m) +
					      like_neighbours(x->callees, y->callees, old, m);
				scores[(gsize)i * m + k] =
					own[(gsize)i * m + k] + SAME_NEIGHBOURS * (near - 1) / 2;
			}
	}
	return scores;
}

/* For each item of B the item of A that it is, or G_MAXUINT32. */
static guint32 *
pair_faces(const Face *a, const Face *b)
{
	guint n = a->items->len, m = b->items->len;
	g_autofree double *scores = score(a, b);
	g_autoptr(GArray) pairs = g_array_new(FALSE, FALSE, sizeof(Pair));
	g_autofree gboolean *is_taken = g_new0(gboolean, n + 1);
	guint32 *found = g_new(guint32, m + 1);

	for (guint i = 0; i < n; i++)
		for (guint k = 0; k < m; k++) {
			Pair pair = { scores[(gsize)i * m + k], i, k };
			if (pair.score >= ENOUGH)
				g_array_append_val(pairs, pair);
		}
	g_array_sort(pairs, compare_pairs);
	for (guint k = 0; k < m; k++)
		found[k] = G_MAXUINT32;
	for (guint i = 0; i < pairs->len; i++) {
		const Pair *pair = &g_array_index(pairs, Pair, i);
		if (is_taken[pair->a] || found[pair->b] != G_MAXUINT32)
			continue;
		is_taken[pair->a] = TRUE;
		found[pair->b] = pair->a;
	}
	return found;
}

/* A role is compared as the last node that had it was: FACES has the face, and WHERE the item. */
typedef struct {
	guint digest;
	guint32 item;
} Seen;

static guint32
add_role(WpRoles *roles, GArray *seen)
{
	WpRole role = { { NULL, NULL } };
	Seen none = { 0, G_MAXUINT32 };
	g_array_append_val(roles->roles, role);
	g_array_append_val(seen, none);
	return roles->roles->len - 1;
}

static void
take_node(WpRoles *roles, guint digest, guint32 node, const char *name, guint32 role, guint side)
{
	WpRole *own = &g_array_index(roles->roles, WpRole, role);
	roles->numbers[digest][node] = role;
	if (role == WP_ROLE_CLIENT && own->names[side] && strcmp(own->names[side], name) != 0)
		own->names[side] = "client";
	else
		own->names[side] = name;
}

/* Roles of the nodes of one digest: those that nodes of earlier ones have, else new ones. */
static void
place_digest(WpRoles *roles, GArray *seen, WpDigest *const *digests, const Face *faces,
	     guint number, guint side)
{
	const Face *face = &faces[number];
	const WpDigest *digest = digests[number];
	guint32 n_nodes = digest->nodes->len;
	roles->numbers[number] = g_new0(guint32, n_nodes + 1);
	for (guint32 i = 0; i < n_nodes; i++)
		if (face->by_node[i] == G_MAXUINT32)
			take_node(roles, number, i,
				  g_array_index(digest->nodes, WpDigestNode, i).name,
				  WP_ROLE_CLIENT, side);
	g_autofree guint32 *given = g_new(guint32, face->items->len + 1);
	for (guint32 i = 0; i < face->items->len; i++)
		given[i] = G_MAXUINT32;
	/* The latest captures first: they are likest. */
	for (guint back = number; back-- > 0;) {
		g_autofree guint32 *found = pair_faces(&faces[back], face);
		for (guint32 i = 0; i < face->items->len; i++) {
			if (given[i] != G_MAXUINT32 || found[i] == G_MAXUINT32)
				continue;
			const Item *other = faces[back].items->pdata[found[i]];
			guint32 role = roles->numbers[back][other->node];
			Seen *last = &g_array_index(seen, Seen, role);
			if (last->digest == number && last->item != G_MAXUINT32)
				continue; /* another node here has it */
			*last = (Seen){ number, i };
			given[i] = role;
		}
	}
	for (guint32 i = 0; i < face->items->len; i++) {
		const Item *item = face->items->pdata[i];
		if (given[i] == G_MAXUINT32) {
			given[i] = add_role(roles, seen);
			g_array_index(seen, Seen, given[i]) = (Seen){ number, i };
		}
		take_node(roles, number, item->node, item->facts->name, given[i], side);
	}
}

WpRoles *
wp_roles_match(WpDigest *const *digests, guint n, guint n_before)
{
	WpRoles *roles = g_new0(WpRoles, 1);
	g_autoptr(GArray) seen = g_array_new(FALSE, FALSE, sizeof(Seen));
	g_autofree Face *faces = g_new0(Face, n + 1);

	roles->roles = g_array_new(FALSE, TRUE, sizeof(WpRole));
	roles->n_digests = n;
	roles->numbers = g_new0(guint32 *, n + 1);
	add_role(roles, seen);
	for (guint i = 0; i < n; i++)
		faces[i] = face_of(digests[i]);
	for (guint i = 0; i < n; i++)
		place_digest(roles, seen, digests, faces, i, i >= n_before);
	for (guint i = 0; i < n; i++)
		face_clear(&faces[i]);
	return roles;
}

void
wp_roles_free(WpRoles *roles)
{
	if (!roles)
		return;
	for (guint i = 0; i < roles->n_digests; i++)
		g_free(roles->numbers[i]);
	g_free(roles->numbers);
	g_array_unref(roles->roles);
	g_free(roles);
}

const char *
wp_role_name(const WpRoles *roles, guint32 number)
{
	const WpRole *role = &g_array_index(roles->roles, WpRole, number);
	return role->names[1] ? role->names[1] : role->names[0] ? role->names[0] : "client";
}
