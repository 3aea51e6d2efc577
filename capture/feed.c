/*
 * Feed: a ring of batches. The thread fills the one behind the full ones; who asks has the first.
 *
 *      | taken | full | full | being filled |     first ... first + n_full
 */
#include "capture/feed.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

#define N_BATCHES        8
#define ENOUGH_FULL      4    /* full batches with which the thread need not be woken: that costs */
#define PROGRESS_PACKETS 8192 /* a batch comes after so many at the latest */
#define BATCH_ITEMS      512
#define BATCH_BYTES      ((gsize)128 * 1024) /* two batches stay in a cache of the second level */

struct WpFeed {
	WpFront *front;
	WpSource *source;
	pthread_t thread;
	gboolean has_thread;
	pthread_mutex_t lock;
	pthread_cond_t has_full;
	pthread_cond_t has_room;
	WpFeedBatch batches[N_BATCHES];
	guint first;  /* of the full ones; with LOCK, as all below */
	guint n_full; /* the one that was taken among them */
	gboolean is_taken;
	gboolean is_abandoned; /* nothing will be taken */
	GError *error;         /* of the last batch */
	gint is_stopped;       /* no more is to be read; atomic */
	WpFeedBatch *filling;  /* the thread's alone */
};

/* --- the thread --- */

/* Waits for a batch to be filled; NULL where none is wanted any more. */
static WpFeedBatch *
wait_for_room(WpFeed *feed)
{
	WpFeedBatch *batch = NULL;

	pthread_mutex_lock(&feed->lock);
	while (!feed->is_abandoned && feed->n_full == N_BATCHES)
		pthread_cond_wait(&feed->has_room, &feed->lock);
	if (!feed->is_abandoned)
		batch = &feed->batches[(feed->first + feed->n_full) % N_BATCHES];
	pthread_mutex_unlock(&feed->lock);
	if (batch) {
		batch->n_items = 0;
		batch->n_bytes = 0;
		batch->result = WP_FRONT_SEGMENT;
	}
	return batch;
}

static void
publish(WpFeed *feed, WpFrontResult result)
{
	feed->filling->result = result;
	feed->filling->n_packets = wp_front_facts(feed->front)->n_packets;
	feed->filling = NULL;
	pthread_mutex_lock(&feed->lock);
	feed->n_full++;
	pthread_cond_signal(&feed->has_full);
	pthread_mutex_unlock(&feed->lock);
}

/* The next place for an item of LENGTH bytes; NULL where no more is wanted. */
static WpFeedItem *
get_room(WpFeed *feed, gsize length)
{
	WpFeedBatch *batch = feed->filling;

	if (batch && (batch->n_items == BATCH_ITEMS ||
		      (batch->n_bytes && batch->n_bytes + length > batch->n_allocated)))
		publish(feed, WP_FRONT_SEGMENT);
	if (!feed->filling && !(feed->filling = wait_for_room(feed)))
		return NULL;
	batch = feed->filling;
	if (length > batch->n_allocated) { /* nothing of it is in use */
		g_free(batch->bytes);
		batch->bytes = g_malloc(length);
		batch->n_allocated = length;
	}
	return &batch->items[batch->n_items];
}

/* Adds SEGMENT, whose LENGTH bytes at DATA are copied. FALSE where no more is wanted. */
static gboolean
add_item(WpFeed *feed, WpFeedKind kind, const WpSegment *segment, const guint8 *data, gsize length)
{
	WpFeedItem *item = get_room(feed, length);
	WpFeedBatch *batch = feed->filling;

	if (!item)
		return FALSE;
	item->segment = *segment;
	item->segment.payload = batch->bytes + batch->n_bytes;
	item->segment.captured = (guint32)length;
	item->last_ns = wp_front_facts(feed->front)->last_ns;
	item->kind = (guint8)kind;
	if (length)
		memcpy(batch->bytes + batch->n_bytes, data, length);
	batch->n_bytes += length;
	batch->n_items++;
	return TRUE;
}

static void
add_name(const guint8 address[16], const char *text, gsize length, gpointer data)
{
	WpSegment name = { 0 };

	memcpy(name.src.address, address, sizeof name.src.address);
	add_item(data, WP_FEED_NAME, &name, (const guint8 *)text, length);
}

static void
add_secrets(guint32 kind, const guint8 *secrets, gsize length, gpointer data)
{
	WpSegment told = { .seq = kind };

	add_item(data, WP_FEED_SECRETS, &told, secrets, length);
}

/* Who asks is not kept waiting where hardly a packet passes the filter. */
static void
show_progress(WpFeed *feed)
{
	if (wp_front_facts(feed->front)->n_packets % PROGRESS_PACKETS == 0 && get_room(feed, 0))
		publish(feed, WP_FRONT_SEGMENT);
}

/* Adds what the next frame gives; SEGMENT while there is more. */
static WpFrontResult
read_one(WpFeed *feed, gboolean *out_wanted, GError **error)
{
	static const WpSegment none;
	WpSegment segment;
	WpFrontResult result = wp_front_next(feed->front, &segment, error);

	if (result == WP_FRONT_SEGMENT)
		*out_wanted = add_item(feed, WP_FEED_SEGMENT, &segment, segment.payload,
				       segment.captured);
	else if (result == WP_FRONT_TIME)
		*out_wanted = add_item(feed, WP_FEED_TIME, &none, NULL, 0);
	else if (result != WP_FRONT_FILTERED)
		return result;
	show_progress(feed);
	return WP_FRONT_SEGMENT;
}

static gpointer
run(gpointer data)
{
	WpFeed *feed = data;
	WpFrontResult result = WP_FRONT_SEGMENT;
	gboolean is_wanted = TRUE;

	wp_front_begin(feed->front);
	while (result == WP_FRONT_SEGMENT && is_wanted)
		result = g_atomic_int_get(&feed->is_stopped)
				 ? WP_FRONT_END
				 : read_one(feed, &is_wanted, &feed->error);
	if (is_wanted && get_room(feed, 0))
		publish(feed, result);
	return NULL;
}

/* --- who asks --- */

WpFeed *
wp_feed_new(WpFront *front, WpSource *source)
{
	sigset_t all, before;
	WpFeed *feed = g_new0(WpFeed, 1);

	feed->front = front;
	feed->source = source;
	pthread_mutex_init(&feed->lock, NULL);
	pthread_cond_init(&feed->has_full, NULL);
	pthread_cond_init(&feed->has_room, NULL);
	for (guint i = 0; i < N_BATCHES; i++)
		feed->batches[i] = (WpFeedBatch){ .items = g_new(WpFeedItem, BATCH_ITEMS),
						  .bytes = g_malloc(BATCH_BYTES),
						  .n_allocated = BATCH_BYTES };
	wp_source_on_names(source, add_name, feed);
	wp_source_on_secrets(source, add_secrets, feed);
	/* Signals are for the thread that asks whether one came. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	feed->has_thread = pthread_create(&feed->thread, NULL, run, feed) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!feed->has_thread)
		g_clear_pointer(&feed, wp_feed_free);
	return feed;
}

static void
join(WpFeed *feed)
{
	if (feed->has_thread)
		pthread_join(feed->thread, NULL);
	feed->has_thread = FALSE;
}

void
wp_feed_stop(WpFeed *feed)
{
	g_atomic_int_set(&feed->is_stopped, TRUE);
}

void
wp_feed_free(WpFeed *feed)
{
	if (!feed)
		return;
	wp_feed_stop(feed);
	pthread_mutex_lock(&feed->lock);
	feed->is_abandoned = TRUE;
	pthread_cond_signal(&feed->has_room);
	pthread_mutex_unlock(&feed->lock);
	join(feed);
	for (guint i = 0; i < N_BATCHES; i++) {
		g_free(feed->batches[i].items);
		g_free(feed->batches[i].bytes);
	}
	g_clear_error(&feed->error);
	pthread_mutex_destroy(&feed->lock);
	pthread_cond_destroy(&feed->has_full);
	pthread_cond_destroy(&feed->has_room);
	g_free(feed);
}

const WpFeedBatch *
wp_feed_take(WpFeed *feed, GError **error)
{
	pthread_mutex_lock(&feed->lock);
	if (feed->is_taken) {
		feed->first = (feed->first + 1) % N_BATCHES;
		feed->n_full--;
		if (feed->n_full <= ENOUGH_FULL)
			pthread_cond_signal(&feed->has_room);
	}
	while (feed->n_full == 0)
		pthread_cond_wait(&feed->has_full, &feed->lock);
	feed->is_taken = TRUE;
	const WpFeedBatch *batch = &feed->batches[feed->first];
	pthread_mutex_unlock(&feed->lock);
	if (batch->result != WP_FRONT_SEGMENT)
		join(feed);
	if (batch->result == WP_FRONT_ERROR && error)
		*error = g_error_copy(feed->error);
	return batch;
}
