/* Counts of things in a ring each; see phases.h. */
#include "report/phases.h"

#include <stdlib.h>
#include <string.h>

#include "capture/record.h"

typedef struct {
	gint64 begin_ns;
	guint64 count;
} Past;

typedef struct {
	char *name;
	Past past[WP_PHASES_MAX_WINDOWS]; /* a ring: windows that had any */
	guint first;
	guint n;
	double usual;    /* when the phase began */
	gint64 begin_ns; /* of the last phase; WP_NO_TIME: there was none */
	gint64 end_ns;
	gint64 seen_ns; /* its last window */
} Thing;

struct WpPhases {
	GHashTable *things;                   /* key -> Thing; lists are sorted */
	gint64 begins[WP_PHASES_MAX_WINDOWS]; /* a ring: all windows before this one */
	guint first;
	guint n;
	gint64 now_ns;
	GArray *list; /* WpPhase */
};

static void
thing_free(gpointer data)
{
	g_free(((Thing *)data)->name);
	g_free(data);
}

WpPhases *
wp_phases_new(void)
{
	WpPhases *phases = g_new0(WpPhases, 1);

	phases->things = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, thing_free);
	phases->list = g_array_new(FALSE, FALSE, sizeof(WpPhase));
	phases->now_ns = WP_NO_TIME;
	return phases;
}

void
wp_phases_free(WpPhases *phases)
{
	if (!phases)
		return;
	g_hash_table_unref(phases->things);
	g_array_unref(phases->list);
	g_free(phases);
}

void
wp_phases_begin(WpPhases *phases, gint64 begin_ns)
{
	if (phases->now_ns != WP_NO_TIME) {
		guint at = (phases->first + phases->n) % WP_PHASES_MAX_WINDOWS;
		phases->begins[at] = phases->now_ns;
		if (phases->n == WP_PHASES_MAX_WINDOWS)
			phases->first = (phases->first + 1) % WP_PHASES_MAX_WINDOWS;
		else
			phases->n++;
	}
	while (phases->n > 0 && phases->begins[phases->first] < begin_ns - WP_PHASE_NS) {
		phases->first = (phases->first + 1) % WP_PHASES_MAX_WINDOWS;
		phases->n--;
	}
	phases->now_ns = begin_ns;
	g_array_set_size(phases->list, 0);
}

static gboolean
is_forgotten(gpointer key, gpointer value, gpointer data)
{
	return ((const Thing *)value)->seen_ns < *(const gint64 *)data;
}

/* NULL where there are too many. */
static Thing *
get_thing(WpPhases *phases, const char *key, const char *name)
{
	Thing *thing = g_hash_table_lookup(phases->things, key);
	gint64 hour_ago_ns = phases->now_ns - WP_PHASE_NS;

	if (!thing && g_hash_table_size(phases->things) >= WP_PHASES_MAX_THINGS)
		g_hash_table_foreach_remove(phases->things, is_forgotten, &hour_ago_ns);
	if (!thing && g_hash_table_size(phases->things) < WP_PHASES_MAX_THINGS) {
		thing = g_new0(Thing, 1);
		thing->name = g_strdup(name);
		thing->begin_ns = thing->end_ns = WP_NO_TIME;
		g_hash_table_insert(phases->things, g_strdup(key), thing);
	}
	return thing;
}

static int
compare_counts(const void *a, const void *b)
{
	guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;
	return (x > y) - (x < y);
}

/* The median count of the windows before this one. */
static double
usual_count(const WpPhases *phases, const Thing *thing)
{
	guint64 counts[WP_PHASES_MAX_WINDOWS] = { 0 };
	gint64 oldest_ns = phases->begins[phases->first];
	guint n = 0;

	for (guint i = 0; i < thing->n; i++) {
		const Past *past = &thing->past[(thing->first + i) % WP_PHASES_MAX_WINDOWS];
		if (past->begin_ns >= oldest_ns && n < phases->n)
			counts[n++] = past->count;
	}
	qsort(counts, phases->n, sizeof *counts, compare_counts);
	return ((double)counts[(phases->n - 1) / 2] + (double)counts[phases->n / 2]) / 2;
}

static gboolean
is_in_phase(const Thing *thing)
{
	return thing->begin_ns != WP_NO_TIME && thing->end_ns == WP_NO_TIME;
}

static gboolean
is_frequent(guint64 count, double usual)
{
	return count >= WP_PHASE_MIN_COUNT && (double)count >= WP_PHASE_TIMES * usual;
}

static void
remember(Thing *thing, gint64 begin_ns, guint64 count)
{
	guint at = (thing->first + thing->n) % WP_PHASES_MAX_WINDOWS;

	thing->past[at] = (Past){ begin_ns, count };
	if (thing->n == WP_PHASES_MAX_WINDOWS)
		thing->first = (thing->first + 1) % WP_PHASES_MAX_WINDOWS;
	else
		thing->n++;
}

gint64
wp_phases_add(WpPhases *phases, const char *key, const char *name, guint64 count)
{
	Thing *thing = get_thing(phases, key, name);

	if (!thing)
		return WP_NO_TIME;
	thing->seen_ns = phases->now_ns;
	if (is_in_phase(thing) && phases->now_ns - thing->begin_ns >= WP_PHASE_NS)
		thing->begin_ns = WP_NO_TIME; /* usual by now */
	if (is_in_phase(thing)) {
		if (!is_frequent(count, thing->usual))
			thing->end_ns = phases->now_ns;
	} else if (phases->n >= WP_PHASE_MIN_WINDOWS) {
		double usual = usual_count(phases, thing);
		if (is_frequent(count, usual)) {
			thing->usual = usual;
			thing->begin_ns = phases->now_ns;
			thing->end_ns = WP_NO_TIME;
		}
	}
	remember(thing, phases->now_ns, count);
	return is_in_phase(thing) ? thing->begin_ns : WP_NO_TIME;
}

static int
compare_phases(gconstpointer a, gconstpointer b)
{
	const WpPhase *x = a, *y = b;
	if (x->begin_ns != y->begin_ns)
		return x->begin_ns < y->begin_ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

void
wp_phases_end(WpPhases *phases)
{
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, phases->things);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		Thing *thing = value;
		if (is_in_phase(thing) && thing->seen_ns != phases->now_ns)
			thing->end_ns = phases->now_ns;
		if (thing->begin_ns == WP_NO_TIME ||
		    (thing->end_ns != WP_NO_TIME && thing->end_ns < phases->now_ns - WP_PHASE_NS))
			continue;
		const WpPhase phase = { thing->name, thing->begin_ns, thing->end_ns };
		g_array_append_val(phases->list, phase);
	}
	g_array_sort(phases->list, compare_phases);
}

const WpPhase *
wp_phases_list(const WpPhases *phases, guint *out_n)
{
	*out_n = phases->list->len;
	return (const WpPhase *)(void *)phases->list->data;
}
