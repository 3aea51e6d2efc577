/*
 * Order: small keys, sorted, over a slab of records, and a table of calls that gives their numbers to
 * their returns. Nearly all records come nearly in order: those are put in their place from the back of
 * a line, a few steps at most. The others go into a heap.
 *
 *   line    (begin, arrival) -> item        a ring, the earliest in front
 *   heap    (begin, arrival) -> item        the earliest on top
 *   items   record + words
 *   calls   number, begin, state            WpCallRef is the index
 *
 * What is due is passed on for some packets together, so that the code of all that follows is fetched once
 * for many records. A record that comes late finds all done that was due before it, as if it had been done
 * at once.
 */
#include "capture/order.h"

#include <string.h>

#define FIRST_PLACES 1024 /* of the line and of the heap; a power of two */
#define LINE_STEPS   32   /* from the back; so many cost less than a heap of thousands */
#define LOOK_AHEAD                                                                                 \
	4 /* places: what stands there has left the cache since it came; see pop_line() */
#define PACKETS_TOGETHER 32

typedef struct {
	gint64 begin_ns;
	guint64 arrival; /* ties: first come, first served */
	guint32 item;
} Key;

/* Most records have a few words; the others have them elsewhere, so that an item is three lines of the cache. */
#define ITEM_WORDS 12

typedef struct {
	WpRecord record;
	WpCallRef call; /* of a CALL or RETURN */
	guint32 more;   /* number of its words, where they are not here */
	guint32 words[ITEM_WORDS];
} Item;

typedef struct {
	guint32 words[WP_RECORD_MAX_WORDS];
} MoreWords;

enum {
	CALL_WAITS = 1, /* its CALL is still in the heap */
	CALL_LIVES = 2  /* its RETURN may still come, or is in the heap */
};

typedef struct {
	guint64 number;
	gint64 begin_ns;
	guint8 state;
} Call;

/*
 * Objects that are known by their number. The free ones are a stack beside them: which comes next is known
 * without a look at it, so that it can be fetched before it is wanted.
 */
typedef struct {
	guint size; /* of an object */
	guint8 *objects;
	guint32 *unused; /* numbers; the latest freed comes first */
	guint32 n_unused;
	guint32 n; /* ever used */
	guint32 n_allocated;
} Slab;

struct WpOrder {
	WpRecordSink *sink;
	WpCounters *counters;
	Key *line;
	gsize first; /* counts on; its place is first % line_allocated */
	gsize n_line;
	gsize line_allocated; /* a power of two */
	Key *heap;
	gsize n_heap;
	gsize heap_allocated;
	Slab items; /* Item */
	Slab more;  /* MoreWords */
	Slab calls; /* Call */
	guint64 n_arrived;
	guint64 n_numbered;
	gint64 due_ns;    /* what begins up to then is due */
	guint n_together; /* packets since it was passed on */
	gint64 last_ns;   /* begin of the last record passed on */
	GError *error;    /* the first error of the sink; nothing is passed on after it */
	WpOrderFunc on_pass;
	gpointer pass_data;
};

/* --- items and calls --- */

static void
slab_clear(Slab *slab)
{
	g_free(slab->objects);
	g_free(slab->unused);
}

static void
slab_grow(Slab *slab)
{
	slab->n_allocated = MAX(FIRST_PLACES, slab->n_allocated * 2);
	slab->objects = g_realloc_n(slab->objects, slab->n_allocated, slab->size);
	slab->unused = g_renew(guint32, slab->unused, slab->n_allocated);
}

static inline guint32
slab_take(Slab *slab)
{
	if (slab->n_unused > 0)
		return slab->unused[--slab->n_unused];
	if (slab->n == slab->n_allocated)
		slab_grow(slab);
	return slab->n++;
}

static inline void
slab_give_back(Slab *slab, guint32 number)
{
	slab->unused[slab->n_unused++] = number;
}

/* The first N bytes of the object that is taken next will be written to. */
static inline void
slab_fetch(const Slab *slab, gsize n)
{
	if (slab->n_unused == 0)
		return;
	const guint8 *object = slab->objects + (gsize)slab->unused[slab->n_unused - 1] * slab->size;
	for (gsize at = 0; at < n; at += 64)
		__builtin_prefetch(object + at, 1);
}

static Item *
get_item(const WpOrder *order, guint32 index)
{
	return &((Item *)order->items.objects)[index];
}

static gboolean
has_more(const Item *item)
{
	return wp_record_words(&item->record) > ITEM_WORDS;
}

static guint32 *
get_words(const WpOrder *order, Item *item)
{
	return has_more(item) ? ((MoreWords *)order->more.objects)[item->more].words : item->words;
}

static Call *
get_call(const WpOrder *order, WpCallRef ref)
{
	return &((Call *)order->calls.objects)[ref];
}

/* --- life --- */

WpOrder *
wp_order_new(WpRecordSink *sink, WpCounters *counters)
{
	WpOrder *order = g_new0(WpOrder, 1);
	order->sink = sink;
	order->counters = counters;
	order->items.size = sizeof(Item);
	order->more.size = sizeof(MoreWords);
	order->calls.size = sizeof(Call);
	order->due_ns = order->last_ns = WP_NO_TIME;
	return order;
}

void
wp_order_free(WpOrder *order)
{
	if (!order)
		return;
	g_free(order->line);
	g_free(order->heap);
	slab_clear(&order->items);
	slab_clear(&order->more);
	slab_clear(&order->calls);
	g_clear_error(&order->error);
	g_free(order);
}

void
wp_order_on_pass(WpOrder *order, WpOrderFunc func, gpointer data)
{
	order->on_pass = func;
	order->pass_data = data;
}

/* --- keys --- */

static gboolean
is_before(const Key *a, const Key *b)
{
	return a->begin_ns != b->begin_ns ? a->begin_ns < b->begin_ns : a->arrival < b->arrival;
}

/* The AT-th place of the line. */
static inline Key *
line_at(const WpOrder *order, gsize at)
{
	return &order->line[(order->first + at) & (order->line_allocated - 1)];
}

static void
grow_line(WpOrder *order)
{
	gsize allocated = MAX(FIRST_PLACES, order->line_allocated * 2);
	Key *line = g_new(Key, allocated);

	for (gsize i = 0; i < order->n_line; i++)
		line[i] = *line_at(order, i);
	g_free(order->line);
	order->line = line;
	order->line_allocated = allocated;
	order->first = 0;
}

/* FALSE where KEY belongs too far in front. */
static gboolean
push_line(WpOrder *order, const Key *key)
{
	gsize at = order->n_line, stop = at > LINE_STEPS ? at - LINE_STEPS : 0;

	while (at > stop && is_before(key, line_at(order, at - 1)))
		at--;
	if (at > 0 && is_before(key, line_at(order, at - 1)))
		return FALSE;
	if (order->n_line == order->line_allocated)
		grow_line(order);
	for (gsize i = order->n_line; i > at; i--)
		*line_at(order, i) = *line_at(order, i - 1);
	*line_at(order, at) = *key;
	order->n_line++;
	return TRUE;
}

static void
push_heap(WpOrder *order, Key key)
{
	if (order->n_heap == order->heap_allocated) {
		order->heap_allocated = MAX(FIRST_PLACES, order->heap_allocated * 2);
		order->heap = g_renew(Key, order->heap, order->heap_allocated);
	}
	gsize at = order->n_heap++;
	while (at && is_before(&key, &order->heap[(at - 1) / 2])) {
		order->heap[at] = order->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	order->heap[at] = key;
}

static Key
pop_heap(WpOrder *order)
{
	Key top = order->heap[0], last = order->heap[--order->n_heap];
	gsize at = 0, child;

	while ((child = 2 * at + 1) < order->n_heap) {
		if (child + 1 < order->n_heap &&
		    is_before(&order->heap[child + 1], &order->heap[child]))
			child++;
		if (!is_before(&order->heap[child], &last))
			break;
		order->heap[at] = order->heap[child];
		at = child;
	}
	order->heap[at] = last;
	return top;
}

static Key
pop_line(WpOrder *order)
{
	Key first = *line_at(order, 0);

	/* The key first, then the record, of which it says where it is, then the call, of which that says so. */
	if (order->n_line > 3 * LOOK_AHEAD) {
		const Item *item = get_item(order, line_at(order, 2 * LOOK_AHEAD)->item);
		__builtin_prefetch(line_at(order, 3 * LOOK_AHEAD));
		__builtin_prefetch(&item->record);
		__builtin_prefetch(&item->record.src);
		__builtin_prefetch(&item->words);
		item = get_item(order, line_at(order, LOOK_AHEAD)->item);
		if (item->call != WP_NO_CALL_REF)
			__builtin_prefetch(get_call(order, item->call), 1);
	}
	order->first++;
	order->n_line--;
	return first;
}

/* The earliest of all; NULL where there is none. */
static const Key *
first_key(const WpOrder *order)
{
	const Key *line = order->n_line ? line_at(order, 0) : NULL;
	const Key *heap = order->n_heap ? order->heap : NULL;
	return line && (!heap || is_before(line, heap)) ? line : heap;
}

static Key
pop_key(WpOrder *order)
{
	return first_key(order) == order->heap ? pop_heap(order) : pop_line(order);
}

/* --- out --- */

/* Clears BITS of the call's state and frees it when none is left. */
static void
release_call(WpOrder *order, WpCallRef ref, guint8 bits)
{
	Call *call = get_call(order, ref);
	call->state &= (guint8)~bits;
	if (!call->state)
		slab_give_back(&order->calls, ref);
}

/* The number of the record: its own for calls and messages, that of the call for returns. */
static guint64
number_of(WpOrder *order, const Item *item)
{
	if (item->record.kind == WP_KIND_RETURN) {
		guint64 number = get_call(order, item->call)->number;
		release_call(order, item->call, CALL_LIVES);
		return number;
	}
	guint64 number = ++order->n_numbered;
	if (item->call != WP_NO_CALL_REF) {
		get_call(order, item->call)->number = number;
		release_call(order, item->call, CALL_WAITS);
	}
	return number;
}

static void
pass_on_first(WpOrder *order)
{
	Key key = pop_key(order);
	Item *item = get_item(order, key.item);

	item->record.id = number_of(order, item);
	if (key.begin_ns < order->last_ns)
		wp_counters_add(order->counters, WP_COUNT_RECORDS_LATE, 1);
	else
		order->last_ns = key.begin_ns;
	const guint32 *words = get_words(order, item);
	gboolean is_wide = words != item->words;
	if (order->on_pass)
		order->on_pass(&item->record, order->pass_data);
	if (!order->error)
		wp_sink_record(order->sink, &item->record, words, &order->error);
	if (is_wide)
		slab_give_back(&order->more, item->more);
	slab_give_back(&order->items, key.item);
}

void
wp_order_pass_due(WpOrder *order)
{
	const Key *key;

	order->n_together = 0;
	while ((key = first_key(order)) && (key->begin_ns <= order->due_ns ||
					    order->n_line + order->n_heap > WP_ORDER_MAX_RECORDS))
		pass_on_first(order);
}

/* --- in --- */

static void
push_item(WpOrder *order, const WpRecord *record, const guint32 *tokens, WpCallRef call,
	  gint64 begin_ns)
{
	if (begin_ns <= order->due_ns && order->n_together > 0)
		wp_order_pass_due(order);
	guint32 index = slab_take(&order->items);
	Item *item = get_item(order, index);
	item->record = *record;
	item->call = call;
	if (has_more(item))
		item->more = slab_take(&order->more);
	if (wp_record_words(record))
		memcpy(get_words(order, item), tokens, wp_record_words(record) * sizeof tokens[0]);
	Key key = { begin_ns, order->n_arrived++, index };
	if (!push_line(order, &key))
		push_heap(order, key);
	slab_fetch(&order->items, sizeof(Item));
}

WpCallRef
wp_order_call(WpOrder *order, const WpRecord *record, const guint32 *tokens)
{
	WpCallRef ref = slab_take(&order->calls);
	slab_fetch(&order->calls, sizeof(Call));
	*get_call(order, ref) = (Call){ 0, record->begin_ns, CALL_WAITS | CALL_LIVES };
	push_item(order, record, tokens, ref, record->begin_ns);
	return ref;
}

void
wp_order_return(WpOrder *order, WpCallRef call, const WpRecord *record, const guint32 *words)
{
	/* Never before its call, whatever the clock of the capture did. */
	gint64 begin_ns = MAX(record->begin_ns, get_call(order, call)->begin_ns);
	push_item(order, record, words, call, begin_ns);
}

void
wp_order_forget(WpOrder *order, WpCallRef call)
{
	release_call(order, call, CALL_LIVES);
}

void
wp_order_message(WpOrder *order, const WpRecord *record, const guint32 *tokens)
{
	push_item(order, record, tokens, WP_NO_CALL_REF, record->begin_ns);
}

static gboolean
report_error(const WpOrder *order, GError **error)
{
	if (!order->error)
		return TRUE;
	if (error)
		*error = g_error_copy(order->error);
	return FALSE;
}

gboolean
wp_order_advance(WpOrder *order, gint64 now_ns, GError **error)
{
	order->due_ns = now_ns - WP_ORDER_WINDOW_NS;
	order->n_together++;
	/* Who changes records on the way out sees what is known by then. */
	if (order->n_together >= PACKETS_TOGETHER || order->on_pass ||
	    order->n_line + order->n_heap > WP_ORDER_MAX_RECORDS)
		wp_order_pass_due(order);
	return report_error(order, error);
}

gboolean
wp_order_flush(WpOrder *order, GError **error)
{
	while (first_key(order))
		pass_on_first(order);
	return report_error(order, error);
}
