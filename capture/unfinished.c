/*
 * A signal handler can only reach what is global, and may run between any two instructions: so names lie
 * in fixed places that are never freed, and each has a mark that is set last and cleared first.
 */
#include "capture/unfinished.h"

#include <limits.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

/* Files written at a time: a trace and its truth, or one page. What is beyond that is not removed. */
#define MAX_FILES 4

static struct {
	atomic_int is_used;
	char path[PATH_MAX];
} files[MAX_FILES];

void
wp_unfinished_add(const char *path)
{
	for (gsize i = 0; i < MAX_FILES; i++)
		if (!files[i].is_used && strlen(path) < PATH_MAX) {
			g_strlcpy(files[i].path, path, PATH_MAX);
			files[i].is_used = 1;
			return;
		}
}

void
wp_unfinished_drop(const char *path)
{
	for (gsize i = 0; i < MAX_FILES; i++)
		if (files[i].is_used && strcmp(files[i].path, path) == 0)
			files[i].is_used = 0;
}

void
wp_unfinished_unlink(void)
{
	for (gsize i = 0; i < MAX_FILES; i++)
		if (files[i].is_used)
			(void)unlink(files[i].path);
}
