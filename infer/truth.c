/* Reads a truth file; its head line tells which of the two layouts it has. */
#include <string.h>

#include "infer/accuracy-private.h"
#include "infer/csv.h"

typedef struct {
	int id, parent, operation, call[WP_TRUTH_N_CLOCKS], returns;
	int src_ip, src_port, dst_ip, dst_port;
} Columns;

guint32
wp_accuracy_flow(WpStrings *strings, const char *src_ip, const char *src_port, const char *dst_ip,
		 const char *dst_port)
{
	if (!*src_ip && !*dst_ip)
		return 0;
	g_autofree char *text = g_strjoin(",", src_ip, src_port, dst_ip, dst_port, NULL);
	return wp_strings_intern(strings, text, -1);
}

static gboolean
find_columns(const WpCsv *csv, WpTruth *truth, Columns *columns, GError **error)
{
	static const char *const clocks[] = { "t_call_us", "t_call_src_us", "t_call_dst_us" };

	columns->id = wp_csv_need_column(csv, "call_id", error);
	if (columns->id < 0)
		return FALSE;
	columns->parent = wp_csv_column(csv, "parent_call_id");
	truth->is_wire = columns->parent >= 0;
	if (!truth->is_wire)
		columns->parent = wp_csv_need_column(csv, "parent_id", error);
	if (columns->parent < 0 || !truth->is_wire)
		return columns->parent >= 0;
	for (int i = 0; i < WP_TRUTH_N_CLOCKS; i++)
		columns->call[i] = wp_csv_column(csv, clocks[i]);
	columns->operation = wp_csv_column(csv, "operation");
	return wp_csv_need_column(csv, "t_call_us", error) >= 0 &&
	       (columns->returns = wp_csv_need_column(csv, "t_return_us", error)) >= 0 &&
	       (columns->src_ip = wp_csv_need_column(csv, "src_ip", error)) >= 0 &&
	       (columns->src_port = wp_csv_need_column(csv, "src_port", error)) >= 0 &&
	       (columns->dst_ip = wp_csv_need_column(csv, "dst_ip", error)) >= 0 &&
	       (columns->dst_port = wp_csv_need_column(csv, "dst_port", error)) >= 0;
}

/* The fields of the wire layout. */
static gboolean
read_wire(WpTruth *truth, const WpCsv *csv, const Columns *columns, WpTruthRow *row, GError **error)
{
	const char *src_ip = wp_csv_field(csv, columns->src_ip);
	const char *dst_ip = wp_csv_field(csv, columns->dst_ip);
	const char *dst_port = wp_csv_field(csv, columns->dst_port);
	const char *operation = wp_csv_field(csv, columns->operation);

	for (guint i = 0; i < WP_TRUTH_N_CLOCKS; i++) {
		if (!wp_csv_decimal(csv, columns->call[i], 3, &row->call_ns[i], error))
			return FALSE;
		if (row->call_ns[i] == WP_NO_TIME)
			row->call_ns[i] = row->call_ns[0];
		else
			truth->n_clocks = MAX(truth->n_clocks, i + 1);
	}
	if (row->call_ns[0] == WP_NO_TIME)
		return wp_csv_fail(csv, error, "a call without a time");
	if (!wp_csv_decimal(csv, columns->returns, 3, &row->return_ns, error))
		return FALSE;
	g_autofree char *callee_port = g_strjoin(",", dst_ip, dst_port, NULL);
	row->flow = wp_accuracy_flow(truth->strings, src_ip, wp_csv_field(csv, columns->src_port),
				     dst_ip, dst_port);
	row->caller = wp_strings_intern(truth->strings, src_ip, -1);
	row->callee = wp_strings_intern(truth->strings, dst_ip, -1);
	row->callee_port = wp_strings_intern(truth->strings, callee_port, -1);
	row->dont_care = operation[0] == '(';
	row->is_root_before = g_str_has_prefix(operation, "(parent-before");
	return TRUE;
}

/* Turns parents, strings until now, into rows. */
static void
link_rows(WpTruth *truth, const WpMap *rows_by_id)
{
	for (guint i = 0; i < truth->rows->len; i++) {
		WpTruthRow *row = &g_array_index(truth->rows, WpTruthRow, i);
		guint32 parent = wp_map_find(rows_by_id, row->parent);
		if (row->parent == 0)
			row->parent = WP_NO_CALL;
		else
			row->parent =
				parent == WP_MAP_NONE || parent == i ? WP_UNKNOWN_CALL : parent;
	}
}

static gboolean
read_rows(WpTruth *truth, WpCsv *csv, const Columns *columns, GError **error)
{
	g_autoptr(GError) problem = NULL;
	g_autoptr(WpMap) rows_by_id = wp_map_new();

	while (wp_csv_next(csv, &problem)) {
		WpTruthRow row = {
			.id = wp_strings_intern(truth->strings, wp_csv_field(csv, columns->id), -1),
			.parent = wp_strings_intern(truth->strings,
						    wp_csv_field(csv, columns->parent), -1),
			.call_ns = { WP_NO_TIME, WP_NO_TIME, WP_NO_TIME },
			.return_ns = WP_NO_TIME,
		};
		if (row.id == 0)
			return wp_csv_fail(csv, error, "a call without an id");
		if (wp_map_find(rows_by_id, row.id) != WP_MAP_NONE)
			return wp_csv_fail(csv, error, "call_id \"%s\" stands here twice",
					   wp_csv_field(csv, columns->id));
		if (truth->is_wire && !read_wire(truth, csv, columns, &row, error))
			return FALSE;
		wp_map_at(rows_by_id, row.id, truth->rows->len);
		g_array_append_val(truth->rows, row);
	}
	if (problem) {
		g_propagate_error(error, g_steal_pointer(&problem));
		return FALSE;
	}
	link_rows(truth, rows_by_id);
	return TRUE;
}

WpTruth *
wp_truth_read(const char *path, GError **error)
{
	g_autoptr(WpCsv) csv = wp_csv_open(path, "the truth", error);
	g_autoptr(WpTruth) truth = g_new0(WpTruth, 1);
	Columns columns = { 0 };

	truth->strings = wp_strings_new();
	truth->rows = g_array_new(FALSE, FALSE, sizeof(WpTruthRow));
	truth->n_clocks = 1;
	if (!csv || !find_columns(csv, truth, &columns, error) ||
	    !read_rows(truth, csv, &columns, error))
		return NULL;
	return g_steal_pointer(&truth);
}

void
wp_truth_free(WpTruth *truth)
{
	if (!truth)
		return;
	wp_strings_free(truth->strings);
	g_array_unref(truth->rows);
	g_free(truth);
}
