/*
 * Prepared statements in two arrays. Keys are looked for one by one: a flow has a few dozen, and 512
 * of them are 4 KiB, less than what hashing saves.
 */
#include "capture/statements.h"

#define FIRST_STATEMENTS 4

static gssize
find(const WpStatements *statements, guint64 key)
{
	for (guint i = 0; i < statements->n; i++)
		if (statements->keys[i] == key)
			return i;
	return -1;
}

static guint
oldest(const WpStatements *statements)
{
	guint found = 0;
	for (guint i = 1; i < statements->n; i++)
		if (statements->statements[i].used < statements->statements[found].used)
			found = i;
	return found;
}

static void
grow(WpStatements *statements)
{
	if (statements->n < statements->n_allocated)
		return;
	guint n = MAX(FIRST_STATEMENTS, statements->n_allocated * 2);
	statements->keys = g_renew(guint64, statements->keys, n);
	statements->statements = g_renew(WpStatement, statements->statements, n);
	statements->n_allocated = n;
}

WpStatement *
wp_statements_put(WpStatements *statements, guint64 key, gboolean *out_forgot)
{
	gssize at = find(statements, key);
	*out_forgot = at < 0 && statements->n == WP_STATEMENTS_MAX;
	if (at < 0 && statements->n == WP_STATEMENTS_MAX) {
		at = oldest(statements);
	} else if (at < 0) {
		grow(statements);
		at = statements->n++;
	}
	statements->keys[at] = key;
	statements->statements[at] = (WpStatement){ .used = ++statements->clock };
	return &statements->statements[at];
}

WpStatement *
wp_statements_find(WpStatements *statements, guint64 key)
{
	gssize at = find(statements, key);
	if (at < 0)
		return NULL;
	statements->statements[at].used = ++statements->clock;
	return &statements->statements[at];
}

void
wp_statements_remove(WpStatements *statements, guint64 key)
{
	gssize at = find(statements, key);
	if (at < 0)
		return;
	guint last = --statements->n;
	statements->keys[at] = statements->keys[last];
	statements->statements[at] = statements->statements[last];
}

void
wp_statements_clear(WpStatements *statements)
{
	g_free(statements->keys);
	g_free(statements->statements);
	*statements = (WpStatements){ 0 };
}
