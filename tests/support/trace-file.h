/* Traces as files, for the tests of their readers and writers. */
#ifndef WP_TESTS_SUPPORT_TRACE_FILE_H
#define WP_TESTS_SUPPORT_TRACE_FILE_H

#include "capture/trace.h"
#include "tests/support/tempfile.h"

/* The head of a text as wirepath writes it, with all columns. */
#define WP_TRACE_HEADER                                                                            \
	"#wirepath-trace 1\n"                                                                      \
	"#columns\ttime\tkind\tsender\treceiver\tid\ttime_end\tsrc\tdst\tflow\tprotocol\tlabel\t"  \
	"bytes\tstatus\tsetup\twait\ttap\tpacket\ttokens\ttransport\n"

/*
 * A text with all that a record can have: addresses of the node, others, none; ids of both kinds; every
 * mark. As wirepath would write it: six records, in the order of the file.
 */
extern const char wp_trace_full[];

/* (transfer full) The trace at PATH, in these LENGTH bytes; NULL and ERROR where it cannot be read. */
WpTrace *wp_trace_at(const char *path, GError **error);
WpTrace *wp_trace_in(gconstpointer bytes, gsize length, GError **error);

/* The trace at FROM, read and written again to a new file whose name ends in SUFFIX. */
WpTempFile *wp_trace_rewrite(const char *from, const char *suffix);

#endif
