/*
 * Owners: lines of words to connections. Of a line only what is needed is looked for: the first two words that
 * are ends of a connection, and who has it; so that the columns of all versions of ss and netstat do.
 */
#include "infer/owners.h"

#include <stdlib.h>
#include <string.h>

#include "infer/map.h"
#include "infer/pattern.h"
#include "infer/text-file.h"

#define MAX_END 80 /* an IPv6 address with brackets, scope and port fits */

typedef struct {
	WpEndpoint local, peer;
	guint32 process; /* index into processes */
} Connection;

struct WpOwners {
	GArray *connections;  /* Connection, sorted by ends; the first of equal ones counts */
	GPtrArray *processes; /* GArray of guint16: local ports */
	WpMap *numbers;       /* process id -> index into processes */
	gboolean has_listeners;
};

static WpOwners *
owners_new(void)
{
	WpOwners *owners = g_new0(WpOwners, 1);
	owners->connections = g_array_new(FALSE, TRUE, sizeof(Connection));
	owners->processes = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);
	owners->numbers = wp_map_new();
	return owners;
}

void
wp_owners_free(WpOwners *owners)
{
	if (!owners)
		return;
	g_array_unref(owners->connections);
	g_ptr_array_unref(owners->processes);
	wp_map_free(owners->numbers);
	g_free(owners);
}

/*
 * "10.0.0.1:80", "[::1]:80", "::1:80" (netstat), "127.0.0.1%lo:53"; of listeners "0.0.0.0:80", "*:80" and, as the
 * peer, "*:*". FALSE where WORD is no end.
 */
static gboolean
parse_end(const char *word, WpEndpoint *out)
{
	char address[MAX_END];
	const char *colon = strrchr(word, ':');
	guint64 port = 0;

	if (!colon || colon == word || (gsize)(colon - word) >= sizeof address)
		return FALSE;
	if (strcmp(colon + 1, "*") != 0 &&
	    !g_ascii_string_to_unsigned(colon + 1, 10, 0, 65535, &port, NULL))
		return FALSE;
	memcpy(address, word, (gsize)(colon - word));
	address[colon - word] = '\0';
	char *text = address, *scope = strchr(address, '%');
	gsize length = strlen(address);
	if (*text == '[' && address[length - 1] == ']') {
		address[length - 1] = '\0';
		text++;
	}
	if (scope)
		*scope = '\0';
	WpEndpoint end = { .port = 0 };
	if (strcmp(text, "*") != 0 && (!wp_endpoint_parse(text, &end) || end.port))
		return FALSE;
	end.port = (guint16)port;
	*out = end;
	return TRUE;
}

/* The process ids in WORD: ("app",pid=712,fd=9),("app",pid=713,fd=9), or 712/app. */
static gboolean
parse_processes(WpOwners *owners, const char *word, const Connection *connection)
{
	gboolean is_ss = g_str_has_prefix(word, "users:(");
	const char *at = is_ss ? strstr(word, "pid=") : word;
	gboolean found = FALSE;

	while (at) {
		char *end;
		guint64 id = g_ascii_strtoull(at + (is_ss ? 4 : 0), &end, 10);
		if (!g_ascii_isdigit(at[is_ss ? 4 : 0]) || (!is_ss && *end != '/'))
			return found;
		guint32 number = wp_map_number(owners->numbers, id);
		if (number == owners->processes->len)
			g_ptr_array_add(owners->processes,
					g_array_new(FALSE, FALSE, sizeof(guint16)));
		g_array_append_val((GArray *)owners->processes->pdata[number],
				   connection->local.port);
		Connection mine = *connection;
		mine.process = number;
		if (connection->peer.port)
			g_array_append_val(owners->connections, mine);
		found = TRUE;
		at = is_ss ? strstr(end, "pid=") : NULL;
	}
	return found;
}

/* TRUE where LINE said whose a connection or a listener is. */
static gboolean
parse_line(WpOwners *owners, const char *line)
{
	g_auto(GStrv) words = g_strsplit_set(line, " \t\r", -1);
	WpEndpoint ends[2];
	guint n = 0;
	gboolean found = FALSE;

	for (char **word = words; *word && !found; word++) {
		Connection connection = { 0 };
		if (n < 2) {
			n += parse_end(*word, &ends[n]);
			continue;
		}
		connection.local = ends[0];
		connection.peer = ends[1];
		found = parse_processes(owners, *word, &connection);
	}
	owners->has_listeners |= found && ends[1].port == 0;
	return found;
}

static int
compare_connections(gconstpointer a, gconstpointer b)
{
	const Connection *x = a, *y = b;
	int order = memcmp(x->local.address, y->local.address, 16);

	if (order == 0)
		order = memcmp(x->peer.address, y->peer.address, 16);
	if (order == 0)
		order = (x->local.port > y->local.port) - (x->local.port < y->local.port);
	return order ? order : (x->peer.port > y->peer.port) - (x->peer.port < y->peer.port);
}

WpOwners *
wp_owners_parse(const char *text, const char *path, GError **error)
{
	g_autoptr(WpOwners) owners = owners_new();
	gboolean found = FALSE;

	while (*text) {
		gsize length = strcspn(text, "\n");
		g_autofree char *line = g_strndup(text, length);
		found |= parse_line(owners, line);
		text += length + (text[length] != '\0');
	}
	if (!found) {
		g_set_error(error, WP_INFER_ERROR, WP_INFER_ERROR_FORMAT,
			    "cannot read owners from %s: no line names a connection and its "
			    "process; it is "
			    "to be what 'ss -tnap' prints, run by root",
			    path);
		return NULL;
	}
	g_array_sort(owners->connections, compare_connections);
	return g_steal_pointer(&owners);
}

WpOwners *
wp_owners_read(const char *path, GError **error)
{
	g_autofree char *text = wp_text_file_read(path, "owners", WP_OWNERS_MAX_BYTES, error);
	return text ? wp_owners_parse(text, path, error) : NULL;
}

gboolean
wp_owners_find(const WpOwners *owners, const WpEndpoint *local, const WpEndpoint *peer,
	       const guint16 **out_ports, guint *out_n)
{
	Connection key = { .process = 0 };

	memcpy(key.local.address, local->address, 16);
	memcpy(key.peer.address, peer->address, 16);
	key.local.port = local->port;
	key.peer.port = peer->port;
	const Connection *found =
		owners->connections->len
			? bsearch(&key, owners->connections->data, owners->connections->len,
				  sizeof key, compare_connections)
			: NULL;
	if (!found)
		return FALSE;
	const GArray *ports = owners->processes->pdata[found->process];
	*out_ports = (const guint16 *)(const void *)ports->data;
	*out_n = ports->len;
	return TRUE;
}

gboolean
wp_owners_has_listeners(const WpOwners *owners)
{
	return owners->has_listeners;
}
