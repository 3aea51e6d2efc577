/*
 * WpDoctorRules: from where on a check of wirepath doctor speaks; defaults, and files that change them:
 *
 *     [doctor]
 *     risk = 0.5%
 *     [peers]
 *     min-change = 50%
 */
#ifndef WP_REPORT_DOCTOR_RULES_H
#define WP_REPORT_DOCTOR_RULES_H

#include <glib.h>

typedef struct {
	double risk;         /* that anything is found where nothing is */
	double matters;      /* what concerns a smaller share of all time, or calls, is not told */
	double peer_change;  /* replicas: relative difference from the others */
	double time_change;  /* bins of time: likewise */
	double time_far;     /* ... and so many robust standard deviations */
	double drift_change; /* from the beginning to the end */
	double follow;       /* correlation of two nodes */
	double lane_wait;    /* share of the time at a node that calls wait for the call before */
	double lane_waited; /* of the calls over a pool of connections: share that wait for a free one */
	double pair_lost; /* of what is acquired: share that is never given back */
	double pair_idle; /* of the time for which transactions are held: share without a call */
	double pair_cost; /* of all time: what acquiring anew what could be kept takes */
	gint64 row;       /* equal calls in a row */
	gint64 min_calls; /* of a node and kind: with fewer nothing is said */
} WpDoctorRules;

/* A rule, as files and pages name it. */
typedef struct {
	const char *group;
	const char *key;
	gboolean is_count; /* gint64; else a share or number: double */
	gboolean is_share;
	gsize offset;
	double minimum;
	double maximum;
} WpDoctorRule;

/* NULL-group-ended. */
extern const WpDoctorRule wp_doctor_rules[];

void wp_doctor_rules_init(WpDoctorRules *rules);
double wp_doctor_rule_value(const WpDoctorRules *rules, const WpDoctorRule *rule);

/* Errors: WP_REPORT_ERROR_OPEN; WP_REPORT_ERROR_DATA: a group, key or value that is none, in words. */
gboolean wp_doctor_rules_read(WpDoctorRules *rules, const char *path, GError **error);

#endif
