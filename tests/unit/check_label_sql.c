/* Labels of SQL: what is kept, and that no literal ever is. */
#include <string.h>

#include "capture/label.h"
#include "capture/sql.h"
#include "tests/support/suite.h"

typedef struct {
	const char *sql;
	const char *label;
} Row;

static void
check_rows(const Row *rows, gsize n, guint dialect)
{
	g_log_set_always_fatal((GLogLevelFlags)(G_LOG_FATAL_MASK | G_LOG_LEVEL_CRITICAL));
	for (gsize i = 0; i < n; i++) {
		char label[WP_LABEL_MAX + 1];
		/* An exact copy, so that a read past its end is seen by the sanitizers. */
		gsize length = strlen(rows[i].sql);
		g_autofree char *copy = g_memdup2(rows[i].sql, MAX(length, 1));
		gsize got = wp_label_sql(copy, length, dialect, label, sizeof label, NULL);
		ck_assert_msg(strcmp(label, rows[i].label) == 0, "%s\n  %s\n  %s", rows[i].sql,
			      label, rows[i].label);
		ck_assert_uint_eq(got, strlen(label));
	}
}

/* Both dialects agree. */
static const Row queries[] = {
	{ "START", "START" },
	{ "SELECT a FROM users", "SELECT users (a)" },
	{ "select a from users u where id = 7", "SELECT users (a) WHERE id" },
	{ "SELECT * FROM users WHERE id=7;", "SELECT users WHERE id" },
	{ "  \n\tSELECT\n*\nFROM\nusers  ", "SELECT users" },
	{ "SELECT o.id FROM orders o JOIN users u ON o.uid = u.id", "SELECT orders,users (id)" },
	{ "SELECT 1 FROM a, b AS x, c LEFT JOIN d USING (id)", "SELECT a,b,c,d" },
	{ "SELECT 1 FROM a, b, c, d, e, f", "SELECT a,b,c,d,..." },
	{ "SELECT 1 FROM (a JOIN b ON a.i = b.i), c", "SELECT a,b,c" },
	{ "SELECT 1 FROM a JOIN b USING (x, y) JOIN c USING (z)", "SELECT a,b,c" },
	{ "SELECT 1 FROM a WHERE x IN (SELECT y FROM b WHERE z = 1)", "SELECT a,b WHERE x" },
	{ "SELECT count(*) FROM (SELECT a FROM t WHERE b = 1) s", "SELECT t (count())" },
	{ "SELECT sum(a), count(*), max(b), sum(c) FROM t", "SELECT t (sum(),count(),max())" },
	{ "SELECT coalesce(max(id), 0) + 1 FROM t", "SELECT t (coalesce())" },
	{ "SELECT a FROM t UNION SELECT b FROM s", "SELECT t,s (a,b)" },
	{ "(SELECT a FROM t) UNION ALL (SELECT b FROM s)", "SELECT t,s (a)" },
	{ "SELECT a FROM shop.orders, hr.public.people", "SELECT orders,people (a)" },
	{ "SELECT a FROM t FOR UPDATE", "SELECT t (a)" },
	{ "SELECT a FROM t WHERE b = 1 GROUP BY c HAVING count(*) > 1 ORDER BY d LIMIT 3",
	  "SELECT t (a) WHERE b ORDER BY d" },
	{ "INSERT INTO t (a, b) VALUES (1, 'x')", "INSERT t" },
	{ "INSERT INTO t SELECT a FROM s WHERE b = 1", "INSERT t,s (a) WHERE b" },
	{ "UPDATE t SET a = 1, b = 'x' WHERE c = 2 AND d = 3", "UPDATE t (a,b) WHERE c,d" },
	{ "DELETE FROM t WHERE a < 5", "DELETE t WHERE a<" },
	{ "TRUNCATE TABLE a, b", "TRUNCATE a,b" },
	{ "WITH r AS (SELECT 1 FROM a) SELECT * FROM r, b", "SELECT a,b" },
	{ "WITH r (x) AS (SELECT 1), s AS (SELECT 2 FROM r) SELECT * FROM s JOIN t ON 1 = 1",
	  "SELECT t" },
	{ "WITH RECURSIVE r AS (SELECT 1 FROM a UNION ALL SELECT 2 FROM r) SELECT * FROM r",
	  "SELECT a" },
	{ "WITH r AS (SELECT 1 FROM a) UPDATE b SET c = 1 WHERE d = 2", "UPDATE b,a (c) WHERE d" },
	{ "WITH r AS (SELECT id FROM a) DELETE FROM b WHERE id IN (SELECT id FROM r)",
	  "DELETE b,a WHERE id" },
	{ "CREATE TABLE t (a int)", "CREATE TABLE t" },
	{ "CREATE TABLE IF NOT EXISTS t (a int)", "CREATE TABLE t" },
	{ "create or replace view v as select a from t", "CREATE VIEW v" },
	{ "CREATE UNIQUE INDEX i ON t (a)", "CREATE INDEX t" },
	{ "ALTER TABLE t ADD COLUMN a int", "ALTER TABLE t" },
	{ "DROP TABLE IF EXISTS t", "DROP TABLE t" },
	{ "CREATE USER alice", "CREATE USER" },
	{ "GRANT ALL ON t TO alice", "GRANT" },
	{ "CALL pay(1, 'x')", "CALL pay" },
	{ "BEGIN", "BEGIN" },
	{ "START TRANSACTION READ ONLY", "BEGIN" },
	{ "COMMIT", "COMMIT" },
	{ "ROLLBACK", "ROLLBACK" },
	{ "ROLLBACK TO SAVEPOINT s1", "ROLLBACK TO" },
	{ "SAVEPOINT s1", "SAVEPOINT" },
	{ "SET autocommit = 0", "SET autocommit" },
	{ "SET SESSION search_path = 'x'", "SET search_path" },
	{ "SHOW VARIABLES LIKE 'x%'", "SHOW variables" },
	{ "EXPLAIN SELECT a FROM t", "EXPLAIN SELECT t (a)" },
	{ "PREPARE p AS SELECT 1", "PREPARE p" },
	{ "EXECUTE p (1)", "EXECUTE p" },
	{ "SELECT now()", "SELECT now()" },
	{ "SELECT NOW(), 5", "SELECT now()" },
	{ "SELECT 1", "SELECT" },
	{ "SELECT 'x' FROM dual", "SELECT" },
	{ "", "" },
	{ ";;", "" },
	{ "hello world", "" },
	{ "'SELECT a FROM t'", "" },
	{ "7", "" },
	{ "SELECT", "SELECT" },
	{ "SELECT (((((", "SELECT" },
	{ "SELECT a FROM", "SELECT" },
	{ "SELECT a FROM t)))) WHERE a = 1", "SELECT t (a) WHERE a" },
};

/* What a WHERE compares, and what it does not. */
static const Row filters[] = {
	{ "SELECT 1 FROM t WHERE a = 1 OR (b = 2 AND c > 3)", "SELECT t WHERE a,b,c>" },
	{ "SELECT 1 FROM t WHERE a = 1 AND a = 2", "SELECT t WHERE a" },
	{ "SELECT 1 FROM t WHERE 1 = a", "SELECT t" },
	{ "SELECT 1 FROM t WHERE a IN (1, 2, 3) AND b NOT IN (4)", "SELECT t WHERE a,b" },
	{ "SELECT 1 FROM t WHERE a<=1 AND b!=2 AND c >= 3", "SELECT t WHERE a<=,b!=,c>=" },
	{ "SELECT 1 FROM t WHERE a > 1 AND a < 5", "SELECT t WHERE a>" },
	{ "SELECT 1 FROM t WHERE a IS NULL AND b IS NOT NULL", "SELECT t WHERE a,b" },
	{ "SELECT 1 FROM t WHERE a BETWEEN 1 AND 2 AND b LIKE 'x'",
	  "SELECT t WHERE a BETWEEN,b LIKE" },
	{ "SELECT 1 FROM t WHERE lower(a) = 'x'", "SELECT t WHERE a" },
	{ "SELECT 1 FROM t WHERE (a, b) = (1, 2)", "SELECT t WHERE b" },
	{ "SELECT 1 FROM t, s WHERE t.a = s.b AND s.c = 1", "SELECT t,s WHERE a,c" },
	{ "SELECT 1 FROM t WHERE EXISTS (SELECT 1 FROM s WHERE b = 1)", "SELECT t,s" },
	{ "SELECT 1 FROM t WHERE NOT a AND TRUE = b", "SELECT t" },
	{ "SELECT 1 FROM t WHERE a = ANY(b) AND c <> 2", "SELECT t WHERE a,c<>" },
	{ "SELECT 1 FROM t WHERE CASE WHEN a THEN b END = 1", "SELECT t" },
	{ "SELECT 1 FROM t WHERE a=1 AND b=2 AND c=3 AND d=4 AND e=5",
	  "SELECT t WHERE a,b,c,d,..." },
	{ "SELECT a IS DISTINCT FROM b FROM t WHERE c IS NOT DISTINCT FROM d AND e = 1",
	  "SELECT t (a) WHERE c,e" },
	{ "SELECT EXTRACT(YEAR FROM x) FROM t", "SELECT t (extract())" },
	{ "SELECT substring(a FROM 2 FOR 3), trim(both 'x' from b) FROM t",
	  "SELECT t (substring(),trim())" },
};

/* What is read or set, item by item. */
static const Row items[] = {
	{ "SELECT a, b.c, d AS e, f FROM t", "SELECT t (a,c,d,...)" },
	{ "SELECT *, t.*, 1, 'x' FROM t", "SELECT t" },
	{ "SELECT DISTINCT a, CASE WHEN b THEN 1 END, NOT c FROM t", "SELECT t (a,b,c)" },
	{ "SELECT (a + b) * c, f(g, h), (SELECT i FROM s) FROM t", "SELECT s,t (a,f())" },
	{ "SELECT id, count(DISTINCT x) FROM t GROUP BY id", "SELECT t (id,count())" },
	{ "UPDATE t SET a = b + 1, c = f(d, e) WHERE g = 1", "UPDATE t (a,c) WHERE g" },
	{ "SELECT a FROM t ORDER BY b DESC, lower(c), d", "SELECT t (a) ORDER BY b,lower(),..." },
	{ "SELECT a FROM t ORDER BY 2 DESC, b ASC", "SELECT t (a) ORDER BY b" },
	{ "SELECT rank() OVER (PARTITION BY a ORDER BY b) FROM t", "SELECT t (rank())" },
	{ "SELECT a FROM t WHERE b IN (SELECT c FROM s ORDER BY d)", "SELECT t,s (a) WHERE b" },
	{ "WITH r (x, y) AS (SELECT a, b FROM t) SELECT x FROM r", "SELECT t (x)" },
	{ "WITH r (t) AS (SELECT 1) SELECT a FROM t", "SELECT t (a)" },
};

static const Row postgres[] = {
	{ "SELECT \"u\".\"id\" FROM \"public\".\"Users\" AS \"u\" WHERE (\"u\".\"id\" = $1)",
	  "SELECT Users (id) WHERE id" },
	{ "SELECT a FROM Users WHERE Id = $1 AND b = $2", "SELECT users (a) WHERE id,b" },
	{ "SELECT a FROM \"order items\"", "SELECT order items (a)" },
	{ "SELECT a FROM t WHERE id::text = $1", "SELECT t (a) WHERE id" },
	{ "SELECT a FROM t WHERE tags @> $1 AND name ~ 'x'", "SELECT t (a) WHERE tags@>,name~" },
	{ "SELECT nextval('s')", "SELECT nextval()" },
	{ "SELECT * FROM generate_series(1, 9) g, t", "SELECT generate_series(),t" },
	{ "SELECT * FROM t, LATERAL (SELECT 1 FROM s WHERE x = t.y) l", "SELECT t,s" },
	{ "SELECT * FROM ONLY t", "SELECT t" },
	{ "INSERT INTO t VALUES ($1) ON CONFLICT (a) DO UPDATE SET b = 1 RETURNING id",
	  "INSERT t" },
	{ "UPDATE t SET a = s.a FROM s WHERE t.id = s.id", "UPDATE t,s (a) WHERE id" },
	{ "DELETE FROM t USING s WHERE t.id = s.id", "DELETE t,s WHERE id" },
	{ "WITH m AS (DELETE FROM a RETURNING *) INSERT INTO b SELECT * FROM m", "INSERT b,a" },
	{ "MERGE INTO t USING s ON t.i = s.i WHEN MATCHED THEN UPDATE SET a = 1", "MERGE t,s" },
	{ "COPY t (a, b) FROM STDIN", "COPY t" },
	{ "COPY (SELECT a FROM t WHERE b = 1) TO STDOUT", "COPY t" },
	{ "LISTEN c", "LISTEN c" },
	{ "DECLARE c CURSOR WITH HOLD FOR SELECT a FROM t", "DECLARE SELECT t (a)" },
	{ "FETCH 100 FROM c", "FETCH" },
	{ "END", "COMMIT" },
	{ "ABORT", "ROLLBACK" },
	{ "VACUUM FULL t", "VACUUM t" },
	{ "REFRESH MATERIALIZED VIEW CONCURRENTLY v", "REFRESH VIEW v" },
	{ "DO $$ BEGIN UPDATE secret SET a = 1; END $$", "DO" },
	{ "CREATE FUNCTION f() RETURNS int AS $$ SELECT 1 FROM t; $$ LANGUAGE sql",
	  "CREATE FUNCTION f" },
	{ "EXPLAIN (ANALYZE, BUFFERS) SELECT a FROM t", "EXPLAIN SELECT t (a)" },
	{ "DISCARD ALL", "DISCARD ALL" },
	{ "SELECT a # b FROM t", "SELECT t (a)" },
	{ "START_REPLICATION SLOT s LOGICAL 0/0", "START_REPLICATION" },
};

static const Row mysql[] = {
	{ "SELECT a FROM `shop`.`Order` WHERE `id` = 5", "SELECT Order (a) WHERE id" },
	{ "SELECT SQL_NO_CACHE a FROM t", "SELECT t (a)" },
	{ "INSERT IGNORE INTO t SET a = 1", "INSERT t" },
	{ "INSERT t VALUES (1) ON DUPLICATE KEY UPDATE a = 2", "INSERT t" },
	{ "REPLACE INTO t VALUES (1)", "REPLACE t" },
	{ "UPDATE LOW_PRIORITY t, s SET t.a = 1 WHERE t.i = s.i", "UPDATE t,s (a) WHERE i" },
	{ "DELETE u FROM users u JOIN s ON u.i = s.i WHERE s.a = 1", "DELETE users,s WHERE a" },
	{ "SELECT a FROM t WHERE b IN (REPLACE(c, 'x', 'y')) AND d = 1", "SELECT t (a) WHERE b,d" },
	{ "SELECT a INTO OUTFILE '/x' FROM t", "SELECT t (a)" },
	{ "SELECT a INTO @x FROM t", "SELECT t (a)" },
	{ "SELECT @@version_comment LIMIT 1", "SELECT @@version_comment" },
	{ "SET @@session.autocommit = 1", "SET @@session.autocommit" },
	{ "SET NAMES utf8mb4", "SET names" },
	{ "SHOW FULL COLUMNS FROM t", "SHOW columns" },
	{ "LOAD DATA LOCAL INFILE '/x' INTO TABLE t", "LOAD t" },
	{ "LOCK TABLES a READ, b WRITE", "LOCK a,b" },
	{ "/*!40101 SET NAMES utf8 */", "SET names" },
	{ "SELECT /*! STRAIGHT_JOIN */ a FROM t", "SELECT t (a)" },
	{ "SELECT a FROM t # b\nWHERE c = 1", "SELECT t (a) WHERE c" },
	{ "SELECT a--1 FROM t", "SELECT t (a)" },
	{ "USE shop", "USE" },
};

static const Row names[] = {
	{ "SELECT a FROM orders_2024", "SELECT orders_{} (a)" },
	{ "SELECT a FROM orders_2024_07, log_1_old", "SELECT orders_{}_{},log_{}_old (a)" },
	{ "SELECT a FROM sbtest12 WHERE c1 = 2", "SELECT sbtest{} (a) WHERE c{}" },
	{ "SELECT a FROM oauth2_tokens", "SELECT oauth2_tokens (a)" },
	{ "SELECT a FROM tmp_0123abcd4567ef89", "SELECT tmp_{} (a)" },
	{ "SELECT a FROM deadbeef, facade", "SELECT deadbeef,facade (a)" },
	{ "SELECT a FROM p20240701x", "SELECT p{}x (a)" },
	{ "SELECT a FROM t\xc3\xa4g", "SELECT t??g (a)" },
	{ "EXECUTE pdo_stmt_00000003", "EXECUTE pdo_stmt_{}" },
	{ "SELECT a FROM aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee",
	  "SELECT aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd (a)" },
};

/* The first statement that is no setting or bracket; "; ..." where there is another such. */
static const Row several[] = {
	{ "BEGIN; UPDATE t SET a = 1; COMMIT", "UPDATE t (a)" },
	{ "SET x = 1; SET y = 2", "SET x" },
	{ "SELECT 1 FROM a; SELECT 2 FROM b; SELECT 3 FROM c", "SELECT a; ..." },
	{ "SELECT 1 FROM a; ; -- end", "SELECT a" },
	{ "BEGIN;", "BEGIN" },
	{ "SELECT 1 FROM a; garbage", "SELECT a" },
};

START_TEST(statements)
{
	check_rows(queries, G_N_ELEMENTS(queries), WP_SQL_POSTGRES);
	check_rows(queries, G_N_ELEMENTS(queries), WP_SQL_MYSQL);
	check_rows(filters, G_N_ELEMENTS(filters), WP_SQL_POSTGRES);
	check_rows(filters, G_N_ELEMENTS(filters), WP_SQL_MYSQL);
	check_rows(items, G_N_ELEMENTS(items), WP_SQL_POSTGRES);
	check_rows(items, G_N_ELEMENTS(items), WP_SQL_MYSQL);
	check_rows(names, G_N_ELEMENTS(names), WP_SQL_POSTGRES);
	check_rows(several, G_N_ELEMENTS(several), WP_SQL_POSTGRES);
	check_rows(several, G_N_ELEMENTS(several), WP_SQL_MYSQL);
}
END_TEST

START_TEST(dialects)
{
	check_rows(postgres, G_N_ELEMENTS(postgres), WP_SQL_POSTGRES);
	check_rows(mysql, G_N_ELEMENTS(mysql), WP_SQL_MYSQL);
}
END_TEST

/* Every literal holds the word SECRET; no label may. */
static const char *const secrets_postgres[] = {
	"SELECT * FROM t WHERE a = 'SECRET'",
	"SELECT * FROM t WHERE a = 'it''s SECRET' AND 'SECRET' = b",
	"SELECT * FROM t WHERE a = 'x\\' AND b = 'SECRET'",
	"SELECT * FROM t WHERE a = E'x\\' = SECRET' AND b = 1",
	"SELECT * FROM t WHERE a = $$ FROM SECRET WHERE SECRET = $$",
	"SELECT * FROM t WHERE a = $x$ $$ FROM SECRET $$ $x$ AND b = 1",
	"SELECT * FROM t -- FROM SECRET\nWHERE a = 1",
	"SELECT * FROM t /* FROM /* SECRET */ JOIN SECRET */ WHERE a = 1",
	"SELECT * FROM 'SECRET'",
	"INSERT INTO t VALUES ('SECRET', 'SECRET FROM SECRET')",
	"SELECT 'SECRET FROM SECRET",
	"SELECT * FROM t WHERE a = 'x' 'SECRET' = b",
	"SELECT * FROM \"SECRET",
	"NOTIFY c, 'SECRET'",
	"SET x = 'SECRET'",
	"SET ROLE SECRET",
	"SET search_path TO SECRET",
	"CREATE USER SECRET PASSWORD 'SECRET'",
	"COPY t FROM '/SECRET'",
	"COMMENT ON TABLE t IS 'SECRET'",
	"SELECT f('SECRET')",
	"SECRET",
};
static const char *const secrets_mysql[] = {
	"SELECT * FROM t WHERE a = 'x\\' = SECRET' AND b = 1",
	"SELECT * FROM t WHERE a = \"SECRET\" AND \"SECRET\" = b",
	"SELECT * FROM t WHERE a = \"x\\\" = SECRET\"",
	"SELECT * FROM t WHERE a IN (INSERT(\"SECRET\", 1, 2, \"SECRET\"))",
	"SELECT trim(leading \"x\" from \"SECRET\")",
	"SELECT * FROM t # FROM SECRET",
	"SELECT * FROM t WHERE a = x'5EC' AND b = _utf8'SECRET'",
	"SELECT * FROM t WHERE a = 0xSECRET",
	"INSERT INTO t VALUES ('SECRET'), (\"SECRET\")",
	"SET PASSWORD = 'SECRET'",
	"LOAD DATA INFILE 'SECRET' INTO TABLE t",
	"SELECT a INTO OUTFILE \"SECRET\" FROM t",
	"/* SECRET */ SELECT 1",
};

static void
check_secrets(const char *const *rows, gsize n, guint dialect)
{
	for (gsize i = 0; i < n; i++)
		for (gsize length = 0; length <= strlen(rows[i]); length++) {
			char label[WP_LABEL_MAX + 1];
			g_autofree char *copy = g_memdup2(rows[i], MAX(length, 1));
			wp_label_sql(copy, length, dialect, label, sizeof label, NULL);
			g_autofree char *upper = g_ascii_strup(label, -1);
			ck_assert_msg(!strstr(upper, "SEC"), "%s\n  %s", rows[i], label);
		}
}

START_TEST(no_literals)
{
	check_secrets(secrets_postgres, G_N_ELEMENTS(secrets_postgres), WP_SQL_POSTGRES);
	check_secrets(secrets_mysql, G_N_ELEMENTS(secrets_mysql), WP_SQL_MYSQL);
}
END_TEST

/* Any size of buffer is kept to, and the text that is cut is a prefix. */
START_TEST(small_buffers)
{
	static const char sql[] = "SELECT count(*) FROM a, b, c WHERE d = 1";
	char whole[WP_LABEL_MAX + 1], label[WP_LABEL_MAX + 1];
	gsize length =
		wp_label_sql(sql, sizeof sql - 1, WP_SQL_POSTGRES, whole, sizeof whole, NULL);
	for (gsize size = 1; size <= length + 1; size++) {
		memset(label, 'x', sizeof label);
		ck_assert_uint_eq(
			wp_label_sql(sql, sizeof sql - 1, WP_SQL_POSTGRES, label, size, NULL),
			MIN(length, size - 1));
		ck_assert_int_eq(strncmp(label, whole, size - 1), 0);
		ck_assert_int_eq(label[size - 1], 0);
		ck_assert_int_eq(label[size], 'x');
	}
}
END_TEST

/* Only the first WP_SQL_LOOK_BYTES count, and a name that they cut is left out. */
START_TEST(long_statements)
{
	g_autoptr(GString) sql = g_string_new("SELECT a");
	while (sql->len < WP_SQL_LOOK_BYTES - 10)
		g_string_append(sql, ",a");
	gsize list = sql->len;
	g_string_append(sql, " FROM orders WHERE b = 1");
	char label[WP_LABEL_MAX + 1];
	wp_label_sql(sql->str, sql->len, WP_SQL_MYSQL, label, sizeof label, NULL);
	ck_assert_str_eq(label, "SELECT");
	g_string_erase(sql, 8, (gssize)(list - 8) / 2 * 2 - 200);
	wp_label_sql(sql->str, sql->len, WP_SQL_MYSQL, label, sizeof label, NULL);
	ck_assert_str_eq(label, "SELECT orders (a) WHERE b");
}
END_TEST

START_TEST(minor_statements)
{
	static const struct {
		const char *sql;
		gboolean is_minor;
	} rows[] = {
		{ "BEGIN", TRUE },         { "set x = 1", TRUE },
		{ "COMMIT; BEGIN", TRUE }, { "", TRUE },
		{ "SELECT 1", FALSE },     { "SHOW x", FALSE },
		{ "hello", TRUE },         { "BEGIN; DELETE FROM a", FALSE },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		char label[WP_LABEL_MAX + 1];
		gboolean is_minor;
		wp_label_sql(rows[i].sql, strlen(rows[i].sql), WP_SQL_POSTGRES, label, sizeof label,
			     &is_minor);
		ck_assert_msg(is_minor == rows[i].is_minor, "%s", rows[i].sql);
	}
}
END_TEST

WP_SUITE("label-sql", statements, dialects, no_literals, small_buffers, long_statements,
	 minor_statements)
