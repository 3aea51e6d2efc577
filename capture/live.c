/*
 * Live interfaces. Each has at most one frame pending, which lies in its ring until it is given: so merging
 * copies nothing. The earliest one is given when no other interface can have an earlier one:
 *
 *   eth0   |  10.2 |          the ring hands over whole blocks, a part-filled one after BLOCK_MS,
 *   eth1   |  (none since HOLD_NS: all before now - HOLD_NS have come)
 */
#include "capture/live.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <pcap/pcap.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "capture/filter.h"
#include "capture/notes.h"
#include "capture/trace.h"

#define NS_PER_S  G_GINT64_CONSTANT(1000000000)
#define NS_PER_MS 1000000

#define BLOCK_MS      50               /* the kernel hands a part-filled block over after so long */
#define RETRY_NS      (10 * NS_PER_MS) /* an empty ring is not asked again before */
#define HOLD_NS       (120 * NS_PER_MS) /* BLOCK_MS, RETRY_NS, and as much again */
#define TICK_NS       (100 * NS_PER_MS)
#define DRAIN_NS      (3 * BLOCK_MS * NS_PER_MS)
#define DRAIN_MOST_NS (2 * NS_PER_S) /* also where the clock is set meanwhile */
#define CLOCK_STEP_NS (100 * NS_PER_MS)
#define TICK_PACKETS  64 /* the clock is asked once in so many packets */
#define FILTERED_ATONE                                                                             \
	1024 /* frames of one interface that may fail the filter before others are looked at */

/* What the kernel counts of an interface, as files in sysfs; their sum is what libpcap calls ifdrop. */
static const char *const drop_files[] = { "rx_missed_errors", "rx_fifo_errors" };

typedef struct {
	char *name;
	char *warning; /* or NULL */
	pcap_t *pcap;
	int fd;
	guint32 link_type;
	guint32 snap_length;
	gboolean is_any;
	gboolean is_promiscuous;
	WpFilter *filter; /* for frames with tags; NULL = none */
	int drop_fds[G_N_ELEMENTS(drop_files)];
	guint64 drops_before; /* when it was opened */
	guint32 pcap_drops;   /* as libpcap told last; 32 bits, which wrap */
	gint64 retry_ns;      /* empty until then */
	gboolean is_down;     /* or away */
	gboolean is_detached; /* away: not to be read */
	gint64 down_since_ns;
	WpFrame pending;
	gboolean has_pending;
	WpLiveCounts counts;
} Interface;

struct WpLive {
	Interface interfaces[WP_LIVE_MAX_INTERFACES];
	guint n_interfaces;
	WpLiveHooks hooks;
	int watch_fd;
	guint64 n_frames;
	gint64 next_tick_ns; /* monotonic, as the next ones */
	gint64 next_survey_ns;
	gint64 clock_offset_ns; /* of the clock against the monotonic one */
	guint64 n_clock_steps;
	gint64 stop_ns; /* frames after it are not wanted; by the clock; WP_NO_TIME = all are */
	gint64 drain_until_ns;
	gboolean is_stopped;
};

static gint64
read_clock(clockid_t id)
{
	struct timespec now;
	clock_gettime(id, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

WpLiveTime
wp_live_now(void)
{
	return (WpLiveTime){ read_clock(CLOCK_MONOTONIC), read_clock(CLOCK_REALTIME) };
}

/* --- opening --- */

char **
wp_live_list(void)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	char text[PCAP_ERRBUF_SIZE];
	pcap_if_t *all = NULL;

	if (pcap_findalldevs(&all, text) == 0)
		for (const pcap_if_t *one = all; one; one = one->next)
			g_ptr_array_add(names, g_strdup(one->name));
	pcap_freealldevs(all);
	g_ptr_array_add(names, NULL);
	return (char **)g_ptr_array_free(g_steal_pointer(&names), FALSE);
}

static void
fail_as_denied(const char *name, GError **error)
{
	g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_PERMISSION,
		    "cannot capture on %s: that needs the capability CAP_NET_RAW\n"
		    "run it as root (it gives that up before it looks at the first packet),\n"
		    "or give the program this one capability: setcap cap_net_raw+ep "
		    "\"$(command -v wirepath)\",\n"
		    "or read from a program that may: dumpcap -i %s -w - | wirepath records -",
		    name, name);
}

static void
fail_as_unknown(const char *name, GError **error)
{
	g_auto(GStrv) names = wp_live_list();
	g_autofree char *list = g_strjoinv(", ", names);
	g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_OPEN,
		    "cannot capture on %s: there is no such interface%s%s", name,
		    list[0] ? "\nthere are: " : "", list);
}

static gboolean
fail_to_activate(Interface *interface, int status, GError **error)
{
	switch (status) {
	case PCAP_ERROR_NO_SUCH_DEVICE:
		fail_as_unknown(interface->name, error);
		break;
	case PCAP_ERROR_PERM_DENIED:
	case PCAP_ERROR_PROMISC_PERM_DENIED:
		fail_as_denied(interface->name, error);
		break;
	case PCAP_ERROR_IFACE_NOT_UP:
		g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_OPEN,
			    "cannot capture on %s: it is down\nip link set dev %s up",
			    interface->name, interface->name);
		break;
	default:
		g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_OPEN,
			    "cannot capture on %s: %s", interface->name,
			    status == PCAP_ERROR ? pcap_geterr(interface->pcap)
						 : pcap_statustostr(status));
	}
	return FALSE;
}

static gboolean
activate(Interface *interface, const WpLiveOptions *options, GError **error)
{
	char text[PCAP_ERRBUF_SIZE] = "";

	interface->pcap = pcap_create(interface->name, text);
	if (!interface->pcap) {
		g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_OPEN,
			    "cannot capture on %s: %s", interface->name, text);
		return FALSE;
	}
	pcap_t *pcap = interface->pcap;
	pcap_set_snaplen(pcap, (int)options->snap_length);
	pcap_set_promisc(pcap, interface->is_promiscuous);
	pcap_set_timeout(pcap, BLOCK_MS);
	pcap_set_buffer_size(pcap, (int)MIN(options->ring_bytes, G_MAXINT));
	pcap_set_tstamp_precision(pcap, PCAP_TSTAMP_PRECISION_NANO);
	int status = pcap_activate(pcap);
	if (status < 0)
		return fail_to_activate(interface, status, error);
	if (status > 0 && status != PCAP_WARNING_PROMISC_NOTSUP)
		interface->warning = g_strdup_printf(
			"%s: %s", interface->name,
			status == PCAP_WARNING ? pcap_geterr(pcap) : pcap_statustostr(status));
	/* That form of "any" tells the interface of each packet; where there is none the other does. */
	if (interface->is_any)
		(void)pcap_set_datalink(pcap, DLT_LINUX_SLL2);
	if (pcap_setnonblock(pcap, 1, text) < 0) {
		g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_OPEN,
			    "cannot capture on %s: %s", interface->name, text);
		return FALSE;
	}
	interface->fd = pcap_get_selectable_fd(pcap);
	interface->link_type = wp_filter_link_type(pcap_datalink(pcap));
	interface->snap_length = (guint32)pcap_snapshot(pcap);
	return TRUE;
}

static gboolean
set_filter(Interface *interface, const char *expression, GError **error)
{
	struct bpf_program program;

	if (!expression)
		return TRUE;
	interface->filter = wp_filter_new(expression, error);
	if (!interface->filter)
		return FALSE;
	g_autofree char *text = wp_filter_for_kernel(expression, interface->link_type);
	gboolean ok = pcap_compile(interface->pcap, &program, text, 1, PCAP_NETMASK_UNKNOWN) == 0;
	if (ok) {
		ok = pcap_setfilter(interface->pcap, &program) == 0;
		pcap_freecode(&program);
	}
	if (!ok)
		g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_OPTION,
			    "cannot use the filter \"%s\" on %s: %s", expression, interface->name,
			    pcap_geterr(interface->pcap));
	return ok;
}

/* What the interface itself dropped so far, in all. */
static guint64
read_drops(const Interface *interface)
{
	guint64 sum = 0;

	for (gsize i = 0; i < G_N_ELEMENTS(drop_files); i++) {
		char text[32] = "";
		if (interface->drop_fds[i] >= 0 &&
		    pread(interface->drop_fds[i], text, sizeof text - 1, 0) > 0)
			sum += g_ascii_strtoull(text, NULL, 10);
	}
	return sum;
}

/* Opened now, as later nothing can be. */
static void
open_drops(Interface *interface)
{
	for (gsize i = 0; i < G_N_ELEMENTS(drop_files); i++) {
		g_autofree char *path = g_strdup_printf("/sys/class/net/%s/statistics/%s",
							interface->name, drop_files[i]);
		interface->drop_fds[i] = interface->is_any ? -1 : open(path, O_RDONLY | O_CLOEXEC);
	}
	interface->drops_before = read_drops(interface);
}

static gboolean
open_interface(Interface *interface, const char *name, const WpLiveOptions *options, GError **error)
{
	interface->name = g_strdup(name);
	interface->is_any = strcmp(name, "any") == 0;
	interface->is_promiscuous = options->is_promiscuous && !interface->is_any;
	for (gsize i = 0; i < G_N_ELEMENTS(drop_files); i++)
		interface->drop_fds[i] = -1;
	if (!activate(interface, options, error) || !set_filter(interface, options->filter, error))
		return FALSE;
	open_drops(interface);
	return TRUE;
}

WpLive *
wp_live_open(const WpLiveOptions *options, GError **error)
{
	g_autoptr(WpLive) live = g_new0(WpLive, 1);

	live->watch_fd = -1;
	live->stop_ns = WP_NO_TIME;
	if (options->n_interfaces > WP_LIVE_MAX_INTERFACES) {
		g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_LIMIT,
			    "cannot capture on %" G_GSIZE_FORMAT
			    " interfaces: at most %d at once; \"any\" is all of them",
			    options->n_interfaces, WP_LIVE_MAX_INTERFACES);
		return NULL;
	}
	for (gsize i = 0; i < options->n_interfaces; i++) {
		live->n_interfaces++;
		if (!open_interface(&live->interfaces[i], options->interfaces[i], options, error))
			return NULL;
	}
	live->clock_offset_ns = read_clock(CLOCK_REALTIME) - read_clock(CLOCK_MONOTONIC);
	return g_steal_pointer(&live);
}

void
wp_live_free(WpLive *live)
{
	if (!live)
		return;
	for (guint i = 0; i < live->n_interfaces; i++) {
		Interface *interface = &live->interfaces[i];
		for (gsize k = 0; k < G_N_ELEMENTS(drop_files); k++)
			if (interface->drop_fds[k] >= 0)
				(void)close(interface->drop_fds[k]);
		if (interface->pcap)
			pcap_close(interface->pcap);
		wp_filter_free(interface->filter);
		g_free(interface->warning);
		g_free(interface->name);
	}
	g_free(live);
}

void
wp_live_set_hooks(WpLive *live, const WpLiveHooks *hooks)
{
	live->hooks = *hooks;
}

void
wp_live_watch(WpLive *live, int fd)
{
	live->watch_fd = fd;
}

/* --- what happens beside packets --- */

static void
note(WpLive *live, const Interface *interface, const char *text)
{
	if (live->hooks.note)
		live->hooks.note((guint)(interface - live->interfaces), wp_live_now(), text,
				 live->hooks.data);
}

static void
go_down(WpLive *live, Interface *interface, const char *text)
{
	if (interface->is_down)
		return;
	interface->is_down = TRUE;
	interface->down_since_ns = read_clock(CLOCK_MONOTONIC);
	interface->counts.gaps++;
	note(live, interface, text);
}

static void
come_up(WpLive *live, Interface *interface)
{
	if (!interface->is_down)
		return;
	gint64 gap_ms = (read_clock(CLOCK_MONOTONIC) - interface->down_since_ns) / NS_PER_MS;
	g_autofree char *text = g_strdup_printf("is up again; what came in about %" G_GINT64_FORMAT
						".%d s is missing",
						gap_ms / 1000, (int)(gap_ms % 1000 / 100));
	interface->is_down = FALSE;
	note(live, interface, text);
}

/* The number that the kernel has for its name now; -1: none. */
static int
find_index(const Interface *interface)
{
	struct ifreq request = { 0 };

	g_strlcpy(request.ifr_name, interface->name, sizeof request.ifr_name);
	return ioctl(interface->fd, SIOCGIFINDEX, &request) < 0 ? -1 : request.ifr_ifindex;
}

/* The socket outlives its interface: it is bound to the new one of that name. TRUE where there is one. */
static gboolean
attach(const Interface *interface)
{
	int index = find_index(interface);
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = g_htons(ETH_P_ALL),
		.sll_ifindex = index,
	};
	if (index < 0 || bind(interface->fd, (const struct sockaddr *)&address, sizeof address) < 0)
		return FALSE;
	struct packet_mreq promiscuous = {
		.mr_ifindex = index,
		.mr_type = PACKET_MR_PROMISC,
	};
	if (interface->is_promiscuous)
		(void)setsockopt(interface->fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promiscuous,
				 sizeof promiscuous);
	return TRUE;
}

static void
check_link(WpLive *live, Interface *interface)
{
	struct ifreq request = { 0 };

	if (interface->is_any)
		return;
	g_strlcpy(request.ifr_name, interface->name, sizeof request.ifr_name);
	if (interface->is_detached && attach(interface))
		interface->is_detached = FALSE;
	if (interface->is_detached || ioctl(interface->fd, SIOCGIFFLAGS, &request) < 0)
		go_down(live, interface, WP_NOTE_GONE "; waiting for it to come back");
	else if (!(request.ifr_flags & IFF_UP))
		go_down(live, interface, WP_NOTE_DOWN "; waiting for it to come up");
	else
		come_up(live, interface);
}

static void
check_clock(WpLive *live)
{
	gint64 offset_ns = read_clock(CLOCK_REALTIME) - read_clock(CLOCK_MONOTONIC);
	gint64 step_ns = offset_ns - live->clock_offset_ns;

	live->clock_offset_ns = offset_ns;
	if (ABS(step_ns) < CLOCK_STEP_NS)
		return;
	live->n_clock_steps++;
	gint64 step_ms = ABS(step_ns) / NS_PER_MS;
	g_autofree char *text = g_strdup_printf(WP_NOTE_CLOCK "%s by %" G_GINT64_FORMAT ".%03d s",
						step_ns < 0 ? "back" : "forward", step_ms / 1000,
						(int)(step_ms % 1000));
	note(live, &live->interfaces[0], text);
}

static void
refresh_counts(Interface *interface)
{
	struct pcap_stat stat;

	if (pcap_stats(interface->pcap, &stat) == 0) {
		interface->counts.kernel_drops += stat.ps_drop - interface->pcap_drops;
		interface->pcap_drops = stat.ps_drop;
	}
	guint64 drops = read_drops(interface);
	/* Of an interface that is gone nothing can be read, nor of a new one of its name. */
	if (drops > interface->drops_before + interface->counts.interface_drops)
		interface->counts.interface_drops = drops - interface->drops_before;
}

void
wp_live_refresh(WpLive *live)
{
	for (guint i = 0; i < live->n_interfaces; i++)
		refresh_counts(&live->interfaces[i]);
}

static void
tick(WpLive *live, gint64 now_ns)
{
	if (now_ns >= live->next_survey_ns) {
		live->next_survey_ns = now_ns + NS_PER_S;
		wp_live_refresh(live);
		for (guint i = 0; i < live->n_interfaces; i++)
			check_link(live, &live->interfaces[i]);
		check_clock(live);
	}
	live->next_tick_ns = now_ns + TICK_NS;
	if (live->hooks.tick)
		live->hooks.tick(wp_live_now(), live->hooks.data);
}

/* --- reading --- */

static gboolean
is_wanted(const Interface *interface, const WpFrame *frame)
{
	gboolean matches = TRUE;

	/* It was compiled for this link type when the capture began: it cannot fail. */
	if (interface->filter && wp_filter_is_tagged(frame))
		(void)wp_filter_matches(interface->filter, frame, &matches, NULL);
	return matches;
}

/* Reading failed: because the interface went away, which is no error, or for another reason. */
static gboolean
fail_to_read(WpLive *live, Interface *interface, GError **error)
{
	struct sockaddr_ll bound = { 0 };
	socklen_t length = sizeof bound;
	int current = find_index(interface);

	if (!interface->is_any &&
	    (current < 0 || (getsockname(interface->fd, (struct sockaddr *)&bound, &length) == 0 &&
			     bound.sll_ifindex != current))) {
		interface->is_detached = TRUE;
		go_down(live, interface, WP_NOTE_GONE "; waiting for it to come back");
		return TRUE;
	}
	g_set_error(error, WP_CAPTURE_ERROR, WP_CAPTURE_ERROR_READ, "cannot capture on %s: %s",
		    interface->name, pcap_geterr(interface->pcap));
	return FALSE;
}

/* The next frame of INTERFACE becomes its pending one, where there is one. */
static gboolean
read_interface(WpLive *live, Interface *interface, GError **error)
{
	struct pcap_pkthdr *header;
	const guint8 *data;
	int status = 0;

	for (guint i = 0; i < FILTERED_ATONE && !interface->has_pending; i++) {
		status = pcap_next_ex(interface->pcap, &header, &data);
		if (status <= 0)
			break;
		interface->pending = (WpFrame){
			.time_ns = header->ts.tv_sec * NS_PER_S + header->ts.tv_usec,
			.data = data,
			.captured = header->caplen,
			.length = MAX(header->len, header->caplen),
			.link_type = interface->link_type,
			.interface = (guint32)(interface - live->interfaces),
		};
		interface->has_pending = is_wanted(interface, &interface->pending);
	}
	return status >= 0 || fail_to_read(live, interface, error);
}

/* Sees to it that each interface that has a frame has one pending. */
static gboolean
fill(WpLive *live, gint64 now_ns, GError **error)
{
	for (guint i = 0; i < live->n_interfaces; i++) {
		Interface *interface = &live->interfaces[i];
		if (interface->has_pending || interface->is_detached ||
		    (live->n_interfaces > 1 && now_ns < interface->retry_ns))
			continue;
		if (!read_interface(live, interface, error))
			return FALSE;
		if (!interface->has_pending)
			interface->retry_ns = now_ns + RETRY_NS;
	}
	return TRUE;
}

/* The frame to be given next; NULL where there is none, or perhaps an earlier one is to come. */
static Interface *
choose(WpLive *live)
{
	Interface *earliest = NULL;
	guint n_pending = 0;

	for (guint i = 0; i < live->n_interfaces; i++) {
		Interface *interface = &live->interfaces[i];
		if (!interface->has_pending)
			continue;
		n_pending++;
		if (!earliest || interface->pending.time_ns < earliest->pending.time_ns)
			earliest = interface;
	}
	if (n_pending == live->n_interfaces || !earliest)
		return earliest;
	/* One from the future shows that the clock was set: nothing can be known from times then. */
	gint64 age_ns = read_clock(CLOCK_REALTIME) - earliest->pending.time_ns;
	return age_ns >= HOLD_NS || age_ns < -HOLD_NS ? earliest : NULL;
}

/* Until there may be a frame, or it is time for a tick. TRUE where there may be a frame. */
static gboolean
wait_for_frames(WpLive *live, gint64 now_ns)
{
	struct pollfd fds[WP_LIVE_MAX_INTERFACES + 1];
	nfds_t n = 0;
	gboolean is_held = FALSE;

	for (guint i = 0; i < live->n_interfaces; i++) {
		const Interface *interface = &live->interfaces[i];
		is_held |= interface->has_pending;
		if (!interface->has_pending && !interface->is_detached)
			fds[n++] = (struct pollfd){ interface->fd, POLLIN, 0 };
	}
	nfds_t n_interfaces = n;
	if (live->watch_fd >= 0)
		fds[n++] = (struct pollfd){ live->watch_fd, POLLIN, 0 };
	gint64 left_ns = is_held ? RETRY_NS : MAX(live->next_tick_ns - now_ns, 0);
	int ready = poll(fds, n, (int)(left_ns / NS_PER_MS) + 1);
	if (ready > 0 && n > n_interfaces && fds[n_interfaces].revents) {
		live->next_tick_ns = 0;
		ready--;
	}
	for (guint i = 0; ready > 0 && i < live->n_interfaces; i++)
		live->interfaces[i].retry_ns = 0;
	return ready > 0 || is_held;
}

static void
give(WpLive *live, Interface *interface, WpFrame *out_frame)
{
	interface->has_pending = FALSE;
	*out_frame = interface->pending;
	out_frame->number = ++live->n_frames;
	interface->counts.packets++;
	interface->counts.bytes += out_frame->length;
	if (live->hooks.frame)
		live->hooks.frame(out_frame, live->hooks.data);
}

static gboolean
is_drained(const WpLive *live, const Interface *interface, gint64 now_ns)
{
	if (live->stop_ns == WP_NO_TIME)
		return FALSE;
	if (now_ns >= live->drain_until_ns + DRAIN_MOST_NS)
		return TRUE;
	return interface ? interface->pending.time_ns > live->stop_ns
			 : now_ns >= live->drain_until_ns;
}

/* Ticks where it is time for it: TRUE then. The clock is not asked for every packet. */
static gboolean
tick_if_due(WpLive *live, gint64 *now_ns)
{
	*now_ns = read_clock(CLOCK_MONOTONIC);
	if (*now_ns < live->next_tick_ns)
		return FALSE;
	tick(live, *now_ns);
	return TRUE;
}

WpSourceResult
wp_live_next(WpLive *live, WpFrame *out_frame, GError **error)
{
	gboolean is_clock_needed = live->n_interfaces > 1 || live->stop_ns != WP_NO_TIME ||
				   live->n_frames % TICK_PACKETS == 0;
	gboolean is_quiet = FALSE;
	gint64 now_ns = 0;

	for (;;) {
		if (is_clock_needed && tick_if_due(live, &now_ns))
			is_quiet = TRUE;
		if (live->is_stopped)
			return WP_SOURCE_END;
		if (!fill(live, now_ns, error))
			return WP_SOURCE_ERROR;
		Interface *interface = choose(live);
		live->is_stopped = is_drained(live, interface, now_ns);
		if (live->is_stopped)
			return WP_SOURCE_END;
		if (interface) {
			give(live, interface, out_frame);
			return WP_SOURCE_FRAME;
		}
		if (is_quiet) {
			*out_frame = (WpFrame){ .time_ns = read_clock(CLOCK_REALTIME) - HOLD_NS };
			return WP_SOURCE_WAIT;
		}
		is_quiet = !wait_for_frames(live, read_clock(CLOCK_MONOTONIC));
		is_clock_needed = TRUE;
	}
}

void
wp_live_stop(WpLive *live, gboolean is_drained_first)
{
	if (!is_drained_first) {
		live->is_stopped = TRUE;
	} else if (live->stop_ns == WP_NO_TIME) {
		live->stop_ns = read_clock(CLOCK_REALTIME);
		live->drain_until_ns = read_clock(CLOCK_MONOTONIC) + DRAIN_NS;
	}
}

/* --- what it is --- */

guint
wp_live_n_interfaces(const WpLive *live)
{
	return live->n_interfaces;
}

const char *
wp_live_name(const WpLive *live, guint interface)
{
	return live->interfaces[interface].name;
}

guint32
wp_live_link_type(const WpLive *live, guint interface)
{
	return live->interfaces[interface].link_type;
}

guint32
wp_live_snap_length(const WpLive *live, guint interface)
{
	return live->interfaces[interface].snap_length;
}

const char *
wp_live_warning(const WpLive *live, guint interface)
{
	return live->interfaces[interface].warning;
}

WpLiveCounts
wp_live_counts(const WpLive *live, guint interface)
{
	return live->interfaces[interface].counts;
}

WpLiveCounts
wp_live_total(const WpLive *live)
{
	WpLiveCounts total = { 0 };

	for (guint i = 0; i < live->n_interfaces; i++) {
		const WpLiveCounts *counts = &live->interfaces[i].counts;
		total.packets += counts->packets;
		total.bytes += counts->bytes;
		total.kernel_drops += counts->kernel_drops;
		total.interface_drops += counts->interface_drops;
		total.gaps += counts->gaps;
	}
	return total;
}

void
wp_live_count(const WpLive *live, WpCounters *counters)
{
	WpLiveCounts total = wp_live_total(live);

	wp_counters_add(counters, WP_COUNT_KERNEL_DROPS, total.kernel_drops);
	wp_counters_add(counters, WP_COUNT_INTERFACE_DROPS, total.interface_drops);
	wp_counters_add(counters, WP_COUNT_INTERFACE_GAPS, total.gaps);
	wp_counters_add(counters, WP_COUNT_CLOCK_STEPS, live->n_clock_steps);
}
