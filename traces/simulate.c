/* The simulation itself: the system is built, events are taken one after the other, clients ask. */
#include "traces/simulate.h"

#include <math.h>

#include "traces/simulate-private.h"

/* Virtual time ends here: 137 years after 1970, far from the end of a gint64. */
#define LAST_NS (G_GINT64_CONSTANT(4330000000) * 1000000000)

/* More under way than any system carries; 150 MB. */
#define MAX_TASKS  1000000
#define MAX_VISITS 1000000

#define BLOCK_ITEMS       256
#define PROGRESS_REQUESTS 1024

static void
fail_overload(Sim *sim)
{
	if (!sim->error)
		g_set_error(&sim->error, WP_TRACES_ERROR, WP_TRACES_ERROR_LIMIT,
			    "simulating: over %d calls are under way after %.3f s: the system "
			    "cannot carry its load\nlower --load, or give it more workers",
			    MAX_VISITS, (double)(sim->now_ns - SIM_START_NS) / 1e9);
}

Task *
sim_task_new(Sim *sim, Visit *visit, guint32 step)
{
	if (!sim->free_tasks) {
		Task *block = g_new0(Task, BLOCK_ITEMS);
		g_ptr_array_add(sim->blocks, block);
		for (guint i = 0; i < BLOCK_ITEMS; i++) {
			block[i].next = sim->free_tasks;
			sim->free_tasks = &block[i];
		}
	}
	Task *task = sim->free_tasks;
	sim->free_tasks = task->next;
	*task = (Task){ .visit = visit, .step = step };
	visit->n_tasks++;
	if (++sim->n_tasks > MAX_TASKS)
		fail_overload(sim);
	return task;
}

void
sim_task_free(Sim *sim, Task *task)
{
	task->waiting = 0;
	task->next = sim->free_tasks;
	sim->free_tasks = task;
	sim->n_tasks--;
}

Visit *
sim_visit_new(Sim *sim, Node *node, const WpSimOperation *operation)
{
	if (!sim->free_visits) {
		Visit *block = g_new0(Visit, BLOCK_ITEMS);
		g_ptr_array_add(sim->blocks, block);
		for (guint i = 0; i < BLOCK_ITEMS; i++) {
			block[i].next = sim->free_visits;
			sim->free_visits = &block[i];
		}
	}
	Visit *visit = sim->free_visits;
	sim->free_visits = visit->next;
	*visit = (Visit){ .node = node, .operation = operation };
	if (++sim->n_visits > MAX_VISITS)
		fail_overload(sim);
	return visit;
}

void
sim_visit_free(Sim *sim, Visit *visit)
{
	visit->next = sim->free_visits;
	sim->free_visits = visit;
	sim->n_visits--;
}

static gboolean
is_over(const Sim *sim)
{
	return sim->is_stopping || sim->n_started >= sim->scenario->requests ||
	       (sim->scenario->duration_ns && sim->now_ns >= sim->end_ns);
}

static void
plan_arrival(Sim *sim, Loop *loop)
{
	sim_plan(sim, EVENT_REQUEST,
		 wp_arrivals_next(&loop->client->arrivals, &loop->burst_ns, &sim->random), loop, 0,
		 0);
}

static void
plan_thinking(Sim *sim, Loop *loop)
{
	sim_plan(sim, EVENT_REQUEST, wp_law_draw(&loop->client->think, &sim->random), loop, 0, 0);
}

void
sim_client_done(Sim *sim, Loop *loop)
{
	if (loop->node && !is_over(sim))
		plan_thinking(sim, loop);
}

static void
report_progress(Sim *sim)
{
	guint64 total = sim->scenario->requests;

	if (sim->options->progress && sim->n_started % PROGRESS_REQUESTS == 0 &&
	    !sim->options->progress(sim->n_started, total == G_MAXUINT64 ? 0 : total,
				    sim->options->progress_data))
		sim->is_stopping = TRUE;
}

static void
start_request(Sim *sim, const WpEvent *event)
{
	Loop *loop = event->target;
	const GArray *operations = sim->scenario->operations;
	Node *node = loop->node;

	if (is_over(sim))
		return;
	if (!node) {
		node = &loop->server->nodes[loop->server->next++ % loop->server->n_nodes];
		plan_arrival(sim, loop);
	}
	Visit *visit = sim_visit_new(
		sim, node, &g_array_index(operations, WpSimOperation, loop->client->operation));
	visit->loop = loop;
	node->n_active++;
	Task *task = sim_task_new(sim, visit, visit->operation->start);
	task->is_main = TRUE;
	sim->n_started++;
	report_progress(sim);
	sim_run(sim, task);
}

static void
resume(Sim *sim, const WpEvent *event)
{
	sim_run(sim, event->target);
}

/* The core takes up the next work first: that of this task comes behind it. */
static void
finish_work(Sim *sim, const WpEvent *event)
{
	Task *task = event->target;
	Node *node = task->visit->node;
	Task *next = sim_queue_pop(&node->core_queue);

	if (next)
		sim_plan(sim, EVENT_CORE_DONE, next->work_ns, next, 0, 0);
	else
		node->n_cores_busy--;
	task->step++;
	sim_run(sim, task);
}

typedef void (*EventFunc)(Sim *sim, const WpEvent *event);

static const EventFunc event_functions[EVENT_N_KINDS] = {
	[EVENT_RESUME] = resume,        [EVENT_CORE_DONE] = finish_work,
	[EVENT_ARRIVE] = sim_arrive,    [EVENT_REPLY] = sim_take_reply,
	[EVENT_TIMEOUT] = sim_time_out, [EVENT_REQUEST] = start_request,
};

static void
make_pools(Sim *sim, Server *server, Node *node)
{
	const GArray *pools = node->service->pools;

	node->pools = g_new0(Pool, pools->len + 1);
	for (guint i = 0; i < pools->len; i++) {
		const WpSimPool *described = &g_array_index(pools, WpSimPool, i);
		const Server *callee = &sim->servers[described->callee];
		Pool *pool = &node->pools[i];
		pool->connections = g_new0(Connection, described->connections);
		for (guint32 j = 0; j < described->connections; j++) {
			Connection *connection = &pool->connections[j];
			connection->pool = pool;
			connection->flow = ++sim->last_flow;
			connection->callee =
				callee->nodes->service->has_leader
					? callee->nodes
					: &callee->nodes[(j + (guint)(node - server->nodes)) %
							 callee->n_nodes];
			sim_connection_release(sim, connection);
		}
		pool->reuses_newest = described->reuses_newest; /* the first of all is used first */
	}
}

static void
make_system(Sim *sim, WpNodes *nodes)
{
	const GArray *services = sim->scenario->services;

	sim->servers = g_new0(Server, services->len);
	for (guint i = 0; i < services->len; i++) {
		const WpSimService *service = &g_array_index(services, WpSimService, i);
		Server *server = &sim->servers[i];
		server->n_nodes = service->nodes->len;
		server->nodes = g_new0(Node, server->n_nodes);
		for (guint j = 0; j < server->n_nodes; j++) {
			server->nodes[j].service = service;
			server->nodes[j].replica = j;
			server->nodes[j].number = wp_nodes_by_key(nodes, service->nodes->pdata[j]);
		}
	}
	for (guint i = 0; i < services->len; i++)
		for (guint j = 0; j < sim->servers[i].n_nodes; j++)
			make_pools(sim, &sim->servers[i], &sim->servers[i].nodes[j]);
}

static void
make_labels(Sim *sim, WpNodes *nodes)
{
	const GArray *operations = sim->scenario->operations;

	sim->labels = g_new0(guint32, operations->len);
	for (guint i = 0; i < operations->len; i++)
		sim->labels[i] =
			wp_strings_intern(wp_nodes_strings(nodes),
					  g_array_index(operations, WpSimOperation, i).label, -1);
}

/* How many loops CLIENT has at this load. */
static guint64
count_loops(const Sim *sim, const WpSimClient *client)
{
	if (client->arrivals.kind)
		return 1;
	return (guint64)MAX(1, floor((double)client->clients * sim->scenario->load + 0.5));
}

static void
add_loops(Sim *sim, WpSimClient *client, Loop *loops, guint64 n)
{
	const GArray *operations = sim->scenario->operations;
	guint32 service = g_array_index(operations, WpSimOperation, client->operation).service;
	Server *server = &sim->servers[service];

	for (guint64 i = 0; i < n; i++) {
		loops[i] = (Loop){ .client = client, .server = server };
		if (client->arrivals.kind) {
			plan_arrival(sim, &loops[i]);
			continue;
		}
		loops[i].node = &server->nodes[i % server->n_nodes];
		plan_thinking(sim, &loops[i]);
	}
}

/* CLIENTS: copies of the scenario's, for the load. */
static void
make_clients(Sim *sim, WpSimClient *clients)
{
	guint64 at = 0;

	for (guint i = 0; i < sim->scenario->clients->len; i++) {
		clients[i] = g_array_index(sim->scenario->clients, WpSimClient, i);
		clients[i].arrivals.gap_ns /= sim->scenario->load;
		sim->n_loops += count_loops(sim, &clients[i]);
	}
	sim->loops = g_new0(Loop, sim->n_loops);
	for (guint i = 0; i < sim->scenario->clients->len; i++) {
		guint64 n = count_loops(sim, &clients[i]);
		add_loops(sim, &clients[i], sim->loops + at, n);
		at += n;
	}
}

static void
run_events(Sim *sim)
{
	WpEvent event;

	while (!sim->error && wp_events_pop(&sim->events, &event)) {
		if (event.time_ns != sim->now_ns)
			sim->n_steps_now = 0;
		sim->now_ns = event.time_ns;
		if (sim->now_ns > LAST_NS) {
			g_set_error(&sim->error, WP_TRACES_ERROR, WP_TRACES_ERROR_LIMIT,
				    "simulating: virtual time has come to the year 2107");
			return;
		}
		event_functions[event.kind](sim, &event);
	}
}

static gboolean
put_setting(Sim *sim, const char *key, const char *value)
{
	return wp_sink_setting(sim->sink, key, value, &sim->error);
}

static gboolean
begin(Sim *sim, WpNodes *nodes)
{
	char load[G_ASCII_DTOSTR_BUF_SIZE];
	g_autofree char *seed = g_strdup_printf("%" G_GUINT64_FORMAT, sim->scenario->seed);

	g_ascii_formatd(load, sizeof load, "%g", sim->scenario->load);
	return wp_sink_begin(sim->sink, nodes, &sim->error) &&
	       (!sim->options->name || put_setting(sim, "scenario", sim->options->name)) &&
	       put_setting(sim, "seed", seed) && put_setting(sim, "load", load);
}

static void
clear(Sim *sim)
{
	const GArray *services = sim->scenario->services;

	for (guint i = 0; i < services->len; i++) {
		Server *server = &sim->servers[i];
		for (guint j = 0; j < server->n_nodes; j++) {
			const GArray *pools = server->nodes[j].service->pools;
			for (guint k = 0; k < pools->len; k++)
				g_free(server->nodes[j].pools[k].connections);
			g_free(server->nodes[j].pools);
		}
		g_free(server->nodes);
	}
	g_free(sim->servers);
	g_free(sim->labels);
	g_free(sim->loops);
	wp_events_clear(&sim->events);
	wp_counters_free(sim->counters);
	g_ptr_array_unref(sim->blocks);
}

/* Everything between begin and end of the sink. */
static gboolean
simulate(Sim *sim, WpNodes *nodes, WpSimulateResult *result)
{
	if (!begin(sim, nodes))
		return FALSE;
	run_events(sim);
	*result = (WpSimulateResult){ sim->n_started, sim->last_id, sim->n_visits, sim->n_faults,
				      sim->last_record_ns - SIM_START_NS };
	if (sim->n_visits > 0)
		wp_counters_add(sim->counters, WP_COUNT_CALLS_OPEN, sim->n_visits);
	return !sim->error && wp_sink_counters(sim->sink, sim->counters, &sim->error) &&
	       wp_sink_end(sim->sink, &sim->error);
}

gboolean
wp_simulate(const WpScenario *scenario, const WpSimulateOptions *options, WpNodes *nodes,
	    WpRecordSink *sink, WpSimulateResult *out_result, GError **error)
{
	g_autofree WpSimClient *clients = g_new0(WpSimClient, scenario->clients->len);
	Sim sim = {
		.scenario = scenario,
		.options = options,
		.steps = &g_array_index(scenario->steps, WpStep, 0),
		.sink = sink,
		.counters = wp_counters_new(),
		.now_ns = SIM_START_NS,
		.last_record_ns = SIM_START_NS,
		.end_ns = SIM_START_NS + scenario->duration_ns,
		.blocks = g_ptr_array_new_with_free_func(g_free),
	};
	WpSimulateResult result;

	wp_random_init(&sim.random, scenario->seed);
	wp_random_init(&sim.fault_random, ~scenario->seed);
	make_system(&sim, nodes);
	make_labels(&sim, nodes);
	make_clients(&sim, clients);
	gboolean ok = simulate(&sim, nodes, &result);
	clear(&sim);
	if (ok)
		*out_result = result;
	else
		g_propagate_error(error, sim.error);
	return ok;
}
