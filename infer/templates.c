/*
 * Mining, level by level: labels that have the same words (or values) up to a place are one group; the words
 * in the next place either split it, or are values and leave it whole.
 */
#include "infer/templates.h"

#include <string.h>

#include "infer/map.h"

#define VALUE "{}"

/* What stands behind so many words is one. */
#define MAX_WORDS 64

/* Times that the variance of counts may be its least, that of words met by chance, and they be about equal. */
#define MAX_DISPERSION 2

/* One label of one node. */
typedef struct {
	guint32 node;
	guint32 protocol;
	guint32 label;
	guint32 template; /* 0 = not mined yet */
	guint64 count;
	guint64 is_value; /* a bit for each word */
	gboolean is_rest; /* "{}": too rare where there are too many */
} Entry;

struct WpTemplates {
	WpStrings *strings;
	GArray *entries; /* Entry */
	WpMap *numbers;  /* (node, label) -> entry */
	WpMap *now;      /* (node, template before) -> template */
};

typedef struct {
	const char *text;
	guint8 length;
} Word;

/* A label while it is mined. */
typedef struct {
	Entry *entry;
	guint n_words;
	Word words[MAX_WORDS];
} Item;

/* What may be told from the words in one place. */
typedef struct {
	guint n;        /* different ones */
	guint n_once;   /* met once */
	double calls;   /* of all */
	double squares; /* sum of their squares, by word */
} Values;

/* The rules of one round. */
typedef struct {
	gboolean is_fixed; /* names of procedures: a fixed set, however even */
	guint limit;       /* more words are values in any case */
} Rules;

WpTemplates *
wp_templates_new(WpStrings *strings)
{
	WpTemplates *templates = g_new0(WpTemplates, 1);

	templates->strings = strings;
	templates->entries = g_array_new(FALSE, FALSE, sizeof(Entry));
	templates->numbers = wp_map_new();
	templates->now = wp_map_new();
	return templates;
}

void
wp_templates_free(WpTemplates *templates)
{
	if (!templates)
		return;
	g_array_unref(templates->entries);
	wp_map_free(templates->numbers);
	wp_map_free(templates->now);
	g_free(templates);
}

void
wp_templates_add(WpTemplates *templates, guint32 node, guint32 protocol, guint32 label)
{
	guint32 number = wp_map_number(templates->numbers, wp_map_key(node, label));

	if (number == templates->entries->len) {
		Entry entry = { .node = node, .protocol = protocol, .label = label };
		g_array_append_val(templates->entries, entry);
	}
	g_array_index(templates->entries, Entry, number).count++;
}

void
wp_templates_move(WpTemplates *templates, const guint32 *now)
{
	g_autoptr(GArray) old = g_steal_pointer(&templates->entries);

	wp_map_free(templates->numbers);
	templates->numbers = wp_map_new();
	templates->entries = g_array_new(FALSE, FALSE, sizeof(Entry));
	for (guint i = 0; i < old->len; i++) {
		Entry entry = g_array_index(old, Entry, i);
		entry.node = now[entry.node];
		guint32 number =
			wp_map_number(templates->numbers, wp_map_key(entry.node, entry.label));
		if (number == templates->entries->len) {
			g_array_append_val(templates->entries, entry);
			continue;
		}
		Entry *known = &g_array_index(templates->entries, Entry, number);
		known->count += entry.count;
		known->is_value |= entry.is_value;
		known->is_rest |= entry.is_rest;
	}
}

/* --- words --- */

static gboolean
is_separator(char c)
{
	return strchr(" /:.,()|?&=;", c) != NULL;
}

/* Words and what stands between them, alternating; a domain's from the last. */
static void
split(Item *item, const char *text, gboolean is_domain)
{
	gsize length = strlen(text);

	for (gsize at = 0; at < length;) {
		gsize end = at + 1;
		if (item->n_words == MAX_WORDS - 1)
			end = length;
		else if (!is_separator(text[at]))
			while (end < length && !is_separator(text[end]))
				end++;
		item->words[item->n_words++] =
			(Word){ text + at, (guint8)MIN(end - at, G_MAXUINT8) };
		at = end;
	}
	for (guint i = 0; is_domain && i < item->n_words / 2; i++) {
		Word last = item->words[item->n_words - 1 - i];
		item->words[item->n_words - 1 - i] = item->words[i];
		item->words[i] = last;
	}
}

/* What stands in place DEPTH: nothing more, a separator, or a word, which may be a value. */
typedef enum {
	PLACE_END,
	PLACE_SEPARATOR,
	PLACE_WORD
} Place;

static Place
place_of(const Item *item, guint depth)
{
	if (depth >= item->n_words)
		return PLACE_END;
	return is_separator(item->words[depth].text[0]) ? PLACE_SEPARATOR : PLACE_WORD;
}

/* -1, 0, 1: labels by what they have in place DEPTH, by kind first. */
static int
compare_words(const Item *left, const Item *right, guint depth)
{
	Place place = place_of(left, depth), other = place_of(right, depth);
	if (place != other || place == PLACE_END)
		return (place > other) - (place < other);
	const Word *a = &left->words[depth], *b = &right->words[depth];
	int order = memcmp(a->text, b->text, MIN(a->length, b->length));
	return order ? order : (a->length > b->length) - (a->length < b->length);
}

static int
compare_items(gconstpointer a, gconstpointer b, gpointer data)
{
	return compare_words(*(Item *const *)a, *(Item *const *)b, *(const guint *)data);
}

/* --- one place --- */

/* The end of the run of equal words that begins at FROM; with VALUES, of all words. */
static guint
run_end(Item *const *items, guint n, guint from, guint depth, gboolean values)
{
	guint end = from + 1;
	gboolean is_word = place_of(items[from], depth) == PLACE_WORD;

	if (values && is_word)
		return n;
	while (end < n && compare_words(items[from], items[end], depth) == 0)
		end++;
	return end;
}

/* Counts the words in place DEPTH. TRUE where one of them has become a value before. */
static gboolean
count_values(Item *const *items, guint n, guint depth, Values *out_values)
{
	gboolean was_value = FALSE;

	*out_values = (Values){ 0 };
	for (guint i = 0, end; i < n; i = end) {
		const Word *word = &items[i]->words[depth];
		double calls = 0;
		end = run_end(items, n, i, depth, FALSE);
		if (place_of(items[i], depth) != PLACE_WORD)
			continue;
		for (guint k = i; k < end; k++) {
			calls += (double)items[k]->entry->count;
			was_value |= items[k]->entry->is_value >> depth & 1;
		}
		if (word->length == strlen(VALUE) && memcmp(word->text, VALUE, word->length) == 0)
			continue;
		out_values->n++;
		out_values->n_once += calls < 2;
		out_values->calls += calls;
		out_values->squares += calls * calls;
	}
	return was_value;
}

/* TRUE where no word is asked for more often than others than chance explains. */
static gboolean
are_even(const Values *values)
{
	double mean = values->calls / values->n;
	double variance = (values->squares - values->calls * mean) / (values->n - 1);

	return variance <= MAX_DISPERSION * mean;
}

static gboolean
are_values(const Values *values, const Rules *rules)
{
	if (values->n > rules->limit)
		return TRUE;
	return !rules->is_fixed && values->n > WP_TEMPLATES_MANY &&
	       (2 * values->n_once >= values->n || are_even(values));
}

static void
mine_place(Item **items, guint n, guint depth, const Rules *rules)
{
	Values values;

	if (n == 0 || depth == MAX_WORDS)
		return;
	g_qsort_with_data(items, (gint)n, sizeof *items, compare_items, &depth);
	gboolean was_value = count_values(items, n, depth, &values);
	gboolean is_value = was_value || (depth > 0 && are_values(&values, rules));
	for (guint i = 0, end; i < n; i = end) {
		Place place = place_of(items[i], depth);
		end = run_end(items, n, i, depth, is_value);
		for (guint k = i; k < end && is_value && place == PLACE_WORD; k++)
			items[k]->entry->is_value |= G_GUINT64_CONSTANT(1) << depth;
		if (place != PLACE_END)
			mine_place(items + i, end - i, depth + 1, rules);
	}
}

/* --- the labels of one node and protocol --- */

static void
add_word(GString *text, const Item *item, guint place)
{
	if (item->entry->is_value >> place & 1)
		g_string_append(text, VALUE);
	else
		g_string_append_len(text, item->words[place].text, item->words[place].length);
}

static guint32
template_of(const WpTemplates *templates, const Item *item, gboolean is_domain)
{
	g_autoptr(GString) text = g_string_new(NULL);

	if (item->entry->is_rest)
		return wp_strings_intern(templates->strings, VALUE, -1);
	if (!item->entry->is_value)
		return item->entry->label;
	for (guint i = 0; i < item->n_words; i++)
		add_word(text, item, is_domain ? item->n_words - 1 - i : i);
	return wp_strings_intern(templates->strings, text->str, (gssize)text->len);
}

/* A template and the calls that have it. */
typedef struct {
	guint32 template;
	guint64 count;
} Share;

static int
compare_shares(gconstpointer a, gconstpointer b, gpointer data)
{
	const Share *left = a, *right = b;

	if (left->count != right->count)
		return left->count > right->count ? -1 : 1;
	return strcmp(wp_strings_get(data, left->template), wp_strings_get(data, right->template));
}

/* Sets the template of each; how many there are. All but the most frequent become "{}" where that is wanted. */
static guint
set_templates(const WpTemplates *templates, GArray *items, gboolean is_domain, gboolean cuts)
{
	g_autoptr(WpMap) numbers = wp_map_new();
	g_autoptr(WpMap) kept = wp_map_new();
	g_autoptr(GArray) shares = g_array_new(FALSE, FALSE, sizeof(Share));

	for (guint i = 0; i < items->len; i++) {
		Item *item = &g_array_index(items, Item, i);
		Share share = { template_of(templates, item, is_domain), 0 };
		item->entry->template = share.template;
		guint32 number = wp_map_number(numbers, share.template);
		if (number == shares->len)
			g_array_append_val(shares, share);
		g_array_index(shares, Share, number).count += item->entry->count;
	}
	if (!cuts || shares->len <= WP_TEMPLATES_MAX)
		return shares->len;
	g_array_sort_with_data(shares, compare_shares, templates->strings);
	for (guint i = 0; i < WP_TEMPLATES_MAX - 1; i++)
		wp_map_number(kept, g_array_index(shares, Share, i).template);
	for (guint i = 0; i < items->len; i++) {
		Entry *entry = g_array_index(items, Item, i).entry;
		if (wp_map_find(kept, entry->template) != WP_MAP_NONE)
			continue;
		entry->is_rest = TRUE;
		entry->template = wp_strings_intern(templates->strings, VALUE, -1);
	}
	return WP_TEMPLATES_MAX;
}

/* Procedures are named by programmers: there are as many as there are. */
static gboolean
has_fixed_labels(const char *protocol)
{
	static const char *const names[] = { "grpc", "ldap", "nfs", "rmi", "rpc", "thrift" };

	for (gsize i = 0; i < G_N_ELEMENTS(names); i++)
		if (strcmp(protocol, names[i]) == 0)
			return TRUE;
	return FALSE;
}

static void
mine_group(const WpTemplates *templates, GPtrArray *entries, const char *protocol)
{
	static const guint limits[] = { WP_TEMPLATES_VALUES, 50, 20, 10, 5, 2, 1 };
	g_autoptr(GArray) items = g_array_new(FALSE, FALSE, sizeof(Item));
	g_autofree Item **order = g_new(Item *, entries->len);
	gboolean is_domain = strcmp(protocol, "dns") == 0;

	for (guint i = 0; i < entries->len; i++) {
		Item item = { .entry = entries->pdata[i] };
		split(&item, wp_strings_get(templates->strings, item.entry->label), is_domain);
		g_array_append_val(items, item);
	}
	for (guint i = 0; i < G_N_ELEMENTS(limits); i++) {
		Rules rules = { has_fixed_labels(protocol), limits[i] };
		for (guint k = 0; k < items->len; k++)
			order[k] = &g_array_index(items, Item, k);
		mine_place(order, items->len, 0, &rules);
		if (set_templates(templates, items, is_domain, i + 1 == G_N_ELEMENTS(limits)) <=
		    WP_TEMPLATES_MAX)
			return;
	}
}

static int
compare_entries(gconstpointer a, gconstpointer b)
{
	const Entry *left = *(const Entry *const *)a, *right = *(const Entry *const *)b;

	if (left->node != right->node)
		return left->node < right->node ? -1 : 1;
	if (left->protocol != right->protocol)
		return left->protocol < right->protocol ? -1 : 1;
	return (left->label > right->label) - (left->label < right->label);
}

gboolean
wp_templates_mine(WpTemplates *templates)
{
	g_autoptr(GPtrArray) all = g_ptr_array_new();
	g_autofree guint32 *before = g_new(guint32, templates->entries->len + 1);
	gboolean has_changed = FALSE;

	for (guint i = 0; i < templates->entries->len; i++) {
		Entry *entry = &g_array_index(templates->entries, Entry, i);
		before[i] = entry->template;
		entry->template = entry->label;
		g_ptr_array_add(all, entry);
	}
	g_ptr_array_sort(all, compare_entries);
	for (guint i = 0, end; i < all->len; i = end) {
		const Entry *first = all->pdata[i];
		g_autoptr(GPtrArray) group = g_ptr_array_new();
		for (end = i; end < all->len; end++) {
			const Entry *entry = all->pdata[end];
			if (entry->node != first->node || entry->protocol != first->protocol)
				break;
			g_ptr_array_add(group, all->pdata[end]);
		}
		if (group->len > WP_TEMPLATES_MANY)
			mine_group(templates, group,
				   wp_strings_get(templates->strings, first->protocol));
	}
	wp_map_free(templates->now);
	templates->now = wp_map_new();
	for (guint i = 0; i < templates->entries->len; i++) {
		const Entry *entry = &g_array_index(templates->entries, Entry, i);
		if (!before[i])
			continue;
		wp_map_at(templates->now, wp_map_key(entry->node, before[i]), entry->template);
		has_changed |= before[i] != entry->template;
	}
	return has_changed;
}

guint32
wp_templates_of(const WpTemplates *templates, guint32 node, guint32 label)
{
	guint32 number = wp_map_find(templates->numbers, wp_map_key(node, label));

	return number == WP_MAP_NONE ? label
				     : g_array_index(templates->entries, Entry, number).template;
}

guint32
wp_templates_now(const WpTemplates *templates, guint32 node, guint32 template)
{
	guint32 now = wp_map_find(templates->now, wp_map_key(node, template));

	return now == WP_MAP_NONE ? template : now;
}

guint64
wp_templates_n_joined(const WpTemplates *templates, guint64 *out_n_templates)
{
	g_autoptr(WpMap) seen = wp_map_new();
	guint64 n = 0;

	for (guint i = 0; i < templates->entries->len; i++) {
		const Entry *entry = &g_array_index(templates->entries, Entry, i);
		if (entry->template == entry->label || !entry->template)
			continue;
		n++;
		wp_map_number(seen, wp_map_key(entry->node, entry->template));
	}
	*out_n_templates = wp_map_count(seen);
	return n;
}
