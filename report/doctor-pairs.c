/*
 * Acquire and release: what is acquired and never given back, held while nothing is done with it, or acquired again and
 * again where it could be kept.
 *
 *   lost     a transaction, lock, login or statement of which a share is never given back (pairs.h says when that is sure)
 *   idle     transactions over whose connection next to nothing is asked while they are open
 *   costly   connections, logins and statements that serve a few calls each, and take a share of all time
 *
 * What capture and labels may have got wrong speaks against the first: as many that were given back and not seen
 * being acquired, packets that are missing, or that they were all acquired early (a pool that fills).
 */
#include "report/doctor.h"
#include "report/format.h"

/* So many at least: one or two may be an accident. */
#define MIN_LOST 5

/* Of what is given back and was not seen being acquired, so many times as much must be lost, and of missing packets. */
#define LOST_TO_UNKNOWN 2
#define LOST_TO_MISSING 5

/* Acquired on average this early, as a share of the capture: a pool that fills. */
#define MIN_LOST_AT 0.25

/* So much must be seen being given back: else the capture does not show how it is. Of guesses from words, more. */
#define MIN_GIVEN       0.1
#define MIN_GIVEN_GUESS 0.25

/* Calls, on average, from which on an acquisition was worth it. */
#define MAX_USES 5

/* Kinds named where nothing is found. */
#define MAX_NAMED 3

static guint64
n_given(const WpPairsKind *kind)
{
	return kind->n_released + kind->n_ended;
}

static gboolean
has_enough(const WpDoctor *doctor, const WpPairsKind *kind)
{
	return kind->n_acquired >= (guint64)doctor->of.rules->min_calls;
}

/* A connection has no end that records show, but a cost. */
static gboolean
can_tell(const WpPairsKind *kind)
{
	return kind->thing == &wp_pair_connection || n_given(kind) > 0;
}

static double
share_missing(const WpDoctor *doctor)
{
	guint64 loss = doctor->of.digest->facts.loss;
	return loss == G_MAXUINT64 ? 0 : (double)loss / 1e6;
}

static gboolean
is_lost(const WpDoctor *doctor, const WpPairsKind *kind)
{
	double acquired = (double)kind->n_acquired, lost = (double)kind->n_lost;
	double given = kind->thing->is_guess ? MIN_GIVEN_GUESS : MIN_GIVEN;
	return kind->thing->sort != WP_PAIR_UNSURE && kind->n_lost >= MIN_LOST &&
	       lost >= doctor->of.rules->pair_lost * acquired &&
	       lost >= LOST_TO_UNKNOWN * (double)kind->n_unknown &&
	       lost >= LOST_TO_MISSING * share_missing(doctor) * acquired &&
	       kind->lost_at >= MIN_LOST_AT && (double)n_given(kind) >= given * acquired;
}

/* Of the time for which what KIND is about was held. */
static double
share_idle(const WpPairsKind *kind)
{
	double held_ns = wp_delay_sum_ns(kind->held);
	return held_ns > 0 ? kind->idle_ns / held_ns : 0;
}

static double
share_of_time(const WpDoctor *doctor, double ns)
{
	double total_ns = doctor->of.view->total_ns;
	return total_ns > 0 ? MIN(ns / total_ns, 1) : 0;
}

static gboolean
is_idle(const WpDoctor *doctor, const WpPairsKind *kind)
{
	return kind->thing->sort == WP_PAIR_SHORT && kind->thing->is_of_flow &&
	       n_given(kind) >= (guint64)doctor->of.rules->min_calls &&
	       share_idle(kind) >= doctor->of.rules->pair_idle &&
	       share_of_time(doctor, kind->idle_ns) >= doctor->of.rules->matters;
}

static gboolean
is_costly(const WpDoctor *doctor, const WpPairsKind *kind)
{
	gboolean could_be_kept = kind->thing->is_of_flow && kind->thing->sort != WP_PAIR_SHORT;
	return could_be_kept && kind->n_uses <= MAX_USES * kind->n_acquired &&
	       share_of_time(doctor, kind->cost_ns) >= doctor->of.rules->pair_cost;
}

/* --- sentences --- */

/* "db: 12 transactions (BEGIN)"; OF: "db: 3 of 12 transactions (BEGIN)" */
static void
add_count(GString *text, const WpPairsKind *kind, const guint64 *of)
{
	char n[WP_FORMAT_MAX], all[WP_FORMAT_MAX];
	g_string_append_printf(text, "%s: ", kind->node);
	if (of)
		g_string_append_printf(text, "%s of ", wp_format_count(n, *of));
	g_string_append_printf(text, "%s %s", wp_format_count(all, kind->n_acquired),
			       kind->n_acquired == 1 ? kind->thing->name : kind->thing->plural);
	/* "(login)" says no more. */
	if (*kind->label && *kind->label != '(' && kind->thing != &wp_pair_connection)
		g_string_append_printf(text, " (%s)", kind->label);
}

/* "held for 2.00 ms (median; 95 %: 4.00 ms, longest: 9.00 ms)" */
static void
add_held(GString *text, const WpPairsKind *kind)
{
	char half[WP_FORMAT_MAX], most[WP_FORMAT_MAX], all[WP_FORMAT_MAX];
	const WpDelay *held = kind->held;
	g_string_append_printf(text, "held for %s (median; p95 %s, longest %s)",
			       wp_format_time(half, (double)wp_delay_quantile_ns(held, 0.5)),
			       wp_format_time(most, (double)wp_delay_quantile_ns(held, 0.95)),
			       wp_format_time(all, (double)wp_delay_max_ns(held)));
}

/* " Most are acquired by users → web GET / (11 of 12)." */
static void
add_chain(GString *text, const WpPairsKind *kind, gboolean lost)
{
	char n[WP_FORMAT_MAX], all[WP_FORMAT_MAX];
	if (!kind->chains->len)
		return;
	const WpPairsChain *chain = &g_array_index(kind->chains, WpPairsChain, 0);
	g_string_append_printf(text, " Most are acquired by %s: %s of %s.", chain->text,
			       wp_format_count(n, lost ? chain->n_lost : chain->n_acquired),
			       wp_format_count(all, lost ? kind->n_lost : kind->n_acquired));
}

static WpDoctorFinding *
tell(WpDoctor *doctor, const WpDoctorCheck *check, const WpPairsKind *kind, GString *text,
     double weight)
{
	WpDoctorFinding *finding =
		wp_doctor_add(doctor, check, WP_FINDING_FOUND, g_string_free(text, FALSE));
	finding->node = kind->node;
	finding->label = *kind->label ? kind->label : NULL;
	finding->weight = weight;
	wp_doctor_add_number(finding, "acquired", (double)kind->n_acquired);
	wp_doctor_add_number(finding, "given_back", (double)n_given(kind));
	wp_doctor_add_number(finding, "lost", (double)kind->n_lost);
	wp_doctor_add_number(finding, "held_at_end", (double)kind->n_held);
	wp_doctor_add_number(finding, "p50_ns", (double)wp_delay_quantile_ns(kind->held, 0.5));
	wp_doctor_add_number(finding, "p95_ns", (double)wp_delay_quantile_ns(kind->held, 0.95));
	wp_doctor_add_number(finding, "max_ns", (double)wp_delay_max_ns(kind->held));
	wp_doctor_add_number(finding, "cost_ns", kind->cost_ns);
	wp_doctor_add_number(finding, "uses", (double)kind->n_uses);
	return finding;
}

static void
tell_lost(WpDoctor *doctor, const WpDoctorCheck *check, const WpPairsKind *kind)
{
	GString *text = g_string_new(NULL);
	double requests = (double)MAX(doctor->of.course->requests, 1);
	add_count(text, kind, &kind->n_lost);
	g_string_append_printf(text, " are never given back by %s.", kind->thing->release);
	add_chain(text, kind, TRUE);
	g_string_append(text, " Those given back are ");
	add_held(text, kind);
	g_string_append_c(text, '.');
	WpDoctorFinding *finding =
		tell(doctor, check, kind, text, MIN((double)kind->n_lost / requests, 1));
	for (guint i = 0; i < kind->n_examples; i++)
		wp_doctor_add_example(finding, &kind->examples[i]);
}

static void
tell_idle(WpDoctor *doctor, const WpDoctorCheck *check, const WpPairsKind *kind)
{
	char share[WP_FORMAT_MAX];
	GString *text = g_string_new(NULL);
	add_count(text, kind, NULL);
	g_string_append(text, " are ");
	add_held(text, kind);
	g_string_append_printf(text, ", and for %s of that time nothing is asked of %s over them.",
			       wp_format_share(share, share_idle(kind)), kind->node);
	add_chain(text, kind, FALSE);
	WpDoctorFinding *finding =
		tell(doctor, check, kind, text, share_of_time(doctor, kind->idle_ns));
	wp_doctor_add_number(finding, "idle_share", share_idle(kind));
}

static void
tell_costly(WpDoctor *doctor, const WpDoctorCheck *check, const WpPairsKind *kind)
{
	char uses[WP_FORMAT_MAX], time[WP_FORMAT_MAX], share[WP_FORMAT_MAX];
	GString *text = g_string_new(NULL);
	double weight = share_of_time(doctor, kind->cost_ns);
	add_count(text, kind, NULL);
	g_string_append_printf(
		text,
		", for %s calls each: acquiring them again and again takes %s, %s "
		"of the time of all requests.",
		wp_format_number(uses, (double)kind->n_uses / (double)kind->n_acquired),
		wp_format_time(time, kind->cost_ns), wp_format_share(share, weight));
	add_chain(text, kind, FALSE);
	tell(doctor, check, kind, text, weight);
}

/* --- nothing found --- */

static void
add_kind(GString *text, const WpPairsKind *kind)
{
	char n[WP_FORMAT_MAX];
	add_count(text, kind, NULL);
	if (n_given(kind)) {
		g_string_append_printf(text, ", %s given back, ",
				       wp_format_count(n, n_given(kind)));
		add_held(text, kind);
	} else {
		wp_format_number(n, (double)kind->n_uses / (double)kind->n_acquired);
		g_string_append_printf(text, ", for %s calls each", n);
	}
	g_string_append_c(text, '.');
}

/* (transfer full) The kinds that are acquired most often, those that are seen being given back first. */
static char *
name_kinds(const WpDoctor *doctor)
{
	const WpPairs *pairs = doctor->of.pairs;
	GString *text = g_string_new("Next to nothing is lost, idle, or acquired again and again.");
	guint n = 0;
	for (guint is_last = 0; is_last < 2; is_last++)
		for (guint i = 0; i < pairs->kinds->len && n < MAX_NAMED; i++) {
			const WpPairsKind *kind = wp_pairs_kind(pairs, i);
			if (!has_enough(doctor, kind) || !can_tell(kind) ||
			    (n_given(kind) == 0) != is_last)
				continue;
			g_string_append_c(text, ' ');
			add_kind(text, kind);
			n++;
		}
	return g_string_free(text, FALSE);
}

/* A few connections alone say nothing, as everybody has them. */
static void
say_nothing(WpDoctor *doctor, const WpDoctorCheck *check)
{
	const WpPairs *pairs = doctor->of.pairs;
	guint n = 0, n_enough = 0;
	for (guint i = 0; i < pairs->kinds->len; i++) {
		const WpPairsKind *kind = wp_pairs_kind(pairs, i);
		n += kind->n_acquired > 0 && kind->thing != &wp_pair_connection;
		n_enough += has_enough(doctor, kind) && can_tell(kind);
	}
	wp_doctor_add(doctor, check, n && !n_enough ? WP_FINDING_UNDECIDED : WP_FINDING_CLEAN,
		      n_enough ? name_kinds(doctor)
		      : n      ? g_strdup("Too little is acquired, or not seen being given back.")
			       : g_strdup("Nothing is acquired and given back, as far as labels "
					       "tell."));
}

static void
look(WpDoctor *doctor, const WpDoctorCheck *check)
{
	const WpPairs *pairs = doctor->of.pairs;
	guint n_before = doctor->findings->len;
	for (guint i = 0; i < pairs->kinds->len; i++) {
		const WpPairsKind *kind = wp_pairs_kind(pairs, i);
		if (!has_enough(doctor, kind))
			continue;
		if (is_lost(doctor, kind))
			tell_lost(doctor, check, kind);
		if (is_idle(doctor, kind))
			tell_idle(doctor, check, kind);
		if (is_costly(doctor, kind))
			tell_costly(doctor, check, kind);
	}
	if (doctor->findings->len == n_before)
		say_nothing(doctor, check);
}

const WpDoctorCheck wp_doctor_pairs = {
	.name = "pairs",
	.title = "Acquired and given back",
	.look = look,
};
