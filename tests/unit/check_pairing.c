/*
 * Pairing in order, as rows: what comes, and what is paired. "C 5": a call that begins when the client
 * had 5 bytes of the server; "R 5": a return that begins with byte 5 of the server; "?" instead of the
 * number: not known; "C 5-9": the call ends with byte 9; "R 5-9": nine bytes of the client had come to
 * the server; "lost C", "lost R": bytes are missing there; "at 7": all that follows is at 7 us. Calls are
 * numbered from 1.
 */
#include "capture/pairing.h"

#include <string.h>

#include "tests/support/suite.h"

typedef struct {
	const char *name;
	const char *steps;
	const char *expected; /* for each R the number of its call, "-" an orphan, "?" unsure */
} Row;

static guint64
offset_of(const char *word)
{
	return *word == '?' ? WP_NO_OFFSET : g_ascii_strtoull(word, NULL, 10);
}

/* Behind the dash, or OTHERWISE. */
static guint64
second_of(const char *word, guint64 otherwise)
{
	const char *dash = strchr(word, '-');
	return dash ? g_ascii_strtoull(dash + 1, NULL, 10) : otherwise;
}

static char
match(WpPairing *pairing, const char *word, gint64 now_ns)
{
	WpMessage message = { .kind = WP_KIND_RETURN,
			      .begin.offset = offset_of(word),
			      .begin.peer = second_of(word, WP_NO_OFFSET),
			      .begin.time_ns = now_ns,
			      .end.time_ns = now_ns };
	guint before;
	int found = wp_pairing_match_order(pairing, &message, &before);
	if (found < 0)
		return found == WP_PAIRING_ORPHAN ? '-' : '?';
	char number = (char)('0' + pairing->calls[found].ref);
	for (guint i = 0; i <= before; i++)
		wp_pairing_remove(pairing, 0);
	return number;
}

static char *
run(const char *text)
{
	WpPairing pairing = { 0 };
	g_auto(GStrv) words = g_strsplit(text, " ", -1);
	GString *out = g_string_new(NULL);
	WpCallRef ref = 0;
	gint64 now_ns = 0;

	for (char **word = words; *word; word += 2) {
		if (strcmp(word[0], "C") == 0) {
			WpMessage call = { .begin.peer = offset_of(word[1]),
					   .end.offset = second_of(word[1], 0),
					   .begin.time_ns = now_ns,
					   .end.time_ns = now_ns };
			wp_pairing_add(&pairing, &call, ++ref);
		} else if (strcmp(word[0], "R") == 0) {
			g_string_append_c(out, match(&pairing, word[1], now_ns));
		} else if (strcmp(word[0], "at") == 0) {
			now_ns = 1000 * g_ascii_strtoll(word[1], NULL, 10);
		} else if (*word[1] == 'C') {
			wp_pairing_hole_in_calls(&pairing);
		} else {
			wp_pairing_hole_in_returns(&pairing);
		}
	}
	wp_pairing_clear(&pairing);
	return g_string_free(out, FALSE);
}

/* Three calls at once, of whose returns some were lost; four that begin where they should. */
#define AHEAD "C 0 C 0 C 0 lost R "
#define FIT_4 "C 30 R 30 C 39 R 39 C 48 R 48 C 57 R 57 "

START_TEST(in_order)
{
	static const Row rows[] = {
		{ "one by one", "C 0 R 0 C 9 R 9", "12" },
		{ "pipelined", "C 0 C 0 C 0 R 0 R 9 R 18", "123" },
		{ "positions count around holes alone", "C ? R ? C ? R 9", "12" },
		{ "a lost return", "C 0 lost R C 9 R 9", "2" },
		{ "a lost call", "C 0 R 0 lost C R 9 C 18 R 18", "1-2" },
		{ "a lost call, whose return comes late", "lost C C 9 R 0 R 9", "?1" },
		{ "a lost call, whose return comes behind the next call",
		  "C 0-7 R 0-8 lost C C 9-27 R 9-18 R 18-28", "1??" },
		{ "a lost return, another call", "C 0-7 lost R C 9-17 R 9-18", "2" },
		{ "a lost return among calls ahead of returns",
		  "C 0 C 0 lost R C 9 R 9 R 18 C 27 R 27", "??4" },
		{ "... which then asks one by one, and pauses", AHEAD FIT_4 "at 3000 C 66 R 66",
		  "????8" },
		{ "... once more, having paused", AHEAD FIT_4 "at 3000 C 66 R 66 C 75 R 75",
		  "????89" },
		{ "... too soon", AHEAD "C 30 R 30 C 39 R 39 C 48 R 48 at 3000 C 57 R 57", "????" },
		{ "... with a call on its way", AHEAD FIT_4 "C 66 at 3000 C 66 R 66", "?????" },
		{ "... that has taken as long before",
		  AHEAD "C 30 at 900 R 30 C 39 R 39 C 48 R 48 C 57 R 57 at 3000 C 66 R 66",
		  "?????" },
		{ "after a hole, without positions", "lost R C ? R 0", "?" },
		{ "a return before its call", "R 0 C 0 C 9 R 9 C 18 R 18", "-23" },
		{ "a return before its call, over UDP", "R ? C ? R ?", "-1" },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *got = run(rows[i].steps);
		ck_assert_msg(strcmp(got, rows[i].expected) == 0, "%s: %s", rows[i].name, got);
	}
}
END_TEST

/*
 * Ids that are used again: where calls may be missing after its own, a return must also begin where that
 * of its call would. Where none are, a hole in the return itself does not matter.
 */
START_TEST(reused_ids)
{
	static const struct {
		const char *hole;
		guint64 offset;
		int found;
	} rows[] = {
		{ "", 5, 0 },
		{ "R", 5, 0 },
		{ "R", 9, 0 },
		{ "C", 5, 0 },
		{ "C", 9, WP_PAIRING_UNSURE },
		{ "C", WP_NO_OFFSET, WP_PAIRING_UNSURE },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		const WpMessage call = { .callid = 1, .begin.peer = 5 };
		WpMessage message = { .callid = 1,
				      .begin.offset = rows[i].offset,
				      .begin.peer = WP_NO_OFFSET };
		WpPairing pairing = { 0 };
		wp_pairing_add(&pairing, &call, 1);
		if (*rows[i].hole == 'C')
			wp_pairing_hole_in_calls(&pairing);
		else if (*rows[i].hole)
			wp_pairing_hole_in_returns(&pairing);
		ck_assert_int_eq(wp_pairing_match_reused(&pairing, &message), rows[i].found);
		message.callid = 2;
		ck_assert_int_eq(wp_pairing_match_reused(&pairing, &message), WP_PAIRING_ORPHAN);
		wp_pairing_clear(&pairing);
	}
}
END_TEST

/* Thousands of calls, taken from the front, the middle and the back, stay in their order. */
START_TEST(many)
{
	WpPairing pairing = { 0 };
	g_autoptr(GArray) model = g_array_new(FALSE, FALSE, sizeof(WpCallRef));
	guint64 state = 1;

	for (WpCallRef ref = 0; ref < (WpCallRef)wp_test_number(100000, 20000); ref++) {
		state = state * G_GUINT64_CONSTANT(6364136223846793005) + 1442695040888963407;
		gboolean is_filling = ref / 10000 % 2 == 0;
		WpMessage call = { .callid = ref, .begin.peer = ref };
		wp_pairing_add(&pairing, &call, ref);
		g_array_append_val(model, ref);
		for (guint i = 0; i < (is_filling ? ref % 2 : 2) && model->len; i++) {
			guint at = state >> 60 ? 0 : (guint)((state >> 20) % model->len);
			wp_pairing_remove(&pairing, at);
			g_array_remove_index(model, at);
		}
		/* Check writes a file at each of its asserts: too much for each call. */
		if (pairing.n != model->len)
			ck_abort_msg("%u calls, not %u", pairing.n, model->len);
		for (guint i = 0; i < model->len; i += 1 + (guint)(state >> 40) % 999)
			if (pairing.calls[i].ref != g_array_index(model, WpCallRef, i))
				ck_abort_msg("after call %u another is at %u", (guint)ref, i);
	}
	ck_assert(!pairing.is_ahead);
	/* Nothing grows where as much goes as comes. */
	guint allocated = pairing.n_allocated;
	for (WpCallRef ref = 0; ref < (WpCallRef)wp_test_number(100000, 20000); ref++) {
		wp_pairing_add(&pairing, &(WpMessage){ .begin.peer = ref }, ref);
		wp_pairing_remove(&pairing, 0);
	}
	ck_assert_uint_eq(pairing.n_allocated, allocated);
	wp_pairing_clear(&pairing);
}
END_TEST

WP_SUITE("pairing", in_order, reused_ids, many)
