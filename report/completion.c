/*
 * Two scripts. Bash: one function with a case for each option that takes a value. Zsh: specifications for
 * _arguments. Both complete commands, options, choices and files; other values are the user's.
 */
#include "report/completion.h"

#include <string.h>

#include "report/command.h"

const char *const wp_completion_shells[] = { "bash", "zsh", NULL };

/* What an option wants behind it names a file or folder. */
static gboolean
takes_file(const WpOption *option)
{
	return option->argument &&
	       (strstr(option->argument, "FILE") || strstr(option->argument, "DIR") ||
		strstr(option->argument, "PATH"));
}

static gboolean
takes_value(const WpOption *option)
{
	return option->argument != NULL;
}

/* --- bash --- */

static void
bash_word(const WpOption *option, gpointer out)
{
	wp_out_printf(out, " --%s", option->name);
}

/* "report --names"|"report -n" */
static void
bash_pattern(const WpOption *option, const char *command, WpOut *out)
{
	wp_out_printf(out, "\t\"%s --%s\"", command, option->name);
	if (option->short_name)
		wp_out_printf(out, " | \"%s -%c\"", command, option->short_name);
	wp_out_text(out, ")\n");
}

typedef struct {
	WpOut *out;
	const WpCommand *command;
} Script;

static void
bash_case(const WpOption *option, gpointer data)
{
	const Script *script = data;
	if (!takes_value(option))
		return;
	bash_pattern(option, script->command->name, script->out);
	if (option->kind == WP_OPT_CHOICE) {
		g_autofree char *words = g_strjoinv(" ", (char **)option->choices);
		wp_out_printf(script->out, "\t\tCOMPREPLY=($(compgen -W \"%s\" -- \"$cur\"))\n",
			      words);
	} else if (takes_file(option)) {
		wp_out_text(script->out, "\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n");
	}
	wp_out_text(script->out, "\t\treturn ;;\n");
}

static void
bash_names(WpOut *out)
{
	for (const WpCommand *const *c = wp_commands; *c; c++)
		wp_out_printf(out, "%s%s", c == wp_commands ? "" : " ", (*c)->name);
}

static void
write_bash(WpOut *out)
{
	wp_out_text(out,
		    "# bash completion for wirepath; made by: wirepath help --completion bash\n"
		    "_wirepath() {\n"
		    "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
		    "\tlocal commands=\"");
	bash_names(out);
	wp_out_text(out, "\" words=\n"
			 "\tCOMPREPLY=()\n"
			 "\tif [ \"$COMP_CWORD\" = 1 ] || [ \"${COMP_WORDS[1]}\" = help -a "
			 "\"$COMP_CWORD\" = 2 -a "
			 "\"${cur#-}\" = \"$cur\" ]; then\n"
			 "\t\tCOMPREPLY=($(compgen -W \"$commands\" -- \"$cur\"))\n"
			 "\t\treturn\n"
			 "\tfi\n"
			 "\tcase \"${COMP_WORDS[1]} $prev\" in\n");
	for (const WpCommand *const *c = wp_commands; *c; c++) {
		Script script = { out, *c };
		wp_command_options(*c, bash_case, &script);
	}
	wp_out_text(out, "\tesac\n\tcase ${COMP_WORDS[1]} in\n");
	for (const WpCommand *const *c = wp_commands; *c; c++) {
		wp_out_printf(out, "\t%s) words=\"", (*c)->name);
		wp_command_options(*c, bash_word, out);
		wp_out_text(out, "\" ;;\n");
	}
	wp_out_text(out, "\tesac\n"
			 "\tcase $cur in\n"
			 "\t-*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
			 "\t*) COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n"
			 "\tesac\n"
			 "}\n"
			 "complete -o filenames -F _wirepath wirepath\n");
}

/* --- zsh --- */

/* TEXT in single quotes, as part of a specification: [ ] : and \ are quoted for _arguments. One line. */
static void
zsh_text(WpOut *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			wp_out_text(out, "'\\''");
		else if (*text == '\n')
			wp_out_char(out, ' ');
		else if (strchr("[]:\\", *text))
			wp_out_printf(out, "\\%c", *text);
		else
			wp_out_char(out, *text);
	}
}

/* Behind the help: ":FILE:_files", ":WHEN:(auto always never)", ":N: " */
static void
zsh_value(WpOut *out, const WpOption *option)
{
	if (!takes_value(option))
		return;
	wp_out_char(out, ':');
	zsh_text(out, option->argument);
	wp_out_char(out, ':');
	if (option->kind == WP_OPT_CHOICE) {
		g_autofree char *words = g_strjoinv(" ", (char **)option->choices);
		wp_out_printf(out, "(%s)", words);
	} else {
		wp_out_text(out, takes_file(option) ? "_files" : " ");
	}
}

static void
zsh_option(const WpOption *option, gpointer data)
{
	WpOut *out = data;
	wp_out_printf(out, "\t\t'*--%s%s[", option->name, takes_value(option) ? "=" : "");
	zsh_text(out, option->help);
	wp_out_char(out, ']');
	zsh_value(out, option);
	wp_out_text(out, "' \\\n");
	if (!option->short_name)
		return;
	wp_out_printf(out, "\t\t'*-%c%s[", option->short_name, takes_value(option) ? "+" : "");
	zsh_text(out, option->help);
	wp_out_char(out, ']');
	zsh_value(out, option);
	wp_out_text(out, "' \\\n");
}

static void
write_zsh(WpOut *out)
{
	wp_out_text(out, "#compdef wirepath\n"
			 "# zsh completion for wirepath; made by: wirepath help --completion zsh\n"
			 "local -a commands\ncommands=(\n");
	for (const WpCommand *const *c = wp_commands; *c; c++) {
		wp_out_printf(out, "\t'%s:", (*c)->name);
		zsh_text(out, (*c)->summary);
		wp_out_text(out, "'\n");
	}
	wp_out_text(
		out,
		")\n"
		"if (( CURRENT == 2 )) || [[ $words[2] == help && $words[CURRENT] != -* ]]; then\n"
		"\t_describe command commands\n\treturn\nfi\n"
		"local command=$words[2]\nshift words\n(( CURRENT-- ))\ncase $command in\n");
	for (const WpCommand *const *c = wp_commands; *c; c++) {
		wp_out_printf(out, "%s)\n\t_arguments -s \\\n", (*c)->name);
		wp_command_options(*c, zsh_option, out);
		wp_out_text(out, "\t\t'*:input:_files' ;;\n");
	}
	wp_out_text(out, "esac\n");
}

void
wp_completion_write(int shell, WpOut *out)
{
	static void (*const writers[])(WpOut *) = { write_bash, write_zsh };
	writers[shell](out);
}
