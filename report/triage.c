/* Runs to a set of chains, the set to distances, distances to clusters and an order; then why. */
#include "report/triage.h"

#include <math.h>
#include <string.h>

#include "infer/map.h"
#include "infer/text-file.h"
#include "report/error.h"

/* A level of time is so many half octaves, 8 times; the first begins at 4 times the usual. */
#define TIME_STEP  6
#define TIME_BELOW 2

/* Numbers of levels: usual is 0, as of all calls above the last. */
#define TIME_NO_RETURN 1
#define TIME_USUAL     1000 /* 1000 + level */

/* A run like a bad one rises by so much, one like a good one falls. */
#define LIKENESS 4.0

#define NORMAL   1.4826 /* sd of a normal distribution, in medians of what differs from its median */
#define SPREAD   0.01   /* of the median, at the least: runs that are the same have none */
#define TOP_PART 0.1    /* a reason with less of the distance is none */

#define Z_95 1.6449 /* quantile of a normal distribution: one-sided */

#define MAX_VERDICTS (4 << 20) /* bytes of a file */

#define PER_REQUESTS 1000 /* weights are calls in so many requests */

typedef struct {
	const GPtrArray *inputs;
	const WpTriageOptions *options;
	WpRunSet *set;
	GHashTable *texts; /* text -> number, from 1 */
	GPtrArray *names;  /* by number - 1; owned by texts */
	GHashTable *kinds; /* frames without time (GBytes) -> Kind */
	WpMap *entries;    /* (node, operation) of roots: as the thesis has threads */
	WpMap *counted;    /* (run, chain of set) -> place in counts */
	GArray *counts;    /* guint64 */
	double *matrix;
	WpTriage *triage;
} Maker;

/* A chain whatever its time: the median of all its calls. */
typedef struct {
	guint64 times[WP_CHAIN_TIMES];
	guint64 count; /* with a return */
	guint usual;
} Kind;

static guint32
number_of(Maker *maker, const char *text)
{
	gpointer found = g_hash_table_lookup(maker->texts, text);
	if (found)
		return GPOINTER_TO_UINT(found);
	guint32 number = g_hash_table_size(maker->texts) + 1;
	char *copy = g_strdup(text);
	g_hash_table_insert(maker->texts, copy, GUINT_TO_POINTER(number));
	g_ptr_array_add(maker->names, copy);
	return number;
}

static WpChainFrame
frame_of(Maker *maker, const WpChain *chain)
{
	g_autofree char *operation = g_strconcat(chain->is_error ? "!" : "=", chain->label, NULL);
	return (WpChainFrame){ .levels = { [WP_FRAME_ROLE] = number_of(maker, chain->node),
					   [WP_FRAME_SERVICE] = number_of(maker, chain->protocol),
					   [WP_FRAME_OPERATION] = number_of(maker, operation) } };
}

/* (transfer full) The frames of each chain of a run, without times. */
static GPtrArray *
frames_of_run(Maker *maker, const WpChains *chains)
{
	GPtrArray *all = g_ptr_array_new_with_free_func((GDestroyNotify)g_array_unref);

	for (guint i = 0; i < chains->chains->len; i++) {
		const WpChain *chain = chains->chains->pdata[i];
		GArray *frames = g_array_new(FALSE, TRUE, sizeof(WpChainFrame));
		WpChainFrame last = frame_of(maker, chain);
		if (chain->parent != WP_CHAIN_ROOT) {
			const GArray *above = all->pdata[chain->parent];
			g_array_append_vals(frames, above->data, above->len);
		}
		g_array_append_val(frames, last);
		g_ptr_array_add(all, frames);
	}
	return all;
}

static Kind *
kind_of(Maker *maker, const GArray *frames)
{
	GBytes *key = g_bytes_new(frames->data, frames->len * sizeof(WpChainFrame));
	Kind *kind = g_hash_table_lookup(maker->kinds, key);

	if (kind) {
		g_bytes_unref(key);
		return kind;
	}
	kind = g_new0(Kind, 1);
	g_hash_table_insert(maker->kinds, key, kind);
	return kind;
}

static void
sum_times(Maker *maker, const WpChains *chains)
{
	g_autoptr(GPtrArray) frames = frames_of_run(maker, chains);

	for (guint i = 0; i < chains->chains->len; i++) {
		const WpChain *chain = chains->chains->pdata[i];
		Kind *kind = kind_of(maker, frames->pdata[i]);
		for (guint t = 0; t < WP_CHAIN_NO_RETURN; t++) {
			kind->times[t] += chain->times[t];
			kind->count += chain->times[t];
		}
	}
}

static void
find_usual(Maker *maker)
{
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, maker->kinds);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		Kind *kind = value;
		guint64 sum = 0;
		for (guint t = 0; t < WP_CHAIN_NO_RETURN && 2 * sum < kind->count; t++) {
			sum += kind->times[t];
			kind->usual = t;
		}
	}
}

static guint32
time_level(guint time, guint usual)
{
	guint away = time > usual ? time - usual : usual - time;
	guint level = (away + TIME_BELOW) / TIME_STEP;

	if (time == WP_CHAIN_NO_RETURN)
		return TIME_NO_RETURN;
	if (level == 0)
		return 0;
	return time > usual ? TIME_USUAL + level : TIME_USUAL - level;
}

static void
count_chain(Maker *maker, guint32 run, GArray *frames, guint32 level, guint64 calls, double weight)
{
	WpChainFrame *last = &g_array_index(frames, WpChainFrame, frames->len - 1);
	const WpChainFrame *first = &g_array_index(frames, WpChainFrame, 0);
	guint32 role = last->levels[WP_FRAME_ROLE];
	guint32 entry =
		wp_map_number(maker->entries, wp_map_key(first->levels[WP_FRAME_ROLE],
							 first->levels[WP_FRAME_OPERATION]));
	guint64 none = 0;

	last->levels[WP_FRAME_TIME] = level;
	guint32 chain =
		wp_run_set_chain(maker->set, &g_array_index(frames, WpChainFrame, 0), frames->len);
	last->levels[WP_FRAME_TIME] = 0;
	if (chain == G_MAXUINT32) {
		maker->triage->n_left += calls;
		return;
	}
	wp_run_set_count(maker->set, run, role, entry, chain, weight * (double)calls);
	guint32 place = wp_map_number(maker->counted, wp_map_key(run, chain));
	if (place == maker->counts->len)
		g_array_append_val(maker->counts, none);
	g_array_index(maker->counts, guint64, place) += calls;
}

static void
count_run(Maker *maker, guint32 run, const WpChains *chains)
{
	g_autoptr(GPtrArray) frames = frames_of_run(maker, chains);
	double weight = (double)PER_REQUESTS / (double)chains->n_requests;

	for (guint i = 0; i < chains->chains->len; i++) {
		const WpChain *chain = chains->chains->pdata[i];
		const Kind *kind = kind_of(maker, frames->pdata[i]);
		for (guint t = 0; t < WP_CHAIN_TIMES; t++)
			if (chain->times[t])
				count_chain(maker, run, frames->pdata[i],
					    time_level(t, kind->usual), chain->times[t], weight);
	}
}

/* --- how far each is away --- */

static int
compare_doubles(gconstpointer a, gconstpointer b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* N > 0 of them; sorts VALUES. */
static double
median(double *values, guint n)
{
	qsort(values, n, sizeof *values, compare_doubles);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static void
free_reason(gpointer data)
{
	WpTriageReason *reason = data;
	g_free(reason->chain);
	g_free(reason->how);
	g_free(reason);
}

static void
add_runs(Maker *maker)
{
	guint n = maker->inputs->len;

	for (guint i = 0; i < n; i++) {
		const WpTriageInput *input = maker->inputs->pdata[i];
		WpTriageRun *run = g_new0(WpTriageRun, 1);
		run->name = input->name;
		run->n_requests = input->chains->n_requests;
		run->verdict = input->verdict;
		run->exit_status = input->exit_status;
		run->reasons = g_ptr_array_new_with_free_func(free_reason);
		for (guint k = 0; k < n; k++)
			run->away += maker->matrix[(gsize)i * n + k] / (n - 1);
		maker->triage->n_calls += input->chains->n_calls;
		maker->triage->n_left += input->chains->n_left;
		g_ptr_array_add(maker->triage->runs, run);
	}
}

/* Distances are sums of counts, whose square roots spread alike whatever they are (Bartlett, 1936). */
static void
find_outliers(WpTriage *triage)
{
	guint n = triage->runs->len;
	g_autofree double *values = g_new(double, n);

	for (guint i = 0; i < n; i++)
		values[i] = sqrt(((WpTriageRun *)triage->runs->pdata[i])->away);
	double middle = median(values, n);
	for (guint i = 0; i < n; i++)
		values[i] = fabs(sqrt(((WpTriageRun *)triage->runs->pdata[i])->away) - middle);
	double spread = MAX(NORMAL * median(values, n), SPREAD * middle);
	triage->usual_away = middle * middle;
	for (guint i = 0; i < n; i++) {
		WpTriageRun *run = triage->runs->pdata[i];
		run->times_usual = triage->usual_away > 0 ? run->away / triage->usual_away : 0;
		run->stands_out = sqrt(run->away) > middle + WP_TRIAGE_LIMIT * spread;
		triage->n_standing_out += run->stands_out;
	}
}

static void
find_clusters(Maker *maker)
{
	WpTriage *triage = maker->triage;
	guint n = triage->runs->len, k = triage->options.clusters;
	g_autofree double *cosines = wp_cluster_cosines(maker->matrix, n);
	g_autofree guint32 *clusters = g_new0(guint32, n), *sizes = g_new0(guint32, n);

	triage->options.clusters = k = k ? MIN(k, n) : MAX(n / 10, 2);
	wp_cluster(cosines, n, k, triage->options.linkage, clusters, NULL);
	for (guint i = 0; i < n; i++)
		sizes[clusters[i]]++;
	for (guint i = 0; i < n; i++) {
		WpTriageRun *run = triage->runs->pdata[i];
		run->cluster = clusters[i];
		run->cluster_size = sizes[clusters[i]];
	}
}

/* --- why --- */

static const char *
name_of(const Maker *maker, guint32 number)
{
	return maker->names->pdata[number - 1];
}

/* (transfer full) "web GET /page > app RUN (failed) > db READ"; of the last how_text() tells. */
static char *
chain_text(const Maker *maker, const WpChainFrame *frames, guint n)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < n; i++) {
		const char *operation = name_of(maker, frames[i].levels[WP_FRAME_OPERATION]);
		gboolean failed = operation[0] == '!' && i + 1 < n;
		g_string_append_printf(text, "%s%s%s%s%s", i ? " > " : "",
				       name_of(maker, frames[i].levels[WP_FRAME_ROLE]),
				       operation[1] ? " " : "", operation + 1,
				       failed ? " (failed)" : "");
	}
	return g_string_free(text, FALSE);
}

/* (transfer full) What LAST, the last call of a chain, has that is not usual; "" = nothing. */
static char *
how_text(const Maker *maker, const WpChainFrame *last)
{
	guint32 time = last->levels[WP_FRAME_TIME];
	gboolean is_error = name_of(maker, last->levels[WP_FRAME_OPERATION])[0] == '!';
	GString *text = g_string_new(is_error ? "an error" : NULL);

	if (time)
		g_string_append(text, text->len ? ", " : "");
	if (time == TIME_NO_RETURN)
		g_string_append(text, "no answer");
	else if (time > TIME_USUAL)
		g_string_append_printf(text, "about %.0f times as long as usual",
				       pow(2, TIME_STEP * (time - TIME_USUAL) / 2.0));
	else if (time)
		g_string_append_printf(text, "about 1/%.0f of the usual time",
				       pow(2, TIME_STEP * (TIME_USUAL - time) / 2.0));
	return g_string_free(text, FALSE);
}

static guint64
calls_of(const Maker *maker, guint32 run, guint32 chain)
{
	guint32 place = wp_map_find(maker->counted, wp_map_key(run, chain));
	return place == WP_MAP_NONE ? 0 : g_array_index(maker->counts, guint64, place);
}

/* Calls of CHAIN in the other runs, in as many requests as RUN has: the median. */
static double
usual_calls(const Maker *maker, guint32 run, guint32 chain)
{
	guint n = maker->inputs->len, k = 0;
	const WpTriageInput *own = maker->inputs->pdata[run];
	g_autofree double *values = g_new(double, n);

	for (guint32 i = 0; i < n; i++) {
		const WpTriageInput *other = maker->inputs->pdata[i];
		if (i != run)
			values[k++] = (double)calls_of(maker, i, chain) *
				      (double)own->chains->n_requests /
				      (double)other->chains->n_requests;
	}
	return median(values, k);
}

static void
explain(const Maker *maker, guint32 number, WpTriageRun *run)
{
	g_autoptr(GArray) found = wp_run_set_explain(maker->set, number);

	for (guint i = 0; i < found->len && run->reasons->len < WP_TRIAGE_REASONS; i++) {
		const WpRunReason *reason = &g_array_index(found, WpRunReason, i);
		double share = run->away > 0 ? reason->distance / run->away : 0;
		guint64 calls = calls_of(maker, number, reason->chain);
		double usual = usual_calls(maker, number, reason->chain);
		guint n;
		const WpChainFrame *frames = wp_run_set_frames(maker->set, reason->chain, &n);
		if (run->reasons->len && share < TOP_PART)
			return;
		/* Far from some of the others, but not from what is usual. */
		if (reason->is_missing ? (double)calls >= usual : (double)calls <= usual)
			continue;
		WpTriageReason *told = g_new0(WpTriageReason, 1);
		*told = (WpTriageReason){ .chain = chain_text(maker, frames, n),
					  .how = how_text(maker, &frames[n - 1]),
					  .calls = calls,
					  .usual = usual,
					  .share = share };
		g_ptr_array_add(run->reasons, told);
	}
}

/* --- verdicts --- */

/* How much of what makes A and B odd they have in common: 0 = nothing, 1 = all. */
static double
likeness(const Maker *maker, guint a, guint b)
{
	const WpTriageRun *first = maker->triage->runs->pdata[a],
			  *second = maker->triage->runs->pdata[b];
	double apart = maker->matrix[(gsize)a * maker->triage->runs->len + b];
	double both = first->away + second->away;
	return both > 0 ? CLAMP(1 - apart / both, 0, 1) : 0;
}

static void
set_scores(const Maker *maker)
{
	const GPtrArray *runs = maker->triage->runs;

	for (guint i = 0; i < runs->len; i++) {
		WpTriageRun *run = runs->pdata[i];
		double most[3] = { 0, 0, 0 }; /* by verdict */
		for (guint k = 0; k < runs->len; k++) {
			const WpTriageRun *other = runs->pdata[k];
			if (k != i)
				most[other->verdict] =
					MAX(most[other->verdict], likeness(maker, i, k));
		}
		run->score = run->away * pow(LIKENESS, most[WP_TRIAGE_BAD] - most[WP_TRIAGE_GOOD]);
	}
}

/* The upper end of Wilson's interval for a share of which K of N > 0 were seen. */
static double
highest_share(double k, double n)
{
	double p = k / n, z = Z_95;
	return (p + z * z / (2 * n) + z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))) /
	       (1 + z * z / n);
}

/* Those that stand out and those that do not are two strata: a sample of one says nothing of the other. */
static void
estimate(WpTriage *triage)
{
	double all[2] = { 0, 0 }, seen[2] = { 0, 0 }, bad[2] = { 0, 0 };

	for (guint i = 0; i < triage->runs->len; i++) {
		const WpTriageRun *run = triage->runs->pdata[i];
		guint at = run->stands_out ? 1 : 0;
		all[at]++;
		seen[at] += run->verdict != WP_TRIAGE_OPEN;
		bad[at] += run->verdict == WP_TRIAGE_BAD;
		triage->n_good += run->verdict == WP_TRIAGE_GOOD;
		triage->n_bad += run->verdict == WP_TRIAGE_BAD;
		triage->n_odd_open += run->stands_out && run->verdict == WP_TRIAGE_OPEN;
	}
	for (guint at = 0; at < 2; at++) {
		double rest = all[at] - seen[at];
		if (all[at] > 0 && seen[at] == 0) {
			triage->expected_bad = triage->most_bad = -1;
			return;
		}
		if (all[at] == 0)
			continue;
		triage->expected_bad += bad[at] + rest * bad[at] / seen[at];
		triage->most_bad += bad[at] + rest * highest_share(bad[at], seen[at]);
	}
}

static int
compare_runs(gconstpointer a, gconstpointer b)
{
	const WpTriageRun *left = *(WpTriageRun *const *)a, *right = *(WpTriageRun *const *)b;
	gboolean had = left->verdict != WP_TRIAGE_OPEN, has = right->verdict != WP_TRIAGE_OPEN;

	if (had != has)
		return had ? 1 : -1;
	if (left->score != right->score)
		return left->score > right->score ? -1 : 1;
	return strcmp(left->name, right->name);
}

/* --- all of it --- */

static void
free_run(gpointer data)
{
	WpTriageRun *run = data;
	g_ptr_array_unref(run->reasons);
	g_free(run);
}

static void
clear_maker(Maker *maker)
{
	wp_run_set_free(maker->set);
	g_hash_table_unref(maker->texts);
	g_ptr_array_unref(maker->names);
	g_hash_table_unref(maker->kinds);
	wp_map_free(maker->entries);
	wp_map_free(maker->counted);
	g_array_unref(maker->counts);
	g_free(maker->matrix);
}

/* The runs to inspect are explained where their numbers are still those of the inputs: before they are sorted. */
static void
explain_first(const Maker *maker)
{
	GPtrArray *runs = maker->triage->runs;
	g_autoptr(GPtrArray) order = g_ptr_array_sized_new(runs->len);

	for (guint i = 0; i < runs->len; i++)
		g_ptr_array_add(order, runs->pdata[i]);
	g_ptr_array_sort(order, compare_runs);
	for (guint i = 0; i < runs->len; i++) {
		guint place;
		g_ptr_array_find(order, runs->pdata[i], &place);
		if (place < maker->options->inspect)
			explain(maker, i, runs->pdata[i]);
	}
}

WpTriage *
wp_triage_new(const GPtrArray *inputs, const WpTriageOptions *options)
{
	WpTriage *triage = g_new0(WpTriage, 1);
	Maker maker = {
		.inputs = inputs,
		.options = options,
		.set = wp_run_set_new(options->metric),
		.texts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.names = g_ptr_array_new(),
		.kinds = g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
					       (GDestroyNotify)g_bytes_unref, g_free),
		.entries = wp_map_new(),
		.counted = wp_map_new(),
		.counts = g_array_new(FALSE, FALSE, sizeof(guint64)),
		.triage = triage,
	};

	triage->options = *options;
	triage->runs = g_ptr_array_new_with_free_func(free_run);
	for (guint i = 0; i < inputs->len; i++)
		sum_times(&maker, ((const WpTriageInput *)inputs->pdata[i])->chains);
	find_usual(&maker);
	for (guint i = 0; i < inputs->len; i++)
		count_run(&maker, wp_run_set_add_run(maker.set),
			  ((const WpTriageInput *)inputs->pdata[i])->chains);
	maker.matrix = wp_run_set_matrix(maker.set);
	add_runs(&maker);
	find_outliers(triage);
	find_clusters(&maker);
	set_scores(&maker);
	estimate(triage);
	explain_first(&maker);
	g_ptr_array_sort(triage->runs, compare_runs);
	clear_maker(&maker);
	return triage;
}

void
wp_triage_free(WpTriage *triage)
{
	g_ptr_array_unref(triage->runs);
	g_free(triage);
}

void
wp_triage_input_free(WpTriageInput *input)
{
	wp_chains_free(input->chains);
	g_free(input->name);
	g_free(input);
}

/* --- verdicts of the user --- */

/* The run that NAME names: as it was given, or the last part of that. NULL: none, or several. */
static WpTriageInput *
find_run(const GPtrArray *inputs, const char *name)
{
	WpTriageInput *found = NULL;

	for (guint i = 0; i < inputs->len; i++) {
		WpTriageInput *input = inputs->pdata[i];
		if (g_str_equal(input->name, name))
			return input;
	}
	for (guint i = 0; i < inputs->len; i++) {
		WpTriageInput *input = inputs->pdata[i];
		g_autofree char *last = g_path_get_basename(input->name);
		if (!g_str_equal(last, name))
			continue;
		if (found)
			return NULL;
		found = input;
	}
	return found;
}

/* NULL, or what is wrong with LINE. */
static const char *
read_verdict(const GPtrArray *inputs, char *line)
{
	char *comma = strrchr(line, ',');

	if (!comma)
		return "a line is RUN,good or RUN,bad";
	*comma = '\0';
	g_strstrip(comma + 1);
	gboolean is_bad = g_str_equal(comma + 1, "bad");
	if (!is_bad && !g_str_equal(comma + 1, "good"))
		return "a verdict is good or bad";
	WpTriageInput *input = find_run(inputs, g_strstrip(line));
	if (!input)
		return "no run is called so, or several are";
	input->verdict = is_bad ? WP_TRIAGE_BAD : WP_TRIAGE_GOOD;
	return NULL;
}

gboolean
wp_triage_read_verdicts(GPtrArray *inputs, const char *path, GError **error)
{
	g_autofree char *text = wp_text_file_read(path, "verdicts", MAX_VERDICTS, error);
	if (!text)
		return FALSE;
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	for (guint i = 0; lines[i]; i++) {
		if (lines[i][0] == '#' || !*g_strstrip(lines[i]))
			continue;
		g_autofree char *line = g_strdup(lines[i]);
		const char *wrong = read_verdict(inputs, line);
		if (!wrong)
			continue;
		g_set_error(error, WP_REPORT_ERROR, WP_REPORT_ERROR_DATA, "%s, line %u: %s: %s",
			    path, i + 1, wrong, lines[i]);
		return FALSE;
	}
	return TRUE;
}
