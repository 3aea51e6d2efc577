/* Requests into blocks: sums that stay few however many requests come. */
#include "report/digest.h"

#include <math.h>
#include <string.h>

static void
part_free(gpointer data)
{
	WpDigestPart *part = data;
	g_array_unref(part->sums);
	g_free(part->strata);
	g_free(part);
}

static void
operation_free(gpointer data)
{
	WpDigestOperation *operation = data;
	g_array_unref(operation->blocks);
	g_array_unref(operation->bins);
	g_ptr_array_unref(operation->parts);
	g_free(operation);
}

static void
pattern_clear(gpointer data)
{
	g_free(((WpDigestPattern *)data)->places);
}

WpDigest *
wp_digest_new(void)
{
	WpDigest *digest = g_new0(WpDigest, 1);
	digest->facts = (WpDigestFacts){ .options = "", .loss = G_MAXUINT64 };
	digest->nodes = g_array_new(FALSE, TRUE, sizeof(WpDigestNode));
	digest->operations = g_ptr_array_new_with_free_func(operation_free);
	digest->patterns = g_array_new(FALSE, TRUE, sizeof(WpDigestPattern));
	g_array_set_clear_func(digest->patterns, pattern_clear);
	digest->edges = g_array_new(FALSE, TRUE, sizeof(WpDigestEdge));
	digest->texts = g_string_chunk_new(4096);
	return digest;
}

void
wp_digest_free(WpDigest *digest)
{
	if (!digest)
		return;
	g_array_unref(digest->nodes);
	g_ptr_array_unref(digest->operations);
	g_array_unref(digest->patterns);
	g_array_unref(digest->edges);
	g_string_chunk_free(digest->texts);
	g_free(digest);
}

const char *
wp_digest_text(WpDigest *digest, const char *text)
{
	g_autofree char *valid = g_utf8_make_valid(text, -1);
	return g_string_chunk_insert_const(digest->texts, valid);
}

WpDigestOperation *
wp_digest_operation(const WpDigest *digest, guint32 operation)
{
	return digest->operations->pdata[operation];
}

WpDigestPart *
wp_digest_part(const WpDigestOperation *operation, guint32 part)
{
	return operation->parts->pdata[part];
}

guint32
wp_digest_add_node(WpDigest *digest, const char *name, gboolean is_named)
{
	WpDigestNode node = { .name = wp_digest_text(digest, name),
			      .is_named = is_named,
			      .service = "" };
	g_array_append_val(digest->nodes, node);
	return digest->nodes->len - 1;
}

guint32
wp_digest_add_operation(WpDigest *digest, guint32 client, guint32 node, const char *label,
			const char *protocol)
{
	if (digest->operations->len >= WP_DIGEST_MAX_OPERATIONS)
		return G_MAXUINT32;
	WpDigestOperation *operation = g_new0(WpDigestOperation, 1);
	operation->client = client;
	operation->node = node;
	operation->label = wp_digest_text(digest, label);
	operation->protocol = wp_digest_text(digest, protocol);
	operation->block_requests = 1;
	operation->blocks = g_array_new(FALSE, TRUE, sizeof(WpDigestBlock));
	operation->bins = g_array_new(FALSE, TRUE, sizeof(WpDigestBin));
	operation->parts = g_ptr_array_new_with_free_func(part_free);
	g_ptr_array_add(digest->operations, operation);
	return digest->operations->len - 1;
}

guint32
wp_digest_add_part(WpDigest *digest, guint32 number, guint32 node, guint32 caller,
		   const char *label, const char *protocol)
{
	WpDigestOperation *operation = wp_digest_operation(digest, number);
	if (operation->parts->len >= WP_DIGEST_MAX_PARTS)
		return G_MAXUINT32;
	WpDigestPart *part = g_new0(WpDigestPart, 1);
	part->node = node;
	part->caller = caller;
	part->label = wp_digest_text(digest, label);
	part->protocol = wp_digest_text(digest, protocol);
	part->sums = g_array_new(FALSE, TRUE, sizeof(WpDigestSums));
	part->strata = g_new0(WpDigestStratum, WP_DIGEST_GROUPS * WP_DIGEST_LEVELS);
	g_ptr_array_add(operation->parts, part);
	return operation->parts->len - 1;
}

/* --- blocks --- */

static void
add_block(WpDigestBlock *to, const WpDigestBlock *from)
{
	if (!to->requests || from->begin_ns < to->begin_ns)
		to->begin_ns = from->begin_ns;
	to->requests += from->requests;
	to->errors += from->errors;
	to->latency_ns += from->latency_ns;
}

static void
add_sums(WpDigestSums *to, const WpDigestSums *from)
{
	to->made += from->made;
	to->calls += from->calls;
	to->self_ns += from->self_ns;
	to->served_ns += from->served_ns;
	to->network_ns += from->network_ns;
	to->n_network += from->n_network;
}

static WpDigestSums *
sums_at(WpDigestPart *part, guint block)
{
	if (part->sums->len <= block)
		g_array_set_size(part->sums, block + 1);
	return &g_array_index(part->sums, WpDigestSums, block);
}

static void
add_strata(WpDigestPart *part, guint to, const WpDigestStratum *from)
{
	WpDigestStratum *own = part->strata + to * WP_DIGEST_LEVELS;
	for (guint i = 0; i < WP_DIGEST_LEVELS; i++) {
		own[i].ended += from[i].ended;
		own[i].self_ns += from[i].self_ns;
	}
}

static void
halve_part(WpDigestPart *part)
{
	guint n = part->sums->len;
	WpDigestSums *sums = (WpDigestSums *)(void *)part->sums->data;
	for (guint i = 0; i < n; i++) {
		WpDigestSums one = sums[i];
		if (i % 2 == 0)
			sums[i / 2] = one;
		else
			add_sums(&sums[i / 2], &one);
	}
	g_array_set_size(part->sums, (n + 1) / 2);

	g_autofree WpDigestStratum *old = part->strata;
	part->strata = g_new0(WpDigestStratum, WP_DIGEST_GROUPS * WP_DIGEST_LEVELS);
	for (guint i = 0; i < WP_DIGEST_GROUPS; i++)
		add_strata(part, i / 2, old + i * WP_DIGEST_LEVELS);
}

/* Neighbours become one: half as many blocks, twice as long. */
static void
halve(WpDigestOperation *operation)
{
	guint n = operation->blocks->len;
	WpDigestBlock *blocks = (WpDigestBlock *)(void *)operation->blocks->data;
	for (guint i = 0; i < n; i++) {
		WpDigestBlock one = blocks[i];
		if (i % 2 == 0)
			blocks[i / 2] = one;
		else
			add_block(&blocks[i / 2], &one);
	}
	g_array_set_size(operation->blocks, (n + 1) / 2);
	operation->block_requests *= 2;
	for (guint i = 0; i < operation->parts->len; i++)
		halve_part(wp_digest_part(operation, i));
}

void
wp_digest_add_request(WpDigest *digest, guint32 number, gint64 begin_ns, gint64 latency_ns,
		      gboolean is_error)
{
	WpDigestOperation *operation = wp_digest_operation(digest, number);
	GArray *blocks = operation->blocks;
	WpDigestBlock *last =
		blocks->len ? &g_array_index(blocks, WpDigestBlock, blocks->len - 1) : NULL;

	if (!last || last->requests >= operation->block_requests) {
		if (blocks->len == WP_DIGEST_BLOCKS)
			halve(operation);
		g_array_set_size(blocks, blocks->len + 1);
		last = &g_array_index(blocks, WpDigestBlock, blocks->len - 1);
		last->begin_ns = (guint64)MAX(begin_ns, 0);
	}
	last->requests++;
	last->errors += is_error;
	last->latency_ns += (guint64)MAX(latency_ns, 0);
	operation->count++;
	operation->errors += is_error;
	digest->facts.n_requests++;
}

guint
wp_digest_level(guint32 others)
{
	static const guint32 last[WP_DIGEST_LEVELS - 1] = { 0, 1,  2,  3,  4,  5,  6, 7,
							    9, 12, 16, 23, 32, 48, 64 };
	guint level = 0;
	while (level < WP_DIGEST_LEVELS - 1 && others > last[level])
		level++;
	return level;
}

static void
add_times(WpDigestPart *part, guint block, const WpDigestCall *call)
{
	WpDigestSums *sums = sums_at(part, block);
	guint64 self_ns = (guint64)call->self_ns;
	WpDigestStratum *levels = part->strata + block / WP_DIGEST_GROUP * WP_DIGEST_LEVELS;
	sums->calls++;
	sums->self_ns += self_ns;
	sums->served_ns += (guint64)MAX(call->served_ns, 0);
	levels[call->ended_at].ended++;
	for (guint i = 0; i < WP_DIGEST_LEVELS; i++)
		levels[i].self_ns += (guint64)MAX(call->levels_ns[i], 0);
	part->n_timed++;
}

void
wp_digest_add_call(WpDigest *digest, guint32 number, guint32 place, const WpDigestCall *call)
{
	WpDigestOperation *operation = wp_digest_operation(digest, number);
	WpDigestPart *part = wp_digest_part(operation, place);
	guint block = operation->blocks->len - 1;

	part->calls++;
	part->errors += call->is_error;
	part->link_odds += call->link_odds;
	part->n_waits += call->waits;
	WpDigestSums *sums = sums_at(part, block);
	sums->made++;
	if (call->self_ns >= 0)
		add_times(part, block, call);
	if (call->network_ns >= 0) {
		sums->network_ns += (guint64)call->network_ns;
		sums->n_network++;
	}
	digest->facts.n_calls++;
}

/* --- joining --- */

static int
compare_blocks(gconstpointer a, gconstpointer b)
{
	const WpDigestBlock *left = *(WpDigestBlock *const *)a, *right = *(WpDigestBlock *const *)b;
	if (left->begin_ns != right->begin_ns)
		return left->begin_ns < right->begin_ns ? -1 : 1;
	return left < right ? -1 : left > right;
}

/* Moves what PART knows of its blocks to PLACES, where they are now. */
static void
replace_part(WpDigestPart *part, const guint *places)
{
	g_autoptr(GArray) old = part->sums;
	g_autofree WpDigestStratum *strata = part->strata;
	part->sums = g_array_new(FALSE, TRUE, sizeof(WpDigestSums));
	part->strata = g_new0(WpDigestStratum, WP_DIGEST_GROUPS * WP_DIGEST_LEVELS);
	for (guint i = 0; i < old->len; i++)
		add_sums(sums_at(part, places[i]), &g_array_index(old, WpDigestSums, i));
	for (guint i = 0; i * WP_DIGEST_GROUP < old->len; i++)
		add_strata(part, places[i * WP_DIGEST_GROUP] / WP_DIGEST_GROUP,
			   strata + i * WP_DIGEST_LEVELS);
}

static WpDigestPart *
like_part(const WpDigestOperation *operation, const WpDigestPart *part)
{
	for (guint i = 0; i < operation->parts->len; i++) {
		WpDigestPart *own = wp_digest_part(operation, i);
		if (own->node == part->node && strcmp(own->label, part->label) == 0 &&
		    strcmp(own->protocol, part->protocol) == 0)
			return own;
	}
	return NULL;
}

static void
join_part(WpDigestPart *into, const WpDigestPart *from)
{
	into->calls += from->calls;
	into->n_timed += from->n_timed;
	into->errors += from->errors;
	into->link_odds += from->link_odds;
	into->n_waits += from->n_waits;
	for (guint i = 0; i < from->sums->len; i++)
		add_sums(sums_at(into, i), &g_array_index(from->sums, WpDigestSums, i));
	for (guint i = 0; i < WP_DIGEST_GROUPS; i++)
		add_strata(into, i, from->strata + i * WP_DIGEST_LEVELS);
}

static int
compare_bins(gconstpointer a, gconstpointer b)
{
	const WpDigestBin *left = a, *right = b;
	return left->low_ns < right->low_ns ? -1 : left->low_ns > right->low_ns;
}

void
wp_digest_join_bins(GArray *into, const GArray *from)
{
	g_array_append_vals(into, from->data, from->len);
	g_array_sort(into, compare_bins);
	guint n = 0;
	for (guint i = 0; i < into->len; i++) {
		WpDigestBin *bin = &g_array_index(into, WpDigestBin, i);
		WpDigestBin *last = n ? &g_array_index(into, WpDigestBin, n - 1) : NULL;
		if (last && last->low_ns == bin->low_ns)
			last->count += bin->count;
		else
			g_array_index(into, WpDigestBin, n++) = *bin;
	}
	g_array_set_size(into, n);
}

/* The blocks of both in order of time, joined in pairs while they are too many. */
static void
join_blocks(WpDigestOperation *into, WpDigestOperation *from)
{
	g_autoptr(GPtrArray) order = g_ptr_array_new();
	WpDigestOperation *const both[] = { into, from };
	for (guint k = 0; k < 2; k++)
		for (guint i = 0; i < both[k]->blocks->len; i++)
			g_ptr_array_add(order, &g_array_index(both[k]->blocks, WpDigestBlock, i));
	g_ptr_array_sort(order, compare_blocks);
	guint size = 1;
	while ((order->len + size - 1) / size > WP_DIGEST_BLOCKS)
		size *= 2;

	g_autoptr(GArray) blocks = g_array_new(FALSE, TRUE, sizeof(WpDigestBlock));
	g_array_set_size(blocks, (order->len + size - 1) / size);
	guint places[2][WP_DIGEST_BLOCKS];
	const WpDigestBlock *first = (const WpDigestBlock *)(const void *)from->blocks->data;
	for (guint i = 0; i < order->len; i++) {
		const WpDigestBlock *block = order->pdata[i];
		guint k = block >= first && block < first + from->blocks->len;
		guint number =
			(guint)(block - (const WpDigestBlock *)(const void *)both[k]->blocks->data);
		places[k][number] = i / size;
		add_block(&g_array_index(blocks, WpDigestBlock, i / size), block);
	}
	for (guint k = 0; k < 2; k++)
		for (guint i = 0; i < both[k]->parts->len; i++)
			replace_part(wp_digest_part(both[k], i), places[k]);
	g_array_set_size(into->blocks, 0);
	g_array_append_vals(into->blocks, blocks->data, blocks->len);
	g_array_set_size(from->blocks, 0);
}

void
wp_digest_join(WpDigest *digest, guint32 into_number, guint32 from_number)
{
	WpDigestOperation *into = wp_digest_operation(digest, into_number);
	WpDigestOperation *from = wp_digest_operation(digest, from_number);

	join_blocks(into, from);
	wp_digest_join_bins(into->bins, from->bins);
	into->count += from->count;
	into->errors += from->errors;
	into->n_left += from->n_left;
	into->is_background &= from->is_background;
	for (guint i = 0; i < from->parts->len; i++) {
		WpDigestPart *part = wp_digest_part(from, i), *own = like_part(into, part);
		if (!own) {
			guint32 added =
				wp_digest_add_part(digest, into_number, part->node, part->caller,
						   part->label, part->protocol);
			if (added == G_MAXUINT32) {
				into->n_left += part->calls;
				continue;
			}
			own = wp_digest_part(into, added);
		}
		join_part(own, part);
	}
	g_ptr_array_set_size(from->parts, 0);
	g_array_set_size(from->bins, 0);
	from->count = from->errors = 0;
	for (guint i = 0; i < digest->patterns->len; i++) {
		WpDigestPattern *pattern = &g_array_index(digest->patterns, WpDigestPattern, i);
		if (pattern->operation == from_number)
			pattern->operation = into_number;
	}
}

/* --- renaming --- */

static gboolean
rename_part(WpDigestOperation *operation, guint32 place, guint32 node, const char *from,
	    const char *to)
{
	WpDigestPart *part = wp_digest_part(operation, place);
	if (part->node != node || strcmp(part->label, from) != 0)
		return FALSE;
	part->label = to;
	WpDigestPart *like = like_part(operation, part);
	if (like == part)
		return FALSE;
	join_part(like, part);
	return TRUE;
}

static void
rename_parts(WpDigestOperation *operation, guint32 node, const char *from, const char *to)
{
	for (guint i = 0; i < operation->parts->len;) {
		if (rename_part(operation, i, node, from, to))
			g_ptr_array_remove_index(operation->parts, i);
		else
			i++;
	}
}

void
wp_digest_rename(WpDigest *digest, guint32 node, const char *from, const char *to_text)
{
	const char *to = wp_digest_text(digest, to_text);
	g_autofree char *old = g_strdup(from);
	for (guint i = 0; i < digest->operations->len; i++) {
		WpDigestOperation *operation = wp_digest_operation(digest, i);
		if (operation->node == node && strcmp(operation->label, old) == 0)
			operation->label = to;
		rename_parts(operation, node, old, to);
	}
	for (guint i = 0; i < digest->patterns->len; i++) {
		WpDigestPattern *pattern = &g_array_index(digest->patterns, WpDigestPattern, i);
		for (guint32 k = 0; k < pattern->n_places; k++)
			if (pattern->places[k].node == node &&
			    strcmp(pattern->places[k].label, old) == 0)
				pattern->places[k].label = to;
	}
}

/* --- the rest --- */

void
wp_digest_add_turn(WpDigest *digest, guint32 number, gboolean follows, gboolean overtakes,
		   guint32 others, gint64 served_ns)
{
	WpDigestNode *node = &g_array_index(digest->nodes, WpDigestNode, number);
	node->n_followed += follows;
	node->n_overtook += overtakes;
	if (others) {
		node->n_queued++;
		node->queued_ns += (guint64)MAX(served_ns, 0);
	} else {
		node->n_alone++;
		node->alone_ns += (guint64)MAX(served_ns, 0);
	}
}

/* Calls that show whether a node serves in turn: fewer say nothing. */
#define MIN_TURNS 30

/* Of calls that could have overtaken the one before; more of them, and it is no queue. */
#define MAX_OVERTAKING 0.02

/*
 * Where one call is served after the other, the time since the call before had left is a call's own time, whether it
 * found one there or not. With several workers it is shorter where calls queue, as others were at work meanwhile.
 */
#define MAX_UNLIKE 1.25

gboolean
wp_digest_is_in_turn(const WpDigestNode *node)
{
	if (node->n_followed < MIN_TURNS || node->n_alone < MIN_TURNS ||
	    node->n_queued < MIN_TURNS ||
	    (double)node->n_overtook > MAX_OVERTAKING * (double)node->n_followed)
		return FALSE;
	double queued = (double)node->queued_ns / (double)node->n_queued;
	double alone = (double)node->alone_ns / (double)node->n_alone;
	/* Means of so many are that far off by chance, 19 times of 20. */
	double chance = 1 + 2 / sqrt((double)MIN(node->n_queued, node->n_alone));
	return queued < MAX_UNLIKE * chance * alone && alone < MAX_UNLIKE * chance * queued;
}

void
wp_digest_add_pattern(WpDigest *digest, guint32 operation, guint64 count, guint64 total_ns,
		      const WpDigestPlace *places, guint32 n_places)
{
	if (digest->patterns->len >= WP_DIGEST_MAX_PATTERNS) {
		digest->n_patterns_left++;
		return;
	}
	WpDigestPattern pattern = { operation, count, total_ns, n_places,
				    g_memdup2(places, n_places * sizeof *places) };
	for (guint32 i = 0; i < n_places; i++)
		pattern.places[i].label = wp_digest_text(digest, places[i].label);
	g_array_append_val(digest->patterns, pattern);
}
