/* A table of rules; a key file sets them, and what it names that is no rule is an error. */
#include "report/doctor-rules.h"

#include <string.h>

#include "report/error.h"
#include "report/format.h"
#include "report/options.h"

/* A file of rules has at most so many bytes. */
#define MAX_FILE 1000000

#define AT(member) .offset = offsetof(WpDoctorRules, member)

const WpDoctorRule wp_doctor_rules[] = {
	{ "doctor", "risk", .is_share = TRUE, AT(risk), 1e-9, 0.5 },
	{ "doctor", "matters", .is_share = TRUE, AT(matters), 0, 1 },
	{ "doctor", "min-calls", .is_count = TRUE, AT(min_calls), 10, 1e9 },
	{ "peers", "min-change", .is_share = TRUE, AT(peer_change), 0, 1e6 },
	{ "times", "min-change", .is_share = TRUE, AT(time_change), 0, 1e6 },
	{ "times", "min-deviations", AT(time_far), 1, 1e6 },
	{ "drift", "min-change", .is_share = TRUE, AT(drift_change), 0, 1e6 },
	{ "together", "min-correlation", AT(follow), 0, 1 },
	{ "lanes", "min-waiting", .is_share = TRUE, AT(lane_wait), 0, 1 },
	{ "lanes", "min-waited", .is_share = TRUE, AT(lane_waited), 0, 1 },
	{ "pairs", "min-lost", .is_share = TRUE, AT(pair_lost), 0, 1 },
	{ "pairs", "min-idle", .is_share = TRUE, AT(pair_idle), 0, 1 },
	{ "pairs", "min-cost", .is_share = TRUE, AT(pair_cost), 0, 1 },
	{ "rows", "min-calls", .is_count = TRUE, AT(row), 2, 1e6 },
	{ .group = NULL },
};

void
wp_doctor_rules_init(WpDoctorRules *rules)
{
	*rules = (WpDoctorRules){
		.risk = 0.005,
		.matters = 0.005,
		.peer_change = 0.25,
		.time_change = 1,
		.time_far = 6,
		.drift_change = 0.2,
		.follow = 0.7,
		.lane_wait = 0.6,
		.lane_waited = 0.2,
		.pair_lost = 0.01,
		.pair_idle = 0.95,
		.pair_cost = 0.05,
		.row = 5,
		.min_calls = 100,
	};
}

double
wp_doctor_rule_value(const WpDoctorRules *rules, const WpDoctorRule *rule)
{
	const char *at = (const char *)rules + rule->offset;
	if (rule->is_count)
		return (double)*(const gint64 *)(const void *)at;
	return *(const double *)(const void *)at;
}

static void
set_value(WpDoctorRules *rules, const WpDoctorRule *rule, double value)
{
	char *at = (char *)rules + rule->offset;
	if (rule->is_count)
		*(gint64 *)(void *)at = (gint64)value;
	else
		*(double *)(void *)at = value;
}

static gboolean
parse_value(const WpDoctorRule *rule, const char *text, double *out_value)
{
	gint64 count;
	gboolean is_good;
	if (rule->is_count) {
		is_good = wp_parse_int(text, &count);
		*out_value = is_good ? (double)count : 0;
	} else {
		is_good = rule->is_share ? wp_parse_share(text, out_value)
					 : wp_parse_double(text, out_value);
	}
	return is_good && *out_value >= rule->minimum && *out_value <= rule->maximum;
}

/* (transfer full) What is wrong with GROUP, or with KEY in it. */
static char *
unknown(const char *group, const char *key)
{
	const char *names[G_N_ELEMENTS(wp_doctor_rules) + 1] = { NULL };
	guint n = 0;
	for (const WpDoctorRule *rule = wp_doctor_rules; rule->group; rule++)
		if (key && strcmp(rule->group, group) == 0)
			names[n++] = rule->key;
		else if (!key && (!n || strcmp(names[n - 1], rule->group) != 0))
			names[n++] = rule->group;
	g_autofree char *known = g_strjoinv(", ", (char **)names);
	return key ? g_strdup_printf("there is no key \"%s\" in [%s]\nthere are %s", key, group,
				     known)
		   : g_strdup_printf("there is no group [%s]\nthere are %s", group, known);
}

/* NULL, and *HAS_GROUP, where there is none. */
static const WpDoctorRule *
find_rule(const char *group, const char *key, gboolean *has_group)
{
	*has_group = FALSE;
	for (const WpDoctorRule *rule = wp_doctor_rules; rule->group; rule++) {
		if (strcmp(rule->group, group) != 0)
			continue;
		*has_group = TRUE;
		if (strcmp(rule->key, key) == 0)
			return rule;
	}
	return NULL;
}

/* (transfer full) What is wrong with KEY of GROUP, or NULL. */
static char *
read_key(WpDoctorRules *rules, GKeyFile *file, const char *group, const char *key)
{
	gboolean has_group;
	const WpDoctorRule *rule = find_rule(group, key, &has_group);
	if (!rule)
		return unknown(group, has_group ? key : NULL);
	g_autofree char *text = g_key_file_get_value(file, group, key, NULL);
	double value = 0;
	if (text && parse_value(rule, text, &value)) {
		set_value(rules, rule, value);
		return NULL;
	}
	char low[WP_FORMAT_MAX], high[WP_FORMAT_MAX];
	return g_strdup_printf(
		"[%s] %s = %s: expected %s from %s to %s", group, key, text ? text : "",
		rule->is_count   ? "a whole number"
		: rule->is_share ? "a share, such as 5%% or 0.05,"
				 : "a number",
		wp_format_number(low, rule->minimum), wp_format_number(high, rule->maximum));
}

static char *
read_groups(WpDoctorRules *rules, GKeyFile *file)
{
	gboolean has_group;
	g_auto(GStrv) groups = g_key_file_get_groups(file, NULL);
	for (guint i = 0; groups[i]; i++) {
		g_auto(GStrv) keys = g_key_file_get_keys(file, groups[i], NULL, NULL);
		find_rule(groups[i], "", &has_group);
		if (!has_group)
			return unknown(groups[i], NULL);
		for (guint k = 0; keys && keys[k]; k++) {
			char *wrong = read_key(rules, file, groups[i], keys[k]);
			if (wrong)
				return wrong;
		}
	}
	return NULL;
}

gboolean
wp_doctor_rules_read(WpDoctorRules *rules, const char *path, GError **error)
{
	g_autoptr(GKeyFile) file = g_key_file_new();
	g_autoptr(GError) reason = NULL;
	g_autofree char *text = NULL;
	gsize length;
	if (!g_file_get_contents(path, &text, &length, &reason)) {
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_OPEN, "cannot read rules: %s",
			    reason->message);
		return FALSE;
	}
	if (length > MAX_FILE || strlen(text) != length) {
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_DATA,
			    "%s: a file of rules is text of at most %d bytes", path, MAX_FILE);
		return FALSE;
	}
	if (!g_key_file_load_from_data(file, text, length, G_KEY_FILE_NONE, &reason)) {
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_DATA, "%s: %s", path,
			    reason->message);
		return FALSE;
	}
	g_autofree char *wrong = read_groups(rules, file);
	if (!wrong)
		return TRUE;
	g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_DATA, "%s: %s", path, wrong);
	return FALSE;
}
