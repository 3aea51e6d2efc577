/*
 * Single-lane bridges: nodes that serve one call after the other while callers stand in line. What such a node takes for a call is
 * work; the rest of its self time the call waits for those before it, and more workers would save it. The same of nodes with a number of
 * workers, where inference found it (queues.h), and of callers with a number of connections (pools.h).
 */
#include <string.h>

#include "report/doctor.h"
#include "report/format.h"

typedef struct {
	double self_ns;
	double served_ns;
	guint64 calls;
} Lane;

static Lane
sum_lane(const WpDigest *digest, guint32 node)
{
	Lane lane = { 0 };
	for (guint i = 0; i < digest->operations->len; i++) {
		const WpDigestOperation *operation = wp_digest_operation(digest, i);
		for (guint k = 0; k < operation->parts->len; k++) {
			const WpDigestPart *part = wp_digest_part(operation, k);
			if (part->node != node)
				continue;
			for (guint b = 0; b < part->sums->len; b++) {
				const WpDigestSums *sums =
					&g_array_index(part->sums, WpDigestSums, b);
				lane.self_ns += (double)sums->self_ns;
				lane.served_ns += (double)sums->served_ns;
				lane.calls += sums->calls;
			}
		}
	}
	return lane;
}

/* The slowest call into the node NAME. */
static void
add_example(const WpDoctor *doctor, WpDoctorFinding *finding, const char *name)
{
	const WpCourse *course = doctor->of.course;
	const WpCourseKind *slowest = NULL;
	for (guint32 i = 0; i < course->kinds->len; i++) {
		const WpCourseKind *kind = wp_course_kind(course, i);
		if (strcmp(wp_course_node(course, kind->node)->name, name) == 0 &&
		    (!slowest || kind->all.slowest.self_ns > slowest->all.slowest.self_ns))
			slowest = kind;
	}
	if (slowest)
		wp_doctor_add_example(finding, &slowest->all.slowest);
}

/* TRUE where waiting of WAITING_NS, of all time at a node that so many calls spent there by themselves, is worth a word. */
static gboolean
is_long(const WpDoctor *doctor, double waiting_ns, double self_ns, guint64 calls,
	double *out_weight)
{
	const WpDoctorRules *rules = doctor->of.rules;
	*out_weight = doctor->of.course->self_ns > 0 ? waiting_ns / doctor->of.course->self_ns : 0;
	return calls >= (guint64)rules->min_calls && waiting_ns >= rules->lane_wait * self_ns &&
	       *out_weight >= rules->matters;
}

static void
look_at_node(WpDoctor *doctor, guint32 number, const WpDoctorCheck *check)
{
	const WpDigestNode *node = &g_array_index(doctor->of.digest->nodes, WpDigestNode, number);
	Lane lane = sum_lane(doctor->of.digest, number);
	double waiting = lane.self_ns - lane.served_ns;
	double weight;
	if (!wp_digest_is_in_turn(node) ||
	    !is_long(doctor, waiting, lane.self_ns, lane.calls, &weight))
		return;
	char share[WP_FORMAT_MAX], self[WP_FORMAT_MAX], work[WP_FORMAT_MAX];
	WpDoctorFinding *finding = wp_doctor_add(
		doctor, check, WP_FINDING_FOUND,
		g_strdup_printf("%s serves one call after the other, and callers stand in line: %s "
				"of the time of a call there (%s) is waiting, %s is work.",
				node->name, wp_format_share(share, waiting / lane.self_ns),
				wp_format_time(self, lane.self_ns / (double)lane.calls),
				wp_format_time(work, lane.served_ns / (double)lane.calls)));
	finding->node = node->name;
	finding->weight = MIN(weight, 1);
	wp_doctor_add_number(finding, "waiting_share", waiting / lane.self_ns);
	wp_doctor_add_number(finding, "self_ns", lane.self_ns / (double)lane.calls);
	wp_doctor_add_number(finding, "work_ns", lane.served_ns / (double)lane.calls);
	wp_doctor_add_number(finding, "calls", (double)lane.calls);
	add_example(doctor, finding, node->name);
}

static void
look_at_queue(WpDoctor *doctor, const WpViewQueue *queue, const WpDoctorCheck *check)
{
	double self_ns = queue->waiting_ns + queue->work_ns, calls = (double)queue->calls, weight;
	if (!is_long(doctor, queue->waiting_ns, self_ns, queue->calls, &weight))
		return;
	WpDoctorFinding *finding =
		wp_doctor_add(doctor, check, WP_FINDING_FOUND, wp_findings_queue_text(queue));
	finding->title = "Workers";
	finding->node = queue->node;
	finding->weight = MIN(weight, 1);
	wp_doctor_add_number(finding, "workers", queue->workers);
	wp_doctor_add_number(finding, "waited_share", (double)queue->n_waited / calls);
	wp_doctor_add_number(finding, "wait_p50_ns", queue->wait_p50_ns);
	wp_doctor_add_number(finding, "wait_max_ns", queue->wait_max_ns);
	wp_doctor_add_number(finding, "waiting_share", wp_findings_waiting(queue));
	wp_doctor_add_number(finding, "self_ns", self_ns / calls);
	wp_doctor_add_number(finding, "work_ns", queue->work_ns / calls);
	wp_doctor_add_number(finding, "held_ns", queue->held_ns / calls);
	wp_doctor_add_number(finding, "calls", calls);
	add_example(doctor, finding, queue->node);
}

static void
look_at_pool(WpDoctor *doctor, const WpViewPool *pool, const WpDoctorCheck *check)
{
	const WpDoctorRules *rules = doctor->of.rules;
	double self_ns = doctor->of.course->self_ns;
	double weight = self_ns > 0 ? pool->waiting_ns / self_ns : 0;
	double waited = (double)pool->n_waited / (double)MAX(pool->calls, 1);

	if (pool->calls < (guint64)rules->min_calls || waited < rules->lane_waited ||
	    weight < rules->matters)
		return;
	WpDoctorFinding *finding =
		wp_doctor_add(doctor, check, WP_FINDING_FOUND, wp_findings_pool_text(pool));
	finding->title = "Connection pools";
	finding->node = pool->caller;
	finding->weight = MIN(weight, 1);
	wp_doctor_add_number(finding, "connections", pool->connections);
	wp_doctor_add_number(finding, "waited_share", waited);
	if (pool->wait_ns >= 0) {
		wp_doctor_add_number(finding, "wait_ns", pool->wait_ns);
		wp_doctor_add_number(finding, "waiting_share",
				     MIN(pool->waiting_ns / MAX(pool->own_ns, 1), 1));
	}
	wp_doctor_add_number(finding, "taken_ns", pool->taken_ns);
	wp_doctor_add_number(finding, "calls", (double)pool->calls);
	add_example(doctor, finding, pool->caller);
}

static void
look(WpDoctor *doctor, const WpDoctorCheck *check)
{
	const WpDigest *digest = doctor->of.digest;
	guint n_before = doctor->findings->len, n = 0;
	for (guint32 i = 0; i < digest->nodes->len; i++) {
		n += g_array_index(digest->nodes, WpDigestNode, i).n_served >=
		     (guint64)doctor->of.rules->min_calls;
		look_at_node(doctor, i, check);
	}
	for (guint32 i = 0; i < doctor->of.view->n_queues; i++)
		look_at_queue(doctor, &doctor->of.view->queues[i], check);
	for (guint32 i = 0; i < doctor->of.view->n_pools; i++)
		look_at_pool(doctor, &doctor->of.view->pools[i], check);
	if (doctor->findings->len > n_before)
		return;
	char count[WP_FORMAT_MAX];
	wp_doctor_add(
		doctor, check, n ? WP_FINDING_CLEAN : WP_FINDING_UNDECIDED,
		n ? g_strdup_printf("At none of %s nodes calls stand in line behind one another "
				    "for most of their time.",
				    wp_format_count(count, n))
		  : g_strdup("No node has enough calls."));
}

const WpDoctorCheck wp_doctor_lanes = {
	.name = "lanes",
	.title = "Single lanes",
	.look = look,
};
