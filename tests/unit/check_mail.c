/* Mails to records: mbox, Maildir, single mails, several copies of one, names of hosts, the truth. */
#include "capture/mail.h"

#include <glib/gstdio.h>
#include <string.h>

#include "capture/trace.h"
#include "tests/support/suite.h"
#include "tests/support/tempfile.h"

#define FROM    "From x@y Sat Nov 14 10:00:07 2026\n"
#define SECONDS "; Sat, 14 Nov 2026 10:00:"
#define HOP(from, by, seconds)                                                                     \
	"Received: from " from "\n\tby " by " with SMTP" SECONDS seconds " +0000\n"
#define ID(id) "Message-ID: <" id "@y>\n"
#define TIME   G_GINT64_CONSTANT(1794650400)

typedef struct {
	const char *name;
	const char *mails;
	const char *expected; /* a line a record: id parent second sender>receiver; then counters */
	const char *inside;
} Row;

static const Row rows[] = {
	{ "one mail", HOP("b", "c", "07") HOP("a", "b", "05") ID("1") "\nbody\n",
	  "1 0 5 a>b\n2 1 7 b>c\nmails 1\n", NULL },
	{ "an mbox",
	  FROM HOP("b", "c", "07") ID("1") "\nbody\n\n" FROM HOP("a", "b", "05") ID("2") "\n\n",
	  "1 0 5 a>b\n2 0 7 b>c\nmails 2\n", NULL },
	{ "lines of a body that look like an mbox's",
	  FROM HOP("b", "c", "07") ID("1") "\nbody\nFrom x Sat Nov 14 10:00:07\n\nFrom here on\n"
					   "Received: from x by y" SECONDS "01\n",
	  "1 0 7 b>c\nmails 1\n", NULL },
	{ "carriage returns",
	  "Received: from a by b" SECONDS "05 +0000\r\nX: y\r\n\r\nReceived: no\r\n",
	  "1 0 5 a>b\nmails 1\nmails-without-id 1\n", NULL },
	{ "a head without a body", HOP("a", "b", "05") ID("1"), "1 0 5 a>b\nmails 1\n", NULL },
	{ "two copies of a mail, split at b",
	  FROM HOP("b", "c", "07") HOP("a", "b", "05") ID("1") "\n\n" FROM HOP("b", "d", "08")
		  HOP("a", "b", "05") ID("1") "\n\n",
	  "1 0 5 a>b\n2 1 7 b>c\n3 1 8 b>d\nmails 2\nmail-hops-repeated 1\n", NULL },
	{ "two mails alike but for the id",
	  FROM HOP("a", "b", "05") ID("1") "\n\n" FROM HOP("a", "b", "05") ID("2") "\n\n",
	  "1 0 5 a>b\n2 0 5 a>b\nmails 2\n", NULL },
	{ "without an id nothing is a copy",
	  FROM HOP("a", "b", "05") "\n\n" FROM HOP("a", "b", "05") "\n\n",
	  "1 0 5 a>b\n2 0 5 a>b\nmails 2\nmails-without-id 2\n", NULL },
	{ "a host that hands on to itself",
	  HOP("b", "c", "07") HOP("b", "b", "06") HOP("a", "b", "05") ID("1"),
	  "1 0 5 a>b\n2 1 7 b>c\nmails 1\nmail-hops-self 1\n", NULL },
	{ "a hop that is missing", HOP("c", "d", "07") HOP("a", "b", "05") ID("1"),
	  "1 0 5 a>b\n2 0 7 c>d\nmails 1\n", NULL },
	{ "a hop between that cannot be used",
	  HOP("b", "c", "07") "Received: from x by y\n" HOP("localhost", "b", "06")
		  HOP("a", "b", "05") ID("1"),
	  "1 0 5 a>b\n2 1 7 b>c\nmails 1\nmail-hops-unusable 1\nmail-hops-generic 1\n", NULL },
	{ "the name under which a sender receives as well",
	  HOP("out.b (rdns.b [10.0.0.1])", "c", "07") HOP("a", "out.b", "05") ID("1"),
	  "1 0 5 a>out.b\n2 1 7 out.b>c\nmails 1\n", NULL },
	{ "else the name that was looked up", HOP("out.b (rdns.b [10.0.0.1])", "c", "07") ID("1"),
	  "1 0 7 rdns.b>c\nmails 1\n", NULL },
	{ "only inside",
	  HOP("b.x.org", "c.x.org", "07") HOP("a.com", "b.x.org", "05") HOP("z.com", "a.com", "04")
		  HOP("z.com", "ax.org", "03") ID("1"),
	  "1 0 5 outside>b.x.org\n2 1 7 b.x.org>c.x.org\nmails 1\nmail-hops-outside 2\n", "x.org" },
	{ "several domains", HOP("b.x.org", "y.net", "07") HOP("a.com", "b.x.org", "05") ID("1"),
	  "1 0 5 outside>b.x.org\n2 1 7 b.x.org>y.net\nmails 1\n", "y.net,.X.org" },
	{ "equal times: as in the mail",
	  HOP("c", "d", "05") HOP("b", "c", "05") HOP("a", "b", "05") ID("1"),
	  "1 0 5 a>b\n2 1 5 b>c\n3 2 5 c>d\nmails 1\n", NULL },
};

static gboolean
take_truth(guint64 id, guint64 parent, gpointer data, GError **error)
{
	(void)error;
	g_string_append_printf(data, "%" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT "\n", id, parent);
	return TRUE;
}

/* (transfer full) What PATHS hold, as in a row; NULL with ERROR. */
static char *
read_mails(const char *const *paths, gsize n, const char *inside, GError **error)
{
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	g_autoptr(WpTrace) trace = wp_trace_new(nodes);
	g_autoptr(GString) truth = g_string_new(NULL);
	g_auto(GStrv) domains = inside ? g_strsplit(inside, ",", 0) : NULL;
	WpMailOptions options = { .inside = (const char *const *)domains,
				  .from_ns = WP_NO_TIME,
				  .to_ns = WP_NO_TIME,
				  .truth = take_truth,
				  .truth_data = truth };
	if (!wp_mail_run(paths, n, &options, nodes, wp_trace_sink(trace), error))
		return NULL;
	GString *text = g_string_new(NULL);
	g_auto(GStrv) lines = g_strsplit(truth->str, "\n", 0);
	const WpRecord *records = wp_trace_records(trace);
	for (gsize i = 0; i < wp_trace_n_records(trace); i++) {
		ck_assert_int_eq(records[i].kind, WP_KIND_MESSAGE);
		ck_assert_int_eq(records[i].id, i + 1);
		g_string_append_printf(text, "%s %d %s>%s\n", lines[i],
				       (int)(records[i].begin_ns / 1000000000 - TIME),
				       wp_nodes_key(nodes, records[i].sender),
				       wp_nodes_key(nodes, records[i].receiver));
	}
	for (int i = WP_COUNT_MAILS; i <= WP_COUNT_MAIL_HOPS_SKIPPED; i++) {
		guint64 counted = wp_counters_get(wp_trace_counters(trace), (WpCounter)i);
		if (counted)
			g_string_append_printf(text, "%s %" G_GUINT64_FORMAT "\n",
					       wp_counter_info[i].name, counted);
	}
	return g_string_free(text, FALSE);
}

START_TEST(mails)
{
	const Row *row = &rows[_i];
	g_autotemp *path = wp_temp_file_new(".mail", row->mails, strlen(row->mails));
	const char *const paths[] = { path };
	g_autofree char *got = read_mails(paths, 1, row->inside, NULL);
	ck_assert_msg(g_strcmp0(got, row->expected) == 0, "%s: got\n%s", row->name, got);
	g_autoptr(GByteArray) packed = wp_gzip_bytes(row->mails, strlen(row->mails));
	g_autotemp *packed_path = wp_temp_file_new(".mail.gz", packed->data, packed->len);
	const char *const packed_paths[] = { packed_path };
	g_autofree char *again = read_mails(packed_paths, 1, row->inside, NULL);
	ck_assert_str_eq(again, row->expected);
}
END_TEST

/* Lines far longer than what is read at a time, before and behind the empty line. */
START_TEST(long_lines)
{
	g_autoptr(GString) text = g_string_new(FROM);
	g_autofree char *filling = g_strnfill(300000, 'x');
	g_string_append_printf(text, HOP("b", "c", "07") "X: %s\n" HOP("a", "b", "05") ID("1"),
			       filling);
	g_string_append_printf(text, "\n%s\n%s\n\n" FROM HOP("c", "d", "08") ID("1") "\n", filling,
			       filling);
	g_autotemp *path = wp_temp_file_new(".mbox", text->str, text->len);
	const char *const paths[] = { path };
	g_autofree char *got = read_mails(paths, 1, NULL, NULL);
	ck_assert_str_eq(got, "1 0 5 a>b\n2 1 7 b>c\n3 0 8 c>d\nmails 2\n");
}
END_TEST

/* A head over the limit is read up to it, and counted. */
START_TEST(long_head)
{
	g_autoptr(GString) text = g_string_new(HOP("a", "b", "05") ID("1"));
	while (text->len < WP_MAIL_MAX_HEAD)
		g_string_append(text,
				"X: 0123456789012345678901234567890123456789012345678901234567\n");
	g_string_append(text, HOP("z", "a", "04") "\n");
	g_autotemp *path = wp_temp_file_new(".eml", text->str, text->len);
	const char *const paths[] = { path };
	g_autofree char *got = read_mails(paths, 1, NULL, NULL);
	ck_assert_str_eq(got, "1 0 5 a>b\nmails 1\nmail-heads-cut 1\n");
}
END_TEST

static void
put(const char *folder, const char *name, const char *text)
{
	g_autofree char *path = g_build_filename(folder, name, NULL);
	ck_assert(g_file_set_contents(path, text, -1, NULL));
}

static void
drop(const char *path)
{
	g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
	for (const char *name; directory && (name = g_dir_read_name(directory));) {
		g_autofree char *inside = g_build_filename(path, name, NULL);
		drop(inside);
	}
	g_remove(path);
}

START_TEST(folders)
{
	static const char *const made[] = { "cur", "new", "tmp", ".Sent", ".Sent/cur" };
	g_autofree char *folder = g_dir_make_tmp("wp-mail-XXXXXX", NULL);
	const char *const paths[] = { folder };
	g_autoptr(GError) error = NULL;
	put(folder, "notes.bin", "\001\002\003");
	put(folder, "one.eml", HOP("a", "b", "01") ID("1"));
	g_autofree char *plain = read_mails(paths, 1, NULL, &error);
	ck_assert_str_eq(plain, "1 0 1 a>b\nmails 1\n");
	for (gsize i = 0; i < G_N_ELEMENTS(made); i++) {
		g_autofree char *path = g_build_filename(folder, made[i], NULL);
		ck_assert_int_eq(g_mkdir(path, 0700), 0);
	}
	/* A Maildir now: what lies beside its folders, and what is not delivered yet, is none of it. */
	put(folder, "cur/2:2,S", HOP("b", "c", "02") ID("2"));
	put(folder, "cur/1:2,S", HOP("b", "d", "02") ID("3"));
	put(folder, "new/3", HOP("a", "b", "01") ID("2"));
	put(folder, "tmp/4", HOP("a", "b", "09") ID("4"));
	put(folder, ".Sent/cur/5", HOP("b", "e", "03") ID("5"));
	g_autofree char *got = read_mails(paths, 1, NULL, &error);
	ck_assert_str_eq(got, "1 0 1 a>b\n2 0 2 b>d\n3 0 2 b>c\n4 0 3 b>e\nmails 4\n");
	drop(folder);
}
END_TEST

/* What is no mail, or not there, is told; of several files the first error ends it, with what came before. */
START_TEST(errors)
{
	static const struct {
		const char *text;
		int code;
		const char *says;
	} bad[] = {
		{ "", WP_CAPTURE_ERROR_FORMAT, "it is empty" },
		{ "\177ELF\001\002", WP_CAPTURE_ERROR_FORMAT, "neither a mail nor an mbox" },
		{ "#wirepath-trace 1\n", WP_CAPTURE_ERROR_FORMAT, "neither a mail nor an mbox" },
		{ NULL, WP_CAPTURE_ERROR_OPEN, "No such file" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autoptr(GError) error = NULL;
		g_autotemp *path =
			bad[i].text ? wp_temp_file_new(".x", bad[i].text, strlen(bad[i].text))
				    : wp_temp_file_name(".x");
		const char *const paths[] = { path };
		ck_assert(!read_mails(paths, 1, NULL, &error));
		ck_assert(g_error_matches(error, WP_CAPTURE_ERROR, bad[i].code));
		ck_assert_msg(strstr(error->message, bad[i].says) != NULL, "%s", error->message);
	}
}
END_TEST

WP_SUITE_OF_ROWS("mail", { mails, G_N_ELEMENTS(rows) }, { long_lines, 0 }, { long_head, 0 },
		 { folders, 0 }, { errors, 0 })
