/*
 * Names from `kubectl get pods,svc -A -o wide`: tables with a head line each. Columns are aligned, and
 * some cells hold blanks ("1 (3d ago)"), so cells are found by the place of their head:
 *
 *   NAMESPACE  NAME                      READY  STATUS   RESTARTS     AGE  IP           NODE
 *   shop       pod/cart-5d78c9869d-x2x4z 1/1    Running  1 (3d ago)   4d   10.244.0.12  n1
 *
 * Replicas are one node: the random ends of pod names are cut. Kubernetes makes them of the letters
 * below (apimachinery, util/rand: no vowels, no 0 1 3), five for the pod and eight to ten for the
 * hash of the template; the numbers of a StatefulSet stay, as db-0 and db-1 mostly differ in role.
 */
#include <string.h>

#include "infer/names-private.h"

#define RANDOM_LETTERS "bcdfghjklmnpqrstvwxz2456789"

/* Columns that hold addresses: of pods, services, nodes. */
static const char *const address_heads[] = { "IP", "CLUSTER-IP", "EXTERNAL-IP", "INTERNAL-IP" };

/* Offset of each column in a line; -1 where there is none. */
typedef struct {
	int namespace;
	int name;
	int addresses[G_N_ELEMENTS(address_heads)];
} Table;

/* Offset of the word HEAD in LINE, or -1. */
static int
find_head(const char *line, const char *head)
{
	gsize length = strlen(head);

	for (const char *at = strstr(line, head); at; at = strstr(at + 1, head))
		if ((at == line || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
			return (int)(at - line);
	return -1;
}

static gboolean
is_head(const char *line)
{
	return find_head(line, "NAMESPACE") == 0 || find_head(line, "NAME") == 0;
}

gboolean
wp_names_is_kubectl(const char *text)
{
	g_autofree char *line = g_strndup(text, strcspn(text, "\r\n"));
	return is_head(line) && strchr(line, ' ');
}

static void
read_head(const char *line, Table *table)
{
	table->namespace = find_head(line, "NAMESPACE");
	table->name = find_head(line, "NAME");
	for (gsize i = 0; i < G_N_ELEMENTS(address_heads); i++)
		table->addresses[i] = find_head(line, address_heads[i]);
}

/* (transfer full) The word of LINE that begins at OFFSET; NULL where none does. */
static char *
get_cell(const char *line, int offset)
{
	gsize length = strlen(line);

	if (offset < 0 || (gsize)offset >= length || line[offset] == ' ' ||
	    (offset > 0 && line[offset - 1] != ' '))
		return NULL;
	return g_strndup(line + offset, strcspn(line + offset, " "));
}

/* Cuts "-" and MINIMUM to MAXIMUM random letters from the end of NAME; FALSE where there are none. */
static gboolean
cut_random(char *name, gsize minimum, gsize maximum)
{
	char *dash = strrchr(name, '-');
	if (!dash || dash == name)
		return FALSE;
	gsize length = strlen(dash + 1);
	if (length < minimum || length > maximum || strspn(dash + 1, RANDOM_LETTERS) != length)
		return FALSE;
	*dash = '\0';
	return TRUE;
}

/* (transfer full) "shop/cart" of the cells "shop" and "pod/cart-5d78c9869d-x2x4z". */
static char *
make_name(const char *namespace, const char *cell, gboolean is_pod)
{
	const char *slash = strchr(cell, '/');
	g_autofree char *name = g_strdup(slash ? slash + 1 : cell);

	if (is_pod && cut_random(name, 5, 5))
		cut_random(name, 8, 10);
	if (namespace && strcmp(namespace, "default") != 0)
		return g_strconcat(namespace, "/", name, NULL);
	return g_steal_pointer(&name);
}

/* The addresses of one cell, "10.0.0.1,10.0.0.2"; of external ones some are names. */
static gboolean
add_addresses(WpNamesReader *reader, const char *cell, const char *name, const char *head,
	      GError **error)
{
	gboolean is_pod = strcmp(head, "IP") == 0;

	if (cell[0] == '<' || strcmp(cell, "None") == 0)
		return TRUE;
	while (*cell) {
		gsize length = strcspn(cell, ",");
		g_autoptr(GError) problem = NULL;
		if (!wp_names_add(reader, cell, length, name, is_pod, &problem) &&
		    strcmp(head, "EXTERNAL-IP") != 0) {
			g_propagate_error(error, g_steal_pointer(&problem));
			return FALSE;
		}
		cell += length + (cell[length] == ',');
	}
	return TRUE;
}

static gboolean
read_row(WpNamesReader *reader, const Table *table, const char *line, GError **error)
{
	g_autofree char *namespace = get_cell(line, table->namespace);
	g_autofree char *cell = get_cell(line, table->name);

	if (!cell)
		return wp_names_fail(
			reader, error,
			"no name below NAME; the columns of kubectl must stay aligned");
	for (gsize i = 0; i < G_N_ELEMENTS(address_heads); i++) {
		gboolean is_pod = i == 0;
		g_autofree char *addresses = get_cell(line, table->addresses[i]);
		g_autofree char *name = make_name(namespace, cell, is_pod);
		if (addresses && !add_addresses(reader, addresses, name, address_heads[i], error))
			return FALSE;
	}
	return TRUE;
}

gboolean
wp_names_parse_kubectl(WpNamesReader *reader, const char *text, GError **error)
{
	Table table = { -1, -1, { -1, -1, -1, -1 } };
	gboolean in_table = FALSE, has_addresses = FALSE;

	while (*text) {
		gsize length = strcspn(text, "\n");
		g_autofree char *line = g_strndup(text, length);
		g_strchomp(line);
		if (!*line) {
			in_table = FALSE;
		} else if (is_head(line)) {
			read_head(line, &table);
			in_table = TRUE;
			for (gsize i = 0; i < G_N_ELEMENTS(address_heads); i++)
				has_addresses |= table.addresses[i] >= 0;
		} else if (in_table && !read_row(reader, &table, line, error)) {
			return FALSE;
		}
		text += length + (text[length] == '\n');
		reader->line++;
	}
	if (!has_addresses)
		return wp_names_fail(reader, error,
				     "no column of addresses; use kubectl get pods,svc -A -o wide");
	return TRUE;
}
