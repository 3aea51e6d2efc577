/*
 * The filter. libpcap's "vlan" moves all that follows it in an expression by one tag, so for frames with
 * n tags the expression is compiled behind n times "vlan", in a program of its own: in one program
 * ("F or vlan and F") a "not port 80" would let every tagged frame pass as one without ports.
 */
#include "capture/filter.h"

#include <pcap/pcap.h>
#include <string.h>

#include "capture/trace.h"

#define MAX_PROGRAMS  16     /* link types times tags; further ones are compiled again and again */
#define MAX_TAGS      2      /* IEEE 802.1ad; deeper tags are not looked behind */
#define SNAP_LENGTH   262144 /* what libpcap calls MAXIMUM_SNAPLEN */
#define ETHERTYPE_AT  12
#define LINK_ETHERNET 1
#define LINK_RAW      101

typedef struct {
	guint32 link_type;
	guint n_tags;
	struct bpf_program program;
} Program;

struct WpFilter {
	char *expression;
	gboolean knows_vlans; /* speaks of VLANs itself */
	Program programs[MAX_PROGRAMS];
	guint n_programs;
};

guint32
wp_filter_link_type(int dlt)
{
	return dlt == DLT_RAW ? LINK_RAW : (guint32)dlt;
}

/* Files call raw IP 101, libpcap itself 12 or 14. */
static int
dlt_of(guint32 link_type)
{
	return link_type == LINK_RAW ? DLT_RAW : (int)link_type;
}

static gboolean
compile(const WpFilter *filter, guint32 link_type, guint n_tags, struct bpf_program *out_program,
	GError **error)
{
	g_autoptr(GString) text = g_string_new(NULL);
	char buffer[16];

	/* An empty expression lets all pass, but may not stand in brackets. */
	n_tags = filter->expression[strspn(filter->expression, " \t")] ? n_tags : 0;
	for (guint i = 0; i < n_tags; i++)
		g_string_append(text, "vlan and (");
	g_string_append(text, filter->expression);
	for (guint i = 0; i < n_tags; i++)
		g_string_append(text, ")");
	pcap_t *pcap = pcap_open_dead_with_tstamp_precision(dlt_of(link_type), SNAP_LENGTH,
							    PCAP_TSTAMP_PRECISION_NANO);
	gboolean ok =
		pcap && pcap_compile(pcap, out_program, text->str, 1, PCAP_NETMASK_UNKNOWN) == 0;
	if (!ok)
		g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_OPTION,
			    "cannot use the filter \"%s\" on packets of link type %s: %s",
			    filter->expression, wp_link_type_name(link_type, buffer, sizeof buffer),
			    pcap ? pcap_geterr(pcap) : "unknown to libpcap");
	if (pcap)
		pcap_close(pcap);
	return ok;
}

static gboolean
speaks_of_tags(const char *expression)
{
	return g_regex_match_simple("\\b(vlan|mpls|pppoes|pppoed)\\b", expression, 0, 0);
}

WpFilter *
wp_filter_new(const char *expression, GError **error)
{
	g_autoptr(WpFilter) filter = g_new0(WpFilter, 1);
	struct bpf_program program;

	filter->expression = g_strdup(expression);
	filter->knows_vlans = speaks_of_tags(expression);
	if (!compile(filter, LINK_ETHERNET, 0, &program, error))
		return NULL;
	pcap_freecode(&program);
	return g_steal_pointer(&filter);
}

void
wp_filter_free(WpFilter *filter)
{
	if (!filter)
		return;
	for (guint i = 0; i < filter->n_programs; i++)
		pcap_freecode(&filter->programs[i].program);
	g_free(filter->expression);
	g_free(filter);
}

char *
wp_filter_for_kernel(const char *expression, guint32 link_type)
{
	if (link_type != LINK_ETHERNET || speaks_of_tags(expression) ||
	    !expression[strspn(expression, " \t")])
		return g_strdup(expression);
	return g_strdup_printf("(%s) or ether proto 0x8100 or ether proto 0x88a8 or "
			       "ether proto 0x9100",
			       expression);
}

/* How many VLAN tags an Ethernet frame has. */
static guint
count_tags(const WpFrame *frame)
{
	guint n = 0;
	while (n < MAX_TAGS && frame->captured >= ETHERTYPE_AT + 4 * n + 2) {
		const guint8 *at = frame->data + ETHERTYPE_AT + 4 * n;
		guint type = (guint)at[0] << 8 | at[1];
		if (type != 0x8100 && type != 0x88a8 && type != 0x9100)
			break;
		n++;
	}
	return n;
}

static const struct bpf_program *
get_program(WpFilter *filter, guint32 link_type, guint n_tags, GError **error)
{
	for (guint i = 0; i < filter->n_programs; i++)
		if (filter->programs[i].link_type == link_type &&
		    filter->programs[i].n_tags == n_tags)
			return &filter->programs[i].program;
	if (filter->n_programs == MAX_PROGRAMS)
		pcap_freecode(&filter->programs[--filter->n_programs].program);
	Program *program = &filter->programs[filter->n_programs];
	if (!compile(filter, link_type, n_tags, &program->program, error))
		return NULL;
	program->link_type = link_type;
	program->n_tags = n_tags;
	filter->n_programs++;
	return &program->program;
}

gboolean
wp_filter_is_tagged(const WpFrame *frame)
{
	return frame->link_type == LINK_ETHERNET && count_tags(frame) > 0;
}

gboolean
wp_filter_matches(WpFilter *filter, const WpFrame *frame, gboolean *out_matches, GError **error)
{
	guint n_tags = 0;
	if (frame->link_type == LINK_ETHERNET && !filter->knows_vlans)
		n_tags = count_tags(frame);
	const struct bpf_program *program = get_program(filter, frame->link_type, n_tags, error);
	if (!program)
		return FALSE;
	struct pcap_pkthdr header = { .caplen = frame->captured, .len = frame->length };
	*out_matches = pcap_offline_filter(program, &header, frame->data) != 0;
	return TRUE;
}

const char *
wp_link_type_name(guint32 link_type, char *buffer, gsize size)
{
	const char *name =
		link_type <= G_MAXINT ? pcap_datalink_val_to_name(dlt_of(link_type)) : NULL;
	if (name)
		return name;
	g_snprintf(buffer, size, "%u", link_type);
	return buffer;
}
