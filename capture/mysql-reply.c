/* Replies of MySQL and MariaDB, packet by packet. Sources as in mysql.c. */
#include "capture/mysql-reply.h"

enum {
	EOF_LENGTH = 5,
	OK_LENGTH = 7, /* at least */
	HEAD_OK = 0x00,
	HEAD_FILE = 0xfb,
	HEAD_EOF = 0xfe,
	HEAD_ERROR = 0xff
};

typedef struct {
	WpBytes payload;
	gsize length;
	guint8 head;
} Packet;

static gboolean
is_eof(const Packet *p)
{
	return p->head == HEAD_EOF && p->length > 0 && p->length <= EOF_LENGTH;
}

/* EOF, or the OK that takes its place: no row begins so, but one of 16 MiB. */
static gboolean
is_end_of_rows(const Packet *p)
{
	return p->head == HEAD_EOF && p->length > 0 && p->length < WP_MYSQL_CONTINUED;
}

gboolean
wp_mysql_is_error(WpBytes payload, gsize length)
{
	return length >= 3 && wp_bytes_u8(&payload) == HEAD_ERROR;
}

/* MariaDB tells how far ALTER TABLE has come in packets that look like errors, number 0xffff. */
static gboolean
is_progress(WpBytes payload)
{
	wp_bytes_skip(&payload, 1);
	return wp_bytes_le16(&payload) == 0xffff;
}

/* EOF: head, warnings (2), status (2). OK: head, two numbers, status (2), ... */
static guint16
read_status(const Packet *p)
{
	WpBytes in = p->payload;
	wp_bytes_skip(&in, 1);
	if (is_eof(p)) {
		wp_bytes_skip(&in, 2);
	} else {
		wp_mysql_number(&in, NULL);
		wp_mysql_number(&in, NULL);
	}
	return wp_bytes_le16(&in);
}

/* An OK or EOF ends a result; another result may follow. */
static WpMysqlStep
end_result(WpMysqlReply *reply, const Packet *p)
{
	reply->status = read_status(p);
	if (!(reply->status & WP_MYSQL_MORE_RESULTS))
		return WP_MYSQL_STEP_END;
	reply->state = WP_MYSQL_REPLY_FIRST;
	return WP_MYSQL_STEP_MORE;
}

static WpMysqlStep
read_row(WpMysqlReply *reply, const Packet *p)
{
	reply->state = WP_MYSQL_REPLY_ROWS;
	return is_end_of_rows(p) ? end_result(reply, p) : WP_MYSQL_STEP_MORE;
}

static WpMysqlStep
read_to_eof(WpMysqlReply *reply, const Packet *p)
{
	reply->state = WP_MYSQL_REPLY_TO_EOF;
	return is_end_of_rows(p) ? WP_MYSQL_STEP_END : WP_MYSQL_STEP_MORE;
}

/*
 * The number of columns. With optional metadata (MySQL: a byte before it; MariaDB: one behind it) a
 * result set may come without definitions.
 */
static WpMysqlStep
begin_columns(WpMysqlReply *reply, const Packet *p)
{
	gboolean is_optional = (reply->capabilities & WP_MYSQL_CAN_OPTIONAL_METADATA) != 0;
	gboolean has_definitions = TRUE;
	WpBytes in = p->payload;
	if (is_optional && p->length >= 2)
		has_definitions = wp_bytes_u8(&in) != 0;
	reply->definitions = wp_mysql_number(&in, NULL);
	if (!is_optional && wp_bytes_left(&in) == 1)
		has_definitions = wp_bytes_u8(&in) != 0;
	if (!has_definitions)
		reply->definitions = 0;
	reply->state = reply->definitions ? WP_MYSQL_REPLY_COLUMNS : WP_MYSQL_REPLY_GAP;
	return WP_MYSQL_STEP_MORE;
}

static WpMysqlStep
begin_result(WpMysqlReply *reply, const Packet *p)
{
	if (is_eof(p) || (p->head == HEAD_OK && p->length >= OK_LENGTH))
		return end_result(reply, p);
	return p->head == HEAD_FILE ? WP_MYSQL_STEP_SEND_FILE : begin_columns(reply, p);
}

/* 0, statement (4), columns (2), parameters (2), 0, warnings (2), [definitions follow (1)] */
static WpMysqlStep
begin_prepared(WpMysqlReply *reply, const Packet *p)
{
	WpBytes in = p->payload;
	wp_bytes_skip(&in, 1);
	reply->has_statement = TRUE;
	reply->statement = wp_bytes_le32(&in);
	guint16 n_columns = wp_bytes_le16(&in);
	reply->n_parameters = wp_bytes_le16(&in);
	wp_bytes_skip(&in, 3);
	gboolean is_optional = (reply->capabilities & WP_MYSQL_CAN_OPTIONAL_METADATA) != 0;
	if (is_optional && wp_bytes_left(&in) > 0 && wp_bytes_u8(&in) == 0)
		return WP_MYSQL_STEP_END;
	reply->state = WP_MYSQL_REPLY_DEFINITIONS;
	reply->definitions = reply->n_parameters ? reply->n_parameters : n_columns;
	reply->more_definitions = reply->n_parameters ? n_columns : 0;
	return reply->definitions ? WP_MYSQL_STEP_MORE : WP_MYSQL_STEP_END;
}

/* Between the definitions of columns and the rows. */
static WpMysqlStep
read_gap(WpMysqlReply *reply, const Packet *p)
{
	if (!is_eof(p)) {
		reply->eof_style = WP_MYSQL_EOF_OMITTED;
		return read_row(reply, p);
	}
	reply->eof_style = WP_MYSQL_EOF_SENT;
	reply->state = WP_MYSQL_REPLY_ROWS;
	if (read_status(p) & WP_MYSQL_CURSOR)
		return end_result(reply, p); /* the rows are fetched later */
	return WP_MYSQL_STEP_MORE;
}

/* Of a prepared statement: parameters, then columns, each perhaps with an EOF. */
static WpMysqlStep
read_definition(WpMysqlReply *reply, const Packet *p)
{
	if (is_eof(p))
		reply->eof_style = WP_MYSQL_EOF_SENT;
	else if (reply->definitions > 0)
		reply->definitions--;
	if (reply->definitions > 0)
		return WP_MYSQL_STEP_MORE;
	gboolean is_complete = is_eof(p) || reply->eof_style != WP_MYSQL_EOF_SENT;
	if (!is_complete)
		return WP_MYSQL_STEP_MORE;
	if (reply->more_definitions > 0) {
		reply->definitions = reply->more_definitions;
		reply->more_definitions = 0;
		return WP_MYSQL_STEP_MORE;
	}
	return !is_eof(p) && reply->eof_style == WP_MYSQL_EOF_UNKNOWN ? WP_MYSQL_STEP_MAYBE
								      : WP_MYSQL_STEP_END;
}

/* To OK; whatever else comes is a question that the client answers. */
static WpMysqlStep
read_login(WpMysqlReply *reply, const Packet *p)
{
	if (p->head != HEAD_OK || p->length < OK_LENGTH)
		return WP_MYSQL_STEP_MORE;
	reply->status = read_status(p);
	return WP_MYSQL_STEP_END;
}

/* The first packet of a reply, or of a further result in it. */
static WpMysqlStep
read_first(WpMysqlReply *reply, WpMysqlAnswer answer, const Packet *p)
{
	switch (answer) {
	case WP_MYSQL_RESULT:
		return begin_result(reply, p);
	case WP_MYSQL_PREPARE:
		return begin_prepared(reply, p);
	case WP_MYSQL_LOGIN:
		return read_login(reply, p);
	case WP_MYSQL_ROWS:
		return read_row(reply, p);
	case WP_MYSQL_FIELDS:
	case WP_MYSQL_STREAM:
		return read_to_eof(reply, p);
	default:
		return WP_MYSQL_STEP_END;
	}
}

WpMysqlStep
wp_mysql_reply_packet(WpMysqlReply *reply, WpMysqlAnswer answer, WpBytes payload, gsize length)
{
	Packet p = { payload, length, 0 };
	p.head = wp_bytes_u8(&payload);
	reply->has_statement = FALSE;
	if (wp_mysql_is_error(p.payload, length))
		return is_progress(p.payload) ? WP_MYSQL_STEP_MORE : WP_MYSQL_STEP_ERROR;
	switch (reply->state) {
	case WP_MYSQL_REPLY_FIRST:
		return read_first(reply, answer, &p);
	case WP_MYSQL_REPLY_COLUMNS:
		if (--reply->definitions == 0)
			reply->state = WP_MYSQL_REPLY_GAP;
		return WP_MYSQL_STEP_MORE;
	case WP_MYSQL_REPLY_GAP:
		return read_gap(reply, &p);
	case WP_MYSQL_REPLY_ROWS:
		return read_row(reply, &p);
	case WP_MYSQL_REPLY_DEFINITIONS:
		return read_definition(reply, &p);
	default:
		return read_to_eof(reply, &p);
	}
}
