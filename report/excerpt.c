/* Excerpts: by connection, the times that are wanted. */
#include "report/excerpt.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "capture/source-format.h"
#include "capture/trace.h"

#define FILE_MODE 0640 /* packets are nobody else's business */

/* Of a connection: its ends, the lesser one first. */
typedef struct {
	WpEndpoint ends[2];
} Flow;

/* Both ends belong to it. */
typedef struct {
	gint64 begin_ns;
	gint64 end_ns;
} Stretch;

/* As inputs have them; their frames go to one interface of the file. */
typedef struct {
	guint8 tap;
	guint32 interface;
	guint32 link_type;
} Origin;

struct WpExcerpt {
	GHashTable *flows; /* Flow -> GArray of Stretch */
	guint n_calls;
	const char *path;
	WpPacketFileForm form;
	WpPacketFile *file; /* NULL: no frame yet */
	GArray *origins;    /* Origin: the number of each is that of its interface */
	GError *failure;
};

static guint
hash_flow(gconstpointer key)
{
	const Flow *flow = key;
	guint hash = 5381;

	for (gsize end = 0; end < 2; end++) {
		for (gsize i = 0; i < sizeof flow->ends[end].address; i++)
			hash = hash * 33 + flow->ends[end].address[i];
		hash = hash * 33 + flow->ends[end].port;
	}
	return hash;
}

static int
compare_ends(const WpEndpoint *a, const WpEndpoint *b)
{
	int order = memcmp(a->address, b->address, sizeof a->address);
	return order ? order : (a->port > b->port) - (a->port < b->port);
}

static gboolean
equal_flows(gconstpointer a, gconstpointer b)
{
	const Flow *x = a, *y = b;
	return compare_ends(&x->ends[0], &y->ends[0]) == 0 &&
	       compare_ends(&x->ends[1], &y->ends[1]) == 0;
}

static Flow
flow_of(const WpEndpoint *src, const WpEndpoint *dst)
{
	gboolean is_turned = compare_ends(src, dst) > 0;
	return (Flow){ { is_turned ? *dst : *src, is_turned ? *src : *dst } };
}

static void
unref_array(gpointer data)
{
	g_array_unref(data);
}

WpExcerpt *
wp_excerpt_new(void)
{
	WpExcerpt *excerpt = g_new0(WpExcerpt, 1);

	excerpt->flows = g_hash_table_new_full(hash_flow, equal_flows, g_free, unref_array);
	excerpt->origins = g_array_new(FALSE, FALSE, sizeof(Origin));
	return excerpt;
}

void
wp_excerpt_free(WpExcerpt *excerpt)
{
	if (!excerpt)
		return;
	g_hash_table_unref(excerpt->flows);
	g_array_unref(excerpt->origins);
	wp_packet_file_free(excerpt->file);
	g_clear_error(&excerpt->failure);
	g_free(excerpt);
}

/* --- what is wanted --- */

void
wp_excerpt_add(WpExcerpt *excerpt, const WpInstance *request)
{
	gint64 last_ns = request->calls[0].begin_ns;

	for (guint32 i = 0; i < request->n_calls; i++)
		last_ns = MAX(last_ns, request->calls[i].end_ns);
	for (guint32 i = 0; i < request->n_calls; i++) {
		const WpInstanceCall *call = &request->calls[i];
		if (!wp_endpoint_is_known(&call->src) || !wp_endpoint_is_known(&call->dst))
			continue;
		const Flow flow = flow_of(&call->src, &call->dst);
		/*
		 * A connection that was made for it, as well. Of a call without an answer, all that came
		 * while somebody may have waited for it.
		 */
		gboolean is_made = call->connect_ns > 0 || call->setup_ns > 0;
		const Stretch stretch = { is_made ? request->calls[0].begin_ns : call->begin_ns,
					  call->end_ns != WP_NO_TIME ? call->end_ns : last_ns };
		GArray *stretches = g_hash_table_lookup(excerpt->flows, &flow);
		if (!stretches) {
			stretches = g_array_new(FALSE, FALSE, sizeof(Stretch));
			g_hash_table_insert(excerpt->flows, g_memdup2(&flow, sizeof flow),
					    stretches);
		}
		g_array_append_val(stretches, stretch);
		excerpt->n_calls++;
	}
}

guint
wp_excerpt_n_calls(const WpExcerpt *excerpt)
{
	return excerpt->n_calls;
}

static int
compare_stretches(gconstpointer a, gconstpointer b)
{
	const Stretch *x = a, *y = b;
	return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/* Sorted, and those that overlap made one. */
static void
join(gpointer key, gpointer value, gpointer data)
{
	GArray *stretches = value;
	guint n = 0;

	g_array_sort(stretches, compare_stretches);
	for (guint i = 0; i < stretches->len; i++) {
		const Stretch next = g_array_index(stretches, Stretch, i);
		Stretch *last = n ? &g_array_index(stretches, Stretch, n - 1) : NULL;
		if (last && next.begin_ns <= last->end_ns)
			last->end_ns = MAX(last->end_ns, next.end_ns);
		else
			g_array_index(stretches, Stretch, n++) = next;
	}
	g_array_set_size(stretches, n);
}

void
wp_excerpt_begin(WpExcerpt *excerpt, const char *path, WpPacketFileForm form)
{
	excerpt->path = path;
	excerpt->form = form;
	g_hash_table_foreach(excerpt->flows, join, NULL);
}

static gboolean
is_wanted(const WpExcerpt *excerpt, const WpSegment *segment)
{
	const Flow flow = flow_of(&segment->src, &segment->dst);
	const GArray *stretches = g_hash_table_lookup(excerpt->flows, &flow);
	guint low = 0, high = stretches ? stretches->len : 0;

	while (low < high) { /* the first that ends at that time or later */
		guint middle = low + (high - low) / 2;
		if (g_array_index(stretches, Stretch, middle).end_ns < segment->time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return stretches && low < stretches->len &&
	       g_array_index(stretches, Stretch, low).begin_ns <= segment->time_ns;
}

/* --- the file --- */

static WpPacketFile *
create(WpExcerpt *excerpt, const WpPacketFileInterface *interface, GError **error)
{
	gboolean is_stdout = strcmp(excerpt->path, "-") == 0;
	int fd = is_stdout ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
			   : open(excerpt->path,
				  O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, FILE_MODE);
	if (fd < 0) {
		gboolean is_denied = errno == EACCES || errno == EPERM;
		g_set_error(error, WP_CAPTURE_ERROR,
			    is_denied ? WP_CAPTURE_ERROR_PERMISSION : WP_CAPTURE_ERROR_WRITE,
			    "cannot write to %s: %s", excerpt->path, g_strerror(errno));
		return NULL;
	}
	return wp_packet_file_new(fd, is_stdout ? "standard output" : excerpt->path, excerpt->form,
				  interface, 1, error);
}

/* The number in the file of the interface that FRAME came from; G_MAXUINT after an error. */
static guint
find_interface(WpExcerpt *excerpt, const WpFrame *frame)
{
	const Origin origin = { frame->tap, frame->interface, frame->link_type };
	guint i = 0;

	for (; i < excerpt->origins->len; i++) {
		const Origin *known = &g_array_index(excerpt->origins, Origin, i);
		if (known->tap == origin.tap && known->interface == origin.interface &&
		    known->link_type == origin.link_type)
			return i;
	}
	g_autofree char *name = g_strdup_printf("%u.%u", origin.tap + 1u, origin.interface);
	const WpPacketFileInterface interface = { .name = name,
						  .link_type = origin.link_type,
						  .snap_length = WP_FRAME_MAX };
	gboolean ok;
	if (excerpt->file) {
		ok = wp_packet_file_add(excerpt->file, &interface, &excerpt->failure);
	} else {
		excerpt->file = create(excerpt, &interface, &excerpt->failure);
		ok = excerpt->file != NULL;
	}
	g_array_append_val(excerpt->origins, origin);
	return ok ? i : G_MAXUINT;
}

void
wp_excerpt_frame(const WpFrame *frame, const WpSegment *segment, gpointer data)
{
	WpExcerpt *excerpt = data;

	if (excerpt->failure || !segment || !is_wanted(excerpt, segment))
		return;
	guint interface = find_interface(excerpt, frame);
	if (interface == G_MAXUINT)
		return;
	WpFrame copy = *frame;
	copy.interface = interface;
	wp_packet_file_frame(excerpt->file, &copy);
}

gboolean
wp_excerpt_finish(WpExcerpt *excerpt, guint64 *out_n, GError **error)
{
	*out_n = excerpt->file ? wp_packet_file_frames(excerpt->file) : 0;
	if (excerpt->file && !excerpt->failure)
		wp_packet_file_close(excerpt->file, &excerpt->failure);
	if (!excerpt->failure)
		return TRUE;
	g_propagate_error(error, g_steal_pointer(&excerpt->failure));
	return FALSE;
}
