/*
 * Variants of a capture: the same traffic as another capture would show it, or less of it.
 *
 *   base: IP packets --change--> IP packets --wrap--> frames --write--> files --spoil--> bytes
 *
 * Those of the kind SAME must give the same records, those of the kind FEWER none that the base does not give. The
 * rows are in vary.c; to add one, write a row, and a change, a header or a way of writing where it needs one.
 */
#ifndef WP_TESTS_SUPPORT_VARY_H
#define WP_TESTS_SUPPORT_VARY_H

#include <glib.h>

#include "tests/support/pcap-build.h"

typedef struct {
	gint64 time_ns;
	GByteArray *ip; /* from the IP header on, as on the wire */
	guint copy;     /* 0: the packet; 1: the same packet seen again elsewhere */
} WpVaryPacket;

typedef enum {
	WP_VARY_SAME,
	WP_VARY_FEWER
} WpVaryKind;

/* Changes the list of packets (WpVaryPacket *), which is in order of time. */
typedef void (*WpVaryChange)(GPtrArray *packets);

#define WP_VARY_MAX_CHANGES 3
#define WP_VARY_MAX_FILES   2

typedef struct {
	const char *name;
	WpVaryKind kind;
	WpVaryChange changes[WP_VARY_MAX_CHANGES]; /* one after the other; NULL = none */
	const char *wrap; /* headers before IP, from the first on; NULL = "eth" (vary-wrap.c) */
	const char *copy_wrap; /* of copies; NULL = as WRAP */
	WpPcapBuildOptions file;
	const char *suffix; /* of the file: how it is compressed; NULL = not at all */
	guint n_files;      /* 0 = 1; the packets in turn, copies in the last */

	/* Before packet N is written; may change options of BUILD or add blocks. NULL = nothing. */
	void (*arrange)(WpPcapBuild *build, const WpVaryPacket *packet, guint n);

	/* What the clock of the file makes of the time of packet N. NULL = it keeps it. */
	gint64 (*round)(gint64 time_ns, guint n);

	/* Changes the bytes of the file. NULL = it stays whole. */
	void (*spoil)(GByteArray *file);

	guint keeps; /* FEWER: percent of the pairs of all captures that it must still show */
} WpVariant;

/* Ended by a row without a name. */
extern const WpVariant wp_variants[];

WpVaryPacket *wp_vary_packet_new(gint64 time_ns, const guint8 *ip, gsize length);
void wp_vary_packet_free(WpVaryPacket *packet);

/* (transfer full) The packets of PATH, a capture of Ethernet frames; at most MAX. */
GPtrArray *wp_vary_read(const char *path, guint max);

/* (transfer full) PACKETS with the times that the files of VARIANT can hold. */
GPtrArray *wp_vary_round(const WpVariant *variant, const GPtrArray *packets);

/* Writes VARIANT of PACKETS to OUT_PATHS, NULL-ended; remove each with wp_temp_file_remove(). */
void wp_vary_write(const WpVariant *variant, const GPtrArray *packets,
		   WpTempFile *out_paths[WP_VARY_MAX_FILES + 1]);

/* --- vary-change.c --- */

void wp_vary_bad_checksums(GPtrArray *packets);
void wp_vary_doubled(GPtrArray *packets);
void wp_vary_copied(GPtrArray *packets);
void wp_vary_routed(GPtrArray *packets);
void wp_vary_extensions(GPtrArray *packets);
void wp_vary_file_order(GPtrArray *packets);
void wp_vary_fragments(GPtrArray *packets);
void wp_vary_fragments_reversed(GPtrArray *packets);
void wp_vary_ip_length_0(GPtrArray *packets);
void wp_vary_ipv6(GPtrArray *packets);
void wp_vary_loss(GPtrArray *packets);
void wp_vary_burst(GPtrArray *packets);
void wp_vary_middle(GPtrArray *packets);
void wp_vary_no_ids(GPtrArray *packets);
void wp_vary_odd_ports(GPtrArray *packets);
void wp_vary_one_way(GPtrArray *packets);
void wp_vary_other_way(GPtrArray *packets);
void wp_vary_options(GPtrArray *packets);
void wp_vary_reordered(GPtrArray *packets);
void wp_vary_retransmitted(GPtrArray *packets);
void wp_vary_segments_1(GPtrArray *packets);
void wp_vary_segments_7(GPtrArray *packets);
void wp_vary_sequence_wrap(GPtrArray *packets);
void wp_vary_third_doubled(GPtrArray *packets);

/* Ports that wp_vary_odd_ports() takes for others, and what they become. */
#define WP_VARY_PORTS_BELOW 12000
#define WP_VARY_PORTS_SHIFT 12000

/* --- vary-wrap.c --- */

/* Puts the headers of RECIPE (words, the outermost first) before an IP packet, which FRAME holds. */
void wp_vary_wrap(GByteArray *frame, const char *recipe, const WpVaryPacket *packet, guint n);

#endif
