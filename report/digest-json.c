/* Numbers out, numbers in: every number and place is checked on the way in, as the file may be anybody's. */
#include "report/digest-json.h"

#include <string.h>

#include "capture/input.h"
#include "report/error.h"
#include "report/json-read.h"

/* A result is read whole. */
#define MAX_BYTES (512 << 20)

/* Sums of times are added to others: none may be as long as 146 years. */
#define MAX_NUMBER ((guint64)1 << 62)

/* --- out --- */

/* A text of numbers, row by row. */
static void
add_number(GString *text, guint64 number)
{
	if (text->len && text->str[text->len - 1] != ',')
		g_string_append_c(text, ' ');
	g_string_append_printf(text, "%" G_GUINT64_FORMAT, number);
}

static void
write_rows(WpJson *json, const char *key, GString *text)
{
	if (text->len)
		g_string_truncate(text, text->len - 1);
	wp_json_text(json, key, text->str);
	g_string_truncate(text, 0);
}

static void
write_blocks(WpJson *json, const WpDigestOperation *operation)
{
	g_autoptr(GString) text = g_string_new(NULL);
	for (guint i = 0; i < operation->blocks->len; i++) {
		const WpDigestBlock *block = &g_array_index(operation->blocks, WpDigestBlock, i);
		add_number(text, block->begin_ns);
		add_number(text, block->requests);
		add_number(text, block->errors);
		add_number(text, block->latency_ns);
		g_string_append_c(text, ',');
	}
	write_rows(json, "blocks", text);
	for (guint i = 0; i < operation->bins->len; i++) {
		const WpDigestBin *bin = &g_array_index(operation->bins, WpDigestBin, i);
		add_number(text, (guint64)MAX(bin->low_ns, 0));
		add_number(text, (guint64)MAX(bin->high_ns, 0));
		add_number(text, bin->count);
		g_string_append_c(text, ',');
	}
	write_rows(json, "bins", text);
}

static void
write_part(WpJson *json, const WpDigestPart *part)
{
	g_autoptr(GString) text = g_string_new(NULL);
	wp_json_open(json, NULL, '{');
	wp_json_uint(json, "node", part->node);
	wp_json_uint(json, "caller", part->caller);
	wp_json_text(json, "operation", part->label);
	wp_json_text(json, "protocol", part->protocol);
	wp_json_uint(json, "calls", part->calls);
	wp_json_uint(json, "timed", part->n_timed);
	wp_json_uint(json, "errors", part->errors);
	wp_json_uint(json, "waits", part->n_waits);
	wp_json_uint(json, "link_odds", part->link_odds);
	for (guint i = 0; i < part->sums->len; i++) {
		const WpDigestSums *sums = &g_array_index(part->sums, WpDigestSums, i);
		const guint64 numbers[] = { sums->made,      sums->calls,      sums->self_ns,
					    sums->served_ns, sums->network_ns, sums->n_network };
		for (guint k = 0; k < G_N_ELEMENTS(numbers); k++)
			add_number(text, numbers[k]);
		g_string_append_c(text, ',');
	}
	write_rows(json, "sums", text);
	for (guint i = 0; i < WP_DIGEST_GROUPS * WP_DIGEST_LEVELS; i++) {
		if (!part->strata[i].ended && !part->strata[i].self_ns)
			continue;
		add_number(text, i / WP_DIGEST_LEVELS);
		add_number(text, i % WP_DIGEST_LEVELS);
		add_number(text, part->strata[i].ended);
		add_number(text, part->strata[i].self_ns);
		g_string_append_c(text, ',');
	}
	write_rows(json, "levels", text);
	wp_json_close(json, '}');
}

static void
write_operation(WpJson *json, const WpDigestOperation *operation)
{
	wp_json_open(json, NULL, '{');
	wp_json_uint(json, "client", operation->client);
	wp_json_uint(json, "node", operation->node);
	wp_json_text(json, "operation", operation->label);
	wp_json_text(json, "protocol", operation->protocol);
	wp_json_bool(json, "background", operation->is_background);
	wp_json_uint(json, "count", operation->count);
	wp_json_uint(json, "errors", operation->errors);
	wp_json_uint(json, "calls_left_out", operation->n_left);
	wp_json_uint(json, "block_requests", operation->block_requests);
	write_blocks(json, operation);
	wp_json_open(json, "parts", '[');
	for (guint i = 0; i < operation->parts->len; i++)
		write_part(json, wp_digest_part(operation, i));
	wp_json_close(json, ']');
	wp_json_close(json, '}');
}

static void
write_nodes(WpJson *json, const WpDigest *digest)
{
	g_autoptr(GString) text = g_string_new(NULL);
	wp_json_open(json, "nodes", '[');
	for (guint i = 0; i < digest->nodes->len; i++) {
		const WpDigestNode *node = &g_array_index(digest->nodes, WpDigestNode, i);
		wp_json_open(json, NULL, '{');
		wp_json_text(json, "name", node->name);
		wp_json_bool(json, "named", node->is_named);
		wp_json_text(json, "service", node->service);
		wp_json_uint(json, "served", node->n_served);
		wp_json_uint(json, "sent", node->n_sent);
		wp_json_uint(json, "followed", node->n_followed);
		wp_json_uint(json, "overtook", node->n_overtook);
		wp_json_uint(json, "queued", node->n_queued);
		wp_json_uint(json, "queued_ns", node->queued_ns);
		wp_json_uint(json, "alone", node->n_alone);
		wp_json_uint(json, "alone_ns", node->alone_ns);
		wp_json_close(json, '}');
	}
	wp_json_close(json, ']');
	for (guint i = 0; i < digest->edges->len; i++) {
		const WpDigestEdge *edge = &g_array_index(digest->edges, WpDigestEdge, i);
		add_number(text, edge->caller);
		add_number(text, edge->callee);
		add_number(text, edge->calls);
		g_string_append_c(text, ',');
	}
	write_rows(json, "edges", text);
}

static void
write_patterns(WpJson *json, const WpDigest *digest)
{
	wp_json_open(json, "patterns", '[');
	for (guint i = 0; i < digest->patterns->len; i++) {
		const WpDigestPattern *pattern =
			&g_array_index(digest->patterns, WpDigestPattern, i);
		wp_json_open(json, NULL, '{');
		wp_json_uint(json, "operation", pattern->operation);
		wp_json_uint(json, "count", pattern->count);
		wp_json_uint(json, "total_ns", pattern->total_ns);
		wp_json_open(json, "places", '[');
		for (guint32 k = 0; k < pattern->n_places; k++) {
			const WpDigestPlace *place = &pattern->places[k];
			wp_json_open(json, NULL, '{');
			wp_json_uint(json, "node", place->node);
			if (k)
				wp_json_uint(json, "parent", place->parent);
			wp_json_text(json, "operation", place->label);
			wp_json_close(json, '}');
		}
		wp_json_close(json, ']');
		wp_json_close(json, '}');
	}
	wp_json_close(json, ']');
}

void
wp_digest_write(WpJson *json, const char *key, const WpDigest *digest)
{
	const WpDigestFacts *facts = &digest->facts;
	wp_json_open(json, key, '{');
	wp_json_text(json, "schema", WP_DIGEST_SCHEMA);
	wp_json_text(json, "options", facts->options);
	wp_json_text(json, "partial", facts->partial);
	wp_json_uint(json, "length_ns", facts->length_ns);
	wp_json_uint(json, "requests", facts->n_requests);
	wp_json_uint(json, "calls", facts->n_calls);
	wp_json_uint(json, "unpaired", facts->n_unpaired);
	wp_json_uint(json, "unseen", facts->n_unseen);
	if (facts->loss != G_MAXUINT64)
		wp_json_uint(json, "loss", facts->loss);
	wp_json_uint(json, "right", facts->right);
	wp_json_uint(json, "requests_left_out", digest->n_left);
	wp_json_uint(json, "patterns_left_out", digest->n_patterns_left);
	write_nodes(json, digest);
	wp_json_open(json, "operations", '[');
	for (guint i = 0; i < digest->operations->len; i++)
		write_operation(json, wp_digest_operation(digest, i));
	wp_json_close(json, ']');
	write_patterns(json, digest);
	wp_json_close(json, '}');
}

/* --- in --- */

typedef struct {
	WpDigest *digest;
	const char *wrong; /* member that makes no sense; NULL = none */
} Reader;

static gboolean
fail(Reader *reader, const char *member)
{
	if (!reader->wrong)
		reader->wrong = member;
	return FALSE;
}

/* Member NAME, at most MOST. */
static guint64
number(Reader *reader, const WpJsonValue *object, const char *name, guint64 most)
{
	guint64 value = 0;
	if (!wp_json_as_uint(wp_json_member(object, name), &value) || value > most) {
		fail(reader, name);
		return 0;
	}
	return value;
}

static guint64
count_of(Reader *reader, const WpJsonValue *object, const char *name)
{
	return number(reader, object, name, MAX_NUMBER);
}

static guint32
node_of(Reader *reader, const WpJsonValue *object, const char *name)
{
	guint n = reader->digest->nodes->len;
	return (guint32)number(reader, object, name, n ? n - 1 : 0);
}

static const char *
text_of(Reader *reader, const WpJsonValue *object, const char *name)
{
	const char *text = wp_json_as_text(wp_json_member(object, name));
	if (!text)
		fail(reader, name);
	return text ? text : "";
}

/* Numbers of member NAME, WIDTH in each row, at most MOST_ROWS. FUNC takes each row, FALSE where it makes no sense. */
typedef gboolean (*RowFunc)(Reader *reader, const guint64 *row, guint at, gpointer data);

#define MAX_WIDTH 6

static gboolean
read_rows(Reader *reader, const WpJsonValue *object, const char *name, guint width, guint most_rows,
	  RowFunc func, gpointer data)
{
	const char *at = text_of(reader, object, name);
	guint64 row[MAX_WIDTH];
	for (guint n = 0; *at; n++) {
		if (n >= most_rows)
			return fail(reader, name);
		for (guint i = 0; i < width; i++) {
			char *end = NULL;
			if (!g_ascii_isdigit(*at))
				return fail(reader, name);
			row[i] = g_ascii_strtoull(at, &end, 10);
			gboolean is_last = i + 1 == width;
			if (row[i] > MAX_NUMBER || (is_last ? *end && *end != ',' : *end != ' '))
				return fail(reader, name);
			at = *end ? end + 1 : end;
		}
		if (!func(reader, row, n, data))
			return fail(reader, name);
	}
	return TRUE;
}

static gboolean
take_block(Reader *reader, const guint64 *row, guint at, gpointer data)
{
	WpDigestOperation *operation = data;
	WpDigestBlock block = { row[0], row[1], row[2], row[3] };
	(void)reader;
	(void)at;
	g_array_append_val(operation->blocks, block);
	return TRUE;
}

static gboolean
take_bin(Reader *reader, const guint64 *row, guint at, gpointer data)
{
	WpDigestOperation *operation = data;
	WpDigestBin bin = { (gint64)row[0], (gint64)row[1], row[2] };
	(void)reader;
	(void)at;
	g_array_append_val(operation->bins, bin);
	return row[0] <= row[1];
}

static gboolean
take_sums(Reader *reader, const guint64 *row, guint at, gpointer data)
{
	WpDigestPart *part = data;
	WpDigestSums sums = { row[0], row[1], row[2], row[3], row[4], row[5] };
	(void)reader;
	(void)at;
	g_array_append_val(part->sums, sums);
	return TRUE;
}

static gboolean
take_level(Reader *reader, const guint64 *row, guint at, gpointer data)
{
	WpDigestPart *part = data;
	(void)reader;
	(void)at;
	if (row[0] >= WP_DIGEST_GROUPS || row[1] >= WP_DIGEST_LEVELS)
		return FALSE;
	part->strata[row[0] * WP_DIGEST_LEVELS + row[1]] = (WpDigestStratum){ row[2], row[3] };
	return TRUE;
}

static gboolean
take_edge(Reader *reader, const guint64 *row, guint at, gpointer data)
{
	guint n = reader->digest->nodes->len;
	WpDigestEdge edge = { (guint32)row[0], (guint32)row[1], row[2] };
	(void)at;
	(void)data;
	g_array_append_val(reader->digest->edges, edge);
	return row[0] < n && row[1] < n;
}

/* A digest has at most so many nodes: those of its edges are pairs of them. */
#define MAX_NODES 100000
#define MAX_EDGES 1000000
#define MAX_BINS  100000

static void
read_nodes(Reader *reader, const WpJsonValue *object)
{
	const WpJsonValue *nodes = wp_json_member(object, "nodes");
	guint n = wp_json_length(nodes);
	if (n > MAX_NODES)
		fail(reader, "nodes");
	for (guint i = 0; i < n && !reader->wrong; i++) {
		const WpJsonValue *own = wp_json_item(nodes, i);
		wp_digest_add_node(reader->digest, text_of(reader, own, "name"),
				   wp_json_as_bool(wp_json_member(own, "named")));
		WpDigestNode *node = &g_array_index(reader->digest->nodes, WpDigestNode, i);
		node->service = wp_digest_text(reader->digest, text_of(reader, own, "service"));
		node->n_served = count_of(reader, own, "served");
		node->n_sent = count_of(reader, own, "sent");
		node->n_followed = count_of(reader, own, "followed");
		node->n_overtook = count_of(reader, own, "overtook");
		node->n_queued = count_of(reader, own, "queued");
		node->queued_ns = count_of(reader, own, "queued_ns");
		node->n_alone = count_of(reader, own, "alone");
		node->alone_ns = count_of(reader, own, "alone_ns");
	}
	read_rows(reader, object, "edges", 3, MAX_EDGES, take_edge, NULL);
}

static void
read_part(Reader *reader, guint32 operation, const WpJsonValue *object)
{
	guint32 added = wp_digest_add_part(
		reader->digest, operation, node_of(reader, object, "node"),
		node_of(reader, object, "caller"), text_of(reader, object, "operation"),
		text_of(reader, object, "protocol"));
	if (added == G_MAXUINT32) {
		fail(reader, "parts");
		return;
	}
	WpDigestOperation *own = wp_digest_operation(reader->digest, operation);
	WpDigestPart *part = wp_digest_part(own, added);
	part->calls = count_of(reader, object, "calls");
	part->n_timed = count_of(reader, object, "timed");
	part->errors = count_of(reader, object, "errors");
	part->n_waits = count_of(reader, object, "waits");
	part->link_odds = count_of(reader, object, "link_odds");
	read_rows(reader, object, "sums", 6, own->blocks->len, take_sums, part);
	read_rows(reader, object, "levels", 4, WP_DIGEST_GROUPS * WP_DIGEST_LEVELS, take_level,
		  part);
}

static void
read_operation(Reader *reader, const WpJsonValue *object)
{
	guint32 number = wp_digest_add_operation(
		reader->digest, node_of(reader, object, "client"), node_of(reader, object, "node"),
		text_of(reader, object, "operation"), text_of(reader, object, "protocol"));
	if (number == G_MAXUINT32) {
		fail(reader, "operations");
		return;
	}
	WpDigestOperation *operation = wp_digest_operation(reader->digest, number);
	const WpJsonValue *parts = wp_json_member(object, "parts");
	operation->is_background = wp_json_as_bool(wp_json_member(object, "background"));
	operation->count = count_of(reader, object, "count");
	operation->errors = count_of(reader, object, "errors");
	operation->n_left = count_of(reader, object, "calls_left_out");
	operation->block_requests = count_of(reader, object, "block_requests");
	read_rows(reader, object, "blocks", 4, WP_DIGEST_BLOCKS, take_block, operation);
	read_rows(reader, object, "bins", 3, MAX_BINS, take_bin, operation);
	for (guint i = 0; i < wp_json_length(parts) && !reader->wrong; i++)
		read_part(reader, number, wp_json_item(parts, i));
}

/* Places of a pattern are not more than its calls, which were few enough to be written. */
#define MAX_PLACES 100000

static void
read_pattern(Reader *reader, const WpJsonValue *object)
{
	const WpJsonValue *places = wp_json_member(object, "places");
	guint n = wp_json_length(places), n_operations = reader->digest->operations->len;
	if (n < 1 || n > MAX_PLACES || !n_operations) {
		fail(reader, "places");
		return;
	}
	g_autofree WpDigestPlace *own = g_new0(WpDigestPlace, n);
	for (guint i = 0; i < n; i++) {
		const WpJsonValue *place = wp_json_item(places, i);
		own[i].node = node_of(reader, place, "node");
		own[i].parent = i ? (guint32)number(reader, place, "parent", i - 1) : G_MAXUINT32;
		own[i].label = text_of(reader, place, "operation");
	}
	wp_digest_add_pattern(
		reader->digest, (guint32)number(reader, object, "operation", n_operations - 1),
		count_of(reader, object, "count"), count_of(reader, object, "total_ns"), own, n);
}

static void
read_digest(Reader *reader, const WpJsonValue *object)
{
	WpDigest *digest = reader->digest;
	WpDigestFacts *facts = &digest->facts;
	const WpJsonValue *operations = wp_json_member(object, "operations");
	const WpJsonValue *patterns = wp_json_member(object, "patterns");
	const char *partial = wp_json_as_text(wp_json_member(object, "partial"));
	facts->options = wp_digest_text(digest, text_of(reader, object, "options"));
	facts->partial = partial ? wp_digest_text(digest, partial) : NULL;
	facts->length_ns = count_of(reader, object, "length_ns");
	facts->n_requests = count_of(reader, object, "requests");
	facts->n_calls = count_of(reader, object, "calls");
	facts->n_unpaired = count_of(reader, object, "unpaired");
	facts->n_unseen = count_of(reader, object, "unseen");
	if (wp_json_member(object, "loss"))
		facts->loss = number(reader, object, "loss", WP_DIGEST_ODDS);
	facts->right = number(reader, object, "right", WP_DIGEST_ODDS);
	digest->n_left = count_of(reader, object, "requests_left_out");
	read_nodes(reader, object);
	for (guint i = 0; i < wp_json_length(operations) && !reader->wrong; i++)
		read_operation(reader, wp_json_item(operations, i));
	for (guint i = 0; i < wp_json_length(patterns) && !reader->wrong; i++)
		read_pattern(reader, wp_json_item(patterns, i));
	digest->n_patterns_left = count_of(reader, object, "patterns_left_out");
}

gboolean
wp_digest_is_result(const char *head, gsize length)
{
	gsize at = 0;
	while (at < length && head[at] && strchr(" \t\r\n", head[at]))
		at++;
	return at < length && head[at] == '{';
}

static GString *
read_file(const char *path, GError **error)
{
	g_autoptr(WpInput) input = wp_input_open(path, error);
	g_autoptr(GString) text = g_string_new(NULL);
	const guint8 *data;
	gssize n;
	if (!input)
		return NULL;
	while ((n = wp_input_peek(input, 1, &data, error)) > 0) {
		g_string_append_len(text, (const char *)data, n);
		wp_input_consume(input, (gsize)n);
		if (text->len > MAX_BYTES) {
			g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_DATA,
				    "cannot read %s: a result has at most %d MiB", path,
				    MAX_BYTES >> 20);
			return NULL;
		}
	}
	return n < 0 ? NULL : g_steal_pointer(&text);
}

WpDigest *
wp_digest_read(const char *path, GError **error)
{
	static const char *const names[] = { "schema", "comparison", NULL };
	g_autoptr(GString) text = read_file(path, error);
	if (!text)
		return NULL;
	g_autoptr(WpJsonValue) result = wp_json_read(path, text->str, text->len, names, error);
	if (!result)
		return NULL;
	const WpJsonValue *object = wp_json_member(result, "comparison");
	const char *schema = wp_json_as_text(wp_json_member(object, "schema"));
	if (g_strcmp0(schema, WP_DIGEST_SCHEMA) != 0) {
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_DATA,
			    "cannot compare %s: it is no result of wirepath report, or of another "
			    "version\nmake it with wirepath report CAPTURE -o x.json",
			    path);
		return NULL;
	}
	g_autoptr(WpDigest) digest = wp_digest_new();
	Reader reader = { .digest = digest };
	read_digest(&reader, object);
	if (reader.wrong) {
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_DATA,
			    "cannot compare %s: its \"%s\" makes no sense\nmake it again with "
			    "wirepath report CAPTURE -o x.json",
			    path, reader.wrong);
		return NULL;
	}
	return g_steal_pointer(&digest);
}
