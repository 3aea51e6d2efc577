/* Labels asked for again are those of the first time, whatever was asked for in between. */
#include "capture/label-memo.h"

#include <string.h>

#include "capture/label.h"
#include "capture/sql.h"
#include "tests/support/suite.h"

#define N_TEXTS 3000 /* more than there are places */

typedef enum {
	BY_PATH,
	BY_KEY,
	BY_POSTGRES,
	BY_MYSQL,
	N_WAYS
} Way;

static gsize
make(Way way, const char *text, char *buffer, gsize size, gboolean *out_minor)
{
	gsize length = strlen(text);

	*out_minor = FALSE;
	switch (way) {
	case BY_PATH:
		return wp_label_path(text, length, buffer, size);
	case BY_KEY:
		return wp_label_key(text, length, buffer, size);
	default:
		return wp_label_sql(text, length,
				    way == BY_POSTGRES ? WP_SQL_POSTGRES : WP_SQL_MYSQL, buffer,
				    size, out_minor);
	}
}

static const char *const texts[] = {
	"",
	"x",
	"/item/7",
	"/item/8/view",
	"user:42:cart",
	"BEGIN",
	"SELECT a FROM t WHERE b = \"c\"",
	"SELECT a FROM t WHERE b = 1 -- x",
	/* As long as is kept, and longer. */
	"/a23456789/b23456789/c23456789/d23456789/e23456789/f23456789/g23456789/h23456789/"
	"i23456789/"
	"j23456789/k23456789/l23456789/m23456789/n23456789/o23456789/p23456789/q23456789/r23456789/"
	"s23456789/t23456789",
	"/a23456789/b23456789/c23456789/d23456789/e23456789/f23456789/g23456789/h23456789/"
	"i23456789/"
	"j23456789/k23456789/l23456789/m23456789/n23456789/o23456789/p23456789/q23456789/r23456789/"
	"s23456789/t23456789/",
};

/* Each text by each way and size: what it was called among others, it is called alone. */
START_TEST(asked_again)
{
	static const gsize sizes[] = { 16, 64, 121 };
	char first[N_WAYS][G_N_ELEMENTS(sizes)][128], again[128];
	gboolean minor, is_minor[N_WAYS];
	const char *text = texts[_i];

	for (int round = 0; round < 3; round++)
		for (Way way = 0; way < N_WAYS; way++)
			for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++) {
				gsize n = make(way, text, again, sizes[i], &minor);
				ck_assert_uint_eq(n, strlen(again));
				ck_assert_uint_lt(n, sizes[i]);
				if (round == 0) {
					g_strlcpy(first[way][i], again, sizeof again);
					is_minor[way] = minor;
				}
				ck_assert_str_eq(again, first[way][i]);
				ck_assert_int_eq(minor, is_minor[way]);
			}
}
END_TEST

/* What has lost its place to another text is made anew. */
START_TEST(places_are_lost)
{
	char text[64], label[128], wanted[64];
	gboolean minor;

	for (int round = 0; round < 2; round++)
		for (int i = 0; i < N_TEXTS; i++) {
			g_snprintf(text, sizeof text, "SELECT a FROM t%c%c%c WHERE b = %d",
				   'a' + i % 26, 'a' + i / 26 % 26, 'a' + i / 676, i);
			g_snprintf(wanted, sizeof wanted, "SELECT t%c%c%c (a) WHERE b",
				   'a' + i % 26, 'a' + i / 26 % 26, 'a' + i / 676);
			make(BY_POSTGRES, text, label, 121, &minor);
			ck_assert_str_eq(label, wanted);
			ck_assert(!minor);
		}
}
END_TEST

WP_SUITE_OF_ROWS("label-memo", { asked_again, G_N_ELEMENTS(texts) }, { places_are_lost, 0 })
