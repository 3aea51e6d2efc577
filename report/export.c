/* The walk over requests, and the ids of their calls; see export.h. */
#include "report/export.h"

#include <string.h>

#include "infer/path.h"

extern const WpExportForm wp_export_otlp, wp_export_jaeger, wp_export_zipkin, wp_export_chrome,
	wp_export_speedscope, wp_export_folded, wp_export_prometheus;

const WpExportForm *const wp_export_forms[] = {
	&wp_export_otlp,       &wp_export_jaeger, &wp_export_zipkin,     &wp_export_chrome,
	&wp_export_speedscope, &wp_export_folded, &wp_export_prometheus, NULL,
};

struct WpExport {
	const WpExportForm *form;
	gpointer state;
	WpOut *out;
	gboolean has_begun;
	gboolean ids_unique; /* those of the input */
	gboolean uses_sent;
	WpExportTraced traced;
	GString *text; /* what an id is drawn from */
	GChecksum *digest;
	GArray *calls;         /* WpExportCall */
	GStringChunk *strings; /* of the trace at hand */
	GArray *stack;         /* guint32 */

	/* The present part. */
	const WpAnalysis *part;
	const WpNodes *nodes;
	const WpSpans *spans;
	const WpRecord *records;
	const WpLinks *links;
	const guint8 *keep; /* NULL = all */
	WpExportTree tree;
	WpExportId *ids; /* by span */
	WpPaths *paths;
};

const char *
wp_export_operation(const WpExportCall *call)
{
	if (*call->label)
		return call->label;
	return *call->protocol ? call->protocol : "call";
}

/* --- ids --- */

static void
add_number(WpExport *export, guint64 number)
{
	guint64 bytes = GUINT64_TO_LE(number);
	g_string_append_len(export->text, (const char *)&bytes, sizeof bytes);
}

static void
add_endpoint(WpExport *export, const WpEndpoint *endpoint)
{
	g_string_append_len(export->text, (const char *)endpoint->address,
			    sizeof endpoint->address);
	add_number(export, endpoint->port);
}

static guint64
take_number(const guint8 *bytes)
{
	guint64 number = 0;
	for (guint i = 0; i < 8; i++)
		number = number << 8 | bytes[i];
	return number ? number : 1;
}

/* Where ids are not unique, two calls may be the same in all that was seen but for their places. */
static WpExportId
identify(WpExport *export, guint32 index)
{
	const WpWindowAnswer *answer = export->part->answer;
	const WpSpan *span = &export->spans->spans[index];
	const WpRecord *call = &export->records[span->call_record];
	char id[WP_ID_TEXT_MAX];
	guint8 digest[32];
	gsize length = sizeof digest;

	g_string_truncate(export->text, 0);
	add_number(export, (guint64)call->begin_ns);
	add_number(export, (guint64)call->end_ns);
	add_number(export, (guint64)span->return_ns);
	add_number(export, call->kind);
	add_number(export, call->packet);
	add_endpoint(export, &call->src);
	add_endpoint(export, &call->dst);
	g_string_append_len(export->text, wp_nodes_key(export->nodes, call->sender), -1);
	g_string_append_c(export->text, '\0');
	g_string_append_len(export->text, wp_nodes_key(export->nodes, call->receiver), -1);
	g_string_append_c(export->text, '\0');
	if (export->ids_unique)
		g_string_append(export->text, wp_record_id_text(export->nodes, span->id, id));
	else
		add_number(export, answer ? answer->numbers[index] : index);
	g_checksum_reset(export->digest);
	g_checksum_update(export->digest, (const guchar *)export->text->str,
			  (gssize) export->text->len);
	g_checksum_get_digest(export->digest, digest, &length);
	return (WpExportId){ .id = take_number(digest),
			     .trace = { take_number(digest + 8), take_number(digest + 16) } };
}

/* --- parts --- */

static gboolean
is_kept(const WpExport *export, guint32 span)
{
	return !export->keep || export->keep[span];
}

static void
begin_part(WpExport *export, const WpAnalysis *part)
{
	export->part = part;
	export->nodes = wp_trace_nodes(part->trace);
	export->spans = wp_resolved_spans(part->resolved);
	export->records = wp_trace_records(part->trace);
	export->links = wp_analysis_links(part);
	export->keep = part->selection ? part->selection->keep : NULL;
	if (!export->has_begun)
		export->ids_unique = wp_spans_have_unique_ids(export->spans);
	if (!export->has_begun && export->form->begin)
		export->form->begin(export->state, export->out);
	export->has_begun = TRUE;
	export->paths = wp_paths_new(export->spans, export->links, NULL, NULL);
	export->ids = g_new(WpExportId, MAX(export->spans->n, 1));
	for (guint32 i = 0; i < export->spans->n; i++)
		export->ids[i] = identify(export, i);
	wp_export_tree_init(&export->tree, export->links, export->spans->n, export->keep);
	wp_export_set_traces(&export->tree, export->spans, part->trace,
			     export->uses_sent && export->form->has_ids, export->ids,
			     &export->traced);
}

static void
end_part(WpExport *export)
{
	wp_export_tree_clear(&export->tree);
	g_clear_pointer(&export->ids, g_free);
	g_clear_pointer(&export->paths, wp_paths_free);
}

/* --- one trace --- */

static const char *
address_text(WpExport *export, const WpEndpoint *endpoint)
{
	char text[WP_ENDPOINT_TEXT_MAX];
	if (!wp_endpoint_is_known(endpoint))
		return "";
	return g_string_chunk_insert_const(export->strings,
					   wp_address_text(endpoint->address, text, sizeof text));
}

static void
set_message(WpExportCall *call, guint which, const WpRecord *record)
{
	call->bytes[which] = record ? record->bytes : WP_NO_SIZE;
	call->packets[which] = record ? record->packet : 0;
}

static void
set_ends(WpExport *export, WpExportCall *call, const WpSpan *span)
{
	const WpRecord *record = &export->records[span->call_record];
	gboolean has_return = span->return_record != G_MAXUINT32;
	call->caller = wp_resolved_node_name(export->part->resolved, span->caller);
	call->callee = wp_resolved_node_name(export->part->resolved, span->callee);
	call->callee_number = span->callee;
	call->client = address_text(export, &record->src);
	call->server = address_text(export, &record->dst);
	call->client_port = record->src.port;
	call->server_port = record->dst.port;
	call->tap = record->tap;
	set_message(call, 0, record);
	set_message(call, 1, has_return ? &export->records[span->return_record] : NULL);
}

static void
set_link(WpExport *export, WpExportCall *call, guint32 index)
{
	const WpLink *link = &export->links->links[index];
	char evidence[WP_EVIDENCE_TEXT_MAX];
	call->probability = link->probability;
	call->n_candidates = link->n_candidates;
	call->is_measured = (link->evidence & WP_EVIDENCE_MEASURED) != 0;
	call->evidence = g_string_chunk_insert_const(
		export->strings, wp_evidence_text(link->evidence, evidence, sizeof evidence));
	if (link->runner_up == WP_NO_SPAN || !is_kept(export, link->runner_up))
		return;
	call->runner = export->ids[link->runner_up].id;
	call->runner_trace = export->ids[link->runner_up].trace;
}

static void
set_sent_parent(const WpExport *export, WpExportCall *call, guint32 index)
{
	guint32 parent = export->tree.parents[index];
	call->sent_parent = export->ids[index].sent_parent;
	if (!call->sent_parent || parent == WP_NO_SPAN)
		return;
	call->inferred = export->ids[parent].id;
	call->inferred_trace = export->ids[parent].trace;
}

static void
add_call(WpExport *export, guint32 index, guint32 parent)
{
	const WpSpan *span = &export->spans->spans[index];
	gboolean is_paired = wp_span_is_paired(span);
	WpSpanParts parts = is_paired ? wp_span_parts(span) : (WpSpanParts){ 0 };
	WpExportCall call = {
		.parent = parent,
		.depth = parent == WP_EXPORT_NONE
				 ? 0
				 : g_array_index(export->calls, WpExportCall, parent).depth + 1,
		.id = export->ids[index].id,
		.begin_ns = span->call_ns,
		.end_ns = is_paired ? span->return_ns : span->call_ns,
		.self_ns = is_paired ? export->paths->self_ns[index] : 0,
		.request_ns = parts.request_ns,
		.reply_ns = parts.reply_ns,
		.has_end = is_paired,
		.is_one_way = span->kind == WP_KIND_MESSAGE,
		.is_error = wp_span_is_error(span),
		.waits = (span->marks & WP_MARK_WAIT) != 0,
		.label = wp_nodes_text(export->nodes, span->label),
		.protocol = wp_nodes_text(export->nodes, span->protocol),
		.status = wp_status_name(span->status),
	};
	set_ends(export, &call, span);
	set_link(export, &call, index);
	set_sent_parent(export, &call, index);
	g_array_append_val(export->calls, call);
}

typedef struct {
	guint32 span;
	guint32 parent; /* call of the trace */
} Step;

/* ROOT and all below it that is of its trace, in pre-order. */
static void
add_tree(WpExport *export, guint32 root)
{
	Step step = { root, WP_EXPORT_NONE };
	g_array_append_val(export->stack, step);
	while (export->stack->len) {
		step = g_array_index(export->stack, Step, export->stack->len - 1);
		g_array_set_size(export->stack, export->stack->len - 1);
		guint32 number = export->calls->len;
		add_call(export, step.span, step.parent);
		const guint32 *children = export->tree.children;
		for (guint32 k = export->tree.child_at[step.span + 1];
		     k-- > export->tree.child_at[step.span];) {
			Step child = { children[k], number };
			if (!export->ids[children[k]].is_first)
				g_array_append_val(export->stack, child);
		}
	}
}

WpExport *
wp_export_new(const WpExportForm *form, gboolean uses_sent, WpOut *out)
{
	WpExport *export = g_new0(WpExport, 1);
	export->form = form;
	export->uses_sent = uses_sent;
	export->state = g_malloc0(MAX(form->state_size, 1));
	export->out = out;
	export->text = g_string_new(NULL);
	export->digest = g_checksum_new(G_CHECKSUM_SHA256);
	export->calls = g_array_new(FALSE, FALSE, sizeof(WpExportCall));
	export->stack = g_array_new(FALSE, FALSE, sizeof(Step));
	export->strings = g_string_chunk_new(4096);
	return export;
}

void
wp_export_free(WpExport *export)
{
	if (!export)
		return;
	end_part(export);
	if (export->form->clear)
		export->form->clear(export->state);
	g_free(export->state);
	g_string_free(export->text, TRUE);
	g_checksum_free(export->digest);
	g_array_unref(export->calls);
	g_array_unref(export->stack);
	g_string_chunk_free(export->strings);
	g_free(export);
}

void
wp_export_add(WpExport *export, const WpAnalysis *part)
{
	begin_part(export, part);
	for (guint32 i = 0; i < export->spans->n && !wp_out_failed(export->out); i++) {
		if (!is_kept(export, i) || !export->ids[i].is_first)
			continue;
		g_array_set_size(export->calls, 0);
		g_string_chunk_clear(export->strings);
		add_tree(export, i);
		WpExportTrace trace = { export->ids[i].trace, export->calls->len,
					(const WpExportCall *)(gpointer) export->calls->data };
		export->form->trace(export->state, &trace, export->out);
	}
	end_part(export);
}

void
wp_export_finish(WpExport *export, const WpExportEnd *end)
{
	if (!export->has_begun && export->form->begin)
		export->form->begin(export->state, export->out);
	if (export->form->end)
		export->form->end(export->state, end, export->out);
}

const WpExportTraced *
wp_export_traced(const WpExport *export)
{
	return &export->traced;
}
