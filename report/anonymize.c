/* Every text that a comparison borrows is looked at: see what WpComparison holds. */
#include "report/anonymize.h"

#include <string.h>

typedef struct {
	WpComparison *comparison;
	GHashTable *labels; /* label -> its word; asked, never walked */
} Anonymizer;

static const char *
keep(Anonymizer *anonymizer, const char *word, guint number)
{
	g_autofree char *text = g_strdup_printf("%s%u", word, number);
	return g_string_chunk_insert(anonymizer->comparison->texts, text);
}

static void
rename_roles(Anonymizer *anonymizer)
{
	GArray *roles = anonymizer->comparison->roles->roles;
	for (guint i = 0; i < roles->len; i++) {
		WpRole *role = &g_array_index(roles, WpRole, i);
		const char *name = i == WP_ROLE_CLIENT ? "client" : keep(anonymizer, "node", i);
		for (guint side = 0; side < 2; side++)
			if (role->names[side])
				role->names[side] = name;
	}
}

static const char *
rename_label(Anonymizer *anonymizer, const char *label)
{
	if (!*label)
		return label;
	const char *word = g_hash_table_lookup(anonymizer->labels, label);
	if (!word) {
		word = keep(anonymizer, "operation", g_hash_table_size(anonymizer->labels) + 1);
		g_hash_table_insert(anonymizer->labels, (gpointer)label, (gpointer)word);
	}
	return word;
}

/* Options end in those that hold expressions: "engine=nesting root=... hide=... where=... filter=...". */
static const char *
rename_options(Anonymizer *anonymizer, const char *options)
{
	static const char *const expressions[] = { " root=", " hide=", " where=", " filter=" };
	gsize length = strlen(options);
	for (guint i = 0; i < G_N_ELEMENTS(expressions); i++) {
		const char *at = strstr(options, expressions[i]);
		if (at)
			length = MIN(length, (gsize)(at - options));
	}
	g_autofree char *text = g_strndup(options, length);
	return g_string_chunk_insert(anonymizer->comparison->texts, text);
}

void
wp_comparison_anonymize(WpComparison *comparison)
{
	static const char *const sides[2] = { "before", "after" };
	g_autoptr(GHashTable) labels = g_hash_table_new(g_str_hash, g_str_equal);
	Anonymizer anonymizer = { comparison, labels };
	rename_roles(&anonymizer);
	for (guint side = 0; side < 2; side++) {
		WpComparedSide *own = &comparison->sides[side];
		own->label = sides[side];
		comparison->options.labels[side] = sides[side];
		own->options = own->options ? rename_options(&anonymizer, own->options) : NULL;
	}
	for (guint32 i = 0; i < comparison->n_operations; i++) {
		WpComparedOperation *operation = &comparison->operations[i];
		operation->label = rename_label(&anonymizer, operation->label);
		for (guint32 k = 0; k < operation->n_parts; k++)
			operation->parts[k].label =
				rename_label(&anonymizer, operation->parts[k].label);
	}
	for (guint32 i = 0; i < comparison->n_kinds; i++)
		comparison->kinds[i].label = rename_label(&anonymizer, comparison->kinds[i].label);
	for (guint32 i = 0; i < comparison->n_paths; i++)
		for (guint32 k = 0; k < comparison->paths[i].n_edits; k++) {
			WpPathEdit *edit = &comparison->paths[i].edits[k];
			edit->label = rename_label(&anonymizer, edit->label);
		}
}
