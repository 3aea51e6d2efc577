/* Tasks run through call plans: one function a kind of step. Each returns TRUE to go on at once. */
#include "traces/simulate-private.h"

/* Steps without any time going on: a plan that would never end. */
#define MAX_STEPS_NOW 20000000

static gboolean
step_work(Sim *sim, Task *task, const WpStep *step)
{
	Node *node = task->visit->node;

	task->work_ns = wp_law_draw(&step->law, &sim->random);
	if (node->service->cores == 0) {
		task->step++;
		if (task->work_ns > 0)
			sim_plan(sim, EVENT_RESUME, task->work_ns, task, 0, 0);
		return task->work_ns == 0;
	}
	if (node->n_cores_busy == node->service->cores) {
		sim_queue_push(&node->core_queue, task);
		return FALSE;
	}
	node->n_cores_busy++;
	sim_plan(sim, EVENT_CORE_DONE, task->work_ns, task, 0, 0);
	return FALSE;
}

static gboolean
step_wait(Sim *sim, Task *task, const WpStep *step)
{
	gint64 ns = wp_law_draw(&step->law, &sim->random);

	task->step++;
	if (ns > 0)
		sim_plan(sim, EVENT_RESUME, ns, task, 0, 0);
	return ns == 0;
}

static gboolean
step_call(Sim *sim, Task *task, const WpStep *step)
{
	Connection *connection = NULL;

	if (step->pool != WP_SIM_NONE) {
		Pool *pool = &task->visit->node->pools[step->pool];
		connection = task->held && task->held->pool == pool
				     ? task->held
				     : sim_connection_take(sim, pool, task);
		if (!connection)
			return FALSE;
	}
	sim_send_call(sim, task, step, connection);
	return FALSE;
}

static gboolean
step_send(Sim *sim, Task *task, const WpStep *step)
{
	sim_send_message(sim, task, step);
	task->step++;
	return TRUE;
}

static gboolean
step_spawn(Sim *sim, Task *task, const WpStep *step)
{
	Task *spawned = sim_task_new(sim, task->visit, task->step + 1);

	sim_plan(sim, EVENT_RESUME, 0, spawned, 0, 0);
	task->step = step->target;
	return TRUE;
}

static guint32
draw_range(Sim *sim, const WpStep *step)
{
	return step->from + (step->to > step->from
				     ? wp_random_below(&sim->random, step->to - step->from + 1)
				     : 0);
}

static gboolean
step_fork(Sim *sim, Task *task, const WpStep *step)
{
	guint32 at = task->step + 1;

	task->n_branches = 0;
	for (; sim->steps[at].kind == WP_STEP_BRANCH; at = sim->steps[at].target) {
		guint32 n = draw_range(sim, &sim->steps[at]);
		for (guint32 i = 0; i < n; i++) {
			Task *branch = sim_task_new(sim, task->visit, at + 1);
			branch->parent = task;
			task->n_branches++;
			sim_plan(sim, EVENT_RESUME, 0, branch, 0, 0);
		}
	}
	task->step = at;
	return task->n_branches == 0;
}

static gboolean
step_repeat(Sim *sim, Task *task, const WpStep *step)
{
	guint32 n = draw_range(sim, step);

	task->counters[step->depth] = n;
	task->step = n > 0 ? task->step + 1 : step->target;
	return TRUE;
}

static gboolean
step_loop(Sim *sim, Task *task, const WpStep *step)
{
	task->step = --task->counters[step->depth] > 0 ? step->target : task->step + 1;
	return TRUE;
}

static gboolean
step_maybe(Sim *sim, Task *task, const WpStep *step)
{
	gboolean here = step->share >= 1 || wp_random_share(&sim->random) < step->share;

	task->step = here ? task->step + 1 : step->target;
	return TRUE;
}

static gboolean
step_jump(Sim *sim, Task *task, const WpStep *step)
{
	task->step = step->target;
	return TRUE;
}

static gboolean
step_if_failed(Sim *sim, Task *task, const WpStep *step)
{
	task->step = task->has_failed ? task->step + 1 : step->target;
	return TRUE;
}

static gboolean
step_at(Sim *sim, Task *task, const WpStep *step)
{
	task->step = task->visit->node->replica == step->from ? task->step + 1 : step->target;
	return TRUE;
}

/* Between since_ns and full_ns ever more often. */
static gboolean
step_since(Sim *sim, Task *task, const WpStep *step)
{
	double now_ns = (double)(sim->now_ns - SIM_START_NS);
	gboolean goes_on = now_ns >= step->since_ns && now_ns < step->until_ns;

	if (goes_on && now_ns < step->full_ns)
		goes_on = wp_random_share(&sim->random) <
			  (now_ns - step->since_ns) / (step->full_ns - step->since_ns);
	task->step = goes_on ? task->step + 1 : step->target;
	return TRUE;
}

static gboolean
step_reply(Sim *sim, Task *task, const WpStep *step)
{
	sim_reply(sim, task->visit, step->status);
	task->step++;
	return TRUE;
}

static gboolean
step_hold(Sim *sim, Task *task, const WpStep *step)
{
	task->held = sim_connection_take(sim, &task->visit->node->pools[step->pool], task);
	if (!task->held)
		return FALSE;
	task->step++;
	return TRUE;
}

static void
release_held(Sim *sim, Task *task)
{
	if (task->held)
		sim_connection_release(sim, task->held);
	task->held = NULL;
}

static gboolean
step_release(Sim *sim, Task *task, const WpStep *step)
{
	release_held(sim, task);
	task->step++;
	return TRUE;
}

static gboolean
step_end(Sim *sim, Task *task, const WpStep *step)
{
	Visit *visit = task->visit;

	release_held(sim, task);
	if (task->parent && --task->parent->n_branches == 0)
		sim->next_task = task->parent;
	if (task->is_main)
		sim_visit_finish(sim, visit);
	sim_task_free(sim, task);
	if (--visit->n_tasks == 0)
		sim_visit_free(sim, visit);
	return FALSE;
}

static gboolean
step_branch(Sim *sim, Task *task, const WpStep *step)
{
	g_assert_not_reached(); /* the fork passes over it */
}

typedef gboolean (*StepFunc)(Sim *sim, Task *task, const WpStep *step);

static const StepFunc step_functions[WP_STEP_N_KINDS] = {
	[WP_STEP_WORK] = step_work,       [WP_STEP_WAIT] = step_wait,
	[WP_STEP_CALL] = step_call,       [WP_STEP_SEND] = step_send,
	[WP_STEP_SPAWN] = step_spawn,     [WP_STEP_FORK] = step_fork,
	[WP_STEP_BRANCH] = step_branch,   [WP_STEP_REPEAT] = step_repeat,
	[WP_STEP_LOOP] = step_loop,       [WP_STEP_MAYBE] = step_maybe,
	[WP_STEP_JUMP] = step_jump,       [WP_STEP_IF_FAILED] = step_if_failed,
	[WP_STEP_AT] = step_at,           [WP_STEP_SINCE] = step_since,
	[WP_STEP_REPLY] = step_reply,     [WP_STEP_HOLD] = step_hold,
	[WP_STEP_RELEASE] = step_release, [WP_STEP_END] = step_end,
};

void
sim_run(Sim *sim, Task *task)
{
	while (task && !sim->error) {
		const WpStep *step;
		sim->next_task = NULL;
		do
			step = &sim->steps[task->step];
		while (step_functions[step->kind](sim, task, step) &&
		       ++sim->n_steps_now < MAX_STEPS_NOW);
		if (sim->n_steps_now >= MAX_STEPS_NOW && !sim->error)
			g_set_error(&sim->error, WP_TRACES_ERROR, WP_TRACES_ERROR_LIMIT,
				    "simulating: over %d steps at the same time, in a plan of %s; "
				    "give it work or wait",
				    MAX_STEPS_NOW, task->visit->operation->name);
		task = sim->next_task;
	}
}
