/* Names files: the store, and lines of the form ADDRESS[/BITS][:PORT] NAME. */
#include "infer/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/record.h"
#include "infer/names-private.h"
#include "infer/pattern.h"
#include "infer/text-file.h"

#define MAX_NAME    253 /* of a DNS name, RFC 1035 section 2.3.4 */
#define MAX_ADDRESS 80  /* an IPv6 address with brackets, prefix, scope and port fits */
#define ALL_BITS    128

typedef struct {
	guint8 address[16]; /* bits after the prefix are 0 */
	guint8 bits;        /* of the prefix, IPv4 counted as ::ffff:a.b.c.d */
	gboolean is_pod;
	guint16 port; /* 0 = none */
	guint32 line; /* order of the file */
	char *name;
} Entry;

struct WpNames {
	GArray *entries; /* Entry; sorted: longest prefix first, then address, port, line */
	guint n_exact;   /* the first ones, with all bits */
};

static void
clear_entry(gpointer data)
{
	g_free(((Entry *)data)->name);
}

static WpNames *
names_new(void)
{
	WpNames *names = g_new0(WpNames, 1);
	names->entries = g_array_new(FALSE, FALSE, sizeof(Entry));
	g_array_set_clear_func(names->entries, clear_entry);
	return names;
}

void
wp_names_free(WpNames *names)
{
	if (!names)
		return;
	g_array_unref(names->entries);
	g_free(names);
}

gboolean
wp_names_fail(const WpNamesReader *reader, GError **error, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	g_autofree char *message = g_strdup_vprintf(format, arguments);
	va_end(arguments);
	g_set_error(error, WP_INFER_ERROR, WP_INFER_ERROR_FORMAT,
		    "cannot read names from %s: line %u: %s", reader->path, reader->line, message);
	return FALSE;
}

/* Takes the scope out of "fe80::1%eth0": a capture does not know interfaces. */
static void
strip_scope(char *text)
{
	char *scope = strchr(text, '%');
	if (scope) {
		char *rest = scope + strcspn(scope, "]/");
		memmove(scope, rest, strlen(rest) + 1);
	}
}

static void
mask_address(guint8 address[16], guint bits)
{
	for (guint i = 0; i < 16; i++)
		if (bits < 8 * i + 8)
			address[i] &= bits <= 8 * i ? 0 : (guint8)(0xff00 >> (bits - 8 * i));
}

/* "10.0.0.0/8", "[fd00::]/8:80", "10.0.0.1:80", ... */
static gboolean
parse_target(const char *text, Entry *entry)
{
	char copy[MAX_ADDRESS];
	WpEndpoint endpoint;
	guint64 bits = ALL_BITS, port = 0;

	if (g_strlcpy(copy, text, sizeof copy) >= sizeof copy)
		return FALSE;
	strip_scope(copy);
	char *slash = strchr(copy, '/');
	if (slash)
		*slash = '\0';
	if (!wp_endpoint_parse(copy, &endpoint) || (slash && endpoint.port))
		return FALSE;
	port = endpoint.port;
	if (slash) {
		gboolean is_ipv6 = strchr(copy, ':') != NULL;
		char *colon = strchr(slash + 1, ':');
		if (colon)
			*colon = '\0';
		if (!g_ascii_string_to_unsigned(slash + 1, 10, 0, is_ipv6 ? 128 : 32, &bits, NULL))
			return FALSE;
		if (colon && !g_ascii_string_to_unsigned(colon + 1, 10, 1, 65535, &port, NULL))
			return FALSE;
		bits += is_ipv6 ? 0 : 96;
	}
	memcpy(entry->address, endpoint.address, 16);
	mask_address(entry->address, (guint)bits);
	entry->bits = (guint8)bits;
	entry->port = (guint16)port;
	return TRUE;
}

static gboolean
is_good_name(const char *name)
{
	if (!name[0] || strlen(name) > MAX_NAME || !g_utf8_validate(name, -1, NULL))
		return FALSE;
	for (const char *c = name; *c; c = g_utf8_next_char(c))
		if (!g_unichar_isgraph(g_utf8_get_char(c)))
			return FALSE;
	return TRUE;
}

gboolean
wp_names_add(WpNamesReader *reader, const char *address, gsize length, const char *name,
	     gboolean is_pod, GError **error)
{
	g_autofree char *target = g_strndup(address, length);
	g_autofree char *shown = g_utf8_make_valid(target, -1);
	Entry entry = { .is_pod = is_pod, .line = reader->line };

	if (!parse_target(target, &entry))
		return wp_names_fail(reader, error,
				     "\"%s\" is no address; wanted ADDRESS[/BITS][:PORT] NAME",
				     shown);
	if (!is_good_name(name))
		return wp_names_fail(reader, error,
				     "the name of %s is empty, too long or not printable", shown);
	entry.name = g_strdup(name);
	g_array_append_val(reader->names->entries, entry);
	return TRUE;
}

static int
compare_keys(const Entry *a, const Entry *b)
{
	if (a->bits != b->bits)
		return a->bits > b->bits ? -1 : 1;
	int order = memcmp(a->address, b->address, 16);
	return order ? order : (a->port > b->port) - (a->port < b->port);
}

static int
compare_entries(const void *a, const void *b)
{
	const Entry *left = a, *right = b;
	int order = compare_keys(left, right);
	return order ? order : (left->line > right->line) - (left->line < right->line);
}

/* Sorts; of entries with one key the first stays, of pods with different names none. */
static void
finish(WpNames *names)
{
	GArray *old = names->entries;

	names->entries = g_array_new(FALSE, FALSE, sizeof(Entry));
	g_array_set_clear_func(names->entries, clear_entry);
	if (old->len)
		qsort(old->data, old->len, sizeof(Entry), compare_entries);
	for (guint begin = 0, end; begin < old->len; begin = end) {
		Entry *first = &g_array_index(old, Entry, begin);
		gboolean is_shared = FALSE;
		for (end = begin + 1; end < old->len; end++) {
			const Entry *next = &g_array_index(old, Entry, end);
			if (compare_keys(first, next) != 0)
				break;
			is_shared |= first->is_pod && next->is_pod &&
				     strcmp(first->name, next->name) != 0;
		}
		if (is_shared)
			continue;
		g_array_append_val(names->entries, *first);
		first->name = NULL;
		names->n_exact +=
			g_array_index(names->entries, Entry, names->entries->len - 1).bits ==
			ALL_BITS;
	}
	g_array_unref(old);
}

/* One line of our own form or of hosts(5). */
static gboolean
parse_line(WpNamesReader *reader, char *line, GError **error)
{
	static const char blank[] = " \t\r\f\v";

	line[strcspn(line, "#")] = '\0';
	char *address = line + strspn(line, blank);
	if (!*address)
		return TRUE;
	gsize length = strcspn(address, blank);
	char *name = address + length + strspn(address + length, blank);
	name[strcspn(name, blank)] = '\0';
	if (!*name) {
		g_autofree char *shown = g_utf8_make_valid(address, (gssize)length);
		return wp_names_fail(reader, error,
				     "no name after \"%s\"; wanted ADDRESS[/BITS][:PORT] NAME",
				     shown);
	}
	return wp_names_add(reader, address, length, name, FALSE, error);
}

static gboolean
parse_lines(WpNamesReader *reader, const char *text, GError **error)
{
	while (*text) {
		gsize length = strcspn(text, "\n");
		g_autofree char *line = g_strndup(text, length);
		if (!parse_line(reader, line, error))
			return FALSE;
		text += length + (text[length] == '\n');
		reader->line++;
	}
	return TRUE;
}

WpNames *
wp_names_parse(const char *text, const char *path, GError **error)
{
	g_autoptr(WpNames) names = names_new();
	WpNamesReader reader = { names, path, 1 };
	gboolean ok;

	if (g_str_has_prefix(text, "\xef\xbb\xbf"))
		text += 3; /* a byte order mark */
	if (wp_names_is_docker(text))
		ok = wp_names_parse_docker(&reader, text, error);
	else if (wp_names_is_kubectl(text))
		ok = wp_names_parse_kubectl(&reader, text, error);
	else
		ok = parse_lines(&reader, text, error);
	if (!ok)
		return NULL;
	finish(names);
	return g_steal_pointer(&names);
}

WpNames *
wp_names_read(const char *path, GError **error)
{
	g_autofree char *text = wp_text_file_read(path, "names", WP_NAMES_MAX_BYTES, error);
	if (!text)
		return NULL;
	return wp_names_parse(text, path, error);
}

static int
compare_key_entry(const void *key, const void *entry)
{
	return compare_keys(key, entry);
}

const char *
wp_names_find(const WpNames *names, const guint8 address[16], guint16 port)
{
	const Entry *entries = (const Entry *)(const void *)names->entries->data;
	Entry key = { .bits = ALL_BITS, .port = port };

	memcpy(key.address, address, 16);
	const Entry *found = names->n_exact ? bsearch(&key, entries, names->n_exact, sizeof key,
						      compare_key_entry)
					    : NULL;
	for (guint i = names->n_exact; !found && i < names->entries->len; i++) {
		guint8 masked[16];
		memcpy(masked, address, 16);
		mask_address(masked, entries[i].bits);
		if (entries[i].port == port && memcmp(masked, entries[i].address, 16) == 0)
			found = &entries[i];
	}
	return found ? found->name : NULL;
}

guint
wp_names_count(const WpNames *names)
{
	return names->entries->len;
}
