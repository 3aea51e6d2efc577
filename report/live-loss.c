/* A ring of seconds, each with what was read of it and what, by its share of a gap, was not. */
#include "report/live-loss.h"

#define NS_PER_S G_GINT64_CONSTANT(1000000000)

typedef struct {
	gint64 number; /* second since 1970 */
	guint64 given;
	double dropped;
} Second;

struct WpLiveLoss {
	Second seconds[WP_LIVE_LOSS_SECONDS];
	gint64 ticked_ns; /* G_MININT64: never */
	guint64 dropped;  /* until then */
};

WpLiveLoss *
wp_live_loss_new(void)
{
	WpLiveLoss *loss = g_new0(WpLiveLoss, 1);

	for (guint i = 0; i < WP_LIVE_LOSS_SECONDS; i++)
		loss->seconds[i].number = G_MININT64;
	loss->ticked_ns = G_MININT64;
	return loss;
}

void
wp_live_loss_free(WpLiveLoss *loss)
{
	g_free(loss);
}

static gint64
second_of(gint64 time_ns)
{
	return time_ns / NS_PER_S - (time_ns % NS_PER_S < 0);
}

static guint
place_of(gint64 number)
{
	return (guint)((guint64)number % WP_LIVE_LOSS_SECONDS);
}

/* The second NUMBER, in place of an older one; NULL where it is too old itself. */
static Second *
get_second(WpLiveLoss *loss, gint64 number)
{
	Second *second = &loss->seconds[place_of(number)];

	if (second->number > number)
		return NULL;
	if (second->number < number)
		*second = (Second){ .number = number };
	return second;
}

void
wp_live_loss_frame(WpLiveLoss *loss, gint64 time_ns)
{
	Second *second = get_second(loss, second_of(time_ns));
	if (second)
		second->given++;
}

void
wp_live_loss_tick(WpLiveLoss *loss, gint64 now_ns, guint64 dropped)
{
	gint64 from_ns = loss->ticked_ns == G_MININT64 ? now_ns : loss->ticked_ns;
	guint64 n = dropped > loss->dropped ? dropped - loss->dropped : 0;

	loss->ticked_ns = now_ns;
	loss->dropped = dropped;
	if (!n)
		return;
	/* The clock may have been set; and older seconds than there is room for are not asked for. */
	from_ns = CLAMP(from_ns, now_ns - (WP_LIVE_LOSS_SECONDS - 1) * NS_PER_S, now_ns);
	double a_ns = (double)n / (double)MAX(now_ns - from_ns, 1);
	for (gint64 number = second_of(from_ns); number <= second_of(now_ns); number++) {
		gint64 begin_ns = MAX(from_ns, number * NS_PER_S);
		gint64 end_ns = MIN(now_ns, (number + 1) * NS_PER_S);
		Second *second = get_second(loss, number);
		if (second)
			second->dropped +=
				from_ns == now_ns ? (double)n : a_ns * (double)(end_ns - begin_ns);
	}
}

double
wp_live_loss_share(const WpLiveLoss *loss, gint64 begin_ns, gint64 end_ns)
{
	gint64 first = second_of(begin_ns), last = second_of(MAX(end_ns - 1, begin_ns));
	double given = 0, dropped = 0;

	first = MAX(first, last - WP_LIVE_LOSS_SECONDS + 1);
	for (gint64 number = first; number <= last; number++) {
		const Second *second = &loss->seconds[place_of(number)];
		if (second->number != number)
			continue;
		given += (double)second->given;
		dropped += second->dropped;
	}
	return dropped > 0 ? dropped / (given + dropped) : 0;
}
