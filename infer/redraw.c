/*
 * A simulation by events. Each call that is open at its callee has one piece of work at hand, or waits for calls of its to
 * return. A host on real time is done with a piece when its time is over; one with a clock of its own keeps
 * its pieces by when they are due on that clock, which goes at another rate with all that comes and goes. But where
 * a host is seen to take its pieces one after the other in order of when they could begin (an event loop), it does
 * so here: then a piece has taken from when the one before was done. Where a few workers take messages from a queue,
 * a message waits for one of them, and has taken from when one took it up.
 */
#include "infer/redraw.h"

#include <math.h>

#include "infer/nesting-clock.h"

#define NONE   G_MAXUINT32
#define FAR_NS (G_MAXINT64 / 2)

/* Pieces that waited for others, to tell whether a host works in order; and how many of them may have been overtaken. */
#define MIN_WAITED    100
#define MAX_OVERTAKEN 0.25 /* by chance it is half of them; some links are wrong */

/* What a call does next: makes a call, or returns itself. */
typedef struct {
	guint32 span;
	guint32 n_returns; /* calls that have to return first, and none of the actions before needs */
	gboolean goes_on; /* with what the one before began: nothing was waited for */
	gint64 ready_ns;  /* when its work could begin, as found */
	gint64 time_ns;   /* ... and it was done */
	double work;      /* ns by the host's clock */
} Action;

/* Something that happens to a span, or to a host. */
typedef enum {
	CALLED,   /* a span, at its caller */
	ARRIVED,  /* ... at its callee */
	RETURNED, /* ... back at its caller */
	WORKED,   /* ... its next action is due, at a host without a clock, or in order */
	DUE,      /* a host with a clock: what is due first, if nothing has changed since */
} EventKind;

typedef struct {
	gint64 time_ns;
	guint64 number; /* in order of making: of two at one time the first */
	EventKind kind;
	guint32 subject;
	guint32 turn; /* of the host, when it was said what is due */
} Event;

/* A piece of work of a span's next action. */
typedef struct {
	double due; /* by the clock of its host */
	guint64 number;
	guint32 span;
} Work;

typedef struct {
	WpPace pace;      /* 0: real time, and nothing below matters */
	GSequence *works; /* Work, by due: what is worked at */
	double at;        /* its clock, ... */
	gint64 at_ns;     /* ... at this time */
	guint32 turn;     /* changes so far */
	gboolean is_in_order;
	GQueue waiting;    /* in order: spans whose next action is ready; with workers: that came */
	gboolean is_busy;  /* ... with one that was */
	guint32 n_at_work; /* workers */
} Host;

typedef struct {
	const WpSpan *spans;
	const WpLink *links;
	const WpRedrawPlan *plan;
	guint32 n;
	guint32 n_hosts;
	Host *hosts;
	GArray *actions;     /* Action, of each span in order */
	guint32 *first;      /* by span: into actions; [n + 1] */
	guint32 *next;       /* by span: the action at hand */
	guint32 *n_returned; /* by action: of n_returns */
	guint32 *needed_by;  /* by span: the action that has to wait for its return, or NONE */
	GSequence *events;   /* Event */
	guint64 n_made;      /* events and works */
	gint64 now_ns;
	WpQuickLog quick;
	gint64 *call_shift_ns;
	gint64 *return_shift_ns;
} Redraw;

/* --- hosts --- */

static void
init_hosts(Redraw *redraw, const WpLinks *links)
{
	wp_quick_log_init(&redraw->quick);
	redraw->n_hosts = links->n_paces;
	redraw->hosts = g_new0(Host, MAX(redraw->n_hosts, 1));
	for (guint32 h = 0; h < redraw->n_hosts; h++) {
		redraw->hosts[h].pace = links->paces[h];
		redraw->hosts[h].works = g_sequence_new(g_free);
	}
}

static void
clear_hosts(Redraw *redraw)
{
	for (guint32 h = 0; h < redraw->n_hosts; h++) {
		g_sequence_free(redraw->hosts[h].works);
		g_queue_clear(&redraw->hosts[h].waiting);
	}
	g_free(redraw->hosts);
}

/* NULL where HOST goes by real time, and nothing stands in line. */
static Host *
clocked(const Redraw *redraw, guint32 host)
{
	if (host >= redraw->n_hosts)
		return NULL;
	Host *self = &redraw->hosts[host];
	return self->pace.pace > 0 || self->pace.n_takes > 0 ? self : NULL;
}

/* NULL where those who come to HOST wait for no worker. */
static Host *
queued(const Redraw *redraw, guint32 host)
{
	return host < redraw->n_hosts && redraw->hosts[host].pace.workers > 0 ? &redraw->hosts[host]
									      : NULL;
}

/* --- what each call does --- */

typedef enum {
	MAKES,
	GETS,
	REPLIES
} StepKind; /* of steps at one time, in this order */

typedef struct {
	gint64 time_ns;
	StepKind kind;
	guint32 span;
} Step;

static gint
compare_steps(gconstpointer a, gconstpointer b)
{
	const Step *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (x->span > y->span) - (x->span < y->span);
}

static void
add_step(GArray *steps, gint64 time_ns, StepKind kind, guint32 span)
{
	Step step = { time_ns, kind, span };
	g_array_append_val(steps, step);
}

/* Sets STEPS to what SPAN, with CHILDREN, did. */
static void
find_steps(const Redraw *redraw, guint32 number, const guint32 *children, guint32 n, GArray *steps)
{
	const WpSpan *span = &redraw->spans[number];

	g_array_set_size(steps, 0);
	for (guint32 i = 0; i < n; i++) {
		const WpSpan *child = &redraw->spans[children[i]];
		add_step(steps, child->call_ns, MAKES, children[i]);
		if (wp_span_is_paired(child))
			add_step(steps, child->return_ns, GETS, children[i]);
	}
	if (wp_span_is_paired(span))
		add_step(steps, wp_span_replied_ns(span), REPLIES, number);
	g_array_sort(steps, compare_steps);
}

/* Appends the actions among STEPS of SPAN. */
static void
add_actions(Redraw *redraw, const WpSpan *span, const GArray *steps)
{
	gint64 ready_ns = wp_span_served_ns(span);
	guint32 n_returns = 0, first = redraw->actions->len, last = first;

	for (guint i = 0; i < steps->len; i++)
		last += g_array_index(steps, Step, i).kind != GETS;
	for (guint i = 0; i < steps->len; i++) {
		const Step *step = &g_array_index(steps, Step, i);
		guint32 next = redraw->actions->len;
		if (step->kind == GETS && next < last) {
			redraw->needed_by[step->span] = next;
			n_returns++;
		} else if (step->kind != GETS) {
			Action action = { .span = step->span,
					  .n_returns = n_returns,
					  .goes_on = next > first && n_returns == 0,
					  .ready_ns = ready_ns,
					  .time_ns = MAX(step->time_ns, ready_ns) };
			g_array_append_val(redraw->actions, action);
			n_returns = 0;
		}
		ready_ns = MAX(ready_ns, step->time_ns);
	}
}

/* --- how long the work takes --- */

static gint
compare_actions(gconstpointer a, gconstpointer b)
{
	const Action *x = *(const Action *const *)a, *y = *(const Action *const *)b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x > y) - (x < y); /* in one array */
}

/* DONE: the actions of a host by time. */
static gboolean
find_order(const GPtrArray *done)
{
	const Action *before = NULL; /* that did not go on with another */
	guint n_waited = 0, n_overtaken = 0;

	for (guint i = 0; i < done->len; i++) {
		const Action *action = done->pdata[i];
		if (action->goes_on)
			continue;
		if (before && action->ready_ns < ((const Action *)done->pdata[i - 1])->time_ns) {
			n_waited++;
			n_overtaken += before->ready_ns > action->ready_ns;
		}
		before = action;
	}
	return n_waited >= MIN_WAITED && n_overtaken <= MAX_OVERTAKEN * n_waited;
}

/* When the work of an action could begin, or was done. */
typedef struct {
	gint64 time_ns;
	Action *action;
	gboolean is_end;
} Turn;

static gint
compare_turns(gconstpointer a, gconstpointer b)
{
	const Turn *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	if (x->action != y->action)
		return x->action < y->action ? -1 : 1; /* in one array */
	return x->is_end - y->is_end;
}

/* By a clock that goes the slower the more actions of DONE are worked at. */
static void
measure_by_clock(const Redraw *redraw, const WpPace *pace, const GPtrArray *done)
{
	g_autoptr(GArray) turns = g_array_sized_new(FALSE, FALSE, sizeof(Turn), 2 * done->len);
	gint64 before_ns = 0;
	double at = 0;
	guint32 n = 0;

	for (guint i = 0; i < done->len; i++) {
		Action *action = done->pdata[i];
		Turn begin = { action->ready_ns, action, FALSE },
		     end = { action->time_ns, action, TRUE };
		g_array_append_val(turns, begin);
		g_array_append_val(turns, end);
	}
	g_array_sort(turns, compare_turns);
	for (guint i = 0; i < turns->len; i++) {
		const Turn *turn = &g_array_index(turns, Turn, i);
		if (n > 0)
			at += (double)(turn->time_ns - before_ns) *
			      wp_pace_rate(&redraw->quick, pace, n);
		before_ns = turn->time_ns;
		turn->action->work = turn->is_end ? at - turn->action->work : at;
		n += turn->is_end ? -1 : 1;
	}
}

/* In order: since the action before was done. */
static void
measure_in_order(const GPtrArray *done)
{
	gint64 before_ns = G_MININT64;

	for (guint i = 0; i < done->len; i++) {
		Action *action = done->pdata[i];
		action->work = (double)(action->time_ns - MAX(action->ready_ns, before_ns));
		before_ns = action->time_ns;
	}
}

/* A span with actions, which waits for a worker. */
typedef struct {
	gint64 came_ns;
	guint32 host;
	guint32 span;
} Comer;

static gint
compare_comers(gconstpointer a, gconstpointer b)
{
	const Comer *x = a, *y = b;

	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	if (x->came_ns != y->came_ns)
		return x->came_ns < y->came_ns ? -1 : 1;
	return (x->span > y->span) - (x->span < y->span);
}

/* COMER is taken up by the one of N workers who is done first, at FREE_NS. */
static void
take_up(Redraw *redraw, const Comer *comer, gint64 *free_ns, guint32 n)
{
	guint32 first = redraw->first[comer->span], end = redraw->first[comer->span + 1];
	Action *action = &g_array_index(redraw->actions, Action, first);
	guint32 who = 0;

	for (guint32 i = 1; i < n; i++)
		if (free_ns[i] < free_ns[who])
			who = i;
	action->ready_ns = MAX(action->ready_ns, free_ns[who]);
	action->time_ns = MAX(action->time_ns, action->ready_ns);
	free_ns[who] =
		MAX(action->time_ns, g_array_index(redraw->actions, Action, end - 1).time_ns);
}

/* What waits for a worker has not begun before. */
static void
find_taken_up(Redraw *redraw)
{
	g_autoptr(GArray) comers = g_array_new(FALSE, FALSE, sizeof(Comer));
	g_autoptr(GArray) free_ns = g_array_new(FALSE, FALSE, sizeof(gint64));
	const gint64 never_ns = G_MININT64;

	for (guint32 i = 0; i < redraw->n; i++) {
		const WpSpan *span = &redraw->spans[i];
		Comer comer = { wp_span_served_ns(span), span->callee_host, i };
		if (queued(redraw, comer.host) && redraw->first[i] < redraw->first[i + 1])
			g_array_append_val(comers, comer);
	}
	g_array_sort(comers, compare_comers);
	for (guint i = 0; i < comers->len; i++) {
		const Comer *comer = &g_array_index(comers, Comer, i);
		guint32 n = redraw->hosts[comer->host].pace.workers;
		if (i == 0 || comer->host != comer[-1].host) {
			g_array_set_size(free_ns, 0);
			for (guint32 k = 0; k < n; k++)
				g_array_append_val(free_ns, never_ns);
		}
		take_up(redraw, comer, (gint64 *)(void *)free_ns->data, n);
	}
}

static void
find_works(Redraw *redraw)
{
	g_autoptr(GPtrArray) done =
		g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);

	for (guint32 h = 0; h < redraw->n_hosts; h++)
		g_ptr_array_add(done, g_ptr_array_new());
	for (guint32 i = 0; i < redraw->n; i++) {
		const Host *host = clocked(redraw, redraw->spans[i].callee_host);
		for (guint32 a = redraw->first[i]; a < redraw->first[i + 1]; a++) {
			Action *action = &g_array_index(redraw->actions, Action, a);
			if (host)
				g_ptr_array_add(done->pdata[host - redraw->hosts], action);
			else
				action->work = (double)(action->time_ns - action->ready_ns);
		}
	}
	for (guint32 h = 0; h < redraw->n_hosts; h++) {
		Host *host = &redraw->hosts[h];
		g_ptr_array_sort(done->pdata[h], compare_actions);
		host->is_in_order = host->pace.n_takes > 0 || find_order(done->pdata[h]);
		if (host->is_in_order)
			measure_in_order(done->pdata[h]);
		else
			measure_by_clock(redraw, &host->pace, done->pdata[h]);
	}
}

/* (transfer full) The spans on paths by parent: those of span I begin at
 * OUT_FIRST[I]. */
static guint32 *
find_children(const Redraw *redraw, guint32 **out_first)
{
	guint32 *first = g_new0(guint32, (gsize)redraw->n + 2);
	guint32 *children = g_new(guint32, MAX(redraw->n, 1));

	for (guint32 i = 0; i < redraw->n; i++)
		if (redraw->plan->root_of[i] != WP_NO_SPAN && redraw->plan->root_of[i] != i)
			first[redraw->links[i].parent + 2]++;
	for (guint32 i = 0; i < redraw->n; i++)
		first[i + 2] += first[i + 1];
	for (guint32 i = 0; i < redraw->n; i++)
		if (redraw->plan->root_of[i] != WP_NO_SPAN && redraw->plan->root_of[i] != i)
			children[first[redraw->links[i].parent + 1]++] = i;
	*out_first = first;
	return children;
}

static void
find_actions(Redraw *redraw)
{
	g_autofree guint32 *first = NULL;
	g_autofree guint32 *children = find_children(redraw, &first);
	g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(Step));

	redraw->actions = g_array_new(FALSE, FALSE, sizeof(Action));
	redraw->first = g_new(guint32, (gsize)redraw->n + 1);
	redraw->needed_by = g_new(guint32, MAX(redraw->n, 1));
	for (guint32 i = 0; i < redraw->n; i++)
		redraw->needed_by[i] = NONE;
	for (guint32 i = 0; i < redraw->n; i++) {
		redraw->first[i] = redraw->actions->len;
		if (redraw->plan->root_of[i] == WP_NO_SPAN)
			continue;
		find_steps(redraw, i, children + first[i], first[i + 1] - first[i], steps);
		add_actions(redraw, &redraw->spans[i], steps);
	}
	redraw->first[redraw->n] = redraw->actions->len;
	find_taken_up(redraw);
	find_works(redraw);
	redraw->next = g_memdup2(redraw->first, (gsize)(redraw->n + 1) * sizeof(guint32));
	redraw->n_returned = g_new0(guint32, MAX(redraw->actions->len, 1));
}

/* --- what happens --- */

static gint
compare_events(gconstpointer a, gconstpointer b, gpointer data)
{
	const Event *x = a, *y = b;

	(void)data;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static void
expect_at(Redraw *redraw, gint64 time_ns, EventKind kind, guint32 subject)
{
	Event *event = g_new(Event, 1);
	*event = (Event){ MAX(time_ns, redraw->now_ns), redraw->n_made++, kind, subject, 0 };
	if (kind == DUE)
		event->turn = redraw->hosts[subject].turn;
	g_sequence_insert_sorted(redraw->events, event, compare_events, NULL);
}

/* So long from now; but not beyond what times of records may be. */
static void
expect(Redraw *redraw, double after_ns, EventKind kind, guint32 subject)
{
	gboolean is_far = (double)redraw->now_ns + after_ns > (double)FAR_NS;
	expect_at(redraw, is_far ? FAR_NS : redraw->now_ns + (gint64)after_ns, kind, subject);
}

static gint
compare_works(gconstpointer a, gconstpointer b, gpointer data)
{
	const Work *x = a, *y = b;

	(void)data;
	if (x->due < y->due || x->due > y->due)
		return x->due < y->due ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static double
rate_of(const Redraw *redraw, const Host *host)
{
	return wp_pace_rate(&redraw->quick, &host->pace,
			    (guint32)g_sequence_get_length(host->works));
}

/* The clock of HOST until now. */
static void
advance(const Redraw *redraw, Host *host)
{
	host->at += (double)(redraw->now_ns - host->at_ns) * rate_of(redraw, host);
	host->at_ns = redraw->now_ns;
}

static const Work *
first_work(const Host *host)
{
	GSequenceIter *iter = g_sequence_get_begin_iter(host->works);
	return g_sequence_iter_is_end(iter) ? NULL : g_sequence_get(iter);
}

/* Says when the first piece of work of HOST is due, as things stand. */
static void
foretell(Redraw *redraw, Host *host)
{
	const Work *work = first_work(host);

	host->turn++;
	if (!work)
		return;
	double left_ns = ceil(MAX(work->due - host->at, 0) / rate_of(redraw, host));
	expect(redraw, left_ns, DUE, (guint32)(host - redraw->hosts));
}

/* HOST, which works in order, takes what has waited longest. */
static void
take_next(Redraw *redraw, Host *host)
{
	if (host->is_busy || g_queue_is_empty(&host->waiting))
		return;
	guint32 number = GPOINTER_TO_UINT(g_queue_pop_head(&host->waiting));
	const Action *action = &g_array_index(redraw->actions, Action, redraw->next[number]);
	host->is_busy = TRUE;
	expect(redraw, action->work, WORKED, number);
}

static void
work_in_order(Redraw *redraw, Host *host, guint32 number, gboolean goes_on)
{
	if (goes_on)
		g_queue_push_head(&host->waiting, GUINT_TO_POINTER(number));
	else
		g_queue_push_tail(&host->waiting, GUINT_TO_POINTER(number));
	take_next(redraw, host);
}

static void
work_by_clock(Redraw *redraw, Host *host, guint32 number, double work_ns)
{
	Work *work = g_new(Work, 1);

	advance(redraw, host);
	*work = (Work){ host->at + work_ns, redraw->n_made++, number };
	g_sequence_insert_sorted(host->works, work, compare_works, NULL);
	foretell(redraw, host);
}

/* Begins what SPAN does next, where all has returned that it needs. */
static void
begin_work(Redraw *redraw, guint32 number)
{
	guint32 next = redraw->next[number];
	Host *host = clocked(redraw, redraw->spans[number].callee_host);

	if (next == redraw->first[number + 1])
		return;
	const Action *action = &g_array_index(redraw->actions, Action, next);
	if (redraw->n_returned[next] < action->n_returns)
		return;
	if (!host)
		expect(redraw, action->work, WORKED, number);
	else if (host->is_in_order)
		work_in_order(redraw, host, number, action->goes_on);
	else
		work_by_clock(redraw, host, number, action->work);
}

/* SPAN has come to its callee: a worker takes it up, or it waits for one. */
static void
arrive(Redraw *redraw, guint32 number)
{
	Host *host = queued(redraw, redraw->spans[number].callee_host);

	if (host && redraw->next[number] < redraw->first[number + 1]) {
		if (host->n_at_work == host->pace.workers) {
			g_queue_push_tail(&host->waiting, GUINT_TO_POINTER(number));
			return;
		}
		host->n_at_work++;
	}
	begin_work(redraw, number);
}

/* A worker is done with SPAN, and takes up what has waited longest. */
static void
leave(Redraw *redraw, guint32 number)
{
	Host *host = queued(redraw, redraw->spans[number].callee_host);

	if (!host || redraw->next[number] < redraw->first[number + 1])
		return;
	if (g_queue_is_empty(&host->waiting))
		host->n_at_work--;
	else
		begin_work(redraw, GPOINTER_TO_UINT(g_queue_pop_head(&host->waiting)));
}

/* SPAN is called. */
static void
call(Redraw *redraw, guint32 number)
{
	const WpSpan *span = &redraw->spans[number];

	redraw->call_shift_ns[number] = redraw->return_shift_ns[number] =
		redraw->now_ns - span->call_ns;
	expect(redraw, (double)span->way_in_ns, ARRIVED, number);
}

/* What SPAN does next is done. */
static void
act(Redraw *redraw, guint32 number)
{
	const WpSpan *span = &redraw->spans[number];
	guint32 done = g_array_index(redraw->actions, Action, redraw->next[number]++).span;

	if (done != number)
		call(redraw, done);
	else
		expect(redraw, (double)span->way_out_ns, RETURNED, number);
	begin_work(redraw, number);
	leave(redraw, number);
}

/* Whoever called SPAN has its return. */
static void
get_back(Redraw *redraw, guint32 number)
{
	const WpSpan *span = &redraw->spans[number];
	const WpRedrawPlan *plan = redraw->plan;
	guint32 action = redraw->needed_by[number], parent = redraw->links[number].parent;

	redraw->return_shift_ns[number] = redraw->now_ns - span->return_ns;
	if (plan->next[number] != WP_NO_SPAN)
		expect(redraw, (double)plan->pause_ns[plan->next[number]], CALLED,
		       plan->next[number]);
	if (action == NONE)
		return;
	redraw->n_returned[action]++;
	if (redraw->next[parent] == action)
		begin_work(redraw, parent);
}

/* The work of SPAN at hand is over, at a host on real time or one that works in
 * order. */
static void
end_work(Redraw *redraw, guint32 number)
{
	Host *host = clocked(redraw, redraw->spans[number].callee_host);

	if (host)
		host->is_busy = FALSE;
	act(redraw, number);
	if (host)
		take_next(redraw, host);
}

static void
do_works(Redraw *redraw, const Event *event)
{
	Host *host = &redraw->hosts[event->subject];
	const Work *work;

	if (event->turn != host->turn)
		return;
	advance(redraw, host);
	while ((work = first_work(host)) && work->due <= host->at + 0.5) { /* ns */
		guint32 number = work->span;
		g_sequence_remove(g_sequence_get_begin_iter(host->works));
		act(redraw, number);
	}
	foretell(redraw, host);
}

static void
happen(Redraw *redraw, const Event *event)
{
	switch (event->kind) {
	case CALLED:
		call(redraw, event->subject);
		break;
	case ARRIVED:
		arrive(redraw, event->subject);
		break;
	case RETURNED:
		get_back(redraw, event->subject);
		break;
	case WORKED:
		end_work(redraw, event->subject);
		break;
	case DUE:
		do_works(redraw, event);
		break;
	}
}

static void
expect_first(Redraw *redraw)
{
	const WpRedrawPlan *plan = redraw->plan;

	for (guint32 i = 0; i < redraw->n; i++)
		if (plan->root_of[i] == i && plan->pause_ns[i] < 0)
			expect_at(redraw, redraw->spans[i].call_ns + redraw->call_shift_ns[i],
				  CALLED, i);
}

static void
run(Redraw *redraw)
{
	GSequenceIter *iter = g_sequence_get_begin_iter(redraw->events);

	/* Clocks begin with the first event: what has passed on them stays small, and
   * exact. */
	if (!g_sequence_iter_is_end(iter))
		for (guint32 h = 0; h < redraw->n_hosts; h++)
			redraw->hosts[h].at_ns = ((Event *)g_sequence_get(iter))->time_ns;
	while (!g_sequence_is_empty(redraw->events)) {
		iter = g_sequence_get_begin_iter(redraw->events);
		const Event event = *(Event *)g_sequence_get(iter);
		g_sequence_remove(iter);
		redraw->now_ns = event.time_ns;
		happen(redraw, &event);
	}
}

void
wp_redraw(const WpResolved *resolved, const WpLinks *links, const WpRedrawPlan *plan,
	  gint64 *call_shift_ns, gint64 *return_shift_ns)
{
	const WpSpans *spans = wp_resolved_spans(resolved);
	Redraw redraw = { .spans = spans->spans,
			  .links = links->links,
			  .plan = plan,
			  .n = spans->n,
			  .events = g_sequence_new(g_free),
			  .now_ns = G_MININT64,
			  .call_shift_ns = call_shift_ns,
			  .return_shift_ns = return_shift_ns };

	init_hosts(&redraw, links);
	find_actions(&redraw);
	expect_first(&redraw);
	run(&redraw);
	clear_hosts(&redraw);
	g_array_unref(redraw.actions);
	g_free(redraw.first);
	g_free(redraw.next);
	g_free(redraw.n_returned);
	g_free(redraw.needed_by);
	g_sequence_free(redraw.events);
}
