/*
 * Spans from records (the paper, 5.1.1.1, FindCallPairs): one pass in time, with a table of the calls
 * that are still open.
 *
 * The table has a slot per (caller, callee, id) with open calls: the first and the last of a queue.
 * The queue itself runs through the spans: while a call is open its return_record is the next open
 * call of the same key. So the table is as large as the most calls that were open at once, not as the
 * trace.
 */
#include "infer/span.h"

#define FIRST_SLOTS 256
#define NONE        G_MAXUINT32

/* Times are kept within 146 years of 1970, so that the difference of any two is a gint64. */
#define TIME_MAX (((gint64)1 << 62) - 1)

/* No message is longer on its way: an hour. */
#define WAY_MAX (3600 * G_GINT64_CONSTANT(1000000000))

typedef struct {
	guint32 first; /* span; NONE = free slot */
	guint32 last;
} Slot;

typedef struct {
	WpSpans *spans;
	Slot *slots;
	gsize n_slots; /* a power of two, more than twice n_used */
	gsize n_used;
} Pairing;

static gsize
hash_key(guint32 caller, guint32 callee, guint64 id)
{
	guint64 hash = id * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
	hash ^= ((guint64)caller << 32 | callee) * G_GUINT64_CONSTANT(0xc2b2ae3d27d4eb4f);
	return (gsize)((hash ^ hash >> 29) * G_GUINT64_CONSTANT(0xff51afd7ed558ccd) >> 20);
}

static gsize
home_slot(const Pairing *pairing, const WpSpan *span)
{
	return hash_key(span->caller, span->callee, span->id) & (pairing->n_slots - 1);
}

/* The slot where the key is or would be. */
static gsize
find_slot(const Pairing *pairing, guint32 caller, guint32 callee, guint64 id)
{
	gsize slot = hash_key(caller, callee, id) & (pairing->n_slots - 1);

	for (;; slot = (slot + 1) & (pairing->n_slots - 1)) {
		guint32 first = pairing->slots[slot].first;
		if (first == NONE)
			return slot;
		const WpSpan *span = &pairing->spans->spans[first];
		if (span->caller == caller && span->callee == callee && span->id == id)
			return slot;
	}
}

static void
set_slots(Pairing *pairing, gsize n_slots)
{
	pairing->n_slots = n_slots;
	pairing->slots = g_new(Slot, n_slots);
	for (gsize i = 0; i < n_slots; i++)
		pairing->slots[i] = (Slot){ NONE, NONE };
}

static void
grow_slots(Pairing *pairing)
{
	g_autofree Slot *old = g_steal_pointer(&pairing->slots);
	gsize n_old = pairing->n_slots;

	set_slots(pairing, n_old * 2);
	for (gsize i = 0; i < n_old; i++)
		if (old[i].first != NONE) {
			const WpSpan *span = &pairing->spans->spans[old[i].first];
			pairing->slots[find_slot(pairing, span->caller, span->callee, span->id)] =
				old[i];
		}
}

/* Frees a slot and moves later ones of the same run back, so that no search ends too early. */
static void
free_slot(Pairing *pairing, gsize slot)
{
	gsize mask = pairing->n_slots - 1, hole = slot;

	for (gsize i = (slot + 1) & mask; pairing->slots[i].first != NONE; i = (i + 1) & mask) {
		gsize home = home_slot(pairing, &pairing->spans->spans[pairing->slots[i].first]);
		if (((i - home) & mask) >= ((i - hole) & mask)) {
			pairing->slots[hole] = pairing->slots[i];
			hole = i;
		}
	}
	pairing->slots[hole] = (Slot){ NONE, NONE };
	pairing->n_used--;
}

static void
open_call(Pairing *pairing, guint32 number)
{
	WpSpan *span = &pairing->spans->spans[number];

	if ((pairing->n_used + 1) * 2 > pairing->n_slots)
		grow_slots(pairing);
	Slot *slot = &pairing->slots[find_slot(pairing, span->caller, span->callee, span->id)];
	if (slot->first == NONE) {
		slot->first = number;
		pairing->n_used++;
	} else {
		pairing->spans->spans[slot->last].return_record = number;
	}
	slot->last = number;
}

/* The earliest open call that a RETURN answers, taken out of the table; NONE where there is none. */
static guint32
close_call(Pairing *pairing, const WpRecord *record)
{
	gsize slot = find_slot(pairing, record->receiver, record->sender, record->id);
	guint32 first = pairing->slots[slot].first;

	if (first == NONE)
		return NONE;
	guint32 next = pairing->spans->spans[first].return_record;
	if (next == NONE)
		free_slot(pairing, slot);
	else
		pairing->slots[slot].first = next;
	return first;
}

static gint64
clamp_time(gint64 time)
{
	return CLAMP(time, -TIME_MAX, TIME_MAX);
}

/* How much later the other end had what went at TIME_NS. */
static gint64
way_of(const WpRecord *record, gint64 way_ns)
{
	return record->marks & WP_MARK_BOTH_ENDS ? CLAMP(way_ns, -WAY_MAX, WAY_MAX) : 0;
}

static guint32
add_span(WpSpans *spans, const WpRecord *record, guint32 number)
{
	spans->spans[spans->n] = (WpSpan){
		.call_ns = clamp_time(record->begin_ns),
		.call_end_ns = clamp_time(MAX(record->end_ns, record->begin_ns)) +
			       way_of(record, record->end_way_ns),
		.return_begin_ns = WP_NO_TIME,
		.return_ns = WP_NO_TIME,
		.way_in_ns = way_of(record, record->begin_way_ns),
		.id = record->id,
		.caller = record->sender,
		.callee = record->receiver,
		.caller_host = record->sender,
		.callee_host = record->receiver,
		.label = record->label,
		.protocol = record->protocol,
		.call_record = number,
		.return_record = NONE,
		.kind = record->kind,
		.status = record->status,
		.marks = record->marks,
	};
	return spans->n++;
}

/* The last byte left the callee at LEFT_NS. Where clocks are so wrong that nothing was served, no way is known. */
static void
set_return(WpSpan *span, gint64 left_ns, gint64 way_ns)
{
	span->return_ns = left_ns + way_ns;
	span->way_out_ns = way_ns;
	if (span->return_ns >= span->call_ns && left_ns >= wp_span_served_ns(span))
		return;
	span->return_ns = MAX(left_ns, span->call_ns);
	span->way_in_ns = span->way_out_ns = 0;
}

static void
add_return(Pairing *pairing, const WpRecord *record, guint32 number)
{
	guint32 found = close_call(pairing, record);

	if (found == NONE) {
		pairing->spans->n_unpaired_returns++;
		return;
	}
	WpSpan *span = &pairing->spans->spans[found];
	span->return_begin_ns = clamp_time(record->begin_ns);
	if (!(record->marks & WP_MARK_CUT))
		set_return(span, clamp_time(MAX(record->end_ns, record->begin_ns)),
			   way_of(record, record->end_way_ns));
	span->return_record = number;
	/* What window a call was in is told by the call: its return may be carried on before it comes. */
	span->marks |= record->marks & (guint8) ~(WP_MARK_CARRIED | WP_MARK_ANSWERED);
	if (record->status != WP_STATUS_UNKNOWN)
		span->status = record->status;
}

WpSpans *
wp_spans_new(const WpTrace *trace)
{
	const WpRecord *records = wp_trace_records(trace);
	gsize n_records = wp_trace_n_records(trace), n = 0;
	WpSpans *spans = g_new0(WpSpans, 1);
	Pairing pairing = { .spans = spans };

	g_return_val_if_fail(n_records < NONE, spans);
	for (gsize i = 0; i < n_records; i++)
		n += records[i].kind != WP_KIND_RETURN;
	spans->spans = g_new(WpSpan, n);
	set_slots(&pairing, FIRST_SLOTS);
	for (gsize i = 0; i < n_records; i++) {
		if (records[i].kind == WP_KIND_RETURN) {
			add_return(&pairing, &records[i], (guint32)i);
			continue;
		}
		guint32 span = add_span(spans, &records[i], (guint32)i);
		if (records[i].kind == WP_KIND_CALL)
			open_call(&pairing, span);
	}
	for (guint32 i = 0; i < spans->n; i++)
		if (spans->spans[i].return_ns == WP_NO_TIME)
			spans->spans[i].return_record = NONE;
	g_free(pairing.slots);
	return spans;
}

void
wp_spans_free(WpSpans *spans)
{
	if (!spans)
		return;
	g_free(spans->spans);
	g_free(spans->owners);
	g_free(spans);
}

static int
compare_u64(const void *a, const void *b)
{
	guint64 x = *(const guint64 *)a, y = *(const guint64 *)b;
	return x < y ? -1 : x > y;
}

gboolean
wp_spans_have_unique_ids(const WpSpans *spans)
{
	g_autofree guint64 *ids = g_new(guint64, MAX(spans->n, 1));
	for (guint32 i = 0; i < spans->n; i++) {
		ids[i] = spans->spans[i].id;
		if (ids[i] == WP_NO_ID)
			return FALSE;
	}
	qsort(ids, spans->n, sizeof *ids, compare_u64);
	for (guint32 i = 1; i < spans->n; i++)
		if (ids[i] == ids[i - 1])
			return FALSE;
	return TRUE;
}
