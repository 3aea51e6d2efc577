/*
 * Paths: from the messages of the roots on, what each vertex (an edge as it is met on a path) causes. Which
 * edges follow which is known; on which path a message is has to be learned, as several paths share edges:
 *
 *      client -> WS1 -> AUTH -> DB -> AUTH -> WS1        AUTH -> DB is on both: a message of it belongs
 *      client -> WS2 -> AUTH -> DB -> AUTH -> WS2        to each with some weight
 *
 * Followed by the weights alone, half of what comes back would go to the wrong web server: the paper's
 * ghosts. So for each vertex it is learned how often it causes which next one (expectation and maximisation,
 * as for causes): WS2's messages are explained by what WS2 began, once that is tried beside all others, and
 * what explains nothing that others do not explain better goes to 0 in a few passes.
 *
 * A pass goes over all messages in time. The weights of a message are known before those that it causes are
 * looked at; those of a vertex that is not followed yet count for all of its edge. Depth by depth; then a few
 * more passes over all.
 */
#include "infer/xcorr-model.h"

#include <math.h>
#include <string.h>

#include "infer/xcorr-spread.h"

/* Vertices that a message can be at: the likeliest. Weights in 1/65535, so that a message takes 16 bytes. */
#define N_LABELS 4
#define ONE      65535

/* Passes with a new depth, and in the end. */
#define PASSES_EACH 2
#define PASSES_LAST 8

/*
 * While learning, rarer vertices are dropped: of min_share, or of so few messages. Of many clients, each answer could be
 * for any one of them until it is learned for which.
 */
#define DROP       0.3
#define DROP_LEAST 0.02

/* Nothing is so sure that a message could not have come of itself: what no place explains is of none. */
#define LEAST_OWN 1e-6

/*
 * An edge is a root of its own where so many of its messages have no cause, of its own and of all. Answers are
 * none: they have a cause, whether it was found or not.
 */
#define ROOT_SHARE     0.5
#define ROOT_SHARE_ALL 0.01

typedef struct {
	guint16 vertex;
	guint16 weight;
} Label;

typedef struct {
	guint32 parent; /* or WP_NO_VERTEX */
	guint32 root;
	guint32 edge;
	guint32 depth;
	guint32 pair; /* by which the parent causes it */
	guint32 *
		children; /* by slot of the edge: vertex, or WP_NO_VERTEX; NULL: not followed yet */
	double q;         /* messages that one of the parent causes */
	double messages;  /* expected, of the last pass */
	double next;      /* of this one */
	gboolean is_dead;
	WpSpread *spread; /* delays, in the last pass */
} Vertex;

/* A place in an edge, for the merge by time. */
typedef struct {
	gint64 time_ns;
	guint32 edge;
	gsize at;
} Cursor;

typedef struct {
	guint32 vertex;
	double intensity;
} Place;

typedef struct {
	WpXcorrModel *model;
	GArray *vertices; /* Vertex */
	guint32 *slots;   /* by pair: its number among those of its IN */
	guint32 *n_slots; /* by edge */
	guint32 *roots;   /* by edge: vertex, or WP_NO_VERTEX */
	Label **labels;   /* by edge: N_LABELS for each message */
	GArray *places;   /* Place, of the message at hand */
	gboolean is_last;
	gboolean is_cut; /* there were more vertices than there is room for */
} Follower;

static Vertex *
vertex_at(const Follower *follower, guint32 i)
{
	return &g_array_index(follower->vertices, Vertex, i);
}

static guint32
add_vertex(Follower *follower, Vertex vertex)
{
	g_array_append_val(follower->vertices, vertex);
	return follower->vertices->len - 1;
}

static void
add_roots(Follower *follower)
{
	const WpXcorrModel *model = follower->model;
	const WpMessages *messages = model->messages;
	double duration = (double)(messages->end_ns - messages->begin_ns) + 1;
	for (guint32 i = 0; i < messages->n; i++) {
		const WpEdge *edge = &messages->edges[i];
		double own = model->uncaused[i] * duration;
		gboolean is_own = !edge->is_return && own > ROOT_SHARE * (double)edge->n &&
				  own > ROOT_SHARE_ALL * (double)messages->n_messages &&
				  model->first_pair[i] < model->first_pair[i + 1];
		follower->roots[i] = WP_NO_VERTEX;
		/* Half of the room is for what follows from them. */
		if (!edge->n || !(model->is_root[edge->sender] || is_own))
			continue;
		if (follower->vertices->len >= WP_XCORR_MAX_VERTICES / 2) {
			follower->is_cut = TRUE;
		} else {
			Vertex root = { .parent = WP_NO_VERTEX,
					.root = follower->vertices->len,
					.edge = i,
					.depth = 1,
					.messages = (double)edge->n };
			follower->roots[i] = add_vertex(follower, root);
		}
	}
}

/* --- a pass --- */

static void
add_place(Follower *follower, guint32 vertex, double intensity)
{
	for (guint i = 0; i < follower->places->len; i++) {
		Place *place = &g_array_index(follower->places, Place, i);
		if (place->vertex == vertex) {
			place->intensity += intensity;
			return;
		}
	}
	Place place = { vertex, intensity };
	g_array_append_val(follower->places, place);
}

/* What a cause of a message says of where that is; returns its whole share, as places have it. */
static double
add_cause(Follower *follower, const WpShare *cause, gint64 time, double weight, gboolean is_counted)
{
	const WpPair *pair = &g_array_index(follower->model->pairs, WpPair, cause->pair);
	const Label *labels = &follower->labels[pair->in][(gsize)cause->at * N_LABELS];
	gint64 lag = time - follower->model->messages->edges[pair->in].times_ns[cause->at];
	double sum = 0, rest = 1, share = (double)cause->share;
	for (guint k = 0; k < N_LABELS && labels[k].weight; k++) {
		const Vertex *vertex = vertex_at(follower, labels[k].vertex);
		double at = (double)labels[k].weight / ONE;
		if (!vertex->children)
			continue;
		rest -= at;
		guint32 child = vertex->children[follower->slots[cause->pair]];
		if (child == WP_NO_VERTEX)
			continue;
		Vertex *below = vertex_at(follower, child);
		double here = at * share * below->q / pair->mass;
		sum += here;
		if (!is_counted)
			add_place(follower, child, here);
		else if (below->spread)
			wp_spread_add(below->spread, lag, here * weight);
	}
	return sum + MAX(rest, 0) * share;
}

/*
 * All possible causes of the message at CURSOR. IS_COUNTED: their lags are, times WEIGHT, instead of their places.
 * OUT_OWN: how likely it has none.
 */
static double
add_causes(Follower *follower, const Cursor *cursor, double weight, gboolean is_counted,
	   double *out_own)
{
	const WpXcorrModel *model = follower->model;
	const guint32 *ends = model->shares_end[cursor->edge];
	double sum = 0, known = 0;
	for (guint32 i = ends && cursor->at ? ends[cursor->at - 1] : 0;
	     ends && i < ends[cursor->at]; i++) {
		const WpShare *cause = &g_array_index(model->shares[cursor->edge], WpShare, i);
		known += (double)cause->share;
		sum += add_cause(follower, cause, cursor->time_ns, weight, is_counted);
	}
	*out_own = MAX(1 - known, LEAST_OWN);
	return sum;
}

static int
compare_places(const void *a, const void *b)
{
	const Place *left = a, *right = b;
	if (left->intensity != right->intensity)
		return left->intensity > right->intensity ? -1 : 1;
	return (left->vertex > right->vertex) - (left->vertex < right->vertex);
}

/* Message AT of an edge: where it is. */
static void
label(Follower *follower, const Cursor *cursor)
{
	const WpXcorrModel *model = follower->model;
	const WpEdge *edge = &model->messages->edges[cursor->edge];
	Label *labels = &follower->labels[cursor->edge][cursor->at * N_LABELS];
	guint32 root = follower->roots[cursor->edge];
	if (root != WP_NO_VERTEX && model->is_root[edge->sender]) {
		labels[0] = (Label){ (guint16)root, ONE };
		vertex_at(follower, root)->next++;
		return;
	}
	g_array_set_size(follower->places, 0);
	double own, sum = add_causes(follower, cursor, 0, FALSE, &own);
	sum += own;
	if (root != WP_NO_VERTEX)
		add_place(follower, root, own);
	g_array_sort(follower->places, compare_places);
	for (guint i = 0; i < follower->places->len; i++) {
		const Place *place = &g_array_index(follower->places, Place, i);
		vertex_at(follower, place->vertex)->next += place->intensity / sum;
		if (i < N_LABELS)
			labels[i] = (Label){ (guint16)place->vertex,
					     (guint16)(place->intensity / sum * ONE + 0.5) };
	}
	for (guint i = follower->places->len; i < N_LABELS; i++)
		labels[i] = (Label){ 0 };
	if (follower->is_last && follower->places->len)
		add_causes(follower, cursor, 1 / sum, TRUE, &own);
}

static gboolean
is_before(const Cursor *a, const Cursor *b)
{
	return a->time_ns < b->time_ns || (a->time_ns == b->time_ns && a->edge < b->edge);
}

static void
sift_down(Cursor *heap, guint32 n, guint32 i)
{
	for (;;) {
		guint32 least = i;
		for (guint32 k = 2 * i + 1; k <= 2 * i + 2 && k < n; k++)
			if (is_before(&heap[k], &heap[least]))
				least = k;
		if (least == i)
			return;
		Cursor cursor = heap[i];
		heap[i] = heap[least];
		heap[least] = cursor;
		i = least;
	}
}

static void
run_pass(Follower *follower)
{
	const WpMessages *messages = follower->model->messages;
	g_autofree Cursor *heap = g_new(Cursor, MAX(messages->n, 1));
	guint32 n = 0;
	for (guint32 i = 0; i < messages->n; i++) {
		guint32 pairs = follower->model->first_pair[i + 1] - follower->model->first_pair[i];
		if (messages->edges[i].n && (pairs || follower->roots[i] != WP_NO_VERTEX))
			heap[n++] = (Cursor){ messages->edges[i].times_ns[0], i, 0 };
	}
	for (guint32 i = n; i-- > 0;)
		sift_down(heap, n, i);
	while (n) {
		const WpEdge *edge = &messages->edges[heap[0].edge];
		label(follower, &heap[0]);
		if (++heap[0].at < edge->n)
			heap[0].time_ns = edge->times_ns[heap[0].at];
		else
			heap[0] = heap[--n];
		sift_down(heap, n, 0);
	}
}

/* What was learned in a pass; drops those below so much of their root, or of fewer messages than LEAST. */
static void
learn(Follower *follower, double min_share, double least)
{
	for (guint32 i = 0; i < follower->vertices->len; i++) {
		Vertex *vertex = vertex_at(follower, i);
		vertex->messages = vertex->next;
		vertex->next = 0;
		if (vertex->parent == WP_NO_VERTEX)
			continue;
		Vertex *parent = vertex_at(follower, vertex->parent);
		vertex->q = parent->messages > 0 ? vertex->messages / parent->messages : 0;
		double root = vertex_at(follower, vertex->root)->messages;
		if (!vertex->is_dead && (parent->is_dead || vertex->messages < min_share * root ||
					 vertex->messages < least)) {
			vertex->is_dead = TRUE;
			parent->children[follower->slots[vertex->pair]] = WP_NO_VERTEX;
		}
	}
}

/* Follows all vertices of DEPTH. FALSE where there are none. */
static gboolean
follow(Follower *follower, guint32 depth)
{
	const WpXcorrModel *model = follower->model;
	guint32 n = follower->vertices->len;
	for (guint32 i = 0; i < n; i++) {
		if (vertex_at(follower, i)->depth != depth || vertex_at(follower, i)->is_dead)
			continue;
		guint32 edge = vertex_at(follower, i)->edge;
		guint32 *children = g_new(guint32, MAX(follower->n_slots[edge], 1));
		for (guint32 k = 0; k < follower->n_slots[edge]; k++)
			children[k] = WP_NO_VERTEX;
		vertex_at(follower, i)->children = children;
		for (guint32 p = 0; p < model->pairs->len; p++) {
			const WpPair *pair = &g_array_index(model->pairs, WpPair, p);
			if (pair->in != edge)
				continue;
			if (follower->vertices->len >= WP_XCORR_MAX_VERTICES) {
				follower->is_cut = TRUE;
				continue;
			}
			Vertex child = { .parent = i,
					 .root = vertex_at(follower, i)->root,
					 .edge = pair->out,
					 .depth = depth + 1,
					 .pair = p,
					 .q = pair->mass };
			children[follower->slots[p]] = add_vertex(follower, child);
		}
	}
	return follower->vertices->len > n;
}

/* --- the result --- */

static void
write_vertices(const Follower *follower, WpSpectra *spectra)
{
	const WpXcorrModel *model = follower->model;
	double quantum = (double)model->options->quantum_ns, tick = (double)model->tick_ns;
	g_autofree guint32 *numbers = g_new(guint32, MAX(follower->vertices->len, 1));
	for (guint32 i = 0; i < follower->vertices->len; i++) {
		const Vertex *from = vertex_at(follower, i);
		const WpEdge *edge = &model->messages->edges[from->edge];
		if (from->is_dead)
			continue;
		WpVertex to = { .parent = WP_NO_VERTEX,
				.depth = from->depth,
				.edge = from->edge,
				.sender = edge->sender,
				.receiver = edge->receiver,
				.messages = from->messages };
		if (from->parent != WP_NO_VERTEX) {
			const WpPair *pair = &g_array_index(model->pairs, WpPair, from->pair);
			to.parent = numbers[from->parent];
			to.spikes = wp_spread_spikes(from->spread, from->messages, tick, quantum,
						     &to.n_spikes);
			for (guint32 k = 0; k < to.n_spikes; k++)
				to.spikes[k].significance = pair->sds;
		}
		numbers[i] = wp_spectra_add(spectra, &to);
	}
}

static void
follower_init(Follower *follower, WpXcorrModel *model)
{
	const WpMessages *messages = model->messages;
	guint32 n = MAX(messages->n, 1);
	*follower = (Follower){
		.model = model,
		.vertices = g_array_new(FALSE, FALSE, sizeof(Vertex)),
		.slots = g_new(guint32, MAX(model->pairs->len, 1)),
		.n_slots = g_new0(guint32, n),
		.roots = g_new(guint32, n),
		.labels = g_new0(Label *, n),
		.places = g_array_new(FALSE, FALSE, sizeof(Place)),
	};
	for (guint32 p = 0; p < model->pairs->len; p++)
		follower->slots[p] = follower->n_slots[g_array_index(model->pairs, WpPair, p).in]++;
	for (guint32 i = 0; i < messages->n; i++)
		follower->labels[i] = g_new0(Label, messages->edges[i].n * N_LABELS);
}

static void
follower_clear(Follower *follower)
{
	for (guint32 i = 0; i < follower->vertices->len; i++) {
		g_free(vertex_at(follower, i)->children);
		wp_spread_free(vertex_at(follower, i)->spread);
	}
	for (guint32 i = 0; i < follower->model->messages->n; i++) {
		g_free(follower->labels[i]);
	}
	g_array_unref(follower->vertices);
	g_array_unref(follower->places);
	g_free(follower->slots);
	g_free(follower->n_slots);
	g_free(follower->roots);
	g_free(follower->labels);
}

void
wp_xcorr_follow(WpXcorrModel *model, WpSpectra *spectra)
{
	Follower follower;
	double min_share = model->options->min_share;
	follower_init(&follower, model);
	add_roots(&follower);
	for (guint32 depth = 1; depth < model->options->max_depth && !wp_xcorr_is_stopped(model);
	     depth++) {
		if (!follow(&follower, depth))
			break;
		for (int pass = 0; pass < PASSES_EACH; pass++) {
			run_pass(&follower);
			learn(&follower, DROP * min_share, DROP_LEAST);
		}
	}
	for (int pass = 0; pass < PASSES_LAST && !wp_xcorr_is_stopped(model); pass++) {
		run_pass(&follower);
		gboolean is_last = pass + 1 == PASSES_LAST;
		learn(&follower, is_last ? min_share : DROP * min_share, is_last ? 1 : DROP_LEAST);
	}
	for (guint32 i = 0; i < follower.vertices->len; i++) {
		Vertex *vertex = vertex_at(&follower, i);
		if (vertex->is_dead || vertex->parent == WP_NO_VERTEX)
			continue;
		const WpPair *pair = &g_array_index(model->pairs, WpPair, vertex->pair);
		vertex->spread = wp_spread_new(pair->min_ns, pair->max_ns);
	}
	follower.is_last = TRUE;
	run_pass(&follower);
	learn(&follower, 0, 0);
	write_vertices(&follower, spectra);
	if (follower.is_cut)
		wp_spectra_note(
			spectra,
			"Cut: paths were followed for %d of their edges; --filter, --root or "
			"a greater --min-share makes fewer.",
			WP_XCORR_MAX_VERTICES);
	follower_clear(&follower);
}
