/*
 * Degrading: record -> stamp (skew, jitter) -> sniffer and loss -> doubles -> heap, from which records
 * leave in order of time (with --reorder: of time plus a random delay) as soon as none that is still to
 * come can be earlier.
 *
 * What happens to a record is drawn from the seed alone, whichever of the degradations are on: so that
 * of two runs with 1 % and 2 % of loss the second one loses all that the first one does, and more.
 */
#include "traces/degrade.h"

#include <string.h>

#include "capture/trace.h"
#include "traces/events.h"
#include "traces/random.h"
#include "traces/value.h"

/* The paper's (7.5.5). */
#define SNIFFER_QUEUE 64

/* What waits in the heap: 2 million records are 300 MB. */
#define MAX_HELD 2000000

/* Records that wait for the nodes of --skew to occur: most occur at once. */
#define MAX_WAITING 100000

/* Times are kept so far from the ends of a gint64 that no shift overflows. */
#define TIME_MAX ((gint64)1 << 61)

/* A record with its tokens, in the heap or free. */
typedef struct Held Held;
struct Held {
	Held *next;
	WpRecord record;
	guint32 tokens[WP_RECORD_MAX_WORDS];
};

/* The draws of one record, all of them always made. */
typedef struct {
	double loss, duplicate, delay, jitter, jitter_again, reorder, reorder_again;
} Draws;

struct WpDegrade {
	WpRecordSink sink; /* first */
	const WpDegradeOptions *options;
	WpRecordSink *next;
	WpNodes *nodes;
	WpRandom random;
	WpEvents events; /* targets are Held */
	Held *free_held;
	guint64 n_held;
	guint32 *skew_nodes; /* node of each skew, or WP_NO_NODE until it occurs */
	gint64 first_ns;
	gint64 now_ns; /* the latest original time */
	gint64 written_ns;
	double sniffer_free_ns; /* when the sniffer has worked off its queue, after first_ns */
	WpCounters *counters;   /* what was done */
	gboolean has_begun;
	gboolean is_open;    /* the next sink has been told of the trace */
	GPtrArray *settings; /* key, value, ...: not yet */
};

void
wp_degrade_options_init(WpDegradeOptions *options)
{
	*options = (WpDegradeOptions){ .seed = 1,
				       .sniffer_queue = SNIFFER_QUEUE,
				       .duplicate_ns = 100000 };
}

static void
clear_skew(gpointer data)
{
	g_free(((WpSkew *)data)->node);
}

void
wp_degrade_options_clear(WpDegradeOptions *options)
{
	g_clear_pointer(&options->skews, g_array_unref);
}

static gboolean
take_minus(const char **at)
{
	return wp_value_take(at, '-');
}

/* "[-]30ms[,[-]20]" */
static gboolean
read_skew(const char *at, WpSkew *skew)
{
	double ns, ppm = 0;
	gboolean is_slow = take_minus(&at), loses = FALSE;

	if (!wp_value_duration(&at, &ns) || ns > (double)WP_DEGRADE_MAX_NS)
		return FALSE;
	if (wp_value_take(&at, ',')) {
		loses = take_minus(&at);
		if (!wp_value_number(&at, &ppm) || ppm > WP_DEGRADE_MAX_PPM)
			return FALSE;
	}
	skew->offset_ns = is_slow ? -(gint64)ns : (gint64)ns;
	skew->drift_ppm = loses ? -ppm : ppm;
	return *at == '\0';
}

gboolean
wp_degrade_add_skew(WpDegradeOptions *options, const char *text, GError **error)
{
	const char *equals = strrchr(text, '=');
	WpSkew skew = { NULL, 0, 0 };

	if (!equals || equals == text || !read_skew(equals + 1, &skew)) {
		g_set_error(error, WP_TRACES_ERROR, WP_TRACES_ERROR_OPTION,
			    "--skew: write NODE=OFFSET[,PPM], like WS2=30ms or WS2=-5ms,20, not "
			    "\"%s\"",
			    text);
		return FALSE;
	}
	if (!options->skews) {
		options->skews = g_array_new(FALSE, FALSE, sizeof(WpSkew));
		g_array_set_clear_func(options->skews, clear_skew);
	}
	skew.node = g_strndup(text, (gsize)(equals - text));
	g_array_append_val(options->skews, skew);
	return TRUE;
}

gboolean
wp_degrade_set_sniffer(WpDegradeOptions *options, const char *text, GError **error)
{
	const char *at = text;
	double per_s;

	if (!wp_value_rate(&at, &per_s) || *at) {
		g_set_error(error, WP_TRACES_ERROR, WP_TRACES_ERROR_OPTION,
			    "--sniffer: write a rate, like 500/s, not \"%s\"", text);
		return FALSE;
	}
	options->sniffer_per_s = per_s;
	return TRUE;
}

static const WpSkew *
skew_at(const WpDegrade *degrade, guint i)
{
	return &g_array_index(degrade->options->skews, WpSkew, i);
}

static guint
n_skews(const WpDegrade *degrade)
{
	return degrade->options->skews ? degrade->options->skews->len : 0;
}

/* How wrong the clock of SKEW is at TIME. */
static gint64
skew_shift(const WpDegrade *degrade, const WpSkew *skew, gint64 time_ns)
{
	double drift_ns = (double)(time_ns - degrade->first_ns) * (skew->drift_ppm * 1e-6);

	return skew->offset_ns + (gint64)(drift_ns < 0 ? drift_ns - 0.5 : drift_ns + 0.5);
}

/* Of the clock that stamps RECORD. Several --skew of a node add up. */
static gint64
shift_of(WpDegrade *degrade, const WpRecord *record)
{
	gboolean is_return = record->kind == WP_KIND_RETURN;
	gboolean is_senders = is_return != degrade->options->is_caller_tap;
	guint32 node = is_senders ? record->sender : record->receiver;
	gint64 shift = 0;

	for (guint i = 0; i < n_skews(degrade); i++) {
		guint32 *skewed = &degrade->skew_nodes[i];
		if (*skewed == WP_NO_NODE)
			*skewed = wp_nodes_find_key(degrade->nodes, skew_at(degrade, i)->node);
		if (*skewed == node)
			shift += skew_shift(degrade, skew_at(degrade, i), record->begin_ns);
	}
	return shift;
}

/*
 * No record that is still to come will be stamped before this: clocks only go forward, so the one
 * that is most behind tells.
 */
static gint64
horizon(const WpDegrade *degrade)
{
	gint64 slowest = 0;

	for (guint i = 0; i < n_skews(degrade); i++)
		slowest += MIN(skew_shift(degrade, skew_at(degrade, i), degrade->now_ns), 0);
	return degrade->now_ns + slowest;
}

/*
 * The next sink hears of the trace with the first record: what is wrong with the options has mostly been seen
 * by then, and should leave nothing behind.
 */
static gboolean
open_next(WpDegrade *degrade, GError **error)
{
	if (degrade->is_open)
		return TRUE;
	degrade->is_open = TRUE;
	if (!wp_sink_begin(degrade->next, degrade->nodes, error))
		return FALSE;
	for (guint i = 0; i < degrade->settings->len; i += 2)
		if (!wp_sink_setting(degrade->next, degrade->settings->pdata[i],
				     degrade->settings->pdata[i + 1], error))
			return FALSE;
	return TRUE;
}

static gboolean
write_held(WpDegrade *degrade, Held *held, GError **error)
{
	if (held->record.begin_ns < degrade->written_ns)
		wp_counters_add(degrade->counters, WP_COUNT_RECORDS_LATE, 1);
	degrade->written_ns = MAX(degrade->written_ns, held->record.begin_ns);
	held->next = degrade->free_held;
	degrade->free_held = held;
	degrade->n_held--;
	return open_next(degrade, error) &&
	       wp_sink_record(degrade->next, &held->record, held->tokens, error);
}

/* All that is due before LIMIT. */
static gboolean
write_until(WpDegrade *degrade, gint64 limit_ns, GError **error)
{
	WpEvent event;

	while (degrade->events.n > 0 && degrade->events.events[0].time_ns <= limit_ns) {
		wp_events_pop(&degrade->events, &event);
		if (!write_held(degrade, event.target, error))
			return FALSE;
	}
	return TRUE;
}

static Held *
held_new(WpDegrade *degrade)
{
	Held *held = degrade->free_held;

	degrade->n_held++;
	if (!held)
		return g_new(Held, 1);
	degrade->free_held = held->next;
	return held;
}

/* RECORD leaves at its time, or up to the window of reordering later. */
static void
hold(WpDegrade *degrade, const WpRecord *record, const guint32 *tokens, gint64 from_ns,
     double reorder)
{
	Held *held = held_new(degrade);
	gint64 late = (gint64)(reorder * (double)degrade->options->reorder_ns);
	gint64 shift_ns = record->begin_ns - from_ns; /* of what is in TOKENS */

	held->record = *record;
	if (wp_record_words(record))
		memcpy(held->tokens, tokens, wp_record_words(record) * sizeof *tokens);
	wp_transport_shift(held->tokens + record->n_tokens, record->n_transports, shift_ns);
	wp_events_push(&degrade->events,
		       (WpEvent){ .time_ns = record->begin_ns + late, .target = held });
}

static void
shift_record(WpRecord *record, gint64 shift_ns)
{
	record->begin_ns = CLAMP(record->begin_ns + shift_ns, -TIME_MAX, TIME_MAX);
	record->end_ns = CLAMP(record->end_ns + shift_ns, -TIME_MAX, TIME_MAX);
}

static Draws
draw(WpRandom *random)
{
	Draws draws;

	draws.loss = wp_random_share(random);
	draws.duplicate = wp_random_share(random);
	draws.delay = wp_random_share(random);
	draws.jitter = wp_random_share(random);
	draws.jitter_again = wp_random_share(random);
	draws.reorder = wp_random_share(random);
	draws.reorder_again = wp_random_share(random);
	return draws;
}

/*
 * The sniffer takes a record every 1/rate; a queue of fixed length stands before it. The work that
 * waits, in records, is what is left of its busy time.
 */
static gboolean
is_dropped(WpDegrade *degrade, gint64 time_ns)
{
	double gap_ns = 1e9 / degrade->options->sniffer_per_s;
	double now_ns = (double)(time_ns - degrade->first_ns);
	double free_ns = MAX(degrade->sniffer_free_ns, now_ns);

	/* One that is being taken is not in the queue; half a nanosecond is for rounding. */
	if (free_ns - now_ns > gap_ns * degrade->options->sniffer_queue + 0.5)
		return TRUE;
	degrade->sniffer_free_ns = free_ns + gap_ns;
	return FALSE;
}

static gboolean
is_lost(WpDegrade *degrade, const WpRecord *record, gint64 true_ns, double loss)
{
	if (degrade->options->sniffer_per_s > 0 && is_dropped(degrade, true_ns)) {
		wp_counters_add(degrade->counters, WP_COUNT_KERNEL_DROPS, 1);
		return TRUE;
	}
	if (loss >= degrade->options->loss)
		return FALSE;
	wp_counters_add_pair(degrade->counters, WP_COUNT_LOST_PACKETS, record->sender,
			     record->receiver, 1);
	return TRUE;
}

static gint64
jitter(const WpDegrade *degrade, double share)
{
	return (gint64)(share * (double)degrade->options->jitter_ns);
}

static gboolean
degrade_begin(WpRecordSink *sink, WpNodes *nodes, GError **error)
{
	WpDegrade *degrade = (WpDegrade *)sink;

	g_clear_pointer(&degrade->nodes, wp_nodes_unref);
	degrade->nodes = wp_nodes_ref(nodes);
	degrade->is_open = FALSE;
	g_ptr_array_set_size(degrade->settings, 0);
	return TRUE;
}

static gboolean
degrade_setting(WpRecordSink *sink, const char *key, const char *value, GError **error)
{
	WpDegrade *degrade = (WpDegrade *)sink;

	if (degrade->is_open)
		return wp_sink_setting(degrade->next, key, value, error);
	g_ptr_array_add(degrade->settings, g_strdup(key));
	g_ptr_array_add(degrade->settings, g_strdup(value));
	return TRUE;
}

/* FALSE until each node of --skew has occurred. */
static gboolean
knows_nodes(const WpDegrade *degrade)
{
	for (guint i = 0; i < n_skews(degrade); i++)
		if (degrade->skew_nodes[i] == WP_NO_NODE)
			return FALSE;
	return TRUE;
}

static gboolean
degrade_record(WpRecordSink *sink, const WpRecord *original, const guint32 *tokens, GError **error)
{
	WpDegrade *degrade = (WpDegrade *)sink;
	const WpDegradeOptions *options = degrade->options;
	WpRecord record = *original;
	Draws draws = draw(&degrade->random);

	shift_record(&record, 0);
	gint64 true_ns = record.begin_ns;
	if (!degrade->has_begun)
		degrade->first_ns = degrade->now_ns = true_ns;
	degrade->has_begun = TRUE;
	degrade->now_ns = MAX(degrade->now_ns, true_ns);
	if ((knows_nodes(degrade) || degrade->n_held > MAX_WAITING) &&
	    !write_until(degrade, horizon(degrade) - 1, error))
		return FALSE;
	if (is_lost(degrade, &record, true_ns, draws.loss))
		return TRUE;
	shift_record(&record, shift_of(degrade, &record));
	WpRecord again = record;
	shift_record(&record, jitter(degrade, draws.jitter));
	hold(degrade, &record, tokens, original->begin_ns, draws.reorder);
	if (draws.duplicate < options->duplicates) {
		shift_record(&again, jitter(degrade, draws.jitter_again) +
					     (gint64)(draws.delay * (double)options->duplicate_ns));
		hold(degrade, &again, tokens, original->begin_ns, draws.reorder_again);
	}
	if (degrade->n_held <= MAX_HELD)
		return TRUE;
	g_set_error(
		error, WP_TRACES_ERROR, WP_TRACES_ERROR_LIMIT,
		"degrading: over %d records lie within the largest shift of time\nuse a smaller "
		"--skew, --jitter or --reorder",
		MAX_HELD);
	return FALSE;
}

static gboolean
check_nodes(const WpDegrade *degrade, GError **error)
{
	for (guint i = 0; i < n_skews(degrade); i++) {
		const char *node = skew_at(degrade, i)->node;
		if (wp_nodes_find_key(degrade->nodes, node) != WP_NO_NODE)
			continue;
		g_autoptr(GPtrArray) names = g_ptr_array_new();
		for (guint32 j = 0; j < wp_nodes_count(degrade->nodes); j++)
			g_ptr_array_add(names, (gpointer)wp_nodes_key(degrade->nodes, j));
		g_ptr_array_add(names, NULL);
		g_autofree char *hint = wp_value_hint(node, (const char *const *)names->pdata);
		g_set_error(error, WP_TRACES_ERROR, WP_TRACES_ERROR_OPTION,
			    "--skew: the trace has no node \"%s\"%s", node, hint);
		return FALSE;
	}
	return TRUE;
}

static gboolean
degrade_counters(WpRecordSink *sink, const WpCounters *counters, GError **error)
{
	WpDegrade *degrade = (WpDegrade *)sink;

	if (!check_nodes(degrade, error) || !open_next(degrade, error) ||
	    !write_until(degrade, G_MAXINT64, error))
		return FALSE;
	wp_counters_merge(degrade->counters, counters);
	return wp_sink_counters(degrade->next, degrade->counters, error);
}

static gboolean
degrade_end(WpRecordSink *sink, GError **error)
{
	WpDegrade *degrade = (WpDegrade *)sink;

	return open_next(degrade, error) && write_until(degrade, G_MAXINT64, error) &&
	       wp_sink_end(degrade->next, error);
}

static const WpRecordSinkOps degrade_ops = { degrade_begin,    degrade_setting, degrade_record,
					     degrade_counters, degrade_end,     NULL };

WpDegrade *
wp_degrade_new(const WpDegradeOptions *options, WpRecordSink *next)
{
	WpDegrade *degrade = g_new0(WpDegrade, 1);

	degrade->sink.ops = &degrade_ops;
	degrade->options = options;
	degrade->next = next;
	degrade->counters = wp_counters_new();
	degrade->settings = g_ptr_array_new_with_free_func(g_free);
	degrade->written_ns = G_MININT64;
	degrade->skew_nodes = g_new(guint32, n_skews(degrade) + 1);
	for (guint i = 0; i < n_skews(degrade); i++)
		degrade->skew_nodes[i] = WP_NO_NODE;
	wp_random_init(&degrade->random, options->seed);
	return degrade;
}

void
wp_degrade_free(WpDegrade *degrade)
{
	WpEvent event;

	if (!degrade)
		return;
	while (wp_events_pop(&degrade->events, &event))
		g_free(event.target);
	while (degrade->free_held) {
		Held *next = degrade->free_held->next;
		g_free(degrade->free_held);
		degrade->free_held = next;
	}
	wp_events_clear(&degrade->events);
	wp_counters_free(degrade->counters);
	g_ptr_array_unref(degrade->settings);
	g_clear_pointer(&degrade->nodes, wp_nodes_unref);
	g_free(degrade->skew_nodes);
	g_free(degrade);
}

WpRecordSink *
wp_degrade_sink(WpDegrade *degrade)
{
	return &degrade->sink;
}
