/* The table of columns, and the choice of those that fit a page. */
#include "report/column.h"

#include <string.h>

#include "report/error.h"
#include "report/format.h"
#include "report/options.h"

/* A column that is a number at an offset, empty where COUNT_AT holds no samples. */
#define NUMBER(function, expression)                                                               \
	static gboolean function(const WpViewNode *node, double *out_value)                        \
	{                                                                                          \
		*out_value = (double)(expression);                                                 \
		return TRUE;                                                                       \
	}

#define TIME(function, times, what)                                                                \
	static gboolean function(const WpViewNode *node, double *out_value)                        \
	{                                                                                          \
		*out_value = node->times.what;                                                     \
		return node->times.count > 0;                                                      \
	}

NUMBER(get_count, node->count)
NUMBER(get_errors, node->errors)
NUMBER(get_bytes_call, node->bytes_call)
NUMBER(get_bytes_return, node->bytes_return)
TIME(get_self, self, mean_ns)
TIME(get_self_p50, self, p50_ns)
TIME(get_self_p95, self, p95_ns)
TIME(get_self_p99, self, p99_ns)
TIME(get_self_sd, self, sd_ns)
TIME(get_self_total, self, sum_ns)
TIME(get_mean, latency, mean_ns)
TIME(get_sd, latency, sd_ns)
TIME(get_min, latency, min_ns)
TIME(get_p50, latency, p50_ns)
TIME(get_p90, latency, p90_ns)
TIME(get_p95, latency, p95_ns)
TIME(get_p99, latency, p99_ns)
TIME(get_max, latency, max_ns)
TIME(get_delay, delay, mean_ns)
TIME(get_delay_p95, delay, p95_ns)
TIME(get_server, server, mean_ns)
TIME(get_server_p95, server, p95_ns)
TIME(get_network, network, mean_ns)
TIME(get_network_p95, network, p95_ns)

/* What has no return has no latency, and no self time. */
static gboolean
get_total_share(const WpViewNode *node, double *out_value)
{
	*out_value = node->latency_share;
	return node->latency.count > 0;
}

static gboolean
get_self_share(const WpViewNode *node, double *out_value)
{
	*out_value = node->self_share;
	return node->self.count > 0;
}

static gboolean
get_critical(const WpViewNode *node, double *out_value)
{
	*out_value = node->critical_share;
	return node->latency.count > 0;
}

static gboolean
get_connecting(const WpViewNode *node, double *out_value)
{
	*out_value = node->self.count ? node->connecting_ns / (double)node->self.count : 0;
	return *out_value > 0;
}

static gboolean
get_probability(const WpViewNode *node, double *out_value)
{
	*out_value = node->probability;
	return node->probability >= 0 && node->parent != WP_VIEW_NONE;
}

const WpColumn wp_columns[] = {
	{ "count", "calls", WP_COLUMN_COUNT, 11, "calls", get_count },
	{ "total-share", "total%", WP_COLUMN_SHARE, 10, "latency, of the time of all requests",
	  get_total_share },
	{ "self-share", "self%", WP_COLUMN_SHARE, 1, "self time, of all self time in the pattern",
	  get_self_share },
	{ "critical", "crit%", WP_COLUMN_SHARE, 2,
	  "part of the critical path: of the latency, what waits for this alone", get_critical },
	{ "self", "self", WP_COLUMN_TIME, 2, "self time, mean", get_self },
	{ "connecting", "connect", WP_COLUMN_TIME, 2,
	  "of the self time: connections (TCP, TLS, login) for calls below, mean", get_connecting },
	{ "self-p50", "self p50", WP_COLUMN_TIME, 0, "self time, median", get_self_p50 },
	{ "self-p95", "self p95", WP_COLUMN_TIME, 0, "self time, 95 % are below", get_self_p95 },
	{ "self-p99", "self p99", WP_COLUMN_TIME, 0, "self time, 99 % are below", get_self_p99 },
	{ "self-sd", "self sd", WP_COLUMN_TIME, 0, "self time, standard deviation", get_self_sd },
	{ "self-total", "self sum", WP_COLUMN_TIME, 0, "self time, sum", get_self_total },
	{ "mean", "mean", WP_COLUMN_TIME, 3, "latency (call to return, children included), mean",
	  get_mean },
	{ "sd", "sd", WP_COLUMN_TIME, 0, "latency, standard deviation", get_sd },
	{ "min", "min", WP_COLUMN_TIME, 0, "latency, least", get_min },
	{ "p50", "p50", WP_COLUMN_TIME, 9, "latency, median", get_p50 },
	{ "p90", "p90", WP_COLUMN_TIME, 0, "latency, 90 % are below", get_p90 },
	{ "p95", "p95", WP_COLUMN_TIME, 4, "latency, 95 % are below", get_p95 },
	{ "p99", "p99", WP_COLUMN_TIME, 8, "latency, 99 % are below", get_p99 },
	{ "max", "max", WP_COLUMN_TIME, 0, "latency, greatest", get_max },
	{ "delay", "delay", WP_COLUMN_TIME, 5,
	  "call delay (call into the parent to this call), mean", get_delay },
	{ "delay-p95", "delay p95", WP_COLUMN_TIME, 0, "call delay, 95 % are below",
	  get_delay_p95 },
	{ "server", "server", WP_COLUMN_TIME, 0,
	  "last byte of the call to first byte of the return, mean", get_server },
	{ "server-p95", "serv p95", WP_COLUMN_TIME, 0, "the same, 95 % are below", get_server_p95 },
	{ "network", "network", WP_COLUMN_TIME, 6,
	  "on the way there and back, where both ends were captured, mean", get_network },
	{ "network-p95", "net p95", WP_COLUMN_TIME, 0, "the same, 95 % are below",
	  get_network_p95 },
	{ "bytes-call", "sent", WP_COLUMN_BYTES, 0, "bytes of the calls, sum", get_bytes_call },
	{ "bytes-return", "received", WP_COLUMN_BYTES, 0, "bytes of the returns, sum",
	  get_bytes_return },
	{ "link", "link", WP_COLUMN_NUMBER, 0, "probability of the link to the parent, mean",
	  get_probability },
	{ "errors", "errors", WP_COLUMN_COUNT, 7, "calls that failed, were reset or timed out",
	  get_errors },
	{ NULL, NULL, WP_COLUMN_NUMBER, 0, NULL, NULL },
};

guint
wp_column_width(const WpColumn *column)
{
	static const guint widths[] = {
		[WP_COLUMN_TIME] = 8,  [WP_COLUMN_COUNT] = 6,  [WP_COLUMN_SHARE] = 6,
		[WP_COLUMN_BYTES] = 7, [WP_COLUMN_NUMBER] = 5,
	};
	return 1 + MAX(widths[column->kind], (guint)strlen(column->heading));
}

static void
add_column(WpColumnSet *set, const WpColumn *column)
{
	if (set->n < WP_COLUMNS_MAX)
		set->columns[set->n++] = column;
}

/* Columns of rank 1..LIMIT without those of HIDDEN, in order of the table. */
static WpColumnSet
up_to_rank(guint limit, guint64 hidden, guint *out_width)
{
	WpColumnSet set = { .n = 0 };
	*out_width = 0;
	for (const WpColumn *column = wp_columns; column->name; column++)
		if (column->rank && column->rank <= limit &&
		    !(hidden >> (column - wp_columns) & 1)) {
			add_column(&set, column);
			*out_width += wp_column_width(column);
		}
	return set;
}

WpColumnSet
wp_columns_fit(guint width, guint64 hidden, guint *out_left_out)
{
	guint ranks = 0, needed;
	for (const WpColumn *column = wp_columns; column->name; column++)
		ranks = MAX(ranks, column->rank);
	WpColumnSet all = up_to_rank(ranks, hidden, &needed), set = all;
	for (guint limit = ranks; limit > 1 && needed > width; limit--)
		set = up_to_rank(limit - 1, hidden, &needed);
	if (out_left_out)
		*out_left_out = all.n - set.n;
	return set;
}

guint64
wp_columns_empty(const WpView *view, guint32 n_patterns)
{
	guint64 empty = 0;
	for (const WpColumn *column = wp_columns; column->name; column++) {
		gboolean is_empty = column->kind == WP_COLUMN_COUNT || column->get == get_network ||
				    column->get == get_critical || column->get == get_connecting;
		for (guint32 i = 0; i < n_patterns && is_empty; i++)
			for (guint32 k = 0; k < view->patterns[i].n_nodes && is_empty; k++) {
				double value;
				const WpViewNode *node = &view->patterns[i].nodes[k];
				/* The parts of the critical path are of use where they are not the self times, those
				 * of connecting where they are not small. */
				is_empty = !column->get(node, &value) || value == 0 ||
					   (column->get == get_critical && !node->is_split) ||
					   (column->get == get_connecting && !node->is_connecting);
			}
		if (is_empty)
			empty |= G_GUINT64_CONSTANT(1) << (column - wp_columns);
	}
	return empty;
}

WpColumnSet
wp_columns_shown(const WpColumnSet *set, guint64 empty)
{
	WpColumnSet known = { .n = 0 };

	for (guint i = 0; i < set->n; i++) {
		const WpColumn *column = set->columns[i];
		guint64 bit = G_GUINT64_CONSTANT(1) << (column - wp_columns);
		if (column->kind == WP_COLUMN_COUNT || !(empty & bit))
			add_column(&known, column);
	}
	return known;
}

static const WpColumn *
find_column(const char *name)
{
	for (const WpColumn *column = wp_columns; column->name; column++)
		if (strcmp(column->name, name) == 0)
			return column;
	return NULL;
}

static gboolean
unknown_column(const char *name, GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	for (const WpColumn *column = wp_columns; column->name; column++)
		g_ptr_array_add(names, (gpointer)column->name);
	g_ptr_array_add(names, NULL);
	const char *nearest = wp_nearest_name(name, (const char *const *)names->pdata);
	g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_USAGE,
		    "--columns: there is no column \"%s\"\n%s%s%s", name,
		    nearest ? "did you mean " : "--list-columns lists them", nearest ? nearest : "",
		    nearest ? "?" : "");
	return FALSE;
}

gboolean
wp_columns_parse(const char *text, WpColumnSet *out_set, GError **error)
{
	g_auto(GStrv) names = g_strsplit(text, ",", -1);
	gboolean is_wanted[WP_COLUMNS_MAX] = { FALSE };
	WpColumnSet set = { .n = 0 };
	gboolean adds = FALSE, all = strcmp(text, "all") == 0;
	for (gsize i = 0; names[i] && !all; i++) {
		const char *name = names[i] + (names[i][0] == '+');
		const WpColumn *column = find_column(name);
		if (!column)
			return unknown_column(name, error);
		adds |= names[i][0] == '+';
		is_wanted[column - wp_columns] = TRUE;
		add_column(&set, column);
	}
	if (adds || all) {
		set.n = 0;
		for (const WpColumn *column = wp_columns; column->name; column++)
			if (all || column->rank || is_wanted[column - wp_columns])
				add_column(&set, column);
	}
	*out_set = set;
	return TRUE;
}

const char *
wp_column_format(const WpColumn *column, const WpViewNode *node, char *buffer)
{
	double value;
	buffer[0] = '\0';
	if (!column->get(node, &value))
		return buffer;
	switch (column->kind) {
	case WP_COLUMN_TIME:
		return wp_format_time(buffer, value);
	case WP_COLUMN_COUNT:
		return wp_format_count(buffer, (guint64)value);
	case WP_COLUMN_SHARE:
		return wp_format_share(buffer, value);
	case WP_COLUMN_BYTES:
		return wp_format_bytes(buffer, (guint64)value);
	case WP_COLUMN_NUMBER:
		return wp_format_number(buffer, value);
	}
	return buffer;
}

void
wp_columns_list(WpOut *out)
{
	for (const WpColumn *column = wp_columns; column->name; column++)
		wp_out_printf(out, "%-14s%s\n", column->name, column->help);
	wp_out_text(out,
		    "\nself,mean,p99 shows these; +sd,+max shows these beside the usual ones; all "
		    "shows all\n");
}
