/* Templates of host names. */
#include <string.h>

#include "capture/label.h"
#include "tests/support/suite.h"

START_TEST(templates)
{
	static const struct {
		const char *name;
		const char *label;
	} rows[] = {
		{ "e06cf6f08caab80d.spam.lan", "{}.spam.lan" },
		{ "db1.blog.lan", "db1.blog.lan" },
		{ "WEB-12.Example.ORG", "web-12.example.org" },
		{ "42.example.org", "{}.example.org" },
		{ "ip-10-0-3-77.ec2.internal", "ip-{}-{}-{}-{}.ec2.internal" },
		{ "web-7d4b9c6f5-x2x9z.prod.svc.cluster.local",
		  "web-{}-{}.prod.svc.cluster.local" },
		{ "77.3.0.10.in-addr.arpa", "{}.in-addr.arpa" },
		{ "b.a.9.8.0.0.0.0.f.f.ip6.arpa", "{}.ip6.arpa" },
		{ "_ldap._tcp.dc1.corp", "_ldap._tcp.dc1.corp" },
		{ "host20240115.lan", "host{}.lan" },
		{ "e06cf6f0-8caa-b80d-1234-56789abcdef0.lan", "{}-{}-{}-{}-{}.lan" },
		{ "x\x01y.lan", "{}.lan" },
		{ "", "" },
		{ "..", ".." },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		char label[64];
		gsize n = wp_label_name(rows[i].name, strlen(rows[i].name), label, sizeof label);
		ck_assert_str_eq(label, rows[i].label);
		ck_assert_uint_eq(n, strlen(rows[i].label));
	}
}
END_TEST

/* Of any name no more than the buffer is written, and always a NUL. */
START_TEST(limits)
{
	static const char name[] = "77.3.0.10.e06cf6f08caab80d.a\0b.in-addr.arpa";
	for (gsize size = 1; size < 48; size++) {
		char label[64];
		memset(label, 'X', sizeof label);
		gsize n = wp_label_name(name, sizeof name - 1, label, size);
		ck_assert_uint_lt(n, size);
		ck_assert_int_eq(label[n], 0);
		for (gsize i = size; i < sizeof label; i++)
			ck_assert_int_eq(label[i], 'X');
	}
}
END_TEST

WP_SUITE("label-name", templates, limits)
