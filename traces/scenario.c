/*
 * Scenario files: groups and keys to services, operations, clients and pools. What a group may hold
 * stands in a table of keys each. Services and operations are made first, then what names them (pools,
 * then plans).
 */
#include "traces/scenario.h"

#include <string.h>

#include "traces/plan.h"
#include "traces/scenario-private.h"
#include "traces/value.h"

#define MAX_NODES       10000 /* of a service */
#define MAX_CLIENTS     1000000
#define MAX_CONNECTIONS 10000 /* of a pool */
#define MAX_GROUPS      5000

gboolean
scenario_fail_value(Loader *loader, const char *expected)
{
	return wp_key_file_fail(loader->file, loader->entry->line, loader->error,
				"%s: expected %s, not \"%.40s\"", loader->entry->name, expected,
				loader->entry->value);
}

gboolean
scenario_fail_problem(Loader *loader, char *problem)
{
	gboolean ok = wp_key_file_fail(loader->file, loader->entry->line, loader->error, "%s: %s",
				       loader->entry->name, problem);
	g_free(problem);
	return ok;
}

/* TRUE where the value ends at AT. */
gboolean
scenario_at_end(Loader *loader, const char *at, const char *expected)
{
	wp_value_skip_blanks(&at);
	return *at == '\0' || scenario_fail_value(loader, expected);
}

static gboolean
set_count(Loader *loader, const char *value, guint64 maximum, guint32 *out_count)
{
	guint64 count;

	if (!wp_value_count(value, maximum, &count) || count == 0)
		return scenario_fail_value(loader, "a whole number above 0");
	*out_count = (guint32)count;
	return TRUE;
}

gboolean
scenario_set_law(Loader *loader, const char *value, WpLawUnit unit, WpLaw *out_law)
{
	char *problem = NULL;

	if (!wp_law_read(&value, unit, out_law, &problem))
		return scenario_fail_problem(loader, problem);
	return scenario_at_end(loader, value, "one law");
}

/* [simulation] */

static gboolean
set_requests(Loader *loader, gpointer target, const char *value)
{
	if (!wp_value_count(value, G_MAXINT64, &loader->scenario->requests))
		return scenario_fail_value(loader, "a whole number");
	return TRUE;
}

static gboolean
set_duration(Loader *loader, gpointer target, const char *value)
{
	double ns;

	if (!wp_value_duration(&value, &ns) || ns < 1)
		return scenario_fail_value(loader, "a time, like 60s");
	loader->scenario->duration_ns = (gint64)ns;
	return scenario_at_end(loader, value, "a time, like 60s");
}

static gboolean
set_seed(Loader *loader, gpointer target, const char *value)
{
	if (!wp_value_count(value, G_MAXUINT64, &loader->scenario->seed))
		return scenario_fail_value(loader, "a whole number");
	return TRUE;
}

static gboolean
set_load(Loader *loader, gpointer target, const char *value)
{
	double *load = &loader->scenario->load;

	if (!wp_value_number(&value, load) || *load < 1e-6 || *load > 1e6)
		return scenario_fail_value(loader, "a factor, like 2.5");
	return scenario_at_end(loader, value, "a factor, like 2.5");
}

static gboolean
set_default_network(Loader *loader, gpointer target, const char *value)
{
	return scenario_set_law(loader, value, WP_LAW_TIME, &loader->network);
}

static gboolean
set_shape(Loader *loader, gpointer target, const char *value)
{
	char *problem = NULL;

	if (strcmp(value, "as-written") == 0)
		return TRUE;
	if (!wp_law_shape_read(&value, &loader->shape, &problem))
		return scenario_fail_problem(loader, problem);
	return scenario_at_end(loader, value, "one law");
}

static const Key simulation_keys[] = {
	{ "requests", set_requests },
	{ "duration", set_duration },
	{ "seed", set_seed },
	{ "load", set_load },
	{ "law", set_shape },
	{ "network", set_default_network },
	{ NULL, NULL },
};

/* [service NAME], and what clients share with it */

static gboolean
set_nodes(Loader *loader, gpointer target, const char *value)
{
	WpSimService *service = target;

	g_ptr_array_set_size(service->nodes, 0);
	do {
		char *name = wp_value_word(&value);
		if (!name)
			return scenario_fail_value(loader, "names of nodes with , between them");
		g_ptr_array_add(service->nodes, name);
		for (guint i = 0; i + 1 < service->nodes->len; i++)
			if (strcmp(service->nodes->pdata[i], name) == 0)
				return scenario_fail_value(loader, "each node once");
	} while (wp_value_take(&value, ',') && service->nodes->len < MAX_NODES);
	return scenario_at_end(loader, value, "names of nodes with , between them");
}

/* "3": that many, called NAME1, NAME2, ... */
static gboolean
set_replicas(Loader *loader, gpointer target, const char *value)
{
	WpSimService *service = target;
	guint32 n = 0;

	if (!set_count(loader, value, MAX_NODES, &n))
		return FALSE;
	g_ptr_array_set_size(service->nodes, 0);
	for (guint32 i = 1; i <= n; i++)
		g_ptr_array_add(service->nodes, n == 1 ? g_strdup(service->name)
						       : g_strdup_printf("%s%u", service->name, i));
	return TRUE;
}

static gboolean
set_balance(Loader *loader, gpointer target, const char *value)
{
	WpSimService *service = target;

	service->is_round_robin = strcmp(value, "round-robin") == 0;
	service->has_leader = strcmp(value, "leader") == 0;
	return service->is_round_robin || service->has_leader || strcmp(value, "random") == 0 ||
	       scenario_fail_value(loader, "random, round-robin or leader");
}

static gboolean
set_workers(Loader *loader, gpointer target, const char *value)
{
	return set_count(loader, value, G_MAXINT32, &((WpSimService *)target)->workers);
}

static gboolean
set_cores(Loader *loader, gpointer target, const char *value)
{
	return set_count(loader, value, G_MAXINT32, &((WpSimService *)target)->cores);
}

static gboolean
set_queue(Loader *loader, gpointer target, const char *value)
{
	guint64 queue;

	if (!wp_value_count(value, G_MAXINT32, &queue))
		return scenario_fail_value(loader, "a whole number");
	((WpSimService *)target)->queue = (guint32)queue;
	return TRUE;
}

static gboolean
set_network(Loader *loader, gpointer target, const char *value)
{
	WpSimService *service = target;

	service->has_network = TRUE;
	return scenario_set_law(loader, value, WP_LAW_TIME, &service->network);
}

static const Key service_keys[] = {
	{ "nodes", set_nodes },     { "replicas", set_replicas },
	{ "balance", set_balance }, { "workers", set_workers },
	{ "cores", set_cores },     { "queue", set_queue },
	{ "network", set_network }, { NULL, NULL },
};

/* [operation SERVICE.NAME] */

static gboolean
set_label(Loader *loader, gpointer target, const char *value)
{
	WpSimOperation *operation = target;

	g_free(operation->label);
	operation->label = g_strdup(value);
	return TRUE;
}

static gboolean
set_request_bytes(Loader *loader, gpointer target, const char *value)
{
	return scenario_set_law(loader, value, WP_LAW_NUMBER,
				&((WpSimOperation *)target)->request_bytes);
}

static gboolean
set_reply_bytes(Loader *loader, gpointer target, const char *value)
{
	return scenario_set_law(loader, value, WP_LAW_NUMBER,
				&((WpSimOperation *)target)->reply_bytes);
}

static const Key operation_keys[] = {
	{ "plan", NULL },
	{ "label", set_label },
	{ "request-bytes", set_request_bytes },
	{ "reply-bytes", set_reply_bytes },
	{ NULL, NULL },
};

/* [client NAME]; target: its WpSimClient */

static WpSimService *
service_of_client(Loader *loader, const WpSimClient *client)
{
	GArray *operations = loader->scenario->operations;
	guint32 service = g_array_index(operations, WpSimOperation, client->operation).service;

	return &g_array_index(loader->scenario->services, WpSimService, service);
}

static gboolean
set_client_nodes(Loader *loader, gpointer target, const char *value)
{
	return set_nodes(loader, service_of_client(loader, target), value);
}

static gboolean
set_clients(Loader *loader, gpointer target, const char *value)
{
	guint32 n = 0;

	if (!set_count(loader, value, MAX_CLIENTS, &n))
		return FALSE;
	((WpSimClient *)target)->clients = n;
	return TRUE;
}

static gboolean
set_think(Loader *loader, gpointer target, const char *value)
{
	return scenario_set_law(loader, value, WP_LAW_TIME, &((WpSimClient *)target)->think);
}

static gboolean
set_arrivals(Loader *loader, gpointer target, const char *value)
{
	WpSimClient *client = target;
	char *problem = NULL;

	if (!wp_arrivals_read(&value, &client->arrivals, &problem))
		return scenario_fail_problem(loader, problem);
	return scenario_at_end(loader, value, "one arrival process");
}

static const Key client_keys[] = {
	{ "plan", NULL },       { "nodes", set_client_nodes }, { "clients", set_clients },
	{ "think", set_think }, { "arrivals", set_arrivals },  { NULL, NULL },
};

/* [pool CALLER CALLEE] */

static gboolean
set_connections(Loader *loader, gpointer target, const char *value)
{
	return set_count(loader, value, MAX_CONNECTIONS, &((WpSimPool *)target)->connections);
}

static gboolean
set_reuse(Loader *loader, gpointer target, const char *value)
{
	gboolean is_newest = g_str_equal(value, "newest");

	((WpSimPool *)target)->reuses_newest = is_newest;
	return is_newest || g_str_equal(value, "oldest") ||
	       scenario_fail_value(loader, "oldest or newest");
}

static const Key pool_keys[] = { { "connections", set_connections },
				 { "reuse", set_reuse },
				 { NULL, NULL } };

/* Runs the setters of all keys of GROUP. */
gboolean
scenario_read_keys(Loader *loader, const WpKeyGroup *group, const Key *keys, gpointer target)
{
	for (guint i = 0; i < group->entries->len; i++) {
		const Key *key = keys;
		loader->entry = &g_array_index(group->entries, WpKeyEntry, i);
		while (key->name && strcmp(key->name, loader->entry->name) != 0)
			key++;
		if (!key->name) {
			const char *names[16] = { NULL };
			for (guint j = 0; keys[j].name; j++)
				names[j] = keys[j].name;
			g_autofree char *hint = wp_value_hint(loader->entry->name, names);
			return wp_key_file_fail(loader->file, loader->entry->line, loader->error,
						"[%s] has no key \"%s\"%s", group->name,
						loader->entry->name, hint);
		}
		if (key->set && !key->set(loader, target, loader->entry->value))
			return FALSE;
	}
	return TRUE;
}

static void
clear_service(gpointer data)
{
	WpSimService *service = data;
	g_free(service->name);
	g_ptr_array_unref(service->nodes);
	g_array_unref(service->pools);
}

static void
clear_fault(gpointer data)
{
	g_free(((WpSimFault *)data)->name);
}

static void
clear_operation(gpointer data)
{
	WpSimOperation *operation = data;
	g_free(operation->name);
	g_free(operation->label);
}

/* NAME is its first node. */
static guint32
add_service(WpScenario *scenario, const char *name, gboolean is_client)
{
	WpSimService service = { .name = g_strdup(name),
				 .is_client = is_client,
				 .queue = G_MAXUINT32 };

	service.nodes = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(service.nodes, g_strdup(name));
	service.pools = g_array_new(FALSE, FALSE, sizeof(WpSimPool));
	g_array_append_val(scenario->services, service);
	return scenario->services->len - 1;
}

static guint32
add_operation(WpScenario *scenario, guint32 service, const char *name)
{
	WpSimOperation operation = { .name = g_strdup(name),
				     .label = g_strdup(""),
				     .service = service };

	g_array_append_val(scenario->operations, operation);
	return scenario->operations->len - 1;
}

guint32
scenario_find_service(const WpScenario *scenario, const char *name)
{
	for (guint i = 0; i < scenario->services->len; i++)
		if (strcmp(g_array_index(scenario->services, WpSimService, i).name, name) == 0)
			return i;
	return WP_SIM_NONE;
}

static gboolean
fail_service(Loader *loader, const WpKeyGroup *group, const char *name)
{
	const GArray *services = loader->scenario->services;
	g_autoptr(GPtrArray) names = g_ptr_array_new();

	for (guint i = 0; i < services->len; i++)
		g_ptr_array_add(names, g_array_index(services, WpSimService, i).name);
	g_ptr_array_add(names, NULL);
	g_autofree char *hint = wp_value_hint(name, (const char *const *)names->pdata);
	return wp_key_file_fail(loader->file, group->line, loader->error,
				"[%s]: there is no service \"%s\"%s", group->name, name, hint);
}

/* WORDS: those behind the kind of the group. Each kind of group has its reader, run in this order. */

static gboolean
read_simulation(Loader *loader, const WpKeyGroup *group, char **words)
{
	return scenario_read_keys(loader, group, simulation_keys, NULL);
}

static gboolean
read_service(Loader *loader, const WpKeyGroup *group, char **words)
{
	if (scenario_find_service(loader->scenario, words[0]) != WP_SIM_NONE ||
	    strchr(words[0], '.'))
		return wp_key_file_fail(loader->file, group->line, loader->error,
					"[%s]: the name is taken, or has a point", group->name);
	guint32 service = add_service(loader->scenario, words[0], FALSE);
	return scenario_read_keys(
		loader, group, service_keys,
		&g_array_index(loader->scenario->services, WpSimService, service));
}

static gboolean
read_operation(Loader *loader, const WpKeyGroup *group, char **words)
{
	const char *point = strchr(words[0], '.');

	if (!point || !point[1])
		return wp_key_file_fail(loader->file, group->line, loader->error,
					"[%s]: write [operation SERVICE.NAME]", group->name);
	g_autofree char *name = g_strndup(words[0], (gsize)(point - words[0]));
	guint32 service = scenario_find_service(loader->scenario, name);
	if (service == WP_SIM_NONE)
		return fail_service(loader, group, name);
	guint32 operation = add_operation(loader->scenario, service, words[0]);
	return scenario_read_keys(
		loader, group, operation_keys,
		&g_array_index(loader->scenario->operations, WpSimOperation, operation));
}

static gboolean
read_client(Loader *loader, const WpKeyGroup *group, char **words)
{
	WpScenario *scenario = loader->scenario;
	WpSimClient client = { .clients = 1 };

	if (scenario_find_service(scenario, words[0]) != WP_SIM_NONE)
		return wp_key_file_fail(loader->file, group->line, loader->error,
					"[%s]: the name is taken", group->name);
	guint32 service = add_service(scenario, words[0], TRUE);
	client.operation = add_operation(scenario, service, words[0]);
	if (!scenario_read_keys(loader, group, client_keys, &client))
		return FALSE;
	if (client.arrivals.kind &&
	    (wp_key_group_entry(group, "clients") || wp_key_group_entry(group, "think")))
		return wp_key_file_fail(loader->file, group->line, loader->error,
					"[%s]: write either arrivals, or clients and think",
					group->name);
	g_array_append_val(scenario->clients, client);
	return TRUE;
}

static gboolean
read_pool(Loader *loader, const WpKeyGroup *group, char **words)
{
	GArray *services = loader->scenario->services;
	guint32 caller = scenario_find_service(loader->scenario, words[0]);
	WpSimPool pool = { scenario_find_service(loader->scenario, words[1]), 0, FALSE };

	if (caller == WP_SIM_NONE || pool.callee == WP_SIM_NONE)
		return fail_service(loader, group, words[caller != WP_SIM_NONE]);
	if (!scenario_read_keys(loader, group, pool_keys, &pool))
		return FALSE;
	if (pool.connections == 0)
		return wp_key_file_fail(loader->file, group->line, loader->error,
					"[%s]: \"connections\" is missing", group->name);
	g_array_append_val(g_array_index(services, WpSimService, caller).pools, pool);
	return TRUE;
}

/* Its values stand in all others already. */
static gboolean
read_parameters(Loader *loader, const WpKeyGroup *group, char **words)
{
	return TRUE;
}

typedef struct {
	const char *name;
	guint n_words;
	const char *form;
	gboolean (*read)(Loader *loader, const WpKeyGroup *group, char **words);
} GroupKind;

static const GroupKind group_kinds[] = {
	{ "parameters", 0, "[parameters]", read_parameters },
	{ "simulation", 0, "[simulation]", read_simulation },
	{ "service", 1, "[service NAME]", read_service },
	{ "operation", 1, "[operation SERVICE.NAME]", read_operation },
	{ "client", 1, "[client NAME]", read_client },
	{ "pool", 2, "[pool CALLER CALLEE]", read_pool },
	{ "fault", 1, "[fault NAME]", scenario_read_fault },
};

static gboolean
check_group(Loader *loader, const WpKeyGroup *group)
{
	const char *names[G_N_ELEMENTS(group_kinds) + 1] = { NULL };
	g_auto(GStrv) words = g_strsplit(group->name, " ", -1);

	for (guint i = 0; i < G_N_ELEMENTS(group_kinds); i++) {
		names[i] = group_kinds[i].name;
		if (strcmp(words[0], names[i]) != 0)
			continue;
		if (g_strv_length(words) == group_kinds[i].n_words + 1)
			return TRUE;
		return wp_key_file_fail(loader->file, group->line, loader->error,
					"the group is written %s", group_kinds[i].form);
	}
	g_autofree char *hint = wp_value_hint(words[0], names);
	return wp_key_file_fail(loader->file, group->line, loader->error,
				"there is no group [%s]%s", group->name, hint);
}

static gboolean
read_groups(Loader *loader)
{
	const GArray *groups = loader->file->groups;

	if (groups->len > MAX_GROUPS)
		return wp_key_file_fail(loader->file, 1, loader->error, "over %d groups",
					MAX_GROUPS);
	for (guint i = 0; i < groups->len; i++)
		if (!check_group(loader, &g_array_index(groups, WpKeyGroup, i)))
			return FALSE;
	for (guint kind = 0; kind < G_N_ELEMENTS(group_kinds); kind++)
		for (guint i = 0; i < groups->len; i++) {
			const WpKeyGroup *group = &g_array_index(groups, WpKeyGroup, i);
			g_auto(GStrv) words = g_strsplit(group->name, " ", -1);
			if (strcmp(words[0], group_kinds[kind].name) == 0 &&
			    !group_kinds[kind].read(loader, group, words + 1))
				return FALSE;
		}
	return TRUE;
}

/* The group that describes OPERATION. */
static const WpKeyGroup *
group_of(Loader *loader, const WpSimOperation *operation)
{
	const WpSimService *service =
		&g_array_index(loader->scenario->services, WpSimService, operation->service);
	g_autofree char *name = g_strdup_printf(
		"%s %s", service->is_client ? "client" : "operation", operation->name);

	return wp_key_file_group(loader->file, name);
}

static gboolean
compile_plans(Loader *loader)
{
	WpScenario *scenario = loader->scenario;

	for (guint i = 0; i < scenario->operations->len; i++) {
		WpSimOperation *operation = &g_array_index(scenario->operations, WpSimOperation, i);
		const WpKeyGroup *group = group_of(loader, operation);
		char *problem = NULL;
		loader->entry = wp_key_group_entry(group, "plan");
		if (!loader->entry)
			return wp_key_file_fail(loader->file, group->line, loader->error,
						"[%s]: \"plan\" is missing", group->name);
		operation->start = scenario->steps->len;
		if (!wp_plan_compile(scenario, operation->service, &loader->shape,
				     loader->entry->value, &problem))
			return scenario_fail_problem(loader, problem);
	}
	return TRUE;
}

/* Defaults that depend on other groups; what is missing. */
static gboolean
finish(Loader *loader)
{
	WpScenario *scenario = loader->scenario;

	for (guint i = 0; i < scenario->services->len; i++) {
		WpSimService *service = &g_array_index(scenario->services, WpSimService, i);
		if (!service->has_network)
			service->network = loader->network;
	}
	if (scenario->clients->len == 0)
		return wp_key_file_fail(loader->file, 1, loader->error,
					"there is no [client NAME]: nobody calls");
	if (scenario->requests == G_MAXUINT64 && scenario->duration_ns == 0)
		scenario->requests = 1000;
	return TRUE;
}

/* The names that --set knows without their group. */
static gboolean
fail_setting(Loader *loader, const char *name)
{
	const WpKeyGroup *parameters = wp_key_file_group(loader->file, "parameters");
	g_autoptr(GPtrArray) names = g_ptr_array_new();

	for (guint i = 0; parameters && i < parameters->entries->len; i++)
		g_ptr_array_add(names, g_array_index(parameters->entries, WpKeyEntry, i).name);
	for (const Key *key = simulation_keys; key->name; key++)
		g_ptr_array_add(names, (gpointer)key->name);
	g_ptr_array_add(names, NULL);
	g_autofree char *hint = wp_value_hint(name, (const char *const *)names->pdata);
	return wp_key_file_fail(loader->file, 0, loader->error, "there is no parameter \"%s\"%s",
				name, hint);
}

static gboolean
is_simulation_key(const char *name)
{
	for (const Key *key = simulation_keys; key->name; key++)
		if (strcmp(key->name, name) == 0)
			return TRUE;
	return FALSE;
}

/* "group.key": the last point divides them. */
static gboolean
set_in_group(Loader *loader, const char *name, const char *value)
{
	const char *point = strrchr(name, '.');
	g_autofree char *group_name = point ? g_strndup(name, (gsize)(point - name)) : NULL;
	WpKeyGroup *group = point ? wp_key_file_group(loader->file, group_name) : NULL;

	if (!group)
		return fail_setting(loader, name);
	wp_key_group_set(group, point + 1, value);
	return TRUE;
}

static gboolean
apply_setting(Loader *loader, const char *setting)
{
	const char *equals = strchr(setting, '=');
	WpKeyGroup *parameters = wp_key_file_group(loader->file, "parameters");

	if (!equals || equals == setting)
		return wp_key_file_fail(loader->file, 0, loader->error,
					"write NAME=VALUE, not \"%s\"", setting);
	g_autofree char *name = g_strndup(setting, (gsize)(equals - setting));
	if (parameters && wp_key_group_entry(parameters, name))
		wp_key_group_set(parameters, name, equals + 1);
	else if (is_simulation_key(name))
		wp_key_group_set(wp_key_file_make_group(loader->file, "simulation"), name,
				 equals + 1);
	else
		return set_in_group(loader, name, equals + 1);
	return TRUE;
}

static WpScenario *
scenario_new(void)
{
	WpScenario *scenario = g_new0(WpScenario, 1);

	scenario->services = g_array_new(FALSE, FALSE, sizeof(WpSimService));
	scenario->operations = g_array_new(FALSE, FALSE, sizeof(WpSimOperation));
	scenario->clients = g_array_new(FALSE, FALSE, sizeof(WpSimClient));
	scenario->steps = g_array_new(FALSE, FALSE, sizeof(WpStep));
	g_array_set_clear_func(scenario->services, clear_service);
	scenario->faults = g_array_new(FALSE, FALSE, sizeof(WpSimFault));
	g_array_set_clear_func(scenario->operations, clear_operation);
	g_array_set_clear_func(scenario->faults, clear_fault);
	scenario->requests = G_MAXUINT64;
	scenario->seed = 1;
	scenario->load = 1;
	return scenario;
}

void
wp_scenario_free(WpScenario *scenario)
{
	if (!scenario)
		return;
	g_array_unref(scenario->services);
	g_array_unref(scenario->operations);
	g_array_unref(scenario->clients);
	g_array_unref(scenario->steps);
	g_array_unref(scenario->faults);
	g_free(scenario);
}

WpScenario *
wp_scenario_new(const char *text, const char *path, const char *const *settings, GError **error)
{
	g_autoptr(WpKeyFile) file = wp_key_file_new(text, path, error);
	g_autoptr(WpScenario) scenario = scenario_new();
	Loader loader = { .scenario = scenario, .file = file, .error = error };

	if (!file)
		return NULL;
	for (; settings && *settings; settings++)
		if (!apply_setting(&loader, *settings))
			return NULL;
	if (!wp_key_file_expand(file, "parameters", error) || !read_groups(&loader) ||
	    !finish(&loader) || !compile_plans(&loader))
		return NULL;
	return g_steal_pointer(&scenario);
}
