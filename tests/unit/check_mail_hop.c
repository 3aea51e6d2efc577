/* Received fields, as mail servers write them: RFC 5321's examples, Postfix, Exim, Sendmail, qmail, Exchange. */
#include "capture/mail-hop.h"

#include <string.h>

#include "tests/support/suite.h"

#define AT   "; Sat, 14 Nov 2026 10:00:07 +0000"
#define TIME G_GINT64_CONSTANT(1794650407)

/* Sender's names: looked up, given, address; "-" = none. */
static const struct {
	const char *text;
	const char *
		expected; /* "looked-up given address > by at seconds" from TIME; "unusable", "generic" */
} rows[] = {
	{ "from mx1.corp.example (mx1.corp.example [10.0.0.7])\n\tby store.corp.example (Postfix) "
	  "with "
	  "ESMTPS id 4Zk1\n\tfor <x@corp.example>" AT " (UTC)",
	  "mx1.corp.example mx1.corp.example 10.0.0.7 > store.corp.example +0" },
	{ "from mx1 (unknown [10.0.0.7]) by Store.Corp.Example. (8.17.1/8.17.1) with ESMTP id b" AT,
	  "- mx1 10.0.0.7 > store.corp.example +0" },
	{ "from [192.0.2.7] (helo=a.example) by b.example with esmtp (Exim 4.96)\n\t(envelope-from "
	  "<by@from.example>) id 1a-2" AT,
	  "- a.example 192.0.2.7 > b.example +0" },
	{ "from a.example ([192.0.2.7] helo=me.a.example) by b.example" AT,
	  "- a.example 192.0.2.7 > b.example +0" },
	{ "from unknown (HELO a.example) (192.0.2.7) by b.example with SMTP" AT,
	  "- a.example 192.0.2.7 > b.example +0" },
	{ "from EX1.corp.example (2001:DB8::7) by EX2.corp.example (2001:db8::8) with Microsoft "
	  "SMTP "
	  "Server id 15.1" AT,
	  "- ex1.corp.example 2001:db8::7 > ex2.corp.example +0" },
	{ "from [IPv6:2001:db8::7] by b.example via TCP with LMTP" AT,
	  "- - 2001:db8::7 > b.example +0" },
	{ "from localhost (a.example [127.0.0.1]) by b.example" AT,
	  "a.example - - > b.example +0" },
	{ "FROM a.example BY b.example WITH SMTP; 14 Nov 2026 12:00:08 +0200",
	  "- a.example - > b.example +1" },
	{ "from a.example by [10.1.2.3] with SMTP; Sat, 14 Nov 26 05:00:07 EST",
	  "- a.example - > 10.1.2.3 +0" },
	{ "from a.example by b.example (x; y (z; from c.example by d.example)) id 1" AT,
	  "- a.example - > b.example +0" },
	{ "from a.example by b.example; later" AT, "- a.example - > b.example +0" },
	{ "from a_b-c.example by b.example" AT, "- a_b-c.example - > b.example +0" },
	{ "from localhost by b.example" AT, "generic" },
	{ "from localhost (localhost.localdomain [127.0.0.1]) by b.example" AT, "generic" },
	{ "from unknown (unknown [127.1.2.3]) by b.example" AT, "generic" },
	{ "from a.example by localhost" AT, "generic" },
	{ "from <script> by b.example" AT, "generic" },
	{ "from 12345 by b.example" AT, "generic" },
	{ "from a.example by b.example", "unusable" },
	{ "from a.example by b.example; yesterday", "unusable" },
	{ "from a.example by b.example;", "unusable" },
	{ "from a.example by b.example; Thu, 1 Jan 1970 00:00:00 +0000", "unusable" },
	{ "from a.example by b.example; Sat, 14 Nov 9999 10:00:07 +0000", "unusable" },
	{ "from a.example" AT, "unusable" },
	{ "by b.example with local id 1" AT, "unusable" },
	{ "(qmail 123 invoked from network)" AT, "unusable" },
	{ "from (by b.example)" AT, "unusable" },
	{ "", "unusable" },
	{ ";;;((((", "unusable" },
	{ "from from by by" AT, "- from - > by +0" },
};

static const char *
or_dash(const char *name)
{
	return *name ? name : "-";
}

START_TEST(fields)
{
	WpMailHop hop;
	/* An exact copy, so that a read past its end is seen by the sanitizers. */
	g_autofree char *text = g_strdup(rows[_i].text);
	WpMailHopResult result = wp_mail_hop_parse(text, &hop);
	g_autofree char *got =
		result == WP_MAIL_HOP_UNUSABLE ? g_strdup("unusable")
		: result == WP_MAIL_HOP_GENERIC
			? g_strdup("generic")
			: g_strdup_printf("%s %s %s > %s %+d", or_dash(hop.from[0]),
					  or_dash(hop.from[1]), or_dash(hop.from[2]), hop.by,
					  (int)(hop.time_ns / 1000000000 - TIME));
	ck_assert_str_eq(got, rows[_i].expected);
}
END_TEST

/* Names longer than a domain name can be are none; a long field takes no longer than it should. */
START_TEST(long_names)
{
	WpMailHop hop;
	for (gsize length = WP_MAIL_HOST_MAX - 2; length <= WP_MAIL_HOST_MAX + 1; length++) {
		g_autofree char *name = g_strnfill(length, 'a');
		g_autofree char *text = g_strdup_printf("from %s by b.example" AT, name);
		ck_assert_int_eq(wp_mail_hop_parse(text, &hop),
				 length < WP_MAIL_HOST_MAX ? WP_MAIL_HOP_OK : WP_MAIL_HOP_GENERIC);
	}
	g_autofree char *open = g_strnfill(1 << 20, '(');
	ck_assert_int_eq(wp_mail_hop_parse(open, &hop), WP_MAIL_HOP_UNUSABLE);
}
END_TEST

WP_SUITE_OF_ROWS("mail-hop", { fields, G_N_ELEMENTS(rows) }, { long_names, 0 })
