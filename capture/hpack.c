/*
 * HPACK by nghttp2's inflater. Seen from the start, bytes go to it as they are. Else representations go
 * one by one, and those that name entries older than what was seen are kept from it:
 *
 *     entries of the sender   | seen being added ... | older ....... |
 *     dynamic index           62                     62 + n seen
 *     of our inflater         | the same             | nothing       |
 *
 * An old name with a new value is given to it under a name that stands for "unknown", so that the
 * entry takes its place. Sizes of the sender's table are kept from it as well: ours only has to hold
 * no less, for what the sender has thrown out he does not name.
 *
 * Behind a hole K entries may have been added that were not seen. Senders write the same names in the
 * same order again and again, so fronts of such lists are kept (as hashes), and K is the number with
 * which the next block has names as one before. It must be the only one, and two names at least must be
 * told by the table. Then K unknown entries are put in.
 */
#include "capture/hpack.h"

#include <nghttp2/nghttp2.h>
#include <string.h>

#define STATIC_ENTRIES 61

/* Longer strings are refused, as nghttp2 does. */
#define MAX_STRING 65536

/* An entry over the default size of a table empties it where it is added (RFC 7541 section 4.4). */
#define MAX_ENTRY 4000

/* Fields in a block where it is only guessed at: servers refuse more than a hundred. */
#define MAX_GUESSED 256

/* What nghttp2 keeps for an inflater and for 4096 bytes of table. */
#define TYPICAL_BYTES 10240

/* No field has this name: a colon begins those of the protocol alone. */
static const char unknown_name[] = ":?";

/* Fronts of lists of names that are kept, and entries that a hole may hide. */
#define MAX_FRONTS 128
#define MAX_UNSEEN 24

/* Fields of one block that are compared. */
#define MAX_COMPARED 32

/* Blocks that are known to name nothing new: a server has a few, and a client some operations. */
#define MAX_SAME 8

typedef enum {
	INDEXED,
	ADDED,
	NOT_ADDED,
	RESIZE
} Kind;

/* One representation, as it stands there. */
typedef struct {
	Kind kind;
	guint32 index; /* of the field, or of its name: 0 = the name is written out; or the size */
	const guint8 *data;
	gsize length;
	gsize value_at; /* where the value begins: its length byte */
} Item;

struct WpHpack {
	nghttp2_hd_inflater *inflater; /* NULL until needed */
	gboolean is_late;              /* entries may be older than it */
	gboolean is_unsure;            /* entries may have been added since, behind a hole */
	gboolean is_open;              /* a block, of which more is to come */
	guint n_fronts;                /* ever kept; the latest MAX_FRONTS are there */
	guint32 fronts[MAX_FRONTS];
	guint n_same;           /* blocks read since the table changed or fronts went, ... */
	guint64 same[MAX_SAME]; /* ... of the latest the hashes: their fronts are there */
};

/* --- the form of blocks --- */

/* An integer with a prefix of BITS, section 5.1; none that is used needs more than 4 bytes behind. */
static gboolean
read_integer(WpBytes *in, guint bits, guint32 *out_value)
{
	guint32 most = (1u << bits) - 1;
	guint32 value = wp_bytes_u8(in) & most;

	if (value == most) {
		guint8 byte = 0x80;
		for (guint shift = 0; byte & 0x80; shift += 7) {
			if (shift > 21)
				return FALSE;
			byte = wp_bytes_u8(in);
			value += (guint32)(byte & 0x7f) << shift;
		}
	}
	*out_value = value;
	return TRUE;
}

static gboolean
skip_string(WpBytes *in)
{
	guint32 length;
	if (!read_integer(in, 7, &length) || length > MAX_STRING)
		return FALSE;
	wp_bytes_skip(in, length);
	return TRUE;
}

/* Kind and bits of the index by the first byte, section 6. */
static guint
prefix_of(guint8 first, Kind *out_kind)
{
	*out_kind = first & 0x80   ? INDEXED
		    : first & 0x40 ? ADDED
		    : first & 0x20 ? RESIZE
				   : NOT_ADDED;
	return first & 0x80 ? 7 : first & 0x40 ? 6 : first & 0x20 ? 5 : 4;
}

/* The representation at the cursor, which moves behind it. MORE where it is cut. */
static WpDecodeStatus
next_item(WpBytes *in, Item *out_item)
{
	WpBytes at = *in;
	Item item = { .data = in->data + in->at };
	gboolean is_good = TRUE;

	if (wp_bytes_left(in) == 0)
		return WP_DECODE_MORE;
	is_good = read_integer(&at, prefix_of(item.data[0], &item.kind), &item.index);
	if (is_good && (item.kind == ADDED || item.kind == NOT_ADDED)) {
		if (item.index == 0)
			is_good = skip_string(&at);
		item.value_at = at.at - in->at;
		is_good = is_good && skip_string(&at);
	}
	if (!is_good || (item.kind == INDEXED && item.index == 0 && !at.failed))
		return WP_DECODE_BAD;
	if (at.failed)
		return WP_DECODE_MORE;
	item.length = at.at - in->at;
	*in = at;
	*out_item = item;
	return WP_DECODE_OK;
}

/*
 * The pseudo-fields of appendix A, as bits: 1 is :authority, 2 and 3 :method, 4 and 5 :path, 6 and 7
 * :scheme, 8 to 14 :status.
 */
#define STATUS_BIT 16

static guint
pseudo_of(guint32 index)
{
	return index == 0 || index > 14 ? 0 : index > 7 ? STATUS_BIT : 1u << index / 2;
}

/*
 * Each pseudo-field comes once, with a value, before others (RFC 9113 section 8.3); those of requests
 * and of responses do not mix.
 */
static gboolean
note_item(const Item *item, guint *seen, gboolean *has_others, WpHpackShape *shape)
{
	guint bit = pseudo_of(item->index);
	gboolean is_empty = item->kind != INDEXED && item->data[item->value_at] == 0;

	/* Those of the dynamic table may be any. */
	*has_others |= item->index > 14 && item->index <= STATIC_ENTRIES;
	if (bit && (*seen & bit || is_empty || *has_others))
		return FALSE;
	*seen |= bit;
	shape->n_items++;
	shape->n_request += bit && bit != STATUS_BIT;
	shape->n_response += bit == STATUS_BIT;
	return !shape->n_request || !shape->n_response;
}

gboolean
wp_hpack_shape(WpBytes in, WpHpackShape *out_shape)
{
	WpHpackShape shape = { 0 };
	Item item;
	WpDecodeStatus status = WP_DECODE_OK;
	guint seen = 0;
	gboolean has_others = FALSE;

	while (wp_bytes_left(&in) && (status = next_item(&in, &item)) == WP_DECODE_OK) {
		if (item.kind == RESIZE) {
			/* Only in front of all fields (section 4.2). */
			if (shape.n_items || item.index > (1 << 24))
				return FALSE;
			continue;
		}
		if (!note_item(&item, &seen, &has_others, &shape) || shape.n_items > MAX_GUESSED)
			return FALSE;
	}
	if (status == WP_DECODE_BAD)
		return FALSE;
	shape.is_whole = wp_bytes_left(&in) == 0;
	*out_shape = shape;
	return TRUE;
}

/* --- inflating --- */

WpHpack *
wp_hpack_new(gboolean from_start)
{
	WpHpack *hpack = g_new0(WpHpack, 1);
	hpack->is_late = !from_start;
	return hpack;
}

static void
drop_inflater(WpHpack *hpack)
{
	if (hpack->inflater)
		nghttp2_hd_inflate_del(hpack->inflater);
	hpack->inflater = NULL;
}

void
wp_hpack_free(WpHpack *hpack)
{
	if (!hpack)
		return;
	drop_inflater(hpack);
	g_free(hpack);
}

/* Begins anew with what comes. */
static void
start_late(WpHpack *hpack)
{
	drop_inflater(hpack);
	hpack->n_same = 0;
	hpack->is_late = TRUE;
	hpack->is_unsure = FALSE;
	hpack->is_open = FALSE;
}

void
wp_hpack_lose(WpHpack *hpack)
{
	if (hpack->is_open || !hpack->inflater)
		start_late(hpack);
	else
		hpack->is_unsure = TRUE;
}

gsize
wp_hpack_memory(const WpHpack *hpack)
{
	return sizeof *hpack + (hpack->inflater ? TYPICAL_BYTES : 0);
}

static inline gboolean
is_unknown(const nghttp2_nv *entry)
{
	return entry->namelen == sizeof unknown_name - 1 &&
	       memcmp(entry->name, unknown_name, sizeof unknown_name - 1) == 0;
}

/* Bytes to the inflater, fields out of it. */
static gboolean
inflate(WpHpack *hpack, const guint8 *data, gsize length, gboolean is_last, WpHpackFunc func,
	gpointer user_data)
{
	for (;;) {
		nghttp2_nv field;
		int flags = 0;
		ssize_t n = nghttp2_hd_inflate_hd2(hpack->inflater, &field, &flags, data, length,
						   is_last);
		if (n < 0)
			return FALSE;
		data += n;
		length -= (gsize)n;
		if (flags & NGHTTP2_HD_INFLATE_EMIT) {
			const char *name = (const char *)field.name;
			gboolean is_known = !is_unknown(&field);
			if (func)
				func(user_data, is_known ? name : NULL,
				     is_known ? field.namelen : 0, (const char *)field.value,
				     field.valuelen);
		} else if (flags & NGHTTP2_HD_INFLATE_FINAL) {
			return nghttp2_hd_inflate_end_headers(hpack->inflater) == 0;
		} else if (length == 0) {
			return !is_last;
		} else if (n == 0) {
			return FALSE;
		}
	}
}

/* An inflater that may be asked for the largest table; one that comes late has it at once. */
static gboolean
start_inflater(WpHpack *hpack)
{
	/* Section 6.3: the size, 65536, behind a prefix of 5 bits. */
	static const guint8 resize[] = { 0x3f, 0xe1, 0xff, 0x03 };

	if (nghttp2_hd_inflate_new(&hpack->inflater) != 0)
		g_error("hpack: out of memory");
	nghttp2_hd_inflate_change_table_size(hpack->inflater, WP_HPACK_MAX_TABLE);
	return !hpack->is_late || inflate(hpack, resize, sizeof resize, TRUE, NULL, NULL);
}

static const guint8 unknown_literal[] = { 0x40, sizeof unknown_name - 1, ':', '?' };

static gboolean
knows(const WpHpack *hpack, guint32 index)
{
	return index <= STATIC_ENTRIES ||
	       (!hpack->is_unsure &&
		index <= nghttp2_hd_inflate_get_num_table_entries(hpack->inflater));
}

/* One representation of a direction of which not all was seen. */
static gboolean
inflate_item(WpHpack *hpack, const Item *item, WpHpackFunc func, gpointer user_data)
{
	if (item->kind == RESIZE && hpack->is_late)
		return TRUE;
	if (item->kind == ADDED && item->length > MAX_ENTRY && hpack->is_late)
		return FALSE;
	if (item->kind == RESIZE || knows(hpack, item->index))
		return inflate(hpack, item->data, item->length, FALSE, func, user_data);
	if (item->kind == ADDED)
		return inflate(hpack, unknown_literal, sizeof unknown_literal, FALSE, func,
			       user_data) &&
		       inflate(hpack, item->data + item->value_at, item->length - item->value_at,
			       FALSE, func, user_data);
	func(user_data, NULL, 0, NULL, 0);
	return TRUE;
}

static gboolean
inflate_items(WpHpack *hpack, WpBytes in, WpHpackPart part, WpHpackFunc func, gpointer user_data)
{
	Item item;
	WpDecodeStatus status = WP_DECODE_OK;

	while (wp_bytes_left(&in) && (status = next_item(&in, &item)) == WP_DECODE_OK)
		if (!inflate_item(hpack, &item, func, user_data))
			return FALSE;
	if (status == WP_DECODE_BAD || (status == WP_DECODE_MORE && part != WP_HPACK_CUT))
		return FALSE;
	return part == WP_HPACK_MORE || inflate(hpack, in.data, 0, TRUE, func, user_data);
}

/* --- behind holes --- */

static inline guint64
load_word(const guint8 *data)
{
	guint64 word;
	memcpy(&word, data, sizeof word);
	return word;
}

/* By words, the last of which may overlap the one before. */
static guint32
mix(guint32 front, const guint8 *data, gsize length)
{
	guint64 hash = (front ^ (guint64)length << 32) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);

	if (length < 8) {
		for (gsize i = 0; i < length; i++)
			hash = (hash ^ data[i]) * G_GUINT64_CONSTANT(0x100000001b3);
		return (guint32)(hash >> 32);
	}
	for (gsize at = 0; at + 8 < length; at += 8) {
		hash = (hash ^ load_word(data + at)) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
	}
	hash = (hash ^ load_word(data + length - 8)) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
	return (guint32)(hash >> 32);
}

/* The names of a block's fields as far as they are told by the table, N_UNSEEN entries added since. */
typedef struct {
	guint n;       /* fields */
	guint n_up_to; /* ... up to the last one that the dynamic table tells */
	guint n_told;  /* ... different names of the dynamic table */
	guint32 fronts[MAX_COMPARED];
	const char *told[MAX_COMPARED];
	gboolean has_added; /* a field was one that the table gets */
} Names;

/* The entry that INDEX, above the static ones, meant before N_NEW others were added; NULL = none. */
static const nghttp2_nv *
old_entry(const WpHpack *hpack, guint32 index, guint n_new)
{
	if (index <= STATIC_ENTRIES + n_new)
		return NULL;
	return nghttp2_hd_inflate_get_table_entry(hpack->inflater, index - n_new);
}

static void
note_told(Names *names, const char *name)
{
	for (guint i = 0; i < names->n_told; i++)
		if (names->told[i] == name || strcmp(names->told[i], name) == 0)
			return;
	names->told[names->n_told++] = name;
}

/* FALSE where the name of ITEM is not known so. */
static gboolean
add_name(const WpHpack *hpack, const Item *item, guint n_new, Names *names)
{
	guint32 hash = names->n ? names->fronts[names->n - 1] : 0;

	if (item->kind == RESIZE || names->n == MAX_COMPARED)
		return FALSE;
	if (item->index == 0) {
		/* As it is coded: a sender always does it in one way. */
		hash = mix(hash, item->data + 1, item->value_at - 1);
	} else {
		gboolean is_static = item->index <= STATIC_ENTRIES;
		const nghttp2_nv *entry = old_entry(hpack, item->index, n_new);
		if (is_static)
			entry = nghttp2_hd_inflate_get_table_entry(hpack->inflater, item->index);
		if (!entry || is_unknown(entry))
			return FALSE;
		hash = mix(hash, entry->name, entry->namelen);
		if (!is_static) {
			note_told(names, (const char *)entry->name);
			names->n_up_to = names->n + 1;
		}
	}
	names->fronts[names->n++] = hash;
	return TRUE;
}

/* FALSE where a name of the block is not known so. */
static gboolean
read_names(const WpHpack *hpack, WpBytes in, guint n_unseen, Names *out_names)
{
	Item item;

	out_names->n = out_names->n_told = out_names->n_up_to = 0;
	out_names->has_added = FALSE;
	while (wp_bytes_left(&in) && next_item(&in, &item) == WP_DECODE_OK) {
		if (!add_name(hpack, &item, n_unseen, out_names))
			return FALSE;
		n_unseen += item.kind == ADDED;
		out_names->has_added |= item.kind == ADDED;
	}
	return TRUE;
}

/* Where FRONT is kept; MAX_FRONTS = nowhere. */
static guint
find_front(const WpHpack *hpack, guint32 front)
{
	guint n = MIN(hpack->n_fronts, MAX_FRONTS), i = 0;

	while (i < n && hpack->fronts[i] != front)
		i++;
	return i < n ? i : MAX_FRONTS;
}

/* TRUE where a block of these bytes was read, and the table and the fronts are as they were then. */
static gboolean
is_same(const WpHpack *hpack, guint64 hash)
{
	for (guint i = 0; i < MIN(hpack->n_same, MAX_SAME); i++)
		if (hpack->same[i] == hash)
			return TRUE;
	return FALSE;
}

/* The names of a block that will be read as it is. */
static void
keep_names(WpHpack *hpack, WpBytes in)
{
	Names names;
	guint place = 0, n_before = hpack->n_fronts;
	guint64 hash = (guint64)mix(1, in.data, in.length) << 32 | mix(2, in.data, in.length);

	if (is_same(hpack, hash))
		return;
	gboolean is_known = read_names(hpack, in, 0, &names);
	if (!is_known || names.has_added)
		hpack->n_same = 0;
	if (!is_known)
		return;
	/* Those of one list were kept one behind the other. */
	for (guint i = 0; i < names.n; i++, place++) {
		if (place < MIN(hpack->n_fronts, MAX_FRONTS) &&
		    hpack->fronts[place] == names.fronts[i])
			continue;
		place = find_front(hpack, names.fronts[i]);
		if (place < MAX_FRONTS)
			continue;
		place = hpack->n_fronts++ % MAX_FRONTS;
		hpack->fronts[place] = names.fronts[i];
	}
	if (hpack->n_fronts > n_before && hpack->n_fronts > MAX_FRONTS)
		hpack->n_same = 0; /* others have gone for them */
	if (!names.has_added)
		hpack->same[hpack->n_same++ % MAX_SAME] = hash;
}

/* One front stands for all before it; what is written out behind tells nothing. */
static gboolean
fits(const WpHpack *hpack, WpBytes in, guint n_unseen)
{
	Names names;
	return read_names(hpack, in, n_unseen, &names) && names.n_told >= 2 &&
	       find_front(hpack, names.fronts[names.n_up_to - 1]) < MAX_FRONTS;
}

/* TRUE where the table is as the sender's again. */
static gboolean
find_place(WpHpack *hpack, WpBytes in)
{
	static const guint8 no_value[] = { 0 };
	guint n_found = 0, found = 0;

	for (guint n = 0; n <= MAX_UNSEEN; n++) {
		if (!fits(hpack, in, n))
			continue;
		found = n;
		n_found++;
	}
	if (n_found != 1)
		return FALSE;
	for (; found; found--)
		if (!inflate(hpack, unknown_literal, sizeof unknown_literal, FALSE, NULL, NULL) ||
		    !inflate(hpack, no_value, sizeof no_value, FALSE, NULL, NULL))
			return FALSE;
	return TRUE;
}

static gboolean
adds_entries(WpBytes in)
{
	Item item;
	while (wp_bytes_left(&in) && next_item(&in, &item) == WP_DECODE_OK)
		if (item.kind == ADDED)
			return TRUE;
	return FALSE;
}

/* Before the first bytes of a block. */
static gboolean
start_block(WpHpack *hpack, WpBytes in, WpHpackPart part)
{
	if (!hpack->is_unsure && part == WP_HPACK_WHOLE) {
		keep_names(hpack, in);
		return TRUE;
	}
	hpack->n_same = 0; /* what it adds is not looked at */
	if (!hpack->is_unsure)
		return TRUE;
	if (part != WP_HPACK_MORE && find_place(hpack, in)) {
		hpack->is_unsure = FALSE;
	} else if (part != WP_HPACK_WHOLE || adds_entries(in)) {
		start_late(hpack);
		return start_inflater(hpack);
	}
	return TRUE;
}

gboolean
wp_hpack_read(WpHpack *hpack, const guint8 *data, gsize length, WpHpackPart part, WpHpackFunc func,
	      gpointer user_data)
{
	WpBytes in = wp_bytes(data, length);

	gboolean is_good = hpack->inflater || start_inflater(hpack);
	if (is_good && !hpack->is_open)
		is_good = start_block(hpack, in, part);
	if (is_good && (hpack->is_late || hpack->is_unsure || part == WP_HPACK_CUT))
		is_good = inflate_items(hpack, in, part, func, user_data);
	else if (is_good)
		is_good = inflate(hpack, data, length, part == WP_HPACK_WHOLE, func, user_data);
	hpack->is_open = part == WP_HPACK_MORE;
	if (!is_good)
		start_late(hpack);
	else if (part == WP_HPACK_CUT)
		hpack->is_unsure = TRUE;
	return is_good;
}
