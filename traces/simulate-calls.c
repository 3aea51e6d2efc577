/*
 * Calls: which replica, over which connection; arriving, waiting for a worker; replies, timeouts and
 * retries; and the records and the truth of all that.
 */
#include "traces/simulate-private.h"

static const WpSimOperation *
operation_of(const Sim *sim, const WpStep *step)
{
	return &g_array_index(sim->scenario->operations, WpSimOperation, step->operation);
}

static Node *
pick_node(Sim *sim, guint32 service)
{
	Server *server = &sim->servers[service];
	guint32 i = 0;

	if (server->nodes->service->has_leader)
		return server->nodes;
	if (server->n_nodes > 1 && server->nodes->service->is_round_robin)
		i = server->next++ % server->n_nodes;
	else if (server->n_nodes > 1)
		i = wp_random_below(&sim->random, server->n_nodes);
	return &server->nodes[i];
}

static gint64
network_delay(Sim *sim, const Visit *visit)
{
	return wp_law_draw(&visit->node->service->network, &sim->random);
}

static void
emit(Sim *sim, WpKind kind, const Visit *visit, WpStatus status)
{
	const WpSimOperation *operation = visit->operation;
	gboolean is_return = kind == WP_KIND_RETURN;
	const WpLaw *bytes = is_return ? &operation->reply_bytes : &operation->request_bytes;
	gsize number =
		(gsize)(operation - &g_array_index(sim->scenario->operations, WpSimOperation, 0));
	WpRecord record = {
		.begin_ns = sim->now_ns,
		.end_ns = sim->now_ns,
		.id = visit->id,
		.bytes = bytes->kind ? (guint64)wp_law_draw(bytes, &sim->random) : WP_NO_SIZE,
		.sender = is_return ? visit->node->number : visit->caller_node->number,
		.receiver = is_return ? visit->caller_node->number : visit->node->number,
		.flow = visit->flow,
		.label = sim->labels[number],
		.kind = (guint8)kind,
		.status = (guint8)status,
	};

	sim->last_record_ns = sim->now_ns;
	if (!sim->error)
		wp_sink_record(sim->sink, &record, NULL, &sim->error);
}

static void
tell_truth(Sim *sim, const Visit *visit, guint64 parent)
{
	if (sim->options->truth && !sim->error)
		sim->options->truth(visit->id, parent, visit->root->name,
				    visit->fault ? visit->fault->name : NULL,
				    sim->options->truth_data, &sim->error);
}

/* A visit to the operation of STEP, as yet on its way to NODE, or where a fault leads it. */
static Visit *
depart(Sim *sim, Task *task, const WpStep *step, Node *node)
{
	const WpSimOperation *operation = operation_of(sim, step);
	const WpSimFault *fault = sim_fault_draw(sim, step->operation, &node);
	Visit *from = task->visit, *visit = sim_visit_new(sim, node, operation);

	visit->id = ++sim->last_id;
	visit->caller_node = from->node;
	visit->root = from->loop ? operation : from->root;
	visit->fault = fault;
	return visit;
}

/* It arrives, unless a fault takes it. */
static void
travel(Sim *sim, Visit *visit)
{
	gint64 network_ns = network_delay(sim, visit);
	gint64 later_ns = sim_fault_delay(sim, visit->fault);

	if (later_ns < 0)
		sim_visit_free(sim, visit);
	else
		sim_plan(sim, EVENT_ARRIVE, network_ns + later_ns, visit, 0, 0);
}

void
sim_send_call(Sim *sim, Task *task, const WpStep *step, Connection *connection)
{
	Node *node =
		connection ? connection->callee : pick_node(sim, operation_of(sim, step)->service);
	Visit *visit = depart(sim, task, step, node);

	visit->caller = task;
	visit->flow = connection && connection->callee == visit->node ? connection->flow : 0;
	task->waiting = visit->id;
	task->connection = connection;
	wp_counters_add(sim->counters, WP_COUNT_CALLS, 1);
	emit(sim, WP_KIND_CALL, visit, WP_STATUS_UNKNOWN);
	tell_truth(sim, visit, task->visit->id);
	if (step->timeout_ns)
		sim_plan(sim, EVENT_TIMEOUT, step->timeout_ns, task, visit->id, 0);
	travel(sim, visit);
}

void
sim_send_message(Sim *sim, Task *task, const WpStep *step)
{
	Node *node = pick_node(sim, operation_of(sim, step)->service);
	Visit *visit = depart(sim, task, step, node);

	visit->is_one_way = TRUE;
	wp_counters_add(sim->counters, WP_COUNT_MESSAGES, 1);
	emit(sim, WP_KIND_MESSAGE, visit, WP_STATUS_UNKNOWN);
	tell_truth(sim, visit, task->visit->id);
	travel(sim, visit);
}

/* A caller whose time ran out has closed the connection: nothing is sent. */
void
sim_reply(Sim *sim, Visit *visit, WpStatus status)
{
	if (visit->has_replied)
		return;
	visit->has_replied = TRUE;
	if (!visit->caller)
		return;
	if (visit->caller->waiting != visit->id) {
		wp_counters_add(sim->counters, WP_COUNT_CALLS_RESET, 1);
		return;
	}
	wp_counters_add(sim->counters, WP_COUNT_RETURNS, 1);
	emit(sim, WP_KIND_RETURN, visit, status);
	sim_plan(sim, EVENT_REPLY, network_delay(sim, visit), visit->caller, visit->id,
		 (guint8)status);
}

Connection *
sim_connection_take(Sim *sim, Pool *pool, Task *task)
{
	Connection *connection = pool->free_head;

	if (!connection) {
		sim_queue_push(&pool->waiting, task);
		return NULL;
	}
	pool->free_head = connection->next;
	if (!pool->free_head)
		pool->free_tail = NULL;
	return connection;
}

/* TASK has waited for CONNECTION, to call over it or to hold it. */
static void
hand_over(Sim *sim, Task *task, Connection *connection)
{
	const WpStep *step = &sim->steps[task->step];

	if (step->kind == WP_STEP_CALL) {
		sim_send_call(sim, task, step, connection);
		return;
	}
	task->held = connection;
	task->step++;
	sim_plan(sim, EVENT_RESUME, 0, task, 0, 0);
}

void
sim_connection_release(Sim *sim, Connection *connection)
{
	Pool *pool = connection->pool;
	Task *task = sim_queue_pop(&pool->waiting);

	if (task) {
		hand_over(sim, task, connection);
		return;
	}
	if (pool->reuses_newest && pool->free_head) {
		connection->next = pool->free_head;
		pool->free_head = connection;
		return;
	}
	connection->next = NULL;
	if (pool->free_tail)
		pool->free_tail->next = connection;
	else
		pool->free_head = connection;
	pool->free_tail = connection;
}

/* The call of TASK is over: on to the next try or the next step. */
static void
end_call(Sim *sim, Task *task, gboolean has_failed)
{
	const WpStep *step = &sim->steps[task->step];
	Connection *connection = task->connection;

	task->waiting = 0;
	task->connection = NULL;
	if (connection && connection != task->held)
		sim_connection_release(sim, connection);
	if (has_failed && task->n_tries < step->retries) {
		task->n_tries++;
		sim_plan(sim, EVENT_RESUME, wp_law_draw(&step->law, &sim->random), task, 0, 0);
		return;
	}
	task->n_tries = 0;
	task->has_failed = (guint8)has_failed;
	task->step++;
	sim_run(sim, task);
}

void
sim_take_reply(Sim *sim, const WpEvent *event)
{
	Task *task = event->target;

	if (task->waiting == event->serial)
		end_call(sim, task, event->status != WP_STATUS_OK);
}

void
sim_time_out(Sim *sim, const WpEvent *event)
{
	Task *task = event->target;

	if (task->waiting != event->serial)
		return;
	if (task->connection)
		task->connection->flow = ++sim->last_flow; /* closed, and opened anew */
	end_call(sim, task, TRUE);
}

/* The task to begin with. */
static Task *
begin_visit(Sim *sim, Visit *visit)
{
	Task *task = sim_task_new(sim, visit, visit->operation->start);

	task->is_main = TRUE;
	visit->node->n_active++;
	if (!visit->fault || visit->fault->kind != WP_FAULT_EXTRA_CALL)
		return task;
	Task *first = sim_task_new(sim, visit, visit->fault->start);
	first->parent = task;
	task->n_branches = 1;
	return first;
}

static void
refuse(Sim *sim, Visit *visit)
{
	sim_reply(sim, visit, WP_STATUS_ERROR);
	sim_visit_free(sim, visit);
}

void
sim_arrive(Sim *sim, const WpEvent *event)
{
	Visit *visit = event->target;
	Node *node = visit->node;
	const WpSimService *service = node->service;

	if (sim_fault_refuses(sim, visit)) {
		refuse(sim, visit);
		return;
	}
	if (service->workers == 0 || node->n_active < service->workers) {
		sim_run(sim, begin_visit(sim, visit));
		return;
	}
	if (node->n_queued >= service->queue) {
		refuse(sim, visit);
		return;
	}
	visit->next = NULL;
	if (node->queue_tail)
		node->queue_tail->next = visit;
	else
		node->queue_head = visit;
	node->queue_tail = visit;
	node->n_queued++;
}

/* A worker has become free. */
static void
begin_next_visit(Sim *sim, Node *node)
{
	Visit *visit = node->queue_head;

	if (!visit)
		return;
	node->queue_head = visit->next;
	if (!node->queue_head)
		node->queue_tail = NULL;
	node->n_queued--;
	sim_plan(sim, EVENT_RESUME, 0, begin_visit(sim, visit), 0, 0);
}

void
sim_visit_finish(Sim *sim, Visit *visit)
{
	sim_reply(sim, visit, WP_STATUS_OK);
	visit->node->n_active--;
	if (visit->loop)
		sim_client_done(sim, visit->loop);
	else
		begin_next_visit(sim, visit->node);
}
