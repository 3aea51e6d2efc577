/*
 * Calls in order of time; what is held stands in two lists: that of its holder (a flow, or caller and callee), newest
 * first, and that of all, oldest first. Tables are asked, never walked, so their order is in no result.
 */
#include "report/pairs.h"

#include <string.h>

#include "infer/map.h"

#define NONE G_MAXUINT32

/* Of one holder so many are looked at for a release or a use: more would make a leak cost quadratic time. */
#define MAX_LOOK 256

/* Nodes in the text of a chain. */
#define MAX_CHAIN 32

/* Lost is what was held so many times as long as the longest that was given back... */
#define LONG 2

/* ... and no less than this share of the capture; a login unused for so much of it. */
#define MIN_OLD      0.05
#define LOGIN_UNUSED 0.25

/* What a label means. */
typedef struct {
	WpPairSide side;
	guint32 stem; /* what both sides have: thing and rest of the label */
} Word;

typedef struct {
	const WpPairThing *thing;
	WpMap *kinds; /* callee -> kind */
} Stem;

typedef struct Open Open;

typedef struct {
	guint64 key;
	Open *newest;
} Holder;

struct Open {
	Open *older; /* of its holder */
	Open *newer;
	Holder *holder;
	GList link; /* of all */
	WpPairsKind *kind;
	guint32 chain; /* of its kind; NONE: not known yet */
	guint32 label;
	guint64 root_id; /* of the request that acquired it */
	gint64 root_ns;
	gint64 begin_ns;    /* the call that acquired it */
	gint64 acquired_ns; /* ... its return */
	gint64 used_ns;     /* last */
	double busy_ns;     /* of its uses */
	guint64 packet;
	guint64 id;
	guint8 tap;
	gboolean serves_others; /* its connection has served other requests */
};

struct WpPairsMaker {
	WpPairs pairs;
	WpMap *labels;         /* (label, protocol) -> words */
	GArray *words;         /* Word */
	GHashTable *stem_keys; /* text -> number of stem + 1 */
	GPtrArray *stems;      /* Stem */
	GHashTable *holders;   /* key -> Holder */
	GQueue open;           /* Open.link */
	WpMap *connections;    /* callee -> kind of what has no login */
	gboolean has_begin;
};

/* A part at hand. */
typedef struct {
	WpPairsMaker *maker;
	const WpTrace *trace;
	const WpSpan *spans;
	const WpLink *links;
	const WpRecord *records;
	const guint32 *roots;
	const WpResolved *resolved;
	WpNodes *names;
} Part;

static void
chain_clear(gpointer data)
{
	g_free(((WpPairsChain *)data)->text);
}

static void
kind_free(gpointer data)
{
	WpPairsKind *kind = data;
	wp_delay_free(kind->held);
	g_array_unref(kind->chains);
	g_free(kind);
}

static void
stem_free(gpointer data)
{
	Stem *stem = data;
	wp_map_free(stem->kinds);
	g_free(stem);
}

WpPairsMaker *
wp_pairs_maker_new(void)
{
	WpPairsMaker *maker = g_new0(WpPairsMaker, 1);
	maker->pairs.kinds = g_ptr_array_new_with_free_func(kind_free);
	maker->labels = wp_map_new();
	maker->words = g_array_new(FALSE, FALSE, sizeof(Word));
	maker->stem_keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	maker->stems = g_ptr_array_new_with_free_func(stem_free);
	maker->holders = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
	maker->connections = wp_map_new();
	return maker;
}

void
wp_pairs_maker_free(WpPairsMaker *maker)
{
	if (!maker)
		return;
	while (maker->open.head) {
		Open *open = maker->open.head->data;
		g_queue_unlink(&maker->open, &open->link);
		g_free(open);
	}
	g_ptr_array_unref(maker->pairs.kinds);
	wp_map_free(maker->labels);
	g_array_unref(maker->words);
	g_hash_table_unref(maker->stem_keys);
	g_ptr_array_unref(maker->stems);
	g_hash_table_unref(maker->holders);
	wp_map_free(maker->connections);
	g_free(maker);
}

const WpPairsKind *
wp_pairs_kind(const WpPairs *pairs, guint kind)
{
	return pairs->kinds->pdata[kind];
}

/* --- what labels mean --- */

static guint32
stem_of(WpPairsMaker *maker, const WpPairWord *word)
{
	char *key = g_strdup_printf("%s:%p:%s", word->thing->name, (const void *)word->thing,
				    word->stem);
	gpointer known = g_hash_table_lookup(maker->stem_keys, key);
	if (known) {
		g_free(key);
		return GPOINTER_TO_UINT(known) - 1;
	}
	Stem *stem = g_new0(Stem, 1);
	stem->thing = word->thing;
	stem->kinds = wp_map_new();
	g_ptr_array_add(maker->stems, stem);
	g_hash_table_insert(maker->stem_keys, key, GUINT_TO_POINTER(maker->stems->len));
	return maker->stems->len - 1;
}

/* Each label is looked at once. */
static const Word *
word_of(Part *part, const WpSpan *span)
{
	WpPairsMaker *maker = part->maker;
	guint32 number = wp_map_number(maker->labels, wp_map_key(span->label, span->protocol));
	if (number == maker->words->len) {
		WpPairWord word = wp_pair_word(wp_nodes_text(part->names, span->protocol),
					       wp_nodes_text(part->names, span->label));
		Word own = { word.side, word.side ? stem_of(maker, &word) : NONE };
		g_array_append_val(maker->words, own);
		g_free(word.stem);
	}
	return &g_array_index(maker->words, Word, number);
}

/* The kind of CALLEE among KINDS; NULL where there are too many. */
static WpPairsKind *
kind_at(Part *part, WpMap *kinds, const WpPairThing *thing, const WpSpan *span)
{
	WpPairs *pairs = &part->maker->pairs;
	guint32 number = wp_map_find(kinds, span->callee);
	if (number != WP_MAP_NONE)
		return pairs->kinds->pdata[number];
	if (pairs->kinds->len >= WP_PAIRS_MAX_KINDS)
		return NULL;
	WpPairsKind *kind = g_new0(WpPairsKind, 1);
	kind->thing = thing;
	kind->node = wp_resolved_node_name(part->resolved, span->callee);
	kind->label = wp_nodes_text(part->names, span->label);
	kind->held = wp_delay_new();
	kind->chains = g_array_new(FALSE, FALSE, sizeof(WpPairsChain));
	g_array_set_clear_func(kind->chains, chain_clear);
	wp_map_at(kinds, span->callee, pairs->kinds->len);
	g_ptr_array_add(pairs->kinds, kind);
	return kind;
}

/* --- chains --- */

static const char *
label_text(const Part *part, const WpSpan *span)
{
	const char *label = wp_nodes_text(part->names, span->label);
	return *label ? label : wp_nodes_text(part->names, span->protocol);
}

/* (transfer full) From the root of span NUMBER to the node that calls. */
static char *
chain_text(const Part *part, guint32 number)
{
	guint32 above[MAX_CHAIN], n = 0;
	guint32 at = part->links[number].parent;
	for (; at != WP_NO_SPAN && n < MAX_CHAIN; at = part->links[at].parent)
		above[n++] = at;
	const WpSpan *first = &part->spans[n ? above[n - 1] : number];
	GString *text = g_string_new(at == WP_NO_SPAN ? "" : "... ");
	g_string_append(text, wp_resolved_node_name(part->resolved, first->caller));
	while (n--) {
		const WpSpan *span = &part->spans[above[n]];
		g_string_append_printf(text, " \342\206\222 %s %s",
				       wp_resolved_node_name(part->resolved, span->callee),
				       label_text(part, span));
	}
	return g_string_free(text, FALSE);
}

/* NONE where there are too many. */
static guint32
find_chain(WpPairsKind *kind, char *text)
{
	for (guint32 i = 0; i < kind->chains->len; i++)
		if (strcmp(g_array_index(kind->chains, WpPairsChain, i).text, text) == 0) {
			g_free(text);
			return i;
		}
	if (kind->chains->len >= WP_PAIRS_MAX_CHAINS) {
		g_free(text);
		return NONE;
	}
	WpPairsChain chain = { .text = text };
	g_array_append_val(kind->chains, chain);
	return kind->chains->len - 1;
}

static guint32
count_chain(const Part *part, WpPairsKind *kind, guint32 number)
{
	guint32 chain = find_chain(kind, chain_text(part, number));
	if (chain == NONE)
		kind->n_unchained++;
	else
		g_array_index(kind->chains, WpPairsChain, chain).n_acquired++;
	return chain;
}

/* --- what is held --- */

static guint64
holder_key(const Part *part, const WpSpan *span)
{
	guint32 flow = part->records[span->call_record].flow;
	if (flow)
		return flow;
	return G_GUINT64_CONSTANT(1) << 63 | wp_map_key(span->caller & G_MAXINT32, span->callee);
}

/* NULL where it holds nothing. */
static Holder *
find_holder(const Part *part, const WpSpan *span)
{
	guint64 key = holder_key(part, span);
	return g_hash_table_lookup(part->maker->holders, &key);
}

static gboolean
has_flow(const Holder *holder)
{
	return !(holder->key >> 63);
}

static void
close_open(WpPairsMaker *maker, Open *open)
{
	Holder *holder = open->holder;
	if (open->newer)
		open->newer->older = open->older;
	else
		holder->newest = open->older;
	if (open->older)
		open->older->newer = open->newer;
	if (!holder->newest)
		g_hash_table_remove(maker->holders, &holder->key);
	g_queue_unlink(&maker->open, &open->link);
	g_free(open);
}

static void
lose(WpPairsMaker *maker, const Open *open)
{
	WpPairsKind *kind = open->kind;
	if (kind->n_examples < WP_PAIRS_EXAMPLES)
		kind->examples[kind->n_examples++] =
			(WpCourseExample){ .begin_ns = open->begin_ns,
					   .latency_ns = open->acquired_ns - open->begin_ns,
					   .packet = open->packet,
					   .id = open->id,
					   .tap = open->tap };
	if (open->chain != NONE)
		g_array_index(kind->chains, WpPairsChain, open->chain).n_lost++;
	/* A sum, until the end is known. */
	kind->lost_at += (double)(open->begin_ns - maker->pairs.begin_ns);
	kind->n_lost++;
}

/* What HOLDER has, that a new one with LABEL of KIND replaces. */
static Open *
find_replaced(const Holder *holder, const WpPairsKind *kind, guint32 label)
{
	if (!holder || !has_flow(holder) || !kind->thing->is_of_flow)
		return NULL;
	guint n = 0;
	for (Open *open = holder->newest; open && n < MAX_LOOK; open = open->older, n++)
		if (open->kind == kind &&
		    (kind->thing->is_single ||
		     (open->label == label && kind->thing->sort >= WP_PAIR_KEPT)))
			return open;
	return NULL;
}

static void
replace(Part *part, const WpSpan *span, const WpPairsKind *kind)
{
	Open *old = find_replaced(find_holder(part, span), kind, span->label);
	if (!old)
		return;
	/* A login over a connection that has one changes the user. */
	if (kind->thing->sort == WP_PAIR_SHORT || kind->thing->sort == WP_PAIR_KEPT)
		lose(part->maker, old);
	close_open(part->maker, old);
}

static Holder *
make_holder(Part *part, const WpSpan *span)
{
	Holder *holder = find_holder(part, span);
	if (!holder) {
		holder = g_new0(Holder, 1);
		holder->key = holder_key(part, span);
		g_hash_table_insert(part->maker->holders, &holder->key, holder);
	}
	return holder;
}

static gint64
latency_ns(const WpSpan *span)
{
	return wp_span_end_ns(span) - span->call_ns;
}

static void
hold(Part *part, guint32 number, WpPairsKind *kind)
{
	const WpSpan *span = &part->spans[number], *root = &part->spans[part->roots[number]];
	const WpRecord *record = &part->records[span->call_record];
	Open *open = g_new0(Open, 1);
	*open = (Open){ .holder = make_holder(part, span),
			.kind = kind,
			.chain = NONE,
			.label = span->label,
			.root_id = root->id,
			.root_ns = root->call_ns,
			.begin_ns = span->call_ns,
			.acquired_ns = wp_span_end_ns(span),
			.used_ns = wp_span_end_ns(span),
			.packet = record->packet,
			.id = span->id,
			.tap = record->tap };
	/* Nobody is known to have asked for a login: whoever uses it first has. */
	if (!(span->marks & WP_MARK_SETUP))
		open->chain = count_chain(part, kind, number);
	open->link.data = open;
	open->older = open->holder->newest;
	if (open->older)
		open->older->newer = open;
	open->holder->newest = open;
	g_queue_push_tail_link(&part->maker->open, &open->link);
}

static void
acquire(Part *part, guint32 number, WpPairsKind *kind)
{
	const WpSpan *span = &part->spans[number];
	if (wp_span_is_error(span) || (span->kind == WP_KIND_CALL && !wp_span_is_paired(span))) {
		kind->n_failed++;
		return;
	}
	replace(part, span, kind);
	kind->n_acquired++;
	kind->cost_ns += (double)latency_ns(span);
	if (part->maker->open.length < WP_PAIRS_MAX_OPEN)
		hold(part, number, kind);
	else
		kind->n_left++;
}

/* Gives back OPEN, at the begin of SPAN. */
static void
give_back(Part *part, Open *open, const WpSpan *span)
{
	gint64 held_ns = MAX(span->call_ns - open->acquired_ns, 0);
	wp_delay_add(open->kind->held, held_ns);
	if (has_flow(open->holder))
		open->kind->idle_ns += MAX((double)held_ns - open->busy_ns, 0);
	close_open(part->maker, open);
}

/* Of KIND, what SPAN gives back: see the header. */
static Open *
find_open(const Holder *holder, const WpPairsKind *kind, const WpSpan *span, const WpSpan *root)
{
	Open *last = NULL;
	guint n = 0;
	for (Open *open = holder ? holder->newest : NULL; open && n < MAX_LOOK;
	     open = open->older, n++) {
		if (open->kind != kind || open->begin_ns > span->call_ns)
			continue;
		if (open->root_id == root->id && open->root_ns == root->call_ns)
			return open;
		if (!last)
			last = open;
	}
	return last;
}

/* What the connection of SPAN had ends with it. */
static void
end_flow(Part *part, const WpSpan *span)
{
	Holder *holder = find_holder(part, span);
	Open *older;
	if (!holder || !has_flow(holder))
		return;
	for (Open *open = holder->newest; open; open = older) {
		older = open->older;
		if (!open->kind->thing->is_of_flow)
			continue;
		open->kind->n_ended++;
		give_back(part, open, span);
	}
}

static void
release(Part *part, guint32 number, WpPairsKind *kind)
{
	const WpSpan *span = &part->spans[number];
	Open *open =
		find_open(find_holder(part, span), kind, span, &part->spans[part->roots[number]]);
	kind->cost_ns += (double)latency_ns(span);
	if (open) {
		kind->n_released++;
		give_back(part, open, span);
	} else {
		kind->n_unknown++;
	}
	if (kind->thing->ends_flow)
		end_flow(part, span);
}

/* --- other calls --- */

/* What opening the connection of SPAN took, where it is its first call; SETUP: login included. */
static gboolean
find_opening(const Part *part, const WpSpan *span, double *out_connect_ns, double *out_setup_ns)
{
	const WpRecord *record = &part->records[span->call_record];
	WpTransport transport;
	gboolean is_first = FALSE;
	*out_connect_ns = *out_setup_ns = 0;
	for (guint i = 0; wp_trace_transport(part->trace, record, i, &transport); i++) {
		double took_ns = (double)(transport.end_ns - transport.begin_ns);
		is_first |= transport.kind == WP_TRANSPORT_CONNECT;
		if (transport.kind == WP_TRANSPORT_CONNECT)
			*out_connect_ns = took_ns;
		else if (transport.kind == WP_TRANSPORT_SETUP)
			*out_setup_ns = took_ns;
	}
	return is_first;
}

static void
use_one(Part *part, guint32 number, Open *open)
{
	const WpSpan *span = &part->spans[number], *root = &part->spans[part->roots[number]];
	if (open->chain == NONE && open->used_ns == open->acquired_ns)
		open->chain = count_chain(part, open->kind, number);
	open->kind->n_uses++;
	open->busy_ns += (double)latency_ns(span);
	open->used_ns = MAX(open->used_ns, wp_span_end_ns(span));
	open->serves_others |= open->root_id != root->id || open->root_ns != root->call_ns;
}

/* The login over which SPAN goes, or NULL. */
static Open *
find_login(const Holder *holder)
{
	guint n = 0;
	for (Open *open = holder ? holder->newest : NULL; open && n < MAX_LOOK;
	     open = open->older, n++)
		if (open->kind->thing->ends_flow)
			return open;
	return NULL;
}

/* The first call of a connection, which took so long to open. */
static void
count_opening(Part *part, guint32 number, const Holder *holder)
{
	const WpSpan *span = &part->spans[number];
	double connect_ns, setup_ns;
	if (!find_opening(part, span, &connect_ns, &setup_ns))
		return;
	const Open *login = find_login(holder);
	if (login) {
		double login_ns = (double)(login->acquired_ns - login->begin_ns);
		login->kind->cost_ns += connect_ns + MAX(setup_ns - login_ns, 0);
		return;
	}
	WpPairsKind *kind = kind_at(part, part->maker->connections, &wp_pair_connection, span);
	if (!kind)
		return;
	kind->n_acquired++;
	kind->cost_ns += connect_ns + setup_ns;
	count_chain(part, kind, number);
}

/* OWN: of the kind that the call itself acquires or gives back; NULL: it does neither. */
static void
use(Part *part, guint32 number, const WpPairsKind *own)
{
	const WpSpan *span = &part->spans[number];
	if (!part->records[span->call_record].flow || (span->marks & WP_MARK_SETUP))
		return;
	const Holder *holder = find_holder(part, span);
	count_opening(part, number, holder);
	guint n = 0;
	for (Open *open = holder ? holder->newest : NULL; open && n < MAX_LOOK;
	     open = open->older, n++)
		if (open->kind != own)
			use_one(part, number, open);
	guint32 kind = wp_map_find(part->maker->connections, span->callee);
	if (kind != WP_MAP_NONE && !find_login(holder))
		((WpPairsKind *)part->maker->pairs.kinds->pdata[kind])->n_uses++;
}

static void
add_word(Part *part, guint32 number, const Word *word)
{
	WpPairsMaker *maker = part->maker;
	const Stem *stem = maker->stems->pdata[word->stem];
	WpPairsKind *kind = kind_at(part, stem->kinds, stem->thing, &part->spans[number]);
	use(part, number, kind);
	if (!kind)
		maker->pairs.n_left++;
	else if (word->side == WP_PAIR_ACQUIRE)
		acquire(part, number, kind);
	else
		release(part, number, kind);
}

static void
add_span(Part *part, guint32 number)
{
	const WpSpan *span = &part->spans[number];
	const Word word = *word_of(part, span);
	part->maker->pairs.end_ns = MAX(part->maker->pairs.end_ns, wp_span_end_ns(span));
	if (word.side == WP_PAIR_NONE)
		use(part, number, NULL);
	else
		add_word(part, number, &word);
	if (span->status == WP_STATUS_RESET)
		end_flow(part, span);
}

void
wp_pairs_maker_add(WpPairsMaker *maker, const WpAnalysis *analysis)
{
	const WpSpans *spans = wp_resolved_spans(analysis->resolved);
	const WpLinks *links = wp_analysis_links(analysis);
	const guint8 *keep = analysis->selection ? analysis->selection->keep : NULL;
	const WpTrace *trace = wp_resolved_trace(analysis->resolved);
	g_autofree guint32 *roots = wp_links_roots(links);
	Part part = { .maker = maker,
		      .trace = trace,
		      .spans = spans->spans,
		      .links = links->links,
		      .records = wp_trace_records(trace),
		      .roots = roots,
		      .resolved = analysis->resolved,
		      .names = wp_trace_nodes(trace) };
	if (!maker->has_begin && spans->n) {
		maker->pairs.begin_ns = maker->pairs.end_ns = spans->spans[0].call_ns;
		maker->has_begin = TRUE;
	}
	for (guint32 i = 0; i < spans->n; i++)
		if (!keep || keep[i])
			add_span(&part, i);
}

/* --- the end --- */

static gboolean
is_lost(const WpPairs *pairs, const Open *open)
{
	const WpPairThing *thing = open->kind->thing;
	double length_ns = (double)(pairs->end_ns - pairs->begin_ns);
	double old_ns = MAX(LONG * (double)wp_delay_max_ns(open->kind->held), MIN_OLD * length_ns);
	if ((double)(pairs->end_ns - open->acquired_ns) < old_ns)
		return FALSE;
	if (thing->sort == WP_PAIR_LOGIN)
		return (double)(pairs->end_ns - open->used_ns) >= LOGIN_UNUSED * length_ns;
	return thing->sort == WP_PAIR_SHORT && (open->serves_others || !has_flow(open->holder));
}

static int
compare_chains(gconstpointer a, gconstpointer b)
{
	const WpPairsChain *x = a, *y = b;
	if (x->n_lost != y->n_lost)
		return x->n_lost > y->n_lost ? -1 : 1;
	if (x->n_acquired != y->n_acquired)
		return x->n_acquired > y->n_acquired ? -1 : 1;
	return strcmp(x->text, y->text);
}

/* Sorting is stable: of equals the one seen first. */
static int
compare_kinds(gconstpointer a, gconstpointer b)
{
	const WpPairsKind *x = *(WpPairsKind *const *)a, *y = *(WpPairsKind *const *)b;
	return (x->n_acquired < y->n_acquired) - (x->n_acquired > y->n_acquired);
}

const WpPairs *
wp_pairs_maker_pairs(const WpPairsMaker *maker)
{
	return &maker->pairs;
}

void
wp_pairs_maker_finish(WpPairsMaker *maker)
{
	WpPairs *pairs = &maker->pairs;
	double length_ns = (double)MAX(pairs->end_ns - pairs->begin_ns, 1);
	for (GList *at = maker->open.head; at; at = at->next) {
		const Open *open = at->data;
		open->kind->n_held++;
		if (is_lost(pairs, open))
			lose(maker, open);
	}
	for (guint i = 0; i < pairs->kinds->len; i++) {
		WpPairsKind *kind = pairs->kinds->pdata[i];
		if (kind->n_lost)
			kind->lost_at /= (double)kind->n_lost * length_ns;
		g_array_sort(kind->chains, compare_chains);
	}
	g_ptr_array_sort(pairs->kinds, compare_kinds);
}
