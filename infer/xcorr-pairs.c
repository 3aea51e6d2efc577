/*
 * Which edges go together: for each edge into a node and each out of it, the correlation of counts at time
 * scales from a microsecond to the longest lag, each four times the one before, and a test of each place of
 * it. The test has to hold where rates drift, double and stop, and where traffic comes in bursts:
 *
 *      C    |            ___                      x = what is in the window - half of what is in the
 *           |         __|   |__                       two beside it
 *           |   _____|  |   |  |_____
 *           +-----------+---+-----------> lag     left | window | right, each as wide
 *
 * - Beside itself: rates that drift make C slope, but not rise at one lag; what lies left and right is the null.
 * - In blocks of time: x is added up a block at a time, over the root of all that was counted there, and
 *   z = sum x / sqrt(sum x^2) over the blocks. Without a cause x is as likely above 0 as below, so whatever its
 *   spread P(z > t) <= 3.18 P(a Gaussian > t) (Pinelis, "Extremal probabilistic problems and Hotelling's T^2
 *   test under a symmetry condition", Annals of Statistics 1994): bursts weigh little, and a coincidence
 *   of rates in one place is one block, however many messages it has.
 * - All of it counted: t is chosen so that all tests of the trace together find something by chance with a
 *   probability of at most false_share (Bonferroni), so that of the edges found no more are false.
 *   Not so at hosts that answer calls: see ANSWERING_SHARE.
 */
#include "infer/xcorr-model.h"

#include <math.h>
#include <string.h>

#include "infer/map.h"
#include "infer/signal.h"
#include "infer/xcorr-groups.h"

/* Bins of a scale: lags up to N_LAGS, windows up to MAX_WINDOW, and as much on either side. */
#define N_LAGS     64
#define MAX_WINDOW 16
#define BEFORE     (2 * MAX_WINDOW)
#define N_BINS     (BEFORE + N_LAGS + 2 * MAX_WINDOW)

/* Windows of 2, 4, 8, 16 bins. */
#define N_WIDTHS 4

/*
 * Lags that are less than this part of a window stand out at finer scales, if at all. Were they covered, a few messages
 * that come close to each other by accident would have a density there that no other has.
 */
#define LEAST_PART 64

/*
 * At a host that answers, what leaves has causes, and they are among the few messages that come to it: there a pair need not
 * stand out of all of the trace, but only so far that chance brings it there in this part of all pairs. What chance has brought
 * is no likelier a cause than the others, which take it as causes are learned (xcorr-causes.c); what had to be left out would be
 * given to these.
 */
#define ANSWERING_SHARE 0.02

/* A block of time is this many windows long, or the duration over MAX_BLOCKS. */
#define BLOCK_WINDOWS 4
#define MAX_BLOCKS    4096

/* The finest quantum: clocks of captures are rarely better. Then each scale four times the one before. */
#define FINEST_NS 1024
/* Ticks of a microsecond and less are beyond what it looks at. */
#define COARSE_NS  2000
#define SCALE_BITS 2

/* Pairs are looked for twice: among all messages, and among those that are left over. */
#define N_LOOKS 2

/* Messages that an edge must have for anything to stand out. */
#define MIN_MESSAGES 12

/* Pairs of edges of two groups that are looked at one by one, too. */
#define MAX_ALONE 256

/* So far beyond the threshold chance does not keep what is there from being seen. */
#define MARGIN_SDS 1

/* Bins of all densities: 128 MB, and as much for counts. */
#define MAX_DENSITY_BINS (1u << 24)

/* Sums over blocks, by width and lag. */
typedef struct {
	double sum[N_WIDTHS][N_LAGS];
	double excess[N_WIDTHS][N_LAGS]; /* the same, in messages */
	double squares[N_WIDTHS][N_LAGS];
	double turned[N_WIDTHS][MAX_WINDOW]; /* sum, against the same lags turned round */
	double turned_squares[N_WIDTHS][MAX_WINDOW];
} Sums;

typedef struct {
	WpXcorrModel *model;
	WpEdgeGroups *groups;
	guint32 n;   /* edges and groups of them */
	WpEdge *ins; /* as of messages, or some of theirs; joined */
	WpEdge *outs;
	WpEdge *whole;         /* as of messages; joined */
	WpMap *known;          /* (in, out) -> index into the model's pairs */
	guint64 n_bins;        /* of their densities */
	WpSignal **in_signals; /* by edge, at the present scale; made when asked for */
	WpSignal **out_signals;
	WpMap *answering; /* hosts that answer calls */
	gint64 quantum;
	gboolean is_finest;         /* of all quanta */
	double answering_threshold; /* standard deviations, as WpXcorrModel.threshold */
	Sums sums;
	double blocks[N_WIDTHS][N_BINS]; /* the present block, by width */
	gint64 block_of[N_WIDTHS];
} Finder;

static const WpSignal *
signal_of(const Finder *finder, const WpEdge *edges, WpSignal **signals, guint32 edge)
{
	if (!signals[edge])
		signals[edge] = wp_signal_new(edges[edge].times_ns, edges[edge].n,
					      finder->model->messages->begin_ns, finder->quantum);
	return signals[edge];
}

/* The block of WIDTH is over. */
static void
close_block(Finder *finder, int width)
{
	double *block = finder->blocks[width];
	double before[N_BINS + 1];
	int w = 2 << width;
	before[0] = 0;
	for (int i = 0; i < N_BINS; i++)
		before[i + 1] = before[i] + block[i];
	double weight = sqrt(before[N_BINS] - before[BEFORE - MAX_WINDOW]);
	if (weight > 0)
		for (int lag = 0; lag < N_LAGS; lag++) {
			int at = BEFORE + lag;
			double inside = before[at + w] - before[at];
			double beside =
				before[at] - before[at - w] + before[at + 2 * w] - before[at + w];
			double x = (inside - beside / 2) / weight;
			finder->sums.excess[width][lag] += x * weight;
			finder->sums.sum[width][lag] += x;
			finder->sums.squares[width][lag] += x * x;
			if (lag >= w)
				continue;
			at = BEFORE - lag;
			x = (inside - (before[at] - before[at - w])) / weight;
			finder->sums.turned[width][lag] += x;
			finder->sums.turned_squares[width][lag] += x * x;
		}
	memset(block, 0, sizeof finder->blocks[width]);
}

static gint64
block_bins(const Finder *finder, int width)
{
	const WpMessages *messages = finder->model->messages;
	gint64 duration = (messages->end_ns - messages->begin_ns) / finder->quantum + 1;
	return MAX((gint64)BLOCK_WINDOWS * (2 << width), duration / MAX_BLOCKS + 1);
}

/* Pairs of bins that are not empty, block by block. */
static void
correlate(Finder *finder, const WpSignal *a, const WpSignal *b)
{
	gsize low = 0;
	gint64 lengths[N_WIDTHS];
	memset(&finder->sums, 0, sizeof finder->sums);
	memset(finder->blocks, 0, sizeof finder->blocks);
	for (int width = 0; width < N_WIDTHS; width++) {
		lengths[width] = block_bins(finder, width);
		finder->block_of[width] = 0;
	}
	for (gsize i = 0; i < a->n; i++) {
		gint64 first = a->bins[i] - BEFORE, last = first + N_BINS - 1;
		for (int width = 0; width < N_WIDTHS; width++)
			if (a->bins[i] / lengths[width] != finder->block_of[width]) {
				close_block(finder, width);
				finder->block_of[width] = a->bins[i] / lengths[width];
			}
		while (low < b->n && b->bins[low] < first)
			low++;
		for (gsize j = low; j < b->n && b->bins[j] <= last; j++) {
			double pairs = (double)a->counts[i] * b->counts[j];
			for (int width = 0; width < N_WIDTHS; width++)
				finder->blocks[width][b->bins[j] - first] += pairs;
		}
	}
	for (int width = 0; width < N_WIDTHS; width++)
		close_block(finder, width);
}

/* Widens the pair to bins that hold lags FROM .. TO, with DENSITY at least, all of it in the window. */
static void
cover(WpPair *pair, gint64 from_ns, gint64 to_ns, double density)
{
	guint32 begin = wp_lag_bin(MAX(from_ns, 0)), end = wp_lag_bin(MAX(to_ns, 0)) + 1;
	if (!pair->n_bins) {
		pair->begin = begin;
		pair->n_bins = end - begin;
		pair->density = g_new0(double, pair->n_bins);
	} else if (begin < pair->begin || end > pair->begin + pair->n_bins) {
		guint32 low = MIN(begin, pair->begin);
		guint32 high = MAX(end, pair->begin + pair->n_bins);
		double *wider = g_new0(double, high - low);
		memcpy(wider + (pair->begin - low), pair->density, pair->n_bins * sizeof *wider);
		g_free(pair->density);
		pair->density = wider;
		pair->begin = low;
		pair->n_bins = high - low;
	}
	for (guint32 bin = begin; bin < end; bin++)
		pair->density[bin - pair->begin] = MAX(pair->density[bin - pair->begin], density);
}

/*
 * Rates that change together are as much so whichever of the two is the later: at no lag they have a peak, which is no
 * slope. An effect is only ever later than its cause.
 */
static double
z_turned(const Sums *sums, int width, gint64 lag)
{
	double squares = sums->turned_squares[width][lag];
	return squares > 0 ? sums->turned[width][lag] / sqrt(squares) : 0;
}

/* What stands out at the present scale. The support is a window wider on either side. */
static void
take_windows(Finder *finder, WpPair *pair)
{
	double messages = (double)finder->ins[pair->in].n;
	guint32 host = finder->outs[pair->out].sender_host;
	double threshold = wp_map_find(finder->answering, host) != WP_MAP_NONE
				   ? finder->answering_threshold
				   : finder->model->threshold;
	gint64 q = finder->quantum;
	for (int width = 0; width < N_WIDTHS; width++)
		for (gint64 lag = 0; lag < N_LAGS; lag++) {
			gint64 w = 2 << width;
			double sum = finder->sums.sum[width][lag];
			double squares = finder->sums.squares[width][lag];
			double z = squares > 0 ? sum / sqrt(squares) : 0;
			if (lag < w)
				z = MIN(z, z_turned(&finder->sums, width, lag));
			if (z < threshold || lag * q > finder->model->max_lag_ns)
				continue;
			if (wp_xcorr_is_clockwork(&finder->whole[pair->in],
						  &finder->whole[pair->out], lag * q,
						  (lag + w) * q)) {
				pair->is_periodic = TRUE;
				continue;
			}
			double density =
				finder->sums.excess[width][lag] / messages / (double)(w * q);
			gint64 least = finder->is_finest ? 0 : w * q / LEAST_PART;
			cover(pair, MAX((lag - w) * q, MAX(lag * q / 8, least)), (lag + 2 * w) * q,
			      density / 16);
			cover(pair, MAX(lag * q, least), (lag + w) * q, density);
			pair->sds = MAX(pair->sds, z);
		}
}

static void
drop_signals(Finder *finder)
{
	for (guint32 i = 0; i < finder->n; i++)
		g_clear_pointer(&finder->in_signals[i], wp_signal_free);
	for (guint32 i = 0; i < finder->n; i++)
		g_clear_pointer(&finder->out_signals[i], wp_signal_free);
}

/* --- which pairs are looked at --- */

/*
 * Of the edges of two groups, the pairs that are looked at one by one, too: all of a few; of many, what goes back to
 * where it came from.
 */
static gboolean
is_alone(const Finder *finder, guint32 in, guint32 out)
{
	guint32 n_in, n_out;
	wp_edge_groups_members(finder->groups, &finder->groups->group_of[in], &n_in);
	wp_edge_groups_members(finder->groups, &finder->groups->group_of[out], &n_out);
	return (guint64)n_in * n_out <= MAX_ALONE ||
	       finder->ins[in].sender == finder->outs[out].receiver;
}

/* Edges of a group together and others, or both one by one where they are of groups. */
static gboolean
is_candidate(const Finder *finder, guint32 in, guint32 out)
{
	gboolean is_in_whole = finder->groups->group_of[in] == in;
	gboolean is_out_whole = finder->groups->group_of[out] == out;
	if (is_in_whole && is_out_whole)
		return TRUE;
	return in < finder->groups->n_edges && out < finder->groups->n_edges &&
	       is_alone(finder, in, out);
}

/* Pairs that are known have been looked at; of groups, where all of their pairs are. */
static gboolean
is_known(const Finder *finder, guint32 in, guint32 out)
{
	guint32 n_in, n_out;
	const guint32 *ins = wp_edge_groups_members(finder->groups, &in, &n_in);
	const guint32 *outs = wp_edge_groups_members(finder->groups, &out, &n_out);
	for (guint32 o = 0; o < n_out; o++)
		for (guint32 i = 0; i < n_in; i++)
			if (is_alone(finder, ins[i], outs[o]) &&
			    wp_map_find(finder->known, wp_map_key(ins[i], outs[o])) == WP_MAP_NONE)
				return FALSE;
	return TRUE;
}

static int
compare_receivers(gconstpointer a, gconstpointer b, gpointer data)
{
	guint32 i = *(const guint32 *)a, k = *(const guint32 *)b;
	const WpEdge *ins = data;
	if (ins[i].receiver_host != ins[k].receiver_host)
		return ins[i].receiver_host < ins[k].receiver_host ? -1 : 1;
	return (i > k) - (i < k);
}

/* (transfer full) Those of INS of which something may stand out, by the host that they come to. */
static guint32 *
sort_ins(const Finder *finder, guint32 *out_n)
{
	guint32 *order = g_new(guint32, MAX(finder->n, 1));
	*out_n = 0;
	for (guint32 i = 0; i < finder->n; i++)
		if (finder->ins[i].n >= MIN_MESSAGES)
			order[(*out_n)++] = i;
	if (*out_n)
		g_qsort_with_data(order, (gint)*out_n, sizeof *order, compare_receivers,
				  finder->ins);
	return order;
}

/* Of so few messages nothing can stand out, and what roots send has no causes. (transfer full) */
static GArray *
list_candidates(const Finder *finder)
{
	const WpXcorrModel *model = finder->model;
	GArray *pairs = g_array_new(FALSE, FALSE, sizeof(WpPair));
	guint32 n;
	g_autofree guint32 *ins = sort_ins(finder, &n);
	for (guint32 o = 0; o < finder->n && !wp_xcorr_is_stopped(model); o++) {
		const WpEdge *out = &finder->outs[o];
		if (out->n < MIN_MESSAGES || model->is_root[out->sender])
			continue;
		guint32 low = 0, high = n;
		while (low < high) {
			guint32 middle = low + (high - low) / 2;
			if (finder->ins[ins[middle]].receiver_host < out->sender_host)
				low = middle + 1;
			else
				high = middle;
		}
		for (; low < n && finder->ins[ins[low]].receiver_host == out->sender_host; low++) {
			WpPair pair = { .in = ins[low], .out = o };
			if (is_candidate(finder, pair.in, o) && !is_known(finder, pair.in, o))
				g_array_append_val(pairs, pair);
		}
	}
	return pairs;
}

/* --- what was found --- */

static int
compare_pairs(const void *a, const void *b)
{
	const WpPair *left = a, *right = b;
	if (left->out != right->out)
		return left->out < right->out ? -1 : 1;
	return (left->in > right->in) - (left->in < right->in);
}

void
wp_xcorr_sort_pairs(WpXcorrModel *model)
{
	g_array_sort(model->pairs, compare_pairs);
}

/* What was found of two groups, for a pair of their edges. */
static void
cover_as(WpPair *pair, const WpPair *found, double factor)
{
	guint32 last = found->begin + found->n_bins - 1;
	cover(pair, wp_lag_of_bin(found->begin), wp_lag_of_bin(last), 0);
	for (guint32 i = 0; i < found->n_bins; i++) {
		double *density = &pair->density[found->begin + i - pair->begin];
		*density = MAX(*density, found->density[i] * factor);
	}
	pair->sds = MAX(pair->sds, found->sds);
}

/*
 * What stands out of two groups by SDS would stand out of this pair of their edges alone, had it its share of it: where it
 * did not, it has none. (Standard deviations grow as the root of either's messages.)
 */
static gboolean
would_show(const Finder *finder, const WpPair *found, guint32 in, guint32 out)
{
	double share = (double)finder->ins[in].n / (double)finder->ins[found->in].n *
		       (double)finder->outs[out].n / (double)finder->outs[found->out].n;
	return found->sds * sqrt(share) > finder->model->threshold + MARGIN_SDS;
}

/* Takes what was found of PAIR into the model: for each of its edges; those that were known stay as they are. */
static void
keep_pair(Finder *finder, const WpPair *found, guint n_before)
{
	GArray *pairs = finder->model->pairs;
	guint32 n_in, n_out;
	const guint32 *ins = wp_edge_groups_members(finder->groups, &found->in, &n_in);
	const guint32 *outs = wp_edge_groups_members(finder->groups, &found->out, &n_out);
	for (guint32 o = 0; o < n_out; o++)
		for (guint32 i = 0; i < n_in; i++) {
			if (!is_alone(finder, ins[i], outs[o]))
				continue;
			guint64 key = wp_map_key(ins[i], outs[o]);
			guint32 at = wp_map_find(finder->known, key);
			if (at < n_before ||
			    (at == WP_MAP_NONE && (ins[i] != found->in || outs[o] != found->out) &&
			     would_show(finder, found, ins[i], outs[o])))
				continue;
			if (finder->n_bins + found->n_bins > MAX_DENSITY_BINS) {
				finder->model->n_left_out++;
				continue;
			}
			finder->n_bins += found->n_bins;
			if (at == WP_MAP_NONE) {
				WpPair pair = { .in = ins[i], .out = outs[o] };
				at = *wp_map_at(finder->known, key, pairs->len);
				g_array_append_val(pairs, pair);
			}
			cover_as(&g_array_index(pairs, WpPair, at), found,
				 (double)finder->outs[outs[o]].n /
					 (double)finder->outs[found->out].n);
		}
}

static void
keep_found(Finder *finder, const GArray *pairs)
{
	WpXcorrModel *model = finder->model;
	guint n_before = model->pairs->len;
	for (guint i = 0; i < pairs->len; i++) {
		WpPair *pair = &g_array_index(pairs, WpPair, i);
		model->n_periodic += pair->is_periodic && !pair->n_bins;
		if (pair->n_bins)
			keep_pair(finder, pair, n_before);
		g_free(pair->density);
	}
	for (guint i = n_before; i < model->pairs->len; i++) {
		WpPair *pair = &g_array_index(model->pairs, WpPair, i);
		for (guint32 k = 0; k < pair->n_bins; k++)
			pair->mass += pair->density[k] * (double)wp_lag_width(pair->begin + k);
	}
	wp_xcorr_sort_pairs(model);
}

/* Standard deviations that chance exceeds with PROBABILITY in one test. */
static double
threshold_of(double probability)
{
	double low = 0, high = 40;
	while (high - low > 1e-6) {
		double middle = (low + high) / 2;
		if (3.18 * erfc(middle / G_SQRT2) / 2 > probability)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* Looks at PAIRS at all scales. */
static void
look_at(Finder *finder, GArray *pairs)
{
	WpXcorrModel *model = finder->model;
	/*
	 * All times stand on ticks, so all lags do: a bin that holds one more tick than the next would hold more for
	 * that alone. Of so few messages any unit would do, so a longest lag is not exceeded.
	 */
	gint64 finest = model->tick_ns >= COARSE_NS ? model->tick_ns : FINEST_NS;
	gint64 begin = MIN(finest, MAX(model->max_lag_ns, FINEST_NS));
	guint n_scales = 0;
	/* The narrowest window, of two bins, is no wider than the quantum that was asked for. */
	while (2 * (begin << SCALE_BITS) <= model->options->quantum_ns)
		begin <<= SCALE_BITS;
	for (gint64 q = begin; n_scales == 0 || q * N_LAGS / 4 < model->max_lag_ns;
	     q <<= SCALE_BITS)
		n_scales++;
	guint64 n_tests = (guint64)pairs->len * n_scales * N_WIDTHS * N_LAGS;
	model->n_tests += n_tests;
	model->threshold =
		threshold_of(model->options->false_share / N_LOOKS / (double)MAX(n_tests, 1));
	finder->answering_threshold =
		MIN(threshold_of(ANSWERING_SHARE / (double)(n_scales * N_WIDTHS * N_LAGS)),
		    model->threshold);
	for (guint s = 0; s < n_scales; s++) {
		finder->quantum = begin << (SCALE_BITS * s);
		finder->is_finest = s == 0;
		for (guint i = 0; i < pairs->len && !wp_xcorr_is_stopped(model); i++) {
			WpPair *pair = &g_array_index(pairs, WpPair, i);
			correlate(finder,
				  signal_of(finder, finder->ins, finder->in_signals, pair->in),
				  signal_of(finder, finder->outs, finder->out_signals, pair->out));
			model->n_correlations++;
			take_windows(finder, pair);
		}
		drop_signals(finder);
	}
}

void
wp_xcorr_find_pairs(WpXcorrModel *model, const WpEdge *ins, const WpEdge *outs)
{
	Finder *finder = g_new0(Finder, 1);
	finder->model = model;
	finder->groups = wp_edge_groups_new(model->messages);
	finder->n = model->messages->n + finder->groups->n;
	finder->ins = wp_edge_groups_join(finder->groups, ins);
	finder->outs = wp_edge_groups_join(finder->groups, outs);
	finder->whole = wp_edge_groups_join(finder->groups, model->messages->edges);
	finder->known = wp_map_new();
	finder->answering = wp_map_new();
	for (guint32 i = 0; i < model->messages->n; i++)
		if (model->messages->edges[i].is_return)
			(void)wp_map_number(finder->answering,
					    model->messages->edges[i].sender_host);
	for (guint32 i = 0; i < model->pairs->len; i++) {
		const WpPair *pair = &g_array_index(model->pairs, WpPair, i);
		*wp_map_at(finder->known, wp_map_key(pair->in, pair->out), i) = i;
		finder->n_bins += pair->n_bins;
	}
	finder->in_signals = g_new0(WpSignal *, MAX(finder->n, 1));
	finder->out_signals = g_new0(WpSignal *, MAX(finder->n, 1));
	g_autoptr(GArray) pairs = list_candidates(finder);
	look_at(finder, pairs);
	keep_found(finder, pairs);
	g_free(finder->in_signals);
	g_free(finder->out_signals);
	wp_map_free(finder->known);
	wp_map_free(finder->answering);
	wp_edge_groups_unjoin(finder->groups, finder->ins);
	wp_edge_groups_unjoin(finder->groups, finder->outs);
	wp_edge_groups_unjoin(finder->groups, finder->whole);
	wp_edge_groups_free(finder->groups);
	g_free(finder);
}
