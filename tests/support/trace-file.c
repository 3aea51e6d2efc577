/* See trace-file.h. */
#include "tests/support/trace-file.h"

#include <check.h>

#include "capture/trace-io.h"

const char wp_trace_full[] = WP_TRACE_HEADER
	"#setting\tinput\tx.pcap\n"
	"#node\t10.0.0.9\n"
	"#node\t10.0.0.1\n"
	"1700000000.000000001\tCALL\t10.0.0.9\t10.0.0.1\t1\t1700000000.000000002\t10.0.0.9:40000\t"
	"10.0.0.1:80\t1\thttp\tGET /x/{}\t214\t\t\t\t\t1\t0a1b2c3d,00ff00ff\t"
	"connect/1699999999.000000000/1700000000.000000000/1/3,server_rtt/-1.000000000/"
	"-0.000000001/1/18446744073709551614\n"
	"#node\tfe80::1\n"
	"1700000000.000000010\tCALL\t10.0.0.1\tfe80::1\t2\t\t[fe80::2]:1\t[fe80::1]:"
	"5432\t2\tpgsql\t"
	"a\\tb\\nc\\\\d\\x01\\x7fe\xc3\xa9\t0\t\t1\t1\t3\t18446744073709551614\t\n"
	"#node\tclient a\n"
	"#node\tx\\ty\n"
	"-1.500000000\tMESSAGE\tclient a\tx\\ty\tid 7\t\t\t\t\t\t\t\tok\t\t\t255\t\tffffffff\n"
	"1700000001.000000000\tRETURN\t10.0.0.1\t10.0.0.9\t1\t1700000002.999999999\t10.0.0.1:80\t"
	"10.0.0.9:40000\t4294967295\thttp\tGET /x/{}\t18446744073709551614\ttimeout\t\t\t\t2\t\t"
	"window/1700000000.000000000/1700000000.500000000/4/5\n"
	"#counted\treturns-orphan\t2\t10.0.0.1\t10.0.0.9\n"
	"#counted\treturns-orphan\t1\tfe80::1\t10.0.0.9\n"
	"#setting\tkey\\\\\tva\\tlue\n"
	"1700000003.000000000\tRETURN\tx\\ty\tclient a\tid 7\t?\t\t\t\t\t\t\t\t\t\t\t\t\n"
	"4611686017.999999999\tMESSAGE\tx\\ty\t10.0.0.9\t\t\t10.9.9.9:1\t10.9.9.8:"
	"2\t\t\t\t\terror\t\t\t"
	"\t\t00000001,00000002,00000003,00000004,00000005,00000006,00000007,00000008,00000009,"
	"0000000a,0000000b,0000000c,0000000d,0000000e,0000000f,00000010\n"
	"#setting\tempty\t\n"
	"#node\tnever seen\n"
	"#counted\treturns-orphan\t3\tclient a\t10.0.0.9\n"
	"#counter\tpackets\t12\n"
	"#counter\ttcp-gaps\t7\n"
	"#counter\ttcp-gaps\t2\t10.0.0.9\t10.0.0.1\n"
	"#counter\ttcp-gaps\t4\tfe80::1\tx\\ty\n"
	"#node\t10.0.0.1\tdns\t3\tweb.lan\n"
	"#node\t10.0.0.1\tdns\t9\tweb\n"
	"#node\t10.0.0.1\thttp-host\t1\tshop.example\n"
	"#node\tfe80::1\ttls\t2\tdb\n";

WpTrace *
wp_trace_at(const char *path, GError **error)
{
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	WpTrace *trace = wp_trace_new(nodes);
	if (!wp_trace_read(path, NULL, nodes, wp_trace_sink(trace), error))
		g_clear_pointer(&trace, wp_trace_free);
	return trace;
}

WpTrace *
wp_trace_in(gconstpointer bytes, gsize length, GError **error)
{
	g_autotemp *path = wp_temp_file_new("", bytes, length);
	return wp_trace_at(path, error);
}

WpTempFile *
wp_trace_rewrite(const char *from, const char *suffix)
{
	WpTempFile *to = wp_temp_file_name(suffix);
	g_autoptr(WpNodes) nodes = wp_nodes_new();
	WpRecordSink *writer = wp_trace_writer_new(to, NULL);
	ck_assert_ptr_nonnull(writer);
	ck_assert(wp_trace_read(from, NULL, nodes, writer, NULL));
	wp_trace_writer_free(writer);
	return to;
}
