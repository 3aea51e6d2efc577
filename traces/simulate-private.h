/*
 * What the parts of the simulator share.
 *
 *     Loop (a client) --starts--> Visit (a call being served, at a Node) --has--> Task, Task, ...
 *                                   ^                                               |
 *                                   `-------------------- calls --------------------'
 *
 * A task runs through the steps of its operation's plan. Its visit's first task answers the call; more
 * come from parallel branches (which it waits for) and from spawn (which it does not).
 */
#ifndef WP_TRACES_SIMULATE_PRIVATE_H
#define WP_TRACES_SIMULATE_PRIVATE_H

#include "traces/events.h"
#include "traces/simulate.h"

/* 2003-10-19 00:00:00 UTC, when the paper was presented: a date that nobody takes for a measurement. */
#define SIM_START_NS (G_GINT64_CONSTANT(1066521600) * 1000000000)

typedef struct Task Task;
typedef struct Visit Visit;
typedef struct Node Node;
typedef struct Pool Pool;
typedef struct Connection Connection;

struct Connection {
	Connection *next; /* in the free ones of its pool */
	Pool *pool;
	Node *callee;
	guint32 flow;
};

typedef struct {
	Task *head;
	Task *tail;
} TaskQueue;

/* The connections of a node to a service. */
struct Pool {
	Connection *connections; /* all */
	Connection *free_head;   /* is used next */
	Connection *free_tail;
	gboolean reuses_newest; /* the last to come back becomes the head, else the tail */
	TaskQueue waiting;
};

struct Node {
	const WpSimService *service;
	guint32 number;   /* in WpNodes */
	guint32 replica;  /* in its service, from 0 */
	guint32 n_active; /* visits that have a worker */
	guint32 n_queued;
	guint32 n_cores_busy;
	Visit *queue_head; /* waiting for a worker */
	Visit *queue_tail;
	TaskQueue core_queue;
	Pool *pools; /* as service->pools */
};

typedef struct {
	Node *nodes;
	guint n_nodes;
	guint32 next; /* round robin */
} Server;

/* Clients: one that closes its loop, or all of an open process. */
typedef struct {
	const WpSimClient *client;
	Server *server;
	Node *node; /* closed: its own */
	double burst_ns;
} Loop;

struct Visit {
	guint64 id; /* of the call; 0 = a client's request */
	Node *node;
	Node *caller_node;
	Task *caller; /* its memory may serve another task by now: caller->waiting tells */
	Loop *loop;   /* a client's, else NULL */
	Visit *next;
	const WpSimOperation *operation;
	const WpSimOperation *root;
	const WpSimFault *fault; /* NULL = none */
	guint32 flow;
	guint32 n_tasks;
	guint8 has_replied;
	guint8 is_one_way;
};

struct Task {
	Visit *visit;
	Task *next;             /* in a queue, or free */
	Task *parent;           /* waits for this branch; NULL = none */
	Connection *connection; /* of the call under way */
	Connection *held;
	guint64 waiting; /* id of the call whose reply is awaited; 0 = none */
	gint64 work_ns;
	guint32 step;
	guint32 n_branches;
	guint32 n_tries;
	guint32 counters[WP_PLAN_MAX_REPEATS];
	guint8 has_failed; /* the last call */
	guint8 is_main;
};

typedef struct {
	const WpScenario *scenario;
	const WpSimulateOptions *options;
	const WpStep *steps;
	WpRecordSink *sink;
	WpCounters *counters;
	WpRandom random;
	WpRandom fault_random; /* its own: but for the faults, runs with and without are alike */
	WpEvents events;
	gint64 now_ns;
	guint64 n_steps_now; /* taken without time going on */
	Server *servers;     /* as scenario->services */
	Loop *loops;
	guint64 n_loops;
	guint32 *labels; /* as scenario->operations */
	Task *free_tasks;
	Visit *free_visits;
	GPtrArray *blocks; /* memory of tasks and visits */
	guint64 n_tasks;
	guint64 n_visits;
	guint64 last_id;
	guint64 n_faults;
	guint32 last_flow;
	guint64 n_started; /* requests */
	gint64 end_ns;
	gint64 last_record_ns;
	gboolean is_stopping;
	Task *next_task; /* to run when the current one stops */
	GError *error;
} Sim;

typedef enum {
	EVENT_RESUME,    /* task */
	EVENT_CORE_DONE, /* task */
	EVENT_ARRIVE,    /* visit */
	EVENT_REPLY,     /* task, serial: id of the call, status */
	EVENT_TIMEOUT,   /* task, serial: id of the call */
	EVENT_REQUEST,   /* loop */
	EVENT_N_KINDS
} EventKind;

static inline void
sim_plan(Sim *sim, EventKind kind, gint64 delay_ns, gpointer target, guint64 serial, guint8 status)
{
	wp_events_push(&sim->events, (WpEvent){ .time_ns = sim->now_ns + delay_ns,
						.target = target,
						.serial = serial,
						.kind = (guint8)kind,
						.status = status });
}

static inline void
sim_queue_push(TaskQueue *queue, Task *task)
{
	task->next = NULL;
	if (queue->tail)
		queue->tail->next = task;
	else
		queue->head = task;
	queue->tail = task;
}

static inline Task *
sim_queue_pop(TaskQueue *queue)
{
	Task *task = queue->head;

	if (task) {
		queue->head = task->next;
		if (!queue->head)
			queue->tail = NULL;
	}
	return task;
}

/* simulate.c: memory */
Task *sim_task_new(Sim *sim, Visit *visit, guint32 step);
void sim_task_free(Sim *sim, Task *task);
Visit *sim_visit_new(Sim *sim, Node *node, const WpSimOperation *operation);
void sim_visit_free(Sim *sim, Visit *visit);

/* simulate-steps.c: runs TASK until it has to wait. */
void sim_run(Sim *sim, Task *task);

/* simulate-calls.c */

/* From a visit to the operation of STEP: over CONNECTION (NULL = a new one, of no number). */
void sim_send_call(Sim *sim, Task *task, const WpStep *step, Connection *connection);
void sim_send_message(Sim *sim, Task *task, const WpStep *step);
void sim_reply(Sim *sim, Visit *visit, WpStatus status);

/* A connection to call over or to hold; NULL: TASK has to wait, and goes on by itself. */
Connection *sim_connection_take(Sim *sim, Pool *pool, Task *task);
void sim_connection_release(Sim *sim, Connection *connection);

/* Its plan has come to its end. */
void sim_visit_finish(Sim *sim, Visit *visit);

/* simulate-faults.c: what goes wrong with a call to OPERATION that is about to leave for *NODE. NULL: nothing. */
const WpSimFault *sim_fault_draw(Sim *sim, guint32 operation, Node **node);

/* How much later a call comes that meets FAULT; negative: never. FAULT may be NULL. */
gint64 sim_fault_delay(Sim *sim, const WpSimFault *fault);

/* TRUE where the node answers VISIT with an error and does nothing. */
gboolean sim_fault_refuses(const Sim *sim, const Visit *visit);

/* Handlers of events. */
void sim_arrive(Sim *sim, const WpEvent *event);
void sim_take_reply(Sim *sim, const WpEvent *event);
void sim_time_out(Sim *sim, const WpEvent *event);

/* simulate.c: the next request of a client that closes its loop. */
void sim_client_done(Sim *sim, Loop *loop);

#endif
