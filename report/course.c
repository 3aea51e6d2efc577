/* Paths of a part are walked, call by call; bins that become too many are joined in pairs, of all kinds at once. */
#include "report/course.h"

#include <math.h>

#include "infer/holes.h"
#include "infer/map.h"
#include "infer/missing.h"
#include "infer/path.h"
#include "infer/replicas.h"

/* Bins begin as short as this: a capture of a second has them all. */
#define FIRST_BIN_NS 1000000

struct WpCourseMaker {
	WpCourse course;
	WpMap *node_numbers; /* node of the resolver -> node of the course */
	WpMap *kinds;        /* (node, label) -> kind */
	guint32 n_grouped;   /* spans of the part that said which nodes are replicas */
	gboolean has_begin;
};

/* A part at hand. */
typedef struct {
	WpCourse *course;
	WpCourseMaker *maker;
	const WpSpan *spans;
	const WpRecord *records;
	WpNodes *names;
	const WpResolved *resolved;
	WpPaths *paths;
	guint8 *holes;
} Part;

static void
kind_free(gpointer data)
{
	WpCourseKind *kind = data;
	g_free(kind->cells);
	g_free(kind);
}

WpCourseMaker *
wp_course_maker_new(void)
{
	WpCourseMaker *maker = g_new0(WpCourseMaker, 1);
	maker->course.bin_ns = FIRST_BIN_NS;
	maker->course.kinds = g_ptr_array_new_with_free_func(kind_free);
	maker->course.nodes = g_ptr_array_new_with_free_func(g_free);
	maker->node_numbers = wp_map_new();
	maker->kinds = wp_map_new();
	return maker;
}

void
wp_course_maker_free(WpCourseMaker *maker)
{
	if (!maker)
		return;
	g_ptr_array_unref(maker->course.kinds);
	g_ptr_array_unref(maker->course.nodes);
	wp_map_free(maker->node_numbers);
	wp_map_free(maker->kinds);
	g_free(maker);
}

const WpCourse *
wp_course_maker_course(const WpCourseMaker *maker)
{
	return &maker->course;
}

const WpCourseKind *
wp_course_kind(const WpCourse *course, guint32 kind)
{
	return course->kinds->pdata[kind];
}

const WpCourseNode *
wp_course_node(const WpCourse *course, guint32 node)
{
	return course->nodes->pdata[node];
}

void
wp_course_cell_add(WpCourseCell *into, const WpCourseCell *from)
{
	if (from->timed && (!into->timed || from->slowest.self_ns > into->slowest.self_ns))
		into->slowest = from->slowest;
	into->calls += from->calls;
	into->errors += from->errors;
	into->timed += from->timed;
	into->self_ns += from->self_ns;
	into->logs += from->logs;
}

/* --- bins --- */

static void
join_counts(guint64 *counts)
{
	for (guint32 i = 0; i < WP_COURSE_BINS / 2; i++)
		counts[i] = counts[2 * i] + counts[2 * i + 1];
	for (guint32 i = WP_COURSE_BINS / 2; i < WP_COURSE_BINS; i++)
		counts[i] = 0;
}

static void
join_bins(WpCourse *course)
{
	for (guint k = 0; k < course->kinds->len; k++) {
		WpCourseCell *cells = ((WpCourseKind *)course->kinds->pdata[k])->cells;
		for (guint32 i = 0; i < WP_COURSE_BINS / 2; i++) {
			WpCourseCell sum = cells[2 * i];
			wp_course_cell_add(&sum, &cells[2 * i + 1]);
			cells[i] = sum;
		}
		for (guint32 i = WP_COURSE_BINS / 2; i < WP_COURSE_BINS; i++)
			cells[i] = (WpCourseCell){ 0 };
	}
	for (guint k = 0; k < course->nodes->len; k++) {
		WpCourseNode *node = course->nodes->pdata[k];
		join_counts(node->in);
		join_counts(node->errors);
		join_counts(node->out);
	}
	course->bin_ns *= 2;
	course->n_bins = (course->n_bins + 1) / 2;
}

/* The bin of a call that begins at BEGIN_NS. */
static guint32
bin_of(WpCourse *course, gint64 begin_ns)
{
	gint64 after_ns = MAX(begin_ns - course->begin_ns, 0);
	while (after_ns / course->bin_ns >= WP_COURSE_BINS)
		join_bins(course);
	guint32 bin = (guint32)(after_ns / course->bin_ns);
	course->n_bins = MAX(course->n_bins, bin + 1);
	return bin;
}

/* --- numbers --- */

/* WP_COURSE_NONE where there are too many. */
static guint32
node_of(Part *part, guint32 resolved_node)
{
	WpCourse *course = part->course;
	guint32 number = wp_map_number(part->maker->node_numbers, resolved_node);
	if (number >= WP_COURSE_MAX_NODES)
		return WP_COURSE_NONE;
	if (number == course->nodes->len) {
		WpCourseNode *node = g_new0(WpCourseNode, 1);
		node->name = wp_resolved_node_name(part->resolved, resolved_node);
		node->group = number;
		g_ptr_array_add(course->nodes, node);
	}
	return number;
}

static WpCourseKind *
kind_of(Part *part, guint32 node, const WpSpan *span)
{
	WpCourse *course = part->course;
	guint32 number = wp_map_number(part->maker->kinds, wp_map_key(node, span->label));
	if (number >= WP_COURSE_MAX_KINDS)
		return NULL;
	if (number == course->kinds->len) {
		WpCourseKind *kind = g_new0(WpCourseKind, 1);
		kind->node = node;
		kind->label = wp_nodes_text(part->names, span->label);
		kind->protocol = wp_nodes_text(part->names, span->protocol);
		kind->cells = g_new0(WpCourseCell, WP_COURSE_BINS);
		g_ptr_array_add(course->kinds, kind);
	}
	return course->kinds->pdata[number];
}

/* --- calls --- */

static WpCourseCell
cell_of(const Part *part, guint32 number)
{
	const WpSpan *span = &part->spans[number];
	WpCourseCell cell = { .calls = 1, .errors = wp_span_is_error(span) };
	if (!wp_span_is_paired(span) || part->paths->end_ns[number] == WP_NO_TIME ||
	    part->holes[number])
		return cell;
	gint64 self_ns = part->paths->self_ns[number];
	const WpRecord *record = &part->records[span->call_record];
	cell.timed = 1;
	cell.self_ns = (double)self_ns;
	cell.logs = log((double)MAX(self_ns, WP_COURSE_FLOOR_NS));
	cell.slowest = (WpCourseExample){ .begin_ns = span->call_ns,
					  .latency_ns = span->return_ns - span->call_ns,
					  .self_ns = self_ns,
					  .packet = record->packet,
					  .id = span->id,
					  .tap = record->tap };
	return cell;
}

static void
add_call(Part *part, guint32 number)
{
	WpCourse *course = part->course;
	const WpSpan *span = &part->spans[number];
	guint32 bin = bin_of(course, span->call_ns);
	guint32 callee = node_of(part, span->callee), caller = node_of(part, span->caller);
	if (caller != WP_COURSE_NONE) {
		WpCourseNode *node = course->nodes->pdata[caller];
		node->out[bin]++;
		node->n_out++;
	}
	if (span->marks & WP_MARK_WAIT)
		return;
	WpCourseKind *kind = callee != WP_COURSE_NONE ? kind_of(part, callee, span) : NULL;
	if (!kind) {
		course->n_left++;
		return;
	}
	WpCourseNode *node = course->nodes->pdata[callee];
	WpCourseCell cell = cell_of(part, number);
	node->in[bin]++;
	node->n_in++;
	node->errors[bin] += cell.errors;
	node->n_errors += cell.errors;
	wp_course_cell_add(&kind->cells[bin], &cell);
	wp_course_cell_add(&kind->all, &cell);
	course->self_ns += cell.self_ns;
}

/* Which nodes are replicas, the part with the most calls tells. */
static void
group_nodes(Part *part, const WpTrace *trace)
{
	WpCourse *course = part->course;
	WpMap *numbers = part->maker->node_numbers;
	guint32 n = wp_nodes_count(part->names);
	g_autoptr(WpSpans) spans = wp_spans_new(trace);
	g_autofree guint32 *firsts = wp_replicas_find(trace, spans, n);
	for (guint32 i = 0; i < n; i++) {
		guint32 own = wp_map_find(numbers, wp_resolved_node_of(part->resolved, i));
		guint32 first =
			wp_map_find(numbers, wp_resolved_node_of(part->resolved, firsts[i]));
		if (own < course->nodes->len && first < course->nodes->len)
			((WpCourseNode *)course->nodes->pdata[own])->group = first;
	}
}

void
wp_course_maker_add(WpCourseMaker *maker, const WpAnalysis *analysis)
{
	const WpSpans *spans = wp_resolved_spans(analysis->resolved);
	const WpTrace *trace = wp_resolved_trace(analysis->resolved);
	g_autoptr(WpPaths) paths = wp_paths_new(spans, wp_analysis_links(analysis), NULL, NULL);
	g_autoptr(WpMissing) missing = wp_missing_new(analysis->resolved);
	g_autofree guint8 *holes = wp_holes_find(spans, paths, missing);
	g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(WpPathStep));
	Part part = { .course = &maker->course,
		      .maker = maker,
		      .spans = spans->spans,
		      .records = wp_trace_records(trace),
		      .names = wp_trace_nodes(trace),
		      .resolved = analysis->resolved,
		      .paths = paths,
		      .holes = holes };

	maker->course.names = part.names;
	if (!maker->has_begin && wp_trace_n_records(trace)) {
		maker->course.begin_ns = part.records[0].begin_ns;
		maker->has_begin = TRUE;
	}
	maker->course.requests += paths->n_roots;
	for (guint32 i = 0; i < paths->n_roots; i++) {
		wp_paths_walk(paths, paths->roots[i], steps);
		for (guint k = 0; k < steps->len; k++)
			add_call(&part, g_array_index(steps, WpPathStep, k).span);
	}
	if (spans->n > maker->n_grouped) {
		maker->n_grouped = spans->n;
		group_nodes(&part, trace);
	}
}
