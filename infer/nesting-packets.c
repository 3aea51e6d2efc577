/*
 * Calls that left in one packet: a library wrote them together, as those of event loops do on a connection that
 * takes several calls at a time (gRPC, pipelines). That they left at the same moment is then no sign that one request
 * made them. A parent that makes two of them would have the second for nothing, as no other gap is as
 * exact: at load all that leaves together would be given to one parent, which is as wrong as can be.
 *
 *     p1   S----------+X-----------         one packet: X Y Z
 *     p2      S-------+Y------              p1 with all three: two gaps of 0, in no time at all
 *     p3          S---+Z----------
 *
 * So such a gap costs by how much likelier chance brings it than the moment is narrow: chance brings as many calls of other
 * requests into the packet of a call as there are others in it on average, and without packets it would bring as many in so
 * many times the mean time from call to call. All of them are taken for calls of other requests: where one
 * request makes them, as a pipeline of its own, the plan of its parents tells that.
 */
#include "infer/density.h"
#include "infer/evidence-kind.h"
#include "infer/map.h"

/* Mean times from call to call: what is longer tells nothing of how often calls are made. */
#define PAUSE 10.0

/* The last packet of a flow. */
typedef struct {
	guint32 child; /* first in it */
	guint32 n;
} Packet;

static guint32
flow_of(const WpNestProblem *problem, const WpNestChild *child)
{
	const WpResolved *resolved = problem->resolved;
	const WpRecord *records = wp_trace_records(wp_resolved_trace(resolved));

	if (child->span == WP_NO_SPAN)
		return 0;
	return records[wp_resolved_spans(resolved)->spans[child->span].call_record].flow;
}

/* Adds CHILD to PACKET, in which others came at the same time; N_PACKETS: with several calls, so far. */
static void
add_to_packet(WpNestProblem *problem, Packet *packet, guint32 child, guint32 *n_packets)
{
	WpNestChild *children = problem->children;

	if (packet->n++ == 1)
		children[packet->child].packet = ++*n_packets;
	children[child].packet = children[packet->child].packet;
}

void
wp_nest_find_packets(WpNestProblem *problem)
{
	g_autoptr(WpMap) numbers = wp_map_new();
	g_autoptr(GArray) packets = g_array_new(FALSE, FALSE, sizeof(Packet)); /* by flow */
	guint32 n_packets = 0;
	double n_beside = 0;

	if (!wp_evidence_has(problem->options->evidence, &wp_evidence_packets) ||
	    !wp_trace_has(wp_resolved_trace(problem->resolved), WP_TRACE_FLOWS))
		return;
	for (guint32 c = 0; c < problem->n_children; c++) {
		guint32 flow = flow_of(problem, &problem->children[c]);
		if (!flow)
			continue;
		guint32 number = wp_map_number(numbers, flow);
		Packet own = { c, 1 };
		if (number == packets->len)
			g_array_append_val(packets, own);
		Packet *last = &g_array_index(packets, Packet, number);
		if (last->child == c)
			continue;
		if (problem->children[last->child].begin_ns != problem->children[c].begin_ns) {
			*last = own;
			continue;
		}
		n_beside += 2.0 * last->n;
		add_to_packet(problem, last, c, &n_packets);
	}
	problem->beside = n_beside / MAX(problem->n_children, 1);
	wp_nest_weigh_packets(problem);
}

/* Mean time from call to call where calls are made at all. */
static double
mean_time(const WpNestProblem *problem)
{
	const WpNestChild *children = problem->children;
	guint32 n = problem->n_children - 1;
	double mean_ns = (double)(children[n].begin_ns - children[0].begin_ns) / n;
	double sum_ns = 0;

	for (guint32 c = 0; c < n; c++) {
		double time_ns = (double)(children[c + 1].begin_ns - children[c].begin_ns);
		sum_ns += MIN(time_ns, PAUSE * mean_ns);
	}
	return sum_ns / n;
}

void
wp_nest_weigh_packets(WpNestProblem *problem)
{
	/* The least that a density of gaps tells apart. */
	double moment_ns = problem->grain_ns * G_LN2 / WP_DENSITY_BINS_AN_OCTAVE;

	problem->packet_cost = 0;
	if (problem->beside > 0) {
		double likelier = problem->beside * mean_time(problem) / moment_ns;
		problem->packet_cost = wp_quick_log(&problem->quick, MAX(likelier, 1));
	}
}

const WpEvidenceKind wp_evidence_packets = {
	.name = "packets",
	.summary = "calls that left in one packet: no sign that one request made them",
	.is_default = TRUE,
};
