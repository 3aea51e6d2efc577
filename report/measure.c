/* Calls of paths, one after the other, to values, and these to groups. */
#include "report/measure.h"

#include <string.h>

#include "infer/holes.h"
#include "infer/missing.h"
#include "infer/path.h"
#include "report/measure-private.h"
#include "report/select.h"

struct WpMeasureFacts {
	const WpSpan *spans;
	const WpRecord *records;
	const WpPaths *paths;
	const guint8 *holes;
	const WpResolved *resolved;
	WpNodes *names;
};

static void
group_free(gpointer data)
{
	WpMeasureGroup *group = data;
	wp_delay_free(group->values);
	g_free(group);
}

void
wp_measure_free(WpMeasure *measure)
{
	if (!measure)
		return;
	g_free(measure->text);
	wp_where_free(measure->where);
	g_hash_table_unref(measure->numbers);
	g_ptr_array_foreach(measure->groups, (GFunc)(void (*)(void))group_free, NULL);
	g_ptr_array_unref(measure->groups);
	g_string_chunk_free(measure->names);
	g_free(measure);
}

/* --- fields --- */

static gboolean
get_call(const WpMeasureFacts *facts, guint32 span, gint64 *out_value)
{
	*out_value = facts->spans[span].call_ns;
	return TRUE;
}

static gboolean
get_return(const WpMeasureFacts *facts, guint32 span, gint64 *out_value)
{
	*out_value = facts->spans[span].return_ns;
	return wp_span_is_paired(&facts->spans[span]);
}

static gboolean
get_latency(const WpMeasureFacts *facts, guint32 span, gint64 *out_value)
{
	const WpSpan *of = &facts->spans[span];
	*out_value = wp_span_is_paired(of) ? of->return_ns - of->call_ns : 0;
	return wp_span_is_paired(of);
}

static gboolean
get_self(const WpMeasureFacts *facts, guint32 span, gint64 *out_value)
{
	*out_value = facts->paths->self_ns[span];
	return wp_span_is_paired(&facts->spans[span]) && facts->paths->end_ns[span] != WP_NO_TIME &&
	       !facts->holes[span];
}

static gboolean
get_size(const WpMeasureFacts *facts, guint32 span, gint64 *out_value)
{
	const WpSpan *of = &facts->spans[span];
	guint64 there = facts->records[of->call_record].bytes;
	guint64 back =
		of->return_record == G_MAXUINT32 ? 0 : facts->records[of->return_record].bytes;
	back = back == WP_NO_SIZE ? 0 : back;
	*out_value = there > (guint64)G_MAXINT64 - MIN(back, G_MAXINT64) ? G_MAXINT64
									 : (gint64)(there + back);
	return there != WP_NO_SIZE;
}

static gboolean
get_errors(const WpMeasureFacts *facts, guint32 span, gint64 *out_value)
{
	*out_value = wp_span_is_error(&facts->spans[span]);
	return TRUE;
}

const WpMeasureField wp_measure_fields[] = {
	{ "call", WP_MEASURE_TIME, TRUE, get_call },
	{ "return", WP_MEASURE_TIME, TRUE, get_return },
	{ "latency", WP_MEASURE_TIME, FALSE, get_latency },
	{ "self", WP_MEASURE_TIME, FALSE, get_self },
	{ "size", WP_MEASURE_BYTES, FALSE, get_size },
	{ "errors", WP_MEASURE_PLAIN, FALSE, get_errors },
	{ .name = NULL },
};

/* --- keys --- */

static const char *
node_name(const WpMeasureFacts *facts, guint32 node)
{
	return wp_resolved_node_name(facts->resolved, node);
}

static char *
node_text(const WpMeasureFacts *facts, guint32 span)
{
	return g_strdup(node_name(facts, facts->spans[span].callee));
}

static char *
caller_text(const WpMeasureFacts *facts, guint32 span)
{
	return g_strdup(node_name(facts, facts->spans[span].caller));
}

static char *
edge_text(const WpMeasureFacts *facts, guint32 span)
{
	return g_strdup_printf("%s \342\206\222 %s", node_name(facts, facts->spans[span].caller),
			       node_name(facts, facts->spans[span].callee));
}

static char *
protocol_text(const WpMeasureFacts *facts, guint32 span)
{
	return g_strdup(wp_nodes_text(facts->names, facts->spans[span].protocol));
}

static char *
operation_text(const WpMeasureFacts *facts, guint32 span)
{
	const WpSpan *of = &facts->spans[span];
	const char *label = wp_nodes_text(facts->names, of->label);
	return g_strdup_printf("%s %s", node_name(facts, of->callee),
			       *label ? label : wp_nodes_text(facts->names, of->protocol));
}

const WpMeasureKey wp_measure_keys[] = {
	{ "node", FALSE, node_text },
	{ "caller", FALSE, caller_text },
	{ "edge", FALSE, edge_text },
	{ "operation", FALSE, operation_text },
	{ "protocol", FALSE, protocol_text },
	{ "time", TRUE, NULL },
	{ .name = NULL },
};

/* --- groups --- */

/* A new group of which the key is TEXTS; NULL where there are too many. */
static WpMeasureGroup *
make_group(WpMeasure *measure, char **texts, gint64 time_ns)
{
	if (measure->groups->len >= WP_MEASURE_MAX_GROUPS)
		return NULL;
	WpMeasureGroup *group = g_new0(WpMeasureGroup, 1);
	for (guint i = 0; i < measure->n_keys; i++)
		group->keys[i] =
			g_string_chunk_insert_const(measure->names, texts[i] ? texts[i] : "");
	group->time_ns = time_ns;
	group->values = wp_delay_new();
	g_ptr_array_add(measure->groups, group);
	return group;
}

static WpMeasureGroup *
find_group(WpMeasure *measure, const WpMeasureFacts *facts, guint32 span)
{
	char *texts[WP_MEASURE_MAX_KEYS] = { NULL };
	gint64 time_ns = 0;
	g_autoptr(GString) key = g_string_new(NULL);
	for (guint i = 0; i < measure->n_keys; i++) {
		if (measure->keys[i]->is_time) {
			gint64 after_ns = facts->spans[span].call_ns - measure->begin_ns;
			time_ns = MAX(after_ns, 0) / measure->width_ns * measure->width_ns;
			g_string_append_printf(key, "%" G_GINT64_FORMAT ":", time_ns);
			continue;
		}
		texts[i] = measure->keys[i]->text(facts, span);
		/* With lengths, as names may hold anything. */
		g_string_append_printf(key, "%zu:%s", strlen(texts[i]), texts[i]);
	}
	gpointer known = g_hash_table_lookup(measure->numbers, key->str);
	WpMeasureGroup *group = known ? measure->groups->pdata[GPOINTER_TO_UINT(known) - 1]
				      : make_group(measure, texts, time_ns);
	if (!known && group)
		g_hash_table_insert(measure->numbers, g_strdup(key->str),
				    GUINT_TO_POINTER(measure->groups->len));
	for (guint i = 0; i < measure->n_keys; i++)
		g_free(texts[i]);
	return group;
}

/* OF: spans by whose, WP_NO_SPAN where there is none. FALSE where something is not known. */
static gboolean
find_value(const WpMeasure *measure, const WpMeasureFacts *facts,
	   const guint32 of[WP_MEASURE_N_WHOSE], gint64 *out_value)
{
	/* Sums of points in time may pass the end on the way, and come back. */
	guint64 sum = 0;
	for (guint i = 0; i < measure->n_terms; i++) {
		const WpMeasureTerm *term = &measure->terms[i];
		gint64 part;
		if (of[term->whose] == WP_NO_SPAN ||
		    !term->field->get(facts, of[term->whose], &part))
			return FALSE;
		sum = term->is_minus ? sum - (guint64)part : sum + (guint64)part;
	}
	*out_value = (gint64)sum;
	return TRUE;
}

static void
add_value(WpMeasure *measure, const WpMeasureFacts *facts, const guint32 of[WP_MEASURE_N_WHOSE])
{
	gint64 value;
	guint32 own = of[WP_MEASURE_OWN];
	if (measure->where &&
	    !wp_select_matches(facts->resolved, &facts->spans[own], measure->where))
		return;
	if (!find_value(measure, facts, of, &value)) {
		measure->n_unknown++;
		return;
	}
	WpMeasureGroup *group = find_group(measure, facts, own);
	if (group)
		wp_delay_add(group->values, measure->function->is_count ? 0 : value);
	else
		measure->n_left++;
}

/* --- paths --- */

/* One path; places are those in STEPS. */
typedef struct {
	WpMeasure *measure;
	const WpMeasureFacts *facts;
	const GArray *steps;     /* WpPathStep */
	guint32 *order;          /* places, by time of call */
	guint32 *previous;       /* of each place: span of the last call before with its parent */
	guint32 *last_of_parent; /* ... so far */
} Walk;

static const WpPathStep *
step_at(const Walk *walk, guint32 place)
{
	return &g_array_index(walk->steps, WpPathStep, place);
}

static int
compare_places(gconstpointer a, gconstpointer b, gpointer data)
{
	const Walk *walk = data;
	guint32 x = step_at(walk, *(const guint32 *)a)->span;
	guint32 y = step_at(walk, *(const guint32 *)b)->span;
	return (x > y) - (x < y);
}

/* Spans have their numbers by time of call. */
static void
find_previous(Walk *walk)
{
	guint32 n = walk->steps->len;
	for (guint32 i = 0; i < n; i++) {
		walk->order[i] = i;
		walk->last_of_parent[i] = walk->previous[i] = WP_NO_SPAN;
	}
	g_qsort_with_data(walk->order, (int)n, sizeof *walk->order, compare_places, walk);
	for (guint32 i = 0; i < n; i++) {
		guint32 place = walk->order[i], parent = step_at(walk, place)->parent;
		if (parent == G_MAXUINT32)
			continue;
		walk->previous[place] = walk->last_of_parent[parent];
		walk->last_of_parent[parent] = step_at(walk, place)->span;
	}
}

/* The call at PLACE, with CHILD where it is asked for. */
static void
add_place(Walk *walk, guint32 place, guint32 child)
{
	const WpPathStep *step = step_at(walk, place);
	guint32 of[WP_MEASURE_N_WHOSE] = {
		[WP_MEASURE_OWN] = step->span,
		[WP_MEASURE_PARENT] = step->parent == G_MAXUINT32
					      ? WP_NO_SPAN
					      : step_at(walk, step->parent)->span,
		[WP_MEASURE_PREVIOUS] = walk->previous[place],
		[WP_MEASURE_CHILD] = child,
	};
	add_value(walk->measure, walk->facts, of);
}

static void
add_path(WpMeasure *measure, const WpMeasureFacts *facts, const GArray *steps)
{
	gsize n = MAX(steps->len, 1);
	g_autofree guint32 *room = g_new(guint32, 3 * n);
	Walk walk = { measure, facts, steps, room, room + n, room + 2 * n };
	find_previous(&walk);
	for (guint32 i = 0; i < steps->len; i++) {
		const WpPathStep *step = step_at(&walk, i);
		if (!measure->uses[WP_MEASURE_CHILD])
			add_place(&walk, i, WP_NO_SPAN);
		else if (step->parent != G_MAXUINT32)
			add_place(&walk, step->parent, step->span);
	}
}

void
wp_measure_add(WpMeasure *measure, const WpAnalysis *analysis)
{
	const WpSpans *spans = wp_resolved_spans(analysis->resolved);
	const WpTrace *trace = wp_resolved_trace(analysis->resolved);
	g_autoptr(WpPaths) paths = wp_paths_new(spans, wp_analysis_links(analysis), NULL, NULL);
	g_autoptr(WpMissing) missing = wp_missing_new(analysis->resolved);
	g_autofree guint8 *holes = wp_holes_find(spans, paths, missing);
	g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(WpPathStep));
	const WpMeasureFacts facts = { .spans = spans->spans,
				       .records = wp_trace_records(trace),
				       .paths = paths,
				       .holes = holes,
				       .resolved = analysis->resolved,
				       .names = wp_trace_nodes(trace) };
	if (!measure->has_begin && wp_trace_n_records(trace)) {
		measure->begin_ns = facts.records[0].begin_ns;
		measure->has_begin = TRUE;
	}
	for (guint32 i = 0; i < paths->n_roots; i++) {
		wp_paths_walk(paths, paths->roots[i], steps);
		add_path(measure, &facts, steps);
	}
}

/* --- the end --- */

/* By the keys, in the order in which they were asked for; time last. */
static int
compare_keys(const WpMeasureGroup *x, const WpMeasureGroup *y)
{
	for (guint i = 0; i < WP_MEASURE_MAX_KEYS && x->keys[i]; i++) {
		int order = strcmp(x->keys[i], y->keys[i]);
		if (order)
			return order;
	}
	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static int
compare_courses(gconstpointer a, gconstpointer b)
{
	return compare_keys(*(WpMeasureGroup *const *)a, *(WpMeasureGroup *const *)b);
}

static int
compare_values(gconstpointer a, gconstpointer b)
{
	const WpMeasureGroup *x = *(WpMeasureGroup *const *)a, *y = *(WpMeasureGroup *const *)b;
	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return compare_keys(x, y);
}

void
wp_measure_finish(WpMeasure *measure)
{
	for (guint i = 0; i < measure->groups->len; i++) {
		WpMeasureGroup *group = measure->groups->pdata[i];
		group->value = measure->function->of(group->values, measure->quantile);
	}
	g_ptr_array_sort(measure->groups, measure->width_ns ? compare_courses : compare_values);
}

const char *
wp_measure_text(const WpMeasure *measure)
{
	return measure->text;
}

WpMeasureUnit
wp_measure_unit(const WpMeasure *measure)
{
	return measure->function->is_count ? WP_MEASURE_PLAIN : measure->terms[0].field->unit;
}

guint
wp_measure_n_keys(const WpMeasure *measure)
{
	return measure->n_keys;
}

const char *
wp_measure_key(const WpMeasure *measure, guint key)
{
	return measure->keys[key]->name;
}

gboolean
wp_measure_is_time(const WpMeasure *measure, guint key)
{
	return measure->keys[key]->is_time;
}

guint
wp_measure_n_groups(const WpMeasure *measure)
{
	return measure->groups->len;
}

const WpMeasureGroup *
wp_measure_group(const WpMeasure *measure, guint group)
{
	return measure->groups->pdata[group];
}

guint64
wp_measure_n_unknown(const WpMeasure *measure)
{
	return measure->n_unknown;
}

guint64
wp_measure_n_left(const WpMeasure *measure)
{
	return measure->n_left;
}
