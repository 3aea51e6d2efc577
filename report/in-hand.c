/*
 * One sweep over the stretches of a host. For each level there is a clock that runs while so much is in hand; a
 * stretch has of each level what its clock went on by: what others do meanwhile costs it nothing.
 */
#include "report/in-hand.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
	gint64 begin_ns;
	gint64 end_ns;
	guint32 host;
	guint32 call;
} Stretch;

/* Time of a call at one level; the entries of a call are a list. */
typedef struct {
	gint64 time_ns;
	guint32 next; /* entry; NONE = the last */
	guint32 level;
} Entry;

#define NONE G_MAXUINT32

struct WpInHand {
	GArray *stretches; /* Stretch */
	GArray *entries;   /* Entry */
	guint32 n_calls;
	guint32 *first;   /* entry, by call */
	guint8 *ended_at; /* level, by call */
};

/* A stretch that is in hand. */
typedef struct {
	gint64 end_ns;
	guint32 call;
	gint64 begin_ns[WP_DIGEST_LEVELS]; /* on the clocks */
} Open;

/* A host at an instant. */
typedef struct {
	GArray *open; /* Open: a heap by end and call */
	gint64 now_ns;
	gint64 clocks_ns[WP_DIGEST_LEVELS];
} Host;

WpInHand *
wp_in_hand_new(guint32 n_calls)
{
	WpInHand *in_hand = g_new0(WpInHand, 1);
	in_hand->stretches = g_array_new(FALSE, FALSE, sizeof(Stretch));
	in_hand->entries = g_array_new(FALSE, FALSE, sizeof(Entry));
	in_hand->n_calls = n_calls;
	in_hand->first = g_new(guint32, (gsize)n_calls + 1);
	memset(in_hand->first, 0xff, n_calls * sizeof *in_hand->first);
	in_hand->ended_at = g_new0(guint8, (gsize)n_calls + 1);
	return in_hand;
}

void
wp_in_hand_free(WpInHand *in_hand)
{
	if (!in_hand)
		return;
	g_array_unref(in_hand->stretches);
	g_array_unref(in_hand->entries);
	g_free(in_hand->first);
	g_free(in_hand->ended_at);
	g_free(in_hand);
}

void
wp_in_hand_add(WpInHand *in_hand, guint32 host, guint32 call, gint64 begin_ns, gint64 end_ns)
{
	g_return_if_fail(call < in_hand->n_calls);
	Stretch stretch = { begin_ns, end_ns, host, call };
	if (begin_ns < end_ns)
		g_array_append_val(in_hand->stretches, stretch);
}

static int
compare_stretches(const void *a, const void *b)
{
	const Stretch *left = a, *right = b;
	if (left->host != right->host)
		return left->host < right->host ? -1 : 1;
	if (left->begin_ns != right->begin_ns)
		return left->begin_ns < right->begin_ns ? -1 : 1;
	return left->call < right->call ? -1 : left->call > right->call;
}

/* --- the heap --- */

static gboolean
is_before(const Open *a, const Open *b)
{
	return a->end_ns != b->end_ns ? a->end_ns < b->end_ns : a->call < b->call;
}

static void
push(GArray *heap, const Open *open)
{
	g_array_append_val(heap, *open);
	Open *at = (Open *)(void *)heap->data;
	guint i = heap->len - 1;
	for (; i && is_before(open, &at[(i - 1) / 2]); i = (i - 1) / 2)
		at[i] = at[(i - 1) / 2];
	at[i] = *open;
}

static void
drop_first(GArray *heap)
{
	Open *at = (Open *)(void *)heap->data;
	guint n = heap->len - 1, i = 0;
	Open last = at[n];
	for (;;) {
		guint child = 2 * i + 1;
		if (child >= n)
			break;
		if (child + 1 < n && is_before(&at[child + 1], &at[child]))
			child++;
		if (!is_before(&at[child], &last))
			break;
		at[i] = at[child];
		i = child;
	}
	at[i] = last;
	g_array_set_size(heap, n);
}

/* --- the sweep --- */

/* The clocks go on to TIME_NS, with what is in hand. */
static void
pass(Host *host, gint64 time_ns)
{
	if (host->open->len)
		host->clocks_ns[wp_digest_level(host->open->len - 1)] += time_ns - host->now_ns;
	host->now_ns = time_ns;
}

/* The stretch that ends first, does. */
static void
end_first(WpInHand *in_hand, Host *host)
{
	const Open *open = &g_array_index(host->open, Open, 0);
	pass(host, open->end_ns);
	in_hand->ended_at[open->call] = (guint8)wp_digest_level(host->open->len - 1);
	for (guint32 level = 0; level < WP_DIGEST_LEVELS; level++) {
		Entry entry = { host->clocks_ns[level] - open->begin_ns[level],
				in_hand->first[open->call], level };
		if (!entry.time_ns)
			continue;
		in_hand->first[open->call] = in_hand->entries->len;
		g_array_append_val(in_hand->entries, entry);
	}
	drop_first(host->open);
}

/* What HOST has in hand until TIME_NS is over. */
static void
end_until(WpInHand *in_hand, Host *host, gint64 time_ns)
{
	while (host->open->len && g_array_index(host->open, Open, 0).end_ns <= time_ns)
		end_first(in_hand, host);
}

void
wp_in_hand_count(WpInHand *in_hand)
{
	guint n = in_hand->stretches->len;
	const Stretch *stretches = (const Stretch *)(void *)in_hand->stretches->data;
	g_autoptr(GArray) open = g_array_new(FALSE, FALSE, sizeof(Open));
	Host host = { .open = open };

	if (n)
		qsort(in_hand->stretches->data, n, sizeof(Stretch), compare_stretches);
	for (guint i = 0; i < n; i++) {
		const Stretch *own = &stretches[i];
		if (i && own->host != stretches[i - 1].host)
			end_until(in_hand, &host, G_MAXINT64);
		end_until(in_hand, &host, own->begin_ns);
		pass(&host, own->begin_ns);
		Open begun = { .end_ns = own->end_ns, .call = own->call };
		memcpy(begun.begin_ns, host.clocks_ns, sizeof begun.begin_ns);
		push(open, &begun);
	}
	end_until(in_hand, &host, G_MAXINT64);
	g_array_set_size(in_hand->stretches, 0);
}

guint
wp_in_hand_get(const WpInHand *in_hand, guint32 call, gint64 *out_levels_ns)
{
	for (guint32 i = in_hand->first[call]; i != NONE;) {
		const Entry *entry = &g_array_index(in_hand->entries, Entry, i);
		out_levels_ns[entry->level] += entry->time_ns;
		i = entry->next;
	}
	return in_hand->ended_at[call];
}
