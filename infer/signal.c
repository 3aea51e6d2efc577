/* Messages per time quantum, sparse; see signal.h. The paper's section 5.2.1. */
#include "infer/signal.h"

#include <math.h>
#include <string.h>

gint64
wp_signal_bin(gint64 time_ns, gint64 origin_ns, gint64 quantum_ns)
{
	gint64 since = time_ns - origin_ns;
	return since >= 0 ? since / quantum_ns : -((-since + quantum_ns - 1) / quantum_ns);
}

WpSignal *
wp_signal_new(const gint64 *times_ns, gsize n, gint64 origin_ns, gint64 quantum_ns)
{
	WpSignal *signal = g_new0(WpSignal, 1);
	signal->bins = g_new(gint64, MAX(n, 1));
	signal->counts = g_new(guint32, MAX(n, 1));
	for (gsize i = 0; i < n; i++) {
		gint64 bin = wp_signal_bin(times_ns[i], origin_ns, quantum_ns);
		if (signal->n && signal->bins[signal->n - 1] == bin) {
			if (signal->counts[signal->n - 1] < G_MAXUINT32)
				signal->counts[signal->n - 1]++;
			continue;
		}
		signal->bins[signal->n] = bin;
		signal->counts[signal->n++] = 1;
	}
	return signal;
}

void
wp_signal_free(WpSignal *signal)
{
	if (!signal)
		return;
	g_free(signal->bins);
	g_free(signal->counts);
	g_free(signal);
}

gsize
wp_signal_find(const WpSignal *signal, gint64 bin)
{
	gsize low = 0, high = signal->n;
	while (low < high) {
		gsize middle = low + (high - low) / 2;
		if (signal->bins[middle] < bin)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

double
wp_signal_value(WpSignalValue value, guint32 count)
{
	return value == WP_SIGNAL_ROOT ? sqrt(count) : count;
}

gboolean
wp_signal_fill(const WpSignal *signal, WpSignalValue value, gint64 from, gsize n, double *out)
{
	memset(out, 0, n * sizeof *out);
	gsize first = wp_signal_find(signal, from), i = first;
	for (; i < signal->n && signal->bins[i] - from < (gint64)n; i++)
		out[signal->bins[i] - from] = wp_signal_value(value, signal->counts[i]);
	return i > first;
}

double
wp_signal_norm(const WpSignal *signal, WpSignalValue value)
{
	double sum = 0;
	for (gsize i = 0; i < signal->n; i++) {
		double v = wp_signal_value(value, signal->counts[i]);
		sum += v * v;
	}
	return sqrt(sum);
}
