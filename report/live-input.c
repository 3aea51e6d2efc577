/* Live input: options, opening, giving up. */
#include "report/live-input.h"

#define MAX_RING 2e9
#define MIN_RING 1e5

static void
list_interfaces(WpOut *out)
{
	g_auto(GStrv) names = wp_live_list();
	for (char **name = names; *name; name++)
		wp_out_printf(out, "%s\n", *name);
}

#define AT(member) .offset = offsetof(WpLiveInput, member)

static const WpOption input_table[] = {
	{ .name = "interface",
	  .short_name = 'i',
	  .kind = WP_OPT_WORDS,
	  AT(interfaces),
	  .argument = "IF",
	  .help = "capture there; repeatable; \"any\" is all interfaces" },
	{ .name = "filter",
	  .kind = WP_OPT_TEXT,
	  AT(filter),
	  .argument = "BPF",
	  .help = "only packets that pass, as with tcpdump, also where they\nhave VLAN tags" },
	{ .name = "snap-length",
	  .short_name = 's',
	  .kind = WP_OPT_INT,
	  AT(snap_length),
	  .argument = "BYTES",
	  .minimum = 64,
	  .maximum = WP_LIVE_SNAP_LENGTH,
	  .help = "keep so much of each packet; by default all" },
	{ .name = "ring",
	  .kind = WP_OPT_BYTES,
	  AT(ring_bytes),
	  .argument = "BYTES",
	  .minimum = MIN_RING,
	  .maximum = MAX_RING,
	  .help = "room in the kernel for packets that wait to be read, of\neach interface; by "
		  "default 64Mi" },
	{ .name = "promiscuous",
	  .kind = WP_OPT_FLAG,
	  AT(is_promiscuous),
	  .help = "take packets to other hosts as well: the default" },
	{ .name = "count",
	  .short_name = 'c',
	  .kind = WP_OPT_INT,
	  AT(count),
	  .argument = "N",
	  .minimum = 1,
	  .maximum = 9e18,
	  .help = "end after so many packets" },
	{ .name = "duration",
	  .kind = WP_OPT_DURATION,
	  AT(duration_ns),
	  .argument = "TIME",
	  .minimum = 1e6,
	  .maximum = 9e18,
	  .help = "end after so long" },
	{ .name = "list-interfaces",
	  .short_name = 'D',
	  .kind = WP_OPT_ACTION,
	  .action = list_interfaces,
	  .help = "interfaces that can be captured on" },
	{ .name = "user",
	  .kind = WP_OPT_TEXT,
	  AT(user),
	  .argument = "NAME",
	  .help = "run as that user once all is open; by default, where it is\nstarted as root, "
		  "who called sudo, else nobody" },
	{ .name = NULL },
};

void
wp_live_input_declare(WpOptions *parser, WpLiveInput *input)
{
	input->snap_length = WP_LIVE_SNAP_LENGTH;
	input->ring_bytes = WP_LIVE_RING_BYTES;
	input->is_promiscuous = TRUE;
	wp_options_add(parser, "Packets", input_table, input);
}

WpLive *
wp_live_input_open(const WpLiveInput *input, const WpInvocation *invocation, GError **error)
{
	const WpLiveOptions options = {
		.interfaces = input->interfaces.words,
		.n_interfaces = input->interfaces.n,
		.filter = input->filter,
		.snap_length = (guint32)input->snap_length,
		.ring_bytes = input->ring_bytes,
		.is_promiscuous = input->is_promiscuous,
	};
	WpLive *live = wp_live_open(&options, error);

	for (guint i = 0; live && i < wp_live_n_interfaces(live); i++)
		if (wp_live_warning(live, i))
			wp_warn(invocation, "%s", wp_live_warning(live, i));
	return live;
}

gboolean
wp_live_input_give_up(const WpLiveInput *input, const WpInvocation *invocation,
		      const WpSandboxDirectory *directories, gsize n, GError **error)
{
	const WpSandboxOptions options = { input->user, directories, n };
	g_auto(WpSandboxState) state = { 0 };

	if (!wp_sandbox_enter(&options, &state, error))
		return FALSE;
	g_autofree char *interfaces = g_strjoinv(", ", (char **)input->interfaces.words);
	g_autofree char *description = wp_sandbox_describe(&state);
	g_autofree char *line = g_strdup_printf("capturing on %s: %s", interfaces, description);
	wp_progress_say(invocation->progress, line);
	return TRUE;
}

void
wp_live_input_counted(const WpLiveInput *input, WpLive *live, const WpFrame *frame)
{
	if (frame->number == (guint64)input->count)
		wp_live_stop(live, FALSE);
}

void
wp_live_input_timed(const WpLiveInput *input, WpLive *live, WpLiveTime began, WpLiveTime now)
{
	if (input->duration_ns && now.monotonic_ns - began.monotonic_ns >= input->duration_ns)
		wp_live_stop(live, TRUE);
}

void
wp_live_input_note(const WpInvocation *invocation, const WpLive *live, guint interface,
		   const char *text)
{
	g_autofree char *line = g_strdup_printf("%s: %s", wp_live_name(live, interface), text);
	wp_progress_say(invocation->progress, line);
}
