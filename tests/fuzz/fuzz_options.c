/*
 * Words, one a line, through the parser of every command, with the tables of all of them. What --where,
 * --columns and --expr were given is compiled, and --where evaluated on a call.
 */
#include <stdint.h>
#include <string.h>

#include "report/column.h"
#include "report/command.h"
#include "report/measure.h"
#include "report/triggers.h"
#include "report/where.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void
try_expression(const char *text)
{
	static const WpWhereCall call = { "web", "10.0.0.1", "db", "", "GET /", "http", "ok", 1,
					  2,     5,          6,    7,  0,       0,      0 };
	g_autoptr(GError) error = NULL;
	g_autoptr(WpWhere) where = wp_where_new(text, &error);
	g_assert((where == NULL) == (error != NULL));
	if (!where)
		return;
	wp_where_matches(where, &call);
	wp_where_needs_return(where);
}

static void
try_triggers(const char *text)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(WpTriggers) triggers = wp_triggers_new(&text, 1, &error);
	g_assert((triggers == NULL) == (error != NULL));
}

static void
try_measure(const char *text)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(WpMeasure) measure = wp_measure_new(text, &error);
	g_assert((measure == NULL) == (error != NULL));
}

static void
try_columns(const char *text)
{
	WpColumnSet set;
	g_autoptr(GError) error = NULL;
	g_assert(wp_columns_parse(text, &set, &error) == (error == NULL));
}

static void
try_command(const WpCommand *command, GStrv words)
{
	gpointer options = g_malloc0(command->options_size);
	g_autoptr(WpOptions) parser = wp_options_new();
	g_autoptr(GPtrArray) operands = g_ptr_array_new();
	g_autoptr(GError) error = NULL;
	if (command->declare)
		command->declare(parser, options);
	gboolean ok = wp_options_parse(parser, words, g_strv_length(words), operands, &error);
	g_assert(ok == (error == NULL));
	if (command->clear)
		command->clear(options);
	g_free(options);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autofree char *text = g_strndup((const char *)data, size);
	g_auto(GStrv) words = g_strsplit(text, "\n", 1000);
	for (const WpCommand *const *command = wp_commands; *command; command++)
		try_command(*command, words);
	for (gsize i = 0; words[i]; i++) {
		try_expression(words[i]);
		try_triggers(words[i]);
		try_measure(words[i]);
		try_columns(words[i]);
	}
	return 0;
}
