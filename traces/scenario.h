/*
 * WpScenario: a distributed system and its users, as a file describes it (wirepath-simulate(1)), read,
 * checked and compiled for the simulator. Const once made.
 */
#ifndef WP_TRACES_SCENARIO_H
#define WP_TRACES_SCENARIO_H

#include <glib.h>

#include "traces/arrivals.h"
#include "traces/law.h"

#define WP_SIM_NONE G_MAXUINT32

/* Repeats within repeats. */
#define WP_PLAN_MAX_REPEATS 4

/* Call plans are compiled to steps. */
typedef enum {
	WP_STEP_WORK,      /* law: time on a core */
	WP_STEP_WAIT,      /* law: time on none */
	WP_STEP_CALL,      /* operation, pool, retries, timeout_ns; law: pause before a retry */
	WP_STEP_SEND,      /* operation: a message that is not answered */
	WP_STEP_SPAWN,     /* a task of its own begins here; this one goes on at target */
	WP_STEP_FORK,      /* branches follow; go on when all have ended */
	WP_STEP_BRANCH,    /* from..to times at once; the next branch is at target */
	WP_STEP_REPEAT,    /* depth, from..to; none: go on at target */
	WP_STEP_LOOP,      /* depth; once more from target */
	WP_STEP_MAYBE,     /* share: go on here, else at target */
	WP_STEP_JUMP,      /* go on at target */
	WP_STEP_IF_FAILED, /* if the last call failed go on here, else at target */
	WP_STEP_AT,        /* if this is the node's number from: go on here, else at target */
	WP_STEP_SINCE, /* since_ns..until_ns: go on here, else at target; until full_ns not always */
	WP_STEP_REPLY,   /* status */
	WP_STEP_HOLD,    /* pool: take a connection */
	WP_STEP_RELEASE, /* give it back */
	WP_STEP_END,     /* of a task */
	WP_STEP_N_KINDS
} WpStepKind;

typedef struct {
	guint8 kind;
	guint8 depth;
	guint8 status; /* WpStatus */
	guint32 target;
	guint32 from;
	guint32 to;
	guint32 operation;
	guint32 pool; /* number in the pools of this service, or WP_SIM_NONE */
	guint32 retries;
	gint64 timeout_ns; /* 0 = none */
	double since_ns;   /* virtual time */
	double full_ns;
	double until_ns;
	double share;
	WpLaw law;
} WpStep;

/* A service, or the users of one [client] group. */
typedef struct {
	char *name;
	GPtrArray *nodes; /* char *, the replicas */
	gboolean is_client;
	gboolean is_round_robin; /* else at random, but: */
	gboolean has_leader;     /* all calls go to the first node; the others stand by */
	guint32 workers;         /* calls served at a time by a node; 0 = any number */
	guint32 cores;           /* work steps at a time; 0 = any number; 1 = an event loop */
	guint32 queue;           /* calls that may wait for a worker; more are refused */
	WpLaw network;           /* one way, to and from this service */
	gboolean has_network;
	GArray *pools; /* WpSimPool: its connections to others */
} WpSimService;

typedef struct {
	guint32 callee;         /* service */
	guint32 connections;    /* of each node */
	gboolean reuses_newest; /* of those that are free, the last to come back; else the first */
} WpSimPool;

typedef struct {
	char *name; /* "service.operation"; a client's plan: its name */
	char *label;
	guint32 service;
	guint32 start; /* step */
	WpLaw request_bytes;
	WpLaw reply_bytes; /* kind NULL = sizes are not known */
} WpSimOperation;

typedef struct {
	guint32 operation;
	guint64 clients; /* closed: each sends its next request after the last one and thinking */
	WpLaw think;
	WpArrivals arrivals; /* open, where it has a kind */
} WpSimClient;

/* What can go wrong with a call. */
typedef enum {
	WP_FAULT_DROP,       /* it is lost on its way */
	WP_FAULT_DELAY,      /* it comes later, by time */
	WP_FAULT_ERROR,      /* it is answered with an error at once */
	WP_FAULT_WRONG_PEER, /* it goes to the node, which refuses what its service does not do */
	WP_FAULT_EXTRA_CALL, /* who serves it runs the plan first */
	WP_FAULT_LEADER_CHANGE, /* calls to the node's service all go to the node */
	WP_FAULT_SILENT_PEER,   /* calls to the node are lost */
	WP_FAULT_N_KINDS
} WpFaultKind;

typedef struct {
	char *name;
	guint8 kind;
	guint32 service;   /* calls to it, or WP_SIM_NONE */
	guint32 operation; /* only of this, or WP_SIM_NONE = any */
	guint32 node_service;
	guint32 replica; /* in node_service */
	guint32 start;   /* step of the plan */
	double share;    /* of calls; 0 = none */
	double since_ns; /* virtual time */
	double until_ns; /* may be infinite */
	WpLaw time;
} WpSimFault;

typedef struct {
	GArray *services;   /* WpSimService */
	GArray *operations; /* WpSimOperation */
	GArray *clients;    /* WpSimClient */
	GArray *steps;      /* WpStep */
	GArray *faults;     /* WpSimFault; a call meets the first that applies */
	guint64 requests;   /* G_MAXUINT64 = until duration_ns */
	gint64 duration_ns; /* 0 = until all requests have come */
	guint64 seed;
	double load;
} WpScenario;

/*
 * (transfer full) TEXT is a scenario; PATH is for messages. SETTINGS (NULL-ended, "name=value" or
 * "group.key=value") override it. WP_TRACES_ERROR_FORMAT or _OPTION, with the line.
 */
WpScenario *wp_scenario_new(const char *text, const char *path, const char *const *settings,
			    GError **error);
void wp_scenario_free(WpScenario *scenario);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpScenario, wp_scenario_free)

#endif
