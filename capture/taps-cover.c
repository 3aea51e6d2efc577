/*
 * Taps, when they were at work. That a tap saw nothing for a while says little: perhaps there was nothing. But
 * where another tap saw then what both see else, it was not at work:
 *
 *   web  ..x.x..xx.x..x.x....xx...x.xx.x       x: packets between web and db
 *   db   ..x.x..xx.x                           stopped; with no x at web later it would only be quiet
 */
#include <stdlib.h>

#include "capture/doubles.h"
#include "capture/taps-private.h"

/* So many packets that it should have seen; a few are lost by chance. */
#define MISSED 3

typedef struct {
	gint64 from_ns, to_ns; /* corrected */
	guint missed;
} Gap;

typedef struct {
	gint64 time_ns;
	gint32 step; /* taps at work: more or fewer */
} Event;

static guint64
hash_sample(const WpTaps *taps, const WpSample *sample)
{
	const WpFlowKey *key = &g_array_index(taps->sampler.flows, WpFlowKey, sample->flow);
	WpEndpoint low = wp_flow_key_endpoint(key, 0), high = wp_flow_key_endpoint(key, 1);
	gboolean is_lower;
	return wp_taps_hash_ends(&low, &high, &is_lower);
}

/* Where the silences of TAP are, before its first packet and after its last as well, corrected. */
static GArray *
list_gaps(const WpTaps *taps, guint tap, gint64 first_ns, gint64 last_ns)
{
	const WpTapInput *own = &taps->taps[tap];
	GArray *gaps = g_array_new(FALSE, FALSE, sizeof(Gap));
	Gap before = { first_ns, wp_taps_correct(taps, tap, own->first_ns), 0 };
	Gap after = { wp_taps_correct(taps, tap, own->last_ns), last_ns, 0 };

	g_array_append_val(gaps, before);
	for (guint i = 0; i < own->silences->len; i++) {
		const WpSilence *silence = &g_array_index(own->silences, WpSilence, i);
		Gap gap = { wp_taps_correct(taps, tap, silence->from_ns),
			    wp_taps_correct(taps, tap, silence->to_ns), 0 };
		g_array_append_val(gaps, gap);
	}
	g_array_append_val(gaps, after);
	return gaps;
}

static void
count_missed(GArray *gaps, gint64 time_ns)
{
	guint low = 0, high = gaps->len;

	while (high - low > 1) {
		guint middle = (low + high) / 2;
		if (g_array_index(gaps, Gap, middle).from_ns <= time_ns)
			low = middle;
		else
			high = middle;
	}
	/* The first gap may reach into the second by an error of the clock. */
	Gap *gap = &g_array_index(gaps, Gap, low);
	if (time_ns > gap->from_ns && time_ns < gap->to_ns)
		gap->missed++;
	else if (low > 0 && time_ns < (gap - 1)->to_ns && time_ns > (gap - 1)->from_ns)
		(gap - 1)->missed++;
}

/* TRUE where two samples are of one packet at two places: at one place it has one time. */
static gboolean
are_at_two(const WpSample *one, const WpSample *other)
{
	return one->key == other->key && one->input != other->input &&
	       one->time_ns != other->time_ns;
}

/* (transfer full) Hashes of the pairs of addresses of which TAP saw packets that another tap saw as well. */
static GHashTable *
list_shared(const WpTaps *taps, guint tap)
{
	GHashTable *shared = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	const WpSample *all = (const WpSample *)(const void *)taps->sampler.samples->data;
	guint n = taps->sampler.samples->len;

	for (guint i = 0; i < n; i++) {
		gboolean is_shared = (i > 0 && are_at_two(&all[i - 1], &all[i])) ||
				     (i + 1 < n && are_at_two(&all[i + 1], &all[i]));
		if (all[i].input != tap || !all[i].is_alone || !is_shared)
			continue;
		guint64 ends = hash_sample(taps, &all[i]);
		g_hash_table_add(shared, g_memdup2(&ends, sizeof ends));
	}
	return shared;
}

/* Packets that another tap saw between addresses of which TAP sees packets, and TAP did not see. */
static void
count_all_missed(const WpTaps *taps, guint tap, GHashTable *shared, GArray *gaps)
{
	const WpSample *all = (const WpSample *)(const void *)taps->sampler.samples->data;
	guint n = taps->sampler.samples->len, end;

	for (guint i = 0; i < n; i = end) {
		gboolean is_seen = FALSE;
		for (end = i; end < n && all[end].key == all[i].key; end++)
			is_seen |= all[end].input == tap;
		guint64 ends = is_seen ? 0 : hash_sample(taps, &all[i]);
		if (!is_seen && g_hash_table_contains(shared, &ends))
			count_missed(gaps, wp_taps_correct(taps, all[i].input, all[i].time_ns));
	}
}

/*
 * A tap that has nothing in common with others says nothing of when it was needed: it counts as at work all the
 * time; but where the user says how many are needed, from its first packet to its last.
 */
static void
add_events(const WpTaps *taps, guint tap, gint64 first_ns, gint64 last_ns, GArray *events)
{
	g_autoptr(GArray) gaps = list_gaps(taps, tap, first_ns, last_ns);
	g_autoptr(GHashTable) shared = list_shared(taps, tap);
	gboolean has_shared = g_hash_table_size(shared) > 0;

	if (!has_shared && !taps->options->min_taps)
		return;
	count_all_missed(taps, tap, shared, gaps);
	for (guint i = 0; i < gaps->len; i++) {
		const Gap *gap = &g_array_index(gaps, Gap, i);
		gboolean is_end = i == 0 || i + 1 == gaps->len;
		if (gap->to_ns <= gap->from_ns || (has_shared ? gap->missed < MISSED : !is_end))
			continue;
		Event stop = { gap->from_ns, -1 }, start = { gap->to_ns, 1 };
		g_array_append_val(events, stop);
		g_array_append_val(events, start);
	}
}

static int
compare_events(gconstpointer a, gconstpointer b)
{
	const Event *x = a, *y = b;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->step - y->step;
}

/* From EVENTS, in order, where fewer taps than NEEDED are at work. */
static void
find_excluded(WpTaps *taps, const GArray *events, guint needed, gint64 first_ns, gint64 last_ns)
{
	gint32 at_work = (gint32)taps->n_taps;
	gint64 since_ns = first_ns;

	g_array_set_size(taps->excluded, 0);
	for (guint i = 0; i < events->len; i++) {
		const Event *event = &g_array_index(events, Event, i);
		gboolean was_enough = at_work >= (gint32)needed;
		at_work += event->step;
		gboolean is_enough = at_work >= (gint32)needed;
		if (was_enough && !is_enough)
			since_ns = event->time_ns;
		WpSilence excluded = { since_ns, event->time_ns };
		if (!was_enough && is_enough && excluded.to_ns > excluded.from_ns)
			g_array_append_val(taps->excluded, excluded);
	}
	if (taps->excluded->len == 1) {
		const WpSilence *only = &g_array_index(taps->excluded, WpSilence, 0);
		taps->is_nothing_covered = only->from_ns <= first_ns && only->to_ns >= last_ns;
	}
	if (taps->is_nothing_covered)
		g_array_set_size(taps->excluded, 0);
}

void
wp_taps_find_cover(WpTaps *taps)
{
	g_autoptr(GArray) events = g_array_new(FALSE, FALSE, sizeof(Event));
	gint64 first_ns = G_MAXINT64, last_ns = G_MININT64;
	guint needed = taps->options->min_taps ? taps->options->min_taps : taps->n_taps;

	for (guint i = 0; i < taps->n_taps; i++) {
		const WpTapInput *tap = &taps->taps[i];
		if (!tap->n_packets)
			continue;
		/* The ends of what is left out stay in, but not the first packet and the last of all. */
		first_ns = MIN(first_ns, wp_taps_correct(taps, i, tap->first_ns) - 1);
		last_ns = MAX(last_ns, wp_taps_correct(taps, i, tap->last_ns) + 1);
	}
	for (guint i = 0; i < taps->n_taps; i++)
		if (taps->taps[i].n_packets)
			add_events(taps, i, first_ns, last_ns, events);
	g_array_sort(events, compare_events);
	find_excluded(taps, events, MIN(needed, taps->n_taps), first_ns, last_ns);
}

gboolean
wp_taps_is_covered(const WpTaps *taps, gint64 time_ns)
{
	guint low = 0, high = taps->excluded->len;

	while (low < high) {
		guint middle = (low + high) / 2;
		const WpSilence *excluded = &g_array_index(taps->excluded, WpSilence, middle);
		if (time_ns < excluded->from_ns)
			high = middle;
		else if (time_ns > excluded->to_ns)
			low = middle + 1;
		else
			return time_ns == excluded->from_ns || time_ns == excluded->to_ns;
	}
	return TRUE;
}
