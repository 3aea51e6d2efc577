/*
 * WpCsv: a CSV file with a head line, row by row (RFC 4180: quotes, doubled quotes, line ends inside
 * quotes), compressed by gzip or not. Fields are asked for by column.
 */
#ifndef WP_INFER_CSV_H
#define WP_INFER_CSV_H

#include <glib.h>

#include "capture/record.h"

typedef struct WpCsv WpCsv;

/* At most so many bytes in a row: more is no table of calls. */
#define WP_CSV_MAX_ROW (1 << 20)

/* (transfer full) WHAT stands in messages ("the truth"). Errors: WP_INFER_ERROR. */
WpCsv *wp_csv_open(const char *path, const char *what, GError **error);
void wp_csv_free(WpCsv *csv);

/* The column called NAME, or -1. */
int wp_csv_column(const WpCsv *csv, const char *name);

/* As above; where it is missing, -1 with ERROR set. */
int wp_csv_need_column(const WpCsv *csv, const char *name, GError **error);

/* Reads the next row. FALSE at the end, or with ERROR set. Empty lines are skipped. */
gboolean wp_csv_next(WpCsv *csv, GError **error);

/* (transfer none) The field of the row; "" where it has none or COLUMN is -1. Until the next row. */
const char *wp_csv_field(const WpCsv *csv, int column);

/*
 * The field as a decimal number times 10^DIGITS, so that a time in seconds becomes ns exactly; further
 * decimals are cut. WP_NO_TIME where it is "", "-", "NA" or "nan". FALSE with ERROR set where it is
 * no number.
 */
gboolean wp_csv_decimal(const WpCsv *csv, int column, int digits, gint64 *out_value,
			GError **error);

/* Sets ERROR, with file and line, and returns FALSE. */
gboolean wp_csv_fail(const WpCsv *csv, GError **error, const char *format, ...) G_GNUC_PRINTF(3, 4);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpCsv, wp_csv_free)

#endif
