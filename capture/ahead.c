/*
 * A ring of blocks: one thread fills, the other empties.
 *
 *      | taken | taken | full | full | being filled |     first ... first + n_full
 */
#include "capture/ahead.h"

#include <pthread.h>
#include <signal.h>
#include <string.h>

typedef struct {
	guint8 *bytes;
	gssize length; /* 0 the end, -1 an error */
	gsize at;      /* taken so far */
} Block;

struct WpAhead {
	WpAheadFunc func;
	gpointer data;
	pthread_t thread;
	gboolean has_thread;
	pthread_mutex_t lock;
	pthread_cond_t has_full;
	pthread_cond_t has_room;
	Block blocks[WP_AHEAD_N_BLOCKS];
	guint first;  /* of the full ones */
	guint n_full; /* as many as FIRST's owner may look at; with LOCK */
	gboolean is_stopped;
	GError *error; /* of the last block */
};

/* The block to be filled, or NULL where no more is wanted. */
static Block *
wait_for_room(WpAhead *ahead)
{
	Block *block = NULL;

	pthread_mutex_lock(&ahead->lock);
	while (!ahead->is_stopped && ahead->n_full == WP_AHEAD_N_BLOCKS)
		pthread_cond_wait(&ahead->has_room, &ahead->lock);
	if (!ahead->is_stopped)
		block = &ahead->blocks[(ahead->first + ahead->n_full) % WP_AHEAD_N_BLOCKS];
	pthread_mutex_unlock(&ahead->lock);
	return block;
}

static gpointer
fill_blocks(gpointer data)
{
	WpAhead *ahead = data;
	Block *block;
	gssize length = 1;

	while (length > 0 && (block = wait_for_room(ahead))) {
		length = ahead->func(ahead->data, block->bytes, WP_AHEAD_BLOCK, &ahead->error);
		block->length = length;
		block->at = 0;
		pthread_mutex_lock(&ahead->lock);
		ahead->n_full++;
		pthread_cond_signal(&ahead->has_full);
		pthread_mutex_unlock(&ahead->lock);
	}
	return NULL;
}

WpAhead *
wp_ahead_new(WpAheadFunc func, gpointer data)
{
	sigset_t all, before;

	if (g_get_num_processors() < 2)
		return NULL;
	WpAhead *ahead = g_new0(WpAhead, 1);
	ahead->func = func;
	ahead->data = data;
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->has_full, NULL);
	pthread_cond_init(&ahead->has_room, NULL);
	for (guint i = 0; i < WP_AHEAD_N_BLOCKS; i++)
		ahead->blocks[i].bytes = g_malloc(WP_AHEAD_BLOCK);
	/* Signals are for the thread that asks whether one came. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &before);
	ahead->has_thread = pthread_create(&ahead->thread, NULL, fill_blocks, ahead) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (!ahead->has_thread)
		g_clear_pointer(&ahead, wp_ahead_free);
	return ahead;
}

void
wp_ahead_free(WpAhead *ahead)
{
	if (!ahead)
		return;
	pthread_mutex_lock(&ahead->lock);
	ahead->is_stopped = TRUE;
	pthread_cond_signal(&ahead->has_room);
	pthread_mutex_unlock(&ahead->lock);
	if (ahead->has_thread)
		pthread_join(ahead->thread, NULL);
	for (guint i = 0; i < WP_AHEAD_N_BLOCKS; i++)
		g_free(ahead->blocks[i].bytes);
	g_clear_error(&ahead->error);
	pthread_mutex_destroy(&ahead->lock);
	pthread_cond_destroy(&ahead->has_full);
	pthread_cond_destroy(&ahead->has_room);
	g_free(ahead);
}

static Block *
wait_for_full(WpAhead *ahead)
{
	pthread_mutex_lock(&ahead->lock);
	while (ahead->n_full == 0)
		pthread_cond_wait(&ahead->has_full, &ahead->lock);
	Block *block = &ahead->blocks[ahead->first];
	pthread_mutex_unlock(&ahead->lock);
	return block;
}

static void
give_back(WpAhead *ahead)
{
	pthread_mutex_lock(&ahead->lock);
	ahead->first = (ahead->first + 1) % WP_AHEAD_N_BLOCKS;
	ahead->n_full--;
	pthread_cond_signal(&ahead->has_room);
	pthread_mutex_unlock(&ahead->lock);
}

gssize
wp_ahead_take(WpAhead *ahead, guint8 *out, gsize room, GError **error)
{
	Block *block = wait_for_full(ahead);

	if (block->length <= 0) { /* it stays: who asks again is told again */
		if (block->length < 0)
			g_propagate_error(error, g_error_copy(ahead->error));
		return block->length;
	}
	gsize n = MIN(room, (gsize)block->length - block->at);
	memcpy(out, block->bytes + block->at, n);
	block->at += n;
	if (block->at == (gsize)block->length)
		give_back(ahead);
	return (gssize)n;
}
