/* FastCGI: records, streams cut into them, requests in parallel, ends. */
#include "capture/decoders.h"

#include <string.h>

#include "tests/support/decode-run.h"
#include "tests/support/suite.h"

/*
 * Records are written as words: a letter, the id, and after a colon the content.
 *
 *     B1      BEGIN_REQUEST, responder (B1:2 authorizer, B1:3 filter)    A1  ABORT_REQUEST
 *     P1:a=b,c=d   PARAMS: pairs                p1:abc  PARAMS: these bytes of the stream
 *     I1:x    STDIN      D1:x  DATA             G0      GET_VALUES
 *     O1:x    STDOUT     E1:x  STDERR           Z1:7,0  END_REQUEST: app status, protocol status
 *     V0      GET_VALUES_RESULT                 U0      UNKNOWN_TYPE
 *
 * '|' in content is CR LF, '~' a blank. Records of odd length are padded to even ones.
 */
static const char letters[] = " BAZPpIOEDGVU";
static const guint8 types[] = { 0, 1, 2, 3, 4, 4, 5, 6, 7, 8, 9, 10, 11 };

static void
append_pairs(GByteArray *content, const char *text)
{
	g_auto(GStrv) pairs = g_strsplit(text, ",", -1);
	for (int i = 0; pairs[i] && *text; i++) {
		g_auto(GStrv) pair = g_strsplit(pairs[i], "=", 2);
		for (int k = 0; k < 2; k++) {
			gsize n = strlen(pair[k]);
			guint8 length[4] = { (guint8)(0x80 | n >> 24), (guint8)(n >> 16),
					     (guint8)(n >> 8), (guint8)n };
			g_byte_array_append(content, n < 128 ? length + 3 : length,
					    n < 128 ? 1 : 4);
		}
		for (int k = 0; k < 2; k++)
			g_byte_array_append(content, (const guint8 *)pair[k],
					    (guint)strlen(pair[k]));
	}
}

static void
append_text(GByteArray *content, const char *text)
{
	for (; *text; text++) {
		char c = *text == '~' ? ' ' : *text;
		g_byte_array_append(content, (const guint8 *)(c == '|' ? "\r\n" : &c),
				    c == '|' ? 2 : 1);
	}
}

static void
append_content(GByteArray *content, char letter, const char *text)
{
	if (letter == 'B') {
		guint8 begin[8] = { 0, (guint8)(*text ? *text - '0' : 1), 1 };
		g_byte_array_append(content, begin, 8);
	} else if (letter == 'Z') {
		guint8 end[8] = { 0, 0, 0, (guint8)(text[0] - '0'), (guint8)(text[2] - '0') };
		g_byte_array_append(content, end, 8);
	} else if (letter == 'P') {
		append_pairs(content, text);
	} else if (letter == 'G') {
		append_pairs(content, "FCGI_MAX_CONNS=,FCGI_MPXS_CONNS=");
	} else {
		append_text(content, text);
	}
}

static void
append_record(GByteArray *out, const char *word)
{
	g_autoptr(GByteArray) content = g_byte_array_new();
	const char *colon = strchr(word, ':');
	guint id = (guint)g_ascii_strtoull(word + 1, NULL, 10);

	append_content(content, word[0], colon ? colon + 1 : "");
	guint8 padding = content->len % 2;
	guint8 header[8] = { 1,
			     types[strchr(letters, word[0]) - letters],
			     (guint8)(id >> 8),
			     (guint8)id,
			     (guint8)(content->len >> 8),
			     (guint8)content->len,
			     padding };
	g_byte_array_append(out, header, 8);
	g_byte_array_append(out, content->data, content->len);
	g_byte_array_append(out, (const guint8 *)"", padding);
}

/* (transfer full) */
static GByteArray *
records(const char *text)
{
	GByteArray *out = g_byte_array_new();
	g_auto(GStrv) words = g_strsplit(text, " ", -1);
	for (int i = 0; words[i]; i++)
		append_record(out, words[i]);
	return out;
}

typedef struct {
	const char *name;
	const char
		*steps[8]; /* 'C' or 'S', a blank, records; or "F", "G", "R", "hole of S" = "s" */
	const char *expected;
} Row;

static gsize
make_steps(const Row *row, WpStep *steps, GPtrArray *owner)
{
	gsize n = 0;
	for (; n < G_N_ELEMENTS(row->steps) && row->steps[n]; n++) {
		const char *text = row->steps[n];
		steps[n] = (WpStep){ text[0], NULL, 0 };
		if (strchr("cs", text[0]))
			steps[n].length = 24;
		if (!strchr("CS", text[0]))
			continue;
		GByteArray *bytes = records(text + 2);
		g_ptr_array_add(owner, bytes);
		steps[n].data = (const char *)bytes->data;
		steps[n].length = bytes->len;
	}
	return n;
}

static void
check_rows(const Row *rows, gsize n_rows, gboolean has_holes)
{
	for (gsize i = 0; i < n_rows; i++) {
		WpStep steps[G_N_ELEMENTS(rows[i].steps)];
		g_autoptr(GPtrArray) owner =
			g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
		gsize n = make_steps(&rows[i], steps, owner);
		g_autofree char *got = wp_decode_run(NULL, steps, n);
		ck_assert_msg(strcmp(got, rows[i].expected) == 0, "%s:\n%s", rows[i].name, got);
		if (!has_holes)
			wp_decode_check(NULL, steps, n, rows[i].expected);
	}
}

#define GET_X "P1:REQUEST_METHOD=GET,REQUEST_URI=/x/7?y P1: I1:"

static const Row plain[] = {
	{ "a request and its answer",
	  { "C B1 " GET_X, "S O1:Content-Type:~text/html||hello O1: Z1:0,0" },
	  "C1 [1,1] fastcgi 78 GET /x/{}\nR1 [2,2] fastcgi 64 GET /x/{} ok\n" },
	{ "a body, an answer in parts",
	  { "C B1 P1:REQUEST_METHOD=POST,SCRIPT_NAME=/a.php P1:", "C I1:abc",
	    "C I1:", "S O1:Status:~201~Created||", "S O1:more E1:warning", "S Z1:0,0" },
	  "C1 [1,3] fastcgi 92 POST /a.php\nR1 [4,6] fastcgi 76 POST /a.php ok\n" },
	{ "one connection, one request after the other, the same id",
	  { "C B1 " GET_X, "S O1:||a Z1:0,0",
	    "C B1 P1:REQUEST_METHOD=PUT,DOCUMENT_URI=/b P1: I1:", "S O1:||b Z1:0,0" },
	  "C1 [1,1] fastcgi 78 GET /x/{}\nR1 [2,2] fastcgi 30 GET /x/{} ok\n"
	  "C2 [3,3] fastcgi 76 PUT /b\nR2 [4,4] fastcgi 30 PUT /b ok\n" },
	{ "two at a time",
	  { "C B1 B258 " GET_X " P258:REQUEST_METHOD=GET,SCRIPT_NAME=/b",
	    "C P258: I258:", "S O258:||b O1:||a", "S Z258:0,0 Z1:0,0" },
	  "C1 [1,1] fastcgi 78 GET /x/{}\nC2 [1,2] fastcgi 74 GET /b\n"
	  "R2 [3,4] fastcgi 30 GET /b ok\nR1 [3,4] fastcgi 30 GET /x/{} ok\n" },
	{ "the path that tells most, wherever it stands",
	  { "C B1 P1:REQUEST_URI=/shop/7,SCRIPT_NAME=/index.php,DOCUMENT_URI=/index.php,"
	    "REQUEST_METHOD=GET P1: I1:" },
	  "C1 [1,1] fastcgi 126 GET /shop/{}\ncalls-open 1\n" },
	{ "parameters cut by records",
	  { "C B1 p1:\016 p1:\003REQ p1:UEST_METHODGE p1:T p1:\013\002SCRIPT_NAME/ p1:c P1: I1:" },
	  "C1 [1,1] fastcgi 118 GET /c\ncalls-open 1\n" },
	{ "an authorizer gets no body",
	  { "C B1:2 P1:REQUEST_METHOD=GET,SCRIPT_NAME=/b P1:", "C I1:", "S O1:|| Z1:0,0" },
	  "C1 [1,1] fastcgi 66 GET /b\nR1 [3,3] fastcgi 28 GET /b ok\n" },
	{ "a filter gets a file as well",
	  { "C B1:3 P1:REQUEST_METHOD=GET,SCRIPT_NAME=/b P1: I1:", "C D1:file D1:", "S Z1:0,0" },
	  "C1 [1,2] fastcgi 94 GET /b\nR1 [3,3] fastcgi 16 GET /b ok\n" },
	{ "aborted",
	  { "C B1 P1:REQUEST_METHOD=GET,SCRIPT_NAME=/b P1:", "C A1", "S Z1:1,0" },
	  "C1 [1,2] fastcgi 74 GET /b\nR1 [3,3] fastcgi 16 GET /b error\n" },
	{ "answered before the body has ended",
	  { "C B1 P1:REQUEST_METHOD=PUT,SCRIPT_NAME=/b P1: I1:abc", "S O1:Status:~413|| Z1:0,0",
	    "C I1:def I1:" },
	  "C1 [1,1] fastcgi 78 PUT /b\nR1 [2,2] fastcgi 40 PUT /b error\n" },
	{ "management",
	  { "C G0", "S V0:x", "C B1 " GET_X, "S U0:12345678 Z1:0,0" },
	  "C1 [1,1] fastcgi 42 GET_VALUES setup\nR1 [2,2] fastcgi 10 GET_VALUES ok setup\n"
	  "C2 [3,3] fastcgi 78 GET /x/{}\nR2 [4,4] fastcgi 16 GET /x/{} ok\nreturns-orphan 1\n" },
	{ "the application goes away in the middle",
	  { "C B1 " GET_X, "S O1:||a", "G" },
	  "C1 [1,1] fastcgi 78 GET /x/{}\nR1 [2,2] fastcgi 14 GET /x/{} reset\n" },
	{ "the application goes away at once",
	  { "C B1 " GET_X, "G" },
	  "C1 [1,1] fastcgi 78 GET /x/{}\ncalls-open 1\n" },
	{ "waits by design",
	  { "C B1 P1:REQUEST_METHOD=GET,REQUEST_URI=/b?watch=1 P1: I1:",
	    "S O1:Content-type:text/event-stream|| Z1:0,0" },
	  "C1 [1,1] fastcgi 82 GET /b wait\nR1 [2,2] fastcgi 58 GET /b ok wait\n" },
};

START_TEST(plain_requests)
{
	check_rows(plain, G_N_ELEMENTS(plain), FALSE);
}
END_TEST

/* The protocol's own status, then the program's "Status:", then its exit. */
START_TEST(statuses)
{
	static const struct {
		const char *answer;
		const char *status;
	} rows[] = {
		{ "S O1:||a Z1:0,0", "ok" },
		{ "S O1:Status:~302~Found|Location:~/|| Z1:0,0", "ok" },
		{ "S O1:X:~1|STATUS:404|| Z1:0,0", "error" },
		{ "S O1:Status:~5 O1:04~x|| Z1:0,0", "timeout" },
		{ "S O1:A:~b||Status:~500 Z1:0,0", "ok" },
		{ "S O1:Status:~200~OK|| Z1:9,0", "ok" },
		{ "S Z1:9,0", "error" },
		{ "S O1:Status:~200~OK|| Z1:0,2", "error" },
		{ "S Z1:0,1", "error" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		Row row = { .steps = { "C B1 " GET_X, rows[i].answer } };
		WpStep steps[G_N_ELEMENTS(row.steps)];
		g_autoptr(GPtrArray) owner =
			g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
		gsize n = make_steps(&row, steps, owner);
		g_autofree char *got = wp_decode_run(NULL, steps, n);
		g_autofree char *end = g_strdup_printf(" GET /x/{} %s\n", rows[i].status);
		ck_assert_msg(g_str_has_suffix(got, end), "%s: %s", rows[i].answer, got);
		wp_decode_check(NULL, steps, n, got);
	}
}
END_TEST

/* Holes and starts in mid-stream. */
static const Row holes[] = {
	{ "in STDOUT: the end still answers",
	  { "C B1 " GET_X, "S O1:||aaaa", "s", "S O1:bbbb Z1:0,0" },
	  "C1 [1,1] fastcgi 78 GET /x/{}\nR1 [4,4] fastcgi 28 GET /x/{} ok\nresyncs 1\n" },
	{ "in PARAMS: the call is known, its path is not",
	  { "C B1", "c", "C P1: I1:", "S O1:||a Z1:0,0" },
	  "C1 [1,1] fastcgi 16\nR1 [4,4] fastcgi 30 ok\nbytes-skipped 16\n" },
	{ "the end lost",
	  { "C B1 " GET_X, "S O1:||a", "s", "C B1 " GET_X, "S O1:||b Z1:0,0" },
	  "C1 [1,1] fastcgi 78 GET /x/{}\nC2 [4,4] fastcgi 78 GET /x/{}\n"
	  "R2 [5,5] fastcgi 30 GET /x/{} ok\ncalls-unanswered 1\nresyncs 1\n" },
};

START_TEST(holes_are_survived)
{
	check_rows(holes, G_N_ELEMENTS(holes), TRUE);
}
END_TEST

/* More at a time than are followed: those that are stay right. */
START_TEST(many_at_a_time)
{
	GString *calls = g_string_new("C ");
	GString *answers = g_string_new("S ");
	for (int id = 1; id <= 40; id++)
		g_string_append_printf(calls, "%sB%d", id > 1 ? " " : "", id);
	for (int id = 1; id <= 40; id++)
		g_string_append_printf(calls, " P%d: I%d:", id, id);
	for (int id = 40; id >= 1; id--)
		g_string_append_printf(answers, "%sO%d:||x Z%d:0,0", id < 40 ? " " : "", id, id);
	Row row = { .steps = { calls->str, answers->str } };
	WpStep steps[G_N_ELEMENTS(row.steps)];
	g_autoptr(GPtrArray) owner =
		g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
	gsize n = make_steps(&row, steps, owner);
	g_autofree char *got = wp_decode_run(NULL, steps, n);
	int n_returns = 0;
	for (const char *at = got; (at = strstr(at, "fastcgi 30 ok\n")); at++)
		n_returns++;
	ck_assert_int_eq(n_returns, 32);
	ck_assert_ptr_nonnull(strstr(got, "\ncalls-skipped 8\n"));
	ck_assert_ptr_nonnull(strstr(got, "\nreturns-orphan 8\n"));
	g_string_free(calls, TRUE);
	g_string_free(answers, TRUE);
}
END_TEST

/* Tokens of the path, of identifying fields, and of the body's front. */
START_TEST(tokens)
{
	static const struct {
		const char *call;
		int n;
	} rows[] = {
		{ "C B1 P1:REQUEST_METHOD=GET,SCRIPT_NAME=/i/ord-77,REQUEST_URI=/i/ord-77?u=cust9 "
		  "I1:",
		  2 },
		{ "C B1 P1:HTTP_COOKIE=sid12345,HTTP_X_REQUEST_ID=req-88,HTTP_USER_AGENT=curl7 I1:",
		  2 },
		{ "C B1 P1:A=b P1: I1:order-1 I1:234x I1:", 1 },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		Row row = { .steps = { rows[i].call } };
		WpStep steps[G_N_ELEMENTS(row.steps)];
		g_autoptr(GPtrArray) owner =
			g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
		gsize n = make_steps(&row, steps, owner);
		WpRunOptions options = { .show_tokens = TRUE, .no_counters = TRUE };
		g_autofree char *got = wp_decode_run(&options, steps, n);
		g_autofree char *end = g_strdup_printf(" tokens=%d\n", rows[i].n);
		ck_assert_msg(g_str_has_suffix(got, end), "row %d: %s", (int)i, got);
		wp_decode_check(&options, steps, n, got);
	}
}
END_TEST

/* Every prefix of a call waits, and every prefix of an answer. */
START_TEST(prefixes)
{
	g_autoptr(GByteArray) call = records("B1 " GET_X);
	g_autoptr(GByteArray) answer = records("O1:Status:~200|| E1:x O1: Z1:0,0");
	WpRunOptions options = { .forced = &wp_decoder_fastcgi, .no_counters = TRUE };
	for (guint n = 0; n <= answer->len; n++) {
		WpStep steps[] = { WP_C_BYTES(call->data, call->len), WP_S_BYTES(answer->data, n) };
		g_autofree char *got = wp_decode_run(&options, steps, 2);
		ck_assert_int_eq(strstr(got, "R1") != NULL, n == answer->len);
	}
	for (guint n = 1; n <= call->len; n++) {
		WpStep steps[] = { WP_C_BYTES(call->data, n) };
		g_autofree char *got = wp_decode_run(&options, steps, 1);
		ck_assert_int_eq(strstr(got, " 78 ") != NULL, n == call->len);
	}
}
END_TEST

static WpProbeVerdict
probe_bytes(const GByteArray *client, const GByteArray *server, gsize n_client, gsize n_server,
	    gboolean from_start)
{
	WpProbe probe = { .client = wp_bytes(client->data, MIN(n_client, client->len)),
			  .server = wp_bytes(server->data, MIN(n_server, server->len)),
			  .from_start = from_start };
	return wp_decoder_fastcgi.probe(&probe);
}

START_TEST(probes)
{
	g_autoptr(GByteArray) call = records("B1 " GET_X);
	g_autoptr(GByteArray) answer = records("O1:||x Z1:0,0");
	g_autoptr(GByteArray) values = records("G0");
	g_autoptr(GByteArray) role = records("B1:9 P1:");
	g_autoptr(GByteArray) no_id = records("B0 P0:");
	ck_assert_int_eq(probe_bytes(call, answer, 1, 0, TRUE), WP_PROBE_MORE);
	ck_assert_int_eq(probe_bytes(call, answer, 15, 0, TRUE), WP_PROBE_MORE);
	ck_assert_int_eq(probe_bytes(call, answer, 16, 0, TRUE), WP_PROBE_LIKELY);
	ck_assert_int_eq(probe_bytes(call, answer, 24, 0, TRUE), WP_PROBE_SURE);
	ck_assert_int_eq(probe_bytes(values, answer, 99, 0, TRUE), WP_PROBE_SURE);
	ck_assert_int_eq(probe_bytes(values, answer, 4, 0, TRUE), WP_PROBE_MORE);
	ck_assert_int_eq(probe_bytes(role, answer, 99, 0, TRUE), WP_PROBE_NO);
	ck_assert_int_eq(probe_bytes(no_id, answer, 99, 0, TRUE), WP_PROBE_NO);
	ck_assert_int_eq(probe_bytes(answer, call, 99, 99, TRUE), WP_PROBE_NO);
	ck_assert_int_eq(probe_bytes(call, answer, 0, 99, FALSE), WP_PROBE_LIKELY);
	ck_assert_int_eq(probe_bytes(call, answer, 0, 14, FALSE), WP_PROBE_MAYBE);
}
END_TEST

/* Damaged and lying records: nothing but what is right comes out, and the next call is found. */
START_TEST(hostile)
{
	static const struct {
		const char *bytes;
		gsize n;
	} rows[] = {
		{ "\2\1\0\1\0\10\0\0", 8 },                 /* version 2 */
		{ "\1\77\0\1\0\0\0\0", 8 },                 /* type 63 */
		{ "\1\6\0\1\0\0\0\0", 8 },                  /* STDOUT from the client */
		{ "\1\1\0\1\0\7\0\0\0\1\1\0\0\0\0\0", 16 }, /* a short BEGIN_REQUEST */
		{ "\1\4\0\0\0\0\0\0", 8 },                  /* PARAMS without id */
		{ "\1\11\0\1\0\0\0\0", 8 },                 /* GET_VALUES with one */
	};
	g_autoptr(GByteArray) call = records("B1 " GET_X);
	g_autoptr(GByteArray) answer = records("O1:||x Z1:0,0");
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		WpStep steps[] = { WP_C_BYTES(call->data, call->len),
				   WP_S_BYTES(answer->data, answer->len),
				   WP_C_BYTES(rows[i].bytes, rows[i].n),
				   WP_C_BYTES(call->data, call->len),
				   WP_S_BYTES(answer->data, answer->len) };
		g_autofree char *got = wp_decode_run(NULL, steps, G_N_ELEMENTS(steps));
		ck_assert_msg(strstr(got, "R2 [5,5] fastcgi 30 GET /x/{} ok\n") != NULL,
			      "row %d:\n%s", (int)i, got);
	}
}
END_TEST

/* Lengths of names and values that no record keeps to. */
START_TEST(lying_lengths)
{
	static const char *const params[] = {
		"p1:\xff\xff\xff\xff\xff\xff\xff\xffREQUEST_METHODGET",
		"p1:\x0e\xff\xff\xff\xffREQUEST_METHODGET",
		"p1:\xff\xff\xff\xff\x03REQUEST",
		"p1:\x7f\x7f",
		"p1:\x80",
	};
	for (gsize i = 0; i < G_N_ELEMENTS(params); i++) {
		g_autofree char *call = g_strdup_printf("C B1 %s P1: I1: B1 " GET_X, params[i]);
		Row row = { .steps = { call, "S O1:||a Z1:0,0" } };
		WpStep steps[G_N_ELEMENTS(row.steps)];
		g_autoptr(GPtrArray) owner =
			g_ptr_array_new_with_free_func((GDestroyNotify)g_byte_array_unref);
		gsize n = make_steps(&row, steps, owner);
		g_autofree char *got = wp_decode_run(NULL, steps, n);
		ck_assert_msg(strstr(got, "R2 [2,2] fastcgi 30 GET /x/{} ok\n") != NULL,
			      "row %d:\n%s", (int)i, got);
		wp_decode_check(NULL, steps, n, got);
	}
}
END_TEST

WP_SUITE("decode-fastcgi", plain_requests, statuses, holes_are_survived, many_at_a_time, tokens,
	 prefixes, probes, hostile, lying_lengths)
