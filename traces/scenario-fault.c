/* The groups [fault NAME] of a scenario file: what goes wrong in the system, which the truth then tells. */
#include <math.h>
#include <string.h>

#include "traces/plan.h"
#include "traces/scenario-private.h"
#include "traces/value.h"

/* What a kind is about: these keys it must have, and none of the others. */
enum {
	HAS_CALL = 1 << 0,
	HAS_NODE = 1 << 1,
	HAS_TIME = 1 << 2,
	HAS_PLAN = 1 << 3,
};

static const struct {
	const char *name;
	guint keys;
} kinds[WP_FAULT_N_KINDS] = {
	[WP_FAULT_DROP] = { "drop", HAS_CALL },
	[WP_FAULT_DELAY] = { "delay", HAS_CALL | HAS_TIME },
	[WP_FAULT_ERROR] = { "error", HAS_CALL },
	[WP_FAULT_WRONG_PEER] = { "wrong-peer", HAS_CALL | HAS_NODE },
	[WP_FAULT_EXTRA_CALL] = { "extra-call", HAS_CALL | HAS_PLAN },
	[WP_FAULT_LEADER_CHANGE] = { "leader-change", HAS_NODE },
	[WP_FAULT_SILENT_PEER] = { "silent-peer", HAS_NODE },
};

static gboolean
set_kind(Loader *loader, gpointer target, const char *value)
{
	for (guint i = 0; i < WP_FAULT_N_KINDS; i++)
		if (strcmp(value, kinds[i].name) == 0) {
			((WpSimFault *)target)->kind = (guint8)i;
			return TRUE;
		}
	return scenario_fail_value(loader, "drop, delay, error, wrong-peer, extra-call, "
					   "leader-change or silent-peer");
}

/* A service that others call, or one of its operations. */
static gboolean
set_call(Loader *loader, gpointer target, const char *value)
{
	WpSimFault *fault = target;
	const GArray *operations = loader->scenario->operations;
	const GArray *services = loader->scenario->services;

	fault->service = scenario_find_service(loader->scenario, value);
	for (guint i = 0; fault->service == WP_SIM_NONE && i < operations->len; i++) {
		const WpSimOperation *operation = &g_array_index(operations, WpSimOperation, i);
		if (strcmp(operation->name, value) != 0)
			continue;
		fault->service = operation->service;
		fault->operation = i;
	}
	if (fault->service == WP_SIM_NONE ||
	    g_array_index(services, WpSimService, fault->service).is_client)
		return scenario_fail_value(loader, "a SERVICE or SERVICE.OPERATION of this file");
	return TRUE;
}

static gboolean
set_node(Loader *loader, gpointer target, const char *value)
{
	WpSimFault *fault = target;
	const GArray *services = loader->scenario->services;

	for (guint i = 0; i < services->len; i++) {
		const WpSimService *service = &g_array_index(services, WpSimService, i);
		for (guint j = 0; j < service->nodes->len && !service->is_client; j++)
			if (strcmp(service->nodes->pdata[j], value) == 0) {
				fault->node_service = i;
				fault->replica = j;
				return TRUE;
			}
	}
	return scenario_fail_value(loader, "a node of a service of this file");
}

static gboolean
set_share(Loader *loader, gpointer target, const char *value)
{
	if (!wp_value_share(&value, &((WpSimFault *)target)->share))
		return scenario_fail_value(loader, "a share, like 10%");
	return scenario_at_end(loader, value, "a share, like 10%");
}

static gboolean
set_time(Loader *loader, gpointer target, const char *value)
{
	return scenario_set_law(loader, value, WP_LAW_TIME, &((WpSimFault *)target)->time);
}

static gboolean
set_moment(Loader *loader, const char *value, double *out_ns)
{
	if (!wp_value_duration(&value, out_ns))
		return scenario_fail_value(loader, "a time since the beginning (30s)");
	return scenario_at_end(loader, value, "a time since the beginning (30s)");
}

static gboolean
set_since(Loader *loader, gpointer target, const char *value)
{
	return set_moment(loader, value, &((WpSimFault *)target)->since_ns);
}

static gboolean
set_until(Loader *loader, gpointer target, const char *value)
{
	return set_moment(loader, value, &((WpSimFault *)target)->until_ns);
}

static const Key fault_keys[] = {
	{ "kind", set_kind },   { "call", set_call }, { "node", set_node },
	{ "share", set_share }, { "time", set_time }, { "since", set_since },
	{ "until", set_until }, { "plan", NULL },     { NULL, NULL },
};

/* What the kind needs is there, and nothing that would do nothing. */
static gboolean
check_keys(Loader *loader, const WpKeyGroup *group, guint wanted)
{
	static const struct {
		const char *name;
		guint key;
	} rows[] = { { "call", HAS_CALL },
		     { "node", HAS_NODE },
		     { "time", HAS_TIME },
		     { "plan", HAS_PLAN } };

	for (guint i = 0; i < G_N_ELEMENTS(rows); i++) {
		gboolean is_there = wp_key_group_entry(group, rows[i].name) != NULL;
		gboolean is_wanted = (wanted & rows[i].key) != 0;
		if (is_there != is_wanted)
			return wp_key_file_fail(loader->file, group->line, loader->error,
						"[%s]: \"%s\" %s", group->name, rows[i].name,
						is_wanted ? "is missing"
							  : "says nothing for this kind of fault");
	}
	return TRUE;
}

/* What calls do beforehand that meet the fault. */
static gboolean
compile_plan(Loader *loader, const WpKeyGroup *group, WpSimFault *fault)
{
	char *problem = NULL;

	loader->entry = wp_key_group_entry(group, "plan");
	if (!loader->entry)
		return TRUE;
	fault->start = loader->scenario->steps->len;
	if (!wp_plan_compile(loader->scenario, fault->service, &loader->shape, loader->entry->value,
			     &problem))
		return scenario_fail_problem(loader, problem);
	return TRUE;
}

gboolean
scenario_read_fault(Loader *loader, const WpKeyGroup *group, char **words)
{
	WpSimFault fault = { .kind = WP_FAULT_N_KINDS,
			     .service = WP_SIM_NONE,
			     .operation = WP_SIM_NONE,
			     .node_service = WP_SIM_NONE,
			     .share = 1,
			     .until_ns = INFINITY };

	if (!scenario_read_keys(loader, group, fault_keys, &fault))
		return FALSE;
	if (fault.kind == WP_FAULT_N_KINDS)
		return wp_key_file_fail(loader->file, group->line, loader->error,
					"[%s]: \"kind\" is missing", group->name);
	if (!check_keys(loader, group, kinds[fault.kind].keys))
		return FALSE;
	if (fault.until_ns <= fault.since_ns)
		return wp_key_file_fail(loader->file, group->line, loader->error,
					"[%s]: it ends before it begins", group->name);
	if (!compile_plan(loader, group, &fault))
		return FALSE;
	fault.name = g_strdup(words[0]);
	g_array_append_val(loader->scenario->faults, fault);
	return TRUE;
}
