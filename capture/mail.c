/*
 * All hops are gathered first, as records leave in order of time and a mail names the latest hop first;
 * and as what a host calls itself behind "by" settles which of the names of a sender is meant.
 */
#include "capture/mail.h"

#include <gmime/gmime.h>
#include <string.h>

#include "capture/mail-files.h"
#include "capture/mail-hop.h"
#include "capture/nodes.h"
#include "capture/strings.h"
#include "capture/trace.h"

/* More fields than any mail gets: servers take a mail with a hundred for one that goes in circles (RFC 5321 6.3). */
#define MAX_FIELDS 256

/* No hop before it in its mail. */
#define NO_HOP G_MAXUINT32

typedef struct {
	gint64 time_ns;
	guint32 from[WP_MAIL_SENDER_NAMES]; /* names; 0 = none */
	guint32 by;
	guint32 before; /* hop of the same mail, or NO_HOP */
	guint32 sender; /* nodes, once all is read */
	guint32 receiver;
	guint32 id; /* of its record; 0 = none */
} Hop;

typedef struct {
	const WpMailOptions *options;
	WpCounters *counters;
	GArray *hops;       /* Hop */
	WpStrings *names;   /* of hosts */
	GHashTable *is_by;  /* names that stand behind "by" */
	GHashTable *copies; /* hash of Message-ID and field -> hop + 1 */
	guint64 n_mails;
	gboolean is_stopped;
} Mails;

static void
count(Mails *mails, WpCounter counter)
{
	wp_counters_add(mails->counters, counter, 1);
}

/* FNV-1a (Fowler, Noll, Vo): 64 bits are enough to tell the fields of one reader's mail. */
static guint64
hash_text(guint64 hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (guint8)*text) * G_GUINT64_CONSTANT(0x100000001b3);
	return (hash ^ 0xff) * G_GUINT64_CONSTANT(0x100000001b3);
}

static guint32
intern(Mails *mails, const char *name)
{
	return *name ? wp_strings_intern(mails->names, name, (gssize)strlen(name)) : 0;
}

/* The hop of FIELD, made where it is new; BEFORE where it tells none. */
static guint32
add_hop(Mails *mails, const char *id, const char *field, guint32 before)
{
	WpMailHop parsed;
	WpMailHopResult result = wp_mail_hop_parse(field, &parsed);
	if (result != WP_MAIL_HOP_OK) {
		count(mails, result == WP_MAIL_HOP_GENERIC ? WP_COUNT_MAIL_HOPS_GENERIC
							   : WP_COUNT_MAIL_HOPS_UNUSABLE);
		return before;
	}
	guint64 key = hash_text(hash_text(G_GUINT64_CONSTANT(0xcbf29ce484222325), id), field);
	guint32 known =
		*id ? GPOINTER_TO_UINT(g_hash_table_lookup(mails->copies, GSIZE_TO_POINTER(key)))
		    : 0;
	if (known) {
		count(mails, WP_COUNT_MAIL_HOPS_REPEATED);
		return known - 1;
	}
	if (mails->hops->len >= WP_MAIL_MAX_HOPS) {
		count(mails, WP_COUNT_MAIL_HOPS_SKIPPED);
		return before;
	}
	Hop hop = { .time_ns = parsed.time_ns, .before = before };
	for (int i = 0; i < WP_MAIL_SENDER_NAMES; i++)
		hop.from[i] = intern(mails, parsed.from[i]);
	hop.by = intern(mails, parsed.by);
	g_hash_table_add(mails->is_by, GUINT_TO_POINTER(hop.by));
	g_array_append_val(mails->hops, hop);
	if (*id)
		g_hash_table_insert(mails->copies, GSIZE_TO_POINTER(key),
				    GUINT_TO_POINTER(mails->hops->len));
	return mails->hops->len - 1;
}

static void
take_message(Mails *mails, GMimeMessage *message)
{
	GMimeHeaderList *fields = g_mime_object_get_header_list(GMIME_OBJECT(message));
	const char *id = g_mime_message_get_message_id(message);
	guint32 before = NO_HOP;
	guint n = 0;
	if (!id || !*id)
		count(mails, WP_COUNT_MAILS_WITHOUT_ID);
	/* Each host puts its field before those that are there. */
	for (int i = g_mime_header_list_get_count(fields) - 1; i >= 0; i--) {
		GMimeHeader *field = g_mime_header_list_get_header_at(fields, i);
		if (g_ascii_strcasecmp(g_mime_header_get_name(field), "Received") != 0)
			continue;
		if (n++ < MAX_FIELDS)
			before = add_hop(mails, id ? id : "", g_mime_header_get_raw_value(field),
					 before);
		else
			count(mails, WP_COUNT_MAIL_HOPS_SKIPPED);
	}
}

static gboolean
take_head(const char *head, gsize length, gboolean is_cut, gpointer data)
{
	Mails *mails = data;
	mails->n_mails++;
	count(mails, WP_COUNT_MAILS);
	if (is_cut)
		count(mails, WP_COUNT_MAIL_HEADS_CUT);
	GMimeStream *stream = g_mime_stream_mem_new_with_buffer(head, length);
	GMimeParser *parser = g_mime_parser_new_with_stream(stream);
	GMimeMessage *message = g_mime_parser_construct_message(parser, NULL);
	if (message) {
		take_message(mails, message);
		g_object_unref(message);
	}
	g_object_unref(parser);
	g_object_unref(stream);
	return TRUE;
}

static gboolean
on_progress(guint64 read, guint64 size, gpointer data)
{
	Mails *mails = data;
	const WpMailOptions *options = mails->options;
	if (options->progress &&
	    !options->progress(read, size, mails->n_mails, options->progress_data))
		mails->is_stopped = TRUE;
	return !mails->is_stopped;
}

/* TRUE where HOST is one of the domains, or in one. */
static gboolean
is_inside(const Mails *mails, const char *host)
{
	const char *const *domains = mails->options->inside;
	if (!domains || !domains[0])
		return TRUE;
	for (; *domains; domains++) {
		const char *domain = **domains == '.' ? *domains + 1 : *domains;
		gsize host_length = strlen(host), length = strlen(domain);
		if (host_length < length ||
		    g_ascii_strcasecmp(host + host_length - length, domain) != 0)
			continue;
		if (host_length == length || host[host_length - length - 1] == '.')
			return TRUE;
	}
	return FALSE;
}

/* The name of the sender that it also receives under; else what its receiver looked up, and so on. */
static guint32
sender_name(const Mails *mails, const Hop *hop)
{
	guint32 first = 0;
	for (int i = 0; i < WP_MAIL_SENDER_NAMES; i++) {
		if (hop->from[i] &&
		    g_hash_table_contains(mails->is_by, GUINT_TO_POINTER(hop->from[i])))
			return hop->from[i];
		first = first ? first : hop->from[i];
	}
	return first;
}

/* Names cost nothing to make up: those beyond the limit are one node. */
static guint32
node_of(Mails *mails, WpNodes *nodes, const char *name)
{
	guint32 node = wp_nodes_find_key(nodes, name);
	if (node != WP_NO_NODE || wp_nodes_count(nodes) < WP_NODES_MAX_CALLED)
		return wp_nodes_by_key(nodes, name);
	count(mails, WP_COUNT_ADDRESSES_FOLDED);
	return wp_nodes_by_key(nodes, WP_NODES_OTHER_CALLED);
}

/* TRUE where HOP becomes a record; sets its nodes either way. */
static gboolean
place_hop(Mails *mails, WpNodes *nodes, Hop *hop)
{
	const WpMailOptions *options = mails->options;
	const char *by = wp_strings_get(mails->names, hop->by);
	const char *from = wp_strings_get(mails->names, sender_name(mails, hop));
	hop->sender = hop->receiver = WP_NO_NODE;
	if (!is_inside(mails, by)) {
		count(mails, WP_COUNT_MAIL_HOPS_OUTSIDE);
		return FALSE;
	}
	hop->sender = node_of(mails, nodes, is_inside(mails, from) ? from : WP_MAIL_OUTSIDE);
	hop->receiver = node_of(mails, nodes, by);
	if (hop->sender == hop->receiver) {
		count(mails, WP_COUNT_MAIL_HOPS_SELF);
		return FALSE;
	}
	return (options->from_ns == WP_NO_TIME || hop->time_ns >= options->from_ns) &&
	       (options->to_ns == WP_NO_TIME || hop->time_ns < options->to_ns);
}

static gint
compare_times(gconstpointer a, gconstpointer b, gpointer data)
{
	const Hop *hops = data;
	guint32 one = *(const guint32 *)a, other = *(const guint32 *)b;
	if (hops[one].time_ns != hops[other].time_ns)
		return hops[one].time_ns < hops[other].time_ns ? -1 : 1;
	return one < other ? -1 : one > other;
}

/* (transfer full) The hops that become records, in order of time; equal times: as they were read. */
static GArray *
order_hops(Mails *mails, WpNodes *nodes)
{
	Hop *hops = (Hop *)(gpointer)mails->hops->data;
	GArray *order = g_array_new(FALSE, FALSE, sizeof(guint32));
	for (guint32 i = 0; i < mails->hops->len; i++)
		if (place_hop(mails, nodes, &hops[i]))
			g_array_append_val(order, i);
	g_array_sort_with_data(order, compare_times, hops);
	for (guint32 i = 0; i < order->len; i++)
		hops[g_array_index(order, guint32, i)].id = i + 1;
	return order;
}

/* The record of the last hop before HOP in its mail that ended where HOP begins; 0 = none. */
static guint64
parent_of(const Hop *hops, const Hop *hop)
{
	guint32 at = hop->before;
	for (guint i = 0; i < MAX_FIELDS && at != NO_HOP; i++, at = hops[at].before)
		if (hops[at].id && hops[at].receiver == hop->sender)
			return hops[at].id;
	return 0;
}

static gboolean
push_hops(Mails *mails, WpNodes *nodes, WpRecordSink *sink, GError **error)
{
	const WpMailOptions *options = mails->options;
	g_autoptr(GArray) order = order_hops(mails, nodes);
	const Hop *hops = (const Hop *)(gconstpointer)mails->hops->data;
	guint32 protocol = wp_strings_intern(wp_nodes_strings(nodes), "mail", 4);
	for (guint i = 0; i < order->len; i++) {
		const Hop *hop = &hops[g_array_index(order, guint32, i)];
		WpRecord record = { .begin_ns = hop->time_ns,
				    .end_ns = hop->time_ns,
				    .id = hop->id,
				    .bytes = WP_NO_SIZE,
				    .sender = hop->sender,
				    .receiver = hop->receiver,
				    .protocol = protocol,
				    .kind = WP_KIND_MESSAGE };
		count(mails, WP_COUNT_MESSAGES);
		if (!wp_sink_record(sink, &record, NULL, error))
			return FALSE;
		if (options->truth &&
		    !options->truth(hop->id, parent_of(hops, hop), options->truth_data, error))
			return FALSE;
	}
	return TRUE;
}

/* All of PATHS, to the first error. */
static gboolean
read_all(Mails *mails, const char *const *paths, gsize n, GError **error)
{
	WpMailHeads heads = { .head = take_head,
			      .progress = on_progress,
			      .data = mails,
			      .max_head = WP_MAIL_MAX_HEAD };
	gboolean ok = TRUE;
	for (gsize i = 0; i < n && ok && !mails->is_stopped; i++)
		ok = wp_mail_files_read(paths[i], mails->options->standard_input, &heads, error);
	wp_counters_add(mails->counters, WP_COUNT_INPUT_TRUNCATED, heads.n_cut);
	wp_counters_add(mails->counters, WP_COUNT_INPUT_STOPPED, mails->is_stopped);
	return ok;
}

static gboolean
push_settings(const char *const *paths, gsize n, WpRecordSink *sink, GError **error)
{
	for (gsize i = 0; i < n; i++) {
		g_autofree char *name = g_path_get_basename(paths[i]);
		if (!wp_sink_setting(sink, "input", name, error))
			return FALSE;
	}
	return TRUE;
}

static gboolean
run(Mails *mails, const char *const *paths, gsize n, WpNodes *nodes, WpRecordSink *sink,
    GError **error)
{
	g_autoptr(GError) late = NULL;
	if (!read_all(mails, paths, n, &late) && mails->n_mails == 0) {
		g_propagate_error(error, g_steal_pointer(&late));
		return FALSE;
	}
	wp_counters_add(mails->counters, WP_COUNT_INPUT_DAMAGED, late != NULL);
	if (!wp_sink_begin(sink, nodes, error) || !push_settings(paths, n, sink, error) ||
	    !push_hops(mails, nodes, sink, error) ||
	    !wp_sink_counters(sink, mails->counters, error) || !wp_sink_end(sink, error))
		return FALSE;
	if (!late)
		return TRUE;
	g_propagate_error(error, g_steal_pointer(&late));
	return FALSE;
}

gboolean
wp_mail_is_mail(const guint8 *data, gsize length)
{
	return wp_mail_files_is_mail(data, length);
}

gboolean
wp_mail_run(const char *const *paths, gsize n, const WpMailOptions *options, WpNodes *nodes,
	    WpRecordSink *sink, GError **error)
{
	Mails mails = { .options = options,
			.counters = wp_counters_new(),
			.hops = g_array_new(FALSE, FALSE, sizeof(Hop)),
			.names = wp_strings_new(),
			.is_by = g_hash_table_new(NULL, NULL),
			.copies = g_hash_table_new(NULL, NULL) };
	g_mime_init();
	gboolean ok = run(&mails, paths, n, nodes, sink, error);
	g_hash_table_unref(mails.copies);
	g_hash_table_unref(mails.is_by);
	wp_strings_free(mails.names);
	g_array_unref(mails.hops);
	wp_counters_free(mails.counters);
	return ok;
}
