/*
 * Rows of `wirepath calls`. The columns of the CSV form are fixed (wirepath-calls(1)); new ones go to
 * the end. A row is put together in one buffer; no printf.
 */
#include "report/call-rows.h"

#include <stdlib.h>
#include <string.h>

#include "report/escape.h"
#include "infer/map.h"
#include "infer/spent.h"
#include "report/format.h"

static const char *const csv_suffixes[] = { "csv", NULL };
static const char *const jsonl_suffixes[] = { "jsonl", "ndjson", NULL };

const WpForm wp_calls_forms[] = {
	{ "csv", csv_suffixes },
	{ "jsonl", jsonl_suffixes },
	{ NULL, NULL },
};

#define CSV_HEADER                                                                                 \
	"call_id,parent_id,t_call,t_return,src_ip,src_port,dst_ip,dst_port,src,dst,protocol,"      \
	"operation,status,confidence,evidence,request,server,reply,"                               \
	"stall,stalls,connect,setup,client_rtt,server_rtt\n"

/* Addresses formatted at a time; more than most systems have. A power of two. */
#define N_ADDRESSES 4096

typedef struct {
	guint8 address[16];
	char text[WP_ENDPOINT_TEXT_MAX]; /* "" = free */
} Address;

typedef void (*EscapeFunc)(GString *out, const char *text);

/* A row that waits for others that belong before it. */
typedef struct {
	gint64 call_ns;
	guint64 place; /* of its call in the order of the trace */
	char *text;
	gsize length;
} Waiting;

/* Of a flow: the least so far, in ns; 0 = not known. */
typedef struct {
	gint64 client_ns;
	gint64 server_ns;
} RoundTrip;

struct WpCallRows {
	WpCallsFormat format;
	gboolean has_begun;

	/* The present part. */
	const WpAnalysis *analysis;
	const WpNodes *nodes;
	const WpSpans *spans;
	const WpRecord *records;
	const WpLinks *links;
	EscapeFunc escape;
	gboolean ids_unique;
	guint64 last_ids[2]; /* the greatest of the parts before: numbers, texts */
	gboolean ascends;   /* numbers are given in order of time, as far as the first part shows */
	WpMap *round_trips; /* by flow: place in the next */
	GArray *least;      /* RoundTrip */
	WpMap *repeated;    /* places + 1 of calls in this part whose id another had before */
	guint32 *order;     /* spans in the order of rows */
	guint64 *places;    /* of each span in that order */
	guint32 n;

	/* All parts. */
	GArray *waiting; /* Waiting, by call_ns and place */
	Address *addresses;
	GPtrArray *strings; /* escaped, by number of the string */
	GPtrArray *names;   /* escaped, by node */
	GString *row;
	GString *stalls; /* of it */
	WpOut *out;
};

typedef WpCallRows Rows;

/* Numbers by value, before texts by their bytes. */
static int
compare_ids(const Rows *rows, guint64 a, guint64 b)
{
	if (a < WP_ID_TEXT || b < WP_ID_TEXT)
		return a < b ? -1 : a > b;
	char x[WP_ID_TEXT_MAX], y[WP_ID_TEXT_MAX];
	return strcmp(wp_record_id_text(rows->nodes, a, x), wp_record_id_text(rows->nodes, b, y));
}

static int
compare_rows(gconstpointer a, gconstpointer b, gpointer data)
{
	const Rows *rows = data;
	guint32 i = *(const guint32 *)a, j = *(const guint32 *)b;
	return compare_ids(rows, rows->spans->spans[i].id, rows->spans->spans[j].id);
}

/* Spans come by call_ns; those of equal time are put in order of their ids. */
static void
make_order(Rows *rows)
{
	const WpSpan *spans = rows->spans->spans;
	guint32 n = rows->n;
	rows->order = g_new(guint32, MAX(n, 1));
	rows->places = g_new(guint64, MAX(n, 1));
	for (guint32 i = 0; i < n; i++)
		rows->order[i] = i;
	for (guint32 i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && spans[end].call_ns == spans[i].call_ns;)
			end++;
		if (rows->ids_unique && end > i + 1)
			g_qsort_with_data(rows->order + i, (gint)(end - i), sizeof *rows->order,
					  compare_rows, rows);
	}
	const WpWindowAnswer *answer = rows->analysis->answer;
	for (guint32 i = 0; i < n; i++)
		rows->places[rows->order[i]] = answer ? answer->numbers[i] : i;
}

/* Texts are numbered as they come, so of both kinds a new call has a greater one than all before. */
static guint64 *
last_id(Rows *rows, guint64 id)
{
	return &rows->last_ids[id >= WP_ID_TEXT];
}

static void
note_last_ids(Rows *rows)
{
	for (guint32 i = 0; i < rows->n; i++) {
		guint64 id = rows->spans->spans[i].id;
		if (id == WP_NO_ID)
			continue;
		*last_id(rows, id) = MAX(*last_id(rows, id), id);
	}
}

static gboolean
ids_ascend(const WpSpans *spans)
{
	guint64 last = 0;
	for (guint32 i = 0; i < spans->n; i++) {
		guint64 id = spans->spans[i].id;
		if (id < WP_ID_TEXT && id < last)
			return FALSE;
		last = id < WP_ID_TEXT ? id : last;
	}
	return TRUE;
}

/*
 * Ids that were unique at first may come again later in a long trace. Of those that come again the first keeps it.
 * Numbers that are not given in order (they may be by chance) are compared with those of this part alone.
 */
static void
find_repeated(Rows *rows)
{
	g_autoptr(WpMap) before = g_steal_pointer(&rows->repeated);
	g_autoptr(WpMap) owners = wp_map_new();

	rows->repeated = wp_map_new();
	for (guint32 i = 0; i < rows->n; i++) {
		const WpSpan *span = &rows->spans->spans[rows->order[i]];
		guint64 place = rows->places[rows->order[i]] + 1;
		gboolean is_old = span->id <= *last_id(rows, span->id) &&
				  (rows->ascends || span->id >= WP_ID_TEXT);
		gboolean is_repeated =
			span->marks & WP_MARK_CARRIED
				? before && wp_map_find(before, place) != WP_MAP_NONE
				: span->id == WP_NO_ID || is_old ||
					  wp_map_find(owners, span->id) != WP_MAP_NONE;
		wp_map_at(is_repeated ? rows->repeated : owners, is_repeated ? place : span->id, 1);
	}
	note_last_ids(rows);
}

static void
begin_part(Rows *rows, const WpAnalysis *analysis)
{
	rows->analysis = analysis;
	rows->nodes = wp_trace_nodes(analysis->trace);
	rows->spans = wp_resolved_spans(analysis->resolved);
	rows->records = wp_trace_records(analysis->trace);
	rows->links = wp_analysis_links(analysis);
	rows->n = rows->spans->n;
	if (!rows->has_begun) {
		rows->ids_unique = wp_spans_have_unique_ids(rows->spans);
		rows->ascends = ids_ascend(rows->spans);
		if (rows->format == WP_CALLS_CSV)
			wp_out_text(rows->out, CSV_HEADER);
	}
	make_order(rows);
	if (rows->ids_unique && rows->has_begun)
		find_repeated(rows);
	else if (rows->ids_unique)
		note_last_ids(rows);
	rows->has_begun = TRUE;
}

static void
end_part(Rows *rows)
{
	g_clear_pointer(&rows->order, g_free);
	g_clear_pointer(&rows->places, g_free);
}

static void
clear_waiting(gpointer data)
{
	g_free(((Waiting *)data)->text);
}

WpCallRows *
wp_call_rows_new(WpCallsFormat format, WpOut *out)
{
	WpCallRows *rows = g_new0(WpCallRows, 1);
	rows->format = format;
	rows->out = out;
	rows->escape = format == WP_CALLS_CSV ? wp_escape_csv_to : wp_escape_json_to;
	rows->waiting = g_array_new(FALSE, FALSE, sizeof(Waiting));
	g_array_set_clear_func(rows->waiting, clear_waiting);
	rows->addresses = g_new0(Address, N_ADDRESSES);
	rows->round_trips = wp_map_new();
	rows->least = g_array_new(FALSE, TRUE, sizeof(RoundTrip));
	rows->strings = g_ptr_array_new_with_free_func(g_free);
	rows->names = g_ptr_array_new_with_free_func(g_free);
	rows->row = g_string_sized_new(512);
	rows->stalls = g_string_new(NULL);
	return rows;
}

void
wp_call_rows_free(WpCallRows *rows)
{
	if (!rows)
		return;
	end_part(rows);
	g_array_unref(rows->waiting);
	g_free(rows->addresses);
	wp_map_free(rows->round_trips);
	g_array_unref(rows->least);
	g_ptr_array_unref(rows->strings);
	g_ptr_array_unref(rows->names);
	g_string_free(rows->row, TRUE);
	g_string_free(rows->stalls, TRUE);
	if (rows->repeated)
		wp_map_free(rows->repeated);
	g_free(rows);
}

static const char *
cached(GPtrArray *cache, guint32 number, const char *text, EscapeFunc escape)
{
	if (number >= cache->len)
		g_ptr_array_set_size(cache, (gint)number + 1);
	if (!cache->pdata[number]) {
		GString *escaped = g_string_new(NULL);
		escape(escaped, text);
		cache->pdata[number] = g_string_free(escaped, FALSE);
	}
	return cache->pdata[number];
}

static const char *
string_text(Rows *rows, guint32 string)
{
	return cached(rows->strings, string, wp_nodes_text(rows->nodes, string), rows->escape);
}

static const char *
node_text(Rows *rows, guint32 node)
{
	return cached(rows->names, node, wp_resolved_node_name(rows->analysis->resolved, node),
		      rows->escape);
}

static const char *
address_text(Rows *rows, const WpEndpoint *endpoint)
{
	guint32 hash = 0;
	for (gsize i = 0; i < sizeof endpoint->address; i++)
		hash = hash * 31 + endpoint->address[i];
	if (!wp_endpoint_is_known(endpoint))
		return "";
	Address *address = &rows->addresses[hash % N_ADDRESSES];
	if (!address->text[0] || memcmp(address->address, endpoint->address, 16) != 0) {
		memcpy(address->address, endpoint->address, 16);
		wp_address_text(endpoint->address, address->text, sizeof address->text);
	}
	return address->text;
}

/* Parts of a row. */

static void
add_uint(Rows *rows, guint64 value)
{
	char digits[WP_FORMAT_MAX];
	gsize n = wp_format_uint(digits, value);
	g_string_append_len(rows->row, digits, (gssize)n);
}

static void
add_id(Rows *rows, guint32 span)
{
	char buffer[WP_ID_TEXT_MAX];
	guint64 id = rows->spans->spans[span].id;
	if (!rows->ids_unique)
		add_uint(rows, rows->places[span] + 1);
	else if (id < WP_ID_TEXT)
		add_uint(rows, id);
	else
		rows->escape(rows->row, wp_record_id_text(rows->nodes, id, buffer));
	if (rows->repeated && rows->ids_unique &&
	    wp_map_find(rows->repeated, rows->places[span] + 1) != WP_MAP_NONE) {
		g_string_append_c(rows->row, '#');
		add_uint(rows, rows->places[span] + 1);
	}
}

static void
add_time(Rows *rows, gint64 ns)
{
	char text[WP_FORMAT_MAX];
	gsize n = wp_format_epoch(text, ns);
	g_string_append_len(rows->row, text, (gssize)n);
}

/* "0.9731" */
static void
add_confidence(Rows *rows, float probability)
{
	guint parts = (guint)(CLAMP(probability, 0, 1) * 10000 + 0.5f);
	char text[] = { (char)('0' + parts / 10000),     '.',
			(char)('0' + parts / 1000 % 10), (char)('0' + parts / 100 % 10),
			(char)('0' + parts / 10 % 10),   (char)('0' + parts % 10) };
	g_string_append_len(rows->row, text, sizeof text);
}

static void
add_csv_endpoint(Rows *rows, const WpEndpoint *endpoint)
{
	g_string_append_c(rows->row, ',');
	g_string_append(rows->row, address_text(rows, endpoint));
	g_string_append_c(rows->row, ',');
	if (endpoint->port)
		add_uint(rows, endpoint->port);
}

static void
add_csv_text(Rows *rows, const char *escaped)
{
	g_string_append_c(rows->row, ',');
	g_string_append(rows->row, escaped);
}

/* --- what the time was spent on --- */

#define NO_SPENT (-1) /* seconds that are not known: an empty field */

/* What the fields of a row are made of; seconds in ns. */
typedef struct {
	gint64 request_ns, server_ns, reply_ns, stall_ns;
	gint64 connect_ns, setup_ns, client_rtt_ns, server_rtt_ns;
	GString *stalls;
} SpentFields;

static gint64
length_of(const WpTransport *what)
{
	return what->kind == WP_N_TRANSPORTS ? NO_SPENT : what->end_ns - what->begin_ns;
}

/* What is known by now of the way on the flow of CALL. */
static RoundTrip
note_round_trip(Rows *rows, const WpRecord *call, const WpSpent *spent)
{
	RoundTrip now = { spent->client_rtt_ns, spent->server_rtt_ns };
	if (!call->flow || (wp_map_find(rows->round_trips, call->flow) == WP_MAP_NONE &&
			    !now.client_ns && !now.server_ns))
		return now;
	guint32 place = wp_map_number(rows->round_trips, call->flow);
	if (place == rows->least->len)
		g_array_set_size(rows->least, place + 1);
	RoundTrip *least = &g_array_index(rows->least, RoundTrip, place);
	if (now.client_ns && (!least->client_ns || now.client_ns < least->client_ns))
		least->client_ns = now.client_ns;
	if (now.server_ns && (!least->server_ns || now.server_ns < least->server_ns))
		least->server_ns = now.server_ns;
	return *least;
}

/* "timeout/0.204000000/17-23", with setup- before what held up connecting. */
static void
add_stall_text(GString *out, const WpSpentStall *stall)
{
	const WpTransport *what = &stall->what;
	char time[WP_FORMAT_MAX];

	wp_format_epoch(time, stall->is_setup ? what->end_ns - what->begin_ns : stall->held_ns);
	g_string_append_printf(out, "%s%s%s/%s/%" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT,
			       out->len ? "+" : "", stall->is_setup ? "setup-" : "",
			       wp_transport_name(what->kind), time, what->first, what->last);
}

static void
fill_spent(Rows *rows, const WpSpan *span, SpentFields *out)
{
	gboolean is_paired = wp_span_is_paired(span);
	WpSpent spent;

	wp_spent_read(rows->analysis->trace, span, &spent);
	RoundTrip least = note_round_trip(rows, &rows->records[span->call_record], &spent);
	g_string_truncate(rows->stalls, 0);
	for (guint i = 0; i < spent.n_stalls; i++)
		add_stall_text(rows->stalls, &spent.stalls[i]);
	*out = (SpentFields){
		.request_ns = is_paired ? spent.parts.request_ns : NO_SPENT,
		.server_ns = is_paired ? spent.parts.server_ns : NO_SPENT,
		.reply_ns = is_paired ? spent.parts.reply_ns : NO_SPENT,
		.stall_ns = is_paired ? spent.stall_ns : NO_SPENT,
		.connect_ns = length_of(&spent.connect),
		.setup_ns = length_of(&spent.setup),
		.client_rtt_ns = least.client_ns ? least.client_ns : NO_SPENT,
		.server_rtt_ns = least.server_ns ? least.server_ns : NO_SPENT,
		.stalls = rows->stalls,
	};
}

static void
add_csv_seconds(Rows *rows, gint64 ns)
{
	g_string_append_c(rows->row, ',');
	if (ns != NO_SPENT)
		add_time(rows, ns);
}

static void
add_csv_spent(Rows *rows, const WpSpan *span)
{
	SpentFields fields;

	fill_spent(rows, span, &fields);
	add_csv_seconds(rows, fields.request_ns);
	add_csv_seconds(rows, fields.server_ns);
	add_csv_seconds(rows, fields.reply_ns);
	add_csv_seconds(rows, fields.stall_ns);
	add_csv_text(rows, fields.stalls->str);
	add_csv_seconds(rows, fields.connect_ns);
	add_csv_seconds(rows, fields.setup_ns);
	add_csv_seconds(rows, fields.client_rtt_ns);
	add_csv_seconds(rows, fields.server_rtt_ns);
}

static void
csv_row(Rows *rows, guint32 index)
{
	const WpSpan *span = &rows->spans->spans[index];
	const WpLink *link = &rows->links->links[index];
	const WpRecord *call = &rows->records[span->call_record];
	char evidence[WP_EVIDENCE_TEXT_MAX];
	GString *row = rows->row;

	add_id(rows, index);
	g_string_append_c(row, ',');
	if (link->parent != WP_NO_SPAN)
		add_id(rows, link->parent);
	g_string_append_c(row, ',');
	add_time(rows, span->call_ns);
	g_string_append_c(row, ',');
	if (span->return_ns != WP_NO_TIME)
		add_time(rows, span->return_ns);
	add_csv_endpoint(rows, &call->src);
	add_csv_endpoint(rows, &call->dst);
	add_csv_text(rows, node_text(rows, span->caller));
	add_csv_text(rows, node_text(rows, span->callee));
	add_csv_text(rows, string_text(rows, call->protocol));
	add_csv_text(rows, string_text(rows, call->label));
	add_csv_text(rows, wp_status_name(span->status));
	g_string_append_c(row, ',');
	if (link->probability >= 0)
		add_confidence(rows, link->probability);
	add_csv_text(rows, wp_evidence_text(link->evidence, evidence, sizeof evidence));
	add_csv_spent(rows, span);
	g_string_append_c(row, '\n');
}

/* ,"key":"escaped", or null where it is empty. */
static void
add_json_text(Rows *rows, const char *key, const char *escaped)
{
	g_string_append(rows->row, key);
	if (!*escaped) {
		g_string_append(rows->row, "null");
		return;
	}
	g_string_append_c(rows->row, '"');
	g_string_append(rows->row, escaped);
	g_string_append_c(rows->row, '"');
}

static void
add_json_time(Rows *rows, const char *key, gint64 ns)
{
	char text[WP_FORMAT_MAX];
	if (ns != WP_NO_TIME)
		wp_format_epoch(text, ns);
	add_json_text(rows, key, ns == WP_NO_TIME ? "" : text);
}

static void
add_json_endpoint(Rows *rows, const char *ip_key, const char *port_key, const WpEndpoint *endpoint)
{
	add_json_text(rows, ip_key, address_text(rows, endpoint));
	g_string_append(rows->row, port_key);
	if (endpoint->port)
		add_uint(rows, endpoint->port);
	else
		g_string_append(rows->row, "null");
}

static void
add_json_seconds(Rows *rows, const char *key, gint64 ns)
{
	add_json_time(rows, key, ns == NO_SPENT ? WP_NO_TIME : ns);
}

static void
add_json_spent(Rows *rows, const WpSpan *span)
{
	SpentFields fields;

	fill_spent(rows, span, &fields);
	add_json_seconds(rows, ",\"request\":", fields.request_ns);
	add_json_seconds(rows, ",\"server\":", fields.server_ns);
	add_json_seconds(rows, ",\"reply\":", fields.reply_ns);
	add_json_seconds(rows, ",\"stall\":", fields.stall_ns);
	add_json_text(rows, ",\"stalls\":", fields.stalls->str);
	add_json_seconds(rows, ",\"connect\":", fields.connect_ns);
	add_json_seconds(rows, ",\"setup\":", fields.setup_ns);
	add_json_seconds(rows, ",\"client_rtt\":", fields.client_rtt_ns);
	add_json_seconds(rows, ",\"server_rtt\":", fields.server_rtt_ns);
}

static void
jsonl_row(Rows *rows, guint32 index)
{
	const WpSpan *span = &rows->spans->spans[index];
	const WpLink *link = &rows->links->links[index];
	const WpRecord *call = &rows->records[span->call_record];
	char evidence[WP_EVIDENCE_TEXT_MAX];
	GString *row = rows->row;

	g_string_append(row, "{\"schema\":\"wirepath.call/1\",\"call_id\":\"");
	add_id(rows, index);
	g_string_append(row, "\",\"parent_id\":");
	if (link->parent != WP_NO_SPAN) {
		g_string_append_c(row, '"');
		add_id(rows, link->parent);
		g_string_append_c(row, '"');
	} else {
		g_string_append(row, "null");
	}
	add_json_time(rows, ",\"t_call\":", span->call_ns);
	add_json_time(rows, ",\"t_return\":", span->return_ns);
	add_json_endpoint(rows, ",\"src_ip\":", ",\"src_port\":", &call->src);
	add_json_endpoint(rows, ",\"dst_ip\":", ",\"dst_port\":", &call->dst);
	add_json_text(rows, ",\"src\":", node_text(rows, span->caller));
	add_json_text(rows, ",\"dst\":", node_text(rows, span->callee));
	add_json_text(rows, ",\"protocol\":", string_text(rows, call->protocol));
	add_json_text(rows, ",\"operation\":", string_text(rows, call->label));
	add_json_text(rows, ",\"status\":", wp_status_name(span->status));
	g_string_append(row, ",\"confidence\":");
	if (link->probability >= 0)
		add_confidence(rows, link->probability);
	else
		g_string_append(row, "null");
	add_json_text(rows, ",\"evidence\":",
		      wp_evidence_text(link->evidence, evidence, sizeof evidence));
	add_json_spent(rows, span);
	g_string_append(row, "}\n");
}

static int
compare_waiting(gconstpointer a, gconstpointer b)
{
	const Waiting *x = a, *y = b;
	if (x->call_ns != y->call_ns)
		return x->call_ns < y->call_ns ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

/* Writes the rows before FLOOR_NS, as no others can come before them. */
static void
write_waiting(Rows *rows, gint64 floor_ns)
{
	guint n = 0;
	g_array_sort(rows->waiting, compare_waiting);
	for (; n < rows->waiting->len; n++) {
		const Waiting *row = &g_array_index(rows->waiting, Waiting, n);
		if (row->call_ns >= floor_ns)
			break;
		wp_out_bytes(rows->out, row->text, row->length);
	}
	if (n)
		g_array_remove_range(rows->waiting, 0, n);
}

void
wp_call_rows_add(WpCallRows *rows, const WpAnalysis *part)
{
	static void (*const makers[])(Rows * rows, guint32 index) = {
		[WP_CALLS_CSV] = csv_row,
		[WP_CALLS_JSONL] = jsonl_row,
	};
	const guint8 *keep = part->selection ? part->selection->keep : NULL;
	begin_part(rows, part);
	for (guint32 i = 0; i < rows->n && !wp_out_failed(rows->out); i++) {
		guint32 span = rows->order[i];
		if (keep && !keep[span])
			continue;
		g_string_truncate(rows->row, 0);
		makers[rows->format](rows, span);
		if (!part->answer) {
			wp_out_bytes(rows->out, rows->row->str, rows->row->len);
			continue;
		}
		Waiting row = { rows->spans->spans[span].call_ns, rows->places[span],
				g_strndup(rows->row->str, rows->row->len), rows->row->len };
		g_array_append_val(rows->waiting, row);
	}
	if (part->answer)
		write_waiting(rows, part->answer->floor_ns);
	end_part(rows);
}
