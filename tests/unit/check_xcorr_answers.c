/* What calls and answers say of causes beside their times: a call that is answered has an effect, an answer a cause. */
#include "infer/engine-xcorr.h"
#include "infer/random.h"
#include "infer/xcorr.h"
#include "tests/support/suite.h"

#define MS G_GINT64_CONSTANT(1000000)

/* Call and answer are messages of two directions, and are known to be. */
static void
send(WpMessages *messages, guint32 sender, guint32 receiver, gint64 time)
{
	const WpEdge edge = { sender, receiver, sender, receiver, FALSE, NULL, 0, 0 };
	wp_messages_add(messages, &edge, time);
}

static void
send_answer(WpMessages *messages, guint32 sender, guint32 receiver, gint64 time)
{
	const WpEdge edge = { sender, receiver, sender, receiver, TRUE, NULL, 0, 0 };
	wp_messages_add(messages, &edge, time);
}

/* From once to one and a half times DELAY_US later, so that no message stands on a beat. */
static gint64
later(WpRandom64 *random, gint64 time, gint64 delay_us)
{
	return time + delay_us * 1000 +
	       (gint64)wp_random64_below(random, (guint32)(delay_us * 500));
}

/* So many messages from SENDER to RECEIVER are caused by one that BEFORE sent. */
typedef struct {
	guint32 before, sender, receiver;
	double least, most; /* of N */
} Edge;

/* Messages of EDGE on all paths. */
static double
count_caused(const WpSpectra *spectra, const Edge *edge)
{
	double sum = 0;
	for (guint32 i = 0; i < spectra->vertices->len; i++) {
		const WpVertex *v = wp_spectra_vertex(spectra, i);
		if (v->parent != WP_NO_VERTEX && v->sender == edge->sender &&
		    v->receiver == edge->receiver &&
		    wp_spectra_vertex(spectra, v->parent)->sender == edge->before)
			sum += v->messages;
	}
	return sum;
}

static void
check_edges(const WpSpectra *spectra, double n, const Edge *edges, gsize n_edges)
{
	if (wp_test_number(0, 1))
		return; /* too few to tell */
	for (gsize row = 0; row < n_edges; row++) {
		double sum = count_caused(spectra, &edges[row]);
		ck_assert_msg(sum >= edges[row].least * n && sum <= edges[row].most * n,
			      "row %zu, %u>%u>%u: %g of %g", row, edges[row].before,
			      edges[row].sender, edges[row].receiver, sum, n);
	}
}

/*
 * 0 asks 1, which does one thing after the other: it asks 2, and answers. Requests wait in line for ten times as long as one takes, so
 * that each call to 2 follows the answer before it as if that were its cause; but then calls to 1 would have no effect.
 */
START_TEST(in_line)
{
	static const Edge edges[] = { { 0, 1, 2, 0.9, 1.1 },
				      { 1, 2, 1, 0.9, 1.1 },
				      { 2, 1, 0, 0.9, 1.1 },
				      { 2, 1, 2, 0, 0.05 } };
	WpRandom64 random = { WP_RANDOM64_SEED };
	g_autoptr(WpMessages) messages = wp_messages_new();
	gint64 now = 0, is_free = 0;
	int n = wp_test_number(2000, 100);
	for (int i = 0; i < n; i++) {
		/* Twenty at about the same time. */
		now += i % 20 ? wp_random64_below(&random, MS / 2)
			      : wp_random64_below(&random, 140 * MS);
		send(messages, 0, 1, now);
		gint64 t = later(&random, MAX(now, is_free), 1000);
		send(messages, 1, 2, t);
		send_answer(messages, 2, 1, t = later(&random, t, 1000));
		send_answer(messages, 1, 0, is_free = later(&random, t, 20));
	}
	wp_messages_freeze(messages);
	g_autoptr(WpSpectra) spectra = wp_xcorr_spectra(messages, NULL, NULL, NULL);
	check_edges(spectra, n, edges, G_N_ELEMENTS(edges));
}
END_TEST

/*
 * 0 asks 1 without end, each time one of three: what 1 has in its memory it answers at once, and that alone stands out. The others take
 * longer than anything does, and any time up to that; but an answer has a cause.
 */
START_TEST(beyond_what_stands_out)
{
	static const Edge edges[] = { { 0, 1, 2, 0.9, 1.1 },
				      { 1, 2, 1, 0.9, 1.1 },
				      { 2, 1, 0, 0.9, 1.1 } };
	WpRandom64 random = { WP_RANDOM64_SEED };
	g_autoptr(WpMessages) messages = wp_messages_new();
	gint64 now = 0;
	int n = wp_test_number(2000, 100);
	for (int i = 0; i < n; i++) {
		gint64 t = now += wp_random64_below(&random, 8 * MS);
		send(messages, 0, 1, t);
		send(messages, 1, 2, t = later(&random, t, 20000));
		t = i % 4 ? t + 100000 + wp_random64_below(&random, 60 * MS)
			  : later(&random, t, 20);
		send_answer(messages, 2, 1, t);
		send_answer(messages, 1, 0, later(&random, t, 20000));
	}
	wp_messages_freeze(messages);
	g_autoptr(WpSpectra) spectra = wp_xcorr_spectra(messages, NULL, NULL, NULL);
	check_edges(spectra, n, edges, G_N_ELEMENTS(edges));
}
END_TEST

/*
 * 1 answers 0 within a few ms in one case of two, by itself or once it has asked 2; else it takes SLOW_MS, which is as
 * long as some ten others take to come: what is quick stands out, what is slow does not. But all answers have causes.
 */
START_TEST(slow_answers)
{
	static const struct {
		gint64 slow_ms;
		gboolean asks;
	} rows[] = { { 60, FALSE }, { 60, TRUE }, { 200, FALSE }, { 200, TRUE } };
	static const Edge own = { 0, 1, 0, 0, 0 }, asked = { 2, 1, 0, 0, 0 };
	WpRandom64 random = { WP_RANDOM64_SEED };
	g_autoptr(WpMessages) messages = wp_messages_new();
	gint64 now = 0;
	int n = wp_test_number(1000, 100);
	for (int i = 0; i < n; i++) {
		gint64 t = now += wp_random64_below(&random, (guint32)(rows[_i].slow_ms * MS / 8));
		gboolean is_quick = wp_random64_below(&random, 2);
		send(messages, 0, 1, t);
		if (is_quick && rows[_i].asks) {
			send(messages, 1, 2, t = later(&random, t, 1000));
			send_answer(messages, 2, 1, t = later(&random, t, 1000));
		}
		send_answer(messages, 1, 0,
			    later(&random, t, is_quick ? 1000 : rows[_i].slow_ms * 1000));
	}
	wp_messages_freeze(messages);
	g_autoptr(WpSpectra) spectra = wp_xcorr_spectra(messages, NULL, NULL, NULL);
	double by_call = count_caused(spectra, &own), by_answer = count_caused(spectra, &asked);
	if (wp_test_number(0, 1))
		return;
	ck_assert_msg(by_call + by_answer > 0.95 * n, "%g and %g of %d answers", by_call, by_answer,
		      n);
	ck_assert_msg(by_answer < 0.6 * n, "%g of %d answers, once 2 has answered", by_answer, n);
}
END_TEST

/* Ends any moment, whenever it began: MEAN_US later on average. */
static gint64
any_time_later(WpRandom64 *random, gint64 time, gint64 mean_us)
{
	while (wp_random64_below(random, 200))
		time += mean_us * 5;
	return time + wp_random64_below(random, (guint32)mean_us * 5);
}

/*
 * 1 knows some answers by heart, one in so many: that stands out. The others end any moment, while some ten more calls come, and nothing
 * else of 1 stands out, nor tells how long they may take.
 */
START_TEST(memoryless)
{
	static const int rows[] = { 8, 16 };
	static const Edge own = { 0, 1, 0, 0, 0 };
	WpRandom64 random = { WP_RANDOM64_SEED };
	g_autoptr(WpMessages) messages = wp_messages_new();
	gint64 now = 0;
	int n = wp_test_number(2000, 100);
	for (int i = 0; i < n; i++) {
		gint64 t = now += wp_random64_below(&random, 2 * MS);
		send(messages, 0, 1, t);
		gboolean is_known = !wp_random64_below(&random, (guint32)rows[_i]);
		send_answer(messages, 1, 0,
			    is_known ? later(&random, t, 30) : any_time_later(&random, t, 10000));
	}
	wp_messages_freeze(messages);
	g_autoptr(WpSpectra) spectra = wp_xcorr_spectra(messages, NULL, NULL, NULL);
	double caused = count_caused(spectra, &own);
	if (wp_test_number(0, 1))
		return;
	ck_assert_msg(caused > 0.9 * n, "%g of %d answers", caused, n);
}
END_TEST

/*
 * 1 asks 2 in some cases, which is quick, and then works for a time that may end any moment, so that times do not tell whether
 * an answer to 0 comes of what 2 said or of the call before. But it is not the rule that what 2 says has no effect.
 */
START_TEST(asked_before)
{
	static const struct {
		guint32 one_in;
		int mean_us; /* of the work of 1 */
	} rows[] = { { 2, 10000 }, { 4, 10000 }, { 8, 30000 } };
	static const Edge asked = { 2, 1, 0, 0, 0 };
	WpRandom64 random = { WP_RANDOM64_SEED };
	g_autoptr(WpMessages) messages = wp_messages_new();
	gint64 now = 0;
	int n = wp_test_number(2000, 100), n_asked = 0;
	for (int i = 0; i < n; i++) {
		gint64 t = now += wp_random64_below(&random, 2 * MS);
		send(messages, 0, 1, t);
		if (!wp_random64_below(&random, rows[_i].one_in)) {
			send(messages, 1, 2, t = any_time_later(&random, t, 2000));
			send_answer(messages, 2, 1, t = later(&random, t, 40));
			n_asked++;
		}
		send_answer(messages, 1, 0, any_time_later(&random, t, rows[_i].mean_us));
	}
	wp_messages_freeze(messages);
	g_autoptr(WpSpectra) spectra = wp_xcorr_spectra(messages, NULL, NULL, NULL);
	double caused = count_caused(spectra, &asked);
	if (wp_test_number(0, 1))
		return;
	ck_assert_msg(caused > 0.7 * n_asked && caused < 1.3 * n_asked, "%g of %d", caused,
		      n_asked);
}
END_TEST

/*
 * 1 asks 2 some times and then 3, but in one case of TEN_OR_SO it is content with what 2 has: it bids 2 goodbye, which nobody
 * answers, and answers 0. What came back from 2 has two effects there, which it hardly ever has; still it is no answer to
 * the call alone.
 */
START_TEST(goodbye)
{
	static const int rows[] = { 10, 20 };
	static const Edge none = { 0, 1, 0, 0, 0 }, last = { 2, 1, 0, 0, 0 };
	WpRandom64 random = { WP_RANDOM64_SEED };
	g_autoptr(WpMessages) messages = wp_messages_new();
	gint64 t = 0;
	int n = wp_test_number(2000, 100), n_content = 0;
	for (int i = 0; i < n; i++) {
		gboolean is_content = !wp_random64_below(&random, (guint32)rows[_i]);
		send(messages, 0, 1, t += 20 * MS + wp_random64_below(&random, 8 * MS));
		for (int k = 0; k < 4; k++) {
			send(messages, 1, 2, t = later(&random, t, 100));
			send_answer(messages, 2, 1, t = later(&random, t, 40));
		}
		if (is_content) {
			send(messages, 1, 2, t = later(&random, t, 20));
			n_content++;
		} else {
			send(messages, 1, 3, t = later(&random, t, 100));
			send_answer(messages, 3, 1, t = later(&random, t, 2000));
		}
		send_answer(messages, 1, 0, t = later(&random, t, 100));
	}
	wp_messages_freeze(messages);
	g_autoptr(WpSpectra) spectra = wp_xcorr_spectra(messages, NULL, NULL, NULL);
	double by_call = count_caused(spectra, &none), by_answer = count_caused(spectra, &last);
	if (wp_test_number(0, 1))
		return;
	ck_assert_msg(by_answer > 0.8 * n_content && by_call < 0.1 * n_content,
		      "of %d answers %g come of what 2 said, %g of the call", n_content, by_answer,
		      by_call);
}
END_TEST

/* What has its effect at once, within the tick of the clock, and is not the first that the node was told. */
START_TEST(at_once)
{
	static const Edge edges[] = { { 2, 1, 3, 0.95, 1.05 }, { 0, 1, 3, 0, 0.05 } };
	WpRandom64 random = { WP_RANDOM64_SEED };
	g_autoptr(WpMessages) messages = wp_messages_new();
	gint64 now = 0;
	int n = wp_test_number(2000, 100);
	for (int i = 0; i < n; i++) {
		gint64 t = now += wp_random64_below(&random, 60 * MS);
		send(messages, 0, 1, t);
		send(messages, 1, 2, t = later(&random, t, 2000));
		send_answer(messages, 2, 1, t = later(&random, t, 1000));
		send(messages, 1, 3, t);
		send_answer(messages, 3, 1, t = later(&random, t, 10000));
		send_answer(messages, 1, 0, later(&random, t, 1000));
	}
	wp_messages_freeze(messages);
	g_autoptr(WpSpectra) spectra = wp_xcorr_spectra(messages, NULL, NULL, NULL);
	check_edges(spectra, n, edges, G_N_ELEMENTS(edges));
}
END_TEST

/*
 * 1 asks 2 and answers 0, then tells 3 what 2 said, or asks 3 at once and answers. Where it is 2 first, some questions follow each
 * other, so that most of what 2 says has had its effect long before 3 is told anything: what the last of it does later is not
 * the less likely for that.
 */
START_TEST(after_the_answer)
{
	static const int rows[] = { 20, 12, 9 }; /* ms from request to request, on the average */
	static const Edge edges[] = { { 2, 1, 3, 0.85, 1.1 },
				      { 0, 1, 3, 0.85, 1.1 },
				      { 3, 1, 3, 0, 0.1 } };
	WpRandom64 random = { WP_RANDOM64_SEED };
	g_autoptr(WpMessages) messages = wp_messages_new();
	gint64 now = 0;
	int n = wp_test_number(3000, 100);
	for (int i = 0; i < n; i++) {
		gint64 t = now += wp_random64_below(&random, 2 * (guint32)rows[_i] * MS);
		gboolean is_order = i % 2;
		send(messages, 0, 1, t);
		for (int k = 0; is_order && k < 4; k++) {
			t = k > 0 ? later(&random, t, 40) : any_time_later(&random, t, 3000);
			send(messages, 1, 2, t);
			send_answer(messages, 2, 1, t = later(&random, t, 100));
		}
		if (!is_order) {
			send(messages, 1, 3, t = later(&random, t, 1500));
			send_answer(messages, 3, 1, t = later(&random, t, 40));
		}
		send_answer(messages, 1, 0, t = any_time_later(&random, t, 1500));
		if (is_order) {
			send(messages, 1, 3, t = later(&random, t, 1000 + 3000 * (i % 4 == 1)));
			send_answer(messages, 3, 1, later(&random, t, 40));
		}
	}
	wp_messages_freeze(messages);
	g_autoptr(WpSpectra) spectra = wp_xcorr_spectra(messages, NULL, NULL, NULL);
	check_edges(spectra, n / 2.0, edges, G_N_ELEMENTS(edges));
}
END_TEST

/*
 * 1 asks 2, answers 0, and asks 3 later, which leads to nothing. What 3 said before is closer to that than what 2 said; but nobody
 * else would have begun to ask 3.
 */
START_TEST(told_later)
{
	static const Edge edges[] = { { 2, 1, 3, 0.9, 1.1 }, { 3, 1, 3, 0, 0.1 } };
	WpRandom64 random = { WP_RANDOM64_SEED };
	g_autoptr(WpMessages) messages = wp_messages_new();
	gint64 now = 0;
	int n = wp_test_number(3000, 100);
	for (int i = 0; i < n; i++) {
		gint64 t = now += wp_random64_below(&random, 5 * MS);
		send(messages, 0, 1, t);
		send(messages, 1, 2, t = later(&random, t, 800));
		send_answer(messages, 2, 1, t = later(&random, t, 3000));
		send_answer(messages, 1, 0, t = later(&random, t, 300));
		send(messages, 1, 3, t = any_time_later(&random, t, 2500));
		send_answer(messages, 3, 1, later(&random, t, 12000));
	}
	wp_messages_freeze(messages);
	g_autoptr(WpSpectra) spectra = wp_xcorr_spectra(messages, NULL, NULL, NULL);
	check_edges(spectra, n, edges, G_N_ELEMENTS(edges));
}
END_TEST

WP_SUITE_OF_ROWS("xcorr-answers", { in_line, 0 }, { beyond_what_stands_out, 0 },
		 { slow_answers, 4 }, { memoryless, 2 }, { asked_before, 3 }, { goodbye, 2 },
		 { at_once, 0 }, { after_the_answer, 3 }, { told_later, 0 })
