/* What pages say in sentences, the same for all of them. */
#include "report/words.h"

#include <string.h>

#include "capture/counters.h"
#include "report/format.h"

/* Of all flows: so many of which one direction is missing are a capture that lacks it, and no chance. */
#define MANY_ONE_WAY 0.05

char *
wp_words_count(guint64 n, const char *thing)
{
	char count[WP_FORMAT_MAX];
	return g_strdup_printf("%s %s%s", wp_format_count(count, n), thing, n == 1 ? "" : "s");
}

/* What to rely on: where nothing is missing, and where calls are. */
static const char *const verdicts[][2] = {
	[WP_VIEW_TRUST_HIGH] = { "The paths can be relied on.",
				 "The paths can be relied on, as far as they were captured." },
	[WP_VIEW_TRUST_MIXED] = { "Totals and shares can be relied on; single requests and "
				  "patterns with few of them cannot.",
				  "Shares and mean times are off by up to twice the share that is "
				  "missing; counts are too low; single requests and patterns with "
				  "few of them cannot be relied on." },
	[WP_VIEW_TRUST_LOW] = { "Counts and latencies of requests are measured; who called whom, "
				"self times and patterns cannot be relied on.",
				"Latencies of requests are measured; counts, who called whom, "
				"self times and patterns cannot be relied on." },
};

static const char *
verdict_of(const WpViewLinks *links, WpViewTrust trust)
{
	return verdicts[trust][links->lost_share >= WP_VIEW_MIN_LOSS];
}

/* (transfer full) How far links can be trusted that have odds and alternatives. */
static char *
trust_by_odds(const WpViewLinks *links)
{
	char certain[WP_FORMAT_MAX], right[WP_FORMAT_MAX], whole[WP_FORMAT_MAX];
	return g_strdup_printf(
		"%sPaths inferred by %s: %s of the calls have only one possible parent. Expected "
		"to be right: %s of the parents, and %s of the requests in every call. %s",
		links->trust != WP_VIEW_TRUST_LOW        ? ""
		: links->lost_share >= WP_VIEW_MUCH_LOST ? "CAREFUL: too much is missing. "
							 : "CAREFUL: requests overlap very much. ",
		links->engine,
		wp_format_share(certain, (double)links->n_certain / (double)links->n_linked),
		wp_format_share(right, links->right_share),
		wp_format_share(whole, links->whole_share), verdict_of(links, links->trust));
}

/* (transfer full) The same where no call has a second possible parent, but some may have lost theirs. */
static char *
trust_by_loss(const WpViewLinks *links)
{
	return g_strdup_printf(
		"%sPaths inferred by %s: each call has a single possible parent among those that "
		"were captured. %s",
		links->lost_share >= WP_VIEW_MUCH_LOST ? "CAREFUL: too much is missing. " : "",
		links->engine, verdict_of(links, links->trust));
}

/* (transfer full) The same where all that is known is how many alternatives there were. */
static char *
trust_by_alternatives(const WpViewLinks *links)
{
	char share[WP_FORMAT_MAX], mean[WP_FORMAT_MAX];
	double certain = links->n_linked ? (double)links->n_certain / (double)links->n_linked : 0;
	wp_format_share(share, certain);
	wp_format_number(mean, links->parallelism);
	switch (links->trust) {
	case WP_VIEW_TRUST_HIGH:
		return g_strdup_printf(
			"Paths inferred by %s: %s of the calls have only one possible "
			"parent, so the paths can be relied on%s.",
			links->engine, share,
			links->lost_share >= WP_VIEW_MIN_LOSS ? ", as far as they were captured"
							      : "");
	case WP_VIEW_TRUST_MIXED:
		return g_strdup_printf(
			"Paths inferred by %s: %s of the calls have only one possible "
			"parent; the others were given the likeliest of several (%s "
			"possible parents a call). %s",
			links->engine, share, mean, verdict_of(links, links->trust));
	case WP_VIEW_TRUST_LOW:
		return g_strdup_printf(
			"CAREFUL: requests overlap so much that %s%s of the calls %s a single "
			"possible parent (%s a call on average), and %s often picks a wrong one. "
			"%s",
			links->n_certain ? "only " : "", links->n_certain ? share : "none",
			links->n_certain ? "have" : "has", mean, links->engine,
			verdict_of(links, links->trust));
	case WP_VIEW_TRUST_NONE:
	case WP_VIEW_TRUST_STOPPED:
		break;
	}
	return g_strdup("No call was made while another was being served: every path is one "
			"call long. If the called nodes call others, those packets are not in "
			"this capture.");
}

/* (transfer full) After Ctrl-C nothing can be said of what was still to be found. */
static char *
stopped(const WpView *view)
{
	const WpViewCount *missing = &view->lots[WP_VIEW_STOPPED];
	g_autofree char *linked = wp_words_count(view->links.n_linked, "call");
	char open[WP_FORMAT_MAX];
	if (!view->n_calls)
		return g_strdup("Inference was interrupted before any request of the selection was "
				"found.");
	return g_strdup_printf(
		"Inference was interrupted when %s had a parent, not all of them for good, and %s "
		"had none yet. %s",
		linked, wp_format_count(open, missing->calls + missing->messages),
		verdict_of(&view->links, WP_VIEW_TRUST_LOW));
}

const char *
wp_words_no_records(gboolean is_selective, guint64 n_packets)
{
	if (is_selective)
		return "No call is left by --from, --to, --filter and --where.";
	if (n_packets == 0)
		return "The input holds no packets.";
	return "No calls were found in these packets: see the capture quality below.";
}

/* NULL where it is zero. */
static const WpViewCounter *
find_counter(const WpView *view, WpCounter counter)
{
	const WpViewQuality *quality = &view->quality;

	for (guint32 i = 0; i < quality->n_counters; i++)
		if (quality->counters[i].name == wp_counter_info[counter].name)
			return &quality->counters[i];
	return NULL;
}

static guint64
count_of(const WpView *view, WpCounter counter)
{
	const WpViewCounter *found = find_counter(view, counter);
	return found ? found->count : 0;
}

/* Why there is nothing to show. */
static const char *
nothing(const WpView *view)
{
	if (view->n_records == 0 && view->n_packets && !view->is_selective &&
	    !count_of(view, WP_COUNT_SEGMENTS) && !count_of(view, WP_COUNT_DATAGRAMS))
		return "No calls were found: no packet carries anything over TCP or UDP.";
	if (view->n_records == 0)
		return wp_words_no_records(view->is_selective, view->n_packets);
	return view->where || view->root
		       ? "No request is left by the selection."
		       : "No complete request was found: see the capture quality below.";
}

static char *
trust_of(const WpView *view)
{
	const WpViewLinks *links = &view->links;
	if (links->trust == WP_VIEW_TRUST_STOPPED)
		return stopped(view);
	if (!view->n_requests)
		return g_strdup(nothing(view));
	if (links->has_odds && links->n_certain < links->n_linked)
		return trust_by_odds(links);
	if (links->n_linked && links->n_certain == links->n_linked &&
	    (links->trust == WP_VIEW_TRUST_MIXED || links->trust == WP_VIEW_TRUST_LOW))
		return trust_by_loss(links);
	return trust_by_alternatives(links);
}

/* (transfer full) Taps, and by how much their clocks may be wrong; NULL where all are known well. */
static char *
doubtful_clocks(const WpView *view)
{
	GString *words = g_string_new(NULL);

	for (guint i = 0; i < view->n_settings; i++)
		if (strcmp(view->settings[i].key, "clock-doubt") == 0)
			g_string_append_printf(words, "%s%s", words->len ? "; " : "",
					       view->settings[i].value);
	return g_string_free(words, words->len == 0);
}

char *
wp_words_trust(const WpView *view)
{
	g_autofree char *trust = trust_of(view);
	g_autofree char *doubtful = doubtful_clocks(view);
	const char *if_right = doubtful ? " All of that if the clocks are right: see below." : "";
	char share[WP_FORMAT_MAX];
	if (!view->links.n_measured)
		return g_strconcat(trust, if_right, NULL);
	wp_format_share(share, (double)view->links.n_measured / (double)view->links.n_linked);
	return g_strdup_printf("%s Spans tell %s of the parents.%s", trust, share, if_right);
}

char *
wp_words_check(const WpView *view)
{
	const WpViewLinks *links = &view->links;
	char right[WP_FORMAT_MAX], whole[WP_FORMAT_MAX], stated[WP_FORMAT_MAX];
	if (!links->n_check_links)
		return NULL;
	g_autofree char *than = g_strdup_printf(
		"; the odds of the links promise more (%s), which is not to be believed here",
		wp_format_share(stated, links->n_right / (double)MAX(links->n_linked, 1)));
	return g_strdup_printf(
		"Self-check: of requests like these at this load, %s of the parents and %s of the "
		"requests as a whole come out right%s.",
		wp_format_share(right,
				(double)links->n_check_links_right / (double)links->n_check_links),
		wp_format_share(whole, (double)links->n_check_requests_right /
					       (double)links->n_check_requests),
		links->is_check_lower ? than : "");
}

/* (transfer full) NULL where the clock went on as it should. */
static char *
words_of_clock(const WpView *view)
{
	guint64 n = count_of(view, WP_COUNT_CLOCK_STEPS);
	char times[WP_FORMAT_MAX];

	if (!n)
		return NULL;
	return g_strdup_printf("CAREFUL: the clock of the capture was set %s%s in the middle, or "
			       "captures were joined out of order: calls that were "
			       "open then seem longer or shorter than they were.",
			       n == 1 ? "once" : wp_format_count(times, n), n == 1 ? "" : " times");
}

/* (transfer full) NULL where nothing worth saying is missing. */
static char *
words_of_loss(const WpView *view)
{
	const WpViewLinks *links = &view->links;
	double packets = view->quality.loss_share;
	char share[WP_FORMAT_MAX], calls[WP_FORMAT_MAX];
	if (links->lost_share < WP_VIEW_MIN_LOSS)
		return NULL;
	GString *words = g_string_new("CAREFUL: about ");
	if (packets >= WP_VIEW_MIN_LOSS)
		g_string_append_printf(words,
				       "%s of the packets are missing from this capture, and ",
				       wp_format_share(share, packets));
	if (packets >= links->lost_share)
		g_string_append(words, "calls with them");
	else
		g_string_append_printf(
			words, "%s of the calls%s", wp_format_share(calls, links->lost_share),
			packets >= WP_VIEW_MIN_LOSS ? " with them"
						    : " are missing from this capture");
	if (links->n_holed)
		g_string_append_printf(words,
				       "; %s request%s a call %s counted with those that have it",
				       wp_format_count(share, links->n_holed),
				       links->n_holed == 1 ? " that lacks" : "s that lack",
				       links->n_holed == 1 ? "is" : "are");
	if (links->n_estimated)
		g_string_append_printf(words, "; the self time of %s call%s is estimated",
				       wp_format_count(share, links->n_estimated),
				       links->n_estimated == 1 ? "" : "s");
	g_string_append(words, "; see the capture quality below.");
	return g_string_free(words, FALSE);
}

/* (transfer full) NULL where both directions were captured, but for a few flows cut off by begin or end. */
static char *
words_of_one_way(const WpView *view)
{
	guint64 n = count_of(view, WP_COUNT_FLOWS_ONE_WAY),
		all = count_of(view, WP_COUNT_FLOWS_TCP);
	char some[WP_FORMAT_MAX], count[WP_FORMAT_MAX];

	if ((double)n < MANY_ONE_WAY * (double)all || !n)
		return NULL;
	return g_strdup_printf(
		"CAREFUL: of %s of %s TCP flows only one direction was captured: how "
		"long their calls took is not known, and counts as self time of "
		"whoever made them.",
		wp_format_count(some, n), wp_format_count(count, all));
}

/* (transfer full) NULL where the calls of all TLS flows could be told. */
static char *
words_of_sealed(const WpView *view)
{
	const WpViewCounter *counter = find_counter(view, WP_COUNT_TLS_MULTIPLEXED);
	char some[WP_FORMAT_MAX];
	if (!counter)
		return NULL;
	gboolean is_one = counter->count == 1;
	g_autofree char *flows = wp_words_count(counter->count, "TLS flow");
	GString *words = g_string_new(NULL);
	g_string_printf(words, "CAREFUL: %s", flows);
	for (guint i = 0; i < MIN(counter->n_pairs, WP_VIEW_MAX_PAIRS); i++) {
		const WpViewPair *pair = &counter->pairs[i];
		g_string_append_printf(words, "%s from %s to %s", i ? "," : "", pair->sender,
				       pair->receiver);
		if (counter->n_pairs > 1)
			g_string_append_printf(words, " (%s)", wp_format_count(some, pair->count));
	}
	g_string_append_printf(words,
			       "%s may hold many calls at a time, so none of %s are shown. Keys "
			       "tell them: --keylog FILE "
			       "with the secrets that a program writes to SSLKEYLOGFILE, or a "
			       "pcapng file that holds them.",
			       counter->n_pairs > WP_VIEW_MAX_PAIRS ? ", and between others," : "",
			       is_one ? "its calls" : "their calls");
	return g_string_free(words, FALSE);
}

/* (transfer full) NULL where the clocks of all taps are known well against each other. */
static char *
words_of_taps(const WpView *view)
{
	g_autofree char *doubtful = doubtful_clocks(view);
	if (!doubtful)
		return NULL;
	return g_strdup_printf("CAREFUL: taps without a packet in common, by how much their clocks "
			       "may be wrong: %s. "
			       "Calls nearer to each other than that may be under wrong parents. "
			       "--clock TAP=OFFSET "
			       "sets a clock; a tap that sees packets of both tells them.",
			       doubtful);
}

char *
wp_words_loss(const WpView *view)
{
	char *all[] = { words_of_loss(view), words_of_one_way(view), words_of_sealed(view),
			words_of_clock(view), words_of_taps(view) };
	GString *words = g_string_new(NULL);

	for (gsize i = 0; i < G_N_ELEMENTS(all); i++) {
		if (all[i])
			g_string_append_printf(words, "%s%s", words->len ? " " : "", all[i]);
		g_free(all[i]);
	}
	return g_string_free(words, words->len == 0);
}

const char *
wp_words_cause(const char *cause, gboolean is_setup)
{
	static const struct {
		const char *cause;
		const char *words[2];
	} all[] = {
		{ "timeout", { "loss, resent late (timeout)", "connecting: loss, resent late" } },
		{ "fast", { "loss, resent when asked (fast)", "connecting: loss, resent fast" } },
		{ "window", { "receiver had no room (window)", "connecting: no room" } },
		{ "ack", { "late acknowledgement (ack)", "connecting: late acknowledgement" } },
	};
	for (gsize i = 0; i < G_N_ELEMENTS(all); i++)
		if (strcmp(all[i].cause, cause) == 0)
			return all[i].words[is_setup != 0];
	return cause;
}
