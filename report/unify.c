/* Role by role: which labels has each capture, and which template of another one fits them. */
#include "report/unify.h"

#include <string.h>

/* Labels of a node, beyond which they are left as they are: each is compared with each template. */
#define MAX_LABELS 2000

static gboolean
ends_word(char c)
{
	return !c || c == '/' || c == ' ';
}

gboolean
wp_unify_fits(const char *template, const char *label)
{
	/* The last {} seen, and where the text for it ends so far. */
	const char *hole = NULL, *filled = NULL;
	while (*label || *template) {
		if (template[0] == '{' && template[1] == '}' && !ends_word(*label)) {
			hole = template += 2;
			filled = ++label;
		} else if (*template && *template == *label) {
			template ++;
			label++;
		} else if (hole && !ends_word(*filled)) {
			template = hole;
			label = ++filled;
		} else {
			return FALSE;
		}
	}
	return TRUE;
}

/* The labels of one role: by label, in which captures it is (a guint64 a capture would not do: there may be many). */
typedef struct {
	GPtrArray *labels; /* const char, in order of first use */
	GHashTable *seen;  /* label -> GArray of guint8, by capture */
} Labels;

static void
labels_clear(gpointer data)
{
	Labels *labels = data;
	g_ptr_array_unref(labels->labels);
	g_hash_table_unref(labels->seen);
}

static void
see(Labels *labels, const char *label, guint capture, guint n)
{
	GArray *seen = g_hash_table_lookup(labels->seen, label);
	if (!seen) {
		seen = g_array_new(FALSE, TRUE, sizeof(guint8));
		g_array_set_size(seen, n);
		g_hash_table_insert(labels->seen, (gpointer)label, seen);
		g_ptr_array_add(labels->labels, (gpointer)label);
	}
	g_array_index(seen, guint8, capture) = 1;
}

/* Labels by role. */
static GArray *
find_labels(WpDigest *const *digests, guint n, const WpRoles *roles)
{
	GArray *all = g_array_new(FALSE, TRUE, sizeof(Labels));
	g_array_set_clear_func(all, labels_clear);
	for (guint i = 0; i < roles->roles->len; i++) {
		Labels labels = { g_ptr_array_new(),
				  g_hash_table_new_full(g_str_hash, g_str_equal, NULL,
							(GDestroyNotify)g_array_unref) };
		g_array_append_val(all, labels);
	}
	for (guint i = 0; i < n; i++)
		for (guint k = 0; k < digests[i]->operations->len; k++) {
			const WpDigestOperation *operation = wp_digest_operation(digests[i], k);
			for (guint p = 0; p < operation->parts->len; p++) {
				const WpDigestPart *part = wp_digest_part(operation, p);
				see(&g_array_index(all, Labels, roles->numbers[i][part->node]),
				    part->label, i, n);
			}
		}
	return all;
}

/* TRUE where some capture has both. */
static gboolean
are_apart(const Labels *labels, const char *a, const char *b)
{
	const GArray *left = g_hash_table_lookup(labels->seen, a);
	const GArray *right = g_hash_table_lookup(labels->seen, b);
	for (guint i = 0; i < left->len; i++)
		if (g_array_index(left, guint8, i) && g_array_index(right, guint8, i))
			return TRUE;
	return FALSE;
}

/* The template that LABEL becomes, or NULL: of several the longest, as it says most. */
static const char *
find_template(const Labels *labels, const char *label)
{
	const char *best = NULL;
	for (guint i = 0; i < labels->labels->len; i++) {
		const char *template = labels->labels->pdata[i];
		if (!strstr(template, "{}") || strcmp(template, label) == 0 ||
		    !wp_unify_fits(template, label) || are_apart(labels, template, label))
			continue;
		if (!best || strlen(template) > strlen(best))
			best = template;
	}
	return best;
}

static void
rename_all(WpDigest *const *digests, guint n, const WpRoles *roles, guint32 role, const char *from,
	   const char *to)
{
	for (guint i = 0; i < n; i++)
		for (guint32 k = 0; k < digests[i]->nodes->len; k++)
			if (roles->numbers[i][k] == role)
				wp_digest_rename(digests[i], k, from, to);
}

void
wp_unify_labels(WpDigest *const *digests, guint n, const WpRoles *roles)
{
	g_autoptr(GArray) all = find_labels(digests, n, roles);
	for (guint32 role = 0; role < all->len; role++) {
		const Labels *labels = &g_array_index(all, Labels, role);
		for (guint i = 0; i < labels->labels->len && labels->labels->len <= MAX_LABELS;
		     i++) {
			const char *label = labels->labels->pdata[i];
			const char *template = find_template(labels, label);
			if (template)
				rename_all(digests, n, roles, role, label, template);
		}
	}
}
