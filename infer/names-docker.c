/*
 * Names from `docker network inspect`: a JSON array whose objects hold, in "Containers", objects with
 * the strings "Name" and "IPv4Address" or "IPv6Address" ("172.18.0.2/16"). Only that much of JSON
 * (RFC 8259) is read: strings, and which object they stand in; what is between them is skipped.
 */
#include <string.h>

#include "infer/names-private.h"

#define MAX_DEPTH 64 /* docker needs five */

/* The strings of one object that are of interest. */
typedef struct {
	char *name;
	char *addresses[2];
} Object;

typedef struct {
	WpNamesReader *reader;
	const char *at;
	GArray *objects; /* Object: those that are open */
	GString *string; /* the last string read */
	GString *key;    /* the key it belongs to; empty outside of objects */
} Parser;

static void
clear_object(gpointer data)
{
	Object *object = data;
	g_free(object->name);
	g_free(object->addresses[0]);
	g_free(object->addresses[1]);
}

gboolean
wp_names_is_docker(const char *text)
{
	const char *at = text + strspn(text, " \t\r\n");
	if (*at == '[') /* not "[fe80::1]:80 name" */
		at += 1 + strspn(at + 1, " \t\r\n");
	return *at == '{' || (*at == ']' && at > text);
}

static void
skip_blanks(Parser *parser)
{
	for (; *parser->at && strchr(" \t\r\n", *parser->at); parser->at++)
		parser->reader->line += *parser->at == '\n';
}

/* "\n", "\u00e9", ...: the character after a backslash. Names need no surrogate pairs. */
static gboolean
read_escape(Parser *parser)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	char letter = *parser->at;
	const char *found = letter ? strchr(letters, letter) : NULL;
	gunichar code = 0;

	if (found) {
		g_string_append_c(parser->string, meant[found - letters]);
		parser->at++;
		return TRUE;
	}
	for (int i = 1; letter == 'u' && i <= 4; i++) {
		int digit = g_ascii_xdigit_value(parser->at[i]);
		if (digit < 0)
			return FALSE;
		code = code << 4 | (gunichar)digit;
	}
	if (letter != 'u')
		return FALSE;
	g_string_append_unichar(parser->string, g_unichar_validate(code) && code ? code : 0xfffd);
	parser->at += 5;
	return TRUE;
}

/* Reads the string whose first quote is at parser->at. */
static gboolean
read_string(Parser *parser)
{
	g_string_truncate(parser->string, 0);
	for (parser->at++; *parser->at != '"';) {
		if (*parser->at == '\0' || *parser->at == '\n')
			return FALSE;
		if (*parser->at != '\\') {
			g_string_append_c(parser->string, *parser->at++);
			continue;
		}
		parser->at++;
		if (!read_escape(parser))
			return FALSE;
	}
	parser->at++;
	return TRUE;
}

static void
keep_value(Parser *parser)
{
	Object *object = &g_array_index(parser->objects, Object, parser->objects->len - 1);
	char **place = NULL;

	if (strcmp(parser->key->str, "Name") == 0)
		place = &object->name;
	else if (strcmp(parser->key->str, "IPv4Address") == 0)
		place = &object->addresses[0];
	else if (strcmp(parser->key->str, "IPv6Address") == 0)
		place = &object->addresses[1];
	if (place) {
		g_free(*place);
		*place = g_strdup(parser->string->str);
	}
	g_string_truncate(parser->key, 0);
}

/* At '}': the innermost object has all its strings. */
static gboolean
close_object(Parser *parser, GError **error)
{
	Object *object = &g_array_index(parser->objects, Object, parser->objects->len - 1);

	for (int i = 0; i < 2; i++) {
		const char *address = object->addresses[i];
		if (!address || !*address)
			continue;
		const char *name = object->name ? object->name : "";
		if (!wp_names_add(parser->reader, address, strcspn(address, "/"),
				  name + (*name == '/'), FALSE, error))
			return FALSE;
	}
	g_array_set_size(parser->objects, parser->objects->len - 1);
	return TRUE;
}

static gboolean
parse_string(Parser *parser, GError **error)
{
	if (!read_string(parser))
		return wp_names_fail(parser->reader, error,
				     "a string does not end or has a bad escape");
	skip_blanks(parser);
	if (*parser->at == ':') {
		g_string_assign(parser->key, parser->string->str);
		parser->at++;
	} else if (parser->objects->len) {
		keep_value(parser);
	}
	return TRUE;
}

static gboolean
parse_token(Parser *parser, GError **error)
{
	Object object = { NULL, { NULL, NULL } };

	if (*parser->at == '"')
		return parse_string(parser, error);
	if (*parser->at == '{') {
		if (parser->objects->len == MAX_DEPTH)
			return wp_names_fail(parser->reader, error, "objects are nested too deep");
		g_array_append_val(parser->objects, object);
		g_string_truncate(parser->key, 0);
	} else if (*parser->at == '}') {
		if (parser->objects->len == 0)
			return wp_names_fail(parser->reader, error, "unexpected }");
		if (!close_object(parser, error))
			return FALSE;
	} else if (*parser->at == ',' || *parser->at == '[') {
		g_string_truncate(parser->key, 0);
	}
	parser->at++;
	return TRUE;
}

gboolean
wp_names_parse_docker(WpNamesReader *reader, const char *text, GError **error)
{
	g_autoptr(GArray) objects = g_array_new(FALSE, FALSE, sizeof(Object));
	g_autoptr(GString) string = g_string_new(NULL);
	g_autoptr(GString) key = g_string_new(NULL);
	Parser parser = { reader, text, objects, string, key };

	g_array_set_clear_func(objects, clear_object);
	for (skip_blanks(&parser); *parser.at; skip_blanks(&parser))
		if (!parse_token(&parser, error))
			return FALSE;
	if (objects->len)
		return wp_names_fail(reader, error, "the text ends inside an object");
	return TRUE;
}
