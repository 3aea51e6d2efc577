/*
 * Taps: the first pass over all inputs, and which of them belong to one tap. Files of one tap (rotated) do
 * not overlap in time, have one kind of link, and names that begin alike; a label decides alone.
 */
#include "capture/taps.h"

#include <math.h>
#include <string.h>

#include "capture/taps-private.h"
#include "capture/trace.h"

#define MS       1e6
#define DOUBT_NS 0.2e6 /* that a clock may be wrong by is worth a warning */

/* Files that follow on each other overlap by no more than this, and this part of the shorter. */
#define OVERLAP_MAX_NS G_GINT64_CONSTANT(1000000000)
#define OVERLAP_SHARE  100

/* --- names --- */

/* (transfer full) "web" of "/tmp/web.pcap0.gz". */
static char *
stem_of(const char *path)
{
	static const char *const endings[] = { ".gz",     ".zst", ".lz4",  ".pcap",
					       ".pcapng", ".cap", ".ntar", ".dmp" };
	char *name = g_path_get_basename(path);

	for (gboolean is_cut = TRUE; is_cut;) {
		char *dot = strrchr(name, '.');
		is_cut = FALSE;
		for (gsize i = 0; dot > name && i < G_N_ELEMENTS(endings); i++) {
			gsize n = strlen(endings[i]);
			if (strncmp(dot, endings[i], n) == 0 &&
			    strspn(dot + n, "0123456789") == strlen(dot + n))
				is_cut = TRUE;
		}
		if (is_cut)
			*dot = '\0';
	}
	return name;
}

/* How many characters A and B have in common at their begin. */
static gsize
common_begin(const char *a, const char *b)
{
	gsize n = 0;
	while (a[n] && a[n] == b[n])
		n++;
	return n;
}

/* TRUE where A and B differ in digits alone. */
static gboolean
are_numbered(const char *a, const char *b)
{
	for (;;) {
		while (g_ascii_isdigit(*a))
			a++;
		while (g_ascii_isdigit(*b))
			b++;
		if (*a != *b || !*a)
			return *a == *b;
		a++;
		b++;
	}
}

/* --- inputs to taps --- */

/*
 * TRUE where INPUT begins well before the end of TAP. A few packets are written out of order where a file is
 * rotated.
 */
static gboolean
overlaps_tap(const WpTapInput *tap, const WpTapInput *input)
{
	if (!tap->n_packets || !input->n_packets || input->first_ns >= tap->last_ns)
		return FALSE;
	gint64 length_ns = MIN(input->last_ns - input->first_ns, tap->last_ns - tap->first_ns);
	return tap->last_ns - input->first_ns > MIN(length_ns / OVERLAP_SHARE, OVERLAP_MAX_NS);
}

/* How well INPUT continues TAP: -1 not at all. */
static gssize
match_tap(const WpTaps *taps, guint tap, const WpTapInput *input)
{
	const WpTapInput *last = &taps->taps[tap];
	gboolean overlaps = overlaps_tap(last, input);

	if (input->label || last->label)
		return input->label && last->label && strcmp(input->label, last->label) == 0
			       ? G_MAXSSIZE
			       : -1;
	if (overlaps ||
	    (input->n_packets && last->n_packets && input->link_type != last->link_type))
		return -1;
	gsize common = common_begin(input->name, last->name);
	if (are_numbered(input->name, last->name) || common * 2 >= strlen(input->name))
		return (gssize)common + 1;
	/* With nothing to compare it with, what follows in time is more of the same. */
	return taps->n_taps == 1 ? 0 : -1;
}

static void
join_tap(WpTaps *taps, guint number, WpTapInput *input)
{
	WpTapInput *tap = &taps->taps[number];
	WpSilence silence = { tap->last_ns, input->first_ns };

	input->tap = (guint8)number;
	if (!input->n_packets)
		return;
	if (!tap->n_packets) {
		tap->first_ns = input->first_ns;
		tap->last_ns = input->last_ns;
		tap->link_type = input->link_type;
	} else if (silence.to_ns - silence.from_ns >= WP_TAPS_SILENCE_NS) {
		g_array_append_val(tap->silences, silence);
	}
	tap->n_packets += input->n_packets;
	tap->first_ns = MIN(tap->first_ns, input->first_ns);
	tap->last_ns = MAX(tap->last_ns, input->last_ns);
	g_array_append_vals(tap->silences, input->silences->data, input->silences->len);
}

static gboolean
is_name_taken(const WpTaps *taps, const char *name)
{
	for (guint i = 0; i < taps->n_taps; i++)
		if (strcmp(taps->taps[i].name, name) == 0)
			return TRUE;
	return FALSE;
}

/* FALSE where there are too many. */
static gboolean
add_tap(WpTaps *taps, WpTapInput *input, GError **error)
{
	if (taps->n_taps == WP_TAPS_MAX) {
		g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_LIMIT,
			    "cannot merge captures of more than %d taps", WP_TAPS_MAX);
		return FALSE;
	}
	WpTapInput *tap = &taps->taps[taps->n_taps];
	char *name = g_strdup(input->label ? input->label : input->name);
	for (guint k = 2; is_name_taken(taps, name); k++) {
		g_free(name);
		name = g_strdup_printf("%s#%u", input->name, k);
	}
	*tap = (WpTapInput){ .name = name, .label = input->label };
	tap->silences = g_array_new(FALSE, FALSE, sizeof(WpSilence));
	join_tap(taps, taps->n_taps++, input);
	return TRUE;
}

static int
compare_begins(gconstpointer a, gconstpointer b)
{
	const WpTapInput *x = *(WpTapInput *const *)a, *y = *(WpTapInput *const *)b;
	if (!x->n_packets != !y->n_packets)
		return x->n_packets ? -1 : 1;
	if (x->first_ns != y->first_ns)
		return x->first_ns < y->first_ns ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Taps stand in the order in which their first inputs were given. */
static void
number_taps(WpTaps *taps)
{
	WpTapInput old[WP_TAPS_MAX];
	guint8 numbers[WP_TAPS_MAX];
	guint8 n = 0;

	memcpy(old, taps->taps, sizeof old);
	memset(numbers, G_MAXUINT8, sizeof numbers);
	for (gsize i = 0; i < taps->n_inputs; i++) {
		guint8 *number = &numbers[taps->inputs[i].tap];
		if (*number == G_MAXUINT8) {
			taps->taps[n] = old[taps->inputs[i].tap];
			*number = n++;
		}
		taps->inputs[i].tap = *number;
	}
}

/* In order of time, each input continues the tap that it fits best. */
static gboolean
group_inputs(WpTaps *taps, GError **error)
{
	g_autoptr(GPtrArray) order = g_ptr_array_new();

	for (gsize i = 0; i < taps->n_inputs; i++)
		g_ptr_array_add(order, &taps->inputs[i]);
	g_ptr_array_sort(order, compare_begins);
	for (guint i = 0; i < order->len; i++) {
		WpTapInput *input = order->pdata[i];
		gssize best = -1;
		guint tap = 0;
		for (guint k = 0; k < taps->n_taps; k++) {
			gssize match = match_tap(taps, k, input);
			if (match > best) {
				best = match;
				tap = k;
			}
		}
		if (best >= 0)
			join_tap(taps, tap, input);
		else if (!add_tap(taps, input, error))
			return FALSE;
	}
	number_taps(taps);
	return TRUE;
}

/* --- clocks that are given --- */

static gboolean
parse_seconds(const char *text, const char **out_end, double *out_ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	char *end;
	double value = g_ascii_strtod(text, &end);

	if (end == text || !isfinite(value))
		return FALSE;
	for (gsize i = 0; i < G_N_ELEMENTS(units); i++) {
		gsize n = strlen(units[i].unit);
		if (strncmp(end, units[i].unit, n) == 0) {
			*out_ns = value * units[i].ns;
			*out_end = end + n;
			return fabs(*out_ns) < 1e17;
		}
	}
	*out_ns = value * 1e9;
	*out_end = end;
	return fabs(*out_ns) < 1e17;
}

/* OFFSET[,PPM] */
static gboolean
parse_clock(const char *text, double *out_offset_ns, double *out_ppm)
{
	const char *at;
	char *end;

	*out_ppm = 0;
	if (!parse_seconds(text, &at, out_offset_ns))
		return FALSE;
	if (*at == '\0')
		return TRUE;
	if (*at != ',')
		return FALSE;
	*out_ppm = g_ascii_strtod(at + 1, &end);
	return end > at + 1 && *end == '\0' && fabs(*out_ppm) <= 1e5;
}

static gboolean
find_tap(const WpTaps *taps, const char *name, gsize length, guint *out_tap)
{
	for (guint i = 0; i < taps->n_taps; i++)
		if (strlen(taps->taps[i].name) == length &&
		    strncmp(taps->taps[i].name, name, length) == 0) {
			*out_tap = i;
			return TRUE;
		}
	return FALSE;
}

/* "TAP" is the reference; "TAP=OFFSET[,PPM]" is so fast, whatever the messages show. */
static gboolean
set_clock(WpTaps *taps, const char *text, GError **error)
{
	const char *equals = strrchr(text, '=');
	double offset_ns, ppm;
	guint tap;

	if (!find_tap(taps, text, equals ? (gsize)(equals - text) : strlen(text), &tap)) {
		g_autoptr(GString) names = g_string_new(NULL);
		for (guint i = 0; i < taps->n_taps; i++)
			g_string_append_printf(names, "%s%s", i ? ", " : "", taps->taps[i].name);
		g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_OPTION,
			    "cannot set the clock \"%s\": there is no such tap\nthe taps are %s",
			    text, names->str);
		return FALSE;
	}
	if (!equals) {
		taps->reference = tap;
		return TRUE;
	}
	if (!parse_clock(equals + 1, &offset_ns, &ppm)) {
		g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_OPTION,
			    "cannot use \"%s\" as TAP=OFFSET[,PPM], as in web=-12.5ms,40", text);
		return FALSE;
	}
	wp_clock_set(&taps->clocks[tap], taps->taps[tap].first_ns, (gint64)offset_ns, ppm / 1e6);
	taps->is_set[tap] = taps->is_linked[tap] = TRUE;
	return TRUE;
}

static gboolean
set_clocks(WpTaps *taps, GError **error)
{
	const char *const *clock = taps->options->clocks;

	for (guint i = 1; i < taps->n_taps; i++)
		if (taps->taps[i].n_packets > taps->taps[taps->reference].n_packets)
			taps->reference = i;
	for (; clock && *clock; clock++)
		if (!set_clock(taps, *clock, error))
			return FALSE;
	taps->is_linked[taps->reference] = TRUE;
	return TRUE;
}

/* --- public --- */

static gboolean
read_inputs(WpTaps *taps, gboolean *out_stopped, GError **error)
{
	const WpTapsOptions *options = taps->options;

	for (gsize i = 0; i < taps->n_inputs; i++) {
		WpTapInput *input = &taps->inputs[i];
		input->name = stem_of(options->paths[i]);
		input->label = options->labels ? options->labels[i] : NULL;
		input->silences = g_array_new(FALSE, FALSE, sizeof(WpSilence));
		if (!wp_sampler_read(taps, i, out_stopped, error))
			return FALSE;
	}
	return TRUE;
}

WpTaps *
wp_taps_survey(const WpTapsOptions *options, gboolean *out_stopped, GError **error)
{
	g_autoptr(WpTaps) taps = g_new0(WpTaps, 1);

	*out_stopped = FALSE;
	taps->options = options;
	taps->n_inputs = options->n_paths;
	taps->inputs = g_new0(WpTapInput, taps->n_inputs);
	taps->links = g_array_new(FALSE, TRUE, sizeof(WpTapLink));
	taps->excluded = g_array_new(FALSE, FALSE, sizeof(WpSilence));
	wp_sampler_init(&taps->sampler);
	if (!read_inputs(taps, out_stopped, error) || !group_inputs(taps, error) ||
	    !set_clocks(taps, error))
		return NULL;
	if (taps->n_taps > 1) {
		wp_taps_match(taps);
		wp_taps_find_cover(taps);
	}
	wp_sampler_clear(&taps->sampler);
	taps->options = NULL;
	return g_steal_pointer(&taps);
}

static void
clear_input(WpTapInput *input)
{
	g_free(input->name);
	if (input->silences)
		g_array_unref(input->silences);
}

void
wp_taps_free(WpTaps *taps)
{
	if (!taps)
		return;
	for (gsize i = 0; i < taps->n_inputs; i++)
		clear_input(&taps->inputs[i]);
	for (guint i = 0; i < taps->n_taps; i++) {
		clear_input(&taps->taps[i]);
		wp_clock_clear(&taps->clocks[i]);
	}
	for (guint i = 0; i < taps->links->len; i++)
		wp_clock_clear(&g_array_index(taps->links, WpTapLink, i).clock);
	g_array_unref(taps->links);
	g_array_unref(taps->excluded);
	wp_sampler_clear(&taps->sampler);
	wp_flow_table_free(taps->nat);
	if (taps->votes)
		g_hash_table_unref(taps->votes);
	g_free(taps->inputs);
	g_free(taps);
}

guint
wp_taps_count(const WpTaps *taps)
{
	return taps->n_taps;
}

guint
wp_taps_of_input(const WpTaps *taps, gsize i)
{
	return taps->inputs[i].tap;
}

const char *
wp_taps_name(const WpTaps *taps, guint tap)
{
	return taps->taps[tap].name;
}

const WpClock *
wp_taps_clock(const WpTaps *taps, guint tap)
{
	return &taps->clocks[tap];
}

gint64
wp_taps_correct(const WpTaps *taps, guint tap, gint64 time_ns)
{
	return wp_clock_correct(&taps->clocks[tap], time_ns);
}

void
wp_taps_translate(const WpTaps *taps, WpSegment *segment)
{
	WpFlowKey key;

	if (!taps->nat)
		return;
	guint side = wp_flow_key(segment, &key);
	const WpTapNat *nat = wp_flow_table_find(taps->nat, &key);
	if (!nat)
		return;
	segment->src = nat->ends[side];
	segment->dst = nat->ends[!side];
}

/* --- telling --- */

static char *
describe_time(gint64 time_ns)
{
	g_autoptr(GDateTime) date = g_date_time_new_from_unix_utc(time_ns / 1000000000);
	g_autofree char *text = date ? g_date_time_format(date, "%Y-%m-%dT%H:%M:%S") : NULL;
	gint64 rest = time_ns % 1000000000;
	return g_strdup_printf("%s.%03dZ", text ? text : "?",
			       (int)((rest < 0 ? rest + 1000000000 : rest) / 1000000));
}

static gboolean
tell_tap(const WpTaps *taps, guint tap, WpTapsFunc func, gpointer data)
{
	const WpTapInput *own = &taps->taps[tap];
	g_autofree char *from = describe_time(wp_taps_correct(taps, tap, own->first_ns));
	g_autofree char *to = describe_time(wp_taps_correct(taps, tap, own->last_ns));
	g_autofree char *value = g_strdup_printf(
		"%s: %" G_GUINT64_FORMAT " packets, %s to %s", own->name, own->n_packets,
		own->n_packets ? from : "-", own->n_packets ? to : "-");
	return func("tap", value, data);
}

/* Messages that tap has in common with others. */
static guint
count_common(const WpTaps *taps, guint tap)
{
	guint n = 0;
	for (guint i = 0; i < taps->links->len; i++) {
		const WpTapLink *link = &g_array_index(taps->links, WpTapLink, i);
		n += link->a == tap || link->b == tap ? link->n_pairs : 0;
	}
	return n;
}

/* (transfer full) One piece of the clock of TAP. */
static char *
describe_segment(const WpTaps *taps, guint tap, guint i)
{
	const WpClock *clock = &taps->clocks[tap];
	const WpClockSegment *segment = &clock->segments[i];
	g_autofree char *since =
		i ? describe_time(wp_taps_correct(taps, tap, segment->from_ns)) : NULL;
	GString *text = g_string_new(NULL);

	g_string_append_printf(text, "%s: offset %+.4f ms", taps->taps[tap].name,
			       (double)segment->offset_ns / MS);
	if (!taps->is_set[tap])
		g_string_append_printf(text, " +- %.4f ms", segment->offset_error_ns / MS);
	g_string_append_printf(text, ", drift %+.2f ppm", segment->drift * 1e6);
	if (!taps->is_set[tap])
		g_string_append_printf(text, " +- %.2f ppm", segment->drift_error * 1e6);
	if (since)
		g_string_append_printf(text, ", from %s", since);
	if (taps->is_set[tap])
		g_string_append(text, ", as given");
	else if (i == 0 && taps->is_by_cause[tap])
		g_string_append(text, ", as what hosts send follows what they get (no packet was "
				      "seen at both)");
	else if (i == 0)
		g_string_append_printf(text, ", of %u packets seen at both",
				       count_common(taps, tap));
	return g_string_free(text, FALSE);
}

static gboolean
tell_clock(const WpTaps *taps, guint tap, WpTapsFunc func, gpointer data)
{
	const WpClock *clock = &taps->clocks[tap];

	for (guint i = 0; i < clock->n; i++) {
		g_autofree char *value = describe_segment(taps, tap, i);
		if (!func("clock", value, data))
			return FALSE;
	}
	if (clock->n)
		return TRUE;
	g_autofree char *value = g_strdup_printf(
		"%s: %s", taps->taps[tap].name,
		tap == taps->reference ? "the reference" : "not known, taken as right");
	return func("clock", value, data);
}

/* Where calls of hosts that several taps see hang on a clock that is not known, or not well. */
static gboolean
tell_doubt(const WpTaps *taps, guint tap, WpTapsFunc func, gpointer data)
{
	const WpClockSegment *segment =
		wp_clock_segment(&taps->clocks[tap], taps->taps[tap].first_ns);
	gboolean is_known = taps->is_linked[tap];

	if (is_known ? !taps->is_by_cause[tap] || !segment || segment->offset_error_ns < DOUBT_NS
		     : !taps->is_asked[tap])
		return TRUE;
	g_autofree char *value = is_known ? g_strdup_printf("%s: %.1f ms", taps->taps[tap].name,
							    segment->offset_error_ns / MS)
					  : g_strdup_printf("%s: not known", taps->taps[tap].name);
	return func("clock-doubt", value, data);
}

gboolean
wp_taps_tell(const WpTaps *taps, WpTapsFunc func, gpointer data)
{
	if (taps->n_taps < 2)
		return TRUE;
	for (guint i = 0; i < taps->n_taps; i++)
		if (!tell_tap(taps, i, func, data) || !tell_clock(taps, i, func, data) ||
		    !tell_doubt(taps, i, func, data))
			return FALSE;
	for (guint i = 0; i < taps->excluded->len; i++) {
		const WpSilence *part = &g_array_index(taps->excluded, WpSilence, i);
		g_autofree char *from = describe_time(part->from_ns);
		g_autofree char *to = describe_time(part->to_ns);
		g_autofree char *value =
			g_strdup_printf("%s to %s, as not all taps were at work", from, to);
		if (!func("excluded", value, data))
			return FALSE;
	}
	if (taps->is_nothing_covered)
		return func("excluded", "nothing, though the taps were never at work together",
			    data);
	return TRUE;
}
