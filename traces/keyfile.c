/* Groups and keys of a file; see keyfile.h. */
#include "traces/keyfile.h"

#include <string.h>

#include "traces/error.h"
#include "traces/value.h"

G_DEFINE_QUARK(wp - traces - error - quark, wp_traces_error)

static void
clear_entry(gpointer data)
{
	WpKeyEntry *entry = data;
	g_free(entry->name);
	g_free(entry->value);
}

static void
clear_group(gpointer data)
{
	WpKeyGroup *group = data;
	g_free(group->name);
	g_array_unref(group->entries);
}

void
wp_key_file_free(WpKeyFile *file)
{
	if (!file)
		return;
	g_free(file->path);
	g_array_unref(file->groups);
	g_free(file);
}

gboolean
wp_key_file_fail(const WpKeyFile *file, guint line, GError **error, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	g_autofree char *raw = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	g_autofree char *text =
		g_utf8_make_valid(raw, -1); /* what is quoted may be cut in a letter */
	if (line > 0)
		g_set_error(error, WP_TRACES_ERROR, WP_TRACES_ERROR_FORMAT, "%s:%u: %s", file->path,
			    line, text);
	else
		g_set_error(error, WP_TRACES_ERROR, WP_TRACES_ERROR_OPTION, "%s: %s", file->path,
			    text);
	return FALSE;
}

WpKeyGroup *
wp_key_file_group(const WpKeyFile *file, const char *name)
{
	for (guint i = 0; i < file->groups->len; i++) {
		WpKeyGroup *group = &g_array_index(file->groups, WpKeyGroup, i);
		if (strcmp(group->name, name) == 0)
			return group;
	}
	return NULL;
}

WpKeyEntry *
wp_key_group_entry(const WpKeyGroup *group, const char *name)
{
	for (guint i = 0; i < group->entries->len; i++) {
		WpKeyEntry *entry = &g_array_index(group->entries, WpKeyEntry, i);
		if (strcmp(entry->name, name) == 0)
			return entry;
	}
	return NULL;
}

static WpKeyGroup *
add_group(WpKeyFile *file, const char *name, guint line)
{
	WpKeyGroup group = { g_strdup(name), line, NULL };

	group.entries = g_array_new(FALSE, FALSE, sizeof(WpKeyEntry));
	g_array_set_clear_func(group.entries, clear_entry);
	g_array_append_val(file->groups, group);
	return &g_array_index(file->groups, WpKeyGroup, file->groups->len - 1);
}

WpKeyGroup *
wp_key_file_make_group(WpKeyFile *file, const char *name)
{
	WpKeyGroup *group = wp_key_file_group(file, name);

	return group ? group : add_group(file, name, 0);
}

static void
add_entry(WpKeyGroup *group, const char *name, const char *value, guint line)
{
	WpKeyEntry entry = { g_strdup(name), g_strdup(value), line };

	g_array_append_val(group->entries, entry);
}

void
wp_key_group_set(WpKeyGroup *group, const char *name, const char *value)
{
	WpKeyEntry *entry = wp_key_group_entry(group, name);

	if (!entry) {
		add_entry(group, name, value, 0);
		return;
	}
	g_free(entry->value);
	entry->value = g_strdup(value);
	entry->line = 0;
}

static gboolean
read_group(WpKeyFile *file, char *text, guint line, GError **error)
{
	gsize length = strlen(text);

	gboolean is_whole = text[length - 1] == ']';
	text[length - 1] = '\0';
	if (!is_whole || !*g_strstrip(text + 1))
		return wp_key_file_fail(file, line, error, "a group is written [name]");
	const WpKeyGroup *same = wp_key_file_group(file, text + 1);
	if (same)
		return wp_key_file_fail(file, line, error,
					"the group [%s] stands in line %u already", text + 1,
					same->line);
	add_group(file, text + 1, line);
	return TRUE;
}

static gboolean
read_entry(WpKeyFile *file, char *text, guint line, GError **error)
{
	char *equals = strchr(text, '=');

	if (!equals || equals == text)
		return wp_key_file_fail(file, line, error, "expected key = value, not \"%.40s\"",
					text);
	if (file->groups->len == 0)
		return wp_key_file_fail(file, line, error, "expected a [group] before keys");
	*equals = '\0';
	WpKeyGroup *group = &g_array_index(file->groups, WpKeyGroup, file->groups->len - 1);
	g_strstrip(text);
	const WpKeyEntry *same = wp_key_group_entry(group, text);
	if (same)
		return wp_key_file_fail(file, line, error, "\"%s\" stands in line %u already", text,
					same->line);
	add_entry(group, text, g_strstrip(equals + 1), line);
	return TRUE;
}

/* One line, with those that continue it; FALSE where it is wrong. *AT moves on to the next. */
static gboolean
read_line(WpKeyFile *file, const char **at, guint *line, GError **error)
{
	g_autoptr(GString) whole = g_string_new(NULL);
	guint first = *line + 1;
	gboolean goes_on = TRUE;

	while (goes_on && **at) {
		gsize length = strcspn(*at, "\n");
		goes_on = length > 0 && (*at)[length - 1] == '\\';
		g_string_append_len(whole, *at, (gssize)(length - goes_on));
		*at += length + ((*at)[length] == '\n');
		(*line)++;
	}
	g_strstrip(whole->str);
	if (whole->str[0] == '\0' || whole->str[0] == '#')
		return TRUE;
	return whole->str[0] == '[' ? read_group(file, whole->str, first, error)
				    : read_entry(file, whole->str, first, error);
}

WpKeyFile *
wp_key_file_new(const char *text, const char *path, GError **error)
{
	g_autoptr(WpKeyFile) file = g_new0(WpKeyFile, 1);
	guint line = 0;

	file->path = g_strdup(path);
	file->groups = g_array_new(FALSE, FALSE, sizeof(WpKeyGroup));
	g_array_set_clear_func(file->groups, clear_group);
	while (*text)
		if (!read_line(file, &text, &line, error))
			return NULL;
	return g_steal_pointer(&file);
}

static gboolean
fail_unknown(const WpKeyFile *file, const WpKeyGroup *parameters, const WpKeyEntry *entry,
	     const char *name, GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();

	for (guint i = 0; parameters && i < parameters->entries->len; i++)
		g_ptr_array_add(names, g_array_index(parameters->entries, WpKeyEntry, i).name);
	g_ptr_array_add(names, NULL);
	g_autofree char *hint = wp_value_hint(name, (const char *const *)names->pdata);
	return wp_key_file_fail(file, entry->line, error, "there is no parameter \"%s\"%s", name,
				hint);
}

/* The value of ENTRY with parameters put in; what they hold is not looked at again. */
static gboolean
expand_entry(WpKeyFile *file, const WpKeyGroup *parameters, WpKeyEntry *entry, GError **error)
{
	g_autoptr(GString) whole = g_string_new(NULL);
	const char *at = entry->value;

	while (*at) {
		gsize plain = strcspn(at, "$");
		g_string_append_len(whole, at, (gssize)plain);
		at += plain;
		if (!*at)
			break;
		gboolean has_brace = at[1] == '{';
		at += 1 + has_brace;
		gsize length = 0;
		while (g_ascii_isalnum(at[length]) || at[length] == '_' || at[length] == '-')
			length++;
		g_autofree char *name = g_strndup(at, length);
		const WpKeyEntry *value = parameters ? wp_key_group_entry(parameters, name) : NULL;
		if (!value)
			return fail_unknown(file, parameters, entry, name, error);
		if (has_brace && at[length] != '}')
			return wp_key_file_fail(file, entry->line, error, "\"${%s\" has no end",
						name);
		g_string_append(whole, value->value);
		at += length + has_brace;
	}
	g_free(entry->value);
	entry->value = g_string_free(g_steal_pointer(&whole), FALSE);
	return TRUE;
}

gboolean
wp_key_file_expand(WpKeyFile *file, const char *parameters, GError **error)
{
	const WpKeyGroup *source = wp_key_file_group(file, parameters);

	for (guint i = 0; i < file->groups->len; i++) {
		WpKeyGroup *group = &g_array_index(file->groups, WpKeyGroup, i);
		for (guint j = 0; group != source && j < group->entries->len; j++)
			if (!expand_entry(file, source,
					  &g_array_index(group->entries, WpKeyEntry, j), error))
				return FALSE;
	}
	return TRUE;
}
