/* Files of spans to records: the three forms, which spans are calls, both ends of a call, the truth; damage. */
#include "capture/span-file.h"

#include <string.h>

#include "capture/json-pull.h"
#include "capture/trace.h"
#include "tests/support/suite.h"
#include "tests/support/tempfile.h"

/* Jaeger: a span; times in us. */
#define TAG(key, value) "{\"key\":\"" key "\",\"type\":\"string\",\"value\":\"" value "\"}"
#define PARENT(id)      "{\"refType\":\"CHILD_OF\",\"traceID\":\"t\",\"spanID\":\"" id "\"}"
#define SPAN(id, parent, process, begin, duration, tags)                                           \
	"{\"traceID\":\"t\",\"spanID\":\"" id                                                      \
	"\",\"operationName\":\"op\",\"references\":[" parent "],\"startTime\":" begin             \
	",\"duration\":" duration ",\"tags\":[" tags "],\"processID\":\"" process "\"}"
#define JAEGER(spans)                                                                              \
	"{\"data\":[{\"traceID\":\"t\",\"spans\":[" spans                                          \
	"],\"processes\":{\"p1\":{\"serviceName\":\"web\"},\"p2\":{\"serviceName\":\"db\"},"       \
	"\"p3\":{\"serviceName\":\"log\",\"tags\":[]}}}],\"total\":0}"
#define SERVER TAG("span.kind", "server")
#define CLIENT TAG("span.kind", "client")

/* OTLP: a resource with a span. */
#define ATTRIBUTE(key, value) "{\"key\":\"" key "\",\"value\":{\"stringValue\":\"" value "\"}}"
#define RESOURCE(service, spans)                                                                   \
	"{\"scopeSpans\":[{\"scope\":{\"name\":\"x\"},\"spans\":[" spans                           \
	"]}],\"resource\":{\"attributes\":[" ATTRIBUTE("service.name", service) "]}}"
#define OTLP_SPAN(id, parent, kind, begin, end, more)                                              \
	"{\"traceId\":\"5b8e\",\"spanId\":\"" id "\",\"parentSpanId\":\"" parent                   \
	"\",\"name\":\"op\",\"kind\":" kind ",\"startTimeUnixNano\":\"" begin                      \
	"\",\"endTimeUnixNano\":\"" end "\"" more "}"

#define ZIPKIN_SPAN(id, parent, kind, begin, duration, local, more)                                \
	"{\"traceId\":\"0a\",\"id\":\"" id "\",\"parentId\":\"" parent                             \
	"\",\"name\":\"op\",\"kind\":\"" kind "\",\"timestamp\":" begin ",\"duration\":" duration  \
	",\"localEndpoint\":{\"serviceName\":\"" local "\",\"ipv4\":\"10.0.0.1\"}" more "}"

typedef struct {
	const char *name;
	const char *json;
	/* A record a line: kind first..last sender>receiver id status [way of the first byte]; then truth; counters. */
	const char *expected;
} Row;

static const Row rows[] = {
	{ "jaeger: a server and what it calls",
	  JAEGER(SPAN("a", "", "p1", "10", "9", SERVER) "," SPAN("b", PARENT("a"), "p2", "12", "3",
								 SERVER)),
	  "CALL 10000..10000 client>web a\nCALL 12000..12000 web>db b\nRETURN 15000..15000 db>web "
	  "b ok\n"
	  "RETURN 19000..19000 web>client a ok\na<\nb<a\nspans 2\n" },
	{ "jaeger: children may stand first, and other members anywhere",
	  "{\"x\":[{}],\"data\":[{\"processes\":{\"p1\":{\"serviceName\":\"web\"}},\"spans\":"
	  "[" SPAN("b", PARENT("a"), "p1", "12", "3", SERVER) "," SPAN("a", "", "p1", "10", "9",
								       SERVER) "]}]}",
	  "CALL 10000..10000 client>web a\nCALL 12000..12000 web>web b\nRETURN 15000..15000 "
	  "web>web b ok\n"
	  "RETURN 19000..19000 web>client a ok\na<\nb<a\nspans 2\n" },
	{ "jaeger: both ends of a call, each by its clock; spans inside are no calls",
	  JAEGER(SPAN("a", "", "p1", "10", "9", SERVER) "," SPAN(
		  "i", PARENT("a"), "p1", "11", "7",
		  "") "," SPAN("c", PARENT("i"), "p1", "12", "5",
			       CLIENT) "," SPAN("b", PARENT("c"), "p2", "13", "2", SERVER)),
	  "CALL 10000..10000 client>web a\nCALL 12000..12000 web>db b way 1000\n"
	  "RETURN 15000..15000 db>web b ok way 2000\nRETURN 19000..19000 web>client a ok\na<\nb<a\n"
	  "spans 4\nspans-inner 2\n" },
	{ "jaeger: a clock that is so far behind that both ends do not overlap",
	  JAEGER(SPAN("c", "", "p1", "12", "5", CLIENT) "," SPAN("b", PARENT("c"), "p2", "3", "2",
								 SERVER)),
	  "CALL 12000..12000 web>db b way 0\nRETURN 17000..17000 db>web b ok way "
	  "0\nb<\nspans 2\n"
	  "spans-inner 1\n" },
	{ "jaeger: a caller alone says whom it called, or not",
	  JAEGER(SPAN("a", "", "p1", "10", "9", SERVER) "," SPAN(
		  "c", PARENT("a"), "p1", "12", "2",
		  CLIENT "," TAG("peer.service", "cache") "," TAG(
			  "error", "true")) "," SPAN("d", PARENT("a"), "p1", "15", "2", CLIENT)),
	  "CALL 10000..10000 client>web a\nCALL 12000..12000 web>cache c\n"
	  "RETURN 14000..14000 cache>web c error\nRETURN 19000..19000 web>client a "
	  "ok\na<\nc<a\nspans 3\n"
	  "spans-inner 1\nspans-without-peer 1\n" },
	{ "jaeger: without kinds, services tell",
	  JAEGER(SPAN("a", "", "p1", "10", "9", "") "," SPAN("i", PARENT("a"), "p1", "11", "8",
							     "") "," SPAN("b", PARENT("i"), "p2",
									  "12", "3", "")),
	  "CALL 10000..10000 client>web a\nCALL 12000..12000 web>db b\nRETURN 15000..15000 db>web "
	  "b ok\n"
	  "RETURN 19000..19000 web>client a ok\na<\nb<a\nspans 3\nspans-inner 1\n" },
	{ "jaeger: a message", JAEGER(SPAN("a", "", "p3", "10", "9", TAG("span.kind", "consumer"))),
	  "MESSAGE 10000..10000 client>log a\na<\nspans 1\n" },
	{ "jaeger: a circle of parents, and an id that comes twice",
	  JAEGER(SPAN("a", PARENT("b"), "p1", "10", "9",
		      SERVER) "," SPAN("b", PARENT("a"), "p2", "12", "3",
				       SERVER) "," SPAN("b", "", "p2", "30", "1", SERVER)),
	  "CALL 10000..10000 db>web a\nCALL 12000..12000 web>db b\nRETURN 15000..15000 db>web b "
	  "ok\n"
	  "RETURN 19000..19000 web>db a ok\nCALL 30000..30000 client>db b#3\nRETURN 31000..31000 "
	  "db>client "
	  "b#3 ok\na<b\nb<a\nb#3<\nspans 3\n" },
	{ "jaeger: no id, no time",
	  JAEGER("{\"traceID\":\"t\",\"startTime\":1},{\"traceID\":\"t\",\"spanID\":\"a\"}"),
	  "spans 2\nspans-unusable 2\n" },
	{ "otlp: lines, the service behind its spans, kinds by name",
	  "{\"resourceSpans\":[" RESOURCE(
		  "web", OTLP_SPAN("A1", "", "2", "10", "90",
				   "")) "]}\n"
					"{\"resourceSpans\":[" RESOURCE(
						"db",
						OTLP_SPAN("b1", "a1", "\"SPAN_KIND_SERVER\"", "20",
							  "30", ",\"status\":{\"code\":2}")) "]}\n",
	  "CALL 10..10 client>web A1\nCALL 20..20 web>db b1\nRETURN 30..30 db>web b1 error\n"
	  "RETURN 90..90 web>client A1 ok\nA1<\nb1<A1\nspans 2\n" },
	{ "otlp: a request without spans", "{\"resourceSpans\":[]}\n", "spans 0\n" },
	{ "otlp: peers of callers",
	  "{\"resourceSpans\":[" RESOURCE(
		  "web",
		  OTLP_SPAN(
			  "a", "",
			  "3", "10", "90",
			  ",\"attributes\":[{\"value\":{\"intValue\":3},\"key\":\"n\"}," ATTRIBUTE(
				  "db.system", "redis") "]")) "]}",
	  "CALL 10..10 web>redis a\nRETURN 90..90 redis>web a ok\na<\nspans 1\n" },
	{ "zipkin: one id at both ends",
	  "[" ZIPKIN_SPAN("1", "", "SERVER", "10", "90", "web", "") "," ZIPKIN_SPAN(
		  "2", "1", "CLIENT", "20", "30", "web",
		  "") "," ZIPKIN_SPAN("2", "1", "SERVER", "21", "20", "db",
				      ",\"shared\":true") "," ZIPKIN_SPAN("3", "2", "CLIENT", "25",
									  "5", "db",
									  ",\"remoteEndpoint\":{"
									  "\"serviceName\":"
									  "\"disk\"}") "]",
	  "CALL 10000..10000 client>web 1\nCALL 20000..20000 web>db 2 way 1000\nCALL 25000..25000 "
	  "db>disk 3\n"
	  "RETURN 30000..30000 disk>db 3 ok\nRETURN 41000..41000 db>web 2 ok way 9000\n"
	  "RETURN 100000..100000 web>client 1 ok\n1<\n2<1\n3<2\nspans 4\nspans-inner 1\n" },
	{ "zipkin: lists of lists",
	  "[[" ZIPKIN_SPAN("1", "", "SERVER", "10", "90", "web",
			   ",\"tags\":{\"error\":\"\"}") "],[]]",
	  "CALL 10000..10000 client>web 1\nRETURN 100000..100000 web>client 1 error\n1<\nspans "
	  "1\n" },
};

static gboolean
take_truth(const char *id, const char *parent, gpointer data, GError **error)
{
	(void)error;
	g_string_append_printf(data, "%s<%s\n", id, parent);
	return TRUE;
}

static void
add_record(GString *text, const WpNodes *nodes, const WpRecord *record)
{
	char id[WP_ID_TEXT_MAX];
	g_string_append_printf(text, "%s %" G_GINT64_FORMAT "..%" G_GINT64_FORMAT " %s>%s %s",
			       wp_kind_name(record->kind), record->begin_ns, record->end_ns,
			       wp_nodes_key(nodes, record->sender),
			       wp_nodes_key(nodes, record->receiver),
			       wp_record_id_text(nodes, record->id, id));
	if (record->kind == WP_KIND_RETURN)
		g_string_append_printf(text, " %s", wp_status_name(record->status));
	if (record->marks & WP_MARK_BOTH_ENDS)
		g_string_append_printf(text, " way %" G_GINT64_FORMAT, record->begin_way_ns);
	g_string_append_c(text, '\n');
}

/* (transfer full) What a file with JSON (LENGTH bytes) gives, as in a row. FALSE is told in OUT_OK. */
static char *
read_spans(const char *json, gsize length, gboolean *out_ok)
{
	static const WpCounter counters[] = {
		WP_COUNT_SPANS,          WP_COUNT_SPANS_INNER,     WP_COUNT_SPANS_WITHOUT_PEER,
		WP_COUNT_SPANS_UNUSABLE, WP_COUNT_INPUT_TRUNCATED, WP_COUNT_INPUT_DAMAGED
	};
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	g_autoptr(WpTrace) trace = wp_trace_new(nodes);
	g_autoptr(GError) error = NULL;
	g_autoptr(GString) truth = g_string_new(NULL);
	GString *text = g_string_new(NULL);
	g_autotemp *path = wp_temp_file_new(".json", json, length);
	WpSpanFileOptions options = {
		.from_ns = WP_NO_TIME, .to_ns = WP_NO_TIME, .truth = take_truth, .truth_data = truth
	};
	*out_ok = wp_span_file_run((const char *const[]){ path }, 1, &options, nodes,
				   wp_trace_sink(trace), &error);
	ck_assert(*out_ok == (error == NULL));
	for (gsize i = 0; i < wp_trace_n_records(trace); i++)
		add_record(text, nodes, &wp_trace_records(trace)[i]);
	g_string_append(text, truth->str);
	for (gsize i = 0; i < G_N_ELEMENTS(counters); i++) {
		guint64 n = wp_counters_get(wp_trace_counters(trace), counters[i]);
		if (n || i == 0)
			g_string_append_printf(text, "%s %" G_GUINT64_FORMAT "\n",
					       wp_counter_info[counters[i]].name, n);
	}
	return g_string_free(text, FALSE);
}

START_TEST(forms)
{
	gboolean ok;
	const Row *row = &rows[_i];
	g_autofree char *got = read_spans(row->json, strlen(row->json), &ok);
	ck_assert_msg(ok, "%s", row->name);
	ck_assert_msg(strcmp(got, row->expected) == 0, "%s:\n%s\nnot\n%s", row->name, got,
		      row->expected);
	ck_assert(wp_span_file_is_spans((const guint8 *)row->json, strlen(row->json)));
}
END_TEST

/* Cut anywhere, what was whole is given, and that it was cut is told; nothing else is ever there. */
START_TEST(cut)
{
	const Row *row = &rows[_i];
	gboolean ok;
	gsize length = strlen(row->json);
	gsize step = (gsize)wp_test_number(1, 17);
	for (gsize n = 1; n + 2 < length; n += step) {
		g_autofree char *got = read_spans(row->json, n, &ok);
		gboolean is_whole = row->json[n - 1] == '\n' || row->json[n] == '\n';
		ck_assert_msg(ok && (is_whole || strstr(got, "input-truncated 1")),
			      "%s, %zu bytes: %s", row->name, n, got);
	}
}
END_TEST

START_TEST(damaged)
{
	static const char *const texts[] = {
		"{\"data\":[}",           "{\"data\":[{]}", "{\"data\" 1}",
		"{\"data\":1,}",          "[1 2]",          "{\"data\":\"\x01\"}",
		"{\"data\":\"\\x\"}",     "{\"data\":01}",  "{\"data\":1.}",
		"{\"data\":tru}",         "{data:1}",       "]",
		"{\"data\":\"\\u12g4\"}", "[[]]]",
	};
	gboolean ok;
	for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_autofree char *got = read_spans(texts[i], strlen(texts[i]), &ok);
		ck_assert_msg(!ok, "%s was read: %s", texts[i], got);
	}
	g_autoptr(GString) deep = g_string_new(NULL);
	for (int i = 0; i < 100000; i++)
		g_string_append_c(deep, '[');
	g_autofree char *got = read_spans(deep->str, deep->len, &ok);
	ck_assert_msg(!ok, "%s", got);
}
END_TEST

START_TEST(other_files)
{
	static const char *const texts[] = {
		"",     "{",    "[]",           "{\"schema\":\"wirepath.report/2\",\"data\":1}",
		"data", "[\n]", "#\"traceID\"",
	};
	for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
		ck_assert_msg(!wp_span_file_is_spans((const guint8 *)texts[i], strlen(texts[i])),
			      "%s", texts[i]);
}
END_TEST

/* Text of a JSON string as the tokenizer gives it. */
START_TEST(texts)
{
	static const struct {
		const char *json;
		const char *text;
	} cases[] = {
		{ "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t" },
		{ "\"\\u00e9\\u20AC\"", "\xc3\xa9\xe2\x82\xac" },
		{ "\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80" },
		{ "\"\\ud83dx\"", "\xef\xbf\xbdx" },
		{ "\"\\ud83d\\n\"", "\xef\xbf\xbd\n" },
		{ "\"\\ud83d\\ud83d\\ude00\"", "\xef\xbf\xbd\xf0\x9f\x98\x80" },
		{ "\"\\ude00\"", "\xef\xbf\xbd" },
		{ "\"\\u0000\"", "\xef\xbf\xbd" },
		{ "\"a\xff\"", "a\xef\xbf\xbd" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autotemp *path = wp_temp_file_new(".json", cases[i].json, strlen(cases[i].json));
		g_autoptr(WpInput) input = wp_input_open(path, NULL);
		g_autoptr(WpJsonPull) pull = wp_json_pull_new(input);
		ck_assert_int_eq(wp_json_pull_next(pull, NULL), WP_JSON_TEXT);
		ck_assert_str_eq(wp_json_pull_text(pull), cases[i].text);
		ck_assert_int_eq(wp_json_pull_next(pull, NULL), WP_JSON_END);
	}
}
END_TEST

WP_SUITE_OF_ROWS("span-file", { forms, G_N_ELEMENTS(rows) }, { cut, G_N_ELEMENTS(rows) },
		 { damaged, 0 }, { other_files, 0 }, { texts, 0 })
