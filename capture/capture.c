/*
 * The driver: pulls packets from the sources, passes them through filter, packet layer and flows, and
 * keeps the order and the sink going. All that is shared by the streams of one capture lives here.
 */
#include "capture/capture.h"

#include <string.h>

#include "capture/feed.h"
#include "capture/filter.h"
#include "capture/flow.h"
#include "capture/front.h"
#include "capture/keylog.h"
#include "capture/live.h"
#include "capture/loss.h"
#include "capture/merge.h"
#include "capture/order.h"
#include "capture/rmi-names.h"
#include "capture/source.h"
#include "capture/stream.h"
#include "capture/taps.h"
#include "capture/tokens.h"
#include "capture/trace.h"

#define TOLD_PACKETS 4096 /* as precisely is known when calls were lost */
#define KEY_PAYLOAD  256  /* payload bytes of the first segment in the token key */

typedef struct {
	const WpCaptureOptions *options;
	WpRecordSink *sink;
	WpSource *source;
	WpFront *front; /* reads SOURCE */
	WpFeed *feed;   /* runs FRONT; or NULL */
	WpCounters *counters;
	WpCounters *told; /* of these, what the sink knows the time of */
	WpCounters *part; /* what it is told next; NULL: nothing */
	gint64 part_ns;   /* when that was counted */
	guint64 n_taken;  /* packets */
	WpMerge *merge;   /* NULL: there is one tap */
	WpOrder *order;
	WpLoss *loss;
	WpFlows *flows;
	WpKeylog *keylog;      /* or NULL */
	WpRmiNames *rmi_names; /* or NULL */
	WpStreamShared shared;
	gboolean has_key;
} Run;

void
wp_capture_options_init(WpCaptureOptions *options)
{
	*options = (WpCaptureOptions){ .from_ns = WP_NO_TIME, .to_ns = WP_NO_TIME };
}

/* --- beginning --- */

/* "PORT=PROTOCOL" */
static gboolean
parse_decode_as(const char *text, WpStreamShared *shared, GError **error)
{
	const char *name = strchr(text, '=');
	g_autofree char *port = g_strndup(text, name ? (gsize)(name - text) : 0);
	guint64 number;

	if (!name || !g_ascii_string_to_unsigned(port, 10, 1, 65535, &number, NULL)) {
		g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_OPTION,
			    "cannot use \"%s\" as PORT=PROTOCOL, as in 8080=http", text);
		return FALSE;
	}
	shared->forced_port = (guint16)number;
	shared->forced = wp_decoder_by_name(name + 1);
	if (!shared->forced)
		g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_OPTION,
			    "there is no protocol \"%s\" for port %s; see --list-protocols",
			    name + 1, port);
	return shared->forced != NULL;
}

/* The capture file says that ADDRESS is called TEXT. */
static void
take_name(const guint8 address[16], const char *text, gsize length, gpointer data)
{
	WpNodes *nodes = data;
	guint32 node = wp_nodes_by_address_seen(nodes, address, WP_NODE_NAMED);

	if (node != WP_NO_NODE)
		wp_nodes_add_hint(nodes, node, WP_NAME_CAPTURE, text, (gssize)length);
}

/* Secrets that a file holds. */
static void
add_secrets(guint32 kind, const guint8 *secrets, gsize length, gpointer data)
{
	Run *run = data;
	if (kind != WP_SECRETS_TLS_KEY_LOG)
		return;
	if (!run->keylog)
		run->keylog = wp_keylog_new();
	wp_keylog_add(run->keylog, (const char *)secrets, length);
	run->shared.keylog = run->keylog;
}

static gboolean
read_keylog(Run *run, const char *path, GError **error)
{
	run->shared.keylog = run->keylog = wp_keylog_new();
	return wp_keylog_add_file(run->keylog, path, error);
}

static gboolean
read_rmi_names(Run *run, const char *path, GError **error)
{
	run->shared.rmi_names = run->rmi_names = wp_rmi_names_new();
	return wp_rmi_names_add_file(run->rmi_names, path, error);
}

/* --- several taps --- */

static void
set_taps(Run *run, gsize n_paths)
{
	const WpTaps *taps = run->options->taps;

	for (gsize i = 0; taps && i < n_paths; i++) {
		guint tap = wp_taps_of_input(taps, i);
		wp_source_set_tap(run->source, i, (guint8)tap, wp_taps_clock(taps, tap));
	}
	if (taps && wp_taps_count(taps) > 1)
		run->merge = wp_merge_new(taps, run->counters);
}

static gboolean
run_init(Run *run, const char *const *paths, gsize n_paths, const WpCaptureOptions *options,
	 WpNodes *nodes, WpRecordSink *sink, GError **error)
{
	run->options = options;
	run->sink = sink;
	if (options->decode_as && !parse_decode_as(options->decode_as, &run->shared, error))
		return FALSE;
	if (options->keylog && !read_keylog(run, options->keylog, error))
		return FALSE;
	if (options->rmi_interfaces && !read_rmi_names(run, options->rmi_interfaces, error))
		return FALSE;
	run->source = options->live
			      ? wp_source_open_live(options->live)
			      : wp_source_open_all(paths, n_paths, options->standard_input, error);
	if (!run->source)
		return FALSE;
	run->front = wp_front_new(options, run->source, error);
	if (!run->front)
		return FALSE;
	run->counters = wp_counters_new();
	run->told = wp_counters_new();
	set_taps(run, n_paths);
	run->order = wp_order_new(sink, run->counters);
	if (run->merge)
		wp_order_on_pass(run->order, wp_merge_set_both_ends, run->merge);
	run->loss = wp_loss_new();
	run->shared.nodes = nodes;
	run->shared.counters = run->counters;
	run->shared.order = run->order;
	run->shared.spoken = g_new0(const WpDecoder *, WP_STREAM_N_SPOKEN);
	if (options->token_key) {
		run->shared.token_key = wp_tokens_key(options->token_key, -1);
		run->has_key = TRUE;
	}
	run->flows = wp_flows_new(&run->shared, run->loss, options->max_flows);
	return TRUE;
}

static void
run_clear(Run *run)
{
	wp_flows_free(run->flows);
	g_free(run->shared.spoken);
	wp_loss_free(run->loss);
	wp_order_free(run->order);
	wp_counters_free(run->counters);
	wp_counters_free(run->told);
	wp_merge_free(run->merge);
	wp_counters_free(run->part);
	wp_feed_free(run->feed);
	wp_front_free(run->front);
	wp_source_free(run->source);
	wp_keylog_free(run->keylog);
	wp_rmi_names_free(run->rmi_names);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Run, run_clear)

/* --- packets --- */

/*
 * A key that is not known in advance, yet the same for the same traffic, however it is wrapped: made
 * from the first segment.
 */
static guint64
key_from_segment(const WpSegment *segment)
{
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	g_byte_array_append(bytes, segment->src.address, sizeof segment->src.address);
	g_byte_array_append(bytes, segment->dst.address, sizeof segment->dst.address);
	g_byte_array_append(bytes, (const guint8 *)&segment->seq, sizeof segment->seq);
	g_byte_array_append(bytes, (const guint8 *)&segment->ack, sizeof segment->ack);
	if (segment->captured)
		g_byte_array_append(bytes, segment->payload, MIN(segment->captured, KEY_PAYLOAD));
	return wp_tokens_key((const char *)bytes->data, bytes->len);
}

/* Tells the sink when calls were lost: what was counted comes when the records of its time have come. */
static gboolean
tell_losses(Run *run, gint64 now_ns, GError **error)
{
	if (run->part && now_ns - run->part_ns >= WP_ORDER_WINDOW_NS) {
		g_autoptr(WpCounters) part = g_steal_pointer(&run->part);
		wp_order_pass_due(run->order);
		if (!wp_sink_counted(run->sink, part, error))
			return FALSE;
	}
	if (run->part || run->n_taken % TOLD_PACKETS != 0 ||
	    wp_counters_get(run->counters, WP_COUNT_RETURNS_ORPHAN) ==
		    wp_counters_get(run->told, WP_COUNT_RETURNS_ORPHAN))
		return TRUE;
	run->part = wp_counters_new();
	run->part_ns = now_ns;
	wp_counters_since(run->counters, run->told, WP_COUNT_RETURNS_ORPHAN, run->part);
	wp_counters_merge(run->told, run->part);
	return TRUE;
}

static void
take_segment(Run *run, const WpSegment *segment)
{
	WpSegment merged;

	if (run->merge) {
		merged = *segment;
		if (!wp_merge_take(run->merge, &merged))
			return;
		segment = &merged;
	}
	if (!run->has_key) {
		run->shared.token_key = key_from_segment(segment);
		run->has_key = TRUE;
	}
	wp_flows_add(run->flows, segment);
}

/* A packet, whose segment is SEGMENT or NULL; NOW_NS: the latest time so far. */
static gboolean
take_packet(Run *run, const WpSegment *segment, gint64 now_ns, GError **error)
{
	run->n_taken++;
	if (segment)
		take_segment(run, segment);
	return wp_order_advance(run->order, now_ns, error) && tell_losses(run, now_ns, error);
}

/* TRUE to go on. */
static gboolean
report_progress(const Run *run, guint64 n_packets)
{
	guint64 read, size;
	if (!run->options->progress)
		return TRUE;
	wp_source_progress(run->source, &read, &size);
	return run->options->progress(read, size, n_packets, run->options->progress_data);
}

/* How the packets ended; what follows depends on it. */
typedef enum {
	ENDED,
	STOPPED,
	FAILED_INPUT, /* what was read is still passed on */
	FAILED_OUTPUT
} Ending;

static Ending
ending_of(Run *run, WpFrontResult result)
{
	if (result == WP_FRONT_CUT)
		wp_counters_add(run->counters, WP_COUNT_INPUT_TRUNCATED,
				wp_source_n_cut(run->source));
	return result == WP_FRONT_ERROR ? FAILED_INPUT : ENDED;
}

/* No packet comes now: what is known goes out all the same. */
static gboolean
wait_for_packets(Run *run, GError **error)
{
	const WpFrontFacts *facts = wp_front_facts(run->front);
	gint64 now_ns = MAX(facts->now_ns, facts->last_ns);

	if (!wp_order_advance(run->order, now_ns, error))
		return FALSE;
	wp_order_pass_due(run->order);
	return tell_losses(run, now_ns, error);
}

/* FALSE with ERROR where the sink fails. */
static gboolean
take_items(Run *run, const WpFrontItem *items, guint n, GError **error)
{
	for (guint i = 0; i < n; i++)
		if (!take_packet(run, items[i].has_segment ? &items[i].segment : NULL,
				 items[i].last_ns, error))
			return FALSE;
	return TRUE;
}

/* A few packets after the other. */
static Ending
read_packets(Run *run, GError **error)
{
	const WpFrontFacts *facts = wp_front_facts(run->front);
	WpFrontItem items[WP_FRONT_ITEMS];

	wp_source_on_secrets(run->source, add_secrets, run);
	wp_source_on_names(run->source, take_name, run->shared.nodes);
	wp_front_begin(run->front);
	for (;;) {
		g_autoptr(GError) failure = NULL;
		WpFrontResult result;
		guint n = wp_front_fill(run->front, items, &result, &failure);
		if (!take_items(run, items, n, error))
			return FAILED_OUTPUT;
		if (failure)
			g_propagate_error(error, g_steal_pointer(&failure));
		if (result == WP_FRONT_WAIT && !wait_for_packets(run, error))
			return FAILED_OUTPUT;
		/* The end is asked about too: a signal may have been what ended it. */
		if ((result >= WP_FRONT_END || facts->n_packets % WP_FRONT_PROGRESS == 0) &&
		    result != WP_FRONT_ERROR && !report_progress(run, facts->n_packets))
			return STOPPED;
		if (result >= WP_FRONT_END)
			return ending_of(run, result);
	}
}

static gboolean
take_item(Run *run, const WpFeedItem *item, GError **error)
{
	const WpSegment *segment = &item->segment;

	switch (item->kind) {
	case WP_FEED_NAME:
		take_name(segment->src.address, (const char *)segment->payload, segment->captured,
			  run->shared.nodes);
		return TRUE;
	case WP_FEED_SECRETS:
		add_secrets(segment->seq, segment->payload, segment->captured, run);
		return TRUE;
	case WP_FEED_SEGMENT:
		return take_packet(run, segment, item->last_ns, error);
	default:
		return take_packet(run, NULL, item->last_ns, error);
	}
}

/* The same where another thread reads ahead. */
static Ending
read_batches(Run *run, GError **error)
{
	gboolean is_stopped = FALSE;

	for (;;) {
		const WpFeedBatch *batch = wp_feed_take(run->feed, error);
		for (guint i = 0; i < batch->n_items; i++)
			if (!take_item(run, &batch->items[i], error))
				return FAILED_OUTPUT;
		if (batch->result == WP_FRONT_ERROR)
			return FAILED_INPUT;
		if (!is_stopped && !report_progress(run, batch->n_packets)) {
			is_stopped = TRUE;
			wp_feed_stop(run->feed); /* what was read and counted is still passed on */
		}
		if (batch->result != WP_FRONT_SEGMENT)
			return is_stopped ? STOPPED : ending_of(run, batch->result);
	}
}

/*
 * Where it is asked for, a thread of its own reads files; a pipe may keep it waiting when it is to stop. Not by
 * itself: what is read by one processor and used by another takes a quarter more of both, for a sixteenth
 * less time to wait.
 */
static gboolean
has_feed(Run *run)
{
	guint64 at, size;

	wp_source_progress(run->source, &at, &size);
	if (run->options->n_threads < 2 || size == 0)
		return FALSE;
	run->feed = wp_feed_new(run->front, run->source);
	return run->feed != NULL;
}

/* --- end --- */

static gboolean
push_time(Run *run, const char *key, gint64 time_ns, GError **error)
{
	char text[48];
	const gint64 second = 1000000000;
	gint64 seconds = time_ns / second, rest = time_ns % second;
	if (rest < 0) {
		seconds--;
		rest += second;
	}
	g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT ".%09" G_GINT64_FORMAT, seconds, rest);
	return wp_sink_setting(run->sink, key, text, error);
}

static gboolean
push_link_types(Run *run, const WpFrontFacts *facts, GError **error)
{
	g_autoptr(GString) names = g_string_new(NULL);
	char buffer[16];
	for (guint i = 0; i < facts->n_link_types; i++)
		g_string_append_printf(
			names, "%s%s", i ? " " : "",
			wp_link_type_name(facts->link_types[i], buffer, sizeof buffer));
	return wp_sink_setting(run->sink, "link-type", names->str, error);
}

/* What was seen of the capture as a whole. */
static gboolean
push_facts(Run *run, GError **error)
{
	const WpFrontFacts *facts = wp_front_facts(run->front);
	char text[32];

	if (facts->first_ns == WP_NO_TIME)
		return TRUE;
	if (!push_link_types(run, facts, error) ||
	    !push_time(run, "first-packet", facts->first_ns, error) ||
	    !push_time(run, "last-packet", facts->last_ns, error))
		return FALSE;
	g_snprintf(text, sizeof text, "%u", facts->snapped_at);
	if (facts->snapped_at && !wp_sink_setting(run->sink, "snap-length", text, error))
		return FALSE;
	g_ascii_formatd(text, sizeof text, "%.4f", wp_loss_share(run->loss));
	return wp_loss_share(run->loss) == 0 ||
	       wp_sink_setting(run->sink, "loss-share", text, error);
}

static gboolean
finish(Run *run, GError **error)
{
	const WpCounters *counters = run->counters;

	wp_flows_finish(run->flows);
	wp_counters_merge(run->counters, wp_front_counters(run->front));
	WpSourceTold told = wp_source_told(run->source);
	wp_counters_add(run->counters, WP_COUNT_KERNEL_DROPS, told.kernel_drops);
	wp_counters_add(run->counters, WP_COUNT_INTERFACE_GAPS, told.interface_gaps);
	wp_counters_add(run->counters, WP_COUNT_CLOCK_STEPS, told.clock_steps);
	if (run->options->live)
		wp_live_count(run->options->live, run->counters);
	if (run->keylog)
		wp_counters_add(run->counters, WP_COUNT_SECRETS_UNREAD,
				wp_keylog_n_bad(run->keylog) + wp_keylog_n_left_out(run->keylog));
	wp_counters_add(run->counters, WP_COUNT_BLOCKS_SKIPPED,
			wp_source_blocks_skipped(run->source));
	wp_loss_count(run->loss,
		      wp_counters_get(counters, WP_COUNT_PACKETS) -
			      wp_counters_get(counters, WP_COUNT_PACKETS_FILTERED) -
			      wp_counters_get(counters, WP_COUNT_PACKETS_DOUBLED) -
			      wp_counters_get(counters, WP_COUNT_PACKETS_SHARED) -
			      wp_counters_get(counters, WP_COUNT_PACKETS_UNCOVERED),
		      run->counters);
	return wp_order_flush(run->order, error) && push_facts(run, error) &&
	       wp_sink_counters(run->sink, run->counters, error) && wp_sink_end(run->sink, error);
}

typedef struct {
	WpRecordSink *sink;
	GError **error;
} Telling;

static gboolean
tell_sink(const char *key, const char *value, gpointer data)
{
	const Telling *telling = data;
	return wp_sink_setting(telling->sink, key, value, telling->error);
}

/* What the capture was asked for: names of the inputs without their folders, so that results repeat. */
static gboolean
push_request(Run *run, const char *const *paths, gsize n_paths, GError **error)
{
	const WpCaptureOptions *options = run->options;

	for (gsize i = 0; i < n_paths; i++) {
		g_autofree char *name = g_path_get_basename(paths[i]);
		if (!wp_sink_setting(run->sink, "input", name, error))
			return FALSE;
	}
	Telling telling = { run->sink, error };
	if (run->merge && !wp_taps_tell(run->options->taps, tell_sink, &telling))
		return FALSE;
	if (options->filter && !wp_sink_setting(run->sink, "filter", options->filter, error))
		return FALSE;
	if (options->decode_as &&
	    !wp_sink_setting(run->sink, "decode-as", options->decode_as, error))
		return FALSE;
	return (options->from_ns == WP_NO_TIME ||
		push_time(run, "from", options->from_ns, error)) &&
	       (options->to_ns == WP_NO_TIME || push_time(run, "to", options->to_ns, error));
}

gboolean
wp_capture_run(const char *const *paths, gsize n_paths, const WpCaptureOptions *options,
	       WpNodes *nodes, WpRecordSink *sink, gboolean *out_stopped, GError **error)
{
	g_auto(Run) run = { 0 };
	GError *input_error = NULL;

	g_return_val_if_fail(paths && n_paths && options && nodes && sink, FALSE);
	if (!run_init(&run, paths, n_paths, options, nodes, sink, error) ||
	    !wp_sink_begin(sink, nodes, error) || !push_request(&run, paths, n_paths, error))
		return FALSE;
	Ending ending = has_feed(&run) ? read_batches(&run, &input_error)
				       : read_packets(&run, &input_error);
	wp_counters_add(run.counters, WP_COUNT_INPUT_STOPPED, ending == STOPPED);
	wp_counters_add(run.counters, WP_COUNT_INPUT_DAMAGED, ending == FAILED_INPUT);
	if (ending == FAILED_OUTPUT || !finish(&run, input_error ? NULL : error)) {
		if (input_error)
			g_propagate_error(error, input_error);
		return FALSE;
	}
	if (out_stopped)
		*out_stopped = ending == STOPPED;
	if (ending == FAILED_INPUT) {
		g_propagate_error(error, input_error);
		return FALSE;
	}
	return TRUE;
}
