/*
 * Self time by stack of calls: folded stacks (flamegraph.pl and all that read its input) and the sampled profiles of
 * speedscope (its file-format-schema.json). Weights are whole microseconds and nanoseconds.
 *
 * All requests are summed up in a tree of frames "node: operation", in memory for the tree alone. Frames beyond
 * MAX_FRAMES are one, so that names made up without end cost nothing.
 */
#include "config.h"

#include <string.h>

#include "report/escape.h"
#include "report/export.h"
#include "report/json.h"

#define MAX_FRAMES 500000 /* of the tree: some 60 MB */
#define REST       "(other)"

typedef struct Frame {
	char *name;
	struct Frame *parent;
	GHashTable *children; /* name -> Frame, which it owns; NULL = none */
	struct Frame *first;  /* of these, and the next of its parent */
	struct Frame *next;
	gint64 self_ns;
	guint64 calls;
} Frame;

typedef struct {
	Frame *root;
	guint n_frames;
	GPtrArray *frames; /* by call of the trace at hand */
} Stacks;

static void
frame_free(gpointer data)
{
	Frame *frame = data;
	g_free(frame->name);
	g_clear_pointer(&frame->children, g_hash_table_unref);
	g_free(frame);
}

static Frame *
frame_child(Stacks *stacks, Frame *parent, const char *name)
{
	if (!parent->children)
		parent->children = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, frame_free);
	Frame *frame = g_hash_table_lookup(parent->children, name);
	if (frame)
		return frame;
	if (stacks->n_frames >= MAX_FRAMES) {
		/* A frame below itself stands for all below it. */
		if (strcmp(parent->name, REST) == 0)
			return parent;
		name = REST;
		frame = g_hash_table_lookup(parent->children, name);
		if (frame)
			return frame;
	}
	frame = g_new0(Frame, 1);
	frame->name = g_strdup(name);
	frame->parent = parent;
	frame->next = parent->first;
	parent->first = frame;
	stacks->n_frames++;
	g_hash_table_insert(parent->children, frame->name, frame);
	return frame;
}

static void
stacks_begin(gpointer state, WpOut *out)
{
	Stacks *stacks = state;
	(void)out;
	stacks->root = g_new0(Frame, 1);
	stacks->root->name = g_strdup("");
	stacks->frames = g_ptr_array_new();
}

static void
stacks_clear(gpointer state)
{
	Stacks *stacks = state;
	if (stacks->root)
		frame_free(stacks->root);
	g_clear_pointer(&stacks->frames, g_ptr_array_unref);
}

/*
 * "node: operation". ';' parts frames, and a name that ends in a blank and digits would be taken for a frame and
 * its weight.
 */
static char *
frame_name(const WpExportCall *call)
{
	g_autofree char *plain = g_strconcat(call->callee, ": ", wp_export_operation(call), NULL);
	GString *name = g_string_new(NULL);
	wp_escape_terminal_to(name, plain, TRUE);
	g_strdelimit(name->str, ";", ':');
	gsize digits = name->len;
	while (digits > 0 &&
	       (g_ascii_isdigit(name->str[digits - 1]) || name->str[digits - 1] == '.'))
		digits--;
	if (digits < name->len && digits > 0 && name->str[digits - 1] == ' ')
		g_string_append_c(name, '_');
	return g_string_free(name, FALSE);
}

static void
stacks_trace(gpointer state, const WpExportTrace *trace, WpOut *out)
{
	Stacks *stacks = state;
	(void)out;
	g_ptr_array_set_size(stacks->frames, 0);
	for (guint32 i = 0; i < trace->n_calls; i++) {
		const WpExportCall *call = &trace->calls[i];
		g_autofree char *name = frame_name(call);
		Frame *parent = call->parent == WP_EXPORT_NONE
					? stacks->root
					: stacks->frames->pdata[call->parent];
		Frame *frame = frame_child(stacks, parent, name);
		/* What waits by design takes no time that anyone could save. */
		frame->self_ns += call->waits ? 0 : call->self_ns;
		frame->calls++;
		g_ptr_array_add(stacks->frames, frame);
	}
}

static int
compare_frames(gconstpointer a, gconstpointer b)
{
	return strcmp((*(Frame *const *)a)->name, (*(Frame *const *)b)->name);
}

/* (transfer container) The children of FRAME by name. */
static GPtrArray *
sorted_children(const Frame *frame)
{
	GPtrArray *children = g_ptr_array_new();
	for (Frame *child = frame->first; child; child = child->next)
		g_ptr_array_add(children, child);
	g_ptr_array_sort(children, compare_frames);
	return children;
}

typedef void (*FrameFunc)(const Frame *frame, gpointer data);

/* FRAME and all below it, by name; deep trees must not need a deep stack. */
static void
walk(const Frame *frame, FrameFunc func, gpointer data)
{
	g_autoptr(GPtrArray) open = g_ptr_array_new();
	g_ptr_array_add(open, (gpointer)frame);
	while (open->len) {
		const Frame *at = g_ptr_array_steal_index(open, open->len - 1);
		func(at, data);
		g_autoptr(GPtrArray) children = sorted_children(at);
		for (guint i = children->len; i-- > 0;)
			g_ptr_array_add(open, children->pdata[i]);
	}
}

/* (transfer container) The frames from the first below the root to FRAME. */
static GPtrArray *
stack_of(const Frame *frame)
{
	GPtrArray *stack = g_ptr_array_new();
	for (; frame->parent; frame = frame->parent)
		g_ptr_array_insert(stack, 0, (gpointer)frame);
	return stack;
}

/* --- folded --- */

static void
folded_line(const Frame *frame, gpointer data)
{
	guint64 us = frame->self_ns > 0 ? ((guint64)frame->self_ns + 500) / 1000 : 0;
	g_autoptr(GPtrArray) stack = NULL;
	if (!us)
		return;
	stack = stack_of(frame);
	for (guint i = 0; i < stack->len; i++) {
		if (i)
			wp_out_char(data, ';');
		wp_out_text(data, ((const Frame *)stack->pdata[i])->name);
	}
	wp_out_char(data, ' ');
	wp_out_uint(data, us);
	wp_out_char(data, '\n');
}

static void
folded_end(gpointer state, const WpExportEnd *end, WpOut *out)
{
	(void)end;
	walk(((Stacks *)state)->root, folded_line, out);
}

static const char *const folded_suffixes[] = { "folded", NULL };

const WpExportForm wp_export_folded = {
	.name = "folded",
	.summary = "folded stacks: self time in microseconds, for flame graphs",
	.suffixes = folded_suffixes,
	.state_size = sizeof(Stacks),
	.begin = stacks_begin,
	.trace = stacks_trace,
	.end = folded_end,
	.clear = stacks_clear,
};

/* --- speedscope --- */

typedef struct {
	WpJson json;
	GHashTable *numbers; /* name -> number + 1 */
	GPtrArray *names;    /* by number */
	guint64 sum_ns;
} Profiles;

static void
number_frame(const Frame *frame, gpointer data)
{
	Profiles *profiles = data;
	if (!frame->parent || g_hash_table_contains(profiles->numbers, frame->name))
		return;
	g_ptr_array_add(profiles->names, frame->name);
	g_hash_table_insert(profiles->numbers, frame->name, GUINT_TO_POINTER(profiles->names->len));
}

static void
add_sum(const Frame *frame, gpointer data)
{
	((Profiles *)data)->sum_ns += frame->self_ns > 0 ? (guint64)frame->self_ns : 0;
}

static void
sample(const Frame *frame, gpointer data)
{
	Profiles *profiles = data;
	if (frame->self_ns <= 0)
		return;
	g_autoptr(GPtrArray) stack = stack_of(frame);
	wp_json_open(&profiles->json, NULL, '[');
	for (guint i = 0; i < stack->len; i++) {
		const Frame *at = stack->pdata[i];
		gpointer number = g_hash_table_lookup(profiles->numbers, at->name);
		wp_json_uint(&profiles->json, NULL, GPOINTER_TO_UINT(number) - 1);
	}
	wp_json_close(&profiles->json, ']');
}

static void
weight(const Frame *frame, gpointer data)
{
	if (frame->self_ns > 0)
		wp_json_int(&((Profiles *)data)->json, NULL, frame->self_ns);
}

/* All requests that begin with the same call are a profile. */
static void
profile(Profiles *profiles, const Frame *frame)
{
	WpJson *json = &profiles->json;
	profiles->sum_ns = 0;
	walk(frame, add_sum, profiles);
	wp_json_open(json, NULL, '{');
	wp_json_text(json, "type", "sampled");
	wp_json_text(json, "name", frame->parent ? frame->name : "all requests");
	wp_json_text(json, "unit", "nanoseconds");
	wp_json_int(json, "startValue", 0);
	wp_json_int(json, "endValue", (gint64)profiles->sum_ns);
	wp_json_open(json, "samples", '[');
	walk(frame, sample, profiles);
	wp_json_close(json, ']');
	wp_json_open(json, "weights", '[');
	walk(frame, weight, profiles);
	wp_json_close(json, ']');
	wp_json_close(json, '}');
}

static void
write_frames(Profiles *profiles)
{
	WpJson *json = &profiles->json;
	wp_json_open(json, "shared", '{');
	wp_json_open(json, "frames", '[');
	for (guint i = 0; i < profiles->names->len; i++) {
		wp_json_open(json, NULL, '{');
		wp_json_text(json, "name", profiles->names->pdata[i]);
		wp_json_close(json, '}');
	}
	wp_json_close(json, ']');
	wp_json_close(json, '}');
}

static void
speedscope_end(gpointer state, const WpExportEnd *end, WpOut *out)
{
	const Stacks *stacks = state;
	g_autoptr(GHashTable) numbers = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	Profiles profiles = { { .out = out, .is_compact = TRUE }, numbers, names, 0 };
	WpJson *json = &profiles.json;
	(void)end;
	walk(stacks->root, number_frame, &profiles);
	wp_json_open(json, NULL, '{');
	wp_json_text(json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	write_frames(&profiles);
	wp_json_open(json, "profiles", '[');
	profile(&profiles, stacks->root);
	g_autoptr(GPtrArray) children = sorted_children(stacks->root);
	for (guint i = 0; i < children->len; i++)
		profile(&profiles, children->pdata[i]);
	wp_json_close(json, ']');
	wp_json_text(json, "name", "wirepath: self time");
	wp_json_int(json, "activeProfileIndex", 0);
	wp_json_text(json, "exporter", "wirepath@" PACKAGE_VERSION);
	wp_json_close(json, '}');
}

static const char *const speedscope_suffixes[] = { "speedscope.json", NULL };

const WpExportForm wp_export_speedscope = {
	.name = "speedscope",
	.summary = "self time by stack, for www.speedscope.app",
	.suffixes = speedscope_suffixes,
	.state_size = sizeof(Stacks),
	.begin = stacks_begin,
	.trace = stacks_trace,
	.end = speedscope_end,
	.clear = stacks_clear,
};
