/* See rmi-names.h. */
#include "capture/rmi-names.h"

#include <string.h>

#include "capture/input.h"
#include "capture/trace.h"

#define PIECE_BYTES (256 * 1024)
#define NAME_BYTES  200
#define HASH_DIGITS 16

struct WpRmiNames {
	GHashTable *names; /* hash -> name */
	char *interface;   /* of javap's page: the last one */
	char *method;      /* whose descriptor is on the next line */
	guint64 n_lines;
};

typedef struct {
	const char *text;
	gsize length;
} Piece;

WpRmiNames *
wp_rmi_names_new(void)
{
	WpRmiNames *names = g_new0(WpRmiNames, 1);
	names->names = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
	return names;
}

void
wp_rmi_names_free(WpRmiNames *names)
{
	if (!names)
		return;
	g_hash_table_unref(names->names);
	g_free(names->interface);
	g_free(names->method);
	g_free(names);
}

guint64
wp_rmi_method_hash(const char *method, gsize length)
{
	guint8 count[2] = { (guint8)(length >> 8), (guint8)length }, digest[20];
	gsize n = sizeof digest;
	guint64 hash = 0;
	GChecksum *sum = g_checksum_new(G_CHECKSUM_SHA1);
	g_checksum_update(sum, count, sizeof count);
	g_checksum_update(sum, (const guchar *)method, (gssize)length);
	g_checksum_get_digest(sum, digest, &n);
	g_checksum_free(sum);
	for (int i = 7; i >= 0; i--)
		hash = hash << 8 | digest[i];
	return hash;
}

const char *
wp_rmi_names_find(const WpRmiNames *names, guint64 hash)
{
	return names ? g_hash_table_lookup(names->names, &hash) : NULL;
}

/* --- lines --- */

static gboolean
starts_with(const Piece *piece, const char *start)
{
	gsize n = strlen(start);
	return piece->length >= n && memcmp(piece->text, start, n) == 0;
}

static Piece
trim(Piece piece)
{
	while (piece.length && g_ascii_isspace(piece.text[0]))
		piece.text++, piece.length--;
	while (piece.length && g_ascii_isspace(piece.text[piece.length - 1]))
		piece.length--;
	return piece;
}

/* Behind the last '.' or '$' of a name. */
static Piece
last_part(Piece name)
{
	for (gsize i = name.length; i > 0; i--)
		if (name.text[i - 1] == '.' || name.text[i - 1] == '$')
			return (Piece){ name.text + i, name.length - i };
	return name;
}

/* One type of a descriptor at AT; the position behind it, 0 where there is none. */
static gsize
type_at(const Piece *piece, gsize at, gboolean may_be_void)
{
	while (at < piece->length && piece->text[at] == '[') {
		may_be_void = FALSE;
		at++;
	}
	if (at == piece->length || piece->text[at] == '\0')
		return 0;
	if (strchr("BCDFIJSZ", piece->text[at]) || (may_be_void && piece->text[at] == 'V'))
		return at + 1;
	const char *end =
		piece->text[at] == 'L' ? memchr(piece->text + at, ';', piece->length - at) : NULL;
	return end && end > piece->text + at + 1 ? (gsize)(end - piece->text) + 1 : 0;
}

/* "(Ljava/lang/String;I)D" */
static gboolean
is_descriptor(Piece piece)
{
	gsize at = 1;
	if (piece.length < 3 || piece.text[0] != '(')
		return FALSE;
	while (at && at < piece.length && piece.text[at] != ')')
		at = type_at(&piece, at, FALSE);
	if (!at || at == piece.length)
		return FALSE;
	return type_at(&piece, at + 1, TRUE) == piece.length;
}

static void
add_name(WpRmiNames *names, guint64 hash, char *name)
{
	if (g_hash_table_size(names->names) < WP_RMI_NAMES_MAX)
		g_hash_table_insert(names->names, g_memdup2(&hash, sizeof hash), name);
	else
		g_free(name);
}

static void
add_method(WpRmiNames *names, Piece interface, Piece method, Piece descriptor)
{
	g_autofree char *whole = g_strdup_printf("%.*s%.*s", (int)method.length, method.text,
						 (int)descriptor.length, descriptor.text);
	Piece last = last_part(interface);
	add_name(names, wp_rmi_method_hash(whole, strlen(whole)),
		 g_strdup_printf("%.*s%s%.*s", (int)last.length, last.text, last.length ? "." : "",
				 (int)method.length, method.text));
}

/* "shop.Shop.price(Ljava/lang/String;I)D" */
static gboolean
add_signature(WpRmiNames *names, Piece line)
{
	const char *bracket = memchr(line.text, '(', line.length);
	if (!bracket)
		return FALSE;
	Piece name = { line.text, (gsize)(bracket - line.text) };
	Piece descriptor = { bracket, line.length - name.length };
	Piece method = last_part(name);
	if (method.length == 0 || name.length > NAME_BYTES || memchr(name.text, ' ', name.length) ||
	    !is_descriptor(descriptor))
		return FALSE;
	Piece interface = { name.text, name.length - method.length };
	interface.length -= interface.length > 0;
	add_method(names, interface, method, descriptor);
	return TRUE;
}

/* "c0ffee00c0ffee00 Shop.price" */
static gboolean
add_hash(WpRmiNames *names, Piece line)
{
	guint64 hash = 0;
	gsize at = starts_with(&line, "0x") ? 2 : 0, end = at + HASH_DIGITS;
	if (line.length < end + 2 || !g_ascii_isspace(line.text[end]) ||
	    line.length > end + NAME_BYTES)
		return FALSE;
	for (; at < end; at++) {
		int digit = g_ascii_xdigit_value(line.text[at]);
		if (digit < 0)
			return FALSE;
		hash = hash << 4 | (guint64)digit;
	}
	Piece name = trim((Piece){ line.text + end, line.length - end });
	add_name(names, hash, g_strndup(name.text, name.length));
	return TRUE;
}

/* "public interface shop.Shop extends java.rmi.Remote {" */
static gboolean
take_interface(WpRmiNames *names, Piece line)
{
	static const char *const words[] = { "interface ", "class " };
	if (line.length == 0 || line.text[line.length - 1] != '{')
		return FALSE;
	for (gsize i = 0; i < G_N_ELEMENTS(words); i++) {
		const char *found = g_strstr_len(line.text, (gssize)line.length, words[i]);
		if (!found)
			continue;
		const char *name = found + strlen(words[i]);
		gsize n = 0, left = (gsize)(line.text + line.length - name);
		while (n < left && !strchr(" <{", name[n]) && name[n])
			n++;
		g_free(names->interface);
		names->interface = g_strndup(name, MIN(n, NAME_BYTES));
		return TRUE;
	}
	return FALSE;
}

/* "public abstract double price(java.lang.String, int) throws java.rmi.RemoteException;" */
static gboolean
take_declaration(WpRmiNames *names, Piece line)
{
	if (!names->interface || line.length == 0 || line.text[line.length - 1] != ';')
		return FALSE;
	const char *bracket = memchr(line.text, '(', line.length);
	gsize end = bracket ? (gsize)(bracket - line.text) : 0, start = end;
	while (start && line.text[start - 1] != ' ')
		start--;
	g_free(names->method);
	names->method = bracket && end - start <= NAME_BYTES
				? g_strndup(line.text + start, end - start)
				: NULL;
	return TRUE;
}

/* "descriptor: (Ljava/lang/String;I)D", behind a declaration; that of a field counts for nothing. */
static gboolean
take_descriptor(WpRmiNames *names, Piece line)
{
	static const char start[] = "descriptor:";
	if (!names->interface || !starts_with(&line, start))
		return FALSE;
	gsize n = sizeof start - 1;
	Piece descriptor = trim((Piece){ line.text + n, line.length - n });
	g_autofree char *method = g_steal_pointer(&names->method);
	if (!method)
		return TRUE;
	if (!is_descriptor(descriptor))
		return FALSE;
	add_method(names, (Piece){ names->interface, strlen(names->interface) },
		   (Piece){ method, strlen(method) }, descriptor);
	return TRUE;
}

static gboolean
add_line(WpRmiNames *names, Piece line, GError **error)
{
	line = trim(line);
	names->n_lines++;
	if (line.length == 0 || line.text[0] == '#' || starts_with(&line, "}") ||
	    starts_with(&line, "Compiled from "))
		return TRUE;
	if (add_hash(names, line) || add_signature(names, line) || take_interface(names, line) ||
	    take_descriptor(names, line) || take_declaration(names, line))
		return TRUE;
	g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_FORMAT,
		    "line %" G_GUINT64_FORMAT " is neither \"HASH NAME\" nor a method such as "
		    "\"shop.Shop.price(Ljava/lang/String;I)D\", as javap -s tells them",
		    names->n_lines);
	return FALSE;
}

gboolean
wp_rmi_names_add(WpRmiNames *names, const char *text, gsize length, GError **error)
{
	const char *end = text + length;
	while (text < end) {
		const char *newline = memchr(text, '\n', (gsize)(end - text));
		const char *line_end = newline ? newline : end;
		if (!add_line(names, (Piece){ text, (gsize)(line_end - text) }, error))
			return FALSE;
		text = newline ? newline + 1 : end;
	}
	return TRUE;
}

gboolean
wp_rmi_names_add_file(WpRmiNames *names, const char *path, GError **error)
{
	const guint8 *data;
	gssize n = -1;
	g_autoptr(WpInput) input = wp_input_open(path, error);

	while (input && (n = wp_input_peek(input, PIECE_BYTES, &data, error)) > 0) {
		gsize whole = (gsize)n;
		while (whole && data[whole - 1] != '\n')
			whole--;
		if (whole == 0 || n < PIECE_BYTES) /* the last line; or what is no line */
			whole = (gsize)n;
		if (!wp_rmi_names_add(names, (const char *)data, whole, error)) {
			g_prefix_error(error, "%s: ", path);
			return FALSE;
		}
		wp_input_consume(input, whole);
	}
	if (n < 0)
		g_prefix_error(error, "RMI interfaces: ");
	return n == 0;
}
