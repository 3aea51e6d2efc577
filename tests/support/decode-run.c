/* Conversations as rows through the real stream; see the header. */
#include "tests/support/decode-run.h"

#include <check.h>
#include <string.h>

#include "capture/keylog.h"
#include "tests/support/suite.h"

#define STEP_NS 1000

/* So much longer were datagrams that were cut. */
#define CUT_BYTES 100

/* A sink that writes each record as a line. */
typedef struct {
	WpRecordSink base;
	WpNodes *nodes;
	GString *text;
	gboolean show_tokens;
} TextSink;

static void
write_context(GString *text, const guint32 *words)
{
	char buffer[WP_TRACE_CONTEXT_TEXT_MAX];
	WpTraceContext context;
	wp_trace_context_unpack(words, &context);
	g_string_append_printf(text, " trace=%s",
			       wp_trace_context_text(&context, buffer, sizeof buffer));
}

/* Those that stand where identifiers do have the lowest bit set (capture/tokens.h). */
static void
write_tokens(GString *text, const guint32 *tokens, guint n)
{
	guint n_ids = 0;
	for (guint i = 0; i < n; i++)
		n_ids += tokens[i] & 1;
	if (n_ids)
		g_string_append_printf(text, " ids=%u", n_ids);
	g_string_append_printf(text, " tokens=%u", n);
}

static gboolean
write_record(WpRecordSink *sink, const WpRecord *record, const guint32 *tokens, GError **error)
{
	TextSink *self = (TextSink *)sink;
	gboolean from_server = record->src.port < record->dst.port;
	char kind = "CRM"[record->kind];

	/* Calls and messages of the server, and returns of the client, are the odd ones. */
	if ((record->kind == WP_KIND_RETURN) != from_server)
		kind = g_ascii_tolower(kind);
	g_string_append_printf(self->text, "%c%" G_GUINT64_FORMAT " [%d,%d] %s %d", kind,
			       record->id, (int)(record->begin_ns / STEP_NS),
			       (int)(record->end_ns / STEP_NS),
			       wp_nodes_text(self->nodes, record->protocol), (int)record->bytes);
	if (record->label)
		g_string_append_printf(self->text, " %s",
				       wp_nodes_text(self->nodes, record->label));
	if (record->kind != WP_KIND_CALL)
		g_string_append_printf(self->text, " %s", wp_status_name(record->status));
	if (record->marks & WP_MARK_SETUP)
		g_string_append(self->text, " setup");
	if (record->marks & WP_MARK_WAIT)
		g_string_append(self->text, " wait");
	if (record->marks & WP_MARK_CUT)
		g_string_append(self->text, " cut");
	if (record->marks & WP_MARK_TRACED)
		write_context(self->text, tokens + wp_record_context_at(record));
	if (self->show_tokens)
		write_tokens(self->text, tokens, record->n_tokens);
	g_string_append_c(self->text, '\n');
	return TRUE;
}

static const WpRecordSinkOps text_ops = { .record = write_record };

typedef struct {
	TextSink sink;
	WpNodes *nodes;
	WpCounters *counters;
	WpOrder *order;
	WpKeylog *keylog; /* or NULL */
	WpStreamShared shared;
	WpStream *stream;
	guint64 sent[2]; /* bytes, by info's direction */
	guint64 ahead;   /* bytes of the server that its next hole will hold, known to the client */
	guint64 behind;  /* bytes that the sender of the next bytes lacks */
	gint64 early_ns; /* so much before they are handed over the next bytes came */
	gint64 now_ns;
	guint64 packet;
} Run;

static void
start_run(Run *run, const WpRunOptions *options)
{
	static const WpEndpoint client = { { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 1 },
					   40000 };
	WpEndpoint server = { { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 10, 0, 0, 2 },
			      options->port ? options->port : 9999 };
	WpStreamInfo info = {
		.client = options->is_swapped ? server : client,
		.server = options->is_swapped ? client : server,
		.flow = 1,
		.is_udp = options->is_udp,
		.is_oriented = !options->is_swapped,
		.from_start = !options->is_midstream,
	};
	memset(run, 0, sizeof *run);
	run->nodes = wp_nodes_new();
	run->counters = wp_counters_new();
	run->sink =
		(TextSink){ { &text_ops }, run->nodes, g_string_new(NULL), options->show_tokens };
	run->order = wp_order_new(&run->sink.base, run->counters);
	run->shared = (WpStreamShared){ .nodes = run->nodes,
					.counters = run->counters,
					.order = run->order,
					.token_key = 1,
					.forced = options->forced,
					.forced_port = server.port };
	if (options->keylog) {
		run->keylog = wp_keylog_new();
		wp_keylog_add(run->keylog, options->keylog, strlen(options->keylog));
		run->shared.keylog = run->keylog;
	}
	run->stream = wp_stream_new(&run->shared, &info);
}

static void
end_run(Run *run)
{
	wp_stream_free(run->stream);
	wp_keylog_free(run->keylog);
	wp_order_free(run->order);
	wp_counters_free(run->counters);
	wp_nodes_unref(run->nodes);
}

static guint64
peer_of(const Run *run, WpDirection from)
{
	return run->sent[!from] + (from == WP_FROM_CLIENT ? run->ahead : 0) - run->behind;
}

/* Hands over bytes in pieces of PIECE, the first of FIRST bytes. */
static void
push_bytes(Run *run, const WpRunOptions *options, WpDirection from, const WpStep *step, gsize first,
	   gsize piece)
{
	WpStamp stamp = { .time_ns = run->now_ns - run->early_ns,
			  .packet = run->packet,
			  .peer = peer_of(run, from) };
	for (gsize at = 0; at < step->length;) {
		gsize n = MIN(at == 0 && first ? first : piece, step->length - at);
		/* An exact copy, so that a read past its end is seen by the sanitizers. */
		g_autofree guint8 *copy = g_memdup2(step->data + at, n);
		if (options->is_udp)
			wp_stream_datagram(run->stream, from, copy, n,
					   n + (strchr("DT", step->what) ? CUT_BYTES : 0), &stamp);
		else
			wp_stream_bytes(run->stream, from, copy, n, &stamp);
		at += n;
	}
	run->sent[from] += step->length;
	run->behind = 0;
	run->early_ns = 0;
}

static void
push_step(Run *run, const WpRunOptions *options, const WpStep *step, gsize first, gsize piece)
{
	WpDirection from = strchr("SslyGT", step->what) ? WP_FROM_SERVER : WP_FROM_CLIENT;
	if (options->is_swapped)
		from = !from;
	gboolean is_cut = strchr("xy", step->what) != NULL;
	run->now_ns += is_cut ? 0 : STEP_NS;
	run->packet += !is_cut;
	WpStamp stamp = { .time_ns = run->now_ns,
			  .packet = run->packet,
			  .peer = peer_of(run, from) };
	switch (step->what) {
	case 'C':
	case 'S':
	case 'D':
	case 'T':
		push_bytes(run, options, from, step, first, piece);
		break;
	case 'c':
	case 's':
	case 'l':
		wp_stream_hole(run->stream, from, step->length, NULL,
			       step->data ? run->now_ns : WP_NO_TIME, step->what == 'l');
		run->sent[from] += step->length;
		run->ahead = 0;
		break;
	case 'x':
	case 'y':
		wp_stream_hole(run->stream, from, step->length, &stamp, stamp.time_ns, FALSE);
		run->sent[from] += step->length;
		break;
	case 'F':
	case 'G':
		stamp.offset = run->sent[from];
		wp_stream_end(run->stream, from, &stamp);
		break;
	case 'A':
		run->ahead = step->length;
		break;
	case 'B':
		run->behind = step->length;
		break;
	case 'E':
		run->early_ns = (gint64)step->length * STEP_NS;
		break;
	case 'P':
		run->now_ns += (gint64)step->length * STEP_NS;
		break;
	default:
		wp_stream_finish(run->stream, WP_FINISH_RESET, &stamp);
	}
}

static void
append_counters(Run *run)
{
	for (int i = 0; i < WP_N_COUNTERS; i++) {
		guint64 n = wp_counters_get(run->counters, i);
		if (n && wp_counter_info[i].severity != WP_SEVERITY_INFO)
			g_string_append_printf(run->sink.text, "%s %" G_GUINT64_FORMAT "\n",
					       wp_counter_info[i].name, n);
	}
}

/* Step CUT_STEP comes in two parts, the first of CUT_AT bytes; the others as the options say. */
static void
push_all(Run *run, const WpRunOptions *options, const WpStep *steps, gsize n_steps, gsize cut_step,
	 gsize cut_at)
{
	for (gsize i = 0; i < n_steps; i++)
		push_step(run, options, &steps[i], i == cut_step ? cut_at : 0,
			  options->cut && cut_at == 0 ? options->cut : G_MAXSIZE);
	wp_stream_finish(run->stream, WP_FINISH_END, NULL);
	wp_order_flush(run->order, NULL);
}

static char *
run_cut(const WpRunOptions *options, const WpStep *steps, gsize n_steps, gsize cut_step,
	gsize cut_at)
{
	Run run;
	start_run(&run, options);
	push_all(&run, options, steps, n_steps, cut_step, cut_at);
	if (!options->no_counters)
		append_counters(&run);
	end_run(&run);
	return g_string_free(run.sink.text, FALSE);
}

/* The conversation as an input of tests/fuzz/fuzz_decode.c, in the folder $WP_FUZZ_SEEDS. */
static void
write_seed(const WpRunOptions *options, const WpStep *steps, gsize n_steps)
{
	static const char kinds[] = "CScsFGPR"; /* in the order of fuzz_decode.c */
	const char *folder = g_getenv("WP_FUZZ_SEEDS");
	g_autoptr(GByteArray) seed = g_byte_array_new();
	guint8 head[2] = { 0xff,
			   (guint8)(options->is_udp | options->is_midstream << 1 |
				    options->is_swapped << 2 | (options->keylog != NULL) << 4) };

	if (!folder)
		return;
	for (guint8 i = 0; wp_decoders[i]; i++)
		if (wp_decoders[i] == options->forced)
			head[0] = i;
	g_byte_array_append(seed, head, sizeof head);
	for (gsize i = 0; i < n_steps; i++) {
		const WpStep *step = &steps[i];
		if (step->what == 'A' || step->what == 'B')
			continue;
		gboolean is_cut = step->what == 'x' || step->what == 'y';
		guint8 what = (guint8)(is_cut ? 2 + (step->what == 'y')
					      : strchr(kinds, step->what) - kinds);
		gsize length = MIN(step->length | is_cut, 65535);
		guint8 row[3] = { what, (guint8)length, (guint8)(length >> 8) };
		g_byte_array_append(seed, row, sizeof row);
		if (what < 2)
			g_byte_array_append(seed, (const guint8 *)step->data, (guint)length);
	}
	g_autofree char *name = g_compute_checksum_for_data(G_CHECKSUM_SHA1, seed->data, seed->len);
	g_autofree char *path = g_build_filename(folder, name, NULL);
	g_file_set_contents(path, (const char *)seed->data, seed->len, NULL);
}

static const WpRunOptions no_options;

char *
wp_decode_run(const WpRunOptions *options, const WpStep *steps, gsize n_steps)
{
	const WpRunOptions *own = options ? options : &no_options;
	write_seed(own, steps, n_steps);
	return run_cut(own, steps, n_steps, G_MAXSIZE, 0);
}

void
wp_decode_check(const WpRunOptions *options, const WpStep *steps, gsize n_steps,
		const char *expected)
{
	WpRunOptions own = options ? *options : no_options;

	/* Under valgrind, at some positions only. */
	gsize stride = (gsize)wp_test_number(1, 13);

	g_autofree char *whole = wp_decode_run(&own, steps, n_steps);
	ck_assert_str_eq(whole, expected);
	for (gsize i = 0; i < n_steps; i++)
		for (gsize at = 1; strchr("CS", steps[i].what) && at < steps[i].length;
		     at += stride) {
			g_autofree char *got = run_cut(&own, steps, n_steps, i, at);
			ck_assert_msg(strcmp(got, expected) == 0, "step %d cut at %d:\n%s",
				      (int)i + 1, (int)at, got);
		}
	for (own.cut = 1; own.cut <= 64; own.cut += stride) {
		g_autofree char *got = run_cut(&own, steps, n_steps, G_MAXSIZE, 0);
		ck_assert_msg(strcmp(got, expected) == 0, "pieces of %d:\n%s", (int)own.cut, got);
	}
}

gsize
wp_decode_row_n_steps(const WpDecodeRow *row)
{
	gsize n = 0;
	while (n < WP_DECODE_ROW_STEPS && row->steps[n].what)
		n++;
	return n;
}

void
wp_decode_rows_run(const WpDecodeRow *rows, gsize n_rows)
{
	for (gsize i = 0; i < n_rows; i++) {
		g_autofree char *got = wp_decode_run(&rows[i].options, rows[i].steps,
						     wp_decode_row_n_steps(&rows[i]));
		ck_assert_msg(strcmp(got, rows[i].expected) == 0, "%s:\n%s", rows[i].name, got);
	}
}

void
wp_decode_rows_check(const WpDecodeRow *rows, gsize n_rows)
{
	for (gsize i = 0; i < n_rows; i++) {
		wp_decode_rows_run(&rows[i], 1); /* names the row that is wrong */
		wp_decode_check(&rows[i].options, rows[i].steps, wp_decode_row_n_steps(&rows[i]),
				rows[i].expected);
	}
}

char *
wp_decode_run_names(const WpRunOptions *options, const WpStep *steps, gsize n_steps)
{
	Run run;
	GString *text = g_string_new(NULL);
	const WpRunOptions *own = options ? options : &no_options;

	start_run(&run, own);
	push_all(&run, own, steps, n_steps, G_MAXSIZE, 0);
	for (guint32 node = 0; node < wp_nodes_count(run.nodes); node++)
		for (int source = 0; source < WP_NAME_N_SOURCES; source++) {
			const char *name = wp_nodes_hint(run.nodes, node, source, NULL);
			if (name)
				g_string_append_printf(text, "%s=%s %s\n",
						       wp_nodes_key(run.nodes, node), name,
						       wp_name_source_name(source));
		}
	g_string_free(run.sink.text, TRUE);
	end_run(&run);
	return g_string_free(text, FALSE);
}
