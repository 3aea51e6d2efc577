/*
 * WpOptions: the options of a command, as tables, and one parser for all commands. --help, the man
 * page check and completions loop over the same tables.
 *
 *   static const WpOption table[] = {
 *           { .name = "top", .kind = WP_OPT_INT, .offset = offsetof(Options, top), .argument = "N",
 *             .help = "patterns to show" },
 *           { .name = NULL },
 *   };
 *   wp_options_add(options, "Output", table, &my_options);
 *
 * Rules: options may follow operands; "--" ends them; "-" is an operand; --name VALUE and
 * --name=VALUE, -n VALUE and -nVALUE, -vv; flags can be undone by --no-name; an option that stands
 * in several tables sets its target in each.
 */
#ifndef WP_REPORT_OPTIONS_H
#define WP_REPORT_OPTIONS_H

#include <glib.h>

#include "report/out.h"

typedef enum {
	WP_OPT_FLAG,     /* gboolean */
	WP_OPT_COUNT,    /* int: how often it was given */
	WP_OPT_INT,      /* gint64 */
	WP_OPT_DOUBLE,   /* double */
	WP_OPT_SHARE,    /* double: "5%" or "0.05" */
	WP_OPT_DURATION, /* gint64 ns */
	WP_OPT_BYTES,    /* guint64: "64k", "10M", "1Gi" */
	WP_OPT_TIME,     /* WpTimeOption */
	WP_OPT_TEXT,     /* const char *, borrowed from argv */
	WP_OPT_TEXTS,    /* GPtrArray * of const char *, made by the owner of the target */
	WP_OPT_WORDS,    /* WpWords: of an option that may be repeated */
	WP_OPT_MARK,     /* WpMarks: takes no value of its own, but the operands behind it */
	WP_OPT_CHOICE,   /* int: index into choices */
	WP_OPT_ACTION,   /* prints something and ends the program: action */
	WP_OPT_N_KINDS
} WpOptKind;

/* Texts, borrowed from argv; NULL-ended. */
#define WP_WORDS_MAX 32
typedef struct {
	const char *words[WP_WORDS_MAX + 1];
	guint n;
} WpWords;

/* How many operands stood before each of these options that was given; NAMES are those of the options. */
#define WP_MARKS_MAX 32
typedef struct {
	const char *names[WP_MARKS_MAX];
	guint at[WP_MARKS_MAX];
	guint n;
} WpMarks;

/* A point in time: since the epoch, or after the first packet. */
typedef struct {
	gboolean is_set;
	gboolean is_offset; /* "+10s" */
	gint64 ns;
	const char *word; /* one of the option's choices, given in place of a time; or NULL */
} WpTimeOption;

typedef struct {
	const char *name; /* without "--" */
	char short_name;  /* 0 = none */
	WpOptKind kind;
	gsize offset;         /* in the target */
	const char *argument; /* "FILE", as help shows it; NULL where it takes none */
	const char *help;     /* --help breaks it into lines, also at '\n' */
	double minimum;       /* numbers: bounds; both 0 = none */
	double maximum;
	const char *const *choices; /* NULL-ended */
	const char *excludes;       /* name of an option that cannot stand beside it, or NULL */
	void (*action)(WpOut *out);
} WpOption;

typedef struct WpOptions WpOptions;

/* (transfer full) */
WpOptions *wp_options_new(void);
void wp_options_free(WpOptions *options);

/* TABLE (NULL-name-ended) and TARGET are borrowed. TITLE heads its part of the help
 * ("": joins the part before). */
void wp_options_add(WpOptions *options, const char *title, const WpOption *table, gpointer target);

/*
 * Parses ARGV (N entries, without the program's and the command's name); sets the targets; adds what
 * is no option to OPERANDS (borrowed pointers). Errors: WP_REPORT_ERROR_USAGE.
 */
gboolean wp_options_parse(WpOptions *options, char **argv, gsize n, GPtrArray *operands,
			  GError **error);

/* After parsing: the first action that was asked for, or NULL. */
void (*wp_options_action(const WpOptions *options))(WpOut *out);

/* After parsing: TRUE where NAME was given. */
gboolean wp_options_given(const WpOptions *options, const char *name);

/* Writes the part of --help that lists them. */
void wp_options_help(const WpOptions *options, WpOut *out);

/* Calls FUNC for each option, as help shows them. */
typedef void (*WpOptionFunc)(const WpOption *option, gpointer data);
void wp_options_foreach(const WpOptions *options, WpOptionFunc func, gpointer data);

/*
 * (transfer none) The one of NAMES (NULL-ended) that WORD was probably meant to be, or NULL.
 */
const char *wp_nearest_name(const char *word, const char *const *names);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(WpOptions, wp_options_free)

#endif
