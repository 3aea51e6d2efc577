/* Names files of all kinds, and what is wrong with them. */
#include "infer/names.h"

#include <string.h>

#include "capture/record.h"
#include "infer/pattern.h"
#include "tests/support/suite.h"
#include "tests/support/tempfile.h"

/* What TEXT calls "10.0.0.1" or "10.0.0.1:80"; "-" = nothing. */
static const char *
lookup(const WpNames *names, const char *text)
{
	WpEndpoint endpoint;
	ck_assert(wp_endpoint_parse(text, &endpoint));
	const char *name = wp_names_find(names, endpoint.address, endpoint.port);
	return name ? name : "-";
}

typedef struct {
	const char *address, *name;
} Answer;

static void
check_answers(const char *text, const Answer *answers)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(WpNames) names = wp_names_parse(text, "test", &error);
	ck_assert_msg(names != NULL, "%s", error ? error->message : "");
	for (; answers->address; answers++)
		ck_assert_msg(g_str_equal(lookup(names, answers->address), answers->name),
			      "%s is %s, not %s", answers->address, lookup(names, answers->address),
			      answers->name);
}

START_TEST(own_form)
{
	check_answers(
		"# names\n"
		"10.0.0.1 app\n"
		"\t10.0.0.2:80\tweb # front\r\n"
		"10.0.3.0/24 workers\n"
		"10.0.0.0/8 inside\n"
		"10.0.3.0/25:9090 metrics\n"
		"fe80::1 six\n"
		"[fe80::2]:443 tls\n"
		"fd00::/16 private\n"
		"[fd01::]/16:80 private-web\n"
		"\n"
		"0.0.0.0/0 world",
		(const Answer[]){ { "10.0.0.1", "app" },
				  { "10.0.0.1:80", "-" }, /* a name of all is not one of a port */
				  { "10.0.0.2", "inside" },
				  { "10.0.0.2:80", "web" },
				  { "10.0.0.2:81", "-" },
				  { "10.0.3.77", "workers" },
				  { "10.0.3.77:9090", "metrics" },
				  { "10.0.3.177:9090", "-" },
				  { "192.168.1.1", "world" },
				  { "fe80::1", "six" },
				  { "[fe80::2]:443", "tls" },
				  { "fe80::2", "-" },
				  { "fd00:1::5", "private" },
				  { "[fd01:2::5]:80", "private-web" },
				  { 0 } });
}
END_TEST

START_TEST(hosts_file_first_name_counts)
{
	check_answers("127.0.0.1\tlocalhost\n"
		      "::1     localhost ip6-localhost ip6-loopback\n"
		      "fe80::1%lo0 link\n"
		      "10.0.0.5  db.example.com db   # the database\n"
		      "10.0.0.5  other\n"
		      "10.0.0.6 caf\xc3\xa9\n",
		      (const Answer[]){ { "127.0.0.1", "localhost" },
					{ "::1", "localhost" },
					{ "fe80::1", "link" },
					{ "10.0.0.5", "db.example.com" },
					{ "10.0.0.6", "caf\xc3\xa9" },
					{ 0 } });
}
END_TEST

static const char kubectl[] = "NAMESPACE     NAME                           READY   STATUS    "
			      "RESTARTS     AGE   IP            "
			      "NODE   NOMINATED NODE   READINESS GATES\n"
			      "default       pod/cart-5d78c9869d-x2x4z      1/1     Running   1 "
			      "(3d ago)   4d    10.244.0.12   "
			      "n1     <none>           <none>\n"
			      "default       pod/cart-5d78c9869d-zz9b7      1/1     Running   0    "
			      "        4d    10.244.0.13   "
			      "n1     <none>           <none>\n"
			      "shop          pod/db-0                       1/1     Running   0    "
			      "        4d    10.244.0.14   "
			      "n1     <none>           <none>\n"
			      "shop          pod/fluent-bit-7kq2v           1/1     Running   0    "
			      "        4d    10.244.0.15   "
			      "n1     <none>           <none>\n"
			      "kube-system   pod/kube-proxy-9xk2c           1/1     Running   0    "
			      "        4d    192.168.1.2   "
			      "n1     <none>           <none>\n"
			      "kube-system   pod/etcd-n1                    1/1     Running   0    "
			      "        4d    192.168.1.2   "
			      "n1     <none>           <none>\n"
			      "shop          pod/job-x                      0/1     Pending   0    "
			      "        4d    <none>        "
			      "n1     <none>           <none>\n"
			      "\n"
			      "NAMESPACE     NAME                 TYPE           CLUSTER-IP      "
			      "EXTERNAL-IP          PORT(S)   AGE\n"
			      "default       service/kubernetes   ClusterIP      10.96.0.1       "
			      "<none>               443/TCP   4d\n"
			      "shop          service/front        LoadBalancer   10.96.0.2       "
			      "203.0.113.1,lb.example   80/TCP    4d\n"
			      "shop          service/headless     ClusterIP      None            "
			      "<none>               80/TCP    4d\n";

START_TEST(kubectl_tables)
{
	check_answers(kubectl, (const Answer[]){ { "10.244.0.12", "cart" },
						 { "10.244.0.13", "cart" },
						 { "10.244.0.14", "shop/db-0" },
						 { "10.244.0.15", "shop/fluent-bit" },
						 { "192.168.1.2", "-" }, /* host network */
						 { "10.96.0.1", "kubernetes" },
						 { "10.96.0.2", "shop/front" },
						 { "203.0.113.1", "shop/front" },
						 { 0 } });
	/* one namespace, pods alone */
	check_answers("NAME      READY   IP\ncart-0    1/1     10.0.0.1\n",
		      (const Answer[]){ { "10.0.0.1", "cart-0" }, { 0 } });
}
END_TEST

static const char docker[] = "[\n"
			     "    {\n"
			     "        \"Name\": \"shop_default\",\n"
			     "        \"IPAM\": { \"Config\": [ { \"Subnet\": \"172.18.0.0/16\" } "
			     "], \"Options\": null },\n"
			     "        \"Internal\": false, \"Count\": -1.5e3,\n"
			     "        \"Containers\": {\n"
			     "            \"3386a5\": {\n"
			     "                \"Name\": \"shop-web-1\",\n"
			     "                \"IPv4Address\": \"172.18.0.2/16\",\n"
			     "                \"IPv6Address\": \"\"\n"
			     "            },\n"
			     "            \"9f3c\": { \"IPv6Address\": \"fd00::5/64\", "
			     "\"IPv4Address\": \"172.18.0.3/16\",\n"
			     "                        \"Name\": \"/caf\\u00e9\\\"\" }\n"
			     "        }\n"
			     "    }\n"
			     "]\n";

START_TEST(docker_network)
{
	check_answers(docker, (const Answer[]){ { "172.18.0.2", "shop-web-1" },
						{ "172.18.0.3", "caf\xc3\xa9\"" },
						{ "fd00::5", "caf\xc3\xa9\"" },
						{ "172.18.0.0", "-" },
						{ 0 } });
	check_answers("[]", (const Answer[]){ { "10.0.0.1", "-" }, { 0 } });
}
END_TEST

START_TEST(errors_name_file_and_line)
{
	static const struct {
		const char *text, *message;
	} rows[] = {
		{ "10.0.0.1 a\nnonsense b\n",
		  "cannot read names from test: line 2: \"nonsense\" is no address" },
		{ "10.0.0.1\n", "line 1: no name after \"10.0.0.1\"" },
		{ "10.0.0.1 # comment\n", "line 1: no name after \"10.0.0.1\"" },
		{ "10.0.0.0/33 a\n", "line 1: \"10.0.0.0/33\" is no address" },
		{ "10.0.0.0/8:0 a\n", "line 1: \"10.0.0.0/8:0\" is no address" },
		{ "10.0.0.1:99999 a\n", "line 1: \"10.0.0.1:99999\" is no address" },
		{ "10.0.0.1:80/8 a\n", "line 1: \"10.0.0.1:80/8\" is no address" },
		{ "10.0.0.1 a\033[31m\n", "line 1: the name of 10.0.0.1 is" },
		{ "10.0.0.1 \xff\n", "line 1: the name of 10.0.0.1 is" },
		{ "\xff 1\n", "line 1: \"\xef\xbf\xbd\" is no address" },
		{ "NAME      READY\ncart-0    1/1\n", "no column of addresses" },
		{ "NAME      READY   IP\ncart-0    1/1     10.0.0\n",
		  "line 2: \"10.0.0\" is no address" },
		{ "NAME      IP\n          10.0.0.1\n", "line 2: no name below NAME" },
		{ "[ {\n\"Name\": \"a", "line 2: a string does not end" },
		{ "[ { \"Name\": \"\\x\" } ]",
		  "line 1: a string does not end or has a bad escape" },
		{ "[ {\n\n", "line 3: the text ends inside an object" },
		{ "{ } }", "line 1: unexpected }" },
		{ "[ { \"IPv4Address\": \"1.2.3.4/8\" } ]",
		  "line 1: the name of 1.2.3.4 is empty" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GError) error = NULL;
		ck_assert_ptr_null(wp_names_parse(rows[i].text, "test", &error));
		ck_assert(g_error_matches(error, WP_INFER_ERROR, WP_INFER_ERROR_FORMAT));
		ck_assert_msg(strstr(error->message, rows[i].message), "\"%s\" lacks \"%s\"",
			      error->message, rows[i].message);
		ck_assert(g_str_has_prefix(error->message, "cannot read names from test: line "));
	}
}
END_TEST

START_TEST(files)
{
	g_autoptr(GError) error = NULL;
	static const char text[] = "\xef\xbb\xbf"
				   "10.0.0.1 a";
	g_autotemp *none = wp_temp_file_name("names");
	g_autotemp *binary = wp_temp_file_new("names", "10.0.0.1 a\n\0", 12);
	g_autotemp *path = wp_temp_file_new("names", text, strlen(text));

	ck_assert_ptr_null(wp_names_read(none, &error));
	ck_assert(g_error_matches(error, WP_INFER_ERROR, WP_INFER_ERROR_OPEN));
	g_clear_error(&error);
	ck_assert_ptr_null(wp_names_read(binary, &error));
	ck_assert(g_error_matches(error, WP_INFER_ERROR, WP_INFER_ERROR_FORMAT));
	g_autoptr(WpNames) names = wp_names_read(path, NULL);
	ck_assert_uint_eq(wp_names_count(names), 1);
	ck_assert_str_eq(lookup(names, "10.0.0.1"), "a");
}
END_TEST

/* Every beginning of every kind of file is read or refused, never worse. */
START_TEST(cut_anywhere)
{
	const char *const texts[] = { kubectl, docker, "10.0.0.0/8:80 a\n[fe80::1%x]:5 b # c\n" };
	for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
		for (gsize length = 0; length <= strlen(texts[i]); length++) {
			g_autoptr(GError) error = NULL;
			g_autofree char *text = g_strndup(texts[i], length);
			g_autoptr(WpNames) names = wp_names_parse(text, "test", &error);
			ck_assert((names == NULL) == (error != NULL));
		}
}
END_TEST

WP_SUITE("names", own_form, hosts_file_first_name_counts, kubectl_tables, docker_network,
	 errors_name_file_and_line, files, cut_anywhere)
